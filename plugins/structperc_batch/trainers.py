"""Trainers that solve one problem over all examples: block-coordinate Frank-Wolfe, and the concave-convex procedure around it."""

import numbers

import attrs
import numpy as np

from structperc.engine.compatibility import check_search
from structperc.engine.trainers import CONVERGED, EARLY_STOPPED, MAX_EPOCHS, Trainer
from structperc.errors import DataError, OptionError, PluginError
from structperc_batch.frank_wolfe import BlockFrankWolfe
from structperc_batch.passes import Certificate, Passes

LATENT = """@inproceedings{yu2009learning,
  author = {Chun-Nam John Yu and Thorsten Joachims},
  title = {Learning Structural {SVMs} with Latent Variables},
  booktitle = {Proceedings of ICML},
  pages = {1169--1176},
  year = {2009}
}"""
FINER = 100.0


class BatchTrainer(Trainer):
    """What both trainers share: when they refuse, when they stop, and what they show.

    Parameters
    ----------
    tolerance : float
        Training ends at a duality gap of this part of the objective.
    warm_start : bool
        Go on from the dual solution of the engine's last training, also if that was interrupted, or read from a file. Its examples must
        be the same in number and order; C, margin, loss, sample weights and gold outputs may have changed.
    """

    online = False
    latent = False
    options_used = ("trainer", "epochs", "shuffle", "random_state")

    def __init__(self, tolerance, warm_start):
        if not isinstance(tolerance, numbers.Real) or isinstance(tolerance, bool) or not 0 < tolerance < 1:
            raise OptionError(f"tolerance={tolerance!r}; expected a number between 0 and 1, the part of the objective that the gap may be.")
        self.tolerance, self.warm_start = float(tolerance), bool(warm_start)

    def start(self, parts, context):
        self.certificate = None
        self.objectives, self.gaps = [], []

    def check(self, context, parts):
        if not isinstance(parts.update, BlockFrankWolfe):
            raise PluginError(f"batch training makes steps of its own, but {type(parts.update).__name__} was named after it; "
                              f"leave that out.")
        if not parts.argmax.exact:
            raise PluginError(f"{type(parts.argmax).__name__} declares itself approximate, and batch training needs the exact maximum of "
                              f"score + loss: without it no duality gap is certain. Train online.")
        check_search(parts, "batch training")
        outputs = type(parts.outputs).__name__
        if parts.outputs.partial_gold and not self.latent:
            raise PluginError(f"gold outputs of {outputs} may leave something open, which makes the problem a latent one; "
                              f"use trainer='cccp'.")
        if self.latent and not parts.outputs.partial_gold:
            raise PluginError(f"gold outputs of {outputs} leave nothing open, so there is nothing to complete; use trainer='bcfw'.")

    def train(self, run):
        passes = Passes(run)
        before = run.before
        if self.warm_start and before is not None and isinstance(before.parts.update, BlockFrankWolfe):
            passes.take_over(before.parts.update)
        self.solve(passes)

    def improve(self, passes, goal=np.inf):
        """Epochs until the gap is small, an observer says stop, or none are left; sets the certificate of where they end.

        `goal`: an objective that shall not be exceeded; for its sake the gap may get `FINER` times as small.
        """
        self.certify(passes)
        while not self.reached(goal) and passes.left and not passes.run.stop_requested:
            enough = self.certificate.objective * self.tolerance
            if self.close:
                enough /= FINER
            self.epochs_until(passes, enough)

    def epochs_until(self, passes, enough):
        """Epochs until one looks as if the gap were this small, or a certificate is due; sets it."""
        self.certificate = None                         # the weights move
        while passes.step() > enough and not passes.due:
            pass
        self.certify(passes)

    def reached(self, goal):
        found = self.certificate
        return self.close and (found.objective <= goal or found.gap * FINER <= self.tolerance * found.objective)

    def certify(self, passes):
        self.certificate = passes.certify()
        self.measured(self.certificate)

    def measured(self, certificate):
        self.gaps.append(certificate.gap)

    @property
    def close(self):
        return self.certificate is not None and self.certificate.gap <= self.tolerance * self.certificate.objective

    def status(self, passes):
        if self.close:
            return CONVERGED
        return EARLY_STOPPED if passes.run.stop_requested else MAX_EPOCHS

    def attributes(self, weights):
        """What the engine shows.

        objective_ : float
            P(w), see `structperc_batch.frank_wolfe`; NaN after an interruption, since nothing was measured there.
        gap_ : float
            P(w) is larger than the optimum by no more than this; inf after an interruption.
        objectives_, gaps_ : ndarray
            What was measured on the way.
        """
        known = self.certificate or Certificate(np.nan, -np.inf)
        return {
            "objective_": lambda: known.objective,
            "gap_": lambda: known.gap if self.certificate else np.inf,
            "objectives_": lambda: np.array(self.objectives),
            "gaps_": lambda: np.array(self.gaps),
        }

    def state(self):
        return {"objectives": np.array(self.objectives), "gaps": np.array(self.gaps),
                "certificate": np.array(attrs.astuple(self.certificate) if self.certificate else ())}

    def restore(self, state):
        self.objectives, self.gaps = (np.asarray(state[name], dtype=float).tolist() for name in ("objectives", "gaps"))
        known = np.asarray(state["certificate"], dtype=float).tolist()
        if len(known) not in (0, 2):
            raise DataError(f"the saved certificate has {len(known)} numbers; expected 2.")
        self.certificate = Certificate(*known) if known else None


class FrankWolfeTrainer(BatchTrainer):
    """Structural SVM with margin rescaling: min 1/2 ||w||^2 + C sum_i max over y of loss_i(y) + w . (Phi(x_i, y) - Phi(x_i, gold_i)).

    All weights are regularised, intercepts too. Ends at a gap of `tolerance` times the objective, or after `epochs` passes.
    """

    def measured(self, certificate):
        super().measured(certificate)
        self.objectives.append(certificate.objective)

    def solve(self, passes):
        self.improve(passes)
        passes.run.status = self.status(passes)


class ConcaveConvexTrainer(BatchTrainer):
    """Latent structural SVM: completes the gold outputs with the weights at hand, solves the convex problem, and repeats.

        J(w) = 1/2 ||w||^2 + C sum_i (max over y of loss_i(y) + w . Phi(x_i, y)  -  max over y that agree with gold_i of w . Phi(x_i, y))

    `objectives_` is J after each round; it never rises, since a round that would end above its beginning is undone. Ends when
    J falls by less than `tolerance` times itself, or after `epochs` passes in all. `gap_` and `objective_` are those of the last convex
    problem. The first completion is that of zero weights (or of a warm start): its ties are the problem's own. Structures that agree with
    the gold output must cost nothing, as everywhere in the engine.
    """

    citation = LATENT
    latent = True

    def solve(self, passes):
        begin = passes.certify()
        kept = passes.keep()
        self.objectives.append(begin.objective - passes.complete())
        while True:
            self.improve(passes, self.objectives[-1])
            if self.certificate.objective > self.objectives[-1]:
                self.certificate = Certificate(self.objectives[-1], self.certificate.dual)      # at the weights of the last round
                self.gaps.append(self.certificate.gap)
                break
            kept = passes.keep()
            self.objectives.append(self.certificate.objective - passes.complete())
            if not self.close or self.objectives[-2] - self.objectives[-1] <= self.tolerance * self.objectives[-1]:
                break
        passes.give_back(kept)
        passes.run.status = self.status(passes)
