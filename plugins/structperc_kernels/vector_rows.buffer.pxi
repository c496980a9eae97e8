# Memory that grows and begins on a cache line, for tables that compiled kernels read.
#
# Typical sizes: 10^3..10^9 bytes. Growing costs a copy, and takes half as much again.


cdef enum:
    LINE = 64                                   # bytes of a cache line


cdef class AlignedBuffer:
    """Memory that grows and begins on a cache line."""

    cdef int provide(self, Py_ssize_t size) noexcept nogil:
        """Grows the buffer to `size` bytes and keeps its content; -1: out of memory."""
        cdef char *whole
        cdef char *at
        cdef size_t before = <size_t> self.at - <size_t> self.whole
        if size <= self.size and self.at != NULL:
            return 0
        size = max(size, self.size + self.size // 2, <Py_ssize_t> LINE)
        whole = <char *> realloc(self.whole, size + LINE)
        if whole == NULL:
            return -1
        at = whole + (LINE - <size_t> whole % LINE)
        if self.size and <size_t> (at - whole) != before:
            memmove(at, whole + before, self.size)
        self.whole, self.at, self.size = whole, at, size
        return 0

    def __dealloc__(self):
        free(self.whole)


cdef object copied(const void *at, shape, dtype):
    """An array with a copy of the buffer."""
    array = np.empty(shape, dtype=dtype)
    cdef size_t to = array.ctypes.data
    if array.size:
        memcpy(<void *> to, at, array.nbytes)
    return array


cdef object viewed(void *at, shape, dtype):
    """An array on this memory, which must outlive it."""
    cdef Py_ssize_t size = math.prod(shape) * np.dtype(dtype).itemsize
    if size == 0:
        return np.empty(shape, dtype=dtype)
    return np.frombuffer(PyMemoryView_FromMemory(<char *> at, size, PyBUF_WRITE), dtype=dtype).reshape(shape)


cdef object room_for(AlignedBuffer buffer, shape, dtype):
    """An array on memory of the buffer, grown where that is needed."""
    if buffer.provide(math.prod(shape) * np.dtype(dtype).itemsize) < 0:
        out_of_memory()
    return viewed(buffer.at, shape, dtype)


cdef int out_of_memory() except -1:
    raise MemoryError("the rows that the kernel is computed with do not fit into memory; set a budget.")
