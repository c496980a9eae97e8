/* The largest entry of each column of a matrix without its diagonal, and the row that it stands in: one pass over the rows.
 *
 * Typical sizes: 10 to 200 columns; 0.7 ns per entry.  Eight columns at a time stay in registers; the last registers may begin before the
 * end of the ones before.
 */
#ifndef STRUCTPERC_ROW_MAXIMA_H
#define STRUCTPERC_ROW_MAXIMA_H

#include <math.h>
#include <stddef.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define SP_LANES 2
typedef double sp_lanes __attribute__((vector_size(16)));
typedef long long sp_lanes_mask __attribute__((vector_size(16)));
#define SP_ALWAYS static inline __attribute__((always_inline))
SP_ALWAYS sp_lanes sp_all(double x) { return (sp_lanes){x, x}; }
SP_ALWAYS sp_lanes sp_count(double x) { return (sp_lanes){x, x + 1}; }
SP_ALWAYS sp_lanes sp_where(sp_lanes_mask mask, sp_lanes x, sp_lanes y) {
    return (sp_lanes)(((sp_lanes_mask)x & mask) | ((sp_lanes_mask)y & ~mask));
}
SP_ALWAYS sp_lanes_mask sp_refused(sp_lanes x) { return ~(sp_lanes_mask)(x < sp_all(INFINITY)); }
SP_ALWAYS int sp_any(sp_lanes_mask mask) { return (mask[0] | mask[1]) != 0; }
#else
#define SP_LANES 1
typedef double sp_lanes;
typedef long long sp_lanes_mask;
#define SP_ALWAYS static __inline
SP_ALWAYS sp_lanes sp_all(double x) { return x; }
SP_ALWAYS sp_lanes sp_count(double x) { return x; }
SP_ALWAYS sp_lanes sp_where(sp_lanes_mask mask, sp_lanes x, sp_lanes y) { return mask ? x : y; }
SP_ALWAYS sp_lanes_mask sp_refused(sp_lanes x) { return !(x < INFINITY); }
SP_ALWAYS int sp_any(sp_lanes_mask mask) { return mask != 0; }
#endif

/* Columns first .. first + registers * SP_LANES - 1. */
SP_ALWAYS int sp_block_maxima(const double *a, ptrdiff_t pitch, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first, double *largest,
                              double *place, const int registers) {
    sp_lanes best[4], row[4], column[4], at[4], here;
    sp_lanes_mask larger, refused = sp_refused(sp_all(0));
    const ptrdiff_t width = registers * SP_LANES;
    for (int r = 0; r < registers; r++)
        best[r] = sp_all(-INFINITY), row[r] = sp_all(0), column[r] = sp_count((double)(first + r * SP_LANES));
    for (ptrdiff_t h = begin; h < end; h++) {
        here = sp_all((double)h);
        for (int r = 0; r < registers; r++) memcpy(&at[r], a + h * pitch + first + r * SP_LANES, sizeof(sp_lanes));
        if (h >= first && h < first + width)
            for (int r = 0; r < registers; r++) at[r] = sp_where((sp_lanes_mask)(column[r] == here), sp_all(-INFINITY), at[r]);
        for (int r = 0; r < registers; r++) {
            larger = (sp_lanes_mask)(at[r] > best[r]);
            refused |= sp_refused(at[r]);
            best[r] = sp_where(larger, at[r], best[r]);
            row[r] = sp_where(larger, here, row[r]);
        }
    }
    memcpy(largest + first, best, sizeof(double) * width);
    memcpy(place + first, row, sizeof(double) * width);
    return sp_any(refused);
}

/* From column `first` on, as many columns as go at once before `end`: writes their largest entries among the rows begin .. end - 1, and
 * these rows, or 0 where all are -inf.  *refused: set where an entry is NaN or +inf.  Returns the next column. */
static ptrdiff_t sp_row_maxima(const double *a, ptrdiff_t pitch, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first, double *largest,
                               double *place, int *refused) {
    const ptrdiff_t left = end - first, done = first - begin;
    if (left >= 4 * SP_LANES) {
        *refused |= sp_block_maxima(a, pitch, begin, end, first, largest, place, 4);
        return first + 4 * SP_LANES;
    }
    if (left > SP_LANES && left + done >= 2 * SP_LANES) {
        if (left < 2 * SP_LANES) first = end - 2 * SP_LANES;
        *refused |= sp_block_maxima(a, pitch, begin, end, first, largest, place, 2);
        return first + 2 * SP_LANES;
    }
    if (left + done >= SP_LANES) {
        if (left < SP_LANES) first = end - SP_LANES;
        *refused |= sp_block_maxima(a, pitch, begin, end, first, largest, place, 1);
        return first + SP_LANES;
    }
    largest[first] = -INFINITY, place[first] = 0;
    return first + 1;
}

/* x[i] = max(x[i], a[i * pitch] - y), or a[i * pitch] - y alone. */
static void sp_reduced(const double *a, ptrdiff_t pitch, double y, double *x, ptrdiff_t n, int more) {
    if (!more)
        for (ptrdiff_t i = 0; i < n; i++) x[i] = a[i * pitch] - y;
    else
        for (ptrdiff_t i = 0; i < n; i++) {
            const double here = a[i * pitch] - y, there = x[i];
            x[i] = here > there ? here : there;
        }
}

#endif
