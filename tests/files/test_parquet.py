"""Reading Parquet and Arrow: what comes out, whole and part by part, and which row and column an error names."""

import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from structperc import files
from structperc.errors import DataError, MissingExtra


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtra, match=r"reading Parquet files needs pyarrow; install structperc\[parquet\]"):
        files.read(tmp_path / "data.parquet")


def test_arrow_files_are_tables_like_those_of_parquet(tmp_path):
    feather = pytest.importorskip("pyarrow.feather")
    path = tmp_path / "data.arrow"
    frame = pd.DataFrame({"a": [1.5, 2, 3, 4], "day": ["m", "m", "t", "w"], "w": [1, 2, 0, 1], "y": ["low", "high", "low", "high"]})
    feather.write_feather(frame, path, compression="lz4", chunksize=3)
    whole = files.read(path, target="y", weight="w", features=["a"])
    assert whole.X.to_numpy().tolist() == [[1.5], [2], [3], [4]] and whole.y.tolist() == ["low", "high", "low", "high"]
    for rows in (1, 2, 3, 100):
        parts = list(files.stream(path, target="y", weight="w", features=["a"], rows=rows))
        assert max(len(part.y) for part in parts) == min(rows, 4) and [one for part in parts for one in part.weights] == [1, 2, 0, 1]
        groups = list(files.stream(path, target="y", features=["a"], group="day", rows=rows))
        assert [size for part in groups for size in np.diff(part.offsets)] == [2, 1, 1]
    feather.write_feather(frame.assign(a=[1, 2, None, 4]), path)
    with pytest.raises(DataError, match=r"data.arrow, row 3: column 'a' is nan, which is not finite"):
        files.read(path, target="y", features=["a"])
    content = path.read_bytes()
    for broken in (b"", b"ARROW1", content[:-9], b"a,y\n1,2\n"):
        path.write_bytes(broken)
        with pytest.raises(DataError, match="data.arrow is damaged or no Arrow file"):
            files.read(path, target="y")
    with pytest.raises(FileNotFoundError):
        files.read(tmp_path / "none.arrow", target="y")


def test_columns_of_few_kinds_and_with_gaps(tmp_path):
    feather = pytest.importorskip("pyarrow.feather")
    path = tmp_path / "data.arrow"
    frame = pd.DataFrame({"small": np.array([1.5, -2, 3], np.float16), "large": np.array([2**63, 1, 2**64 - 1], np.uint64),
                          "category": pd.Categorical(["1", "2.5", "1"]), "text": ["4", "5e-1", "6"], "y": [1, 2, 3]})
    feather.write_feather(frame, path, chunksize=2)
    expected = [[1.5, 2.0**63, 1, 4], [-2, 1, 2.5, 0.5], [3, 2.0**64, 1, 6]]
    assert files.read(path, target="y").X.to_numpy().tolist() == expected
    assert np.concatenate([part.X for part in files.stream(path, target="y", rows=1)]).tolist() == expected
    feather.write_feather(frame.assign(gap=pd.array([7, None, 9], "Int64")), path, chunksize=2)
    for rows in (None, 1, 2):
        with pytest.raises(DataError, match="data.arrow, row 2: column 'gap' is (nan, which is not finite|empty)"):
            list(files.stream(path, target="y", rows=rows))
        assert [part.y.dtype.kind for part in files.stream(path, target="y", features=["text"], as_text=["gap"], rows=rows)][0] == "i"


@pytest.mark.parametrize("width", [1, 7, 8, 9, 17])
def test_columns_of_any_number_and_kind_become_rows(tmp_path, width):
    feather = pytest.importorskip("pyarrow.feather")
    random = np.random.default_rng(width)
    kinds = [np.float64, np.float32, np.int32, np.bool_]
    frame = pd.DataFrame({f"x{j}": random.integers(-3, 4, 300).astype(kinds[j % 4]) for j in range(width)}).assign(y=1)
    feather.write_feather(frame, tmp_path / "data.arrow")
    X = files.read(tmp_path / "data.arrow", target="y").X
    assert (X.to_numpy() == frame.drop(columns="y").to_numpy(np.float64)).all() and X.to_numpy().flags.c_contiguous
    for j in range(0, width, 4):
        row = int(random.integers(300))
        odd = frame.copy()
        odd.loc[row, f"x{j}"] = np.inf
        feather.write_feather(odd, tmp_path / "odd.arrow")
        with pytest.raises(DataError, match=f"row {row + 1}: column 'x{j}' is inf, which is not finite"):
            files.read(tmp_path / "odd.arrow", target="y")


class TestParquet:
    @pytest.fixture(autouse=True)
    def arrow(self):
        pytest.importorskip("pyarrow")

    @pytest.fixture
    def path(self, tmp_path):
        frame = pd.DataFrame({"a": [1.5, 2, 3, 4], "b": [True, False, True, True], "day": ["m", "m", "t", "w"], "w": [1, 2, 0, 1],
                              "y": ["low", "high", "low", "high"]})
        frame.to_parquet(tmp_path / "data.parquet", index=False, row_group_size=3)
        return tmp_path / "data.parquet"

    @pytest.mark.parametrize("rows", [1, 2, 3, 100])
    def test_parts_are_the_file(self, path, rows):
        whole = files.read(path, target="y", weight="w", features=["b", "a"])
        assert whole.X.to_numpy().tolist() == [[1, 1.5], [0, 2], [1, 3], [1, 4]] and whole.y.tolist() == ["low", "high", "low", "high"]
        assert whole.weights.tolist() == [1, 2, 0, 1] and whole.offsets is None
        parts = list(files.stream(path, target="y", weight="w", features=["b", "a"], rows=rows))
        assert np.array_equal(np.concatenate([part.X for part in parts]), whole.X) and parts[-1].first + len(parts[-1].y) == 4
        assert [label for part in parts for label in part.y] == whole.y.tolist()
        groups = list(files.stream(path, target="y", features=["a"], group="day", rows=rows))
        assert [size for part in groups for size in np.diff(part.offsets)] == [2, 1, 1]

    def test_parts_leave_no_memory_behind(self, tmp_path):
        arrow, path = pytest.importorskip("pyarrow"), tmp_path / "long.parquet"
        frame = pd.DataFrame(np.random.default_rng(0).normal(size=(50_000, 4)), columns=list("abcy"))
        frame.to_parquet(path, index=False, row_group_size=1000)
        before, held, sizes = arrow.total_allocated_bytes(), [], []
        tracemalloc.start()
        try:
            for part in files.stream(path, target="y", rows=1000):
                sizes.append(len(part.y))
                held.append(arrow.total_allocated_bytes() - before + tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        assert sizes == [1000] * 50 and max(held) < path.stat().st_size / 3

    @pytest.mark.parametrize(("change", "message"), [
        ({"a": [1.0, None, 3, 4]}, "data.parquet, row 2: column 'a' is nan, which is not finite"),
        ({"a": ["1", "2", "x", "4"]}, "row 3: column 'a' is 'x', not a number"),
        ({"y": ["low", None, "low", "high"]}, "row 2: column 'y' is empty"),
        ({"z": [1, 2, 3, 4]}, None),
    ])  # fmt: skip
    def test_what_is_wrong_is_named(self, path, change, message):
        pd.read_parquet(path).assign(**change).to_parquet(path, index=False)
        if message is None:
            with pytest.raises(DataError, match="no column 'zz'; its columns are 'a', 'b', 'day', 'w', 'y', 'z'"):
                files.read(path, target="zz")
            return
        for rows in (1, 100):
            with pytest.raises(DataError) as error:
                list(files.stream(path, target="y", features=["a"], rows=rows))
            assert any(part in str(error.value) for part in message.split("|"))

    def test_damaged_files(self, path):
        content = path.read_bytes()
        for broken in (b"", b"PAR1", content[:-9], content[:40] + b"\0" * 40 + content[80:], b"a,y\n1,2\n"):
            path.write_bytes(broken)
            with pytest.raises(DataError, match="data.parquet"):
                files.read(path, target="y", features=["a"])

    def test_numbers_of_other_kinds(self, tmp_path):
        from decimal import Decimal

        path = tmp_path / "data.parquet"
        pd.DataFrame({"a": [Decimal("1.5"), Decimal("2")], "b": np.array([1, 2], dtype="uint8"), "y": [1, 2]}).to_parquet(path, index=False)
        assert files.read(path, target="y").X.to_numpy().tolist() == [[1.5, 1], [2, 2]]


@pytest.mark.parametrize("kind", ["binary", "large_binary", "fixed", "dictionary"])
@pytest.mark.parametrize("how", [{"target": "y"}, {"target": "b"}, {"target": "y", "as_text": ["b"]}, {"target": "y", "keep": ["b"]}])
def test_blobs_are_texts_or_named_by_their_row(kind, how, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    kinds = {"large_binary": pyarrow.large_binary(), "fixed": pyarrow.binary(1)}
    for cells in ([b"1", b"2"] * 3, [b"1", b"2", b"1", b"\xff", b"2", b"1"]):
        column = pyarrow.array(cells, kinds.get(kind, pyarrow.binary()))
        column = column.dictionary_encode() if kind == "dictionary" else column
        write_table(pyarrow.table({"b": column, "x": np.arange(6.0), "y": [1, 2] * 3}), tmp_path / "t.parquet")
        if cells[3] != b"\xff":
            table = files.read(tmp_path / "t.parquet", **how)
            assert table.y.tolist() == [1, 2] * 3 or table.y.tolist() == ["1", "2"] * 3
            continue
        for rows in (None, 2):
            with pytest.raises(DataError, match=r"t.parquet, row 4: column 'b' is b'\\xff', a blob that is no text in UTF-8. Leave the"):
                list(files.stream(tmp_path / "t.parquet", rows=rows, **how))
