"""Keys are keys: of any type, from any origin, in any column, none of them rounded."""

import datetime
import pickle

import numpy as np
import pytest

from structperc import Engine, errors, files
from structperc.components import KeyedReader, PairReader
from structperc.estimators import PairClusterer, PairMatcher, PathFinder
from structperc.plugin_tools import key_values

pandas = pytest.importorskip("pandas")
LARGE = 1234567890123456789                     # float64 has no whole numbers between it and LARGE + 1
OF_TYPES = {
    "int64": [LARGE, LARGE + 1], "uint64": np.array([2**63 + 1, 2**63 + 2], dtype=np.uint64), "text": ["L1", "L2"], "mixed": [1, "1"],
    "dates": pandas.to_datetime([0, 1], unit="ns"), "days": [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)],
    "categories": pandas.Categorical(["x", "y"]), "nullable": pandas.array([LARGE, LARGE + 1], dtype="Int64"), "huge": [10**30, 10**30 + 1],
}  # fmt: skip


def trained(problem="matching", **options):
    """A model whose weight is positive."""
    block = np.array([[1, 10, 1.0], [1, 11, -1], [2, 11, 1.0], [2, 10, -1]])
    return Engine(problem, epochs=5, fit_intercept=False, random_state=0, **options).fit([block] * 4, [[0, 2]] * 4)


@pytest.mark.parametrize("kind", OF_TYPES)
def test_items_of_any_type_stay_apart(kind):
    ids, engine = OF_TYPES[kind], trained()
    frame = pandas.DataFrame({"l": ids, "r": [1, 2], "s": [1.0, 1.0]})
    objects = frame.astype(object).to_numpy()
    twice = pandas.concat([frame, frame]).iloc[[0, 2, 1, 3]]
    for X, where, n in (([frame], {}, 1), ([objects], {}, 1), (frame, {"offsets": [0, 2]}, 1), (twice, {"groups": list("abab")}, 2)):
        assert engine.predict(X, **where).tolist() == [(0, 1)] * n
    pairs = trained(show="pairs").predict([frame])[0]
    assert [left for left, _ in pairs] == list(frame["l"])
    model = PairMatcher(show="pairs", fit_intercept=False, random_state=0).fit([frame] * 4, [pairs] * 4)
    assert model.predict([frame])[0] == pairs and model.score([frame], [pairs]) == 1.0


def of_arrow(table):
    """The same table in the forms in which Arrow hands it over: whole, in chunks, as a batch, and as a stream without other methods."""
    stream = type("Stream", (), {"__arrow_c_stream__": lambda self, schema=None: table.__arrow_c_stream__(schema)})()
    pyarrow = pytest.importorskip("pyarrow")
    return [table, pyarrow.concat_tables([table.slice(0, 1), table.slice(1)]), table.combine_chunks().to_batches()[0], stream]


def of_polars(table):
    polars = pytest.importorskip("polars")
    return [polars.from_arrow(table), polars.from_arrow(table).lazy()]


@pytest.mark.parametrize("forms", [of_arrow, of_polars])
def test_items_of_other_libraries_stay_apart(forms):
    """Nanoseconds too, which Python's own dates, times and durations lack, and numbers of float32 from 2^24 on."""
    pyarrow, _ = pytest.importorskip("pyarrow"), pytest.importorskip("narwhals")
    nanoseconds = [1_700_000_000_000_000_001, 1_700_000_000_000_000_002]
    kinds = {pyarrow.int64(): [LARGE, LARGE + 1], pyarrow.uint64(): [2**63 + 1, 2**63 + 2], pyarrow.string(): ["L1", "L2"],
             pyarrow.date32(): [0, 1], pyarrow.timestamp("ns"): nanoseconds, pyarrow.timestamp("ns", "Europe/Berlin"): nanoseconds,
             pyarrow.duration("ns"): [1, 2], pyarrow.time64("ns"): [1, 2]}
    engine = trained()
    for kind, ids in kinds.items():
        table = pyarrow.table({"l": pyarrow.array(ids, kind), "r": [1, 2], "s": [1.0, 1.0]})
        for X in forms(table):
            assert engine.predict([X]).tolist() == [(0, 1)], (kind, type(X))
            assert engine.predict(X, lengths=[2]).tolist() == [(0, 1)], (kind, type(X))
    for ids, kind in (([2.0**24, 2.0**24 + 1], pyarrow.float32()), ([1, None], pyarrow.int64()), ([1, None], pyarrow.timestamp("ns"))):
        for X in forms(pyarrow.table({"l": pyarrow.array(ids, kind), "r": [1, 2], "s": [1.0, 1.0]})):
            with pytest.raises(errors.DataError, match="row [01] of X has .* in column 'l', which is the key of the row"):
                engine.predict([X])


@pytest.mark.parametrize("times", [pandas.to_timedelta, pandas.to_datetime])
def test_times_are_in_their_order_whatever_their_text_is(times):
    talks = pandas.DataFrame({"start": times([9, 100, 1000], unit="ns"), "stop": times([100, 1000, 2000], unit="ns"), "f": 1.0})
    engine = Engine("disjoint-intervals", fit_intercept=False, random_state=0).fit([talks] * 3, [[0, 1, 2]] * 3)
    assert engine.predict([talks]).tolist() == [(0, 1, 2)]


@pytest.mark.skipif(np.finfo(np.longdouble).eps == np.finfo(float).eps, reason="a long double is a double here")
def test_long_doubles_are_no_floats():
    one = np.longdouble(1)
    ids = np.array([one, one + np.finfo(np.longdouble).eps])
    for block in (np.column_stack([ids, ids, ids]), np.column_stack([ids.astype(object), [1.0, 2.0]])):
        assert KeyedReader(1).read([block]).keys[0, 0] != KeyedReader(1).read([block]).keys[1, 0]
    with pytest.raises(errors.DataError, match="row 0 of X has .* which is the key of the row"):
        KeyedReader(1).read([np.array([[np.longdouble("inf"), 1, 1]])])


def test_nullable_float32_is_rounded_from_its_own_limit_on():
    with pytest.raises(errors.DataError, match=r"From 2\*\*24 on float32 rounds"):
        trained().predict([pandas.DataFrame({"l": pandas.array([2.0**24, 2.0**24 + 1], dtype="Float32"), "r": [1, 2], "s": [1.0, 1.0]})])


def test_whole_numbers_of_arrays_are_read_before_they_are_rounded():
    engine, table = trained(), [[LARGE, 1, 1], [LARGE + 1, 2, 1]]
    assert engine.predict(table, lengths=[2]).tolist() == [(0, 1)]
    assert engine.predict([np.array(table)]).tolist() == engine.predict([np.array(table, dtype=object)]).tolist() == [(0, 1)]
    for dtype, first in ((np.float64, LARGE), (np.float32, 2**24)):
        with pytest.raises(errors.DataError, match=r"row 0 of X has \d+.* in column 0, which is the key of the row. From 2\*\*"):
            engine.predict([np.array([[first, 1, 1], [first + 1, 2, 1]], dtype=dtype)])


@pytest.mark.parametrize("cell", [None, float("nan"), float("inf"), [1], pandas.NaT])
def test_a_cell_that_names_nothing_is_refused(cell):
    with pytest.raises(errors.DataError, match="row 1 of X has .* in column 'l', which is the key of the row"):
        trained().predict([pandas.DataFrame({"l": ["a", cell], "r": [1, 2], "s": [1.0, 1.0]}, dtype=object)])


def test_keys_are_numbered_in_their_order():
    cells = ["b", "10", "9", 9, 10.5, "a", datetime.date(2024, 1, 1)]
    block = np.empty((len(cells), 2), dtype=object)
    block[:, 0], block[:, 1] = cells, 0.0
    rows = KeyedReader(1).read([block, block[:2]])
    assert [cells[int(i)] for i in np.argsort(rows.keys[:7, 0])] == [9, "9", "10", 10.5, datetime.date(2024, 1, 1), "a", "b"]
    assert rows.example(1).keys.ravel().tolist() == [1, 0]
    copy = pickle.loads(pickle.dumps(rows))
    assert copy.keys.tolist() == rows.keys.tolist() and key_values(copy.example(1)) == [("b",), ("10",)]
    assert key_values(rows.part(1, 2).example(0)) == [("b",), ("10",)]


@pytest.mark.parametrize("kind", [np.array, lambda rows: np.array(rows, dtype=object)])
def test_lists_of_rows_among_arrays_are_named(kind):
    rows = [[1, 10, 1.0], [1, 11, -1], [2, 11, 1.0], [2, 10, -1]]
    for X, sentence in (([kind(rows), rows], r"X\[1\] is .* but X\[0\] is a table"), ([rows, kind(rows)], "X has a list of objects")):
        with pytest.raises(errors.DataError, match=sentence):
            trained().predict(X)


def test_keys_are_columns_by_name():
    frame = pandas.DataFrame({"sim": [1.0, -1, 1, -1], "left": [1, 1, 2, 2], "right": [10, 11, 11, 10]})
    other = frame.rename(columns={"left": "one", "right": "two"})
    for data, options in ((frame, {}), (other, {"keys": "one,two"}), (other, {"keys": ["one", "two"]})):
        engine = Engine("matching", epochs=5, random_state=0, **options).fit([data] * 4, [[0, 2]] * 4)
        assert engine.predict([data]).tolist() == [(0, 2)] and engine.model_.parts.reader.input_columns().key_names[0] in ("left", "one")
        assert engine.predict([data[list(data.columns[::-1])]]).tolist() == [(0, 2)]
    assert PairMatcher(keys="one,two", random_state=0).fit([other] * 4, [[0, 2]] * 4).predict([other])[0] == (0, 2)
    for keys, message in (("one", "expected the names of 2 columns"), ("one,one", "names of 2"), ("one,three", "keys names 'three', but")):
        with pytest.raises((errors.OptionError, errors.DataError), match=message):
            Engine("matching", keys=keys).fit([other], [[0, 2]])
    with pytest.raises(errors.DataError, match="keys names the columns one, two, but X has no names; pass data frames"):
        Engine("matching", keys="one,two").fit([other.to_numpy()], [[0, 2]])
    with pytest.raises(errors.DataError, match=r"X\[1\] has other columns than X\[0\]"):
        Engine("matching").fit([frame, other], [[0, 2]] * 2)


def test_tables_encode_the_other_columns():
    frame = pandas.DataFrame({"colour": list("uvuv"), "left": ["A", "A", "B", "B"], "right": [LARGE, LARGE + 1, LARGE + 1, LARGE]})
    engine = Engine("matching", plugins=["table"], one_hot=["colour"], show="pairs", random_state=0).fit([frame] * 4, [[0, 2]] * 4)
    assert engine.predict([frame])[0] == [("A", LARGE), ("B", LARGE + 1)]
    assert engine.feature_names_in_.tolist() == ["left", "right", "colour"] and engine.n_features_in_ == 3
    assert [engine.feature_name(j) for j in range(2)] == ["colour=u", "colour=v"]


def test_other_problems_keep_their_keys():
    arcs = pandas.DataFrame({"tail": [2**60, 2**60, 2**60 + 1], "head": [2**60 + 1, 2**60 + 1, 2**60 + 2], "f": [1.0, -1, 1]})
    assert PathFinder(random_state=0).fit([arcs] * 3, [[0, 2]] * 3).predict([arcs]) == [(0, 2)]
    named = arcs.replace({2**60: "9", 2**60 + 1: "10", 2**60 + 2: "end"})
    engine = Engine("path", random_state=0).fit([named] * 3, [[0, 2]] * 3)
    assert engine.predict([named]).tolist() == [(0, 2)] and "9 to 10 (atom 0)" in engine.explain(named, against=[1, 2]).atoms
    talks = pandas.DataFrame({"room": [1.0, 1, 2], "start": pandas.to_datetime([0, 1, 1], unit="ns"),
                              "stop": pandas.to_datetime([1, 2, 3], unit="ns")})
    assert Engine("disjoint-intervals", random_state=0).fit([talks] * 3, [[0, 1]] * 3).predict([talks]).tolist() == [(0, 1)]
    pairs = pandas.DataFrame({"a": ["ann", "ann", "bob"], "b": ["bob", "cid", "cid"], "f": [1.0, -1, -1]})
    assert PairClusterer(random_state=0).fit([pairs] * 3, [[0, 0, 1]] * 3).predict([pairs])[0].tolist() == [0, 0, 1]
    with pytest.raises(errors.DataError, match=f"row 0 of X has {LARGE} in column 0; expected the number of an item, from 0"):
        PairReader(kind="unordered").read([pandas.DataFrame({"a": [LARGE], "b": [LARGE + 1], "f": [1.0]})])


@pytest.mark.parametrize(("ids", "kind"), [([LARGE, LARGE + 1], int), (["007", "7"], str), (["1.5", "1e3"], float),
                                           (["1700000000.123456", "1700000000.1234561"], str), (["x", "1"], str)])
def test_keys_of_files_are_whole_numbers_numbers_or_texts(ids, kind, tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("s,left,g,right,y\n" + "".join(f"1,{one},g,{other},1\n" for one, other in ((ids[0], 1), (ids[1], 2))))
    table = files.read(path, target="y", group="g", keys=["left", "right"])
    assert list(table.X.columns) == ["s", "left", "right"] and isinstance(table.X["left"].tolist()[0], kind)
    assert trained(show="rows", keys=None).predict([table.X[["left", "right", "s"]]]).tolist() == [(0, 1)]
    with pytest.raises(errors.DataError, match="no column 'gone'"):
        files.read(path, target="y", keys=["gone"])
