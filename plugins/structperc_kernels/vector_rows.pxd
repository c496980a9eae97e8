# Rows of numbers and the kernels between them: what dense and sparse rows share.
from structperc.core.inner_products cimport sp_rows
from structperc_kernels.instruction_sets cimport sp_kernel, sp_slots, sp_tiles
from structperc_kernels.kernel_rows cimport KernelRows, Queries


# ---- aligned buffer ----
# Memory that grows and begins on a cache line.


cdef class AlignedBuffer:
    cdef char *at
    cdef char *whole
    cdef Py_ssize_t size                        # bytes from `at` on

    cdef int provide(self, Py_ssize_t size) noexcept nogil


cdef object copied(const void *at, shape, dtype)
cdef object viewed(void *at, shape, dtype)
cdef object room_for(AlignedBuffer buffer, shape, dtype)
cdef int out_of_memory() except -1


# ---- vector rows ----


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


# ---- dense rows ----
# Dense rows, and the kernels between them.


cdef class DenseKernelRows(VectorKernelRows):
    cdef double[::1] origin                     # what is subtracted from every row


# ---- sparse rows ----
# Sparse rows, and the kernels between them.


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
