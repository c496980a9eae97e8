"""scipy's branch and bound, without the line that HiGHS prints, and without its presolve where that fails.

Some versions of HiGHS print a debugging line while they repair a vector, and no option turns it off. Without this
module users find that line in their own output.
"""

from __future__ import annotations

import ctypes
import os
import threading

from scipy.optimize import milp

FAILED = "Solve error"          # as scipy's message names HiGHS's own error; its status of limits is the same


class Silence:
    """While a thread is inside, what C libraries print to `stdout` is dropped; Python's own prints are not. Only with glibc."""

    def __init__(self):
        self.lock, self.depth, self.stream, self.nowhere = threading.Lock(), 0, None, None
        if "CS_GNU_LIBC_VERSION" in getattr(os, "confstr_names", ()):       # others declare `stdout` constant
            library = ctypes.CDLL(None)
            library.fopen.restype = ctypes.c_void_p
            self.stream, self.nowhere = ctypes.c_void_p.in_dll(library, "stdout"), library.fopen(os.devnull.encode(), b"w")
            self.usual = self.stream.value
            os.register_at_fork(before=self.lock.acquire, after_in_parent=self.lock.release, after_in_child=self.begin_anew)

    def begin_anew(self):
        """A forked process has no other threads, so nobody is inside."""
        self.depth, self.stream.value = 0, self.usual
        self.lock.release()

    def __enter__(self):
        with self.lock:
            if self.depth == 0 and self.nowhere:
                self.stream.value = self.nowhere
            self.depth += 1

    def __exit__(self, *error):
        with self.lock:
            self.depth -= 1
            if self.depth == 0 and self.nowhere:
                self.stream.value = self.usual


SILENCE = Silence()


def branch_and_bound(cost, options, **program):
    """The result of `scipy.optimize.milp`."""
    with SILENCE:
        result = milp(cost, options=options, **program)
        return milp(cost, options=options | {"presolve": False}, **program) if FAILED in result.message else result


__all__ = ["branch_and_bound"]
