"""Every point where a plugin can replace a part, on one screen.

All but the observer stop at the first answer that is not None, asked from the plugin registered last: a later plugin
replaces one hot spot of an earlier one. Each is called once per fit and answers with a component, never per example.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from structperc.core.components import Argmax, Features, Loss, Outputs, Update, Weights
    from structperc.engine import Engine
    from structperc.readers import Reader
    from structperc.task import Task
    from structperc.training import EpochRecord, Trainer

hookspec = pluggy.HookspecMarker("structperc")
hookimpl = pluggy.HookimplMarker("structperc")


@hookspec(firstresult=True)
def structperc_reader(task: Task) -> Reader | None:
    """X: from what users bring to blocks of rows. Asked before anything is known of the data."""


@hookspec(firstresult=True)
def structperc_weights(task: Task) -> Weights | None:
    """w: the weight store."""


@hookspec(firstresult=True)
def structperc_outputs(task: Task) -> Outputs | None:
    """Y(x): the output space. Asked when X is known; `task.labels` is not yet."""


@hookspec(firstresult=True)
def structperc_features(task: Task) -> Features | None:
    """Phi: the feature map of the atoms."""


@hookspec(firstresult=True)
def structperc_argmax(task: Task) -> Argmax | None:
    """The solver over Y(x)."""


@hookspec(firstresult=True)
def structperc_loss(task: Task) -> Loss | None:
    """The loss and its augmentation; `task.loss` is what the user asked for, or the outputs' default."""


@hookspec(firstresult=True)
def structperc_update(task: Task) -> Update | None:
    """The update rule; `task.update` is its name."""


@hookspec(firstresult=True)
def structperc_trainer(task: Task) -> Trainer | None:
    """Who drives the examples."""


@hookspec
def structperc_epoch_end(engine: Engine, record: EpochRecord) -> None:
    """An epoch is over. Every plugin is called; `engine.stop()` ends training."""
