"""Labels that are dates, in nanoseconds too: every door shows dates, and takes the dates of every other door."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from plain import Engine

import structperc
from structperc import metrics, plotting
from structperc.counterfactuals import Wanted
from structperc.estimators import OrdinalConformal, PRank, SequenceTagger

UNITS = ["D", "s", "ns"]


@pytest.fixture(params=UNITS)
def data(request):
    """Rows, and dates as their labels."""
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 2))
    labels = np.array(["2020-01-01", "2021-01-01", "2022-01-01"], dtype=f"M8[{request.param}]")
    return X, labels[np.digitize(X[:, 0] + random.normal(size=60) / 2, [-1, 1])]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_commands_take_dates_of_files_for_the_labels_of_a_model(data, ending, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = data
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(day=y)
    frame.to_csv("t.csv", index=False)
    frame.to_parquet("t.parquet")
    engine = Engine("prank", trainer="cumulative-logit").fit(frame[["a", "b"]], y)
    engine.save("m")
    shown = [str(label) for label in engine.classes_]
    table, target = f"t.{ending}", ["--target", "day"]
    code, out, err = run("predict", "m", table, "--scores")
    assert (code, err) == (0, "") and out.split("\n")[0] == f"prediction,{','.join(f'score {label}' for label in shown)}"
    code, out, err = run("evaluate", "m", table, *target, "--json")
    measures = json.loads(out)
    assert (code, err) == (0, "") and measures["measures"]["accuracy"] == np.mean(engine.predict(frame[["a", "b"]]) == y)
    assert [np.datetime64(label) for label in measures["labels"]] == engine.classes_.tolist() or measures["labels"] == shown
    assert run("effects", "m", table, *target, "--scale", "log-odds", "--interval", "wald")[0] == 0
    assert run("compare", "m", "m", table, *target)[0] == run("plot", "m", "--data", table, *target, "--output", "p.png")[0] == 0
    rival = "2022-01-01" if engine.predict(frame[["a", "b"]][:1])[0] != engine.classes_[2] else "2020-01-01"
    code, out, err = run("explain", "m", table, *target, "--against", rival)
    assert (code, err) == (0, "") and rival in out and str(y.astype("int64")[0]) not in out
    code, out, err = run("counterfactual", "m", table, "--wanted", rival)
    assert (code, err) == (0, "") and rival.split("-")[0] in out


def test_ends_of_intervals_are_written_as_dates(data, run, tmp_path):
    X, y = data
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = OrdinalConformal(PRank(random_state=0), random_state=0).fit(frame, y)
    model.save(tmp_path / "m")
    frame.to_csv(tmp_path / "t.csv", index=False)
    code, out, err = run("predict", tmp_path / "m", tmp_path / "t.csv", "--interval")
    table = pd.read_csv(io.StringIO(out))
    assert (code, err) == (0, "")
    assert np.array_equal(table[["lowest", "highest"]].to_numpy(dtype=str), model.predict_interval(frame).astype(str))


def test_estimators_name_dates_and_know_their_own(data):
    X, y = data
    model = PRank(random_state=0).fit(X, y)
    rival = next(label for label in model.classes_ if label != model.predict(X[:1])[0])
    assert all(str(label.astype("int64")) not in str(structperc.explain(model, X[0], against=rival)) for label in model.classes_[1:])
    found = structperc.counterfactual(model, X[0], Wanted(at_least=model.classes_[2]))
    assert model.predict([found.x])[0] == model.classes_[2]
    assert str(model.classes_[2].astype("int64")) not in str(structperc.counterfactual(model, X[0], model.classes_[2]))
    plotting.plot_thresholds(model, X, y)
    assert metrics.unseen_labels(list(y), model.classes_) == {}
    assert metrics.unseen_labels(y.astype("M8[D]").tolist(), model.classes_) == {}
    sentences, tags = [X[i:i + 3] for i in range(0, 60, 3)], [y[i:i + 3] for i in range(0, 60, 3)]
    tagger = SequenceTagger(random_state=0).fit(sentences, tags)
    assert 0 < tagger.score(sentences, tags) <= 1
    assert tagger.top_features(y[0]) and all(np.datetime64(before) in y for before, _, _ in tagger.top_transitions())
    explained = tagger.explain(sentences[0], token=1)
    assert explained.winner != explained.runner_up
