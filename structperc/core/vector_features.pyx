"""A feature map written down as vectors: the shortest way to a new Phi in Python."""
import numpy as np

from structperc.basics.arguments import dimension
from structperc.basics.errors import DataError, PluginError, shortened
from structperc.basics.sparse_parts import is_sparse, to_csr
from structperc.core.component import argument, noted
from structperc.core.features cimport Features, Parameter, StepSizes
from structperc.core.row_features cimport RowFeatures
from structperc.core.rows cimport Example, Rows, shown_to_map


cdef class VectorFeatures(Features):
    """Base class of feature maps in Python: a subclass defines `vectors(x)`.

    `vectors` is called once for each visit and prediction. Weight j belongs to column j of X if there are as many weights as columns.
    Otherwise override `column_of`, which `explain` uses for names.

    Parameters
    ----------
    n_weights : int
        Length of every phi(x, a).
    bounds : pair, optional
        Smallest and largest weights, numbers or arrays of shape (n_weights,); 0 is between them.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.components import VectorFeatures
    >>> class Pairs(VectorFeatures):            # atoms: neighbouring rows, described by their difference
    ...     def vectors(self, x):
    ...         return np.diff(x.rows, axis=0)
    >>> Pairs(3).n_weights
    3
    """

    def __init__(self, n_weights: int, bounds=None):
        n_weights = argument(self, "n_weights", n_weights, dimension, 1)
        self.shape(n_weights)
        self.map = RowFeatures(n_weights, bounds=bounds)
        self.bounds = self.map.bounds

    def vectors(self, x):
        """The feature vectors phi(x, a) of all atoms of x. Returns an array or sparse matrix of shape (n_atoms, n_weights).

        Parameters
        ----------
        x : Example
        """
        raise self.missing("vectors")

    cdef Example written(self, Example x):
        """The vectors of x as rows; kept with x until it shows another example."""
        cdef dict kept = x.source.kept if x.source.n_examples == 1 else x.kept
        if kept is None:
            kept = {}
            if x.source.n_examples == 1:
                x.source.kept = kept
            else:
                x.kept = kept
        index, rows = kept.get(self, (-1, None))
        if index != x.index:
            rows = as_rows(self, x)
            kept[self] = x.index, rows
        return rows

    cdef Py_ssize_t n_atoms_c(self, Example x) noexcept nogil:
        with gil:
            try:
                return self.written(x).block.n_rows
            except BaseException as error:
                self.error = error
                return -1

    cdef int scores_c(self, const Parameter *p, Example x, double *s) noexcept nogil:
        with gil:
            try:
                return self.map.scores_c(p, self.written(x), s)
            except BaseException as error:
                self.error = error
                return -1

    cdef int add_c(self, const Parameter *p, Example x, const double *c, double to_w, double to_u) noexcept nogil:
        with gil:
            try:
                return self.map.add_c(p, self.written(x), c, to_w, to_u)
            except BaseException as error:
                self.error = error
                return -1

    cdef int adapt_c(self, const Parameter *p, Example x, const double *c, const StepSizes *sizes) noexcept nogil:
        with gil:
            try:
                return self.map.adapt_c(p, self.written(x), c, sizes)
            except BaseException as error:
                self.error = error
                return -1

    cdef int clip(self, const Parameter *p, Example x, double to_w, double to_u) noexcept nogil:
        with gil:
            try:
                return self.map.clip(p, None if x is None else self.written(x), to_w, to_u)
            except BaseException as error:
                self.error = error
                return -1

    cdef double norm_c(self, Example x, const double *c) noexcept nogil:
        with gil:
            try:
                return self.map.norm_c(self.written(x), c)
            except BaseException as error:
                self.error = error
                return -1

    def vector(self, Example x, c, sparse=False):
        return self.map.vector(self.written(x), c, True) if sparse else Features.vector(self, x, c)

    def attributes(self, weights):
        return {"coef_": lambda: np.array(weights.vector())}


def as_numbers(features, vectors, Example x):
    """What `vectors` returned, as an array of floats of its own: authors may fill one array again and again."""
    try:
        values = np.asarray(vectors)
        if values.dtype.kind in "biufO":
            return np.array(values, dtype=values.dtype if values.dtype in (np.float64, np.float32) else np.float64, order="C")
    except (TypeError, ValueError):
        pass
    raise PluginError(f"{type(features).__name__}.vectors returned {shortened(vectors, 80)} for example {x.index}; expected "
                      f"(n_atoms, {features.n_weights}) real numbers.")


def as_rows(features, Example x):
    """What `vectors` returned for x, checked, as an example of so many rows."""
    before = shown_to_map(x, True)
    try:
        vectors = features.vectors(x)
    except BaseException as error:
        raise noted(error, features, "vectors", x)
    finally:
        shown_to_map(x, before)
    if is_sparse(vectors):
        try:
            vectors = to_csr(vectors, "vectors").copy()
        except DataError as error:
            raise PluginError(f"{type(features).__name__}.vectors returned a matrix for example {x.index} that is damaged: "
                              f"{error}") from None
        shape = vectors.shape
        if vectors.data.dtype not in (np.float64, np.float32):
            vectors = vectors.astype(np.float64)
    else:
        vectors = as_numbers(features, vectors, x)
        shape = vectors.shape
    if len(shape) != 2 or shape[1] != features.n_weights:
        raise PluginError(f"{type(features).__name__}.vectors returned shape {shape} for example {x.index}; expected "
                          f"(n_atoms, {features.n_weights}), a vector per atom.")
    numbers = vectors if isinstance(vectors, np.ndarray) else vectors.data
    if not np.isfinite(numbers).all():
        wrong = numbers[~np.isfinite(numbers)][0]
        raise PluginError(f"{type(features).__name__}.vectors returned {wrong} for example {x.index}; expected finite numbers.")
    return Rows(vectors, np.array([0, shape[0]], dtype=np.int64)).example(0)
