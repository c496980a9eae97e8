"""Errors of numbers that are not finite: in X, in scores and in weights."""

from __future__ import annotations

import numpy as np

from structperc.basics.errors import DataError, PluginError, StructPercError
from structperc.reading import matrices


def not_finite(rows, example, said=None) -> StructPercError:
    """Why the scores of this example are not finite; `said`: the sentence on an author's code that returned them."""
    error = matrices.not_finite_entry(rows, example)
    if error is None and said is not None:
        return PluginError(f"{said}; expected finite numbers.")
    return error or DataError(
        f"the scores of example {example} overflow although its row is finite. The weights or the features are too large for floating "
        f"point. Scale the features, for instance to unit variance.")


def refuse_scores(rows, scores, start) -> None:
    """Raises an error for scores that are not finite, of the examples from `start` on: a row each, or flat with their offsets."""
    flat = isinstance(scores, tuple)
    finite = np.isfinite(scores[0] if flat else scores)
    if not finite.all():
        i = np.searchsorted(scores[1], np.argmin(finite), "right") - 1 if flat else np.argmin(finite.all(axis=1))
        raise not_finite(rows, start + int(i))


def overflow() -> DataError:
    return DataError("the last steps have made weights overflow; the features, costs or sample weights are too large for floating point. "
                     "Scale the features, for instance to unit variance.")
