"""Subsets of an example's rows under linear constraints: any problem whose outputs are the 0/1 vectors v with A v <= b, A_eq v = b_eq."""

import itertools
from collections.abc import Callable

import numpy as np

from structperc import Option, hookimpl
from structperc.components import Argmax, Outputs, RowFeatures
from structperc.errors import DataError, OptionError, PluginError, shortened
from structperc.solvers.integer_programs import ILP

MOST_LISTED = 16                # rows of an example whose subsets are enumerated

options = {
    "constraints": Option(None, types=(type(None), Callable), help="an ILP, or a function of an example that answers with one"),
    "most_nodes": Option(None, types=(type(None), int), low=1, help="where branch and bound stops; none: at the optimum"),
}


class Subsets(Outputs):
    """Y(x): the sets of rows whose 0/1 vectors satisfy the constraints of x; given and shown as row numbers in order.

    Parameters
    ----------
    constraints : function of an Example, answering an ILP
    """

    def __init__(self, constraints):
        self.constraints = constraints

    def program(self, x):
        """The constraints of x."""
        program = self.constraints(x)
        if not isinstance(program, ILP):
            raise PluginError(f"constraints(x) answered {shortened(program)} for example {x.index}; expected an ILP.")
        if program.n_variables != x.n_atoms:
            raise PluginError(f"constraints(x) answered {program} for example {x.index} of {x.n_atoms} rows; expected a variable per row.")
        return program

    def check_structure(self, x, y):
        super().check_structure(x, y)
        v = np.zeros(x.n_atoms)
        v[list(y)] = 1
        wrong = self.program(x).violated(v)
        if wrong:
            raise PluginError(f"the set {shortened(y)} of example {x.index} {wrong}.")

    def enumerate(self, x):
        if x.n_atoms > MOST_LISTED:
            return None
        program = self.program(x)
        return (tuple(itertools.compress(range(x.n_atoms), v)) for v in itertools.product((0, 1), repeat=x.n_atoms)
                if program.violated(np.array(v, dtype=float)) is None)

    def probe(self):
        """What tells two programs of equal shape apart; a function of examples cannot be asked without one."""
        if not isinstance(self.constraints, ILP):
            return None
        program = self.constraints
        return np.concatenate([program.high, program.rows @ np.arange(1.0, program.n_variables + 1)])


class Program(Argmax):
    """The feasible set of largest score, by `ILP.solve`; at a tie the solver's choice, the same each time.

    Parameters
    ----------
    most_nodes : int or None
        With a number, answers may be relaxed; `Engine.optimality_gaps` tells which.
    """

    def __init__(self, most_nodes):
        self.most_nodes, self.exact = most_nodes, most_nodes is None

    def argmax(self, scores, x):
        found = self.solved(self.outputs.program(x).solve, scores, x, most_nodes=self.most_nodes)
        x.bound = found.gap
        return found.chosen

    def k_best(self, scores, x, k):
        ranked = self.solved(self.outputs.program(x).k_best, scores, x, k=k)
        return [(tuple(found.chosen.tolist()), found.score) for found in ranked]

    def solved(self, solve, scores, x, **options):
        """What a method of the program answers; an error names the example."""
        try:
            return solve(np.asarray(scores), **options)
        except DataError as error:
            raise DataError(f"example {x.index} cannot be answered: {error}") from None


@hookimpl
def structperc_outputs(context):
    if context.options["constraints"] is None:
        raise OptionError("constraints=None; pass constraints=ILP(A, b) of structperc.solvers.integer_programs, or a function of an "
                          "example that answers with one. Functions are passed from Python, not from the command line.")
    return Subsets(context.options["constraints"])


@hookimpl
def structperc_features(context):
    return RowFeatures(context.n_features, context.fit_intercept)


@hookimpl
def structperc_argmax(context):
    return Program(context.options["most_nodes"])


def lightest(x):
    """At most half of the rows, rounded up, and not the first two together."""
    return ILP(np.array([np.ones(x.n_rows), np.arange(x.n_rows) < 2]), [(x.n_rows + 1) // 2, 1])


check_options = {"constraints": lightest}


def sample(random, n_examples):
    """Blocks of rows."""
    return [random.normal(size=(n, 3)) for n in random.integers(1, 5, n_examples)]
