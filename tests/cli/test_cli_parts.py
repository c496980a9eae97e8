"""Commands that measure a model read its data part after part, with the figures of all data at once."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from structperc import Engine, files
from structperc.cli import comparing, evaluation, predicting, using
from structperc.estimators import CuSumRank, OrdinalConformal, PRank, StructureConformal, StructuredEstimator

KINDS = {
    "ranks": ("cusum", "level.csv", ("--target", "level")),
    "classes of text": ("multiclass", "name.csv", ("--target", "name")),
    "costs": ("multiclass", "level.csv", ("--target", "level", "--set", "loss=[[0, 1.3, 2], [0.7, 0, 1], [2, 1, 0]]")),
    "intervals": ("interval-pa", "low,high.csv", ("--target", "low,high")),
    "lists": ("latent-ranking", "chosen,query.csv", ("--target", "chosen", "--group", "query", "--set", "k=2")),
    "tokens": ("sequence", "tokens.txt", ("--columns", "word,tag", "--set", "epochs=2")),
}


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Rows and tokens in an empty current folder."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(4)
    table = pd.DataFrame({"a": random.normal(size=120), "b": random.normal(size=120)})
    level = 1 + np.digitize(table["a"] + random.normal(size=120), [-1, 1])
    targets = {"level": level, "name": np.array(["u", "v", "w"])[level - 1], "low": level, "query": np.arange(120) // 6,
               "high": np.minimum(3, level + (random.random(120) < 0.3)), "chosen": (level > 2).astype(int)}
    for names in ("level", "name", "low,high", "chosen,query"):
        table.assign(**{name: targets[name] for name in names.split(",")}).to_csv(f"{names}.csv", index=False)
    words = [random.integers(0, 9, n) for n in random.integers(1, 6, 40)]
    Path("tokens.txt").write_text("\n".join("".join(
        f"w{v} {'B-N' if v % 3 == 0 else 'O' if random.random() < 0.9 else 'B-V'}\n" for v in sentence) for sentence in words))


@pytest.fixture
def small(monkeypatch):
    """Parts of few examples."""
    def cut():
        for module in (comparing, evaluation, predicting, using):
            monkeypatch.setattr(module, "PART_ROWS", 17)

    return cut


@pytest.mark.parametrize("kind", KINDS)
def test_an_evaluation_in_parts_has_the_figures_of_all_data(kind, data, run, small):
    problem, path, flags = KINDS[kind]
    code, _, err = run("fit", problem, path, *flags, "--model", "m", "--quiet")
    assert code == 0, err
    at_once = [run("evaluate", "m", path, *further) for further in ((), ("--json",))]
    small()
    assert [run("evaluate", "m", path, *further) for further in ((), ("--json",))] == at_once
    assert at_once[0][0] == 0


def test_comparisons_and_pictures_in_parts_have_the_figures_of_all_data(data, run, small):
    flags = ("level.csv", "--target", "level")
    for problem in ("cusum", "prank"):
        run("fit", problem, *flags, "--model", problem, "--quiet")
    compared = run("compare", "cusum", "prank", *flags)
    assert run("plot", "cusum", "--data", *flags, "--output", "one.svg")[0] == compared[0] == 0
    small()
    assert run("compare", "cusum", "prank", *flags) == compared
    assert run("plot", "cusum", "--data", *flags, "--output", "parts.svg")[0] == 0
    drawn = [[line for line in Path(name).read_text().splitlines() if "path d=" in line] for name in ("one.svg", "parts.svg")]
    assert drawn[0] == drawn[1] != []


def test_a_fault_in_a_later_part_is_named_by_its_place(data, run, small):
    run("fit", "cusum", "level.csv", "--target", "level", "--model", "m", "--quiet")
    table = pd.read_csv("level.csv")
    table.loc[101, "level"] = 9
    table.to_csv("odd.csv", index=False)
    small()
    code, _, err = run("evaluate", "m", "odd.csv", "--target", "level")
    assert code == 2 and "labels that the model does not know, 9 (1 row); it knows 1, 2, 3" in err


def test_intervals_are_predicted_part_by_part(data, run, small):
    table = pd.read_csv("level.csv")
    table["kind"] = np.where(table["a"] > 0, "u", "v")
    table.to_csv("level.csv", index=False)
    X, y = table.drop(columns="level"), table["level"]
    for model in (OrdinalConformal(CuSumRank(random_state=0, plugin_options={"one_hot": ["kind"]}), random_state=0).fit(X, y),
                  OrdinalConformal(PRank(random_state=0), random_state=0).fit(X[["b", "a"]], y)):
        model.save("m")
        at_once = run("predict", "m", "level.csv", "--interval", "--keep", "a")
        assert at_once[0] == 0, at_once[2]
        table = pd.read_csv(io.StringIO(at_once[1]))
        np.testing.assert_array_equal(table[["lowest", "highest"]], model.predict_interval(X[model.feature_names_in_]))
        small()
        assert run("predict", "m", "level.csv", "--interval", "--keep", "a") == at_once
    for kind, message in (("classes of text", "has none. Expected a file that OrdinalConformal.save wrote"),
                          ("tokens", "--interval adds columns to a table, but the model labels the tokens")):
        problem, path, flags = KINDS[kind]
        run("fit", problem, path, *flags, "--model", "plain", "--quiet")
        code, _, err = run("predict", "plain", path, "--interval")
        assert code == 2 and message in err, err


@pytest.mark.parametrize(("kind", "own"), [("ranks", {}), ("classes of text", {}), ("lists", {"plugin_options": {"k": 2}})])
def test_sets_are_predicted_part_by_part(kind, own, data, run, small):
    problem, path, flags = KINDS[kind]
    table = pd.read_csv(path)
    X, target, group = table[["a", "b"]], flags[1], ("--group", "query") if kind == "lists" else ()
    ranker = StructuredEstimator(problem=problem, random_state=0, **own)
    if group:
        blocks = [table[table["query"] == query] for query in range(20)]
        X = [block[["a", "b"]].to_numpy() for block in blocks]
        table.drop(columns=target).to_csv(path, index=False)            # X has no names, so all columns but the groups are its own
        model = StructureConformal(ranker, coverage=0.5, random_state=0).fit(X, [block["chosen"].tolist() for block in blocks])
    else:
        model = StructureConformal(ranker, coverage=0.7, random_state=0).fit(X, table[target])
    model.save("m")
    at_once = run("predict", "m", path, "--sets", *group)
    assert at_once[0] == 0, at_once[2]
    written = pd.read_csv(io.StringIO(at_once[1]))
    if group:
        assert written["set"].tolist() == [state for one in model.predict(X) for state in one.states.tolist()]
    else:
        labels = sorted(table[target].unique())
        assert written[[f"set {label}" for label in labels]].to_numpy().tolist() == [[label in one for label in labels]
                                                                                     for one in model.predict(X)]
    small()
    assert run("predict", "m", path, "--sets", *group) == at_once


def test_sets_of_tokens_stand_in_the_cell_of_the_prediction(data, run, small):
    problem, path, flags = KINDS["tokens"]
    run("fit", problem, path, *flags, "--model", "tagger", "--quiet")
    sentences = files.read(path, format="conll").X
    X, y = ([[cells[:1] for cells in one] for one in sentences], [[cells[1] for cells in one] for one in sentences])
    model = StructureConformal(Engine.load("tagger"), coverage=0.95).calibrate(X, y)
    model.save("m")
    at_once = run("predict", "m", path, "--sets")
    assert at_once[0] == 0, at_once[2]
    Path("sets.txt").write_text(at_once[1])
    labels, widths = model.estimator_.classes_, set()
    for one, cells in zip(model.predict(X), files.read("sets.txt", format="conll").X, strict=True):
        for label, states, cell in zip(one.prediction, one.states, cells, strict=True):
            first, *others = cell[-1].split("|")
            assert first == label and {first, *others} == set(labels[states > 0])
            widths.add(len(others))
    assert len(widths) > 1
    small()
    assert run("predict", "m", path, "--sets") == at_once


def test_sets_need_a_model_with_sets(data, run):
    for kind, message in (("ranks", "has none. Expected a file that StructureConformal.save wrote"),
                          ("tokens", "has none. Expected a file that StructureConformal.save wrote")):
        problem, path, flags = KINDS[kind]
        run("fit", problem, path, *flags, "--model", "plain", "--quiet")
        code, _, err = run("predict", "plain", path, "--sets")
        assert code == 2 and message in err, err
