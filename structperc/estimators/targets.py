"""y as estimators take it: one column of labels."""

from __future__ import annotations

import sys
import warnings

import numpy as np

from structperc.basics.labels import as_label_array, ordered_categories, python_values, refuse_no_labels
from structperc.errors import DataError


def as_column(y):
    """y as an array or ordered categorical; a single column is flattened, with scikit-learn's warning."""
    refuse_no_labels(y, "y", "one label per row")
    y = python_values(y)
    try:
        array = np.asarray(y)
    except ValueError:
        raise DataError("y is ragged: its entries differ in length; expected one label per row.") from None
    if array.ndim == 1:
        array = as_label_array(y)               # numpy would turn other labels into strings, and round large numbers
    if array.ndim == 2 and array.shape[1] == 1:
        theirs = sys.modules.get("sklearn.exceptions")
        warnings.warn("A column-vector y was passed when a 1d array was expected; pass y.ravel().",
                      UserWarning if theirs is None else theirs.DataConversionWarning, stacklevel=4)
        y, array = (y.iloc[:, 0] if hasattr(y, "iloc") else y), array[:, 0]
    return array if ordered_categories(y) is None else y
