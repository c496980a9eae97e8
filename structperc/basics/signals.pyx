"""How long-running compiled code responds to Ctrl-C: it counts operations here, and stops on request.

    if interrupted(n * n):          # operations since the last call, of about a nanosecond
        return -1                   # as after an error; nothing is stored in `error`

The exception waits for `take_interruption`, which is called first by code that raises errors of compiled methods. It waits in the thread
that raised it, invisible to other threads that use the same parts.

Typical sizes: a call for every 10^3..10^7 operations. Cost: 3 ns; the GIL is taken for every 6.7 * 10^7 operations.
"""
from concurrent.futures import ThreadPoolExecutor
import threading

from cpython.exc cimport PyErr_CheckSignals


# ---- stopping ----


cdef extern from *:
    """
    #ifdef _MSC_VER
    static __declspec(thread) Py_ssize_t sp_operations;
    #else
    static _Thread_local Py_ssize_t sp_operations;
    #endif
    """
    Py_ssize_t sp_operations

cdef enum:
    BETWEEN_SIGNALS = 1 << 26       # operations


class ThreadState(threading.local):
    """Of each thread: the exception that stopped its compiled work, and the event that asks it to stop."""

    error = None
    cancelled = None


class Cancelled(BaseException):
    """The work of this thread is no longer wanted."""


HERE = ThreadState()
cdef Py_ssize_t n_maps = 0      # calls of `map_in_threads` that have threads, in the whole process: nobody else cancels


cdef bint interrupted(Py_ssize_t operations) noexcept nogil:
    """Whether to stop: a signal's handler has raised an exception, or nobody waits for this thread any more."""
    global sp_operations
    sp_operations += operations
    if sp_operations < BETWEEN_SIGNALS:
        return False
    sp_operations = 0
    return stopped()


cdef int check_signals() except -1:
    """Raises what a signal's handler raises, and `Cancelled` where nobody waits for this thread any more; 10 ns."""
    PyErr_CheckSignals()
    if n_maps and HERE.cancelled is not None and HERE.cancelled.is_set():
        raise Cancelled
    return 0


cdef bint stopped() noexcept with gil:
    try:
        check_signals()
    except BaseException as error:
        HERE.error = error
        return True
    return False


def take_interruption():
    """The exception that stopped compiled work of this thread, or None; forgets it. Returns `BaseException` or None.

    Examples
    --------
    >>> from structperc.plugin_tools import take_interruption
    >>> take_interruption() is None
    True
    """
    error = HERE.error
    if error is not None:
        HERE.error = None
    return error


def raise_interruption() -> None:
    """Raise the exception that stopped compiled work of this thread, if there is one.

    Raises
    ------
    BaseException
        Such as KeyboardInterrupt after Ctrl-C. It is raised once.

    Examples
    --------
    >>> from structperc.plugin_tools import raise_interruption
    >>> raise_interruption()
    """
    error = take_interruption()
    if error is not None:
        raise error


def map_in_threads(function, items, n_threads):
    """The results of a function for all items, in order, several at a time. Returns a list.

    An exception, Ctrl-C among them, is raised as soon as the threads' compiled work has stopped.

    Parameters
    ----------
    function : callable
    items : iterable
    n_threads : int

    Examples
    --------
    >>> from structperc.plugin_tools import map_in_threads
    >>> map_in_threads(abs, [-1, 2, -3], n_threads=2)
    [1, 2, 3]
    """
    cancelled = threading.Event()

    def call(item):
        HERE.cancelled = cancelled
        return function(item)

    global n_maps
    n_maps += 1
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            results = list(pool.map(call, items))
        except BaseException:
            cancelled.set()
            raise
    n_maps -= 1                 # not after an exception: a second one may leave threads behind
    return results


# ---- interrupts ----
# Work that Ctrl-C must not leave half done.
#
# Compiled code meets Ctrl-C inside the Python functions that it calls, and nowhere else.


cdef enum:
    MOST_INTERRUPTS = 100


def retry_on_interrupt(list interrupts, function, *arguments):
    """The result of a function that may be called again from its beginning. Ctrl-C during the call starts it anew.
    Returns an object. What `function` returned.

    Parameters
    ----------
    interrupts : list
        Receives each KeyboardInterrupt; the caller raises the first of them once its work is done. The hundredth gets through, so that a
        function that never ends can be ended.
    function : callable
    *arguments
        Passed on to `function`.

    Examples
    --------
    >>> from structperc.plugin_tools import retry_on_interrupt
    >>> interrupts = []
    >>> retry_on_interrupt(interrupts, sum, [1, 2])
    3
    >>> interrupts
    []
    """
    while True:
        try:
            return function(*arguments)
        except KeyboardInterrupt as interrupt:
            interrupts.append(interrupt)
            if len(interrupts) >= MOST_INTERRUPTS:
                raise
