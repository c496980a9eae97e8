"""What training remembers of the rows of a fit from one visit to the next: their sums, the changes since, and dear kernel values.

Typical sizes: 10^3..10^6 rows, 1..30 blocks, as many changes as there are steps in an epoch. A row's sums are completed by the changes made
since its last visit, which after the first epoch are far fewer than the rows held.
"""
import numpy as np

from libc.string cimport memcpy
from structperc.core.rows cimport Rows
from structperc_dual_kernel.support_set import grown

FIRST_ROOM = 256


cdef class ScoreCache:
    """Of the data that all passes of a fit visit.

    Parameters
    ----------
    rows : Rows
    n_blocks : int
    most_kept : int
        Bytes that kernel values may take; those of the first rows of X are kept, as many as fit. 0: none.
    """

    def __init__(self, Rows rows, Py_ssize_t n_blocks, Py_ssize_t most_kept=0):
        self.rows = rows
        self.sums = np.zeros((rows.n_rows, n_blocks))
        self.complete = np.full(rows.n_rows, -1, dtype=np.int64)
        self.slot = np.full(rows.n_rows, -1, dtype=np.intc)
        self.changed, self.by = np.zeros(0, dtype=np.intc), np.zeros((0, n_blocks))
        self.forgotten = self.n = 0
        self.kept, self.most_kept = np.zeros((0, 0)), most_kept // 8

    cdef int reserve(self, Py_ssize_t further, Py_ssize_t n_held) except -1:
        """Makes room for so many further changes, and for kernel values of so many slots; forgets changes that cost more than they save."""
        cdef Py_ssize_t n = self.n - self.forgotten, most = 2 * (n_held + further), room
        if n > most:
            self.changed, self.by = np.array(self.changed[n - most // 2:n]), np.array(self.by[n - most // 2:n])
            self.forgotten += n - most // 2
            n = most // 2
        self.make_room(n + further)
        if self.most_kept and n_held > self.kept.shape[1]:
            room = max(n_held, 2 * self.kept.shape[1], FIRST_ROOM)
            kept = np.full((min(self.rows.n_rows, self.most_kept // room), room), np.nan)
            before = np.asarray(self.kept)[:len(kept)]
            kept[:len(before), :before.shape[1]] = before
            self.kept = kept
        return 0

    cdef int make_room(self, Py_ssize_t n) except -1:
        """Makes room for n changes in all."""
        if n > self.changed.shape[0]:
            n = max(n, 2 * self.changed.shape[0], FIRST_ROOM)
            self.changed, self.by = grown(self.changed, n), grown(self.by, n)
        return 0

    cdef void log(self, Py_ssize_t slot, const double *c) noexcept nogil:
        """A change of a slot's coefficients by c; room was made."""
        cdef Py_ssize_t at = self.n - self.forgotten
        self.changed[at] = <int> slot
        memcpy(&self.by[at, 0], c, self.by.shape[1] * sizeof(double))
        self.n += 1

    def multiply(self, double scale):
        """Everything that is in the units of the stored coefficients, times scale."""
        sums, by = np.asarray(self.sums), np.asarray(self.by)
        sums *= scale
        by *= scale
