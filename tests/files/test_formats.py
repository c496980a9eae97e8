"""Every format at one door: endings in any case, whole and in parts, opened for several passes, and options that it lacks."""

import gzip
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from structperc import Engine, files
from structperc.errors import DataError, OptionError
from structperc.files.formats import FORMATS, ITEMS, TOKENS, format_of

TABLE = pd.DataFrame({"a": [0.5, 1.5, 2.5, 3.5, 4.5], "b": [1, 0, 1, 0, 1], "y": [1, 2, 1, 3, 2]})
WORD = "\t_" * 8
SENTENCES = [[("a", "N"), ("b", "V")], [("c", "N")], [("d", "V")]]


def written(folder, name) -> tuple:
    """A file of each format with the same content, and options for reading it."""
    path = folder / f"data{(*FORMATS[name].endings, '.txt')[0].upper()}"
    if name in ("duckdb", "sqlite"):
        if name == "duckdb":
            pytest.importorskip("adbc_driver_duckdb.dbapi")
            with pytest.importorskip("duckdb").connect(str(path)) as connection:
                connection.execute("create table t (a double, b integer, y integer)")
                connection.executemany("insert into t values (?, ?, ?)", TABLE.to_numpy().tolist())
        else:
            with closing(sqlite3.connect(path)) as connection:
                TABLE.to_sql("t", connection, index=False)
        return path, {"query": "select * from t order by a", "target": "y"}
    if name == "csv":
        TABLE.to_csv(path, index=False)
    elif name == "svmlight":
        path.write_text("".join(f"{y} 0:{a} 1:{b}\n" for a, b, y in TABLE.to_numpy().tolist()))
        return path, {"n_features": 2}
    elif name == "parquet":
        TABLE.to_parquet(path, index=False, row_group_size=2)
    elif name == "arrow":
        TABLE.to_feather(path, chunksize=2)
    elif name == "crfsuite":
        path.write_text("".join("".join(f"{tag}\tw={word}\n" for word, tag in sentence) + "\n" for sentence in SENTENCES))
        return path, {"format": name}
    else:
        line = {"conll": "{word} {tag}\n", "conllu": "{i}\t{word}\t_\t{tag}" + "\t_" * 6 + "\n"}[name]
        path.write_text("".join("".join(line.format(i=i + 1, word=word, tag=tag) for i, (word, tag) in enumerate(sentence)) + "\n"
                                for sentence in SENTENCES))
        return path, {"columns": ["word", "pos"], "target": "pos"} if name == "conll" else {"columns": ["form"], "target": "upos"}
    return path, {"target": "y"}


def rows_of(part) -> list:
    X = part.X.toarray() if hasattr(part.X, "toarray") else part.X
    return list(zip(*(values if isinstance(values, list) else np.asarray(values).tolist() for values in (X, part.y)), strict=True))


@pytest.mark.parametrize("name", FORMATS)
def test_parts_and_passes_are_the_whole(tmp_path, name):
    if FORMATS[name].extra:
        pytest.importorskip("pyarrow")
    path, options = written(tmp_path, name)
    whole = rows_of(files.read(path, **options))
    assert len(whole) == (3 if FORMATS[name].holds in (TOKENS, ITEMS) else 5)
    for rows in (1, 2, 100):
        parts = [rows_of(part) for part in files.stream(path, rows=rows, **options)]
        assert sum(parts, []) == whole and all(len(part) <= rows for part in parts)
    opening = {key: options.pop(key) for key in ("query", "format") if key in options}
    with files.open(path, **opening) as file:
        assert [sum(map(rows_of, file.parts(rows=2, **options)), []) for _ in range(3)] == [whole] * 3
    if FORMATS[name].compressed:
        (tmp_path / f"{path.name}.GZ").write_bytes(gzip.compress(path.read_bytes()))
        assert rows_of(files.read(tmp_path / f"{path.name}.GZ", **opening, **options)) == whole


@pytest.mark.parametrize(("path", "name"), [(f"s3://bucket/v1.2/a{ending}{packed}", name) for name, format in FORMATS.items()
                                            for ending in format.endings for packed in ("", ".gz", ".XZ")])
def test_an_ending_in_any_case_is_that_of_a_format(path, name):
    assert format_of(path) == format_of(path.upper()) == format_of(path.title()) == name


def test_a_name_without_an_ending_of_a_format_is_a_csv_file(tmp_path):
    assert [format_of(name) for name in ("a", "a.txt", "conllu.txt.xz", "-", "a.csv.b")] == [None] * 5
    (tmp_path / "conllu.txt").write_text("a,y\n1,2\n3,1\n")
    assert files.read(tmp_path / "conllu.txt", target="y").y.tolist() == [2, 1]


def test_endings_of_exports_and_cards_in_any_case(tmp_path):
    engine = Engine("cusum", random_state=0).fit(TABLE[["a", "b"]], TABLE["y"])
    for name in ("m.HTML", "m.Py", "m.JS", "m.C"):
        engine.export(tmp_path / name)
    for name in ("card.MD", "card.Html"):
        engine.card().save(tmp_path / name)
    assert "<!DOCTYPE html>" in (tmp_path / "card.Html").read_text() and "<html" in (tmp_path / "m.HTML").read_text()


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda path: files.read(path, format="excel"), "format='excel': expected one of csv, svmlight, parquet"),
    (lambda path: files.read(path, traget="y"), "is read as csv, which has no such option; it takes separator, .*Did you mean 'target'"),
    (lambda path: files.read(path, n_features=3), "n_features=3: .*csv.*has no such option.* Formats that do: svmlight"),
    (lambda path: files.open(path, target="y"), "target='y': .* it takes separator, decimal, encoding."),
    (lambda path: files.stream(path.with_suffix(".SVM"), target="y"), "a.SVM is read as svmlight.*; it takes n_features, group."),
    (lambda path: files.read(path.with_suffix(".Db")), "a.Db is a database; choose its rows by query"),
    *((lambda path, rows=rows: list(files.stream(path, target="y", rows=rows)), "expected a whole number from 1 on")
      for rows in (0, -1, True, "2")),
    (lambda path: files.read("a.svm", group="patient"), "group='patient': .* whose only groups are those of 'qid'"),
])  # fmt: skip
def test_what_a_format_lacks_is_a_sentence(tmp_path, call, sentence):
    (tmp_path / "a.csv").write_text("a,y\n1,2\n")
    with pytest.raises(OptionError, match=sentence):
        call(tmp_path / "a.csv")


@pytest.mark.parametrize("name", ["csv", "parquet", "arrow", "sqlite"])
@pytest.mark.parametrize("labels", [[1.0, None, 2.0], ["low", None, "high"], ["low", "", "high"]])
def test_an_empty_label_is_named_by_file_and_row(tmp_path, monkeypatch, name, labels):
    if name != "csv":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(f"{__name__}.TABLE", pd.DataFrame({"a": [0.5, 1.5, 2.5], "b": [1, 0, 1], "y": labels}))
    path, options = written(tmp_path, name)
    for rows in (None, 1, 2):
        with pytest.raises(DataError, match=f"(?i)data{path.suffix}, (row 2|line 3): column 'y' is empty"):
            list(files.stream(path, rows=rows, **options))


def test_what_gives_its_rows_once_says_so(monkeypatch):
    arrow = pytest.importorskip("pyarrow")
    with files.open(arrow.table({"a": [1.0], "y": [1]})) as file:
        assert len(list(file.parts(target="y"))) == 1
        with pytest.raises(DataError, match="the Arrow stream has been read, and gives its rows once"):
            list(file.parts(target="y"))
