"""Words in a row, with arcs from their heads."""

from __future__ import annotations

import attrs

from structperc.pictures.markup import excerpt
from structperc.pictures.shapes import COLUMNS, LETTER, Arc, Line, Picture, Text

WORDS = 48                              # of a sentence that are drawn


@attrs.frozen
class ArcChoices(Picture):
    """Arcs that words in a row may have: certain ones above, open ones dashed below.

    Parameters
    ----------
    words : sequence of str
    arcs : list of (int, int, str, bool)
        The word, from 1. Its head; 0 is the root. A label or "". Whether the arc is certain.

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
        words = [excerpt(word, 20) for word in self.words[:WORDS]]
        drawn = [arc for arc in self.arcs if max(arc[:2]) <= len(words)]
        longest = [max((label for m, _, label, _ in drawn if m == n), key=len, default="") for n in range(1, len(words) + 1)]
        above, below = ([arc[:3] for arc in drawn if arc[3] == certain] for certain in (True, False))
        return arcs_between(words, {arc[0] for arc in above}, longest, above, below)

    def lines(self, width=COLUMNS):
        words = ["(root)", *(excerpt(word, 20) for word in self.words)]
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
        words = [excerpt(word, 20) for word in self.words[:WORDS]]
        above = [(m, *arc) for m, arc in enumerate(self.heads[:len(words)], 1) if arc[0] <= len(words)]
        below = [(m, *arc) for m, arc in enumerate(self.rival_heads[:len(words)], 1) if arc[0] <= len(words) and arc != self.heads[m - 1]]
        return arcs_between(words, {m for m, _, _ in below}, [label for _, label in self.heads], above, below)

    def lines(self, width=COLUMNS):
        words = [excerpt(word, 20) for word in self.words]

        def arc(head, label):
            text = f"← {head} {words[head - 1]}" if head else "← (root)"
            return f"{text} {excerpt(label, 12)}".rstrip()

        arcs = [arc(*head) for head in self.heads]
        first, second = max(map(len, words), default=0), max(map(len, arcs), default=0)
        lines = []
        for n, (word, said, head, rival) in enumerate(zip(words, arcs, self.heads, self.rival_heads, strict=True), 1):
            other = f"  rival {arc(*rival)}" if rival != head else ""
            lines.append(f"{n:>3} {word:<{first}}  {said:<{second}}{other}".rstrip()[:width])
        return lines


def arcs_between(texts, marked, labels, above, below) -> list:
    """Shapes of words in a row with arcs (word, head, label) above, and dashed ones below. The labels have to fit below their arcs."""
    ends = [0.0]
    for word, label in zip(texts, labels, strict=False):
        ends.append(ends[-1] + LETTER * max(len(word), len(excerpt(label, 12))) + 22)
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
                shapes.append(Text(middle, height + (12 if way > 0 else -3), excerpt(label, 12), "middle"))
    return shapes


def arc_levels(arcs) -> list[int]:
    """How high each arc (word, head) goes: one above the highest arc that it spans; those from the root, 0, go to the top.
    Returns a list of int. Levels from 1.

    Parameters
    ----------
    arcs : sequence of (int, int)
        Word and head, from 1; 0 is the root.

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
