"""Ranking SVM: a pairwise hinge within queries, whose pairs are never formed."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from structperc.core.labels import is_nested
from structperc.engine.option import option
from structperc.engine.trainers import CONVERGED, INTERRUPTED, MAX_EPOCHS
from structperc.errors import DataError, OptionError
from structperc.estimators.base import declared
from structperc.estimators.parameters import NotFitted
from structperc.estimators.queries import QueryRanker, need_groups, one_name
from structperc.estimators.targets import as_column
from structperc.metrics.ranking import read_grades
from structperc.reading import matrices
from structperc.reading.groups import Groups
from structperc.solvers.certificates import too_large
from structperc.solvers.pairwise_hinge import PairwiseHinge, PairwiseProblem, PairwiseSquaredHinge

if TYPE_CHECKING:
    from typing_extensions import Self

JOACHIMS = """@inproceedings{joachims2006training,
  author = {Thorsten Joachims},
  title = {Training Linear {SVMs} in Linear Time},
  booktitle = {Proceedings of KDD},
  pages = {217--226},
  year = {2006}
}"""
SOLVERS = {"hinge": PairwiseHinge, "squared_hinge": PairwiseSquaredHinge}


@declared
class RankingSVM(QueryRanker):
    """Scores rows so that in each query those of higher relevance come first: a linear SVM on the differences of all such pairs.

        P(w) = 1/2 ||w||^2 + C sum over queries of weight * sum over pairs (i, j), y_i > y_j, of max(0, 1 - w . (x_i - x_j))

    or the squares of these. The pairs are not formed: their losses and gradients come from one sorted sweep, O(n log n). With "hinge"
    each query is a block of the dual problem. Blocks are improved in turn, and then all together, over sets of pairs that violate the
    margin. "squared_hinge" is smooth, and L-BFGS solves it. Both end at a certified duality gap. Features should have similar
    scales within a query.

    Attributes
    ----------
    coef_ : ndarray of shape (`n_features_in_`,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Only when X had names.
    n_iter_ : int
        Passes or steps that were made.
    objective_, gap_ : float
        P(w), and by how much at most it is above the optimum. NaN and inf where an interruption left nothing measured.
    objectives_, gaps_ : ndarray of shape (`n_iter_` + 1,)
        What was measured before the first pass and after each.
    status_ : str
        "converged", "max_epochs" or "interrupted".

    See Also
    --------
    LatentRanker : maximises precision among the top k documents.
    LeafFeatures : columns for non-linear relevance.

    Notes
    -----
    A pass of "hinge" takes about 0.1 ms per query and 0.5 us per row (sorting, mostly), beside products with X. Memory is a number
    per row for each of the few sets of pairs with weight. Products with X are those of numpy and scipy, which may differ in the
    last digit from machine to machine.

    References
    ----------
    T. Joachims: Training linear SVMs in linear time. KDD 2006.

    Examples
    --------
    >>> from structperc.estimators import RankingSVM
    >>> X = [[0.1, 1.0], [0.9, 0.2], [0.3, 0.4], [0.8, 0.9], [0.2, 0.7]]
    >>> model = RankingSVM(C=10).fit(X, [0, 2, 1, 1, 0], groups=["a", "a", "a", "b", "b"])
    >>> model.score(X, [0, 2, 1, 1, 0], groups=["a", "a", "a", "b", "b"])
    1.0
    >>> bool(model.gap_ <= 1e-3 * model.objective_)
    True
    """

    _texts: ClassVar[dict] = {}

    C: float = option(1e-3, "weight of the pairs' losses",
                      about="They are summed, so queries with many pairs count more, and the best C is often far below 1. A larger C needs "
                            'more passes: 63 queries with 9,219 rows took 0.2 s with C = 0.001, and 11 s with "hinge" and C = 1.')
    loss: str = option("squared_hinge", "loss of a pair", choices=("hinge", "squared_hinge"))
    tol: float = option(1e-3, "training ends at a duality gap of this part of P(w)")
    max_iter: int = option(1000, "passes over the queries, or steps of L-BFGS")
    warm_start: bool = option(
        False, "fit goes on from the last solution, also from that of an interrupted fit",
        about='"hinge" needs the same queries and relevances then; C, weights and features may have changed.')

    def fit(self, X, y=None, groups=None, qid=None, lengths=None, sample_weight=None, **unknown) -> Self:
        """Trains.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features), data frame, or list of one matrix per query
        y : array-like of shape (n_rows,)
            Relevances: numbers, larger ones first.
        groups, qid : array-like of shape (n_rows,), optional
            Which query each row belongs to, in any order; two names for the same.
        lengths : array-like of int, shape (n_queries,), optional
            How many rows each query has, instead of `groups`.
        sample_weight : array-like of shape (n_queries,), optional
            Scales C; queries are in the order in which they first appear.
        **unknown
            Raises an error by name.

        Returns
        -------
        self
            A failed fit leaves it as it was; Ctrl-C keeps what was learned, sets `status_` and is raised again.

        Raises
        ------
        DataError
            Also where no query has rows of different relevance.
        """
        self._check()
        self._refuse_unknown("fit", unknown)
        self._refuse_none(X, y)
        queries = Queries(X, y, one_name(groups, qid), lengths, sample_weight, self.C)
        solver = SOLVERS[self.loss](queries.problem, self.tol, self.max_iter)
        if self.warm_start and "_solution" in vars(self):
            self._go_on(solver)
        try:
            with np.errstate(all="ignore"):     # an overflow shows in the measurements
                status = CONVERGED if solver.solve() else MAX_EPOCHS
        except KeyboardInterrupt:
            self._keep(solver, queries, INTERRUPTED)
            raise
        self._keep(solver, queries, status)
        return self

    def decision_function(self, X) -> np.ndarray:
        """The score of each row of X, shape (n_rows,); larger is ranked before. Which query it belongs to does not matter.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, as in `fit`.

        Returns
        -------
        float64 array of shape (n_samples,)
        """
        if "coef_" not in vars(self):
            raise NotFitted(f"This {type(self).__name__} is not fitted yet; call fit first.")
        rows = matrices.read_alone(X)
        if rows.objects or rows.n_features != self.n_features_in_:
            raise DataError(f"X has {rows.n_features} features, but {type(self).__name__} is expecting {self.n_features_in_} features as "
                            f"input. Pass the columns of training, in the same order.")
        if rows.feature_names is not None and rows.feature_names != tuple(getattr(self, "feature_names_in_", rows.feature_names)):
            raise DataError("the columns of X are not those of the training; pass the same columns in the same order.")
        with np.errstate(all="ignore"):
            scores = rows.products(np.ascontiguousarray(self.coef_)[None])[:, 0]
        refuse_not_finite(rows, scores)
        return scores

    def citation(self) -> str:
        """BibTeX of the method.

        Returns
        -------
        str
        """
        return JOACHIMS

    def _check(self):
        for name in ("C", "tol"):
            value = getattr(self, name)
            if not isinstance(value, numbers.Real) or isinstance(value, bool) or not 0 < value < np.inf:
                raise OptionError(f"{name}={value!r}; expected a number greater than 0.")
        if self.loss not in SOLVERS:
            raise OptionError(f"loss={self.loss!r}; expected one of {', '.join(map(repr, SOLVERS))}.")
        if not isinstance(self.max_iter, numbers.Integral) or isinstance(self.max_iter, bool) or self.max_iter < 1:
            raise OptionError(f"max_iter={self.max_iter!r}; expected a whole number, at least 1.")

    def _go_on(self, solver):
        loss, solution = self._solution
        if loss != self.loss:
            raise OptionError("warm_start=True continues the last fit, but loss has changed since; "
                              "set it back, or use warm_start=False.")
        solver.go_on(solution)

    def _keep(self, solver, queries, status):
        measured = solver.measured
        self.coef_, self.objective_, self.gap_, self.status_ = solver.w.copy(), measured.objective, measured.gap, status
        self.objectives_, self.gaps_ = np.array(measured.objectives), np.array(measured.gaps)
        self.n_iter_, self.n_features_in_, self._solution = solver.n_epochs, len(solver.w), (self.loss, solver.solution())
        vars(self).pop("feature_names_in_", None)
        if queries.names is not None:
            self.feature_names_in_ = np.array(queries.names, dtype=object)


class Queries:
    """The rows of all queries, together and in order, and their pairs.

    Attributes
    ----------
    problem : PairwiseProblem
    names : tuple of str or None
        Of the columns of X.
    n_pairs : int
    """

    def __init__(self, X, y, groups, lengths, sample_weight, C) -> None:
        need_groups(X, groups, lengths)
        if y is None:
            raise DataError("RankingSVM requires y to be passed, but the target y is None.")
        self.data = Groups(X, None, lengths, groups)
        rows = matrices.read_alone(self.data.X, self.data.offsets)
        if rows.objects:
            raise DataError("X is a list of objects; expected rows of numbers.")
        self.names, offsets = rows.feature_names, np.asarray(rows.offsets)
        y = np.concatenate([np.asarray(grades) for grades in y]) if is_nested(y) else as_column(y)
        grades = read_grades(self.data.by_rows(y), rows.n_rows)
        levels, self.n_pairs = np.zeros(len(grades), dtype=np.intc), 0
        for start, stop in zip(offsets[:-1], offsets[1:], strict=True):
            _, levels[start:stop], counts = np.unique(grades[start:stop], return_inverse=True, return_counts=True)
            self.n_pairs += int(counts.sum() ** 2 - (counts**2).sum()) // 2
        if self.n_pairs == 0:
            raise DataError("no query has rows of different relevance in y, so there is no pair to learn from.")
        weights = matrices.sample_weights(sample_weight, len(offsets) - 1)
        costs = np.full(len(offsets) - 1, float(C)) if weights is None else C * weights
        with np.errstate(all="ignore"):
            refuse_not_finite(rows, rows.X @ np.zeros(rows.n_features), self.data.order)     # NaN and inf times 0 are NaN
        self.problem = PairwiseProblem(rows.X, levels, offsets, costs)


def refuse_not_finite(rows, values, order=None) -> None:
    """Returns why these numbers, made of X, are not finite. `order` has the places of the rows in the user's X."""
    if not np.isfinite(values).all():
        place = matrices.locate_not_finite(rows)
        if place is not None:
            row, column, value = place
            row = row if order is None else order[row]
            raise DataError(f"X[{row}, {column}] is {value}; X must be free of NaN and inf, so fill or drop that row.")
        raise too_large()
