# The store of w as an array.

cdef class PrimalWeights(Weights):
    """The weight vector w as an array, with the sum of its past values for averaging.

    Parameters
    ----------
    average : bool, default False
        Whether to predict with the mean of w over all visited examples.
    decay : float in [0, 1), Schedule or function, default 0.0
        Each step first multiplies w by 1 - decay, the decay of the t-th visited example. Larger values forget faster; try 1e-4 for
        drifting streams.

    Raises
    ------
    OptionError
        If the decay is out of range.

    Notes
    -----
    The array is v with w = scale * v. The running sum of w over the visited examples is scale_sum * v - u. A step v += d adds
    scale_sum * d to u. So averaging costs nothing between steps: the mean is w_T - (1/T) sum_s (s - 1) Delta_s.

    With `Features.on_demand_rows`, rows longer than a cache line have the order in which steps first touched them. The length counts
    the averages. One row of zeros before them is for all other features. Memory and caches then contain only
    features that were learned from.

    Examples
    --------
    >>> from structperc import Engine
    >>> Engine("cusum", average=True, epochs=2).fit([[0.0], [1.0]], [1, 2]).parts_.weights.vector().shape
    (2,)
    """

    def __init__(self, average: bool = False, decay=0.0):
        self.decay = Schedule(decay, "decay")
        self.averaging.average, self.averaging.decay = argument(self, "average", average, flag), self.decay.start

    @property
    def linear(self):
        return not self.constrained

    def __cinit__(self, *args, **kwargs):
        self.rows = RowTable(0, 0)

    def start(self, parts, context):
        self.allocate(adapted(parts.features))

    def check(self, context, parts):
        pass                            # `update_c` projects

    def allocate(self, Features features) -> None:
        """Allocate the weights of a feature map, all 0.

        Parameters
        ----------
        features : Features
        """
        cdef Py_ssize_t width = features.row_width * (1 + self.averaging.average + self.n_kept), rows = features.n_weight_rows
        cdef bint lazy = features.on_demand_rows > 0 and 2 * features.row_width > LINE and rows < MOST_PLACES    # with averages or not
        self.features, self.constrained = features, features.constrained()
        start_averaging(&self.averaging)
        self.rows = (PlacedRows if lazy else RowTable)(rows, features.on_demand_rows)
        rows += self.rows.n_zeros
        space = np.zeros(rows * width + 8)              # the system gives memory where it is first used
        begin = (-space.ctypes.data % 64) // 8          # rows of 8 doubles on one cache line each
        self.buffer = space[begin:begin + rows * width]
        self.p = written_out(features, &self.buffer[0])
        self.p.pitch = width
        self.p.average = features.row_width if self.averaging.average else 0
        self.rows.show(&self.p)
        self._final = self._mean = self.saved = None

    cdef int scores_c(self, Example x, double *s) noexcept nogil:
        cdef Py_ssize_t a
        if self.averaging.scale == 1:
            return self.features.scores_c(&self.p, x, s)
        if self.features.scores_c(&self.p, x, s) < 0:
            return -1
        for a in range(x.n_atoms):
            s[a] *= self.averaging.scale
        return 0

    cdef int batch_scores_c(self, Example x, Py_ssize_t first, Py_ssize_t n, double *s) noexcept nogil:
        cdef Py_ssize_t a
        if <void *> self.scores_c != <void *> PRIMAL.scores_c:          # a derived class scores in a way of its own
            return Weights.batch_scores_c(self, x, first, n, s)
        if self.features.batch_scores_c(&self.p, x, first, n, s) < 0:
            return -1
        if self.averaging.scale != 1:
            for a in range(n * self.features.fixed_atoms):
                s[a] *= self.averaging.scale
        return 0

    cdef int update_c(self, Example x, const double *c) noexcept nogil:
        cdef Averaging *a = &self.averaging
        cdef double to_w = 1, to_u = a.scale_sum
        if a.decay != 0:
            if self.shrink_c() < 0:
                return -1
            to_w, to_u = 1 / a.scale, a.scale_sum / a.scale
        if self.features.add_c(&self.p, x, c, to_w, to_u) < 0:
            return -1
        if self.constrained:
            return self.features.project_c(&self.p, x, to_w, to_u) < 0
        return 0

    cdef int shrink_c(self) noexcept nogil:
        """Multiplies w by what a step leaves of it; -1 on an error."""
        cdef int status = shrink(&self.averaging, self.decay)
        if status < 0:
            with gil:
                self.error = self.decay.taken_error()
        elif status > 0:
            self.multiply_out_c()
        return status

    cdef void multiply_out_c(self) noexcept nogil:
        """Multiplies the scale into the weights and their running sums."""
        cdef Py_ssize_t row, j, width = self.features.row_width
        cdef double *v
        for row in range(self.rows.n_used()):
            v = self.p.w + row * self.p.pitch
            for j in range(width):
                if self.averaging.average:
                    v[j + self.p.average] -= self.averaging.scale_sum * v[j]      # the running sum moves into -u
                v[j] *= self.averaging.scale
        scale_multiplied_out(&self.averaging)

    cdef void prefetch_c(self, Example x) noexcept nogil:
        self.features.prefetch_c(&self.p, x)

    def _table(self):
        """The rows in use, (rows, pitch), as they are stored."""
        self._refuse_unstarted()
        return np.asarray(self.buffer)[:self.rows.n_used() * self.p.pitch].reshape(-1, self.p.pitch)

    def _values(self, where=slice(None)):
        """The weights to predict with, by rows as they are stored: the mean over the visited examples when averaging."""
        table, width = self._table()[where], self.features.row_width
        return predicting(&self.averaging, table[:, :width], table[:, width:2 * width])

    def vector(self):
        """The weights to predict with, flat, length n_weights: the mean over the visited examples when averaging."""
        if not self.averaging.average or not self.averaging.n_visited:
            return self.rows.in_order(self._values())
        n_visited, mean = self.averaging.n_visited, self._mean            # before the values: another thread may train meanwhile
        if mean is None or self._mean_visited != n_visited:
            mean = self.rows.in_order(self._values())
            if self.constrained:       # a mean of allowed weights is allowed, but for rounding
                self.features.project(mean)
            mean.flags.writeable = False
            self._mean, self._mean_visited = mean, n_visited
        return mean

    def averaged(self):
        self._refuse_unstarted()
        return self.mean_on(None)

    cdef averaged_on(self, Rows rows):
        return self.averaged() if overrides(self, "averaged") else self.mean_on(rows)

    cdef PrimalWeights mean_on(self, Rows rows):
        """The store that predicts; of a mean only what scores these rows is computed. None: all."""
        cdef bint own = overrides(self, "vector")
        cdef PrimalWeights mean
        cdef Py_ssize_t n_visited = self.averaging.n_visited           # as in `vector`
        if not (own or self.averaging.average) and self.averaging.scale == 1:
            return self
        mean = self._final
        if mean is not None and self._final_visited == n_visited and self._final_rows == WHOLE and not own:
            return mean
        touched = None if own or self.constrained else self.touched_rows(rows)
        if touched is not None:
            if mean is None or self._final_rows == WHOLE:       # who was given a whole mean keeps it as it is
                mean = self.empty()
                self._final, self._final_visited, self._final_rows = mean, n_visited, 0
            if self._final_visited != n_visited:
                self._final_visited, self._final_rows = n_visited, 0
            self._final_rows += len(touched)
            if self._final_rows < self.rows.n_used():           # else all rows at once cost no more
                mean.take(self, self.rows.where(touched))
                return mean
        mean = self.empty()
        if own:
            mean.assign(self.vector(), n_visited)
        else:
            mean.take(self, slice(self.rows.n_used()))
        mean.project_all()
        self._final, self._final_visited, self._final_rows = mean, n_visited, WHOLE
        return mean

    cdef touched_rows(self, Rows rows):
        """The rows of weights that few sparse rows have anything to do with; None: any."""
        if rows is None or not rows.sparse or rows.X.nnz >= self.features.n_weight_rows:
            return None
        return self.features.touched_rows(rows)

    cdef PrimalWeights empty(self):
        """A store without averages, all 0, of its own class, which may score in a way of its own."""
        cdef PrimalWeights store = self.clone()
        store.averaging.average, store.averaging.decay, store.n_kept = False, 0, 0
        store.allocate(self.features)
        return store

    cdef project_all(self):
        if self.constrained and self.features.project_c(&self.p, None, 1, 0) < 0:
            reraise(self)

    cdef take(self, PrimalWeights other, where):
        """Stores what another store with the same features predicts with, in these rows of its table."""
        self.rows.share(other.rows, &self.p)
        self._table()[where] = other._values(where)

    def assign(self, vector, n_visited):
        self._refuse_unstarted()
        cdef Averaging *a = &self.averaging
        cdef Py_ssize_t visits = n_visited
        rows, width = self.features.n_weight_rows, self.features.row_width
        values = np.asarray(vector, dtype=float)
        if values.shape != (rows * width,):
            raise DataError(f"assign got weights of shape {values.shape}; this feature map has ({rows * width},).")
        np.asarray(self.buffer)[:] = 0
        values = self.rows.by_position(values.reshape(rows, width))
        self._table()[:, :width] = values
        a.scale, a.scale_sum, a.n_visited = 1, visits, visits
        self._final = self._mean = None

    def rescaling(self, shift, spread):
        """Of the rows in use, weights and running sums: both are sums of steps, so one linear map serves both."""
        self._refuse_unstarted()
        cdef Parameter p = self.p
        cdef Units units = units_of(shift, spread)
        cdef Py_ssize_t size = self.rows.n_used() * p.pitch
        if units.n_features != getattr(self.features, "n_features", units.n_features):
            raise DataError(f"rescaling was given the units of {units.n_features} columns; {type(self.features).__name__} was made for "
                            f"rows of {self.features.n_features} columns.")
        cdef int status
        values = np.empty(self.buffer.shape[0])         # also room for rows that another thread may place meanwhile
        cdef double[::1] table = values
        memcpy(&table[0], &self.buffer[0], size * sizeof(double))
        p.w, p.fixed, p.average = &table[0], &table[0] + (self.p.fixed - self.p.w), 0
        for _ in range(1 + self.averaging.average):
            status = self.features.rescale_c(&p, &units)
            if status < 0:
                raise_stored(self.features)
            if status == 0:
                return None
            p.w, p.fixed = p.w + self.features.row_width, p.fixed + self.features.row_width
        return partial(self._install, values[:size])

    def _install(self, const double[::1] table not None):
        """Sets the rows in use."""
        memcpy(&self.buffer[0], &table[0], table.shape[0] * sizeof(double))
        self._final = self._mean = None

    def sharding(self):
        return Sharding(self)

    def _whole_table(self):
        """All rows that there is room for."""
        return np.asarray(self.buffer).reshape(-1, self.p.pitch)

    def batch_scores(self, rows):
        replaced = overrides(unwrapped(self.features), "batch_scores")        # compiled maps have `batch_scores_c`
        if not replaced or rows.offsets is not None or rows.objects or rows.allowed is not None:
            return None
        return self.features.batch_scores(self.vector(), rows)

    def fingerprint(self):
        return self.decay.fingerprint()

    def state(self):
        """`weights`, the rows in use as they are stored, and `scales`. If rows are in the order in which steps touched them, also
        `columns`: their numbers.
        """
        return {"weights": np.array(self._table().ravel()), "scales": np.array([self.averaging.scale, self.averaging.scale_sum]),
                **self.rows.state()}

    def restore(self, state):
        self._refuse_unstarted()
        cdef Py_ssize_t before = self.rows.n_used(), width = self.p.pitch
        columns = self.rows.saved(state)
        cdef Py_ssize_t after = self.rows.n_used_with(columns)
        scale, scale_sum = read_array(state, "scales", np.float64, (2,), low=0)
        if scale == 0:
            raise DataError("the saved scale of the weights is 0; expected a number above 0.")
        table = np.asarray(self.buffer)
        read_array(state, "weights", np.float64, (after * width,), into=lambda shape: table[:after * width])
        if table[:self.rows.n_zeros * width].any():
            raise DataError("the saved weights begin with a row that is not 0. Expected: the row of features that no step has touched.")
        table[after * width:before * width] = 0
        self.rows.settle(columns)
        self.averaging.scale, self.averaging.scale_sum = scale, scale_sum
        self._final = self._mean = None

    def snapshot(self, rows):
        """Saves what steps on these rows can touch: everything, or for few sparse rows their features' weights."""
        self._refuse_unstarted()
        return PrimalSnapshot(self, rows)

    def is_finite(self):
        """Whether all weights are finite; a quarter of a nanosecond each."""
        if self.features is None:
            self._refuse_unstarted()
        cdef Py_ssize_t j, n = self.rows.n_used() * self.p.pitch
        cdef double a = 0, b = 0, c = 0, d = 0
        for j in range(0, n - 3, 4):
            a += 0 * self.buffer[j]
            b += 0 * self.buffer[j + 1]
            c += 0 * self.buffer[j + 2]
            d += 0 * self.buffer[j + 3]
        for j in range(n - n % 4, n):
            a += 0 * self.buffer[j]
        return a + b + c + d == 0
