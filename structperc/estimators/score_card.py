"""Score cards: a linear ranker rewritten as whole points that anybody can add up, with the best cut-offs for their sum."""

from __future__ import annotations

import html
import numbers
from typing import TYPE_CHECKING

import attrs
import numpy as np

from structperc import metrics
from structperc.basics.labels import LabelCodes
from structperc.basics.plain_values import labels_noted, noted_labels
from structperc.engine.explanation import Contribution, Explanation, largest_first, side_of
from structperc.errors import DataError, OptionError, shortened
from structperc.estimators.base import compare_columns, declared
from structperc.estimators.keeping import InnerMethods, array_of, listed
from structperc.estimators.rankers import cloned_ranker
from structperc.estimators.targets import as_column
from structperc.estimators.wrapped import WrappedRanker
from structperc.fitting.option import option, positional_option
from structperc.fitting.options import generator
from structperc.pictures import Ruler
from structperc.reading import matrices
from structperc.reading.frames import has_typed_columns

if TYPE_CHECKING:
    from typing_extensions import Self

FORMAT = "structperc score card 1"
MOST_POINTS = 10**9          # of a bin: sums of bins are exact far beyond


@attrs.frozen(eq=False)
class CardColumn:
    """The points of one column: `points[b]` for values from edges[b - 1] to below edges[b]."""

    name: str
    column: int
    edges: np.ndarray
    points: np.ndarray

    def of(self, values):
        """The points of values."""
        return self.points[np.searchsorted(self.edges, values, side="right")]


@declared
class ScoreCard(InnerMethods, WrappedRanker):
    """A linear ranker as a table of whole points: look up each value, add the points, and read the rank off the sum.

    The ranker is trained on standardised columns. Each column is cut at quantiles. The points of a bin are the weight times the
    mean of the bin, from 0 for the lowest bin. They are scaled so that the largest sum is about `max_points`, and rounded.
    The cut-offs of the sum have the least mean absolute error over the training rows, computed exactly.
    See also `PRank`, `CuSumRank` (the rankers) and `OrdinalConformal` (prediction intervals of a ranker).

    Attributes
    ----------
    table_ : list of dict
        A row for each bin of each column with points: "feature", "from" and "below" (None: open), "points", "rows" (the share of
        training rows in it). `pandas.DataFrame(card.table_)` shows it.
    cutoffs_ : int ndarray of shape (K - 1,)
        The rank is above k where the sum is ``cutoffs_[k - 1]`` or more; `thresholds_` is the same as float.
    loss_ : float
        Mean absolute error of the card on the training rows minus that of the ranker, in levels. It is negative if the card is better.
    estimator_ : ranker
        Trained, on scaled columns.
    levels_ : ndarray of shape (K,)
        The labels in the order of ranks; `classes_` has them sorted.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Notes
    -----
    `str(card)` is the table as plain text, `to_dict` a form for JSON. `OrdinalConformal(ScoreCard(PRank()))` predicts intervals.

    Examples
    --------
    >>> from structperc.estimators import PRank, ScoreCard
    >>> X = [[20, 0], [30, 1], [40, 0], [50, 1], [60, 0], [70, 1], [80, 0], [85, 1]]
    >>> card = ScoreCard(PRank(variant="structured", random_state=0), max_points=10, bins=4).fit(X, [1, 1, 1, 2, 2, 3, 3, 3])
    >>> print(card)
    column  value             points
    x[0]    below 37.5             0
            37.5 to below 55       3
            55 to below 72.5       6
            72.5 or more           9
    x[1]    below 1                1
            1 or more              0
    <BLANKLINE>
    label   sum of points
    1       0 to 4
    2       5 to 7
    3       8 to 10
    """

    estimator: object = positional_option(
        kw_only=False, help="the ranker, with one weight per column in `coef_`",
        about="`PRank()`, `IntervalPA()`, a linear `SVOR()`; for two labels also a linear classifier.")
    max_points: int = option(100, "about the largest sum", about="Fewer points are easier to add, and cost accuracy.")
    bins: int = option(5, "bins per column at most", about="A column with no more distinct values has a bin for each.")
    digits: int = option(3, "significant digits of the bins' edges")
    random_state: int | np.random.Generator | np.random.RandomState | None = option(None, "seed of the estimator, if it has none")

    def fit(self, X, y=None) -> Self:
        """Trains the estimator and writes the card.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Dense numbers.
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
            A failed fit leaves it as it was.
        """
        self._check()
        self._refuse_none(X, y)
        rows, (labels, codes) = self._read(X), self._read_labels(y)
        values = rows.X.astype(float)
        if len(values) != len(codes):
            raise DataError(f"y has {len(codes)} labels but X has {len(values)} rows; give one label per row.")
        if len(values) < 2:
            raise DataError(f"n_samples = {len(values)}: a column has no bins before there are two rows.")
        scale = values.std(axis=0)
        scale[scale == 0] = 1
        estimator = cloned_ranker(self.estimator, labels, generator(self.random_state))
        estimator.fit(values / scale, labels[codes - 1])
        names = rows.feature_names or tuple(f"x[{j}]" for j in range(values.shape[1]))
        columns = written(values, names, direction_of(estimator, values.shape[1]) / scale, self.bins, self.max_points, self.digits)
        cutoffs = best_cutoffs(totals_of(columns, values), codes, len(labels), largest_sum(columns) + 1)
        card = {"_columns": columns, "cutoffs_": cutoffs, "levels_": labels, "n_features_in_": values.shape[1],
                "table_": table_of(columns, values), "estimator_": estimator, "_scale": scale}
        ranks, theirs = ranks_of(columns, cutoffs, values), LabelCodes(labels).encode(estimator.predict(values / scale), len(codes))
        card["loss_"] = float(abs(ranks - codes).mean() - abs(theirs - codes).mean())
        self._keep(card, rows.feature_names)
        return self

    def points(self, X):
        """The sum of the points of each row, an int array of shape (n_samples,)."""
        return totals_of(self._known()._columns, self._values(X))

    def latent_score(self, X) -> np.ndarray:
        """`points` as float. Returns a float64 array of shape (n_samples,)."""
        return self.points(X).astype(float)

    def predict(self, X):
        """The labels of rows, by their points only; shape (n_samples,)."""
        return self._known().levels_[ranks_of(self._columns, self.cutoffs_, self._values(X)) - 1]

    def margins(self, X) -> np.ndarray:
        """The points between the sum of each row and the nearest cut-off; inf for a card with one label.
        Returns a float64 array of shape (n_samples,). 0: exactly at a cut-off, from where on the higher label holds.
        """
        return np.abs(self.latent_score(X)[:, None] - self.cutoffs_).min(axis=1, initial=np.inf)

    def explain(self, x) -> Explanation:
        """Why x got its label: the points of each column, on the way from 0 to their sum. The runner-up is behind the nearest cut-off.
        Returns `Explanation`. Its contributions add up to `points`. Its margin is that of `margins`, in points.

        Parameters
        ----------
        x : array-like of shape (n_features,), or data frame of one row
            One row.
        """
        values = self._values(x if hasattr(x, "columns") else np.reshape(x, (1, -1)))
        if len(values) != 1:
            raise DataError(f"x has {len(values)} rows; pass one.")
        total, rank = int(totals_of(self._columns, values)[0]), int(ranks_of(self._columns, self.cutoffs_, values)[0])
        if not len(self.cutoffs_):
            raise DataError("this card has one label, so there is no runner-up.")
        cutoff = int(min(self.cutoffs_, key=lambda cutoff: abs(total - cutoff)))
        reached = total >= cutoff
        rival, atom = int(np.searchsorted(self.cutoffs_, cutoff - reached, side="right")), "sum of points"
        terms = [Contribution(atom, column.name, points, side_of(column.name, column.column, points), column.column)
                 for column in self._columns if (points := float(column.of(values[:, column.column])[0]))]
        labels = [str(label) for label in self.levels_.tolist()]
        ruler = Ruler(labels, self.cutoffs_.astype(float).tolist(), float(total), rank - 1, rival, start=0.0)
        return Explanation(self.levels_[rank - 1], self.levels_[rival], float(abs(total - cutoff)), {atom: float(total)},
                           largest_first(terms), {}, ruler, score=float(total))

    def loss(self, X, y):
        """By how much the card's mean absolute error on these rows is above the ranker's, in ranks. Returns a float. In levels.

        Parameters
        ----------
        y : sequence of labels
            Right labels.
        """
        if "estimator_" not in vars(self._known()):
            raise DataError("this card was read from a dict, without the ranker that it was made from; fit it to compare both.")
        card, ranker = (metrics.mean_absolute_error(as_column(y), labels, self.levels_)
                        for labels in (self.predict(X), self.estimator_.predict(self._values(X) / self._scale)))
        return card - ranker

    @property
    def thresholds_(self):
        return self._known().cutoffs_.astype(float)

    def to_text(self) -> str:
        """The card as plain text: a line for each bin, then a line for each label that a sum can have."""
        self._known()
        lines, last = [("column", "value", "points")], None
        for row in self.table_:
            lines.append(("" if row["feature"] == last else row["feature"], bounds(row["from"], row["below"]), str(row["points"])))
            last = row["feature"]
        most = largest_sum(self._columns)
        starts, ends = [0, *self.cutoffs_.tolist()], [*self.cutoffs_.tolist(), most + 1]
        sums = [("label", "sum of points", "")]
        for label, low, end in zip(self.levels_.tolist(), starts, ends, strict=True):
            if low < end and low <= most:
                sums.append((str(label), f"{low}" if end == low + 1 else f"{low} to {end - 1}", ""))
        widths = [max(len(line[i]) for line in lines + sums) for i in range(3)]
        return "\n".join(f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}".rstrip() for a, b, c in [*lines, ("", "", ""), *sums])

    def __str__(self):
        return self.to_text() if "levels_" in vars(self) else repr(self)

    def _repr_html_(self):
        points = f"<pre>{html.escape(self.to_text())}</pre>" if "levels_" in vars(self) else ""
        return super()._repr_html_() + points

    def to_dict(self) -> dict:
        """The card in lists, numbers and strings, as for JSON; `from_dict` reads it. The ranker behind it is not in it. Returns a dict."""
        self._known()
        names = self.feature_names_in_.tolist() if "feature_names_in_" in vars(self) else None
        return {"format": FORMAT, "classes": noted_labels(self.levels_), "n_features": self.n_features_in_, "feature_names": names,
                "cutoffs": self.cutoffs_.tolist(), "table": self.table_,
                "columns": [{"name": c.name, "column": c.column, "edges": c.edges.tolist(), "points": c.points.tolist()}
                            for c in self._columns]}

    @classmethod
    def from_dict(cls, card):
        """A card that predicts, from what `to_dict` returned. Returns `ScoreCard`.

        Parameters
        ----------
        card : dict
            As `to_dict` returns it.

        Raises
        ------
        DataError
            The dict is no score card, or a damaged one.
        """
        made = cls(None)
        made._keep(*read_card(card))
        return made

    def _fitted(self):
        if "_scale" not in vars(self):
            return {}
        return {"card": self.to_dict(), "scale": listed(self._scale), "loss": self.loss_}

    def _revive(self, trained, fitted):
        self._check()
        card, names = read_card(fitted["card"])
        scale = array_of(fitted["scale"], above=0)
        if len(scale) != card["n_features_in_"]:
            raise DataError(f"it has {len(scale)} scales of {card['n_features_in_']} columns")
        self._keep({**card, "estimator_": trained, "_scale": scale, "loss_": float(fitted["loss"])}, names)

    def _trained(self):
        if "estimator_" not in vars(self._known()):
            raise DataError("this card was read from a dict, without the ranker that it was made from; keep what to_dict returns.")
        return self.estimator_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def _keep(self, card, names):
        for name in ("feature_names_in_", "estimator_", "_scale", "loss_"):
            vars(self).pop(name, None)
        vars(self).update(card if names is None else {**card, "feature_names_in_": np.array(names, dtype=object)})

    def _check(self):
        for name, low, high in (("max_points", 1, MOST_POINTS), ("bins", 2, np.inf), ("digits", 1, np.inf)):
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or isinstance(value, bool) or not low <= value <= high:
                raise OptionError(f"{name}={shortened(value)}; expected a whole number from {low}"
                                  f"{'' if high == np.inf else f' to {high}'}.")

    def _read(self, X):
        rows = matrices.read_alone(X)
        if rows.sparse:
            raise DataError("X is sparse, but a score card looks values up in whole columns; pass X.toarray().")
        if has_typed_columns(X):
            raise DataError("X has columns of categories, dates or durations, but a score card has points for numbers. Make columns of 0 "
                            "and 1 of categories, for instance by pandas.get_dummies.")
        if rows.objects or rows.offsets is not None:
            raise DataError("a score card looks values up in columns. X must be a matrix or a data frame with a row for each example.")
        matrices.refuse_not_finite(rows)
        return rows

    def _values(self, X):
        """The rows of X as floats, of the columns that the card was made for."""
        names = vars(self._known()).get("feature_names_in_")
        compare_columns(self, X, self.n_features_in_, names is not None, 5)
        rows = self._read(X)
        if rows.n_features != self.n_features_in_:
            raise DataError(f"X has {rows.n_features} features, but ScoreCard is expecting {self.n_features_in_} features as input.")
        if names is not None and rows.feature_names is not None and list(rows.feature_names) != names.tolist():
            j = next(j for j, (now, then) in enumerate(zip(rows.feature_names, names, strict=True)) if now != then)
            raise DataError(f"column {j} of X is {rows.feature_names[j]!r}, but the card has {names[j]!r} there; pass the same columns in "
                            f"the same order.")
        return rows.X.astype(float)


def read_card(card):
    """The attributes of a card, and the names of its columns, from what `to_dict` returned."""
    try:
        if card["format"] != FORMAT:
            raise ValueError(f"its format is {card['format']!r}")
        n_features, names, labels = int(whole([card["n_features"]])[0]), card["feature_names"], labels_noted(card["classes"])
        columns = [CardColumn(str(c["name"]), int(whole([c["column"]])[0]), np.asarray(c["edges"], dtype=float), whole(c["points"]))
                   for c in card["columns"]]
        cutoffs = whole(card["cutoffs"])
        for c in columns:
            if not (0 <= c.column < n_features and c.edges.ndim == 1 and c.points.shape == (len(c.edges) + 1,)
                    and np.isfinite(c.edges).all() and (np.diff(c.edges) > 0).all() and (abs(c.points) <= MOST_POINTS).all()):
                raise ValueError(f"its column {c.name!r} does not fit")
        if cutoffs.shape != (len(labels) - 1,) or (np.diff(cutoffs) < 0).any():
            raise ValueError("its cut-offs are not one between each two labels, in order")
        if names is not None and (len(names) != n_features or not all(isinstance(name, str) for name in names)):
            raise ValueError(f"it names {len(names)} of {n_features} columns")
        bins = [row for c in columns for row in bins_of(c)]
        table = [dict(row) for row in card["table"]]
        if [{**row, "rows": None} for row in table] != bins or not all(0 <= float(row["rows"]) <= 1 for row in table):
            raise ValueError("its table is not that of its columns")
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise DataError(f"this is no score card as to_dict makes it: {error if type(error) is ValueError else repr(error)}.") from None
    return {"_columns": columns, "cutoffs_": cutoffs, "levels_": labels, "n_features_in_": n_features, "table_": table}, names


def direction_of(estimator, n_features):
    """One weight for each column."""
    coef = np.asarray(getattr(estimator, "coef_", np.nan), dtype=float)
    if coef.size != n_features or coef.ndim > 2:
        what = "no coef_" if coef.ndim == 0 else f"a coef_ of shape {coef.shape}"
        raise OptionError(f"{type(estimator).__name__} has {what}. A score card needs a ranker with one weight for each of the "
                          f"{n_features} columns, such as PRank().")
    return coef.reshape(-1)


def written(values, names, direction, n_bins, max_points, digits):
    """The columns of a card: bins, and whole points in proportion to direction * mean of the bin."""
    cut = [(j, *binned(values[:, j], n_bins, digits)) for j in range(values.shape[1])]
    worth = [direction[j] * (means - means.min() if direction[j] > 0 else means - means.max()) for j, _, means in cut]
    largest = sum(w.max() for w in worth)
    columns = []
    for (j, edges, _), w in zip(cut, worth, strict=True):
        points = np.rint(w * (max_points / largest if largest > 0 else 0)).astype(np.int64)
        differ = points[1:] != points[:-1]                  # neighbours of equal points are one bin
        if differ.any():
            columns.append(CardColumn(names[j], j, edges[differ], points[np.append(True, differ)]))
    return columns


def binned(column, n_bins, digits):
    """The edges between the bins of a column, none of them empty, and the means of the bins."""
    distinct = np.unique(column)
    if len(distinct) <= n_bins:
        return distinct[1:], distinct
    quantiles = np.quantile(column, np.arange(1, n_bins) / n_bins)
    edges = np.unique([float(f"{q:.{digits}g}") for q in quantiles])
    while True:
        sizes = np.bincount(np.searchsorted(edges, column, side="right"), minlength=len(edges) + 1)
        if sizes.all():
            break
        edges = np.delete(edges, max(int(np.argmin(sizes)) - 1, 0))         # of an empty bin and its neighbour
    return edges, np.bincount(np.searchsorted(edges, column, side="right"), weights=column) / sizes


def totals_of(columns, values):
    """The sums of points, an int64 array."""
    return sum((c.of(values[:, c.column]) for c in columns), np.zeros(len(values), dtype=np.int64))


def largest_sum(columns) -> int:
    return sum(int(c.points.max()) for c in columns)


def ranks_of(columns, cutoffs, values):
    return 1 + np.searchsorted(cutoffs, totals_of(columns, values), side="right")


def best_cutoffs(totals, ranks, n_ranks, never):
    """Whole cut-offs of least mean absolute error over the rows, K - 1 of them in order. Ties: those with the lowest levels."""
    # The map from sums to ranks is a nondecreasing one of least cost: V[g][k] = cost of rank k at sum g + min over k' <= k of V[g - 1][k'].
    sums, place = np.unique(totals, return_inverse=True)
    counts = np.zeros((len(sums), n_ranks))
    np.add.at(counts, (place, ranks - 1), 1)
    costs = counts @ abs(np.arange(n_ranks)[:, None] - np.arange(n_ranks))
    value = np.empty_like(costs)
    value[0] = costs[0]
    for g in range(1, len(sums)):
        value[g] = costs[g] + np.minimum.accumulate(value[g - 1])
    best, k = np.empty(len(sums), dtype=np.int64), n_ranks
    for g in range(len(sums) - 1, -1, -1):
        k = int(np.argmin(value[g][:k])) + 1
        best[g] = k
    cutoffs = []
    for k in range(1, n_ranks):
        at_most = np.searchsorted(best, k, side="right")
        cutoffs.append(0 if at_most == 0 else never if at_most == len(sums) else int(sums[at_most - 1] + sums[at_most] + 1) // 2)
    return np.array(cutoffs, dtype=np.int64)


def table_of(columns, values):
    """A dict for each bin."""
    rows = []
    for c in columns:
        shares = np.bincount(np.searchsorted(c.edges, values[:, c.column], side="right"), minlength=len(c.points)) / len(values)
        rows += [{**row, "rows": float(share)} for row, share in zip(bins_of(c), shares, strict=True)]
    return rows


def bins_of(column):
    """A dict for each bin of a column, without its share of the rows."""
    ends = [None, *column.edges.tolist(), None]
    return [{"feature": column.name, "from": low, "below": end, "points": int(points), "rows": None}
            for low, end, points in zip(ends[:-1], ends[1:], column.points, strict=True)]


def bounds(low, end) -> str:
    """A bin in words."""
    if low is None:
        return f"below {number_text(end)}"
    return f"{number_text(low)} or more" if end is None else f"{number_text(low)} to below {number_text(end)}"


def number_text(number) -> str:
    return f"{number:g}" if float(f"{number:g}") == number else repr(number)


def whole(numbers_given):
    """Whole numbers as an int64 array."""
    array = np.asarray(numbers_given)
    if array.size and (array.dtype.kind not in "iu" or array.max() > np.iinfo(np.int64).max):
        raise ValueError(f"{numbers_given!r:.60} are no whole numbers")
    return array.astype(np.int64)
