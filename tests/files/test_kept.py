"""Parts that are read once, and then come from a temporary file."""

import gzip
import os
import shutil
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from plain import Engine

from structperc import files
from structperc.cli import main
from structperc.errors import DataError, DataWarning
from structperc.streams import fit_stream

N = 60
SENTENCES = "".join(f"{word}\tx\t{tag}\n{word}s\ty\t{other}\n\n" for word, tag, other in ("aNV", "bVV", "cNN", "aVN", "bVV", "dNN") * 5)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The folder of the data, and an empty one of temporary files."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    X = random.normal(size=(N, 3)).round(2)
    y = 1 + np.digitize(X @ [1, -1, 2], [-1, 1])
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y, w=random.integers(0, 3, N), day=np.arange(N) // 3,
                                                            town=random.choice(["here", "there"], N))
    frame.to_csv("d.csv", index=False)
    Path("d.csv.gz").write_bytes(gzip.compress(Path("d.csv").read_bytes()))
    Path("d.svm").write_text("".join(f"{label} 2:{a} 9:{b}\n" for label, a, b in zip(y, X[:, 0], X[:, 1], strict=True)))
    Path("d.conll").write_text(SENTENCES)
    return tmp_path


NUMBERS = {"target": "y", "features": ["a", "b", "c"]}
TOWNS = {"target": "y", "weight": "w", "as_text": ["town"]}
CASES = {
    "numbers": ("cusum", "d.csv", NUMBERS, {}),
    "weights, gz": ("cusum", "d.csv.gz", {**NUMBERS, "weight": "w"}, {}),
    "groups": ("latent-ranking", "d.csv", {**NUMBERS, "group": "day"}, {"k": 1}),
    "texts": ("cusum", "d.csv", TOWNS, {"plugins": ["table"], "one_hot": {"town": ["here", "there"]}}),
    "levels": ("cusum", "d.csv", TOWNS, {"plugins": ["table"], "one_hot": ["town"]}),
    "sparse rows": ("cusum", "d.svm", {"n_features": 10}, {}),
    "tokens": ("sequence", "d.conll", {"columns": ["word", "_", "tag"], "target": "tag"}, {"template": "U:%x[0,0]", "n_hashed": 64}),
}


def relevances(part):
    """Of each group a list of how relevant its rows are."""
    return [y.tolist() for y in np.split(part.y - 1, part.offsets[1:-1])]


@pytest.mark.parametrize("case", CASES)
def test_a_file_is_read_once_and_teaches_the_same_bits(case, folder):
    problem, path, reading, options = CASES[case]
    begun = []

    def read():
        begun.append(path)
        for part in files.stream(path, rows=12, **reading):
            yield ({"X": part.X, "y": part.y} if case == "tokens" else part if case != "groups"
                   else {"X": part.X, "y": relevances(part), "offsets": part.offsets})

    def fitted(parts):
        begun.clear()
        classes = {} if problem == "latent-ranking" else {"classes": ["N", "V"] if problem == "sequence" else [1, 2, 3]}
        return fit_stream(Engine(problem, epochs=4, shuffle=True, random_state=3, **classes, **options), parts)

    again = fitted(read)
    readings = len(begun)
    once = fitted(files.Kept(read))
    assert readings - len(begun) == len(once.mistakes_) - 1 > 0 and len(begun) == 1 + (case == "levels")
    assert os.listdir("temporary") == []
    once.save("once")
    again.save("again")
    assert Path("once").read_bytes() == Path("again").read_bytes()


@pytest.mark.parametrize("free", [0, 40_000])
def test_a_full_disk_is_told_and_the_parts_are_read_again(free, folder, monkeypatch):
    def read():
        begun.append(1)
        return files.stream("d.csv", rows=12, target="y", features=["a", "b", "c"])

    begun, engine, other = [], Engine("cusum", classes=[1, 2, 3], epochs=3), Engine("cusum", classes=[1, 2, 3], epochs=3)
    fit_stream(other, read)
    begun.clear()
    left = iter([free, *[0] * 99])
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=next(left)))
    with pytest.warns(DataWarning, match=r"the parts are read again in each epoch: .* Set TMPDIR to a folder with more room") as told:
        fit_stream(engine, files.Kept(read))
    assert len(begun) == 3 and len(told) == 1 and np.array_equal(engine.coef_, other.coef_) and os.listdir("temporary") == []


def test_a_pass_that_ends_early_keeps_nothing(folder):
    def read():
        yield from ([1], [2], [3])

    kept = files.Kept(read)
    first = kept()
    assert next(first) == [1]
    first.close()
    assert list(kept()) == list(kept()) == [[1], [2], [3]] and list(files.Kept(lambda: [])()) == []


def test_faults_within_a_pass_leave_no_file(folder):
    def broken():
        yield [1]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(files.Kept(broken)())
    with pytest.raises(DataError, match="a part cannot be kept, .*Pass the function that reads instead of Kept"):
        list(files.Kept(lambda: [lambda: 1])())
    assert os.listdir("temporary") == []


def test_arrays_of_kept_parts_are_read_only_and_equal(folder):
    X = np.asfortranarray(np.random.default_rng(0).normal(size=(5, 3)))
    kept = files.Kept(lambda: [(X, np.arange(5))])
    (first,), (later,) = kept(), kept()
    assert first[0] is X and np.array_equal(later[0], X) and later[0].flags.f_contiguous and not later[0].flags.writeable
    assert later[0].ctypes.data % 64 == 0


def test_the_command_says_that_its_file_is_read_again(folder, monkeypatch, capsys):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=0))
    flags = ["fit", "cusum", "d.csv", "--target", "y", "--drop", "town", "--stream", "--set", "epochs=3"]
    assert main([*flags, "--model", "again"]) == 0
    assert "structperc fit: the parts are read again in each epoch" in capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    assert main([*flags, "--model", "once"]) == 0 and capsys.readouterr().err == ""
    assert Path("once").read_bytes() == Path("again").read_bytes()
