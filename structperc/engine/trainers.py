"""Trainers: who drives the passes over the examples. The online trainer makes one epoch after another."""

from __future__ import annotations

import attrs
import numpy as np

from structperc.core.component import Component
from structperc.core.errors import PluginError
from structperc.core.states import taken

CONVERGED = "converged"
STALLED = "stalled"
MAX_EPOCHS = "max_epochs"
EARLY_STOPPED = "early_stopped"
INTERRUPTED = "interrupted"


@attrs.frozen
class EpochRecord:
    """One epoch, as observers are told of it at its end.

    Attributes
    ----------
    epoch, epochs : int
        The number of the epoch from 1, and the most epochs that were asked for.
    examples, mistakes, updates : int
        Examples visited, answered wrongly and stepped on, as `structperc.core.loop.PassResult` counts them.
    loss : float
        Sum of the losses of the answers of this epoch.
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
    """Base of trainers, which drive the passes over the examples of a fit.

    A plugin answers `structperc_trainer` with a trainer for the names that it lists in its attribute `trainers`; users choose one by
    `Engine(..., trainer="NAME")`.

    Attributes
    ----------
    online : bool
        Whether it makes online steps. Then partial_fit may go on with a pass of them, and their mean has a meaning. A trainer that
        solves one problem over all examples says False, and partial_fit is refused unless it overrides `check_chunks`.
    threshold_order : {"any", "equal steps", "kept"} or None
        What its training does to ordered thresholds, see `Update`; None: what the update rule says.
    curve : str
        The fitted attribute whose numbers, one for each epoch, fall while further epochs help.
    """

    online = True
    threshold_order = None
    curve = "mistakes_"

    def train(self, run):
        """Trains, by passes of the `TrainingRun`.

        Returns
        -------
        str
            Why training ended, shown as `status_`: "converged", "stalled", "max_epochs", "early_stopped", or a word of one's own.
        """
        raise self.missing("train")

    def check_chunks(self, parts):
        """Refuses partial_fit, by a `PluginError`, where online passes cannot go on from what `train` makes."""
        if not self.online:
            raise PluginError(f"partial_fit learns from chunk after chunk, but {type(self).__name__} solves one problem over all examples; "
                              f"call fit with all of them.")

    def check_answers(self):
        """Refuses predictions, by a `StructPercError`, where what was trained has none that can be trusted."""


class OnlineTrainer(Trainer):
    """Passes over the examples, in file order or shuffled anew each epoch, until an epoch brings no update.

    After an epoch without update no later one could change the weights: training has converged, or stalled where mistakes are left.

    Attributes
    ----------
    epoch : int
        Epochs made.
    """

    options_used = ("trainer", "update", "loss_weight", "epochs", "shuffle", "weighting", "random_state")

    def start(self, parts, context):
        self.epoch = 0

    def check(self, context, parts):
        if parts.update.search not in ("plain", "both", "margin"):
            raise PluginError(f"{type(parts.update).__name__} asks for search={parts.update.search!r}, but online training counts mistakes "
                              f"by the plain search; set search = 'plain', or 'both' or 'margin' for the augmented one beside it.")

    def train(self, run):
        while run.epoch < run.context.epochs:
            run.begin_epoch()
            passed = run.run(run.order())
            self.epoch = run.epoch
            run.end_epoch(passed)
            if passed.updates == 0 and run.expected is None:        # else it may have left examples out
                return STALLED if passed.mistakes else CONVERGED
            if run.stop_requested:
                return EARLY_STOPPED
        return MAX_EPOCHS

    def state(self):
        return {"epoch": np.array(self.epoch, dtype=np.int64)}

    def restore(self, state):
        self.epoch = taken(state, "epoch", np.int64, low=0) if "epoch" in state else 0      # files of older versions have none
