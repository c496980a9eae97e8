"""Tests of matchings against all matchings of small tables: prices that prove the optimum, the k best, and error messages."""

import itertools
import signal

import numpy as np
import pytest
from reference import matchings as slow
from ticking import one_signal

from structperc.errors import DataError
from structperc.solvers.matchings import k_best_matchings, match_pairs, matching_prices, max_matching


def matchings(n, m, perfect):
    """All matchings as partners of the rows."""
    for k in [min(n, m)] if perfect else range(min(n, m) + 1):
        for rows in itertools.combinations(range(n), k):
            for columns in itertools.permutations(range(m), k):
                partners = np.full(n, -1)
                partners[list(rows)] = columns
                yield partners


def total(scores, partners):
    rows = np.flatnonzero(partners >= 0)
    return scores[rows, partners[rows]].sum()


def tables(n, whole, forbidden=0.3):
    random = np.random.default_rng([n, whole])
    for _ in range(n):
        shape = tuple(random.integers(0, 5, 2))
        scores = random.integers(-2, 3, shape).astype(float) if whole else random.normal(size=shape)
        scores[random.random(shape) < forbidden] = -np.inf
        yield scores


@pytest.mark.parametrize("perfect", [False, True], ids=["partial", "perfect"])
@pytest.mark.parametrize("whole", [False, True], ids=["real scores", "ties"])
def test_the_best_of_all_matchings_is_found_and_proved(whole, perfect):
    refused = 0
    for scores in tables(600, whole):
        every = list(matchings(*scores.shape, perfect))
        totals = np.array([total(scores, partners) for partners in every])
        try:
            found = max_matching(scores, perfect)
        except DataError:
            assert totals.max(initial=-np.inf) == -np.inf
            refused += 1
            continue
        assert total(scores, found) == pytest.approx(totals.max(), abs=1e-12)
        u, v = matching_prices(scores, found, perfect)
        assert u.sum() + v.sum() == pytest.approx(totals.max(), abs=1e-9) and (u[:, None] + v >= scores - 1e-9).all()
        n, m = scores.shape
        assert (perfect and n <= m) or (u >= -1e-9).all()
        assert (perfect and m <= n) or (v >= -1e-9).all()
        worse = [partners for partners, score in zip(every, totals, strict=True) if -np.inf < score < totals.max() - 1e-6]
        if worse:
            with pytest.raises(DataError, match="not optimal"):
                matching_prices(scores, worse[0], perfect)
    assert refused > 0 if perfect else refused == 0


@pytest.mark.parametrize("perfect", [False, True], ids=["partial", "perfect"])
@pytest.mark.parametrize("whole", [False, True], ids=["real scores", "ties"])
def test_listed_pairs_are_matched_as_the_table_of_them(whole, perfect):
    random = np.random.default_rng(3)
    for scores in tables(400, whole, forbidden=0.6):
        listed = scores > -np.inf
        i, j = np.nonzero(listed)
        order = random.permutation(len(i))
        i, j = i[order], j[order]
        full = listed.any(axis=1).all() and listed.any(axis=0).all()        # else some item has no pair
        if perfect and not full:
            continue
        totals = [total(scores, partners) for partners in matchings(*scores.shape, perfect)]
        try:
            chosen = match_pairs(7 * i, j - 2, scores[i, j], perfect)
        except DataError as error:
            assert max(totals) == -np.inf and "no perfect matching exists" in str(error)
            continue
        assert scores[i, j][chosen].sum() == pytest.approx(max(totals), abs=1e-12) and (np.diff(chosen) > 0).all()
        assert len(set(i[chosen])) == len(set(j[chosen])) == len(chosen)


@pytest.mark.parametrize("perfect", [False, True], ids=["partial", "perfect"])
@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float64, ">i8", str, object])
def test_all_pairs_in_order_are_matched_as_their_table(kind, perfect):
    random = np.random.default_rng(5)
    for n, m in ((1, 1), (1, 4), (4, 1), (3, 3), (3, 5), (5, 3)):
        i, j = (ends.ravel() for ends in np.indices((n, m)))
        scores = random.integers(-2, 3, (n, m)).astype(float)
        partners = max_matching(scores, perfect)
        chosen = match_pairs((i + 1).astype(kind), (2 * j).astype(kind), scores.ravel(), perfect)
        if kind in (np.int32, np.int64, np.float64):
            assert chosen.tolist() == [m * r + k for r, k in enumerate(partners.tolist()) if k >= 0]
        assert scores.ravel()[chosen].sum() == total(scores, partners)
        pairs = np.stack([i, j], axis=1)[::-1].astype(kind if kind is not object else float)     # columns, in falling order
        assert scores.ravel()[::-1][match_pairs(*pairs.T, scores.ravel()[::-1], perfect)].sum() == total(scores, partners)


@pytest.mark.parametrize("items", [[0.0, 0.0, 1.0, np.nan], [0.0, np.nan, 0.0, 1.0], [np.nan, np.nan, 0.0, 0.0]])
def test_an_item_that_is_nan_raises_an_error(items):
    with pytest.raises(DataError, match="nan"):
        match_pairs(np.array(items), np.array([0.0, 1.0, 0.0, 1.0]), np.ones(4))
    with pytest.raises(DataError, match="nan"):
        match_pairs(np.array([0.0, 0.0, 1.0, 1.0]), np.array(items), np.ones(4))


@pytest.mark.parametrize("perfect", [False, True], ids=["partial", "perfect"])
@pytest.mark.parametrize("whole", [False, True], ids=["real scores", "ties"])
def test_the_k_best_are_distinct_and_in_order(whole, perfect):
    for scores in tables(200, whole):
        totals = np.array([total(scores, partners) for partners in matchings(*scores.shape, perfect)])
        totals = np.sort(totals[totals > -np.inf])[::-1]
        if len(totals) == 0:
            continue
        ranked = k_best_matchings(scores, 7, perfect)
        np.testing.assert_allclose([score for _, score in ranked], totals[:7], atol=1e-9)
        np.testing.assert_allclose([total(scores, partners) for partners, _ in ranked], totals[:7], atol=1e-9)
        assert len({tuple(partners) for partners, _ in ranked}) == len(ranked)


@pytest.mark.parametrize("perfect", [False, True], ids=["partial", "perfect"])
@pytest.mark.parametrize("large", [1.0, 2.0**1000], ids=["", "large"])
def test_the_k_best_are_those_of_cells_solved_from_nothing(perfect, large):
    random = np.random.default_rng([3, perfect])
    for n, m, forbidden in ((6, 6, 0.0), (9, 9, 0.4), (4, 11, 0.2), (11, 4, 0.2), (12, 10, 0.6), (1, 5, 0.0), (2, 2, 0.0)):
        for whole in (False, True):
            scores = random.integers(-1, 2, (n, m)).astype(float) if whole else random.normal(size=(n, m))
            scores[random.random((n, m)) < forbidden] = -np.inf
            scores *= large
            expected = slow.k_best(scores, 40, perfect)
            found = k_best_matchings(scores, 40, perfect) if expected else []
            assert [score for _, score in found] == [score for _, score in expected]
            assert len({tuple(partners) for partners, _ in found}) == len(found)
            assert [total(scores, partners) for partners, _ in found] == pytest.approx([score for _, score in found], abs=1e-9 * large)
            if not whole:
                assert [partners.tolist() for partners, _ in found] == [partners.tolist() for partners, _ in expected]


def test_a_given_first_matching_is_the_best_one_or_raises_an_error():
    scores = np.random.default_rng(0).normal(size=(5, 6))
    ranked = k_best_matchings(scores, 3)
    again = k_best_matchings(scores, 3, first=ranked[0][0])
    assert [(partners.tolist(), score) for partners, score in again] == [(partners.tolist(), score) for partners, score in ranked]
    with pytest.raises(DataError, match="first is not the best matching"):
        k_best_matchings(scores, 3, first=ranked[1][0])


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
def test_ctrl_c_stops_the_search_for_further_matchings():
    with pytest.raises(KeyboardInterrupt), one_signal(0.05) as send:
        send()
        k_best_matchings(np.zeros((60, 60)), 10**7, perfect=True)
    assert len(k_best_matchings(np.eye(2), 2)) == 2


def test_large_tables_are_proved_by_their_prices():
    random = np.random.default_rng(0)
    for shape in ((60, 60), (40, 70), (70, 40)):
        for perfect in (False, True):
            scores = random.normal(size=shape)
            scores[random.random(shape) < 0.5] = -np.inf
            found = max_matching(scores, perfect)
            u, v = matching_prices(scores, found, perfect)
            assert (u[:, None] + v >= scores - 1e-9).all() and u.sum() + v.sum() == pytest.approx(total(scores, found))


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: max_matching([[1, np.nan]]), r"scores\[0, 1\] is nan; expected a finite number, or -inf to forbid it"),
    (lambda: max_matching([[np.inf]]), r"scores\[0, 0\] is inf"),
    (lambda: max_matching([1, 2]), r"scores has the shape \(2,\); expected \(n_rows, n_columns\)"),
    (lambda: max_matching([["a"]]), "expected an array of real numbers"),
    (lambda: max_matching([[1, -np.inf], [1, -np.inf]], True), "exists: rows 0, 1 may only be matched with columns 0"),
    (lambda: max_matching([[1, 1], [-np.inf, -np.inf]], True), "rows 1 may only be matched with none of the columns"),
    (lambda: max_matching([[1, -np.inf], [1, -np.inf], [2, -np.inf]], True), "columns 1 may only be matched with none of the rows"),
    (lambda: match_pairs([0, 0], [1, 1], [1, 2]), "pair 1, of 0 and 1, is listed twice"),
    (lambda: match_pairs([0, 0], [1], [1, 2]), r"right has the shape \(1,\); expected \(2,\)"),
    (lambda: match_pairs([0], [1], [np.nan]), r"scores\[0\] is nan"),
    (lambda: match_pairs([0], [1], [1, 2]), r"scores has the shape \(2,\); expected \(1,\)"),
    (lambda: match_pairs([0, 3, 5, 5], [1, 1, 2, 4], [1] * 4, True), "left items 0, 3 may only be matched with right items 1"),
    (lambda: match_pairs([0, 3], [1, 2], [1, -np.inf], True), "no pair is left for the left item 3"),
])  # fmt: skip
def test_what_cannot_be_matched_is_said(call, sentence):
    with pytest.raises(DataError, match=sentence):
        call()


def test_no_items_are_matched_with_none():
    assert max_matching(np.zeros((0, 3)), True).tolist() == [] and max_matching(np.zeros((2, 0))).tolist() == [-1, -1]
    assert match_pairs([], [], []).tolist() == []
