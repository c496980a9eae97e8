/* Included by instruction_sets.h once for each instruction set: digits of eight columns of some rows, and sums of their products.
 *
 * A plane holds one digit of each cell, row after row, as doubles. All sums are of fewer than 2^53 units, so they are exact, and all sets
 * give the same bits. */

/* The largest size in each lane; NaN if a cell is not finite. */
static void SP(largest)(const double *restrict cells, ptrdiff_t n_rows, double *restrict most) {
    double largest[SP_LANES] = {0}, odd[SP_LANES] = {0};
    for (ptrdiff_t i = 0; i < n_rows * SP_LANES; i += SP_LANES)
        for (int l = 0; l < SP_LANES; l++) {
            double size = fabs(cells[i + l]), so_far = largest[l];
            largest[l] = so_far > size ? so_far : size;
            odd[l] += size - size;
        }
    for (int l = 0; l < SP_LANES; l++) most[l] = largest[l] + odd[l];
}

/* Sums of five digits of each lane, then of their products aa, ab, bb, ac, bc, cc, ad ...; whether anything is left.
 * They are written out, as compilers keep the sums in registers then. */
static int SP(add_five)(const double *restrict cells, ptrdiff_t n_rows, const double *restrict r, double *restrict sums) {
    double t[SP_SUMS_OF_FIVE][SP_LANES] = {{0}}, left[SP_LANES] = {0};
    for (ptrdiff_t i = 0; i < n_rows * SP_LANES; i += SP_LANES)
        for (int l = 0; l < SP_LANES; l++) {
            double a = (cells[i + l] + r[l]) - r[l], x = cells[i + l] - a;
            double b = (x + r[SP_LANES + l]) - r[SP_LANES + l];
            x -= b;
            double c = (x + r[2 * SP_LANES + l]) - r[2 * SP_LANES + l];
            x -= c;
            double d = (x + r[3 * SP_LANES + l]) - r[3 * SP_LANES + l];
            x -= d;
            double e = (x + r[4 * SP_LANES + l]) - r[4 * SP_LANES + l];
            x -= e;
            left[l] += fabs(x);
            t[0][l] += a, t[1][l] += b, t[2][l] += c, t[3][l] += d, t[4][l] += e;
            t[5][l] += a * a, t[6][l] += a * b, t[7][l] += b * b, t[8][l] += a * c, t[9][l] += b * c;
            t[10][l] += c * c, t[11][l] += a * d, t[12][l] += b * d, t[13][l] += c * d, t[14][l] += d * d;
            t[15][l] += a * e, t[16][l] += b * e, t[17][l] += c * e, t[18][l] += d * e, t[19][l] += e * e;
        }
    memcpy(sums, t, sizeof t);
    double all = 0;
    for (int l = 0; l < SP_LANES; l++) all += left[l];
    return all != 0;
}

/* Takes a digit from each number; whether anything is left. */
static int SP(cut_plane)(double *restrict rest, ptrdiff_t n_rows, const double *restrict rounder, double *restrict plane) {
    double left[SP_LANES] = {0};
    for (ptrdiff_t i = 0; i < n_rows * SP_LANES; i += SP_LANES)
        for (int l = 0; l < SP_LANES; l++) {
            double digit = (rest[i + l] + rounder[l]) - rounder[l], apart = rest[i + l] - digit;
            plane[i + l] = digit;
            rest[i + l] = apart;
            left[l] += fabs(apart);
        }
    double all = 0;
    for (int l = 0; l < SP_LANES; l++) all += left[l];
    return all != 0;
}

/* Four sums for each lane, whose additions do not wait for each other. */
#define SP_SUMS(name, parameters, term)                                                                                         \
    static void SP(name)(parameters, ptrdiff_t n_rows, double *restrict sums) {                                                  \
        double total[4 * SP_LANES] = {0};                                                                                        \
        for (ptrdiff_t i = 0; i < n_rows * SP_LANES; i += 4 * SP_LANES)                                                          \
            for (int l = 0; l < 4 * SP_LANES; l++) total[l] += term;                                                             \
        for (int l = 0; l < SP_LANES; l++)                                                                                       \
            sums[l] = total[l] + total[l + SP_LANES] + total[l + 2 * SP_LANES] + total[l + 3 * SP_LANES];                        \
    }
#define SP_COMMA ,

SP_SUMS(add_up, const double *restrict a, a[i + l])
SP_SUMS(add_products, const double *a SP_COMMA const double *b, a[i + l] * b[i + l])
#undef SP_SUMS
#undef SP_COMMA

/* The digits of products, one more than both have together; rounders[t] is that of digit t. */
static void SP(multiply_planes)(const double *restrict w, int n_w, const double *restrict x, int n_x, ptrdiff_t n_rows, ptrdiff_t step,
                                const double *restrict rounders, double *restrict to) {
    int n = n_w + n_x;
    for (ptrdiff_t row = 0; row < n_rows * SP_LANES; row += SP_LANES) {
        double c[2 * SP_PLANES][SP_LANES] = {{0}};
        for (int i = 0; i < n_w; i++)
            for (int j = 0; j < n_x; j++)
                for (int l = 0; l < SP_LANES; l++) c[1 + i + j][l] += w[i * step + row + l] * x[j * step + row + l];
        for (int t = n - 1; t; t--)
            for (int l = 0; l < SP_LANES; l++) {
                double rounder = rounders[(t - 1) * SP_LANES + l], carry = (c[t][l] + rounder) - rounder;
                c[t][l] -= carry;
                c[t - 1][l] += carry;
            }
        for (int t = 0; t < n; t++) memcpy(to + t * step + row, c[t], sizeof c[t]);
    }
}
