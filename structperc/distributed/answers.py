"""Predictions of a trained model for data in parts: lazy, and in parallel if there is a client or a scheduler of Dask."""

from __future__ import annotations

import numpy as np

from structperc.extras import require

__all__ = ["predict", "scores"]


def predict(model, X, *, method="predict"):
    """Lazy predictions of a trained model for data in parts.

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

    Raises
    ------
    MissingExtra
        Without dask.

    Notes
    -----
    The cost is that of the method, shared by the workers. For arrays and frames the model predicts one made-up row at once, for the type.

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
        return X.map_partitions(answered, delayed(model), method, **meta_of(model, X, method))
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
    kind, sent = np.asarray(getattr(model, method)(np.zeros((1, X.shape[1]), X.dtype))), delayed(model)
    X = X.rechunk({1: -1})
    return array.concatenate([array.from_delayed(delayed(answered)(block, sent, method), (n, *kind.shape[1:]), kind.dtype)
                              for n, block in zip(X.chunks[0], X.to_delayed()[:, 0], strict=True)])


def meta_of(model, X, method) -> dict:
    """The type and columns of the results for a frame; nothing for bags."""
    return {"meta": answered(X._meta_nonempty, model, method)} if hasattr(X, "_meta_nonempty") else {}


def answered(block, model, method):
    """The results for one part: with its index for a frame, a list for an iterator."""
    is_list = not hasattr(block, "shape")
    values = getattr(model, method)(list(block) if is_list else block)
    if hasattr(block, "iloc"):
        pandas = require("pandas", "predictions for frames", "cli")
        return pandas.Series(values, block.index, name=method) if np.ndim(values) == 1 else pandas.DataFrame(values, block.index)
    return list(values) if is_list else values
