"""HTML and SVG as text in which nothing that came from data can act: every text is escaped, nothing is loaded, no script runs.

Colours are `currentColor`, the reader's own, in shades. What differs in colour also differs in text or place.
"""

from __future__ import annotations

from html import escape

LONGEST = 80                # characters of a text that are shown
STYLE = """.structperc{font:13px/1.4 system-ui,sans-serif;color:inherit;overflow-x:auto;max-width:60em}
.structperc table{border-collapse:collapse;margin:.4em 0}
.structperc td,.structperc th{text-align:left;padding:.1em .8em .1em 0;vertical-align:top;background:none;color:inherit}
.structperc td.number{text-align:right;font-variant-numeric:tabular-nums}
.structperc .quiet{opacity:.7}
.structperc svg{display:block;max-width:100%;height:auto;color:inherit}
.structperc svg .tone{fill:#0b6e8f}
@media (prefers-color-scheme:dark){.structperc svg .tone{fill:#6cc5e0}}"""


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def printable(text) -> str:
    """A text on one line, what does not print as escapes."""
    text = str(text)
    return text if text.isprintable() else "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def excerpt(text, most=LONGEST) -> str:
    """The beginning of a text on one line."""
    text = printable(str(text)[:most + 1])
    return text if len(text) <= most else text[:most - 1] + "…"


def aligned(rows) -> list[str]:
    """Rows of cells as lines of text, the cells of a column flush right under each other."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    return ["  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]


def element(tag, *content, **attributes) -> Markup:
    """An element. Content that is no `Markup` is escaped; `class_` is written class, font_size font-size; None leaves an attribute out."""
    written = "".join(f' {name.rstrip("_").replace("_", "-")}="{escape(str(value))}"' for name, value in attributes.items()
                      if value is not None)
    inner = "".join(part if isinstance(part, Markup) else escape(printable(part)) for part in content)
    return Markup(f"<{tag}{written}>{inner}</{tag}>")


def block(*content) -> Markup:
    """A self-contained piece of a page, with its style."""
    return element("div", element("style", Markup(STYLE)), *content, class_="structperc")


def page(title, *content) -> Markup:
    """A whole page of pieces, to be kept as a file."""
    head = element("head", element("meta", charset="utf-8"), element("meta", name="viewport", content="width=device-width,initial-scale=1"),
                   element("title", title), element("style", Markup("body{margin:1.5em;color-scheme:light dark}")))
    return Markup(f"<!DOCTYPE html>\n{element('html', head, element('body', element('main', *content)), lang='en')}\n")


def table(rows, head=(), numbers=()) -> Markup:
    """A table of texts; `numbers` are the columns whose cells are written flush right."""
    lines = [element("tr", *(element("th", excerpt(cell), scope="col") for cell in head))] if head else []
    for row in rows:
        lines.append(element("tr", *(cell_of(cell, j in numbers) for j, cell in enumerate(row))))
    return element("table", *lines)


def cell_of(value, number) -> Markup:
    return element("td", value if isinstance(value, Markup) else excerpt(value), class_="number" if number else None)


def details(summary, *content) -> Markup:
    """Content that opens by a click on its summary."""
    return element("details", element("summary", summary), *content)
