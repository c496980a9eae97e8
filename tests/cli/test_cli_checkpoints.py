"""`structperc fit --checkpoint FILE --resume`: after a crash the same command ends with the same model."""

import itertools
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from plain import Engine

import structperc
from structperc.cli import main, training

FIT = ("fit", "cusum", "train.csv", "--target", "level", "--set", "epochs=6", "--set", "shuffle=true", "--set", "random_state=0", "--set",
       "preset=paper")

KILLED = """
import os, signal, sys
from structperc.callbacks import Checkpoint
from structperc.cli import main
def kill(self, engine, record):
    if record.epoch == 4:
        os.kill(os.getpid(), signal.SIGKILL)
kill.structperc_impl = Checkpoint.structperc_epoch_end.structperc_impl
Checkpoint.structperc_epoch_end = kill
main(sys.argv[1:])
"""


@pytest.fixture
def data(tmp_path, monkeypatch):
    """train.csv in an empty current folder."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(5)
    X = random.normal(size=(60, 3)).round(3)
    level = 1 + np.digitize(X @ [1.0, -2.0, 0.5] + 0.5 * random.normal(size=60), [-1.0, 1.0])
    pd.DataFrame(X, columns=["age", "bmi", "pressure"]).assign(level=level).to_csv("train.csv", index=False)
    return tmp_path


def test_a_command_that_was_killed_ends_with_the_same_model(data, run):
    assert run(*FIT, "--model", "undisturbed")[0] == 0
    resumed = (*FIT, "--model", "resumed", "--checkpoint", "c", "--resume")
    assert subprocess.run([sys.executable, "-c", KILLED, *resumed]).returncode == -signal.SIGKILL
    assert not Path("resumed").exists() and len(Engine.load("c").mistakes_) == 3

    assert run(*resumed)[0] == 0
    assert Path("resumed").read_bytes() == Path("undisturbed").read_bytes()
    assert sorted(os.listdir(data)) == ["c", "c.previous", "resumed", "train.csv", "undisturbed"]
    assert run(*resumed)[0] == 0 and Path("resumed").read_bytes() == Path("undisturbed").read_bytes()      # training had ended


def test_after_ctrl_c_the_command_says_how_to_go_on(data, run, install):
    install("interrupting", """
        from structperc import hookimpl
        @hookimpl
        def structperc_epoch_end(engine, record):
            if record.epoch == 3:
                raise KeyboardInterrupt
    """)
    code, _, err = run(*FIT, "--model", "m", "--checkpoint", "c", "--plugin", "interrupting")
    assert code == 130
    assert err == ("structperc fit: interrupted in epoch 3; the model trained so far is saved in m. The same command with --resume goes on "
                   "from c.\n")
    assert len(Engine.load("m").mistakes_) == 3 and Path("c").exists()


def test_other_data_are_refused_and_the_checkpoint_stays(data, run):
    assert run(*FIT, "--model", "m", "--checkpoint", "c")[0] == 0
    shutil.copy("c", "copy")
    table = pd.read_csv("train.csv")
    table.assign(age=table["age"] + 1).to_csv("train.csv", index=False)
    code, out, err = run(*FIT, "--model", "other", "--checkpoint", "c", "--resume")
    assert (code, out) == (2, "") and "is of a training with another X" in err and err.count("\n") == 1
    assert Path("c").read_bytes() == Path("copy").read_bytes() and not Path("other").exists()


@pytest.mark.parametrize(("arguments", "why"), [
    (["--resume"], "--resume goes on from a checkpoint; name its file with --checkpoint"),
    (["--checkpoint", "m"], "--checkpoint and --model both name 'm'"),
    (["--checkpoint", "train.csv"], "--checkpoint 'train.csv' cannot be written: it is an input of this command"),
    (["--checkpoint", "no/such/c"], "--checkpoint 'no/such/c' cannot be written: there is no folder"),
])
def test_flags_that_make_no_sense_are_refused(data, run, arguments, why):
    code, out, err = run(*FIT, "--model", "m", *arguments)
    assert (code, out) == (2, "") and why in err and err.count("\n") == 1
    assert os.listdir(data) == ["train.csv"]


# ---- streams ----

STREAM = (*FIT, "--stream", "--rows", "9")


def killed(command, at):
    """The exit code of a child that runs a command and is killed before it learns from this part."""
    process = os.fork()
    if process:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    try:
        learn, calls = training.Engine.partial_fit, itertools.count(1)

        def counted(engine, *arguments, **options):
            if next(calls) == at:
                os.kill(os.getpid(), signal.SIGKILL)
            return learn(engine, *arguments, **options)

        training.Engine.partial_fit = counted
        main(command)
    finally:
        os._exit(1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.parametrize("further", [[], ["--set", "n_shards=2", "--set", "scale=true", "--set", "class_weight={\"1\": 2}"]])
def test_a_stream_that_was_killed_ends_with_the_same_model(data, run, further):
    assert run(*STREAM, *further, "--model", "undisturbed")[0] == 0
    resumed = [*STREAM, *further, "--model", "resumed", "--checkpoint", "c", "--resume"]
    assert [killed(list(map(str, resumed)), at) for at in (1, 4, 17)] == [-9] * 3
    assert not Path("resumed").exists() and len(Engine.load("c").mistakes_) == 3

    code, out, _ = run(*resumed)
    assert code == 0 and "rows      60" in out
    assert Path("resumed").read_bytes() == Path("undisturbed").read_bytes()
    code, again, _ = run(*resumed)      # training had ended
    assert code == 0 and again == out and Path("resumed").read_bytes() == Path("undisturbed").read_bytes()


@pytest.mark.parametrize(("change", "why"), [
    (lambda: shutil.copy("train.csv", "other.csv"), "is of a training with another path ("),
    (lambda: Path("train.csv").write_text(Path("train.csv").read_text() + "1,2,3,1\n"), "another size ("),
    (lambda: Path("train.csv").write_text(Path("train.csv").read_text().replace("bmi", "mbi")), "another header (age, bmi,"),
    (lambda: None, "another rows (9; here 10)"),
])  # fmt: skip
def test_a_stream_of_another_file_is_refused(data, run, change, why):
    assert run(*STREAM, "--model", "m", "--checkpoint", "c")[0] == 0
    change()
    path = "other.csv" if Path("other.csv").exists() else "train.csv"
    rows = "10" if "rows" in why else "9"
    command = [path if word == "train.csv" else rows if word == "9" else word for word in STREAM]
    code, out, err = run(*command, "--model", "other", "--checkpoint", "c", "--resume")
    assert (code, out) == (2, "") and why in err and err.count("\n") == 1 and not Path("other").exists()


def test_a_stream_from_a_pipe_goes_on_where_it_is_piped_again(data, run, monkeypatch):
    import io

    text = Path("train.csv").read_bytes()

    def piped(model, *further):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        return run("fit", "cusum", "-", "--target", "level", "--stream", "--rows", "9", "--classes", "1,2,3", "--model", model,
                   "--set", "random_state=0", *further)

    assert piped("undisturbed")[0] == 0
    learn, calls = structperc.Engine.partial_fit, []

    def interrupted(engine, *arguments, **options):
        calls.append(True)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return learn(engine, *arguments, **options)

    monkeypatch.setattr(structperc.Engine, "partial_fit", interrupted)
    code, _, err = piped("m", "--checkpoint", "c")
    assert code == 130 and "The same command with --resume goes on from c" in err
    assert piped("m", "--checkpoint", "c", "--resume")[0] == 0
    assert Path("m").read_bytes() == Path("undisturbed").read_bytes()
