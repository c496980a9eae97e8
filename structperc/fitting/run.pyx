# distutils: extra_compile_args = CALLS
# cython: boundscheck=True, wraparound=True
"""One training run: the data of a fit or of a chunk, the passes over them and their record.

Compiled, so that Ctrl-C cannot fall between a pass and its record.
"""
import time
from typing import NamedTuple

import numpy as np

from cpython.pyport cimport PY_SSIZE_T_MAX
from libc.stdint cimport int64_t, uint64_t
from structperc.basics.errors import PluginError, shortened
from structperc.basics.exact_sums import rounded
from structperc.basics.labels import plain
from structperc.basics.plain_arrays import shuffled
from structperc.basics.signals import retry_on_interrupt
from structperc.basics.signatures import ClassSignature
from structperc.core.component import state_of
from structperc.core.loop cimport Loop, PassResult
from structperc.core.loop import NotFinite
from structperc.core.outputs cimport Outputs
from structperc.core.rows cimport Rows
from structperc.core.structures cimport Structures
from structperc.fitting.assembly import clone_model
from structperc.fitting.context import SHARDS_ELSEWHERE
from structperc.fitting.locks cimport ReadWriteLock
from structperc.fitting.model cimport Model, Parts
from structperc.fitting.not_finite import not_finite
from structperc.fitting.shards import LocalShards, Shard, ShardPart, counted, in_memory, shares_of
from structperc.fitting.trainers import EpochRecord
from structperc.fitting.weighing import drawn, expected_visits, visited


class Visit(NamedTuple):
    """One visited example, as `history=True` keeps it.

    Attributes
    ----------
    visit : int
        Its number over all epochs and calls, from 1.
    example : int
        The number of the example in its call.
    gold : output
        As `predict` shows outputs; where gold outputs may be partial, as they are encoded.
    said : output
        The prediction before the step.
    step : ndarray of shape (n_atoms,) or None
        The coefficient of each atom's features in w += sum_a step[a] phi(x, a); None: no step.
    """

    visit: int
    example: int
    gold: object
    said: object
    step: object


cdef class Progress:
    """Where the passes of a run begin and pause: at the beginning, and never. `structperc.engine.checkpoints.of_runs` overrides it."""
    # cut: object or None. The place in the epoch where a resumed run continues. None as soon as it does.

    cpdef double begin_epoch(self) except? -1:
        """The seconds that this epoch has taken before."""
        return 0.0

    cpdef finished_pass(self):
        """The next pass of this epoch that was over before the checkpoint. None: there are no more."""
        return None

    cpdef tuple begin_pass(self, PassResult passed, order, predictions):
        """The order and the predictions of a pass, and in `passed` its counts: those before the checkpoint, or of a new one."""
        return order, predictions

    cpdef Py_ssize_t next_stop(self, Py_ssize_t position) except -1:
        """The position in the pass at which `write` is due next. It may be behind the end."""
        return PY_SSIZE_T_MAX

    cpdef write(self, PassResult passed, predictions):
        """Called at each stop within a pass."""

    cpdef end_pass(self, PassResult passed, structures, examples):
        """Called after each pass, with its predictions if they are recorded."""

    cpdef add_predictions(self, structures, examples):
        """Called with recorded predictions that no pass of the run has made."""

    cpdef end_epoch(self, Py_ssize_t n_visited):
        """Called after the observers of an epoch."""

    cpdef end(self):
        """Called once the training is over."""


cdef Progress UNCUT = Progress()


cdef class TrainingRun:
    """The data of one fit, and the passes that a trainer makes over them.

    Parameters
    ----------
    model : Model
    context : FitContext
        That of the model, with the sample weights of these examples.
    rows : Rows
    y, costs
        As `fit` takes them.
    online : list, optional
        Receives the predictions made before each step.
    history : list, optional
        Receives a `Visit` for each example visited.
    before : Model, optional
        The result of the engine's last training.
    observers : function of an `EpochRecord`, optional
        Called at the end of each epoch. Without it the run is one chunk of a stream, whose mistakes are one entry of the record.
    engine : Engine, optional
        Whose plugins give shards parts of their own.

    Attributes
    ----------
    rows : Rows
        The examples as the weights see them.
    gold : Structures
    weights : float64 array or None
        Sample weights; None: all are 1.
    active : int64 array or None
        The examples with a weight, in file order; None: all.
    expected : float64 array or None
        With weighting="visits": how often examples are visited in an epoch, on average. None: each one with a weight is visited once, and
        steps have the weights.
    visit_totals : (int, float)
        With weighting="visits": how many examples the model will have been learned from, and the sum of their weights.
    epoch : int
        The number of the epoch under way, from 1; 0 before the first.
    stop_requested : bool
        Whether an observer asked to end after this epoch.
    best_epoch : int
        At whose end the kept weights were those of the model; 0: none are kept.
    resumed : bool
        Whether the run goes on from a checkpoint. Then all parts, the trainer too, are as they were there. `epoch` counts the complete
        epochs: what `begin_epoch`, `order` and `run` do next belongs to the epoch that was interrupted.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.components import Trainer
    >>> class Once(Trainer):
    ...     options_used = ("shuffle",)
    ...     def train(self, run):
    ...         run.begin_epoch()
    ...         run.end_epoch(run.run(run.order()))
    ...         return "done"
    >>> Engine("cusum", plugins=[Once()]).fit([[0.0], [1.0]], [1, 2]).status_
    'done'
    """

    __signature__ = ClassSignature()

    def __init__(self, Model model, context, Rows rows, y, costs=None, *, online=None, history=None, before=None, observers=None,
                 engine=None):
        self.begin(model, context, rows, y, costs, online, history, before, observers, engine)

    cdef int begin(self, Model model, context, Rows rows, y, costs, list online, list history, before, observers, engine) except -1:
        cdef Parts parts = model.parts
        self.model, self.context, self.before, self.observers = model, context, before, observers
        self.online, self.history, self.engine, self.costs, self.progress = online, history, engine, costs, UNCUT
        self.gold = parts.outputs.gold(y, rows, parts.features)
        self.visit_totals = model.visit_totals
        if context is not model.context:                # which knows no sample weights
            self.by_visits = context.visit_weight is not None
            example_weights = context.visit_weight if self.by_visits else context.sample_weight
            self.weighted = example_weights is not None
            if self.weighted:
                self.weights, self.active = visited(example_weights)
            if self.by_visits:
                n_before = parts.weights.n_visited
                totals = model.visit_totals if model.visit_totals[0] else (n_before, n_before)
                self.expected, self.visit_totals = expected_visits(example_weights, totals)
                elsewhere = SHARDS_ELSEWHERE.get()
                if elsewhere is not None:               # these are the examples of a part
                    self.visit_totals = elsewhere.visit_totals[0], rounded(elsewhere.visit_totals[1])
        if costs is not None or model.uses_costs:
            parts.loss.set_costs(costs, self.gold, rows.n_examples)
        self.rows = model.stored(rows)
        return 0

    @property
    def n_examples(self):
        return self.rows.n_examples

    @property
    def writes_checkpoints(self):
        """Whether the passes of this run pause for checkpoints."""
        return self.progress is not UNCUT

    @property
    def step_weights(self):
        """What examples weigh in their steps; None: all weigh 1."""
        return None if self.by_visits else self.weights

    cpdef order(self):
        """The examples in the order of the next epoch. Each call draws a new order. Returns an int64 array."""
        order = self.next_order()
        if order is None:
            if self.file_order is None:
                self.file_order = np.arange(self.n_examples, dtype=np.int64)
            return self.file_order
        return order

    cdef next_order(self):
        """The same; None: all in file order."""
        if self.progress.cut is not None:
            return self.progress.cut.order
        if self.expected is not None:
            return drawn(self.expected, self.context.random, self.context.shuffle)
        if not self.model.shuffles or self.n_examples == 1:
            return self.active
        return shuffled(self.n_examples if self.active is None else self.active, self.context.random)

    cdef bint draws(self):
        """Whether the next order, or a shard, draws from the generator of the fit."""
        return self.expected is not None or self.model.sharded or self.model.shuffles and self.n_examples > 1

    def begin_epoch(self) -> None:
        """Counts an epoch and starts its clock."""
        self.refuse_open("called begin_epoch")
        if self.under_way:
            raise PluginError(f"{type(self.model.parts.trainer).__name__}.train called begin_epoch twice; call end_epoch before.")
        self.epoch += 1
        self.under_way = True
        self.began = time.perf_counter() - self.progress.begin_epoch()

    @property
    def seconds(self):
        """How long the epoch under way has taken."""
        return time.perf_counter() - self.began

    def end_epoch(self, passed) -> None:
        """Calls all observers after the epoch of this pass.

        Parameters
        ----------
        passed : structperc.core.loop.PassResult
            What `run` returned.
        """
        if not isinstance(passed, PassResult):
            raise PluginError(f"{type(self.model.parts.trainer).__name__}.train called end_epoch with {shortened(passed)}; expected what "
                              f"run returned.")
        if not self.under_way:
            raise PluginError(f"{type(self.model.parts.trainer).__name__}.train called end_epoch outside of an epoch; "
                              "call begin_epoch before.")
        self.under_way = self.has_pass = False
        self.observers(EpochRecord(self.epoch, self.context.epochs, passed.visited, passed.mistakes, passed.updates, passed.loss,
                                   self.seconds))
        self.progress.end_epoch(passed.visited)

    def keep_weights(self) -> None:
        """The training ends with the weights of now, unless this is called again."""
        self.kept, self.best_epoch = kept_state(self.model.parts.weights), self.epoch

    def exchange(self) -> None:
        """The weights become those that are kept, and the other way round; without such nothing happens."""
        weights, lock = self.model.parts.weights, self.model.lock
        if self.kept is None:
            return
        now, state = kept_state(weights), dict(self.kept)
        lock.begin_write()
        try:
            weights.n_visited = int(state.pop("n_visited"))
            weights.restore(state)
        finally:
            lock.end_write()
        self.kept = now

    def own_pass(self, mistakes, updates, loss):
        """Enters into the record what a trainer that makes no passes of the loop counted; the result is for `end_epoch`.
        Returns `PassResult`.

        Parameters
        ----------
        mistakes, updates : int
            Examples predicted wrongly, and steps made.
        loss : float
            Sum of the losses of the predictions.
        """
        cdef PassResult passed = PassResult()
        passed.visited = self.n_examples if self.active is None else len(self.active)
        passed.mistakes, passed.updates, passed.loss = mistakes, updates, loss
        self.model.mistakes.append(passed.mistakes)
        self.model.loss += passed.loss
        self.has_pass = self.under_way
        return passed

    cpdef PassResult run(self, order=None, rule=None, double loss_weight=0.0):
        """One pass; its mistakes and losses are recorded, also when it is cut short. Returns `PassResult`.
        Raises `PluginError` for another order, and before `begin_epoch`.

        Parameters
        ----------
        order : array of whole numbers, optional
            The examples to visit; without it all in file order.
        rule : Update, optional
            Takes the place of the model's own rule in this pass. The pass makes the search that the rule asks for.
        loss_weight : float
            That of an augmented search for `rule`.
        """
        cdef PassResult passed = PassResult()
        cdef list interrupts = []
        cdef ReadWriteLock lock = self.model.lock
        predictions = None if self.online is None else []
        self.refuse_early("run")
        if order is self.file_order:
            order = None
        if order is not None:
            order = visits(order, self.n_examples)
        finished = self.progress.finished_pass()
        if finished is not None:
            return finished
        order, predictions = self.progress.begin_pass(passed, order, predictions)
        lock.begin_write()
        try:
            try:
                if self.history is not None:
                    self.visit_each(passed, order, rule, loss_weight, predictions)
                else:
                    self.visit_all(passed, order, rule, loss_weight, predictions)
            except KeyboardInterrupt as interrupt:
                interrupts.append(interrupt)
            structures, examples = self.record(passed, order, predictions, interrupts)
            self.progress.end_pass(passed, structures, examples)
        finally:
            lock.end_write()
        if interrupts:
            raise interrupts[0]
        return passed

    cdef int visit_each(self, PassResult passed, order, rule, double loss_weight, predictions) except -1:
        """A pass, one example after the other, with an entry of the history for each."""
        cdef Outputs outputs = self.model.parts.outputs
        model = self.model
        cdef Py_ssize_t n = self.n_examples if order is None else len(order), t, updates
        for t in range(n):
            one = np.array([t]) if order is None else order[t:t + 1]
            codes, updates, visit = [], passed.updates, model.parts.weights.n_visited
            self.visit(passed, one, rule, loss_weight, codes)
            gold = self.gold[int(one[0])]
            if not outputs.partial_gold:
                single = outputs.code_width == 1
                gold = self.decoded(Structures(np.array([gold], dtype=np.intc)) if single else Structures.ragged([gold]), one)[0]
            step = model.loop.last_step(self.rows, int(one[0])) if passed.updates > updates else None
            said = self.decoded(coded(codes, outputs), one)[0]
            self.history.append(Visit(visit + 1, int(one[0]), plain(gold), plain(said), step))
            if predictions is not None:
                predictions += codes
        return 0

    def shards(self, n_shards, seed, n_threads):
        """The examples in file order in so many parts of equal size, each with parts of its own.
        Returns `structperc.fitting.shards.LocalShards`. What `mix` takes.

        Parameters
        ----------
        n_shards : int
        seed : int
            From which each shard draws its orders.
        n_threads : int
        """
        n, shards = int(self.n_examples), []            # Python's numbers: n * n_shards may exceed 64 bits
        elsewhere = SHARDS_ELSEWHERE.get()
        if elsewhere is not None:
            return elsewhere.shards(self, seed)
        # With more shards than examples most are empty, and change nothing.
        for i in range(n_shards) if n_shards <= n else [-(-(j + 1) * n_shards // n) - 1 for j in range(n)]:
            model, _ = clone_model(self.engine, self.model, self.rows, self.weights, self.context.epochs, np.random.default_rng(0))
            examples = np.arange(n * i // n_shards, n * (i + 1) // n_shards)
            part = ShardPart(self, examples if self.weights is None else examples[self.weights[examples] != 0])
            shards.append(Shard(i, model, self.model, in_memory(part)))
            if self.costs is not None or self.model.uses_costs:
                model.parts.loss.set_costs(self.costs, self.gold, n)
        return LocalShards(shards, seed, self.context.shuffle, self.online is not None, n_threads)

    def mix(self, shards, bounded=False):
        """One round: each shard makes a pass from the weights of now; then the weights are mixed.

        Ctrl-C ends all passes, and mixes what they have learned until then. Returns `PassResult`. Of all shards together.

        Parameters
        ----------
        shards : object with the methods of `structperc.fitting.shards.LocalShards`
        bounded : bool
            Move weights by the sum of the shards' steps, at most twice the mean of those that moved them. Else by the mean.
        """
        cdef PassResult passed
        cdef list interrupts = []
        cdef ReadWriteLock lock = self.model.lock
        weights, keep = self.model.parts.weights, self.online is not None
        self.refuse_early("mix")
        try:
            answers = shards.train(weights, self.epoch)
        except KeyboardInterrupt as interrupt:
            interrupts.append(interrupt)
            answers = retry_on_interrupt(interrupts, shards.finished)
        passed = counted(answers)
        shares = None if bounded else shares_of(answers)
        sharding, delta = weights.sharding(), None
        if answers:
            delta = retry_on_interrupt(interrupts, sharding.merge, [answer.delta for answer in answers], shares)
        predictions = [one for answer in answers for one in answer.online] if keep else None
        order = np.concatenate([np.zeros(0, dtype=np.int64), *(one for answer in answers for one in answer.examples)])
        lock.begin_write()
        try:
            if delta is not None:
                sharding.apply(delta)
            structures, examples = self.record(passed, order, predictions, interrupts)
            if structures is not None:
                self.progress.add_predictions(structures, examples)
        finally:
            lock.end_write()
        if interrupts:
            raise interrupts[0]
        shards.mixed(delta)
        return passed

    cdef int visit_all(self, PassResult passed, order, rule, double loss_weight, predictions) except -1:
        """The rest of a pass, from stop to stop."""
        cdef Py_ssize_t n = self.n_examples if order is None else len(order), due, start, stop
        while passed.visited < n:
            start, due = passed.visited, self.progress.next_stop(passed.visited)
            stop = min(due, n)
            stretch = order if stop - start == n else np.arange(start, stop) if order is None else order[start:stop]
            self.visit(passed, stretch, rule, loss_weight, predictions)
            if stop == due:
                self.progress.write(passed, predictions)
        return 0

    def pass_without_record(self, order=None, rule=None, double loss_weight=0.0, online=None):
        """One pass that the engine's record does not show. Returns `PassResult`.

        Parameters
        ----------
        order, rule, loss_weight
            As of `run`.
        online : list, optional
            Receives the predictions made before each step.
        """
        cdef PassResult passed = PassResult()
        cdef ReadWriteLock lock = self.model.lock
        if order is not None:
            order = visits(order, self.n_examples)
        lock.begin_write()
        try:
            self.visit(passed, order, rule, loss_weight, online)
        finally:
            lock.end_write()
        return passed

    cdef int visit(self, PassResult passed, order, rule, double loss_weight, online) except -1:
        """Visits the examples; `passed` counts."""
        cdef Loop loop = self.model.loop
        of_steps = None if self.by_visits else self.weights
        try:
            if rule is None:
                loop.run(passed, self.rows, self.gold, order, of_steps, online)
            else:
                loop.run_with(rule, loss_weight, passed, self.rows, self.gold, order, of_steps, online)
        except NotFinite as error:
            raise not_finite(self.rows, error.index, error.said if self.model.parts.weights.is_finite() else None) from None
        return 0

    cdef int refuse_early(self, method) except -1:
        """Raises an error for a recorded pass outside of an epoch; a chunk of a stream has none."""
        if not self.under_way and self.observers is not None:
            raise PluginError(f"{type(self.model.parts.trainer).__name__}.train called {method} outside of an epoch; call begin_epoch "
                              f"before its first pass, and end_epoch after its last one.")
        self.has_pass = self.under_way
        return 0

    cdef int refuse_open(self, now) except -1:
        """Raises an error if passes were made since begin_epoch: no observer has seen them."""
        if self.has_pass:
            raise PluginError(f"{type(self.model.parts.trainer).__name__}.train {now} within epoch {self.epoch}; call end_epoch with what "
                              f"run returned before.")
        return 0

    cdef record(self, PassResult passed, order, predictions, list interrupts):
        """Enters a pass into the model's record. Returns what was predicted and of which examples, None where none are kept."""
        # `interrupts` receives a Ctrl-C that comes meanwhile.
        cdef Model model = self.model
        if self.observers is None:
            model.mistakes[-1] += passed.mistakes
        else:
            model.mistakes.append(passed.mistakes)
        model.loss += passed.loss
        model.weighted = model.weighted or self.weighted
        structures = examples = None
        if predictions:
            structures = coded(predictions, model.parts.outputs)
            examples = range(passed.visited) if order is None else order[:passed.visited]
            self.online.append(retry_on_interrupt(interrupts, self.decoded, structures, examples))
        return structures, examples

    def keep(self, codes, examples=None) -> None:
        """Adds predictions to the online ones, for a trainer that makes no passes.

        Parameters
        ----------
        codes : int array
            Of labels.
        examples : int array, optional
            Of which examples; without it of all.
        """
        structures, examples = Structures(codes), np.arange(len(codes)) if examples is None else examples
        self.online.append(self.decoded(structures, examples))
        self.progress.add_predictions(structures, examples)

    def decoded(self, structures, examples):
        """Predictions as users see them. Returns an array.

        Parameters
        ----------
        structures : Structures
        examples : int array
            Of which examples.
        """
        cdef Parts parts = self.model.parts
        single = parts.outputs.code_width == 1
        return parts.outputs.decode_all(structures.values if single else structures, self.rows, parts.features, examples)


def kept_state(weights):
    """Copies of all that a store of weights has learned, by name."""
    return {"n_visited": np.array(weights.n_visited), **{name: np.array(value) for name, value in state_of(weights).items()}}


cdef visits(order, Py_ssize_t n):
    """The order of a pass as an int64 array, if it names examples."""
    cdef const int64_t[::1] at
    cdef uint64_t largest = 0
    cdef Py_ssize_t i
    examples = np.asarray(order)
    if examples.ndim != 1 or examples.dtype.kind not in "iu" and examples.size:
        raise PluginError(f"the order of a pass is {shortened(order)}; expected a vector with the numbers of examples.")
    at = examples = np.ascontiguousarray(examples, dtype=np.int64)
    for i in range(at.shape[0]):
        largest = max(largest, <uint64_t> at[i])            # a negative number is large
    if at.shape[0] and largest >= <uint64_t> n:
        i = int(np.flatnonzero((examples < 0) | (examples >= n))[0])
        raise PluginError(f"the order of a pass has example {examples[i]} at position {i}; X has the examples 0..{n - 1}.")
    return examples


def coded(predictions, Outputs outputs):
    """The predictions of one pass, as the loop gave them, as `Structures`."""
    if outputs.code_width == 1:
        return Structures(predictions[0] if len(predictions) == 1 else np.concatenate([np.zeros(0, dtype=np.intc), *predictions]))
    return Structures.ragged(predictions)
