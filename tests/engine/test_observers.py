"""Observers are called after every epoch, and may stop a training. Two engines never train one object."""

import numpy as np
import pytest
from plain import Engine
from reference.samples import data

from structperc import hookimpl
from structperc.components import (
    AbsoluteLoss,
    BlockFeatures,
    EpochRecord,
    OnlineTrainer,
    PrefixArgmax,
    PrimalWeights,
    RankOutputs,
)
from structperc.errors import NotFittedError, PluginError

X, Y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]]), [1, 2, 3]


# ---- observers ----


class Observer:
    def __init__(self, name, stop_after=None):
        self.name, self.stop_after, self.records = name, stop_after, []

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        self.records.append(record)
        if record.epoch == self.stop_after:
            engine.stop()


def test_every_observer_is_called_after_every_epoch():
    observers = [Observer("first"), Observer("second")]
    engine = Engine("cusum", epochs=3, plugins=observers).fit(*data())

    for observer in observers:
        assert [type(record) for record in observer.records] == [EpochRecord] * 3
        assert [(r.epoch, r.epochs, r.examples) for r in observer.records] == [(1, 3, 60), (2, 3, 60), (3, 3, 60)]
        assert [r.mistakes for r in observer.records] == engine.mistakes_
        assert sum(r.loss for r in observer.records) == engine.cumulative_loss_
    assert engine.status_ == "max_epochs"


def test_an_observer_can_stop_training():
    stopping, watching = Observer("stopping", stop_after=2), Observer("watching")
    engine = Engine("cusum", epochs=9, plugins=[stopping, watching]).fit(*data())

    assert engine.status_ == "early_stopped"
    assert len(engine.mistakes_) == len(stopping.records) == len(watching.records) == 2


def test_stop_outside_training_is_refused():
    with pytest.raises(NotFittedError, match=r"stop\(\) was called while nothing is being trained; call it from structperc_epoch_end"):
        Engine("cusum").fit(X, Y).stop()


def test_an_observer_that_fails_leaves_the_engine_as_it_was():
    class Failing(Observer):
        @hookimpl
        def structperc_epoch_end(self, engine, record):
            raise RuntimeError("the disk is full")

    engine = Engine("cusum", plugins=[Failing("failing")])
    with pytest.raises(RuntimeError, match="the disk is full"):
        engine.fit(X, Y)
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        engine.predict(X)


def test_engines_do_not_share_plugins():
    observer = Observer("mine")
    Engine("cusum", plugins=[observer], epochs=2)
    Engine("cusum", epochs=2).fit(*data())

    assert observer.records == []


def test_components_of_every_kind_are_taken_as_plugins():
    class Watching(OnlineTrainer):
        def train(self, run):
            super().train(run)
            return "watched"

    parts = [PrimalWeights(average=True), RankOutputs(), BlockFeatures(2, 2), PrefixArgmax(3), AbsoluteLoss(), Watching()]
    engine = Engine("cusum", plugins=parts).fit(X, Y)

    assert engine.status_ == "watched"
    assert isinstance(engine.predict(X), np.ndarray)


class Keeping:
    """Returns the same store from each call."""

    def __init__(self, store):
        self.store = store

    @hookimpl
    def structperc_weights(self, context):
        return self.store


class Kept(PrimalWeights):
    pass


@pytest.mark.parametrize("store", [PrimalWeights, Kept])
def test_an_object_that_two_engines_would_train_is_refused(store):
    plugin = Keeping(store())
    first = Engine("cusum", plugins=[plugin]).fit(X, Y)
    before = first.coef_
    with pytest.raises(PluginError, match=rf"structperc_weights of plugin 'Keeping' returned the same {store.__name__} object "
                                          rf"to two engines, so training one "
                                          rf"would change the other. Return a new object from each call of the hook"):
        Engine("cusum", plugins=[plugin]).fit(X, Y[::-1])
    assert np.array_equal(first.coef_, before)
    kept = first.parts_.weights
    assert first.fit(X, Y).parts_.weights is not kept and np.array_equal(first.coef_, before)


def test_an_object_that_one_engine_trains_in_shards_and_folds_is_made_again_for_each():
    examples = np.repeat(X, 10, axis=0), list(np.repeat(Y, 10))
    for options in ({"n_shards": 2}, {"calibrate": True, "random_state": 0}):
        kept = Engine("cusum", plugins=[Keeping(PrimalWeights())], **options).fit(*examples)
        made = Engine("cusum", plugins=[type("Making", (), {"structperc_weights": hookimpl(lambda self, context: PrimalWeights())})()],
                      **options).fit(*examples)
        assert np.array_equal(kept.coef_, made.coef_) and kept.temperature_ == made.temperature_
