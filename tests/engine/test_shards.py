"""Shards trained apart and mixed: the papers' formulas, equal bits in any threads, Ctrl-C, checkpoints and errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import Engine
from reference.mixing import mixed
from scipy import sparse
from ticking import one_signal

from structperc import hookimpl
from structperc.callbacks import Checkpoint, EarlyStopping, History
from structperc.components import Argmax, PerceptronUpdate
from structperc.errors import DataError, OptionError, PluginError, UnusedOption
from structperc.schedules import inverse_sqrt

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(60, 4))
Y = np.digitize(X @ [2.0, -1.0, 0.5, 0.0] + RANDOM.normal(size=60), [-1.0, 1.0]) + 1
WIDE = sparse.csr_array(np.where(RANDOM.random((60, 40)) < 0.1, RANDOM.integers(-2, 3, (60, 40)), 0).astype(float))
CLASSES = RANDOM.integers(0, 6, 60)
SENTENCES = [[[f"a={RANDOM.integers(6)}", f"b={RANDOM.integers(9)}"] for _ in range(n)] for n in RANDOM.integers(1, 5, 40)]
HEADS = [[0, *(int(RANDOM.integers(1, t + 1)) for t in range(1, len(sentence)))] for sentence in SENTENCES]
TAGS = [["NVA"[hash_of % 3] for hash_of in (len(token[0]) + int(token[1][-1]) for token in sentence)] for sentence in SENTENCES]
PROBLEMS = [
    ("cusum", X, Y, {}),
    ("cusum", X, Y, {"update": "pa2", "loss_weight": 1.0}),
    ("prank", X, Y, {}),
    ("multiclass", WIDE, CLASSES, {"update": "pa1", "C": 0.1}),         # memory of weights is in the order of first steps
    ("multiclass", WIDE, CLASSES, {"update": "log-loss", "step_size": inverse_sqrt()}),
    ("sequence", SENTENCES, TAGS, {"update": "latent", "decay": 0.05}),
    ("sequence", SENTENCES, [[f"{tag}{len(tags)}" for tag in tags] for tags in TAGS], {}),      # rows that only some rounds touch
    ("parsing", SENTENCES, HEADS, {"n_hashed": 64}),
]


def trained(problem, X, y, **options):
    return Engine(problem, **options).fit(X, y)

TRAINERS = {"mean": "online", "bounded-sum": "bounded-sum"}


def weights_of(engine):
    return engine.parts_.weights.vector()


@pytest.mark.parametrize("case", range(len(PROBLEMS)))
@pytest.mark.parametrize(("average", "mixing"), [(False, "mean"), (True, "mean"), (True, "bounded-sum")])
def test_mixtures_are_those_of_the_formula(case, average, mixing):
    """ST-11: the average counts every visited weight vector once."""
    problem, data, y, options = PROBLEMS[case]
    engine = trained(problem, data, y, n_shards=3, n_jobs=2, epochs=3, average=average, trainer=TRAINERS[mixing], **options)
    w, mean = mixed(problem, data, y, 3, 3, mixing, **options)
    np.testing.assert_allclose(weights_of(engine), mean if average else w, rtol=1e-9, atol=1e-12)
    assert engine.parts_.weights.n_visited == 3 * len(y)


@given(st.integers(2, 9), st.integers(1, 4), st.booleans(), st.booleans(), st.sampled_from(["cusum", "multiclass"]))
def test_threads_change_no_bit(n_shards, n_jobs, average, shuffle, problem):
    data, y = (X[:7], Y[:7]) if problem == "cusum" else (WIDE, CLASSES)        # 9 shards of 7 examples: some are empty
    options = {"n_shards": n_shards, "average": average, "shuffle": shuffle, "random_state": 3, "epochs": 2}
    one, other = (trained(problem, data, y, n_jobs=jobs, **options) for jobs in (1, n_jobs))
    assert np.array_equal(weights_of(one), weights_of(other)) and one.mistakes_ == other.mistakes_


def test_one_shard_is_serial_training():
    """ST-11: bit for bit."""
    serial, one = (trained("cusum", X, Y, average=True, shuffle=True, random_state=1, epochs=4, **options)
                   for options in ({}, {"n_shards": 1, "n_jobs": 2}))
    assert np.array_equal(weights_of(serial), weights_of(one))


def test_separable_data_are_learned_and_training_ends():
    y = (X @ [1.0, 2.0, 0.0, -1.0] > 0).astype(int)
    engine = trained("multiclass", X, y, n_shards=4, epochs=500)
    assert engine.status_ == "converged" and engine.mistakes_[-1] == 0 and (engine.predict(X) == y).all()


def test_observers_see_each_round_and_can_end_training():
    history = History()
    engine = trained("cusum", X, Y, n_shards=2, epochs=9, plugins=[history, EarlyStopping(X, Y, patience=1)])
    assert len(history.records) == len(engine.mistakes_) < 9 and engine.status_ == "early_stopped"
    assert all(record.examples == 60 for record in history.records)


def test_online_predictions_are_those_before_each_step_in_the_order_of_shards():
    for problem, data, y in (("cusum", X, Y), ("sequence", SENTENCES, TAGS)):
        engine = Engine(problem, n_shards=3, epochs=2).fit(data, y, record_predictions=True)
        made = engine.online_predictions_
        assert len(made) == 2 * len(y)
        wrong = [list(np.ravel(a)) != list(np.ravel(b)) for a, b in zip(made, [*y, *y], strict=True)]
        assert [sum(wrong[:len(y)]), sum(wrong[len(y):])] == engine.mistakes_


def test_weights_of_examples_count_and_absent_examples_are_absent():
    weight = np.where(np.arange(60) % 3 == 0, 0.0, 1.0)
    engine = Engine("cusum", n_shards=2, epochs=2, average=True).fit(X, Y, sample_weight=weight)
    kept = weight[:30].sum(), weight[30:].sum()
    assert kept[0] == kept[1] == 20
    alone = trained("cusum", X[weight > 0], Y[weight > 0], n_shards=2, epochs=2, average=True)
    assert np.array_equal(weights_of(engine), weights_of(alone))


def test_costs_of_each_example_scale_and_temperature_work_with_shards():
    costs = np.abs(np.arange(1, 4) - Y[:, None]) * RANDOM.random((60, 1))
    engine = Engine("cusum", loss="costs", loss_weight=1.0, n_shards=3, epochs=3, average=True, scale=True, calibrate=True, random_state=0)
    engine.fit(X * 100, Y, costs=costs)
    assert engine.temperature_ != 1 and np.abs(engine.predict(X * 100) - Y).mean() < 0.5


def test_a_saved_engine_keeps_its_options_and_answers(tmp_path):
    engine = trained("cusum", X, Y, n_shards=3, n_jobs=2, epochs=2, average=True)
    engine.save(tmp_path / "model")
    loaded = Engine.load(tmp_path / "model")
    assert (loaded.n_shards, loaded.n_jobs) == (3, 2) and np.array_equal(weights_of(loaded), weights_of(engine))
    assert loaded.partial_fit(X, Y).parts_.weights.n_visited == 180


class Stop(Exception):
    """The process was killed."""


class Killer:
    """Ends training after an epoch."""

    def __init__(self, epoch):
        self.epoch = epoch

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        if record.epoch == self.epoch:
            raise Stop


@pytest.mark.parametrize("epoch", [2, 4])
def test_a_killed_training_ends_with_the_same_bits(tmp_path, epoch):
    options = {"n_shards": 3, "epochs": 5, "average": True, "shuffle": True, "random_state": 4}
    whole = trained("multiclass", WIDE, CLASSES, **options)
    checkpoint = Checkpoint(tmp_path / "model.checkpoint")
    with pytest.raises(Stop):
        Engine("multiclass", plugins=[checkpoint, Killer(epoch)], **options).fit(WIDE, CLASSES)
    resumed = Engine("multiclass", plugins=[checkpoint], n_jobs=2, **options).fit(WIDE, CLASSES, resume=True)
    assert np.array_equal(weights_of(resumed), weights_of(whole)) and resumed.mistakes_ == whole.mistakes_
    with pytest.raises(OptionError, match="n_shards=3, and this one has n_shards=2"):
        Engine("multiclass", plugins=[checkpoint], **options | {"n_shards": 2}).fit(WIDE, CLASSES, resume=True)


def test_ctrl_c_ends_all_threads_and_leaves_a_usable_model():
    many, y = np.tile(X, (3000, 1)), np.tile(Y, 3000)
    engine = Engine("cusum", n_shards=2, n_jobs=2, epochs=10**6, average=True)
    with pytest.raises(KeyboardInterrupt), one_signal(0.3) as send:
        send()
        engine.fit(many, y)
    if hasattr(engine, "status_"):          # otherwise Ctrl-C came before the first example
        assert engine.status_ == "interrupted" and np.isfinite(weights_of(engine)).all()
        assert engine.parts_.weights.n_visited > 0 and len(engine.predict(X)) == 60
    engine.epochs = 1
    assert engine.fit(X, Y).status_ == "max_epochs"


def test_an_error_in_a_shard_leaves_the_engine_as_it_was():
    bad = X.copy()
    bad[50, 2] = np.nan
    engine = trained("cusum", X, Y, n_shards=3)
    before = weights_of(engine).copy()
    with pytest.raises(DataError, match="50"):
        engine.fit(bad, Y)
    assert np.array_equal(weights_of(engine), before)


class First(Argmax):
    """The label of largest score, the lower one at a tie, in Python."""

    def argmax(self, scores, x):
        return int(np.argmax(scores)) + 1


def test_parts_in_python_are_copied_for_each_shard():
    compiled = trained("multiclass", X, Y, n_shards=3, epochs=3, random_state=0)
    python = trained("multiclass", X, Y, n_shards=3, n_jobs=3, epochs=3, random_state=0, plugins=[First()])
    assert np.array_equal(weights_of(compiled), weights_of(python))


class Counting(PerceptronUpdate):
    """A rule whose steps change its own state."""

    steps = 0

    def step(self, trial):
        self.steps += 1
        return trial.weight * trial.difference()

    def state(self):
        return {"steps": np.array(self.steps)}

    def restore(self, state):
        self.steps = int(state["steps"])


class Unkept(PerceptronUpdate):
    """Steps become smaller, and no state has their number."""

    def step(self, trial):
        self.steps = getattr(self, "steps", 0) + 1
        self._seen = self.steps
        return super().step(trial) / self.steps


def test_a_rule_that_keeps_what_it_learns_to_itself_is_refused_too():
    with pytest.raises(PluginError, match=r"Unkept.steps has changed by training steps.*begin the name with _ where no step depends on it"):
        trained("cusum", X, Y, n_shards=2, plugins=[Unkept()])


def test_what_cannot_be_mixed_is_refused_by_a_sentence():
    with pytest.raises(PluginError, match="n_shards above 1 mixes weights that shards have trained apart, which DualWeights does not know"):
        trained("cusum", X, Y, n_shards=2, plugins=["dual-kernel"], kernel="rbf")
    with pytest.raises(PluginError, match="which AdaGradWeights does not know"):
        trained("cusum", X, Y, n_shards=2, update="adagrad")
    with pytest.raises(UnusedOption, match="n_shards=2 has no effect with trainer='bcfw'"):
        trained("cusum", X, Y, n_shards=2, plugins=["batch"], trainer="bcfw")
    with pytest.raises(PluginError, match="Counting has changed its state 'steps' by training steps, and shards mix nothing but weights"):
        trained("cusum", X, Y, n_shards=2, plugins=[Counting()])
    with pytest.raises(OptionError, match="history=True keeps one visit after the other, and n_shards=2 makes several"):
        Engine("cusum", n_shards=2).fit(X, Y, history=True)
    with pytest.raises(OptionError, match="trainer='bounded-sum' mixes shards, and n_shards=1 makes none; set n_shards to 2 or more"):
        trained("cusum", X, Y, trainer="bounded-sum")
    with pytest.raises(OptionError, match="n_shards=0; expected a whole number, at least 1"):
        trained("cusum", X, Y, n_shards=0)
    with pytest.raises(OptionError, match="n_jobs=0; expected a number of threads from 1, or -1 for one on each core"):
        trained("cusum", X, Y, n_jobs=0)


def test_weights_as_visits_are_drawn_in_each_shard():
    weight = np.where(np.arange(60) % 2 == 0, 3.0, 1.0)
    one, other = (Engine("cusum", weighting="visits", n_shards=3, n_jobs=jobs, epochs=4, shuffle=True, random_state=2)
                  .fit(X, Y, sample_weight=weight) for jobs in (1, 3))
    assert np.array_equal(weights_of(one), weights_of(other)) and abs(one.parts_.weights.n_visited - 240) <= 12
    assert not np.array_equal(weights_of(one), weights_of(trained("cusum", X, Y, n_shards=3, epochs=4, shuffle=True, random_state=2)))


@pytest.mark.parametrize("case", range(len(PROBLEMS)))
def test_threads_predict_what_one_predicts(case):
    problem, data, y, options = PROBLEMS[case]
    engine = trained(problem, data, y, epochs=2, average=True, **options)
    alone = engine.predict(data)
    engine.n_jobs = 3
    assert [list(np.ravel(one)) for one in engine.predict(data)] == [list(np.ravel(one)) for one in alone]
    assert len(engine.predict(data[:1])) == 1


def test_kernels_are_evaluated_in_threads_and_errors_name_the_row():
    engine = trained("cusum", X, Y, plugins=["dual-kernel"], kernel="rbf", epochs=3)
    alone, bad = engine.predict(X), X.copy()
    engine.n_jobs = -1
    assert np.array_equal(engine.predict(X), alone)
    bad[59, 0] = np.inf
    engine.n_jobs = 2
    with pytest.raises(DataError, match="59"):
        engine.predict(bad)
