"""Errors name the place of the fault, and a failed call leaves the engine exactly as it was."""

import copy
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from plain import Engine
from reference.layouts import LAYOUTS, stored
from reference.samples import data
from scipy.sparse import coo_array, csr_array, csr_matrix
from subsets import Subsets

from structperc import metrics
from structperc.errors import DataError, DataTypeError, ModelFormatError, NotFittedError, OptionError, PluginError, StructPercError
from structperc.estimators import PRank, RankingSVM

from .refusals import refused, state

RANKS = [1, 2, 3, 4]
PROBLEMS = ["cusum", "prank", "multiclass"]


# ---- NaN and Inf ----


@pytest.mark.parametrize("call", ["fit", "partial_fit", "predict", "atom_scores"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_what_is_not_finite_is_named_by_row_and_column(problem, layout, call):
    X, y = data()
    good = stored(X, layout)
    for value in (np.nan, np.inf, -np.inf):
        engine = Engine(problem, classes=RANKS, average=True).fit(good, y)
        Z = X.copy()
        Z[37, 2], Z[50, 0] = value, np.nan
        with refused(engine, good, y, rf"X\[37, 2\] is {value}; .*fill or drop"):
            if call.endswith("fit"):
                getattr(engine, call)(stored(Z, layout), y)
            else:
                getattr(engine, call)(stored(Z, layout))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_explain_names_the_column_that_is_not_finite(layout):
    X, y = data()
    engine = Engine("cusum").fit(stored(X, layout), y)
    X[0, 3] = np.inf
    with pytest.raises(DataError, match=r"X\[0, 3\] is inf"):
        engine.explain(stored(X[:1], layout))


@pytest.mark.parametrize("call", ["predict", "atom_scores"])
@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_the_row_is_counted_from_the_beginning_of_a_long_prediction(kind, call):
    random = np.random.default_rng(0)
    X = random.normal(size=(1100, 2048))         # predicted in several pieces
    engine = Engine("cusum").fit(kind(X[:30]), np.arange(30) % 3)
    X[1090, 2000] = np.nan
    with pytest.raises(DataError, match=r"X\[1090, 2000\] is nan"):
        getattr(engine, call)(kind(X))


def test_the_row_is_that_of_the_users_order_when_examples_are_shuffled_and_left_out():
    X, y = data()
    X[41, 1] = np.nan
    weight = np.where(np.arange(60) % 3 == 0, 0.0, 1.0)
    engine = Engine("cusum", shuffle=True, random_state=0)
    with pytest.raises(DataError, match=r"X\[41, 1\] is nan"):
        engine.fit(X, y, sample_weight=weight)
    weight[41] = 0
    assert engine.fit(X, y, sample_weight=weight).mistakes_[0] > 0


OFFSETS, CHOSEN = [0, 3, 4, 10], [(0, 2), (), (1, 5)]


@pytest.mark.parametrize("call", ["fit", "partial_fit", "predict", "atom_scores"])
@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_rows_of_blocks_are_counted_from_the_beginning_of_X(kind, call):
    X, _ = data(10)
    engine = Engine(Subsets()).fit(kind(X), CHOSEN, offsets=OFFSETS)
    before = engine.coef_
    X[7, 1] = np.nan
    with pytest.raises(DataError, match=r"X\[7, 1\] is nan"):
        if call.endswith("fit"):
            getattr(engine, call)(kind(X), CHOSEN, offsets=OFFSETS)
        else:
            getattr(engine, call)(kind(X), offsets=OFFSETS)
    assert np.array_equal(engine.coef_, before)


# ---- overflow ----


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
@pytest.mark.parametrize(("problem", "update"), [*((p, u) for p in ("cusum", "multiclass") for u in ("perceptron", "pa", "pa1", "pa2")),
                                                 ("prank", "perceptron")])
def test_features_that_are_too_large_to_learn_from_are_refused(problem, update, kind):
    X, y = data()
    engine = Engine(problem, update=update, classes=RANKS).fit(kind(X), y)
    huge = kind(np.where(X > 0, 1e300, -1e300))
    for call in (engine.fit, engine.partial_fit):
        with refused(engine, kind(X), y, "too large for floating point.*[Ss]cale the features"):
            call(huge, y)


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_scores_that_overflow_in_prediction_name_the_example(kind):
    X, y = data()
    engine = Engine("cusum").fit(kind(X * 100), y)
    X[17] = np.where(X[17] > 0, 1.7e308, -1.7e308)
    for call in (engine.predict, engine.atom_scores):
        with pytest.raises(DataError, match="scores of example 17 overflow"):
            call(kind(X))
    with pytest.raises(DataError, match="scores of example 0 overflow"):
        engine.explain(kind(X[17:18]))


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_weights_that_overflow_are_noticed_although_no_later_example_sees_them(kind, average):
    X, y = np.eye(4), [1, 2, 1, 2]
    engine = Engine("cusum", average=average, classes=[1, 2]).fit(kind(X), y)
    huge = X.copy()
    huge[1, 1] = 1e308
    for call, labels in ((engine.fit, y), (engine.partial_fit, [1, 1, 1, 2])):      # the second example is a mistake
        with refused(engine, kind(X), y, "too large for floating point"):
            call(kind(huge), labels, sample_weight=[1.0, 10.0, 1.0, 1.0])


# ---- X ----

BAD_X = [
    ([], "X"),
    (np.zeros((0, 4)), r"0 sample.*minimum of 1"),
    (np.zeros((60, 0)), r"0 feature.*minimum of 1"),
    (csr_matrix((0, 4)), r"0 sample.*minimum of 1"),
    (np.zeros(60), r"1 dimension.*X\.reshape"),
    (np.zeros((60, 2, 4)), r"example 0 .*2 rows"),
    (coo_array(np.ones(60)), "1 dimension"),
    (coo_array(np.ones((2, 3, 4))), r"example 0 .*3 rows"),
    (coo_array(np.ones((2, 3, 4, 1))), "X has 4 dimensions"),
    (None, "X"),
    (object(), "X"),
    (7, "0 dimensions"),
    ("rows", "X"),
    ({"a": [1.0, 2.0]}, "X"),
    ((row for row in [[1.0]]), "X"),
    ([[1.0, 2.0], [3.0]], r"ragged: row 1 has 1 columns but row 0 has 2"),
    (np.array([[1.0, 2.0], [3.0]], dtype=object), r"ragged: row 1 has 1 columns"),
    ([[1.0, 2.0], 3.0], r"ragged: row 1"),
    (np.ones((60, 4)) + 1j, "[Cc]omplex"),
    (csr_matrix(np.ones((60, 4)) + 1j), "[Cc]omplex"),
    (np.array([["a", "b"]] * 60), r"X\[0, 0\] is .*'a'.*encode categories"),
    (np.array([[1.0, "b"]] * 60, dtype=object), r"X\[0, 1\] is 'b'.*encode categories"),
    (np.array([[1.0, []]] * 60, dtype=object), r"X\[0, 1\] is \[\]"),
    ([[1.0, 10**400]] * 60, r"X\[0, 1\] is 1000"),
    (pd.DataFrame({"a": [1.0] * 60, "b": ["x"] * 60}), r"X has 1 column .* 'b': 1 text \('x'\)"),
    (pd.DataFrame({"sex": ["f"] * 60, "a": pd.array([1.0, None] * 30, "Float64")}), "'a': 30 empty cells, the first.*fill='median'"),
    (pd.DataFrame({"id": [f"p{i}" for i in range(60)], "bmi": [None, 2.0] * 30, "sex": ["f", "m"] * 30}),
     r"3 columns.*'id': 60 texts, all different; 'bmi': 30 empty cells.*'sex': 2 texts \('f', 'm'\)"),
    (np.zeros((60, 4), dtype="datetime64[D]"), r"X\[0, 0\] is the date 1970-01-01. Turn dates into numbers"),
    (np.zeros(60, dtype=[("a", float), ("b", float)]), "X cannot be read as a matrix of numbers"),
    ([["a", "b"], ["c", "d"]] * 30, "X is a list of objects"),
    ([[None, 1.0], [2.0, 3.0]] * 30, "X"),
    ([[1j, 1.0], [2.0, 3.0]] * 30, "X"),
    (["one", "two"] * 30, "X is a list of objects"),
    (np.ma.masked_greater(np.arange(240.0).reshape(60, 4), 200), "X is masked.*fill"),
    ([np.zeros((1, 4)), np.zeros((1, 3))] * 30, r"X\[1\] has 3 columns but X\[0\] has 4"),
    ([np.zeros((1, 4)), [1.0] * 4] * 30, r"X\[1\] is .*, but X\[0\] is a table"),
    ([np.zeros((1, 4))] * 3 + [np.zeros((2, 4))] * 57, r"example 3 .*2 rows"),
]


@pytest.mark.parametrize("call", ["fit", "partial_fit"])
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize(("bad", "match"), BAD_X, ids=lambda value: f"{type(value).__name__}-{value!s:.20}")
def test_what_is_no_table_of_numbers_is_refused(bad, match, problem, call):
    X, y = data()
    engine = Engine(problem, classes=RANKS).fit(X, y)
    with refused(engine, X, y, match):
        getattr(engine, call)(bad, y)
    with pytest.raises(DataError, match=match):
        Engine(problem, classes=RANKS).fit(bad, y)


def test_what_can_never_be_a_number_is_a_type_error_too():
    with pytest.raises(DataTypeError, match=r"X\[1, 0\] is \{\}"):
        Engine("cusum").fit(np.array([[1.0], [{}]], dtype=object), [1, 2])


def test_maps_over_rows_of_numbers_refuse_objects():
    for words in (["one", "two"], [["a", "b"], ["c"]]):
        with pytest.raises(DataError, match="X is a list of objects.*rows of numbers"):
            Engine(Subsets()).fit(words, [(), ()])


def damaged(change):
    A = csr_matrix(data()[0])
    change(A)
    return A


def indices(at, value):
    def change(A):
        A.indices[at] = value
    return change


def indptr(**entries):
    def change(A):
        for at, value in entries.items():
            A.indptr[int(at[1:])] = value
    return change


def cut(name, to):
    def change(A):
        setattr(A, name, getattr(A, name)[:to])
    return change


BAD_CSR = [
    (indices(9, 4), r"X\.indices\[9\] \(row 2\) is 4, outside the 4 columns"),
    (indices(9, -1), r"X\.indices\[9\] \(row 2\) is -1, outside the 4 columns"),
    (indptr(_3=1), r"X\.indptr is damaged"),
    (indptr(_3=2**31 - 1, _4=-5), r"X\.indptr is damaged"),         # differences of 32-bit integers can overflow
    (indptr(_0=1), r"X\.indptr is damaged"),
    (indptr(_60=1000), r"X\.indptr is damaged"),
    (cut("indptr", 31), r"X\.indptr is damaged"),
    (cut("indptr", 0), r"X\.indptr is damaged"),
    (cut("indices", 100), r"X\.indptr is damaged"),
    (cut("data", 100), r"X\.indptr is damaged"),
    (lambda A: (indptr(_3=1)(A), setattr(A, "data", A.data.astype(int))), r"X\.indptr is damaged"),      # and must be converted
    (lambda A: (indptr(_60=1000)(A), setattr(A, "indices", A.indices.astype(np.int64))), r"X\.indptr is damaged"),
]


@pytest.mark.parametrize(("change", "match"), BAD_CSR)
def test_damaged_csr_is_refused_before_it_is_read(change, match):
    X, y = data()
    engine = Engine("cusum").fit(csr_matrix(X), y)
    with refused(engine, csr_matrix(X), y, match):
        engine.partial_fit(damaged(change), y)
    with pytest.raises(DataError, match=match):
        engine.predict(damaged(change))


@pytest.mark.parametrize(("change", "match"), [
    (lambda A: setattr(A, "data", A.data.reshape(-1, 1)), "X.data has 2 dimensions"),
    (lambda A: setattr(A, "indices", A.indices.reshape(-1, 1)), "X.indices has 2 dimensions"),
])
@pytest.mark.parametrize("problem", ["cusum", "sequence"])
def test_arrays_of_a_csr_matrix_are_flat(problem, change, match):
    X, y = csr_matrix(data()[0]), data()[1]
    engine = Engine(problem).fit(X, y, lengths=[1] * 60)
    change(X)
    for call in (lambda: engine.predict(X, lengths=[1] * 60), lambda: engine.fit(X, y, lengths=[1] * 60)):
        with pytest.raises(DataError, match=match):
            call()


@pytest.mark.parametrize("problem", ["cusum", "sequence"])
def test_an_entry_of_a_sparse_matrix_that_is_no_number_is_named(problem):
    X = csr_matrix(data()[0])
    X.data = X.data.astype(object)
    X.data[9] = "much"
    with pytest.raises(DataError, match=r"X\[2, 1\] is 'much': .*encode categories"):
        Engine(problem).fit(X, data()[1], lengths=[1] * 60)
    X.data[9] = {}
    with pytest.raises(DataTypeError, match=r"X\[2, 1\] is {}"):
        Engine(problem).fit(X, data()[1], lengths=[1] * 60)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("n_columns", [2**55, 2**60 + 1, 2**62 + 5, 2**63 - 1])
@pytest.mark.parametrize("problem", [*PROBLEMS, "sequence", "latent-ranking"])
def test_more_weights_than_can_be_addressed_are_refused(problem, n_columns, average):
    """The product of columns and labels could overflow to a small number."""
    X = csr_array((np.ones(4), np.arange(4), np.arange(5)), shape=(4, n_columns))
    with pytest.raises((DataError, MemoryError), match="more than the 36028797018963968 that can be addressed|Unable to allocate"):
        Engine(problem, average=average).fit(X, [1, 2, 3, 1], **({} if problem in PROBLEMS else {"lengths": [2, 2]}))


# ---- later X ----


def test_another_number_of_features_is_refused():
    X, y = data()
    for kind in (np.asarray, csr_matrix):
        engine = Engine("cusum").fit(kind(X), y)
        for call in (lambda Z, e=engine: e.partial_fit(Z, y), engine.predict, engine.atom_scores, lambda Z, e=engine: e.explain(Z[:1])):
            with refused(engine, kind(X), y, "X has 3 features, but this model was trained with 4"):
                call(kind(X[:, :3]))


def test_other_column_names_are_refused():
    X, y = data()
    table = pd.DataFrame(X, columns=["age", "size", "price", "rooms"])
    engine = Engine("cusum").fit(table, y)
    swapped = table[["age", "price", "size", "rooms"]]
    for call in (lambda Z: engine.partial_fit(Z, y), engine.predict, engine.atom_scores, lambda Z: engine.explain(Z[:1])):
        with refused(engine, table, y, "column 1 of X is 'price', but this model was trained with 'size' there"):
            call(swapped)
    assert engine.predict(X).tolist() == engine.predict(table).tolist()


def test_rows_and_objects_are_not_confused():
    X, y = data()
    engine = Engine("cusum").fit(X, y)
    with refused(engine, X, y, "X is a list of objects, but this model was trained on rows"):
        engine.predict(["a word", "another"])


# ---- offsets ----


@pytest.mark.parametrize(("offsets", "match"), [
    ([0, 3, 4, 11], "runs from 0 to 11; expected from 0 to the 10 rows"),
    ([1, 3, 4, 10], "runs from 1 to 10"),
    ([0, 4, 3, 10], r"not sorted: offsets\[2\] is 3, below offsets\[1\] which is 4"),
    ([0, 3, 10], "y has 3 outputs but X has 2 examples"),
    ([0.0, 3.0, 4.0, 10.0], "type float64. Expected at least two integers"),
    ([[0, 3, 4, 10]], r"shape \(1, 4\)"),
    ([10], "at least two integers"),
    ([], "at least two integers"),
    ("rows", "at least two integers"),
    (10, "at least two integers"),
    ([[0], [3, 10]], "offsets is .*its entries differ in form"),
    (np.array([0, 2**62, -2**62, 10]), r"not sorted: offsets\[2\] is -4611686018427387904"),
    (np.array([0, 2**63 + 3, 4, 10], dtype=np.uint64), r"not sorted: offsets\[2\] is 4, below offsets\[1\] which is 9223372036854775811"),
    ([0, 2**70, 10], "type object. Expected at least two integers"),
])
def test_bad_offsets_are_refused(offsets, match):
    X, _ = data(10)
    engine = Engine(Subsets()).fit(X, CHOSEN, offsets=OFFSETS)
    before = engine.coef_
    for call in (engine.fit, engine.partial_fit):
        with pytest.raises(DataError, match=match):
            call(X, CHOSEN, offsets=offsets)
    assert np.array_equal(engine.coef_, before)
    assert len(engine.partial_fit(X, CHOSEN, offsets=OFFSETS).predict(X, offsets=OFFSETS)) == 3


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize(("offsets", "match"), [
    (np.arange(0, 61, 2), r"example 0 .*2 rows"),
    ([0, 1, 1, *range(2, 61)], r"example 1 .*0 rows"),
    ([*range(60), 60, 60], r"example 60 .*0 rows"),
])
def test_problems_over_single_rows_refuse_blocks(problem, offsets, match):
    X, y = data()
    engine = Engine(problem).fit(X, y, offsets=np.arange(61))
    labels = np.resize(y, len(offsets) - 1)
    with refused(engine, X, y, match):
        engine.partial_fit(X, labels, offsets=offsets)
    for call in (engine.predict, engine.atom_scores):
        with pytest.raises(DataError, match=match):
            call(X, offsets=offsets)


def test_offsets_of_a_list_are_refused():
    X, _ = data(10)
    blocks = [X[:3], X[3:4], X[4:]]
    with pytest.raises(DataError, match="offsets was given, but X is a list"):
        Engine(Subsets()).fit(blocks, CHOSEN, offsets=OFFSETS)
    with pytest.raises(DataError, match="offsets was given, but X is a list"):
        Engine("cusum").fit(["a", "b"], [1, 2], offsets=[0, 1, 2])


# ---- y ----


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize(("y", "match"), [
    ([3] * 60, r"only 3 \(1 class\); at least two labels"),
    ([1, 2] * 29, "y has 58 labels but X has 60 examples"),
    (np.ones((60, 2)), r"y has shape \(60, 2\); expected one label per example"),
    (None, "y"),
    (5, "y"),
    ((label for label in [1, 2] * 30), "y"),
    ([[1], [2, 3]] * 30, "y"),
    ([1, 2, np.nan] * 20, r"y\[2\] is nan, which is no label"),
    ([1, 2, np.inf] * 20, r"y\[2\] is inf, which is no label"),
    ([1, 2, None] * 20, r"y\[2\] is None, which is no label"),
    (pd.Series([1, 2, pd.NA] * 20, dtype="Int64"), r"y\[2\] is .*which is no label"),
    (np.array([1, pd.NA, 2] * 20, dtype=object), r"y\[1\] is <NA>, which is no label"),
    (np.array(["2020", "2021", "NaT"] * 20, dtype="datetime64[Y]"), r"y\[2\] is .*, which is no label"),
    ([1, 2, "x"] * 20, "types int, str"),
    (np.ma.masked_equal([1, 2, 3] * 20, 3), r"y\[2\] is masked"),
    (pd.Series([[1], [2], [1, 2]] * 20).to_numpy(), "y.*lists"),
    (np.random.default_rng(0).normal(size=60), "regression target. Cut it into levels"),
])
def test_labels_that_cannot_be_learned_are_refused(problem, y, match):
    X, labels = data()
    engine = Engine(problem).fit(X, labels)
    with refused(engine, X, labels, match):
        engine.fit(X, y)
    with pytest.raises(DataError, match=match):
        Engine(problem).fit(X, y)


@pytest.mark.parametrize("repeat", [1, 3])      # few labels and many are encoded in different ways
@pytest.mark.parametrize(("y", "match"), [
    ([1, 2, 5] * 20, r"y\[2\] is 5, which is not one of the labels known so far \(1, 2, 3, 4\)"),
    ([1, 2, 0] * 20, r"y\[2\] is 0, which is not one"),
    ([1, 2.5, 0] * 20, r"y\[1\] is 2.5, which is not one"),
    ([1, 2, "x"] * 20, r"y\[2\] is 'x', which is not one"),
    ([1, 2, "3"] * 20, r"y\[2\] is '3', which is not one"),
    ([1, 2, None] * 20, r"y\[2\] is None, which is no label"),
    ([1, 2, np.nan] * 20, r"y\[2\] is nan, which is no label"),
    ([1, 2, pd.NA] * 20, r"y\[2\] is <NA>, which is no label"),
    (np.array([1, 2, 2**63 + 3] * 20, dtype=np.uint64), r"y\[2\] is 9223372036854775811, which is not one"),
    (np.array([1, 2, -1] * 20, dtype=np.int8), r"y\[2\] is -1, which is not one"),
    ([1, 2, [3]] * 20, r"y"),
    (pd.Series([[1], [2], [1, 2]] * 20).to_numpy(), "y.*lists"),
    (np.ma.masked_equal([1, 2, 3] * 20, 3), r"y\[2\] is masked"),
    ([[1, 2]] * 60, r"y has shape \(60, 2\)|y has shape \(180, 2\)"),
    ([1] * 59, "y has .* labels but X has"),
    (None, "y"),
    (5, "y"),
    ({1: 0, 2: 0}, "y"),
    ({1, 2}, r"y is \{1, 2\}; expected one label per example"),
    (pd.DataFrame({"low": [1] * 60, "high": [1] * 60}), "y has shape"),
])
def test_labels_that_are_not_known_are_refused(y, match, repeat):
    X, labels = data()
    engine = Engine("cusum", classes=RANKS).fit(X, labels)
    if hasattr(y, "__len__") and not isinstance(y, (dict, set)) and repeat > 1:
        y = pd.concat([y] * repeat) if isinstance(y, pd.DataFrame) else np.tile(y, repeat) if isinstance(y, np.ndarray) else y * repeat
    longer = np.tile(X, (repeat, 1))
    for call in (engine.partial_fit, engine.fit):
        with refused(engine, X, labels, match):
            call(longer, y)


@pytest.mark.parametrize("n", [3, 300])
def test_the_nearest_label_is_suggested(n):
    X, _ = data(n)
    y = ["low", "middle", "high"] * (n // 3)
    engine = Engine("cusum", classes=["low", "middle", "high"]).partial_fit(X, y)
    y[n - 2] = "midle"
    with refused(engine, X, ["low", "middle", "high"] * (n // 3), rf"y\[{n - 2}\] is 'midle'.*Did you mean 'middle'\?.*classes="):
        engine.partial_fit(X, y)


def test_the_labels_of_a_stream_are_those_of_its_first_chunk():
    X, y = data()
    engine = Engine("prank").partial_fit(X, np.minimum(y, 3))
    with refused(engine, X, np.minimum(y, 3), r"y\[\d+\] is 4, .* known so far \(1, 2, 3\).*first fit or partial_fit; name all of them"):
        engine.partial_fit(X, y)


@pytest.mark.parametrize(("classes", "match"), [
    ([1, 2, 2], "classes names 2 more than once"),
    ([1], r"classes names 1 \(1 class\)"),
    ([], "no label"),
    ([[1, 2], [3, 4]], r"classes has shape \(2, 2\)"),
    ({1, 2, 3, 4}, "classes"),
    ("1234", "classes"),
    ([[1], {}], "classes"),
    ([1, 2, 3, 4, None], r"classes\[4\] is None, which is no label"),
    ([1, 2, 3, 4, np.nan], r"classes\[4\] is nan, which is no label"),
])
def test_classes_that_cannot_be_are_refused(classes, match):
    with pytest.raises((DataError, OptionError), match=match):
        Engine("cusum", classes=classes).fit(*data())


def test_strings_have_no_rank_order_of_their_own():
    X, _ = data(6)
    for y in (["low", "high"] * 3, pd.Series(["low", "high"] * 3, dtype="category"), np.array(["low", "high"] * 3, dtype=object)):
        with pytest.raises(DataError, match="rank order is unknown.*name it with classes="):
            Engine("cusum").fit(X, y)
        assert Engine("multiclass").fit(X, y).classes_.tolist() == ["high", "low"]


def test_gold_structures_must_lie_among_the_atoms():
    X, _ = data(10)
    engine = Engine(Subsets()).fit(X, CHOSEN, offsets=OFFSETS)
    before = engine.coef_
    for chosen, match in [([(0,), (), (6,)], r"y\[2\] cannot be used: atom 6"), ([(0,), (-1,), ()], r"y\[1\] cannot be used: atom -1"),
                          ([(0, 0), (), ()], r"y\[0\] cannot be used: .*twice"), ([(0,), 3, ()], r"y\[1\] is 3; expected a collection")]:
        with pytest.raises(DataError, match=match):
            engine.partial_fit(X, chosen, offsets=OFFSETS)
    assert np.array_equal(engine.coef_, before)


# ---- sample weights and costs ----


@pytest.mark.parametrize(("weight", "match"), [
    (np.ones(59), r"sample_weight has shape \(59,\); expected \(60,\)"),
    (np.ones((60, 1)), r"sample_weight has shape \(60, 1\)"),
    ([1.0] * 59 + [-1.0], r"sample_weight\[59\] is -1.0; weights must be finite and not negative"),
    ([1.0] * 58 + [np.nan, np.inf], r"sample_weight\[58\] is nan"),
    ([1.0] * 59 + [None], r"sample_weight\[59\] is nan|not a list of numbers"),
    (["heavy"] * 60, "sample_weight is not a list of numbers"),
    ([[1.0], [1.0, 2.0]] * 30, "sample_weight is not a list of numbers"),
    (np.ones(60) + 1j, "sample_weight is not a list of numbers"),
    (np.zeros(60), "all sample weights are zero"),
    ([10**400] * 60, "sample_weight is not a list of numbers"),
])
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_bad_sample_weights_are_refused(weight, match, call):
    X, y = data()
    engine = Engine("cusum").fit(X, y)
    with refused(engine, X, y, match):
        getattr(engine, call)(X, y, sample_weight=weight)


def test_plain_passive_aggressive_steps_have_no_slack_to_weigh():
    X, y = data()
    engine = Engine("cusum", update="pa").fit(X, y, sample_weight=np.arange(60) % 2)
    with refused(engine, X, y, r"sample_weight\[2\] is 0.5: update='pa' has no slack to weigh.*use 'pa1' or 'pa2'"):
        engine.partial_fit(X, y, sample_weight=np.where(np.arange(60) == 2, 0.5, 1.0))


@pytest.mark.parametrize(("costs", "match"), [
    (None, "needs the costs of each example"),
    (np.zeros((60, 3)), r"costs has shape \(60, 3\); expected \(60, 4\)"),
    (np.zeros((59, 4)), r"costs has shape \(59, 4\); expected \(60, 4\)"),
    (np.zeros(60), "costs has 1 dimension"),
    (np.full((60, 4), np.nan), r"costs\[0, 0\] is nan; costs must be finite"),
    (np.full((60, 4), -1.0), r"costs\[0, 0\] is -1.0"),
    (np.ones((60, 4)), r"costs\[0, \d\] is 1.0, the cost of the right label; it must be 0"),
    ([["dear"] * 4] * 60, "costs is not a matrix of numbers"),
    ([[10**400] * 4] * 60, "costs is not a matrix of numbers"),
])
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_bad_costs_are_refused(costs, match, call):
    X, y = data()
    right = np.abs(y[:, None] - np.arange(1, 5)).astype(float)
    engine = Engine("cusum", loss="costs").fit(X, y, costs=right)
    before = state(engine)
    with pytest.raises(DataError, match=match):
        getattr(engine, call)(X, y, costs=costs)
    assert state(engine) == before
    assert engine.partial_fit(X, y, costs=right).mistakes_ != before[1]


def test_costs_that_nobody_asked_for_are_refused():
    X, y = data()
    engine = Engine("cusum").fit(X, y)
    with refused(engine, X, y, "costs was given, but AbsoluteLoss does not use it; set loss='costs'"):
        engine.partial_fit(X, y, costs=np.zeros((60, 4)))


# ---- the family of errors ----


def test_errors_are_what_python_code_expects_to_catch():
    families = [
        (DataError, ValueError), (DataTypeError, ValueError), (DataTypeError, TypeError), (OptionError, ValueError),
        (PluginError, TypeError), (ModelFormatError, ValueError), (NotFittedError, ValueError), (NotFittedError, AttributeError),
    ]
    for kind, base in families:
        assert issubclass(kind, StructPercError) and issubclass(kind, base)


def test_an_untrained_engine_has_no_fitted_attributes():
    engine = Engine("cusum")
    for name in ("coef_", "intercept_", "mistakes_", "status_", "classes_", "online_predictions_", "cumulative_loss_"):
        assert not hasattr(engine, name)
        with pytest.raises(NotFittedError):
            getattr(engine, name)
    with pytest.raises(AttributeError, match="no attribute 'coefficients'"):
        _ = engine.coefficients


def test_attributes_that_a_problem_lacks_are_missing():
    X, y = data()
    assert not hasattr(Engine("cusum").fit(X, y), "thresholds_")
    assert not hasattr(Engine("prank").fit(X, y), "intercept_")
    with pytest.raises(AttributeError, match=r"record_predictions=True"):
        _ = Engine("cusum").fit(X, y).online_predictions_


# ---- arguments of any kind ----


class WithoutLength:
    def __len__(self):
        return -1


ODD = [None, 5, 10**400, 2**64, float("nan"), Fraction(1, 2), Decimal("0.5"), "a", "", b"a", [], {}, {1, 2}, range(12), iter([1]),
       np.array(5), np.zeros(0), np.zeros((2, 2, 2)), np.array(["a"] * 12), [10**400] * 12, [[1], [2, 3]] * 6, [(1, 2), "a"] * 6, [{}] * 12,
       [None] * 12, [object()] * 12, np.zeros(12, dtype="M8[s]"), np.zeros(12, dtype=complex), np.zeros(12, dtype=[("a", int)]),
       ["\ud800"] * 12, pd.Series([pd.NA] * 12), pd.DataFrame({"a": [1] * 12}), memoryview(b"abcdefghijkl"), WithoutLength(),
       csr_array(np.eye(12)), object(), np.ma.masked_array([1] * 12, [0] * 11 + [1]), np.void(b"abc"), slice(3), [np.array([1, 2]), 1] * 6]
ARGUMENTS = ("X", "y", "sample_weight", "lengths", "offsets", "groups", "allowed", "costs", "classes", "k", "kind", "against", "update",
             "loss", "margin", "loss_weight", "C", "step_size", "average", "decay", "shuffle", "random_state", "trainer", "plugins",
             "budget", "n_hashed", "start", "gains", "relevant")


@pytest.mark.filterwarnings("ignore::structperc.errors.DataWarning")
@pytest.mark.parametrize("problem", ["cusum", "sequence"])
@pytest.mark.parametrize("odd", ODD, ids=lambda odd: f"{type(odd).__name__}-{odd!r:.12}".split("\n")[0].split(" at ")[0])
def test_any_argument_is_taken_or_refused_in_a_sentence(problem, odd):
    """No argument raises a bare exception of Python or numpy, in any place."""
    X, y = data(12)
    where = {"lengths": [6, 6]} if problem == "sequence" else {}
    trained = Engine(problem).fit(X, y, **where)
    answers = {"k": lambda: trained.predict(X, k=odd, **where), "kind": lambda: trained.predict_marginals(X, kind=odd, **where),
               "against": lambda: trained.explain(X[:6] if where else X[:1], against=odd)}

    def train(name):
        given = {"X": X, "y": y, **where}
        if name in ("X", "y", "sample_weight", "lengths", "offsets", "groups", "allowed", "costs"):
            given.update({name: odd})
            if name in ("offsets", "groups"):
                given.pop("lengths", None)
            trained_too = copy.deepcopy(trained)
            for call in (Engine(problem).fit, trained_too.partial_fit):
                try:
                    call(**given)
                except StructPercError:
                    continue
        else:
            Engine(problem, **{name: odd}).fit(**given)

    for name in ARGUMENTS:
        try:
            answers[name]() if name in answers else train(name)
        except StructPercError as error:
            assert len(str(error)) > 20
        except MemoryError:
            assert isinstance(odd, int)


def test_numbers_of_any_kind_are_options_where_a_float_holds_them():
    X, y = data()
    expected = Engine("cusum", update="pa1", C=0.5, margin=3.0).fit(X, y).coef_
    assert np.array_equal(Engine("cusum", update="pa1", C=Fraction(1, 2), margin=3).fit(X, y).coef_, expected)
    assert Engine("cusum", update="pa1", C=10**20).fit(X, y).coef_.any()
    for value in (10**400, -(10**400), Fraction(10**400), float("inf")):
        with pytest.raises(OptionError, match="expected a number greater than 0"):
            Engine("cusum", update="pa1", C=value)
    with pytest.raises(OptionError, match="expected a whole number"):
        Engine("latent-ranking", k=2**63)


DAYS = pd.date_range("2024-01-01", periods=60)
DATES = {"beside a number": {"a": [1.0] * 60, "day": DAYS}, "only": {"day": DAYS}, "one date": {"a": np.arange(60.0), "day": DAYS[0]}}


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("problem", ["cusum", "prank", "multiclass"])
@pytest.mark.parametrize("columns", DATES.values(), ids=DATES)
def test_columns_of_dates_are_numbers_without_an_option(columns, problem, method):
    """A later date moves the scores, unless the column has one date only."""
    X, y = pd.DataFrame(columns), np.arange(60) // 20 + 1
    engine = Engine(problem, random_state=0)
    getattr(engine, method)(X, y)
    scores, later = engine.atom_scores(X), engine.atom_scores(X.assign(day=X["day"] + pd.Timedelta(days=400)))
    assert np.isfinite(scores).all() and np.array_equal(later, scores) == (X["day"].nunique() == 1)


FEW, FEW_LABELS = [[0.0, 1.0], [1.0, 0.0], [0.5, 2.0], [2.0, 1.5]], [1, 2, 1, 2]


def no_text(shape):
    """An array of texts with code points beyond Unicode, as a damaged file that is mapped may have."""
    texts = np.full(shape, "a")
    texts.view(np.uint32)[...] = 0x110000
    return texts


@pytest.mark.parametrize("call", [
    lambda: Engine("cusum").fit(no_text((4, 2)), [1, 2, 1, 2]), lambda: Engine("cusum").fit(no_text(4), [1, 2, 1, 2]),
    lambda: Engine("multiclass").fit(FEW, no_text(4)), lambda: Engine("multiclass").fit(FEW, FEW_LABELS, sample_weight=no_text(4)),
    lambda: Engine("cusum").fit(FEW, FEW_LABELS).predict(no_text((3, 2))),
    lambda: Engine("cusum").fit(FEW, FEW_LABELS).predict_proba(no_text((3, 2))),
])  # fmt: skip
def test_texts_beyond_unicode_are_refused_by_a_sentence(call):
    with pytest.raises(DataError, match="text with code points that no character has"):
        call()


def test_the_last_character_of_unicode_is_text():
    labels = ["a", "\U0010ffff"]
    assert Engine("multiclass").fit(FEW, np.array(labels * 2)).classes_.tolist() == labels


@pytest.mark.parametrize(("call", "what"), [
    (lambda: PRank().fit(FEW, FEW_LABELS).score(FEW, no_text(4)), "y"), (lambda: PRank().fit(FEW, no_text(4)), "y"),
    (lambda: RankingSVM().fit(FEW, FEW_LABELS, groups=no_text(4)), "groups"),
    (lambda: RankingSVM().fit(FEW, FEW_LABELS, groups=no_text(4).astype(">U1")), "groups"),
    (lambda: RankingSVM().fit(FEW, FEW_LABELS, groups=no_text(8)[::2]), "groups"),
    (lambda: PRank().fit(FEW, FEW_LABELS, sample_weight=no_text(4)), "an argument"),
    (lambda: PRank().partial_fit(FEW, FEW_LABELS, classes=no_text(2)), "classes"),
    (lambda: metrics.accuracy(no_text(4), no_text(4)), "y_true"),
])  # fmt: skip
def test_estimators_and_metrics_name_the_argument_of_texts_beyond_unicode(call, what):
    with pytest.raises(DataError, match=f"^{what} holds text with code points that no character has; read it again"):
        call()
