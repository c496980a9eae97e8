/* The exact passive-aggressive step over at most eight atoms, without a branch that the data decide: which atoms take part is as hard to
 * guess as the answers are.
 *
 * With the breakpoints p_a = t_a margin - s_a the root g solves q g = sum_a between(p_a - g, -limit [t_a = -1], limit [t_a = 1]). The sum
 * does not rise with g. So atom j has a multiplier where t_j (q p_j - sum at p_j) >= 0, and its cap where the same holds at
 * p_j - t_j limit. With A the atoms below their caps,
 *
 *     p_j - g = (q p_j + sum over a in A of (p_j - p_a) - limit sum of capped t_a) / (q + |A|):
 *
 * of breakpoints only differences, since long rows leave nothing else, and a division that waits for the norm but not for the scores.
 *
 * Typical sizes: 4 atoms, the thresholds between 5 ranks. Cost: O(n^2) operations on registers; what counts is the chain from the scores to
 * the coefficients, about 60 cycles. Lanes give the same bits as single numbers. */
#ifndef STRUCTPERC_EXACT_FEW_H
#define STRUCTPERC_EXACT_FEW_H

#include "inner.h"

#ifdef __clang__
#define SP_UNROLL _Pragma("clang loop unroll(full)")
#elif SP_VECTORS
#define SP_UNROLL _Pragma("GCC unroll 9")
#else
#define SP_UNROLL
#endif

#if defined(__SSE2__) && SP_VECTORS
#include <emmintrin.h>
enum { SP_LANES = 2 };
typedef __m128d sp_lanes;                   /* numbers, or for each of them whether something is true: all bits or none */
SP_INLINE sp_lanes sp_all(double x) { return _mm_set1_pd(x); }
SP_INLINE sp_lanes sp_read(const volatile double *x, int n) { return _mm_set_pd(n > 1 ? x[1] : 0, x[0]); }
SP_INLINE void sp_write(double *x, int n, sp_lanes y) { if (n > 1) _mm_storeu_pd(x, y); else _mm_store_sd(x, y); }
SP_INLINE sp_lanes sp_lane(const sp_lanes *x, int a) {
    return a % 2 ? _mm_unpackhi_pd(x[a / 2], x[a / 2]) : _mm_unpacklo_pd(x[a / 2], x[a / 2]);
}
SP_INLINE double sp_total(sp_lanes x) { return _mm_cvtsd_f64(_mm_add_sd(_mm_unpackhi_pd(x, x), x)); }
SP_INLINE double sp_largest(sp_lanes x) { return _mm_cvtsd_f64(_mm_max_sd(_mm_unpackhi_pd(x, x), x)); }
SP_INLINE sp_lanes sp_larger(sp_lanes x, sp_lanes y) { return _mm_max_pd(x, y); }
SP_INLINE sp_lanes sp_smaller(sp_lanes x, sp_lanes y) { return _mm_min_pd(x, y); }
SP_INLINE sp_lanes sp_below(sp_lanes x, sp_lanes y) { return _mm_cmplt_pd(x, y); }
SP_INLINE sp_lanes sp_if(sp_lanes yes, sp_lanes x) { return _mm_and_pd(yes, x); }
SP_INLINE sp_lanes sp_unless(sp_lanes yes, sp_lanes x) { return _mm_andnot_pd(yes, x); }
SP_INLINE int sp_how_many(sp_lanes yes) { int bits = _mm_movemask_pd(yes); return (bits & 1) + (bits >> 1); }
#else
enum { SP_LANES = 1 };
typedef double sp_lanes;                    /* a number, or 1 where something is true, else 0 */
SP_INLINE sp_lanes sp_all(double x) { return x; }
SP_INLINE sp_lanes sp_read(const volatile double *x, int n) { return x[0]; }
SP_INLINE void sp_write(double *x, int n, sp_lanes y) { x[0] = y; }
SP_INLINE sp_lanes sp_lane(const sp_lanes *x, int a) { return x[a]; }
SP_INLINE double sp_total(sp_lanes x) { return x; }
SP_INLINE double sp_largest(sp_lanes x) { return x; }
SP_INLINE sp_lanes sp_larger(sp_lanes x, sp_lanes y) { return x > y ? x : y; }
SP_INLINE sp_lanes sp_smaller(sp_lanes x, sp_lanes y) { return x < y ? x : y; }
SP_INLINE sp_lanes sp_below(sp_lanes x, sp_lanes y) { return x < y; }
SP_INLINE sp_lanes sp_if(sp_lanes yes, sp_lanes x) { return yes ? x : 0; }
SP_INLINE sp_lanes sp_unless(sp_lanes yes, sp_lanes x) { return yes ? 0 : x; }
SP_INLINE int sp_how_many(sp_lanes yes) { return yes != 0; }
#endif
/* x[0] + .. + x[n - 1], pair by pair: no chain of n additions. */
SP_INLINE sp_lanes sp_sum(const sp_lanes *x, const int n) {
    sp_lanes pairs[4];
    SP_UNROLL
    for (int i = 0; 2 * i < n; i++) {
        pairs[i] = x[2 * i];
        if (2 * i + 1 < n) pairs[i] += x[2 * i + 1];
    }
    if (n > 2) pairs[0] += pairs[1];
    if (n > 6) pairs[2] += pairs[3];
    if (n > 4) pairs[0] += pairs[2];
    return pairs[0];
}

enum { SP_FEW = 8 };

SP_INLINE double sp_short_of(const double *s, const double *c, double margin, const int n) {
    const volatile double *scores = s, *signs = c;      /* one by one, as they have just been written: a wider load would wait for memory */
    sp_lanes most = sp_all(0);
    SP_UNROLL
    for (int a = 0; a < n; a += SP_LANES) {
        sp_lanes t = sp_read(signs + a, n - a);
        most = sp_larger(t * (t * sp_all(margin) - sp_read(scores + a, n - a)), most);
    }
    return sp_largest(most);
}

SP_INLINE double sp_exact_of(const double *s, double *c, double margin, double q, double d, double limit, double cap, const int n) {
    const int groups = (n + SP_LANES - 1) / SP_LANES, caps = limit < INFINITY;
    const volatile double *scores = s, *signs = c;
    sp_lanes at[SP_FEW], t[SP_FEW], u[SP_FEW], p[SP_FEW], apart[SP_FEW][SP_FEW], part[SP_FEW], over[SP_FEW], in[SP_FEW], out[SP_FEW];
    sp_lanes zero = sp_all(0), full = zero, ends = zero, found;
    double fulls, per, shares[SP_FEW + 1];
    int count = 0;
    SP_UNROLL
    for (int k = 0; k <= n; k++) shares[k] = 1 / ((q + k) * d);
    SP_UNROLL
    for (int i = 0; i < groups; i++) {
        at[i] = sp_read(scores + SP_LANES * i, n - SP_LANES * i);
        t[i] = sp_read(signs + SP_LANES * i, n - SP_LANES * i);
        u[i] = t[i] * sp_all(margin);
        p[i] = u[i] - at[i];
    }
    SP_UNROLL
    for (int i = 0; i < groups; i++) {
        SP_UNROLL
        for (int a = 0; a < n; a++) {
            sp_lanes sign = sp_lane(t, a), least = sp_if(sp_below(sign, zero), sp_all(-limit));
            sp_lanes most = sp_if(sp_below(zero, sign), sp_all(limit));
            apart[i][a] = (sp_lane(u, a) - u[i]) - (sp_lane(at, a) - at[i]);            /* p_a - p_j */
            part[a] = sp_smaller(sp_larger(apart[i][a], least), most);
            if (caps) over[a] = sp_smaller(sp_larger(apart[i][a] + t[i] * sp_all(limit), least), most);
        }
        found = t[i] * (p[i] * sp_all(q) - sp_sum(part, n));
        in[i] = sp_unless(sp_below(found, zero), sp_below(zero, t[i] * t[i]));              /* also where it is no number */
        if (caps) {
            found = t[i] * ((p[i] - t[i] * sp_all(limit)) * sp_all(q) - sp_sum(over, n));
            out[i] = sp_unless(sp_below(found, zero), sp_below(zero, t[i] * t[i]));
            in[i] = sp_unless(out[i], in[i]);
            full += sp_if(out[i], t[i]);
        }
        count += sp_how_many(in[i]);
        ends += sp_if(in[i], p[i]);
    }
    per = shares[count];
    fulls = caps ? limit * sp_total(full) : 0;
    SP_UNROLL
    for (int i = 0; i < groups; i++) {
        SP_UNROLL
        for (int a = 0; a < n; a++) part[a] = sp_if(sp_lane(in, a), apart[i][a]);
        found = p[i] * sp_all(q) - sp_sum(part, n);
        if (caps) found -= sp_all(fulls);
        found = sp_if(in[i], found * sp_all(per));
        found = sp_larger(found, sp_if(sp_below(t[i], zero), sp_all(-cap)));
        found = sp_smaller(found, sp_if(sp_below(zero, t[i]), sp_all(cap)));
        if (caps) found += sp_if(out[i], t[i] * sp_all(cap));
        sp_write(c + SP_LANES * i, n - SP_LANES * i, found);
    }
    return (sp_total(ends) + fulls) * d * per;
}

#define SP_EACH_FEW SP_CASE(1) SP_CASE(2) SP_CASE(3) SP_CASE(4) SP_CASE(5) SP_CASE(6) SP_CASE(7) default: SP_LAST(8)
#define SP_CASE(n) case n: SP_LAST(n)
#define SP_LAST(n) return sp_short_of(s, c, margin, n);

/* By how much the margin of the atom that needs most is short, of n <= SP_FEW with scores s and signs c; 0: of none. */
static double sp_margin_short(const double *s, const double *c, ptrdiff_t n, double margin) {
    switch (n) { SP_EACH_FEW }
}
#undef SP_LAST
#define SP_LAST(n)                                                                                                     \
    return limit < INFINITY ? sp_exact_of(s, c, margin, q, d, limit, cap, n)                                           \
                            : sp_exact_of(s, c, margin, q, d, INFINITY, INFINITY, n);

/* The step of n <= SP_FEW atoms: c, their signs t, becomes t_a clip(t_a (p_a - g) / d, 0, cap), for q = d / shared and limit = cap d.
 * Returns g. */
static double sp_exact_step(const double *s, double *c, ptrdiff_t n, double margin, double q, double d, double limit, double cap) {
    switch (n) { SP_EACH_FEW }
}
#undef SP_CASE
#undef SP_LAST
#undef SP_EACH_FEW
#undef SP_UNROLL
#endif
