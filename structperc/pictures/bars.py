"""What speaks for a winner and for its rival, as bars."""

from __future__ import annotations

import math

import attrs

from structperc.pictures.markup import excerpt
from structperc.pictures.shapes import COLUMNS, WIDTH, Box, Line, Picture, Text


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
        y, shapes = 34.0, [Text(middle - 8, 14, f"← for {excerpt(self.left, 28)}", "end"),
                          Text(middle + 8, 14, f"for {excerpt(self.right, 28)} →")]
        for heading, group in self.groups:
            shapes.append(Text(4, y, heading, strong=True))
            for name, value in group:
                y += 18
                length = reach * abs(value) / largest
                shapes += [Text(16, y, excerpt(name, 24)), Box(middle - (length if value < 0 else 0), y - 11, max(length, 1), 14, 0.75),
                          Text(WIDTH - 4, y, written(value, largest), "end")]
            y += 24
        return [Line(middle, 22, middle, y - 14), *shapes]

    def lines(self, width=COLUMNS):
        bars = [bar for _, group in self.groups for bar in group]
        largest = max((abs(value) for _, value in bars), default=0) or 1.0
        names = min(width // 3, max((len(name) for name, _ in bars), default=0))
        reach = max(4, (width - names - 16) // 2)
        left, right = f"← {excerpt(self.left, reach - 2)}", f"{excerpt(self.right, reach - 2)} →"
        lines = [f"{'':{names + 3}}{left:>{reach}} │ {right}"]
        for heading, group in self.groups:
            lines.append(excerpt(heading, width))
            for name, value in group:
                bar = "█" * max(1, round(reach * abs(value) / largest))
                sides = (bar, "") if value < 0 else ("", bar)
                lines.append(f"  {excerpt(name, names):<{names}} {sides[0]:>{reach}} │ {sides[1]:<{reach}} {written(value, largest)}")
        return lines


def written(value, largest) -> str:
    """The value with as many decimals as leave three digits of the largest one: decimal points are below each other."""
    decimals = max(0, 2 - math.floor(math.log10(largest)))
    return f"{round(value, decimals) + 0.0:+.{decimals}f}" if decimals < 6 and largest < 1e6 else f"{value:+.3g}"
