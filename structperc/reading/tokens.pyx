"""Tokens with named features to rows.

Strings in lists need 25 to 30 ns each, or 16 if all is in the cache. Learning a vocabulary needs 40. Entries of dicts need 70.
"""
import re

import numpy as np

from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBuffer_Release, PyObject_GetBuffer
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.ref cimport PyObject
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.math cimport isfinite
from libc.stdint cimport int64_t
from structperc.core.errors import DataError, OptionError, shortened
from structperc.core.saved_state import read_array, substate
from structperc.reading.row_builder cimport RowBuilder
from structperc.reading.row_builder cimport SP_FETCH, Text
from structperc.reading.row_builder cimport PyUnicode_Check, PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_IS_COMPACT_ASCII
from structperc.reading.row_builder import Vocabulary


# ---- vectors ----
# The vectors among the features of tokens: an array of numbers under one name, as embeddings are.
#
# Typical sizes: 10^5 tokens with one vector of 384. Copying a contiguous vector takes 0.1 us and its bytes.


class Vectors:
    """Which vectors tokens have, and how many coordinates each has; they are columns in the order of their first occurrence.

    Attributes
    ----------
    sizes : dict of str to int
        Coordinates of each vector by its name.
    """

    def __init__(self, sizes=None):
        self.sizes = dict(sizes or {})

    @property
    def width(self):
        """How many columns they have together."""
        return sum(self.sizes.values())

    def name(self, j):
        """What column j of these is called."""
        for name, size in self.sizes.items():
            if j < size:
                return f"{name}[{j}]"
            j -= size
        raise IndexError(f"column {j} behind the last vector")

    def with_names(self, vectors_by_name):
        """These and the vectors that were found for the first time, as large as where they first occur."""
        return Vectors({name: len(vectors[0]) for name, (_, vectors) in vectors_by_name.items()} | self.sizes)

    def table(self, vectors_by_name, starts):
        """The coordinates of all tokens, zeros where a token lacks a vector.

        Parameters
        ----------
        vectors_by_name : dict of str to (list of tokens, list of vectors)
            Tokens counted from the first of all sentences; arrays of one dimension.
        starts : int64 array
            Where sentences begin, and the end.

        Returns
        -------
        C-contiguous array of shape (n_tokens, width)
            float32 where that holds all values of their types exactly, else float64.
        """
        cdef Py_ssize_t first = 0
        cdef size_t address
        narrow = all(np.can_cast(kind, np.float32) for _, vectors in vectors_by_name.values()
                     for kind in {vector.dtype for vector in vectors})
        values = np.zeros((int(starts[len(starts) - 1]), self.width), np.float32 if narrow else np.float64)
        for name, (tokens, vectors) in vectors_by_name.items():
            size = self.sizes.get(name)
            if size is None:
                raise DataError(f"{place(tokens[0], starts)}: the vector {name!r} is new; this model was trained on "
                                f"{', '.join(map(repr, self.sizes)) or 'no vectors'}.")
            for token, vector in zip(tokens, vectors):
                if len(vector) != size:
                    raise DataError(f"{place(token, starts)}: the vector {name!r} has {len(vector)} coordinates; expected {size}.")
        for name, size in self.sizes.items():
            if name in vectors_by_name:
                address = values.ctypes.data
                tokens, vectors = vectors_by_name[name]
                if narrow:
                    put[float](<float *> address + first, values.shape[1], size, tokens, vectors)
                else:
                    put[double](<double *> address + first, values.shape[1], size, tokens, vectors)
            first += size
        return values

    def state(self):
        """What a model file holds; empty without vectors."""
        if not self.sizes:
            return {}
        names = {f"vectors.{key}": array for key, array in Vocabulary(self.sizes).state().items()}
        return names | {"vectors.sizes": np.array(list(self.sizes.values()), dtype=np.int64)}

    @classmethod
    def restored(cls, state):
        """What `state` gave."""
        saved = substate(state, "vectors.")
        if not len(saved):
            return cls()
        names = Vocabulary.restored(saved).names()
        return cls(zip(names, read_array(saved, "sizes", np.int64, (len(names),), low=0, high=MOST_COORDINATES).tolist(), strict=True))


MOST_COORDINATES = 2**40


def place(token, starts):
    """The index of a token, for messages."""
    sentence = int(np.searchsorted(starts, token, side="right")) - 1
    return f"X[{sentence}][{token - int(starts[sentence])}]"


ctypedef fused value_t:
    float
    double


cdef int put(value_t *values, Py_ssize_t pitch, Py_ssize_t size, list tokens, list vectors) except -1:
    """Adds vectors to the rows of their tokens, from a column on: `values` points at it in row 0, and `pitch` values lie between rows."""
    cdef Py_ssize_t i, j, token
    cdef Py_buffer view
    cdef value_t *row
    cdef const float *narrow
    cdef const double *wide
    for i in range(len(tokens) if size else 0):
        vector = vectors[i]
        if vector.dtype not in READY or not vector.flags.c_contiguous:
            vector = np.ascontiguousarray(vector, dtype=np.float32 if value_t is float else np.float64)
        token = tokens[i]
        row = values + token * pitch
        PyObject_GetBuffer(vector, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
        if view.itemsize == 4:
            narrow = <const float *> view.buf
            for j in range(size):
                row[j] += narrow[j]
        else:
            wide = <const double *> view.buf
            for j in range(size):
                row[j] += <value_t> wide[j]
        PyBuffer_Release(&view)
    return 0


READY = (np.dtype(np.float32), np.dtype(np.float64))


# ---- tokens ----


cdef extern from "Python.h":
    bint PyFloat_Check(object value)
    Py_ssize_t PySequence_Fast_GET_SIZE(object sequence)
    PyObject **PySequence_Fast_ITEMS(object sequence)

cdef enum:
    DEEPEST = 100               # dictionaries within dictionaries

WEIGHTS = "a number, bool or string, a dict, list, tuple, set or frozenset of these, or an array of one dimension"
TOKENS = "a dict of features, or a list, tuple, set or frozenset of strings"
UNNAMED = "vector"              # what the vector of a list is called


def encode_tokens(X, RowBuilder builder):
    """Writes the rows of all tokens of a list of sentences; returns where sentences begin, an int64 array."""
    X = list(X)                 # a value's own code may take sentences out meanwhile
    offsets = np.zeros(len(X) + 1, dtype=np.int64)
    cdef int64_t[::1] ends = offsets
    cdef Py_ssize_t n_tokens = 0, n_features = 0
    try:
        for builder.sentence in range(len(X)):
            builder.token = -1
            sentence = tokens_of(X[builder.sentence])
            n_tokens += len(sentence)
            ends[builder.sentence + 1] = n_tokens
            for token in sentence:
                builder.token += 1
                n_features += most_features(token, 0)
        builder.allocate(n_tokens, n_features)
        for builder.sentence in range(len(X)):
            PyErr_CheckSignals()
            add_sentence(builder, tokens_of(X[builder.sentence]))
            builder.flush()
        if builder.n_rows < n_tokens:
            raise DataError("X was changed while it was read")
    except DataError as error:
        raise builder.located(error) from None
    except RuntimeError as error:
        if "during iteration" not in str(error):
            raise                       # of a value's own code
        raise builder.located(DataError("X was changed while it was read")) from None
    return offsets


def tokens_of(sentence):
    """The tokens of a sentence, or a DataError."""
    if not isinstance(sentence, (list, tuple)):
        hint = "; X is a list of sentences, so pass [X] for a single one" if isinstance(sentence, (dict, set, frozenset)) else ""
        raise DataError(f"the sentence is {sentence!r:.60} of type {type(sentence).__name__}; expected a list of tokens{hint}")
    return sentence


cdef Py_ssize_t most_features(object token, int depth) except -1:
    """How many features a token can have at most; 0 for what is no token."""
    cdef Py_ssize_t n = 0
    if not isinstance(token, dict):
        return len(token) if isinstance(token, (list, tuple, set, frozenset)) else 0
    if depth == DEEPEST:
        raise DataError(f"dictionaries of features are nested more than {DEEPEST} deep")
    for value in token.values():
        n += most_features(value, depth + 1) if isinstance(value, (dict, list, tuple, set, frozenset)) else 1
    return n


cdef int add_sentence(RowBuilder builder, object sentence) except -1:
    """Writes the rows of all tokens of a list or tuple."""
    cdef Py_ssize_t t = 0, ahead
    while t < PySequence_Fast_GET_SIZE(sentence):
        ahead = min(t + 2, PySequence_Fast_GET_SIZE(sentence) - 1)
        SP_FETCH(PySequence_Fast_ITEMS(sentence)[ahead])
        builder.token = t
        token = <object> PySequence_Fast_ITEMS(sentence)[t]
        add_token(builder, token)
        t += 1
    return 0


cdef int add_token(RowBuilder builder, object token) except -1:
    """Writes the row of one token."""
    if isinstance(token, (list, tuple)) and only_strings(token):
        push_strings(builder, token)
        return builder.end_row(True)
    builder.flush()                     # other objects can have code that runs now, and could change what was borrowed
    if isinstance(token, dict):
        push_dict(builder, token, 0, 0, 0)
    elif isinstance(token, (list, tuple)):
        push_list(builder, token)
    elif isinstance(token, (set, frozenset)):
        push_prefixed(builder, in_order(token), 0, 0)
    else:
        hint = f", such as [{shortened(token)}]; or pass columns=['word']" if isinstance(token, str) else ""
        raise DataError(f"the token is {shortened(token)} of type {type(token).__name__}; expected {TOKENS}{hint}")
    builder.end_row(False)
    return builder.flush()


cdef bint only_strings(object items) noexcept:
    """Whether a list or tuple holds nothing else."""
    cdef PyObject **item = PySequence_Fast_ITEMS(items)
    cdef Py_ssize_t i
    for i in range(PySequence_Fast_GET_SIZE(items)):
        if not PyUnicode_Check(item[i]):
            return False
    return True


cdef int push_list(RowBuilder builder, object items) except -1:
    """One feature per string, and optionally a vector."""
    vectors = [item for item in items if not isinstance(item, str) and is_vector(item)]
    if len(vectors) > 1:
        raise DataError(f"the token has {len(vectors)} vectors; give each a name, in a dict such as {{'a': vector, 'b': vector}}")
    push_prefixed(builder, [item for item in items if isinstance(item, str) or item is not vectors[0]] if vectors else items, 0, 0)
    if vectors:
        builder.keep_vector(UNNAMED, vectors[0])
    return 0


cdef int push_strings(RowBuilder builder, object strings) except -1:
    """One feature per string of a list or tuple, which must live until `flush`."""
    cdef PyObject **items = PySequence_Fast_ITEMS(strings)
    cdef Py_ssize_t i, n = PySequence_Fast_GET_SIZE(strings)
    cdef size_t at
    builder.make_room(n)
    for i in range(n):
        if PyUnicode_Check(items[i]) and PyUnicode_IS_COMPACT_ASCII(items[i]):
            builder.push(<const char *> PyUnicode_DATA(items[i]), 0, PyUnicode_GET_LENGTH(items[i]), 1)
        else:
            at = builder.scratch.used
            builder.scratch.append_string(<object> items[i])
            builder.push(NULL, at, builder.scratch.used - at, 1)
    return 0


cdef int push_dict(RowBuilder builder, object token, size_t prefix, size_t n_prefix, int depth) except -1:
    """The features of a dict, whose names begin with the text in the scratch at `prefix`."""
    cdef Text scratch = builder.scratch
    cdef size_t at
    cdef double weight
    if depth == DEEPEST:
        raise DataError("X was changed while it was read")
    for key, value in token.items():
        at = begin(scratch, prefix, n_prefix)
        scratch.append_string(string_of(key))
        if isinstance(value, str):
            scratch.append(b":", 1)
            scratch.append_string(value)
            weight = 1
        elif isinstance(value, dict):
            scratch.append(b":", 1)
            push_dict(builder, value, at, scratch.used - at, depth + 1)
            continue
        elif isinstance(value, (list, tuple, set, frozenset)):
            scratch.append(b":", 1)
            push_prefixed(builder, value if isinstance(value, (list, tuple)) else in_order(value), at, scratch.used - at)
            continue
        elif not PyFloat_Check(value) and is_vector(value):
            builder.keep_vector(PyUnicode_DecodeUTF8(scratch.data + at, scratch.used - at, NULL), value)
            continue
        else:
            weight = number(value, scratch, at)
        if weight:
            builder.make_room(1)
            builder.push(NULL, at, scratch.used - at, weight)
    return 0


cdef int push_prefixed(RowBuilder builder, object strings, size_t prefix, size_t n_prefix) except -1:
    """One feature per string, whose names begin with the text in the scratch at `prefix`."""
    cdef Text scratch = builder.scratch
    cdef size_t at
    for item in strings:
        at = begin(scratch, prefix, n_prefix)
        scratch.append_string(string_of(item))
        builder.make_room(1)
        builder.push(NULL, at, scratch.used - at, 1)
    return 0


cdef inline size_t begin(Text scratch, size_t prefix, size_t n_prefix) except? 0:
    """Begins a name with a copy of a prefix; returns its position."""
    cdef size_t at = scratch.used
    if n_prefix:
        scratch.reserve(n_prefix)
        scratch.append(scratch.data + prefix, n_prefix)
    return at


cdef bint is_vector(object value) except -1:
    """Whether it is an array of one dimension, of whatever library."""
    dimensions = getattr(value, "ndim", None)
    return type(dimensions) is int and dimensions == 1


cdef inline object string_of(object item):
    if not isinstance(item, str):
        raise DataError(f"a feature is named {shortened(item)} of type {type(item).__name__}; expected a string")
    return item


cdef object in_order(object strings):
    """A set's strings, sorted: the order of a set differs from run to run."""
    for item in strings:
        string_of(item)
    return sorted(strings)


cdef double number(object value, Text scratch, size_t at) except? 0:
    """The weight of the feature whose name ends the scratch."""
    cdef double weight
    try:
        weight = value
        if isfinite(weight):
            return weight
        expected = "a finite number"
    except (TypeError, ValueError, OverflowError):
        expected = WEIGHTS
    name = PyUnicode_DecodeUTF8(scratch.data + at, scratch.used - at, NULL)
    raise DataError(f"the feature {name!r} is {shortened(value)}; expected {expected}")


# ---- templates ----
# Window features of tokens that are tuples of strings, from a template: no Python string is made for any of them.
#
# Typical sizes: 20 lines of 1..3 macros, 10^5..10^6 tokens of 2..5 columns. A feature costs 50 ns, half of it for looking its
# name up.


cdef extern from "Python.h":
    Py_ssize_t PySequence_Fast_GET_SIZE(object sequence)
    PyObject **PySequence_Fast_ITEMS(object sequence)

cdef enum:
    FARTHEST = 1000000          # tokens from here to the one a macro reads

MACRO = re.compile(r"%x\[\s*([+-]?\d+)\s*,\s*([^\]]*?)\s*\]")


cdef struct Piece:
    int column                  # of a macro, or -1: the literal text at `at`
    int offset
    bint last                   # of its line
    size_t at, n


cdef struct Cell:
    const char *borrowed        # the bytes of a string of the sentence; NULL: they are in `cell_text`, from `at` on
    size_t at, n


cdef class Template:
    """Feature templates as CRF++ has them, one per line.

    Parameters
    ----------
    text : str
        Each line is text with macros `%x[offset,column]`: the string of that column, `offset` tokens further on. Before the
        sentence are the tokens `_B-1`, `_B-2` ..., after it `_B+1`, `_B+2` .... Each line gives each token one feature with
        the value 1. Its name is the line with its macros replaced; a line without macros is a constant feature. Blank lines
        and lines that begin with `#` are left out. So is a line `B` (or `B01`), CRF++'s bigram of labels: a sequence model
        always has one weight per pair of labels. Transitions that look at x (`B...%x[...]`, and `*` of Wapiti) raise an error.
    columns : sequence of str, optional
        Names of the columns, which macros can then use; otherwise columns are numbered from 0.

    Examples
    --------
    >>> from structperc.reading.named import NamedReader
    >>> reader = NamedReader(template="U0:%x[0,word]\\nU1:%x[-1,tag]/%x[0,tag]", columns=["word", "tag"])
    >>> rows = reader.learn([[("dogs", "NNS"), ("bark", "VBP")]])
    >>> reader.vocabulary.names()
    ['U0:dogs', 'U1:_B-1/NNS', 'U0:bark', 'U1:NNS/VBP']
    """

    cdef readonly str text
    cdef readonly tuple columns         # names, or None
    cdef readonly Py_ssize_t n_lines    # features per token
    cdef readonly Py_ssize_t n_columns  # that a token must have at least
    cdef str widest                     # the line that needs so many
    cdef Text literals
    cdef Piece *pieces                  # of all lines, one after the other
    cdef Py_ssize_t n_pieces, room
    cdef Cell *cells                    # of the sentence at hand, row by row
    cdef Py_ssize_t cell_room
    cdef Text cell_text

    def __init__(self, text, columns=None):
        if not isinstance(text, str):
            raise OptionError(f"the template is {text!r:.60} of type {type(text).__name__}; expected the text of a template.")
        self.text, self.columns = str(text), column_names(columns)
        self.literals, self.cell_text = Text(), Text()
        self.n_columns = 0 if columns is None else len(self.columns)
        for number, line in enumerate(text.split("\n"), 1):
            line = line.strip()
            if line and not line.startswith("#") and not re.fullmatch(r"B\d*", line):
                self.add_line(line, f"line {number} of the template, {line!r:.80},")
        if not any(self.pieces[i].column >= 0 for i in range(self.n_pieces)):
            raise OptionError(f"the template {text!r:.80} has no line with a macro %x[offset,column]. Expected the text of a template, "
                              f"such as 'U:%x[0,0]', not the name of a file.")

    def __dealloc__(self):
        PyMem_Free(self.pieces)
        PyMem_Free(self.cells)

    def __reduce__(self):
        return Template, (self.text, self.columns)

    @property
    def lines(self):
        """The pieces of each line: text, or (offset, column) of a macro."""
        lines, pieces = [], []
        for i in range(self.n_pieces):
            piece = self.pieces[i]
            pieces.append((piece.offset, piece.column) if piece.column >= 0
                          else PyUnicode_DecodeUTF8(self.literals.data + piece.at, piece.n, NULL))
            if piece.last:
                lines.append(tuple(pieces))
                pieces = []
        return tuple(lines)

    def columns_of(self, X):
        """How many columns the tokens of X have: as many as are named, or else as the first token has."""
        if self.columns is None and isinstance(X, (list, tuple)):
            for sentence in X:
                for token in sentence if isinstance(sentence, (list, tuple)) else ():
                    if isinstance(token, (list, tuple)):
                        self.check_columns(len(token))
                        return len(token)
        return self.n_columns

    def check_columns(self, Py_ssize_t n):
        """Raises an error for tokens with too few columns for a macro."""
        if n < self.n_columns:
            raise DataError(f"tokens have {n} column{'s' * (n != 1)}, but {self.widest} reads column {self.n_columns - 1}; columns are "
                            f"counted from 0.")

    def encode(self, X, RowBuilder builder, Py_ssize_t n_columns):
        """Writes the rows of all tokens of a list of sentences; returns where sentences begin, an int64 array."""
        X = list(X)             # a value's own code may take sentences out meanwhile
        offsets = np.zeros(len(X) + 1, dtype=np.int64)
        cdef int64_t[::1] ends = offsets
        cdef Py_ssize_t n_tokens = 0, t, n
        self.check_columns(n_columns)
        try:
            for builder.sentence in range(len(X)):
                builder.token = -1
                n_tokens += PySequence_Fast_GET_SIZE(tokens_of(X[builder.sentence]))
                ends[builder.sentence + 1] = n_tokens
            builder.allocate(n_tokens, n_tokens * self.n_lines)
            for builder.sentence in range(len(X)):
                PyErr_CheckSignals()
                sentence = tokens_of(X[builder.sentence])       # kept while its strings are read
                n = self.collect(sentence, n_columns, builder)
                for t in range(n):
                    builder.token = t
                    self.expand(t, n, n_columns, builder)
                    builder.end_row(True)
                builder.flush()
            if builder.n_rows < n_tokens:
                raise DataError("X was changed while it was read")
        except DataError as error:
            raise builder.located(error) from None
        return offsets

    cdef int add_line(self, str line, str where) except -1:
        """Takes a line apart."""
        cdef Piece piece
        cdef Py_ssize_t start = 0, at = line.find("%x")
        if line.startswith(("B", "*")) and at >= 0:         # * of Wapiti: both U and B
            raise OptionError(f"{where} makes transitions depend on x, which this model has not; begin it with U.")
        while at >= 0:
            macro = MACRO.match(line, at)
            if macro is None:
                raise OptionError(f"{where} has a malformed macro at {line[at:at + 20]!r}; expected %x[offset,column].")
            self.add_literal(line[start:at])
            piece.offset, piece.column = self.offset_of(macro[1], where), self.column_of(macro[2], where)
            piece.at, piece.n, piece.last = 0, 0, False
            self.add_piece(piece)
            if piece.column >= self.n_columns:
                self.n_columns, self.widest = piece.column + 1, where
            start = macro.end()
            at = line.find("%x", start)
        self.add_literal(line[start:])
        self.pieces[self.n_pieces - 1].last = True
        self.n_lines += 1
        return 0

    cdef int add_literal(self, str text) except -1:
        cdef Piece piece
        piece.column, piece.offset, piece.last, piece.at = -1, 0, False, self.literals.used
        try:
            self.literals.append_string(text)
        except DataError as error:
            raise OptionError(f"the template cannot be used: {error}.") from None
        piece.n = self.literals.used - piece.at
        if piece.n:
            self.add_piece(piece)
        return 0

    cdef int add_piece(self, Piece piece) except -1:
        cdef Py_ssize_t room = self.room
        cdef void *pieces
        if self.n_pieces == room:
            room = max(32, 2 * room)
            pieces = PyMem_Realloc(self.pieces, room * sizeof(Piece))
            if pieces == NULL:
                raise MemoryError(f"no memory for {room} pieces of a template")
            self.pieces, self.room = <Piece *> pieces, room
        self.pieces[self.n_pieces] = piece
        self.n_pieces += 1
        return 0

    cdef int offset_of(self, str text, str where) except? -1:
        offset = int(text)
        if abs(offset) > FARTHEST:
            raise OptionError(f"{where} reads a token {offset} tokens away; expected at most {FARTHEST}.")
        return offset

    cdef int column_of(self, str text, str where) except -1:
        """The number of a column that is given by number or by name."""
        hint = f"; there are {', '.join(self.columns)}" if self.columns else "; give their names in columns="
        if not text.isdecimal():
            if self.columns is None or text not in self.columns:
                raise OptionError(f"{where} reads the column {text!r}, but no column has this name{hint}.")
            return self.columns.index(text)
        column = int(text)
        if column >= (FARTHEST if self.columns is None else len(self.columns)):
            hint = f"columns are counted from 0{f', and there are {len(self.columns)}' if self.columns else ''}"
            raise OptionError(f"{where} reads column {text}, which does not exist; {hint}.")
        return column

    cdef Py_ssize_t collect(self, object sentence, Py_ssize_t n_columns, RowBuilder builder) except -1:
        """Points `cells` at all strings of a sentence; returns its length."""
        cdef Py_ssize_t n_tokens = PySequence_Fast_GET_SIZE(sentence), t, j     # a subclass may have a `len` of its own
        cdef Cell *cell
        builder.token = 0
        if n_tokens:                                    # before room for so many columns is made, which a model file may name
            self.check_token(<object> PySequence_Fast_ITEMS(sentence)[0], n_columns)
        self.make_room(n_tokens * n_columns)
        self.cell_text.used = 0
        cell = self.cells
        for t in range(n_tokens):
            builder.token = t
            token = <object> PySequence_Fast_ITEMS(sentence)[t]
            self.check_token(token, n_columns)
            for j in range(n_columns):
                point_at(cell, PySequence_Fast_ITEMS(token)[j], self.cell_text)
                cell += 1
        return n_tokens

    cdef int check_token(self, object token, Py_ssize_t n_columns) except -1:
        if not isinstance(token, (list, tuple)) or PySequence_Fast_GET_SIZE(token) != n_columns:
            raise self.no_token(token, n_columns)
        return 0

    cdef int make_room(self, Py_ssize_t n) except -1:
        cdef void *cells
        if n > self.cell_room:
            cells = PyMem_Realloc(self.cells, n * sizeof(Cell))
            if cells == NULL:
                raise MemoryError(f"no memory for {n} strings of one sentence")
            self.cells, self.cell_room = <Cell *> cells, n
        return 0

    cdef object no_token(self, object token, Py_ssize_t n_columns):
        names = f" ({', '.join(self.columns)})" if self.columns else ""
        came = f"is of type {type(token).__name__}"
        if isinstance(token, (list, tuple)):
            came = f"has {len(token)} column{'s' * (len(token) != 1)}"
        return DataError(f"the token {shortened(token)} {came}; expected a tuple of {n_columns} string{'s' * (n_columns != 1)}{names}")

    cdef int expand(self, Py_ssize_t t, Py_ssize_t n_tokens, Py_ssize_t n_columns, RowBuilder builder) except -1:
        """Pushes the features of token t."""
        cdef Text names = builder.scratch
        cdef Py_ssize_t i, row
        cdef const Piece *piece
        cdef const Cell *cell
        cdef size_t at = names.used
        builder.make_room(self.n_lines)
        for i in range(self.n_pieces):
            piece = &self.pieces[i]
            if piece.column < 0:
                names.append(self.literals.data + piece.at, piece.n)
            else:
                row = t + piece.offset
                if 0 <= row < n_tokens:
                    cell = &self.cells[row * n_columns + piece.column]
                    names.append(cell.borrowed if cell.borrowed != NULL else self.cell_text.data + cell.at, cell.n)
                else:
                    append_boundary(names, -1 if row < 0 else 1, -row if row < 0 else row - n_tokens + 1)
            if piece.last:
                builder.push(NULL, at, names.used - at, 1)
                at = names.used
        return 0


cdef inline int point_at(Cell *cell, PyObject *string, Text text) except -1:
    """Makes a cell of a string: ASCII is read in place, other text is written down in UTF-8."""
    if not PyUnicode_Check(string):
        raise DataError(f"the token holds {shortened(<object> string)}; expected strings only")
    if PyUnicode_IS_COMPACT_ASCII(string):
        cell.borrowed, cell.at, cell.n = <const char *> PyUnicode_DATA(string), 0, PyUnicode_GET_LENGTH(string)
    else:
        cell.borrowed, cell.at = NULL, text.used
        text.append_string(<object> string)
        cell.n = text.used - cell.at
    return 0


cdef int append_boundary(Text names, int sign, Py_ssize_t k) except -1:
    """Appends `_B-k` or `_B+k`."""
    cdef char digits[20]
    cdef int n = 20
    names.append(b"_B-" if sign < 0 else b"_B+", 3)
    while k:
        n -= 1
        digits[n] = <char> (c'0' + k % 10)
        k //= 10
    return names.append(digits + n, 20 - n)


def column_names(columns):
    """Names of columns as a tuple, or an OptionError."""
    if columns is None:
        return None
    try:
        names = tuple(columns)
    except TypeError:
        names = (None,)
    if isinstance(columns, str) or not all(isinstance(name, str) for name in names):
        raise OptionError(f"columns is {shortened(columns, 80)}; expected a list of names, such as ['word', 'tag'].")
    for name in names:
        if name.isdecimal() or not name.strip() or name != name.strip() or "]" in name or names.count(name) > 1:
            raise OptionError(f"columns={shortened(columns, 80)}: a template cannot name the column {name!r}; names must differ, must not "
                              f"be numbers, and have no ']' in them.")
    return names


def default_template(n_columns):
    """The usual template for chunking and tagging, as text.

    Parameters
    ----------
    n_columns : int
        Columns of a token. Each has a window of five tokens, -2..2, and the pairs (-1, 0) and (0, 1). Columns after the first repeat
        their values more often. They also have the pairs (-2, -1) and (1, 2) and the three triples in that window.

    Returns
    -------
    str
        A line for each feature.

    Raises
    ------
    OptionError
        If n_columns is not a whole number from 1 on.

    Examples
    --------
    >>> from structperc.reading.tokens import default_template
    >>> print(default_template(1))
    U00:%x[-2,0]
    U01:%x[-1,0]
    U02:%x[0,0]
    U03:%x[1,0]
    U04:%x[2,0]
    U05:%x[-1,0]/%x[0,0]
    U06:%x[0,0]/%x[1,0]
    """
    if isinstance(n_columns, bool) or not isinstance(n_columns, (int, np.integer)) or n_columns < 1:
        raise OptionError(f"n_columns is {shortened(n_columns)}; expected a whole number from 1 on.")
    single = [(o,) for o in range(-2, 3)]
    first, later = single + [(-1, 0), (0, 1)], single + [(o, o + 1) for o in range(-2, 2)] + [(o, o + 1, o + 2) for o in range(-2, 1)]
    windows = [(column, window) for column in range(n_columns) for window in (later if column else first)]
    return "\n".join(f"U{i:02d}:" + "/".join(f"%x[{offset},{column}]" for offset in window) for i, (column, window) in enumerate(windows))
