"""Tokens in a row, with the labels that they have or may have."""

from __future__ import annotations

import attrs

from structperc.pictures.markup import excerpt
from structperc.pictures.shapes import COLUMNS, LETTER, Box, Picture, Text

TOKENS = 24                             # of a sentence that are shown
DEEP = 12                               # labels of a token that are shown


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
        """The tokens whose labels differ. Returns a list of int. Numbers of tokens, from 0."""
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
            texts = [excerpt(self.tokens[t], 20), *(excerpt(labels[t], 16) for _, labels in self.rows)]
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
            cells = [excerpt(self.tokens[t], 20), *(excerpt(labels[t], 16) for _, labels in self.rows)]
            size = max(map(len, cells))
            column = [cell.ljust(size + 2) for cell in (*cells, "^" * size if t in differing else "")]
            if part and margin + sum(len(column[0]) for column in part) + size > width:
                lines += aligned_columns(names, margin, part)
                part = []
            part.append(column)
        return lines + aligned_columns(names, margin, part)


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
            texts = [excerpt(token, 20), *(excerpt(label, 24) for label, _ in labels[:DEEP])]
            if len(labels) > DEEP:
                texts.append(f"{len(labels) - DEEP} more")
            width = (LETTER + 1) * max(map(len, texts)) + 12
            shapes.append(Text(x + width / 2, 22, texts[0], "middle"))
            for k, text in enumerate(texts[1:]):
                certain = k < DEEP and labels[k][1]
                shapes += [Box(x + 1, 34 + 26 * k, width - 2, 22, 0.45 if certain else 0.08),
                          Text(x + width / 2, 50 + 26 * k, text, "middle", certain)]
            x += width
        return [*shapes, Text(x + 2, 22, "…")] if len(self.tokens) > TOKENS else shapes

    def lines(self, width=COLUMNS):
        size = max((len(excerpt(token, 20)) for token in self.tokens), default=0)
        return [(f"{excerpt(token, 20):<{size}}  "
                 f"{' | '.join(f'[{label}]' if certain else label for label, certain in labels)}").strip()[:width]
                for token, labels in zip(self.tokens, self.choices, strict=True)]


def aligned_columns(names, margin, columns) -> list[str]:
    """Columns of cells beside their rows' names; a last row without any mark is left out."""
    rows = [name.ljust(margin) + "".join(column[k] for column in columns) for k, name in enumerate(names)]
    return [row.rstrip() for row in rows if row.strip()]


def token_texts(tokens, n) -> list[str]:
    """The names of the n tokens of one example, if users passed names. Otherwise their places, from 0.

    Parameters
    ----------
    tokens : object
        The example as users passed it.
    n : int
        Number of tokens.

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
