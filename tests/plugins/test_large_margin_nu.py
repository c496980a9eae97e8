"""Tests of the nu form: a search over C reaches the optimum of its own program, or the status "degenerate" if w = 0."""

import numpy as np
import pytest
from reference import large_margin
from structperc_large_margin.forms import Form
from structperc_large_margin.linear import solve_linear
from structperc_large_margin.nu import solve_nu

from structperc.components import Rows
from structperc.errors import OptionError

METHODS = ("implicit", "explicit", "fixed-margin")


def solved(X, form, nu, tolerance=1e-7, **options):
    X = np.array(X, dtype=float).reshape(len(form.ranks), -1)
    rows = Rows(X)

    def solve_at(C, start, within):
        return solve_linear(form.chain(C), rows, within, start=start, **options)

    return solve_nu(form, nu, solve_at, lambda beta: X @ (X.T @ beta), np.linalg.norm(X, axis=1).max(), tolerance)


def random_problem(seed):
    random = np.random.default_rng(seed)
    n, d, n_ranks = int(random.integers(8, 25)), int(random.integers(1, 5)), int(random.integers(2, 5))
    X = random.integers(-2, 3, size=(n, d)).astype(float) if seed % 2 else random.normal(size=(n, d)) * 10 ** random.uniform(-1, 1)
    ranks = random.integers(1, n_ranks + 1, n)
    if random.random() < 0.7:
        latent = X @ random.normal(size=d) + 0.3 * random.normal(size=n)
        ranks = 1 + np.searchsorted(np.quantile(latent, np.arange(1, n_ranks) / n_ranks), latent)
    ranks[:n_ranks] = np.arange(1, n_ranks + 1)
    sample_weight = random.integers(1, 4, n) / 2.0 if random.random() < 0.3 else None
    return X, ranks, n_ranks, sample_weight, random.choice([0.1, 0.5, 0.7, 0.9, 1.0])


@pytest.mark.parametrize("method", METHODS)
def test_the_objective_is_that_of_the_quadratic_program(method):
    statuses = []
    for seed in range(25):
        X, ranks, n_ranks, sample_weight, share = random_problem(seed)
        form = Form(method, ranks, n_ranks, sample_weight=sample_weight)
        nu = share * form.largest_nu
        solution = solved(X, form, nu)
        best = large_margin.nu_primal(X, ranks, form.weights, nu, form.open_arcs, form.total)

        assert solution.status in ("converged", "degenerate"), seed
        assert solution.objective == pytest.approx(best.value, rel=1e-6, abs=1e-7), seed
        assert solution.gap >= -1e-9 and solution.dual_objective <= best.value + 1e-7
        if solution.status == "converged":
            w = solution.rho * (X.T @ solution.beta)
            assert solution.objective == pytest.approx(-w @ w / 2, rel=1e-4)        # the optimum is -1/2 ||w||^2
            assert solution.gap <= 1e-7 * -solution.objective
            assert solution.scores == pytest.approx(X @ X.T @ solution.beta, abs=1e-9)
        statuses.append(solution.status)
    assert statuses.count("converged") >= 10


def test_nu_bounds_the_margin_errors_and_the_support_constraints():
    random = np.random.default_rng(2)
    X = random.normal(size=(120, 3))
    latent = X.sum(axis=1) + 0.5 * random.normal(size=120)
    form = Form("implicit", 1 + np.searchsorted([-1, 1], latent), 3)
    for nu in (0.5, 0.6, 0.9):
        solution = solved(X, form, nu)
        chain = form.chain(solution.C)
        short = 1 + chain.sign * (solution.scores[chain.example] - solution.thresholds.values[chain.node])
        assert (short > 1e-4).sum() <= nu * 120 <= (short > -1e-4).sum()
        assert solution.rho == pytest.approx(1 / (120 * solution.C), rel=0.05)


def test_nu_is_bounded_by_the_smaller_neighbours_of_each_threshold():
    """SL-13: three balanced ranks allow nu up to 4/3; above that the program is unbounded."""
    form = Form("fixed-margin", [1, 1, 2, 2, 3, 3], 3)
    assert form.largest_nu == pytest.approx(4 / 3)
    assert solved([0, 1, 2, 3, 4, 5], form, 4 / 3).status == "converged"
    for nu in (4 / 3 + 1e-6, 0.0, -1.0, np.nan):
        with pytest.raises(OptionError, match=r"it must be above 0 and at most 1\.33333"):
            solved([0, 1, 2, 3, 4, 5], form, nu)


def test_too_small_a_nu_leaves_no_direction():
    """No threshold separates x = 0, 1 from x = 0, 1. For every nu the optimum is w = 0, rho = 0."""
    solution = solved([0, 1, 0, 1], Form("implicit", [1, 1, 2, 2], 2), 0.5)
    assert (solution.status, solution.rho, solution.objective) == ("degenerate", 0.0, 0.0)
    assert -1e-9 <= solution.dual_objective <= 0


def test_a_fit_that_is_stopped_ends_the_search():
    X, ranks, n_ranks, _, _ = random_problem(0)
    solution = solved(X, Form("implicit", ranks, n_ranks), 0.3, progress=lambda *_: True)
    assert (solution.status, solution.n_fits) == ("stopped", 1)
