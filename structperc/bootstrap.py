"""How much each column of a model of ordered labels weighs, with bootstrap intervals."""

from __future__ import annotations

import copy
import warnings
import zlib

import attrs
import numpy as np

from structperc.core.errors import DataError, NotFittedError, OptionError, PluginError
from structperc.core.outputs import is_ordered
from structperc.engine.dependence import Dependence
from structperc.engine.engine import Engine
from structperc.engine.model_file import OBSERVES
from structperc.engine.options import engine_options
from structperc.engine.references import has_log_odds, one_hot_groups
from structperc.engine.scaling import Scaling
from structperc.engine.separation import separating
from structperc.engine.trainers import CONVERGED, EARLY_STOPPED
from structperc.extras import require
from structperc.pictures.markup import aligned, block, element, table
from structperc.pipelines import carried, column_names, unwrapped
from structperc.reading.groups import numbers_of
from structperc.reading.matrices import sample_weights

__all__ = ["Effects", "effects"]

SCALES = ("direction", "log-odds")
MOST_DRAWS = 1000           # of weights for one refit
MOST_TESTED = 4000          # columns that are tested for dependences, whose cost grows with their cube
BETWEEN = 1e-9              # correlations that differ by less are equal
PART = 1e-6                 # of the largest weight of a direction: columns with less have no part in it
DIRECTION = ("Relative weights per standard deviation; their squares add up to 1. An interval shows how much a weight varies over samples "
             "({level:g} % bootstrap interval of {n_boot} refits).")
LOG_ODDS = ("Per standard deviation, the log odds of a higher rank rise by the effect ({level:g} % bootstrap interval of {n_boot} "
            "refits){of}.")
REFERENCE, CONSTANT, NO_ROWS, DEPENDENT, ENDLESS = "reference", "constant", "no rows", "dependent", "no finite effect"
MEANING = {
    REFERENCE: "other levels are compared with this one, whose effect is 0",
    NO_ROWS: "no row has this level, so nothing is known of its effect",
    DEPENDENT: "these columns depend on each other, so the data determine only some of their sums and differences",
    ENDLESS: "the column separates some ranks from all others without error, so that the likelihood has no maximum",
}


@attrs.frozen(eq=False, repr=False)
class Effects:
    """Effects of columns with confidence intervals, as `effects` returns them.

    Attributes
    ----------
    columns : list of str
        Names of the columns of X.
    effect, lower, upper : float64 arrays of shape (n_features,)
        The effect in the model itself, and the ends of its interval over the refits.
    scale : {"direction", "log-odds"}
        Unit of the effects.
    level : float
        Level of the intervals.
    n_boot : int
        Number of refits.
    note : str
        Meaning of the numbers, for a caption.
    remarks : list of str
        What the data leave open about a column, an empty text for most. "reference": other levels of its column are compared with it.
        "no rows": a level without rows. "constant": a column with one value. "dependent": a column that depends on others.
        "no finite effect": it separates some ranks from all others, so that log odds grow without end.

    Examples
    --------
    >>> import numpy as np
    >>> import structperc
    >>> from structperc.estimators import PRank
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(60, 2))
    >>> y = 1 + (X[:, 0] > 0)
    >>> table = structperc.effects(PRank(random_state=0).fit(X, y), X, y, n_boot=39, random_state=0)
    >>> table.scale, bool(table.effect[0] > table.effect[1])
    ('direction', True)
    """

    columns: list
    effect: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    scale: str
    level: float
    n_boot: int
    note: str
    remarks: list = attrs.field(factory=list)

    def rows(self) -> list[tuple]:
        """The table as tuples.

        Returns
        -------
        list of (str, float, float, float)
            Column, effect, lower and upper end.
        """
        return list(zip(self.columns, *(values.tolist() for values in (self.effect, self.lower, self.upper)), strict=True))

    def cells(self) -> list[tuple]:
        """The table as texts: column, effect, lower and upper end, and the remarks if there are any.

        Returns
        -------
        list of tuple of str
        """
        cells = [(name, *(f"{value:+.3f}" for value in values)) for name, *values in self.rows()]
        return [(*row, remark) for row, remark in zip(cells, self.remarks, strict=True)] if self.has_remarks else cells

    def head(self) -> tuple:
        """The names of the columns of `cells`.

        Returns
        -------
        tuple of str
        """
        return ("column", "effect", "lower", "upper", *(["remark"] if self.has_remarks else []))

    @property
    def has_remarks(self) -> bool:
        """Whether there is a remark on some column."""
        return any(self.remarks)

    def notes(self) -> list[str]:
        """The sentences below the table: the note, and what the remarks mean.

        Returns
        -------
        list of str
        """
        return [self.note, *(f"{remark}: {meaning}." for remark, meaning in MEANING.items() if remark in self.remarks)]

    def __repr__(self):
        return "\n".join([*aligned([self.head(), *self.cells()]), *self.notes()])

    def to_frame(self):
        """The table as a pandas DataFrame, indexed by column, with remarks if there are any.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        MissingExtra
            If pandas is not installed.
        """
        numbers = {"effect": self.effect, "lower": self.lower, "upper": self.upper}
        return require("pandas", "to_frame", "cli").DataFrame(
            numbers | ({"remark": self.remarks} if self.has_remarks else {}), index=self.columns)

    def plot(self, ax=None):
        """Draw effects as dots and intervals as lines.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Default: a new figure.

        Returns
        -------
        matplotlib Axes
        """
        n = len(self.columns)
        if ax is None:
            ax = require("matplotlib.pyplot", "a picture", "plot").subplots(figsize=self.size(), layout="constrained")[1]
        places = np.arange(n)[::-1]
        ends = np.array([self.effect, self.lower, self.upper, np.zeros(n)])
        finite = ends[np.isfinite(ends)]
        room = 0.1 * (np.ptp(finite) or 1.0)
        effect, lower, upper = np.clip(ends[:3], finite.min() - room, finite.max() + room)         # infinite ones end at the frame
        ax.hlines(places, lower, upper, color="black", linewidth=1.5)
        ax.plot(effect[np.isfinite(self.effect)], places[np.isfinite(self.effect)], linestyle="none", marker="o", color="#0b6e8f")
        ax.axvline(0, color="black", linewidth=0.8, linestyle=":")
        ax.set_yticks(places, self.columns)
        for text in ax.get_yticklabels():
            text.set_parse_math(False)
        unit = "relative weight" if self.scale == "direction" else "log odds of a higher rank"
        ax.set_xlabel(f"{unit} per standard deviation, {100 * self.level:g} % bootstrap interval")
        ax.spines[["top", "right"]].set_visible(False)
        return ax

    def size(self) -> tuple[float, float]:
        """Width and height of a figure for `plot`.

        Returns
        -------
        (float, float)
            Inches.
        """
        return 6.5, 1.4 + 0.3 * len(self.columns)

    def html(self) -> str:
        """The table as HTML, as notebooks show it.

        Returns
        -------
        str
        """
        return self._repr_html_()

    def _repr_html_(self):
        cells = table(self.cells(), self.head(), numbers=(1, 2, 3))
        return block(cells, *(element("p", note, class_="quiet") for note in self.notes()))


def effects(model, X, y, groups=None, n_boot=199, level=0.95, scale="direction", random_state=None, *, sample_weight=None) -> Effects:
    """Effect sizes with bootstrap confidence intervals: the weight of each column per standard deviation.

    Each refit gives every example a weight drawn from Poisson(1) and visits the examples in a new random order. Standard deviations are
    those of X in all refits. Draws without a weight for some label of y are repeated, so all refits have the same labels. An interval
    leaves out refits in which its column is constant. Cost: n_boot times that of `fit`.

    Effects of a one-hot group are differences from a reference level. `remarks` has what the data leave open, for up to 4000 columns.
    Neither the order of examples nor that of levels changes the draws.

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
    scale : {"direction", "log-odds"}, default "direction"
        "direction": w * sd / ||w * sd||, whose squares sum to 1. It suits every linear model, because the length of w has no unit.
        "log-odds": w * sd, for update="logistic" and trainer="cumulative-logit".
    random_state : None, int, numpy Generator, default None
        Seed of weights and orders. The same seed gives the same table.
    sample_weight : array of shape (n_examples,), optional
        The weights that the model was trained with.

    Returns
    -------
    Effects
        A constant column has the effect 0 and the interval (0, 0). An effect in log odds without a maximum is infinite, and so is its
        interval.

    Raises
    ------
    PluginError
        If the model has no single direction, or no log odds.
    OptionError
        If a value is out of range.
    DataError
        If X or y differs in form from the training data.

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
    before, last = unwrapped(model)
    last, X = carried(model, X)
    engine = last if isinstance(last, Engine) else getattr(last, "engine_", None)
    if not isinstance(engine, Engine):
        raise NotFittedError(f"effects needs a trained engine or estimator of structperc, but this {type(last).__name__} has no engine; "
                             f"call fit first.")
    check(engine, n_boot, level, scale)
    rows = engine.model_.read(X)
    weights = sample_weights(sample_weight, rows.n_examples)
    columns = moments(rows, weights)
    sd = columns.deviation
    low, high = ends_of(engine, rows, y)
    clusters = in_order_of_content(clusters_of(groups, rows.n_examples), content(engine.model_, rows, sd, low, high, weights))
    exact = np.where(low == high, low, 0)
    groups = one_hot_groups(engine.model_.parts.reader, columns.mean)
    remarks = remarks_on(engine, rows, low, high, weights, groups)
    effect = scaled(engine, sd, scale, groups)
    if scale == "log-odds":
        effect[remarks == ENDLESS] = np.copysign(np.inf, effect[remarks == ENDLESS])
    random = np.random.default_rng(random_state)
    again, drawn = untrained(engine), np.empty((n_boot, len(sd)))
    for b in range(n_boot):
        own = draw(random, clusters, exact, weights)
        again.random_state = int(random.integers(2**31))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")             # the fit of the model has given them
            drawn[b] = scaled(again.fit(X, y, sample_weight=own), sd, scale, groups)
        drawn[b, silent(rows, own, groups) & (sd > 0)] = np.nan
    lower, upper = intervals(drawn, level)
    endless = np.isinf(effect)
    lower[endless], upper[endless] = -np.inf, np.inf
    names = None if before is None else column_names(before, last)
    names = [engine.model_.feature_name(j) for j in range(len(sd))] if names is None else list(map(str, names))
    return Effects(names, effect, lower, upper, scale, float(level), int(n_boot), note_of(engine, scale, level, n_boot),
                   remarks.tolist())


def intervals(drawn, level):
    """The ends of the intervals over the refits that say something of a column; nan: the others. Without any: no ends."""
    ends = np.empty((2, drawn.shape[1]))
    for j, values in enumerate(drawn.T):
        values = np.sort(values[~np.isnan(values)])
        rank = max(1, int(np.floor((len(values) + 1) * (1 - level) / 2 + 1e-9)))
        ends[:, j] = (values[rank - 1], values[len(values) - rank]) if len(values) else (-np.inf, np.inf)
    return ends


def silent(rows, weights, groups):
    """The columns that are constant in the rows with a weight, and the levels of which the reference is."""
    constant = moments(rows, weights).deviation == 0
    for group in groups:
        constant[group.columns] |= constant[group.reference]
    return constant


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


def check(engine, n_boot, level, scale) -> None:
    """Raises an error for models without effects."""
    if scale not in SCALES:
        raise OptionError(f"scale={scale!r}; expected 'direction' or 'log-odds'.")
    if not (isinstance(level, (int, float)) and 0 < level < 1):
        raise OptionError(f"level={level!r}; expected a number between 0 and 1, such as 0.95.")
    least = int(np.ceil(2 / (1 - level) - 1 - 1e-9))
    if not isinstance(n_boot, (int, np.integer)) or isinstance(n_boot, bool) or n_boot < least:
        raise OptionError(f"n_boot={n_boot!r}; an interval of level {level:g} needs a whole number of refits, at least {least}.")
    parts = engine.parts_
    if not (is_ordered(parts.outputs)):
        raise PluginError(f"effects are those of ordered labels, and {engine.problem!r} predicts other outputs; use 'prank' or "
                          f"'interval-pa'.")
    if parts.weights.vector() is None or np.shape(getattr(engine, "coef_", None)) != (engine.model_.context.n_features,):
        raise PluginError(f"effects needs one direction for all ranks. This model of {engine.problem!r} has no such coef_; use "
                          f"'prank' or 'interval-pa' without a kernel.")
    if scale == "log-odds" and not has_log_odds(engine.model_):
        raise PluginError("scale='log-odds' needs update='logistic' or trainer='cumulative-logit', since the weights of other rules have "
                          "no unit; leave it out.")


def moments(rows, weights) -> Scaling:
    """Means and standard deviations of columns; 0 of constant ones."""
    return Scaling.empty(rows.n_features, True, True).with_rows(rows, weights)


def clusters_of(groups, n) -> np.ndarray:
    """The number of each example's group, from 0."""
    return np.arange(n) if groups is None else numbers_of(groups, n)


def content(model, rows, sd, low, high, weights) -> np.ndarray:
    """A number of each example by its cells, label and weight. Neither its place nor order and units of columns change it.

    Columns count by their correlation with the labels. Their names decide between columns that are equal in this.
    """
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


def ends_of(engine, rows, y):
    """The lowest and the highest code of each example's label, from 1."""
    gold = engine.parts_.outputs.encode(y, rows)
    codes = np.asarray(gold.values).reshape(len(gold), -1)
    if len(codes) != rows.n_examples:
        raise DataError(f"X has {rows.n_examples} examples and y has {len(codes)}; expected one output for each example.")
    return codes[:, 0].astype(int), codes[:, -1].astype(int)


def untrained(engine) -> Engine:
    """An engine with the same options and no observers, which visits weighted examples in random orders."""
    options = engine_options(engine)
    loaded = engine.loaded_plugins[2:]
    plugins = [copy.deepcopy(argument) for argument, plugin in zip(engine.plugins, loaded, strict=True) if plugin.hooks != OBSERVES]
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


def scaled(engine, sd, scale, groups) -> np.ndarray:
    """The effects of one model."""
    effects, errors = np.array(engine.coef_, dtype=float), getattr(engine, "standard_errors_", None)
    endless = np.zeros(len(sd), dtype=bool) if errors is None or scale == "direction" else np.isinf(errors[:len(sd)])
    for group in groups:
        effects[group.columns] -= effects[group.reference]
        endless[group.columns] |= endless[group.reference]
        endless[group.reference] = False
    effects = effects * sd + 0.0                # no -0
    effects[endless] = np.copysign(np.inf, effects[endless])
    length = np.sqrt((effects**2).sum())
    return effects / length if scale == "direction" and length else effects


def penalty_of(engine) -> float:
    """The penalty of the weights."""
    return engine.plugin_options.get("penalty", 0)


def note_of(engine, scale, level, n_boot) -> str:
    """What the numbers mean."""
    of = "" if engine.status_ == CONVERGED else ", of the model that has not converged"
    of = ", of the penalised model" if penalty_of(engine) else of
    return (DIRECTION if scale == "direction" else LOG_ODDS).format(level=100 * level, n_boot=n_boot, of=of)
