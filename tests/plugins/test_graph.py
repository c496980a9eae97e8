"""Tests of the problem "graph": formats of X and y, all inference methods, losses, marginals, saving, and rejected input."""

import copy
import itertools
import pickle
import types

import numpy as np
import pytest
import structperc_graph
from plain import Engine
from scipy import sparse
from sklearn.base import clone

from structperc.errors import DataError, OptionError, UnusedOption
from structperc.estimators import StructuredEstimator
from structperc.metrics import measures
from structperc.solvers import best_labelling, grid_edges
from structperc.testing import check_problem


def graphs(n=50, n_labels=2, forest=False, seed=0):
    """(X, y): graphs with features of nodes, edges and pairs, and their best labels as letters. Pairs reward equal labels."""
    random = np.random.default_rng(seed)
    X, y, taste = [], [], random.normal(size=(3, n_labels)) * 2
    for _ in range(n):
        edges = grid_edges(2, 3)
        if forest:
            edges = np.array([(i, random.integers(i)) for i in range(1, 6)])
        nodes, pairs = random.normal(size=(6, 3)), random.random((len(edges), 1))
        found = best_labelling(nodes @ taste, edges, 3 * pairs[:, :, None] * np.eye(n_labels), method="exact")
        X.append((nodes, edges, pairs))
        y.append(np.array(list("abc"))[found.labels].tolist())
    return X, y


def in_blocks(X):
    return [np.vstack([np.column_stack([np.arange(6), np.arange(6), nodes]), np.column_stack([edges, pairs, np.zeros((len(pairs), 2))])])
            for nodes, edges, pairs in X]


@pytest.mark.parametrize("pairs", ["symmetric", "potts"])
def test_other_pairs_of_labels_are_searched_and_counted(pairs):
    checks = ["argmax_maximises", "augmented_argmax_maximises", "further_answers_agree", "agreeing_is_counting_the_same"]
    assert check_problem("graph", checks=checks, pairs=pairs) == [(name, "passed") for name in checks]


def test_graphs_with_cycles_are_answered_exactly_where_asked():
    X, y = graphs(4, n_labels=3)
    engine = Engine("graph", inference="exact", pairs="full", epochs=2).fit(X, y)
    for found, ranked, margin in zip(engine.predict(X), engine.predict(X, k=2), engine.margins(X), strict=True):
        assert ranked[0] == found and margin >= 0
    assert not engine.optimality_gaps(X).any()


def cyclic(random, n_examples):
    """Small graphs with cycles, whose pairs have features of at least 0."""
    blocks = []
    for n in random.integers(1, 5, n_examples):
        edges = [(i, j) for i in range(n) for j in range(i) if random.random() < 0.8]
        features = np.vstack([random.normal(size=(n, 2)), random.random((len(edges), 2))])
        blocks.append(np.column_stack([np.array([(i, i) for i in range(n)] + edges), features]))
    return blocks


@pytest.mark.parametrize("inference", ["auto", "cut"])
def test_weights_that_attract_make_every_answer_a_minimum_cut(inference):
    options = dict(classes=["a", "b"], inference=inference, pairs="potts", attractive=True)
    checks = ["argmax_maximises", "augmented_argmax_maximises", "features_add_up", "constraints_hold", "separable_set_is_learned"]
    plugin = types.ModuleType("cyclic_graph")
    vars(plugin).update({**vars(structperc_graph), "__name__": "cyclic_graph", "sample": cyclic})
    assert check_problem(plugin, checks=checks, **options) == [(name, "passed") for name in checks]
    X = cyclic(np.random.default_rng(0), 12)
    random = np.random.default_rng(1)
    y = [random.choice(["a", "b"], int((block[:, 0] == block[:, 1]).sum())).tolist() for block in X]
    for average in (False, True):
        engine = Engine("graph", **options, epochs=5, average=average).fit(X, y)
        assert engine.coef_[2].min() >= 0 and engine.intercept_[2] >= 0 and not engine.optimality_gaps(X).any()
    assert (Engine("graph", epochs=2).fit(X, y).coef_[2] < 0).any(), "they would repel by themselves"


def test_cost_matrices_are_searched_with():
    checks = ["augmented_argmax_maximises", "loss_is_zero_at_gold"]
    assert check_problem("graph", checks=checks, loss=[[0, 1, 2], [3, 0, 1], [1, 1, 0]], update="pa1", loss_weight=1.0) == [
        (name, "passed") for name in checks]


@pytest.mark.parametrize(("inference", "n_labels", "forest"), [
    ("auto", 2, False), ("auto", 3, False), ("tree", 3, True), ("relaxed", 3, False)])
def test_labels_of_graphs_are_learned(inference, n_labels, forest):
    X, y = graphs(n_labels=n_labels, forest=forest)
    engine = Engine("graph", inference=inference, epochs=3, average=True).fit(X[:30], y[:30])
    alone = Engine("graph", inference="tree", epochs=3, average=True)
    alone.fit([(nodes, np.zeros((0, 2), dtype=int), np.zeros((0, 1))) for nodes, _, _ in X[:30]], y[:30])
    right = measures(engine, X[30:], y[30:])["token accuracy"]
    unaware = measures(alone, [(nodes, np.zeros((0, 2), dtype=int), np.zeros((0, 1))) for nodes, _, _ in X[30:]], y[30:])["token accuracy"]
    assert right > unaware + 0.03 and right > 0.85
    assert engine.coef_[-1, 0] + engine.intercept_[-1] > 0, "neighbours are drawn to equal labels"
    gaps = engine.optimality_gaps(X)
    assert not gaps.any() if inference in ("tree", "exact") else (gaps >= 0).all()


def test_all_forms_of_graphs_train_the_same_model():
    X, y = graphs()
    blocks = in_blocks(X)
    offsets = np.concatenate([[0], np.cumsum([len(block) for block in blocks])])
    forms = {"tuples": (X, {}), "blocks": (blocks, {}), "rows": (np.concatenate(blocks), dict(offsets=offsets)),
             "sparse": ([sparse.csr_array(block) for block in blocks], {})}
    models = {name: Engine("graph", epochs=3).fit(given, y, **where) for name, (given, where) in forms.items()}
    for name, (given, where) in forms.items():
        np.testing.assert_allclose(models[name].coef_, models["tuples"].coef_, atol=1e-12, err_msg=name)
        assert [list(found) for found in models[name].predict(given, **where)] == [list(found) for found in models["tuples"].predict(X)]
    single = [(nodes.astype(np.float32), edges, pairs.astype(np.float32)) for nodes, edges, pairs in X]
    assert Engine("graph", epochs=3).fit(single, y).read(single).X.dtype == np.float32


def test_images_are_grids_whose_answers_have_their_shape():
    random = np.random.default_rng(0)
    y = [(np.add.outer(np.arange(8), np.arange(9)) > random.integers(5, 12)).astype(int) for _ in range(12)]
    X = [labels[:, :, None] + 0.8 * random.normal(size=(8, 9, 1)) for labels in y]
    engine = Engine("graph", epochs=5, average=True).fit(X[:8], y[:8])
    found = engine.predict(X[8:])
    assert [labels.shape for labels in found] == [(8, 9)] * 4
    assert np.mean([a != b for a, b in zip(found, y[8:], strict=True)]) < 0.1 < np.mean([(x[:, :, 0] > 0.5) != b for x, b in zip(X, y,
                                                                                                                             strict=True)])
    by_hand = [(x.reshape(72, 1), grid_edges(8, 9)) for x in X]
    flat = Engine("graph", epochs=5, average=True).fit(by_hand[:8], [labels.ravel().tolist() for labels in y[:8]])
    assert np.array_equal(flat.coef_, engine.coef_) and flat.predict(by_hand[8:])[0] == found[0].ravel().tolist()
    assert measures(engine, X[8:], y[8:])["token accuracy"] == pytest.approx(np.mean(np.array(y[8:]) == np.array(list(found))))
    assert Engine("graph", contrast=True, diagonal=True, epochs=1).fit(np.array(X), y).read(X).n_rows == 12 * (72 + 63 + 64 + 56 + 56)


def test_marginals_of_forests_are_those_of_all_labellings():
    X, y = graphs(20, n_labels=3, forest=True)
    engine = Engine("graph", epochs=2, inference="tree").fit(X, y)
    p = engine.predict_marginals(X[:3])
    assert p[0].shape == (6, 3) and np.allclose(p[0].sum(axis=1), 1)
    assert "node " in str(engine.explain(X[0])) and "equal" in str(engine.explain(X[0]))


def test_models_are_kept_and_copied(tmp_path):
    X, y = graphs(20)
    engine = Engine("graph", epochs=2).fit(X, y)
    answers = [list(found) for found in engine.predict(X)]
    engine.save(tmp_path / "labels.model")
    for other in (Engine.load(tmp_path / "labels.model"), copy.deepcopy(engine), pickle.loads(pickle.dumps(engine))):
        assert [list(found) for found in other.predict(X)] == answers
        with pytest.raises(DataError, match=r"X\[0\] has 2 features of nodes and 1 of pairs; expected 3 and 1"):
            other.predict([(X[0][0][:, :2], *X[0][1:])])
    estimator = clone(StructuredEstimator(problem="graph", epochs=5, random_state=0)).fit(X, y)
    assert np.mean(np.concatenate(list(estimator.predict(X))) == np.concatenate(y)) > 0.8


GRAPH = np.eye(2), np.array([[0, 1]]), np.ones((1, 1))


@pytest.mark.parametrize(("X", "y", "sentence"), [
    ([(np.eye(2), [[0, 2]])], [["a", "b"]], r"row 2 of graph 0 joins the nodes 0 and 2; the graph has the nodes 0..1"),
    ([(np.eye(2), [[0, 0.5]])], [["a", "b"]], "joins the nodes 0 and 0.5"),
    ([(np.eye(2), [[1, 1]])], [["a", "b"]], "row 2 of graph 0 names node 1. Expected the rows of its nodes first"),
    ([np.array([[1.0, 1, 3]])], [["a"]], "row 0 of graph 0 names node 1"),
    ([(np.eye(2), [[0, 1]], np.ones(1))], [["a", "b"]], r"X\[0\] has the shapes \(2, 2\), \(1, 2\), \(1,\)\. Expected: node features"),
    ([(np.eye(2), [[0, 1]]), "text"], [["a", "b"]] * 2, r"X\[1\] is 'text'; expected \(node features, edges\)"),
    ([(["x"], [])], [["a"]], r"X\[0\]\[0\] is \['x'\]; expected an array of numbers"),
    ([GRAPH, (np.ones((2, 3)), [[0, 1]], np.ones((1, 1)))], [["a", "b"]] * 2, r"X\[1\] has 3 features of nodes and 1 of pairs; expected 2"),
    ([GRAPH], [["a", "b", "c"]], r"y\[0\] has 3 labels but graph 0 of X has 2 nodes; give one label per node"),
    ([GRAPH], [["a", "b"]] * 2, "y has the labels of 2 graphs but X has 1"),
    ([GRAPH], ["ab", 3], r"y\[0\] is 'ab'; expected a list of labels"),
    ([GRAPH], [["a", None]], "y holds only 'a'"), ([GRAPH], [["a", float("nan")]], "nan"),
])  # fmt: skip
def test_what_is_no_graph_is_said(X, y, sentence):
    with pytest.raises(DataError, match=sentence):
        Engine("graph").fit(X, y)


def test_what_does_not_fit_together_is_refused():
    X, y = graphs(4, n_labels=3)
    with pytest.raises(DataError, match="graph 0 cannot be labelled: method='tree' takes graphs without cycles"):
        Engine("graph", inference="tree").fit(X, y)
    with pytest.raises(DataError, match="graph 0 cannot be labelled: method='cut' takes two labels, but there are 3"):
        Engine("graph", inference="cut").fit(X, y)
    with pytest.raises(UnusedOption, match="most_nodes=5 stops branch and bound, but inference='auto' needs none"):
        Engine("graph", most_nodes=5).fit(X, y)
    with pytest.raises(OptionError, match="inference"):
        Engine("graph", inference="guess")
    with pytest.raises(OptionError, match="with pairs='full' neighbours may repel for all that"):
        Engine("graph", pairs="full", attractive=True).fit(X, y)
    with pytest.raises(DataError, match="the edge 0 to 1 of graph 0 has the feature -1; attractive=True takes pair features from 0"):
        Engine("graph", attractive=True).fit([(nodes, edges, -np.ones_like(pairs)) for nodes, edges, pairs in X], y)
    engine = Engine("graph", epochs=1).fit(X, y)
    with pytest.raises(DataError, match=r"y\[0\]\[1\] is 'z', which is not one of the labels known so far"):
        engine.partial_fit(X[:1], [["a", "z", *y[0][2:]]])


@pytest.mark.parametrize("options", [{}, {"pairs": "full", "inference": "tree"}, {"update": "pa1"},
                                     {"inference": "exact", "pairs": "symmetric"}])
def test_unlabelled_nodes_are_completed_by_the_labels_of_others(options):
    """None is no label, and each step is the one towards the best labels beside those that are known."""
    random = np.random.default_rng(0)
    X = [(random.normal(size=(n, 2)), [[i, i + 1] for i in range(n - 1)]) for n in random.integers(1, 5, 12)]
    whole = [["a" if row[0] > 0 else "b" for row in nodes] for nodes, _ in X]
    y = [[label if random.random() < 0.7 else None for label in labels] for labels in whole]
    engine = Engine("graph", epochs=10, random_state=0, **options).fit(X, y)
    assert engine.classes_.tolist() == ["a", "b"]
    found = engine.predict(X)
    assert sum(one != other for labels, more in zip(found, y, strict=True) for one, other in zip(labels, more, strict=True) if other) <= 2
    outputs, rows = engine.parts_.outputs, engine.model_.read(X)
    known, scores = outputs.encode(y, rows), engine.atom_scores(X)
    for i in range(len(X)):
        x, gold = rows.example(i), np.asarray(known[i])
        completed = tuple(outputs.completed(x, gold, scores[i]).tolist())
        unary, pairs = outputs.tables(scores[i], len(gold))

        def worth(w, unary=unary, pairs=pairs, edges=X[i][1]):
            return sum(unary[j, k - 1] for j, k in enumerate(w)) + sum(pairs[e, w[a] - 1, w[b] - 1] for e, (a, b) in enumerate(edges))

        fitting = [w for w in itertools.product((1, 2), repeat=len(gold)) if all(g in (0, k) for g, k in zip(gold, w, strict=True))]
        assert completed in fitting and worth(completed) >= max(map(worth, fitting)) - 1e-9
    assert Engine("graph", classes=["a", "b"], random_state=0).fit(X, [[None] * len(labels) for labels in y]).predict(X[:1])
    with pytest.raises(DataError, match="None"):
        engine.log_probability(X, y)


def test_unlabelled_pixels_are_completed():
    random = np.random.default_rng(0)
    shapes = [(np.hypot(*np.mgrid[-4:4, -4:4] - random.integers(-2, 3, 2)[:, None, None]) < 3).astype(int) for _ in range(6)]
    images = [shape[:, :, None] + random.normal(0, 0.5, (8, 8, 1)) for shape in shapes]
    void = [np.where(random.random((8, 8)) < 0.3, None, shape) for shape in shapes]
    labels = Engine("graph", attractive=True, random_state=0).fit(images, void).predict(images)
    assert np.mean([one == other for one, other in zip(labels, shapes, strict=True)]) > 0.75
