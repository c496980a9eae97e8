# Stored rows whose slots are the entries of a list: for what is no row of numbers, or compared by a function of Python.
#
# Typical sizes: 10^2..10^5 entries. Cost: 0.1 us to hold one, and what `read_array` costs.


cdef class ListedKernelRows(KernelRows):
    """Base class: stored rows in a Python list. A subclass defines `read_array` and the other methods of `KernelRows`.

    Examples
    --------
    >>> from structperc_kernels import KernelObjects, ListedKernelRows
    >>> issubclass(KernelObjects, ListedKernelRows)
    True
    """

    def copied_row(self, rows, row, number):
        """Makes the list entry for a row of X. Returns an object. Raises `DataError` if the kernel cannot compare the row.

        Parameters
        ----------
        rows : Rows
        row : int
            The row number in X.
        number : int
            The row number in all training data.
        """
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
                self.held.append(self.copied_row(x.source, x.first_row + row, number))
                self.n += 1
                return 0
            except BaseException as error:
                self.error = error
                return -1

    cdef int overwrite_c(self, Py_ssize_t slot, Example x, Py_ssize_t row, int64_t number) noexcept nogil:
        with gil:
            try:
                self.held[slot] = self.copied_row(x.source, x.first_row + row, number)
                return 0
            except BaseException as error:
                self.error = error
                return -1
