# Rows of numbers and the kernels between them: what dense and sparse rows share.
from structperc.core.inner_products cimport sp_rows
from structperc_kernels.aligned_buffer cimport AlignedBuffer
from structperc_kernels.instruction_sets cimport sp_kernel, sp_slots, sp_tiles
from structperc_kernels.kernel_rows cimport KernelRows, Queries


cdef class VectorQueries(Queries):
    cdef AlignedBuffer panels, norms


cdef class VectorKernelRows(KernelRows):
    cdef readonly str kernel, dtype
    cdef readonly object gamma, offset          # as given; gamma_ and offset_ are what they came to
    cdef readonly Py_ssize_t n_features
    cdef sp_kernel function
    cdef sp_slots held
    cdef const sp_tiles *tiles
    cdef bint narrow
    cdef Py_ssize_t value_size
    cdef AlignedBuffer stored, norms

    cdef int put(self, Py_ssize_t slot, const sp_rows *x, Py_ssize_t row) noexcept nogil
    cdef int copy(self, Py_ssize_t slot, VectorKernelRows source, Py_ssize_t other) noexcept nogil
    cdef void measure(self, Py_ssize_t slot, const void *row, Py_ssize_t n) noexcept nogil
    cdef int full(self) noexcept nogil
