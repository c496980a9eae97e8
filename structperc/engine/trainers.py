"""Who drives the examples: the online trainer, one pass after another through the compiled loop."""

from __future__ import annotations

import time

import attrs

from structperc.core.component import Component
from structperc.core.shuffle import shuffled

CONVERGED = "converged"
MAX_EPOCHS = "max_epochs"
EARLY_STOPPED = "early_stopped"
INTERRUPTED = "interrupted"


@attrs.frozen
class EpochRecord:
    """What observers are told at the end of an epoch.

    Attributes
    ----------
    epoch, epochs : int
        Its number from 1, and how many were asked for.
    examples, mistakes, updates : int
    loss : float
        Sum of the losses of the online predictions of this epoch.
    seconds : float
    """

    epoch: int
    epochs: int
    examples: int
    mistakes: int
    updates: int
    loss: float
    seconds: float


class Trainer(Component):
    """Base of trainers: `train` drives a `TrainingRun` until its `status` is set.

    Attributes
    ----------
    online : bool
        Whether it makes online steps: then partial_fit may go on with a pass of them, and their mean means something. A trainer that
        solves one problem over all examples says False, and partial_fit is refused.
    threshold_order : {"any", "equal steps", "kept"} or None
        What its training does to ordered thresholds, see `Update`; None: what the update rule says.
    """

    online = True
    threshold_order = None

    def train(self, run):
        raise NotImplementedError


class OnlineTrainer(Trainer):
    """Passes over the examples, in file order or shuffled anew each epoch, until an epoch brings no update.

    After an epoch without update no later one could change the weights.
    """

    options_used = ("trainer", "update", "loss_weight", "epochs", "shuffle", "random_state")

    def train(self, run):
        context = run.context
        for epoch in range(1, context.epochs + 1):
            begin = time.perf_counter()
            passed = run.run(visiting_order(context, run.active, run.n_examples))
            record = EpochRecord(epoch, context.epochs, passed.visited, passed.mistakes, passed.updates, passed.loss,
                                 time.perf_counter() - begin)
            run.epoch_end(record)
            if passed.updates == 0:
                run.status = CONVERGED
                return
            if run.stop_requested:
                run.status = EARLY_STOPPED
                return
        run.status = MAX_EPOCHS


def visiting_order(context, active, n_examples):
    """Examples in the order of this epoch, or None for all in file order; examples without weight are left out."""
    if not context.shuffle:
        return active
    return shuffled(n_examples if active is None else active, context.random)
