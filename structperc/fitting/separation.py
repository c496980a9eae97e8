"""Directions that separate ordered labels: along these a likelihood rises without end, so that it has no maximum.

Let a label be the ranks l..h. A direction v with numbers c separates if c_{l-1} <= v . x <= c_h for each row, and not all are equal
(Albert and Anderson 1984; Kosmidis 2014 for ordered labels). A linear program finds one; then the rows that it separates are left out,
until there is none (Konis 2007). All directions together span those that agree at every end of the other rows. Rows join the program as
they are violated. A few hundred of them usually prove that there is no such direction.
"""

from __future__ import annotations

import attrs
import numpy as np

from structperc.basics.errors import DataError
from structperc.basics.rows_of_numbers import to_dense

VIOLATED = 1e-6         # deviations, ten times what the solver itself tolerates
SEPARATES = 1e-5        # deviations between a row and its end
GAIN = 1e-7             # mean of these over all ends: a program with less has found rounding
FIRST = 20              # ends of the first program for each unknown
FLAT = 1e-9             # of a mean square: a direction with less agrees at all ends


@attrs.frozen(eq=False)
class Ends:
    """All ends of labels: rows of one matrix, each of which a separating direction holds at least at 0."""
    # Z: array or CSR array of shape (n_rows, n_columns). The columns in deviations.
    # rows: int array of shape (n_ends,). The row of each end.
    # thresholds: int array of shape (n_ends,). Its threshold, from 0.
    # signs: float array of shape (n_ends,). 1: the row is above it; -1: below.

    Z: object
    rows: np.ndarray
    thresholds: np.ndarray
    signs: np.ndarray
    n_thresholds: int

    @property
    def n_unknowns(self):
        return self.Z.shape[1] + self.n_thresholds

    def slack(self, direction):
        """How far each end is on its side."""
        d = self.Z.shape[1]
        return self.signs * ((self.Z @ direction[:d])[self.rows] - direction[d:][self.thresholds])

    def matrix(self, some):
        """The rows of some ends, written out."""
        Z = self.Z[self.rows[some]]
        whole = np.zeros((len(some), self.n_unknowns))
        whole[:, :self.Z.shape[1]] = to_dense(Z)
        whole[np.arange(len(some)), self.Z.shape[1] + self.thresholds[some]] = -1
        return whole * self.signs[some, None]

    def total(self, some):
        """The sum of the rows of some ends."""
        weights = np.bincount(self.rows[some], self.signs[some], self.Z.shape[0])
        return np.append(self.Z.T @ weights, -np.bincount(self.thresholds[some], self.signs[some], self.n_thresholds))

    def gram(self, some):
        """The sum of the outer products of the rows of some ends, divided by their number."""
        gram, step = np.zeros((self.n_unknowns, self.n_unknowns)), max(1, (1 << 20) // self.n_unknowns)
        for start in range(0, len(some), step):
            block = self.matrix(some[start:start + step])
            gram += block.T @ block
        return gram / max(len(some), 1)


def separating(X, low, high, n_ranks):
    """A basis of all directions that separate the ranks of some rows.

    Parameters
    ----------
    X : array or CSR array of shape (n_rows, n_columns)
        Independent columns.
    low, high : int arrays of shape (n_rows,)
        The lowest and the highest rank of each label, from 1.
    n_ranks : int

    Returns
    -------
    float64 array of shape (n_columns + n_ranks - 1, n_directions)
        Weights of the columns, and below them those of the thresholds. No column: the likelihood has a maximum.

    References
    ----------
    I. Kosmidis: Improved estimation in cumulative link models. Journal of the Royal Statistical Society, Series B 76, pages 169-196, 2014.

    K. Konis: Linear programming algorithms for detecting separated data in binary logistic regression models. University of Oxford, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.plugin_tools import separating
    >>> X, ranks = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1], [0, 0], [1, 0]]), np.array([1, 3, 2, 3, 2, 1])
    >>> (abs(separating(X, ranks, ranks, 3)[:2]) > 1e-6).any(axis=1).tolist()       # only the highest rank has the second column
    [False, True]
    """
    sparse = hasattr(X, "tocsr")
    mean = np.zeros(X.shape[1]) if sparse else X.mean(axis=0, dtype=float)
    size = np.sqrt(np.asarray((X.multiply(X) if sparse else (X - mean) ** 2).mean(axis=0)).reshape(-1))
    spread = np.where(size > 0, size, 1.0)
    Z = X.multiply(1 / spread).tocsr() if sparse else (X - mean) / spread
    above, below = np.flatnonzero(low > 1), np.flatnonzero(high < n_ranks)
    ends = Ends(Z, np.concatenate([above, below]), np.concatenate([low[above] - 2, high[below] - 1]).astype(int),
                np.repeat([1.0, -1.0], [len(above), len(below)]), n_ranks - 1)
    left, order = np.arange(len(ends.rows)), np.hstack([np.zeros((n_ranks - 2, X.shape[1])), np.diff(np.eye(n_ranks - 1), axis=0)])
    working = np.unique(np.linspace(0, len(left) - 1, min(len(left), FIRST * ends.n_unknowns)).astype(int))
    kept = order                        # neighbouring thresholds that no direction moves apart
    while len(left) + len(kept):
        direction, working = best(ends, (ends.total(left) + kept.sum(axis=0)) / (len(left) + len(kept)), order, working)
        slack, gaps = ends.slack(direction)[left], kept @ direction
        if not ((slack > SEPARATES).any() or (gaps > SEPARATES).any()):
            break
        left, kept = left[slack <= SEPARATES], kept[gaps <= SEPARATES]
    if len(left) == len(ends.rows):
        return np.zeros((ends.n_unknowns, 0))
    gram = ends.gram(left) + kept.T @ kept
    values, vectors = np.linalg.eigh(gram)
    directions = vectors[:, values <= FLAT * max(values.max(), 1.0)]
    directions[:X.shape[1]] /= spread[:, None]
    directions[X.shape[1]:] += mean @ directions[:X.shape[1]]
    return directions


def best(ends, gain, order, working):
    """The direction in a box with the largest gain among those at which all ends hold, and its program's ends."""
    from scipy.optimize import linprog

    far = 1.0 + float(abs(ends.Z).max(axis=0).sum())
    while True:
        program = linprog(-gain, A_ub=-np.vstack([ends.matrix(working), order]), b_ub=np.zeros(len(working) + len(order)),
                          bounds=[(-1, 1)] * ends.Z.shape[1] + [(-far, far)] * ends.n_thresholds, method="highs")
        if program.x is None:
            raise DataError(f"the search for directions that separate the ranks failed: {program.message} Set penalty=1.0, which needs "
                            f"no search.")
        slack = ends.slack(program.x)
        violated = np.flatnonzero(slack < -VIOLATED)
        violated = violated[~np.isin(violated, working)]
        if gain @ program.x <= GAIN:
            return np.zeros_like(program.x), working
        if not len(violated):
            return program.x, working
        worst = violated[np.argsort(slack[violated], kind="stable")[:2 * ends.n_unknowns]]
        working = np.concatenate([working, worst])
