"""Tests of the problem "ilp": subsets of rows under constraints, three new problems, saving, and rejected input."""

import itertools

import numpy as np
import pytest
import structperc_ilp
from plain import Engine
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from structperc.cli import main
from structperc.components import Rows
from structperc.errors import DataError, OptionError, PluginError
from structperc.estimators import StructuredEstimator
from structperc.solvers.integer_programs import ILP
from structperc.testing import check_problem

ONE_OF_TWO = ILP([[1, 1, 0, 0], [0, 0, 1, 1]], [1, 1])


def chosen(n=100, seed=0):
    random = np.random.default_rng(seed)
    X = [random.normal(size=(4, 3)) for _ in range(n)]
    return X, [ONE_OF_TWO.solve(block @ [1.0, -1.0, 0.5]).chosen for block in X]


def test_the_augmented_search_is_exact():
    checks = ["augmented_argmax_maximises", "further_answers_agree"]
    assert check_problem("ilp", update="pa1", C=0.5, loss_weight=1.0, checks=checks) == [(name, "passed") for name in checks]


def knapsack(x):
    """A knapsack: column 0 is the weight of a row, and the bag has room for half of the total weight."""
    return ILP([x.rows[:, 0]], [x.rows[:, 0].sum() / 2])


def schedule(x):
    """Rows are pairs (job, hour). Every job has an hour, an hour has at most one job, and job 0 comes before job 1."""
    job, hour = x.rows[:, 0], x.rows[:, 1]
    each = np.equal.outer(np.unique(job), job)
    return ILP(np.vstack([np.equal.outer(np.unique(hour), hour), hour * ((job == 0) * 1 - (job == 1) * 1)]),
               [*np.ones(len(np.unique(hour))), -1], A_eq=each, b_eq=np.ones(len(each)))


@pytest.mark.parametrize("constraints", [knapsack, schedule])
def test_a_new_problem_takes_a_few_lines(constraints):
    random, taste = np.random.default_rng(0), np.array([0.0, 0.0, 2.0, -1.0])
    given = np.indices((3, 5)).reshape(2, -1).T + (constraints is knapsack)
    X = [np.column_stack([given, random.normal(size=(15, 2))]) for _ in range(40)]
    y = [constraints(Rows(rows, np.array([0, len(rows)])).example(0)).solve(rows @ taste).chosen for rows in X]
    engine = Engine("ilp", constraints=constraints, epochs=4, average=True).fit(X[:35], y[:35])

    assert not engine.optimality_gaps(X[35:]).any()
    assert np.mean([set(found) == set(truth) for found, truth in zip(engine.predict(X[35:]), y[35:], strict=True)]) >= 0.5


def test_answers_obey_the_constraints_and_are_learned():
    X, y = chosen()
    engine = Engine("ilp", constraints=ONE_OF_TWO, epochs=10, average=True).fit(X[:80], y[:80])
    answers = engine.predict(X)
    assert all(ONE_OF_TWO.violated(np.isin(range(4), answer).astype(float)) is None for answer in answers)
    assert np.mean([set(a) == set(b) for a, b in zip(answers[80:], y[80:], strict=True)]) >= 0.9
    assert not engine.optimality_gaps(X).any() and (engine.margins(X) >= 0).all()
    assert len(engine.predict(X[:1], k=9)[0]) == 9, "three ways for each pair of rows"
    assert engine.explain(X[0]).margin == pytest.approx(engine.margins(X[:1])[0])


@pytest.mark.parametrize("limit", [{"most_nodes": 1}, {"time_limit": 1e-6}], ids=["nodes", "seconds"])
def test_an_answer_that_may_be_beaten_says_by_how_much(limit):
    random = np.random.default_rng(3)
    A = random.integers(1, 40, (5, 40))
    program, X = ILP(A, A.sum(axis=1) // 4), [random.normal(size=(40, 3)) for _ in range(4)]
    y = [program.solve(block @ [1.0, -1.0, 0.5]).chosen for block in X]
    stopped = Engine("ilp", constraints=program, epochs=3, **limit).fit(X, y)
    gaps = stopped.optimality_gaps(X)
    assert not stopped.parts_.argmax.exact and (gaps >= 0).all()
    assert gaps.any() or "time_limit" in limit, "a fast machine proves the optimum before the clock is looked at"
    for block, answer, gap in zip(X, stopped.predict(X), gaps, strict=True):
        scores = block @ stopped.coef_ + stopped.intercept_
        bound = scores[list(answer)].sum() + gap
        if "time_limit" in limit:           # another call may stop at another solution
            bound = program.solve(scores, **limit).bound
        assert program.solve(scores).score <= bound + 1e-6


def test_a_saved_model_needs_the_same_constraints(tmp_path):
    X, y = chosen()
    engine = Engine("ilp", constraints=ONE_OF_TWO, epochs=3).fit(X, y)
    engine.save(tmp_path / "model")
    with pytest.raises(PluginError, match="which a model file cannot hold; pass the same again"):
        Engine.load(tmp_path / "model")
    with pytest.raises(PluginError, match="was passed"):
        Engine.load(tmp_path / "model", constraints=ILP([[1, 1, 1, 1]], [1]))
    with pytest.raises(PluginError, match="returns other values"):
        Engine.load(tmp_path / "model", constraints=ILP([[1, 1, 0, 0], [0, 0, 1, 2]], [1, 1]))
    assert Engine.load(tmp_path / "model", constraints=ONE_OF_TWO).predict(X).tolist() == engine.predict(X).tolist()


def test_the_estimator_is_cloned_and_cross_validated():
    X, y = chosen()
    model = StructuredEstimator(problem="ilp", plugin_options=dict(constraints=ONE_OF_TWO), epochs=4, random_state=0)
    assert cross_val_score(clone(model), X, [tuple(one) for one in y], cv=3).mean() > -1
    assert not model.fit(X, y).optimality_gaps(X).any()


@pytest.mark.parametrize(("y", "sentence"), [
    ([[0, 1]], r"y\[0\] cannot be used: the set \(0, 1\) of example 0 has 2 in row 0 of A where at most 1 is allowed"),
    ([[4]], "atom 4 in the structure"),
    ([[0, 0]], "names an atom twice"),
])  # fmt: skip
def test_a_gold_output_that_is_not_feasible_is_refused(y, sentence):
    with pytest.raises(DataError, match=sentence):
        Engine("ilp", constraints=ONE_OF_TWO).fit([np.ones((4, 3))], y)


@pytest.mark.parametrize("unit", [1e-9, 1, 1e9])
def test_one_unit_above_a_budget_is_no_gold_output_and_never_predicted(unit):
    budget = ILP([np.multiply([600000, 400001, 5], unit)], [10**6 * unit])
    X = [np.array([[1.0], [1.0], [-1.0]])]
    with pytest.raises(DataError, match="the set .0, 1. of example 0 has .*1000001.* in row 0 of A where at most .* is allowed"):
        Engine("ilp", constraints=budget).fit(X, [[0, 1]])
    engine = Engine("ilp", constraints=budget).fit(X, [[0]])
    assert all(budget.violated(np.isin(range(3), one).astype(float)) is None for one in [*engine.predict(X), (0,), (1, 2)])
    assert engine.optimality_gaps(X).tolist() == [0.0]


def test_constraints_that_do_not_fit_are_refused():
    X, y = [np.ones((3, 2))], [[0]]
    with pytest.raises(OptionError, match=r"constraints=None; pass constraints=ILP\(A, b\)"):
        Engine("ilp").fit(X, y)
    with pytest.raises(OptionError, match="expected None or a function"):
        Engine("ilp", constraints=[[1, 2]])
    with pytest.raises(DataError, match="in 4 variables.* for example 0 of 3 rows; expected a variable per row"):
        Engine("ilp", constraints=ONE_OF_TWO).fit(X, y)
    with pytest.raises(DataError, match="returned 5 for example 0; expected an ILP"):
        Engine("ilp", constraints=lambda x: 5).fit(X, y)


def test_an_example_without_a_feasible_set_is_named():
    X, y = chosen()
    engine = Engine("ilp", constraints=lambda x: ILP([[1, 1, 1, 1]], [-1 if x.rows[0, 0] == 9 else 2])).fit(X, [a[:1] for a in y])
    with pytest.raises(DataError, match="example 1 cannot be predicted: no v between 0 and 1 is feasible: row 0 of A"):
        engine.predict([X[0], np.full((4, 3), 9.0)])


def test_the_command_line_cannot_pass_a_function(tmp_path, capsys):
    (tmp_path / "rows.csv").write_text("a,b,y\n1,2,0\n3,4,1\n")
    assert main(["fit", "ilp", str(tmp_path / "rows.csv"), "--target", "y", "--model", str(tmp_path / "model")]) != 0
    assert "not from the command line" in capsys.readouterr().err


def test_the_module_documents_its_options():
    assert set(structperc_ilp.options) == {"constraints", "most_nodes", "time_limit", "relaxed"}


# ---- vertices of the linear program ----


def at_most_one_of_two(x):
    """At most one of any two rows. With three or more rows, a vertex may contain half of each row."""
    pairs = np.array(list(itertools.combinations(range(x.n_rows), 2))).reshape(-1, 2)
    return ILP((pairs[:, :, None] == np.arange(x.n_rows)).any(axis=1) * 1.0, np.ones(len(pairs)))


def triples(n=60, seed=0):
    random = np.random.default_rng(seed)
    X = [random.normal(size=(4, 3)) + [0.5, 0, 0] for _ in range(n)]
    return X, [[int(np.argmax(block @ [1.0, -1.0, 0.5]))] for block in X]


@pytest.mark.parametrize("options", [{}, {"update": "pa1", "C": 0.3, "loss_weight": 1.0}])
def test_relaxed_answers_are_vertices_that_no_vector_beats(options):
    X, y = triples()
    engine = Engine("ilp", constraints=at_most_one_of_two, relaxed=True, epochs=4, average=True, **options).fit(X[:40], y[:40])
    fractional = 0
    for v, scores in zip(engine.predict(X), engine.atom_scores(X), strict=True):
        whole = np.maximum(scores.max(initial=0.0), 0.0)            # the score of the best set of at most one row
        halves = np.where(scores > 0, 0.5, 0.0)
        assert v.shape == (4,) and (np.round(2 * v) == 2 * v).all() and scores @ v >= max(whole, scores @ halves) - 1e-9
        fractional += 0.5 in v
    assert fractional


def test_a_hinge_over_vertices_bounds_that_over_sets():
    """The maximum of score + loss over the polytope is at least the maximum over sets; the loss is extended linearly."""
    X, y = triples()
    relaxed, whole = (Engine("ilp", constraints=at_most_one_of_two, relaxed=value).fit(X, y) for value in (True, False))
    random, strictly = np.random.default_rng(0), 0
    for i, gold in enumerate(y):
        scores, best = random.normal(size=4), []
        for engine in (relaxed, whole):
            x, parts = engine.read(X).example(i), engine.parts_
            x.n_atoms = 4
            code = parts.outputs.encode([gold], engine.read(X[i:i + 1]))[0]
            found = parts.argmax.argmax_augmented(scores, x, code, parts.loss, 1.0)
            best.append(parts.outputs.count(x, found) @ scores + parts.loss.value(code, found, x))
        assert best[0] >= best[1] - 1e-9
        strictly += best[0] > best[1] + 1e-6
    assert strictly


def test_the_battery_over_vertices():
    assert {outcome.split(":")[0] for _, outcome in check_problem("ilp", relaxed=True)} == {"passed", "not applicable"}


def test_relaxed_gold_outputs_must_be_vertices_of_the_polytope():
    X, _ = triples(1)
    for wrong, sentence in (([0, 1], "row 0 of A where at most 1"), ([0.5, 0.6, 0, 0], "in row 0 of A"), ([-0.5, 0, 0, 0], "from 0 to 1")):
        with pytest.raises(DataError, match=f"(?s){sentence}"):
            Engine("ilp", constraints=at_most_one_of_two, relaxed=True).fit(X, [wrong])
    for limit in ({"most_nodes": 3}, {"time_limit": 1.0}):
        with pytest.raises(OptionError, match="does not branch"):
            Engine("ilp", constraints=at_most_one_of_two, relaxed=True, **limit).fit(X, [[0]])
