"""Tests of the chains of the large-margin methods: they are the duals of the primal programs, and C and nu have correct ranges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import large_margin
from structperc_large_margin.forms import METHODS, Form

from structperc.errors import DataError, OptionError

TOLERANCE = 1e-6


@st.composite
def data(draw, *methods, most_ranks=4):
    """Draws a method, rows that may repeat, ranks without a gap, and optional costs and sample weights."""
    n_ranks = draw(st.integers(2, most_ranks))
    n = draw(st.integers(n_ranks, 9))
    ranks = np.array([*range(1, n_ranks + 1), *(draw(st.integers(1, n_ranks)) for _ in range(n - n_ranks))])
    X = np.array([[draw(st.integers(-3, 3)) for _ in range(2)] for _ in range(n)], dtype=float)
    costs = None
    if draw(st.booleans()):
        steps = np.array([[draw(st.integers(1, 3)) for _ in range(n_ranks - 1)] for _ in range(n)], dtype=float)
        costs = np.array([[step[min(k, y) - 1:max(k, y) - 1].sum() for k in range(1, n_ranks + 1)]
                          for y, step in zip(ranks, steps, strict=True)])
    weight = np.array([draw(st.sampled_from([0.5, 1.0, 2.0])) for _ in range(n)]) if draw(st.booleans()) else None
    return draw(st.sampled_from(methods or METHODS)), X, ranks, n_ranks, costs, weight


def feasible(chain, mu):
    flow = np.array([(chain.sign * mu)[chain.node <= m].sum() - chain.offset[:m + 1].sum() for m in range(chain.n_nodes)])
    inner = flow[:-1] >= -1e-9 if chain.open_arcs else abs(flow[:-1]) <= 1e-9
    return inner.all() and abs(flow[-1]) <= 1e-9 and (mu >= 0).all() and (mu <= chain.cap).all()


@settings(max_examples=60, deadline=None)
@given(drawn=data(), C=st.sampled_from([0.1, 1.0, 10.0]))
def test_the_dual_of_a_chain_has_the_value_of_the_program_that_it_stands_for(drawn, C):
    method, X, ranks, n_ranks, costs, weight = drawn
    form = Form(method, ranks, n_ranks, costs, weight)
    W = large_margin.weights_of(method, ranks, n_ranks, costs, weight)
    C = max(C, form.smallest_C)
    chain = form.chain(C)
    dual = large_margin.chain_dual(chain, X @ X.T)
    if method == "sum-of-margins":
        primal = large_margin.margins_primal(X, ranks, W, C)
    else:
        primal = large_margin.threshold_primal(X, ranks, W, C, form.open_arcs)

    np.testing.assert_array_equal(form.weights, W)
    assert feasible(chain, chain.start)
    assert (np.diff(chain.node) >= 0).all() and (chain.cap > 0).all()
    assert primal.value == pytest.approx(-dual.value, rel=TOLERANCE, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(drawn=data("implicit"), C=st.sampled_from([0.1, 1.0, 10.0]))
def test_thresholds_of_closed_implicit_chains_need_no_constraints(drawn, C):
    method, X, ranks, n_ranks, costs, weight = drawn
    form = Form(method, ranks, n_ranks, costs, weight)
    W = large_margin.weights_of(method, ranks, n_ranks, costs, weight)
    free, ordered = (large_margin.threshold_primal(X, ranks, W, C, order) for order in (False, True))

    assert form.open_arcs or free.value == pytest.approx(ordered.value, rel=TOLERANCE, abs=1e-7)


def test_absolute_costs_weigh_every_threshold_alike_and_zero_one_costs_those_beside_the_rank():
    ranks = np.array([1, 2, 2, 3, 4])
    absolute = abs(ranks[:, None] - np.arange(1, 5)).astype(float)
    explicit, zero_one = Form("explicit", ranks, 4), Form("implicit", ranks, 4, (absolute > 0).astype(float))

    assert Form("implicit", ranks, 4).weights.tolist() == Form("implicit", ranks, 4, absolute).weights.tolist() == np.ones((5, 3)).tolist()
    assert zero_one.weights.tolist() == explicit.weights.tolist() and zero_one.open_arcs and explicit.open_arcs
    assert not Form("implicit", ranks, 4, absolute**2).open_arcs


# ---- ranges ----


@settings(max_examples=40, deadline=None)
@given(drawn=data("sum-of-margins"))
def test_the_sum_of_margins_is_bounded_from_the_smallest_C_on(drawn):
    method, X, ranks, n_ranks, costs, weight = drawn
    form = Form(method, ranks, n_ranks, costs, weight)

    assert large_margin.margins_primal(X, ranks, form.weights, form.smallest_C * 1.001) is not None
    assert large_margin.margins_primal(X, ranks, form.weights, form.smallest_C * 0.98) is None
    with pytest.raises(OptionError, match="unbounded"):
        form.chain(form.smallest_C * 0.98)


@settings(max_examples=40, deadline=None)
@given(drawn=data(*METHODS[:3]))
def test_nu_is_bounded_by_what_the_ranks_can_balance(drawn):
    method, X, ranks, n_ranks, costs, weight = drawn
    form = Form(method, ranks, n_ranks, costs, weight)
    bounded, unbounded = (large_margin.nu_primal(X, ranks, form.weights, form.largest_nu * share, form.open_arcs, form.total)
                          for share in (0.99, 1.02))

    assert bounded is not None and unbounded is None
    form.check_nu(form.largest_nu)
    for nu in (0, -1.0, np.nan, form.largest_nu * 1.01):
        with pytest.raises(OptionError, match="at most"):
            form.check_nu(nu)


def test_the_largest_nu_of_three_balanced_ranks_is_above_1():
    assert Form("fixed-margin", np.repeat([1, 2, 3], 5), 3).largest_nu == pytest.approx(4 / 3)


def test_class_sizes_decide_the_smallest_C_and_not_their_sum():
    """Errata SL-3: 1, 10 and 10 examples need C >= 1; with 10, 1 and 10 the program is bounded at C = 0.12."""
    few = Form("sum-of-margins", np.repeat([1, 2, 3], [1, 10, 10]), 3)
    many = Form("sum-of-margins", np.repeat([1, 2, 3], [10, 1, 10]), 3)

    assert few.smallest_C == 1 and many.smallest_C == 0.1
    many.chain(0.12)


@pytest.mark.parametrize("C", [0, -1.0, np.inf, np.nan])
def test_C_must_be_positive_and_finite(C):
    with pytest.raises(OptionError, match="above 0"):
        Form("implicit", np.array([1, 2]), 2).chain(C)


def test_the_sum_of_margins_has_no_nu():
    with pytest.raises(OptionError, match="margin errors"):
        Form("sum-of-margins", np.array([1, 2]), 2).check_nu(0.5)


# ---- missing ranks ----


@pytest.mark.parametrize("method", ["explicit", "fixed-margin"])
def test_methods_of_neighbouring_ranks_refuse_a_missing_rank(method):
    with pytest.raises(DataError, match=r"no example of rank 'b' has a weight.*method='implicit'"):
        Form(method, np.array([1, 1, 3, 4]), 4, labels=["a", "b", "c", "d"])


def test_the_other_methods_need_the_outer_ranks_alone():
    Form("implicit", np.array([1, 1, 3, 4]), 4), Form("sum-of-margins", np.array([1, 1, 3, 4]), 4)
    for method in ("implicit", "sum-of-margins"):
        for missing in ([2, 3, 4], [1, 2, 3]):
            with pytest.raises(DataError, match="merge"):
                Form(method, np.array(missing), 4)
    with pytest.raises(DataError, match="rank 1 has a weight"):
        Form("implicit", np.array([1, 2]), 2, sample_weight=[0.0, 1.0])


def test_a_threshold_that_costs_nothing_to_cross_is_refused():
    with pytest.raises(DataError, match="no cost differs between the ranks 2 and 3"):
        Form("implicit", np.array([1, 2, 3]), 3, np.array([[0, 1, 1.0], [1, 0, 0], [1, 1, 0]]))


def test_costs_that_fall_on_the_way_to_an_end_are_refused():
    with pytest.raises(DataError, match="must not fall"):
        Form("implicit", np.array([1, 2, 3]), 3, np.array([[0, 2, 1.0], [1, 0, 1], [2, 1, 0]]))


# ---- the programs themselves ----


@pytest.mark.parametrize("method, value", [("fixed-margin", 0.38), ("explicit", 0.425)])
def test_a_small_middle_class(method, value):
    """Ranks 1, 1, 2, 3, 3 at x = 0 .. 4, C = 0.1."""
    X, ranks = np.arange(5.0)[:, None], np.array([1, 1, 2, 3, 3])
    form = Form(method, ranks, 3)

    assert large_margin.threshold_primal(X, ranks, form.weights, 0.1, form.open_arcs).value == pytest.approx(value)
    assert -large_margin.chain_dual(form.chain(0.1), X @ X.T).value == pytest.approx(value)


def test_the_margins_of_separable_ranks_add_up_at_every_C_from_1_on():
    """Errata SL-2: x = 0 | 2, 4 | 7 has margins of 2 and 3."""
    X, ranks = np.array([[0.0], [2.0], [4.0], [7.0]]), np.array([1, 2, 2, 3])
    form = Form("sum-of-margins", ranks, 3)

    for C in (1.0, 2.5, 4.0):
        assert large_margin.margins_primal(X, ranks, form.weights, C).value == pytest.approx(-5)
        assert large_margin.chain_dual(form.chain(C), X @ X.T).value == pytest.approx(5)
