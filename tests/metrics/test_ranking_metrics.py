"""Measures of rankings: hand-made cases, the twins' definitions, scikit-learn where definitions agree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import rankings
from sklearn.metrics import average_precision_score, ndcg_score

from structperc.errors import DataError, OptionError
from structperc.metrics import document_places, mean_average_precision, ndcg_at_k, pair_accuracy, precision_at_k

Y, SCORES = [1, 0, 2, 0, 1], [5.0, 4.0, 3.0, 2.0, 1.0]


def test_by_hand():
    assert [precision_at_k(Y, SCORES, k=k) for k in (1, 2, 3, 5, 10)] == [1, 1 / 2, 2 / 3, 3 / 5, 3 / 10]
    assert precision_at_k(Y, SCORES, k=3, relevant=2) == 1 / 3
    assert mean_average_precision(Y, SCORES) == pytest.approx((1 + 2 / 3 + 3 / 5) / 3)
    assert mean_average_precision(Y, SCORES, k=2) == pytest.approx(1 / 2)
    assert mean_average_precision(Y, SCORES, relevant=2) == pytest.approx(1 / 3)
    dcg, best = 1 + 3 / np.log2(4) + 1 / np.log2(6), 3 + 1 / np.log2(3) + 1 / np.log2(4)
    assert ndcg_at_k(Y, SCORES) == pytest.approx(dcg / best)
    assert ndcg_at_k(Y, SCORES, k=1) == pytest.approx(1 / 3)
    assert ndcg_at_k(Y, SCORES, k=1, gains=[0, 1, 1]) == 1


def test_of_equal_scores_the_earlier_document_is_first():
    assert precision_at_k([0, 1, 1], [1, 1, 1], k=1) == 0
    assert precision_at_k([1, 0, 0], [1, 1, 1], k=1) == 1
    assert mean_average_precision([0, 1], [0, 0]) == 1 / 2
    assert ndcg_at_k([0, 1], [0, 0], k=None) == pytest.approx(1 / np.log2(3))
    assert precision_at_k([0, 1, 0, 1], [7, 7, 7, 7], groups=[1, 2, 1, 2], k=1) == 1 / 2


def test_queries_are_averaged():
    """Also where their documents stand apart; a query without relevant documents counts 0."""
    y, scores, groups = [1, 0, 0, 0, 1, 1], [1, 2, 3, 4, 5, 6], ["a", "b", "c", "b", "a", "a"]
    assert precision_at_k(y, scores, groups=groups, k=1) == pytest.approx(1 / 3)
    assert precision_at_k(y, scores, groups=groups, k=2, sample_weight=[2, 1, 1]) == pytest.approx(1 / 2)
    assert mean_average_precision(y, scores, groups=groups) == pytest.approx(1 / 3)
    assert ndcg_at_k(y, scores, groups=groups) == pytest.approx(1 / 3)


@st.composite
def queries(draw):
    found = draw(st.lists(st.lists(st.tuples(st.integers(0, 2), st.integers(-2, 2)), min_size=1, max_size=7), min_size=1, max_size=4))
    return [[np.array(column) for column in zip(*query, strict=True)] for query in found], draw(st.integers(1, 8)), draw(st.randoms())


@given(queries())
def test_they_are_those_of_the_twin(drawn):
    found, k, random = drawn
    y, scores = (np.concatenate(column) for column in zip(*found, strict=True))
    groups = np.repeat(np.arange(len(found)), [len(query[0]) for query in found])
    rows = list(range(len(y)))
    random.shuffle(rows)
    rows.sort(key=lambda i: random.random() < 0.5)
    position = {}
    for i in sorted(rows):                              # documents of a query keep their order
        position.setdefault(groups[i], []).append(i)
    rows = [position[groups[i]].pop(0) for i in rows]
    ranked = [rankings.by_score(s, range(len(s))) for _, s in found]
    binary = [(one >= 1).astype(int).tolist() for one, _ in found]
    expected = np.mean([rankings.precision(b, r, k) for b, r in zip(binary, ranked, strict=True)])
    assert precision_at_k(y[rows], scores[rows], k, groups=groups[rows]) == pytest.approx(expected)
    for cut in (k, None):
        expected = np.mean([rankings.average_precision(b, r, cut) for b, r in zip(binary, ranked, strict=True)])
        assert mean_average_precision(y[rows], scores[rows], cut, groups=groups[rows]) == pytest.approx(expected)
        expected = np.mean([rankings.ndcg((2**one - 1).tolist(), r, cut) for (one, _), r in zip(found, ranked, strict=True)])
        assert ndcg_at_k(y[rows], scores[rows], cut, groups=groups[rows]) == pytest.approx(expected)
    places = document_places(scores[rows], groups=groups[rows])
    shares = []
    for g, query in enumerate(ranked):
        assert places[groups[rows] == g][query].tolist() == list(range(1, len(query) + 1))
        grades, s = found[g]
        right = [np.sign(s[i] - s[j]) for i in range(len(s)) for j in range(len(s)) if grades[i] > grades[j]]
        shares += [np.mean(right) / 2 + 0.5] if right else []
    if shares:
        assert pair_accuracy(y[rows], scores[rows], groups=groups[rows]) == pytest.approx(np.mean(shares))


def test_without_ties_they_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    for n in (2, 5, 40):
        y, scores = np.append(rng.integers(0, 3, n - 1), 1), rng.normal(size=n)
        assert mean_average_precision(y, scores) == pytest.approx(average_precision_score(y >= 1, scores))
        for k in (1, 3, None):
            assert ndcg_at_k(y, scores, k=k, gains=[0, 1, 2]) == pytest.approx(ndcg_score([y], [scores], k=k))
            assert ndcg_at_k(y, scores, k=k) == pytest.approx(ndcg_score([2**y - 1], [scores], k=k))


@pytest.mark.parametrize(("arguments", "error", "sentence"), [
    (dict(scores=[1.0, 2.0]), DataError, r"y_true has shape \(5,\); expected \(2,\)"),
    (dict(y_true=[], scores=[]), DataError, "y_true is empty"),
    (dict(y_true=[0, 1, None, 1, 2]), DataError, "expected a number for each document"),
    (dict(y_true=np.arange(5).astype("m8[ns]")), DataError, "expected a number for each document"),
    (dict(scores=[1, 2, np.nan, 3, 4]), DataError, r"scores\[2\] is nan"),
    (dict(groups=[1, 1]), DataError, "groups has 2 entries but there are 5 documents"),
    (dict(k=0), OptionError, "k=0; expected a whole number from 1"),
    (dict(k=2.5), OptionError, "k=2.5"),
    (dict(sample_weight=[1, 1]), DataError, r"sample_weight has shape \(2,\)"),
    (dict(sample_weight=[0]), DataError, "nothing but zeros"),
])  # fmt: skip
def test_refusals(arguments, error, sentence):
    for measure in (precision_at_k, mean_average_precision, ndcg_at_k):
        with pytest.raises(error, match=sentence):
            measure(**{"y_true": Y, "scores": SCORES, **arguments})


def test_pairs_weigh_what_their_queries_weigh():
    y, scores, groups = [0, 2, 1, 1, 5, 3], [0.0, 1.0, 1.0, 3.0, 2.0, 9.0], ["a", "a", "a", "b", "b", "c"]
    assert pair_accuracy(y, scores, groups=groups) == pytest.approx((2.5 / 3 + 0) / 2)
    assert pair_accuracy(y, scores, groups=groups, sample_weight=[3, 1, 7]) == pytest.approx(3 * 2.5 / 3 / 4)
    with pytest.raises(DataError, match="no query has documents of different relevance"):
        pair_accuracy([1, 1, 2], [1, 2, 3], groups=[0, 0, 1])


def test_k_comes_before_groups():
    assert precision_at_k([1, 0, 0, 1], [2, 1, 1, 2], 1, groups=[7, 7, 8, 8]) == 1
    with pytest.raises(OptionError, match=r"expected a whole number from 1. Queries go by name: groups=..."):
        ndcg_at_k([1, 0, 0, 1], [2, 1, 1, 2], np.array([7, 7, 8, 8]))
    with pytest.raises(DataError, match=r"They add up to 5: sizes of groups go into numpy.repeat\(numpy.arange\(len\(sizes\)\), sizes\)"):
        ndcg_at_k(Y, SCORES, groups=[2, 3])


def test_negative_relevances_are_worth_nothing():
    assert ndcg_at_k([-2, 1, 0], [3, 2, 1]) == ndcg_at_k([0, 1, 0], [3, 2, 1])


def test_relevances_have_gains_up_to_1000():
    assert ndcg_at_k([1000, 0], [2, 1]) == 1
    with pytest.raises(DataError, match="y_true holds the relevance 1001, for which the gain 2.relevance - 1 is too large"):
        ndcg_at_k([1001, 0], [2, 1])


@pytest.mark.parametrize("gains", [[-5, 0, 1], [0, 1, -1e-9], [0, np.inf, 1], [0, 1, np.nan]])
def test_gains_are_finite_numbers_from_0(gains):
    with pytest.raises(DataError, match=r"gains\[\d\] is .* a finite number from 0"):
        ndcg_at_k(Y, SCORES, gains=gains)


def test_gains_must_reach():
    with pytest.raises(DataError, match="y_true holds 2, but gains are known for the relevances 0..1"):
        ndcg_at_k(Y, SCORES, gains=[0, 1])
    with pytest.raises(DataError, match="relevance 5000, for which the gain"):
        ndcg_at_k([5000, 0], [1, 0])
