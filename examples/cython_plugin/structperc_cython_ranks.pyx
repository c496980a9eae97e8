"""Argmax and loss of ordinal ranks in Cython, built outside structperc's tree: a start for a compiled plugin.

Methods ending in _c run without the GIL. Here they return the same as cusum's own parts.
"""
from structperc.core.argmax cimport Argmax
from structperc.core.losses cimport Loss
from structperc.core.rows cimport Example

from structperc import hookimpl

problem = "cusum"


cdef class ScanArgmax(Argmax):
    """The lowest of the ranks whose prefix sum of atom scores is largest."""

    cdef Py_ssize_t argmax_c(self, Example x, const double *s, int *y) noexcept nogil:
        cdef Py_ssize_t k
        cdef double total = 0, largest = 0
        y[0] = 1
        for k in range(x.n_atoms):
            total += s[k]
            if total > largest:
                largest, y[0] = total, <int> k + 2
        return 1


cdef class DistanceLoss(Loss):
    """|gold - y|"""

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        return abs(gold[0] - y[0])


@hookimpl
def structperc_argmax(context):
    return ScanArgmax()


@hookimpl
def structperc_loss(context):
    return DistanceLoss()
