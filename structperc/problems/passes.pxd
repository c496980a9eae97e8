# One thread's way through the examples of a batch.
from libc.stdint cimport int64_t
from structperc.core.argmax cimport Argmax
from structperc.core.losses cimport Loss
from structperc.core.outputs cimport Outputs
from structperc.core.rows cimport Example, Rows
from structperc.core.structures cimport Structures
from structperc.core.updates cimport Encoded, Trial


cdef class Passes:
    cdef object parts
    cdef Outputs outputs                # the parts, as compiled code calls them
    cdef Argmax argmax
    cdef Loss loss
    cdef Rows rows
    cdef Structures gold
    cdef readonly bint partial
    cdef const int64_t[::1] offsets     # where the atoms of each example begin in the flat scores
    cdef const int64_t[::1] numbers     # of the examples in `rows`
    cdef const int64_t[::1] starts      # of the integers of each gold output; none: each is one integer
    cdef bint ragged
    cdef Py_ssize_t most_atoms, most_integers

    cdef Trial trial(self)
    cdef void load(self, Trial trial, Py_ssize_t i) noexcept nogil
    cdef int take_gold(self, Trial trial, int *completed, double *g) noexcept nogil
    cdef refuse(self, Py_ssize_t i, Trial trial, const double *g, double value, further)
