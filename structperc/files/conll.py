"""Files of columns, as CoNLL shared tasks and Universal Dependencies have them: one token per line, a blank line after each sentence.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

import re
from operator import itemgetter

import attrs

from structperc.basics.errors import DataError, OptionError, did_you_mean, shortened
from structperc.files import conllu as universal
from structperc.files.formats import TOKENS, TextFile, checked_rows
from structperc.files.opening import opened, refuse_return

__all__ = ["ColumnFile", "write_columns", "write_filled"]

CONLLU = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
SKIPPED = ("_", "-")
EMPTY = "_"                 # a cell without an entry
CELL, TAB_CELL = re.compile("[^ ]+"), re.compile("[^\t]+")       # between spaces, and between tabs
NAMES = {" ": "spaces", "\t": "tabs"}
BYTE_ORDER_MARK = "\ufeff"
PART_CHARACTERS = 1 << 22   # of a part, at most about
SHOWN = 60                  # characters of a line that an error has room for


@attrs.frozen(eq=False)
class ColumnFile:
    """What a file of columns, or a part of it, holds.

    Attributes
    ----------
    path : str
        As messages name the file.
    sentences : list of list of tuple of str
        Every token with all its cells.
    separator : str
        What parts the cells: a tab if any line up to here has one, else a space.
    conllu : bool
        Whether the columns are the ten of CoNLL-U.
    first : int, default 0
        How many sentences of the file stand before.
    texts : list of str
        Of each sentence what the file has from the end of the sentence before: with blank lines, comments, multiword tokens and empty
        nodes.
        What follows the last sentence of a file belongs to that one.
    lines : list of int
        The number of the first line of each text.
    X : list of list of tuple of str
        The sentences, with only the cells of the columns that were named.
    y : list of list of str, or of tuple of str; or None
        The target column, or the cells of several. None for a cell _, which is empty.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from structperc import files
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "a.conll").write_text("the DT\\ndog NN\\n")
    ...     file = files.read(f"{folder}/a.conll")
    >>> file.separator, file.conllu
    (' ', False)
    """

    path: str
    sentences: list
    separator: str
    conllu: bool
    first: int = 0
    texts: list = attrs.field(factory=list)
    lines: list = attrs.field(factory=list)
    X: list = attrs.Factory(lambda self: self.sentences, takes_self=True)
    y: list | None = None

    def has_token(self, line) -> bool:
        """Whether a line of a text, with or without its end, is that of a token.

        Parameters
        ----------
        line : str
        """
        line = line.removeprefix(BYTE_ORDER_MARK).rstrip("\r\n")
        return universal.is_word(line) if self.conllu else bool(line.strip(" \t"))

    def place(self, i, t=0) -> str:
        """Where a token is, for messages: the line, and in CoNLL-U the sent_id.

        Parameters
        ----------
        i, t : int
            Sentence of this part, and token of the sentence.
        """
        lines = self.texts[i].split("\n")
        numbers = [number for number, line in enumerate(lines, start=self.lines[i]) if self.has_token(line)]
        known = universal.sentence_id(line.rstrip("\r") for line in lines) if self.conllu else None
        return f"line {numbers[min(t, len(numbers) - 1)]}{'' if known is None else f' (sent_id {known:.{SHOWN}})'} of {self.path}"

    @property
    def width(self) -> int:
        """How many cells each token has."""
        return len(self.sentences[0][0])

    @property
    def n_tokens(self) -> int:
        return sum(map(len, self.sentences))

    @property
    def layout(self) -> str:
        """What its lines look like, for messages."""
        token = self.separator.join(self.sentences[0][0])
        return f"{self.width} cell{'s' * (self.width != 1)} in each line (the first token is {token!r:.{SHOWN}})"

    def places(self, names) -> dict[str, int]:
        """Where the cells of these names are; `names` as `columns` of `structperc.files.stream`. Returns a dict of str to int.

        Parameters
        ----------
        names : sequence of str or int
            As `columns` of `structperc.files.stream`.
        """
        names = [names] if isinstance(names, str) else list(names)
        kept = [name for name in names if name not in SKIPPED]
        if not kept or not all(kept):
            raise DataError(f"the columns of {self.path} are named {', '.join(map(repr, names)) or 'not at all'}; "
                            f"expected names, and _ for those to leave out.")
        for i, name in enumerate(kept):
            if name in kept[:i]:
                raise DataError(f"two columns of {self.path} are named {name!r}; give every column a name of its own.")
        if self.conllu and set(names) <= set(CONLLU):
            return {name: CONLLU.index(name) for name in names}
        if len(names) != self.width:
            hint = f" Or choose some of those of CoNLL-U by name: {', '.join(CONLLU)}." if self.conllu else ""
            raise DataError(f"{self.path} has {self.layout}, but {len(names)} column{' is' if len(names) == 1 else 's are'} named: "
                            f"{', '.join(names)}; name each one, with _ for those to leave out.{hint}")
        return {name: i for i, name in enumerate(names) if name not in SKIPPED}

    def read_as(self, columns=None, target=None) -> ColumnFile:
        """The same part with X and y from these columns.

        Parameters
        ----------
        columns : sequence of str or None
            As of `structperc.files.stream`.
        target : str, sequence of str, or None

        Raises
        ------
        OptionError
            A target without the names of columns, or among which it is not.
        """
        if columns is None and target is None:
            return self
        if columns is None and not self.conllu:
            raise OptionError(f"target={shortened(target)}: {self.path} is a file of columns; name these too, such as "
                              f"columns=('word', 'pos', 'chunk').")
        columns = ("form",) if columns is None else columns
        target = [] if target is None else [target] if isinstance(target, str) else list(target)
        names = [columns] if isinstance(columns, str) else list(columns)
        if self.conllu and set(names) <= set(CONLLU):
            names += [name for name in target if name not in names]
        places = self.places(names)
        for name in target:
            if name not in places:
                raise OptionError(f"target={shortened(name)}: {self.path} has the columns {', '.join(places)}.{did_you_mean(name, places)}")
        used = [place for name, place in places.items() if name not in target]
        if not used:
            raise OptionError(f"target={shortened(target)}: no column of {self.path} is left to learn from; name one more in columns.")
        return attrs.evolve(self, X=self.choose(used), y=self.answers([places[name] for name in target]) if target else None)

    def answers(self, places) -> list[list]:
        """One cell of each token, or a tuple of several; None for a cell _, which has no label. Returns a list of lists.

        Parameters
        ----------
        places : sequence of int
        """
        if len(places) == 1:
            return [[None if cell == EMPTY else cell for cell in cells] for cells in self.column(places[0])]
        return [[tuple(None if cell == EMPTY else cell for cell in cells) for cells in sentence] for sentence in self.choose(places)]

    def choose(self, places) -> list[list[tuple]]:
        """The sentences with only the cells at these places. Returns a list of lists of tuple of str.

        Parameters
        ----------
        places : sequence of int
        """
        places = list(places)
        if len(places) == 1:
            return [[(token[places[0]],) for token in sentence] for sentence in self.sentences]
        cells = itemgetter(*places)
        return [[cells(token) for token in sentence] for sentence in self.sentences]

    def column(self, place) -> list[list[str]]:
        """One cell of each token. Returns a list of lists of str.

        Parameters
        ----------
        place : int
        """
        return [[token[place] for token in sentence] for sentence in self.sentences]


def write_columns(file, sentences, added, separator=" ") -> None:
    """Writes tokens with one more cell each, and a blank line after each sentence, as conlleval reads them.
    Raises `DataError` when sentences and added cells do not match.

    Parameters
    ----------
    file : text file
        Opened for writing.
    sentences : list of list of tuple of str
    added : sequence of sequences
        What is written in the last column, such as predicted labels.
    separator : str, default " "
        Written between the cells.

    Examples
    --------
    >>> import sys
    >>> from structperc.files.conll import write_columns
    >>> write_columns(sys.stdout, [[("the", "DT"), ("dog", "NN")]], [["DT", "VB"]])
    the DT DT
    dog NN VB
    <BLANKLINE>
    """
    check_lengths(sentences, added)
    for sentence, cells in zip(sentences, added, strict=True):
        file.writelines(f"{separator.join(token)}{separator}{cell}\n" for token, cell in zip(sentence, cells, strict=True))
        file.write("\n")


def write_filled(file, columns, places, filled) -> None:
    """Writes a file of columns again, byte for byte but for some cells: with its blank lines, comments, multiword tokens and empty nodes.
    Raises `DataError` when tokens do not match, or a cell with a tab, say, could not be read again.

    Parameters
    ----------
    file : text file
        Opened for writing; it must leave the ends of lines as they are.
    columns : ColumnFile
    places : sequence of int
        Where the cells are that are written anew. Without any, a column is added at the end of each token's line.
    filled : sequence of sequences
        These cells of each token of each sentence: a tuple, or the cell itself if it is one.

    Examples
    --------
    >>> import io, tempfile
    >>> from structperc import files
    >>> from structperc.files.conll import write_filled
    >>> with tempfile.NamedTemporaryFile("w", suffix=".conllu") as source:
    ...     _ = source.write("# two words\\n1-2\\tdon't" + "\\t_" * 8 + "\\n1\\tdo" + "\\t_" * 8 + "\\n2\\tn't" + "\\t_" * 8 + "\\n")
    ...     source.flush()
    ...     columns, text = files.read(source.name), io.StringIO()
    >>> write_filled(text, columns, [6, 7], [[(0, "root"), (1, "advmod")]])
    >>> for line in text.getvalue().splitlines():
    ...     print(line.split("\\t"))
    ['# two words']
    ['1-2', "don't", '_', '_', '_', '_', '_', '_', '_', '_']
    ['1', 'do', '_', '_', '_', '_', '0', 'root', '_', '_']
    ['2', "n't", '_', '_', '_', '_', '1', 'advmod', '_', '_']
    """
    check_lengths(columns.sentences, filled)
    for text, entries in zip(columns.texts, filled, strict=True):
        entries = iter(entries)
        file.write("\n".join(with_cells(line, places, next(entries), columns.separator) if columns.has_token(line) else line
                             for line in text.split("\n")))


def with_cells(line, places, entry, separator) -> str:
    """A token's line with other cells at some places, or with one more cell; all else as it is."""
    cells = [str(cell) for cell in (entry if isinstance(entry, tuple) else (entry,))]
    body = line.rstrip("\r")
    separator = "\t" if "\t" in body else " " if " " in body.strip(" ") else separator
    for cell in cells:
        if not cell or any(mark in cell for mark in (separator, "\t", "\n", "\r")):
            raise DataError(f"the label {cell!r:.{SHOWN}} is no cell of a file whose cells are parted by "
                            f"{NAMES[separator]}; rename the label.")
    end = line[len(body):]
    if not places:
        return f"{body}{separator}{separator.join(cells)}{end}"
    spans = [match.span() for match in (CELL if separator == " " else TAB_CELL).finditer(body)]
    for place, cell in sorted(zip(places, cells, strict=True), reverse=True):
        start, stop = spans[place]
        body = body[:start] + cell + body[stop:]
    return body + end


def check_lengths(sentences, added) -> None:
    """Raises an error for cells that are not one for each token."""
    if list(map(len, sentences)) != list(map(len, added)):
        raise DataError(f"{len(sentences)} sentences with {sum(map(len, sentences))} tokens were given, but {len(added)} with "
                        f"{sum(map(len, added))} cells to add; give one cell for each token.")


class ConllFile(TextFile):
    """A file of columns under reading."""
    # Tabs part the cells of a line with a tab, else spaces. A blank line ends a sentence. A line "-DOCSTART- ..." is a token.

    holds, conllu = TOKENS, False

    def parts(self, *, columns=None, target=None, rows=None):
        """Parts of about 4 MiB of text at most, which need 30 times that as tokens; parameters as in `structperc.files.stream`."""
        rows = checked_rows(rows)
        name, separator, widths, size, first, beside = self.name, " ", [], 0, 0, ""
        held = ([], [], [])                     # sentences, texts, and the numbers of the texts' first lines
        with opened(self.path) as file:
            for start, lines, text in blocks(name, file):
                lines_of_tokens = [pair for pair in lines if not (self.conllu and universal.is_comment(pair[1]))]
                if not lines_of_tokens:         # only comments, or the blank lines at the end
                    beside += text
                    continue
                if rows is not None and (len(held[0]) >= rows or size >= PART_CHARACTERS and held[0]):
                    yield ColumnFile(name, held[0], separator, self.conllu, first, *held[1:]).read_as(columns, target)
                    first += len(held[0])
                    held, size = ([], [], []), 0
                tokens, ids = [], universal.Ids(name, lines) if self.conllu else None
                for number, line in lines_of_tokens:
                    if "\t" in line:
                        cells, separator = tuple(line.split("\t")), "\t"
                    else:
                        cells = tuple(cell for cell in line.split(" ") if cell)
                    widths = widths or [number, len(cells)]
                    if len(cells) != widths[1] or (self.conllu and len(cells) != len(CONLLU)):
                        raise uneven(name, number, line, len(cells), widths, self.conllu)
                    if "" in cells:
                        raise DataError(f"{name}, line {number}: cell {cells.index('') + 1} is empty; write _ where there is nothing to "
                                        f"say.")
                    if not self.conllu or ids.take(number, cells[0]):
                        tokens.append(cells)
                if self.conllu:
                    ids.end()
                for values, value in zip(held, (tokens, beside + text, start - beside.count("\n")), strict=True):
                    values.append(value)
                size += len(beside) + len(text)
                beside = ""
        if not held[0]:
            raise DataError(f"{name} has no tokens. Expected one in each line, its cells parted by spaces or tabs, and a blank line after "
                            f"each sentence.")
        held[1][-1] += beside
        yield ColumnFile(name, held[0], separator, self.conllu, first, *held[1:]).read_as(columns, target)


class ConlluFile(ConllFile):
    """A file of CoNLL-U. Lines that begin with # are comments. Multiword tokens and empty nodes (ids like 3-4 and 8.1) are left out."""

    conllu = True


def blocks(name, file):
    """The lines between blank ones in blocks: the number of the first line, the lines with their numbers, the text with all line ends."""
    lines, raw, start = [], [], 1
    for number, line in enumerate(file, start=1):
        try:
            line = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(f"{name}, line {number} is no text in UTF-8 ({error.reason}); save the file as UTF-8.") from None
        raw.append(line)
        line = (line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line).rstrip("\r\n")
        refuse_return(line, f"{name}, line {number}")
        if line.strip(" \t"):
            lines.append((number, line))
        elif lines:
            yield start, lines, "".join(raw)
            lines, raw, start = [], [], number + 1
    if raw:
        yield start, lines, "".join(raw)


def uneven(path, number, line, n_cells, first, conllu) -> DataError:
    """A line with too few or too many cells."""
    came = f"{path}, line {number} has {n_cells} cell{'s' * (n_cells != 1)} ({line!r:.{SHOWN}})"
    if conllu:
        return DataError(f"{came}; a token of CoNLL-U has {len(CONLLU)}, parted by tabs: {', '.join(CONLLU)}. "
                         f"The format of other files of columns is conll.")
    return DataError(f"{came}, but line {first[0]} has {first[1]}; give every token as many, and put a blank line after each sentence.")
