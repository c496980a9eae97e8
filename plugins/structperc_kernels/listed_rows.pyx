# distutils: extra_compile_args = GLUE
"""Stored rows whose slots are the entries of a list: for what is no row of numbers, or compared by a function of Python.

Typical sizes: 10^2..10^5 entries. Cost: 0.1 us to hold one, and what `taken` costs.
"""
from libc.stdint cimport int64_t
from structperc.core.rows cimport Example
from structperc_kernels.kernel_rows cimport KernelRows


cdef class ListedKernelRows(KernelRows):
    """A subclass gives `taken`, and what a `KernelRows` needs besides."""

    def taken(self, rows, row, number):
        """The entry for a row of X with this number over all training data. Raises an error if it cannot be compared."""
        raise self.missing("taken")

    def copy_slot(self, Py_ssize_t to, Py_ssize_t slot, KernelRows source):
        self.held[to] = (<ListedKernelRows> source).held[slot]

    def truncate(self, Py_ssize_t n):
        del self.held[n:]
        self.n = n

    def reserve(self, Py_ssize_t n):
        pass

    cdef int append_c(self, Example x, Py_ssize_t row, int64_t number) noexcept nogil:
        with gil:
            try:
                self.held.append(self.taken(x.source, x.first_row + row, number))
                self.n += 1
                return 0
            except BaseException as error:
                self.error = error
                return -1

    cdef int overwrite_c(self, Py_ssize_t slot, Example x, Py_ssize_t row, int64_t number) noexcept nogil:
        with gil:
            try:
                self.held[slot] = self.taken(x.source, x.first_row + row, number)
                return 0
            except BaseException as error:
                self.error = error
                return -1
