# What training keeps of the rows of a fit from one visit to the next: their sums, the changes since, and expensive kernel values.
#
# Typical sizes: 10^3..10^6 rows, 1..30 blocks, as many changes as there are steps in an epoch. A row's sums are completed by the changes
# since its last visit. After the first epoch these are far fewer than the support rows.


FIRST_VALUES = 256


cdef class ScoreCache:
    """Of the data that all passes of a fit visit."""
    # most_values: int. Bytes that kernel values may take: those of the first rows of X, as many as fit. 0: none.

    def __init__(self, Rows rows, Py_ssize_t n_blocks, Py_ssize_t most_values=0):
        self.rows = rows
        self.sums = np.zeros((rows.n_rows, n_blocks))
        self.changes_seen = np.full(rows.n_rows, -1, dtype=np.int64)
        self.slot = np.full(rows.n_rows, -1, dtype=np.intc)
        self.changed_slot, self.change = np.zeros(0, dtype=np.intc), np.zeros((0, n_blocks))
        self.first_change = self.n_changes = 0
        self.values, self.most_values = np.zeros((0, 0)), most_values // 8

    cdef int reserve(self, Py_ssize_t further, Py_ssize_t n_stored) except -1:
        """Reserves memory for further changes and kernel values of slots, and drops changes that cost more than they save."""
        cdef Py_ssize_t n = self.n_changes - self.first_change, most = 2 * (n_stored + further), room
        if n > most:
            self.changed_slot, self.change = np.array(self.changed_slot[n - most // 2:n]), np.array(self.change[n - most // 2:n])
            self.first_change += n - most // 2
            n = most // 2
        self.make_room(n + further)
        if self.most_values and n_stored > self.values.shape[1]:
            room = max(n_stored, 2 * self.values.shape[1], FIRST_VALUES)
            values = np.full((min(self.rows.n_rows, self.most_values // room), room), np.nan)
            before = np.asarray(self.values)[:len(values)]
            values[:len(before), :before.shape[1]] = before
            self.values = values
        return 0

    cdef int make_room(self, Py_ssize_t n) except -1:
        """Makes room for n changes in all."""
        if n > self.changed_slot.shape[0]:
            n = max(n, 2 * self.changed_slot.shape[0], FIRST_VALUES)
            self.changed_slot, self.change = grown(self.changed_slot, n), grown(self.change, n)
        return 0

    cdef void log(self, Py_ssize_t slot, const double *c) noexcept nogil:
        """A change of a slot's coefficients by c; room was made."""
        cdef Py_ssize_t at = self.n_changes - self.first_change
        self.changed_slot[at] = <int> slot
        memcpy(&self.change[at, 0], c, self.change.shape[1] * sizeof(double))
        self.n_changes += 1

    def multiply(self, double scale):
        """Everything that is in the units of the stored coefficients, times scale."""
        sums, change = np.asarray(self.sums), np.asarray(self.change)
        sums *= scale
        change *= scale
