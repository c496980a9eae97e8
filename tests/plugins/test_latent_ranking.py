"""Tests of "latent-ranking": every search against all lists, runs against a slow twin, and mistake bounds."""

import functools
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import Engine
from reference import bounds, projection, rankings
from reference.layouts import LAYOUTS, stored
from structperc_latent_ranking.outputs import RankingOutputs
from structperc_latent_ranking.solver import AdditiveRankingLoss, RankingLoss, TopDocuments

from structperc.components import LatentUpdate, Rows
from structperc.core.component import bind_features
from structperc.errors import DataError, OptionError, PluginError
from structperc.schedules import inverse, inverse_sqrt
from structperc.testing import check_problem
from structperc.testing.twins import PythonCalls

from . import test_mistake_bounds

ratios = test_mistake_bounds.ratios
LOSSES = ("precision", "recall", "ndcg", "average-precision")


def query(n):
    """An example with n documents, in the form that components receive."""
    x = Rows(np.zeros((max(n, 1), 1)), np.array([0, n])).example(0)
    x.n_atoms = n
    return x


@functools.cache
def document_features():
    return Engine("latent-ranking", k=1).fit([np.ones((2, 1))], [[0, 1]]).parts_.features


def bound(part):
    """A part that knows the feature map of its fit, as an engine's does: it counts the documents of an example."""
    bind_features(document_features(), part)
    return part


def levels(outputs, relevance):
    return outputs.encode(relevance, Rows(np.zeros((len(relevance), 1)), np.array([0, len(relevance)])))[0]


def started(kind, k, outputs):
    loss = (AdditiveRankingLoss if kind in ("precision", "recall") else RankingLoss)(kind, k)
    loss.start(SimpleNamespace(outputs=outputs), None)
    return bound(loss)


@st.composite
def small_queries(draw):
    """Scores with ties, and relevances that may be all 0 or all 1. k may exceed the number of documents."""
    n = draw(st.integers(1, 9))
    scores = draw(st.lists(st.integers(-2, 2), min_size=n, max_size=n))
    relevance = draw(st.one_of(st.just([0] * n), st.just([1] * n), st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    return np.array(scores, dtype=float), relevance, draw(st.integers(1, 11))


# ---- one query ----


@given(small_queries())
def test_the_lists_are_those_of_all_lists(small):
    scores, relevance, k = small
    n, outputs, solver = len(scores), bound(RankingOutputs(k)), bound(TopDocuments(k))
    gold, Y = levels(outputs, relevance), rankings.lists(n, k)
    assert [tuple(y) for y in outputs.enumerate(query(n))] == Y
    total = {y: scores[list(y)].sum() / k for y in Y}

    shown = solver.argmax(scores, query(n))
    assert shown == rankings.top(scores, k)
    assert total[tuple(sorted(shown))] == max(total.values())

    right = [y for y in Y if rankings.loss(relevance, y, k) == 0]
    kept = outputs.complete(gold, scores, query(n))
    assert kept == rankings.completion(scores, relevance, k)
    assert tuple(sorted(kept)) in right and total[tuple(sorted(kept))] == max(total[y] for y in right)

    for kind in ("precision", "recall"):
        loss = started(kind, k, outputs)
        for y in Y:
            assert loss.value(gold, y, query(n)) == pytest.approx(rankings.loss(relevance, y, k, kind), abs=1e-15)
        for c in (0.5, 1.0, 3.0):
            found = solver.argmax(loss.augment(gold, scores, c, query(n)), query(n))
            wanted = {y: total[y] + c * rankings.loss(relevance, y, k, kind) for y in Y}
            assert wanted[tuple(sorted(found))] == pytest.approx(max(wanted.values()), abs=1e-12)
            if kind == "precision":
                assert found == rankings.top(scores - c * np.array(relevance), k)


@given(small_queries())
def test_what_a_step_moves(small):
    """Delta > 0 if and only if the completion is another list. Then k Delta documents of each kind change places."""
    scores, relevance, k = small
    outputs, x = bound(RankingOutputs(k)), query(len(scores))
    gold, loss = levels(outputs, relevance), started("precision", k, outputs)
    for augment in (0.0, 1.0):
        found = bound(TopDocuments(k)).argmax(loss.augment(gold, scores, augment, x), x)
        kept = outputs.complete(gold, scores, x)
        gained, lost = set(kept) - set(found), set(found) - set(kept)
        delta = loss.value(gold, found, x)
        assert (delta > 0) == (set(kept) != set(found))
        assert len(gained) == len(lost) == pytest.approx(k * delta)
        assert all(relevance[j] for j in gained) and not any(relevance[j] for j in lost)


@given(small_queries(), st.lists(st.integers(0, 3), min_size=9, max_size=9), st.permutations([0.0, 1.0, 1.0, 2.5]))
def test_graded_worth(small, grades, gains):
    """Lists of loss 0 agree with gold, and the completion is the best of them. Augmented search is exact."""
    scores, _, k = small
    n = len(scores)
    grades, outputs, x, Y = grades[:n], bound(RankingOutputs(k, gains=gains)), query(n), rankings.lists(n, k)
    gold, worth = levels(outputs, grades), [gains[g] for g in grades]
    total = {y: scores[list(y)].sum() / k for y in Y}
    for kind in ("precision", "recall"):
        loss = started(kind, k, outputs)
        values = {y: rankings.loss(worth, y, k, kind) for y in Y}
        for y in Y:
            assert loss.value(gold, y, x) == pytest.approx(values[y], abs=1e-12)
        found = bound(TopDocuments(k)).argmax(loss.augment(gold, scores, 0.7, x), x)
        assert total[tuple(sorted(found))] + 0.7 * values[tuple(sorted(found))] == pytest.approx(
            max(total[y] + 0.7 * values[y] for y in Y), abs=1e-12)
    kept = tuple(sorted(outputs.complete(gold, scores, x)))
    if any(worth):
        right = [y for y in Y if values[y] == 0]
        assert kept in right and total[kept] == max(total[y] for y in right)


@given(small_queries(), st.lists(st.integers(0, 2), min_size=9, max_size=9))
def test_losses_of_the_order(small, grades):
    scores, _, k = small
    grades, x = grades[:len(scores)], query(len(scores))
    shown = rankings.top(scores, k)
    worth, relevance = [2**g - 1 for g in grades], [int(g >= 1) for g in grades]
    graded, binary = bound(RankingOutputs(k, gains=[0, 1, 3], order_counts=True)), bound(RankingOutputs(k, order_counts=True))
    found = started("ndcg", k, graded).value(levels(graded, grades), shown, x)
    assert found == pytest.approx(1 - rankings.ndcg(worth, shown, k) if any(worth) else 0, abs=1e-12)
    found = started("average-precision", k, binary).value(levels(binary, grades), shown, x)
    assert found == pytest.approx(1 - rankings.average_precision(relevance, shown, k) if any(relevance) else 0, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 63, 500, 4000])
def test_selection_among_many(n):
    rng = np.random.default_rng(n)
    orders = [rng.normal(size=n), np.arange(n), -np.arange(n), np.zeros(n), rng.integers(0, 3, n), -np.abs(np.arange(n) - n // 2),
              np.where(np.arange(n) % 2, np.arange(n), -np.arange(n))]
    for scores in orders:
        scores = np.array(scores, dtype=float)
        ranked = np.lexsort((np.arange(n), -scores))
        relevance = rng.integers(0, 2, n)
        for k in {1, 2, 7, 16, 17, n // 3 + 1, n // 2 + 1, n, n + 5}:
            assert bound(TopDocuments(k)).argmax(scores, query(n)) == tuple(ranked[:k].tolist())
            outputs = bound(RankingOutputs(k))
            kept = np.lexsort((np.arange(n), -scores, 1 - relevance))[:k]
            assert outputs.complete(levels(outputs, relevance), scores, query(n)) == tuple(kept.tolist())


@given(small_queries(), st.integers(1, 40))
def test_the_next_best_lists(small, wanted):
    scores, _, k = small
    found = bound(TopDocuments(k)).k_best(scores, query(len(scores)), wanted)
    totals = sorted((scores[list(y)].sum() / k for y in rankings.lists(len(scores), k)), reverse=True)
    assert len(found) == min(wanted, len(totals))
    assert found[0][0] == rankings.top(scores, k)
    assert len({frozenset(y) for y, _ in found}) == len(found)
    assert [score for _, score in found] == pytest.approx(totals[:len(found)])
    assert [scores[list(y)].sum() / k for y, _ in found] == pytest.approx(totals[:len(found)])


# ---- runs ----


def queries_of(rng, n_queries, d, *, whole=False, most=9):
    sizes = rng.integers(1, most + 1, n_queries)
    X = [(rng.integers(-3, 4, (n, d)) if whole else np.round(rng.normal(size=(n, d)), 3).astype(np.float32)).astype(float) for n in sizes]
    return X, [rng.integers(0, 2, n).tolist() for n in sizes]


def stacked(X, y):
    return np.concatenate(X), np.concatenate(y), [len(block) for block in X]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_run_is_that_of_the_twin(layout):
    """If inputs are whole and k is a power of two, all sums are exact. So the engine and the twin have the same ties."""
    for seed in range(6):
        rng = np.random.default_rng([seed, LAYOUTS.index(layout)])
        X, y = queries_of(rng, 25, 4, whole=seed % 2)
        rows, grades, lengths = stacked(X, y)
        k, augment = (1, 2, 4)[seed % 3], (0.0, 1.0)[seed // 3]
        w, mean, shown, steps = rankings.learn(X, y, k, loss_weight=augment, epochs=3)
        options = dict(k=k, loss_weight=augment, epochs=3, update="latent")
        engine = Engine("latent-ranking", **options).fit(stored(rows, layout), grades, lengths=lengths, record_predictions=True)
        done = 25 * len(engine.mistakes_)
        assert [tuple(found) for found in engine.online_predictions_] == shown[:done]
        np.testing.assert_allclose(engine.coef_, w, rtol=0, atol=1e-12)
        right = [rankings.loss(y[i % 25], found, k) for i, found in enumerate(shown[:done])]
        assert engine.cumulative_loss_ == pytest.approx(sum(right)) and sum(engine.mistakes_) == np.count_nonzero(right)
        averaged = Engine("latent-ranking", average=True, **options).fit(stored(rows, layout), grades, lengths=lengths)
        if done == 75:
            np.testing.assert_allclose(averaged.coef_, mean, rtol=0, atol=1e-12)




def fade(t):
    return 0.5 ** (t / 10)


def falling(start):
    """Values of an option, each with the function of t that it means."""
    return [(start, lambda t: start), (inverse(start), lambda t: start / t), (inverse_sqrt(start), lambda t: start * t**-0.5),
            (lambda t: start * fade(t), lambda t: start * fade(t))]


@pytest.mark.parametrize(("decay", "decay_at"), falling(0.1))
@pytest.mark.parametrize(("step_size", "step_at"), falling(0.7))
def test_schedules(step_size, step_at, decay, decay_at):
    """eq. (6): w <- w + eta_1 v - eta_2 w with schedules for both. The counter t continues over epochs, chunks and pickles."""
    rng = np.random.default_rng(5)
    X, y = queries_of(rng, 20, 3)
    rows, grades, lengths = stacked(X, y)
    weights = rng.uniform(0.5, 2, 20)
    w, mean, _, _ = rankings.learn(X, y, 2, loss_weight=0.5, epochs=2, weights=weights,
                                   rate=step_at, decay=decay_at)
    options = dict(k=2, loss_weight=0.5, update="latent", step_size=step_size, decay=decay)
    for average in (False, True):
        engine = Engine("latent-ranking", epochs=2, average=average, **options).fit(rows, grades, lengths=lengths, sample_weight=weights)
        np.testing.assert_allclose(engine.coef_, mean if average else w, rtol=1e-12, atol=1e-12)
    called = Engine("latent-ranking", epochs=2, plugins=[PythonCalls(weights=False)], **options)
    called.fit(rows, grades, lengths=lengths, sample_weight=weights)
    np.testing.assert_allclose(called.parts_.weights.vector(), w, rtol=1e-12, atol=1e-12)
    stream = Engine("latent-ranking", **options)
    for _ in range(2):
        for part in (slice(0, 7), slice(7, 20)):
            stream.partial_fit(X[part], y[part], sample_weight=weights[part])
            stream = pickle.loads(pickle.dumps(stream)) if not (callable(step_size) or callable(decay)) else stream
    np.testing.assert_allclose(stream.coef_, w, rtol=1e-12, atol=1e-12)


def test_the_size_of_steps_alone_changes_no_prediction():
    """Without decay, `step_size=4` and `loss_weight=4` give 4 w and the same predictions."""
    X, y = queries_of(np.random.default_rng(6), 30, 4)
    one = Engine("latent-ranking", k=3, update="perceptron", epochs=3, loss_weight=1.0).fit(X, y, record_predictions=True)
    same = Engine("latent-ranking", k=3, update="latent", epochs=3, loss_weight=1.0).fit(X, y, record_predictions=True)
    scaled = Engine("latent-ranking", k=3, update="latent", step_size=4.0, epochs=3, loss_weight=4.0).fit(X, y, record_predictions=True)
    np.testing.assert_array_equal(one.coef_, same.coef_)
    np.testing.assert_array_equal(4 * one.coef_, scaled.coef_)
    assert one.online_predictions_.tolist() == scaled.online_predictions_.tolist()


def test_the_battery():
    stepping = {"update": "latent", "step_size": inverse_sqrt(0.5)}
    for options in ({"loss": "recall", "loss_weight": 1.0}, stepping, {"loss": "ndcg"}):
        report = dict(check_problem("latent-ranking", **options))
        assert [name for name, outcome in report.items() if outcome != "passed"] == (
            ["augmented_argmax_maximises"] * (options.get("loss") == "ndcg") + ["separable_set_is_learned"])


# ---- bounds ----


class Recording(LatentUpdate):
    """Records the loss and the vector of every step."""

    def step(self, trial):
        c = super().step(trial)
        v = trial.x.rows.T @ trial.difference()
        self.ledger.note(trial.loss, trial.loss, 0.0, 1.0, v)
        return c


def recorded(X, y, **options):
    rule = Recording()
    rule.ledger = bounds.Ledger()
    return Engine("latent-ranking", plugins=[rule], **options).fit(X, y), rule.ledger


def separable(seed):
    """Queries, and the smallest u with u . x_i >= u . x_j + 1 for relevant i and other j; D is the longest such difference."""
    rng = np.random.default_rng([seed, 11])
    teacher = rng.normal(size=3)
    X, y, differences = [], [], []
    while len(X) < 12:
        block = rng.normal(size=(int(rng.integers(2, 9)), 3))
        scores = block @ teacher
        relevance = scores > np.median(scores) + rng.normal() * 0.2
        pairs = [block[i] - block[j] for i in np.flatnonzero(relevance) for j in np.flatnonzero(~relevance)]
        if pairs and min(np.array(pairs) @ teacher) > 0.15:
            X.append(block)
            y.append(relevance.astype(int).tolist())
            differences += pairs
    u = projection.smallest_separator(differences, np.ones(len(differences)))
    return X, y, u, max(np.linalg.norm(v) for v in differences)


@pytest.mark.filterwarnings("ignore:the longest query has:structperc.errors.DataWarning")
@pytest.mark.parametrize("augment", [0.0, 1.0])
@pytest.mark.parametrize("k", [1, 2, 5, 20])
def test_mistake_bounds_on_separable_queries(k, augment, ratios):
    """LV-1: sum of losses <= (D^2 + 2 augment) ||u||^2 for every k and any number of epochs. So some epoch has no update."""
    for seed in range(6):
        X, y, u, D = separable(seed)
        engine, ledger = recorded(X, y, k=k, loss_weight=augment, epochs=100_000)
        assert engine.status_ == "converged" and engine.mistakes_[-1] == 0
        ratios.check("(D^2 + 2c) |u|^2", sum(ledger.loss), (D**2 + 2 * augment) * (u @ u))
        for delta, v in zip(ledger.loss, ledger.delta, strict=True):
            assert u @ v >= delta - 1e-9 and np.linalg.norm(v) <= delta * D + 1e-9
            assert delta * k == pytest.approx(round(delta * k))
        if ledger.loss:
            for name, (observed, limit) in bounds.perceptron(ledger, u, augment).items():
                ratios.check(name, observed, limit)
        if not augment:
            plain = Engine("latent-ranking", update="perceptron", loss_weight=0.0, k=k, epochs=100_000).fit(X, y)
            assert plain.status_ == "converged"
            ratios.check("perceptron: D^2 |u|^2", plain.cumulative_loss_, D**2 * (u @ u))
    assert ratios.largest["(D^2 + 2c) |u|^2"] > 0.001 or k == 20


@pytest.mark.parametrize("augment", [0.0, 1.0])
def test_mistake_bounds_on_any_queries(augment, ratios):
    for seed in range(6):
        rng = np.random.default_rng([seed, 12])
        X, y = queries_of(rng, 30, 4, whole=seed % 2)
        k = int(rng.integers(1, 6))
        engine, ledger = recorded(X, y, k=k, loss_weight=augment, epochs=4)
        np.testing.assert_allclose(engine.coef_, np.sum(ledger.delta, axis=0), rtol=0, atol=1e-9)
        R2 = max((block**2).sum(axis=1).max() for block in X)
        for u in test_mistake_bounds.comparison_vectors(rng, engine.coef_):
            for name, (observed, limit) in bounds.perceptron(ledger, u, augment).items():
                ratios.check(name, observed, limit)
            hinge = np.maximum(0, np.array(ledger.loss) - np.array(ledger.delta) @ u).sum()
            limit = (np.linalg.norm(u) * np.sqrt(4 * R2 * k + 2 * augment) + np.sqrt(hinge)) ** 2
            ratios.check("4R^2 / beta", sum(ledger.loss), limit)


def test_the_bound_is_tight():
    """One query, k = 1, documents -1 (first) and +1 (relevant): D = 2, u = 1/2, bound 1, and one update of loss 1."""
    engine, ledger = recorded([np.array([[-1.0], [1.0]])], [[0, 1]], k=1, epochs=10)
    assert ledger.loss == [1.0] and engine.cumulative_loss_ == 1.0 == 2**2 * 0.5**2
    assert engine.mistakes_ == [1, 0]


# ---- input and output ----


def test_rows_of_a_query_may_stand_anywhere():
    rng = np.random.default_rng(7)
    X, y = queries_of(rng, 12, 3)
    rows, grades, lengths = stacked(X, y)
    names = np.repeat(rng.permutation(12), lengths)
    together = Engine("latent-ranking", k=2, epochs=2).fit(rows, grades, groups=names, record_predictions=True)
    order = rng.permutation(len(rows))
    order = np.concatenate([[np.flatnonzero(names == name)[0] for name in dict.fromkeys(names)],          # queries keep their order, and
                            [i for i in order if i and names[i] == names[i - 1]]]).astype(int)
    for name in dict.fromkeys(names):                                                                   # keep their documents' order
        at = np.flatnonzero(names[order] == name)
        order[at] = np.sort(order[at])
    assert (np.diff(names[order]) != 0).sum() > 20
    scattered = Engine("latent-ranking", k=2, epochs=2).fit(rows[order], grades[order], groups=names[order], record_predictions=True)
    np.testing.assert_array_equal(scattered.coef_, together.coef_)
    assert scattered.online_predictions_.tolist() == together.online_predictions_.tolist()
    assert scattered.predict(rows[order], groups=names[order]).tolist() == together.predict(rows, groups=names).tolist()
    stream = Engine("latent-ranking", k=2).partial_fit(rows[order], grades[order], groups=names[order])
    np.testing.assert_array_equal(stream.coef_, Engine("latent-ranking", k=2).fit(X, y).coef_)


def test_what_is_answered():
    """Document numbers within the query, best first. A query with fewer than k documents gets all of them."""
    engine = Engine("latent-ranking", k=2).fit([np.array([[-1.0], [-1.0], [1.0], [0.5]])], [[0, 0, 1, 0]])
    assert engine.coef_ == [1.0]                # documents 2 and 0 instead of 0 and 1: (1 - 1 + 1 + 1) / 2
    found = engine.predict(np.array([[3.0], [1.0], [3.0], [2.0], [9.0]]), lengths=[4, 1])
    assert [tuple(shown) for shown in found] == [(0, 2), (0,)]
    explanation = engine.explain(np.array([[3.0], [1.0], [2.5]]))
    assert (explanation.winner, set(explanation.runner_up)) == ((0, 2), {0, 1})
    assert explanation.margin == pytest.approx(1.5 * engine.coef_[0] / 2)
    against = engine.explain(np.array([[3.0], [1.0], [2.5]]), against=(1, 2))
    assert against.margin == pytest.approx(2 * engine.coef_[0] / 2)


def test_graded_relevance_and_thresholds():
    rng = np.random.default_rng(8)
    X, _ = queries_of(rng, 15, 3)
    grades = [rng.integers(0, 3, len(block)).tolist() for block in X]
    for relevant in (1, 2):
        binary = [[int(g >= relevant) for g in one] for one in grades]
        of_grades = Engine("latent-ranking", k=2, relevant=relevant, epochs=3).fit(X, grades)
        np.testing.assert_array_equal(of_grades.coef_, Engine("latent-ranking", k=2, epochs=3).fit(X, binary).coef_)
        same = Engine("latent-ranking", k=2, gains=[0, relevant == 1, 1], epochs=3).fit(X, grades)
        np.testing.assert_array_equal(of_grades.coef_, same.coef_)
    real = Engine("latent-ranking", k=2, relevant=0.5, epochs=3).fit(X, [(np.array(one) * 0.4).tolist() for one in grades])
    np.testing.assert_array_equal(real.coef_, Engine("latent-ranking", k=2, relevant=2, epochs=3).fit(X, grades).coef_)


X4, Y4 = np.eye(4), [1, 0, 0, 1]
REFUSED = [
    (dict(k=0), {}, OptionError, r"k=0; expected how many documents"),
    (dict(k=2.0), {}, OptionError, r"k=2.0"),
    (dict(relevant="high"), {}, OptionError, "relevant='high'"),
    (dict(gains=[0, -1]), {}, OptionError, r"gains=\(0, -1\).*finite numbers from 0"),
    (dict(gains=list(range(40))), {}, OptionError, "40 different numbers; expected at most 32"),
    (dict(gains=[0, 1], loss="average-precision"), {}, OptionError, "gains has no effect"),
    (dict(gains=[0]), {}, DataError, r"y\[0\] is 1, but gains are known for the relevances 0..0"),
    (dict(loss="ndcg"), dict(y=[0.5, 0, 0, 1]), DataError, r"y\[0\] is 0.5, but gains"),
    (dict(loss="ndcg", loss_weight=1.0), {}, PluginError, "cannot be written over atoms.*only be measured"),
    (dict(loss="average-precision", loss_weight=1.0), {}, PluginError, "only be measured"),
    (dict(loss="hamming"), {}, PluginError, "loss='hamming' compares two sets of atoms"),
    (dict(update="perceptron", step_size=2.0), {}, OptionError, "step_size=2.0 has no effect with update='perceptron'"),
    (dict(update="pa", step_size=inverse()), {}, OptionError, r"step_size=inverse\(1.0\) has no effect"),
    (dict(update="latent", step_size=0), {}, OptionError, "step_size=0; expected a number greater than 0"),
    (dict(update="latent", step_size=True), {}, OptionError, "step_size=True"),
    (dict(update="latent", step_size="linear"), {}, OptionError, "step_size='linear'; expected a number greater than 0, inverse"),
    (dict(update="latent", step_size=lambda t: -1), {}, DataError, "returned -1 for example 1; expected a finite number from 0"),
    (dict(update="latent", step_size=lambda t: "fast"), {}, DataError, "returned 'fast'"),
    (dict(update="latent", margin=2.0), {}, OptionError, "margin=2.0 has no effect"),
    (dict(decay=lambda t: 1.5), {}, DataError, "returned 1.5 for example 1; expected less than 1"),
    ({}, dict(y=[1, 0, 0]), DataError, r"y has shape \(3,\); expected \(4,\)"),
    ({}, dict(y=[1, 0, float("nan"), 1]), DataError, r"y\[2\] is nan"),
    ({}, dict(y=[1, 0, "b", 1]), DataError, "expected a number for each document"),
    ({}, dict(y=[[1, 0], [1]]), DataError, r"y\[1\] is \[1\]; expected a list of 2 relevances"),
    ({}, dict(y=[[1, 0, 0, 1]]), DataError, "the relevances of 1 queries but X has 2"),
    ({}, dict(y=None), DataError, "y is None"),
    ({}, dict(groups=None), DataError, "each row of X would be a query with a single document"),
]


@pytest.mark.parametrize("options, data, error, sentence", REFUSED)
def test_refusals(options, data, error, sentence):
    given_data = dict(y=Y4, groups=[1, 1, 2, 2]) | data
    with pytest.raises(error, match=sentence):
        Engine("latent-ranking", **{"k": 1} | options).fit(X4, given_data["y"], groups=given_data["groups"])


def test_predicting_needs_queries_too():
    engine = Engine("latent-ranking", k=1).fit(X4, Y4, groups=[1, 1, 2, 2])
    with pytest.raises(DataError, match="each row of X would be a query"):
        engine.predict(X4)
    with pytest.raises(DataError, match="is no list for query 0: expected 1 of its 2 documents"):
        engine.explain(X4[:2], against=(5,))


def test_functions_do_not_go_into_model_files_and_are_passed_again(tmp_path):
    engine = Engine("latent-ranking", k=1, update="latent", step_size=fade).fit(X4, Y4, groups=[1, 1, 2, 2])
    engine.save(tmp_path / "model")
    with pytest.raises(PluginError, match="step_size=fade, which a model file cannot hold; pass the same again"):
        Engine.load(tmp_path / "model")
    again = Engine.load(tmp_path / "model", step_size=fade)
    assert np.array_equal(again.coef_, engine.coef_)


@pytest.mark.parametrize("loss", LOSSES)
def test_losses_are_measured_in_training(loss):
    """The total loss of the lists predicted in training. A correct list has loss 0, and every other list a positive loss."""
    rng = np.random.default_rng(9)
    X, _ = queries_of(rng, 25, 3)
    grades = [rng.integers(0, 3, len(block)).tolist() for block in X]
    engine = Engine("latent-ranking", k=3, loss=loss, update="latent", epochs=2).fit(X, grades, record_predictions=True)
    total, wrong = 0.0, 0
    for i, shown in enumerate(engine.online_predictions_):
        one = grades[i % 25]
        binary = [int(g >= 1) for g in one]
        value = {"precision": rankings.loss(binary, shown, 3), "recall": rankings.loss(binary, shown, 3, "recall"),
                 "ndcg": 1 - rankings.ndcg([2**g - 1 for g in one], shown, 3) if any(one) else 0,
                 "average-precision": 1 - rankings.average_precision(binary, shown, 3) if any(one) else 0}[loss]
        total, wrong = total + value, wrong + (value > 1e-12)
    assert engine.cumulative_loss_ == pytest.approx(total)
    assert sum(engine.mistakes_) == wrong


def test_a_set_has_no_order_to_be_relevances_in():
    X = np.zeros((3, 2))
    for problem in ("latent-ranking", "sequence"):
        with pytest.raises(DataError, match=r"y is {1, 2, 3}; expected"):
            Engine(problem).fit(X, {1, 2, 3}, lengths=[3])
