cdef struct Reader:
    unsigned long thread
    Py_ssize_t depth                # of reads within reads


cdef class ReadWriteLock:
    cdef Reader *readers
    cdef Py_ssize_t n_readers, room
    cdef unsigned long writer
    cdef Py_ssize_t writing         # depth of writes within writes; 0: nobody writes
    cdef unsigned long n_forks
    cdef list queue
    cdef bint torn

    cdef int begin_read(self) except -1
    cdef void end_read(self) noexcept
    cdef int begin_write(self) except -1
    cdef void end_write(self) noexcept

    cdef int check(self) except -1
    cdef void forget_parent(self) noexcept
    cdef Reader *reader(self, unsigned long thread) noexcept
    cdef int reserve(self) except -1
    cdef void enter_read(self, unsigned long thread) noexcept
    cdef void leave_read(self, unsigned long thread) noexcept
    cdef int wait(self, unsigned long thread, bint writes) except -1
    cdef void admit(self) noexcept


cdef class TrainingLock:
    cdef unsigned long thread, n_forks
    cdef bint has_owner

    cdef bint is_taken(self) noexcept
    cdef bint is_mine(self) noexcept
    cdef int begin(self, method) except -1
    cdef void end(self) noexcept
