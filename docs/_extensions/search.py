"""What the site's search finds: the names of docs/guide/names.md lead to their pages, and pages for developers stay out."""

import re
from fnmatch import fnmatch
from pathlib import Path

from sphinx import addnodes

DOCS = Path(__file__).parents[1]
NAMES, EXAMPLES = DOCS / "guide/names.md", DOCS.parent / "examples/gallery"
ROW = re.compile(r"^\| (?P<names>[^|`]+) \| [^|]+ \| (?P<links>\[.*\)) \|$", re.MULTILINE)


def names() -> dict:
    """The usual names of the subject of each page: {path of the page: names}."""
    of_page = {}
    for row in ROW.finditer(NAMES.read_text(encoding="utf-8")):
        for link in re.findall(r"\]\(([^)#]+)", row["links"]):
            of_page.setdefault(page_of((NAMES.parent / link).resolve()), []).extend(row["names"].split(", "))
    return of_page


def page_of(path):
    """The page of a linked file: of an example, that of the gallery."""
    return DOCS / "gallery" / path.relative_to(EXAMPLES).with_suffix(".rst") if path.is_relative_to(EXAMPLES) else path


def enter(app, doctree):
    """Enters the usual names of a page into the index, or leaves the page out of the search."""
    document = app.env.docname
    known = app.names.get(Path(app.env.doc2path(document)).resolve(), ())
    if known:
        doctree.append(addnodes.index(entries=[("single", name, "", "main", None) for name in known]))
    if any(fnmatch(document, pattern) for pattern in app.config.unsearched):
        app.env.metadata[document]["nosearch"] = "true"


def outdated(app, env, added, changed, removed):
    """The pages with usual names: the search index has the entries only of pages that this build reads."""
    return [document for document in env.found_docs if Path(env.doc2path(document)).resolve() in app.names]


def setup(app):
    app.names = names()
    app.connect("env-get-outdated", outdated)
    app.add_config_value("unsearched", [], "env")
    app.connect("doctree-read", enter)
    return {"parallel_read_safe": True}
