"""The parts that every engine starts with; any plugin may replace any of them."""

from __future__ import annotations

import numpy as np

from structperc.core.errors import PluginError
from structperc.core.exact import ExactUpdate
from structperc.core.losses import AbsoluteLoss, CostLoss, ExampleCosts, HammingLoss, SquaredLoss, ZeroOneLoss
from structperc.core.updates import LatentUpdate, PassiveAggressiveUpdate, PerceptronUpdate
from structperc.core.weights import PrimalWeights
from structperc.hookspecs import hookimpl
from structperc.readers import Reader
from structperc.training import OnlineTrainer

LOSSES = {"absolute": AbsoluteLoss, "squared": SquaredLoss, "zero-one": ZeroOneLoss, "hamming": HammingLoss, "costs": ExampleCosts}
ON_LABELS = ("absolute", "squared", "costs")
EXACT = ("exact-pa", "exact-pa1", "exact-pa2")
UPDATES = ("perceptron", "latent", "pa", "pa1", "pa2", *EXACT)


class Defaults:
    """Rows of numbers, primal weights, the named losses and update rules, and the online trainer."""

    name = "defaults"
    losses = tuple(LOSSES)
    updates = UPDATES

    @hookimpl
    def structperc_reader(self, task):
        return Reader()

    @hookimpl
    def structperc_weights(self, task):
        return PrimalWeights(task.average, task.decay, task.decay_schedule)

    @hookimpl
    def structperc_loss(self, task):
        if isinstance(task.loss, np.ndarray):
            return CostLoss(task.loss)
        if task.loss in ON_LABELS and task.labels is None:
            raise PluginError(f"loss={task.loss!r} compares single labels, but the outputs of this problem are structures; "
                              f"use loss='hamming' or 'zero-one', or a plugin's own.")
        return LOSSES[task.loss]() if task.loss in LOSSES else None

    @hookimpl
    def structperc_update(self, task):
        if task.update == "perceptron":
            return PerceptronUpdate()
        if task.update == "latent":
            return LatentUpdate(task.step_size, task.step_schedule, decays=task.decay > 0)
        if task.update in EXACT:
            return ExactUpdate(task.update, task.margin, task.C)
        return PassiveAggressiveUpdate(task.update, task.margin, task.C) if task.update in UPDATES else None

    @hookimpl
    def structperc_trainer(self, task):
        return OnlineTrainer()
