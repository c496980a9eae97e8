"""Measures of clusterings against their definitions, item by item, and scikit-learn's; degenerate clusterings."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from structperc.errors import DataError
from structperc.metrics import adjusted_rand_index, b_cubed_scores, ceaf_scores, cluster_measures, pairwise_scores


def cases():
    random = np.random.default_rng(0)
    for _ in range(200):
        n, kinds = int(random.integers(1, 8)), random.integers(1, 7, 2)
        yield random.integers(0, kinds[0], n), random.integers(0, kinds[1], n)


def test_each_measure_is_its_definition():
    for gold, found in cases():
        n, items = len(gold), range(len(gold))
        of_gold, of_found = ([{i for i in items if side[i] == label} for label in sorted(set(side.tolist()))] for side in (gold, found))
        both = {(i, j) for i, j in itertools.combinations(items, 2)}
        true, said = ({(i, j) for i, j in both if side[i] == side[j]} for side in (gold, found))
        scores = pairwise_scores(gold, found)
        if true or said:
            assert scores.f1 == pytest.approx(2 * len(true & said) / (len(true) + len(said)))
            assert scores.precision == pytest.approx(len(true & said) / len(said) if said else 0)
        else:
            assert scores.f1 == scores.precision == scores.recall == 1

        def cluster(clusters, i):
            return next(one for one in clusters if i in one)

        common = [len(cluster(of_gold, i) & cluster(of_found, i)) for i in items]
        scores = b_cubed_scores(gold, found)
        assert scores.precision == pytest.approx(sum(c / len(cluster(of_found, i)) for i, c in enumerate(common)) / n)
        assert scores.recall == pytest.approx(sum(c / len(cluster(of_gold, i)) for i, c in enumerate(common)) / n)
        few, many = sorted((of_gold, of_found), key=len)
        best = max(sum(2 * len(a & b) / (len(a) + len(b)) for a, b in zip(few, chosen, strict=True))
                   for chosen in itertools.permutations(many, len(few)))
        scores = ceaf_scores(gold, found)
        assert (scores.precision, scores.recall) == (pytest.approx(best / len(of_found)), pytest.approx(best / len(of_gold)))
        assert scores.f1 == pytest.approx(2 * best / (len(of_gold) + len(of_found)))
        assert adjusted_rand_index(gold, found) == pytest.approx(adjusted_rand_score(gold, found))


def test_labels_mean_nothing_and_the_example_of_the_literature():
    gold, found = list("aaabbc"), [0, 0, 1, 1, 1, 2]
    assert [round(value, 4) for value in cluster_measures(gold, found).values()] == [0.5, 0.7778, 0.8667, 0.3182]


def test_many_clusters_are_matched_without_a_table_of_all():
    gold = np.arange(60_000) // 2
    found = np.where(np.arange(60_000) % 4000 == 1, 10**6 + np.arange(60_000), gold)
    assert 0.99 < ceaf_scores(gold, found).f1 < 1 and ceaf_scores(gold, gold).f1 == 1


@pytest.mark.parametrize(("gold", "found", "expected"), [
    ([], [], [1, 1, 1, 1]), ([0], [5], [1, 1, 1, 1]), ([0, 1, 2], [2, 1, 0], [1, 1, 1, 1]), ([0, 0, 0], [1, 1, 1], [1, 1, 1, 1]),
    ([0, 0], [0, 1], [0, 2 / 3, 4 / 9, 0]), ([0, 1], [0, 0], [0, 2 / 3, 4 / 9, 0]),
])  # fmt: skip
def test_degenerate_clusterings(gold, found, expected):
    assert list(cluster_measures(gold, found).values()) == pytest.approx(expected)


def test_other_items_are_refused():
    with pytest.raises(DataError, match=r"y_pred has the shape \(3,\); expected \(2,\)"):
        pairwise_scores([0, 1], [0, 1, 2])
