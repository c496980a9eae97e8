"""Solvers over label outputs, O(r) each; r = 2..50 takes 2..30 ns, of many examples at a time half of that."""
import numbers

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, exp, isfinite, log
from libc.string cimport memcpy
from structperc.basics.arguments import SCORES, real_array, whole_number
from structperc.basics.errors import ConflictingOption, DataError, PluginError, shortened
from structperc.core.component cimport Component
from structperc.core.component import adapted, argument, check_example, overrides, raise_stored, unstarted, unwrapped
from structperc.core.losses cimport Loss
from structperc.core.losses import is_additive, refuse_unstarted
from structperc.core.outputs cimport Outputs
from structperc.core.outputs import as_structure
from structperc.core.rows cimport Example
from structperc.core.structures cimport structure

ROUNDING = 1e-9             # by which the scores of a list may rise

cdef extern from "search.h" nogil:
    int sp_best_prefix(const double *s, Py_ssize_t n) noexcept
    int sp_thresholds_reached(const double *s, Py_ssize_t n) noexcept
    int sp_largest(const double *s, Py_ssize_t n) noexcept
    void sp_best_prefix_of_all(const double *s, Py_ssize_t n, Py_ssize_t n_examples, int *y) noexcept
    void sp_thresholds_reached_of_all(const double *s, Py_ssize_t n, Py_ssize_t n_examples, int *y) noexcept
    void sp_largest_of_all(const double *s, Py_ssize_t n, Py_ssize_t n_examples, int *y) noexcept


cdef class Argmax(Component):
    """The solver: a structure with the largest score, sum_a n_y[a] s[a], with a documented tie rule.

    A Python solver overrides `argmax`; `k_best`, `marginals` and `max_marginals` are optional.

    Attributes
    ----------
    outputs : Outputs
        The output space; set by `start`.
    exact : bool
        Whether its structures always have the largest score. An approximate solver may set `x.bound`.
    any_scores : bool
        Whether it takes scores of either sign. If not, atoms of sets are found by `Outputs.enumerate`, without raised scores.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.components import Argmax, Rows
    >>> class PositiveAtoms(Argmax):
    ...     '''All atoms of positive score; ties: an atom of score 0 is left out.'''
    ...     def argmax(self, scores, x):
    ...         return tuple(np.flatnonzero(np.asarray(scores) > 0))
    >>> [int(a) for a in PositiveAtoms().argmax(np.array([0.5, -1.0, 2.0]), Rows(np.zeros((1, 1))).example(0))]
    [0, 2]
    """

    exact = any_scores = True

    def __cinit__(self, *args, **kwargs):
        self.code_width = -1

    def start(self, parts, context):
        """Read the output space. Called once in each fit.

        Parameters
        ----------
        parts : object with the parts as attributes
            As in `Component.start`.
        context : FitContext
        """
        self.outputs, self._features = parts.outputs, getattr(parts, "features", None)
        self.code_width = self.outputs.code_width

    def check_allowed(self, rows) -> None:
        """Raise an error if the solver does not restrict itself to the labels allowed for each row, `Example.allowed`.

        Called if the user passes `allowed`. A solver that uses them overrides this method.

        Parameters
        ----------
        rows : Rows

        Raises
        ------
        DataError
            By default.
        """
        raise DataError(f"allowed was given, but {type(self).__name__} does not use it; leave it out.")

    cdef Py_ssize_t workspace_size_c(self, Py_ssize_t n_atoms, bint marginals) noexcept nogil:
        """The number of doubles in x.work that `argmax_c` needs, and with `marginals` also `marginals_c`."""
        return 0

    cdef Py_ssize_t argmax_c(self, Example x, const double *s, int *y) noexcept nogil:
        """Writes the structure of largest score to y; returns its length, or -1 after storing an error."""
        with gil:
            self.error = self.missing("argmax")
        return -1

    cdef int batch_argmax_c(self, Example x, Py_ssize_t first, Py_ssize_t n, const double *s, int *y) noexcept nogil:
        """`argmax_c` of n examples of x's data set, from the example `first` on; for outputs of one integer.

        Each example has x.n_atoms scores. Writes n integers to y; returns -1 after storing an error, x being the example at fault.
        """
        cdef Py_ssize_t i
        for i in range(n):
            x.source.load(first + i, x)
            if self.argmax_c(x, s + i * x.n_atoms, y + i) < 0:
                return -1
        return 0

    cdef Py_ssize_t argmax_augmented_c(self, Example x, double *s, const int *gold, Py_ssize_t n_gold, Loss loss, double scale,
                                       int *y) noexcept nogil:
        """The same for the largest score + scale * loss(gold, y). s is a copy of the scores, to be overwritten at will."""
        cdef int status = loss.augment_c(x, gold, n_gold, scale, s)
        if status <= 0:
            return -1 if status < 0 else self.argmax_c(x, s, y)
        return self.best_of_all(x, s, gold, n_gold, loss, scale, y)

    cdef Py_ssize_t best_of_all(self, Example x, const double *s, const int *gold, Py_ssize_t n_gold, Loss loss, double scale,
                                int *y) noexcept with gil:
        """The search with a loss that no sum over atoms is, or -1 after storing its error.

        Apart, since a function that names an exception takes the GIL at each return.
        """
        try:
            if self.outputs.n_labels:
                return self.best_of_labels(x, s, gold, n_gold, loss, scale, y)
            return self.best_of_list(x, s, gold, n_gold, loss, scale, y)
        except BaseException as error:
            self.error = error
            return -1

    cdef Py_ssize_t best_of_labels(self, Example x, const double *s, const int *gold, Py_ssize_t n_gold, Loss loss, double scale,
                                   int *y) except -1:
        """The search over labels: each is compared. Of equal sums the first."""
        cdef Outputs outputs = adapted(self.outputs)
        cdef double value, total, best = -INFINITY
        cdef double *c
        cdef Py_ssize_t a
        cdef int label
        for answer in self.outputs.enumerate(x):
            self.outputs.write(answer, x, &label)
            c = outputs.counts_of(x, &label, 1)
            if c == NULL:
                raise_stored(outputs)
            total = 0
            for a in range(x.n_atoms):
                total += c[a] * s[a]
            value = loss.value_c(x, gold, n_gold, &label, 1)
            if value < 0:
                raise_stored(loss, loss._outputs)
            total += scale * value
            if total > best:
                best, y[0] = total, label
        if best == -INFINITY:
            raise PluginError(f"{type(self.outputs).__name__}.enumerate lists no label for example {x.index}; expected all that a "
                              f"prediction may be.")
        return 1

    cdef Py_ssize_t best_of_list(self, Example x, const double *s, const int *gold, Py_ssize_t n_gold, Loss loss, double scale,
                                 int *y) except -1:
        """The search down the list of the k best, as far as the bound on the loss may still win.

        Of equal sums the one earlier in the list.
        """
        cdef double value, total, best = -INFINITY, largest = unwrapped(loss).largest
        cdef Py_ssize_t k = 2, n, n_best = -1
        cdef int[::1] codes = np.empty(most_integers(self, x.n_atoms), dtype=np.intc)
        solver = unwrapped(self)
        ranked = []
        scores = np.array(<const double[:x.n_atoms]> s) if x.n_atoms else np.zeros(0)
        if not solver.searches_with(unwrapped(loss)):
            raise self.missing("argmax_augmented")
        while True:
            ranked = ranked_by(solver, scores.copy(), x, k)
            for candidate, score in ranked:
                PyErr_CheckSignals()
                n = self.outputs.write(candidate, x, &codes[0])
                value = loss.value_c(x, gold, n_gold, &codes[0], n)
                if value < 0:
                    raise_stored(loss, loss._outputs)
                if not value <= largest * (1 + 1e-9):
                    raise PluginError(f"{type(unwrapped(loss)).__name__} is {value} for example {x.index}, but its `largest` is "
                                      f"{largest}; correct `largest`.")
                total = score + scale * value
                if total > best:
                    best, n_best = total, n
                    memcpy(y, &codes[0], n * sizeof(int))
            if len(ranked) < k or ranked[k - 1][1] + max(scale, 0) * largest <= best:
                return n_best
            k *= 2

    cdef int marginals_c(self, Example x, const double *s, double *expected, double *log_z) noexcept nogil:
        """Log Z and how often each atom is expected where p(y) = exp(score of y) / Z; -1 after storing an error."""
        with gil:
            self.error = self.missing("marginals")
        return -1

    def argmax(self, const double[::1] scores not None, Example x):
        """The structure with the largest score. Returns an int or tuple of int. One label, or a structure.

        Parameters
        ----------
        scores : float64 array of shape (n_atoms,)
            Atom scores. In loss-augmented search the loss may be included. A copy, which you may change.
        x : Example
        """
        cdef int[::1] y
        cdef Py_ssize_t n
        check_scores(self, scores, x)
        y = np.empty(most_integers(self, scores.shape[0]), dtype=np.intc)
        x.provide(self.workspace_size_c(scores.shape[0], False))
        n = self.argmax_c(x, &scores[0] if scores.shape[0] else NULL, &y[0])
        if n < 0:
            self.raised()
        return structure(&y[0], n, self.code_width)

    def argmax_augmented(self, scores, Example x, gold, Loss loss, double scale):
        """Loss-augmented search: the structure with the largest score + scale * loss.value(gold, y, x). Returns an int or tuple of int.

        By default a loss over atoms (`Loss.augment`) is added to the scores, and `argmax` does the rest. With any other loss on labels
        the sums of all labels are compared. If a loss on structures has only a bound (`Loss.largest`), the search goes down the list of
        `k_best`. It ends at the structure that the bound proves to be the best. Override this method in a solver that knows the form of
        the loss.

        Parameters
        ----------
        scores : float64 array of shape (n_atoms,)
            Atom scores without the loss. A copy, which you may change.
        x : Example
        gold : int or tuple
            The gold output as `Outputs.encode` encodes it.
        loss : Loss
            Has the methods `value(gold, y, x)` and `augment(gold, scores, scale, x)`.
        scale : float
            Factor of the loss; may be negative.
        """
        cdef double[::1] s = np.array(scores, dtype=float)
        cdef int[::1] y, codes
        cdef Loss called
        cdef Argmax solver
        cdef Py_ssize_t n
        if self.outputs is None:
            raise unstarted(self, "the outputs")
        refuse_unstarted(loss)
        check_scores(self, s, x)
        y = np.empty(most_integers(self, s.shape[0]), dtype=np.intc)
        codes = np.array(loss._checked(gold, x), dtype=np.intc)
        called = adapted(loss)
        solver = adapted(self) if overrides(self, "argmax") else self
        x.provide(self.workspace_size_c(s.shape[0], False))
        if solver is self:
            n = self.argmax_augmented_c(x, &s[0] if s.shape[0] else NULL, &codes[0] if codes.shape[0] else NULL, codes.shape[0], called,
                                        scale, &y[0])
        else:
            n = Argmax.argmax_augmented_c(solver, x, &s[0] if s.shape[0] else NULL, &codes[0] if codes.shape[0] else NULL,
                                          codes.shape[0], called, scale, &y[0])
        if n < 0:
            raise_stored(solver, called)
        return structure(&y[0], n, self.code_width)

    def searches_with(self, Loss loss):
        """Whether `argmax_augmented` supports a loss.

        Parameters
        ----------
        loss : Loss
        """
        return (is_additive(loss) or loss.outputs is not None and loss.outputs.n_labels > 0 or overrides(self, "argmax_augmented")
                or <void *> self.argmax_augmented_c != <void *> PLAIN.argmax_augmented_c
                or loss.largest < INFINITY and type(self).k_best is not Argmax.k_best)

    def k_best(self, scores, Example x, k):
        """The k structures with the largest scores, best first.

        Parameters
        ----------
        scores : float64 array of shape (n_atoms,)
        x : Example
        k : int

        Returns
        -------
        list of (structure, score) or None
            The first is that of `argmax`. Fewer than k if Y(x) has fewer. None: the caller enumerates all structures.
        """
        return None

    def marginals(self, scores, Example x):
        """Log partition function and expected counts of atoms, where p(y) = exp(score of y) / Z.

        Parameters
        ----------
        scores : float64 array of shape (n_atoms,)
        x : Example

        Returns
        -------
        (log_z, marginals) or None
            A float and an array of shape (n_atoms,), the derivatives of log Z by the scores. None as in `k_best`.
        """
        if not has_marginals(self):
            return None
        cdef double[::1] s = np.ascontiguousarray(scores, dtype=float)
        check_scores(self, s, x)
        cdef double[::1] expected = np.zeros(max(s.shape[0], 1))
        cdef double log_z = 0
        x.provide(self.workspace_size_c(s.shape[0], True))
        if self.marginals_c(x, &s[0] if s.shape[0] else NULL, &expected[0], &log_z) < 0:
            self.raised()
        if not isfinite(log_z):
            raise DataError(f"log Z of example {x.index} is {log_z}: its scores forbid all structures, or overflow.")
        return log_z, np.asarray(expected)[:s.shape[0]]

    def max_marginals(self, scores, Example x):
        """The score of the best structure with each atom.
        Returns an array of shape (n_atoms,) or None. -inf if no structure has the atom. None as in `k_best`.

        Parameters
        ----------
        scores : float64 array of shape (n_atoms,)
        x : Example
        """
        return None

    def _refuse_values(self, scores) -> None:
        """Raises an error for scores without meaning. Only those that are added up in any order have a bound for their sum."""
        adds_up = isinstance(self, LabelArgmax) and not isinstance(self, LargestArgmax)
        real_array(np.asarray(scores), "scores", (len(scores),), SCORES if adds_up else SINGLE)

    def chain_of(self, scores, Example x):
        """Score tables of a linear chain with a label for each row of x, for exports.

        Ties: the lowest label of the last row, then of the row before it, and so on.

        Parameters
        ----------
        scores : float64 array of shape (n_atoms,)
        x : Example

        Returns
        -------
        (rows, transitions, start, end) or None
            Scores of labels, shape (n_rows, L), and of label pairs, (L, L). Scores of the first and of the last label, (L,) each. -inf
            is forbidden. None: not a chain.
        """
        return None


SINGLE = SCORES._replace(summed=False)      # solvers find sums that overflow
cdef Argmax PLAIN = Argmax()        # whose methods a subclass replaces


cdef int check_scores(Argmax solver, const double[::1] scores, Example x) except -1:
    """Raises an error for scores without meaning or of another number than that of atoms; the loop never calls it."""
    cdef Argmax own = unwrapped(solver)
    cdef Py_ssize_t n = scores.shape[0]
    is_bound, expected = check_example(own, x), None
    if isinstance(own, LabelArgmax):
        expected = own.n_labels - (not isinstance(own, LargestArgmax))
    elif is_bound:
        expected = x.n_atoms
    elif not overrides(own, "argmax"):
        raise unstarted(own, "the feature map")
    if expected is not None and n != expected:
        raise DataError(f"{type(own).__name__} was given {n} scores for example {x.index}; expected {expected}, one for each atom.")
    own._refuse_values(scores)
    x.n_atoms = n
    return 0


cdef tuple checked_pair(Argmax solver, y, double score, Example x):
    """A structure of Y(x) and its finite score."""
    try:
        y = as_structure(solver.outputs, y, x)
        solver.outputs.check_structure(x, y)
    except PluginError as error:
        raise PluginError(f"{type(solver).__name__}.k_best: {error}") from None
    if not isfinite(score):
        raise PluginError(f"{type(solver).__name__}.k_best returned the score {score} of {shortened(y)} for example {x.index}; expected a "
                          f"finite number.")
    return y, score


def forbidden(i):
    """The error of an example without an output: the scores of all are -inf."""
    return DataError(f"the scores of example {i} forbid all outputs with -inf. Allow one of them.")


def ranked_by(Argmax solver, scores, Example x, k):
    """What `solver.k_best` returned, if it is a list of at most k pairs with falling scores; None: the solver has no list.

    Those that scores of -inf forbid are left out.
    """
    ranked = solver.k_best(scores, x, k)
    if ranked is None:
        return None
    try:
        ranked = [(y, float(score)) for y, score in ranked]
    except (TypeError, ValueError, OverflowError):
        raise PluginError(f"{type(solver).__name__}.k_best returned {shortened(ranked)} for example {x.index}; expected a list of pairs, a "
                          f"structure and its score.") from None
    n_found = len(ranked)
    if n_found and ranked[n_found - 1][1] == -INFINITY and np.isneginf(scores).any():
        ranked = [pair for pair in ranked if pair[1] != -INFINITY]
    if n_found and not ranked:
        raise forbidden(x.index)
    alone = next((y for y, _ in ranked if solver.code_width != 1 and not hasattr(y, "__iter__")), None)
    if alone is not None:
        raise PluginError(f"{type(solver).__name__}.k_best returned pairs that begin with {shortened(alone)} for example {x.index}. "
                          f"Expected a list of pairs: a structure and its score.")
    if overrides(solver, "k_best"):
        ranked = [checked_pair(solver, y, score, x) for y, score in ranked]
    if n_found > k:
        raise PluginError(f"{type(solver).__name__}.k_best returned {n_found} structures for example {x.index} and k={k}; expected at "
                          f"most k.")
    for i in range(1, len(ranked)):
        before, score = ranked[i - 1][1], ranked[i][1]
        if not score <= before + ROUNDING * max(1, abs(before)):
            raise PluginError(f"{type(solver).__name__}.k_best returned the score {score} after {before} for example {x.index}; expected "
                              f"the best structures first.")
    return ranked


def most_integers(Argmax solver, n_atoms):
    """The largest number of integers in a structure."""
    return max(n_atoms if solver.outputs is None else solver.outputs.max_code_length(n_atoms), solver.code_width, 1)


def has_marginals(Argmax solver):
    """Whether a solver computes marginals: its class replaces `marginals` or `marginals_c`."""
    return overrides(solver, "marginals") or <void *> solver.marginals_c != <void *> PLAIN.marginals_c


def check_search(parts, wanted, option="") -> None:
    """Raises `PluginError` for a loss that the solver cannot search with.

    Parameters
    ----------
    parts : Parts
        All parts of a model.
    wanted : str
        What needs the search, for the error message.
    option : str, default ""
        Name of the option that asks for it, if there is one.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.plugin_tools import check_search
    >>> engine = Engine("cusum", preset="paper").fit([[0.0], [1.0]], [1, 2])
    >>> check_search(engine.model_.parts, "loss_weight=1.0")
    """
    if not parts.argmax.searches_with(parts.loss):
        loss, argmax = type(parts.loss).__name__, type(parts.argmax).__name__
        raise ConflictingOption(f"{wanted}: {loss} cannot be written over atoms, so {argmax} cannot search with it. It can only be "
                                f"measured (loss_weight=0). A search needs a method `augment` of {loss}, or its bound `largest` and a "
                                f"method `k_best` of {argmax}. Or a method `argmax_augmented` of {argmax}.", option)


def no_marginals(Argmax solver, answer, Example x):
    """The error of a solver whose `marginals` returned no pair."""
    remedy = " Without marginals, use another update rule." if answer is None else ""
    return PluginError(f"{type(solver).__name__}.marginals returned {shortened(answer)} for example {x.index}; expected a pair, log Z "
                       f"and one number per atom.{remedy}")


def marginals_of(Argmax solver, scores, Example x):
    """What `solver.marginals` returned, if it is log Z and a number per atom; None: the solver has none."""
    answer = solver.marginals(scores, x)
    if answer is None:
        return None
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise no_marginals(solver, answer, x)
    log_z, counts = answer
    if not isinstance(log_z, numbers.Real) or not -INFINITY < log_z < INFINITY:
        raise PluginError(f"{type(solver).__name__}.marginals returned log Z = {shortened(log_z)} for example {x.index}; expected a finite "
                          f"number.")
    return log_z, counts


cdef class LabelArgmax(Argmax):
    """Base of the solvers over n_labels labels."""

    def __init__(self, n_labels: int):
        self.n_labels = argument(self, "n_labels", n_labels, whole_number)
        self.code_width = 1

    def check(self, context, parts):
        if parts.outputs.n_labels != self.n_labels:
            raise PluginError(f"{type(self).__name__} was made for {self.n_labels} labels, but there are {parts.outputs.n_labels}.")


cdef double normalised(double *p, Py_ssize_t n) noexcept nogil:
    """Turns scores into probabilities; returns log Z."""
    cdef double largest = p[0], total = 0
    cdef Py_ssize_t k
    for k in range(1, n):
        largest = max(largest, p[k])
    for k in range(n):
        p[k] = exp(p[k] - largest)
        total += p[k]
    for k in range(n):
        p[k] /= total
    return largest + log(total)


cdef class PrefixArgmax(LabelArgmax):
    """The level with the largest prefix sum of atom scores: argmax over y of s[0] + ... + s[y - 2].

    Ties: the lowest level. Cost: O(n_labels).

    Parameters
    ----------
    n_labels : int
        Number of levels.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.components import PrefixArgmax, Rows
    >>> PrefixArgmax(3).argmax(np.array([1.0, -0.5]), Rows(np.zeros((1, 1))).example(0))
    2
    """

    cdef Py_ssize_t argmax_c(self, Example x, const double *s, int *y) noexcept nogil:
        y[0] = sp_best_prefix(s, self.n_labels - 1)
        return 1

    cdef int batch_argmax_c(self, Example x, Py_ssize_t first, Py_ssize_t n, const double *s, int *y) noexcept nogil:
        if <void *> self.argmax_c != <void *> PREFIX.argmax_c:      # a derived class searches in a way of its own
            return Argmax.batch_argmax_c(self, x, first, n, s, y)
        sp_best_prefix_of_all(s, self.n_labels - 1, n, y)
        return 0

    cdef Py_ssize_t workspace_size_c(self, Py_ssize_t n_atoms, bint marginals) noexcept nogil:
        return self.n_labels if marginals else 0

    cdef int marginals_c(self, Example x, const double *s, double *expected, double *log_z) noexcept nogil:
        return prefix_marginals(x, s, self.n_labels, expected, log_z)


cdef class ThresholdArgmax(LabelArgmax):
    """The level with the largest prefix sum, for scores s[k] = f - b_k below ordered thresholds.

    Ties: the highest level. The prefix sums rise as long as s[k] >= 0. So the level is one more than the number of thresholds reached;
    no sum is rounded. If scores rise somewhere, because they include the loss, they are summed.

    Parameters
    ----------
    n_labels : int
        Number of levels.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.components import Rows, ThresholdArgmax
    >>> ThresholdArgmax(3).argmax(np.array([1.0, -0.5]), Rows(np.zeros((1, 1))).example(0))
    2
    """

    cdef Py_ssize_t argmax_c(self, Example x, const double *s, int *y) noexcept nogil:
        y[0] = sp_thresholds_reached(s, self.n_labels - 1)
        return 1

    cdef int batch_argmax_c(self, Example x, Py_ssize_t first, Py_ssize_t n, const double *s, int *y) noexcept nogil:
        if <void *> self.argmax_c != <void *> THRESHOLD.argmax_c:
            return Argmax.batch_argmax_c(self, x, first, n, s, y)
        sp_thresholds_reached_of_all(s, self.n_labels - 1, n, y)
        return 0

    cdef Py_ssize_t workspace_size_c(self, Py_ssize_t n_atoms, bint marginals) noexcept nogil:
        return self.n_labels if marginals else 0

    cdef int marginals_c(self, Example x, const double *s, double *expected, double *log_z) noexcept nogil:
        return prefix_marginals(x, s, self.n_labels, expected, log_z)


cdef int prefix_marginals(Example x, const double *s, Py_ssize_t n_labels, double *expected, double *log_z) noexcept nogil:
    """p(y > k) of ranks whose scores are prefix sums."""
    cdef double *p = x.work
    cdef double above = 0
    cdef Py_ssize_t k
    p[0] = 0
    for k in range(1, n_labels):
        p[k] = p[k - 1] + s[k - 1]
    log_z[0] = normalised(p, n_labels)
    for k in range(n_labels - 1, 0, -1):
        above += p[k]
        expected[k - 1] = above
    return 0


cdef class LargestArgmax(LabelArgmax):
    """The label with the largest atom score.

    Ties: the lowest label. Cost: O(n_labels).

    Parameters
    ----------
    n_labels : int
        Number of labels.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.components import LargestArgmax, Rows
    >>> LargestArgmax(3).argmax(np.array([1.0, 3.0, 3.0]), Rows(np.zeros((1, 1))).example(0))
    2
    """

    cdef Py_ssize_t argmax_c(self, Example x, const double *s, int *y) noexcept nogil:
        y[0] = sp_largest(s, self.n_labels)
        return 1

    cdef int batch_argmax_c(self, Example x, Py_ssize_t first, Py_ssize_t n, const double *s, int *y) noexcept nogil:
        if <void *> self.argmax_c != <void *> LARGEST.argmax_c:
            return Argmax.batch_argmax_c(self, x, first, n, s, y)
        sp_largest_of_all(s, self.n_labels, n, y)
        return 0

    cdef int marginals_c(self, Example x, const double *s, double *expected, double *log_z) noexcept nogil:
        memcpy(expected, s, self.n_labels * sizeof(double))
        log_z[0] = normalised(expected, self.n_labels)
        return 0


cdef PrefixArgmax PREFIX = PrefixArgmax(2)          # whose methods a derived class replaces
cdef ThresholdArgmax THRESHOLD = ThresholdArgmax(2)
cdef LargestArgmax LARGEST = LargestArgmax(2)
