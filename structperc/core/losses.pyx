"""Losses. On label outputs each is additive over atoms (differences of neighbouring costs); O(1) per value."""
import numpy as np

from libc.stdlib cimport abs
from structperc.core.errors import DataError, PluginError
from structperc.core.rows cimport Example
from structperc.core.component import bound
from structperc.core.component cimport Component
from structperc.core.outputs cimport Outputs


cdef class Loss(Component):
    """The loss: its value, and how it is added to the atom scores for loss-augmented search.

    A subclass gives `value`. On label outputs any loss is additive, so `augment` follows from it; on other outputs a
    subclass that can be optimised overrides `augment` too, else its loss is only measured.

    Attributes
    ----------
    example_costs : bool
        Whether it needs costs of each example: `set_costs(costs, gold, n_examples)` then receives `fit(..., costs=)`.
    """

    example_costs = False

    def start(self, parts, context):
        """Takes the output space."""
        self.outputs = bound(parts.outputs)
        self.costs = np.zeros(max(self.outputs.n_labels, 1))

    @property
    def decomposable(self):
        """Whether loss-augmented search optimises this loss."""
        return self.outputs is not None and self.outputs.n_labels > 0

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        """The loss, >= 0; negative after storing an error."""
        with gil:
            self.error = self.missing("value")
        return -1

    cdef int augment_c(self, Example x, const int *gold, Py_ssize_t n_gold, double scale, double *s) noexcept nogil:
        """s += scale * loss, up to a constant."""
        cdef int y
        cdef double value
        if self.outputs is None or self.outputs.n_labels == 0:
            with gil:
                self.error = self.missing("augment")
            return -1
        for y in range(1, <int> self.outputs.n_labels + 1):
            value = self.value_c(x, gold, n_gold, &y, 1)
            if value < 0:
                return -1
            self.costs[y - 1] = value
        self.outputs.add_costs_c(&self.costs[0], scale, s)
        return 0

    def started(self):
        if self.outputs is None:
            raise PluginError(f"{type(self).__name__} does not know the outputs yet; an engine calls start(parts, context) first.")

    def value(self, gold, y, Example x=None):
        """The loss of predicting y where gold is right; both as `Outputs` encodes them (labels: ints 1..r)."""
        self.started()
        cdef int[::1] a = np.atleast_1d(np.asarray(gold, dtype=np.intc))
        cdef int[::1] b = np.atleast_1d(np.asarray(y, dtype=np.intc))
        cdef double value = self.value_c(x, &a[0] if a.shape[0] else NULL, a.shape[0],
                                         &b[0] if b.shape[0] else NULL, b.shape[0])
        if value < 0:
            self.raised()
        return value

    def augment(self, gold, scores, double scale, Example x=None):
        """scores + scale * loss(gold, .), written over atoms, as a new array; up to a constant."""
        self.started()
        cdef int[::1] a = np.atleast_1d(np.asarray(gold, dtype=np.intc))
        cdef double[::1] s = np.array(scores, dtype=float)
        if self.augment_c(x, &a[0] if a.shape[0] else NULL, a.shape[0], scale, &s[0]) < 0:
            self.raised()
        return np.asarray(s)


cdef class ZeroOneLoss(Loss):
    """1 for a wrong prediction, 0 for a right one."""

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        return 0 if self.outputs.agrees_c(x, gold, n_gold, y, n) else 1


cdef class AbsoluteLoss(Loss):
    """|gold - y| between ranks."""

    def start(self, parts, context):
        labels_of(parts.outputs, "loss='absolute'")
        Loss.start(self, parts, context)

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        return abs(gold[0] - y[0])


cdef class SquaredLoss(Loss):
    """(gold - y)^2 between ranks."""

    def start(self, parts, context):
        labels_of(parts.outputs, "loss='squared'")
        Loss.start(self, parts, context)

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        return (<double> gold[0] - y[0]) * (gold[0] - y[0])


cdef class HammingLoss(Loss):
    """How many atoms belong to one of the two structures but not to the other; for structures of distinct atoms."""

    def start(self, parts, context):
        outputs = parts.outputs
        Loss.start(self, parts, context)
        if outputs.n_labels:
            raise PluginError("loss='hamming' compares sets of atoms, but the outputs of this problem are single labels; "
                              "use 'zero-one' for classes or 'absolute' for ranks.")
        if outputs.partial_gold:
            raise PluginError(f"loss='hamming' compares two sets of atoms, but a gold output of {type(outputs).__name__} may leave some "
                              f"open; use 'zero-one', or a loss of the plugin that makes these outputs.")

    @property
    def decomposable(self):
        return True

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t i, j, common = 0
        for i in range(n):
            for j in range(n_gold):
                if y[i] == gold[j]:
                    common += 1
                    break
        return n + n_gold - 2 * common

    cdef int augment_c(self, Example x, const int *gold, Py_ssize_t n_gold, double scale, double *s) noexcept nogil:
        """An atom outside gold costs 1, one inside saves 1 (of the constant |gold|)."""
        cdef Py_ssize_t a
        for a in range(x.n_atoms):
            s[a] += scale
        for a in range(n_gold):
            s[gold[a]] -= 2 * scale
        return 0


cdef class CostLoss(Loss):
    """An (r, r) cost matrix, row: gold label, column: predicted label."""

    def __init__(self, matrix):
        self.matrix = check_costs(matrix, "loss")
        self.table = self.matrix

    def start(self, parts, context):
        Loss.start(self, parts, context)
        refuse_matrix(self.matrix, labels_of(self.outputs, "a cost matrix"))

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        return self.table[gold[0] - 1, y[0] - 1]


cdef class ExampleCosts(Loss):
    """Each example's own cost vector: costs[i, k] is the cost of answering label k + 1 to example i.

    `set_costs` receives the costs of the data set at hand before each fit or partial_fit.
    """

    example_costs = True

    def set_costs(self, costs, gold, n_examples):
        """Checks the (n_examples, r) costs against the gold outputs."""
        if costs is None:
            raise DataError("loss='costs' needs the costs of each example: fit(X, y, costs=...) of shape (n_examples, n_labels).")
        r = labels_of(self.outputs, "loss='costs'")
        costs = check_costs(costs, "costs")
        if costs.shape != (n_examples, r):
            raise DataError(f"costs has shape {costs.shape}; expected ({n_examples}, {r}), examples by labels.")
        own = costs[np.arange(n_examples), gold.values - 1]
        if own.any():
            i = int(np.flatnonzero(own)[0])
            raise DataError(f"costs[{i}, {gold.values[i] - 1}] is {own[i]}, the cost of the right label; it must be 0.")
        self.table = costs

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        return self.table[x.index, y[0] - 1]


def labels_of(outputs, what):
    """How many labels the outputs have; refuses outputs without labels."""
    if outputs.n_labels == 0:
        raise PluginError(f"{what} needs outputs of one label per example, but {type(outputs).__name__} has structures; "
                          f"use loss='hamming' or 'zero-one', or a plugin's own.")
    if outputs.partial_gold:
        raise PluginError(f"{what} compares single labels, but a gold output of {type(outputs).__name__} may leave several open; use "
                          f"'zero-one', or a loss of the plugin that makes these outputs.")
    return outputs.n_labels


def refuse_matrix(costs, n_labels):
    """Raises for a cost matrix that does not fit the labels, or in which a right label costs something."""
    if costs.shape != (n_labels, n_labels):
        raise DataError(f"loss is a cost matrix of shape {costs.shape}, but there are {n_labels} labels; "
                        f"expected ({n_labels}, {n_labels}).")
    if np.diagonal(costs).any():
        k = int(np.flatnonzero(np.diagonal(costs))[0])
        raise DataError(f"loss[{k}, {k}] is {costs[k, k]}, the cost of a right label; it must be 0.")


def check_costs(costs, name):
    """Costs as a C-ordered float64 matrix without NaN, Inf or negative entries."""
    try:
        costs = np.ascontiguousarray(costs, dtype=float)
    except (TypeError, ValueError):
        raise DataError(f"{name} is not a matrix of numbers: {costs!r:.80}.") from None
    if costs.ndim != 2:
        raise DataError(f"{name} has {costs.ndim} dimensions; expected a matrix.")
    bad = ~(np.isfinite(costs) & (costs >= 0))
    if bad.any():
        i, k = (int(v) for v in np.argwhere(bad)[0])
        raise DataError(f"{name}[{i}, {k}] is {costs[i, k]}; costs must be finite and not negative.")
    return costs
