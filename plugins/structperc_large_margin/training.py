"""The trainer that solves a large-margin problem over all examples, and makes its solution the weights."""

from __future__ import annotations

import warnings

import attrs
import numpy as np

from structperc.components import AbsoluteLoss, Trainer
from structperc.errors import DataError, DataWarning, OptionError, PluginError, StructPercError
from structperc.plugin_tools import CONVERGED, EARLY_STOPPED, MAX_EPOCHS, STALLED, is_ordered, read_array, retry_on_interrupt
from structperc_large_margin.forms import Form
from structperc_large_margin.nu import solve_nu
from structperc_large_margin.passes import Found, Passes, Primal
from structperc_large_margin.problems import Point, problem_of
from structperc_large_margin.warm_start import rescaled, suggested

CHU_KEERTHI = """@article{chu2007support,
  author = {Wei Chu and S. Sathiya Keerthi},
  title = {Support Vector Ordinal Regression},
  journal = {Neural Computation},
  volume = {19},
  number = {3},
  pages = {792--815},
  year = {2007}
}"""
SHASHUA_LEVIN = """@techreport{shashua2002taxonomy,
  author = {Amnon Shashua and Anat Levin},
  title = {Taxonomy of Large Margin Principle Algorithms for Ordinal Regression Problems},
  institution = {School of Computer Science and Engineering, The Hebrew University of Jerusalem},
  number = {2002-39},
  year = {2002}
}"""
FRACTIONAL = np.array([1.0, 0.5])       # sample weights of steps that are no whole numbers
DISORDERED, DEGENERATE = "disordered", "degenerate"
ROUNDING = 1e-12        # of the planes: what is nearer than this has met


class LargeMarginTrainer(Trainer):
    """Large-margin ordinal regression: the quadratic program of `method`, over all examples at once, with a certified duality gap.

    An epoch is what the solver does from one report to the next. It has about as many steps as there are examples. Training ends at a gap
    of `tolerance` times the objective, or after `epochs` of them. partial_fit may then continue with online steps that keep thresholds in
    order.
    """
    # method: str. One of `structperc_large_margin.forms.METHODS`.
    # nu: float or None. Instead of C: at most nu * n margin errors, counted over examples and thresholds. At least nu * n constraints are
    # equalities or violated. The program is the one with margin rho. Weights are shown at the margin 1. A search over C finds them.
    # tolerance: float. Training ends at a duality gap of this part of the objective.
    # disordered: {"refuse", "pool"}. Whether to predict by the best ordered thresholds, if those of a fixed margin are out of order. The
    # direction stays the same.
    # warm_start: bool. Go on from the engine's last training: its dual solution, for any C, also one from a file; or, after online
    # training, its direction.
    # cache_bytes: int. What columns of the kernel matrix may take.

    citation = f"{CHU_KEERTHI}\n\n{SHASHUA_LEVIN}"
    online = False
    options_used = ("update", "epochs", "average", "shuffle")

    def __init__(self, method, nu, tolerance, disordered, warm_start, cache_bytes):
        self.method, self.nu, self.tolerance, self.pool = method, nu, tolerance, disordered == "pool"
        self.warm_start, self.cache_bytes = warm_start, cache_bytes

    def start(self, parts, context):
        self.n_thresholds, self.features, self._context = context.n_labels - 1, parts.features, context
        self.optimum, self.mu, self.C, self.rho, self.usable = None, None, float(context.C), 1.0, 0.0       # of the last training
        self.n_visited = 0
        reads = context.reads
        if self.nu is not None and reads is not None and "C" in reads.changed and "C" not in reads.by.get("update", ()):
            raise OptionError(f"C={self.C} has no effect with nu={self.nu}, which takes its place; leave one of them out.")

    def check(self, context, parts):
        if parts.outputs.partial_gold or not is_ordered(parts.outputs):
            raise PluginError(f"trainer='svor' learns from one rank per example, but {type(parts.outputs).__name__} has other outputs; "
                              f"use it with the problem 'prank'.")
        if getattr(parts.features, "n_thresholds", None) is None:
            raise PluginError(f"trainer='svor' learns one direction and its thresholds, but {type(parts.features).__name__} has other "
                              f"weights; use it with the problem 'prank'.")
        if not parts.weights.linear:
            raise PluginError(f"trainer='svor' makes weights that are a sum of rows, but {type(parts.weights).__name__} transforms its "
                              f"steps; leave it out.")
        if self.nu is not None and self.warm_start:
            raise OptionError(f"warm_start=True has no effect with nu={self.nu}: its search uses the solution of the last C anyway; "
                              f"leave one of them out.")

    def check_order(self, context, parts):
        pass

    def check_chunks(self, parts):
        if not parts.weights.n_visited and not self.warm_start:
            raise PluginError("trainer='svor' solves one problem over all examples, and partial_fit goes on from its solution; call fit "
                              "first. An engine with warm_start=True may begin with partial_fit, and fit goes on from there.")
        try:
            parts.update.check_order(attrs.evolve(self._context, sample_weight=FRACTIONAL), parts)
        except StructPercError:
            raise PluginError(f"partial_fit continues with steps of {type(parts.update).__name__}, which may disorder the real "
                              f"thresholds of trainer='svor'. Make the engine with update='exact-pa1', 'exact-pa2' or "
                              f"'exact-pa'.") from None
        self.check_answers()

    def check_answers(self):
        if self.optimum is None:
            return
        sentence = self.flaw()
        if sentence:
            raise OptionError(sentence)

    def flaw(self):
        """Why the optimum predicts nothing; None if it predicts. An optimum without a direction is not one without an order."""
        if not self.optimum.scale and self.method == "sum-of-margins":
            return ("the sum of margins found no direction (status 'degenerate'): at this C no direction separates the ranks by a positive "
                    "sum of margins net of errors. Lower C, or use another kernel or method='implicit'.")
        if not self.optimum.scale and self.nu is not None:
            what = f"nu={self.nu:g} found no direction (status 'degenerate'): the best w is 0"
            if self.usable:
                return f"{what} for every nu up to {self.usable:.6g}. Raise nu above that, or set C and leave nu out."
            return f"{what} for every nu, since no direction separates these ranks. Check the columns of X, or use another kernel."
        if self.optimum.scale and self.optimum.disordered and not self.pool:
            return (f"the best thresholds of the fixed margin are out of order (status 'disordered'): {self.optimum.free.tolist()}. Use "
                    f"method='explicit', or disordered='pool' to predict by the best ordered thresholds of the same direction.")
        return None

    def warn_of_flaws(self):
        """Warns at `fit` if `predict` raises an error or knows one rank only."""
        sentence = self.flaw()
        if sentence is None and self.optimum.close_to_zero:
            sentence = (f"w = 0 is within tolerance={self.tolerance:g} of the best objective at C={self.C:g}, so every row gets the same "
                        f"rank. Raise C, or lower tolerance (tol of SVOR).")
        elif sentence is None and not self.optimum.scale:
            sentence = ("the best w is 0 (status 'degenerate'): no direction separates these ranks, whatever C is, and every row gets the "
                        "same rank. Check the columns of X, or use another kernel.")
        if sentence is not None:
            warnings.warn(sentence, DataWarning, stacklevel=2)

    # ---- training ----

    def train(self, run):
        context, loss = run.context, run.model.parts.loss
        if run.writes_checkpoints:
            raise PluginError("trainer='svor' writes no checkpoints: a training that goes on from the middle ends with other bits. Save "
                              "the model of an interrupted training, and go on from it with warm_start=True.")
        ranks = np.asarray(run.gold.values)
        costs = None if type(loss) is AbsoluteLoss else loss.costs_of(ranks, run.rows)
        form = Form(self.method, ranks, context.n_labels, costs, context.sample_weight, np.asarray(context.labels).tolist())
        passes = Passes(run, problem_of(run, self.cache_bytes), costs)
        status, mu = (self.solve if self.nu is None else self.search)(run, form, passes)
        self.remember(run, mu)
        self.warn_of_slabs(context.labels)
        finished = status in (CONVERGED, STALLED, DEGENERATE)       # else w = 0 is only the best so far
        if finished or self.optimum.scale:
            self.warn_of_flaws()
        if finished and not self.optimum.scale:
            return status if self.optimum.close_to_zero else DEGENERATE
        if self.optimum.disordered:
            return DISORDERED
        if finished:
            return status
        return EARLY_STOPPED if run.stop_requested else MAX_EPOCHS

    def solve(self, run, form, passes):
        """Solves for the engine's C; why the solver ended, and the dual solution."""
        chain = form.chain(self.C)
        solution = passes.solve(chain, self.tolerance, self.beginning(run, chain, passes.problem))
        if solution.interruption is not None:
            self.remember(run, retry_on_interrupt([], passes.keep, solution))
            raise solution.interruption
        point = passes.problem.end(chain, solution)
        self.optimum = passes.primal.of(attrs.evolve(point, square=0.0) if solution.status == DEGENERATE else point)
        passes.end(point, self.optimum)
        return solution.status, solution.mu

    def search(self, run, form, passes):
        """Solves for nu, by a search over C; as `solve`."""
        problem = passes.problem

        def solve_at(C, start, tolerance):
            solution = passes.solve(form.chain(C), tolerance, start)
            if solution.interruption is not None:
                retry_on_interrupt([], passes.keep, solution)
                self.remember(run, None)
                raise solution.interruption
            return solution

        result = solve_nu(form, self.nu, solve_at, problem.scores, problem.length, self.tolerance)
        passes.chain = form.chain(result.C)
        passes.primal, self.C, self.rho = Primal(passes.chain), result.C, result.rho
        point = Point(problem.direction(result.beta), result.scores, max(float(result.beta @ result.scores), 0.0))
        if result.status == DEGENERATE:
            point = Point(0 * point.weights, 0 * point.scores, 0.0)
        self.optimum = attrs.evolve(passes.primal.of(point), objective=result.objective, dual=result.dual_objective)
        self.usable = result.usable
        passes.end(point, self.optimum)
        return result.status, result.solution.mu

    def remember(self, run, mu):
        """Saves the warm start, and the weights that it belongs to."""
        self.n_visited = run.model.parts.weights.n_visited
        self.mu = np.array(mu) if self.warm_start and mu is not None else None

    def beginning(self, run, chain, problem):
        """The dual solution to begin with; None: that of the chain."""
        before = run.before
        if not self.warm_start or before is None:
            return None
        earlier, n_visited = before.parts.trainer, before.parts.weights.n_visited
        n = run.n_examples if run.active is None else len(run.active)
        if isinstance(earlier, LargeMarginTrainer) and earlier.mu is not None and earlier.n_visited == n_visited:
            if earlier.n_visited != n:
                raise DataError(f"warm_start=True continues a training on {earlier.n_visited} examples, but there are {n} now. It needs "
                                f"the same ones in the same order. Make a new engine for others.")
            if earlier.method == self.method and len(earlier.mu) == len(chain.node):
                return rescaled(chain, earlier.mu, run.context.C / earlier.C)
        return suggested(chain, *direction(before, run.rows, n), problem.scores) if chain.gain else None

    def warn_of_slabs(self, labels):
        """Names the ranks between whose planes there is no room."""
        if self.method != "sum-of-margins" or not self.optimum.scale:
            return
        margins = self.optimum.margins
        width = margins[1:, 0] - margins[:-1, 1]
        flat = [str(labels[j + 1]) for j in np.flatnonzero(width <= ROUNDING * np.ptp(margins))]
        if flat:
            warnings.warn(f"the planes around the rank{'s' if len(flat) > 1 else ''} {', '.join(flat)} have met: with fewer than 2 / C "
                          f"examples a rank keeps no slab of its own. Raise C, or merge such a rank with a neighbour.", UserWarning,
                          stacklevel=2)

    # ---- what is shown and kept ----

    def attributes(self, weights):
        """What the engine shows; online steps make objective_ NaN, gap_ inf, and forget margins_."""
        # objective_ is 1/2 ||w||^2 + C * the hinges. For "sum-of-margins" it is C * the slacks - the sum of the margins. With nu it is 1/2
        # ||rho w||^2 - nu rho + 1/n * the slacks. The optimum is less by at most gap_. margins_ (K - 1, 2): the planes a_j and b_j below
        # and above each threshold. norm_ is ||w|| in the kernel's space of the training rows, which are scaled unless scale=False; 1 for
        # "sum-of-margins". A margin has the width (b_j - a_j) / norm_ there. free_thresholds_ (K - 1,): the best thresholds of the same
        # direction where none need be in order. C_ and rho_: with nu the C that it means, and the margin.
        optimum = self.optimum if weights.n_visited == self.n_visited else None
        if optimum is None:
            return {"objective_": lambda: np.nan, "dual_objective_": lambda: np.nan, "gap_": lambda: np.inf}
        searched = {} if self.nu is None else {"C_": lambda: self.C, "rho_": lambda: self.rho}
        return searched | {"objective_": lambda: optimum.objective, "dual_objective_": lambda: optimum.dual, "gap_": lambda: optimum.gap,
                           "norm_": lambda: optimum.norm,
                           "margins_": lambda: optimum.margins + self.moved(weights)[:, None],
                           "free_thresholds_": lambda: optimum.free + self.moved(weights)}

    def moved(self, weights):
        """How far the thresholds moved when the weights of scaled rows became those of the users' units."""
        if weights.vector() is None:                # rows stay scaled
            return np.zeros(self.n_thresholds)
        return self.features.attributes(weights)["thresholds_"]() - self.optimum.thresholds

    def state(self):
        optimum, nothing = self.optimum, np.zeros(0)
        numbers = (optimum.scale, optimum.objective, optimum.dual, optimum.norm, optimum.disordered) if optimum is not None else ()
        return {"searched": np.array([self.C, self.rho, self.usable]), "n_visited": np.array(self.n_visited, dtype=np.int64),
                "values": np.array(numbers, dtype=float), "thresholds": nothing if optimum is None else optimum.thresholds.copy(),
                "free": nothing if optimum is None else optimum.free.copy(),
                "margins": np.zeros((0, 2)) if optimum is None else optimum.margins.copy(),
                "mu": nothing if self.mu is None else self.mu.copy()}

    def restore(self, state):
        C, rho, usable = read_array(state, "searched", np.float64, (3,), low=0)
        n_visited = int(read_array(state, "n_visited", np.int64, low=0))
        values, mu = read_array(state, "values", np.float64, (None,)), read_array(state, "mu", np.float64, (None,), low=0)
        if len(values) not in (0, 5):
            raise DataError(f"the saved values of the solution are {len(values)} numbers; expected 5, or none.")
        n = self.n_thresholds if len(values) else 0
        thresholds, free = (read_array(state, name, np.float64, (n,)) for name in ("thresholds", "free"))
        margins, optimum = read_array(state, "margins", np.float64, (n, 2)), None
        if len(values):
            scale, objective, dual, norm, disordered = values.tolist()
            optimum = Found(scale, thresholds, free, margins, objective, dual, norm, bool(disordered))
        self.C, self.rho, self.usable = float(C), float(rho), float(usable)
        self.n_visited, self.optimum, self.mu = n_visited, optimum, mu if len(mu) else None


def direction(model, rows, n_examples):
    """The scores of training rows with a weight along the direction of a model, and the squared length of w."""
    scores = model.atom_scores(rows)[:, 0] + model.attribute("thresholds_")[0]
    if model.parts.weights.vector() is not None:
        return scores, float(np.sum(model.attribute("coef_") ** 2))
    n_visited = model.parts.weights.n_visited
    if n_visited % n_examples:
        raise DataError(f"warm_start=True continues an online training that has visited {n_visited} examples. These are no passes over "
                        f"the {n_examples} of now; it needs the same ones in the same order. Make a new engine for others.")
    held = model.attribute("support_") % len(scores)            # rows are numbered on from pass to pass of partial_fit
    return scores, float(model.attribute("dual_coef_")[:, 0] @ scores[held])
