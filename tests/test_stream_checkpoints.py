"""Tests of checkpoints of streams: a stream that is killed and resumed ends with the bits of an uninterrupted one."""

import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
from plain import Engine
from reference.model_files import saved
from scipy import sparse

from structperc.callbacks import Checkpoint
from structperc.errors import DataError, ModelFormatError, OptionError
from structperc.streams import Slices, fit_stream

N = 90
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(N, 4)) * [1, 20, 1, 0.9]
Y = 1 + np.digitize(X @ [1.0, 0.1, -1.0, 0.0] + 0.5 * RANDOM.normal(size=N), [-1.0, 1.0])
WEIGHTS = RANDOM.integers(0, 3, N).astype(float)
WEIGHTS[:10] = 0
TOKENS = [[{"w": f"w{v}"} for v in RANDOM.integers(0, 30, n)] for n in RANDOM.integers(1, 7, 40)]
TAGS = [["ABC"[(len(t) + int(t["w"][1:])) % 3] for t in sentence] for sentence in TOKENS]
TEXTS = ["".join("ab"[v] for v in RANDOM.integers(0, 2, n)) for n in RANDOM.integers(2, 7, 40)]
SHUFFLED = {"shuffle": True, "random_state": 1}
RANKS = {"classes": [1, 2, 3]}
DUAL = {"plugins": ["dual-kernel"], **RANKS}
WEIGHED = Slices(X, Y, rows=10, sample_weight=WEIGHTS)

# problem, options, parts
KINDS = {
    "in order": ("cusum", {"average": True, **RANKS}, Slices(X, Y, rows=10)),
    "shuffled": ("cusum", {"average": True, **RANKS, **SHUFFLED}, Slices(X, Y, rows=10)),
    "scaled": ("multiclass", {"scale": True, "average": True, **RANKS, **SHUFFLED}, Slices(X, Y, rows=10)),
    "weights of classes": ("cusum", {"class_weight": {1: 2.5}, **RANKS}, WEIGHED),
    "weights of visits": ("prank", {"weighting": "visits", "class_weight": {3: 4.5}, **RANKS, "random_state": 2}, WEIGHED),
    "decayed": ("multiclass", {"decay": "inverse-sqrt(0.1)", **RANKS}, Slices(X, Y, rows=10)),
    "shards": ("multiclass", {"n_shards": 3, "average": True, **RANKS, **SHUFFLED}, Slices(X, Y, rows=10)),
    "shards in order": ("cusum", {"n_shards": 4, "trainer": "bounded-sum", **RANKS, "random_state": 2}, WEIGHED),
    "scaled shards": ("multiclass", {"n_shards": 2, "scale": True, **RANKS, "random_state": 2}, Slices(X, Y, rows=10)),
    "sparse": ("multiclass", {"update": "pa2", **RANKS}, Slices(sparse.csr_matrix(np.where(X > 0, X, 0)), Y, rows=10)),
    "a function": ("cusum", {**RANKS, **SHUFFLED}, lambda: ((X[i:i + 10], Y[i:i + 10]) for i in range(0, N, 10))),
    "sequences": ("sequence", {"classes": list("ABC"), "n_hashed": 2**10, "average": True, **SHUFFLED}, Slices(TOKENS, TAGS, rows=7)),
    "shards of sequences": ("sequence", {"classes": list("ABC"), "n_hashed": 2**10, "n_shards": 2, "random_state": 1},
                            Slices(TOKENS, TAGS, rows=7)),
    "step sizes of each weight": ("multiclass", {"update": "adagrad", "step_size": 0.1, **RANKS}, Slices(X, Y, rows=10)),
    "a kernel": ("cusum", {"kernel": "rbf", "average": True, **DUAL, **SHUFFLED}, Slices(X, Y, rows=10)),
    "a kernel with a budget": ("multiclass", {"kernel": "rbf", "budget": 7, "removal": "random", **DUAL, **SHUFFLED},
                               Slices(X, Y, rows=10)),
    "a scaled kernel": ("multiclass", {"kernel": "rbf", "scale": True, **DUAL}, Slices(X, Y, rows=10)),
    "a string kernel": ("multiclass", {"kernel": "subsequence", "budget": 5, **DUAL}, Slices(TEXTS, Y[:40].tolist(), rows=9)),
}  # fmt: skip


def trained(name, *observers, resume=False, **further):
    problem, options, parts = KINDS[name]
    options = {"epochs": 3, "random_state": 0, **options, **further}
    return fit_stream(Engine(problem, **{**options, "plugins": [*options.get("plugins", ()), *observers]}), parts, resume=resume)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "checkpoint")


@pytest.mark.parametrize("every", [1, 2.5])
@pytest.mark.parametrize("name", KINDS)
def test_from_every_checkpoint_on_a_stream_ends_with_the_bits_of_the_undisturbed_one(name, every, path, copies):
    expected, kills = saved(trained(name, Checkpoint(path, every))), list(copies)
    assert len(kills) > 3 and (every > 1 or len(kills) > 10)

    for kill in kills[[*KINDS].index(name) % 6::6]:         # over all kinds, streams stop at every part of an epoch
        shutil.copy(kill, path)
        assert saved(trained(name, Checkpoint(path, every), resume=True)) == expected


@pytest.mark.parametrize("name", [name for name in KINDS if "kernel" not in name])
def test_checkpoints_do_not_change_the_bits_of_primal_weights(name, path):
    assert saved(trained(name, Checkpoint(path))) == saved(trained(name))


def test_more_epochs_go_on_behind_the_last_one(path):
    trained("shuffled", Checkpoint(path), epochs=2)
    assert saved(trained("shuffled", Checkpoint(path), epochs=2, resume=True)) == saved(trained("shuffled", epochs=2))
    longer, whole = trained("shuffled", Checkpoint(path), epochs=4, resume=True), trained("shuffled", epochs=4)
    assert longer.mistakes_ == whole.mistakes_ and longer.coef_.tobytes() == whole.coef_.tobytes()


def test_a_stream_that_converged_returns_at_once(path):
    easy, read = np.repeat([[-1.0], [1.0]], 5, axis=0), []

    def parts():
        read.append(True)
        return iter([(easy, ["n"] * 5 + ["p"] * 5)])

    def engine():
        return Engine("multiclass", classes=["n", "p"], epochs=50, plugins=[Checkpoint(path)])

    first, n = fit_stream(engine(), parts), len(read)
    again = fit_stream(engine(), parts, resume=True)
    assert again.status_ == first.status_ == "converged" and len(read) == n and saved(again) == saved(first)


def test_a_sequence_is_asked_for_the_parts_that_are_left(path, copies):
    asked = []

    class Watched(Slices):
        def __getitem__(self, i):
            asked.append(i)
            return super().__getitem__(i)

    def fitted(resume=False):
        return fit_stream(Engine("cusum", **RANKS, plugins=[Checkpoint(path)]), Watched(X, Y, rows=10), resume=resume)

    fitted()
    shutil.copy(copies[5], path)
    asked.clear()
    fitted(resume=True)
    assert asked == [6, 7, 8]


def test_a_generator_goes_on_behind_a_resumed_stream_as_behind_an_undisturbed_one(path, copies):
    one, other = (np.random.default_rng(7) for _ in range(2))
    expected = saved(trained("shuffled", Checkpoint(path), random_state=one))
    shutil.copy(copies[4], path)
    assert saved(trained("shuffled", Checkpoint(path), random_state=other, resume=True)) == expected
    assert one.random() == other.random()


@pytest.mark.parametrize(("change", "error", "message"), [
    ({"options": {"average": False}}, OptionError, "is of a training with average=True, and this one has average=False"),
    ({"options": {"classes": [1, 2, 4]}}, OptionError, "is of a training with classes="),
    ({"options": {"n_shards": 2}}, OptionError, "is of a training with n_shards=1, and this one has n_shards=2"),
    ({"parts": Slices(X, Y, rows=9)}, DataError, r"with another number of parts \(9; here 10\). Pass the same as before, or remove"),
    ({"parts": Slices(X[:-1], Y[:-1], rows=10)}, DataError, r"with another number of rows \(90; here 89\)"),
    ({"source": {"path": "b.csv"}}, DataError, r"with another path \(none; here b.csv\)"),
])  # fmt: skip
def test_the_checkpoint_of_another_stream_is_refused(change, error, message, path):
    trained("in order", Checkpoint(path))
    with open(path, "rb") as file:
        before = file.read()
    engine = Engine("cusum", **{"average": True, "epochs": 3, **RANKS, **change.get("options", {})}, plugins=[Checkpoint(path)])
    with pytest.raises(error, match=message):
        fit_stream(engine, change.get("parts", KINDS["in order"][2]), resume=True, source=change.get("source"))
    with open(path, "rb") as file:
        assert file.read() == before and engine.model is None


def test_a_fit_and_a_stream_refuse_the_checkpoints_of_each_other(path):
    engine = Engine("cusum", average=True, epochs=3, **RANKS, plugins=[Checkpoint(path)])
    engine.fit(X, Y)
    with pytest.raises(OptionError, match="was written by fit, and this is fit_stream"):
        trained("in order", Checkpoint(path), resume=True)
    os.unlink(path)
    trained("in order", Checkpoint(path))
    with pytest.raises(OptionError, match="was written by fit_stream, and this is fit"):
        engine.fit(X, Y, resume=True)


def test_a_source_that_ends_before_its_place_is_refused(path):
    def parts(n):
        return lambda: ((X[i:i + 10], Y[i:i + 10]) for i in range(0, n, 10))

    def engine(epochs):
        return Engine("cusum", epochs=epochs, **RANKS, plugins=[Checkpoint(path)])

    def interrupted():
        yield from parts(50)()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_stream(engine(1), interrupted, ahead=False)
    with pytest.raises(DataError, match="the source ends after 2 parts, and the checkpoint has learned from 4; pass the same parts"):
        fit_stream(engine(1), parts(20), resume=True)
    same = fit_stream(engine(1), parts(50), resume=True)
    assert same.coef_.tobytes() == Engine("cusum", **RANKS).fit(X[:50], Y[:50]).coef_.tobytes()


@pytest.mark.parametrize(("call", "message"), [
    (lambda path: trained("in order", resume=True), "none is named; pass plugins="),
    (lambda path: fit_stream(Engine("cusum", plugins=[Checkpoint(path)]), [{"X": X, "y": Y, "record_predictions": True}]),
     "record_predictions=True is kept in no checkpoint of a stream"),
    (lambda path: fit_stream(Engine("cusum", n_shards=2), [{"X": X, "y": Y, "history": True}]), "history=True keeps one visit after"),
])  # fmt: skip
def test_what_no_checkpoint_keeps_is_refused(call, message, path):
    with pytest.raises(OptionError, match=message):
        call(path)


def test_a_checkpoint_that_does_not_fit_leaves_the_engine_untrained(path, monkeypatch):
    trained("in order", Checkpoint(path))

    def broken(*arguments, **options):
        raise ValueError("no")

    monkeypatch.setattr("structperc.engine.checkpoints.of_streams.model_file.restore", broken)
    with pytest.raises(ModelFormatError, match="does not fit this training .ValueError: no.; remove it to begin anew"):
        trained("in order", Checkpoint(path), resume=True)


KILLED = """
import os, signal, sys
import numpy as np
from structperc import Engine
from structperc.callbacks import Checkpoint
from structperc.streams import Slices, fit_stream
X = np.random.default_rng(0).normal(size=(60, 3))
y = 1 + (X[:, 0] > 0)
engine = Engine("cusum", classes=[1, 2], epochs=4, n_shards=2, shuffle=True, random_state=3, plugins=[Checkpoint(sys.argv[1])])
left = [int(sys.argv[2])]
def passed(epoch, n):
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
fit_stream(engine, Slices(X, y, rows=10), passed=passed, resume=True)
engine.save(sys.argv[1] + ".model")
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_kill_9_again_and_again_ends_with_the_bits_of_the_undisturbed_stream(tmp_path):
    def run(name, parts):
        return subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / name), str(parts)]).returncode

    assert run("undisturbed", 0) == 0
    kills = 0
    while run("killed", 9) != 0:
        kills += 1
    assert kills == 2 and (tmp_path / "killed.model").read_bytes() == (tmp_path / "undisturbed.model").read_bytes()
