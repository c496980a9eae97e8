"""Data in parts, and trainings of them in shards."""

import numpy as np
from plain import Engine

from structperc import distributed as shards

RANDOM = np.random.default_rng(8)
X = RANDOM.normal(size=(60, 5))
Y = np.digitize(X @ [2.0, -1.0, 0.5, 0.0, 1.0] + RANDOM.normal(size=60), [-1.0, 1.0]) + 1
WORDS = [[[f"w{i}", f"p{j}"] for i, j in RANDOM.integers(0, 9, (n, 2))] for n in RANDOM.integers(1, 6, 40)]
TAGS = [[f"t{int(token[0][1:]) % 3}" for token in sentence] for sentence in WORDS]
OPTIONS = {"n_shards": 3, "epochs": 4, "average": True, "shuffle": True, "random_state": 6}
PARTS = [(X[i:i + 20], Y[i:i + 20]) for i in (0, 20, 40)]


def weights_of(engine):
    return engine.parts_.weights.vector()


def trained(parts=PARTS, problem="cusum", classes=(1, 2, 3), **how):
    options = {name: how.pop(name) for name in tuple(how) if name not in ("client", "read", "stream", "dtype", "resume", "y")}
    return shards.fit(Engine(problem, classes=classes, **OPTIONS | options), parts, **how)
