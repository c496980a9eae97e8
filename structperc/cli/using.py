"""`structperc predict | evaluate | plot`: what a trained model is good for."""

from __future__ import annotations

import sys

import numpy as np

from structperc import Engine, metrics
from structperc.cli.files import answers, check_writable, read_for
from structperc.errors import DataError
from structperc.extras import require
from structperc.tables import row_marks, write_predictions

SHOWN_LABELS = 15           # labels of which a confusion matrix still fits a terminal
PANEL = (5.6, 4.6)          # inches
DOTS_PER_INCH = 150


def predict(arguments) -> int:
    if arguments.output:
        check_writable(arguments.output)
    engine = Engine.load(arguments.model)
    table = read_for(engine, arguments, arguments.data, needs_target=False)
    predicted = engine.predict(table.X, offsets=table.offsets)
    if table.offsets is not None:
        predicted = row_marks(predicted, table.offsets)
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8", newline="") as file:
            write_predictions(file, predicted)
    else:
        write_predictions(sys.stdout, predicted)
    return 0


def evaluate(arguments) -> int:
    engine = Engine.load(arguments.model)
    table = read_for(engine, arguments, arguments.data)
    found = metrics.measures(engine, table.X, answers(table), table.offsets)
    width = max(map(len, found), default=0)
    print(f"{arguments.model} ({engine.problem}) on {arguments.data}, {table.X.shape[0]} rows")
    for name, value in found.items():
        print(f"  {name:<{width}}  {value:.4f}")
    labels = getattr(engine, "classes_", None)
    if labels is not None and len(labels) <= SHOWN_LABELS:
        print(confusion(metrics.confusion_matrix(table.y, engine.predict(table.X), labels), labels))
    return 0


def confusion(matrix, labels) -> str:
    """The confusion matrix as aligned text."""
    names = [str(label) for label in labels]
    cells = [["right \\ predicted", *names], *([name, *map(str, row)] for name, row in zip(names, matrix.tolist(), strict=True))]
    widths = [max(len(row[j]) for row in cells) for j in range(len(cells[0]))]
    return "\n".join("  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)


def plot(arguments) -> int:
    check_writable(arguments.output)
    figures = require("matplotlib.figure", "structperc plot", "plot")
    from structperc import plotting

    engine = Engine.load(arguments.model)
    panels = [plotting.plot_learning_curve] if engine.mistakes_ else []
    if arguments.data:
        table = read_for(engine, arguments, arguments.data)
        panels.append(lambda engine, ax: plotting.plot_thresholds(engine, table.X, table.y, ax))
    if hasattr(engine, "coef_"):
        panels.append(plotting.plot_weights)
    if not panels:
        raise DataError(f"{arguments.model} has neither a finished epoch nor weights to draw; name --data for its thresholds.")
    figure = figures.Figure(figsize=(PANEL[0] * len(panels), PANEL[1]), layout="constrained")
    for ax, draw in zip(np.ravel(figure.subplots(1, len(panels))), panels, strict=True):
        draw(engine, ax=ax)
    figure.savefig(arguments.output, dpi=DOTS_PER_INCH)
    print(f"{arguments.output} shows {arguments.model} in {len(panels)} panel{'s' * (len(panels) > 1)}")
    return 0
