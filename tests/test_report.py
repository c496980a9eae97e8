"""Tests of the page of all results: parsing, counts, figures. A page loads nothing, closes every element and captions every table."""

import functools
import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"

RANKING = """# Latent <ranking>: `P@k` & others

- one machine
- measured 2026-01-02 in 3 s

| learner | P@1 | P@3 | P@5 | P@10 |
| --- | --- | --- | --- | --- |
| latent perceptron | 0.6000 ± 0.0100 | 0.5600 ± 0.0100 | 0.5000 ± 0.0100 | 0.4870 |

![Precision <b>](not-there.png)
"""
EPOCH = """# Time of an epoch

Measured 2026-01-02, in <script>alert(1)</script> nanoseconds.

## Data "a" & <b>

| data | <i>ns</i> | |
| --- | --- | --- |
| **4,000** | 1.27 (1.1–1.3) | faster |
"""
COMPARISON = {"this": "0123456789ab", "other": "ba9876543210",
              "cases": {"fit <cusum>": {"ratio": [1.1, 1.2, 0.9]}, "broken": {"errors": ["x"]}}}


@pytest.fixture
def scripts(monkeypatch):
    """Makes the modules of the benchmarks importable."""
    monkeypatch.syspath_prepend(FOLDER)


class Reader(HTMLParser):
    """Asserts that a page loads nothing, has no scripts and closes every element; keeps headings, ids, tables and texts."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.levels, self.texts, self.linked, self.tables, self.captions = [], [], [], [], [], 0, 0

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        assert tag not in ("script", "link", "iframe", "object", "b", "i"), tag
        assert not any(name.startswith("on") for name in given)
        assert given.get("src", "data:image/png;base64,").startswith("data:image/png;base64,")
        assert not re.match(r"\w+:", given.get("href", ""))
        assert tag != "img" or given["alt"]
        assert tag != "svg" or given["role"] == "img" and given["aria-label"]
        assert tag != "th" or given["scope"] in ("row", "col")
        self.ids += [given["id"]] if "id" in given else []
        self.linked += [given["href"][1:]] if given.get("href", "").startswith("#") else []
        if re.fullmatch(r"h\d", tag):
            self.levels.append(int(tag[1]))
        self.tables += tag == "table"
        self.captions += tag == "caption"
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.texts.append(data)


def checked(html):
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == [] and reader.tables == reader.captions > 0
    assert len(set(reader.ids)) == len(reader.ids) and set(reader.linked) <= set(reader.ids)
    assert reader.levels[0] == 1 and reader.levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(reader.levels, reader.levels[1:], strict=False))
    assert "@import" not in html and "url(" not in html
    return " ".join(" ".join(reader.texts).split())


def test_a_page_of_small_tables(tmp_path, scripts, capsys):
    import report

    results, output = tmp_path / "results", tmp_path / "build/report.html"
    (results / "compare").mkdir(parents=True)
    for name, text in (("reproduce-ranking", RANKING), ("epoch", EPOCH)):
        (results / f"{name}.md").write_text(text, encoding="utf-8")
    (results / "compare/1.json").write_text(json.dumps(COMPARISON))
    report.main(["--results", str(results), "--output", str(output)])
    printed, text = capsys.readouterr().out, checked(output.read_text(encoding="utf-8"))

    # P@1: 0.6 - 0.5575 is over two standard errors, P@3 less, P@5 below; P@10 has no error. 168 cells - 10 claims of a missing page
    assert "158 published cells: 1 better, 1 even, 1 worse, 0 constant, 155 not run" in printed and "158 published cells" in text
    assert "A Perceptron Algorithm for Latent Variables 12 1 1 1 0 9" in text and "all 158 1 1 1 0 155" in text
    assert "latent perceptron, P@1 0.5575 0.6000 0.0100 ▲ better" in text
    assert "latent perceptron, P@10 0.487 0.4870 – not run" in text
    assert "in <script>alert(1)</script> nanoseconds" in text and 'Data "a" & <b>' in text, "what is in the tables is text"
    for missing in ("peers.md is missing", "reproduce-interval.md is missing", "“Precision <b>” is missing: not-there.png"):
        assert missing in text
    assert "2026-01-02" in text and "fit <cusum>" in text

    with pytest.raises(SystemExit, match="holds no tables"):
        report.main(["--results", str(tmp_path)])


def test_figures_are_data(tmp_path, scripts):
    Image = pytest.importorskip("PIL.Image", reason="pictures are packed by Pillow")
    import report_html
    from results_pages import parsed

    for name in ("a", "rare-classes", "rare-classes-by-weight", "rare"):
        Image.new("RGB", (40, 20), "white").save(tmp_path / f"{name}.png")
    drawn = report_html.picture(tmp_path / "a.png", 'a "figure"')
    assert 'src="data:image/png;base64,' in drawn and 'alt="a &quot;figure&quot;" width="20" height="10"' in drawn

    page = parsed("rare_classes", "# Rare\n\n![Recall](a.png)")
    assert report_html.files(page, tmp_path) == {
        "a.png": "Recall", "rare-classes-by-weight.png": "Rare, by weight", "rare-classes.png": "Rare"}


def test_verdicts(scripts):
    import verdicts
    from report_papers import number

    assert number("**0.404 ± 0.022**") == (0.404, 0.022) and number("1,204")[0] == 1204 and all(map(math.isnan, number("–")))
    # if a published standard error is unknown, ours replaces it: 2 * 0.05 * sqrt(2) + 0.005 = 0.146
    assert [verdicts.beside_published(ours, 0.05, 1.0, 2) for ours in (0.85, 0.86, 1.14, 1.15)] == ["better", "even", "even", "worse"]
    assert [verdicts.beside_published(ours, 0.04, 1.0, 2, their_error=0.03) for ours in (0.89, 0.9, 1.1, 1.11)] == [
        "better", "even", "even", "worse"]
    assert verdicts.beside_published(1.15, 0.05, 1.0, 2, larger_is_better=True) == "better"
    assert verdicts.beside_published(1.15, math.nan, 1.0, 2) == verdicts.of_runs([1.0, 1.0], 1.0, 2) == "not run"
    medians = ((), [2.1] * 3, [2.0] * 3, [1.9] * 3)
    assert [verdicts.of_runs([2.0] * 3, 2.46, 2, of_constant) for of_constant in medians] == ["better", "better", "constant", "constant"]
    assert [verdicts.of_pairs(less) for less in ([1.0, 1.0, 1.1], [1.0, -1.0, 0.1], [-1.0, -1.0, -1.1])] == ["better", "even", "worse"]


def test_verdicts_on_the_pages_follow_the_rule(scripts):
    import published
    import verdicts
    from report_papers import number
    from results_pages import read_page

    @functools.cache
    def found(name):
        return json.loads((FOLDER / f"results/reproduce-ordinal-{name}.json").read_text())["found"]

    def check(ours, verdict, errors, theirs, digits, of_constant=()):
        """The verdict is that of the errors in the record: the rounded mean of the page may have another."""
        assert ours == f"{verdicts.mean(errors):.3f} ± {verdicts.standard_error(errors):.3f}"
        assert verdict == verdicts.of_runs(errors, theirs, digits, of_constant), (ours, theirs, verdict)
        return 1

    nine, benchmark, boosting = (read_page(FOLDER / f"results/reproduce-ordinal-{name}.md") for name in ("nine", "benchmark", "boosting"))
    n_checked, medians = 0, json.loads((FOLDER / "results/reproduce-ordinal-nine.json").read_text())["median"]
    for table in (table for table in nine.tables if re.fullmatch(r"\d+ bins", table.under)):
        bins = int(table.under.split()[0])
        for row in table.rows:
            svm, cusum = published.NINE[bins][row[0]]
            places = [(3, 4, cusum), (3, 7, svm)] if len(row) == 9 else [(place, place + 1, svm) for place in range(2, len(row), 2)]
            for ours, verdict, theirs in places:
                of_partitions = found("nine")[f"{bins} {row[0]}"][table.head[ours]].values()
                n_checked += check(row[ours], row[verdict], [sum(of_seeds) / len(of_seeds) for of_seeds in of_partitions], theirs,
                                   published.NINE_DIGITS, medians[f"{bins} {row[0]}"])
    for row in benchmark.tables[0].rows:
        n_checked += check(row[4], row[5], [run["test"] for run in found("benchmark")[row[0]][row[1]]], published.SVOR_BENCHMARK[row[0]],
                           published.SVOR_DIGITS)
    cells = json.loads((FOLDER / "results/reproduce-ordinal-boosting.json").read_text())["cells"]
    for table in (table for table in boosting.tables if table.under.split(",")[0] in published.BOOSTING and len(table.head) == 11):
        for row in table.rows:
            base, is_boosted = table.under.split(",")[0], row[1].startswith("+")
            ours = cells[base][row[0]]["boosted" if is_boosted else "alone"]
            for place, (theirs, error), cell in zip((3, 6), published.BOOSTING[base][row[0]][is_boosted], ours, strict=True):
                if not math.isnan(theirs) and row[place + 2] != verdicts.CONSTANT:
                    assert number(row[place + 1]) == tuple(round(value, 3) for value in cell)
                    expected = verdicts.beside_published(*cell, theirs, published.BOOSTING_DIGITS, error)
                    assert row[place + 2] in {expected, verdicts.NOT_RUN}, row
                    n_checked += 1
    assert n_checked > 190


def test_ragged_tables_are_refused(tmp_path, scripts):
    import report

    (tmp_path / "made.md").write_text("# Made\n\n## Data\n\n| a | b |\n| --- | --- |\n| 1 |\n")
    with pytest.raises(SystemExit, match=r"report: made\.md, under 'Data': a row of 1 cells, the head has 2"):
        report.main(["--results", str(tmp_path), "--output", str(tmp_path / "report.html")])
    assert not (tmp_path / "report.html").exists()


def test_every_published_cell_is_found_or_says_why_not(scripts):
    """With the tables of the repository: if a table changed its format, its cells would be missing."""
    from report import SPEED
    from report_papers import PAPERS, VERDICTS, counts
    from results_pages import read_page

    pages = {path.stem: read_page(path) for path in (FOLDER / "results").glob("*.md")}
    for paper in PAPERS:
        cells = list(paper.cells(pages))
        assert all(cell.note for cell in cells if cell.verdict == "not run"), paper.key
        assert sum(counts(cells)) == len(cells) and {cell.verdict for cell in cells} <= set(VERDICTS)
    assert {name for names in SPEED.values() for name in names} <= set(pages)
