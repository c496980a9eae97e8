/* Included by inner_kernels.h once per type of value and index: dot products, updates and norm of a sparse row. */

#if SP_VECTORS
/* The scores of `registers` registers full of neighbouring blocks, with one pass over the row. */
SP_INLINE void SP_T(dots_of)(const SP_REAL *v, const SP_INDEX *index, ptrdiff_t n, const sp_blocks *b, ptrdiff_t k, double *out,
                             const int registers) {
    const double *w = b->w + k, *bias = b->bias ? b->bias + k : NULL;
    const int32_t *place = b->place;
    ptrdiff_t f = b->feature_step;
    SP(vec) t[SP_REGISTERS];
    for (int r = 0; r < registers; r++) t[r] = (SP(vec)){0};
    for (ptrdiff_t q = 0; q < n; q++) {
        const double *at = w + (place ? (ptrdiff_t)place[index[q]] : (ptrdiff_t)index[q]) * f;
        double e = v[q];
        for (int r = 0; r < registers; r++) t[r] += SP_LOAD_F64(at + r * SP_WIDTH) * e;
    }
    for (int r = 0; r < registers; r++) {
        if (bias) t[r] += SP_LOAD_F64(bias + r * SP_WIDTH);
        SP_AT(out + r * SP_WIDTH) = t[r];
    }
}
#endif

static void SP_T(dots)(const sp_rows *x, ptrdiff_t row, const sp_blocks *b, double *SP_RESTRICT out) {
    const SP_REAL *SP_RESTRICT v = (const SP_REAL *)x->values;
    const SP_INDEX *SP_RESTRICT index = (const SP_INDEX *)x->indices;
    ptrdiff_t first = ((const SP_INDEX *)x->indptr)[row], last = ((const SP_INDEX *)x->indptr)[row + 1];
    ptrdiff_t n = b->n_blocks, f = b->feature_step, step = b->block_step, k = 0;
    const double *w = b->w, *bias = b->bias;
#if SP_VECTORS
    if (step == 1)                           /* one non-zero touches one contiguous row of weights */
        while (n - k >= SP_WIDTH) {
            ptrdiff_t whole = (n - k) / SP_WIDTH;
#define SP_DOTS(registers)                                                                                             \
    SP_T(dots_of)(v + first, index + first, last - first, b, k, out + k, registers);                                   \
    k += registers * SP_WIDTH
            if (whole >= 6) { SP_DOTS(6); }
            else if (whole == 5) { SP_DOTS(5); }
            else if (whole == 4) { SP_DOTS(4); }
            else if (whole == 3) { SP_DOTS(3); }
            else if (whole == 2) { SP_DOTS(2); }
            else { SP_DOTS(1); }
#undef SP_DOTS
        }
#endif
    if (step == 1)
        for (; k + 4 <= n; k += 4) {
            double t[4] = {0, 0, 0, 0};
            for (ptrdiff_t q = first; q < last; q++) {
                const double *at = w + SP_PLACE(b, index[q]) * f + k;
                double e = v[q];
                for (int l = 0; l < 4; l++) t[l] += at[l] * e;
            }
            if (bias) for (int l = 0; l < 4; l++) t[l] += bias[k + l];
            memcpy(out + k, t, sizeof t);
        }
    for (; k < n; k++) {
        double t = 0;
        for (ptrdiff_t q = first; q < last; q++) t += w[SP_PLACE(b, index[q]) * f + k * step] * (double)v[q];
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
            double *w = b->w + SP_CLAIM(b, index[q]) * f, e = v[q];
            for (int l = 0; l < 8; l++) w[l] += g[l] * e;
        }
        return;
    }
    for (ptrdiff_t start = 0; start < n; start += 64) {      /* often two of very many blocks move */
        uint64_t bits = sp_moved(c + start, n - start);
        ptrdiff_t place[64], moved = 0;
        double to[64], also[64];
        for (; bits; bits &= bits - 1) {
            ptrdiff_t k = start + sp_first_bit(bits);
            place[moved] = k * step; to[moved] = c[k] * to_w; also[moved++] = c[k] * to_u;
        }
        if (moved)
            for (ptrdiff_t q = first; q < last; q++) {
                double *w = b->w + SP_CLAIM(b, index[q]) * f, e = v[q];
                for (ptrdiff_t i = 0; i < moved; i++) {
                    w[place[i]] += to[i] * e;
                    if (far) w[place[i] + far] += also[i] * e;
                }
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
