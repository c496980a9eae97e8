"""`structperc evaluate | plot`: how good a trained model is."""

from __future__ import annotations

import numpy as np

from structperc import Engine, metrics
from structperc.basics.labels import plain_labels
from structperc.basics.writing import replace_file
from structperc.cli.commands import Command, path, reading
from structperc.cli.evaluation import Evaluation
from structperc.cli.files import PART_ROWS, check_writable, counted_in, exact_rows, parts_for
from structperc.cli.terminal import say, say_json, say_table
from structperc.core.outputs import is_ordered
from structperc.errors import DataError, OptionError
from structperc.extras import require
from structperc.files.opening import ending_of
from structperc.metrics.engines import Pairs
from structperc.pictures.markup import aligned, excerpt

SHOWN_LABELS = 15           # labels of which a confusion matrix still fits a terminal
SHOWN_UNSEEN = 5            # labels that a line has room for
PANEL = (5.6, 4.6)          # inches
DOTS_PER_INCH = 150


def evaluate(arguments) -> int:
    """Measures part after part, with memory for one part and the predictions."""
    engine = Engine.load(arguments.model)
    found = Evaluation(engine, arguments, lambda table: refuse_strangers(engine, table, arguments.data))
    measures, constant = found.measures(), found.constant()
    if arguments.json:
        say_json(record(engine, arguments, found, measures, constant))
        return 0
    say(f"{arguments.model} ({engine.problem}) on {arguments.data}, {found}")
    say_table(*measure_table(measures, constant))
    details = details_of(engine, found.judged, measures)
    if details.get("unknown labels"):
        say(f"  the model does not know the labels {counted(details['unknown labels'])}; they count as wrong, and there is no mean loss")
    if "phrases" in details:
        say_table(phrase_table(details["phrases"]))
    if "confusion matrix" in details and len(engine.classes_) <= SHOWN_LABELS:
        say_table(confusion(details["confusion matrix"], engine.classes_))
    return 0


def refuse_strangers(engine, table, path) -> None:
    """Raises an error for rows with labels that a model of single labels does not know."""
    labels = getattr(engine, "classes_", None)
    if labels is None or not engine.parts_.outputs.n_labels or np.ndim(table.y) != 1:
        return
    unseen = metrics.unseen_labels(plain_labels(table.y), labels)
    if unseen:
        listing = f"{', '.join(map(str, labels[:10]))}{', ...' * (len(labels) > 10)}"
        raise DataError(f"the target of {path} has labels that the model does not know, {counted(unseen, 'row')}; it knows {listing}. "
                        f"Name the column of right labels with --target, or leave these rows out.")


def details_of(engine, judged, measures) -> dict:
    """Measures of single labels, by name."""
    labels = getattr(engine, "classes_", None)
    if labels is None:
        return {}
    if not engine.parts_.outputs.n_labels:
        unseen = metrics.unseen_labels(list(engine.parts_.outputs.labels_in(judged.gold)), labels)
        phrases = (metrics.phrase_scores(metrics.sentences(judged.gold, judged.predicted), judged.predicted) if "phrase F1" in measures
                   else None)
        return {"unknown labels": unseen} | ({} if phrases is None else {"phrases": phrases})
    if isinstance(judged, Pairs):
        return {"confusion matrix": judged.matrix()}
    gold = np.asarray(judged.gold)
    if exact_rows(gold).all():
        return {"confusion matrix": metrics.confusion_matrix(gold[:, 0] if gold.ndim == 2 else gold, judged.predicted, labels)}
    return {}


def measure_table(measures, constant) -> tuple:
    """Measures by name as a table with its head, and as plain lines. Those of the best constant are beside them, if there is one."""
    rows = [[name, f"{value:.4f}"] for name, value in measures.items()]
    if constant is not None:
        rows = [["measure", "model", f"constant {excerpt(constant.answer, 24)}"], *([*row, beside(constant, row[0])] for row in rows)]
        return rows, aligned(rows)
    width = max(map(len, measures), default=0)
    return [["measure", ""], *rows], [f"  {name:<{width}}  {value}" for name, value in rows]


def beside(constant, name) -> str:
    """A measure of the constant, or nothing if it has none."""
    return f"{constant.measures[name]:.4f}" if name in constant.measures else ""


def record(engine, arguments, found, measures, constant) -> dict:
    """An evaluation for programs; `structperc evaluate --help` describes it."""
    labels, details = getattr(engine, "classes_", None), details_of(engine, found.judged, measures)
    if "confusion matrix" in details:
        details["confusion matrix"] = details["confusion matrix"].tolist()
    if "phrases" in details:
        scores = {"all": details["phrases"], **details["phrases"].types}
        details["phrases"] = {name: {"true": one.true, "predicted": one.predicted, "correct": one.correct, "precision": one.precision,
                                     "recall": one.recall, "F1": one.f1} for name, one in scores.items()}
    return {"problem": engine.problem, "model": arguments.model, "data": arguments.data, "examples": found.n_examples,
            "measures": measures, "labels": None if labels is None else plain_labels(labels),
            "constant": None if constant is None else {"answer": constant.answer, "measures": constant.measures}, **details}


def counted(counts, noun="token") -> str:
    """The most frequent labels with their numbers of tokens."""
    texts = [f"{label} ({count} {noun}{'s' * (count != 1)})" for label, count in counts.items()]
    return ", ".join(texts if len(texts) <= SHOWN_UNSEEN else [*texts[:SHOWN_UNSEEN], "..."])


def phrase_table(scores) -> list:
    """How well the phrases of each type are found, the head first."""
    rows = [["phrases", "in data", "predicted", "right", "precision", "recall", "F1"]]
    for name, one in (("all", scores), *scores.types.items()):
        rows.append([name, *map(str, (one.true, one.predicted, one.correct)), *(f"{v:.4f}" for v in (one.precision, one.recall, one.f1))])
    return rows


def confusion(matrix, labels) -> list:
    """The confusion matrix with names, the head first."""
    names = [str(label) for label in labels]
    return [["right \\ predicted", *names], *([name, *map(str, row)] for name, row in zip(names, matrix.tolist(), strict=True))]


def scored_ranks(engine, arguments, latent_scores) -> tuple:
    """Latent scores of rows with exact ranks, means and standard deviations of cut points, and these ranks."""
    latent, ranks, n, mean, squares = [], [], 0, 0.0, 0.0
    for table in parts_for(engine, arguments, rows=PART_ROWS):
        exact = exact_rows(table.y)
        if exact.any():
            with counted_in(table, arguments.data):
                scores, cuts = latent_scores(engine, table.X[exact])
            latent.append(scores)
            ranks.append(table.y[exact][:, 0] if table.y.ndim == 2 else table.y[exact])
            apart, total = cuts.mean(axis=0) - mean, n + len(cuts)
            squares = squares + ((cuts - cuts.mean(axis=0)) ** 2).sum(axis=0) + apart**2 * (n * len(cuts) / total)
            mean, n = mean + apart * (len(cuts) / total), total
    if not n:
        raise OptionError(f"--data draws the rows of each rank, but {arguments.data} knows none but intervals; name data with exact ranks.")
    return np.concatenate(latent), mean, np.sqrt(squares / n), np.concatenate(ranks)


def plot(arguments) -> int:
    check_writable("--output", arguments.output, arguments.model, arguments.data)
    figures = require("matplotlib.figure", "structperc plot", "plot")
    from structperc import plotting

    engine = Engine.load(arguments.model)
    panels = [plotting.plot_learning_curve] if engine.mistakes_ else []
    if arguments.data:
        if not is_ordered(engine.parts_.outputs):
            raise OptionError(f"--data draws the thresholds between ranks, but {engine.problem} predicts no ranks; leave it out.")
        scored = scored_ranks(engine, arguments, plotting.latent_scores)
        panels.append(lambda engine, ax: plotting.draw_thresholds(engine, *scored, ax))
    if hasattr(engine, "coef_"):
        panels.append(plotting.plot_weights)
    if not panels:
        raise DataError(f"{arguments.model} has neither a finished epoch nor weights to draw; name --data for its thresholds.")
    figure = figures.Figure(figsize=(PANEL[0] * len(panels), PANEL[1]), layout="constrained")
    for ax, draw in zip(np.ravel(figure.subplots(1, len(panels))), panels, strict=True):
        draw(engine, ax=ax)
    kind = ending_of(arguments.output)[1:] or "png"
    if kind not in figure.canvas.get_supported_filetypes():
        raise OptionError(f"--output {arguments.output!r}: .{kind} is no format of pictures; expected .png, .pdf or .svg.")
    replace_file(arguments.output, lambda file: figure.savefig(file, format=kind, dpi=DOTS_PER_INCH))
    say(f"{arguments.output} shows {arguments.model} in {len(panels)} panel{'s' * (len(panels) > 1)}")
    return 0


def evaluate_arguments(made) -> None:
    made.add_argument("model", metavar="MODEL", type=path, help="a file written by fit")
    made.add_argument("data", metavar="DATA", type=path, help="the data; - for standard input")
    made.add_argument("--target", metavar="NAME", help="the column of true labels; default: that of fit")
    made.add_argument("--json", action="store_true", help="print the measures as one JSON object")
    reading(made)


EVALUATE = Command(evaluate, evaluate_arguments, """\
examples:
  structperc evaluate wine.model test.csv --target quality
  structperc evaluate chunks.model test.txt
  structperc evaluate tags.model test.conllu --target upos

more: structperc help measures, data, columns, json
""")


def plot_arguments(made) -> None:
    made.add_argument("model", metavar="MODEL", type=path, help="a file written by fit")
    made.add_argument("--data", metavar="DATA", type=path, help="examples for the panel of thresholds")
    made.add_argument("--target", metavar="NAME", help="the column of true labels in DATA")
    made.add_argument("--output", metavar="FILE", type=path, required=True, help="the picture")
    reading(made, examples=False)


PLOT = Command(plot, plot_arguments, """\
examples:
  structperc plot wine.model --output wine.png
  structperc plot wine.model --data test.csv --target quality --output wine.pdf

Panels: mistakes per epoch; the largest weights by name; with --data, the scores
of each true rank and the thresholds. The ending of FILE chooses the format:
.png, .pdf or .svg.
""")
