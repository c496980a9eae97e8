"""What the site adds to the pages: the reference of the public list, the bibliography, navigation to every page, pictures."""

import re
import runpy
from pathlib import Path

import pytest
from loading import module_at, reference

import structperc

ROOT = Path(__file__).parents[1]


def extension(name):
    return module_at(f"docs/_extensions/{name}.py")


def test_the_reference_has_an_entry_for_each_name_of_the_public_list_and_no_other():
    pages_of, made = extension("reference"), reference()
    listed = re.findall(r"^\| `([\w.]+)` \|", (ROOT / "docs/api.md").read_text().partition("\n## Cython")[0], re.MULTILINE)
    assert made.names.keys() >= set(listed) - set(pages_of.NEEDS)          # the others need a library that may be missing
    listed = [name for name in listed if name in made.names]
    pages = dict(made.pages())
    entry = re.compile(r"^\.\. auto(?:class|exception|function|data):: (\w+)$", re.MULTILINE)
    entries = {module: [name for path, text in pages.items() if path.removesuffix(".rst").partition("/")[0] == module
                        for name in entry.findall(text)] for module in listed}

    assert list(made.names) == listed
    for module in listed:
        public = {f"{made.home(module, name)}.{name}" for name in made.names[module]}
        assert public <= {f"{home}.{name}" for home, names in entries.items() for name in names}
        assert set(entries[module]) <= set(made.names[module]) and len(entries[module]) == len(set(entries[module]))
    assert {"Engine", "Option", "explain"} <= set(entries["structperc"])
    assert "max_clusters" in entries["structperc.solvers.clusters"] and "max_clusters" not in entries["structperc.solvers"]


def test_a_page_of_the_reference_begins_with_its_class_and_lists_members_by_use():
    pages = dict(reference().pages())
    page = pages["structperc.estimators/SequenceTagger.rst"]
    groups = re.split(r"^(\w+)\n-+\n", page.partition(".. minigallery")[0], flags=re.MULTILINE)
    members = {caption: re.findall(r"^\.\. automethod:: SequenceTagger\.(\w+)$", text, re.MULTILINE)
               for caption, text in zip(groups[1::2], groups[2::2], strict=True)}

    assert groups[0].splitlines()[5] == ".. autoclass:: SequenceTagger" and "auto" not in groups[0].partition("autoclass")[2]
    assert list(members) == ["Train", "Predict", "Explain", "Save", "More"] and members["Train"] == ["fit", "partial_fit"]
    assert {"predict", "predict_k_best"} <= set(members["Predict"]) and {"save", "load", "export"} == set(members["Save"])
    for path, text in pages.items():
        if path.startswith("structperc.estimators/"):
            assert not re.search(r"\.(predict|explain|fit)\w*$", text.partition("\nMore\n")[2], re.MULTILINE), path
    assert "PrimalWeights.vector\n" in pages["structperc.components/PrimalWeights.rst"], "its own"
    assert "PrimalWeights.citation\n" not in pages["structperc.components/PrimalWeights.rst"], "of its base, which has an entry"


def test_examples_come_before_parameters():
    sections = (ROOT / "docs/_templates/numpydoc_docstring.rst").read_text().split()
    assert sections.index("{{summary}}") < sections.index("{{examples}}") < sections.index("{{parameters}}")


def test_usual_names_lead_to_the_pages_that_the_guide_links():
    pytest.importorskip("sphinx", reason="the extra docs is not installed")
    search = extension("search")
    of_page = {path.relative_to(ROOT).as_posix(): names for path, names in search.names().items()}

    assert {"ordinal regression", "proportional odds", "cumulative link"} <= set(of_page["docs/guide/ranks.md"])
    assert {"NER", "named entity", "CRF", "Viterbi"} <= set(of_page["docs/guide/sequences.md"])
    assert {"SVM-struct"} <= set(of_page["docs/guide/margins.md"]) and {"MIRA"} <= set(of_page["docs/guide/passive-aggressive.md"])
    assert {"install"} <= set(of_page["docs/install.md"]) and "custom loss" in of_page["docs/gallery/grades/custom_loss.rst"]
    assert all((ROOT / path).is_file() for path in of_page if not path.startswith("docs/gallery/"))
    rows = re.findall(r"^\| (?!elsewhere|-)", search.NAMES.read_text(), re.MULTILINE)
    assert len(rows) == len(search.ROW.findall(search.NAMES.read_text())) > 30


def test_every_page_that_the_search_leaves_out_exists():
    for pattern in runpy.run_path(str(ROOT / "docs/conf.py"))["unsearched"]:
        assert list(ROOT.glob(f"{pattern}.md")) or pattern == "docs/reference/bibliography"


def test_formulas_need_no_script(monkeypatch):
    pytest.importorskip("latex2mathml", reason="the extra docs is not installed")
    nodes = pytest.importorskip("docutils.nodes", reason="the extra docs is not installed")
    formulas = extension("formulas")

    class Writer:
        body = []

    with pytest.raises(nodes.SkipNode):
        formulas.inline(Writer, nodes.math("", "\\hat y"))
    assert Writer.body[0].startswith("<math") and "<script" not in Writer.body[0]


def test_the_picture_of_the_readme_shows_three_explanations():
    text = (ROOT / "docs/_static/three.svg").read_text()

    assert text.count("<svg") == 4 and all(word in text for word in ("mild", "NOUN", "nsubj"))


def test_the_picture_of_steps_is_that_of_this_engine():
    pytest.importorskip("sphinx", reason="the extra docs is not installed")

    assert (ROOT / "docs/_static/watch.svg").read_text() == extension("watch_picture").svg() + "\n"


def test_the_bibliography_has_every_cited_paper_once():
    papers = dict(extension("bibliography").collected())

    milidiu = "R. L. Milidiú and R. H. S. Rocha: Cumulative Sum Ranking. arXiv:1911.11255, 2019."
    tukey = "J. W. Tukey: Bias and confidence in not quite large samples. Annals of Mathematical Statistics 29, 1958."
    assert "plugins/structperc_cusum/__init__.py" in papers[milidiu] and papers[tukey] == ["structperc/metrics/comparisons.py"]
    shashua = [paths for citation, paths in papers.items() if "Shashua" in citation]
    assert len(shashua) == 1 and "plugins/structperc_large_margin/nu.py" in shashua[0]


def test_every_page_is_within_reach():
    conf = runpy.run_path(str(ROOT / "docs/conf.py"))
    reached = {ROOT / f"{conf['root_doc']}.md"}
    for document, below in conf["navigation"].items():
        folder = (ROOT / document).parent
        for entry in (entry for entries in (below.values() if isinstance(below, dict) else [below]) for entry in entries):
            reached.update((ROOT if entry[0] == "/" else folder).glob(f"{entry.lstrip('/')}.md"))
    pages = {path for pattern in conf["include_patterns"] for path in ROOT.glob(pattern if pattern.endswith(".md") else f"{pattern}/*.md")}
    generated = {path for path in pages if {"reference", "gallery", "_extensions"} & set(path.relative_to(ROOT).parts)}

    assert pages - generated <= reached


def test_a_page_shows_what_its_python_has_made(tmp_path):
    pytest.importorskip("sphinx", reason="the extra docs is not installed")
    page = "```python\nfrom structperc.pictures import Ruler\nruler = Ruler(['a', 'b'], [1.0], 0.5, 0, 1)\n```\n\n<!-- picture: ruler -->\n"
    (tmp_path / "page.md").write_text(page)
    pictures, names = extension("pages").Pictures().of(tmp_path / "page.md")

    assert pictures["ruler"].startswith('<div class="structperc picture"><svg') and "\n" not in pictures["ruler"]
    assert names["ruler"].score == 0.5


def test_the_site_shows_the_version():
    conf = runpy.run_path(str(ROOT / "docs/conf.py"))

    assert conf["version"] == structperc.__version__ and conf["html_title"] == f"structperc {structperc.__version__}"
