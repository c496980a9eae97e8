"""How good rankings of documents are: precision at k, mean average precision and NDCG, averaged over queries.

Documents are ranked by score, the earlier document first where scores are equal. Cost: O(n log n) for n documents of all queries.
"""

from __future__ import annotations

import numpy as np

from structperc.core.errors import DataError, OptionError, shortened
from structperc.reading.groups import gather


def precision_at_k(y_true, scores, groups=None, k=10, relevant=1, sample_weight=None) -> float:
    """The share of the first k places that a relevant document takes, averaged over queries.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,)
        Relevances.
    scores : array-like of shape (n_documents,)
        Larger is ranked before; of equal scores the earlier document.
    groups : array-like of shape (n_documents,), optional
        Which query each document belongs to, in any order; without it there is one query.
    k : int, default 10
        Places that a query with fewer documents leaves empty count as misses, as in LETOR.
    relevant : float, default 1
        A document of this or a higher relevance is relevant.
    sample_weight : array-like of shape (n_queries,), optional
        What each query counts, in the order in which queries first appear.

    Returns
    -------
    float
        From 0 to 1. A query without relevant documents counts 0.

    Raises
    ------
    DataError
        For lists of different lengths, an empty one, or scores and relevances that are no finite numbers.

    Examples
    --------
    >>> from structperc.metrics import precision_at_k
    >>> precision_at_k([1, 0, 0, 2, 0, 1], [3, 2, 1, 5, 6, 4], groups=[7, 7, 7, 9, 9, 9], k=2)
    0.5
    """
    ranked = Ranked(y_true, scores, groups)
    counted = (ranked.grades >= relevant) & (ranked.places < places(k))
    return ranked.mean(ranked.sums(counted) / k, sample_weight)


def mean_average_precision(y_true, scores, groups=None, k=None, relevant=1, sample_weight=None) -> float:
    """Average precision, averaged over queries: the mean, over relevant documents, of the precision down to their places.

    Parameters
    ----------
    y_true, scores, groups, relevant, sample_weight
        As in `precision_at_k`.
    k : int, optional
        Look at the first k places only; the sum is then divided by min(k, number of relevant documents).

    Returns
    -------
    float
        From 0 to 1. A query without relevant documents counts 0.

    Examples
    --------
    >>> from structperc.metrics import mean_average_precision
    >>> round(mean_average_precision([1, 0, 1, 0], [4, 3, 2, 1]), 4)
    0.8333
    """
    ranked = Ranked(y_true, scores, groups)
    hits = (ranked.grades >= relevant).astype(float)
    total = ranked.sums(hits)
    if k is not None:
        hits[ranked.places >= places(k)] = 0
        total = np.minimum(total, k)
    precision = ranked.running(hits) / (ranked.places + 1)
    return ranked.mean(divided(ranked.sums(precision * hits), total), sample_weight)


def ndcg_at_k(y_true, scores, groups=None, k=10, gains=None, sample_weight=None) -> float:
    """Normalised discounted cumulative gain of the first k places, averaged over queries.

    Parameters
    ----------
    y_true, scores, groups, sample_weight
        As in `precision_at_k`.
    k : int or None, default 10
        None: all places.
    gains : sequence of float, optional
        What documents of relevance 0, 1, 2, ... are worth; without it 2^relevance - 1. The discount of place p is 1 / log2(1 + p).

    Returns
    -------
    float
        From 0 to 1. A query whose documents are worth nothing counts 0.

    Examples
    --------
    >>> from structperc.metrics import ndcg_at_k
    >>> round(ndcg_at_k([2, 1, 0], [1, 3, 2], k=2), 4)
    0.2754
    """
    ranked = Ranked(y_true, scores, groups)
    if gains is None:
        if ranked.grades.max() > 1000:
            raise DataError(f"y_true holds the relevance {ranked.grades.max():g}, for which the gain 2^relevance - 1 is too large; "
                            f"pass gains.")
        worth = 2.0**ranked.grades - 1
    else:
        gains = np.asarray(gains, dtype=float)
        odd = (ranked.grades != np.floor(ranked.grades)) | (ranked.grades < 0) | (ranked.grades >= len(gains))
        if odd.any():
            raise DataError(f"y_true holds {ranked.grades[odd][0]:g}, but gains are known for the relevances 0..{len(gains) - 1}.")
        worth = gains[ranked.grades.astype(np.intp)]
    discount = 1 / np.log2(ranked.places + 2)
    if k is not None:
        discount[ranked.places >= places(k)] = 0
    best = worth[np.lexsort((-worth, ranked.query))]
    return ranked.mean(divided(ranked.sums(worth * discount), ranked.sums(best * discount)), sample_weight)


class Ranked:
    """All documents, query by query and best first.

    Attributes
    ----------
    query : int array
        Of each document, numbered in the order in which queries appear.
    grades : float array
    places : int array
        From 0 within the query.
    """

    def __init__(self, y_true, scores, groups):
        scores = read_grades(scores, None, "scores")
        grades = read_grades(y_true, len(scores), "y_true")
        if len(scores) == 0:
            raise DataError("y_true is empty; at least one document is needed to measure anything.")
        if groups is None:
            groups = np.zeros(len(scores), dtype=np.intp)
        if len(groups) != len(scores):
            raise DataError(f"groups has {len(groups)} entries but there are {len(scores)} documents; give one for each.")
        rows, offsets = gather(groups)
        if rows is not None:
            scores, grades = scores[rows], grades[rows]
        self.starts, self.sizes = offsets[:-1], np.diff(offsets)
        self.query = np.repeat(np.arange(len(self.sizes)), self.sizes)
        self.grades = grades[np.lexsort((-scores, self.query))]         # stable: of equal scores the earlier one
        self.places = np.arange(len(scores)) - np.repeat(self.starts, self.sizes)

    def sums(self, values):
        """By query."""
        return np.add.reduceat(values.astype(float), self.starts)

    def running(self, values):
        """Sums from the query's first document to each one."""
        total = np.cumsum(values)
        return total - np.repeat(total[self.starts] - values[self.starts], self.sizes)

    def mean(self, values, weights):
        if weights is None:
            return float(values.mean())
        weights = read_grades(weights, len(values), "sample_weight")
        if (weights < 0).any() or not weights.any():
            raise DataError("sample_weight holds a negative number, or nothing but zeros; expected what each query counts.")
        return float(np.average(values, weights=weights))


def divided(a, b):
    """a / b, and 0 where b is 0."""
    return np.divide(a, b, out=np.zeros(len(a)), where=b > 0)


def places(k):
    if isinstance(k, (bool, np.bool_)) or not isinstance(k, (int, np.integer)) or k < 1:
        raise OptionError(f"k={k!r}; expected a whole number, at least 1.")
    return k


def read_grades(values, n, name="y") -> np.ndarray:
    """Finite float64 numbers, one for each of n documents."""
    try:
        if isinstance(values, (set, frozenset)):
            raise TypeError                         # it has no order
        grades = np.asarray(values)
        if grades.dtype.kind == "c":
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
