/* Included by instruction_sets.h once for each instruction set: sums of columns over dense rows, four rows at a time.
 *
 * Each column has its own sum, and the order of additions does not depend on the set: all sets give the same bits. */

#define SP_MOMENTS(name, real)                                                                                                   \
    static void SP(name)(const real *restrict values, ptrdiff_t n_rows, ptrdiff_t n, const double *restrict centre,              \
                         double *restrict sums, double *restrict squares) {                                                      \
        ptrdiff_t row = 0;                                                                                                       \
        for (; row + 4 <= n_rows; row += 4) {                                                                                    \
            const real *x = values + row * n, *y = x + n, *z = y + n, *u = z + n;                                                \
            for (ptrdiff_t j = 0; j < n; j++) {                                                                                  \
                double a = x[j] - centre[j], b = y[j] - centre[j], c = z[j] - centre[j], d = u[j] - centre[j];                   \
                sums[j] += (a + b) + (c + d);                                                                                    \
                squares[j] += (a * a + b * b) + (c * c + d * d);                                                                 \
            }                                                                                                                    \
        }                                                                                                                        \
        for (; row < n_rows; row++)                                                                                              \
            for (ptrdiff_t j = 0; j < n; j++) {                                                                                  \
                double apart = values[row * n + j] - centre[j];                                                                  \
                sums[j] += apart;                                                                                                \
                squares[j] += apart * apart;                                                                                     \
            }                                                                                                                    \
    }

SP_MOMENTS(moments_f64, double)
SP_MOMENTS(moments_f32, float)
#undef SP_MOMENTS
