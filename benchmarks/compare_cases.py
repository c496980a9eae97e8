"""Cases for `compare.py`. One Python per commit reads the name of a case in each line. It writes the time and the result of a call.

Only public names of the first commits are used, so that old commits run the same cases. Sizes: each call takes 0.05 to 1 s.
"""

import functools
import hashlib
import json
import os
import sys
import tempfile

import numpy as np
from measuring import cpu_seconds
from scipy import sparse

from structperc import Engine, metrics
from structperc.errors import OptionError

SEED = 0


@functools.cache
def numbers(n, d, ranks, kind="float64"):
    random = np.random.default_rng(SEED)
    X = random.standard_normal((n, d))
    score = X @ random.standard_normal(d) + random.normal(size=n)
    y = np.searchsorted(np.quantile(score, np.linspace(0, 1, ranks + 1)[1:-1]), score) + 1
    return X.astype(kind), y


@functools.cache
def few_numbers(n, d, per_row, classes):
    random = np.random.default_rng(SEED)
    columns = random.integers(0, d, (n, per_row))
    X = sparse.csr_matrix((np.ones(columns.size), columns.ravel(), np.arange(n + 1) * per_row), (n, d))
    X.sum_duplicates()
    return X, np.argmax(X @ random.standard_normal((d, classes)) + random.normal(size=(n, classes)), axis=1)


@functools.cache
def sentences(n):
    """Words with neighbours, as dicts; labels follow the words."""
    random = np.random.default_rng(SEED)
    X, y = [], []
    for length in random.integers(5, 25, n):
        words = random.zipf(1.5, length) % 3000
        X.append([{"word": f"w{word}", "before": f"w{before}", "shape": f"s{word % 7}"}
                  for word, before in zip(words, [-1, *words[:-1]], strict=True)])
        y.append([f"t{(word + (before % 3 == 0)) % 9}" for word, before in zip(words, [-1, *words[:-1]], strict=True)])
    return X, y


def engine_of(problem, **options):
    """An engine of the plain algorithm. Commits without presets have no other."""
    try:
        return Engine(problem, preset="paper", **options)
    except OptionError as error:
        if "'preset'" not in str(error):
            raise
        return Engine(problem, **options)


@functools.cache
def trained(problem, kind, **options):
    X, y = numbers(20_000, 50, 5, kind)
    return engine_of(problem, epochs=2, **options).fit(X, y)


def fit(problem, data, **options):
    X, y = data
    return engine_of(problem, **options).fit(X, y), X


def predictions(fitted):
    engine, X = fitted
    return engine.predict(X[:2000])


def one_row_steps(n):
    X, y = numbers(n, 50, 5)
    engine = engine_of("cusum", classes=[1, 2, 3, 4, 5])
    for i in range(n):
        engine.partial_fit(X[i:i + 1], y[i:i + 1])
    return engine, X


def one_row_answers(n):
    X, _ = numbers(20_000, 50, 5)
    engine = trained("cusum", "float64")
    return np.concatenate([engine.predict(X[i:i + 1]) for i in range(n)])


def many_answers(times, kind):
    X, _ = numbers(20_000, 50, 5, kind)
    engine = trained("cusum", kind)
    return [engine.predict(X) for _ in range(times)][-1]


def scaled(kind, order):
    """One epoch on columns brought to one scale, which takes longer than the epoch."""
    X, y = numbers(200_000, 50, 5, kind)
    return fit("prank", (np.asarray(X, order=order), y), scale=True, epochs=1)


def measured(n):
    """Measures of predictions that are known."""
    X, y = numbers(n, 10, 5)
    engine = engine_of("prank", epochs=1).fit(X, y)
    found = [metrics.measures(engine, X, y, predicted=engine.predict(X)) for _ in range(3)][-1]
    return np.array(sorted(found.values()))


def smallest_fits(times):
    X, y = numbers(10, 10, 5)
    return [engine_of("cusum").fit(X, y) for _ in range(times)][-1].predict(X)


def saved_and_loaded(times):
    engine, X = trained("cusum", "float64"), numbers(20_000, 50, 5)[0]
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(times):
            engine.save(os.path.join(folder, "model"))
            loaded = Engine.load(os.path.join(folder, "model"))
    return loaded.predict(X[:2000])


CASES = {
    "cusum, dense, d = 10": lambda: predictions(fit("cusum", numbers(100_000, 10, 5), epochs=5, average=True)),
    "cusum, dense, d = 136": lambda: predictions(fit("cusum", numbers(20_000, 136, 5), epochs=5, average=True)),
    "cusum, float32, shuffled": lambda: predictions(fit("cusum", numbers(50_000, 50, 5, "float32"), epochs=5, shuffle=True,
                                                        random_state=0)),
    "prank, dense, d = 50": lambda: predictions(fit("prank", numbers(50_000, 50, 5), epochs=5, average=True)),
    "prank, exact steps": lambda: predictions(fit("prank", numbers(50_000, 10, 5), update="exact-pa1", C=0.1, epochs=5)),
    "interval-pa, dense": lambda: predictions(fit("interval-pa", numbers(50_000, 20, 5), epochs=5)),
    "multiclass, sparse": lambda: predictions(fit("multiclass", few_numbers(50_000, 20_000, 30, 8), epochs=3, average=True)),
    "kernel, budget": lambda: predictions(fit("cusum", numbers(3_000, 10, 5), plugins=["dual-kernel"], kernel="rbf", budget=300)),
    "tagging, named features": lambda: predictions(fit("sequence", sentences(1_500), epochs=5, average=True)),
    "predict, 20,000 rows": lambda: many_answers(20, "float64"),
    "predict, float32": lambda: many_answers(20, "float32"),
    "predict, single rows": lambda: one_row_answers(10_000),
    "partial_fit, single rows": lambda: predictions(one_row_steps(10_000)),
    "fit, scaled": lambda: predictions(scaled("float64", "C")),
    "fit, scaled, float32": lambda: predictions(scaled("float32", "C")),
    "fit, scaled, column by column": lambda: predictions(scaled("float64", "F")),
    "measures, 100,000 labels": lambda: measured(100_000),
    "fit, ten rows": lambda: smallest_fits(100),
    "save and load": lambda: saved_and_loaded(20),
}


def digest(found):
    """The digest of predictions: equal bits have equal digests."""
    if isinstance(found, np.ndarray) and found.dtype != object:
        return hashlib.sha256(np.ascontiguousarray(found)).hexdigest()
    return hashlib.sha256(json.dumps([list(map(str, one)) for one in found]).encode()).hexdigest()


def main():
    for line in sys.stdin:
        found = []
        try:
            case = CASES[line.strip()]
            seconds = cpu_seconds(lambda case=case, found=found: found.append(case()))
            answer = {"seconds": seconds, "digest": digest(found[0])}
        except Exception as error:      # an old commit may lack what a case needs
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
