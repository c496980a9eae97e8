"""Structures of one example with scores near that of the prediction, and the atoms of some or all of them.

Let a member be a structure with S(y) >= t. Here t = S(prediction) - distance, and M > distance. The largest S(y) + M n_y(a) is at least t +
M exactly if a member has the atom a. The largest S(y) - M n_y(a) is less than t exactly if every member has it. So the problem's own argmax
with a few changed scores decides. M of the size of the distance keeps the digits of all other scores. An approximate argmax leaves a gap
above the score of what it returns. Sums with the gap still exclude atoms and prove them, and the rest stays open.
"""

from __future__ import annotations

import math

import attrs
import numpy as np

from structperc.core.argmax import forbidden, marginals_of, ranked_by
from structperc.core.outputs import LabelOutputs, as_structure
from structperc.engine.counting import labellings_within
from structperc.fitting import answers

TIES = 1e-9             # scores this close, relative to 1 + |score of the prediction|, are the same


@attrs.frozen(eq=False)
class Atoms:
    """The atoms of an example that all or some structures within a distance have."""
    # possible, certain: bool array of shape (n_atoms,). Whether some, and whether all of the structures have the atom.
    # exact: bool. False: `possible` has all such atoms and maybe more, `certain` has only such atoms and maybe fewer.

    possible: np.ndarray
    certain: np.ndarray
    exact: bool


class Near:
    """Scores of one example's structures beside the score of its prediction."""
    # scores: array of shape (x.n_atoms,)
    # temperature: float, default 1. p(y) is proportional to exp(S(y) / temperature).
    # prediction: int or tuple
    # counts: float array of shape (n_atoms,). The prediction's atoms.
    # best: float. The prediction's score.
    # gap: float. By how much another structure may exceed it, at most; 0 of exact solvers.

    def __init__(self, parts, x, scores, temperature=1.0):
        self.parts, self.x, self.scores, self.temperature = parts, x, np.array(scores, dtype=float), temperature
        answers.refuse_hidden(parts, "sets")
        self.prediction = answers.best(parts, self.scores, x)
        self.gap = 0.0 if isinstance(parts.outputs, LabelOutputs) else float(x.bound)
        self.counts = self.counted(self.prediction)
        self.best = self.total(self.counts)
        if self.best == -np.inf:
            raise forbidden(x.index)
        self.tolerance = TIES * (1 + abs(self.best))
        self.least = min(self.counts[self.counts > 0].min(initial=1.0), 1.0)        # counts are multiples of it
        self._listed = self._largest = None

    def counted(self, y) -> np.ndarray:
        """How often a structure has each atom."""
        return np.asarray(self.parts.outputs.count(self.x, y), dtype=float)

    def total(self, counts) -> float:
        """The score of these atoms, rounded once, so that it does not depend on the order of the sum."""
        used = np.flatnonzero(counts)
        return math.fsum((counts[used] * self.scores[used]).tolist())

    def distance(self, counts) -> float:
        """By how much the score of these atoms is below the prediction's; 0 of the same score and above."""
        below = self.best - self.total(counts)
        return below if below > self.tolerance else 0.0

    def within(self, total, distance):
        """Whether structures of this score, or of each of these, are members. A score of -inf forbids a structure."""
        return (total >= self.best - distance - self.tolerance) & (total > -np.inf)

    # ---- members ----

    def listed(self):
        """All structures, their atoms (n_structures, n_atoms) and scores, if the search lists them; else None."""
        if self._listed is None and (isinstance(self.parts.outputs, LabelOutputs) or not self.parts.argmax.any_scores):
            self._listed = self.all_of("the members of a set")
        return self._listed

    def all_of(self, wanted):
        structures, counts = answers.listed(self.parts, self.x, wanted)
        return structures, counts, np.array([self.total(row) for row in counts])

    def members(self, distance, limit):
        """The members of largest score, best first, at most `limit`: structures, scores, and whether there are no others."""
        ranked = None if self.listed() is not None else ranked_by(self.parts.argmax, self.scores.copy(), self.x, limit + 1)
        if ranked is None:
            structures, counts, totals = self.listed() or self.all_of("the members of a set")
            order = np.argsort(-totals, kind="stable").tolist()
            ranked = [(structures[i], totals[i]) for i in order if self.within(totals[i], distance)]
        else:
            outputs = self.parts.outputs
            ranked = [(y, self.total(self.counted(y))) for y in (as_structure(outputs, y, self.x) for y, _ in ranked)]
            ranked = [(y, total) for y, total in ranked if self.within(total, distance)]
        return [y for y, _ in ranked[:limit]], np.array([float(total) for _, total in ranked[:limit]]), len(ranked) <= limit

    def how_many(self, distance, limit) -> tuple[float, float]:
        """At least and at most so many members there are; chains are counted, others listed up to a limit."""
        tables = None if self.listed() is not None else self.parts.argmax.chain_of(self.scores.copy(), self.x)
        if tables is not None and len(tables[0]):
            return labellings_within(tables, distance + self.tolerance)
        members, _, complete = self.members(distance, limit)
        return (len(members), len(members)) if complete else (limit + 1, math.inf)

    # ---- atoms ----

    def local_atoms(self) -> np.ndarray:
        """The atoms that sets of atoms have."""
        return np.asarray(self.parts.outputs.display().local_atoms(self.x), dtype=np.intp)

    def atoms(self, distance) -> Atoms:
        """The shown atoms of some and of all structures within a distance."""
        chosen = np.zeros(self.x.n_atoms, dtype=bool)
        chosen[self.local_atoms()] = True
        if self.listed() is not None:
            _, counts, totals = self.listed()
            inside = counts[self.within(totals, distance)] > 0
            return Atoms(inside.any(axis=0) & chosen, inside.all(axis=0) & chosen, True)
        search = Search(self, min(distance, self.farthest()))
        if self.largest() is None:
            search.possible(chosen)
        else:
            search.some = self.within(self.largest(), search.distance)
        search.certain(chosen)
        return Atoms(search.some & chosen, search.all & chosen, search.exact)

    def distances_of(self, counts, chosen) -> np.ndarray:
        """For the chosen atoms of a structure: how far the best structure with the atom is below the prediction, as far as one is found."""
        farthest = self.distance(counts)
        if self.listed() is not None:
            _, every, totals = self.listed()
            totals = [max(totals[every[:, a] > 0]) for a in chosen]
        elif self.largest() is not None:
            totals = self.largest()[chosen]
        else:
            search, totals = Search(self, farthest), []
            for a in chosen.tolist():
                beside = self.counts if self.counts[a] > 0 or farthest == 0 else search.optimum(np.array([a]), 1)[0]
                totals.append(self.total(beside) if beside[a] > 0 else -np.inf)
        below = np.clip(self.best - np.array(totals, dtype=float), 0, farthest)
        return np.where(below > self.tolerance, below, 0.0)

    def largest(self):
        """The score of the best structure with each atom, where the solver itself finds it; else None."""
        if self._largest is None:
            self._largest = self.parts.argmax.max_marginals(self.scores.copy(), self.x)
        return self._largest

    def farthest(self) -> float:
        """A distance within which all structures are that are not forbidden."""
        return 1 + 2 * float(np.abs(self.scores[np.isfinite(self.scores)]).sum()) * (1 + self.counts.sum())

    # ---- length and doubt ----

    def length(self) -> int:
        """How many shown atoms the prediction has, at least 1; 1 of single labels."""
        return 1 if isinstance(self.parts.outputs, LabelOutputs) else max(1, int(np.count_nonzero(self.counts[self.local_atoms()])))

    def log_share(self) -> float | None:
        """-log p(prediction); None: the solver finds no probabilities."""
        if self.listed() is not None:
            totals = self.listed()[2] / self.temperature
            log_z = float(totals.max() + np.log(np.exp(totals - totals.max()).sum()))
        else:
            result = marginals_of(self.parts.argmax, self.scores / self.temperature, self.x)
            if result is None:
                return None
            log_z = result[0]
        return max(0.0, log_z - self.best / self.temperature)

    def log_share_of_two(self) -> float:
        """The same if there were only the best two outputs."""
        _, totals, _ = self.members(np.inf, 2)
        return float(np.log1p(np.exp((totals[1] - totals[0]) / self.temperature))) if len(totals) > 1 else 0.0


class Search:
    """Decides atoms by the argmax with changed scores; `some` and `all` are what is known so far."""
    # distance: float. Finite.

    def __init__(self, near, distance):
        self.near, self.distance = near, distance
        gap = near.gap if near.gap < np.inf else 0.0
        self.push = (2 * distance + gap + 1e-3 * (1 + abs(near.best))) / near.least     # solvers round, too
        self.some, self.all, self.exact = near.counts > 0, near.counts > 0, True

    def optimum(self, atoms, sign):
        """The atoms of the structure with the largest S(y) + sign * push * (number of these atoms in y), and a bound."""
        near, changed = self.near, self.near.scores.copy()
        changed[atoms] += sign * self.push
        y = as_structure(near.parts.outputs, near.parts.argmax.argmax(changed, near.x), near.x)
        bound, counts = float(near.x.bound), near.counted(y)
        if near.within(near.total(counts), self.distance):
            self.some |= counts > 0
            self.all &= counts > 0
        return counts, near.total(counts) + sign * self.push * float(counts[atoms].sum()) + bound

    def possible(self, chosen) -> None:
        """Finds `some` of these atoms: many at a time, and one by one those of the structure that comes out."""
        near = self.near
        left = np.flatnonzero(chosen & ~self.some)
        while len(left):
            counts, bound = self.optimum(left, 1)
            if not near.within(bound - self.push * near.least, self.distance):
                return
            hits = left[counts[left] > 0] if counts[left].any() else left
            for a in hits.tolist():
                if not self.some[a]:
                    self.decide(a)
            left = left[~np.isin(left, hits) & ~self.some[left]]

    def decide(self, a) -> None:
        """Whether a member has one atom."""
        counts, bound = self.optimum(np.array([a]), 1)
        if not self.some[a] and self.near.within(bound - self.push * self.near.least, self.distance):
            self.some[a], self.exact = True, False                  # neither shown nor excluded

    def certain(self, chosen) -> None:
        """Finds `all` of these atoms: one that no known member lacks is certain where no structure without it is near."""
        for a in np.flatnonzero(chosen & self.all).tolist():
            if self.all[a]:
                _, bound = self.optimum(np.array([a]), -1)
                if self.all[a] and self.near.within(bound, self.distance):
                    self.all[a], self.exact = False, False
