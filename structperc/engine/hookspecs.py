"""Every point where a plugin can replace a part, on one screen.

All but the observer stop at the first answer that is not None, asked from the plugin registered last: a later plugin
replaces one hot spot of an earlier one. Each is called once per fit and answers with a component, never per example.

A plugin is a module, or any object, with functions or methods that are marked by `structperc.hookimpl`. Beside them it may have

    name            the name in messages and model files; an installed plugin has that of its entry point
    options         a dict from names to `structperc.Option`: Engine(..., NAME=value), read as context.options["NAME"]
    losses          the names that its structperc_loss answers for, listed where a user names an unknown one
    updates         the names that its structperc_update answers for
    trainers        the names that its structperc_trainer answers for
    recommended     a dict from options of the engine and of the plugins to the values that preset="recommended" begins with, if the user
                    sets none; under a key (NAME, VALUE, ...) a dict of what is recommended where the option has one of these values
    citation        BibTeX, shown by Engine.citation
    problem         of a plugin that replaces single hot spots: the problem that `structperc check` lines it up with
    sample          sample(random, n_examples): small examples to check with, (X, offsets), or a list of blocks or objects
    observe         observe(random, answers): what users pass as y where these are the right answers; for partial gold outputs
    check_options   a dict of engine options to check with
    default_template  of a problem with the options template and columns: default_template(n_columns), the text of the template that the
                    commands take where the user gives none
    conllu          the columns of CoNLL-U that the commands learn from and predict where the user names none: {"columns": ("form", ..),
                    "target": (..)}; predictions are then written in place of the target
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
