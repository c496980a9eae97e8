"""Losses that add up over the tokens of a sentence; O(T) each, O(T L) in search."""
import numpy as np

from structperc.core.losses cimport Loss
from structperc.plugin_tools import check_costs, refuse_matrix
from structperc.core.rows cimport Example


cdef class TokenLoss(Loss):
    """The sum of the tokens' costs: 1 for a wrong label (Hamming), or what an (L, L) matrix says (row: right label).

    Parameters
    ----------
    costs : array of shape (L, L), optional
        Finite, not negative, with a diagonal of zeros.
    """

    cdef readonly object matrix
    cdef const double[:, ::1] table

    def __cinit__(self, *args, **kwargs):
        self.table = None

    def __init__(self, costs=None):
        self.matrix = None if costs is None else check_costs(costs, "loss")

    def start(self, parts, context):
        Loss.start(self, parts, context)
        matrix = 1 - np.eye(context.n_labels) if self.matrix is None else self.matrix
        refuse_matrix(matrix, context.n_labels)
        self.table = matrix

    @property
    def decomposable(self):
        return True

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t t
        cdef double total = 0
        for t in range(n):
            total += self.table[gold[t] - 1, y[t] - 1]
        return total

    cdef int augment_c(self, Example x, const int *gold, Py_ssize_t n_gold, double scale, double *s) noexcept nogil:
        """s[t, l] += scale * cost of l where gold[t] is right"""
        cdef Py_ssize_t t, k, n_labels = self.table.shape[0]
        for t in range(n_gold):
            for k in range(n_labels):
                s[t * n_labels + k] += scale * self.table[gold[t] - 1, k]
        return 0
