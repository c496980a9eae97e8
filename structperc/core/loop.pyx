"""The online loop: score, search, step, for every example of a pass. All problems and all update rules use this one.

Typical sizes: 10^2..10^7 examples, 4 atoms (ranks) to 10^5 (transitions of a sentence). Besides what the components cost,
an example takes about 10 ns. Nothing is allocated per example; the GIL is released when every component is compiled.
"""
import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t
from libc.string cimport memcpy
from structperc.core.adapters import bound, is_adapter
from structperc.core.argmax cimport Argmax
from structperc.core.features cimport Features
from structperc.core.losses cimport Loss
from structperc.core.outputs cimport Outputs
from structperc.core.structures cimport structure
from structperc.core.updates cimport Trial, Update
from structperc.core.weights cimport Weights
from structperc.core.errors import PluginError
from structperc.core.structures cimport Structures
from structperc.core.inner_products cimport SP_PREFETCH, sp_prefetch_rows
from structperc.core.rows cimport Example, Rows

cdef enum:
    CHUNK = 8192            # examples, and
    CHUNK_ATOMS = 1 << 18   # atoms, between two looks for Ctrl-C
    AHEAD = 16              # examples whose rows are asked for early when the order is shuffled
    FAILED = -1
    NOT_FINITE = -2
    TOO_MANY = -3


class NotFinite(Exception):
    """Scores that are not finite: `index` is the example."""

    def __init__(self, index):
        self.index = index


cdef class PassResult:
    """What happened in one pass over a data set.

    Attributes
    ----------
    visited, mistakes, updates : int
        Examples seen, predicted wrongly before their step, and stepped on.
    loss : float
        Sum of the losses of the predictions.
    """

    cdef public Py_ssize_t visited, mistakes, updates
    cdef public double loss


cdef inline int scored(Weights weights, Example x, double *s) noexcept nogil:
    """Atom scores of one example; NOT_FINITE when one of them is."""
    cdef Py_ssize_t a, n = x.n_atoms
    cdef double total = 0, second = 0, third = 0, fourth = 0        # four sums at a time: hundreds of atoms are common
    if weights.scores_c(x, s) < 0:
        return FAILED
    for a in range(0, n - 3, 4):
        total += s[a]
        second += s[a + 1]
        third += s[a + 2]
        fourth += s[a + 3]
    for a in range(n - n % 4, n):
        total += s[a]
    total += (second + third) + fourth
    return NOT_FINITE if total - total != 0 else 0


cdef class Loop:
    """Drives one set of components over data sets.

    Parameters
    ----------
    parts : object with the attributes weights, outputs, features, argmax, loss and update
        Components after `start`.
    loss_weight : float
        Weight of the loss in the search for the structure to learn from; 0: the prediction itself.
    """

    cdef Weights weights, store         # as the loop calls it, and the one that counts
    cdef Features features
    cdef Outputs outputs
    cdef Argmax argmax
    cdef Loss loss
    cdef Update update
    cdef Trial trial
    cdef Example x, next_x, far_x
    cdef double loss_weight
    cdef bint compiled
    cdef readonly bint ready            # whether room was made for the atoms of some data set
    cdef Py_ssize_t room
    cdef double[::1] scores, augmented
    cdef int[::1] predicted, searched, completed
    cdef object parts

    def __init__(self, parts, double loss_weight=0.0):
        self.parts = parts
        self.features = bound(parts.features)
        self.outputs = bound(parts.outputs)
        self.argmax = bound(parts.argmax)
        if is_adapter(self.argmax):
            self.argmax.outputs = parts.outputs
        self.loss = bound(parts.loss)
        self.update = bound(parts.update)
        self.weights, self.store = bound(parts.weights), parts.weights
        self.compiled = not any(map(is_adapter, self.components()))
        self.loss_weight = loss_weight
        self.trial = Trial()
        self.x, self.next_x, self.far_x = Example(), Example(), Example()
        self.room = -1
        self.reserve(0)

    def components(self):
        return (self.features, self.outputs, self.argmax, self.loss, self.update, self.weights, self.store.features)

    def reserve(self, Py_ssize_t n_atoms):
        """Makes room for examples of up to n_atoms atoms."""
        cdef Py_ssize_t room = max(n_atoms, self.features.room, 1), capacity
        self.ready = self.ready or n_atoms > 0
        if room <= self.room:
            return
        self.room = room
        self.scores, self.augmented = np.zeros(room), np.zeros(room)
        self.x.provide(self.parts.argmax.workspace_size(room))
        capacity = max(self.parts.outputs.max_code_length(room), 1)
        self.predicted, self.searched, self.completed = (np.zeros(capacity, dtype=np.intc) for _ in range(3))
        self.trial.bind(self.x, self.weights, self.outputs, room)

    def run(self, Rows rows, Structures gold, order=None, sample_weight=None, online=None):
        """One pass.

        Parameters
        ----------
        rows : Rows
        gold : Structures
        order : int64 array, optional
            The examples to visit; file order without it.
        sample_weight : float64 array of shape (n_examples,), optional
        online : list, optional
            Receives the prediction made before each step, an int array for label outputs.

        Returns
        -------
        PassResult

        Raises
        ------
        NotFinite
            A score is NaN or infinite; earlier examples have been learned from.
        KeyboardInterrupt
            The pass stopped between two examples; its `PassResult` is the exception's `progress`.
        """
        cdef const int64_t[::1] visits
        cdef const double[::1] weight
        cdef const int[::1] codes = gold.held
        cdef const int64_t[::1] starts
        cdef int[::1] record
        cdef Py_ssize_t n = rows.n_examples, start, stop
        cdef const int64_t *visit_at = NULL
        cdef const double *weight_at = NULL
        cdef const int64_t *starts_at = NULL
        cdef const int *codes_at = &codes[0] if codes.shape[0] else NULL
        cdef int *record_at = NULL
        cdef PassResult passed = PassResult()
        if order is not None:
            visits = order
            n = visits.shape[0]
            visit_at = &visits[0] if n else NULL
        if sample_weight is not None:
            weight = sample_weight
            weight_at = &weight[0] if weight.shape[0] else NULL
        if gold.offsets is not None:
            starts = gold.offsets
            starts_at = &starts[0]
        ragged = None
        if online is not None:
            if self.outputs.width == 1:
                record = np.zeros(n, dtype=np.intc)
                record_at = &record[0] if n else NULL
            else:
                ragged = online
        self.look_at(rows)
        self.weights.n_visited = self.store.n_visited
        self.ahead = start = 0
        try:
            while start < n:
                stop = min(start + (CHUNK if ragged is None else 1), n)
                if self.compiled:
                    with nogil:
                        stop = self.visit(rows, codes_at, starts_at, visit_at, weight_at, record_at, start, stop, n, passed,
                                          self.x, self.trial, self.weights)
                else:
                    stop = self.visit(rows, codes_at, starts_at, visit_at, weight_at, record_at, start, stop, n, passed,
                                      self.x, self.trial, self.weights)
                if stop < 0:
                    self.fail(<int> stop, self.x)
                if ragged is not None:
                    ragged.append(structure(&self.predicted[0], self.n_predicted, self.outputs.width))
                start = stop
                PyErr_CheckSignals()
        except BaseException as error:
            error.progress = passed
            raise
        finally:
            self.look_at(None)                  # the data may go when their owner lets them go
            if record_at != NULL:
                online.append(np.asarray(record)[:passed.visited])
        return passed

    cdef Py_ssize_t n_predicted, ahead

    cdef void look_at(self, Rows rows):
        self.x.look_at(rows)
        self.next_x.look_at(rows)
        self.far_x.look_at(rows)

    def fail(self, int status, Example x, Weights store=None):
        """Raises what stopped a pass."""
        scoring = () if store is None else (store, store.features)
        errors = [part for part in (*self.components(), *scoring) if part.error is not None]
        raised = [part.error for part in errors]
        for part in errors:
            part.error = None
        if raised:
            raise raised[0]
        if status == NOT_FINITE:
            raise NotFinite(x.index)
        if status == TOO_MANY:
            raise PluginError(f"{type(self.parts.features).__name__} says now that example {x.index} has more atoms than before training.")
        raise PluginError(f"a component failed on example {x.index} without saying why.")

    cdef Py_ssize_t visit(self, Rows rows, const int *codes, const int64_t *starts, const int64_t *order, const double *sample_weight,
                          int *record, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t n, PassResult passed, Example x, Trial trial,
                          Weights weights) noexcept nogil:
        """Examples start..stop of the order, or fewer: where it stopped. Between two examples the weights are those of a finished step."""
        cdef double *s = &self.scores[0]
        cdef int *y_hat = &self.predicted[0]
        cdef int *y
        cdef const int *gold
        cdef const int *target
        cdef Py_ssize_t t, i, far, n_gold, n_target, n_hat, n_y, seen = 0, n_atoms = self.features.atoms_per_example
        cdef bint ragged_atoms = n_atoms < 0, prefetches = self.features.prefetches
        cdef double loss
        cdef int status, same, made
        x.n_atoms = n_atoms
        for t in range(start, stop):
            i = t if order == NULL else order[t]
            rows.load(i, x)
            if t == self.ahead:
                self.ahead = weights.look_ahead_c(rows, order, t, n)
                if self.ahead < 0:
                    return FAILED
            if order != NULL and t + AHEAD < n:
                far = order[t + AHEAD]
                rows.load(far, self.far_x)
                sp_prefetch_rows(&self.far_x.block)
                if starts == NULL:
                    SP_PREFETCH(codes + far)
            if prefetches and t + 1 < n:
                rows.load(t + 1 if order == NULL else order[t + 1], self.next_x)
                weights.prefetch_c(self.next_x)
            if ragged_atoms:
                n_atoms = self.features.n_atoms_c(x)
                if n_atoms < 0:
                    return FAILED
                if n_atoms > self.room:
                    return TOO_MANY
                x.n_atoms = n_atoms

            # s[a] = w . phi(x, a)
            status = scored(weights, x, s)
            if status < 0:
                return status

            # y_hat = argmax over Y(x)
            n_hat = self.argmax.argmax_c(x, s, y_hat)
            if n_hat < 0:
                return FAILED
            if record != NULL:
                record[t] = y_hat[0]
            self.n_predicted = n_hat
            gold, n_gold = codes + (i if starts == NULL else starts[i]), (1 if starts == NULL else starts[i + 1] - starts[i])
            same = self.outputs.agrees_c(x, gold, n_gold, y_hat, n_hat)
            if same < 0:
                return FAILED
            loss = 0
            if not same:
                loss = self.loss.value_c(x, gold, n_gold, y_hat, n_hat)
                if loss < 0:
                    return FAILED
                passed.mistakes += 1
                passed.loss += loss
            y, n_y = y_hat, n_hat
            if self.loss_weight != 0:
                # y = argmax of score + loss_weight * loss
                memcpy(&self.augmented[0], s, n_atoms * sizeof(double))
                if self.loss.augment_c(x, gold, n_gold, self.loss_weight, &self.augmented[0]) < 0:
                    return FAILED
                y = &self.searched[0]
                n_y = self.argmax.argmax_c(x, &self.augmented[0], y)
                if n_y < 0:
                    return FAILED
                same = self.outputs.agrees_c(x, gold, n_gold, y, n_y)
                if same < 0:
                    return FAILED
                if not same:
                    loss = self.loss.value_c(x, gold, n_gold, y, n_y)
                    if loss < 0:
                        return FAILED

            if not same or self.update.every_trial:
                target, n_target = gold, n_gold
                if self.outputs.partial_gold:
                    n_target = self.outputs.complete_c(x, gold, n_gold, s, &self.completed[0])
                    if n_target < 0:
                        return FAILED
                    target = &self.completed[0]
                # w += sum_a c[a] phi(x, a)
                trial.s, trial.gold_code, trial.n_gold, trial.y_code, trial.n_y = s, target, n_target, y, n_y
                trial.given_code, trial.n_given = gold, n_gold
                trial.n_atoms, trial.loss = n_atoms, loss
                trial.weight = 1 if sample_weight == NULL else sample_weight[i]
                made = self.update.step_c(trial)
                if made < 0:
                    return FAILED
                if made:
                    if weights.update_c(x, trial.c) < 0:
                        return FAILED
                    passed.updates += 1
            weights.visited_c()
            passed.visited += 1
            seen += n_atoms
            if seen > CHUNK_ATOMS:
                return t + 1
        return stop

    def predict(self, Rows rows, batch=None, store=None):
        """Structures of all examples: an int32 array for label outputs, else a `Structures`.

        Parameters
        ----------
        batch : float64 array (n_examples, n_atoms) or pair of arrays, optional
            Atom scores computed beforehand; a pair: all scores, flat, and where each example's begin.
        store : Weights, optional
            Scores examples one by one, instead of the store that is being trained.
        """
        cdef Weights weights = self.weights if store is None else bound(store)
        cdef Example x = Example()              # nothing is shared with a training pass in another thread
        cdef Py_ssize_t n = rows.n_examples, most = self.parts.features.max_atoms(rows), at = 0, before, start = 0, stop = 0
        cdef Py_ssize_t capacity = max(self.parts.outputs.max_code_length(most), 1)
        cdef double[::1] own = np.zeros(max(most, self.features.room, 1))
        cdef const double[:, ::1] scores
        cdef const double[::1] flat
        cdef const int64_t[::1] begins
        cdef const int64_t *begins_at = NULL
        cdef int[::1] found = np.zeros(n if self.outputs.width == 1 else capacity, dtype=np.intc)
        cdef int64_t[::1] ends = np.zeros(1 if self.outputs.width == 1 else n + 1, dtype=np.int64)
        cdef const double *batch_at = NULL
        cdef Py_ssize_t pitch = 0
        cdef bint compiled = not (is_adapter(self.features) or is_adapter(self.argmax) or is_adapter(weights)
                                  or is_adapter(weights.features))
        if isinstance(batch, tuple):
            flat, begins = batch
            batch_at, begins_at = &flat[0], &begins[0]
        elif batch is not None:
            scores = batch
            batch_at, pitch = &scores[0, 0], scores.shape[1]
        x.look_at(rows)
        x.provide(self.parts.argmax.workspace_size(max(most, 1)))
        while start < n:
            if self.outputs.width != 1 and found.shape[0] < at + capacity:
                found = np.resize(found, 2 * (at + capacity))
            before = at
            if compiled:
                with nogil:
                    stop = self.answer(rows, x, weights, batch_at, begins_at, pitch, &own[0], own.shape[0], found, ends, start, n, capacity,
                                       &at)
            if not compiled or stop == FAILED:      # parts keep the error, and other threads use them too: once more with the GIL
                at = before
                stop = self.answer(rows, x, weights, batch_at, begins_at, pitch, &own[0], own.shape[0], found, ends, start, n, capacity,
                                   &at)
            if stop < 0:
                self.fail(<int> stop, x, weights)
            start = stop
            PyErr_CheckSignals()
        if self.outputs.width == 1:
            return np.asarray(found)
        return Structures(np.asarray(found)[:at], np.asarray(ends))

    cdef Py_ssize_t answer(self, Rows rows, Example x, Weights weights, const double *batch, const int64_t *begins, Py_ssize_t pitch,
                           double *own, Py_ssize_t most, int[::1] found, int64_t[::1] ends, Py_ssize_t start, Py_ssize_t n,
                           Py_ssize_t capacity, Py_ssize_t *at) noexcept nogil:
        """Answers examples from `start` on; where it stopped: at n, at a look for Ctrl-C or where `found` has no room left."""
        cdef Py_ssize_t i, m, seen = 0, fixed = self.features.atoms_per_example
        cdef bint single = self.outputs.width == 1
        cdef const double *s = own
        cdef int status
        for i in range(start, min(start + CHUNK, n)):
            if not single and at[0] + capacity > found.shape[0]:
                return i
            rows.load(i, x)
            x.n_atoms = fixed if fixed >= 0 else self.features.n_atoms_c(x)
            if x.n_atoms < 0 or x.n_atoms > most:
                return FAILED if x.n_atoms < 0 else TOO_MANY
            if batch == NULL:
                status = scored(weights, x, own)
                if status < 0:
                    return status
            else:
                s = batch + (i * pitch if begins == NULL else begins[i])
            m = self.argmax.argmax_c(x, s, &found[i if single else at[0]])
            if m < 0:
                return FAILED
            if not single:
                at[0] += m
                ends[i + 1] = at[0]
            seen += x.n_atoms
            if seen > CHUNK_ATOMS:
                return i + 1
        return min(start + CHUNK, n)
