/* The functions of inner.h for each instruction set; included by kernels.pyx alone. */
#ifndef STRUCTPERC_INNER_SETS_H
#define STRUCTPERC_INNER_SETS_H

#include "inner.h"

/* Whether the columns of a sparse row rise. */
static int sp_rises(const sp_rows *x, ptrdiff_t row) {
    for (ptrdiff_t q = sp_start(x, row) + 1; q < sp_start(x, row + 1); q++)
        if (sp_index(x, q - 1) >= sp_index(x, q)) return 0;
    return 1;
}

static double sp_row_dot(const sp_rows *x, ptrdiff_t row, const sp_rows *z, ptrdiff_t other);

/* The same of the dense columns of two rows of CSR, which both have as many. */
static double sp_dot_behind(const sp_rows *x, ptrdiff_t row, const sp_rows *z, ptrdiff_t other) {
    sp_rows here = sp_dense_row(x, row), there = sp_dense_row(z, other);
    return x->n_dense ? sp_row_dot(&here, 0, &there, 0) : 0;
}

/* x . z for rows in any two layouts.  Not for the training loop. */
static double sp_row_dot(const sp_rows *x, ptrdiff_t row, const sp_rows *z, ptrdiff_t other) {
    ptrdiff_t p, p_end, q, q_end;
    double total = sp_is_dense(x) ? 0 : sp_dot_behind(x, row, z, other);
    if (sp_is_dense(x) && !sp_is_dense(z)) return sp_row_dot(z, other, x, row);
    q = sp_is_dense(z) ? other * z->n_features : sp_start(z, other);
    if (sp_is_dense(x)) {
        p = row * x->n_features;
        for (ptrdiff_t j = 0; j < x->n_features; j++) total += sp_value(x, p + j) * sp_value(z, q + j);
        return total;
    }
    p = sp_start(x, row), p_end = sp_start(x, row + 1);
    if (sp_is_dense(z)) {
        for (; p < p_end; p++) total += sp_value(x, p) * sp_value(z, q + sp_index(x, p));
        return total;
    }
    q_end = sp_start(z, other + 1);
    if (!sp_rises(x, row) || !sp_rises(z, other)) {
        for (; p < p_end; p++)
            for (ptrdiff_t r = q; r < q_end; r++)
                if (sp_index(x, p) == sp_index(z, r)) total += sp_value(x, p) * sp_value(z, r);
        return total;
    }
    while (p < p_end && q < q_end) {
        ptrdiff_t i = sp_index(x, p), j = sp_index(z, q);
        if (i == j) total += sp_value(x, p++) * sp_value(z, q++);
        else if (i < j) p++;
        else q++;
    }
    return total;
}

/* ---- one copy per instruction set ---- */
#if SP_VECTORS && defined(__x86_64__)
#include <immintrin.h>
#define SP_MAX _mm_max_pd                    /* x > y ? x : y in every lane, which C has no operator for, */
#define SP_SQRT _mm_sqrt_pd                  /* nor for roots, */
#define SP_ANY(mask) _mm_movemask_pd((__m128d)(mask))   /* nor for whether some lane of a comparison is true */
#elif SP_VECTORS
typedef double sp_pair __attribute__((vector_size(16)));
typedef long long sp_mask __attribute__((vector_size(16)));
SP_INLINE sp_pair sp_max(sp_pair x, sp_pair y) {
    sp_mask larger = x > y;
    return (sp_pair)(((sp_mask)x & larger) | ((sp_mask)y & ~larger));
}
SP_INLINE sp_pair sp_roots(sp_pair x) { return (sp_pair){__builtin_sqrt(x[0]), __builtin_sqrt(x[1])}; }
#define SP_MAX sp_max
#define SP_SQRT sp_roots
#define SP_ANY(mask) ((mask)[0] | (mask)[1])
#endif
#define SP_PASTE_(a, b) a##_##b
#define SP_PASTE(a, b) SP_PASTE_(a, b)
#define SP(name) SP_PASTE(sp_##name, SP_SET)

#if SP_VECTORS
#define SP_WIDTH 2
#else
#define SP_WIDTH 1
#endif
#define SP_SET baseline
#define SP_SET_NAME "baseline"
#include "inner_kernels.h"
#undef SP_SET
#undef SP_SET_NAME
#undef SP_WIDTH

#if SP_VECTORS && defined(__x86_64__)
#define SP_X86 1

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
#undef SP_MAX
#undef SP_SQRT
#undef SP_ANY
#define SP_MAX _mm256_max_pd
#define SP_SQRT _mm256_sqrt_pd
#define SP_ANY(mask) _mm256_movemask_pd((__m256d)(mask))
#define SP_WIDTH 4
#define SP_SET avx2
#define SP_SET_NAME "avx2"
#include "inner_kernels.h"
#undef SP_SET
#undef SP_SET_NAME
#undef SP_WIDTH
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#if defined(__clang__) || __GNUC__ >= 12     /* __builtin_shufflevector */
#define SP_AVX512 1
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl")
#endif
#undef SP_MAX
#undef SP_SQRT
#undef SP_ANY
#define SP_MAX _mm512_max_pd
#define SP_SQRT _mm512_sqrt_pd
#define SP_ANY(mask) _mm512_movepi64_mask((__m512i)(mask))
#define SP_WIDTH 8
#define SP_SET avx512
#define SP_SET_NAME "avx512"
#include "inner_kernels.h"
#undef SP_SET
#undef SP_SET_NAME
#undef SP_WIDTH
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
#endif

static int sp_allowed = 4;                   /* sets that may be used, of those that there are */

/* All sets that this machine can run, widest last. */
static int sp_available(const sp_inner **sets) {
    int n = 0;
    sets[n++] = &sp_set_baseline;
#ifdef SP_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) sets[n++] = &sp_set_avx2;
#ifdef SP_AVX512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        sets[n++] = &sp_set_avx512;
#endif
#endif
    return n;
}

/* The set with the widest registers: the fastest one for many rows at once. */
static const sp_inner *sp_widest(void) {
    const sp_inner *sets[4];
    int n = sp_available(sets);
    return sets[(n < sp_allowed ? n : sp_allowed) - 1];
}

/* The fastest set for rows of this many features; AVX-512 folds its sums more slowly and is ahead only on long rows. */
static const sp_inner *sp_best(ptrdiff_t n_features) {
    const sp_inner *widest = sp_widest();
#ifdef SP_AVX512
    if (n_features < 512 && widest == &sp_set_avx512) return &sp_set_avx2;
#endif
    return widest;
}

#endif
