# Kernels on objects that are no rows of numbers: trees, strings.
from libc.stdint cimport int64_t, uint64_t
from structperc.core.component cimport Component


# ---- symbol table ----
# Numbers of symbols, each known for as long as something holds it.


cdef class SymbolTable:
    cdef dict numbers                   # by symbol
    cdef list symbols                   # by number; None: unused
    cdef int64_t[::1] n_holders         # by number
    cdef list unused

    cdef int hold(self, symbol) except -1
    cdef int let_go(self, int number) except -1
    cdef int add(self, symbol) except -1
    cdef int further(self) except -1


# ---- object kernels ----


ctypedef struct Measured:
    # What the structures behind Encoded.at begin with.
    double square               # the kernel of the object with itself, before it is normalised
    uint64_t order              # a digest of what the object is


cdef class Encoded:
    cdef const void *at                         # the structure that ObjectKernel.value_c takes; this object owns it
    cdef readonly Py_ssize_t size               # what ObjectKernel.room_c takes
    cdef readonly object original
    cdef readonly tuple symbols                 # all that is written on the object, in an order of its own
    cdef readonly bint learned                  # whether the kernel knows its symbols
    cdef SymbolTable table
    cdef int[::1] numbers                       # of its symbols or productions, and a 0
    cdef Py_ssize_t n_held                      # the first numbers are held in the table

    cdef int number(self, SymbolTable table, tuple symbols, bint learn) except -1


cdef class ObjectKernel(Component):
    cdef readonly double decay
    cdef readonly bint normalise
    cdef SymbolTable table                      # the symbols that are known

    cdef Py_ssize_t room_c(self, Py_ssize_t size_a, Py_ssize_t size_b) noexcept nogil
    cdef double value_c(self, const void *a, const void *b, double *work) noexcept nogil
    cdef double plain_c(self, const void *a, const void *b, double *work) noexcept nogil
    cdef Encoded measured(self, Encoded encoded, Measured *at, bint empty)
