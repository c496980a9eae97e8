# A heap of numbered items, the one of largest key on top.

cdef class KeyHeap:
    cdef readonly Py_ssize_t size
    cdef double[::1] key            # of each item
    cdef int[::1] tie               # among equal keys the lowest comes first
    cdef int[::1] heap, place       # items in the heap; the place of each, or -1

    cdef void put(self, int item, double key, int tie) noexcept nogil       # enters an item, or changes its key
    cdef int top(self) noexcept nogil                                       # of a heap that is not empty
    cdef void remove(self, int item) noexcept nogil                         # which need not be in it
    cdef void clear(self) noexcept nogil

    cdef bint before(self, int a, int b) noexcept nogil
    cdef void rise(self, Py_ssize_t i) noexcept nogil
    cdef void sink(self, Py_ssize_t i) noexcept nogil
