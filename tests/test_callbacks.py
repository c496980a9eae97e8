"""Observers: what they record, draw and stop."""

import contextlib
import io
import sys

import numpy as np
import pytest
from plain import Engine

from structperc import distributed, hookimpl
from structperc.callbacks import EarlyStopping, HeldOutLoss, History, Progress, ProgressLines
from structperc.errors import DataError, MissingExtra, NotFittedError, OptionError
from structperc.streams import Slices


@pytest.fixture
def noise():
    random = np.random.default_rng(0)
    return random.normal(size=(60, 3)), random.integers(1, 5, 60)


def test_history_holds_every_epoch_of_the_last_fit(noise):
    history = History()
    engine = Engine("cusum", epochs=4, plugins=[history]).fit(*noise)
    engine.fit(*noise)
    arrays = history.arrays
    assert arrays["epoch"].tolist() == [1, 2, 3, 4]
    assert arrays["mistakes"].tolist() == engine.mistakes_
    assert arrays["loss"].sum() == engine.cumulative_loss_
    assert arrays["examples"].tolist() == [60] * 4


def test_history_is_empty_before_training():
    assert {name: len(values) for name, values in History().arrays.items()} == dict.fromkeys(
        ["epoch", "epochs", "examples", "mistakes", "updates", "loss", "seconds"], 0)


class Watcher:
    """Notes what the bar shows after each epoch; observers named later are called earlier."""

    def __init__(self, bar):
        self.bar, self.shown = bar, []

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        self.shown.append(str(self.bar.bar))


def test_progress_draws_a_bar_and_removes_it(noise):
    bar = Progress(delay=0.0, file=io.StringIO())
    watcher = Watcher(bar)
    engine = Engine("cusum", epochs=3, plugins=[watcher, bar]).fit(*noise)
    for epoch in (1, 2):
        assert f"{epoch}/3" in watcher.shown[epoch - 1] and f"mistakes={engine.mistakes_[epoch - 1]} of 60" in watcher.shown[epoch - 1]
    drawn = bar.file.getvalue().split("\r")
    assert "0/3" in drawn[1] and drawn[-2].strip() == "" and bar.bar is None


class Raises:
    """Ends training by an error after the second epoch, or at its end."""

    def __init__(self, error, at_the_end=False):
        self.error, self.at_the_end = error, at_the_end

    @hookimpl
    def structperc_epoch_end(self, record):
        if record.epoch == 2 and not self.at_the_end:
            raise self.error

    @hookimpl
    def structperc_training_end(self):
        if self.at_the_end:
            raise self.error


class Ends:
    """Notes how trainings end, and whether the model is there then."""

    def __init__(self):
        self.ends = []

    @hookimpl
    def structperc_training_end(self, engine, status):
        self.ends.append((status, getattr(engine, "status_", None)))


@pytest.mark.parametrize(("ends", "more", "options"), [
    ("converged", [], {"epochs": 100, "y": [1, 1, 1, 2, 2, 2]}),
    ("max_epochs", [], {}), ("levelled_off", [], {"preset": "recommended", "epochs": 50}),
    ("max_epochs", ["batch"], {"update": "pa1", "C": 1.0}),
    ("early_stopped", [EarlyStopping([[0.0]], [3], patience=1)], {}), ("interrupted", [Raises(KeyboardInterrupt())], {}),
    (None, [Raises(ValueError("no"))], {}), (None, [], {"X": [[np.nan]] * 6}), (None, [], {"sample_weight": [-1] * 6}),
    (None, [Raises(ValueError("no"), at_the_end=True)], {}),
])  # fmt: skip
def test_observers_are_told_of_every_end_of_training(ends, more, options):
    X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [1, 3, 2, 1, 3, 2]
    options = {"problem": "cusum", "epochs": 3, "random_state": 0, "X": X, "y": y} | options
    data = {name: options.pop(name) for name in ("X", "y", "sample_weight") if name in options}
    bar, told, problem = Progress(delay=0.0, file=io.StringIO()), Ends(), options.pop("problem")
    engine = Engine(problem, plugins=[*more, told, bar], **options)
    with contextlib.nullcontext() if ends not in (None, "interrupted") else pytest.raises((ValueError, KeyboardInterrupt)):
        engine.fit(**data)

    assert bar.bar is None and told.ends[-1][0] == ends and (ends is None or told.ends == [(ends, ends)])
    assert (engine.model is None) == (ends is None), "a failed call leaves the engine as it was"


def test_a_training_elsewhere_has_one_end(noise):
    told = Ends()
    distributed.fit(Engine("cusum", epochs=2, n_shards=2, classes=[1, 2, 3, 4], plugins=[told]), Slices(*noise, rows=30))
    assert told.ends == [("max_epochs", "max_epochs")]


def test_an_observer_that_fails_at_the_end_hides_no_earlier_error(noise):
    class RaisesThen(Raises):
        pass

    with pytest.raises(ValueError, match="first") as caught:
        Engine("cusum", epochs=2, plugins=[RaisesThen(KeyError("then"), at_the_end=True), Raises(ValueError("first"))]).fit(*noise)
    assert caught.value.__notes__ == ["in Raises.structperc_epoch_end", "Then structperc_training_end failed: KeyError: 'then'"]


def test_progress_without_tqdm_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(MissingExtra, match=r"progress bar needs tqdm; install structperc\[cli\]"):
        Progress()


@pytest.mark.parametrize("average", [False, True])
def test_early_stopping_waits_for_patience_epochs_without_improvement(noise, average):
    X, y = noise
    held_out = X[40:], y[40:]
    stopping = EarlyStopping(*held_out, patience=2)
    engine = Engine("cusum", epochs=500, average=average, plugins=[stopping]).fit(X[:40], y[:40])
    assert engine.status_ == "early_stopped"
    assert len(engine.mistakes_) == len(stopping.losses) == stopping.best_epoch + 2
    assert min(stopping.losses) == stopping.losses[stopping.best_epoch - 1]
    assert min(stopping.losses) == np.abs(engine.predict(held_out[0]) - held_out[1]).mean() < stopping.losses[-1]


@pytest.mark.parametrize("options", [
    {}, {"average": True}, {"scale": True}, {"kernel": "rbf", "plugins": ["dual-kernel"]}, {"update": "adagrad"}, {"decay": 0.01},
    {"n_shards": 2}, {"kernel": "rbf", "plugins": ["dual-kernel"], "average": True},
])
@pytest.mark.parametrize("patience", [2, 100])
def test_early_stopping_ends_with_the_weights_of_the_best_epoch(noise, options, patience):
    X, y = noise
    stopping, options = EarlyStopping(X[30:], y[30:], patience=patience), {"shuffle": True, "random_state": 0, **options}
    plugins = options.pop("plugins", [])
    watched = Engine("cusum", epochs=12, plugins=[*plugins, stopping], **options).fit(X[:30], y[:30])
    best = Engine("cusum", epochs=stopping.best_epoch, plugins=plugins, **options).fit(X[:30], y[:30])

    assert np.array_equal(watched.label_scores(X), best.label_scores(X)) and stopping.best_epoch < len(watched.mistakes_)
    assert watched.status_ == ("early_stopped" if patience == 2 else "max_epochs")
    assert watched.mistakes_[:stopping.best_epoch] == best.mistakes_
    assert watched.parts_.weights.n_visited == best.parts_.weights.n_visited


def test_held_out_losses_change_nothing_that_is_learned(noise):
    X, y = noise
    watch = HeldOutLoss(X, y)
    watched = Engine("prank", epochs=5, plugins=[watch]).fit(X, y)
    assert np.array_equal(watched.coef_, Engine("prank", epochs=5).fit(X, y).coef_)
    assert watched.status_ == "max_epochs" and len(watch.losses) == 5


def test_a_temperature_is_that_of_the_best_epoch(noise):
    X, y = noise
    stopping = EarlyStopping(X[30:], y[30:], patience=2)
    watched = Engine("cusum", epochs=12, calibrate=True, random_state=0, plugins=[stopping]).fit(X[:30], y[:30])
    best = Engine("cusum", epochs=stopping.best_epoch, calibrate=True, random_state=0).fit(X[:30], y[:30])
    assert watched.temperature_ == best.temperature_


def test_weights_are_kept_in_training_alone():
    with pytest.raises(NotFittedError, match=r"keep_weights\(\) was called while nothing is being trained"):
        Engine("cusum").keep_weights()


@pytest.mark.parametrize("patience", [0, 1.5, True])
def test_early_stopping_refuses_odd_patience(noise, patience):
    with pytest.raises(OptionError, match="patience=.* at least 1"):
        EarlyStopping(*noise, patience=patience)


def test_held_out_data_that_do_not_fit_are_told_from_those_of_fit():
    X, y = [[["a"], ["b"]], [["b"]]], [["A", "B"], ["B"]]
    engine = Engine("sequence", epochs=3, plugins=[EarlyStopping([[["a"]]], [["C"]])])
    with pytest.raises(DataError, match=r"the held-out data of EarlyStopping do not fit: y\[0\]\[0\] is 'C', which is not one of"):
        engine.fit(X, y)
    assert not hasattr(engine, "mistakes_")


def test_early_stopping_refuses_costs_of_single_examples(noise):
    X, y = noise
    engine = Engine("cusum", loss="costs", plugins=[EarlyStopping(X, y)])
    with pytest.raises(OptionError, match="cannot measure loss='costs'"):
        engine.fit(X, y, costs=np.abs(np.arange(1, 5) - y[:, None]))


def test_a_model_trained_under_observation_loads_without_the_observer(noise, tmp_path):
    X, y = noise
    engine = Engine("cusum", plugins=[History()]).fit(X, y)
    engine.save(tmp_path / "observed.model")
    assert np.array_equal(Engine.load(tmp_path / "observed.model").predict(X), engine.predict(X))


def test_lines_of_a_stream_show_the_running_loss():
    file = io.StringIO()
    lines = ProgressLines(file=file, epochs=2)
    for epoch in (1, 2):
        for _ in range(3):
            lines(epoch, 10, 4, 6.0)
    lines.close()
    assert [line.partition(", ")[0] + ", " + ", ".join(line.split(", ")[1:3]) for line in file.getvalue().splitlines()] == [
        "epoch 1 of 2: 10 examples visited, 40.0% mistaken, mean loss 0.6",
        "epoch 1 of 2: 20 examples visited, 40.0% mistaken, mean loss 0.6",
        "epoch 1 of 2: 30 examples visited, 40.0% mistaken, mean loss 0.6",
        "epoch 2 of 2: 10 of 30 examples visited, 40.0% mistaken, mean loss 0.6",
        "epoch 2 of 2: 20 of 30 examples visited, 40.0% mistaken, mean loss 0.6",
        "epoch 2 of 2: 30 of 30 examples visited, 40.0% mistaken, mean loss 0.6"]


def test_lines_of_a_fit_show_mistakes_and_loss(noise):
    file = io.StringIO()
    engine = Engine("cusum", epochs=1, plugins=[ProgressLines(file=file)]).fit(*noise)
    assert file.getvalue() == (f"epoch 1 of 1: {engine.mistakes_[0]} of 60 examples mistaken, mean loss "
                               f"{engine.cumulative_loss_ / 60:.4g}\n")
