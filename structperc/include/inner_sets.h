/* The functions of inner.h for each instruction set; included by inner_products.pyx. */
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

#define SP_BODY "inner_kernels.h"
#include "instruction_sets.h"

static int sp_allowed = 4;                   /* sets that may be used, of those that there are */

/* All sets that this machine can run, widest last. */
static int sp_available(const sp_inner **sets) {
    sets[0] = &sp_set_baseline;
#ifdef SP_X86
    sets[1] = &sp_set_avx2;
#endif
#ifdef SP_AVX512
    sets[2] = &sp_set_avx512;
#endif
    return sp_n_sets();
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
