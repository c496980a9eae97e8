"""Subsets of an example's rows under linear constraints: any problem whose outputs are the 0/1 vectors v with A v <= b, A_eq v = b_eq."""

import itertools
import math
from collections.abc import Callable
from functools import cache

import numpy as np

from structperc import Option, hookimpl
from structperc.components import Argmax, Outputs, RowFeatures, VectorOutputs
from structperc.errors import DataError, OptionError, PluginError, shortened
from structperc.solvers.integer_programs import ILP, TOLERANCE

MOST_LISTED = 16                # rows of an example whose subsets are enumerated
MOST_LISTED_BY_SEARCH = 6       # where auxiliary variables are looked for anew for each subset

options = {
    "constraints": Option(None, types=(type(None), Callable), help="an ILP, or a function of an example that returns one"),
    "most_nodes": Option(None, types=(type(None), int), low=1, help="where branch and bound stops; none: at the optimum"),
    "time_limit": Option(None, types=(type(None), float), above=0, below=math.inf,
                         help="seconds for a prediction, the best so far after them; none: at the optimum"),
    "relaxed": Option(False, help="predict vertices of the linear program, which may have parts of rows"),
}


class Constrained:
    """What outputs under linear constraints share."""
    # constraints: function of an Example that returns an ILP

    def __init__(self, constraints):
        self.constraints = constraints

    def program(self, x):
        """The constraints of x."""
        program = self.constraints(x)
        if not isinstance(program, ILP):
            raise PluginError(f"constraints(x) returned {shortened(program)} for example {x.index}; expected an ILP.")
        if program.n_variables != x.n_atoms:
            raise PluginError(f"constraints(x) returned {program} for example {x.index} of {x.n_atoms} rows; expected a variable per row.")
        return program

    def check_structure(self, x, y):
        super().check_structure(x, y)
        wrong = self.program(x).violated(self.vector(x, y))
        if wrong:
            raise PluginError(f"the set {shortened(y)} of example {x.index} {wrong}.")

    def fingerprint(self):
        """A fingerprint of programs of equal shape; a function of examples cannot be called without one."""
        if not isinstance(self.constraints, ILP):
            return None
        program = self.constraints
        return np.concatenate([program.high, program.rows @ np.arange(1.0, program.rows.shape[1] + 1)])


class Subsets(Constrained, Outputs):
    """Y(x): the sets of rows whose 0/1 vectors satisfy the constraints of x; given and shown as row numbers in order."""

    def vector(self, x, y):
        v = np.zeros(x.n_atoms)
        v[list(y)] = 1
        return v

    def enumerate(self, x):
        program = self.program(x)
        if x.n_atoms > (MOST_LISTED_BY_SEARCH if program.n_auxiliary else MOST_LISTED):
            return None
        return (tuple(itertools.compress(range(x.n_atoms), v)) for v in itertools.product((0, 1), repeat=x.n_atoms)
                if program.violated(np.array(v, dtype=float)) is None)


class Parts(Constrained, VectorOutputs):
    """The vectors between 0 and 1 that satisfy the constraints of x; gold outputs may be given as row numbers."""

    def vector(self, x, y):
        v = self.count(x, y)
        if v.min(initial=0.0) < -TOLERANCE or v.max(initial=0.0) > 1 + TOLERANCE:
            raise PluginError(f"the amounts {shortened(v)} of example {x.index}; expected amounts from 0 to 1.")
        return v


class Program(Argmax):
    """The feasible set of largest score, by `ILP.solve`; at a tie the solver's choice, the same each time."""
    # most_nodes: int or None
    # time_limit: float or None. With a limit, predictions may be suboptimal; `Engine.optimality_gaps` has their bounds. The k best are
    # computed without limits.

    def __init__(self, most_nodes, time_limit):
        self.most_nodes, self.time_limit, self.exact = most_nodes, time_limit, most_nodes is None and time_limit is None

    def argmax(self, scores, x):
        solution = solved(self.outputs.program(x).solve, scores, x, most_nodes=self.most_nodes, time_limit=self.time_limit)
        x.bound = solution.gap
        return solution.chosen

    def k_best(self, scores, x, k):
        ranked = solved(self.outputs.program(x).k_best, scores, x, k=k)
        return [(tuple(solution.chosen.tolist()), solution.score) for solution in ranked]


class Relaxation(Argmax):
    """A vertex of the linear program of largest score, exactly; at a tie the solver's choice, the same each time."""

    def argmax(self, scores, x):
        return self.outputs.encoded(solved(self.outputs.program(x).solve, scores, x, relaxed=True).v, x.n_atoms)


def solved(solve, scores, x, **options):
    """The result of a method of a program; an error names the example."""
    try:
        return solve(np.asarray(scores), **options)
    except DataError as error:
        raise DataError(f"example {x.index} cannot be predicted: {error}") from None


@hookimpl
def structperc_outputs(context):
    if context.options["constraints"] is None:
        raise OptionError("constraints=None; pass constraints=ILP(A, b) of structperc.solvers.integer_programs, or a function of an "
                          "example that returns one. Functions are passed from Python, not from the command line.")
    return (Parts if context.options["relaxed"] else Subsets)(context.options["constraints"])


@hookimpl
def structperc_features(context):
    return RowFeatures(context.n_features, context.fit_intercept)


@hookimpl
def structperc_argmax(context):
    limits = {name: context.options[name] for name in ("most_nodes", "time_limit")}
    for name, value in limits.items():
        if context.options["relaxed"] and value is not None:
            raise OptionError(f"{name}={value} has no effect with relaxed=True, which does not branch; leave one of them out.")
    return Relaxation() if context.options["relaxed"] else Program(**limits)


@cache
def at_most_half(n):
    """At most half of n variables, rounded up, and not the first two together."""
    return ILP(np.array([np.ones(n), np.arange(n) < 2]), [(n + 1) // 2, 1])


def lightest(x):
    """The program of an example, made once for each number of rows."""
    return at_most_half(x.n_rows)


recommended = {"scale": False}           # constraints read the columns of an example
check_options = {"constraints": lightest}


def sample(random, n_examples):
    """Blocks of rows."""
    return [random.normal(size=(n, 3)) for n in random.integers(1, 5, n_examples)]
