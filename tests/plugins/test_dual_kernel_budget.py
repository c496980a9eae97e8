"""Tests of budgets of the dual store: the limit on rows, a twin in Python, and a mistake bound for random removal.

Claim. Take two classes, one pass over distinct rows, K(x, x) <= 1, and a u with y u . x >= 1 and ||u||^2 < B. A full store has B rows.
Each new row replaces a row that is drawn uniformly. Then the expected number of mistakes is at most
2 ||u||^2 / (1 - ||u|| / sqrt(B))^2.

Proof. Let w be the sum of y_s x_s over the stored rows, and M the number of mistakes. Let S be the sum of ||w||^2 before each mistake.

- A removal leaves E ||w - y_s x_s||^2 <= (1 - 2/B) ||w||^2 + 1. A step on a mistake adds at most 1. Before the store is full,
  ||w||^2 is at most the number of stored rows. Both together give E ||w_end||^2 <= 2 E M and E S <= B E M.
- A removal leaves E u . w (1 - 1/B). A step adds at least 1. So E u . w_end >= E M - ||u|| E T / B, if T is the sum of ||w|| over
  the mistakes. T is at most sqrt(M S), whose mean is at most sqrt(B) E M.
- So E M (1 - ||u|| / sqrt(B)) <= ||u|| E ||w_end|| <= ||u|| sqrt(2 E M).

Cavallanti, Cesa-Bianchi and Gentile prove similar bounds in "Tracking the best hyperplane with a simple budget Perceptron" (2007).
"""

import itertools

import numpy as np
import pytest
from plain import Engine
from reference import kernels, projection
from reference.dual import BudgetList
from reference.samples import real, whole
from scipy.sparse import csr_array

from structperc.errors import OptionError

DUAL = {"plugins": ["dual-kernel"], "kernel": "rbf", "gamma": 0.4, "classes": [1, 2, 3, 4]}
REMOVALS = ["oldest", "random", "least"]
PROBLEMS = ["cusum", "prank", "multiclass", "sequence"]


def rbf(A, B):
    return kernels.rbf(A, B, gamma=0.4)


def data(problem, seed=0, n=60, draw=real):
    """(X, y, keyword arguments of fit); sentences have 3 tokens."""
    X, y = draw(np.random.default_rng(seed), n, 3, 4)
    return (X, y.reshape(-1, 3).tolist(), {"lengths": [3] * (n // 3)}) if problem == "sequence" else (X, y, {})


def shown(engine):
    return list(map(str, engine.online_predictions_))


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("removal", REMOVALS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_beside_the_twin(problem, removal, average):
    """Steps or rows are real numbers, so removals do not tie. Rows of whole numbers repeat, and the store keeps each of them once."""
    update = {"prank": {}}.get(problem, {"update": "pa1", "C": 0.7})
    for seed, budget in enumerate([2, 5] if average else [1, 12]):
        X, y, where = data(problem, seed, 21, whole if seed % 2 and problem != "prank" else real)
        options = dict(epochs=2, average=average, random_state=seed, classes=[1, 2, 3, 4], **update)
        engine = Engine(problem, **{**DUAL, **options}, budget=budget, removal=removal).fit(X, y, **where, record_predictions=True)
        twin = BudgetList(rbf, budget, removal)
        other = Engine(problem, plugins=[twin], **options).fit(X, y, **where, record_predictions=True)
        assert shown(engine) == shown(other)
        for one, expected in zip(engine.atom_scores(X, **where), other.atom_scores(X, **where), strict=True):
            np.testing.assert_allclose(one, expected, rtol=1e-9, atol=1e-9)
        assert len(engine.parts_.weights.support.arrays()[0]) == len(other.parts_.weights.places)
        assert engine.n_support_ <= budget


@pytest.mark.parametrize("removal", REMOVALS)
def test_never_more_is_held_in_a_long_stream(removal):
    X, y = real(np.random.default_rng(1), 3000, 3, 4)
    engine = Engine("cusum", **DUAL, budget=10, removal=removal, random_state=0)
    for a in range(0, 3000, 100):
        engine.partial_fit(X[a:a + 100], y[a:a + 100])
        assert engine.n_support_ <= 10
    state = engine.parts_.weights.state()
    assert len(state["coefficients"]) == len(state["kernel_rows.rows"]) == 10
    assert sum(engine.mistakes_) > 200
    assert len(np.unique(engine.support_)) == len(engine.support_)
    np.testing.assert_array_equal(engine.support_vectors_, X[engine.support_])


def test_sparse_rows_leave_no_holes_behind():
    """Rows of all lengths are removed; the saved state has no entries except those of the stored rows."""
    rng = np.random.default_rng(5)
    X = csr_array(rng.normal(size=(4000, 40)) * (rng.random((4000, 40)) < rng.random((4000, 1))))
    y = rng.integers(1, 5, 4000)
    engines = []
    for sparse in (True, False):
        engine = Engine("cusum", **DUAL, budget=30, removal="random", random_state=0)
        for a in range(0, 4000, 500):
            engine.partial_fit(X[a:a + 500] if sparse else X[a:a + 500].toarray(), y[a:a + 500])
        engines.append(engine)
    state = engines[0].parts_.weights.state()
    assert len(state["kernel_rows.values"]) == state["kernel_rows.starts"][-1] <= 30 * 40
    assert engines[0].support_.tolist() == engines[1].support_.tolist()
    np.testing.assert_allclose(engines[0].atom_scores(X[:50]), engines[1].atom_scores(X[:50].toarray()), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("removal", REMOVALS)
def test_a_seed_gives_the_same_bits(removal):
    X, y, _ = data("cusum", 2, n=90)
    runs = [Engine("cusum", **DUAL, budget=8, removal=removal, random_state=seed, shuffle=True, epochs=3, average=True).fit(X, y)
            for seed in (0, 0, 1)]
    same, other = ([one.parts_.weights.state() for one in runs[i:i + 2]] for i in (0, 1))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(same[0].values(), same[1].values(), strict=True))
    assert any(a.tobytes() != b.tobytes() for a, b in zip(other[0].values(), other[1].values(), strict=True))


@pytest.mark.parametrize("removal", REMOVALS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_budget_that_is_never_reached_changes_nothing(problem, removal):
    X, y, where = data(problem, 3)
    free = Engine(problem, **DUAL, average=True, epochs=3).fit(X, y, **where, record_predictions=True)
    budgeted = Engine(problem, **DUAL, average=True, epochs=3, budget=len(X), removal=removal).fit(X, y, **where, record_predictions=True)
    assert shown(budgeted) == shown(free)
    assert budgeted.support_.tolist() == free.support_.tolist()
    for one, other in zip(budgeted.atom_scores(X, **where), free.atom_scores(X, **where), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_a_row_takes_its_share_of_the_average_with_it():
    """Budget 1, orthogonal rows, perceptron. The mean contains only the last row, which was stored during 1 of 4 visits."""
    X, y = np.eye(4), [2, 2, 2, 2]
    engine = Engine("multiclass", plugins=["dual-kernel"], classes=[1, 2], fit_intercept=False, average=True, budget=1).fit(X, y)
    assert engine.mistakes_ == [4]
    assert engine.support_.tolist() == [3]
    np.testing.assert_array_equal(engine.dual_coef_, [[-0.25, 0.25]])
    np.testing.assert_array_equal(engine.atom_scores(X), [[0, 0]] * 3 + [[-0.25, 0.25]])


def test_each_removal_gives_up_the_row_that_it_names():
    """Rows of lengths 1, 3 and 2 along three axes; a fourth row replaces one of them."""
    X, y = np.diag([1.0, 3.0, 2.0, 1.0]), [2, 2, 2, 2]
    options = dict(plugins=["dual-kernel"], classes=[1, 2], fit_intercept=False, budget=3, random_state=0)
    for removal, left in (("oldest", [1, 2, 3]), ("least", [1, 2, 3])):
        assert sorted(Engine("multiclass", **options, removal=removal).fit(X, y).support_) == left
    order = [1, 0, 2, 3]            # the shortest of the first three rows joins second
    for removal, left in (("oldest", [1, 2, 3]), ("least", [0, 2, 3])):
        assert sorted(Engine("multiclass", **options, removal=removal).fit(X[order], y).support_) == left
    drawn = {tuple(sorted(Engine("multiclass", **{**options, "random_state": seed}, removal="random").fit(X, y).support_))
             for seed in range(20)}
    assert drawn == {(0, 1, 3), (0, 2, 3), (1, 2, 3)}


@pytest.mark.parametrize("budget", [None, 6])
def test_repeated_rows_are_held_once(budget):
    X, y = whole(np.random.default_rng(4), 200, 2, 4, most=1)
    for layout in (X, csr_array(X)):
        engine = Engine("cusum", **DUAL, budget=budget).partial_fit(layout[:100], y[:100]).partial_fit(layout[100:], y[100:])
        held = engine.parts_.weights.support
        rows = held.kernel_rows.support()
        rows = rows if isinstance(rows, np.ndarray) else rows.toarray()
        assert len(np.unique(rows, axis=0)) == len(rows) <= min(budget or 9, 9)
        assert engine.n_support_ > 3


def test_rows_that_a_function_compares_are_merged_whatever_their_layout():
    """Rows count as equal if they differ only in signs of zeros or in explicit zeros."""
    X = np.array([[1.0, 0.0], [-1.0, 2.0], [1.0, -0.0], [0.0, 1.0]])
    named = csr_array((np.array([1.0, 0.0, -1, 2, 1, 1]), np.array([0, 1, 0, 1, 0, 1]), np.array([0, 2, 4, 5, 6])), shape=(4, 2))

    def dot(A, B):
        return np.asarray((A @ B.T).toarray() if hasattr(A, "toarray") else A @ B.T)

    for layout in (X, X.astype(np.float32), named):
        engine = Engine("multiclass", plugins=["dual-kernel"], kernel=dot, classes=[1, 2, 3], epochs=4).fit(layout, [1, 1, 2, 3])
        assert engine.parts_.weights.support.kernel_rows.n == 3


@pytest.mark.parametrize("removal", REMOVALS)
def test_repeated_trees_and_strings_are_held_once_and_within_budgets(removal):
    words = ["abc", "acb", "bca", "abc", "cab", "bac", "abc", "cba"] * 6
    rng = np.random.default_rng(6)
    y = rng.integers(1, 4, len(words))
    options = dict(plugins=["dual-kernel"], kernel="subsequence", classes=[1, 2, 3], epochs=3, random_state=0)
    assert Engine("multiclass", **options).fit(words, y).n_support_ <= 6
    engine = Engine("multiclass", **options, budget=3, removal=removal).fit(words, y)
    assert engine.n_support_ <= 3
    assert len(set(engine.support_vectors_)) == len(engine.support_vectors_)
    assert set(engine.support_vectors_) <= set(words)


@pytest.mark.parametrize("budget", [0, -1, 2.5, True, "10"])
def test_budgets_that_are_none(budget):
    with pytest.raises(OptionError, match="budget"):
        Engine("cusum", **DUAL, budget=budget).fit([[0.0], [1.0]], [1, 2])


def test_random_removal_keeps_its_bound():
    """See the top of this file. The test uses the mean of 40 runs; some u with ||u||^2 < B separates each data set."""
    largest = 0
    for seed, (budget, d) in itertools.product(range(3), [(40, 2), (80, 3), (150, 4)]):
        rng = np.random.default_rng([seed, budget])
        X = rng.normal(size=(400, d))
        X /= np.linalg.norm(X, axis=1)[:, None]
        X = X[abs(X @ np.eye(d)[0]) > 0.3]
        y = 1 + (X[:, 0] > 0)
        u = projection.smallest_separator(X * np.where(y == 2, 1, -1)[:, None], np.ones(len(X)))
        size = np.linalg.norm(u)
        assert size**2 < budget
        limit = 2 * size**2 / (1 - size / np.sqrt(budget)) ** 2
        mistakes = [Engine("multiclass", plugins=["dual-kernel"], fit_intercept=False, classes=[1, 2], budget=budget, removal="random",
                           random_state=run).fit(X, y).mistakes_[0] for run in range(40)]
        assert np.mean(mistakes) <= limit
        largest = max(largest, np.mean(mistakes) / limit)
    assert largest > 0.01


def n_symbols(engine):
    """The number of symbols that the kernel stores."""
    return engine.parts_.weights.support.kernel_rows.kernel.n_symbols


@pytest.mark.parametrize("kernel, make", [
    ("subset-tree", lambda i: f"(S (A a{i}) (B b{i}))"), ("subsequence", lambda i: ("x", f"a{i}", "x", f"b{i}")),
])
@pytest.mark.parametrize("update", ["perceptron", "pa"])
def test_a_budget_bounds_the_symbols_of_objects(kernel, make, update):
    engine = Engine("cusum", classes=[1, 2, 3], plugins=["dual-kernel"], kernel=kernel, budget=5, update=update)
    most, n = 3 * (5 + 3), 200                  # of the stored rows, and of the rows of the current call
    X, y = [make(i) for i in range(n)], [1 + i % 3 for i in range(n)]
    for i in range(n):
        assert n_symbols(engine.partial_fit(X[i:i + 1], y[i:i + 1])) <= most
    engine.partial_fit(X, y)
    before = n_symbols(engine.partial_fit(X[:1], y[:1]))
    assert before <= most
    engine.predict([make(i) for i in range(n, 3 * n)])
    assert n_symbols(engine) == before
    engine.fit(X, y)
    assert n_symbols(engine.partial_fit(X[:1], y[:1])) <= most
