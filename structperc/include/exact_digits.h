/* Numbers as digits of 21 bits: exact sums of values and of their squares, which do not depend on the order of the rows.
 *
 * Digit k of a number is a multiple of the unit 2^(21 k) of at most 2^20 units. Units are the same for all numbers, so digits of the same k
 * add up as whole numbers, and products of digits i and j belong to unit i + j. Typical sizes: 3 or 4 digits for a double. */
#ifndef STRUCTPERC_EXACT_DIGITS_H
#define STRUCTPERC_EXACT_DIGITS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SP_DIGIT 21                     /* bits */
#define SP_HALF (INT64_C(1) << 20)
#define SP_LOW_UNIT (-48)               /* digits below are dropped */
#define SP_HIGH_UNIT 48
#define SP_MOST 5                       /* digits of a double */
#define SP_LONGEST 512                  /* digits of a whole number here */
#define SP_TOO_LARGE 2.8e132            /* below 2^440: its square, with a weight, has a unit */
#define SP_TOO_HEAVY 4.2e37             /* below 2^125 */

static double sp_units[SP_HIGH_UNIT - SP_LOW_UNIT + 1];

static void sp_begin_units(void) {
    for (int k = SP_LOW_UNIT; k <= SP_HIGH_UNIT; k++) sp_units[k - SP_LOW_UNIT] = ldexp(1, SP_DIGIT * k);
}

static inline double sp_unit(ptrdiff_t k) { return sp_units[k - SP_LOW_UNIT]; }

/* What is added to a number and subtracted again to round it to whole units. */
static inline double sp_rounder(ptrdiff_t k) { return 6755399441055744.0 * sp_unit(k); }

static inline ptrdiff_t sp_floor_div(ptrdiff_t a, ptrdiff_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

/* The unit of the first digit of a number of this size. */
static inline ptrdiff_t sp_first_unit(double size) {
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    ptrdiff_t k = sp_floor_div((ptrdiff_t)(bits >> 52 & 2047) - 1022, SP_DIGIT);
    return k < SP_LOW_UNIT ? SP_LOW_UNIT : k;
}

/* The digits of x, the first one first; returns how many. */
static inline int sp_cut(double x, ptrdiff_t *first, int64_t *digits) {
    int n = 0;
    ptrdiff_t k = *first = sp_first_unit(x);
    for (; x != 0 && k >= SP_LOW_UNIT && n < SP_MOST; k--) {
        double rounder = sp_rounder(k), digit = (x + rounder) - rounder;
        digits[n++] = (int64_t)(digit * sp_unit(-k));
        x -= digit;
    }
    return n;
}

/* The digits of w x, from those of both; one more than they have together. */
static inline int sp_multiply(const int64_t *w, int n_w, const int64_t *x, int n_x, int64_t *product) {
    int n = n_w + n_x;
    memset(product, 0, n * sizeof *product);
    for (int i = 0; i < n_w; i++)
        for (int j = 0; j < n_x; j++) product[1 + i + j] += w[i] * x[j];
    for (int t = n - 1; t; t--) {
        int64_t carry = (product[t] + SP_HALF) >> SP_DIGIT;
        product[t] -= carry * 2 * SP_HALF;
        product[t - 1] += carry;
    }
    return n;
}

/* Whole numbers, the digit of the lowest unit first. */

/* Carries what does not fit into a digit; the last digit keeps it. */
static inline void sp_carry(int64_t *digits, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i + 1 < n; i++) {
        int64_t carry = (digits[i] + SP_HALF) >> SP_DIGIT;
        digits[i] -= carry * 2 * SP_HALF;
        digits[i + 1] += carry;
    }
}

/* to += sign * a * b, of digits that are carried; places are those of units: to[0] is of unit `place`. */
static inline void sp_add_product(int64_t *to, const int64_t *a, ptrdiff_t n_a, const int64_t *b, ptrdiff_t n_b, ptrdiff_t shift, int sign) {
    for (ptrdiff_t i = 0; i < n_a; i++)
        if (a[i])
            for (ptrdiff_t j = 0; j < n_b; j++) to[shift + i + j] += sign * a[i] * b[j];
}

/* The number in units of 2^*exponent, from its four highest digits; digits are carried. */
static inline double sp_mantissa(const int64_t *digits, ptrdiff_t n, ptrdiff_t first, long *exponent) {
    ptrdiff_t top = n - 1;
    int64_t four[4];
    while (top >= 0 && !digits[top]) top--;
    *exponent = (long)(SP_DIGIT * (first + top - 3));
    if (top < 0) return 0;
    for (int i = 0; i < 4; i++) four[i] = top - i >= 0 ? digits[top - i] : 0;
    return ldexp((double)(four[0] * 2 * SP_HALF + four[1]), 2 * SP_DIGIT) + (double)(four[2] * 2 * SP_HALF + four[3]);
}

static inline double sp_as_double(const int64_t *digits, ptrdiff_t n, ptrdiff_t first) {
    long exponent;
    double mantissa = sp_mantissa(digits, n, first, &exponent);
    return ldexp(mantissa, (int)exponent);
}

/* The mean, and the sum of squared differences from it, of sums s of weights n and sums q of squares. Digits are carried. */
static inline double sp_mean(const int64_t *n, ptrdiff_t n_n, ptrdiff_t first_n, const int64_t *s, ptrdiff_t n_s, ptrdiff_t first_s) {
    double number = sp_as_double(n, n_n, first_n), mean = sp_as_double(s, n_s, first_s) / number;
    int64_t rest[SP_LONGEST], digits[SP_MOST], low_first[SP_MOST];
    ptrdiff_t first, length;
    int n_m = sp_cut(mean, &first, digits);
    if (!n_m) return mean;
    for (int i = 0; i < n_m; i++) low_first[i] = digits[n_m - 1 - i];
    first -= n_m - 1;
    ptrdiff_t low = first + first_n < first_s ? first + first_n : first_s;
    length = (first + n_m + first_n + n_n > first_s + n_s ? first + n_m + first_n + n_n : first_s + n_s) + 4 - low;
    if (length > SP_LONGEST) return mean;
    memset(rest, 0, length * sizeof *rest);
    for (ptrdiff_t i = 0; i < n_s; i++) rest[first_s - low + i] = s[i];
    sp_add_product(rest, low_first, n_m, n, n_n, first + first_n - low, -1);
    sp_carry(rest, length);
    return mean + sp_as_double(rest, length, low) / number;
}

static inline double sp_squares(const int64_t *n, ptrdiff_t n_n, ptrdiff_t first_n, const int64_t *s, ptrdiff_t n_s, ptrdiff_t first_s,
                                const int64_t *q, ptrdiff_t n_q, ptrdiff_t first_q) {
    int64_t apart[SP_LONGEST];
    ptrdiff_t low = first_n + first_q < 2 * first_s ? first_n + first_q : 2 * first_s;
    ptrdiff_t high = first_n + n_n + first_q + n_q > 2 * (first_s + n_s) ? first_n + n_n + first_q + n_q : 2 * (first_s + n_s);
    ptrdiff_t length = high + 4 - low;
    long exponent, unit;
    if (length > SP_LONGEST) return 0;
    memset(apart, 0, length * sizeof *apart);
    sp_add_product(apart, n, n_n, q, n_q, first_n + first_q - low, 1);
    sp_carry(apart, length);
    sp_add_product(apart, s, n_s, s, n_s, 2 * first_s - low, -1);
    sp_carry(apart, length);
    double squares = sp_mantissa(apart, length, low, &exponent), number = sp_mantissa(n, n_n, first_n, &unit);
    return squares > 0 ? ldexp(squares / number, (int)(exponent - unit)) : 0;
}

#endif
