/* The best label of an example with n scores, and of many such examples one behind the other: two of them at a time. */
#ifndef STRUCTPERC_SEARCH_H
#define STRUCTPERC_SEARCH_H

#include <stddef.h>

#define SP_LATER(a, b) ((a) > (b) ? (a) : (b))

/* 1 + the number of scores whose prefix sum is largest; at ties the smallest. */
static inline int sp_best_prefix(const double *s, ptrdiff_t n) {
    double sum = 0, largest = 0;
    int best = 1;
    for (ptrdiff_t k = 0; k < n; k++) {
        sum += s[k];
        best = SP_LATER(best, (sum > largest) * ((int)k + 2));      /* the last one that beat all before; no branch to mispredict */
        largest = sum > largest ? sum : largest;
    }
    return best;
}

/* The same with ties to the largest; of scores that never rise 1 + the number of those that are not negative. */
static inline int sp_thresholds_reached(const double *s, ptrdiff_t n) {
    double sum = 0, largest = 0, last = n ? s[0] : 0;
    int reached = 0, rises = 0, best = 1;
    for (ptrdiff_t k = 0; k < n; k++) {
        reached += s[k] >= 0;
        rises |= s[k] > last;
        last = s[k];
    }
    if (!rises) return 1 + reached;
    for (ptrdiff_t k = 0; k < n; k++) {
        sum += s[k];
        best = SP_LATER(best, (sum >= largest) * ((int)k + 2));
        largest = sum > largest ? sum : largest;
    }
    return best;
}

/* 1 + the place of the largest score; at ties the first. */
static inline int sp_largest(const double *s, ptrdiff_t n) {
    double largest = s[0];
    int best = 1;
    for (ptrdiff_t k = 1; k < n; k++) {
        best = SP_LATER(best, (s[k] > largest) * ((int)k + 1));
        largest = s[k] > largest ? s[k] : largest;
    }
    return best;
}

/* Of two examples, side by side in registers that every CPU has. */
#if defined(__GNUC__) || defined(__clang__)
typedef double sp_two __attribute__((vector_size(16)));
typedef long long sp_two_places __attribute__((vector_size(16)));
#define SP_TWO(s, n, k) ((sp_two){(s)[k], (s)[(n) + (k)]})
#define SP_CHOOSE(mask, a, b) (((mask) & (sp_two_places)(a)) | (~(mask) & (sp_two_places)(b)))
#define SP_BOTH(k) ((sp_two_places){(k), (k)})
#define SP_WRITE(y, best) ((y)[0] = (int)(best)[0], (y)[1] = (int)(best)[1])

static inline void sp_best_prefix_of_two(const double *s, ptrdiff_t n, int *y) {
    sp_two sum = {0, 0}, largest = sum;
    sp_two_places best = SP_BOTH(1);
    for (ptrdiff_t k = 0; k < n; k++) {
        sum += SP_TWO(s, n, k);
        sp_two_places larger = sum > largest;
        best = SP_CHOOSE(larger, SP_BOTH(k + 2), best);
        largest = (sp_two)SP_CHOOSE(larger, sum, largest);
    }
    SP_WRITE(y, best);
}

static inline void sp_thresholds_reached_of_two(const double *s, ptrdiff_t n, int *y) {
    sp_two last = SP_TWO(s, n, 0);
    sp_two_places best = SP_BOTH(1), rises = SP_BOTH(0);
    for (ptrdiff_t k = 0; k < n; k++) {
        sp_two now = SP_TWO(s, n, k);
        best -= now >= 0;
        rises |= now > last;
        last = now;
    }
    SP_WRITE(y, best);
    if (rises[0] | rises[1])
        for (int r = 0; r < 2; r++) y[r] = sp_thresholds_reached(s + r * n, n);
}

static inline void sp_largest_of_two(const double *s, ptrdiff_t n, int *y) {
    sp_two largest = SP_TWO(s, n, 0);
    sp_two_places best = SP_BOTH(1);
    for (ptrdiff_t k = 1; k < n; k++) {
        sp_two now = SP_TWO(s, n, k);
        sp_two_places larger = now > largest;
        best = SP_CHOOSE(larger, SP_BOTH(k + 1), best);
        largest = (sp_two)SP_CHOOSE(larger, now, largest);
    }
    SP_WRITE(y, best);
}

#define SP_SEARCH_ALL(search)                                                                                          \
    static inline void search##_of_all(const double *s, ptrdiff_t n, ptrdiff_t n_examples, int *y) {                   \
        ptrdiff_t i = 0;                                                                                               \
        for (; i + 2 <= n_examples; i += 2) search##_of_two(s + i * n, n, y + i);                                      \
        for (; i < n_examples; i++) y[i] = search(s + i * n, n);                                                       \
    }
#else
#define SP_SEARCH_ALL(search)                                                                                          \
    static void search##_of_all(const double *s, ptrdiff_t n, ptrdiff_t n_examples, int *y) {                          \
        for (ptrdiff_t i = 0; i < n_examples; i++) y[i] = search(s + i * n, n);                                        \
    }
#endif

SP_SEARCH_ALL(sp_best_prefix)
SP_SEARCH_ALL(sp_thresholds_reached)
SP_SEARCH_ALL(sp_largest)

#endif
