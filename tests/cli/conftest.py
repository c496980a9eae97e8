"""The commands with the papers' plain algorithm, each step of which tests compute by hand; tests/engine/test_presets.py has the others."""

import numpy as np
import pandas as pd
import pytest

LEVELS = ["low", "middle", "high"]


@pytest.fixture
def run(run):
    """Calls the command line as the fixture of all tests does; `fit` starts from preset=paper."""

    def plain(*arguments):
        return run(*arguments[:1], *(["--set", "preset=paper"] if arguments[:1] == ("fit",) else []), *arguments[1:])

    return plain


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def data(folder):
    """train.csv and test.csv with numbered levels, words.csv with named ones, data.svm."""
    random = np.random.default_rng(5)
    X = random.normal(size=(90, 3)).round(3)
    level = 1 + np.digitize(X @ [1.0, -2.0, 0.5] + 0.5 * random.normal(size=90), [-1.0, 1.0])
    frame = pd.DataFrame(X, columns=["age", "bmi", "blood pressure"]).assign(level=level)
    frame[:60].to_csv("train.csv", index=False)
    frame[60:].to_csv("test.csv", index=False)
    frame[:60].assign(level=np.array(LEVELS)[level[:60] - 1]).to_csv("words.csv", index=False)
    with open("data.svm", "w") as file:
        for row, y in zip(X, level, strict=True):
            file.write(f"{y} " + " ".join(f"{j}:{value}" for j, value in enumerate(row, start=1) if abs(value) > 0.5) + "\n")
    return frame
