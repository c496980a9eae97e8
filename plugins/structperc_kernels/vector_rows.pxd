# Rows of numbers and the kernels between them: what dense and sparse rows share.
from libc.stdint cimport int32_t, int64_t
from structperc.core.inner_products cimport sp_rows
from structperc_kernels.kernel_rows cimport KernelRows, Queries


# ---- instruction sets ----
# The compiled functions of tiles.h, one set for each instruction set.

cdef extern from "tiles.h" nogil:
    enum:
        SP_LINEAR
        SP_POLYNOMIAL
        SP_RBF
        SP_LAPLACIAN
        SP_PERCEPTRON
        SP_STUMP

    ctypedef struct sp_kernel:
        int kind, degree
        double gamma, coef0, offset

    ctypedef struct sp_slots:
        Py_ssize_t n_features
        const void *values
        const void *norms
        const int64_t *begin
        const int32_t *length
        const int32_t *indices

    ctypedef struct sp_panel:
        const void *panel
        const void *norms
        const int32_t *place

    ctypedef struct sp_tiles:
        const char *name
        void (*dense[2])(const sp_kernel *k, const sp_slots *z, const sp_panel *q, const int *slots, Py_ssize_t n,
                         double *values) noexcept nogil
        void (*sparse[2])(const sp_kernel *k, const sp_slots *z, const sp_panel *q, const int *slots, Py_ssize_t n,
                          double *values) noexcept nogil
        void (*powers_f64)(const double *x, Py_ssize_t n, double *out) noexcept nogil
        void (*powers_f32)(const float *x, Py_ssize_t n, float *out) noexcept nogil
        void (*add_weighted)(const double *values, Py_ssize_t n, const double *const *c, Py_ssize_t n_blocks, double *sums) noexcept nogil
        void (*add_weighted_since)(const double *values, Py_ssize_t n, const double *const *c, Py_ssize_t n_blocks, double *sums,
                                   int64_t first, const int64_t *start) noexcept nogil

    bint sp_is_distance(const sp_kernel *k) noexcept
    bint sp_is_absolute(const sp_kernel *k) noexcept
    Py_ssize_t sp_n_values(const sp_rows *x, Py_ssize_t row) noexcept
    void sp_keep_dense_f64(const sp_rows *x, Py_ssize_t row, const double *origin, double *out, Py_ssize_t step) noexcept
    void sp_keep_dense_f32(const sp_rows *x, Py_ssize_t row, const double *origin, float *out, Py_ssize_t step) noexcept
    Py_ssize_t sp_keep_sparse_f64(const sp_rows *x, Py_ssize_t row, int32_t *indices, double *values) noexcept
    Py_ssize_t sp_keep_sparse_f32(const sp_rows *x, Py_ssize_t row, int32_t *indices, float *values) noexcept
    double sp_norm_of_f64(const sp_kernel *k, const double *x, Py_ssize_t n, Py_ssize_t step) noexcept
    float sp_norm_of_f32(const sp_kernel *k, const float *x, Py_ssize_t n, Py_ssize_t step) noexcept


cdef const sp_tiles *best_tiles() noexcept
cdef const sp_tiles *named_tiles(str name) except NULL


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
