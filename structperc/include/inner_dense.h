/* Included by inner_kernels.h once per type of x: dot products, updates and norm of a dense row. */

/* The eight running sums of w . x. */
SP_INLINE SP(eight) SP_T(sums)(const SP_REAL *SP_RESTRICT x, ptrdiff_t d, const double *SP_RESTRICT w) {
    SP(eight) s0 = {0};
    for (ptrdiff_t j = 0; j + 8 <= d; j += 8) { SP_EACH_PART(SP_MULTIPLY1) }
    return s0;
}

SP_INLINE double SP_T(dot1)(const SP_REAL *SP_RESTRICT x, ptrdiff_t d, const double *SP_RESTRICT w) {
    SP(eight) s = SP_T(sums)(x, d, w);
    double rest = 0;
    for (ptrdiff_t j = d & -8; j < d; j++) { SP_SCALAR rest += w[j] * (double)x[j]; }
    return rest + SP(fold)(s);
}

SP_INLINE void SP_T(dots1)(const SP_REAL *SP_RESTRICT x, ptrdiff_t d, const double *SP_RESTRICT w,
                           const double *bias, double *SP_RESTRICT out) {
    double total = SP_T(dot1)(x, d, w);
    *out = bias ? total + *bias : total;
}

SP_INLINE void SP_T(dots2)(const SP_REAL *SP_RESTRICT x, ptrdiff_t d, const double *SP_RESTRICT w, ptrdiff_t step,
                           const double *bias, double *SP_RESTRICT out) {
    const double *w1 = w + step;
    SP(eight) s0 = {0}, s1 = {0};
    double rest = 0, rest1 = 0;
    ptrdiff_t j = 0;
    for (; j + 8 <= d; j += 8) { SP_EACH_PART(SP_MULTIPLY2) }
    for (; j < d; j++) { SP_SCALAR double v = x[j]; rest += w[j] * v; rest1 += w1[j] * v; }
    rest += SP(fold)(s0); rest1 += SP(fold)(s1);
    if (bias) { rest += bias[0]; rest1 += bias[1]; }
    out[0] = rest; out[1] = rest1;
}

#if SP_BLOCKS_AT_ONCE == 4
SP_APART void SP_T(dots4)(const SP_REAL *SP_RESTRICT x, ptrdiff_t d, const double *SP_RESTRICT w, ptrdiff_t step,
                           const double *bias, double *SP_RESTRICT out) {
    const double *w1 = w + step, *w2 = w1 + step, *w3 = w2 + step;
    SP(eight) s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    SP(four) rest = {0, 0, 0, 0};            /* one lane a block: no way through memory before the scores are read */
    ptrdiff_t j = 0;
    for (; j + 8 <= d; j += 8) { SP_EACH_PART(SP_MULTIPLY4) }
    for (; j < d; j++) {
        double v = x[j];
        rest += (SP(four)){w[j], w1[j], w2[j], w3[j]} * (SP(four)){v, v, v, v};
    }
    rest += SP(fold4)(s0, s1, s2, s3);
    if (bias) rest += *(const SP(loose_four) *)bias;
    *(SP(loose_four) *)out = rest;
}
#endif

#define SP_INDEX int32_t
#define SP_COLUMN(q) q
#define SP_SKIPPED(value) (b->place && (value) == 0)      /* it would claim a row */
#include "inner_by_feature.h"
#undef SP_INDEX
#undef SP_COLUMN
#undef SP_SKIPPED

SP_APART void SP_T(dots_of_blocks)(const SP_REAL *v, ptrdiff_t d, const sp_blocks *b, double *out) {
    ptrdiff_t n = b->n_blocks, step = b->block_step, k = 0;
    const double *w = b->w, *bias = b->bias;
#if SP_BLOCKS_AT_ONCE == 4
    for (; k + 4 <= n; k += 4) SP_T(dots4)(v, d, w + k * step, step, bias ? bias + k : bias, out + k);
#endif
    for (; k + 2 <= n; k += 2) SP_T(dots2)(v, d, w + k * step, step, bias ? bias + k : bias, out + k);
    if (k < n) SP_T(dots1)(v, d, w + k * step, bias ? bias + k : bias, out + k);
}

static void SP_T(dots)(const sp_rows *x, ptrdiff_t row, const sp_blocks *b, double *out) {
    ptrdiff_t d = x->n_features;
    const SP_REAL *v = (const SP_REAL *)x->values + row * d;
    if (b->feature_step != 1) SP_T(dots_by_feature)(v, NULL, d, b, out);
    else if (b->n_blocks == 1) SP_T(dots1)(v, d, b->w, b->bias, out);
#if SP_BLOCKS_AT_ONCE == 4
    else if (b->n_blocks == 4) SP_T(dots4)(v, d, b->w, b->block_step, b->bias, out);
#endif
    else SP_T(dots_of_blocks)(v, d, b, out);
}

#if SP_BLOCKS_AT_ONCE == 4
/* Four rows of one block, whose sums are folded as those of four blocks in `dots4`; read one after the other, as memory is fastest. */
SP_INLINE void SP_T(rows4)(const SP_REAL *SP_RESTRICT x, ptrdiff_t d, const double *SP_RESTRICT w, const double *bias,
                           double *SP_RESTRICT out, ptrdiff_t pitch) {
    const SP_REAL *x1 = x + d, *x2 = x1 + d, *x3 = x2 + d;
    SP(eight) s0 = SP_T(sums)(x, d, w), s1 = SP_T(sums)(x1, d, w), s2 = SP_T(sums)(x2, d, w), s3 = SP_T(sums)(x3, d, w);
    SP(four) rest = {0, 0, 0, 0};
    for (ptrdiff_t j = d & -8; j < d; j++) {
        double e = w[j];
        rest += (SP(four)){e, e, e, e} * (SP(four)){x[j], x1[j], x2[j], x3[j]};
    }
    rest += SP(fold4)(s0, s1, s2, s3);
    if (bias) rest += (SP(four)){*bias, *bias, *bias, *bias};
    for (int r = 0; r < 4; r++) out[r * pitch] = rest[r];
}
#endif

#if SP_TILES
/* Four rows by four blocks at a time: each value is loaded once for all blocks, each weight once for all rows. */
SP_INLINE void SP_T(tile)(const SP_REAL *SP_RESTRICT x, ptrdiff_t d, const double *SP_RESTRICT w, ptrdiff_t step, const double *bias,
                          double *SP_RESTRICT out, ptrdiff_t pitch) {
    SP(eight) s[4][4];
    SP(four) rest[4];
    ptrdiff_t j = 0;
    memset(s, 0, sizeof s);
    memset(rest, 0, sizeof rest);
#define SP_MULTIPLY_TILE(part, at)                                                                                     \
    {                                                                                                                  \
        SP(vec) v[4];                                                                                                  \
        for (int r = 0; r < 4; r++) v[r] = SP_LOAD(x + r * d + j + at);                                                \
        for (int k = 0; k < 4; k++) {                                                                                  \
            SP(vec) e = SP_LOAD_F64(w + k * step + j + at);                                                            \
            for (int r = 0; r < 4; r++) s[r][k].part += e * v[r];                                                      \
        }                                                                                                              \
    }
    for (; j + 8 <= d; j += 8) { SP_EACH_PART(SP_MULTIPLY_TILE) }
#undef SP_MULTIPLY_TILE
    for (; j < d; j++) {
        SP(four) e = {w[j], w[step + j], w[2 * step + j], w[3 * step + j]};
        for (int r = 0; r < 4; r++) {
            double v = x[r * d + j];
            rest[r] += e * (SP(four)){v, v, v, v};
        }
    }
    for (int r = 0; r < 4; r++) {
        rest[r] += SP(fold4)(s[r][0], s[r][1], s[r][2], s[r][3]);
        if (bias) rest[r] += *(const SP(loose_four) *)bias;
        *(SP(loose_four) *)(out + r * pitch) = rest[r];
    }
}
#endif

static void SP_T(dots_of_rows)(const sp_rows *x, ptrdiff_t row, ptrdiff_t n, const sp_blocks *b, double *out, ptrdiff_t pitch) {
    ptrdiff_t i = 0;
#if SP_BLOCKS_AT_ONCE == 4
    ptrdiff_t d = x->n_features;
    const SP_REAL *v = (const SP_REAL *)x->values + row * d;
    if (b->feature_step == 1 && b->n_blocks == 1)
        for (; i + 4 <= n; i += 4) SP_T(rows4)(v + i * d, d, b->w, b->bias, out + i * pitch, pitch);
#endif
#if SP_TILES
    ptrdiff_t step = b->block_step, tiled = b->feature_step == 1 ? b->n_blocks / 4 * 4 : 0, bytes = 4 * d * (ptrdiff_t)sizeof *v;
    sp_blocks left = *b;
    left.w += tiled * step; left.bias = b->bias ? b->bias + tiled : NULL; left.n_blocks -= tiled;
    for (; tiled && i + 4 <= n; i += 4) {
        const char *ahead = (const char *)(v + i * d) + (bytes < SP_AHEAD ? SP_AHEAD : bytes);
        if (bytes <= 4 * SP_AHEAD && i + 8 <= n)         /* four rows at once are no order in which memory is read by itself */
            for (ptrdiff_t byte = 0; byte < bytes; byte += 64) SP_PREFETCH(ahead + byte);
        for (ptrdiff_t k = 0; k < tiled; k += 4)
            SP_T(tile)(v + i * d, d, b->w + k * step, step, b->bias ? b->bias + k : NULL, out + i * pitch + k, pitch);
        if (left.n_blocks)
            for (ptrdiff_t r = i; r < i + 4; r++) SP_T(dots)(x, row + r, &left, out + r * pitch + tiled);
    }
#endif
    for (; i < n; i++) SP_T(dots)(x, row + i, b, out + i * pitch);    /* may write into the next row, which comes later */
}

/* w += a x and u += t x; far = 0: there is no u. */
SP_INLINE void SP_T(add1)(const SP_REAL *SP_RESTRICT v, ptrdiff_t d, double *SP_RESTRICT w, ptrdiff_t far, double a, double t) {
    double *SP_RESTRICT u = w + far;
    ptrdiff_t j = 0;
#define SP_STEP(part, at) SP_AT(w + j + at) += a * SP_LOAD(v + j + at);
#define SP_STEP2(part, at)                                                                                             \
    { SP(vec) e = SP_LOAD(v + j + at); SP_AT(w + j + at) += a * e; SP_AT(u + j + at) += t * e; }
    if (far) {
        for (; j + 8 <= d; j += 8) { SP_EACH_PART(SP_STEP2) }
        for (; j < d; j++) { SP_SCALAR double e = v[j]; w[j] += a * e; u[j] += t * e; }
    } else {
        for (; j + 8 <= d; j += 8) { SP_EACH_PART(SP_STEP) }
        for (; j < d; j++) { SP_SCALAR w[j] += a * (double)v[j]; }
    }
#undef SP_STEP
#undef SP_STEP2
}

SP_APART void SP_T(add_to_blocks)(const SP_REAL *v, ptrdiff_t d, const sp_blocks *b, const double *SP_RESTRICT c, double to_w, double to_u) {
    ptrdiff_t far = b->average;
    for (ptrdiff_t group = 0; group < b->n_blocks; group += 64)
    for (uint64_t moved = SP(moved)(c + group, b->n_blocks - group); moved; moved &= moved - 1) {
        ptrdiff_t k = group + sp_first_bit(moved);
        double a = c[k] * to_w, t = c[k] * to_u;
        if (b->bias) {
            b->bias[k] += a;
            if (far) b->bias[k + far] += t;
        }
        SP_T(add1)(v, d, b->w + k * b->block_step, far, a, t);
    }
}

static void SP_T(add)(const sp_rows *x, ptrdiff_t row, const sp_blocks *b, const double *SP_RESTRICT c, double to_w,
                      double to_u) {
    ptrdiff_t d = x->n_features;
    const SP_REAL *v = (const SP_REAL *)x->values + row * d;
    if (b->feature_step != 1) SP_T(add_by_feature)(v, NULL, d, b, c, to_w, to_u);
    else SP_T(add_to_blocks)(v, d, b, c, to_w, to_u);
}

static double SP_T(dot)(const sp_rows *x, ptrdiff_t row, const double *w, ptrdiff_t step) {
    ptrdiff_t d = x->n_features;
    const SP_REAL *v = (const SP_REAL *)x->values + row * d;
    sp_blocks b;
    double out;
    if (step == 1) return SP_T(dot1)(v, d, w);
    b = SP(block)(w, step, 0);
    SP_T(dots_by_feature)(v, NULL, d, &b, &out);
    return out;
}

static void SP_T(add_to_one)(const sp_rows *x, ptrdiff_t row, double *w, ptrdiff_t step, ptrdiff_t average, double c, double to_w,
                             double to_u) {
    ptrdiff_t d = x->n_features;
    const SP_REAL *v = (const SP_REAL *)x->values + row * d;
    sp_blocks b;
    if (step == 1) SP_T(add1)(v, d, w, average, c * to_w, c * to_u);
    else {
        b = SP(block)(w, step, average);
        SP_T(add_by_feature)(v, NULL, d, &b, &c, to_w, to_u);
    }
}

static double SP_T(norm)(const sp_rows *x, ptrdiff_t row) {
    const SP_REAL *v = (const SP_REAL *)x->values + row * x->n_features;
    ptrdiff_t d = x->n_features, j = 0;
    double rest = 0;
    SP(eight) s0 = {0};
#define SP_SQUARE(part, at) { SP(vec) e = SP_LOAD(v + j + at); s0.part += e * e; }
    for (; j + 8 <= d; j += 8) { SP_EACH_PART(SP_SQUARE) }
#undef SP_SQUARE
    for (; j < d; j++) { SP_SCALAR rest += (double)v[j] * (double)v[j]; }
    return rest + SP(fold)(s0);
}
