"""Tests of the string kernel against all subsequences, input formats, rejected strings, and saved states."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import fragments
from structperc_kernels.object_kernels import SubsequenceKernel

from structperc.errors import DataError, OptionError

STRINGS = st.one_of(st.text("abc", max_size=7), st.lists(st.sampled_from(["the", "dog", 3, None, (1, 2)]), max_size=7))


@given(STRINGS, STRINGS, st.integers(1, 4))
def test_common_subsequences_are_counted(a, b, length):
    assert SubsequenceKernel(length, 1, normalise=False)(a, b) == fragments.string_kernel(a, b, length, 1)
    assert SubsequenceKernel(length, 0.5, normalise=False)(a, b) == fragments.string_kernel(a, b, length, 0.5)


@given(STRINGS, STRINGS, st.integers(1, 4), st.floats(0.01, 1))
def test_gaps_weigh_less(a, b, length, decay):
    assert SubsequenceKernel(length, decay, normalise=False)(a, b) == pytest.approx(fragments.string_kernel(a, b, length, decay), rel=1e-12)
    expected = fragments.normalised(fragments.string_kernel, a, b, length, decay)
    assert SubsequenceKernel(length, decay)(a, b) == pytest.approx(expected, rel=1e-12)


@given(st.lists(STRINGS, min_size=1, max_size=8), st.integers(1, 3), st.booleans())
def test_grams_are_symmetric_and_positive_semidefinite(strings, length, normalise):
    kernel = SubsequenceKernel(length, normalise=normalise)
    encoded = [kernel.encode(string) for string in strings]
    found = kernel.values(encoded, encoded)
    assert (found == found.T).all()
    assert np.linalg.eigvalsh(found).min() >= -1e-10 * max(1, found.max())
    if normalise:
        assert found.diagonal().tolist() == [float(len(string) >= length) for string in strings]


def test_the_words_of_lodhi():
    """The table of Lodhi et al. for cat, car, bat, bar and length 2: K(cat, car) = decay^4, K(cat, cat) = 2 decay^4 + decay^6."""
    decay = 0.25
    plain = SubsequenceKernel(2, decay, normalise=False)
    assert plain("cat", "car") == decay**4
    assert plain("cat", "cat") == 2 * decay**4 + decay**6
    assert plain("car", "bat") == 0
    assert SubsequenceKernel(2, decay)("cat", "car") == pytest.approx(1 / (2 + decay**2), rel=1e-14)


def test_short_strings_have_nothing_in_common():
    for kernel in (SubsequenceKernel(3), SubsequenceKernel(3, normalise=False)):
        assert kernel("ab", "ab") == kernel("ab", "abc") == kernel("", "abc") == kernel([], []) == 0


def test_defaults():
    assert repr(SubsequenceKernel()) == "SubsequenceKernel(length=3, decay=0.5, normalise=True)"


def test_all_ways_to_write_a_string():
    kernel = SubsequenceKernel(2)
    assert kernel("the dog", list("the dog")) == 1
    assert kernel(np.array([3, 1, 2]), (3, 1, 2)) == 1
    assert kernel(["1", "2"], [1, 2]) == 0


@pytest.mark.parametrize("string, message", [
    (3, "3 is no string; expected a str"), (None, "None is no string"), (b"ab", "is no string"), ({"a": 1}, "is no string"),
    (np.zeros((2, 2)), "is no string"), (["a", ["b"]], "symbol 1 is \\['b'\\] of list, which cannot be hashed"),
])
def test_what_is_no_string_is_refused(string, message):
    with pytest.raises(DataError, match=message):
        SubsequenceKernel().encode(string)


@pytest.mark.parametrize("options, message", [
    ({"length": 0}, "length=0"), ({"length": 2.0}, "length=2.0"), ({"length": True}, "length=True"), ({"decay": 0}, "decay=0"),
    ({"decay": 1.01}, "decay=1.01"), ({"normalise": None}, "normalise=None"),
])
def test_options_that_cannot_be_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        SubsequenceKernel(**options)


def test_values_beyond_floating_point_are_refused():
    with pytest.raises(DataError, match="raise the decay"):
        SubsequenceKernel(length=100, decay=0.01).encode("a" * 100)
    with pytest.raises(DataError, match="lower the decay"):
        SubsequenceKernel(length=300, decay=1).encode("a" * 700)


def test_what_is_not_learned_is_compared_alike():
    kernel = SubsequenceKernel(2)
    known = [kernel.encode(word) for word in ("cat", "car")]
    passing = [kernel.encode(word, learn=False) for word in ("bath", "arc")]
    assert kernel.n_symbols == 4
    assert kernel.values(passing, known).tolist() == [[kernel(a, b) for b in ("cat", "car")] for a in ("bath", "arc")]
    with pytest.raises(DataError, match="learn=False"):
        kernel.values(passing, passing)


SYMBOLS = st.one_of(st.text(max_size=3), st.integers(), st.booleans())


@given(st.lists(st.one_of(st.text(max_size=5), st.lists(SYMBOLS, max_size=5)), max_size=5))
def test_strings_come_back_from_their_state(strings):
    kernel, other = SubsequenceKernel(2), SubsequenceKernel(2)
    encoded = [kernel.encode(string) for string in strings]
    restored = other.restore(kernel.state(encoded))
    assert [one.original for one in restored] == [string if isinstance(string, str) else tuple(string) for string in strings]
    assert [list(map(type, one.symbols)) for one in restored] == [list(map(type, string)) for string in strings]
    assert (other.values(restored, restored) == kernel.values(encoded, encoded)).all()


def test_symbols_that_no_file_holds_are_refused():
    kernel = SubsequenceKernel()
    with pytest.raises(DataError, match="the symbol \\(1, 2\\) cannot be written to a model file"):
        kernel.state([kernel.encode([1, (1, 2)])])


@pytest.mark.parametrize("change, message", [
    ({"texts": np.zeros(3, bool)}, r"'texts' is bool of shape \(3,\); expected bool of shape \(2,\)"),
    ({"texts": np.zeros(2)}, "'texts' is float64 of shape"),
    ({"symbols": np.frombuffer(b'["ab", "b", "c", "d"]', np.uint8)}, "string 0 is a text, but has symbols that are no characters"),
    ({"codes": np.full(6, 9, np.int32)}, "are 9 to 9"), ({"ends": np.array([3, 7])}, "do not end in order"),
])
def test_damaged_states_are_refused(change, message):
    kernel, other = SubsequenceKernel(), SubsequenceKernel()
    state = kernel.state([kernel.encode("abc"), kernel.encode("abd")])
    with pytest.raises(DataError, match=message):
        other.restore(state | change)
    assert other.n_symbols == 0


def test_symbols_are_forgotten_with_the_last_string_that_holds_them():
    kernel = SubsequenceKernel(2)
    cat, car = kernel.encode("cat"), kernel.encode("car")
    assert kernel.n_symbols == 4
    del car
    assert kernel.n_symbols == 3
    for i in range(100):
        passing = kernel.encode(["c", i, "t", -1 - i])
        assert kernel.n_symbols == 5
        assert kernel.values([passing], [cat])[0, 0] == kernel("c.t,", "cat")
        kernel.encode("tax", learn=False)
    del passing
    with pytest.raises(DataError, match="cannot be hashed"):
        kernel.encode(["x", "y", []])
    assert kernel.n_symbols == 3


@given(st.lists(st.text("abcde", max_size=12), min_size=2, max_size=6), st.data())
def test_values_do_not_depend_on_what_was_encoded_before(strings, data):
    kernel, other = SubsequenceKernel(2, decay=0.3), SubsequenceKernel(2, decay=0.3)
    order = data.draw(st.permutations(range(len(strings))))
    one = [kernel.encode(string) for string in strings]
    other.encode("edcba")
    two = {i: other.encode(strings[i]) for i in order}
    two = [two[i] for i in range(len(strings))]
    assert kernel.values(one, one).tobytes() == other.values(two, two).tobytes()
