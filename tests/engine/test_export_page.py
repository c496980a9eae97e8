"""The page of a model predicts and explains as the engine does, from the texts in its form."""

import json
import math
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from browser.pages import patients, tagger, visits, wide
from plain import Engine

from structperc.errors import PluginError
from structperc.pages import page

RANDOM = np.random.default_rng(3)
ASK = """
const rows = JSON.parse(require("fs").readFileSync(0));
console.log(JSON.stringify(rows.map((texts) => {
  const x = encode(texts), scores = model.scores(x), [winner, rival] = ranking(scores);
  const { margin, parts } = explain(x, winner, rival);
  return { predicted: model.predict(x), first: model.labels[winner], probabilities: model.probabilities(x), margin, parts,
           rival: model.labels[rival], way: about.one_direction ? way(x) : null,
           ruler: about.ordered ? ruler(scores) : null, turns: about.inputs.map((_, j) => turns(texts, j)) };
})));
"""


def classes():
    X = RANDOM.normal(size=(200, 3)).round(2)
    names = np.array(["</script><script>alert(1)</script>", "<!-- b", 'c"\\'])
    return Engine("multiclass", epochs=4, average=True).fit(X, names[X.argmax(axis=1)]), X


def ranks():
    engine = wide()
    return engine, RANDOM.normal(size=(50, engine.n_features_in_)).round(3)


def grades():
    return patients(), visits()[0].head(100)


@pytest.fixture(scope="module", params=[classes, ranks, grades])
def exported(request, tmp_path_factory):
    engine, rows = request.param()
    path = tmp_path_factory.mktemp("page") / "my_grader.html"
    engine.export(path, "html")
    return engine, rows, path.read_text(encoding="utf-8")


@pytest.mark.skipif(not shutil.which("node"), reason="Node, which runs JavaScript, is not here")
def test_its_code_answers_and_explains_as_the_engine(exported, tmp_path):
    engine, rows, text = exported
    found = asked(text, rows, tmp_path)
    assert [one["predicted"] for one in found] == [one["first"] for one in found] == engine.predict(rows).tolist()
    assert np.allclose([one["probabilities"] for one in found], engine.predict_proba(rows), rtol=0, atol=1e-9)
    for i, one in enumerate(found[:20]):
        row = rows.iloc[[i]] if isinstance(rows, pd.DataFrame) else rows[i]
        why, whole = engine.explain(row, against=one["rival"]), engine.explain(row)
        assert (one["way"] is None) == (whole.score is None)
        if one["way"]:
            assert (one["way"]["start"], one["way"]["score"]) == pytest.approx((whole.start, whole.score))
            values = {c.feature: c.value for c in whole.contributions if c.side != "start"}
            assert {part["name"]: part["value"] for part in one["way"]["parts"]} == pytest.approx(values, rel=1e-6, abs=1e-9)
        assert one["margin"] == pytest.approx(why.margin, rel=1e-9)
        parts = {}
        for c in why.contributions:
            parts[c.feature] = parts.get(c.feature, 0) + c.value
        drawn = {part["name"]: part["value"] for part in one["parts"]}
        assert {name: drawn.get(name, 0) for name in parts} == pytest.approx(parts, rel=1e-6, abs=1e-9)
        if one["ruler"]:
            assert one["ruler"]["score"] == pytest.approx(why.picture.score) and one["ruler"]["cuts"] == pytest.approx(why.picture.cuts)


def typed(rows):
    """Rows as the texts of a form's inputs."""
    return [["" if isinstance(cell, float) and math.isnan(cell) else str(cell) for cell in row]
            for row in (rows.values.tolist() if isinstance(rows, pd.DataFrame) else rows.tolist())]


def asked(text, rows, folder):
    """The results of the page for these rows, from its script in Node."""
    folder.joinpath("page.js").write_text("\n".join(re.findall(r"<script>(.*?)</script>", text, re.DOTALL)) + ASK, encoding="utf-8")
    done = subprocess.run(["node", "page.js"], input=json.dumps(typed(rows)), capture_output=True, check=True, cwd=folder, text=True)
    return json.loads(done.stdout)


@pytest.mark.skipif(not shutil.which("node"), reason="Node, which runs JavaScript, is not here")
def test_the_changes_that_it_shows_are_the_smallest_ones_of_one_input(exported, tmp_path):
    engine, rows, text = exported
    labels, frame, n_numbers = list(engine.classes_), isinstance(rows, pd.DataFrame), 0
    rows = rows.head(20) if frame else rows[:20]

    def predicted(i, j, cell):
        """The engine's prediction with another value in one cell."""
        changed = rows.iloc[[i]].copy() if frame else rows[[i]].copy()
        if frame:
            changed[changed.columns[j]] = [float(cell)] if pd.api.types.is_numeric_dtype(rows.dtypes.iloc[j]) else cell
        else:
            changed[0, j] = float(cell)
        return engine.predict(changed)[0]

    for i, (one, texts) in enumerate(zip(asked(text, rows, tmp_path), typed(rows), strict=True)):
        for j, turns in list(enumerate(one["turns"]))[:6]:
            for turn in turns:
                assert predicted(i, j, turn["text"]) == labels[turn["label"]] != one["predicted"]
            try:
                value = float(texts[j])
            except ValueError:
                continue
            n_numbers += 1
            ends = [float(turn["text"]) for turn in turns]
            assert len(ends) <= 2 and sum(end < value for end in ends) <= 1 and sum(end > value for end in ends) <= 1
            for end in ends:
                assert predicted(i, j, value + 0.98 * (end - value)) == one["predicted"]
            for side in (-1e4, 1e4):
                if not any((end - value) * side > 0 for end in ends):
                    assert predicted(i, j, value + side) == one["predicted"]
    assert n_numbers > 20


def test_it_is_one_small_file_in_which_no_text_acts(exported):
    engine, _, text = exported
    assert len(text.encode()) < 100_000
    assert text.count("</script>") == 3 and "<!--" not in text and "@title@" not in text
    assert not re.search(r"(?:src|href)=(?!.FILE)|https?://(?!www\.w3\.org/2000/svg)|@import|url\(", text)
    assert "<title>my grader</title>" in text


def test_what_has_no_form_is_refused(tmp_path):
    with pytest.raises(PluginError, match="to='html' only shows ranks and classes, and this model of sequence has other outputs"):
        tagger()[0].export(tmp_path / "m.html", "html")
    with pytest.raises(PluginError, match="has 1001 columns, and the form of a page has room for 1000; export it to \"js\""):
        Engine("multiclass").fit(np.eye(3, 1001), [1, 2, 3]).export(tmp_path / "m.html", "html")
    assert not list(tmp_path.iterdir())


def test_scripts_are_given_or_lie_beside_the_page():
    text = page("model.html", "</title>&", {"exported.js": "// </script>", "about.js": "const about = 7;"})
    assert "const about = 7;" in text and "<title>&lt;/title&gt;&amp;</title>" in text and text.count("</script>") == 3


def test_fields_begin_at_means_of_a_few_digits(tmp_path):
    X = RANDOM.normal(size=(60, 3)) * [1, 1e-3, 1e4]
    X -= X.mean(axis=0)
    Engine("prank", scale=True).fit(X, np.digitize(X[:, 0], [-1, 1])).export(tmp_path / "m.html", "html")
    starts = re.findall(r'"start": "([^"]*)"', (tmp_path / "m.html").read_text(encoding="utf-8"))
    assert starts == ["0", "0", "0"]
