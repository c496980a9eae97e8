"""The second derivatives of losses of given scores, for boosted trees."""

import numpy as np
import pytest

from structperc import Problem
from structperc.errors import OptionError, PluginError

RANDOM = np.random.default_rng(0)
BATCHES = {
    "multiclass": (Problem("multiclass", classes=["a", "b", "c"]), {"y": ["a", "b", "c", "b"]}),
    "cusum": (Problem("cusum", classes=[1, 2, 3, 4]), {"y": [1, 4, 2, 3]}),
    "prank": (Problem("prank", classes=[1, 2, 3, 4]), {"y": [1, 4, 2, 3]}),
    "interval-pa": (Problem("interval-pa", classes=[1, 2, 3, 4]), {"y": [[1, 2], [4, 4], [2, 4], [1, 4]]}),
    "sequence": (Problem("sequence", classes=["N", "V"]), {"lengths": [3, 1, 2], "y": [["N", "V", "N"], ["V"], ["N", "N"]]}),
}
SMOOTH = {"multiclass": ("log-loss", "softmax-margin", "logistic"), "cusum": ("log-loss", "softmax-margin", "logistic"),
          "prank": ("log-loss", "logistic", "cumulative-logit"), "interval-pa": ("logistic", "cumulative-logit"),
          "sequence": ("logistic",)}


@pytest.mark.parametrize(("name", "loss"), [(name, loss) for name, losses in SMOOTH.items() for loss in losses])
def test_curvatures_are_differences_of_gradients(name, loss):
    problem, examples = BATCHES[name]
    batch = problem.batch(**examples)
    scores = RANDOM.normal(size=int(batch.offsets[-1]))
    if loss == "cumulative-logit":
        scores = -np.sort(-scores.reshape(len(batch), -1), axis=1).ravel()
    values, gradient, curvature = batch.loss(scores, loss, curvature=True)

    assert all(np.array_equal(one, other) for one, other in zip(batch.loss(scores, loss), (values, gradient), strict=True))
    assert (curvature >= 1e-9).all() and curvature.shape == gradient.shape
    for a in range(len(scores)):
        step = np.zeros(len(scores))
        step[a] = 1e-5
        slope = (batch.loss(scores + step, loss)[1][a] - batch.loss(scores - step, loss)[1][a]) / 2e-5
        assert curvature[a] == pytest.approx(max(slope, 1e-9), rel=1e-5, abs=1e-8)


def test_newton_steps_reach_the_optimum():
    batch = BATCHES["cusum"][0].batch(y=[1, 4, 2, 3])
    scores = np.zeros((4, 3))
    for _ in range(30):
        values, gradient, curvature = batch.loss(scores, curvature=True)
        scores -= np.clip(gradient / curvature, -1, 1)
    assert values.max() < 1e-3 and batch.argmax(scores).tolist() == [1, 4, 2, 3]


@pytest.mark.parametrize("loss", ["perceptron", "hinge", "perturbed", "sparsemap", "direct"])
def test_losses_with_kinks_have_no_curvature(loss):
    batch = BATCHES["cusum"][0].batch(y=[1])
    with pytest.raises(OptionError, match="has no second derivative, .*'log-loss', 'softmax-margin', 'logistic', 'cumulative-logit'"):
        batch.loss([[0.0, 0.0, 0.0]], loss, curvature=True)


@pytest.mark.parametrize("loss", ["log-loss", "softmax-margin"])
def test_variances_of_atoms_that_occur_twice_are_refused(loss):
    problem, examples = BATCHES["sequence"]
    batch = problem.batch(**examples)
    with pytest.raises(PluginError, match="may count an atom twice, .*; leave curvature out"):
        batch.loss(np.zeros(int(batch.offsets[-1])), loss, curvature=True)
    assert len(batch.loss(np.zeros(int(batch.offsets[-1])), loss)) == 2
