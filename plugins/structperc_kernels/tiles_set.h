/* Included by instruction_sets.h once per instruction set; SP_WIDTH doubles fill one vector register. */

#ifndef SP_X86
#undef SP_WIDTH
#define SP_WIDTH 1
#define SP_MAX_F64(x, y) ((x) > (y) ? (x) : (y))
#define SP_MAX_F32(x, y) ((x) > (y) ? (x) : (y))
#define SP_SQRT_F64 sqrt
#define SP_SQRT_F32 sqrtf
#endif

#define SP_REAL double
#define SP_WORD uint64_t
#define SP_LENGTH SP_WIDTH
#define SP_LOWEST -1076.0
#define SP_SHIFT 0x1.8p52
#define SP_BIAS 1023
#define SP_FRACTION 52
#define SP_MAX SP_MAX_F64
#define SP_SQRT SP_SQRT_F64
#ifdef SP_SCALE_F64
#define SP_SCALE SP_SCALE_F64
#define SP_ROUND SP_ROUND_F64
#endif
#define SP_NARROW 0
#define SP_T(name) SPT(name##_f64)
#include "tiles_real.h"
#undef SP_REAL
#undef SP_WORD
#undef SP_LENGTH
#undef SP_LOWEST
#undef SP_SHIFT
#undef SP_BIAS
#undef SP_FRACTION
#undef SP_MAX
#undef SP_SQRT
#undef SP_SCALE
#undef SP_ROUND
#undef SP_NARROW
#undef SP_T

#define SP_REAL float
#define SP_WORD uint32_t
#define SP_LENGTH (SP_WIDTH > 1 ? 2 * SP_WIDTH : 1)
#define SP_LOWEST -151.0f
#define SP_SHIFT 0x1.8p23f
#define SP_BIAS 127
#define SP_FRACTION 23
#define SP_MAX SP_MAX_F32
#define SP_SQRT SP_SQRT_F32
#ifdef SP_SCALE_F32
#define SP_SCALE SP_SCALE_F32
#define SP_ROUND SP_ROUND_F32
#endif
#define SP_NARROW 1
#define SP_T(name) SPT(name##_f32)
#include "tiles_real.h"
#undef SP_REAL
#undef SP_WORD
#undef SP_LENGTH
#undef SP_LOWEST
#undef SP_SHIFT
#undef SP_BIAS
#undef SP_FRACTION
#undef SP_MAX
#undef SP_SQRT
#undef SP_SCALE
#undef SP_ROUND
#undef SP_NARROW
#undef SP_T

/* ---- sums of coefficients times values ---- */

typedef SPT(vec_f64) SPT(vec);
typedef SPT(word_f64) SPT(mask);

/* `blocks` blocks from b on, in the lanes of `parts` registers from `lane` on; `from`: what counts in which lane, or NULL. */
SP_INLINE void SPT(sums_of)(const double *values, ptrdiff_t n, const double *const *c, ptrdiff_t b, double *sums, ptrdiff_t lane,
                            int64_t first, const double *from, const int blocks, const int parts) {
    SPT(vec) t[4][2], v[2], limit[2] = {SPT(all_f64)(0), SPT(all_f64)(0)};
    SP_UNROLL
    for (int k = 0; k < blocks; k++)
        SP_UNROLL
        for (int p = 0; p < parts; p++) t[k][p] = SPT(load_f64)(sums + (b + k) * SP_LANES + lane + p * SP_WIDTH);
    if (from)
        SP_UNROLL
        for (int p = 0; p < parts; p++) limit[p] = SPT(load_f64)(from + lane + p * SP_WIDTH);
    for (ptrdiff_t i = 0; i < n; i++) {
        const double *coefficients = c[i] + b;
        SP_UNROLL
        for (int p = 0; p < parts; p++) {
            v[p] = SPT(load_f64)(values + i * SP_LANES + lane + p * SP_WIDTH);
            if (from) v[p] = SPT(real_f64)(SPT(word_of_f64)(v[p]) & SPT(reaches)((double)(first + i), limit[p]));
        }
        SP_UNROLL
        for (int k = 0; k < blocks; k++) {
            double e = coefficients[k];
            SP_UNROLL
            for (int p = 0; p < parts; p++) t[k][p] += v[p] * e;
        }
    }
    SP_UNROLL
    for (int k = 0; k < blocks; k++)
        SP_UNROLL
        for (int p = 0; p < parts; p++) SPT(store_f64)(sums + (b + k) * SP_LANES + lane + p * SP_WIDTH, t[k][p]);
}

SP_INLINE void SPT(sums_in)(const double *values, ptrdiff_t n, const double *const *c, ptrdiff_t n_blocks, double *sums, int64_t first,
                            const double *from) {
    ptrdiff_t b = 0;
#define SP_SUMS(blocks)                                                                                                \
    for (; b + blocks <= n_blocks; b += blocks)                                                                        \
        for (ptrdiff_t lane = 0; lane < SP_LANES; lane += 2 * SP_WIDTH)                                                \
            SPT(sums_of)(values, n, c, b, sums, lane, first, from, blocks, 2);
    SP_SUMS(4)
    SP_SUMS(2)
    SP_SUMS(1)
#undef SP_SUMS
}

static void SPT(sums)(const double *values, ptrdiff_t n, const double *const *c, ptrdiff_t n_blocks, double *sums) {
    SPT(sums_in)(values, n, c, n_blocks, sums, 0, NULL);
}

static void SPT(sums_from)(const double *values, ptrdiff_t n, const double *const *c, ptrdiff_t n_blocks, double *sums, int64_t first,
                           const int64_t *from) {
    int64_t lowest = from[0], highest = from[0];
    double limits[SP_LANES];
    ptrdiff_t start, whole;
    for (int lane = 0; lane < SP_LANES; lane++) {
        lowest = from[lane] < lowest ? from[lane] : lowest;
        highest = from[lane] > highest ? from[lane] : highest;
        limits[lane] = (double)from[lane];
    }
    start = lowest <= first ? 0 : lowest - first < n ? (ptrdiff_t)(lowest - first) : n;          /* counts in no lane before */
    whole = highest <= first ? 0 : highest - first < n ? (ptrdiff_t)(highest - first) : n;       /* in all from here on */
    if (start < whole) SPT(sums_in)(values + start * SP_LANES, whole - start, c + start, n_blocks, sums, first + start, limits);
    SPT(sums)(values + whole * SP_LANES, n - whole, c + whole, n_blocks, sums);
}

static const sp_tiles SPT(set) = {
    SP_SET_NAME,
    {SPT(dense_f64), SPT(dense_f32)},
    {SPT(sparse_f64), SPT(sparse_f32)},
    SPT(powers_f64), SPT(powers_f32),
    SPT(sums), SPT(sums_from),
};
