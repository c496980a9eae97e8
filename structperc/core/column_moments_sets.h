/* The functions of column_moments.h of the widest instruction set that this machine runs; included by column_sums.pyx.
 *
 * Typical sizes: 10^2..10^7 rows of 10..1000 columns. Cost: six operations for each value, in vectors. */
#ifndef STRUCTPERC_COLUMN_MOMENTS_SETS_H
#define STRUCTPERC_COLUMN_MOMENTS_SETS_H

#include <stddef.h>

#ifdef _MSC_VER
#define restrict __restrict
#endif

#define SP_BODY "column_moments.h"
#include "instruction_sets.h"

typedef void (*sp_moments_f64)(const double *, ptrdiff_t, ptrdiff_t, const double *, double *, double *);
typedef void (*sp_moments_f32)(const float *, ptrdiff_t, ptrdiff_t, const double *, double *, double *);

static sp_moments_f64 sp_moments_f64_of(int set) {
#ifdef SP_AVX512
    if (set == 2) return sp_moments_f64_avx512;
#endif
#ifdef SP_X86
    if (set >= 1) return sp_moments_f64_avx2;
#endif
    return sp_moments_f64_baseline;
}

static sp_moments_f32 sp_moments_f32_of(int set) {
#ifdef SP_AVX512
    if (set == 2) return sp_moments_f32_avx512;
#endif
#ifdef SP_X86
    if (set >= 1) return sp_moments_f32_avx2;
#endif
    return sp_moments_f32_baseline;
}

#endif
