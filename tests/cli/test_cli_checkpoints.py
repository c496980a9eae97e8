"""`structperc fit --checkpoint FILE --resume`: after a crash the same command ends with the same model."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from structperc import Engine

FIT = ("fit", "cusum", "train.csv", "--target", "level", "--set", "epochs=6", "--set", "shuffle=true", "--set", "random_state=0")

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
    assert run(*resumed)[0] == 0 and Path("resumed").read_bytes() == Path("undisturbed").read_bytes()      # was over


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
    (["--checkpoint", "c", "--stream"], "leave it out with --stream"),
    (["--checkpoint", "train.csv"], "--checkpoint 'train.csv' cannot be written: it is an input of this command"),
    (["--checkpoint", "no/such/c"], "--checkpoint 'no/such/c' cannot be written: there is no folder"),
])
def test_flags_that_make_no_sense_are_refused(data, run, arguments, why):
    code, out, err = run(*FIT, "--model", "m", *arguments)
    assert (code, out) == (2, "") and why in err and err.count("\n") == 1
    assert os.listdir(data) == ["train.csv"]
