"""`--json` of fit and evaluate prints one object to standard output, with the values of the text output."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from plain import Engine

from structperc import metrics

RANDOM = np.random.default_rng(2)
X = RANDOM.normal(size=(80, 2))
TABLE = pd.DataFrame(X, columns=["a", "b"]).assign(level=1 + np.digitize(X[:, 0] + 0.3 * RANDOM.normal(size=80), [-0.5, 0.5]))


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("d.csv", index=False)
    Path("d.txt").write_text("w1 B-N\nw2 I-N\nw3 O\n\nw4 O\nw1 B-N\n\n" * 5)
    Path("odd.txt").write_text("w1 B-N\nw2 X\n\n")


def record(run, *arguments):
    code, out, err = run(*arguments, "--json")
    assert (code, err) == (0, "") and out.count("\n") == 1
    return json.loads(out, parse_constant=pytest.fail)


@pytest.mark.parametrize("stream", [[], ["--stream", "--rows", "30"]])
def test_a_fit_prints_what_it_learned(data, run, stream):
    found = record(run, "fit", "cusum", "d.csv", "--target", "level", "--model", "m", "--set", "epochs=3", *stream)
    engine = Engine("cusum", epochs=3).fit(TABLE[["a", "b"]], TABLE["level"])
    assert " ".join(found) == "problem data model examples rows features labels epochs status mistakes loss constant next"
    assert (found["problem"], found["data"], found["model"]) == ("cusum", "d.csv", "m")
    assert (found["examples"], found["rows"], found["features"], found["labels"]) == (80, 80, 2, [1, 2, 3])
    assert (found["epochs"], found["status"]) == (3, "max_epochs")
    assert (found["mistakes"], found["loss"]) == (engine.mistakes_, engine.cumulative_loss_)
    frequent = TABLE["level"].mode()[0]
    assert found["constant"] == {"answer": frequent, "mistakes": int((TABLE["level"] != frequent).sum())}
    assert found["next"][0] == "structperc evaluate m OTHER_DATA"


def test_a_batch_fit_prints_its_objective(data, run):
    found = record(run, "fit", "multiclass", "d.csv", "--target", "level", "--model", "m", "--plugin", "batch", "--set", "trainer=bcfw")
    assert 0 <= found["gap"] <= found["objective"]


def test_an_evaluation_prints_its_measures(data, run):
    run("fit", "cusum", "d.csv", "--target", "level", "--model", "m", "--quiet")
    found = record(run, "evaluate", "m", "d.csv")
    engine, y = Engine.load("m"), TABLE["level"].to_numpy()
    predicted = engine.predict(TABLE[["a", "b"]])
    assert (found["problem"], found["model"], found["data"], found["examples"]) == ("cusum", "m", "d.csv", 80)
    assert found["measures"]["mean absolute error"] == pytest.approx(np.abs(predicted - y).mean())
    constant = metrics.best_constant(engine, TABLE[["a", "b"]], y)
    assert found["constant"] == {"answer": constant.answer, "measures": pytest.approx(constant.measures)}
    assert found["labels"] == [1, 2, 3] and found["confusion matrix"] == metrics.confusion_matrix(y, predicted, [1, 2, 3]).tolist()


def test_an_evaluation_of_tokens_prints_phrases_and_unknown_labels(data, run):
    run("fit", "sequence", "d.txt", "--columns", "word,tag", "--model", "m", "--quiet", "--set", "epochs=5")
    found = record(run, "evaluate", "m", "d.txt")
    right = {"true": 10, "predicted": 10, "correct": 10, "precision": 1, "recall": 1, "F1": 1}
    assert found["phrases"]["all"] == found["phrases"]["N"] == right
    assert found["unknown labels"] == {} and record(run, "evaluate", "m", "odd.txt", "--columns", "word,tag")["unknown labels"] == {"X": 1}


def test_numbers_that_json_lacks_are_null():
    from structperc.cli.terminal import plain

    record = {"a": float("inf"), "b": [np.float64("nan"), np.int64(2)], 3: (True, None)}
    assert plain(record) == {"a": None, "b": [None, 2], "3": [True, None]}
