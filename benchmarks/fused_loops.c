/* The roof: what one gets by writing each training loop by hand, everything fused into one function.
 *
 * Averaged perceptrons only, ranks 0..K for K thresholds or directions:
 *   CuSum   score of rank p = sum_{k<p} (w_k . x + b_k); the lowest best rank is predicted; a mistake adds or subtracts x
 *           in every direction between the predicted and the right rank.
 *   PRank   p = number of leading thresholds with w . x >= b_k; a mistake moves every threshold between the two ranks by one, and w
 *           by as many copies of x.
 * W holds the weights, U the sum behind their mean (mean = W - U / counter). Every function returns the mistakes of one epoch.
 *
 * ROW is the type of X, REAL that of weights and sums. The order of visiting is `order`, or file order when that is NULL; in a given
 * order the row that is AHEAD visits away is asked for early. CSR keeps a feature's weights and sums side by side in one cache
 * line, and asks for those of the next example.
 */
#include <stddef.h>
#include <stdint.h>

#ifndef REAL
#define REAL double
#endif
#ifndef ROW
#define ROW REAL
#endif
#define AHEAD 16
#define LINE 64
#define PREFETCHING static inline __attribute__((always_inline))    /* gcc takes a call that only prefetches for one without effect */

typedef REAL real;
typedef ROW row;

/* bytes of the widest register that the target really has: gcc sends wider vector types through the stack */
#if defined(__AVX512F__)
#define WIDTH 64
#elif defined(__AVX__)
#define WIDTH 32
#else
#define WIDTH 16
#endif
#define LANES ((int)(WIDTH / sizeof(real)))
typedef real vec __attribute__((vector_size(WIDTH), aligned(sizeof(real)), may_alias));
typedef row rowvec __attribute__((vector_size(WIDTH / sizeof(real) * sizeof(row)), aligned(sizeof(row)), may_alias));

static inline vec weights_at(const real *w) { return *(const vec *)w; }
static inline vec row_at(const row *x) { return __builtin_convertvector(*(const rowvec *)x, vec); }
static inline real sum_lanes(vec v) { real s = 0; for (int i = 0; i < LANES; i++) s += v[i]; return s; }

static inline real dot1(const real *restrict w, const row *restrict x, int d) {
    vec a = {0}, b = {0}, c = {0}, e = {0};
    int j = 0;
    for (; j + 4 * LANES <= d; j += 4 * LANES) {
        a += weights_at(w + j) * row_at(x + j);
        b += weights_at(w + j + LANES) * row_at(x + j + LANES);
        c += weights_at(w + j + 2 * LANES) * row_at(x + j + 2 * LANES);
        e += weights_at(w + j + 3 * LANES) * row_at(x + j + 3 * LANES);
    }
    for (; j + LANES <= d; j += LANES) a += weights_at(w + j) * row_at(x + j);
    real total = sum_lanes((a + b) + (c + e));
    for (; j < d; j++) total += w[j] * x[j];
    return total;
}

/* four dot products in one pass over x */
static inline void dot4(const real *restrict W, const row *restrict x, int d, real *s) {
    vec a = {0}, b = {0}, c = {0}, e = {0};
    const real *w0 = W, *w1 = W + d, *w2 = W + 2 * (size_t)d, *w3 = W + 3 * (size_t)d;
    int j = 0;
    for (; j + LANES <= d; j += LANES) {
        vec v = row_at(x + j);
        a += weights_at(w0 + j) * v;
        b += weights_at(w1 + j) * v;
        c += weights_at(w2 + j) * v;
        e += weights_at(w3 + j) * v;
    }
    real ta = sum_lanes(a), tb = sum_lanes(b), tc = sum_lanes(c), te = sum_lanes(e);
    for (; j < d; j++) { real v = x[j]; ta += w0[j] * v; tb += w1[j] * v; tc += w2[j] * v; te += w3[j] * v; }
    s[0] = ta; s[1] = tb; s[2] = tc; s[3] = te;
}

static inline void add(real *restrict w, real *restrict u, real to_w, real to_u, const row *restrict x, int d) {
    for (int j = 0; j < d; j++) { real v = x[j]; w[j] += to_w * v; u[j] += to_u * v; }
}

/* into the second cache: many lines at once would block the first one's few slots for lines under way */
PREFETCHING void ask_for(const void *from, size_t bytes) {
    for (size_t j = 0; j < bytes; j += LINE) __builtin_prefetch((const char *)from + j, 0, 2);
    __builtin_prefetch((const char *)from + bytes - 1, 0, 2);
}

static inline int best_prefix(const real *s, const real *b, int K) {
    real run = 0, best = 0;
    int p = 0;
    for (int k = 0; k < K; k++) { run += s[k] + b[k]; if (run > best) { best = run; p = k + 1; } }
    return p;
}

int64_t cusum_dense(const row *X, const int32_t *y, const int64_t *order, int64_t n, int d, int K,
                    real *W, real *b, real *U, real *ub, real *counter) {
    int64_t mistakes = 0;
    real c = *counter, s[64];
    for (int64_t t = 0; t < n; t++, c += 1) {
        int64_t i = order ? order[t] : t;
        const row *x = X + (size_t)i * d;
        if (order && t + AHEAD < n) {
            ask_for(X + (size_t)order[t + AHEAD] * d, d * sizeof(row));
            __builtin_prefetch(y + order[t + AHEAD]);
        }
        int k = 0;
        for (; k + 4 <= K; k += 4) dot4(W + (size_t)k * d, x, d, s + k);
        for (; k < K; k++) s[k] = dot1(W + (size_t)k * d, x, d);
        int p = best_prefix(s, b, K), right = y[i];
        if (p != right) {
            mistakes++;
            int low = p < right ? p : right, high = p < right ? right : p;
            real a = right > p ? 1 : -1;
            for (k = low; k < high; k++) {
                add(W + (size_t)k * d, U + (size_t)k * d, a, a * c, x, d);
                b[k] += a; ub[k] += a * c;
            }
        }
    }
    *counter = c;
    return mistakes;
}

/* the thresholds between the two ranks; returns how many copies of x go into w */
static inline real move_thresholds(int p, int right, real c, real *b, real *ub) {
    int low = p < right ? p : right, high = p < right ? right : p;
    real a = right > p ? 1 : -1;
    for (int k = low; k < high; k++) { b[k] -= a; ub[k] -= a * c; }
    return right - p;
}

int64_t prank_dense(const row *X, const int32_t *y, const int64_t *order, int64_t n, int d, int K,
                    real *w, real *b, real *u, real *ub, real *counter) {
    int64_t mistakes = 0;
    real c = *counter;
    for (int64_t t = 0; t < n; t++, c += 1) {
        int64_t i = order ? order[t] : t;
        const row *x = X + (size_t)i * d;
        if (order && t + AHEAD < n) {
            ask_for(X + (size_t)order[t + AHEAD] * d, d * sizeof(row));
            __builtin_prefetch(y + order[t + AHEAD]);
        }
        real s = dot1(w, x, d);
        int p = 0, right = y[i];
        while (p < K && s >= b[p]) p++;
        if (p != right) {
            mistakes++;
            real copies = move_thresholds(p, right, c, b, ub);
            add(w, u, copies, copies * c, x, d);
        }
    }
    *counter = c;
    return mistakes;
}

/* asks early for the values and indices of the row AHEAD visits away, when rows come in a given order */
PREFETCHING void ask_for_csr_row(const row *val, const int32_t *ind, const int64_t *ptr, const int32_t *y, const int64_t *order,
                                 int64_t t, int64_t n) {
    if (!order || t + AHEAD >= n) return;
    int64_t i = order[t + AHEAD], from = ptr[i], many = ptr[i + 1] - from;
    ask_for(val + from, many * sizeof(row));
    ask_for(ind + from, many * sizeof(int32_t));
    __builtin_prefetch(y + i);
}

/* A[feature] = four weights and the four sums behind their means; K <= 4 */
int64_t cusum_csr(const row *val, const int32_t *ind, const int64_t *ptr, const int32_t *y, const int64_t *order, int64_t n, int K,
                  real *A, real *b, real *ub, real *counter) {
    int64_t mistakes = 0;
    real c = *counter;
    for (int64_t t = 0; t < n; t++, c += 1) {
        int64_t i = order ? order[t] : t, from = ptr[i], to = ptr[i + 1];
        real s[4] = {0};
        ask_for_csr_row(val, ind, ptr, y, order, t, n);
        if (t + 1 < n) {
            int64_t next = order ? order[t + 1] : t + 1;
            for (int64_t q = ptr[next]; q < ptr[next + 1]; q++) __builtin_prefetch(A + (size_t)ind[q] * 8, 0, 2);
        }
        for (int64_t q = from; q < to; q++) {
            const real *w = A + (size_t)ind[q] * 8;
            real v = val[q];
            for (int k = 0; k < 4; k++) s[k] += w[k] * v;
        }
        int p = best_prefix(s, b, K), right = y[i];
        if (p != right) {
            mistakes++;
            int low = p < right ? p : right, high = p < right ? right : p;
            real a = right > p ? 1 : -1, g[8];
            for (int k = 0; k < 4; k++) { g[k] = k >= low && k < high ? a : 0; g[k + 4] = g[k] * c; }
            for (int64_t q = from; q < to; q++) {
                real *w = A + (size_t)ind[q] * 8;
                real v = val[q];
                for (int k = 0; k < 8; k++) w[k] += g[k] * v;
            }
            for (int k = low; k < high; k++) { b[k] += a; ub[k] += a * c; }
        }
    }
    *counter = c;
    return mistakes;
}

/* A[feature] = the weight and the sum behind its mean */
int64_t prank_csr(const row *val, const int32_t *ind, const int64_t *ptr, const int32_t *y, const int64_t *order, int64_t n, int K,
                  real *A, real *b, real *ub, real *counter) {
    int64_t mistakes = 0;
    real c = *counter;
    for (int64_t t = 0; t < n; t++, c += 1) {
        int64_t i = order ? order[t] : t, from = ptr[i], to = ptr[i + 1];
        real s = 0;
        ask_for_csr_row(val, ind, ptr, y, order, t, n);
        if (t + 1 < n) {
            int64_t next = order ? order[t + 1] : t + 1;
            for (int64_t q = ptr[next]; q < ptr[next + 1]; q++) __builtin_prefetch(A + (size_t)ind[q] * 2, 0, 2);
        }
        for (int64_t q = from; q < to; q++) s += A[(size_t)ind[q] * 2] * val[q];
        int p = 0, right = y[i];
        while (p < K && s >= b[p]) p++;
        if (p != right) {
            mistakes++;
            real copies = move_thresholds(p, right, c, b, ub), sums = copies * c;
            for (int64_t q = from; q < to; q++) {
                real *w = A + (size_t)ind[q] * 2;
                w[0] += copies * val[q];
                w[1] += sums * val[q];
            }
        }
    }
    *counter = c;
    return mistakes;
}

/* ---- merely reading the rows ---- */

static inline vec add_up(const row *x, int64_t d, vec total, real *rest) {
    vec a = {0}, b = {0}, c = {0};
    int64_t j = 0;
    for (; j + 4 * LANES <= d; j += 4 * LANES) {
        total += row_at(x + j);
        a += row_at(x + j + LANES);
        b += row_at(x + j + 2 * LANES);
        c += row_at(x + j + 3 * LANES);
    }
    for (; j + LANES <= d; j += LANES) total += row_at(x + j);
    for (; j < d; j++) *rest += x[j];
    return total + (a + b) + c;
}

double read_dense(const row *X, const int64_t *order, int64_t n, int d) {
    vec total = {0};
    real rest = 0;
    if (!order) return sum_lanes(add_up(X, n * d, total, &rest)) + rest;
    for (int64_t t = 0; t < n; t++) {
        if (t + AHEAD < n) ask_for(X + (size_t)order[t + AHEAD] * d, d * sizeof(row));
        total = add_up(X + (size_t)order[t] * d, d, total, &rest);
    }
    return sum_lanes(total) + rest;
}

double read_csr(const row *val, const int32_t *ind, const int64_t *ptr, const int32_t *y, const int64_t *order, int64_t n) {
    double total = 0;
    for (int64_t t = 0; t < n; t++) {
        int64_t i = order ? order[t] : t;
        int32_t indices = 0;
        real values = 0;
        ask_for_csr_row(val, ind, ptr, y, order, t, n);
        for (int64_t q = ptr[i]; q < ptr[i + 1]; q++) { values += val[q]; indices ^= ind[q]; }
        total += values + indices;
    }
    return total;
}

/* ---- a new order: Fisher-Yates with splitmix64, as any shuffled epoch needs ---- */

void draw_order(int64_t *order, int64_t n, uint64_t *state) {
    uint64_t z, seed = *state;
    for (int64_t i = n - 1; i > 0; i--) {
        z = (seed += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        z ^= z >> 31;
        int64_t j = (int64_t)(((unsigned __int128)z * (uint64_t)(i + 1)) >> 64), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    *state = seed;
}
