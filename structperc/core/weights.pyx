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
from structperc.core.component import adapted, argument, kept_state, overrides, raise_stored, unstarted, unwrapped
from structperc.core.features cimport PADDING, Features, Units, room_for, units_of, written_out
from structperc.core.features import is_constrained
from structperc.core.rows cimport Example, Rows
from structperc.core.schedules cimport Schedule

cdef enum:
    LINE = 8                            # doubles of a cache line
    MOST_PLACES = 2147483647
    WHOLE = -1


cdef class Weights(Component):
    """The weight vector w in any form: it scores the atoms of an example and receives additive steps.

    A Python class overrides `scores` and `update`. Further methods are optional:

    - `vector` if w is an array, for `coef_` and `explain`;
    - `terms` if w is a sum of training rows, for `explain`;
    - `norm` if the length of a step is not that of its feature vector;
    - `state` and `restore`, to save models and to undo `partial_fit`;
    - `averaged` for averaging; the hook, or `start`, reads `context.average`;
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
    step_size : Schedule or None
        Of a store with a separate step size for each weight, which gradient rules such as "adagrad" need; None: it has none.

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
    step_size = None

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
        """Convert rows to the form that this class reads. Called for every data set of fit, partial_fit and predictions. Returns `Rows`.

        By default the entries of a sparse row for one column are summed, in a copy. Rows without such entries are not copied.

        Parameters
        ----------
        rows : Rows
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
        """The scores w . phi(x, a) of all atoms of x. Returns a float64 array of shape (n_atoms,).

        Parameters
        ----------
        x : Example
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
        """Squared norm of a step, by which passive-aggressive steps divide: ||sum_a c[a] phi(x, a)||^2. Returns a float.

        Parameters
        ----------
        x : Example
        c : float64 array of shape (n_atoms,)
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
        """The weights to predict with. Returns a float64 array of shape (n_weights,) or None. None if w is not an array."""
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
        """The weights to predict with: the mean over the visited examples if averaging is on, else this object. Returns `Weights`."""
        return self

    cdef averaged_on(self, Rows rows):
        """`averaged()`, to score these rows with and no others."""
        return self.averaged()

    def batch_scores(self, rows):
        """Atom scores of a whole data set at once.
        Returns a float64 array of shape (n_examples, n_atoms) or None. None: score the examples one by one.

        Parameters
        ----------
        rows : Rows
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

    def network(self, shift, spread):
        """What computes the columns that scores are linear in, for exports.

        Parameters
        ----------
        shift : float64 array of shape (n_features,)
        spread : float64 array of shape (n_features,)
            The store scores (x - shift) / spread.

        Returns
        -------
        object or None
            None, the default, if scores are linear in X itself. Its method `columns(X)` returns the scores of the first atoms, a float64
            array of shape (n_rows, n_own). `shared` is a float64 array, the scores of the atoms behind them. `graph()` returns an ONNX
            model that computes columns of X, as bytes.
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
        Returns `Snapshot`. An object with the methods `revert` and `is_finite`.

        Parameters
        ----------
        rows : Rows or None
            None: any change, so also that of `rescaling`.
        """
        return Snapshot(self)

    def is_finite(self):
        """Whether no step has overflowed."""
        return True


class Snapshot:
    """The state of a weight store, to return to."""

    def __init__(self, weights):
        self.weights, self.n_visited, self.state = weights, weights.n_visited, kept_state(weights)

    def revert(self) -> None:
        """Undo all steps since the snapshot."""
        self.weights.n_visited = self.n_visited
        self.weights.restore(self.state)

    def is_finite(self):
        """Whether no step since the snapshot has overflowed."""
        return self.weights.is_finite()


def has_vector(Weights weights) -> bool:
    """Whether w is an array, without computing a mean of weights."""
    return isinstance(weights, PrimalWeights) and not overrides(weights, "vector") or weights.vector() is not None


cdef int reraise(Weights weights) except -1:
    """Raises and forgets the error that the weights or their feature map have stored, if there is one."""
    weights.error, weights.features.error = weights.error or weights.features.error, None
    if weights.error is not None:
        weights.raised()
    return 0


include "weights.rows.pxi"
include "weights.primal.pxi"
include "weights.sharding.pxi"


cdef PrimalWeights PRIMAL = PrimalWeights()          # whose methods a derived class replaces
