"""Arrow files with changed bytes, each read in a process of its own: a table or a sentence, and never the end of the process."""

import os

import numpy as np
import pytest

from structperc import files
from structperc.errors import DataError

arrow = pytest.importorskip("pyarrow")
ipc = pytest.importorskip("pyarrow.ipc")


@pytest.fixture
def content(tmp_path):
    table = arrow.table({"x": np.arange(40.0), "k": arrow.array(["u", "v"] * 20).dictionary_encode(), "gap": [None, 1] * 20,
                         "y": [f"label {i % 3}" for i in range(40)]})
    with ipc.new_file(tmp_path / "d.arrow", table.schema) as file:
        file.write_table(table, max_chunksize=16)
    return (tmp_path / "d.arrow").read_bytes()


def test_offsets_of_texts_beyond_the_file_are_damage(tmp_path):
    table = arrow.table({"x": [1.0, 2.0], "y": ["a", "b"]})
    with ipc.new_file(tmp_path / "s.arrow", table.schema) as file:
        file.write_table(table)
    damaged = bytearray((tmp_path / "s.arrow").read_bytes())
    at = damaged.find(b"\0\0\0\0\1\0\0\0\2\0\0\0")
    damaged[at + 4:at + 12] = (2**30).to_bytes(4, "little") + (2**30 + 8).to_bytes(4, "little")
    (tmp_path / "s.arrow").write_bytes(damaged)
    for read in (files.read, lambda path, **options: list(files.stream(path, rows=1, **options))):
        with pytest.raises(DataError, match="s.arrow is damaged or no Arrow file"):
            read(tmp_path / "s.arrow", target="y")
    with files.open(tmp_path / "s.arrow") as file, pytest.raises(arrow.ArrowInvalid):
        file.distinct(["y"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_random_damage_never_ends_the_process(content, tmp_path):
    random, path, refused = np.random.default_rng(0), tmp_path / "odd.arrow", 0
    files.read(tmp_path / "d.arrow", target="y", features=["x"])            # all is imported before the forks
    for _ in range(10):
        damaged = bytearray(content)
        for _ in range(random.integers(1, 6)):
            damaged[random.integers(len(damaged))] = random.integers(256)
        path.write_bytes(damaged)
        process = os.fork()
        if process == 0:
            code = 2
            try:
                for rows in (None, 7):
                    list(files.stream(path, target="y", as_text=["k"], keep=["k", "gap"], rows=rows))
                code = 0
            except DataError:
                code = 1
            finally:
                os._exit(code)
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        assert status in (0, 1), status
        refused += status
    assert 0 < refused < 10
