"""A registered object that replaces one hot spot of cusum takes effect in training and in prediction. Nothing bypasses it.

Every replacement subclasses a compiled class and overrides one Python method. The test registers it as a component, as a plugin with
one hook, and as a class. X is CSR or dense. If X is dense, predictions are one matrix product.
"""

import subprocess
import sys

import numpy as np
import pytest
from plain import Engine
from scipy.sparse import csr_matrix
from structperc_kernels import KERNEL_OPTIONS
from structperc_sequence.chain_features import ChainFeatures
from subsets import Subsets

from structperc import hookimpl
from structperc.components import (
    AbsoluteLoss,
    Argmax,
    BlockFeatures,
    HammingLoss,
    Loss,
    OnlineTrainer,
    Outputs,
    PassiveAggressiveUpdate,
    PerceptronUpdate,
    PrefixArgmax,
    PrimalWeights,
    RankOutputs,
    RowFeatures,
    TablePart,
    Update,
    VectorFeatures,
    Weights,
    ZeroOneLoss,
)
from structperc.errors import PluginError
from structperc.testing import DualWeights

RANKS, FEATURES = 4, 3
HOOKS = {Weights: "weights", Outputs: "outputs", BlockFeatures: "features", VectorFeatures: "features", Argmax: "argmax", Loss: "loss",
         Update: "update", OnlineTrainer: "trainer"}


def data(n=120, seed=0):
    random = np.random.default_rng(seed)
    X = random.integers(-4, 5, size=(n, FEATURES)).astype(float)
    y = np.digitize(X @ [1.0, -2.0, 0.5] + random.normal(size=n), [-3, 0, 3]) + 1
    return X, y


@pytest.fixture(params=["dense", "CSR", "dense float32"])
def training_set(request):
    X, y = data()
    return {"dense": X, "CSR": csr_matrix(X), "dense float32": X.astype(np.float32)}[request.param], y


@pytest.fixture(params=["component", "plugin", "class"])
def register(request):
    """A function that wraps a component for `plugins`: unchanged, as a plugin object, or as a plugin class."""

    def as_plugin(component):
        hook = "structperc_" + next(name for kind, name in HOOKS.items() if isinstance(component, kind))
        return type("Replacement", (), {hook: hookimpl(lambda self, context: component)})()

    def as_class(component):
        return type(as_plugin(component))

    return {"component": lambda component: component, "plugin": as_plugin, "class": as_class}[request.param]


def trained(training_set, *plugins, **options):
    X, y = training_set
    engine = Engine("cusum", plugins=plugins, **{"epochs": 2, "classes": [1, 2, 3, 4], **options})
    return engine.fit(X, y, record_predictions=True)


def weights_of(engine):
    return np.column_stack([engine.coef_, engine.intercept_])


# ---- loss ----


class OverratingIsWorse(AbsoluteLoss):
    def value(self, gold, y, x=None):
        return super().value(gold, y, x) * (5 if y > gold else 1)


@pytest.mark.parametrize("options", [{"update": "pa"}, {"update": "perceptron", "loss_weight": 1.0}], ids=str)
def test_replacing_only_the_loss(training_set, register, options):
    X, y = training_set
    replaced, before = trained(training_set, register(OverratingIsWorse()), **options), trained(training_set, **options)

    online = replaced.online_predictions_
    costs = np.where(online > np.tile(y, 2), 5, 1) * np.abs(online - np.tile(y, 2))
    assert replaced.cumulative_loss_ == costs.sum()
    assert not np.allclose(weights_of(replaced), weights_of(before))
    assert (replaced.predict(X) > y).sum() < (before.predict(X) > y).sum()


def test_replacing_only_what_the_loss_adds_to_the_scores(training_set, register):
    class NothingToAdd(AbsoluteLoss):
        def augment(self, gold, scores, scale, x=None):
            return scores

    plain, replaced = trained(training_set), trained(training_set, register(NothingToAdd()), loss_weight=5.0)

    assert np.array_equal(weights_of(replaced), weights_of(plain))
    assert not np.array_equal(weights_of(replaced), weights_of(trained(training_set, loss_weight=5.0)))


# ---- argmax ----


class NeverTheHighest(PrefixArgmax):
    def argmax(self, scores, x):
        return min(super().argmax(scores, x), 3)


@pytest.mark.parametrize("average", [False, True])
def test_replacing_only_the_argmax(training_set, register, average):
    X, y = training_set
    replaced, before = trained(training_set, register(NeverTheHighest(RANKS)), average=average), trained(training_set, average=average)

    assert 4 in before.online_predictions_ and 4 in before.predict(X)
    assert replaced.online_predictions_.max() == replaced.predict(X).max() == replaced.predict(X[:1]).max(initial=3) == 3
    assert not np.array_equal(weights_of(replaced), weights_of(before))


def test_the_augmented_search_asks_the_replaced_argmax_too(training_set, register):
    asked = []

    class Recording(PrefixArgmax):
        def argmax(self, scores, x):
            asked.append(x.index)
            return super().argmax(scores, x)

    trained(training_set, register(Recording(RANKS)), loss_weight=1.0, epochs=1)

    assert asked == np.repeat(np.arange(len(training_set[1])), 2).tolist()


# ---- Phi ----


class OnlyTheFirstColumn(BlockFeatures):
    """Scores use only the first column. Steps are unchanged."""

    def scores(self, w, x):
        blocks, intercepts = self.split(w)
        return blocks[:, 0] * x.rows[0, 0] + intercepts


class DoubleSteps(BlockFeatures):
    def add(self, w, x, c):
        super().add(w, x, 2 * np.asarray(c))


class HalfNorm(BlockFeatures):
    def norm(self, x, c):
        return super().norm(x, c) / 2


class Squares(VectorFeatures):
    def vectors(self, x):
        row = np.append(x.rows[0] ** 2, 1)
        return np.kron(np.eye(RANKS - 1), row)


@pytest.mark.parametrize("average", [False, True])
def test_replacing_only_the_scores_of_the_features(training_set, register, average):
    X, y = training_set
    engine = trained(training_set, register(OnlyTheFirstColumn(RANKS - 1, FEATURES)), average=average)

    others_moved = X.copy()
    others_moved[:, 1:] = others_moved[:, 1:] * 100
    assert np.array_equal(engine.predict(X), engine.predict(others_moved))
    np.testing.assert_allclose(engine.atom_scores(X), engine.atom_scores(others_moved))
    assert engine.atom_scores(X).any()
    before = trained(training_set, average=average)
    assert not np.array_equal(before.predict(X), before.predict(others_moved))
    assert not np.array_equal(before.online_predictions_, engine.online_predictions_)


def test_replacing_only_the_steps_of_the_features(training_set, register):
    replaced, before = trained(training_set, register(DoubleSteps(RANKS - 1, FEATURES))), trained(training_set)
    X = training_set[0]

    assert np.array_equal(replaced.model.parts.weights.vector()[:9].reshape(3, 3), 2 * before.coef_[1:])
    np.testing.assert_allclose(replaced.atom_scores(X), 2 * before.atom_scores(X))


def test_replacing_only_the_norm_of_the_features(training_set, register):
    first = slice(0, 1)
    X, y = training_set[0][first], [4]
    replaced = trained((X, y), register(HalfNorm(RANKS - 1, FEATURES)), update="pa", epochs=1)
    before = trained((X, y), BlockFeatures(RANKS - 1, FEATURES), update="pa", epochs=1)

    np.testing.assert_allclose(replaced.atom_scores(X), 2 * before.atom_scores(X))


@pytest.mark.parametrize("average", [False, True])
def test_replacing_the_whole_feature_map(training_set, register, average):
    X, y = training_set
    options = {"average": average, "update": "pa1"}
    replaced = trained(training_set, register(Squares((RANKS - 1) * (FEATURES + 1))), **options)
    by_hand = trained((np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=float) ** 2, y), **options)

    assert replaced.online_predictions_.tolist() == by_hand.online_predictions_.tolist()
    np.testing.assert_allclose(replaced.coef_.reshape(RANKS - 1, -1), weights_of(by_hand)[1:], rtol=1e-9, atol=1e-12)
    assert np.array_equal(replaced.predict(X), replaced.predict(-X))


def test_replacing_only_the_product_for_many_rows(register):
    class Upwards(BlockFeatures):
        def batch_scores(self, w, rows):
            return np.ones((rows.n_rows, self.layout.n_blocks))

    X, y = data()
    engine = trained((X, y), register(Upwards(RANKS - 1, FEATURES)))

    assert engine.predict(X).tolist() == [4] * len(y)


def test_scores_in_python_over_interleaved_weights_are_refused():
    X, y = data()

    with pytest.raises(PluginError, match="construct it with feature_major=False"):
        trained((csr_matrix(X), y), OnlyTheFirstColumn(RANKS - 1, FEATURES, feature_major=True))


@pytest.mark.parametrize("layout", [np.array, csr_matrix], ids=["dense", "CSR"])
@pytest.mark.parametrize("method", ["norm", "inner", "n_atoms"])
def test_a_chain_of_which_one_method_is_replaced(layout, method):
    """The model has the same bits. On sparse rows, most weights have no memory yet."""
    Same = type("Same", (ChainFeatures,), {method: lambda self, *of: getattr(ChainFeatures, method)(self, *of)})

    class Replacement:
        @hookimpl
        def structperc_features(self, context):
            return Same(context.n_labels, context.n_features, True, context.sparse)

    rng = np.random.default_rng(3)
    X, y = layout(rng.integers(0, 2, (120, 30)).astype(float)), rng.integers(1, 8, 120)
    models = [Engine("sequence", epochs=2, update="pa1", average=True, plugins=plugins).fit(X, y, lengths=[4] * 30)
              for plugins in ([], [Replacement()])]
    for name in ("coef_", "intercept_", "transition_scores_"):
        assert np.array_equal(*(getattr(model, name) for model in models))


@pytest.mark.parametrize("problem", ["sequence", Subsets])
def test_another_number_of_atoms_needs_scores_of_its_own(problem):
    """Compiled scores would be written outside of the array."""
    kind = ChainFeatures if problem == "sequence" else RowFeatures

    class Fewer:
        @hookimpl
        def structperc_features(self, context):
            names = {"n_atoms": lambda self, x: 1, "max_atoms": lambda self, rows: 1}
            arguments = (context.n_labels, context.n_features) if problem == "sequence" else (context.n_features,)
            return type("Few", (kind,), names)(*arguments)

    X, y = np.ones((6, 2)), [1, 2, 1, 2, 1, 2] if problem == "sequence" else [[0], [0]]
    with pytest.raises(PluginError, match="Few.n_atoms returned 1 for example 0, but its compiled scores are"):
        Engine(problem, plugins=[Fewer()]).fit(X, y, lengths=[3, 3])


def test_a_chain_with_atoms_of_another_number_is_refused():
    class Fewer(ChainFeatures):
        def n_atoms(self, x):
            return 4

        def scores(self, w, x):
            return np.zeros(4)

        def max_atoms(self, rows):
            return 4

    class Replacement:
        @hookimpl
        def structperc_features(self, context):
            return Fewer(context.n_labels, context.n_features)

    with pytest.raises(PluginError, match="example 0 has 4 atoms; labels of its 3 rows need 10"):
        Engine("sequence", plugins=[Replacement()]).fit(np.ones((6, 2)), [1, 2, 1, 2, 1, 2], lengths=[3, 3])


# ---- w ----


class Blind(PrimalWeights):
    def scores(self, x):
        return 0 * super().scores(x)


class Stubborn(PrimalWeights):
    def update(self, x, c):
        super().update(x, 0 * c)


class Negated(PrimalWeights):
    def vector(self):
        return -super().vector()


@pytest.mark.parametrize("average", [False, True])
def test_replacing_only_the_scores_of_the_weights(training_set, register, average):
    X, y = training_set
    engine = trained(training_set, register(Blind(average)))

    assert engine.online_predictions_.tolist() == [1] * 2 * len(y)
    assert weights_of(engine).any()
    assert not engine.atom_scores(X).any()
    assert engine.predict(X).tolist() == [1] * len(y)


def test_replacing_only_the_steps_of_the_weights(training_set, register):
    X, y = training_set
    engine = trained(training_set, register(Stubborn()))

    assert not weights_of(engine).any()
    assert engine.online_predictions_.tolist() == [1] * 2 * len(y) and engine.predict(X).tolist() == [1] * len(y)


def test_replacing_only_what_the_weights_predict_with(training_set, register):
    replaced, before = trained(training_set, register(Negated())), trained(training_set)

    assert np.array_equal(replaced.coef_, -before.coef_)
    assert replaced.online_predictions_.tolist() == before.online_predictions_.tolist()
    np.testing.assert_allclose(replaced.atom_scores(training_set[0]), -before.atom_scores(training_set[0]))


@pytest.mark.parametrize("average", [False, True])
def test_replacing_the_whole_weight_store(training_set, register, average):
    steps = []

    class Recording(DualWeights):
        def update(self, x, c):
            steps.append(x.index)
            super().update(x, c)

    X, y = training_set[0][:40], training_set[1][:40]
    replaced, before = trained((X, y), register(Recording()), average=average), trained((X, y), average=average)

    assert len(steps) == sum(replaced.mistakes_) > 0
    assert replaced.online_predictions_.tolist() == before.online_predictions_.tolist()
    np.testing.assert_allclose(replaced.atom_scores(X), before.atom_scores(X), rtol=1e-9, atol=1e-9)
    assert not hasattr(replaced, "coef_")


# ---- kernels ----


class SquaredColumns(BlockFeatures):
    """phi(x, a) of the squares of x, except in the method `cell`."""

    def scores(self, w, x):
        return np.asarray(w).reshape(RANKS - 1, FEATURES) @ x.rows[0] ** 2

    def add(self, w, x, c):
        np.asarray(w)[:] += np.outer(c, x.rows[0] ** 2).ravel()


@pytest.mark.parametrize("kind", [SquaredColumns, OnlyTheFirstColumn, DoubleSteps, HalfNorm])
@pytest.mark.parametrize("wrapped", [False, True], ids=["alone", "in a sum"])
def test_a_kernel_goes_around_no_replaced_method_of_a_map(kind, wrapped):
    def made():
        return kind(RANKS - 1, FEATURES) + TablePart(RANKS - 1) if wrapped else kind(RANKS - 1, FEATURES)

    class Replacement:
        @hookimpl
        def structperc_features(self, context):
            return made()

    name = "SumFeatures" if wrapped else kind.__name__
    with pytest.raises(PluginError, match=f"{name} does not define the row of x of each atom.*replaces scores, add"):
        Engine("cusum", plugins=[Replacement(), "dual-kernel"]).fit(*data())


def test_a_map_that_says_cells_beside_its_scores_takes_a_kernel():
    class Whole(SquaredColumns):
        def cell(self, x, a):
            return 0, a

    X, y = data()
    engines = [Engine("cusum", plugins=[kind(RANKS - 1, FEATURES), "dual-kernel"]).fit(X, y) for kind in (Whole, BlockFeatures)]
    assert np.array_equal(engines[0].atom_scores(X), engines[1].atom_scores(X))


def test_predictions_of_a_kernel_go_around_no_replaced_scores():
    from structperc_dual_kernel.weights import DualWeights as KernelWeights
    from structperc_kernels import kernel_rows_for

    def made(kind):
        hook = hookimpl(lambda self, context: kind(kernel_rows_for(context)))
        return type("P", (), {"options": KERNEL_OPTIONS, "structperc_weights": hook})

    class Half(KernelWeights):
        def scores(self, x):
            return 0.5 * super().scores(x)

    class Counting(KernelWeights):
        def update(self, x, c):
            super().update(x, c)

    with pytest.raises(PluginError, match="Half replaces scores, but predictions come from what averaged.. returns, a Expansion"):
        Engine("cusum", plugins=[made(Half)()], kernel="rbf").fit(*data())
    Engine("cusum", plugins=[made(Counting)()], kernel="rbf").fit(*data())


def test_a_rule_sees_the_inner_products_of_a_store_that_replaces_norm():
    class Doubled(PrimalWeights):
        def norm(self, x, c):
            return 2 * super().norm(x, c)

    seen = []

    class Looks(PerceptronUpdate):
        def step(self, trial):
            x, a = trial.x, trial.x.n_atoms - 1
            seen.append((trial.inner(0, 0), trial.inner(0, a), features.inner(x, 0, x, 0), features.inner(x, 0, x, a)))
            return super().step(trial)

        def start(self, parts, context):
            nonlocal features
            super().start(parts, context)
            features = parts.features

    features = None
    trained(data(), Doubled(), Looks(), epochs=1)

    assert seen
    for one, both, of_one, of_both in seen:
        assert one == pytest.approx(2 * of_one) and both == pytest.approx(2 * of_both, abs=1e-12)


@pytest.mark.parametrize("base", ["map", "store"])
def test_exact_steps_go_by_a_replaced_norm(base):
    class HalfStore(PrimalWeights):
        def norm(self, x, c):
            return super().norm(x, c) / 2

    X, y = data(1)
    part = HalfNorm(RANKS - 1, FEATURES) if base == "map" else HalfStore()
    steps = [trained((X, y), part, update="exact-pa", epochs=1) for part in (part, BlockFeatures(RANKS - 1, FEATURES))]

    assert steps[1].atom_scores(X).any()
    np.testing.assert_allclose(steps[0].atom_scores(X), 2 * steps[1].atom_scores(X))


def test_a_failed_chunk_is_undone_where_a_map_projects_other_weights():
    class Elsewhere(BlockFeatures):
        def project(self, w, x=None):
            w[:] = np.minimum(w, 0.125 if x is not None and x.index else w)

    X = csr_matrix((np.ones(3), ([0, 1, 2], [5, 900, 31])), shape=(3, 1000))
    engine = Engine("multiclass", plugins=[Elsewhere(3, 1000)], classes=[1, 2, 3], fit_intercept=False).partial_fit(X, [2, 3, 1])
    before = engine.coef_.copy()
    broken = csr_matrix(([1.0, np.inf], ([0, 1], [31, 31])), shape=(2, 1000))
    with pytest.raises(ValueError):
        engine.partial_fit(broken, [3, 1])

    assert before.any() and np.array_equal(engine.coef_, before)


# ---- Y(x), update rule, trainer ----


class Described(RankOutputs):
    def decode(self, y, x):
        return f"rank {y}"


class Lenient(RankOutputs):
    def agrees(self, gold, y, x):
        return abs(gold - y) <= 1


class OneThresholdApart(RankOutputs):
    """Every rank above the first has only one atom."""

    def count(self, x, y):
        return (np.arange(x.n_atoms) == y - 2).astype(float)


def test_replacing_only_how_outputs_are_shown(training_set, register):
    X, y = training_set
    replaced, before = trained(training_set, register(Described())), trained(training_set)

    assert replaced.predict(X).tolist() == [f"rank {y}" for y in before.predict(X)]
    assert replaced.online_predictions_.tolist() == [f"rank {y}" for y in before.online_predictions_]


def test_replacing_only_what_counts_as_right(training_set, register):
    X, y = training_set
    engine = trained(training_set, register(Lenient()), epochs=1)

    assert engine.mistakes_ == [int((np.abs(engine.online_predictions_ - y) > 1).sum())]
    assert engine.mistakes_[0] < trained(training_set, epochs=1).mistakes_[0]


def test_a_loss_asks_the_replaced_outputs_what_is_right(training_set, register):
    class AugmentedElsewhere(ZeroOneLoss):
        def augment(self, gold, scores, scale, x=None):
            return scores

    for loss in (ZeroOneLoss(), AugmentedElsewhere()):
        engine = trained(training_set, register(Lenient()), loss, epochs=1)
        assert engine.cumulative_loss_ == engine.mistakes_[0] > 0


def test_replacing_only_which_atoms_occur(training_set, register):
    X, y = training_set[0][:1], [4]

    before, replaced = trained((X, y), epochs=1), trained((X, y), register(OneThresholdApart()), epochs=1)

    assert [row.any() for row in weights_of(before)] == [False, True, True, True]
    assert [row.any() for row in weights_of(replaced)] == [False, False, False, True]


@pytest.mark.parametrize("rule", [PerceptronUpdate, PassiveAggressiveUpdate])
def test_replacing_only_the_update_rule(training_set, register, rule):
    class Halved(rule):
        def step(self, trial):
            c = super().step(trial)
            return None if c is None else c / 2

    X, y = training_set[0][:1], [4]
    update = "pa" if rule is PassiveAggressiveUpdate else "perceptron"
    replaced, before = trained((X, y), register(Halved()), epochs=1), trained((X, y), update=update, epochs=1)

    assert weights_of(before).any()
    np.testing.assert_allclose(weights_of(replaced), weights_of(before) / 2)
    np.testing.assert_allclose(replaced.atom_scores(X), before.atom_scores(X) / 2)


def test_replacing_only_the_trainer(training_set, register):
    class Twice(OnlineTrainer):
        def train(self, run):
            run.begin_epoch()
            run.run()
            run.end_epoch(run.run())
            return "max_epochs"

    replaced, before = trained(training_set, register(Twice()), epochs=7), trained(training_set, epochs=2)

    assert replaced.mistakes_ == before.mistakes_
    assert np.array_equal(weights_of(replaced), weights_of(before))


# ---- streams, and problems without labels ----


def test_partial_fit_uses_the_replaced_parts():
    X, y = data()
    engine = Engine("cusum", classes=[1, 2, 3, 4], plugins=[NeverTheHighest(RANKS), OverratingIsWorse(), DoubleSteps(RANKS - 1, FEATURES)])
    for i in range(len(y)):
        engine.partial_fit(X[i:i + 1], y[i:i + 1])
    whole = trained((X, y), NeverTheHighest(RANKS), OverratingIsWorse(), DoubleSteps(RANKS - 1, FEATURES), epochs=1)

    assert np.array_equal(engine.atom_scores(X), whole.atom_scores(X))
    assert engine.predict(X).max() == 3


@pytest.mark.parametrize("update", ["perceptron", "pa"])
def test_parts_of_structures_can_be_replaced(update):
    class Heavier(HammingLoss):
        def value(self, gold, y, x=None):
            return 3 * super().value(gold, y, x)

    X = [np.array([[1.0, 2.0], [-1.0, 0.5]]), np.array([[0.5, -1.0]])]
    y = [[0], [0]]
    before = Engine(Subsets(), update=update, epochs=1).fit(X, y)
    replaced = Engine(Subsets(), update=update, epochs=1, plugins=[Heavier()]).fit(X, y)

    assert replaced.cumulative_loss_ == 3 * before.cumulative_loss_ > 0
    np.testing.assert_allclose(replaced.coef_, before.coef_ * (3 if update == "pa" else 1))


def test_a_changed_value_without_a_changed_augmentation_is_refused():
    class Heavier(HammingLoss):
        def value(self, gold, y, x=None):
            return 3 * super().value(gold, y, x)

    with pytest.raises(PluginError, match="loss_weight=1.0: Heavier "):
        Engine(Subsets(), loss_weight=1.0, plugins=[Heavier()]).fit([np.ones((2, 2))], [[0]])


def test_a_loss_that_was_never_started_says_so():
    code = "from structperc.components import ZeroOneLoss; ZeroOneLoss().value(1, 2)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert "PluginError" in done.stderr and "start" in done.stderr
