"""Programs in drawn units and hidden trees beside enumerations, scaled kernels beside other forms of their rows."""

import itertools
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from fuzz.promises import attempt, expect
from structperc import Engine
from structperc.solvers import ILP


def drawn_programs(random) -> bool:
    """A 0/1 program in any unit: its solution breaks no row. If it is called exact, rounding is all that the best has more."""
    n, m = random.randrange(1, 7), random.randrange(1, 4)
    unit, most = 10.0 ** random.randrange(-12, 13), random.choice((3, 100, 10**6))
    A = np.array([[random.randrange(-most, most + 1) for _ in range(n)] for _ in range(m)]) * unit
    b = np.array([random.randrange(-most, 3 * most) for _ in range(m)]) * unit
    scores = np.array([random.randrange(-9, 10) * 10.0 ** random.choice((0, 0, 0, -6, 6)) for _ in range(n)])
    solved, solution = attempt(lambda: ILP(A, b).solve(scores, time_limit=5.0))
    rows = [[Fraction(float(a)) for a in row] for row in A]
    limits, worth = [Fraction(float(limit)) for limit in b], [Fraction(float(score)) for score in scores]

    def total(amounts, v):
        return sum(amount for amount, one in zip(amounts, v, strict=True) if one)

    good = [v for v in itertools.product((0, 1), repeat=n) if all(total(row, v) <= limit for row, limit in zip(rows, limits, strict=True))]
    if not solved:
        expect(not good or "contradict" not in str(solution), "a program with a solution is called infeasible")
        return False
    v = tuple(int(one) for one in np.asarray(solution.v))
    slack = 0 if unit >= 1 else Fraction(1, 10**12)                     # relative to the terms: fractions of units are rounded
    for row, limit in zip(rows, limits, strict=True):
        expect(total(row, v) <= limit + slack * (total(map(abs, row), v) + abs(limit)), f"the solution {v} breaks a row")
    if good and solution.status.startswith("exact"):
        short = max(total(worth, other) for other in good) - total(worth, v)
        expect(short <= Fraction(1, 10**9) * (1 + sum(map(abs, worth))), f"{solution.status}: {v} is {float(short)} below the best")
    return True


def hidden_trees(random) -> bool:
    """Of clusters with solver="trees", k best are different, and probabilities, if there are any, are those of one distribution."""
    draw, n = np.random.default_rng(random.randrange(2**32)), random.randrange(2, 5)
    X = [draw.normal(size=(n, n, 2)) for _ in range(5)]
    y = [draw.integers(0, 2, n) for _ in range(5)]
    engine = Engine("clusters", solver="trees", random_state=0, epochs=2, preset=random.choice(("paper", "recommended"))).fit(X, y)
    ranked, best = attempt(engine.predict_k_best, X[:1], random.choice((1, 3, 50)))
    if ranked:
        names = [tuple(output.tolist()) for output, _ in best[0]]
        expect(len(set(names)) == len(names), f"a clustering is listed twice: {names}")
        expect(names[0] == tuple(engine.predict(X[:1])[0].tolist()), "the best of k is not the prediction")
    labellings = [w for w in itertools.product(range(n), repeat=n) if all(w[i] <= max(w[:i], default=-1) + 1 for i in range(n))]
    told, logs = attempt(lambda: [engine.log_probability(X[:1], [list(w)])[0] for w in labellings])
    if told:
        expect(abs(np.exp(logs).sum() - 1) < 1e-6, f"the probabilities of all clusterings add up to {np.exp(logs).sum()}")
    attempt(engine.margins, X[:1])
    return ranked or told


def scaled_kernels(random) -> bool:
    """A kernel model, with scaled columns too, predicts the same for dense and sparse rows, and one by one."""
    draw, problem = np.random.default_rng(random.randrange(2**32)), random.choice(("cusum", "multiclass", "prank"))
    X = draw.normal(size=(30, 3)) * 10.0 ** draw.integers(-2, 3, 3) + random.choice((0, 5))
    y = np.digitize(X[:, 0], np.quantile(X[:, 0], [0.3, 0.7])) + 1
    kernel = random.choice(({"kernel": "rbf"}, {"kernel": "poly", "degree": 2}, {"kernel": "linear"}, {"kernel": "rbf", "gamma": 0.5}))
    fitted, engine = attempt(lambda: Engine(problem, plugins=["dual-kernel"], scale=random.choice((True, "auto", False)), epochs=2,
                                            random_state=0, **kernel).fit(sp.csr_array(X) if random.random() < 0.3 else X, y))
    if not fitted:
        return False
    expected = engine.predict(X).tolist()
    for form in (sp.csr_array(X), sp.csr_matrix(X), np.asfortranarray(X)):
        taken, found = attempt(engine.predict, form)
        expect(not taken or found.tolist() == expected, "another form of X has other predictions")
    expect([engine.predict(X[i:i + 1])[0] for i in range(5)] == expected[:5], "single rows have other predictions")
    return True
