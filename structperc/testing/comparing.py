"""What checks compare and require."""

from __future__ import annotations

import numpy as np

from structperc.fitting.options import changed_options
from structperc.testing.case import MOST_STRUCTURES, close

NOT_LISTED = f"Outputs.enumerate does not list Y(x), or lists more than {MOST_STRUCTURES} structures"


def go_on(engine, data) -> None:
    """Learns on: a pass more, or for a trainer that takes no chunks a fit more."""
    (engine.partial_fit if engine.parts_.trainer.online else engine.fit)(data.X, data.y, offsets=data.offsets)


def require(condition, sentence) -> None:
    if not condition:
        raise AssertionError(sentence)


def name_of(component) -> str:
    return type(component).__name__


def unchanged(before, after) -> bool:
    """Whether two objects are equal, arrays and sparse matrices within them too."""
    if hasattr(before, "indptr"):
        return all(unchanged(getattr(before, name), getattr(after, name)) for name in ("data", "indices", "indptr"))
    if isinstance(before, np.ndarray) and before.dtype != object:
        return np.array_equal(before, after, equal_nan=before.dtype.kind in "fc")
    if isinstance(before, dict):
        return list(before) == list(after) and all(unchanged(before[key], after[key]) for key in before)
    if isinstance(before, (list, tuple, np.ndarray)):
        return len(before) == len(after) and all(map(unchanged, before, after))
    return bool(np.all(before == after))


def reaches(score, best) -> bool:
    return bool(score >= best - 1e-9 * (1 + abs(best)))


def plain(y):
    """A decoded structure as plain values and lists of them, nested as it is, which can be compared."""
    if hasattr(y, "tolist"):
        y = y.tolist()
    if isinstance(y, dict):
        return {key: plain(part) for key, part in y.items()}
    return [plain(part) for part in y] if isinstance(y, (list, tuple)) else y


def listed(structures) -> list:
    """Decoded structures as lists of plain values."""
    return [plain(y) for y in structures]


def predictions(engine, data) -> list:
    return listed(engine.predict(data.X, offsets=data.offsets))


def atom_scores(engine, data) -> np.ndarray:
    return np.concatenate([np.ravel(s) for s in engine.atom_scores(data.X, offsets=data.offsets)])


def require_same(case, one, other, what, only_scores=False, other_data=None) -> None:
    """Two engines predicted the same before each step, and score the same in the end."""
    # Averages are divided, so exact ties between them may be broken either way: then only scores are compared.
    data = case.taught
    other_data = data if other_data is None else other_data
    if not only_scores:
        for t, (a, b) in enumerate(zip(listed(one.online_predictions_), listed(other.online_predictions_), strict=False)):
            if a != b:
                require(False, f"{what}: prediction {t} in the order of visiting is {a} and {b}{scores_of(one, data, t, a, b)}.")
        require(one.mistakes_ == other.mistakes_, f"{what}: the mistakes per epoch are {one.mistakes_} and {other.mistakes_}.")
        require(close(one.cumulative_loss_, other.cumulative_loss_),
                f"{what}: the losses add up to {one.cumulative_loss_} and {other.cumulative_loss_}.")
        require(predictions(one, data) == predictions(other, other_data), f"{what}: the trained models predict differently.")
    a, b = atom_scores(one, data), atom_scores(other, other_data)
    require(close(a, b, case.tolerance), f"{what}: the trained models score atoms differently.")


def scores_of(engine, data, t, a, b) -> str:
    """What two different predictions at visit t score, and whether rounding decides between them; empty where that is not known."""
    n = len(engine.online_predictions_) // max(len(engine.mistakes_), 1)
    if engine.shuffle or not engine.parts_.trainer.online or engine.parts_.outputs.partial_gold or n == 0:
        return ""
    options = {name: value for name, value in changed_options(engine).items() if name != "plugins"}
    again = engine._like(plugins=engine.plugins, **{**options, "average": False})
    for i in [*range(n)] * (t // n) + [*range(t % n)]:
        one = data.take([i])
        again.partial_fit(one.X, one.y, offsets=one.offsets)
    one = data.take([t % n])
    if again.model is None:                # no step was made yet
        return ""
    outputs, rows = again.parts_.outputs, again.parts_.reader.read(one.X, one.offsets)
    x = rows.example(0)
    scores = np.ravel(again.atom_scores(one.X, offsets=one.offsets)[0])
    x.n_atoms = len(scores)
    totals = [float(outputs.count(x, outputs.encode_answers([y], rows)[0]) @ scores) for y in (a, b)]
    tied = reaches(min(totals), max(totals))
    tie = ": a tie? Rounding decides between equal scores, so give `sample` examples without ties" if tied else ""
    return f", which score {totals[0]:.17g} and {totals[1]:.17g}{tie}"
