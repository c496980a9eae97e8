"""The least distance of a structure with columns of whole and of real numbers: branch and bound over boxes of the whole ones.

The program of a box asks for no lead, so its value is a bound. Its whole numbers are then held, and the other columns look for a lead
over the rivals that win ties. If there is one, the bound is the distance. Else these whole numbers only tie, and leave the box.
"""

from __future__ import annotations

import heapq
import itertools
import math

import attrs
import numpy as np

from structperc.counterfactuals.programs import LARGEST_LEAD, LEAD, ROUNDING, shortest

FINEST_UNIT = 1e-6          # of slopes of whole numbers that are multiples of one number, relative to the largest
FINEST = 10                 # decimals of steps, far below a lead
CLEAR = 1e-5                # a lead beyond the tolerance of HiGHS
MOST_BOXES = 1000           # after which the least bound of those left is returned


class Boxes:
    """The whole numbers of a search, divided."""
    # counts: float64 array of shape (n_atoms,). Of the wanted structure.

    def __init__(self, search, counts):
        self.search, self.counts, self.variables = search, counts, search.variables
        self.whole, self.real = np.flatnonzero(self.variables.whole), np.flatnonzero(~self.variables.whole)
        self.strict = set()                 # rivals that win ties, by their bytes
        self.fewest = {}                    # of some of these: the lead that every change has with which they lose
        self.unsure = False                 # whether the last whole numbers may win elsewhere

    def least(self) -> float:
        """A lower bound on the distance at which the structure wins; keeps the nearest change."""
        serial, lowest = itertools.count(), np.inf
        heap = [(0.0, next(serial), self.variables)]
        while heap:
            bound, number, box = heapq.heappop(heap)
            if self.search.clock.over or number > MOST_BOXES or self.search.excludes(bound):
                return min(lowest, bound)
            bound, z = self.bounded(bound, box)
            if z is None or self.search.excludes(bound):
                lowest = min(lowest, bound)
            elif self.settled(z):
                lowest = min(lowest, bound)
            else:
                if self.unsure or not self.search.ordered_ties:            # at another tie this structure may be the one that is chosen
                    lowest = min(lowest, bound)
                for child in () if self.ties_throughout(box) else self.children(box, z):
                    heapq.heappush(heap, (bound, next(serial), child))
        return lowest

    def ties_throughout(self, box) -> bool:
        """Whether nothing in a box leads over the rivals to which this structure loses all ties."""
        if not (self.search.ordered_ties and self.strict):
            return False
        slopes, gaps = self.search.rows(self.counts)
        lead = CLEAR * np.abs(slopes).max(axis=1, initial=0) * [key in self.strict for key in self.search.rivals]
        return shortest(box, slopes, gaps + lead, self.search.norm, self.search.clock).bound == np.inf

    def bounded(self, bound, box):
        """A lower bound of a box, and the change of this length that is behind no rival. None: there is none, or none is known."""
        while True:
            slopes, gaps = self.search.rows(self.counts)
            bound = max(bound, self.variables.least_of_one(slopes, gaps, self.search.norm))
            if self.search.excludes(bound):
                return bound, None
            least = np.array([self.fewest.get(key, 0.0) for key in self.search.rivals])
            solution = shortest(box, slopes, gaps + least, self.search.norm, self.search.clock)
            bound = max(bound, solution.bound)
            if solution.z is None or self.search.excludes(bound):
                return bound, None
            values, rival = self.search.at(solution.z)
            if self.search.goal.holds(rival):
                return bound, solution.z
            if not self.search.add(rival):
                if self.search.only_ties(self.counts, rival, values):
                    return np.inf, None
                if not self.asks_lead(rival, values):
                    return bound, solution.z

    def asks_lead(self, rival, values) -> bool:
        """Whether the program can ask for a lead over this winner of a tie that every change that wins has."""
        key = rival.tobytes()
        if not self.search.ordered_ties or key in self.fewest or not self.search.tie(self.counts, rival, values):
            return False
        apart = self.counts - rival
        self.fewest[key] = self.step(apart @ self.search.slopes, -float(apart @ self.search.scores)) / 2
        return self.fewest[key] > 0

    def step(self, slope, gap) -> float:
        """The least lead above 0 where only whole numbers move it, by slopes of one unit; else 0."""
        moved = slope != 0
        if not self.variables.whole[moved].all():
            return 0.0
        ratios = [float(value).as_integer_ratio() for value in [*slope[moved], gap]]
        unit = max(bottom for _, bottom in ratios)
        step = math.gcd(*(top * (unit // bottom) for top, bottom in ratios)) / unit
        return step if step >= FINEST_UNIT * np.abs(slope).max() else 0.0

    def settled(self, z) -> bool:
        """Whether a wanted structure wins with the whole numbers of z; keeps the nearest such change."""
        lead, start, ahead = 0.0, z, set()                  # rivals that win by rounding
        while (z := self.beside(z, lead, self.strict | ahead)) is not None and not self.search.clock.over:
            values, rival = self.search.at(z)
            if self.search.goal.holds(rival):
                self.search.keep(values)
                return True
            if not self.search.add(rival):
                (self.strict if self.search.tie(self.counts, rival, values) else ahead).add(rival.tobytes())
                lead = 4 * lead or LEAD
                if lead > LARGEST_LEAD:
                    break
        self.unsure = self.beside(start, CLEAR, self.strict) is not None and not (
            self.only_one_moves() and self.beside(start, CLEAR, set(self.search.rivals)) is None)
        return False

    def only_one_moves(self) -> bool:
        """Whether one column beside the whole numbers has slopes, so that ties of several rivals are one point."""
        slopes, _ = self.search.rows(self.counts)
        return np.count_nonzero(slopes[:, self.real].any(axis=0)) <= 1

    def beside(self, z, lead, strict):
        """The whole numbers of z with the nearest other numbers that lead over some rivals. None: there are none."""
        slopes, gaps = self.search.rows(self.counts)
        held = np.where(self.variables.whole, z, 0.0)
        needed, own = gaps - slopes @ held, slopes[:, self.real]
        sizes = np.abs(own).max(axis=1, initial=0)
        strict = np.array([key in strict for key in self.search.rivals])
        rounding = ROUNDING * (1 + np.abs(gaps) + np.abs(slopes) @ np.abs(held))
        if (needed > np.where(strict, -rounding, rounding))[sizes == 0].any():
            return None
        moves = sizes > 0
        if not moves.any():
            return held
        solution = shortest(self.variables.part(self.real), own[moves], (needed + lead * strict * sizes)[moves], self.search.norm,
                            self.search.clock)
        if solution.z is None:
            return None
        both = held.copy()
        both[self.real] = np.round(solution.z, FINEST)      # so that a tie is one
        return both

    def children(self, box, z):
        """The box without the whole numbers of z, in parts: the first column that differs is below or above."""
        low, high = box.low.copy(), box.high.copy()
        for j in self.whole[np.argsort(-np.abs(z[self.whole]), kind="stable")]:
            for end, others in (("high", z[j] - 1), ("low", z[j] + 1)):
                if box.low[j] <= others <= box.high[j]:
                    ends = {"low": low.copy(), "high": high.copy()}
                    ends[end][j] = others
                    yield attrs.evolve(box, **ends)
            low[j] = high[j] = z[j]
