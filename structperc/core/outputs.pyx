"""Output spaces of one label per example: ordered ranks and unordered classes.

Typical sizes: r = 2..50 labels. Counting and adding costs are O(r).
"""
from structperc.core.components cimport LabelOutputs
from structperc.core.rows cimport Example


cdef class RankOutputs(LabelOutputs):
    """Ordered labels, ranks 1..r; rank y consists of the atoms "rank > k" for k = 1..y-1.

    The papers' atom "rank >= 1" belongs to every rank, cancels in every difference and is left out, so there are r - 1.
    """

    ordered = True
    default_loss = "absolute"

    @property
    def n_atoms(self):
        return self.n_labels - 1

    cdef int count_c(self, Example x, const int *y, Py_ssize_t n, double sign, double *c) noexcept nogil:
        cdef int k
        for k in range(y[0] - 1):
            c[k] += sign
        return 0

    cdef int difference_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n, double *c) noexcept nogil:
        cdef int k
        for k in range(<int> self.n_labels - 1):    # no branch to mispredict
            c[k] = (k + 1 < gold[0]) - (k + 1 < y[0])
        return 0

    cdef int signs_c(self, Example x, const int *gold, Py_ssize_t n_gold, double *c) noexcept nogil:
        cdef int k
        for k in range(<int> self.n_labels - 1):
            c[k] = 1 if k + 1 < gold[0] else -1
        return 0

    cdef void add_costs_c(self, const double *costs, double scale, double *s) noexcept nogil:
        """s[k] += scale * (cost of the rank above - cost of the rank below)"""
        cdef Py_ssize_t k
        for k in range(self.n_labels - 1):
            s[k] += scale * (costs[k + 1] - costs[k])

    def atom_names(self, Example x):
        return [f"> {label}" for label in self.labels[:self.n_labels - 1].tolist()]


cdef class ClassOutputs(LabelOutputs):
    """Unordered labels 1..r; a label is one atom of its own."""

    @property
    def n_atoms(self):
        return self.n_labels

    cdef int count_c(self, Example x, const int *y, Py_ssize_t n, double sign, double *c) noexcept nogil:
        c[y[0] - 1] += sign
        return 0

    cdef void add_costs_c(self, const double *costs, double scale, double *s) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_labels):
            s[k] += scale * costs[k]

    def atom_names(self, Example x):
        return [str(label) for label in self.labels.tolist()]
