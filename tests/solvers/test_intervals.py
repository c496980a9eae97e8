"""Tests of disjoint intervals against all choices of a few: the best choice and its proof, the k best, marginals, errors."""

from itertools import chain, combinations

import numpy as np
import pytest

from structperc.errors import DataError
from structperc.solvers.intervals import best_intervals, interval_marginals, k_best_intervals


def choices(starts, stops, weights):
    """All disjoint choices of allowed intervals, in the order of time."""
    order = sorted(np.flatnonzero(weights > -np.inf).tolist(), key=lambda a: starts[a])
    for chosen in chain.from_iterable(combinations(order, r) for r in range(len(order) + 1)):
        if all(stops[a] <= starts[b] for a, b in zip(chosen, chosen[1:], strict=False)):
            yield chosen


@pytest.mark.parametrize("whole", [False, True], ids=["real weights", "ties"])
def test_the_best_choice_is_found(whole):
    random = np.random.default_rng(int(whole))
    for _ in range(300):
        m = int(random.integers(0, 7))
        starts = random.integers(0, 6, m).astype(float)
        stops = starts + random.integers(1, 4, m)
        weights = random.integers(-1, 3, m).astype(float) if whole else random.normal(size=m)
        weights[random.random(m) < 0.1] = -np.inf
        every = list(choices(starts, stops, weights))
        totals = np.array([sum(weights[list(chosen)]) for chosen in every])

        chosen, weight, prices = best_intervals(starts, stops, weights)
        assert tuple(chosen.tolist()) in every and weight == pytest.approx(totals.max(), abs=1e-12)
        assert weight == pytest.approx(sum(weights[chosen]))
        ends = np.unique(np.append(starts, stops))
        assert (np.diff(prices) >= 0).all()
        rise = prices[np.searchsorted(ends, stops)] - prices[np.searchsorted(ends, starts)]
        assert (rise >= weights - 1e-12).all() and (m == 0 or prices[-1] == weight), "the prices prove it"

        ranked = k_best_intervals(starts, stops, weights, 5)
        assert ranked[0][0] == tuple(chosen.tolist()) and all(found in every for found, _ in ranked)
        assert len({found for found, _ in ranked}) == len(ranked)
        np.testing.assert_allclose([value for _, value in ranked], np.sort(totals)[::-1][:5], atol=1e-12)

        log_z, shares = interval_marginals(starts, stops, weights)
        p = np.exp(totals - log_z)
        assert p.sum() == pytest.approx(1)
        np.testing.assert_allclose(shares, sum(q * np.isin(np.arange(m), found) for q, found in zip(p, every, strict=True)), atol=1e-12)


def test_nothing_stands_last_at_a_tie():
    assert best_intervals([0, 1], [1, 2], [0.0, 0.0])[0].tolist() == []
    assert best_intervals([0, 0], [1, 1], [2.0, 2.0])[0].tolist() == [0]


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: best_intervals([1], [1], [1]), r"interval 0 goes from 1.0 to 1.0; expected a stop after the start"),
    (lambda: best_intervals([1, np.nan], [2, 3], [1, 1]), r"starts\[1\] is nan"),
    (lambda: best_intervals([1], [2], [np.inf]), r"weights\[0\] is inf"),
    (lambda: best_intervals([1], [2, 3], [1]), r"stops has the shape \(2,\); expected \(1,\)"),
    (lambda: best_intervals(["a"], [2], [1]), "expected an array of real numbers"),
])  # fmt: skip
def test_what_is_no_interval_is_said(call, sentence):
    with pytest.raises(DataError, match=sentence):
        call()
