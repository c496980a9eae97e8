"""The reader of sentences: tokens with columns of text, or rows of numbers."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from itertools import chain

import numpy as np

from structperc.components import Reader, Rows
from structperc.errors import DataError, OptionError, shortened
from structperc.plugin_tools import as_sentences, read, read_array


class CellCodes(dict):
    """Numbers of 48 bits for texts, the same everywhere."""

    def __missing__(self, cell):
        if not isinstance(cell, str):
            raise TypeError
        code = self[cell] = float(int.from_bytes(blake2b(cell.encode("utf-8", "surrogatepass"), digest_size=6).digest(), "little"))
        return code


class TokenReader(Reader):
    """Reads sentences of tokens to a row for each token: the hashes of its cells.

    A token is a tuple or list of strings, one for each column. It may be a dict of these with the keys `columns`. In rows of numbers, equal
    numbers are equal cells.
    """
    # columns: sequence of str, optional. Names of the columns.

    def __init__(self, columns=None):
        if isinstance(columns, str) or columns is not None and not all(isinstance(name, str) and name for name in columns):
            raise OptionError(f"columns={shortened(columns)}; expected a list of names, one for each column.")
        self.columns = None if columns is None else tuple(columns)
        self.width = None

    def clone(self):
        component = super().clone()
        component.width = None
        return component

    def learn(self, X, offsets=None):
        rows = self.encoded(X, offsets, None if self.columns is None else len(self.columns))
        self.width = rows.n_features
        return rows

    def read(self, X, offsets=None):
        if self.width is None:
            raise DataError("this reader has learned from no data yet; call learn first.")
        return self.encoded(X, offsets, self.width)

    def read_one(self, x, objects=False, several_rows=False):
        return self.read([x])

    def feature_name(self, j):
        return f"row {j}"

    def state(self):
        return {} if self.width is None else {"n_columns": np.array(self.width, dtype=np.int64)}

    def restore(self, state):
        self.width = read_array(state, "n_columns", np.int64, low=1) if state else None

    def encoded(self, X, offsets, n_columns):
        """The rows of all tokens, of so many columns; without a number, as many as the first token has."""
        X = as_sentences(X, self.columns or ("form",))
        if not isinstance(X, (list, tuple)) or any(hasattr(sentence, "dtype") for sentence in X[:1]):
            rows = read(X, offsets)
            if rows.objects:
                raise DataError(f"X is of type {type(X).__name__}; expected a list of sentences, each a list of tokens, each a tuple of "
                                f"strings.")
            self.refuse_width(rows.n_features, n_columns)
            values = rows.X.toarray() if rows.sparse else rows.X
            return Rows(np.ascontiguousarray(values, dtype=np.float64), rows.offsets)
        if offsets is not None:
            raise DataError("offsets was given, but X is a list of sentences already; pass one or the other.")
        if not X:
            raise DataError("X is empty; expected at least one sentence, a list of tokens.")
        sentences = [self.tokens_of(sentence, i) for i, sentence in enumerate(X)]
        starts = np.append(0, np.cumsum([len(tokens) for tokens in sentences])).astype(np.int64)
        if n_columns is None:
            n_columns = next((len(token) for tokens in sentences for token in tokens), 0)
            if not n_columns:
                raise DataError("no token of X has a column, so there is nothing to learn from.")
        if set(map(len, chain.from_iterable(sentences))) - {n_columns}:
            i, j, token = next((i, j, token) for i, tokens in enumerate(sentences) for j, token in enumerate(tokens)
                               if len(token) != n_columns)
            raise DataError(f"X[{i}][{j}] is {shortened(token)}, of {len(token)} columns; expected {n_columns}.")
        codes, cells = CellCodes(), chain.from_iterable(chain.from_iterable(sentences))
        try:
            values = np.fromiter(map(codes.__getitem__, cells), dtype=np.float64, count=int(starts[-1]) * n_columns)
        except TypeError:
            i, j, cell = next((i, j, cell) for i, tokens in enumerate(sentences) for j, token in enumerate(tokens)
                              for cell in token if not isinstance(cell, str))
            raise DataError(f"X[{i}][{j}] has the cell {shortened(cell)} of type {type(cell).__name__}; expected strings.") from None
        return Rows(values.reshape(-1, n_columns), starts)

    def tokens_of(self, sentence, i):
        """The tokens of a sentence as tuples or lists of cells."""
        if isinstance(sentence, (str, dict)) or not isinstance(sentence, Iterable) or getattr(sentence, "ndim", 1) == 0:
            raise DataError(f"X[{i}] is {shortened(sentence)}; expected a list of tokens.")
        tokens = list(sentence)
        for j, token in enumerate(tokens):
            if isinstance(token, dict):
                if self.columns is None or any(name not in token for name in self.columns):
                    raise DataError(f"X[{i}][{j}] is {shortened(token)}; name its keys with columns=[...], all of which each token must "
                                    f"have.")
                tokens[j] = tuple(token[name] for name in self.columns)
            elif not isinstance(token, (tuple, list)):
                raise DataError(f"X[{i}][{j}] is {shortened(token)}; expected a tuple of strings, one for each column.")
        return tokens

    def refuse_width(self, width, expected):
        if expected is not None and width != expected:
            raise DataError(f"tokens of X have {width} column{'s' * (width != 1)}; expected {expected}.")
