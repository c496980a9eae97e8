"""What `structperc predict` and `evaluate` say beside the prediction."""

import csv
import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from plain import Engine

from structperc import metrics


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(2)
    X = random.normal(size=(60, 2)).round(3)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(level=1 + np.digitize(X[:, 0], [-0.5, 0.5]), key=[f"{i:03d}" for i in range(60)],
                                                       query=np.arange(60) // 10, grade=(X[:, 0] > 0.3).astype(int))
    frame.to_csv("data.csv", index=False)
    frame[["a", "b", "level"]].to_csv("levels.csv", index=False)
    frame[["a", "b", "query", "grade"]].to_csv("queries.csv", index=False)
    return frame


def table(out):
    return list(csv.DictReader(io.StringIO(out)))


@pytest.fixture
def fitted(data, run):
    assert run("fit", "cusum", "levels.csv", "--target", "level", "--model", "m", "--set", "epochs=5", "--set", "calibrate=true")[0] == 0
    return Engine.load("m")


def test_columns_that_are_asked_for_stand_beside_the_prediction(fitted, data, run):
    code, out, err = run("predict", "m", "data.csv", "--keep", "key,level", "--scores", "--margin", "--probabilities")
    rows, X = table(out), data[["a", "b"]]
    assert (code, err) == (0, "") and [row["key"] for row in rows] == data["key"].tolist()
    assert list(rows[0]) == ["key", "level", "prediction", "score 1", "score 2", "score 3", "margin", "probability 1", "probability 2",
                             "probability 3"]
    np.testing.assert_array_equal([[float(row[f"score {k}"]) for k in (1, 2, 3)] for row in rows], fitted.label_scores(X))
    np.testing.assert_array_equal([float(row["margin"]) for row in rows], fitted.margins(X))
    np.testing.assert_allclose([[float(row[f"probability {k}"]) for k in (1, 2, 3)] for row in rows], fitted.predict_proba(X), rtol=1e-12)
    assert [row["prediction"] for row in rows] == [str(y) for y in fitted.predict(X)]


def test_probabilities_that_nothing_calibrated_are_called_so(fitted, data, run):
    assert run("fit", "cusum", "levels.csv", "--target", "level", "--model", "m")[0] == 0
    code, out, err = run("predict", "m", "data.csv", "--probabilities")
    assert code == 0 and "trained without --set calibrate=true" in err and len(table(out)) == 60


def test_rankings_have_a_score_for_each_row(data, run):
    assert run("fit", "latent-ranking", "queries.csv", "--target", "grade", "--group", "query", "--model", "m", "--set", "k=3")[0] == 0
    engine = Engine.load("m")
    code, out, _ = run("predict", "m", "data.csv", "--keep", "key", "--scores", "--margin")
    rows = table(out)
    scores = np.concatenate(engine.atom_scores(data[["a", "b"]], groups=data["query"]))
    assert code == 0 and [float(row["score"]) for row in rows] == scores.tolist()
    assert sum(int(row["prediction"]) for row in rows) == 6 * 3 and len({row["margin"] for row in rows[:10]}) == 1
    _, out, _ = run("evaluate", "m", "data.csv")
    ndcg = metrics.ndcg_at_k(data["grade"], scores, groups=data["query"], k=3)
    mean = metrics.mean_average_precision(data["grade"], scores, groups=data["query"])
    assert f"NDCG at 3 {ndcg:.4f} mean average precision {mean:.4f}" in " ".join(out.split())


@pytest.mark.parametrize(("arguments", "message"), [
    (["--keep", "ky"], "no column 'ky'.*Did you mean 'key'"),
    (["--keep", "key,key"], "two columns of this name"),
    (["--keep", "prediction"], "two columns of this name"),
])  # fmt: skip
def test_columns_that_cannot_be_kept(fitted, run, arguments, message):
    code, out, err = run("predict", "m", "data.csv", *arguments)
    assert (code, out) == (2, "") and re.search(message, err)


@pytest.mark.parametrize(("name", "flag"), [("margin", "--margin"), ("score 2", "--scores"), ("probability 3", "--probabilities")])
def test_a_column_of_the_data_is_not_overwritten(fitted, data, run, name, flag):
    """It was in the output, with what the flag adds."""
    data.assign(**{name: "kept"}).to_csv("named.csv", index=False)
    code, out, err = run("predict", "m", "named.csv", "--keep", f"key,{name}", flag)
    assert (code, out) == (2, "") and f"--keep {name!r}: the output would have two columns of this name" in err
    rows = table(run("predict", "m", "named.csv", "--keep", f"key,{name}")[1])
    assert [row[name] for row in rows] == ["kept"] * 60


def test_labels_of_one_text_have_no_two_columns(data, run):
    X, y = data[["a", "b"]], [1 if level == 1 else "1" for level in data["level"]]
    Engine("multiclass", classes=[1, "1"]).fit(X, y).save("m")
    code, out, err = run("predict", "m", "data.csv", "--scores")
    assert (code, out) == (2, "") and "two labels have one text, so two columns would be 'score 1'" in err


def test_tokens_keep_their_cells(data, run):
    Path("t.txt").write_text("The DT\ncat NN\n\nA DT\ndog NN\n")
    assert run("fit", "sequence", "t.txt", "--columns", "word,tag", "--model", "t")[0] == 0
    assert "--margin adds columns to a table" in run("predict", "t", "t.txt", "--margin")[2]
