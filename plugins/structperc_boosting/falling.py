"""The classifier of a reduction: whether it grows trees, its lists by column, and the constraint that P(rank above k) falls with k."""

from __future__ import annotations

import inspect

import numpy as np

from structperc.errors import OptionError, shortened

SIZES = {"max_depth", "max_leaf_nodes", "num_leaves", "depth"}          # parameters that limit trees, of four libraries
CONSTRAINTS = ("monotonic_cst", "monotone_constraints", "monotone_constraint", "mc")        # the last two are LightGBM's other names
OF_COLUMNS = {**dict.fromkeys(CONSTRAINTS, 0), "categorical_features": False, "feature_types": "q"}   # lists by column; what k has there
AROUND = ("steps", "estimator", "base_estimator", "estimators")         # parameters of what passes columns on to another classifier


def grows_trees(estimator) -> bool:
    """Whether a classifier, or one within it, has a parameter that limits the size of trees."""
    parameters = estimator.get_params()
    within = [value for value in parameters.values() if hasattr(value, "get_params") and not isinstance(value, type)]
    names = {name.split("__")[-1] for name in parameters}
    return not SIZES.isdisjoint(names.union(*(constructor_names(one) for one in (estimator, *within))))


def fall_with_k(estimator, n_columns, k_name=None) -> None:
    """Sets the classifier's constraint on its last column, k, behind n_columns of X: the probability of the second class falls with it."""
    # Constraints of other columns stay. OptionError without such a parameter, or with one of another form or length.
    name = constraint_of(estimator)
    value = estimator.get_params(deep=False).get(name)
    if isinstance(value, dict):
        by_name = k_name is not None and not any(isinstance(key, (int, np.integer)) for key in value)
        constraints = {**value, k_name if by_name else n_columns: -1}
    elif isinstance(value, str) or value is not None and np.shape(value) != (n_columns,):
        raise OptionError(f"{name}={shortened(value)} of {type(estimator).__name__}; give -1, 0 or 1 for the {n_columns} columns of "
                          f"X in a list. falling=True adds that of k.")
    else:
        constraints = [*([0] * n_columns if value is None else value), -1]
        if name not in constructor_names(estimator):        # XGBoost takes no list, CatBoost no tuple, the others take both
            constraints = tuple(constraints)
    estimator.set_params(**{name: constraints})


def lengthen(estimator, n_columns, n_more) -> None:
    """Adds k to a classifier's parameters with a value for each column of X: as a free number."""
    for name, value in estimator.get_params().items():
        free = OF_COLUMNS.get(name.split("__")[-1])
        if free is None or not isinstance(value, (list, tuple, np.ndarray)):
            continue
        values = np.asarray(value)
        if values.shape == (n_columns,) and values.dtype.kind == np.asarray(free).dtype.kind:      # numbers and names of columns are others
            longer = [*values.tolist(), *[free] * n_more]
            estimator.set_params(**{name: tuple(longer) if isinstance(value, tuple) else longer})


def constraint_of(estimator) -> str:
    """The name of the parameter with the monotone constraints of columns."""
    parameters = estimator.get_params(deep=False)
    names = [name for name in CONSTRAINTS if parameters.get(name) is not None]
    names += [name for name in CONSTRAINTS if name in parameters or name in constructor_names(estimator)]
    names += ["monotone_constraints"] if "num_leaves" in parameters else []         # LightGBM's constructor does not list it
    if names:
        return names[0]
    kind = type(estimator).__name__
    raise OptionError(f"{kind} has no monotone constraints, which falling=True needs. Classifiers of LightGBM, XGBoost and CatBoost have "
                      f"them, and scikit-learn's HistGradientBoostingClassifier; "
                      f"{remedy_inside(estimator) or 'use such a classifier, or leave falling out'}.")


def remedy_inside(estimator):
    """What to do with an estimator around a classifier, such as a pipeline or a search; None: it is around none."""
    if not hasattr(estimator, "get_params") or not any(name in estimator.get_params(deep=False) for name in AROUND):
        return None
    kind = type(estimator).__name__
    return f"put BinaryReduction(classifier) inside the {kind}, instead of the {kind} inside BinaryReduction"


def constructor_names(estimator) -> set:
    """The parameters that the constructor lists; `get_params` of CatBoost has only those that are set."""
    return set(inspect.signature(type(estimator)).parameters)
