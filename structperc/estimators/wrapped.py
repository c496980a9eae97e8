"""What estimators around another ranker share: its clone, its labels, and its score of every boundary between two ranks."""

from __future__ import annotations

import numbers

import numpy as np

from structperc.basics.arguments import dimensions
from structperc.basics.labels import LabelCodes, find_labels, order_is_unknown, ordered_categories, refuse_continuous
from structperc.basics.rows_of_numbers import count_rows
from structperc.basics.sparse_parts import is_sparse, to_csr
from structperc.engine.engine import Engine
from structperc.errors import DataError, OptionError, shortened
from structperc.estimators.levels import SortedClasses, levels_named, order_in
from structperc.estimators.parameters import Parameters
from structperc.estimators.rankers import RankScore
from structperc.estimators.scikit_learn import ClassifierMixin, get_tags
from structperc.estimators.targets import as_column
from structperc.fitting.assembly import agreed
from structperc.fitting.options import LabelOptions
from structperc.pipelines import levels_of, unwrapped
from structperc.reading import matrices
from structperc.reading.frames import is_frame
from structperc.reading.other_libraries import as_table

SCORES = ("atom_scores", "threshold_scores")       # methods that return (n, K - 1) scores of "the rank is above k"


class WrappedRanker(SortedClasses, RankScore, ClassifierMixin, Parameters, LabelOptions):
    """An estimator of ordered labels around the parameter `estimator`; `estimator_` is what was trained, `levels_` the labels in order."""

    def predict(self, X) -> np.ndarray:
        """The labels of rows, shape (n_samples,)."""
        return self._trained().predict(X)

    def __sklearn_tags__(self):
        """What scikit-learn's tools should know: a classifier that takes what the inner estimator takes."""
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "get_params"):
            tags.input_tags = get_tags(self.estimator).input_tags
        tags.classifier_tags.poor_score = True
        return tags

    def _known(self):
        self._from_fit("levels_")
        return self

    def _trained(self):
        return self._known().estimator_

    def _read_labels(self, y):
        """The labels in order, and y as codes 1..K."""
        y = as_column(y)
        if dimensions(y) != 1:
            raise DataError(f"y is {shortened(y)}; expected one label for each row.")
        order, _ = order_in(y, self._order())
        if order is None and ordered_categories(y) is None:
            refuse_continuous(y)
        labels = find_labels(y, order, True)
        return labels, LabelCodes(labels).encode(y, len(y))

    def _order(self):
        """The order of labels that the parameter `classes` names, or that of the estimator within; None: that of y."""
        return agreed(self.classes, levels_named(self.estimator), "the estimator within")


def columns_known(estimator) -> dict:
    """What the inner estimator knows of its columns, for the outer one's attributes."""
    return {name: getattr(estimator, name) for name in ("n_features_in_", "feature_names_in_") if hasattr(estimator, name)}


def sliceable(X):
    """X in a form whose rows can be chosen: a data frame of any library, CSR, a list of objects as it is, else an array."""
    X = as_table(X)
    if is_frame(X):
        return X
    if is_sparse(X):
        return to_csr(X)
    if isinstance(X, (list, tuple)) and len(X) and not matrices.is_row(X[0]) and not isinstance(X[0], numbers.Number):
        return X
    X = np.asarray(X)
    matrices.refuse_complex(X)
    if X.ndim == 0:
        raise DataError(f"X is {shortened(X)}; expected rows.")
    return X


def has_order(estimator) -> bool:
    """Whether the labels of a trained estimator are in the order of ranks: not of another library's classifier, which sorts them."""
    _, last = unwrapped(estimator)
    return isinstance(last, Engine) or any(hasattr(last, name) for name in (*SCORES, "levels_", "thresholds_"))


def levels_in_order(estimator, named_by) -> np.ndarray:
    """The labels of a trained estimator in the order of ranks. Texts that it sorts raise an error."""
    labels = levels_of(estimator)
    if order_is_unknown(labels, None, labels) and not has_order(estimator):
        raise DataError(f"{type(estimator).__name__} sorts its labels {labels[:5].tolist()} by the alphabet, so their rank order is "
                        f"unknown; name it with {named_by}(..., classes=[lowest, ..., highest]).")
    return labels


def boundary_scores(estimator, X, labels):
    """The score of "the rank is above k" for k = 1..K - 1, float64 of shape (n, K - 1): 0 or more speaks for yes."""
    # From the first of these that the estimator has: `atom_scores` or `threshold_scores`; `latent_score` or `decision_function` minus
    # `thresholds_`; `predict_proba`, as the probability of a rank above k less 1/2.
    classes = levels_of(estimator).tolist() if hasattr(estimator, "classes_") else labels.tolist()
    name = type(estimator).__name__
    if set(classes) != set(labels.tolist()):
        missing = sorted(set(labels.tolist()) ^ set(classes), key=str)[0]
        raise DataError(f"{name} has learned the labels {classes[:8]}, and y has {labels.tolist()[:8]}: {missing!r} is not among both; "
                        f"train "
                        f"it on rows of every label, or hold out fewer rows.")
    for method in SCORES:
        if hasattr(estimator, method):
            return checked(np.asarray(getattr(estimator, method)(X), dtype=float), classes, labels, name)
    if hasattr(estimator, "thresholds_"):
        latent = estimator.latent_score(X) if hasattr(estimator, "latent_score") else estimator.decision_function(X)
        if np.ndim(latent) == 1:
            return checked(np.asarray(latent, dtype=float)[:, None] - estimator.thresholds_, classes, labels, name)
    if hasattr(estimator, "predict_proba"):
        column = LabelCodes(np.asarray(labels)).encode(estimator.classes_, len(classes)) - 1
        probabilities = np.empty((count_rows(X), len(classes)))
        probabilities[:, column] = estimator.predict_proba(X)
        return 0.5 - np.cumsum(probabilities, axis=1)[:, :-1]
    raise OptionError(f"{name} has no score of the boundaries between ranks: none of atom_scores, threshold_scores, thresholds_ beside "
                      f"latent_score, and predict_proba.")


def checked(scores, classes, labels, name):
    """Scores of the boundaries, of labels in the same order."""
    if classes != labels.tolist():
        raise DataError(f"{name} has the labels in the order {classes[:8]}, not {labels.tolist()[:8]}; pass the same classes= to both.")
    if scores.ndim != 2 or scores.shape[1] != len(labels) - 1:
        raise OptionError(f"{name} has scores of shape {scores.shape} for {len(labels)} labels; expected one for each of the "
                          f"{len(labels) - 1} boundaries between ranks. Its labels have no order.")
    return scores
