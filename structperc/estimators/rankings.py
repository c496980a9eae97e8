"""Estimators of what to show of a query's documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from structperc.basics.labels import is_nested
from structperc.basics.rows_of_numbers import count_rows
from structperc.callbacks import EarlyStopping
from structperc.estimators.base import ATTRIBUTES, EngineEstimator, declared
from structperc.estimators.labels import COLUMNS
from structperc.estimators.queries import ListRanker, RankingScorer, is_list_of_blocks, one_name, parted, sizes, weights_to_learn
from structperc.estimators.targets import as_column
from structperc.fitting.option import Option, option
from structperc.fitting.options import generator
from structperc.reading.groups import Groups

if TYPE_CHECKING:
    from typing_extensions import Self

MOST_SHOWN = 10
FRACTION, PATIENCE = Option(0.1, above=0, below=1), Option(None, types=(int, type(None)), low=1)
ABOUT_TRAINING = ATTRIBUTES.replace("""
    classes_ : ndarray
        The labels in order.""", "").replace("Examples mispredicted", "Queries whose list was not the best one")


@declared
class LatentRanker(ListRanker, EngineEstimator):
    """Learning-to-rank model that maximises precision among the top k documents: a latent perceptron.

    A row of X describes a document of a query. Features that only depend on the query have no effect. Documents are shown by their score,
    which is linear in the row. Each step raises some relevant documents above the irrelevant ones that were shown. These are the documents
    of the best list by present scores. Features should have similar scales within a query.
    See also `RankingSVM` (learns from all pairs of documents of a query) and `LeafFeatures` (columns for non-linear relevance).

    Attributes
    ----------
    coef_ : ndarray of shape (`n_features_in_`,)
        A document's score is its row times this.
    k_ : int
        Documents that are shown, also if `k` is None.
    {attributes}

    Notes
    -----
    `groups` (or `qid`, which is the same) has the query of each row, in any order. `lengths` has the numbers of neighbouring rows of each
    query. Pass one of them in training and in prediction. Of documents with equal scores the earlier one is shown. A list of a query with
    fewer than k documents shows all of them, and each counts 1 / k.

    `loss` is what a list lacks: "precision" (the default), "recall", "ndcg" or "average-precision". The last two are only measured, and
    need `loss_weight=0`, which is then their default. Features with a larger spread need a larger `loss_weight`. 5 to 20 predicted best on
    held-out queries of OHSUMED, whose features lie between 0 and 1. The updates are "latent", "perceptron", "pa", "pa1" and "pa2".

    References
    ----------
    C.-N. J. Yu and T. Joachims: Learning Structural SVMs with Latent Variables. Proceedings of the 26th International Conference on Machine
    Learning, 2009.

    Examples
    --------
    >>> from structperc.estimators import LatentRanker
    >>> X = [[0.1, 1.0], [0.9, 0.2], [0.3, 0.4], [0.8, 0.9], [0.2, 0.7]]
    >>> model = LatentRanker(k=1, random_state=0).fit(X, [0, 1, 0, 1, 0], groups=["a", "a", "a", "b", "b"])
    >>> model.rank(X, groups=["a", "a", "a", "b", "b"]).tolist()
    [3, 1, 2, 1, 2]
    >>> model.score(X, [0, 1, 0, 1, 0], groups=["a", "a", "a", "b", "b"])
    1.0
    """

    _texts: ClassVar[dict] = {"attributes": ABOUT_TRAINING + COLUMNS}
    _untrained: ClassVar[tuple] = ("verbose", "score_k", "n_iter_no_change", "validation_fraction")

    _elsewhere: ClassVar[dict] = dict.fromkeys(("eval_set", "validation_data"), " Set LatentRanker(n_iter_no_change=3), which holds out "
                                               "queries, or plugins=[structperc.callbacks.EarlyStopping(X, y, groups=groups)].")

    k: int | None = option(
        None, "documents that are shown of each query, and that training looks at",
        about="A list that shows all documents of its query teaches nothing. None: 10, or half of the median query in the first training "
              "call if that is less.")
    relevant: float = option(1, "a document of this or a higher relevance is relevant")
    gains: Sequence = option((), "what documents of relevance 0, 1, 2, ... are worth, instead of `relevant`; empty: 1 or 0")

    n_iter_no_change: int | None = option(
        None, "early stopping: `fit` holds out queries, and ends once their loss has not fallen for so many epochs",
        about="The model has the weights of the best epoch. None: all epochs, on all queries.")
    validation_fraction: float = option(0.1, "share of the queries that `n_iter_no_change` holds out, drawn by `random_state`")

    def fit(self, X, y=None, groups=None, qid=None, lengths=None, sample_weight=None, group=None) -> Self:
        """Trains from nothing.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_documents, n_features), data frame, or list of one matrix per query
            C-ordered float32/float64 and CSR are read in place, unless the rows of a group have to be gathered.
        y : array-like of shape (n_documents,), or list of one array per query
            The relevance of each document.
        groups, qid : array-like of shape (n_documents,), optional
            Which query each row belongs to; two names for the same.
        lengths : array-like of int, shape (n_queries,), optional
            How many rows each query has, instead of `groups`.
        sample_weight : array-like of shape (n_queries,) or (n_rows,), optional
            Scales the steps of "latent" and "perceptron" and the C of "pa1" and "pa2". Queries are in the order of their first row. 0
            leaves the query out. Rows of a query share one weight.
        group : array-like of int, shape (n_queries,), optional
            The name that LightGBM and XGBoost have for `lengths`.

        Returns
        -------
        self
            A failed fit leaves it as it was; Ctrl-C keeps what was learned, sets `status_` and is raised again.

        Raises
        ------
        DataError
            Also if the rows have no queries.
        """
        self._refuse_none(X, y)
        groups, lengths = one_name(groups, qid), sizes(lengths, group)
        patience = PATIENCE.read("n_iter_no_change", self.n_iter_no_change)
        if patience is None:
            return self._learn(None, "fit", X, y, groups, lengths, sample_weight)
        sample_weight = weights_to_learn(X, groups, lengths, sample_weight)
        share, held = FRACTION.read("validation_fraction", self.validation_fraction), generator(self.random_state)
        (X, y, lengths, weights), (X_held, y_held, lengths_held, _) = parted(X, y, groups, lengths, sample_weight, share, held)
        stopping = EarlyStopping(X_held, y_held, patience, lengths=lengths_held)
        return self._learn(None, "fit", X, y, None, lengths, weights, plugins=(*self.plugins, stopping))

    def partial_fit(self, X, y=None, groups=None, qid=None, lengths=None, sample_weight=None, group=None) -> Self:
        """One pass over a part of the queries, continuing from what fit or partial_fit learned; parameters as in `fit`.

        All documents of a query must come in one call. Returns `LatentRanker`. Itself.
        """
        engine = vars(self).get("engine_")
        if engine is not None:
            self._refuse_changes()
            self._compare(X)
        self._refuse_none(X, y)
        return self._learn(engine, "partial_fit", X, y, one_name(groups, qid), sizes(lengths, group), sample_weight)

    def decision_function(self, X) -> np.ndarray:
        """The score of each row of X, shape (n_documents,); larger is shown first. Which query it belongs to does not matter."""
        engine = self._trained()
        self._compare(X)
        if is_list_of_blocks(X):
            return np.concatenate(engine.atom_scores(X))
        return engine.atom_scores(X, lengths=[count_rows(X)])[0]

    def _engine(self, **changed):
        return super()._engine(problem="latent-ranking", **changed)

    @property
    def k_(self) -> int:
        return self._trained().parts_.outputs.k

    def __dir__(self):
        return sorted({*super().__dir__(), *(("k_",) if "engine_" in vars(self) else ())})

    def _learn(self, engine, method, X, y, groups, lengths, sample_weight, **changed):
        """Trains an engine, or a new one if there is none."""
        sample_weight = weights_to_learn(X, groups, lengths, sample_weight)
        if engine is None:
            engine = self._engine(**changed, k=usual_k(X, groups, lengths) if self.k is None else self.k)
        y = y if is_nested(y) else as_column(y)
        return self._train(engine, method, X, y, groups=groups, lengths=lengths, sample_weight=sample_weight)

    def _scorer(self):
        return RankingScorer("ndcg", self.score_k, gains=self.gains)


def usual_k(X, groups, lengths) -> int:
    """Half of the documents of the median query, from 1 to 10."""
    if is_list_of_blocks(X):
        n_documents = [count_rows(block) for block in X]
    else:
        n_documents = np.diff(Groups(np.zeros((count_rows(X), 1)), None, lengths, groups).offsets)       # without a copy of X
    return int(np.clip(np.median(n_documents) // 2, 1, MOST_SHOWN)) if len(n_documents) else MOST_SHOWN
