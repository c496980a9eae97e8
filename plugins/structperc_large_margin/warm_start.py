"""Feasible dual solutions to begin with: another problem's, or one that a direction suggests."""

from __future__ import annotations

import numpy as np

from structperc_large_margin.thresholds import ChainThresholds

ROUNDING = 1e-9         # of all caps: what flows may miss
LENGTHS = 2.0 ** np.arange(-12, 13)     # that a direction is tried at, around the one at which its scores spread by 1


def rescaled(chain, mu, ratio):
    """The solution of the same chain within caps that have grown by `ratio`. If its flows are those of other ranks, the chain's start."""
    if chain.gain:
        mu = mu * ratio                                     # flows of 0 stay so
    above = mu > chain.cap                                  # by rounding, or of other sample weights and costs
    share = np.min((chain.cap - chain.start)[above] / (mu - chain.start)[above], initial=1.0)
    mu = np.minimum(chain.start + share * (mu - chain.start), chain.cap)
    flows = np.cumsum(np.bincount(chain.node, chain.sign * mu, chain.n_nodes) - chain.offset)
    missed = np.maximum(-flows, 0) if chain.open_arcs else abs(flows)
    feasible = max(missed.max(), abs(flows[-1])) <= ROUNDING * chain.cap.sum()
    return mu if feasible else chain.start


def suggested(chain, scores, squared_norm, product):
    """The part of the vertex at a direction that is best in the dual. The direction has the length that is best in the primal."""
    # `scores` may have any length, `product` is K beta for the coefficients of examples.
    spread = np.ptp(scores)
    if not spread > 0:
        return chain.start
    best = ChainThresholds(chain)
    lengths = LENGTHS / spread
    values = [length**2 * squared_norm / 2 + best.best(length * scores).value for length in lengths]
    mu = best.vertex(lengths[int(np.argmin(values))] * scores)
    beta = coefficients(chain, mu)
    curvature = float(beta @ product(beta))
    return mu * min(1.0, mu.sum() / curvature) if curvature > 0 else mu


def coefficients(chain, mu):
    """beta, by example: w = sum_i beta_i phi(x_i)."""
    return -np.bincount(chain.example, chain.sign * mu, minlength=chain.n_examples)
