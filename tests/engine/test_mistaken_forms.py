"""X and y in mistaken forms: the error names the likely intention, and the form to pass."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from plain import Engine
from scipy.sparse import csr_matrix

from structperc.callbacks import Checkpoint, EarlyStopping
from structperc.errors import DataError, OptionError, StructPercError
from structperc.estimators import CuSumRank
from structperc.files.datasets import load_partitions

X = np.random.default_rng(0).normal(size=(30, 3))
Y = np.arange(30) % 3 + 1
MODELS = [lambda: Engine("cusum"), lambda: CuSumRank(random_state=0)]


def named(*names):
    return pd.DataFrame(X, columns=list(names))


@pytest.mark.parametrize("make", MODELS, ids=["engine", "estimator"])
@pytest.mark.parametrize(("X", "y", "message"), [
    (named("a", 1, "b"), Y, "a column called 1: feature names are only supported if all of them are strings; rename it"),
    (named("a", "b", "a"), Y, "two columns 'a'; give every column a name of its own"),
    ("patients.csv", Y, "X is the text 'patients.csv'; read the file first, for instance with pandas.read_csv"),
    (Path("patients.csv"), Y, "patients.csv'.*; read the file first"),
    (None, Y, "X is None; expected rows and columns"),
    ((row for row in X), Y, r"X is a generator, which can be read only once; pass list\(X\)"),
    ([{"age": 1.0}] * 30, Y, "X is a list of objects.*dicts: DictVectorizer"),
    (X, "level", r"y is the text 'level'.*pass the column itself, as in table\['level'\]"),
    (X, csr_matrix(Y), r"y is sparse.*pass y.toarray\(\).ravel\(\)"),
    (X, np.eye(3)[Y - 1], r"a column of 0 and 1 for each label: pass y.argmax\(axis=1\)"),
    (Y[:, None], X, "are X and y swapped"),
    (Y, X, "swapped"),
    (X, (label for label in Y), r"y is a generator.*pass list\(y\)"),
    (X, ["a", 2, 3] * 10, "y mixes labels of the types int, str"),
    (named("a", "b", "c").assign(b=pd.array([None, 1.5] * 15, dtype="Float64")), Y, "'b': 15 empty cells, .* row 0.*fill(=|': )'median'"),
    (np.array([[1.0, pd.NA]] * 30, dtype=object), Y, r"X\[0, 1\] is <NA>, which is missing; fill or drop that row"),
    (np.array([[1.0, pd.Timestamp("2024-01-02")]] * 30, dtype=object), Y, r"X\[0, 1\] is the date 2024-01-02.*days since the first"),
])  # fmt: skip
def test_what_is_meant_is_guessed(make, X, y, message):
    with pytest.raises(DataError, match=message):
        make().fit(X, y)


@pytest.mark.parametrize("make", MODELS, ids=["engine", "estimator"])
def test_rows_with_several_labels_are_not_taken_for_one_each(make):
    with pytest.raises(DataError) as caught:
        make().fit(X, np.maximum(np.eye(3)[Y - 1], [1, 0, 0]))
    assert "argmax" not in str(caught.value)


@pytest.mark.parametrize("make", MODELS, ids=["engine", "estimator"])
def test_columns_of_dates_need_no_option(make):
    X = named("a", "b", "c").assign(day=pd.date_range("2024-01-01", periods=30))
    assert len(make().fit(X, Y).predict(X)) == 30


@pytest.mark.parametrize("make", MODELS, ids=["engine", "estimator"])
def test_dates_stay_dates(make):
    days = pd.date_range("2024-01-01", periods=3)
    model = make().fit(X, list(days.date) * 10)
    assert model.classes_.dtype.kind == "M" and model.predict(X[:2]).dtype.kind == "M"


@pytest.mark.parametrize("make", MODELS, ids=["engine", "estimator"])
def test_an_enum_of_polars_has_an_order(make):
    polars = pytest.importorskip("polars")
    y = polars.Series(["mild", "none", "severe"] * 10, dtype=polars.Enum(["none", "mild", "severe"]))
    assert make().fit(X, y).classes_.tolist() == ["none", "mild", "severe"]


def test_options_that_are_nearly_right():
    with pytest.raises(OptionError, match="kernel='rfb'.*Did you mean 'rbf'?"):
        CuSumRank(kernel="rfb").fit(X, Y)
    with pytest.raises(OptionError, match="variant='originel'.*Did you mean 'original'?"):
        Engine("prank", variant="originel")


def test_one_plugin_alone_is_a_list_too():
    with pytest.raises(OptionError, match=r"such as \['dual-kernel'\]"):
        Engine("cusum", plugins="dual-kernel")


class Unshown:
    """A value whose repr fails, as that of an object that contains itself."""

    def __repr__(self):
        raise RecursionError("maximum recursion depth exceeded while getting the repr of an object")


@pytest.mark.parametrize("call", [
    lambda odd: Engine("matching", classes=odd).fit([np.array([[1, 2, 0.5]])], [[0]]),
    lambda odd: Engine("large-margin", method="fixed", C=odd).fit(np.eye(3), [1, 2, 3]),
    lambda odd: Engine("prank").fit(np.eye(3), [1, 2, 3]).explain(np.eye(3)[:1], baseline=odd),
    lambda odd: Engine("prank").fit(np.eye(3), [1, 2, 3]).export("unwritten", to=odd),
    lambda odd: EarlyStopping(np.eye(3), [1, 2, 3], patience=odd),
    lambda odd: Checkpoint("unwritten", every=odd),
    lambda odd: load_partitions("machinecpu", odd),
])  # fmt: skip
def test_options_whose_repr_fails_are_called_by_their_type(call):
    with pytest.raises(StructPercError, match="of type Unshown"):
        call(Unshown())
