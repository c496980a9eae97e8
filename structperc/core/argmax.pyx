"""Solvers over label outputs, O(r) each; r = 2..50 takes 2..30 ns."""
from structperc.core.components cimport Argmax
from structperc.core.rows cimport Example


cdef class LabelArgmax(Argmax):
    """Base of the solvers over n_labels labels."""

    cdef readonly Py_ssize_t n_labels

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
