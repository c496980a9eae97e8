# Where the rows of weights stand in the array of a store.

cdef class RowTable:
    """All rows, in their own order."""
    # n_rows, n_on_demand: of the feature map, whose rows on demand come first.

    def __init__(self, Py_ssize_t n_rows, Py_ssize_t n_on_demand):
        self.n_rows, self.n_on_demand, self.n_zeros, self.first_fixed = n_rows, n_on_demand, 0, n_on_demand

    cdef int show(self, Parameter *p) except -1:
        """Lets compiled features find each row."""
        p.fixed = p.w + self.first_fixed * p.pitch
        return 0

    cdef Py_ssize_t n_used(self) noexcept nogil:
        return self.n_rows

    cdef Py_ssize_t n_used_with(self, columns) except -1:
        """The same with these saved `columns`."""
        return self.n_rows

    cdef where(self, rows):
        """Positions of rows; 0 where no step has touched them."""
        return np.asarray(rows)

    cdef claimed(self, rows):
        """The same; each has a position from now on."""
        return np.array(rows, dtype=np.int64)

    cdef used(self, RowTable other):
        """The rows that this table or another has in use, rising."""
        return np.arange(self.n_rows)

    cdef changed(self, RowTable other):
        """Those of them that steps may have touched since `watch`."""
        return self.used(other)

    cdef int watch(self, Parameter *p) except -1:
        """Marks what steps touch from now on."""
        return 0

    cdef in_order(self, values):
        """All weights in the rows' own order, flat, of values by position."""
        return values.ravel()

    cdef by_position(self, values):
        """Values by position, of all rows in their own order. Rows of zeros lose theirs."""
        return values

    cdef int share(self, RowTable other, Parameter *p) except -1:
        """Takes the positions of another table."""
        return 0

    cdef dict state(self):
        return {}

    cdef saved(self, state):
        """The `columns` of a saved state, checked."""
        return None

    cdef int settle(self, columns) except -1:
        """Gives positions to these rows and to no others."""
        return 0

    cdef copied(self):
        """All positions, for `put_back`."""
        return None

    cdef int put_back(self, Py_ssize_t n_used, positions, new) except -1:
        """As it was with so many rows in use: all at `positions`, or without the `new` ones."""
        return 0


cdef class PlacedRows(RowTable):
    """A row of zeros, the fixed rows, and those on demand in the order in which steps first touched them."""

    def __init__(self, Py_ssize_t n_rows, Py_ssize_t n_on_demand):
        self.n_rows, self.n_on_demand, self.n_zeros, self.first_fixed = n_rows, n_on_demand, 1, 1
        self.n_first = n_rows - n_on_demand + 1
        self.place, self.marks, self.n_placed = np.zeros(n_on_demand, dtype=np.intc), None, <int> self.n_first

    cdef int show(self, Parameter *p) except -1:
        RowTable.show(self, p)
        p.place, p.marks, p.n_placed = &self.place[0], &self.place[0], &self.n_placed
        return 0

    cdef Py_ssize_t n_used(self) noexcept nogil:
        return self.n_placed

    cdef Py_ssize_t n_used_with(self, columns) except -1:
        return self.n_first + len(columns)

    cdef where(self, rows):
        rows = np.asarray(rows)
        on_demand = np.asarray(self.place)[np.minimum(rows, self.n_on_demand - 1)]
        return np.where(rows < self.n_on_demand, on_demand, rows - self.n_on_demand + 1)

    cdef claimed(self, rows):
        where = self.where(rows)
        new = (where == 0).nonzero()[0]
        where[new] = np.arange(self.n_placed, self.n_placed + len(new))
        np.asarray(self.place)[rows[new]] = where[new]
        self.n_placed += <int> len(new)
        return where.astype(np.int64)

    cdef used(self, RowTable other):
        return self.with_fixed(np.asarray(self.place) | np.asarray((<PlacedRows> other).place))

    cdef changed(self, RowTable other):
        return self.used(other) if self.marks is None else self.with_fixed(np.asarray(self.marks))

    cdef with_fixed(self, place):
        """The rows on demand that have a position here, and all fixed ones behind them."""
        return np.concatenate([place.nonzero()[0], np.arange(self.n_on_demand, self.n_rows)])

    cdef int watch(self, Parameter *p) except -1:
        self.marks = np.zeros(self.n_on_demand, dtype=np.intc)
        p.marks = &self.marks[0]
        return 0

    cdef in_order(self, values):
        where = self.where(np.arange(self.n_rows))
        return values[np.where(where < len(values), where, 0)].ravel()      # another thread may have placed more since

    cdef by_position(self, values):
        used = np.flatnonzero(values[:self.n_on_demand].any(axis=1))
        self.settle(used)
        return np.concatenate([np.zeros((1, values.shape[1])), values[self.n_on_demand:], values[used]])

    cdef int share(self, RowTable other, Parameter *p) except -1:
        cdef PlacedRows same = other
        self.place, self.n_placed = same.place, same.n_placed       # rows that join there later are zeros here
        p.place = p.marks = &self.place[0]
        return 0

    cdef dict state(self):
        place = np.asarray(self.place)
        used = np.flatnonzero(place)
        columns = np.empty(len(used), dtype=np.int64)
        columns[place[used] - self.n_first] = used
        return {"columns": columns}

    cdef saved(self, state):
        columns = read_array(state, "columns", np.int64, (None,), low=0, high=self.n_on_demand - 1)
        if len(np.unique(columns)) < len(columns):
            raise DataError("a row of weights is saved twice.")
        return columns

    cdef int settle(self, columns) except -1:
        place = np.asarray(self.place)
        if self.n_placed > self.n_first:        # else all are 0, and memory that was never touched stays so
            place[:] = 0
        self.n_placed = <int> self.n_used_with(columns)
        place[columns] = np.arange(self.n_first, self.n_placed)
        return 0

    cdef copied(self):
        return np.array(self.place)

    cdef int put_back(self, Py_ssize_t n_used, positions, new) except -1:
        place = np.asarray(self.place)
        if new is None:
            place[:] = positions
        else:
            place[new] = 0
        self.n_placed = <int> n_used
        return 0
