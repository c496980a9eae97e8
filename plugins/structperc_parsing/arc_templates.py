"""Templates of arcs: which cells of the head, of the dependent and of the words between them make a feature."""

from __future__ import annotations

import re

import attrs

from structperc.errors import DataError, OptionError

FARTHEST = 100              # words from a head or dependent to the one a macro reads
MACRO = re.compile(r"%([hdb])\[\s*(?:([+-]?\d+)\s*,\s*)?([^\],]*?)\s*\]")
KINDS = {"A": "arcs", "L": "labels"}


@attrs.frozen
class Line:
    """One line: the text apart from its macros, and the cells that each macro reads, as pairs (offset, column).

    Attributes
    ----------
    text : str
        As it was written.
    of_labels : bool
        Whether it describes labels of arcs, or arcs.
    head, dependent, between : tuple of (int, int)
    """

    text: str
    of_labels: bool
    head: tuple
    dependent: tuple
    between: tuple

    @property
    def literal(self) -> str:
        """The text with the macros' cells left open; two lines with the same text count the same cells."""
        return MACRO.sub("\0", self.text)


def read_lines(text, columns, n_columns) -> list[Line]:
    """The lines of a template; see `DependencyParser` for what they may hold.

    Parameters
    ----------
    text : str
    columns : sequence of str or None
        Names of the columns; without them macros give their numbers.
    n_columns : int
        How many columns the tokens have.
    """
    if not isinstance(text, str):
        raise OptionError(f"the template is {text!r:.60} of type {type(text).__name__}; expected the text of a template.")
    lines = []
    for number, line in enumerate(map(str.strip, text.split("\n")), 1):
        if line and not line.startswith("#"):
            lines.append(read_line(line, f"line {number} of the template, {line!r:.80},", columns, n_columns))
    if not any(not line.of_labels for line in lines):
        raise OptionError(f"the template {text!r:.80} has no line for arcs, such as 'A:%h[0,0]/%d[0,0]'; expected the text of a template, "
                          f"not the name of a file.")
    return lines


def read_line(text, where, columns, n_columns) -> Line:
    if text[0] not in KINDS:
        raise OptionError(f"{where} begins with {text[0]!r}; expected A for a feature of arcs, or L for one of their labels.")
    cells = {"h": [], "d": [], "b": []}
    for side, offset, column in MACRO.findall(text):
        if side == "b" and offset:
            raise OptionError(f"{where} reads the words between at an offset; expected %b[column].")
        if side != "b" and not offset:
            raise OptionError(f"{where} has %{side}[{column}] without an offset; expected %{side}[offset,column].")
        offset = int(offset or 0)
        if abs(offset) > FARTHEST:
            raise OptionError(f"{where} reads a word {offset} words away; expected at most {FARTHEST}.")
        cells[side].append((offset, column_number(column, where, columns, n_columns)))
    if MACRO.sub("", text).count("%"):
        raise OptionError(f"{where} has a malformed macro; expected %h[offset,column], %d[offset,column] or %b[column].")
    return Line(text, text[0] == "L", tuple(cells["h"]), tuple(cells["d"]), tuple(cells["b"]))


def column_number(column, where, columns, n_columns) -> int:
    known = f"; there are {', '.join(columns)}" if columns else "; give their names in columns="
    if not column.isdecimal():
        if columns is None or column not in columns:
            raise OptionError(f"{where} reads the column {column!r}, but no column has this name{known}.")
        return list(columns).index(column)
    if int(column) >= n_columns:
        raise DataError(f"tokens have {n_columns} column{'s' * (n_columns != 1)}, but {where} reads column {column}; columns are counted "
                        f"from 0.")
    return int(column)


def default_template(n_columns) -> str:
    """McDonald's features of first order (2005), where the first column is taken for forms and all others for tags.

    A tag is read in the neighbourhood of head and dependent too, and between them. With one column this is the tag as well as the form.
    """
    form, tags = 0, range(1, n_columns) if n_columns > 1 else [0]
    lines = [f"A:{what}" for what in sides(form)] + ["A:bias"]
    lines += [f"A:%h[0,{form}]/%d[0,{form}]", f"L:%h[0,{form}]/%d[0,{form}]"]
    lines += [f"L:{what}" for what in sides(form)] + ["L:bias", f"L:%d[-1,{form}]", f"L:%d[+1,{form}]"]
    for t in tags:
        h, d = f"%h[0,{t}]", f"%d[0,{t}]"
        hf, df = f"%h[0,{form}]", f"%d[0,{form}]"
        pairs = [h, d, f"{hf}/{h}", f"{df}/{d}", f"{hf}/{h}/{df}/{d}", f"{h}/{df}/{d}", f"{hf}/{h}/{d}", f"{h}/{df}", f"{hf}/{d}",
                 f"{h}/{d}"]
        around = [f"{h}/%h[+1,{t}]/%d[-1,{t}]/{d}", f"%h[-1,{t}]/{h}/%d[-1,{t}]/{d}", f"{h}/%h[+1,{t}]/{d}/%d[+1,{t}]",
                  f"%h[-1,{t}]/{h}/{d}/%d[+1,{t}]"]
        trios = [f"{h}/%d[-1,{t}]/{d}", f"{h}/{d}/%d[+1,{t}]", f"%h[-1,{t}]/{h}/{d}", f"{h}/%h[+1,{t}]/{d}",
                 f"{h}/%d[-1,{t}]/{d}/%d[+1,{t}]", f"%h[-1,{t}]/{h}/%h[+1,{t}]/{d}"]
        lines += [f"A:{what}" for what in (*pairs, *around, *trios, f"{h}/{d}/%b[{t}]")]
        lines += [f"L:{what}" for what in (h, d, f"{h}/{d}", f"{hf}/{d}", f"{h}/{df}", *trios, f"{h}/{d}/%b[{t}]")]
    return "\n".join(dict.fromkeys(lines)) + "\n"


def sides(column) -> list[str]:
    return [f"%h[0,{column}]", f"%d[0,{column}]"]
