# The C functions of inner.h, and the layouts of X.
cdef extern from "inner.h" nogil:
    enum:
        SP_DENSE_F64
        SP_DENSE_F32
        SP_CSR_F64_I32
        SP_CSR_F64_I64
        SP_CSR_F32_I32
        SP_CSR_F32_I64
        SP_OBJECTS

    ctypedef struct sp_rows:
        int layout, dense_layout
        Py_ssize_t n_rows, n_features, n_dense
        const void *values
        const void *indices
        const void *indptr
        const void *dense

    ctypedef struct sp_blocks:
        double *w
        double *bias
        Py_ssize_t block_step, feature_step, n_blocks, average
        int *place
        int *marks
        int *n_placed

    ctypedef struct sp_inner:
        const char *name
        void (*dots[6])(const sp_rows *x, Py_ssize_t row, const sp_blocks *b, double *out) noexcept nogil
        void (*dots_of_rows[6])(const sp_rows *x, Py_ssize_t row, Py_ssize_t n, const sp_blocks *b, double *out,
                                Py_ssize_t pitch) noexcept nogil
        void (*add[6])(const sp_rows *x, Py_ssize_t row, const sp_blocks *b, const double *c, double to_w, double to_u) noexcept nogil
        double (*norm[6])(const sp_rows *x, Py_ssize_t row) noexcept nogil
        double (*row_dot)(const sp_rows *x, Py_ssize_t row, const sp_rows *z, Py_ssize_t other) noexcept nogil
        void (*adapt)(double *w, Py_ssize_t n, Py_ssize_t average, Py_ssize_t squares, double *change, double rate, double to_w,
                      double to_u) noexcept nogil
        void (*max_plus)(const double *a, const double *e, Py_ssize_t n, const double *t, Py_ssize_t pitch, Py_ssize_t m,
                         double *out) noexcept nogil
        void (*plus_times)(const double *a, const double *e, Py_ssize_t n, const double *t, Py_ssize_t pitch, Py_ssize_t m,
                           double *out) noexcept nogil
        double (*dot[6])(const sp_rows *x, Py_ssize_t row, const double *w, Py_ssize_t step) noexcept nogil
        void (*add_to_one[6])(const sp_rows *x, Py_ssize_t row, double *w, Py_ssize_t step, Py_ssize_t average, double c, double to_w,
                              double to_u) noexcept nogil

    bint sp_finite(const double *s, Py_ssize_t n) noexcept
    sp_rows sp_row_of(const sp_rows *x, Py_ssize_t row) noexcept
    Py_ssize_t sp_start(const sp_rows *x, Py_ssize_t row) noexcept
    Py_ssize_t sp_index(const sp_rows *x, Py_ssize_t at) noexcept
    Py_ssize_t sp_end(const sp_rows *x, Py_ssize_t last) noexcept
    Py_ssize_t sp_touched(const sp_rows *x, Py_ssize_t last, Py_ssize_t at) noexcept
    Py_ssize_t sp_dense_pitch(const sp_rows *x) noexcept
    bint sp_is_dense(const sp_rows *x) noexcept
    void sp_prefetch_rows(const sp_rows *x) noexcept
    void sp_prefetch_blocks(const sp_rows *x, const sp_blocks *b) noexcept
    Py_ssize_t SP_PLACE(const sp_blocks *b, Py_ssize_t feature) noexcept
    Py_ssize_t sp_mark(int *place, int *marks, int *n_placed, Py_ssize_t feature) noexcept
    Py_ssize_t SP_CLAIM(const sp_blocks *b, Py_ssize_t feature) noexcept
    void SP_PREFETCH(const void *p) noexcept


cdef const sp_inner *widest_inner() noexcept nogil
cdef const sp_inner *best_inner(Py_ssize_t n_features) noexcept
