"""Columns brought to one scale while a model is trained, and what training so learned in the users' own units.

Training sees (x - shift) / spread, so each column has mean 0 and variance 1. Sparse rows are only divided by the spread. Scores are linear
in the weights, so other weights give the same scores to rows in the users' units. The model keeps these (`Features.rescaled`), and
predicting costs nothing more. If weights are no vector, as with kernels, rows are scaled whenever they are read.
"""

from __future__ import annotations

import warnings
from functools import cached_property

import attrs
import numpy as np

from structperc.core.column_sums import CONSTANT, moments_with_row
from structperc.core.errors import DataError, PluginError, ScaleWarning
from structperc.core.features import is_constrained
from structperc.core.joined import Joined
from structperc.core.saved_state import read_array
from structperc.reading import matrices

AT_ONCE = 1 << 20           # values whose squares are added up together
IN_CACHE = 1 << 15          # values that are brought to scale together
LOOKED_AT = 1000            # rows that show whether columns differ in scale,
DIFFERENT = 50              # by how much,
FEWEST = 20                 # where there are so many


@attrs.frozen(eq=False, slots=False)         # with a __dict__: each property is computed once
class Scaling:
    """Mean and spread of each column of all rows that training has seen.

    Attributes
    ----------
    n_rows : float
        How many rows, or the sum of their weights.
    mean, squares : float64 arrays
        Of squares: the sum of the squared differences from the mean.
    centred : bool
        Whether the mean is subtracted.
    """

    n_rows: float
    mean: np.ndarray
    squares: np.ndarray
    centred: bool

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
        """What a column is divided by: its standard deviation, 1 of constant ones."""
        deviation = self.deviation
        return np.where(deviation > 0, deviation, 1.0)

    @cached_property
    def inverse(self):
        """Shift and spread of the way back."""
        return -self.shift / self.spread, 1 / self.spread

    def with_rows(self, rows, sample_weight=None) -> Scaling:
        """The same of more rows."""
        if sample_weight is None and rows.n_rows == 1 and self.n_rows and not rows.sparse:
            moments = moments_with_row(rows.X[0], self.n_rows, self.mean, self.squares, self.centred)
            if moments is not None:
                mean, squares, deviation, spread, *inverse = moments
                scaling = Scaling(self.n_rows + 1, mean, squares, self.centred)
                scaling.__dict__.update(shift=mean if self.centred else self.shift, deviation=deviation, spread=spread, inverse=inverse)
                return scaling
        X, weights = weighted_rows(rows, sample_weight)
        scaling, n = self, X.shape[0]
        step = n if rows.dense_part is None else max(1, AT_ONCE // rows.dense_part.shape[1])
        for start in range(0, n, max(1, step)):
            block, its = (X, weights) if step >= n else (X[start:start + step], None if weights is None else weights[start:start + step])
            scaling = scaling.with_block(*(of_sparse(block.tocsr(), its) if rows.sparse else of_dense(block, its)))
        if not (np.isfinite(scaling.mean).all() and np.isfinite(scaling.squares).all()):
            raise matrices.not_finite_entry(rows) or DataError(
                f"column {int(np.argmax(~np.isfinite(scaling.squares)))} of X is too large to be squared; divide it by a large number.")
        return scaling

    def of(self, rows, sample_weight=None) -> Scaling:
        """That of these rows instead, of which a weight may be missing altogether."""
        zeros = np.zeros(len(self.mean))
        return Scaling(0.0, zeros, zeros, self.centred).with_rows(rows, sample_weight)

    def with_block(self, n_rows, mean, squares) -> Scaling:
        """Put together with another block of rows (Chan, Golub and LeVeque 1983)."""
        total = self.n_rows + n_rows
        if not n_rows:
            return self
        with np.errstate(all="ignore"):
            apart = mean - self.mean
            return Scaling(total, self.mean + apart * (n_rows / total),
                           self.squares + squares + apart**2 * (self.n_rows * n_rows / total), self.centred)

    def applied(self, rows):
        """The rows on one scale, a copy."""
        strings, dense = rows.sparse_part, rows.dense_part
        if strings is not None:
            strings = strings.copy()
            strings.data = (strings.data / self.spread[strings.indices]).astype(strings.dtype)
        if dense is not None:
            first = rows.n_features - dense.shape[1]
            dense = on_one_scale(dense, self.shift[first:], self.spread[first:])
        X = strings if dense is None else dense if strings is None else Joined(strings, dense)
        scaled = rows.like(X, rows.offsets, 0, rows.n_rows)
        scaled.restrict(rows.allowed)
        return scaled

    def state(self):
        """What a model file holds."""
        return {"n_rows": np.array(self.n_rows, dtype=float), "mean": self.mean, "squares": self.squares, "centred": np.array(self.centred)}


def restored(state, n_features) -> Scaling:
    """What `Scaling.state` gave."""
    return Scaling(read_array(state, "n_rows", np.float64, low=np.nextafter(0, 1)), read_array(state, "mean", np.float64, (n_features,)),
                   read_array(state, "squares", np.float64, (n_features,), low=0), read_array(state, "centred", np.bool_))


def scaling_of(wanted, parts, rows, sample_weight):
    """The scaling of the first rows of a fit, or None.

    Parameters
    ----------
    wanted : bool or "auto"
        "auto": of dense rows of numbers. True raises an error for rows that cannot be scaled.
    parts : Parts
    rows : Rows
    sample_weight : float64 array or None
    """
    if not wanted or wanted == "auto" and rows.sparse:
        return None
    zeros = np.zeros(rows.n_features)
    refused = ""
    if rows.objects or not rows.n_features:
        refused = "X is a list of objects, which have no columns of numbers."
    elif is_constrained(parts.features):
        refused = "the weights are constrained, in the units of X."
    elif isinstance(reason := parts.weights.rescaling(zeros, zeros + 1), str):
        refused = reason
    if refused and wanted is True:
        raise PluginError(f"scale=True: {refused} Leave it out.")
    if refused:
        return None
    centres = not rows.sparse and absorbs_shifts(parts.features, zeros + 1)
    scaling = Scaling(0.0, zeros, zeros, centres).with_rows(rows, sample_weight)
    return scaling if scaling.n_rows else None


def absorbs_shifts(features, ones) -> bool:
    """Whether scores of rows that are all shifted equally can be kept by other weights."""
    return features.rescaled(np.zeros(features.n_weights), ones, ones) is not None


def weighted_rows(rows, sample_weight):
    """The rows with a weight, and a weight for each, or None where all are 1."""
    if sample_weight is None:
        return rows.X, None
    weights = sample_weight if rows.offsets is None else np.repeat(sample_weight, np.diff(rows.offsets))
    kept = weights > 0
    X, weights = (rows.X, weights) if kept.all() else (rows.X[kept], weights[kept])
    return X, None if (weights == 1).all() else weights


def of_dense(X, weights):
    """Number, mean and sum of squared differences of some rows."""
    n = len(X) if weights is None else float(weights.sum())
    if not n:
        return 0, None, None
    with np.errstate(all="ignore"):
        mean = X.mean(axis=0, dtype=float) if weights is None else weights @ X / n
        apart = X - mean
        apart *= apart
        return n, mean, apart.sum(axis=0) if weights is None else weights @ apart


def on_one_scale(X, shift, spread):
    """(X - shift) / spread in float64, rounded to the type of X: block by block, so that no copy of the size of X is made beside it."""
    if X.size <= IN_CACHE:
        return ((X - shift) / spread).astype(X.dtype, copy=False)
    scaled, step = np.empty(X.shape, X.dtype), max(1, IN_CACHE // max(1, X.shape[1]))
    for start in range(0, len(X), step):
        block = X[start:start + step] - shift
        np.divide(block, spread, out=scaled[start:start + step], casting="same_kind")
    return scaled


def of_sparse(csr, weights):
    """The same of sparse rows."""
    n = csr.shape[0] if weights is None else float(weights.sum())
    if not n:
        return 0, None, None
    with np.errstate(all="ignore"):
        values = csr.data.astype(float)
        counted = values if weights is None else values * np.repeat(weights, np.diff(csr.indptr))
        sums, squares = (np.bincount(csr.indices, of, csr.shape[1]) for of in (counted, counted * values))
        return n, sums / n, np.maximum(squares - sums**2 / n, 0)


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
