"""Tests of the sum of margins: the optimum of the conic program, dual certificates, and errata of Shashua and Levin by number."""

import warnings

import numpy as np
import pytest
from plain import Engine
from reference import large_margin
from scipy import sparse
from structperc_large_margin.estimators import SVOR
from structperc_large_margin.forms import Form
from structperc_large_margin.minimum_norm import KernelSpace, LinearSpace, largest_C, maximise_margins, vanished_ranks

from structperc.components import Rows
from structperc.errors import DataError, OptionError


def form_of(ranks):
    return Form("sum-of-margins", ranks, int(max(ranks)))


def solved(x, ranks, C, tolerance=1e-10, **options):
    """Solves for numbers or rows, in linear space."""
    X = x if sparse.issparse(x) else np.array(x, dtype=float).reshape(len(ranks), -1)
    return maximise_margins(form_of(ranks).chain(C), LinearSpace(Rows(X)), tolerance, **options)


def kernel_space(K):
    return KernelSpace(lambda beta: K @ beta, np.sqrt(np.diagonal(K).max()))


def check_certificate(chain, solution, X):
    """Checks that mu is feasible, w is its direction, thresholds are in order, and the gap is not negative."""
    mu, scale = solution.mu, 1e-9 * (1 + chain.cap.sum())
    assert (mu >= 0).all() and (mu <= chain.cap).all()
    omega = np.cumsum(np.bincount(chain.node, chain.sign * mu, chain.n_nodes) - chain.offset)
    assert (omega >= -scale).all() and abs(omega[-1]) <= scale
    direction = X.T @ np.bincount(chain.example, -chain.sign * mu, len(X))
    assert solution.dual_objective == pytest.approx(-np.linalg.norm(direction), rel=1e-9, abs=scale)
    if solution.status != "degenerate":
        assert solution.w == pytest.approx(direction / np.linalg.norm(direction), abs=1e-6)
        assert solution.w == pytest.approx(X.T @ solution.beta, abs=1e-9)
        assert solution.scores == pytest.approx(X @ solution.w, abs=1e-9)
        assert (np.diff(solution.thresholds.values) >= 0).all()
        assert solution.gap >= -1e-9 * (1 + abs(solution.objective))


def random_problem(seed):
    random = np.random.default_rng(seed)
    n, d, n_ranks = int(random.integers(6, 25)), int(random.integers(1, 6)), int(random.integers(2, 5))
    X = random.integers(-2, 3, size=(n, d)).astype(float) if seed % 2 else random.normal(size=(n, d)) * 10 ** random.uniform(-1, 1)
    ranks = random.integers(1, n_ranks + 1, n)
    if random.random() < 0.6:
        latent = X @ random.normal(size=d)
        ranks = 1 + np.searchsorted(np.quantile(latent, np.arange(1, n_ranks) / n_ranks), latent)
    ranks[:n_ranks] = np.arange(1, n_ranks + 1)
    sample_weight = random.integers(1, 4, n) / 2.0 if random.random() < 0.3 else None
    form = Form("sum-of-margins", ranks, n_ranks, sample_weight=sample_weight)
    return X, ranks, form, form.smallest_C * random.choice([1, 1.25, 2, 5, 50])


def test_the_objective_is_that_of_the_conic_program():
    degenerate = 0
    for seed in range(100):
        X, ranks, form, C = random_problem(seed)
        chain = form.chain(C)
        best = large_margin.margins_primal(X, ranks, form.weights, C)
        solution = maximise_margins(chain, LinearSpace(Rows(X)), 1e-9)
        with_kernel = maximise_margins(chain, kernel_space(X @ X.T), 1e-9)

        assert solution.status in ("converged", "degenerate"), seed
        assert solution.objective == pytest.approx(best.value, rel=1e-6, abs=1e-6), seed
        assert with_kernel.objective == pytest.approx(best.value, rel=1e-6, abs=1e-6) and with_kernel.w is None, seed
        check_certificate(chain, solution, X)
        degenerate += solution.status == "degenerate"
    assert 5 <= degenerate <= 60


def test_a_rough_solution_has_the_gap_it_says():
    for seed in range(40):
        X, ranks, form, C = random_problem(seed)
        rough, fine = (maximise_margins(form.chain(C), LinearSpace(Rows(X)), tolerance) for tolerance in (0.2, 1e-10))
        assert rough.dual_objective <= fine.objective + 1e-9 and fine.dual_objective <= rough.objective + 1e-9
        if rough.status == "converged":
            check_certificate(form.chain(C), rough, X)
            assert rough.gap <= 0.2 * abs(rough.objective) * (1 + 1e-9)


@pytest.mark.parametrize("C", [1, 1.5, 2, 2.5, 3, 3.5, 4, 100])
def test_separable_data_have_the_margins_between_their_ranks_at_every_C(C):
    """SL-2: x = 0 | 2, 4 | 7: for all C >= 1 the value is -5, with margins 2 and 3. The printed dual has values from -4 to 0."""
    solution = solved([0, 2, 4, 7], [1, 2, 2, 3], C)
    assert solution.objective == pytest.approx(-5) and solution.w == pytest.approx([1])
    if C > 1:           # 1 / C is not a whole number of examples
        assert solution.thresholds.values == pytest.approx([0, 2, 4, 7])
    assert vanished_ranks(form_of([1, 2, 2, 3]).chain(C), solution.scores) == []


def test_C_ranges_by_the_outer_ranks_alone():
    """SL-3: for sizes 1, 10, 10, C_min is 1, and C = 0.5 raises an error. For 10, 1, 10, C = 0.12 is valid, below the printed range."""
    outer, inner = np.repeat([1, 2, 3], [1, 10, 10]), np.repeat([1, 2, 3], [10, 1, 10])
    lowest = [4 / (2 * 21 - (ranks == 1).sum() - (ranks == 3).sum()) for ranks in (outer, inner)]
    assert lowest == [4 / 31, 4 / 22] and lowest[0] < 0.5 < 4 and 0.12 < lowest[1]
    with pytest.raises(OptionError, match=r"C=0\.5 is below 1 = 1 / min\(n_1, n_K\)"):
        form_of(outer).chain(0.5)
    for ranks, C in ((outer, 1.0), (inner, 0.12)):
        X = np.random.default_rng(0).random((21, 2)) + 3.0 * ranks[:, None]
        best = large_margin.margins_primal(X, ranks, form_of(ranks).weights, C)
        assert -10 < best.value < -1 and solved(X, ranks, C).objective == pytest.approx(best.value, rel=1e-7)
    assert form_of([1, 2, 2, 2]).smallest_C == 1


@pytest.mark.parametrize(("C", "value"), [(0.5, -1), (0.6, -0.6), (0.7, -0.2), (0.8, 0), (1, 0), (2, 0)])
def test_beyond_the_largest_C_no_direction_is_left_and_mu_proves_it(C, value):
    """SL-4: x = 0, 2 | 1, 3 has no duality gap. From C_max = 3/4 on, the value is 0 (5.4)."""
    x, ranks = [0, 2, 1, 3], [1, 1, 2, 2]
    solution = solved(x, ranks, C)
    assert solution.objective == pytest.approx(value, abs=1e-9)
    assert (solution.status == "degenerate") == (value == 0)
    check_certificate(form_of(ranks).chain(C), solution, np.array(x, dtype=float)[:, None])
    if value == 0:
        assert solution.w.tolist() == [0] and not solution.scores.any()


def test_the_largest_C_is_where_the_hulls_meet():
    """5.4: C_max is 3/4 for x = 0, 2 | 1, 3. It is infinite if a kernel separates all points, or if the ranks are separable."""
    x = np.array([0.0, 2, 1, 3])
    assert largest_C(form_of([1, 1, 2, 2]), x[:, None]) == pytest.approx(0.75)
    assert largest_C(form_of([1, 1, 2, 2]), np.exp(-np.square(x[:, None] - x))) == np.inf
    assert largest_C(form_of([1, 2, 2, 3]), np.array([[0.0], [2], [4], [7]])) == np.inf
    for seed in range(20):
        X, _, form, _ = random_problem(seed)
        most = largest_C(form, sparse.csr_matrix(X))
        if most > form.smallest_C * 1.01:
            assert maximise_margins(form.chain(min(0.99 * most, 1e3)), LinearSpace(Rows(X)), 1e-6).status == "converged"
        if most < np.inf:
            assert maximise_margins(form.chain(1.01 * most), LinearSpace(Rows(X)), 1e-6).status == "degenerate"


def test_planes_that_meet_have_more_errors_than_was_printed():
    """SL-5: ranks 1, 2, 3 at {0, 1, 2}, {0, 1, 2}, {10, 11, 12}, C = 3. The value is -2, with two margin errors, more than 4/3."""
    x, ranks = [0, 1, 2, 0, 1, 2, 10, 11, 12], [1, 1, 1, 2, 2, 2, 3, 3, 3]
    solution = solved(x, ranks, 3)
    assert solution.objective == pytest.approx(-2)
    a, b, f = solution.thresholds.values[0], solution.thresholds.values[1], solution.scores
    assert a == pytest.approx(b)
    assert (f[:3] > a + 1e-9).sum() + (f[3:6] < b - 1e-9).sum() == 2


def test_the_sums_of_multipliers_differ_by_those_of_planes_that_meet():
    """SL-8: sum lambda = (K - 1) + sum psi - sum eta = 2 + 0 - 0.1. The printed formula adds sum eta."""
    chain = form_of([1] * 4 + [2] * 2 + [3] * 4).chain(0.9)
    mu = maximise_margins(chain, LinearSpace(Rows(np.array([[0.0], [1], [2], [3], [10], [11], [20], [21], [22], [23]]))), 1e-10).mu
    arcs = np.cumsum(np.bincount(chain.node, chain.sign * mu, 4) - chain.offset)       # psi_1, eta_1, psi_2, and 0
    assert arcs == pytest.approx([0, 0.1, 0, 0], abs=1e-9)
    assert mu[chain.sign > 0].sum() == pytest.approx(2 + arcs[0] + arcs[2] - arcs[1])


@pytest.mark.parametrize(("C", "value"), [(0.5, -0.683), (1, -0.661382), (1.5, -0.661382), (2, -0.661382)])
def test_no_error_is_left_beyond_C_of_1(C, value):
    """SL-6: x = 0, 2 | 1, 3 with the kernel exp(-(x - x')^2)."""
    x = np.array([0.0, 2, 1, 3])
    K = np.exp(-np.square(x[:, None] - x))
    solution = maximise_margins(form_of([1, 1, 2, 2]).chain(C), kernel_space(K), 1e-10)
    assert solution.objective == pytest.approx(value, abs=5e-4 if C == 0.5 else 1e-6)
    assert solution.scores == pytest.approx(K @ solution.beta)
    assert solution.beta @ K @ solution.beta == pytest.approx(1)


def test_a_plane_of_an_integral_share_is_the_finite_end():
    """SL-11, 5.3: if C = C_min and C n_1 = 1, every a_1 up to the smallest score of rank 1 is optimal."""
    solution = solved([0, 1, 5, 6], [1, 1, 2, 2], 0.5)
    assert solution.thresholds.lower[0] == -np.inf and solution.thresholds.upper[1] == np.inf
    assert solution.thresholds.values == pytest.approx([0, 6])


@pytest.mark.parametrize(("C", "width"), [(0.9, 0), (1.1, 1)])
def test_a_rank_with_fewer_than_two_over_C_members_vanishes(C, width):
    """SL-14: ranks 1^4 2^2 3^4 at 0..3 | 10, 11 | 20..23."""
    ranks = [1] * 4 + [2] * 2 + [3] * 4
    solution = solved([0, 1, 2, 3, 10, 11, 20, 21, 22, 23], ranks, C)
    assert solution.thresholds.values[2] - solution.thresholds.values[1] == pytest.approx(width)
    assert vanished_ranks(form_of(ranks).chain(C), solution.scores) == ([] if width else [2])


def test_sparse_rows_and_duplicates_have_the_same_solution():
    random = np.random.default_rng(1)
    X = random.integers(-2, 3, size=(20, 3)).astype(float)
    ranks = np.concatenate([[1, 2, 3], 1 + np.argsort(np.argsort(X[3:] @ [1, 2, 3])) * 3 // 17])
    dense = solved(X, ranks, 0.5)
    assert solved(sparse.csr_matrix(X), ranks, 0.5).objective == pytest.approx(dense.objective, abs=1e-9)
    twice = solved(np.vstack([X, X]), np.concatenate([ranks, ranks]), 0.25)
    assert twice.objective == pytest.approx(dense.objective, abs=1e-9)


def test_points_end_when_they_are_told_to_and_leave_a_certified_solution():
    X, ranks, form, C = random_problem(4)
    chain, space = form.chain(C), LinearSpace(Rows(X))
    none = maximise_margins(chain, space, 1e-9, max_iterations=0)
    assert (none.status, none.n_iterations) == ("max_iterations", 0)

    def ctrl_c(n_iterations, mu, scores, w):
        if n_iterations == 1:
            raise KeyboardInterrupt

    interrupted = maximise_margins(chain, space, 1e-9, progress=ctrl_c)
    stopped = maximise_margins(chain, space, 1e-9, progress=lambda n_iterations, *_: n_iterations == 1)
    assert (interrupted.status, stopped.status) == ("interrupted", "stopped")
    assert isinstance(interrupted.interruption, KeyboardInterrupt)
    for solution in (none, interrupted, stopped):
        check_certificate(chain, solution, X)


SCALES = [1e-320, 1e-160, 1e-100, 1e-20, 1.0, 1e20, 1e100, 1e160, 1e300]


@pytest.mark.parametrize("C", [0.5, 1e10, 1e300])
def test_rows_of_every_allowed_scale_have_the_same_direction(C):
    random = np.random.default_rng(0)
    X = random.integers(-8, 9, size=(60, 4)) / 8.0
    ranks = np.digitize(X @ [2, -1, 0, 1.0], [-1, 1]) + 1
    plain = maximise_margins(form_of(ranks).chain(C), LinearSpace(Rows(X)))
    assert plain.status in ("converged", "stalled")
    for scale in (2.0**-240, 2.0**-100, 2.0**100, 2.0**240):
        solution = maximise_margins(form_of(ranks).chain(C), LinearSpace(Rows(X * scale)))
        assert solution.status == plain.status
        assert solution.w == pytest.approx(plain.w, rel=1e-9)
        assert solution.scores / scale == pytest.approx(plain.scores, rel=1e-9)


@pytest.mark.parametrize("kernel", [None, "linear", "rbf"])
@pytest.mark.parametrize("C", [None, 1.0, 1e10, 1e300])
def test_training_ends_without_a_bare_error_at_every_scale(kernel, C):
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 3))
    y = np.digitize(X @ [2, -1, 1.0], [-1, 1]) + 1
    own = C or 1.5 / min((y == 1).sum(), (y == 3).sum())
    rows = [X * scale for scale in SCALES] + [X * [1e-200, 1, 1e100], np.repeat(X[:4], 10, axis=0), np.ones((40, 3)), np.tile(X, 20)]
    for data in rows:
        engine = Engine("prank", plugins=["large-margin"] if kernel is None else ["dual-kernel", "large-margin"], trainer="svor", epochs=50,
                        update="exact-pa1", method="sum-of-margins", C=own, **({} if kernel is None else {"kernel": kernel}))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")      # about planes that meet, and columns of different scales
                engine.fit(data, y)
        except DataError as error:
            assert "Scale the features" in str(error)
        else:
            assert engine.status_ in ("converged", "stalled", "degenerate", "max_epochs") and engine.gap_ >= 0


def test_an_optimum_near_0_is_reached_with_a_kernel():
    """Pairwise coordinate steps need 26,000 passes for this optimum, or do not reach it."""
    for seed in range(12):
        random = np.random.default_rng(seed)
        X, y = random.normal(size=(27, 1)), random.permutation(np.arange(27) % 4 + 1)
        C = 1.5 / min((y == 1).sum(), (y == 4).sum())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")      # about planes that meet
            model = SVOR("sum-of-margins", C=C, kernel="rbf", scale=False, tol=1e-7, max_iter=2000).fit(X, y)
        assert model.status_ in ("converged", "stalled", "degenerate"), seed
        assert model.gap_ <= 3e-8, seed


@pytest.mark.parametrize("method", ["implicit", "explicit", "fixed-margin"])
def test_training_without_an_end_has_a_limit_and_a_gap(method):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(27, 1)), random.permutation(np.arange(27) % 4 + 1)
    model = SVOR(method, C=1e10, kernel="rbf", tol=1e-7).set_params(max_iter=300).fit(X, y)
    assert model.status_ == "max_epochs" and model.n_iter_ == 300 and 0 < model.gap_ < np.inf
    assert SVOR().max_iter == 10_000
