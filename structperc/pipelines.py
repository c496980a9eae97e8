"""Models behind other steps: what a scikit-learn pipeline, or a search over one, does to X before its last step sees it."""

from __future__ import annotations

import numbers
from typing import Any

from structperc.errors import OptionError

__all__ = ["explain", "unwrapped"]


def explain(model, x, **options) -> Any:
    """Why x got its prediction, from any model that can tell: an engine, an estimator, or a pipeline or search around one.

    Parameters
    ----------
    model : Engine, estimator, Pipeline, or a search with `best_estimator_`
        Trained.
    x : one example, as the whole model takes it
        A row may be an array, a list of numbers, a table's row or a table of one row.
    **options
        Passed to the last step's `explain`, such as `against`. The names in `groups`, and a row as `baseline`, are those of the whole
        model.

    Returns
    -------
    Explanation
        Of the last step. Columns are called as `get_feature_names_out` of the steps before calls them, where these have it.

    Raises
    ------
    OptionError
        When the last step explains nothing.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import structperc
    >>> from structperc.estimators import CuSumRank
    >>> model = make_pipeline(StandardScaler(), CuSumRank(epochs=3, random_state=0)).fit([[150.0], [170.0], [190.0]], [1, 2, 3])
    >>> found = structperc.explain(model, [150.0])
    >>> print(found.winner, found.runner_up)
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
    """The steps before the last one, None where there are none, and the last one, of a pipeline or the best one that a search found."""
    model = getattr(model, "best_estimator_", model)
    if hasattr(model, "steps") and hasattr(model, "__getitem__"):
        return (model[:-1] if len(model.steps) > 1 else None), model[-1]
    return None, model


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
