"""Files of word vectors, as word2vec, GloVe and fastText write them in text: a word a line, then its coordinates."""

from __future__ import annotations

from array import array

import numpy as np

from structperc.basics.errors import DataError, shortened
from structperc.files.opening import name_of, opened_lines
from structperc.reading.word_vectors import WordVectors

__all__ = ["read_vectors"]


def read_vectors(path) -> WordVectors:
    """The word vectors of a text file, compressed (.gz, .bz2, .xz) or not.

    A line has a word and its coordinates, between spaces or tabs. The first line may be the numbers of words and coordinates, as
    word2vec and fastText write it. If a word recurs, its first vector counts. Cost: about 50 ns for each coordinate.

    Parameters
    ----------
    path : str or path-like
        A path or URL.

    Returns
    -------
    WordVectors
        `vectors[word]` is a float32 array, `word in vectors` whether there is one, `vectors.size` the number of coordinates.

    Raises
    ------
    DataError
        With the number of the line, for coordinates that are no finite numbers, or too few or too many.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from structperc.files import read_vectors
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "vectors.txt").write_text("the 0.5 1\\ndog 2 0\\n")
    ...     vectors = read_vectors(f"{folder}/vectors.txt")
    >>> vectors["Dog"].tolist(), "cat" in vectors
    ([2.0, 0.0], False)
    """
    name, size, words, values = name_of(path), 0, {}, array("f")
    with opened_lines(path) as file:
        for number, line in enumerate(file, 1):
            try:
                text = line.decode().replace("\t", " ").rstrip(" \r\n")
            except UnicodeDecodeError as error:
                raise DataError(f"{name}, line {number} is no UTF-8 text ({error.reason}); write the file in UTF-8.") from None
            cells = text.rsplit(" ", size or -1)
            if number == 1 and len(cells) == 2 and all(cell.isdecimal() for cell in cells):
                size = int(cells[1])
                continue
            size = size or len(cells) - 1
            if len(cells) != size + 1 or not size:
                raise DataError(f"{name}, line {number} is {shortened(text)}: expected a word and {size or 'its'} coordinates, between "
                                f"spaces.")
            if cells[0] in words:
                continue
            try:
                values.extend(map(float, cells[1:]))
            except ValueError:
                raise DataError(f"{name}, line {number}: a coordinate of {shortened(cells[0])} is no number. Expected a word without "
                                f"spaces and {size} coordinates.") from None
            words[cells[0]] = number
    if not words:
        raise DataError(f"{name} has no words; expected a word and its coordinates in each line.")
    table = np.frombuffer(values, dtype=np.float32).reshape(len(words), size)
    bad = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if len(bad):
        word = list(words)[bad[0]]
        raise DataError(f"{name}, line {words[word]}: a coordinate of {shortened(word)} is not finite or too large; expected finite "
                        f"numbers.")
    return WordVectors.of(list(words), table)
