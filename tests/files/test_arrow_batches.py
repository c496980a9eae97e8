"""Tests of the batches of Arrow and Parquet files: parts do not depend on them, nor on whether a file can be mapped."""

from pathlib import Path

import numpy as np
import pytest

from structperc import files
from structperc.files import arrow, parquet


@pytest.mark.parametrize("batch", [7, 100, 1000])
@pytest.mark.parametrize("form", ["file", "stream", "parquet"])
def test_batches_are_joined_to_parts_of_so_many_rows(batch, form, tmp_path):
    """Parts are the same rows whatever batches, or row groups, the file was written in."""
    pyarrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    table = pyarrow.table({"a": np.arange(250.0), "y": np.arange(250) % 3})
    if form == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "t.parquet", row_group_size=batch)
        parts = files.stream(tmp_path / "t.parquet", target="y", rows=60)
    elif form == "file":
        with pyarrow.ipc.new_file(str(tmp_path / "t.arrow"), table.schema) as file:
            file.write_table(table, max_chunksize=batch)
        parts = files.stream(tmp_path / "t.arrow", target="y", rows=60)
    else:
        batches = table.to_batches(max_chunksize=batch)
        parts = files.stream(pyarrow.RecordBatchReader.from_batches(table.schema, batches), target="y", rows=60)
    parts = list(parts)
    assert [len(part.y) for part in parts] == [60, 60, 60, 60, 10]
    assert np.concatenate([part.X.to_numpy()[:, 0] for part in parts]).tolist() == list(range(250))


def test_files_are_read_on_where_a_limit_forbids_to_map_them(tmp_path, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    table = pyarrow.table({"a": np.arange(50.0), "y": np.arange(50) % 3})
    pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "t.parquet")
    with pyarrow.ipc.new_file(str(tmp_path / "t.arrow"), table.schema) as file:
        file.write_table(table)

    def refused(path):
        raise OSError("Memory mapping file failed: Cannot allocate memory")

    monkeypatch.setattr(pyarrow, "memory_map", refused)
    for part in (*files.stream(tmp_path / "t.parquet", target="y", rows=60), *files.stream(tmp_path / "t.arrow", target="y", rows=60)):
        assert part.X.to_numpy()[:, 0].tolist() == list(range(50))


def resident(path) -> int:
    """Bytes of a mapped file that are in this process's memory."""
    sizes, own = [0], False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if "-" in line.split()[0]:
            own = line.endswith(str(path))
        elif own and line.startswith("Rss:"):
            sizes.append(1024 * int(line.split()[1]))
    return sum(sizes)


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="the system does not show what is in memory")
@pytest.mark.parametrize("kind", ["arrow", "parquet"])
def test_pages_that_were_read_are_let_go(tmp_path, monkeypatch, kind):
    """The memory of a stream does not grow with the file. Tables that are held still have their rows."""
    pa = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    path, n = tmp_path / f"a.{kind}", 1 << 17
    table = pa.table({"a": np.arange(float(n)), "b": np.arange(float(n)) + 0.5, "level": np.arange(n) % 3})
    if kind == "arrow":
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=8192)
    else:
        pytest.importorskip("pyarrow.parquet").write_table(table, path, row_group_size=8192, use_dictionary=False, compression="none")
    monkeypatch.setattr(arrow, "PART_BYTES", 1 << 18)
    monkeypatch.setattr(parquet, "DECODED", 8192)
    parts, sizes = [], []
    for part in files.stream(path, target="level", rows=8192):
        parts.append(part)
        sizes.append(resident(path))
    assert 0 < max(sizes) < path.stat().st_size / 2
    np.testing.assert_array_equal(np.concatenate([part.X.to_numpy() for part in parts])[:, 0], np.arange(float(n)))
    assert sum(len(part.y) for part in parts) == n
