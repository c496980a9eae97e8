"""Tests of named features: the rows equal those of a twin, matrices pass unchanged, and errors name the faulty token."""

import copy
import pickle
import sys
from collections import Counter, OrderedDict, defaultdict, namedtuple
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given
from hypothesis import strategies as st
from reference import named

from structperc.errors import DataError, OptionError
from structperc.reading import matrices as data
from structperc.reading.named import NamedReader
from structperc.reading.readers import Reader

SINGLE_TOKENS = pytest.mark.filterwarnings("ignore:each row of X is a sentence of one token")      # intended for matrices
WORDS = [[["the", "first"], ["dog"]], [["the"], [], ["dog", "last", "the"]]]


def learned(X, **options):
    """A reader, and its rows in the form of the twin."""
    reader = NamedReader(**options)
    return reader, named.rows_of(reader.learn(X).X)


def rows_of(token):
    """The features of one token, a dict from names to values."""
    reader, rows = learned([[token, ["at least one"]]])
    return {reader.feature_name(column): value for column, value in rows[0].items()}


# ---- the meaning of tokens ----


@pytest.mark.parametrize(("token", "features"), [
    ({"k": 1.5, "f": -2}, {"k": 1.5, "f": -2}),
    ({"k": True, "f": False}, {"k": 1}),
    ({"k": 0, "f": 0.0, "g": -0.0}, {}),
    ({"k": "v", "f": "", "": "v"}, {"k:v": 1, "f:": 1, ":v": 1}),
    ({"k": "a:b"}, {"k:a:b": 1}),
    ({"k": ["a", "b"], "f": []}, {"k:a": 1, "k:b": 1}),
    ({"k": {"a", "b"}, "f": ("a",), "g": frozenset("a")}, {"k:a": 1, "k:b": 1, "f:a": 1, "g:a": 1}),
    ({"k": {"a": 1, "b": "x", "c": {"d": True, "e": ["y"], "": 2}}, "f": {}}, {"k:a": 1, "k:b:x": 1, "k:c:d": 1, "k:c:e:y": 1, "k:c:": 2}),
    ({"": {"": {"": 1}}}, {"::": 1}),
    (["a", "b"], {"a": 1, "b": 1}),
    (["a", "b", "a"], {"a": 2, "b": 1}),
    (("a", ""), {"a": 1, "": 1}),
    ({"b", "a"}, {"a": 1, "b": 1}),
    (frozenset(["b", "a"]), {"a": 1, "b": 1}),
    ([], {}),
    ({}, {}),
    (set(), {}),
    ({"k:v": 1, "k": "v"}, {"k:v": 2}),
    ({"k:v": -1, "k": "v"}, {}),
    ({"a": Fraction(1, 2), "b": np.float32(1.5), "c": np.int64(3), "d": np.bool_(True), "e": np.float64(0.25), "f": np.array(7)},
     {"a": 0.5, "b": 1.5, "c": 3, "d": 1, "e": 0.25, "f": 7}),
    ({np.str_("k"): np.str_("v")}, {"k:v": 1}),
    ([np.str_("é"), np.str_("e")], {"é": 1, "e": 1}),
    (OrderedDict(a=1), {"a": 1}),
    (defaultdict(list, a=["x"]), {"a:x": 1}),
    (Counter("aab"), {"a": 2, "b": 1}),
    (namedtuple("Token", "word tag")("the", "DT"), {"the": 1, "DT": 1}),
])  # fmt: skip
def test_tokens_mean_what_they_mean_to_python_crfsuite(token, features):
    """These values were compared with ItemSequence of python-crfsuite, which keeps zeros, for all tokens that it accepts."""
    assert rows_of(token) == features


def test_kinds_of_tokens_can_be_mixed():
    _, rows = learned([[{"a": "x", "b": 2}, ["a:x"], {"b"}], ((), ("b", "c"))])
    assert rows == [{0: 1, 1: 2}, {0: 1}, {1: 1}, {}, {1: 1, 2: 1}]


def test_columns_are_numbered_by_first_occurrence_and_sets_are_visited_in_order():
    names = [f"name {i}" for i in range(100)]
    reader, _ = learned([[["z", "a", "z"], {"c": 1, "b": 1}, set(names), {"k": set(names)}]])
    assert reader.vocabulary.names() == ["z", "a", "c", "b", *sorted(names), *sorted(f"k:{name}" for name in names)]
    assert [reader.feature_name(j) for j in range(3)] == ["z", "a", "c"]


# ---- against the twin ----

NAME = st.one_of(st.sampled_from(["", "a", "b", "word", "é", "k:a"]), st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
STRINGS = st.lists(NAME, max_size=5)
COLLECTION = st.one_of(STRINGS, STRINGS.map(tuple), STRINGS.map(set), STRINGS.map(frozenset))
NUMBER = st.one_of(st.booleans(), st.integers(-3, 3), st.integers(-(2**60), 2**60), st.sampled_from([0.5, 0.1, 1e-300, 1e300, 2.0**-149]),
                   st.floats(-1e6, 1e6, width=32))
DICT = st.recursive(st.dictionaries(NAME, st.one_of(NUMBER, NAME, COLLECTION), max_size=4),
                    lambda inner: st.dictionaries(NAME, st.one_of(inner, NUMBER), max_size=3), max_leaves=4)
SENTENCES = st.lists(st.lists(st.one_of(COLLECTION, DICT), max_size=5), max_size=5)


def with_one_feature(sentences):
    return [*sentences, [["word"]]]


@given(SENTENCES.map(with_one_feature), SENTENCES.map(with_one_feature))
def test_vocabulary_like_the_twin(X, later):
    twin = named.Columns()
    before = copy.deepcopy((X, later))
    reader, rows = learned(X)
    assert rows == twin.rows(X)
    assert reader.vocabulary.names() == list(twin.column_of)
    assert reader.n_features == len(twin.column_of)
    for again in (X, later, X):
        assert named.rows_of(reader.read(again).X) == twin.rows(again)
    assert (X, later) == before


@given(SENTENCES.map(with_one_feature), SENTENCES.map(with_one_feature), st.sampled_from([1, 2, 7, 1000, 2**31 - 1, 2**31, 2**40]))
def test_hashing_like_the_twin(X, later, n_hashed):
    twin = named.Columns(n_hashed)
    reader, rows = learned(X, n_hashed=n_hashed)
    expected = twin.rows(X)
    assert rows == expected
    assert reader.n_features == n_hashed
    assert reader.vocabulary is None
    for again in (later, X):
        read = reader.read(again).X
        assert named.rows_of(read) == twin.rows(again)
        assert read.shape[1] == n_hashed
        assert read.indices.dtype == read.indptr.dtype == (np.int32 if n_hashed < 2**31 else np.int64)


@given(SENTENCES.map(with_one_feature), st.integers(2, 4))
def test_rare_features_like_the_twin(X, min_count):
    twin = named.Columns()
    rows = twin.keep(twin.rows(X), min_count)
    if not any(rows):
        with pytest.raises(DataError, match=f"no feature of X occurs in min_count={min_count} tokens; lower min_count"):
            learned(X, min_count=min_count)
        return
    reader, found = learned(X, min_count=min_count)
    assert found == rows
    assert reader.vocabulary.names() == list(twin.column_of)
    assert named.rows_of(reader.read(X).X) == rows


def test_tokens_of_every_size():
    """Sizes near the limits for joint writing of rows, for another sorting method, and for more memory."""
    rng = np.random.default_rng(0)
    X = [[[f"f{j}" for j in rng.permutation(400)[:n]] for n in range(140)],
         [[f"f{j}" for j in rng.permutation(400)[:n]] for n in rng.integers(0, 4, 200)],
         [{f"f{j}": float(j % 5) for j in rng.permutation(400)[:n]} for n in range(0, 300, 7)],
         [[f"f{j}" for j in rng.integers(0, n, n)] for n in range(1, 100)],
         [[f"g{j % 3000}" for j in range(20_000)]]]
    twin = named.Columns()
    reader, rows = learned(X)
    assert rows == twin.rows(X)
    for sentence in X:
        unknown = [[*token, "unknown"] if isinstance(token, list) else {**token, "unknown": 1} for token in sentence]
        assert named.rows_of(reader.read([unknown]).X) == twin.rows([sentence])


def test_a_vocabulary_that_grows_a_lot():
    X = [[[f"word={i}", f"tag={i % 40}", f"pair={i // 3}/{i % 3}"] for i in range(start, start + 100)] for start in range(0, 15_000, 100)]
    twin = named.Columns()
    reader, rows = learned(X)
    assert rows == twin.rows(X)
    assert named.rows_of(reader.read(X[::-1]).X) == twin.rows(X[::-1])


# ---- the rows ----


def test_rows_and_offsets():
    rows = NamedReader().learn([[], *WORDS, []])
    assert rows.offsets.tolist() == [0, 0, 2, 5, 5]
    assert rows.offsets.dtype == np.int64
    assert rows.X.shape == (5, 4)
    assert (rows.n_examples, rows.n_rows, rows.n_features, rows.sparse) == (4, 5, 4, True)
    assert rows.X.has_canonical_format
    assert rows.X.indices.dtype == rows.X.indptr.dtype == np.int32


@pytest.mark.parametrize(("values", "kind"), [
    ([1, 2.5, 2**24, True], np.float32),
    ([1, 0.1], np.float64),
    ([2**24 + 1], np.float64),
    ([1e300], np.float64),
    ([0.1, 0.5, 0.2], np.float64),
    ([2.0**-149], np.float32),
    ([2.0**-150], np.float64),
])  # fmt: skip
def test_values_are_float32_where_that_is_exact(values, kind):
    X = [[{f"f{i}": value} for i, value in enumerate(values)], [["f0"]]]
    for options in ({}, {"n_hashed": 50}):
        rows = NamedReader(**options).learn(X).X
        assert rows.dtype == kind
        assert np.abs(rows.sum(axis=1)).ravel().tolist() == [*values, 1]


def test_sums_that_float32_cannot_hold():
    rows = NamedReader().learn([[{"k": 2**24, "a": {"": 1}, "": {"k": 1}}, {"a:x": 2**24, "a": "x"}]]).X
    assert rows.dtype == np.float64
    assert rows.toarray()[1].max() == 2**24 + 1


def test_arrays_are_no_longer_than_needed():
    reader = NamedReader()
    assert reader.learn([[{"a": 1, "b": 0}, ["a", "a"]]]).X.data.shape == (2,)
    rows = reader.read([[["a", "new", "newer"]]]).X
    assert rows.data.shape == rows.indices.shape == (1,)
    assert rows.data.base is None or rows.data.base.shape == (1,)


def test_strings_are_left_as_they_were():
    """The usual call for UTF-8 caches it inside the string, which would nearly double the memory of a corpus."""
    token = ["é" * 20, "日本" * 10, "a" * 20, {"é" * 9: "ü" * 9}]
    strings = [*token[:3], *token[3], *token[3].values()]
    sizes, counts = [sys.getsizeof(text) for text in strings], [sys.getrefcount(text) for text in token]
    reader = NamedReader()
    reader.learn([[token[:3], token[3]]])
    reader.read([[token[:3], token[3]]])
    NamedReader(template="%x[0,0]%x[0,1]%x[0,2]").learn([[token[:3]]])
    assert [sys.getsizeof(text) for text in strings] == sizes
    assert [sys.getrefcount(text) for text in token] == counts


# ---- learning and reading ----


def test_unknown_features_are_dropped():
    reader, _ = learned(WORDS)
    assert reader.read([[["cat", "dog"], {"cat": 3, "dog": 0}, ["the", "cat"]], []]).X.toarray().tolist() == [
        [0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0],
    ]  # fmt: skip
    assert len(reader.vocabulary) == 4


@SINGLE_TOKENS
def test_one_sentence():
    reader, rows = learned(WORDS)
    assert named.rows_of(reader.read_one(WORDS[0]).X) == rows[:2]
    reader.learn(np.ones((2, 3)))
    assert reader.read_one(np.ones(3)).X.tolist() == [[1, 1, 1]]


def test_sentences_without_features():
    for options in ({}, {"n_hashed": 5}, {"template": "%x[0,0]"}):
        reader = NamedReader(**options)
        reader.learn([[["the"]]])
        rows = reader.read([[], []])
        assert rows.X.shape == (0, reader.n_features)
        assert rows.offsets.tolist() == [0, 0, 0]
    reader, _ = learned(WORDS)
    assert reader.read([[[], []], []]).X.shape == (2, 4)
    assert reader.read(((),)).n_examples == 1


@pytest.mark.parametrize("X", [[[{}]], [[], [{}], [{"a": 0}]], [[{"a": []}, {"b": {}}]], [[set()]]])
@pytest.mark.parametrize("options", [{}, {"n_hashed": 5}])
def test_nothing_to_learn(X, options):
    with pytest.raises(DataError, match="no token of X has a feature .*, so there is nothing to learn from"):
        NamedReader(**options).learn(X)


def state_of(reader):
    return {key: value.tolist() for key, value in reader.state().items()}


@pytest.mark.parametrize("wrong", [[[["a"]], [[None]]], [[{"a": None}]], [["the"]], np.array([["x"]]), [[["a"]], 5]])
def test_a_failure_changes_nothing(wrong):
    reader, _ = learned(WORDS)
    before, names = state_of(reader), reader.vocabulary
    for call in (reader.learn, reader.read):
        with pytest.raises(DataError):
            call(wrong)
        assert state_of(reader) == before
        assert reader.vocabulary is names


@SINGLE_TOKENS
def test_learning_again_begins_anew():
    reader, _ = learned(WORDS)
    reader.learn([[["x", "dog"]]])
    assert reader.vocabulary.names() == ["x", "dog"]
    reader.learn(np.ones((2, 3)))
    assert (reader.n_features, reader.vocabulary, reader.feature_name(0)) == (3, None, None)
    reader.learn(WORDS)
    assert reader.n_features == 4


@pytest.mark.parametrize("options", [{}, {"n_hashed": 9}, {"min_count": 2}, {"template": "%x[0,a]", "columns": ["a", "b"]}])
def test_fresh_pickled_saved_and_restored(options):
    X = [[("x", "é"), ("x", "z"), ("é", "x")]]
    reader = NamedReader(**options)
    assert reader.state() == {}
    rows = named.rows_of(reader.learn(X).X)
    restored = reader.clone()
    assert restored.n_features is None and restored.state() == {}
    with pytest.raises(DataError, match="has learned from no data yet; call learn first"):
        restored.read(X)
    assert all(isinstance(value, np.ndarray) and value.dtype != object for value in reader.state().values())
    restored.restore(reader.state())
    for other in (reader, restored, pickle.loads(pickle.dumps(reader)), copy.deepcopy(reader)):
        assert named.rows_of(other.read(X).X) == rows
        assert other.n_features == reader.n_features
        assert state_of(other) == state_of(reader)
        assert [other.feature_name(j) for j in range(other.n_features)] == [reader.feature_name(j) for j in range(other.n_features)]
    restored.restore({})
    assert restored.n_features is None
    with pytest.raises(DataError, match="no data yet"):
        restored.read(X)


@pytest.mark.parametrize(("options", "change", "message"), [
    ({}, {"n_features": np.array(5)}, "has 5 columns; expected 2"),
    ({}, {"ends": np.array([1, 1])}, "end"),
    ({"n_hashed": 9}, {"n_features": np.array(8)}, "has 8 columns; expected 9"),
    ({"template": "%x[0,1]"}, {"n_columns": np.array(1)}, "tokens have 1 column, but line 1"),
])  # fmt: skip
def test_damaged_states(options, change, message):
    reader = NamedReader(**options)
    reader.learn([[("x", "y")]])
    other = reader.clone()
    with pytest.raises(DataError, match=message):
        other.restore(reader.state() | change)
    assert other.state() == {}


def test_hashed_columns_never_change():
    """Models with hashed features depend on these columns."""
    reader, rows = learned([[["bias", "word=the", "word=dog"], {"len": 2.5, "shape": "Aa"}]], n_hashed=1000)
    assert rows == [{164: -1.0, 196: 1.0, 830: 1.0}, {819: -2.5, 925: 1.0}]
    assert reader.feature_name(17) == "hash 17"


def test_feature_names():
    reader, _ = learned(WORDS)
    assert reader.feature_name(np.int64(3)) == "last"
    for j in (-1, 4):
        with pytest.raises(IndexError, match=f"column {j} of 4"):
            reader.feature_name(j)
    assert Reader().feature_name(0) is None


# ---- matrices ----


def matrices():
    dense = np.arange(6.0).reshape(3, 2)
    return [
        (dense, None), (dense, [0, 1, 3]), (dense.astype(np.float32), None), (sparse.csr_array(dense), [0, 3]), ([dense, dense[:1]], None),
        ([sparse.csr_array(dense), sparse.csr_array(dense)], None), (dense.tolist(), None), ([[1, 2], [3, 4]], None),
    ]  # fmt: skip


@SINGLE_TOKENS
@pytest.mark.parametrize("case", range(len(matrices())))
def test_matrices_are_read_as_ever(case):
    X, offsets = matrices()[case]
    expected = data.read(X, offsets)
    reader = NamedReader()
    for call in (Reader().learn, Reader().read, reader.learn, reader.read):
        rows = call(X, offsets)
        assert type(rows.X) is type(expected.X)
        assert np.array_equal(sparse.csr_array(rows.X).toarray(), sparse.csr_array(expected.X).toarray())
        assert (rows.offsets is None) == (expected.offsets is None)
        if expected.offsets is not None:
            assert rows.offsets.tolist() == expected.offsets.tolist()
    assert reader.n_features == expected.n_features
    other = reader.clone()
    other.restore(reader.state())
    assert other.n_features == expected.n_features
    for both in (reader, other):
        with pytest.raises(DataError, match=r"X \(list\) holds sentences of tokens with named features, but .* trained on no tokens with"):
            both.read(WORDS)


def test_matrices_after_names():
    reader, _ = learned(WORDS)
    for X, _ in matrices():
        with pytest.raises(DataError, match=rf"X \({type(X).__name__}\) holds no tokens with named features, but .* trained on sentences"):
            reader.read(X)


@SINGLE_TOKENS
def test_arrays_of_sentences():
    """Object arrays: numpy makes them from sentences of equal length, pandas from a column of lists."""
    ragged = np.empty(2, dtype=object)
    ragged[:] = WORDS
    reader, rows = learned(WORDS)
    assert learned(ragged)[1] == rows == named.rows_of(reader.read(ragged).X)
    square = [[{"a": 1}, {"b": 1}], [{"c": 1}, {"a": 1}]]
    assert learned(np.array(square, dtype=object))[1] == learned(square)[1]
    blocks = np.empty(2, dtype=object)
    blocks[:] = [np.ones((2, 3)), np.zeros((1, 3))]
    assert NamedReader().learn(blocks).offsets.tolist() == [0, 2, 3]
    numbers = NamedReader().learn(np.ones((2, 3)).astype(object))
    assert numbers.X.tolist() == np.ones((2, 3)).tolist() and numbers.offsets is None


def test_options_without_effect_on_matrices():
    with pytest.raises(OptionError, match=r"n_hashed=5 has no effect, as X \(ndarray\) holds no tokens with named features"):
        NamedReader(n_hashed=5).learn(np.ones((2, 2)))
    with pytest.raises(OptionError, match="min_count=3 has no effect"):
        NamedReader(min_count=3).learn(np.ones((2, 2)))
    with pytest.raises(DataError, match="X is of type ndarray. With a template it must be a list of sentences"):
        NamedReader(template="%x[0,0]").learn(np.ones((2, 2)), offsets=[0, 2])


# ---- errors ----


class Wrong:
    def __repr__(self):
        return "<wrong>"


@pytest.mark.parametrize(("X", "message"), [
    ([[["a"]], [["a"], {"len": None}]], r"^X\[1\]\[1\]: the feature 'len' is None; expected a number, bool or string, a dict, list"),
    ([[{"a": {"b": Wrong()}}]], r"^X\[0\]\[0\]: the feature 'a:b' is <wrong>; expected a number"),
    ([[{"a": b"x"}]], r"the feature 'a' is b'x'; expected a number"),
    ([[{"a": 1j}]], "the feature 'a' is 1j"),
    ([[{"a": 10**400}]], "the feature 'a' is 1000"),
    ([[{"é": float("nan")}]], "the feature 'é' is nan; expected a finite number"),
    ([[{"a": {"": -float("inf")}}]], "the feature 'a:' is -inf; expected a finite number"),
    ([[{"a": np.float32("nan")}]], "the feature 'a' is .*nan.*; expected a finite number"),
    ([[{"a": ["x", 1]}]], r"^X\[0\]\[0\]: a feature is named 1 of type int; expected a string"),
    ([[{"a": [{"b": 1}]}]], "a feature is named {'b': 1} of type dict"),
    ([[{"a": {1}}]], "a feature is named 1 of type int"),
    ([[{1: 1}]], "a feature is named 1 of type int"),
    ([[{b"a": 1}]], "a feature is named b'a' of type bytes"),
    ([[["a", None]]], "a feature is named None of type NoneType"),
    ([[{"a", 1}]], "a feature is named 1 of type int"),
    ([[[["a"]]]], r"a feature is named \['a'\] of type list"),
    ([[["a"], "the"]], r"^X\[0\]\[1\]: the token is 'the' of type str; expected a dict of features, or a list, tuple, set or"),
    ([["the", "dog"]], r"^X\[0\]\[0\]: the token is 'the' of type str; expected .*, such as \['the'\]; or pass columns=\['word'\]\.$"),
    ([[["a"], 5]], r"X\[0\]\[1\]: the token is 5 of type int"),
    ([[["a"], None]], "the token is None"),
    ([[["a"]], "the dog"], r"^X\[1\]: the sentence is 'the dog' of type str; expected a list of tokens"),
    (["the dog"], r"^X\[0\]: the sentence is 'the dog'"),
    ([{"a": 1}], r"^X\[0\]: the sentence is {'a': 1} of type dict; .* so pass \[X\] for a single one\.$"),
    ([[["a"]], None], r"^X\[1\]: the sentence is None"),
    ([[["a"]], [["\ud800x"]]], r"^X\[1\]\[0\]: the text '\\ud800x' contains half of a surrogate pair \(0xd800\)"),
    ([[{"a": "\udfff"}]], r"half of a surrogate pair \(0xdfff\)"),
    ([[{"k": 1e308, "": {"": 1}}, {"k:x": 1.7e308, "k": {"x": 1.7e308}}]], r"^X\[0\]\[1\]: the values of the feature 'k:x' add up to inf"),
])  # fmt: skip
def test_what_cannot_be_read_is_named(X, message):
    reader, _ = learned(WORDS)
    for call in (NamedReader().learn, NamedReader(n_hashed=7).learn):
        with pytest.raises(DataError, match=message.replace("feature 'k:x' add", "feature .* add")):
            call(X)
    if "add up" not in message:         # values of unknown features are not added
        with pytest.raises(DataError, match=message):
            reader.read(X)
    if isinstance(X[0], list):          # the faulty token comes after tokens that are not written yet
        with pytest.raises(DataError, match=rf"^X\[{len(X) + 6}\]" if message.startswith(r"^X\[1\]") else r"^X\[\d\]"):
            NamedReader().learn([[["f", f"g{i}"] for i in range(100)] for _ in range(7)] + X)


def test_the_place_of_an_error_after_a_token_that_was_summed():
    X = [[["a", "a"], ["b"], {"c": None}]]
    with pytest.raises(DataError, match=r"^X\[0\]\[2\]: the feature 'c' is None"):
        NamedReader().learn(X)


def test_dictionaries_within_themselves():
    token = {}
    token["a"] = token
    with pytest.raises(DataError, match=r"^X\[0\]\[0\]: dictionaries of features are nested more than 100 deep"):
        NamedReader().learn([[token]])


def test_values_whose_code_changes_x():
    class Emptying(float):
        def __float__(self):
            sentence.clear()
            return 1.0

    class Shrinking:
        def __float__(self):
            sentence[1:] = []
            return 1.0

    class Growing:
        def __float__(self):
            sentence[2].extend(f"c{i}" for i in range(1000))
            return 1.0

    for kind in (Shrinking, Growing):
        sentence = [["a" + "b"] * 3, {"f": kind()}, ["x"], ["y"]]
        with pytest.raises(DataError, match="X was changed while it was read"):
            NamedReader().learn([sentence])
    sentence = [["a"], {"f": Emptying(2)}, ["x"]]
    assert NamedReader().learn([sentence]).X.shape == (3, 3)       # subclasses of float are read without `__float__`


def test_values_whose_code_takes_sentences_out():
    class Emptying:
        def __float__(self):
            X.clear()
            return 1.0

    X = [[{"a": Emptying()}], *([[f"b{i}"]] for i in range(1000))]
    assert NamedReader().learn(X).X.shape == (1001, 1001)


@pytest.mark.parametrize("template", [None, "%x[0,0]"])
def test_lengths_that_are_not_true(template):
    """The reader does not use `__len__` of subclasses of str, list and tuple."""

    class Text(str):
        def __len__(self):
            return 0

    class Sentence(list):
        def __len__(self):
            return 1

    class Token(tuple):
        def __len__(self):
            return 1

    long = "é" * 100_000
    reader, rows = learned([[(Text(long),), ("b",)]], template=template)
    assert reader.vocabulary.names() == [long, "b"] and len(rows) == 2
    with pytest.raises(DataError, match="column|changed"):
        NamedReader(template=template).learn([[Token(str(i) for i in range(1000))] * 1000])
    if template:
        assert NamedReader(template=template).learn([Sentence([("a",)] * 100_000), [("b",)]]).X.shape == (100_001, 2)
    else:
        with pytest.raises(DataError, match="X was changed while it was read"):
            NamedReader().learn([Sentence([("a",)] * 100_000)])


def test_errors_of_the_values_own_code_are_passed_on():
    class Failing:
        def __float__(self):
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        NamedReader().learn([[{"a": Failing()}]])


def test_other_refusals():
    reader, _ = learned(WORDS)
    for call in (reader.learn, reader.read):
        with pytest.raises(DataError, match="offsets was given, but X is a list of sentences already; pass one or the other"):
            call(WORDS, offsets=[0, 5])
        with pytest.raises(DataError, match=r"X is a generator, which can be read only once; pass list\(X\)"):
            call(sentence for sentence in WORDS)
    for call in (reader.learn, reader.read):
        with pytest.raises(DataError, match="X is empty; expected at least one sentence"):
            call([])
    with pytest.raises(DataError, match="no token of X has a feature"):
        NamedReader().learn([[], [[]]])


@pytest.mark.parametrize(("options", "message"), [
    ({"n_hashed": 0}, "n_hashed is 0; expected a whole number from 1 to 1099511627776"),
    ({"n_hashed": 2**40 + 1}, "n_hashed is 1099511627777"),
    ({"n_hashed": 10.0}, "n_hashed is 10.0"),
    ({"n_hashed": True}, "n_hashed is True"),
    ({"n_hashed": "5"}, "n_hashed is '5'"),
    ({"min_count": 0}, "min_count is 0; expected a whole number from 1"),
    ({"min_count": None}, "min_count is None"),
    ({"n_hashed": 5, "min_count": 2}, "min_count=2 has no effect with n_hashed=5"),
    ({"columns": "ab"}, "columns is 'ab'; expected a list of names"),
    ({"template": "U:%x[0,1]", "columns": ["a"]}, "reads column 1, which does not exist; columns are counted from 0, and there are 1"),
])  # fmt: skip
def test_options_that_cannot_be(options, message):
    with pytest.raises(OptionError, match=message):
        NamedReader(**options)


def test_columns_without_a_template_are_features():
    reader = NamedReader(columns=["word", "tag"])
    expected = NamedReader().learn([[{"word": "a", "tag": "x"}, {"word": "b", "tag": "x"}]])
    for tokens in ([("a", "x"), ["b", "x"]], [{"word": "a", "tag": "x", "more": "z"}, {"tag": "x", "word": "b"}]):
        rows = reader.learn([tokens])
        assert reader.vocabulary.names() == ["word:a", "tag:x", "word:b"] and rows.X.toarray().tolist() == expected.X.toarray().tolist()
    words = NamedReader(columns=["word"])
    words.learn([["a", "b"], []])
    assert words.vocabulary.names() == ["word:a", "word:b"] and words.read([[("b",), "a"]]).X.toarray().tolist() == [[0, 1], [1, 0]]
    for token in ("a", ("a",), {"word": "a"}, 3):
        with pytest.raises(DataError, match=r"X\[0\]\[1\] is .*; expected a token with the columns word, tag"):
            reader.learn([[("a", "x"), token]])
    with pytest.raises(OptionError, match="columns=.* has no effect, as X .ndarray. holds no tokens with named features"):
        reader.learn(np.ones((2, 2)), [0, 2])


class Growing:
    """A value whose conversion to float adds an entry to its dict."""

    def __init__(self, token):
        self.token = token

    def __float__(self):
        self.token[f"another {len(self.token)}"] = 1.0
        return 1.0


def test_a_token_that_changes_while_it_is_read_is_named():
    token = {"word": "dog"}
    token["value"] = Growing(token)
    with pytest.raises(DataError, match=r"X\[1\]\[0\]: X was changed while it was read"):
        NamedReader().learn([[{"a": 1}], [token]])


def test_an_error_of_a_values_own_code_is_raised_as_it_is():
    class Broken:
        def __float__(self):
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        NamedReader().learn([[{"a": Broken()}]])


def test_names_and_tokens_without_any_character_are_read():
    reader = NamedReader()
    assert reader.learn([[[""], []]]).X.toarray().tolist() == [[1], [0]] and reader.feature_name(0) == ""
    assert NamedReader(n_hashed=2**33).learn([[[], ["a"]]]).X.nnz == 1
