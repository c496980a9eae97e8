"""Feature maps over rows of X: one weight block per atom, or one atom per row.

Typical sizes: 4 blocks of 10..1000 dense features, or of 2^20 sparse ones with 80 non-zeros; 10..1000 rows an example.
Cost: one pass over the example's values for four blocks at a time (see inner.h).
"""
import numpy as np

from libc.string cimport memset
from structperc.core.component cimport Component
from structperc.core.errors import DataError, PluginError
from structperc.core.inner_products cimport best_inner, sp_blocks, sp_prefetch_blocks
from structperc.core.rows cimport Example


cdef room_for(c, Features features, Example x):
    """One coefficient per atom, copied to an array that is as long as compiled methods need it."""
    x.n_atoms = features.n_atoms(x)
    padded = np.zeros(max(x.n_atoms, features.room, 1))
    c = np.asarray(c, dtype=float)
    if c.shape != (x.n_atoms,):
        raise DataError(f"{c.shape} coefficients for example {x.index}; expected ({x.n_atoms},), one per atom.")
    padded[:len(c)] = c
    return padded


cdef const double *pointer(const double[::1] values) noexcept:
    return &values[0] if values.shape[0] else NULL


cdef class Features(Component):
    """The feature map phi(x, a) of every atom a: scores, additive updates, norms and inner products.

    Attributes
    ----------
    n_weight_rows, row_width : int
        The weights are a (n_weight_rows, row_width) array.
    atoms_per_example : int
        Atoms of every example, or -1 when they differ (then `n_atoms(x)` tells).
    single_row : bool
        Whether every example must be exactly one row of X.
    n_blocks : int
        Of maps whose atoms each stand on one row of x: phi(x, a) = e_block (x) x_row, and perhaps weights of its own besides, for which
        there is `explicit_part`; `cell(x, a)` tells row and block. Then a kernel between rows can take the place of their dot
        product. 0: this map does not say.
    uniform_gram : bool
        Whether phi(x, a) . phi(x, b) is one number for a = b and another for all a != b; then `constant_gram_c` gives them.
    adds_repeated : bool
        Whether norms are right also where a sparse row names a feature twice; otherwise the engine adds these up first, in a copy.
    """

    single_row = False
    adds_repeated = False
    uniform_gram = False

    def __cinit__(self, *args, **kwargs):
        self.kernels = best_inner(0)
        self.atoms_per_example = -1
        self.n_weight_rows = 1
        self.scratch = None

    def shape(self, Py_ssize_t n_weights, Py_ssize_t n_weight_rows=1, Py_ssize_t atoms_per_example=-1, Py_ssize_t on_demand_rows=0,
              Py_ssize_t n_blocks=0):
        """Declares the number of weights; a Python feature map calls this in its constructor.

        on_demand_rows: so many of the first rows are found through `Parameter.place` (compiled feature maps only), so that a weight
        store may give them memory when a step first touches them.
        """
        if n_weights < 1 or n_weight_rows < 1 or n_weights % n_weight_rows:
            raise PluginError(f"{type(self).__name__} declares {n_weights} weights in {n_weight_rows} rows; "
                              f"both must be positive and the rows equally long.")
        self.n_weight_rows, self.row_width = n_weight_rows, n_weights // n_weight_rows
        self.atoms_per_example, self.on_demand_rows, self.n_blocks = atoms_per_example, on_demand_rows, max(n_blocks, self.n_blocks)
        self.room = max(self.room, atoms_per_example)

    @property
    def n_weights(self):
        return self.n_weight_rows * self.row_width

    cdef Py_ssize_t n_atoms_c(self, Example x) noexcept nogil:
        if self.atoms_per_example < 0:
            with gil:
                self.error = self.missing("n_atoms")
        return self.atoms_per_example

    cdef int scores_c(self, const Parameter *p, Example x, double *s) noexcept nogil:
        with gil:
            self.error = self.missing("scores")
        return -1

    cdef int add_c(self, const Parameter *p, Example x, const double *c, double to_w, double to_u) noexcept nogil:
        with gil:
            self.error = self.missing("add")
        return -1

    cdef double norm_c(self, Example x, const double *c) noexcept nogil:
        """Squared norm of sum_a c[a] phi(x, a), by writing the vector down: O(n_weights)."""
        cdef Py_ssize_t j
        cdef double total = 0
        cdef double *v = self.write_vector(x, c, 0)
        if v == NULL:
            return -1
        for j in range(self.n_weight_rows * self.row_width):
            total += v[j] * v[j]
        return total

    cdef double inner_c(self, Example x, Py_ssize_t a, Example z, Py_ssize_t b) noexcept nogil:
        """phi(x, a) . phi(z, b), by writing both down: O(n_weights); sets `error` when it cannot."""
        cdef Py_ssize_t j
        cdef double total = 0
        cdef double *u
        cdef double *v
        with gil:
            left, right = np.zeros(max(x.n_atoms, self.room, 1)), np.zeros(max(z.n_atoms, self.room, 1))
            left[a], right[b] = 1, 1
            u = self.write_vector(x, pointer(left), 0)
            v = self.write_vector(z, pointer(right), 1)
        if u == NULL or v == NULL:
            return 0
        for j in range(self.n_weight_rows * self.row_width):
            total += u[j] * v[j]
        return total

    cdef double constant_gram_c(self, Example x, double *shared) noexcept nogil:
        """phi(x, a) . phi(x, b) = shared + [a = b] own, of maps with a uniform Gram; negative on an error."""
        shared[0] = self.inner_c(x, 0, x, 1) if x.n_atoms > 1 else 0
        return self.inner_c(x, 0, x, 0) - shared[0]

    cdef Py_ssize_t cell_c(self, Example x, Py_ssize_t a) noexcept nogil:
        """row * n_blocks + block of the row and the block that atom a stands on, -1: on none; -2 on an error."""
        with gil:
            self.error = self.missing("cell")
        return -2

    cdef double *write_vector(self, Example x, const double *c, int place) noexcept nogil:
        """sum_a c[a] phi(x, a) in the scratch space; NULL on an error."""
        cdef Parameter p
        cdef Py_ssize_t n = self.n_weight_rows * self.row_width
        if self.scratch is None:
            with gil:
                self.scratch = np.zeros((2, n))
        p = written_out(self, &self.scratch[place, 0])
        memset(p.w, 0, n * sizeof(double))
        return p.w if self.add_c(&p, x, c, 1.0, 0.0) >= 0 else NULL

    cdef void prefetch_c(self, const Parameter *p, Example x) noexcept nogil:
        pass

    def n_atoms(self, Example x):
        """How many atoms x has."""
        cdef Py_ssize_t n = self.n_atoms_c(x)
        self.reraise()
        return n

    def check_rows(self, rows):
        """Refuses a data set whose examples this map cannot read."""
        if self.single_row and rows.offsets is not None:
            wrong = np.flatnonzero(np.diff(rows.offsets) != 1)
            if len(wrong):
                i = int(wrong[0])
                raise DataError(f"example {i} of X has {int(np.diff(rows.offsets)[i])} rows, but {type(self).__name__} describes "
                                f"examples of one row; leave offsets out.")

    def max_atoms(self, rows):
        """The most atoms that an example of this data set has."""
        if self.atoms_per_example >= 0:
            return self.atoms_per_example
        return max([self.n_atoms(rows.example(i)) for i in range(rows.n_examples)], default=0)

    def touched_rows(self, rows):
        """Which rows of weights steps on these examples can change, an array, or None for all."""
        return None

    def scores(self, const double[::1] w, Example x):
        """s[a] = w . phi(x, a) for every atom; w has length n_weights."""
        cdef Parameter p = written_out(self, <double *> &w[0])
        cdef Py_ssize_t n = self.n_atoms(x)
        cdef double[::1] s = np.zeros(max(n, self.room, 1))
        x.n_atoms = n
        self.answer(self.scores_c(&p, x, &s[0]))
        return np.asarray(s)[:n]

    def add(self, double[::1] w, Example x, c):
        """w += sum_a c[a] phi(x, a), in place."""
        cdef Parameter p = written_out(self, &w[0])
        cdef double[::1] padded = room_for(c, self, x)
        self.answer(self.add_c(&p, x, &padded[0], 1.0, 0.0))

    def vector(self, Example x, c):
        """sum_a c[a] phi(x, a) as an array of length n_weights."""
        w = np.zeros(self.n_weights)
        self.add(w, x, c)
        return w

    def norm(self, Example x, c):
        """Squared norm of sum_a c[a] phi(x, a)."""
        cdef double[::1] padded = room_for(c, self, x)
        cdef double total = self.norm_c(x, &padded[0])
        self.reraise()
        return total

    def inner(self, Example x, Py_ssize_t a, Example z, Py_ssize_t b):
        """phi(x, a) . phi(z, b): what a dual weight store needs."""
        cdef double value = self.inner_c(x, a, z, b)
        self.reraise()
        return value

    def cell(self, Example x, Py_ssize_t a):
        """(row, block) of the row of x and the block that atom a stands on, None where it stands on none; see `n_blocks`."""
        cdef Py_ssize_t cell = self.cell_c(x, a)
        self.reraise()
        return None if cell < 0 else divmod(cell, self.n_blocks)

    def explicit_part(self):
        """The map of what atoms have besides their row (see `n_blocks`): this one for X without columns; None where nothing is left."""
        raise self.missing("explicit_part")

    def batch_scores(self, w, rows):
        """Atom scores of many one-row examples, (n_examples, n_atoms), or None where there is no faster way than one by one."""
        return None

    def column_of(self, indices):
        """Which column of X each of these weights belongs to; -1: none (an intercept or a threshold)."""
        return np.asarray(indices)

    def answer(self, int status):
        """Raises what a compiled or Python method left behind."""
        if status < 0:
            self.reraise()

    def reraise(self):
        if self.error is not None:
            self.raised()


cdef class BlockFeatures(Features):
    """Atom a of a one-row example x has x in weight block a: phi(x, a) = e_a (x) x, and a constant feature.

    Dense X keeps the weights as (block, feature), sparse X as (feature, block), so that one non-zero touches one
    contiguous row. The constant feature is +1 here; the papers' -1 only turns the sign of the stored intercept.

    Parameters
    ----------
    n_blocks, n_features : int
    intercept : bool
    feature_major : bool
        Lay the weights out for sparse X.
    """

    single_row = True
    uniform_gram = True

    def __init__(self, Py_ssize_t n_blocks, Py_ssize_t n_features, intercept=True, feature_major=False):
        self.n_blocks, self.n_features = n_blocks, n_features
        self.kernels = best_inner(n_features)
        self.intercept, self.feature_major = intercept, feature_major
        self.prefetches = feature_major
        if feature_major:       # rows of one or of whole groups of four blocks; the surplus stays 0
            self.room = n_blocks if n_blocks == 1 else (n_blocks + 3) // 4 * 4
            rows = n_features + self.intercept
            self.shape(rows * self.room, rows, atoms_per_example=n_blocks)
        else:
            self.shape(max(n_blocks * (n_features + self.intercept), 1), 1, atoms_per_example=n_blocks)

    cdef int scores_c(self, const Parameter *p, Example x, double *s) noexcept nogil:
        cdef sp_blocks b = blocks_of(self, p)
        self.kernels.dots[x.block.layout](&x.block, 0, &b, s)
        return 0

    cdef int add_c(self, const Parameter *p, Example x, const double *c, double to_w, double to_u) noexcept nogil:
        cdef sp_blocks b = blocks_of(self, p)
        self.kernels.add[x.block.layout](&x.block, 0, &b, c, to_w, to_u)
        return 0

    cdef double norm_c(self, Example x, const double *c) noexcept nogil:
        """||c||^2 (||x||^2 + 1)"""
        cdef double total = 0
        cdef Py_ssize_t k
        for k in range(self.n_blocks):
            total += c[k] * c[k]
        return total * (self.kernels.norm[x.block.layout](&x.block, 0) + self.intercept)

    cdef double inner_c(self, Example x, Py_ssize_t a, Example z, Py_ssize_t b) noexcept nogil:
        """[a = b] (x . z + 1)"""
        if a != b:
            return 0
        return self.kernels.row_dot(&x.block, 0, &z.block, 0) + self.intercept

    cdef double constant_gram_c(self, Example x, double *shared) noexcept nogil:
        """||x||^2 + 1, and 0: blocks are orthogonal"""
        shared[0] = 0
        return self.kernels.norm[x.block.layout](&x.block, 0) + self.intercept

    cdef Py_ssize_t cell_c(self, Example x, Py_ssize_t a) noexcept nogil:
        return a

    def explicit_part(self):
        return BlockFeatures(self.n_blocks, 0) if self.intercept else None

    cdef void prefetch_c(self, const Parameter *p, Example x) noexcept nogil:
        cdef sp_blocks b = blocks_of(self, p)
        sp_prefetch_blocks(&x.block, &b)

    def touched_rows(self, rows):
        if not (self.feature_major and rows.sparse):
            return None
        return np.append(np.unique(rows.X.indices), np.arange(self.n_features, self.n_weight_rows))

    def split(self, w):
        """Weights as (n_blocks, n_features) and intercepts as (n_blocks,), views where the layout allows."""
        w = np.asarray(w)
        if self.feature_major:
            table = w.reshape(-1, self.room)[:, :self.n_blocks]
            return table[:self.n_features].T, (table[self.n_features] if self.intercept else np.zeros(self.n_blocks))
        blocks = w[:self.n_blocks * self.n_features].reshape(self.n_blocks, self.n_features)
        constants = w[self.n_blocks * self.n_features:][:self.n_blocks]
        return blocks, (constants if self.intercept else np.zeros(self.n_blocks))

    def batch_scores(self, w, rows):
        if rows.offsets is not None:
            return None
        blocks, intercepts = self.split(w)
        return rows.X @ blocks.T + intercepts

    def column_of(self, indices):
        indices = np.asarray(indices)
        feature = indices // self.room if self.feature_major else indices % self.n_features
        constant = indices >= (self.n_features * self.room if self.feature_major else self.n_blocks * self.n_features)
        return np.where(constant, -1, feature)


cdef inline sp_blocks direction(RowFeatures f, const Parameter *p) noexcept nogil:
    cdef sp_blocks b
    b.w, b.bias, b.average, b.n_blocks, b.place, b.n_placed = p.w, NULL, p.average, 1, NULL, NULL
    b.block_step, b.feature_step = f.n_features, 1
    return b


cdef class RowFeatures(Features):
    """Atom a of an example is its row a: phi(x, a) = x_a, one weight per column of X.

    Documents of a query, edges of a graph, candidate intervals: every structure is scored by the sum of its rows.
    """

    def __init__(self, Py_ssize_t n_features):
        self.n_features, self.n_blocks = n_features, 1
        self.kernels = best_inner(n_features)
        self.shape(max(n_features, 1))

    cdef Py_ssize_t n_atoms_c(self, Example x) noexcept nogil:
        return x.block.n_rows

    cdef int scores_c(self, const Parameter *p, Example x, double *s) noexcept nogil:
        cdef sp_blocks b = direction(self, p)
        cdef Py_ssize_t a
        for a in range(x.block.n_rows):
            self.kernels.dots[x.block.layout](&x.block, a, &b, s + a)
        return 0

    cdef int add_c(self, const Parameter *p, Example x, const double *c, double to_w, double to_u) noexcept nogil:
        cdef sp_blocks b = direction(self, p)
        cdef Py_ssize_t a
        for a in range(x.block.n_rows):
            if c[a] != 0:
                self.kernels.add[x.block.layout](&x.block, a, &b, c + a, to_w, to_u)
        return 0

    cdef double inner_c(self, Example x, Py_ssize_t a, Example z, Py_ssize_t b) noexcept nogil:
        return self.kernels.row_dot(&x.block, a, &z.block, b)

    cdef Py_ssize_t cell_c(self, Example x, Py_ssize_t a) noexcept nogil:
        return a

    def explicit_part(self):
        return None

    def max_atoms(self, rows):
        return int(rows.sizes().max())

    def attributes(self, weights):
        return {"coef_": lambda: np.array(weights.vector())}
