"""Rows of a group that do not stand together."""

import hypothesis
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st
from plain import Engine

from structperc.errors import DataError
from structperc.reading.groups import Groups
from structperc.reading.matrices import read


@hypothesis.given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=12))
def test_rows_are_gathered_by_group(groups):
    """In their order, groups in the order in which they first appear; and back."""
    rows = np.arange(len(groups), dtype=float)[:, None]
    data = Groups(rows, groups=groups)
    names = list(dict.fromkeys(groups))
    expected = [[i for i, g in enumerate(groups) if g == name] for name in names]
    starts = zip(data.offsets[:-1], data.offsets[1:], strict=True)
    assert [data.X[a:b, 0].astype(int).tolist() for a, b in starts] == expected
    together = sum(expected, []) == list(range(len(groups)))
    assert (data.order is None) == together and (data.X is rows) == together
    assert data.by_rows(groups) == [g for name in names for g in groups if g == name]
    np.testing.assert_array_equal(data.as_given(data.X), rows)
    assert data.by_rows(names) == names or len(names) == len(groups)


def test_an_object_that_is_only_an_array_has_groups():
    class Stored:
        def __array__(self, dtype=None, copy=None):
            return np.arange(4.0)[:, None]

    assert Groups(Stored(), groups=list("abab")).X[:, 0].tolist() == [0, 2, 1, 3]


def test_groups_may_not_be_missing():
    for groups in ([1.0, np.nan, 2.0], ["a", float("nan"), "b"]):
        with pytest.raises(DataError, match=r"groups\[1\] is nan, which belongs to no group"):
            Groups(np.zeros((3, 1)), groups=np.array(groups, dtype=object if "a" in groups else float))


def test_what_is_gathered_is_looked_through_first():
    with pytest.raises(DataError, match=r"X\[2, 0\] is inf"):
        Groups(np.array([[1.0], [2.0], [np.inf]]), groups=[1, 2, 1])


@pytest.mark.parametrize("kind", [object, np.float16])
def test_sparse_numbers_that_scipy_does_not_move_are_gathered(kind):
    X = sp.csr_array(np.eye(3))
    X.data = X.data.astype(kind)
    assert Groups(X, groups=[1, 2, 1]).X.toarray().tolist() == np.eye(3)[[0, 2, 1]].tolist()
    X.data = np.array([1, 2, "a"], dtype=object)
    with pytest.raises(DataError, match=r"X\[2, 2\] is 'a'"):
        Groups(X, groups=[1, 2, 1])


@pytest.mark.parametrize(("groups", "counted"), [([1, 2, 1], True), ([1, 1, 2], False)])
def test_errors_say_how_rows_are_counted_where_they_were_moved(groups, counted):
    with pytest.raises(DataError) as caught, Groups(np.zeros((3, 1)), groups=groups):
        raise DataError("row 1 is odd.")
    assert str(caught.value).startswith("row 1 is odd.") and ("counted group by group" in str(caught.value)) == counted


def test_predictions_are_of_the_same_examples_however_they_are_said():
    X, y = np.random.default_rng(0).normal(size=(6, 2)), ["a", "b", "a", "b", "b", "a"]
    together, apart = [0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 1, 0]
    engine = Engine("sequence").fit(X, [y[:3], y[3:]], groups=together)
    order = np.argsort(apart, kind="stable")
    given = engine.predict(X[order], lengths=[3, 3])
    assert [list(labels) for labels in engine.predict(X, groups=apart)] == [list(labels) for labels in given]


WRAPPING = [{"lengths": np.array([2**62] * 4 + [12])}, {"lengths": np.array([2**63, 2**63, 12], dtype=np.uint64)},
            {"lengths": [2**63 - 1, 2**63 - 1, 14]}, {"lengths": [2**64 + 12]}, {"lengths": np.array([250, 18], dtype=np.uint8)},
            {"offsets": np.array([0, 2**62, -(2**62), 12])}, {"offsets": np.array([0, 2**63 - 1, -(2**63) + 5, 12])},
            {"offsets": np.array([0, 2**63 + 1, 12], dtype=np.uint64)}, {"offsets": np.array([0, 200, 100, 12], dtype=np.uint8)},
            {"offsets": [0, 2**70, 12]}]


@pytest.mark.parametrize("options", [{}, {"plugins": ["dual-kernel"], "kernel": "linear"}], ids=["primal", "kernel"])
@pytest.mark.parametrize("given", WRAPPING, ids=str)
def test_lengths_and_offsets_that_wrap_around_are_refused(given, options):
    X, y = np.random.default_rng(0).normal(size=(12, 3)), [1, 2, 3, 4] * 3
    engine = Engine("sequence", **options).fit(X, y, lengths=[6, 6])
    for call in (engine.predict, engine.atom_scores, engine.margins, lambda X, **given: engine.partial_fit(X, y, **given),
                 lambda X, **given: engine.fit(X, y, **given)):
        with pytest.raises(DataError, match=r"lengths add up to|lengths is|offsets is not sorted|offsets has shape"):
            call(X, **given)


@pytest.mark.parametrize(("given", "match"), [
    ({"groups": 3}, "groups is 3; expected an entry for each row of X"),
    ({"groups": {1, 2, 3}}, "groups is {1, 2, 3}; expected an entry"),
    ({"groups": "abc"}, "groups is the text 'abc'; expected an entry"),
    ({"groups": [(1, 2), "a", "a"]}, "groups is ragged"),
    ({"groups": [{}, {}, {}]}, "groups holds lists or the like"),
    ({"groups": []}, "groups has 0 entries, but X has 3 rows"),
    ({"lengths": [[1], [1, 1]]}, "lengths is .*its entries differ in form"),
    ({"lengths": [10**400, 1.0]}, "lengths is"),
    ({"lengths": 3}, "lengths is 3; expected a list of whole numbers"),
])
def test_lengths_and_groups_of_another_form_are_refused(given, match):
    with pytest.raises(DataError, match=match):
        Groups(np.zeros((3, 1)), **given)


def test_a_number_and_its_text_are_two_groups():
    assert Groups(np.zeros((3, 1)), groups=[1, "1", "1"]).offsets.tolist() == [0, 1, 3]


def test_offsets_are_the_users_own_no_more_once_they_are_checked():
    X, offsets = np.zeros((4, 1)), np.array([0, 2, 4])
    rows = read(X, offsets)
    offsets[1] = 2**40
    assert rows.offsets.tolist() == [0, 2, 4]


def test_a_list_of_one_row_is_one_row():
    one = Engine("sequence", classes=["a", "b"]).fit([[1.0, 2.0]], [["a"]], lengths=[1])
    assert one.predict([[1.0, 2.0]], lengths=[1]) == one.predict(np.array([[1.0, 2.0]]), lengths=[1])
