"""Predictions by several threads, equal to those of one."""

from __future__ import annotations

import numpy as np

from structperc.basics.errors import StructPercError
from structperc.basics.signals import map_in_threads


def predicted(model, rows, n_threads):
    """The result of `model.predict(rows)`, by threads that predict a part each. All see the model of one moment."""
    # If training on a chunk of a stream has changed the model, one thread starts again.
    n, parts = rows.n_examples, min(n_threads, rows.n_examples)
    if parts < 2:
        return model.predict(rows)
    pieces = [rows.part(n * i // parts, n * (i + 1) // parts) for i in range(parts)]
    before = model.parts.weights.n_visited
    try:
        answers = map_in_threads(model.predict, pieces, parts)
    except StructPercError:             # its sentence counts examples from the beginning of a part
        return model.predict(rows)
    return np.concatenate(answers) if model.parts.weights.n_visited == before else model.predict(rows)
