/* The functions of column_planes.h for each instruction set; included by column_sums.pyx.
 *
 * Typical sizes: 128 rows of eight columns, 3 or 4 digits. */
#ifndef STRUCTPERC_COLUMN_PLANES_SETS_H
#define STRUCTPERC_COLUMN_PLANES_SETS_H

#include <math.h>
#include <stddef.h>
#include <string.h>

#ifdef _MSC_VER
#define restrict __restrict
#endif

#if defined(__GNUC__) || defined(__clang__)
#define sp_fetch(p) __builtin_prefetch(p)
#else
#define sp_fetch(p) ((void)(p))
#endif

#define SP_LANES 8              /* columns of a plane */
#define SP_PLANES 8             /* digits of a cell; cells that need more are cut one by one */

#define SP_FIVE 5               /* digits of most cells */
#define SP_SUMS_OF_FIVE 20      /* of digits, and of products of two */

#define SP_BODY "column_planes.h"
#include "instruction_sets.h"

typedef struct {
    void (*largest)(const double *, ptrdiff_t, double *);
    int (*add_five)(const double *, ptrdiff_t, const double *, double *);
    int (*cut_plane)(double *, ptrdiff_t, const double *, double *);
    void (*add_up)(const double *, ptrdiff_t, double *);
    void (*add_products)(const double *, const double *, ptrdiff_t, double *);
    void (*multiply_planes)(const double *, int, const double *, int, ptrdiff_t, ptrdiff_t, const double *, double *);
} sp_planes;

#define SP_PLANES_OF(set) \
    {sp_largest_##set, sp_add_five_##set, sp_cut_plane_##set, sp_add_up_##set, sp_add_products_##set, sp_multiply_planes_##set}

/* Those of the set of this number, from the narrowest registers to the widest. */
static sp_planes sp_planes_of(int set) {
#ifdef SP_AVX512
    if (set == 2) return (sp_planes)SP_PLANES_OF(avx512);
#endif
#ifdef SP_X86
    if (set >= 1) return (sp_planes)SP_PLANES_OF(avx2);
#endif
    return (sp_planes)SP_PLANES_OF(baseline);
}

#endif
