"""The command line under hostile names, cells and paths: a sentence each time, and no input is overwritten."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from plain import Engine

from structperc.cli import main
from structperc.cli.terminal import Shown, printable, say

from .lines import one_line

TRAIN = "age,bmi,level\n1,2,1\n2,1,2\n3,5,3\n4,1,2\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A current folder with train.csv and a model of it."""
    monkeypatch.chdir(tmp_path)
    Path("train.csv").write_text(TRAIN)
    Engine("cusum").fit(pd.read_csv("train.csv")[["age", "bmi"]], [1, 2, 3, 2]).save("my.model")
    return tmp_path


# ---- what reaches the terminal ----


@pytest.mark.parametrize(("text", "shown"), [
    ("plain ä 漢 \\", "plain ä 漢 \\"), ("\x1b[2J", "\\x1b[2J"), ("a\nb\r\tc", "a\\nb\\r\\tc"), ("\u202egnp.exe", "\\u202egnp.exe"),
    ("\u2066x\u2069", "\\u2066x\\u2069"), ("\x9b31m", "\\x9b31m"), ("\udc80", "\\udc80"), ("\0", "\\x00"), ("\u2028", "\\u2028"),
])  # fmt: skip
def test_what_a_terminal_acts_on_is_escaped(text, shown):
    assert printable(text) == shown == printable(shown)


def test_predictions_are_escaped_for_terminals_alone():
    file = io.StringIO()
    Shown(file).writelines(["a\x1b[31m\tb\n", "c\n"])
    assert file.getvalue() == "a\\x1b[31m\tb\nc\n"


def test_a_line_is_printed_in_any_encoding():
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    say("grün \x1b", "次", file=file)
    file.seek(0)
    assert file.read() == "gr\\xfcn \\x1b\n\\u6b21\n"


HOSTILE = "a\x1b]0;owned\x07\u202e\nb"


def test_names_and_labels_from_files_cannot_act_on_the_terminal(run):
    frame = pd.DataFrame({HOSTILE: [1.0, 2, 3, 4], "level": [HOSTILE, "x", HOSTILE, "x"]})
    frame.to_csv("hostile.csv", index=False)
    outputs = [run("fit", "multiclass", "hostile.csv", "--target", "level", "--model", "h.model"),
               run("evaluate", "h.model", "hostile.csv", "--target", "level"),
               run("fit", "multiclass", "hostile.csv", "--target", HOSTILE + "x", "--model", "h.model"),
               run("fit", "multiclass", HOSTILE, "--target", "level", "--model", "h.model"),
               run("fit", "multiclass", "hostile.csv", "--target", "level", "--model", "h.model", "--set", HOSTILE),
               run("predict", HOSTILE, "hostile.csv"), run("fit", HOSTILE), run("check", HOSTILE), run(HOSTILE)]
    for code, out, err in outputs:
        assert code in (0, 2) and all(line.isprintable() for line in (out + err).split("\n"))
    assert "a\\x1b]0;owned\\x07\\u202e\\nb" in outputs[0][1] and "a\\x1b]0;owned" in outputs[1][1]


def test_dollars_in_labels_are_drawn(run):
    frame = pd.read_csv("train.csv").assign(level=["$_{", "$x^", "$\\frac", "$x^"])
    frame.to_csv("dollars.csv", index=False)
    assert run("fit", "cusum", "dollars.csv", "--target", "level", "--classes", "$_{,$x^,$\\frac", "--model", "d.model")[0] == 0
    code, _, err = run("plot", "d.model", "--data", "dollars.csv", "--target", "level", "--output", "d.png")
    assert (code, err) == (0, "") and Path("d.png").stat().st_size > 0


# ---- whatever goes wrong ----


@pytest.mark.parametrize(("error", "message"), [
    (MemoryError("Unable to allocate 9 TiB"), "the memory of this machine does not suffice (Unable to allocate 9 TiB). Train with fewer"),
    (MemoryError(), "the memory of this machine does not suffice. Train with fewer"),
    (RecursionError("too deep"), "RecursionError: too deep (--traceback shows where)"),
    (OverflowError("a\nb"), "OverflowError: a b (--traceback shows where)"),
    (AssertionError(), "AssertionError: an error without a message (--traceback shows where)"),
    (OSError(28, "No space left on device"), "reading or writing failed: No space left on device."),
    (UnicodeEncodeError("ascii", "ä", 0, 1, "x"), "standard output takes text in ascii, which lacks '\\xe4'; write to a file"),
])  # fmt: skip
def test_an_error_that_nobody_foresaw_is_a_sentence(run, monkeypatch, error, message):
    def broken(*arguments, **options):
        raise error

    monkeypatch.setattr("structperc.cli.predicting.Engine.load", broken)
    code, out, err = run("predict", "my.model", "train.csv")
    assert (code, out) == (2, "") and err.startswith("structperc predict: ") and one_line(err)
    assert message in err.replace("'ä'", "'\\xe4'")
    code, _, err = run("predict", "my.model", "train.csv", "--traceback")
    assert code == 2 and err.startswith("Traceback")


@pytest.mark.parametrize("arguments", [
    ["fit", "cusum", "a\0.csv", "--target", "y", "--model", "m"], ["fit", "cusum", "train.csv", "--target", "y", "--model", "m\0"],
    ["predict", "\0", "train.csv"], ["predict", "my.model", "\0"], ["predict", "my.model", "train.csv", "--output", "\0"],
    ["evaluate", "my.model", "\0"], ["plot", "my.model", "--output", "a\0.png"], ["new", "a-plugin", "\0"], ["predict", "", "train.csv"],
])  # fmt: skip
def test_a_path_that_cannot_be_is_refused(run, arguments):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "") and "is no path" in err and one_line(err) and err[:-1].isprintable()


@pytest.mark.parametrize("value", ["[" * 100_000, "[" * 900 + "1" + "]" * 900, "1" * 5000, "1e999", "nan", "\x1b", "{", '{"a":'])
@pytest.mark.parametrize("key", ["loss", "random_state", "epochs", "C", "update", "classes"])
def test_settings_of_any_text_are_answered(run, key, value):
    code, out, err = run("fit", "cusum", "train.csv", "--target", "level", "--model", "m", "--set", f"{key}={value}")
    assert code in (0, 2) and "traceback" not in err and (code == 0 or out == "" and one_line(err) and err[:-1].isprintable())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_under_standard_output_is_a_sentence():
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "structperc", "predict", "my.model", "train.csv"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and one_line(done.stderr) and "No space left on device" in done.stderr


def test_relevances_that_are_no_numbers_are_named(run):
    pd.DataFrame({"a": [1.0, 2, 3, 4], "q": [0, 0, 1, 1], "y": [1, 0, 1, 0]}).to_csv("q.csv", index=False)
    assert run("fit", "latent-ranking", "q.csv", "--target", "y", "--group", "q", "--model", "q.model")[0] == 0
    pd.DataFrame({"a": [1.0, 2, 3, 4], "q": [0, 0, 1, 1], "y": ["x", 0, 1, 0]}).to_csv("q.csv", index=False)
    code, out, err = run("evaluate", "q.model", "q.csv", "--target", "y", "--group", "q")
    assert (code, out) == (2, "") and "expected a number for each document" in err and one_line(err)


# ---- inputs stay ----


@pytest.mark.parametrize(("arguments", "flag"), [
    (["fit", "cusum", "train.csv", "--target", "level", "--model", "{}"], "--model"),
    (["predict", "my.model", "train.csv", "--output", "{}"], "--output"),
    (["plot", "my.model", "--data", "train.csv", "--target", "level", "--output", "{}"], "--output"),
])  # fmt: skip
@pytest.mark.parametrize("name", ["train.csv", "./train.csv", "soft", "hard", "my.model"])
def test_a_command_does_not_overwrite_its_own_input(folder, run, arguments, flag, name):
    Path("soft").symlink_to(folder / "train.csv")
    os.link("train.csv", "hard")
    model = Path("my.model").read_bytes()
    code, out, err = run(*(text.format(name) for text in arguments))
    if name == "my.model" and flag == "--model":
        assert code == 0                            # a model is trained anew
        return
    assert (code, out) == (2, "") and f"{flag} {name!r} cannot be written: it is an input of this command" in err and one_line(err)
    assert Path("train.csv").read_text() == TRAIN and Path("my.model").read_bytes() == model and Path("soft").is_symlink()


def test_a_template_is_an_input_too(run):
    Path("train.txt").write_text("a N\nb V\n")
    Path("windows.txt").write_text("U1:%x[0,0]\n")
    code, _, err = run("fit", "sequence", "train.txt", "--columns", "w,y", "--template", "windows.txt", "--model", "windows.txt")
    assert code == 2 and "it is an input of this command" in err and Path("windows.txt").read_text() == "U1:%x[0,0]\n"


def test_rows_of_their_own_are_not_grouped(run, tmp_path):
    (tmp_path / "rows.svmlight").write_text("1 qid:1 1:1\n2 qid:2 1:2\n3 qid:3 1:3\n")
    assert run("fit", "multiclass", tmp_path / "rows.svmlight", "--model", tmp_path / "model")[0] == 0
    code, _, err = run("predict", tmp_path / "model", tmp_path / "rows.svmlight", "--group", "qid")
    assert code == 2 and "--group makes examples of many rows, but the model of multiclass predicts single rows; leave it out" in err


def test_predictions_go_to_pipes_and_devices():
    expected = "\n".join(["prediction", *map(str, Engine.load("my.model").predict(pd.read_csv("train.csv")[["age", "bmi"]])), ""])
    command = ["predict", "my.model", "train.csv", "--output"]
    done = subprocess.run([sys.executable, "-m", "structperc", *command, "/dev/stdout"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, expected, "")
    os.mkfifo("pipe")
    with open(os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)) as pipe:       # the pipe holds more than is written
        assert main([*command, "pipe"]) == 0 and pipe.read() == expected
    assert Path("pipe").is_fifo() and main([*command, os.devnull]) == 0


def test_a_closed_standard_output_is_told(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["plugins"]) == 2
    sys.stdout.close()
    assert "standard output is closed; write it to a file" in capsys.readouterr().err
