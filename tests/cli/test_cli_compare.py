"""`structperc compare`, and tables on terminals and in other output."""

import io
import sys

import numpy as np
import pandas as pd
import pytest
from plain import Engine

from structperc.cli.terminal import say_drawn, say_fault, say_table
from structperc.metrics import compare

ROWS = [["measure", "a"], ["[red]error", "\x1b[31m0.5"]]


class Terminal(io.StringIO):
    """A text file whose `isatty` returns True."""

    def isatty(self):
        return True


def test_two_models_of_other_columns_are_compared(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(1).normal(size=(90, 3)).round(2)
    frame = pd.DataFrame(X, columns=["acid", "sugar", "alcohol"]).assign(quality=1 + np.digitize(X @ [1, -1, 2], [-1, 1]))
    frame[:60].to_csv("train.csv", index=False)
    frame[60:].to_csv("test.csv", index=False)
    fit = "fit", "prank", "train.csv", "--target", "quality", "--quiet"
    assert run(*fit, "--model", "all.model")[0] == run(*fit, "--model", "few.model", "--drop", "alcohol")[0] == 0
    code, out, err = run("compare", "all.model", "few.model", "test.csv")
    first, second, test = Engine.load("all.model"), Engine.load("few.model"), frame[60:].drop(columns="quality")
    found = compare(first, second, test, frame["quality"][60:].to_numpy(), names=("all", "few"))
    assert (code, err) == (0, "") and out == f"{found}\n"
    frame[:60].assign(quality=np.minimum(frame["quality"][:60], 2)).to_csv("train.csv", index=False)
    assert run(*fit, "--model", "two.model")[0] == 0
    code, out, err = run("compare", "all.model", "two.model", "test.csv")
    assert code == 2 and out == "" and "the engines know different labels, 1, 2, 3 and 1, 2;" in err and err.count("\n") == 1


@pytest.mark.parametrize(("variables", "ruled"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_tables_are_ruled_on_terminals_alone(monkeypatch, variables, ruled):
    pytest.importorskip("rich")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    terminal, pipe = Terminal(), io.StringIO()
    say_table(ROWS, file=terminal)
    say_table(ROWS, file=pipe)
    assert pipe.getvalue() == "     measure            a\n  [red]error  \\x1b[31m0.5\n"
    assert ("─" in terminal.getvalue()) == ruled and "[red]error" in terminal.getvalue() and "\\x1b[31m0.5" in terminal.getvalue()


@pytest.mark.parametrize(("variables", "shown"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_bars_and_errors_have_colour_on_terminals_only(monkeypatch, variables, shown):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    terminal, pipe = Terminal(), io.StringIO()
    for file in (terminal, pipe):
        say_drawn("bmi    │ ██ +2", "age  █ │    -1", file=file)
    assert pipe.getvalue() == "bmi    │ ██ +2\nage  █ │    -1\n"
    assert ("│ \x1b[1;34m██\x1b[0m +2" in terminal.getvalue()) == ("\x1b[1;31m█\x1b[0m │" in terminal.getvalue()) == shown
    for file in (terminal, pipe):
        monkeypatch.setattr(sys, "stderr", file)
        say_fault("structperc fit", f"no such \x1b[31mplugin{', a plugin' * 9}")
    assert pipe.getvalue().endswith(f"structperc fit: no such \\x1b[31mplugin{', a plugin' * 9}\n")
    lines = terminal.getvalue().split("\n")[2:]
    assert lines[0].startswith("\x1b[1;31mstructperc fit:\x1b[0m no such \\x1b") == shown
    assert all(len(line) <= 40 for line in lines[1:]) and len(lines) == 5


def test_without_rich_a_terminal_has_plain_tables(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setitem(sys.modules, "rich.table", None)
    terminal = Terminal()
    say_table(ROWS, ["as before"], file=terminal)
    assert terminal.getvalue() == "as before\n"
