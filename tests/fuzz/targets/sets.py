"""Sets of StructureConformal beside all outputs, and effects with their intervals."""

import functools
import itertools
import pickle

import numpy as np

from fuzz import hostile
from fuzz.promises import attempt, expect, plain
from structperc import Engine, effects
from structperc.estimators import StructureConformal
from structperc.solvers import max_clusters

TAGS = ("A", "B", "C")
PARTITIONS = [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 2]]


def sentences(draw, n):
    """Taggings of up to three tokens, most of them right for a linear model."""
    X = [draw.normal(size=(draw.integers(1, 4), 2)) for _ in range(n)]
    return X, [[TAGS[int(v)] for v in np.digitize(x[:, 0] + 0.5 * draw.normal(size=len(x)), (-0.5, 0.5))] for x in X]


def squares(draw, n):
    """Clusterings of three items."""
    X = [draw.normal(size=(3, 3, 2)) for _ in range(n)]
    return X, [max_clusters((x + x.transpose(1, 0, 2))[:, :, 0] + 0.3 * draw.normal()).labels.tolist() for x in X]


def labels(draw, n):
    X = draw.normal(size=(n, 2))
    return list(X), (np.digitize(X[:, 0] + 0.5 * draw.normal(size=n), (-0.5, 0.5)) + 1).tolist()


# The problem: its examples, and all outputs of one of them.
PROBLEMS = {
    "sequence": (sentences, lambda x: [list(tags) for tags in itertools.product(TAGS, repeat=len(x))]),
    "clusters": (squares, lambda x: PARTITIONS),
    "multiclass": (labels, lambda x: [1, 2, 3]),
}


# Of effects: rules that learn one direction, and one that learns several. Levels have enough refits, or too few.
RULES = ({"update": "logistic", "epochs": 2}, {"trainer": "cumulative-logit", "penalty": 0.1}, {"epochs": 2},
         {"preset": "paper", "epochs": 2}, {"problem": "interval-pa", "epochs": 2}, {"problem": "cusum", "epochs": 2})
INTERVALS = (*((0.5, 3), (0.5, 11), (0.75, 7), (0.9, 19)) * 6, (0.5, 0), (0.9, 3), (1.0, 9))


@functools.cache
def engine_of(problem):
    """A trained engine; whoever asks it changes nothing."""
    X, y = PROBLEMS[problem][0](np.random.default_rng(0), 40)
    classes = {"sequence": list(TAGS), "multiclass": [1, 2, 3]}.get(problem)
    return Engine(problem, epochs=2, random_state=0, classes=classes).fit(np.stack(X) if problem == "multiclass" else X, y)


def conformal_sets(random) -> bool:
    """Membership, lists, counts and atoms of a set are those of all outputs, one by one, and outlast pickling."""
    problem = random.choice(tuple(PROBLEMS))
    make, outputs_of = PROBLEMS[problem]
    draw = np.random.default_rng(random.randrange(2**32))
    X, y = make(draw, random.choice((3, 9, 19)))
    X = np.stack(X) if problem == "multiclass" else X
    options = {"coverage": random.choice((0.1, 0.5, 0.8, 0.99)), "scale": random.choice((None, "length", "sqrt-length", "doubt", "margin")),
               "category": random.choice((None, None, lambda x: len(x.rows) % 2))}
    told, model = attempt(lambda: StructureConformal(engine_of(problem), **options).calibrate(X, y))
    if not told:
        return False
    answer = model.predict(X[:1])[0]
    if random.random() < 0.3:
        copied, again = attempt(lambda: pickle.loads(pickle.dumps(answer)))
        expect(copied, "a set cannot be pickled")
        answer = again
    every = outputs_of(X[0])
    members = [one for one in every if one in answer]
    limit = random.choice((1, 3, 100))
    best, (low, high) = answer.k_best(limit), answer.count(limit)
    expect(answer.prediction in answer and len(members) > 0, "a set denies its own prediction")
    expect(low <= len(members) <= high, f"a set of {len(members)} outputs counts {low} to {high}")
    expect(len(best) == min(limit, len(members)) and best.complete == (len(members) <= limit), f"{len(best)} of {len(members)} are listed")
    names = [plain(one) for one in best]
    expect(all(one in answer for one in best) and len({str(one) for one in names}) == len(names), f"a list repeats or denies: {names}")
    expect(set(answer.certain) <= set(answer.possible), "certain atoms are not possible")
    if problem == "sequence" and answer.exact:
        atoms = [{f"token {t}: {tag}" for t, tag in enumerate(one)} for one in members]
        expect(set(answer.certain) == set.intersection(*atoms), f"certain: {answer.certain}")
        expect(set(answer.possible) == set.union(*atoms), f"possible: {answer.possible}")
    for _ in range(2):
        value = random.choice(hostile.JSON)
        attempt(lambda value=value: value in answer)
    for call in (repr, lambda one: one._repr_html_(), lambda one: one.text(random.choice((1, 40, 200))), lambda one: one.states):
        attempt(call, answer)
    attempt(answer.k_best, random.choice((0, -1, None, "a", 2**70)))
    measured, table = attempt(model.evaluate, X, y)
    expect(not measured or all(np.isfinite(value) or name for name, value in table.items()), "no measures")
    return True


def drawn_effects(random) -> bool:
    """Infinite effects have a remark, intervals are in order, and the same seed has the same ones."""
    draw, n, d = np.random.default_rng(random.randrange(2**32)), random.choice((4, 12, 40)), random.randrange(1, 4)
    X = draw.normal(size=(n, d)) * 10.0 ** draw.integers(-3, 4, d) + random.choice((0, 0, 5, 1e6))
    for j in range(d):
        odd = random.randrange(8)
        if odd < 3:
            X[:, j] = (0.0, X[:, 0] * random.choice((1, -2)), (X[:, j] > 0) * 1.0)[odd]
    y = draw.integers(1, random.choice((3, 4)), n) if random.random() < 0.5 else np.digitize(X[:, 0], np.quantile(X[:, 0], [0.4, 0.7])) + 1
    weights = random.choice((None, None, draw.integers(0, 3, n) * 1.0))
    how = random.choice(RULES)
    taken, engine = attempt(lambda: Engine(**{"problem": "prank", "random_state": 0} | how).fit(X, y, sample_weight=weights))
    if not taken:
        return False
    has_unit = not how.keys().isdisjoint(("update", "trainer"))                # weights of other rules have none
    level, n_boot = random.choice(INTERVALS)
    options = {"n_boot": n_boot, "level": level, "random_state": 0, "sample_weight": weights,
               "scale": random.choice(("direction", "log-odds")) if has_unit or random.random() < 0.1 else "direction",
               "groups": random.choice((None, None, np.arange(n) // 2))}
    taken, found = attempt(effects, engine, X, y, **options)
    if not taken:
        return False
    expect(len(found.columns) == d == len(found.effect), "a column has no effect")
    expect(not np.isnan(found.effect).any() and (found.lower <= found.upper).all(), f"{found.effect}: {found.lower} to {found.upper}")
    for j in range(d):
        if np.ptp(X[:, j]) == 0:
            expect(found.effect[j] == found.lower[j] == found.upper[j] == 0, f"a constant column has the effect {found.effect[j]}")
        expect(np.isfinite(found.effect[j]) or found.remarks[j], "an infinite effect without a remark")
    again = effects(engine, X, y, **options)
    expect(np.array_equal(again.lower, found.lower) and np.array_equal(again.upper, found.upper), "the same seed has other intervals")
    for call in (str, repr, lambda one: one._repr_html_()):
        attempt(call, found)
    return True
