"""Linear programs over 0/1 variables: the linear program first, branch and bound only where its vertex is fractional."""

from __future__ import annotations

import threading
import time
from functools import cached_property

import attrs
import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csc_array, csr_array, hstack, issparse, vstack

from structperc.core.arguments import FINITE, MOST, NUMBERS, choice, flag, float_array, how_many, limit, real_array, seconds
from structperc.core.errors import DataError, shortened
from structperc.core.sparse_parts import float_csr
from structperc.extras import require

TOLERANCE = 1e-6                # of whole numbers, and of a row relative to 1 + |b|
MOST_NAMED = 8                  # rows in a message
EXACT_LP, EXACT_MILP, RELAXED = "exact-lp", "exact-milp", "relaxed"
LEAST_TIME = 1e-3              # seconds that HiGHS is given at least
CHOOSE, PRIMAL_SIMPLEX = 0, 4   # HiGHS's numbers of strategies


class OutOfTime(DataError):
    """The time limit was reached before a feasible vector was known."""


class Infeasible(DataError):
    """No vector satisfies the constraints. The message names rows that contradict each other."""


@attrs.frozen(eq=False)
class Solution:
    """Result of a 0/1 program, with a bound on the optimum.

    Attributes
    ----------
    v : float64 array of shape (n,)
        0 or 1 for each variable; fractions if only the linear program was solved.
    score : float
        scores . v
    bound : float
        No feasible vector has a larger score, up to the solver's tolerance, about 1e-7 of the largest score.
    status : {"exact-lp", "exact-milp", "relaxed"}
        What proved v optimal: the linear program, branch and bound, or neither.
    auxiliary : float64 array of shape (n_auxiliary,)
        Values of the auxiliary variables with which v is feasible.

    Examples
    --------
    >>> from structperc.solvers.integer_programs import solve_ilp
    >>> solution = solve_ilp([1.0, 2.0], [[1, 1]], [1])
    >>> solution.v, solution.score, solution.bound, solution.chosen.tolist()
    (array([0., 1.]), 2.0, 2.0, [1])
    """

    v: np.ndarray
    score: float
    bound: float
    status: str
    auxiliary: np.ndarray = attrs.field(factory=lambda: np.empty(0))

    @property
    def chosen(self) -> np.ndarray:
        """The variables that are 1, in order."""
        return np.flatnonzero(self.v > 0.5)

    @property
    def exact(self) -> bool:
        """Whether v is optimal."""
        return self.status != RELAXED

    @property
    def gap(self) -> float:
        """bound - score; 0 where v is optimal."""
        return 0.0 if self.exact else self.bound - self.score


class ILP:
    """A 0/1 integer linear program: the vectors v with A v <= b and A_eq v = b_eq.

    With auxiliary variables z, the rows are A (v, z) <= b and A_eq (v, z) = b_eq for some z. An ILP is also a function of an example. It
    returns the ILP itself, for problems with the same constraints for all examples.

    Parameters
    ----------
    A : array-like or sparse matrix of shape (n_rows, n), optional
        Left sides of the inequalities.
    b : array-like of shape (n_rows,), optional
        Right sides of the inequalities.
    A_eq : array-like or sparse matrix of shape (n_equations, n), optional
        Left sides of the equations.
    b_eq : array-like of shape (n_equations,), optional
        Right sides of the equations. Give at least one pair of a matrix and its right side.
    solver : {"scipy", "highspy"}, default "scipy"
        "highspy" keeps the linear program in memory between calls; use it to solve one ILP many times. Each call begins at the same
        basis, so earlier calls do not change a result. It needs the extra structperc[ilp]. Among equal scores the two solvers may choose
        different vectors.
    auxiliary : array-like of shape (n_auxiliary, 2), optional
        Smallest and largest values of the auxiliary variables, such as flows, times or levels. They are the last columns of A and A_eq.
        They have no score; -inf and inf mean no bound.
    whole : bool or array-like of bool of shape (n_auxiliary,), default False
        Which auxiliary variables are whole numbers.

    Raises
    ------
    DataError
        If shapes do not fit together, or a number is not finite.

    See Also
    --------
    solve_ilp : one call for one program.

    Examples
    --------
    >>> from structperc.solvers.integer_programs import ILP
    >>> knapsack = ILP([[3, 4, 2]], [6])
    >>> solution = knapsack.solve([3.0, 4.5, 2.0])
    >>> solution.chosen.tolist(), solution.score, solution.status
    ([1, 2], 6.5, 'exact-lp')
    """

    def __init__(self, A=None, b=None, A_eq=None, b_eq=None, solver="scipy", auxiliary=(), whole=False):
        choice(solver, "solver", ("scipy", "highspy"))
        pairs = [read_rows(A, b, "A", "b"), read_rows(A_eq, b_eq, "A_eq", "b_eq")]
        widths = {rows.shape[1] for rows, _ in filter(None, pairs)}
        if len(widths) != 1:
            raise DataError(f"A has {pairs[0][0].shape[1]} columns and A_eq {pairs[1][0].shape[1]}; expected a column per variable in both."
                            if widths else "neither A, b nor A_eq, b_eq were given; expected the rows of a program.")
        self.auxiliary, self.whole = read_auxiliary(auxiliary, whole)
        self.n_auxiliary, self.solver, width = len(self.whole), solver, widths.pop()
        self.n_variables = width - self.n_auxiliary
        if self.n_variables < 0:
            raise DataError(f"the rows have {width} columns, but there are {self.n_auxiliary} auxiliary variables; expected a column for "
                            f"each.")
        self.lowest = np.append(np.zeros(self.n_variables), self.auxiliary[:, 0])
        self.integrality = np.append(np.ones(self.n_variables), self.whole)
        (upper, b), (equal, b_eq) = (pair or (np.zeros((0, width)), np.zeros(0)) for pair in pairs)
        self.n_inequalities = len(b)
        self.rows, self.high = stacked(upper, equal), np.concatenate([b, b_eq])
        n_numbers = self.rows.size if isinstance(self.rows, np.ndarray) else self.rows.nnz
        if n_numbers > MOST:
            raise DataError(f"the rows have {n_numbers} coefficients; expected at most {MOST}.")
        self.low = np.concatenate([np.full(len(b), -np.inf), b_eq])
        self._slack = TOLERANCE * (1 + np.abs(self.high))
        self._warm = threading.local()
        if solver == "highspy":
            require("highspy", "solver='highspy'", "ilp")

    def __call__(self, x=None) -> ILP:
        return self

    def __repr__(self):
        n = self.n_inequalities
        further = f" and {self.n_auxiliary} auxiliary ones" if self.n_auxiliary else ""
        return f"ILP({n} inequalities and {len(self.high) - n} equations in {self.n_variables} variables{further})"

    def __reduce__(self):
        n = self.n_inequalities
        return ILP, (self.rows[:n], self.high[:n], self.rows[n:], self.high[n:], self.solver, self.auxiliary, self.whole)

    @cached_property
    def constraints(self) -> LinearConstraint:
        """The rows as scipy takes them."""
        columns = csc_array(self.rows)
        places = columns.indices.astype(np.int32), columns.indptr.astype(np.int32)          # scipy's HiGHS takes no others before 1.15
        return LinearConstraint(csc_array((columns.data, *places), shape=columns.shape), self.low, self.high)

    def violated(self, v) -> str | None:
        """The first violated constraint of v, as text that follows "v"; None if v is feasible.

        Parameters
        ----------
        v : array of shape (n,)
            A 0/1 vector.

        Returns
        -------
        str or None
        """
        v = real_array(v, "v", ("n_variables",), FINITE)
        if len(v) != self.n_variables:
            return f"has {len(v)} variables where the program has {self.n_variables}"
        if self.n_auxiliary:
            complete = getattr(self._warm, "answer", None)         # with the auxiliary variables that prove it
            if complete is None or not np.array_equal(complete[:len(v)], v):
                return None if self._completed(v) is not None else "leaves the auxiliary variables no values that satisfy the rows"
            v = complete
        return self._violated(v)

    def _completed(self, v):
        """v with values of the auxiliary variables that satisfy the rows, or None."""
        low, high = np.append(v, self.auxiliary[:, 0]), np.append(v, self.auxiliary[:, 1])
        result = milp(np.zeros(len(low)), integrality=np.append(np.zeros(len(v)), self.whole), bounds=Bounds(low, high),
                     constraints=self.constraints)
        return result.x

    def _violated(self, v):
        """As `violated`, of values for all variables."""
        values = self.rows @ v
        wrong = (values > self.high + self._slack) | (values < self.low - self._slack)
        if not wrong.any():
            return None
        r = int(np.argmax(wrong))
        limit = "at most" if r < self.n_inequalities else "exactly"
        return f"has {values[r]:g} in {self.row_name(r)} where {limit} {self.high[r]:g} is allowed"

    def row_name(self, r) -> str:
        """The name of a constraint in messages: its number in A or in A_eq, from 0.

        Parameters
        ----------
        r : int
            Row, those of A first.

        Returns
        -------
        str
        """
        return f"row {r} of A" if r < self.n_inequalities else f"row {r - self.n_inequalities} of A_eq"

    def solve(self, scores, relaxed=False, most_nodes=None, time_limit=None) -> Solution:
        """The feasible vector v with the largest score.

        Ties: the solver chooses, and repeated calls give the same vector. Variables of score 0 are 0 if the positive ones are feasible
        without them.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Score of each variable; -inf forbids a variable, which is then 0.
        relaxed : bool, default False
            Stop at the solution of the linear program, even if it is fractional.
        most_nodes : int, optional
            Largest number of nodes of branch and bound. After that you get the best v so far, with the status "relaxed" and its bound.
            Larger values are slower and more often optimal. Default: no limit.
        time_limit : float, optional
            Seconds after which you get the best v so far, with the status "relaxed" and its bound. The zero vector counts if it is
            feasible. The result then depends on the machine. Default: no limit.

        Returns
        -------
        Solution

        Raises
        ------
        DataError
            If a score is NaN or +inf, or HiGHS fails. Its subclasses: `Infeasible` if no v is feasible, `OutOfTime` if none is known at
            the time limit.
        OptionError
            If `most_nodes` is not a whole number from 1, or `time_limit` is not a number above 0.

        Notes
        -----
        The tolerances of solvers are absolute, so all scores are divided by the largest one. Optimal means up to about 1e-6 of the
        largest score. Ctrl-C waits until HiGHS returns; `time_limit` bounds it. In rare cases the HiGHS of some versions of scipy prints
        a line.
        """
        s, clock = real_array(scores, "scores", (self.n_variables,)), Clock(time_limit)
        relaxed, most_nodes = flag(relaxed, "relaxed"), limit(most_nodes, "most_nodes")
        allowed = s > -np.inf
        scale = np.abs(s[allowed]).max(initial=0.0) or 1.0
        cost, upper, finite = np.where(allowed, -s / scale, 0.0), allowed.astype(float), np.where(allowed, s, 0.0)
        if self.n_auxiliary:
            cost, upper = np.append(cost, np.zeros(self.n_auxiliary)), np.append(upper, self.auxiliary[:, 1])
        else:
            greedy = (finite > 0).astype(float)
            if self._violated(greedy) is None:  # no other vertex of the cube scores more
                return solution(finite, greedy, 0.0, EXACT_LP)
        try:
            result = self._linear(cost, upper, clock)
        except OutOfTime:
            return self._unfinished(finite, np.maximum(finite, 0.0).sum())
        if result is None:
            raise self._infeasible(upper)
        v, value = result
        bound = value * scale
        whole = np.where(self.integrality, np.rint(v), v)
        if np.abs(v - whole).max(initial=0.0) <= TOLERANCE and self._violated(whole) is None:
            return self._answer(finite, whole, bound, EXACT_LP)
        if relaxed:
            return self._answer(finite, v, bound, RELAXED)
        options = {"mip_rel_gap": 0.0} | ({} if most_nodes is None else {"node_limit": most_nodes}) | clock.option
        refined = milp(cost, integrality=self.integrality, bounds=Bounds(self.lowest, upper), constraints=self.constraints, options=options)
        if refined.status == 2:
            raise Infeasible("the rows of the program contradict each other for whole numbers: fractional v satisfy them, 0/1 vectors "
                             "do not.")
        if refined.x is None and refined.status == 1 and clock.over:
            return self._unfinished(finite, bound)
        if refined.x is None:
            raise DataError(f"no 0/1 vector was found that satisfies the rows of the program ({refined.message.strip()}); "
                            f"{'allow more nodes' if refined.status == 1 else 'rescale its rows'}.")
        whole = np.where(self.integrality, np.rint(refined.x), refined.x)
        wrong = self._violated(whole)
        if wrong:
            raise DataError(f"branch and bound returned a v that {wrong}; the coefficients of that row differ too much in size, "
                            f"rescale them.")
        bound = min(bound, -refined.mip_dual_bound * scale)
        return self._answer(finite, whole, bound, EXACT_MILP if refined.status == 0 else RELAXED)

    def _unfinished(self, scores, bound):
        """What is known when the time is over before HiGHS has found a v."""
        nothing = np.zeros(self.n_variables)
        if self.n_auxiliary or self._violated(nothing) is not None:
            raise OutOfTime(f"no v was found within time_limit; none scores more than {bound:g}. Allow more time.")
        return self._answer(scores, nothing, bound, RELAXED)

    def _answer(self, scores, v, bound, status):
        """The solution of values for all variables, which are kept: they prove it feasible."""
        self._warm.answer = v
        return solution(scores, v[:self.n_variables], bound, status, v[self.n_variables:])

    def k_best(self, scores, k) -> list:
        """The k feasible vectors with the largest scores, best first.

        Cost: one more program for each vector.

        Parameters
        ----------
        scores : array-like of shape (n,)
            As in `solve`.
        k : int
            Number of vectors, at least 1.

        Returns
        -------
        list of Solution
            Fewer than k if fewer vectors are feasible.
        """
        solutions, program, k = [], self, how_many(k)
        while len(solutions) < k:
            try:
                solutions.append(program.solve(scores))
            except Infeasible:
                if not solutions:
                    raise
                break
            program = program.without(solutions[-1].v)
        return solutions

    def without(self, v) -> ILP:
        """The same program with one 0/1 vector excluded.

        Parameters
        ----------
        v : array of shape (n,)
            The 0/1 vector to exclude.

        Returns
        -------
        ILP
        """
        v = real_array(v, "v", (self.n_variables,), FINITE)
        n, row = self.n_inequalities, np.where(v > 0.5, 1.0, -1.0)
        row = np.append(row, np.zeros(self.n_auxiliary))
        return ILP(stacked(self.rows[:n], row[None]), np.append(self.high[:n], (v > 0.5).sum() - 1), self.rows[n:], self.high[n:],
                   auxiliary=self.auxiliary, whole=self.whole)

    def _linear(self, cost, upper, clock):
        """A vertex of least cost of the linear program and minus its cost. None if no v is feasible, `OutOfTime` at the limit."""
        if len(cost) == 0:
            return None if self._violated(np.zeros(0)) else (np.zeros(0), 0.0)
        if self.solver == "highspy":
            if not hasattr(self._warm, "model"):
                ones = np.append(np.ones(self.n_variables), self.auxiliary[:, 1])
                self._warm.model = WarmModel(self.rows, self.low, self.high, self.lowest, ones)
            return self._warm.model.solve(cost, upper, clock)
        result = milp(cost, bounds=Bounds(self.lowest, upper), constraints=self.constraints, options=clock.option)
        if result.status == 1 and clock.over:
            raise OutOfTime
        return None if result.x is None else (result.x, -result.fun)

    def _infeasible(self, upper):
        """Names the rows of a certificate of Farkas: the duals of the program that asks for the least violation."""
        n, m = self.n_inequalities, len(self.high) - self.n_inequalities
        if len(upper) == 0:
            return Infeasible(f"no v is feasible: the empty one {self._violated(np.zeros(0))}.")
        excess, lack = -np.eye(n), np.eye(m)
        cost = np.concatenate([np.zeros(len(upper)), np.ones(n + 2 * m)])
        least = linprog(cost, A_ub=joined(self.rows[:n], excess, np.zeros((n, 2 * m))),
                        b_ub=self.high[:n], A_eq=joined(self.rows[n:], np.zeros((m, n)), lack, -lack), b_eq=self.high[n:],
                        bounds=[*zip(self.lowest, upper, strict=True), *[(0, np.inf)] * (n + 2 * m)], method="highs")
        if least.fun is None or least.fun <= TOLERANCE:
            return DataError(f"HiGHS found no vertex, though the rows do not contradict each other ({least.message.strip()}). Their "
                             f"coefficients may differ too much in size, rescale them.")
        duals = np.concatenate([least.ineqlin.marginals, least.eqlin.marginals])
        rows = [self.row_name(int(r)) for r in np.flatnonzero(np.abs(duals) > TOLERANCE)]
        forbidden = " and the forbidden variables" if (upper[:self.n_variables] == 0).any() else ""
        more = f", {len(rows) - MOST_NAMED} more" if len(rows) > MOST_NAMED else ""
        return Infeasible(f"no v between 0 and 1 is feasible: {', '.join(rows[:MOST_NAMED])}{more}{forbidden} contradict each other.")


class WarmModel:
    """A linear program in HiGHS's memory, maximised again and again from one basis.

    Parameters
    ----------
    rows : array or sparse matrix of shape (n_rows, n)
    low, high : arrays of shape (n_rows,)
    lowest, largest : arrays of shape (n,)
        Of the variables; the largest ones may change from call to call.
    """

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


class Clock:
    """How much of a time limit is left, from now on.

    Parameters
    ----------
    time_limit : float or None
        Seconds.
    """

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


def solve_ilp(scores, A=None, b=None, A_eq=None, b_eq=None, relaxed=False, most_nodes=None, time_limit=None) -> Solution:
    """Solve a 0/1 integer linear program: the v with the largest score among A v <= b and A_eq v = b_eq.

    First HiGHS solves the linear program over 0 <= v <= 1. If its solution is fractional, branch and bound follows.
    Ties are those of `ILP.solve`. To solve a program many times with other scores, use `ILP`.

    Parameters
    ----------
    scores : array-like of shape (n,)
        Score of each variable; -inf forbids a variable, which is then 0.
    A : array-like or sparse matrix of shape (n_rows, n), optional
        Left sides of the inequalities.
    b : array-like of shape (n_rows,), optional
        Right sides of the inequalities.
    A_eq : array-like or sparse matrix of shape (n_equations, n), optional
        Left sides of the equations.
    b_eq : array-like of shape (n_equations,), optional
        Right sides of the equations.
    relaxed : bool, default False
        As in `ILP.solve`.
    most_nodes : int, optional
        As in `ILP.solve`.
    time_limit : float, optional
        Seconds, as in `ILP.solve`.

    Returns
    -------
    Solution

    Raises
    ------
    DataError
        If shapes do not fit together, a number is not finite, or no v is feasible.
    OptionError
        If a limit is out of range.

    See Also
    --------
    ILP : many programs with the same constraints.

    Examples
    --------
    At most one of each two of three variables may be 1; the linear program sets each to a half:

    >>> from structperc.solvers.integer_programs import solve_ilp
    >>> pairs = [[1, 1, 0], [1, 0, 1], [0, 1, 1]]
    >>> solution = solve_ilp([1, 1, 1], pairs, [1, 1, 1])
    >>> solution.score, solution.status
    (1.0, 'exact-milp')
    >>> solution = solve_ilp([1, 1, 1], pairs, [1, 1, 1], relaxed=True)
    >>> solution.v, solution.score, solution.status
    (array([0.5, 0.5, 0.5]), 1.5, 'relaxed')
    """
    return ILP(A, b, A_eq, b_eq).solve(scores, relaxed, most_nodes, time_limit)


def solution(scores, v, bound, status, auxiliary=()) -> Solution:
    """A solution with its score, which rounding may not set above the bound."""
    score = float(scores @ v)
    return Solution(v, score, max(float(bound), score), status, np.asarray(auxiliary, dtype=float))


def stacked(upper, lower):
    """Rows below rows: an array, or a csr_array where one of them is sparse."""
    if isinstance(upper, np.ndarray) and isinstance(lower, np.ndarray):
        return np.concatenate([upper, lower])
    return csr_array(vstack([csr_array(upper), csr_array(lower)]))


def joined(*blocks):
    """Matrices side by side."""
    return csr_array(hstack([csr_array(block) for block in blocks]))


def read_rows(A, b, name, side):
    """Rows as an array or a csr_array, as they came, and their right-hand sides, or None where neither was given."""
    if A is None and b is None:
        return None
    if A is None or b is None:
        raise DataError(f"{name if b is None else side} was given without {side if b is None else name}; expected both or neither.")
    if issparse(A):
        if A.ndim != 2:
            raise DataError(f"{name} has {A.ndim} dimension; expected a matrix.")
        rows = float_csr(A, name)
        rows.data = real_array(rows.data, f"{name}.data", ("n_entries",), FINITE)
    else:
        rows = real_array(np.atleast_2d(float_array(A, name)), name, ("n_rows", "n_variables"), FINITE)
    return rows, real_array(np.atleast_1d(float_array(b, side)), side, (rows.shape[0],), FINITE)


def read_auxiliary(bounds, whole):
    """Bounds of auxiliary variables, (n_auxiliary, 2), and which of them are whole."""
    bounds = real_array(bounds, "auxiliary", ("n_auxiliary", 2), NUMBERS)
    wrong = np.flatnonzero(~((bounds[:, 0] <= bounds[:, 1]) & (bounds[:, 0] < np.inf) & (bounds[:, 1] > -np.inf)))
    if len(wrong):
        raise DataError(f"auxiliary[{wrong[0]}] is {bounds[wrong[0]].tolist()}; expected a lowest value and one at least as large.")
    try:
        whole = np.asarray(whole)
        if whole.dtype.kind != "b" and whole.size:
            raise TypeError
        return bounds, np.broadcast_to(whole.astype(bool), len(bounds))
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"whole={shortened(whole)}; expected True or False, for all auxiliary variables or for each.") from None


__all__ = ["EXACT_LP", "EXACT_MILP", "ILP", "RELAXED", "TOLERANCE", "Infeasible", "OutOfTime", "Solution", "solve_ilp"]
