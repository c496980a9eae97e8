"""Columns that others determine: which weights the data leave open, and the shortest of these weights."""

from __future__ import annotations

from functools import cached_property

import attrs
import numpy as np
from scipy.linalg import lapack, solve_triangular

from structperc.basics.errors import DataError
from structperc.basics.rows_of_numbers import to_dense
from structperc.core.column_sums import CONSTANT

FREE = 1e-10            # share of a column's variance that no other column explains: one with less is determined by the others
SHOWN = 1e-6            # of the largest weight of a dependence: columns with less have no part in it
AT_ONCE = 1 << 20       # values that are centred together
CANCELS = 1e-6          # variance over squared mean, below which squares about 0 lose the digits of the variance


@attrs.frozen(eq=False, slots=False)
class Dependence:
    """Linear dependences between the columns of some rows and a constant.

    Attributes
    ----------
    mean, spread : float64 arrays of shape (n_features,)
        Of the columns; the spread of constant ones is 0.
    columns : int array of shape (n_independent,)
        Columns that together determine all others, in order.
    null : float64 array of shape (n_features, n_dependent)
        Of columns divided by their spread: weights with which they add up to a constant. Those of left-out columns are 0.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.plugin_tools import Dependence
    >>> X = np.random.default_rng(0).normal(size=(9, 2))
    >>> dependence = Dependence.of(np.c_[X, X[:, 0], np.ones(9)])
    >>> dependence.is_whole, [set.tolist() for set in dependence.sets()]
    (False, [[0, 2]])
    >>> dependence.weights(np.array([[1.0], [1.0], [0.5]])).ravel().round(9).tolist()       # of two columns, and a threshold
    [0.5, 1.0, 0.5, 0.0, 0.5]
    """

    mean: np.ndarray
    spread: np.ndarray
    columns: np.ndarray
    null: np.ndarray

    @classmethod
    def of(cls, X, left_out=()) -> Dependence:
        """That of the columns of X.

        Parameters
        ----------
        X : array or CSR array of shape (n_rows, n_features)
        left_out : sequence of int
            Columns with a weight of 0, such as those of reference levels.

        Raises
        ------
        DataError
            Products of the columns overflow.
        """
        mean, moments = centred_moments(X)
        if not np.isfinite(moments).all():
            raise DataError("values of X are too large to be squared; divide the columns by a large number.")
        d = len(mean)
        deviation = np.sqrt(np.maximum(np.diag(moments), 0) / max(X.shape[0], 1))
        spread = np.where(deviation > CONSTANT * np.abs(mean), deviation, 0.0)
        candidates = np.flatnonzero((spread > 0) & ~np.isin(np.arange(d), np.asarray(left_out, dtype=int)))
        if not len(candidates):
            return cls(mean, spread, candidates, np.zeros((d, 0)))
        root = np.sqrt(np.diag(moments))[candidates]
        factor, pivots, rank, _ = lapack.dpstrf(moments[np.ix_(candidates, candidates)] / root / root[:, None], tol=FREE, lower=0)
        order = candidates[pivots - 1]
        null = np.zeros((d, len(candidates) - rank))
        if null.shape[1]:
            null[order[rank:], np.arange(null.shape[1])] = 1
            null[order[:rank]] = -solve_triangular(factor[:rank, :rank], factor[:rank, rank:])
        return cls(mean, spread, np.sort(order[:rank]), null)

    @property
    def is_whole(self) -> bool:
        """Whether all columns are independent."""
        return len(self.columns) == len(self.mean)

    @cached_property
    def basis(self):
        return np.linalg.qr(self.null)[0]

    def weights(self, independent):
        """Weights of all columns from those of the independent ones: with the same scores, the shortest per standard deviation.
        Returns a float64 array of shape (n_features + n_thresholds, n).

        Parameters
        ----------
        independent : array of shape (n_independent + n_thresholds, n)
            A row for each independent column and each threshold.
        """
        d, r = len(self.mean), len(self.columns)
        weights = np.zeros((d + len(independent) - r, independent.shape[1]))
        weights[self.columns], weights[d:] = independent[:r], independent[r:]
        if self.null.shape[1]:
            known = np.where(self.spread > 0, self.spread, 1.0)[:, None]
            change = self.basis @ (self.basis.T @ (weights[:d] * known)) / known
            weights[:d] -= change
            weights[d:] -= self.mean @ change
        return weights

    def sets(self) -> list:
        """The columns of each set of columns that depend on one another. Returns a list of int arrays."""
        linked = np.abs(self.null) > SHOWN * np.abs(self.null).max(initial=1)
        sets = []
        for columns in map(set, (np.flatnonzero(column).tolist() for column in linked.T)):
            apart = [other for other in sets if not other & columns]
            sets = [*apart, columns.union(*(other for other in sets if other & columns))]
        return sorted((np.array(sorted(columns)) for columns in sets), key=lambda columns: columns[0])


def centred_moments(X):
    """The means of the columns, and the sums of products of their distances from these."""
    n, d = X.shape
    if not hasattr(X, "tocsr"):
        mean = X.mean(axis=0, dtype=float)
        return mean, sum_of_blocks(X, mean)
    X = X.tocsr().astype(float)
    mean = np.asarray(X.mean(axis=0)).reshape(-1)
    moments = (X.T @ X).toarray() - n * np.outer(mean, mean)
    doubtful = np.flatnonzero(np.diag(moments) < CANCELS * n * mean**2)
    if len(doubtful):
        constant = doubtful[X[:, doubtful].max(axis=0).toarray().reshape(-1) == X[:, doubtful].min(axis=0).toarray().reshape(-1)]
        moments[constant], moments[:, constant] = 0, 0
        if len(constant) < len(doubtful):
            return mean, sum_of_blocks(X, mean)
    return mean, moments


def sum_of_blocks(X, mean):
    """The same block by block, so that no whole copy is made."""
    moments, step = np.zeros((len(mean), len(mean))), max(1, AT_ONCE // max(1, len(mean)))
    for start in range(0, X.shape[0], step):
        block = X[start:start + step]
        apart = to_dense(block) - mean
        moments += apart.T @ apart
    return moments
