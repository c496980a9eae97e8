/* Kernel values between stored rows ("slots") and sixteen queries side by side ("lanes"), and sums of coefficients times such values.
 *
 * Typical sizes: tiles of 64 slots and 16 lanes; 2..1000 dense features, or 80 non-zeros among 2^20.
 * Cost: a multiplication and an addition per feature and value, then about as much as 15 more features for an exponential.
 *
 * Every value is one running sum over the features in the order of storage, without fused multiply-adds (setup.py), and everything after
 * is one fixed sequence of operations: the same bits whatever stands in the other lanes and slots, and for every instruction set.
 *
 * The functions stand in tiles_sets.h, are compiled once per instruction set and picked when `instruction_sets` is loaded.
 */
#ifndef STRUCTPERC_TILES_H
#define STRUCTPERC_TILES_H

#include "inner.h"

enum { SP_LANES = 16 };
enum { SP_LINEAR, SP_POLYNOMIAL, SP_RBF, SP_LAPLACIAN, SP_PERCEPTRON, SP_STUMP };

/* The kernel: its kind, and what that kind uses of the parameters. */
typedef struct {
    int kind, degree;
    double gamma, coef0, offset;
} sp_kernel;

/* Rows in slots, of doubles or of floats.  Dense: slot s begins at values[s * n_features].  Sparse: the non-zeros of slot s are the
 * length[s] features and values from begin[s] on.  norms: see sp_norm_of. */
typedef struct {
    ptrdiff_t n_features;
    const void *values, *norms;
    const int64_t *begin;
    const int32_t *length, *indices;
} sp_slots;

/* Sixteen queries: panel[j * SP_LANES + lane] is feature j, or, with `place`, feature j stands in row place[j], and row 0 holds zeros. */
typedef struct {
    const void *panel, *norms;
    const int32_t *place;
} sp_panel;

typedef struct {                             /* [0] for rows of doubles, [1] for floats; values are (n, SP_LANES) in any case */
    const char *name;
    void (*dense[2])(const sp_kernel *k, const sp_slots *z, const sp_panel *q, const int *slots, ptrdiff_t n, double *values);
    void (*sparse[2])(const sp_kernel *k, const sp_slots *z, const sp_panel *q, const int *slots, ptrdiff_t n, double *values);
    void (*powers_f64)(const double *x, ptrdiff_t n, double *out);           /* 2^x for x <= 0; n is a multiple of SP_LANES */
    void (*powers_f32)(const float *x, ptrdiff_t n, float *out);
    /* sums[b * SP_LANES + lane] += c[i][b] * values[i * SP_LANES + lane], for i = 0, 1, .. n - 1 in this order */
    void (*add_weighted)(const double *values, ptrdiff_t n, const double *const *c, ptrdiff_t n_blocks, double *sums);
    /* the same, but a value counts as 0 in lanes where its number, first + i, is smaller than from[lane] */
    void (*add_weighted_since)(const double *values, ptrdiff_t n, const double *const *c, ptrdiff_t n_blocks, double *sums, int64_t first,
                      const int64_t *from);
} sp_tiles;

SP_INLINE int sp_is_distance(const sp_kernel *k) { return k->kind >= SP_RBF; }
SP_INLINE int sp_is_absolute(const sp_kernel *k) { return k->kind == SP_LAPLACIAN || k->kind == SP_STUMP; }

/* ---- rows as they come, and as they are kept ---- */

SP_INLINE ptrdiff_t sp_first_value(const sp_rows *x, ptrdiff_t row) { return sp_is_dense(x) ? row * x->n_features : sp_start(x, row); }
SP_INLINE ptrdiff_t sp_n_values(const sp_rows *x, ptrdiff_t row) {
    return sp_is_dense(x) ? x->n_features : sp_start(x, row + 1) - sp_start(x, row);
}

#define SP_KEEP(SP_REAL, SUFFIX)                                                                                                          \
    /* Row `row` of x less `origin`, features `step` apart; + 0: no negative zeros. */                                                    \
    SP_INLINE void sp_keep_dense_##SUFFIX(const sp_rows *x, ptrdiff_t row, const double *origin, SP_REAL *out, ptrdiff_t step) {          \
        ptrdiff_t at = sp_first_value(x, row), n = sp_n_values(x, row), d = x->n_features;                                                \
        if (x->layout == SP_DENSE_F64)                                                                                                    \
            for (ptrdiff_t j = 0; j < d; j++) out[j * step] = (SP_REAL)(((const double *)x->values)[at + j] - origin[j] + 0);             \
        else if (x->layout == SP_DENSE_F32)                                                                                               \
            for (ptrdiff_t j = 0; j < d; j++) out[j * step] = (SP_REAL)(((const float *)x->values)[at + j] - origin[j] + 0);              \
        else {                                                                                                                            \
            for (ptrdiff_t j = 0; j < d; j++) out[j * step] = (SP_REAL)(0 - origin[j] + 0);                                               \
            for (ptrdiff_t e = at; e < at + n; e++) {                                                                                     \
                ptrdiff_t j = sp_index(x, e);                                                                                             \
                out[j * step] = (SP_REAL)(sp_value(x, e) - origin[j] + 0);                                                                \
            }                                                                                                                             \
        }                                                                                                                                 \
    }                                                                                                                                     \
    /* The non-zeros of row `row` of x; answers how many. */                                                                              \
    SP_INLINE ptrdiff_t sp_keep_sparse_##SUFFIX(const sp_rows *x, ptrdiff_t row, int32_t *indices, SP_REAL *values) {                     \
        ptrdiff_t at = sp_first_value(x, row), n = sp_n_values(x, row), kept = 0;                                                         \
        for (ptrdiff_t e = 0; e < n; e++) {                                                                                               \
            SP_REAL value = (SP_REAL)sp_value(x, at + e);                                                                                 \
            indices[kept] = (int32_t)(sp_is_dense(x) ? e : sp_index(x, at + e));                                                          \
            values[kept] = value;                                                                                                         \
            kept += value != 0;                                                                                                           \
        }                                                                                                                                 \
        return kept;                                                                                                                      \
    }                                                                                                                                     \
    /* What distances need of a row besides dot products, summed as a dot product with the row itself is: ||x||^2 or ||x||_1. */          \
    SP_INLINE SP_REAL sp_norm_of_##SUFFIX(const sp_kernel *k, const SP_REAL *x, ptrdiff_t n, ptrdiff_t step) {                              \
        SP_REAL total = 0;                                                                                                                \
        if (!sp_is_distance(k)) return 0;                                                                                                 \
        if (sp_is_absolute(k)) for (ptrdiff_t j = 0; j < n; j++) total += x[j * step] < 0 ? -x[j * step] : x[j * step];                   \
        else for (ptrdiff_t j = 0; j < n; j++) total += x[j * step] * x[j * step];                                                        \
        return total;                                                                                                                     \
    }
SP_KEEP(double, f64)
SP_KEEP(float, f32)
#undef SP_KEEP

#endif
