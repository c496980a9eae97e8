"""The options of an engine, in groups of which engine and estimators inherit; what all of them share with hooks and model files."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from structperc.core.component import Component
from structperc.core.errors import OptionError, did_you_mean
from structperc.core.losses import Loss
from structperc.core.schedules import Schedule
from structperc.core.updates import Update
from structperc.engine.option import Options, option, options_of, same
from structperc.engine.option_values import (
    is_part,
    read_class_weight,
    read_jobs,
    read_loss,
    read_part,
    read_plugins,
    read_random_state,
)

RECOMMENDED, PAPER = "recommended", "paper"         # presets


class InterceptOptions(Options):
    """A constant feature."""

    fit_intercept: bool = option(True, "add a constant feature", about="X is not copied. Problems with thresholds have no such feature.")


class PresetOptions(Options):
    """Where the options start that are left out."""

    preset: str = option(
        RECOMMENDED, "values of options that are left out: recommended, measured to predict well; paper, the papers' plain algorithm",
        choices=(RECOMMENDED, PAPER), in_context=False, later=True,
        about='"paper": one pass in file order, without averages and scales. "recommended": what the problem\'s plugin and other plugins '
              "recommend, and for other options several epochs in random orders, averages, and dense columns on one scale. An update or a "
              "trainer that you choose leaves out what is recommended for another one.")


class DataOptions(Options):
    """What becomes of the data before training."""

    scale: bool | str | None = option(
        False, "train on columns of mean 0 and variance 1, sparse ones of variance 1; auto: dense ones only",
        choices=(False, True, "auto"), in_context=False, later=True, by_preset=True, recommended="auto",
        about="Weights come back in the units of X. Sparse columns keep their zeros, and so do all columns if no intercept or threshold "
              "could take up the shift: these are divided by their spread. A stream is scaled by the columns' mean and spread so far. With "
              "a kernel rows stay scaled, those of a stream by its first call.")
    plugins: Sequence = option(
        (), "further plugins", in_context=False, reads=read_plugins,
        about="Names, plugin objects, components or classes of these. A later one replaces single hot spots of an earlier one.")


class LabelOptions(Options):
    """Labels."""

    classes: Sequence | None = option(
        None, "the labels in order", in_context=False,
        about="None: an ordered categorical's own order, or the sorted labels of y.")


class LabelWeightOptions(Options):
    """Weights of labels."""

    class_weight: str | Mapping | None = option(
        None, 'weights of labels, {"LABEL": WEIGHT}; balanced: all labels have the same in all', in_context=False, later=True,
        reads=read_class_weight,
        about="They multiply the sample weights; labels that are left out weigh 1. Columns are scaled without them. `partial_fit` refuses "
              '"balanced", since it does not see all labels.')


class LossOptions(Options):
    """What a wrong prediction costs, and how much training heeds it."""

    loss: str | Sequence | Loss | type[Loss] | None = option(
        None, "absolute, squared, zero-one, hamming, a matrix like [[0,1],[2,0]] (row: right label); none: the problem's own",
        reads=read_loss, by_preset=True,
        about='The columns of a matrix are the predicted labels. "costs" are those of each example, `fit(..., costs=)`. None is "absolute" '
              'for ranks, "zero-one" for classes, and "hamming" for sequences and sets of atoms. An object of a subclass of '
              "`structperc.components.Loss`, or the class, is used as it is.")
    margin: float | None = option(1.0, "passive-aggressive steps and adagrad require the margin margin * loss", above=0,
                                  used_by="update", by_preset=True)
    loss_weight: float | Schedule | Callable | None = option(
        0.0, "learn from the answer that maximises score + loss_weight * loss", low=0, falls=True, used_by="update", by_preset=True,
        about='0: from the prediction itself. With "direct" and "direct-better" it is the width of their finite differences, where 0 means '
              "10. Only this width may fall.")


class UpdateOptions(Options):
    """The update rule and the sizes of its steps."""

    update: str | Update | type[Update] | None = option(
        "perceptron", "update rule: perceptron, latent, pa, pa1, pa2, adagrad, log-loss, logistic, direct, or a plugin's",
        used_by="trainer", reads=read_part, by_preset=True,
        about='"latent" is a perceptron with step sizes, for outputs of which part may be hidden. "exact-pa", "exact-pa1" and '
              '"exact-pa2" are for labels. "log-loss" needs a solver with marginals. "logistic" takes the gradient of the logistic loss of '
              'each atom. "direct" and "direct-better" minimise the direct loss. "adagrad" and "adagrad-log-loss" follow the gradients of '
              "the margin and of the log loss, with a step size for each weight. An object of a subclass of "
              "`structperc.components.Update`, or the class, is used as it is.")
    C: float | Schedule | Callable | None = option(1.0, "largest step of pa1, weight of the squared slack of pa2", above=0, falls=True,
                                                   used_by="update", by_preset=True)
    step_size: float | Schedule | Callable | None = option(
        None, "size of the steps of latent, log-loss, logistic, direct and adagrad; none: the rule's own", types=(float,), above=0,
        falls=True, used_by="update", later=True, by_preset=True,
        about='The rule\'s own is 1.0, of "logistic" inverse_sqrt(0.1, after=100). Of "adagrad" and "adagrad-log-loss" it is the size of '
              "the first step of a weight: beside a margin of 1, 0.1 suits rare features, 1.0 dense columns, and these are their own.")


class WeightOptions(Options):
    """What becomes of the weights."""

    average: bool | None = option(False, "predict with the mean of the weights over all examples visited", used_by="weights",
                                  by_preset=True, recommended=True)
    decay: float | Schedule | Callable | None = option(0.0, "each update first multiplies the weights by 1 - decay", low=0, below=1,
                                                       falls=True, used_by="weights", by_preset=True)
    calibrate: bool | str | None = option(
        False, "divide scores by a temperature, for probabilities that can be trusted; auto: where outputs have probabilities",
        choices=(False, True, "auto"), in_context=False, later=True, by_preset=True,
        about="Predictions stay the same. The temperature has the least log loss. With more than 50 examples for each weight it is that "
              "of the training examples. Else `fit` trains five more models, each without a fifth of the examples, and measures them "
              'there; one model if a fifth is 1000 examples or more. "auto" leaves out what True refuses: outputs without marginals, and '
              "`partial_fit`, which keeps the temperature of `fit`. False: probabilities rank labels, and most are too sure.")


class TrainingOptions(Options):
    """How examples are visited."""

    epochs: int | None = option(1, "passes over the data, at most", low=1, used_by="trainer", by_preset=True, recommended=10,
                                about="An epoch without update ends training before.")
    shuffle: bool | None = option(False, "a new random order each epoch", used_by="trainer", by_preset=True, recommended=True)
    weighting: str | None = option(
        "steps", "sample weights scale the steps or their C, or say how often examples are visited", choices=("steps", "visits"),
        used_by="trainer", later=True, by_preset=True,
        about='"steps": weights scale the steps of the perceptron, and the C of the passive-aggressive rules, where it is small enough to '
              'matter. "visits": an example with twice the weight is visited twice as often, anew for each epoch, which has as many visits '
              "as examples with a weight; weights of a stream are compared with the mean of those so far. It acts with every rule.")
    random_state: int | np.random.Generator | np.random.RandomState | None = option(
        None, "seed of the shuffling; none: a new one each time", in_context=False, reads=read_random_state,
        about="The same int gives the same bits.")
    trainer: str | Component | type[Component] | None = option(
        "online", "who drives the examples: online, until-level (ends when the loss levels off), bounded-sum (of shards), or a plugin's",
        used_by="trainer", later=True, reads=read_part, by_preset=True,
        about='"until-level" makes passes as "online" does, and ends once the mean loss of the predictions before the steps has not fallen '
              'for three epochs in a row; `partial_fit` makes one pass with either. "bounded-sum" mixes shards by the sum of their steps '
              "for each weight, at most twice the mean of those that moved it: that has no bound on mistakes as the mean has, and needs "
              "fewer epochs if most weights are moved by few shards. An object of a subclass of `structperc.components.Trainer`, or the "
              "class, is used as it is.")
    n_shards: int = option(
        1, "train on so many parts of the data apart, and mix their weights after each epoch", low=1, used_by="trainer", later=True,
        about="This is iterative parameter mixing by the mean: each shard counts with its share of the examples, as in the papers, whose "
              'bound on mistakes holds; `trainer="bounded-sum"` mixes by another rule. `partial_fit` mixes after each call. The result '
              "depends on the number of parts, and not on the number of threads.")
    n_jobs: int = option(1, "threads that train shards and predict; -1: one for each core; changes no answer", later=True, reads=read_jobs)


class EngineOptions(PresetOptions, UpdateOptions, LossOptions, TrainingOptions, WeightOptions, DataOptions, InterceptOptions,
                    LabelOptions, LabelWeightOptions):
    """All options of an engine."""


ENGINE_OPTIONS = options_of(EngineOptions)
PARTS = tuple(name for name, declared in ENGINE_OPTIONS.items() if declared.reads in (read_part, read_loss))     # may be parts themselves


def n_threads(n_jobs) -> int:
    """How many threads `n_jobs` means on this machine; negative numbers count from the cores downwards, -1 being all."""
    return n_jobs if n_jobs > 0 else max(1, available_cores() + 1 + n_jobs)


def available_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_options(engine) -> None:
    """Types and ranges of the engine's own options, which become what parts see: a matrix of costs an array. A function stays itself."""
    for name, declared in options_of(type(engine)).items():
        given = getattr(engine, name)
        if given is not declared.default:
            setattr(engine, name, read_given(declared, name, given))


def read_given(declared, name, given):
    """The value of an option as an engine holds it."""
    value = declared.read(name, given)
    return given if callable(given) else value


def options_in_context(engine) -> tuple[dict, dict]:
    """The engine's options as hooks see them; and of these and the plugins' options those that are not at their defaults."""
    seen, changed = {}, {}
    for name, declared in options_of(type(engine)).items():
        if declared.in_context:
            value = getattr(engine, name)
            if value is not declared.default:
                value = declared.default if is_part(value) else declared.read(name, value)
                if not same(value, declared.default):
                    changed[name] = value
            seen[name] = value
    if engine.plugin_options:
        of_plugins = plugin_defaults(engine.loaded_plugins)
        changed.update({name: value for name, value in engine.plugin_options.items() if not same(value, of_plugins[name].default)})
    return seen, changed


def given_parts(engine) -> dict:
    """The parts that stand where an option names one: the engine loads them after its plugins, and hooks see the default instead."""
    return {name: value for name in PARTS if is_part(value := getattr(engine, name))}


def engine_options(engine) -> dict:
    """The engine's options by name; its plugins and their options are not among them."""
    return {name: getattr(engine, name) for name in options_of(type(engine)) if name != "plugins"}


def changed_options(engine) -> dict:
    """The options that have another value than the preset gives them, the plugins' among them."""
    unset = {name: option.default for name, option in {**options_of(type(engine)), **plugin_defaults(engine.loaded_plugins)}.items()}
    unset |= engine.preset_values
    given = {**engine_options(engine), "plugins": engine.plugins, **engine.plugin_options}
    return {name: value for name, value in given.items() if not same(value, unset[name])}


def plugin_defaults(plugins) -> dict:
    declared = {}
    for plugin in plugins:
        declared.update(plugin.options)
    return declared


def check_plugin_options(plugins, given, parts_with) -> dict:
    """The plugins' options with defaults; refuses what no plugin declares. `parts_with(name)` names plugins that would."""
    declared = plugin_defaults(plugins)
    for name in given:
        if name not in declared:
            hint = did_you_mean(name, [*declared, *ENGINE_OPTIONS]) or "".join(
                f" It comes with plugins=[{part!r}]." for part in parts_with(name))
            raise OptionError(f"unknown option {name!r}.{hint} The plugins {', '.join(p.name for p in plugins[1:])} "
                              f"take {', '.join(declared) or 'no options of their own'}.")
    return {name: option.read(name, given[name]) if name in given else option.default for name, option in declared.items()}


def generator(random_state) -> np.random.Generator:
    """A numpy Generator from None, an int, a Generator or a RandomState."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(0, 2**31 - 1, size=4, dtype=np.int64)
    return np.random.default_rng(random_state)


def setting_back(random_state):
    """A function that sets a generator of numpy back to where it stands now; None for a seed."""
    if isinstance(random_state, np.random.RandomState):
        return functools.partial(random_state.set_state, random_state.get_state())
    if isinstance(random_state, np.random.Generator):
        bits = random_state.bit_generator
        return functools.partial(setattr, bits, "state", bits.state)
    return None
