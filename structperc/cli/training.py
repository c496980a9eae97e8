"""`structperc fit`: train, save, and print what was learned."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import attrs

from structperc import Engine
from structperc.cli import column_files, item_files, progress, sharded, streaming, table_flags
from structperc.cli.commands import SETTING, Command, completed, interval, path, positive, reading
from structperc.cli.facts import Facts
from structperc.cli.files import (
    PART_ROWS,
    answers,
    check_writable,
    counted_in,
    is_text,
    outputs_of,
    read,
    reader_of,
    refuse_intervals,
)
from structperc.cli.settings import read_settings
from structperc.cli.source import Source
from structperc.cli.terminal import say, say_json, with_flags
from structperc.core.outputs import is_ordered
from structperc.core.weights import has_vector
from structperc.errors import DataError, OptionError, StructPercError
from structperc.files.opening import STANDARD_INPUT
from structperc.files.tables import parse_classes
from structperc.fitting.trainers import INTERRUPTED

TEXT_LABELS = {None: None, "text": True, "numbers": False}
SEED = 0                    # of `random_state`, so that the same command writes the same model
SHOWN = 10                  # names, labels and epochs that a line has room for
SAME = 0.98                 # of the mistakes before: hardly fewer
SCALE_RATIO = 20            # standard deviations that differ so much that training suffers


def fit(arguments) -> int:
    check_writable("--model", arguments.model, arguments.data, arguments.template, arguments.vectors)
    checkpoints = checkpoints_of(arguments)
    files, settings, classes, text_labels = data_and_settings(arguments)
    source, plugins = files[0], [arguments.problem, *arguments.plugin]
    streamed = progress.part_by_part(arguments)
    bar = None if streamed else progress.observer(arguments)
    observers = checkpoints if bar is None else [*checkpoints, bar]
    engine = Engine(arguments.problem, classes=classes, plugins=[*arguments.plugin, *observers], **settings)
    if source.has_items:
        item_files.refuse_reader(engine, reader_of(engine), source.path)
    if streamed:
        streaming.refuse(engine, source, plugins)
        bar = progress.observer(arguments, engine.epochs)
    if arguments.dask is not None:
        sharded.refuse(engine, files, arguments.data)
    engine.notes["data"] = source.notes()
    if source.has_columns:
        engine.notes["data"] |= column_files.noted_target(source, plugins)
    try:
        if streamed:
            facts = streaming.learn(engine, source, plugins, bar, arguments.resume, text_labels)
        elif arguments.dask is not None:
            facts = sharded.learn(engine, files, plugins, classes, arguments.resume, arguments.dask, arguments.stream, text_labels,
                                  None if bar is None else bar.note)
        else:
            facts = learn(engine, source, plugins, classes, arguments.resume, text_labels)
        engine.save(arguments.model)
    except DataError as error:
        kept = f" {save_what_was_learned(engine, arguments)}" if streamed and engine.model is not None and engine.mistakes_ else ""
        error.args = (with_flags(error) + kept,)
        raise
    except KeyboardInterrupt:
        raise KeyboardInterrupt(save_interrupted(engine, arguments)) from None
    finally:
        if bar is not None:
            bar.close()
    if arguments.json:
        say_json(record(engine, arguments, facts))
    elif not arguments.quiet:
        say(*summary(engine, arguments, facts))
    return 0


def data_and_settings(arguments) -> tuple:
    """The files, the options of the engine, the labels if they are named, and whether labels are texts."""
    columns = table_flags.options_of(arguments)
    if columns and table_flags.PLUGIN not in arguments.plugin:
        arguments.plugin = [*arguments.plugin, table_flags.PLUGIN]
    plugins = [arguments.problem, *arguments.plugin]
    settings = {"random_state": SEED} | read_settings(arguments.set, plugins) | columns | column_files.vectors_of(arguments)
    text_labels = TEXT_LABELS[arguments.labels]
    classes = None if arguments.classes is None else parse_classes(arguments.classes, text_labels)
    text_labels = text_labels if classes is None else is_text(classes)
    files = sharded.sources_of(Source.from_arguments(arguments, rows=arguments.rows if arguments.stream else None), arguments)
    source = column_files.with_usual_columns(files[0], plugins)
    if arguments.rows != PART_ROWS and not arguments.stream:
        raise OptionError("--rows sets how much --stream reads at a time; add --stream, or leave --rows out.")
    if source.has_columns:
        settings |= column_files.training_options(source, plugins, settings)
    if source.of_tokens and classes is not None:
        classes = column_files.split(arguments.classes)
    return [source, *(attrs.evolve(file, columns=source.columns) for file in files[1:])], settings, classes, text_labels


def checkpoints_of(arguments) -> list:
    """What writes the checkpoints that are asked for."""
    if arguments.checkpoint is None:
        if arguments.resume:
            raise OptionError("--resume goes on from a checkpoint; name its file with --checkpoint, or leave --resume out.")
        if arguments.checkpoint_every != (1, None):
            raise OptionError("--checkpoint-every has no effect without a checkpoint; name its file with --checkpoint, or leave it out.")
        return []
    before = f"{os.path.realpath(arguments.checkpoint)}.previous"           # the one before
    if os.path.realpath(arguments.checkpoint) == os.path.realpath(arguments.model):
        raise OptionError(f"--checkpoint and --model both name {arguments.model!r}; give the checkpoint a path of its own.")
    if os.path.realpath(arguments.model) == before:
        raise OptionError(f"--model {arguments.model!r} is where --checkpoint keeps the checkpoint before; choose another path.")
    for file in (arguments.checkpoint, before):
        check_writable("--checkpoint", file, arguments.data, arguments.template, arguments.vectors)
    from structperc.callbacks import Checkpoint

    return [Checkpoint(arguments.checkpoint, *arguments.checkpoint_every)]


def learn(engine, source, plugins, classes, resume, text_labels=None) -> Facts:
    """Trains an engine on all data at once."""
    reader = None if source.of_tokens else reader_of(engine)
    table = read(source, plugins, text_labels=text_labels, reader=reader, labels=classes or ())
    if getattr(table.y, "ndim", 1) == 2:
        refuse_intervals(table, outputs_of(engine), engine.problem)
    with counted_in(table, source.path):
        engine.fit(table.X, answers(engine, table), offsets=table.offsets, sample_weight=table.weights, resume=resume)
    return Facts.of(table)


def save_interrupted(engine, arguments) -> str:
    """Keeps what was learned before Ctrl-C, and prints a note."""
    path = arguments.model
    if engine.model is None or not engine.mistakes_:
        return "interrupted before training began; no model was written."
    engine.save(path)
    if engine.status_ != INTERRUPTED:
        return f"interrupted after training; the model is saved in {path}."
    further = "" if arguments.checkpoint is None else f" The same command with --resume goes on from {arguments.checkpoint}."
    return f"interrupted in epoch {max(1, len(engine.mistakes_))}; the model trained so far is saved in {path}.{further}"


def save_what_was_learned(engine, arguments) -> str:
    """Keeps what a stream has taught before a fault, and returns a note."""
    engine.save(arguments.model)
    return f"What was learned from the {engine.parts_.weights.n_visited} examples before is saved in {arguments.model}."


def summary(engine, arguments, facts) -> list[str]:
    """What was learned from what, where it is, and what to try next."""
    labels = getattr(engine, "classes_", None)
    lines = data_facts(engine, arguments, facts)
    if labels is not None:
        lines["labels"] = shorten(labels, " < " if is_ordered(engine.parts_.outputs) else ", ")
    if hasattr(engine, "n_support_"):
        lines["support"] = f"{engine.n_support_} rows, of which the weights are a sum"
    kind = "sentences" if facts.columns is None else "examples"
    bound = f" of at most {engine.epochs}" if "epochs" in engine.parts_.trainer.options_used else ""
    lines["epochs"] = f"{len(engine.mistakes_)}{bound}, {engine.status_}"
    lines["mistakes"] = f"{shorten(engine.mistakes_)} per epoch; the last is {engine.mistakes_[-1] / facts.examples:.1%} of the {kind}"
    constant = constant_of(engine, facts)
    if constant is not None:
        lines["constant"] = (f"always predicting {constant['answer']} is wrong on {constant['mistakes'] / facts.examples:.1%} of "
                             f"the {kind}")
    if hasattr(engine, "gap_"):
        lines["gap"] = f"{engine.gap_:.3g} at most above the optimum, of an objective of {engine.objective_:.6g}"
    lines["model"] = arguments.model
    return [
        f"{engine.problem} trained on {arguments.data}", *(f"  {key:<8}  {value}" for key, value in lines.items()),
        "next", *(f"  {step}" for step in next_steps(engine, arguments, facts)),
    ]  # fmt: skip


def record(engine, arguments, facts) -> dict:
    """The same for programs; `structperc fit --help` describes it."""
    labels = getattr(engine, "classes_", None)
    entries = {
        "problem": engine.problem, "data": arguments.data, "model": arguments.model, "examples": facts.examples, "rows": facts.rows,
        "features": engine.n_features_in_, "labels": None if labels is None else labels.tolist(), "epochs": len(engine.mistakes_),
        "status": engine.status_, "mistakes": engine.mistakes_, "loss": engine.cumulative_loss_,
    }  # fmt: skip
    constant = constant_of(engine, facts)
    if constant is not None:
        entries["constant"] = constant
    if hasattr(engine, "gap_"):
        entries |= {"objective": engine.objective_, "gap": engine.gap_}
    return entries | {"next": next_steps(engine, arguments, facts)}


def constant_of(engine, facts) -> dict | None:
    """The most frequent label and its number of mistakes, if each example has one label. Otherwise None."""
    if not engine.parts_.outputs.n_labels or not facts.answers or facts.weighted is not None:
        return None
    (answer, n), = facts.answers.most_common(1)
    return {"answer": answer, "mistakes": facts.examples - n}


def data_facts(engine, arguments, facts) -> dict:
    """How much there was to learn from, by name."""
    if facts.columns is None and engine.plugin_options.get("template") is None:
        return {"data": sizes(facts), "features": f"{engine.n_features_in_}"}
    if facts.columns is None:
        names, lines = engine.plugin_options["columns"], engine.plugin_options["template"].splitlines()
        template = "the default template" if arguments.template is None else f"the template {arguments.template}"
        own_cells = engine.n_features_in_ == len(names)         # X has the cells themselves; the lines make features of arcs later
        features = f"{counted(len(lines), 'line')} of {template}" if own_cells else f"{engine.n_features_in_} features by {template}"
        return {"data": sizes(facts),
                "columns": f"{', '.join(names)}; {features}"}
    names = getattr(engine, "feature_names_in_", None)
    numbered = f"{facts.columns}{', of which column 0 is empty: the file counts from 1' * facts.from_one}"
    columns = engine.parts_.reader.input_columns()
    keys = {"keys": shorten(columns.key_names or range(columns.n_keys))} if columns.n_keys else {}
    return {"rows": f"{facts}", "columns": numbered if names is None else f"{len(names)}: {shorten(names)}", **keys}


def sizes(facts) -> str:
    """Numbers of sentences, and of tokens if somebody has counted them."""
    return counted(facts.examples, "sentence") + ("" if facts.rows is None else f", {counted(facts.rows, 'token')}")


def next_steps(engine, arguments, facts) -> list[str]:
    """Commands and options to try."""
    model, data = shlex.quote(arguments.model), shlex.quote(arguments.data)
    flags = {"--format": arguments.format, "--query": arguments.query}
    if facts.columns is None and not facts.plain:
        flags |= {"--columns": arguments.columns, "--target": arguments.target}
    same = "".join(f" {flag}{'=' if value.startswith('-') else ' '}{shlex.quote(value)}" for flag, value in flags.items() if value)
    picture = shlex.quote(str(Path(arguments.model).with_suffix(".png")))
    rereadable = arguments.data != STANDARD_INPUT and not arguments.dask
    on_data = f" --data {data}{same}" if is_ordered(engine.parts_.outputs) and rereadable else ""
    steps = [f"structperc evaluate {model} OTHER_DATA{same}",
             f"structperc plot {model}{on_data} --output {picture}"]
    if has_vector(engine.parts_.weights):
        steps.append(f"structperc explain {model} OTHER_DATA{same} --row 1")
    try:
        engine.parts_.trainer.check_answers()
    except StructPercError as error:
        steps = [f"no predictions: {error}"]
    trainer = engine.parts_.trainer
    if engine.status_ == "max_epochs":
        switches = [f"--set {name}=true" for name in ("shuffle", "average")
                    if trainer.online and not getattr(engine, name) and acts(engine, name)]
        if hasattr(engine, "gap_") or not levelled_off(trainer.learning_curve(engine)):
            epochs = max(20, 2 * engine.epochs) if trainer.online else max(1000, 10 * engine.epochs)
            why = "mistakes may still fall" if trainer.online else "it did not converge"
            steps.append(f"{why}: add {' '.join([f'--set epochs={epochs}', *switches])}")
        elif switches:
            steps.append(f"mistakes have levelled off, so that more epochs change little: add {' '.join(switches)}")
        else:
            steps.append("mistakes have levelled off: the rest is noise, or needs other features or a kernel")
    scale = facts.scale(engine.plugin_options.get("drop") or ())
    if scale > SCALE_RATIO and engine.model_.scaling is None and scales(engine):
        steps.append(f"the largest standard deviation of a column is {scale:.0f} times the smallest: add --set scale=true")
    return steps


def levelled_off(curve) -> bool:
    """Whether mistakes, or losses, fell by less than 2 % in the last quarter of the epochs."""
    n = len(curve) // 4
    return n >= 2 and sum(curve[-n:]) >= SAME * sum(curve[-2 * n:-n])


def acts(engine, name) -> bool:
    """Whether `shuffle` or `average` has an effect with the parts, which learn online."""
    return name in engine.parts_.trainer.options_used or any(name in engine.reads.get(kind, ()) for kind in ("trainer", "weights"))


def scales(engine) -> bool:
    """Whether training on scaled columns may make a difference: of stumps it makes none."""
    return engine.parts_.features.layout.n_blocks > 0


def counted(n, noun) -> str:
    return f"{n} {noun}{'s' * (n != 1)}"


def shorten(values, separator=", ") -> str:
    """The first and last of many values."""
    texts = [str(value) for value in values]
    if len(texts) > SHOWN:
        texts = [*texts[:SHOWN // 2], "...", *texts[-(SHOWN // 2):]]
    return separator.join(texts)


def fit_arguments(made) -> None:
    completed(made.add_argument("problem", metavar="PROBLEM", help="what to learn: cusum, prank, sequence, ..."), "problem")
    made.add_argument("data", metavar="DATA", type=path, help="training data; - for standard input")
    made.add_argument("--target", metavar="NAME", help="the column to predict; LOW,HIGH for intervals")
    made.add_argument("--model", metavar="FILE", type=path, required=True, help="the model to write")
    completed(made.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="an option, as epochs=50; may be repeated"),
               SETTING)
    completed(made.add_argument("--plugin", metavar="NAME", action="append", default=[],
                                help="a plugin that replaces parts; may be repeated"), "part")
    made.add_argument("--classes", metavar="A,B,C", help="the labels in order, lowest first, if they are texts")
    made.add_argument("--labels", choices=("text", "numbers"), help="what labels such as 007 are; default: text")
    made.add_argument("--weight", metavar="COLUMN", help="a column of sample weights")
    reading(made)
    made.add_argument("--stream", action="store_true", help="read the data part by part, if memory is short")
    made.add_argument("--dask", metavar="ADDRESS", help="train on Dask's workers: an address, or local:N")
    made.add_argument("--rows", metavar="N", type=positive, default=PART_ROWS,
                      help=f"examples in a part, at most; default {PART_ROWS}")
    made.add_argument("--template", metavar="FILE", type=path, help="feature template of a tagger")
    made.add_argument("--vectors", metavar="FILE", type=path, help="word vectors of a tagger, as text")
    made.add_argument("--checkpoint", metavar="FILE", type=path, help="file for the state of training after each epoch")
    made.add_argument("--checkpoint-every", metavar="N", type=interval, default=(1, None),
                      help="epochs (parts of --stream) between two, or 10min")
    made.add_argument("--resume", action="store_true", help="continue from the checkpoint, if there is one")
    table_flags.add(made)
    bar = made.add_mutually_exclusive_group()
    bar.add_argument("--progress", action="store_true", help="show progress without a terminal too")
    bar.add_argument("--quiet", action="store_true", help="print only errors")
    made.add_argument("--json", action="store_true", help="print a summary as one JSON object")


FIT = Command(fit, fit_arguments, """\
examples:
  structperc fit prank wine.csv --target quality --model wine.model
  structperc fit cusum v.csv --target level --classes low,high --model v.model
  structperc fit prank wine.csv --target quality --model m --set epochs=50
  structperc fit interval-pa v.csv --target least,most --model v.model
  structperc fit sequence train.txt --columns word,pos,chunk --model m

more: structperc help cusum (or another problem), options, data, columns,
templates, tables, streams, checkpoints, dask, json
""")
