# distutils: extra_compile_args = CALLS
"""A read-write lock for a model, and a lock for its one trainer.

The state is a few C fields, changed under the GIL and without a call into Python. Acquiring and releasing costs about 20 ns
without contention. An interrupt never falls between the two and the call that they enclose, nor into them. A lock object
exists only while a thread waits.
"""
import functools
import os
from _thread import allocate_lock

from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.pythread cimport PyThread_get_thread_ident
from structperc.basics.errors import BusyError
from structperc.core.component import located

cdef unsigned long n_forks = 0          # how many forks lie between the first process and this one


def count_fork():
    """Lets this process, a child, know that the other threads of its parent are not in it."""
    global n_forks
    n_forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=count_fork)


cdef class Waiting:
    """A thread that waits until it is let in."""

    cdef unsigned long thread
    cdef bint writes, admitted
    cdef object latch                   # a lock that is released for the thread to go on

    def __init__(self, unsigned long thread, bint writes):
        self.thread, self.writes, self.latch = thread, writes, allocate_lock()
        self.latch.acquire()


cdef class ReadWriteLock:
    """Many calls that read a model, or one call that changes it in place.

    Threads enter in the order of their arrival, so readers do not starve writers, nor writers readers.
    A thread may read within its own reads and writes, and write within its own writes. A write within a thread's own read raises an error,
    because the outer call would continue with another model.

    After a fork, threads of the parent do not block the child. If one of them was changing the model, the child has an
    incomplete copy. Every use of that copy raises an error.

    Compiled code may enclose a block by `begin_read` and `end_read`, or `begin_write` and `end_write`, in `try` and `finally`. Python
    code passes a function, since Ctrl-C could fall between `begin_read()` and `try`.
    """

    def __cinit__(self):
        self.queue, self.n_forks = [], n_forks

    def __dealloc__(self):
        PyMem_Free(self.readers)

    def read(self, function, *arguments):
        """Calls a function that reads the model, and returns its result. `BusyError` if another thread changed it during a fork."""
        self.begin_read()
        try:
            return function(*arguments)
        except Exception as error:
            raise located(error)
        finally:
            self.end_read()

    def write(self, function, *arguments):
        """Calls a function that changes the model in place, and returns its result. `BusyError` if this thread reads it, or forked."""
        self.begin_write()
        try:
            return function(*arguments)
        finally:
            self.end_write()

    cdef int begin_read(self) except -1:
        cdef unsigned long thread = PyThread_get_thread_ident()
        if self.n_forks != n_forks or self.torn:
            self.check()
        if (self.writing or self.queue) and self.writer != thread and self.reader(thread) == NULL:
            return self.wait(thread, False)
        self.reserve()
        self.enter_read(thread)
        return 0

    cdef void end_read(self) noexcept:
        self.leave_read(PyThread_get_thread_ident())

    cdef int begin_write(self) except -1:
        cdef unsigned long thread = PyThread_get_thread_ident()
        if self.n_forks != n_forks or self.torn:
            self.check()
        if self.writing and self.writer == thread:
            self.writing += 1
            return 0
        if self.reader(thread) != NULL:
            raise BusyError("this call would change the model while a call that reads it is under way in the same thread. Let that "
                            "call end first, or train a copy.")
        if self.writing or self.n_readers or self.queue:
            return self.wait(thread, True)
        self.writer, self.writing = thread, 1
        return 0

    cdef void end_write(self) noexcept:
        self.writing -= 1
        if not self.writing:
            self.writer = 0
            self.admit()

    cdef int check(self) except -1:
        """Raises an error for a model that another thread was changing during a fork."""
        self.forget_parent()
        if self.torn:
            raise BusyError("this process was forked while another thread was changing the model, so the copy here is half changed. "
                            "Call fit, or load the model from a file.")
        return 0

    cdef void forget_parent(self) noexcept:
        """Keeps what belongs to the one thread of a child after a fork."""
        cdef unsigned long thread = PyThread_get_thread_ident()
        cdef Reader *own
        if self.n_forks == n_forks:
            return
        own = self.reader(thread)
        if own != NULL:
            self.readers[0] = own[0]
        self.n_readers, self.n_forks = own != NULL, n_forks
        self.queue.clear()
        if self.writing and self.writer != thread:
            self.torn, self.writing, self.writer = True, 0, 0

    cdef Reader *reader(self, unsigned long thread) noexcept:
        """The entry of a thread among the readers, or NULL."""
        cdef Py_ssize_t i
        for i in range(self.n_readers):
            if self.readers[i].thread == thread:
                return self.readers + i
        return NULL

    cdef int reserve(self) except -1:
        """Makes room for one more reader besides those who wait."""
        cdef Py_ssize_t n = self.n_readers + len(self.queue) + 1
        cdef Reader *readers
        if n > self.room:
            readers = <Reader *> PyMem_Realloc(self.readers, 2 * n * sizeof(Reader))
            if readers == NULL:
                raise MemoryError
            self.readers, self.room = readers, 2 * n
        return 0

    cdef void enter_read(self, unsigned long thread) noexcept:
        cdef Reader *reader = self.reader(thread)
        if reader == NULL:
            reader = self.readers + self.n_readers
            reader.thread, reader.depth = thread, 0
            self.n_readers += 1
        reader.depth += 1

    cdef void leave_read(self, unsigned long thread) noexcept:
        cdef Reader *reader = self.reader(thread)
        reader.depth -= 1
        if reader.depth == 0:
            self.n_readers -= 1
            reader[0] = self.readers[self.n_readers]
            self.admit()

    cdef int wait(self, unsigned long thread, bint writes) except -1:
        """Waits until this thread is let in; Ctrl-C ends the waiting."""
        cdef Waiting waiting = Waiting(thread, writes)
        self.reserve()
        self.queue.append(waiting)
        self.admit()                    # who was in the way may have left while `waiting` was made
        try:
            waiting.latch.acquire()
        except BaseException:
            if not waiting.admitted:
                self.queue.remove(waiting)
                self.admit()
            elif writes:
                self.end_write()
            else:
                self.leave_read(thread)
            raise
        return 0

    cdef void admit(self) noexcept:
        """Lets in who has waited longest, as far as there is room."""
        cdef Waiting first
        if not self.queue:
            return
        self.forget_parent()
        while self.queue:
            first = self.queue[0]
            if self.writing or first.writes and self.n_readers:
                return
            if first.writes:
                self.writer, self.writing = first.thread, 1
            else:
                self.enter_read(first.thread)
            del self.queue[0]
            first.admitted = True
            first.latch.release()


def reading(method):
    """A method that no change of the object's model, in its attribute `lock`, comes in between."""
    @functools.wraps(method)
    def guarded(self, *arguments, **keywords):
        cdef ReadWriteLock lock = self.lock
        lock.begin_read()
        try:
            return method(self, *arguments, **keywords)
        except Exception as error:
            raise located(error)
        finally:
            lock.end_read()
    return guarded


cdef class TrainingLock:
    """One caller at a time; a second one raises an error at once.

    Of a turn that a thread of the parent process took, a child after a fork knows nothing.
    """

    cdef bint is_mine(self) noexcept:
        """Whether this thread has the turn."""
        return self.is_taken() and self.thread == PyThread_get_thread_ident()

    cdef bint is_taken(self) noexcept:
        return self.has_owner and (self.n_forks == n_forks or self.thread == PyThread_get_thread_ident())

    cdef int begin(self, method) except -1:
        if self.is_taken():
            raise BusyError(f"{method} was called while this engine is being trained, by an observer or in another thread. "
                            f"Wait until it has ended, or train a copy.")
        self.has_owner, self.thread, self.n_forks = True, PyThread_get_thread_ident(), n_forks
        return 0

    cdef void end(self) noexcept:
        self.has_owner = False
