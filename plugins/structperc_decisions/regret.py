"""What decisions by predicted costs lose."""

import numpy as np

from structperc.components import amounts


def regret(costs, decided, best):
    """Normalised regret: what the decisions cost more than the best ones, as a share of what the best ones cost.

    Parameters
    ----------
    costs : sequence of arrays
        The true costs c of each example's atoms.
    decided, best : sequence of decisions
        The decision that was made, and a best decision under the true costs. Each is an amount of each atom, as numbers with a point. Or it
        is the numbers of the chosen atoms; see `structperc.components.amounts`.

    Returns
    -------
    float
        ``sum (c . v - c . g) / sum |c . g|``

    Examples
    --------
    >>> from structperc_decisions import regret
    >>> regret([[1.0, 3.0], [2.0, 1.0]], [[1], [1]], [[0], [1]])
    1.0
    """
    paid, least = (np.array([np.asarray(c, dtype=float) @ amounts(v, len(c)) for c, v in zip(costs, chosen, strict=True)])
                   for chosen in (decided, best))
    return float((paid - least).sum() / np.abs(least).sum())


def spo_plus(predicted, costs, best, argmax):
    """The SPO+ loss of predicted costs: max over v of (c - 2 c_hat) . v + 2 c_hat . g - c . g.

    It is at least the regret, for any choice among equal decisions. It is convex in the predicted costs, and 0 if they are the true ones.

    Parameters
    ----------
    predicted, costs : arrays of shape (n_atoms,)
        c_hat and c, to be minimised.
    best : decision
        g, a best decision under c, as in `regret`.
    argmax : function of scores
        Returns a decision of largest total score.

    Returns
    -------
    float

    Examples
    --------
    >>> from structperc_decisions import spo_plus
    >>> def cheaper(scores):
    ...     return [int(scores[1] > scores[0])]
    >>> spo_plus([3.0, 1.0], [1.0, 3.0], [0], cheaper), spo_plus([1.0, 3.0], [1.0, 3.0], [0], cheaper)
    (6.0, 0.0)
    """
    predicted, costs = np.asarray(predicted, dtype=float), np.asarray(costs, dtype=float)
    scores, n = costs - 2 * predicted, len(costs)
    return float(scores @ (amounts(argmax(scores.copy()), n) - amounts(best, n)))


__all__ = ["regret", "spo_plus"]
