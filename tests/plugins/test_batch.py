"""Batch training ends at the optimum of the quadratic program over all structures. Its duality gap bounds the distance from it."""

import traceback

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain import Engine
from reference import structural_svm
from reference.problems import PROBLEMS
from scipy.sparse import csr_array

from structperc import hookimpl
from structperc.callbacks import History
from structperc.components import (
    EpochRecord,
    LargestArgmax,
    PerceptronUpdate,
    RowFeatures,
)
from structperc.errors import DataError, ModelFormatError, OptionError, PluginError
from structperc.estimators import StructuredClassifier
from structperc.testing import DualWeights, check_problem

from .chosen_rows import Bags, Disjoint, bags, disjoint

TIGHT = {"plugins": ["batch"], "trainer": "bcfw", "tolerance": 1e-8, "epochs": 20000}


def labelled(seed=0, n=25, d=3, r=4):
    """Rows whose labels are not linearly separable."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, 1 + np.argmax(X @ random.normal(size=(d, r)) + 1.5 * random.normal(size=(n, r)), axis=1)


def sentences(seed=0, n=8, L=3, d=2):
    random = np.random.default_rng(seed)
    X = [random.normal(size=(size, d)) for size in random.integers(1, 4, n)]
    return X, [[int(np.argmax(np.append(x, random.normal()))) + 1 for x in block] for block in X]


def assert_optimal(engine, examples, C, weights=None, margin=1.0):
    """The model is the program's optimum, and the engine's objective and duality gap are correct."""
    _, best = structural_svm.optimum(examples, C, weights, margin)
    w = engine.parts_.weights.vector()
    reached = structural_svm.objective(w, examples, C, weights, margin)

    assert engine.status_ == "converged"
    assert 0 <= engine.gap_ + 1e-12 and engine.gap_ <= 1e-6
    assert engine.objective_ == pytest.approx(reached, rel=1e-9)
    assert best - 1e-7 * (1 + best) <= reached <= best + engine.gap_ + 1e-7 * (1 + best)


# ---- structural SVM ----


@pytest.mark.parametrize("problem", ["multiclass", "cusum"])
@pytest.mark.parametrize("C", [0.02, 0.3])
@pytest.mark.parametrize("intercept", [False, True])
def test_labels_reach_the_optimum_over_explicit_features(problem, C, intercept):
    X, y = labelled()
    named = PROBLEMS[problem](4, intercept)
    rows = named.extended(X)
    examples = [(np.array([named.phi(x, label) - named.phi(x, z) for z in named.labels]),
                 np.array([abs(label - z) if problem == "cusum" else float(label != z) for z in named.labels]))
                for x, label in zip(rows, y.tolist(), strict=True)]

    engine = Engine(problem, C=C, classes=[1, 2, 3, 4], fit_intercept=intercept, **TIGHT).fit(X, y)

    _, best = structural_svm.optimum(examples, C)
    shown = np.column_stack([engine.coef_, engine.intercept_]) if intercept else engine.coef_
    reached = structural_svm.objective(shown.ravel(), examples, C)
    assert engine.status_ == "converged" and engine.gap_ <= 1e-6
    assert engine.objective_ == pytest.approx(reached, rel=1e-9)
    assert reached == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize(("make", "problem", "options"), [
    (labelled, "multiclass", {"loss": [[0, 1, 5, 2], [1, 0, 1, 1], [4, 1, 0, 1], [1, 1, 1, 0]]}),
    (labelled, "cusum", {"loss": "squared", "margin": 0.5}),
    (labelled, "multiclass", {"margin": 3.0, "shuffle": True, "random_state": 0}),
    (sentences, "sequence", {"start": True, "end": True}),
    (disjoint, Disjoint(), {}),
])  # fmt: skip
def test_the_optimum_of_the_quadratic_program_is_reached(make, problem, options):
    X, y = make()

    engine = Engine(problem, C=0.2, **TIGHT, **options).fit(X, y)

    assert_optimal(engine, structural_svm.examples_of(engine, X, y), 0.2, margin=options.get("margin", 1.0))


def test_sample_weights_weigh_the_losses_and_zero_is_absence():
    X, y = labelled()
    weights = np.arange(len(y)) % 4 / 2

    engine = Engine("multiclass", C=0.2, **TIGHT).fit(X, y, sample_weight=weights)

    assert_optimal(engine, structural_svm.examples_of(engine, X, y), 0.2, weights)


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 8), C=st.floats(0.01, 10), repeated=st.booleans())
def test_small_sets_with_ties_and_repetitions_reach_the_optimum(seed, n, C, repeated):
    random = np.random.default_rng(seed)
    X, y = random.integers(-2, 3, (n, 2)).astype(float), random.integers(1, 4, n)
    if repeated:
        X = np.repeat(X[:1], n, axis=0)

    engine = Engine("multiclass", C=C, classes=[1, 2, 3], fit_intercept=False, **TIGHT).fit(X, y)

    examples = structural_svm.examples_of(engine, X, y)
    best = structural_svm.optimum(examples, C)[1]
    assert engine.status_ == "converged"
    assert structural_svm.objective(engine.parts_.weights.vector(), examples, C) == pytest.approx(best, rel=1e-6, abs=1e-6)


def test_every_gap_on_the_way_bounds_the_distance_to_the_optimum():
    X, y = labelled()
    best = None
    for epochs in range(1, 12):
        engine = Engine("cusum", C=1.0, plugins=["batch"], trainer="bcfw", tolerance=1e-9, epochs=epochs).fit(X, y)
        examples = structural_svm.examples_of(engine, X, y)
        best = best or structural_svm.optimum(examples, 1.0)[1]

        assert len(engine.mistakes_) <= epochs
        assert best <= engine.objective_ + 1e-7
        assert engine.objective_ - engine.gap_ <= best + 1e-7
        assert engine.objective_ == pytest.approx(structural_svm.objective(engine.parts_.weights.vector(), examples, 1.0))
        assert engine.objectives_[-1] == engine.objective_ and engine.gaps_[-1] == engine.gap_


def test_losses_of_predictions_are_at_most_the_slacks():
    X, y = labelled()
    engine = Engine("cusum", C=1.0, plugins=["batch"], trainer="bcfw", epochs=100).fit(X, y)
    slacks = engine.objective_ - np.sum(engine.parts_.weights.vector() ** 2) / 2

    assert np.abs(engine.predict(X) - y).sum() <= slacks + 1e-9


def test_dense_csr_dual_and_python_parts_reach_the_same_optimum():
    X, y = labelled(n=12)
    options = TIGHT | {"tolerance": 1e-6}
    dense = Engine("multiclass", C=0.1, **options).fit(X, y)
    sparse = Engine("multiclass", C=0.1, **options).fit(csr_array(X), y)
    dual = Engine("multiclass", C=0.1, **options | {"plugins": [DualWeights(), "batch"]}).fit(X, y)

    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-3)
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=2e-6)
    assert dual.objective_ == pytest.approx(dense.objective_, rel=2e-6)
    assert dual.status_ == "converged"


def test_the_same_seed_gives_the_same_bits():
    X, y = labelled()
    one, other = (Engine("cusum", plugins=["batch"], trainer="bcfw", epochs=20, shuffle=True, random_state=3).fit(X, y) for _ in range(2))

    assert one.coef_.tobytes() == other.coef_.tobytes() and one.gap_ == other.gap_


@pytest.mark.parametrize("problem", ["cusum", "sequence"])
def test_other_problems_pass_the_battery_with_it(problem):
    outcomes = dict(check_problem(problem, plugins=["batch"], trainer="bcfw"))

    assert outcomes["compiled_equals_python"] == outcomes["saving_keeps_everything"] == "passed"


# ---- searches ----


class Counting(LargestArgmax):
    """Counts its searches in a class attribute, because engines copy parts."""

    calls = 0

    def argmax(self, scores, x):
        Counting.calls += 1
        return super().argmax(scores, x)


class Searches:
    """Records the number of searches until the end of each epoch."""

    def __init__(self):
        self.calls, Counting.calls = [], 0

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        self.calls.append(Counting.calls)


def test_a_certificate_and_an_epoch_take_one_search_per_example_and_sweeps_none():
    X, y = labelled()
    searches = Searches()
    engine = Engine("multiclass", plugins=["batch", Counting(4), searches], trainer="bcfw", C=1.0, tolerance=1e-9, epochs=10)
    engine.fit(X, y)
    counts = np.diff([0, *searches.calls, Counting.calls]) / len(y)

    assert counts.tolist() == [2] + [1] * 9 + [1]           # a certificate and an epoch, nine epochs, a certificate
    assert len(engine.gaps_) == 2 and len(engine.mistakes_) == 10


def test_a_warm_start_takes_no_search_beyond_its_certificate():
    X, y = labelled()
    engine = Engine("multiclass", C=0.1, warm_start=True, **TIGHT | {"plugins": ["batch", Counting(4)]}).fit(X, y)
    Counting.calls = 0
    engine.fit(X, y)

    assert Counting.calls == len(y)


def test_completing_gold_outputs_takes_no_search():
    X, y = bags(1, n=10)
    calls = []

    class Noting(Bags.Argmax):
        def argmax(self, scores, x):
            calls.append(x.index)
            return super().argmax(scores, x)

    engine = Engine(Bags(), C=1.0, trainer="cccp", plugins=["batch", Noting()], tolerance=1e-6, epochs=5000).fit(X, y)

    assert len(engine.objectives_) > 1
    assert len(calls) == len(y) * (1 + len(engine.gaps_) + len(engine.mistakes_))


def test_mistakes_are_the_examples_whose_augmented_answer_is_wrong():
    X, y = labelled()
    found = []

    class Noting(LargestArgmax):
        def argmax(self, scores, x):
            found.append((x.index, super().argmax(scores, x)))
            return found[-1][1]

    engine = Engine("multiclass", plugins=["batch", Noting(4)], trainer="bcfw", C=1.0, epochs=1).fit(X, y)
    epoch = found[len(y):2 * len(y)]

    assert [i for i, _ in epoch] == list(range(len(y)))
    assert engine.mistakes_ == [sum(answer != y[i] for i, answer in epoch)]
    assert engine.cumulative_loss_ == engine.mistakes_[0]


def test_predictions_are_kept_by_a_search_beside_and_change_nothing():
    X, y = labelled()
    plain = Engine("cusum", plugins=["batch"], trainer="bcfw", epochs=3).fit(X, y)
    kept = Engine("cusum", plugins=["batch"], trainer="bcfw", epochs=3).fit(X, y, record_predictions=True)

    assert kept.mistakes_ == plain.mistakes_ and kept.coef_.tobytes() == plain.coef_.tobytes()
    assert (kept.online_predictions_[:len(y)] != y).sum() != kept.mistakes_[0]


# ---- observers and estimators ----


def test_observers_are_told_of_every_epoch_and_may_stop():
    class Stopping:
        @hookimpl
        def structperc_epoch_end(self, engine, record):
            if record.epoch == 7:
                engine.stop()

    X, y = labelled()
    history = History()
    engine = Engine("cusum", plugins=["batch", history, Stopping()], trainer="bcfw", tolerance=1e-9, epochs=50).fit(X, y)

    assert [record.epoch for record in history.records] == list(range(1, 8))
    assert all(isinstance(record, EpochRecord) and record.examples == len(y) for record in history.records)
    assert [record.mistakes for record in history.records] == engine.mistakes_
    assert engine.status_ == "early_stopped"
    assert engine.objective_ >= engine.objective_ - engine.gap_ > 0


def test_online_predictions_are_those_of_the_passes_that_step():
    X, y = labelled()
    engine = Engine("cusum", plugins=["batch"], trainer="bcfw", epochs=3).fit(X, y, record_predictions=True)

    assert len(engine.online_predictions_) == 3 * len(y)


def test_estimators_take_it():
    X, y = labelled()
    model = StructuredClassifier(update="perceptron", loss_weight=0.0, average=False, C=0.1, epochs=2000, plugins=["batch"], trainer="bcfw",
                                 plugin_options={"tolerance": 1e-6}).fit(X, y)

    assert model.status_ == "converged" and model.gap_ <= 1e-6 * model.objective_
    assert model.score(X, y) > 0.4


def test_the_methods_are_cited():
    X, y = bags()
    engine = Engine(Bags(), plugins=["batch"], trainer="cccp", epochs=5).fit(X, y)

    assert "lacoste2013block" in engine.citation() and "yu2009learning" in engine.citation()


# ---- continued training ----


class CtrlC:
    """Raises KeyboardInterrupt at the end of an epoch."""

    def __init__(self, epoch):
        self.epoch = epoch

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        if record.epoch == self.epoch:
            raise KeyboardInterrupt


def interrupted(problem, X, y, epoch=2, **options):
    ctrl_c = CtrlC(epoch)
    engine = Engine(problem, plugins=["batch", ctrl_c], warm_start=True, **{"trainer": "bcfw"} | options)
    with pytest.raises(KeyboardInterrupt):
        engine.fit(X, y)
    ctrl_c.epoch = None
    return engine


def test_an_interrupted_fit_predicts_and_says_that_nothing_is_certain():
    X, y = labelled()
    engine = interrupted("cusum", X, y, C=0.2, tolerance=1e-8, epochs=5000)

    assert engine.status_ == "interrupted" and len(engine.mistakes_) == 2
    assert engine.gap_ == np.inf and np.isnan(engine.objective_)
    assert engine.predict(X).shape == y.shape


@pytest.mark.parametrize("through_a_file", [False, True])
@pytest.mark.parametrize(("make", "problem"), [(labelled, "cusum"), (sentences, "sequence")])
def test_an_interrupted_fit_goes_on_where_it_was(tmp_path, make, problem, through_a_file):
    X, y = make()
    options = {"C": 0.2, "tolerance": 1e-8, "epochs": 5000}
    engine = interrupted(problem, X, y, **options)
    weights = np.array(engine.parts_.weights.vector())
    if through_a_file:
        engine.save(tmp_path / "model")
        engine = Engine.load(tmp_path / "model")
    reached = structural_svm.objective(weights, structural_svm.examples_of(engine, X, y), 0.2)
    engine.fit(X, y)

    assert engine.objectives_[0] == pytest.approx(reached, rel=1e-10)
    assert_optimal(engine, structural_svm.examples_of(engine, X, y), 0.2)


class Pressing(RowFeatures):
    """Raises KeyboardInterrupt in a call of `add`."""

    left = 0

    def add(self, w, x, c):
        Pressing.left -= 1
        if Pressing.left == 0:
            raise KeyboardInterrupt
        super().add(w, x, c)


class PressingDisjoint(Disjoint):
    @hookimpl
    def structperc_features(self, context):
        return Pressing(context.n_features)


def written_down(engine, X, y):
    """w(a) from the dual solution that a model file would contain."""
    state, parts = engine.parts_.update.state(), engine.parts_
    rows = parts.reader.read(X)
    codes = np.split(state["structures"], np.cumsum(state["sizes"])[:-1])
    w, at = np.zeros(parts.features.n_weights), 0
    for i, n in enumerate(state["counts"]):
        x = rows.example(i)
        x.n_atoms = parts.features.n_atoms(x)
        for m in range(at, at + n):
            w += state["alpha"][m] * parts.features.vector(x, parts.outputs.count(x, y[i]) - parts.outputs.count(x, tuple(codes[m])))
        at += n
    return w


def test_ctrl_c_while_weights_are_written_anew_leaves_them_whole():
    X, y = disjoint(n=10)
    engine = Engine(PressingDisjoint(), plugins=["batch"], trainer="bcfw", epochs=2, tolerance=1e-9)
    places = []
    for Pressing.left in range(1, 35):
        try:
            engine.fit(X, y)
        except KeyboardInterrupt as error:
            places.append("rebuild" if "rebuild" in [frame.name for frame in traceback.extract_tb(error.__traceback__)] else "step")
            assert engine.status_ == "interrupted" and len(engine.predict(X)) == len(y)
            if places[-1] == "rebuild":
                assert engine.parts_.weights.vector().any()
                Pressing.left = -1
                np.testing.assert_allclose(engine.parts_.weights.vector(), written_down(engine, X, y), atol=1e-12)

    assert {"step", "rebuild"} == set(places)


def test_training_that_has_converged_takes_no_further_epoch():
    X, y = labelled()
    engine = Engine("multiclass", C=0.1, warm_start=True, **TIGHT).fit(X, y)
    found = engine.objective_
    engine.fit(X, y)

    assert engine.mistakes_ == []
    assert engine.objective_ == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize("change", ["C", "labels", "weights", "loss"])
def test_a_warm_start_with_another_problem_reaches_that_ones_optimum(change):
    X, y = labelled()
    engine = Engine("cusum", C=0.3, warm_start=True, **TIGHT).fit(X, y)
    C, weights = 0.3, None
    if change == "C":
        C = engine.C = 0.05
    elif change == "labels":
        y = y[::-1].copy()
    elif change == "weights":
        weights = np.arange(len(y)) % 3 / 2
    else:
        engine.loss = "squared"
    engine.fit(X, y, sample_weight=weights)

    assert_optimal(engine, structural_svm.examples_of(engine, X, y), C, weights)


def test_without_warm_start_every_fit_begins_anew():
    X, y = labelled()
    engine = Engine("cusum", plugins=["batch"], trainer="bcfw", epochs=5).fit(X, y)
    before = engine.coef_.copy()
    engine.fit(X, y)

    assert np.array_equal(engine.coef_, before) and len(engine.mistakes_) == 5


def test_a_warm_start_with_other_examples_is_refused_and_changes_nothing():
    X, y = labelled()
    engine = Engine("cusum", plugins=["batch"], trainer="bcfw", epochs=5, warm_start=True).fit(X, y)
    before = engine.coef_.copy()
    with pytest.raises(DataError, match="24 examples, but the solution to continue from has 25"):
        engine.fit(X[1:], y[1:])

    assert np.array_equal(engine.coef_, before) and engine.status_ == "max_epochs"


def test_a_warm_start_checks_structures_that_no_longer_fit():
    X, y = sentences()
    engine = Engine("sequence", plugins=["batch"], trainer="bcfw", epochs=20, warm_start=True).fit(X, y)
    with pytest.raises(PluginError, match="is no labelling of sentence 0"):
        engine.fit([x[:-1] for x in X], [labels[:-1] for labels in y])


def test_damaged_states_are_refused(tmp_path):
    X, y = labelled()
    engine = Engine("cusum", plugins=["batch"], trainer="bcfw", epochs=5).fit(X, y)
    engine.save(tmp_path / "model")
    arrays = dict(np.load(tmp_path / "model"))
    for name in ("update.alpha", "update.structures", "update.counts", "trainer.certificate"):
        with open(tmp_path / "damaged", "wb") as file:
            np.savez(file, **{**arrays, name: arrays[name][:-1]})
        with pytest.raises(ModelFormatError):
            Engine.load(tmp_path / "damaged")


def test_a_model_file_keeps_what_is_certain(tmp_path):
    X, y = labelled()
    engine = Engine("cusum", plugins=["batch"], trainer="bcfw", epochs=5).fit(X, y)
    engine.save(tmp_path / "model")
    loaded = Engine.load(tmp_path / "model")

    assert (loaded.objective_, loaded.gap_) == (engine.objective_, engine.gap_)
    assert np.array_equal(loaded.gaps_, engine.gaps_) and np.array_equal(loaded.coef_, engine.coef_)


# ---- latent structural SVM ----


def latent_examples(engine, X, y, offsets=None):
    """(phi, losses, agrees) of every example. If a structure agrees with the gold output, its loss is 0."""
    parts = engine.parts_
    rows = parts.reader.read(X, offsets)
    gold = parts.outputs.encode(y, rows)
    found = []
    for i in range(rows.n_examples):
        x = rows.example(i)
        x.n_atoms = parts.features.n_atoms(x)
        phi, losses = structural_svm.structures_of(parts, x, gold[i])
        found.append((phi, losses, losses == 0))
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("C", [0.1, 2.0])
def test_the_latent_objective_never_rises_and_ends_where_it_says(seed, C):
    """LV-5: C multiplies both maxima."""
    X, y = bags(seed, n=10)
    engine = Engine(Bags(), C=C, **TIGHT | {"trainer": "cccp", "tolerance": 1e-6}).fit(X, y)
    examples = latent_examples(engine, X, y)
    w = engine.parts_.weights.vector()

    assert engine.status_ == "converged"
    assert len(engine.objectives_) > 1
    assert (np.diff(engine.objectives_) <= 0).all()
    assert engine.objectives_[0] == pytest.approx(structural_svm.latent_objective(np.zeros_like(w), examples, C))
    assert engine.objectives_[-1] == pytest.approx(structural_svm.latent_objective(w, examples, C), rel=1e-9)
    assert engine.gap_ <= 1e-6 * engine.objective_
    assert engine.objectives_[-1] >= structural_svm.latent_optimum(examples, C) - 1e-6


def test_each_convex_problem_is_solved_to_its_optimum():
    X, y = bags(1, n=10)
    engine = Engine(Bags(), C=1.0, **TIGHT | {"trainer": "cccp"}).fit(X, y)
    examples = latent_examples(engine, X, y)
    w = engine.parts_.weights.vector()
    chosen = [int(np.argmax(np.where(agrees, phi @ w, -np.inf))) for phi, _, agrees in examples]
    best = structural_svm.optimum(structural_svm.completed(examples, chosen), 1.0)[1]

    assert engine.objectives_[-1] == pytest.approx(best, rel=1e-6)      # a fixed point


def test_the_latent_objective_never_rises_with_few_epochs_either():
    X, y = bags(2, n=12)
    for epochs in range(1, 15):
        engine = Engine(Bags(), C=1.0, trainer="cccp", plugins=["batch"], tolerance=1e-3, epochs=epochs).fit(X, y)
        w = engine.parts_.weights.vector()

        assert (np.diff(engine.objectives_) <= 0).all()
        assert engine.objectives_[-1] == pytest.approx(structural_svm.latent_objective(w, latent_examples(engine, X, y), 1.0), rel=1e-9)


@pytest.mark.parametrize("loss", ["precision", "recall"])
def test_the_latent_objective_of_rankings_never_rises(loss):
    random = np.random.default_rng(0)
    X = random.normal(size=(30, 3))
    y, lengths = np.digitize(X[:, 0] + random.normal(size=30), [0, 1]), [5] * 6
    engine = Engine("latent-ranking", k=2, loss=loss, C=2.0, **TIGHT | {"trainer": "cccp", "tolerance": 1e-6}).fit(X, y, lengths=lengths)
    examples = latent_examples(engine, X, y, np.arange(0, 31, 5))
    w = engine.parts_.weights.vector()

    assert engine.status_ == "converged" and len(engine.objectives_) > 1
    assert (np.diff(engine.objectives_) <= 0).all()
    assert engine.objectives_[-1] == pytest.approx(structural_svm.latent_objective(w, examples, 2.0), rel=1e-9)
    assert engine.gap_ <= 1e-6 * engine.objective_


def surrogates(w, examples):
    """The surrogate (4) of each example at w: the largest score plus loss, less the best completion's score."""
    return np.array([(phi @ w + losses).max() - (phi @ w)[agrees].max() for phi, losses, agrees in examples])


@pytest.mark.parametrize("k", [1, 2])
def test_the_surrogate_bounds_the_losses_and_only_cccp_never_raises_it(k):
    """The surrogate is at least the loss of the prediction, for every w. From w = 0 only `cccp` lowers it: perceptrons may end above."""
    risen = 0
    for seed in range(6):
        random = np.random.default_rng([seed, 17])
        X, lengths = random.normal(size=(40, 3)), [5] * 8
        y = (X[:, 0] * (seed % 2) + random.normal(size=40) > 0.3).astype(int)
        trainers = [{"trainer": "cccp", "plugins": ["batch"], "C": C, "epochs": 1000} for C in (0.1, 1.0, 10.0)]
        for options in [*trainers, {"loss_weight": 0.0, "epochs": 3}, {"loss_weight": 1.0, "epochs": 3}]:
            engine = Engine("latent-ranking", k=k, **options).fit(X, y, lengths=lengths)
            examples, w = latent_examples(engine, X, y, np.arange(0, 41, 5)), engine.parts_.weights.vector()
            found = surrogates(w, examples)
            rows = engine.parts_.reader.read(X, np.arange(0, 41, 5))
            gold = engine.parts_.outputs.encode(y, rows)
            answers = engine.predict(X, lengths=lengths)
            losses = [engine.parts_.loss.value(gold[i], tuple(answers[i][:k]), rows.example(i)) for i in range(8)]
            assert (found >= np.array(losses) - 1e-9).all() and min(losses) >= 0
            at_zero = surrogates(0 * w, examples).sum()
            if "C" in options:
                assert found.sum() + w @ w / (2 * options["C"]) <= at_zero * (1 + 1e-9)
                assert engine.objectives_[-1] == pytest.approx(w @ w / 2 + options["C"] * found.sum(), rel=1e-9)
            else:
                risen += found.sum() > at_zero
    assert risen


def test_an_interrupted_latent_fit_goes_on():
    X, y = bags(1, n=10)
    engine = interrupted(Bags(), X, y, epoch=3, C=1.0, trainer="cccp", tolerance=1e-6, epochs=5000)
    assert engine.status_ == "interrupted" and len(engine.predict(X)) == len(y)
    engine.fit(X, y)

    w = engine.parts_.weights.vector()
    assert engine.status_ == "converged" and (np.diff(engine.objectives_) <= 0).all()
    assert engine.objectives_[-1] == pytest.approx(structural_svm.latent_objective(w, latent_examples(engine, X, y), 1.0), rel=1e-9)


# ---- errors ----


class Guessing(LargestArgmax):
    exact = False


@pytest.mark.parametrize(("options", "error", "words"), [
    ({"update": "pa1"}, OptionError, "update='pa1' has no effect with trainer='bcfw'; leave it at 'perceptron'"),
    ({"loss_weight": 1.0}, OptionError, "loss_weight=1.0 has no effect with trainer='bcfw'; leave it at 0.0"),
    ({"average": True}, OptionError, "average=True has no effect with trainer='bcfw'; leave it at False"),
    ({"decay": 0.1}, OptionError, "decay=0.1 has no effect with trainer='bcfw'; leave it at 0.0"),
    ({"trainer": "newton"}, PluginError, "trainer='newton' is unknown .* They know online, until-level, bounded-sum, bcfw, cccp"),
    ({"tolerance": 0}, OptionError, "tolerance=0; expected a number greater than 0 and below 1"),
    ({"trainer": "cccp"}, PluginError, "nothing to complete; use trainer='bcfw'"),
    ({"plugins": ["batch", Guessing(4)]}, PluginError, "Guessing declares itself approximate"),
    ({"plugins": ["batch", PerceptronUpdate()]}, PluginError, "PerceptronUpdate was named after it"),
])  # fmt: skip
def test_what_batch_training_cannot_honour_is_refused(options, error, words):
    X, y = labelled()
    with pytest.raises(error, match=words):
        Engine("multiclass", **{"plugins": ["batch"], "trainer": "bcfw"} | options).fit(X, y)


def test_other_refusals():
    X, y = disjoint()
    with pytest.raises(PluginError, match="batch training: ZeroOneLoss cannot be written over atoms"):
        Engine(Disjoint(), loss="zero-one", plugins=["batch"], trainer="bcfw").fit(X, y)
    X, y = bags()
    with pytest.raises(PluginError, match="use trainer='cccp'"):
        Engine(Bags(), plugins=["batch"], trainer="bcfw").fit(X, y)
    X, y = labelled()
    with pytest.raises(PluginError, match="prank takes whole steps|thresholds"):
        Engine("prank", plugins=["batch"], trainer="bcfw").fit(X, y)


@pytest.mark.parametrize("trained", [False, True])
def test_chunks_are_refused(trained):
    X, y = labelled()
    engine = Engine("multiclass", plugins=["batch"], trainer="bcfw", epochs=3)
    if trained:
        engine.fit(X, y)
        before = engine.coef_.copy()
    with pytest.raises(PluginError, match="one problem over all examples; call fit with all of them"):
        engine.partial_fit(X, y)

    if trained:
        assert np.array_equal(engine.coef_, before) and len(engine.mistakes_) == 3
    else:
        assert not hasattr(engine, "coef_")


def test_squared_norms_that_overflow_are_refused():
    with pytest.raises(DataError, match="too large for floating point"):
        Engine("multiclass", plugins=["batch"], trainer="bcfw", epochs=3).fit([[1e200], [-1e200], [2e200]], [1, 2, 3])
