"""Trees of other libraries: what columns add to their scores, as TreeSHAP has it, and their own text in model files.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from structperc.basics.plain_values import is_plain, labels_noted, noted_labels
from structperc.basics.rows_of_numbers import to_dense
from structperc.engine import model_file
from structperc.engine.baselines import CONSTANT
from structperc.engine.explanation import SCORE, Contribution, Explanation, largest_first, side_of
from structperc.errors import DataError, MissingExtra, ModelFormatError, OptionError, PluginError, shortened
from structperc.estimators.parameters import offered_if
from structperc.extras import require
from structperc.fitting.option import same
from structperc.pictures import Ruler

__all__ = ["explain_levels", "require_contributions", "tree_contributions"]

TREES = "trees"                 # the array of a model file that has them
AVERAGE = "average"             # what explanations compare with: the mean score of the rows that the trees were trained on
EXACT = 1e-4                    # of a sum that has to be a score; XGBoost's are of float32


class LightGBM:
    """Trees of LightGBM: log odds, and `model_to_string`."""

    classifiers, tuples, held = ("LGBMClassifier",), (), True

    @staticmethod
    def contributions(model, X):
        return model.booster_.predict(X, pred_contrib=True)

    @staticmethod
    def content(model):
        return model.booster_.model_to_string().encode()

    @staticmethod
    def restored(library, content, made, classes):
        return LightGBMTrees(library.Booster(model_str=content.decode()), classes, described(made))


class LightGBMTrees:
    """The trees of an LGBMClassifier of two classes from a model file; LightGBM makes no classifier of them."""

    def __init__(self, booster, classes, description):
        self.booster_, self.classes_, self.description = booster, classes, description

    def predict_proba(self, X) -> np.ndarray:
        """The probabilities of both classes, shape (n, 2), to the bit those of the classifier."""
        above = self.booster_.predict(X)
        return np.vstack([1.0 - above, above]).T

    @offered_if(lambda self: hasattr(require("lightgbm", "this model", "trees").LGBMClassifier, "decision_function"))
    def decision_function(self, X) -> np.ndarray:
        """The log odds, shape (n,), where classifiers of this version of LightGBM have them."""
        return self.booster_.predict(X, raw_score=True)


class XGBoost:
    """Trees of XGBoost: log odds in float32, and the bytes of `save_raw`."""

    classifiers, tuples, held = ("XGBClassifier",), ("monotone_constraints",), True          # it takes no list of these

    @staticmethod
    def contributions(model, X):
        booster, best = model.get_booster(), getattr(model, "best_iteration", None) if model.early_stopping_rounds else None
        rows = require("xgboost", "explain", "trees").DMatrix(X, missing=model.missing, enable_categorical=True)
        return booster.predict(rows, pred_contribs=True, iteration_range=(0, 0 if best is None else best + 1))

    @staticmethod
    def content(model):
        return bytes(model.get_booster().save_raw("ubj"))

    @staticmethod
    def restored(library, content, made, classes):
        made.load_model(bytearray(content))
        return made


class CatBoost:
    """Trees of CatBoost: log odds, and its format cbm."""

    classifiers, tuples, held = ("CatBoostClassifier",), ("cat_features",), True           # scikit-learn clones no list of these

    @staticmethod
    def contributions(model, X):
        pool = require("catboost", "explain", "trees").Pool(X, cat_features=model.get_cat_feature_indices() or None)
        return model.get_feature_importance(pool, type="ShapValues")

    @staticmethod
    def content(model):
        with tempfile.TemporaryDirectory() as folder:               # it writes to paths only
            path = Path(folder) / "trees.cbm"
            model.save_model(str(path))
            return path.read_bytes()

    @staticmethod
    def restored(library, content, made, classes):
        made.load_model(blob=content)
        return made


class ScikitLearn:
    """Trees of scikit-learn, which have no format of their own. Scores of histogram boosting are log odds, of forests probabilities."""

    boosted = ("HistGradientBoostingClassifier", "GradientBoostingClassifier")
    classifiers = (*boosted, "RandomForestClassifier", "ExtraTreesClassifier", "DecisionTreeClassifier")
    held = False

    @staticmethod
    def contributions(model, X):
        explained = require("shap", "explain of scikit-learn's trees", "trees").TreeExplainer(model)
        values, base = np.asarray(explained.shap_values(X, check_additivity=False)), np.ravel(explained.expected_value)[-1]
        values = values[..., -1] if values.ndim == 3 else values        # of forests for both classes
        return np.column_stack([values, np.full(len(values), base)])


LIBRARIES = {"lightgbm": LightGBM, "xgboost": XGBoost, "catboost": CatBoost, "sklearn": ScikitLearn}


# ---- what columns add ----


def library_of(model):
    """The name of the library of a classifier of trees, or of its base class, and of the class. None: of none of these."""
    if isinstance(model, LightGBMTrees):
        return "lightgbm", "LGBMClassifier"
    for cls in type(model).__mro__:
        library = cls.__module__.partition(".")[0]
        if library in LIBRARIES and cls.__name__ in LIBRARIES[library].classifiers:
            return library, cls.__name__
    return None


def require_contributions(model) -> None:
    """Raises `OptionError` for a classifier that `tree_contributions` does not know.

    Parameters
    ----------
    model : classifier

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from structperc.errors import OptionError
    >>> from structperc.estimators.tree_libraries import require_contributions
    >>> require_contributions(DecisionTreeClassifier())
    >>> try:
    ...     require_contributions(LogisticRegression())
    ... except OptionError:
    ...     print("no trees")
    no trees
    """
    if library_of(model) is None:
        raise OptionError(f"{type(model).__name__} has no explanations, which are of trees of LightGBM, XGBoost, CatBoost and "
                          f"scikit-learn. Train CuSumRank or PRank for linear ones.")


def tree_contributions(model, X):
    """What each column adds to the score of class 1, by TreeSHAP. The sum begins at the mean score.

    The score is the log odds, of forests and single trees of scikit-learn the probability. The cost is that of the library. Raises
    `OptionError` for other classifiers, and `MissingExtra` if scikit-learn's trees are explained without shap.

    Parameters
    ----------
    model : trained classifier of two classes
        One that `require_contributions` takes.
    X : array, sparse matrix or data frame of shape (n, d)
        Rows as it takes them.

    Returns
    -------
    columns : float64 array of shape (n, d)
    start : float64 array of shape (n,)
        The row sums of `columns` plus these are the scores, up to rounding.
    of_probability : bool
        Whether scores are probabilities.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from structperc.errors import OptionError
    >>> from structperc.estimators.tree_libraries import tree_contributions
    >>> try:
    ...     tree_contributions(LogisticRegression(), [[0.0]])
    ... except OptionError:
    ...     print("no trees")
    no trees
    """
    require_contributions(model)
    library, name = library_of(model)
    try:
        table = LIBRARIES[library].contributions(model, X)
    except MissingExtra:
        raise
    except Exception as error:              # libraries have errors of their own
        raise PluginError(f"TreeSHAP of {name} failed: {type(error).__name__}: {error!s:.200}. predict_marginals has its "
                          f"probabilities.") from error
    table = np.asarray(to_dense(table), dtype=np.float64)
    return table[:, :-1], table[:, -1], library == "sklearn" and name not in ScikitLearn.boosted


def explain_levels(levels, scores, columns, start, names, against=None) -> Explanation:
    """Explains ordered labels by what columns add to the scores of their boundaries.

    The way leads from the mean score to the score of the row, both averages over boundaries. With `against` the boundaries between the
    winner and that label are split one by one. Raises `DataError` for one level, or a label that is none, and `PluginError` if the sums
    are not the scores.

    Parameters
    ----------
    levels : array of shape (K,)
        Labels in order.
    scores : array of shape (K - 1,)
        Of "above level k": 0 or more speaks for it. The number of these plus 1 is the rank.
    columns : array of shape (K - 1, d)
        What each column adds.
    start : array of shape (K - 1,)
        Where each sum begins.
    names : sequence of str
        Of the d columns.
    against : object, optional
        A label.

    Examples
    --------
    >>> from structperc.estimators.tree_libraries import explain_levels
    >>> why = explain_levels([1, 2, 3], [2.0, -1.0], [[1.0, 0.5], [0.0, 0.5]], [0.5, -1.5], ["a", "b"])
    >>> why.winner, why.runner_up, why.margin, why.score, why.start
    (2, 3, 1.0, 0.5, -0.5)
    """
    levels, scores, columns, start = np.asarray(levels), *(np.asarray(part, dtype=float) for part in (scores, columns, start))
    if not len(scores):
        raise DataError("this model has one label, so there is no runner-up.")
    sums = columns.sum(axis=1) + start
    wrong = np.abs(sums - scores) > EXACT * (1 + np.abs(scores))
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        raise PluginError(f"the contributions of columns add up to {sums[k]:.6g} for labels above {levels[k]}, but the score is "
                          f"{scores[k]:.6g}. The library's TreeSHAP does not know these trees; predict_marginals has its probabilities.")
    start = start + scores - sums               # what rounding leaves
    ordered = np.sort(scores)[::-1]
    rank, labels = int((scores >= 0).sum()), levels.tolist()
    if against is None:
        down, up = (abs(ordered[k]) if 0 <= k < len(ordered) else np.inf for k in (rank - 1, rank))
        rival, score = rank - 1 if down <= up else rank + 1, float(scores.mean())
        terms = [(CONSTANT, -1, float(start.mean())), *((name, j, value) for j, (name, value) in enumerate(
            zip(names, columns.mean(axis=0).tolist(), strict=True)))]
        way = [Contribution(SCORE, name, value, side_of(name, j, value), j) for name, j, value in terms if value]
        ruler = Ruler([str(label) for label in labels], (score - ordered).tolist(), score, rank, rival, start=terms[0][2])
        return Explanation(labels[rank], labels[rival], float(min(down, up)), {SCORE: score}, largest_first(way), {}, ruler, AVERAGE, score)
    if against not in labels or against == labels[rank]:
        raise DataError(f"against={shortened(against)} is " + ("the prediction itself; name another label, or leave against out."
                                                        if against in labels else
                                                        f"no label of this model. Expected one of {labels[:10]}."))
    rival = labels.index(against)
    sign, side = (1, "for") if rival < rank else (-1, "against")
    atoms, parts = {}, []
    for k in range(min(rank, rival), max(rank, rival)):
        name = f"above {labels[k]}"
        atoms[name] = float(sign * scores[k])
        terms = [(CONSTANT, -1, start[k]), *((column, j, value) for j, (column, value) in enumerate(zip(names, columns[k], strict=True)))]
        parts += [Contribution(name, column, float(sign * value), side, j) for column, j, value in terms if value]
    return Explanation(labels[rank], labels[rival], sum(atoms.values()), atoms, largest_first(parts), dict.fromkeys(atoms, side), None,
                       AVERAGE)


# ---- model files ----


def can_be_held(model) -> bool:
    """Whether a model file can hold a trained classifier: one of a library with a format, and no subclass."""
    known = library_of(model)
    return known is not None and LIBRARIES[known[0]].held and type(model).__name__ in (known[1], LightGBMTrees.__name__)


def described(model) -> dict:
    """An untrained classifier as JSON has it: its library, its class, and the parameters that differ from the defaults."""
    library, name = library_of(model)
    if isinstance(model, LightGBMTrees):
        return model.description
    defaults, parameters = type(model)().get_params(deep=False), model.get_params(deep=False)
    changed = {key: value.item() if isinstance(value, np.generic) else value for key, value in parameters.items()
               if not same(value, defaults.get(key))}
    for key, value in changed.items():
        if not is_plain(value):
            raise OptionError(f"a model file cannot hold {key}={shortened(value)} of {name}; pickle it.")
    return {"library": library, "classifier": name, "parameters": changed}


def constructed(description):
    """The classifier that `described` wrote, untrained."""
    library, name, parameters = (description[key] for key in ("library", "classifier", "parameters"))
    if library not in LIBRARIES or not LIBRARIES[library].held or name not in LIBRARIES[library].classifiers:
        raise DataError(f"it is of {shortened(library, 40)} and {shortened(name, 40)}, which hold no trees that a file may name")
    tuples = {key: tuple(value) for key, value in parameters.items() if key in LIBRARIES[library].tuples and type(value) is list}
    return getattr(require(library, "this model", "trees"), name)(**{**parameters, **tuples})


def save(model, path, notes) -> None:
    """Writes a model file without an engine: the trees of a classifier in their own format, and the notes of what is around it."""
    description = described(model)
    library = require(description["library"], "this model", "trees")
    header = {**description, "library_version": library.__version__, "classes": noted_labels(np.asarray(model.classes_)),
              "notes": notes}
    content = np.frombuffer(LIBRARIES[description["library"]].content(model), dtype=np.uint8)
    model_file.save_trees(path, header, {TREES: content})


def restored(header, arrays, source):
    """The trained classifier of such a file."""
    try:
        content, made = arrays[TREES].read().tobytes(), constructed(header)
        library, classes = require(header["library"], "this model", "trees"), labels_noted(header["classes"])
        return LIBRARIES[header["library"]].restored(library, content, made, classes)
    except ImportError:
        raise
    except Exception as error:              # libraries have errors of their own
        raise ModelFormatError(f"{source} has trees that {header['library']!s:.20} {header.get('library_version', '')!s:.20} has written, "
                               f"and the installed one cannot read: {type(error).__name__}: {error!s:.200}.") from None
