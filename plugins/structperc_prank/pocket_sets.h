/* What a ranker with ordered thresholds costs over all rows, for each instruction set; included by updates.pyx.
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

#if defined(__GNUC__) && !defined(__clang__)
#define SP_UNROLL _Pragma("GCC unroll 4")
#elif defined(__clang__)
#define SP_UNROLL _Pragma("clang loop unroll(full)")
#endif

typedef double (*sp_pocket)(const double *, const double *, ptrdiff_t, ptrdiff_t, ptrdiff_t, const double *, const double *, double, double *,
                            const double *);

/* Whether the costs of the first tiles are so far above those of another ranker that the rest need not be looked at: by more than three
 * standard deviations of the differences of tiles. */
static inline int sp_hopeless(ptrdiff_t tile, double above, double *behind, double *squares) {
    double difference = above - *behind;
    *behind = above, *squares += difference * difference;
    return tile >= 3 && above > 0 && above * above > 9 * *squares;
}

#define SP_BODY "pocket_check.h"
#include "instruction_sets.h"

/* All sets that this machine can run, widest last. */
static int sp_pockets(sp_pocket *sets, const char **names) {
    sets[0] = sp_pocket_baseline, names[0] = "baseline";
#ifdef SP_X86
    sets[1] = sp_pocket_avx2, names[1] = "avx2";
#endif
#ifdef SP_AVX512
    sets[2] = sp_pocket_avx512, names[2] = "avx512";
#endif
    return sp_n_sets();
}

#endif
