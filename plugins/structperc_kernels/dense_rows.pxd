# Dense rows, and the kernels between them.
from structperc_kernels.vector_rows cimport VectorKernelRows


cdef class DenseKernelRows(VectorKernelRows):
    cdef double[::1] origin                     # what is subtracted from every row
