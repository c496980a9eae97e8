"""Beyond the best structure: k best, margins, marginals and rivals, from solvers with and without methods of their own."""

import itertools

import attrs
import numpy as np
import pytest
from plain import Engine
from reference.layouts import LAYOUTS, stored
from scipy.special import expit, softmax
from subsets import Subsets

from structperc import hookimpl
from structperc.components import Argmax, Outputs, PrefixArgmax
from structperc.errors import DataError, OptionError, PluginError
from structperc.fitting import answers as inference
from structperc.testing import DualWeights

pytestmark = pytest.mark.blas

LABELS = ["low", "middle", "high", "top"]
PROBLEMS = ["multiclass", "cusum", "prank"]


class ListedSubsets(Subsets):
    """Choose any rows of an example. The outputs enumerate all choices."""

    class Outputs(Outputs):
        def enumerate(self, x):
            return (y for n in range(x.n_rows + 1) for y in itertools.combinations(range(x.n_rows), n))

    @hookimpl
    def structperc_outputs(self, context):
        return self.Outputs()


def label_data(n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(-3, 4, (n, d)).astype(float), [LABELS[k] for k in rng.integers(0, 4, n)]


def label_engine(problem, layout="dense64", **options):
    X, y = label_data()
    X = stored(X, layout)
    return Engine(problem, classes=LABELS, epochs=2, **options).fit(X, y), X


def totals(engine, X):
    """The scores of all labels, from those of the atoms: (n, 4)."""
    atoms = np.asarray(engine.atom_scores(X))
    return atoms if engine.problem == "multiclass" else np.column_stack([np.zeros(len(atoms)), np.cumsum(atoms, axis=1)])


def subset_data(n=40, seed=1):
    rng = np.random.default_rng(seed)
    X = [rng.integers(-2, 3, (size, 3)).astype(float) for size in rng.integers(0, 5, n)]
    return X, [tuple(np.flatnonzero(rng.random(len(x)) < 0.5)) for x in X]


def sequence_data(n=40, seed=2):
    rng = np.random.default_rng(seed)
    X = [rng.integers(-2, 3, (size, 3)).astype(float) for size in rng.integers(0, 5, n)]
    return X, [list(rng.choice(LABELS[:3], len(x))) for x in X]


@pytest.fixture
def subsets():
    X, y = subset_data()
    return Engine(ListedSubsets(), epochs=2).fit(X, y), X


@pytest.fixture(params=[{}, {"start": True, "end": True}, {"forbidden_transitions": [("low", "low"), (None, "high")]}], ids=str)
def sequences(request):
    X, y = sequence_data()
    if request.param.get("forbidden_transitions"):
        y = [["middle" if t % 2 else "low" for t in range(len(x))] for x in X]
    return Engine("sequence", epochs=1, classes=LABELS[:3], **request.param).fit(X, y), X


# ---- labels, against enumeration ----


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_k_best_labels_are_those_of_largest_score(problem, layout):
    engine, X = label_engine(problem, layout)
    scores, best = totals(engine, X), engine.predict(X)
    tied = 0
    for k in (1, 2, 4, 9):
        ranked = engine.predict(X, k=k)
        assert ranked.shape == (X.shape[0],)
        for labels, total, first in zip(ranked, scores, best, strict=True):
            assert len(labels) == len(set(labels)) == min(k, 4) and labels[0] == first
            np.testing.assert_array_equal([total[LABELS.index(label)] for label in labels], np.sort(total)[::-1][:k])
            tied += len(set(total)) < 4
    assert tied


@pytest.mark.parametrize("problem", PROBLEMS)
def test_margins_are_the_lead_over_the_second(problem):
    engine, X = label_engine(problem)
    ordered = np.sort(totals(engine, X), axis=1)
    np.testing.assert_array_equal(engine.margins(X), ordered[:, -1] - ordered[:, -2])
    assert engine.margins(np.zeros((1, 4))).shape == (1,)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_marginals_of_labels(problem, average):
    """The marginals of classes are their softmax. Atom k of a rank has the probability of the ranks above k."""
    engine, X = label_engine(problem, average=average)
    p = softmax(totals(engine, X), axis=1) if problem == "multiclass" else engine.predict_proba(X)
    expected = p if problem == "multiclass" else p[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]
    np.testing.assert_allclose(np.array(list(engine.predict_marginals(X))), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_max_marginals_of_labels(problem):
    engine, X = label_engine(problem)
    scores = totals(engine, X)
    expected = scores if problem == "multiclass" else np.column_stack([scores[:, k:].max(axis=1) for k in range(1, 4)])
    np.testing.assert_array_equal(np.array(list(engine.predict_marginals(X, kind="max"))), expected)


def test_large_scores_do_not_overflow():
    engine = Engine("multiclass", classes=[1, 2], fit_intercept=False).partial_fit([[1e4]], [2])
    np.testing.assert_array_equal(list(engine.predict_marginals([[1e4], [-1e4]])), [[0, 1], [1, 0]])


@pytest.mark.parametrize("scale", [1, 1e10, 1e17, 1e300])
def test_marginals_of_a_chain_add_up_to_one_whatever_the_size_of_its_scores(scale):
    engine = Engine("sequence", classes=[1, 2, 3]).fit([np.eye(3)], [[1, 2, 3]])
    x = engine.parts_.reader.read([np.zeros((50, 3))]).example(0)
    scores = np.random.default_rng(0).normal(size=50 * 3 + 9) * scale
    found = inference.marginals(engine.parts_, scores, x)
    assert found.min() >= 0
    np.testing.assert_allclose(found[:150].reshape(50, 3).sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(found[150:].sum(), 49, rtol=1e-12)


@pytest.mark.parametrize("rule", [(), [(1, 2)]], ids=["free", "constrained"])
@pytest.mark.parametrize("signs", [[1, 1, 1, 1], [-1, 1, 1, 1], [1, 1, 1, -1]], ids=["all", "later", "first"])
def test_scores_that_add_up_to_infinity_are_refused(rule, signs):
    """Infinite sums raise an error of their own: they are neither infeasible nor ties."""
    engine = Engine("sequence", classes=[1, 2, 3], forbidden_transitions=rule).fit([np.eye(3)[:2]], [[1, 3]])
    parts, x = engine.parts_, engine.parts_.reader.read([np.zeros((4, 3))]).example(0)
    scores = np.concatenate([np.repeat(signs, 3) * 1e308, np.zeros(9)])
    for ask in (inference.best, inference.marginals, inference.max_marginals, lambda *of: inference.k_best(*of, 2)):
        with pytest.raises(DataError, match="scores of sentence 0 .* add up to more than floating point holds"):
            ask(parts, scores, x)


def test_a_k_that_no_memory_could_hold_is_refused():
    engine = Engine("sequence", classes=[1, 2, 3]).fit([np.eye(3)], [[1, 2, 3]])
    assert len(engine.predict([np.eye(3)], k=10**30)[0]) == 27
    for k in (2**30, 10**30):
        with pytest.raises(OptionError, match=f"k={k} is too large; expected at most 715827882 with 3 labels"):
            engine.predict([np.ones((100, 3))], k=k)


# ---- structures, against enumeration ----


def test_subsets_are_ranked_by_their_rows(subsets):
    engine, X = subsets
    ranked, best = engine.predict(X, k=5), engine.predict(X)
    for x, found, first, margin, row_scores in zip(X, ranked, best, engine.margins(X), engine.atom_scores(X), strict=True):
        scores = {y: row_scores[list(y)].sum() for n in range(len(x) + 1) for y in itertools.combinations(range(len(x)), n)}
        assert len(found) == len(set(found)) == min(5, 2 ** len(x)) and found[0] == first
        np.testing.assert_allclose([scores[y] for y in found], sorted(scores.values(), reverse=True)[:5], rtol=1e-12)
        assert margin == (pytest.approx(abs(row_scores).min(), rel=1e-12) if len(x) else np.inf)


def test_rows_that_are_chosen_independently_have_logistic_marginals(subsets):
    engine, X = subsets
    best = engine.predict_marginals(X, kind="max")
    for marginals, largest, scores in zip(engine.predict_marginals(X), best, engine.atom_scores(X), strict=True):
        np.testing.assert_allclose(marginals, expit(scores), rtol=0, atol=1e-12)
        np.testing.assert_allclose(largest, np.maximum(scores, 0).sum() - np.maximum(scores, 0) + scores, rtol=0, atol=1e-12)


class Anything(Argmax):
    """Returns rows 0 and 1, or no rows if there are fewer than two."""

    def argmax(self, scores, x):
        return (0, 1) if x.n_atoms > 1 else ()


class BothOrders(Outputs):
    def enumerate(self, x):
        return [(0, 1), (1, 0), (0,)] if x.n_atoms > 1 else [()]


def test_structures_of_the_same_atoms_count_once():
    engine = Engine(ListedSubsets(), plugins=[BothOrders(), Anything()]).fit([np.eye(2), np.eye(2)[:1]], [(0, 1), ()])
    assert engine.predict([np.eye(2)], k=5)[0] == [(0, 1), (0,)]


def test_atoms_that_no_structure_has_are_said_so():
    class Never(Outputs):
        def enumerate(self, x):
            return [(), (0,)]

    engine = Engine(ListedSubsets(), plugins=[Never()]).fit([np.eye(2)], [(0,)])
    sure, best = engine.predict_marginals([np.eye(2)])[0], engine.predict_marginals([np.eye(2)], kind="max")[0]
    assert sure[1] == 0 and best[1] == -np.inf and best[0] == engine.atom_scores([np.eye(2)])[0][0]


class InNumpy(PrefixArgmax):
    """A solver that returns labels of numpy types, which the loop accepts."""

    def argmax(self, scores, x):
        return 1 + np.argmax(np.append(0, np.cumsum(scores)))


class RankedInNumpy(InNumpy):
    def k_best(self, scores, x, k):
        totals = np.append(0, np.cumsum(scores))
        return [(place + 1, totals[place]) for place in np.argsort(-totals, kind="stable")[:k]]


@pytest.mark.parametrize("solver", [InNumpy(4), RankedInNumpy(4)], ids=["argmax", "k_best"])
def test_solvers_may_answer_in_numpy(solver):
    X, y = label_data()
    engine, plain = Engine("cusum", classes=LABELS, plugins=[solver]).fit(X, y), Engine("cusum", classes=LABELS).fit(X, y)
    assert engine.predict(X, k=3).tolist() == plain.predict(X, k=3).tolist()
    assert engine.margins(X).tolist() == plain.margins(X).tolist()
    for rival in (None, "high"):
        assert str(engine.explain(X[0], against=rival)) == str(plain.explain(X[0], against=rival))


# ---- a solver's own methods ----


@attrs.define
class Parts:
    outputs: object
    argmax: object


class OnlyArgmax(Argmax):
    """A solver that has only the method `argmax`."""

    def __init__(self, solver):
        self.solver = solver

    def argmax(self, scores, x):
        return self.solver.argmax(scores, x)


def test_chains_answer_as_if_every_labelling_were_looked_at(sequences):
    """With constraints, and with restricted labels."""
    engine, X = sequences
    parts, rng = engine.parts_, np.random.default_rng(3)
    plain = Parts(parts.outputs, OnlyArgmax(parts.argmax))
    rows = parts.reader.read(X)
    for allowed in (None, (rng.random((rows.n_rows, 3)) < 0.8) | [False, True, False]):
        rows.restrict(None if allowed is None else allowed.astype(np.uint8))
        for i in range(rows.n_examples):
            x = rows.example(i)
            x.n_atoms = parts.features.n_atoms(x)
            if not list(parts.outputs.enumerate(x)):
                continue
            scores = rng.normal(size=x.n_atoms)
            own, listed = inference.k_best(parts, scores, x, 12), inference.k_best(plain, scores, x, 12)
            assert [y for y, _ in own] == [y for y, _ in listed]
            np.testing.assert_allclose([s for _, s in own], [s for _, s in listed], rtol=0, atol=1e-12)
            np.testing.assert_allclose(inference.marginals(parts, scores, x), inference.marginals(plain, scores, x), rtol=0, atol=1e-12)
            np.testing.assert_allclose(inference.max_marginals(parts, scores, x), inference.max_marginals(plain, scores, x), atol=1e-12)


def test_a_solvers_own_methods_are_asked_first():
    class Own(PrefixArgmax):
        def k_best(self, scores, x, k):
            return [(4, 8.0), (2, 5.0)]

        def marginals(self, scores, x):
            return 0.0, np.array([0.5, 0.25, 0.125])

        def max_marginals(self, scores, x):
            return np.array([3.0, 2.0, 1.0])

    X, y = label_data()
    engine = Engine("cusum", classes=LABELS, plugins=[Own(4)]).fit(X, y)
    assert engine.predict(X[:1], k=2).tolist() == [["top", "middle"]]
    assert engine.margins(X[:2]).tolist() == [3, 3]
    assert engine.predict_marginals(X[:1])[0].tolist() == [0.5, 0.25, 0.125]
    assert engine.predict_marginals(X[:1], kind="max")[0].tolist() == [3, 2, 1]
    explained = engine.explain(X[:1])
    assert (explained.winner, explained.runner_up) == ("top", "middle")


def test_sequences_have_marginals_of_every_token(sequences):
    engine, X = sequences
    for x, found, best in zip(X, engine.predict_marginals(X), engine.predict_marginals(X, kind="max"), strict=True):
        assert found.shape == best.shape == (len(x), 3)
        np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
        if len(x):
            np.testing.assert_allclose(best.max(axis=1), best.max(), rtol=1e-12)


def test_a_lone_output_leads_by_infinity(sequences):
    engine, X = sequences
    assert (np.isinf(engine.margins(X)) == [len(x) == 0 for x in X]).all()


@pytest.mark.parametrize("average", [False, True])
def test_a_dual_store_answers_the_same(average):
    X, y = label_data(20)
    options = dict(classes=LABELS, average=average)
    primal, dual = Engine("cusum", **options).fit(X, y), Engine("cusum", plugins=[DualWeights()], **options).fit(X, y)
    np.testing.assert_allclose(dual.margins(X), primal.margins(X), rtol=0, atol=1e-9)
    np.testing.assert_allclose(list(dual.predict_marginals(X)), list(primal.predict_marginals(X)), rtol=0, atol=1e-9)


# ---- questions that raise errors ----


def every_question(engine, X):
    """(the name of a question, a function that asks it)"""
    return [
        ("the k best structures", lambda: engine.predict(X, k=2)),
        ("the k best structures", lambda: engine.margins(X)),
        ("marginals", lambda: engine.predict_marginals(X)),
        ("max-marginals", lambda: engine.predict_marginals(X, kind="max")),
        ("the k best structures", lambda: engine.explain(X[0])),
    ]


def test_outputs_that_cannot_be_listed_are_named():
    X, y = subset_data()
    engine = Engine(Subsets()).fit(X, y)
    for wanted, ask in every_question(engine, X):
        with pytest.raises(PluginError, match=f"^Positive cannot find {wanted}, and Outputs cannot enumerate"):
            ask()


def test_outputs_that_are_too_many_are_named():
    engine = Engine(ListedSubsets()).fit([np.eye(2)], [(0,)])
    for wanted, ask in every_question(engine, [np.ones((17, 2))]):
        with pytest.raises(PluginError, match=f"^{wanted} .*example 0, which are more than 100000"):
            ask()
    many = [np.ones((2, 2)), np.ones((17, 2))]
    with pytest.raises(PluginError, match="of example 1,"):
        engine.predict(many, k=2)


def test_k_may_be_of_any_whole_kind():
    engine, X = label_engine("multiclass")
    assert engine.predict(X, k=np.int32(2)).tolist() == engine.predict(X, k=2).tolist()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_nan_is_located_in_every_question(layout):
    """The error counts rows over all sentences."""
    X, lengths = np.ones((5, 2)), [2, 3]
    engine = Engine("sequence").fit(stored(X, layout), list("ababa"), lengths=lengths)
    X[3, 1] = np.nan
    X = stored(X, layout)
    for ask in (engine.predict, engine.margins, engine.predict_marginals, engine.atom_scores, lambda *a, **o: engine.predict(*a, k=2, **o)):
        with pytest.raises(DataError, match=r"X\[3, 1\] is nan"):
            ask(X, lengths=lengths)


def test_asking_changes_nothing(sequences):
    engine, X = sequences
    before = engine.atom_scores(X)
    for _ in range(2):
        engine.predict(X, k=3), engine.margins(X), engine.predict_marginals(X), engine.explain(X[0] if len(X[0]) else X[1])
    assert all(map(np.array_equal, before, engine.atom_scores(X)))


# ---- explanations against a chosen rival ----


@pytest.mark.parametrize("problem", PROBLEMS)
def test_any_label_can_be_the_rival(problem):
    engine, X = label_engine(problem)
    for row, scores, best in zip(X[:12], totals(engine, X), engine.predict(X), strict=False):
        for rival, score in zip(LABELS, scores, strict=True):
            if rival == best:
                with pytest.raises(DataError, match="is the prediction itself"):
                    engine.explain(row, against=rival)
                continue
            found = engine.explain(row, against=rival)
            assert (found.winner, found.runner_up) == (best, rival)
            assert found.margin == pytest.approx(scores.max() - score, abs=1e-12)
            assert sum(c.value for c in found.contributions) == pytest.approx(found.margin, abs=1e-12)
            assert sum(found.atoms.values()) == pytest.approx(found.margin, abs=1e-12)


def test_any_labelling_can_be_the_rival(sequences):
    engine, X = sequences
    for x in [x for x in X if len(x)][:8]:
        ranked = engine.predict([x], k=100)[0]
        for place in (0, 1, len(ranked) - 1):
            found = engine.explain(x, against=ranked[place])
            assert (found.winner, found.runner_up) == (ranked[0], ranked[place])
            assert sum(c.value for c in found.contributions) == pytest.approx(found.margin, abs=1e-9)
            assert (found.margin == 0) >= (place == 0)
        assert found.margin == max(engine.explain(x, against=rival).margin for rival in ranked)
        second = engine.explain(x)
        assert second.runner_up == ranked[1] and second.margin == pytest.approx(engine.margins([x])[0], abs=1e-12)


def test_any_choice_of_rows_can_be_the_rival(subsets):
    engine, X = subsets
    for x, best, scores in zip(X, engine.predict(X), engine.atom_scores(X), strict=True):
        if len(x) == 0:
            continue
        found = engine.explain(x, against=range(len(x)))
        assert (found.winner, found.runner_up) == (best, tuple(range(len(x))))
        assert found.margin == pytest.approx(scores[list(best)].sum() - scores.sum(), abs=1e-12)


def test_a_rival_is_known_without_listing_all():
    X, y = subset_data()
    engine = Engine(Subsets()).fit(X, y)
    x = next(x for x in X if len(x) > 2)
    assert engine.explain(x, against=(0, 2)).runner_up == (0, 2)


@pytest.mark.parametrize(("problem", "x", "against", "sentence"), [
    ("multiclass", [1.0, 2.0], "huge", "against='huge' is no output of this model. Expected one of 'low', 'middle', 'high', 'top'"),
    ("sequence", [[1.0, 2.0], [1.0, 2.0]], ["low"], r"has 1 label but sentence 0 of X has 2 tokens"),
    ("sequence", [[1.0, 2.0]], ["huge"], "'huge', which is not one of the labels"),
    ("sequence", [[1.0, 2.0], [1.0, 2.0]], ["low", "low"], "may not follow 'low'"),
])
def test_a_rival_that_is_no_output_is_refused(problem, x, against, sentence):
    options = {"forbidden_transitions": [("low", "low")]} if problem == "sequence" else {}
    y = ["low", "middle"] if problem == "multiclass" else [["low"], ["middle"]]
    X = [[1.0, 2.0], [0.0, 1.0]]
    engine = Engine(problem, classes=LABELS, **options).fit(X if problem == "multiclass" else [np.array([row]) for row in X], y)
    with pytest.raises(DataError, match=sentence):
        engine.explain(x if problem == "multiclass" else np.array(x), against=against)


# ---- the beginnings of examples, given in three ways ----

SIZES = [2, 0, 3, 1]
WAYS = [{"lengths": SIZES}, {"lengths": np.array(SIZES)}, {"lengths": tuple(SIZES)}, {"offsets": np.array([0, 2, 2, 5, 6], dtype=np.uint8)},
        {"offsets": [0, 2, 2, 5, 6]}]
GROUPED = [{"groups": ["a", "a", "c", "c", "c", "b"]}, {"groups": [7, 7, 1, 1, 1, 2]}, {"groups": np.array([0.5, 0.5, 0, 0, 0, 1])},
           {"lengths": [2, 3, 1]}, {"offsets": [0, 2, 5, 6]}]


def answers(engine, X, **where):
    """All results of an engine for these examples, in a form that can be compared."""
    found = [engine.predict(X, **where), engine.predict(X, k=3, **where), engine.margins(X, **where)]
    tables = [engine.atom_scores(X, **where), *(engine.predict_marginals(X, kind=kind, **where) for kind in ("sum", "max"))]
    return [one.tolist() for one in found] + [[array.tolist() for array in arrays] for arrays in tables]


@pytest.mark.parametrize("layout", ["dense64", "csr32-int64"])
@pytest.mark.parametrize("ways", [WAYS, GROUPED], ids=["with-an-empty-one", "grouped"])
def test_the_ways_are_one(ways, layout):
    X = np.random.default_rng(4).integers(-2, 3, (6, 3)).astype(float)
    y, sizes = list("abbaab"), np.diff(ways[-1]["offsets"])
    blocks = [stored(block, layout) for block in np.split(X, np.cumsum(sizes)[:-1])]
    nested = [y[end - size:end] for size, end in zip(sizes, np.cumsum(sizes), strict=True)]
    X = stored(X, layout)
    expected = answers(Engine("sequence", epochs=3).fit(blocks, nested), blocks)
    for where in ways:
        for given in (y, nested):
            engine = Engine("sequence", epochs=3).fit(X, given, **where)
            assert answers(engine, X, **where) == expected
        stream = Engine("sequence", classes=["a", "b"])
        for _ in range(3):
            stream.partial_fit(X, y, **where)
        assert answers(stream, X, **where) == expected


@pytest.mark.parametrize(("where", "sentence"), [
    ({"offsets": [0, 6], "lengths": [6]}, "offsets and lengths were given; they mean the same, so pass one of them"),
    ({"lengths": [6], "groups": [0] * 6}, "lengths and groups were given"),
    ({"offsets": [0, 6], "groups": [0] * 6}, "offsets and groups were given"),
    ({"offsets": [0, 6], "lengths": [6], "groups": [0] * 6}, "offsets and lengths and groups were given"),
    ({"groups": [[0, 1]] * 6}, r"groups has shape \(6, 2\); expected an entry for each row of X"),
    ({"groups": []}, "groups has 0 entries, but X has 6 rows"),
    ({"groups": [0] * 5}, "groups has 5 entries, but X has 6 rows"),
    ({"lengths": [2, 2]}, "lengths add up to 4, but X has 6 rows"),
    ({"offsets": [0, 4]}, "offsets runs from 0 to 4; expected from 0 to the 6 rows of X"),
    ({"lengths": [7, -1]}, r"lengths\[1\] is -1; an example cannot have fewer than 0 rows"),
    ({"lengths": [3.0, 3.0]}, "expected a list of whole numbers"),
    ({"lengths": []}, "expected a list of whole numbers"),
    ({"lengths": 6}, "expected a list of whole numbers"),
    ({"lengths": [[3, 3]]}, "expected a list of whole numbers"),
    ({"offsets": [0, 4, 2, 6]}, "offsets is not sorted"),
])
def test_what_does_not_say_where_examples_begin_is_refused(where, sentence):
    X, y = np.ones((6, 2)), list("ababab")
    engine = Engine("sequence").fit(X, y, lengths=[3, 3])
    before = engine.coef_
    for ask in (engine.predict, engine.margins, engine.predict_marginals, engine.atom_scores):
        with pytest.raises(DataError, match=sentence):
            ask(X, **where)
    for learn in (engine.fit, engine.partial_fit, Engine("sequence").fit, Engine("sequence").partial_fit):
        with pytest.raises(DataError, match=sentence):
            learn(X, y, **where)
    np.testing.assert_array_equal(engine.coef_, before)


@pytest.mark.parametrize("where", [{"offsets": [0, 1, 2]}, {"lengths": [1, 1]}, {"groups": [0, 1]}], ids=str)
def test_a_list_of_blocks_says_it_already(where):
    X = [np.ones((1, 2)), np.ones((1, 2))]
    engine = Engine("sequence").fit(X, [["a"], ["b"]])
    with pytest.raises(DataError, match=f"{next(iter(where))} was given, but X is a list with one .* already"):
        engine.predict(X, **where)
    with pytest.raises(DataError, match=f"{next(iter(where))} was given, but X is a list with one .* already"):
        engine.fit(X, [["a"], ["b"]], **where)


def test_problems_of_single_rows_take_examples_of_one_row():
    X, y = label_data(6)
    plain = Engine("multiclass", classes=LABELS).fit(X, y)
    for where in ({"lengths": [1] * 6}, {"groups": range(6)}, {"offsets": range(7)}):
        engine = Engine("multiclass", classes=LABELS).fit(X, y, **where)
        np.testing.assert_array_equal(engine.coef_, plain.coef_)
        assert engine.predict(X, k=2, **where).tolist() == plain.predict(X, k=2).tolist()
    with pytest.raises(DataError, match="example 0 of X has 2 rows"):
        plain.predict(X, lengths=[2, 1, 1, 1, 1])
