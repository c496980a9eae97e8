"""Tests of 0/1 programs: both solvers against all 0/1 vectors, and error messages."""

import copy
import itertools
import pickle
import threading
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from structperc.errors import DataError, MissingExtra, OptionError
from structperc.solvers import program_parts
from structperc.solvers.integer_programs import ILP, Infeasible, solve_ilp

try:
    import highspy
except ImportError:
    highspy = None

SOLVERS = ["scipy", pytest.param("highspy", marks=pytest.mark.skipif(highspy is None, reason="needs structperc[ilp]"))]
PAIRS = [[1, 1, 0], [1, 0, 1], [0, 1, 1]]


@pytest.fixture(params=["all vectors", "HiGHS"])
def way(request, monkeypatch):
    """How programs of few variables are solved: as usual, or as those of many."""
    if request.param == "HiGHS":
        monkeypatch.setattr(program_parts, "few", lambda n_rows, n: False)
    return request.param


def drawn(random, whole):
    """A random program of up to seven variables, and scores, of which some are -inf."""
    n, m, k = random.integers(0, 8), random.integers(0, 4), random.integers(0, 3)
    program = (random.integers(-2, 4, (m, n)), random.integers(0, 6, m), random.integers(-1, 2, (k, n)), random.integers(-1, 3, k))
    scores = random.integers(-2, 3, n).astype(float) if whole else random.normal(size=n)
    scores[random.random(n) < 0.15] = -np.inf
    return program, scores


def feasible(program, scores):
    """All feasible 0/1 vectors, and their scores."""
    A, b, A_eq, b_eq = program
    v = np.array(list(itertools.product((0, 1), repeat=len(scores))), dtype=float).reshape(2 ** len(scores), -1)
    v = v[(v @ A.T <= b).all(axis=1) & (v @ A_eq.T == b_eq).all(axis=1) & ~v[:, scores == -np.inf].any(axis=1)]
    return v, v @ np.where(scores > -np.inf, scores, 0)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("whole", [False, True], ids=["real scores", "ties"])
def test_the_best_of_all_vectors_is_found(solver, whole, way):
    random, statuses = np.random.default_rng(whole), set()
    for _ in range(100):
        program, scores = drawn(random, whole)
        v, totals = feasible(program, scores)
        try:
            found = ILP(*program, solver=solver).solve(scores)
        except Infeasible:
            assert len(v) == 0
            continue
        assert (v == found.v).all(axis=1).any() and found.score == pytest.approx(totals.max(), abs=1e-9)
        assert found.exact and found.gap == 0 and found.score <= found.bound <= found.score + 1e-6
        assert found.chosen.tolist() == np.flatnonzero(found.v).tolist()
        statuses.add(found.status)
    assert statuses == {"exact-lp", "exact-milp" if way == "HiGHS" else "exact-subsets"}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_the_linear_program_bounds_all_vectors(seed, whole):
    program, scores = drawn(np.random.default_rng(seed), whole)
    _, totals = feasible(program, scores)
    try:
        found = solve_ilp(scores, *program, relaxed=True)
    except Infeasible:
        assert len(totals) == 0
        return
    assert ((found.v >= -1e-9) & (found.v <= 1 + 1e-9)).all() and found.bound >= found.score - 1e-9
    assert totals.max(initial=-np.inf) <= found.bound + 1e-6 and found.status in ("exact-lp", "relaxed")


@pytest.mark.parametrize("whole", [False, True], ids=["real scores", "ties"])
def test_the_k_best_are_distinct_and_in_order(whole, way):
    random = np.random.default_rng(7)
    for _ in range(60):
        program, scores = drawn(random, whole)
        _, totals = feasible(program, scores)
        if len(totals) == 0:
            continue
        ranked = ILP(*program).k_best(scores, 5)
        np.testing.assert_allclose([found.score for found in ranked], np.sort(totals)[::-1][:5], atol=1e-9)
        assert len({tuple(found.v) for found in ranked}) == len(ranked)


def test_a_fractional_vertex_is_refined_unless_it_is_wanted():
    relaxed, exact = solve_ilp([1, 1, 1], PAIRS, [1, 1, 1], relaxed=True), solve_ilp([1, 1, 1], PAIRS, [1, 1, 1])
    np.testing.assert_allclose(relaxed.v, 0.5)
    assert (relaxed.score, relaxed.bound, relaxed.status) == (1.5, 1.5, "relaxed") and not relaxed.exact
    assert (exact.score, exact.bound, exact.gap, exact.status) == (1, 1, 0, "exact-subsets")


def test_branch_and_bound_that_is_stopped_says_how_far_it_may_be():
    random = np.random.default_rng(3)
    A, scores = random.integers(1, 40, (5, 40)), random.normal(size=40) + 2
    stopped, best = solve_ilp(scores, A, A.sum(axis=1) // 4, most_nodes=1), solve_ilp(scores, A, A.sum(axis=1) // 4)
    assert best.status == "exact-milp" and stopped.status == "relaxed" and set(stopped.v) <= {0, 1}
    assert stopped.score <= best.score + 1e-6 <= stopped.bound + 2e-6 and stopped.gap == stopped.bound - stopped.score > 0


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e12])
def test_tolerances_go_with_the_scores(solver, scale):
    found = ILP(PAIRS, [1, 1, 1], solver=solver).solve(np.array([1.0, 1.5, 1.25]) * scale)
    assert found.chosen.tolist() == [1] and found.score == 1.5 * scale and found.bound == pytest.approx(1.5 * scale, rel=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_answer_does_not_depend_on_earlier_ones(solver):
    random = np.random.default_rng(0)
    program = ILP(random.integers(0, 4, (4, 12)), [6] * 4, solver=solver)
    scores = random.integers(-1, 3, (25, 12)).astype(float)
    scores[::5, :3] = -np.inf
    first = [program.solve(s).v.tolist() for s in scores]
    assert [program.solve(s).v.tolist() for s in scores[::-1]][::-1] == first
    assert [copy.deepcopy(program).solve(s).v.tolist() for s in scores] == first
    again = pickle.loads(pickle.dumps(program))
    assert repr(again) == repr(program) == "ILP(4 inequalities and 0 equations in 12 variables)" and again.solver == solver
    assert [again.solve(s).v.tolist() for s in scores] == first

    together = []
    threads = [threading.Thread(target=lambda: together.append([program.solve(s).v.tolist() for s in scores])) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == [first] * 3


def test_rows_may_be_sparse_and_single_rows_flat():
    assert solve_ilp([2, 1, -1], csr_array([[1, 1, 1]]), [1]).chosen.tolist() == [0]
    assert solve_ilp([2, 1, -1], [1, 1, 1], 2).chosen.tolist() == [0, 1]
    assert solve_ilp([2, 1, -1], A_eq=[1, 1, 1], b_eq=3).score == 2
    empty = solve_ilp([], np.zeros((1, 0)), [0])
    assert empty.v.shape == (0,) and (empty.score, empty.bound, empty.status) == (0, 0, "exact-lp")


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: solve_ilp([1, 1, 0], PAIRS, [1, -1, 1]), "no v between 0 and 1 is feasible: row 1 of A contradict each other"),
    (lambda: solve_ilp([1, 1], [[1, 1]], [1], [[1, 1]], [2]), "row 0 of A, row 0 of A_eq contradict each other"),
    (lambda: solve_ilp([1, -np.inf], A_eq=[[1, 1], [0, 1]], b_eq=[1, 1]), "row 1 of A_eq and the forbidden variables contradict"),
    (lambda: solve_ilp([1, 1], A_eq=[[2, 2]], b_eq=[1]), "contradict each other for whole numbers: fractional v satisfy them"),
    (lambda: solve_ilp([], np.zeros((1, 0)), [-1]), "the empty one has 0 in row 0 of A where at most -1 is allowed"),
])  # fmt: skip
def test_programs_without_a_vector_are_refused_with_a_witness(call, sentence):
    with pytest.raises(Infeasible, match=sentence):
        call()


@pytest.mark.parametrize(("call", "kind", "sentence"), [
    (lambda: solve_ilp([1, np.nan], [[1, 1]], [1]), DataError, r"scores\[1\] is nan; expected a finite number, or -inf to forbid it"),
    (lambda: solve_ilp([np.inf, 1], [[1, 1]], [1]), DataError, r"scores\[0\] is inf"),
    (lambda: solve_ilp([1], [[1, 1]], [1]), DataError, r"scores has the shape \(1,\); expected \(2,\)"),
    (lambda: solve_ilp(["a", 2], [[1, 1]], [1]), DataError, "expected an array of real numbers"),
    (lambda: ILP(), DataError, "neither A, b nor A_eq, b_eq were given"),
    (lambda: ILP([[1, 1]]), DataError, "A was given without b; expected both or neither"),
    (lambda: ILP(b_eq=[1]), DataError, "b_eq was given without A_eq"),
    (lambda: ILP([[1, 1]], [1, 2]), DataError, r"b has the shape \(2,\); expected \(1,\)"),
    (lambda: ILP([[1, 1]], [1], [[1]], [1]), DataError, "A has 2 columns and A_eq 1"),
    (lambda: ILP([[1, np.inf]], [1]), DataError, r"A\[0, 1\] is inf; expected a finite number"),
    (lambda: ILP([["x"]], [1]), DataError, "A is .* expected an array of real numbers"),
    (lambda: ILP([[1]], [1], solver="gurobi"), OptionError, "solver='gurobi'; expected 'scipy' or 'highspy'"),
])  # fmt: skip
def test_what_is_no_program_is_refused(call, kind, sentence):
    with pytest.raises(kind, match=sentence):
        call()


def test_highspy_is_asked_for_by_its_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "highspy", None)
    with pytest.raises(MissingExtra, match=r"solver='highspy' needs highspy; install structperc\[ilp\]"):
        ILP([[1]], [1], solver="highspy")


def test_violated_names_the_row():
    program = ILP([[1, 1]], [1], [[1, 0]], [1])
    assert program.violated(np.array([1.0, 0.0])) is None
    assert program.violated(np.ones(2)) == "has 2 in row 0 of A where at most 1 is allowed"
    assert program.violated(np.zeros(2)) == "has 0 in row 0 of A_eq where exactly 1 is allowed"
    assert program.violated(np.zeros(3)) == "has 3 variables where the program has 2"


# ---- auxiliary variables ----


def lots(seed, whole):
    """A program with the auxiliary variables z and z - 0.5, which bound the weight of the chosen items; see `feasible_by_hand`."""
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 6))
    weight = random.integers(1, 5, n).astype(float)
    A = np.array([[*weight, -2.5, 0.0], [*-weight, 0.0, 1.0]])
    return dict(A=A, b=[0.0, 1.0], A_eq=[[*np.zeros(n), 1.0, -1.0]], b_eq=[0.5], auxiliary=[(-np.inf, 4), (-1, np.inf)],
                whole=[whole, False])


def feasible_by_hand(program, v, whole):
    """Whether some z meets w <= 2.5 z, -1 <= z - 0.5 <= w + 1 and z <= 4. With `whole`, z must be a whole number."""
    w = program["A"][0, :len(v)] @ v
    low, high = max(w / 2.5, -0.5), min(4.0, w + 1.5)
    return np.ceil(low - 1e-9) <= high + 1e-9 if whole else low <= high + 1e-9


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_auxiliary_variables_only_make_room(solver, whole, seed):
    program = lots(seed, whole)
    n, random = program["A"].shape[1] - 2, np.random.default_rng(seed)
    made = ILP(**program, solver=solver)
    vectors = [np.array(v, dtype=float) for v in itertools.product((0, 1), repeat=n)]
    right = [v for v in vectors if feasible_by_hand(program, v, whole)]
    assert [made.violated(v) is None for v in vectors] == [feasible_by_hand(program, v, whole) for v in vectors]
    for scores in (random.normal(size=n), random.integers(-2, 3, n).astype(float)):
        best = max(scores @ v for v in right)
        found = made.solve(scores)
        assert found.score == pytest.approx(best) and found.exact and found.v.shape == (n,) and found.auxiliary.shape == (2,)
        assert made.violated(found.v) is None and (not whole or found.auxiliary[0] == round(found.auxiliary[0]))
        assert made.solve(scores, relaxed=True).bound >= best - 1e-9
        assert [f.score for f in made.k_best(scores, 3)] == pytest.approx(sorted((scores @ v for v in right), reverse=True)[:3])
        assert pickle.loads(pickle.dumps(made)).solve(scores).score == pytest.approx(best)


@pytest.mark.parametrize("call", [
    lambda: ILP([[1, 1]], [1], auxiliary=[(0, 1), (0, 1), (0, 1)]), lambda: ILP([[1, 1]], [1], auxiliary=[(1, 0)]),
    lambda: ILP([[1, 1]], [1], auxiliary=[(0, 1)], whole=[True, False]), lambda: ILP([[1, 1]], [1], auxiliary=3),
    lambda: ILP([[1, 1]], [1], auxiliary=[(0, np.nan)]), lambda: ILP([[1, 1, 1]], [1], auxiliary=[(0, 1)] * 2, whole=[1, 2]),
    lambda: ILP([[1, 1, 1]], [1], auxiliary=[(0, 1)] * 2, whole=[1]),
    lambda: ILP([[1, 1, 1]], [1], auxiliary=[(0, 1)] * 2, whole=[0, 1, 1]),
    lambda: ILP([[1, 1, 1]], [1], auxiliary=[(0, 1)] * 2, whole=["", "a"]),
])  # fmt: skip
def test_what_are_no_auxiliary_variables_is_refused(call):
    with pytest.raises(DataError, match="auxiliary"):
        call()


def test_rows_that_contradict_each_other_are_named_with_auxiliary_variables_too():
    with pytest.raises(Infeasible, match="row 0 of A, row 0 of A_eq contradict"):
        ILP([[1, 1, 1]], [1], [[0, 0, 1]], [2], auxiliary=[(0, 5)]).solve([1, 1])


# ---- answers are checked against the program as it was given ----


@pytest.mark.parametrize(("rows", "side", "right"), [
    ([600000, 400001], 10**6, 1), ([500000501, 500000000], 10**9, 1), ([600, 900], 1000, 1), ([1, 2], 3, 2), ([2**50, 3], 2**50 + 2, 1),
])  # fmt: skip
@pytest.mark.parametrize("unit", [1e-12, 1e-9, 1e-3, 1.0, 1e12])
def test_a_budget_holds_in_any_unit(rows, side, right, unit, way):
    if max(rows) > 2**40 and unit != 1:
        return                                  # in another unit, the two sides are one floating point number
    program = ILP([np.multiply(rows, unit)], [side * unit])
    assert program.solve([1, 1]).score == right and program.solve([1, 1]).exact
    assert (program.violated(np.ones(2)) is None) == (right == 2)
    assert all(program.violated(one.v) is None for one in program.k_best([1, 1], 9))
    relaxed = program.solve([1, 1], relaxed=True)
    assert relaxed.status == "relaxed" or relaxed.score == right


def test_whole_numbers_beyond_the_exact_ones_are_compared_as_such():
    program = ILP([[2**53, 1]], [2**53])
    assert program.solve([1, 2]).chosen.tolist() == [1] and program.violated(np.ones(2)) is not None
    again = pickle.loads(pickle.dumps(program)).without(np.array([0.0, 1.0]))
    assert again.violated(np.ones(2)) is not None and again.solve([1, 2]).chosen.tolist() == [0]
    with pytest.raises(DataError, match=r"A\[0, 0\] is 9007199254740993, which float64 cannot hold"):
        ILP([[2**53 + 1, 1]], [2**53])


def test_sums_that_only_rounding_sets_above_a_side_are_no_violation():
    assert solve_ilp([1, 1], [[0.1, 0.2]], [0.3]).score == 2
    assert solve_ilp([1, 1, 1], A_eq=[[0.1, 0.1, 0.1]], b_eq=[0.3]).score == 3


def test_the_row_that_a_vector_breaks_is_named_with_all_digits():
    assert ILP([[600000, 400001]], [10**6]).violated(np.ones(2)) == "has 1000001 in row 0 of A where at most 1000000 is allowed"
    assert ILP([[0.25, 0.5]], [0.7]).violated(np.ones(2)) == "has 0.75 in row 0 of A where at most 0.7 is allowed"


def in_units(random):
    """A program with each row in a unit of its own, scores over many orders, and all feasible vectors."""
    n, m = int(random.integers(2, 9)), int(random.integers(1, 4))
    A = random.integers(-3, 5, (m, n)) if random.random() < 0.4 else random.integers(1, 10**7, (m, n))
    b = np.array([row[random.random(n) < 0.6].sum() - random.integers(0, 2) for row in A])
    A_eq = random.integers(-1, 3, (int(random.integers(0, 2)), n)) * 10**6
    b_eq = np.array([row[random.random(n) < 0.5].sum() for row in A_eq])
    units, units_eq = 10.0 ** random.integers(-12, 13, m), 10.0 ** random.integers(-12, 13, len(b_eq))
    scores = random.normal(size=n) * 10 ** random.uniform(-6, 6, n)
    v = np.array(list(itertools.product((0, 1), repeat=n)))
    return (A * units[:, None], b * units, A_eq * units_eq[:, None], b_eq * units_eq), scores, v[((v @ A.T <= b).all(axis=1)) & (
        v @ A_eq.T == b_eq).all(axis=1)]


def exact_score(scores, v):
    return sum((Fraction(s) for s, chosen in zip(scores.tolist(), v, strict=True) if chosen), Fraction(0))


def test_programs_in_any_units_have_the_answers_of_fractions(way):
    for seed in range(150 if way == "all vectors" else 50):
        program, scores, v = in_units(np.random.default_rng(seed))
        if not len(v):
            with pytest.raises(Infeasible):
                ILP(*program).solve(scores)
            continue
        solution = ILP(*program).solve(scores)
        assert (v == solution.v).all(axis=1).any(), seed
        best = max(exact_score(scores, one) for one in v)
        assert exact_score(scores, solution.v) == best or not solution.exact, seed
        assert solution.exact or way == "HiGHS"
        ranked = [exact_score(scores, one.v) for one in ILP(*program).k_best(scores, 3)]
        assert ranked == sorted((exact_score(scores, one) for one in v), reverse=True)[:3] or way == "HiGHS", seed


@pytest.mark.parametrize("bonus", [1e7, 1e12])
def test_a_large_score_does_not_blur_the_others(bonus):
    """With a variable of its own, and with one in the same row: more variables than all vectors are looked at for."""
    for seed in range(4):
        random = np.random.default_rng(seed)
        A, scores = random.integers(1, 30, (1, 24)), random.normal(size=24) + 1
        best = solve_ilp(scores, A, [100])
        beside = solve_ilp(np.append(scores, bonus), np.append(A, [[0]], axis=1), [100])
        within = solve_ilp(np.append(scores, bonus), np.append(A, [[7]], axis=1), [107])
        assert beside.v[:-1].tolist() == within.v[:-1].tolist() == best.v.tolist() and beside.exact and within.exact


def test_auxiliary_variables_have_no_slack_of_their_own():
    for unit in (1e-9, 1.0, 1e9):
        row = np.array([[600000.0 * unit, 400001.0 * unit, -1.0]])
        for whole in (False, unit == 1):
            program = ILP(row, [0], auxiliary=[(0, 1e6 * unit)], whole=whole)
            assert program.solve([1, 1]).score == 1 and program.violated(np.ones(2)) is not None
            assert program.violated(np.array([1.0, 0.0])) is None


@pytest.mark.parametrize("mask", [[1, 1, 0], (True, True, False), np.array([1.0, 1, 0]), np.array([True, True, False])])
def test_a_mask_of_whole_variables_in_every_form(mask):
    assert ILP([[1] * 4], [2], auxiliary=[(0, 1)] * 3, whole=mask).whole.tolist() == [True, True, False]


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_smallest_numbers_are_scores(solver, way):
    """A factor that brings them to 1 would be infinite."""
    r = np.random.default_rng(3)
    for n in (4, 18):
        A, scores = r.integers(1, 9, (2, n)), r.integers(1, 1000, n).astype(float)
        program = ILP(A, A.sum(axis=1) // 3, solver=solver)
        best = program.solve(scores)
        for exponent in (-1070, -1000, 900):
            found = program.solve(np.ldexp(scores, exponent))
            assert scores @ found.v == scores @ best.v and found.score == np.ldexp(best.score, exponent)
