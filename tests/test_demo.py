"""Tests of `structperc demo`: its results and its picture, and the commands that it and the README suggest next."""

import gzip
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from structperc.cli import main

ROOT = Path(__file__).parents[1]


def run(command, folder):
    """Runs a command in `folder`, with structperc on the path; returns its output."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def typed(commands, capsys):
    """Runs command lines in this process; returns the output of each."""
    answers = []
    for command in commands:
        assert main(shlex.split(command, comments=True)[1:]) == 0, command
        answers.append(capsys.readouterr().out)
    return answers


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def printed(folder):
    return run(["structperc", "demo"], folder)


def test_both_rankers_and_three_baselines_are_measured_on_held_out_patients(printed):
    errors = {name.strip(): float(error) for name, error in re.findall(r"^(\w.*?)  +(\d\.\d{3}) ± ", printed, re.MULTILINE)}

    assert list(errors) == ["CuSum Rank", "PRank", "median level", "scikit-learn Perceptron", "logistic regression"]
    assert max(errors["CuSum Rank"], errors["PRank"]) < min(errors["median level"], errors["scikit-learn Perceptron"])
    assert f"Fewest levels off: {min(errors, key=errors.get)}." in printed


def test_averaged_weights_err_less_than_the_last_ones_from_epoch_to_epoch(printed):
    found = re.findall(r"^(last|averaged) weights +(.*)$", printed, re.MULTILINE)
    curves = {name: list(map(float, errors.split())) for name, errors in found}

    assert len(curves["last"]) == len(curves["averaged"]) == 5
    assert max(curves["averaged"]) < min(curves["last"])


def test_the_picture_is_where_it_says(printed, folder):
    picture = imread(folder / re.search(r"as a picture: (\S+\.png)", printed)[1])

    assert min(picture.shape[:2]) > 500
    assert np.ptp(picture) > 0.9


def test_what_to_try_next_works(printed, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    commands = [line.strip() for line in printed.split("Next:\n")[1].split("\n") if line.startswith("  ")]

    assert [shlex.split(command)[1] for command in commands] == ["fit", "evaluate", "explain", "plot", "plugins"]
    answers = typed(commands, capsys)
    assert "predicted 4, right 4" in answers[2]
    assert (folder / "demo-output/prank.png").stat().st_size > 10_000


def test_the_command_line_of_the_readme_works_after_the_demo(printed, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    (folder / "train.txt").write_text("the DT B-NP\ndog NN I-NP\nsleeps VB B-VP\n. . O\n\nit PRP B-NP\nbarks VB B-VP\n\n")
    with gzip.open(folder / "large.csv.gz", "wb") as file:
        file.write((folder / "demo-output/train.csv").read_bytes())
    visits = "patient,sex,ward,age,severity\np1,f,A,61,mild\np2,m,B,,severe\np3,f,A,35,none\n"
    (folder / "visits.csv").write_text(visits)
    (folder / "new.csv").write_text("patient,sex,ward,age\np4,m,A,50\n")
    (folder / "pages.csv").write_text("query,words,age,relevance\nq1,3,1,1\nq1,1,2,0\nq2,2,5,1\nq2,0,4,0\n")
    (folder / "queries.csv").write_text("query,url,words,age\nq3,a,3,1\nq3,b,0,3\n")
    (folder / "train.conllu").write_text("1\tdogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\t_\n\n")
    commands = re.findall(r"^    (structperc .*)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    monkeypatch.chdir(folder / "demo-output")
    answers = typed(commands[:7], capsys)
    monkeypatch.chdir(folder)
    answers += typed([command.replace("level.model", "large.model") for command in commands[7:]], capsys)

    assert len(commands) == 14
    assert answers[5].startswith("level and prank on the same 148 examples")
    assert "row 3 of test.csv: predicted " in answers[3]
    assert "<form" in (folder / "demo-output/level.html").read_text()
    assert (folder / "demo-output/answers.csv").read_text().split()[0] == "prediction"
    assert answers[11].startswith("latent-ranking trained on pages.csv")
    assert answers[12].split()[0].startswith("url,prediction,score")
    assert answers[13].startswith("parsing trained on train.conllu")
