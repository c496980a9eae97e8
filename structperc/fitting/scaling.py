"""Columns brought to one scale while a model is trained, and what training so learned in the users' own units.

Training sees (x - shift) / spread, so each column has mean 0 and variance 1. Sparse rows are only divided by the spread. Scores are linear
in the weights, so other weights give the same scores to rows in the users' units. The model keeps these (`Features.rescaled`), and
predicting costs nothing more. If weights are no vector, as with kernels, rows are scaled whenever they are read. Sparse rows then become
dense, so both forms of a table train the same model. Names of features stay sparse.

Two kinds of columns have another spread than their standard deviation. A constant column carries nothing beside an intercept: its spread is
infinite, so training sees zeros and its weight in the users' units is 0. A column may nearly always have one value, such as a rare level.
Its other rows would be tens of deviations away. Let a and b be the distances from the mean to the lowest and the highest value. The spread
is at least variance / 2 (1 / a + 1 / b). For two values that is half their difference. It acts only if 1 / a + 1 / b > 2 / deviation.
"""

from __future__ import annotations

import warnings
from functools import cached_property

import attrs
import numpy as np

from structperc.basics.errors import DataError, DataWarning, PluginError, ScaleWarning
from structperc.basics.saved_state import read_array
from structperc.core.column_sums import CONSTANT, ColumnSums, units_with_row
from structperc.core.features import is_constrained
from structperc.core.joined import Joined
from structperc.reading import matrices

IN_CACHE = 1 << 15          # values that are brought to scale together
LOOKED_AT = 1000            # rows that show whether columns differ in scale,
DIFFERENT = 50              # by how much,
FEWEST = 20                 # where there are so many
WILD = 1000                 # deviations of the other rows between a cell and their mean
MOST_DENSE = 1 << 27        # values of sparse rows that become dense: 1 GiB
LARGEST_WEIGHT = 1e30      # above it weights are named where sums overflow
LEAST = 1e-160              # of a smaller deviation the square is 0, or nearly so
ALONE = 8                   # a cell with this share of a column's squares may be wild


@attrs.frozen(eq=False, slots=False)         # with a __dict__: each property is computed once
class Scaling:
    """Mean and spread of each column of all rows that training has seen."""
    # sums: ColumnSums. Exact ones, so nothing here depends on the parts that rows come in.
    # low, high: float64 arrays. The lowest and the highest value.
    # centred: bool. Whether the mean is subtracted.
    # absorbs: bool. Whether an intercept or thresholds do what a constant column would.
    # first: array or CSR array, optional. All rows so far while they are too few to show a wild cell. No file has them.

    sums: ColumnSums
    low: np.ndarray
    high: np.ndarray
    centred: bool
    absorbs: bool
    first: object = None

    @classmethod
    def empty(cls, n_features, centred, absorbs) -> Scaling:
        """That of no rows."""
        zeros = np.zeros(n_features)
        return cls(ColumnSums(n_features), zeros + np.inf, zeros - np.inf, centred, absorbs)

    @classmethod
    def of_moments(cls, n_rows, mean, squares, low, high, centred, absorbs) -> Scaling:
        """The scaling of rows with these moments. Squares are sums of squared distances from the mean."""
        return cls(ColumnSums.of_moments(n_rows, mean, squares), low, high, centred, absorbs)

    @cached_property
    def n_rows(self) -> float:
        """How many rows, or the sum of their weights."""
        return self.sums.n_rows

    @cached_property
    def moments(self) -> tuple:
        """The mean of each column, and the sum of squared differences from it."""
        return self.sums.moments()

    @property
    def mean(self):
        return self.moments[0]

    @property
    def squares(self):
        return self.moments[1]

    @cached_property
    def shift(self):
        return self.mean if self.centred else np.zeros(len(self.mean))

    @cached_property
    def deviation(self):
        """The standard deviation of each column, 0 of constant ones."""
        deviation = np.sqrt(self.squares / self.n_rows)
        return np.where(deviation > CONSTANT * np.abs(self.mean), deviation, 0.0)

    @cached_property
    def spread(self):
        """What a column is divided by: see the module."""
        deviation, mean = self.deviation, self.mean
        with np.errstate(all="ignore"):
            share = deviation / 2
            spread = np.maximum(deviation, deviation / (mean - self.low) * share + deviation / (self.high - mean) * share)
        constant = np.inf if self.absorbs else np.where(mean == 0, np.inf, np.abs(mean))
        return np.where(deviation > 0, spread, constant)

    @cached_property
    def inverse(self):
        """Shift and spread of the way back: a constant column gives what it weighs to the intercept."""
        spread = np.where(self.spread < np.inf, self.spread, 1.0)
        return -self.shift / spread, 1 / spread

    def with_rows(self, rows, sample_weight=None) -> Scaling:
        """The same of more rows."""
        alone = sample_weight is None and rows.n_rows == 1 and self.n_rows >= FEWEST and not rows.sparse
        scaling = self.with_row(rows) if alone else None
        return self.with_all(rows, sample_weight) if scaling is None else scaling

    def with_row(self, rows) -> Scaling | None:
        """The same of one more row, without calls of numpy. None: a value is far from all before, or too large."""
        sums = self.sums.with_rows(rows)
        mean, squares = sums.moments()
        if mean is None:
            return None
        x = np.ascontiguousarray(rows.X[0])
        units = units_with_row(x, self.n_rows, *self.moments, self.low, self.high, mean, squares, self.centred, self.absorbs)
        if units is None:
            return None
        low, high, deviation, spread, back, unit = units
        scaling = Scaling(sums, low, high, self.centred, self.absorbs)
        scaling.__dict__.update(n_rows=self.n_rows + 1, moments=(mean, squares), shift=mean if self.centred else self.shift,
                                deviation=deviation, spread=spread, inverse=(back, unit))
        return scaling

    def with_all(self, rows, sample_weight) -> Scaling:
        """The same of any rows."""
        rows = rows.canonical() if rows.sparse else rows            # entries for one column are summed before they are squared
        with np.errstate(all="ignore"):
            sums = self.sums.with_rows(rows, sample_weight)
            mean, squares = sums.moments()
        if mean is None or not np.isfinite(squares).all():
            if sample_weight is not None and sample_weight.max() > LARGEST_WEIGHT:
                raise DataError(f"sample_weight has {sample_weight.max():.3g}, and its sums overflow; divide all weights by one number.")
            raise matrices.not_finite_entry(rows) or DataError(
                f"column {largest_column(rows)} of X is too large to be squared; divide it by a large number.")
        X = rows_with_weight(rows, sample_weight)
        if not X.shape[0]:
            return self
        seen = X if self.first is None else stacked(self.first, X)
        scaling = Scaling(sums, *with_ends(self.low, self.high, X), self.centred, self.absorbs,
                          seen if sums.n_rows < FEWEST else None)
        warn_of_wild_cells(self, scaling, seen, None if sample_weight is None else row_weights(rows, sample_weight))
        return scaling

    def of(self, rows, sample_weight=None) -> Scaling:
        """That of these rows instead, of which a weight may be missing altogether."""
        return Scaling.empty(len(self.mean), self.centred, self.absorbs).with_rows(rows, sample_weight)

    def joined(self, other) -> Scaling:
        """That of the rows of both."""
        return Scaling(self.sums.joined(other.sums), np.minimum(self.low, other.low), np.maximum(self.high, other.high), self.centred,
                       self.absorbs)

    def applied(self, rows):
        """The rows on one scale, a copy. Where the mean is subtracted, sparse rows become dense."""
        strings, dense = rows.sparse_part, rows.dense_part
        if strings is not None and self.centred:
            if strings.shape[0] * strings.shape[1] > MOST_DENSE:
                raise DataError(f"X is sparse, of shape {strings.shape}. Columns on one scale have no zeros, so these rows need "
                                f"{strings.shape[0] * strings.shape[1] / (1 << 27):.3g} GiB. Pass fewer rows at a time, or train with "
                                f"scale=False.")
            whole = strings.toarray()
            strings, dense = None, whole if dense is None else np.hstack([whole, dense])
        if strings is not None:
            strings = strings.copy()
            strings.data = (strings.data / self.spread[strings.indices]).astype(strings.dtype)
        if dense is not None:
            first = rows.n_features - dense.shape[1]
            dense = on_one_scale(dense, self.shift[first:], self.spread[first:])
        X = strings if dense is None else dense if strings is None else Joined(strings, dense)
        scaled = rows.like(X, rows.offsets, 0, rows.n_rows)
        scaled.restrict(rows.allowed)
        scaled.own = rows if rows.own is None else rows.own
        return scaled

    def state(self):
        """What a model file holds."""
        return self.sums.state() | {"low": self.low, "high": self.high, "centred": np.array(self.centred),
                                    "absorbs": np.array(self.absorbs)}


def restored(state, n_features) -> Scaling:
    """What `Scaling.state` gave."""
    ends = [read_array(state, name, np.float64, (n_features,)) for name in ("low", "high")]
    flags = [read_array(state, name, np.bool_) for name in ("centred", "absorbs")]
    scaling = Scaling(ColumnSums.restored(state, n_features), *ends, *flags)
    if not scaling.n_rows > 0 or scaling.squares is None or not np.isfinite(scaling.squares).all():
        raise DataError("the scaling has no rows, or no squares.")
    return scaling


def scaling_of(wanted, parts, rows, sample_weight):
    """The scaling of the first rows of a fit, or None. "auto" scales dense rows of numbers, and sparse ones that a kernel compares."""
    if not wanted:
        return None
    zeros = np.zeros(rows.n_features)
    refused, stay = "", False
    if rows.objects or not rows.n_features:
        refused = "X is a list of objects, which have no columns of numbers."
    elif is_constrained(parts.features):
        refused = "the weights are constrained, in the units of X."
    else:
        reason = parts.weights.rescaling(zeros, zeros + 1)
        refused = reason if isinstance(reason, str) else ""
        stay = reason is None and (not rows.sparse or parts.reader.feature_name(0) is None)
    if refused and wanted is True:
        raise PluginError(f"scale=True: {refused} Leave it out.")
    if refused or wanted == "auto" and rows.sparse and not stay:
        return None
    absorbs = absorbs_shifts(parts.features, zeros + 1)
    centred = absorbs and (stay or not rows.sparse)
    scaling = Scaling.empty(rows.n_features, centred, absorbs).with_rows(rows, sample_weight)
    return scaling if scaling.n_rows else None


def absorbs_shifts(features, ones) -> bool:
    """Whether scores of rows that are all shifted equally can be kept by other weights."""
    return features.rescaled(np.zeros(features.n_weights), ones, ones) is not None


def rows_with_weight(rows, sample_weight):
    """The rows with a weight."""
    if sample_weight is None:
        return rows.X
    with_weight = row_weights(rows, sample_weight) > 0
    return rows.X if with_weight.all() else rows.X[with_weight]


def with_ends(low, high, X) -> tuple:
    """The lowest and the highest value of each column of these rows too."""
    X = X.tocsr() if not isinstance(X, np.ndarray) else X
    ends = [np.min(X, axis=0), np.max(X, axis=0)] if isinstance(X, np.ndarray) else [
        end.toarray().reshape(-1) for end in (X.min(axis=0), X.max(axis=0))]
    return np.minimum(low, ends[0]), np.maximum(high, ends[1])


def stacked(first, X):
    """The rows of both."""
    parts = [part if isinstance(part, np.ndarray) else part.tocsr() for part in (first, X)]
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.vstack(parts)
    from scipy import sparse

    return sparse.vstack([sparse.csr_array(part) for part in parts], format="csr")


def largest_column(rows) -> int:
    """The column with the largest value."""
    X = rows.X.tocsr() if not isinstance(rows.X, np.ndarray) else rows.X
    return int(np.argmax(np.max(np.abs(X), axis=0) if isinstance(X, np.ndarray) else abs(X).max(axis=0).toarray()))


def row_weights(rows, sample_weight):
    """The weight of each row's example."""
    return sample_weight if rows.offsets is None else np.repeat(sample_weight, np.diff(rows.offsets))


def on_one_scale(X, shift, spread):
    """(X - shift) / spread in float64, rounded to the type of X: block by block, so that no copy of the size of X is made beside it."""
    if X.size <= IN_CACHE:
        return ((X - shift) / spread).astype(X.dtype, order="C", copy=False)
    scaled, step = np.empty(X.shape, X.dtype), max(1, IN_CACHE // max(1, X.shape[1]))
    for start in range(0, len(X), step):
        block = X[start:start + step] - shift
        np.divide(block, spread, out=scaled[start:start + step], casting="same_kind")
    return scaled


def variance_on_one_scale(X, weights) -> float:
    """Variance of all entries of weighted rows together, once training with a kernel has scaled the columns.

    Parameters
    ----------
    X : array or CSR array of shape (n_rows, n_features)
    weights : float64 array of shape (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.plugin_tools import variance_on_one_scale
    >>> variance_on_one_scale(np.array([[0.0], [1000.0]]), np.ones(2))
    1.0
    """
    rows = matrices.read(X)
    scaling = Scaling.empty(rows.n_features, True, True).with_rows(rows, weights)
    mean = (scaling.mean - scaling.shift) / scaling.spread
    return float(((scaling.deviation / scaling.spread) ** 2 + (mean - mean.mean()) ** 2).mean())


def warn_of_wild_cells(before, scaling, X, weights) -> None:
    """Warns if a cell is a thousand deviations from all other rows: its column then hardly differs between these."""
    if scaling.n_rows < FEWEST:
        return
    n_earlier = 0 if before.first is None else before.first.shape[0]
    farthest = np.maximum(scaling.high - scaling.mean, scaling.mean - scaling.low)
    columns = np.flatnonzero(farthest > np.sqrt(scaling.squares / ALONE))
    by_column = X.tocsc() if len(columns) and not isinstance(X, np.ndarray) else X
    for j in columns.tolist():
        values = by_column[:, j] if by_column is X else by_column[:, [j]].toarray()[:, 0]
        values = values.astype(float)
        if before.n_rows >= FEWEST:
            mean, deviation = before.mean[j], before.deviation[j]
        else:
            others = values[np.abs(values - scaling.mean[j]) <= np.sqrt(scaling.squares[j] / ALONE)]
            mean, deviation = (others.mean(), others.std()) if len(others) else (0.0, 0.0)
        wild = np.flatnonzero(np.abs(values - mean) > WILD * deviation) if deviation > CONSTANT * abs(mean) else ()
        if len(wild):
            row = wild[0] - n_earlier
            if row >= 0 and weights is not None:
                row = np.flatnonzero(weights > 0)[row]
            cell = f"X[{row}, {j}]" if row >= 0 else f"column {j} of an earlier row"
            warnings.warn(f"{cell} is {values[wild[0]]:.6g}, but the other rows of column {j} have the mean {mean:.6g} and the "
                          f"standard deviation {deviation:.3g}. Such a cell hides how they differ when columns are scaled. "
                          f"Correct the cell, or drop its row.", ScaleWarning, stacklevel=3)


def warn_of_scales(model, rows) -> None:
    """Warns if one dense column is fifty times as large as another, and steps depend on that."""
    if rows.objects or rows.sparse or rows.n_features < 2 or rows.n_rows < FEWEST:
        return
    X = rows.X[::max(1, rows.n_rows // LOOKED_AT)]
    with np.errstate(all="ignore"):
        size = np.sqrt(np.einsum("ij,ij->j", X, X, dtype=float) / len(X))
        small, large = int(np.argmin(np.where(size > 0, size, np.inf))), int(np.argmax(size))
        ratio = size[large] / size[small]
    zeros = np.zeros(rows.n_features)
    if DIFFERENT <= ratio < np.inf and callable(model.parts.weights.rescaling(zeros, zeros + 1)):
        names = [model.feature_name(column) for column in (large, small)]
        times = f"{ratio:.0f}" if ratio < 1e6 else f"{ratio:.3g}"
        warnings.warn(f"column {names[0]} is {times} times as large as column {names[1]} (root mean squares). Steps follow the large one; "
                      f"train with scale=True.", ScaleWarning, stacklevel=3)


def equal_rows(X) -> bool:
    """Whether all rows are equal: those of CSR entry by entry, without copies of its values."""
    if isinstance(X, np.ndarray):
        return np.array_equal(X[0], X[-1]) and bool((X == X[0]).all())
    if not hasattr(X, "indptr"):
        return False
    size, n = int(X.indptr[1] - X.indptr[0]), len(X.indptr) - 1
    parts = [values[X.indptr[0]:X.indptr[-1]] for values in (X.indices, X.data)]
    if len(parts[0]) != size * n or size and not all(np.array_equal(values[:size], values[-size:]) for values in parts):
        return False
    return not size or all(bool((values.reshape(n, size) == values[:size]).all()) for values in parts)


def warn_of_equal_rows(model, rows, given) -> None:
    """Warns if all rows of a problem with labels are equal as training sees them; `given` are those that came."""
    if rows.objects or rows.n_rows < FEWEST or rows.offsets is not None or model.context.n_labels < 2 or not rows.n_features:
        return
    if not equal_rows(rows.X):
        return
    if equal_rows(given.X):
        reason, remedy = "all rows of X are equal", "Check the columns of X."
    else:
        reason = f"all columns of X vary by less than {CONSTANT:g} of their mean or less than {LEAST:g}, which counts as constant"
        remedy = "Subtract a large mean from a column, and divide a column of tiny numbers by their size."
    warnings.warn(f"{reason}, so no label can be predicted from them. Every row gets the same label, and not always the best one. Of ranks "
                  f"that is the median. {remedy}", DataWarning, stacklevel=3)
