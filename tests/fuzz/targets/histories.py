"""Histories: an engine that fails, is saved, pickled and copied ends with the bytes of a twin that was only trained."""

import copy
import pickle

from fuzz import hostile, kinds
from fuzz.mutators import spoil
from fuzz.promises import READING, attempt, expect
from fuzz.targets.arguments import listed


def twins(random):
    """Four to ten steps of an engine and its twin."""
    one = kinds.pick(random)
    kind = one.kind
    engine, twin = kind.load(one.content), kind.load(one.content)
    failures = 0
    for _ in range(random.randrange(4, 11)):
        act = random.randrange(8)
        if act < 2 and kind.online:
            learned = {attempt(each.partial_fit, kind.X, kind.y, **kind.told, **kind.fitting)[0] for each in (engine, twin)}
            expect(len(learned) == 1, "a step is taken by one of two equal engines alone")
        elif act == 2 and random.random() < 0.3:
            for each in (engine, twin):
                each.fit(kind.X, kind.y, **kind.told, **kind.fitting)
        elif act < 5:
            failures += unusual(random, kind, engine, twin)
        elif act == 5:
            engine = kind.load(kinds.dumped(engine))
        elif act == 6:
            engine = copied(random, engine)
        else:
            attempt(READING[random.choice(list(READING))], engine, kind.X, **kind.told)
    expect(kinds.dumped(engine) == kinds.dumped(twin), "an engine does not end in the bytes of its twin")
    return failures == 0


def copied(random, engine):
    return random.choice((copy.copy, copy.deepcopy, lambda engine: pickle.loads(pickle.dumps(engine))))(engine)


def unusual(random, kind, engine, twin):
    """A step that usually fails. Returns whether it failed. The twin makes the step only if it succeeds."""
    X, y, told = kind.X, kind.y, dict(kind.told) | kind.fitting
    act = random.randrange(4)
    if act == 0:
        y = listed(y)[:-1] + [hostile.Raises()]
    elif act == 1:
        X = [*listed(X)[:-1], random.choice((None, [float("nan")] * 3, "(", 7, hostile.Raises()))]
    elif act == 2:
        told["sample_weight"] = spoil(random, [float("nan"), -1.0, 2.0])
    else:
        told["offsets"] = [0, 2**63 - 1, 5]
    call = "partial_fit" if kind.online and random.random() < 0.6 else "fit"
    accepted, _ = attempt(getattr(engine, call), X, y, **told)
    if accepted:
        getattr(twin, call)(X, y, **told)
    return not accepted
