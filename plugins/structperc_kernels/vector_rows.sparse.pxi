# Sparse rows, and the kernels between them.
#
# Typical sizes: 10^2..10^5 rows of 80 non-zeros among 2^20. Cost: appending copies a row; see vector_rows.pyx for the values.


cdef enum:
    FEW = 4096                                  # entries that are not worth gathering


cdef class SparseQueries(VectorQueries):
    """Rows of X in panels of only those features that occur in a group of sixteen rows."""

    def __cinit__(self, *args):
        self.features, self.begin, self.place = AlignedBuffer(), AlignedBuffer(), AlignedBuffer()
        self.current = -1

    cdef void show(self, Py_ssize_t group) noexcept nogil:
        """Makes `place` that of this group, or of none (-1): 0 for features that do not occur."""
        cdef int32_t *place = <int32_t *> self.place.at
        cdef const int32_t *features = <const int32_t *> self.features.at
        cdef const int64_t *begin = <const int64_t *> self.begin.at
        cdef Py_ssize_t r
        if self.current >= 0:
            for r in range(begin[self.current] + 1, begin[self.current + 1]):
                place[features[r]] = 0
        if group >= 0:
            for r in range(begin[group] + 1, begin[group + 1]):
                place[features[r]] = <int32_t> (r - begin[group])
        self.current = group


cdef class SparseKernelRows(VectorKernelRows):
    """Sparse rows, and a kernel between them; the parameters are those of `VectorKernelRows`.

    Parameters
    ----------
    kernel : str, default "linear"
    gamma : float > 0, "scale" or "auto", default "scale"
    degree : int >= 1, default 3
    coef0 : float, default 0.0
    offset : float, optional
    dtype : "float64" or "float32", default "float64"

    Examples
    --------
    >>> from types import SimpleNamespace
    >>>     >>> from structperc.components import Rows
    >>> from structperc_kernels import SparseKernelRows
    >>> kernel_rows = SparseKernelRows("linear")
    >>> kernel_rows.start(SimpleNamespace(n_features=2, objects=False))
    >>> rows = Rows(csr_array([[1.0, 0.0], [3.0, 4.0]]))
    >>> kernel_rows.append(rows, 0)
    >>> kernel_rows.values(rows).tolist()
    [[1.0], [3.0]]
    """

    def __cinit__(self, *args, **kwargs):
        self.begin, self.length, self.indices = AlignedBuffer(), AlignedBuffer(), AlignedBuffer()

    def reserve(self, Py_ssize_t n):
        """Makes room for n rows in all; their non-zeros get room as they come."""
        if self.begin.provide(n * 8) < 0 or self.length.provide(n * 4) < 0 or self.norms.provide(n * self.value_size) < 0:
            out_of_memory()
        if self.indices.provide(0) < 0 or self.stored.provide(0) < 0:       # an address, also for rows of zeros
            out_of_memory()
        self.held.begin, self.held.length = <int64_t *> self.begin.at, <int32_t *> self.length.at
        self.held.norms = self.norms.at

    def truncate(self, Py_ssize_t n):
        cdef Py_ssize_t slot
        for slot in range(n, self.n):
            self.wasted += self.held.length[slot]
        self.n = n
        if n == 0:
            self.used = self.wasted = 0

    cdef int claim(self, Py_ssize_t slot, Py_ssize_t n) noexcept nogil:
        """Gives a slot room for n non-zeros, not yet written; -1: no memory."""
        cdef int64_t *begin = <int64_t *> self.begin.at
        cdef int32_t *length = <int32_t *> self.length.at
        if slot >= self.n:
            begin[slot], length[slot] = 0, 0
        if n > length[slot]:
            if self.wasted > self.used // 2 and self.used > FEW and self.gather() < 0:
                return -1
            if self.indices.provide((self.used + n) * 4) < 0 or self.stored.provide((self.used + n) * self.value_size) < 0:
                return -1
            self.wasted += length[slot]
            begin[slot], length[slot] = self.used, <int32_t> n
            self.used += n
        self.held.indices, self.held.values = <int32_t *> self.indices.at, self.stored.at
        return 0

    cdef void settle(self, Py_ssize_t slot, Py_ssize_t n) noexcept nogil:
        """Gives back what was claimed and not written."""
        cdef int32_t *length = <int32_t *> self.length.at
        cdef int64_t start = self.held.begin[slot]
        if start + length[slot] == self.used:
            self.used -= length[slot] - n
        else:
            self.wasted += length[slot] - n
        length[slot] = <int32_t> n
        self.measure(slot, self.stored.at + start * self.value_size, n)

    cdef int gather(self) noexcept with gil:
        """Moves the non-zeros of all slots together; -1: no memory."""
        cdef Py_ssize_t slot, size = self.value_size, at = 0, live = self.used - self.wasted
        cdef int64_t *begin = <int64_t *> self.begin.at
        cdef const int32_t *length = <int32_t *> self.length.at
        cdef AlignedBuffer indices = AlignedBuffer(), values = AlignedBuffer()
        if indices.provide(live * 4) < 0 or values.provide(live * size) < 0:
            return -1
        for slot in range(self.n):
            memcpy(indices.at + at * 4, self.indices.at + begin[slot] * 4, length[slot] * 4)
            memcpy(values.at + at * size, self.stored.at + begin[slot] * size, length[slot] * size)
            begin[slot] = at
            at += length[slot]
        self.indices, self.stored = indices, values
        self.used, self.wasted = at, 0
        return 0

    cdef int put(self, Py_ssize_t slot, const sp_rows *x, Py_ssize_t row) noexcept nogil:
        cdef Py_ssize_t n
        cdef int64_t start
        if self.claim(slot, sp_n_values(x, row)) < 0:
            return -1
        start = self.held.begin[slot]
        if self.narrow:
            n = sp_keep_sparse_f32(x, row, <int32_t *> self.indices.at + start, <float *> self.stored.at + start)
        else:
            n = sp_keep_sparse_f64(x, row, <int32_t *> self.indices.at + start, <double *> self.stored.at + start)
        self.settle(slot, n)
        return 0

    cdef int copy(self, Py_ssize_t slot, VectorKernelRows source, Py_ssize_t other) noexcept nogil:
        cdef Py_ssize_t n = source.held.length[other]
        cdef int64_t start, begin
        if source is self and slot == other:
            return 0
        if self.claim(slot, n) < 0:
            return -1
        start, begin = self.held.begin[slot], source.held.begin[other]
        memcpy(self.indices.at + start * 4, (<SparseKernelRows> source).indices.at + begin * 4, n * 4)
        memcpy(self.stored.at + start * self.value_size, source.stored.at + begin * self.value_size, n * self.value_size)
        self.settle(slot, n)
        return 0

    def key(self, Rows rows, Py_ssize_t row):
        cdef Example x = Example()
        cdef Py_ssize_t n
        cdef AlignedBuffer indices = AlignedBuffer(), values = AlignedBuffer()
        x.look_at(rows)
        rows.load_row(row, x)
        n = sp_n_values(&x.block, 0)
        if indices.provide(n * 4) < 0 or values.provide(n * self.value_size) < 0:
            out_of_memory()
        if self.narrow:
            n = sp_keep_sparse_f32(&x.block, 0, <int32_t *> indices.at, <float *> values.at)
        else:
            n = sp_keep_sparse_f64(&x.block, 0, <int32_t *> indices.at, <double *> values.at)
        return indices.at[:n * 4] + values.at[:n * self.value_size]

    def queries(self):
        return SparseQueries()

    def prepare(self, Queries q, Rows rows, const int64_t[::1] which):
        cdef SparseQueries s = q
        cdef Py_ssize_t n = which.shape[0], padded = (n + LANES - 1) // LANES * LANES, size = self.value_size
        cdef Py_ssize_t group, lane, i, e, r, kept, most = 0, longest = 0, end = 0
        cdef int64_t *begin
        cdef int32_t *place
        cdef int32_t *features
        cdef int32_t *index
        cdef char *value
        cdef Example x = Example()
        cdef AlignedBuffer indices = AlignedBuffer(), values = AlignedBuffer()
        self.check_width(rows)
        x.look_at(rows)
        s.show(-1)
        s.n = 0
        for i in range(padded):
            rows.load_row(which[min(i, n - 1)], x)
            kept = sp_n_values(&x.block, 0)
            most, longest = most + kept, max(longest, kept)
        most += padded // LANES                 # a row of zeros each
        e = s.place.size if s.place.at != NULL else 0
        if (s.place.provide(self.n_features * 4) < 0 or s.begin.provide((padded // LANES + 1) * 8) < 0
                or s.features.provide(most * 4) < 0 or s.panels.provide(most * LANES * size) < 0
                or s.norms.provide(padded * size) < 0 or indices.provide(longest * 4) < 0 or values.provide(longest * size) < 0):
            out_of_memory()
        if s.place.size != e:
            memset(s.place.at, 0, s.place.size)
        begin, place, features = <int64_t *> s.begin.at, <int32_t *> s.place.at, <int32_t *> s.features.at
        index, value = <int32_t *> indices.at, values.at
        with nogil:
            begin[0] = 0
            for group in range(padded // LANES):
                memset(s.panels.at + end * LANES * size, 0, LANES * size)
                end += 1
                for lane in range(LANES):
                    i = group * LANES + lane
                    rows.load_row(which[min(i, n - 1)], x)
                    if self.narrow:
                        kept = sp_keep_sparse_f32(&x.block, 0, index, <float *> value)
                        (<float *> s.norms.at)[i] = sp_norm_of_f32(&self.function, <float *> value, kept, 1)
                    else:
                        kept = sp_keep_sparse_f64(&x.block, 0, index, <double *> value)
                        (<double *> s.norms.at)[i] = sp_norm_of_f64(&self.function, <double *> value, kept, 1)
                    for e in range(kept):
                        r = place[index[e]]
                        if r == 0:
                            r = end - begin[group]
                            place[index[e]], features[end] = <int32_t> r, index[e]
                            memset(s.panels.at + end * LANES * size, 0, LANES * size)
                            end += 1
                        memcpy(s.panels.at + ((begin[group] + r) * LANES + lane) * size, value + e * size, size)
                begin[group + 1] = end
                s.current = group               # so that `show` clears them
                s.show(-1)
        s.n = n

    cdef int tile_c(self, Queries q, Py_ssize_t group, const int *slots, Py_ssize_t n, double *values) noexcept nogil:
        cdef sp_panel panel
        if interrupted(n * LANES * self.held.length[slots[0]]):
            return -1
        if (<SparseQueries> q).current != group:
            (<SparseQueries> q).show(group)
        panel.panel = (<VectorQueries> q).panels.at + (<int64_t *> (<SparseQueries> q).begin.at)[group] * LANES * self.value_size
        panel.norms = (<VectorQueries> q).norms.at + group * LANES * self.value_size
        panel.place = <int32_t *> (<SparseQueries> q).place.at
        self.tiles.sparse[self.narrow](&self.function, &self.held, &panel, slots, n, values)
        return 0

    def support(self):
        """The rows held, a scipy CSR array (n, n_features) of the type in which they are kept."""
        return csr_array(self._parts(), shape=(self.n, self.n_features))

    def _parts(self):
        """Values, features and row starts of the rows held, one after the other."""
        begin, length = copied(self.begin.at, self.n, np.int64), copied(self.length.at, self.n, np.int32)
        starts = np.concatenate([[0], np.cumsum(length, dtype=np.int64)])
        at = np.repeat(begin - starts[:self.n], length) + np.arange(starts[self.n])
        return copied(self.stored.at, self.used, self.dtype)[at], copied(self.indices.at, self.used, np.int32)[at], starts

    def state(self):
        values, indices, starts = self._parts()
        return {"values": values, "indices": indices, "starts": starts, "gamma": np.array(self.function.gamma),
                "offset": np.array(self.function.offset)}

    def restore(self, state):
        cdef Py_ssize_t i, n
        cdef AlignedBuffer columns = AlignedBuffer(), stored = AlignedBuffer()
        gamma, offset = self.check_state(state)
        values = read_array(state, "values", self.dtype, (None,), into=lambda shape: room_for(stored, shape, self.dtype))
        indices = read_array(state, "indices", np.int32, (len(values),), low=0, high=self.n_features - 1,
                             into=lambda shape: room_for(columns, shape, np.int32))
        starts = read_array(state, "starts", np.int64, (None,))
        check_starts("row starts", starts, len(values))
        falls = np.flatnonzero(np.diff(indices) <= 0) + 1
        if not np.isin(falls, starts).all():
            raise DataError("the saved features of a row are not in ascending order.")
        n = len(starts) - 1
        self.truncate(0)
        self.indices, self.stored = columns, stored
        self.reserve(n)
        lengths = np.diff(starts).astype(np.int32)
        viewed(self.begin.at, (n,), np.int64)[:], viewed(self.length.at, (n,), np.int32)[:] = starts[:n], lengths
        self.function.gamma, self.function.offset, self.fitted = gamma, offset, True
        self.held.indices, self.held.values = <int32_t *> self.indices.at, self.stored.at
        self.n, self.used = n, len(values)
        for i in range(n):
            self.measure(i, self.stored.at + self.held.begin[i] * self.value_size, self.held.length[i])
