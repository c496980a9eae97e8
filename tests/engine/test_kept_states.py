"""A failed chunk puts back the state of every part, though `state` may return the arrays that steps change."""

import numpy as np
import pytest

from structperc import Engine
from structperc.components import Update
from structperc.errors import PluginError
from structperc.testing.twins import PlainWeights

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0) + 1
OTHERS = Y % 3 + 1


class Counting(Update):
    """Steps grow shorter. The state is the array that steps change."""

    fails_at = np.inf

    def start(self, parts, context):
        super().start(parts, context)
        self.n = np.zeros(1)

    def step(self, trial):
        self.n += 1
        if self.n[0] >= self.fails_at:
            raise RuntimeError("a fuse")
        return trial.weight * trial.difference() / np.sqrt(self.n[0])

    def state(self):
        return {"n": self.n}

    def restore(self, state):
        self.n = state["n"]


class Plain(PlainWeights):
    """A store whose state is the vector that steps change."""

    def state(self):
        return {"w": self.w}

    def restore(self, state):
        self.w = state["w"]


@pytest.mark.parametrize("store", [[], [Plain()]], ids=["weights", "own weights"])
def test_a_failed_chunk_leaves_the_state_of_every_part(store):
    engine = Engine("multiclass", plugins=[Counting(), *store], epochs=2, random_state=0).fit(X, Y)
    rule = engine.parts_.update
    n, coefficients = rule.n.copy(), engine.coef_.copy()
    rule.fails_at = n[0] + 3
    with pytest.raises(RuntimeError, match="a fuse"):
        engine.partial_fit(X, OTHERS)
    np.testing.assert_array_equal(rule.n, n)
    np.testing.assert_array_equal(engine.coef_, coefficients)


def test_shards_notice_that_a_rule_learns_from_steps():
    with pytest.raises(PluginError, match="Counting has changed its state 'n' by training steps"):
        Engine("multiclass", plugins=[Counting()], n_shards=3, epochs=3, random_state=0).fit(X, Y)
