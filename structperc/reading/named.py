"""Tokens with named features, to rows."""

from __future__ import annotations

import warnings

import numpy as np

from structperc.basics.errors import DataError, DataWarning, OptionError, PluginError, UnusedOption, shortened
from structperc.basics.saved_state import read_array
from structperc.core.joined import Joined
from structperc.core.rows import Rows
from structperc.reading import matrices
from structperc.reading.other_libraries import as_sentences, first_entry
from structperc.reading.readers import Naming, Reader
from structperc.reading.row_builder import RowBuilder, Vocabulary
from structperc.reading.tokens import Template, Vectors, column_names, encode_tokens
from structperc.reading.word_vectors import WordVectors, check_size

MOST_HASHED = 2**40
VECTOR = "vector"           # what the vector of a token's word is called


class NamedReader(Reader):
    """Reads sentences whose tokens have named features, vectors among them; anything else as `Reader` does.

    Parameters
    ----------
    n_hashed : int, optional
        Columns of signed hashing (Weinberger et al. 2009) instead of a vocabulary: a name's column is its 64-bit hash mod n_hashed, its
        value changes sign where the hash's highest bit is set. The same everywhere; nothing is learned, so it suits streams.
    min_count : int, default 1
        The vocabulary keeps the features of at least so many tokens of the data it is learned from.
    template : str, optional
        Text of a template in the form of CRF++ (see `structperc.reading.tokens.Template`). Tokens are then tuples or lists of strings, one
        per column.
    columns : sequence of str, optional
        Names of the strings of a token, for the template to use. Without a template each string is a feature, such as "lemma:be". Tokens
        are then tuples or lists of these strings, dicts with these keys, or for one column the string itself.
    word_vectors : function, optional
        Returns the `WordVectors` that words of a column are looked up in. It is called by each `learn`. Needs `template` or `columns`.
    vector_column : str or int, optional
        The name or number of this column. Default: the first.

    Attributes
    ----------
    n_features : int
        Columns of the rows; None before `learn`. Those of the vectors stand behind those of the names.
    vectors : Vectors
        The names and sizes of the vectors.
    words : WordVectors or None
        The words that have vectors, and these.
    vocabulary : Vocabulary or None
        The names, in the order in which they first occurred; None with n_hashed and with rows of numbers.

    Raises
    ------
    OptionError
        For options that cannot be, or have no effect on these data.
    DataError
        With sentence, token and feature: X[3][5] is token 5 of sentence 3. A failed call changes nothing.

    Notes
    -----
    A document of spaCy is a list of its sentences, and a list of documents one of all their sentences. `columns` names the strings of a
    token: form, lemma, upos, xpos and feats, as in CoNLL-U files, or attributes of the token, such as `shape_`. Default: form. A column of
    a Hugging Face data set is a list of sentences.

    A token is a dict of features, or a list, tuple, set or frozenset of strings, as in python-crfsuite. {"len": 3.5} has the feature "len"
    with the value 3.5. True and False are 1 and 0. {"word": "the"} is the feature "word:the" with the value 1. {"shape": ["Aa", "d"]} are
    "shape:Aa" and "shape:d". Dicts may be within dicts ("shape:last:d"). A string is a feature with the value 1. Features that occur twice
    in a token are added up, zeros are left out.

    An array of one dimension is a vector, such as an embedding: {"word": "the", "emb": array} has the features "word:the", "emb[0]",
    "emb[1]" and so on, ["the", array] has "the", "vector[0]" and so on. Vectors have columns of their own behind those of the names,
    also with n_hashed, and min_count does not count them. Tokens may lack a vector; where they have it, it has one length. Reading takes
    0.5 us and a copy per vector.

    Features that are not in the vocabulary are dropped from later data; unknown vectors raise an error. The vocabulary is learned once, by
    `learn`, and takes about 50 bytes per name. The rows take 8 bytes per feature, or 12 if some value is no exact float32. Reading takes 25
    to 35 ns for each string of a list. It takes 50 ns for each line of a template and 75 ns for each entry of a dict. Learning takes 10
    to 15 ns more if most names recur.

    Examples
    --------
    >>> from structperc.reading.named import NamedReader
    >>> reader = NamedReader()
    >>> reader.learn([[{"word": "the"}, {"word": "dog", "len": 3}], [["word:the", "last"]]]).X.toarray()
    array([[1., 0., 0., 0.],
           [0., 1., 3., 0.],
           [1., 0., 0., 1.]], dtype=float32)
    >>> reader.feature_name(2), reader.read([[["word:cat", "last"]]]).X.toarray().tolist()
    ('len', [[0.0, 0.0, 0.0, 1.0]])
    """

    takes_tables = True

    def __init__(self, n_hashed=None, min_count=1, template=None, columns=None, word_vectors=None, vector_column=None):
        self.n_hashed = None if n_hashed is None else whole("n_hashed", n_hashed, MOST_HASHED)
        self.min_count = whole("min_count", min_count, 2**62)
        if n_hashed is not None and self.min_count > 1:
            raise UnusedOption(f"min_count={min_count} has no effect with n_hashed={n_hashed}, which has no vocabulary; leave one out.",
                               "min_count")
        self.columns = column_names(columns)
        self.template = None if template is None else Template(template, columns)
        self.word_vectors, self.vector_place = word_vectors, self._place_of(word_vectors, vector_column)
        self.forget()

    def forget(self) -> None:
        """Back to what it was before `learn`."""
        self.named = self.n_features = self.vocabulary = self.n_columns = self.words = None
        self.vectors = Vectors()

    def clone(self):
        component = super().clone()
        component.forget()
        return component

    def learn(self, X, offsets=None) -> Rows:
        """The rows of the first data of a fit, from which the vocabulary is learned; a failure changes nothing."""
        X = self._listed(X)
        if not self._is_named(X) and not (isinstance(X, (list, tuple)) and is_blank(X)):
            self._refuse_idle_options(X)
            rows = matrices.read(X, offsets)
            if rows.offsets is None and not rows.objects and rows.n_examples > 1:
                warnings.warn("each row of X is a sentence of one token, so nothing is learned of neighbours. Pass groups or lengths, "
                              "which name the rows of each sentence (structperc fit: --group COLUMN).", DataWarning, stacklevel=2)
            self.forget()
            self.named, self.n_features = False, rows.n_features
            return rows
        n_columns = None if self.template is None else self.template.columns_of(X)
        builder = RowBuilder(None, self.n_hashed) if self.n_hashed else RowBuilder(Vocabulary(), learning=True)
        words = None if self.word_vectors is None else self.word_vectors()
        starts = self._encode(X, offsets, builder, n_columns, words)
        if words is not None and VECTOR not in builder.vectors:
            warnings.warn(f"none of the {builder.n_rows} tokens has a word vector. Name the column of words with vector_column, or "
                          f"leave the vectors out.", DataWarning, stacklevel=2)
        vectors = Vectors({} if words is None else {VECTOR: words.size}).with_names(builder.vectors)
        if builder.used == vectors.width == 0:
            raise DataError("no token of X has a feature (zeros do not count), so there is nothing to learn from.")
        if self.min_count > 1:
            builder.drop_rare(self.min_count)
            if builder.used == vectors.width == 0:
                raise DataError(f"no feature of X occurs in min_count={self.min_count} tokens; lower min_count.")
        rows = rows_of(builder, starts, vectors)
        self.named, self.n_columns, self.vectors, self.words = True, n_columns, vectors, words
        self.n_features, self.vocabulary = rows.n_features, builder.vocabulary
        return rows

    def learn_more(self, X, offsets=None) -> None:
        """Adds the names of further data to the vocabulary, before anything is trained on it; a failure changes nothing."""
        if self.min_count > 1:
            raise OptionError(f"min_count={self.min_count} counts the features of all data at once, but these come in parts. Leave it out, "
                              f"or hash the features with n_hashed.")
        if self.vocabulary is None:
            self.read(X, offsets)
            return
        X = self._listed(X)
        for learning in (False, True):          # what is wrong with the data is found before the vocabulary grows
            builder = RowBuilder(self.vocabulary, learning=True) if learning else RowBuilder(self.vocabulary, self.n_hashed or 0)
            starts = self._encode(X, offsets, builder, self.n_columns, self.words)
            vectors = self.vectors.with_names(builder.vectors)
            vectors.table(builder.vectors, starts)
        self.vectors, self.n_features = vectors, len(self.vocabulary) + vectors.width

    def learn_names(self, state) -> bool:
        if self.vocabulary is None:
            return False
        others = Vectors.restored(state).sizes
        for name, size in others.items():
            if self.vectors.sizes.get(name, size) != size:
                raise DataError(f"the vector {name!r} has {size} coordinates in one part of the data and {self.vectors.sizes[name]} in "
                                f"another; expected as many everywhere.")
        for name in Vocabulary.restored(state).names():
            self.vocabulary.add(name)
        self.vectors = Vectors(self.vectors.sizes | others)
        self.n_features = len(self.vocabulary) + self.vectors.width
        return True

    def read(self, X, offsets=None) -> Rows:
        """The rows of later data, of the kind that was learned from; features without a column are dropped."""
        if self.named is None:
            raise DataError("this reader has learned from no data yet; call learn first.")
        X = self._listed(X)
        has_names = self._is_named(X) or (self.named and isinstance(X, (list, tuple)) and is_blank(X))
        if has_names != self.named:
            now, then = (TOKENS, NUMBERS) if has_names else (NUMBERS, TOKENS)
            raise DataError(f"X ({type(X).__name__}) holds {now}, but this model was trained on {then}; pass the same kind of data.")
        if not has_names:
            return matrices.read(X, offsets)
        builder = RowBuilder(self.vocabulary, self.n_hashed or 0)
        return rows_of(builder, self._encode(X, offsets, builder, self.n_columns, self.words), self.vectors)

    def read_one(self, x, objects=False, several_rows=False) -> Rows:
        """Only one sentence."""
        return self.read([x]) if self.named else super().read_one(x, objects, several_rows)

    def feature_name(self, j) -> str | None:
        """The name of column j, "hash j" with n_hashed, None where X had rows of numbers."""
        if not self.named:
            return None
        if not 0 <= j < self.n_features:
            raise IndexError(f"column {j} of {self.n_features}")
        n_names = self.n_features - self.vectors.width
        if j >= n_names:
            return self.vectors.name(j - n_names)
        return f"hash {j}" if self.vocabulary is None else self.vocabulary.name(j)

    def naming(self):
        if not self.named:
            return None
        if self.vocabulary is None:
            raise PluginError(f"n_hashed={self.n_hashed} hashes the names of features; leave it out for a vocabulary.")
        looked_up = self.words is not None and self.template is not None and list(self.vectors.sizes) == [VECTOR]
        if self.vectors.width and not looked_up:
            raise PluginError(f"The tokens have vectors ({', '.join(map(repr, self.vectors.sizes))}) beside their names.")
        names = self.vocabulary.names()
        if self.template is None:
            return Naming(names)
        words = None if self.words is None else (self.vector_place, self.words)
        return Naming(names, self.template.lines, self.n_columns, words)

    def state(self):
        """What was learned, a dict of arrays; empty before `learn`."""
        if self.named is None:
            return {}
        state = self.vectors.state() | ({} if self.vocabulary is None else self.vocabulary.state())
        state |= {} if self.words is None else self.words.state()
        state["named"], state["n_features"] = np.array(self.named), np.array(self.n_features, dtype=np.int64)
        if self.n_columns is not None:
            state["n_columns"] = np.array(self.n_columns, dtype=np.int64)
        return state

    def restore(self, state):
        """Reads what `state` returned. A DataError names what does not fit."""
        if not state:
            self.forget()
            return
        has_names, n_features = read_array(state, "named", bool), read_array(state, "n_features", np.int64, low=0)
        n_columns = read_array(state, "n_columns", np.int64, low=1) if has_names and self.template is not None else None
        vocabulary = Vocabulary.restored(state) if has_names and not self.n_hashed else None
        vectors = Vectors.restored(state) if has_names else Vectors()
        words = WordVectors.restored(state) if has_names and self.word_vectors is not None else None
        check_size(words, vectors.sizes, VECTOR)
        expected = vectors.width + (len(vocabulary) if vocabulary is not None else self.n_hashed) if has_names else n_features
        if n_features != expected:
            raise DataError(f"the saved reader has {n_features} columns; expected {expected}.")
        if n_columns is not None:
            self.template.check_columns(n_columns)
        self.named, self.n_features, self.vocabulary, self.n_columns = has_names, n_features, vocabulary, n_columns
        self.vectors, self.words = vectors, words

    def _listed(self, X):
        """X with lists of sentences in the forms that are encoded."""
        X = as_sentences(once(X), self.columns or ("form",))
        if self.columns is not None and getattr(X, "ndim", 0) == 2 and isinstance(first_entry(X), str):
            X = X.tolist()              # sentences of equal length, whose tokens are their only column
        return X if self.columns is None or self.template is not None or not is_named(X) else by_column(X, self.columns)

    def _is_named(self, X):
        return self.template is not None or is_named(X)

    def _place_of(self, word_vectors, column):
        """The place, or without a template the name, of the column of words that have vectors."""
        if word_vectors is None:
            if column is not None:
                raise OptionError(f"vector_column={column!r} has no effect without vectors; leave it out.")
            return 0
        if self.columns is None and self.template is None:
            raise OptionError("vectors are those of words in a column: name the columns of tokens, such as columns=['word'], or pass a "
                              "template.")
        if column is None:
            return 0
        if self.columns is None or column not in self.columns:
            raise OptionError(f"vector_column={column!r}; expected one of the columns {', '.join(self.columns or ('none are named',))}.")
        return self.columns.index(column)

    def _encode(self, X, offsets, builder, n_columns, words=None):
        if not isinstance(X, (list, tuple)):
            raise DataError(f"X is of type {type(X).__name__}. With a template it must be a list of sentences, each a list of tokens, "
                            f"each a tuple of strings.")
        if offsets is not None:
            raise DataError("offsets was given, but X is a list of sentences already; pass one or the other.")
        if len(X) == 0:
            raise DataError("X is empty; expected at least one sentence, a list of tokens.")
        starts = encode_tokens(X, builder) if self.template is None else self.template.encode(X, builder, n_columns)
        if words is not None:
            place = self.vector_place if self.template is not None else self.columns[self.vector_place]
            add_vectors(builder, words, [token[place] for sentence in X for token in sentence])
        return starts

    def _refuse_idle_options(self, X):
        for name, idle in (("n_hashed", self.n_hashed is None), ("min_count", self.min_count == 1), ("columns", self.columns is None)):
            if not idle:
                raise OptionError(f"{name}={getattr(self, name)} has no effect, as X ({type(X).__name__}) holds {NUMBERS}; leave it out, "
                                  f"or pass {TOKENS}.")


def add_vectors(builder, words, texts) -> None:
    """The vectors of tokens, in rows as dicts with vectors have them."""
    if VECTOR in builder.vectors:
        raise DataError(f"tokens have a vector {VECTOR!r} of their own beside word vectors; rename that column.")
    row_of = {text: words.row(text) if isinstance(text, str) else -1 for text in set(texts)}
    rows = np.array([row_of[text] for text in texts], dtype=np.int64)
    known = np.flatnonzero(rows >= 0)
    if len(known):
        builder.vectors[VECTOR] = known.tolist(), list(words.table[rows[known]])


TOKENS = "sentences of tokens with named features"
NUMBERS = "no tokens with named features"


def whole(name, value, most):
    """An option as an int from 1 on."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or not 1 <= value <= most:
        raise OptionError(f"{name} is {shortened(value)}; expected a whole number from 1 to {most}.")
    return int(value)


def once(X):
    """X itself, which is no generator."""
    if hasattr(X, "__next__"):
        raise DataError(f"X is a {type(X).__name__}, which can be read only once; pass list(X).")
    return X


def is_named(X):
    """Whether X is a list of sentences with named features, by the first token that has a feature."""
    if not isinstance(X, (list, tuple)):
        return False
    for sentence in X:
        if isinstance(sentence, (str, dict, set, frozenset)):
            return True                             # no sentence, but no matrix either: the message about it is better
        if not isinstance(sentence, (list, tuple)):
            return False
        for token in sentence:
            if isinstance(token, (list, tuple)):
                if len(token):
                    return not matrices.is_row(token)
            else:
                return isinstance(token, (str, dict, set, frozenset))
    return False


def by_column(X, columns):
    """Sentences whose tokens are dicts of these columns."""
    return [[token_by_column(token, columns, i, j) for j, token in enumerate(sentence)] if isinstance(sentence, (list, tuple)) else sentence
            for i, sentence in enumerate(X)]


def token_by_column(token, columns, i, j) -> dict:
    if isinstance(token, dict) and all(name in token for name in columns):
        return {name: token[name] for name in columns}
    cells = (token,) if isinstance(token, str) else token
    if not isinstance(cells, (list, tuple)) or len(cells) != len(columns):
        raise DataError(f"X[{i}][{j}] is {shortened(token)}; expected a token with the columns {', '.join(columns)}: a tuple of as many "
                        f"strings, or a dict with these keys.")
    return dict(zip(columns, cells, strict=True))


def is_blank(X):
    """Whether X is a list of sentences of which none has a token with a feature."""
    return all(isinstance(sentence, (list, tuple)) and all(isinstance(token, (list, tuple)) and not len(token) for token in sentence)
               for sentence in X)


def rows_of(builder, starts, vectors) -> Rows:
    from scipy.sparse import csr_array

    table = vectors.table(builder.vectors, starts)
    shape = builder.n_rows, builder.n_columns
    csr = csr_array(builder.arrays(), shape=shape)
    csr.has_canonical_format = True     # sorted, without duplicates
    return Rows(Joined(csr, table) if vectors.width else csr, starts)
