"""The program of a nearest point: the shortest change that satisfies linear inequalities, with a lower bound on its length.

Changes are in units: a change z[j] moves column j by unit[j] * z[j]. Lengths are sum of cost * |z| ("l1") or the root of the sum of z^2
("l2"). Linear programs and those with whole numbers are solved by HiGHS, least squares by the method of Lawson and Hanson.
"""

from __future__ import annotations

import attrs
import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, nnls
from scipy.sparse import csr_array, hstack, vstack

from structperc.basics.errors import DataError
from structperc.solvers.branch_and_bound import branch_and_bound

LEAD = 1e-7                 # of a wanted structure over a rival that wins their tie, as a distance; doubled while it loses
LARGEST_LEAD = 0.1
ROUNDING = 1e-12            # of a sum of slopes, relative to its terms
SAME = 5e-5                 # bounds so close to the least distance, relative or times 0.1, are not searched
SLACK = 1e-9                # a price per unit below this is rounding, relative to the largest one
OPTIMAL, LIMIT, IMPOSSIBLE = 0, 1, 2    # HiGHS's words for how a program ended, as scipy numbers them


@attrs.frozen(eq=False)
class Variables:
    """The columns that may change."""
    # unit, cost, low, high: float64 arrays of shape (n,). Of one step; the least and the largest number of steps. 0 is between them, but
    # for whole numbers in a part of the search.
    # whole: bool array of shape (n,). Whether steps are whole numbers.
    # groups: list of int arrays. Variables whose steps add up to 0: the columns of a one-hot code.

    unit: np.ndarray
    cost: np.ndarray
    low: np.ndarray
    high: np.ndarray
    whole: np.ndarray
    groups: list

    def __len__(self):
        return len(self.unit)

    def part(self, columns):
        """Some of the variables, with all of each group."""
        chosen = [group for group in self.groups if np.isin(group, columns).any()]
        return Variables(*(values[columns] for values in (self.unit, self.cost, self.low, self.high, self.whole)),
                         [np.searchsorted(columns, group) for group in chosen])

    def length(self, z, norm) -> float:
        return float(np.sqrt((z * z).sum()) if norm == "l2" else (self.cost * np.abs(z)).sum())

    def least_length(self, slopes, gaps, prices, norm) -> float:
        """A lower bound on the length of every z with slopes @ z >= gaps between low and high. Any prices >= 0 give one."""
        # For each such z: length >= prices @ gaps + min over z between low and high of length - (prices @ slopes) @ z.
        if not len(prices):
            return 0.0
        prices = np.maximum(prices, 0)
        rate, value = prices @ slopes, float(prices @ gaps)
        open_ends = (np.isinf(self.low) & (rate < 0)) | (np.isinf(self.high) & (rate > 0))
        if norm == "l2":
            z = np.clip(rate, self.low, self.high)
            return float(np.sqrt(max(2 * (value + (z * z / 2 - rate * z).sum()), 0)))
        steepest = (np.abs(rate[open_ends]) / self.cost[open_ends]).max(initial=0)
        if steepest > 1:                    # by rounding
            rate, value = rate / steepest, value / steepest
        over = np.abs(rate) > self.cost
        end = np.where(rate > 0, self.high, self.low)[over & ~open_ends]
        kept = over & ~open_ends
        return max(value + float((self.cost[kept] * np.abs(end) - rate[kept] * end).sum()), 0.0)

    def least_of_one(self, slopes, gaps, norm) -> float:
        """The largest of the lower bounds that single inequalities give without the ends, which is cheaper than a program."""
        steepest = np.sqrt((slopes**2).sum(axis=1)) if norm == "l2" else (np.abs(slopes) / self.cost).max(axis=1, initial=0)
        return float((np.maximum(gaps, 0)[steepest > 0] / steepest[steepest > 0]).max(initial=0))

    def is_impossible(self, slopes, gaps, prices) -> bool:
        """Whether prices >= 0 prove that no z between low and high has slopes @ z >= gaps."""
        prices = np.maximum(prices, 0)
        rate, value = prices @ slopes, float(prices @ gaps)
        rate = np.where(np.abs(rate) > SLACK * np.abs(slopes).max(initial=0) * prices.sum(), rate, 0.0)
        end = np.where(rate > 0, self.high, np.where(rate < 0, self.low, 0.0))
        return value - float((rate * end).sum()) > SLACK * float(prices @ np.abs(gaps))


@attrs.frozen(eq=False)
class Solution:
    """The shortest change."""
    # z: float64 array of shape (n,) or None. None: there is none, or none was reached within the time.
    # bound: float. No change that satisfies the inequalities is shorter; inf: none satisfies them.
    # prices: float64 array. Of the inequalities, which prove the bound of programs without whole numbers.

    z: np.ndarray | None
    bound: float
    prices: np.ndarray


def shortest(variables, slopes, gaps, norm, clock) -> Solution:
    """The shortest z with slopes @ z >= gaps and low <= z <= high. It has whole numbers as required, but in "l2". Groups add up to 0."""
    size = np.abs(slopes).max(axis=1, initial=0)
    size[size == 0] = 1
    rows, needed = slopes / size[:, None], gaps / size          # tolerances of solvers are absolute
    if not (variables.high.any() or variables.low.any()):
        missed = needed > 0
        z, bound = (None, np.inf) if missed.any() else (np.zeros(len(variables)), 0.0)
        return Solution(z, bound, missed.astype(float))
    if norm == "l2":
        solution = least_squares(variables, rows, needed, clock)
    elif variables.whole.any():
        solution = whole_numbers(variables, rows, needed, clock)
    else:
        solution = linear(variables, rows, needed, clock)
    return attrs.evolve(solution, prices=solution.prices / size)


def halves(variables):
    """The bounds of rises and falls, of which a change is the difference."""
    return np.concatenate([variables.high, -variables.low])


def linear(variables, rows, needed, clock) -> Solution:
    if len(rows) == 1:
        return of_one(variables, rows[0], float(needed[0]))
    n = len(variables)
    result = linprog(np.tile(variables.cost, 2), A_ub=np.hstack([-rows, rows]), b_ub=-needed, method="highs", options=clock.option,
                    bounds=np.column_stack([np.zeros(2 * n), halves(variables)]))
    if result.status == LIMIT:
        return unfinished(len(needed))
    if result.status == IMPOSSIBLE:
        return impossible(variables, rows, needed)
    if result.status != OPTIMAL:
        raise unsolved(result)
    prices = np.maximum(-result.ineqlin.marginals, 0)
    return Solution(result.x[:n] - result.x[n:], variables.least_length(rows, needed, prices, "l1"), prices)


def of_one(variables, row, needed) -> Solution:
    """The shortest change of one inequality: the steepest variables for their cost move, each to its end before the next one."""
    toward = np.sign(row)
    room, steep = np.where(row > 0, variables.high, -variables.low), np.abs(row) / variables.cost
    order = np.argsort(-steep, kind="stable")
    order = order[(steep[order] > 0) & (room[order] > 0)]
    gains = np.cumsum(np.abs(row[order]) * room[order])
    last = int(np.searchsorted(gains, needed))
    if needed > 0 and last == len(order):
        prices = np.ones(1)
        return Solution(None, np.inf if variables.is_impossible(row[None], np.array([needed]), prices) else 0.0, prices)
    z, prices = np.zeros(len(variables)), np.zeros(1)
    if needed > 0:
        moved, j = order[:last], order[last]
        z[moved] = toward[moved] * room[moved]
        z[j] = (needed - (gains[last - 1] if last else 0.0)) / row[j]
        prices[0] = 1 / steep[j]
    return Solution(z, variables.least_length(row[None], np.array([needed]), prices, "l1"), prices)


def whole_numbers(variables, rows, needed, clock) -> Solution:
    n = len(variables)
    together = np.zeros((len(variables.groups), n))
    for g, group in enumerate(variables.groups):
        together[g, group] = 1
    matrix = csr_array(vstack([hstack([csr_array(part), -csr_array(part)]) for part in (rows, together)]))
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    zeros = np.zeros(len(together))
    least = np.maximum(np.concatenate([variables.low, -variables.high]), 0)
    most = np.maximum(halves(variables), 0)
    sides = np.append(needed, zeros), np.append(np.full(len(needed), np.inf), zeros)
    result = branch_and_bound(np.tile(variables.cost, 2), {"mip_rel_gap": 0.0} | clock.option, integrality=np.tile(variables.whole, 2),
                              bounds=Bounds(least, most), constraints=LinearConstraint(matrix, *sides))
    if result.status == IMPOSSIBLE:
        return Solution(None, np.inf, np.zeros(len(needed)))
    if result.status not in (OPTIMAL, LIMIT):
        raise unsolved(result)
    bound = 0.0 if result.mip_dual_bound is None or not np.isfinite(result.mip_dual_bound) else max(result.mip_dual_bound, 0.0)
    if result.x is None:
        return Solution(None, bound, np.zeros(len(needed)))
    z = result.x[:n] - result.x[n:]
    return Solution(np.where(variables.whole, np.rint(z), z), bound, np.zeros(len(needed)))


def least_squares(variables, rows, needed, clock) -> Solution:
    """Least distance by non-negative least squares (Lawson and Hanson 1974, chapter 23); bounds become rows once they are violated."""
    n, m = len(variables), len(needed)
    lengths = np.sqrt((rows**2).sum(axis=1))
    far = float((needed / np.where(lengths > 0, lengths, 1.0))[lengths > 0].max(initial=0.0)) or 1.0     # at least so long: now about 1
    all_rows, all_needed, low, high = rows, needed / far, variables.low / far, variables.high / far
    below, above, unit = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool), np.eye(n)            # bounds that are rows
    while not clock.over:
        system = np.vstack([all_rows.T, all_needed])
        try:
            prices, rest = nnls(system, np.append(np.zeros(n), 1.0), maxiter=30 * max(system.shape))
        except RuntimeError as error:
            raise DataError(f"the least squares were not solved ({error}); use norm='l1'.") from None
        residual = system @ prices - np.append(np.zeros(n), 1.0)
        if rest < 1e-7 or residual[-1] > -1e-12:
            return impossible(variables, rows, needed)
        z = -residual[:n] / residual[-1]
        beyond = 1e-9 * (1 + np.abs(z).max(initial=0.0))
        new_low, new_high = (z < low - beyond) & ~below, (z > high + beyond) & ~above
        if not (new_low | new_high).any():
            prices = prices[:m] / -residual[-1] * far
            return Solution(np.clip(z * far, variables.low, variables.high), variables.least_length(rows, needed, prices, "l2"), prices)
        below, above = below | new_low, above | new_high
        all_rows = np.vstack([all_rows, unit[new_low], -unit[new_high]])
        all_needed = np.concatenate([all_needed, low[new_low], -high[new_high]])
    return unfinished(m)


def impossible(variables, rows, needed) -> Solution:
    """The prices that prove that no change satisfies the rows (Farkas), from the program of the least violation."""
    n = len(variables)
    result = linprog(np.append(np.zeros(n), 1.0), A_ub=np.column_stack([-rows, -np.ones(len(needed))]), b_ub=-needed, method="highs",
                    bounds=np.column_stack([np.append(variables.low, 0), np.append(variables.high, np.inf)]))
    if result.status != OPTIMAL:
        raise unsolved(result)
    prices = np.maximum(-result.ineqlin.marginals, 0)
    proved = variables.is_impossible(rows, needed, prices)
    return Solution(None, np.inf if proved else 0.0, prices)


def unfinished(m) -> Solution:
    return Solution(None, 0.0, np.zeros(m))


def unsolved(result) -> DataError:
    return DataError(f"HiGHS did not solve the program of the nearest change ({result.message.strip()}); bring the columns to one scale.")
