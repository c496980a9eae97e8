from structperc.core.losses cimport Loss
from structperc.core.updates cimport Encoded, Trial, Update
from structperc_batch.block_memory cimport Block


cdef class DualBlocks:
    cdef readonly double C, margin
    cdef readonly Py_ssize_t n_examples
    cdef bint adopting                          # whether the next rebuild brings another training's solution into line
    cdef Block *blocks
    cdef Loss loss                              # as the loop calls it
    cdef double[::1] sum                        # over atoms

    cdef void forget(self) noexcept


cdef class BlockPass(Update):
    cdef readonly DualBlocks dual

    cdef Block *block_of(self, Trial trial) noexcept nogil
    cdef Block *opened(self, Trial trial, Encoded *gold) noexcept nogil
    cdef double total(self, Trial trial) noexcept nogil
    cdef int no_memory(self) noexcept nogil
    cdef int count(self, Trial trial, const int *y, Py_ssize_t n) noexcept nogil
    cdef int score(self, Trial trial, const int *y, Py_ssize_t n, double *total) noexcept nogil
    cdef int add(self, Trial trial, const int *y, Py_ssize_t n, double factor) noexcept nogil
    cdef int clear_sum(self, Py_ssize_t n_atoms) noexcept nogil
    cdef int grow_sum(self, Py_ssize_t n_atoms) noexcept with gil
