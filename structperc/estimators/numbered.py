"""Whether a tool of scikit-learn has numbered sorted texts before a ranker sees them. The order of the ranks is then lost.

Ensembles and `cross_val_predict` pass such numbers without a sign. Only the tool has the texts, in `classes_`, while it calls `fit`. In
another process there is no such call. But the tool clones the ranker before, so the clone notes the tool and its texts.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from structperc.errors import DataError
from structperc.estimators.scikit_learn import BaseEstimator

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

SHOWN = 5           # texts that the message lists
NOTED = "_numbered_by"
CLONING = "sklearn.base"        # its frames hold what is cloned, and the texts of an earlier fit


def refuse_numbered(y) -> None:
    """Raises an error if y has three or more numbers, and the tool that calls `fit` holds texts for them."""
    # Two ranks are symmetric: their order changes no prediction.
    if not isinstance(y, np.ndarray) or y.dtype.kind not in "iu" or y.ndim != 1 or not y.size or y.min() < 0:
        return
    for tool, texts in numbering():
        if y.max() < len(texts) and len(np.unique(y)) > 2:
            listed = ", ".join(map(repr, texts[:SHOWN])) + (", ..." if len(texts) > SHOWN else "")
            raise DataError(f"y has whole numbers, which {tool} made of the sorted texts {listed}. So the order of the ranks is lost. Pass "
                            f"classes=[lowest, ..., highest] to the ranker, or pass {tool} the ranks as numbers.")


def noting(ranker) -> Any:
    """The ranker, a clone, with the tools of scikit-learn that make it, if they have numbered texts."""
    if tools := list(numbering()):
        vars(ranker)[NOTED] = tools
    return ranker


def numbering() -> Iterator[tuple[str, list[str]]]:
    """The tools that now fit or clone a ranker, the nearest first: the name of each, and the sorted texts it has numbered."""
    frame, ranker = sys._getframe(1), None
    while frame is not None:
        caller = frame.f_locals.get("self")
        if package_of(frame).startswith("structperc"):
            if isinstance(caller, BaseEstimator):
                if ranker is not None and caller is not ranker:
                    return                              # structperc's estimator around this one has checked the labels
                if ranker is None:
                    yield from vars(caller).get(NOTED, ())
                ranker = caller
        elif frame.f_globals.get("__name__") != CLONING:
            at_hand = [one for name, one in frame.f_locals.items() if name == "ensemble" or type(one).__name__ == "LabelEncoder"]
            for one in (caller, *(at_hand if package_of(frame) == "sklearn" else ())):
                texts = vars(one).get("classes_") if isinstance(one, BaseEstimator) else None
                if isinstance(texts, np.ndarray) and texts.ndim == 1 and all(isinstance(text, str) for text in texts):
                    yield frame.f_code.co_name if type(one).__name__ == "LabelEncoder" else type(one).__name__, texts.tolist()
        frame = frame.f_back


def package_of(frame: FrameType) -> str:
    return frame.f_globals.get("__name__", "").partition(".")[0]
