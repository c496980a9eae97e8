"""Tests of problems on given scores: every bundled problem with every loss against all of Y(x), scores of any form, what cannot be."""

import copy
import functools
import pickle

import numpy as np
import pytest
from structperc_decisions import spo_plus

from structperc import Engine, Problem
from structperc.components import Loss
from structperc.errors import DataError, OptionError, PluginError, StructPercError, UnusedOption
from structperc.estimators import StructureConformal
from structperc.fitting.answers import totals
from structperc.problems.losses import LOSSES
from structperc.testing import given_scores
from structperc.testing.suite import make_case

CASES = {
    "cusum": {}, "cusum, squared loss": {"loss": "squared"}, "prank": {}, "interval-pa": {}, "adaboost-or": {}, "multiclass": {},
    "sequence": {}, "sequence, iob2": {"classes": ["B", "I", "O"], "forbidden_transitions": "iob2"}, "segments": {},
    "parsing": {}, "parsing, projective": {"projective": True}, "parsing, joint": {"classes": ["x", "y"], "labels": "joint"},
    "matching": {}, "matching, perfect": {"perfect": True}, "path": {}, "path, costs": {"costs": "non-negative"}, "disjoint-intervals": {},
    "ilp": {}, "graph": {}, "clusters": {}, "clusters, trees": {"solver": "trees"}, "latent-ranking": {},
}  # fmt: skip
SUMS = {"log-loss", "softmax-margin"}
ONLY_RANKS = {"cumulative-logit"}
CHANGED = {"perturbed", "sparsemap", "spo+", "direct"}
REFUSED = {             # the losses that a problem cannot have; every other case has all but that of ranks
    **dict.fromkeys(("cusum", "cusum, squared loss", "prank", "interval-pa", "adaboost-or"), set()),
    **dict.fromkeys(("matching", "matching, perfect", "ilp", "clusters"), SUMS | ONLY_RANKS),
    "path, costs": SUMS | ONLY_RANKS | CHANGED,
    "clusters, trees": SUMS | ONLY_RANKS | {"logistic"},
    "latent-ranking": SUMS | ONLY_RANKS | {"logistic"},
}
MATRIX = [(name, loss) for name in CASES for loss in LOSSES]


@functools.cache
def case_of(name):
    """A case of the test suite for plugins, its batch of few examples, and all of Y(x) of each. Tests must not change them."""
    case = make_case(name.split(",")[0], (), CASES[name], 1)
    return case, *given_scores.examples_of(case)


@functools.cache
def batch_of(name):
    """Prepared examples of a problem and scores for them."""
    case, batch, _ = case_of(name)
    return batch, given_scores.scores_for(case, batch, "")


def chain(**options):
    return Problem("sequence", classes=["a", "b", "c"], **options)


def bits(pair):
    return [array.tobytes() for array in pair]


# ---- against all of Y(x) ----


@pytest.mark.parametrize(("name", "loss"), MATRIX)
def test_each_loss_of_each_problem_is_that_of_all_outputs(name, loss):
    case, batch, examples = case_of(name)
    if given_scores.is_refused(case, batch, loss, ""):
        assert loss in REFUSED.get(name, ONLY_RANKS)
        return
    assert loss not in REFUSED.get(name, ONLY_RANKS)
    for _ in range(2):
        assert given_scores.fault_of(case, batch, examples, loss, given_scores.scores_for(case, batch, loss)) is None


@pytest.mark.parametrize(("name", "loss"), [(name, loss) for name, loss in MATRIX if loss not in ONLY_RANKS])
def test_a_score_of_minus_infinity_forbids_its_atom(name, loss):
    case, batch, examples = case_of(name)
    if given_scores.is_refused(case, batch, loss, "") or name == "path, costs":
        return
    s = given_scores.scores_for(case, batch, loss)
    for example in examples:
        open_atoms = np.flatnonzero((example.counts > 0).any(axis=0) & ~(example.counts[example.right] > 0).any(axis=0))
        s[example.part][open_atoms[:1]] = -np.inf

    assert given_scores.fault_of(case, batch, examples, loss, s) is None


@pytest.mark.parametrize("name", CASES)
def test_best_outputs_and_marginals_are_those_of_all_outputs(name):
    case, batch, examples = case_of(name)
    if batch._prepared.parts.outputs.hidden:
        return

    assert given_scores.fault_of_answers(batch, examples, batch_of(name)[1]) is None


@pytest.mark.parametrize("name", CASES)
def test_ties_go_as_in_the_solver_and_gradients_are_subgradients(name):
    case, batch, _ = case_of(name)
    prepared, random = batch._prepared, np.random.default_rng(3)
    for s in (np.zeros(batch.offsets[-1]), -random.integers(0, 2, batch.offsets[-1]).astype(float)):
        structures = batch._best(s, 1)[0]
        for i in range(len(batch)):
            x = prepared.example(i)
            own = prepared.parts.argmax.argmax(s[batch.offsets[i]:batch.offsets[i + 1]].copy(), x)
            assert np.array_equal(prepared.parts.outputs.count(x, structures[i]), prepared.parts.outputs.count(x, own))
        if prepared.partial:
            continue                    # the loss is no convex function of the scores
        for loss in ("perceptron", "hinge"):
            values, gradient = batch.loss(s, loss)
            for _ in range(5):
                other = s - random.exponential(size=len(s))
                lower = values + [(gradient * (other - s))[a:b].sum() for a, b in zip(batch.offsets[:-1], batch.offsets[1:], strict=True)]
                assert (batch.loss(other, loss)[0] >= lower - 1e-9).all()


@pytest.mark.parametrize("name", CASES)
def test_no_bit_depends_on_the_number_of_threads(name):
    batch, s = batch_of(name)
    for loss in LOSSES:
        parameters = {"random_state": 5} if loss == "perturbed" else {}
        if not given_scores.is_refused(case_of(name)[0], batch, loss, ""):
            scores = given_scores.scores_for(case_of(name)[0], batch, loss)
            assert bits(batch.loss(scores, loss, threads=3, **parameters)) == bits(batch.loss(scores, loss, **parameters))
    assert str(batch.argmax(s, threads=3)) == str(batch.argmax(s))


@pytest.mark.parametrize("name", CASES)
def test_taken_examples_have_the_results_of_the_whole_batch(name):
    batch, s = batch_of(name)
    order = [2, 0, 2] if len(batch) > 2 else [0]
    taken = batch.take(order)
    own = np.concatenate([s[batch.offsets[i]:batch.offsets[i + 1]] for i in order])
    values, gradient = batch.loss(s, "hinge")

    assert bits([taken.loss(own, "hinge")[0]]) == bits([values[order]])
    assert np.array_equal(taken.loss(own, "hinge")[1], np.concatenate([gradient[batch.offsets[i]:batch.offsets[i + 1]] for i in order]))
    assert str(taken.argmax(own).tolist()) == str(batch.argmax(s)[order].tolist())
    if taken.gold is not None:
        assert np.array_equal(taken.gold, np.concatenate([batch.gold[batch.offsets[i]:batch.offsets[i + 1]] for i in order]))


@pytest.mark.parametrize("name", [name for name in CASES if name != "clusters, trees"])
def test_further_results_agree_with_each_other(name):
    batch, s = batch_of(name)
    best, ranked, margins = batch.argmax(s), batch.k_best(s, 3), batch.margins(s)
    split = [s[a:b] for a, b in zip(batch.offsets[:-1], batch.offsets[1:], strict=True)]

    assert [str(one[0][0]) for one in ranked] == [str(y) for y in best.tolist()]
    assert margins == pytest.approx([one[0][1] - one[1][1] if len(one) > 1 else np.inf for one in ranked])
    assert (batch.optimality_gaps(s) == 0).all()
    if name == "interval-pa":
        return                          # its outputs are learned from intervals, and predictions have no encoding of their own
    counts = batch.counts(best)
    assert [one[0][1] for one in ranked] == pytest.approx([counts[a:b] @ own for a, b, own in
                                                           zip(batch.offsets[:-1], batch.offsets[1:], split, strict=True)])
    second = [one[min(1, len(one) - 1)][0] for one in ranked]
    leads = np.array([one[0][1] - one[min(1, len(one) - 1)][1] for one in ranked])
    assert batch.log_probability(s, best) - batch.log_probability(s, second) == pytest.approx(leads)
    assert batch.take([1]).log_probability(split[1], [second[1]]) == pytest.approx(batch.log_probability(s, second)[1:2])


# ---- beside what the library has for training ----


@pytest.mark.parametrize(("update", "loss"), [("perceptron", "perceptron"), ("log-loss", "log-loss"), ("logistic", "logistic")])
def test_the_gradient_is_minus_the_step_of_the_rule(update, loss):
    for y in (1, 2, 4):
        engine = Engine("cusum", preset="paper", update=update, fit_intercept=False, classes=[1, 2, 3, 4],
                        **{} if update == "perceptron" else {"step_size": 1.0}).fit([[1.0]], [y])
        _, gradient = Problem("cusum", classes=[1, 2, 3, 4]).batch(y=[y]).loss(np.zeros(3), loss)

        assert -gradient == pytest.approx(engine.coef_[1:, 0])


def test_decisions_have_the_loss_spo_plus():
    random = np.random.default_rng(0)
    arcs = np.array([[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]])
    costs, predicted = random.exponential(size=(2, 4, 5))
    batch = Problem("path").batch([arcs] * 4, costs=list(costs))
    values, gradient = batch.loss(-predicted.ravel(), "spo+")

    def best(scores):
        return batch.take([0]).counts(batch.take([0]).argmax(scores))

    assert values == pytest.approx([spo_plus(p, c, best(-c), best) for p, c in zip(predicted, costs, strict=True)])
    assert np.array_equal(gradient, 2 * (batch.counts(batch.argmax((costs - 2 * predicted).ravel())) - batch.gold))


def test_a_loss_of_ones_own_is_used():
    class Tolerant(Loss):
        def value(self, gold, y, x=None):
            return max(0, abs(gold - y) - 1)

    batch = Problem("cusum", classes=[1, 2, 3, 4], plugins=[Tolerant()]).batch(y=[1])
    assert batch.loss(np.zeros(3), "hinge")[0].tolist() == [2.0]


# ---- partial gold, constraints ----


def test_partial_labellings_count_as_the_best_that_agrees():
    batch = chain().batch(lengths=[2], y=[["a", None]])
    s = np.zeros(batch.offsets[-1])
    s[batch.layout[0]["tokens"]] = [[0, 1, 0], [0, 0, 2]]
    values, gradient = batch.loss(s, "perceptron")

    assert batch.gold is None and values.tolist() == [1.0]
    assert gradient[batch.layout[0]["tokens"]].tolist() == [[-1, 1, 0], [0, 0, 0]]
    with pytest.raises(PluginError, match="ChainOutputs.*no method `signs`"):
        batch.loss(s, "logistic")


def test_partial_gold_of_one_batch_changes_no_other():
    problem = chain()
    whole = problem.batch(lengths=[2], y=[["a", "b"]])
    problem.batch(lengths=[2], y=[["a", None]])
    later = problem.batch(lengths=[2], y=[["a", "b"]])

    assert later.gold.tolist() == whole.gold.tolist()
    assert later.loss(np.zeros(21), "logistic")[0] == whole.loss(np.zeros(21), "logistic")[0]


def test_segments_of_one_batch_make_none_longer_in_another():
    problem = Problem("segments", classes=["X"], max_length=None)
    before = problem.batch(lengths=[3])
    problem.batch(lengths=[3], y=[[(0, 3, "X")]])

    assert str(problem.batch(lengths=[3]).argmax(np.ones(before.offsets[-1]))) == str(before.argmax(np.ones(before.offsets[-1])))


def test_constraints_and_allowed_labels_limit_the_outputs():
    problem = Problem("sequence", classes=["B", "I", "O"], forbidden_transitions="iob2")
    batch = problem.batch(lengths=[2], allowed=[[["B", "O"], None]])
    s = np.zeros(batch.offsets[-1])
    s[batch.layout[0]["tokens"]] = [[0, 5, 1], [0, 3, 0]]

    assert batch.argmax(s).tolist() == [["B", "I"]]
    assert [y for y, _ in batch.k_best(s, 100)[0]].count(["O", "I"]) == 0
    assert batch.marginals(s)[batch.layout[0]["tokens"]][0, 1] == 0


@pytest.mark.parametrize(("problem", "X", "lengths", "y"), [
    (Problem("sequence", classes=["B", "I", "O"], forbidden_transitions="iob2"), None, [2], [["O", "I"]]),
    (Problem("sequence", classes=["B", "I"]), None, [2], [["B", "X"]]),
    (Problem("sequence", classes=["B", "I"]), None, [2], [["B"]]),
    (Problem("cusum", classes=[1, 2]), None, None, [3]),
    (Problem("parsing"), None, [2], [[2, 1]]),
    (Problem("parsing", projective=True, lift=False), None, [4], [[0, 4, 1, 1]]),
    (Problem("matching"), [np.array([[0, 0], [0, 1]])], None, [[0, 1]]),
    (Problem("matching", perfect=True), [np.array([[0, 0], [1, 1]])], None, [[0]]),
    (Problem("path"), [np.array([[0, 1], [1, 2], [0, 2]])], None, [[0]]),
    (Problem("disjoint-intervals"), [np.array([[0, 2], [1, 3]])], None, [[0, 1]]),
    (Problem("segments", classes=["X"], max_length=2), None, [3], [[(0, 3, "X")]]),
])  # fmt: skip
def test_gold_outside_of_the_outputs_raises_an_error(problem, X, lengths, y):
    with pytest.raises(StructPercError):
        problem.batch(X, y, lengths=lengths)


# ---- scores ----


@pytest.mark.parametrize("name", CASES)
def test_each_place_with_a_score_without_meaning_is_named(name):
    batch, s = batch_of(name)
    for place in (0, len(s) // 2, len(s) - 1):
        i = int(np.searchsorted(batch.offsets, place, side="right")) - 1
        for value in (np.nan, np.inf):
            bad = s.copy()
            bad[place] = value
            for call in (lambda s: batch.loss(s, "perceptron"), batch.argmax, batch.marginals, batch.margins, batch.optimality_gaps,
                         lambda s: batch.k_best(s, 2), lambda s: batch.loss(s, "spo+"), lambda s: batch.loss(s, "sparsemap", threads=2)):
                with pytest.raises(DataError, match=f"atom {place - batch.offsets[i]} of example {i} has the score {value}"):
                    call(bad)


def test_every_place_of_a_chain_is_looked_at():
    batch = chain().batch(lengths=[2, 1], y=[["a", "b"], ["c"]])
    for place in range(batch.offsets[-1]):
        s = np.zeros(batch.offsets[-1])
        s[place] = np.nan
        with pytest.raises(DataError, match=f"number {place} of the flat array"):
            batch.loss(s)


@pytest.mark.parametrize("name", [name for name in CASES if name != "path, costs"])
def test_forbidden_gold_is_named(name):
    case, batch, examples = case_of(name)
    s = batch_of(name)[1].copy()
    gold = (examples[1].counts[examples[1].right] > 0).all(axis=0)
    if not gold.any():
        return                          # it has no atoms
    s[examples[1].part][gold] = -np.inf
    for loss in LOSSES:
        if loss not in ONLY_RANKS and not given_scores.is_refused(case, batch, loss, ""):
            with pytest.raises(DataError, match=r"the gold output of example 1 has atom \d+, whose score is -inf|forbid all outputs"):
                batch.loss(s, loss)


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("path, costs", "clusters, trees")])
def test_forbidden_outputs_are_in_no_answer(name):
    """If -inf forbids all outputs of an example, every call raises an error that shows it."""
    case, batch, examples = case_of(name)
    random = np.random.default_rng(8)
    n_open = 0
    for i in range(12):
        number = i % len(examples)
        example, one = examples[number], batch.take([number])
        s = case.scores(batch._prepared.example(number), random.standard_normal)
        s[random.random(len(s)) < (0.1, 0.4, 0.9)[i // 4]] = -np.inf
        scores = totals(example.counts, s)
        if scores.max() > -np.inf:
            n_open += 1
            distinct = np.unique(np.column_stack([example.counts, scores]), axis=0)[:, -1]
            expected = np.sort(distinct[distinct > -np.inf])[::-1]
            for k in (1, 2, 4):
                assert [score for _, score in one.k_best(s, k)[0]] == pytest.approx(expected[:k])
            p = np.exp(scores - scores.max())
            assert one.marginals(s) == pytest.approx(p / p.sum() @ example.counts)
            assert str(one.argmax(s).tolist()[0]) == str(one.k_best(s, 1)[0][0][0])
            continue
        for ask in (one.argmax, one.optimality_gaps, one.margins, one.marginals, one._near, lambda s, one=one: one.k_best(s, 2)):
            with pytest.raises(DataError, match=r"forbid|-inf|no (path|perfect matching|labels|allowed segments|tree|projective)"):
                ask(s)
    assert n_open > 2


def test_scores_come_in_any_form():
    batch = Problem("cusum", classes=[1, 2, 3]).batch(y=[1, 3, 2])
    s = np.arange(6.0).reshape(3, 2) / 4
    values, gradient = batch.loss(s, "log-loss")
    wide = np.zeros((3, 4))
    wide[:, ::2] = s
    frozen = s.copy()
    frozen.flags.writeable = False
    for other in (s.astype(np.float32), s.tolist(), wide[:, ::2], frozen, np.asfortranarray(s), s.astype(">f8"), s.astype(np.float16)):
        assert bits(batch.loss(other, "log-loss")) == bits((values, gradient))
    assert batch.loss(s.ravel(), "log-loss")[1].tolist() == gradient.ravel().tolist()
    assert gradient.shape == (3, 2) and s.tolist() == (np.arange(6.0).reshape(3, 2) / 4).tolist()


@pytest.mark.parametrize("scores", [np.zeros(5), np.zeros((2, 3)), np.zeros((1, 6)), "abc", None, [[0, 1], [2]], 1.0])
def test_scores_of_another_shape_are_an_error(scores):
    batch = Problem("cusum", classes=[1, 2, 3]).batch(y=[1, 3, 2])
    with pytest.raises(DataError, match="scores"):
        batch.loss(scores)


# ---- empty and small examples ----


def test_a_batch_may_be_empty():
    batch = chain().batch(lengths=[2], y=[["a", "b"]]).take([])
    values, gradient = batch.loss([], "hinge", threads=4)

    assert len(batch) == 0 and values.shape == (0,) and gradient.shape == (0,)
    assert batch.argmax([]).tolist() == batch.k_best([], 2) == batch.margins([]).tolist() == batch.marginals([]).tolist() == []
    assert len(chain().batch(lengths=[], y=[])) == 0


@pytest.mark.parametrize("problem", [chain(), Problem("segments", classes=["X"], max_length=2), Problem("latent-ranking", k=2)])
def test_examples_may_be_empty_or_have_one_token(problem):
    batch = problem.batch(lengths=[0, 1, 0])
    s = np.random.default_rng(0).normal(size=batch.offsets[-1])
    best = batch.argmax(s).tolist()
    known = problem.batch(lengths=[0, 1, 0], y=[*best]) if problem.problem != "latent-ranking" else None

    assert list(best[0]) == list(best[2]) == []
    if known is not None:
        for loss in LOSSES:
            if loss not in ("spo+", "cumulative-logit"):
                values, gradient = known.loss(s, loss, **{"random_state": 0} if loss == "perturbed" else {})
                assert np.isfinite(values).all() and np.isfinite(gradient).all()
        assert known.loss(s, "log-loss")[0][[0, 2]].tolist() == [0.0, 0.0]


# ---- what cannot be ----


def test_unknown_losses_and_parameters_are_named():
    batch = Problem("cusum", classes=[1, 2, 3]).batch(y=[1])
    for loss, parameters, kind, sentence in (
            ("crf", {}, OptionError, "loss='crf'; expected one of 'perceptron'"), ("hing", {}, OptionError, "Did you mean 'hinge'"),
            ("log-loss", {"margin": 2.0}, UnusedOption, "margin=2.0 has no effect with loss='log-loss'"),
            ("hinge", {"margin": 0.0}, DataError, "margin=0.0"), ("hinge", {"threads": 0}, OptionError, "threads=0"),
            ("perturbed", {"n_draws": 0}, DataError, "n_draws=0"), ("spo+", {}, OptionError, "give costs to Problem.batch")):
        with pytest.raises(kind, match=sentence):
            batch.loss(np.zeros(2), loss, **parameters)
    with pytest.raises(DataError, match=r"of example 0 score 1 is 1.0 after 0.0"):
        batch.loss([0, 1], "cumulative-logit")
    with pytest.raises(OptionError, match="this batch has none; give y to Problem.batch"):
        Problem("cusum", classes=[1, 2, 3]).batch(lengths=[1]).loss([0, 0])
    with pytest.raises(DataError, match="indices=9; expected numbers of examples from 0 to 0"):
        batch.take(9)


def test_problems_are_pickled():
    problem = pickle.loads(pickle.dumps(Problem("sequence", classes=["B", "I", "O"], forbidden_transitions="iob2")))
    batch = problem.batch(lengths=[1])

    assert batch.argmax([0, 1, 0] + [0] * 15).tolist() == [["B"]]


@pytest.mark.parametrize(("problem", "X", "told"), [
    (chain(), None, {"lengths": [2, 1, 3], "y": [["a", "b"], ["b"], ["a", "a", "c"]]}),
    (chain(), None, {"lengths": [2, 1, 3], "y": ["a", "b", "b", "a", "a", "c"]}),
    (chain(), None, {"lengths": [1, 1, 1], "y": ["a", "b", "c"], "allowed": [None, [["b"]], None]}),
    (Problem("cusum", classes=[1, 2, 3]), None, {"y": np.array([1, 3, 2])}),
    (Problem("path"), [np.array([[0, 1], [1, 2], [0, 2]])] * 3, {"costs": [[1.0, 1.0, 3.0], [1.0, 1.0, 1.0], [2.0, 1.0, 4.0]]}),
    (Problem("path"), np.tile([[0, 1], [1, 2], [0, 2]], (3, 1)), {"offsets": [0, 3, 6, 9], "y": [[0, 1], [2], [2]]}),
])  # fmt: skip
def test_batches_are_copied_and_pickled_with_the_examples_that_they_have(problem, X, told):
    taken = problem.batch(X, **told).take([2, 0, 2])
    for again in (pickle.loads(pickle.dumps(taken)), copy.deepcopy(taken)):
        s = np.random.default_rng(0).normal(size=taken.offsets[-1])
        assert again.offsets.tolist() == taken.offsets.tolist() and again.gold.tolist() == taken.gold.tolist()
        assert bits(again.loss(s, "hinge")) == bits(taken.loss(s, "hinge"))
        assert len(pickle.loads(pickle.dumps(taken.take([])))) == 0


@pytest.mark.parametrize("loss", ["logistic", "log-loss", "softmax-margin", "cumulative-logit"])
def test_thresholds_have_the_smallest_loss(loss):
    random = np.random.default_rng(0)
    latent = random.normal(size=60)
    batch = Problem("cusum", classes=[1, 2, 3, 4]).batch(y=np.digitize(latent + random.logistic(size=60), [-1, 0, 1]) + 1)
    best = batch.thresholds(latent, loss)
    _, gradient = batch.loss(latent[:, None] - best, loss)

    assert loss in ("log-loss", "softmax-margin") or (np.diff(best) > 0).all()
    assert np.abs(gradient.sum(axis=0)).max() < 1e-3


@pytest.mark.parametrize(("call", "kind", "sentence"), [
    (lambda: Problem("multiclass", classes=["a", "b"]).batch(y=["a"]).thresholds([0.0]), PluginError, "ordered labels"),
    (lambda: Problem("cusum", classes=[1, 2]).batch(y=[1]).thresholds([0.0], "hinge"), OptionError, "is not smooth"),
    (lambda: Problem("cusum", classes=[1, 2]).batch(y=[1]).thresholds([np.nan]), DataError, "expected 1 finite numbers"),
    (lambda: Problem("cusum", classes=[1, 2]).batch(y=[1]).take([]).thresholds([]), DataError, "the batch has none"),
])  # fmt: skip
def test_thresholds_that_cannot_be_are_one_sentence(call, kind, sentence):
    with pytest.raises(kind, match=sentence):
        call()


@pytest.mark.parametrize(("name", "n_tables", "y"), [("clusters", 1, [0, 1, 1]), ("matching", 2, [(0, 1)])])
def test_a_comparison_sees_the_tables_of_the_user(name, n_tables, y):
    """Tables of two columns too, which are no keys of pairs."""
    tables = [np.arange(6.0).reshape(3, 2) + i for i in range(n_tables)]
    seen = []

    def compared(*given):
        seen.append(given)
        return np.abs(given[0][:, None] - given[-1][None])

    x = tables[0] if n_tables == 1 else tuple(tables)
    assert Problem(name, comparison=compared).batch([x]).offsets[-1] == (3 if n_tables == 1 else 9)
    Engine(name, comparison=compared, epochs=1).fit([x], [y])
    assert len(seen) == 2 and all(a is b for given in seen for a, b in zip(given, tables, strict=True))


@pytest.mark.parametrize("further", [(), (np.ones((2, 1)),)])
def test_graphs_are_tuples_for_given_scores_too(further):
    graph = np.zeros((3, 2)), np.array([[0, 1], [1, 2]]), *further
    for X in ([graph, graph], (graph, graph)):
        batch = Problem("graph", classes=["a", "b"]).batch(X, [["b", "a", "b"]] * 2)
        assert batch.argmax(batch.gold).tolist() == [["b", "a", "b"]] * 2


@pytest.mark.parametrize(("make", "kind", "sentence"), [
    (lambda: Problem("sequence", C=2.0), OptionError, "C=2.0 is an option of training"),
    (lambda: Problem("sequence", starts=True), OptionError, "starts"),
    (lambda: Problem("sequence").batch(lengths=[2]), DataError, "classes"),
    (lambda: Problem("cusum").batch(y=[1, 2]), DataError, "classes"),
    (lambda: Problem("segments").batch(lengths=[2]), DataError, "classes"),
    (lambda: chain().batch(), DataError, "give lengths, the number of rows of each, or X"),
    (lambda: chain().batch(lengths=[2, -1]), DataError, "lengths is"),
    (lambda: chain().batch(lengths=[2], offsets=[0, 2]), OptionError, "there is no X; give lengths"),
    (lambda: Problem("cusum", classes=[1, 2]).batch(lengths=[2]), DataError, r"lengths\[0\] is 2; each example of .* is one row"),
    (lambda: Problem("path").batch(lengths=[2]), DataError, "give X"),
    (lambda: Problem("parsing", classes=["x", "y"]).batch(lengths=[2]), PluginError, "set labels='joint'"),
    (lambda: Problem("path").batch([np.array([[0, 1]])], costs=[]), DataError, "expected an entry for each of 1 examples"),
    (lambda: Problem("path").batch([np.array([[0, 1]])], costs=[[1.0, 2.0]]), DataError, r"costs\[0\].*expected 1 finite"),
])  # fmt: skip
def test_what_a_problem_cannot_prepare_is_one_sentence(make, kind, sentence):
    with pytest.raises(kind, match=sentence):
        make()


@pytest.mark.parametrize("perfect", [False, True])
def test_a_whole_table_of_pairs_has_the_matching_of_its_pairs_in_any_order(perfect):
    random = np.random.default_rng(3)
    for shape in ((3, 3), (2, 4), (4, 2), (1, 3), (3, 1)):
        pairs = np.array(list(np.ndindex(shape)), dtype=float) * [2, 3]
        order = random.permutation(len(pairs))
        tables, problem = random.normal(size=(3, len(pairs))), Problem("matching", perfect=perfect)
        tables[1, 0] = -np.inf
        whole, mixed = problem.batch([pairs] * 3), problem.batch([pairs[order]] * 3)
        if perfect and min(shape) == 1:
            tables[1, 0] = 0
        for _ in range(2):              # the second time by what is known of the pairs
            chosen = whole.argmax(tables)
            assert [sorted(order[list(y)]) for y in mixed.argmax(tables[:, order])] == [sorted(y) for y in chosen]


def test_probabilities_of_arcs_are_those_of_all_paths():
    arcs = np.array([[0, 1], [0, 2], [1, 2], [1, 3], [2, 3], [0, 3]])
    batch, s = Problem("path").batch([arcs]), np.random.default_rng(0).normal(size=6) * 30
    s[5] = -np.inf
    ranked = batch.k_best(s, 10)[0]
    weights = np.exp([score - ranked[0][1] for _, score in ranked])
    expected = sum(w * np.isin(range(6), path) for w, (path, _) in zip(weights, ranked, strict=True)) / weights.sum()
    assert batch.marginals(s) == pytest.approx(expected, abs=1e-12)


# ---- sets with coverage ----


TAGGER = chain(forbidden_transitions=[["a", "b"]])


def drawn(n, seed):
    """A batch with its scores, and outputs drawn with the probabilities of these scores."""
    random = np.random.default_rng(seed)
    batch = TAGGER.batch(lengths=random.integers(1, 4, n))
    scores, y = 1.5 * random.normal(size=batch.offsets[-1]), []
    for ranked in batch.k_best(scores, 100):
        weights = np.exp([score for _, score in ranked])
        y.append(ranked[random.choice(len(ranked), p=weights / weights.sum())][0])
    return (batch, scores), y


@pytest.mark.parametrize("name", CASES)
def test_a_set_has_the_outputs_near_the_best_one(name):
    (_, batch, examples), scores, problem = case_of(name), batch_of(name)[1], Problem(name.split(",")[0], **CASES[name])
    if batch._prepared.parts.outputs.hidden:
        with pytest.raises(PluginError, match="sets"):
            StructureConformal(problem).calibrate((batch, scores), batch.argmax(scores))
        return
    y = [ranked[-1][0] for ranked in batch.k_best(scores, 3)]           # wrong outputs, so that sets are larger than one
    if name == "latent-ranking":
        y = [np.isin(np.arange(len(scores[example.part])), own).astype(int) for own, example in zip(y, examples, strict=True)]
    sets = StructureConformal(problem, coverage=0.4).calibrate((batch, scores), y).predict((batch, scores))
    for right, example, answer in zip(y, examples, sets, strict=True):
        scored = totals(example.counts, scores[example.part])
        inside = scored >= scored.max() - answer.distance - 1e-9
        chosen = answer._near.local_atoms()
        assert len(answer.k_best(1000)) == inside.sum() > 0
        assert not answer.exact or np.array_equal(answer._atoms.possible[chosen], (example.counts[inside] > 0).any(axis=0)[chosen])
        assert not answer.exact or np.array_equal(answer._atoms.certain[chosen], (example.counts[inside] > 0).all(axis=0)[chosen])
        assert answer.prediction in answer
        assert name == "latent-ranking" or (right in answer) == (str(right) in map(str, answer.k_best(1000)))


@pytest.mark.parametrize("scale", [None, "doubt"])
def test_sets_cover_as_often_as_asked(scale):
    covered = []
    for seed in range(8):
        sets = StructureConformal(TAGGER, coverage=0.8, scale=scale).calibrate(*drawn(39, seed))
        covered.append(sets.evaluate(*drawn(40, 100 + seed), limit=None)["coverage"])

    assert 0.8 - 3 * np.std(covered) / np.sqrt(8) <= np.mean(covered) <= 0.8 + 1 / 40 + 3 * np.std(covered) / np.sqrt(8)


def test_sets_are_pickled_know_masks_and_take_outputs_that_are_known_in_part():
    (batch, scores), y = drawn(30, 0)
    sets = StructureConformal(TAGGER, coverage=0.8).calibrate((batch, scores), y)
    answer = sets.predict((batch, scores))[3]
    again, = pickle.loads(pickle.dumps(sets)).predict((batch.take([3]), scores[batch.offsets[3]:batch.offsets[4]]))
    assert pickle.loads(pickle.dumps(answer)).k_best() == again.k_best() == answer.k_best()

    masked, place = scores.copy(), batch.layout[3]["tokens"][0, 1]
    masked[place] = -np.inf
    every = StructureConformal(TAGGER, coverage=0.999).calibrate((batch, scores), y).predict((batch, masked))[3]
    assert every.distance == np.inf and "token 0: b" not in every.possible and "token 0: a" in every.possible
    assert [one for one in every.k_best(1000) if one[0] == "b"] == []
    assert ["b", *answer.prediction[1:]] not in every

    partial = StructureConformal(TAGGER, coverage=0.8).calibrate((batch, scores), [[None, *own[1:]] for own in y])
    assert partial.quantile_ >= sets.quantile_
    assert TAGGER.batch(lengths=[1], y=[["a"]]).gold is not None, "the problem still has complete gold outputs"


@pytest.mark.parametrize(("call", "kind", "sentence"), [
    (lambda sets, X, y: sets.fit(X, y), (DataError, OptionError), "a Problem, whose scores come from elsewhere|one output per example"),
    (lambda sets, X, y: sets.fit(list(range(len(y))), y), OptionError, "a Problem, whose scores come from elsewhere"),
    (lambda sets, X, y: sets.calibrate(X[0], y), DataError, r"expected a pair \(batch, scores\)"),
    (lambda sets, X, y: sets.calibrate(X, y[1:]), DataError, "y has 29 outputs, but the batch has 30 examples"),
    (lambda sets, X, y: sets.calibrate(X, None), DataError, "requires y"),
    (lambda sets, X, y: sets.calibrate(X, y, lengths=[1] * 30), OptionError, "leave them out"),
    (lambda sets, X, y: sets.calibrate((X[0], X[1] * np.nan), y), DataError, "has the score nan"),
    (lambda sets, X, y: sets.calibrate((Problem("multiclass", classes=["a", "b"]).batch(lengths=[1]), [[0.0, 1.0]]), ["a"]), DataError,
     r"one of Problem\('multiclass'\); expected one of Problem\('sequence'\)"),
    (lambda sets, X, y: sets.margins(X), AttributeError, "the Problem within it has none"),
])  # fmt: skip
def test_sets_of_given_scores_that_cannot_be_are_one_sentence(call, kind, sentence):
    X, y = drawn(30, 1)
    with pytest.raises(kind, match=sentence):
        call(StructureConformal(TAGGER), X, y)
