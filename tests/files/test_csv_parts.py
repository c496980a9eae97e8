"""A CSV file has the same content in parts of any size as in one read. No cell changes the meaning of another."""

import gzip
import io
import os
import tempfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from structperc import files
from structperc.errors import DataError
from structperc.files import csv_tables

NUMBERS = ["0", "1", "-2", "3.25", "0.1", "1e5", "+4", " 7 ", "9007199254740993", "123456789012345678901234",
           "0.30000000000000004", "1e-320"]
ODD = ["TRUE", "False", "inf", "-Infinity", "NA", "nan", "1e400", "", '""', "x", "\ufeff1", "\ufeffx", "1_0",
       "0x1", "1e", "\u0661", '"1\n2"', "1;5"]
LABELS = ["a", "b", "TRUE", "1", "2.5", "\ufeffa", "\ufeff"]
CELLS = st.sampled_from(NUMBERS) | st.sampled_from(ODD)
SIZES = 1, 2, 3, 7         # rows of a part
ROWS = st.lists(st.tuples(st.sampled_from(NUMBERS) | CELLS, CELLS, st.sampled_from(LABELS)), min_size=1, max_size=7)


def written(rows):
    file = tempfile.NamedTemporaryFile("w", suffix=".csv", encoding="utf-8", newline="", delete=False)
    with file:
        file.write("x,z,y\n" + "".join(",".join(row) + "\n" for row in rows))
    return file.name


def contents(tables):
    """Rows of X to the bit, and labels, or "refused" after a DataError."""
    try:
        return [(*(one.hex() if isinstance(one, float) else one for one in x), y)
                for table in tables() for x, y in zip(table.X.to_numpy(dtype=float).tolist(), table.y.tolist(), strict=True)]
    except DataError:
        return "refused"


def cases(path, **options):
    """Pairs of contents: the file read at once, and the file read piece by piece or in parts of some rows."""
    whole = contents(lambda: [files.read(path, **options)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_tables, "AT_ONCE", 2)
        yield whole, contents(lambda: [files.read(path, **options)])
    for rows in SIZES:
        yield whole, contents(lambda rows=rows: list(files.stream(path, rows=rows, **options)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_tables, "BEGINNING", 0)           # pandas parses all of it
        yield whole, contents(lambda: [files.read(path, **options)])


@given(ROWS)
@example([("1", "TRUE", "a"), ("1", "3", "a"), ("1", "FALSE", "a")])
@example([("1", "inf", "a"), ("1", "3", "a")])
@example([("\ufeff1", "1", "a"), ("2", "1", "\ufeffa")])
def test_numbers_in_parts_are_those_of_the_file(rows):
    path = written(rows)
    try:
        for whole, parts in cases(path, target="y", text_labels=True):
            assert parts == whole
    finally:
        os.unlink(path)


@given(ROWS)
@example([("1", "NA", "a"), ("1", "9007199254740993", "a"), ("1", "0.30000000000000004", "a")])
@example([("x", "1", "a"), ("1", "nan", "a"), ("1e400", "", "a")])
def test_cells_of_tables_in_parts_are_those_of_the_file(rows):
    """A cell that is neither a number nor empty makes a column text in its part. Other columns have the file's numbers."""
    path = written(rows)
    try:
        whole = files.read(path, target="y", text_labels=True, as_text=["z"])
        for size in SIZES:
            parts = list(files.stream(path, target="y", text_labels=True, as_text=["z"], rows=size))
            assert [label for part in parts for label in part.y.tolist()] == whole.y.tolist()
            assert [cell for part in parts for cell in part.X["z"].tolist()] == whole.X["z"].tolist()
            found = [part.X["x"] for part in parts]
            if whole.X["x"].dtype.kind == "f":
                assert all(column.dtype.kind == "f" for column in found)
                assert np.concatenate(found).tobytes() == whole.X["x"].to_numpy().tobytes()
            else:
                assert any(column.dtype.kind != "f" for column in found)
    finally:
        os.unlink(path)


def test_a_truth_value_is_one_or_zero_in_every_column_of_numbers(tmp_path):
    (tmp_path / "d.csv").write_text("x,y\n3,a\nTRUE,b\nfalse,c\n")
    assert files.read(tmp_path / "d.csv", target="y").X["x"].tolist() == [3, 1, 0]
    assert [part.X["x"].tolist() for part in files.stream(tmp_path / "d.csv", target="y", rows=1)] == [[3], [1], [0]]


def test_lines_end_with_any_character_also_before_a_space(tmp_path):
    """pandas overflows a buffer if a line ends with a carriage return and the next begins with a space."""
    for end in ("\n", "\r\n", "\r"):
        (tmp_path / "d.csv").write_bytes(end.join(["y,a,b", " 1,-0.5,1", ' 1,2,"2"', " 1,3e2,-0.5", ""]).encode())
        assert files.read(tmp_path / "d.csv", target="y").X.to_numpy().tolist() == [[-0.5, 1], [2, 2], [300, -0.5]]
        assert [part.X["a"].tolist() for part in files.stream(tmp_path / "d.csv", target="y", rows=1)] == [[-0.5], [2], [300]]


def test_line_ends_in_quotes_belong_to_the_cell(tmp_path):
    (tmp_path / "d.csv").write_bytes(b'x,y\r1,"a\rb"\r2,"c\r\nd"\r')
    assert files.read(tmp_path / "d.csv", target="y").y.tolist() == ["a\rb", "c\r\nd"]


def test_labels_are_numbers_where_all_of_them_are(tmp_path):
    for cells, expected in ((["1", "2"], [1, 2]), (["1", "2.5"], [1, 2.5]), (["TRUE", "FALSE"], [True, False]), (["1", "x"], ["1", "x"])):
        pd.DataFrame({"x": [1, 2], "y": cells}).to_csv(tmp_path / "d.csv", index=False)
        y = files.read(tmp_path / "d.csv", target="y").y
        assert y.tolist() == expected and y.dtype.kind == np.array(expected).dtype.kind


LINES = "".join(f"{i},{i % 3 + 1}\n" for i in range(20000)).encode()


@pytest.mark.parametrize(("content", "encoding", "message"), [
    (b"a\xff,level\n1,2\n", "utf-8", "line 1 has the byte 0xff, which is no text in UTF-8"),
    (b"a,level\n1,2\n\xe9,3\n", "utf-8", "line 3 has the byte 0xe9"),
    (b"a,level\r\n1,2\r\n\xe9,3\r\n", "utf-8", "line 3 has the byte 0xe9"),
    (b"a,level\r1,2\r\xe9,3\r", "utf-8", "line 3 has the byte 0xe9"),
    ("\ufeffa,level\nü,2\n".encode() + b"1,2\n\xc3", "utf-8", "line 4 has the byte 0xc3"),
    (b'a,level\n"1\n2",2\n\x81,1\n', "cp1252", "line 4 has the byte 0x81, which is no text in cp1252"),
    (b"a,level\n" + LINES + b"\xff,1\n", "utf-8", "line 20002 has the byte 0xff"),
    ("a,level\n1,2\n".encode("utf-16") + b"\x00\xdc\x00\x00", "utf-16", "line 3 has the byte 0x00"),
])  # fmt: skip
@pytest.mark.parametrize("parts", [False, True])
def test_a_byte_that_is_no_text_is_named_by_its_line(tmp_path, content, encoding, message, parts):
    (tmp_path / "a.csv").write_bytes(content)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(content))
    rows = 2 + len(content) // 100 if parts else None
    for name in ("a.csv", "a.csv.gz"):
        with pytest.raises(DataError) as caught:
            list(files.stream(tmp_path / name, target="level", features=["a"], as_text=["a"], rows=rows, encoding=encoding))
        assert f"{name}, {message}" in str(caught.value) and "position" not in str(caught.value)


def test_a_wrong_byte_of_standard_input_has_no_position(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a,level\n1,2\n\xff,3\n")))
    with pytest.raises(DataError, match=r"standard input is no CSV file in UTF-8 \(invalid start byte, 0xff\). Set encoding"):
        list(files.stream("-", target="level", text_labels=False))
