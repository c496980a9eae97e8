"""Predictions of a trained model for data in parts: lazy, and in parallel if there is a client or a scheduler of Dask."""

from __future__ import annotations

import attrs
import numpy as np

from structperc.engine.engine import Engine
from structperc.extras import require
from structperc.reading.table_reader import Numbers

__all__ = ["predict", "scores"]


def predict(model, X, *, method="predict"):
    """Lazy predictions of a trained model for data in parts. Raises `MissingExtra` without dask.

    Parameters
    ----------
    model : Engine, estimator or pipeline
        It travels to each worker once.
    X : dask array, data frame or bag; or list of parts
        Parts are delayed objects, or what the model takes. Bags have an example for each entry.
    method : str, default "predict"
        The method to call, which returns an entry for each example: "predict_proba", "label_scores", "margins", ...

    Returns
    -------
    dask array, series or frame, or bag
        Of the kind of X, in the same parts; for a list a list of delayed objects. `compute()` returns the same as the model on all data.
        Columns of a frame with an entry for each label are named after the labels, as texts.

    Notes
    -----
    The cost is that of the method, shared by the workers. The type of the results is that of a row of zeros, as the model has encoded it:
    no cell is made up. Parts without rows have results without rows.

    Examples
    --------
    >>> import dask.array
    >>> from structperc import Engine
    >>> from structperc.distributed import predict
    >>> engine = Engine("multiclass", epochs=20).fit([[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1])
    >>> predict(engine, dask.array.from_array([[-3.0], [4.0]], chunks=1)).compute().tolist()
    [0, 1]
    """
    delayed = require("dask", "structperc.distributed.predict", "dask").delayed
    if hasattr(X, "map_blocks"):
        return of_array(model, X, method, delayed)
    if hasattr(X, "map_partitions"):
        if not hasattr(X, "columns"):
            return X.map_partitions(answered, delayed(model), method)
        kind = Kind.of(model, method)
        return X.map_partitions(answered, delayed(model), method, kind, meta=kind.framed(kind.empty(), X._meta.index, method))
    sent = delayed(model)
    return [delayed(answered)(part, sent, method) for part in X]


def scores(model, X, *, method=None):
    """The lazy scores of all labels for data in parts.

    Parameters
    ----------
    model, X
        As of `predict`.
    method : str, optional
        Without it "decision_function" of estimators that have it, else "label_scores".

    Returns
    -------
    As of `predict`: rows of as many numbers as there are labels.

    Examples
    --------
    >>> import dask.array
    >>> from structperc import Engine
    >>> from structperc.distributed import scores
    >>> engine = Engine("multiclass", epochs=20).fit([[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1])
    >>> scores(engine, dask.array.from_array([[-3.0], [4.0]], chunks=1)).argmax(axis=1).compute().tolist()
    [0, 1]
    """
    return predict(model, X, method=method or ("decision_function" if hasattr(model, "decision_function") else "label_scores"))


def of_array(model, X, method, delayed):
    """The results for the blocks of rows of an array, one by one."""
    array = require("dask.array", "structperc.distributed.predict", "dask")
    kind, sent = Kind.of(model, method), delayed(model)
    X = X.rechunk({1: -1})
    return array.concatenate([array.from_delayed(delayed(answered)(block, sent, method, kind), (n, *kind.shape), kind.dtype)
                              for n, block in zip(X.chunks[0], X.to_delayed()[:, 0], strict=True)])


@attrs.frozen
class Kind:
    """What the results of a method are."""
    # shape: tuple of int. Of the result of one row.
    # columns: list of str or None. Names of a row's results.

    dtype: np.dtype
    shape: tuple
    columns: list | None

    @classmethod
    def of(cls, model, method) -> Kind:
        """That of a row of zeros, as the model, or the last step of a pipeline, has encoded it."""
        final = model.steps[-1][1] if hasattr(model, "steps") else model
        values = np.asarray(getattr(final, method)(row_of_zeros(final)))
        labels = getattr(final, "classes_", None)
        columns = None
        if values.ndim == 2:
            columns = list(map(str, labels if labels is not None and len(labels) == values.shape[1] else range(values.shape[1])))
        return cls(values.dtype, values.shape[1:], columns)

    def empty(self):
        return np.empty((0, *self.shape), self.dtype)

    def framed(self, values, index, name):
        """Results as a series or frame."""
        pandas = require("pandas", "predictions for frames", "cli")
        index = index[:len(values)]
        return pandas.Series(values, index, name=name) if self.columns is None else pandas.DataFrame(values, index, self.columns)


def row_of_zeros(model):
    """A row as the model has encoded it."""
    engine = model if isinstance(model, Engine) else getattr(model, "engine_", None)
    if engine is not None:
        context = engine.model_.context
        zeros = np.zeros((1, context.n_features))
        return zeros if context.feature_names is None else Numbers(zeros, tuple(context.feature_names))
    names, zeros = getattr(model, "feature_names_in_", None), np.zeros((1, model.n_features_in_))
    return zeros if names is None else require("pandas", "predictions for frames", "cli").DataFrame(zeros, columns=names)


def answered(block, model, method, kind=None):
    """The results for one part: with its index for a frame, a list for an iterator."""
    if not hasattr(block, "shape"):
        block = list(block)
        return list(getattr(model, method)(block)) if block else []
    values = getattr(model, method)(block) if len(block) or kind is None else kind.empty()
    return kind.framed(values, block.index, method) if hasattr(block, "iloc") and kind is not None else values
