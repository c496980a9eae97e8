"""Pages of results as parts: headings, paragraphs, lists, tables and figures of the Markdown that the scripts write."""

import re
from pathlib import Path

import attrs

CELLS = re.compile(r"(?<!\\)\|")


@attrs.frozen
class Heading:
    level: int
    text: str


@attrs.frozen
class Paragraph:
    text: str


@attrs.frozen
class Lines:
    """A list, its items as texts."""

    items: list


@attrs.frozen
class Table:
    """`under`: the heading above it. Every row has as many cells as `head`."""

    head: list
    rows: list
    under: str


@attrs.frozen
class Figure:
    text: str
    file: str


@attrs.frozen
class Page:
    """A results page; `name` is that of its file, without the ending."""

    name: str
    title: str
    parts: list

    @property
    def tables(self):
        return [part for part in self.parts if isinstance(part, Table)]


def read_page(path):
    """The page in a file, or None where there is none."""
    path = Path(path)
    return parsed(path.stem, path.read_text(encoding="utf-8")) if path.is_file() else None


def parsed(name, text):
    title, parts = name, []
    for block in re.split(r"\n\s*\n", text.strip()):
        lines = block.split("\n")
        heading = re.match(r"(#+) (.*)", lines[0])
        if heading and len(heading[1]) == 1 and not parts:
            title = heading[2]
        elif heading:
            parts.append(Heading(len(heading[1]), heading[2]))
        elif len(lines) > 1 and re.fullmatch(r"[|\s:-]+", lines[1]):
            under = next((part.text for part in reversed(parts) if isinstance(part, Heading)), "")
            head, _, *rows = map(cells_of, lines)
            for row in rows:
                if len(row) != len(head):
                    raise ValueError(f"{name}.md, under {under or title!r}: a row of {len(row)} cells, the head has {len(head)}: {row}")
            parts.append(Table(head, rows, under))
        elif figure := re.fullmatch(r"!\[(.*)\]\(([\w.-]+)\)", block):
            parts.append(Figure(figure[1], figure[2]))
        elif lines[0].startswith("- "):
            parts.append(Lines([item.strip().replace("\n", " ") for item in re.split(r"^- ", block, flags=re.MULTILINE)[1:]]))
        else:
            parts.append(Paragraph(" ".join(lines)))
    return Page(name, title, parts)


def cells_of(line):
    return [cell.strip().replace("\\|", "|") for cell in CELLS.split(line.strip().strip("|"))]
