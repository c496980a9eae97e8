/* The first m of n documents in a total order: by level (lowest first) where levels are given, then by score (largest first), then by
 * position (earliest first). Expected O(n + m log m): most documents are compared once with the last of those kept.
 * Typical sizes: n = 10..1000 documents, m = 1..50. */
#ifndef STRUCTPERC_SELECTION_H
#define STRUCTPERC_SELECTION_H

#include <stddef.h>

#define SP_FEW 16                               /* up to here moving documents one by one is faster than parting them */

static inline int sp_before(const double *s, const int *level, int a, int b)
{
    if (level && level[a] != level[b])
        return level[a] < level[b];
    return s[a] > s[b] || (s[a] == s[b] && a < b);
}

/* Moves what comes before a pivot to the front; where the pivot stands then. NaN can make the order wrong, never the memory. */
static ptrdiff_t sp_partition(const double *s, const int *level, int *y, ptrdiff_t low, ptrdiff_t high)
{
    ptrdiff_t middle = low + (high - low) / 2, i, at = low;
    int t, a = y[low], b = y[middle], c = y[high - 1], pivot;
    if (sp_before(s, level, a, b) == sp_before(s, level, b, c))
        i = middle;
    else
        i = sp_before(s, level, a, c) == sp_before(s, level, c, b) ? high - 1 : low;
    pivot = y[i]; y[i] = y[high - 1]; y[high - 1] = pivot;
    for (i = low; i < high - 1; i++)
        if (sp_before(s, level, y[i], pivot)) {
            t = y[i]; y[i] = y[at]; y[at++] = t;
        }
    y[high - 1] = y[at]; y[at] = pivot;
    return at;
}

/* Brings the first m of y[0..n) to the front, in any order. */
static void sp_select(const double *s, const int *level, int *y, ptrdiff_t n, ptrdiff_t m)
{
    ptrdiff_t low = 0, high = n, at;
    while (m < n && high - low > 1) {
        at = sp_partition(s, level, y, low, high);
        if (at == m)
            return;
        if (at < m)
            low = at + 1;
        else
            high = at;
    }
}

static void sp_sort(const double *s, const int *level, int *y, ptrdiff_t low, ptrdiff_t high)
{
    ptrdiff_t at;
    while (high - low > 1) {
        at = sp_partition(s, level, y, low, high);
        if (at - low < high - at - 1) {         /* the shorter part first: the stack stays at O(log n) */
            sp_sort(s, level, y, low, at);
            low = at + 1;
        } else {
            sp_sort(s, level, y, at + 1, high);
            high = at;
        }
    }
}

/* The same for few documents: each goes to its place among those kept. */
static ptrdiff_t sp_first_few(const double *s, const int *level, ptrdiff_t n, ptrdiff_t m, int *y)
{
    ptrdiff_t a, i, kept = 0;
    for (a = 0; a < n; a++) {
        if (kept == m && !sp_before(s, level, (int) a, y[m - 1]))
            continue;
        kept += kept < m;
        for (i = kept - 1; i > 0 && sp_before(s, level, (int) a, y[i - 1]); i--)
            y[i] = y[i - 1];
        y[i] = (int) a;
    }
    return kept;
}

/* Writes the first min(m, n) documents to y, in order, and how many; y has room for n. */
static ptrdiff_t sp_first(const double *s, const int *level, ptrdiff_t n, ptrdiff_t m, int *y)
{
    ptrdiff_t a, most, kept = 0;
    int last = -1;                              /* the m-th of those seen up to the last selection */
    m = m < n ? m : n;
    if (m <= SP_FEW)
        return sp_first_few(s, level, n, m, y);
    most = 2 * m < n ? 2 * m : n;
    for (a = 0; a < n; a++) {
        if (last >= 0 && !sp_before(s, level, (int) a, last))
            continue;
        y[kept++] = (int) a;
        if (kept == most && kept > m) {
            ptrdiff_t i;
            sp_select(s, level, y, kept, m);
            kept = m;
            last = y[0];
            for (i = 1; i < m; i++)
                if (sp_before(s, level, last, y[i]))
                    last = y[i];
        }
    }
    sp_select(s, level, y, kept, m);
    sp_sort(s, level, y, 0, m);
    return m;
}

#endif
