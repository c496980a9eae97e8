"""Promises of SECURITY.md about databases, downloads and what commands write."""

import contextlib
import gzip
import http.server
import os
import sqlite3
import threading

import numpy as np
import pytest

from structperc import cli, files
from structperc.errors import DataError, MissingData
from structperc.files.datasets import fetch, load_conll2000

ROWS = "a,level,=note\n1,1,=1+1\n2,1,-5\n3,2,@SUM(1)\n4,2,+cmd|x\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(ROWS)
    return tmp_path


# ---- databases ----


@pytest.mark.parametrize("query", ["select * from visits", "select 1.0 as x, content as y from read_text('secret')", "load httpfs",
                                   "copy (select 1) to 'out.csv'", "attach 'new.db' as other", "set enable_external_access=true"])
def test_a_duckdb_file_reads_and_writes_no_other_file(query, folder):
    duckdb, _ = pytest.importorskip("duckdb"), pytest.importorskip("adbc_driver_duckdb")
    (folder / "secret").write_text("word")
    with duckdb.connect("visits.duckdb") as connection:
        connection.execute("create view visits as select 1.0 as x, column0 as y from read_csv('secret', header=false)")
    before = sorted(os.listdir())
    with pytest.raises(DataError, match=r"visits.duckdb: the query .* failed: "):
        files.read("visits.duckdb", query=query, target="y")
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize("query", ["delete from visits", "select load_extension('x') as y", "create table t (a)", "select 1; select 2", ""])
def test_an_sqlite_file_is_only_read(query, folder):
    pytest.importorskip("pyarrow")
    with contextlib.closing(sqlite3.connect("visits.db")) as connection:
        connection.executescript("create table visits (x, y); insert into visits values (1, 2);")
    before = (folder / "visits.db").read_bytes()
    with pytest.raises(DataError, match=r"visits.db: the query .* (failed: |returns no table)"):
        files.read("visits.db", query=query, target="y")
    assert (folder / "visits.db").read_bytes() == before and sorted(os.listdir()) == ["rows.csv", "visits.db"]


# ---- downloads ----


@pytest.mark.parametrize("packed", [False, True])
def test_a_download_beyond_the_limit_is_cut_off_and_not_kept(packed, folder, monkeypatch):
    pytest.importorskip("requests")
    content = gzip.compress(bytes(1 << 20)) if packed else bytes(1 << 20)
    sent = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            if packed:
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(content)
            sent.append(self.path)

        def log_message(self, *arguments):
            """Quiet."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        monkeypatch.setenv("STRUCTPERC_DATA", str(folder / "data"))
        monkeypatch.setattr(fetch, "BASE_URL", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setattr(fetch, "MOST_BYTES", 1 << 18)
        try:
            with pytest.raises(MissingData, match="it is larger than"):
                load_conll2000(download=True)
        finally:
            server.shutdown()
            thread.join()
    assert not (folder / "data").exists() and len(sent) == 1


# ---- what commands write ----


def test_safe_cells_run_in_no_spreadsheet(folder, capsys):
    fit = ["fit", "multiclass", "rows.csv", "--target", "=note", "--model", "m", "--quiet"]
    assert cli.main([*fit, "--labels", "text", "--set", "scale=false"]) == 0
    predict = ["predict", "m", "rows.csv", "--keep", "=note,level", "--scores"]
    assert cli.main(predict) == 0
    plain = capsys.readouterr().out
    assert cli.main([*predict, "--safe-cells"]) == 0
    safe = capsys.readouterr().out
    for lines, at in ((plain, ""), (safe, "'")):
        head, *rows = [line.split(",") for line in lines.splitlines()]
        assert head[:3] == [f"{at}=note", "level", "prediction"] and [row[0] for row in rows] == [f"{at}=1+1", "-5", f"{at}@SUM(1)",
                                                                                                   f"{at}+cmd|x"]
    cells = [cell for line in safe.splitlines() for cell in line.split(",")]
    assert all(cell == "-5" or cell.startswith("score") or not cell.startswith(("=", "@")) for cell in cells)
    (folder / "more.csv").write_text("=a,@b,level\n1,3,1\n2,2,1\n3,1,2\n4,0,2\n")
    assert cli.main(["fit", "prank", "more.csv", "--target", "level", "--model", "m", "--quiet"]) == 0
    assert cli.main(["effects", "m", "more.csv", "--n-boot", "39", "--output", "e.csv", "--safe-cells"]) == 0
    assert cli.main(["counterfactual", "m", "more.csv", "--output", "c.csv", "--wanted", "2", "--safe-cells"]) == 0
    for name in ("e.csv", "c.csv"):
        cells = (folder / name).read_text().replace("\n", ",").replace('"', "").split(",")
        assert "'=a" in cells or "'@b" in cells
        assert not any(cell.startswith(("=", "@")) for cell in cells)


@pytest.mark.parametrize("flags", [["d.previous", "--model", "z", "--checkpoint", "d"],
                                   ["rows.csv", "--model", "d.previous", "--checkpoint", "d"],
                                   ["rows.csv", "--model", "z", "--checkpoint", "d"], ["rows.csv", "--model", "rows.csv"],
                                   ["rows.csv", "--model", "z", "--checkpoint", "rows.csv"]])
def test_no_input_and_no_other_file_is_replaced(flags, folder, capsys):
    (folder / "d.previous").write_text("a,level\n1,1\n2,2\n")
    assert cli.main(["fit", "multiclass", flags[0], "--format", "csv", "--target", "level", *flags[1:], "--set", "epochs=4"]) == 2
    assert "previous" in (said := capsys.readouterr().err) or "rows.csv" in said
    assert (folder / "d.previous").read_text() == "a,level\n1,1\n2,2\n" and (folder / "rows.csv").read_text() == ROWS
    assert sorted(os.listdir()) == ["d.previous", "rows.csv"]


def test_a_new_package_takes_no_name_that_is_taken_and_leaves_nothing_behind(folder, capsys, monkeypatch):
    assert cli.main(["new", "kernels"]) == 2
    assert "structperc_kernels, and one of this name can be imported already" in capsys.readouterr().err
    before = sorted(os.listdir())

    def full(self, *arguments, **options):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.write_text", full)
        assert cli.main(["new", "full-disk"]) == 2
    assert "No space left on device" in capsys.readouterr().err and sorted(os.listdir()) == before
    assert cli.main(["new", "full-disk"]) == 0


def test_numbers_in_safe_cells_stay_numbers():
    from structperc.cli.safe_cells import safe_columns

    assert safe_columns({"a": [-1, np.float64(-1.5), "-1.5", "-x", ("=1", 2), None]}) == {
        "a": [-1, -1.5, "-1.5", "'-x", "'=1 2", "None"]}
