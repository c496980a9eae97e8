"""Why an example got its prediction: since scores are sums, the difference of two scores splits exactly."""

from __future__ import annotations

import attrs
import numpy as np

from structperc import data as reading
from structperc.checks import check_same, not_finite
from structperc.core.errors import DataError, PluginError

MOST_STRUCTURES = 100_000


@attrs.frozen(eq=False)
class Contribution:
    """One term of the difference: `value` = coefficient * weight * feature value, summed over the feature's weights."""

    atom: str
    feature: str
    value: float


@attrs.frozen(eq=False)
class Explanation:
    """The winner's score minus the runner-up's.

    Attributes
    ----------
    winner, runner_up : object
        The two best structures, as `predict` shows them.
    margin : float
        Score of the winner minus score of the runner-up; 0 for a tie.
    atoms : dict of str to float
        The margin by atom; atoms that both share are absent.
    contributions : list of Contribution
        The margin by atom and feature, largest absolute value first. They add up to `margin` (up to rounding).
    """

    winner: object
    runner_up: object
    margin: float
    atoms: dict
    contributions: list

    def __str__(self):
        lines = [f"{self.winner!s} beats {self.runner_up!s} by {self.margin:.6g}"]
        for atom, value in self.atoms.items():
            lines.append(f"  {value:+.6g}  {atom}")
            lines += [f"      {c.value:+.6g}  {c.feature}" for c in self.contributions if c.atom == atom][:10]
        return "\n".join(lines)


def explain(engine, x) -> Explanation:
    """Splits the margin of one example; see `Engine.explain`.

    Parameters
    ----------
    engine : Engine
        Trained, with primal weights.
    x : one row, one block of rows, or a list with one object

    Raises
    ------
    PluginError
        The weights are not primal, or the outputs cannot be enumerated.
    """

    fitted = engine._ready()
    parts, task = fitted.parts, fitted.task
    if not parts.weights.primal:
        raise PluginError(f"explain needs a weight vector, but {type(parts.weights).__name__} has none.")
    rows = reading.read(*_one_example(x, task, parts.features))
    check_same(task, rows)
    if rows.n_examples != 1:
        raise DataError(f"explain takes one example, but got {rows.n_examples}.")
    example = rows.example(0)
    example.n_atoms = parts.features.n_atoms(example)
    scores = parts.weights.final().scores(example)
    if not np.isfinite(scores).all():
        raise not_finite(rows, 0)
    winner = parts.argmax.argmax(scores, example)
    count = parts.outputs.count(example, winner)
    runner_up, other = _runner_up(parts, example, scores, winner, count)
    coefficients = count - other
    names = parts.outputs.atom_names(example)
    w = np.asarray(parts.weights.vector())
    atoms, contributions = {}, []
    for a in np.flatnonzero(coefficients):
        unit = np.zeros(example.n_atoms)
        unit[a] = coefficients[a]
        terms = w * parts.features.vector(example, unit)
        where = np.flatnonzero(terms)
        features = parts.features.feature_of(where)
        atoms[names[a]] = float(coefficients[a] * scores[a])
        for feature in np.unique(features):
            value = float(terms[where[features == feature]].sum())
            contributions.append(Contribution(names[a], _feature_name(task, int(feature)), value))
    contributions.sort(key=lambda c: -abs(c.value))
    decode = parts.outputs.decode
    return Explanation(decode(winner), decode(runner_up), float(coefficients @ scores), atoms, contributions)


def _one_example(x, task, features):
    """One example in the form that `data.read` takes."""
    if task.objects:
        return x if isinstance(x, list) else [x], None
    if reading.is_row(x):
        x = [x]
    elif getattr(x, "ndim", 2) == 1 and hasattr(x, "to_frame"):
        x = x.to_frame().T                      # one row of a data frame keeps its names
    elif getattr(x, "ndim", 2) == 1:
        x = (x if reading.is_sparse(x) else np.asarray(x)).reshape((1, -1))
    return x, (None if features.fixed_atoms >= 0 else [0, x.shape[0] if hasattr(x, "shape") else len(x)])


def _runner_up(parts, example, scores, winner, count):
    """The best structure with other atoms than the winner, by enumeration."""
    structures = parts.outputs.enumerate(example)
    if structures is None:
        raise PluginError(f"explain needs the runner-up, but {type(parts.outputs).__name__} cannot enumerate its structures; "
                          f"implement enumerate(x).")
    best, best_count, best_score = None, None, -np.inf
    for seen, structure in enumerate(structures):
        if seen == MOST_STRUCTURES:
            raise PluginError(f"explain looked at {MOST_STRUCTURES} structures of this example and there are more; give it a smaller one.")
        other = parts.outputs.count(example, structure)
        score = float(other @ scores)
        if score > best_score and not np.array_equal(other, count):
            best, best_count, best_score = structure, other, score
    if best is None:
        raise DataError("this example has only one possible structure, so there is no runner-up.")
    return best, best_count


def _feature_name(task, feature: int) -> str:
    if feature < 0:
        return "(constant)"
    return task.feature_names[feature] if task.feature_names is not None else f"x[{feature}]"
