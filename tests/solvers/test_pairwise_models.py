"""Tests of labels of graphs against all labellings: every method, ties, forbidden labels and pairs, bounds, errors."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from structperc.errors import DataError, OptionError
from structperc.solvers.pairwise_models import PairwiseModel, best_labelling, forest_marginals, grid_edges


def graphs(n, whole, forest=False, n_labels=None, forbidden=0.08):
    """Small graphs with their scores: a table for each edge, or one table for all edges."""
    random = np.random.default_rng([n, whole, forest])
    for _ in range(n):
        K, n_nodes = n_labels or int(random.integers(1, 4)), int(random.integers(1, 6))
        every = np.array(list(itertools.combinations(range(n_nodes), 2)), dtype=int).reshape(-1, 2)
        edges = every[random.random(len(every)) < 0.5]
        if forest:
            edges = np.array([(v, random.integers(v)) for v in range(1, n_nodes) if random.random() < 0.8], dtype=int).reshape(-1, 2)
        edges = np.where(random.random((len(edges), 1)) < 0.5, edges, edges[:, ::-1])
        shape = (len(edges), K, K) if random.random() < 0.7 else (K, K)
        unary, pairs = (random.integers(-2, 3, size).astype(float) if whole else random.normal(size=size) for size in ((n_nodes, K), shape))
        unary[random.random(unary.shape) < forbidden] = -np.inf
        pairs[random.random(pairs.shape) < forbidden] = -np.inf
        yield unary, edges, pairs


def every_labelling(unary, edges, pairs):
    """All labellings, in lexicographic order, and their scores."""
    labels = np.array(list(itertools.product(range(unary.shape[1]), repeat=len(unary))))
    tables = np.broadcast_to(pairs, (len(edges), *pairs.shape[-2:]))
    own = unary[np.arange(len(unary)), labels].sum(axis=1)
    return labels, own + tables[np.arange(len(edges)), labels[:, edges[:, 0]], labels[:, edges[:, 1]]].sum(axis=1)


def compared(found, unary, edges, pairs, exact=True):
    """Checks one result against all labellings; returns these, their scores and the score of the result."""
    labels, scores = every_labelling(unary, edges, pairs)
    own = scores[(labels == found.labels).all(axis=1)][0]
    assert found.score == pytest.approx(own, abs=1e-12) and found.bound >= scores.max() - 1e-7
    assert found.score <= found.bound and found.exact == exact
    if exact:
        assert own == pytest.approx(scores.max(), abs=1e-9) and found.gap == 0
        assert found.bound == pytest.approx(scores.max(), abs=1e-6)
    return labels, scores, own


@pytest.mark.parametrize("whole", [False, True], ids=["real scores", "ties"])
def test_dynamic_programming_finds_the_best_labels_of_forests(whole):
    refused = 0
    for unary, edges, pairs in graphs(600, whole, forest=True):
        try:
            found = best_labelling(unary, edges, pairs)
        except DataError as error:
            assert every_labelling(unary, edges, pairs)[1].max() == -np.inf and "no labels are allowed: node" in str(error)
            refused += 1
            continue
        assert found.status == "tree"
        labels, scores, own = compared(found, unary, edges, pairs)
        if whole and (edges[:, 0] > edges[:, 1]).all() and len(edges) == len(unary) - 1 and (np.diff(edges[:, 1]) >= 0).all():
            assert found.labels.tolist() == labels[scores == own][0].tolist(), "the lowest labels, where nodes are numbered from the root"
    assert 30 < refused < 300


def test_marginals_of_forests_are_those_of_all_labellings():
    for unary, edges, pairs in graphs(300, False, forest=True):
        labels, scores = every_labelling(unary, edges, pairs)
        if scores.max() == -np.inf:
            with pytest.raises(DataError, match="no labels are allowed: node"):
                forest_marginals(unary, edges, pairs)
            continue
        log_z, nodes, together = forest_marginals(unary, edges, pairs)
        p = np.exp(scores - scores.max())
        assert log_z == pytest.approx(np.log(p.sum()) + scores.max())
        one_hot = np.eye(unary.shape[1])[labels]
        np.testing.assert_allclose(nodes, np.einsum("y,yik->ik", p / p.sum(), one_hot), atol=1e-12)
        np.testing.assert_allclose(together, np.einsum("y,yek,yel->ekl", p / p.sum(), one_hot[:, edges[:, 0]], one_hot[:, edges[:, 1]]),
                                   atol=1e-12)


def test_marginals_do_not_cancel():
    _, nodes, _ = forest_marginals([[0.0, -800.0], [0.0, 700.0]], [[0, 1]], [[0.0, -1500.0], [0.0, 100.0]])
    np.testing.assert_allclose(nodes, [[0.5, 0.5], [0.5, 0.5]], rtol=1e-12)


@pytest.mark.parametrize("whole", [False, True], ids=["real scores", "ties"])
def test_minimum_cuts_find_the_best_of_two_labels(whole):
    refused = 0
    for unary, edges, pairs in graphs(1000, whole, n_labels=2, forbidden=0.15):
        with np.errstate(invalid="ignore"):
            lack = pairs[..., 0, 1] + pairs[..., 1, 0] - pairs[..., 0, 0] - pairs[..., 1, 1]
        pairs[..., 0, 0] += np.where(np.isfinite(lack), np.maximum(lack, 0), 0)
        try:
            found = best_labelling(unary, edges, pairs, method="cut")
        except DataError as error:
            if "takes edges that attract" in str(error):
                assert not (pairs[..., 0, 0] + pairs[..., 1, 1] >= pairs[..., 0, 1] + pairs[..., 1, 0]).all()
            else:
                assert "no labels are allowed" in str(error) or "every labelling costs infinitely much" in str(error)
                assert every_labelling(unary, edges, pairs)[1].max() == -np.inf
                refused += 1
            continue
        labels, scores, own = compared(found, unary, edges, pairs)
        if whole:
            assert own == scores.max() == found.bound and (labels[scores == own] >= found.labels).all(), "the fewest ones"
    assert 50 < refused < 700


@pytest.mark.parametrize("whole", [False, True], ids=["real scores", "ties"])
def test_linear_programs_bound_the_best_labels_and_branch_and_bound_finds_them(whole):
    fractional = 0
    for unary, edges, pairs in graphs(40, whole, forbidden=0.03):
        if every_labelling(unary, edges, pairs)[1].max() == -np.inf:
            with pytest.raises(DataError, match="contradict each other"):
                best_labelling(unary, edges, pairs, method="exact")
            continue
        assert compared(best_labelling(unary, edges, pairs, method="exact"), unary, edges, pairs)
        found = best_labelling(unary, edges, pairs, method="relaxed")
        compared(found, unary, edges, pairs, exact=found.status == "exact-lp")
    for unary, edges, pairs in graphs(40, whole, n_labels=2, forbidden=0):
        found = best_labelling(unary, edges, -5 * np.eye(2) + pairs, method="relaxed")
        compared(found, unary, edges, -5 * np.eye(2) + pairs, exact=found.status == "exact-lp")
        fractional += not found.exact
    assert fractional > 2
    triangle = best_labelling(np.zeros((3, 2)), [[0, 1], [1, 2], [0, 2]], 1 - np.eye(2), method="relaxed")
    assert (triangle.status, triangle.score, triangle.gap) == ("relaxed", 2.0, pytest.approx(1.0))
    # all shares are 1/2; each node in turn gets the best label beside the earlier ones: 0, then 1 for a score of 1, then 0 for 5
    uneven = best_labelling(np.zeros((3, 2)), [[0, 1], [1, 2], [0, 2]], np.multiply.outer([1, 5, 2], 1 - np.eye(2)), method="relaxed")
    assert (uneven.labels.tolist(), uneven.score, uneven.bound) == ([0, 1, 0], 6.0, pytest.approx(8.0))


def test_expansion_moves_to_no_better_switch_and_keeps_its_bound():
    suboptimal, random = 0, np.random.default_rng(0)
    for unary, edges, pairs in graphs(300, False, n_labels=3, forbidden=0):
        if random.random() < 0.5:
            pairs = np.abs(pairs[..., :1, :1]) * np.eye(3)                              # Potts
        else:
            pairs = -np.abs(pairs[..., :1, :1]) * np.abs(np.subtract.outer(range(3), range(3)))       # a metric
        found = best_labelling(unary, edges, pairs, method="expansion")
        labels, scores, own = compared(found, unary, edges, pairs, exact=False)
        for label in range(3):
            moves = ((labels == found.labels) | (labels == label)).all(axis=1)
            assert own >= scores[moves].max() - 1e-12
        suboptimal += own < scores.max() - 1e-9
    assert 0 < suboptimal < 30
    found = best_labelling([[1, 0], [0, 1], [0, 2]], [[0, 1], [1, 2], [0, 2]], [[0, -1], [-1, -0.5]], method="expansion")
    assert found.bound == 4.0, "the sum of the largest scores: equal labels cost something, so the factor of 2 is not proved"


def test_auto_takes_the_first_method_that_fits():
    square, chain, potts = grid_edges(2, 2), [[0, 1], [1, 2], [2, 3]], np.eye(3)
    for edges, pairs, status in ((chain, -potts, "tree"), (square, potts[:2, :2], "cut"), (square, potts, "expansion"),
                                 (square, -potts[:2, :2], "exact-lp")):
        unary = np.arange(4 * len(pairs)).reshape(4, -1) % 3
        assert best_labelling(unary, edges, pairs).status == status
    assert best_labelling(np.zeros((2, 3)), [], potts).status == "tree"


def test_a_model_answers_as_one_alone_and_larger_grids_agree_with_the_linear_program():
    random = np.random.default_rng(1)
    edges = grid_edges(6, 7, diagonal=True)
    model = PairwiseModel(42, 2, edges)
    for _ in range(3):
        unary, pairs = random.normal(size=(42, 2)), random.random((len(edges), 1, 1)) * np.eye(2)
        cut, program = (model.solve(unary, pairs, method) for method in ("cut", "exact"))
        assert cut.score == pytest.approx(program.score) and model.score(cut.labels, unary, pairs) == cut.score
        assert best_labelling(unary, edges, pairs).labels.tolist() == cut.labels.tolist()


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: best_labelling([[0, np.nan]], [], np.eye(2)), r"unary\[0, 1\] is nan"),
    (lambda: best_labelling([[0, 0]] * 2, [[0, 1]], [[0, 0], [np.inf, 0]]), r"pairs\[0, 1, 0\] is inf"),
    (lambda: best_labelling([[0, 0]] * 2, [[0, 1]], np.eye(3)), r"pairs has the shape \(3, 3\). Expected \(2, 2\) or \(1, 2, 2\)"),
    (lambda: best_labelling([[0, 0]] * 2, [[0, 0]], np.eye(2)), r"edges\[0\] joins node 0 with itself"),
    (lambda: best_labelling([0, 0], [], np.eye(2)), r"unary has the shape \(2,\)"),
    (lambda: best_labelling([["a"]], [], [[0]]), "expected an array of real numbers"),
    (lambda: best_labelling([[0, 0]] * 3, [[0, 1], [1, 2], [2, 0]], np.eye(2), method="tree"), "this one has a cycle"),
    (lambda: best_labelling([[0, 0]] * 2, [[0, 1]], -np.eye(2), method="cut"), "but edge 0 has the scores .* T00"),
    (lambda: best_labelling([[0] * 3] * 2, [[0, 1]], np.eye(3), method="cut"), "takes two labels, but there are 3"),
    (lambda: best_labelling([[0] * 3] * 2, [[0, 1]], -np.eye(3), method="expansion"), r"T\(a,a\) \+ T\(b,c\) >= .* but edge 0"),
    (lambda: best_labelling([[-np.inf] * 3] * 2, [[0, 1]], np.eye(3), method="expansion"), "node 0 has none"),
    (lambda: best_labelling([[0, 0]] * 2, [[0, 1]], np.full((2, 2), -np.inf), method="cut"), "edge 0 forbids all pairs"),
    (lambda: forest_marginals([[0, 0]] * 3, [[0, 1], [1, 2], [2, 0]], np.eye(2)), "this one has a cycle"),
])  # fmt: skip
def test_what_cannot_be_labelled_is_said(call, sentence):
    with pytest.raises(DataError, match=sentence):
        call()


def test_an_unknown_method_is_refused():
    with pytest.raises(OptionError, match="method='best'; expected 'auto', 'tree'"):
        best_labelling([[0, 0]], [], np.eye(2), method="best")


@pytest.mark.parametrize("place", ["alone", "joined"])
@pytest.mark.parametrize("method", ["exact", "auto"])
def test_a_large_score_at_one_node_does_not_blur_the_others(place, method):
    unary, edges, repel = np.array([[1.0, 0.9], [0.9, 1.0], [0.3, 0.0], [0.0, 0.0]]), [[0, 1], [1, 2], [0, 2]], -np.eye(2)
    edges = edges + [[2, 3]] * (place == "joined")
    for size in (1e3, 1e8, 1e14):
        unary[3, 0] = size
        found = best_labelling(unary, edges, repel, method=method)
        assert found.labels.tolist() == ([0, 1, 0, 0] if place == "alone" else [0, 1, 1, 0]), size
        assert found.exact or method == "auto"


def test_fields_with_clamped_nodes_have_the_labels_of_fractions():
    for seed in range(80):
        random = np.random.default_rng(seed)
        n, k = int(random.integers(2, 5)), int(random.integers(2, 4))
        edges = np.array(list(itertools.combinations(range(n), 2)))
        unary, pairs = random.normal(size=(n, k)), random.normal(size=(len(edges), k, k)) * 10 ** random.uniform(-4, 4, (len(edges), 1, 1))
        unary[random.integers(n), random.integers(k)] = 10.0 ** random.integers(5, 10)
        found = best_labelling(unary, edges, pairs, method="exact")

        def exact_score(y, unary=unary, pairs=pairs, edges=edges):
            terms = [unary[i, label] for i, label in enumerate(y)] + [pairs[e, y[i], y[j]] for e, (i, j) in enumerate(edges.tolist())]
            return sum(map(Fraction, terms))

        assert exact_score(found.labels) == max(map(exact_score, itertools.product(range(k), repeat=n))), seed
