"""Tests of the chain solver against a conic solver and a slow twin: optimum, certificates, kernel cache, restarts, Ctrl-C."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import large_margin as programs
from reference.chain_solver import dual_value, maximal_violating_pairs
from reference.large_margin_certificate import certify
from structperc_kernels import DenseKernelRows, KernelObjects, PrecomputedKernelRows, SubsetTreeKernel
from structperc_large_margin.chain_solver import KernelColumns, solve
from structperc_large_margin.forms import Form
from ticking import one_signal

from structperc.components import Rows
from structperc.errors import DataError

METHODS = ["implicit", "explicit", "fixed-margin", "sum-of-margins"]
FINE = 1e-9         # relative gap


def columns_of(X, kernel="rbf", cache_bytes=1 << 20, **options):
    if kernel == "precomputed":
        kernel_rows = PrecomputedKernelRows()
    elif kernel == "subset-tree":
        kernel_rows = KernelObjects(SubsetTreeKernel())
    else:
        kernel_rows = DenseKernelRows(kernel, **options)
    rows = Rows(X)
    kernel_rows.start(SimpleNamespace(n_features=rows.n_features, sparse=False, objects=kernel == "subset-tree"))
    kernel_rows.settle_parameters(rows)
    return KernelColumns(kernel_rows, rows, cache_bytes)


def gram(X, gamma, some=slice(None)):
    return np.exp(-gamma * ((X[some, None] - X) ** 2).sum(axis=2))


def noisy(n, n_ranks=4, d=3, seed=0):
    """Random rows with noisy ranks; every rank occurs."""
    random = np.random.default_rng([n, n_ranks, d, seed])
    X = random.normal(size=(n, d))
    latent = X[:, 0] + X[:, 1] * X[:, -1] + 0.5 * random.normal(size=n)
    y = np.digitize(latent, np.quantile(latent, np.arange(1, n_ranks) / n_ranks)) + 1
    y[:n_ranks] = np.arange(n_ranks) + 1
    return X, y


@st.composite
def problems(draw):
    """Draws rows on a small grid, so inputs repeat and scores tie. Every rank occurs; sample weights and costs are optional."""
    n_ranks = draw(st.integers(2, 4))
    ranks = list(range(1, n_ranks + 1)) + draw(st.lists(st.integers(1, n_ranks), min_size=1, max_size=12))
    X = np.array(draw(st.lists(st.tuples(*[st.integers(0, 3)] * 2), min_size=len(ranks), max_size=len(ranks))), dtype=float)
    weights = draw(st.none() | st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=len(ranks), max_size=len(ranks)))
    weights = None if weights is None else np.array(weights)
    steps = draw(st.none() | st.lists(st.tuples(*[st.sampled_from([0.5, 1.0, 3.0])] * (n_ranks - 1)), min_size=len(ranks),
                                      max_size=len(ranks)))
    return X, np.array(ranks), n_ranks, weights, None if steps is None else costs_from(np.array(ranks), np.array(steps))


def costs_from(ranks, steps):
    """Costs that increase by these steps from the true rank towards both ends."""
    heights = np.concatenate([np.zeros((len(steps), 1)), np.cumsum(steps, axis=1)], axis=1)
    return abs(heights - heights[np.arange(len(ranks)), ranks - 1][:, None])


def chain_of(method, problem, C):
    X, ranks, n_ranks, weights, costs = (*problem, None)[:5]
    form = Form(method, ranks, n_ranks, costs, weights)
    return form.chain(form.smallest_C * (1.01 + 0.1 * C) if method == "sum-of-margins" else C)


def check_certified(chain, solution, optimum):
    found = certify(chain, solution.scores, solution.beta, solution.mu)
    size = max(abs(optimum), 1.0)
    assert found.gap >= 0
    assert found.dual - 1e-9 * size <= -optimum <= found.primal + 1e-7 * size
    return found


# ---- the optimum ----


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=25)
@given(problem=problems(), C=st.sampled_from([0.1, 1.0, 20.0]))
def test_the_objective_is_that_of_a_conic_solver(method, kernel, problem, C):
    chain, K = chain_of(method, problem, C), gram(problem[0], 0.4)
    columns = columns_of(K, "precomputed") if kernel == "precomputed" else columns_of(problem[0], gamma=0.4)
    solution = solve(chain, columns, tolerance=FINE)
    optimum = programs.chain_dual(chain, K).value
    found = check_certified(chain, solution, optimum)

    if solution.status == "degenerate":
        assert optimum <= 1e-6
    else:
        assert solution.status in ("converged", "stalled")
        assert -found.dual == pytest.approx(optimum, rel=1e-6, abs=1e-7)
        assert found.gap <= 1e-6 * max(abs(found.primal), 1e-3)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=10)
@given(problem=problems())
def test_the_optimum_is_that_of_the_slow_twin(method, problem):
    chain, K = chain_of(method, problem, 1.0), gram(problem[0], 0.4)
    solution, twin = solve(chain, columns_of(problem[0], gamma=0.4), tolerance=FINE), maximal_violating_pairs(chain, K)

    assert dual_value(chain, K, solution.mu) == pytest.approx(dual_value(chain, K, twin), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("tolerance", [0.1, 1e-3])
def test_the_gap_bounds_the_distance_from_the_optimum(method, tolerance):
    X, y = noisy(60)
    chain = chain_of(method, (X, y, 4, None), 2.0)
    solution = solve(chain, columns_of(X, gamma=0.3), tolerance)
    found = check_certified(chain, solution, programs.chain_dual(chain, gram(X, 0.3)).value)

    assert solution.status == "converged"
    assert found.gap <= 1.01 * tolerance * abs(found.primal if chain.gain else found.dual)


@pytest.mark.parametrize("method", METHODS)
def test_working_sets_smaller_than_the_data_reach_the_optimum(method):
    X, y = noisy(1_500, n_ranks=5, d=2)
    chain = chain_of(method, (X, y, 5, None), 1.0)
    solution = solve(chain, columns_of(X, gamma=1.0, cache_bytes=64 << 20), tolerance=1e-4)
    found = certify(chain, solution.scores, solution.beta, solution.mu)

    assert solution.status == "converged"
    assert found.gap <= 1.01e-4 * abs(found.primal if chain.gain else found.dual)
    np.testing.assert_allclose(solution.scores[:50], gram(X, 1.0, slice(50)) @ solution.beta, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(solution.beta, -np.bincount(chain.example, chain.sign * solution.mu, minlength=1_500))


@pytest.mark.parametrize("method", METHODS)
def test_examples_at_rest_change_nothing(method):
    X, y = noisy(1_500, n_ranks=5, d=2)
    chain = chain_of(method, (X, y, 5, None), 1.0)
    solutions = [solve(chain, columns_of(X, gamma=1.0, cache_bytes=8 << 20), 1e-5, shrinking=shrinking) for shrinking in (True, False)]
    one, other = (certify(chain, s.scores, s.beta, s.mu) for s in solutions)

    assert [s.status for s in solutions] == ["converged"] * 2
    assert max(one.dual, other.dual) <= min(one.primal, other.primal)
    assert max(one.gap, other.gap) <= 1.01e-5 * abs(one.primal if chain.gain else one.dual)
    np.testing.assert_allclose(solutions[0].scores[:50], gram(X, 1.0, slice(50)) @ solutions[0].beta, rtol=1e-9, atol=1e-9)


def test_duplicates_of_all_ranks_leave_no_direction():
    chain = Form("implicit", np.array([1, 2, 3] * 5), 3).chain(1.0)
    solution = solve(chain, columns_of(np.ones((15, 2)), gamma=1.0))

    assert solution.status == "converged"
    assert certify(chain, solution.scores, solution.beta, solution.mu).primal == pytest.approx(chain.start.size * 2 / 3)
    assert solution.beta == pytest.approx(0, abs=1e-12) or np.abs(solution.scores).max() < 1e-12


def test_a_sum_of_margins_without_direction_is_degenerate():
    X, y = np.array([[0.0], [2.0], [1.0], [3.0]]), np.array([1, 1, 2, 2])       # section 5.4: C_max = 3/4
    solutions = {C: solve(Form("sum-of-margins", y, 2).chain(C), columns_of(X, "linear"), 1e-6) for C in (0.5, 0.6, 0.7, 1.0)}

    assert [round(certify(Form("sum-of-margins", y, 2).chain(C), s.scores, s.beta, s.mu).dual, 5) for C, s in solutions.items()][:3] == [
        -1.0, -0.6, -0.2]
    assert solutions[1.0].status == "degenerate"


# ---- start values, limits, interruption ----


@pytest.mark.parametrize("method", METHODS)
def test_a_solution_starts_the_next(method):
    X, y = noisy(200)
    columns, problem = columns_of(X, gamma=0.5), (X, y, 4, None)
    chain, before = chain_of(method, problem, 2.0), chain_of(method, problem, 1.9)
    cold = solve(chain, columns, 1e-5)
    warm = solve(chain, columns, 1e-5, start=solve(before, columns, 1e-5).mu)

    assert warm.n_iterations < cold.n_iterations
    assert solve(chain, columns, 1e-4, start=cold.mu).n_iterations == 0


def test_steps_are_limited_and_the_point_is_feasible():
    X, y = noisy(300)
    chain, columns = Form("explicit", y, 4).chain(10.0), columns_of(X, gamma=0.5)
    solution = solve(chain, columns, max_iterations=37)

    assert (solution.status, solution.n_iterations) == ("max_iterations", 37)
    assert certify(chain, solution.scores, solution.beta, solution.mu).gap > 0


@pytest.mark.parametrize("method", ["implicit", "explicit", "fixed-margin"])
def test_what_rounding_does_not_allow_ends_as_stalled(method):
    X, y = noisy(40)
    chain = chain_of(method, (X, y, 4, None), 20.0)
    solution = solve(chain, columns_of(X, gamma=0.4), tolerance=0.0)

    assert solution.status in ("stalled", "converged")
    assert certify(chain, solution.scores, solution.beta, solution.mu).gap <= 1e-9 * chain.cap.sum()


def test_progress_sees_feasible_points_and_may_stop():
    X, y = noisy(1_200)
    chain, columns, seen = Form("implicit", y, 4).chain(10.0), columns_of(X, gamma=0.5, cache_bytes=64 << 20), []

    def progress(n_iterations, mu, scores):
        seen.append(n_iterations)
        assert certify(chain, scores, -np.bincount(chain.example, chain.sign * mu, minlength=1_200), mu).gap > 0
        return len(seen) == 2

    solution = solve(chain, columns, 1e-9, progress=progress)

    assert solution.status == "stopped" and seen[1] == solution.n_iterations > seen[0] >= 1_200


@pytest.mark.parametrize("method", ["implicit", "sum-of-margins"])
def test_ctrl_c_leaves_a_feasible_point(method):
    X, y = noisy(3_000, d=8)
    chain, columns = chain_of(method, (X, y, 4, None), 100.0), columns_of(X, gamma=0.05)
    with one_signal() as send:
        solution = solve(chain, columns, 1e-12, progress=send)

    assert solution.status == "interrupted" and isinstance(solution.interruption, KeyboardInterrupt)
    assert certify(chain, solution.scores, solution.beta, solution.mu).gap > 0
    np.testing.assert_allclose(columns.scores(solution.beta)[:50], gram(X, 0.05, slice(50)) @ solution.beta, rtol=1e-6, atol=1e-6)


def test_an_error_of_progress_is_raised():
    X, y = noisy(100)

    def progress(*_):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        solve(Form("implicit", y, 4).chain(10.0), columns_of(X, gamma=0.5), 1e-9, progress=progress)


def test_kernels_that_overflow_are_refused():
    with pytest.raises(DataError, match="row 1 .*inf"):
        columns_of(np.array([[1.0], [1e200]]), "linear")


# ---- columns ----


@pytest.mark.parametrize("method", METHODS)
def test_the_cache_changes_no_bit(method):
    X, y = noisy(300)
    chain = chain_of(method, (X, y, 4, None), 5.0)
    large, small = columns_of(X, gamma=0.5, cache_bytes=1 << 30), columns_of(X, gamma=0.5, cache_bytes=0)
    one, other = solve(chain, large, 1e-4), solve(chain, small, 1e-4)

    assert (large.room, small.room) == (300, 16)
    assert small.n_computed > large.n_computed
    assert one.mu.tobytes() == other.mu.tobytes() and one.scores.tobytes() == other.scores.tobytes()
    assert one.n_iterations == other.n_iterations


def test_trees_are_compared():
    trees = [("S", ("A", *[("B",)] * (i % 3)), *[("C",)] * (i % 4)) for i in range(24)]
    y = np.arange(24) % 3 + 1
    columns, kernel = columns_of(trees, "subset-tree"), SubsetTreeKernel()
    chain = Form("implicit", y, 3).chain(1.0)
    encoded = [kernel.encode(tree) for tree in trees]
    K = np.array(kernel.values(encoded, encoded))
    solution = solve(chain, columns, FINE)

    np.testing.assert_allclose(columns.diagonal, np.diag(K))
    assert dual_value(chain, K, solution.mu) == pytest.approx(programs.chain_dual(chain, K).value, rel=1e-6)


# ---- certificates ----


def test_what_is_not_feasible_is_refused():
    X, y = noisy(30)
    chain = Form("implicit", y, 4).chain(1.0)
    mu = chain.start.copy()
    mu[0] = 0.5
    with pytest.raises(ValueError, match="flow"):
        certify(chain, np.zeros(30), np.zeros(30), mu)
    mu[0] = 1.5
    with pytest.raises(ValueError, match=r"mu\[0\] is 1.5"):
        certify(chain, np.zeros(30), np.zeros(30), mu)
