"""Scores, probabilities and weights of classes of the estimators of plugins: SVOR, boosting and reductions."""

import numpy as np
import pytest
from reference.probabilities import cumulative
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.utils.class_weight import compute_sample_weight
from structperc_boosting.estimators import AdaBoostOR, ORStump
from structperc_boosting.reductions import BinaryReduction
from structperc_large_margin.estimators import SVOR

from structperc.errors import OptionError
from structperc.estimators.wrapped import boundary_scores

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(150, 3))
Y = np.digitize(X @ [2, -1, 0.5] + 1.5 * RANDOM.normal(size=150), [-1, 2.5]) + 1
PROBABLE = [SVOR(tol=0.01), SVOR("explicit", kernel="linear", tol=0.01), AdaBoostOR(n_estimators=20),
            AdaBoostOR(BinaryReduction(LogisticRegression()), n_estimators=3, random_state=0)]
WEIGHED = [SVOR(tol=1e-6, scale=False), ORStump(), BinaryReduction(LogisticRegression())]


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("model", PROBABLE, ids=lambda model: f"{type(model).__name__}-{getattr(model, 'kernel', model)}")
def test_probabilities_are_those_of_the_scores(model, n_labels):
    y = np.minimum(Y, n_labels)
    found, boundaries = model.fit(X, y).predict_proba(X), boundary_scores(model, X, model.levels_)
    scores = np.column_stack([np.zeros(len(X)), boundaries.cumsum(axis=1)])
    assert scores.shape == (150, n_labels) and (model.levels_[scores.argmax(axis=1)] == model.predict(X)).mean() > 0.98, "but for ties"
    np.testing.assert_allclose(found, cumulative(scores), atol=1 / 10)         # some of it goes to labels between pooled atoms
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(found), atol=1e-9)
    decision = model.decision_function(X)
    assert np.array_equal(decision, boundaries[:, 0] if n_labels == 2 else model.predict_log_proba(X))


@pytest.mark.parametrize("model", [SVOR(kernel="linear", tol=0.01), AdaBoostOR(n_estimators=30)], ids=["SVOR", "AdaBoostOR"])
def test_a_temperature_changes_probabilities_alone(model):
    plain, calibrated = clone(model).fit(X, Y), clone(model).set_params(calibrate=True).fit(X, Y)
    assert np.array_equal(plain.predict(X), calibrated.predict(X)) and calibrated.engine_.temperature_ != 1
    engine = calibrated.engine_
    scores = engine.label_scores(X)
    np.testing.assert_allclose(scores, plain.engine_.label_scores(X), rtol=1e-9)
    np.testing.assert_allclose(calibrated.predict_proba(X), cumulative(scores, engine.temperature_, engine.spread_, 1e-3), atol=1 / len(X))


def test_rankers_without_a_temperature():
    model = AdaBoostOR(BinaryReduction(LogisticRegression()), n_estimators=2, calibrate=True)
    with pytest.raises(OptionError, match="calibrate=True only fits a temperature to stumps, .* CalibratedClassifierCV"):
        model.fit(X, Y)
    assert CalibratedClassifierCV(model.set_params(calibrate=False), cv=2).fit(X, Y).predict_proba(X).shape == (150, 3)


@pytest.mark.parametrize("model", WEIGHED, ids=lambda model: type(model).__name__)
def test_class_weights_are_sample_weights(model):
    def shares(sample_weight=None, class_weight=None):
        answers = model.set_params(class_weight=class_weight).fit(X, Y, sample_weight=sample_weight).predict(X)
        return (answers[:, None] == [1, 2, 3]).mean(axis=0)

    balanced, tenfold = compute_sample_weight("balanced", Y), np.where(Y == 3, 10.0, 1.0)
    np.testing.assert_allclose(shares(class_weight="balanced"), shares(balanced), atol=0.01)
    np.testing.assert_allclose(shares(class_weight={3: 10}), shares(tenfold), atol=0.01)
    assert shares(class_weight={3: 10})[2] > shares()[2]
    with pytest.raises(OptionError, match="class_weight names 4, which is none of the labels"):
        shares(class_weight={4: 1})
