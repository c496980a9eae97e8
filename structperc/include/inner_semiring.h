/* Included by inner_kernels.h once per semiring: the product of a vector and a table, SP_PLUS over i of (a[i] SP_TIMES e[i]) SP_TIMES t[i, j]. */

#if SP_VECTORS
SP_INLINE void SP_T(_of)(const double *a, const double *e, ptrdiff_t n, const double *t, ptrdiff_t pitch, double *out, ptrdiff_t last,
                         const int registers) {
    SP(vec) sum[SP_REGISTERS];               /* the last register begins at `last`: it may overlap the one before */
    for (int r = 0; r < registers; r++) {
        ptrdiff_t at = r == registers - 1 ? last : r * SP_WIDTH;
        sum[r] = SP_LOAD_F64(t + at) SP_TIMES (a[0] SP_TIMES e[0]);
    }
    for (ptrdiff_t i = 1; i < n; i++) {
        double before = a[i] SP_TIMES e[i];
        const double *row = t + i * pitch;
        for (int r = 0; r < registers; r++) {
            ptrdiff_t at = r == registers - 1 ? last : r * SP_WIDTH;
            sum[r] = SP_PLUS(SP_LOAD_F64(row + at) SP_TIMES before, sum[r]);
        }
    }
    for (int r = 0; r < registers; r++) SP_AT(out + (r == registers - 1 ? last : r * SP_WIDTH)) = sum[r];
}
#endif

static void SP_T()(const double *SP_RESTRICT a, const double *SP_RESTRICT e, ptrdiff_t n, const double *SP_RESTRICT t, ptrdiff_t pitch,
                   ptrdiff_t m, double *SP_RESTRICT out) {
    ptrdiff_t j = 0;
#if SP_VECTORS
    if (m >= SP_WIDTH)
        while (j < m) {
            ptrdiff_t whole = (m - j + SP_WIDTH - 1) / SP_WIDTH;
#define SP_PRODUCT(registers, last) SP_T(_of)(a, e, n, t + j, pitch, out + j, last, registers)
            if (whole > SP_REGISTERS) { SP_PRODUCT(SP_REGISTERS, (SP_REGISTERS - 1) * SP_WIDTH); }
            else if (whole == 6) { SP_PRODUCT(6, m - j - SP_WIDTH); }
            else if (whole == 5) { SP_PRODUCT(5, m - j - SP_WIDTH); }
            else if (whole == 4) { SP_PRODUCT(4, m - j - SP_WIDTH); }
            else if (whole == 3) { SP_PRODUCT(3, m - j - SP_WIDTH); }
            else if (whole == 2) { SP_PRODUCT(2, m - j - SP_WIDTH); }
            else { SP_PRODUCT(1, m - j - SP_WIDTH); }
#undef SP_PRODUCT
            j += SP_REGISTERS * SP_WIDTH;
        }
#endif
    for (; j < m; j++) {
        double sum = (a[0] SP_TIMES e[0]) SP_TIMES t[j];
        for (ptrdiff_t i = 1; i < n; i++) sum = SP_PLUS1((a[i] SP_TIMES e[i]) SP_TIMES t[i * pitch + j], sum);
        out[j] = sum;
    }
}
