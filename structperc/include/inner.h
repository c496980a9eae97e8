/* Inner products and additive updates between the rows of X and blocks of weights.
 *
 * Typical sizes: 4 blocks of 10..1000 dense features, or 4 blocks of 80 non-zeros among 2^20 features.
 * Cost: one pass over x for all blocks; about 20 ns for 4 blocks of 50 features in the first-level cache.
 *
 * The order of summation is fixed: eight running sums (lane l takes features l, l + 8, ...), folded as
 * ((0+4)+(2+6)) + ((1+5)+(3+7)) and added to the sum of the last d mod 8 features, then the constant; sparse rows: one running sum in
 * storage order, and that of dense columns behind sparse ones is added last.  Contraction into fused multiply-adds is switched off
 * (setup.py).  So every instruction set gives the same bits.
 *
 * The functions stand in inner_sets.h, are compiled once per instruction set and picked when `kernels` is loaded.
 */
#ifndef STRUCTPERC_INNER_H
#define STRUCTPERC_INNER_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define SP_INLINE static inline __attribute__((always_inline))
#define SP_RESTRICT __restrict__
#define SP_PREFETCH(p) __builtin_prefetch(p, 0, 2)     /* to the second level: the first holds the weights */
#define SP_SCALAR __asm__ volatile("");      /* at most seven rounds: not worth a vector loop */
#define SP_APART static __attribute__((noinline))       /* its registers and its stack are no cost of its callers' other ways */
#define SP_VECTORS 1
#else
#define SP_INLINE static __inline
#define SP_RESTRICT __restrict
#define SP_PREFETCH(p) ((void)(p))
#define SP_SCALAR
#define SP_APART static
#define SP_VECTORS 0
#endif

enum { SP_DENSE_F64, SP_DENSE_F32, SP_CSR_F64_I32, SP_CSR_F64_I64, SP_CSR_F32_I32, SP_CSR_F32_I64, SP_OBJECTS };

/* Consecutive rows of X.  Dense: `values` is the first row's first value.  CSR: `values` and `indices` belong to the
 * whole matrix and `indptr` points at the first row's start.  The last n_dense columns of CSR may be dense instead: `dense` is the
 * first row's first value of them, `dense_layout` its type. */
typedef struct {
    int layout, dense_layout;
    ptrdiff_t n_rows, n_features, n_dense;
    const void *values, *indices, *indptr, *dense;
} sp_rows;

/* Weights of `n_blocks` blocks: block k, feature j stands at w[k * block_step + j * feature_step], the weight of the
 * constant feature 1 at bias[k] (NULL: none), and the averaging accumulator of any of them, when there is one, `average`
 * doubles further on.  With `place`, feature j stands in row place[j] instead: 0 is a row of zeros that all features share
 * which no step has touched, *n_placed the next row that is free.  `marks` is `place`, or 0 for features that no step has touched since
 * someone has set them to 0. */
typedef struct {
    double *w, *bias;
    ptrdiff_t block_step, feature_step, n_blocks, average;
    int32_t *place, *marks, *n_placed;
} sp_blocks;

/* The row of a feature, to read and to change. */
#define SP_PLACE(b, feature) ((b)->place ? (ptrdiff_t)(b)->place[feature] : (ptrdiff_t)(feature))
SP_INLINE ptrdiff_t sp_mark(int32_t *place, int32_t *marks, int32_t *n_placed, ptrdiff_t feature) {
    if (!place[feature]) place[feature] = (*n_placed)++;
    return marks[feature] = place[feature];
}
#define SP_CLAIM(b, feature)                                                                                           \
    (!(b)->place ? (ptrdiff_t)(feature) : (b)->marks[feature] ? (ptrdiff_t)(b)->marks[feature]                         \
                 : sp_mark((b)->place, (b)->marks, (b)->n_placed, feature))

typedef struct {                             /* one function per layout of x */
    const char *name;
    void (*dots[6])(const sp_rows *x, ptrdiff_t row, const sp_blocks *b, double *out);
    /* of the rows row .. row + n - 1, those of a row `pitch` doubles behind those of the one before */
    void (*dots_of_rows[6])(const sp_rows *x, ptrdiff_t row, ptrdiff_t n, const sp_blocks *b, double *out, ptrdiff_t pitch);
    void (*add[6])(const sp_rows *x, ptrdiff_t row, const sp_blocks *b, const double *c, double to_w, double to_u);
    double (*norm[6])(const sp_rows *x, ptrdiff_t row);
    double (*row_dot)(const sp_rows *x, ptrdiff_t row, const sp_rows *z, ptrdiff_t other);
    /* Of n weights in a row: G += change^2, w += to_w s and u += to_u s with s = rate * change / sqrt(G), where u stands `average`
     * doubles behind w (0: there is none) and G `squares`; change becomes 0. */
    void (*adapt)(double *w, ptrdiff_t n, ptrdiff_t average, ptrdiff_t squares, double *change, double rate, double to_w,
                  double to_u);
    /* out[j] = max over i < n of (a[i] + e[i]) + t[i * pitch + j], for j < m: one step of a dynamic programme */
    void (*max_plus)(const double *a, const double *e, ptrdiff_t n, const double *t, ptrdiff_t pitch, ptrdiff_t m, double *out);
    /* out[j] = sum over i < n of (a[i] * e[i]) * t[i * pitch + j], for j < m: the same of sums of products */
    void (*plus_times)(const double *a, const double *e, ptrdiff_t n, const double *t, ptrdiff_t pitch, ptrdiff_t m, double *out);
    /* `dots` and `add` of one block without a constant, weights `step` doubles apart: numbers stay in registers, where every way through
     * memory costs nine cycles of latency.  c is not 0. */
    double (*dot[6])(const sp_rows *x, ptrdiff_t row, const double *w, ptrdiff_t step);
    void (*add_to_one[6])(const sp_rows *x, ptrdiff_t row, double *w, ptrdiff_t step, ptrdiff_t average, double c, double to_w, double to_u);
} sp_inner;

SP_INLINE ptrdiff_t sp_dense_pitch(const sp_rows *x) { return x->n_dense * (x->dense_layout == SP_DENSE_F64 ? 8 : 4); }
SP_INLINE int sp_is_dense(const sp_rows *x) { return x->layout <= SP_DENSE_F32; }
SP_INLINE ptrdiff_t sp_value_size(const sp_rows *x) {
    return x->layout == SP_DENSE_F64 || x->layout == SP_CSR_F64_I32 || x->layout == SP_CSR_F64_I64 ? 8 : 4;
}
SP_INLINE int sp_wide_index(const sp_rows *x) { return x->layout == SP_CSR_F64_I64 || x->layout == SP_CSR_F32_I64; }
SP_INLINE ptrdiff_t sp_start(const sp_rows *x, ptrdiff_t row) {
    return sp_wide_index(x) ? (ptrdiff_t)((const int64_t *)x->indptr)[row] : (ptrdiff_t)((const int32_t *)x->indptr)[row];
}
SP_INLINE ptrdiff_t sp_index(const sp_rows *x, ptrdiff_t at) {
    return sp_wide_index(x) ? (ptrdiff_t)((const int64_t *)x->indices)[at] : (ptrdiff_t)((const int32_t *)x->indices)[at];
}

/* Whether n numbers are finite: by their exponents, in integers, so that no chain of additions stands behind a visit's products. */
SP_INLINE int sp_finite(const double *s, ptrdiff_t n) {
    uint64_t largest = 0, bits;
    for (ptrdiff_t k = 0; k < n; k++) {
        memcpy(&bits, s + k, sizeof bits);
        bits <<= 1;                          /* without the sign */
        largest = bits > largest ? bits : largest;
    }
    return largest < (uint64_t)0x7ff << 53;
}

#if SP_VECTORS
SP_INLINE int sp_first_bit(uint64_t bits) { return __builtin_ctzll(bits); }
#else
SP_INLINE int sp_first_bit(uint64_t bits) { int k = 0; while (!(bits >> k & 1)) k++; return k; }
#endif

/* The update of the constant feature. */
SP_INLINE void sp_add_bias(const sp_blocks *b, const double *c, double to_w, double to_u) {
    if (!b->bias) return;
    for (ptrdiff_t k = 0; k < b->n_blocks; k++) {
        b->bias[k] += c[k] * to_w;
        if (b->average) b->bias[k + b->average] += c[k] * to_u;
    }
}

/* The columns that rows `first` to `last` - 1 of CSR touch: those of the entries sp_start(x, first) to sp_end(x, last) - 1, dense ones last. */
SP_INLINE ptrdiff_t sp_end(const sp_rows *x, ptrdiff_t last) { return sp_start(x, last) + x->n_dense; }
SP_INLINE ptrdiff_t sp_touched(const sp_rows *x, ptrdiff_t last, ptrdiff_t at) {
    ptrdiff_t behind = at - sp_start(x, last);
    return behind < 0 ? sp_index(x, at) : x->n_features - x->n_dense + behind;
}

/* One row alone. */
SP_INLINE sp_rows sp_row_of(const sp_rows *x, ptrdiff_t row) {
    sp_rows one = *x;
    one.n_rows = 1;
    if (sp_is_dense(x)) one.values = (const char *)x->values + row * x->n_features * sp_value_size(x);
    else one.indptr = (const char *)x->indptr + row * (sp_wide_index(x) ? 8 : 4);
    if (x->n_dense) one.dense = (const char *)x->dense + row * sp_dense_pitch(x);
    return one;
}

/* The dense columns of a row of CSR, as a row of their own, and their weights. */
SP_INLINE sp_rows sp_dense_row(const sp_rows *x, ptrdiff_t row) {
    sp_rows one = {x->dense_layout, x->dense_layout, 1, x->n_dense, 0, (const char *)x->dense + row * sp_dense_pitch(x), NULL, NULL, NULL};
    return one;
}
SP_INLINE sp_blocks sp_dense_blocks(const sp_rows *x, const sp_blocks *b) {
    sp_blocks its = *b;
    ptrdiff_t first = x->n_features - x->n_dense;
    its.bias = NULL;
    if (b->place) { its.place += first; its.marks += first; }
    else its.w += first * b->feature_step;
    return its;
}

/* Asks for the memory of the rows of a coming example. */
SP_INLINE void sp_prefetch_rows(const sp_rows *x) {
    ptrdiff_t size = sp_value_size(x), first, last, limit = 65536;
    const char *p;
    if (x->layout == SP_OBJECTS) return;
    if (sp_is_dense(x)) { first = 0; last = x->n_rows * x->n_features; }
    else { first = sp_start(x, 0); last = sp_start(x, x->n_rows); }
    p = (const char *)x->values;
    if ((last - first) * size > limit) last = first + limit / size;
    for (ptrdiff_t byte = first * size; byte < last * size; byte += 64) SP_PREFETCH(p + byte);
    if (last > first) SP_PREFETCH(p + last * size - 1);
    if (!sp_is_dense(x)) {
        size = sp_wide_index(x) ? 8 : 4;
        p = (const char *)x->indices;
        for (ptrdiff_t byte = first * size; byte < last * size; byte += 64) SP_PREFETCH(p + byte);
        p = (const char *)x->dense;
        size = x->n_rows * sp_dense_pitch(x);
        for (ptrdiff_t byte = 0; byte < size && byte < limit; byte += 64) SP_PREFETCH(p + byte);
    }
}

/* Asks for the weights that the non-zeros of a coming example touch (feature-major blocks). */
SP_INLINE void sp_prefetch_blocks(const sp_rows *x, const sp_blocks *b) {
    if (sp_is_dense(x) || b->block_step != 1) return;
    ptrdiff_t first = sp_start(x, 0), last = sp_start(x, x->n_rows), bytes = (b->average + b->n_blocks) * 8;
    for (ptrdiff_t q = first; q < last; q++) {
        const char *p = (const char *)(b->w + SP_PLACE(b, sp_index(x, q)) * b->feature_step);
        for (ptrdiff_t byte = 0; byte < bytes; byte += 64) SP_PREFETCH(p + byte);
    }
}

SP_INLINE double sp_value(const sp_rows *x, ptrdiff_t at) {
    return sp_value_size(x) == 8 ? ((const double *)x->values)[at] : (double)((const float *)x->values)[at];
}

#endif
