"""Linear scores with large margins reach the optimum of the quadratic program, with a gap that bounds the distance."""

import numpy as np
import pytest
from reference import large_margin
from scipy import sparse
from structperc_large_margin import linear
from structperc_large_margin.forms import Form
from structperc_large_margin.linear import solve_linear
from structperc_large_margin.thresholds import thresholds

from structperc.components import Rows

METHODS = ("implicit", "explicit", "fixed-margin")


def solved(X, ranks, method, C, tolerance=1e-8, costs=None, sample_weight=None, **options):
    form = Form(method, ranks, int(max(ranks)), costs, sample_weight)
    return form.chain(C), solve_linear(form.chain(C), Rows(X), tolerance, **options)


def check_certificate(chain, X, solution):
    """The parts of a solution belong together, its dual is feasible, and the gap is measured."""
    X, mu = (X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=float)), solution.mu
    assert (mu >= 0).all() and (mu <= chain.cap).all()
    flows = np.bincount(chain.node, chain.sign * mu, chain.n_nodes)
    omega = np.cumsum(flows)
    scale = 1e-9 * chain.cap.sum()
    assert ((omega >= -scale).all() and abs(omega[-1]) <= scale) if chain.open_arcs else (abs(flows) <= scale).all()
    w = X.T @ solution.beta
    assert solution.beta == pytest.approx(np.bincount(chain.example, -chain.sign * mu, len(X)))
    assert solution.dual_objective == pytest.approx(mu.sum() - w @ w / 2, rel=1e-9, abs=1e-9)
    assert solution.scores == pytest.approx(X @ solution.w, rel=1e-9, abs=1e-9)
    found = thresholds(chain, solution.scores)
    assert found.values.tolist() == solution.thresholds.values.tolist()
    assert solution.objective == pytest.approx(solution.w @ solution.w / 2 + found.value, rel=1e-12)
    assert solution.gap >= -1e-9 * solution.objective


def random_problem(seed):
    """A small problem: ties and duplicates, separable or not, few rows or many, any scale and C, weights and costs."""
    random = np.random.default_rng(seed)
    n, d, n_ranks = int(random.integers(6, 25)), int(random.integers(1, 6)), int(random.integers(2, 5))
    whole = random.random() < 0.5
    X = random.integers(-2, 3, size=(n, d)).astype(float) if whole else random.normal(size=(n, d)) * 10 ** random.uniform(-1, 1)
    ranks = random.integers(1, n_ranks + 1, n)
    if random.random() < 0.3:
        ranks = 1 + np.searchsorted(np.quantile(X[:, 0], np.arange(1, n_ranks) / n_ranks), X[:, 0])
    ranks[:n_ranks] = np.arange(1, n_ranks + 1)
    if random.random() < 0.3:
        X[n // 2:], ranks[n // 2:] = X[:n - n // 2], ranks[:n - n // 2]
        ranks[:n_ranks] = np.arange(1, n_ranks + 1)
    sample_weight = random.integers(0, 4, n) / 2.0 if random.random() < 0.3 else None
    if sample_weight is not None:
        sample_weight[:n_ranks] = 1.0
    costs = None
    if random.random() < 0.3:
        steps = random.integers(1, 4, size=(n, n_ranks)).astype(float)
        costs = np.array([[sum(steps[i, min(y, k) - 1:max(y, k) - 1]) for k in range(1, n_ranks + 1)] for i, y in enumerate(ranks)])
    return X, ranks, n_ranks, costs, sample_weight, 10 ** random.uniform(-3, 3)


@pytest.mark.parametrize("method", METHODS)
def test_the_objective_is_that_of_the_quadratic_program(method):
    compared = 0
    for seed in range(60):
        X, ranks, n_ranks, costs, sample_weight, C = random_problem(seed)
        chain, solution = solved(X, ranks, method, C, costs=costs, sample_weight=sample_weight)
        W = large_margin.weights_of(method, ranks, n_ranks, costs, sample_weight)
        best = large_margin.threshold_primal(X, ranks, W, C, chain.open_arcs)

        assert solution.status == "converged", seed
        check_certificate(chain, X, solution)
        if best is not None:        # clarabel gives up on a few
            assert solution.objective == pytest.approx(best.value, rel=1e-6, abs=1e-9), seed
            assert solution.dual_objective <= best.value * (1 + 1e-6) + 1e-9, seed
            compared += 1
    assert compared >= 50


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("layout", ["float32", "sparse", "sparse float32"])
def test_every_layout_of_rows_has_the_same_optimum(method, layout):
    random = np.random.default_rng(3)
    X = random.integers(-3, 4, size=(60, 5)).astype(float) * (random.random((60, 5)) < 0.5)
    ranks = np.concatenate([[1, 2, 3], random.integers(1, 4, 57)])
    _, dense = solved(X, ranks, method, 0.5)
    other = X.astype(np.float32) if "float32" in layout else X
    chain, solution = solved(sparse.csr_matrix(other) if "sparse" in layout else other, ranks, method, 0.5)
    check_certificate(chain, X, solution)
    assert solution.objective == pytest.approx(dense.objective, rel=1e-8)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("method", METHODS)
def test_hundreds_of_columns_have_the_same_optimum(method, form):
    random = np.random.default_rng(5)
    X = random.normal(size=(40, 450)) * (random.random((40, 450)) < 0.1) * random.random(450)
    ranks = np.concatenate([[1, 2, 3], random.integers(1, 4, 37)])
    for C in (0.01, 1.0, 100.0):
        chain, solution = solved(form(X), ranks, method, C, 1e-7)
        W = large_margin.weights_of(method, ranks, 3)
        root = large_margin.root(X @ X.T)               # 40 columns with the same inner products
        best = large_margin.threshold_primal(root, ranks, W, C, chain.open_arcs)
        check_certificate(chain, X, solution)
        assert solution.objective == pytest.approx(best.value, rel=1e-6)


def test_columns_far_from_zero_and_of_any_scale_converge():
    random = np.random.default_rng(11)
    X = random.normal(size=(300, 6)) * 10.0 ** np.arange(-3, 3) + 1000.0
    latent = (X - X.mean(axis=0)) @ 10.0 ** -np.arange(-3, 3) + 0.5 * random.normal(size=300)
    ranks = 1 + np.searchsorted([-1, 0, 1], latent)
    for method, C in (("implicit", 1e3), ("explicit", 1e4), ("fixed-margin", 1.0)):
        chain, solution = solved(X, ranks, method, C, 1e-6)
        assert solution.status == "converged"
        assert solution.objective == pytest.approx(thresholds(chain, solution.scores).value + solution.w @ solution.w / 2)


def test_free_thresholds_may_come_out_disordered_and_ordered_ones_cost_more():
    """x = 0, 1 | 2 | 3, 4, C = 0.1: 0.38 at w = 0.2 with b_1 > b_2; in order 0.425 at w = 0.5, b = (1, 1) (3.3)."""
    X, ranks = np.arange(5.0)[:, None], [1, 1, 2, 3, 3]
    _, free = solved(X, ranks, "fixed-margin", 0.1, 1e-10)
    assert (free.objective, free.w[0]) == (pytest.approx(0.38), pytest.approx(0.2, rel=1e-4))
    assert free.thresholds.lower == pytest.approx([1, -0.4], abs=1e-3) and free.thresholds.upper == pytest.approx([1.2, -0.2], abs=1e-3)

    _, ordered = solved(X, ranks, "explicit", 0.1, 1e-10)
    assert (ordered.objective, ordered.w[0]) == (pytest.approx(0.425), pytest.approx(0.5, rel=1e-4))
    assert ordered.thresholds.values == pytest.approx([1, 1], abs=1e-4)

    _, implicit = solved(X, ranks, "implicit", 0.1, 1e-10)
    assert implicit.w[0] == pytest.approx(2 / 3, rel=1e-4) and implicit.thresholds.values == pytest.approx([1, 5 / 3], abs=1e-3)


@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
def test_a_middle_rank_on_both_sides_leaves_no_direction(C):
    """x = 0 | 1 | 0, ranks 1, 2, 3: w = 0 and the value 4 C at every C (3.4)."""
    _, solution = solved(np.array([[0.0], [1.0], [0.0]]), [1, 2, 3], "fixed-margin", C)
    assert solution.status == "converged" and solution.w == pytest.approx(0, abs=1e-6)
    assert solution.objective == pytest.approx(4 * C, rel=1e-8)


def test_two_points_have_half_the_squared_norm_of_one_over_their_distance():
    """x = -1 | +1, C = 10: the primal is 1/2 (SL-1)."""
    _, solution = solved(np.array([[-1.0], [1.0]]), [1, 2], "explicit", 10.0)
    assert (solution.objective, solution.dual_objective) == (pytest.approx(0.5), pytest.approx(0.5))
    assert solution.w == pytest.approx([1.0], rel=1e-6)


def several_levels(n, d):
    random = np.random.default_rng(7)
    X = random.normal(size=(n, d))
    latent = X @ np.ones(d) / np.sqrt(d) + 0.5 * random.normal(size=n)
    return X, 1 + np.searchsorted(np.quantile(latent, [0.2, 0.5, 0.9]), latent)


@pytest.mark.parametrize("method", METHODS)
def test_many_examples_are_preceded_by_a_part_of_them(method, monkeypatch):
    monkeypatch.setattr(linear, "FEWEST", 500)          # not 5000
    parts, part = [], linear.NewtonSteps.part
    monkeypatch.setattr(linear.NewtonSteps, "part", lambda steps, n: parts.append(n) or part(steps, n))
    X, ranks = several_levels(4100, 3)
    chain, rough = solved(X, ranks, method, 1.0, 1e-3)
    check_certificate(chain, X, rough)
    chain, fine = solved(X, ranks, method, 1.0, 1e-6)
    assert parts == [512, 512]
    check_certificate(chain, X, fine)
    assert rough.status == fine.status == "converged"
    assert rough.gap <= 1e-3 * rough.objective and fine.gap <= 1e-6 * fine.objective
    assert fine.dual_objective <= rough.objective and rough.dual_objective <= fine.objective


def test_a_solution_for_another_C_is_a_start():
    X, ranks = several_levels(2000, 4)
    chain, solution = solved(X, ranks, "implicit", 1.0, 1e-6)
    _, again = solved(X, ranks, "implicit", 1.0, 1e-6, start=solution.mu)
    other, close = solved(X, ranks, "implicit", 1.1, 1e-6, start=solution.mu)
    check_certificate(other, X, close)
    assert again.objective == pytest.approx(solution.objective, rel=2e-6)
    assert again.n_iterations < solution.n_iterations


def test_steps_end_when_they_are_told_to_and_leave_a_certified_solution():
    X, ranks = several_levels(500, 4)
    chain, one = solved(X, ranks, "implicit", 1.0, 1e-9, max_iterations=1)
    assert (one.status, one.n_iterations) == ("max_iterations", 1)
    seen = []

    def two(n_iterations, mu, scores, w):
        seen.append(n_iterations)
        assert scores == pytest.approx(X @ w)
        return n_iterations == 2

    _, stopped = solved(X, ranks, "implicit", 1.0, 1e-9, progress=two)
    assert (stopped.status, stopped.n_iterations, seen) == ("stopped", 2, [0, 1, 2])

    def ctrl_c(n_iterations, mu, scores, w):
        if n_iterations == 2:
            raise KeyboardInterrupt

    _, interrupted = solved(X, ranks, "implicit", 1.0, 1e-9, progress=ctrl_c)
    assert interrupted.status == "interrupted" and isinstance(interrupted.interruption, KeyboardInterrupt)
    for solution in (one, stopped, interrupted):
        check_certificate(chain, X, solution)


def test_the_same_problem_has_the_same_bits():
    X, ranks = several_levels(3000, 5)
    first, second = (solved(X, ranks, "explicit", 3.0, 1e-6)[1] for _ in range(2))
    assert first.w.tobytes() == second.w.tobytes() and first.mu.tobytes() == second.mu.tobytes()
