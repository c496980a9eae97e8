/* What a ranker with ordered thresholds costs over all rows, for each instruction set; included by pocket.pyx alone.
 *
 * The rows lie in tiles: 32 values of the first feature, 32 of the second, and so on. Beside them lie, for 32 rows each, the costs of the
 * rank 1 and by how much each further rank costs more. Costs are whole numbers whose sums stay below 2^53, so that every order of summation
 * is exact, and the sum may end as soon as it reaches `enough`. The sums of the first tiles, the first two, and so on, are written to `sums`;
 * with those of another ranker in `beside` the sum ends, as if it were enough, where it is hopeless.
 *
 * Typical sizes: 10^2 .. 10^5 rows, 5 .. 100 features, K = 5 .. 10 ranks. Cost: two operations for each row and feature, three for each row
 * and threshold, in vectors. */
#ifndef STRUCTPERC_POCKET_SETS_H
#define STRUCTPERC_POCKET_SETS_H

#include <stddef.h>

#define SP_TILE 32

#if defined(__GNUC__) || defined(__clang__)
#define SP_VECTORS 1
#else
#define SP_VECTORS 0
#endif
#if defined(__GNUC__) && !defined(__clang__)
#define SP_UNROLL _Pragma("GCC unroll 4")
#elif defined(__clang__)
#define SP_UNROLL _Pragma("clang loop unroll(full)")
#endif
#define SP_PASTE_(a, b) a##_##b
#define SP_PASTE(a, b) SP_PASTE_(a, b)
#define SP(name) SP_PASTE(sp_##name, SP_SET)

typedef double (*sp_pocket)(const double *, const double *, ptrdiff_t, ptrdiff_t, ptrdiff_t, const double *, const double *, double, double *,
                            const double *);

/* Whether the costs of the first tiles are so far above those of another ranker that the rest need not be looked at: by more than three
 * standard deviations of the differences of tiles. */
static inline int sp_hopeless(ptrdiff_t tile, double above, double *behind, double *squares) {
    double difference = above - *behind;
    *behind = above, *squares += difference * difference;
    return tile >= 3 && above > 0 && above * above > 9 * *squares;
}

#define SP_SET baseline
#define SP_WIDTH 2
#include "pocket_check.h"
#undef SP_SET
#undef SP_WIDTH

#if SP_VECTORS && defined(__x86_64__)
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
#define SP_SET avx2
#define SP_WIDTH 4
#include "pocket_check.h"
#undef SP_SET
#undef SP_WIDTH
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq")
#endif
#define SP_SET avx512
#define SP_WIDTH 8
#include "pocket_check.h"
#undef SP_SET
#undef SP_WIDTH
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

/* All sets that this machine can run, widest last. */
static int sp_pockets(sp_pocket *sets, const char **names) {
    int n = 0;
    sets[n] = sp_pocket_baseline, names[n++] = "baseline";
#if SP_VECTORS && defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) sets[n] = sp_pocket_avx2, names[n++] = "avx2";
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) sets[n] = sp_pocket_avx512, names[n++] = "avx512";
#endif
    return n;
}

#endif
