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
                      Text(cut, base + 28 + 14 * (k % 2), f"{excerpt(self.labels[k], 16)} | {excerpt(self.labels[k + 1], 16)}", "middle")]
        x = at(self.score)
        return [*shapes, Line(x, base - 24, x, base, width=2), Dot(x, base),
                Text(x, base - 30, f"score {self.score:.3g}: {excerpt(self.labels[self.winner], 30)}", "middle", True)]

    def lines(self, width=COLUMNS):
        low, high = min(*self.cuts, self.score), max(*self.cuts, self.score)
        room = 0.18 * (high - low) or 1.0

        def at(value):
            return round((width - 1) * (value - low + room) / (high - low + 2 * room))

        rule = ["─"] * width
        for cut in self.cuts:
            rule[at(cut)] = "┼"
        rule[at(self.score)] = "●"
        names = [(at(cut), f"{excerpt(below, 12)}|{excerpt(above, 12)}")
                 for cut, below, above in zip(self.cuts, self.labels[:-1], self.labels[1:], strict=True)]
        head = (at(self.score), f"score {self.score:.3g}: {excerpt(self.labels[self.winner], 30)}")
        return [*text_lines([head], width), "".join(rule), *text_lines(names, width)]


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
