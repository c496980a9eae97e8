"""Tests of dependency parsing: output space, argmax and compiled features against slow twins, and learning."""

import pickle
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain import Engine
from reference import arcs
from structperc_parsing.arc_features import ArcFeatures
from structperc_parsing.arc_templates import default_template, read_lines
from structperc_parsing.biaffine import BiaffineFeatures
from structperc_parsing.drawing import draw_tree
from structperc_parsing.estimators import DependencyParser
from structperc_parsing.heads import find_crossing, lifted
from structperc_parsing.scores import attachment_scores
from structperc_parsing.tokens import TokenReader

import structperc
from structperc import files, metrics
from structperc.errors import DataError, MissingData, OptionError, PluginError, StructPercError
from structperc.files.datasets import locate
from structperc.testing import check_problem

SENTENCES = [
    [("the", "DET"), ("dog", "NOUN"), ("barks", "VERB"), (".", "PUNCT")],
    [("a", "DET"), ("cat", "NOUN"), ("sees", "VERB"), ("the", "DET"), ("dog", "NOUN"), (".", "PUNCT")],
    [("cats", "NOUN"), ("sleep", "VERB")],
]
HEADS = [[2, 3, 0, 3], [2, 3, 0, 5, 3, 3], [2, 0]]
LABELLED = [[(2, "det"), (3, "nsubj"), (0, "root"), (3, "punct")],
            [(2, "det"), (3, "nsubj"), (0, "root"), (5, "det"), (3, "obj"), (3, "punct")], [(2, "nsubj"), (0, "root")]]
NEW = [("a", "DET"), ("dog", "NOUN"), ("sleeps", "VERB"), (".", "PUNCT")]
FEW = {"n_hashed": 1 << 10}


@pytest.mark.parametrize("options", [{"one_root": False, "projective": True}, {"classes": ["a", "b"], "labels": "joint"},
                                     {"classes": ["a", "b"], "projective": True, "order": 2},
                                     {"tokens": "vectors", "n_hashed": 1 << 22}])       # vectors are not hashed: the default
def test_battery(options):
    check_problem("parsing", **options)


@pytest.mark.parametrize("options", [
    {}, {"projective": True}, {"projective": True, "order": 2}, {"classes": ["a", "b"], "labels": "joint"},
], ids=str)
def test_a_sentence_without_words_has_an_empty_tree(options):
    arcs = [[(head, "a") for head in heads] for heads in HEADS] if "classes" in options else HEADS
    engine = Engine("parsing", **FEW, **options).fit(SENTENCES, arcs)

    assert [len(tree) for tree in engine.predict([[], SENTENCES[2]])] == [0, 2]
    assert len(engine.predict([[]], k=2)) == 1


# ---- the compiled features ----


numbers = st.integers(-2, 3).map(float)
sentences = st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[numbers] * width), min_size=1, max_size=7))


@settings(max_examples=30, deadline=None)
@given(sentences, st.sampled_from([1, 2, 9]), st.integers(1, 400), st.booleans(), st.sampled_from([1, 2]), st.integers(0, 2**32 - 1))
def test_features_equal_their_slow_twin_bit_for_bit(sentence, n_labels, n_hashed, joint, order, seed):
    width, n = len(sentence[0]), len(sentence)
    lines = read_lines(default_template(width, order), None, width, order)
    features = ArcFeatures(lines, width, n_labels, n_hashed, joint, order)
    random = np.random.default_rng(seed)
    w = random.normal(size=features.n_weights)
    rows = TokenReader().learn([np.array(sentence)])
    heads = None
    if not joint:
        heads = [int(random.choice([h for h in range(n + 1) if h != m])) for m in range(1, n + 1)]
        rows.condition(np.array(heads, dtype=np.intc))
    x = rows.example(0)
    expected = arcs.scores(lines, sentence, n_labels, n_hashed, w.tolist(), heads, order)
    assert features.scores(w, x).tolist() == expected
    x.n_atoms = len(expected)
    for head in range(len(sentence) + 1):
        for dependent in range(1, len(sentence) + 1):
            if head != dependent:
                found = [row for _, _, row in features.rows_of(x, head, dependent)]
                assert found == arcs.rows([line for line in lines if line.kind == "A"], sentence, head, dependent, n_hashed)
                assert features.slot(head, dependent) == arcs.slot(head, dependent)


def test_words_between_count_once_for_each_cell():
    lines = read_lines("A:%b[tag]", ["tag"], 1)
    features = ArcFeatures(lines, 1, 1, 1 << 20)
    x = TokenReader().learn([[(tag,) for tag in "abacbd"]]).example(0)
    assert [b for _, b, _ in features.rows_of(x, 1, 6)] == [2, 3, 4]
    assert [b for _, b, _ in features.rows_of(x, 6, 3)] == [4, 5]
    assert features.rows_of(x, 3, 4) == []


def test_texts_make_the_same_numbers_everywhere():
    X = TokenReader().learn([[("the", "DET")], [("été", "the")]]).X
    assert X.tolist() == [[163434983275542.0, 207970309337854.0], [202964502291890.0, 163434983275542.0]]


# ---- trees ----


@pytest.mark.parametrize("one_root", [True, False])
@pytest.mark.parametrize("classes", [None, ["a", "b", "c"]])
def test_argmax_equals_enumeration(one_root, classes):
    random = np.random.default_rng(0)
    engine = Engine("parsing", classes=classes, one_root=one_root, labels="joint", **FEW)
    word = 0 if classes is None else (0, "a")
    engine.fit([[("x",)]], [[word]])
    parts, tags = engine.parts_, len(classes or "x")
    for t in range(200):
        n = int(random.integers(1, 6))
        x = engine.model_.read([[("x",)] * n]).example(0)
        x.n_atoms = (n + 1) ** 2 * tags
        s = random.integers(-2, 3, x.n_atoms).astype(float) if t % 2 else random.normal(size=x.n_atoms)
        table = s.reshape(n + 1, n + 1, tags).max(axis=2)
        best = max(sum(table[head, m] for m, head in enumerate(heads, 1)) for heads in arcs.trees(n, one_root))
        found = parts.argmax.argmax(s.copy(), x)
        parts.outputs.check_structure(x, found)
        assert parts.outputs.count(x, found) @ s == pytest.approx(best, abs=1e-9)
        gold = random.permutation(n).argsort()              # a chain in random order
        heads = np.zeros(n, dtype=int)
        heads[gold[1:]] = gold[:-1] + 1
        codes = tuple(int(head) * tags for head in heads)
        found = parts.argmax.argmax_augmented(s, x, codes, parts.loss, 0.5)
        augmented = parts.outputs.count(x, found) @ s + 0.5 * parts.loss.value(codes, found, x)
        costs = table_of_costs(s, heads, n, tags)
        assert augmented == pytest.approx(max(sum(costs[head, m] for m, head in enumerate(some, 1)) for some in arcs.trees(n, one_root)))


def table_of_costs(s, heads, n, tags):
    """The best score + 0.5 * loss of each arc, where each gold arc has the first label."""
    costs = s.reshape(n + 1, n + 1, tags) + 0.5
    for m, head in enumerate(heads, 1):
        costs[head, m, 0] -= 0.5
    return costs.max(axis=2)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6).flatmap(lambda n: st.tuples(*[st.integers(0, n)] * n)))
def test_circles_and_crossings_are_found(heads):
    if arcs.is_tree(heads):
        assert (find_crossing(heads) is None) == arcs.is_projective(heads)
        Engine("parsing", one_root=False, **FEW).fit([[("x",)] * len(heads)], [heads])
    else:
        with pytest.raises(DataError, match=r"y\[0\] is no tree .* in a circle"):
            Engine("parsing", one_root=False, **FEW).fit([[("x",)] * len(heads)], [heads])


@pytest.mark.parametrize("y, message", [
    ([[0, 0]], r"the words 1 and 2 both have the head 0, but one_root allows one"),
    ([[2, 1]], r"the words 1 -> 2 -> 1 head each other in a circle"),
    ([[1, 0]], r"the words 1 -> 1 head"),
    ([[3, 0]], r"y\[0\]\[0\] has the head 3; expected a whole number from 0 \(the root\) to 2"),
    ([[0.5, 0]], r"has the head 0.5"),
    ([["one", 0]], r"y\[0\]\[0\] is 'one'"),
    ([[0]], r"y\[0\] is \[0\]; expected 2 heads"),
    ([[0, 1], [0]], r"y has the trees of 2 sentences but X has 1"),
    ([[("x", "a"), (1, "b")]], r"y\[0\]\[0\] is \('x', 'a'\); expected a pair of a head and a label"),
])
def test_what_is_no_tree_is_refused(y, message):
    engine = Engine("parsing", **FEW)
    with pytest.raises(DataError, match=message):
        engine.fit([[("x",), ("y",)]], y)
    assert engine.model is None


def test_a_label_without_a_hash_is_unknown():
    engine = Engine("parsing", classes=["det", "root"], **FEW).fit([[("x",), ("y",)]], [[(2, "det"), (0, "root")]])
    with pytest.raises(DataError, match=r"y\[0\]\[0\] has the label \['det'\], which is none of the 2 labels"):
        engine.partial_fit([[("x",), ("y",)]], [[(2, ["det"]), (0, "root")]])


@pytest.mark.parametrize("X, message", [
    ([[("x",), ("y", "z")]], r"X\[0\]\[1\] is \('y', 'z'\), of 2 columns; expected 1"),
    ([[("x",), (3,)]], r"X\[0\]\[1\] has the cell 3 of type int"),
    ([["x", "y"]], r"X\[0\]\[0\] is 'x'; expected a tuple of strings"),
    ([[{"form": "x"}, {"form": "y"}]], r"name its keys with columns="),
    (["xy"], r"X\[0\] is 'xy'"), ([[("x",)], np.array(1.0)], r"X\[1\] is array\(1.\); expected a list"),
    ([], "X is empty"),
])
def test_what_is_no_sentence_is_refused(X, message):
    with pytest.raises(DataError, match=message):
        Engine("parsing", **FEW).fit(X, [[2, 0]])


@pytest.mark.parametrize("template, message", [
    ("A:%h[0,word]", "no column has this name"), ("A:%h[0,7]", "reads column 7"), ("B:%h[0,0]", "begins with 'B'"),
    ("A:%s[0,0]", "such lines read %h, %d and %b"), ("A:bias\nS:%s[0,0]", "set order=2"),
    ("A:%b[1,0]", "at an offset"), ("A:%h[0]", "without an offset"), ("A:%x[0,0]", "malformed"), ("L:bias", "no line for arcs"),
])
def test_bad_templates_are_refused(template, message):
    with pytest.raises((OptionError, DataError), match=message):
        Engine("parsing", template=template, columns=["form", "tag"], **FEW).fit(SENTENCES, HEADS)


# ---- learning ----


def test_trees_are_learned():
    engine = Engine("parsing", update="pa1", loss_weight=1.0, average=True, epochs=10).fit(SENTENCES, HEADS)
    assert [list(heads) for heads in engine.predict(SENTENCES)] == HEADS
    assert engine.predict([NEW])[0] == [2, 3, 0, 3]
    assert engine.predict([[]])[0] == []


def test_labels_are_learned_with_the_trees():
    for options in ({"labels": "joint"}, {"projective": True, "order": 2}, {"decay": 1e-3, "average": True}, {}):
        engine = Engine("parsing", epochs=10, **options).fit(SENTENCES, LABELLED)
        assert list(engine.predict(SENTENCES)) == LABELLED
    assert engine.classes_.tolist() == ["det", "nsubj", "obj", "punct", "root"]
    with pytest.raises(DataError, match=r"y\[0\]\[0\] has the label 'case', which is none of the 5 labels"):
        engine.partial_fit([[("x", "X")]], [[(0, "case")]])


@pytest.mark.parametrize("kind", [np.array, lambda arcs: np.array(arcs, dtype=object)], ids=["texts", "objects"])
def test_pairs_of_heads_and_labels_come_in_arrays(kind):
    X, arcs = [[("the", "D"), ("dog", "N"), ("barks", "V")]] * 3, [(2, "det"), (3, "subj"), (0, "root")]
    parser = DependencyParser(random_state=0).fit(X, [kind(arcs)] * 3)
    assert parser.predict(X[:1]) == [arcs]
    assert parser.score(X, np.array([kind(arcs)] * 3)) == attachment_scores([kind(arcs)], [arcs])["LAS"] == 1


def test_dicts_and_numbers_are_tokens_too():
    columns = ["form", "tag"]
    named = [[dict(zip(columns, token, strict=True)) for token in sentence] for sentence in SENTENCES]
    options = {"epochs": 5, **FEW}
    of_dicts = Engine("parsing", columns=columns, **options).fit(named, HEADS)
    of_tuples = Engine("parsing", **options).fit(SENTENCES, HEADS)
    blocks = np.split(TokenReader().learn(SENTENCES).X, [4, 10])
    of_numbers = Engine("parsing", **options).fit(blocks, HEADS)
    for engine, X in ((of_dicts, named), (of_numbers, blocks)):
        for a, b in zip(engine.atom_scores(X), of_tuples.atom_scores(SENTENCES), strict=True):
            assert a.tolist() == b.tolist()


def test_models_are_saved_with_the_rows_that_were_touched(tmp_path):
    engine = Engine("parsing", update="pa1", average=True, epochs=3).fit(SENTENCES, LABELLED)
    engine.save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < 1 << 20
    loaded = Engine.load(tmp_path / "model")
    assert list(loaded.predict(SENTENCES)) == list(engine.predict(SENTENCES))
    for each in (engine, loaded):
        each.partial_fit(SENTENCES, LABELLED)
    assert [s.tolist() for s in loaded.atom_scores(SENTENCES)] == [s.tolist() for s in engine.atom_scores(SENTENCES)]
    with pytest.raises(DataError, match="expected 2"):
        loaded.predict([[("dog",)]])


def test_vectors_score_products_of_coordinates():
    random, n, d, n_labels = np.random.default_rng(0), 14, 3, 2
    features = BiaffineFeatures(d, n_labels)
    w, z = random.normal(size=features.n_weights), random.normal(size=(n, d))
    rows, heads = TokenReader().learn([z]), [int(random.choice([h for h in range(n + 1) if h != m])) for m in range(1, n + 1)]
    rows.condition(np.array(heads, dtype=np.intc))
    pairs, distances, labels = features.parts(w)
    z = [[0, 0, 0, 0, 1], *([*row, 1, 0] for row in z)]
    expected = np.zeros((n + 1, n + 1))
    for h, m in ((h, m) for h in range(n + 1) for m in range(1, n + 1) if h != m):
        side = int(m > h)
        expected[h, m] = distances[side, arcs.slot(h, m)] + sum(z[h][i] * pairs[side, i, j] * z[m][j] for i in range(5) for j in range(5))
    of_labels = [[sum(labels[k, int(m > h), 0, i] * z[h][i] + labels[k, int(m > h), 1, i] * z[m][i] for i in range(5))
                  for k in range(n_labels)] for m, h in enumerate(heads, 1)]
    x = rows.example(0)
    expected = np.concatenate([np.ravel(expected), np.ravel(of_labels)])
    assert features.scores(w, x) == pytest.approx(expected)
    c = random.normal(size=len(expected))
    assert features.vector(x, c) @ w == pytest.approx(c @ expected)


def test_trees_are_learned_from_vectors():
    number = {cell: i for i, cell in enumerate(sorted({cell for sentence in SENTENCES for token in sentence for cell in token}))}
    vectors = [np.array([[float(number[cell] == i) for cell in token for i in range(len(number))] for token in tokens])
               for tokens in SENTENCES]
    parser = DependencyParser(tokens="vectors", epochs=20, random_state=0).fit(vectors, LABELLED)
    assert parser.predict(vectors) == LABELLED
    assert DependencyParser(tokens="vectors", epochs=20, random_state=0).fit(vectors, HEADS).predict(vectors) == HEADS
    with pytest.raises(OptionError, match="explained by the lines of a template"):
        parser.explain(vectors[0], 1)
    for options in ({"order": 2, "projective": True}, {"labels": "joint"}, {"template": "A:%h[0,0]"}):
        with pytest.raises(OptionError, match=r"tokens='vectors'"):
            Engine("parsing", tokens="vectors", **options).fit(vectors, LABELLED)


def test_what_parsing_has_not_is_refused():
    with pytest.raises(StructPercError):
        Engine("parsing", plugins=["dual-kernel"], kernel="linear", **FEW).fit(SENTENCES, HEADS)
    with pytest.raises(OptionError, match="n_hashed"):
        Engine("parsing", n_hashed=1 << 32)
    with pytest.raises(PluginError, match="whole outputs cannot be ranked; set labels='joint'"):
        Engine("parsing", **FEW).fit(SENTENCES, LABELLED).predict(SENTENCES, k=2)
    with pytest.raises(OptionError, match="order=2 scores pairs of siblings. With crossing arcs .* NP-hard .*; set projective=True"):
        Engine("parsing", order=2, **FEW).fit(SENTENCES, HEADS)


def test_attachment_scores():
    right = [[(2, "nsubj"), (0, "root")], [(0, "root")]]
    found = [[(2, "nsubj:pass"), (1, "root")], [(0, "root")]]
    assert attachment_scores(right, found) == pytest.approx({
        "UAS": 2 / 3, "LAS": 2 / 3, "LAS with subtypes": 1 / 3, "whole trees": 1 / 2})
    assert attachment_scores([["2", "0"], [0]], [[2, 0], [0]]) == {"UAS": 1.0, "whole trees": 1.0}
    with pytest.raises(DataError):
        attachment_scores([[0]], [[0, 1]])


def test_attachment_scores_take_arrays():
    assert attachment_scores(np.array([[2, 0]]), [np.array([2.0, 0.0])])["UAS"] == 1.0


@pytest.mark.parametrize(("y_true", "sentence"), [
    ([2, 0], r"y_true\[0\] is 2; expected a list of the heads"), (None, "y_true is None; expected a list of trees"),
    (["20"], r"y_true\[0\] is '20'; expected a list of the heads"),
    ([[2.9, 0]], r"y_true\[0\]\[0\] has the head 2.9; expected a whole number from 0 \(the root\) to 2"),
    ([[9, 0]], r"y_true\[0\]\[0\] has the head 9"), ([[(-1, "x"), (0, "root")]], r"y_true\[0\]\[0\] has the head -1"),
    (iter([[2, 0]]), "y_true is .*expected a list of trees"),
])  # fmt: skip
def test_attachment_scores_of_what_is_no_tree_are_one_sentence(y_true, sentence):
    with pytest.raises(DataError, match=sentence):
        attachment_scores(y_true, [[(2, "x"), (0, "root")]] if "-1" in sentence else [[2, 0]])


# ---- projective trees ----


@pytest.mark.parametrize("one_root", [True, False])
@pytest.mark.parametrize("order", [1, 2])
def test_projective_argmax_equals_enumeration(one_root, order):
    random = np.random.default_rng(1)
    engine = Engine("parsing", projective=True, one_root=one_root, order=order, **FEW).fit([[("x",)]], [[0]])
    trees = {n: arcs.trees(n, one_root, projective=True) for n in range(1, 6)}
    for t in range(60):
        n = int(random.integers(1, 6))
        x = engine.model_.read([[("x",)] * n]).example(0)
        x.n_atoms = engine.parts_.features.n_atoms(x)
        s = random.integers(-2, 3, x.n_atoms).astype(float) if t % 2 else random.normal(size=x.n_atoms)
        gold = trees[n][random.integers(len(trees[n]))]
        table, siblings = s[:(n + 1) ** 2].reshape(n + 1, n + 1), s[(n + 1) ** 2:].reshape((n + 1,) * 3 if order == 2 else (0,))
        for weight in (0.0, 0.75):
            found = engine.parts_.argmax.argmax_augmented(s, x, gold, engine.parts_.loss, weight)
            assert arcs.is_projective(found)
            best = max(tree_score(table, siblings, heads) + weight * np.not_equal(heads, gold).sum() for heads in trees[n])
            assert engine.parts_.outputs.count(x, found) @ s + weight * np.not_equal(found, gold).sum() == pytest.approx(best, abs=1e-9)


def tree_score(table, siblings, heads):
    """The score of a tree: the sum over arcs, plus the sum over siblings if `siblings` is not empty."""
    total = sum(table[head, m] for m, head in enumerate(heads, 1))
    for m, head in enumerate(heads, 1) if siblings.size else ():
        between = [s for s, other in enumerate(heads, 1) if other == head and min(m, head) < s < max(m, head)]
        total += siblings[head, m, min(between, key=lambda s: abs(s - m), default=head)]
    return total


def test_the_shortest_arc_is_lifted_first():
    assert lifted([3, 0, 2, 1]) == [2, 0, 2, 2]         # the arc from word 1 to word 4 first would leave word 4 below word 3


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6).flatmap(lambda n: st.tuples(*[st.integers(0, n)] * n)).filter(arcs.is_tree))
def test_lifted_trees_are_projective(heads):
    found = lifted(heads)
    assert arcs.is_tree(found) and arcs.is_projective(found)
    assert found.count(0) == list(heads).count(0) or list(heads).count(0) > 1
    for word, head in enumerate(found, 1):              # the new head of a word is one of its former ancestors
        above = heads[word - 1]
        while above not in (0, head):
            above = heads[above - 1]
        assert above == head
    if arcs.is_projective(heads):
        assert found == list(heads)


def test_crossing_arcs_are_refused_or_lifted_and_counted():
    X, y = [[(form,) for form in "abcd"]] * 2, [[3, 4, 0, 3], [2, 3, 0, 3]]
    with pytest.raises(DataError, match=r"y\[0\] is no tree .* crosses that to .*lift=True"):
        Engine("parsing", projective=True, **FEW).fit(X, y)
    engine = Engine("parsing", projective=True, lift=True, epochs=5, **FEW).fit(X[:1], y[:1])
    assert engine.n_lifted_ == 1
    assert engine.predict(X[:1])[0] == lifted(y[0]) == [3, 3, 0, 3]
    assert engine.partial_fit(X, y).n_lifted_ == 2
    with pytest.raises(OptionError, match="lift=True makes trees projective"):
        Engine("parsing", lift=True, **FEW).fit(X, y)


# ---- k best, marginals, explanations, pictures ----


def test_k_best_trees_and_marginals_equal_enumeration():
    for y, options in ((HEADS, {}), (HEADS, {"projective": True}), (LABELLED, {"labels": "joint"}), (LABELLED, {}),
                       (HEADS, {"projective": True, "order": 2}), (LABELLED, {"projective": True, "order": 2, "labels": "joint"})):
        engine = Engine("parsing", epochs=3, **FEW, **options).fit(SENTENCES, y)
        parts, x = engine.parts_, engine.model_.read([SENTENCES[2]]).example(0)
        x.n_atoms = engine.parts_.features.n_atoms(x)
        random = np.random.default_rng(0)
        for _ in range(5):
            s = random.normal(size=x.n_atoms)
            structures = list(parts.outputs.enumerate(x))
            counts = np.array([parts.outputs.count(x, one) for one in structures])
            p = np.exp(counts @ s)
            assert parts.argmax.marginals(s, x)[1] == pytest.approx(p @ counts / p.sum(), abs=1e-9)
            for k in (2, len(structures)):
                ranked = parts.argmax.k_best(s, x, k)
                assert ranked[0][0] == parts.argmax.argmax(s.copy(), x)
                assert [score for _, score in ranked] == pytest.approx(sorted(counts @ s, reverse=True)[:k])
                assert [counts[structures.index(y)] @ s for y, _ in ranked] == pytest.approx([score for _, score in ranked])
                assert len({y for y, _ in ranked}) == k
    engine = Engine("parsing", epochs=3, **FEW).fit(SENTENCES, HEADS)
    best = engine.predict([NEW], k=3)[0]
    assert best[0] == engine.predict([NEW])[0] and len({tuple(heads) for heads in best}) == 3
    table = engine.predict_marginals([NEW])[0]
    assert table.shape == (5, 5) and table[:, 1:].sum(axis=0) == pytest.approx(np.ones(4)) and table[0].sum() == pytest.approx(1)


@pytest.mark.parametrize("y", [HEADS, LABELLED])
def test_explanations_add_up_to_the_score_of_the_arc(y):
    parser = DependencyParser(epochs=3, n_hashed=1 << 12, columns=["form", "tag"], labels="joint", random_state=0).fit(SENTENCES, y)
    scores = parser.engine_.atom_scores([NEW])[0].reshape(5, 5, -1)
    for head, dependent in ((head, dependent) for head in range(5) for dependent in range(1, 5) if head != dependent):
        found = parser.explain(NEW, dependent, head)
        assert found.score == pytest.approx(scores[head, dependent].max())
        assert found.label == (None if y is HEADS else parser.engine_.classes_[np.argmax(scores[head, dependent])])
        assert sum(value for _, value in found.contributions) == pytest.approx(found.score)
    found = parser.explain(NEW, 1)
    assert (found.head, found.dependent) == (2, 1)
    assert "a/NOUN to the right" not in str(found) and "A:NOUN/DET to the left" in str(found)
    assert found.label == (None if y is HEADS else "det")
    with pytest.raises(OptionError, match="dependent=5; expected the number of a word, from 1 to 4"):
        parser.explain(NEW, 5)
    with pytest.raises(OptionError, match="head=1; expected 0 for the root"):
        parser.explain(NEW, 1, 1)
    with pytest.raises(DataError, match="is none of the labels"):
        parser.explain(NEW, 1, 2, "x")
    assert structperc.explain(parser, NEW).margin == pytest.approx(parser.engine_.margins([NEW])[0])
    with pytest.raises(OptionError, match="name the word too"):
        parser.explain(NEW, head=2)


def test_the_estimator_follows_scikit_learn():
    clone = pytest.importorskip("sklearn.base").clone
    parser = DependencyParser(projective=True, epochs=4, random_state=0)
    assert clone(parser).get_params() == parser.get_params()
    assert not hasattr(parser, "classes_")
    assert parser.fit(SENTENCES, LABELLED).score(SENTENCES, LABELLED) == 1.0
    assert parser.attachment(SENTENCES, LABELLED)["LAS with subtypes"] == 1.0
    assert parser.classes_.tolist() == ["det", "nsubj", "obj", "punct", "root"] and parser.n_lifted_ == 0
    assert pickle.loads(pickle.dumps(parser)).predict([NEW]) == parser.predict([NEW])
    stream = DependencyParser(update="perceptron", loss_weight=0.0, n_hashed=1 << 12)
    for _ in range(8):
        stream.partial_fit(SENTENCES, HEADS)
    assert stream.score(SENTENCES, HEADS) == 1.0
    with pytest.raises(OptionError, match="C=0.5 has no effect"):
        DependencyParser(update="perceptron", C=0.5).fit(SENTENCES, HEADS)


def test_pictures_are_well_formed():
    picture = ElementTree.fromstring(draw_tree([("a<b", "X"), ("c", "Y"), ("&", "Z")], [(2, "x&y"), (0, "root"), (2, "<z>")]))
    texts = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"a<b", "x&y", "<z>", "&", "Z"} <= set(texts)
    assert sum(1 for _ in picture.iter("{http://www.w3.org/2000/svg}path")) == 3
    assert "root" not in draw_tree(["a", "b"], [2, 0])
    for words, heads in ((["a"], [0, 1]), (["a"], [3])):
        with pytest.raises(DataError):
            draw_tree(words, heads)


# ---- real text ----


def test_english_is_parsed():
    """After 200 sentences of UD English EWT, the parser predicts the correct head of most words in new sentences."""
    try:
        train, _, test = locate("ud_english_ewt", download=False)
    except MissingData as error:
        pytest.skip(str(error))
    (X, y), (X_new, y_new) = treebank(train, 200), treebank(test, 60)
    parser = DependencyParser(projective=True, epochs=3, random_state=0).fit(X, y)
    found = parser.attachment(X_new, y_new)
    assert found["UAS"] > 0.62 and found["LAS"] > 0.52


def treebank(path, n):
    """The first sentences of a treebank, and their trees."""
    sentences = files.read(path, columns=("form", "xpos", "upos", "head", "deprel")).X[:n]
    return [[token[:3] for token in tokens] for tokens in sentences], [[(int(head), label) for *_, head, label in tokens]
                                                                       for tokens in sentences]


# ---- right trees that a model never predicts, and what are no trees ----


CROSSING, TWO_ROOTS = [3, 4, 0, 3], [0, 0, 2, 2]
FOUR = [("a", "N"), ("b", "V"), ("c", "N"), ("d", "N")]


@pytest.mark.parametrize("labels", [False, True])
def test_crossing_arcs_are_measured_as_errors_of_a_projective_model(labels):
    """By every measure: the loss, UAS, `score` and the command `evaluate` compare with the right tree."""
    trees = [[(head, "r" if head else "root") for head in heads] if labels else heads for heads in ([2, 0, 2, 2], CROSSING)]
    parser = DependencyParser(projective=True, n_hashed=64, random_state=0).fit([FOUR] * 3, [trees[0]] * 3)
    assert parser.score([FOUR], [trees[1]]) == 0.0
    measured = metrics.measures(parser.engine_, [FOUR], [trees[1]])
    assert measured["UAS"] == measured["whole trees"] == 0.0
    assert metrics.losses(parser.engine_, [FOUR], [trees[1]]).tolist() == [measured["mean loss (hamming)"]]


@pytest.mark.parametrize("heads", [TWO_ROOTS, [2, 1, 0, 3], [9, 0, 2, 2]], ids=["two roots", "circle", "far"])
def test_what_is_no_tree_is_refused_by_every_measure(heads):
    parser = DependencyParser(n_hashed=64, random_state=0).fit([FOUR] * 3, [[2, 0, 2, 2]] * 3)
    for call in (parser.score, parser.log_probability, parser.fit, lambda X, y: metrics.losses(parser.engine_, X, y),
                 lambda X, y: metrics.measures(parser.engine_, X, y)):
        with pytest.raises(DataError, match=r"^y(_true)?\[1\](\[0\])? (is no tree|has the head 9)"):
            call([FOUR] * 2, [[2, 0, 2, 2], heads])


@pytest.mark.parametrize("gap", [None, "", float("nan")])
def test_an_arc_without_a_label_is_named(gap):
    """Before labels are counted or sorted: no message about classes, which nobody named."""
    for first, second in (((2, gap), (0, "root")), ((2, "x"), (0, gap))):
        for classes in (None, ["root", "x"]):
            with pytest.raises(DataError, match=r"y\[1\]\[[01]\] has no label; give each word"):
                Engine("parsing", classes=classes).fit([FOUR[:2]] * 2, [[(2, "x"), (0, "root")], [first, second]])
