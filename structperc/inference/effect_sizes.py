"""How much each column of a model of ordered labels weighs, with intervals by refits or by the likelihood."""

from __future__ import annotations

import difflib

import numpy as np
from scipy.special import ndtr, ndtri

from structperc.basics.errors import DataError, OptionError, PluginError, listing, shortened
from structperc.core.outputs import is_ordered
from structperc.core.weights import has_vector
from structperc.engine.engine import Engine, engine_of
from structperc.fitting.dependence import Dependence
from structperc.fitting.references import has_log_odds, one_hot_groups
from structperc.fitting.separation import separating
from structperc.fitting.trainers import CONVERGED
from structperc.inference.ratios import likelihood_of, ratio_tests
from structperc.inference.refits import intervals, moments, refitted, scaled
from structperc.inference.tables import CONSTANT, DEPENDENT, ENDLESS, NO_ROWS, REFERENCE, Effects
from structperc.pipelines import carried, column_names, unwrapped
from structperc.reading.matrices import sample_weights

__all__ = ["effects"]

SCALES, INTERVALS = ("direction", "log-odds", "odds-ratio"), ("bootstrap", "wald", "robust")
MOST_TESTED = 4000          # columns that are tested for dependences, whose cost grows with their cube
PART = 1e-6                 # of the largest weight of a direction: columns with less have no part in it
MOST_NAMED = 5              # columns in a message
MOST_RATIOS = 200           # columns whose likelihood ratio is computed, by a refit for each
DIRECTION = ("Relative weights per standard deviation; their squares add up to 1. An interval shows how much a weight varies over samples "
             "({interval}).")
LOG_ODDS = "{per}, the log odds of a higher rank rise by the effect ({interval}){of}."
ODDS_RATIO = "{per}, the odds of a higher rank are multiplied by the odds ratio ({interval}){of}."
PER_DEVIATION, PER_UNIT = "Per standard deviation", "When a column rises by its unit (per) and the others stay"
BY = {"bootstrap": "{level:g} % bootstrap interval of {n_boot} refits", "wald": "{level:g} % Wald interval",
      "robust": "{level:g} % interval by the sandwich estimate"}
DEPENDENT_ROWS = "There are no p values, since rows of a group depend on each other."
MANY_COLUMNS = f"Likelihood ratios need a refit for each column, and are left out with more than {MOST_RATIOS} columns."


def effects(model, X, y, groups=None, n_boot=199, level=0.95, scale="direction", random_state=None, *, sample_weight=None, per=None,
            interval="bootstrap") -> Effects:
    """Effect sizes with confidence intervals: the weight of each column, or its odds ratio.

    Each refit gives every example a weight drawn from Poisson(1) and visits the examples in a new random order. Standard deviations are
    those of X in all refits. Draws without a weight for some label of y are repeated, so all refits have the same labels. An interval
    leaves out refits in which its column is constant. Cost: n_boot times that of `fit`.

    Effects of a one-hot group are differences from a reference level. `remarks` has what the data leave open, for up to 4000 columns.
    Neither the order of examples nor that of levels changes the draws.

    A model of trainer="cumulative-logit" without penalty has a likelihood. Tables of log odds and odds ratios then have p values of
    Wald's test and of the likelihood ratio. Below are log-likelihood, AIC and BIC. The likelihood ratio costs a refit for each column, up
    to 200 columns. Raises `PluginError` if the model has no single direction, or no log odds.
    Raises `OptionError` if a value is out of range. Raises `DataError` if X or y differs in form from the training data.
    See also `structperc.proportional_odds` (tests whether a column has the same odds ratio at each threshold).

    Parameters
    ----------
    model : Engine or estimator of ordered labels, or a pipeline or search around one
        Trained on X and y, with one direction for all levels: `prank`, `interval-pa`, `PRank`, `IntervalPA`, linear `SVOR`.
    X : array-like
        The training data, as in `fit`.
    y : sequence
        The training labels.
    groups : array of shape (n_examples,), optional
        Examples of the same group, such as visits of one patient, get the same weight. Use it if examples depend on each other.
    n_boot : int, default 199
        Number of refits, at least 2 / (1 - level) - 1. Larger values give more stable intervals; try 999 for a paper.
    level : float in (0, 1), default 0.95
        Level of the intervals. Larger values give wider intervals.
    scale : {"direction", "log-odds", "odds-ratio"}, default "direction"
        "direction": w * sd / ||w * sd||, whose squares sum to 1. It suits every linear model, because the length of w has no unit.
        "log-odds": the rise of the log odds of a higher rank, for update="logistic" and trainer="cumulative-logit". "odds-ratio": e to
        this power.
    random_state : None, int, numpy Generator, default None
        Seed of weights and orders. The same seed gives the same table.
    sample_weight : array of shape (n_examples,), optional
        The weights that the model was trained with. For p values they count examples.
    per : {"unit", "deviation"} or dict, optional
        The rise of a column that its effect belongs to. "unit": 1, and for a level of a text column the change from the reference level.
        "deviation": a standard deviation. {"age": 10}: 10 units of `age`, 1 of others. Default: "unit" for odds ratios, else
        "deviation".
    interval : {"bootstrap", "wald", "robust"}, default "bootstrap"
        "wald" and "robust": by the covariance of trainer="cumulative-logit", from the Hessian or the sandwich estimate. They need no
        refits, and give Wald's p values the same covariance.

    Returns
    -------
    Effects
        A constant column has the effect 0 and the interval (0, 0). An effect in log odds without a maximum is infinite, and so is its
        interval.

    Notes
    -----
    Coverage was measured with normal columns (`benchmarks/results/effects.md`). If columns are elliptical, a direction is that of the
    proportional-odds model (Brillinger 1983). For "logistic" and "cumulative-logit" it is so in general.

    References
    ----------
    D. R. Brillinger: A generalized linear model with "Gaussian" regressor variables. A Festschrift for Erich L. Lehmann, pages 97-114,
    1983.

    J. A. Hanley and B. MacGibbon: Creating non-parametric bootstrap samples using Poisson frequencies. Computer Methods and Programs in
    Biomedicine 83, pages 57-62, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> import structperc
    >>> from structperc import Engine
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = np.digitize(X[:, 0], [-1, 0, 1]) + 1
    >>> table = structperc.effects(Engine("prank", update="exact-pa1", epochs=5).fit(X, y), X, y, n_boot=39, random_state=0)
    >>> table.columns, bool(table.lower[0] > 0.9), bool(table.lower[1] < 0 < table.upper[1])
    (['x[0]', 'x[1]'], True, True)
    """
    engine, X = trained_engine(model, X, "effects")
    per = ("unit" if scale == "odds-ratio" else "deviation") if per is None else per
    check_arguments(n_boot, level, scale, per, interval, groups)
    check_model(model, engine, scale, interval)
    rows = engine.model_.read(X)
    weights = sample_weights(sample_weight, rows.n_examples)
    columns = moments(rows, weights)
    sd = columns.deviation
    low, high = ends_of(engine, rows, y)
    levels = groups_of(engine, columns.mean)
    names = names_of_columns(model, engine, len(sd))
    unit, texts = units(per, scale, names, sd, levels, nouns_of(engine))
    remarks = remarks_on(engine, rows, low, high, weights, levels)
    effect = scaled(engine, unit, scale, levels)
    if scale != "direction":
        effect[remarks == ENDLESS] = np.copysign(np.inf, effect[remarks == ENDLESS])
    if interval == "bootstrap":
        lower, upper = intervals(refitted(engine, X, y, rows, low, high, groups, weights, random_state, n_boot, unit, scale, levels), level)
    else:
        error = standard_errors(engine, interval, unit, levels)
        lower, upper = (effect + sign * ndtri((1 + level) / 2) * error for sign in (-1, 1))
    endless = np.isinf(effect)
    lower[endless], upper[endless] = -np.inf, np.inf
    tests = {} if scale == "direction" or likelihood_of(engine) is None else {"groups": names_of_groups(names, levels)}
    note = note_of(engine, scale, level, n_boot, per, interval)
    if tests and groups is None:
        active = slice(None) if weights is None else weights > 0
        dependence = None if rows.n_features > MOST_TESTED else Dependence.of(rows.X[active], [group.reference for group in levels])
        open_ones = np.isin(remarks.astype(str), [REFERENCE, CONSTANT, NO_ROWS, DEPENDENT])
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.abs(effect) / standard_errors(engine, "robust" if interval == "robust" else "wald", unit, levels)
        tests["p_wald"] = np.where(open_ones | endless, np.nan, 2 * ndtr(-z))
        if dependence is None or rows.n_features > MOST_RATIOS:
            tests["p_ratio"], note = np.full(len(sd), np.nan), f"{note} {MANY_COLUMNS}"
        else:
            tests |= ratio_tests(engine, rows.X, y, weights, np.flatnonzero(~open_ones), dependence, levels)
    elif tests:
        note = f"{note} {DEPENDENT_ROWS}"
    if scale == "odds-ratio":
        with np.errstate(over="ignore"):        # of a tiny unit, such as 1 for a column of the size 1e-8
            effect, lower, upper = map(np.exp, (effect, lower, upper))
    return Effects(names, effect, lower, upper, scale, float(level), int(n_boot) if interval == "bootstrap" else 0, note,
                   remarks.tolist(), texts, **tests)


def trained_engine(model, X, function):
    """The engine of a model, and X as the engine reads it; `function` is named in the error."""
    last, X = carried(model, X)
    return engine_of(last, function), X


def names_of_columns(model, engine, n_features) -> list[str]:
    """What the steps before the engine call its columns, or the engine itself."""
    before, last = unwrapped(model)
    names = None if before is None else column_names(before, last)
    return [engine.model_.feature_name(j) for j in range(n_features)] if names is None else list(map(str, names))


def groups_of(engine, mean):
    """The one-hot groups of the rows, which are those of the training."""
    reader = engine.model_.parts.reader
    levels = one_hot_groups(reader, mean)
    lost = {group.name for group in one_hot_groups(reader, engine.model_.means)} - {group.name for group in levels}
    if lost:
        raise DataError(f"X has levels of {listing(sorted(map(repr, lost)), MOST_NAMED)} that the model has not learned. Pass the X and y "
                        f"that the model was trained on.")
    return levels


def nouns_of(engine) -> dict:
    """What the unit of a column is called, for ordered levels and dates."""
    nouns = {"ordinal": "level", "date": "day"}
    return {place: nouns[code.kind] for code, place in engine.model_.parts.reader.input_columns().places() if code.kind in nouns}


def units(per, scale, names, sd, levels, nouns):
    """The rise of each column that its effect belongs to, and its text; no texts for a direction."""
    if scale == "direction":
        return sd, []
    rise, own = (sd, {}) if per == "deviation" else (np.ones(len(sd)), {} if per == "unit" else dict(per))
    for j, name in enumerate(names):
        rise[j] = float(own.pop(name, rise[j]))
    texts = [f"SD {value:.4g}" if per == "deviation" else in_units(value, nouns.get(j)) for j, value in enumerate(rise.tolist())]
    for group in levels:
        if group.name in own or per != "deviation" and np.any(rise[group.columns] != 1):
            raise OptionError(f"per has a number for {group.name!r}, whose levels are compared with a reference level; leave it out.")
        beside = "vs " + names[group.reference].removeprefix(f"{group.name}=")
        for j in group.columns.tolist():
            texts[j] = f"{texts[j]} {beside}" if per == "deviation" else beside
        texts[group.reference] = ""
    if own:
        raise unknown(next(iter(own)), names)
    return np.where(sd > 0, rise, 0.0), texts


def in_units(rise, noun) -> str:
    """A rise with the noun of its unit, such as 2 levels."""
    return f"{rise:g}" if noun is None else f"{rise:g} {noun}{'' if rise == 1 else 's'}"


def unknown(name, names):
    """The error for a column that there is not."""
    near = difflib.get_close_matches(str(name), names, 1)
    return OptionError(f"per names {name!r}, which is no column{f'; did you mean {near[0]!r}?' if near else ''} Expected one of "
                       f"{listing(names, 5)}.")


def names_of_groups(names, levels):
    """The column of the table that each column belongs to."""
    whole = list(names)
    for group in levels:
        for j in group.columns.tolist():
            whole[j] = group.name
    return whole


def standard_errors(engine, interval, unit, levels):
    """Those of the effects, by the Hessian or the sandwich; effects without end have none that counts."""
    covariance = engine.robust_covariance_ if interval == "robust" else engine.covariance_
    covariance = np.where(np.isfinite(covariance), covariance, 0.0)[:len(unit), :len(unit)]
    variance = np.diag(covariance).copy()
    for group in levels:
        j, reference = group.columns, group.reference
        variance[j] += covariance[reference, reference] - 2 * covariance[j, reference]
    return np.sqrt(np.maximum(variance, 0)) * unit


def remarks_on(engine, rows, low, high, weights, groups):
    """A remark on each column, mostly an empty text."""
    if rows.n_features > MOST_TESTED:
        return np.full(rows.n_features, "", dtype=object)
    active = slice(None) if weights is None else weights > 0
    X = rows.X[active]
    dependence = Dependence.of(X, [group.reference for group in groups])
    remarks = np.full(rows.n_features, "", dtype=object)
    remarks[dependence.spread == 0] = CONSTANT
    for group in groups:
        remarks[group.columns[dependence.spread[group.columns] == 0]] = NO_ROWS
        remarks[group.reference] = REFERENCE
    for columns in dependence.sets():
        remarks[columns] = DEPENDENT
    if has_log_odds(engine.model_) and not penalty_of(engine):
        directions = separating(X[:, dependence.columns], low[active], high[active], engine.model_.context.n_labels)
        weights = np.abs(dependence.weights(directions))[:rows.n_features] * dependence.spread[:, None]
        remarks[(weights > PART * weights.max(initial=0)).any(axis=1)] = ENDLESS
    return remarks


def check_arguments(n_boot, level, scale, per, interval, groups) -> None:
    if scale not in SCALES:
        raise OptionError(f"scale={shortened(scale)}; expected 'direction', 'log-odds' or 'odds-ratio'.")
    if interval not in INTERVALS:
        raise OptionError(f"interval={shortened(interval)}; expected 'bootstrap', 'wald' or 'robust'.")
    if isinstance(per, dict):
        for name, rise in per.items():
            if not isinstance(rise, (int, float, np.number)) or isinstance(rise, bool) or not 0 < rise < np.inf:
                raise OptionError(f"per={{{name!r}: {shortened(rise)}}}; expected a number above 0, such as 10.")
    elif per not in ("unit", "deviation"):
        raise OptionError(f"per={shortened(per)}; expected 'unit', 'deviation', or numbers by column such as {{'age': 10}}.")
    if scale == "direction" and per != "deviation":
        raise OptionError(f"per={per!r} beside scale='direction', whose weights are comparable per standard deviation only; use "
                          f"scale='odds-ratio' or 'log-odds'.")
    if not (isinstance(level, (int, float)) and 0 < level < 1):
        raise OptionError(f"level={shortened(level)}; expected a number between 0 and 1, such as 0.95.")
    least = int(np.ceil(2 / (1 - level) - 1 - 1e-9))
    if not isinstance(n_boot, (int, np.integer)) or isinstance(n_boot, bool) or n_boot < least:
        raise OptionError(f"n_boot={shortened(n_boot)}; an interval of level {level:g} needs a whole number of refits, at least {least}.")
    if interval != "bootstrap" and groups is not None:
        raise OptionError(f"interval={interval!r} takes rows for independent, and groups shows that they are not; leave interval out.")


def names_at_the_door(model, problems, estimators) -> tuple[str, str]:
    """What a message calls the model, and what it advises instead: problems to users of an engine, else estimators."""
    _, last = unwrapped(model)
    return (repr(last.problem), problems) if isinstance(last, Engine) else (type(last).__name__, estimators)


def check_model(model, engine, scale, interval) -> None:
    """Raises an error for models without effects, or without those that are asked for."""
    parts, (called, others) = engine.parts_, names_at_the_door(model, "'prank' or 'interval-pa'", "PRank or IntervalPA")
    if not is_ordered(parts.outputs):
        raise PluginError(f"effects are those of ordered labels, and {called} predicts other outputs; use {others}.")
    if not has_vector(parts.weights) or np.shape(getattr(engine, "coef_", None)) != (engine.model_.context.n_features,):
        raise PluginError(f"effects needs one direction for all ranks. This model of {called} has no such coef_; use {others} without a "
                          f"kernel.")
    if scale != "direction" and not has_log_odds(engine.model_):
        raise PluginError(f"scale={scale!r} needs update='logistic' or trainer='cumulative-logit', since the weights of other rules have "
                          "no unit; leave it out.")
    if interval != "bootstrap" and (scale == "direction" or likelihood_of(engine) is None):
        raise PluginError(f"interval={interval!r} needs log odds or odds ratios, and a model of trainer='cumulative-logit' without "
                          f"penalty, whose likelihood has a covariance. Leave interval out for intervals by refits.")


def ends_of(engine, rows, y):
    """The lowest and the highest code of each example's label, from 1."""
    gold = engine.parts_.outputs.encode(y, rows)
    codes = np.asarray(gold.values).reshape(len(gold), -1)
    if len(codes) != rows.n_examples:
        raise DataError(f"X has {rows.n_examples} examples and y has {len(codes)}; expected one output for each example.")
    return codes[:, 0].astype(int), codes[:, -1].astype(int)


def penalty_of(engine) -> float:
    """The penalty of the weights."""
    return engine.plugin_options.get("penalty", 0)


def note_of(engine, scale, level, n_boot, per, interval) -> str:
    """What the numbers mean."""
    of = "" if engine.status_ == CONVERGED else ", of the model that has not converged"
    of = ", of the penalised model" if penalty_of(engine) else of
    note = {"direction": DIRECTION, "log-odds": LOG_ODDS, "odds-ratio": ODDS_RATIO}[scale]
    return note.format(per=PER_DEVIATION if per == "deviation" else PER_UNIT, of=of, level=100 * level, n_boot=n_boot,
                       interval=BY[interval].format(level=100 * level, n_boot=n_boot))
