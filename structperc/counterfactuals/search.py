"""The nearest example of which a wanted structure is the best one: constraint generation, with the problem's argmax as the oracle.

For one wanted structure y the master program asks that y is not behind the rivals so far. The argmax at its solution is the next rival.
Each rival is found once, so this ends. Each master bounds the distance from below (Kelley 1960). Several wanted structures are several
programs. A program is left out if a bound on the slope of its lead excludes it. `BranchAndBound` divides labellings of chains instead.
"""

from __future__ import annotations

from functools import cached_property

import attrs
import numpy as np

from structperc.core.outputs import LabelOutputs
from structperc.counterfactuals.boxes import Boxes
from structperc.counterfactuals.chains import BranchAndBound
from structperc.counterfactuals.programs import LARGEST_LEAD, LEAD, ROUNDING, SAME, shortest


@attrs.frozen(eq=False)
class Outcome:
    """The nearest change."""
    # values: float64 array or None. The block, flat; None: no change is known.
    # z: float64 array or None. The change in steps of the variables.
    # rivals: int. How many structures the programs named.
    # out_of_time: bool. Whether the clock has ended the search.

    values: np.ndarray | None
    z: np.ndarray | None
    distance: float
    bound: float
    rivals: int
    out_of_time: bool = False


class Search:
    """One search."""
    # places: int array. Of the values that may change.
    # norm: {"l1", "l2"}

    def __init__(self, block, goal, places, variables, norm, clock):
        self.block, self.goal, self.places, self.variables = block, goal, places, variables
        self.norm, self.clock = norm, clock
        self.start = block.values.ravel()
        self.scores = block.scores(self.start)
        self.slopes = block.slopes(places, variables.unit).multiply(variables.unit).tocsc()      # by steps
        self.deciding = np.bincount(self.slopes.indices[self.slopes.data != 0], minlength=len(self.scores)) > 0
        self.winner = goal.counts(block.predicted(self.start))
        self.rivals = {}                                            # counts by their bytes
        self.best = Outcome(None, None, np.inf, 0.0, 0)

    def run(self) -> Outcome:
        """The nearest change and a lower bound on its distance."""
        self.add(self.winner)
        bound = (BranchAndBound.of(self) or self).least()
        if not self.block.model.parts.argmax.exact:
            bound = 0.0
        return attrs.evolve(self.best, bound=min(bound, self.best.distance), rivals=len(self.rivals), out_of_time=self.clock.over)

    def least(self) -> float:
        """A lower bound on the distance of every wanted structure. Each that may be nearer than those before has a program."""
        bounds = []
        for counts in self.goal.ranked(self.scores, self.deciding):
            behind = max(float((self.winner - counts) @ self.scores), 0.0)
            least = behind / self.steepest if self.steepest else np.inf if behind else 0.0
            if least >= self.best.distance or self.clock.over:
                bounds.append(least)                                # later ones are further behind
                break
            bounds.append(max(least, self.nearest(counts)))
        return min(bounds, default=np.inf)

    def add(self, counts) -> bool:
        """Keeps a rival; whether it is a new one."""
        key = counts.tobytes()
        new = key not in self.rivals
        self.rivals[key] = counts
        return new

    def rows(self, counts):
        """The inequalities by which a structure is not behind the rivals: slopes by steps, and gaps."""
        apart = counts - np.array(list(self.rivals.values()))
        return np.asarray(apart @ self.slopes), -(apart @ self.scores)

    @cached_property
    def steepest(self) -> float:
        """How much a wanted structure can gain on the winner by a change of length 1, at most."""
        gains, slope, starts = np.zeros(len(self.places)), np.zeros(len(self.scores)), self.slopes.indptr
        of_direction = {}                                           # columns with proportional slopes have one search
        for j in range(len(gains)):
            here = slice(starts[j], starts[j + 1])
            atoms, values = self.slopes.indices[here], self.slopes.data[here]
            scale = np.abs(values).max(initial=0)
            for direction, end in ((values, self.variables.high[j]), (-values, self.variables.low[j])):
                if end and scale:
                    slope[atoms] = direction / scale
                    key = atoms.tobytes(), slope[atoms].tobytes()
                    if key not in of_direction:
                        of_direction[key] = float((next(self.goal.ranked(slope, self.deciding)) - self.winner) @ slope)
                    gains[j] = max(gains[j], scale * of_direction[key])
            slope[atoms] = 0
        steepest = np.sqrt((gains**2).sum()) if self.norm == "l2" else (gains / self.variables.cost).max(initial=0.0)
        return float(steepest)

    def nearest(self, counts) -> float:
        """A lower bound on the distance at which this structure wins; keeps the nearest change that is known."""
        # Programs ask for a lead over the rivals that win a tie with it, and over no others. The bound is that of programs without a lead.
        if self.variables.whole.any():
            return Boxes(self, counts).least()
        leads, bound = {}, 0.0
        while max(leads.values(), default=0.0) < LARGEST_LEAD:
            slopes, gaps = self.rows(counts)
            lead = np.array([leads.get(key, 0.0) for key in self.rivals]) * np.abs(slopes).max(axis=1, initial=0)
            bound = max(bound, self.variables.least_of_one(slopes, gaps, self.norm))
            if bound >= self.best.distance:
                break
            solution = shortest(self.variables, slopes, gaps + lead, self.norm, self.clock)
            if not lead.any():
                bound = max(bound, solution.bound)
            elif solution.z is not None:
                bound = max(bound, self.variables.least_length(slopes, gaps, solution.prices, self.norm))
            if solution.z is None or bound >= self.best.distance:
                break
            values, rival = self.at(solution.z)
            if self.goal.holds(rival):
                self.keep(values)
                break
            if self.clock.over:
                break
            if not self.add(rival):                                 # it wins a tie, or by rounding
                if self.only_ties(counts, rival, values):
                    return np.inf
                key = rival.tobytes()
                leads[key] = 2 * leads.get(key, 0.0) or LEAD
        return bound

    def excludes(self, bound) -> bool:
        """Whether nothing of this bound is searched: no change wins, or none that is much shorter than the nearest one so far."""
        return bound == np.inf or bound >= self.best.distance * (1 - SAME) - SAME / 10

    def only_ties(self, counts, rival, values) -> bool:
        """Whether a structure is never ahead of a rival to which it loses all ties, as at these values."""
        if not (self.ordered_ties and self.tie(counts, rival, values)):
            return False
        slope, gap = (counts - rival) @ self.slopes, -float((counts - rival) @ self.scores)
        return self.top(slope) <= gap + ROUNDING * self.size(slope, gap)

    def tie(self, counts, rival, values) -> bool:
        """Whether two structures have the same score, rounding included. Else the winner does not show who wins ties."""
        scores = self.block.scores(values)
        return float((counts - rival) @ scores) == 0 == float(counts @ scores - rival @ scores)

    def at(self, z):
        """The block after a change, and the counts of its prediction."""
        values = self.moved(z)
        return values, self.goal.counts(self.block.predicted(values))

    @property
    def ordered_ties(self) -> bool:
        """Whether a label that wins one tie with another wins all of them."""
        return isinstance(self.block.model.parts.outputs, LabelOutputs)

    def top(self, slope) -> float:
        """The most that a change can gain by these slopes."""
        moved = slope != 0
        ends = np.where(slope > 0, self.variables.high, self.variables.low)[moved]
        return float((slope[moved] * ends).sum())

    def size(self, slope, gap) -> float:
        """The size of the terms of an inequality, as rounding knows it."""
        moved = slope != 0
        ends = np.maximum(np.abs(self.variables.high), np.abs(self.variables.low))[moved]
        return abs(gap) + float((np.abs(slope[moved]) * np.where(np.isfinite(ends), ends, 0.0)).sum())

    def moved(self, z):
        """The block after a change."""
        values = self.start.copy()
        values[self.places] += z * self.variables.unit
        kept = z == 0
        values[self.places[kept]] = self.start[self.places[kept]]
        return self.block.stored(values).astype(float)

    def keep(self, values):
        """Keeps a change that wins, if it is the nearest one."""
        z = (values - self.start)[self.places] / self.variables.unit
        distance = self.variables.length(z, self.norm)
        if distance < self.best.distance:
            self.best = attrs.evolve(self.best, values=values, z=z, distance=distance)
