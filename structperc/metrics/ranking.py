"""How good rankings of documents are: precision at k, mean average precision, NDCG and pairs in order, averaged over queries.

Documents are ranked by score, the earlier document first where scores are equal. Cost: O(n log n) for n documents of all queries.
"""

from __future__ import annotations

import numpy as np

from structperc.basics.arguments import LARGEST, Policy, how_many, real_array, real_number
from structperc.basics.errors import DataError, OptionError, shortened
from structperc.basics.labels import as_label_array
from structperc.reading.groups import about_sizes, gather

GAINS = Policy(0.0, LARGEST, "a finite number from 0, as NDCG is a share of the best sum of gains")


def precision_at_k(y_true, scores, k=10, *, groups=None, relevant=1, sample_weight=None) -> float:
    """Precision at k: the share of the first k places with a relevant document, averaged over queries.

    Ties: of equal scores the earlier document comes first.
    Raises `DataError` if lists differ in length or are empty, or a score or relevance is not a finite number.
    Returns a float. From 0 to 1. A query without relevant documents counts 0.
    See also `mean_average_precision` (all places) and `ndcg_at_k` (graded relevance).

    Parameters
    ----------
    y_true : array-like of shape (n_documents,)
        Relevance of each document.
    scores : array-like of shape (n_documents,)
        Predicted scores; larger scores come first.
    k : int, default 10
        Number of places. Empty places of a query with fewer documents count as misses, as in LETOR.
    groups : array-like of shape (n_documents,), optional
        The query of each document, in any order. Default: one query.
    relevant : float, default 1
        Documents of this or a higher relevance are relevant.
    sample_weight : array-like of shape (n_queries,), optional
        Weight of each query, in the order in which queries first appear.

    References
    ----------
    T. Qin, T.-Y. Liu, J. Xu and H. Li: LETOR: a benchmark collection for research on learning to rank for information retrieval.
    Information Retrieval 13, pages 346-374, 2010.

    Examples
    --------
    >>> from structperc.metrics import precision_at_k
    >>> precision_at_k([1, 0, 0, 2, 0, 1], [3, 2, 1, 5, 6, 4], 2, groups=[7, 7, 7, 9, 9, 9])
    0.5
    """
    ranked = Ranked(y_true, scores, groups)
    k = n_places(k)
    counted = (ranked.grades >= real_number(relevant, "relevant")) & (ranked.places < k)
    return ranked.mean(ranked.sums(counted) / k, sample_weight)


def mean_average_precision(y_true, scores, k=None, *, groups=None, relevant=1, sample_weight=None) -> float:
    """Mean average precision (MAP): the mean over relevant documents of the precision up to their places, averaged over queries.

    Ties: of equal scores the earlier document comes first. Raises `DataError` as in `precision_at_k`.
    Returns a float. From 0 to 1. A query without relevant documents counts 0.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,)
        Relevance of each document.
    scores : array-like of shape (n_documents,)
        Predicted scores; larger scores come first.
    k : int, optional
        Only the first k places count, and the sum is divided by min(k, number of relevant documents). Default: all places.
    groups : array-like of shape (n_documents,), optional
        The query of each document, in any order. Default: one query.
    relevant : float, default 1
        Documents of this or a higher relevance are relevant.
    sample_weight : array-like of shape (n_queries,), optional
        Weight of each query, in the order in which queries first appear.

    Examples
    --------
    >>> from structperc.metrics import mean_average_precision
    >>> round(mean_average_precision([1, 0, 1, 0], [4, 3, 2, 1]), 4)
    0.8333
    """
    ranked = Ranked(y_true, scores, groups)
    hits = (ranked.grades >= real_number(relevant, "relevant")).astype(float)
    total = ranked.sums(hits)
    if k is not None:
        k = n_places(k)
        hits[ranked.places >= k] = 0
        total = np.minimum(total, k)
    precision = ranked.running(hits) / (ranked.places + 1)
    return ranked.mean(divided(ranked.sums(precision * hits), total), sample_weight)


def ndcg_at_k(y_true, scores, k=10, *, groups=None, gains=None, sample_weight=None) -> float:
    """Normalised discounted cumulative gain (NDCG) of the first k places, averaged over queries.

    The discount of place p is 1 / log2(1 + p). Ties: of equal scores the earlier document comes first.
    Raises `DataError` as in `precision_at_k`, or a gain is below 0.
    Returns a float. From 0 to 1. A query whose documents have no gain counts 0.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,)
        Relevance of each document.
    scores : array-like of shape (n_documents,)
        Predicted scores; larger scores come first.
    k : int or None, default 10
        Number of places; None: all places.
    groups : array-like of shape (n_documents,), optional
        The query of each document, in any order. Default: one query.
    gains : sequence of float, optional
        Gains of the relevances 0, 1, 2, ..., each at least 0. Default, also if empty: 2^relevance - 1, and 0 for negative relevances.
    sample_weight : array-like of shape (n_queries,), optional
        Weight of each query, in the order in which queries first appear.

    References
    ----------
    K. Järvelin and J. Kekäläinen: Cumulated gain-based evaluation of IR techniques. ACM Transactions on Information Systems 20, pages
    422-446, 2002.

    Examples
    --------
    >>> from structperc.metrics import ndcg_at_k
    >>> round(ndcg_at_k([2, 1, 0], [1, 3, 2], k=2), 4)
    0.2754
    """
    ranked = Ranked(y_true, scores, groups)
    gains = real_array(() if gains is None else gains, "gains", ("n_relevances",), GAINS)
    if len(gains) == 0:
        if ranked.grades.max() > 1000:
            raise DataError(f"y_true holds the relevance {ranked.grades.max():g}, for which the gain 2^relevance - 1 is too large; "
                            f"pass gains.")
        worth = 2.0 ** np.maximum(ranked.grades, 0) - 1
    else:
        odd = (ranked.grades != np.floor(ranked.grades)) | (ranked.grades < 0) | (ranked.grades >= len(gains))
        if odd.any():
            raise DataError(f"y_true holds {ranked.grades[odd][0]:g}, but gains are known for the relevances 0..{len(gains) - 1}.")
        worth = gains[ranked.grades.astype(np.intp)]
    discount = 1 / np.log2(ranked.places + 2)
    if k is not None:
        discount[ranked.places >= n_places(k)] = 0
    best = worth[np.lexsort((-worth, ranked.query))]
    return ranked.mean(divided(ranked.sums(worth * discount), ranked.sums(best * discount)), sample_weight)


def pair_accuracy(y_true, scores, *, groups=None, sample_weight=None) -> float:
    """Pairwise ranking accuracy: the share of pairs of documents of different relevance in the right order, averaged over queries.

    Queries without such pairs are left out. Cost: O(n log n) for n documents.
    Raises `DataError` as in `precision_at_k`, and if no query has documents of different relevance.
    Returns a float. From 0 to 1; 0.5 is chance.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,)
        Relevance of each document.
    scores : array-like of shape (n_documents,)
        Predicted scores; pairs of equal scores count half.
    groups : array-like of shape (n_documents,), optional
        The query of each document, in any order. Default: one query.
    sample_weight : array-like of shape (n_queries,), optional
        Weight of each query, in the order in which queries first appear.

    Examples
    --------
    >>> from structperc.metrics import pair_accuracy
    >>> round(pair_accuracy([2, 1, 0], [1, 3, 2]), 4)
    0.3333
    """
    ranked = Ranked(y_true, scores, groups)
    ties, unequal = ranked.equal_pairs(ranked.scores), ranked.equal_pairs() - ranked.equal_pairs(ranked.grades)
    if not unequal.any():
        raise DataError("no query has documents of different relevance in y_true, so there are no pairs to count.")
    ties -= ranked.equal_pairs(ranked.scores, ranked.grades)
    order = np.lexsort((ranked.grades, -ranked.scores, ranked.query))           # where scores are equal no larger grade comes first
    right = ranked.sums(larger_before(ranked.grades[order], ranked.query))
    weights = np.ones(len(right)) if sample_weight is None else read_grades(sample_weight, len(right), "sample_weight")
    return ranked.mean(divided(right + ties / 2, unequal), np.where(unequal > 0, weights, 0))


def document_places(scores, *, groups=None) -> np.ndarray:
    """The place of each document in its query; the largest score has place 1. Returns an int array of shape (n_documents,).

    Ties: the earlier document comes first. Raises `DataError` as in `precision_at_k`.

    Parameters
    ----------
    scores : array-like of shape (n_documents,)
        Predicted scores.
    groups : array-like of shape (n_documents,), optional
        The query of each document, in any order. Default: one query.

    Examples
    --------
    >>> from structperc.metrics import document_places
    >>> document_places([0.2, 0.9, 0.5, 0.7], groups=["a", "a", "b", "b"]).tolist()
    [2, 1, 2, 1]
    """
    scores = read_grades(scores, None, "scores")
    ranked = Ranked(np.zeros(len(scores)), scores, groups)
    places = np.empty(len(ranked.places), dtype=np.int64)
    places[ranked.order] = ranked.places + 1
    return places


class Ranked:
    """All documents, query by query and best first."""
    # query: int array. Of each document, numbered in the order in which queries appear.
    # grades, scores: float array
    # order: int array. The number of the user's document there.
    # places: int array. From 0 within the query.

    def __init__(self, y_true, scores, groups):
        scores = read_grades(scores, None, "scores")
        grades = read_grades(y_true, len(scores), "y_true")
        if len(scores) == 0:
            raise DataError("y_true is empty; at least one document is needed to measure anything.")
        if groups is None:
            groups = np.zeros(len(scores), dtype=np.intp)
        groups = as_label_array(groups, "groups", "an entry for each document")
        if len(groups) != len(scores):
            raise DataError(f"groups has {len(groups)} entries but there are {len(scores)} documents; give one for each."
                            + about_sizes(groups, len(scores), "numpy.repeat(numpy.arange(len(sizes)), sizes)"))
        rows, offsets = gather(groups)
        rows = np.arange(len(scores)) if rows is None else rows
        self.starts, self.sizes = offsets[:-1], np.diff(offsets)
        self.query = np.repeat(np.arange(len(self.sizes)), self.sizes)
        self.order = rows[np.lexsort((-scores[rows], self.query))]      # stable: of equal scores the earlier one
        self.grades, self.scores = grades[self.order], scores[self.order]
        self.places = np.arange(len(scores)) - np.repeat(self.starts, self.sizes)

    def sums(self, values):
        """By query."""
        return np.add.reduceat(values.astype(float), self.starts)

    def running(self, values):
        """Sums from the query's first document to each one."""
        total = np.cumsum(values)
        return total - np.repeat(total[self.starts] - values[self.starts], self.sizes)

    def equal_pairs(self, *values):
        """By query, how many pairs of documents are equal in all values."""
        cells = dense_ranks(self.query, *values)
        counts = np.bincount(cells)[cells]
        return self.sums((counts - 1) / 2)

    def mean(self, values, weights):
        if weights is None:
            return float(values.mean())
        weights = read_grades(weights, len(values), "sample_weight")
        if (weights < 0).any() or not weights.any():
            raise DataError("sample_weight holds a negative number, or nothing but zeros; expected what each query counts.")
        return float(np.average(values, weights=weights))


def larger_before(values, query) -> np.ndarray:
    """The number of larger entries of its query before each entry. O(n log n), one binary digit of their ranks after the other."""
    ranks = dense_ranks(query, values)
    counts, order = np.zeros(len(ranks), dtype=np.int64), np.arange(len(ranks))
    for digit in reversed(range(int(ranks.max()).bit_length())):
        upper, ones = ranks[order] >> digit + 1, ranks[order] >> digit & 1      # entries of equal upper digits stand together
        before = np.cumsum(ones) - ones
        starts = np.searchsorted(upper, upper)
        counts[order] += np.where(ones == 0, before - before[starts], 0)
        order = order[np.argsort(ranks[order] >> digit, kind="stable")]
    return counts


def dense_ranks(*columns) -> np.ndarray:
    """Numbers from 0 in the order of rows, the first column first; equal rows have the same."""
    order = np.lexsort(columns[::-1])
    further = np.any([column[order[1:]] != column[order[:-1]] for column in columns], axis=0)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.append(0, np.cumsum(further))
    return ranks


def divided(a, b):
    """a / b, and 0 where b is 0."""
    return np.divide(a, b, out=np.zeros(len(a)), where=b > 0)


def n_places(k):
    try:
        return how_many(k)
    except OptionError as error:
        if hasattr(k, "__len__") and not isinstance(k, str):
            raise OptionError(f"{error} Queries go by name: groups=...") from None
        raise


def read_grades(values, n, name="y") -> np.ndarray:
    """Checked relevances of documents: finite numbers. Returns a float64 array of shape (n,).
    Raises `DataError` if the length differs or a value is not a finite number.

    Parameters
    ----------
    values : array-like of shape (n,)
        Relevance of each document.
    n : int
        Number of documents.
    name : str, default "y"
        Name in error messages.

    Examples
    --------
    >>> from structperc.plugin_tools import read_grades
    >>> read_grades([0, 2, 1], 3).tolist()
    [0.0, 2.0, 1.0]
    """
    try:
        if isinstance(values, (set, frozenset)):
            raise TypeError                         # it has no order
        grades = np.asarray(values)
        if grades.dtype.kind in "cmM":
            raise TypeError
        grades = grades.astype(np.float64) if grades.dtype.kind in "biuf" else np.array([float(v) for v in values])
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"{name} is {shortened(values)}; expected a number for each document.") from None
    if grades.ndim != 1 or n is not None and len(grades) != n:
        expected = "one number per document" if n is None else f"({n},), one number for each of them"
        raise DataError(f"{name} has shape {grades.shape}; expected {expected}.")
    bad = ~np.isfinite(grades)
    if bad.any():
        i = int(np.argmax(bad))
        raise DataError(f"{name}[{i}] is {grades[i]}; expected finite numbers.")
    return grades
