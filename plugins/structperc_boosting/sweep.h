/* The dynamic programme of a decision stump over one sorted column, in both directions at once.
 *
 * A stump is a nondecreasing map from the distinct values of the column to the ranks 0 .. K - 1. The least cost of the first values, where
 * the last of them has at most rank k, is a[k] = min(a[k - 1], a[k] + the value's cost of rank k). One pass keeps the K numbers of the
 * upward and of the downward direction side by side: they are independent, so they fill one vector register, and the K minima of a value
 * overlap with those of the next.
 *
 * Typical sizes: 10^2 .. 10^5 rows, K = 2 .. 10. Cost: about 0.5 ns for each row and rank, both directions; up to 16 ranks the numbers stay
 * in registers. Sums have one order, so every compiler and instruction set gives the same bits. */
#ifndef STRUCTPERC_SWEEP_H
#define STRUCTPERC_SWEEP_H

#include <stddef.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define SP_UPWARD_ENDS 1                /* of a position: the last of its value, counted from below, */
#define SP_DOWNWARD_ENDS 2              /* and the last of the value at the same position counted from above */

#if defined(__GNUC__) || defined(__clang__)
#define SP_ALWAYS static inline __attribute__((always_inline))
#else
#define SP_ALWAYS static __inline
#endif
#if defined(__GNUC__) && !defined(__clang__)
#define SP_UNROLL _Pragma("GCC unroll 16")
#elif defined(__clang__)
#define SP_UNROLL _Pragma("clang loop unroll(full)")
#else
#define SP_UNROLL
#endif

#if defined(__SSE2__)
typedef __m128d sp_two;                 /* upward, downward */

/* The mask turns the carried minimum into NaN where the value goes on: min(NaN, a) is a. */
SP_ALWAYS void sp_sweep_ranks(const int32_t *order, const uint8_t *ends, const double *costs, ptrdiff_t n, const int K, sp_two *a)
{
    const __m128d all = _mm_castsi128_pd(_mm_set1_epi32(-1)), none = _mm_setzero_pd();
    const __m128d open[4] = {all, _mm_move_sd(all, none), _mm_move_sd(none, all), none};
    ptrdiff_t p;
    int k;
    SP_UNROLL
    for (k = 0; k < K; k++)
        a[k] = none;
    for (p = 0; p < n; p++) {
        const double *up = costs + (ptrdiff_t)order[p] * K, *down = costs + (ptrdiff_t)order[n - 1 - p] * K;
        const __m128d goes_on = open[ends[p]];
        __m128d carried = all;
        SP_UNROLL
        for (k = 0; k < K; k++) {
            a[k] = _mm_min_pd(carried, _mm_add_pd(a[k], _mm_loadh_pd(_mm_load_sd(up + k), down + k)));
            carried = _mm_or_pd(a[k], goes_on);
        }
    }
}
#else
typedef struct { double up, down; } sp_two;

SP_ALWAYS void sp_sweep_ranks(const int32_t *order, const uint8_t *ends, const double *costs, ptrdiff_t n, const int K, sp_two *a)
{
    ptrdiff_t p;
    int k;
    for (k = 0; k < K; k++)
        a[k].up = a[k].down = 0;
    for (p = 0; p < n; p++) {
        const double *up = costs + (ptrdiff_t)order[p] * K, *down = costs + (ptrdiff_t)order[n - 1 - p] * K;
        for (k = 0; k < K; k++) {
            a[k].up += up[k];
            a[k].down += down[k];
        }
        if (ends[p] & SP_UPWARD_ENDS)
            for (k = 1; k < K; k++)
                a[k].up = a[k - 1].up < a[k].up ? a[k - 1].up : a[k].up;
        if (ends[p] & SP_DOWNWARD_ENDS)
            for (k = 1; k < K; k++)
                a[k].down = a[k - 1].down < a[k].down ? a[k - 1].down : a[k].down;
    }
}
#endif

/* The least costs of the upward and the downward stumps of one column.
 * order: the rows by ascending value; ends: SP_UPWARD_ENDS | SP_DOWNWARD_ENDS of each position; costs: (rows, K);
 * room: 2 K doubles, aligned to 16 bytes. */
static void sp_sweep(const int32_t *order, const uint8_t *ends, const double *costs, ptrdiff_t n, int K, double *room, double *least)
{
    switch (K) {
#define SP_CASE(K)                                                                                                     \
    case K: {                                                                                                          \
        sp_two a[K];                                                                                                   \
        sp_sweep_ranks(order, ends, costs, n, K, a);                                                                   \
        least[0] = ((const double *)(a + K - 1))[0];                                                                   \
        least[1] = ((const double *)(a + K - 1))[1];                                                                   \
        return;                                                                                                        \
    }
        SP_CASE(2) SP_CASE(3) SP_CASE(4) SP_CASE(5) SP_CASE(6) SP_CASE(7) SP_CASE(8) SP_CASE(9) SP_CASE(10) SP_CASE(11) SP_CASE(12)
        SP_CASE(13) SP_CASE(14) SP_CASE(15) SP_CASE(16)
#undef SP_CASE
    }
    sp_sweep_ranks(order, ends, costs, n, K, (sp_two *)room);
    least[0] = room[2 * K - 2];
    least[1] = room[2 * K - 1];
}

/* The lowest ranks, from 1, of a stump of least cost in one direction: those of the same recursion, found backwards.
 * end: the direction; sums: K doubles; best: (n, K), of each value's last position and each k the rank at which the cost is least. */
static void sp_lowest_ranks(const int32_t *order, const uint8_t *ends, int end, const double *costs, ptrdiff_t n, int K, double *sums,
                            uint16_t *best, int *ranks)
{
    const ptrdiff_t step = end == SP_UPWARD_ENDS ? 1 : -1;
    const int32_t *row = end == SP_UPWARD_ENDS ? order : order + n - 1;
    ptrdiff_t p;
    int k, rank = K - 1;
    for (k = 0; k < K; k++)
        sums[k] = 0;
    for (p = 0; p < n; p++, row += step) {
        const double *c = costs + (ptrdiff_t)*row * K;
        for (k = 0; k < K; k++)
            sums[k] += c[k];
        if (ends[p] & end) {
            uint16_t *found = best + p * K;
            double least = sums[0];
            int lowest = 0;
            found[0] = 0;
            for (k = 1; k < K; k++) {               /* no branch to mispredict */
                lowest = sums[k] < least ? k : lowest;
                least = sums[k] < least ? sums[k] : least;
                sums[k] = least;
                found[k] = (uint16_t)lowest;
            }
        }
    }
    for (p = n - 1, row -= step; p >= 0; p--, row -= step) {
        if (ends[p] & end)
            rank = best[p * K + rank];
        ranks[*row] = rank + 1;
    }
}

#endif
