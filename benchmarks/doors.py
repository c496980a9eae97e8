"""Doors: what a call costs users, beside what they would call instead. Probabilities, small fits, wide rows, one row, pickles, commands."""

import functools
import importlib.util
import json
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import attrs
import datasets
import job
import numpy as np
from measuring import ROUNDS, cpu_seconds, median, peak_growth, ratios, shown, spread, table, take_turns
from scipy import sparse
from sklearn.linear_model import LogisticRegression, SGDClassifier

from structperc import Engine
from structperc.estimators import CuSumRank, PRank, StructuredClassifier
from structperc.solvers.matchings import k_best_matchings, match_pairs, max_matching

ENOUGH = 0.01           # CPU seconds of a turn: short calls are repeated
MOST_CALLS = 2000
FITS = ((300, 10), (1000, 10), (4000, 20), (20_000, 50))
WIDE = (1000, 10_000, 100_000, 1_000_000)
CLASSES = (10, 100, 1000, 10_000)
ITEMS = (50, 100, 200)
GROWING_ITEMS = (1, 10, 100, 1000)
BEHIND_IMPORT = 0.15    # CPU seconds of a command beside importing
MEMORY_GOALS = {"predict": 0.1, "predict_proba": 0.8, "score": 0.2, "fit": 1.4, "partial_fit": 1.2}     # in multiples of X
STREAMS = {1: "structperc fit --stream, 1 epoch", 10: "structperc fit --stream, 10 epochs"}


@attrs.frozen
class Door:
    """A call, and what users would call instead.

    `calls`: functions by name, that of structperc first. `beside`: the names that the goal compares it with. Without any, `most` is in
    microseconds.
    `size`: of doors that differ in nothing else, whose growth is measured.
    """

    what: str
    calls: dict
    most: float
    beside: tuple = ()
    size: int | None = None


# ---- the doors ----

def probabilities(quick):
    """The probabilities of many classes and of five ranks."""
    for k in CLASSES[:-1] if quick else CLASSES:
        X, y = np.random.default_rng(0).normal(size=(500, 20)), np.arange(500) % k
        model = StructuredClassifier(average=True, random_state=0).partial_fit(X, y, classes=np.arange(k))
        W = np.ascontiguousarray(model.coef_.T)
        yield Door(f"predict_proba of 500 x 20, {k} classes", {"StructuredClassifier": functools.partial(model.predict_proba, X),
                                                     "softmax in numpy": functools.partial(softmax, X, W)}, 3, ("softmax in numpy",), k)
    X, y = ranked(4000, 20)
    models = {"CuSumRank": CuSumRank(random_state=0), **rivals()}
    yield Door("predict_proba, five ranks, 4,000 x 20",
               {name: functools.partial(model.fit(X, y).predict_proba, X) for name, model in models.items()}, 1.1, tuple(rivals()))


def softmax(X, W):
    scores = X @ W
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)


def default_fits(quick):
    """Fits of small tables with all defaults."""
    for n, d in FITS[:2] if quick else FITS:
        X, y = ranked(n, d)
        for make in (CuSumRank, PRank):
            models = {make.__name__: make(random_state=0), **rivals()}
            yield Door(f"{make.__name__}.fit, {n:,} x {d}", {name: functools.partial(model.fit, X, y) for name, model in models.items()},
                       1, tuple(rivals()))


def wide_rows(quick):
    """Sparse rows of 30 values, one a call."""
    for columns in WIDE[:-1] if quick else WIDE:
        M = sparse.random(200, columns, density=30 / columns, format="csr", random_state=0)
        y = np.arange(200) % 5 + 1
        models = {"averaged": CuSumRank(random_state=0), "average=False": CuSumRank(random_state=0, average=False),
                  "SGDClassifier": SGDClassifier(random_state=0)}
        for model in models.values():
            model.partial_fit(M[:100], y[:100], classes=np.arange(1, 6))
        rows = [(M[i:i + 1], y[i:i + 1]) for i in range(100, 200)]
        for what, learn in (("partial_fit", taught), ("predict then partial_fit", tested)):
            yield Door(f"{what}, a sparse row of {columns} columns",
                       {name: functools.partial(learn, model, iter(rows * MOST_CALLS)) for name, model in models.items()},
                       2, ("average=False",), columns if learn is tested else None)


def taught(model, rows):
    X, y = next(rows)
    model.partial_fit(X, y)


def tested(model, rows):
    X, y = next(rows)
    model.predict(X)
    model.partial_fit(X, y)


def one_row(quick):
    """A dense row of 20 columns a call."""
    X, y = ranked(2000, 20)
    x, its = X[:1].copy(), y[:1].copy()
    engines = {"Engine": Engine("cusum").fit(X, y), "Engine, preset paper": Engine("cusum", preset="paper").fit(X, y),
               "CuSumRank": CuSumRank(random_state=0).fit(X, y)}
    others = {}
    if importlib.util.find_spec("river"):
        from river.linear_model import SoftmaxRegression

        other, row = SoftmaxRegression(), dict(enumerate(x[0].tolist()))
        for values, label in zip(X[:200].tolist(), y[:200].tolist(), strict=True):
            other.learn_one(dict(enumerate(values)), label)
        others = {"predict": {"river SoftmaxRegression": functools.partial(other.predict_one, row)},
                  "partial_fit": {"river SoftmaxRegression": functools.partial(other.learn_one, row, int(its[0]))}}
    goals = {"predict": {"Engine": 2, "Engine, preset paper": 2, "CuSumRank": 10},
             "partial_fit": {"Engine": 15, "Engine, preset paper": 2.5, "CuSumRank": 25}}
    for method, most in goals.items():
        for name, engine in engines.items():
            arguments = (x, its)[:1 + (method == "partial_fit")]
            yield Door(f"{name}: {method} of one row", {name: functools.partial(getattr(engine, method), *arguments),
                                                        **others.get(method, {})}, most[name])


def pickles(quick):
    """Pickles of fitted estimators, as joblib's workers pass them on."""
    X, y = ranked(1000, 20)
    models = {"CuSumRank": CuSumRank(random_state=0).fit(X, y), "LogisticRegression": LogisticRegression().fit(X, y)}
    yield Door("pickle of a fitted estimator", {name: functools.partial(pickle.dumps, model) for name, model in models.items()}, 100)
    yield Door("unpickle of a fitted estimator",
               {name: functools.partial(pickle.loads, pickle.dumps(model)) for name, model in models.items()}, 200)


def matchings(quick):
    """The five best matchings of a full table, and pairs of a full table, beside one best matching."""
    for n in sorted({*ITEMS, *GROWING_ITEMS[:-1]} if quick else {*ITEMS, *GROWING_ITEMS}):
        S = np.random.default_rng(1).normal(size=(n, n))
        one = {"max_matching": functools.partial(max_matching, S)}
        if n in ITEMS:
            left, right = np.divmod(np.arange(n * n), n)
            pairs = {"match_pairs": functools.partial(match_pairs, left, right, S.ravel()), **one}
            yield Door(f"match_pairs of all {n} x {n} pairs", pairs, 5, tuple(one))
        yield Door(f"the five best matchings, {n} x {n}", {"k_best_matchings": functools.partial(k_best_matchings, S, 5), **one}, 30,
                   tuple(one), n if n in GROWING_ITEMS else None)


def column_order(quick):
    """Predictions of rows in column order, as data frames have them, beside row order."""
    X, y = ranked(20_000 if quick else 200_000, 50)
    model = CuSumRank(random_state=0).fit(X[:2000], y[:2000])
    orders = {"column order": np.asfortranarray(X), "row order": X}
    yield Door(f"predict, {len(X):,} x 50 in column order", {name: functools.partial(model.predict, rows) for name, rows in orders.items()},
               3, ("row order",))


def ranked(n, d):
    """Rows with five equally frequent ranks."""
    data = datasets.dense(n * 5 // 4, d, seed=2)
    return data.X[:n], data.y[:n]


def rivals():
    """What users would fit instead: mord's where it is installed."""
    found = {"LogisticRegression": LogisticRegression()}
    if importlib.util.find_spec("mord"):
        from mord import LogisticAT

        found["mord LogisticAT"] = LogisticAT()
    return found


DOORS = (probabilities, default_fits, wide_rows, one_row, pickles, matchings, column_order)


# ---- measuring ----

def measure(quick):
    rounds = 3 if quick else ROUNDS
    found = [passed(door, rounds) for doors in DOORS for door in doors(quick)]
    return {"doors": found, "commands": commands(rounds, quick), "memory": memory(20_000 if quick else 200_000)}


def passed(door, rounds):
    """Microseconds of each call of a door, round by round."""
    contenders = {name: functools.partial(microseconds, call, enough(call)) for name, call in door.calls.items()}
    return {"what": door.what, "most": door.most, "beside": door.beside, "size": door.size, "took": take_turns(contenders, rounds)}


def enough(call):
    """How many calls take as long as a turn."""
    call()                              # once unmeasured: what is computed once is there
    return int(min(MOST_CALLS, max(1, ENOUGH // max(cpu_seconds(call), 1e-7))))


def microseconds(call, times):
    begin = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - begin) / times * 1e6


def commands(rounds, quick):
    """CPU seconds of whole processes: commands beside importing, and streams of one and ten epochs."""
    n = 2000 if quick else 40_000
    X, y = ranked(n, 20)
    with tempfile.TemporaryDirectory() as folder:
        path, ten, model = Path(folder, "rows.csv"), Path(folder, "ten.csv"), Path(folder, "model")
        header = ",".join([*(f"x{j}" for j in range(20)), "rank"])
        for file, some in ((path, n), (ten, 10)):
            np.savetxt(file, np.column_stack([X[:some], y[:some]]), ["%.6g"] * 20 + ["%d"], ",", header=header, comments="")
        fit = ["-m", "structperc", "fit", "cusum", path, "--target", "rank", "--model"]
        child([*fit, model])
        calls = {"import structperc": ["-c", "import structperc"], "structperc --help": ["-m", "structperc", "--help"],
                 "structperc predict, ten rows": ["-m", "structperc", "predict", model, ten]}
        calls |= {name: [*fit, Path(folder, name), "--stream", "--set", f"epochs={epochs}"] for epochs, name in STREAMS.items()}
        return take_turns({name: functools.partial(child, call) for name, call in calls.items()}, rounds)


def child(arguments):
    """CPU seconds of a Python with these arguments, its start included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *map(str, arguments)], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def memory(n):
    """Memory that calls need beside X, in multiples of X. Each call and order has a process of its own."""
    found = {}
    for method in MEMORY_GOALS:
        for order in "CF":
            code = f"import json, doors; print(json.dumps(doors.beside_x({method!r}, {order!r}, {n})))"
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parent)
            found[f"{method} {order}"] = json.loads(done.stdout)
    return found


def beside_x(method, order, n):
    """How many times the memory of X a call of an estimator needs beside X; None if unknown."""
    X, y = ranked(n, 50)
    X = np.array(X, order=order)
    model = CuSumRank(random_state=0).fit(X[:2000], y[:2000])
    model.predict_proba(X[:2000])
    arguments = (X,) if method.startswith("predict") else (X, y)
    grown = peak_growth(functools.partial(getattr(model, method), *arguments))[1]
    return None if grown is None else grown * 2**20 / X.nbytes


# ---- what is shown ----

def report(raw):
    rows = [[door["what"], *(f"{name}: {spread(times)}" for name, times in list(door["took"].items())[:1]),
             ", ".join(f"{name}: {spread(times)} ({shown(median(ratios(own(door), times)))} ×)"
                       for name, times in list(door["took"].items())[1:])] for door in raw["doors"]]
    absent = [name for name in ("mord", "river") if importlib.util.find_spec(name) is None]
    parts = ["## Calls",
             "CPU microseconds of a call, the median (lowest–highest) of the rounds. Behind a rival's time is ours divided by it."
             + f" Not installed here, and left out: {' and '.join(absent)}." * bool(absent),
             table(["door", "ours", "instead"], rows),
             "## Growth", "The exponent of the size of doors that differ in nothing else: the slope of a line through the logarithms.",
             table(["door", "sizes", "exponent"], [[what, ", ".join(f"{size:,}" for size in sizes), f"{exponent:.2f}"]
                                                   for what, sizes, exponent in growth(raw)]),
             "## Commands", "CPU seconds of whole processes, their start included.",
             table(["command", "CPU seconds"], [[name, spread(times)] for name, times in raw["commands"].items()]),
             "## Memory", "What a call of CuSumRank needs beside X, at most, in multiples of X of 50 float64 columns.",
             table(["call", "row order", "column order"], [[method, *(told(raw["memory"][f"{method} {order}"]) for order in "CF")]
                                                           for method in MEMORY_GOALS])]
    return "\n\n".join(parts)


def own(door):
    return next(iter(door["took"].values()))


def told(value):
    return "not known" if value is None else f"{value:.2f}"


def growth(raw):
    """Pairs of doors that differ in size only: their name, the sizes, the exponent."""
    families = {}
    for door in raw["doors"]:
        if door["size"] is not None:
            families.setdefault(door["what"].rpartition(",")[0], []).append((door["size"], median(own(door))))
    for what, points in families.items():
        sizes, times = zip(*points, strict=True)
        yield what, sizes, float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


EXPONENTS = {"predict_proba of 500 x 20": 1.1, "predict then partial_fit": 0.2, "the five best matchings": 3}


def goals(raw):
    reached = []
    for door in raw["doors"]:
        if not door["beside"]:
            reached.append(job.Goal(f"{door['what']}, microseconds", f"≤ {door['most']:g}", spread(own(door)),
                                    median(own(door)) <= door["most"]))
        for name in door["beside"]:
            found = ratios(own(door), door["took"][name])
            reached.append(job.Goal(f"{door['what']} ÷ {name}", f"≤ {door['most']:g}", spread(found), median(found) <= door["most"]))
    for what, _, exponent in growth(raw):
        reached.append(job.Goal(f"exponent: {what}", f"≤ {EXPONENTS[what]:g}", f"{exponent:.2f}", exponent <= EXPONENTS[what]))
    took = raw["commands"]
    for name in ("structperc --help", "structperc predict, ten rows"):
        more = median([a - b for a, b in zip(took[name], took["import structperc"], strict=True)])
        reached.append(job.Goal(f"{name}, CPU seconds beside import structperc", f"≤ {BEHIND_IMPORT}", f"{more:.2f}",
                                more <= BEHIND_IMPORT))
    streams = ratios(took[STREAMS[10]], took[STREAMS[1]])
    reached.append(job.Goal("a stream of ten epochs ÷ of one", "≤ 1.3", spread(streams), median(streams) <= 1.3))
    for method, most in MEMORY_GOALS.items():
        found = raw["memory"][f"{method} F"]
        if found is not None:
            reached.append(job.Goal(f"memory beside X in column order, {method}, multiples of X", f"≤ {most:g}", f"{found:.2f}",
                                    found <= most))
    return reached


def draw(raw, folder):
    """Nothing here is worth a figure."""


if __name__ == "__main__":
    job.run("doors", "Doors: what a call costs users", measure, report, goals, draw)
