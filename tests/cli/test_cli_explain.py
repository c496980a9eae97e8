"""`structperc explain`: the result of `Engine.explain` in a terminal, on a page and as a picture."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from plain import Engine

import structperc
from structperc.cli.terminal import say_drawn
from structperc.pictures import Arcs, Bars, Ruler, Spans


@pytest.fixture
def data(tmp_path, monkeypatch):
    """wine.csv with four columns, and its model."""
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(1).normal(size=(50, 3)).round(2)
    frame = pd.DataFrame(X, columns=["acid", "sugar", "alcohol"]).assign(quality=1 + np.digitize(X @ [1, -1, 2], [-1, 1]))
    frame.to_csv("wine.csv", index=False)
    return frame


@pytest.fixture
def model(data, run):
    assert run("fit", "prank", "wine.csv", "--target", "quality", "--model", "m", "--set", "epochs=9", "--quiet")[0] == 0
    return Engine.load("m")


def test_a_row_is_explained_as_python_explains_it(data, model, run):
    row = data.drop(columns="quality").iloc[[6]]
    code, out, err = run("explain", "m", "wine.csv", "--row", 7, "--target", "quality")
    said = model.explain(row)
    assert (code, err) == (0, "")
    assert out.startswith(f"row 7 of wine.csv: predicted {said.winner}, right {data['quality'][6]}\n") and said.text() in out
    decimals = 2 - int(np.floor(np.log10(max(abs(c.value) for c in said.contributions if c.side != "start"))))
    assert all(c.feature in out and f"{c.value:+.{decimals}f}" in out for c in said.contributions if c.side != "start")
    rival = next(k for k in (1, 2, 3) if k not in (said.winner, said.runner_up))
    assert model.explain(row, against=rival).text() in run("explain", "m", "wine.csv", "--row", 7, "--against", rival)[1]


def test_pages_and_pictures(model, run):
    for name, begin in (("row.html", b"<!DOCTYPE html>"), ("row.png", b"\x89PNG")):
        assert run("explain", "m", "wine.csv", "--output", name)[0] == 0
        assert Path(name).read_bytes().startswith(begin)
    page = Path("row.html").read_text()
    assert "<svg" in page and "<script" not in page and "http" not in page.replace("http://www.w3.org/2000/svg", "")


def test_sentences_and_groups_are_single_rows_of_what_is_counted(data, run):
    Path("t.txt").write_text("the DT B\ndog NN I\n\nit PRP B\nbarks VB O\n\n")
    assert run("fit", "sequence", "t.txt", "--columns", "word,pos,chunk", "--model", "c", "--set", "epochs=5", "--quiet")[0] == 0
    code, out, _ = run("explain", "c", "t.txt", "--row", 2, "--target", "chunk")
    assert code == 0 and "row 2 of t.txt: predicted ['B', 'O'], right ['B', 'O']" in out and "barks" in out and "dog" not in out
    data.assign(day=np.arange(50) // 5, quality=(data["sugar"] > 0).astype(int)).to_csv("days.csv", index=False)
    assert run("fit", "latent-ranking", "days.csv", "--target", "quality", "--group", "day", "--model", "g", "--set", "k=2")[0] == 0
    assert "row 10 of days.csv: predicted (" in run("explain", "g", "days.csv", "--row", 10)[1]


@pytest.mark.parametrize(("arguments", "message"), [
    (["--row", "51"], "wine.csv has 50 examples; --row 51 is none of them"),
    (["--against", "9"], "--against '9' is no label that the model knows; expected one of 1, 2, 3"),
    (["--output", "row.txt"], "expected a name that ends with .html, .png, .svg or .pdf"),
    (["--output", "wine.csv"], "it is an input of this command"),
])
def test_what_cannot_be_explained_is_refused(model, run, arguments, message):
    code, out, err = run("explain", "m", "wine.csv", *arguments)
    assert code == 2 and out == "" and message in err and err.count("\n") == 1


def test_pictures_as_text_stay_within_their_width():
    pictures = [Ruler(list("abcde"), [-1.0, 0.0, 0.1, 2.0], 1.5, 3, 2), Ruler(["a", "b"], [0.0], 0.0, 0, 1),
                Spans(["word"] * 50, [("winner", ["A"] * 50), ("rival", ["A"] * 49 + ["B"])]),
                Bars("2", "3", [("for > 2", [("a long name of a column of a table", -3.0), ("b", 0.001)])]),
                Arcs(["the", "dog", "barks"], [(2, "det"), (3, ""), (0, "root")], [(3, "det"), (3, ""), (0, "root")])]
    for width in (40, 78):
        for picture in pictures:
            lines = picture.lines(width)
            assert lines and max(map(len, lines)) <= width, lines
    ruler, _, spans, bars, arcs = (picture.lines() for picture in pictures)
    assert [line.count("|") for line in ruler[2:]] == [3, 1] and ruler[1].count("┼") == 4 and "score 1.5: d" in ruler[0]
    assert spans[-1].strip() == "^^^^" and bars[2].count("█") > 10 and bars[3].count("█") == 1
    assert arcs[0].endswith("rival ← 3 barks det") and "rival" not in arcs[1]


def test_an_encoding_without_bars_gets_letters(tmp_path):
    for encoding, expected in (("ascii", "-+o #"), ("utf-8", "─┼● █")):
        with open(tmp_path / "out", "w", encoding=encoding) as file:
            say_drawn("─┼● █", file=file)
        assert (tmp_path / "out").read_text(encoding).strip() == expected


def test_effects_of_the_columns_are_a_table_a_page_and_a_picture(data, model, run):
    code, out, err = run("effects", "m", "wine.csv", "--target", "quality", "--n-boot", 39)
    expected = structperc.effects(model, data.drop(columns="quality"), data["quality"], n_boot=39, random_state=0)
    assert (code, err) == (0, "") and all(cell in out for row in expected.cells() for cell in row)
    assert "Relative weights per standard deviation" in out
    for name, begin in (("e.html", b"<!DOCTYPE html>"), ("e.png", b"\x89PNG"), ("e.csv", b"column,effect,lower,upper")):
        assert run("effects", "m", "wine.csv", "--target", "quality", "--n-boot", 39, "--output", name)[0] == 0
        assert Path(name).read_bytes().startswith(begin)
    code, out, err = run("effects", "m", "wine.csv", "--target", "quality", "--scale", "log-odds")
    assert code == 2 and out == "" and "needs update='logistic' or trainer='cumulative-logit'" in err


def test_effects_draw_rows_of_a_group_together(data, model, run):
    groups = np.arange(len(data)) // 5
    data.assign(visitor=[f"v{g}" for g in groups]).to_csv("visits.csv", index=False)
    options = ("--target", "quality", "--n-boot", 39)
    code, out, err = run("effects", "m", "visits.csv", *options, "--groups", "visitor")
    X, y = data.drop(columns="quality"), data["quality"]
    expected = structperc.effects(model, X, y, groups, n_boot=39, random_state=0)
    assert (code, err) == (0, "") and all(cell in out for row in expected.cells() for cell in row)
    assert out != run("effects", "m", "visits.csv", *options)[1]
    code, out, err = run("effects", "m", "wine.csv", *options, "--groups", "visitor")
    assert code == 2 and out == "" and "'visitor'" in err


def test_effects_of_a_model_that_drops_the_column_of_groups(data, run):
    data = data.assign(visitor=[f"v{g}" for g in np.arange(len(data)) // 5])
    data.to_csv("visits.csv", index=False)
    assert run("fit", "prank", "visits.csv", "--target", "quality", "--drop", "visitor", "--model", "d")[0] == 0
    code, out, err = run("effects", "d", "visits.csv", "--target", "quality", "--groups", "visitor", "--n-boot", 39)
    expected = structperc.effects(structperc.Engine.load("d"), data.drop(columns="quality"), data["quality"], data["visitor"], n_boot=39,
                                  random_state=0)
    assert (code, err) == (0, "") and all(cell in out for row in expected.cells() for cell in row) and "visitor" not in out


@pytest.mark.parametrize("flags", [[], ["--proportional-odds"]])
def test_effects_of_a_tagger_are_refused_in_a_sentence(data, run, flags):
    Path("t.txt").write_text("the B\ndog I\n\n")
    assert run("fit", "sequence", "t.txt", "--columns", "word,chunk", "--model", "c", "--set", "epochs=5", "--quiet")[0] == 0
    code, out, err = run("effects", "c", "t.txt", *flags)
    assert (code, out) == (2, "") and "are those of ordered labels, and 'sequence' predicts other outputs" in err


def test_effects_weigh_rows_as_training_did(data, run):
    data = data.assign(weight=1.0 + np.arange(len(data)) % 4, other=1.0, quality=np.where(np.arange(len(data)) % 7, data["quality"], 2))
    data.to_csv("weighed.csv", index=False)
    assert run("fit", "prank", "weighed.csv", "--target", "quality", "--weight", "weight", "--drop", "other", "--model", "w",
               "--set", "trainer=cumulative-logit")[0] == 0
    model, X, y = structperc.Engine.load("w"), data.drop(columns=["quality", "weight"]), data["quality"]
    for flags, weights in (([], data["weight"]), (["--weight", "other"], data["other"])):
        code, out, err = run("effects", "w", "weighed.csv", *flags)
        expected = structperc.effects(model, X, y, random_state=0, sample_weight=weights)
        assert (code, err) == (0, "") and all(cell in out for row in expected.cells() for cell in row)
        code, out, err = run("effects", "w", "weighed.csv", "--proportional-odds", *flags)
        expected = structperc.proportional_odds(model, X, y, sample_weight=weights)
        assert (code, err) == (0, "") and all(cell in out for row in expected.cells() for cell in row)


def test_a_baseline_of_zero_is_weight_times_value(data, model, run):
    row = data.drop(columns="quality").iloc[[0]]
    out = run("explain", "m", "wine.csv", "--baseline", "zero")[1]
    assert model.explain(row, baseline="zero").text() in out and "compared with" not in out
    assert "compared with the mean of the training rows" in run("explain", "m", "wine.csv")[1]
