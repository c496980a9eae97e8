"""Budgets of the dual store: never more rows than they allow, beside a twin in Python, and what is proved of random removal.

Claim, for two classes, one pass over rows that do not repeat, K(x, x) <= 1 and a u with y u . x >= 1: if each row that joins a full
store of B rows takes the place of one drawn uniformly, the expected number of mistakes is at most 2 ||u||^2 / (1 - ||u|| / sqrt(B))^2,
where ||u||^2 < B. Proof: let w be the sum of the y_s x_s held, M the mistakes, and S the sum over mistakes of ||w||^2 before them.

- A removal leaves E ||w - y_s x_s||^2 <= (1 - 2/B) ||w||^2 + 1, a step on a mistake adds at most 1. Before the store is full
  ||w||^2 is at most the number of rows held. Both together: E ||w_end||^2 <= 2 E M, and E S <= B E M.
- A removal leaves E u . w (1 - 1/B), a step adds at least 1: E u . w_end >= E M - ||u|| E (sum over mistakes of ||w||) / B, and that
  sum is at most sqrt(M S), whose mean is at most sqrt(B) E M.
- So E M (1 - ||u|| / sqrt(B)) <= ||u|| E ||w_end|| <= ||u|| sqrt(2 E M).

It is of the kind that Cavallanti, Cesa-Bianchi and Gentile (Tracking the best hyperplane with a simple budget Perceptron, 2007) prove.
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
    """(X, y, where examples begin); sentences of 3 tokens."""
    X, y = draw(np.random.default_rng(seed), n, 3, 4)
    return (X, y.reshape(-1, 3).tolist(), {"lengths": [3] * (n // 3)}) if problem == "sequence" else (X, y, {})


def shown(engine):
    return list(map(str, engine.online_predictions_))


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("removal", REMOVALS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_beside_the_twin(problem, removal, average):
    """Steps or rows of real sizes, so that nothing ties; rows of whole numbers repeat, and are held once."""
    update = {"prank": {}}.get(problem, {"update": "pa1", "C": 0.7})
    for seed, budget in enumerate([2, 5] if average else [1, 12]):
        X, y, where = data(problem, seed, 30, whole if seed % 2 and problem != "prank" else real)
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
    """Removed rows of all lengths; the state holds no more entries than the rows in it."""
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
    """Budget 1, orthogonal rows, perceptron: the mean counts the last row alone, by the share of examples that it has been held for."""
    X, y = np.eye(4), [2, 2, 2, 2]
    engine = Engine("multiclass", plugins=["dual-kernel"], classes=[1, 2], fit_intercept=False, average=True, budget=1).fit(X, y)
    assert engine.mistakes_ == [4]
    assert engine.support_.tolist() == [3]
    np.testing.assert_array_equal(engine.dual_coef_, [[-0.25, 0.25]])
    np.testing.assert_array_equal(engine.atom_scores(X), [[0, 0]] * 3 + [[-0.25, 0.25]])


def test_each_removal_gives_up_the_row_that_it_names():
    """Rows of lengths 1, 3 and 2 along three axes; a fourth takes a place."""
    X, y = np.diag([1.0, 3.0, 2.0, 1.0]), [2, 2, 2, 2]
    options = dict(plugins=["dual-kernel"], classes=[1, 2], fit_intercept=False, budget=3, random_state=0)
    for removal, left in (("oldest", [1, 2, 3]), ("least", [1, 2, 3])):
        assert sorted(Engine("multiclass", **options, removal=removal).fit(X, y).support_) == left
    order = [1, 0, 2, 3]            # the shortest of the first three joins second
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
    """Zeros of both signs and those that a sparse row names; functions of objects are not asked whether two are equal."""
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
    """See the top of this file; the mean of 40 runs, on sets that a u with ||u||^2 < B separates."""
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
    """How many symbols the kernel knows."""
    return engine.parts_.weights.support.kernel_rows.kernel.n_symbols


@pytest.mark.parametrize("kernel, make", [
    ("subset-tree", lambda i: f"(S (A a{i}) (B b{i}))"), ("subsequence", lambda i: ("x", f"a{i}", "x", f"b{i}")),
])
@pytest.mark.parametrize("update", ["perceptron", "pa"])
def test_a_budget_bounds_the_symbols_of_objects(kernel, make, update):
    engine = Engine("cusum", classes=[1, 2, 3], plugins=["dual-kernel"], kernel=kernel, budget=5, update=update)
    most, n = 3 * (5 + 3), 200                  # of the rows held, and of the rows at hand
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
