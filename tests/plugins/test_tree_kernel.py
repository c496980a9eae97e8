"""Tests of the tree kernel against all fragments of small trees, input formats, rejected trees, and saved states."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import Engine
from reference import fragments
from structperc_kernels.object_kernels import SubsetTreeKernel

from structperc.errors import DataError, OptionError

LABELS, WORDS = st.sampled_from(["S", "A", "B"]), st.sampled_from(["a", "b", "A"])
DOG, CAT = ("NP", ("D", "the"), ("N", "dog")), ("NP", ("D", "the"), ("N", "cat"))
LONE = ("NP",)


def node(children):
    return st.builds(lambda label, below: (label, *below), LABELS, st.lists(children, max_size=3))


TREES = node(st.recursive(WORDS, node, max_leaves=6))


def gram(kernel, trees, **how):
    encoded = [kernel.encode(tree, **how) for tree in trees]
    return kernel.values(encoded, encoded)


@given(TREES, TREES)
def test_common_fragments_are_counted(a, b):
    assert SubsetTreeKernel(decay=1, normalise=False)(a, b) == fragments.tree_kernel(a, b, 1)


@given(TREES, TREES, st.floats(0.01, 1))
def test_larger_fragments_weigh_less(a, b, decay):
    assert SubsetTreeKernel(decay, normalise=False)(a, b) == pytest.approx(fragments.tree_kernel(a, b, decay), rel=1e-12)
    assert SubsetTreeKernel(decay)(a, b) == pytest.approx(fragments.normalised(fragments.tree_kernel, a, b, decay), rel=1e-12)


@given(st.lists(TREES, min_size=1, max_size=8), st.booleans())
def test_grams_are_symmetric_and_positive_semidefinite(trees, normalise):
    found = gram(SubsetTreeKernel(normalise=normalise), trees)
    assert (found == found.T).all()
    assert np.linalg.eigvalsh(found).min() >= -1e-10 * max(1, found.max())
    if normalise:
        assert set(found.diagonal()) <= {0.0, 1.0}


def test_the_default_is_normalised_with_decay():
    kernel = SubsetTreeKernel()
    assert repr(kernel) == "SubsetTreeKernel(decay=0.4, normalise=True)"
    assert kernel(DOG, DOG) == 1
    plain = SubsetTreeKernel(0.5, normalise=False)
    assert plain(DOG, CAT) == 0.5 + 0.5 * 1.5
    assert plain(DOG, DOG) == 0.5 + 0.5 + 0.5 * 1.5 * 1.5


def test_repeated_productions_count_pair_by_pair():
    kernel = SubsetTreeKernel(1, normalise=False)
    assert kernel("(A (B x) (B x) (B x))", "(C (B x) (B x))") == 6
    assert kernel("(A (A (A x)))", "(A (A (A (A x))))") == fragments.tree_kernel(("A", ("A", ("A", "x"))),
                                                                            ("A", ("A", ("A", ("A", "x")))), 1)


def test_trees_without_a_production_have_nothing_in_common():
    for kernel in (SubsetTreeKernel(), SubsetTreeKernel(normalise=False)):
        assert kernel(LONE, LONE) == kernel(LONE, DOG) == kernel("(NP)", ("NP", "NP")) == 0


def test_words_are_no_labels():
    kernel = SubsetTreeKernel(1, normalise=False)
    assert kernel(("S", "A"), ("S", ("A",))) == 0
    assert kernel(("S", ("A",)), ("S", ("A", "x"))) == 1        # the fragment that ends at A


class Tree(list):
    """The interface of a tree of nltk."""

    def __init__(self, label, children):
        super().__init__(children)
        self.given = label

    def label(self):
        return self.given


def test_all_ways_to_write_a_tree():
    text = " (NP (D the)\n\t(N dog) ) "
    forms = [DOG, ["NP", ["D", "the"], ("N", "dog")], text, Tree("NP", [Tree("D", ["the"]), Tree("N", ["dog"])])]
    kernel = SubsetTreeKernel()
    encoded = [kernel.encode(form) for form in forms]
    assert len({one.key() for one in encoded}) == 1
    assert [one.original for one in encoded] == forms
    assert kernel.encode("( (S (NP x)))").key() == kernel.encode(("", ("S", ("NP", "x")))).key()
    assert kernel.encode(("S", ("A",), ("A", "x"))).key() != kernel.encode(("S", ("A", "x"), ("A",))).key()
    assert kernel.encode(("S", "A")).key() != kernel.encode(("S", ("A",))).key()


@pytest.mark.parametrize("text, message", [
    ("", "empty text"),
    ("  ", "empty text"),
    ("dog", "character 0 of the tree is 'd', before any bracket"),
    (" )", "character 1 of the tree is '\\)', before any bracket"),
    ("(NP (D the) (N dog)", "ends at character 19, but its bracket of character 0 is not closed"),
    ("(NP (D the", "its bracket of character 4 is not closed"),
    ("(NP (D the)) (N dog)", "character 13 of the tree is '\\(', after its end"),
    ("(NP))", "character 4 of the tree is '\\)', after its end"),
    ("()", "character 1 of the tree closes a bracket without a label"),
    ("(NP ())", "character 5 of the tree closes a bracket without a label"),
    ("(", "bracket of character 0 is not closed"),
])
def test_wrong_texts_are_refused_with_their_place(text, message):
    with pytest.raises(DataError, match=message):
        SubsetTreeKernel().encode(text)


@pytest.mark.parametrize("tree, message", [
    (3, "3 is no tree. Pass a label and its children"),
    (None, "None is no tree"),
    ({"NP": "x"}, "is no tree"),
    ((), "symbol 0 of the tree is \\(\\)"),
    (("NP", ("D", "the"), []), "symbol 3 of the tree is \\[\\]"),
    (("NP", 3), "3 is no tree"),
    ((("NP",), "x"), "symbol 0 of the tree is \\('NP',\\) of tuple. Pass a label"),
    (("NP", (1, "x")), "symbol 1 of the tree is 1 of int"),
])
def test_what_is_no_tree_is_refused(tree, message):
    with pytest.raises(DataError, match=message):
        SubsetTreeKernel().encode(tree)


@pytest.mark.parametrize("options, message", [
    ({"decay": 0}, "decay=0"), ({"decay": 1.5}, "decay=1.5"), ({"decay": "0.4"}, "decay='0.4'"), ({"decay": True}, "decay=True"),
    ({"decay": float("nan")}, "decay=nan"), ({"normalise": 1}, "normalise=1"),
])
def test_options_that_cannot_be_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        SubsetTreeKernel(**options)


def test_deep_trees_need_no_recursion():
    depth, labels, decay = 10_000, 100, 0.5
    text = "".join(f"(L{i % labels} " for i in range(depth)) + "x" + ")" * depth
    tree = "x"
    for i in reversed(range(depth)):
        tree = (f"L{i % labels}", tree)
    kernel = SubsetTreeKernel(decay, normalise=False)
    encoded = [kernel.encode(text), kernel.encode(tree)]
    expected = 0
    for offset in range(labels):
        at = np.arange(offset, depth, labels)
        common = depth - np.maximum.outer(at, at) - (at[:, None] != at)         # the last node of a label has another production
        expected += (decay * (1 - decay**common) / (1 - decay)).sum()
    found = kernel.values(encoded, encoded)
    assert (found == found[0, 0]).all()
    assert found[0, 0] == pytest.approx(expected, rel=1e-12)
    restored = kernel.restore(kernel.state(encoded))
    assert kernel.values(restored, encoded)[0, 1] == found[0, 0]


def test_one_production_all_the_way_down():
    depth = 600
    tree = "(A " * depth + "x" + ")" * depth
    values = np.zeros((depth + 1, depth + 1))          # C by the number of nodes below and including each
    for i, j in itertools.product(range(1, depth + 1), repeat=2):
        values[i, j] = 0.4 * (1 + values[i - 1, j - 1]) if i > 1 < j else 0.4 * (i == j)
    assert SubsetTreeKernel(0.4, normalise=False)(tree, tree) == pytest.approx(values.sum(), rel=1e-12)


def bush(depth):
    return "x" if depth == 0 else ("A", *[bush(depth - 1)] * 3)


def test_values_beyond_floating_point_are_refused():
    kernel = SubsetTreeKernel(decay=1)
    with pytest.raises(DataError, match="its kernel with itself is .* with decay=1, .* lower the decay"):
        kernel.encode(bush(7))
    assert kernel.n_symbols == 0
    assert SubsetTreeKernel(decay=0.1)(bush(7), bush(7)) == 1
    with pytest.raises(DataError, match="raise the decay"):
        SubsetTreeKernel(decay=1e-200).encode(DOG)


def test_what_is_not_learned_is_compared_alike():
    trees = [DOG, CAT, ("S", DOG, ("V", "barks")), LONE]
    new = [("S", DOG, ("V", "sleeps")), ("S", ("V", "sleeps"), ("V", "sleeps"))]
    learning, kernel = SubsetTreeKernel(), SubsetTreeKernel()
    known = [kernel.encode(tree) for tree in trees]
    n_symbols = kernel.n_symbols
    passing = [kernel.encode(tree, learn=False) for tree in new]
    expected = learning.values([learning.encode(tree) for tree in new], [learning.encode(tree) for tree in trees])
    assert (kernel.values(passing, known) == expected).all()
    assert kernel.values(passing[1:], passing[1:]) == 1
    assert n_symbols == kernel.n_symbols == 6
    with pytest.raises(DataError, match="learn=False"):
        kernel.values(passing, passing)


def test_calls_learn_nothing():
    kernel = SubsetTreeKernel()
    assert 0 < kernel(DOG, CAT) < 1
    assert kernel.n_symbols == 0


@given(st.lists(TREES, max_size=5))
def test_trees_come_back_from_their_state(trees):
    kernel, other = SubsetTreeKernel(), SubsetTreeKernel()
    encoded = [kernel.encode(tree) for tree in trees]
    state = kernel.state(encoded)
    assert all(isinstance(array, np.ndarray) and array.dtype != object for array in state.values())
    restored = other.restore(state)
    assert [one.original for one in restored] == trees
    assert [one.key() for one in restored] == [one.key() for one in encoded]
    assert (other.values(restored, restored) == kernel.values(encoded, encoded)).all()


def damaged():
    """Changes of the state of two trees, each with the message of the error."""
    yield {"symbols": None}, "the saved state has no 'symbols'"
    yield {"codes": np.zeros((2, 2), np.int32)}, r"'codes' is int32 of shape \(2, 2\); expected int32 of shape \(any,\)"
    yield {"ends": np.array([5.0, 10.0])}, "'ends' is float64 of shape"
    yield {"symbols": np.frombuffer(b'["NP"', np.uint8)}, "no JSON"
    yield {"symbols": np.frombuffer(b"\xff\xfe\xff", np.uint8)}, "no JSON"
    yield {"symbols": np.frombuffer(b'[["NP"]]', np.uint8)}, "no list of strings"
    yield {"symbols": np.frombuffer(b'["NP"]', np.uint8)}, "expected 0 to 0"
    yield {"symbols": np.frombuffer(b"[1, 2, 3, 4, 5, 6, 7]", np.uint8)}, "no string"
    yield {"codes": np.full(10, -1, np.int32)}, "are -1 to -1"
    yield {"ends": np.array([5, 9])}, "the last one at 10"
    yield {"ends": np.array([11, 10])}, "do not end in order"
    yield {"ends": np.array([-5, 10])}, "do not end in order"
    yield {"ends": np.zeros(0, np.int64)}, "saved"
    yield {"n_children": np.zeros(3, np.int32)}, "3 saved numbers of children"
    yield {"n_children": np.array([2, 1, -1, 1, -1] + [2, 1, -1, 1, 1], np.int32)}, "tree 1 has a node of 1 children"
    yield {"n_children": np.array([2, 1, -1, 1, -1] + [2, 1, -1, 1, -2], np.int32)}, "tree 1 has a node of -2 children"
    yield {"n_children": np.full(10, -1, np.int32)}, "tree 0 is not one tree"
    yield {"ends": np.array([0, 10])}, "tree 0 is not one tree"


@pytest.mark.parametrize("change, message", list(damaged()))
def test_damaged_states_are_refused(change, message):
    kernel = SubsetTreeKernel()
    state = kernel.state([kernel.encode(DOG), kernel.encode(CAT)])
    other = SubsetTreeKernel()
    with pytest.raises(DataError, match=message):
        other.restore(state | change)
    assert other.n_symbols == 0


def test_symbols_are_forgotten_with_the_last_tree_that_holds_them():
    kernel = SubsetTreeKernel()
    dog, cat = kernel.encode(DOG), kernel.encode(CAT)
    assert kernel.n_symbols == 4
    expected = kernel.values([dog], [dog, cat]).tolist()
    del cat
    assert kernel.n_symbols == 3
    for i in range(100):
        other = kernel.encode(("NP", ("D", f"the{i}"), ("N", f"dog{i}")))
        assert kernel.values([other], [dog]) == kernel(("NP", ("D", "x"), ("N", "y")), DOG)
        del other
        kernel.encode(CAT, learn=False)
        assert kernel.n_symbols == 3
    assert kernel.values([dog], [dog, kernel.encode(CAT)]).tolist() == expected
    with pytest.raises(DataError):
        kernel.encode(("S", DOG, 3))
    assert kernel.n_symbols == 3


@given(st.lists(TREES, min_size=2, max_size=6), st.data())
def test_values_do_not_depend_on_what_was_encoded_before(trees, data):
    kernel, other = SubsetTreeKernel(0.3), SubsetTreeKernel(0.3)
    order = data.draw(st.permutations(range(len(trees))))
    passed = [other.encode(tree) for tree in trees[1:]]
    one = [kernel.encode(tree) for tree in trees]
    del passed
    two = {i: other.encode(trees[i]) for i in order}
    two = [two[i] for i in range(len(trees))]
    assert kernel.values(one, one).tobytes() == other.values(two, two).tobytes()


def test_a_tree_whose_scratch_space_is_not_there_is_refused_in_a_sentence(monkeypatch):
    empty, large = np.empty, ("A", "a")
    for _ in range(300):
        large = ("S", large, ("B", "b"))

    def scarce(shape, *args, **kwargs):
        if np.prod(shape) > 10**5:
            raise MemoryError
        return empty(shape, *args, **kwargs)

    engine = Engine("multiclass", classes=[1, 2], plugins=["dual-kernel"], kernel="subset-tree")
    engine.partial_fit(["(S (A a))", "(S (B b))"], [1, 2])
    answers = engine.predict(["(S (A a))"]).tolist()
    monkeypatch.setattr(np, "empty", scarce)
    with pytest.raises(DataError, match=r"X\[1\]: its kernel needs .* GiB of scratch space, more than there is"):
        engine.predict(["(S (A a))", large])
    assert engine.predict(["(S (A a))"]).tolist() == answers
