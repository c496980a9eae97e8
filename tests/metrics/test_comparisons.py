"""`metrics.compare`: two models on the same examples."""

import numpy as np
import pytest
from plain import Engine
from scipy.stats import binomtest, t

from structperc.errors import DataError, OptionError
from structperc.metrics import compare, measures


@pytest.fixture(scope="module")
def data():
    X = np.random.default_rng(3).normal(size=(260, 3))
    return X, 1 + np.digitize(X @ [1, -1, 2] + np.random.default_rng(4).normal(size=260), [-1, 1])


@pytest.fixture(scope="module")
def engines(data):
    X, y = data
    return Engine("cusum").fit(X[:100], y[:100]), Engine("prank", epochs=9, average=True).fit(X[:100], y[:100])


def test_measures_are_those_of_each_engine_and_errors_those_of_left_out_blocks(data, engines):
    X, y = (part[100:] for part in data)
    found = compare(*engines, X, y)
    each = [measures(engine, X, y) for engine in engines]
    answers = [engine.predict(X) for engine in engines]
    assert {m.name: (m.first, m.second) for m in found.measures} == {name: tuple(one[name] for one in each) for name in each[0]}
    blocks, off = np.array_split(np.random.default_rng(0).permutation(160), 20), np.abs(answers[1] - y) - np.abs(answers[0] - y)
    means = [np.delete(off, block).mean() for block in blocks]
    error = np.sqrt(19 / 20 * ((means - np.mean(means)) ** 2).sum())
    first = found.measures[0]
    assert first.name == "mean absolute error" and first.standard_error == pytest.approx(error) and first.difference < 0
    reach = t.ppf(0.975, 19) * error
    assert (first.low, first.high) == pytest.approx((first.difference - reach, first.difference + reach))


def test_the_error_of_a_mean_is_the_textbooks_where_each_example_is_a_block(data, engines):
    X, y = data[0][100:117], data[1][100:117]
    first, second = (engine.predict(X) == y for engine in engines)
    found = next(m for m in compare(*engines, X, y).measures if m.name == "accuracy")
    apart = second.astype(float) - first
    assert found.standard_error == pytest.approx(apart.std(ddof=1) / np.sqrt(17))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_intervals_in_frames_are_compared_as_arrays(library):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip(library)
    X = np.random.default_rng(5).normal(size=(80, 2))
    low = np.digitize(X[:, 0], [-0.5, 0.5]) + 1
    ends = np.column_stack([low, np.minimum(low + np.arange(80) % 2, 3)])
    engines = [Engine("interval-pa", epochs=n, classes=[1, 2, 3]).fit(X, ends) for n in (1, 3)]
    y = pandas.DataFrame({"low": ends[:, 0], "high": ends[:, 1]}, index=np.arange(80)[::-1])
    if library == "polars":
        y = pytest.importorskip("polars").from_pandas(y)
    elif library == "pyarrow":
        y = pytest.importorskip("pyarrow").Table.from_pandas(y, preserve_index=False)
    assert str(compare(*engines, X, y)) == str(compare(*engines, X, ends))


def test_right_and_wrong_are_counted_and_tested(data, engines):
    X, y = (part[100:] for part in data)
    answers = [engine.predict(X) for engine in engines]
    a, b = (one == y for one in answers)
    found = compare(*engines, X, y, names=("few", "many"))
    only = (a & ~b).sum(), (b & ~a).sum()
    assert (found.both_right, found.first_right, found.second_right, found.neither_right) == ((a & b).sum(), *only, (~a & ~b).sum())
    assert found.p_value == pytest.approx(binomtest(int(only[0]), int(sum(only))).pvalue)
    assert [row[0] for row in found.disagreements] == np.flatnonzero(answers[0] != answers[1]).tolist()
    assert f"predictions differ in {len(found.disagreements)} examples; the first 10" in str(found) and "many right" in found._repr_html_()
    same = compare(engines[0], engines[0], X, y)
    assert same.p_value == 1 and not same.disagreements and {m.standard_error for m in same.measures} == {0.0}


def test_sentences_with_labels_that_the_models_do_not_know():
    sentences, tags = [["a", "b"], ["b"], ["a"]], [["D", "N"], ["N"], ["D"]]
    few, many = (Engine("sequence", epochs=n).fit([[[f"w={word}"] for word in words] for words in sentences], tags) for n in (1, 9))
    X, y = [[["w=a"]], [["w=b"], ["w=a"]], [["w=b"]]], [["D"], ["N", "X"], ["N"]]
    found = compare(few, many, X, y)
    assert found.n_examples == 3 and found.both_right + found.second_right == 2 and found.neither_right + found.first_right == 1
    assert [m.name for m in found.measures] == ["token accuracy", "whole sentences right"]


@pytest.mark.parametrize("problem", ["sequence", "graph"])
def test_an_unknown_label_leaves_the_other_outputs_as_they_are_judged(problem):
    def example(words):
        rows = [[float(word == "a"), float(word == "b")] for word in words]
        return np.array(rows) if problem == "sequence" else (np.array(rows), [[0, 1]])

    X, y = [example(words) for words in ("ab", "ba", "aa")] * 3, [["D", None], ["N", None], ["D", "D"]] * 3
    engines = [Engine(problem, epochs=9).fit(X, labels) for labels in ([["D", "N"], ["N", "D"], ["D", "D"]] * 3, [["D", "N"]] * 9)]

    def counts(y):
        found = compare(*engines, X, y)
        return found.both_right, found.first_right, found.second_right, found.neither_right

    both, first, second, neither = counts(y)
    assert both and first and counts([*y[:-1], ["Q", None]]) == (both, first - 1, second, neither + 1)


def test_blocks_that_have_all_that_is_known_leave_the_error_open(data):
    X = data[0][:30]
    low = np.digitize(X[:, 0], [-0.5, 0.5]) + 1
    exact = [[k, k] for k in low.tolist()]
    engines = [Engine("interval-pa", epochs=n, classes=[1, 2, 3], unrated="skip").fit(X, exact) for n in (1, 3)]
    off = [np.abs(engine.predict(X) - low) for engine in engines]
    found = {m.name: m for m in compare(*engines, X, [[1, 3], *exact[1:]]).measures}
    apart = np.where(np.arange(30) == 0, 0, off[1] - off[0])        # of the first, each label is right
    blocks = np.array_split(np.random.default_rng(0).permutation(30), 20)
    means = [np.delete(apart, block).mean() for block in blocks]
    error = np.sqrt(19 / 20 * ((means - np.mean(means)) ** 2).sum())
    assert error > 0 and found["mean interval error"].standard_error == pytest.approx(error)
    assert found["inside the interval"].standard_error > 0
    found = {m.name: m for m in compare(*engines, X, [exact[0], *[[None, None]] * 29]).measures}
    assert np.isnan(found["accuracy"].standard_error) and found["mean loss (absolute)"].standard_error >= 0
    tagger = Engine("sequence").fit([X[:2], X[2:4]], [["D", "N"], ["N", "N"]])
    found = {m.name: m for m in compare(tagger, tagger, [X[:2], X[2:4]], [["D", None], [None, None]]).measures}
    assert np.isnan(found["token accuracy"].standard_error) and found["mean loss (hamming)"].standard_error == 0


def test_what_cannot_be_compared_is_refused(data, engines):
    for names in (("a",), ("a", "b", "c"), "ab", None):
        with pytest.raises(OptionError, match="names=.*; expected a pair of texts, a name for each model"):
            compare(*engines, data[0], data[1], names=names)
    X, y = data
    with pytest.raises(DataError, match="the engines know different labels, 1, 2, 3 and 1, 2;"):
        compare(engines[0], Engine("cusum").fit(X, np.minimum(y, 2)), X, y)
    with pytest.raises(DataError, match="y has 5 labels but X has 4 examples"):
        compare(*engines, X[:5], y[:5], X_second=X[:4])
    with pytest.raises(DataError, match="at least 2"):
        compare(*engines, X[:1], y[:1])
