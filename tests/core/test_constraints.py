"""Weights that a feature map keeps within bounds, or in another convex set, beside a projection written out."""

import numpy as np
import pytest
from plain import Engine
from reference.layouts import stored

from structperc import hookimpl
from structperc.components import BlockFeatures, RowPart, TablePart, VectorFeatures
from structperc.errors import PluginError
from structperc.testing import check_problem

K, D = 3, 3
LOW = np.array([[-np.inf], [-0.5], [0.0]])           # per class
HIGH = np.array([0.25, np.inf, 0.0, np.inf])     # per column and for the constant


class Bounded:
    """Replaces the feature map of classes."""

    name, problem = "bounded", "multiclass"

    def __init__(self, map):
        self.map = map

    @hookimpl
    def structperc_features(self, context):
        return self.map(context)


def blocks(context):
    return BlockFeatures(K, D, True, context.sparse, bounds=(LOW, HIGH))


class BoundedTags:
    """Tags by a sum of two maps, each within bounds."""

    name, problem = "bounded-tags", "sequence"

    @hookimpl
    def structperc_features(self, context):
        rows = RowPart(context.n_labels, context.n_features, False, context.sparse, bounds=(-0.5, 0.25))
        return rows + TablePart((context.n_labels, context.n_labels), "table_", bounds=(-0.5, [0.1, 0.0, 9.0]))


class Ball(VectorFeatures):
    """Classes whose weights, all together, are no longer than 1."""

    def __init__(self):
        super().__init__(K * D)

    def vectors(self, x):
        return np.kron(np.eye(K), x.rows)

    def project(self, w, x=None):
        w /= max(1, np.sqrt(w @ w))


def ball(context):
    return Ball()


class Written(VectorFeatures):
    def __init__(self):
        super().__init__(K * (D + 1), bounds=(np.broadcast_to(LOW, (K, D + 1)).ravel(), np.tile(HIGH, K)))

    def vectors(self, x):
        return np.kron(np.eye(K), np.append(x.rows, [[1.0]], axis=1))


def written(context):
    return Written()


def data(layout="dense64", seed=0, n=60):
    random = np.random.default_rng(seed)
    X = random.integers(-3, 4, (n, D)) * random.integers(0, 2, (n, D)) / 4
    return stored(X.astype(float), layout), random.integers(1, K + 1, n)


def trained(update, average, decay, X, y):
    """Two epochs with the weights clipped after every step; the last weights or their mean, (K, D + 1)."""
    w, total = np.zeros((K, D + 1)), 0
    for x, label in zip(np.column_stack([X, np.ones(len(X))]).tolist() * 2, (y - 1).tolist() * 2, strict=True):
        x, found = np.array(x), int(np.argmax(w @ x))
        if found != label:
            short = 1 - w[label] @ x + w[found] @ x
            w *= 1 - decay
            tau = 1.0 if update == "perceptron" else short / (2 * x @ x)
            w[label] += tau * x
            w[found] -= tau * x
            w = np.clip(w, LOW, HIGH)
        total = total + w
    return total / (2 * len(X)) if average else w


@pytest.mark.parametrize("layout", ["dense64", "csr64-int32"])
@pytest.mark.parametrize(("update", "average", "decay"),
                         [("perceptron", False, 0.0), ("perceptron", True, 0.1), ("pa", True, 0.0), ("pa", False, 0.3)])
def test_each_step_ends_at_the_nearest_weights_within_the_bounds(layout, update, average, decay):
    X, y = data(layout)
    expected = trained(update, average, decay, data()[0], y)
    for map in [blocks] + [written] * (layout == "dense64"):
        engine = Engine("multiclass", plugins=[Bounded(map)], epochs=2, update=update, average=average, decay=decay, classes=[1, 2, 3])
        engine.fit(X, y)
        coef = np.asarray(engine.coef_).reshape(K, -1)
        np.testing.assert_allclose(coef, expected[:, :coef.shape[1]], rtol=0, atol=1e-12)
        assert (coef >= LOW).all() and (coef <= HIGH[:coef.shape[1]]).all()         # the mean too, in every bit
        np.testing.assert_allclose(engine.atom_scores(X), np.column_stack([data()[0], np.ones(len(y))]) @ expected.T, atol=1e-12)


@pytest.mark.parametrize("map", [blocks, ball, written])
def test_the_battery(map):
    check_problem(Bounded(map), classes=[1, 2, 3])


def test_the_battery_of_a_sum_of_maps():
    check_problem(BoundedTags(), classes=["a", "b", "c"], start=False, end=False)


@pytest.mark.parametrize("options", [{"kernel": "linear"}, {"trainer": "bcfw", "loss_weight": 0.0}])
def test_weights_and_trainers_that_cannot_project_refuse(options):
    X, y = data()
    plugins = ["dual-kernel"] if "kernel" in options else ["batch"]
    with pytest.raises(PluginError, match="allows only some weights"):
        Engine("multiclass", plugins=[*plugins, Bounded(blocks)], classes=[1, 2, 3], **options).fit(X, y)


@pytest.mark.parametrize("bounds", [(0.5, 1), (-1, -0.5), (np.nan, 1), 3, (0, np.ones(7))])
def test_bounds_that_cannot_be_are_refused(bounds):
    with pytest.raises(PluginError, match="bounds="):
        BlockFeatures(K, D, bounds=bounds)


def test_an_error_of_an_author_leaves_the_model_of_before():
    class Late(Ball):
        def project(self, w, x=None):
            if x is not None and x.index > 7:
                raise ValueError("no")

    X, y = data()
    engine = Engine("multiclass", plugins=[Bounded(lambda context: Late())], classes=[1, 2, 3]).fit(X[:5], y[:5])
    before = engine.coef_
    with pytest.raises(ValueError, match="no"):
        engine.partial_fit(X, 4 - y)
    np.testing.assert_array_equal(engine.coef_, before)
