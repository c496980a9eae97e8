"""The nearest example of a chain of labels, such as a sentence: branch and bound over the labels of a window of rows that grows.

Let y have the labels v in a window. Let v' be labels of the window that no wanted output has. Then y with v' instead of v is a rival of y.
In the difference of their scores all rows outside the window cancel. The labels beside the window that favour v most bound this difference.
It is linear in the change. So one program bounds the distance of all y with v in the window, however many there are.
"""

from __future__ import annotations

import heapq
import itertools
from functools import cache, cached_property

import attrs
import numpy as np

from structperc.counterfactuals.programs import shortest


@attrs.frozen(eq=False)
class Chain:
    """Atoms and scores of the labels of a chain."""
    # atoms: int array of shape (n_rows, n_labels). Of each label of a row; -1 where it is forbidden.
    # scores: float64 array of shape (n_rows, n_labels). Of these, with the scores of the first and of the last label. -inf where they, or
    # all labels beside them, are forbidden.
    # pairs: float64 array of shape (n_labels, n_labels). Of consecutive labels; -inf where they are forbidden.

    atoms: np.ndarray
    scores: np.ndarray
    pairs: np.ndarray

    @classmethod
    def of(cls, argmax, scores, example, deciding):
        """The chain of these scores. None: there is none, or x changes other scores than those of single labels."""
        tables = argmax.chain_of(scores, example)
        if tables is None or not len(tables[0]):
            return None
        rows, pairs, start, end = (np.array(table, dtype=float) for table in tables)
        numbers = argmax.chain_of(np.arange(len(scores), dtype=float), example)[0]
        atoms = np.where(np.isfinite(numbers), numbers, -1).astype(int)
        single = np.zeros(len(scores), dtype=bool)
        single[atoms[atoms >= 0]] = True
        if not np.array_equal(rows[atoms >= 0], scores[atoms[atoms >= 0]]) or deciding[~single].any():
            return None
        rows[0] += start
        rows[-1] += end
        for one_way, may_follow in ((rows, np.isfinite(pairs)), (rows[::-1], np.isfinite(pairs).T)):
            for before, here in itertools.pairwise(one_way):
                here[~may_follow[np.isfinite(before)].any(axis=0)] = -np.inf
        return cls(np.where(np.isfinite(rows), atoms, -1), rows, pairs)

    def between(self, rows):
        """The chain from the first to the last of some rows. Its ends have the best sums of the rows outside."""
        chosen = np.flatnonzero(rows)
        first, end = chosen[0], chosen[-1] + 1
        scores = self.scores[first:end].copy()
        scores[0] += best_before(self.scores, self.pairs)[first]
        scores[-1] += best_before(self.scores[::-1], self.pairs.T)[::-1][end - 1]
        return Chain(self.atoms[first:end], scores, self.pairs)

    def favour(self, t, pairs):
        """The least lead of label b over label a beside row t, at [a, b], by the scores of pairs. -inf: others forbid b."""
        # Labels of row t that forbid a are left out.
        if not 0 <= t < len(self.atoms):
            return np.zeros(pairs.shape)
        pairs = pairs[self.atoms[t] >= 0]
        with np.errstate(invalid="ignore"):
            lead = pairs[:, None, :] - pairs[:, :, None]
        return np.where(np.isfinite(pairs)[:, :, None], lead, np.inf).min(axis=0, initial=np.inf)


@attrs.frozen(eq=False)
class Window:
    """All wanted outputs with some labels in consecutive rows."""
    # first: int. The first row.
    # labels: tuple of int
    # bound: float. None of them wins at a smaller distance.
    # rivals: list of tuple of int. Labels of the same rows with which nothing is wanted.

    first: int
    labels: tuple
    bound: float
    rivals: list

    @property
    def rows(self):
        return range(self.first, self.first + len(self.labels))

    def with_bound(self, bound):
        """The window with the larger of its bound and this one."""
        return attrs.evolve(self, bound=max(self.bound, bound))


class WindowBounds:
    """What bounds the distance of all outputs of a window: functions of a window and a change, by tables that never change."""
    # goal: Goal. Of which labels of rows are wanted and others are not.
    # slopes: sparse matrix of shape (n_atoms, n_variables). Of the scores of atoms.
    # norm: {"l1", "l2"}

    def __init__(self, chain, goal, slopes, variables, norm):
        self.chain, self.slopes, self.variables, self.norm = chain, slopes.tocsr(), variables, norm
        self.allowed = (chain.atoms >= 0) & ~np.isin(chain.atoms, goal.without)
        for a in goal.must.tolist():
            self.allowed &= (chain.atoms == a) | ~(chain.atoms == a).any(axis=1, keepdims=True)
        self.decided = np.flatnonzero(np.isin(chain.atoms, np.append(goal.must, goal.without)).any(axis=1)).tolist()
        self.ahead, self.onward = best_before(chain.scores, chain.pairs), best_before(chain.scores[::-1], chain.pairs.T)[::-1]
        self.row, self.part, self.beside = cache(self._row), cache(self._part), cache(self._beside)

    def __len__(self):
        return len(self.allowed)

    # ---- the lead of a window over its rivals ----

    def gaps(self, window):
        """How far a window is behind each of its rivals without a change."""
        before, after = self.ends(window)
        scores = self.chain.scores[window.rows.start:window.rows.stop]
        own = path_score(scores, self.chain.pairs, window.labels)
        return np.array([path_score(scores, self.chain.pairs, rival) + before[window.labels[0], rival[0]]
                         + after[window.labels[-1], rival[-1]] - own for rival in window.rivals])

    def leads(self, window, rivals):
        """The slopes of a window's lead over each of these rivals, by the variables of its rows."""
        columns, _ = self.part(window.rows)
        leads = np.zeros((len(rivals), len(columns)))
        for lead, rival in zip(leads, rivals, strict=True):
            for t, a, b in zip(window.rows, window.labels, rival, strict=True):
                own, slopes = self.row(t)
                lead[np.searchsorted(columns, own)] += slopes[a] - slopes[b]
        return leads

    def rival(self, window, z):
        """The labels of a window that are not wanted and lead it most after a change of its variables; None: none leads."""
        rows, (before, after), (columns, _) = window.rows, self.ends(window), self.part(window.rows)
        scores = self.chain.scores[rows.start:rows.stop].copy()
        for score, t in zip(scores, rows, strict=True):
            own, slopes = self.row(t)
            score += slopes @ z[np.searchsorted(columns, own)]
        least = path_score(scores, self.chain.pairs, window.labels)
        scores[0] += before[window.labels[0]]
        scores[-1] += after[window.labels[-1]]
        best, largest = None, least + 1e-9 * (1 + abs(least))
        for t in self.decided:
            if t in rows:
                wrong = scores.copy()
                wrong[t - rows.start, self.allowed[t]] = -np.inf
                labels, total = best_path(wrong, self.chain.pairs)
                if total > largest:
                    best, largest = labels, total
        return best

    # ---- bounds without a program ----

    def behind(self, window) -> float:
        """How far the best output of a window is behind the best one without a change."""
        rows = window.rows
        own = path_score(self.chain.scores[rows.start:rows.stop], self.chain.pairs, window.labels)
        own += self.ahead[rows.start, window.labels[0]] + self.onward[rows.stop - 1, window.labels[-1]]
        return max(float((self.ahead[-1] + self.chain.scores[-1]).max() - own), 0.0)

    def steepest(self, winner) -> float:
        """How much an output can gain on the winner by a change of length 1, at most; above 0."""
        gains = np.zeros((2, len(self.variables)))
        for t, atoms in enumerate(self.chain.atoms):
            own, slopes = self.row(t)
            lead = slopes - slopes[np.argmax(winner[atoms] * (atoms >= 0))]
            gains[:, own] += np.maximum(lead, 0).max(axis=0), np.maximum(-lead, 0).max(axis=0)
        gains = np.where([self.variables.high > 0, self.variables.low < 0], gains, 0).max(axis=0)
        steepest = np.sqrt((gains**2).sum()) if self.norm == "l2" else (gains / self.variables.cost).max(initial=0)
        return max(float(steepest), float(np.finfo(float).tiny))       # a float of Python: division gives inf without a warning

    # ---- tables of rows, made once ----

    def ends(self, window):
        """`Chain.favour` of the labels before and after a window."""
        return self.beside(window.rows.start - 1, False), self.beside(window.rows.stop, True)

    def _beside(self, t, after):
        return self.chain.favour(t, self.chain.pairs.T if after else self.chain.pairs)

    def _row(self, t):
        """The variables that change the scores of labels of a row, and their slopes."""
        slopes = self.slopes[np.maximum(self.chain.atoms[t], 0)].toarray()
        slopes[self.chain.atoms[t] < 0] = 0
        own = np.flatnonzero(slopes.any(axis=0))
        return own, slopes[:, own]

    def _part(self, rows):
        """The variables of some rows, with whole groups: their columns, and themselves."""
        columns = np.unique(np.concatenate([self.row(t)[0] for t in rows]))
        of_groups = [group for group in self.variables.groups if np.isin(group, columns).any()]
        columns = np.unique(np.concatenate([columns, *of_groups]))
        return columns, self.variables.part(columns)


class BranchAndBound:
    """The wanted outputs of a search, divided by their labels in windows, the window with the least bound first."""
    # search: Search. It has the nearest change so far, and the clock.

    def __init__(self, search, bounds):
        self.search, self.goal, self.bounds = search, search.goal, bounds
        self.tried = set()

    @classmethod
    def of(cls, search):
        """None: there is no chain, or what is wanted is no labels of rows."""
        if search.goal.listed is not None:
            return None
        chain = Chain.of(search.block.model.parts.argmax, search.scores, search.block.example, search.deciding)
        goal_atoms = np.append(search.goal.must, search.goal.without)
        if chain is None or not np.isin(goal_atoms, chain.atoms).all():
            return None
        chain = chain.between(np.isin(chain.atoms, [*goal_atoms, *np.flatnonzero(search.deciding)]).any(axis=1))
        return cls(search, WindowBounds(chain, search.goal, search.slopes, search.variables, search.norm))

    def least(self) -> float:
        """A lower bound on the distance of every wanted output; keeps the nearest change."""
        serial, bounds, start = itertools.count(), [], self.bounds.decided[0]
        self.consider(self.search.start)
        heap = [(0.0, next(serial), Window(start, (k,), 0.0, [])) for k in np.flatnonzero(self.bounds.allowed[start]).tolist()]
        while heap and not self.search.clock.over and not self.search.excludes(heap[0][0]):
            window, slopes, prices, z = self.proved(heapq.heappop(heap)[2])
            if self.search.excludes(window.bound):
                bounds.append(window.bound)
            elif len(window.labels) == len(self.bounds):
                bounds.append(max(window.bound, self.search.nearest(self.counts_of(window.labels))))
            else:
                self.consider(self.search.moved(z))
                for child in self.children(window, slopes, prices):
                    heapq.heappush(heap, (child.bound, next(serial), child))
        return min([*bounds, *(bound for bound, *_ in heap[:1])], default=np.inf)

    def proved(self, window):
        """A window with its bound and the rivals that prove it, their slopes and prices, and the least change."""
        columns, variables = self.bounds.part(window.rows)
        slopes, prices, z = self.bounds.leads(window, window.rivals), np.zeros(len(window.rivals)), np.zeros(len(columns))
        while True:
            gaps = self.bounds.gaps(window)
            window = window.with_bound(variables.least_of_one(slopes, gaps, self.search.norm))
            if self.search.excludes(window.bound):
                break
            if window.rivals:
                optimum = shortest(variables, slopes, gaps, self.search.norm, self.search.clock)
                window, prices = window.with_bound(optimum.bound), optimum.prices
                if optimum.z is None or self.search.excludes(window.bound):
                    break
                z = optimum.z
            rival = self.bounds.rival(window, z)
            if rival is None or rival in window.rivals or self.search.clock.over:
                break
            window = attrs.evolve(window, rivals=[*window.rivals, rival])
            slopes, prices = np.vstack([slopes, self.bounds.leads(window, [rival])]), np.append(prices, 0.0)
        whole = np.zeros(len(self.search.variables))
        whole[columns] = z
        return window, slopes, prices, whole

    def children(self, window, slopes, prices):
        """The windows with one more row, on the side that is nearer to the row where the first one began."""
        _, variables = self.bounds.part(window.rows)
        pairs, start, before, after = self.bounds.chain.pairs, self.bounds.decided[0], window.rows.start, window.rows.stop
        left = before > 0 and (after == len(self.bounds) or start - before <= after - 1 - start)
        t, joined = (before - 1, pairs[:, window.labels[0]]) if left else (after, pairs[window.labels[-1]])
        for k in np.flatnonzero(self.bounds.allowed[t] & np.isfinite(joined)).tolist():
            labels, *rivals = ((k, *one) if left else (*one, k) for one in (window.labels, *window.rivals))
            child = Window(min(t, before), labels, window.bound, rivals)
            child = child.with_bound(self.bounds.behind(child) / self.steepest)
            yield child.with_bound(variables.least_length(slopes, self.bounds.gaps(child), prices, self.search.norm))

    @cached_property
    def steepest(self):
        return self.bounds.steepest(self.search.winner)

    # ---- changes that may win ----

    def consider(self, values):
        """Keeps a change if it wins. Else the best wanted output of these values has a program."""
        if self.goal.holds(self.goal.counts(self.search.block.predicted(values))):
            self.search.keep(values)
            return
        counts = self.goal.best(self.search.block.scores(values), self.goal.must, self.goal.without)
        if self.goal.has_atoms(counts) and counts.tobytes() not in self.tried:
            self.tried.add(counts.tobytes())
            self.search.nearest(counts)

    def counts_of(self, labels):
        return self.goal.best(self.search.scores, self.bounds.chain.atoms[np.arange(len(labels)), list(labels)], [])


def path_score(scores, pairs, labels) -> float:
    labels = np.array(labels)
    return float(scores[np.arange(len(labels)), labels].sum() + pairs[labels[:-1], labels[1:]].sum())


def best_before(scores, pairs):
    """The largest sum of the rows before each label."""
    totals = np.zeros(scores.shape)
    for before, row, here in zip(totals, scores, totals[1:], strict=False):
        here[:] = ((before + row)[:, None] + pairs).max(axis=0)
    return totals


def best_path(scores, pairs):
    """The labels of the largest sum, and the sum."""
    total, origins = scores[0], []
    for row in scores[1:]:
        through = total[:, None] + pairs
        origins.append(through.argmax(axis=0))
        total = through.max(axis=0) + row
    labels = [int(total.argmax())]
    for origin in reversed(origins):
        labels.append(int(origin[labels[-1]]))
    return tuple(reversed(labels)), float(total.max())
