"""Messages about X and y in the users' forms, and about files."""

import contextlib
import shutil
import sqlite3
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from advice.followed import SENTENCES, TAGS, X, Y, messages_of
from structperc import Engine, files
from structperc.estimators import IntervalPA, ORStump, PRank
from structperc.reading.matrices import as_array, read
from structperc.reading.named import NamedReader
from structperc.reading.table_reader import TableReader

FRAME = pd.DataFrame(X, columns=["a", "b"])
HOLED = FRAME.assign(a=[np.nan, *FRAME["a"][1:]])
TABLES = [FRAME[:12], FRAME[12:]]
MONTHS = FRAME.assign(month=pd.Categorical(pd.period_range("2024-01", periods=2, freq="M").repeat(12)))
TEXTS = FRAME.assign(c=["x", "y"] * 12)
BLOCKS = [X[:12], X[12:]]
ENDS = [0, 12, 24]
RANKED = [(0, 1), (1, 2), (0, 2)] * 8
ENDLESS = [(None, None), *RANKED[1:]]
TAGGED = [["x"] * 12, ["y"] * 12]


def tagger(X=SENTENCES, y=TAGS, told=None, **options):
    return Engine("sequence", epochs=1, random_state=0, **options).fit(X, y, **(told or {}))


def looked_up(folder, **options):
    (folder / "v").write_text("a 1 2\nb 2 3\nc 0 1\n")
    return tagger([[("a",), ("c",)], [("b",), ("a",)], [("c",), ("b",)]], vectors=str(folder / "v"), **options)


def in_arrow(frame):
    return pytest.importorskip("pyarrow").Table.from_pandas(frame, preserve_index=False)


def table(X=FRAME, y=Y, told=None, **options):
    return Engine("multiclass", plugins=["table"], random_state=0, **options).fit(X, y, **(told or {}))


def intervals(y, **options):
    return IntervalPA(random_state=0, **options).fit(X[:len(y)], y)


def matching(X, **options):
    return Engine("matching", epochs=1, random_state=0, **options).fit([X] * 4, [[0]] * 4)


def pairs(X, **options):
    return Engine("clusters", epochs=1, **options).fit(X, [[0, 1]])


def kept_on_full_disk(_):
    """A pass whose parts no disk takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=0))
        return list(files.Kept(lambda: [X])())


def unpickled():
    """Parts that no file takes."""
    return iter([{"X": X, "y": Y, "note": lambda: None}])


def learned(reader, X):
    reader.learn(X)
    return reader


def none_near(records):
    return [], []


def of_no_pair(records):
    return np.zeros((0, 2)), np.zeros((0, 1))


def near(records):
    return ([(0, 1)], [[1.0]]) if len(records) > 1 else ([], [])


def labels_of(folder, **options):
    (folder / "t.csv").write_text("a,y\n" + "".join(f"{i},{label}\n" for i, label in enumerate(["1", "2", "3", "007"])))
    return [part.y.tolist() for part in files.stream(folder / "t.csv", target="y", rows=2, **options)]


def word_as_label(folder, cell="NA", **options):
    (folder / "t.csv").write_text(f"a,y\n1,x\n2,{cell}\n")
    return [part.y.tolist() for part in files.stream(folder / "t.csv", target="y", **options)]


def query(folder, text, **options):
    path = folder / "t.db"
    if not path.exists():
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("create table t as select 9007199254740993 as x, 1 as y union select 0.5, 2")
            connection.execute("create table u (z, y)")
            connection.executemany("insert into u values (?, ?)", [("a", 1), (b"\xff", 2)])
            connection.commit()
    return files.read(path, query=text, target="y", **options)


MESSAGES = [
    *messages_of("structperc/reading/frames.py",
        ("which is no text; rename it, or pass", lambda _: table(FRAME.rename(columns={"a": 1})), lambda _: table(FRAME),
         lambda _: Engine("multiclass").fit(FRAME.rename(columns={"a": 1}).to_numpy(), Y)),
        ("of which other libraries have only the parts", lambda _: table(in_arrow(MONTHS)), lambda _: table(MONTHS),
         lambda _: table(in_arrow(MONTHS.astype({"month": str})), one_hot=["month"]))),
    *messages_of("structperc/reading/matrices.py",
        ("feature names are only supported if all of them are strings", lambda _: PRank().fit(FRAME.rename(columns={"a": 1}), Y),
         lambda _: PRank().fit(FRAME, Y), lambda _: PRank().fit(FRAME.rename(columns={"a": 1}).to_numpy(), Y)),
        ("give every column a name of its own", lambda _: PRank().fit(FRAME.set_axis(["a", "a"], axis=1), Y),
         lambda _: PRank().fit(FRAME, Y),
         lambda _: PRank().fit(FRAME.set_axis(["a", "a"], axis=1).to_numpy(), Y)),
        ("so fill or drop that row", lambda _: PRank().fit(HOLED, Y), lambda _: PRank().fit(HOLED[1:], Y[1:]),
         lambda _: PRank(plugins=["table"], plugin_options={"fill": "median"}).fit(HOLED, Y),
         lambda _: make_pipeline(SimpleImputer(), ORStump()).fit(HOLED, Y)),
        ("pass their real and imaginary parts as columns", lambda _: PRank().fit(X * 1j, Y),
         lambda _: PRank().fit(np.column_stack([X.real, X.imag]), Y)),
        ("X is a list with one array per example already", lambda _: read(BLOCKS, ENDS), lambda _: read(BLOCKS), lambda _: read(X, ENDS)),
        ("X is a list with one object per example already", lambda _: read([object()] * 2, [0, 1, 2]), lambda _: read([object()] * 2),
         lambda _: read(X, ENDS)),
        ("which is no array: its entries differ in form", lambda _: as_array([[1], [2, 3]], "lengths"),
         lambda _: as_array([1, 2], "lengths"))),
    *messages_of("structperc/reading/groups.py",
        ("with one example per entry already; pass one or the other", lambda _: tagger(told={"groups": [0, 1, 2]}), lambda _: tagger(),
         lambda _: tagger(X, TAGGED, {"lengths": [12, 12]})),
        ("so that two groups become one", lambda _: tagger(X, TAGGED, {"groups": np.repeat([2.0**60, 2.0**61], 12)}),
         lambda _: tagger(X, TAGGED, {"groups": np.repeat([2**60, 2**61], 12)}),
         lambda _: tagger(X, TAGGED, {"groups": np.repeat(["a", "b"], 12)}))),
    *messages_of("structperc/reading/intervals.py",
        ("has neither a lowest nor a highest label", lambda _: intervals(ENDLESS), lambda _: intervals(ENDLESS[1:]),
         lambda _: intervals(RANKED),
         lambda _: intervals(ENDLESS, unrated="skip")),
        ("are no numbers in ascending order", lambda _: intervals(pd.arrays.IntervalArray.from_tuples([(0, 1)] * 24), classes=["a", "b"]),
         lambda _: intervals([("a", "b"), ("a", "a"), ("b", "b")] * 8, classes=["a", "b"])),
        ("from 2**53 on floats lack whole numbers", lambda _: intervals([(2.0**60, None)] * 24, classes=[2**60, 2**60 + 1]),
         lambda _: intervals([(2**60, None), (None, 2**60 + 1)] * 12),
         lambda _: intervals(pd.DataFrame({"low": [2**60, None] * 12, "high": [2**60, 2**60 + 1] * 12}, dtype="Int64"))),
        (". Pass the pair (lowest, highest), here", lambda _: intervals(["0 to 1", "1", "2"] * 8),
         lambda _: intervals([(0, 1), 1, 2] * 8))),
    *messages_of("structperc/reading/key_columns.py",
        ("so that two keys become one", lambda _: matching(of_keys(2.0**60)), lambda _: matching(frame_of_keys([2**60, 2**60 + 1, 2**60])),
         lambda _: matching(of_keys(2**60, object)), lambda _: matching(frame_of_keys(["a", "b", "a"])))),
    *messages_of("structperc/reading/keyed.py",
        ("but X has no names; pass data frames, or leave keys out", lambda _: matching(of_keys(0), keys=["from", "to"]),
         lambda _: matching(frame_of_keys([0, 1, 2]), keys=["from", "to"]), lambda _: matching(of_keys(0)))),
    *messages_of("structperc/reading/named.py",
        ("which can be read only once; pass list(X)", lambda _: tagger(iter(SENTENCES)), lambda _: tagger(list(iter(SENTENCES)))),
        ("has learned from no data yet; call learn first", lambda _: NamedReader().read(SENTENCES),
         lambda _: learned(NamedReader(), SENTENCES).read(SENTENCES)),
        ("; pass the same kind of data", lambda _: tagger().predict(BLOCKS), lambda _: tagger().predict(SENTENCES)),
        ("offsets was given, but X is a list of sentences already", lambda _: tagger(told={"offsets": [0, 1, 2, 3]}), lambda _: tagger(),
         lambda _: tagger(X, TAGGED, {"offsets": ENDS})),
        ("has no effect, as X (", lambda _: tagger(BLOCKS, TAGGED, n_hashed=64), lambda _: tagger(BLOCKS, TAGGED),
         lambda _: tagger(n_hashed=64)),
        ("vectors are those of words in a column", looked_up, lambda folder: looked_up(folder, columns=["word"]),
         lambda folder: looked_up(folder, template="U:%x[0,0]")),
        ("each row of X is a sentence of one token", lambda _: tagger(X, [[k] for k in Y.tolist()]),
         lambda _: tagger(X, TAGGED, {"groups": [0] * 12 + [1] * 12}),
         lambda _: tagger(X, TAGGED, {"lengths": [12, 12]}))),
    *messages_of("structperc/reading/pairs.py",
        ("expected the number of an item, from 0. Pass other names", lambda _: pairs([np.array([[0, 1.5, 1.0]])]),
         lambda _: pairs([pd.DataFrame({"a": ["x"], "b": ["y"], "c": [1.0]})])),
        ("returned no pair for any example", lambda _: pairs([["r", "s"]], comparison=none_near),
         lambda _: pairs([["r", "s"]], comparison=of_no_pair),
         lambda _: pairs([["r", "s"]], comparison=near))),
    *messages_of("structperc/reading/table_options.py",
        ("marks filled cells; set fill too", lambda _: table(missing_indicators=True),
         lambda _: table(missing_indicators=True, fill="median"))),
    *messages_of("structperc/reading/table_reader.py",
        ("X has no named columns, but this model was trained on a table", lambda _: table(TEXTS, one_hot=["c"]).predict(TEXTS.to_numpy()),
         lambda _: table(TEXTS, one_hot=["c"]).predict(TEXTS)),
        ("X has no named columns, but the options name", lambda _: table(X, one_hot=["c"]), lambda _: table(TEXTS, one_hot=["c"])),
        ("X is a list with one table per example already", lambda _: TableReader().learn(TABLES, ENDS),
         lambda _: TableReader().learn(TABLES),
         lambda _: TableReader().learn(FRAME, ENDS))),
    *messages_of("structperc/files/frames.py",
        ("which means that nothing is known", word_as_label, lambda folder: word_as_label(folder, "z"),
         lambda folder: word_as_label(folder, missing={"y": []}))),
    *messages_of("structperc/files/kept.py",
        ("a temporary file cannot keep them", kept_on_full_disk, lambda _: list(files.Kept(lambda: [X])())),
        ("since it cannot be pickled", lambda _: list(files.Kept(unpickled)()), lambda _: list(unpickled()))),
    *messages_of("structperc/files/labels.py",
        ("as programs write it, but all labels", labels_of, lambda folder: labels_of(folder, text_labels=True),
         lambda folder: labels_of(folder, text_labels=False))),
    *messages_of("structperc/files/sqlite.py",
        ("which floating point cannot hold, and other cells are not", lambda folder: query(folder, "select * from t"),
         lambda folder: query(folder, "select cast(x as text) as x, y from t"),
         lambda folder: query(folder, "select round(x) as x, y from t")),
        ("a blob that is no text in UTF-8", lambda folder: query(folder, "select * from u"),
         lambda folder: query(folder, "select 1 as a, y from u"),
         lambda folder: query(folder, "select hex(z) as z, y from u", as_text=["z"]))),
]


def of_keys(first, kind=float):
    """Pairs of items with one feature."""
    array = np.array([[0, 1, 1.0], [1, 2, 1.0]], dtype=kind)
    array[:, :2] += first
    return array


def frame_of_keys(names):
    return pd.DataFrame({"from": names[:2], "to": names[1:], "a": [1.0, 1.0]})
