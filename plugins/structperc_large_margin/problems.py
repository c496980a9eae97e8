"""A training's data as the solvers take them: rows that a kernel compares, or rows of numbers; and how the solution becomes the weights."""

from __future__ import annotations

import attrs
import numpy as np
from structperc_kernels import empty_kernel_rows

from structperc.errors import DataError
from structperc.plugin_tools import refuse_not_finite
from structperc_large_margin.chain_solver import MAX_ITERATIONS, KernelColumns, solve
from structperc_large_margin.linear import solve_linear
from structperc_large_margin.minimum_norm import KernelSpace, LinearSpace, maximise_margins
from structperc_large_margin.solutions import Solution
from structperc_large_margin.warm_start import coefficients

SHORTEST, LONGEST = 1e-75, 1e75     # of rows whose squares, and their products with multipliers, are safe from rounding
STEPS_AN_EXAMPLE = 1000     # after which the nearest point is looked for; a hundred are ordinary
MOST_EXAMPLES = 1000    # that this is done for: it keeps 2 n numbers for each of up to n points


@attrs.frozen(eq=False)
class Point:
    """Where a solver is."""
    # weights: ndarray. The coefficients of the rows, or w itself.
    # scores: ndarray of shape (n_examples,). f = w . phi(x).
    # square: float. ||w||^2.
    # dual: float. The dual value; NaN where it is not known.

    weights: np.ndarray
    scores: np.ndarray
    square: float
    dual: float = np.nan


class KernelProblem:
    """Rows compared by the kernel of a weight store."""
    # kernel_rows: KernelRows. Empty, with settled parameters.
    # cache_bytes: int. What columns of the kernel matrix may take.

    def __init__(self, weights, kernel_rows, rows, cache_bytes):
        self.weights, self.columns = weights, KernelColumns(kernel_rows, rows, cache_bytes)

    def solve(self, chain, tolerance, start, progress):
        """The `Solution` of a chain. For the sum of margins, nearest points find it, since pairs of coordinates are slow."""
        n = chain.n_examples
        most = -1 if chain.gain or n > MOST_EXAMPLES else STEPS_AN_EXAMPLE * n
        solution = solve(chain, self.columns, tolerance, most, start, progress)
        return self.finished(chain, tolerance, solution, progress) if solution.status == MAX_ITERATIONS else solution

    def finished(self, chain, tolerance, solution, progress):
        """The shorter direction of this solution and that of the nearest point; until the end the model is the first."""
        def count(n_points, *_):
            return progress(solution.n_iterations + n_points * chain.n_examples, solution.mu, solution.scores)

        refined = maximise_margins(chain, KernelSpace(self.scores, self.length), tolerance, progress=count)
        norms = [self.point(chain, mu, self.scores(coefficients(chain, mu))).square for mu in (solution.mu, refined.mu)]
        mu = solution.mu if norms[0] < norms[1] else refined.mu
        beta = coefficients(chain, mu)
        return Solution(mu, beta, self.scores(beta), solution.n_iterations + refined.n_iterations * chain.n_examples, refined.status,
                        refined.interruption)

    def point(self, chain, mu, scores) -> Point:
        """Where a dual solution is, with the scores K beta."""
        beta = coefficients(chain, mu)
        square = max(float(beta @ scores), 0.0)
        return Point(beta, scores, square, float(chain.gain * mu.sum() - square / 2 if chain.gain else -np.sqrt(square)))

    def interrupted(self, chain, solution) -> Point:
        """Where an interrupted solution is, by the solver's own sums: nobody waits for others."""
        return self.point(chain, solution.mu, solution.scores)

    def end(self, chain, solution) -> Point:
        """Where a solution is, its scores summed anew: the solver's have drifted."""
        return self.point(chain, solution.mu, self.scores(coefficients(chain, solution.mu)))

    def direction(self, beta):
        """The weights of these coefficients of examples, as `write` reads them."""
        return beta

    def scores(self, beta):
        """f = K beta."""
        return self.columns.scores(beta)

    @property
    def length(self) -> float:
        """The largest norm of an example."""
        return float(np.sqrt(max(self.columns.diagonal.max(initial=0.0), 0.0)))

    def write(self, beta, thresholds, n_visited):
        """Makes w = sum_i beta_i phi(x_i), and the thresholds, the weights."""
        self.weights.assign(np.append(beta, thresholds), n_visited)


class LinearProblem:
    """Rows of numbers, whose kernel is their dot product."""
    # DataError: X has entries that are not finite, or rows so long or so short that their squares are lost.

    def __init__(self, weights, rows):
        refuse_not_finite(rows)
        self.weights, self.rows, self.space = weights, rows, LinearSpace(rows)
        if not SHORTEST < self.length < LONGEST and abs(rows.X).max():
            raise DataError(f"the largest entry of X is {abs(rows.X).max():.3g} in size. Expected a longest row between {SHORTEST:g} and "
                            f"{LONGEST:g}, whose square is exact. Scale the features, for instance to unit variance.")

    def solve(self, chain, tolerance, start, progress):
        if chain.gain:
            return solve_linear(chain, self.rows, tolerance, start=start, progress=progress)
        return maximise_margins(chain, self.space, tolerance, progress=progress)        # finite, and always from the beginning

    def point(self, chain, mu, scores, w) -> Point:
        return Point(w, scores, float(w @ w))

    def interrupted(self, chain, solution) -> Point:
        return self.point(chain, solution.mu, solution.scores, solution.w)

    def end(self, chain, solution) -> Point:
        return attrs.evolve(self.point(chain, solution.mu, solution.scores, solution.w), dual=float(solution.dual_objective))

    def direction(self, beta):
        return self.space.direction(beta)

    def scores(self, beta):
        return self.space.scores(self.space.direction(beta))

    @property
    def length(self) -> float:
        return float(self.space.length)

    def write(self, w, thresholds, n_visited):
        """Makes w, and the thresholds, the weights."""
        self.weights.assign(np.concatenate([w, thresholds]), n_visited)


def problem_of(run, cache_bytes):
    """How chains over the rows of a `TrainingRun` are solved."""
    weights = run.model.parts.weights
    kernel_rows = empty_kernel_rows(weights, run.rows)
    if kernel_rows is not None:
        return KernelProblem(weights, kernel_rows, run.rows, cache_bytes)
    return LinearProblem(weights, run.rows)
