"""Tests of constraints on chains: forbidden and required transitions, tagging schemes, allowed labels, and errors."""

import copy
import itertools

import numpy as np
import pytest
from plain import Engine
from reference import chains
from structperc_sequence.outputs import ChainOutputs

from structperc.components import Rows
from structperc.errors import DataError, OptionError

EDGE = None
LABELS = ["a", "b", "c"]


def data(rng, n=40, d=3, L=3):
    """Sentences of 0 to 5 tokens."""
    return [rng.integers(-2, 3, (size, d)).astype(float) for size in rng.integers(0, 6, n)]


def outputs_of(T, *, labels=LABELS, forbidden=(), required=()):
    """The elements of Y(x) for a sentence of T tokens, as tuples of labels."""
    outputs = ChainOutputs(False, False, forbidden, required)
    outputs.find_labels(None, labels)
    x = Rows(np.zeros((T, 1)), np.array([0, T])).example(0)
    x.n_atoms = len(labels) * (T + len(labels))
    return {tuple(outputs.decode(y, x)) for y in outputs.enumerate(x)}


def keep_to(pairs, T, labels=LABELS):
    """The labellings of T tokens without any of these pairs; None is the boundary."""
    return {y for y in itertools.product(labels, repeat=T)
            if T == 0 or not any(pair in pairs for pair in itertools.pairwise([EDGE, *y, EDGE]))}


def allowed_pairs(required, labels=LABELS):
    """The pairs that `required` forbids: those with the first label of a required pair, but another second label."""
    firsts = {a for a, _ in required}
    return {(a, b) for a in firsts for b in [*labels, EDGE] if (a, b) not in required}


RULES = [
    {"forbidden_transitions": [("a", "b"), ("c", "c")]},
    {"forbidden_transitions": [(EDGE, "a"), ("b", EDGE)]},
    {"required_transitions": [("a", "b")]},
    {"required_transitions": [("a", "b"), ("a", "c"), (EDGE, "a")]},
    {"required_transitions": [("c", EDGE)]},
    {"forbidden_transitions": [("b", "a"), ("a", EDGE)], "required_transitions": [("a", "b"), ("a", "a"), ("b", "c"), ("b", EDGE)]},
    {"forbidden_transitions": []},
]


def forbidden_by(rule):
    return {tuple(pair) for pair in rule.get("forbidden_transitions", ())} | allowed_pairs(rule.get("required_transitions", ()))


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("T", range(5))
def test_pairs_mean_what_they_say(T, rule):
    found = outputs_of(T, forbidden=rule.get("forbidden_transitions", ()), required=rule.get("required_transitions", ()))
    assert found == keep_to(forbidden_by(rule), T)


@pytest.mark.parametrize("augment", [0.0, 1.0])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("rule", RULES[:-1], ids=str)
def test_no_answer_breaks_a_rule(rule, average, augment):
    """The rules apply to online predictions, predictions, the k best and marginals. The best labels of new sentences would break them."""
    rng = np.random.default_rng([RULES.index(rule), average])
    X = data(rng)
    kept = {T: sorted(keep_to(forbidden_by(rule), T)) for T in range(6)}
    X = [x for x in X if kept[len(x)]]
    y = [kept[len(x)][rng.integers(len(kept[len(x)]))] for x in X]
    engine = Engine("sequence", classes=LABELS, epochs=2, average=average, loss_weight=augment, **rule).fit(X, y, record_predictions=True)
    new = [x for x in data(rng) if kept[len(x)]]
    assert all(tuple(found) in kept[len(found)] for found in [*engine.online_predictions_, *engine.predict(X), *engine.predict(new)])
    free = [chains.labellings(len(x), 3)[np.argmax(chains.counts(len(x), 3) @ scores)]
            for x, scores in zip(new, engine.atom_scores(new), strict=True)]
    assert not all(tuple(LABELS[k - 1] for k in y) in kept[len(y)] for y in free)
    for x, ranked in zip(new, engine.predict(new, k=1000), strict=True):
        assert sorted(map(tuple, ranked)) == kept[len(x)]
    for x, marginals, best in zip(new, engine.predict_marginals(new), engine.predict_marginals(new, kind="max"), strict=True):
        for t, (k, label) in itertools.product(range(len(x)), enumerate(LABELS)):
            possible = any(y[t] == label for y in kept[len(x)])
            assert (marginals[t, k] > 0) == possible == (best[t, k] > -np.inf)
        np.testing.assert_allclose(marginals.sum(axis=1), 1, rtol=1e-12)


# ---- schemes ----


def segmentations(T, kinds):
    """All divisions of T tokens into phrases and tokens outside phrases, as lists of (kind or None, size)."""
    if T == 0:
        yield []
        return
    for rest in segmentations(T - 1, kinds):
        yield [(None, 1), *rest]
    for size, kind in itertools.product(range(1, T + 1), kinds):
        for rest in segmentations(T - size, kinds):
            yield [(kind, size), *rest]


LETTERS = {"iobes": "BIES", "bilou": "BILU", "bmes": "BMES"}         # first, inside, last, single


def written(phrases, scheme):
    """The phrases as labels of the scheme."""
    labels, before = [], None
    for kind, size in phrases:
        if kind is None:
            labels.append("O")
        elif scheme in LETTERS:
            first, inside, last, single = LETTERS[scheme]
            labels += [f"{single}-{kind}"] if size == 1 else [f"{first}-{kind}", *[f"{inside}-{kind}"] * (size - 2), f"{last}-{kind}"]
        else:
            begins = scheme == "iob2" or kind == before
            labels += [f"{'B' if begins else 'I'}-{kind}", *[f"I-{kind}"] * (size - 1)]
        before = kind
    return tuple(labels)


@pytest.mark.parametrize("scheme", ["iob1", "iob2", *LETTERS])
@pytest.mark.parametrize("kinds", [["X"], ["X", "Y"]])
def test_schemes_allow_exactly_what_phrases_are_written_as(kinds, scheme):
    letters = LETTERS.get(scheme, "BI")
    labels = ["O", *(f"{letter}-{kind}" for kind in kinds for letter in letters)]
    for T in range(5):
        assert outputs_of(T, labels=labels, forbidden=scheme) == {written(cut, scheme) for cut in segmentations(T, kinds)}


def test_a_type_may_hold_a_dash_and_a_label_may_have_none():
    assert outputs_of(2, labels=["O", "I-X-1", "B-X-1", "I-X-2"], forbidden="iob2") == {
        ("O", "O"), ("O", "B-X-1"), ("B-X-1", "O"), ("B-X-1", "B-X-1"), ("B-X-1", "I-X-1")}
    assert outputs_of(2, labels=["O", "I", "B"], forbidden="iob2") == {("O", "O"), ("O", "B"), ("B", "O"), ("B", "B"), ("B", "I")}


@pytest.mark.parametrize("scheme", ["iob2", "iobes"])
def test_schemes_hold_together_with_required_pairs(scheme):
    labels = ["O", "B-X", "I-X"] if scheme == "iob2" else ["O", "B-X", "I-X", "E-X", "S-X"]
    both = outputs_of(4, labels=labels, forbidden=scheme, required=[("B-X", "I-X")])
    assert both == {y for y in outputs_of(4, labels=labels, forbidden=scheme)
                    if all(b == "I-X" for a, b in itertools.pairwise([*y, EDGE]) if a == "B-X")}


# ---- allowed labels of tokens ----


def masks(rng, X, y=None):
    """Random masks of shape (n_tokens, 3) that allow the correct labels of y, or the first label without y."""
    found = [rng.random((len(x), 3)) < 0.6 for x in X]
    for i, mask in enumerate(found):
        keep = [0] * len(mask) if y is None else [LABELS.index(label) for label in y[i]]
        mask[np.arange(len(mask)), keep] = True
    return found


def named(mask):
    return [{LABELS[k] for k in np.flatnonzero(row)} if row[0] else tuple(LABELS[k] for k in np.flatnonzero(row)) for row in mask]


@pytest.mark.parametrize("as_rows", [False, True])
def test_allowed_labels_are_kept_to(as_rows):
    """In training and in prediction, as collections of labels or as truth values for each row of X."""
    rng = np.random.default_rng(1)
    X = data(rng)
    y = [list(rng.choice(LABELS, len(x))) for x in X]
    at_fit, at_predict = masks(rng, X, y), masks(rng, X)
    to_fit, to_predict = (np.concatenate(found) if as_rows else [named(mask) for mask in found] for found in (at_fit, at_predict))
    engine = Engine("sequence", classes=LABELS, epochs=3).fit(X, y, allowed=to_fit, record_predictions=True)
    answers = [(at_fit[i % len(X)], found) for i, found in enumerate(engine.online_predictions_)]
    answers += zip(at_predict, engine.predict(X, allowed=to_predict), strict=True)
    for mask, ranked in zip(at_predict, engine.predict(X, allowed=to_predict, k=300), strict=True):
        assert len(ranked) == mask.sum(axis=1).prod()
        answers += [(mask, found) for found in ranked]
    for mask, found in answers:
        assert all(mask[t, LABELS.index(label)] for t, label in enumerate(found))
    for mask, marginals in zip(at_predict, engine.predict_marginals(X, allowed=to_predict), strict=True):
        assert ((marginals > 0) == mask).all()
    assert (np.isinf(engine.margins(X, allowed=to_predict)) == [mask.sum(axis=1).prod() == 1 for mask in at_predict]).all()


def test_none_allows_everything():
    rng = np.random.default_rng(2)
    X = data(rng)
    y = [list(rng.choice(LABELS, len(x))) for x in X]
    free = Engine("sequence", epochs=2).fit(X, y)
    for allowed in (None, [None] * len(X), [[None] * len(x) for x in X], [[LABELS] * len(x) for x in X]):
        engine = Engine("sequence", epochs=2).fit(X, y, allowed=allowed)
        assert engine.mistakes_ == free.mistakes_ and np.array_equal(engine.coef_, free.coef_)
        assert engine.predict(X, allowed=allowed).tolist() == free.predict(X).tolist()


def test_a_label_alone_may_be_written_without_a_list():
    engine = Engine("sequence", classes=["aa", "a"]).fit([np.ones((2, 1))], [["aa", "a"]])
    assert engine.predict([np.ones((2, 1))], allowed=[["aa", "a"]]).tolist() == [["aa", "a"]]
    numbers = Engine("sequence", classes=[7, 9]).fit([np.ones((2, 1))], [[7, 9]])
    assert numbers.predict([np.ones((2, 1))], allowed=[[9, [7]]]).tolist() == [[9, 7]]


def test_allowed_labels_belong_to_one_call():
    X = [np.ones((2, 1))]
    engine = Engine("sequence").fit(X, [["a", "b"]])
    before = engine.predict(X).tolist()
    assert engine.predict(X, allowed=[["b", "a"]]).tolist() == [["b", "a"]]
    engine.partial_fit(X, [["a", "b"]], allowed=[["a", "b"]])
    assert engine.mistakes_[-1] == 0
    assert engine.predict(X).tolist() == before


def test_streams_keep_to_what_is_allowed():
    """Training in chunks equals training in one call."""
    rng = np.random.default_rng(3)
    X = data(rng)
    y = [list(rng.choice(LABELS, len(x))) for x in X]
    allowed = [named(mask) for mask in masks(rng, X, y)]
    whole = Engine("sequence", classes=LABELS).fit(X, y, allowed=allowed)
    stream = Engine("sequence", classes=LABELS)
    for start in range(0, len(X), 8):
        part = slice(start, start + 8)
        stream.partial_fit(X[part], y[part], allowed=allowed[part])
    assert stream.mistakes_ == whole.mistakes_ and np.array_equal(stream.coef_, whole.coef_)


def test_allowed_labels_may_come_as_arrays():
    X = [np.ones((2, 1)), np.ones((3, 1))]
    engine = Engine("sequence", classes=LABELS).fit(X, [["a", "b"], ["a", "b", "c"]])
    allowed = [np.array(["c", "a"]), np.array([["b", "b"], ["c", "c"], ["a", "a"]])]
    assert engine.predict(X, allowed=allowed).tolist() == [["c", "a"], ["b", "c", "a"]]


# ---- sentences without a feasible labelling ----


@pytest.mark.parametrize(("rule", "allowed", "place"), [
    ({"forbidden_transitions": [("a", "b")]}, ["a", "b", None], "token 1"),
    ({"forbidden_transitions": [(EDGE, "c")]}, ["c", None, None], "token 0"),
    ({"forbidden_transitions": [("c", EDGE)]}, [None, None, "c"], "none may end it"),
    ({"required_transitions": [("a", "b")]}, [None, "a", ["a", "c"]], "token 2"),
])
def test_an_infeasible_sentence_is_named(rule, allowed, place):
    X = [np.ones((3, 2)), np.ones((0, 2)), np.ones((3, 2))]
    engine = Engine("sequence", classes=LABELS, **rule).fit([np.ones((1, 2))], [["b"]])
    before = engine.predict(X).tolist()
    for method in (engine.predict, engine.margins, engine.predict_marginals, lambda X, allowed: engine.predict(X, allowed=allowed, k=2)):
        with pytest.raises(DataError, match=r"no labels of sentence 2 \(counted from 0\) satisfy the constraints"):
            method(X, allowed=[None, None, allowed])
    with pytest.raises(DataError, match=place):
        engine.predict(X, allowed=[None, None, allowed])
    assert engine.predict(X).tolist() == before


def test_rules_that_no_sentence_of_a_length_can_keep():
    """A sentence may begin only with b, and end only with c."""
    engine = Engine("sequence", classes=LABELS, required_transitions=[(EDGE, "b")], forbidden_transitions=[("a", EDGE), ("b", EDGE)])
    engine.fit([np.ones((2, 1))], [["b", "c"]])
    assert engine.predict([np.ones((2, 1)), np.ones((0, 1))]).tolist() == [["b", "c"], []]
    with pytest.raises(DataError, match="sentence 1 .*none may end it"):
        engine.predict([np.ones((2, 1)), np.ones((1, 1))])


# ---- gold labels that break a rule ----


@pytest.mark.parametrize(("rule", "labels", "reason"), [
    ({"forbidden_transitions": [("a", "b")]}, ["c", "a", "b"], r"y\[1\]\[2\] is 'b', which may not follow 'a' under the constraints"),
    ({"forbidden_transitions": [(EDGE, "c")]}, ["c", "a", "a"], r"y\[1\]\[0\] is 'c', which may not begin a sentence"),
    ({"required_transitions": [("b", "c")]}, ["a", "a", "b"], r"y\[1\]\[2\] is 'b', which may not end a sentence"),
])
def test_right_answers_that_break_a_rule_are_named(rule, labels, reason):
    X = [np.ones((1, 2)), np.ones((3, 2))]
    engine = Engine("sequence", classes=LABELS, **rule)
    with pytest.raises(DataError, match=reason):
        engine.fit(X, [["a"], labels])
    engine.partial_fit(X[:1], [["a"]])
    before = engine.coef_
    with pytest.raises(DataError, match=reason):
        engine.partial_fit(X, [["a"], labels])
    np.testing.assert_array_equal(engine.coef_, before)


def test_right_answers_that_are_not_allowed_are_named():
    X = [np.ones((1, 2)), np.ones((3, 2))]
    with pytest.raises(DataError, match=r"y\[1\]\[2\] is 'b', which allowed\[1\]\[2\] does not name"):
        Engine("sequence").fit(X, [["a"], ["a", "a", "b"]], allowed=[None, [None, ["a"], ["a"]]])


# ---- invalid constraints ----


@pytest.mark.parametrize(("options", "sentence"), [
    ({"forbidden_transitions": "bio"}, "forbidden_transitions='bio'; expected a list of pairs of labels, or one of 'iob1', 'iob2', "),
    ({"forbidden_transitions": "iob2"}, r"the label 'a' does not belong to it. Expected 'O' or one of the letters B, I"),
    ({"forbidden_transitions": [("a", "b", "c")]}, "expected a list of pairs of labels, None for the boundary"),
    ({"forbidden_transitions": 3}, "forbidden_transitions=3; expected a list of pairs"),
    ({"forbidden_transitions": [("a", "d")]}, "forbidden_transitions names 'd', which is not one of the labels 'a', 'b', 'c'"),
    ({"forbidden_transitions": [("a", ["b"])]}, r"forbidden_transitions names \['b'\], which is not one of the labels"),
    ({"required_transitions": [("d", "a")]}, "required_transitions names 'd'"),
    ({"required_transitions": "iob2"}, r"required_transitions='iob2'; expected a list of pairs .*, None for the boundary of a sentence\."),
])
def test_what_is_no_rule_is_refused(options, sentence):
    with pytest.raises(OptionError, match=sentence):
        Engine("sequence", classes=LABELS, **options).fit([np.ones((1, 1))], [["a"]])


@pytest.mark.parametrize(("allowed", "sentence"), [
    ("ab", "expected an entry for each of 2 sentences"),
    ([None], "expected an entry for each of 2 sentences"),
    (3, "expected an entry for each of 2 sentences"),
    ([None, ["a"]], r"allowed\[1\] is \['a'\]; expected None or a list of 2 entries"),
    ([None, "ab"], r"allowed\[1\] is 'ab'; expected None or a list of 2 entries"),
    ([None, [[["a"]], None]], r"allowed\[1\]\[0\] is \['a'\], which is not one of the labels"),
    ([None, [["d"], None]], r"allowed\[1\]\[0\] is 'd', which is not one of the labels"),
    ([None, [None, []]], "allowed leaves no label to token 1 of sentence 1"),
    (np.ones((3, 2), dtype=bool), r"allowed has shape \(3, 2\); expected \(3, 3\)"),
    (np.eye(3, dtype=bool)[[0, 1, 1]] & (np.arange(3)[:, None] != 2), "allowed leaves no label to token 1 of sentence 1"),
])
def test_what_is_no_list_of_allowed_labels_is_refused(allowed, sentence):
    X, y = [np.ones((1, 2)), np.ones((2, 2))], [["a"], ["b", "c"]]
    engine = Engine("sequence", classes=LABELS).fit(X, y)
    with pytest.raises(DataError, match=sentence):
        engine.predict(X, allowed=allowed)
    with pytest.raises(DataError, match=sentence):
        engine.fit(X, y, allowed=allowed)


@pytest.mark.parametrize("labels", [np.array([1, 2]), np.array([1, 2], np.int8), np.array([0.5, 1]), np.array([False, True])], ids=str)
@pytest.mark.parametrize("kind", [lambda a, b: [(a, b)], lambda a, b: {(a, b)}, lambda a, b: np.array([[a, b]]),
                                  lambda a, b: np.array([[a, b]], dtype=object)], ids=["list", "set", "array", "objects"])
def test_transitions_named_by_values_of_numpy_are_saved(labels, kind, tmp_path):
    X, y = [np.eye(2), np.eye(2)[::-1]], [labels[[1, 0]], labels[[0, 0]]]
    engine = Engine("sequence", forbidden_transitions=kind(*labels), epochs=3).fit(X, y)
    engine.save(tmp_path / "a.model")
    loaded = Engine.load(tmp_path / "a.model")
    assert list(loaded.predict(X)) == list(engine.predict(X)) == list(copy.deepcopy(engine).predict(X))
    assert loaded.plugin_options["forbidden_transitions"] == (labels.tolist(),)


def test_an_iterator_of_transitions_is_refused():
    with pytest.raises(OptionError, match=r"forbidden_transitions is a list_iterator, which can be read only once; pass list\(forbidden"):
        Engine("sequence", forbidden_transitions=iter([("a", "b")])).fit([np.eye(2)], [["a", "b"]])


@pytest.mark.parametrize("name", ["multiclass", "cusum"])
def test_problems_without_rows_of_labels_refuse_allowed(name):
    engine = Engine(name, classes=[1, 2]).fit(np.eye(2), [1, 2])
    with pytest.raises(DataError, match="allowed was given, but .* does not use it; leave it out"):
        engine.predict(np.eye(2), allowed=[None, None])
    with pytest.raises(DataError, match="does not use it"):
        engine.fit(np.eye(2), [1, 2], allowed=[None, None])


def test_the_twin_of_the_rules():
    """The engine's training is compared with `chains.Rules`."""
    rules = chains.Rules(~np.eye(3, dtype=bool), np.array([True, True, False]), np.ones(3, dtype=bool))
    for T in range(5):
        kept = chains.labellings(T, 3)[rules.kept(T)]
        assert {tuple(LABELS[k - 1] for k in y) for y in kept.tolist()} == keep_to({(a, a) for a in LABELS} | {(EDGE, "c")}, T)
