"""The dual weight store: with the linear kernel it is the primal one; with any kernel it is the slow sum over all steps."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import Engine
from reference import kernels
from reference.dual import StepList
from reference.samples import real, small_sets, whole
from scipy.sparse import csr_array

from structperc.basics.errors import DataError
from structperc.schedules import inverse_sqrt

UPDATES = {"cusum": ["perceptron", "pa", "pa1", "pa2", "exact-pa", "exact-pa1", "exact-pa2"],
           "multiclass": ["perceptron", "pa", "pa1", "pa2", "exact-pa", "exact-pa1", "exact-pa2"],
           "prank": ["perceptron", "exact-pa", "exact-pa1", "exact-pa2"],
           "interval-pa": ["perceptron", "exact-pa", "exact-pa1", "exact-pa2"],
           "sequence": ["perceptron", "pa", "pa1", "pa2"]}
CASES = [(problem, update) for problem, updates in UPDATES.items() for update in updates]
DUAL = {"plugins": ["dual-kernel"]}


def sentences(rng, X, y):
    """The rows cut into sentences of 1 to 4 tokens."""
    ends = np.unique(np.append(np.cumsum(rng.integers(1, 5, len(X))), 0))
    offsets = np.append(ends[ends < len(X)], len(X))
    return {"offsets": offsets}, [y[a:b].tolist() for a, b in itertools.pairwise(offsets)]


def examples(problem, seed, exact, n=60, d=3):
    """(X, y, where examples begin) of a problem: whole numbers, or normal ones."""
    rng = np.random.default_rng(seed)
    X, y = (whole if exact else real)(rng, n, d, 4)
    if problem == "sequence":
        where, y = sentences(rng, X, y)
        return X, y, where
    if problem == "interval-pa":
        wide = rng.random(n) < 0.5
        return X, np.column_stack([np.maximum(y - wide, 1), np.minimum(y + wide, 4)]), {}
    return X, y, {}


def close(one, other):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("problem, update", CASES)
def test_the_linear_kernel_is_the_primal_store(problem, update, average):
    augments = [0.0] if update.startswith("exact") else [0.0, 1.0]
    for seed, augment in itertools.product(range(3), augments):
        X, y, where = examples(problem, seed, exact=False)
        options = dict(update=update, average=average, loss_weight=augment, epochs=3, shuffle=seed == 1, random_state=0,
                       classes=[1, 2, 3, 4])
        primal = Engine(problem, **options).fit(X, y, **where, record_predictions=True)
        dual = Engine(problem, **DUAL, **options).fit(X, y, **where, record_predictions=True)
        assert dual.mistakes_ == primal.mistakes_
        assert list(map(str, dual.online_predictions_)) == list(map(str, primal.online_predictions_))
        close(dual.atom_scores(X, **where), primal.atom_scores(X, **where))
        assert list(map(str, dual.predict(X, **where))) == list(map(str, primal.predict(X, **where)))


@pytest.mark.parametrize("problem", UPDATES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sparse", [False, True])
def test_whole_numbers_give_the_same_bits_in_any_layout(problem, dtype, sparse):
    for seed in range(3):
        X, y, where = examples(problem, seed, exact=True)
        X = csr_array(X.astype(dtype)) if sparse else X.astype(dtype)
        options = dict(update="perceptron", epochs=4, classes=[1, 2, 3, 4], loss_weight=float(seed == 2))
        primal = Engine(problem, **options).fit(X, y, **where, record_predictions=True)
        dual = Engine(problem, **DUAL, **options).fit(X, y, **where, record_predictions=True)
        assert list(map(str, dual.online_predictions_)) == list(map(str, primal.online_predictions_))
        for a, b in zip(dual.atom_scores(X, **where), primal.atom_scores(X, **where), strict=True):
            np.testing.assert_array_equal(a, b)


@given(small_sets(), st.sampled_from(["cusum", "prank", "multiclass"]), st.booleans())
def test_small_sets_with_ties_and_repeated_rows(data, problem, average):
    X, y, r = data
    options = dict(epochs=5, average=average, classes=list(range(1, r + 1)))
    primal, dual = (Engine(problem, **options, **more).fit(X, y, record_predictions=True) for more in ({}, DUAL))
    assert dual.online_predictions_.tolist() == primal.online_predictions_.tolist()
    close(dual.atom_scores(X), primal.atom_scores(X))
    assert dual.n_support_ <= len(np.unique(X, axis=0))


@pytest.mark.parametrize("decay", [0.01, 0.9, inverse_sqrt(0.9), lambda t: 0.5 * 0.99**t])
def test_decay_is_that_of_the_primal_store(decay):
    X, y, _ = examples("cusum", 0, exact=False, n=400)
    options = dict(decay=decay, epochs=4, average=True)
    primal, dual = (Engine("cusum", **options, **more).fit(X, y) for more in ({}, DUAL))
    assert dual.mistakes_ == primal.mistakes_
    close(dual.atom_scores(X), primal.atom_scores(X))


@pytest.mark.parametrize("schedule, message", [(lambda t: 2, "expected less than 1"), (lambda t: float("nan"), "expected a finite number")])
def test_schedules_of_the_decay_are_checked(schedule, message):
    X, y, _ = examples("cusum", 0, exact=False)
    with pytest.raises(DataError, match=message):
        Engine("cusum", **DUAL, decay=schedule).fit(X, y)


@pytest.mark.parametrize("problem", UPDATES)
def test_chunks_of_a_stream_give_what_one_pass_gives(problem):
    X, y, where = examples(problem, 3, exact=False)
    if where:
        whole_pass = Engine(problem, **DUAL, kernel="rbf", gamma=0.5, average=True, classes=[1, 2, 3, 4]).fit(X, y, **where)
        parts = Engine(problem, **DUAL, kernel="rbf", gamma=0.5, average=True, classes=[1, 2, 3, 4])
        for i, (a, b) in enumerate(itertools.pairwise(where["offsets"])):
            parts.partial_fit(X[a:b], [y[i]], offsets=[0, b - a])
    else:
        whole_pass = Engine(problem, **DUAL, kernel="rbf", gamma=0.5, average=True, classes=[1, 2, 3, 4]).fit(X, y)
        parts = Engine(problem, **DUAL, kernel="rbf", gamma=0.5, average=True, classes=[1, 2, 3, 4])
        for a, b in itertools.pairwise([0, 1, 2, 20, 21, 60]):
            parts.partial_fit(X[a:b], y[a:b])
    close(parts.atom_scores(X, **where), whole_pass.atom_scores(X, **where))
    assert parts.support_.tolist() == whole_pass.support_.tolist()


KERNELS = [("rbf", {"gamma": 0.3}), ("laplacian", {"gamma": 0.3}), ("polynomial", {"gamma": 0.5, "degree": 2, "coef0": 1.0}),
           ("perceptron", {}), ("stump", {})]


@pytest.mark.parametrize("kernel, options", KERNELS)
@pytest.mark.parametrize("problem", ["cusum", "prank", "sequence"])
def test_any_kernel_is_the_sum_over_all_steps(problem, kernel, options):
    """Beside a store that keeps every step, compares atoms by the Gram of all rows and never looks ahead."""
    X, y, where = examples(problem, 5, exact=False, n=40)
    common = dict(epochs=2, average=True, classes=[1, 2, 3, 4], update="perceptron" if problem == "prank" else "pa1", C=1.0)
    if problem == "prank":
        common.pop("C")
    dual = Engine(problem, **DUAL, kernel=kernel, **options, **common).fit(X, y, **where, record_predictions=True)
    settled = {**options, "offset": getattr(dual.parts_.weights.support.kernel_rows, "offset_", None)}
    twin = Engine(problem, plugins=[StepList(lambda A, B: kernels.KERNELS[kernel](A, B, **settled))], **common)
    twin.fit(X, y, **where, record_predictions=True)
    assert list(map(str, dual.online_predictions_)) == list(map(str, twin.online_predictions_))
    close(dual.atom_scores(X, **where), twin.atom_scores(X, **where))

