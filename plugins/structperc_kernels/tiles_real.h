/* Included by tiles_set.h once for double and once for float: exponentials and tiles; SP_LENGTH numbers fill one vector register. */

#if SP_WIDTH > 1
typedef SP_REAL SP_T(vec) __attribute__((vector_size(SP_LENGTH * sizeof(SP_REAL)), may_alias));
typedef SP_REAL SP_T(loose) __attribute__((vector_size(SP_LENGTH * sizeof(SP_REAL)), aligned(sizeof(SP_REAL)), may_alias));
typedef SP_WORD SP_T(word) __attribute__((vector_size(SP_LENGTH * sizeof(SP_REAL)), may_alias));
SP_INLINE SP_T(vec) SP_T(load)(const SP_REAL *p) { return *(const SP_T(loose) *)p; }
SP_INLINE void SP_T(store)(SP_REAL *p, SP_T(vec) v) { *(SP_T(loose) *)p = v; }
SP_INLINE SP_T(word) SP_T(word_of)(SP_T(vec) v) { return (SP_T(word))v; }
SP_INLINE SP_T(vec) SP_T(real)(SP_T(word) w) { return (SP_T(vec))w; }
#else
typedef SP_REAL SP_T(vec);
typedef SP_WORD SP_T(word);
SP_INLINE SP_T(vec) SP_T(load)(const SP_REAL *p) { return *p; }
SP_INLINE void SP_T(store)(SP_REAL *p, SP_T(vec) v) { *p = v; }
SP_INLINE SP_T(word) SP_T(word_of)(SP_T(vec) v) { SP_T(word) w; memcpy(&w, &v, sizeof w); return w; }
SP_INLINE SP_T(vec) SP_T(real)(SP_T(word) w) { SP_T(vec) v; memcpy(&v, &w, sizeof v); return v; }
#endif
SP_INLINE SP_T(vec) SP_T(all)(SP_REAL x) { return (SP_T(vec)){0} + x; }
SP_INLINE SP_T(vec) SP_T(absolute)(SP_T(vec) v) { return SP_T(real)(SP_T(word_of)(v) & (SP_WORD)((SP_WORD)-1 >> 1)); }

/* Numbers as doubles. */
SP_INLINE SPT(vec_f64) SP_T(widened)(const SP_REAL *p) {
#if SP_NARROW && SP_WIDTH > 1
    typedef float narrow __attribute__((vector_size(SP_WIDTH * sizeof(float)), aligned(sizeof(float)), may_alias));
    return __builtin_convertvector(*(const narrow *)p, SPT(vec_f64));
#elif SP_NARROW
    return *p;
#else
    return SP_T(load)(p);
#endif
}

#if !SP_NARROW
/* Ones where number >= limit. */
SP_INLINE SP_T(word) SPT(reaches)(double number, SP_T(vec) limit) {
#if SP_WIDTH > 1
    return (SP_T(word))(SP_T(all)(number) >= limit);
#else
    return number >= limit ? (SP_WORD)-1 : 0;
#endif
}
#endif

/* 2^x for x <= 0, less than 2 units in the last place off; 0 where even the smallest positive number is too large; NaN stays.
 * x = k + r with a whole k, and 2^r = 1 + p; 2^k is made from k as exponent, 64 too high lest it fall below the normal numbers, and put
 * right at the end, when the result is rounded as one instruction of some sets rounds it. */
SP_INLINE SP_T(vec) SP_T(power)(SP_T(vec) x) {
    SP_T(vec) clear = SP_MAX(SP_T(all)(SP_LOWEST), x), k, r, square, p;      /* x where x is NaN */
#ifdef SP_SCALE
    k = SP_ROUND(clear, 0);
#else
    SP_T(vec) shifted = clear + SP_SHIFT;                           /* the lowest bits are k */
    k = shifted - SP_SHIFT;
#endif
    r = clear - k;
    square = r * r;
#if SP_NARROW
    const float *c = sp_power_terms_f32;
    p = (c[0] + r * c[1]) + square * ((c[2] + r * c[3]) + square * (c[4] + r * c[5]));
#else
    const double *c = sp_power_terms_f64;
    SP_T(vec) fourth = square * square;
    p = ((c[0] + r * c[1]) + square * (c[2] + r * c[3]))
        + fourth * (((c[4] + r * c[5]) + square * (c[6] + r * c[7])) + fourth * ((c[8] + r * c[9]) + square * c[10]));
#endif
    p = r * p;
#ifdef SP_SCALE
    return SP_SCALE(p + (SP_REAL)1, k);
#else
    SP_T(vec) scale = SP_T(real)((SP_T(word_of)(shifted) + (SP_WORD)(SP_BIAS + 64)) << SP_FRACTION);
    return (scale + scale * p) * (SP_REAL)0x1p-64;
#endif
}

static void SP_T(powers)(const SP_REAL *x, ptrdiff_t n, SP_REAL *out) {
    for (ptrdiff_t i = 0; i < n; i += SP_LENGTH) SP_T(store)(out + i, SP_T(power)(SP_T(load)(x + i)));
}

/* ---- features j .. end - 1 of the dot products, or L1 distances, of `rows` dense rows and sixteen lanes ----
 * In registers for `parts` * SP_LENGTH lanes at a time; begins with 0 where j is 0, else with what stands in `out`. */

enum { SP_T(parts) = SP_LANES / SP_LENGTH > 1 ? 2 : 1 };

SP_INLINE void SP_T(compare)(const SP_REAL *panel, ptrdiff_t j, ptrdiff_t end, const SP_REAL *const *z, SP_REAL *out, const int rows,
                             const int absolute) {
    const int parts = SP_T(parts);
    for (ptrdiff_t lane = 0; lane < SP_LANES; lane += parts * SP_LENGTH) {
        SP_T(vec) t[SP_TILE_ROWS][2], v[2];
        SP_UNROLL
        for (int i = 0; i < rows; i++)
            SP_UNROLL
            for (int p = 0; p < parts; p++)
                t[i][p] = j ? SP_T(load)(out + i * SP_LANES + lane + p * SP_LENGTH) : SP_T(all)(0);
        for (ptrdiff_t f = j; f < end; f++) {
            SP_UNROLL
            for (int p = 0; p < parts; p++) v[p] = SP_T(load)(panel + f * SP_LANES + lane + p * SP_LENGTH);
            SP_UNROLL
            for (int i = 0; i < rows; i++) {
                SP_REAL e = z[i][f];
                SP_UNROLL
                for (int p = 0; p < parts; p++)
                    if (absolute) t[i][p] += SP_T(absolute)(v[p] - e);
                    else t[i][p] += v[p] * e;
            }
        }
        SP_UNROLL
        for (int i = 0; i < rows; i++)
            SP_UNROLL
            for (int p = 0; p < parts; p++) SP_T(store)(out + i * SP_LANES + lane + p * SP_LENGTH, t[i][p]);
    }
}

#define SP_COMPARE(name, rows, absolute)                                                                                            \
    SP_APART void SP_T(name)(const SP_REAL *panel, ptrdiff_t j, ptrdiff_t end, const SP_REAL *const *z, SP_REAL *out) {      \
        SP_T(compare)(panel, j, end, z, out, rows, absolute);                                                                       \
    }
SP_COMPARE(dots_many, SP_TILE_ROWS, 0)
SP_COMPARE(dots_one, 1, 0)
SP_COMPARE(distances_many, SP_TILE_ROWS, 1)
SP_COMPARE(distances_one, 1, 1)
#undef SP_COMPARE

/* What entry e of a sparse row adds to its dot products, or to what its L1 distances differ by from the queries' norms. */
#define SP_ENTRY(i, e)                                                                                                              \
    {                                                                                                                               \
        const SP_REAL *at = panel + (ptrdiff_t)q->place[index[i][e]] * SP_LANES + lane, here = value[i][e];                         \
        SP_UNROLL                                                                                                                   \
        for (int p = 0; p < parts; p++) {                                                                                           \
            SP_T(vec) v = SP_T(load)(at + p * SP_LENGTH);                                                                           \
            if (absolute) t[i][p] += SP_T(absolute)(v - here) - SP_T(absolute)(v);                                                  \
            else t[i][p] += v * here;                                                                                               \
        }                                                                                                                           \
    }

/* Dot products or L1 distances of `rows` sparse rows, side by side as far as the shorter one goes. */
SP_INLINE void SP_T(compare_sparse)(const sp_slots *z, const sp_panel *q, const int *slots, SP_REAL *out, const int rows,
                                    const int absolute) {
    const SP_REAL *value[2], *panel = (const SP_REAL *)q->panel;
    const int32_t *index[2];
    const int parts = SP_T(parts);
    ptrdiff_t n[2], both;
    for (int i = 0; i < rows; i++) {
        value[i] = (const SP_REAL *)z->values + z->begin[slots[i]];
        index[i] = z->indices + z->begin[slots[i]];
        n[i] = z->length[slots[i]];
    }
    both = rows == 1 ? 0 : n[0] < n[1] ? n[0] : n[1];
    for (ptrdiff_t lane = 0; lane < SP_LANES; lane += parts * SP_LENGTH) {
        SP_T(vec) t[2][2];
        SP_UNROLL
        for (int i = 0; i < rows; i++)
            SP_UNROLL
            for (int p = 0; p < parts; p++) t[i][p] = SP_T(all)(0);
        for (ptrdiff_t e = 0; e < both; e++) {
            SP_ENTRY(0, e)
            SP_ENTRY(1, e)
        }
        SP_UNROLL
        for (int i = 0; i < rows; i++) {
            for (ptrdiff_t e = both; e < n[i]; e++) SP_ENTRY(i, e)
            SP_UNROLL
            for (int p = 0; p < parts; p++) {
                if (absolute) t[i][p] = SP_MAX(SP_T(all)(0), SP_T(load)((const SP_REAL *)q->norms + lane + p * SP_LENGTH) + t[i][p]);
                SP_T(store)(out + i * SP_LANES + lane + p * SP_LENGTH, t[i][p]);
            }
        }
    }
}
#undef SP_ENTRY

/* ---- from dot products and L1 distances to kernel values ---- */

/* In place: squared distances from dot products and norms, those of the slots and those of the lanes; then powers or roots. */
SP_INLINE void SP_T(turn)(const sp_kernel *k, SP_REAL *found, const SP_REAL *own, const SP_REAL *norms, const int *slots, ptrdiff_t n,
                          const int squared, const int root) {
    const SP_REAL rate = (SP_REAL)(k->gamma * -1.4426950408889634);          /* exp(-gamma t) = 2^(rate t) */
    for (ptrdiff_t i = 0; i < n; i++)
        SP_UNROLL
        for (int lane = 0; lane < SP_LANES; lane += SP_LENGTH) {
            SP_REAL *at = found + i * SP_LANES + lane;
            SP_T(vec) t = SP_T(load)(at);
            if (squared) t = SP_MAX(SP_T(all)(0), (SP_T(load)(norms + lane) + own[slots[i]]) - (t + t));
            SP_T(store)(at, root ? SP_SQRT(t) : SP_T(power)(t * rate));
        }
}

/* The rest, in doubles. */
SP_INLINE void SP_T(deliver)(const sp_kernel *k, const SP_REAL *found, ptrdiff_t n, double *values) {
    const int kind = k->kind;
    if (!SP_NARROW && (kind == SP_LINEAR || kind == SP_RBF || kind == SP_LAPLACIAN)) return;        /* they stand there already */
    for (ptrdiff_t at = 0; at < n * SP_LANES; at += SP_WIDTH) {
        SPT(vec_f64) t = SP_T(widened)(found + at);
        if (kind == SP_POLYNOMIAL) {
            SPT(vec_f64) power = t * k->gamma + k->coef0;
            int left = k->degree;
            for (t = SPT(all_f64)(1); left; left >>= 1, power *= power)
                if (left & 1) t *= power;
        } else if (kind == SP_PERCEPTRON || kind == SP_STUMP) t = k->offset - t;
        SPT(store_f64)(values + at, t);
    }
}

SP_APART void SP_T(finish)(const sp_kernel *k, SP_REAL *found, const SP_REAL *own, const SP_REAL *norms, const int *slots,
                                  ptrdiff_t n, double *values) {
    if (k->kind == SP_RBF) SP_T(turn)(k, found, own, norms, slots, n, 1, 0);
    else if (k->kind == SP_PERCEPTRON) SP_T(turn)(k, found, own, norms, slots, n, 1, 1);
    else if (k->kind == SP_LAPLACIAN) SP_T(turn)(k, found, own, norms, slots, n, 0, 0);
    SP_T(deliver)(k, found, n, values);
}

/* ---- tiles: so many slots at a time that what is found stays in the first-level cache ---- */

static void SP_T(dense)(const sp_kernel *k, const sp_slots *z, const sp_panel *q, const int *slots, ptrdiff_t n, double *values) {
    const SP_REAL *row[SP_TILE_SLOTS], *panel = (const SP_REAL *)q->panel;
    const int absolute = sp_is_absolute(k);
    ptrdiff_t here, i, j, d = z->n_features;
#if SP_NARROW
    SP_REAL found[SP_TILE_SLOTS * SP_LANES];
#endif
    for (; n > 0; n -= here, slots += here, values += here * SP_LANES) {
#if !SP_NARROW
        SP_REAL *found = values;
#endif
        here = n < SP_TILE_SLOTS ? n : SP_TILE_SLOTS;
        for (i = 0; i < here; i++) row[i] = (const SP_REAL *)z->values + slots[i] * d;
        for (j = 0; j < d; j += SP_TILE_FEATURES) {
            ptrdiff_t end = j + SP_TILE_FEATURES < d ? j + SP_TILE_FEATURES : d;
            for (i = 0; i + SP_TILE_ROWS <= here; i += SP_TILE_ROWS)
                (absolute ? SP_T(distances_many) : SP_T(dots_many))(panel, j, end, row + i, found + i * SP_LANES);
            for (; i < here; i++) (absolute ? SP_T(distances_one) : SP_T(dots_one))(panel, j, end, row + i, found + i * SP_LANES);
        }
        SP_T(finish)(k, found, (const SP_REAL *)z->norms, (const SP_REAL *)q->norms, slots, here, values);
    }
}

static void SP_T(sparse)(const sp_kernel *k, const sp_slots *z, const sp_panel *q, const int *slots, ptrdiff_t n, double *values) {
    const int absolute = sp_is_absolute(k);
    ptrdiff_t here, i;
#if SP_NARROW
    SP_REAL found[SP_TILE_SLOTS * SP_LANES];
#endif
    for (; n > 0; n -= here, slots += here, values += here * SP_LANES) {
#if !SP_NARROW
        SP_REAL *found = values;
#endif
        here = n < SP_TILE_SLOTS ? n : SP_TILE_SLOTS;
        for (i = 0; i + 2 <= here; i += 2)
            if (absolute) SP_T(compare_sparse)(z, q, slots + i, found + i * SP_LANES, 2, 1);
            else SP_T(compare_sparse)(z, q, slots + i, found + i * SP_LANES, 2, 0);
        if (i < here) {
            if (absolute) SP_T(compare_sparse)(z, q, slots + i, found + i * SP_LANES, 1, 1);
            else SP_T(compare_sparse)(z, q, slots + i, found + i * SP_LANES, 1, 0);
        }
        SP_T(finish)(k, found, (const SP_REAL *)z->norms, (const SP_REAL *)q->norms, slots, here, values);
    }
}
