"""Small worked examples on which statements of the CuSum paper fail, with the correct statements."""

import numpy as np
import pytest
from plain import Engine
from reference import projection
from reference.problems import CuSum, PRank


@pytest.mark.parametrize(("scale", "updates", "right_bound"), [(1.0, 2, 3), (3.0, 4, 7)])
def test_augmented_search_is_outside_theorem_1(scale, updates, right_bound):
    """CS-3: R^2 ||u||^2 = 1, but the augmented perceptron makes more updates of loss 1. R^2 + 2 scale bounds them."""
    engine = Engine("cusum", classes=[1, 2], loss_weight=scale, fit_intercept=False).fit(np.ones((10, 1)), np.full(10, 2))
    assert engine.coef_.tolist() == [[0.0], [float(updates)]]
    assert 1 < updates <= right_bound


def test_squared_losses_break_theorem_2():
    """CS-4: ||w|| = 1 separates by the loss, and R^2 = 2. The sum of losses is 2, but the sum of squared losses is 4."""
    X, y = np.array([[-np.sqrt(2)]]), [3]
    u = np.array([0, -np.sqrt(0.5), -np.sqrt(0.5)])
    problem = CuSum(3)
    for z in (1, 2):
        assert u @ (problem.phi(X[0], 3) - problem.phi(X[0], z)) >= (3 - z) * (1 - 1e-12)
    engine = Engine("cusum", update="pa", classes=[1, 2, 3], fit_intercept=False, epochs=9).fit(X, y, record_predictions=True)
    assert engine.online_predictions_.tolist() == [1, 3]
    assert engine.cumulative_loss_ == 2
    assert engine.cumulative_loss_**2 > 2


def test_a_known_margin_above_1_breaks_corollary_4():
    """CS-5: x = (2, -1) gives one mistake. R^2 / delta^2 = 1 bounds it, but R^2 / delta^4 = 0.2 does not."""
    X = np.array([[2.0, -1.0]])
    engine = Engine("cusum", update="pa", loss="zero-one", margin=np.sqrt(5.0), classes=[1, 2], fit_intercept=False, epochs=5).fit(X, [2])
    radius = margin = 5.0        # both squared
    assert radius / margin**2 < sum(engine.mistakes_) <= radius / margin


def test_figure_2_is_not_loss_sensitive():
    """CS-6: With a constant margin the sum of losses exceeds R^2 / delta^2 = 11.5; with delta |y - y^| it does not."""
    X = np.array([[0, -2, -1, -1], [-1, 0, -2, -1], [0, 1, 2, -1]], dtype=float)
    y = np.array([6, 5, 1])
    separators = np.array([[-1, -3, -5, -1]] * 4 + [[5, -9, 1, 5]]) / 12
    signs = np.where(y[:, None] >= np.arange(2, 7), 1, -1)
    assert (signs * (X @ separators.T) >= 1 - 1e-12).all()
    limit = (X**2).sum(axis=1).max() * (separators**2).sum()
    assert limit == pytest.approx(11.5)
    options = dict(update="pa", margin=np.sqrt(12 / 23), fit_intercept=False, classes=range(1, 7), epochs=10)

    def losses(engine):
        return [size for size in abs(engine.online_predictions_ - np.tile(y, len(engine.mistakes_))).tolist() if size]

    printed = Engine("cusum", loss="zero-one", **options).fit(X, y, record_predictions=True)
    sensitive = Engine("cusum", loss="absolute", **options).fit(X, y, record_predictions=True)
    assert losses(printed) == [5, 1, 5, 1]
    assert sum(losses(printed)) > limit
    assert losses(sensitive) == [5, 1]


def test_a_passive_aggressive_step_need_not_make_the_gold_rank_win():
    """CS-8: After the step rank 2 beats the predicted rank by the margin. A third rank still has a higher score."""
    X, y = [[-2.0, -1.0], [0.0, -1.0], [1.0, -1.0]], [2, 3, 2]
    engine = Engine("cusum", update="pa", fit_intercept=False, classes=[1, 2, 3]).fit(X, y)
    scores = np.append(0, np.cumsum(engine.atom_scores(X[2:])[0]))
    np.testing.assert_allclose(scores, [0, -0.2, -1.2], atol=1e-12)
    assert engine.predict(X[2:]).tolist() == [1]


def smallest_norm(problem, X, y):
    """||u||^2 of the smallest u that separates by |y - z|."""
    rows = [(problem.phi(x, gold) - problem.phi(x, z), abs(gold - z))
            for x, gold in zip(problem.extended(X), y, strict=True) for z in problem.labels if z != gold]
    u = projection.smallest_separator(*zip(*rows, strict=True))
    return u @ u


def test_prank_can_have_the_smaller_bound():
    """CS-7: for ranks 1, 2, 3 at z = -1, 0, 1, PRank has the best bound 18, and CuSum 20."""
    X, y = np.array([[-1.0], [0.0], [1.0]]), [1, 2, 3]
    prank, cusum = (2 + 1) * smallest_norm(PRank(3), X, y), 2 * smallest_norm(CuSum(3), X, y)
    assert (prank, cusum) == (pytest.approx(18, rel=1e-6), pytest.approx(20, rel=1e-6))
    for name, limit in (("prank", prank), ("cusum", cusum)):
        engine = Engine(name, epochs=100).fit(X, y)
        assert engine.status_ == "converged"
        assert engine.cumulative_loss_ <= limit * (1 + 1e-6)
