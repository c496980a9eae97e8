"""All hooks by which a plugin replaces a part, on one screen.

All hooks but those of observers stop at the first result that is not None. The plugin registered last is called first, so a later plugin
replaces single hot spots of an earlier one. Each hook is called once in a fit and returns a component; no hook is called for each
example.

A plugin is a module or an object with functions or methods marked by `structperc.hookimpl`. It may also have these attributes:

    name            the name in messages and model files; an installed plugin has that of its entry point
    options         a dict from names to `structperc.Option`: Engine(..., NAME=value), read as context.options["NAME"]
    losses          the names of losses that its structperc_loss knows, listed if a user names an unknown one
    updates         the names of update rules that its structperc_update knows
    trainers        the names of trainers that its structperc_trainer knows
    recommended     a dict from options of the engine and of the plugins to the values of preset="recommended";
                    under a key (NAME, VALUE, ...), a dict of what is recommended if that option has one of these values
    paper           the same for preset="paper": the values of the algorithm in the paper that `citation` names
    citation        BibTeX, shown by Engine.citation
    also_called     further names of what it learns, in small letters: a user who asks for one is told the plugin
    task            of a problem: the pipeline_tag of its model cards, if its outputs are no labels
    problem         of a plugin that replaces single hot spots: the problem that `structperc check` combines it with
    sample          sample(random, n_examples): small examples to check with, (X, offsets), or a list of blocks or objects
    observe         observe(random, outputs): what users pass as y if these are the right outputs; for partial gold outputs
    check_options   a dict of engine options to check with
    default_template  of a problem with the options template and columns: default_template(n_columns),
                    the template of the commands if the user gives none. With arguments columns or options
                    it gets the names of the columns, or the options that the user has set
    conllu          the columns of CoNLL-U that the commands use if the user names none:
                    {"columns": ("form", ..), "target": (..)}; predictions are then written to the target column
"""

import pluggy

hookspec = pluggy.HookspecMarker("structperc")
hookimpl = pluggy.HookimplMarker("structperc")


@hookspec(firstresult=True)
def structperc_reader(context):
    """The reader, which converts X to blocks of rows. Called before anything is known of the data."""


@hookspec(firstresult=True)
def structperc_weights(context):
    """The weight vector w, or the support set of a kernel model."""


@hookspec(firstresult=True)
def structperc_outputs(context):
    """The output space Y(x). Called when X is known, and `context.labels` is not yet."""


@hookspec(firstresult=True)
def structperc_features(context):
    """The feature map Phi of the atoms."""


@hookspec(firstresult=True)
def structperc_argmax(context):
    """The solver over Y(x)."""


@hookspec(firstresult=True)
def structperc_loss(context):
    """The loss and its augmentation. `context.loss` is the user's choice, or the outputs' default."""


@hookspec(firstresult=True)
def structperc_update(context):
    """The update rule; `context.update` is its name."""


@hookspec(firstresult=True)
def structperc_trainer(context):
    """The trainer, which loops over the examples."""


@hookspec
def structperc_epoch_end(engine, record):
    """Called after each epoch, for every plugin. `engine.stop()` ends training."""


@hookspec
def structperc_training_end(engine, status):
    """Called after the last epoch of a fit, for every plugin. `status` is the word of `status_`; None: an error ended the fit."""
