"""The k best outputs with their scores, and the probability of a given output, against those of every structure."""

import itertools

import numpy as np
import pytest
from every_problem import BUNDLED
from plain import Engine

from structperc.errors import DataError, PluginError
from structperc.fitting.answers import k_best
from structperc.testing.case import make_case

LABELS = ["low", "middle", "high", "top"]
OF_LABELS = ["multiclass", "cusum", "prank", "interval-pa"]
NOT_LISTED = {"latent-ranking", "decisions"}            # two orders of one list, and outputs that only the user's function defines
OF_STRUCTURES = sorted({plugin.name for plugin in BUNDLED if plugin.sample} - {*OF_LABELS, *NOT_LISTED})
MOST = 500


def trained(problem):
    """A trained engine, and each of its examples as X and arguments of predict."""
    random = np.random.default_rng(5)
    if problem in OF_LABELS:
        X = random.integers(-2, 3, (30, 3)).astype(float)
        return Engine(problem, epochs=3, classes=LABELS).fit(X, random.choice(LABELS, 30)), [(row[None], {}) for row in X]
    case = make_case(problem, (), {"epochs": 3}, 0)
    data = case.teach(case.data, case.answers(case.teacher(), case.examples))
    X, offsets = data.X, data.offsets
    examples = [([x], {}) for x in X] if offsets is None else [
        (X[first:last], {"lengths": [last - first]}) for first, last in itertools.pairwise(offsets)]
    return case.fit(epochs=3, data=data), examples


def every_structure(engine, X, where):
    """All structures of one example as `predict` shows them, their atom counts and their scores. Empty if there are too many."""
    outputs, model = engine.parts_.outputs, engine.model_
    (x, scores), = model.scores(engine.read(X, **where))
    structures = list(itertools.islice(outputs.enumerate(x), MOST))
    structures = structures if len(structures) < MOST else []
    counts = np.array([outputs.count(x, y) for y in structures], dtype=float).reshape(len(structures), x.n_atoms)
    return [outputs.decode(y, x) for y in structures], counts, counts @ scores


def counts_of(engine, X, where, output):
    """How often each atom occurs in an output."""
    rows = engine.read(X, **where)
    outputs = engine.parts_.outputs
    return tuple(outputs.count(engine.model_.example(rows, 0), outputs.encode_answers([output], rows)[0]))


@pytest.mark.parametrize("problem", OF_LABELS + OF_STRUCTURES)
def test_the_k_best_have_the_largest_scores_of_all_structures(problem):
    engine, examples = trained(problem)
    compared = 0
    for X, where in examples:
        shown, counts, totals = every_structure(engine, X, where)
        if not shown:
            continue
        by_atoms = dict(zip(map(tuple, counts), totals, strict=True))
        expected = np.sort(list(by_atoms.values()))[::-1]
        for k in (1, 3, 1000):
            (ranked,) = engine.predict_k_best(X, k, **where)
            outputs, scores = zip(*ranked, strict=True)
            np.testing.assert_allclose(scores, expected[:k], rtol=0, atol=1e-9)
            assert str(outputs[0]) == str(engine.predict(X, **where)[0])
            assert {counts_of(engine, X, where, output) for output in outputs} <= set(by_atoms) and len(ranked) == len(expected[:k])
            assert all(type(score) is float for score in scores)
        lead = expected[0] - expected[1] if len(expected) > 1 else np.inf
        assert engine.margins(X, **where)[0] == pytest.approx(lead, abs=1e-9)
        compared += 1
    assert compared > 2


@pytest.mark.parametrize("problem", OF_LABELS + OF_STRUCTURES)
def test_probabilities_of_all_structures_add_up_to_one(problem):
    engine, examples = trained(problem)
    compared = 0
    for X, where in examples[:8]:
        shown, _, totals = every_structure(engine, X, where)
        if not shown:
            continue
        found = np.array([engine.log_probability(X, [output], **where)[0] for output in shown])
        assert (found <= 0).all() and np.exp(found).sum() == pytest.approx(1, abs=1e-9)
        if problem not in ("cusum", "prank", "interval-pa"):
            np.testing.assert_allclose(found, totals - np.logaddexp.reduce(totals), rtol=0, atol=1e-9)
        compared += 1
    assert compared > 1


@pytest.mark.parametrize("problem", OF_LABELS)
def test_the_probability_of_a_label_is_that_of_predict_proba(problem):
    engine, examples = trained(problem)
    X = np.concatenate([X for X, _ in examples])
    for k, label in enumerate(LABELS):
        np.testing.assert_allclose(engine.log_probability(X, [label] * len(X)), np.log(engine.predict_proba(X))[:, k], atol=1e-12)


def test_a_temperature_divides_the_scores_of_probabilities_and_not_those_of_the_k_best():
    random = np.random.default_rng(1)
    X = [random.normal(size=(size, 2)) for size in [2, 3] * 20]
    y = [np.where(x[:, 0] > 0, "a", "b").tolist() for x in X]
    engine = Engine("sequence", epochs=3, calibrate=True, random_state=0).fit(X, y)
    (best, first), (second, other), *_ = engine.predict_k_best(X[:1], 4)[0]
    assert engine.temperature_ != 1 and first - other == pytest.approx(engine.margins(X[:1])[0])
    apart = np.subtract(*engine.log_probability(X[:1] * 2, [best, second]))
    assert apart == pytest.approx((first - other) / engine.temperature_)


def test_of_tied_labels_the_lower_comes_first():
    engine = Engine("multiclass", epochs=1, classes=LABELS).fit([[0.0]], ["low"])
    assert engine.label_scores([[0.0]]).tolist() == [[0, 0, 0, 0]]
    assert [label for label, _ in engine.predict_k_best([[0.0]], 4)[0]] == LABELS


@pytest.mark.parametrize("n_tokens", [1, 2, 3])
def test_tied_labellings_are_in_the_order_of_their_last_labels(n_tokens):
    """Scores of -1, 0 and 1 tie often."""
    engine = Engine("sequence", classes=[1, 2, 3]).fit([np.eye(3)], [[1, 2, 3]])
    parts, x = engine.parts_, engine.read([np.zeros((n_tokens, 3))]).example(0)
    x.n_atoms, random = parts.features.n_atoms(x), np.random.default_rng(n_tokens)
    structures = list(itertools.product([1, 2, 3], repeat=n_tokens))
    for _ in range(20):
        scores = random.integers(-1, 2, x.n_atoms).astype(float)
        totals = {y: parts.outputs.count(x, y) @ scores for y in structures}
        expected = sorted(structures, key=lambda y, totals=totals: (-totals[y], y[::-1]))
        assert [y for y, _ in k_best(parts, scores.copy(), x, 100)] == expected


def test_constraints_and_allowed_labels_bound_both():
    """The probability of an output is that among the allowed outputs."""
    X, y = [np.eye(2), np.eye(2)[::-1]], [["a", "b"], ["b", "a"]]
    engine = Engine("sequence", epochs=3, classes=["a", "b"], forbidden_transitions=[("a", "a")]).fit(X, y)
    allowed = [[["a"], None]]
    assert [output for output, _ in engine.predict_k_best(X[:1], 9, allowed=allowed)[0]] == [["a", "b"]]
    assert engine.log_probability(X[:1], [["a", "b"]], allowed=allowed).tolist() == [0]
    for output, sentence in ((["a", "a"], "may not follow"), (["b", "b"], "which allowed")):
        with pytest.raises(DataError, match=sentence):
            engine.log_probability(X[:1], [output], allowed=allowed)


def test_outputs_that_nothing_sums_up_are_named():
    engine, ((X, where), *_) = trained("decisions")
    for ask in (lambda: engine.predict_k_best(X, 2, **where), lambda: engine.log_probability(X, engine.predict(X, **where), **where)):
        with pytest.raises(PluginError, match="cannot enumerate"):
            ask()


def test_probabilities_need_one_output_for_each_example():
    engine, examples = trained("multiclass")
    with pytest.raises(DataError, match="y has 1 label"):
        engine.log_probability(np.zeros((2, 3)), ["low"])


@pytest.mark.parametrize("labels", [[1, 2, 3], [0.5, 1.5, 2.5], ["a", "b", "c"], np.array([1, 2, 3], dtype="m8[ns]")], ids=str)
def test_labels_are_those_of_a_list_of_predictions(labels):
    X = np.arange(12.0).reshape(12, 1) % 3
    engine = Engine("multiclass", epochs=3, classes=labels).fit(X, np.asarray(labels)[X[:, 0].astype(int)])
    winner = engine.predict_k_best(X[:1], 1)[0][0][0]
    expected = engine.predict(X[:1])[0] if isinstance(labels, np.ndarray) else engine.predict(X[:1]).tolist()[0]
    assert winner == expected and type(winner) is type(expected) and repr(engine.explain(X[0]).winner) == repr(expected)
