"""The ids of CoNLL-U: words count 1, 2, ..., ranges and empty nodes stand at their places, and every fault is named by its line."""

from __future__ import annotations

import re

from structperc.basics.errors import DataError

SHOWN = 60                                                  # characters of a cell that an error has room for
WORD = re.compile("[1-9][0-9]{0,8}", re.ASCII)
RANGE = re.compile("([1-9][0-9]{0,8})-([1-9][0-9]{0,8})", re.ASCII)
EMPTY_NODE = re.compile(r"(0|[1-9][0-9]{0,8})\.([1-9][0-9]{0,8})", re.ASCII)
SENTENCE = re.compile(r"#[ \t]*sent_id[ \t]*=[ \t]*(.*\S)", re.ASCII)


def is_word(line) -> bool:
    """Whether a line is that of a word, and of no comment, range or empty node."""
    return WORD.fullmatch(line[:12].replace("\t", " ").partition(" ")[0]) is not None


def is_comment(line) -> bool:
    return line.startswith("#")


def sentence_id(lines) -> str | None:
    """The sent_id among the lines of a sentence, or None."""
    return next((match[1] for match in map(SENTENCE.fullmatch, lines) if match), None)


class Ids:
    """Follows the ids of one sentence, line by line; `end` has to be called behind the last one."""
    # name: str. Of the file.
    # lines: list of (int, str). All lines of the sentence with their numbers, for the place that an error names.

    def __init__(self, name, lines):
        self.name, self.lines = name, lines
        self.n_words = self.n_empty = self.covered = 0          # covered: the last word of the last range
        self.range = None

    def take(self, number, text) -> bool:
        """Whether the id of a line is that of a word."""
        if WORD.fullmatch(text):
            self.word(number, int(text))
            return True
        ends, empty = RANGE.fullmatch(text), EMPTY_NODE.fullmatch(text)
        if ends:
            self.span(number, text, *map(int, ends.groups()))
        elif empty:
            self.empty(number, text, *map(int, empty.groups()))
        else:
            raise self.fault(number, f" begins with {text!r:.{SHOWN}}; expected an id of CoNLL-U, like 3, 3-4 or 8.1")
        return False

    def word(self, number, k):
        n = self.n_words
        if k == n + 1:
            self.n_words, self.n_empty = k, 0
            return
        if k == 1:
            raise self.fault(number, f": the ids begin again with 1 behind {n}; put a blank line between two sentences")
        if k <= n:
            raise self.fault(number, f": the word with the id {k} is behind word {n}; expected words in the order of their ids, each once")
        before = f"behind word {n}" if n else "at the beginning"
        raise self.fault(number, f": the word with the id {k} is {before}; expected the id {n + 1}. "
                                 f"A line is missing, or ids are wrong")

    def span(self, number, text, start, end):
        if start > end:
            raise self.fault(number, f": the range {text} ends before it begins")
        if start != self.n_words + 1:
            raise self.fault(number, f": the range {text} is behind word {self.n_words}; expected it before its first word, {start}")
        if start <= self.covered:
            raise self.fault(number, f": the range {text} overlaps with {self.range[1]}")
        self.covered, self.range = end, (number, text)

    def empty(self, number, text, word, k):
        if word != self.n_words or k != self.n_empty + 1:
            raise self.fault(number, f": the empty node {text} is behind word {self.n_words}; expected {self.n_words}."
                                     f"{self.n_empty + 1}")
        self.n_empty = k

    def end(self):
        if not self.n_words:
            raise self.fault(self.lines[-1][0], ": the sentence has no word; expected one with the id 1")
        if self.covered > self.n_words:
            number, text = self.range
            raise self.fault(number, f": the range {text} goes beyond the last word of the sentence, {self.n_words}")

    def fault(self, number, what) -> DataError:
        known = sentence_id(line for _, line in self.lines)
        return DataError(f"{self.name}, line {number}{'' if known is None else f' (sent_id {known:.{SHOWN}})'}{what}.")
