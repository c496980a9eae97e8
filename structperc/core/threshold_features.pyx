"""A feature map of one direction for all ranks, with a threshold for every boundary between two.

Typical sizes: 10..1000 features, 4 thresholds. Cost: one dot product, then O(K).
"""
import numpy as np

from structperc.basics.arguments import dimension, flag
from structperc.basics.errors import DataError, PluginError
from structperc.basics.saved_state import read_array
from structperc.core.component import argument
from structperc.core.features cimport Features, Parameter, Units
from structperc.core.features import TablePart
from structperc.core.inner_products cimport best_inner, widest_inner, sp_blocks, sp_prefetch_blocks
from structperc.core.rows cimport Example, Rows

INSTEAD = "The updates 'exact-pa', 'exact-pa1' and 'exact-pa2' keep them ordered."


cdef inline Py_ssize_t step_of(ThresholdFeatures f, const Parameter *p) noexcept nogil:
    """How far apart the weights of neighbouring features stand."""
    return p.pitch if f.n_weight_rows > 1 else 1


cdef inline sp_blocks direction(ThresholdFeatures f, const Parameter *p) noexcept nogil:
    cdef sp_blocks b
    b.w, b.bias, b.average, b.n_blocks, b.place = p.w, NULL, p.average, 1, NULL
    b.block_step = 1
    b.feature_step = step_of(f, p)
    return b


class Thresholds(TablePart):
    """The weights b of the atoms "rank > k", which score -b_k."""

    def table(self, values):
        return np.maximum.accumulate(super().table(values))             # in order also in the last bit


cdef class ThresholdFeatures(Features):
    """One shared direction with ordered thresholds: atom "rank > k" has phi(z, k) = (z, -e_k) and the score u . z - b_k.

    The weights are u (n_features), then the thresholds b (n_thresholds). Steps of one size keep the thresholds in order: two blocks that
    differ are at least that far apart. Exact projections keep the order up to rounding. Other update rules raise an error.

    Parameters
    ----------
    n_thresholds : int
        Number of thresholds, one less than levels.
    n_features : int
        Columns of X.
    feature_major : bool, default False
        Store weights and averages for sparse X.
    problem : str, optional
        Name in error messages; none: that of the class.

    References
    ----------
    R. L. Milidiú and R. H. S. Rocha: Cumulative Sum Ranking. arXiv:1911.11255, 2019. Equations 12 to 14.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.components import Rows, ThresholdFeatures
    >>> x = Rows(np.array([[1.0, 2.0]])).example(0)
    >>> ThresholdFeatures(2, 2).vector(x, np.array([1.0, 1.0])).tolist()
    [2.0, 4.0, -1.0, -1.0]
    """

    def __init__(self, n_thresholds: int, n_features: int, feature_major: bool = False, problem=None):
        n_thresholds = argument(self, "n_thresholds", n_thresholds, dimension)
        n_features = argument(self, "n_features", n_features, dimension)
        n = n_features + n_thresholds
        self.problem = type(self).__name__ if problem is None else problem
        self.n_thresholds, self.n_features, self.n_blocks = n_thresholds, n_features, 1
        self.kernels = best_inner(n_features)
        self.shape(n, n if argument(self, "feature_major", feature_major, flag) else 1, atoms_per_example=n_thresholds, rows_per_example=1)

    def check(self, context, parts):
        if context.decay:
            raise PluginError(f"{self.problem} with decay={context.decay}: thresholds that shrink before a step was made for them get "
                              f"out of "
                              f"order; leave decay out. An L2 penalty is the option penalty, with trainer='all-threshold'.")
        parts.trainer.check_order(context, parts)

    def disordered(self, context):
        """The error of steps that may disorder the thresholds, for `Update.check_order`. Returns `PluginError`.

        Parameters
        ----------
        context : FitContext
        """
        return PluginError(f"{self.problem} with update={context.update!r}: steps that are no whole numbers would disorder its thresholds. "
                           f"{INSTEAD}")

    def check_step_sizes(self, sample_weight, trained) -> None:
        """Raises `DataError` for sample weights with which steps have several sizes: every gap must be a multiple of one size.

        Parameters
        ----------
        sample_weight : array or None
        trained : bool
            Whether earlier steps had size 1.
        """
        size = self.step_size or (1.0 if trained else sample_weight.max())
        other = ~np.isin(sample_weight, (0, size)) | (sample_weight != np.round(sample_weight))
        if other.any():
            i = int(np.argmax(other))
            raise DataError(f"{self.problem} with sample_weight[{i}] = {sample_weight[i]}: fractional steps or steps of different sizes "
                            f"would disorder its thresholds. All weights must be one whole number, here {size:g}, or 0. Repeat a row to "
                            f"count it again. {INSTEAD}")
        if not trained:                     # of a model that goes where the call fails
            self.step_size = size

    def state(self):
        return {"step_size": np.array(self.step_size, dtype=np.float64)}

    def restore(self, state):
        self.step_size = read_array(state, "step_size", np.float64, low=0)

    cdef int scores_c(self, const Parameter *p, Example x, double *s) noexcept nogil:
        cdef Py_ssize_t k, n = self.n_thresholds, step = step_of(self, p)
        cdef double f = self.kernels.dot[x.block.layout](&x.block, 0, p.w, step)
        cdef const double *threshold = p.w + self.n_features * step
        for k in range(n):
            s[k] = f - threshold[0]
            threshold += step
        return 0

    cdef int batch_scores_c(self, const Parameter *p, Example x, Py_ssize_t first, Py_ssize_t n, double *s) noexcept nogil:
        cdef sp_blocks b
        cdef const double *threshold
        cdef Py_ssize_t i, k, K = self.n_thresholds
        cdef double f
        if <void *> self.scores_c != <void *> ONE.scores_c:     # a derived class scores in a way of its own
            return Features.batch_scores_c(self, p, x, first, n, s)
        b = direction(self, p)
        threshold = p.w + self.n_features * b.feature_step
        widest_inner().dots_of_rows[x.block.layout](&x.source.whole, first, n, &b, s, 1)
        for i in range(n - 1, -1, -1):          # from the last on, whose scores stand where no product waits any more
            f = s[i]
            if b.feature_step == 1:
                for k in range(K):
                    s[i * K + k] = f - threshold[k]
            else:
                for k in range(K):
                    s[i * K + k] = f - threshold[k * b.feature_step]
        return 0

    cdef int add_c(self, const Parameter *p, Example x, const double *c, double to_w, double to_u) noexcept nogil:
        cdef Py_ssize_t k, n = self.n_thresholds, step = step_of(self, p)
        cdef double *threshold = p.w + self.n_features * step
        cdef double total = 0
        for k in range(n):
            total += c[k]
        if total != 0:                      # first, since the next visit's product waits for it
            self.kernels.add_to_one[x.block.layout](&x.block, 0, p.w, step, p.average, total, to_w, to_u)
        for k in range(n):
            threshold[0] -= c[k] * to_w
            if p.average:
                threshold[p.average] -= c[k] * to_u
            threshold += step
        return 0

    cdef int rescale_c(self, const Parameter *p, const Units *units) noexcept nogil:
        cdef Py_ssize_t j, step = step_of(self, p)
        cdef double moved = 0
        for j in range(self.n_features):
            p.w[j * step] /= units.spread[j]
            moved += p.w[j * step] * units.shift[j]
        for j in range(self.n_features, self.n_features + self.n_thresholds):
            p.w[j * step] += moved
        return 1

    cdef double norm_c(self, Example x, const double *c) noexcept nogil:
        """(sum c)^2 ||z||^2 + ||c||^2"""
        cdef double total = 0, squares = 0
        cdef Py_ssize_t k
        for k in range(self.n_thresholds):
            total += c[k]
            squares += c[k] * c[k]
        return total * total * self.kernels.norm[x.block.layout](&x.block, 0) + squares

    cdef double constant_gram_c(self, Example x, double *off_diagonal) noexcept nogil:
        """1, and ||z||^2 off the diagonal"""
        off_diagonal[0] = self.kernels.norm[x.block.layout](&x.block, 0)
        return 1

    cdef Py_ssize_t cell_c(self, Example x, Py_ssize_t a) noexcept nogil:
        return 0

    def explicit_part(self):
        return Thresholds(self.n_thresholds, "thresholds_", value=-1)

    cdef void prefetch_c(self, const Parameter *p, Example x) noexcept nogil:
        cdef sp_blocks b = direction(self, p)
        sp_prefetch_blocks(&x.block, &b)

    cdef touched_rows(self, Rows rows):
        if not (self.n_weight_rows > 1 and rows.sparse):
            return None
        return np.append(rows.stored_columns(), np.arange(self.n_features, self.n_weight_rows))

    def column_of(self, indices):
        indices = np.asarray(indices)
        return np.where(indices < self.n_features, indices, -1)

    def attributes(self, weights):
        return {
            "coef_": lambda: np.array(weights.vector()[:self.n_features]),
            "thresholds_": lambda: np.maximum.accumulate(weights.vector()[self.n_features:]),      # in order also in the last bit
        }


cdef ThresholdFeatures ONE = ThresholdFeatures(1, 1)       # whose methods a derived class replaces
