"""Solvers over label outputs, O(r) each; r = 2..50 takes 2..30 ns."""
from structperc.core.components cimport Argmax
from structperc.core.rows cimport Example


cdef class PrefixArgmax(Argmax):
    """The rank whose prefix sum of atom scores is largest: argmax over y of s[0] + ... + s[y - 2].

    It asks whether what the ranks above the best so far add up to is positive. When the scores fall with k that is
    exactly the threshold rule "smallest k with s[k] < 0", without rounding.

    Parameters
    ----------
    ties : {"lowest", "highest"}
        Which rank wins a tie: CuSum's rule is the lowest, PRank's the highest.
    """

    cdef bint highest

    def __init__(self, Py_ssize_t n_labels, str ties="lowest"):
        if ties not in ("lowest", "highest"):
            raise ValueError(f"ties={ties!r}; expected 'lowest' or 'highest'.")
        self.n_labels = n_labels
        self.highest = ties == "highest"
        self.width = 1

    cdef Py_ssize_t n_labels

    cdef Py_ssize_t argmax_c(self, Example x, const double *s, int *y) noexcept nogil:
        cdef int k, best = 1
        cdef double gain = 0
        if self.highest:
            for k in range(<int> self.n_labels - 1):
                gain += s[k]
                best = k + 2 if gain >= 0 else best         # no branch to mispredict
                gain = gain if gain < 0 else 0
        else:
            for k in range(<int> self.n_labels - 1):
                gain += s[k]
                best = k + 2 if gain > 0 else best
                gain = gain if gain < 0 else 0
        y[0] = best
        return 1


cdef class LargestArgmax(Argmax):
    """The label whose atom scores highest; ties go to the lowest label."""

    cdef Py_ssize_t n_labels

    def __init__(self, Py_ssize_t n_labels):
        self.n_labels = n_labels
        self.width = 1

    cdef Py_ssize_t argmax_c(self, Example x, const double *s, int *y) noexcept nogil:
        cdef int k, best = 0
        for k in range(1, <int> self.n_labels):
            if s[k] > s[best]:
                best = k
        y[0] = best + 1
        return 1
