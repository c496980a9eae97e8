"""Programs in HiGHS's hands: scaled before, checked by nobody here. Its tolerances are absolute, so rows and scores come near 1."""

from __future__ import annotations

import threading
import time

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csc_array, csr_array, hstack

from structperc.basics.arguments import seconds
from structperc.basics.errors import DataError
from structperc.basics.rows_of_numbers import to_dense
from structperc.extras import require
from structperc.solvers.branch_and_bound import branch_and_bound
from structperc.solvers.program_rows import ProgramRows, power_of_two, times

TOLERANCE = 1e-6                # of a violation that counts as one, and of the duals that name its rows
LEAST_TIME = 1e-3               # seconds that HiGHS is given at least
CHOOSE, PRIMAL_SIMPLEX = 0, 4   # HiGHS's numbers of strategies
SCORE = 2.0**10                 # size of the largest score: its tolerances of objectives, 1e-7 to 1e-6, are about 1e-9 of that
FINEST = 1e-10                  # its smallest tolerance
ROUNDS = 6                      # of scaling auxiliary columns and rows in turn
LARGEST = 2.0**24               # coefficient of a row whose smallest one is 1; its tolerance then distinguishes their sums


class OutOfTime(DataError):
    """The time limit was reached before a feasible vector was known."""


class Clock:
    """How much of a time limit is left, from now on."""
    # time_limit: float or None. Seconds.

    def __init__(self, time_limit):
        time_limit = seconds(time_limit)
        self.end = None if time_limit is None else time.monotonic() + time_limit

    @property
    def left(self) -> float | None:
        """Seconds, None without a limit; above 0, so that a solver begins."""
        return None if self.end is None else max(self.end - time.monotonic(), LEAST_TIME)

    @property
    def over(self) -> bool:
        return self.end is not None and self.end - time.monotonic() <= LEAST_TIME

    @property
    def option(self) -> dict:
        """As scipy's solvers take it."""
        return {} if self.end is None else {"time_limit": self.left}


class HighsProgram:
    """A program scaled by powers of two: its rows, and the columns of auxiliary variables that are no whole numbers."""
    # lowest, highest: float64 arrays of shape (n,). Bounds of the variables.
    # integrality: array of shape (n,). 1: whole numbers.
    # solver: {"scipy", "highspy"}

    def __init__(self, rows: ProgramRows, lowest, highest, integrality, solver):
        self.integrality, self.solver, self._warm = integrality, solver, threading.local()
        self.width, self.height = scales(rows, integrality == 0)
        self.matrix = times(self.height, self.width, rows.matrix)
        with np.errstate(over="ignore"):        # a bound beyond float64 is none
            self.low, self.high = rows.low * self.height, rows.high * self.height
        self.lowest, self.highest = lowest / self.width, highest / self.width

    @property
    def constraints(self) -> LinearConstraint:
        """The rows as scipy takes them."""
        if not hasattr(self, "_constraints"):
            columns = csc_array(self.matrix)
            places = columns.indices.astype(np.int32), columns.indptr.astype(np.int32)      # scipy's HiGHS takes no others before 1.15
            self._constraints = LinearConstraint(csc_array((columns.data, *places), shape=columns.shape), self.low, self.high)
        return self._constraints

    def cost(self, scores):
        """Costs of about 1000, and what a cost of 1 is in scores."""
        up = 1 - np.frexp(np.abs(scores).max(initial=0.0))[1]         # exponents: the factor of the smallest numbers would be infinite
        return np.ldexp(-scores, up) * SCORE, np.ldexp(1.0 / SCORE, -up)

    def linear(self, scores, upper, clock):
        """A vertex of the largest score and that score; None where no v is feasible, `OutOfTime` at the limit."""
        cost, unit = self.cost(scores)
        if self.solver == "highspy":
            if not hasattr(self._warm, "model"):
                self._warm.model = WarmModel(self.matrix, self.low, self.high, self.lowest, self.highest)
            answer = self._warm.model.solve(cost * self.width, upper / self.width, clock)
        else:
            result = milp(cost * self.width, bounds=Bounds(self.lowest, upper / self.width), constraints=self.constraints,
                          options=clock.option)
            if result.status == 1 and clock.over:
                raise OutOfTime
            answer = None if result.x is None else (result.x, -result.fun)
        return None if answer is None else (answer[0] * self.width, answer[1] * unit)

    def whole(self, scores, upper, clock, most_nodes, further=()):
        """Branch and bound: scipy's result, its x, and the bound on scores. `further` are rows of inequalities, (row, low, high)."""
        cost, unit = self.cost(scores)
        options = {"mip_rel_gap": 0.0} | ({} if most_nodes is None else {"node_limit": most_nodes}) | clock.option
        more = [LinearConstraint(row[None] * self.width, low, high) for row, low, high in further]
        result = branch_and_bound(cost * self.width, options, integrality=self.integrality,
                                  bounds=Bounds(self.lowest, upper / self.width), constraints=[self.constraints, *more])
        bound = None if result.mip_dual_bound is None else -result.mip_dual_bound * unit
        return result, None if result.x is None else result.x * self.width, bound

    def completed(self, lowest, highest):
        """Values between these bounds that satisfy the rows as exactly as HiGHS can, or None."""
        whole = self.integrality > 0
        if (whole & (lowest != highest)).any():
            result = branch_and_bound(np.zeros(len(whole)), {}, integrality=self.integrality, constraints=self.constraints,
                                      bounds=Bounds(lowest / self.width, highest / self.width))
            if result.x is None:
                return None
            lowest, highest = (np.where(whole, np.rint(result.x), side) for side in (lowest, highest))
        equal = self.low == self.high
        result = linprog(np.zeros(len(whole)), A_ub=self.matrix[~equal], b_ub=self.high[~equal], A_eq=self.matrix[equal],
                         b_eq=self.high[equal], bounds=np.column_stack([lowest, highest]) / self.width[:, None],
                         options={"primal_feasibility_tolerance": FINEST}, method="highs")
        return None if result.x is None else np.where(whole, lowest, result.x * self.width)

    def least_violation(self, upper, n):
        """The least sum of violations of rows, and the rows that cannot hold together (Farkas). The first n are inequalities."""
        m = len(self.high) - n
        excess, lack = -np.eye(n), np.eye(m)
        largest = np.finfo(float).max
        high = np.clip(self.high, -largest, largest)            # scaled bounds may be infinite, which linprog does not take
        cost = np.concatenate([np.zeros(len(upper)), np.ones(n + 2 * m)])
        least = linprog(cost, A_ub=joined(self.matrix[:n], excess, np.zeros((n, 2 * m))), b_ub=high[:n],
                        A_eq=joined(self.matrix[n:], np.zeros((m, n)), lack, -lack), b_eq=high[n:],
                        bounds=[*zip(self.lowest, upper / self.width, strict=True), *[(0, np.inf)] * (n + 2 * m)], method="highs")
        if least.fun is None or least.fun <= TOLERANCE:
            return least.fun, []
        duals = np.concatenate([least.ineqlin.marginals, least.eqlin.marginals])
        return least.fun, np.flatnonzero(np.abs(duals) > TOLERANCE).tolist()


def scales(rows: ProgramRows, free):
    """Powers of two for columns and rows: the smallest coefficient of a row, the largest of `free` columns, is about 1 if possible."""
    width, sizes, smallest, largest = np.ones(rows.matrix.shape[1]), rows.sizes, rows.smallest, rows.largest
    if free.any() and len(largest):
        dense = to_dense(sizes)
        for _ in range(ROUNDS):
            now = dense * width
            high, low = now.max(axis=1), np.where(now > 0, now, np.inf).min(axis=1)
            middle = power_of_two(np.where(high > 0, np.sqrt(high) * np.sqrt(np.where(high > 0, low, 1.0)), 1.0))
            column = (now * middle[:, None]).max(axis=0)
            width = width * np.where(free, power_of_two(np.where(column > 0, column, 1.0)), 1.0)
        now = dense * width
        largest, smallest = now.max(axis=1), np.where(now > 0, now, np.inf).min(axis=1)
    return width, power_of_two(np.where(largest > 0, np.maximum(smallest, largest / LARGEST), np.abs(rows.high)))


class WarmModel:
    """A linear program in HiGHS's memory, maximised again and again from one basis."""
    # rows: array or sparse matrix of shape (n_rows, n)
    # low, high: arrays of shape (n_rows,)
    # lowest, largest: arrays of shape (n,). Of the variables; the largest ones may change from call to call.

    def __init__(self, rows, low, high, lowest, largest):
        highspy = require("highspy", "solver='highspy'", "ilp")
        columns, n = csc_array(rows), rows.shape[1]
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = n, rows.shape[0]
        program.col_cost_, program.col_lower_, program.col_upper_ = np.zeros(n), lowest, largest
        program.row_lower_, program.row_upper_ = low, high
        program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        program.a_matrix_.start_, program.a_matrix_.index_, program.a_matrix_.value_ = columns.indptr, columns.indices, columns.data
        self.highs, self.variables, self.lowest, self.upper = quiet(highspy), np.arange(n, dtype=np.int32), lowest, largest
        for name, value in (("presolve", "off"), ("solver", "simplex"), ("threads", 1)):
            self.highs.setOptionValue(name, value)
        self.optimal, self.late = highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kTimeLimit
        self.highs.passModel(program)
        self.highs.run()                # a feasible vertex, where every solve begins
        self.basis = self.highs.getBasis() if self.highs.getModelStatus() == self.optimal else None

    def solve(self, cost, upper, clock):
        """A vertex of least cost and minus its cost; None where no v is feasible, `OutOfTime` at the limit."""
        n, highs = len(cost), self.highs
        if self.basis is None:
            return None
        highs.clearSolver()
        if not np.array_equal(upper, self.upper):
            highs.changeColsBounds(n, self.variables, self.lowest, upper)
            self.upper = upper
        highs.changeColsCost(n, self.variables, cost)
        highs.setBasis(self.basis)
        highs.setOptionValue("time_limit", np.inf if clock.left is None else highs.getRunTime() + clock.left)
        highs.setOptionValue("simplex_strategy", PRIMAL_SIMPLEX)
        highs.run()
        if highs.getModelStatus() != self.optimal:      # primal simplex may lose its way where a bound has moved
            highs.clearSolver()
            highs.setOptionValue("simplex_strategy", CHOOSE)
            highs.run()
        if highs.getModelStatus() == self.late:
            raise OutOfTime
        if highs.getModelStatus() != self.optimal:
            return None
        return np.array(highs.getSolution().col_value), -highs.getInfo().objective_function_value


def quiet(highspy):
    """A solver of HiGHS that prints nothing; highspy's constructor would print a banner before an option can be set."""
    class Quiet(highspy.Highs):
        def enableCallbacks(self):          # noqa: N802 (called by the constructor)
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()

    highs = Quiet()
    highs.setOptionValue("output_flag", False)
    return highs


def joined(*blocks):
    """Matrices side by side."""
    return csr_array(hstack([csr_array(block) for block in blocks]))


__all__ = ["Clock", "HighsProgram", "OutOfTime"]
