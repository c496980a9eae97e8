"""Wrong calls of every estimator: each raises an error with a sentence, and changes nothing."""

import inspect
import pickle

import numpy as np
import pytest
from fitted_estimators import estimators, example, fitted
from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.utils.validation import check_is_fitted

import structperc.estimators
from structperc.errors import DataError, NotFittedError, OptionError
from structperc.estimators.base import EngineEstimator

EVERY = pytest.mark.parametrize("name", estimators())
KEPT = {"epochs": -3, "update": object(), "classes": "no list", "random_state": "dice", "forbidden_transitions": 7}      # until fit


def made(name, **changed):
    return getattr(structperc.estimators, name)(**{**example(name)[0], **changed})


def with_nan(X):
    """X with one number that is NaN, if it has numbers."""
    if isinstance(X, list) and isinstance(X[0], np.ndarray):
        return [*X[:-1], with_nan(X[-1])]
    if not isinstance(X, np.ndarray):
        return []
    X = X.copy()
    X.flat[1] = np.nan              # the first is an item beside itself, where X compares items
    return X


@EVERY
def test_parameters_that_an_estimator_does_not_have_are_named(name):
    with pytest.raises(OptionError, match=f"{name} has no parameter 'colour'.* no (parameter )?'odour'"):
        made(name, colour=1, odour=2)
    model = made(name)
    before = model.get_params(deep=False)
    with pytest.raises(OptionError, match=f"Invalid parameter 'colour' for estimator {name}.* Invalid parameter 'odour' for"):
        model.set_params(random_state=7, colour=1, odour=2)
    assert model.get_params(deep=False) == before


@EVERY
def test_the_constructor_keeps_what_it_is_given_and_fit_names_it(name):
    given = {option: value for option, value in KEPT.items() if option in inspect.signature(type(made(name))).parameters}
    model = made(name, **given)
    assert all(getattr(model, option) is value for option, value in given.items())
    if "epochs" in given:
        _, X, y, where = example(name)
        with pytest.raises(OptionError, match="epochs=-3; expected a whole number, at least 1"):
            model.fit(X, y, **where)


@EVERY
def test_what_is_not_fitted_says_so_in_both_libraries(name):
    model, (_, X, y, where) = made(name), example(name)
    uses = [lambda: model.predict(X), lambda: check_is_fitted(model)]
    if hasattr(model, "score"):
        uses.append(lambda: model.score(X, y, **where))
    if isinstance(model, EngineEstimator):
        uses += [lambda: model.coef_, lambda: model.n_iter_, lambda: model.margins(X), lambda: model.explain(X[:1])]
    for use in uses:
        with pytest.raises(SklearnNotFittedError, match=f"This {name}.* is not (fitted|calibrated) yet"):
            use()
    with pytest.raises(NotFittedError) as raised:
        model.predict(X)
    again = pickle.loads(pickle.dumps(raised.value))
    assert isinstance(again, NotFittedError) and isinstance(again, SklearnNotFittedError) and str(again) == str(raised.value)
    assert not hasattr(model, "classes_") and not hasattr(model, "engine_")
    with pytest.raises(AttributeError, match=f"'{name}' object has no attribute 'transfrom'"):
        model.transfrom(X)


@EVERY
def test_a_failed_fit_leaves_an_estimator_as_it_was(name):
    model, X, y, where = fitted(name)
    before = dict(vars(model))
    own = DataError if isinstance(model, EngineEstimator) else ValueError      # others check X with scikit-learn
    broken = with_nan(X)
    for data, words in (((broken, y), "(is|has) nan" if own is DataError and len(broken) else None), (([], []), None), ((X, y[:-1]), None)):
        for method in (model.fit, getattr(model, "partial_fit", model.fit)):
            with pytest.raises(own, match=words):
                method(*data, **where)
            assert vars(model).keys() == before.keys() and all(vars(model)[key] is value for key, value in before.items())
    with pytest.raises(own, match=f"{name}( estimator)? requires y to be passed, but the target y is None|^y is None; expected"):
        model.fit(X, None, **where)


@EVERY
def test_parameters_are_documented_with_their_defaults(name):
    kind = getattr(structperc.estimators, name)
    lines = [line.strip() for line in kind.__doc__.splitlines()]
    for option, parameter in inspect.signature(kind).parameters.items():
        line, default = next(line for line in lines if line.startswith(f"{option} : ")), parameter.default
        shown = line.rpartition("default ")[2].replace("^", "**")
        assert default is parameter.empty or default is None and line.endswith("optional") or eval(shown) == default, line
