"""The problem clusters: sums of pairs, exact and greedy, and latent trees; its forms of X and y, its losses, the command line."""

import functools
import itertools

import numpy as np
import pandas
import pytest
from plain import Engine
from reference.partitions import partitions, totals
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from structperc.cli import main
from structperc.errors import DataError, OptionError, PluginError, UnusedOption
from structperc.estimators import PairClusterer, StructureConformal, StructuredEstimator
from structperc.metrics import measures
from structperc.solvers.clusters import max_clusters
from structperc.testing import CHECKS, check_problem

TASTE = np.array([2.0, -1.0, 0.5])
QUICK = [check.__name__ for check in CHECKS if check.__name__ != "separable_set_is_learned"]


def gatherings(n=60, items=5, seed=0, distinct=False):
    """Features of all pairs of items, and the labels that the taste would give."""
    random = np.random.default_rng(seed)
    X = []
    for _ in range(n):
        x = random.normal(size=(items, items, 3))
        X.append(x if distinct else (x + x.transpose(1, 0, 2)) / 2)
    return X, [max_clusters(np.triu(x @ TASTE, 1) + np.triu(x @ TASTE, 1).T).labels for x in X]


def rows_of(x, ordered=False):
    first, second = np.nonzero(~np.eye(len(x), dtype=bool)) if ordered else np.triu_indices(len(x), 1)
    return np.column_stack([first, second, x[first, second]])


@pytest.mark.parametrize("options", [{"solver": "greedy"}, {"solver": "trees", "missing": 0.5, "update": "latent", "loss_weight": 1.0}],
                         ids=["greedy", "trees"])
def test_the_battery_with_other_solvers(options):
    outcomes = check_problem("clusters", checks=QUICK, **options)
    assert options["solver"] != "trees" or {outcome for name, outcome in outcomes if "argmax" in name} == {"passed"}


def test_a_separable_set_is_learned():
    X, y = gatherings(30)
    engine = Engine("clusters", epochs=300).fit(X, y)
    assert engine.mistakes_[-1] == 0 and [labels.tolist() for labels in engine.predict(X)] == [labels.tolist() for labels in y]


@pytest.mark.parametrize("seed", range(6))
def test_the_search_with_the_loss_is_the_best_of_all_clusterings(seed):
    """Up to six items, some pairs not listed, scores that tie."""
    random = np.random.default_rng(seed)
    n = int(random.integers(4, 7))
    block = rows_of(random.integers(-1, 2, size=(n, n, 1)).astype(float))
    block = np.concatenate([block[1:][random.random(len(block) - 1) < 0.8], [[n - 2, n - 1, 1.0]]])
    block = block[np.unique(block[:, :2], axis=0, return_index=True)[1]]
    gold = random.integers(0, 3, n)
    engine = Engine("clusters", loss_weight=1.0, update="pa1").fit([block], [gold])
    parts, x = engine.parts_, engine.read([block]).example(0)
    x.n_atoms = x.n_rows
    first, second = block[:, :2].T.astype(int)
    code = tuple(np.flatnonzero(gold[first] == gold[second]).tolist())
    for scores in (block[:, 2], random.normal(size=len(block))):
        together = (partitions(n)[:, first] == partitions(n)[:, second]).astype(float)
        wanted = (together @ scores + 0.7 * np.abs(together - (gold[first] == gold[second])).sum(axis=1)).max()
        found = parts.argmax.argmax_augmented(scores.copy(), x, code, parts.loss, 0.7)
        assert scores[list(found)].sum() + 0.7 * parts.loss.value(code, found, x) == pytest.approx(wanted)
        assert scores[list(parts.argmax.argmax(scores.copy(), x))].sum() == pytest.approx(totals(n, first, second, scores).max())


def trees_of(n, heads, dependents):
    """All sets of arcs that lead to each item once at most, without a cycle."""
    def rooted(head, item):
        for _ in range(n):
            item = head[item] if item is not None else None
        return item is None

    into = [[None, *np.flatnonzero(dependents == item).tolist()] for item in range(n)]
    for arcs in itertools.product(*into):
        head = [None if a is None else int(heads[a]) for a in arcs]
        if all(rooted(head, item) for item in range(n)):
            yield tuple(sorted(a for a in arcs if a is not None))


@pytest.mark.parametrize("missing", [1.0, 0.25])
def test_trees_are_completed_and_searched_with_the_loss(missing):
    """The loss is 0 for the trees of the gold clusters and no others, in both directions of arcs."""
    random = np.random.default_rng(3)
    x_all, gold = random.normal(size=(4, 4, 2)), np.array([0, 1, 0, 0])
    engine = Engine("clusters", solver="trees", missing=missing, update="latent", loss_weight=1.0).fit([x_all], [gold])
    parts, x = engine.parts_, engine.read([x_all]).example(0)
    x.n_atoms = x.n_rows
    heads, dependents = x.keys.T.astype(int)
    inside = tuple(np.flatnonzero(gold[heads] == gold[dependents]).tolist())
    every = list(trees_of(4, heads, dependents))
    assert sorted(every) == sorted(parts.outputs.enumerate(x))
    right = [y for y in every if parts.outputs.agrees(inside, y, x)]
    assert right == [y for y in every if parts.loss.value(inside, y, x) == 0] and len(right) == 9
    wrong = [a for a in range(x.n_atoms) if a not in inside]
    for scores in (random.normal(size=x.n_atoms), random.integers(-1, 2, x.n_atoms).astype(float)):
        def total(y, scores=scores):
            return scores[list(y)].sum()

        assert total(parts.outputs.complete(inside, scores, x)) == pytest.approx(max(map(total, right)))
        assert total(parts.argmax.argmax(scores.copy(), x)) == pytest.approx(max(map(total, every)))
        found = parts.argmax.argmax_augmented(scores.copy(), x, inside, parts.loss, 0.7)
        value = total(found) + 0.7 * parts.loss.value(inside, found, x)
        assert value == pytest.approx(max(total(y) + 0.7 * parts.loss.value(inside, y, x) for y in every))
    assert parts.loss.value(inside, (wrong[0],), x) == 1 + 2 * missing


@pytest.mark.parametrize("options", [{}, {"solver": "greedy"}, {"solver": "trees", "update": "latent"}], ids=["exact", "greedy", "trees"])
def test_clusters_are_learned(options):
    X, y = gatherings(100)
    engine = Engine("clusters", epochs=10, average=True, **options).fit(X[:60], y[:60])
    assert measures(engine, X[60:], y[60:])["pairwise F1"] > (0.7 if options.get("solver") == "trees" else 0.9)
    found = engine.predict(X[60:])
    assert all(labels.shape == (5,) and labels[0] == 0 for labels in found)
    gaps = engine.optimality_gaps(X[60:])
    assert gaps.shape == (40,) and ("solver" in options or not gaps.any())
    if options:
        return
    names = [[f"kind {label}" for label in labels] for labels in y]
    np.testing.assert_array_equal(Engine("clusters", epochs=10, average=True).fit(X[:60], names[:60]).coef_, engine.coef_)


class Person:
    """A label whose text is that of all others."""

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return isinstance(other, Person) and self.number == other.number

    def __hash__(self):
        return self.number

    def __repr__(self):
        return "a person"


@pytest.mark.parametrize("names", [
    [1, "1", 2, "2", 3], [*map(Person, range(5))], ["a", "a\0", "b", "b\0", "c"], [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)],
    [2**53, 2**53 + 1, 2**64, 2**64 + 1, 0.5], [frozenset([k]) for k in range(5)],
], ids=["mixed", "objects", "texts", "tuples", "long", "sets"])  # fmt: skip
@pytest.mark.parametrize("solver", ["exact", "trees"])
def test_labels_of_any_kind_that_differ_are_other_clusters(names, solver):
    X, y = gatherings(20)
    y = [labels % 5 for labels in y]
    named = [[names[label] for label in labels] for labels in y]
    options = {"update": "latent"} if solver == "trees" else {}
    make = functools.partial(Engine, "clusters", epochs=3, solver=solver, random_state=0, **options)
    engine, other = make().fit(X, y), make().fit(X, named)
    assert np.array_equal(engine.coef_, other.coef_)
    assert measures(other, X, named) == measures(engine, X, y)


def test_all_forms_of_pairs_train_the_same_model(tmp_path):
    X, y = gatherings()
    blocks = [rows_of(x) for x in X]
    stacked, offsets = np.concatenate(blocks), 10 * np.arange(len(X) + 1)
    frame = pandas.DataFrame(stacked, columns=["one", "other", "a", "b", "c"])
    forms = {"arrays": (X, {}), "blocks": (blocks, {}), "rows": (stacked, dict(offsets=offsets)), "frame": (frame, dict(offsets=offsets)),
             "sparse": (sparse.csr_matrix(stacked), dict(offsets=offsets)),
             "groups": (stacked, dict(groups=np.repeat(np.arange(len(X)), 10)))}
    model = Engine("clusters", epochs=3).fit(X, y)
    for name, (given, where) in forms.items():
        other = Engine("clusters", epochs=3).fit(given, y, **where)
        np.testing.assert_allclose(other.coef_, model.coef_, rtol=1e-12)
        assert np.stack(other.predict(given, **where)).tolist() == np.stack(model.predict(X)).tolist(), name
    pairs = [tuple(np.flatnonzero(labels[block[:, 0].astype(int)] == labels[block[:, 1].astype(int)]).tolist())
             for labels, block in zip(y, blocks, strict=True)]
    marked = Engine("clusters", epochs=3, show="rows").fit(blocks, pairs)
    np.testing.assert_allclose(marked.coef_, model.coef_, rtol=1e-12)
    assert type(marked.predict(blocks)[0]) is tuple
    model.save(tmp_path / "model")
    assert np.stack(Engine.load(tmp_path / "model").predict(X)).tolist() == np.stack(model.predict(X)).tolist()
    found = model.explain(X[0])
    assert found.margin > 0 and str(found).startswith(f"{model.predict(X[:1])[0]} beats ")


def alike(table):
    """Rows whose first letters are equal."""
    pairs = [(i, j) for i, j in itertools.combinations(range(len(table)), 2) if table[i][0][0] == table[j][0][0]]
    return np.array(pairs).reshape(-1, 2), np.array([[table[i][0] == table[j][0], abs(table[i][1] - table[j][1])] for i, j in pairs])


def test_the_rows_of_a_table_are_compared():
    X = [[("ann", 30), ("bob", 41), ("anna", 31), ("bob", 9)], [("eve", 3), ("eve", 4), ("eva", 90)]]
    y = [["x", "y", "x", "z"], [0, 0, 1]]
    for options in ({}, {"solver": "trees"}):
        engine = Engine("clusters", comparison=alike, epochs=100, **options).fit(X, y)
        assert [labels.tolist() for labels in engine.predict(X)] == [[0, 1, 0, 2], [0, 0, 1]]
    with pytest.raises(DataError, match=r"the comparison of X\[0\] has the shape \(4, 1, 1\); expected as many columns as rows"):
        Engine("clusters", comparison=lambda table: np.ones((len(table), 1, 1))).fit(X, y)


def test_items_that_no_pairs_connect_are_apart():
    """Pairs that were not listed cannot put items together; what is listed of a gold cluster is learned."""
    block = np.array([[0, 1, 1.0], [2, 3, 1.0], [1, 2, -1.0]])
    engine = Engine("clusters", epochs=20).fit([block[:2], block], [[5, 5, 5, 5], [0, 0, 1, 1]])
    assert [labels.tolist() for labels in engine.predict([block[:2], block])] == [[0, 0, 1, 1], [0, 0, 1, 1]]
    trees = Engine("clusters", solver="trees", epochs=20).fit([block[:2]], [[5, 5, 5, 5, 7]])
    assert trees.predict([block[:2]])[0].tolist() == [0, 0, 1, 1]


def test_an_estimator_is_cloned_and_cross_validated():
    X, y = gatherings()
    for options in ({}, {"solver": "trees"}):
        model = StructuredEstimator(problem="clusters", plugin_options=options, epochs=5, average=True, random_state=0)
        assert cross_val_score(clone(model), [rows_of(x) for x in X], y, cv=3).mean() > -4


def test_the_command_line_reads_pairs_from_a_table(tmp_path, capsys):
    X, y = gatherings(80)
    frame = pandas.DataFrame(np.concatenate([rows_of(x) for x in X]), columns=["one", "other", "a", "b", "c"])
    frame.insert(0, "day", np.repeat(np.arange(len(X)), 10))
    first, second = np.triu_indices(5, 1)
    frame["together"] = np.concatenate([labels[first] == labels[second] for labels in y]).astype(int)
    frame.to_csv(tmp_path / "pairs.csv", index=False)
    model = str(tmp_path / "model")
    settings = ["--set", "show=rows", "--set", "epochs=20", "--set", "average=true"]
    data = [str(tmp_path / "pairs.csv"), "--group", "day"]
    assert main(["fit", "clusters", *data, "--target", "together", "--model", model, *settings]) in (0, None)
    assert main(["predict", model, *data, "--output", str(tmp_path / "answers.csv")]) in (0, None)
    answers = pandas.read_csv(tmp_path / "answers.csv").iloc[:, -1]
    assert np.mean(answers == frame["together"]) > 0.9
    capsys.readouterr()


@pytest.mark.parametrize(("y", "options", "sentence"), [
    ([0, 1], {}, r"y\[0\] is \[0, 1\]; expected a label for each of its 3 items, or with show='rows'"),
    ([0, 1, None], {}, r"y\[0\] holds NaN or None"),
    ([0.0, np.nan, 1], {}, r"y\[0\] holds NaN or None"),
    ((1, 2), {"show": "rows"}, r"make one cluster of the items 0 with 1. The pair 0 of these is missing"),
    ((7,), {"show": "rows"}, "atom 7"),
    ([0, 0, 0], {"solver": "trees"}, "the items 0, 1, 2 have no tree: too few arcs lead from one of them to the others"),
])  # fmt: skip
def test_what_is_no_clustering_is_refused(y, options, sentence):
    block = np.array([[0, 1, 1.0], [0, 2, 1.0], [1, 2, 1.0]])
    block = block[[1, 2]] if options.get("solver") == "trees" else block
    with pytest.raises(DataError, match=sentence):
        Engine("clusters", **options).fit([block], [y])


@pytest.mark.parametrize(("block", "sentence"), [
    ([[0, 1.5, 1.0]], "row 0 of X has 1.5 in column 1; expected the number of an item, from 0"),
    ([[-1, 1, 1.0]], "row 0 of X has -1 in column 0"),
    ([[0, 1, 1.0], [1, 0, 1.0]], "example 0 cannot be clustered: pair 1, of the items 1 and 0, is listed twice"),
    ([[1, 1, 1.0]], "example 0 cannot be clustered: pair 0 is of the item 1 with itself"),
])  # fmt: skip
def test_what_are_no_pairs_is_refused(block, sentence):
    engine = Engine("clusters").fit([[[0, 1, 1.0]]] and [np.array([[0, 1, 1.0]])], [[0, 0]])
    with pytest.raises(DataError, match=sentence):
        engine.predict([np.array(block)])


def test_options_without_effect_are_refused():
    X, y = gatherings(2)
    for options in ({"solver": "greedy", "most_pairs": 3}, {"missing": 2.0}, {"solver": "trees", "most_nodes": 5},
                    {"solver": "greedy", "time_limit": 1.0}):
        with pytest.raises(UnusedOption, match="has no effect with solver="):
            Engine("clusters", **options).fit(X, y)
    limited = Engine("clusters", most_pairs=0).fit(X, y)
    assert not limited.parts_.argmax.exact


def test_a_time_limit_bounds_each_answer_and_optimality_gaps_have_its_bound():
    random = np.random.default_rng(0)
    X, y = [random.normal(size=(16, 16, 3)) for _ in range(2)], [np.arange(16) % 3] * 2
    limited = Engine("clusters", time_limit=1e-6, fit_intercept=False).fit(X, y)
    gaps = limited.optimality_gaps(X)
    assert not limited.parts_.argmax.exact and (gaps > 0).all()
    for block, labels, gap in zip(X, limited.predict(X), gaps, strict=True):
        scores = np.triu(block @ limited.coef_, 1)
        same = labels[:, None] == labels
        assert max_clusters(scores + scores.T).score <= scores[same].sum() + gap + 1e-6
    with pytest.raises(OptionError, match="time_limit=0"):
        Engine("clusters", time_limit=0.0)


# ---- records that no pair names ----


def near(records):
    """Pairs with the same first letter."""
    pairs = [(i, j) for j in range(len(records)) for i in range(j) if records[i][0] == records[j][0]]
    return pairs, [[float(records[i] == records[j]), 1.0] for i, j in pairs]


def both_ways(records):
    pairs = [(i, j) for i in range(len(records)) for j in range(len(records)) if i != j and records[i][0] == records[j][0]]
    return pairs, [[float(records[i] == records[j]), 1.0] for i, j in pairs]


BLOCKS = [["anna", "anna", "abe", "bob", "bob"], ["cid", "carl", "cid", "dan", "dan"]]
NAMES = [[0, 0, 1, 2, 2], [0, 1, 0, 2, 2]]


@pytest.mark.parametrize("solver", ["exact", "greedy", "trees"])
def test_records_that_no_pair_names_are_clusters_of_their_own(solver, tmp_path):
    comparison = both_ways if solver == "trees" else near
    model = PairClusterer(comparison=comparison, solver=solver, C=1.0, epochs=30, random_state=0)
    model.fit([*BLOCKS, ["zoe"], ["q", "r"], []], [*NAMES, [0], [0, 1], []])
    given = [["anna", "anna", "zoe"], ["zoe"], [], ["q", "anna", "anna", "r"]]
    answers = [labels.tolist() for labels in model.predict(given)]
    assert answers == [[0, 0, 1], [0], [], [0, 1, 1, 2]]
    assert [model.predict([one])[0].tolist() for one in given] == answers, "also alone, where no pair has features"
    assert model.score(given, answers) == 1
    model.engine_.save(tmp_path / "model")
    loaded = Engine.load(tmp_path / "model", comparison=comparison)
    assert [one.tolist() for one in loaded.predict([["zoe"], given[3]])] == [[0], answers[3]]
    for wrong in ([0, 0], [0, 0, 1, 5]):
        for call in (model.fit, model.score):
            with pytest.raises(DataError, match=r"y\[0\] (is|has)"):
                call(given[:1], [wrong])


def test_items_of_an_array_count_whether_they_have_a_pair_or_not():
    X, y = [np.random.default_rng(0).normal(size=(n, n, 2)) for n in (3, 1, 0)], [[0, 1, 0], [0], []]
    assert [len(labels) for labels in Engine("clusters", epochs=1, random_state=0).fit(X, y).predict(X)] == [3, 1, 0]


def test_comparisons_without_pairs_or_with_others_records_are_refused():
    with pytest.raises(DataError, match="returned no pair for any example"):
        Engine("clusters", comparison=near).fit([["a"], ["b", "c"]], [[0], [0, 1]])
    with pytest.raises(DataError, match=r"a pair of X\[0\] names the item 2, but the example has 2 items"):
        Engine("clusters", comparison=lambda records: ([(0, 2)], [[1.0]])).fit([["a", "b"]], [[0, 1]])


def test_hidden_trees_have_no_probabilities_of_clusterings():
    random = np.random.default_rng(0)
    X, y = [random.normal(size=(4, 4, 2)) for _ in range(6)], [random.integers(0, 2, 4) for _ in range(6)]
    engine = Engine("clusters", solver="trees", random_state=0).fit(X, y)
    for call in (lambda: engine.predict_k_best(X, 2), lambda: engine.margins(X), lambda: engine.log_probability(X, y)):
        with pytest.raises(PluginError, match="one output of LatentTrees is many hidden structures"):
            call()
    with pytest.raises(PluginError, match="sets are those of outputs"):
        StructureConformal(PairClusterer(solver="trees", random_state=0), coverage=0.5).fit(X * 2, y * 2)
    assert engine.predict_k_best(X[:1], 1)[0][0][0].tolist() == engine.predict(X[:1])[0].tolist()
