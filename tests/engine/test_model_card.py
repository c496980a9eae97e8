"""`Engine.card` and `structperc card`: sections, front matter, files."""

import hashlib
import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from plain import Engine

from structperc.errors import NotFittedError, OptionError
from structperc.metrics import best_constant, measures

HOSTILE = "<script>x</script> | `a` **b** [c](d)"


@pytest.fixture(scope="module")
def data():
    X = np.random.default_rng(1).normal(size=(50, 3)).round(2)
    return pd.DataFrame(X, columns=["acid", "sugar", HOSTILE]), 1 + np.digitize(X @ [1, -1, 2], [-1, 1])


@pytest.fixture(scope="module")
def engine(data):
    return Engine("prank", epochs=3, average=True).fit(data[0][:40], data[1][:40])


def sections(text):
    return {part.partition("\n")[0]: part for part in text.split("\n## ")[1:]}


def front_matter(text):
    """The entries of the front matter whose values stand on their lines; all texts are those of JSON."""
    lines = text.split("---\n")[1].splitlines()
    assert all(re.fullmatch(r'#.*| *(-|[\w-]+:)( ("[^"]*"|-?[\d.]+))?', line) for line in lines), lines
    return {key: json.loads(value) for key, value in (line.strip().split(": ", 1) for line in lines if ": " in line and line[0] != "#")}


def test_a_card_tells_problem_labels_columns_training_measures_and_hash(data, engine, tmp_path):
    X, y = data[0][40:], data[1][40:]
    card = engine.card(X, y, name="wine", data="cellar.csv")
    found = sections(str(card))
    assert list(found) == ["Intended use", "What it predicts", "Training", "Measures", "Right and predicted labels", "Largest weights",
                           "How to use it", "Citation", "File"]
    assert found["Intended use"].count("To be filled in by the owner") == 3
    assert "1 \\< 2 \\< 3" in found["What it predicts"] and "3: acid, sugar, \\<script\\>" in found["What it predicts"]
    assert f"{engine.mistakes_[0]} in the first epoch" in found["Training"] and "| average | True |" in found["Training"]
    assert "On 10 examples of cellar.csv" in found["Measures"]
    constant = best_constant(engine, X, y)
    html = card.html()
    for name, value in measures(engine, X, y).items():
        assert f'<td>{name}</td><td class="number">{value:.4f}</td><td class="number">{constant.measures[name]:.4f}</td>' in html
        assert f"| {name} | {value:.4f} | {constant.measures[name]:.4f} |" in found["Measures"]
    assert f"the best prediction that is the same for all: {constant.answer}." in found["Measures"]
    assert "crammer2001pranking" in found["Citation"]
    engine.save(tmp_path / "wine.model")
    assert hashlib.sha256((tmp_path / "wine.model").read_bytes()).hexdigest() in found["File"]
    front = front_matter(str(card))
    assert front["library_name"] == "structperc" and front["pipeline_tag"] == "tabular-classification" and front["name"]
    assert "<script>" not in str(card).replace("\\<script\\>", "") and "<script" not in html and len(html) < 20_000


class Balanced(HTMLParser):
    """Counts the elements that are open."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert tag == "meta" or self.open.pop() == tag


def test_pages_are_whole_and_files_say_their_form_by_their_ending(engine, tmp_path):
    card = engine.card()
    assert "No data were given, so there are no measures." in str(card) and "model-index" not in str(card)
    card.save(tmp_path / "c.md")
    card.save(tmp_path / "c.html")
    assert (tmp_path / "c.md").read_text() == str(card)
    parser = Balanced()
    parser.feed((tmp_path / "c.html").read_text())
    assert not parser.open and parser.seen.count("h2") + parser.seen.count("details") >= 8 and "script" not in parser.seen
    with pytest.raises(OptionError, match="ends with .md or .html"):
        card.save(tmp_path / "c.txt")
    with pytest.raises(NotFittedError):
        Engine("cusum").card()


def test_tables_of_pages_have_the_columns_of_their_section(engine):
    card = engine.card()
    headings = re.findall(r"<th[^>]*>(.*?)</th>", card.html())
    for section in card.all_sections():
        assert not section.rows or ", ".join(section.rows[0]) in ", ".join(headings), section.rows[0]


@pytest.mark.parametrize("name", [r"C:\data\v*1*.csv", r"\\host\a_b", "`x` *y", "<i>&amp;", "a*b*c*", "\\*", '"q" \'r\''])
def test_a_name_of_any_characters_is_the_same_in_both_forms(data, engine, name):
    card = engine.card(data[0][40:], data[1][40:], data=name)
    html = re.search(r"<p>(On 10 examples of .*?)</p>", card.html())[1]

    assert unescape(html).startswith(f"On 10 examples of {name}.")
    assert "<em>To be filled in by the owner:</em> what" in card.html()
    assert re.sub(r"\\([^\w\s]|_)", r"\1", str(card)).count(f"On 10 examples of {name}.") == 1


def test_cards_of_other_problems():
    tagger = Engine("sequence").fit([[["w=a"], ["w=b"]]], [["D", "N"]])
    text = str(tagger.card([[["w=a"]]], [["D"]]))
    assert 'pipeline_tag: "token-classification"' in text and "token accuracy" in text
    bent = Engine("multiclass", plugins=["dual-kernel"], kernel="rbf").fit([[0.0], [1.0]], ["a", "b"])
    text = str(bent.card())
    assert "support rows" in text and "Largest weights" not in text and "a, b" in text


def test_the_command_writes_the_card_of_the_file(data, engine, tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    engine.save("wine.model")
    data[0].assign(quality=data[1])[40:].to_csv("test.csv", index=False)
    code, out, err = run("card", "wine.model", "--data", "test.csv", "--target", "quality")
    assert (code, err) == (0, "") and out == str(engine.card(data[0][40:], data[1][40:], name="wine", data="test.csv"))
    assert run("card", "wine.model", "-o", "wine.html")[0] == 0 and Path("wine.html").read_text().startswith("<!DOCTYPE html>")
    for arguments, message in ((["-o", "wine.txt"], "ends with .md or .html"), (["-o", "wine.model"], "cannot be written"),
                               (["--target", "quality"], "add --data FILE")):
        code, out, err = run("card", "wine.model", *arguments)
        assert code == 2 and out == "" and message in err and err.count("\n") == 1
