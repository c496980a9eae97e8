"""Ranking SVM: a pairwise hinge within queries, whose pairs are never formed."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, ClassVar

import attrs
import numpy as np

from structperc.basics.labels import is_nested
from structperc.engine.engine import Engine
from structperc.errors import DataError, OptionError, shortened
from structperc.estimators.base import declared
from structperc.estimators.keeping import SavedEstimator, array_of, export, listed, note
from structperc.estimators.queries import ListRanker, one_name, sizes, weights_to_learn
from structperc.estimators.targets import as_column
from structperc.fitting.assembly import asked_reader, install_model
from structperc.fitting.option import option
from structperc.fitting.options import generator
from structperc.fitting.trainers import CONVERGED, INTERRUPTED, MAX_EPOCHS
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
class RankingSVM(SavedEstimator, ListRanker):
    """Scores rows so that in each query those of higher relevance come first: a linear SVM on the differences of all such pairs.

        P(w) = 1/2 ||w||^2 + C sum over queries of weight * sum over pairs (i, j), y_i > y_j, of max(0, 1 - w . (x_i - x_j))

    or the squares of these. The pairs are not formed: their losses and gradients come from one sorted sweep, O(n log n). With "hinge"
    each query is a block of the dual problem. Blocks are improved in turn, and then all together, over sets of pairs that violate the
    margin. "squared_hinge" is smooth, and L-BFGS solves it. Both end at a certified duality gap. Features should have similar
    scales within a query.
    See also `LatentRanker` (maximises precision among the top k documents) and `LeafFeatures` (columns for non-linear relevance).

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
    engine_ : Engine
        `Engine("latent-ranking", k=1)` with these weights: `explain`, `margins` and `predict_k_best` compare the document of each query
        that comes first with the others.

    Notes
    -----
    `partial_fit` solves P for further queries, with ||w - w0||^2 instead of ||w||^2. It changes the earlier weights w0 as little as the
    new pairs allow. Passive-aggressive steps do so too (Crammer et al., 2006).

    A pass of "hinge" takes about 0.1 ms per query and 0.5 us per row, mostly for sorting. Products with X are added. Memory is a number
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

    _elsewhere: ClassVar[dict] = dict.fromkeys(("eval_set", "validation_data"), " Training ends at a certified gap, not by held-out data; "
                                               "leave it out.")

    C: float = option(1e-3, "weight of the pairs' losses",
                      about="They are summed, so queries with many pairs count more, and the best C is often far below 1. A larger C needs "
                            'more passes: 63 queries with 9,219 rows took 0.2 s with C = 0.001, and 11 s with "hinge" and C = 1.')
    loss: str = option("squared_hinge", "loss of a pair", choices=("hinge", "squared_hinge"))
    tol: float = option(1e-3, "training ends at a duality gap of this part of P(w)")
    max_iter: int = option(1000, "passes over the queries, or steps of L-BFGS")
    warm_start: bool = option(
        False, "fit goes on from the last solution, also from that of an interrupted fit",
        about='"hinge" needs the same queries and relevances then; C, weights and features may have changed.')

    export = export

    def fit(self, X, y=None, groups=None, qid=None, lengths=None, sample_weight=None, group=None) -> Self:
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
        sample_weight : array-like of shape (n_queries,) or (n_rows,), optional
            Scales C; queries are in the order in which they first appear. Rows of a query share one weight.
        group : array-like of int, shape (n_queries,), optional
            The name that LightGBM and XGBoost have for `lengths`.

        Returns
        -------
        self
            A failed fit leaves it as it was; Ctrl-C keeps what was learned, sets `status_` and is raised again.

        Raises
        ------
        DataError
            Also where no query has rows of different relevance.
        """
        return self._learn("fit", X, y, one_name(groups, qid), sizes(lengths, group), sample_weight)

    def partial_fit(self, X, y=None, groups=None, qid=None, lengths=None, sample_weight=None, group=None) -> Self:
        """Learns from further queries: of all weights those that are best for them and near the present ones; see Notes.

        The first call is `fit`. All documents of a query must come in one call.

        Returns
        -------
        self
            `objective_`, `gap_` and `n_iter_` are those of this call.
        """
        return self._learn("partial_fit", X, y, one_name(groups, qid), sizes(lengths, group), sample_weight)

    def _learn(self, method, X, y, groups, lengths, sample_weight):
        self._check()
        self._refuse_none(X, y)
        before = vars(self).get("coef_") if method == "partial_fit" else None
        engine = Engine("latent-ranking", preset="paper", k=1)
        context, reader = asked_reader(engine, generator(None), X)
        reader = reader if before is None else self.engine_.model.parts.reader
        queries = Queries(X, y, groups, lengths, sample_weight, reader, learns=before is None)
        if before is not None:
            self._refuse_columns(queries.rows)
        solver = SOLVERS[self.loss](queries.problem(self.C, before), self.tol, self.max_iter)
        if self.warm_start and before is None and vars(self).get("_solution"):
            self._go_on(solver)
        try:
            with np.errstate(all="ignore"):     # an overflow shows in the measurements
                status = CONVERGED if solver.solve() else MAX_EPOCHS
        except KeyboardInterrupt:
            self._solved(engine, context, solver, queries, INTERRUPTED)
            raise
        return self._solved(engine, context, solver, queries, status)

    def decision_function(self, X) -> np.ndarray:
        """The score of each row of X, shape (n_rows,); larger is ranked before. Which query it belongs to does not matter."""
        self._trained()
        rows = matrices.read_alone(X, reads=self.engine_.model.parts.reader.read)
        self._refuse_columns(rows)
        with np.errstate(all="ignore"):
            scores = rows.products(np.ascontiguousarray(self.coef_)[None])[:, 0]
        refuse_not_finite(rows, scores)
        return scores

    def citation(self) -> str:
        """BibTeX of the method."""
        return JOACHIMS

    def _refuse_columns(self, rows):
        """Raises an error for rows of other columns than those of training."""
        if rows.objects or rows.n_features != len(self.coef_):
            raise DataError(f"X has {rows.n_features} features, but {type(self).__name__} is expecting {self.n_features_in_} features as "
                            f"input. Pass the columns of training, in the same order.")
        names = self.engine_.model.context.feature_names
        if None not in (names, rows.feature_names) and rows.feature_names != tuple(names):
            raise DataError("the columns of X are not those of the training; pass the same columns in the same order.")

    def _check(self):
        for name in ("C", "tol"):
            value = getattr(self, name)
            if not isinstance(value, numbers.Real) or isinstance(value, bool) or not 0 < value < np.inf:
                raise OptionError(f"{name}={shortened(value)}; expected a number greater than 0.")
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

    def _solved(self, engine, context, solver, queries, status):
        """Keeps a solution, and the engine that it makes."""
        measured = solver.measured
        context = attrs.evolve(context, n_features=len(solver.w), feature_names=queries.rows.feature_names)
        states = {"weights": {"weights": solver.w, "scales": np.array([1.0, 1.0]), "n_visited": np.array(len(queries.weights))}}
        install_model(engine, context, None, states, {"status": status}, queries.reader)
        vars(self).update({
            "objective_": measured.objective, "gap_": measured.gap, "objectives_": np.array(measured.objectives),
            "gaps_": np.array(measured.gaps), "n_iter_": solver.n_epochs, "_solution": (self.loss, solver.solution()),
        })
        return self._keep(engine)

    def _keep(self, engine):
        vars(self).pop("feature_names_in_", None)
        attributes = {"feature_names_in_": engine.feature_names_in_} if hasattr(engine, "feature_names_in_") else {}
        vars(self).update({**attributes, "engine_": engine, "coef_": engine.coef_, "n_features_in_": engine.n_features_in_,
                           "status_": engine.status_})
        note(self, engine)
        return self

    def _trained(self):
        return self._from_fit("engine_")

    def _fitted(self):
        if "engine_" not in vars(self):
            return {}
        return {"measured": listed([self.objective_, self.gap_]), "n_iter": self.n_iter_,
                "objectives": listed(self.objectives_), "gaps": listed(self.gaps_)}

    def _revive(self, trained, fitted):
        self.objective_, self.gap_ = array_of(fitted["measured"]).tolist()
        self.objectives_, self.gaps_, self.n_iter_ = array_of(fitted["objectives"]), array_of(fitted["gaps"]), int(fitted["n_iter"])
        self._keep(trained)


class Queries:
    """The rows of all queries, together and in order, and their pairs."""
    # weights: ndarray of shape (n_queries,)

    def __init__(self, X, y, groups, lengths, sample_weight, reader, learns) -> None:
        sample_weight = weights_to_learn(X, groups, lengths, sample_weight)
        if y is None:
            raise DataError("RankingSVM requires y to be passed, but the target y is None.")
        self.data = Groups(X, None, lengths, groups)
        self.reader = reader
        self.rows = rows = matrices.read_alone(self.data.X, self.data.offsets, reader.learn if learns else reader.read)
        if rows.objects:
            raise DataError("X is a list of objects; expected rows of numbers.")
        self.offsets = offsets = np.asarray(rows.offsets)
        y = np.concatenate([np.asarray(grades) for grades in y]) if is_nested(y) else as_column(y)
        grades = read_grades(self.data.by_rows(y), rows.n_rows)
        levels, self.n_pairs = np.zeros(len(grades), dtype=np.intc), 0
        for start, stop in zip(offsets[:-1], offsets[1:], strict=True):
            _, levels[start:stop], counts = np.unique(grades[start:stop], return_inverse=True, return_counts=True)
            self.n_pairs += int(counts.sum() ** 2 - (counts**2).sum()) // 2
        if self.n_pairs == 0:
            raise DataError("no query has rows of different relevance in y, so there is no pair to learn from.")
        weights = matrices.sample_weights(sample_weight, len(offsets) - 1)
        self.weights, self.levels = np.ones(len(offsets) - 1) if weights is None else weights, levels
        with np.errstate(all="ignore"):
            refuse_not_finite(rows, rows.X @ np.zeros(rows.n_features), self.data.order)     # NaN and inf times 0 are NaN

    def problem(self, C, origin):
        """What is to be solved, from these weights on or from 0."""
        return PairwiseProblem(self.rows.X, self.levels, self.offsets, C * self.weights, origin)


def refuse_not_finite(rows, values, order=None) -> None:
    """Returns why these numbers, made of X, are not finite. `order` has the places of the rows in the user's X."""
    if not np.isfinite(values).all():
        place = matrices.locate_not_finite(rows)
        if place is not None:
            row, column, value = place
            row = row if order is None else order[row]
            raise DataError(f"X[{row}, {column}] is {value}; X must be free of NaN and inf, so fill or drop that row.")
        raise too_large()
