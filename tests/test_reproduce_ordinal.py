"""The published experiments with ordered labels: a slice of seconds, and what an interrupted run leaves behind."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from structperc.errors import MissingData

pytest.importorskip("matplotlib", reason="the experiments draw figures")
pytest.importorskip("sklearn", reason="the experiments fold rows by scikit-learn")

FOLDER = Path(__file__).parents[1] / "benchmarks"
NEEDED = ("orca_pyrim10/pyrim10_partitions.tar.gz", "chu_ghahramani/diabetes_partitions.tar.gz")


@pytest.fixture
def scripts(monkeypatch):
    """The modules of the benchmarks can be imported."""
    monkeypatch.syspath_prepend(FOLDER)


def doubled(number, calls):
    """What a test has fitted; leaves a trace of each call."""
    with Path(calls).open("a") as file:
        file.write(f"{number}\n")
    return {"twice": 2 * number}


def test_a_quick_run_writes_tables_and_figures(tmp_path):
    home = os.environ.get("STRUCTPERC_DATA")
    if not home or not all(Path(home, path).is_file() for path in NEEDED):
        pytest.skip(f"STRUCTPERC_DATA names no folder with {' and '.join(NEEDED)}")
    command = [sys.executable, FOLDER / "reproduce_ordinal.py", "--quick", "--jobs", "1", "--kept", tmp_path / "kept", "--output", tmp_path]
    one_thread = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}    # or it starts itself again
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | one_thread)

    assert done.returncode == 0, done.stderr
    tables = {path.stem.rpartition("-")[2]: path.read_text() for path in tmp_path.glob("*.md")}
    assert tables.keys() == {"margins", "nine", "benchmark", "boosting"}
    assert all(" ± " in text and "nan" not in text for text in tables.values())
    assert all(learner in tables["nine"] for learner in ("learned CuSum", "kernel PRank", "SVOREX", "SVORIM"))
    assert all(f"## {base}" in tables["boosting"] for base in ("ORStump", "PRank", "SVOR"))
    assert all((tmp_path / name).is_file() for text in tables.values() for name in re.findall(r"\]\(([\w-]+\.png)\)", text))


def test_a_missing_data_set_is_named(scripts, tmp_path, monkeypatch):
    import ordinal_data

    monkeypatch.setenv("STRUCTPERC_DATA", str(tmp_path))
    with pytest.raises(MissingData, match="house_16h.csv.gz into .*regression, or set the environment variable STRUCTPERC_DATA"):
        ordinal_data.require(["census"])


@pytest.fixture
def same_code(scripts, monkeypatch):
    """No fit depends on code that has changed: its hash takes seconds."""
    import fingerprint

    monkeypatch.setattr(fingerprint, "of", lambda function: "code")


def test_kept_fits_are_not_repeated(same_code, tmp_path):
    from remembered import Fit, Remembered

    path, calls = tmp_path / "kept.jsonl", tmp_path / "calls"
    fits = [Fit(doubled, {"number": number, "calls": str(calls)}) for number in range(3)]

    assert Remembered(path).results(fits[:2]) == [{"twice": 0}, {"twice": 2}]
    with path.open("a") as file:
        file.write('{"key": "doubled {\\"num')                  # killed while it wrote
    assert Remembered(path).results(fits) == [{"twice": 0}, {"twice": 2}, {"twice": 4}]
    assert Remembered(path).results(fits) == [{"twice": 0}, {"twice": 2}, {"twice": 4}]
    assert calls.read_text().split() == ["0", "1", "2"]


MODULE = """
import helper
from helper import shared, unused
SCALE = 2
OTHER = 3

def fitted(number):
    return shared(number) * SCALE + helper.LIMIT

def report():
    return "a page"
"""
HELPER = """
LIMIT = 5

def shared(number):
    return deeper(number)

def deeper(number):
    return number

def unused():
    pass
"""


def test_a_hash_of_code_changes_with_what_a_fit_depends_on_alone(scripts, tmp_path, monkeypatch):
    import fingerprint

    def code(name, module=MODULE, helper=HELPER, library="one", python='"""A page."""\n'):
        folder = tmp_path / name
        (folder / "library/testing").mkdir(parents=True)
        for path, text in (("fits.py", module), ("helper.py", helper), ("library/part.pyx", library), ("library/part.py", python),
                           ("library/testing/part.py", name)):
            (folder / path).write_text(text)
        monkeypatch.setattr(fingerprint, "ROOT", folder)
        monkeypatch.setattr(fingerprint, "LIBRARY", [folder / "library"])
        fingerprint.library.cache_clear()
        return fingerprint.of_name(folder / "fits.py", "fitted")

    first = code("first")
    same = [code("prose", MODULE.replace("a page", "another page")), code("other", MODULE.replace("OTHER = 3", "OTHER = 4")),
            code("unused", helper=HELPER.replace("pass", "return 1")), code("comment", library="# two\none"),
            code("words", MODULE.replace("fitted(number):", 'fitted(number):\n    """Fits."""')),
            code("docstring", python='"""Another page."""  # and a comment\n')]
    changed = [code("body", MODULE.replace("+ helper", "- helper")), code("constant", MODULE.replace("SCALE = 2", "SCALE = 3")),
               code("limit", helper=HELPER.replace("5", "6")), code("deeper", helper=HELPER.replace("return number", "return -number")),
               code("library", library="two"), code("flags", library="# distutils: extra_compile_args = LOOPS\none"),
               code("python", python="value = 1\n")]
    fingerprint.library.cache_clear()

    assert same == [first] * 6 and first not in changed and len(set(changed)) == 7


def test_fits_of_other_code_are_repeated(scripts, tmp_path, monkeypatch):
    import fingerprint
    from remembered import Fit, Remembered

    fit = Fit(doubled, {"number": 1, "calls": str(tmp_path / "calls")})
    for code in ("one", "one", "two"):
        monkeypatch.setattr(fingerprint, "of", lambda function, code=code: code)
        Remembered(tmp_path / "kept.jsonl").results([fit])

    assert (tmp_path / "calls").read_text().split() == ["1", "1"]


def test_parts_whose_record_is_of_the_present_code_are_kept(scripts):
    import reproduce_all

    parts = reproduce_all.PARTS
    assert len({part.name for part in parts}) == len(parts)
    assert all((FOLDER / part.script).is_file() and (FOLDER / part.command[0]).is_file() for part in parts)
    records = {part.name: {"seconds": 90, "measured": "2026-01-02"} for part in parts[1:]}
    told = reproduce_all.plan(parts, parts[:3], records)
    assert f"| {parts[0].name} | not known | never | run |" in told and f"| {parts[3].name} | 90 | 2026-01-02 | kept |" in told
    assert f"3 of {len(parts)} parts are run: 3 minutes" in told


def test_without_time_left_no_fit_begins(same_code, tmp_path):
    from remembered import Fit, Remembered

    fits = [Fit(doubled, {"number": number, "calls": str(tmp_path / "calls")}) for number in range(2)]
    Remembered(tmp_path / "kept.jsonl").results(fits[:1])

    assert Remembered(tmp_path / "kept.jsonl", until=0.0).results(fits) == [{"twice": 0}, None]


def test_ranks_are_equally_frequent_and_follow_the_target(scripts):
    from ordinal_data import equal_frequency

    target = np.array([5.0, 0, 0, 0, 0, 0, 0, 7, 1, 6])
    ranks = equal_frequency(target, ranks=5)

    assert np.bincount(ranks).tolist() == [0, 2, 2, 2, 2, 2]
    assert (np.diff(ranks[np.argsort(target, kind="stable")[6:]]) >= 0).all()
    assert ranks[target == 0].max() <= ranks[target > 0].min()


def test_a_hidden_layer_learns_what_is_bent_and_keeps_its_best_epoch(scripts):
    from learned_features import PATIENCE, HiddenLayer

    random = np.random.default_rng(0)
    X = random.uniform(-2, 2, (120, 1))
    y = 1 + np.digitize(X[:, 0] ** 2, [1, 2, 3])
    layer, again = HiddenLayer(seed=1).fit(X[:80], y[:80]), HiddenLayer(seed=1).fit(X[:80], y[:80])

    assert np.abs(layer.predict(X[80:]) - y[80:]).mean() < 0.6 * np.abs(y[:80].mean() - y[80:]).mean()
    assert layer.transform(X).shape == (120, 1000)
    assert (layer.predict(X) == again.predict(X)).all()
    assert layer.epochs > PATIENCE
