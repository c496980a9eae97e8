# distutils: extra_compile_args = CALLS
"""Losses. On label outputs each is additive over atoms (differences of neighbouring costs), O(1) per value; on structures O(atoms)."""
from numbers import Real

import numpy as np

from libc.math cimport fabs
from libc.stdlib cimport abs
from structperc.basics.arguments import limit
from structperc.basics.errors import DataError, PluginError, shortened
from structperc.core.component cimport Component
from structperc.core.component import adapted, argument, inherits, overrides, raise_stored, unstarted
from structperc.core.linear import over_atoms
from structperc.core.rows cimport Example


cdef class Loss(Component):
    """The loss of a wrong prediction: its value, and how it is added to the atom scores in loss-augmented search.

    A subclass defines `value`. For label outputs that is all. For other outputs define one of these, or the loss is only measured:
    `augment`; a bound `largest`, if the solver has `k_best`; or a solver that overrides `argmax_augmented`.

    Attributes
    ----------
    outputs : Outputs
        The output space; set by `start`.
    largest : float
        Upper bound of all values; infinity: unknown.

    Examples
    --------
    >>> from structperc.components import Loss
    >>> class Tolerant(Loss):
    ...     '''Levels that are one off cost nothing.'''
    ...     def value(self, gold, y, x=None):
    ...         return max(0, abs(gold - y) - 1)
    >>> Tolerant().value(1, 4)
    2
    """

    largest = float("inf")

    def start(self, parts, context):
        """Read the output space. Called once in each fit.

        Parameters
        ----------
        parts : object with the parts as attributes
            As in `Component.start`.
        context : FitContext
        """
        if type(self.largest) is not float and not isinstance(self.largest, Real):
            raise PluginError(f"{type(self).__name__}.largest is {shortened(self.largest)}; expected a number, the largest value of this "
                              f"loss.")
        self.outputs = parts.outputs
        self._outputs = adapted(self.outputs)
        self.costs = np.zeros(max(self.outputs.n_labels, 1))

    def set_costs(self, costs, gold, n_examples) -> None:
        """Check and store the costs of a data set, `fit(..., costs=)`. Called before each fit or `partial_fit` if overridden.

        Parameters
        ----------
        costs : object or None
            As the user passed it.
        gold : Structures
            The gold outputs.
        n_examples : int

        Raises
        ------
        DataError
            By default: the loss uses no costs.
        """
        if costs is not None:
            raise DataError(f"costs was given, but {type(self).__name__} does not use it; set loss='costs'.")

    @property
    def training_only(self) -> bool:
        """Whether it knows the costs of training examples only: then no measure, score or search uses it for other examples.

        By default True for a loss that overrides `set_costs`. Override it if these costs serve other examples too.
        """
        return not inherits(self, Loss, "set_costs")

    def forget_costs(self) -> None:
        """Drop the costs that `set_costs` has stored. Called when a fit or `partial_fit` ends."""

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        """The loss, >= 0; negative after storing an error."""
        with gil:
            self.error = self.missing("value")
        return -1

    cdef int augment_c(self, Example x, const int *gold, Py_ssize_t n_gold, double scale, double *s) noexcept nogil:
        """s += scale * loss, up to a constant. Returns 1 if the loss is no sum over atoms, -1 on an error."""
        cdef int y
        cdef double value
        if self.outputs is None or self.outputs.n_labels == 0 or not self._outputs.adds_costs_c():
            return 1
        for y in range(1, <int> self.outputs.n_labels + 1):
            value = self.value_c(x, gold, n_gold, &y, 1)
            if value < 0:
                return -1
            self.costs[y - 1] = value
        self._outputs.add_costs_c(&self.costs[0], scale, s)
        return 0

    def value(self, gold, y, Example x=None):
        """The loss of the prediction y if gold is right. Returns a float. At least 0; 0 if y is right.

        Parameters
        ----------
        gold, y : int or tuple of int
            As `Outputs` encodes them; labels are ints 1..r.
        x : Example, optional
        """
        refuse_unstarted(self)
        cdef int[::1] a = np.array(self._checked(gold, x), dtype=np.intc)
        cdef int[::1] b = np.array(self._checked(y, x, False), dtype=np.intc)
        cdef double value = self.value_c(x, &a[0] if a.shape[0] else NULL, a.shape[0],
                                         &b[0] if b.shape[0] else NULL, b.shape[0])
        if value < 0:
            raise_stored(self, self._outputs)
        return value

    def _checked(self, y, x, bint given=True):
        """The integers of a structure, or of a gold output as it is given. Raises an error for what compiled methods must not read."""
        if x is not None or self.outputs.n_labels == 0:
            return self.outputs._checked(x, y, given)
        codes = np.atleast_1d(np.asarray(y, dtype=np.intc))
        n, partial = len(codes), given and self.outputs.partial_gold
        if n < 1 or n > 1 and not partial or codes.min() < 1 or codes.max() > self.outputs.n_labels:
            raise PluginError(f"{shortened(y)} is not a label; expected an int from 1 to {self.outputs.n_labels}.")
        return codes

    def _check_scores(self, n, gold, x):
        """Raises an error for another number of scores than atoms."""
        n_atoms = x.n_atoms if x is not None else self.outputs.n_atoms
        if n_atoms is not None and n != n_atoms:
            raise PluginError(f"{type(self).__name__}.augment was given {n} scores; expected {n_atoms}, one for each atom.")

    def costs_of(self, gold, rows):
        """The cost of each label for each example, for problems with one label for each example.
        Returns a float64 array of shape (n_examples, n_labels).

        Parameters
        ----------
        gold : int array of shape (n_examples,)
            The right labels, 1..r.
        rows : Rows
        """
        refuse_unstarted(self)
        labels = range(1, labels_of(self.outputs, type(self).__name__) + 1)
        costs = [[self.value(int(y), k, rows.example(i)) for k in labels] for i, y in enumerate(gold)]
        return np.array(costs, dtype=float).reshape(len(costs), len(labels))

    def augment(self, gold, scores, double scale, Example x=None):
        """The scores with scale * loss(gold, .) added, up to a constant. Raises `PluginError` if the loss is no sum over atoms.
        Returns a float64 array of shape (n_atoms,). A new array.

        Parameters
        ----------
        gold : int or tuple of int
        scores : float64 array of shape (n_atoms,)
        scale : float
            Factor of the loss; may be negative.
        x : Example, optional
        """
        refuse_unstarted(self)
        cdef int[::1] a = np.array(self._checked(gold, x), dtype=np.intc)
        cdef double[::1] s = np.array(scores, dtype=float)
        self._check_scores(s.shape[0], a, x)
        cdef const int *codes = &a[0] if a.shape[0] else NULL
        cdef double *at = &s[0] if s.shape[0] else NULL
        cdef Loss called = adapted(self)
        cdef int status
        if overrides(self, "value"):        # what follows from it, whatever a base class adds
            status = Loss.augment_c(called, x, codes, a.shape[0], scale, at)
        else:
            status = self.augment_c(x, codes, a.shape[0], scale, at)
        if status < 0:
            raise_stored(self, called, self._outputs)
        if status > 0 and self.outputs.n_labels:
            return scores + scale * label_costs(self, gold, np.asarray(s).shape[0], x)
        if status > 0:
            raise self.missing("augment")
        return np.asarray(s)


cdef Loss PLAIN = Loss()            # whose methods a subclass replaces


def is_additive(Loss loss):
    """Whether a loss is a sum over atoms, so that search adds it to the scores.

    On the labels of ranks and classes every loss is. On other labels a search compares the sums of score and loss of all labels. On
    structures its class must replace `augment`, and no class derived from that may change only `value`.

    Parameters
    ----------
    loss : Loss
        One that has been started, or one of structures.

    Examples
    --------
    >>> from structperc.components import HammingLoss, ZeroOneLoss
    >>> from structperc.plugin_tools import is_additive
    >>> is_additive(HammingLoss()), is_additive(ZeroOneLoss())
    (True, False)
    """
    if overrides(loss, "augment") or loss.outputs is not None and loss.outputs.n_labels > 0 and loss._outputs.adds_costs_c():
        return True
    return <void *> loss.augment_c != <void *> PLAIN.augment_c and not overrides(loss, "value")


def label_costs(Loss loss, gold, n_atoms, Example x):
    """The loss of each label as numbers of atoms, up to a constant."""
    labels = range(1, loss.outputs.n_labels + 1)
    counts = np.array([loss.outputs.count(x, y) for y in labels], dtype=float).reshape(len(labels), n_atoms)
    numbers = over_atoms(counts, np.array([loss.value(gold, y, x) for y in labels], dtype=float))
    if numbers is None:
        raise PluginError(f"{type(loss).__name__} is no sum over the atoms of {type(loss.outputs).__name__}: some of its labels are made "
                          f"of others. Search with argmax_augmented of Argmax, which compares score + loss of each label.")
    return numbers


def refuse_unstarted(Loss loss):
    """Raises an error if `start` did not set the outputs."""
    if loss.outputs is None:
        raise unstarted(loss, "the outputs")


def costs_between(Loss loss, gold):
    """`costs_of` of a loss that does not depend on the example."""
    refuse_unstarted(loss)
    labels = range(1, labels_of(loss.outputs, type(loss).__name__) + 1)
    return np.array([[loss.value(y, k) for k in labels] for y in labels])[np.asarray(gold) - 1]


cdef class ZeroOneLoss(Loss):
    """Zero-one loss: 1 for a wrong prediction, 0 for a correct one.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.components import ZeroOneLoss
    >>> engine = Engine("cusum", loss=ZeroOneLoss()).fit([[0.0], [1.0], [2.0]], [1, 2, 3])
    >>> engine.parts_.loss.value(1, 3), engine.parts_.loss.value(2, 2)
    (1.0, 0.0)
    """

    largest = 1.0

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        cdef int same = self._outputs.agrees_c(x, gold, n_gold, y, n)
        return -1 if same < 0 else 1 - same

    def costs_of(self, gold, rows):
        return costs_between(self, gold)


cdef class AbsoluteLoss(Loss):
    """Absolute loss ``|gold - y|`` between levels.

    Examples
    --------
    >>> from structperc import Engine
    >>> engine = Engine("cusum", loss="absolute").fit([[0.0], [1.0], [2.0]], [1, 2, 3])
    >>> engine.parts_.loss.value(1, 3)
    2.0
    """

    def start(self, parts, context):
        levels_of(parts.outputs, "loss='absolute'")
        Loss.start(self, parts, context)

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        return abs(gold[0] - y[0])

    def costs_of(self, gold, rows):
        return costs_between(self, gold)


cdef class SquaredLoss(Loss):
    """Squared loss (gold - y)^2 between levels.

    Examples
    --------
    >>> from structperc import Engine
    >>> engine = Engine("cusum", loss="squared").fit([[0.0], [1.0], [2.0]], [1, 2, 3])
    >>> engine.parts_.loss.value(1, 3)
    4.0
    """

    def start(self, parts, context):
        levels_of(parts.outputs, "loss='squared'")
        Loss.start(self, parts, context)

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        return (<double> gold[0] - y[0]) * (gold[0] - y[0])

    def costs_of(self, gold, rows):
        return costs_between(self, gold)


cdef class HammingLoss(Loss):
    """Hamming loss: the number of atoms in exactly one of two structures, ``sum_a |n_gold[a] - n_y[a]|``. Cost: O(n_atoms).

    Examples
    --------
    >>> from structperc import Engine
    >>> engine = Engine("sequence", loss="hamming").fit([[["cat"], ["sleeps"]]], [["N", "V"]])
    >>> engine.parts_.loss.value((1, 2), (2, 2))
    1.0
    """

    def start(self, parts, context):
        Loss.start(self, parts, context)
        if self.outputs.n_labels:
            raise PluginError("loss='hamming' compares sets of atoms, but the outputs of this problem are single labels. "
                              "Use 'zero-one' for classes or 'absolute' for ranks.")
        if self.outputs.partial_gold:
            raise self._open_atoms()

    def _open_atoms(self):
        return PluginError(f"loss='hamming' compares two sets of atoms, but a gold output of {type(self.outputs).__name__} may leave "
                           f"some open. Use 'zero-one', or a loss of the plugin that makes these outputs.")

    def _checked(self, y, x, bint given=True):
        if given and self.outputs.is_partial(y):
            raise self._open_atoms()
        return Loss._checked(self, y, x, given)

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t a
        cdef double total = 0
        cdef double *c
        if self.outputs.partial_gold:           # since gold outputs were encoded, after the start
            with gil:
                self.error = self._open_atoms()
            return -1
        c = self._outputs.difference_of(x, gold, n_gold, y, n)
        if c == NULL:
            return -1
        for a in range(x.n_atoms):
            total += fabs(c[a])
        return total

    cdef int augment_c(self, Example x, const int *gold, Py_ssize_t n_gold, double scale, double *s) noexcept nogil:
        """An atom outside gold costs 1, one inside saves 1 (of the constant |gold|)."""
        cdef Py_ssize_t a
        cdef double *c = self._outputs.counts_of(x, gold, n_gold)
        if c == NULL:
            return -1
        for a in range(x.n_atoms):
            if c[a] != 0 and c[a] != 1:
                with gil:
                    self.error = PluginError(f"search with loss='hamming' needs distinct atoms, but "
                                             f"{type(self.outputs).__name__} counts atom {a} of the gold output of example {x.index} "
                                             f"{c[a]:g} times. Use a loss of "
                                             f"your own with augment.")
                return -1
            s[a] += scale
            if c[a] == 1:
                s[a] -= 2 * scale
        return 0


cdef class TokenLoss(Loss):
    """Token loss: the sum over tokens of the cost of a wrong label, 1 or an entry of a cost matrix.

    A structure is the tuple of its labels' codes 1..L. Label k of token t is atom `t * width + k - 1`. A token whose right label is
    unknown has code 0 and costs nothing. Cost: O(T) for a value, O(T L) in search.

    Parameters
    ----------
    costs : array of shape (L, L), optional
        Finite nonnegative costs with a zero diagonal; the row is the right label. Default: 1 for every wrong label.
    width : int, optional
        Atoms from one token to the next. Default: L.

    Raises
    ------
    DataError
        If the costs are not finite, negative, or not 0 on the diagonal.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.components import TokenLoss
    >>> engine = Engine("sequence", loss=TokenLoss([[0, 1], [5, 0]])).fit([[["cat"], ["sleeps"]]], [["N", "V"]])
    >>> engine.parts_.loss.value((1, 2), (2, 1))
    6.0
    """

    def __cinit__(self, *args, **kwargs):
        self.table = None

    def __init__(self, costs=None, width: int = None):
        self.matrix, self.width = None if costs is None else check_costs(costs, "loss"), argument(self, "width", width, limit)

    def start(self, parts, context):
        Loss.start(self, parts, context)
        matrix = 1 - np.eye(context.n_labels) if self.matrix is None else self.matrix
        refuse_matrix(matrix, context.n_labels)
        self.table, self.step = matrix, context.n_labels if self.width is None else self.width

    def _checked(self, y, x, bint given=True):
        """As `Loss`; without an example the codes are those of any tokens."""
        if x is not None:
            return Loss._checked(self, y, x, given)
        codes = np.asarray(y, dtype=np.intc)
        if codes.ndim != 1 or codes.size and (codes.min() < (0 if given else 1) or codes.max() > self.table.shape[0]):
            raise PluginError(f"{shortened(y)} is no labelling; expected ints from 1 to {self.table.shape[0]}.")
        return codes

    def _check_scores(self, n, gold, x):
        if n < len(gold) * self.step:
            raise PluginError(f"{type(self).__name__}.augment was given {n} scores for {len(gold)} tokens; expected {self.step} for each.")

    def value(self, gold, y, Example x=None):
        if x is None and len(np.atleast_1d(gold)) != len(np.atleast_1d(y)):
            raise PluginError(f"{type(self).__name__}.value was given {len(gold)} and {len(y)} tokens; expected as many.")
        return Loss.value(self, gold, y, x)

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t t
        cdef double total = 0
        for t in range(n):
            if gold[t] > 0:
                total += self.table[gold[t] - 1, y[t] - 1]
        return total

    cdef int augment_c(self, Example x, const int *gold, Py_ssize_t n_gold, double scale, double *s) noexcept nogil:
        """s[t, k] += scale * cost of k where gold[t] is right"""
        cdef Py_ssize_t t, k, n = self.table.shape[0]
        cdef const double *costs
        for t in range(n_gold):
            if gold[t] > 0:
                costs = &self.table[gold[t] - 1, 0]
                for k in range(n):
                    s[k] += scale * costs[k]
            s += self.step
        return 0


cdef class CostLoss(Loss):
    """Cost-sensitive loss: an (r, r) cost matrix, row: gold label, column: predicted label.

    Parameters
    ----------
    matrix : array-like of shape (r, r)
        Finite nonnegative costs with a zero diagonal.

    Raises
    ------
    DataError
        If a cost is negative or not finite; when it starts, if the shape or the diagonal is wrong.

    Examples
    --------
    >>> from structperc import Engine
    >>> engine = Engine("multiclass", loss=[[0, 1], [5, 0]]).fit([[0.0], [1.0]], [1, 2])
    >>> engine.parts_.loss.value(2, 1)
    5.0
    """

    def __cinit__(self, *args, **kwargs):
        self.table = None

    def __init__(self, matrix):
        self.matrix = check_costs(matrix, "loss")
        self.table = self.matrix

    def start(self, parts, context):
        Loss.start(self, parts, context)
        refuse_matrix(self.matrix, labels_of(self.outputs, "a cost matrix"))

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        return self.table[gold[0] - 1, y[0] - 1]

    def costs_of(self, gold, rows):
        return np.array(self.table)[np.asarray(gold) - 1]


cdef class ExampleCosts(Loss):
    """Costs of each example: costs[i, k] is the cost of predicting label k + 1 for example i.

    `fit(..., costs=)` passes the costs of the data set to `set_costs`.

    Examples
    --------
    >>> from structperc import Engine
    >>> engine = Engine("multiclass", loss="costs", random_state=0)
    >>> engine.fit([[0.0], [1.0]], [1, 2], costs=[[0.0, 3.0], [1.0, 0.0]]).classes_.tolist()
    [1, 2]
    """

    def __cinit__(self, *args, **kwargs):
        self.table = None

    def set_costs(self, costs, gold, n_examples) -> None:
        """Check and store the costs of a data set. Called before each fit or `partial_fit`.
        Raises `DataError` for a wrong shape, costs that are negative or not finite, and right labels with a cost.

        Parameters
        ----------
        costs : array of shape (n_examples, n_labels)
        gold : int array of shape (n_examples,)
            The right labels, 1..r.
        n_examples : int
        """
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

    def forget_costs(self) -> None:
        self.table = np.zeros((0, 0))

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        if x is None or self.table is None or x.index >= self.table.shape[0]:
            with gil:
                self.error = PluginError("loss='costs' knows the costs of training examples only, while a fit runs.")
            return -1
        return self.table[x.index, y[0] - 1]

    def costs_of(self, gold, rows):
        return np.array(self.table)


def labels_of(outputs, what):
    """The number of labels; raises an error for outputs without labels."""
    if outputs.n_labels == 0:
        raise PluginError(f"{what} needs outputs of one label per example, but {type(outputs).__name__} has structures; "
                          f"use loss='hamming' or 'zero-one', or a plugin's own.")
    if outputs.partial_gold:
        raise PluginError(f"{what} compares single labels, but a gold output of {type(outputs).__name__} may leave several open. Use "
                          f"'zero-one', or a loss of the plugin that makes these outputs.")
    return outputs.n_labels


def levels_of(outputs, what):
    """The number of labels whose order is known; raises an error for others."""
    n_labels = labels_of(outputs, what)
    outputs._refuse_unknown_order(what)
    return n_labels


def refuse_matrix(costs, n_labels, name="loss") -> None:
    """Raises `DataError` if the shape of a cost matrix is not (n_labels, n_labels), or a right label has a cost.

    Parameters
    ----------
    costs : float64 array of shape (r, r)
    n_labels : int
    name : str, default "loss"
        What holds the matrix, for the error message.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.plugin_tools import refuse_matrix
    >>> refuse_matrix(np.array([[0.0, 1.0], [2.0, 0.0]]), 2)
    """
    if costs.shape != (n_labels, n_labels):
        raise DataError(f"{name} is a cost matrix of shape {costs.shape}, but there are {n_labels} labels; "
                        f"expected ({n_labels}, {n_labels}).")
    if np.diagonal(costs).any():
        k = int(np.flatnonzero(np.diagonal(costs))[0])
        raise DataError(f"{name}[{k}, {k}] is {costs[k, k]}, the cost of a right label; it must be 0.")


def check_costs(costs, name):
    """Check and convert costs. Raises `DataError` if a cost is NaN, infinite or negative. Returns a float64 array. C-ordered.

    Parameters
    ----------
    costs : array-like
        Costs of labels.
    name : str
        Name in error messages.

    Examples
    --------
    >>> from structperc.plugin_tools import check_costs
    >>> check_costs([[0, 1], [2, 0]], "costs").tolist()
    [[0.0, 1.0], [2.0, 0.0]]
    """
    try:
        values = np.asarray(costs)
        if values.dtype.kind == "c":
            raise TypeError
        costs = np.require(values, float, ["C", "ALIGNED"])
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"{name} is not a matrix of numbers: {shortened(costs, 80)}.") from None
    if costs.ndim != 2:
        raise DataError(f"{name} has {costs.ndim} dimensions; expected a matrix.")
    bad = ~(np.isfinite(costs) & (costs >= 0))
    if bad.any():
        i, k = (int(v) for v in np.argwhere(bad)[0])
        raise DataError(f"{name}[{i}, {k}] is {costs[i, k]}; costs must be finite and not negative.")
    return costs
