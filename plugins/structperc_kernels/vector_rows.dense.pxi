# Dense rows, and the kernels between them.
#
# Typical sizes: 10^2..10^5 rows of 2..1000 features. Cost: appending copies a row; see vector_rows.pyx for the values.


FAR = {"float64": 8.0, "float32": 1.0}          # a mean of more than so many deviations costs digits; the row type with more can spare some

cdef enum:
    CACHED = 49152                              # values that may stay in the second-level cache while they are compared with queries


cdef class DenseKernelRows(VectorKernelRows):
    """Dense rows, and a kernel between them; the parameters are those of `VectorKernelRows`.

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
    >>> import numpy as np
    >>> from structperc.components import Rows
    >>> from structperc_kernels import DenseKernelRows
    >>> kernel_rows = DenseKernelRows("polynomial", gamma=1.0, degree=2)
    >>> kernel_rows.start(SimpleNamespace(n_features=2, objects=False))
    >>> rows = Rows(np.array([[1.0, 0.0], [3.0, 4.0]]))
    >>> kernel_rows.append(rows, 0)
    >>> kernel_rows.values(rows).tolist()
    [[1.0], [9.0]]
    """

    def __cinit__(self, *args, **kwargs):
        self.origin = None

    def start(self, context):
        VectorKernelRows.start(self, context)
        self.origin, self.rows_per_tile = np.zeros(self.n_features), min(max(CACHED // self.n_features, 64), 1024)

    def settle_parameters(self, Rows rows):
        """Distances do not depend on the origin, but their digits do: it is moved to the mean where that is far away."""
        if not self.fitted and sp_is_distance(&self.function) and not rows.objects and not rows.sparse:
            self.check_width(rows)
            with np.errstate(all="ignore"):
                mean, squares = moments(rows)
                far = np.abs(mean) > FAR[self.dtype] * np.sqrt(squares)
                self.origin = np.where(far & np.isfinite(mean), mean, 0)
        VectorKernelRows.settle_parameters(self, rows)

    def empty(self):
        cdef DenseKernelRows other = VectorKernelRows.empty(self)
        other.origin, other.rows_per_tile = self.origin, self.rows_per_tile
        return other

    def reserve(self, Py_ssize_t n):
        if self.stored.provide(n * self.n_features * self.value_size) < 0 or self.norms.provide(n * self.value_size) < 0:
            out_of_memory()
        self.held.values, self.held.norms = self.stored.at, self.norms.at

    cdef int put(self, Py_ssize_t slot, const sp_rows *x, Py_ssize_t row) noexcept nogil:
        cdef char *to = self.stored.at + slot * self.n_features * self.value_size
        if self.narrow:
            sp_keep_dense_f32(x, row, &self.origin[0], <float *> to, 1)
        else:
            sp_keep_dense_f64(x, row, &self.origin[0], <double *> to, 1)
        self.measure(slot, to, self.n_features)
        return 0

    cdef int copy(self, Py_ssize_t slot, VectorKernelRows source, Py_ssize_t other) noexcept nogil:
        cdef Py_ssize_t size = self.n_features * self.value_size
        memmove(self.stored.at + slot * size, source.stored.at + other * size, size)
        self.measure(slot, self.stored.at + slot * size, self.n_features)
        return 0

    def key(self, Rows rows, Py_ssize_t row):
        cdef Example x = Example()
        cdef bytes key = PyBytes_FromStringAndSize(NULL, self.n_features * self.value_size)
        x.look_at(rows)
        rows.load_row(row, x)
        if self.narrow:
            sp_keep_dense_f32(&x.block, 0, &self.origin[0], <float *> PyBytes_AS_STRING(key), 1)
        else:
            sp_keep_dense_f64(&x.block, 0, &self.origin[0], <double *> PyBytes_AS_STRING(key), 1)
        return key

    def queries(self):
        return VectorQueries()

    def prepare(self, Queries q, Rows rows, const int64_t[::1] which):
        cdef VectorQueries v = q
        cdef Py_ssize_t i, d = self.n_features, n = which.shape[0], padded = (n + LANES - 1) // LANES * LANES
        cdef char *to
        cdef Example x = Example()
        self.check_width(rows)
        x.look_at(rows)
        v.n = 0
        if v.panels.provide(padded * d * self.value_size) < 0 or v.norms.provide(padded * self.value_size) < 0:
            out_of_memory()
        with nogil:
            for i in range(padded):
                rows.load_row(which[min(i, n - 1)], x)
                to = v.panels.at + (i // LANES * d * LANES + i % LANES) * self.value_size
                if self.narrow:
                    sp_keep_dense_f32(&x.block, 0, &self.origin[0], <float *> to, LANES)
                    (<float *> v.norms.at)[i] = sp_norm_of_f32(&self.function, <float *> to, d, LANES)
                else:
                    sp_keep_dense_f64(&x.block, 0, &self.origin[0], <double *> to, LANES)
                    (<double *> v.norms.at)[i] = sp_norm_of_f64(&self.function, <double *> to, d, LANES)
        v.n = n

    cdef int tile_c(self, Queries q, Py_ssize_t group, const int *slots, Py_ssize_t n, double *values) noexcept nogil:
        cdef sp_panel panel
        if interrupted(n * LANES * self.n_features):
            return -1
        panel.panel = (<VectorQueries> q).panels.at + group * self.n_features * LANES * self.value_size
        panel.norms = (<VectorQueries> q).norms.at + group * LANES * self.value_size
        panel.place = NULL
        self.tiles.dense[self.narrow](&self.function, &self.held, &panel, slots, n, values)
        return 0

    def support(self):
        """The rows held, an array (n, n_features) of the type in which they are kept."""
        return (self._rows() + np.asarray(self.origin)).astype(self.dtype)

    def _rows(self):
        return copied(self.stored.at, (self.n, self.n_features), self.dtype)

    def state(self):
        return {"rows": self._rows(), "origin": np.array(self.origin), "gamma": np.array(self.function.gamma),
                "offset": np.array(self.function.offset)}

    def restore(self, state):
        cdef Py_ssize_t i, n
        cdef AlignedBuffer stored = AlignedBuffer()
        gamma, offset = self.check_state(state)
        rows = read_array(state, "rows", self.dtype, (None, self.n_features), into=lambda shape: room_for(stored, shape, self.dtype))
        self.origin = read_array(state, "origin", np.float64, (self.n_features,))
        n = len(rows)
        self.stored = stored
        self.reserve(n)
        self.function.gamma, self.function.offset, self.fitted = gamma, offset, True
        for i in range(n):
            self.measure(i, self.stored.at + i * self.n_features * self.value_size, self.n_features)
        self.n = n
