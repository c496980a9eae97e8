# How long-running compiled code responds to Ctrl-C.

cdef bint interrupted(Py_ssize_t operations) noexcept nogil
cdef int check_signals() except -1
