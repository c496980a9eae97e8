"""CSR rows of named features under construction.

Typical sizes: 10^5 tokens of 20 names. Several tokens are processed together: first all names are hashed, then the table's slots
are read, then the names there. Each is prefetched from memory. A result of n features needs 8 n
bytes, allocated once.
"""
import numpy as np

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport qsort
from structperc.core.errors import DataError, shortened
from structperc.reading.vocabulary cimport LENGTH_BITS, SP_FETCH, Text, Vocabulary

cdef extern from "sort_columns.h" nogil:
    enum:
        SP_FEW
    bint sp_ranks(int *columns, Py_ssize_t n, int *ranks) noexcept

cdef enum:
    PLACE_BITS = 23             # of a sort key: the feature's place in the token; above them its column


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
        Columns of signed hashing: the hash mod n_hashed, and the value times -1 if the highest bit of the hash is set (Weinberger et al.
        2009).
    learning : bool
        Whether unknown names are added to the vocabulary; otherwise they are dropped.

    Rows are sorted by column, equal columns added up, zeros left out. Values are float32 as long as all can be so exactly.
    """

    def __init__(self, Vocabulary vocabulary=None, uint64_t n_hashed=0, bint learning=False):
        if (vocabulary is None) == (n_hashed == 0):
            raise ValueError("names get their columns either from a vocabulary or by hashing")
        self.vocabulary, self.n_hashed, self.learning = vocabulary, n_hashed, learning
        self.vectors = {}
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
        return type(error)(f"{place}: {error}.")

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
        if n > 1:
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

    cdef int keep_vector(self, str name, object vector) except -1:
        """A vector of the row that is being made."""
        array = vector if type(vector) is np.ndarray else np.asarray(vector)
        if array.ndim != 1 or array.dtype.kind not in "fiub":
            raise DataError(f"the vector {name!r} is {shortened(vector)}; expected numbers")
        found = self.vectors.get(name)
        if found is None:
            found = self.vectors[name] = [], []
        found[0].append(self.n_rows + self.n_waiting)
        found[1].append(array)
        return 0

    cdef str shown(self, Py_ssize_t column):
        return f"in column {column}" if self.vocabulary is None else repr(self.vocabulary.name_c(column))


cdef int order(const void *a, const void *b) noexcept nogil:
    cdef int64_t left = (<const int64_t *> a)[0], right = (<const int64_t *> b)[0]
    return (left > right) - (left < right)
