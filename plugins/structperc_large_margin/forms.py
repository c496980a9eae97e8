"""The methods as chains: the weight of every example at every threshold, the ranges of C and nu, and what raises an error.

Threshold j is between the ranks j and j + 1. Rank y and threshold j have the weight W_ij = |c_i[j+1] - c_i[j]|. Here c_i are the costs of
the predictions for example i. It is 1 for absolute costs. An example has a loss if it is right of j with a score below b_j + 1. So has one
left of j with a score above b_j - 1. The loss is C * W_ij * its sample weight * what it lacks.

    method              thresholds of an example        ordered         dual
    "implicit"          all                             by themselves   closed arcs; open where costs are not convex
    "explicit"          the two beside its rank         by constraints  open arcs
    "fixed-margin"      the two beside its rank         not at all      closed arcs
    "sum-of-margins"    the planes beside its rank      by constraints  open arcs, p = 0

References
----------
A. Shashua and A. Levin: Taxonomy of large margin principle algorithms for ordinal regression problems. Technical report
2002-39, School of Computer Science and Engineering, The Hebrew University of Jerusalem, 2002.
W. Chu and S. S. Keerthi: Support vector ordinal regression. Neural Computation 19, 2007.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from structperc_boosting import check_v_shape

from structperc.errors import DataError, OptionError, shortened
from structperc_large_margin.chain import Chain

METHODS = ("implicit", "explicit", "fixed-margin", "sum-of-margins")
ROUNDING = 1e-12        # by what share a bound on C or nu may be missed
MOST_C = 2.0**30        # of the smallest C: beside larger sums of multipliers a flow of 1 is lost in rounding


class Form:
    """A method on the ranks of a data set: its chain for every C."""
    # method: str. One of `METHODS`.
    # ranks: int array of shape (n,). From 1.
    # n_ranks: int. K.
    # costs: array of shape (n, K), optional. Of each prediction for each example; 0 for the right one, not falling on the way to the ends.
    # Default: |y - k|.
    # sample_weight: array of shape (n,), optional
    # labels: sequence, optional. What messages call the ranks.
    # weights: float64 array of shape (n, K - 1). W times the sample weights; 0 at the thresholds that an example has no part in.
    # total: float. The sum of the sample weights, n in the program of nu.
    # DataError: If a threshold has no example with a weight on one of its sides. Also if the costs are not those of ranks.

    def __init__(self, method, ranks, n_ranks, costs=None, sample_weight=None, labels=None):
        ranks = np.asarray(ranks)
        self.method, self.ranks, self.n_ranks = method, ranks, n_ranks
        self.labels = range(1, n_ranks + 1) if labels is None else labels
        steps, convex = cost_steps(costs, ranks, n_ranks)
        threshold = np.arange(1, n_ranks)
        if method != "implicit":
            steps = np.where((ranks[:, None] == threshold) | (ranks[:, None] == threshold + 1), steps, 0.0)
        self.weights = steps if sample_weight is None else steps * np.asarray(sample_weight, dtype=float)[:, None]
        self.total = float(len(ranks) if sample_weight is None else np.sum(sample_weight))
        self.open_arcs = method in ("explicit", "sum-of-margins") or method == "implicit" and not convex
        self.refuse_missing()

    @property
    def of_margins(self) -> bool:
        """Whether the sum of margins is maximised."""
        return self.method == "sum-of-margins"

    @cached_property
    def coordinates(self):
        """example, node, sign and weight of each coordinate, in the order of nodes, then of examples."""
        n_thresholds = self.n_ranks - 1
        left = self.ranks[:, None] <= np.arange(1, self.n_ranks)
        if self.of_margins:
            weights = np.empty((2 * n_thresholds, len(self.ranks)))
            weights[0::2], weights[1::2] = np.where(left, self.weights, 0).T, np.where(left, 0, self.weights).T
        else:
            weights = self.weights.T
        node, example = (indices.astype(np.int32) for indices in np.nonzero(weights))
        if self.of_margins:
            sign = 1 - 2 * (node % 2)
        else:
            sign = np.where(left[example, node], 1, -1)
        return example, node, sign.astype(np.int8), weights[node, example]

    @cached_property
    def sides(self):
        """Sums of the weights left and right of each threshold, two arrays of shape (K - 1,)."""
        left = self.ranks[:, None] <= np.arange(1, self.n_ranks)
        return np.where(left, self.weights, 0).sum(axis=0), np.where(left, 0, self.weights).sum(axis=0)

    def refuse_missing(self):
        """Every threshold needs examples on both sides; between margins only the outer planes do."""
        left, right = self.sides
        needed = [(j, side) for j in range(self.n_ranks - 1) for side in (0, 1)]
        if self.of_margins:
            needed = [(0, 0), (self.n_ranks - 2, 1)]
        for j, side in needed:
            if (left, right)[side][j] > 0:
                continue
            present = np.bincount(self.ranks[self.weights.any(axis=1)], minlength=self.n_ranks + 1)[1:]
            missing = [repr(self.labels[k]) for k in np.flatnonzero(present == 0)]
            between = f"between the ranks {self.labels[j]!r} and {self.labels[j + 1]!r}"
            if missing:
                other = "" if self.method == "implicit" else "use method='implicit', which only needs the lowest and the highest rank, or "
                raise DataError(f"no example of rank {', '.join(missing)} has a weight, so method={self.method!r} finds no threshold "
                                f"{between}. To train, {other}merge such a rank with a neighbour, or leave it out of classes.")
            raise DataError(f"no cost differs {between} for any example on {('its left', 'its right')[side]}, so nothing holds the "
                            f"threshold there; give that step a cost.")

    def chain(self, C) -> Chain:
        """The dual problem for one C, positive, from `smallest_C` on, for the sum of margins at most `MOST_C` times that."""
        self.check_C(C)
        example, node, sign, weight = self.coordinates
        if not self.of_margins:
            n_nodes = self.n_ranks - 1
            offset, start = np.zeros(n_nodes), np.zeros(len(node))
        else:
            n_nodes = 2 * (self.n_ranks - 1)
            C = min(C, MOST_C * self.smallest_C)
            offset = np.where(np.arange(n_nodes) % 2 == 0, 1.0, -1.0)
            outer = (node == 0) | (node == n_nodes - 1)         # a flow of 1 in at a_1 and out at b_(K-1)
            start = np.where(outer, weight / np.bincount(node, weight, n_nodes)[node], 0.0)
        cap = C * weight
        return Chain(example, node, sign, cap, len(self.ranks), n_nodes, offset, float(not self.of_margins), self.open_arcs,
                     np.minimum(start, cap))

    # ---- C and nu ----

    @property
    def smallest_C(self) -> float:
        """C below which the sum of margins is unbounded: 1 / min(n_1, n_K); 0 for the other methods, which take every C above it."""
        return 1 / min(self.sides[0][0], self.sides[1][-1]) if self.of_margins else 0.0

    def check_C(self, C) -> None:
        """Raises for a C that the method cannot have."""
        if not 0 < C < np.inf:
            raise OptionError(f"C={shortened(C)}; expected a finite number above 0.")
        if C < self.smallest_C * (1 - ROUNDING):
            raise OptionError(f"C={C!r} is below {self.smallest_C:.6g} = 1 / min(n_1, n_K). n_1 and n_K are the summed weights of "
                              f"the lowest and the highest rank. Below it the sum of margins is unbounded. Use a larger C.")

    @cached_property
    def largest_nu(self) -> float:
        """Above it no mu sums to nu: the largest sum of mu with the caps W / n. (2 / n) sum_j min(n_j, n_(j+1)) for the fixed margin."""
        total = flow = 0.0
        for left, right in zip(*self.sides, strict=True):
            flow = left + (flow if self.open_arcs else 0.0)
            out = min(flow, right)
            flow, total = flow - out, total + out
        return 2 * total / self.total

    def check_nu(self, nu) -> None:
        """Raises for a nu that the method cannot have."""
        if self.of_margins:
            raise OptionError(f"nu={nu!r} has no effect with method='sum-of-margins', whose C counts margin errors: at most 1 / C a plane. "
                              f"Leave nu out.")
        if not 0 < nu <= self.largest_nu * (1 + ROUNDING):
            raise OptionError(f"nu={nu!r}; with these ranks it must be above 0 and at most {self.largest_nu:.6g}. Every margin error "
                              f"left of a threshold needs one right of it.")


def cost_steps(costs, ranks, n_ranks):
    """|c_i[j+1] - c_i[j]|, shape (n, K - 1), and whether all costs are convex: then optimal thresholds are in order by themselves."""
    if costs is None:
        return np.ones((len(ranks), n_ranks - 1)), True
    steps = np.diff(check_v_shape(costs, ranks), axis=1)
    return abs(steps), bool((np.diff(steps, axis=1) >= 0).all())
