"""Word vectors: a table of words and their coordinates, which a reader of tokens looks words up in."""

from __future__ import annotations

import attrs
import numpy as np

from structperc.basics.errors import DataError
from structperc.basics.saved_state import read_array, substate
from structperc.reading.row_builder import Vocabulary

PREFIX = "words."           # of the arrays in the state of a reader


@attrs.frozen(eq=False)
class WordVectors:
    """Words and their vectors, as `structperc.files.read_vectors` returns them.

    If no word of the table has a capital, words are looked up in small letters. Otherwise they are looked up as they are.
    Cost: 4 bytes for each coordinate, and about 25 bytes more for each word.

    Attributes
    ----------
    words : Vocabulary
    table : float32 array of shape (n_words, size)
        A row for each word.
    lowered : bool
        Whether words are looked up in small letters.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.reading.word_vectors import WordVectors
    >>> vectors = WordVectors.of(["the", "dog"], np.float32([[0.5, 1.0], [2.0, 0.0]]))
    >>> vectors["Dog"].tolist(), "cat" in vectors
    ([2.0, 0.0], False)
    """

    words: Vocabulary
    table: np.ndarray
    lowered: bool

    @classmethod
    def of(cls, words, table) -> WordVectors:
        """The vectors of distinct words, in the order of the rows of a float32 table (n_words, size)."""
        return cls(Vocabulary(words), table, all(small(word) == word for word in words))

    @property
    def size(self) -> int:
        """How many coordinates each vector has."""
        return self.table.shape[1]

    def __len__(self):
        return len(self.words)

    def __contains__(self, word):
        return self.row(word) >= 0

    def __getitem__(self, word):
        row = self.row(word)
        if row < 0:
            raise KeyError(word)
        return self.table[row]

    def row(self, word) -> int:
        """The row of a word in the table; -1 if it has none."""
        return self.words.find(small(word) if self.lowered else word)

    def state(self) -> dict:
        """What a model file holds, a dict of arrays."""
        return {f"{PREFIX}{key}": array for key, array in (self.words.state() | {"table": self.table}).items()}

    @classmethod
    def restored(cls, state) -> WordVectors | None:
        """The vectors of which this is the state; None if it has none."""
        saved = substate(state, PREFIX)
        if not len(saved):
            return None
        words = Vocabulary.restored(saved)
        return cls.of(words.names(), read_array(saved, "table", np.float32, (len(words), None)))


def small(word) -> str:
    """A word in small letters, one for each letter, as the macro %lower of a template makes it."""
    return word.lower() if word.isascii() else "".join(letter.lower()[0] for letter in word)


def check_size(words, sizes, name) -> None:
    """Raises an error for a saved table that does not fit the saved sizes of vectors."""
    if words is not None and sizes.get(name) != words.size:
        raise DataError(f"the saved word vectors have {words.size} coordinates; expected {sizes.get(name)}.")
