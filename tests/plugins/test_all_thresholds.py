"""Tests of the trainer "all-threshold": the minimum of the penalised loss of update="logistic", at every door, and rejected options."""

import numpy as np
import pandas as pd
import pytest
from plain import Engine
from scipy.sparse import csr_array
from scipy.special import expit

from structperc.errors import DataError, DataWarning, OptionError, PluginError
from structperc.estimators import IntervalPA, PRank

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(200, 3))
Y = np.digitize(X @ [1, -0.5, 0.25] + RANDOM.logistic(size=200), [-1.5, 0, 1])
# mord 0.7, LogisticAT(alpha=1.0) of the rows below: coefficients and thresholds
ROWS = np.array([[0.0, 1], [1, 0], [2, 2], [3, 1], [1.5, 0.5], [0.5, 2]])
RANKS = np.array([0, 1, 1, 2, 2, 0])
COEFFICIENTS, THRESHOLDS = [1.340848, -0.7135824], [0.024429, 1.9859963]


def gradient(coefficients, thresholds, low, high, penalty, weights=1.0):
    """Of the objective, from its formula."""
    k = np.arange(len(thresholds))
    signs = (low[:, None] > k).astype(float) - (high[:, None] <= k)
    slopes = -signs * expit(-signs * ((X @ coefficients)[:, None] - thresholds)) * np.asarray(weights).reshape(-1, 1)
    return np.append(X.T @ slopes.sum(axis=1) + penalty * coefficients, -slopes.sum(axis=0))


@pytest.mark.parametrize("penalty", [0.0, 0.01, 1.0, 100.0])
def test_the_gradient_of_the_penalised_loss_is_zero_at_every_door(penalty):
    options = {"trainer": "all-threshold", "penalty": penalty, "scale": False}
    low, high, weights = np.maximum(Y - (np.arange(200) % 3 == 0), 0), Y, RANDOM.integers(1, 4, 200)
    for model, ends, each in ((PRank(**options).fit(X, Y), (Y, Y), 1.0), (PRank(**options).fit(csr_array(X), Y), (Y, Y), 1.0),
                              (Engine("prank", **options).fit(X, Y, sample_weight=weights), (Y, Y), weights),
                              (IntervalPA(**options).fit(X, np.c_[low, high]), (low, high), 1.0)):
        assert model.status_ == "converged"
        assert gradient(model.coef_, model.thresholds_, *ends, penalty, each) == pytest.approx(np.zeros(6), abs=1e-6)
        assert np.all(np.diff(model.thresholds_) > 0) and np.all(np.diff(model.objectives_) <= 0)


def test_it_is_the_optimum_of_mord():
    model = PRank(trainer="all-threshold", penalty=1.0, scale=False).fit(ROWS, RANKS)
    assert model.coef_ == pytest.approx(COEFFICIENTS, abs=1e-5) and model.thresholds_ == pytest.approx(THRESHOLDS, abs=1e-5)


def test_levels_are_compared_with_the_reference_and_dependent_columns_named():
    frame = pd.DataFrame({"g": np.array(["a", "b", "c"])[np.arange(200) % 3], "x": X[:, 0]})
    model = PRank(trainer="all-threshold", plugin_options={"one_hot": ["g"]}).fit(frame, Y)
    assert model.coef_[0] == 0 != model.coef_[1]
    with pytest.warns(DataWarning, match=r"the columns x\[0\], x\[3\] depend"):
        PRank(trainer="all-threshold").fit(np.c_[X, X[:, 0]], Y)
    with pytest.warns(DataWarning, match=r"the loss has no minimum: x\[3\] separates"):
        PRank(trainer="all-threshold", calibrate=False).fit(np.c_[X, (Y == 3) & (np.arange(200) % 2 == 0)], Y)


@pytest.mark.parametrize("estimator", [PRank, IntervalPA])
def test_a_penalty_is_a_parameter_that_acts_or_raises_an_error(estimator):
    one, other = (estimator(trainer="cumulative-logit", **options).fit(X, Y) for options in ({"penalty": 5.0},
                                                                                          {"plugin_options": None}))
    assert np.linalg.norm(one.coef_) < np.linalg.norm(other.coef_)
    for trainer in ({}, {"update": "logistic"}):
        with pytest.raises(OptionError, match="penalty=5 has no effect with trainer='until-level'.* Set trainer='all-threshold'"):
            estimator(penalty=5.0, **trainer).fit(X, Y)
    with pytest.raises(PluginError, match="An L2 penalty is the option penalty, with trainer='all-threshold'"):
        estimator(decay=0.1, update="logistic").fit(X, Y)
    with pytest.raises(DataError, match="no example of y is surely the highest label 4, so the loss has no minimum"):
        estimator(trainer="all-threshold", classes=[0, 1, 2, 3, 4]).fit(X, Y)
