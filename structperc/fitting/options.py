"""The options of an engine, in groups that engine and estimators inherit."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from structperc.basics.cores import available_cores
from structperc.basics.errors import OptionError, OptionErrors, did_you_mean, nearest
from structperc.core.component import Component
from structperc.core.losses import Loss
from structperc.core.schedules import Schedule
from structperc.core.updates import Update
from structperc.fitting.option import Options, option, options_of, same
from structperc.fitting.option_values import (
    is_part,
    read_class_weight,
    read_jobs,
    read_loss,
    read_part,
    read_plugins,
    read_random_state,
)

RECOMMENDED, PAPER = "recommended", "paper"         # presets


class FitOptions(Options):
    """How a model is made: the options of engines and of all estimators that an engine trains."""

    # ---- the defaults of the other options ----

    preset: str = option(
        RECOMMENDED, "values of options that are left out: recommended, measured to predict well; paper, the papers' plain algorithm",
        choices=(RECOMMENDED, PAPER), in_context=False,
        about='"paper": one pass in file order, without averages and scaling. "recommended": the plugins\' recommendations, and otherwise '
              "several epochs in random orders, averaged weights and standardised dense columns. If you choose an update or a trainer, "
              "recommendations for another one do not apply.")

    # ---- the update rule and its step sizes ----

    update: str | Update | type[Update] | None = option(
        "perceptron", "the update rule",
        part="trainer", reads=read_part, by_preset=True,
        about='"latent": a perceptron with step sizes, for partially hidden outputs. "exact-pa", "exact-pa1" and "exact-pa2": for labels. '
              '"log-loss": logistic regression or a conditional random field; it needs a solver with marginals. "logistic": the logistic '
              'loss of each atom. "direct" and "direct-better": direct loss minimisation. "adagrad" and "adagrad-log-loss": the hinge loss '
              "and the log loss, with a step size for each weight. For a custom rule, pass an object of a subclass of "
              "`structperc.components.Update`, or the class.")
    C: float | Schedule | Callable | None = option(1.0, "largest step of pa1, weight of the squared slack of pa2", above=0, falls=True,
                                                   part="update", by_preset=True,
                                                   about="Larger values fit each example more closely; try 0.01 to 1.")
    step_size: float | Schedule | Callable | None = option(
        None, "size of the steps of latent, log-loss, logistic, direct and adagrad; none: the rule's own", types=(float,), above=0,
        falls=True, part="update", by_preset=True,
        about='Larger values learn faster and less smoothly. The rule\'s own is 1.0, of "logistic" inverse_sqrt(0.1, after=100). For '
              '"adagrad" and "adagrad-log-loss" it is the first step of a weight. Their own is 0.1 for sparse '
              'columns, of which many are rare, and 1.0 for dense ones. So a table as CSR gets another model than as an array. One number '
              'gives both the same.')

    # ---- the loss of a wrong prediction, and its use in training ----

    loss: str | Sequence | Loss | type[Loss] | None = option(
        None, "a name, or a matrix like [[0,1],[2,0]] (row: right label); none: the problem's own",
        reads=read_loss, by_preset=True,
        about='The columns of a matrix are the predicted labels. "costs": those of each example, `fit(..., costs=)`. None: "absolute" '
              'for ordered labels, "zero-one" for classes, "hamming" for sequences and sets of atoms. For a custom loss, pass an object '
              "of a subclass of `structperc.components.Loss`, or the class.")
    margin: float | None = option(1.0, "passive-aggressive steps and adagrad require the margin margin * loss", above=0,
                                  part="update", by_preset=True,
                                  about="Larger values make more and larger steps; with pa only the scale of the weights changes.")
    loss_weight: float | Schedule | Callable | None = option(
        0.0, "learn from the output that maximises score + loss_weight * loss", low=0, falls=True, part="update", by_preset=True,
        about='0: from the prediction itself. Larger values avoid expensive mistakes more; try 1. For "direct" and "direct-better" this is '
              "the width of their finite differences, where 0 means 10; try 1 to 30. Only this width accepts a schedule.")

    # ---- how examples are visited ----

    epochs: int | None = option(1, "passes over the data, at most", low=1, part="trainer", by_preset=True, recommended=10,
                                about="An epoch without update ends training early. More epochs fit more closely; try 5 to 50.")
    shuffle: bool | None = option(False, "a new random order each epoch", part="trainer", by_preset=True, recommended=True,
                                  about="False: file order, which learns badly if examples are sorted by label.")
    weighting: str | None = option(
        "steps", "sample weights scale the steps or their C, or set how often examples are visited", choices=("steps", "visits"),
        part="trainer", by_preset=True,
        about='"steps": weights scale the steps of the perceptron, and the C of the passive-aggressive rules; a large C hides them. '
              '"visits": an example with twice the weight is visited twice as often. Visits are drawn anew for each epoch, as many as '
              "examples with a positive weight. Weights of a stream are relative to the mean so far. It works with every rule.")
    random_state: int | np.random.Generator | np.random.RandomState | None = option(
        None, "seed of the shuffling; none: a new one each time", in_context=False, reads=read_random_state,
        about="The same int gives the same bits.")
    trainer: str | Component | type[Component] | None = option(
        "online", "the training loop",
        part="trainer", reads=read_part, by_preset=True,
        about='"until-level": like "online", but it ends if the mean loss before the steps has not fallen for three epochs. '
              '`partial_fit` makes one pass. "bounded-sum" mixes shards by the sum of the steps of each weight. The sum is capped at '
              "twice the mean of the shards that moved it. It has no bound on mistakes, but needs fewer epochs if few shards move each "
              "weight. For a custom loop, pass an object of a subclass of `structperc.components.Trainer`, or the class.")
    n_shards: int = option(
        1, "train on this many parts of the data separately, and mix their weights after each epoch", low=1, part="trainer",
        about="This is iterative parameter mixing by the mean: each shard counts with its share of the examples, with the papers' bound on "
              'mistakes. `trainer="bounded-sum"` mixes by another rule. `partial_fit` mixes after each call. More parts need more epochs; '
              "try the number of cores. The result does not depend on the number of threads.")
    n_jobs: int = option(1, "threads that train shards and predict; -1: one for each core; results stay the same",
                         reads=read_jobs)

    # ---- averaging and decay of weights, and calibration ----

    average: bool | None = option(False, "predict with the mean of the weights over all examples visited", part="weights",
                                  by_preset=True, recommended=True, about="It reduces overfitting, and costs nothing.")
    decay: float | Schedule | Callable | None = option(0.0, "each update first multiplies the weights by 1 - decay", low=0, below=1,
                                                       falls=True, part="weights", by_preset=True,
                                                       about="Larger values forget faster; try 1e-4 for drifting streams.")
    calibrate: bool | str | None = option(
        False, "divide scores by a temperature, for probabilities that can be trusted; auto: where outputs have probabilities",
        choices=(False, True, "auto"), in_context=False, by_preset=True,
        about="Predictions stay the same. The temperature minimises the log loss. With more than 50 examples for each weight, it is fitted "
              "on the training examples. Otherwise it is fitted on held-out fifths, with up to five more models, until 500 "
              'examples were held out. Outputs without marginals and `partial_fit` raise an error with True. With '
              '"auto" they have no calibration, and `partial_fit` keeps the temperature of `fit`. False: most probabilities are too close '
              "to 0 or 1.")

    # ---- preprocessing of X, and plugins ----

    scale: bool | str | None = option(
        False, "train on columns of mean 0 and variance 1, sparse ones of variance 1; auto: those of dense rows, and of kernels",
        choices=(False, True, "auto"), in_context=False, by_preset=True, recommended="auto",
        about="Weights are returned in the units of X. Sparse columns are only divided by their spread, to keep their zeros. auto leaves "
              "them as they are, since a rare word would count for more than a frequent one. All columns are only divided if no intercept "
              "or threshold can absorb the shift. A stream is scaled by the columns' mean and spread so far. With a kernel, rows stay "
              "scaled, and sparse ones become dense; those of a stream by its first call.")
    plugins: Sequence = option(
        (), "further plugins", in_context=False, reads=read_plugins,
        about="Names, plugin objects, components or classes of these. A later one replaces single parts of an earlier one. Clones of an "
              "estimator share the objects; each fit makes its own objects of a class.")


class InterceptOptions(Options):
    """A constant feature."""

    fit_intercept: bool = option(True, "add a constant feature", about="X is not copied. Problems with thresholds have none.")


class LabelOptions(Options):
    """Labels. See also `structperc.estimators.structured.ProblemEstimator` (base of estimators of one problem).

    Examples
    --------
    >>> from structperc.estimators import CuSumRank
    >>> from structperc.estimators.structured import LabelOptions
    >>> issubclass(CuSumRank, LabelOptions)
    True
    >>> CuSumRank(classes=["none", "mild", "severe"]).fit([[0.0], [2.0]], ["none", "severe"]).predict([[2.0]])
    array(['severe'], dtype='<U6')
    """

    classes: Sequence | None = option(
        None, "the labels in order", in_context=False,
        about="None: the order of an ordered categorical, or the sorted labels of y. Pass them for text with another order.")


class LabelWeightOptions(Options):
    """Weights of labels."""

    class_weight: str | Mapping | None = option(
        None, 'weights of labels, {"LABEL": WEIGHT}; balanced: all labels have the same in all', in_context=False,
        reads=read_class_weight,
        about="They multiply the sample weights; other labels have the weight 1. Columns are scaled without them. Larger weights reduce "
              'errors on a rare label; try "balanced". With "balanced", `partial_fit` raises an error, since it does not see all labels.')


class EngineOptions(FitOptions, InterceptOptions, LabelOptions, LabelWeightOptions):
    """All options of an engine."""


ENGINE_OPTIONS = options_of(EngineOptions)
PARTS = tuple(name for name, declared in ENGINE_OPTIONS.items() if declared.reads in (read_part, read_loss))     # may be parts themselves


WITHOUT_SHARDS = "its fit solves for all examples together, or prepares all of them"         # a model without n_shards


def n_threads(n_jobs) -> int:
    """How many threads `n_jobs` means on this machine; negative numbers count from the cores downwards, -1 being all."""
    return n_jobs if n_jobs > 0 else max(1, available_cores() + 1 + n_jobs)


def check_options(engine) -> None:
    """Types and ranges of the engine's own options, which become what parts see: a matrix of costs an array. A function stays itself."""
    declared, errors = options_of(type(engine)), OptionErrors()
    changed = {name: value for name in declared if (value := getattr(engine, name)) is not declared[name].default}
    values = read_given(declared, changed, errors)
    errors.raise_all()
    vars(engine).update(values)


def read_given(declared, passed, errors) -> dict:
    """The values of options as an engine holds them. `errors` collects the errors of wrong ones."""
    values = {}
    for name, value in passed.items():
        with errors:
            read = declared[name].read(name, value)
            values[name] = value if callable(value) else read
    return values


def options_in_context(engine) -> tuple[dict, dict]:
    """The engine's options as hooks see them, and all options that are not at their defaults."""
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
    """The options of an engine by name, without its plugins and their options. Returns a dict.

    Parameters
    ----------
    engine : Engine

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.plugin_tools import engine_options
    >>> engine_options(Engine("cusum", epochs=7))["epochs"]
    7
    """
    return {name: getattr(engine, name) for name in options_of(type(engine)) if name != "plugins"}


def changed_options(engine) -> dict:
    """The options that have another value than the preset gives them, the plugins' among them."""
    unset = {name: option.default for name, option in {**options_of(type(engine)), **plugin_defaults(engine.loaded_plugins)}.items()}
    unset |= engine.preset_values
    values = {**engine_options(engine), "plugins": engine.plugins, **engine.plugin_options}
    return {name: value for name, value in values.items() if not same(value, unset[name])}


def plugin_defaults(plugins) -> dict:
    declared = {}
    for plugin in plugins:
        declared.update(plugin.options)
    return declared


def check_plugin_options(plugins, passed, others, errors) -> dict:
    """The plugins' options with defaults. `errors` collects the errors; `others()` has the options of further plugins, with these."""
    declared, values = plugin_defaults(plugins), {}
    unknown = [f"unknown option {name!r}.{place_of(name, declared, others)}" for name in passed if name not in declared]
    for name, known in declared.items():
        with errors:
            values[name] = known.read(name, passed[name]) if name in passed else own_copy(known.default)
    if unknown:
        errors.append(OptionError(f"{' Also '.join(unknown)} The plugins in use ({', '.join(p.name for p in plugins[1:])}) have "
                                  f"{', '.join(declared) or 'no options'}."))
    return values


def place_of(name, declared, others) -> str:
    """The end of a message about an unknown option: the one that is meant, and the plugins that it comes with."""
    hint = did_you_mean(name, [*declared, *ENGINE_OPTIONS])
    if hint:
        return hint
    elsewhere = others()
    return did_you_mean(name, elsewhere) + "".join(f" It comes with plugins=[{part!r}]."
                                                   for part in elsewhere.get(nearest(name, elsewhere) or name, ()))


def own_copy(value):
    """The value, or a copy of a list, dict or set: no engine changes the default of all others, and no hook that of its engine."""
    return copy.deepcopy(value) if type(value) in (list, dict, set) else value


def generator(random_state) -> np.random.Generator:
    """A numpy Generator from a seed, a Generator or a RandomState.

    Parameters
    ----------
    random_state : None, int, Generator or RandomState

    Examples
    --------
    >>> from structperc.plugin_tools import generator
    >>> bool(generator(0).integers(10) == generator(0).integers(10))
    True
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(0, 2**31 - 1, size=4, dtype=np.int64)
    return np.random.default_rng(random_state)


def setting_back(random_state):
    """A function that sets a generator of numpy back to its current state; None for a seed."""
    if isinstance(random_state, np.random.RandomState):
        return functools.partial(random_state.set_state, random_state.get_state())
    if isinstance(random_state, np.random.Generator):
        bits = random_state.bit_generator
        return functools.partial(setattr, bits, "state", bits.state)
    return None
