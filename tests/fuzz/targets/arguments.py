"""Arguments of fit, partial_fit and predicting calls: X, y, sample weights, offsets, lengths, groups, allowed, costs, k."""

import numpy as np
import scipy.sparse as sp

from fuzz import hostile, kinds
from fuzz.mutators import disturbed, spoil, spoil_array
from fuzz.promises import READING, attempt, expect


def listed(value):
    """X or y as nested lists."""
    return value if isinstance(value, list) else (value.toarray() if sp.issparse(value) else np.asarray(value)).tolist()


def called(random, one, X, acts=False, **told):
    """Makes a random call with X, and returns whether it was accepted. If it fails, the engine is unchanged, unless X `acts`."""
    kind, engine = one.kind, one.engine
    if random.random() < 0.85:
        name = random.choice(list(READING))
        accepted, _ = attempt(READING[name], engine, X, **told)
        if not accepted and not acts and random.random() < 0.05:
            expect(kinds.dumped(engine) == one.content, f"a refused call of {name} changed the engine")
        return accepted
    return trained(random, one, X, kind.y, acts, **told, **kind.fitting)


def trained(random, one, X, y, acts=False, **told):
    """Calls fit or partial_fit, and returns whether it was accepted, as `called` does."""
    call = random.choice(("fit", "partial_fit") if one.kind.online else ("fit",))
    accepted, _ = attempt(getattr(one.engine, call), X, y, **told)
    if accepted:
        one.reset()
    elif not acts and random.random() < 0.3:
        expect(kinds.dumped(one.engine) == one.content, f"a refused {call} changed the engine")
    return accepted


def hostile_rows(random):
    """X: hostile cells, types, shapes, broken sparse matrices, objects that run code while they are read."""
    one = kinds.pick(random)
    X = one.kind.X
    act = random.randrange(12)
    if act < 3:
        X = spoil(random, listed(X))
    elif act < 5 and not isinstance(X, list):
        X = spoil_array(random, np.asarray(X.toarray() if sp.issparse(X) else X))
    elif act < 8 and not isinstance(X, list):
        X = broken_sparse(random, X)
    elif act == 8:
        X = disturbed(random, listed(X), random.choice((None, None, again(random, one))))
    elif act == 9:
        rows = np.zeros((12, 3)) if isinstance(X, list) else np.asarray(X.toarray() if sp.issparse(X) else X)
        X = hostile.Array(again(random, one), rows)
    elif act == 10:
        X = hostile.value(random)
    else:
        X = kinds.pick(random).kind.X
    accepted = called(random, one, X, acts=act in (8, 9), **one.kind.told)
    if act in (8, 9):
        one.reset()             # the object may have trained the engine
    return accepted


def again(random, one):
    """A call of the same engine, for use within another call."""
    kind, engine = one.kind, one.engine
    calls = [lambda: engine.predict(kind.X, **kind.told), lambda: engine.fit(kind.X, kind.y, **kind.told, **kind.fitting),
             lambda: kinds.dumped(engine)]
    if kind.online:
        calls.append(lambda: engine.partial_fit(kind.X, kind.y, **kind.told, **kind.fitting))
    call = random.choice(calls)
    return lambda: attempt(call)


def broken_sparse(random, X):
    """A sparse matrix with inconsistent arrays, which scipy does not check again."""
    found = random.choice((sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array))(sp.csr_array(X), copy=True)
    for _ in range(random.choice((1, 1, 2))):
        names = ("row", "col", "data") if found.format == "coo" else ("indptr", "indices", "data")
        name = random.choice(names)
        broken = spoil_array(random, np.asarray(getattr(found, name)))
        if random.random() < 0.3 and broken.ndim == 1 and broken.size and broken.dtype.kind == "i":
            broken = broken.astype(np.int64)
            broken[random.randrange(broken.size)] = random.choice((-1, 2**31, 2**62, -(2**62), 2**63 - 1, -(2**63), 3, 40))
        try:
            setattr(found, name, broken)
        except Exception:               # scipy raises an error at once
            return found
    return found


def hostile_answers(random):
    """y, allowed and costs: hostile entries, missing ones, outputs of other kinds."""
    one = kinds.pick(random)
    kind = one.kind
    X, y, extra = kind.X, kind.y, dict(kind.fitting)
    act = random.randrange(10)
    if act < 4:
        y = spoil(random, listed(y))
    elif act < 5:
        y = spoil_array(random, np.asarray(y)) if not isinstance(y, list) else y[:-1]
    elif act == 5:
        y = disturbed(random, listed(y))
    elif act == 6:
        y = random.choice((hostile.value(random), kinds.pick(random).kind.y, set(map(str, listed(y))), dict(enumerate(listed(y)))))
    elif act == 7:
        extra["costs"] = spoil(random, np.ones((12, 3)).tolist())
    else:
        extra["allowed"] = spoil(random, allowed(random, kind))
        if random.random() < 0.5:
            return attempt(READING["predict"], one.engine, X, **kind.told, allowed=extra["allowed"])[0]
    return trained(random, one, X, y, **kind.told, **extra)


def allowed(random, kind):
    """Allowed labels of each row of each example if outputs are lists of labels, otherwise y."""
    return [[random.sample(sorted(set(sum(map(list, kind.y), []))), 2) if random.random() < 0.5 else [label] for label in labels]
            if isinstance(labels, list) and all(isinstance(one, (int, str)) for one in labels) else [labels]
            for labels in kind.y] if isinstance(kind.y, list) and isinstance(kind.y[0], list) else listed(kind.y)


SEGMENTS = ([3, 1, 4, 4], [0, 3, 4, 8, 12], [1, 2, 3] * 4, [1] * 12, [12], [0, 12], [6, 6])
WRAPPING = ([2**62] * 4 + [12], [0, 2**63 - 1, 12], [0, -(2**63), 2**62, 12], [2**64 - 4, 16], [0, 5, 3, 12], [-1, 13], [0, 2**60,
                                                                                                                         2**60 + 5, 12],
            [0, 0, 12, 12], [2**63, 2**63, 12], [0, 12, 2**62], [13], [])


def hostile_segments(random):
    """offsets, lengths, groups, sample weights, k, against and kind."""
    one = kinds.pick(random)
    kind = one.kind
    told = dict(kind.told)
    for _ in range(random.choice((1, 1, 1, 2))):
        name = random.choice(("offsets", "lengths", "groups", "sample_weight"))
        if random.random() < 0.7:
            told.pop("lengths", None), told.pop("groups", None)
        told[name] = segments(random, name)
    if random.random() < 0.25:
        return trained(random, one, kind.X, kind.y, **{**kind.fitting, **told})
    told.pop("sample_weight", None)
    act = random.randrange(6)
    if act == 0:
        k = hostile.value(random)
        return not hostile.asks_for_much("k", k) and attempt(one.engine.predict, kind.X, k=k, **told)[0]
    if act == 1:
        return attempt(one.engine.predict_marginals, kind.X, kind=hostile.value(random), **told)[0]
    if act == 2:
        x = kind.X[0] if isinstance(kind.X, list) else kind.X[:1]
        return attempt(one.engine.explain, x, against=hostile.value(random))[0]
    return attempt(READING[random.choice(list(READING))], one.engine, kind.X, **told)[0]


def segments(random, name):
    given = random.choice((*SEGMENTS, *WRAPPING))
    act = random.randrange(8)
    if act < 3:
        return np.array(given, dtype=object) if max(given, default=0) >= 2**63 and random.random() < 0.5 else narrowed(random, given)
    if act < 5:
        return spoil(random, given)
    if act == 5:
        return spoil_array(random, narrowed(random, given))
    if act == 6:
        return disturbed(random, given)
    return hostile.value(random)


def narrowed(random, given):
    """Whole numbers as an array of a random type, in which they may overflow."""
    dtype = random.choice((np.int64, np.int64, np.uint64, np.int32, np.float64, np.uint8))
    return np.array([value % 2**64 for value in given], dtype=np.uint64).astype(dtype)

