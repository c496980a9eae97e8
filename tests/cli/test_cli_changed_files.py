"""A file that changes between two readings, or before a training is resumed, is noticed and named."""

import itertools
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from structperc import Engine
from structperc.callbacks import ProgressLines
from structperc.engine.checkpoints import files as checkpoint_files
from structperc.files.opening import fingerprint

FIT = ("fit", "cusum", "d.csv", "--stream", "--rows", "20", "--target", "level", "--model", "m")


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(4)
    table = pd.DataFrame({"a": random.normal(size=100).round(3)})
    table.assign(level=1 + np.digitize(table["a"] + random.normal(size=100), [-1, 1])).to_csv("d.csv", index=False)
    return Path("d.csv")


def in_epoch(number, change, monkeypatch):
    """Calls `change` once, in the middle of an epoch."""
    due = [True]

    def called(self, epoch, examples, mistakes, loss):
        if epoch == number and due:
            due.clear()
            change()

    monkeypatch.setattr(ProgressLines, "__call__", called)


CHANGES = {
    "growing": lambda file: file.write_text(file.read_text() + "0.5,2\n" * 50),
    "rewritten": lambda file: file.write_text("a,level\n" + "\n".join(file.read_text().split()[:0:-1]) + "\n"),
    "truncated": lambda file: file.write_text("\n".join(file.read_text().split()[:60]) + "\n"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changes_in_training_is_named_and_what_was_learned_is_kept(change, data, run, monkeypatch):
    in_epoch(2, lambda: CHANGES[change](data), monkeypatch)
    code, _, err = run(*FIT, "--progress", "--set", "epochs=5")
    assert code == 2 and "d.csv has changed since the training began: it had" in err and "Train on a copy that nothing writes to" in err
    assert "is saved in m" in err and len(Engine.load("m").mistakes_) == 2


@pytest.mark.parametrize("change", ["rewritten", "growing"])
def test_a_file_that_changed_before_a_training_is_resumed_is_named(change, data, run):
    assert run(*FIT, "--checkpoint", "c", "--set", "epochs=2")[0] == 0
    CHANGES[change](data)
    code, _, err = run(*FIT, "--checkpoint", "c", "--resume")
    assert code == 2 and "is of a training with another" in err and "remove the file to begin anew" in err


def test_a_broken_line_leaves_what_was_learned_before(data, run):
    lines = data.read_text().splitlines()
    data.write_text("\n".join([*lines[:70], "x,2", *lines[71:]]) + "\n")
    code, _, err = run(*FIT, "--set", "epochs=3")
    assert code == 2 and "line 71" in err and "learned from the 60 examples before is saved in m" in err
    assert Engine.load("m").predict([[3.0]]).tolist() == [3]


def test_checkpoints_are_as_far_apart_as_is_said(data, run, monkeypatch):
    written = []
    monkeypatch.setattr(checkpoint_files, "replace_file", lambda path, write: written.append(path))
    for every, n in (("1", 5), ("3", 2), ("99", 1)):
        written.clear()
        assert run(*FIT, "--checkpoint", "c", "--checkpoint-every", every)[0] == 0
        assert len(written) == n
    clock = itertools.count()               # a minute passes at each look
    monkeypatch.setattr(checkpoint_files, "time", SimpleNamespace(monotonic=lambda: 60.0 * next(clock)))
    for every, n in (("1min", 5), ("3min", 2), ("99min", 1)):
        written.clear()
        assert run(*FIT, "--checkpoint", "c", "--checkpoint-every", every)[0] == 0
        assert len(written) == n
    for flags, message in ((("--checkpoint-every", "2"), "name its file with --checkpoint"),
                           (("--checkpoint", "c", "--checkpoint-every", "often"), "no number of epochs or parts, such as 16, nor of min"),
                           (("--checkpoint", "c", "--checkpoint-every", "0min"), "minutes=0.0; expected a number above 0, such as 10"),
                           (("--checkpoint", "c", "--checkpoint-every", "0"), "expected a number of epochs above 0")):
        code, _, err = run(*FIT, *flags)
        assert code == 2 and message in err


def test_progress_begins_with_the_number_of_readings(data, run):
    lines = run(*FIT, "--progress", "--set", "epochs=2")[2].splitlines()
    assert lines[0] == "d.csv is read once to look through it, and then once for at most 2 epochs"
    assert lines[1].startswith("epoch 1 of 2: 20 of 100 examples visited")          # the look has counted them
    assert lines[-1].startswith("epoch 2 of 2: 100 of 100 examples visited")
    lines = run(*FIT, "--progress", "--classes", "1,2,3", "--set", "epochs=2")[2].splitlines()
    assert lines[0] == "d.csv is read once for at most 2 epochs" and lines[1].startswith("epoch 1 of 2: 20 examples visited")


def test_a_look_through_a_file_shows_rows_their_rate_and_the_share_of_the_file(data, run, monkeypatch):
    monkeypatch.setattr("structperc.files.csv_tables.AT_ONCE", 10)
    lines = run(*FIT, "--progress", "--set", "epochs=2")[2].splitlines()
    assert [line.split(",")[0] for line in lines[1:5]] == [f"looking through the file: {n} rows" for n in (10, 20, 40, 80)]
    assert all("rows a second, 100% of the file, about 0 s left" in line for line in lines[1:5])       # this small one is read at once

    tagged = Path("t.txt")
    tagged.write_text("a X\nb Y\n\n" * 8)
    lines = run("fit", "sequence", "t.txt", "--columns", "word,tag", "--target", "tag", "--stream", "--rows", "2", "--model", "m",
                "--progress")[2].splitlines()
    assert lines[1].startswith("looking through the file: 2 rows") and "of 8 examples visited" in lines[-1]


def test_levels_are_learned_by_a_reading_that_is_told(data, run):
    table = pd.read_csv(data)
    table.assign(kind=["u", "v"] * 50).to_csv(data, index=False)
    lines = run(*FIT, "--progress", "--classes", "1,2,3", "--one-hot", "kind", "--set", "epochs=2")[2].splitlines()
    assert lines[:2] == ["d.csv is read once for at most 2 epochs", "d.csv is read once more, for levels of categories"]
    assert "looking through the file: 20 rows" in lines[2] and "of 100 examples visited" in lines[-1]


def test_blocks_of_a_file_show_most_changes(tmp_path):
    path, content = tmp_path / "f", bytearray(range(256)) * 20_000
    path.write_bytes(content)
    before = fingerprint(path)
    for place in (0, len(content) - 1):
        changed = content.copy()
        changed[place] ^= 1
        path.write_bytes(changed)
        assert fingerprint(path) != before
    path.write_bytes(content)
    assert fingerprint(path) == before
    path.write_bytes(b"")
    assert fingerprint(path).startswith("0 bytes")
