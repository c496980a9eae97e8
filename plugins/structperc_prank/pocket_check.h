/* Included by instruction_sets.h once for each instruction set: the cost of a ranker over tiles of 32 rows.
 *
 * Every row's score is summed feature after feature, and the costs are whole numbers, so all sets give the same bits. */

#if SP_VECTORS
typedef double SP(vec) __attribute__((vector_size(SP_WIDTH * 8)));
typedef double SP(loose) __attribute__((vector_size(SP_WIDTH * 8), aligned(8), may_alias));
typedef long long SP(masks) __attribute__((vector_size(SP_WIDTH * 8)));
#define SP_LOAD(p) (*(const SP(loose) *)(p))
#endif

static double SP(pocket)(const double *x, const double *costs, ptrdiff_t n_tiles, ptrdiff_t n_features, ptrdiff_t n_thresholds,
                         const double *w, const double *b, double enough, double *sums, const double *beside) {
    double total = 0, behind = 0, squares = 0;
    for (ptrdiff_t t = 0; t < n_tiles && total < enough; t++) {
#if SP_VECTORS
        for (int part = 0; part < SP_TILE; part += 4 * SP_WIDTH) {
            SP(vec) f[4] = {0}, sum[4];
            const double *p = x + part, *q = costs + part;
            for (ptrdiff_t j = 0; j < n_features; j++, p += SP_TILE) {
                SP(vec) wj = (SP(vec)){0} + w[j];
                SP_UNROLL
                for (int i = 0; i < 4; i++) f[i] += wj * SP_LOAD(p + i * SP_WIDTH);
            }
            SP_UNROLL
            for (int i = 0; i < 4; i++) sum[i] = SP_LOAD(q + i * SP_WIDTH);
            for (ptrdiff_t k = 0; k < n_thresholds; k++) {
                SP(vec) bk = (SP(vec)){0} + b[k];
                q += SP_TILE;
                SP_UNROLL
                for (int i = 0; i < 4; i++) sum[i] += (SP(vec))((SP(masks))(f[i] >= bk) & (SP(masks))SP_LOAD(q + i * SP_WIDTH));
            }
            sum[0] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
            for (int i = 0; i < SP_WIDTH; i++) total += sum[0][i];
        }
        x += n_features * SP_TILE, costs += (n_thresholds + 1) * SP_TILE;
#else
        double f[SP_TILE] = {0};
        for (ptrdiff_t j = 0; j < n_features; j++, x += SP_TILE)
            for (int i = 0; i < SP_TILE; i++) f[i] += w[j] * x[i];
        for (ptrdiff_t k = -1; k < n_thresholds; k++, costs += SP_TILE)
            for (int i = 0; i < SP_TILE; i++) total += k < 0 || f[i] >= b[k] ? costs[i] : 0;
#endif
        sums[t] = total;
        if (beside && sp_hopeless(t, total - beside[t], &behind, &squares)) return enough;
    }
    return total;
}

#undef SP_LOAD
