"""Reading CSV: what comes out, whole and part by part, and which line and column an error names."""

import bz2
import csv
import functools
import gzip
import io
import itertools
import lzma
import signal
import sys
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structperc import files
from structperc.errors import DataError, MissingExtra
from structperc.files import csv_tables


class TestCsv:
    def test_features_target_and_weight(self, write):
        table = files.read(write("age,level,weight,bmi\n1,2,0.5,-3e2\n2,1,1,4.25\n"), target="level", weight="weight")
        assert list(table.X.columns) == ["age", "bmi"]
        assert table.X.to_numpy().tolist() == [[1.0, -300.0], [2.0, 4.25]]
        assert table.y.tolist() == [2, 1] and table.y.dtype.kind == "i"
        assert table.weights.tolist() == [0.5, 1.0]

    def test_the_matrix_is_read_in_place(self, write):
        X = files.read(write("a,b,y\n1,2,1\n3,4,2\n"), target="y").X
        assert np.asarray(X).flags.c_contiguous and np.shares_memory(np.asarray(X), X.to_numpy())

    def test_named_features_come_in_the_asked_order_and_others_are_ignored(self, write):
        table = files.read(write("note,b,a\nhello,2,1\n,4,3\n"), features=["a", "b"])
        assert table.X.to_numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]]
        assert table.y is None

    @pytest.mark.parametrize(("cells", "kind", "expected"), [
        ("1 2", "i", [1, 2]),
        ("1.5 2", "f", [1.5, 2.0]),
        ("low high", "U", ["low", "high"]),
        ("1 3+", "U", ["1", "3+"]),
        ("none None", "U", ["none", "None"]),
        ("True False", "b", [True, False]),
        ("true FALSE", "b", [True, False]),
        ("007 7", "U", ["007", "7"]),
        ("1E5 100000", "U", ["1E5", "100000"]),
        ("0.10 0.2", "U", ["0.10", "0.2"]),
        ("+1 2", "U", ["+1", "2"]),
        (f"{2**60 + 1} {2**60}", "i", [2**60 + 1, 2**60]),
        (f"{2**64 - 1} 0", "u", [2**64 - 1, 0]),
        (f"{2**64} 0", "U", [str(2**64), "0"]),
        (f"{2**60 + 1} 0.5", "U", [str(2**60 + 1), "0.5"]),
    ])  # fmt: skip
    def test_labels(self, write, cells, kind, expected):
        first, second = cells.split()
        y = files.read(write(f"a,y\n1,{first}\n2,{second}\n"), target="y").y
        assert y.tolist() == expected and y.dtype.kind == kind

    def test_labels_as_text(self, write):
        assert files.read(write("a,y\n1,01\n2,2\n"), target="y", text_labels=True).y.tolist() == ["01", "2"]

    @pytest.mark.parametrize(("suffix", "pack"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress)])
    def test_compressed_and_with_byte_order_mark(self, write, suffix, pack):
        path = write(pack(b"\xef\xbb\xbfa,y\r\n1,2\r\n"), f"data.csv{suffix}")
        assert files.read(path, target="y").X.columns.tolist() == ["a"]

    def test_quoted_names_and_separator(self, write):
        table = files.read(write('"a;b";y\n1;low\n\n2;"high"\n'), target="y", separator=";")
        assert list(table.X.columns) == ["a;b"] and table.y.tolist() == ["low", "high"]

    def test_groups_are_runs_of_equal_entries(self, write):
        table = files.read(write("a,day,y\n1,mon,0\n2,mon,1\n3,tue,1\n4,wed,0\n"), target="y", group="day")
        assert table.X.columns.tolist() == ["a"] and table.offsets.tolist() == [0, 2, 3, 4] and table.offsets.dtype == np.int64

    @given(st.lists(st.tuples(st.integers(-2**40, 2**40), st.integers(-999, 999).map(lambda i: i / 8)), min_size=1, max_size=8))
    def test_what_was_written_is_read(self, tmp_path_factory, rows):
        path = tmp_path_factory.mktemp("round") / "data.csv"
        pd.DataFrame(rows, columns=["a", "b"]).assign(y=1).to_csv(path, index=False)
        assert files.read(path, target="y").X.to_numpy().tolist() == [list(map(float, row)) for row in rows]


class TestBrokenCsv:
    @pytest.mark.parametrize(("content", "message"), [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,y\n", "no rows"),
        ("a,y\n1,2\n3,4,5\n", "line 3 has 3 cells, but the header has 2"),
        ("a,y\n1,2,9\n3,4,5\n", "line 2 has 3 cells, but the header has 2"),
        ("a,b,y\n1,2,3\n\n4,5\n", "line 4 has 2 cells, but the header has 3"),
        ("b,y,a\n1,2,3\n4,5\n", "line 3 has 2 cells, but the header has 3"),
        ("a,y\n1,\n", "line 2: column 'y' is empty"),
        ("a,y\n1,1\n2,x\n3, \n", "line 4: column 'y' is empty"),
        ("a,b,y\n1,2,3\n4,,6\n", "line 3: column 'b' is empty"),
        ("a,b,y\n1,2,3\n4,nan,6\n", "line 3: column 'b' is nan, which is not finite"),
        ("a,b,y\n1,2,3\n4,-inf,6\n", "line 3: column 'b' is -inf, which is not finite"),
        ("a,b,y\n1,2,3\n4,NA,6\n", "line 3: column 'b' is 'NA', not a number"),
        ('a,b,y\n"1\n",2,3\n\n4,red,6\n', "line 5: column 'b' is 'red', not a number"),
        ("a,a,y\n1,2,3\n", "the header names 'a' twice"),
        (",a,y\n0,1,2\n", "column 1 has no name"),
        ("y\n1\n", "no column beside 'y'"),
        ("a,z\n1,2\n", "no column 'y'; its columns are 'a', 'z'"),
        ("a,yy\n1,2\n", "Did you mean 'yy'"),
        ("a;y\n1;2\n", "set separator=';' (structperc: --separator ';')"),
        ("a\ty\n1\t2\n", "set separator=\'\\t\' (structperc: --separator tab)"),
        ("1,2\n3,4\n", "Is line 1 a header? It holds numbers: put a line with column names above it"),
        ("5.1,red\n3,blue\n", "Is line 1 a header?"),
        ("0,0,1\n1,0,2\n", "names '0' twice, again for column 2; give every column a name of its own. Is line 1 a header?"),
        ('a,y\n1,2\n3,"4\n', "quote"),
        (b"a,y\n\xff\xfe,2\n", "UTF-8"),
        (b"a,y\n" + b"1,2\n" * 10000 + b"\xff,2\n", "UTF-8"),
    ])  # fmt: skip
    def test_says_where_and_what(self, write, content, message):
        path = write(content)
        with pytest.raises(DataError) as error:
            files.read(path, target="y")
        assert message in str(error.value) and str(path) in str(error.value)

    def test_all_columns_without_numbers_are_named_at_once(self, write):
        rows = [f"p{i},{i},{'fm'[i % 2]},{'' if i in (3, 7) else i},2023-01-{i + 10},{'1O' if i == 4 else i},2\n" for i in range(40)]
        with pytest.raises(DataError) as error:
            files.read(write("patient,age,sex,bmi,visit,pulse,y\n" + "".join(rows)), target="y")
        assert str(error.value).endswith(
            "has 5 columns that are not numbers throughout: 'patient': 40 texts, all different; 'sex': 2 texts ('f', 'm'); 'bmi': 2 empty "
            "cells, the first in line 5; 'visit': 40 dates; 'pulse': 1 text ('1O'), the first in line 6. Pass as_text=['patient', 'sex', "
            "'bmi', 'visit'] (X is then a data frame, whose texts the model encodes) and correct the cells of 'pulse', or drop it.")

    def test_a_missing_feature_names_the_nearest(self, write):
        with pytest.raises(DataError, match="no column 'alcohol'.* Did you mean 'alcohool'"):
            files.read(write("alcohool,b\n1,2\n"), features=["alcohol", "b"])

    def test_weights_must_be_numbers(self, write):
        with pytest.raises(DataError, match="line 2: column 'w' is 'much', not a number"):
            files.read(write("a,y,w\n1,2,much\n"), target="y", weight="w")

    def test_without_pandas_the_extra_is_named(self, write, monkeypatch):
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(MissingExtra, match=r"reading tables needs pandas; install structperc\[cli\]"):
            files.read(write("a,y\n1,2\n"), target="y")


def test_a_group_may_not_begin_again(write):
    with pytest.raises(DataError, match="the rows with 'day' 'mon' are not all together"):
        files.read(write("a,day,y\n1,mon,0\n2,tue,1\n3,mon,1\n"), target="y", group="day")


class TestParts:
    TEXT = "a,day,y\n1,mon,0\n2,mon,1\n3,mon,1\n4,tue,0\n5,wed,1\n6,wed,0\n"

    @pytest.mark.parametrize("rows", [1, 2, 3, 100])
    def test_together_they_are_the_file(self, write, rows):
        path = write(self.TEXT)
        parts = list(files.stream(path, target="y", features=["a"], rows=rows))
        assert [part.first for part in parts] == list(range(0, 6, rows))
        assert [row for part in parts for row in part.X["a"]] == [1, 2, 3, 4, 5, 6]
        assert [label for part in parts for label in part.y] == [0, 1, 1, 0, 1, 0]

    @pytest.mark.parametrize("rows", [1, 2, 3, 4, 100])
    def test_groups_stay_whole(self, write, rows):
        parts = list(files.stream(write(self.TEXT), target="y", group="day", rows=rows))
        assert [size for part in parts for size in np.diff(part.offsets)] == [3, 1, 2] and (rows > 1 or len(parts) == 3)

    @pytest.mark.parametrize("group", [None, "day"])
    @pytest.mark.parametrize("blank", ["\n\n\n", "  \n\t\n\n"])
    @pytest.mark.parametrize("at", range(8))
    def test_blank_lines_may_fill_a_part(self, write, group, blank, at):
        lines = self.TEXT.splitlines(keepends=True)
        path = write("".join([*lines[:at], blank, *lines[at:]]))
        parts = list(files.stream(path, target="y", features=["a"], group=group, rows=2))
        assert [row for part in parts for row in part.X["a"]] == [1, 2, 3, 4, 5, 6] and all(len(part.y) for part in parts)

    def test_a_group_may_not_come_back_in_a_later_part(self, write):
        with pytest.raises(DataError, match="the rows with 'day' 'mon' are not all together"):
            list(files.stream(write(self.TEXT + "7,mon,1\n"), target="y", group="day", rows=1))

    @pytest.mark.parametrize("cells", ["7", "7,1,9", "7,1,,9", "7,1,9,9"])
    @pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 100])
    @pytest.mark.parametrize("at", range(6))
    def test_uneven_lines_are_refused_wherever_a_part_begins(self, write, cells, rows, at):
        lines = ["1,1", "2,0", "3,1", "4,0", "5,1"]
        path = write("\n".join(["a,y", *lines[:at], cells, *lines[at:]]) + "\n")
        with pytest.raises(DataError, match=f"line {at + 2} has {cells.count(',') + 1} cells, but the header has 2"):
            list(files.stream(path, target="y", rows=rows))

    @given(st.lists(st.tuples(st.sampled_from(["x", "a\nb", 'say "a"', "", "\r\n", "1,2", "\n\n", " "]), st.integers(0, 9)),
                    min_size=1, max_size=9), st.integers(1, 4), st.sampled_from(["", "\n", "  \n"]))
    def test_cells_in_quotes_hold_line_ends(self, tmp_path_factory, cells, rows, blank):
        path = tmp_path_factory.mktemp("parts") / "data.csv"
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["note", "n", "y"])
            for note, number in cells:
                file.write(blank)
                writer.writerow([note, number, 1])
        parts = list(files.stream(path, target="y", features=["n"], keep=["note"], rows=rows))
        assert [(note, n) for part in parts for note, n in zip(part.kept["note"], part.X["n"], strict=True)] == cells

    @pytest.mark.parametrize("rows", [None, 1, 2, 100])
    def test_a_quote_that_is_never_closed(self, write, rows):
        text = "a,y\n" + "1,2\n" * 20 + '"3,2\n' + "1,2\n" * 100_000
        with pytest.raises(DataError, match="cannot be read as CSV: .*look for a quote that is never closed"):
            list(files.stream(write(text), target="y", rows=rows))

    @given(st.lists(st.sampled_from(["1", "2.5", "-1e300", "9007199254740993", "0.1", "12345678901234567890"]), min_size=1, max_size=9),
           st.integers(1, 4))
    def test_numbers_are_the_same_whatever_stands_in_the_other_parts(self, tmp_path_factory, cells, rows):
        path = tmp_path_factory.mktemp("parts") / "data.csv"
        path.write_text("a,y\n" + "".join(f"{cell},1\n" for cell in cells))
        parts = [value for part in files.stream(path, target="y", rows=rows) for value in part.X["a"]]
        assert parts == files.read(path, target="y").X["a"].tolist() == list(map(float, cells))


class TestHostile:
    @pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)])
    @pytest.mark.parametrize("cut", [10, -10, -1])
    def test_damaged_archives(self, write, suffix, pack, cut):
        text = ("a,y\n" + "".join(f"{i},{i % 3}\n" for i in range(50_000))).encode()
        path = write(pack(text)[:cut], f"data.csv{suffix}")
        with pytest.raises(DataError, match=rf"data.csv{suffix} is damaged or no {suffix} file \(.*compress it again, or rename it"):
            files.read(path, target="y")
        path = write(b"no " + pack(text), f"data.csv{suffix}")
        with pytest.raises(DataError, match=rf"data.csv{suffix} is damaged or no {suffix} file"):
            files.read(path, target="y")

    @pytest.mark.parametrize("digits", [20, 400, 100_000])
    @pytest.mark.parametrize("column", ["a", "w"])
    def test_cells_of_many_digits(self, write, digits, column):
        row = {"a": "1", "w": "1", "y": "1"} | {column: "9" * digits}
        path = write("a,w,y\n2,2,2\n" + ",".join(row.values()) + "\n")
        if digits < 300:
            assert files.read(path, target="y", weight="w").X.shape == (2, 1)
            return
        shown = "inf" if int(pd.__version__.split(".")[0]) >= 3 else "9{60}"        # pandas 3 reads such a cell as a number
        with pytest.raises(DataError, match=f"line 3: column '{column}' is {shown}, which is not finite"):
            files.read(path, target="y", weight="w")

    def test_labels_of_many_digits_are_text(self, write):
        assert files.read(write(f"a,y\n1,2\n3,{'9' * 400}\n"), target="y").y.tolist() == ["2", "9" * 400]

    def test_a_header_of_many_columns(self, write):
        names = [f"c{i}" for i in range(5000)]
        path = write(",".join(names) + ",y\n" + "1," * 5000 + "1\n")
        assert files.read(path, target="y").X.shape == (1, 5000)
        with pytest.raises(DataError, match="the header names 'c7' twice, again for column 5001; give every column"):
            files.read(write(",".join(names) + ",c7\n"))

    @pytest.mark.parametrize("content", [
        "\0", "a,y\n\0,1\n", "a,y\n1,\0\n", 'a,y\n"\0', '"' * 99, "a,y\n" + '"' * 99, "a,y\r1,2\r", "\ufeff", "a,\udc80",
        "a,y\n" + "x" * 200_000 + ",1\n", "a" * 200_000 + ",y\n1,2\n", "a,y\n1,2\n\x1a", "\n\n,\n",
    ])  # fmt: skip
    def test_whatever_stands_in_it(self, write, content):
        path = write(content.encode("utf-8", "surrogateescape"))
        for text in (True, False):
            try:
                files.read(path, target="y", text_labels=text)
            except DataError as error:
                assert str(path) in str(error)

    @pytest.mark.parametrize("at", [1, 2, 3, 70_000])
    def test_ctrl_c_while_lines_are_read_is_ctrl_c(self, write, monkeypatch, at):
        path, opened = write("a,y\n" + "1,2\n" * 80_000), csv_tables.opened_text

        @contextmanager
        def interrupting(*arguments):
            with opened(*arguments) as file:
                yield interrupted(file, at)

        monkeypatch.setattr(csv_tables, "opened_text", interrupting)
        with pytest.raises(KeyboardInterrupt):
            files.read(path, target="y")

    @pytest.mark.parametrize("cells", ["1,2\n", "1,x\n", " TRUE,2\n"])
    def test_ctrl_c_while_the_parser_reads_is_ctrl_c(self, write, monkeypatch, cells):
        monkeypatch.setattr(csv_tables, "BEGINNING", 0)
        read, calls = pd.read_csv, itertools.count()
        monkeypatch.setattr(pd, "read_csv", lambda source, **options: read(source if next(calls) else Interrupted(source), **options))
        with pytest.raises(KeyboardInterrupt):
            files.read(write("a,y\n" + cells), target="y")

    def test_want_of_memory_is_no_open_quote(self, write, monkeypatch):
        monkeypatch.setattr(csv_tables, "BEGINNING", 0)
        path, read = write("a,y\n1,2\n"), pd.read_csv

        def without_memory(*arguments, **options):
            raise pd.errors.ParserError("Error tokenizing data. C error: out of memory")

        monkeypatch.setattr(pd, "read_csv", without_memory)
        with pytest.raises(MemoryError):
            files.read(path, target="y")
        monkeypatch.setattr(pd, "read_csv", read)
        with pytest.raises(DataError, match="a quote that is never closed"):
            files.read(write('a,y\n1,2\n"3,4\n'), target="y")

    def test_standard_input_is_read_once(self, monkeypatch):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,y\n1,2\nx,1\n")))
        with pytest.raises(DataError, match="standard input, row 2: column 'a' is 'x', not a number"):
            files.read("-", target="y")
        assert not sys.stdin.buffer.closed


def interrupted(lines, at):
    """Lines, until Ctrl-C comes in front of one."""
    for number, line in enumerate(lines):
        if number == at:
            raise KeyboardInterrupt
        yield line


class Interrupted:
    """A file; Ctrl-C comes while it is read, in no frame of Python: before 3.12 such an exception has no value yet."""

    read = staticmethod(functools.partial(max, signal.SIGINT, key=signal.raise_signal))

    def __init__(self, file):
        self.file = file

    def __iter__(self):
        return iter(self.file)


def test_a_blank_label_makes_the_column_text_as_an_empty_one_does(tmp_path):
    (tmp_path / "blank.csv").write_text("a,level\n1,1\n2, \n3,2\n")
    with pytest.raises(DataError, match="blank.csv, line 3"):
        files.read(tmp_path / "blank.csv", target="level")
