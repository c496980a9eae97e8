"""Every point where a plugin can replace a part, on one screen.

All but the observer stop at the first answer that is not None, asked from the plugin registered last: a later plugin
replaces one hot spot of an earlier one. Each is called once per fit and answers with a component, never per example.
"""

import pluggy

hookspec = pluggy.HookspecMarker("structperc")
hookimpl = pluggy.HookimplMarker("structperc")


@hookspec(firstresult=True)
def structperc_reader(context):
    """X: from what users bring to blocks of rows. Asked before anything is known of the data."""


@hookspec(firstresult=True)
def structperc_weights(context):
    """w: the weight store."""


@hookspec(firstresult=True)
def structperc_outputs(context):
    """Y(x): the output space. Asked when X is known; `context.labels` is not yet."""


@hookspec(firstresult=True)
def structperc_features(context):
    """Phi: the feature map of the atoms."""


@hookspec(firstresult=True)
def structperc_argmax(context):
    """The solver over Y(x)."""


@hookspec(firstresult=True)
def structperc_loss(context):
    """The loss and its augmentation; `context.loss` is what the user asked for, or the outputs' default."""


@hookspec(firstresult=True)
def structperc_update(context):
    """The update rule; `context.update` is its name."""


@hookspec(firstresult=True)
def structperc_trainer(context):
    """Who drives the examples."""


@hookspec
def structperc_epoch_end(engine, record):
    """An epoch is over. Every plugin is called; `engine.stop()` ends training."""
