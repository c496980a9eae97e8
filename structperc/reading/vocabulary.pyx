"""Names to numbers: an open-addressing table in C memory, with all names in one text.

Typical sizes: 10^4..10^7 names of 5..30 bytes. A slot takes 16 bytes, and at most three of four are used. A name takes its
UTF-8 bytes and 8 more: about 50 bytes per name of 15. Finding a name costs 10 ns in the cache, adding one 30 ns. All names of
a token are looked up together (see row_builder.pyx), so that their memory is fetched at once.
"""
import numpy as np

from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.string cimport memcpy, memset
from structperc.core.errors import DataError
from structperc.core.saved_state import read_array

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
    >>> from structperc.reading.vocabulary import Vocabulary
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
