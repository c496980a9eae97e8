# Names to numbers, for the modules that compose names: see vocabulary.pyx.
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t, uint32_t, uint64_t

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
