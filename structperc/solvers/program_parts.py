"""Connected components of a program: of few variables all vectors, of more a linear program and branch and bound, and an exact check."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from structperc.basics.errors import DataError
from structperc.solvers.few_variables import MOST_VARIABLES, FewVariables, few, subset_sums
from structperc.solvers.highs import Clock, HighsProgram, OutOfTime
from structperc.solvers.program_rows import UNIT, ProgramRows

EXACT_LP, EXACT_SUBSETS, EXACT_MILP, RELAXED = STATUSES = "exact-lp", "exact-subsets", "exact-milp", "relaxed"
TOLERANCE = 1e-6                # of whole numbers in HiGHS's results
COMPLETED = 1e-9                # what auxiliary variables may leave of a row, relative to its terms
MOST_CUT = 100                  # vectors that HiGHS takes for feasible, and which are excluded then
WIDE, NARROW = 1e-6, 1e-3       # ratios of scores: from where they are solved level by level, and between two levels
SEEN = 1e-8                     # the least ratio of scores that one level shows HiGHS


class Part:
    """Rows and columns of a program that share no variable with the others."""
    # places, columns: int arrays. Of these rows and columns in the program.
    # lowest, highest, integrality: arrays of shape (n_columns,)
    # n: int. Number of 0/1 variables, which are the first columns; the others are auxiliary.
    # solver: {"scipy", "highspy"}

    def __init__(self, rows, places, columns, lowest, highest, integrality, n, solver):
        self.rows, self.places, self.columns, self.n = rows, places, columns, n
        self.lowest, self.highest, self.integrality, self.solver = lowest, highest, integrality, solver
        self.auxiliary = len(columns) > n

    @cached_property
    def highs(self) -> HighsProgram:
        return HighsProgram(self.rows, self.lowest, self.highest, self.integrality, self.solver)

    @cached_property
    def few(self):
        """All vectors, or None if there are too many."""
        return FewVariables(self.rows) if not self.auxiliary and few(len(self.places), self.n) else None

    def best(self, scores, relaxed, most_nodes, clock):
        """Values of the columns, a bound of their score, and the status. None if none are feasible. `OutOfTime` if none are known."""
        if self.few is not None and not relaxed:
            best = self.few.best(scores, 1)
            return (best[0], float(finite(scores) @ best[0]), EXACT_SUBSETS) if len(best) else None
        upper = self.upper(scores)
        scores = self.padded(finite(scores))
        if not self.auxiliary:
            greedy = (scores > 0).astype(float)
            if not self.rows.wrong(greedy).any():               # no other vertex of the cube scores more
                return greedy, float(scores @ greedy), EXACT_LP
        try:
            levels = [scores] if relaxed else list(levelled(scores))
            return self.searched(levels, upper, relaxed, most_nodes, clock)
        except OutOfTime:
            nothing = np.zeros(len(self.columns))
            if self.auxiliary or self.rows.wrong(nothing).any():
                raise
            return nothing, float(np.maximum(scores, 0.0).sum()), RELAXED

    def searched(self, levels, upper, relaxed, most_nodes, clock, further=()):
        """As `best`, by one search for each level of scores. `further` are rows that v must satisfy too, (row, low, high, tolerance)."""
        further, total, status = list(further), 0.0, EXACT_LP
        for place, scores in enumerate(levels):
            found = self.search(scores, upper, relaxed, most_nodes, clock, further)
            if found is None:
                return None
            v, bound, proof = found
            total, status = total + bound, max(status, proof, key=STATUSES.index)
            if status == RELAXED:
                return v, total + sum(float(np.maximum(rest, 0.0).sum()) for rest in levels[place + 1:]), RELAXED
            if place + 1 < len(levels):
                size = np.abs(scores).max()
                row, own = scores / size, spacing(scores[scores != 0]) / size
                further.append((row, row @ v - own / 4, np.inf, own / 4))
        sizes = np.abs(levels[-1][levels[-1] != 0])
        return v, total, RELAXED if not relaxed and sizes.min(initial=np.inf) < SEEN * sizes.max(initial=0.0) else status

    def search(self, scores, upper, relaxed, most_nodes, clock, further):
        """As `best`, for scores of one level."""
        bound = np.inf
        if not further:
            answer = self.highs.linear(scores, upper, clock)
            if answer is None:
                return None
            v, bound = answer
            whole = np.where(self.integrality > 0, np.rint(v), v)
            if np.abs(v - whole).max(initial=0.0) <= TOLERANCE:
                settled = self.settled(whole, upper)
                if settled is not None:
                    return settled, bound, EXACT_LP
            if relaxed:
                return v, bound, RELAXED
        cuts = []
        while len(cuts) <= MOST_CUT:
            rows = [(row, low, high) for row, low, high, _ in [*further, *cuts]]
            result, x, limit = self.highs.whole(scores, upper, clock, most_nodes, rows)
            if result.status == 2:
                return None
            bound = bound if limit is None else min(bound, limit)
            if x is not None:
                v = self.settled(np.where(self.integrality > 0, np.rint(x), x), upper)
                if v is not None and not any((low - row @ v > slack) or (row @ v - high > slack) for row, low, high, slack in further):
                    return v, bound, EXACT_MILP if result.status == 0 else RELAXED
            if result.status == 1 and clock.over:
                raise OutOfTime(f"no v was found within time_limit; none scores more than {bound:g}. Allow more time.")
            if x is None:
                raise DataError(f"no 0/1 vector was found that satisfies the rows of the program ({result.message.strip()}); "
                                f"{'allow more nodes' if result.status == 1 else 'rescale its rows'}.")
            cuts.append(self.without(np.rint(x)))
        raise DataError(f"HiGHS returned {len(cuts)} vectors, and each breaks a row by less than its tolerance. The coefficients of some "
                        f"row differ too much in size.")

    def settled(self, v, upper):
        """v if it satisfies the rows, else with other auxiliary variables that do, or None."""
        v = np.clip(v, self.lowest, upper)
        if not self.rows.wrong(v, COMPLETED).any():
            return v
        return self.completed(v[:self.n]) if self.auxiliary else None

    def completed(self, v):
        """0/1 variables with values of the auxiliary ones that satisfy the rows, or None."""
        values = self.highs.completed(np.append(v, self.lowest[self.n:]), np.append(v, self.highest[self.n:]))
        if values is not None:
            values = np.clip(values, self.lowest, self.highest)
        return None if values is None or self.rows.wrong(values, COMPLETED).any() else values

    def without(self, v):
        """A row that no 0/1 vector but v breaks."""
        row = self.padded(np.where(v[:self.n] > 0.5, 1.0, -1.0))
        return row, -np.inf, float((v[:self.n] > 0.5).sum() - 1), 0.0

    def ranked(self, scores, k):
        """The k best feasible values of the columns, best first, fewer if there are fewer; and the status of all."""
        if self.few is not None:
            return self.few.best(scores, k), EXACT_SUBSETS
        upper, levels, cuts, answers, status = self.upper(scores), list(levelled(self.padded(finite(scores)))), [], [], EXACT_LP
        while len(answers) < k:
            found = self.searched(levels, upper, False, None, Clock(None), cuts)
            if found is None:
                break
            answers.append(found[0])
            cuts.append(self.without(found[0]))
            status = max(status, found[2], key=STATUSES.index)
        return answers, status

    def padded(self, values):
        """Values of the 0/1 variables, and 0 for auxiliary ones."""
        return np.append(values, np.zeros(len(self.columns) - self.n))

    def upper(self, scores):
        return np.append((scores > -np.inf).astype(float), self.highest[self.n:])

    def contradiction(self, scores, n_inequalities):
        """Rows of the program that cannot hold together even for fractions; none if fractions can satisfy them."""
        own = int((self.places < n_inequalities).sum())
        _, rows = self.highs.least_violation(self.upper(scores), own)
        return self.places[rows]


def parts_of(rows: ProgramRows, lowest, highest, integrality, n, solver):
    """The components of a program: variables without rows, rows without variables, and the parts."""
    n_rows, width = rows.matrix.shape
    places, others = rows.matrix.nonzero()
    ends = places.astype(np.int32), (n_rows + others).astype(np.int32)                  # scipy's graphs take no others before 1.15
    graph = csr_array((np.ones(len(places)), ends), shape=(n_rows + width,) * 2)
    n_parts, part = connected_components(graph, directed=False) if n_rows + width else (0, np.zeros(0, dtype=int))
    with_rows = np.bincount(part[:n_rows], minlength=n_parts) > 0
    with_columns = np.bincount(part[n_rows:], minlength=n_parts) > 0
    alone, empty = np.flatnonzero(~with_rows[part[n_rows:]]), np.flatnonzero(~with_columns[part[:n_rows]])
    parts = []
    for own in grouped(part, np.flatnonzero(with_rows & with_columns)):
        at, columns = own[own < n_rows], own[own >= n_rows] - n_rows
        whole_program = len(at) == n_rows and len(columns) == width
        parts.append(Part(rows if whole_program else rows.part(at, columns), at, columns, lowest[columns], highest[columns],
                          integrality[columns], int((columns < n).sum()), solver))
    return alone, empty, parts


def grouped(part, which):
    """The members of these components, in rising order."""
    order = np.argsort(part, kind="stable")
    starts = np.searchsorted(part[order], which), np.searchsorted(part[order], which, side="right")
    return [order[begin:end] for begin, end in zip(*starts, strict=True)]


def finite(scores):
    return np.where(scores > -np.inf, scores, 0.0)


def levelled(scores):
    """Scores as a sum of scores of levels: what one level gains is more than all later ones together can."""
    # HiGHS sees scores down to a share of the largest one. Most scores have one level.
    order = np.argsort(-np.abs(scores), kind="stable")[:np.count_nonzero(scores)]
    sizes = np.abs(scores[order])
    if len(order) and sizes[-1] < WIDE * sizes[0]:
        rest, begin = np.append(np.cumsum(sizes[::-1])[::-1], 0.0), 0
        for end in range(1, len(order)):
            if sizes[end] < NARROW * sizes[end - 1] and spacing(scores[order[begin:end]]) > 2 * rest[end]:
                level = np.zeros(len(scores))
                level[order[begin:end]] = scores[order[begin:end]]
                yield level
                begin = end
        level = np.zeros(len(scores))
        level[order[begin:]] = scores[order[begin:]]
        yield level
    else:
        yield scores


def spacing(values) -> float:
    """The least difference of two different sums of subsets, or less."""
    if len(values) > MOST_VARIABLES:
        ratios = [value.as_integer_ratio() for value in values.tolist()]
        unit = max(bottom for _, bottom in ratios)              # denominators are powers of two
        return math.gcd(*(top * (unit // bottom) for top, bottom in ratios)) / unit
    steps = np.diff(np.sort(subset_sums(values)))
    return float(steps[steps > 4 * len(values) * UNIT * np.abs(values).sum()].min(initial=np.inf))


__all__ = ["EXACT_LP", "EXACT_MILP", "EXACT_SUBSETS", "RELAXED", "STATUSES", "Part", "parts_of"]
