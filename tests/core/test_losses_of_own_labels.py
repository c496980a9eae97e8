"""Losses on label outputs of an author: each acts in training, whatever atoms the labels are made of."""

import numpy as np
import pytest
from plain import Engine

from structperc import hookimpl
from structperc.components import (
    AbsoluteLoss,
    Argmax,
    BlockFeatures,
    ClassOutputs,
    CostLoss,
    LabelOutputs,
    Loss,
    PassiveAggressiveUpdate,
    RankOutputs,
    SquaredLoss,
    ZeroOneLoss,
)
from structperc.core.linear import over_atoms
from structperc.errors import PluginError
from structperc.plugin_tools import is_additive

RNG = np.random.default_rng(3)
ONE_HOT = np.eye(4)
PATHS = np.array([[1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0], [0, 0, 0, 1, 1, 0], [0, 0, 0, 1, 0, 1]], dtype=float)      # leaves of a tree
DOUBLED = np.array([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 3]], dtype=float)
DEPENDENT = np.array([[1, 0], [0, 1], [1, 1], [2, 0]], dtype=float)         # four labels of two atoms: not every loss is a sum
X = RNG.normal(size=(60, 3))
Y = X @ RNG.normal(size=(3, 4))
Y = Y.argmax(axis=1) + 1


class Far(Loss):
    def value(self, gold, y, x=None):
        return 10.0 * abs(gold - y)


class FarAbsolute(AbsoluteLoss):
    """A changed value of a compiled loss."""

    def value(self, gold, y, x=None):
        return 3.0 * (gold != y) + gold


class OfExample(Loss):
    """A loss that looks at the example."""

    def value(self, gold, y, x=None):
        return float(gold != y) * (1 + x.index)


def outputs_of(base, table):
    class Own(base):
        n_atoms = property(lambda self: table.shape[1])

        def count(self, x, y):
            return table[y - 1]

    return Own


class Counted:
    """A label problem with these atoms; the argmax compares all labels."""

    name = "counted"

    def __init__(self, table, base=LabelOutputs):
        self.table, self.base = table, base

    @hookimpl
    def structperc_outputs(self, context):
        return outputs_of(self.base, self.table)()

    @hookimpl
    def structperc_features(self, context):
        return BlockFeatures(self.table.shape[1], context.n_features)

    @hookimpl
    def structperc_argmax(self, context):
        table = self.table

        class Best(Argmax):
            def argmax(self, scores, x):
                return int(np.argmax(table @ scores)) + 1

        return Best()


PROBLEMS = {
    "one-hot": Counted(ONE_HOT), "paths": Counted(PATHS), "doubled": Counted(DOUBLED), "dependent": Counted(DEPENDENT),
    "paths of classes": Counted(PATHS, ClassOutputs), "paths of ranks": Counted(PATHS, RankOutputs),
}
LOSSES = {
    "own": Far(), "of a base": FarAbsolute(), "of the example": OfExample(), "zero-one": ZeroOneLoss(), "absolute": AbsoluteLoss(),
    "squared": SquaredLoss(), "costs": CostLoss(1.5 - 1.5 * np.eye(4)), "costs of examples": "costs",
}


def fitted(problem, loss, **options):
    costs = np.where(np.arange(1, 5) == Y[:, None], 0, RNG.uniform(size=(60, 4))) if loss == "costs" else None
    return Engine(problem, loss=loss, **{"epochs": 2, "random_state": 0, **options}).fit(X, Y, costs=costs)


@pytest.mark.parametrize("loss", [name for name in LOSSES if name != "costs of examples"])      # whose costs end with the fit
@pytest.mark.parametrize("problem", PROBLEMS)
def test_search_with_a_loss_is_exact(problem, loss):
    engine = fitted(PROBLEMS[problem], LOSSES[loss])
    parts, table = engine.parts_, PROBLEMS[problem].table
    assert parts.argmax.searches_with(parts.loss)
    for i in range(6):
        x = engine.model_.example(engine.read(X), i)
        gold, s, scale = int(Y[i]), RNG.normal(size=table.shape[1]), float(RNG.uniform(-1, 2))
        values = np.array([parts.loss.value(gold, y, x) for y in range(1, 5)])
        wanted = table @ s + scale * values

        assert wanted[parts.argmax.argmax_augmented(s.copy(), x, gold, parts.loss, scale) - 1] == pytest.approx(wanted.max())
        try:
            augmented = table @ parts.loss.augment(gold, s.copy(), scale, x)
        except PluginError as error:
            assert problem == "dependent" and "argmax_augmented" in str(error)
        else:
            assert np.ptp(augmented - wanted) < 1e-9            # up to a constant


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("loss", [name for name in LOSSES if name != "costs of examples"])
def test_a_weighted_loss_never_trains_as_no_loss(problem, loss):
    with_loss, without = (fitted(PROBLEMS[problem], LOSSES[loss], loss_weight=weight).coef_ for weight in (3.0, 0.0))

    assert not np.array_equal(with_loss, without)


@pytest.mark.parametrize("loss", ["own", "zero-one", "absolute", "costs"])
@pytest.mark.parametrize("options", [
    {"update": "pa1", "loss_weight": 1.0}, {"update": "perceptron", "loss_weight": 2.0}, {"update": "direct"},
    {"plugins": ["batch"], "trainer": "bcfw", "C": 0.1, "epochs": 300}], ids=lambda options: options.get("trainer", options.get("update")))
def test_own_classes_train_as_those_of_the_library(loss, options):
    own, bundled = (fitted(problem, LOSSES[loss], **options) for problem in (Counted(ONE_HOT), "multiclass"))

    assert np.allclose(own.coef_, bundled.coef_, rtol=0, atol=1e-9) and own.status_ == bundled.status_


def test_an_own_loss_and_its_base_may_call_augment():
    class Doubled(Far):
        def augment(self, gold, scores, scale, x=None):
            return super().augment(gold, scores, 2 * scale, x)

    for problem in (Counted(PATHS), "multiclass"):
        loss = fitted(problem, Doubled()).parts_.loss
        table = PATHS if problem != "multiclass" else ONE_HOT
        x = fitted(problem, Far()).model_.example(fitted(problem, Far()).read(X), 0)
        added = table @ loss.augment(2, np.zeros(table.shape[1]), 1.0, x)
        assert np.allclose(added - added[1], 20.0 * np.abs(np.arange(4) - 1))


def test_which_losses_are_sums_over_atoms():
    assert is_additive(fitted("multiclass", Far()).parts_.loss) and is_additive(fitted("cusum", "absolute").parts_.loss)
    assert not is_additive(fitted(Counted(ONE_HOT), Far()).parts_.loss)


def test_labels_that_an_example_lacks_are_no_answer():
    class Few(LabelOutputs):
        def count(self, x, y):
            return ONE_HOT[y - 1]

        def enumerate(self, x):
            return [1, 2]

    class Problem(Counted):
        @hookimpl
        def structperc_outputs(self, context):
            return Few()

        @hookimpl
        def structperc_argmax(self, context):
            class First(Argmax):
                def argmax(self, scores, x):
                    return int(np.argmax(scores[:2])) + 1

            return First()

    engine = Engine(Problem(ONE_HOT), loss=Far(), classes=[1, 2, 3, 4], update=PassiveAggressiveUpdate()).fit(X, np.where(Y > 2, 1, Y))
    x = engine.model_.example(engine.read(X), 0)
    assert engine.parts_.argmax.argmax_augmented(np.zeros(4), x, 1, engine.parts_.loss, 5.0) == 2


def test_costs_over_atoms_solve_the_equations():
    for table in (ONE_HOT, PATHS, DOUBLED):
        costs = RNG.normal(size=4)
        assert np.ptp(table @ over_atoms(table, costs) - costs) < 1e-12
    assert over_atoms(DEPENDENT, np.array([0.0, 1.0, 5.0, 2.0])) is None
    assert over_atoms(np.zeros((2, 0)), np.array([3.0, 3.0])).shape == (0,)
