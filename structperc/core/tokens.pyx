"""Tokens with named features to CSR rows.

Typical sizes: 10^5 tokens of 20 names. Some tokens wait together: first all their names are hashed, then the table's slots
are looked at, then the names found there, each fetched from memory before it is needed. Strings in lists take 25 to 30 ns
each (16 where all is in the cache), 40 while a vocabulary is learned; the entries of dicts 60. A result of n features takes
8 n bytes, allocated once.
"""
import numpy as np

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.ref cimport PyObject
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport qsort
from structperc.core.errors import DataError
from structperc.core.vocabulary cimport (LENGTH_BITS, PyUnicode_Check, PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_IS_COMPACT_ASCII,
                                         SP_FETCH, Text, Vocabulary)

cdef extern from "ranks.h" nogil:
    enum:
        SP_FEW
    bint sp_ranks(int *columns, Py_ssize_t n, int *ranks) noexcept

cdef extern from "Python.h":
    Py_ssize_t PySequence_Fast_GET_SIZE(object sequence)
    PyObject **PySequence_Fast_ITEMS(object sequence)

cdef enum:
    PLACE_BITS = 23             # of a sort key: where in the token the feature stands; above them its column
    DEEPEST = 100               # dictionaries within dictionaries

WEIGHTS = "a number, a bool, a string, or a dict, list, tuple, set or frozenset of these"
TOKENS = "a dict of features, or a list, tuple, set or frozenset of strings"


cdef inline int64_t get(const char *array, bint wide, Py_ssize_t i) noexcept nogil:
    return (<const int64_t *> array)[i] if wide else (<const int *> array)[i]


cdef inline void put(char *array, bint wide, Py_ssize_t i, int64_t number) noexcept nogil:
    if wide:
        (<int64_t *> array)[i] = number
    else:
        (<int *> array)[i] = <int> number


cdef char *memory(object array) except? NULL:
    """Where the values of an array are; they stay there as long as the array lives."""
    cdef Py_buffer view
    PyObject_GetBuffer(array, &view, PyBUF_WRITABLE)
    PyBuffer_Release(&view)
    return <char *> view.buf


cdef class RowBuilder:
    """A CSR matrix, built row by row from names and values.

    Parameters
    ----------
    vocabulary : Vocabulary or None
        Gives each name its column; None: signed hashing.
    n_hashed : int
        Columns of signed hashing: the hash mod n_hashed, the value times -1 where the highest bit of the hash is set
        (Weinberger et al. 2009).
    learning : bool
        Whether unknown names are added to the vocabulary; otherwise they are dropped.

    Rows are sorted by column, equal columns added up, zeros left out. Values are float32 as long as all can be so exactly.
    """

    def __init__(self, Vocabulary vocabulary=None, uint64_t n_hashed=0, bint learning=False):
        if (vocabulary is None) == (n_hashed == 0):
            raise ValueError("names get their columns either from a vocabulary or by hashing")
        self.vocabulary, self.n_hashed, self.learning = vocabulary, n_hashed, learning
        self.scratch = Text()
        self.token = -1

    def __dealloc__(self):
        PyMem_Free(self.features)
        PyMem_Free(self.columns)

    @property
    def n_columns(self):
        return self.n_hashed if self.vocabulary is None else len(self.vocabulary)

    def located(self, error):
        """The same error with the place where the walk was."""
        place = f"X[{self.sentence}]" if self.token < 0 else f"X[{self.sentence}][{self.token}]"
        return type(error)(f"{place}: {error}")

    def drop_rare(self, Py_ssize_t min_count):
        """Leaves only the names that are in at least so many rows, numbered anew in the same order."""
        counts = np.zeros(self.n_columns, dtype=np.int64)
        cdef int64_t[::1] count = counts
        cdef int64_t[::1] renumbered
        cdef int64_t column
        cdef Py_ssize_t row, i, end, used = 0
        for i in range(self.used):
            count[get(self.indices_at, self.wide_indices, i)] += 1
        renumbered = np.where(counts >= min_count, np.cumsum(counts >= min_count) - 1, -1)
        i = 0
        for row in range(1, self.n_rows + 1):
            end = get(self.indptr_at, self.wide_indices, row)
            for i in range(i, end):
                column = renumbered[get(self.indices_at, self.wide_indices, i)]
                put(self.indices_at, self.wide_indices, used, column)
                if self.wide_values:
                    (<double *> self.values_at)[used] = (<double *> self.values_at)[i]
                else:
                    (<float *> self.values_at)[used] = (<float *> self.values_at)[i]
                used += column >= 0         # otherwise the next one takes its place
            i = end
            put(self.indptr_at, self.wide_indices, row, used)
        self.used = used
        self.vocabulary = self.vocabulary.only(counts >= min_count)

    def arrays(self):
        """(values, indices, indptr) of the rows; nothing can be written any more."""
        arrays = self.values, self.indices, self.indptr
        self.values = self.indices = self.indptr = None
        self.max_rows = self.n_values = 0
        if self.used < len(arrays[0]):
            for array in arrays[:2]:
                array.resize(self.used, refcheck=False)
        return arrays

    cdef int allocate(self, Py_ssize_t max_rows, Py_ssize_t n_values) except -1:
        """Space for so many rows and values; called once."""
        self.wide_indices = n_values > 0x7FFFFFFF or self.n_hashed > 0x7FFFFFFF
        self.max_rows, self.n_values = max_rows, n_values
        kind = np.int64 if self.wide_indices else np.int32
        self.values, self.indices, self.indptr = np.empty(n_values, np.float32), np.empty(n_values, kind), np.zeros(max_rows + 1, kind)
        self.values_at, self.indices_at, self.indptr_at = memory(self.values), memory(self.indices), memory(self.indptr)
        return 0

    cdef int make_room(self, Py_ssize_t n) except -1:
        """Space for n more features that wait."""
        cdef Py_ssize_t room = self.room
        cdef void *features
        cdef void *columns
        if self.n_features + n <= room:
            return 0
        room = max(4 * BATCH, 2 * room, self.n_features + n)
        features = PyMem_Realloc(self.features, room * sizeof(Feature))
        if features != NULL:
            self.features = <Feature *> features
        columns = PyMem_Realloc(self.columns, room * sizeof(int64_t))
        if columns != NULL:
            self.columns = <int64_t *> columns
        if features == NULL or columns == NULL:
            raise MemoryError(f"no memory for {room} features of one token")
        self.room = room
        return 0

    cdef int flush(self) except -1:
        """Writes the rows that wait."""
        cdef Py_ssize_t r, first = 0
        if self.n_rows + self.n_waiting > self.max_rows:
            raise DataError("X was changed while it was read")
        self.find_columns()
        for r in range(self.n_waiting):
            if not self.write_few(first, &self.rows[r]):
                here = self.sentence, self.token
                self.sentence, self.token = self.rows[r].sentence, self.rows[r].token
                self.write_many(first, self.rows[r].end)
                self.sentence, self.token = here
            first = self.rows[r].end
            self.n_rows += 1
            put(self.indptr_at, self.wide_indices, self.n_rows, self.used)
        self.n_waiting = self.n_features = 0
        self.scratch.used = 0
        return 0

    cdef int find_columns(self) except -1:
        """The columns of all features that wait; -1: the name is unknown."""
        cdef Py_ssize_t i
        cdef Feature *feature
        cdef const char *name
        cdef Vocabulary vocabulary = self.vocabulary
        if vocabulary is None:
            for i in range(self.n_features):
                feature = &self.features[i]
                if feature.hash >> 63:
                    feature.value = -feature.value
                self.columns[i] = feature.hash % self.n_hashed
            return 0
        for i in range(self.n_features):
            feature = &self.features[i]
            feature.slot = vocabulary.next_slot(vocabulary.slot_of(feature.hash), feature.hash)
            SP_FETCH(vocabulary.text.data + (feature.slot.place >> LENGTH_BITS))
        for i in range(self.n_features):
            feature = &self.features[i]
            name = feature.borrowed if feature.borrowed != NULL else self.scratch.data + feature.at
            if self.learning:
                self.columns[i] = vocabulary.add_c(name, feature.n, feature.hash)
            else:
                self.columns[i] = vocabulary.find_c(feature.slot, name, feature.n, feature.hash)
        return 0

    cdef bint write_few(self, Py_ssize_t first, const Row *row) noexcept:
        """Writes a row of few different columns; False: it is another row."""
        cdef int few[SP_FEW]
        cdef int ranks[SP_FEW]
        cdef double values[SP_FEW]
        cdef int *indices = <int *> self.indices_at + self.used
        cdef float *floats = <float *> self.values_at + self.used
        cdef double *doubles = <double *> self.values_at + self.used
        cdef bint plain = row.plain and self.n_hashed == 0, wide = self.wide_values, exact = True
        cdef Py_ssize_t i, n = 0
        if row.end - first > SP_FEW or self.wide_indices or self.used + row.end - first > self.n_values:
            return False
        for i in range(first, row.end):
            few[n] = <int> self.columns[i]
            if not plain:
                values[n] = self.features[i].value
                exact &= <double> (<float> values[n]) == values[n]
            n += self.columns[i] >= 0
        if not (exact or wide) or not sp_ranks(few, n, ranks):
            return False
        for i in range(n):
            indices[ranks[i]] = few[i]
            if wide:
                doubles[ranks[i]] = 1 if plain else values[i]
            else:
                floats[ranks[i]] = 1 if plain else <float> values[i]
        self.used += n
        return True

    cdef int write_many(self, Py_ssize_t first, Py_ssize_t end) except -1:
        """Writes any row."""
        cdef int64_t *keys = self.columns + first
        cdef int64_t column = -1
        cdef double sum = 0
        cdef Py_ssize_t i, n = end - first
        if n > 1 << PLACE_BITS:
            raise DataError(f"the token has {n} features; expected at most {1 << PLACE_BITS}")
        for i in range(n):
            if keys[i] >= 0:
                keys[i] = keys[i] << PLACE_BITS | i
        qsort(keys, n, sizeof(int64_t), &order)
        for i in range(n):
            if keys[i] >> PLACE_BITS != column:
                self.write(column, sum)
                column, sum = keys[i] >> PLACE_BITS, 0
            if column >= 0:
                sum += self.features[first + (keys[i] & ((1 << PLACE_BITS) - 1))].value
        self.write(column, sum)
        return 0

    cdef int write(self, int64_t column, double value) except -1:
        """Appends one entry."""
        if value == 0:
            return 0
        if not isfinite(value):
            raise DataError(f"the values of the feature {self.shown(column)} add up to {value}; expected finite sums")
        if not self.wide_values and <double> (<float> value) != value:
            self.widen()
        if self.used == self.n_values:
            raise DataError("X was changed while it was read")
        if self.wide_values:
            (<double *> self.values_at)[self.used] = value
        else:
            (<float *> self.values_at)[self.used] = <float> value
        put(self.indices_at, self.wide_indices, self.used, column)
        self.used += 1
        return 0

    cdef int widen(self) except -1:
        """Goes on with float64 values."""
        values = np.empty(self.n_values)
        values[:self.used] = self.values[:self.used]
        self.values, self.values_at, self.wide_values = values, memory(values), True
        return 0

    cdef str shown(self, Py_ssize_t column):
        return f"in column {column}" if self.vocabulary is None else repr(self.vocabulary.name_c(column))


cdef int order(const void *a, const void *b) noexcept nogil:
    cdef int64_t left = (<const int64_t *> a)[0], right = (<const int64_t *> b)[0]
    return (left > right) - (left < right)


def encode_tokens(X, RowBuilder builder):
    """Writes the rows of all tokens of a list of sentences; returns where sentences begin, an int64 array."""
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
    return offsets


def tokens_of(sentence):
    """The tokens of a sentence, or a DataError."""
    if not isinstance(sentence, (list, tuple)):
        raise DataError(f"the sentence is {sentence!r:.60} of type {type(sentence).__name__}; expected a list of tokens")
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
    if isinstance(token, (list, tuple)):
        push_strings(builder, token)
        return builder.end_row(True)
    builder.flush()                     # a dict can hold objects whose code runs now, and could change what was borrowed
    if isinstance(token, dict):
        push_dict(builder, token, 0, 0, 0)
    elif isinstance(token, (set, frozenset)):
        push_prefixed(builder, in_order(token), 0, 0)
    else:
        raise DataError(f"the token is {token!r:.60} of type {type(token).__name__}; expected {TOKENS}")
    builder.end_row(False)
    return builder.flush()


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
            builder.scratch.append_string(string_of(<object> items[i]))
            builder.push(NULL, at, builder.scratch.used - at, 1)
    return 0


cdef int push_dict(RowBuilder builder, object token, size_t prefix, size_t n_prefix, int depth) except -1:
    """The features of a dict, whose names begin with what stands in the scratch at `prefix`."""
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
        else:
            weight = number(value, scratch, at)
        if weight:
            builder.make_room(1)
            builder.push(NULL, at, scratch.used - at, weight)
    return 0


cdef int push_prefixed(RowBuilder builder, object strings, size_t prefix, size_t n_prefix) except -1:
    """One feature per string, whose names begin with what stands in the scratch at `prefix`."""
    cdef Text scratch = builder.scratch
    cdef size_t at
    for item in strings:
        at = begin(scratch, prefix, n_prefix)
        scratch.append_string(string_of(item))
        builder.make_room(1)
        builder.push(NULL, at, scratch.used - at, 1)
    return 0


cdef inline size_t begin(Text scratch, size_t prefix, size_t n_prefix) except? 0:
    """Begins a name with a copy of a prefix; returns where it stands."""
    cdef size_t at = scratch.used
    if n_prefix:
        scratch.reserve(n_prefix)
        scratch.append(scratch.data + prefix, n_prefix)
    return at


cdef inline object string_of(object item):
    if not isinstance(item, str):
        raise DataError(f"a feature is named {item!r:.60} of type {type(item).__name__}; expected a string")
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
    raise DataError(f"the feature {name!r} is {value!r:.60}; expected {expected}")
