"""If a part changes during training but has no method `state`, saving it raises a warning that names the attribute."""

import pickle
import warnings

import numpy as np
import pytest
from plain import Engine

from structperc.callbacks import Checkpoint
from structperc.components import OnlineTrainer, PerceptronUpdate, PrimalWeights
from structperc.errors import DataError
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


@pytest.mark.filterwarnings("ignore:w = 0 is within")
@pytest.mark.parametrize(("problem", "options"), [
    ("cusum", {}), ("cusum", {"trainer": "until-level", "update": "adagrad"}), ("cusum", {"n_shards": 2}),
    ("cusum", {"plugins": ["dual-kernel"], "kernel": "rbf"}), ("cusum", {"plugins": ["batch"], "trainer": "bcfw"}),
    ("prank", {"plugins": ["large-margin"], "trainer": "svor"}), ("prank", {"trainer": "cumulative-logit"}),
    ("prank", {"pocket": True}), ("adaboost-or", {}),
])  # fmt: skip
def test_a_part_that_fails_to_restore_stays_as_it_was(problem, options):
    X, y = np.arange(12.0).reshape(6, 2) % 5, [1, 1, 2, 2, 3, 3]
    engine, other = (Engine(problem, random_state=0, **options).fit(data, y) for data in (X, X[::-1] * 2 + 1))
    for kind, part in engine.parts_.items():
        before, state = (plain(one.state()) for one in (part, getattr(other.parts_, kind)))
        for name in state:
            with pytest.raises(DataError):
                part.restore({**state, name: np.array(["odd"])})
            after = plain(part.state())
            assert after.keys() == before.keys() and all(np.array_equal(after[key], before[key]) for key in before), (kind, name)


def plain(state):
    return {name: np.array(array) for name, array in state.items()}
