"""Tests of interval labels: every input format gives the same intervals, and an invalid interval raises an error that names its row."""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import Engine

from structperc.basics.labels import LabelCodes, find_labels
from structperc.errors import DataError, DataWarning, OptionError
from structperc.estimators import IntervalPA
from structperc.metrics import measures
from structperc.reading.intervals import interval_labels, read_intervals

LEVELS = ["low", "middle", "high"]


def read(y, classes=None):
    """The labels, and the codes of both ends of each row."""
    labels = find_labels(None if classes else interval_labels(y), classes, ordered=True)
    low, high = read_intervals(y, labels, LabelCodes(labels).encode, len(y))
    return labels.tolist(), list(zip(low.tolist(), high.tolist(), strict=True))


def as_intervals(pairs, closed="both"):
    return pd.arrays.IntervalArray.from_tuples(pairs, closed=closed)


PAIRS = [(1, 2), (3, 3), (2, 4), (4, 4)]
FORMS = {
    "array": np.array(PAIRS), "real numbers": np.array(PAIRS, dtype=float), "objects": np.array(PAIRS, dtype=object), "pairs": PAIRS,
    "lists": [list(pair) for pair in PAIRS], "mixed": [(1, 2), 3, [2, 4], 4], "column of pairs": pd.Series(PAIRS),
    "two columns": pd.DataFrame(PAIRS), "two columns that may miss": pd.DataFrame(PAIRS, dtype="Int64"),
    "intervals": as_intervals(PAIRS), "series of intervals": pd.Series(as_intervals(PAIRS)),
    "index of intervals": pd.IntervalIndex(as_intervals(PAIRS)), "list of intervals": list(as_intervals(PAIRS)),
    "all sorts": [pd.Interval(1, 2, "both"), 3, (2, 4), np.int64(4)],
}


@pytest.mark.parametrize("y", FORMS.values(), ids=FORMS)
def test_every_form_says_the_same(y):
    assert read(y) == ([1, 2, 3, 4], PAIRS)


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 5)), min_size=1, max_size=20), st.data())
def test_an_end_may_stay_open_in_every_form(drawn, data):
    classes = list(range(1, 12))
    pairs = [(low, low + width) for low, width in drawn]
    sides = [data.draw(st.sampled_from(["none", "low", "high"])) for _ in pairs]
    expected = [(1 if side == "low" else low, 11 if side == "high" else high) for (low, high), side in zip(pairs, sides, strict=True)]
    for nothing in (None, np.nan, np.inf, pd.NA):
        below = -np.inf if nothing is np.inf else nothing
        y = [(below if side == "low" else low, nothing if side == "high" else high)
             for (low, high), side in zip(pairs, sides, strict=True)]
        assert read(y, classes)[1] == expected
        if nothing is not pd.NA:
            assert read(np.array(y, dtype=float), classes)[1] == expected
            assert read(pd.DataFrame(y, dtype=float), classes)[1] == expected
    assert read([pair if side == "none" else pd.Interval(*pair, closed="both") for pair, side in zip(pairs, sides, strict=True)],
                classes)[1] == pairs


def test_at_least_three():
    assert read([(3, None), (None, 2), 1, 4]) == ([1, 2, 3, 4], [(3, 4), (1, 2), (1, 1), (4, 4)])
    assert read([(-np.inf, np.inf), (1, 2)], [1, 2, 3])[1] == [(1, 3), (1, 2)]


def test_open_ends_do_not_turn_whole_numbers_into_real_ones():
    labels, _ = read(np.array([[1, np.nan], [2, 3]]))
    assert labels == [1, 2, 3] and all(isinstance(label, int) for label in labels)
    assert read(np.array([[0.5, np.nan], [1.0, 2.5]]))[0] == [0.5, 1.0, 2.5]


@pytest.mark.parametrize(("dtype", "classes"), [(np.float32, [0.1, 0.5, 2.5]), (np.float16, [2047, 2048, 2049])])
def test_an_open_end_is_the_outermost_label_however_narrow_the_type_of_y(dtype, classes):
    """0.1 is no number of float32, nor 2049 one of float16."""
    y = np.array([[np.nan, classes[1]], [classes[1], np.nan]], dtype=dtype)

    assert read(y, classes) == (classes, [(1, 2), (2, 3)])


@pytest.mark.parametrize(("closed", "expected"), [("both", (2, 4)), ("left", (2, 3)), ("right", (3, 4)), ("neither", (3, 3))])
def test_an_interval_excludes_the_ends_at_which_it_is_open(closed, expected):
    for y in (as_intervals([(2, 4)], closed), [pd.Interval(2, 4, closed)]):
        assert read(y, [1, 2, 3, 4, 5])[1] == [expected]


def test_ends_of_real_intervals_need_be_no_labels():
    assert read([pd.Interval(1.5, 3.2), pd.Interval(-np.inf, 2), pd.Interval(4, np.inf)], [1, 2, 3, 4, 5])[1] == [(2, 3), (1, 2), (5, 5)]


def test_excluded_ends_name_no_label():
    assert read(as_intervals([(0, 1), (1, 3), (0, 3)], "right")) == ([1, 3], [(1, 1), (2, 2), (1, 2)])
    with pytest.raises(DataError, match="y names no label, only open or excluded ends.*classes="):
        interval_labels(as_intervals([(0, 2)], "neither"))


def test_named_categories():
    pairs = [("low", "middle"), (None, "middle"), ("high", "high")]
    expected = [(1, 2), (1, 2), (3, 3)]
    assert read(pairs, LEVELS) == (LEVELS, expected)
    assert read([("low", "middle"), (None, "middle"), "high"], LEVELS)[1] == expected
    assert read(np.array([["low", "high"], ["middle", "middle"]]), LEVELS)[1] == [(1, 3), (2, 2)]
    ordered = pd.CategoricalDtype(LEVELS, ordered=True)
    assert read(pd.DataFrame(pairs, columns=["least", "most"], dtype=ordered)) == (LEVELS, expected)
    with pytest.raises(DataError, match="rank order is unknown"):
        read([("low", "middle"), ("low", "high")])


def test_both_columns_have_the_same_categories():
    frame = pd.DataFrame({"least": pd.Categorical(["low"], LEVELS, ordered=True), "most": ["high"]})
    with pytest.raises(DataError, match="the two columns of y are categoricals of different categories"):
        read(frame)


def test_labels_that_go_down():
    assert read([(4, 1), (7, 7), (7, 3)], [7, 4, 3, 1])[1] == [(2, 4), (1, 1), (1, 3)]
    with pytest.raises(DataError, match="no numbers in ascending order. Pass a pair"):
        read([pd.Interval(1, 4)], [7, 4, 3, 1])


@pytest.mark.parametrize(("y", "sentence"), [
    ([1, (1, 2, 3), 2], r"y\[1\] is \(1, 2, 3\), which has 3 labels; give one label, or the pair.*a set with holes is no interval"),
    ([1, [2], 2], r"y\[1\] is \[2\], which has 1 labels"),
    ([(1, 2), {1, 3}], r"y\[1\] is the set of 1, 3, which lacks 2; give one label.*a set with holes is no interval"),
    ([frozenset({1, 3}), 2], r"y\[0\] is the set of 1, 3"),
    ([2, range(2, 5)], r"y\[1\] is a set with 4, which is not one of the labels known so far \(1, 2, 3\). Name all of them"),
    ([2, set()], r"y\[1\] is the set set\(\); give one label"),
    ([2, {1: 2}], r"y\[1\] is the dict"),
    (["1", "2 to 3"], r"y\[1\] is the text '2 to 3'. Pass the pair \(lowest, highest\), here \(2, 3\)"),
    (["at least 3"], r"y\[0\] is the text 'at least 3'. Pass the pair.*\(3, None\)"),
    ([(1, 2, 3), (1, 2, 3)], r"y\[0\] is \[1, 2, 3\]"),
    (np.ones((2, 4), dtype=int), r"y has 4 labels for each row, for instance y\[0\] is \[1, 1, 1, 1\]"),
    ({1, 2}, "y is a set, which has no order"),
    ([(1, 2), (3, 1)], r"y\[1\] runs from 3 to 1, which is lower; give the lowest label first"),
    ([(1, 2), (1, 7)], r"y\[1\] is 7, which is not one of the labels"),
    ([(1, 2), (1.5, 3)], r"y\[1\] is 1.5, which is not one of the labels"),
    ([1, None, 2], r"y\[1\] is None, which is no label"),
    ([(1, 2), (None, np.nan)], r"y\[1\] has neither a lowest nor a highest label. Drop or fill that row, or pass unrated='skip' where"),
    (np.array([[1, 2], [np.nan, np.nan]]), r"y\[1\] has neither a lowest nor a highest label"),
    (np.array([[1, 2], [np.inf, 3]]), r"y\[1\] is inf, which is no label"),
    (np.array([[np.nan, 2], [np.inf, 3]]), r"y\[1\] is inf, which is no label"),
    ([pd.Interval(1, 2), pd.Interval(3, 4, "neither")], r"y\[1\] is \(3, 4\), which has none of the labels known so far \(1, 2, 3\)"),
    (as_intervals([(1, 2), None]), r"y\[1\] has neither a lowest nor a highest label"),
    (np.ma.masked_array([[1, 2], [2, 3]], mask=[[0, 0], [0, 1]]), r"y\[1\] is masked"),
    (np.ones((2, 2, 2)), r"y has shape \(2, 2, 2\); expected a label for each example"),
])  # fmt: skip
def test_what_is_no_interval_is_refused_by_its_row(y, sentence):
    with pytest.raises(DataError, match=sentence):
        read(y, [1, 2, 3])


@pytest.mark.parametrize(("text", "pair"), [
    ("2-3", "(2, 3)"), ("1.5 .. 2", "(1.5, 2)"), (">= 2", "(2, None)"), ("3+", "(3, None)"), ("3 or more", "(3, None)"),
    ("at most 2", "(None, 2)"), ("\u2264 2", "(None, 2)"), ("2 or less", "(None, 2)"),
])  # fmt: skip
def test_texts_about_intervals_are_told_the_pair(text, pair):
    with pytest.raises(DataError, match=re.escape(f"y[1] is the text {text!r}. Pass the pair (lowest, highest), here {pair}")):
        interval_labels(["1", text])
    assert read(["1", text], ["1", text]) == (["1", text], [(1, 1), (2, 2)])         # the name of a rank


def test_sets_without_holes():
    assert read([{2, 3}, frozenset({1}), range(1, 4), 3]) == ([1, 2, 3], [(2, 3), (1, 1), (1, 3), (3, 3)])
    assert read([{"middle", "high"}, "low"], LEVELS)[1] == [(2, 3), (1, 1)]
    assert read([{2, 3}, pd.Interval(1, 2, "both")])[1] == [(2, 3), (1, 2)]


@pytest.mark.parametrize(("y", "sentence"), [
    ([1, (3, None), 2, (3, np.inf)], r"y\[1\] is at least 3, and 3 is the highest label in y\. .*exactly 3, as in 2 rows\..*classes"),
    ([(None, 1), 2, (2, 3)], r"y\[0\] is at most 1, and 1 is the lowest label in y\. .*exactly 1, as in 1 row"),
    (np.array([[1, 2], [2, np.nan]]), r"y\[1\] is at least 2"),
    ([1, 2, pd.Interval(2, np.inf, "left")], r"y\[2\] is at least 2"),
])  # fmt: skip
def test_an_open_end_that_opens_nothing_is_named(y, sentence):
    X = np.arange(float(len(y)))[:, None]
    with pytest.warns(DataWarning, match=sentence):
        Engine("interval-pa", update="exact-pa").fit(X, y)
    wide = Engine("interval-pa", update="exact-pa", classes=[1, 2, 3, 4, 5]).fit(X, y)      # no warning
    assert wide.classes_.tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("y", [
    [1, None, (1, 2), 3, (None, np.nan)], [(1, 1), (None, None), (1, 2), (3, 3), (np.nan, np.nan)],
    np.array([[1, 1], [np.nan, np.nan], [1, 2], [3, 3], [np.nan, np.nan]]),
])  # fmt: skip
def test_rows_without_ends_are_skipped_on_request(y):
    X = np.array([[-1.0], [5.0], [0.0], [1.0], [-7.0]])
    rated = [0, 2, 3]
    engine = Engine("interval-pa", update="exact-pa", epochs=3, unrated="skip").fit(X, y)
    same = Engine("interval-pa", update="exact-pa", epochs=3).fit(X[rated], [1, (1, 2), 3])
    assert np.array_equal(engine.coef_, same.coef_) and np.array_equal(engine.thresholds_, same.thresholds_)
    assert engine.classes_.tolist() == [1, 2, 3]
    model = IntervalPA(unrated="skip", random_state=0).fit(X, y)
    assert model.score(X, y, [1, 5, 1, 2, 5]) == pytest.approx(model.score(X[rated], [1, (1, 2), 3], [1, 1, 2]))
    found = measures(engine, X, y)
    assert found["inside the interval"] == measures(engine, X[rated], [1, (1, 2), 3])["inside the interval"]
    with pytest.raises(DataError, match="all rows of y_low_high miss both ends"):
        model.score(X[:1], [(None, None)])


def test_plain_labels_may_be_missing_too():
    X = np.array([[-1.0], [5.0], [1.0]])
    for y in ([1, None, 2], np.array([1, np.nan, 2])):
        assert Engine("interval-pa", update="exact-pa", unrated="skip").fit(X, y).predict(X).tolist() == [1, 2, 2]
    with pytest.raises(OptionError, match="unrated='drop'; expected one of 'refuse', 'skip'"):
        Engine("interval-pa", unrated="drop")


def test_the_number_of_rows_is_compared():
    labels = np.array([1, 2, 3])
    with pytest.raises(DataError, match="y has 2 rows but X has 3 examples"):
        read_intervals([(1, 2), (2, 3)], labels, LabelCodes(labels).encode, 3)


@pytest.mark.parametrize("y", FORMS.values(), ids=FORMS)
def test_an_engine_learns_the_same_from_every_form(y):
    X = np.array([[-2.0, 1.0], [1.0, 0.5], [0.5, -1.0], [2.0, 2.0]])
    engine = Engine("interval-pa", update="exact-pa", epochs=3).fit(X, y)
    same = Engine("interval-pa", update="exact-pa", epochs=3).fit(X, np.array(PAIRS))
    assert np.array_equal(engine.coef_, same.coef_) and np.array_equal(engine.thresholds_, same.thresholds_)
    assert engine.classes_.tolist() == [1, 2, 3, 4]
    assert np.array_equal(engine.partial_fit(X, y).coef_, same.partial_fit(X, np.array(PAIRS)).coef_)


def test_pandas_is_not_imported():
    code = """
import sys
from structperc import Engine
Engine("interval-pa", update="exact-pa").fit([[0.0], [1.0], [2.0]], [1, (1, 2), 2])
print("pandas" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


class TestLargeWholeLabels:
    """Whole ends beyond 2**53 keep their digits beside any other end, or raise an error."""

    BASE = 2**60
    LOW = [BASE, BASE + 1, BASE + 2, BASE]
    NULLS = pd.array([BASE + 1, None, BASE + 2, None], "Int64")

    @pytest.mark.parametrize("high", [
        [np.nan] * 4, [np.inf, np.nan, np.inf, np.nan], NULLS, pd.Series([BASE + 1, None, BASE + 2, None], dtype=object),
    ])  # fmt: skip
    def test_open_ends_of_any_type_leave_them_as_they_are(self, high):
        y = pd.DataFrame({"low": self.LOW, "high": high})
        labels = find_labels(interval_labels(y), None, ordered=True)
        assert labels.tolist() == [self.BASE, self.BASE + 1, self.BASE + 2]
        low, high = read_intervals(y, labels, LabelCodes(labels).encode, 4)
        ends = [float(end) for end in y["high"].dropna()]
        closed = [2, 3, 3, 3] if ends and not np.isinf(ends).any() else [3] * 4
        assert low.tolist() == [1, 2, 3, 1] and high.tolist() == closed

    @pytest.mark.parametrize("named", [False, True])
    @pytest.mark.parametrize("base", [BASE, 2**53])         # 2**53 + 1 is rounded to it
    def test_rounded_ends_are_refused(self, base, named):
        y = pd.DataFrame({"low": [base, base + 1], "high": [float(base + 1), np.nan]})
        with pytest.raises(DataError, match=r"y\[0\] has the end .* Pass whole numbers, with None for open ends"):
            labels = find_labels(None if named else interval_labels(y), [base, base + 1] if named else None, ordered=True)
            read_intervals(y, labels, LabelCodes(labels).encode, 2)
