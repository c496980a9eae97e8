# distutils: extra_compile_args = GLUE
"""How the one compiled loop drives components written in Python.

`structperc.core.component.adapted` returns the component itself if every method that the loop calls is compiled. Otherwise it returns an
adapter: its `_c` methods call those that Python overrides and pass the others on. So a Python override is never bypassed.
Only the loop, the weight store, the loss and the step see adapters; everything else talks to the component itself.

Cost: 0.1 to 0.6 us per call; one adapter per component and fit.
"""
from operator import index

import numpy as np

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.math cimport INFINITY, NAN
from libc.string cimport memcpy
from structperc.basics.errors import PluginError, shortened
from structperc.core.argmax cimport Argmax
from structperc.core.argmax import marginals_of, no_marginals
from structperc.core.component cimport Component
from structperc.core.component import ADAPTERS, expected as checked, noted, outdated, unstarted, unwrapped
from structperc.core.features cimport Features, Parameter, StepSizes, Units
from structperc.core.losses cimport Loss
from structperc.core.losses import refuse_unstarted
from structperc.core.outputs cimport Outputs
from structperc.core.rows cimport Example, Rows, shown_to_map
from structperc.core.structures cimport structure
from structperc.core.updates cimport Trial, Update
from structperc.core.weights cimport Weights
from libc.stdint cimport int64_t


DESCRIBED = "scores", "add", "norm", "inner"        # what `cell` and `explicit_part` describe once more


cdef Py_ssize_t gold_width(Outputs outputs):
    """As what Python sees a gold output: a partial one is a tuple whatever its structures are."""
    return -1 if outputs.partial_gold else outputs.code_width


cdef copied(const double *at, Py_ssize_t n):
    """n doubles as an ndarray of their own: what Python code gets it may keep."""
    cdef Py_buffer view
    answer = np.empty(n)
    PyObject_GetBuffer(answer, &view, PyBUF_SIMPLE)     # a third of the time that a typed memoryview takes
    memcpy(view.buf, at, n * sizeof(double))
    PyBuffer_Release(&view)
    return answer


cdef int fill(double *at, answer, Example x, component, method, bint finite=True) except -1:
    """Checks and copies one number per atom; scores need not be finite here, since the loop looks at them."""
    cdef Py_buffer view
    cdef Py_ssize_t a
    cdef double total = 0
    try:
        values = np.asarray(answer, dtype=float, order="C")
    except (TypeError, ValueError, OverflowError):
        values = None
    if values is None or values.shape != (x.n_atoms,):
        came = shortened(answer) if values is None or values.shape == () else f"an array of shape {values.shape}"
        raise PluginError(f"{type(component).__name__}.{method} returned {came} for example "
                          f"{x.index}; expected ({x.n_atoms},), one number per atom.")
    PyObject_GetBuffer(values, &view, PyBUF_SIMPLE)
    memcpy(at, view.buf, x.n_atoms * sizeof(double))
    PyBuffer_Release(&view)
    if finite:
        for a in range(x.n_atoms):
            total += at[a]
        if total - total != 0 and not np.isfinite(values).all():
            a = np.argmin(np.isfinite(values))
            raise PluginError(f"{type(component).__name__}.{method} returned {values[a]} for atom {a} of example {x.index}; expected "
                              f"finite numbers.")
    return 0


cdef int fill_scores(double *s, answer, Example x, component) except -1:
    """Checks and copies scores. The loop handles scores that are not finite, because it checks the row first; x keeps their source."""
    cdef Py_ssize_t a
    fill(s, answer, x, component, "scores", finite=False)
    for a in range(x.n_atoms):
        if s[a] - s[a] != 0:
            x.doubt = x.index, f"{type(component).__name__}.scores returned {s[a]} for atom {a} of example {x.index}"
            break
    return 0


cdef int fill_augmented(double *s, answer, Example x, component) except -1:
    """Checks and copies scores with the loss in them. Atoms that a score of -inf forbids stay forbidden."""
    cdef Py_ssize_t a
    forbidden = [a for a in range(x.n_atoms) if s[a] == -INFINITY]
    if forbidden and np.shape(answer) == (x.n_atoms,):
        answer = np.array(answer, dtype=float)
        answer[forbidden] = 0
    fill(s, answer, x, component, "augment")
    for a in forbidden:
        s[a] = -INFINITY
    return 0


cdef double number(answer, component, method, Example x, double least=-INFINITY) except? -1:
    """A finite number, at least so large."""
    cdef double value = NAN
    try:
        value = answer
        came = value
    except (TypeError, OverflowError):
        came = shortened(answer)
    if not (value - value == 0 and value >= least):
        raise PluginError(f"{type(component).__name__}.{method} returned {came} for example {x.index}; expected a finite "
                          f"number{'' if least == -INFINITY else ', at least 0'}.")
    return value


cdef Py_ssize_t whole(answer, component, method, Example x) except -1:
    """A whole number, at least 0."""
    try:
        n = index(answer)
    except TypeError:
        n = -1
    if n < 0:
        raise PluginError(f"{type(component).__name__}.{method} returned {shortened(answer)} for example {x.index}; expected a whole "
                          f"number, at least 0.")
    return n


cdef int in_place(answer, array, component, method, Example x) except -1:
    """Raises an error if a method that changes an array in place returned something: its author may have changed a copy."""
    if answer is not None and answer is not array:
        raise PluginError(f"{type(component).__name__}.{method} returned {shortened(answer)} for example {x.index}; expected None, since "
                          f"it changes the array that it is given.")
    return 0


cdef Py_ssize_t write(Outputs outputs, answer, Example x, int *y, part, method) except -1:
    """`Outputs.write` of what a method returned; its error names the method."""
    try:
        return outputs.write(answer, x, y)
    except PluginError as error:
        raise PluginError(f"{type(part).__name__}.{method}: {error}") from None


cdef int failed(Component adapter, error, method, Example x) noexcept:
    """Keeps the error of an author's method for whoever called the adapter."""
    adapter.error = noted(error, unwrapped(adapter), method, x)
    return -1


cdef double gram_of_norms(part, Example x, double *off_diagonal) except? -1:
    """The Gram matrix of atoms with one inner product for all pairs, from squared norms; returns d."""
    one, two = np.zeros(x.n_atoms), np.zeros(x.n_atoms)
    one[:1], two[:1], two[1:2] = 1, 1, -1
    cdef double own = part.norm(x, two) / min(x.n_atoms, 2)
    off_diagonal[0] = part.norm(x, one) - own
    return own


cdef class PythonFeatures(Features):
    cdef Features target
    cdef bint has_n_atoms, has_scores, has_add, has_project, has_norm, has_inner, has_cell, has_gram, has_rescaled, keeps_scores

    def __init__(self, Features target, python):
        self.target = self._target = target
        self.n_weight_rows, self.row_width, self.on_demand_rows = target.n_weight_rows, target.row_width, target.on_demand_rows
        self.fixed_atoms, self.fixed_rows = target.fixed_atoms, target.fixed_rows
        self.n_blocks = 0 if outdated(target, "cell", *DESCRIBED) else target.n_blocks
        self.has_n_atoms, self.has_scores, self.has_add = "n_atoms" in python, "scores" in python, "add" in python
        self.has_project, self.has_norm, self.has_inner, self.has_cell, self.has_gram = (
            "project" in python, "norm" in python, "inner" in python, "cell" in python, "constant_gram" in python)
        self.has_rescaled, self.keeps_scores = "rescaled" in python, not outdated(target, "rescaled", "scores", "add")

    cdef flat(self, const Parameter *p, Py_ssize_t far):
        """The weights (or their accumulators) as one vector."""
        if self.n_weight_rows > 1:
            raise PluginError(f"{type(self.target).__name__} overrides in Python a feature map whose weights have "
                              f"{self.n_weight_rows} rows; construct it with feature_major=False.")
        return np.asarray(<double[:self.row_width]> (p.w + far))

    cdef void passed(self) noexcept nogil:
        """Takes over the error that the compiled map has left behind."""
        with gil:
            self.error, self.target.error = self.target.error, None

    cdef Py_ssize_t n_atoms_c(self, Example x) noexcept nogil:
        cdef bint before
        cdef Py_ssize_t compiled
        if not self.has_n_atoms:
            compiled = self.target.n_atoms_c(x)
            if compiled < 0:
                self.passed()
            return compiled
        with gil:
            before = shown_to_map(x, True)
            try:
                n = whole(self.target.n_atoms(x), self.target, "n_atoms", x)
                if not self.has_scores and n != self.target.n_atoms_c(x):
                    raise PluginError(f"{type(self.target).__name__}.n_atoms returned {n} for example {x.index}, but its compiled scores "
                                      f"are {self.target.n_atoms_c(x)}; override scores too.")
                return n
            except BaseException as error:
                return failed(self, error, "n_atoms", x)
            finally:
                shown_to_map(x, before)

    cdef int scores_c(self, const Parameter *p, Example x, double *s) noexcept nogil:
        cdef bint before
        cdef int status
        if not self.has_scores:
            status = self.target.scores_c(p, x, s)
            if status < 0:
                self.passed()
            return status
        with gil:
            before = shown_to_map(x, True)
            try:
                return fill_scores(s, self.target.scores(self.flat(p, 0), x), x, self.target)
            except BaseException as error:
                return failed(self, error, "scores", x)
            finally:
                shown_to_map(x, before)

    cdef int add_c(self, const Parameter *p, Example x, const double *c, double to_w, double to_u) noexcept nogil:
        cdef bint before
        cdef int status
        if not self.has_add:
            status = self.target.add_c(p, x, c, to_w, to_u)
            if status < 0:
                self.passed()
            return status
        with gil:
            before = shown_to_map(x, True)
            try:
                coefficients = copied(c, x.n_atoms)
                w = self.flat(p, 0)
                in_place(self.target.add(w, x, coefficients * to_w), w, self.target, "add", x)
                if p.average:
                    self.target.add(self.flat(p, p.average), x, coefficients * to_u)
                return 0
            except BaseException as error:
                return failed(self, error, "add", x)
            finally:
                shown_to_map(x, before)

    cdef int adapt_c(self, const Parameter *p, Example x, const double *c, const StepSizes *sizes) noexcept nogil:
        cdef int status
        if self.has_add:
            return Features.adapt_c(self, p, x, c, sizes)
        status = self.target.adapt_c(p, x, c, sizes)
        if status < 0:
            self.passed()
        return status

    cdef int project_c(self, const Parameter *p, Example x, double to_w, double to_u) noexcept nogil:
        cdef bint before
        cdef int status
        if not self.has_project:
            status = self.target.project_c(p, x, to_w, to_u)
            if status < 0:
                self.passed()
            return status
        with gil:
            before = shown_to_map(x, True)
            try:
                stored = self.flat(p, 0)
                allowed = stored / to_w
                answer = self.target.project(allowed, x)
                if x is not None:
                    in_place(answer, allowed, self.target, "project", x)
                moved = np.flatnonzero(allowed != stored / to_w)
                nearest = allowed[moved] * to_w
                if p.average:
                    self.flat(p, p.average)[moved] += (nearest - stored[moved]) / to_w * to_u
                stored[moved] = nearest
                return 0
            except BaseException as error:
                return failed(self, error, "project", x)
            finally:
                shown_to_map(x, before)

    cdef int rescale_c(self, const Parameter *p, const Units *units) noexcept nogil:
        cdef int status
        if not self.has_rescaled:
            status = self.target.rescale_c(p, units) if self.keeps_scores else 0
            if status < 0:
                self.passed()
            return status
        with gil:
            try:
                w, n = self.flat(p, 0), units.n_features
                answer = self.target.rescaled(np.array(w), copied(units.shift, n), copied(units.spread, n))
                if answer is None:
                    return 0
                values = np.asarray(answer, dtype=float)
                if values.shape != w.shape:
                    raise PluginError(f"{type(self.target).__name__}.rescaled returned an array of shape {values.shape}; expected "
                                      f"{w.shape}, or None.")
                w[:] = values
                return 1
            except BaseException as error:
                return failed(self, error, "rescaled", None)

    cdef double norm_c(self, Example x, const double *c) noexcept nogil:
        cdef bint before
        cdef double norm, of_steps
        if not self.has_norm:
            if self.has_add:
                return Features.norm_c(self, x, c)
            norm = self.target.norm_c(x, c)
            if norm < 0:
                self.passed()
            return norm
        with gil:
            before = shown_to_map(x, True)
            try:
                norm = number(self.target.norm(x, copied(c, x.n_atoms)), self.target, "norm", x, 0)
                if norm == 0:           # no step would be made, without a word
                    of_steps = Features.norm_c(self, x, c)
                    if of_steps > 0:
                        raise PluginError(f"{type(self.target).__name__}.norm returned 0 for example {x.index}; expected {of_steps}, the "
                                          f"squared length of what add adds.")
                    self.error = None
                return norm
            except BaseException as error:
                return failed(self, error, "norm", x)
            finally:
                shown_to_map(x, before)

    def inner(self, Example x, Py_ssize_t a, Example z, Py_ssize_t b):
        if self.has_add and not (self.has_inner or self.has_cell):
            return float(self.vector(x, np.arange(self.n_atoms(x)) == a) @ self.vector(z, np.arange(self.n_atoms(z)) == b))
        before, there = shown_to_map(x, True), shown_to_map(z, True)
        try:
            return self.target.inner(x, a, z, b)
        finally:
            shown_to_map(x, before)
            shown_to_map(z, there)

    cdef double constant_gram_c(self, Example x, double *off_diagonal) noexcept nogil:
        cdef bint before
        if not (self.has_gram or self.has_add or self.has_inner or self.has_norm):
            return self.target.constant_gram_c(x, off_diagonal)
        with gil:
            before = shown_to_map(x, True)
            try:
                if self.has_gram:
                    answer = checked(self.target.constant_gram(x), tuple, self.target, "constant_gram", "a pair (d, off_diagonal)", x)
                    own, shared = answer
                    off_diagonal[0] = number(shared, self.target, "constant_gram", x)
                    return number(own, self.target, "constant_gram", x, 0)
                if self.has_norm and not self.has_inner:
                    return gram_of_norms(self, x, off_diagonal)
                off_diagonal[0] = number(self.inner(x, 0, x, 1), self.target, "inner", x) if x.n_atoms > 1 else 0
                return number(self.inner(x, 0, x, 0), self.target, "inner", x) - off_diagonal[0]
            except BaseException as error:
                failed(self, error, "constant_gram", x)
                return -1
            finally:
                shown_to_map(x, before)

    cdef Py_ssize_t cell_c(self, Example x, Py_ssize_t a) noexcept nogil:
        cdef bint before
        cdef Py_ssize_t compiled
        if not self.has_cell:
            compiled = self.target.cell_c(x, a)
            if compiled < -1:
                self.passed()
            return compiled
        with gil:
            before = shown_to_map(x, True)
            try:
                cell = self.target.cell(x, a)
                if cell is None:
                    return -1
                try:
                    row, block = map(index, cell)
                except (TypeError, ValueError, OverflowError):
                    row = block = -1
                if not (0 <= row < x.block.n_rows and 0 <= block < self.n_blocks):
                    raise PluginError(f"{type(self.target).__name__}.cell returned {shortened(cell)} for atom {a} of example {x.index}. "
                                      f"Expected: a row below {x.block.n_rows} and a block below {self.n_blocks}, or None.")
                return row * self.n_blocks + block
            except BaseException as error:
                failed(self, error, "cell", x)
                return -2
            finally:
                shown_to_map(x, before)

    cdef void prefetch_c(self, const Parameter *p, Example x) noexcept nogil:
        self.target.prefetch_c(p, x)

    def explicit_part(self):
        return checked(self.target.explicit_part(), (Features, type(None)), self.target, "explicit_part", "a feature map or None")

    cdef bint constrained(self):
        return self.target.constrained()

    cdef touched_rows(self, Rows rows):
        return None if self.has_add or self.has_project else self.target.touched_rows(rows)


cdef class PythonWeights(Weights):
    cdef Weights target
    cdef bint has_scores, has_update, has_norm

    def __init__(self, Weights target, python):
        if target.features is None:
            raise unstarted(target, "the feature map")
        self.target = self._target = target
        self.features = target.features
        self.has_scores, self.has_update = "scores" in python, "update" in python
        self.has_norm = "norm" in python

    cdef int scores_c(self, Example x, double *s) noexcept nogil:
        cdef bint before
        if not self.has_scores:
            return self.target.scores_c(x, s)
        with gil:
            before = shown_to_map(x, True)
            try:
                return fill_scores(s, self.target.scores(x), x, self.target)
            except BaseException as error:
                return failed(self, error, "scores", x)
            finally:
                shown_to_map(x, before)

    cdef int update_c(self, Example x, const double *c) noexcept nogil:
        cdef bint before
        if not self.has_update:
            return self.target.update_c(x, c)
        with gil:
            before = shown_to_map(x, True)
            try:
                return in_place(self.target.update(x, copied(c, x.n_atoms)), self.target, self.target, "update", x)
            except BaseException as error:
                return failed(self, error, "update", x)
            finally:
                shown_to_map(x, before)

    cdef double norm_c(self, Example x, const double *c) noexcept nogil:
        cdef bint before
        if not self.has_norm:
            return self.target.norm_c(x, c)
        with gil:
            before = shown_to_map(x, True)
            try:
                return number(self.target.norm(x, copied(c, x.n_atoms)), self.target, "norm", x, 0)
            except BaseException as error:
                return failed(self, error, "norm", x)
            finally:
                shown_to_map(x, before)

    cdef double constant_gram_c(self, Example x, double *shared) noexcept nogil:
        cdef bint before
        if not self.has_norm:
            return self.target.constant_gram_c(x, shared)
        with gil:
            before = shown_to_map(x, True)
            try:
                return gram_of_norms(self, x, shared)
            except BaseException as error:
                return failed(self, error, "norm", x)
            finally:
                shown_to_map(x, before)

    cdef void visited_c(self) noexcept nogil:
        self.target.visited_c()
        self.averaging.n_visited = self.target.averaging.n_visited      # rules with schedules ask for it

    cdef Py_ssize_t look_ahead_c(self, Rows rows, const int64_t *order, Py_ssize_t t, Py_ssize_t n) noexcept nogil:
        return n if self.has_scores else self.target.look_ahead_c(rows, order, t, n)

    cdef void prefetch_c(self, Example x) noexcept nogil:
        self.target.prefetch_c(x)


cdef class PythonOutputs(Outputs):
    cdef Outputs target
    cdef bint has_count, has_signs, has_agrees, has_complete

    def __init__(self, Outputs target, python):
        self.target = self._target = target
        self.code_width, self.partial_gold, self.n_labels = target.code_width, target.partial_gold, target.n_labels
        self.has_count, self.has_signs = "count" in python, "signs" in python
        self.has_agrees, self.has_complete = "agrees" in python, "complete" in python

    cdef int count_c(self, Example x, const int *y, Py_ssize_t n, double sign, double *c) noexcept nogil:
        if not self.has_count:
            return self.target.count_c(x, y, n, sign, c)
        with gil:
            try:
                kept = copied(c, x.n_atoms)
                fill(c, self.target.count(x, structure(y, n, self.code_width)), x, self.target, "count")
                return fill(c, kept + sign * copied(c, x.n_atoms), x, self.target, "count")
            except BaseException as error:
                return failed(self, error, "count", x)

    cdef int signs_c(self, Example x, const int *gold, Py_ssize_t n_gold, double *c) noexcept nogil:
        if not self.has_signs:
            return Outputs.signs_c(self, x, gold, n_gold, c) if self.has_count and not self.target.partial_gold \
                else self.target.signs_c(x, gold, n_gold, c)
        with gil:
            try:
                return fill(c, self.target.signs(x, structure(gold, n_gold, gold_width(self))), x, self.target, "signs")
            except BaseException as error:
                return failed(self, error, "signs", x)

    cdef int agrees_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        if not self.has_agrees:
            return Outputs.agrees_c(self, x, gold, n_gold, y, n) if self.has_count and self.n_labels == 0 and not self.target.partial_gold \
                else self.target.agrees_c(x, gold, n_gold, y, n)
        with gil:
            try:
                same = self.target.agrees(structure(gold, n_gold, gold_width(self)), structure(y, n, self.code_width), x)
                return bool(checked(same, (bool, np.bool_, int), self.target, "agrees", "True or False", x))
            except BaseException as error:
                return failed(self, error, "agrees", x)

    cdef bint adds_costs_c(self) noexcept nogil:
        return self.target.adds_costs_c() and not self.has_count

    cdef void add_costs_c(self, const double *costs, double scale, double *s) noexcept nogil:
        self.target.add_costs_c(costs, scale, s)

    cdef Py_ssize_t complete_c(self, Example x, const int *gold, Py_ssize_t n_gold, const double *s, int *y) noexcept nogil:
        if not self.has_complete:
            return self.target.complete_c(x, gold, n_gold, s, y)
        with gil:
            try:
                return self.target.write(self.target.complete(structure(gold, n_gold, gold_width(self)), copied(s, x.n_atoms), x), x, y)
            except BaseException as error:
                return failed(self, error, "complete", x)


cdef class PythonArgmax(Argmax):
    cdef Argmax target
    cdef bint has_argmax, has_augmented, has_own_marginals

    def __init__(self, Argmax target, python):
        if target.outputs is None:
            raise unstarted(target, "the outputs")
        self.target = self._target = target
        self.outputs, self.code_width = target.outputs, target.code_width
        self.has_argmax, self.has_augmented = "argmax" in python, "argmax_augmented" in python
        self.has_own_marginals = "marginals" in python

    cdef Py_ssize_t argmax_c(self, Example x, const double *s, int *y) noexcept nogil:
        if not self.has_argmax:
            return self.target.argmax_c(x, s, y)
        with gil:
            try:
                return write(self.outputs, self.target.argmax(copied(s, x.n_atoms), x), x, y, self.target, "argmax")
            except BaseException as error:
                return failed(self, error, "argmax", x)

    cdef Py_ssize_t argmax_augmented_c(self, Example x, double *s, const int *gold, Py_ssize_t n_gold, Loss loss, double scale,
                                       int *y) noexcept nogil:
        if not self.has_augmented:      # the additive search asks a replaced argmax too
            return Argmax.argmax_augmented_c(self, x, s, gold, n_gold, loss, scale, y)
        with gil:
            try:
                answer = self.target.argmax_augmented(copied(s, x.n_atoms), x, structure(gold, n_gold, gold_width(self.outputs)),
                                                      unwrapped(loss), scale)
                return write(self.outputs, answer, x, y, self.target, "argmax_augmented")
            except BaseException as error:
                return failed(self, error, "argmax_augmented", x)

    cdef int marginals_c(self, Example x, const double *s, double *expected, double *log_z) noexcept nogil:
        if not self.has_own_marginals:
            return self.target.marginals_c(x, s, expected, log_z)
        with gil:
            try:
                marginals = marginals_of(self.target, copied(s, x.n_atoms), x)
                if marginals is None:
                    raise no_marginals(self.target, marginals, x)
                log_z[0], counts = marginals
                return fill(expected, counts, x, self.target, "marginals")
            except BaseException as error:
                return failed(self, error, "marginals", x)


cdef class PythonLoss(Loss):
    cdef Loss target
    cdef Py_ssize_t code_width
    cdef bint has_value, has_augment

    def __init__(self, Loss target, python):
        refuse_unstarted(target)
        self.target = self._target = target
        self.outputs, self._outputs, self.costs = target.outputs, target._outputs, target.costs
        self.code_width = target.outputs.code_width
        self.has_value, self.has_augment = "value" in python, "augment" in python

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        if not self.has_value:
            return self.target.value_c(x, gold, n_gold, y, n)
        with gil:
            try:
                right = structure(gold, n_gold, gold_width(self.target.outputs))
                return number(self.target.value(right, structure(y, n, self.code_width), x), self.target, "value", x, 0)
            except BaseException as error:
                return failed(self, error, "value", x)

    cdef int augment_c(self, Example x, const int *gold, Py_ssize_t n_gold, double scale, double *s) noexcept nogil:
        if not self.has_augment:    # a changed value on label outputs changes what follows from it
            return Loss.augment_c(self, x, gold, n_gold, scale, s) if self.has_value \
                else self.target.augment_c(x, gold, n_gold, scale, s)
        with gil:
            try:
                right = structure(gold, n_gold, gold_width(self.target.outputs))
                return fill_augmented(s, self.target.augment(right, copied(s, x.n_atoms), scale, x), x, self.target)
            except BaseException as error:
                return failed(self, error, "augment", x)


cdef class PythonUpdate(Update):
    cdef Update target

    def __init__(self, Update target, python):
        self.target = self._target = target

    cdef int step_c(self, Trial trial) noexcept nogil:
        with gil:
            try:
                c = self.target.step(trial)
                if trial.loss - trial.loss != 0:
                    raise PluginError(f"{type(self.target).__name__}.step left the loss {trial.loss} for example {trial.x.index}; expected "
                                      f"a finite number.")
                if c is None:
                    return 0
                fill(trial.c, c, trial.x, self.target, "step")
                return 1
            except BaseException as error:
                return failed(self, error, "step", trial.x)


ADAPTERS += (
    (Features, PythonFeatures, ("n_atoms", "scores", "add", "project", "norm", "inner", "constant_gram", "cell", "rescaled")),
    (Weights, PythonWeights, ("scores", "update", "norm")),
    (Outputs, PythonOutputs, ("count", "signs", "agrees", "complete")),
    (Argmax, PythonArgmax, ("argmax", "argmax_augmented", "marginals")),
    (Loss, PythonLoss, ("value", "augment")),
    (Update, PythonUpdate, ("step",)),
)
