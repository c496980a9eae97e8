/* Scans of a working set: the extreme breakpoints of a node, the partner that promises the largest decrease, and a step of the scores.
 *
 * Typical sizes: 10 .. 1000 numbers. Cost: 0.2 to 0.5 ns a number. Of equal numbers the first is taken, and every sum has one order, so each
 * instruction set gives the same bits; SP_CLONES compiles a function for several, and the loader picks one. Results stand in eight lanes,
 * which a compiler turns into vector registers. */
#ifndef STRUCTPERC_SCANS_H
#define STRUCTPERC_SCANS_H

#include <math.h>
#include <stddef.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__) && defined(__GLIBC__)
#define SP_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define SP_CLONES
#endif

enum { SP_SIDE_BY_SIDE = 16 };

/* lo = the largest f[i] + up[i], hi = the smallest f[i] + down[i]; infinities where there is none. */
SP_CLONES static void sp_extremes(const double *f, const double *up, const double *down, ptrdiff_t n, double *lo, double *hi)
{
    double most[SP_SIDE_BY_SIDE], least[SP_SIDE_BY_SIDE];
    ptrdiff_t i = 0;
    int l;
    for (l = 0; l < SP_SIDE_BY_SIDE; l++) {
        most[l] = -HUGE_VAL;
        least[l] = HUGE_VAL;
    }
    for (; i + SP_SIDE_BY_SIDE <= n; i += SP_SIDE_BY_SIDE)
        for (l = 0; l < SP_SIDE_BY_SIDE; l++) {
            double above = f[i + l] + up[i + l], below = f[i + l] + down[i + l];
            most[l] = above > most[l] ? above : most[l];
            least[l] = below < least[l] ? below : least[l];
        }
    for (; i < n; i++) {
        most[0] = f[i] + up[i] > most[0] ? f[i] + up[i] : most[0];
        least[0] = f[i] + down[i] < least[0] ? f[i] + down[i] : least[0];
    }
    for (l = 1; l < SP_SIDE_BY_SIDE; l++) {
        most[0] = most[l] > most[0] ? most[l] : most[0];
        least[0] = least[l] < least[0] ? least[l] : least[0];
    }
    *lo = most[0];
    *hi = least[0];
}

/* The first i with f[i] + add[i] == value; there is one. */
static ptrdiff_t sp_first_at(const double *f, const double *add, double value)
{
    ptrdiff_t i = 0;
    while (f[i] + add[i] != value)
        i++;
    return i;
}

/* promise[i] = v^2 / d for v = kappa - f[i] - down[i] > 0 and the squared distance d = own + diagonal[i] - 2 row[i], else at most 0; returns
 * the largest. */
SP_CLONES static double sp_promises(const double *f, const double *down, const double *row, const double *diagonal, double kappa,
                                    double own, double least, ptrdiff_t n, double *promise)
{
    double most[SP_SIDE_BY_SIDE];
    ptrdiff_t i = 0;
    int l;
    for (i = 0; i < n; i++) {
        double v = kappa - (f[i] + down[i]), d = own + diagonal[i] - 2 * row[i];
        d = d > least ? d : least;
        v = v > 0 ? v : 0;
        promise[i] = v * v / d;
    }
    for (l = 0; l < SP_SIDE_BY_SIDE; l++)
        most[l] = 0;
    for (i = 0; i + SP_SIDE_BY_SIDE <= n; i += SP_SIDE_BY_SIDE)
        for (l = 0; l < SP_SIDE_BY_SIDE; l++)
            most[l] = promise[i + l] > most[l] ? promise[i + l] : most[l];
    for (; i < n; i++)
        most[0] = promise[i] > most[0] ? promise[i] : most[0];
    for (l = 1; l < SP_SIDE_BY_SIDE; l++)
        most[0] = most[l] > most[0] ? most[l] : most[0];
    return most[0];
}

/* f += t (rise - fall) */
SP_CLONES static void sp_move(double *f, const double *rise, const double *fall, double t, ptrdiff_t n)
{
    ptrdiff_t i;
    for (i = 0; i < n; i++)
        f[i] += t * (rise[i] - fall[i]);
}

/* sums[i] += c[0] p[0][i], then c[1] p[1][i] and so on, in this order. */
SP_CLONES static void sp_add_columns(double *sums, ptrdiff_t begin, ptrdiff_t end, const double *const *p, const double *c, ptrdiff_t n)
{
    ptrdiff_t a = 0, i;
    for (; a + 4 <= n; a += 4) {
        const double *p0 = p[a], *p1 = p[a + 1], *p2 = p[a + 2], *p3 = p[a + 3];
        const double c0 = c[a], c1 = c[a + 1], c2 = c[a + 2], c3 = c[a + 3];
        for (i = begin; i < end; i++)
            sums[i] = (((sums[i] + c0 * p0[i]) + c1 * p1[i]) + c2 * p2[i]) + c3 * p3[i];
    }
    for (; a < n; a++)
        for (i = begin; i < end; i++)
            sums[i] += c[a] * p[a][i];
}

#endif
