"""What a solver is told of a problem: the coordinates of its dual, and the chain of flows that binds them.

    min 1/2 ||w||^2 - p sum_c mu_c      where  w = - sum_c g_c mu_c phi(x_e(c))  and  0 <= mu_c <= cap_c
    omega_m = omega_(m-1) + sum over c at node m of g_c mu_c - d_m,   omega_0 = omega_M = 0;   between: 0 (closed arcs) or at least 0 (open)
"""

from __future__ import annotations

import attrs
import numpy as np


@attrs.frozen(eq=False)
class Chain:
    """A dual problem of a large-margin method.

    Attributes
    ----------
    example : int32 array of shape (N,)
        The example of each coordinate, from 0. Coordinates stand in the order of their nodes, then of their examples.
    node : int32 array of shape (N,)
        m, from 0: its threshold, or one of the two planes of a margin.
    sign : int8 array of shape (N,)
        g: 1 for an example that belongs left of the threshold, -1 right of it.
    cap : float64 array of shape (N,)
        Above 0.
    n_examples, n_nodes : int
    offset : float64 array of shape (M,)
        d.
    gain : float
        p: the margin, 1; or 0 where margins are maximised instead.
    open_arcs : bool
        Whether a flow may go from a node to the next; then the thresholds are in order.
    start : float64 array of shape (N,)
        A feasible mu.
    """

    example: np.ndarray
    node: np.ndarray
    sign: np.ndarray
    cap: np.ndarray
    n_examples: int
    n_nodes: int
    offset: np.ndarray
    gain: float
    open_arcs: bool
    start: np.ndarray
