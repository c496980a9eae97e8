"""Trainers that solve one problem over all examples: block-coordinate Frank-Wolfe, and the concave-convex procedure around it."""

from __future__ import annotations

import attrs
import numpy as np

from structperc.components import Trainer
from structperc.errors import DataError, PluginError
from structperc.plugin_tools import CONVERGED, EARLY_STOPPED, MAX_EPOCHS, YU_JOACHIMS, check_search, is_constrained, read_array, substate
from structperc.solvers.certificates import Certificate, Measurements
from structperc_batch.dual_blocks import BlockFrankWolfe
from structperc_batch.passes import Passes

FRANK_WOLFE = """@inproceedings{lacoste2013block,
  author = {Simon Lacoste-Julien and Martin Jaggi and Mark Schmidt and Patrick Pletscher},
  title = {Block-Coordinate {Frank--Wolfe} Optimization for Structural {SVMs}},
  booktitle = {Proceedings of ICML},
  pages = {53--61},
  year = {2013}
}

@article{tsochantaridis2005large,
  author = {Ioannis Tsochantaridis and Thorsten Joachims and Thomas Hofmann and Yasemin Altun},
  title = {Large Margin Methods for Structured and Interdependent Output Variables},
  journal = {Journal of Machine Learning Research},
  volume = {6},
  pages = {1453--1484},
  year = {2005}
}"""


class FrankWolfeTrainer(Trainer):
    """Structural SVM with margin rescaling: min 1/2 ||w||^2 + C sum_i max over y of loss_i(y) + w . (Phi(x_i, y) - Phi(x_i, gold_i)).

    All weights are regularised, intercepts too. Ends at a gap of `tolerance` times the objective, or after `epochs` passes.
    """
    # tolerance: float. Training ends at a duality gap of this part of the objective.
    # warm_start: bool. Continue from the dual solution of the engine's last training, also after an interruption or from a file. Its
    # examples must be the same in number and order. C, margin, loss, sample weights and gold outputs may differ.

    citation = FRANK_WOLFE
    online = False
    latent = False
    options_used = ("epochs", "shuffle")

    def __init__(self, tolerance, warm_start):
        self.tolerance, self.warm_start = tolerance, warm_start

    def start(self, parts, context):
        self.measured = Measurements(self.tolerance)
        self.passes = None          # of the training under way
        self.kept = None            # what a round that ends above its beginning goes back to
        self.place = ()             # in the training to resume: the estimate of the gap at the last epoch's beginning, and the gap to reach

    def check(self, context, parts):
        if not isinstance(parts.update, BlockFrankWolfe):
            raise PluginError(f"batch training makes steps of its own, but {type(parts.update).__name__} was named after it; "
                              f"leave that out.")
        if not parts.argmax.exact:
            raise PluginError(f"{type(parts.argmax).__name__} declares itself approximate, and batch training needs the exact maximum of "
                              f"score + loss: without it no duality gap is certain. Train online.")
        if is_constrained(parts.features):
            raise PluginError(f"{type(parts.features).__name__} allows only some weights, but the dual of batch training knows no such "
                              f"constraints. Train online.")
        check_search(parts, "batch training")
        outputs = type(parts.outputs).__name__
        if parts.outputs.partial_gold and not self.latent:
            raise PluginError(f"gold outputs of {outputs} may leave something open, which makes the problem a latent one; "
                              f"use trainer='cccp'.")
        if self.latent and not parts.outputs.partial_gold:
            raise PluginError(f"gold outputs of {outputs} leave nothing open, so there is nothing to complete; use trainer='bcfw'.")

    def check_order(self, context, parts):
        raise parts.features.disordered(context)

    def train(self, run):
        passes = self.passes = Passes(run, self.measured)
        before = run.before
        try:
            if run.resumed:
                self.find_place(passes)
            elif self.warm_start and before is not None and isinstance(before.parts.update, BlockFrankWolfe):
                passes.take_over(before.parts.update.dual)
            self.solve(passes)
        finally:
            self.passes = self.kept = None
        if self.measured.close:
            return CONVERGED
        return EARLY_STOPPED if run.stop_requested else MAX_EPOCHS

    def find_place(self, passes):
        """Goes on where the checkpoint was: in the midst of an epoch, or behind the training."""
        passes.n_epochs = passes.run.epoch
        if len(self.place):
            passes.estimate, passes.enough = self.place

    def solve(self, passes):
        passes.improve()

    def attributes(self, weights):
        """What the engine shows; after an interruption objective_ is NaN and gap_ inf, since nothing was measured there."""
        # objective_ is P(w) of `structperc_batch.dual_blocks`, above the optimum by at most gap_. objectives_ and gaps_ were measured on
        # the way.
        return {
            "objective_": lambda: self.measured.objective,
            "gap_": lambda: self.measured.gap,
            "objectives_": lambda: np.array(self.measured.objectives),
            "gaps_": lambda: np.array(self.measured.gaps),
        }

    def state(self):
        certificate = self.measured.certificate
        passes = self.passes
        place = () if passes is None or passes.enough is None else (passes.estimate, passes.enough)
        return {"objectives": np.array(self.measured.objectives, dtype=float), "gaps": np.array(self.measured.gaps, dtype=float),
                "certificate": np.array(attrs.astuple(certificate) if certificate else (), dtype=float),
                "place": np.array(place, dtype=float)}

    def restore(self, state):
        objectives, gaps, numbers, place = (read_array(state, name, np.float64, (None,), finite=False).tolist()
                                            for name in ("objectives", "gaps", "certificate", "place"))
        if len(numbers) not in (0, 2):
            raise DataError(f"the saved certificate has {len(numbers)} numbers; expected 2.")
        if len(place) not in (0, 2):
            raise DataError(f"the saved place in the training has {len(place)} numbers; expected 2.")
        self.measured.objectives, self.measured.gaps, self.place = objectives, gaps, place
        self.measured.certificate = Certificate(*numbers) if numbers else None


class ConcaveConvexTrainer(FrankWolfeTrainer):
    """Latent structural SVM: completes the gold outputs with the weights at hand, solves the convex problem, and repeats.

        J(w) = 1/2 ||w||^2 + C sum_i (max over y of loss_i(y) + w . Phi(x_i, y)  -  max over y that agree with gold_i of w . Phi(x_i, y))

    `objectives_` is J after each round; it never rises, since a round that would end above its beginning is undone. Ends when
    J falls by less than `tolerance` times itself, or after `epochs` passes in all. `gap_` and `objective_` are those of the last convex
    problem. The first completion is that of zero weights (or of a warm start): its ties are the problem's own. Structures that agree with
    the gold output must cost nothing, as everywhere in the engine.
    """
    # tolerance, warm_start: As of `FrankWolfeTrainer`.

    citation = f"{YU_JOACHIMS}\n\n{FRANK_WOLFE}"
    latent = True

    def start(self, parts, context):
        super().start(parts, context)
        self.rounds = []            # J after each

    def solve(self, passes):
        if passes.enough is None:               # else a round goes on
            begin = passes.measure()
            self.kept = passes.keep()
            self.rounds.append(begin.objective - passes.complete())
        while True:
            passes.improve(self.rounds[-1])
            certificate = self.measured.certificate
            if certificate.objective > self.rounds[-1]:
                self.measured.take(Certificate(self.rounds[-1], self.rounds[-1] - certificate.dual))        # of the last round
                break
            self.kept = passes.keep()
            self.rounds.append(certificate.objective - passes.complete())
            if not self.measured.close or self.rounds[-2] - self.rounds[-1] <= self.tolerance * self.rounds[-1]:
                break
        passes.give_back(self.kept)

    def attributes(self, weights):
        return super().attributes(weights) | {"objectives_": lambda: np.array(self.rounds)}

    def state(self):
        state = super().state() | {"rounds": np.array(self.rounds, dtype=float)}
        if self.kept is not None:
            dual, n_visited, weights = self.kept
            state["kept.n_visited"] = np.array(n_visited, dtype=np.int64)
            for name, arrays in (("dual", dual), ("weights", weights)):
                state |= {f"kept.{name}.{key}": array for key, array in arrays.items()}
        return state

    def restore(self, state):
        rounds, kept = read_array(state, "rounds", np.float64, (None,), finite=False).tolist(), None
        if "kept.n_visited" in state:
            dual, weights = (dict(substate(state, prefix)) for prefix in ("kept.dual.", "kept.weights."))
            kept = dual, read_array(state, "kept.n_visited", np.int64, low=0), weights
        super().restore(state)
        self.rounds, self.kept = rounds, kept
