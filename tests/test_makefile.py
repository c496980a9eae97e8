"""Tests of the Makefile: if something is missing, make prints an error about it before it builds anything."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def make(folder, *arguments):
    for name in ("Makefile", "pyproject.toml", "setup.py"):
        shutil.copy(ROOT / name, folder)
    for package in ("structperc", "plugins"):
        (folder / package).mkdir()
    outer = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(["make", *map(str, arguments)], cwd=folder, env=outer, capture_output=True, text=True)


def test_without_a_target_it_lists_them(tmp_path):
    done = make(tmp_path)

    assert done.returncode == 0
    listed = [line.split()[1] for line in done.stdout.split("\n") if line.startswith("make ")]
    assert listed == ["demo", "test", "neighbours", "mutants", "fuzz", "torture", "races", "sanitize", "bench", "bench-compare",
                      "reproduce-interval", "reproduce-kernel", "reproduce-ordinal", "reproduce-ranking", "reproduce-structures",
                      "reproduce-all", "report", "docs", "browser", "wheel", "test-wheel", "lint", "clean"]


def test_a_comparison_needs_a_commit(tmp_path):
    (tmp_path / "venv").mkdir()
    (tmp_path / "benchmarks").mkdir()
    done = make(tmp_path, "--assume-old=venv/with-bench", "bench-compare", "VENV=venv")
    assert done.returncode and "name the other commit: make bench-compare REF=main" in done.stderr


@pytest.mark.parametrize(("target", "lacking"), [("bench", "benchmarks"), ("reproduce-all", "benchmarks"), ("report", "benchmarks"),
                                                 ("docs", "benchmarks"), ("torture", "tests/torture"), ("mutants", "tests/mutants.py")])
def test_what_the_archive_of_the_sources_lacks_is_named(tmp_path, target, lacking):
    done = make(tmp_path, target, f"PYTHON={sys.executable}")
    assert done.returncode and f"{lacking} is in the repository of structperc, not in this archive of its sources" in done.stderr
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize(("lack", "sentence"), [
    ("PYTHON=no-such-python", "'no-such-python' is no Python that runs here. Install Python 3.10 or newer, or name yours"),
    ("PYTHON=./old-python", "needs Python 3.10 or newer, but './old-python' is 3.8.18. Name a newer one: make PYTHON=python3.12"),
    ("CC=no-such-compiler", "there is no C compiler 'no-such-compiler'. Install one"),
])
def test_what_is_lacking_is_named(tmp_path, lack, sentence):
    old = tmp_path / "old-python"
    old.write_text('#!/bin/sh\ncase "$2" in *print*) echo 3.8.18;; *) exit 1;; esac\n')
    old.chmod(0o755)
    done = make(tmp_path, "test", f"PYTHON={sys.executable}", lack)

    assert done.returncode != 0
    assert sentence in done.stderr
    assert not (tmp_path / ".venv").exists()
