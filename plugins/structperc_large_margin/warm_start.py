"""Feasible dual solutions to begin with: another problem's, or one that a direction suggests."""

from __future__ import annotations

import numpy as np

from structperc_large_margin.thresholds import ChainThresholds

LENGTHS = 2.0 ** np.arange(-12, 13)     # that a direction is tried at, around the one at which its scores spread by 1


def rescaled(chain, mu, ratio):
    """The solution of the same chain with other caps, as far as these let it.

    Parameters
    ----------
    chain : Chain
    mu : array of shape (N,)
        Feasible for the caps of `chain` divided by `ratio`.
    ratio : float
        By what the caps have grown.
    """
    if chain.gain:
        return np.minimum(mu * ratio, chain.cap)            # flows of 0 stay so
    above = mu > chain.cap
    share = np.min((chain.cap - chain.start)[above] / (mu - chain.start)[above], initial=1.0)
    return np.minimum(chain.start + share * (mu - chain.start), chain.cap)


def suggested(chain, scores, squared_norm, product):
    """The part of the vertex at a direction that is best in the dual, the direction being as long as is best in the primal.

    Parameters
    ----------
    chain : Chain
        Of thresholds (p = 1).
    scores : array of shape (n_examples,)
        f, of any length.
    squared_norm : float
        ||w||^2.
    product : function
        K beta for the coefficients of examples.
    """
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
