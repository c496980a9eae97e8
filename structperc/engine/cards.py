"""What a notebook shows of a model: its options, what training made of it, the mistakes of its epochs and its largest weights."""

from __future__ import annotations

import attrs
import numpy as np

from structperc.basics.errors import shortened
from structperc.core.outputs import is_ordered
from structperc.engine.baselines import CONSTANT, named
from structperc.fitting.options import changed_options
from structperc.pictures import Box, Line, Picture, Text
from structperc.pictures.markup import block, details, element, excerpt, table

WEIGHTS, LABELS, EPOCHS = 8, 8, 60         # that are shown


@attrs.frozen
class Curve(Picture):
    """A bar for each epoch, its height a count; of many epochs every n-th is drawn."""
    # counts: sequence of int

    counts: list
    title: str

    def shapes(self):
        every = -(-len(self.counts) // EPOCHS)
        counts = self.counts[::every]
        largest, width = max(counts, default=0) or 1, min(20.0, 480 / max(len(counts), 1))
        shapes = [Text(0, 12, self.title), Line(0, 72, width * len(counts), 72)]
        for k, count in enumerate(counts):
            height = 52 * count / largest
            shapes.append(Box(width * k + 0.1 * width, 72 - height, 0.8 * width, height, 0.75))
        return shapes if not counts else [*shapes, Text(width * len(counts) + 6, 72, f"{self.counts[-1]} in epoch {len(self.counts)}")]


def engine_card(engine):
    """The piece of a page that shows an engine."""
    problem = name_of(engine.problem)
    return block(element("p", element("b", f"Engine({problem!r})"), *said_of(engine)), options_of(changed_options(engine)),
                 *training_of(engine))


def estimator_card(estimator, changed):
    """The piece of a page that shows an estimator. `changed` are the parameters that are not at their defaults."""
    engine = vars(estimator).get("engine_")
    fitted = [] if engine is None else training_of(engine)
    return block(element("p", element("b", type(estimator).__name__), *([] if engine is None else said_of(engine))), options_of(changed),
                 *fitted)


def name_of(problem) -> str:
    return problem if isinstance(problem, str) else getattr(problem, "name", None) or type(problem).__name__


def said_of(engine) -> list:
    """Whether and how an engine was trained, in words."""
    if engine.model is None:
        return [" — not trained yet"]
    n = len(engine.mistakes_)
    return [f" — trained for {n} epoch{'s' * (n != 1)}" + (f", {engine.status_}" if engine.status_ else "")]


def options_of(options):
    """The options that are not at their defaults."""
    if not options:
        return element("p", "all options at their defaults", class_="quiet")
    return table([(name, shortened(value, 80)) for name, value in options.items()], ("option", "value"))


def training_of(engine) -> list:
    """What is known once an engine was trained."""
    if engine.model is None:
        return []
    context, rows = engine.model.context, []
    if context.labels is not None:
        labels = ", ".join(excerpt(label, 24) for label in context.labels[:LABELS])
        rows.append(("labels", f"{labels}, … ({len(context.labels)} of them)" if len(context.labels) > LABELS else labels))
    if not context.objects:
        rows.append(("columns", f"{engine.n_features_in_}{' (sparse)' if context.sparse else ''}"))
    if engine.temperature_ != 1:
        rows.append(("temperature", f"{engine.temperature_:.4g}"))
    if engine.spread_:
        rows.append(("spread", f"{engine.spread_:.4g}"))
    parts = [table(rows)] if rows else []
    if engine.mistakes_:
        parts.append(Curve(engine.mistakes_, "mistakes in each epoch").svg())
    return [*parts, *weights_of(engine)]


def weights_of(engine) -> list:
    """The largest weights, where there are weights of columns."""
    rows = weight_rows(engine)
    head = ("column", "direction of" if any(row[1] for row in rows) else "", "weight")
    return [details("largest weights", table(rows, head, numbers=(2,)))] if rows else []


def weight_rows(engine) -> list:
    """The largest weights with their columns and directions; none where there are no weights of columns."""
    if "coef_" not in engine.model.attributes():
        return []
    rows = np.atleast_2d(engine.coef_)
    if rows.ndim != 2 or not rows.any():
        return []
    of_row, chosen = largest(rows, WEIGHTS)
    return [(weight_name(engine, rows, k, j), row_name(engine, k, len(rows)) if len(rows) > 1 else "", f"{rows[k, j]:+.4g}")
            for k, j in zip(of_row.tolist(), chosen.tolist(), strict=True) if rows[k, j]]


def weight_name(engine, rows, k, j) -> str:
    """What the weight in row k and column j of coef_ belongs to: a column, or what the map names."""
    features, number = engine.parts_.features, int(k) * rows.shape[1] + int(j)
    own = rows.size == features.n_weights or rows.shape[1] > engine.model.context.n_features
    if own and features.column_of(np.array([number]))[0] < 0:
        return named(features, number) or CONSTANT
    return engine.feature_name(int(j))


def row_name(engine, k, n_rows) -> str:
    """What row k of coef_ is the direction of."""
    labels = engine.model.context.labels
    if labels is None or len(labels) != n_rows:
        return f"row {k}"
    return f">= {labels[k]}" if is_ordered(engine.parts_.outputs) else str(labels[k])


def largest(rows, top):
    """Rows and columns of the `top` largest absolute values, falling; among equals the earlier."""
    size = np.abs(rows).ravel()
    least = np.partition(size, -top)[-top] if top < size.size else 0
    places = np.flatnonzero(size >= least)
    return np.unravel_index(places[np.argsort(-size[places], kind="stable")[:top]], rows.shape)


def history_card(records):
    """The piece of a page that shows the epochs of a training."""
    if not records:
        return block(element("p", element("b", "History"), " — no epoch yet"))
    every = -(-len(records) // EPOCHS)
    rows = [(r.epoch, r.mistakes, r.updates, f"{r.loss:.6g}", f"{r.seconds:.3g}") for r in records[::every]]
    last = records[-1]
    return block(element("p", element("b", "History"), f" — {len(records)} epochs of {last.examples} examples"),
                 Curve([r.mistakes for r in records], "mistakes in each epoch").svg(),
                 details("epochs", table(rows, ("epoch", "mistakes", "updates", "loss", "seconds"), numbers=range(5))))
