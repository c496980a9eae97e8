"""What decisions by predicted costs lose."""

import numpy as np

from structperc.components import amounts
from structperc.errors import DataError, shortened


def regret(costs, decided, best):
    """Normalised regret: what the decisions cost more than the best ones, as a share of what the best ones cost.
    Returns a float. ``sum (c . v - c . g) / sum |c . g|``.

    Parameters
    ----------
    costs : sequence of arrays
        The true costs c of each example's atoms.
    decided, best : sequence of decisions
        The decision that was made, and a best decision under the true costs. Each is an amount of each atom, as numbers with a point. Or it
        is the numbers of the chosen atoms; see `structperc.components.amounts`.

    Examples
    --------
    >>> from structperc_decisions import regret
    >>> regret([[1.0, 3.0], [2.0, 1.0]], [[1], [1]], [[0], [1]])
    1.0
    """
    vectors = [cost_vector(one, f"costs[{i}]") for i, one in enumerate(costs)]
    if not len(vectors) == len(decided) == len(best):
        raise DataError(f"costs has {len(vectors)} vectors, but there are {len(decided)} decisions and {len(best)} best ones; pass one of "
                        f"each for every example.")
    with np.errstate(over="ignore", invalid="ignore"):
        paid, least = (np.array([c @ amounts(v, len(c)) for c, v in zip(vectors, chosen, strict=True)]) for chosen in (decided, best))
        whole, lost = np.abs(least).sum(), (paid - least).sum()
    check_total("costs", whole, lost)
    if whole == 0:
        raise DataError("the best decisions cost 0, and regret is a share of what they cost; compare the costs themselves.")
    return float(lost / whole)


def spo_plus(predicted, costs, best, argmax) -> float:
    """The SPO+ loss of predicted costs: max over v of (c - 2 c_hat) . v + 2 c_hat . g - c . g.

    It is at least the regret, for any choice among equal decisions. It is convex in the predicted costs, and 0 if they are the true ones.
    Raises `DataError` if a cost is not finite, or costs overflow when they are added up.

    Parameters
    ----------
    predicted, costs : arrays of shape (n_atoms,)
        c_hat and c, to be minimised.
    best : decision
        g, a best decision under c, as in `regret`.
    argmax : function of scores
        Returns a decision of largest total score.

    Examples
    --------
    >>> from structperc_decisions import spo_plus
    >>> def cheaper(scores):
    ...     return [int(scores[1] > scores[0])]
    >>> spo_plus([3.0, 1.0], [1.0, 3.0], [0], cheaper), spo_plus([1.0, 3.0], [1.0, 3.0], [0], cheaper)
    (6.0, 0.0)
    """
    predicted, costs = cost_vector(predicted, "predicted"), cost_vector(costs, "costs")
    n = len(costs)
    if len(predicted) != n:
        raise DataError(f"predicted has {len(predicted)} costs, but costs has {n}; expected one for each atom.")
    with np.errstate(over="ignore", invalid="ignore"):
        scores = costs - 2 * predicted
        check_total("costs and predicted", scores)
        loss = scores @ (amounts(argmax(scores.copy()), n) - amounts(best, n))
    check_total("costs and predicted", loss)
    return float(loss)


def cost_vector(values, name) -> np.ndarray:
    """Finite costs of an example's atoms, as a new array."""
    try:
        vector = np.array(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"{name} is {shortened(values)}; expected a number per atom.") from None
    if vector.ndim != 1 or not np.isfinite(vector).all():
        raise DataError(f"{name} is {shortened(values)}; expected a vector of finite numbers.")
    return vector


def check_total(name, *sums) -> None:
    """Raises an error for sums of finite costs that are not finite."""
    if not all(np.isfinite(one).all() for one in sums):
        raise DataError(f"{name} overflow when they are added up, although each is finite; divide them by a common number.")


__all__ = ["regret", "spo_plus"]
