"""Trainers are parts like any other: chosen by name, from several packages, and never shared. Passes search only if their rule needs it."""

import numpy as np
import pytest
from plain import Engine

from structperc import hookimpl
from structperc.callbacks import Checkpoint
from structperc.components import LargestArgmax, OnlineTrainer, PerceptronUpdate, Trainer, Update
from structperc.errors import OptionError, PluginError
from structperc.streams import Slices, fit_stream


def data(seed=0, n=20):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    return X, 1 + np.argmax(X @ random.normal(size=(3, 3)) + random.normal(size=(n, 3)), axis=1)


class Counting(LargestArgmax):
    """Counts its searches in a class attribute, because engines copy parts."""

    calls = 0

    def argmax(self, scores, x):
        Counting.calls += 1
        return super().argmax(scores, x)


@pytest.fixture(autouse=True)
def forget_calls():
    Counting.calls = 0


class Backwards(Trainer):
    """One pass from the last example to the first."""

    options_used = ("update",)

    def train(self, run):
        run.begin_epoch()
        run.end_epoch(run.run(np.arange(run.n_examples)[::-1].copy()))
        return "backwards"


class BackwardsPackage:
    """A second package of trainers, beside `batch`."""

    name = "backwards-package"
    trainers = ("backwards",)

    @hookimpl
    def structperc_trainer(self, context):
        return Backwards() if context.trainer == "backwards" else None


# ---- names ----


@pytest.mark.parametrize("order", [1, -1])
def test_packages_of_trainers_live_side_by_side(order):
    X, y = data()
    plugins = [BackwardsPackage(), "batch"][::order]

    assert Engine("multiclass", plugins=plugins, trainer="backwards").fit(X, y).status_ == "backwards"
    assert Engine("multiclass", plugins=plugins, trainer="bcfw", C=0.1, epochs=500).fit(X, y).gap_ < 1
    online = Engine("multiclass", plugins=plugins).fit(X, y)
    assert type(online.parts_.trainer) is OnlineTrainer and type(online.parts_.update) is PerceptronUpdate
    assert online.coef_.tobytes() == Engine("multiclass").fit(X, y).coef_.tobytes()


def test_an_unknown_name_is_refused_with_the_nearest_one():
    with pytest.raises(PluginError, match="is unknown .* 'bcfw'\\? They know online, until-level, bounded-sum, bcfw, cccp, backwards"):
        Engine("multiclass", plugins=["batch", BackwardsPackage()], trainer="bfcw").fit(*data())


def test_options_of_a_package_need_one_of_its_trainers():
    with pytest.raises(OptionError, match="tolerance=0.5 has no effect .* is for trainer='bcfw' or trainer='cccp'"):
        Engine("multiclass", plugins=["batch"], tolerance=0.5).fit(*data())


def test_options_that_a_trainer_does_not_use_are_refused():
    with pytest.raises(OptionError, match="epochs=3 has no effect with"):
        Engine("multiclass", plugins=[BackwardsPackage()], trainer="backwards", epochs=3).fit(*data())


def test_a_model_file_names_the_trainer(tmp_path):
    X, y = data()
    engine = Engine("multiclass", plugins=["batch"], trainer="bcfw", C=0.1, epochs=500).fit(X, y)
    engine.save(tmp_path / "model")

    assert Engine.load(tmp_path / "model").trainer == "bcfw"


# ---- parts ----


def test_engines_do_not_share_a_trainer_object():
    X, y = data()
    trainer = OnlineTrainer()
    one, other = (Engine("multiclass", plugins=[trainer], epochs=epochs).fit(X, y) for epochs in (2, 4))

    assert one.parts_.trainer is not other.parts_.trainer
    assert [engine.parts_.trainer.epoch for engine in (one, other)] == [2, 4]


def test_the_epochs_made_are_part_of_the_model_file(tmp_path):
    engine = Engine("multiclass", epochs=3).fit(*data())
    engine.save(tmp_path / "model")

    assert engine.parts_.trainer.epoch == Engine.load(tmp_path / "model").parts_.trainer.epoch == 3


def test_a_trainer_must_say_why_it_ended():
    class Silent(Trainer):
        def train(self, run):
            run.begin_epoch()
            run.end_epoch(run.run())

    with pytest.raises(PluginError, match="Silent.train returned None; expected a word for status_"):
        Engine("multiclass", plugins=[Silent()]).fit(*data())


def test_a_trainer_without_train_is_refused():
    class Idle(Trainer):
        pass

    with pytest.raises(PluginError, match=r"Idle does not implement train\(\)"):
        Engine("multiclass", plugins=[Idle()]).fit(*data())


# ---- searches ----


def test_online_training_searches_once_and_with_the_loss_twice():
    X, y = data()
    for loss_weight, searches in ((0.0, 1), (0.5, 2)):
        Counting.calls = 0
        engine = Engine("multiclass", plugins=[Counting(3)], loss_weight=loss_weight, epochs=2).fit(X, y)
        assert Counting.calls == searches * len(engine.mistakes_) * len(y)


class Recording(Update):
    """Records the trials, and makes no step."""

    when = "always"

    def __init__(self, search):
        self.kind, self.trials = search, []

    def searches(self, loss_weight):
        return self.kind, loss_weight

    def step(self, trial):
        y = None if self.kind == "none" else trial.y
        self.trials.append((trial.x.index, trial.gold, trial.given_gold, y, trial.loss, trial.n_visited))


class OnePass(Trainer):
    """Makes one pass with its own rule."""

    def __init__(self, rule, recorded):
        self.rule, self.recorded = rule, recorded

    def train(self, run):
        run.begin_epoch()
        passed = (run.run if self.recorded else run.pass_without_record)(run.active, self.rule, 2.0)
        self.rule.counts = passed.visited, passed.mistakes, passed.updates, passed.loss
        run.end_epoch(passed)
        return "max_epochs"


@pytest.mark.parametrize(("search", "searches"), [("none", 0), ("plain", 1), ("augmented", 1), ("both", 2)])
@pytest.mark.parametrize("recorded", [False, True])
def test_a_pass_makes_the_searches_that_its_rule_asks_for(search, searches, recorded):
    X, y = data()
    rule = Recording(search)
    engine = Engine("multiclass", plugins=[OnePass(rule, recorded), Counting(3)]).fit(X, y)

    # Zero weights: the plain search finds the first label, the augmented one the first that is wrong.
    wrong = {"none": np.zeros(len(y), dtype=bool), "plain": y != 1, "augmented": np.ones(len(y), dtype=bool), "both": y != 1}[search]
    found = {"none": [None] * len(y), "plain": [1] * len(y)}.get(search, np.where(y == 1, 2, 1).tolist())
    losses = (y != 1) if search == "plain" else np.full(len(y), search != "none")
    assert Counting.calls == searches * len(y)
    assert rule.trials == [(i, y[i], y[i], found[i], float(losses[i]), i) for i in range(len(y))]
    assert rule.counts == (len(y), wrong.sum(), 0, float(wrong.sum()))
    assert engine.mistakes_ == ([wrong.sum()] if recorded else [])
    assert not engine.coef_.any()


def test_a_pass_without_search_has_no_answer():
    class Asking(Recording):
        def step(self, trial):
            return trial.difference() if trial.y else None

    with pytest.raises(PluginError, match="this pass made no search"):
        Engine("multiclass", plugins=[OnePass(Asking("none"), True)]).fit(*data())


def test_after_a_pass_of_its_own_the_loop_has_the_rule_of_the_model_again():
    class Both(OnlineTrainer):
        def train(self, run):
            run.pass_without_record(run.active, Recording("none"))
            return super().train(run)

    X, y = data()
    assert Engine("multiclass", plugins=[Both()], epochs=3, loss_weight=0.5).fit(X, y).mistakes_ \
        == Engine("multiclass", epochs=3, loss_weight=0.5).fit(X, y).mistakes_


@pytest.mark.parametrize(("when", "search", "words"), [
    ("wrong", "none", "has when='wrong' and the search 'none'. Expected when='wrong' or 'always', and the search 'plain'"),
    ("sometimes", "plain", "has when='sometimes'"),
    ("always", "beam", "the search 'beam'"),
    ("wrong", "augmented", "asks for the search 'augmented', but online training counts mistakes by the plain search"),
])  # fmt: skip
def test_rules_that_ask_for_the_impossible_are_refused(when, search, words):
    rule = Recording(search)
    rule.when = when
    with pytest.raises(PluginError, match=words):
        Engine("multiclass", plugins=[rule]).fit(*data())


def test_a_rule_that_acts_always_sees_right_answers_too():
    X, y = data()
    for when in ("wrong", "always"):
        class Seeing(PerceptronUpdate):
            seen = 0

            def step(self, trial):
                type(self).seen += 1
                return super().step(trial)

        Seeing.when = when
        engine = Engine("multiclass", plugins=[Seeing()], epochs=1).fit(X, y)
        assert Seeing.seen == (len(y) if when == "always" else engine.mistakes_[0])


def test_an_error_of_a_rule_is_shown_with_rule_and_example():
    class Failing(PerceptronUpdate):
        def step(self, trial):
            raise KeyError("mine")

    X, y = data()
    with pytest.raises(KeyError, match="mine") as caught:
        Engine("multiclass", plugins=[Failing()]).fit(X, y)
    assert caught.value.__notes__ == [f"in Failing.step, example {np.flatnonzero(y != 1)[0]}"]


# ---- trainers that solve one problem over all examples ----


class Solved(Trainer):
    """Sets the direction of each class to the mean of its rows, without a pass. partial_fit needs the rule "perceptron"."""

    online = False
    options_used = ("update",)
    trusted = True

    def train(self, run):
        y, X = np.asarray(run.gold.values), run.rows.X
        run.begin_epoch()
        costs = run.model.parts.loss.costs_of(y, run.rows)
        means = np.array([X[y == k].mean(axis=0) for k in range(1, costs.shape[1] + 1)])
        weights = np.zeros(run.model.parts.features.n_weights)
        weights[:means.size] = means.ravel()
        run.model.parts.weights.assign(weights, run.n_examples)
        answers = 1 + np.argmax(X @ means.T, axis=1)
        run.end_epoch(run.own_pass((answers != y).sum(), 1, costs[np.arange(len(y)), answers - 1].sum()))
        return "solved"

    def check_chunks(self, parts):
        if type(parts.update) is not PerceptronUpdate:
            raise PluginError("perceptron steps alone go on from the means.")

    def check_answers(self):
        if not self.trusted:
            raise PluginError("these answers cannot be trusted.")


def test_a_solution_is_recorded_and_online_steps_go_on_from_it():
    X, y = data()
    engine = Engine("multiclass", plugins=[Solved()], fit_intercept=False).fit(X, y)
    missed = int((engine.predict(X) != y).sum())

    assert engine.status_ == "solved" and engine.mistakes_ == [missed] and engine.cumulative_loss_ == missed
    assert np.allclose(engine.coef_[0], X[y == 1].mean(axis=0))
    before = engine.coef_
    engine.partial_fit(X, y)
    assert (engine.coef_ != before).any() and len(engine.mistakes_) == 2


def test_chunks_and_answers_can_be_refused():
    X, y = data()
    engine = Engine("multiclass", plugins=[Solved()], update="pa", fit_intercept=False).fit(X, y)

    with pytest.raises(PluginError, match="perceptron steps alone"):
        engine.partial_fit(X, y)
    engine.parts_.trainer.trusted = False
    for answer in (engine.predict, engine.atom_scores, engine.margins, lambda X: engine.explain(X[0])):
        with pytest.raises(PluginError, match="cannot be trusted"):
            answer(X)


def test_a_trainer_of_one_problem_takes_no_chunks_by_itself():
    with pytest.raises(PluginError, match="FrankWolfeTrainer solves one problem over all examples; call fit with all of them"):
        Engine("multiclass", plugins=["batch"], trainer="bcfw").partial_fit(*data())


# ---- training until the loss levels off ----


class Losses:
    """Records the mean loss of each epoch."""

    def __init__(self):
        self.means = []

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        self.means.append(record.loss / record.examples)


def first_level(means, patience=3):
    """The first epoch after `patience` epochs without a new lowest loss."""
    for epoch in range(1, len(means) + 1):
        if epoch - 1 - int(np.argmin(means[:epoch])) >= patience:
            return epoch
    return None


@pytest.mark.parametrize("options", [{}, {"average": True}, {"n_shards": 2}, {"weighting": "visits"}, {"loss": "squared"}])
def test_training_until_level_ends_behind_the_lowest_loss_and_has_the_bits_of_as_many_epochs(options):
    X, y = data(seed=1, n=60)
    options = {"shuffle": True, "random_state": 0, **options}
    weights = {"sample_weight": np.arange(60) % 3} if "weighting" in options else {}
    losses = Losses()
    Engine("cusum", epochs=60, plugins=[losses], **options).fit(X, y, **weights)
    level = Engine("cusum", epochs=60, trainer="until-level", **options).fit(X, y, **weights)

    n = first_level(losses.means)
    assert level.status_ == "levelled_off" and len(level.mistakes_) == n < 60
    assert np.array_equal(level.coef_, Engine("cusum", epochs=n, **options).fit(X, y, **weights).coef_)


def test_few_epochs_and_separable_data_end_as_ever():
    X, y = data(seed=1, n=60)
    assert Engine("cusum", epochs=2, trainer="until-level").fit(X, y).status_ == "max_epochs"
    assert Engine("cusum", epochs=50, trainer="until-level").fit([[0.0], [1.0], [2.0]], [1, 2, 3]).status_ == "converged"


@pytest.mark.parametrize("every", [1.0, 0.4])
@pytest.mark.parametrize("n_shards", [1, 2])
def test_a_resumed_training_levels_off_at_the_same_epoch(tmp_path, every, n_shards):
    X, y = data(seed=1, n=60)
    options = {"trainer": "until-level", "shuffle": True, "random_state": 0, "n_shards": n_shards}
    whole = Engine("cusum", epochs=60, **options).fit(X, y)
    checkpoint = Checkpoint(tmp_path / "checkpoint", every)
    for epochs in (len(whole.mistakes_) - 2, 60, 60):
        engine = Engine("cusum", epochs=epochs, plugins=[checkpoint], **options).fit(X, y, resume=True)

    assert engine.mistakes_ == whole.mistakes_ and engine.status_ == "levelled_off" and np.array_equal(engine.coef_, whole.coef_)


@pytest.mark.parametrize("n_shards", [1, 2])
def test_a_stream_levels_off_at_the_epoch_of_its_own_losses(n_shards):
    X, y = data(seed=1, n=60)
    options = {"classes": [1, 2, 3], "epochs": 60, "trainer": "until-level", "average": True, "n_shards": n_shards}
    engine = fit_stream(Engine("cusum", **options), Slices(X, y, rows=25))
    whole, n = Engine("cusum", **options).fit(X, y), len(engine.mistakes_)
    assert engine.status_ == "levelled_off" and n < 60
    if n_shards == 1:
        assert engine.mistakes_ == whole.mistakes_ and np.array_equal(engine.coef_, whole.coef_)
    online = fit_stream(Engine("cusum", **options | {"trainer": "online", "epochs": n}), Slices(X, y, rows=25))
    assert online.status_ == "max_epochs" and np.array_equal(engine.coef_, online.coef_)


def test_a_stream_after_another_training_levels_off_by_its_own_epochs():
    X, y = data(seed=1, n=60)
    engine = Engine("cusum", classes=[1, 2, 3], epochs=60, trainer="until-level").fit(X, y)
    before = len(engine.mistakes_)
    fit_stream(engine, Slices(X, y, rows=25))
    assert engine.status_ == "levelled_off" and len(engine.mistakes_) - before > 3


@pytest.mark.parametrize("n_parts", [1, 5, 9, 13])
def test_a_resumed_stream_levels_off_at_the_same_epoch(tmp_path, n_parts):
    X, y = data(seed=1, n=60)
    options = {"classes": [1, 2, 3], "epochs": 60, "trainer": "until-level", "shuffle": True, "random_state": 2}
    whole = fit_stream(Engine("cusum", **options), Slices(X, y, rows=25))
    checkpoint, passes = Checkpoint(tmp_path / "checkpoint", 1), []

    class Killed(Exception):
        pass

    def passed(epoch, n_examples):
        passes.append(epoch)
        if len(passes) == n_parts:
            raise Killed

    with pytest.raises(Killed):
        fit_stream(Engine("cusum", plugins=[checkpoint], **options), Slices(X, y, rows=25), passed=passed)
    engine = fit_stream(Engine("cusum", plugins=[checkpoint], **options), Slices(X, y, rows=25), resume=True)
    assert engine.mistakes_ == whole.mistakes_ and engine.status_ == "levelled_off" and np.array_equal(engine.coef_, whole.coef_)


def test_a_chunk_is_one_pass_of_the_online_trainer():
    X, y = data(seed=1, n=60)
    stream, online = (Engine("cusum", trainer=name).partial_fit(X, y).partial_fit(X, y) for name in ("until-level", "online"))
    assert np.array_equal(stream.coef_, online.coef_) and stream.mistakes_ == online.mistakes_
