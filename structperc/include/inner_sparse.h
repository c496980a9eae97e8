/* Included by inner_kernels.h once per type of value and index: dot products, updates and norm of a sparse row. */

#define SP_COLUMN(q) index[q]
#define SP_SKIPPED(value) 0
#include "inner_by_feature.h"
#undef SP_COLUMN
#undef SP_SKIPPED

static void SP_T(dots)(const sp_rows *x, ptrdiff_t row, const sp_blocks *b, double *SP_RESTRICT out) {
    ptrdiff_t first = ((const SP_INDEX *)x->indptr)[row], last = ((const SP_INDEX *)x->indptr)[row + 1];
    SP_T(dots_by_feature)((const SP_REAL *)x->values + first, (const SP_INDEX *)x->indices + first, last - first, b, out);
    if (x->n_dense) SP(dots_behind)(x, row, b, out);
}

static void SP_T(dots_of_rows)(const sp_rows *x, ptrdiff_t row, ptrdiff_t n, const sp_blocks *b, double *out,
                                 ptrdiff_t pitch) {
    for (ptrdiff_t i = 0; i < n; i++) SP_T(dots)(x, row + i, b, out + i * pitch);    /* may write into the next row, which comes later */
}

static void SP_T(add)(const sp_rows *x, ptrdiff_t row, const sp_blocks *b, const double *SP_RESTRICT c, double to_w,
                      double to_u) {
    ptrdiff_t first = ((const SP_INDEX *)x->indptr)[row], last = ((const SP_INDEX *)x->indptr)[row + 1];
    SP_T(add_by_feature)((const SP_REAL *)x->values + first, (const SP_INDEX *)x->indices + first, last - first, b, c, to_w, to_u);
    if (x->n_dense) SP(add_behind)(x, row, b, c, to_w, to_u);
}

static double SP_T(dot)(const sp_rows *x, ptrdiff_t row, const double *w, ptrdiff_t step) {
    sp_blocks b = SP(block)(w, step, 0);
    double out;
    SP_T(dots)(x, row, &b, &out);
    return out;
}

static void SP_T(add_to_one)(const sp_rows *x, ptrdiff_t row, double *w, ptrdiff_t step, ptrdiff_t average, double c, double to_w,
                             double to_u) {
    sp_blocks b = SP(block)(w, step, average);
    SP_T(add)(x, row, &b, &c, to_w, to_u);
}

static double SP_T(norm)(const sp_rows *x, ptrdiff_t row) {
    const SP_REAL *v = (const SP_REAL *)x->values;
    ptrdiff_t first = ((const SP_INDEX *)x->indptr)[row], last = ((const SP_INDEX *)x->indptr)[row + 1];
    double t = 0;
    for (ptrdiff_t q = first; q < last; q++) t += (double)v[q] * (double)v[q];
    return x->n_dense ? t + SP(norm_behind)(x, row) : t;
}
