"""Models behind other steps: what a scikit-learn pipeline, or a search over one, does to X before its last step sees it.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from structperc.errors import OptionError

__all__ = ["explain", "levels_of", "unwrapped"]


def explain(model, x, **options) -> Any:
    """Why x got its prediction, for an engine, an estimator, or a pipeline or search around one.
    Raises `OptionError` if the last step has no `explain`.

    Parameters
    ----------
    model : Engine, estimator, Pipeline, or a search with `best_estimator_`
        A trained model.
    x : one example
        In the form of the whole model. A row may be an array, a list of numbers, or one row of a table.
    **options
        Passed to `explain` of the last step, such as `against`. Names in `groups`, and a row as `baseline`, are those of the whole model.

    Returns
    -------
    structperc.engine.explanation.Explanation
        Columns have the names of `get_feature_names_out` of the earlier steps, if these have it.

    See Also
    --------
    structperc.Engine.explain : the parameters, and how contributions are computed.
    structperc.counterfactual : the smallest change that gets another prediction.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import structperc
    >>> from structperc.estimators import CuSumRank
    >>> model = make_pipeline(StandardScaler(), CuSumRank(epochs=3, random_state=0)).fit([[150.0], [170.0], [190.0]], [1, 2, 3])
    >>> explanation = structperc.explain(model, [150.0])
    >>> print(explanation.winner, explanation.runner_up)
    1 2
    """
    before, last = unwrapped(model)
    if not hasattr(last, "explain"):
        raise OptionError(f"{type(last).__name__} explains nothing; expected an engine or estimator of structperc, or a pipeline that ends "
                          f"with one.")
    if before is None:
        return last.explain(x, **options)
    if options.get("baseline") is not None and not isinstance(options["baseline"], str):
        options["baseline"] = before.transform(as_table(options["baseline"]))
    names = column_names(before, last)
    if options.get("groups") and names is not None:
        places = {name: j for j, name in enumerate(names)}
        options["groups"] = {group: [places.get(column, column) for column in columns] for group, columns in options["groups"].items()}
    return renamed(last.explain(before.transform(as_table(x)), **options), before, last)


def unwrapped(model):
    """The steps before a model, and the model: of a pipeline, a search, or a search around a pipeline.

    Parameters
    ----------
    model : Engine, estimator, Pipeline, or a search with `best_estimator_`
        A trained model.

    Returns
    -------
    before : Pipeline or None
        The earlier steps; None if there are none.
    last : Engine or estimator
        The last step.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.pipelines import unwrapped
    >>> engine = Engine("cusum").fit([[0.0], [1.0]], [1, 2])
    >>> unwrapped(engine) == (None, engine)
    True
    """
    model = getattr(model, "best_estimator_", model)
    if hasattr(model, "steps") and hasattr(model, "__getitem__"):
        return (model[:-1] if len(model.steps) > 1 else None), model[-1]
    return None, model


def levels_of(estimator) -> np.ndarray:
    """The labels of a trained classifier in the order of ranks: its `levels_`, or `classes_` of an engine or of another library's.
    Returns an ndarray of shape (K,).

    Parameters
    ----------
    estimator : Engine, estimator, or a pipeline or search around one
        Trained.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.estimators import PRank
    >>> from structperc.pipelines import levels_of
    >>> X, y = [[0.0], [1.0]], ["low", "high"]
    >>> levels_of(PRank(classes=y).fit(X, y)).tolist(), levels_of(Engine("prank", classes=y).fit(X, y)).tolist()
    (['low', 'high'], ['low', 'high'])
    """
    _, last = unwrapped(estimator)
    return np.asarray(last.levels_ if hasattr(last, "levels_") else last.classes_)


def carried(model, X):
    """The last step, and X as it sees it."""
    before, last = unwrapped(model)
    return last, X if before is None else before.transform(X)


def column_names(before, last):
    """What the steps before call the columns that the last one reads; None where they do not say."""
    try:
        names = before.get_feature_names_out()
    except (AttributeError, ValueError):
        return None
    return names if len(names) == last.n_features_in_ else None


def renamed(explanation, before, last):
    """The explanation with the names that the steps before give their columns."""
    names = column_names(before, last)
    return explanation if names is None else explanation.named(names)


def as_table(x):
    """One example as scikit-learn's steps take it: a table or list of one."""
    if hasattr(x, "to_frame") and not hasattr(x, "columns"):
        return x.to_frame().T.infer_objects()
    if isinstance(x, (str, dict)):
        return [x]
    if hasattr(x, "shape"):
        return x.reshape(1, -1) if len(x.shape) == 1 else x
    return [x] if len(x) and isinstance(x[0], (numbers.Number, str)) else x
