"""`structperc fit --stream`: training on a file part after part, with memory for one part and the model.

A pass over the file that trains nothing finds labels, features and the number of examples. The steps are then those of `fit` in the order
of the file, to the last bit. `shuffle` mixes the examples of each part.
"""

from __future__ import annotations

import os
from contextlib import closing, contextmanager, suppress
from functools import partial

import attrs
import numpy as np

from structperc.callbacks import Looking
from structperc.cli.facts import Facts
from structperc.cli.files import answers, counted_in, is_text, missing_of, opened_frames, outputs_of, parts, reader_of, refuse_intervals
from structperc.components import Outputs
from structperc.core.losses import levels_of
from structperc.errors import OptionError
from structperc.files import Kept, formats
from structperc.files.opening import WATCHER, can_be_read_again, fingerprint, is_url, name_of, passed, unchanged
from structperc.fitting import plugins as registry
from structperc.fitting.assembly import ask, install_model, options_alone
from structperc.fitting.options import generator
from structperc.fitting.presets import give_way
from structperc.fitting.weighing import NothingWeighs
from structperc.reading.table_options import named_levels
from structperc.streams import fit_stream, learn_ahead

RANKED_LOSSES = ("absolute", "squared")         # which compare places in the order of labels


def learn(engine, source, plugins, report=None, resume=False, text_labels=None) -> Facts:
    """Trains an engine on a file with which `refuse` has found no fault; returns the facts of the whole file."""
    # After Ctrl-C the engine keeps what it has learned. `report(epoch, examples, mistakes, loss)` is called after each part. Its method
    # `note` takes a line, `expect` the number of examples.
    contents = fingerprint(source.path) if can_be_read_again(source.path) else None
    identity = identity_of(source, contents)
    if report is not None and contents is not None:
        look = "once to look through it, and then " if looks_through(engine, source) else ""
        report.note(f"{source.path} is read {look}once for at most {engine.epochs} epochs")
    with looked_through(source, report):
        prepared = survey(engine, source, plugins, text_labels)
    facts, before, read_once = [], [0, 0.0], partial(parts, source, plugins, **prepared)
    begin = Kept(read_once) if engine.epochs > 1 else read_once

    def read():
        facts.clear()
        with unchanged(source.path, contents), closing(begin()) as tables:
            for table in tables:
                if getattr(table.y, "ndim", 1) == 2:
                    refuse_intervals(table, outputs_of(engine), engine.problem)
                facts[:] = [Facts.of(table) if not facts else facts[0] + Facts.of(table)]
                yield table

    def read_for_levels():
        if report is not None:
            report.note(f"{source.path} is read once more, for levels of categories")
        with looked_through(source, report), closing(begin()) as tables:
            for table in tables:
                yield table
                passed(table.n_examples)

    def learn_part(table):
        if table.weights is not None and not table.weights.any():
            return 0
        before[:] = totals(engine)
        with counted_in(table, source.path), suppress(NothingWeighs):
            part = {"X": table.X, "y": answers(engine, table), "offsets": table.offsets, "sample_weight": table.weights}
            if finds_levels and engine.model is None:
                learn_ahead(engine, part, read_for_levels, lambda table: counted_in(table, source.path))
            engine.partial_fit(**part)
            return table.n_examples
        return 0

    def learned(epoch, n_examples):
        if n_examples:
            report(epoch, n_examples, *(now - then for now, then in zip(totals(engine), before, strict=True)))

    finds_levels = not source.of_tokens and may_have_levels(engine, source)
    fit_stream(engine, read, learn=learn_part, passed=None if report is None else learned, ahead=can_be_read_again(source.path),
               resume=resume, source=identity)
    if not facts:           # the training was over
        for _ in read():
            pass
    return facts[0]


def may_have_levels(engine, source) -> bool:
    """Whether a pass may find levels of categories. Data that cannot be read again need names for all."""
    names = [name for name, levels in named_levels(engine.plugin_options.get("one_hot", ())).items() if levels is None]
    if can_be_read_again(source.path):
        return bool(names) or source.format != "csv"
    if names:
        again(source, f"--one-hot {names[0]}=A,B,C", "levels")
    return False


def totals(engine) -> tuple:
    """Mistakes and loss of all training so far."""
    return (0, 0.0) if engine.model is None else (sum(engine.mistakes_), engine.cumulative_loss_)


def identity_of(source, contents) -> dict:
    """What distinguishes a file from another one: its path, its size and contents, its columns, and how it is read."""
    facts = {name: str(value) for name, value in attrs.asdict(source).items() if value is not None}
    if contents is None:
        return facts
    if source.holds == formats.COLUMNS:
        with opened_frames(source) as file:
            facts["header"] = ", ".join(file.header)
    path = source.path if is_url(source.path) else os.path.realpath(source.path)
    return facts | {"path": path, "size": contents.partition(",")[0], "contents": contents}


def refuse(engine, source, plugins) -> None:
    """What cannot be had with one part of the data at a time."""
    observers = [name for name in plugins if registry.load(name).observes]
    if observers:
        raise OptionError(f"--plugin {observers[0]} observes epochs over all data, of which --stream has none; leave one of them out.")
    if engine.epochs > 1 and not can_be_read_again(source.path) and not give_way(engine, "epochs"):
        raise OptionError(f"epochs={engine.epochs}: {name_of(source.path)} can be read only once; leave epochs out, or save the data to a "
                          f"file.")


def wants_labels_of(engine) -> bool:
    return engine.classes is None and type(outputs_of(engine)).find_labels is not Outputs.find_labels


def wants_names_of(engine, source) -> bool:
    return source.of_tokens and not engine.plugin_options.get("n_hashed")


def looks_through(engine, source) -> bool:
    """Whether `survey` reads the data."""
    return source.has_features or wants_labels_of(engine) or wants_names_of(engine, source)


@contextmanager
def looked_through(source, report):
    """Shows the rows that a pass without training has read, their rate, and the time that is left. `report` gets the number of examples."""
    if report is None:
        yield
        return
    looking = Looking(report.note)
    token = WATCHER.set(looking)
    try:
        yield
    finally:
        WATCHER.reset(token)
    if source.of_tokens or source.group is None and not source.has_features:
        report.expect(looking.rows)


def survey(engine, source, plugins, text_labels=None) -> dict:
    """Finds what the engine needs to know of all data. Returns what else reading needs."""
    outputs, wants_labels = outputs_of(engine), wants_labels_of(engine)
    if source.of_tokens:
        wants_names = wants_names_of(engine, source)
        if wants_labels or wants_names:
            again(source, "--classes A,B,C and --set n_hashed=1048576", "labels and features")
            read_names(engine, source, plugins, outputs, wants_labels, wants_names)
        return {}
    if source.has_features:
        again(source, None, "the number of features")
        with formats.open(source.path, format=source.format) as file:
            labels, n_features = file.survey()
        if wants_labels:
            engine.classes = outputs.find_labels(labels, None).tolist()
        return {"n_features": n_features}
    if wants_labels:
        again(source, "--classes A,B,C", "labels")
        with opened_frames(source) as file:
            file.set_labels(text_labels, missing_of(reader_of(engine), source.target, ()))
            targets = file.targets(source.target)
            for name in targets:
                if name not in file.columns:
                    raise file.missing_column(name)
            if targets:         # without them, reading raises the error
                engine.classes = outputs.find_labels(file.distinct(targets), None).tolist()
                if engine.loss in RANKED_LOSSES:
                    levels_of(outputs, f"loss={engine.loss!r}")
    labels = [] if engine.classes is None else list(engine.classes)
    return {"text_labels": is_text(labels) if labels else text_labels, "reader": reader_of(engine), "labels": labels}


def again(source, flags, what) -> None:
    """Raises an error for data that cannot be read twice."""
    if not can_be_read_again(source.path):
        remedy = f"; name them with {flags}" if flags else ""
        raise OptionError(f"--stream needs a pass over the data to find {what}. But {name_of(source.path)} can be read only once"
                          f"{remedy}, or save the data to a file.")


def read_names(engine, source, plugins, outputs, wants_labels, wants_names) -> None:
    """The labels of all sentences, and the features of the template, both in the order of their first appearance."""
    labels, reader, rows = set(), None, None
    if wants_names:
        context = options_alone(engine, generator(engine.random_state))
        reader = ask(engine, "reader", context)
    with closing(parts(source, plugins)) as tables:
        for table in tables:
            passed(table.n_examples)
            if wants_labels:
                labels.update(outputs.labels_in(table.y))
            with counted_in(table, source.path):
                if wants_names and rows is None:
                    rows = reader.learn(table.X)
                elif wants_names:
                    reader.learn_more(table.X)
    if labels:
        engine.classes = outputs.find_labels(None, sorted(labels)).tolist()
    if wants_names:
        context = attrs.evolve(context, n_features=reader.n_features, sparse=rows.sparse, objects=rows.objects)
        install_model(engine, context, np.array(engine.classes), {}, {}, reader)
