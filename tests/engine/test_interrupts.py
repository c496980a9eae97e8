"""Ctrl-C at every place of Python code: the model is unchanged or has made whole steps, and the engine can train on.

A place is a line, call or return in Python code of the package or of a test's own part. `interruptions` repeats a call. It raises
KeyboardInterrupt at the first place, then at the second, until a call completes.
"""

import copy
import itertools
import signal
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from plain import Engine
from scipy.sparse import csr_matrix
from ticking import alarms, one_signal

import structperc
from structperc import hookimpl
from structperc.components import Loss, PrefixArgmax, PrimalWeights
from structperc.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")     # from discarded generators

FOLDERS = (str(Path(structperc.__file__).parent), str(Path(structperc.__file__).parents[1] / "plugins"), __file__)
RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(12, 3)), [1, 2, 3] * 4
WORDS = [[["a", f"w{i % 5}"], ["b", f"w{i % 3}"]] for i in range(6)]
TAGS = [["x", "y"], ["y", "x"], ["y", "y"]] * 2


class PythonLoss(Loss):
    def value(self, gold, y, x=None):
        return float(gold != y)


class PythonArgmax(PrefixArgmax):
    def argmax(self, scores, x):
        return super().argmax(scores, x)


class Watcher:
    """An observer whose hook has several lines."""

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        self.seen = record.epoch
        self.mistakes = engine.mistakes_
        self.name = engine.feature_name(0)


def linear(A, B):
    return np.asarray(A @ B.T)


def made(problem, X, y, **options):
    """A function that creates an engine with more plugins, and its training data."""
    def make(*observers):
        return Engine(problem, **{**options, "plugins": [*options.get("plugins", ()), *observers]}), X, y
    return make


THREE = {"classes": [1, 2, 3]}
KINDS = {
    "dense": made("cusum", X, Y, **THREE, average=True),
    "lists": made("prank", X.tolist(), Y, **THREE),
    "sparse": made("multiclass", csr_matrix(X), Y, **THREE, update="pa1", decay=0.01),
    "sequence": made("sequence", WORDS, TAGS, classes=["x", "y"], average=True),
    "kernel": made("cusum", X, Y, **THREE, plugins=["dual-kernel"], kernel="rbf", gamma=0.5, budget=4),
    "function kernel": made("cusum", X, Y, **THREE, plugins=["dual-kernel"], kernel=linear, average=True),
    "python loss": made("cusum", X, Y, **THREE, plugins=[PythonLoss()]),
    "python argmax": made("cusum", X, Y, **THREE, plugins=[PythonArgmax(3)]),
}
ROWS = ("row_numbers", "numbers")       # counters of rows, which continue in the next chunk
IN_PYTHON = ("function kernel", "python loss", "python argmax")        # a pass can be interrupted at each of its examples


def interruptions(make, call, each=1, first=1):
    """Yields the result of `make` after each interrupt of `call`: at place `first`, then `each` places later, and so on."""
    for place in itertools.count(first, each):
        subject, left = make(), place

        def trace(frame, event, _):
            nonlocal left
            if not frame.f_code.co_filename.startswith(FOLDERS) or frame.f_code.co_name == "<lambda>":
                return None
            left -= 1
            if left == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
            return trace

        sys.settrace(trace)
        try:
            call(subject)
        except KeyboardInterrupt:
            yield subject
        else:
            if left > 0:
                return              # the call completed; otherwise a discarded generator swallowed the interrupt
        finally:
            sys.settrace(None)


def sampled(kind):
    """Every sixteenth place, with another first place for each kind. Together, the kinds cover every other place that they share."""
    return {"each": 16, "first": 1 + 2 * [*KINDS].index(kind)}


def content(engine, begun=0):
    """The bytes of everything learned, without the status. `begun` adds epochs without a visit."""
    if engine.model is None:
        return None
    parts = {key: np.asarray(value).tobytes() for key, value in engine.parts_.weights.state().items() if key not in ROWS}
    return engine.mistakes_ + [0] * begun, engine.cumulative_loss_, engine.parts_.weights.n_visited, parts


def prefixes(engine, X, y, lengths=range(20)):
    """The contents of an engine after the first examples of a chunk."""
    found = []
    for n in lengths:
        if n <= len(y):
            part = copy.deepcopy(engine)
            found.append(content(part.partial_fit(X[:n], y[:n]) if n else part))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_chunk_cut_by_ctrl_c_ends_between_two_examples_or_never_began(kind):
    engine, X, y = KINDS[kind]()
    engine.partial_fit(X, y)
    before, after = content(engine), content(copy.deepcopy(engine).partial_fit(X, y))
    allowed, n = prefixes(engine, X, y), 0
    for cut in interruptions(lambda: copy.deepcopy(engine), lambda engine: engine.partial_fit(X, y)):
        found, n = content(cut), n + 1
        assert found in allowed
        assert cut.status_ == ("max_epochs" if found in (before, after) else "interrupted")
        cut.partial_fit(X, y)
    assert n == 0 if kind == "dense" else n > 5     # no line of Python runs there


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_chunk_cut_by_ctrl_c_makes_a_model_of_whole_steps_or_none(kind):
    engine, X, y = KINDS[kind]()
    allowed = [None, *prefixes(engine, X, y, range(1, 20))]
    for cut in interruptions(lambda: copy.deepcopy(engine), lambda engine: engine.partial_fit(X, y), **sampled(kind)):
        assert content(cut) in allowed
        cut.partial_fit(X, y)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_cut_by_ctrl_c_keeps_whole_steps_or_the_model_of_before(kind):
    def make(epochs=2):
        engine, X, y = KINDS[kind](Watcher())
        engine.epochs = epochs
        return engine.fit(X[:5], y[:5])

    _, X, y = KINDS[kind]()
    before, after, one = content(make()), content(make().fit(X, y)), make(1).fit(X, y)
    allowed = [before, after, content(one), content(one, begun=1)]
    for n in range(1, len(y) if kind in IN_PYTHON else 0):
        allowed += [content(KINDS[kind]()[0].partial_fit(X[:n], y[:n])), content(copy.deepcopy(one).partial_fit(X[:n], y[:n]))]
    for cut in interruptions(make, lambda engine: engine.fit(X, y), **sampled(kind)):
        found = content(cut)
        assert found in allowed
        assert found in (before, after) or cut.status_ == "interrupted"
        cut.partial_fit(X, y)


@pytest.mark.parametrize("kind", [np.random.RandomState, np.random.default_rng])
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_ctrl_c_before_the_first_example_does_not_move_a_generator(call, kind):
    def state(generator):
        return str(generator.get_state() if hasattr(generator, "get_state") else generator.bit_generator.state)

    def make():
        return Engine("cusum", shuffle=True, random_state=kind(3))

    for cut in interruptions(make, lambda engine: getattr(engine, call)(X, Y), each=14):
        if cut.model is None:
            assert state(cut.random_state) == state(kind(3))


def test_kept_predictions_are_those_of_the_visits_that_count():
    for cut in interruptions(lambda: Engine("sequence", epochs=2), lambda engine: engine.fit(WORDS, TAGS, record_predictions=True), each=3):
        if cut.model is not None:
            assert len(cut.online_predictions_) == cut.parts_.weights.n_visited == 6 * len(cut.mistakes_)


class Reverting(PrimalWeights):
    """A store whose snapshot reverts in Python."""

    class Snapshot:
        def __init__(self, weights, snapshot):
            self.weights, self.snapshot, self.is_finite = weights, snapshot, snapshot.is_finite

        def revert(self):
            self.snapshot.revert()
            self.weights.seen = len(vars(self))

    def snapshot(self, rows):
        return self.Snapshot(self, super().snapshot(rows))

    def announce(self, rows):
        super().announce(rows)
        self.seen = 0


def test_ctrl_c_while_a_failed_call_is_taken_back_leaves_the_model_of_before():
    wide = X.copy()
    wide[7] = np.nan

    def make():
        return Engine("cusum", classes=[1, 2, 3], plugins=[Reverting(average=True)]).partial_fit(X, Y)

    def fail(engine):
        with pytest.raises(DataError):
            engine.partial_fit(wide, Y)

    before, cut_there, n = content(make()), content(make().partial_fit(X[:7], Y[:7])), 0
    for cut in interruptions(make, fail):
        n += 1
        assert content(cut) == before and cut.status_ == "max_epochs" or content(cut) == cut_there and cut.status_ == "interrupted"
        cut.partial_fit(X, Y)
    assert n > 30


def test_a_second_ctrl_c_during_the_handling_of_the_first_changes_nothing_about_it():
    class Twice(Reverting):
        class Snapshot(Reverting.Snapshot):
            def revert(self):
                nonlocal left
                left -= 1
                if left >= 0:
                    raise KeyboardInterrupt
                super().revert()

    left = 0
    engine = Engine("cusum", classes=[1, 2, 3], plugins=[Twice()]).partial_fit(X, Y)
    before, left = content(engine), 3
    with pytest.raises(KeyboardInterrupt):
        engine.partial_fit(np.where(np.arange(36).reshape(12, 3) == 20, np.inf, X), Y)
    assert content(engine) == before
    engine.partial_fit(X, Y)


def test_ctrl_c_while_waiting_for_another_thread_leaves_no_place_in_the_queue():
    engine = Engine("cusum").fit(X, Y)
    lock, held, free = engine.model_.lock, threading.Event(), threading.Event()

    def hold():
        held.set()
        free.wait()

    thread = threading.Thread(target=lock.read, args=(hold,))
    thread.start()
    held.wait()
    with pytest.raises(KeyboardInterrupt), one_signal(0.02) as send:
        send()
        engine.partial_fit(X, Y)
    assert engine.predict(X).shape == (12,)         # the waiting writer no longer blocks readers
    free.set()
    thread.join()
    engine.partial_fit(X, Y)


def test_a_stream_of_rows_under_a_fire_of_interrupts_counts_every_row_once():
    engine, twin = (Engine("cusum", classes=[1, 2, 3], average=True).partial_fit(X[:1], Y[:1]) for _ in range(2))
    with alarms():
        for i, delay in enumerate(np.random.default_rng(0).uniform(1e-5, 2e-4, 400)):
            x, y = X[i % 12:i % 12 + 1], Y[i % 12:i % 12 + 1]
            try:
                signal.setitimer(signal.ITIMER_REAL, delay)
                while True:
                    engine.partial_fit(x, y)
            except KeyboardInterrupt:
                pass
            while twin.parts_.weights.n_visited < engine.parts_.weights.n_visited:
                twin.partial_fit(x, y)
            assert content(engine) == content(twin)
