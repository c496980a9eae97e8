"""How far a solution is from the optimum at most: both objectives, computed from a feasible mu and the scores it gives."""

from __future__ import annotations

import attrs
import numpy as np
from structperc_large_margin.thresholds import thresholds

FEASIBLE = 1e-9         # of the sum of the caps: what the flows may be short of, after rounding


@attrs.frozen(eq=False)
class Certificate:
    """Both objectives at a point.

    Attributes
    ----------
    thresholds, lower, upper : ndarray of shape (n_nodes,)
        The best thresholds at these scores, and the ends of the intervals in which they are best.
    primal, dual : float
        The optimum lies between them. p = 1: 1/2 ||w||^2 + the hinge losses, and sum mu - 1/2 ||w||^2. p = 0: the value of the planes for
        the direction w / ||w||, and -||w||; thresholds belong to the scores of this direction.
    gap : float
        primal - dual, at least 0.
    """

    thresholds: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    primal: float
    dual: float
    gap: float


def certify(chain, scores, beta, mu) -> Certificate:
    """The certificate of a dual point.

    Parameters
    ----------
    chain : structperc_large_margin.chain.Chain
    scores : array-like of shape (n_examples,)
        f = K beta, computed anew: sums of many changes drift.
    beta : array-like of shape (n_examples,)
    mu : array-like of shape (n_coordinates,)

    Returns
    -------
    Certificate

    Raises
    ------
    ValueError
        When mu is not feasible: not between 0 and the caps, or flows that miss by more than 1e-9 of the sum of the caps.
    """
    scores, beta, mu = (np.asarray(part, dtype=float) for part in (scores, beta, mu))
    refuse_infeasible(chain, mu)
    squared = max(float(beta @ scores), 0.0)
    if chain.gain:
        best = thresholds(chain, scores)
        primal, dual = squared / 2 + best.value, chain.gain * float(mu.sum()) - squared / 2
    else:
        norm = np.sqrt(squared)
        best = thresholds(chain, scores / norm if norm else np.zeros_like(scores))
        primal, dual = best.value if norm else 0.0, -norm
    return Certificate(best.values, best.lower, best.upper, float(primal), float(dual), max(float(primal - dual), 0.0))


def refuse_infeasible(chain, mu):
    """Refuses what is no point of the dual."""
    if not ((mu >= 0) & (mu <= chain.cap)).all():
        worst = int(np.argmax(np.maximum(-mu, mu - chain.cap)))
        raise ValueError(f"mu[{worst}] is {mu[worst]}; expected 0 to {chain.cap[worst]}.")
    flow = np.cumsum(np.bincount(chain.node, chain.sign * mu, minlength=chain.n_nodes) - chain.offset)
    missing = np.maximum(-flow, 0) if chain.open_arcs else np.abs(flow)
    missing[-1] = abs(flow[-1])
    if missing.max() > FEASIBLE * chain.cap.sum():
        raise ValueError(f"the flow behind node {int(missing.argmax())} is {flow[missing.argmax()]}, which is not feasible.")
