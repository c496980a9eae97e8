"""One rule for scores of parts that are called directly: finite, or -inf to forbid an atom. NaN and +inf raise an error."""

import every_problem
import numpy as np
import pytest
from plain import Engine

from structperc.errors import DataError


def numbers(answer) -> list:
    """All numbers that a part returns."""
    if answer is None:
        return []
    if isinstance(answer, (list, tuple)):
        return [number for one in answer for number in numbers(one)]
    return np.asarray(answer, dtype=float).ravel().tolist()


def trees(**options):
    """A parser of tokens with cells or vectors, and two sentences."""
    X = [np.array([[0.0, 1], [1, 2]]), np.array([[2.0, 1], [1, 2], [3, 0]])] * 2
    y = [[(2, "x"), (0, "root")], [(2, "x"), (0, "root"), (2, "y")]] * 2
    return Engine("parsing", epochs=1, random_state=0, **options).fit(X, y), X[1:], y[1:]


def decisions():
    X = list(np.random.default_rng(0).normal(size=(9, 4, 2)))
    y = [(int(np.argmin(x @ [1, 0.5])),) for x in X]
    return Engine("decisions", decide=lambda costs, x: (int(np.argmin(costs)),), epochs=1).fit(X, y), X, y


OTHERS = {"parsing": trees, "joint labels": lambda: trees(labels="joint"), "projective": lambda: trees(projective=True),
          "siblings": lambda: trees(projective=True, order=2), "vectors": lambda: trees(tokens="vectors"), "decisions": decisions}


@pytest.mark.parametrize("name", [*every_problem.MODELS, *OTHERS])
def test_scores_without_meaning_are_refused(name):
    engine, X, y = OTHERS[name]() if name in OTHERS else every_problem.engine_and_examples(name)
    parts, rows = engine.parts_, engine.read(X[:1])
    x, scores = next(iter(engine.model_.scores(rows)))
    gold = parts.outputs.encode(y[:1], rows)[0]
    solver = parts.argmax
    calls = (solver.argmax, solver.marginals, lambda s, x: solver.argmax_augmented(s, x, gold, parts.loss, 1.0),
             lambda s, x: solver.k_best(s, x, 3), solver.max_marginals, solver.chain_of)
    for bad in (np.nan, np.inf):
        for a in (0, len(scores) - 1):
            hostile = scores.copy()
            hostile[a] = bad
            for call in calls:
                if call(scores.copy(), x) is None:
                    continue                            # the solver has no such method
                with pytest.raises(DataError, match=r"is (nan|inf)|overflow|NaN"):
                    call(hostile.copy(), x)
    for call in calls:                                  # finite ones whose sums overflow
        try:
            answer = numbers(call(np.full(len(scores), 1.7e308), x))
        except DataError:
            continue
        assert not np.isnan(answer).any() and not np.isposinf(answer).any()


@pytest.mark.parametrize("name", ["cusum", "prank", "multiclass", "sequence"])
def test_minus_infinity_forbids(name):
    engine, X, _ = every_problem.engine_and_examples(name)
    x, scores = next(iter(engine.model_.scores(engine.read(X[:1]))))
    scores = scores.copy()
    scores[0] = -np.inf
    log_z, expected = engine.parts_.argmax.marginals(scores, x)
    assert np.isfinite(log_z) and np.isfinite(expected).all() and expected[0] == 0
