"""Ctrl-C at many moments of each command: exit code 130, one line, no file left over, nothing learned lost.

`python tests/cli/test_cli_interrupts.py 1000` tries so many moments of each command in a folder of its own.
"""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from plain import Engine

from structperc.cli import main

TRACED = tuple(os.path.join("structperc", *parts) for parts in (
    ("cli",), ("files",), ("basics", "writing.py"), ("engine", "model_file"))
)
COMMANDS = {
    "fit": ["fit", "cusum", "d.csv", "--target", "y", "--model", "made", "--quiet", "--set", "epochs=3"],
    "fit --stream": ["fit", "cusum", "d.csv", "--target", "y", "--model", "made", "--quiet", "--stream", "--rows", "20",
                     "--set", "epochs=2"],
    "fit of columns": ["fit", "sequence", "d.txt", "--columns", "w,p,y", "--model", "made", "--quiet", "--stream", "--rows", "2"],
    "fit of svmlight": ["fit", "multiclass", "d.svm", "--model", "made", "--quiet", "--stream", "--rows", "20"],
    "predict": ["predict", "my.model", "d.csv", "--output", "made"],
    "evaluate": ["evaluate", "my.model", "d.csv", "--target", "y"],
    "plot": ["plot", "my.model", "--data", "d.csv", "--target", "y", "--output", "made.png"],
    "explain": ["explain", "my.model", "d.csv", "--row", "3", "--output", "made.html"],
    "compare": ["compare", "my.model", "my.model", "d.csv", "--target", "y"],
    "card": ["card", "my.model", "--data", "d.csv", "--target", "y", "--output", "made.html"],
    "plugins": ["plugins"],
}


def prepare():
    """Data of each format and a model, in the current folder."""
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 2)).round(2)
    data = pd.DataFrame(X, columns=["a", "b"]).assign(y=1 + (X[:, 0] > 0) + (X[:, 0] > 1))
    data.to_csv("d.csv", index=False)
    Path("d.svm").write_text("".join(f"{y} 1:{a} 2:{b}\n" for a, b, y in data.itertuples(index=False)))
    Path("d.txt").write_text("a N x\nb V y\n\n" * 5)
    Engine("cusum").fit(data[["a", "b"]], data["y"]).save("my.model")


class Tracer:
    """Counts the lines that run in the traced files, and raises KeyboardInterrupt at one of them."""

    def __init__(self, at=None):
        self.at, self.count = at, 0

    def __call__(self, frame, event, argument):
        path = frame.f_code.co_filename
        traced = any(part in path for part in TRACED) and frame.f_code.co_name not in ("main", "say", "sentence", "printable")
        return self.line if traced else None

    def line(self, frame, event, argument):
        if event == "line":
            self.count += 1
            if self.count == self.at:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self.line


def interrupted(command, at=None):
    """Runs a command under a tracer: (exit code, lines counted)."""
    tracer = Tracer(at)
    sys.settrace(tracer)
    try:
        return main(COMMANDS[command]), tracer.count
    finally:
        sys.settrace(None)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)       # the interrupted line may be the one that restores it


def left_over():
    return set(os.listdir()) - {"d.csv", "d.svm", "d.txt", "my.model"}


def try_at(command, at, output):
    """One interrupt, and what must hold after it."""
    before = Path("my.model").read_bytes()
    code, count = interrupted(command, at)
    out, err = output()
    if count < at:                                  # a run of fewer lines than the first
        for name in left_over():
            os.unlink(name)
        return
    assert code == 130, (command, at, code, err)
    assert err.count("\n") == 1 and "interrupted" in err and "Traceback" not in err and "damaged" not in err, (command, at, err)
    made = left_over()
    assert made <= {"made", "made.png", "made.html"} and Path("my.model").read_bytes() == before, (command, at, made)
    if command.startswith("fit"):
        assert ("no model was written" not in err) == ("made" in made) or err.endswith(": interrupted\n"), (command, at, err)
        assert not made or Engine.load("made").mistakes_, (command, at)
    for name in made:
        os.unlink(name)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepare()


# The last event of a with block comes before its exit, where Python looks for no signal: the file is then left to the collector.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.parametrize("command", COMMANDS)
def test_ctrl_c_at_any_line_of_a_command(folder, capsys, command):
    main(COMMANDS[command])                         # what is imported at its first use is imported now
    _, n = interrupted(command)
    for name in left_over():
        os.unlink(name)
    capsys.readouterr()
    for at in np.unique(np.linspace(1, n, 6).astype(int)):
        try_at(command, at, capsys.readouterr)


@pytest.fixture(scope="module")
def long_file(tmp_path_factory):
    """Data on which no epoch is without an update."""
    path = tmp_path_factory.mktemp("long") / "long.csv"
    random = np.random.default_rng(0)
    X = random.normal(size=(60_000, 2)).round(2)
    pd.DataFrame(X, columns=["a", "b"]).assign(y=random.integers(1, 4, len(X))).to_csv(path, index=False)
    return path


SIGNS_OF_LIFE = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from structperc.cli import main, parser
build = parser.build
parser.build = lambda: print("arguments", flush=True) or build()
def see(event, given):
    if event == "open" and given[0] == sys.argv[3]:
        print("data", flush=True)
    elif event == "os.rename" and str(given[1]).endswith("checkpoint"):
        print("epoch", flush=True)
sys.addaudithook(see)
sys.exit(main())
"""


@pytest.mark.parametrize(("sign", "number", "code", "further"), [
    ("arguments", signal.SIGTERM, 143, []), ("data", signal.SIGINT, 130, []), ("epoch", signal.SIGTERM, 143, ["--stream"]),
    ("epoch", signal.SIGINT, 130, ["--set", "n_shards=2"]),
])
def test_real_signals(folder, long_file, number, code, further, sign):
    """To processes of their own, as soon as they read arguments, open the data, or have trained for an epoch."""
    command = [sys.executable, "-c", SIGNS_OF_LIFE, "fit", "cusum", long_file, "--target", "y", "--model", "made", "--quiet",
               "--checkpoint", "checkpoint", "--set", "epochs=99999", *further]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while process.stdout.readline() != f"{sign}\n":
            pass
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == code and err.count("\n") == 1 and "interrupted" in err and "damaged" not in err
    assert ("is saved in made" in err) == ("made" in left_over()) and left_over() <= {"made", "checkpoint", "checkpoint.previous"}
    assert sign != "epoch" or Engine.load("made").mistakes_


def test_a_program_keeps_its_own_handler_of_sigterm(folder, monkeypatch):
    def own(*arguments):
        raise AssertionError

    before = signal.signal(signal.SIGTERM, own)
    try:
        main(COMMANDS["plugins"])
        assert signal.getsignal(signal.SIGTERM) is own
    finally:
        signal.signal(signal.SIGTERM, before)
    main(COMMANDS["plugins"])
    assert signal.getsignal(signal.SIGTERM) is before


if __name__ == "__main__":
    import contextlib
    import io

    n_moments = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name) if hasattr(contextlib, "chdir") else contextlib.nullcontext():
        os.chdir(name)
        prepare()
        random = np.random.default_rng()
        for command in COMMANDS:
            with contextlib.redirect_stdout(io.StringIO()):
                main(COMMANDS[command])
                _, n = interrupted(command)
            for name in left_over():
                os.unlink(name)
            moments = random.integers(1, n + 1, n_moments)
            for at in moments:
                out, err = io.StringIO(), io.StringIO()
                with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                    try_at(command, at, lambda out=out, err=err: (out.getvalue(), err.getvalue()))
            print(f"{command:16} {n_moments} interrupts at {len(set(moments.tolist()))} of {n} lines", flush=True)
