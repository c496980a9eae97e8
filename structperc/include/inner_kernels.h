/* Included by instruction_sets.h once per instruction set; SP_WIDTH doubles fill one vector register.
 *
 * An `eight` is the eight running sums of one dot product: one, two, four or eight registers. */

#if SP_WIDTH > 1
typedef double SP(vec) __attribute__((vector_size(SP_WIDTH * 8), may_alias));
typedef double SP(loose) __attribute__((vector_size(SP_WIDTH * 8), aligned(8), may_alias));
typedef float SP(narrow) __attribute__((vector_size(SP_WIDTH * 4), aligned(4), may_alias));
#define SP_AT(p) (*(SP(loose) *)(p))
#define SP_LOAD_F64(p) (*(const SP(loose) *)(p))
#define SP_LOAD_F32(p) __builtin_convertvector(*(const SP(narrow) *)(p), SP(vec))
#else
typedef double SP(vec);
#define SP_AT(p) (*(p))
#define SP_LOAD_F64(p) (*(p))
#define SP_LOAD_F32(p) ((double)*(p))
#endif
#ifdef SP_X86
#define SP_MAX SP_MAX_F64
#define SP_SQRT SP_SQRT_F64
#if SP_WIDTH == 8                            /* SP_ANY: whether some lane of a comparison is true */
#define SP_ANY(mask) _mm512_movepi64_mask((__m512i)(mask))
#elif SP_WIDTH == 4
#define SP_ANY(mask) _mm256_movemask_pd((__m256d)(mask))
#else
#define SP_ANY(mask) _mm_movemask_pd((__m128d)(mask))
#endif
#elif SP_WIDTH == 2
typedef long long SP(mask) __attribute__((vector_size(16)));
SP_INLINE SP(vec) sp_max(SP(vec) x, SP(vec) y) {
    SP(mask) larger = x > y;
    return (SP(vec))(((SP(mask))x & larger) | ((SP(mask))y & ~larger));
}
SP_INLINE SP(vec) sp_roots(SP(vec) x) { return (SP(vec)){__builtin_sqrt(x[0]), __builtin_sqrt(x[1])}; }
#define SP_MAX sp_max
#define SP_SQRT sp_roots
#define SP_ANY(mask) ((mask)[0] | (mask)[1])
#endif
#ifdef __clang__
#define SP_MIX(type, x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define SP_MIX(type, x, y, ...) __builtin_shuffle(x, y, (type){__VA_ARGS__})
#endif

#if SP_WIDTH == 8
typedef double SP(four) __attribute__((vector_size(32), may_alias));
typedef double SP(loose_four) __attribute__((vector_size(32), aligned(8), may_alias));
typedef struct { SP(vec) a; } SP(eight);
#define SP_EACH_PART(DO) DO(a, 0)
#define SP_BLOCKS_AT_ONCE 4
#define SP_TILES 1                           /* sixteen sums of 32 registers */
#define SP_AHEAD 2048                        /* bytes from the rows of a tile to those that are asked for */
/* (0+4, 1+5, 2+6, 3+7): from here on as with registers of four */
SP_INLINE SP(four) SP(halve)(SP(eight) s) {
    return __builtin_shufflevector(s.a, s.a, 0, 1, 2, 3) + __builtin_shufflevector(s.a, s.a, 4, 5, 6, 7);
}
#elif SP_WIDTH == 4
typedef SP(vec) SP(four);
typedef SP(loose) SP(loose_four);
typedef struct { SP(vec) a, b; } SP(eight);
#define SP_EACH_PART(DO) DO(a, 0) DO(b, 4)
#define SP_BLOCKS_AT_ONCE 4
SP_INLINE SP(four) SP(halve)(SP(eight) s) { return s.a + s.b; }
#endif

#if SP_WIDTH >= 4
SP_INLINE double SP(fold)(SP(eight) e) {
    SP(four) t = SP(halve)(e);
    return (t[0] + t[2]) + (t[1] + t[3]);
}
SP_INLINE SP(four) SP(fold4)(SP(eight) e, SP(eight) f, SP(eight) g, SP(eight) h) {
    typedef long long mask __attribute__((vector_size(32)));
    SP(four) s = SP(halve)(e), t = SP(halve)(f), u = SP(halve)(g), v = SP(halve)(h);
    SP(four) p = SP_MIX(mask, s, t, 0, 1, 4, 5) + SP_MIX(mask, s, t, 2, 3, 6, 7);
    SP(four) q = SP_MIX(mask, u, v, 0, 1, 4, 5) + SP_MIX(mask, u, v, 2, 3, 6, 7);
    return SP_MIX(mask, p, q, 0, 2, 4, 6) + SP_MIX(mask, p, q, 1, 3, 5, 7);
}
#else
#if SP_WIDTH == 2
typedef struct { SP(vec) a, b, c, d; } SP(eight);
#define SP_EACH_PART(DO) DO(a, 0) DO(b, 2) DO(c, 4) DO(d, 6)
SP_INLINE double SP(fold)(SP(eight) s) {
    SP(vec) t = (s.a + s.c) + (s.b + s.d);
    return t[0] + t[1];
}
#else
typedef struct { SP(vec) a, b, c, d, e, f, g, h; } SP(eight);
#define SP_EACH_PART(DO) DO(a, 0) DO(b, 1) DO(c, 2) DO(d, 3) DO(e, 4) DO(f, 5) DO(g, 6) DO(h, 7)
SP_INLINE double SP(fold)(SP(eight) s) {
    return ((s.a + s.e) + (s.c + s.g)) + ((s.b + s.f) + (s.d + s.h));
}
#endif
#define SP_BLOCKS_AT_ONCE 2                  /* sixteen registers hold two blocks' sums */
#endif
/* Which of (up to 64) coefficients are not 0, as bits: one branch per block that moves instead of one per block. */
SP_INLINE uint64_t SP(moved)(const double *c, ptrdiff_t n) {
    uint64_t bits = 0;
    ptrdiff_t k = 0;
    if (n > 64) n = 64;
    for (; k < n; k++) { SP_SCALAR bits |= (uint64_t)(c[k] != 0) << k; }
    return bits;
}
#define SP_ONE 0x3ff0000000000000LL          /* the bits of 1.0 */
#define SP_REGISTERS 6                       /* running results of one pass over a sparse row, or over a table */
#define SP_TOGETHER 48                       /* blocks whose sums over dense columns wait to be added; a multiple of SP_REGISTERS * SP_WIDTH */

SP_INLINE sp_blocks SP(block)(const double *w, ptrdiff_t step, ptrdiff_t average) {
    sp_blocks one = {(double *)w, NULL, 1, step, 1, average, NULL, NULL, NULL};
    return one;
}

/* ---- dense rows: one, two or four dot products with one pass over x ---- */
#define SP_MULTIPLY1(part, at) s0.part += SP_LOAD_F64(w + j + at) * SP_LOAD(x + j + at);
#define SP_MULTIPLY2(part, at)                                                                                         \
    { SP(vec) v = SP_LOAD(x + j + at);                                                                                 \
      s0.part += SP_LOAD_F64(w + j + at) * v; s1.part += SP_LOAD_F64(w1 + j + at) * v; }
#define SP_MULTIPLY4(part, at)                                                                                         \
    { SP(vec) v = SP_LOAD(x + j + at);                                                                                 \
      s0.part += SP_LOAD_F64(w + j + at) * v; s1.part += SP_LOAD_F64(w1 + j + at) * v;                                 \
      s2.part += SP_LOAD_F64(w2 + j + at) * v; s3.part += SP_LOAD_F64(w3 + j + at) * v; }

#define SP_REAL double
#define SP_LOAD SP_LOAD_F64
#define SP_T(name) SP(name##_f64)
#include "inner_dense.h"
#undef SP_REAL
#undef SP_LOAD
#undef SP_T
#define SP_REAL float
#define SP_LOAD SP_LOAD_F32
#define SP_T(name) SP(name##_f32)
#include "inner_dense.h"
#undef SP_REAL
#undef SP_LOAD
#undef SP_T

/* ---- sparse rows, and the dense columns that may stand behind theirs ---- */
static void SP(dots_behind)(const sp_rows *x, ptrdiff_t row, const sp_blocks *b, double *out) {
    double part[SP_TOGETHER];
    sp_rows dense = sp_dense_row(x, row);
    sp_blocks its = sp_dense_blocks(x, b);
    for (ptrdiff_t k = 0; k < b->n_blocks; k += SP_TOGETHER) {
        its.n_blocks = b->n_blocks - k < SP_TOGETHER ? b->n_blocks - k : SP_TOGETHER;
        if (dense.layout == SP_DENSE_F64) SP(dots_f64)(&dense, 0, &its, part);
        else SP(dots_f32)(&dense, 0, &its, part);
        for (ptrdiff_t l = 0; l < its.n_blocks; l++) out[k + l] += part[l];
        its.w += SP_TOGETHER * its.block_step;
    }
}
static void SP(add_behind)(const sp_rows *x, ptrdiff_t row, const sp_blocks *b, const double *c, double to_w, double to_u) {
    sp_rows dense = sp_dense_row(x, row);
    sp_blocks its = sp_dense_blocks(x, b);
    if (dense.layout == SP_DENSE_F64) SP(add_f64)(&dense, 0, &its, c, to_w, to_u);
    else SP(add_f32)(&dense, 0, &its, c, to_w, to_u);
}
static double SP(norm_behind)(const sp_rows *x, ptrdiff_t row) {
    sp_rows dense = sp_dense_row(x, row);
    return dense.layout == SP_DENSE_F64 ? SP(norm_f64)(&dense, 0) : SP(norm_f32)(&dense, 0);
}

#define SP_REAL double
#define SP_INDEX int32_t
#define SP_T(name) SP(name##_f64_i32)
#include "inner_sparse.h"
#undef SP_INDEX
#undef SP_T
#define SP_INDEX int64_t
#define SP_T(name) SP(name##_f64_i64)
#include "inner_sparse.h"
#undef SP_REAL
#undef SP_T
#define SP_REAL float
#define SP_T(name) SP(name##_f32_i64)
#include "inner_sparse.h"
#undef SP_INDEX
#undef SP_T
#define SP_INDEX int32_t
#define SP_T(name) SP(name##_f32_i32)
#include "inner_sparse.h"
#undef SP_REAL
#undef SP_INDEX
#undef SP_T

/* ---- steps with a size for each weight ---- */
static void SP(adapt)(double *w, ptrdiff_t n, ptrdiff_t average, ptrdiff_t squares, double *SP_RESTRICT change, double rate,
                      double to_w, double to_u) {
    ptrdiff_t j = 0;
#if SP_WIDTH > 1
    for (; j + SP_WIDTH <= n; j += SP_WIDTH) {
        SP(vec) d = SP_LOAD_F64(change + j), g, step;
        if (!SP_ANY(d != 0)) continue;
        g = SP_AT(w + j + squares) + d * d;
        SP_AT(w + j + squares) = g;
        step = rate * d / SP_SQRT(g + (SP(vec))((g == 0) & SP_ONE));
        SP_AT(w + j) += step * to_w;
        if (average) SP_AT(w + j + average) += step * to_u;
        SP_AT(change + j) = (SP(vec)){0};
    }
#endif
    for (; j < n; j++) {
        double d = change[j], g, step;
        if (d == 0) continue;
        g = w[j + squares] + d * d;
        w[j + squares] = g;
        step = rate * d / sqrt(g == 0 ? 1 : g);          /* 0: the square is too small for floating point */
        w[j] += step * to_w;
        if (average) w[j + average] += step * to_u;
        change[j] = 0;
    }
}

/* ---- products of a vector and a table over the semirings (max, +) and (+, *) ---- */
#define SP_T(name) SP(max_plus##name)
#define SP_TIMES +
#define SP_PLUS(x, y) SP_MAX(x, y)
#define SP_PLUS1(x, y) ((x) > (y) ? (x) : (y))
#include "inner_semiring.h"
#undef SP_T
#undef SP_TIMES
#undef SP_PLUS
#undef SP_PLUS1
#define SP_T(name) SP(plus_times##name)
#define SP_TIMES *
#define SP_PLUS(x, y) ((y) + (x))
#define SP_PLUS1(x, y) ((y) + (x))
#include "inner_semiring.h"
#undef SP_T
#undef SP_TIMES
#undef SP_PLUS
#undef SP_PLUS1

static const sp_inner SP(set) = {
    SP_SET_NAME,
    {SP(dots_f64), SP(dots_f32), SP(dots_f64_i32), SP(dots_f64_i64), SP(dots_f32_i32), SP(dots_f32_i64)},
    {SP(dots_of_rows_f64), SP(dots_of_rows_f32), SP(dots_of_rows_f64_i32), SP(dots_of_rows_f64_i64), SP(dots_of_rows_f32_i32),
     SP(dots_of_rows_f32_i64)},
    {SP(add_f64), SP(add_f32), SP(add_f64_i32), SP(add_f64_i64), SP(add_f32_i32), SP(add_f32_i64)},
    {SP(norm_f64), SP(norm_f32), SP(norm_f64_i32), SP(norm_f64_i64), SP(norm_f32_i32), SP(norm_f32_i64)},
    sp_row_dot,
    SP(adapt),
    SP(max_plus),
    SP(plus_times),
    {SP(dot_f64), SP(dot_f32), SP(dot_f64_i32), SP(dot_f64_i64), SP(dot_f32_i32), SP(dot_f32_i64)},
    {SP(add_to_one_f64), SP(add_to_one_f32), SP(add_to_one_f64_i32), SP(add_to_one_f64_i64), SP(add_to_one_f32_i32),
     SP(add_to_one_f32_i64)},
};

#undef SP_AT
#undef SP_LOAD_F64
#undef SP_LOAD_F32
#undef SP_MAX
#undef SP_SQRT
#undef SP_ANY
#undef SP_MIX
#undef SP_EACH_PART
#undef SP_BLOCKS_AT_ONCE
#undef SP_TILES
#undef SP_AHEAD
#undef SP_REGISTERS
#undef SP_ONE
#undef SP_TOGETHER
#undef SP_MULTIPLY1
#undef SP_MULTIPLY2
#undef SP_MULTIPLY4
