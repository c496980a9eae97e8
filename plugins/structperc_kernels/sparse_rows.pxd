# Sparse rows, and the kernels between them.
from structperc_kernels.aligned_buffer cimport AlignedBuffer
from structperc_kernels.vector_rows cimport VectorKernelRows, VectorQueries


cdef class SparseQueries(VectorQueries):
    cdef AlignedBuffer features, begin, place           # the features of group g: features[begin[g]:begin[g + 1]]; begin also counts panels
    cdef Py_ssize_t current                     # the group whose features have a place, or -1

    cdef void show(self, Py_ssize_t group) noexcept nogil


cdef class SparseKernelRows(VectorKernelRows):
    cdef AlignedBuffer begin, length, indices
    cdef Py_ssize_t used, wasted                # entries that slots have or had; of these, how many no slot has any more

    cdef int claim(self, Py_ssize_t slot, Py_ssize_t n) noexcept nogil
    cdef int gather(self) noexcept with gil
    cdef void settle(self, Py_ssize_t slot, Py_ssize_t n) noexcept nogil
