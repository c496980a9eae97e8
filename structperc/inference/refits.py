"""Refits of a model on resampled examples."""

from __future__ import annotations

import copy
import warnings
import zlib

import numpy as np

from structperc.basics.errors import DataError
from structperc.engine.engine import Engine
from structperc.fitting.options import engine_options
from structperc.fitting.scaling import Scaling
from structperc.fitting.trainers import EARLY_STOPPED
from structperc.reading.groups import numbers_of

MOST_DRAWS = 1000           # of weights for one refit
BETWEEN = 1e-9              # correlations that differ by less are equal


def refitted(engine, X, y, rows, low, high, groups, weights, random_state, n_boot, unit, scale, levels):
    """The effects of every refit; nan: nothing is known of a column."""
    sd = moments(rows, weights).deviation
    clusters = in_order_of_content(clusters_of(groups, rows.n_examples), content(engine.model_, rows, sd, low, high, weights))
    exact = np.where(low == high, low, 0)
    random = np.random.default_rng(random_state)
    again, drawn = untrained(engine), np.empty((n_boot, len(sd)))
    for b in range(n_boot):
        own = draw(random, clusters, exact, weights)
        again.random_state = int(random.integers(2**31))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")             # the fit of the model has given them
            drawn[b] = scaled(again.fit(X, y, sample_weight=own), unit, scale, levels)
        drawn[b, silent(rows, own, levels) & (sd > 0)] = np.nan
    return drawn


def silent(rows, weights, groups):
    """The columns that are constant in the rows with a weight, and the levels of which the reference is."""
    constant = moments(rows, weights).deviation == 0
    for group in groups:
        constant[group.columns] |= constant[group.reference]
    return constant


def intervals(drawn, level):
    """The ends of the intervals over the refits that say something of a column; nan: the others. Without any: no ends."""
    ends = np.empty((2, drawn.shape[1]))
    for j, values in enumerate(drawn.T):
        values = np.sort(values[~np.isnan(values)])
        rank = max(1, int(np.floor((len(values) + 1) * (1 - level) / 2 + 1e-9)))
        ends[:, j] = (values[rank - 1], values[len(values) - rank]) if len(values) else (-np.inf, np.inf)
    return ends


def clusters_of(groups, n) -> np.ndarray:
    """The number of each example's group, from 0."""
    return np.arange(n) if groups is None else numbers_of(groups, n)


def content(model, rows, sd, low, high, weights) -> np.ndarray:
    """A number of each example by its cells, label and weight. Neither its place nor order and units of columns change it."""
    # Columns count by their correlation with the labels. Their names decide between columns that are equal in this.
    X, label = rows.X, low / np.e + high / np.pi
    unit = 1 / np.where(sd > 0, sd, np.inf)
    correlation = X.T @ ((label - label.mean()) / rows.n_examples) * unit / max(label.std(), np.finfo(float).tiny)
    names = np.array([zlib.crc32(model.feature_name(j).encode()) for j in range(rows.n_features)]) / 2**32
    by_column = (1 + np.abs(correlation) + BETWEEN * names) * np.where(correlation < -BETWEEN, -1, 1) * unit
    cells = X @ by_column if rows.sparse else np.einsum("ij,j->i", X, by_column)
    return cells + label + (0 if weights is None else weights / np.sqrt(2))


def in_order_of_content(clusters, values) -> np.ndarray:
    """The clusters numbered by their content, so that draws do not depend on the order of the examples."""
    sums = np.bincount(clusters, values)
    numbers = np.empty(len(sums), dtype=int)
    numbers[np.argsort(sums, kind="stable")] = np.arange(len(sums))
    return numbers[clusters]


def untrained(engine) -> Engine:
    """An engine with the same options and no observers, which visits weighted examples in random orders."""
    options = engine_options(engine)
    loaded = engine.loaded_plugins[2:]
    plugins = [copy.deepcopy(argument) for argument, plugin in zip(engine.plugins, loaded, strict=True) if not plugin.only_observes]
    options |= {"plugins": plugins, "classes": engine.classes_, "calibrate": False}
    if engine.status_ == EARLY_STOPPED:
        options["epochs"] = len(engine.mistakes_)
    if engine.parts_.trainer.online:
        options |= {"shuffle": True, "weighting": "visits"}
    return Engine(engine.problem, **options, **copy.deepcopy(engine.plugin_options))


def draw(random, clusters, labels, weights) -> np.ndarray:
    """Weights of the examples for one refit: each label has some."""
    here = np.unique(labels)
    for _ in range(MOST_DRAWS):
        drawn = random.poisson(1.0, clusters.max() + 1)[clusters].astype(float)
        drawn = drawn if weights is None else drawn * weights
        if drawn.any() and np.isin(here, labels[drawn > 0]).all():
            return drawn
    rarest = np.bincount(labels).tolist()
    raise DataError(f"some label has so few examples, or groups, that {MOST_DRAWS} resamples all lacked one; the labels have "
                    f"{', '.join(map(str, rarest[1:]))} examples. Join rare labels with their neighbours.")


def scaled(engine, unit, scale, groups) -> np.ndarray:
    """The effects of one model: the weights times the rise of each column; odds ratios as log odds."""
    effects, errors = np.array(engine.coef_, dtype=float), getattr(engine, "standard_errors_", None)
    endless = np.zeros(len(unit), dtype=bool) if errors is None or scale == "direction" else np.isinf(errors[:len(unit)])
    for group in groups:
        effects[group.columns] -= effects[group.reference]
        endless[group.columns] |= endless[group.reference]
        endless[group.reference] = False
    effects = effects * unit + 0.0                # no -0
    effects[endless] = np.copysign(np.inf, effects[endless])
    length = np.sqrt((effects**2).sum())
    return effects / length if scale == "direction" and length else effects


def moments(rows, weights) -> Scaling:
    """Means and standard deviations of columns; 0 of constant ones."""
    return Scaling.empty(rows.n_features, True, True).with_rows(rows, weights)
