# Memory that grows and begins on a cache line.

cdef class AlignedBuffer:
    cdef char *at
    cdef char *whole
    cdef Py_ssize_t size                        # bytes from `at` on

    cdef int provide(self, Py_ssize_t size) noexcept nogil


cdef object copied(const void *at, shape, dtype)
cdef object viewed(void *at, shape, dtype)
cdef object room_for(AlignedBuffer buffer, shape, dtype)
cdef int out_of_memory() except -1
