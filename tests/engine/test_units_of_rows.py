"""Outputs, solvers, losses and rules see rows in the units of the user. Only maps see them on one scale, and only in training."""

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_array

from structperc import Engine, hookimpl
from structperc.components import Argmax, Loss, Outputs, RowFeatures, Update, VectorFeatures
from structperc.errors import PluginError
from structperc.streams import Slices, fit_stream

RNG = np.random.default_rng(0)
SEEN = {}


def see(who, x):
    SEEN.setdefault(who, set()).update(map(float, x.rows[:, 0]))


class Sets(Outputs):
    def check_structure(self, x, y):
        see("check_structure", x)
        super().check_structure(x, y)

    def encode(self, y, rows):
        SEEN.setdefault("encode", set()).update(map(float, rows.example(0).rows[:, 0]))
        if not rows.sparse:
            SEEN["encode"].update(map(float, rows.X[:, 0]))
        return super().encode(y, rows)

    def decode(self, y, x):
        see("decode", x)
        return y

    def enumerate(self, x):
        see("enumerate", x)
        return [(a,) for a in range(x.n_rows)]


class One(Argmax):
    def argmax(self, scores, x):
        see("argmax", x)
        return (int(np.argmax(scores)),)


class Cost(Loss):
    def value(self, gold, y, x=None):
        see("loss", x)
        return float(gold != y)


class Rule(Update):
    def step(self, trial):
        see("update", trial.x)
        return trial.difference()


class Affine(VectorFeatures):
    """A map in Python with weights of other units."""

    def vectors(self, x):
        see("map", x)
        return x.rows

    def rescaled(self, w, shift, spread):
        return w / spread


class Problem:
    def __init__(self, own_map=False):
        self.own_map = own_map

    @hookimpl
    def structperc_outputs(self, context):
        return Sets()

    @hookimpl
    def structperc_features(self, context):
        return Affine(context.n_features) if self.own_map else RowFeatures(context.n_features)

    @hookimpl
    def structperc_argmax(self, context):
        return One()


X = [np.column_stack([RNG.integers(10, 90, 3), RNG.normal(size=(3, 2))]) for _ in range(24)]
Y = [(int(np.argmax(block[:, 1])),) for block in X]
OWN = {float(value) for block in X for value in block[:, 0]}


def engine(own_map=False, **options):
    return Engine(Problem(own_map), loss=Cost(), **{"update": Rule(), "epochs": 2, "random_state": 0, "scale": True, **options})


def flat():
    return np.vstack(X), [3] * len(X)


TRAININGS = {
    "fit": lambda own_map: engine(own_map).fit(X, Y),
    "default": lambda own_map: engine(own_map, scale="auto").fit(X, Y),
    "partial_fit": lambda own_map: engine(own_map).partial_fit(X[:12], Y[:12]).partial_fit(X[12:], Y[12:]),
    "after fit": lambda own_map: engine(own_map).fit(X, Y).partial_fit(X[:5], Y[:5]),
    "shards": lambda own_map: engine(own_map, n_shards=2).fit(X, Y),
    "stream": lambda own_map: fit_stream(engine(own_map), Slices(X, Y, rows=8)),
    "sparse": lambda own_map: engine(own_map).fit(csr_array(flat()[0]), Y, lengths=flat()[1]),
}


@pytest.mark.parametrize("own_map", [False, True], ids=["ready map", "own map"])
@pytest.mark.parametrize("training", TRAININGS)
def test_every_part_but_the_map_sees_rows_as_the_user_passed_them(training, own_map):
    SEEN.clear()
    TRAININGS[training](own_map).predict(X)

    for who, values in SEEN.items():
        assert values <= OWN or who == "map", who
    assert {"argmax", "check_structure", "decode", "encode", "loss", "update"} <= SEEN.keys()
    if own_map:
        assert not SEEN["map"] <= OWN and SEEN["map"] & OWN             # on one scale in training, then not


class Packs(Outputs):
    def check_structure(self, x, y):
        super().check_structure(x, y)
        if x.rows[list(y), 0].sum() > 100:
            raise PluginError("too heavy")

    def enumerate(self, x):
        return (c for n in range(x.n_rows + 1) for c in combinations(range(x.n_rows), n) if x.rows[list(c), 0].sum() <= 100)


class Brute(Argmax):
    def argmax(self, scores, x):
        return max(self.outputs.enumerate(x), key=lambda y: scores[list(y)].sum())


class Knapsack(Problem):
    @hookimpl
    def structperc_outputs(self, context):
        return Packs()

    @hookimpl
    def structperc_argmax(self, context):
        return Brute()


@pytest.mark.filterwarnings("ignore::structperc.errors.ScaleWarning")
def test_constraints_in_columns_are_those_of_prediction():
    random = np.random.default_rng(1)
    blocks = [np.column_stack([random.integers(10, 90, 4), random.normal(size=(4, 2))]) for _ in range(120)]
    value = [block @ [0.02, 1.0, -1.0] for block in blocks]
    packs = [max((c for n in range(5) for c in combinations(range(4), n) if block[list(c), 0].sum() <= 100), key=lambda y: v[list(y)].sum())
             for block, v in zip(blocks, value, strict=True)]

    right = {}
    for scale in ("auto", False):
        trained = Engine(Knapsack(), epochs=8, random_state=0, scale=scale).fit(blocks[:80], packs[:80])
        right[scale] = np.mean([tuple(a) == b for a, b in zip(trained.predict(blocks[80:]), packs[80:], strict=True)])
    assert right["auto"] >= right[False] and right["auto"] > 0.6


def test_a_map_of_an_author_trains_as_the_ready_one():
    own, ready = (TRAININGS["fit"](own_map) for own_map in (True, False))

    assert np.allclose(own.coef_, ready.coef_) and list(own.predict(X)) == list(ready.predict(X))
