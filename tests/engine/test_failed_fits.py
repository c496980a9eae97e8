"""A training that fails in the middle leaves no trace in engine, parts, random states and records."""

import copy

import numpy as np
import pytest
from plain import Engine
from reference.samples import data
from scipy.sparse import csr_array, csr_matrix
from subsets import Subsets

from structperc import hookimpl
from structperc.components import (
    AbsoluteLoss,
    BlockFeatures,
    PerceptronUpdate,
    PrefixArgmax,
    PrimalWeights,
    VectorFeatures,
)
from structperc.errors import DataError, NotFittedError

from .refusals import refused, state

RANKS = [1, 2, 3, 4]
PROBLEMS = ["cusum", "prank", "multiclass"]


# ---- failures in the middle of training ----


class Blown(RuntimeError):
    pass


class Fuse:
    """Raises Blown from one example on. All parts below share it, their copies too."""

    at = None

    @classmethod
    def touch(cls, index):
        if cls.at is not None and index >= cls.at:
            raise Blown(f"at example {index}")


@pytest.fixture
def fuse():
    yield Fuse
    Fuse.at = None


class FusedArgmax(PrefixArgmax):
    def argmax(self, scores, x):
        Fuse.touch(x.index)
        return super().argmax(scores, x)


class FusedLoss(AbsoluteLoss):
    def value(self, gold, y, x=None):
        Fuse.touch(x.index)
        return super().value(gold, y, x)


class FusedUpdate(PerceptronUpdate):
    def step(self, trial):
        Fuse.touch(trial.x.index)
        return super().step(trial)


class FusedScores(BlockFeatures):
    def scores(self, w, x):
        Fuse.touch(x.index)
        return super().scores(w, x)


class FusedSteps(BlockFeatures):
    def add(self, w, x, c):
        super().add(w, x, c)        # w has changed when the step fails
        Fuse.touch(x.index)


class FusedWeights:
    class Store(PrimalWeights):
        def update(self, x, c):
            super().update(x, c)
            Fuse.touch(x.index)

    @hookimpl
    def structperc_weights(self, context):
        return self.Store(average=context.average, decay=context.decay)


class FusedVectors(VectorFeatures):
    def vectors(self, x):
        Fuse.touch(x.index)
        return np.kron(np.eye(3), np.append(x.rows[0], 1.0))


FUSED = [FusedArgmax(4), FusedLoss(), FusedUpdate(), FusedScores(3, 4), FusedSteps(3, 4), FusedWeights(), FusedVectors(15)]


class AlwaysTheSame:
    """Returns the same weight store for every fit, which plugins should not do."""

    def __init__(self):
        self.store = PrimalWeights()

    @hookimpl
    def structperc_weights(self, context):
        return self.store


def test_a_failed_fit_leaves_no_trace_in_a_part_that_its_plugin_uses_again():
    X, y = data()
    engine = Engine("cusum", plugins=[AlwaysTheSame()]).fit(X, y)
    before = engine.coef_
    bad = X.copy()
    bad[30, 0] = np.nan
    with pytest.raises(DataError):
        engine.fit(bad, y)
    assert np.array_equal(engine.coef_, before)
    assert np.array_equal(engine.fit(X, y).coef_, before)


@pytest.mark.parametrize("options", [{}, {"average": True, "shuffle": True, "random_state": 5}, {"average": True, "decay": 0.1}], ids=str)
@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
@pytest.mark.parametrize("part", FUSED, ids=lambda part: type(part).__name__)
def test_a_part_that_fails_in_the_middle_leaves_no_trace(part, kind, options, fuse):
    X, y = data()
    engine = Engine("cusum", classes=RANKS, plugins=[part], **options).fit(kind(X), y)
    for call in (engine.fit, engine.partial_fit):
        twin, before = copy.deepcopy(engine), state(engine)
        fuse.at = 40
        with pytest.raises(Blown, match="at example"):
            call(kind(X), y)
        fuse.at = None
        assert state(engine) == before
        for again in (engine, twin):
            again.partial_fit(kind(X), y)
        assert state(engine) == state(twin)


class FusedUnits(BlockFeatures):
    calls = 0

    def rescaled(self, w, shift, spread):
        FusedUnits.calls += 1
        Fuse.touch(FusedUnits.calls)
        return super().rescaled(w, shift, spread)


@pytest.mark.parametrize("average", [False, True])
def test_units_that_fail_in_any_call_of_a_chunk_leave_no_trace(average, fuse):
    X, y = data()
    engine = Engine("cusum", classes=RANKS, average=average, scale=True, plugins=[FusedUnits(3, 4)]).fit(X, y)
    FusedUnits.calls = 0
    copy.deepcopy(engine).partial_fit(3 * X, y)
    assert (n_calls := FusedUnits.calls) > 1
    for n in range(1, n_calls + 1):
        before, FusedUnits.calls, fuse.at = state(engine), 0, n
        with pytest.raises(Blown):
            engine.partial_fit(3 * X, y)
        fuse.at = None
        assert state(engine) == before


@pytest.mark.parametrize("average", [False, True])
def test_a_failed_chunk_of_empty_rows_leaves_no_trace(average, fuse):
    """Rows without any value still move the intercepts."""
    X, y = data()
    engine = Engine("cusum", classes=RANKS, average=average, plugins=[FusedArgmax(4)]).fit(X, y)
    before = state(engine)
    fuse.at = 5
    with pytest.raises(Blown):
        engine.partial_fit(csr_matrix((8, 4)), [1, 4] * 4)
    assert state(engine) == before


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_failed_small_chunk_of_a_wide_matrix_leaves_no_trace(problem, average):
    random = np.random.default_rng(0)
    d = 20_000
    wide = csr_array((random.integers(1, 5, 600).astype(float), random.integers(0, d, 600), np.arange(0, 601, 10)), shape=(60, d))
    wide.sum_duplicates()
    y = data()[1]
    engine = Engine(problem, average=average, classes=RANKS).partial_fit(wide, y)
    chunk = wide[:10].copy()
    chunk.data[chunk.indptr[8]] = np.nan
    with refused(engine, wide, y, r"X\[8, \d+\] is nan"):
        engine.partial_fit(chunk, y[:10])


@pytest.mark.parametrize("call", ["fit", "partial_fit"])
@pytest.mark.parametrize("shuffle", [False, True])
def test_a_failed_call_does_not_move_the_random_generator(shuffle, call):
    X, y = data()
    bad = X.copy()
    bad[30, 0] = np.nan
    engine = Engine("cusum", shuffle=shuffle, epochs=2, random_state=np.random.default_rng(1)).partial_fit(X, y)
    before = engine.random_state.bit_generator.state
    with pytest.raises(DataError):
        getattr(engine, call)(bad, y)
    assert engine.random_state.bit_generator.state == before
    seeded = Engine("cusum", shuffle=shuffle, random_state=1).partial_fit(X, y)
    with refused(seeded, X, y, r"X\[30, 0\] is nan"):
        getattr(seeded, call)(bad, y)


@pytest.mark.parametrize("y", [[1, 2] * 30, [1] * 60, None])
def test_a_failed_fit_does_not_move_a_random_state(y):
    X, _ = data()
    X[30, 0] = np.nan
    random = np.random.RandomState(0)
    engine = Engine("cusum", shuffle=True, random_state=random)
    for call in (engine.fit, engine.partial_fit):
        with pytest.raises(DataError):
            call(X, y)
        assert random.randint(10**9) == np.random.RandomState(0).randint(10**9)
        random.seed(0)


@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_a_failed_call_keeps_the_online_predictions(call):
    X, y = data()
    engine = Engine("cusum").fit(X, y, record_predictions=True)
    before = engine.online_predictions_
    bad = X.copy()
    bad[30, 0] = np.nan
    with refused(engine, X, y, r"X\[30, 0\] is nan"):
        getattr(engine, call)(bad, y)
    assert len(before) == 60


@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_a_first_call_that_fails_leaves_the_engine_untrained(call):
    X, y = data()
    bad = X.copy()
    bad[30, 0] = np.nan
    engine = Engine("cusum", random_state=0, shuffle=True)
    with pytest.raises(DataError):
        getattr(engine, call)(bad, y)
    for ask in (engine.predict, engine.atom_scores, engine.explain, engine.save):
        with pytest.raises(NotFittedError, match="fit"):
            ask(X)
    assert np.array_equal(getattr(engine, call)(X, y).coef_, getattr(Engine("cusum", random_state=0, shuffle=True), call)(X, y).coef_)


class AsManyAtomsAsItSays(VectorFeatures):
    """The number of atoms is the value in the first column, not the number of rows."""

    def vectors(self, x):
        return np.ones((int(x.rows[0, 0]), 2))


def test_examples_may_differ_in_atoms_without_differing_in_rows():
    class Counted(Subsets):
        @hookimpl
        def structperc_features(self, context):
            return AsManyAtomsAsItSays(2)

    X = np.array([[1.0], [2.0], [40.0], [3.0]])
    engine = Engine(Counted()).fit(X, [(0,), (1,), (39,), ()])
    assert [len(scores) for scores in engine.atom_scores(X)] == [1, 2, 40, 3]
    assert [max(chosen, default=-1) < n for chosen, n in zip(engine.predict(X[::-1]), [3, 40, 2, 1], strict=True)] == [True] * 4
