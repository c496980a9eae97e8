"""An upper bound on the distance of a solution from the optimum: both objectives, from a feasible mu and its scores."""

from __future__ import annotations

import attrs
import numpy as np
from structperc_large_margin.thresholds import thresholds

FEASIBLE = 1e-9         # tolerance of flows after rounding, relative to the sum of the caps


@attrs.frozen(eq=False)
class Certificate:
    """Both objectives at a point.

    Attributes
    ----------
    thresholds, lower, upper : ndarray of shape (n_nodes,)
        The best thresholds at these scores, and the ends of the intervals in which they are best.
    primal, dual : float
        The optimum is between them. p = 1: 1/2 ||w||^2 + the hinge losses, and sum mu - 1/2 ||w||^2. p = 0: the value of the planes for
        the direction w / ||w||, and -||w||. Then thresholds belong to the scores of this direction.
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
        f = K beta, computed from scratch, because updates accumulate rounding errors.
    beta : array-like of shape (n_examples,)
    mu : array-like of shape (n_coordinates,)

    Returns
    -------
    Certificate

    Raises
    ------
    ValueError
        If mu is not between 0 and the caps, or a flow is wrong by over 1e-9 of their sum.
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
    """Raises a ValueError if mu is not feasible for the dual."""
    if not ((mu >= 0) & (mu <= chain.cap)).all():
        worst = int(np.argmax(np.maximum(-mu, mu - chain.cap)))
        raise ValueError(f"mu[{worst}] is {mu[worst]}; expected 0 to {chain.cap[worst]}.")
    flow = np.cumsum(np.bincount(chain.node, chain.sign * mu, minlength=chain.n_nodes) - chain.offset)
    missing = np.maximum(-flow, 0) if chain.open_arcs else np.abs(flow)
    missing[-1] = abs(flow[-1])
    if missing.max() > FEASIBLE * chain.cap.sum():
        raise ValueError(f"the flow behind node {int(missing.argmax())} is {flow[missing.argmax()]}, which is not feasible.")
