"""What estimators that rank the documents of queries share: how queries are told, predictions, places, and a score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from structperc import metrics
from structperc.basics.labels import is_listed, is_nested
from structperc.basics.rows_of_numbers import count_rows, entries_at
from structperc.errors import DataError, OptionError
from structperc.estimators.parameters import Parameters
from structperc.estimators.scikit_learn import UNUSED
from structperc.estimators.targets import as_column
from structperc.estimators.wrapped import sliceable
from structperc.fitting.option import Options, option, positional_option
from structperc.reading import matrices
from structperc.reading.groups import Groups, gather

if TYPE_CHECKING:
    from structperc.engine.explanation import Explanation

QUERIES = ("groups", "qid", "lengths")
ROUTING = ("In scikit-learn's tools: sklearn.set_config(enable_metadata_routing=True), then params={'groups': groups}.")


class QueryRanker(Parameters, Options):
    """An estimator of scores that order the documents of each query; wants `decision_function`."""

    __metadata_request__fit: ClassVar[dict] = {"groups": True}
    __metadata_request__partial_fit: ClassVar[dict] = {"groups": True}
    __metadata_request__score: ClassVar[dict] = {"groups": True}

    score_k: int | None = option(10, "places that `score` looks at, whatever training looked at; None: all")

    @property
    def classes_(self):
        """Not there: rankings have no labels."""
        raise AttributeError(f"{type(self).__name__} has no classes_, since rankings have no labels. Call scikit-learn's cross_val_predict "
                             f"with method=\"predict\", which returns the scores.")

    def predict(self, X) -> np.ndarray:
        """The score of each row of X, as `decision_function`: a ranking is what orders them. `rank` gives places."""
        return self.decision_function(X)

    def rank(self, X, groups=None, qid=None, lengths=None) -> np.ndarray:
        """The place of each document in its query.

        Parameters
        ----------
        X, groups, qid, lengths
            As in `fit`.

        Returns
        -------
        int array of shape (n_documents,)
            In the order of X, from 1 for the document of largest score, the earlier one where scores are equal. `rank(...) <= 10` are the
            documents on a page of ten.
        """
        scores = self.decision_function(X)
        return metrics.document_places(scores, groups=queries_of(X, scores, groups, qid, lengths))

    def score(self, X, y, groups=None, qid=None, lengths=None, sample_weight=None) -> float:
        """NDCG of the first `score_k` places, averaged over queries: from 0 to 1, higher is better.

        The measure does not depend on the training, so models with different `k`, `loss` and `C` compare. So do those of different
        estimators. `RankingScorer` makes scorers of other measures.

        Parameters
        ----------
        X, y, groups, qid, lengths
            As in `fit`.
        sample_weight : array-like of shape (n_queries,) or (n_rows,), optional
            What each query counts, as in `RankingScorer`.

        Returns
        -------
        float
            A document of relevance r is worth 2^r - 1, or the value of `gains` if the estimator has such. See `metrics.ndcg_at_k`.
        """
        return self._scorer()(self, X, y, groups, qid, lengths, sample_weight)

    def __sklearn_tags__(self):
        """What scikit-learn's tools should know; for rankings it has no type of estimator."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = tags.input_tags.sparse = True
        return tags

    def _scorer(self):
        return RankingScorer("ndcg", self.score_k)


class ListRanker(QueryRanker):
    """One with an engine, whose structures are the lists of documents that are shown."""

    def explain(self, X, baseline=None, groups=None) -> Explanation:
        """Why one query's documents got shown: the best list's score minus the next best one's, split exactly by document and feature.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, as in `fit`.
            All rows are one query.
        baseline : "mean", "zero" or one row, optional
            As in `Engine.explain`.
        groups : dict of str to list, optional
            As in `Engine.explain`.
        """
        return self._trained().explain(X, baseline=baseline, groups=groups)

    def margins(self, X, groups=None, qid=None, lengths=None) -> np.ndarray:
        """By how much the list shown of each query leads the next best one, shape (n_queries,); parameters as in `fit`.

        Parameters
        ----------
        X, groups, qid, lengths
            As in `fit`.
        """
        return self._trained().margins(X, groups=one_name(groups, qid), lengths=lengths)

    def predict_k_best(self, X, k, groups=None, qid=None, lengths=None) -> list[list[tuple[Any, float]]]:
        """The k lists of documents of largest score of each query, best first.
        Returns a list of n_queries lists of (documents, score). Documents are numbered from 0 in their query.

        Parameters
        ----------
        X
            As in `fit`.
        k : int
            How many lists.
        groups, qid, lengths
            As in `fit`.
        """
        return self._trained().predict_k_best(X, k, groups=one_name(groups, qid), lengths=lengths)


MEASURES = {        # and what of the scorer they take
    "ndcg": (metrics.ndcg_at_k, ("k", "gains")), "precision": (metrics.precision_at_k, ("k", "relevant")),
    "average-precision": (metrics.mean_average_precision, ("k", "relevant")), "pairs": (metrics.pair_accuracy, ()),
}  # fmt: skip


class RankingScorer(Parameters, Options):
    """A measure of rankings as `scoring` of scikit-learn's searches, with any estimator whose `predict` gives scores.

    So it measures rankers, pipelines that end in one, regressors, and rankers of other libraries. It asks metadata routing for `groups`.
    `set_score_request(qid=True)` asks for another name.
    See also `LabelScorer` (scorers of ordered labels) and `RankingSVM`, `LatentRanker` (rankers of documents).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn import config_context
    >>> from sklearn.model_selection import GroupKFold, cross_validate
    >>> from structperc.estimators import RankingScorer, RankingSVM
    >>> X, groups = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) // 6
    >>> y = (X[:, 0] > 0).astype(int)
    >>> scoring = {"NDCG": RankingScorer("ndcg", k=3), "P@2": RankingScorer("precision", k=2)}
    >>> with config_context(enable_metadata_routing=True):
    ...     found = cross_validate(RankingSVM(), X, y, scoring=scoring, params={"groups": groups}, cv=GroupKFold(5))
    >>> sorted(found), bool(found["test_NDCG"].mean() > 0.9)
    (['fit_time', 'score_time', 'test_NDCG', 'test_P@2'], True)
    """

    __metadata_request__score: ClassVar[dict] = {"groups": True, "estimator": UNUSED}

    measure: str = positional_option(
        kw_only=False, default="ndcg", help="measure of rankings", choices=tuple(MEASURES),
        about="`ndcg_at_k`, `precision_at_k`, `mean_average_precision` or `pair_accuracy` of `structperc.metrics`.")
    k: int | None = positional_option(kw_only=False, default=10, help='places that are looked at; None: all',
                                      about='"pairs" looks at all. "precision" needs a number.')
    relevant: float = positional_option(
        kw_only=False, default=1, help='a document of this or a higher relevance is relevant, for "precision" and "average-precision"')
    gains: Sequence | None = positional_option(
        kw_only=False, default=None, help='what documents of relevance 0, 1, 2, ... are worth, for "ndcg"; else 2^relevance - 1')

    def __call__(self, estimator, X, y, groups=None, qid=None, lengths=None, sample_weight=None) -> float:
        """The measure of a trained estimator. Higher is better, and 1 is perfect. Returns a float. The mean over queries.
        Raises `OptionError` if `measure` is unknown.
        Raises `DataError` if y is missing, if rows have no queries, or if both `groups` and `qid` are passed.

        Parameters
        ----------
        estimator : estimator
            Its `predict` returns a score for each row of X. Higher is more relevant.
        X : array-like of shape (n_rows, n_features), or list of matrices
            Documents. A list has a matrix for each query.
        y : array-like of shape (n_rows,), or list of arrays
            Relevance of each document.
        groups : array-like of shape (n_rows,), optional
            The query of each row.
        qid : array-like of shape (n_rows,), optional
            Another name for `groups`. Pass one of them.
        lengths : array-like of int, shape (n_queries,), optional
            Number of rows of each query, instead of `groups`.
        sample_weight : array-like of shape (n_queries,) or (n_rows,), optional
            Weights for the mean over queries, in the order in which these first appear. Rows of a query share one weight; folds of
            scikit-learn need weights of rows.
        """
        if self.measure not in MEASURES:
            raise OptionError(f"measure={self.measure!r}; expected one of {', '.join(map(repr, MEASURES))}.")
        if y is None:
            raise DataError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
        need_groups(X, one_name(groups, qid), lengths)
        scores = estimator.predict(X)
        y = np.concatenate([np.asarray(grades) for grades in y]) if is_nested(y) else as_column(y)
        measure, options = MEASURES[self.measure]
        queries = queries_of(X, scores, groups, qid, lengths)
        return measure(y, scores, groups=queries, sample_weight=weights_of_queries(sample_weight, queries),
                       **{name: getattr(self, name) for name in options})

    score = __call__        # metadata routing looks for the requests of this name


def weights_of_queries(sample_weight, queries):
    """The weight of each query: that of its rows if there is one for each row, else as it came."""
    if not is_listed(sample_weight) or len(sample_weight) != len(queries):
        return sample_weight
    order, offsets = gather(queries)
    order = np.arange(len(queries)) if order is None else order
    weights, first = matrices.sample_weights(sample_weight, len(queries)), np.repeat(order[offsets[:-1]], np.diff(offsets))
    unequal = np.flatnonzero(weights[order] != weights[first])
    if len(unequal):
        row, other = order[unequal[0]], first[unequal[0]]
        raise DataError(f"sample_weight[{row}] is {weights[row]:g}, and sample_weight[{other}] of the same query is {weights[other]:g}; "
                        f"expected one weight for all rows of a query.")
    return weights[order[offsets[:-1]]]


def weights_to_learn(X, groups, lengths, sample_weight):
    """`weights_of_queries` of a fit, whose rows need queries."""
    need_groups(X, groups, lengths)
    if sample_weight is None:
        return None
    n_rows = sum(block.shape[0] for block in matrices.as_examples(X)) if is_list_of_blocks(X) else count_rows(X)
    return weights_of_queries(sample_weight, queries_of(X, np.zeros(n_rows), groups, None, lengths))


def one_name(groups, qid):
    """`groups` and `qid` are two names for the same."""
    if groups is not None and qid is not None:
        raise DataError("groups and qid were given; they mean the same, so pass one of them.")
    return qid if groups is None else groups


def sizes(lengths, group):
    """`lengths` and `group` are two names for the same."""
    if lengths is not None and group is not None:
        raise DataError("lengths and group were given; they mean the same, so pass one of them.")
    return lengths if group is None else group


def parted(X, y, groups, lengths, sample_weight, share, random, noun="queries"):
    """X, y, lengths and weights of the queries to learn from, and those of a random share to hold out."""
    # Without groups and lengths X is a list with an entry for each query.
    if groups is None and lengths is None:
        of_rows, n, X, y = None, len(X), list(X), list(y)
    else:
        data = Groups(X, None, lengths, groups)
        X, n = sliceable(data.X), len(data.offsets) - 1
        y = np.concatenate([np.asarray(grades) for grades in y]) if is_nested(y) else np.asarray(data.by_rows(as_column(y)))
        of_rows = np.repeat(np.arange(n), np.diff(data.offsets))
    n_held = int(np.ceil(share * n))
    if n_held >= n:
        raise DataError(f"validation_fraction={share!r} of {n} {noun} leaves nothing to learn from; give more, or hold out fewer.")
    held = np.zeros(n, dtype=bool)
    held[random.permutation(n)[:n_held]] = True
    weights = matrices.sample_weights(sample_weight, n)

    def part(chosen):
        own_weights = None if weights is None else weights[chosen]
        if of_rows is None:
            numbers = np.flatnonzero(chosen).tolist()
            return [X[i] for i in numbers], [y[i] for i in numbers], None, own_weights
        rows = np.flatnonzero(chosen[of_rows])
        return entries_at(X, rows), y[rows], np.diff(data.offsets)[chosen], own_weights

    return part(~held), part(held)


def is_list_of_blocks(X) -> bool:
    """Whether X has a matrix for each query."""
    X = matrices.as_examples(X)
    return isinstance(X, (list, tuple)) and len(X) > 0 and matrices.is_block(X[0])


def need_groups(X, groups, lengths) -> None:
    """Only a list of matrices shows by itself which rows belong to a query."""
    if groups is None and lengths is None and not is_list_of_blocks(X):
        raise DataError("the rows of X have no queries: pass groups=[...] with an entry for each row, or lengths=[...]; "
                        f"lengths=[len(X)] for one query. {ROUTING}")


def queries_of(X, scores, groups, qid, lengths):
    """An entry for each row of X: which query it is of."""
    groups = one_name(groups, qid)
    need_groups(X, groups, lengths)
    blocks = is_list_of_blocks(X)
    data = Groups(X if blocks else np.asarray(scores)[:, None], None, lengths, groups)      # checks, without a copy of X
    if groups is not None:
        return groups
    sizes = [block.shape[0] for block in X] if blocks else np.diff(data.offsets)
    return np.repeat(np.arange(len(sizes)), sizes)
