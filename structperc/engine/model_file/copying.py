"""What pickle, copy and skops keep of an engine."""

from __future__ import annotations

from structperc.engine.model_file.loading import made
from structperc.engine.model_file.saving import collect, functions_of
from structperc.fitting import plugins as registry
from structperc.fitting.options import engine_options, given_parts


def constructor_arguments(engine) -> dict:
    """What the constructor was given beside the problem."""
    return engine_options(engine) | {"plugins": engine.plugins} | engine.plugin_options


def remembered(engine) -> dict:
    """What pickle, copy and skops keep: the constructor's arguments, and the training as in a model file."""
    problem, arguments, own = registry.portable((engine.problem, constructor_arguments(engine), engine._own_parameters()))
    return {"problem": problem, "arguments": arguments, "own": own, "chosen": sorted(engine.chosen),
            "training": None if engine.model is None else collect(engine)}


def set_state(engine, state) -> None:
    """Makes a new engine what another one was."""
    problem, arguments, own = registry.imported((state["problem"], state["arguments"], state["own"]))
    engine._begin(problem, arguments, own)
    engine.chosen = frozenset(state["chosen"])
    if state["training"] is not None:
        parts = given_parts(engine)
        objects = [plugin for plugin in (problem, *arguments["plugins"], *parts.values()) if not isinstance(plugin, str)]
        option_values = {**engine_options(engine), **dict.fromkeys(parts), **engine.plugin_options}     # parts are among the objects
        kept = made(type(engine), *state["training"], objects, functions_of(option_values), "the pickled model")
        engine.model, engine.notes, engine.preset_values = kept.model, kept.notes, kept.preset_values
        engine.answered, engine.reads = kept.answered, kept.reads
