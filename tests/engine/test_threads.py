"""Any number of threads read a whole model while one trains. A second one that trains raises an error. A fork blocks no thread."""

import contextlib
import copy
import io
import json
import os
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from plain import Engine

from structperc import hookimpl, metrics
from structperc.components import Loss, PerceptronUpdate
from structperc.errors import BusyError, DataError, NotFittedError, PluginError
from structperc.fitting import plugins as registry
from structperc.fitting.locks import ReadWriteLock

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(40, 4)), [1, 2, 3, 4] * 10
WAIT = 30           # seconds until a test fails


def running(function, *arguments):
    thread = threading.Thread(target=function, args=arguments, daemon=True)
    thread.start()
    return thread


@contextlib.contextmanager
def training(engine, call, *arguments, gate):
    """Runs the block while another thread trains the engine and waits at the gate."""
    thread = running(getattr(engine, call), *arguments)
    assert gate.reached.wait(WAIT)
    try:
        yield thread
    finally:
        gate.open.set()
        thread.join(WAIT)
    assert not thread.is_alive()


class Gate:
    """A point where training waits: the end of an epoch, or an example."""

    def __init__(self):
        self.reached, self.open = threading.Event(), threading.Event()

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        self.wait()

    def wait(self):
        self.reached.set()
        assert self.open.wait(WAIT)

    def __reduce__(self):
        return Gate, ()


class GatedLoss(Loss):
    gate = None

    def value(self, gold, y, x=None):
        if GatedLoss.gate is not None:
            GatedLoss.gate.wait()
        return float(gold != y)


def gated(**options):
    GatedLoss.gate = None
    return Engine("cusum", classes=[1, 2, 3, 4], plugins=[GatedLoss()], **options)


def saved(engine):
    file = io.BytesIO()
    engine.save(file)
    return Engine.load(io.BytesIO(file.getvalue()), plugins=[p for p in engine.plugins if not isinstance(p, Gate)])


READERS = {
    "predict": lambda engine: engine.predict(X).tolist(),
    "k best": lambda engine: engine.predict(X, k=2).tolist(),
    "margins": lambda engine: engine.margins(X).tolist(),
    "marginals": lambda engine: np.concatenate(engine.predict_marginals(X)).tolist(),
    "scores": lambda engine: engine.atom_scores(X).tolist(),
    "explain": lambda engine: str(engine.explain(X[:1])),
    "save": lambda engine: saved(engine).coef_.tolist(),
    "pickle": lambda engine: pickle.loads(pickle.dumps(engine)).coef_.tolist(),
    "copy": lambda engine: copy.deepcopy(engine).coef_.tolist(),
    "coef_": lambda engine: engine.coef_.tolist(),
    "record": lambda engine: (engine.mistakes_, engine.cumulative_loss_, engine.status_),
    "losses": lambda engine: metrics.losses(engine, X, Y).tolist(),
    "measures": lambda engine: metrics.measures(engine, X, Y),
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_while_a_fit_is_under_way_other_threads_read_the_model_of_before(read):
    gate = Gate()
    engine = Engine("cusum", classes=[1, 2, 3, 4], plugins=[gate])
    gate.open.set()
    engine.fit(X[:9], Y[:9])
    before = read(engine)
    gate.open.clear(), gate.reached.clear()
    with training(engine, "fit", X, Y[::-1], gate=gate):
        assert read(engine) == before
    assert read(engine) == read(Engine("cusum", classes=[1, 2, 3, 4]).fit(X, Y[::-1])) != before


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_while_a_chunk_changes_the_model_other_threads_wait_for_its_end(read, monkeypatch):
    engine, gate, answers = gated().fit(X[:9], Y[:9]), Gate(), []
    monkeypatch.setattr(GatedLoss, "gate", gate)
    with training(engine, "partial_fit", X, Y[::-1], gate=gate):
        reader = running(lambda: answers.append(read(engine)))
        time.sleep(0.02)
        assert answers == []
    monkeypatch.setattr(GatedLoss, "gate", None)
    reader.join(WAIT)
    assert answers == [read(gated().fit(X[:9], Y[:9]).partial_fit(X, Y[::-1]))]


def test_before_the_first_fit_has_ended_other_threads_have_no_model():
    gate = Gate()
    engine = Engine("cusum", plugins=[gate])
    with training(engine, "fit", X, Y, gate=gate):
        for name in READERS.keys() - {"pickle", "copy"}:
            with pytest.raises(NotFittedError):
                READERS[name](engine)
        assert copy.deepcopy(engine).model is None
    assert engine.predict(X).shape == (40,)


@pytest.mark.parametrize("first", ["fit", "partial_fit"])
@pytest.mark.parametrize("second", ["fit", "partial_fit"])
def test_a_second_trainer_is_refused_at_once(first, second, monkeypatch):
    engine, gate = gated().fit(X[:9], Y[:9]), Gate()
    monkeypatch.setattr(GatedLoss, "gate", gate)
    with training(engine, first, X, Y, gate=gate), pytest.raises(BusyError, match=f"^{second} was called"):
        getattr(engine, second)(X, Y)
    monkeypatch.setattr(GatedLoss, "gate", None)
    assert getattr(engine, second)(X, Y) is engine


# ---- within one thread ----


class Reentrant:
    """Rows that call `action` when they are read."""

    def __init__(self, rows, action):
        self.rows, self.action, self.shape = rows, action, rows.shape

    def __array__(self, dtype=None, copy=None):
        action, self.action = self.action, lambda: None
        action()
        return np.asarray(self.rows, dtype=dtype)

    def __len__(self):
        return len(self.rows)


@pytest.mark.parametrize("call", ["predict", "margins", "predict_marginals", "atom_scores", "explain"])
@pytest.mark.parametrize("change", ["fit", "partial_fit"])
def test_rows_that_train_the_engine_while_they_are_read_are_answered_by_one_model(call, change):
    engine = Engine("cusum", classes=[1, 2, 3, 4]).fit(X, Y)
    wide = RNG.normal(size=(40, 9 if change == "fit" else 4))
    Z = X[:1] if call == "explain" else X
    expected = getattr(engine, call)(Z)
    try:
        found = getattr(engine, call)(Reentrant(Z, lambda: getattr(engine, change)(wide, Y)))
    except BusyError as error:
        assert change == "partial_fit" and "reads it is under way" in str(error)
    else:
        if change == "partial_fit":                 # rows are read before scores, so the changed model is used
            expected = getattr(engine, call)(Z)
        assert str(found) == str(expected)


@pytest.mark.parametrize("call", ["fit", "partial_fit"])
@pytest.mark.parametrize("inner", ["fit", "partial_fit"])
def test_rows_that_train_the_engine_while_it_trains_are_refused(call, inner):
    engine = Engine("cusum", classes=[1, 2, 3, 4]).fit(X, Y)
    before = engine.coef_
    with pytest.raises(BusyError):
        getattr(engine, call)(Reentrant(X, lambda: getattr(engine, inner)(X, Y)), Y)
    assert np.array_equal(engine.coef_, before)
    engine.partial_fit(X, Y)


def test_rows_read_for_another_model_are_refused():
    engine = Engine("cusum").fit(X, Y)
    rows = engine.read(X)
    engine.fit(X[:, :2], Y)
    for call in ("predict", "margins", "atom_scores"):
        with pytest.raises(DataError, match="X has 4 features, but this model was trained with 2"):
            getattr(engine.model_, call)(rows)


def test_a_rule_may_predict_with_the_engine_that_it_trains():
    class Asking(PerceptronUpdate):
        def step(self, trial):
            answers.append(len(engine.predict(X)))
            return super().step(trial)

    answers, engine = [], Engine("cusum", classes=[1, 2, 3, 4], plugins=[Asking()])
    plain = Engine("cusum", classes=[1, 2, 3, 4])
    assert np.array_equal(engine.fit(X, Y).partial_fit(X, Y).coef_, plain.fit(X, Y).partial_fit(X, Y).coef_)
    assert answers == [40] * sum(engine.mistakes_)


# ---- many threads ----


@pytest.mark.parametrize("options", [{"average": True}, {"plugins": ["dual-kernel"], "kernel": "rbf", "gamma": 0.3, "budget": 15},
                                     {"update": "pa1", "decay": 0.01}], ids=["average", "budget", "decay"])
def test_every_answer_is_that_of_a_complete_model(options):
    """Two threads train, and three read. Each set of scores equals that of a twin after a number of whole calls."""
    def fresh():
        return Engine("cusum", classes=[1, 2, 3, 4], **options)

    chunks = [(X[i:i + 5], Y[i:i + 5]) for i in range(0, 40, 5)]
    twin, complete = fresh().fit(X, Y), []
    complete.append(twin.atom_scores(X).tobytes())
    for chunk in chunks * 4:
        complete.append(twin.partial_fit(*chunk).atom_scores(X).tobytes())
    engine, done, seen, failed = fresh().fit(X, Y), threading.Event(), [], []
    turn = iter(chunks * 4)
    lock = threading.Lock()

    def train():
        while True:
            with lock:
                chunk = next(turn, None)
                if chunk is None:
                    return
                engine.partial_fit(*chunk)

    def intrude():
        while not done.is_set():
            with contextlib.suppress(BusyError):
                engine.fit(X, [9] * 40)             # never fits: 9 is no class
            time.sleep(0.001)

    def read():
        while not done.is_set():
            seen.append(engine.atom_scores(X).tobytes())
            seen.append(saved(engine).atom_scores(X).tobytes())

    def guarded(work):
        try:
            work()
        except DataError:
            pass
        except BaseException as error:
            failed.append(error)

    readers = [running(guarded, read) for _ in range(3)]
    trainers = [running(guarded, train) for _ in range(2)]
    for thread in trainers:
        thread.join(WAIT)
    done.set()
    for thread in readers:
        thread.join(WAIT)
    assert failed == [] and seen and set(seen) <= set(complete)
    assert engine.atom_scores(X).tobytes() == complete[-1]


# ---- the lock ----


def test_a_stream_of_readers_does_not_keep_a_writer_out_nor_a_stream_of_writers_a_reader():
    lock, stop, order = ReadWriteLock(), threading.Event(), []

    def over_and_over(enter):
        while not stop.is_set():
            enter(time.sleep, 0.0005)

    for stream, other in ((lock.read, lock.write), (lock.write, lock.read)):
        stop.clear()
        threads = [running(over_and_over, stream) for _ in range(3)]
        for _ in range(20):
            other(order.append, 1)
        stop.set()
        for thread in threads:
            thread.join(WAIT)
            assert not thread.is_alive()
    assert len(order) == 40


def test_reads_may_be_nested_in_reads_and_writes_also_while_a_writer_waits():
    lock, log = ReadWriteLock(), []

    def outer():
        writer = running(lock.write, log.append, "writer")
        time.sleep(0.02)
        lock.read(lock.read, log.append, "inner")
        return writer

    lock.read(outer).join(WAIT)
    assert log == ["inner", "writer"]
    assert lock.write(lock.read, lock.write, int) == 0
    with pytest.raises(BusyError, match="Let that call end first"):
        lock.read(lock.write, int)
    assert lock.write(int) == 0


def test_a_failing_call_leaves_the_model_free():
    lock = ReadWriteLock()
    for enter in (lock.read, lock.write):
        with pytest.raises(ZeroDivisionError):
            enter(lambda: 1 / 0)
        assert lock.write(int) == lock.read(int) == 0


# ---- fork ----


def in_child(function):
    """The return value of a function in a child process, or its error, as text."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = str(function())
        except BaseException as error:
            answer = f"{type(error).__name__}: {error}"
        os.write(writing, answer.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        answer = file.read()
    os.waitpid(child, 0)
    return answer


forking = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@forking
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_forked_during_a_fit_has_the_model_of_before_and_may_train():
    gate = Gate()
    engine = Engine("cusum", classes=[1, 2, 3, 4], plugins=[gate])
    gate.open.set()
    engine.fit(X[:9], Y[:9])
    before = engine.predict(X).tolist()
    gate.open.clear(), gate.reached.clear()

    def work():
        gate.open.set()
        found = engine.predict(X).tolist()
        trained = engine.partial_fit(X, Y).fit(X, Y).predict(X).tolist()
        return found == before and trained == Engine("cusum").fit(X, Y).predict(X).tolist()

    with training(engine, "fit", X, Y[::-1], gate=gate):
        assert in_child(work) == "True"


@forking
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_forked_during_a_chunk_refuses_the_half_changed_model_until_it_is_fitted(monkeypatch):
    engine, gate = gated().fit(X[:9], Y[:9]), Gate()
    monkeypatch.setattr(GatedLoss, "gate", gate)

    def fit():
        GatedLoss.gate = None
        return len(engine.fit(X, Y).predict(X))

    with training(engine, "partial_fit", X, Y, gate=gate):
        for read in (engine.predict, lambda X: engine.partial_fit(X, Y), lambda X: engine.coef_, lambda X: pickle.dumps(engine)):
            assert "BusyError: this process was forked while another thread was changing" in in_child(lambda read=read: read(X))
        assert in_child(fit) == "40"


@forking
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_forked_within_training_goes_on_with_it(monkeypatch):
    class Forking:
        @hookimpl
        def structperc_epoch_end(self, engine, record):
            self.answer = in_child(lambda: (engine.predict(X).tolist(), refused(engine)))
            self.expected = str((engine.predict(X).tolist(), True))

    def refused(engine):
        with pytest.raises(BusyError):
            engine.partial_fit(X, Y)
        return True

    forking = Forking()
    Engine("cusum", plugins=[forking]).fit(X, Y)
    assert forking.answer == forking.expected


# ---- first use ----


def test_every_entry_may_be_used_first_in_many_threads():
    done = subprocess.run([sys.executable, Path(__file__).parents[1] / "first_use.py"], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["entries"] >= 17 and not report["errors"], "\n".join(report["errors"][:3])


def test_lookups_import_a_package_before_its_modules(tmp_path):
    """A thread begins with an author's package, whose import waits, and another looks up a module that the package imports."""
    package = tmp_path / "waiting"
    package.mkdir()
    (package / "__init__.py").write_text("import builtins\ny = 1\nbuiltins.started.set()\nbuiltins.goes_on.wait(0.5)\n"
                                         "from waiting.part import y\n")
    (package / "part.py").write_text("from waiting import y\n")
    (tmp_path / "begin.py").write_text("""
import builtins, importlib, threading
from structperc.later import module_at

builtins.started, builtins.goes_on, answers = threading.Event(), threading.Event(), []
threads = [threading.Thread(target=lambda: answers.append(importlib.import_module("waiting").y)),
           threading.Thread(target=lambda: answers.append(module_at("waiting.part").y))]
threads[0].start()
builtins.started.wait(10)
threads[1].start()
for thread in threads:
    thread.join()
print(answers)
""")

    done = subprocess.run([sys.executable, "begin.py"], capture_output=True, text=True, cwd=tmp_path)

    assert done.stdout == "[1, 1]\n", done.stderr


def test_threads_that_name_unknown_plugins_disturb_no_others():
    wrong, stop, errors = [], threading.Event(), []

    def misspell():
        while not stop.is_set():
            try:
                Engine("multiklass")
            except PluginError as error:
                wrong.append(error)

    def call(function, *arguments):
        try:
            for _ in range(300):
                function(*arguments)
        except Exception as error:
            errors.append(error)

    before = registry.known(refresh=True)
    disturbing = [running(misspell), running(misspell)]
    calls = (Engine, "cusum"), (Engine, "multiclass"), (registry.all_loaded,), (registry.parts_with, "kernel")
    threads = [running(call, *arguments) for arguments in calls]
    for thread in threads:
        thread.join(WAIT)
    stop.set()
    for thread in disturbing:
        thread.join(WAIT)

    assert wrong and not errors
    assert registry.known() is before or registry.known().time - before.time >= registry.SOON


def test_threads_get_the_same_plugin(monkeypatch):
    both = threading.Barrier(2)
    load = registry.from_entry_point

    def together(entry):
        both.wait(WAIT)
        return load(entry)

    registry.known(refresh=True)
    monkeypatch.setattr(registry, "from_entry_point", together)
    plugins = []
    threads = [running(lambda: plugins.append(registry.load("cusum"))) for _ in range(2)]
    for thread in threads:
        thread.join(WAIT)

    assert plugins[0] is plugins[1] is registry.load("cusum")
