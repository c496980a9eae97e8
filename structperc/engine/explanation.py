"""Why an example got its prediction: since scores are sums, the difference of two scores splits exactly."""

from __future__ import annotations

import attrs
import numpy as np

from structperc.core.errors import DataError, PluginError
from structperc.engine import answers

SHOWN = 8                   # entries that a heading has room for


@attrs.frozen(eq=False)
class Contribution:
    """One term of the difference: `value` = coefficient * weight * feature value, summed over the feature's weights."""

    atom: str
    feature: str
    value: float


@attrs.frozen(eq=False)
class Explanation:
    """The winner's score minus a rival's.

    Attributes
    ----------
    winner, runner_up : object
        The best structure and its rival, the next best unless another was named, as `predict` shows them.
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
        winner, runner_up = headings(self.winner, self.runner_up)
        lines = [f"{winner} beats {runner_up} by {self.margin:.6g}"]
        for atom, value in sorted(self.atoms.items(), key=lambda item: -abs(item[1])):
            if value == 0:
                continue
            lines.append(f"  {value:+.6g}  {atom}")
            lines += [f"      {c.value:+.6g}  {c.feature}" for c in self.contributions if c.atom == atom][:10]
        return "\n".join(lines)


def headings(one, other) -> tuple[str, str]:
    """Two structures as text; of long lists only the entries that differ, with their positions from 0."""
    if not (isinstance(one, list) and isinstance(other, list) and len(one) == len(other) > SHOWN and one != other):
        return str(one), str(other)
    differing = [i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    more = ", ..." if len(differing) > SHOWN else ""
    return tuple(f"[{', '.join(f'{i}: {labels[i]!r}' for i in differing[:SHOWN])}{more}]" for labels in (one, other))


def explain(model, x, against=None) -> Explanation:
    """Splits the margin of one example; see `Engine.explain`.

    Parameters
    ----------
    model : Model
        With weights that are a vector.
    x : one row, one block of rows, a list with one object, or what else the problem's reader takes for one example
    against : output, optional
        The rival; without it the runner-up.

    Raises
    ------
    PluginError
        The weights are no vector, or nothing finds the runner-up.
    DataError
        x is not one example, has no other structure, or `against` is none of its structures.
    """
    parts, vector = model.parts, model.parts.weights.vector()
    if vector is None:
        raise PluginError(f"explain needs a weight vector, but {type(parts.weights).__name__} has none.")
    example, rows = model.read_one(x)
    (_, scores), = model.scores(rows)
    if against is None:
        ranked = answers.k_best(parts, scores, example, 2)
        if len(ranked) == 1:
            raise DataError("this example has only one possible structure, so there is no runner-up.")
        (winner, _), (runner_up, _) = ranked
    else:
        winner, gold = answers.best(parts, scores, example), parts.outputs.encode_answers([against], rows)
        if not parts.outputs.partial_gold:
            parts.outputs.check_gold(gold, rows, parts.features)
        runner_up = gold[0]
    coefficients = np.subtract(*(np.asarray(parts.outputs.count(example, y), dtype=float) for y in (winner, runner_up)))
    names = parts.outputs.atom_names(example)
    w = np.asarray(vector)
    atoms, contributions = {}, []
    for a in np.flatnonzero(coefficients):
        unit = np.zeros(example.n_atoms)
        unit[a] = coefficients[a]
        terms = w * parts.features.vector(example, unit)
        where = np.flatnonzero(terms)
        features = parts.features.column_of(where)
        atoms[names[a]] = float(coefficients[a] * scores[a])
        for feature in np.unique(features):
            name = "(constant)" if feature < 0 else model.feature_name(int(feature))
            contributions.append(Contribution(names[a], name, float(terms[where[features == feature]].sum())))
    contributions.sort(key=lambda c: -abs(c.value))
    shown = [parts.outputs.decode(y, example) for y in (winner, runner_up)]
    return Explanation(*shown, float(coefficients @ scores), atoms, contributions)
