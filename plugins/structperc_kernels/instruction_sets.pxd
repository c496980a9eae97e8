# The compiled functions of tiles.h, one set for each instruction set.
from libc.stdint cimport int32_t, int64_t
from structperc.core.inner_products cimport sp_rows

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
