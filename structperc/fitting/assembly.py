"""From plugins to a model: each hook is asked for its part, then the parts are started and checked together."""

from __future__ import annotations

import sys
import warnings
from weakref import WeakValueDictionary

import attrs
import numpy as np

from structperc.basics.errors import ConflictingOption, DataError, DataWarning, OptionErrors, PluginError, UnusedOption
from structperc.basics.labels import pass_plain_values, plain_values
from structperc.basics.saved_state import read_array
from structperc.core.component import expected, inherits, overrides
from structperc.core.loop import Loop
from structperc.core.outputs import LabelOutputs
from structperc.core.rows import Rows
from structperc.fitting import plugins as registry
from structperc.fitting.context import SHARDS_ELSEWHERE, FitContext, PluginOptions, Reads
from structperc.fitting.declarations import check_declarations
from structperc.fitting.model import Model, Parts, refuse_labels
from structperc.fitting.options import check_options, engine_options, generator, options_in_context
from structperc.fitting.presets import leave_out_or_raise
from structperc.fitting.scaling import scaling_of, warn_of_equal_rows
from structperc.fitting.unused_options import unused_options
from structperc.fitting.weighing import NothingWeighs, by_class, counted, warn_of_weights
from structperc.reading import matrices
from structperc.reading.column_faults import ColumnError, in_a_frame
from structperc.reading.frames import has_typed_columns
from structperc.reading.other_libraries import as_table
from structperc.reading.readers import Reader
from structperc.reading.table_reader import TableReader

NEW = 2                             # references to an object that nothing but a local variable refers to, as `sys.getrefcount` counts
ENGINES = WeakValueDictionary()     # the engine that was last given the part of this id
MOST_LABELS = 100                   # of which all counts are compared
ASKED = ("features", "argmax", "loss", "update", "weights", "trainer")      # when labels are known, in this order


def new_model(engine, X, offsets, y, allowed=None, sample_weight=None, classes=None):
    """A model of new parts for a new data set, its rows, its context, and what rows count for scales. `classes` is that of the option."""
    check_options(engine)               # they may have been changed since
    refuse_swapped(X, y)
    X = as_table(X)
    engine.unused = ()
    return begin_with(engine, generator(engine.random_state), X, offsets, y, allowed, sample_weight, classes)


def without_idle_options(engine, make, again=None):
    """What `make()` returns. Once idle options were left out, if they may be, what `again()` returns."""
    while True:
        try:
            return make()
        except (ConflictingOption, UnusedOption) as error:
            leave_out_or_raise(engine, error.together or (error,))
            make = again or make


def begin_with(engine, random, X, offsets, y, allowed, sample_weight, classes):
    """The same for a generator. X is read once, whatever options are left out after it."""
    context, reader = without_idle_options(engine, lambda: asked_reader(engine, random, X))
    elsewhere = SHARDS_ELSEWHERE.get()
    state = None if elsewhere is None else elsewhere.reader_state
    if state is not None:
        reader.restore(state)
    elif engine.reader_ahead is not None:
        reader = engine.reader_ahead
    learned = state is not None or engine.reader_ahead is not None
    try:
        rows = first_rows(reader, X, offsets, sample_weight, learned)
    except ColumnError as error:
        raise error if reader.takes_tables else error.advised(in_a_frame) from None
    expected(rows, Rows, reader, "read" if learned else "learn", "Rows")
    context = attrs.evolve(context, n_features=rows.n_features, sparse=rows.sparse, objects=rows.objects, feature_names=rows.feature_names)
    if context.reads.current:
        context.reads.assign("reader")      # options that it read as it learned
    before, data = state_of(random), (reader, rows, learned, X, offsets, y, allowed, sample_weight, classes)
    return without_idle_options(engine, lambda: made_for(engine, context, *data),
                                lambda: made_for(engine, renewed(engine, context, before), *data))


def first_rows(reader, X, offsets, sample_weight, learned):
    """What the reader reads of the first data. Plain matrices stay in their order, since scaling copies them."""
    if inherits(reader, Reader, "learn_weighted", "learn", "read"):
        return matrices.read_in_any_order(X, offsets)
    return reader.read(X, offsets) if learned else reader.learn_weighted(X, offsets, sample_weight)


def made_for(engine, context, reader, rows, learned, X, offsets, y, allowed, sample_weight, classes):
    """The same for rows that were read, with the options as they are now."""
    outputs = ask(engine, "outputs", context)
    model = assemble(engine, context, reader, outputs, outputs.find_labels(y, engine.classes if classes is None else classes))
    row_weights = matrices.sample_weights(sample_weight, rows.n_examples)
    weights = by_class(engine.class_weight, model, rows, y, row_weights)
    counts = counted(row_weights, weights)
    if counts is not row_weights and not learned:           # the reader has learned from rows whose class weighs nothing
        if not counts.any():
            raise NothingWeighs
        return begin_with(engine, context.random, X, offsets, y, allowed, counts, classes)
    context = with_weights(model.context, weights)
    check_parts(context, model.parts)
    model.make_room(rows)
    model.restrict(rows, allowed)
    model.scaling = scaling_of(engine.scale, model.parts, rows, counts)
    given = rows
    if model.scaling is None:
        rows = rows.in_row_order()
        model.parts.trainer.check_scales(model, rows)
    else:
        model.scales, rows = True, model.scaling.applied(rows)
    warn_of_weights(model, rows, context.sample_weight)
    warn_of_equal_rows(model, rows, given)
    warn_of_equal_labels(model.parts, rows)
    return model, rows, context, counts


def warn_of_equal_labels(parts, rows) -> None:
    """Warns if an author counts the same atoms for two labels in the first examples: their scores are equal."""
    outputs, first = parts.outputs, {}
    if not isinstance(outputs, LabelOutputs) or not 2 <= outputs.n_labels <= MOST_LABELS or not overrides(outputs, "count"):
        return
    counts_of = {}
    try:
        for i in range(min(3, rows.n_examples)):
            x = rows.example(i)
            x.n_atoms = parts.features.n_atoms(x)
            for code in range(1, outputs.n_labels + 1):
                counts_of[code] = (*counts_of.get(code, ()), *np.ravel(outputs.count(x, code)).tolist())
    except Exception:
        return                          # training raises it, with its place
    for code, counts in counts_of.items():
        other = first.setdefault(counts, code)
        if other != code:
            one, second = outputs.labels[[other - 1, code - 1]].tolist()
            warnings.warn(f"{type(outputs).__name__}.count counts the same atoms for the labels {one!r} and {second!r}. Their scores are "
                          f"equal, and one is never predicted. Each label needs atoms that no other has.", DataWarning, stacklevel=3)
            return


def asked_reader(engine, random, X):
    """What is known before the data, and the reader that the hooks return for it."""
    context = options_alone(engine, random)
    return context, reader_for(engine, context, X)


def reader_for(engine, context, X):
    """The reader of a new data set. Types of columns ask for a table reader, as the option of one would."""
    reader = ask(engine, "reader", context)
    X = matrices.as_examples(X)
    tables = X if isinstance(X, (list, tuple)) else [X]
    typed = reader.takes_tables and not isinstance(reader, TableReader) and not reader.input_columns().n_keys and any(
        map(has_typed_columns, tables[:1]))
    return TableReader(then=reader) if typed else reader


def agreed(classes, trained, where):
    """The classes that a call names and those that are known from `where`. Both must be the same, and either may be None."""
    if classes is None or trained is None:
        return trained if classes is None else classes
    now, before = np.asarray(classes).tolist(), np.asarray(trained).tolist()
    if now != before:
        raise DataError(f"classes={now} is not the same as {before}, which {where} named. Name the same labels in the same order, "
                        f"or leave classes out.")
    return trained


def clone_model(engine, model, rows, weights, epochs, random):
    """An untrained model of new parts for the data of another model, and its context with these weights."""
    options = {**model.context.engine_options, "epochs": epochs}
    context = attrs.evolve(model.context, engine_options=options, random=random, labels=None)
    outputs = ask(engine, "outputs", context)
    clone = assemble(engine, context, model.parts.reader, outputs, outputs.find_labels(None, model.context.labels))
    return ready(clone, model, rows, weights)


def begun_again(engine, clone, model, rows, weights, random):
    """The same of a clone that is no longer needed. Its parts start again if all are of this library, which is faster."""
    if any(plugin.distribution != registry.OWN for plugin in engine.answered.values()):     # others may forget nothing in `start`
        return clone_model(engine, model, rows, weights, clone.context.epochs, random)
    context, parts = attrs.evolve(clone.context, random=random), clone.parts
    parts.start(context)
    return ready(Model(context, parts, Loop(parts, context.loss_weight), clone.options), model, rows, weights)


def ready(clone, model, rows, weights):
    """A started clone and its context with these weights."""
    context = with_weights(clone.context, weights)
    check_parts(context, clone.parts)
    clone.scaling, clone.scales = model.scaling, model.scales
    clone.parts.outputs._leave_open(model.parts.outputs.partial_gold)
    clone.make_room(rows)
    return clone, context


def refuse_swapped(X, y) -> None:
    """Raises an error for a row of numbers as X beside a matrix as y."""
    if getattr(X, "ndim", None) == 1 and getattr(getattr(X, "dtype", None), "kind", "O") in "iufb" and len(getattr(y, "shape", ())) == 2:
        raise DataError(f"X has one dimension and y has shape {tuple(y.shape)}: are they swapped? X is the matrix, y the labels.")


def install_model(engine, context, labels, states, record, reader=None) -> None:
    """Install a training in an engine, such as weights from another library. Raises `PluginError` if a part cannot use its state.

    Parameters
    ----------
    engine : Engine
        The engine to change.
    context : FitContext
        What is known of the data; labels and loss are filled in.
    labels : ndarray or None
        The labels in order.
    states : dict
        The state of each part by the part's name, with `n_visited` in that of the weights. Other parts stay as they were started.
    record : dict
        Attributes of `Model` that describe the training.
    reader : Reader, optional
        Instead of the reader of the plugins.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc import Engine
    >>> trained = Engine("multiclass").fit(np.eye(3), ["a", "b", "c"])
    >>> engine, store = Engine("multiclass"), trained.model_.parts.weights
    >>> state = {**store.state(), "n_visited": np.int64(store.n_visited)}
    >>> install_model(engine, trained.model_.context, trained.classes_, {"weights": state}, {})
    >>> engine.predict(np.eye(3)).tolist()
    ['a', 'b', 'c']
    """
    if reader is None:
        reader = ask(engine, "reader", context)
        if TableReader.wrote(states.get("reader", {})) and not isinstance(reader, TableReader):
            reader = TableReader(then=reader)
    outputs = ask(engine, "outputs", context)
    model = assemble(engine, context, reader, outputs, outputs.find_labels(None, labels))
    check_parts(model.context, model.parts)
    if "weights" in states:
        model.parts.weights.n_visited = read_array(states["weights"], "n_visited", np.int64, low=0, high=2**62)
    for name, part in model.parts.items():
        if name in states:
            part.restore(states[name])
    for name, value in record.items():
        setattr(model, name, value)
    engine.model = model


def assemble(engine, context, reader, outputs, labels) -> Model:
    """A model of the parts that the plugins return, started and not yet checked."""
    refuse_labels(outputs, labels)
    labels, before = plain_values(labels), state_of(context.random)
    while True:
        loss = outputs.default_loss if context.loss is None else context.loss
        context = attrs.evolve(context, labels=labels, engine_options={**context.engine_options, "loss": loss})
        parts, errors = {}, OptionErrors()
        for kind in ASKED:
            with errors:
                parts[kind] = ask(engine, kind, context)
        errors.raise_all()
        parts = Parts(reader, outputs, **parts)
        try:
            parts.start(context)
        except MemoryError as error:
            raise MemoryError(too_wide(context, labels, error)) from error
        check_declarations(engine, context, parts)
        errors = [] if context.reads is None else unused_options(engine, context, parts)
        if not errors:
            break
        leave_out_or_raise(engine, errors)
        context = renewed(engine, context, before)
    if context.reads is not None:
        engine.reads = context.reads.by
        context.settle()
    return Model(context, parts, Loop(parts, context.loss_weight), engine_options(engine))


def too_wide(context, labels, error) -> str:
    """What to do where the weights do not fit into memory."""
    sizes = f"{context.n_features} columns" + ("" if labels is None else f" and {len(labels)} labels")
    return (f"the weights of {sizes} need more memory than there is ({error or 'no size is known'}). Hash the columns to fewer: names by "
            f"n_hashed=2**20, columns of numbers by scikit-learn's FeatureHasher. Or merge rare labels")


def check_parts(context, parts) -> None:
    """Raise an error for parts that do not fit together, and would silently do something else than asked.
    Raises `PluginError` if parts do not fit together. Raises `OptionError` if an option has no effect.
    Raises `DataError` if parts do not fit the data.

    Parameters
    ----------
    context : FitContext
    parts : Parts
        All parts of a model.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.plugin_tools import check_parts
    >>> model = Engine("cusum", preset="paper").fit([[0.0], [1.0]], [1, 2]).model_
    >>> check_parts(model.context, model.parts)
    """
    parts.check(context)


def state_of(random):
    return None if random is None else random.bit_generator.state


def renewed(engine, context, random_state) -> FitContext:
    """The context with the options as they are now, and with its generator in a state."""
    seen, changed = options_in_context(engine)
    reads = Reads(changed)
    reads.called |= context.reads.called
    reads.by |= {kind: context.reads.by[kind] for kind in ("reader", "outputs") if kind in context.reads.by}
    if random_state is not None:
        context.random.bit_generator.state = random_state
    return attrs.evolve(context, engine_options=seen, options=PluginOptions(engine.plugin_options, reads), reads=reads)


def ask(engine, kind, context):
    """The part of this kind, only for one fit."""
    hook = f"structperc_{kind}"
    part = registry.ask_hook(engine.manager, hook, context)
    engine.answered[hook] = registry.LAST.plugin
    if part is None:
        raise registry.unanswered(engine.loaded_plugins, hook, context)
    if context.reads is not None and context.reads.current:
        context.reads.assign(kind)
    if kind == "outputs":
        pass_plain_values(part)
    return own(engine, kind, part) if sys.getrefcount(part) > NEW else part


def own(engine, kind, part):
    """The part that a hook has returned and something else refers to: made again if this engine uses it, an error if another does."""
    if uses(engine, kind, part):
        return part.clone()
    other = ENGINES.get(id(part))
    if other is not None and other is not engine and uses(other, kind, part):
        raise PluginError(f"structperc_{kind} of {registry.LAST.plugin.origin} returned the same {type(part).__name__} object to two "
                          f"engines, so training one would change the other. Return a new object from each call of the hook.")
    ENGINES[id(part)] = engine
    return part


def uses(engine, kind, part) -> bool:
    """Whether a part is one of the engine's model, or of the model that is being trained."""
    run = engine.run
    return any(model is not None and getattr(model.parts, kind) is part for model in (engine.model, run and run.model))


def options_alone(engine, random=None) -> FitContext:
    """What is known before the data; it records who reads the options.

    Parameters
    ----------
    engine : Engine
    random : numpy.random.Generator, optional
        The generator of the training.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.plugin_tools import options_alone
    >>> options_alone(Engine("cusum", C=2.0)).n_features
    0
    """
    seen, changed = options_in_context(engine)
    reads = Reads(changed)
    return FitContext(seen, PluginOptions(engine.plugin_options, reads), random, reads=reads)


def with_weights(context, weights) -> FitContext:
    """The context with the weights of these examples."""
    if weights is None:
        return context
    return attrs.evolve(context, visit_weight=weights) if context.weighting == "visits" else attrs.evolve(context, sample_weight=weights)
