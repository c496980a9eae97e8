"""The online loop: score, search, step, for every example of a pass. All problems and all update rules use this one.

Typical sizes: 10^2..10^7 examples, 4 atoms (ranks) to 10^5 (transitions of a sentence). Besides what the components cost,
an example takes about 10 ns. Nothing is allocated per example; the GIL is released when every component is compiled.
"""
import numbers

import numpy as np

from libc.stdint cimport int64_t
from libc.string cimport memcpy
import structperc.core.adapters              # enters the adapters that `adapted` chooses from  # no-cython-lint
from structperc.basics.errors import PluginError, StructPercError, add_note, shortened
from structperc.basics.signals cimport check_signals
from structperc.basics.signals import raise_interruption
from structperc.core.argmax cimport Argmax
from structperc.core.averaging cimport count_visit
from structperc.core.component import adapted, expected, is_adapter, outdated, take_error, unstarted, unwrapped
from structperc.core.features cimport PADDING, Features
from structperc.core.inner_products cimport SP_PREFETCH, sp_finite, sp_is_dense, sp_prefetch_rows
from structperc.core.losses import refuse_unstarted
from structperc.core.outputs cimport LabelOutputs
from structperc.core.rows cimport Example, Rows
from structperc.core.structures cimport Structures, structure
from structperc.core.updates cimport Encoded, Trial
from structperc.core.updates import searches_of
from structperc.core.weights cimport Weights

cdef enum:
    CHUNK = 8192            # examples, and
    CHUNK_ATOMS = 1 << 18   # atoms, between two looks for Ctrl-C,
    SLOW_CHUNK = 64         # or examples of parts in Python
    TOGETHER = 512          # scores that a prediction computes at once,
    TOGETHER_BYTES = 1 << 16    # of so many bytes of rows
    SEARCHED = 16           # whose best labels are searched at once,
    AHEAD = 16              # examples whose rows are asked for early when the order is shuffled

cdef enum Stage:            # why a pass stopped: the call that failed, or what was found
    NOT_FINITE = -1
    TOO_MANY = -2
    ATOMS = -3
    LOOKING_AHEAD = -4
    SCORING = -5
    SEARCHING = -6
    COMPARING = -7
    LOSING = -8
    AUGMENTING = -9
    COMPLETING = -10
    RULING = -11
    STEPPING = -12
    BATCHING = -13
    UNLIKE_LABELS = -14

CALLS = {       # part and method
    ATOMS: ("features", "n_atoms"), LOOKING_AHEAD: ("weights", "look_ahead"), SCORING: ("weights", "scores"),
    SEARCHING: ("argmax", "argmax"), COMPARING: ("outputs", "agrees"), LOSING: ("loss", "value"),
    AUGMENTING: ("argmax", "argmax_augmented"),
    COMPLETING: ("outputs", "complete"), RULING: ("update", "step"), STEPPING: ("weights", "update"),
}
SEARCHES = {"none": (False, False), "plain": (True, False), "augmented": (False, True), "both": (True, True), "margin": (True, True)}
MOMENTS = ("wrong", "always")


class NotFinite(Exception):
    """Scores that are not finite: `index` is the example, `said` whose scores they are, where the code of an author returned them."""

    def __init__(self, index, said=None):
        self.index, self.said = index, said


cdef class PassResult:
    """What happened in one pass over a data set."""
    # visited, mistakes, updates: int. Examples seen, predicted wrongly before their step, and stepped on.
    # loss: float. Sum of the losses of the predictions, or the values that a rule wrote to `trial.loss`.
    # If the rule asks only for the augmented search, its structure counts as the prediction. A pass
    # without search counts neither mistakes nor losses.


cdef class Workspace:
    """Scratch buffers for one prediction."""

    def __cinit__(self):
        self.x = Example()

    cdef int provide(self, Py_ssize_t n_scores) except -1:
        """Makes sure that there is room for so many scores."""
        if self.buffer is None or self.buffer.shape[0] < n_scores + PADDING:
            self.buffer = np.empty(n_scores + PADDING)
            self.scores = &self.buffer[0]
        return 0


cdef LabelOutputs LABELS = LabelOutputs()       # whose methods a derived class replaces
cdef Weights COUNTED = Weights()


include "loop.visiting.pxi"
include "loop.predicting.pxi"


cdef Py_ssize_t counted(n, part, method) except -1:
    """A whole number that a method returned, at least 0."""
    if not isinstance(n, (int, numbers.Integral)) or n < 0:
        raise PluginError(f"{type(part).__name__}.{method} returned {shortened(n)}; expected a whole number, at least 0.")
    return n


cdef class Loop:
    """Drives one set of components over data sets."""
    # parts: object with the attributes weights, outputs, features, argmax, loss and update. Components after `start`.
    # loss_weight: float, default 0.0. The engine's option, for `Update.searches`.

    def __init__(self, parts, loss_weight=0.0):
        self.parts = parts
        self.features = adapted(parts.features)
        self.outputs = adapted(parts.outputs)
        self.argmax = adapted(parts.argmax)
        refuse_unstarted(parts.loss)
        self.loss = adapted(parts.loss)
        self.weights, self.store = adapted(parts.weights), parts.weights
        if outdated(parts.weights, "averaged", "scores") and not isinstance(parts.weights.averaged(), type(parts.weights)):
            raise PluginError(f"{type(parts.weights).__name__} replaces scores, but predictions come from what averaged() returns, a "
                              f"{type(parts.weights.averaged()).__name__}; replace averaged too.")
        self.most_atoms, self.label_atoms = -1, -1
        if isinstance(parts.outputs, LabelOutputs) and parts.outputs.n_atoms is not None and self.features.fixed_atoms < 0:
            self.label_atoms = parts.outputs.n_atoms
        self.by_label = <void *> self.outputs.agrees_c == <void *> LABELS.agrees_c      # no call where no class replaces it
        self.counts = <void *> self.weights.visited_c == <void *> COUNTED.visited_c
        self.use(parts.update, loss_weight)
        self.trial = Trial()
        self.x, self.next_x, self.far_x = Example(), Example(), Example()
        self.reserve(0)

    def components(self):
        return (self.features, self.outputs, self.argmax, self.loss, self.update, self.weights, self.store.features)

    def use(self, update, loss_weight):
        """Sets the rule of the next passes; `loss_weight` is the engine's option."""
        search, self.loss_weight = searches_of(update, loss_weight)
        if search not in SEARCHES or update.when not in MOMENTS or search == "none" and update.when != "always":
            raise PluginError(f"{type(update).__name__} has when={update.when!r} and the search {search!r}. Expected when='wrong' or "
                              f"'always', and the search 'plain', 'augmented', 'both' or 'margin'. With when='always' it may be 'none'.")
        self.rule, self.update, self.acts_always = (update, loss_weight), adapted(update), update.when == "always"
        self.needs_marginals = "marginals" in update.needs
        self.predicts, self.augments = SEARCHES["plain" if search == "both" and self.loss_weight == 0 else search]
        self.predicts_first = self.predicts and search != "margin"
        self.compiled = not any(map(is_adapter, self.components()))
        if self.most_atoms >= 0:
            self.provide(self.most_atoms)

    cdef Py_ssize_t workspace(self, Py_ssize_t n_atoms) except -1:
        """How much memory the solver needs for a search."""
        return (<Argmax> self.parts.argmax).workspace_size_c(n_atoms, False)

    cdef int provide(self, Py_ssize_t n_atoms) except -1:
        """Gives the solver the memory that it works in."""
        self.x.provide((<Argmax> self.parts.argmax).workspace_size_c(n_atoms, self.needs_marginals))
        return 0

    def capacity(self, n_atoms):
        """Integers that a structure over so many atoms may take."""
        return max(counted(self.parts.outputs.max_code_length(n_atoms), self.parts.outputs, "max_code_length"), 1)

    def reserve(self, n_atoms):
        """Makes room for examples of up to n_atoms atoms."""
        cdef Py_ssize_t most, capacity
        most = max(counted(n_atoms, self.parts.features, "max_atoms"), 1)
        if n_atoms and n_atoms != self.label_atoms >= 0:
            raise self.unlike_labels(f"{n_atoms} atoms")
        self.ready = self.ready or n_atoms > 0
        if most <= self.most_atoms:
            return
        self.scores, self.augmented = np.zeros(most + PADDING), np.zeros(most + PADDING)
        self.provide(most)
        capacity = self.capacity(most)
        self.predicted, self.searched, self.completed = (np.zeros(capacity, dtype=np.intc) for _ in range(3))
        self.trial.bind(self.x, self.weights, self.outputs, self.argmax, self.loss, most, capacity)
        self.most_atoms = most           # last: what was interrupted begins again

    def unlike_labels(self, atoms):
        """The error of an example with other atoms than labels have; compiled code would count labels behind its memory."""
        outputs = self.parts.outputs
        return PluginError(f"{type(self.parts.features).__name__} has {atoms}, but {outputs.n_labels} labels of {type(outputs).__name__} "
                           f"need {self.label_atoms}.")

    def run_with(self, update, double loss_weight, *arguments):
        """One pass with another rule and its search; see `run`."""
        before = self.rule
        self.use(update, loss_weight)
        try:
            self.run(*arguments)
        finally:
            self.use(*before)

    cpdef run(self, PassResult passed, Rows rows, Structures gold, order=None, sample_weight=None, list online=None):
        """One pass over the examples of `order`, else in file order; `passed` counts on, `online` receives predictions before steps."""
        # `NotFinite` for a score that is no number, after earlier examples. KeyboardInterrupt comes between two examples.
        cdef const int64_t[::1] visits
        cdef const double[::1] weight
        cdef const int64_t[::1] starts
        cdef int[::1] record
        cdef Data data
        cdef Py_ssize_t start, stop, before = passed.visited
        rows = rows.in_row_order()
        data.codes, data.starts, data.order, data.sample_weight, data.record = gold.at, NULL, NULL, NULL, NULL
        data.n = rows.n_examples
        if order is not None:
            visits = order
            data.n = visits.shape[0]
            data.order = &visits[0] if data.n else NULL
        if sample_weight is not None:
            weight = sample_weight
            data.sample_weight = &weight[0] if weight.shape[0] else NULL
        if gold.offsets is not None:
            starts = gold.offsets
            data.starts = &starts[0]
        ragged = None
        if online is not None:
            if self.outputs.code_width == 1:
                record = np.zeros(data.n, dtype=np.intc)
                data.record = &record[0] if data.n else NULL
            else:
                ragged = online
        self.keeps = online is not None
        self.bind(rows)
        self.weights.averaging.n_visited = self.store.averaging.n_visited
        self.ahead = start = 0
        try:
            while start < data.n:
                stop = min(start + (1 if ragged is not None else CHUNK if self.compiled else SLOW_CHUNK), data.n)
                if self.compiled:
                    with nogil:
                        stop = self.visit(&data, passed, start, stop)
                else:
                    stop = self.visit(&data, passed, start, stop)
                if stop < 0:
                    self.fail(<int> stop, self.x)
                if ragged is not None:
                    ragged.append(structure(&self.predicted[0], self.n_predicted, self.outputs.code_width))
                start = stop
                check_signals()
        finally:
            self.bind(None)                  # the data may go when their owner lets them go
            self.trial.s = NULL
            if data.record != NULL:
                online.append(np.asarray(record)[:passed.visited - before])

    def n_atoms(self, x):
        """How many atoms x has."""
        n_atoms = self.features.n_atoms(x)
        if n_atoms != self.label_atoms >= 0:
            raise self.unlike_labels(f"{n_atoms} atoms in example {x.index}")
        return n_atoms

    def last_step(self, Rows rows, Py_ssize_t i):
        """The coefficients of the last step, which example i took, an array over its atoms."""
        cdef Example x = rows.example(i)
        return np.array(self.trial.coefficient_buffer[:self.parts.features.n_atoms(x)])

    cdef void bind(self, Rows rows):
        self.rows = rows
        self.x.look_at(rows)
        self.next_x.look_at(rows)
        self.far_x.look_at(rows)

    def fail(self, int status, Example x, Weights store=None):
        """Raises what stopped a pass. Errors from outside this library get a note on the part and the example."""
        scoring = () if store is None else (store, store.features)
        error = take_error(*self.components(), *scoring)
        if error is not None:
            if isinstance(error, Exception) and not isinstance(error, StructPercError) and not getattr(error, "__notes__", ()):
                add_note(error, f"in {self.culprit(status)}, example {x.index}")
            raise error
        if status == NOT_FINITE:
            raise NotFinite(x.index, x.doubted())
        if status == BATCHING:
            raise PluginError(f"{type(self.store).__name__}.batch_scores returned another number of scores than example {x.index} has "
                              f"atoms, {x.n_atoms}.")
        if status == UNLIKE_LABELS or status == TOO_MANY and self.label_atoms >= 0:
            raise self.unlike_labels(f"another number of atoms in example {x.index}")
        if status == TOO_MANY:
            raise PluginError(f"{type(self.parts.features).__name__} returned more atoms for example {x.index} than before training.")
        raise PluginError(f"{self.culprit(status)} failed on example {x.index} without a reason. A method in Cython stores an exception "
                          f"in `error` before it returns -1.")

    def culprit(self, int status):
        """The method that stopped a pass."""
        kind, method = CALLS[status]
        called = self.update if kind == "update" else getattr(self.parts, kind)
        return f"{type(unwrapped(called)).__name__}.{method}"

    cdef Py_ssize_t visit(self, const Data *data, PassResult passed, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
        """Visits the examples start..stop of the order, or fewer, with whole steps. Returns where it stopped, or why."""
        cdef Visit v
        cdef Py_ssize_t t, seen = 0
        cdef int status
        self.x.n_atoms = self.features.fixed_atoms
        v.same, v.loss, v.y.at, v.y.n = 1, 0, NULL, 0
        for t in range(start, stop):
            status = read_example(self, data, t, &v)                        # x and its gold output
            if status == 0:
                status = scored(self.weights, self.x, &self.scores[0])      # s[a] = w . phi(x, a)
            if status == 0:
                status = search(self, data, t, &v)                          # y = argmax over Y(x) of score (+ loss_weight * loss)
            if status == 0 and (self.acts_always or not v.same):
                status = coefficients(self, data, &v)                       # c = rule(x, gold, y, s)
                if status > 0:
                    status = add(self, passed)                              # w += sum_a c[a] phi(x, a)
            if status < 0:
                return status
            count(self, passed, &v)
            if status > 0:                      # the step was made, and then something failed
                return STEPPING
            seen += self.x.n_atoms
            if seen > CHUNK_ATOMS:
                return t + 1
        return stop

    cpdef predict(self, Rows rows, batch=None, store=None):
        """Structures of all examples, an int32 array for label outputs, else a `Structures`; `store` scores them if there is one."""
        # `batch` has atom scores computed beforehand, (n_examples, n_atoms), or a pair: all scores, flat, and where each example's begin.
        return self.predicted_codes(rows, batch, store, NULL)

    cdef predicted_codes(self, Rows rows, batch, store, int *labels):
        """`predict`; with `labels` it writes label outputs there, and returns None."""
        cdef bint compiled, single = self.outputs.code_width == 1
        cdef Weights weights = self.answering(self.store if store is None else store, &compiled)
        cdef Workspace scratch = self.idle_workspace()
        cdef Answering to
        cdef Py_ssize_t n = rows.n_examples, before, start = 0, stop = 0
        cdef Py_ssize_t most = self.features.fixed_atoms if batch is None else self.parts.features.max_atoms(rows)
        cdef const double[:, ::1] scores
        cdef const double[::1] flat
        cdef const int64_t[::1] begins
        cdef int[::1] written
        cdef int64_t[::1] ends
        rows = rows.in_row_order()
        codes, to.most = None, max(most, 0)
        to.n, to.at, to.capacity, to.length = n, 0, 1 if single else self.capacity(to.most), n
        to.together = at_once(self.features, rows) if batch is None else 1
        to.batch, to.begins, to.pitch, to.codes, to.ends = NULL, NULL, 0, labels, NULL
        if labels == NULL:
            to.length = max(n if single else to.capacity, 1)
            written = codes = np.empty(to.length, dtype=np.intc)
            to.codes = &written[0]
        if not single:
            ends = np.zeros(n + 1, dtype=np.int64)
            to.ends = &ends[0]
        if isinstance(batch, tuple):
            flat, begins = batch
            to.batch, to.begins = &flat[0], &begins[0]
        elif batch is not None:
            scores = batch
            to.batch, to.pitch = &scores[0, 0], scores.shape[1]
        scratch.provide(to.together * to.most)
        scratch.x.look_at(rows)
        scratch.x.provide(self.workspace(max(to.most, 1)))
        while start < n:
            if not single and to.length < to.at + to.capacity:
                to.length = 2 * (to.at + to.capacity)
                written = codes = np.resize(codes, to.length)
                to.codes = &written[0]
            before, to.own = to.at, scratch.scores
            if compiled:
                with nogil:
                    stop = answer(self, rows, scratch.x, weights, &to, start)
            if not compiled or stop < 0 and stop != TOO_MANY:      # parts keep the error, shared with other threads: once more with the GIL
                raise_interruption()
                to.at = before
                stop = answer(self, rows, scratch.x, weights, &to, start)
            if stop == TOO_MANY:                    # more than any example before
                to.most, stop = max(scratch.x.n_atoms, 2 * to.most), scratch.x.index
                scratch.provide(to.most)
                to.capacity = self.capacity(to.most)
                scratch.x.provide(self.workspace(to.most))
            if stop < 0:
                self.fail(<int> stop, scratch.x, weights)
            start = stop
            check_signals()
        scratch.x.look_at(None)
        self.spare = scratch
        if labels != NULL:
            return None
        return codes[:n] if single else Structures(codes[:to.at], np.asarray(ends))

    cdef Workspace idle_workspace(self):
        """Returns buffers that no other thread uses: predictions run in parallel, and during training."""
        cdef Workspace scratch = self.spare
        self.spare = None               # before any line of Python, so that no other thread finds it
        return Workspace() if scratch is None else scratch

    cdef Weights answering(self, store, bint *compiled):
        """Weights as predictions call them, and whether they need no Python. The last result is cached, for one-row calls."""
        cdef Weights weights
        cached = self.answers
        if cached is None or cached[0] is not store:
            expected(store, Weights, self.store, "averaged", "a weight store")
            weights = adapted(store)
            if weights.features is None:
                raise unstarted(store, "the feature map")
            cached = (store, weights, not (is_adapter(self.features) or is_adapter(self.argmax) or is_adapter(weights)
                                           or is_adapter(weights.features)))
            self.answers = cached
        compiled[0] = cached[2]
        return cached[1]

    def scores_of(self, Rows rows, store):
        """The atom scores of all examples, (n_examples, n_atoms), of maps with as many atoms in each."""
        cdef bint compiled
        cdef Weights weights = self.answering(store, &compiled)
        cdef Example x = Example()
        cdef Py_ssize_t n = rows.n_examples, width = self.features.fixed_atoms, start = 0, stop, status = 0, i
        cdef double[::1] scores = np.empty(n * width + PADDING)
        rows = rows.in_row_order()
        x.look_at(rows)
        while start < n:
            stop = min(start + CHUNK, n)
            if not compiled:
                status = weights.batch_scores_c(x, start, stop - start, &scores[start * width])
            else:
                with nogil:
                    status = weights.batch_scores_c(x, start, stop - start, &scores[start * width])
            if status < 0:
                self.fail(SCORING, x, weights)
            for i in range(start, stop):
                if not sp_finite(&scores[i * width], width):
                    raise NotFinite(i)
            start = stop
            check_signals()
        return np.asarray(scores)[:n * width].reshape(n, width)
