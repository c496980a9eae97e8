"""A disk that is full at any byte: RLIMIT_FSIZE ends files there; the old file stays, and nothing else does."""

import contextlib
import errno
import io
import os
import random
import resource
import shutil
import sqlite3
import sys
from pathlib import Path

from torture.report import Report
from torture.streams import dumped, folder_in_memory, streams


@contextlib.contextmanager
def no_file_longer_than(size):
    """Within the block, writing beyond so many bytes fails as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    writes_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True       # Python before 3.12 leaves a part of a .pyc file there
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        sys.dont_write_bytecode = writes_bytecode


def saves(n, seed=0) -> Report:
    """Saves and commands on a full disk."""
    from structperc.cli import main

    report, chosen = Report("a full disk"), random.Random(seed)
    stream = streams()[0]
    old, new = (stream.engine(epochs=k).fit(*stream.data) for k in (1, 3))
    size = len(dumped(new))
    with folder_in_memory() as folder:
        path, rows, model = (os.path.join(folder, name) for name in ("model", "rows.csv", "old"))
        Path(rows).write_text("a,b,level\n" + "1,2,1\n2,1,2\n0,1,3\n" * 4)
        main(["fit", "cusum", rows, "--target", "level", "--quiet", "--model", model])
        with contextlib.closing(sqlite3.connect(os.path.join(folder, "rows.db"))) as connection:
            connection.executescript("create table t (a, b); insert into t values " + ", ".join(["(1, 2), (2, 1.5), (0, 1)"] * 4))
        for _ in range(n):
            old.save(path)
            before = Path(path).read_bytes()
            limit = chosen.randrange(size)
            with no_file_longer_than(limit):
                try:
                    new.save(path)
                    report.expect(False, "a save on a full disk succeeds")
                except OSError as error:
                    report.count("saves refused")
                    report.expect(str(error).endswith(".") and not isinstance(error, FileNotFoundError), f"no sentence: {error}")
            report.expect(Path(path).read_bytes() == before, "the old file is not kept")
            words = random_command(chosen, rows, model, folder)
            said = io.StringIO()
            with no_file_longer_than(limit % 20), contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
                code = main(words)
            report.count("commands refused")
            report.expect(code == 2 and said.getvalue().count("\n") == 1, f"{words[0]}: {code}: {said.getvalue()!r}")
            left = set(os.listdir(folder)) - {"model", "old", "rows.csv", "rows.db"}
            report.expect(not left, f"{words[0]}: files are left")
            for name in left:
                gone = Path(folder, name)
                shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
        if os.path.exists("/dev/full"):
            try:
                new.save("/dev/full")
                report.expect(False, "a save to /dev/full succeeds")
            except OSError as error:
                report.count("saves to /dev/full refused")
                report.expect(os.strerror(errno.ENOSPC) in str(error), f"/dev/full: {error}")
    return report


ENDINGS = ("csv", "html")


def random_command(chosen, rows, model, folder):
    """A command that writes a file."""
    out, table = os.path.join(folder, "out"), os.path.join(folder, f"out.{chosen.choice(ENDINGS)}")
    return chosen.choice((["fit", "cusum", rows, "--target", "level", "--quiet", "--model", os.path.join(folder, "m2")],
                          ["fit", "cusum", rows, "--target", "level", "--quiet", "--model", model],
                          ["predict", model, rows, "--output", out],
                          ["predict", model, f"{folder}/rows.db", "--query", "select a, b from t", "--output", out],
                          ["counterfactual", model, rows, "--wanted", "2", "--output", table],
                          ["effects", model, rows, "--n-boot", "39", "--output", table],
                          ["new", "full-disk", folder]))
