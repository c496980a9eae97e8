"""The primal weight store: one vector w, averaged and decayed lazily, with memory for the rows that steps touch.

Typical sizes: 50 .. 10^8 weights. A step costs what the feature map's `add` costs; averaging and decay add two scalar
operations. Nothing is allocated after `start`.
"""
from functools import partial

import numpy as np

from libc.string cimport memcpy
from libc.stdint cimport int64_t
from structperc.basics.arguments import flag
from structperc.basics.errors import DataError, PluginError
from structperc.basics.saved_state import read_array
from structperc.core.averaging cimport Averaging, count_visit, predicting, scale_multiplied_out, shrink, start_averaging
from structperc.core.bounds import add_rows, changed_rows, copy_rows, merged
from structperc.core.component cimport Component
from structperc.core.component import adapted, argument, overrides, raise_stored, state_of, unstarted, unwrapped
from structperc.core.features cimport PADDING, Features, Units, room_for, units_of, written_out
from structperc.core.features import is_constrained
from structperc.core.rows cimport Example, Rows
from structperc.core.schedules cimport Schedule

cdef enum:
    LINE = 8                            # doubles of a cache line
    MOST_PLACES = 2147483647


cdef class Weights(Component):
    """The weight vector w in any form: it scores the atoms of an example and receives additive steps.

    A Python class overrides `scores` and `update`. Further methods are optional:

    - `vector` if w is an array, for `coef_` and `explain`;
    - `terms` if w is a sum of training rows, for `explain`;
    - `norm` if the length of a step is not that of its feature vector;
    - `state` and `restore`, to save models and to undo `partial_fit`;
    - `averaged` for averaging; then name "average" in `options_used`;
    - `sharding` and `rescaling`, for `n_shards` and for columns whose scale changes.

    A Cython class overrides the methods of the same names that end in _c.

    Attributes
    ----------
    features : Features
        The feature map; set by `start`.
    n_visited : int
        Number of visited examples. The loop counts; model files store it.
    linear : bool, default True
        Whether w is the sum of its steps, sum_a c[a] phi(x, a), apart from averaging and decay. Set False if steps are transformed, as in
        AROW: then there is no kernel form, and `structperc check` compares with none.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc import Engine, hookimpl
    >>> from structperc.components import Weights
    >>> class PlainWeights(Weights):
    ...     def start(self, parts, context):
    ...         super().start(parts, context)
    ...         self.w = np.zeros(self.features.n_weights)
    ...     def scores(self, x):
    ...         return self.features.scores(self.w, x)
    ...     def update(self, x, c):
    ...         self.features.add(self.w, x, c)
    >>> class Plugin:
    ...     name = "plain"
    ...     @hookimpl
    ...     def structperc_weights(self, context):
    ...         return PlainWeights()
    >>> Engine("cusum", plugins=[Plugin()], preset="paper").fit([[0.0], [1.0]], [1, 2]).predict([[2.0]]).tolist()
    [2]
    """

    linear = True

    def __cinit__(self, *args, **kwargs):
        start_averaging(&self.averaging)

    def _without(self, method):
        raise self.missing(method)

    @property
    def n_visited(self):
        return self.averaging.n_visited

    @n_visited.setter
    def n_visited(self, n):
        self.averaging.n_visited = n

    # ---- the life of a fit ----

    def start(self, parts, context):
        """Read the feature map. A subclass allocates its memory here.

        Parameters
        ----------
        parts : object with the parts as attributes
            As in `Component.start`.
        context : FitContext
        """
        self.features = adapted(parts.features)
        start_averaging(&self.averaging)

    def check(self, context, parts):
        """As `Component.check`. By default raises an error for a feature map that constrains its weights.

        A store that calls `Features.project` after each step overrides this method.

        Parameters
        ----------
        context : FitContext
        parts : object with the parts as attributes
        """
        if is_constrained(parts.features):
            raise PluginError(f"{type(parts.features).__name__} allows only some weights, but {type(self).__name__} does not project on "
                              f"them after its steps; leave that out.")

    def prepare(self, Rows rows):
        """Convert rows to the form that this class reads. Called for every data set of fit, partial_fit and predictions.

        By default the entries of a sparse row for one column are summed, in a copy. Rows without such entries are not copied.

        Parameters
        ----------
        rows : Rows

        Returns
        -------
        Rows
        """
        if rows.objects and self.features.n_blocks:
            raise DataError(f"X is a list of objects, but {type(unwrapped(self.features)).__name__} describes rows of numbers; make a "
                            f"matrix of them (texts: scikit-learn's TfidfVectorizer, dicts: DictVectorizer), or use a kernel on such "
                            f"objects (texts: kernel='subsequence', trees: kernel='subset-tree').")
        return rows.summed()

    def announce(self, rows) -> None:
        """Called before the first pass of a fit, and after its last one, also of a failed one.

        Parameters
        ----------
        rows : Rows or None
            The data that every pass visits. None: the fit has ended.
        """

    cdef Py_ssize_t look_ahead_c(self, Rows rows, const int64_t *order, Py_ssize_t t, Py_ssize_t n) noexcept nogil:
        """Announces the visiting order from position t on: examples t, .., n - 1, or order[t], .., order[n - 1].

        A store that scores many examples faster together does so here. Returns the position at which to call again; -1 on an error.
        """
        return n

    cdef void prefetch_c(self, Example x) noexcept nogil:
        pass

    # ---- a visit ----

    cdef int scores_c(self, Example x, double *s) noexcept nogil:
        with gil:
            self.error = self.missing("scores")
        return -1

    cdef int batch_scores_c(self, Example x, Py_ssize_t first, Py_ssize_t n, double *s) noexcept nogil:
        """`scores_c` of the examples first, .., first + n - 1 of x's data set, as `Features.batch_scores_c`."""
        cdef Py_ssize_t i
        cdef int status
        x.n_atoms = self.features.fixed_atoms
        for i in range(n):
            x.source.load(first + i, x)
            status = self.scores_c(x, s + i * x.n_atoms)
            if status < 0:
                return status
        return 0

    cdef int update_c(self, Example x, const double *c) noexcept nogil:
        """-1 on an error before the step; 1 on an error once the step is made, such as after Ctrl-C."""
        with gil:
            self.error = self.missing("update")
        return -1

    cdef double norm_c(self, Example x, const double *c) noexcept nogil:
        """||sum_a c[a] phi(x, a)||^2; negative on an error."""
        return self.features.norm_c(x, c)

    cdef double constant_gram_c(self, Example x, double *shared) noexcept nogil:
        """phi(x, a) . phi(x, b) = shared + [a = b] own, of maps with a uniform Gram; negative on an error."""
        return self.features.constant_gram_c(x, shared)

    cdef void visited_c(self) noexcept nogil:
        """Counts a visit, after its step if there was one."""
        count_visit(&self.averaging)

    def _refuse_unstarted(self):
        if self.features is None:
            raise unstarted(self, "the feature map")

    def scores(self, Example x):
        """The scores w . phi(x, a) of all atoms of x.

        Parameters
        ----------
        x : Example

        Returns
        -------
        float64 array of shape (n_atoms,)
        """
        cdef Py_ssize_t n
        cdef double[::1] s
        self._refuse_unstarted()
        self.features._check_example(x)
        n = self.features.n_atoms(x)
        s = np.zeros(n + PADDING)
        x.n_atoms = n
        if self.scores_c(x, &s[0]) < 0:
            raise_stored(self, self.features)
        return np.asarray(s)[:n]

    def update(self, Example x, c) -> None:
        """Make a step: w <- (1 - decay) w + sum_a c[a] phi(x, a).

        Parameters
        ----------
        x : Example
        c : float64 array of shape (n_atoms,)
        """
        cdef double[::1] padded
        self._refuse_unstarted()
        padded = room_for(c, self.features, x)
        if self.update_c(x, &padded[0]) != 0:
            reraise(self)

    def norm(self, Example x, c):
        """Squared norm of a step, by which passive-aggressive steps divide: ||sum_a c[a] phi(x, a)||^2.

        Parameters
        ----------
        x : Example
        c : float64 array of shape (n_atoms,)

        Returns
        -------
        float
        """
        cdef double[::1] padded
        cdef double total
        self._refuse_unstarted()
        padded = room_for(c, self.features, x)
        total = self.norm_c(x, &padded[0])
        reraise(self)
        return total

    # ---- what was learned ----

    def vector(self):
        """The weights to predict with.

        Returns
        -------
        float64 array of shape (n_weights,) or None
            None if w is not an array.
        """
        return None

    def terms(self, Example x, c):
        """The score sum_a c[a] w . phi(x, a) by training rows, for `explain`, of weights that are a sum of rows.

        Parameters
        ----------
        x : Example
        c : float64 array of shape (n_atoms,)

        Returns
        -------
        (int array, float64 array, float) or None
            Numbers of training rows, from 0, each once. What each adds to the score. What else there is, such as thresholds.
            None, the default, if w is no sum of rows.
        """
        return None

    def assign(self, vector, n_visited) -> None:
        """Set w, the inverse of `vector`.

        Parameters
        ----------
        vector : float64 array of shape (n_weights,)
        n_visited : int
            For averages: w counts as if it had been this for so many visits.
        """
        raise self.missing("assign")

    def averaged(self):
        """The weights to predict with: the mean over the visited examples if averaging is on, else this object.

        Returns
        -------
        Weights
        """
        return self

    def batch_scores(self, rows):
        """Atom scores of a whole data set at once.

        Parameters
        ----------
        rows : Rows

        Returns
        -------
        float64 array of shape (n_examples, n_atoms) or None
            None: score the examples one by one.
        """
        return None

    # ---- what a store may do besides ----

    def rescaling(self, shift, spread):
        """How to convert the weights to other units of the columns.

        Parameters
        ----------
        shift : float64 array of shape (n_features,)
        spread : float64 array of shape (n_features,)

        Returns
        -------
        function, None or str
            Called without arguments, the function makes the weights score (x - shift) / spread as they score x now. None: there are no such
            weights, so rows are scaled whenever they are read. A text: why columns of X cannot be scaled.
        """
        return None

    def sharding(self):
        """How to train copies of the store separately and merge them (`n_shards`).

        Returns
        -------
        Sharding or None
            An object with the methods `pull`, `delta`, `merge` and `apply` of `Sharding`. None: the store cannot be merged.
        """
        return None

    def snapshot(self, rows):
        """Keep what is needed to undo every step on these examples.

        Parameters
        ----------
        rows : Rows or None
            None: any change, so also that of `rescaling`.

        Returns
        -------
        Snapshot
            An object with the methods `revert` and `is_finite`.
        """
        return Snapshot(self)

    def is_finite(self):
        """Whether no step has overflowed.

        Returns
        -------
        bool
        """
        return True


class Snapshot:
    """The state of a weight store, to return to.

    Parameters
    ----------
    weights : Weights
    """

    def __init__(self, weights):
        self.weights, self.n_visited, self.state = weights, weights.n_visited, state_of(weights)

    def revert(self) -> None:
        """Undo all steps since the snapshot."""
        self.weights.n_visited = self.n_visited
        self.weights.restore(self.state)

    def is_finite(self):
        """Whether no step since the snapshot has overflowed."""
        return self.weights.is_finite()


cdef int reraise(Weights weights) except -1:
    """Raises and forgets the error that the weights or their feature map have stored, if there is one."""
    weights.error, weights.features.error = weights.error or weights.features.error, None
    if weights.error is not None:
        weights.raised()
    return 0


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

    options_used = ("average", "decay")

    def __init__(self, average: bool = False, decay=0.0):
        self.decay = Schedule(decay, "decay")
        self.averaging.average, self.averaging.decay = argument(self, "average", average, flag), self.decay.start

    @property
    def linear(self):
        return not self.constrained

    def __cinit__(self, *args, **kwargs):
        self.place = self.marks = None

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
        rows += lazy
        space = np.zeros(rows * width + 8)              # the system gives memory where it is first used
        begin = (-space.ctypes.data % 64) // 8          # rows of 8 doubles on one cache line each
        self.buffer = space[begin:begin + rows * width]
        self.p = written_out(features, &self.buffer[0])
        self.p.pitch = width
        self.p.average = features.row_width if self.averaging.average else 0
        self.p.fixed = self.p.w + (1 if lazy else features.on_demand_rows) * width
        self.place, self.marks, self.n_placed = None, None, <int> min(rows, MOST_PLACES)
        if lazy:
            self.place = np.zeros(features.on_demand_rows, dtype=np.intc)
            self.n_placed = <int> (rows - features.on_demand_rows)
            self.p.place, self.p.marks, self.p.n_placed = &self.place[0], &self.place[0], &self.n_placed
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
        for row in range(self.rows_in_use()):
            v = self.p.w + row * self.p.pitch
            for j in range(width):
                if self.averaging.average:
                    v[j + self.p.average] -= self.averaging.scale_sum * v[j]      # the running sum moves into -u
                v[j] *= self.averaging.scale
        scale_multiplied_out(&self.averaging)

    cdef void prefetch_c(self, Example x) noexcept nogil:
        self.features.prefetch_c(&self.p, x)

    cdef Py_ssize_t rows_in_use(self) noexcept nogil:
        return self.n_placed if self.place is not None else self.features.n_weight_rows

    def _table(self):
        """The rows in use, (rows, pitch), as they are stored."""
        self._refuse_unstarted()
        return np.asarray(self.buffer)[:self.rows_in_use() * self.p.pitch].reshape(-1, self.p.pitch)

    def _where(self, rows):
        """Where these rows of weights stand in the table; 0 where no step has touched them."""
        if self.place is None:
            return rows
        lazy, rows = self.features.on_demand_rows, np.asarray(rows)
        return np.where(rows < lazy, np.asarray(self.place)[np.minimum(rows, lazy - 1)], rows - lazy + 1)

    def _values(self):
        """The weights to predict with, by rows as they are stored: the mean over the visited examples when averaging."""
        table, width = self._table(), self.features.row_width
        return predicting(&self.averaging, table[:, :width], table[:, width:2 * width])

    def vector(self):
        """The weights to predict with, flat, length n_weights: the mean over the visited examples when averaging."""
        if not self.averaging.average or not self.averaging.n_visited:
            return self._in_order(self._values())
        n_visited, mean = self.averaging.n_visited, self._mean            # before the values: another thread may train meanwhile
        if mean is None or self._mean_visited != n_visited:
            mean = self._in_order(self._values())
            if self.constrained:       # a mean of allowed weights is allowed, but for rounding
                self.features.project(mean)
            mean.flags.writeable = False
            self._mean, self._mean_visited = mean, n_visited
        return mean

    def _in_order(self, values):
        if self.place is None:
            return values.ravel()
        where = self._where(np.arange(self.features.n_weight_rows))
        return values[np.where(where < len(values), where, 0)].ravel()      # another thread may have placed more since

    def averaged(self):
        cdef bint own = overrides(self, "vector")
        if not (own or self.averaging.average) and self.averaging.scale == 1:
            return self
        n_visited, mean = self.averaging.n_visited, self._final           # as in `vector`
        if mean is None or self._final_visited != n_visited or own:
            mean = self.clone()             # of its own class, which may score in a way of its own
            (<PrimalWeights> mean).averaging.average, (<PrimalWeights> mean).averaging.decay = False, 0
            (<PrimalWeights> mean).n_kept = 0
            (<PrimalWeights> mean).allocate(self.features)
            if own:
                mean.assign(self.vector(), n_visited)
            else:
                (<PrimalWeights> mean).take(self, self._values())
            (<PrimalWeights> mean).project_all()
            self._final, self._final_visited = mean, n_visited
        return mean

    cdef project_all(self):
        if self.constrained and self.features.project_c(&self.p, None, 1, 0) < 0:
            reraise(self)

    cdef take(self, PrimalWeights other, values):
        """Stores these values in the rows that another store with the same features has in use."""
        if self.place is None:
            np.asarray(self.buffer)[:] = values.ravel()
            return
        self.place = other.place                # rows that join later are zeros here
        self.p.place, self.n_placed = &self.place[0], <int> len(values)
        self._table()[:] = values

    def assign(self, vector, n_visited):
        cdef Averaging *a = &self.averaging
        rows, width = self.features.n_weight_rows, self.features.row_width
        values = np.asarray(vector, dtype=float)
        if values.shape != (rows * width,):
            raise DataError(f"assign got weights of shape {values.shape}; this feature map has ({rows * width},).")
        values = values.reshape(rows, width)
        if self.place is not None:
            lazy = self.features.on_demand_rows
            used = np.flatnonzero(values[:lazy].any(axis=1))
            fixed = rows - lazy + 1
            np.asarray(self.buffer)[:] = 0
            np.asarray(self.place)[:] = 0
            np.asarray(self.place)[used] = np.arange(fixed, fixed + len(used))
            self.n_placed = <int> (fixed + len(used))
            values = np.concatenate([np.zeros((1, width)), values[lazy:], values[used]])
        table = self._table()
        table[:, :width], table[:, width:] = values, 0
        a.scale, a.scale_sum, a.n_visited = 1, n_visited, n_visited
        self._final = self._mean = None

    def rescaling(self, shift, spread):
        """Of the rows in use, weights and running sums: both are sums of steps, so one linear map serves both."""
        self._refuse_unstarted()
        cdef Parameter p = self.p
        cdef Units units = units_of(shift, spread)
        cdef Py_ssize_t size = self.rows_in_use() * p.pitch
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

    def _used_rows(self, PrimalWeights other):
        """The rows that this store or another has in use, rising."""
        if self.place is None:
            return np.arange(self.features.n_weight_rows)
        return self._with_fixed(np.asarray(self.place) | np.asarray(other.place))

    def _with_fixed(self, place):
        """The lazy rows with a place, and all others behind them."""
        return np.concatenate([np.asarray(place).nonzero()[0], np.arange(self.features.on_demand_rows, self.features.n_weight_rows)])

    def _claimed(self, rows):
        """Where these rows stand, those included that had no place yet."""
        where = np.asarray(self._where(rows))
        if self.place is not None:
            new = (where == 0).nonzero()[0]
            where[new] = np.arange(self.n_placed, self.n_placed + len(new))
            np.asarray(self.place)[rows[new]] = where[new]
            self.n_placed += <int> len(new)
        return where.astype(np.int64)

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
        state = {"weights": np.array(self._table().ravel()), "scales": np.array([self.averaging.scale, self.averaging.scale_sum])}
        if self.place is not None:
            state["columns"] = self._columns(np.asarray(self.place))
        return state

    def _columns(self, place):
        """The lazy rows in use, in their order in the table."""
        used = np.flatnonzero(place)
        columns = np.empty(len(used), dtype=np.int64)
        columns[place[used] - self._first()] = used
        return columns

    def _first(self):
        """Position of the first lazy row: behind the row of zeros and all others."""
        return self.features.n_weight_rows - self.features.on_demand_rows + 1

    def restore(self, state):
        self._refuse_unstarted()
        cdef Py_ssize_t before = self.rows_in_use(), after = before, width = self.p.pitch
        columns = None
        if self.place is not None:
            columns = self._saved_columns(state)
            after = self._first() + len(columns)
        scale, scale_sum = read_array(state, "scales", np.float64, (2,), low=0)
        if scale == 0:
            raise DataError("the saved scale of the weights is 0; expected a number above 0.")
        table = np.asarray(self.buffer)
        read_array(state, "weights", np.float64, (after * width,), into=lambda shape: table[:after * width])
        if columns is not None:
            if table[:width].any():
                raise DataError("the saved weights begin with a row that is not 0. Expected: the row of features that no step has touched.")
            if before > after:
                table[after * width:before * width] = 0
            place = np.asarray(self.place)
            if before > self._first():          # else all are 0, and memory that was never touched stays so
                place[:] = 0
            place[columns] = np.arange(self._first(), after)
            self.n_placed = <int> after
        self.averaging.scale, self.averaging.scale_sum = scale, scale_sum
        self._final = self._mean = None

    def _saved_columns(self, state):
        """Which rows are saved."""
        columns = read_array(state, "columns", np.int64, (None,), low=0, high=self.features.on_demand_rows - 1)
        if len(np.unique(columns)) < len(columns):
            raise DataError("a row of weights is saved twice.")
        return columns

    def snapshot(self, rows):
        """Saves what steps on these rows can touch: everything, or for few sparse rows their features' weights."""
        self._refuse_unstarted()
        return PrimalSnapshot(self, rows)

    def is_finite(self):
        """Whether all weights are finite; a quarter of a nanosecond each."""
        cdef Py_ssize_t j, n = self.rows_in_use() * self.p.pitch
        cdef double a = 0, b = 0, c = 0, d = 0
        for j in range(0, n - 3, 4):
            a += 0 * self.buffer[j]
            b += 0 * self.buffer[j + 1]
            c += 0 * self.buffer[j + 2]
            d += 0 * self.buffer[j + 3]
        for j in range(n - n % 4, n):
            a += 0 * self.buffer[j]
        return a + b + c + d == 0


cdef class PrimalSnapshot:
    """What steps on these rows can touch. `touched`: the rows of weights; None: all of them."""

    cdef PrimalWeights weights
    cdef Averaging averaging
    cdef int n_placed
    cdef readonly object touched
    cdef object where, values, place

    def __init__(self, PrimalWeights weights, rows):
        cdef Py_ssize_t n = weights.rows_in_use() * weights.p.pitch
        few = (rows is not None and rows.sparse and weights.features.n_weight_rows > rows.X.nnz and weights.averaging.decay == 0
               and not overrides(weights, "update"))
        self.weights, self.averaging, self.n_placed = weights, weights.averaging, weights.n_placed
        self.touched = weights.features.touched_rows(rows) if few else None
        if self.touched is not None:
            self.where = weights._where(self.touched)
            self.values = weights._table()[self.where]
            return
        self.place = None if weights.place is None else np.array(weights.place)
        if weights.saved is None or weights.saved.shape[0] < n:
            weights.saved = np.empty(n)
        memcpy(&weights.saved[0], &weights.buffer[0], n * sizeof(double))

    def revert(self):
        cdef PrimalWeights weights = self.weights
        if weights.place is not None:
            weights._table()[self.n_placed:] = 0
            place = np.asarray(weights.place)
            if self.touched is None:
                place[:] = self.place
            else:
                place[self.touched[(self.where == 0) & (self.touched < weights.features.on_demand_rows)]] = 0
            weights.n_placed = self.n_placed
        if self.touched is None:
            memcpy(&weights.buffer[0], &weights.saved[0], weights.rows_in_use() * weights.p.pitch * sizeof(double))
        else:
            weights._table()[self.where] = self.values
        weights.averaging = self.averaging
        weights._final = weights._mean = None

    def is_finite(self):
        if self.touched is None:
            return self.weights.is_finite()
        return bool(np.isfinite(self.weights._table()[self.weights._where(self.touched)]).all())


class Sharding:
    """How copies of a store are trained separately, each on its shard of the examples, and merged: w' = w + sum_i mu_i (w_i - w).

    The mean over the visited examples counts the vectors of all shards. Only rows of weights that changed are compared and added.

    Parameters
    ----------
    weights : PrimalWeights
        A copy, for `pull` and `delta`, or the store that all copies pull from, for `merge` and `apply`.
    """

    def __init__(self, weights):
        self.weights = weights

    def pull(self, store, rows=None) -> None:
        """Copy weights and visit count from another store of this class, before the updates of one shard.

        Parameters
        ----------
        store : Weights
            It has made no step but by `apply`. Several copies may pull from it at the same time.
        rows : int64 array, optional
            If this copy has pulled from it before: the rows that have changed since.
        """
        cdef PrimalWeights own = self.weights, base = store
        rows = own._used_rows(base) if rows is None else rows
        copy_rows(own._whole_table(), own._claimed(rows), base._whole_table(), base._where(rows), own.features.row_width, own.p.average)
        own.averaging.scale, own.averaging.scale_sum, own.averaging.n_visited = 1, 0, base.averaging.n_visited
        if own.place is not None and own.averaging.decay == 0:          # decay changes all rows
            own.marks = np.zeros(len(own.place), dtype=np.intc)
            own.p.marks = &own.marks[0]
        own._final = own._mean = None

    def delta(self, store, dtype=float):
        """The changes since `pull(store)`.

        Parameters
        ----------
        store : Weights
        dtype : {float64, float32}, default float64
            Type of the steps and sums. float32 needs half the memory and rounds.

        Returns
        -------
        dict
            `rows`: the changed rows of weights, rising. `steps`: their changes, (n_rows, width). With averaging, `sums`: the same summed
            over the visited examples. `n_visited`: how many examples that were.
        """
        cdef PrimalWeights own = self.weights, base = store
        cdef Averaging *a = &own.averaging
        cdef Py_ssize_t n_visited = a.n_visited - base.averaging.n_visited, width = own.features.row_width, n
        rows = own._used_rows(base) if own.marks is None else own._with_fixed(own.marks)
        steps, changed = np.empty((len(rows), width), dtype), np.empty(len(rows), dtype=np.int64)
        sums = np.empty((len(rows), width if a.average else 0), dtype)
        n = changed_rows(own._whole_table(), base._whole_table(), own._where(rows), base._where(rows), a.scale, a.scale_sum, n_visited,
                         own.p.average, steps, sums, changed)
        return {"rows": rows[changed[:n]], "steps": steps[:n], "sums": sums[:n], "n_visited": n_visited}

    def merge(self, deltas, shares):
        """The changes of all shards together, in the form of `delta`.

        Parameters
        ----------
        deltas : list of dict
            Of each shard.
        shares : array of shape (n_shards,) or None
            Factors of the steps. None: sums the steps of each weight, capped at twice the mean of the shards that moved it.

        Returns
        -------
        dict
        """
        cdef PrimalWeights own = self.weights
        cdef Py_ssize_t n = sum(len(one["rows"]) for one in deltas), width = own.features.row_width
        steps, rows = np.zeros((n, width), deltas[0]["steps"].dtype), np.empty(n, dtype=np.int64)
        sums = np.zeros((n, width if own.averaging.average else 0))
        factors = np.ones(len(deltas)) if shares is None else np.array(shares, dtype=float)
        n = merged([(one["rows"], one["steps"], one["sums"]) for one in deltas], factors, shares is None, steps, sums, rows)
        return {"rows": rows[:n], "steps": steps[:n], "sums": sums[:n], "n_visited": sum(one["n_visited"] for one in deltas)}

    def apply(self, delta) -> None:
        """Add a result of `merge` to the weights.

        Parameters
        ----------
        delta : dict
        """
        cdef PrimalWeights own = self.weights
        cdef Averaging *a = &own.averaging
        cdef double scale_sum = a.scale_sum + delta["n_visited"]
        add_rows(own._whole_table(), own._claimed(delta["rows"]), delta["steps"], delta["sums"], own.p.average, scale_sum)
        a.scale_sum, a.n_visited = scale_sum, a.n_visited + delta["n_visited"]
        if own.constrained and own.features.project_c(&own.p, None, 1, scale_sum) < 0:         # mixtures leave K by rounding
            reraise(own)
        own._final = own._mean = None


cdef PrimalWeights PRIMAL = PrimalWeights()          # whose methods a derived class replaces
