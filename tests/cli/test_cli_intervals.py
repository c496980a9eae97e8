"""Intervals of ranks from the command line: two columns, an empty cell for an open end."""

import numpy as np
import pandas as pd
import pytest
from plain import Engine

from structperc import files
from structperc.errors import DataError
from structperc.metrics import interval_absolute_error

NAMES = np.array(["low", "middle", "high"])


@pytest.fixture
def data(tmp_path, monkeypatch):
    """train.csv with the ends of intervals, open.csv with open ends, words.csv with named ranks, exact.csv without real intervals."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(5)
    X = random.normal(size=(80, 2)).round(3)
    level = 1 + np.digitize(X @ [1.0, -2.0], [-1.0, 1.0])
    low, high = np.maximum(level - random.integers(0, 2, 80), 1), np.minimum(level + random.integers(0, 2, 80), 3)
    frame = pd.DataFrame(X, columns=["age", "bmi"]).assign(least=low, most=high)
    frame.to_csv("train.csv", index=False)
    frame.assign(most=["" if end == 3 else str(end) for end in high]).to_csv("open.csv", index=False)
    frame.assign(least=NAMES[low - 1], most=["" if end == 3 else NAMES[end - 1] for end in high]).to_csv("words.csv", index=False)
    frame.assign(least=level, most=level).to_csv("exact.csv", index=False)
    return frame


def fit(run, path, *arguments, problem="interval-pa", target="least,most"):
    return run("fit", problem, path, "--target", target, "--model", "my.model", "--set", "epochs=4", *arguments)


EXACT = ("--set", "update=exact-pa1", "--set", "C=0.1")


def test_two_columns_train_what_python_would_train(data, run):
    code, out, err = fit(run, "train.csv", *EXACT)
    same = Engine("interval-pa", update="exact-pa1", C=0.1, epochs=4).fit(data[["age", "bmi"]], data[["least", "most"]])
    loaded = Engine.load("my.model")
    assert (code, err) == (0, "") and np.array_equal(loaded.coef_, same.coef_)
    assert loaded.feature_names_in_.tolist() == ["age", "bmi"] and loaded.classes_.tolist() == [1, 2, 3]
    assert f"rows      80, {(data['least'] != data['most']).sum()} of them known as intervals" in out


@pytest.mark.parametrize(("path", "classes"), [("open.csv", ()), ("words.csv", ("--classes", "low,middle,high"))])
def test_an_empty_cell_is_the_end_of_the_scale(data, run, path, classes):
    fit(run, "train.csv", *EXACT)
    expected = Engine.load("my.model").coef_
    assert fit(run, path, *EXACT, *classes)[0] == 0
    assert np.array_equal(Engine.load("my.model").coef_, expected)


def test_predictions_are_measured_against_intervals(data, run):
    fit(run, "train.csv", *EXACT)
    engine = Engine.load("my.model")
    code, out, _ = run("evaluate", "my.model", "train.csv", "--target", "least,most")
    error = interval_absolute_error(data[["least", "most"]], engine.predict(data[["age", "bmi"]]))
    assert code == 0 and f"mean interval error  {error:.4f} " in out and "inside the interval" in out and "right \\ predicted" not in out
    assert run("predict", "my.model", "train.csv")[1].split()[1:] == list(map(str, engine.predict(data[["age", "bmi"]])))
    one = run("evaluate", "my.model", "exact.csv", "--target", "least")[1]
    two = run("evaluate", "my.model", "exact.csv", "--target", "least,most")[1]
    assert one == two and "quadratic weighted kappa" in one and "right \\ predicted" in one


def test_rows_of_known_rank_are_drawn(data, run):
    fit(run, "train.csv", *EXACT)
    assert run("plot", "my.model", "--data", "train.csv", "--target", "least,most", "--output", "my.png")[0] == 0
    data[data["least"] < data["most"]].to_csv("none.csv", index=False)
    code, _, err = run("plot", "my.model", "--data", "none.csv", "--target", "least,most", "--output", "my.png")
    assert code == 2 and "none.csv knows none but intervals" in err


def test_the_commands_that_fit_recommends_work(data, run):
    lines = [line.strip() for line in fit(run, "train.csv", *EXACT)[1].splitlines()]
    evaluate = next(line for line in lines if line.startswith("structperc evaluate")).replace("OTHER_DATA", "train.csv")
    plot = next(line for line in lines if line.startswith("structperc plot"))
    assert run(*evaluate.split()[1:])[0] == 0 and run(*plot.split()[1:])[0] == 0


@pytest.mark.parametrize("problem", ["cusum", "prank", "multiclass"])
def test_problems_that_take_no_intervals_say_so(data, run, problem):
    code, _, err = fit(run, "train.csv", problem=problem)
    assert code == 2 and f"{problem} needs single labels. Name one column" in err and err.count("\n") == 1
    fit(run, "exact.csv", problem=problem, target="least")
    code, _, err = run("evaluate", "my.model", "exact.csv", "--target", "least,most")
    assert code == 2 and f"{problem} needs single labels" in err


@pytest.mark.parametrize(("target", "sentence"), [
    ("least,most,age", "expected a column, or two of them"),
    ("least,least", "expected a column, or two of them"),
    ("least,mist", "train.csv has no column 'mist'"),
    ("most,least", "which is lower; give the lowest label first"),
])  # fmt: skip
def test_wrong_targets(data, run, target, sentence):
    code, _, err = fit(run, "train.csv", *EXACT, target=target)
    assert code == 2 and sentence in err and err.count("\n") == 1


def test_intervals_that_cannot_be_meant_are_told_the_flags(data, run):
    data.assign(stage=[f"{low} to {high}" if low < high else str(low) for low, high in zip(data["least"], data["most"], strict=True)]).drop(
        columns=["least", "most"]).to_csv("text.csv", index=False)
    code, _, err = fit(run, "text.csv", *EXACT, target="stage")
    assert code == 2 and "Pass the pair (lowest, highest), here" in err and "two columns, --target LOWEST,HIGHEST." in err
    data.assign(least=data["least"].clip(upper=2), most=["" if end > 1 else "1" for end in data["most"]]).to_csv("two.csv", index=False)
    code, _, err = fit(run, "two.csv", *EXACT)
    assert code == 0 and "is at least 2, and 2 is the highest label in y" in err and "Here that is --classes A,B,C." in err
    assert fit(run, "two.csv", *EXACT, "--classes", "1,2,3")[2] == ""


def test_groups_have_no_intervals(data, run):
    code, _, err = fit(run, "train.csv", "--group", "age")
    assert code == 2 and "which single rows have; leave group out (structperc: --group)" in err


def test_a_column_whose_name_has_a_comma_is_one_column(data, run):
    data.rename(columns={"least": "least,most", "most": "other"}).to_csv("comma.csv", index=False)
    assert fit(run, "comma.csv", *EXACT, target="least,most")[0] == 0
    assert Engine.load("my.model").feature_names_in_.tolist() == ["age", "bmi", "other"]


class TestTable:
    @pytest.fixture
    def write(self, tmp_path):
        def write(text):
            (tmp_path / "data.csv").write_text(text)
            return tmp_path / "data.csv"

        return write

    @pytest.mark.parametrize(("cells", "kind", "expected"), [
        ("1,2 2,3", "i", [[1, 2], [2, 3]]),
        ("0.5,2 2,3", "f", [[0.5, 2], [2, 3]]),
        ("a,b b,b", "O", [["a", "b"], ["b", "b"]]),
        ("a, b,b", "O", [["a", None], ["b", "b"]]),
        ("1,3+ 2,2", "O", [["1", "3+"], ["2", "2"]]),
    ])  # fmt: skip
    def test_ends(self, write, cells, kind, expected):
        first, second = cells.split()
        table = files.read(write(f"x,low,high\n1,{first}\n2,{second}\n"), target=("low", "high"))
        assert table.y.tolist() == expected and table.y.dtype.kind == kind and list(table.X.columns) == ["x"]

    def test_open_ends_of_numbers(self, write):
        y = files.read(write("x,low,high\n1,1,\n2, ,2\n"), target=("low", "high")).y
        assert np.array_equal(y, [[1, np.nan], [np.nan, 2]], equal_nan=True)

    def test_numbers_as_text(self, write):
        assert files.read(write("x,low,high\n1,1,\n"), target=("low", "high"), text_labels=True).y.tolist() == [["1", None]]

    def test_a_row_without_ends_is_named_by_its_line(self, write):
        with pytest.raises(DataError, match="data.csv, line 3: columns 'low' and 'high' are both empty"):
            files.read(write("x,low,high\n1,1,2\n2,,\n"), target=("low", "high"))
