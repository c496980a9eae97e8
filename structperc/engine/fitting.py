"""One fit, and one chunk of a stream: a failure leaves the engine as it was, Ctrl-C keeps what was learned."""

from __future__ import annotations

from structperc.core.errors import PluginError
from structperc.engine.assembly import begin, weighed
from structperc.engine.compatibility import check_parts, check_same, overflow
from structperc.engine.run import TrainingRun
from structperc.engine.trainers import CONVERGED, INTERRUPTED, MAX_EPOCHS


def fit(engine, X, offsets, y, allowed, sample_weight, costs, keep_online) -> None:
    """Trains a new model; `engine.run` is the run while it is under way."""
    model, rows, context = begin(engine, X, offsets, y, allowed, sample_weight)
    random = model.context.random.bit_generator.state
    model.online = [] if keep_online else None
    before = engine.model
    run = TrainingRun(model, context, rows, y, costs, online=model.online, before=before, observers=engine.tell)
    engine.model, engine.run = model, run
    try:
        model.parts.weights.begin_fit(run.rows)
        status = model.parts.trainer.train(run)
        if not isinstance(status, str):
            raise PluginError(f"{type(model.parts.trainer).__name__}.train returned {status!r}; expected a word for status_, such as "
                              f"'converged'.")
        if not model.parts.weights.is_finite():
            raise overflow()
        model.status = status
    except KeyboardInterrupt:
        model.status = INTERRUPTED
        raise
    except BaseException:
        engine.model = before
        model.context.random.bit_generator.state = random
        raise
    finally:
        engine.run = None
        model.parts.weights.end_fit()


def learn_chunk(engine, X, offsets, y, allowed, sample_weight, costs) -> None:
    """One pass over further examples of a stream, or over the first."""
    model = engine.model
    if model is None:
        model, rows, context = begin(engine, X, offsets, y, allowed, sample_weight)
        refuse_chunks(model)
    else:
        refuse_chunks(model)
        rows, context = model.parts.reader.read(X, offsets), model.context
        check_same(context, rows)
        model.make_room(rows)
        if allowed is not None:
            model.restrict(rows, allowed)
        if sample_weight is not None or model.weighted:         # the parts compare them with earlier weights
            context = weighed(context, 1.0 if sample_weight is None else sample_weight, rows)
            check_parts(context, model.parts)
    run = TrainingRun(model, context, rows, y, costs)
    weights = model.parts.weights
    token, state = weights.snapshot(rows), model.context.random.bit_generator.state if model.context.shuffle else None
    record = model.mistakes, model.loss, model.weighted
    model.mistakes = list(model.mistakes) if model.streaming else [*model.mistakes, 0]
    try:
        passed = run.run(run.order())
        if passed.updates and not weights.is_finite(token):
            raise overflow()
    except KeyboardInterrupt:
        engine.model, model.streaming, model.status = model, True, INTERRUPTED
        raise
    except BaseException:
        weights.revert(token)
        model.mistakes, model.loss, model.weighted = record
        if state is not None:
            model.context.random.bit_generator.state = state
        raise
    engine.model, model.streaming, model.online = model, True, None
    model.status = MAX_EPOCHS if passed.updates else CONVERGED


def refuse_chunks(model) -> None:
    """A trainer of one problem over all examples cannot go on with some of them."""
    if not model.parts.trainer.online:
        raise PluginError(f"partial_fit learns from chunk after chunk, but {type(model.parts.trainer).__name__} solves one problem over "
                          f"all examples; call fit with all of them.")
