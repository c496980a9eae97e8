/* Included by inner_dense.h and inner_sparse.h: dot products and updates of a row over weights of which those of one feature stand side by
 * side, or in any case not those of one block. SP_COLUMN(q) is the column of value q, SP_SKIPPED whether a value takes no part in updates. */

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
        const double *at = w + (place ? (ptrdiff_t)place[SP_COLUMN(q)] : (ptrdiff_t)SP_COLUMN(q)) * f;
        double e = v[q];
        for (int r = 0; r < registers; r++) t[r] += SP_LOAD_F64(at + r * SP_WIDTH) * e;
    }
    for (int r = 0; r < registers; r++) {
        if (bias) t[r] += SP_LOAD_F64(bias + r * SP_WIDTH);
        SP_AT(out + r * SP_WIDTH) = t[r];
    }
}
#endif

/* Adds the row to as many blocks, whatever their coefficients. */
SP_INLINE void SP_T(add_of)(const SP_REAL *v, const SP_INDEX *index, ptrdiff_t m, const sp_blocks *b, ptrdiff_t k, const double *c,
                            double to_w, double to_u, const int registers) {
    ptrdiff_t f = b->feature_step, far = b->average;
    SP(vec) g[SP_REGISTERS], h[SP_REGISTERS];
    for (int r = 0; r < registers; r++) {
        g[r] = SP_LOAD_F64(c + r * SP_WIDTH) * to_w;
        h[r] = SP_LOAD_F64(c + r * SP_WIDTH) * to_u;
    }
    for (ptrdiff_t q = 0; q < m; q++) {
        if (SP_SKIPPED(v[q])) continue;
        double *w = b->w + SP_CLAIM(b, SP_COLUMN(q)) * f + k, e = v[q];
        for (int r = 0; r < registers; r++) SP_AT(w + r * SP_WIDTH) += g[r] * e;
        if (far)
            for (int r = 0; r < registers; r++) SP_AT(w + far + r * SP_WIDTH) += h[r] * e;
    }
}

SP_APART void SP_T(dots_by_feature)(const SP_REAL *SP_RESTRICT v, const SP_INDEX *SP_RESTRICT index, ptrdiff_t m,
                                     const sp_blocks *b, double *SP_RESTRICT out) {
    ptrdiff_t n = b->n_blocks, f = b->feature_step, step = b->block_step, k = 0;
    const double *w = b->w, *bias = b->bias;
#if SP_VECTORS
    if (step == 1)                           /* one non-zero touches one contiguous row of weights */
        while (n - k >= SP_WIDTH) {
            ptrdiff_t whole = (n - k) / SP_WIDTH;
#define SP_DOTS(registers)                                                                                             \
    SP_T(dots_of)(v, index, m, b, k, out + k, registers);                                                              \
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
            for (ptrdiff_t q = 0; q < m; q++) {
                const double *at = w + SP_PLACE(b, SP_COLUMN(q)) * f + k;
                double e = v[q];
                for (int l = 0; l < 4; l++) t[l] += at[l] * e;
            }
            if (bias) for (int l = 0; l < 4; l++) t[l] += bias[k + l];
            memcpy(out + k, t, sizeof t);
        }
    for (; k < n; k++) {
        double t = 0;
        for (ptrdiff_t q = 0; q < m; q++) t += w[SP_PLACE(b, SP_COLUMN(q)) * f + k * step] * (double)v[q];
        out[k] = bias ? t + bias[k] : t;
    }
}

SP_APART void SP_T(add_by_feature)(const SP_REAL *SP_RESTRICT v, const SP_INDEX *SP_RESTRICT index, ptrdiff_t m, const sp_blocks *b,
                                    const double *SP_RESTRICT c, double to_w, double to_u) {
    ptrdiff_t n = b->n_blocks, f = b->feature_step, step = b->block_step, far = b->average;
    sp_add_bias(b, c, to_w, to_u);
    if (step == 1 && n == 4 && far == 4) {   /* four weights and their accumulators: one cache line */
        double g[8];
        for (int l = 0; l < 4; l++) { g[l] = c[l] * to_w; g[l + 4] = c[l] * to_u; }
        for (ptrdiff_t q = 0; q < m; q++) {
            if (SP_SKIPPED(v[q])) continue;
            double *w = b->w + SP_CLAIM(b, SP_COLUMN(q)) * f, e = v[q];
            for (int l = 0; l < 8; l++) w[l] += g[l] * e;
        }
        return;
    }
    for (ptrdiff_t start = 0; start < n; start += 64) {      /* often two of very many blocks move */
        uint64_t bits = SP(moved)(c + start, n - start);
        ptrdiff_t place[64], moved = 0;
        double to[64], also[64];
        for (; bits; bits &= bits - 1) {
            ptrdiff_t k = start + sp_first_bit(bits);
            place[moved] = k * step; to[moved] = c[k] * to_w; also[moved++] = c[k] * to_u;
        }
        if (step == 1 && f >= n && 2 * moved >= n - start) { /* most move, as by log loss: whole registers */
            double all[64 + SP_WIDTH] = {0};
            ptrdiff_t own = n - start < 64 ? n - start : 64, room = (far && far < f ? far : f) - start, k = 0;
            memcpy(all, c + start, own * sizeof *all);
            while (own > k) {
                ptrdiff_t left = (own - k + SP_WIDTH - 1) / SP_WIDTH;
                if (left * SP_WIDTH > room - k) left = (room - k) / SP_WIDTH;
#define SP_ADD(registers)                                                                                              \
    SP_T(add_of)(v, index, m, b, start + k, all + k, to_w, to_u, registers);                                           \
    k += registers * SP_WIDTH
                if (left >= 6) { SP_ADD(6); }
                else if (left >= 3) { SP_ADD(3); }
                else if (left >= 1) { SP_ADD(1); }
                else {
                    for (ptrdiff_t q = 0; q < m; q++) {
                        if (SP_SKIPPED(v[q])) continue;
                        double *w = b->w + SP_CLAIM(b, SP_COLUMN(q)) * f + start, e = v[q];
                        for (ptrdiff_t l = k; l < own; l++) {
                            w[l] += all[l] * to_w * e;
                            if (far) w[l + far] += all[l] * to_u * e;
                        }
                    }
                    k = own;
                }
#undef SP_ADD
            }
        } else if (moved)
            for (ptrdiff_t q = 0; q < m; q++) {
                if (SP_SKIPPED(v[q])) continue;
                double *w = b->w + SP_CLAIM(b, SP_COLUMN(q)) * f, e = v[q];
                for (ptrdiff_t i = 0; i < moved; i++) {
                    w[place[i]] += to[i] * e;
                    if (far) w[place[i] + far] += also[i] * e;
                }
            }
    }
}
