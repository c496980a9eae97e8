"""One thread's way through the examples of a batch: losses with gradients, best structures, marginals, counts; without the GIL.

Scores, counts and marginals of all examples are flat float64 arrays, end to end. The scores have been checked: no NaN, no +inf.
"""
import numpy as np

from libc.math cimport INFINITY, isfinite
from libc.stdint cimport int64_t
from libc.string cimport memset
from structperc.basics.errors import DataError
from structperc.basics.signals cimport interrupted
from structperc.core.argmax cimport Argmax
from structperc.core.argmax import forbidden
from structperc.core.component import adapted, take_error
from structperc.core.rows cimport Example, Rows
from structperc.core.updates cimport Trial
from structperc.problems.nearest cimport product
from structperc.problems.objectives cimport Objective
from structperc.problems.shared cimport Scores


cdef class Passes:
    """The examples of a batch, through the parts of one thread."""
    # offsets: int64 array of shape (n_examples + 1,). Where the atoms of each example begin in the flat arrays.
    # numbers: int64 array of shape (n_examples,). Of the examples in `rows`.
    # gold: Structures or None. Of all `rows`.
    # partial: bool. Whether gold outputs are partial.

    def __init__(self, parts, Rows rows, offsets, numbers, gold, bint partial):
        cdef Py_ssize_t i
        self.parts, self.rows, self.gold, self.partial = parts, rows, gold, partial
        self.outputs, self.argmax, self.loss = adapted(parts.outputs), adapted(parts.argmax), adapted(parts.loss)
        self.offsets, self.numbers = offsets, numbers
        self.ragged = gold is not None and gold.offsets is not None
        if self.ragged:
            self.starts = gold.offsets
        self.most_atoms = 1
        for i in range(self.offsets.shape[0] - 1):
            self.most_atoms = max(self.most_atoms, self.offsets[i + 1] - self.offsets[i])
        self.most_integers = max(parts.outputs.max_code_length(self.most_atoms), self.outputs.code_width, 1)

    cdef Trial trial(self):
        """A trial through which the examples are seen one after the other."""
        cdef Example x = Example()
        cdef Trial trial = Trial()
        cdef Argmax own
        x.look_at(self.rows)
        own = <Argmax> self.parts.argmax
        x.provide(max(own.workspace_size_c(self.most_atoms, False), own.workspace_size_c(self.most_atoms, True)))
        trial.bind(x, self.parts.weights, self.outputs, self.argmax, self.loss, self.most_atoms, self.most_integers)
        trial.weight = 1
        return trial

    cdef void load(self, Trial trial, Py_ssize_t i) noexcept nogil:
        """Points the trial at example i of the batch."""
        self.rows.load(self.numbers[i], trial.x)
        trial.x.n_atoms = self.offsets[i + 1] - self.offsets[i]
        trial.x.bound = 0
        trial.n_visited = i
        trial.loss = 0

    cdef int take_gold(self, Trial trial, int *completed, double *g) noexcept nogil:
        """Reads the gold output, completed if partial. Takes its counts from g, which is 0. Returns -1 on an error."""
        cdef Py_ssize_t j = trial.x.index
        trial.given_code.at = self.gold.at + (self.starts[j] if self.ragged else j)
        trial.given_code.n = self.starts[j + 1] - self.starts[j] if self.ragged else 1
        trial.gold_code = trial.given_code
        if self.partial:
            trial.gold_code.at = completed
            trial.gold_code.n = self.outputs.complete_c(trial.x, trial.given_code.at, trial.given_code.n, trial.s, completed)
            if trial.gold_code.n < 0:
                return -1
        return self.outputs.count_c(trial.x, trial.gold_code.at, trial.gold_code.n, -1.0, g)

    def losses(self, Py_ssize_t first, Py_ssize_t last, Scores scores, Objective objective, double[::1] values, double[::1] gradient):
        """Writes value and gradient of the examples first..last - 1."""
        cdef Trial trial = self.trial()
        cdef int[::1] completed = np.empty(self.most_integers, dtype=np.intc)
        cdef double[::1] room = np.empty(self.most_atoms)
        cdef Py_ssize_t i = first
        cdef double value = 0
        cdef double *g = NULL
        cdef bint right = False
        trial.y_code.at, trial.y_code.n = trial.found_code.at, 0
        with nogil:
            for i in range(first, last):
                self.load(trial, i)
                value, g = -INFINITY, &gradient[self.offsets[i]]
                memset(g, 0, trial.x.n_atoms * sizeof(double))
                trial.s = scores.of_c(i, self.offsets[i], &room[0])
                if trial.s == NULL:
                    break
                if self.take_gold(trial, &completed[0], g) < 0:
                    break
                value = product(g, trial.s, trial.x.n_atoms)
                if not isfinite(value):
                    break
                trial.loss = value
                value = objective.value_c(trial, g)
                if not isfinite(value) or interrupted(trial.x.n_atoms):
                    break
                values[i] = value
            else:
                right = True
        if not right:
            self.refuse(i, trial, g, value, objective)

    cdef refuse(self, Py_ssize_t i, Trial trial, const double *g, double value, further):
        """Raises the error of example i."""
        error = take_error(self.argmax, self.outputs, self.loss, *(() if further is None else (further,)))
        if error is not None:
            raise error
        masked = [a for a in range(trial.x.n_atoms) if value == INFINITY and g[a] < 0 and trial.s[a] == -INFINITY]
        if masked:
            raise DataError(f"the gold output of example {i} has atom {masked[0]}, whose score is -inf, so that no output may have it. "
                            f"Correct y or the mask.")
        raise DataError(f"the loss of example {i} is {value}: its scores forbid all outputs with -inf, or their sum overflows.")

    def best(self, Py_ssize_t first, Py_ssize_t last, const double[::1] scores, double[::1] bounds, bint forbids):
        """The best structures of the examples first..last - 1: their integers, and how many each has. `bounds` receives `Example.bound`.

        `forbids`: whether a score is -inf.
        """
        cdef Trial trial = self.trial()
        cdef double[::1] counts = np.empty(self.most_atoms)
        cdef bint is_out = False
        cdef Py_ssize_t i, n = 0, at = 0
        cdef int[::1] codes
        cdef int64_t[::1] sizes
        room = sum([self.most_of(j) for j in range(first, last)]) + self.most_integers
        values, lengths = np.empty(room, dtype=np.intc), np.zeros(last - first, dtype=np.int64)
        codes, sizes = values, lengths
        with nogil:
            for i in range(first, last):
                self.load(trial, i)
                trial.s = &scores[self.offsets[i]]
                n = self.argmax.argmax_c(trial.x, trial.s, &codes[at])
                if n < 0 or interrupted(trial.x.n_atoms):
                    n = -1
                    break
                if forbids:
                    memset(&counts[0], 0, trial.x.n_atoms * sizeof(double))
                    is_out = self.outputs.count_c(trial.x, &codes[at], n, 1.0, &counts[0]) < 0 or \
                        product(&counts[0], trial.s, trial.x.n_atoms) == -INFINITY
                    if is_out:
                        break
                at += n
                sizes[i - first], bounds[i] = n, trial.x.bound
        if n < 0:
            self.refuse(i, trial, NULL, 0, None)
        if is_out:
            raise take_error(self.outputs) or forbidden(i)
        return values[:at], lengths

    def most_of(self, Py_ssize_t i):
        """The most integers of a structure of example i."""
        n_atoms = self.offsets[i + 1] - self.offsets[i]
        return max(self.parts.outputs.max_code_length(n_atoms), self.outputs.code_width, 1)

    def marginals(self, Py_ssize_t first, Py_ssize_t last, const double[::1] scores, double[::1] expected, double[::1] log_z):
        """Writes expected counts and log Z of the examples first..last - 1."""
        cdef Trial trial = self.trial()
        cdef Py_ssize_t i, a
        cdef bint right = True
        with nogil:
            for i in range(first, last):
                self.load(trial, i)
                trial.s = &scores[self.offsets[i]]
                right = trial.marginals_c() >= 0 and isfinite(trial.log_z) and not interrupted(trial.x.n_atoms)
                if not right:
                    break
                log_z[i] = trial.log_z
                for a in range(trial.x.n_atoms):
                    expected[self.offsets[i] + a] = trial.expected[a]
        if not right:
            error = take_error(self.argmax, self.outputs)
            raise error or DataError(f"log Z of example {i} is {trial.log_z}: its scores forbid all outputs with -inf, or their sum "
                                     f"overflows.")

    def counts(self):
        """How often each atom occurs in the gold outputs, which are not partial, flat."""
        cdef Trial trial = self.trial()
        cdef Py_ssize_t i, n = self.offsets.shape[0] - 1
        answer = np.zeros(self.offsets[n])
        cdef double[::1] counts = answer
        for i in range(n):
            self.load(trial, i)
            if self.take_gold(trial, NULL, &counts[self.offsets[i]]) < 0:
                self.refuse(i, trial, NULL, 0, None)
        return 0.0 - answer
