"""A score among the thresholds between ranks."""

from __future__ import annotations

import attrs

from structperc.pictures.markup import excerpt
from structperc.pictures.shapes import COLUMNS, WIDTH, Box, Dot, Line, Picture, Text


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
    start : float, optional
        The score of the baseline, from which a line leads to the score.

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
    start: float | None = None

    def range(self) -> tuple[float, float]:
        """The least and the largest value that is marked.

        Returns
        -------
        low, high : float
        """
        values = [*self.cuts, self.score, *([] if self.start is None else [self.start])]
        return min(values), max(values)

    def title(self) -> str:
        """The score in words."""
        way = "" if self.start is None else f", from {self.start:.3g}"
        return f"score {self.score:.3g}{way}: {excerpt(self.labels[self.winner], 30)}"

    def shapes(self):
        low, high = self.range()
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
                      Text(cut, base + 28 + 14 * (k % 2), f"{excerpt(self.labels[k], 16)} | {excerpt(self.labels[k + 1], 16)}", "middle")]
        x = at(self.score)
        if self.start is not None:
            begin = at(self.start)
            shapes += [Line(begin, base - 8, begin, base + 8, width=2), Line(begin, base, x, base, width=4)]
        return [*shapes, Line(x, base - 24, x, base, width=2), Dot(x, base), Text(x, base - 30, self.title(), "middle", True)]

    def lines(self, width=COLUMNS):
        low, high = self.range()
        room = 0.18 * (high - low) or 1.0

        def at(value):
            return round((width - 1) * (value - low + room) / (high - low + 2 * room))

        rule = ["─"] * width
        for cut in self.cuts:
            rule[at(cut)] = "┼"
        if self.start is not None:
            rule[at(self.start)] = "○"
        rule[at(self.score)] = "●"
        names = [(at(cut), f"{excerpt(below, 12)}|{excerpt(above, 12)}")
                 for cut, below, above in zip(self.cuts, self.labels[:-1], self.labels[1:], strict=True)]
        return [*text_lines([(at(self.score), self.title())], width), "".join(rule), *text_lines(names, width)]


def text_lines(texts, width) -> list[str]:
    """Texts centred at columns, in as few lines as they fit in without touching; a text stays within the width."""
    lines = []
    for at, text in texts:
        start = max(0, min(at - (len(text) - 1) // 2, width - len(text)))
        line = next((k for k, filled in enumerate(lines) if len(filled) < start or not filled), len(lines))
        if line == len(lines):
            lines.append("")
        lines[line] = lines[line].ljust(start) + text
    return lines
