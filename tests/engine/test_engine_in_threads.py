"""Ctrl-C keeps what was learned, and one engine serves many threads."""

import signal
import sys
import threading

import numpy as np
import pytest
from plain import Engine
from reference.layouts import LAYOUTS, stored
from reference.samples import data
from scipy.sparse import csr_matrix
from scipy.sparse import random as random_matrix

from structperc import hookimpl
from structperc.components import (
    PrefixArgmax,
)
from structperc.errors import BusyError, DataError, NotFittedError

from .same_models import assert_same_model, weights

RANKS = [1, 2, 3, 4]


# ---- Ctrl-C ----


class Interrupting(PrefixArgmax):
    """Raises SIGINT in the search of a given example, in a given pass."""

    at, passes = None, 0

    def argmax(self, scores, x):
        if x.index == Interrupting.at:
            Interrupting.passes -= 1
            if not Interrupting.passes:
                signal.raise_signal(signal.SIGINT)
        return super().argmax(scores, x)

    @classmethod
    def arm(cls, at, passes=1):
        cls.at, cls.passes = at, passes


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_ctrl_c_in_a_fit_keeps_what_was_learned(layout, average):
    X, y = data()
    Z = stored(X, layout)
    Interrupting.arm(None)
    engine = Engine("cusum", epochs=5, average=average, classes=RANKS, plugins=[Interrupting(4)]).fit(Z, 5 - y)
    Interrupting.arm(23, passes=2)
    with pytest.raises(KeyboardInterrupt):
        engine.fit(Z, y, record_predictions=True)
    part = Engine("cusum", average=average, classes=RANKS).fit(Z, y, record_predictions=True)
    online = part.online_predictions_.tolist()
    part.partial_fit(Z[:23], y[:23])
    assert engine.status_ == "interrupted"
    assert_same_model(engine, part)
    assert engine.online_predictions_[:60].tolist() == online and len(engine.online_predictions_) == 83
    assert engine.predict(Z).tolist() == part.predict(Z).tolist()
    for again in (engine, part):
        again.partial_fit(Z, y)
    assert np.array_equal(weights(engine), weights(part)) and sum(engine.mistakes_) == sum(part.mistakes_)
    assert engine.fit(Z, y).status_ == "max_epochs"


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_ctrl_c_in_a_stream_keeps_what_was_learned(layout, average):
    X, y = data()
    Z = stored(X, layout)
    for trained in (False, True):
        engine, part = (Engine("cusum", average=average, classes=RANKS, plugins=[Interrupting(4)]) for _ in range(2))
        Interrupting.arm(None)
        if trained:
            engine.partial_fit(Z, y)
            part.partial_fit(Z, y)
        Interrupting.arm(23)
        with pytest.raises(KeyboardInterrupt):
            engine.partial_fit(Z, y)
        part.partial_fit(Z[:23], y[:23])
        assert engine.status_ == "interrupted"
        assert_same_model(engine, part)
        assert_same_model(engine.partial_fit(Z, y), part.partial_fit(Z, y))
        assert engine.status_ == "max_epochs"


def test_ctrl_c_in_an_observer_keeps_the_epochs_so_far():
    class Raising:
        @hookimpl
        def structperc_epoch_end(self, engine, record):
            if record.epoch == 2:
                signal.raise_signal(signal.SIGINT)

    X, y = data()
    engine = Engine("cusum", epochs=5, plugins=[Raising()])
    with pytest.raises(KeyboardInterrupt):
        engine.fit(X, y)
    assert engine.status_ == "interrupted"
    assert_same_model(engine, Engine("cusum", epochs=2).fit(X, y))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_ctrl_c_reaches_the_compiled_loop_between_two_examples(layout):
    n = 20_000
    X, y = data(n, 3)
    begun = threading.Event()

    class Begun:
        @hookimpl
        def structperc_epoch_end(self, engine, record):
            begun.set()

    def interrupt():
        begun.wait()
        signal.raise_signal(signal.SIGINT)

    engine = Engine("cusum", epochs=10**9, average=True, classes=RANKS, plugins=[Begun()])
    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        engine.fit(stored(X, layout), y)
    thread.join()
    epochs, rest = divmod(int(engine.parts_.weights.n_visited), n)
    assert engine.status_ == "interrupted" and epochs >= 1
    part = Engine("cusum", epochs=epochs, average=True, classes=RANKS).fit(stored(X, layout), y)
    if rest:
        part.partial_fit(stored(X[:rest], layout), y[:rest])
    assert np.array_equal(weights(engine), weights(part))
    assert engine.mistakes_[:epochs] == part.mistakes_[:epochs]


# ---- threads ----


def in_threads(*works):
    """Runs functions in parallel threads, and raises the first of their errors."""
    errors = []

    def guarded(work):
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    if errors:
        raise errors[0]


class PythonArgmax(PrefixArgmax):
    def argmax(self, scores, x):
        return super().argmax(scores, x)


def test_an_engine_can_be_trained_in_any_thread():
    X, y = data()
    engines = [Engine("cusum", epochs=20, average=True) for _ in range(4)]
    in_threads(*(lambda engine=engine: engine.fit(X, y) for engine in engines))
    for engine in engines:
        assert_same_model(engine, Engine("cusum", epochs=20, average=True).fit(X, y))


@pytest.mark.parametrize("plugins", [[], [PythonArgmax(4)]], ids=["compiled", "python"])
@pytest.mark.parametrize("average", [False, True])
def test_threads_may_predict_at_once(average, plugins):
    X, y = data(200)
    engine = Engine("cusum", average=average, plugins=plugins).fit(X, y)
    forms = [(X, None), (csr_matrix(X), None), (X.astype(np.float32), np.arange(201)), (X[::-1].copy(), np.arange(201))]
    expected = [engine.predict(Z, offsets=offsets).tolist() for Z, offsets in forms]

    def work(k):
        for _ in range(20):
            Z, offsets = forms[k]
            assert engine.predict(Z, offsets=offsets).tolist() == expected[k]

    in_threads(*(lambda k=k: work(k) for k in range(len(forms))))


@pytest.mark.parametrize("plugins", [[], [PythonArgmax(4)]], ids=["compiled", "python"])
def test_predicting_in_another_thread_does_not_disturb_training(plugins):
    X, y = data(4000 if not plugins else 400, 8)
    options = {"average": True, "epochs": 50 if not plugins else 5, "classes": RANKS, "plugins": plugins}
    expected = Engine("cusum", **options).fit(X, y)
    engine, done = Engine("cusum", **options).fit(X[:10], y[:10]), threading.Event()

    def train():
        try:
            engine.fit(X, y)
        finally:
            done.set()

    def predict():
        forms = [(X[:50].astype(np.float32), np.arange(51)), (csr_matrix(X[:50]), np.arange(51)), (X[:7], None)]
        while not done.is_set():
            for Z, offsets in forms:
                assert len(engine.predict(Z, offsets=offsets)) == Z.shape[0]

    in_threads(train, predict)
    assert_same_model(engine, expected)


def test_predicting_while_weights_find_their_place():
    """Averages of a chain on sparse rows: features get memory one by one during training."""
    rng = np.random.default_rng(5)
    X = random_matrix(6000, 20_000, density=0.001, format="csr", random_state=rng)
    y, lengths = rng.integers(1, 7, 6000), np.full(300, 20)
    options = {"average": True, "classes": [1, 2, 3, 4, 5, 6]}
    expected = Engine("sequence", **options).fit(X[:20], y[:20], lengths=lengths[:1]).partial_fit(X, y, lengths=lengths)
    engine, done = Engine("sequence", **options).fit(X[:20], y[:20], lengths=lengths[:1]), threading.Event()

    def train():
        try:
            engine.partial_fit(X, y, lengths=lengths)
        finally:
            done.set()

    def predict():
        while not done.is_set():
            assert engine.predict(X[:40], lengths=[20, 20]).shape == (2,)
            assert engine.coef_.shape == (6, 20_000)

    in_threads(train, predict, predict)
    np.testing.assert_array_equal(engine.coef_, expected.coef_)         # equal to training without readers
    assert engine.predict(X, lengths=lengths).tolist() == expected.predict(X, lengths=lengths).tolist()


def test_threads_that_fail_at_once_get_their_own_error():
    X = [np.ones((3, 2))] * 8
    engine = Engine("sequence", classes=["a", "b"], forbidden_transitions=[("a", "b")]).fit(X[:1], [["b", "a", "a"]])

    def work(i):
        allowed = [["a", "b", None] if i == k else None for k in range(8)]
        for _ in range(300):
            with pytest.raises(DataError, match=f"no labels of sentence {i} "):
                engine.predict(X, allowed=allowed)

    in_threads(*(lambda i=i: work(i) for i in range(8)))


class Waiting:
    """Blocks training at the end of the first epoch."""

    def __init__(self):
        self.reached, self.go_on = threading.Event(), threading.Event()

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        self.reached.set()
        self.go_on.wait()


def test_an_engine_is_trained_by_one_thread_at_a_time():
    X, y = data()
    waiting = Waiting()
    engine, expected = Engine("cusum", epochs=2, plugins=[waiting]), Engine("cusum", epochs=2).fit(X, y)

    def second():
        waiting.reached.wait()
        try:
            for train in (engine.fit, engine.partial_fit):
                with pytest.raises(BusyError, match="is being trained"):
                    train(X, 5 - y)
            with pytest.raises(NotFittedError):         # another thread is still in the first fit
                engine.predict(X)
        finally:
            waiting.go_on.set()

    in_threads(lambda: engine.fit(X, y), second)
    assert_same_model(engine, expected)
    assert engine.partial_fit(X, y).mistakes_ != expected.mistakes_


def test_an_observer_cannot_train_the_engine_that_it_observes():
    class Meddling:
        @hookimpl
        def structperc_epoch_end(self, engine, record):
            engine.partial_fit(*data())

    engine = Engine("cusum", plugins=[Meddling()])
    with pytest.raises(BusyError, match="partial_fit was called while this engine is being trained"):
        engine.fit(*data())
    assert not hasattr(engine, "coef_")
