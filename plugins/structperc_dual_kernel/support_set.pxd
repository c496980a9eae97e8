# The support rows, with their coefficients.
from libc.stdint cimport int64_t
from structperc.core.rows cimport Example, Rows
from structperc_kernels.kernel_rows cimport KernelRows


cdef class SupportSet:
    cdef readonly KernelRows kernel_rows
    cdef readonly Py_ssize_t n_blocks, budget   # budget 0: none
    cdef readonly str removal
    cdef double[:, ::1] v, u                    # coefficients by slot, and the sums that averaging needs
    cdef int64_t[::1] number, joined            # of each slot: the row's number over all training; the how-many-th to join
    cdef double[::1] square                     # kernel of the row with itself, where the choice of what to remove needs it
    cdef dict slot_of                           # of each row's key
    cdef list keys
    cdef Py_ssize_t n_joined
    cdef Py_ssize_t vacant                      # the slot that was chosen for the row that joins next; -1: none
    # since the snapshot
    cdef dict journal                           # what slots had before they changed; None: nobody will ask
    cdef dict evicted                              # the evicted rows, by slot
    cdef Py_ssize_t n_before                      # how many were held

    cdef int reserve(self, Py_ssize_t n) except -1
    cdef int remember(self, Py_ssize_t slot) except -1
    cdef int measure(self, Py_ssize_t slot, Example x, Py_ssize_t row) except -1
    cdef Py_ssize_t find(self, key) except -2
    cdef Py_ssize_t choose_eviction(self, random) except -1
    cdef Py_ssize_t chosen(self, random) except -1
    cdef int evict(self, Py_ssize_t slot) except -1
    cdef Py_ssize_t join(self, Py_ssize_t slot, Example x, Py_ssize_t row, int64_t number, key) except -1
