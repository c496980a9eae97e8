# distutils: extra_compile_args = CALLS
# cython: boundscheck=True, wraparound=True
"""One fit, and one chunk of a stream: a failure leaves the engine as it was, Ctrl-C keeps what was learned.

Compiled, so that Ctrl-C comes in Python functions that are called here and never between two statements.
"""
cimport cython

from numpy import ndarray

from structperc.basics.errors import DataError, NotFittedError, OptionError, PluginError, add_note
from structperc.basics.labels import python_values
from structperc.basics.signals import retry_on_interrupt
from structperc.core.component import kept_state, located
from structperc.core.loop cimport PassResult
from structperc.core.rows cimport Rows
from structperc.core.weights cimport Weights
from structperc.engine.calls import wrong_call
from structperc.engine.checkpoints.of_runs import progress_of
from structperc.fitting import calibration
from structperc.fitting.assembly import agreed, check_parts, new_model, with_weights
from structperc.fitting.context import NotBegun
from structperc.fitting.locks cimport TrainingLock
from structperc.fitting.model cimport Model, read_in_any_order
from structperc.fitting.model import listed
from structperc.fitting.not_finite import overflow
from structperc.fitting.options import n_threads, setting_back
from structperc.fitting.run cimport TrainingRun
from structperc.fitting.scaling import scaling_of
from structperc.fitting.threads import predicted
from structperc.fitting.trainers import CONVERGED, INTERRUPTED, MAX_EPOCHS, STALLED
from structperc.fitting.weighing import by_class, counted
from structperc.reading.groups import Groups
from structperc.reading.matrices import sample_weights


ROWS = ("X", "offsets", "lengths", "groups", "allowed")
TAUGHT = ("X", "y", *ROWS[1:], "sample_weight", "costs", "record_predictions", "history")
ARGUMENTS = {"fit": (*TAUGHT, "resume"), "partial_fit": (*TAUGHT, "classes"), "predict": (*ROWS, "k")}


cdef object python_outputs(values):
    """Outputs without values of pyarrow. No line of Python runs for arrays and lists of plain labels, so Ctrl-C never comes here."""
    if values is None or type(values) is ndarray or type(values) is list and len(values) and isinstance(values[0], (int, float, str)):
        return values
    return python_values(values)


cdef class EngineCore:
    """Compiled base of `Engine`: the methods that streams call per example, and the fields that these read."""

    def __cinit__(self, *arguments, **keywords):
        self.turn = TrainingLock()

    @property
    def model(self) -> Model | None:
        """The trained model, or None. For the thread of a running fit the model in training, for all others the former one."""
        return self.current_model()

    @model.setter
    def model(self, model):
        self.trained = model

    cdef Model current_model(self):
        return self.trained if self.run is None or not self.turn.is_mine() else self.run.model

    # ---- training ----

    def notify(self, record):
        """Call all observers after an epoch.

        Parameters
        ----------
        record : EpochRecord
            Number, mistakes and loss of the epoch.
        """
        self.manager.hook.structperc_epoch_end(engine=self, record=record)

    def notify_of_end(self, status):
        """Call all observers after training, or again if Ctrl-C cut a call short.

        Parameters
        ----------
        status : str or None
            The word of `status_`; None: an error ended the fit.
        """
        self.manager.hook.structperc_training_end(engine=self, status=status)

    def fit(self, X, y, *unnamed, offsets=None, lengths=None, groups=None, allowed=None, sample_weight=None, costs=None,
            record_predictions=False, history=False, resume=False, **unknown):
        """Train a new model on all examples. Returns `Engine`. Itself. A failed fit leaves it as it was.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features), sparse matrix, data frame, list of blocks or objects, or another input of the reader
            C-ordered float32 and float64 arrays and CSR matrices are not copied.
        y : sequence of length n_examples
            The right output of each example, in the form of the problem.
        offsets : int array of shape (n_examples + 1,), optional
            Rows offsets[i]:offsets[i + 1] are example i. Default: each row is an example.
        lengths : int array of shape (n_examples,), optional
            Instead of `offsets`: the number of rows of each example.
        groups : array of shape (n_rows,), optional
            Instead of `offsets`: rows with the same entry are one example. Examples are in the order in which their groups first appear.
            If y has an entry for each row, it is in the order of X.
        allowed : sequence of length n_examples, optional
            The outputs that each example may have, in the form of the problem. They restrict Y(x).
        sample_weight : array of shape (n_examples,), optional
            Scales the perceptron's step and the `C` of pa1 and pa2. Weight 0 leaves the example out.
        costs : array of shape (n_examples, n_labels), optional
            The costs of each label for each example, for loss="costs".
        record_predictions : bool, default False
            Keep the predictions before each step, in `online_predictions_`.
        history : bool, default False
            Record each visited example in `history_`, to study training. Cost: 300 bytes and about 10 microseconds a visit, and 8 bytes
            for each atom of a step.
        resume : bool, default False
            Continue from the last file of the `structperc.callbacks.Checkpoint` among the plugins, with the same data and options.
            Without a file, begin. If that training was complete, return its model, unless it ended at `epochs` and there are more now.

        Raises
        ------
        DataError
            If X, y or another argument does not fit the others. The message names the row.
        OptionError
            If the call has an unknown argument, or an option does not fit the data.
        BusyError
            If an observer or another thread is training this engine.
        KeyboardInterrupt
            After Ctrl-C. The engine keeps what it has learned; `status_` is "interrupted".

        Notes
        -----
        Other threads use the former model until the fit ends.
        """
        if unnamed or unknown:
            raise wrong_call("fit", ARGUMENTS["fit"], unnamed, unknown)
        self.turn.begin("fit")
        try:
            with Groups(X, offsets, lengths, groups) as data:
                learn_all(self, data.X, data.offsets, data.by_rows(y), data.by_rows(allowed), sample_weight, costs, record_predictions,
                          history, resume)
        except Exception as error:
            raise located(error)
        finally:
            self.turn.end()
        return self

    def partial_fit(self, X, y, *unnamed, offsets=None, lengths=None, groups=None, allowed=None, sample_weight=None, costs=None,
                    classes=None, record_predictions=False, history=False, **unknown):
        """Train for one pass over a chunk of a stream, starting from the current model.

        The first call fixes the features and, unless `classes` names them, the labels. The model changes in place, and calls of other
        threads that read it wait for the end of the chunk. With `n_shards` the chunk is split into shards, which are mixed at its end.
        Returns `Engine`. Itself. A failed call leaves it as it was. Raises `DataError` if X or y does not fit the model.
        Raises `OptionError` if an option needs all examples, such as calibrate=True or class_weight="balanced".
        Raises `BusyError` if an observer or another thread is training this engine.

        Parameters
        ----------
        X, y, offsets, lengths, groups, allowed, sample_weight, costs
            As in `fit`.
        classes : list, optional
            All labels in order. Only the first call needs it, if neither the option `classes` nor its y names them all.
        record_predictions, history : bool, default False
            As in `fit`. They append to what earlier calls kept; a call without them drops it.
        """
        if unnamed or unknown:
            raise wrong_call("partial_fit", ARGUMENTS["partial_fit"], unnamed, unknown)
        self.turn.begin("partial_fit")
        try:
            if lengths is None and groups is None:
                learn_chunk(self, X, offsets, python_outputs(y), python_outputs(allowed), sample_weight, costs, classes,
                            record_predictions, history)
            else:
                with Groups(X, offsets, lengths, groups) as data:
                    learn_chunk(self, data.X, data.offsets, data.by_rows(y), data.by_rows(allowed), sample_weight, costs, classes,
                                record_predictions, history)
        except Exception as error:
            raise located(error)
        finally:
            self.turn.end()
        return self

    # ---- prediction ----

    def predict(self, X, *unnamed, offsets=None, lengths=None, groups=None, allowed=None, k=None, **unknown):
        """The structure with the largest score for each example.

        Ties: the problem's rule decides. Returns an ndarray of shape (n_examples,). Labels, or outputs in the form of the problem.
        Raises `NotFittedError` before `fit`. Raises `DataError` if X does not fit the model.
        Raises `PluginError` if `k` is given and the problem's solver has no k best structures.

        Parameters
        ----------
        X, offsets, lengths, groups, allowed
            As in `fit`.
        k : int, optional
            Return a list of the k best structures of each example, best first. Fewer if there are fewer.
        """
        cdef Model model = self.current_model()
        cdef Rows rows
        if unnamed or unknown:
            raise wrong_call("predict", ARGUMENTS["predict"], unnamed, unknown)
        if model is None:
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit or partial_fit first.")
        try:
            rows = read_in_any_order(model, X, offsets, lengths, groups, allowed)
            if k is not None:
                return listed([y for y, _ in ranked] for ranked in model.predict_k_best(rows.in_row_order(), k))
            return model.predict(rows) if rows.n_examples == 1 else predicted(model, rows, n_threads(self.n_jobs))
        except Exception as error:
            raise located(error)


cdef int learn_all(EngineCore engine, X, offsets, y, allowed, sample_weight, costs, bint record_predictions, bint history,
                   bint resume) except -1:
    """Trains a new model; `engine.run` is the run while it is under way."""
    cdef TrainingRun run
    cdef Model model = None
    cdef list interrupts = []
    cdef bint over = False
    set_back = setting_back(engine.random_state)
    try:
        model, rows, context, counts = new_model(engine, X, offsets, y, allowed, sample_weight)
        calibrates = calibration.check(model, rows, engine.calibrate)
        model.online, model.history = [] if record_predictions else None, [] if history else None
        run = TrainingRun(model, context, rows, y, costs, online=model.online, history=model.history, before=engine.trained,
                          observers=engine.notify, engine=engine)
        run.progress = progress_of(engine, run, costs, resume)
        model.begin_sums(run.rows)
        model.add_rows(run.rows, counts)
        engine.run = run
        try:
            train(engine, run, rows, y, costs, calibrates, resume, interrupts)
        except KeyboardInterrupt as interrupt:
            if not learned(model.parts.weights, interrupts):
                raise
            model.status = INTERRUPTED
            interrupts.append(interrupt)
        finally:
            retry_on_interrupt(interrupts, model.parts.weights.announce, None)
        model.visit_totals = run.visit_totals
        if model.scales:
            leave(model, model.scaling, interrupts)
        retry_on_interrupt(interrupts, engine.notify_of_end, model.status)
        over = True
    except BaseException as error:
        if set_back is not None:
            set_back()
        if not over and not isinstance(error, NotBegun):
            retry_on_interrupt(interrupts, tell_failure, engine, error)
        if interrupts:
            raise interrupts[0]
        raise
    finally:
        engine.run = None
        if model is not None:
            retry_on_interrupt(interrupts, model.parts.loss.forget_costs)
    engine.trained = model
    if interrupts:
        raise interrupts[0]
    return 0


def tell_failure(engine, error):
    """Calls all observers after an error. An error of an observer becomes a note of the first one."""
    try:
        engine.notify_of_end(None)
    except Exception as further:
        if further is not error:
            located(error)          # its own place comes first
            add_note(error, f"Then structperc_training_end failed: {type(further).__name__}: {further}")


cdef int train(EngineCore engine, TrainingRun run, rows, y, costs, bint calibrates, bint resume,
               list interrupts) except -1:
    """Lets the trainer train, from a checkpoint on if there is one, keeps its status, and finds the temperature."""
    parts = run.model.parts
    parts.weights.announce(run.rows)
    status = run.progress.resume() if resume else None
    cdef bint over = status is not None             # the checkpoint holds the temperature too
    if not over:
        status = parts.trainer.train(run)
        if parts.trainer.online:
            run.exchange()
    if not isinstance(status, str):
        raise PluginError(f"{type(parts.trainer).__name__}.train returned {status!r}; expected a word for status_, such as 'converged'.")
    if not over and status != INTERRUPTED and not run.stop_requested:
        run.refuse_open("returned")
    if not parts.weights.is_finite():
        raise overflow()
    run.model.status = status
    if calibrates and not over:
        try:
            calibration.calibrate(engine, run, rows, y, costs)
        except KeyboardInterrupt as interrupt:
            run.model.status = INTERRUPTED
            interrupts.append(interrupt)
            return 0
    run.progress.end()
    return 0


cdef int learn_chunk(EngineCore engine, X, offsets, y, allowed, sample_weight, costs, classes, bint record_predictions,
                     bint history) except -1:
    """One pass; the first one makes a model."""
    cdef TrainingRun run
    cdef list interrupts = []
    cdef Model model = engine.trained
    set_back = None
    if engine.calibrate and engine.calibrate != "auto":
        raise OptionError("calibrate=True looks at all examples, which partial_fit does not see; call fit, or set it to False or 'auto'.")
    if engine.class_weight is not None and engine.class_weight == "balanced":
        raise OptionError("class_weight='balanced' counts the labels of all examples, which partial_fit does not see; name weights, "
                          "class_weight={label: weight}, or call fit.")
    if model is None:
        set_back = setting_back(engine.random_state)
    try:
        if model is None:
            classes = agreed(classes, engine.classes, "the option classes")
            model, rows, context, counts = new_model(engine, X, offsets, y, allowed, sample_weight, classes)
            model.parts.trainer.check_chunks(model.parts)
            model.begin_sums(rows)
            scaling = model.scaling
        else:
            rows, context, counts, scaling = further_chunk(engine, model, X, offsets, y, allowed, sample_weight, classes)
        run = TrainingRun.__new__(TrainingRun)
        run.begin(model, context, rows, y, costs, [] if record_predictions else None, [] if history else None, None, None, engine)
        model.lock.begin_write()
        try:
            step_on(engine, run, rows, scaling, counts, interrupts)
        finally:
            model.lock.end_write()
        if interrupts:
            raise interrupts[0]
    except BaseException:
        if set_back is not None and engine.trained is None:
            set_back()
        raise
    finally:
        if model is not None:
            retry_on_interrupt(interrupts, model.parts.loss.forget_costs)
    if interrupts:
        raise interrupts[0]
    return 0


cdef tuple further_chunk(EngineCore engine, Model model, X, offsets, y, allowed, sample_weight, classes):
    """A further chunk for a model: rows in its units, their context, their weights in the columns' sums, and the units."""
    cdef Rows rows
    if classes is not None:
        if model.context.labels is None:
            model.parts.outputs.find_labels(None, classes)          # raises: there are none
        agreed(classes, model.context.labels, "the earlier calls")
    if not model.streaming:
        model.parts.trainer.check_chunks(model.parts)
    rows, context = model.own_rows(X, offsets), model.context
    if not rows.n_examples:
        raise DataError("X is empty, so there is nothing to learn from.")
    model.look_alike(rows)
    model.make_room(rows)
    if allowed is not None:
        model.restrict(rows, allowed)
    example_weights = weights = counts = None
    if sample_weight is not None or model.weighted:
        example_weights = weights = sample_weights(1.0 if sample_weight is None else sample_weight, rows.n_examples)
    if engine.class_weight is not None:
        weights = by_class(engine.class_weight, model, rows, y, example_weights)
    if weights is not None:                                 # the parts compare them with earlier weights
        context = with_weights(context, weights)
        check_parts(context, model.parts)
        counts = counted(example_weights, weights)
    scaling = model.scaling
    if scaling is None and not model.parts.weights.averaging.n_visited:      # made without data, to learn from a stream
        scaling = scaling_of(engine.scale, model.parts, rows, counts)
        if scaling is None:
            model.begin_sums(rows)
    elif scaling is not None and not model.scales and model.counts_rows:
        scaling = scaling.with_rows(rows, counts)
    return rows.in_row_order() if scaling is None else scaling.applied(rows), context, counts, scaling


@cython.final
@cython.freelist(4)
cdef class Before:
    """A model before a chunk, to put all of it back: weights, counts, and the generator of its orders."""

    cdef Model model
    cdef object snapshot, set_back, last
    cdef list states            # of the other parts that may learn from steps
    cdef tuple visit_totals
    cdef Py_ssize_t n_entries
    cdef double loss
    cdef bint weighted

    def put_back(self):
        cdef Model model = self.model
        cdef list mistakes = model.mistakes
        self.snapshot.revert()
        for part, state in self.states:
            part.restore(state)
        model.loss, model.weighted, model.visit_totals = self.loss, self.weighted, self.visit_totals
        del mistakes[self.n_entries:]
        if self.n_entries:
            mistakes[self.n_entries - 1] = self.last
        if self.set_back is not None:
            self.set_back()


cdef Before before_chunk(TrainingRun run, snapshot):
    cdef Before before = Before.__new__(Before)
    cdef Model model = run.model
    before.model, before.snapshot, before.n_entries = model, snapshot, len(model.mistakes)
    before.states = [(part, kept_state(part)) for part in model.parts.learning]
    before.last = model.mistakes[-1] if before.n_entries else 0
    before.loss, before.weighted, before.visit_totals = model.loss, model.weighted, model.visit_totals
    before.set_back = setting_back(model.context.random) if run.draws() else None
    return before


cdef int step_on(EngineCore engine, TrainingRun run, rows, scaling, counts, list interrupts) except -1:
    """Changes the model in place; all of it is put back if the pass fails. `counts`: the weights of rows in the columns' sums.

    With a scaling the weights are converted to its units before the pass, and back after it.
    """
    cdef Model model = run.model
    cdef Weights weights = model.parts.weights
    cdef Py_ssize_t n_visited = weights.averaging.n_visited
    cdef PassResult passed
    convert = None if scaling is None else weights.rescaling(*scaling.inverse)      # not callable: rows are scaled whenever they are read
    cdef bint converts = callable(convert)
    cdef Before before = before_chunk(run, weights.snapshot(None if converts else rows))
    try:
        if converts:
            convert()
        model.visit_totals = run.visit_totals
        if not model.streaming:
            model.mistakes.append(0)
        passed = model.parts.trainer.visit_chunk(run) if model.sharded else run.run(run.next_order())
        if passed.updates and not before.snapshot.is_finite():
            raise overflow()
        status = MAX_EPOCHS if passed.updates else STALLED if passed.mistakes else CONVERGED
    except BaseException as error:
        if not (isinstance(error, KeyboardInterrupt) and weights.averaging.n_visited > n_visited
                and retry_on_interrupt(interrupts, before.snapshot.is_finite)):
            retry_on_interrupt(interrupts, before.put_back)
            if interrupts:
                raise interrupts[0]
            raise
        status = INTERRUPTED
        interrupts.append(error)
    if converts:
        try:
            leave(model, scaling, interrupts)
        except BaseException:
            retry_on_interrupt(interrupts, before.put_back)
            raise
    engine.trained, model.streaming, model.status = model, True, status
    if not converts and scaling is not None:
        model.scaling, model.scales = scaling, True
    model.online, model.history = continued(model.online, run.online), continued(model.history, run.history)
    model.add_rows(run.rows, counts if scaling is None else None)
    return 0


cdef list continued(list before, list further):
    """What was kept of earlier calls and what this one has kept; None: it keeps nothing."""
    return None if further is None else further if before is None else before + further


cdef int leave(Model model, scaling, list interrupts) except -1:
    """Maps the weights of scaled rows to those of the users' units, where such are known."""
    weights = model.parts.weights
    install = retry_on_interrupt(interrupts, weights.rescaling, scaling.shift, scaling.spread)
    if callable(install):
        install()
        model.scaling, model.scales = scaling, False
    return 0


cdef bint learned(weights, list interrupts) except -1:
    """Whether an interrupted fit has visited an example, and its weights can be used."""
    return weights.n_visited > 0 and retry_on_interrupt(interrupts, weights.is_finite)
