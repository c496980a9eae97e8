# cython: boundscheck=True, wraparound=True
"""One fit, and one chunk of a stream: a failure leaves the engine as it was, Ctrl-C keeps what was learned.

Compiled, so that Ctrl-C comes in Python functions that are called here and never between two statements.
"""
from structperc.core.access cimport Turn
from structperc.core.component import located, state_of
from structperc.core.errors import DataError, NotFittedError, OptionError, PluginError, did_you_mean
from structperc.core.interrupts import completed
from structperc.core.rows cimport Rows
from structperc.core.weights cimport Weights
from structperc.engine import calibration
from structperc.engine.assembly import agreed, begin, weighed
from structperc.engine.checkpoints import checkpoints_of
from structperc.engine.compatibility import check_parts, overflow
from structperc.engine.model cimport Model
from structperc.engine.model import listed, read_for
from structperc.engine.options import ENGINE_OPTIONS, n_threads, setting_back
from structperc.core.loop cimport PassResult
from structperc.engine.run cimport TrainingRun
from structperc.engine.scaling import scaling_of
from structperc.engine.threads import predicted
from structperc.engine.weighing import by_class
from structperc.engine.trainers import CONVERGED, INTERRUPTED, MAX_EPOCHS, STALLED
from structperc.reading.groups import Groups
from structperc.reading.matrices import sample_weights


SHARED = ("X", "y", "offsets", "lengths", "groups", "allowed", "sample_weight", "costs", "keep_online", "history")
ARGUMENTS = {"fit": (*SHARED, "resume"), "partial_fit": (*SHARED, "classes")}


cdef class EngineCalls:
    """Compiled base of `Engine`: the methods that streams call per example, and the fields that these read."""

    def __cinit__(self, *arguments, **named):
        self.turn = Turn()

    @property
    def model(self) -> Model | None:
        """What training made, or None; for the thread that is in a fit the model under way, for all others that of before."""
        return self.known()

    @model.setter
    def model(self, model):
        self.trained = model

    cdef Model known(self):
        return self.trained if self.run is None or not self.turn.is_mine() else self.run.model

    # ---- training ----

    def fit(self, X, y, *, offsets=None, lengths=None, groups=None, allowed=None, sample_weight=None, costs=None, keep_online=False,
            history=False, resume=False, **unknown):
        """Trains from nothing.

        Parameters
        ----------
        X : array-like (n_rows, n_features), sparse matrix, data frame, list of blocks or objects, or what else the reader takes
            C-ordered float32/float64 and CSR are read in place.
        y : sequence
            One output per example, as the problem's outputs take them.
        offsets, lengths, groups : array, optional
            Which rows of X an example is made of, said in one of three ways: rows offsets[i]:offsets[i+1] are example i; example i
            has lengths[i] rows; rows with the same entry in groups are one, wherever they stand: examples are then in the order in
            which their groups first appear, and a y with an entry for each row is taken to be in the order of X. Without any, each row is
            an example.
        allowed : sequence, optional
            What each example's output may be, as the problem's outputs take it; Y(x) is restricted to that.
        sample_weight : array of shape (n_examples,), optional
            Scales the perceptron's step and the C of pa1 and pa2; 0 is as if the example were absent.
        costs : array of shape (n_examples, n_labels), optional
            Each example's costs, for loss="costs".
        keep_online : bool
            Keep the predictions made before each step, in `online_predictions_`.
        history : bool
            Keep what happened at each visited example, in `history_`, for teaching and for a close look: it takes 300 bytes and some
            10 microseconds for each visit, and 8 bytes more for each atom of a step.
        resume : bool
            Go on from the last file of the `structperc.callbacks.Checkpoint` among the plugins, on the same data and with the same options;
            without a file, begin. A training that was over is the answer at once, unless it ended for want of `epochs` and has more now.

        Returns
        -------
        Engine
            Itself. A failed fit leaves it as it was; Ctrl-C keeps what was learned, sets `status_` and is raised again. Until the fit
            ends, other threads see the former model.

        Raises
        ------
        OptionError
            For an argument that fit does not have.
        BusyError
            An observer or another thread is training this engine.
        """
        if unknown:
            raise unknown_argument("fit", next(iter(unknown)))
        self.turn.begin("fit")
        try:
            with Groups(X, offsets, lengths, groups) as data:
                learn_all(self, data.X, data.offsets, data.by_rows(y), data.by_rows(allowed), sample_weight, costs, keep_online,
                          history, resume)
        except Exception as error:
            raise located(error)
        finally:
            self.turn.end()
        return self

    def partial_fit(self, X, y, *, offsets=None, lengths=None, groups=None, allowed=None, sample_weight=None, costs=None, classes=None,
                    keep_online=False, history=False, **unknown):
        """One pass over a chunk of a stream, continuing from what was learned.

        The first call fixes the features and, unless `classes` names them, the labels. The model is changed in place: calls of other
        threads that read it wait for the end of the chunk. With `n_shards` the chunk is divided into shards, which are mixed at its end.

        Parameters
        ----------
        X, y, offsets, lengths, groups, allowed, sample_weight, costs
            As in `fit`.
        classes : list, optional
            All labels in order. Only the first call needs it, and only when neither the option `classes` nor the first y names them all.
        keep_online, history : bool
            As in `fit`; what earlier calls have kept stays in front, and a call without drops it.
        """
        if unknown:
            raise unknown_argument("partial_fit", next(iter(unknown)))
        self.turn.begin("partial_fit")
        try:
            if lengths is None and groups is None:
                learn_chunk(self, X, offsets, y, allowed, sample_weight, costs, classes, keep_online, history)
            else:
                with Groups(X, offsets, lengths, groups) as data:
                    learn_chunk(self, data.X, data.offsets, data.by_rows(y), data.by_rows(allowed), sample_weight, costs, classes,
                                keep_online, history)
        except Exception as error:
            raise located(error)
        finally:
            self.turn.end()
        return self

    # ---- prediction ----

    def predict(self, X, *, offsets=None, lengths=None, groups=None, allowed=None, k=None):
        """The structure of largest score for each example, as labels or as the problem's outputs decode them.

        Parameters
        ----------
        X, offsets, lengths, groups, allowed
            As in `fit`.
        k : int, optional
            Answer each example by a list of its k best structures, best first; fewer where there are fewer.

        Returns
        -------
        ndarray of shape (n_examples,)
        """
        cdef Model model = self.known()
        cdef Rows rows
        if model is None:
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit or partial_fit first.")
        try:
            rows = read_for(model, X, offsets, lengths, groups, allowed)
            if k is not None:
                return listed([y for y, _ in ranked] for ranked in model.predict_k_best(rows, k))
            return model.predict(rows) if rows.n_examples == 1 else predicted(model, rows, n_threads(self.n_jobs))
        except Exception as error:
            raise located(error)


cdef unknown_argument(method, name):
    """The error of an argument that a method does not have, with where it goes or the argument that is meant."""
    known = ARGUMENTS[method]
    place = f" It is an option of the engine: Engine(..., {name}=...)." if name in ENGINE_OPTIONS else did_you_mean(name, known)
    return OptionError(f"{method} has no argument {name!r}.{place} It has {', '.join(known)}.")


cdef int learn_all(EngineCalls engine, X, offsets, y, allowed, sample_weight, costs, bint keep_online, bint history, bint resume) except -1:
    """Trains a new model; `engine.run` is the run while it is under way."""
    cdef TrainingRun run
    cdef Model model
    cdef list interrupts = []
    set_back = setting_back(engine.random_state)
    try:
        model, rows, context = begin(engine, X, offsets, y, allowed, sample_weight)
        calibrates = calibration.check(model, rows, engine.calibrate)
        model.online, model.history = [] if keep_online else None, [] if history else None
        run = TrainingRun(model, context, rows, y, costs, online=model.online, history=model.history, before=engine.trained,
                          observers=engine.tell, engine=engine)
        run.checkpoints = checkpoints_of(engine, run, costs, resume)
        if history and run.checkpoints is not None:
            raise OptionError("history=True is kept in no checkpoint, so that a resumed training would lack its beginning; leave one of "
                              "them out.")
        model.begin_sums(run.rows)
        model.add_rows(run.rows, None if sample_weight is None else sample_weights(sample_weight, rows.n_examples))
        engine.run = run
        try:
            train(engine, run, rows, y, costs, calibrates, resume, interrupts)
        except KeyboardInterrupt as interrupt:
            if not learned(model.parts.weights, interrupts):
                raise
            model.status = INTERRUPTED
            interrupts.append(interrupt)
        finally:
            completed(interrupts, model.parts.weights.end_fit)
        model.weighed = run.weighed
        if model.scales:
            leave(model, model.scaling, interrupts)
    except BaseException:
        if set_back is not None:
            set_back()
        if interrupts:
            raise interrupts[0]
        raise
    finally:
        engine.run = None
    engine.trained = model
    if interrupts:
        raise interrupts[0]
    return 0


cdef int train(EngineCalls engine, TrainingRun run, rows, y, costs, bint calibrates, bint resume,
               list interrupts) except -1:
    """Lets the trainer train, from a checkpoint on if there is one, keeps its status, and finds the temperature."""
    parts = run.model.parts
    parts.weights.begin_fit(run.rows)
    status = run.checkpoints.resume() if resume else None
    cdef bint over = status is not None             # the checkpoint holds the temperature too
    if not over:
        status = parts.trainer.train(run)
        if parts.trainer.online:
            run.exchange()
    if not isinstance(status, str):
        raise PluginError(f"{type(parts.trainer).__name__}.train returned {status!r}; expected a word for status_, such as 'converged'.")
    if not parts.weights.is_finite():
        raise overflow()
    run.model.status = status
    if calibrates and not over:
        try:
            run.model.temperature = calibration.temperature(engine, run, rows, y, costs)
        except KeyboardInterrupt as interrupt:
            run.model.status = INTERRUPTED
            interrupts.append(interrupt)
            return 0
    if run.checkpoints is not None:
        run.checkpoints.end()
    return 0


cdef int learn_chunk(EngineCalls engine, X, offsets, y, allowed, sample_weight, costs, classes, bint keep_online, bint history) except -1:
    """One pass; the first one makes a model."""
    cdef TrainingRun run
    cdef Rows rows
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
            model, rows, context = begin(engine, X, offsets, y, allowed, sample_weight, classes)
            model.parts.trainer.check_chunks(model.parts)
            model.begin_sums(rows)
            scaling = model.scaling
        else:
            if classes is not None:
                if model.context.labels is None:
                    model.parts.outputs.find_labels(None, classes)          # says that there are none
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
            given = weights = None
            if sample_weight is not None or model.weighted:
                given = weights = sample_weights(1.0 if sample_weight is None else sample_weight, rows.n_examples)
            if engine.class_weight is not None:
                weights = by_class(engine.class_weight, model, rows, y, given)
            if weights is not None:                                 # the parts compare them with earlier weights
                context = weighed(context, weights)
                check_parts(context, model.parts)
            scaling = model.scaling
            if scaling is None and not model.parts.weights.averaging.n_visited:      # made without data, to learn from a stream
                scaling = scaling_of(engine.scale, model.parts, rows, given)
                if scaling is None:
                    model.begin_sums(rows)
            elif scaling is not None and not model.scales:
                scaling = scaling.with_rows(rows, given)
            if scaling is not None:
                rows = scaling.applied(rows)
        run = TrainingRun.__new__(TrainingRun)
        run.begin(model, context, rows, y, costs, [] if keep_online else None, [] if history else None, None, None, engine)
        counts = None if sample_weight is None or model.column_sums is None else sample_weights(sample_weight, rows.n_examples)
        model.access.begin_write()
        try:
            if scaling is None:
                step_on(engine, run, rows, counts)
            else:
                step_scaled(engine, run, rows, scaling, interrupts)
        finally:
            model.access.end_write()
        if interrupts:
            raise interrupts[0]
    except BaseException:
        if set_back is not None and engine.trained is None:
            set_back()
        raise
    return 0


cdef int step_on(EngineCalls engine, TrainingRun run, rows, counts) except -1:
    """Changes the model in place, and takes everything back where the pass fails; `counts` are what rows weigh in the columns' sums."""
    cdef list interrupts = []
    cdef Model model = run.model
    cdef Weights weights = model.parts.weights
    cdef list mistakes = model.mistakes
    cdef Py_ssize_t n_visited = weights.averaging.n_visited, n_entries = len(mistakes)
    cdef double loss = model.loss
    cdef bint weighted = model.weighted
    cdef PassResult passed
    set_back = setting_back(model.context.random) if model.shuffles or model.sharded else None
    token, last = weights.snapshot(rows), mistakes[-1] if mistakes else 0
    before, model.weighed = model.weighed, run.weighed
    if not model.streaming:
        mistakes.append(0)
    try:
        passed = model.parts.trainer.visit_chunk(run) if model.sharded else run.run(run.order())
        if passed.updates and not weights.is_finite(token):
            raise overflow()
    except BaseException as error:
        if (isinstance(error, KeyboardInterrupt) and weights.averaging.n_visited > n_visited
                and completed(interrupts, weights.is_finite, token)):
            engine.trained, model.streaming, model.status = model, True, INTERRUPTED
            model.online, model.history = continued(model.online, run.online), continued(model.history, run.history)
            model.add_rows(run.rows, counts)
            raise
        completed(interrupts, weights.revert, token)
        model.loss, model.weighted, model.weighed = loss, weighted, before
        del mistakes[n_entries:]
        if n_entries:
            mistakes[n_entries - 1] = last
        if set_back is not None:
            set_back()
        if interrupts:
            raise interrupts[0]
        raise
    engine.trained, model.streaming = model, True
    model.online, model.history = continued(model.online, run.online), continued(model.history, run.history)
    model.add_rows(run.rows, counts)
    model.status = MAX_EPOCHS if passed.updates else STALLED if passed.mistakes else CONVERGED
    return 0


cdef list continued(list before, list further):
    """What was kept of earlier calls and what this one has kept; None: it keeps nothing."""
    return None if further is None else further if before is None else before + further


cdef int step_scaled(EngineCalls engine, TrainingRun run, rows, scaling, list interrupts) except -1:
    """The same on scaled rows: converts the weights to the new scale before the pass, and back after it."""
    cdef Model model = run.model
    cdef Weights weights = model.parts.weights
    cdef Py_ssize_t n_visited = weights.averaging.n_visited
    entered = weights.rescaled(*scaling.inverse)
    if entered is None:                         # rows are scaled whenever they are read, as at first
        try:
            return step_on(engine, run, rows, None)
        finally:
            if weights.averaging.n_visited > n_visited:
                model.scaling, model.scales = scaling, True
    state = state_of(weights)
    try:
        weights.install(entered)
        step_on(engine, run, rows, None)
    except BaseException:
        if weights.averaging.n_visited == n_visited:
            completed(interrupts, weights.restore, state)
        else:
            leave(model, scaling, interrupts)
        raise
    leave(model, scaling, interrupts)
    return 0


cdef int leave(Model model, scaling, list interrupts) except -1:
    """Maps the weights of scaled rows to those of the users' units, where such are known."""
    weights = model.parts.weights
    found = completed(interrupts, weights.rescaled, scaling.shift, scaling.spread)
    if found is not None:
        weights.install(found)
        model.scaling, model.scales = scaling, False
    return 0


cdef bint learned(weights, list interrupts) except -1:
    """Whether an interrupted fit has visited an example, and its weights can be used."""
    return weights.n_visited > 0 and completed(interrupts, weights.is_finite)
