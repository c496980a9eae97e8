"""The dual of a chain by maximal violating pairs, written from the definition, without a cache or working sets."""

import numpy as np


def maximal_violating_pairs(chain, K, tolerance=1e-9, most=100_000):
    """mu after steps on the pair of largest lo_m - hi_m', until this is at most `tolerance`. Ties go to the first pair."""
    e, m, g, cap, p = chain.example, chain.node, chain.sign.astype(float), chain.cap, chain.gain
    mu = chain.start.astype(float).copy()
    f = K @ -np.bincount(e, g * mu, minlength=chain.n_examples)
    flow = np.cumsum(np.bincount(m, g * mu, minlength=chain.n_nodes) - chain.offset)
    for _ in range(most):
        kappa = f[e] + g * p
        up = np.where(g > 0, mu < cap, mu > 0)
        down = np.where(g > 0, mu > 0, mu < cap)
        pairs = [(kappa[i] - kappa[j], -i, -j) for a in range(chain.n_nodes) for b in range(chain.n_nodes)
                 if a == b or chain.open_arcs and (a < b or (flow[b:a] > 0).all())
                 for i in ends(kappa, up & (m == a), np.argmax) for j in ends(kappa, down & (m == b), np.argmin)]
        v, i, j = max(pairs, default=(0, 0, 0))
        i, j = -i, -j
        if v <= tolerance:
            break
        far = K[e[i], e[i]] + K[e[j], e[j]] - 2 * K[e[i], e[j]]
        rooms = [cap[i] - mu[i] if g[i] > 0 else mu[i], mu[j] if g[j] > 0 else cap[j] - mu[j], *flow[m[j]:m[i]]]
        t = min(rooms + ([v / far] if far > 1e-12 else []))
        mu[i] = np.clip(mu[i] + g[i] * t, 0, cap[i])
        mu[j] = np.clip(mu[j] - g[j] * t, 0, cap[j])
        flow[m[i]:m[j]] += t
        flow[m[j]:m[i]] = np.maximum(flow[m[j]:m[i]] - t, 0)
        f += t * (K[:, e[j]] - K[:, e[i]])
    return mu


def ends(kappa, free, best):
    where = np.flatnonzero(free)
    return where[[best(kappa[where])]] if len(where) else []


def dual_value(chain, K, mu):
    """1/2 ||w||^2 - p sum mu, to be minimised; ||w|| if p is 0."""
    beta = np.bincount(chain.example, -chain.sign * mu, minlength=chain.n_examples)
    squared = max(beta @ K @ beta, 0.0)
    return squared / 2 - mu.sum() if chain.gain else np.sqrt(squared)
