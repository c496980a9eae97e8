"""Extreme scales and options: each combination learns or raises an error, and none converges with mistakes left."""

import numpy as np
import pytest
from plain import Engine
from scipy.sparse import csr_array

from structperc.errors import DataError, DataWarning

X = np.random.default_rng(0).normal(size=(60, 4))
Y = np.digitize(X @ [2, -1, 0, 1], [-1, 1]) + 1
RULES = {"cusum": ["perceptron", "pa", "pa1", "pa2", "exact-pa", "exact-pa1", "exact-pa2"],
         "prank": ["perceptron", "exact-pa1", "exact-pa2"], "interval-pa": ["exact-pa", "exact-pa1", "exact-pa2"],
         "multiclass": ["perceptron", "pa", "pa1", "pa2", "exact-pa1", "exact-pa2"]}
PAIRS = [(problem, rule) for problem, rules in RULES.items() for rule in rules]
EXTREMES = {
    "X * 1e-300": (1e-300, {}), "X * 1e-160": (1e-160, {}), "X * 1e-100": (1e-100, {}), "X * 1e4": (1e4, {}), "X * 1e8": (1e8, {}),
    "X * 1e10": (1e10, {}), "X * 1e100": (1e100, {}), "X * 1e150": (1e150, {}), "X * 1e160": (1e160, {}), "X * 1e300": (1e300, {}),
    "C = 5e-324": (1, {"C": 5e-324}), "C = 1e308": (1, {"C": 1e308}), "margin = 1e-300": (1, {"margin": 1e-300}),
    "margin = 1e300": (1, {"margin": 1e300}), "decay = 1 - 2^-53": (1, {"decay": 1 - 2.0**-53}), "no intercept, X * 1e-200":
    (1e-200, {"fit_intercept": False}), "degree = 1000": (1, {"kernel": "polynomial", "degree": 1000}),
    "gamma = 1e300": (1, {"kernel": "rbf", "gamma": 1e300}), "loss_weight = 1e308": (1, {"loss_weight": 1e308}),
}


def outcome(problem, rule, extreme):
    """The mistakes and the status, "refused" if training raises DataError, or None if the options have no meaning together."""
    scale, options = EXTREMES[extreme]
    plugins = {"plugins": ["dual-kernel"]} if "kernel" in options else {}
    try:
        engine = Engine(problem, update=rule, epochs=20, **options, **plugins).fit(X * scale, Y)
    except DataError as error:
        assert any(word in str(error) for word in ("scale", "smaller", "overflow", "too large")), error
        return "refused"
    except (TypeError, ValueError) as error:
        assert type(error).__module__ == "structperc.errors", error
        return None
    wrong = int((engine.predict(X * scale) != Y).sum())
    assert engine.status_ != "converged" or wrong == 0, (problem, rule, extreme, wrong)
    return f"{wrong} wrong, {engine.status_}"


@pytest.mark.parametrize("extreme", EXTREMES)
def test_extremes_are_learned_or_refused(extreme):
    pairs = [("cusum", "perceptron"), ("cusum", "pa1")] if "kernel" in EXTREMES[extreme][1] else PAIRS
    found = {pair: outcome(*pair, extreme) for pair in pairs}
    print("\n" + extreme, *(f"{problem} {rule}: {found}" for (problem, rule), found in found.items() if found), sep="\n    ", end="")
    assert any(found.values())


@pytest.mark.parametrize("size", [1e-310, 1e-285, 1e307])
def test_costs_that_floating_point_does_not_hold_are_refused(size):
    costs = np.abs(np.arange(3)[:, None] - np.arange(3))[Y - 1].astype(float)
    plain, large = (Engine("prank", pocket=True, loss="costs", random_state=0).fit(X, Y, costs=scale * costs) for scale in (1, 2.0**600))
    assert np.array_equal(plain.predict(X), large.predict(X))
    with pytest.raises(DataError, match=f"the costs add up to .*; {'divide' if size > 1 else 'multiply'} them by a large number"):
        Engine("prank", pocket=True, loss="costs", random_state=0).fit(X, Y, costs=size * costs)


@pytest.mark.parametrize("problem", ["prank", "cusum", "multiclass"])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_rows_that_are_all_equal_are_named(problem, form):
    with pytest.warns(DataWarning, match="all rows of X are equal, so no label can be predicted"):
        Engine(problem, random_state=0).fit(form(np.full((60, 2), 3.0)), Y)


@pytest.mark.parametrize(("shift", "size"), [(1e14, 10.0), (0.0, 1e-170)])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_rows_that_are_equal_only_once_they_are_scaled_are_not_called_equal(shift, size, kernel):
    options = {"plugins": ["dual-kernel"], "kernel": kernel, "scale": True, "random_state": 0}
    with pytest.warns(DataWarning, match=r"all columns of X vary by less than 1e-12 of their mean or less than 1e-160, .* Subtract"):
        Engine("prank", **options).fit(shift + size * X, Y)
    mended = Engine("prank", **options).fit((shift + size * X - shift) / size, Y)
    assert (mended.predict(X) == Y).mean() > 0.5


@pytest.mark.parametrize("other", [[3.0, 4, 0], [3, 0, 3], [3, 3, 3], [0, 0, 0]])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_rows_of_which_one_differs_in_a_value_or_its_column_are_not_called_equal(form, other):
    rows = np.tile([3.0, 3, 0], (60, 1))
    rows[30] = other
    assert Engine("prank", random_state=0).fit(form(rows), Y).coef_.any()


@pytest.mark.parametrize("large", [1e18, 1e30, 1e300])
def test_rows_of_weight_0_decide_no_mean(large):
    rows, weights = X.copy(), np.ones(60)
    rows[0], weights[0] = large, 0
    for form in (np.asarray, csr_array, lambda rows: rows.astype(np.float32) if large < 1e38 else rows):
        model = Engine("prank").fit(form(rows), Y, sample_weight=weights).model_
        assert model.means == pytest.approx(X[1:].mean(axis=0), abs=1e-6)
        assert model.spreads == pytest.approx(X[1:].std(axis=0), rel=1e-5)
