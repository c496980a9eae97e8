"""Pictures of structures in explanations: a few shapes that are written as SVG, drawn by matplotlib, or shown as text.

Coordinates are pixels from the upper left corner.
"""

from __future__ import annotations

import attrs
import numpy as np

from structperc.core.markup import Markup, element, shown

LETTER, SIZE = 7.0, 12                  # the width of a letter, the height of text
WIDTH = 560                             # of a ruler and of bars
TOKENS = 24                             # of a sentence that are shown
DEEP = 12                               # labels of a token that are shown
COLUMNS = 78                            # of a terminal
FONT = "system-ui,sans-serif"


@attrs.frozen
class Line:
    """A straight line.

    Parameters
    ----------
    x1, y1, x2, y2 : float
        Both ends, in pixels. y grows downwards.
    dashed : bool, default False
    width : float, default 1.0
        In pixels.

    Examples
    --------
    >>> from structperc.pictures import Line
    >>> Line(0.0, 0.0, 10.0, 0.0).width
    1.0
    """

    x1: float
    y1: float
    x2: float
    y2: float
    dashed: bool = False
    width: float = 1.0


@attrs.frozen
class Box:
    """A filled rectangle; `strength` from 0, unseen, to 1.

    Parameters
    ----------
    x, y : float
        The upper left corner, in pixels. y grows downwards.
    width, height : float
    strength : float, default 0.2
        Opacity from 0 to 1.

    Examples
    --------
    >>> from structperc.pictures import Box
    >>> Box(0.0, 0.0, 20.0, 10.0).strength
    0.2
    """

    x: float
    y: float
    width: float
    height: float
    strength: float = 0.2


@attrs.frozen
class Dot:
    """A filled circle.

    Parameters
    ----------
    x, y : float
        The centre, in pixels. y grows downwards.
    radius : float, default 4.0

    Examples
    --------
    >>> from structperc.pictures import Dot
    >>> Dot(5.0, 5.0).radius
    4.0
    """

    x: float
    y: float
    radius: float = 4.0


@attrs.frozen
class Arc:
    """A curve from (x1, y) to an arrow's head at (x2, y). Its top is at `top`, which may be below y.

    Parameters
    ----------
    x1, x2 : float
        Where it begins, and where the arrow's head is, in pixels.
    y, top : float
        Height of both ends, and of the highest point. y grows downwards.
    dashed : bool, default False

    Examples
    --------
    >>> from structperc.pictures import Arc
    >>> Arc(0.0, 40.0, 30.0, 5.0).dashed
    False
    """

    x1: float
    x2: float
    y: float
    top: float
    dashed: bool = False


@attrs.frozen
class Text:
    """A text on one line; y is its base line, `anchor` is "start", "middle" or "end".

    Parameters
    ----------
    x, y : float
        Place of the text, in pixels. y is its base line and grows downwards.
    text : str
    anchor : {"start", "middle", "end"}, default "start"
        Which part of the text is at x.
    strong : bool, default False

    Examples
    --------
    >>> from structperc.pictures import Text
    >>> Text(0.0, 12.0, "bmi").anchor
    'start'
    """

    x: float
    y: float
    text: str = attrs.field(converter=shown)
    anchor: str = "start"
    strong: bool = False


class Picture:
    """How an explanation shows two structures. A subclass overrides `shapes()`, or `svg` and `draw` for another way of drawing.

    Examples
    --------
    >>> from structperc.pictures import Box, Picture, Text
    >>> class Labelled(Picture):
    ...     def shapes(self):
    ...         return [Box(0, 0, 60, 20), Text(4, 14, "chosen")]
    >>> Labelled().extent()[2]
    24
    """

    def shapes(self) -> list:
        """The shapes, in the order in which they cover each other.

        Returns
        -------
        list of Line, Box, Dot, Arc and Text
        """
        raise NotImplementedError

    def extent(self) -> tuple[float, float, float]:
        """How far it reaches to the left, to the right and down, in pixels.

        Returns
        -------
        left, right, bottom : float
        """
        return extent(self.shapes())

    def svg(self) -> str:
        """The picture as an SVG element, in the reader's colour.

        Returns
        -------
        str
        """
        return written(self.shapes())

    def draw(self, ax, top=0.0) -> None:
        """Draws the picture into matplotlib's axes, whose unit is a pixel, from `top` down.

        Parameters
        ----------
        ax : matplotlib.axes.Axes
        top : float, default 0.0
            Height of the picture's upper edge, in pixels.
        """
        drawn(self.shapes(), ax, top)

    def lines(self, width=COLUMNS) -> list[str]:
        """The picture as lines of text, at most `width` characters long; none where it has no such form.

        Parameters
        ----------
        width : int, default 78
            Longest line, in characters.

        Returns
        -------
        list of str
        """
        return []


@attrs.frozen
class Ruler(Picture):
    """Where a score lies among the thresholds between ranks.

    Parameters
    ----------
    labels : sequence of str
        In order.
    cuts : sequence of float
        Of the boundary above each label but the last, on the axis of the score.
    score : float
    winner, rival : int
        Places of labels, from 0.

    Examples
    --------
    >>> from structperc.pictures import Ruler
    >>> picture = Ruler(["low", "high"], [0.5], score=1.2, winner=1, rival=0)
    >>> picture.svg().startswith("<svg")
    True
    """

    labels: list
    cuts: list
    score: float
    winner: int
    rival: int

    def shapes(self):
        low, high = min(*self.cuts, self.score), max(*self.cuts, self.score)
        room = 0.18 * (high - low) or 1.0

        def at(value):
            return 10 + (WIDTH - 20) * (value - low + room) / (high - low + 2 * room)

        ends = [at(low - room), *map(at, self.cuts), at(high + room)]
        base, shapes = 52.0, []
        for place, strength in ((self.rival, 0.12), (self.winner, 0.3)):
            left, right = ends[place], ends[place + 1]
            if left < right:
                shapes.append(Box(left, base - 14, right - left, 28, strength))
        shapes.append(Line(ends[0], base, ends[-1], base))
        for k, cut in enumerate(ends[1:-1]):
            shapes += [Line(cut, base - 14, cut, base + 14),
                      Text(cut, base + 28 + 14 * (k % 2), f"{shown(self.labels[k], 16)} | {shown(self.labels[k + 1], 16)}", "middle")]
        x = at(self.score)
        return [*shapes, Line(x, base - 24, x, base, width=2), Dot(x, base),
                Text(x, base - 30, f"score {self.score:.3g}: {shown(self.labels[self.winner], 30)}", "middle", True)]

    def lines(self, width=COLUMNS):
        low, high = min(*self.cuts, self.score), max(*self.cuts, self.score)
        room = 0.18 * (high - low) or 1.0

        def at(value):
            return round((width - 1) * (value - low + room) / (high - low + 2 * room))

        rule = ["─"] * width
        for cut in self.cuts:
            rule[at(cut)] = "┼"
        rule[at(self.score)] = "●"
        names = [(at(cut), f"{shown(below, 12)}|{shown(above, 12)}")
                 for cut, below, above in zip(self.cuts, self.labels[:-1], self.labels[1:], strict=True)]
        head = (at(self.score), f"score {self.score:.3g}: {shown(self.labels[self.winner], 30)}")
        return [*placed([head], width), "".join(rule), *placed(names, width)]


@attrs.frozen
class Spans(Picture):
    """The labels of tokens in a row per structure; where the structures differ the labels are strong.

    Parameters
    ----------
    tokens : sequence of str
    rows : list of (str, sequence of str)
        The structures' names, and a label for each token.

    Examples
    --------
    >>> from structperc.pictures import Spans
    >>> picture = Spans(["dogs", "bark"], [("predicted", ["NOUN", "VERB"]), ("runner-up", ["NOUN", "NOUN"])])
    >>> picture.differing()
    [1]
    """

    tokens: list
    rows: list

    def differing(self) -> list[int]:
        """The tokens whose labels differ.

        Returns
        -------
        list of int
            Numbers of tokens, from 0.
        """
        return [t for t in range(len(self.tokens)) if len({labels[t] for _, labels in self.rows}) > 1]

    def part(self) -> tuple[int, int]:
        """Which tokens are shown: from two before the first that differs.

        Returns
        -------
        first, last : int
            Numbers of tokens; `last` is the first that is left out.
        """
        first = max(0, min(next(iter(self.differing()), 0) - 2, len(self.tokens) - TOKENS))
        return first, min(len(self.tokens), first + TOKENS)

    def shapes(self):
        differing = self.differing()
        first, last = self.part()
        labels_in_order = sorted({label for _, labels in self.rows for label in labels})
        x = 8 + LETTER * max(len(name) for name, _ in self.rows) + 8
        shapes = [Text(4, 50 + 26 * k, name) for k, (name, _) in enumerate(self.rows)]
        if first:
            shapes.append(Text(x, 22, "…"))
            x += 16
        for t in range(first, last):
            texts = [shown(self.tokens[t], 20), *(shown(labels[t], 16) for _, labels in self.rows)]
            width = (LETTER + 1) * max(map(len, texts)) + 12         # strong letters are wider
            shapes.append(Text(x + width / 2, 22, texts[0], "middle", t in differing))
            for k, (_, labels) in enumerate(self.rows):
                strength = 0.08 + 0.32 * labels_in_order.index(labels[t]) / max(1, len(labels_in_order) - 1)
                shapes += [Box(x + 1, 34 + 26 * k, width - 2, 22, strength),
                          Text(x + width / 2, 50 + 26 * k, texts[k + 1], "middle", t in differing)]
            x += width
        return [*shapes, Text(x + 2, 22, "…")] if last < len(self.tokens) else shapes

    def lines(self, width=COLUMNS):
        differing = self.differing()
        names = ["", *(name for name, _ in self.rows), ""]
        margin = max(map(len, names)) + 2
        lines, part = [], []
        for t in range(*self.part()):
            cells = [shown(self.tokens[t], 20), *(shown(labels[t], 16) for _, labels in self.rows)]
            size = max(map(len, cells))
            column = [cell.ljust(size + 2) for cell in (*cells, "^" * size if t in differing else "")]
            if part and margin + sum(len(one[0]) for one in part) + size > width:
                lines += joined(names, margin, part)
                part = []
            part.append(column)
        return lines + joined(names, margin, part)


@attrs.frozen
class Choices(Picture):
    """The labels that each token may have, below it: a certain one strong on a firm ground, open ones pale.

    Parameters
    ----------
    tokens : sequence of str
    choices : sequence of list of (str, bool)
        For each token its labels, and whether each is certain.

    Examples
    --------
    >>> from structperc.pictures import Choices
    >>> picture = Choices(["time", "flies"], [[("NOUN", True)], [("VERB", False), ("NOUN", False)]])
    >>> picture.svg().startswith("<svg")
    True
    """

    tokens: list
    choices: list

    def shapes(self):
        x, shapes = 4.0, []
        for token, labels in list(zip(self.tokens, self.choices, strict=True))[:TOKENS]:
            texts = [shown(token, 20), *(shown(label, 24) for label, _ in labels[:DEEP])]
            if len(labels) > DEEP:
                texts.append(f"{len(labels) - DEEP} more")
            width = (LETTER + 1) * max(map(len, texts)) + 12
            shapes.append(Text(x + width / 2, 22, texts[0], "middle"))
            for k, text in enumerate(texts[1:]):
                certain = k < len(labels) and labels[k][1]
                shapes += [Box(x + 1, 34 + 26 * k, width - 2, 22, 0.45 if certain else 0.08),
                          Text(x + width / 2, 50 + 26 * k, text, "middle", certain)]
            x += width
        return [*shapes, Text(x + 2, 22, "…")] if len(self.tokens) > TOKENS else shapes

    def lines(self, width=COLUMNS):
        size = max((len(shown(token, 20)) for token in self.tokens), default=0)
        return [f"{shown(token, 20):<{size}}  {' | '.join(f'[{label}]' if certain else label for label, certain in labels)}".strip()[:width]
                for token, labels in zip(self.tokens, self.choices, strict=True)]


class Display:
    """How users see the atoms of an example: by names, marginals and pictures.

    Parameters
    ----------
    outputs : Outputs

    Examples
    --------
    >>> from structperc import Engine
    >>> engine = Engine("cusum").fit([[0.0], [1.0], [2.0]], [1, 2, 3])
    >>> display = engine.parts_.outputs.display()
    >>> display.atom_names(engine.model_.example(engine.read([[1.0]]), 0))
    ['> 1', '> 2']
    """

    def __init__(self, outputs):
        self.outputs = outputs

    def atom_names(self, x) -> list[str]:
        """Names of the atoms, for `explain`.

        Parameters
        ----------
        x : Example

        Returns
        -------
        list of str
        """
        return [f"atom {a}" for a in range(x.n_atoms)]

    def marginals(self, x, expected) -> object:
        """What `predict_marginals` returns of an example.

        Parameters
        ----------
        x : Example
        expected : float64 array of shape (n_atoms,)
            Expected counts of atoms.

        Returns
        -------
        object
        """
        return expected

    def picture(self, given, x, scores, structures) -> Picture | None:
        """The winner and its rival, above the bars of features.

        Parameters
        ----------
        given : object
            The example as the user passed it.
        x : Example
        scores : float64 array of shape (n_atoms,)
        structures : pair of encoded structures
            The winner and its rival.

        Returns
        -------
        structperc.pictures.Picture or None
        """
        return None

    def local_atoms(self, x) -> np.ndarray:
        """The atoms that belong to one place of x each. Shared atoms such as transitions are left out.

        Parameters
        ----------
        x : Example

        Returns
        -------
        int array
        """
        return np.arange(x.n_atoms)

    def picture_of_set(self, given, x, states) -> Picture | None:
        """A set of structures: certain atoms dark, other possible atoms pale.

        Parameters
        ----------
        given : object
            The example as the user passed it.
        x : Example
        states : int array of shape (n_atoms,)
            2: in every structure of the set; 1: in some; 0: in none.

        Returns
        -------
        structperc.pictures.Picture or None
        """
        names = self.atom_names(x)
        return Choices([""], [[(names[a], bool(states[a] == 2)) for a in self.local_atoms(x) if states[a]]])


def arcs_between(texts, marked, labels, above, below) -> list:
    """Shapes of words in a row with arcs above, and dashed ones below.

    Parameters
    ----------
    texts : list of str
        Words.
    marked : collection of int
        Words that are strong, from 1.
    labels : sequence of str
        A label for each word that has to fit below its arc.
    above, below : list of (int, int, str)
        Numbers of words from 1, those of their heads, 0 for the root, and labels or "".
    """
    ends = [0.0]
    for word, label in zip(texts, labels, strict=False):
        ends.append(ends[-1] + LETTER * max(len(word), len(shown(label, 12))) + 22)
    centres = [(left + right) / 2 for left, right in zip(ends, ends[1:], strict=False)]
    levels, deeper = arc_levels([arc[:2] for arc in above]), arc_levels([arc[:2] for arc in below])
    base = 24.0 * (max(levels, default=0) + 1)
    shapes = [Text(centre, base + 16, word, "middle", n in marked)
             for n, (centre, word) in enumerate(zip(centres, texts, strict=True), 1)]
    for arcs, depths, y, way in ((above, levels, base, -1), (below, deeper, base + 24, 1)):
        deepest = max(depths, default=0)
        for (m, head, label), level in zip(arcs, depths, strict=True):
            top = y + way * 24 * (level if head else max(deepest, 1))
            if head:
                start = centres[head - 1] + (6 if head < m else -6)
                shapes.append(Arc(start, centres[m - 1], y, top, way > 0))
            else:
                start = centres[m - 1]
                shapes.append(Line(start, top, start, y, way > 0))
            if label:
                middle = (start + centres[m - 1]) / 2
                height = y + (0.75 if head else 1) * (top - y)
                shapes.append(Text(middle, height + (12 if way > 0 else -3), shown(label, 12), "middle"))
    return shapes


@attrs.frozen
class ArcChoices(Picture):
    """Arcs that words in a row may have: certain ones above, open ones dashed below.

    Parameters
    ----------
    words : sequence of str
    arcs : list of (int, int, str, bool)
        Number of a word from 1, of its head (0 for the root), a label or "", and whether the arc is certain.

    Examples
    --------
    >>> from structperc.pictures import ArcChoices
    >>> picture = ArcChoices(["dogs", "bark"], [(1, 2, "nsubj", True), (2, 0, "root", True)])
    >>> picture.svg().startswith("<svg")
    True
    """

    words: list
    arcs: list

    def shapes(self):
        words = [shown(word, 20) for word in self.words[:2 * TOKENS]]
        drawn = [arc for arc in self.arcs if max(arc[:2]) <= len(words)]
        longest = [max((label for m, _, label, _ in drawn if m == n), key=len, default="") for n in range(1, len(words) + 1)]
        above, below = ([arc[:3] for arc in drawn if arc[3] == certain] for certain in (True, False))
        return arcs_between(words, {arc[0] for arc in above}, longest, above, below)

    def lines(self, width=COLUMNS):
        words = ["(root)", *(shown(word, 20) for word in self.words)]
        size, lines = max(map(len, words)), []
        for n, word in enumerate(words[1:], 1):
            heads = [f"{head} {words[head]} {label}".rstrip() if head else f"(root) {label}".rstrip() for m, head, label, _ in self.arcs
                     if m == n]
            certain = any(arc[0] == n and arc[3] for arc in self.arcs)
            lines.append(f"{n:>3} {word:<{size}}  ← {f'[{heads[0]}]' if certain else ' | '.join(heads)}".rstrip()[:width])
        return lines


@attrs.frozen
class Arcs(Picture):
    """Arcs between words in a row: those of the first structure above, those of the second that differ dashed below.

    Parameters
    ----------
    words : sequence of str
    heads, rival_heads : sequence of (int, str)
        The number of each word's head, from 1, 0 for the root, and a label or "".

    Examples
    --------
    >>> from structperc.pictures import Arcs
    >>> picture = Arcs(["dogs", "bark"], [(2, "nsubj"), (0, "root")], [(0, "root"), (1, "obj")])
    >>> picture.svg().startswith("<svg")
    True
    """

    words: list
    heads: list
    rival_heads: list

    def shapes(self):
        words = [shown(word, 20) for word in self.words[:2 * TOKENS]]
        above = [(m, *arc) for m, arc in enumerate(self.heads[:len(words)], 1) if arc[0] <= len(words)]
        below = [(m, *arc) for m, arc in enumerate(self.rival_heads[:len(words)], 1) if arc[0] <= len(words) and arc != self.heads[m - 1]]
        return arcs_between(words, {m for m, _, _ in below}, [label for _, label in self.heads], above, below)

    def lines(self, width=COLUMNS):
        words = [shown(word, 20) for word in self.words]

        def arc(head, label):
            text = f"← {head} {words[head - 1]}" if head else "← (root)"
            return f"{text} {shown(label, 12)}".rstrip()

        arcs = [arc(*head) for head in self.heads]
        first, second = max(map(len, words), default=0), max(map(len, arcs), default=0)
        lines = []
        for n, (word, said, head, rival) in enumerate(zip(words, arcs, self.heads, self.rival_heads, strict=True), 1):
            other = f"  rival {arc(*rival)}" if rival != head else ""
            lines.append(f"{n:>3} {word:<{first}}  {said:<{second}}{other}".rstrip()[:width])
        return lines


@attrs.frozen
class Bars(Picture):
    """Bars to the right of a line for the winner, to the left for its rival, below headings.

    Parameters
    ----------
    left, right : str
        What each side speaks for.
    groups : list of (str, list of (str, float))
        Headings, and the bars below: names and values.

    Examples
    --------
    >>> from structperc.pictures import Bars
    >>> picture = Bars("for 2", "for 1", [("for > 1", [("bmi", 0.8), ("age", -0.2)])])
    >>> picture.svg().startswith("<svg")
    True
    """

    left: str
    right: str
    groups: list

    def shapes(self):
        bars = [bar for _, group in self.groups for bar in group]
        middle, reach = 330.0, WIDTH - 390.0
        largest = max((abs(value) for _, value in bars), default=0) or 1.0
        y, shapes = 34.0, [Text(middle - 8, 14, f"← for {shown(self.left, 28)}", "end"),
                          Text(middle + 8, 14, f"for {shown(self.right, 28)} →")]
        for heading, group in self.groups:
            shapes.append(Text(4, y, heading, strong=True))
            for name, value in group:
                y += 18
                length = reach * abs(value) / largest
                shapes += [Text(16, y, shown(name, 24)), Box(middle - (length if value < 0 else 0), y - 11, max(length, 1), 14, 0.75),
                          Text(WIDTH - 4, y, f"{value:+.4g}", "end")]
            y += 24
        return [Line(middle, 22, middle, y - 14), *shapes]

    def lines(self, width=COLUMNS):
        bars = [bar for _, group in self.groups for bar in group]
        largest = max((abs(value) for _, value in bars), default=0) or 1.0
        names = min(width // 3, max((len(name) for name, _ in bars), default=0))
        reach = max(4, (width - names - 16) // 2)
        left, right = f"← {shown(self.left, reach - 2)}", f"{shown(self.right, reach - 2)} →"
        lines = [f"{'':{names + 3}}{left:>{reach}} │ {right}"]
        for heading, group in self.groups:
            lines.append(shown(heading, width))
            for name, value in group:
                bar = "█" * max(1, round(reach * abs(value) / largest))
                sides = (bar, "") if value < 0 else ("", bar)
                lines.append(f"  {shown(name, names):<{names}} {sides[0]:>{reach}} │ {sides[1]:<{reach}} {value:+.4g}")
        return lines


# ---- text ----


def placed(texts, width) -> list[str]:
    """Texts centred at columns, in as few lines as they fit in without touching; a text stays within the width."""
    lines = []
    for at, text in texts:
        start = max(0, min(at - (len(text) - 1) // 2, width - len(text)))
        line = next((k for k, filled in enumerate(lines) if len(filled) < start or not filled), len(lines))
        if line == len(lines):
            lines.append("")
        lines[line] = lines[line].ljust(start) + text
    return lines


def joined(names, margin, columns) -> list[str]:
    """Columns of cells beside their rows' names; a last row without any mark is left out."""
    rows = [name.ljust(margin) + "".join(column[k] for column in columns) for k, name in enumerate(names)]
    return [row.rstrip() for row in rows if row.strip()]


# ---- shapes ----


def arc_levels(arcs) -> list[int]:
    """How high each arc (word, head) goes: one above the highest arc that it spans; those from the root, 0, go to the top.

    Parameters
    ----------
    arcs : sequence of (int, int)
        Word and head, from 1; 0 is the root.

    Returns
    -------
    list of int
        Levels from 1.

    Examples
    --------
    >>> from structperc.pictures import arc_levels
    >>> arc_levels([(1, 2), (3, 1)])
    [1, 2]
    """
    spans = [(min(arc), max(arc)) for arc in arcs]
    levels = [0] * len(arcs)
    for i in sorted(range(len(arcs)), key=lambda i: spans[i][1] - spans[i][0]):
        low, high = spans[i]
        below = [levels[j] for j in range(len(arcs)) if j != i and arcs[j][1] and low <= spans[j][0] and spans[j][1] <= high]
        levels[i] = 1 + max(below, default=0) if arcs[i][1] else 0
    return levels


def text_ends(text: Text) -> tuple[float, float]:
    """Where a text begins and ends, estimated by the mean width of letters."""
    width = LETTER * len(text.text)
    start = text.x - {"start": 0, "middle": width / 2, "end": width}[text.anchor]
    return start, start + width


def extent(shapes) -> tuple[float, float, float]:
    """How far shapes reach to the left, to the right and down."""
    x, y = [0.0], [1.0]
    for shape in shapes:
        if isinstance(shape, Text):
            x += text_ends(shape)
            y.append(shape.y + 5)
        elif isinstance(shape, Box):
            x.append(shape.x + shape.width)
            y.append(shape.y + shape.height)
        elif isinstance(shape, Dot):
            x.append(shape.x + shape.radius)
            y.append(shape.y + shape.radius)
        elif isinstance(shape, Arc):
            x += [shape.x1, shape.x2]
            y += [shape.y, shape.top]
        else:
            x += [shape.x1, shape.x2]
            y += [shape.y1, shape.y2]
    return min(x) - 4, max(x) + 4, max(y) + 4


def written(shapes) -> Markup:
    """Shapes as an SVG element."""
    shapes = list(shapes)
    left, right, height = extent(shapes)
    width = right - left
    said = ", ".join(shape.text for shape in shapes if isinstance(shape, Text)) or "picture"         # for readers who hear it
    return element("svg", *map(as_svg, shapes), xmlns="http://www.w3.org/2000/svg", width=f"{width:.0f}", height=f"{height:.0f}",
                   viewBox=f"{left:.0f} 0 {width:.0f} {height:.0f}", font_family=FONT, font_size=SIZE, role="img", aria_label=said,
                   fill="currentColor")


def as_svg(shape) -> Markup:
    dashes = "4 3" if getattr(shape, "dashed", False) else None
    if isinstance(shape, Line):
        return element("line", x1=f"{shape.x1:.1f}", y1=f"{shape.y1:.1f}", x2=f"{shape.x2:.1f}", y2=f"{shape.y2:.1f}",
                       stroke="currentColor", stroke_width=shape.width if shape.width != 1 else None, stroke_dasharray=dashes)
    if isinstance(shape, Box):
        return element("rect", x=f"{shape.x:.1f}", y=f"{shape.y:.1f}", width=f"{shape.width:.1f}", height=f"{shape.height:.1f}",
                       class_="tone", fill_opacity=f"{shape.strength:.2f}")
    if isinstance(shape, Dot):
        return element("circle", cx=f"{shape.x:.1f}", cy=f"{shape.y:.1f}", r=f"{shape.radius:g}")
    if isinstance(shape, Arc):
        y, way = shape.y, 4 if shape.top > shape.y else -4
        return Markup(element("path", d=f"M{shape.x1:.1f},{y:.1f} C{shape.x1:.1f},{shape.top:.1f} {shape.x2:.1f},{shape.top:.1f} "
                                        f"{shape.x2:.1f},{y + way:.1f}", fill="none", stroke="currentColor", stroke_dasharray=dashes)
                      + element("polygon", points=f"{shape.x2 - 3:.1f},{y + 2 * way:.1f} {shape.x2:.1f},{y:.1f} "
                                                  f"{shape.x2 + 3:.1f},{y + 2 * way:.1f}"))
    return element("text", shape.text, x=f"{shape.x:.1f}", y=f"{shape.y:.1f}",
                   text_anchor=None if shape.anchor == "start" else shape.anchor, font_weight="bold" if shape.strong else None)


def drawn(shapes, ax, top=0.0) -> None:
    """Draws shapes into matplotlib's axes, `top` pixels down."""
    for shape in shapes:
        style = "--" if getattr(shape, "dashed", False) else "-"
        if isinstance(shape, Line):
            ax.plot([shape.x1, shape.x2], [shape.y1 + top, shape.y2 + top], color="black", linewidth=0.75 * shape.width, linestyle=style)
        elif isinstance(shape, Box):
            ax.bar(shape.x, shape.height, shape.width, shape.y + top, align="edge", color="#0b6e8f", alpha=shape.strength, linewidth=0)
        elif isinstance(shape, Dot):
            ax.plot([shape.x], [shape.y + top], marker="o", color="black", markersize=1.5 * shape.radius)
        elif isinstance(shape, Arc):
            t = [i / 24 for i in range(25)]
            x = [(1 - s) ** 2 * (1 + 2 * s) * shape.x1 + s * s * (3 - 2 * s) * shape.x2 for s in t]
            ax.plot(x, [top + shape.y + 3 * s * (1 - s) * (shape.top - shape.y) for s in t], color="black", linewidth=0.75, linestyle=style)
            ax.plot([shape.x2], [shape.y + top], marker="^" if shape.top > shape.y else "v", color="black", markersize=3)
        else:
            ax.text(shape.x, shape.y + top, shape.text, ha={"start": "left", "middle": "center", "end": "right"}[shape.anchor],
                    va="baseline", fontsize=9, fontweight="bold" if shape.strong else None, parse_math=False, clip_on=True)


# ---- tokens ----


def token_texts(tokens, n) -> list[str]:
    """The names of the n tokens of one example, if users passed names. Otherwise their places, from 0.

    Parameters
    ----------
    tokens : object
        The example as users passed it.
    n : int
        Number of tokens.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from structperc.pictures import token_texts
    >>> token_texts([["word=the"], ["word=dog"]], 2)
    ['the', 'dog']
    """
    if isinstance(tokens, (list, tuple)) and len(tokens) == n and all(isinstance(token, (str, dict, list, tuple, set)) for token in tokens):
        return [token_text(token) for token in tokens]
    if isinstance(tokens, (list, tuple)) and len(tokens) == 1:
        return token_texts(tokens[0], n)
    return [str(t) for t in range(n)]


def token_text(token) -> str:
    """The text of a token: itself, or the first text among its features, without the name of the feature."""
    entries = [token] if isinstance(token, str) else token.values() if isinstance(token, dict) else token
    texts = sorted(entry for entry in entries if isinstance(entry, str)) if isinstance(token, set) else entries
    first = next((entry for entry in texts if isinstance(entry, str)), "?")
    return first.partition("=")[2] or first
