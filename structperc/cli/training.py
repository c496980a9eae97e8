"""`structperc fit`: train, save, and say what was learned."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import numpy as np

from structperc import Engine
from structperc.cli import column_files
from structperc.cli.column_files import Tokens
from structperc.cli.files import answers, check_writable, exact_rows, is_text, outputs_of, read, refuse_intervals
from structperc.cli.settings import read_settings
from structperc.cli.source import Source
from structperc.cli.terminal import say
from structperc.engine.trainers import INTERRUPTED
from structperc.errors import DataError, MissingExtra, NotFittedError
from structperc.files.csv_svmlight import parse_classes

SHOWN = 10                  # names, labels and epochs that a line has room for
SCALE_SAMPLE = 10_000       # rows looked at for
SCALE_RATIO = 100           # standard deviations that differ so much that training suffers


def fit(arguments) -> int:
    check_writable("--model", arguments.model, arguments.data, arguments.template)
    settings = read_settings(arguments.set, [arguments.problem, *arguments.plugin])
    classes = None if arguments.classes is None else parse_classes(arguments.classes)
    source = Source.named(arguments)
    if source.has_columns:
        settings |= column_files.training_options(source, [arguments.problem, *arguments.plugin])
        classes = None if classes is None else column_files.split(arguments.classes)
    bar = progress_bar(arguments)
    observers = [] if bar is None else [bar]
    engine = Engine(arguments.problem, classes=classes, plugins=[*arguments.plugin, *observers], **settings)
    table = read(source, text_labels=classes is not None and is_text(classes))
    if getattr(table.y, "ndim", 1) == 2:
        refuse_intervals(table, outputs_of(engine), arguments.problem)
    try:
        engine.fit(table.X, answers(engine, table), offsets=table.offsets, sample_weight=table.weights)
        engine.save(arguments.model)
    except DataError as error:
        if classes is None and "classes=" in str(error):
            raise DataError(f"{error} Here that is --classes A,B,C.") from None
        raise
    except KeyboardInterrupt:
        raise KeyboardInterrupt(save_interrupted(engine, arguments.model)) from None
    finally:
        if bar is not None:
            bar.close()
    if not arguments.quiet:
        say(*summary(engine, arguments, table))
    return 0


def progress_bar(arguments):
    """A bar where somebody watches, or asked for one."""
    if arguments.quiet or not (arguments.progress or sys.stderr.isatty()):
        return None
    from structperc.callbacks import Progress

    try:
        return Progress(delay=0.0 if arguments.progress else 1.0)
    except MissingExtra:
        if arguments.progress:
            raise
        return None


def save_interrupted(engine, path) -> str:
    """Keeps what was learned before Ctrl-C, and says so."""
    try:
        engine.save(path)
    except NotFittedError:
        return "interrupted before training began; no model was written."
    if engine.status_ != INTERRUPTED:
        return f"interrupted after training; the model is saved in {path}."
    return f"interrupted in epoch {max(1, len(engine.mistakes_))}; the model trained so far is saved in {path}."


def summary(engine, arguments, table) -> list[str]:
    """What was learned from what, where it is, and what to try next."""
    labels = getattr(engine, "classes_", None)
    facts = data_facts(engine, arguments, table)
    if labels is not None:
        facts["labels"] = shorten(labels, " < " if is_ordered(engine) else ", ")
    if hasattr(engine, "n_support_"):
        facts["support"] = f"{engine.n_support_} rows, of which the weights are a sum"
    kind = "sentences" if isinstance(table, Tokens) else "examples"
    facts["epochs"] = f"{len(engine.mistakes_)} of at most {engine.epochs}, {engine.status_}"
    facts["mistakes"] = f"{shorten(engine.mistakes_)} per epoch; the last is {engine.mistakes_[-1] / table.n_examples:.1%} of the {kind}"
    facts["model"] = arguments.model
    return [
        f"{engine.problem} trained on {arguments.data}", *(f"  {key:<8}  {value}" for key, value in facts.items()),
        "next", *(f"  {step}" for step in next_steps(engine, arguments, table)),
    ]  # fmt: skip


def data_facts(engine, arguments, table) -> dict:
    """How much there was to learn from, by name."""
    if isinstance(table, Tokens):
        names = ", ".join(engine.plugin_options["columns"])
        template = "the default template" if arguments.template is None else f"the template {arguments.template}"
        return {"data": f"{table}", "columns": f"{names}; {engine.n_features_in_} features by {template}"}
    (n_rows, n_columns), names = table.X.shape, getattr(engine, "feature_names_in_", None)
    facts = {"rows": f"{n_rows}", "columns": f"{n_columns}"}
    if table.offsets is not None:
        facts["rows"] += f" in {table.n_examples} examples"
    if getattr(table.y, "ndim", 1) == 2:
        facts["rows"] += f", {np.count_nonzero(~exact_rows(table.y))} of them known as intervals"
    if table.weights is not None:
        facts["rows"] += f", {np.count_nonzero(table.weights)} of them with weight"
    if names is not None:
        facts["columns"] += f": {shorten(names)}"
    return facts


def next_steps(engine, arguments, table) -> list[str]:
    """Commands and options to try."""
    model, data = shlex.quote(arguments.model), shlex.quote(arguments.data)
    flags = {"--format": arguments.format, "--separator": arguments.separator}
    if not (isinstance(table, Tokens) and table.plain):
        flags |= {"--columns": arguments.columns, "--target": arguments.target, "--group": arguments.group}
    same = "".join(f" {flag}{'=' if value.startswith('-') else ' '}{shlex.quote(value)}" for flag, value in flags.items() if value)
    picture = shlex.quote(str(Path(arguments.model).with_suffix(".png")))
    steps = [f"structperc evaluate {model} OTHER_DATA{same}",
             f"structperc plot {model}{f' --data {data}{same}' if is_ordered(engine) else ''} --output {picture}"]
    if engine.status_ == "max_epochs":
        switches = [f"--set {name}=true" for name in ("shuffle", "average") if not getattr(engine, name)]
        steps.append(f"it did not converge: add {' '.join([f'--set epochs={max(20, 2 * engine.epochs)}', *switches])}")
    ratio = scale_ratio(table.X)
    if ratio > SCALE_RATIO:
        steps.append(f"the largest standard deviation of a column is {ratio:.0f} times the smallest: bring columns to one scale first")
    return steps


def scale_ratio(X) -> float:
    """The largest standard deviation of a column over the smallest; 1 for sparse data."""
    if not hasattr(X, "to_numpy"):
        return 1.0
    spread = X.to_numpy()[:SCALE_SAMPLE].std(axis=0)
    spread = spread[spread > 0]
    return float(spread.max() / spread.min()) if len(spread) else 1.0


def is_ordered(engine) -> bool:
    return engine.parts_.outputs.ordered


def shorten(values, separator=", ") -> str:
    """The first and last of many values."""
    texts = [str(value) for value in values]
    if len(texts) > SHOWN:
        texts = [*texts[:SHOWN // 2], "...", *texts[-(SHOWN // 2):]]
    return separator.join(texts)
