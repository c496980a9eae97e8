"""Dependency trees as SVG pictures: words in a row, arcs above them.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

from html import escape

from structperc.errors import DataError
from structperc.pictures import arc_levels
from structperc_parsing.heads import is_labelled

LETTER, GAP, LEVEL, LINE = 8, 24, 26, 20           # of a monospaced letter, between words, between arcs above each other, of text


def draw_tree(words, tree) -> str:
    """The text of an SVG picture of a tree. Raises `DataError` when there are not as many heads as words, or a head is no word.

    Parameters
    ----------
    words : sequence of str, or of tuples of a word and an optional text to write below it
    tree : sequence of heads, or of pairs (head, label)

    Examples
    --------
    >>> from structperc_parsing.drawing import draw_tree
    >>> picture = draw_tree([("dogs", "NOUN"), ("bark", "VERB")], [(2, "nsubj"), (0, "root")])
    >>> picture.startswith("<svg") and picture.count("<path") == 2
    True
    """
    words = [(word,) if isinstance(word, str) else tuple(word)[:2] for word in words]
    arcs = [(int(arc[0]), str(arc[1])) for arc in tree] if is_labelled([tree]) else [(int(head), "") for head in tree]
    if len(words) != len(arcs):
        raise DataError(f"{len(words)} words and {len(arcs)} heads were given; expected a head for each word.")
    for m, (head, _) in enumerate(arcs, 1):
        if not 0 <= head <= len(words):
            raise DataError(f"word {m} has the head {head}; expected a number from 0 (the root) to {len(words)}.")
    widths = [LETTER * max(map(len, (*word, label))) + GAP for word, (_, label) in zip(words, arcs, strict=True)]
    centres = [sum(widths[:m]) + widths[m] / 2 for m in range(len(words))]
    levels = arc_levels([(m, head) for m, (head, _) in enumerate(arcs, 1)])
    base = LEVEL * (max(levels, default=0) + 1)
    rows = max(map(len, words), default=1)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{sum(widths):g}" height="{base + LINE * (rows + 1):g}" '
             f'font-family="monospace" font-size="13" text-anchor="middle">']
    for m, (word, (head, label), level) in enumerate(zip(words, arcs, levels, strict=True), 1):
        to, top = centres[m - 1], base - LEVEL * level
        start = to if head == 0 else centres[head - 1] + (5 if head < m else -5)
        if head == 0:
            path, at = f"M{to:g},{LEVEL / 2:g} V{base - 4:g}", to
        else:
            path, at = f"M{start:g},{base:g} C{start:g},{top:g} {to:g},{top:g} {to:g},{base - 4:g}", (start + to) / 2
        height = LEVEL / 2 if head == 0 else base - 0.75 * LEVEL * level
        parts.append(f'<path d="{path}" fill="none" stroke="#555"/>'
                     f'<polygon points="{to - 3:g},{base - 8:g} {to:g},{base - 2:g} {to + 3:g},{base - 8:g}"/>')
        if label:
            parts.append(f'<text x="{at:g}" y="{height - 3:g}" font-size="10" fill="#06c">{escape(label)}</text>')
        parts += [f'<text x="{to:g}" y="{base + LINE * (row + 1) - 4:g}">{escape(text)}</text>' for row, text in enumerate(word)]
    return "\n".join([*parts, "</svg>"]) + "\n"
