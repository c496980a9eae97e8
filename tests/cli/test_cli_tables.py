"""Tables with text, dates and gaps, in files of several forms, through the commands."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from plain import Engine

pytestmark = pytest.mark.filterwarnings("ignore::structperc.errors.ScaleWarning")
FLAGS = ["--drop", "patient", "--one-hot", "sex", "--ordinal", "smoker=never,former,current", "--date", "visit", "--fill", "median",
         "--missing-indicators"]
CLASSES = ["--target", "severity", "--classes", "none,mild,severe"]


@pytest.fixture
def visits(tmp_path, monkeypatch):
    """visits.csv: what people have."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(3)
    age, bmi = random.integers(20, 90, 120), random.normal(26, 4, 120).round(1)
    severity = np.array(["none", "mild", "severe"])[np.digitize((age - 55) / 20 + (bmi - 26) / 4, [-0.8, 0.8])]
    table = pd.DataFrame({
        "patient": [f"p{i}" for i in range(120)], "age": age, "sex": random.choice(["f", "m"], 120), "bmi": bmi,
        "smoker": random.choice(["never", "former", "current"], 120), "visit": [f"2024-{1 + i % 12:02d}-01" for i in range(120)],
        "severity": severity,
    })  # fmt: skip
    table.loc[::9, "bmi"] = np.nan
    table.to_csv("visits.csv", index=False)
    return table


@pytest.fixture
def fitted(visits, run):
    code, out, err = run("fit", "cusum", "visits.csv", *CLASSES, "--model", "m", *FLAGS, "--set", "epochs=3")
    assert (code, err) == (0, "") and "columns   5: age, sex, bmi, smoker, visit" in out
    return Engine.load("m")


def test_one_sentence_names_all_columns_and_its_advice_is_accepted(visits, run):
    code, _, err = run("fit", "cusum", "visits.csv", *CLASSES, "--model", "m")
    assert code == 2 and err.count("\n") == 1
    assert "5 columns that are not numbers throughout: 'patient': 120 texts, all different; 'sex': 2 texts" in err
    assert "'bmi': 14 empty cells, the first in line 2; 'smoker': 3 texts" in err and "'visit': 120 dates" in err
    advice = err.split(" Pass ")[1].strip().removesuffix(".")
    assert advice == "--drop patient --one-hot sex,smoker --date visit --fill median"
    assert run("fit", "cusum", "visits.csv", *CLASSES, "--model", "m", *advice.split())[0] == 0


def test_later_commands_apply_what_the_model_keeps(fitted, visits, run):
    expected = fitted.predict(visits).tolist()
    assert run("predict", "m", "visits.csv")[1].split()[1:] == expected
    visits[["visit", "smoker", "bmi", "sex", "age"]].to_csv("new.csv", index=False)     # another order, less columns
    assert run("predict", "m", "new.csv")[1].split()[1:] == expected
    accuracy = np.mean(np.array(expected) == visits["severity"])
    assert re.search(rf"^ +accuracy +{accuracy:.4f} ", run("evaluate", "m", "visits.csv")[1], re.MULTILINE)
    assert run("plot", "m", "--data", "visits.csv", "--output", "m.png")[1].endswith("in 3 panels\n")
    assert fitted.notes == {"data": {"format": "csv", "target": "severity"}}


def test_a_level_that_training_lacked_is_told(fitted, visits, run):
    visits.assign(sex="x").to_csv("new.csv", index=False)
    code, out, err = run("predict", "m", "new.csv")
    assert code == 0 and len(out.split()) == 121
    assert err.startswith("structperc predict: column 'sex' holds levels that the model has not learned: 'x' (120 rows); all")


def test_cells_that_the_model_has_nothing_for(fitted, visits, run):
    visits.assign(age=["?"] + [30] * 119).to_csv("new.csv", index=False)
    code, _, err = run("predict", "m", "new.csv")
    assert code == 2 and "new.csv has 1 column" in err and "nothing seems to be known ('?'), the first in row 1. Fill these cells" in err


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
def test_files_of_european_excel(visits, run, encoding):
    visits.rename(columns={"age": "größe"}).to_csv("visits.csv", index=False, sep=";", decimal=",", encoding=encoding)
    form = ["--separator", ";", "--decimal", ",", "--encoding", encoding]
    assert run("fit", "cusum", "visits.csv", *CLASSES, "--model", "m", *FLAGS, *form)[0] == 0
    assert Engine.load("m").parts_.reader.input_columns().codes[2].fill == visits["bmi"].median()
    code, out, _ = run("evaluate", "m", "visits.csv")       # the model keeps the form of the file
    assert code == 0 and "120 rows" in out
    assert "visits.csv, line 1 has the byte 0xf" in run("fit", "cusum", "visits.csv", *CLASSES, "--model", "m", "--separator", ";")[2]


def test_decimal_commas_of_plain_columns(visits, run):
    visits[["age", "bmi", "severity"]].dropna().to_csv("visits.csv", index=False, sep=";", decimal=",")
    code, _, err = run("fit", "cusum", "visits.csv", *CLASSES, "--model", "m", "--separator", ";")
    assert code == 2 and "numbers with signs or separators ('19,4', '26,2', '22,1', ...). Pass --number 'bmi=,'." in err
    assert run("fit", "cusum", "visits.csv", *CLASSES, "--model", "m", "--separator", ";", "--decimal", ",")[0] == 0


def test_streams_learn_the_table_from_their_first_part(visits, run):
    assert run("fit", "cusum", "visits.csv", *CLASSES, "--model", "m", *FLAGS, "--stream", "--rows", "60")[0] == 0
    assert Engine.load("m").parts_.reader.input_columns().codes[2].fill == visits["bmi"][:60].median()


@pytest.mark.parametrize(("arguments", "message"), [
    (["--one-hot", "sx"], "no column 'sx' in the table"),
    (["--ordinal", "smoker"], "expected a column and its levels"),
    (["--fill", "age=old", *FLAGS[:8]], "fill='old' for the numbers of column 'age'"),
    (["--drop", "sex", "--one-hot", "sex"], "'sex' is in both drop and one_hot"),
    (["--drop", "sex", "--set", "drop=[]"], "drop is set with --drop"),
    (["--decimal", ",,"], "expected one character before decimals"),
    (["--decimal", ","], "another than the separator"),
    (["--encoding", "klingon"], "encoding='klingon' is unknown"),
    (["--format", "svmlight", "--decimal", ","], "read as svmlight, for which --target means nothing; leave it out, or pass"),
])  # fmt: skip
def test_flags_that_cannot_be(visits, run, arguments, message):
    code, _, err = run("fit", "cusum", "visits.csv", *CLASSES, "--model", "m", *arguments)
    assert code == 2 and message in err and not Path("m").exists()
