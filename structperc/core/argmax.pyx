"""Solvers over label outputs, O(r) each; r = 2..50 takes 2..30 ns."""
import numpy as np

from structperc.core.component cimport Component
from structperc.core.rows cimport Example
from structperc.core.structures cimport structure


cdef class Argmax(Component):
    """The solver: a structure of largest score, sum_a n_y[a] s[a], with a stated tie rule.

    Attributes
    ----------
    exact : bool
        Whether what it finds is always a maximiser. An approximate solver is allowed, and `Engine` says so.
    restricts : bool
        Whether it heeds which labels each row may have (`Rows.restrict`, the users' `allowed`).
    """

    exact = True
    heeds_allowed = False

    def __cinit__(self, *args, **kwargs):
        self.width = -1

    def start(self, parts, context):
        """Takes the width of structures from the outputs."""
        self.width = parts.outputs.width

    def workspace_size(self, n_atoms):
        """How many doubles `argmax_c` needs at x.work for an example of so many atoms."""
        return 0

    cdef Py_ssize_t argmax_c(self, Example x, const double *s, int *y) noexcept nogil:
        with gil:
            self.error = self.missing("argmax")
        return -1

    def argmax(self, const double[::1] scores, Example x):
        """The structure of largest score: one label (int) or a tuple of integers.

        Parameters
        ----------
        scores : array of shape (x.n_atoms,)
            Atom scores; with loss-augmented search the loss is already in them.
        x : Example
        """
        cdef int[::1] y = np.empty(max(scores.shape[0], self.width, 1), dtype=np.intc)
        cdef Py_ssize_t n
        x.provide(self.workspace_size(scores.shape[0]))
        n = self.argmax_c(x, &scores[0] if scores.shape[0] else NULL, &y[0])
        if n < 0:
            self.raised()
        return structure(&y[0], n, self.width)

    def k_best(self, scores, Example x, k):
        """The k structures of largest score, best first, as a list of (structure, score); fewer where Y(x) has fewer.

        The first is what `argmax` finds. None: no faster way than to look at every structure.
        """
        return None

    def marginals(self, scores, Example x):
        """How often each atom is expected in y where p(y) is proportional to exp(score of y), an array; None as in `k_best`."""
        return None

    def max_marginals(self, scores, Example x):
        """The score of the best structure that contains each atom, an array; -inf where none does; None as in `k_best`."""
        return None


cdef class LabelArgmax(Argmax):
    """Base of the solvers over n_labels labels."""

    def __init__(self, Py_ssize_t n_labels):
        self.n_labels = n_labels
        self.width = 1


cdef class PrefixArgmax(LabelArgmax):
    """The rank whose prefix sum of atom scores is largest: argmax over y of s[0] + ... + s[y - 2]; ties go to the lowest."""

    cdef Py_ssize_t argmax_c(self, Example x, const double *s, int *y) noexcept nogil:
        cdef int k, best = 1
        cdef double sum = 0, largest = 0
        for k in range(<int> self.n_labels - 1):
            sum += s[k]
            best += (sum > largest) * (k + 2 - best)        # no branch to mispredict
            largest = sum if sum > largest else largest
        y[0] = best
        return 1


cdef class ThresholdArgmax(LabelArgmax):
    """The same maximum with ties to the highest rank, for scores s[k] = f - b_k below ordered thresholds.

    Then the prefix sums rise as long as s[k] >= 0, so the answer is one more than the number of thresholds reached,
    without rounding. Scores that rise somewhere (the loss is in them) are summed.
    """

    cdef Py_ssize_t argmax_c(self, Example x, const double *s, int *y) noexcept nogil:
        cdef int k, reached = 0, rises = 0, best = 1
        cdef double sum = 0, largest = 0, last = s[0]
        for k in range(<int> self.n_labels - 1):
            reached += s[k] >= 0
            rises |= s[k] > last
            last = s[k]
        if rises:
            for k in range(<int> self.n_labels - 1):
                sum += s[k]
                best += (sum >= largest) * (k + 2 - best)
                largest = sum if sum > largest else largest
            reached = best - 1
        y[0] = reached + 1
        return 1


cdef class LargestArgmax(LabelArgmax):
    """The label whose atom scores highest; ties go to the lowest label."""

    cdef Py_ssize_t argmax_c(self, Example x, const double *s, int *y) noexcept nogil:
        cdef int k, best = 1
        cdef double largest = s[0]
        for k in range(1, <int> self.n_labels):
            best += (s[k] > largest) * (k + 1 - best)       # no branch to mispredict
            largest = s[k] if s[k] > largest else largest
        y[0] = best
        return 1
