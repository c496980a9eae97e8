"""scikit-learn's manners for problems with one label per row: Pipeline, GridSearchCV, clone and friends take these.

Nothing here imports scikit-learn until scikit-learn itself asks (`__sklearn_tags__` and metadata routing); everything but its
own tools works without it.
"""

from __future__ import annotations

import copy
import functools
import inspect
import sys
import warnings

import attrs
import numpy as np

from structperc import data as reading
from structperc import metrics
from structperc.core.labels import ordered_categories
from structperc.engine import Engine, same
from structperc.errors import DataError, NotFittedError, OptionError

__all__ = ["CuSumRank", "PRank", "StructuredClassifier"]

SHARED = ("problem", "plugins")     # parameters that clones share instead of copying
ROUTED = {"fit": ("sample_weight",), "partial_fit": ("classes", "sample_weight"), "score": ("sample_weight",)}

PARAMETERS = """
    loss : str, (r, r) array or None, default None
        What a wrong prediction costs; None: the problem's own (absolute for ranks, zero-one for classes).
    margin : float, default 1.0
        Passive-aggressive updates require the margin `margin * loss`.
    C : float, default 1.0
        Aggressiveness of "pa1" and "pa2".
    epochs : int, default 20
        Passes over the data; an epoch without update ends training before.
    average : bool, default True
        Predict with the mean of the weights after each visited example.
    decay : float in [0, 1), default 0.0
        Each update first multiplies the weights by 1 - decay.
    shuffle : bool, default True
        Visit the examples in a new random order each epoch.
    random_state : None, int, numpy Generator or RandomState, default None
        Seed of the shuffling.
    classes : list, optional
        The labels in order; otherwise an ordered categorical's own order, or the sorted labels of y.
    plugins : sequence of names, plugin objects, components or classes of these, default ()
        Further plugins; a later one replaces single hot spots of an earlier one. Clones share the objects; of a class each
        fit makes its own.
    plugin_options : dict, optional
        Options that the plugins declare."""

ATTRIBUTES = """
    engine_ : Engine
        What was trained.
    classes_ : ndarray
        The labels in order.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Names of the columns, when X had names and all were strings.
    n_iter_ : int
        Epochs that were run.
    mistakes_ : list of int
        Examples mispredicted during each epoch, before learning from them.
    status_ : str
        Why training ended: "converged", "max_epochs", "early_stopped" or "interrupted"."""


def documented(cls):
    """Writes the shared parameters and attributes into a class's docstring."""
    if cls.__doc__:
        cls.__doc__ = cls.__doc__.replace("{parameters}", PARAMETERS.strip()).replace("{attributes}", ATTRIBUTES.strip())
    return cls


def declared(cls):
    """An estimator: its fields are its parameters, stored as they are given."""
    return documented(attrs.define(slots=False, eq=False, repr=False, kw_only=True)(cls))


# ---- what scikit-learn expects of any estimator ----


class Parameters:
    """get_params, set_params, repr, clone and metadata requests, all from the constructor's signature."""

    def get_params(self, deep: bool = True) -> dict:
        """The constructor's parameters by name."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params):
        """Sets parameters by name; they take effect with the next fit."""
        known = self.get_params()
        for name in params:
            if name not in known:
                raise OptionError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {sorted(known)}.")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self):
        defaults = inspect.signature(type(self)).parameters
        shown = [f"{name}={value!r}" for name, value in self.get_params().items() if not same(value, defaults[name].default)]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __sklearn_clone__(self):
        """The same parameters, untrained. Plugin objects are shared, since they are what the user named, not state."""
        clone = type(self)(**{name: value if name in SHARED else copy.deepcopy(value) for name, value in self.get_params().items()})
        if "_requests" in vars(self):
            clone._requests = dict(self._requests)
        return clone

    def get_metadata_routing(self):
        """Which metadata each method asks for, as scikit-learn's metadata routing reads it."""
        from sklearn.utils.metadata_routing import MetadataRequest

        asked = vars(self).get("_requests", {})
        routing = MetadataRequest(owner=self)
        for method, names in ROUTED.items():
            for name in names:
                getattr(routing, method).add_request(param=name, alias=asked.get((method, name)))
        return routing

    def set_fit_request(self, *, sample_weight):
        """Whether metadata routing passes `sample_weight` to fit."""
        return self._request("fit", sample_weight=sample_weight)

    def set_partial_fit_request(self, **requests):
        """Whether metadata routing passes `classes` and `sample_weight` to partial_fit."""
        return self._request("partial_fit", **requests)

    def set_score_request(self, *, sample_weight):
        """Whether metadata routing passes `sample_weight` to score."""
        return self._request("score", sample_weight=sample_weight)

    def _request(self, method, **requests):
        for name in requests:
            if name not in ROUTED[method]:
                raise TypeError(f"{method} takes no metadata {name!r}; expected {' or '.join(map(repr, ROUTED[method]))}.")
        self._requests = {**vars(self).get("_requests", {}), **{(method, name): value for name, value in requests.items()}}
        return self


@functools.cache
def shared_class(ours, theirs):
    """A NotFittedError that users of either library catch, and that can be sent between processes."""
    return type(ours.__name__, (ours, theirs), {"__doc__": ours.__doc__, "__reduce__": lambda self: (not_fitted, self.args)})


def not_fitted(message) -> NotFittedError:
    """structperc's error, and scikit-learn's as well where that is in use."""
    theirs = sys.modules.get("sklearn.exceptions")
    return NotFittedError(message) if theirs is None else shared_class(NotFittedError, theirs.NotFittedError)(message)


def as_column(y):
    """y as an array or ordered categorical; a single column is flattened, with scikit-learn's warning."""
    try:
        array = np.asarray(y)
    except ValueError:
        raise DataError("y is ragged: its entries differ in length; expected one label per row.") from None
    if array.ndim == 2 and array.shape[1] == 1:
        theirs = sys.modules.get("sklearn.exceptions")
        warnings.warn("A column-vector y was passed when a 1d array was expected; pass y.ravel().",
                      UserWarning if theirs is None else theirs.DataConversionWarning, stacklevel=4)
        y, array = (y.iloc[:, 0] if hasattr(y, "iloc") else y), array[:, 0]
    return array if ordered_categories(y) is None else y


def refuse_continuous(y) -> None:
    """Real numbers that are not whole are a regression target, not labels."""
    if y.dtype.kind == "f":
        fractional = np.isfinite(y) & (y != np.floor(y))
        if fractional.any():
            i = int(np.argmax(fractional))
            raise DataError(f"Unknown label type: continuous. y[{i}] is {y[i]}; cut y into levels first, for instance with "
                            f"numpy.digitize, or name the levels with classes=[lowest, ..., highest].")


# ---- the estimators ----


@attrs.define(slots=False, eq=False, repr=False, kw_only=True)
class LabelEstimator(Parameters):
    """What the estimators share: an engine made from the parameters at each fit.

    The defaults are those that predicted best on held-out parts of 13 small real data sets, with features as they are and
    standardised: averaging and shuffling matter most, "pa2" with augment=1 beats the perceptron slightly.
    """

    update: str = "pa2"
    loss: object = None
    margin: float = 1.0
    augment: float = 1.0
    C: float = 1.0
    epochs: int = 20
    average: bool = True
    decay: float = 0.0
    shuffle: bool = True
    random_state: object = None
    classes: object = None
    plugins: object = ()
    plugin_options: object = None

    def fit(self, X, y, sample_weight=None):
        """Trains from nothing.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or data frame
            C-ordered float32/float64 and CSR are read in place.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Scales the steps of the perceptron and the C of "pa1" and "pa2"; 0 is as if the row were absent.

        Returns
        -------
        self
            A failed fit leaves it as it was; Ctrl-C keeps what was learned, sets `status_` and is raised again.
        """
        y = self._labels(y, self.classes)
        return self._train(self._engine(), "fit", X, y, sample_weight)

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """One pass over a part of the data, continuing from what fit or partial_fit learned.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array-like, optional
            All labels in order. Only the first call needs it, and only when neither the option `classes` nor the first y
            names them all.

        Returns
        -------
        self
        """
        engine = vars(self).get("engine_")
        if engine is None:
            classes = self._agreed(classes, self.classes, "the option classes")
            y = self._labels(y, classes)
            engine = self._engine(classes=classes)
        else:
            self._agreed(classes, engine.classes_, "the earlier calls")
            y = self._labels(y, engine.classes_)
            self._refuse_changes()
            self._compare(X)
        return self._train(engine, "partial_fit", X, y, sample_weight)

    def predict(self, X):
        """The label of largest score for each row of X."""
        return self._trained(X).predict(X)

    def score(self, X, y, sample_weight=None) -> float:
        """Accuracy: the share of rows that are predicted right; higher is better, 1 is perfect."""
        predicted, y = self.predict(X), np.asarray(as_column(y))
        if len(y) != len(predicted):
            raise DataError(f"y has {len(y)} labels but X has {len(predicted)} rows; give one label per row.")
        known = self.classes_.tolist()
        if not set(y.tolist()).intersection(known):
            raise DataError(f"y holds none of the labels {known[:5]} that this {type(self).__name__} predicts, but for instance "
                            f"{y.tolist()[0]!r}; pass labels of the same kind as in training.")
        return weighted_mean(y == predicted, sample_weight)

    def atom_scores(self, X):
        """The scores of the atoms that labels are made of, shape (n_samples, n_atoms); see the problem's plugin."""
        return self._trained(X).atom_scores(X)

    def explain(self, x):
        """Why x got its prediction: the winner's score minus the runner-up's, split exactly by atom and feature."""
        return self._trained().explain(x)

    def citation(self) -> str:
        """BibTeX of exactly the methods in use."""
        return (vars(self).get("engine_") or self._engine()).citation()

    @property
    def n_iter_(self):
        return len(self._trained().mistakes_)

    def __getattr__(self, name):
        """What training made known: the engine's attributes."""
        if name.endswith("_") and not name.startswith("_"):
            return getattr(self._trained(), name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_tags__(self):
        """What scikit-learn's tools should know; folds are stratified as for any classifier."""
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(estimator_type="classifier", classifier_tags=ClassifierTags(), target_tags=TargetTags(required=True),
                    input_tags=InputTags(sparse=True))

    # ---- between scikit-learn's ways and the engine's ----

    def _engine(self, **changed) -> Engine:
        """A new engine with these parameters."""
        options = {**self.get_params(), **changed}
        plugin_options = options.pop("plugin_options") or {}
        return Engine(options.pop("problem"), **options, **plugin_options)

    def _train(self, engine, method, X, y, sample_weight):
        """Keeps the engine once it has learned something, also when it was interrupted."""
        try:
            getattr(engine, method)(X, y, sample_weight=sample_weight)
        except KeyboardInterrupt:
            if hasattr(engine, "status_"):
                self._keep(engine)
            raise
        if not hasattr(engine, "classes_"):
            raise OptionError(f"{type(self).__name__} predicts one label per row, but the outputs of problem={engine.problem!r} have "
                              f"no labels; use structperc.Engine({engine.problem!r}).")
        return self._keep(engine)

    def _keep(self, engine):
        if vars(self).get("engine_") is not engine:
            self.engine_, self._trained_with = engine, self.get_params()
        return self

    def _trained(self, X=None) -> Engine:
        """The engine; X, when given, is compared with what it was trained on."""
        if "engine_" not in vars(self):
            raise not_fitted(f"This {type(self).__name__} is not fitted yet; call fit or partial_fit first.")
        if X is not None:
            self._compare(X)
        return self.engine_

    def _compare(self, X) -> None:
        """Refuses another number of features, and warns when only one side has feature names; the engine refuses different ones."""
        shape = getattr(X, "shape", ())
        if len(shape) == 2 and shape[1] != self.n_features_in_:
            raise DataError(f"X has {shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input; "
                            f"pass the columns that it was trained with, in the same order.")
        names, trained = reading.column_names(X), hasattr(self.engine_, "feature_names_in_")
        if names is None and trained:
            warnings.warn(f"X does not have valid feature names, but {type(self).__name__} was fitted with feature names.",
                          UserWarning, stacklevel=4)
        if names is not None and not trained:
            warnings.warn(f"X has feature names, but {type(self).__name__} was fitted without feature names.", UserWarning, stacklevel=4)

    def _labels(self, y, classes):
        """y as the engine takes it."""
        if y is None:
            raise DataError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        y = as_column(y)
        if classes is None and ordered_categories(y) is None:
            refuse_continuous(y)
        return y

    def _agreed(self, classes, known, where):
        """The classes that a call and `where` name; both must name the same."""
        if classes is None or known is None:
            return known if classes is None else classes
        now, before = np.asarray(classes).tolist(), np.asarray(known).tolist()
        if now != before:
            raise DataError(f"classes={now} is not the same as {before}, which {where} named; name the same labels in the same order, "
                            f"or leave classes out.")
        return known

    def _refuse_changes(self) -> None:
        """A parameter that was changed since training began would be ignored."""
        for name, before in self._trained_with.items():
            if not same(getattr(self, name), before):
                raise OptionError(f"{name} was {before!r} when training began and is {getattr(self, name)!r} now; partial_fit continues "
                                  f"with what it began, so set it back, or begin anew with fit or a clone.")


def weighted_mean(values, sample_weight) -> float:
    weights = reading.sample_weights(sample_weight, len(values))
    if weights is not None and not weights.any():
        raise DataError("all sample weights are 0, so there is nothing to average.")
    return float(np.average(values, weights=weights))


class RankEstimator(LabelEstimator):
    """Estimators of ordered labels."""

    def score(self, X, y, sample_weight=None) -> float:
        """1 - (mean absolute difference of ranks) / (r - 1): higher is better.

        1 is perfect, 0 is every row at the other end of the scale. Ranks are positions in `classes_`, whatever `loss` is
        trained for, so that models with different losses compare. Accuracy is `scoring="accuracy"`.
        """
        true, predicted, n_labels = metrics.codes(as_column(y), self.predict(X), self.classes_)
        return 1 - weighted_mean(np.abs(true - predicted), sample_weight) / (n_labels - 1)


@declared
class CuSumRank(RankEstimator):
    """Cumulative Sum Ranking: predicts ordered labels, each rank with a direction of its own.

    Features should have similar scales; put a StandardScaler before it.

    Parameters
    ----------
    update : str, default "pa2"
        "perceptron", "pa", "pa1", "pa2", or a plugin's update rule.
    augment : float, default 1.0
        Learn from the rank that maximises score + augment * loss; 0: from the prediction itself.
    fit_intercept : bool, default True
        Adds a constant feature.
    {parameters}

    Attributes
    ----------
    coef_ : ndarray of shape (r, n_features_in_)
        Rank k scores the sum of the first k rows times x; the first row is zero.
    intercept_ : ndarray of shape (r,)
    {attributes}

    Examples
    --------
    >>> from structperc.estimators import CuSumRank
    >>> X, y = [[-2.0], [-1.0], [0.5], [2.0]], ["low", "low", "middle", "high"]
    >>> model = CuSumRank(classes=["low", "middle", "high"], random_state=0).fit(X, y)
    >>> model.predict([[-3.0], [3.0]]).tolist()
    ['low', 'high']
    """

    fit_intercept: bool = True

    def _engine(self, **changed):
        return super()._engine(problem="cusum", **changed)


@declared
class PRank(RankEstimator):
    """PRank: predicts ordered labels by one direction and an ordered threshold between neighbouring ranks.

    Features should have similar scales; put a StandardScaler before it.

    Parameters
    ----------
    update : str, default "perceptron"
        "perceptron"; steps that are no whole numbers would disorder the thresholds.
    augment : float, default 0.0
        Learn from the rank that maximises score + augment * loss; 0: from the prediction itself.
    variant : {"structured", "original"}, default "structured"
        "original" is Crammer and Singer's update, which also counts ties as errors.
    {parameters}

    Attributes
    ----------
    coef_ : ndarray of shape (n_features_in_,)
    thresholds_ : ndarray of shape (r - 1,)
        The prediction is the lowest rank whose threshold exceeds `latent_score`.
    {attributes}

    Examples
    --------
    >>> from structperc.estimators import PRank
    >>> X, y = [[-2.0], [-1.0], [0.5], [2.0]], [1, 1, 2, 3]
    >>> model = PRank(random_state=0).fit(X, y)
    >>> model.predict([[-3.0], [3.0]]).tolist()
    [1, 3]
    """

    update: str = "perceptron"
    augment: float = 0.0
    variant: str = "structured"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True      # one direction cannot tell classes apart that have no order
        return tags

    def latent_score(self, X):
        """The score of each row along `coef_`, which the thresholds cut into ranks; shape (n_samples,)."""
        self.atom_scores(X)     # answers for what is wrong with X
        return reading.read(X).X @ self.coef_

    def _engine(self, **changed):
        return super()._engine(problem="prank", **changed)


@declared
class StructuredClassifier(LabelEstimator):
    """Predicts one label per row by any installed problem; plain multiclass classification by default.

    Features should have similar scales; put a StandardScaler before it.

    Parameters
    ----------
    problem : str or plugin object, default "multiclass"
        A problem whose outputs are labels.
    update : str, default "pa2"
        "perceptron", "pa", "pa1", "pa2", or a plugin's update rule.
    augment : float, default 1.0
        Learn from the label that maximises score + augment * loss; 0: from the prediction itself.
    fit_intercept : bool, default True
        Adds a constant feature (problems with thresholds have none).
    {parameters}

    Attributes
    ----------
    coef_, intercept_ : ndarray
        As the problem documents them: multiclass has shapes (r, n_features_in_) and (r,), also for two classes.
    {attributes}

    Examples
    --------
    >>> from structperc.estimators import StructuredClassifier
    >>> X, y = [[-2.0, 0.0], [2.0, 0.0], [0.0, 3.0]], ["left", "right", "up"]
    >>> StructuredClassifier(random_state=0).fit(X, y).predict([[-1.0, 0.0], [0.0, 1.0]]).tolist()
    ['left', 'up']
    """

    problem: object = "multiclass"
    fit_intercept: bool = True
