"""Templates of arcs: which cells of head, dependent, words between them or next sibling make a feature."""

from __future__ import annotations

import re

import attrs

from structperc.errors import DataError, OptionError

MOST_COLUMNS = 1000         # of tokens, for the default template
FARTHEST = 100              # words from a head or dependent to the one a macro reads
MACRO = re.compile(r"%([hdbs])\[\s*(?:([+-]?\d+)\s*,\s*)?([^\],]*?)\s*\]")
LEMMA = "lemma"             # the name of the column of dictionary forms
KINDS = "ALS"               # lines for arcs, their labels, and the next siblings of dependents


@attrs.frozen
class Line:
    """One line: the text apart from its macros, and the cells that each macro reads, as pairs (offset, column)."""
    # text: str. As it was written.
    # kind: {"A", "L", "S"}
    # head, dependent, third: tuple of (int, int). The third word is one between head and dependent, or a sibling.

    text: str
    kind: str
    head: tuple
    dependent: tuple
    third: tuple

    @property
    def rank(self) -> int:
        """The place among lines of its kind, which stand in the order of the words that they read; see `Lines`."""
        if self.kind == "S":
            return 2 if self.head else 1
        return 3 if self.third else 2 if self.head and self.dependent else 1 if self.dependent else 0

    @property
    def literal(self) -> str:
        """The text with the macros' cells left open; two lines with the same text count the same cells."""
        return MACRO.sub("\0", self.text)


def read_lines(text, columns, n_columns, order=1) -> list[Line]:
    """The lines of a template, as `DependencyParser` describes them. Without `columns` macros give numbers; order 2 needs siblings."""
    if not isinstance(text, str):
        raise OptionError(f"the template is {text!r:.60} of type {type(text).__name__}; expected the text of a template.")
    lines = []
    for number, line in enumerate(map(str.strip, text.split("\n")), 1):
        if line and not line.startswith("#"):
            lines.append(read_line(line, f"line {number} of the template, {line!r:.80},", columns, n_columns))
    if not any(line.kind == "A" for line in lines):
        raise OptionError(f"the template {text!r:.80} has no line for arcs, such as 'A:%h[0,0]/%d[0,0]'. Expected the text of a template, "
                          f"not the name of a file.")
    siblings = [line.text for line in lines if line.kind == "S"]
    if order == 1 and siblings:
        raise OptionError(f"the template has lines for siblings, such as {siblings[0]!r:.80}; set order=2, or leave them out.")
    if order == 2 and not siblings:
        raise OptionError("order=2 scores siblings, but the template has no line for them, such as 'S:%s[0,0]/%d[0,0]'.")
    return lines


def read_line(text, where, columns, n_columns) -> Line:
    if text[0] not in KINDS:
        raise OptionError(f"{where} begins with {text[0]!r}. Expected A for a feature of arcs, L for one of their labels, or S for one of "
                          f"siblings.")
    third = "s" if text[0] == "S" else "b"
    cells = {"h": [], "d": [], third: []}
    for side, offset, column in MACRO.findall(text):
        if side not in cells:
            raise OptionError(f"{where} reads %{side}; such lines read %h, %d and %{third}.")
        if side == "b" and offset:
            raise OptionError(f"{where} reads the words between at an offset; expected %b[column].")
        if side != "b" and not offset:
            raise OptionError(f"{where} has %{side}[{column}] without an offset; expected %{side}[offset,column].")
        offset = int(offset or 0)
        if abs(offset) > FARTHEST:
            raise OptionError(f"{where} reads a word {offset} words away; expected at most {FARTHEST}.")
        cells[side].append((offset, column_number(column, where, columns, n_columns)))
    if MACRO.sub("", text).count("%"):
        raise OptionError(f"{where} has a malformed macro; expected %h[offset,column], %d[offset,column], %s[offset,column] or "
                          f"%b[column].")
    return Line(text, text[0], *map(tuple, cells.values()))


def column_number(column, where, columns, n_columns) -> int:
    hint = f"; there are {', '.join(columns)}" if columns else "; give their names in columns="
    if not column.isdecimal():
        if columns is None or column not in columns:
            raise OptionError(f"{where} reads the column {column!r}, but no column has this name{hint}.")
        return list(columns).index(column)
    if int(column) >= n_columns:
        raise DataError(f"tokens have {n_columns} column{'s' * (n_columns != 1)}, but {where} reads column {column}; columns are counted "
                        f"from 0.")
    return int(column)


def default_template(n_columns, order, columns=None) -> str:
    """Features of first order after McDonald, Crammer and Pereira (2005), and of siblings after McDonald and Pereira (2006)."""
    # The first column is taken for forms and all others for tags, the finest first and the coarsest last. With one column this is a tag as
    # well as the form. The words between head and dependent are seen by form and coarsest tag, and two tags beyond head and dependent. If
    # `columns` names a later column "lemma", it is no tag. It is in pairs with itself and with the coarsest tag.
    if n_columns > MOST_COLUMNS:
        raise OptionError(f"tokens have {n_columns} columns, and the default template is for at most {MOST_COLUMNS}; set template.")
    lemmas = [place for place, name in enumerate(columns or ()) if name == LEMMA and place]
    tags = [place for place in range(1, n_columns) if place not in lemmas] or [0]
    form_h, form_d = "%h[0,0]", "%d[0,0]"
    arcs, labels = ["bias", form_h, form_d, f"{form_h}/{form_d}"], ["bias", form_h, form_d, f"{form_h}/{form_d}", "%d[-1,0]", "%d[+1,0]"]
    for t in tags:
        h, d = f"%h[0,{t}]", f"%d[0,{t}]"
        arcs += [h, d, f"{form_h}/{h}", f"{form_d}/{d}", f"{form_h}/{h}/{form_d}/{d}", f"{h}/{form_d}/{d}", f"{form_h}/{h}/{d}",
                 f"{h}/{form_d}", f"{form_h}/{d}", f"{h}/{d}"]
        arcs += [f"{h}/{d}/%{side}[{near},{t}]/%{side}[{far},{t}]" for side in "dh" for near, far in (("+1", "+2"), ("-1", "-2"))]
        labels += [h, d, f"{h}/{d}", f"{form_h}/{d}", f"{h}/{form_d}", f"{h}/%d[-1,{t}]/{d}", f"{h}/{d}/%d[+1,{t}]", f"%h[-1,{t}]/{h}/{d}",
                   f"{h}/%h[+1,{t}]/{d}"]
    fine, coarse = tags[0], tags[-1]
    arcs += [f"%h[0,{fine}]/%d[0,{fine}]/%h[{i},{fine}]/%d[{j},{fine}]" for i in ("+1", "-1") for j in ("-1", "+1")]
    between = f"%h[0,{coarse}]/%d[0,{coarse}]/%b"
    arcs += [f"{between}[{coarse}]", f"{between}[0]"]
    labels += [f"{between}[{coarse}]"]
    for place in lemmas:
        h, d = f"%h[0,{place}]", f"%d[0,{place}]"
        arcs += [h, d, f"{h}/{d}", f"{h}/%d[0,{coarse}]", f"%h[0,{coarse}]/{d}"]
        labels += [h, d, f"{h}/{d}"]
    kinds = {"A": arcs, "L": labels, "S": sibling_features(tags) if order == 2 else []}
    return "\n".join(dict.fromkeys(f"{kind}:{what}" for kind, features in kinds.items() for what in features)) + "\n"


def sibling_features(tags) -> list[str]:
    form_h, form_d, form_s = "%h[0,0]", "%d[0,0]", "%s[0,0]"
    features = [f"{form_s}/{form_d}"]
    for t in tags:
        h, d, s = f"%h[0,{t}]", f"%d[0,{t}]", f"%s[0,{t}]"
        features += [f"{s}/{d}", f"{form_s}/{d}", f"{s}/{form_d}", f"{h}/{s}/{d}"]
    coarse = tags[-1]
    return [*features, f"{form_h}/%s[0,{coarse}]/%d[0,{coarse}]"]
