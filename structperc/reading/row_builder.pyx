"""CSR rows of named features under construction.

Typical sizes: 10^5 tokens of 20 names. Several tokens are processed together: first all names are hashed, then the table's slots
are read, then the names there. Each is prefetched from memory. A result of n features needs 8 n
bytes, allocated once.
"""
import numpy as np

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport qsort
from libc.string cimport memcpy, memset
from structperc.basics.errors import DataError, shortened
from structperc.basics.saved_state import read_array


# ---- vocabulary ----
# Names to numbers: an open-addressing table in C memory, with all names in one text.
#
# Typical sizes: 10^4..10^7 names of 5..30 bytes. A slot takes 16 bytes, and at most three of four are used. A name takes its
# UTF-8 bytes and 8 more: about 50 bytes per name of 15. Finding a name costs 10 ns in the cache, adding one 30 ns. All names of
# a token are looked up together (see `RowBuilder.flush`), so that their memory is fetched at once.

cdef enum:
    FEWEST_SLOTS = 64
    MOST_NAMES = 0x7FFFFFFE     # 2^31 - 2


cdef class Text:
    """Bytes that grow: at `data`, `used` of them."""

    def __dealloc__(self):
        PyMem_Free(self.data)

    cdef int reserve(self, size_t more) except -1:
        """Makes sure that there is space for some more bytes; `data` is somewhere then, also for 0 of them."""
        cdef size_t room = self.room
        cdef char *data
        if self.used + more >= room:
            room = max(self.used + more + 1, room + room // 2, <size_t> 256)
            data = <char *> PyMem_Realloc(self.data, room)
            if data == NULL:
                raise MemoryError(f"no memory for {room} bytes of feature names")
            self.data, self.room = data, room
        return 0

    cdef int append(self, const char *bytes, size_t n) except -1:
        self.reserve(n)
        memcpy(self.data + self.used, bytes, n)
        self.used += n
        return 0

    cdef int append_string(self, object string) except -1:
        """Appends a string in UTF-8, without leaving a copy in the string as Python's own conversion would."""
        cdef PyObject *pointer = <PyObject *> string
        cdef Py_UCS4 character
        cdef uint32_t code
        cdef unsigned char *to
        if PyUnicode_IS_COMPACT_ASCII(pointer):
            return self.append(<const char *> PyUnicode_DATA(pointer), PyUnicode_GET_LENGTH(pointer))
        self.reserve(4 * PyUnicode_GET_LENGTH(pointer))       # a subclass of str may have a `len` of its own
        to = <unsigned char *> self.data + self.used
        for character in <str> string:
            code = <uint32_t> character
            if code < 0x80:
                to[0] = code
                to += 1
                continue
            if code < 0x800:
                to[0] = 0xC0 | code >> 6
                to += 1
            else:
                if code < 0x10000:
                    if 0xD800 <= code < 0xE000:
                        raise DataError(f"the text {string!r:.60} contains half of a surrogate pair ({hex(code)}), which no file can "
                                        f"contain. Read it with the right encoding, or replace such characters")
                    to[0] = 0xE0 | code >> 12
                    to += 1
                else:
                    to[0] = 0xF0 | code >> 18
                    to[1] = 0x80 | (code >> 12 & 0x3F)
                    to += 2
                to[0] = 0x80 | (code >> 6 & 0x3F)
                to += 1
            to[0] = 0x80 | (code & 0x3F)
            to += 1
        self.used = to - <unsigned char *> self.data
        return 0


cdef class Vocabulary:
    """Distinct names, numbered from 0 in the order in which they were first added.

    Names with equal hashes are told apart by their bytes. There can be 2^31 - 2 names of less than 16 MiB each.

    Examples
    --------
    >>> from structperc.reading.row_builder import Vocabulary
    >>> vocabulary = Vocabulary(["the", "dog", "the"])
    >>> vocabulary.add("barks"), vocabulary.find("dog"), vocabulary.find("cat"), vocabulary.name(0)
    (2, 1, -1, 'the')
    """

    def __cinit__(self, *args, **kwargs):
        self.text = Text()
        self.grow(FEWEST_SLOTS)

    def __init__(self, names=()):
        for name in names:
            self.add(name)

    def __dealloc__(self):
        PyMem_Free(self.ends)

    def __len__(self):
        return self.n_names

    def add(self, str name not None):
        """The number of this name, which is a new one if need be."""
        text = utf8(name)
        return self.add_c(text.data, text.used, sp_hash(text.data, text.used))

    def find(self, str name not None):
        """The number of this name, or -1."""
        cdef Text text = utf8(name)
        cdef uint64_t hash = sp_hash(text.data, text.used)
        return self.find_c(self.slot_of(hash), text.data, text.used, hash)

    def name(self, Py_ssize_t number):
        """The name with this number."""
        if not 0 <= number < self.n_names:
            raise IndexError(f"name {number} of {self.n_names}")
        return self.name_c(number)

    def names(self):
        """All names in order, a list of str."""
        cdef Py_ssize_t i
        return [self.name_c(i) for i in range(self.n_names)]

    def only(self, keep):
        """A vocabulary of the names that are marked in `keep`, a bool array, in the same order."""
        cdef const unsigned char[::1] kept = np.ascontiguousarray(keep, dtype=np.uint8)
        cdef Vocabulary other = Vocabulary()
        cdef Py_ssize_t i
        cdef size_t start = 0, n
        if kept.shape[0] != self.n_names:
            raise ValueError(f"{kept.shape[0]} marks for {self.n_names} names")
        for i in range(self.n_names):
            n = <size_t> self.ends[i] - start
            if kept[i]:
                other.add_c(self.text.data + start, n, sp_hash(self.text.data + start, n))
            start += n
        return other

    def state(self):
        """The names as two arrays: `text`, their UTF-8 bytes (uint8), and `ends`, where each ends in it (int64)."""
        text, ends = np.empty(self.text.used, dtype=np.uint8), np.empty(self.n_names, dtype=np.int64)
        cdef unsigned char[::1] bytes = text
        cdef int64_t[::1] numbers = ends
        if self.text.used:
            memcpy(&bytes[0], self.text.data, self.text.used)
        if self.n_names:
            memcpy(&numbers[0], self.ends, self.n_names * sizeof(int64_t))
        return {"text": text, "ends": ends}

    @classmethod
    def restored(cls, state):
        """The vocabulary of which this is the state; a DataError names what is wrong with it."""
        cdef const unsigned char[::1] bytes = read_array(state, "text", np.uint8, (None,))
        cdef const int64_t[::1] ends = read_array(state, "ends", np.int64, (None,))
        cdef Vocabulary vocabulary = Vocabulary()
        cdef Py_ssize_t i, n_names = ends.shape[0]
        cdef int64_t start = 0
        cdef char nothing = 0
        cdef const char *text = &nothing
        if bytes.shape[0]:
            text = <const char *> &bytes[0]
        for i in range(n_names):
            if not start <= ends[i] <= bytes.shape[0]:
                raise DataError(f"the saved name {i} ends at {ends[i]}; expected {start} to {bytes.shape[0]}.")
            try:
                PyUnicode_DecodeUTF8(text + start, ends[i] - start, NULL)
            except UnicodeDecodeError as error:
                raise DataError(f"the saved name {i} is no UTF-8 text: {error}.") from None
            vocabulary.add_c(text + start, ends[i] - start, sp_hash(text + start, ends[i] - start))
            if vocabulary.n_names == i:
                raise DataError(f"the saved name {i} occurs twice.")
            start = ends[i]
        if start != bytes.shape[0]:
            raise DataError(f"the saved names end at {start} of {bytes.shape[0]} bytes.")
        return vocabulary

    def __reduce__(self):
        return Vocabulary.restored, (self.state(),)

    cdef int reserve(self, Py_ssize_t more) except -1:
        """Makes sure that some more names can be added."""
        cdef uint64_t n_slots = self.mask + 1
        while 4 * <uint64_t> (self.n_names + more) > 3 * n_slots:
            n_slots *= 2
        if n_slots > self.mask + 1:
            self.grow(n_slots)
        return 0

    cdef int64_t add_c(self, const char *name, size_t n, uint64_t hash) except -1:
        cdef int64_t number = self.find_c(self.slot_of(hash), name, n, hash)
        cdef uint64_t i
        if number >= 0:
            return number
        self.reserve(1)
        if self.n_names == self.room:
            self.room = ends_room(&self.ends, self.room)
        if n >> LENGTH_BITS or self.n_names == MOST_NAMES:
            raise DataError(f"a feature name of {n} bytes is too long; expected less than {1 << LENGTH_BITS}" if n >> LENGTH_BITS
                            else f"there are more than {MOST_NAMES} feature names; use n_hashed")
        self.text.append(name, n)
        i = hash & <uint32_t> self.mask
        while self.slots[i].number:
            i = (i + 1) & self.mask
        self.slots[i].tag, self.slots[i].place = <uint32_t> hash, (self.text.used - n) << LENGTH_BITS | n
        self.ends[self.n_names] = self.text.used
        self.n_names += 1
        self.slots[i].number = <int> self.n_names
        return self.n_names - 1

    cdef str name_c(self, Py_ssize_t number):
        cdef int64_t start = self.ends[number - 1] if number else 0
        return PyUnicode_DecodeUTF8(self.text.data + start, self.ends[number] - start, NULL)

    cdef int grow(self, uint64_t n_slots) except -1:
        """Moves to a table of this size, a power of 2; the tags give the new places."""
        cdef uint64_t i, j, mask = n_slots - 1
        cdef uint64_t[::1] memory = np.empty(n_slots * sizeof(Slot) // 8, dtype=np.uint64)     # numpy asks for huge pages: 3 ns per name
        cdef Slot *slots = <Slot *> &memory[0]
        memset(slots, 0, n_slots * sizeof(Slot))
        if self.slots != NULL:
            for i in range(self.mask + 1):
                if self.slots[i].number:
                    j = self.slots[i].tag & mask
                    while slots[j].number:
                        j = (j + 1) & mask
                    slots[j] = self.slots[i]
        self.memory, self.slots, self.mask = memory, slots, mask
        return 0


def hash_name(str name not None):
    """The 64-bit hash of a name: n_hashed columns are its remainder, and its highest bit the sign (1: minus)."""
    text = utf8(name)
    return sp_hash(text.data, text.used)


cdef Text utf8(str name):
    cdef Text text = Text()
    text.reserve(1)
    text.append_string(name)
    return text


cdef Py_ssize_t ends_room(int64_t **ends, Py_ssize_t room) except -1:
    """Makes more space for the ends of names."""
    cdef Py_ssize_t more = max(64, room + room // 2)
    cdef int64_t *larger = <int64_t *> PyMem_Realloc(ends[0], more * sizeof(int64_t))
    if larger == NULL:
        raise MemoryError(f"no memory for {more} feature names")
    ends[0] = larger
    return more


# ---- row builder ----

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
    """A CSR matrix, built row by row from names and values."""
    # vocabulary: Vocabulary or None. Gives each name its column; None: signed hashing.
    # n_hashed: int. Columns of signed hashing (Weinberger et al. 2009): the hash mod n_hashed. The value changes its sign if the highest
    # bit of the hash is set.
    # learning: bool. Whether unknown names are added to the vocabulary; otherwise they are dropped.
    # Rows are sorted by column, equal columns added up, zeros left out. Values are float32 as long as all can be so exactly.

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
            raise DataError(f"the values of the feature {self.description(column)} add up to {value}; expected finite sums")
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
        entries = self.vectors.get(name)
        if entries is None:
            entries = self.vectors[name] = [], []
        entries[0].append(self.n_rows + self.n_waiting)
        entries[1].append(array)
        return 0

    cdef str description(self, Py_ssize_t column):
        return f"in column {column}" if self.vocabulary is None else repr(self.vocabulary.name_c(column))


cdef int order(const void *a, const void *b) noexcept nogil:
    cdef int64_t left = (<const int64_t *> a)[0], right = (<const int64_t *> b)[0]
    return (left > right) - (left < right)
