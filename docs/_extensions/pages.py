"""What the site adds to pages that are plain Markdown elsewhere: pictures, navigation, and links into the reference.

`<!-- picture: NAME -->` shows the value of NAME after the page's code above it has run. `<!-- picture: NAME of ../page.md -->` shows the
value of NAME at the end of another page. The value has `svg()` or `_repr_html_()`.
"""

import contextlib
import io
import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes

from structperc.pages import page

PIECES = re.compile(r"^```python\n(?P<code>.*?)^```$|<!-- picture: (?P<name>[\w.]+)(?: of (?P<page>[\w./-]+))? -->",
                    re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| `([\w.]+)` \|", re.MULTILINE)


class Pictures:
    """Pictures of the pages; the Python of each page runs once."""

    def __init__(self):
        self.run = {}

    def of(self, path):
        """The pictures on a page, as HTML by their names, and the names that its Python has made."""
        if path not in self.run:
            names, made = {"__name__": "page"}, {}
            for piece in PIECES.finditer(path.read_text(encoding="utf-8")):
                if piece["code"]:
                    with contextlib.redirect_stdout(io.StringIO()):
                        exec(compile(piece["code"], str(path), "exec"), names)
                elif not piece["page"]:
                    made[piece["name"]] = drawn(names, piece["name"])
            self.run[path] = made, names
        return self.run[path]


def drawn(names, name):
    first, *rest = name.split(".")
    value = names[first]
    for attribute in rest:
        value = getattr(value, attribute)
    html = value.svg() if hasattr(value, "svg") else re.sub(r"<style>.*?</style>", "", value._repr_html_(), flags=re.DOTALL)
    return f'<div class="structperc picture">{html}</div>'.replace("\n", " ")


def complete(app, document, source):
    """Puts pictures, links to the reference and the navigation into a page."""
    path = Path(app.env.doc2path(document))
    if path.suffix != ".md":
        return

    def picture(piece):
        if piece["code"]:
            return piece[0]
        if piece["page"]:
            return drawn(app.pictures.of(path.parent / piece["page"])[1], piece["name"])
        return app.pictures.of(path)[0][piece["name"]]

    if "<!-- picture:" in source[0]:
        source[0] = PIECES.sub(picture, source[0])
    if document == "docs/api":
        known = app.reference.names
        source[0] = ROW.sub(lambda row: f"| [`{row[1]}`](reference/{row[1]}.rst) |" if row[1] in known else row[0], source[0])
    below = app.config.navigation.get(document, {})
    for caption, entries in below.items() if isinstance(below, dict) else [("", below)]:
        options = f":caption: {caption}\n" * bool(caption) + ":hidden:\n:glob:\n:maxdepth: 2\n"
        source[0] += "\n\n```{toctree}\n" + options + "\n" + "\n".join(entries) + "\n```\n"


def is_within(node, kinds) -> bool:
    """Whether a node is inside one of these kinds, at any depth: a link cannot contain a link."""
    while node.parent is not None:
        node = node.parent
        if isinstance(node, kinds):
            return True
    return False


def link(app, doctree):
    """Makes `structperc.metrics` and `CuSumRank` links where they stand in text: modules, and names with a capital that are public once."""
    if Path(app.env.doc2path(app.env.docname)).suffix != ".md":
        return
    targets = app.reference.targets()
    for literal in list(doctree.findall(nodes.literal)):
        text = literal.astext()
        if text in targets and not is_within(literal, nodes.reference | addnodes.pending_xref | nodes.title):
            kind = "mod" if text in app.reference.names else "obj"
            target = addnodes.pending_xref("", refdomain="py", reftype=kind, reftarget=targets[text], refexplicit=True, refwarn=True)
            target["refdoc"] = app.env.docname
            literal.replace_self(target)
            target += literal


def write(app, config):
    """The page on which a perceptron learns, which `html_extra_path` puts beside the others."""
    folder = Path(app.srcdir) / "build/pages"
    folder.mkdir(parents=True, exist_ok=True)
    folder.joinpath("watch.html").write_text(page("watch.html"), encoding="utf-8")


def setup(app):
    app.add_config_value("navigation", {}, "env")
    app.pictures = Pictures()
    app.connect("config-inited", write, priority=400)           # before Sphinx looks for the folder
    app.connect("source-read", complete)
    app.connect("doctree-read", link)
    return {"parallel_read_safe": True}
