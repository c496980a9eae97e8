"""Tests of the gallery: a page has a question, an explanation, a picture and suggestions. `make docs` runs all pages; two run here."""

import ast
import importlib
import re
import runpy
from pathlib import Path

import pytest
from matplotlib import pyplot

GALLERY = Path(__file__).parents[1] / "examples/gallery"
PAGES = sorted(GALLERY.glob("*/*.py"))
ROLE = re.compile(r":(?:class|func|mod):`~?(structperc[\w.]*)`")


def sentences(text):
    return re.findall(r"[.?!](?=\s|$)", text)


def named(path):
    """Whether a dotted name exists."""
    for cut in range(path.count(".") + 1, 0, -1):
        parts = path.split(".")
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for name in parts[cut:]:
            found = getattr(found, name, None)
        return found is not None
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_asks_and_answers(page):
    text = page.read_text()
    tree = ast.parse(text)
    title, rule, _, *said = ast.get_docstring(tree).split("\n")
    shown = text.count("plt.show()")

    assert title.endswith("?") and rule == "=" * len(title)
    assert 3 <= len(sentences(" ".join(said))) <= 12
    assert 1 <= shown <= 2 and len(text.splitlines()) <= 120
    assert "# **What to try next.**" in text.split("plt.show()")[-1], "the page ends with where to go on"
    assert f"| {title} | [gallery/{page.parent.name}/{page.name}]" in (GALLERY.parent / "README.md").read_text()
    for imported in ast.walk(tree):
        if isinstance(imported, ast.ImportFrom) and imported.module.startswith("structperc"):
            assert all(named(f"{imported.module}.{alias.name}") for alias in imported.names), imported.module
    assert [path for path in ROLE.findall(text) if not named(path)] == []
    assert [link for link in re.findall(r":doc:`/?([\w/.-]+)`", text)
            if not ((GALLERY.parents[1] / f"{link}.md").exists() or (page.parent / f"{link}.py").exists())] == []


def test_each_folder_has_a_header():
    assert {page.parent for page in PAGES} == {header.parent for header in GALLERY.glob("*/GALLERY_HEADER.rst")}


@pytest.mark.parametrize("name, said", [("structures/label_pixels", r"neighbours: ([0-3]\.\d)% .*\n.*True"),
                                        ("structures/seat_guests", r"(9\d|100)% of 100 new parties")])
def test_a_page_prints_what_it_promises(name, said, capsys, monkeypatch):
    drawn = []
    pyplot.close("all")                             # figures of other tests
    monkeypatch.setattr(pyplot, "show", lambda: drawn.extend(pyplot.get_fignums()))
    runpy.run_path(str(GALLERY / f"{name}.py"), run_name="__main__")
    pyplot.close("all")

    assert re.search(said, capsys.readouterr().out) and len(drawn) == 1
