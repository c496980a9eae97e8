/* Included by inner_kernels.h once per type of value and index: dot products, updates and norm of a sparse row. */

static void SP_T(dots)(const sp_rows *x, ptrdiff_t row, const sp_blocks *b, double *SP_RESTRICT out) {
    const SP_REAL *SP_RESTRICT v = (const SP_REAL *)x->values;
    const SP_INDEX *SP_RESTRICT index = (const SP_INDEX *)x->indices;
    ptrdiff_t first = ((const SP_INDEX *)x->indptr)[row], last = ((const SP_INDEX *)x->indptr)[row + 1];
    ptrdiff_t n = b->n_blocks, f = b->feature_step, step = b->block_step, k = 0;
    const double *w = b->w, *bias = b->bias;
    if (step == 1)                           /* one non-zero touches one contiguous row of weights */
        for (; k + 4 <= n; k += 4) {
            double t[4] = {0, 0, 0, 0};
            for (ptrdiff_t q = first; q < last; q++) {
                const double *at = w + (ptrdiff_t)index[q] * f + k;
                double e = v[q];
                for (int l = 0; l < 4; l++) t[l] += at[l] * e;
            }
            if (bias) for (int l = 0; l < 4; l++) t[l] += bias[k + l];
            memcpy(out + k, t, sizeof t);
        }
    for (; k < n; k++) {
        double t = 0;
        for (ptrdiff_t q = first; q < last; q++) t += w[(ptrdiff_t)index[q] * f + k * step] * (double)v[q];
        out[k] = bias ? t + bias[k] : t;
    }
}

static void SP_T(add)(const sp_rows *x, ptrdiff_t row, const sp_blocks *b, const double *SP_RESTRICT c, double to_w,
                      double to_u) {
    const SP_REAL *SP_RESTRICT v = (const SP_REAL *)x->values;
    const SP_INDEX *SP_RESTRICT index = (const SP_INDEX *)x->indices;
    ptrdiff_t first = ((const SP_INDEX *)x->indptr)[row], last = ((const SP_INDEX *)x->indptr)[row + 1];
    ptrdiff_t n = b->n_blocks, f = b->feature_step, step = b->block_step, far = b->average;
    sp_add_bias(b, c, to_w, to_u);
    if (step == 1 && n == 4 && far == 4) {   /* four weights and their accumulators: one cache line */
        double g[8];
        for (int l = 0; l < 4; l++) { g[l] = c[l] * to_w; g[l + 4] = c[l] * to_u; }
        for (ptrdiff_t q = first; q < last; q++) {
            double *w = b->w + (ptrdiff_t)index[q] * f, e = v[q];
            for (int l = 0; l < 8; l++) w[l] += g[l] * e;
        }
        return;
    }
    for (ptrdiff_t q = first; q < last; q++) {
        double *w = b->w + (ptrdiff_t)index[q] * f, e = v[q];
        for (ptrdiff_t k = 0; k < n; k++, w += step) {
            if (c[k] == 0) continue;
            *w += (c[k] * to_w) * e;
            if (far) w[far] += (c[k] * to_u) * e;
        }
    }
}

static double SP_T(norm)(const sp_rows *x, ptrdiff_t row) {
    const SP_REAL *v = (const SP_REAL *)x->values;
    ptrdiff_t first = ((const SP_INDEX *)x->indptr)[row], last = ((const SP_INDEX *)x->indptr)[row + 1];
    double t = 0;
    for (ptrdiff_t q = first; q < last; q++) t += (double)v[q] * (double)v[q];
    return t;
}
