"""Bipartite matchings of largest score: perfect or partial, rectangular, over all pairs or over those listed; prices and k best.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count, islice

import numpy as np
from scipy.optimize import linear_sum_assignment

from structperc.basics.arguments import flag, how_many, item_codes, real_array, whole_array
from structperc.basics.errors import DataError, listing, shortened
from structperc.basics.plain_arrays import table_width
from structperc.solvers.clusterings import connected
from structperc.solvers.ranked_matchings import RankedMatchings

MOST_NAMED = 5              # vertices in a message
TABLE = ("n_rows", "n_columns")
LARGEST_EXPONENT = 1000     # of costs, so that sums of a few paths do not overflow


def max_matching(scores, perfect=False):
    """Maximum-weight bipartite matching: the column that each row is matched with (assignment problem).

    Ties: scipy chooses; repeated calls give the same matching. Cost: O(n^3), by scipy's `linear_sum_assignment`.
    Raises `DataError` if a score is NaN or +inf, or no perfect matching exists. The message names rows and the columns left for them.
    Returns an int array of shape (n,). A column for each row; -1: unmatched.

    Parameters
    ----------
    scores : array-like of shape (n, m)
        Score of each pair of a row and a column; -inf forbids a pair.
    perfect : bool, default False
        True: min(n, m) pairs. False: any disjoint pairs; pairs of score 0 or less are left out.

    See Also
    --------
    match_pairs : few pairs of many items.
    k_best_matchings : the k best matchings.
    matching_prices : a proof that a matching is optimal.

    References
    ----------
    D. F. Crouse: On implementing 2D rectangular assignment algorithms. IEEE Transactions on Aerospace and Electronic Systems 52, pages
    1679-1696, 2016.

    Examples
    --------
    >>> from structperc.solvers.matchings import max_matching
    >>> max_matching([[3, 2, 1], [3, 1, 0]], perfect=True).tolist()
    [1, 0]
    >>> max_matching([[3, -2], [2, -1]]).tolist()
    [0, -1]
    """
    s, perfect = real_array(scores, "scores", TABLE), flag(perfect, "perfect")
    partners = np.full(len(s), -1)
    if perfect:
        try:
            rows, columns = linear_sum_assignment(s, maximize=True)
        except ValueError:
            raise DataError(f"no perfect matching exists: {crowded(s)}.") from None
    else:
        rows, columns = linear_sum_assignment(np.maximum(s, 0.0), maximize=True)
        worth = s[rows, columns] > 0
        rows, columns = rows[worth], columns[worth]
    partners[rows] = columns
    return partners


def match_pairs(left, right, scores, perfect=False):
    """Maximum-weight bipartite matching of listed pairs; all other pairs are forbidden.

    Cost: connected components are solved separately, so many small ones are fast. Pairs that list all cells of a table row by row, with
    rising items, cost twice `max_matching`. Ties are those of `max_matching`.
    Raises `DataError` if a score is NaN or +inf, a pair is listed twice, or no perfect matching exists.
    Returns an int array. Rising numbers of the chosen pairs. See also `max_matching` (a full matrix of scores).

    Parameters
    ----------
    left, right : array-like of shape (n_pairs,)
        The two items of each pair, by labels of any type. List a pair once.
    scores : array-like of shape (n_pairs,)
        Score of each pair; -inf forbids a pair.
    perfect : bool, default False
        True: every item of the smaller side is matched. False: pairs of score 0 or less are left out.

    Examples
    --------
    >>> from structperc.solvers.matchings import match_pairs
    >>> match_pairs([7, 7, 9], [1, 2, 1], [0.5, 0.4, 0.3]).tolist()
    [1, 2]
    """
    m = table_width(left, right)
    if m:
        s, perfect = real_array(scores, "scores", left.shape), flag(perfect, "perfect")
        if not perfect or s.min() > -np.inf:            # else components, and an error that names items
            partners = max_matching(s.reshape(-1, m), perfect)
            rows = np.flatnonzero(partners >= 0)
            return rows * m + partners[rows]
    left_names, left = item_codes(left, "left", ("n_pairs",))
    right_names, right = item_codes(right, "right", left.shape)
    s, perfect = real_array(scores, "scores", left.shape), flag(perfect, "perfect")
    n, m = len(left_names), len(right_names)
    codes, first = np.unique(left * max(m, 1) + right, return_index=True)
    if len(codes) < len(s):
        twice = int(np.setdiff1d(np.arange(len(s)), first)[0])
        raise DataError(f"pair {twice}, of {left_names[left[twice]]} and {right_names[right[twice]]}, is listed twice.")
    usable = np.flatnonzero(s > (-np.inf if perfect else 0.0))
    part = connected(n + m, left[usable], n + right[usable])
    if perfect:
        wide = n <= m
        alone = np.setdiff1d(np.arange(n), left[usable]) if wide else np.setdiff1d(np.arange(m), right[usable])
        if len(alone):
            name = (left_names if wide else right_names)[alone[0]]
            raise DataError(f"no perfect matching exists: no pair is left for the {'left' if wide else 'right'} item {name}.")
    order = usable[np.argsort(part[left[usable]], kind="stable")]
    chosen = []
    for pairs in np.split(order, np.flatnonzero(np.diff(part[left[order]])) + 1):
        if len(pairs) <= 1:
            chosen.append(pairs)
            continue
        rows, i = np.unique(left[pairs], return_inverse=True)
        columns, j = np.unique(right[pairs], return_inverse=True)
        table, which = np.full((len(rows), len(columns)), -np.inf), np.full((len(rows), len(columns)), -1)
        table[i, j], which[i, j] = s[pairs], pairs
        if perfect and (len(rows) > len(columns) if wide else len(rows) < len(columns)):
            raise DataError(f"no perfect matching exists: {between(left_names[rows], right_names[columns], wide)}.")
        try:
            partners = max_matching(table, perfect)
        except DataError as error:
            raise DataError(f"{error} Rows and columns are counted among the items {shortened(left_names[rows].tolist())} and "
                            f"{shortened(right_names[columns].tolist())}.") from None
        matched = partners >= 0
        chosen.append(which[matched, partners[matched]])
    return np.sort(np.concatenate(chosen)) if chosen else np.empty(0, dtype=np.intp)


def matching_prices(scores, partners, perfect=False):
    """Dual prices u, v that prove a bipartite matching optimal.

    They satisfy u_i + v_j >= scores_ij for all pairs, with equality for matched pairs.
    Cost: O(n m) for each of at most n Bellman-Ford steps over the pairs that could be exchanged.
    Raises `DataError` if the matching is not optimal: then no such prices exist.

    Parameters
    ----------
    scores : array-like of shape (n, m)
        As in `max_matching`.
    partners : int array of shape (n,)
        As `max_matching` returns them.
    perfect : bool, default False
        As in the call of `max_matching`.

    Returns
    -------
    u : float64 array of shape (n,)
        Prices of rows.
    v : float64 array of shape (m,)
        Prices of columns. sum(u) + sum(v) is the score of the matching, and unmatched items have the price 0. Prices of partial matchings
        are at least 0, and so are those of the larger side of a perfect one.

    Examples
    --------
    >>> from structperc.solvers.matchings import matching_prices, max_matching
    >>> scores = [[3, 2], [3, 1]]
    >>> u, v = matching_prices(scores, max_matching(scores))
    >>> float(u.sum() + v.sum())
    5.0
    """
    s, perfect = real_array(scores, "scores", TABLE), flag(perfect, "perfect")
    partners = read_partners(partners, "partners", s, False)
    if perfect and s.shape[0] > s.shape[1]:
        turned = np.full(s.shape[1], -1)
        rows = np.flatnonzero(partners >= 0)
        turned[partners[rows]] = rows
        return matching_prices(s.T, turned, True)[::-1]
    rows = np.flatnonzero(partners >= 0)
    columns, own = partners[rows], s[rows, partners[rows]]
    spread = np.abs(s[np.isfinite(s)]).max(initial=0.0)
    v = np.zeros(s.shape[1])
    v[columns] = 4 * (len(s) + 1) * spread if perfect else own          # no larger price is needed, or allowed: u_i = s_ij - v_j >= 0
    if perfect and s.shape[0] == s.shape[1]:
        v[:] = 0
    tolerance = 1e-12 * spread * (1 + len(s))
    for _ in range(len(s) + 2):
        least = np.min(v + own[:, None] - s[rows], axis=1, initial=np.inf)      # v_j <= v_k + s_ij - s_ik for every k
        if (least >= v[columns] - tolerance).all():
            break
        v[columns] = np.minimum(v[columns], least)
    u = np.zeros(len(s))
    u[rows] = own - v[columns]
    signs = -min(u.min(initial=0.0), v.min(initial=0.0)) if not perfect else -v.min(initial=0.0) if s.shape[0] < s.shape[1] else 0.0
    if max((s - u[:, None] - v).max(initial=-np.inf), signs) > tolerance * 10:
        raise DataError("the matching is not optimal, so no prices prove it.")
    return u, v


def k_best_matchings(scores, k, perfect=False, first=None):
    """The k bipartite matchings with the largest scores, best first (Murty's algorithm).

    All partial matchings count, also those with pairs of score 0 or less. The first matching is that of `max_matching`. Ties: of equal
    ones, which comes first is the same each time.
    Cost: twice that of `max_matching`, and O(n m) for each further matching. For each of many equal ones it is at most O(n^2 m). Ctrl-C
    stops the search. Memory: O(n m + k (n + m)).
    Returns a list of (partners, score). As `max_matching` returns partners. Fewer than k if there are fewer matchings.
    Raises `DataError` as in `max_matching`, and if `first` is not a best matching.
    Raises `OptionError` if k is not a whole number from 1.

    Parameters
    ----------
    scores : array-like of shape (n, m)
        As in `max_matching`.
    k : int
        Number of matchings, at least 1.
    perfect : bool, default False
        As in `max_matching`.
    first : int array of shape (n,), optional
        The best matching, if you know it already.

    Notes
    -----
    A matching that excludes one pair of another is found from that one's prices, by one shortest path. Reduced costs bound its score from
    above, and paths are only searched for bounds that come up.

    References
    ----------
    K. G. Murty: An algorithm for ranking all the assignments in order of increasing cost. Operations Research 16, pages 682-687, 1968.

    M. L. Miller, H. S. Stone and I. J. Cox: Optimizing Murty's ranked assignment method. IEEE Transactions on Aerospace and Electronic
    Systems 33, pages 851-862, 1997.

    Examples
    --------
    >>> from structperc.solvers.matchings import k_best_matchings
    >>> [(list(map(int, partners)), float(score)) for partners, score in k_best_matchings([[3, 2], [3, 1]], 2, perfect=True)]
    [([1, 0], 5.0), ([0, 1], 4.0)]
    """
    s, k, perfect = real_array(scores, "scores", TABLE), how_many(k), flag(perfect, "perfect")
    best = max_matching(s, perfect) if first is None else read_partners(first, "first", s, perfect)
    turned = s.shape[0] > s.shape[1]
    table = np.ascontiguousarray(s.T) if turned else s
    n, m = table.shape
    n_terms = n if perfect else len(s)          # a score is a sum over the rows of the scores, of perfect matchings over the smaller side

    def score(columns):
        rows, terms = np.flatnonzero(columns < m), np.zeros(n_terms)
        terms[columns[rows] if turned and not perfect else rows] = table[rows, columns[rows]]
        return terms.sum()

    def partners(columns):
        own = np.where(columns < m, columns, -1).astype(np.intp)
        return turned_over(own, m) if turned else own

    best = turned_over(best, n) if turned else best
    best = np.where(best < 0, m + np.arange(n), best).astype(np.intc)           # column m + i: row i stays unmatched
    shift = max(0, int(np.frexp(np.abs(table[table > -np.inf]).max(initial=0.0))[1]) - LARGEST_EXPONENT)
    ranking = ranked(RankedMatchings(np.ldexp(-table, -shift), not perfect), best, score, shift)
    return [(partners(columns), float(own)) for columns, own in islice(ranking, k)]


def ranked(cells, columns, score, shift):
    """Matchings from the best one down, with their scores. A cell is solved as far as the bound of its score comes up."""
    # shift: int. Costs are multiplied by 2 ** -shift.
    prices = cells.prices_of(columns)
    if prices is None:
        raise DataError("first is not the best matching: another one has a larger score. Leave it out, or give that of max_matching.")
    parent, least, number = (columns, prices, 0, []), -score(columns), count()      # `least`: minus a score, as all keys
    bounded, solved = [], []        # heaps of cells: of those in the first the score is at most minus the key
    while True:
        yield parent[0], -least
        for row, more in enumerate(np.ldexp(cells.cut(*parent), shift).tolist(), parent[2]):
            if more < np.inf:
                heappush(bounded, (least + more, next(number), least, parent, row))
        while bounded and not (solved and solved[0] < bounded[0]):
            _, place, least, source, row = heappop(bounded)
            found = cells.best(*below(source, row), np.ldexp(solved[0][0] - least, -shift) if solved else np.inf)
            if isinstance(found, tuple):
                heappush(solved, (-score(found[0]), place, least, source, row))
            elif found < np.inf:
                heappush(bounded, (least + np.ldexp(found, shift), place, least, source, row))
        if not solved:
            return
        least, _, _, source, row = heappop(solved)
        cell = below(source, row)
        parent = (*cells.best(*cell, np.inf), *cell[2:])


def below(source, row):
    """The cell of a row: what it is cut from, and the columns that the row may not have."""
    columns, prices, fixed, barred = source
    return columns, prices, row, [*(barred if row == fixed else ()), int(columns[row])]


def turned_over(partners, m):
    """The partners of the m columns, from those of the rows."""
    rows, inverse = np.flatnonzero(partners >= 0), np.full(m, -1)
    inverse[partners[rows]] = rows
    return inverse


def crowded(s) -> str:
    """Rows, or columns, that compete for fewer partners than they are (Hall's theorem), in words."""
    rows, columns = ("rows", "columns") if s.shape[0] <= s.shape[1] else ("columns", "rows")
    allowed = (s if rows == "rows" else s.T) > -np.inf
    start = linear_sum_assignment(allowed.astype(float), maximize=True)
    partner = {j: i for i, j in zip(*start, strict=True) if allowed[i, j]}
    free = next(i for i in range(len(allowed)) if i not in partner.values())
    reached, seen = [free], set()
    for i in reached:                                       # grows while it is gone through
        for j in np.flatnonzero(allowed[i]).tolist():
            if j not in seen:
                seen.add(j)
                reached.append(partner[j])
    return between(np.sort(reached), np.sort(list(seen)), True, rows, columns)


def between(rows, columns, wide, left="left items", right="right items") -> str:
    """That one side has too few partners."""
    many, few, name, others = (rows, columns, left, right) if wide else (columns, rows, right, left)
    partners = f"{others} {listing(few, MOST_NAMED)}" if len(few) else f"none of the {others}"
    return f"{name} {listing(many, MOST_NAMED)} may only be matched with {partners}"


def read_partners(partners, name, s, perfect):
    """The column of each row, -1 for none; no column twice, and as many pairs as fit when `perfect`."""
    partners = whole_array(partners, name, s.shape[:1], -1, s.shape[1] - 1)
    columns = partners[partners >= 0]
    if len(np.unique(columns)) < len(columns):
        column = int(np.argmax(np.bincount(columns)))
        raise DataError(f"{name} has the column {column} for two rows; expected each column once.")
    if perfect and len(columns) < min(s.shape):
        raise DataError(f"{name} has {len(columns)} pairs; expected {min(s.shape)}, since perfect=True.")
    return partners.astype(np.intp)


__all__ = ["k_best_matchings", "match_pairs", "matching_prices", "max_matching"]
