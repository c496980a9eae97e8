"""Linear programs over 0/1 variables: their components apart, each by all vectors if they are few, else by HiGHS; every result checked.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

import threading
from functools import cached_property

import attrs
import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from structperc.basics.arguments import FINITE, MOST, NUMBERS, choice, flag, float_array, how_many, limit, number_array, real_array
from structperc.basics.errors import DataError, shortened
from structperc.basics.sparse_parts import float_csr
from structperc.extras import require
from structperc.solvers.few_variables import exact_order
from structperc.solvers.highs import TOLERANCE, Clock, OutOfTime
from structperc.solvers.program_parts import EXACT_LP, EXACT_MILP, EXACT_SUBSETS, RELAXED, SEEN, STATUSES, parts_of
from structperc.solvers.program_rows import ProgramRows

MOST_NAMED = 8                  # rows in a message


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
        No feasible vector has a larger score, up to the solver's tolerance, about 1e-9 of the largest score.
    status : {"exact-lp", "exact-subsets", "exact-milp", "relaxed"}
        What proved v optimal: the linear program, all vectors of few variables, branch and bound, or nothing. If components needed
        different proofs, it is the last of these.
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
    returns the ILP itself, for problems with the same constraints for all examples. See also `solve_ilp` (one call for one program).

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
    whole : bool or array-like of shape (n_auxiliary,), default False
        Which auxiliary variables are whole numbers: a mask, of True and False or of 1 and 0.

    Raises
    ------
    DataError
        If shapes do not fit together, or a number is not finite.

    Examples
    --------
    >>> from structperc.solvers.integer_programs import ILP
    >>> knapsack = ILP([[3, 4, 2]], [6])
    >>> solution = knapsack.solve([3.0, 4.5, 2.0])
    >>> solution.chosen.tolist(), solution.score, solution.status
    ([1, 2], 6.5, 'exact-subsets')
    """

    def __init__(self, A=None, b=None, A_eq=None, b_eq=None, solver="scipy", auxiliary=(), whole=False):
        choice(solver, "solver", ("scipy", "highspy"))
        pairs = [read_rows(A, b, "A", "b"), read_rows(A_eq, b_eq, "A_eq", "b_eq")]
        widths = {rows.shape[1] for rows, _, _ in filter(None, pairs)}
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
        (upper, b, whole), (equal, b_eq, whole_eq) = (pair or (np.zeros((0, width)), np.zeros(0), True) for pair in pairs)
        self.n_inequalities = len(b)
        self.rows, self.high = stacked(upper, equal), np.concatenate([b, b_eq])
        n_numbers = self.rows.size if isinstance(self.rows, np.ndarray) else self.rows.nnz
        if n_numbers > MOST:
            raise DataError(f"the rows have {n_numbers} coefficients; expected at most {MOST}.")
        self.low = np.concatenate([np.full(len(b), -np.inf), b_eq])
        self._whole_rows = np.repeat([whole, whole_eq], [len(b), len(b_eq)])
        self._last = threading.local()
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
        arguments = self.rows[:n], self.high[:n], self.rows[n:], self.high[n:], self.solver, self.auxiliary, self.whole
        return ILP, arguments, {"_whole_rows": self._whole_rows}

    @cached_property
    def _checked(self) -> ProgramRows:
        return ProgramRows(self.rows, self.low, self.high, self._whole_rows)

    @cached_property
    def _parts(self):
        """Variables without rows, rows without variables, and the connected components."""
        highest = np.append(np.ones(self.n_variables), self.auxiliary[:, 1])
        return parts_of(self._checked, self.lowest, highest, self.integrality, self.n_variables, self.solver)

    def violated(self, v) -> str | None:
        """The first violated constraint of v, as text that follows "v"; None if v is feasible.

        Parameters
        ----------
        v : array of shape (n,)
            A 0/1 vector.
        """
        v = real_array(v, "v", ("n_variables",), FINITE)
        if len(v) != self.n_variables:
            return f"has {len(v)} variables where the program has {self.n_variables}"
        if self.n_auxiliary:
            complete = getattr(self._last, "answer", None)         # with the auxiliary variables that prove it
            if complete is None or not np.array_equal(complete[:len(v)], v):
                complete = self._completed(v)
            return None if complete is not None else "leaves the auxiliary variables no values that satisfy the rows"
        wrong = self._checked.wrong(v)
        if not wrong.any():
            return None
        r = int(np.argmax(wrong))
        limit = "at most" if r < self.n_inequalities else "exactly"
        value, high = plain(float((self.rows[[r]] @ v)[0])), plain(float(self.high[r]))
        return f"has {value} in {self.row_name(r)} where {limit} {high} is allowed"

    def _completed(self, v):
        """v with values of the auxiliary variables that satisfy the rows, or None."""
        values = np.append(v, np.clip(0.0, self.auxiliary[:, 0], self.auxiliary[:, 1]))
        _, empty, parts = self._parts
        if self._checked.wrong(values)[empty].any():
            return None
        for part in parts:
            own = values[part.columns]
            if part.auxiliary:
                own = part.completed(own[:part.n])
            if own is None or part.rows.wrong(own).any():
                return None
            values[part.columns] = own
        return values

    def row_name(self, r) -> str:
        """The name of a constraint in messages: its number in A or in A_eq, from 0.

        Parameters
        ----------
        r : int
            Row, those of A first.
        """
        return f"row {r} of A" if r < self.n_inequalities else f"row {r - self.n_inequalities} of A_eq"

    def solve(self, scores, relaxed=False, most_nodes=None, time_limit=None) -> Solution:
        """The feasible vector v with the largest score.

        Components that share no variable are solved apart. Of up to 16 variables all vectors are looked at; more go to HiGHS.
        Ties: which of several vectors you get is not specified, but repeated calls give the same one.

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

        Raises
        ------
        DataError
            If a score is NaN or +inf, or HiGHS fails. Its subclasses: `Infeasible` if no v is feasible, `OutOfTime` if none is known at
            the time limit.
        OptionError
            If `most_nodes` is not a whole number from 1, or `time_limit` is not a number above 0.

        Notes
        -----
        Every result is checked against the rows as you passed them. Rows of whole numbers are checked in whole numbers. Other rows may
        miss their right side by the rounding of their own terms. A vector that HiGHS takes for feasible and that breaks a row is excluded,
        and the search goes on. So the unit of a row has no effect.

        Scores over many orders are solved level by level, the largest first. HiGHS's tolerance is about 1e-9 of the largest score of a
        level. If a level has smaller scores than it sees, the status is "relaxed".

        Ctrl-C waits until HiGHS returns; `time_limit` bounds it. In rare cases the HiGHS of some versions of scipy prints a line.
        """
        s, clock = real_array(scores, "scores", (self.n_variables,)), Clock(time_limit)
        relaxed, most_nodes = flag(relaxed, "relaxed"), limit(most_nodes, "most_nodes")
        values, total, status = self._outside(s), 0.0, EXACT_LP
        late = None
        for part in self._parts[2]:
            own = s[part.columns[:part.n]]
            try:
                found = part.best(own, relaxed, most_nodes, clock)
            except OutOfTime as error:
                late = late or error
                continue
            if found is None:
                raise self._infeasible(part, own)
            values[part.columns], bound, proof = found
            total, status = total + bound, max(status, proof, key=STATUSES.index)
        if late is not None:
            raise late
        v, finite = values[:self.n_variables], np.where(s > -np.inf, s, 0.0)
        alone = self._parts[0]
        alone = alone[alone < self.n_variables]
        self._last.answer = values                              # with the auxiliary variables that prove it feasible
        return solution(finite, v, total + float(finite[alone] @ v[alone]), status, values[self.n_variables:])

    def _outside(self, scores):
        """Values of the variables that are in no row; `Infeasible` if a row without variables cannot hold."""
        alone, empty, _ = self._parts
        values = np.append(np.zeros(self.n_variables), np.clip(0.0, self.auxiliary[:, 0], self.auxiliary[:, 1]))
        wrong = empty[self._checked.wrong(values)[empty]]
        if len(wrong):
            raise self._contradiction(wrong) if len(values) else Infeasible(f"no v is feasible: the empty one {self.violated(values)}.")
        alone = alone[alone < self.n_variables]
        values[alone] = scores[alone] > 0
        return values

    def _infeasible(self, part, scores):
        """The rows of a part that contradict each other, for fractions too or only for whole numbers."""
        rows = part.contradiction(scores, self.n_inequalities)
        if not len(rows):
            return Infeasible("the rows of the program contradict each other for whole numbers: fractional v satisfy them, 0/1 vectors "
                              "do not.")
        return self._contradiction(rows, " and the forbidden variables" if (scores == -np.inf).any() else "")

    def _contradiction(self, rows, further=""):
        names = [self.row_name(int(r)) for r in rows]
        more = f", {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        return Infeasible(f"no v between 0 and 1 is feasible: {', '.join(names[:MOST_NAMED])}{more}{further} contradict each other.")

    def k_best(self, scores, k) -> list:
        """The k feasible vectors with the largest scores, best first.

        Cost: one more program for each vector. Returns a list of Solution. Fewer than k if fewer vectors are feasible.

        Parameters
        ----------
        scores : array-like of shape (n,)
            As in `solve`.
        k : int
            Number of vectors, at least 1.
        """
        s, k = real_array(scores, "scores", (self.n_variables,)), how_many(k)
        finite, lists, status = np.where(s > -np.inf, s, 0.0), [self._outside(s)[None]], EXACT_LP
        for column in self._parts[0]:
            if column < self.n_variables and s[column] > -np.inf:
                lists.append(np.repeat(lists[0] * 0, 2, axis=0))
                lists[-1][0 if s[column] > 0 else 1, column] = 1.0
                lists[0][0, column] = 0.0
        for part in self._parts[2]:
            own = s[part.columns[:part.n]]
            ranked, proof = part.ranked(own, k)
            if not len(ranked):
                raise self._infeasible(part, own)
            status = max(status, proof, key=STATUSES.index)
            lists.append(np.zeros((len(ranked), len(self.lowest))))
            lists[-1][:, part.columns] = ranked
        best = lists[0]
        for ranked in lists[1:]:
            best = (best[:, None] + ranked).reshape(-1, best.shape[1])
            best = best[exact_order(best[:, :self.n_variables], finite, k)]
        unseen = SEEN * np.abs(finite).sum() if status == RELAXED else 0.0
        return [solution(finite, values[:self.n_variables], finite @ values[:self.n_variables] + unseen, status,
                         values[self.n_variables:]) for values in best]

    def without(self, v) -> ILP:
        """The same program with one 0/1 vector excluded.

        Parameters
        ----------
        v : array of shape (n,)
            The 0/1 vector to exclude.
        """
        v = real_array(v, "v", (self.n_variables,), FINITE)
        n, row = self.n_inequalities, np.where(v > 0.5, 1.0, -1.0)
        row = np.append(row, np.zeros(self.n_auxiliary))
        without = ILP(stacked(self.rows[:n], row[None]), np.append(self.high[:n], (v > 0.5).sum() - 1), self.rows[n:], self.high[n:],
                      auxiliary=self.auxiliary, whole=self.whole)
        without._whole_rows = np.insert(self._whole_rows, n, True)
        return without


def solve_ilp(scores, A=None, b=None, A_eq=None, b_eq=None, relaxed=False, most_nodes=None, time_limit=None) -> Solution:
    """Solve a 0/1 integer linear program: the v with the largest score among A v <= b and A_eq v = b_eq.

    Of up to 16 variables all vectors are looked at. For more, HiGHS solves the linear program over 0 <= v <= 1. If its solution is
    fractional, branch and bound follows. Ties are those of `ILP.solve`. To solve a program many times with other scores, use `ILP`.
    Raises `DataError` if shapes do not fit together, a number is not finite, or no v is feasible.
    Raises `OptionError` if a limit is out of range. See also `ILP` (many programs with the same constraints).

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

    Examples
    --------
    At most one of each two of three variables may be 1; the linear program sets each to a half:

    >>> from structperc.solvers.integer_programs import solve_ilp
    >>> pairs = [[1, 1, 0], [1, 0, 1], [0, 1, 1]]
    >>> solution = solve_ilp([1, 1, 1], pairs, [1, 1, 1])
    >>> solution.score, solution.status
    (1.0, 'exact-subsets')
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


def plain(number) -> str:
    """A number with all digits that count: a whole one without a point."""
    return str(int(number)) if number == int(number) and abs(number) < 1e16 else repr(number)


def read_rows(A, b, name, side):
    """Rows, their right-hand sides, and whether all came as whole numbers; None where neither was given."""
    if A is None and b is None:
        return None
    if A is None or b is None:
        raise DataError(f"{name if b is None else side} was given without {side if b is None else name}; expected both or neither.")
    if issparse(A):
        if A.ndim != 2:
            raise DataError(f"{name} has {A.ndim} dimension; expected a matrix.")
        rows = float_csr(A, name)
        rows.data = real_array(rows.data, f"{name}.data", ("n_entries",), FINITE)
        dtype = A.dtype
    else:
        given = number_array(A, name)                       # once: reading it again could find others
        rows, dtype = real_array(np.atleast_2d(float_array(given, name)), name, ("n_rows", "n_variables"), FINITE), given.dtype
    given = number_array(b, side)
    right = real_array(np.atleast_1d(float_array(given, side)), side, (rows.shape[0],), FINITE)
    return rows, right, dtype.kind in "iu" and given.dtype.kind in "iu"


def read_auxiliary(bounds, whole):
    """Bounds of auxiliary variables, (n_auxiliary, 2), and which of them are whole."""
    bounds = real_array(bounds, "auxiliary", ("n_auxiliary", 2), NUMBERS)
    wrong = np.flatnonzero(~((bounds[:, 0] <= bounds[:, 1]) & (bounds[:, 0] < np.inf) & (bounds[:, 1] > -np.inf)))
    if len(wrong):
        raise DataError(f"auxiliary[{wrong[0]}] is {bounds[wrong[0]].tolist()}; expected a lowest value and one at least as large.")
    try:
        whole = np.asarray(whole)
        if not np.isin(whole, (0, 1)).all() or whole.dtype.kind not in "biuf" or whole.ndim and len(whole) != len(bounds):
            raise TypeError
        return bounds, np.broadcast_to(whole.astype(bool), len(bounds))
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"whole={shortened(whole)}; expected True or False, for all auxiliary variables or for each.") from None


__all__ = ["EXACT_LP", "EXACT_MILP", "EXACT_SUBSETS", "ILP", "RELAXED", "TOLERANCE", "Infeasible", "OutOfTime", "Solution", "solve_ilp"]
