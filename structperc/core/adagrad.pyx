"""AdaGrad: weights with a step size for each coordinate, from the squares of its gradients so far.

Typical sizes: as of `PrimalWeights`, with one number more per weight. A step costs twice that of a perceptron, and a root and a division
for each weight that it moves.
"""
import numpy as np

from structperc.basics.errors import DataError
from structperc.core.averaging cimport Averaging
from structperc.core.features cimport Features, Parameter
from structperc.core.rows cimport Example
from structperc.core.updates import positive
from structperc.core.weights cimport PrimalWeights

DUCHI = """@article{duchi2011adaptive,
  author = {John Duchi and Elad Hazan and Yoram Singer},
  title = {Adaptive Subgradient Methods for Online Learning and Stochastic Optimization},
  journal = {Journal of Machine Learning Research},
  volume = {12},
  pages = {2121--2159},
  year = {2011}
}"""


cdef class AdaGradWeights(PrimalWeights):
    """AdaGrad: weights with a step size for each coordinate, G_i <- G_i + x_i^2, w_i <- w_i + eta x_i / sqrt(G_i).

    x = sum_a c[a] phi(x, a) is the direction of a step: atoms are summed before they are squared. If x_i is 0, w_i and G_i do not change.
    No small number is added to the root. If the map constrains its weights, each step ends at the nearest allowed ones in the Euclidean
    norm.

    Parameters
    ----------
    average : bool, default False
        As in `PrimalWeights`.
    decay : float in [0, 1), Schedule or function, default 0.0
        As in `PrimalWeights`.
    step_size : float, Schedule or function, default 0.1
        Length eta of a weight's first step, larger than 0, whatever the scale of its column. Larger values learn faster; try 0.1 for rare
        features, 1 for dense columns.

    Raises
    ------
    OptionError
        If a parameter is out of range.

    References
    ----------
    J. Duchi, E. Hazan and Y. Singer: Adaptive subgradient methods for online learning and stochastic optimization. Journal of Machine
    Learning Research 12, pages 2121-2159, 2011.

    Examples
    --------
    >>> from structperc import Engine
    >>> engine = Engine("multiclass", update="adagrad", step_size=1.0, random_state=0).fit([[0.0], [1.0]], ["a", "b"])
    >>> type(engine.parts_.weights).__name__, engine.predict([[2.0]]).tolist()
    ('AdaGradWeights', ['b'])
    """

    linear = False
    citation = DUCHI

    def __init__(self, average: bool = False, decay=0.0, step_size=0.1):
        PrimalWeights.__init__(self, average, decay)
        self.step_size = positive("step_size", step_size)
        self.n_kept = 1

    def allocate(self, Features features):
        PrimalWeights.allocate(self, features)
        self.sizes.squares = features.row_width * (1 + self.averaging.average)

    def sharding(self):
        return None                     # merged squares have no bound

    def fingerprint(self):
        values = [one for one in (self.decay.fingerprint(), self.step_size.fingerprint()) if one is not None]
        return np.concatenate(values) if values else None

    cdef int update_c(self, Example x, const double *c) noexcept nogil:
        cdef Averaging *a = &self.averaging
        cdef double rate = self.step_size.at_c(a.n_visited + 1)
        if rate < 0:
            with gil:
                self.error = self.step_size.taken_error()
            return -1
        if a.decay != 0 and self.shrink_c() < 0:
            return -1
        self.sizes.rate, self.sizes.to_w, self.sizes.to_u = rate, 1 / a.scale, a.scale_sum / a.scale
        if self.features.adapt_c(&self.p, x, c, &self.sizes) < 0:
            return -1
        if self.constrained:
            return self.features.project_c(&self.p, x, self.sizes.to_w, self.sizes.to_u) < 0
        return 0

    cdef void prefetch_c(self, Example x) noexcept nogil:
        cdef Parameter ahead = self.p
        ahead.average = self.sizes.squares              # the farthest number of a weight
        self.features.prefetch_c(&ahead, x)

    @property
    def squares(self):
        """G, flat, of length n_weights."""
        first = self.sizes.squares
        return self.rows.in_order(self._table()[:, first:first + self.features.row_width])

    def restore(self, state):
        PrimalWeights.restore(self, state)
        if (self._table()[:, self.sizes.squares:] < 0).any():
            raise DataError("a saved sum of squares is below 0.")
