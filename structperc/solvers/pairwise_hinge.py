"""Linear scores whose pairs are ordered by a hinge or its square, without forming the pairs.

Provisional: it may change in any minor version.

    P(w) = 1/2 ||w - w0||^2 + sum over groups of cost * sum over pairs (i, j), level_i > level_j, of max(0, 1 - w . (x_i - x_j))

or the squares of these; w0 is 0 unless a problem names another origin. Losses and gradients of all pairs come from one sorted sweep,
`structperc.solvers.block_steps.short_pairs`. Typical sizes: groups of 10 to 10^5 rows. A pass costs O(n log n) plus the products with X.
"""

from __future__ import annotations

import numpy as np

from structperc.basics.arguments import COSTS, FINITE, offset_array, real_array, whole_array
from structperc.basics.errors import DataError
from structperc.basics.sparse_parts import is_sparse, to_csr
from structperc.solvers.block_steps import block_steps, can_sweep, short_pairs, sweep_blocks
from structperc.solvers.certificates import SWEEP_GAP_SHARE, BlockAscent, Measurements, certified, too_large


class PairwiseProblem:
    """Training data of a ranking SVM: rows in groups, whose pairs of different levels should be ordered.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
        Features, finite numbers.
    levels : int32 array of shape (n_rows,)
        Level of each row: 0, 1, ... without gaps in each group. A row of a higher level should have a larger score.
    offsets : int64 array of shape (n_groups + 1,)
        Rows offsets[g]:offsets[g + 1] are group g.
    costs : float64 array of shape (n_groups,)
        Cost of one unit of loss of a pair of each group. Larger values fit the group more closely.
    origin : array of shape (n_features,), optional
        Weights w0 from which the squared norm measures, such as those of earlier groups. Default: 0.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.pairwise_hinge import PairwiseHinge, PairwiseProblem
    >>> problem = PairwiseProblem(np.array([[1.0], [3.0]]), np.array([0, 1], dtype=np.int32), np.array([0, 2]), np.array([1.0]))
    >>> svm = PairwiseHinge(problem, tolerance=1e-6, max_iter=100)
    >>> svm.solve(), svm.w.round(6).tolist()
    (True, [0.5])
    """

    def __init__(self, X, levels, offsets, costs, origin=None):
        if is_sparse(X):
            X = to_csr(X)
            real_array(X.data, "X.data", X.data.shape, FINITE)
        else:
            X = real_array(X, "X", ("n_rows", "n_features"), FINITE)
        self.X, self.levels = X, whole_array(levels, "levels", X.shape[:1])
        self.offsets = offset_array(offsets, X.shape[0])
        self.costs = real_array(costs, "costs", (len(self.offsets) - 1,), COSTS)
        self.group = np.repeat(np.arange(len(self.costs)), np.diff(self.offsets))
        self.origin = np.zeros(X.shape[1]) if origin is None else real_array(origin, "origin", (X.shape[1],), FINITE)

    @property
    def n_features(self) -> int:
        return self.X.shape[1]

    def scores(self, w):
        """The scores X w. Raises DataError if one is not finite. Returns a float64 array of shape (n_rows,).

        Parameters
        ----------
        w : array of shape (n_features,)
        """
        scores = np.asarray(self.X @ w, dtype=float)
        if not np.isfinite(scores).all():
            raise too_large()
        return scores

    def short_pairs(self, scores, margin=1.0):
        """Counts and sums of short pairs in all groups, as `structperc.solvers.block_steps.short_pairs` returns them.

        Parameters
        ----------
        scores : float64 array of shape (n_rows,)
        margin : float, default 1.0

        Returns
        -------
        up, down, lower, higher : float64 arrays of shape (n_rows,)
        """
        return short_pairs(np.ascontiguousarray(scores), self.levels, np.lexsort((scores, self.group)), self.offsets, margin)


class PairwiseHinge(BlockAscent):
    """Ranking SVM with hinge loss, by block-coordinate ascent on the dual.

    The dual has for each group coefficients of sets of pairs, which sum to the group's cost. A set has its size and a(i). This is the
    number of its pairs with i as the higher row minus those with i as the lower: its loss is size - a . f. Groups are improved in turn,
    then all together over the sets they cache.
    See also `PairwiseSquaredHinge` (the squared hinge loss) and `structperc.estimators.RankingSVM` (the estimator).

    Parameters
    ----------
    problem : PairwiseProblem
        Rows, levels and costs.
    tolerance : float
        `solve` ends at a duality gap of this share of P(w). Smaller values are slower and more exact; try 1e-3.
    max_iter : int
        Largest number of passes over the groups.

    Attributes
    ----------
    w : ndarray of shape (n_features,)
        Weights.
    n_epochs : int
        Passes made.
    measured : structperc.solvers.certificates.Measurements
        Objectives and duality gaps.

    References
    ----------
    T. Joachims: Training linear SVMs in linear time. Proceedings of KDD, pages 217-226, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.pairwise_hinge import PairwiseHinge, PairwiseProblem
    >>> problem = PairwiseProblem(np.array([[1.0], [3.0]]), np.array([0, 1], dtype=np.int32), np.array([0, 2]), np.array([1.0]))
    >>> svm = PairwiseHinge(problem, tolerance=1e-6, max_iter=100)
    >>> svm.solve(), svm.w.round(6).tolist()
    (True, [0.5])
    """

    epochs_per_certificate = 1

    def __init__(self, problem, tolerance, max_iter):
        super().__init__(Measurements(tolerance), max_iter)
        self.problem, self.w = problem, problem.origin.copy()
        places = zip(problem.offsets[:-1], problem.offsets[1:], problem.costs, strict=True)
        self.blocks = [Block(problem.X[a:b], problem.levels[a:b], cost) for a, b, cost in places
                       if cost > 0 and b > a and problem.levels[a:b].any()]

    def solution(self) -> dict:
        """The dual solution, for `go_on`. Returns a dict. Sets of pairs and their coefficients, for each group."""
        return {"blocks": [(block.levels, block.a, block.size, block.alpha) for block in self.blocks]}

    def go_on(self, solution) -> None:
        """Warm start from the dual solution of the same groups; costs and X may differ.

        Parameters
        ----------
        solution : dict
            As `solution` returns it.
        """
        kept = solution["blocks"]
        if [levels.tolist() for levels, *_ in kept] != [block.levels.tolist() for block in self.blocks]:
            raise DataError("the former solution has other queries, other relevances or other weights that are 0. "
                            "Pass the same again, or use warm_start=False.")
        for (_, *sets), block in zip(kept, self.blocks, strict=True):
            block.take(*sets)

    def solve(self) -> bool:
        """Make passes until the gap is small. Returns whether the gap is small."""
        return self.improve()

    def epoch(self):
        gap = self.measured.gaps[-1]
        for block in self.blocks:
            self.w = block.improved(self.w)
        self.sweep(SWEEP_GAP_SHARE * gap)
        return gap

    def sweep(self, enough):
        """Improve all groups together over their cached sets, if these are few. Returns an ndarray of shape (n_features,). The weights.

        Parameters
        ----------
        enough : float
            Stop at a gap of at most this.
        """
        offsets = np.cumsum([0, *(len(block.alpha) for block in self.blocks)])
        if not can_sweep(offsets[-1], len(self.w)):
            return
        vectors = np.vstack([(block.X.T @ block.a.T).T for block in self.blocks])
        alpha = np.concatenate([block.alpha for block in self.blocks])
        size = np.concatenate([block.size for block in self.blocks])
        sweep_blocks(alpha, size, np.ascontiguousarray(vectors, dtype=float), offsets, self.problem.origin + alpha @ vectors, enough)
        for block, start, stop in zip(self.blocks, offsets[:-1], offsets[1:], strict=True):
            block.keep(alpha[start:stop])

    def measure(self):
        """Recompute w from the dual coefficients, and measure it. Returns `Certificate`."""
        problem, moved = self.problem, np.zeros_like(self.w)
        for block in self.blocks:
            moved += block.X.T @ (block.alpha @ block.a)
        self.w, square = problem.origin + moved, moved @ moved
        scores = problem.scores(self.w)
        up, down, _, _ = problem.short_pairs(scores)
        costs = problem.costs[problem.group]
        objective = square / 2 + costs @ (up + (down - up) * scores)
        dual = sum(block.alpha @ block.size for block in self.blocks) - moved @ problem.origin - square / 2
        return certified(objective, objective - dual)


class Block:
    """The coefficients of one group: `a` (n_sets, n_rows), `size` and `alpha` (n_sets,), squared distances of the sets' X' a."""

    def __init__(self, X, levels, cost):
        self.X, self.levels, self.cost = X, np.ascontiguousarray(levels), cost
        self.offsets = np.array([0, len(levels)])
        self.a, self.size, self.alpha = np.zeros((1, len(levels))), np.zeros(1), np.full(1, cost)
        self.distance = np.zeros((1, 1))

    def take(self, a, size, alpha) -> None:
        """Begins with these sets of rows, whose coefficients are scaled so that they add up to the cost."""
        self.a, self.size, self.alpha = a, size, alpha * (self.cost / alpha.sum())
        vectors = self.X.T @ a.T
        self.distance = np.array([np.square(vectors - vector[:, None]).sum(axis=0) for vector in vectors.T])

    def improved(self, w):
        """Improves the block for the weights w; returns the weights after it."""
        scores = np.ascontiguousarray(self.X @ w, dtype=float)
        up, down, _, _ = short_pairs(scores, self.levels, np.argsort(scores, kind="stable"), self.offsets)
        new, size = up - down, up.sum()
        values = np.append(self.size - self.a @ scores, size - new @ scores)
        if not values[-1] > values[:-1].min():
            return w
        differences = self.a - new
        far = np.square(self.X.T @ differences.T).sum(axis=0)
        if not np.isfinite(far).all():
            raise too_large()
        n = len(self.alpha)
        distance = np.zeros((n + 1, n + 1))
        distance[:n, :n], distance[n, :n], distance[:n, n] = self.distance, far, far
        a, sizes, alpha = np.vstack([self.a, new]), np.append(self.size, size), np.append(self.alpha, 0.0)
        before = alpha.copy()
        block_steps(alpha, values, distance)
        moved = self.X.T @ ((alpha - before) @ a)
        self.a, self.size, self.distance = a, sizes, distance
        self.keep(alpha)
        return w + moved

    def keep(self, alpha) -> None:
        """Sets the coefficients, (n_sets,), and drops sets without any."""
        kept = alpha > 0
        self.a, self.size, self.alpha, self.distance = self.a[kept], self.size[kept], alpha[kept], self.distance[np.ix_(kept, kept)]


class PairwiseSquaredHinge:
    """Ranking SVM with squared hinge loss, by L-BFGS; half the squared norm of the gradient is the duality gap.

    With alpha = 2 cost max(0, margin violation) for each pair, the dual value is P(w) - 1/2 ||grad P(w)||^2.
    See also `PairwiseHinge` (the hinge loss).

    Parameters
    ----------
    problem : PairwiseProblem
        Rows, levels and costs.
    tolerance : float
        `solve` ends at a duality gap of this share of P(w). Smaller values are slower and more exact; try 1e-3.
    max_iter : int
        Largest number of steps of L-BFGS.

    Attributes
    ----------
    w : ndarray of shape (n_features,)
        Weights.
    n_epochs : int
        Steps made.
    measured : structperc.solvers.certificates.Measurements
        Objectives and duality gaps.

    References
    ----------
    D. C. Liu and J. Nocedal: On the limited memory BFGS method for large scale optimization. Mathematical Programming 45, pages 503-528,
    1989.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.pairwise_hinge import PairwiseProblem, PairwiseSquaredHinge
    >>> problem = PairwiseProblem(np.array([[1.0], [3.0]]), np.array([0, 1], dtype=np.int32), np.array([0, 2]), np.array([1.0]))
    >>> svm = PairwiseSquaredHinge(problem, tolerance=1e-6, max_iter=100)
    >>> svm.solve(), svm.w.round(3).tolist()
    (True, [0.444])
    """

    last = None         # the weights at which P was computed last, and the result

    def __init__(self, problem, tolerance, max_iter):
        self.problem, self.measured, self.max_iter = problem, Measurements(tolerance), max_iter
        self.w, self.n_epochs = problem.origin.copy(), 0

    def solution(self) -> dict:
        """The weights, for `go_on`. Returns an ndarray of shape (n_features,)."""
        return {"w": self.w.copy()}

    def go_on(self, solution) -> None:
        """Warm start from these weights.

        Parameters
        ----------
        solution : ndarray of shape (n_features,)
            As `solution` returns it.
        """
        w = solution["w"]
        if w.shape != self.w.shape:
            raise DataError(f"warm_start=True goes on from {len(w)} weights, but X has {len(self.w)} features; "
                            f"pass the same columns, or use warm_start=False.")
        self.w = w.copy()

    def solve(self) -> bool:
        """Make steps until the gap is small. Returns whether the gap is small."""
        from scipy.optimize import minimize

        self.measured.take(certified(*self.at(self.w)[::2]))
        if not self.measured.close:
            minimize(lambda w: self.at(w)[:2], self.w, jac=True, method="L-BFGS-B", callback=self.step,
                     options={"maxiter": self.max_iter, "maxfun": 20 * self.max_iter, "ftol": 0.0, "gtol": 0.0, "maxcor": 20})
        return self.measured.close

    def step(self, w) -> None:
        """Accept a step of L-BFGS, and measure it. Raises `StopIteration` if the duality gap is small enough.

        Parameters
        ----------
        w : ndarray of shape (n_features,)
        """
        self.w = w.copy()
        self.n_epochs += 1
        self.measured.take(certified(*self.at(self.w)[::2]))
        if self.measured.close:
            raise StopIteration

    def at(self, w):
        """The objective P, its gradient and the duality gap at w.

        Parameters
        ----------
        w : ndarray of shape (n_features,)

        Returns
        -------
        objective : float
        gradient : ndarray of shape (n_features,)
        gap : float
        """
        if self.last is None or not np.array_equal(w, self.last[0]):
            self.last = w.copy(), self.computed(w)
        return self.last[1]

    def computed(self, w):
        """Compute what `at` returns.

        Parameters
        ----------
        w : ndarray of shape (n_features,)

        Returns
        -------
        objective : float
        gradient : ndarray of shape (n_features,)
        gap : float
        """
        problem = self.problem
        scores = problem.scores(w)
        up, down, lower, higher = problem.short_pairs(scores)
        costs = problem.costs[problem.group]
        above, below = up * (1 - scores) + lower, down * (1 + scores) - higher      # sums of violations by row
        moved = w - problem.origin
        objective = moved @ moved / 2 + costs @ (above * (1 - scores) + below * scores)
        gradient = moved + 2 * (problem.X.T @ (costs * (below - above)))
        return objective, gradient, gradient @ gradient / 2


__all__ = ["PairwiseHinge", "PairwiseProblem", "PairwiseSquaredHinge"]
