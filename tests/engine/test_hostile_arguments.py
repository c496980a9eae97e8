"""Hostile arguments raise an error with a message, also if their repr fails or float64 cannot represent them."""

import functools
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from plain import Engine

from structperc.errors import DataError, NotFittedError, OptionError, PluginError, StructPercError, shortened

X, y = np.random.default_rng(0).normal(size=(12, 3)), np.arange(12) % 3 + 1
DEEP = functools.reduce(lambda inner, _: [inner], range(3000), 1)       # up to Python 3.11 its repr raises RecursionError
ENGINE = Engine("cusum").fit(X, y)
LISTS = Engine("latent-ranking", k=2).fit(X, [0, 1, 0] * 4, lengths=[3] * 4)
CHAINS = Engine("sequence").fit(X, [["a", "b", "a"]] * 4, lengths=[3] * 4)


class Unprintable:
    def __repr__(self):
        raise RecursionError


def test_a_value_whose_repr_fails_is_shown_by_its_type():
    assert shortened(Unprintable()) == "of type Unprintable"
    assert shortened([1, 2]) == "[1, 2]"
    assert shortened("x" * 100, 10) == "'xxxxxxxxx"


@pytest.mark.parametrize("call", [
    lambda: ENGINE.predict(X, k=DEEP),
    lambda: ENGINE.predict_marginals(X, kind=DEEP),
    lambda: ENGINE.fit(X, [DEEP] * 12),
    lambda: ENGINE.fit(X, y, sample_weight=[DEEP] * 12),
    lambda: ENGINE.predict([DEEP] * 12),
    lambda: ENGINE.explain(X[:1], against=DEEP),
    lambda: LISTS.fit(X, DEEP, lengths=[3] * 4),
    lambda: CHAINS.fit(X, [DEEP] * 4, lengths=[3] * 4),
    lambda: Engine("cusum", step_size=DEEP),
    lambda: Engine("cusum", update=DEEP),
    lambda: Engine("cusum", loss=DEEP),
    lambda: Engine("cusum", plugins=[DEEP]),
    lambda: Engine("cusum", random_state=DEEP),
    lambda: Engine("sequence", forbidden_transitions=DEEP).fit(X, [["a", "b", "a"]] * 4, lengths=[3] * 4),
])
def test_deeply_nested_lists_are_refused_in_a_sentence(call):
    with pytest.raises(StructPercError):
        call()


@pytest.mark.parametrize("value", [10**400, Decimal("NaN"), Decimal(1), Fraction(10**400, 3), np.timedelta64(5, "D"), float("nan")])
@pytest.mark.parametrize("option", ["margin", "C", "decay", "loss_weight"])
def test_numbers_that_float64_does_not_hold_are_refused(option, value):
    with pytest.raises(OptionError, match=f"{option}=.*; expected a number"):
        Engine("cusum", **{"update": "pa1", option: value})


def test_a_fraction_is_a_number():
    assert Engine("cusum", update="pa1", margin=Fraction(1, 2)).fit(X, y).model_.context.margin == 0.5


def test_costs_and_plugins_of_other_kinds_are_refused():
    with pytest.raises(OptionError, match="expected a name, an .r, r. matrix"):
        Engine("cusum", loss=[[10**400]])
    for plugins in (np.array(1.0), "dual-kernel", 3, None):
        with pytest.raises(OptionError, match="expected a list of names or plugin objects"):
            Engine("cusum", plugins=plugins)


@pytest.mark.parametrize("ask", [
    lambda engine: engine.margins(X), lambda engine: engine.predict_marginals(X), lambda engine: engine.explain(X[:1]),
    lambda engine: engine.predict_k_best(X, 2), lambda engine: engine.log_probability(X, y),
])  # fmt: skip
def test_an_untrained_engine_says_so(ask):
    with pytest.raises(NotFittedError, match="not fitted"):
        ask(Engine("cusum"))


@pytest.mark.parametrize("kind", [np.array(["sum", "max"]), np.zeros(0), None, ["sum"], np.zeros(1, dtype="V3"), "mean", 1])
def test_marginals_of_another_kind_are_refused(kind):
    with pytest.raises(OptionError, match="expected 'sum' or 'max'"):
        ENGINE.predict_marginals(X, kind=kind)


@pytest.mark.parametrize("k", [np.timedelta64(2, "D"), True, 0, -1, "2", 2.0, 1.5, [1]])
def test_only_whole_numbers_count_the_best(k):
    for engine, lengths in ((CHAINS, {"lengths": [3] * 4}), (ENGINE, {})):
        for ask in (functools.partial(engine.predict, X, k=k, **lengths), functools.partial(engine.predict_k_best, X, k, **lengths)):
            with pytest.raises(OptionError, match="expected a whole number, at least 1"):
                ask()
    with pytest.raises(OptionError, match="expected a whole number, at least 1"):
        CHAINS.predict_k_best(X, None, lengths=[3] * 4)


@pytest.mark.parametrize("against", [int, 3, 1 + 2j, [1, "a"], [10**30], range(10**5), [[1], [2]], Decimal(1)])
def test_a_rival_that_is_no_list_of_documents_is_refused(against):
    with pytest.raises((DataError, PluginError), match="expected"):
        LISTS.explain(X[:3], against=against)


def test_a_masked_atom_is_no_atom():
    masked = np.ma.masked_array([0, 1], [True, False])
    pairs = [np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 2.0], [1.0, 0.0, 0.5], [1.0, 1.0, 1.0]])] * 2
    with pytest.raises(DataError, match=r"y\[1\] is masked_array[^;]*; expected a collection of atom numbers"):
        Engine("matching").fit(pairs, [[0, 3], masked])


@pytest.mark.parametrize("engine", [LISTS, CHAINS, ENGINE], ids=["ranking", "sequence", "ranks"])
def test_an_array_without_dimensions_is_no_y(engine):
    with pytest.raises(DataError, match="^y (is|has shape) "):
        engine.fit(X, np.array(1.0), **({} if engine is ENGINE else {"lengths": [3] * 4}))
