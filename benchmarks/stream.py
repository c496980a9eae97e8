"""Learning as data come: one row a call, ten million rows in chunks, and components written in Python."""

import functools

import datasets
import figures
import job
import numpy as np
from measuring import cpu_seconds, median, ratios, resident_mib, shown, spread, table, take_turns
from sklearn.linear_model import Perceptron, SGDClassifier

from structperc import Engine, hookimpl
from structperc.components import AbsoluteLoss, Argmax, PerceptronUpdate

CLASSES = list(range(datasets.RANKS))
FEATURES = 50
CALLS_GOALS = {"partial_fit": 500_000, "predict": 200_000}
PYTHON_GOAL = 800       # nanoseconds per example
GROWTH_GOAL = 1.0       # MiB after the first tenth of the stream


def measure(quick):
    small = 10 if quick else 1
    return {"calls": one_row_calls(50_000 // small), "long": long_stream(10_000_000 // small), "python": python_parts(200_000 // small)}


# ---- one row a call ----

def one_row_calls(n):
    """Calls a second, rows cut beforehand."""
    data = datasets.dense(n, FEATURES, seed=2)
    rows = [(data.X[i:i + 1], data.y[i:i + 1]) for i in range(data.n)]
    alone = [(X,) for X, _ in rows]
    contenders = {f"structperc {problem}, partial_fit": functools.partial(stream_calls, problem, rows, preset="paper", average=True)
                  for problem in ("cusum", "prank")}
    contenders["structperc cusum, partial_fit, defaults"] = functools.partial(stream_calls, "cusum", rows)
    for problem in ("cusum", "prank"):
        engine = Engine(problem, preset="paper", average=True).fit(data.X, data.y)
        contenders[f"structperc {problem}, predict"] = functools.partial(calls_per_second, engine.predict, alone)
    contenders["a method of Python that does nothing"] = functools.partial(calls_per_second, Nothing().partial_fit, rows)
    contenders["the same, and looks at the buffers of X and y"] = functools.partial(calls_per_second, Nothing().look, rows)
    for learner in (Perceptron, SGDClassifier):
        contenders[f"scikit-learn {learner.__name__}"] = functools.partial(learner_calls, learner, rows[:max(200, n // 100)])
    return take_turns(contenders)


class Nothing:
    """What a call costs in Python before anything is done."""

    def partial_fit(self, X, y):
        return self

    def look(self, X, y):
        memoryview(X)
        memoryview(y)


def stream_calls(problem, rows, **options):
    return calls_per_second(Engine(problem, classes=CLASSES, **options).partial_fit, rows)


def learner_calls(learner, rows):
    return calls_per_second(functools.partial(learner().partial_fit, classes=CLASSES), rows)


def calls_per_second(method, rows):
    method(*rows[0])

    def all_rows():
        for arguments in rows:
            method(*arguments)

    return len(rows) / cpu_seconds(all_rows)


# ---- a long stream ----

def long_stream(n, size=100_000):
    """Memory of the process and CPU time of partial_fit, chunk by chunk."""
    engine = Engine("cusum", preset="paper", average=True, classes=CLASSES)
    memory, seconds, mistakes = [], [], []
    for X, y in datasets.chunks(n, FEATURES, size):
        seconds.append(cpu_seconds(engine.partial_fit, X, y))
        memory.append(resident_mib())
        mistakes.append(engine.mistakes_[-1])
    return {"rows": n, "chunk": size, "mib": memory, "seconds": seconds, "mistakes": np.diff([0, *mistakes]).tolist()}


def growth(stream):
    """MiB by which the process grew after the first tenth, or None if the system does not report it."""
    memory = stream["mib"]
    return None if memory[0] is None else max(memory) - memory[len(memory) // 10 - 1]


# ---- parts written in Python ----

class PythonLoss(AbsoluteLoss):
    def value(self, gold, y, x=None):
        return abs(gold - y)


class PythonArgmax(Argmax):
    def argmax(self, scores, x):
        best, rank, total = 0.0, 1, 0.0
        for k, score in enumerate(scores.tolist(), 2):
            total += score
            if total > best:
                best, rank = total, k
        return rank


class PythonUpdate(PerceptronUpdate):
    def step(self, trial):
        return trial.difference()


class Observer:
    """Told of the end of each epoch."""

    name = "observer"

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        self.seen = record.mistakes


def python_parts(n):
    """Nanoseconds per example that a part in Python adds to an epoch of compiled parts, and its calls per example."""
    data = datasets.dense(n, FEATURES, seed=2)

    def seconds(make=None):
        engine = Engine("cusum", preset="paper", average=True, plugins=[make()] if make else [])
        return cpu_seconds(engine.fit, data.X, data.y)

    parts = {"loss: value": PythonLoss, "argmax": PythonArgmax, "update: step": PythonUpdate, "observer: epoch_end": Observer}
    contenders = {"compiled": seconds} | {name: functools.partial(seconds, make) for name, make in parts.items()}
    seconds()
    found = take_turns(contenders)
    mistakes = Engine("cusum", preset="paper", average=True).fit(data.X, data.y).mistakes_[0] / data.n
    calls = {"loss: value": mistakes, "argmax": 1.0, "update: step": mistakes, "observer: epoch_end": 1 / data.n}
    added = {name: [(a - b) / data.n * 1e9 for a, b in zip(found[name], found["compiled"], strict=True)] for name in parts}
    return {"compiled": [value / data.n * 1e9 for value in found["compiled"]], "added": added, "calls": calls}


# ---- what is shown ----

def report(raw):
    return "\n\n".join([
        "## One row a call", f"Calls a second, d = {FEATURES}.", calls_table(raw["calls"]),
        "## A long stream", long_report(raw["long"]),
        "## Parts written in Python", f"Nanoseconds per example in one epoch of CuSum, d = {FEATURES}, all parts compiled: "
        f"{spread(raw['python']['compiled'])}. One part replaced by a Python class adds:", python_table(raw["python"]),
    ])


def calls_table(calls):
    own = calls["structperc cusum, partial_fit"]
    return table(["system", "calls a second", "partial_fit of cusum has so many times as many"],
                 [[name, spread(found), "" if found is own else spread(ratios(own, found))] for name, found in calls.items()])


def long_report(stream):
    nanoseconds = [value / stream["chunk"] * 1e9 for value in stream["seconds"]]
    grown = growth(stream)
    memory = "memory unknown on this system" if grown is None else f"memory grew by {grown:.2f} MiB after the first tenth"
    shares = [mistakes / stream["chunk"] for mistakes in stream["mistakes"]]
    return (f"{stream['rows']:,} rows of d = {FEATURES}, made and learned from in chunks of {stream['chunk']:,}: {memory}; "
            f"{spread(nanoseconds)} nanoseconds per example; share of mistakes {shares[0]:.3f} in the first chunk, "
            f"{shares[-1]:.3f} in the last.")


def python_table(python):
    calls = python["calls"]
    rows = [[name, spread(added), shown(calls[name], 2), shown(median(added) / calls[name]) if min(added) > 0 else "lost in the noise"]
            for name, added in python["added"].items()]
    return table(["part", "per example", "calls per example", "per call"], rows)


def goals(raw):
    calls, grown = raw["calls"], growth(raw["long"])
    reached = []
    for method, goal in CALLS_GOALS.items():
        for name, found in calls.items():
            if name.startswith("structperc") and name.endswith(method):
                reached.append(job.Goal(f"one-row calls a second: {name}", f"≥ {goal:,}", spread(found), median(found) >= goal))
    if grown is not None:
        reached.append(job.Goal(f"memory after the first tenth of {raw['long']['rows']:,} rows, MiB more", f"≤ {GROWTH_GOAL:g}",
                                f"{grown:.2f}", grown <= GROWTH_GOAL))
    for name, added in raw["python"]["added"].items():
        reached.append(job.Goal(f"nanoseconds per example added by Python: {name}", f"≤ {PYTHON_GOAL:,}", spread(added),
                                median(added) <= PYTHON_GOAL))
    return reached


def draw(raw, folder):
    stream = raw["long"]
    if growth(stream) is not None:
        rows = np.arange(1, len(stream["mib"]) + 1) * stream["chunk"] / 1e6
        figures.curve(folder / "stream.png", rows, stream["mib"], "million rows seen", "resident memory, MiB",
                      f"partial_fit on a stream, d = {FEATURES}")


if __name__ == "__main__":
    job.run("stream", "Learning as data come", measure, report, goals, draw)
