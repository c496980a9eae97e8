"""The parts that every engine starts with; any plugin may replace any of them."""

from __future__ import annotations

import numpy as np

from structperc.basics.errors import OptionError, PluginError
from structperc.core.adagrad import AdaGradWeights
from structperc.core.exact import ExactUpdate
from structperc.core.gradient_updates import DirectUpdate, HingeUpdate, LogisticUpdate, LogLossUpdate
from structperc.core.losses import AbsoluteLoss, CostLoss, ExampleCosts, HammingLoss, SquaredLoss, ZeroOneLoss
from structperc.core.updates import LatentUpdate, PassiveAggressiveUpdate, PerceptronUpdate
from structperc.core.weights import PrimalWeights
from structperc.fitting.hookspecs import hookimpl
from structperc.fitting.trainers import BOUNDED_SUM, ONLINE, PATIENCE, UNTIL_LEVEL, MixingTrainer, OnlineTrainer
from structperc.reading.readers import Reader

LOSSES = {"absolute": AbsoluteLoss, "squared": SquaredLoss, "zero-one": ZeroOneLoss, "hamming": HammingLoss, "costs": ExampleCosts}
ON_LABELS = ("absolute", "squared", "costs")
EXACT = ("exact-pa", "exact-pa1", "exact-pa2")
DIRECT = ("direct", "direct-better")
ADAGRAD = ("adagrad", "adagrad-log-loss")
SIZED = {"latent": LatentUpdate, "log-loss": LogLossUpdate, "logistic": LogisticUpdate}
UPDATES = ("perceptron", "pa", "pa1", "pa2", *EXACT, *SIZED, *DIRECT, *ADAGRAD)


def size_of(context, default=None) -> dict:
    """The step size of the user; without one `default`, or the part's own."""
    size = default if context.step_size is None else context.step_size
    return {} if size is None else {"step_size": size}


def slack_of(context) -> dict:
    """C, for the rules with slack."""
    return {"C": context.C} if context.update[-1] in "12" else {}


class BuiltinParts:
    """Rows of numbers, primal weights, the named losses and update rules, and the online trainer."""

    name = "builtin"
    losses = tuple(LOSSES)
    updates = UPDATES
    trainers = ONLINE

    @hookimpl
    def structperc_reader(self, context):
        return Reader()

    @hookimpl
    def structperc_weights(self, context):
        if context.update in ADAGRAD:
            return AdaGradWeights(context.average, context.decay, **size_of(context, 0.1 if context.sparse else 1.0))
        return PrimalWeights(context.average, context.decay)

    @hookimpl
    def structperc_loss(self, context):
        if isinstance(context.loss, np.ndarray):
            return CostLoss(context.loss)
        if context.loss in ON_LABELS and context.labels is None:
            raise PluginError(f"loss={context.loss!r} compares single labels, but the outputs of this problem are structures; "
                              f"use loss='hamming' or 'zero-one', or a plugin's own.")
        return LOSSES[context.loss]() if context.loss in LOSSES else None

    @hookimpl
    def structperc_update(self, context):
        update = context.update
        if update == "perceptron":
            return PerceptronUpdate()
        if update in SIZED:
            return SIZED[update](**size_of(context), decays=context.decay != 0)
        if update == "adagrad":
            return HingeUpdate(context.margin)
        if update == "adagrad-log-loss":
            return LogLossUpdate(sized=False)
        if update in DIRECT:
            return DirectUpdate(update, **size_of(context), decays=context.decay != 0, width=context.loss_weight or 10.0)
        if update in EXACT:
            return ExactUpdate(update, context.margin, **slack_of(context))
        if update in UPDATES:
            return PassiveAggressiveUpdate(update, context.margin, **slack_of(context))
        return None

    @hookimpl
    def structperc_trainer(self, context):
        if context.trainer not in self.trainers:
            return None
        patience = PATIENCE if context.trainer == UNTIL_LEVEL else None
        bounded = context.trainer == BOUNDED_SUM
        if context.n_shards > 1:
            return MixingTrainer(patience, bounded)
        if bounded:
            raise OptionError(f"trainer={BOUNDED_SUM!r} mixes shards, and n_shards=1 makes none; set n_shards to 2 or more, or leave "
                              f"trainer out.")
        return OnlineTrainer(patience)
