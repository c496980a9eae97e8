"""A vocabulary numbers names exactly as a dict would, whatever their hashes, and comes back from its arrays."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import named

from structperc.errors import DataError
from structperc.reading.row_builder import Vocabulary, hash_name

NAMES = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), max_size=60)


def numbered(names):
    """The twin: a dict in order of first occurrence."""
    number_of = {}
    for name in names:
        number_of.setdefault(name, len(number_of))
    return number_of


def assert_same(vocabulary, number_of):
    assert len(vocabulary) == len(number_of)
    assert vocabulary.names() == list(number_of)
    for name, number in number_of.items():
        assert vocabulary.find(name) == number
        assert vocabulary.name(number) == name


@given(NAMES, NAMES)
def test_numbers_are_those_of_a_dict(names, others):
    vocabulary, number_of = Vocabulary(), {}
    for name in names:
        assert vocabulary.add(name) == number_of.setdefault(name, len(number_of))
    assert_same(vocabulary, number_of)
    for name in others:
        assert vocabulary.find(name) == number_of.get(name, -1)
    assert len(vocabulary) == len(number_of)        # looking adds nothing


def test_names_of_every_length():
    """Lengths around the words that are hashed and compared; names of one length differ in one byte only."""
    names = []
    for n in range(40):
        names += ["a" * n, *("a" * i + "b" + "a" * (n - i - 1) for i in range(n))]
    assert_same(Vocabulary(names), numbered(names))


def test_unicode_and_unusual_names():
    names = ["", "\0", "\0\0", "a\0", "é", "e\u0301", "\u07ff\u0800\uffff", "\U00010000\U0010ffff", "日本語", "a" * 100_000, " ", "\n"]
    vocabulary = Vocabulary(names)
    assert_same(vocabulary, numbered(names))
    assert vocabulary.state()["text"].tobytes() == "".join(names).encode()


def test_many_names_some_of_whose_tags_are_equal():
    names = [f"feature {i}" for i in range(200_000)]
    assert len({hash_name(name) & 0xFFFFFFFF for name in names}) < len(names)
    vocabulary = Vocabulary(names + names)
    assert len(vocabulary) == len(names)
    assert [vocabulary.find(name) for name in names[::7]] == list(range(len(names)))[::7]
    assert vocabulary.find("feature 200000") == -1


def ascii_twins(n):
    """Pairs of names of 16 ASCII characters with the same hash."""
    pairs, i = [], 0
    while len(pairs) < n:
        first = f"name number {len(pairs):04d}"
        other = named.same_hash(first.encode(), f"{i:08d}".encode())
        if max(other) < 128 and other != first.encode():
            pairs.append((first, other.decode()))
        i += 1
    return pairs


def test_names_with_equal_hashes_are_told_apart():
    pairs = ascii_twins(5)
    vocabulary = Vocabulary(first for first, _ in pairs)
    for first, other in pairs:
        assert hash_name(first) == hash_name(other)
        assert vocabulary.find(other) == -1
    both = [name for pair in pairs for name in pair]
    assert_same(Vocabulary(both), numbered(both))


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_the_hash_is_that_of_the_twin(name):
    assert hash_name(name) == named.hash_of(name.encode())


def test_the_hash_never_changes():
    """Models with hashed features depend on it."""
    expected = {
        "": 0,
        "a": 4333905153409678654,
        "ab": 16897089521791591641,
        "abc": 6757664406003870824,
        "abcd": 7954917414306311569,
        "abcdefg": 18027550448955811052,
        "abcdefgh": 7880953748429921300,
        "abcdefghi": 17285250595715810844,
        "abcdefghijklmnop": 15283537465723458490,
        "abcdefghijklmnopq": 17866162882130378199,
        "é\U0001f600" * 9: 2884178085102489787,
    }
    assert {name: hash_name(name) for name in expected} == expected


def test_hashes_are_spread_evenly():
    """Names that differ little fall into 256 columns, and take either sign, as evenly as chance has it."""
    hashes = np.array([hash_name(f"w[{i % 5 - 2}]=word{i // 5}") for i in range(25_600)], dtype=np.uint64)
    for part in (hashes & np.uint64(255), hashes >> np.uint64(56)):
        counts = np.bincount(part.astype(int), minlength=256)
        assert ((counts - 100) ** 2 / 100).sum() < 360      # chi-square, 255 degrees of freedom: one in 10^5


@given(NAMES)
def test_saved_and_restored(names):
    vocabulary = Vocabulary(names)
    for other in (Vocabulary.restored(vocabulary.state()), pickle.loads(pickle.dumps(vocabulary))):
        assert_same(other, numbered(names))
        assert other.add("one more \U0001f600") == numbered([*names, "one more \U0001f600"])["one more \U0001f600"]
    assert_same(vocabulary, numbered(names))


@given(NAMES, st.data())
def test_only_some_names(names, data):
    vocabulary = Vocabulary(names)
    keep = data.draw(st.lists(st.booleans(), min_size=len(vocabulary), max_size=len(vocabulary)))
    kept = [name for name, kept in zip(vocabulary.names(), keep, strict=True) if kept]
    assert vocabulary.only(np.array(keep, dtype=bool)).names() == kept
    with pytest.raises(ValueError, match="marks for"):
        vocabulary.only(np.ones(len(vocabulary) + 1, dtype=bool))


def state(text, ends):
    return {"text": np.frombuffer(text, dtype=np.uint8), "ends": np.array(ends, dtype=np.int64)}


@pytest.mark.parametrize(("saved", "message"), [
    ({}, "the saved state has no 'text'"),
    ({"text": np.zeros(3, dtype=np.uint8)}, "the saved state has no 'ends'"),
    (state(b"ab", [1, 2]) | {"ends": np.array([1.0, 2.0])}, "'ends' is float64 of"),
    (state(b"ab", [1, 2]) | {"text": np.array(["a", "b"])}, "'text' is <U1 of"),
    (state(b"ab", [1, 3]), "name 1 ends at 3; expected 1 to 2"),
    (state(b"ab", [2, 1]), "name 1 ends at 1; expected 2 to 2"),
    (state(b"ab", [-1]), "name 0 ends at -1"),
    (state(b"ab", [1]), "end at 1 of 2 bytes"),
    (state(b"ab", []), "end at 0 of 2 bytes"),
    (state(b"aba", [1, 2, 3]), "name 2 occurs twice"),
    (state(b"a\xff", [1, 2]), "no UTF-8 text"),
    (state("é".encode(), [1, 2]), "name 0 is no UTF-8 text"),
    (state(b"\xed\xa0\x80", [3]), "no UTF-8 text"),
])  # fmt: skip
def test_damaged_states(saved, message):
    with pytest.raises(DataError, match=message):
        Vocabulary.restored(saved)


def test_states_are_copies():
    vocabulary = Vocabulary(["the", "dog"])
    saved = vocabulary.state()
    restored = Vocabulary.restored(saved)
    saved["text"][:] = 0
    saved["ends"][:] = 0
    assert vocabulary.names() == restored.names() == ["the", "dog"]


def test_refusals():
    vocabulary = Vocabulary(["the"])
    for number in (-1, 1, 100):
        with pytest.raises(IndexError, match=f"name {number} of 1"):
            vocabulary.name(number)
    for call in (vocabulary.add, vocabulary.find, hash_name):
        with pytest.raises(DataError, match=r"'a\\ud800' contains half of a surrogate pair \(0xd800\)"):
            call("a\ud800")
    with pytest.raises(DataError, match="name of 16777216 bytes is too long"):
        vocabulary.add("a" * 2**24)
    assert vocabulary.add("a" * (2**24 - 1)) == 1
    for wrong in (None, 3, b"the"):
        with pytest.raises(TypeError):
            vocabulary.add(wrong)
    assert len(vocabulary) == 2
