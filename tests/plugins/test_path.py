"""Tests of the problem "path": arcs as rows with keys, start and end per example, learning, rejected input, and the command line."""

import numpy as np
import pandas
import pytest
from plain import Engine
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from structperc_path.searches import CheapestPath

from structperc import Problem, hookimpl
from structperc.cli import main
from structperc.errors import DataError, PluginError
from structperc.estimators import StructureConformal, StructuredEstimator
from structperc.solvers.paths import best_path, cheapest_path, grid_graph
from structperc.testing import check_problem

TASTE = np.array([2.0, -1.0, 0.5])
GRID = grid_graph(4, 4)


def maps(n=60, ends=False, seed=0):
    """(X, y): grids with features of arcs, and the best path under TASTE."""
    random = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        features = random.normal(size=(len(GRID[0]), 3))
        start, end = (int(random.integers(0, 6)), 15) if ends else (0, 15)
        y.append(best_path(*GRID, features @ TASTE, start, end)[0].tolist())
        X.append(np.column_stack([*GRID, *([np.full(len(features), node) for node in (start, end)] if ends else []), features]))
    return X, y


def test_the_battery_with_a_loss_of_whole_paths():
    assert {outcome for _, outcome in check_problem("path", loss="zero-one")} == {"passed"}


def test_the_search_with_a_loss_is_exact():
    checks = ["augmented_argmax_maximises"]
    for loss in ("hamming", "zero-one"):
        assert check_problem("path", update="pa1", loss_weight=1.0, loss=loss, checks=checks) == [(checks[0], "passed")]


@pytest.mark.parametrize("ends", [False, True])
def test_paths_are_learned(ends):
    X, y = maps(150, ends)
    engine = Engine("path", ends=ends, epochs=20, average=True).fit(X[:100], y[:100])
    found = engine.predict(X[100:])
    assert np.mean([list(a) == b for a, b in zip(found, y[100:], strict=True)]) >= 0.9
    assert engine.n_features_in_ == X[0].shape[1] and engine.coef_.shape == (3,) and engine.margins(X).min() >= 0
    assert " to " in str(engine.explain(X[0]))
    assert all(0 <= p.min() and p.max() <= 1 + 1e-9 for p in engine.predict_marginals(X[:5]))


def test_the_order_in_which_a_path_is_given_does_not_matter():
    X, y = maps()
    engine = Engine("path", epochs=3).fit(X, y)
    assert np.array_equal(Engine("path", epochs=3).fit(X, [arcs[::-1] for arcs in y]).coef_, engine.coef_)


def test_a_saved_model_answers_the_same(tmp_path):
    X, y = maps(ends=True)
    engine = Engine("path", ends=True, epochs=3).fit(X, y)
    engine.save(tmp_path / "model")
    assert Engine.load(tmp_path / "model").predict(X).tolist() == engine.predict(X).tolist()


def test_the_estimator_is_cloned_and_cross_validated():
    X, y = maps()
    model = StructuredEstimator(problem="path", epochs=10, average=True, random_state=0)
    assert cross_val_score(clone(model), X, [tuple(arcs) for arcs in y], cv=3).mean() > -2


@pytest.mark.parametrize(("x", "y", "sentence"), [
    ([[0, 1, 1], [1, 2, 1]], [0], r"the arcs \(0,\) of example 0 are no path from its start to its end"),
    ([[0, 1, 1], [1, 2, 1], [0, 2, 1]], [0, 1, 2], "are no path"),
    ([[0, 1, 1], [1, 2, 1]], [2], "atom 2"),
    ([[0, 1, 1], [1, 0, 1], [1, 2, 1]], [0, 2], "the graph has a cycle among the nodes 0, 1"),
    ([[0, 1, 1], [1, 2, 1], [2, 1, 1], [1, 3, 1]], [0, 3], "cycle among the nodes 1, 2"),
])  # fmt: skip
def test_what_is_no_path_is_refused(x, y, sentence):
    with pytest.raises(DataError, match=sentence):
        Engine("path").fit([np.array(x, dtype=float)], [y])


def test_starts_and_ends_that_do_not_fit_are_refused():
    X, y = maps(ends=True)
    engine = Engine("path", ends=True).fit(X, y)
    mixed = X[0].copy()
    mixed[1, 2] = 5
    with pytest.raises(Exception, match="the rows of example 0 name several starts or ends; expected one of each"):
        engine.predict([mixed])
    away = X[0].copy()
    away[:, 2:4] = [15, 0]
    with pytest.raises(DataError, match="example 0 cannot be predicted: no path leads from node 15 to node 0"):
        engine.predict([away])


def test_the_command_line_reads_arcs_from_a_table(tmp_path, capsys):
    X, y = maps(80)
    frame = pandas.DataFrame(np.concatenate(X), columns=["from", "to", "a", "b", "c"])
    frame.insert(0, "map", np.repeat(np.arange(len(X)), len(X[0])))
    frame["taken"] = np.concatenate([np.isin(np.arange(len(X[0])), arcs) for arcs in y]).astype(int)
    path, model, answers = (str(tmp_path / name) for name in ("arcs.csv", "model", "answers.csv"))
    frame.to_csv(path, index=False)
    settings = ["--set", "epochs=20", "--set", "average=true"]
    assert main(["fit", "path", path, "--group", "map", "--target", "taken", "--model", model, *settings]) in (0, None)
    assert main(["predict", model, path, "--group", "map", "--output", answers]) in (0, None)
    assert np.mean(pandas.read_csv(answers).iloc[:, -1] == frame["taken"]) > 0.9
    capsys.readouterr()


# ---- costs that are not negative ----


def streets(random, n=4, several=(0, 2)):
    """Tails and heads of a graph with cycles. Each pair of nodes has arcs in both directions, and some arcs occur twice."""
    tails, heads = np.nonzero(~np.eye(n, dtype=bool))
    twice = random.integers(0, len(tails), random.integers(*several))
    return np.append(tails, tails[twice]), np.append(heads, heads[twice])


class Streets:
    """A plugin for check_problem, whose examples have cycles."""

    name, problem, check_options = "streets", "path", {"costs": "non-negative"}

    def sample(self, random, n_examples):
        graphs = [streets(random, int(n)) for n in random.integers(2, 5, n_examples)]
        return [np.column_stack([*graph, random.exponential(size=(len(graph[0]), 3))]) for graph in graphs]

    @hookimpl
    def structperc_argmax(self, context):
        return CheapestPath()


def trips(n, seed=0):
    """(X, y): streets of a town, and the cheapest path from node 0 to node 5 under the true costs."""
    random, X, y = np.random.default_rng(seed), [], []
    for _ in range(n):
        graph = streets(random, 6)
        features = random.exponential(size=(len(graph[0]), 3))
        y.append(cheapest_path(*graph, features @ [1.0, 0.0, 2.0], 0, 5)[0].tolist())
        X.append(np.column_stack([*graph, features]))
    return X, y


@pytest.mark.parametrize("options", [{"fit_intercept": True, "decay": 0.01}, {"loss_weight": 0.5, "update": "pa1"}])
def test_the_battery_over_graphs_with_cycles(options):
    assert {outcome.split(":")[0] for _, outcome in check_problem(Streets(), **options)} <= {"passed", "not applicable"}


@pytest.mark.parametrize("options", [{}, {"update": "pa1", "C": 0.1, "loss_weight": 0.3}])
@pytest.mark.parametrize("layout", [np.array, csr_array])
def test_costs_are_learned_and_never_negative(options, layout):
    X, y = trips(160)
    flat, offsets = layout(np.concatenate(X)), np.append(0, np.cumsum([len(x) for x in X]))
    engine = Engine("path", costs="non-negative", epochs=10, average=True, **options)
    engine.fit(flat[:offsets[100]], y[:100], offsets=offsets[:101])
    found = engine.predict(flat[offsets[100]:], offsets=offsets[100:] - offsets[100])
    assert np.mean([list(a) == b for a, b in zip(found, y[100:], strict=True)]) >= 0.7
    assert (engine.coef_ <= 0).all() and all((s <= 0).all() for s in engine.atom_scores(flat, offsets=offsets))


def test_what_may_make_a_cost_negative_is_refused():
    """ST-7: features below 0, a loss that rewards wrong arcs, and kernels."""
    X, y = trips(5)
    X[3][2, 3] = -0.25
    row = sum(map(len, X[:3])) + 2
    for form in (X, pandas.DataFrame(np.concatenate(X), columns=["from", "to", "a", "b", "c"]), csr_array(np.concatenate(X))):
        offsets = None if form is X else np.append(0, np.cumsum([len(x) for x in X]))
        name = "'b'" if isinstance(form, pandas.DataFrame) else "1"
        with pytest.raises(DataError, match=f"row {row} of X has -0.25 in feature {name} of its arc; costs='non-negative' expects"):
            Engine("path", costs="non-negative").fit(form, y, offsets=offsets)
    X, y = trips(5)
    with pytest.raises(PluginError, match="would pay for wrong arcs, whose costs may then be negative; use loss='missed-arcs'"):
        Engine("path", costs="non-negative", loss="hamming", loss_weight=1.0).fit(X, y)
    with pytest.raises(PluginError, match="does not project on them"):
        Engine("path", plugins=["dual-kernel"], kernel="linear", costs="non-negative").fit(X, y)


@pytest.mark.parametrize("wrong", [[0, 1, 2], [3, 4, 0]])
def test_a_path_visits_no_node_twice(wrong):
    x = np.array([[0, 2, 1], [2, 1, 1], [1, 2, 1], [0, 1, 1], [1, 0, 1]], dtype=float)
    assert Engine("path", costs="non-negative").fit([x], [[0]]).predict([x])[0] in ((0,), (3, 2))
    with pytest.raises(DataError, match="no path from its start to its end"):
        Engine("path", costs="non-negative").fit([x], [wrong])


COMPLETE = [(tail, head) for tail in range(4) for head in range(4) if tail != head]          # has cycles


def costly(n, seed, arcs=COMPLETE):
    random = np.random.default_rng(seed)
    return [np.column_stack([arcs, random.exponential(size=(len(arcs), 2))]) for _ in range(n)]


def simple_paths(at, end, before=()):
    """The arcs of every path through the complete graph that visits no node twice."""
    if at == end:
        return [before]
    seen = {COMPLETE[a][0] for a in before}
    return [path for a, (tail, head) in enumerate(COMPLETE) if tail == at and head not in seen
            for path in simple_paths(head, end, (*before, a))]


@pytest.mark.parametrize("given_scores", [False, True])
def test_sets_of_paths_through_cyclic_graphs_are_those_of_all_paths(given_scores):
    X, paths = costly(12, 0), simple_paths(0, 3)
    right = [paths[i % len(paths)] for i in range(len(X))]
    engine = Engine("path", costs="non-negative", random_state=0, epochs=2).fit(X, right)
    if given_scores:
        problem = Problem("path", costs="non-negative")
        scores = np.concatenate(engine.atom_scores(X))
        sets = StructureConformal(problem, coverage=0.5).calibrate((problem.batch(X), scores), right)
        found = sets.predict((problem.batch(X), scores))
    else:
        found = StructureConformal(engine, coverage=0.5).calibrate(X, right).predict(X)
    some = 0
    for one, scores in zip(found, engine.atom_scores(X), strict=True):
        totals = np.array([scores[list(path)].sum() for path in paths])
        members = [path for path, total in zip(paths, totals, strict=True) if total >= totals.max() - one.distance - 1e-9]
        some += len(members) > 1
        assert set(one.k_best(50)) == set(members)
        assert np.flatnonzero(one.states).tolist() == sorted(set().union(*members))
        assert np.flatnonzero(one.states == 2).tolist() == sorted(set.intersection(*map(set, members)))
    assert some


def test_sets_of_more_paths_than_can_be_listed_are_refused_in_a_sentence():
    arcs = [(tail, head) for tail in range(12) for head in range(12) if tail != head]
    X = costly(3, 0, arcs)
    y = [[10], [0, arcs.index((1, 11))], [10]]
    engine = Engine("path", costs="non-negative", random_state=0).fit(X, y)
    with pytest.raises(PluginError, match="the members of a set were looked for among all structures of example 0, which are more than"):
        StructureConformal(engine, coverage=0.5).calibrate(X, y)
