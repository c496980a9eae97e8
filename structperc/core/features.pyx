"""Feature maps: their base class, explicit weights of atoms, and the sum of two maps.

Typical sizes: 4 .. 10^5 atoms an example, 50 .. 10^8 weights. Cost: explicit weights cost a copy of as many numbers; a sum costs its parts
and about 5 ns a call.
"""
import math

import numpy as np

from libc.string cimport memcpy, memset
from structperc.basics.arguments import FINITE, dimension, flag, real_number
from structperc.basics.errors import DataError, PluginError, shortened
from structperc.basics.saved_state import substate
from structperc.core.bounds cimport Bounds, hold
from structperc.core.component cimport Component
from structperc.core.component import adapted, argument, check_example, overrides, settle, state_of, unwrapped
from structperc.core.inner_products cimport SP_OBJECTS, best_inner, sp_end, sp_is_dense, sp_start, sp_touched
from structperc.core.layout import Layout
from structperc.core.rows cimport Example, Rows

MOST_WEIGHTS = 2**55        # with averages and padding, in bytes: still an address


cdef coefficients_of(c, Features features, Example x):
    """An array of one coefficient per atom. Counts the atoms of x."""
    x.n_atoms = features.n_atoms(x)
    c = np.asarray(c, dtype=float)
    if c.shape != (x.n_atoms,):
        raise DataError(f"{c.shape} coefficients for example {x.index}; expected ({x.n_atoms},), one per atom.")
    return c


cdef room_for(c, Features features, Example x):
    """One coefficient per atom, copied to an array that is as long as compiled methods need it."""
    check_call(features, x)
    c = coefficients_of(c, features, x)
    padded = np.zeros(x.n_atoms + PADDING)
    padded[:len(c)] = c
    return padded


cdef int check_call(Features features, Example x, Py_ssize_t n_weights=-1, bint reads_rows=True) except -1:
    """Raises an error for an example or weights of another size than compiled methods read; the loop never calls it."""
    cdef Features own = unwrapped(features)
    if n_weights >= 0 and n_weights != own.n_weights:
        raise DataError(f"{type(own).__name__} was given {n_weights} weights; expected {own.n_weights}.")
    check_example(own, x)
    # an author's own n_features may count something else
    n_features = None if "n_features" in getattr(own, "__dict__", ()) else getattr(own, "n_features", None)
    if n_features is not None and (x.block.layout == SP_OBJECTS or x.block.n_features != n_features):
        if x.block.layout == SP_OBJECTS:
            if not reads_rows:              # a kernel compares the objects, and the map only has the places of atoms
                return 0
            raise DataError(f"X is a list of objects, but {type(own).__name__} was made for rows of numbers.")
        came = f"has {x.block.n_features} columns"
        raise DataError(f"example {x.index} {came}; {type(own).__name__} was made for rows of {n_features} columns.")
    if own.fixed_rows >= 0 and x.block.n_rows != own.fixed_rows:
        raise DataError(f"example {x.index} has {x.block.n_rows} rows; {type(own).__name__} describes examples of {own.fixed_rows}.")
    return 0


def weights_of(features, w):
    """The weights, if they are of the type that compiled methods read and change in place."""
    if isinstance(w, np.ndarray) and w.dtype == np.float64 and w.ndim == 1 and w.flags.c_contiguous:
        return w
    if isinstance(w, memoryview) or type(w).__name__ == "_memoryviewslice":
        return w
    came = f"an array of shape {w.shape} and type {w.dtype}" if isinstance(w, np.ndarray) else shortened(w)
    raise PluginError(f"{type(unwrapped(features)).__name__} was given the weights {came}; expected one contiguous float64 array, such as "
                      f"np.zeros(n_weights).")


cdef const double *pointer(const double[::1] values) noexcept:
    return &values[0] if values.shape[0] else NULL


cdef Units units_of(const double[::1] shift, const double[::1] spread) except *:
    if shift.shape[0] != spread.shape[0]:
        raise DataError(f"{shift.shape[0]} shifts and {spread.shape[0]} spreads; expected one of each per column.")
    return Units(shift.shape[0], pointer(shift), pointer(spread))


cdef double take_square(double *v, Py_ssize_t n) noexcept nogil:
    """The sum of squares of n numbers, which are then set to 0."""
    cdef Py_ssize_t j
    cdef double total = 0
    for j in range(n):
        total += v[j] * v[j]
    memset(v, 0, n * sizeof(double))
    return total


cdef class Features(Component):
    """The feature map phi(x, a) of every atom a: scores, additive updates, norms and inner products.

    A Python map calls `shape` in its constructor and overrides `scores` and `add`. If examples differ in their atoms, it also overrides
    `n_atoms`. `vector`, `norm` and `inner` follow from `add` at a cost of O(n_weights); override `norm` if you have a faster way. `left +
    right` joins two maps: the atoms of `left`, then those of `right`, each with the weights of its own map.

    Attributes
    ----------
    n_weights : int
        Length of phi(x, a).
    layout : Layout
        All sizes that `shape` declared: `atoms_per_example`, `rows_per_example`, `n_weight_rows`, `row_width` and `n_blocks`.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.components import Features, Rows
    >>> class Slopes(Features):                     # two atoms that share the weights: x and -x
    ...     def __init__(self, n_features):
    ...         self.shape(n_features, atoms_per_example=2)
    ...     def scores(self, w, x):
    ...         return np.array([w @ x.rows[0], -(w @ x.rows[0])])
    ...     def add(self, w, x, c):
    ...         w += (c[0] - c[1]) * x.rows[0]
    >>> Slopes(2).vector(Rows(np.array([[1.0, 2.0]])).example(0), np.array([1.0, 0.0])).tolist()
    [1.0, 2.0]
    """

    _declared_by = {
        **dict.fromkeys(("n_weights", "n_weight_rows", "row_width", "atoms_per_example", "rows_per_example", "n_blocks"),
                        "shape(n_weights, n_weight_rows, atoms_per_example, n_blocks, rows_per_example) in the constructor"),
        "constrained": "project(w, x), which only maps with constraints override",
        "absorbs_shift": "rescaled(w, shift, spread), which returns None for shifts that it cannot absorb",
        "has_constant_gram": "constant_gram(x), which only maps with a constant Gram matrix override",
        "sparse_vector": "vector(x, c, sparse), whose option sparse=True asks for indices and values",
    }

    def __cinit__(self, *args, **kwargs):
        self.kernels = best_inner(0)
        self.fixed_atoms = self.fixed_rows = -1
        self.n_weight_rows = 1
        self.scratch = self.scratch_place = None

    def shape(self, n_weights, n_weight_rows=1, atoms_per_example=None, Py_ssize_t n_blocks=0, rows_per_example=None) -> None:
        """Declare the number of weights. A map calls this in its constructor. Raises `PluginError` if a number is out of range.

        Parameters
        ----------
        n_weights : int
            Length of phi(x, a), at most 2^55.
        n_weight_rows : int, default 1
            Compiled maps may store their weights in rows, which begin `Parameter.pitch` apart.
        atoms_per_example : int, optional
            Atoms of every example. Default: `n_atoms(x)` is called.
        n_blocks : int, default 0
            See `Layout`.
        rows_per_example : int, optional
            Rows of X that every example must have.
        """
        if n_weights < 1 or n_weight_rows < 1 or n_weights % n_weight_rows:
            raise PluginError(f"{type(self).__name__} declares {n_weights} weights in {n_weight_rows} rows; "
                              f"both must be positive and the rows equally long.")
        if n_weights > MOST_WEIGHTS:
            raise DataError(f"these data need {n_weights} weights, more than the {MOST_WEIGHTS} that can be addressed. Give X fewer "
                            f"columns, for instance by hashing their numbers.")
        if 0 < self.row_width and n_weights != self.n_weights and not overrides(self, "scores"):
            raise PluginError(f"{type(self).__name__} has {self.n_weights} weights, which its compiled methods use; shape declares "
                              f"{n_weights}.")
        self.n_weight_rows, self.row_width = n_weight_rows, n_weights // n_weight_rows
        self.fixed_atoms, self.n_blocks = -1 if atoms_per_example is None else atoms_per_example, max(n_blocks, self.n_blocks)
        if rows_per_example is not None:
            self.fixed_rows = rows_per_example

    @property
    def n_weights(self):
        return self.n_weight_rows * self.row_width

    @property
    def layout(self):
        return Layout(self.n_weights, self.n_weight_rows, self.row_width, None if self.fixed_atoms < 0 else self.fixed_atoms,
                      None if self.fixed_rows < 0 else self.fixed_rows, self.n_blocks)

    def __add__(self, other):
        if not isinstance(self, Features) or not isinstance(other, Features):
            return NotImplemented
        return SumFeatures(self, other)

    cdef Py_ssize_t n_atoms_c(self, Example x) noexcept nogil:
        if self.fixed_atoms < 0:
            with gil:
                self.error = self.missing("n_atoms")
        return self.fixed_atoms

    cdef int scores_c(self, const Parameter *p, Example x, double *s) noexcept nogil:
        with gil:
            self.error = self.missing("scores")
        return -1

    cdef int batch_scores_c(self, const Parameter *p, Example x, Py_ssize_t first, Py_ssize_t n, double *s) noexcept nogil:
        """`scores_c` of the examples first, .., first + n - 1 of x's data set; for maps with as many atoms in each."""
        cdef Py_ssize_t i
        cdef int status
        x.n_atoms = self.fixed_atoms
        for i in range(n):
            x.source.load(first + i, x)
            status = self.scores_c(p, x, s + i * self.fixed_atoms)
            if status < 0:
                return status
        return 0

    cdef int add_c(self, const Parameter *p, Example x, const double *c, double to_w, double to_u) noexcept nogil:
        with gil:
            self.error = self.missing("add")
        return -1

    cdef int project_c(self, const Parameter *p, Example x, double to_w, double to_u) noexcept nogil:
        """After a step on x: moves the weights that it touched to the nearest allowed ones; -1 on an error. x None: all weights.

        A weight w is stored as w * to_w. If it moves by d, its accumulator moves by d * to_u, as in `add_c`.
        """
        return 0 if self.bounds is None else self.clip(p, x, to_w, to_u)

    cdef int clip(self, const Parameter *p, Example x, double to_w, double to_u) noexcept nogil:
        """Moves the weights that x touches within `bounds`; -1 on an error."""
        return 0

    cdef int rescale_c(self, const Parameter *p, const Units *units) noexcept nogil:
        """`rescaled` of the weights at p.w, in place, without their averages. 0: the map has no such weights; -1 on an error."""
        return 0

    cdef bint constrained(self):
        """Whether `project` may move weights."""
        return self.bounds is not None or overrides(self, "project") or <void *> self.project_c != <void *> Features.project_c

    cdef int adapt_c(self, const Parameter *p, Example x, const double *c, const StepSizes *sizes) noexcept nogil:
        """A step with a size for each weight (see sp_inner.adapt in inner.h), along sum_a c[a] phi(x, a).

        Returns -1 on an error. Writes the change down and looks at all weights, of those on demand at the touched ones.
        """
        cdef Parameter change
        cdef Py_ssize_t row, q
        cdef bint dense = sp_is_dense(&x.block)
        if self.write_c(x, c, &change) < 0:
            return -1
        for row in range(self.n_weight_rows - self.on_demand_rows):
            adapt_row(self, p.fixed + row * p.pitch, self.row_width, p, change.fixed + row * change.pitch, sizes)
        if self.on_demand_rows > 0:
            for q in range(0 if dense else sp_start(&x.block, 0), self.on_demand_rows if dense else sp_end(&x.block, x.block.n_rows)):
                row = q if dense else sp_touched(&x.block, x.block.n_rows, q)
                if change.place[row] > 0:
                    adapt_row(self, p.w + claimed(p, row) * p.pitch, self.row_width, p, change.w + change.place[row] * change.pitch, sizes)
                    change.place[row] = 0
        return 0

    cdef int write_c(self, Example x, const double *c, Parameter *written) noexcept nogil:
        """Writes sum_a c[a] phi(x, a) to `written`, weights on demand in the rows of their places; -1 on an error.

        Whoever reads it leaves zeros there.
        """
        self.scratch_for(self.n_weight_rows * self.row_width + self.row_width, self.on_demand_rows)
        written[0] = written_out(self, &self.scratch[0])
        if self.on_demand_rows > 0:
            self.scratch_rows = <int> (self.n_weight_rows - self.on_demand_rows) + 1
            written.fixed, written.n_placed = written.w + written.pitch, &self.scratch_rows
            written.place = written.marks = &self.scratch_place[0]
        if self.add_c(written, x, c, 1.0, 0.0) < 0:
            with gil:
                self.scratch = None
            return -1
        return 0

    cdef void scratch_for(self, Py_ssize_t n, Py_ssize_t n_places) noexcept nogil:
        """Ensures zeroed scratch for n values and n_places indices."""
        if self.scratch is None or self.scratch.shape[0] < n or self.scratch_place.shape[0] < n_places:
            with gil:
                self.scratch = np.zeros(n)                  # the system gives memory where it is used
                self.scratch_place = np.zeros(max(n_places, 1), dtype=np.intc)

    cdef double norm_c(self, Example x, const double *c) noexcept nogil:
        """||sum_a c[a] phi(x, a)||^2, by writing the sum down, of weights on demand only the touched ones; negative on an error."""
        cdef Parameter p
        cdef Py_ssize_t q
        cdef double total
        if self.write_c(x, c, &p) < 0:
            return -1
        if self.on_demand_rows == 0:
            return take_square(p.w, self.n_weight_rows * self.row_width)
        total = take_square(p.w, self.scratch_rows * p.pitch)
        if sp_is_dense(&x.block):
            memset(p.place, 0, self.on_demand_rows * sizeof(int))
        else:
            for q in range(sp_start(&x.block, 0), sp_end(&x.block, x.block.n_rows)):
                p.place[sp_touched(&x.block, x.block.n_rows, q)] = 0
        return total

    cdef double constant_gram_c(self, Example x, double *off_diagonal) noexcept nogil:
        """phi(x, a) . phi(x, b) = off_diagonal + [a = b] d: returns d; negative on an error. Only maps where this holds have it."""
        with gil:
            self.error = self.missing("constant_gram")
        return -1

    cdef Py_ssize_t cell_c(self, Example x, Py_ssize_t a) noexcept nogil:
        """row * n_blocks + block of the row and the block of atom a, -1: none; -2 on an error."""
        with gil:
            self.error = self.missing("cell")
        return -2

    cdef void prefetch_c(self, const Parameter *p, Example x) noexcept nogil:
        pass

    def n_atoms(self, Example x):
        """The number of atoms of x. Returns an int.

        Parameters
        ----------
        x : Example
        """
        cdef Py_ssize_t n
        check_call(self, x, -1, self.fixed_atoms < 0)
        n = self.n_atoms_c(x)
        raise_error(self)
        return n

    def check_rows(self, rows) -> None:
        """Raises `DataError` for a data set that this map cannot read. Called before each fit and prediction.

        Parameters
        ----------
        rows : Rows
        """
        if self.fixed_rows < 0:
            return
        wrong = np.flatnonzero(rows.sizes() != self.fixed_rows) if rows.offsets is not None or self.fixed_rows != 1 else ()
        if len(wrong):
            i, one = int(wrong[0]), "one row; pass a matrix of them, and leave offsets out"
            expected_rows = one if self.fixed_rows == 1 else f"{self.fixed_rows} rows"
            raise DataError(f"example {i} of X has {int(rows.sizes()[i])} rows, but {type(self).__name__} describes examples of "
                            f"{expected_rows}.")

    def max_atoms(self, rows):
        """The largest number of atoms of an example in a data set, for the size of buffers. By default it reads every example.
        Returns an int.

        Parameters
        ----------
        rows : Rows
        """
        if self.fixed_atoms >= 0:
            return self.fixed_atoms
        called = adapted(self)
        return max([called.n_atoms(rows.example(i)) for i in range(rows.n_examples)], default=0)

    cdef touched_rows(self, Rows rows):
        """The rows of weights that steps on these examples can change, to restore them after a failed chunk; None: all."""
        return None

    def scores(self, w, Example x):
        """The scores w . phi(x, a) of all atoms. Returns a float64 array of shape (n_atoms,).

        Parameters
        ----------
        w : float64 array of shape (n_weights,)
        x : Example
        """
        cdef const double[::1] at = weights_of(self, w)
        cdef Parameter p = written_out(self, <double *> pointer(at))
        cdef Py_ssize_t n
        cdef double[::1] s
        check_call(self, x, at.shape[0])
        n = self.n_atoms(x)
        s = np.zeros(n + PADDING)
        x.n_atoms = n
        if self.scores_c(&p, x, &s[0]) < 0:
            self.raised()
        return np.asarray(s)[:n]

    def add(self, w, Example x, c) -> None:
        """Add sum_a c[a] phi(x, a) to w, in place.

        Parameters
        ----------
        w : float64 array of shape (n_weights,)
        x : Example
        c : float64 array of shape (n_atoms,)
        """
        cdef double[::1] at = weights_of(self, w)
        cdef Parameter p = written_out(self, <double *> pointer(at))
        cdef double[::1] padded
        check_call(self, x, at.shape[0])
        padded = room_for(c, self, x)
        if self.add_c(&p, x, &padded[0], 1.0, 0.0) < 0:
            self.raised()

    def project(self, double[::1] w not None, Example x=None) -> None:
        """Move w to the nearest allowed weights, in place.

        Override it to allow only a closed convex set of weights that contains 0. The weights are projected after each step. Then the
        bounds of the updates hold for all weights in the set, and means of weights stay in it.

        Parameters
        ----------
        w : float64 array of shape (n_weights,)
            Allowed weights after a step on x; without x any weights.
        x : Example, optional
            The example of the step.
        """
        cdef Parameter p = written_out(self, <double *> pointer(w))
        if w.shape[0] != self.n_weights:
            raise DataError(f"{type(self).__name__} was given {w.shape[0]} weights; expected {self.n_weights}.")
        if x is not None:
            check_call(self, x)
        if self.project_c(&p, x, 1.0, 0.0) < 0:
            self.raised()

    def vector(self, Example x, c, sparse=False):
        """The feature vector sum_a c[a] phi(x, a).

        Parameters
        ----------
        x : Example
        c : array of shape (n_atoms,)
        sparse : bool, default False
            Whether to return only the nonzero entries.

        Returns
        -------
        float64 array of shape (n_weights,), or (int array, float64 array)
            If `sparse`, the numbers of weights, ascending, and the entries there.
        """
        w = np.zeros(self.n_weights)
        self.add(w, x, c)
        if not sparse:
            return w
        where = np.flatnonzero(w)
        return where, w[where]

    def norm(self, Example x, c):
        """Squared norm of sum_a c[a] phi(x, a). Returns a float.

        Parameters
        ----------
        x : Example
        c : array of shape (n_atoms,)
        """
        cdef double[::1] padded
        cdef double total
        if overrides(self, "add"):
            return adapted(self).norm(x, c)
        padded = room_for(c, self, x)
        total = self.norm_c(x, &padded[0])
        raise_error(self)
        return total

    def inner(self, Example x, Py_ssize_t a, Example z, Py_ssize_t b):
        """The inner product phi(x, a) . phi(z, b): from the rows of the atoms if `n_blocks` is known, else from both vectors.
        Returns a float.

        Parameters
        ----------
        x : Example
        a : int
            Atom of x.
        z : Example
        b : int
            Atom of z.
        """
        check_call(self, x)
        check_call(self, z)
        if self.n_blocks == 0 or x.block.layout == SP_OBJECTS or x.block.layout != z.block.layout or (
                x.source.value_size, x.source.index_size) != (z.source.value_size, z.source.index_size):
            self._check_atom(x, a)
            self._check_atom(z, b)
            return float(self.vector(x, np.arange(self.n_atoms(x)) == a) @ self.vector(z, np.arange(self.n_atoms(z)) == b))
        here, there, explicit = self.cell(x, a), self.cell(z, b), self.explicit_part()
        total = 0.0 if explicit is None else explicit.inner(x, a, z, b)
        if here is None or there is None or here[1] != there[1]:
            return total
        return total + self.kernels.row_dot(&x.block, here[0], &z.block, there[0])

    def constant_gram(self, Example x):
        """The Gram matrix of an example's atoms, if phi(x, a) . phi(x, b) = off_diagonal + [a = b] d. Exact updates need it.

        Parameters
        ----------
        x : Example

        Returns
        -------
        d, off_diagonal : float
        """
        cdef double off_diagonal = 0, own
        check_call(self, x)
        x.n_atoms = self.n_atoms(x)
        own = self.constant_gram_c(x, &off_diagonal)
        raise_error(self)
        return own, off_diagonal

    def cell(self, Example x, Py_ssize_t a):
        """The row of x and the block of an atom; see `Layout`.

        Parameters
        ----------
        x : Example
        a : int

        Returns
        -------
        (int, int) or None
            None if the atom belongs to no row.
        """
        cdef Py_ssize_t cell, before
        self._check_atom(x, a)
        before, x.n_atoms = x.n_atoms, self.n_atoms(x)
        cell = self.cell_c(x, a)
        x.n_atoms = before
        raise_error(self)
        return None if cell < 0 else divmod(cell, self.n_blocks)

    def _check_example(self, Example x):
        """Raises an error unless x has rows such as this map reads."""
        check_call(self, x)

    def _check_atom(self, Example x, Py_ssize_t a):
        """Raises an error unless a is an atom of x."""
        n = self.n_atoms(x)
        if not 0 <= a < n:
            raise DataError(f"example {x.index} has the atoms 0..{n - 1}; got {a}.")

    def explicit_part(self):
        """The map of the weights that atoms have besides their rows, such as a `TablePart`; see `Layout`.

        It numbers the atoms of x as this map does, and reads only the number of rows of x.
        Returns `Features` or None. None: there are no such weights.
        """
        raise self.missing("explicit_part")

    cdef Features in_rows(self, Py_ssize_t width):
        """This map with its weights in rows of another width, for sums of maps."""
        if self.row_width == width:
            return self
        raise PluginError(f"{type(self).__name__} has its weights in {self.n_weight_rows} row{'s' * (self.n_weight_rows != 1)} of "
                          f"{self.row_width}. It cannot be added to a map with rows of {width} weights. Construct both with "
                          f"feature_major=False.")

    def batch_scores(self, w, rows):
        """Atom scores of many one-row examples at once.
        Returns a float64 array of shape (n_examples, n_atoms) or None. None: score the examples one by one.

        Parameters
        ----------
        w : float64 array of shape (n_weights,)
        rows : Rows
        """
        return None

    def rescaled(self, w, shift, spread):
        """Weights that score rows x as the weights w score (x - shift) / spread.

        Parameters
        ----------
        w : array of shape (n_weights,)
        shift : array of shape (n_features,)
        spread : array of shape (n_features,)
            Larger than 0.

        Returns
        -------
        array of shape (n_weights,) or None
            Linear in w, up to a constant score of each example. None if the map has no such weights for this shift.
        """
        cdef double[::1] values = np.array(w, dtype=float)
        cdef Units units = units_of(np.ascontiguousarray(shift, dtype=float), np.ascontiguousarray(spread, dtype=float))
        cdef Parameter p = written_out(self, &values[0])
        cdef int status
        if values.shape[0] != self.n_weights or getattr(self, "n_features", units.n_features) != units.n_features:
            raise DataError(f"rescaled got {values.shape[0]} weights and {units.n_features} columns; this feature map has "
                            f"{self.n_weights} and {getattr(self, 'n_features', units.n_features)}.")
        status = self.rescale_c(&p, &units)
        if status < 0:
            self.raised()
        return np.asarray(values) if status else None

    def column_of(self, indices):
        """The column of X of each weight, for the names in `explain`. By default weights belong to no column.
        Returns an int array. -1: no column. `feature_name` has the name of such a weight.

        Parameters
        ----------
        indices : int array
            Numbers of weights.
        """
        return np.full(np.shape(indices), -1)

    def feature_name(self, j):
        """The name in `explain` of a weight that belongs to no column.

        Parameters
        ----------
        j : int
            Number of the weight.

        Returns
        -------
        str or None
            By default "feature 0", "feature 1", ...; None if the map overrides `column_of`. None: a constant, such as an intercept, a
            threshold or a pair of labels.
        """
        return None if type(self).column_of is not Features.column_of else f"feature {j}"


include "features.questions.pxi"
include "features.table.pxi"
include "features.sums.pxi"
