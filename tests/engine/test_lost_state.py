"""If a part changes during training but has no method `state`, saving it raises a warning that names the attribute."""

import pickle
import warnings

import numpy as np
import pytest
from plain import Engine

from structperc.callbacks import Checkpoint
from structperc.components import OnlineTrainer, PerceptronUpdate, PrimalWeights
from structperc.plugin_tools import read_array

X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.random.default_rng(1).integers(0, 2, 40)


def counting(first, change):
    class Counting(PerceptronUpdate):
        def __init__(self):
            self.n = first()

        def step(self, trial):
            self.n = change(self.n)
            return super().step(trial)

    return Counting


def added(seen):
    seen["n"] = seen.get("n", 0) + 1
    return seen


def raised(array):
    array[0] += 1
    return array


CHANGES = [(int, lambda n: n + 1), (list, lambda seen: [*seen, 1]), (dict, added), (lambda: np.zeros(3), raised),
           (lambda: None, lambda n: 1.5)]


@pytest.mark.parametrize(("first", "change"), CHANGES)
def test_a_changed_attribute_is_named(tmp_path, first, change):
    engine = Engine("multiclass", plugins=[counting(first, change)()]).fit(X, Y)

    with pytest.warns(UserWarning, match=r"Counting.n has changed since training began, and Counting has no method state\(\)"):
        engine.save(tmp_path / "a.model")
    with pytest.warns(UserWarning, match="Counting.n has changed"):
        Engine("multiclass", plugins=[counting(first, change)(), Checkpoint(tmp_path / "b.checkpoint")]).fit(X, Y)


def test_a_kept_state_an_unchanged_attribute_and_a_private_one_are_fine(tmp_path):
    class Kept(counting(int, lambda n: n + 1)):
        def state(self):
            return {"n": np.array(self.n)}

        def restore(self, state):
            self.n = read_array(state, "n", np.int64)

    class Unchanged(PerceptronUpdate):
        def __init__(self):
            self.n, self.table = 3, np.ones(5)

    class Private(PerceptronUpdate):
        def step(self, trial):
            self._cached = trial.x.index
            return super().step(trial)

    class Learned(OnlineTrainer):
        def start(self, parts, context):
            super().start(parts, context)
            self.vector = np.zeros(3)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for part in (Kept(), Unchanged(), Private(), Learned()):
            engine = Engine("multiclass", plugins=[part]).fit(X, Y)
            engine.save(tmp_path / "a.model")
            Engine.load(tmp_path / "a.model", plugins=[part]).save(tmp_path / "b.model")
        pickle.dumps(Engine("multiclass", plugins=[PrimalWeights()]).fit(X, Y))
