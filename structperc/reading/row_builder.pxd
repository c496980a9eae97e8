# Rows of named features under construction, for the modules that compose names: see row_builder.pyx.
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t, uint32_t, uint64_t


# ---- vocabulary ----
# Names to numbers.

cdef extern from "vocabulary.h" nogil:
    uint64_t sp_hash(const char *text, size_t n) noexcept
    bint sp_same(const char *a, const char *b, size_t n) noexcept
    void SP_FETCH(const void *p) noexcept

cdef extern from "Python.h":
    bint PyUnicode_Check(PyObject *text)
    bint PyUnicode_IS_COMPACT_ASCII(PyObject *text)
    void *PyUnicode_DATA(PyObject *text)
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject *text)

cdef enum:
    LENGTH_BITS = 24            # of a slot's place; the other 40 are where the name begins


cdef struct Slot:
    uint32_t tag                # the low half of the hash
    int number                  # 1 + the name's number; 0: free
    uint64_t place              # where the name begins in the text, and its length


cdef class Text:
    cdef char *data
    cdef size_t used, room

    cdef int reserve(self, size_t more) except -1
    cdef int append(self, const char *bytes, size_t n) except -1
    cdef int append_string(self, object string) except -1


cdef class Vocabulary:
    cdef uint64_t[::1] memory   # of the slots
    cdef Slot *slots
    cdef uint64_t mask          # number of slots - 1
    cdef Py_ssize_t n_names
    cdef Text text
    cdef int64_t *ends          # where each name ends in the text
    cdef Py_ssize_t room        # names for which there is space in `ends`

    cdef int reserve(self, Py_ssize_t more) except -1
    cdef int grow(self, uint64_t n_slots) except -1
    cdef int64_t add_c(self, const char *name, size_t n, uint64_t hash) except -1
    cdef str name_c(self, Py_ssize_t number)

    cdef inline const Slot *slot_of(self, uint64_t hash) noexcept nogil:
        return &self.slots[hash & <uint32_t> self.mask]

    cdef inline const Slot *next_slot(self, const Slot *slot, uint64_t hash) noexcept nogil:
        """From this slot on the first that has the tag of the hash, or is free."""
        while slot.number and slot.tag != <uint32_t> hash:
            slot += 1
            if slot > self.slots + self.mask:
                slot = self.slots
        return slot

    cdef inline int64_t find_c(self, const Slot *slot, const char *name, size_t n, uint64_t hash) noexcept nogil:
        """The number of a name, sought from this slot on, or -1."""
        slot = self.next_slot(slot, hash)
        while slot.number:
            if slot.place & ((1 << LENGTH_BITS) - 1) == n and sp_same(self.text.data + (slot.place >> LENGTH_BITS), name, n):
                return slot.number - 1
            slot = self.next_slot(slot + 1 if slot < self.slots + self.mask else self.slots, hash)
        return -1


# ---- row builder ----

cdef enum:
    BATCH = 64                  # so many features, or rows, wait for the memory before they are written


cdef struct Feature:
    const char *borrowed        # the bytes of its name, alive until `flush`; NULL: they are in `scratch`, from `at` on
    size_t at, n
    uint64_t hash
    const Slot *slot            # where its name may stand in the table
    double value


cdef struct Row:
    Py_ssize_t end              # of its features
    bint plain                  # all values are 1
    Py_ssize_t sentence, token


cdef class RowBuilder:
    cdef readonly Vocabulary vocabulary
    cdef readonly bint learning
    cdef readonly Py_ssize_t n_rows
    cdef readonly Py_ssize_t used               # values written
    cdef readonly Py_ssize_t sentence, token    # where the walk is, for error messages; token -1: at the sentence itself
    cdef readonly dict vectors                  # of each name the rows that have it and their vectors, two lists
    cdef uint64_t n_hashed
    cdef Text scratch                           # names that had to be composed
    cdef Feature *features                      # of the rows that wait to be written
    cdef int64_t *columns                       # of these features
    cdef Row rows[BATCH]
    cdef Py_ssize_t n_waiting, n_features, room     # rows and features that wait, and space for features
    cdef object indices, values, indptr         # arrays of the result
    cdef char *indices_at
    cdef char *values_at
    cdef char *indptr_at
    cdef bint wide_indices, wide_values         # 64 bits rather than 32
    cdef Py_ssize_t n_values, max_rows          # space for values and rows

    cdef int allocate(self, Py_ssize_t max_rows, Py_ssize_t n_values) except -1
    cdef int make_room(self, Py_ssize_t n) except -1
    cdef int flush(self) except -1
    cdef int find_columns(self) except -1
    cdef bint write_few(self, Py_ssize_t first, const Row *row) noexcept
    cdef int write_many(self, Py_ssize_t first, Py_ssize_t end) except -1
    cdef int write(self, int64_t column, double value) except -1
    cdef int widen(self) except -1
    cdef int keep_vector(self, str name, object vector) except -1
    cdef str description(self, Py_ssize_t column)

    cdef inline void push(self, const char *borrowed, size_t at, size_t n, double value) noexcept:
        """One more feature of the row, for which there is room; asks the memory for its place in the table."""
        cdef Feature *feature = self.features + self.n_features
        cdef uint64_t hash = sp_hash(borrowed if borrowed != NULL else self.scratch.data + at, n)
        feature.borrowed, feature.at, feature.n, feature.hash, feature.value = borrowed, at, n, hash, value
        self.n_features += 1
        if self.vocabulary is not None:
            SP_FETCH(self.vocabulary.slot_of(hash))

    cdef inline int end_row(self, bint plain) except -1:
        """The row is complete; what was borrowed must live until `flush`."""
        cdef Row *row = &self.rows[self.n_waiting]
        row.end, row.plain, row.sentence, row.token = self.n_features, plain, self.sentence, self.token
        self.n_waiting += 1
        if self.n_waiting == BATCH or self.n_features >= BATCH:
            self.flush()
        return 0
