"""Outputs of one rank each, of which training may know no more than an interval; and their losses. O(K) each."""
import warnings

import numpy as np

from structperc.core.losses cimport Loss
from structperc.errors import DataWarning, PluginError
from structperc.plugin_tools import check_costs, interval_labels, read_intervals, refuse_matrix, warn_of_open_ends
from structperc.core.outputs cimport RankOutputs
from structperc.core.rows cimport Example, Rows
from structperc.core.structures cimport Structures

FEWEST = 20         # rows whose intervals may all contain one rank by chance


cdef class IntervalOutputs(RankOutputs):
    """Ranks 1..r; a gold output is an interval [low, high] of admissible ranks, encoded as these two.

    A prediction is right inside the interval. Gold outputs come in any of the forms that `read_intervals` takes.
    """
    # unrated: {"refuse", "skip"}. What becomes of rows that miss both ends: "skip", they admit every rank.

    cdef readonly str unrated
    cdef bint began                     # whether intervals to learn from have been seen

    def __cinit__(self, *args, **kwargs):
        self.partial_gold = True

    def __init__(self, unrated="refuse"):
        self.unrated = unrated

    def find_labels(self, y, classes):
        if classes is not None:
            return RankOutputs.find_labels(self, None, classes)
        labels = RankOutputs.find_labels(self, interval_labels(y, self.unrated), None)
        warn_of_open_ends(y, labels)
        return labels

    def encode(self, y, rows):
        low, high = read_intervals(y, self.labels, self._codes.encode, rows.n_examples, self.unrated)
        codes = np.ascontiguousarray(np.column_stack([low, high]), dtype=np.intc)
        return Structures(codes.ravel(), np.arange(0, 2 * len(low) + 2, 2, dtype=np.int64))

    cdef check_gold(self, Structures gold, Rows rows, features):
        RankOutputs.check_gold(self, gold, rows, features)
        if not self.began:              # a later part of a stream may say nothing
            warn_of_nothing(self, np.reshape(gold.values, (-1, 2)))
        self.began = True

    cdef check_right(self, Structures gold, Rows rows, features):
        RankOutputs.check_gold(self, gold, rows, features)

    def check_partial(self, Example x, gold):
        if len(gold) != 2 or not 1 <= gold[0] <= gold[1] <= self.n_labels:
            raise PluginError(f"{gold} is no interval of the ranks 1..{self.n_labels}.")

    cdef int signs_c(self, Example x, const int *gold, Py_ssize_t n_gold, double *c) noexcept nogil:
        """Rank k + 1 is surely reached where k + 1 < low, surely not where k + 1 >= high"""
        cdef int k
        for k in range(<int> self.n_labels - 1):
            c[k] = (k + 1 < gold[0]) - (k + 1 >= gold[1])
        return 0

    cdef int agrees_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        return gold[0] <= y[0] <= gold[1]

    cdef Py_ssize_t complete_c(self, Example x, const int *gold, Py_ssize_t n_gold, const double *s, int *y) noexcept nogil:
        """The admissible rank of largest score; ties go to the highest."""
        cdef int k
        cdef double sum = 0, largest = 0
        y[0] = gold[0]
        for k in range(gold[0] - 1, gold[1] - 1):
            sum += s[k]
            if sum >= largest:
                y[0], largest = k + 2, sum
        return 1


def warn_of_nothing(IntervalOutputs outputs, codes):
    """Warns where one rank is in all intervals."""
    if len(codes) < FEWEST or codes[:, 0].max() > codes[:, 1].min():
        return
    labels = outputs.labels.tolist()
    low, high = codes[:, 0].max(), codes[:, 1].min()
    if low == 1 and high == len(labels):
        warnings.warn(f"every interval in y contains all {len(labels)} labels, so nothing can be learned from them. Give at least some "
                      f"rows a narrower interval.", DataWarning, stacklevel=2)
    else:
        warnings.warn(f"every interval in y contains {labels[low - 1]!r}, so this label is right for every row, whatever X has. Add rows "
                      f"whose intervals exclude it.", DataWarning, stacklevel=2)


cdef class IntervalLoss(Loss):
    """The cost of a prediction beyond the nearest admissible rank, or the value for the cheapest admissible rank."""
    # costs: {"absolute", "squared"} or array of shape (r, r). Of the distance to the interval (0 inside); or a matrix, row: right rank, of
    # which the row with the least cost counts.

    cdef readonly object cost_option
    cdef const double[:, ::1] table

    def __cinit__(self, *args, **kwargs):
        self.table = None

    def __init__(self, costs="absolute"):
        self.cost_option = costs if isinstance(costs, str) else check_costs(costs, "loss")

    def start(self, parts, context):
        r = parts.outputs.n_labels
        Loss.start(self, parts, context)
        distance = np.abs(np.subtract.outer(np.arange(r), np.arange(r))).astype(float)
        matrix = {"absolute": distance, "squared": distance**2}[self.cost_option] if isinstance(self.cost_option, str) else self.cost_option
        refuse_matrix(matrix, r)
        self.table = matrix

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        cdef int k
        cdef double least = self.table[gold[0] - 1, y[0] - 1]
        for k in range(gold[0], gold[n_gold - 1]):
            least = min(least, self.table[k, y[0] - 1])
        return least
