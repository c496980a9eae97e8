"""Figures in README and docs/performance.md are those of results pages, and each of these has a record."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks/results"
PERFORMANCE = (ROOT / "docs/performance.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", PERFORMANCE, re.MULTILINE | re.DOTALL))
NUMBER = r"\d[\d,]*(?:\.\d+)?"
MEASURED = re.compile(rf"(?<![\w.^-])({NUMBER})(?= ?(?:ns|µs|us|ms|s|×|%|MiB|MB|times)\b| [×%])")
PAGES = sorted(path.stem for path in RESULTS.glob("*.md"))


@pytest.fixture
def missed(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import missed

    return missed


@pytest.fixture
def summaries(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import summaries

    return summaries


@pytest.mark.parametrize("page", ["docs/performance.md", "README.md"])
def test_tables_of_figures_are_those_of_the_pages(summaries, page):
    text, results = (ROOT / page).read_text(encoding="utf-8"), summaries.read_results()
    assert summaries.written(page, text, results) == text
    results["epoch"].tables[0].rows[0][3] = results["peers"].tables[0].rows[0][1] = "0.5"
    assert summaries.written(page, text, results) != text
    with pytest.raises(ValueError, match="has 0 tables with the head"):
        summaries.written(page, "", results)


def linked_numbers(text):
    """All numbers on the results pages that a text links."""
    pages = re.findall(r"benchmarks/results/([\w-]+)\.md", text)
    assert pages, "no page of results is linked"
    return {float(number.replace(",", "")) for page in pages
            for number in re.findall(NUMBER, (RESULTS / f"{page}.md").read_text(encoding="utf-8"))}


def stands_in(number, recorded):
    """Whether a recorded number, or one of its per cent, rounds to this one."""
    digits = len(number.partition(".")[2])
    value = float(number.replace(",", ""))
    return any(abs(other - value) <= 0.5 * 10.0**-digits + 1e-9 for whole in recorded for other in (whole, whole / 100))


def figures(text):
    """Numbers in the cells of tables but the first of each row, and numbers with a unit in prose."""
    rows = [line for line in text.split("\n") if line.startswith("|")]
    cells = [cell for row in rows for cell in row.strip("|").split("|")[1:]]
    prose = "\n".join(line for line in text.split("\n") if not line.startswith("|"))
    return [number for cell in cells for number in re.findall(NUMBER, cell)] + MEASURED.findall(prose)


@pytest.mark.parametrize("name", [name for name, text in SECTIONS.items() if figures(text) and not name.startswith("Goals")])
def test_figures_of_a_section_stand_on_the_pages_that_it_links(name):
    recorded = linked_numbers(SECTIONS[name])
    lost = [number for number in figures(SECTIONS[name]) if not stands_in(number, recorded)]
    assert not lost, f"{name}: no linked page has {lost}"


def test_goals_that_are_missed_are_those_of_the_records(missed):
    assert missed.written(PERFORMANCE, missed.read_records()) == PERFORMANCE
    changed = missed.read_records()
    changed["clustering"]["goals"][0]["met"] = True
    assert missed.written(PERFORMANCE, changed) != PERFORMANCE
    section = SECTIONS["Goals that are missed"]
    assert [why for why in missed.REASONS.values() if why not in section] == []
    assert "not known" not in section


def test_a_goal_in_the_place_of_others_is_measured_by_their_figures(missed):
    """It has a figure for each of them. It is missed, with a reason, where one of these is beyond its limit."""
    records = missed.read_records()
    for one in missed.REPLACED:
        group = [goal for goal in records[one.record]["goals"] if one.has(goal)]
        assert any(not goal["met"] for goal in group), f"{one.pattern}: none of these goals was missed"
        assert one.met(group) != (f"| {one.goal} |" in SECTIONS["Goals that are missed"])
        group[-1]["found"] = f"file {one.worst(group)} (0.1-9), shuffled {1000 if one.sign == '≤' else 0.001}"
        assert not one.met(group)
    assert "≤ 2 | 1000" in missed.section(records)


def test_figures_of_the_readme_stand_on_the_pages_that_it_links():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = re.search(r"^## Why this and not .*?(?=^## )", readme, re.MULTILINE | re.DOTALL)[0]
    rows = [row.split("|") for row in section.split("\n") if re.match(r"\| (?!instead|-)", row) and "benchmarks" not in row]
    compared = [row for row in rows if len(row) == 6]
    recorded = linked_numbers(section)
    numbers = [number for row in compared for cell in row[3:5] for number in re.findall(NUMBER, cell)]
    assert len(compared) >= 5 and len(numbers) >= 20
    assert [number for number in numbers if not stands_in(number, recorded)] == []


def test_figures_of_the_first_page_are_those_of_the_readme():
    first = (ROOT / "docs/index.md").read_text(encoding="utf-8").partition("<div")[0]
    told = re.findall(rf"{NUMBER} (?:s|%)", (ROOT / "README.md").read_text(encoding="utf-8"))
    said = re.findall(rf"{NUMBER} (?:s|%)", first)
    assert len(said) >= 4 and set(said) <= set(told)


def test_a_figure_that_no_page_has_is_seen():
    recorded = {18.3, 1204.0, 43.21}
    assert stands_in("18.3", recorded) and stands_in("18", recorded) and stands_in("1,204", recorded) and stands_in("0.432", recorded)
    assert not stands_in("18.4", recorded) and not stands_in("0.431", recorded)
    assert figures("takes 3.5 ns, 20 % or 2.0 times\n\n| 4,000 x 10 | 1.5, 2 |") == ["1.5", "2", "3.5", "20", "2.0"]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_a_record_that_says_when_and_of_which_code(page):
    record = json.loads((RESULTS / f"{page}.json").read_text(encoding="utf-8"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", record["measured"])
    assert re.fullmatch(r"[0-9a-f]{40}\+?", record.get("commit") or record["page_commit"])
    assert isinstance(record["machine"], list)
    assert all(goal.keys() == {"what", "wanted", "found", "met"} for goal in record.get("goals", ()))
    if "commit" in record:
        assert {"load", "seconds", "code", "quick"} <= record.keys() and not record["quick"]
