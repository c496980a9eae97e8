"""`structperc counterfactual`: what `structperc.counterfactual` finds, in a terminal, on a page and as a table."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import structperc
from structperc import Engine
from structperc.counterfactuals import Wanted


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"bmi": random.normal(27, 4, 60).round(1), "visits": random.integers(0, 9, 60)})
    frame.assign(grade=np.digitize((frame["bmi"] - 27) / 4 + frame["visits"] / 4, [0.5, 1.5]) + 1).to_csv("patients.csv", index=False)
    return frame


@pytest.fixture
def model(data, run):
    options = ("--set", "epochs=9", "--set", "scale=true", "--quiet")
    assert run("fit", "prank", "patients.csv", "--target", "grade", "--model", "m", *options)[0] == 0
    return Engine.load("m")


def test_the_sentence_and_the_changes_are_those_of_python(data, model, run):
    for flags, wanted in ((["--wanted", "3"], 3), (["--at-least", "3"], Wanted(at_least=3)), (["--chosen", "> 2"], Wanted(chosen="> 2"))):
        found = structperc.counterfactual(model, data.iloc[[4]], wanted, fixed=["bmi"], bounds={"visits": (0, None)}, whole=["visits"])
        code, out, err = run("counterfactual", "m", "patients.csv", "--row", 5, *flags, "--fixed", "bmi", "--bounds", "visits=0:",
                             "--whole", "visits")
        assert (code, err) == (0, "") and str(found) in out and f"row 5 of patients.csv: predicted {found.before}" in out
        assert all(cell in out for row in found.cells() for cell in row)


def test_pages_and_tables(model, run):
    for name, begin in (("c.html", "<!DOCTYPE html>"), ("c.csv", "row,column,before,after,deviations")):
        code, out, _ = run("counterfactual", "m", "patients.csv", "--at-most", 1, "--row", 2, "--output", name)
        assert code == 0 and f"{name} shows the change of row 2" in out and Path(name).read_text().startswith(begin)


def test_tokens_are_replaced_by_alternatives(data, run):
    Path("t.txt").write_text("the DT B\ndog NN I\n\nit PRP B\nbarks VB O\n\nthe DT B\nbarks VB O\n\n")
    assert run("fit", "sequence", "t.txt", "--columns", "word,pos,chunk", "--model", "c", "--set", "epochs=5", "--quiet")[0] == 0
    code, out, err = run("counterfactual", "c", "t.txt", "--row", 1, "--not-chosen", "token 0: B", "--alternatives", "the=dog,barks")
    assert (code, err) == (0, "") and ("would make it without 'token 0: B'" in out or "no allowed change" in out)


def test_items_of_crfsuite_are_replaced_too(data, run):
    Path("t.txt").write_text("B\tthe\tlen:3\nI\tdog\tlen:3\n\nB\tit\tlen:2\nO\tbarks\tlen:5\n\nB\tthe\tlen:3\nO\tbarks\tlen:5\n\n")
    assert run("fit", "sequence", "t.txt", "--format", "crfsuite", "--model", "c", "--set", "epochs=5", "--quiet")[0] == 0
    code, out, err = run("counterfactual", "c", "t.txt", "--not-chosen", "token 1: I", "--alternatives", "dog=barks,it")
    model, x = Engine.load("c"), [{"the": 1.0, "len": 3.0}, {"dog": 1.0, "len": 3.0}]
    expected = structperc.counterfactual(model, x, Wanted(not_chosen="token 1: I"),
                                         alternatives={1: [{"barks": 1.0, "len": 3.0}, {"it": 1.0, "len": 3.0}]})
    assert (code, err) == (0, "") and str(expected) in out


@pytest.mark.parametrize(("arguments", "message"), [
    (["--alternatives", "cat=dog"], "--alternatives 'cat=dog': the tokens of row 1 are the, dog; name one of them."),
    (["--alternatives", "the=dog", "--fixed", "word"], "fixed is for rows of numbers, and alternatives for tokens"),
    (["--alternatives", "the=dog", "--norm", "l2"], "norm is for rows of numbers, and alternatives for tokens"),
])
def test_what_does_nothing_for_tokens_is_refused(data, run, arguments, message):
    Path("t.txt").write_text("the B\ndog I\n\n")
    assert run("fit", "sequence", "t.txt", "--columns", "word,chunk", "--model", "c", "--set", "epochs=5", "--quiet")[0] == 0
    code, out, err = run("counterfactual", "c", "t.txt", "--chosen", "token 0: I", *arguments)
    assert (code, out) == (2, "") and message in err


@pytest.mark.parametrize(("arguments", "message"), [
    (["--wanted", "1", "--alternatives", "bmi=visits"], "--alternatives replaces words of files of tokens, and patients.csv has rows"),
    (["--wanted", "9"], "--wanted '9' is no label that the model knows; expected one of 1, 2, 3"),
    (["--wanted", "1", "--at-least", "2"], "in one way"),
    (["--wanted", "1", "--bounds", "bmi"], "expected COLUMN=LOW:HIGH"),
    (["--wanted", "1", "--fixed", "height"], "fixed names 'height', which is no column of this model"),
    (["--wanted", "1", "--output", "c.png"], "expected a name that ends with .html or .csv"),
    (["--wanted", "1", "--row", "61"], "patients.csv has 60 examples; --row 61 is none of them"),
])
def test_what_cannot_be_asked_is_refused(model, run, arguments, message):
    code, out, err = run("counterfactual", "m", "patients.csv", *arguments)
    assert code == 2 and out == "" and message in err and err.count("\n") == 1
