"""Reading CSV: what comes out, whole and part by part, and which line and column an error names."""

import bz2
import gzip
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structperc.errors import DataError, MissingExtra
from structperc.files.csv_tables import read_csv


class TestCsv:
    def test_features_target_and_weight(self, write):
        table = read_csv(write("age,level,weight,bmi\n1,2,0.5,-3e2\n2,1,1,4.25\n"), target="level", weight="weight")
        assert list(table.X.columns) == ["age", "bmi"]
        assert table.X.to_numpy().tolist() == [[1.0, -300.0], [2.0, 4.25]]
        assert table.y.tolist() == [2, 1] and table.y.dtype.kind == "i"
        assert table.weights.tolist() == [0.5, 1.0]

    def test_the_matrix_is_read_in_place(self, write):
        X = read_csv(write("a,b,y\n1,2,1\n3,4,2\n"), target="y").X
        assert np.asarray(X).flags.c_contiguous and np.shares_memory(np.asarray(X), X.to_numpy())

    def test_named_features_come_in_the_asked_order_and_others_are_ignored(self, write):
        table = read_csv(write("note,b,a\nhello,2,1\n,4,3\n"), features=["a", "b"])
        assert table.X.to_numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]]
        assert table.y is None

    @pytest.mark.parametrize(("cells", "kind", "expected"), [
        ("1 2", "i", [1, 2]),
        ("1.5 2", "f", [1.5, 2.0]),
        ("low high", "U", ["low", "high"]),
        ("1 3+", "U", ["1", "3+"]),
        ("NA None", "U", ["NA", "None"]),
        ("True False", "b", [True, False]),
    ])  # fmt: skip
    def test_labels(self, write, cells, kind, expected):
        first, second = cells.split()
        y = read_csv(write(f"a,y\n1,{first}\n2,{second}\n"), target="y").y
        assert y.tolist() == expected and y.dtype.kind == kind

    def test_labels_as_text(self, write):
        assert read_csv(write("a,y\n1,01\n2,2\n"), target="y", text_labels=True).y.tolist() == ["01", "2"]

    @pytest.mark.parametrize(("suffix", "pack"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress)])
    def test_compressed_and_with_byte_order_mark(self, write, suffix, pack):
        path = write(pack(b"\xef\xbb\xbfa,y\r\n1,2\r\n"), f"data.csv{suffix}")
        assert read_csv(path, target="y").X.columns.tolist() == ["a"]

    def test_quoted_names_and_separator(self, write):
        table = read_csv(write('"a;b";y\n1;low\n\n2;"high"\n'), target="y", separator=";")
        assert list(table.X.columns) == ["a;b"] and table.y.tolist() == ["low", "high"]

    def test_groups_are_runs_of_equal_entries(self, write):
        table = read_csv(write("a,day,y\n1,mon,0\n2,mon,1\n3,tue,1\n4,wed,0\n"), target="y", group="day")
        assert table.X.columns.tolist() == ["a"] and table.offsets.tolist() == [0, 2, 3, 4] and table.offsets.dtype == np.int64

    @given(st.lists(st.tuples(st.integers(-2**40, 2**40), st.integers(-999, 999).map(lambda i: i / 8)), min_size=1, max_size=8))
    def test_what_was_written_is_read(self, tmp_path_factory, rows):
        path = tmp_path_factory.mktemp("round") / "data.csv"
        pd.DataFrame(rows, columns=["a", "b"]).assign(y=1).to_csv(path, index=False)
        assert read_csv(path, target="y").X.to_numpy().tolist() == [list(map(float, row)) for row in rows]


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
        ("a;y\n1;2\n", "say --separator ';'"),
        ("a\ty\n1\t2\n", "say --separator tab"),
        ("1,2\n3,4\n", "first line looks like data"),
        ('a,y\n1,2\n3,"4\n', "quote"),
        (b"a,y\n\xff\xfe,2\n", "UTF-8"),
        (b"a,y\n" + b"1,2\n" * 10000 + b"\xff,2\n", "UTF-8"),
    ])  # fmt: skip
    def test_says_where_and_what(self, write, content, message):
        path = write(content)
        with pytest.raises(DataError) as error:
            read_csv(path, target="y")
        assert message in str(error.value) and str(path) in str(error.value)

    def test_a_missing_feature_names_the_nearest(self, write):
        with pytest.raises(DataError, match="no column 'alcohol'.* Did you mean 'alcohool'"):
            read_csv(write("alcohool,b\n1,2\n"), features=["alcohol", "b"])

    def test_weights_must_be_numbers(self, write):
        with pytest.raises(DataError, match="line 2: column 'w' is 'much', not a number"):
            read_csv(write("a,y,w\n1,2,much\n"), target="y", weight="w")

    def test_without_pandas_the_extra_is_named(self, write, monkeypatch):
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(MissingExtra, match=r"reading CSV files needs pandas; install structperc\[cli\]"):
            read_csv(write("a,y\n1,2\n"), target="y")


def test_a_group_may_not_begin_again(write):
    with pytest.raises(DataError, match="the rows with 'day' 'mon' are not all together"):
        read_csv(write("a,day,y\n1,mon,0\n2,tue,1\n3,mon,1\n"), target="y", group="day")
