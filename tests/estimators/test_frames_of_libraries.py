"""Estimators that divide rows, on data frames of every library."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from structperc.errors import DataError
from structperc.estimators import (
    SVOR,
    AdaBoostOR,
    BinaryReduction,
    LatentRanker,
    LeafFeatures,
    OrdinalConformal,
    ORStump,
    PRank,
    ScoreCard,
    StructureConformal,
)

LEVELS = ["low", "middle", "high"]


def frame(library):
    """A frame of the library, and labels."""
    module, random = pytest.importorskip(library), np.random.default_rng(0)
    table = pd.DataFrame({"dose": random.normal(size=120), "ward": pd.Categorical(np.array(["a", "b"])[random.integers(0, 2, 120)]),
                          "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 90, 120), unit="D")})
    y = np.digitize(table["dose"] + (table["ward"] == "a"), [0, 1])
    return {"pandas": lambda: table, "polars": lambda: module.from_pandas(table), "pyarrow": lambda: module.Table.from_pandas(table)}[
        library](), y


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
@pytest.mark.parametrize("wrapper", [OrdinalConformal, StructureConformal])
def test_sets_are_those_of_pandas(wrapper, library):
    table, y = frame("pandas")
    other, _ = frame(library)
    expected = wrapper(PRank(random_state=0), random_state=0).fit(table, y)
    got = wrapper(PRank(random_state=0), random_state=0).fit(other, y)
    assert got.quantile_ == expected.quantile_ and got.estimator_.feature_names_in_.tolist() == ["dose", "ward", "day"]
    assert got.estimator_.predict(other).tolist() == expected.estimator_.predict(table).tolist()


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_queries_in_any_order_are_ranked_as_of_pandas(library):
    (table, y), (other, _) = frame("pandas"), frame(library)
    groups = np.random.default_rng(1).permutation(np.arange(120) // 8)
    scores = [LatentRanker(k=3, scale=True, random_state=0).fit(X, y, groups=groups).score(X, y, groups=groups) for X in (table, other)]
    assert scores[0] == scores[1]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_that_are_no_numbers_are_named(library):
    X, y = frame(library)
    with pytest.raises(DataError, match="'ward': 2 texts.* 'day': 120 dates"):
        ScoreCard(PRank(random_state=0)).fit(X, y)


def test_a_query_of_polars_is_a_table():
    polars = pytest.importorskip("polars")
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3
    table = polars.DataFrame(X, schema=["a", "b"])
    assert ORStump().fit(table.lazy(), y).predict(table.lazy()).tolist() == ORStump().fit(table, y).predict(table).tolist()


@pytest.mark.parametrize("make", [
    ORStump, lambda: AdaBoostOR(n_estimators=3, random_state=0), lambda: AdaBoostOR(n_estimators=3, n_iter_no_change=1, random_state=0),
    lambda: AdaBoostOR(BinaryReduction(PRank(random_state=0)), n_estimators=2, random_state=0), SVOR,
    lambda: make_pipeline(LeafFeatures(), PRank(random_state=0)),
])
def test_a_query_with_categories_and_dates_is_a_table_to_every_estimator(make):
    table, y = frame("polars")
    assert make().fit(table.lazy(), y).predict(table.lazy()).tolist() == make().fit(table, y).predict(table).tolist()


@pytest.mark.parametrize("model", [ORStump(), AdaBoostOR(n_estimators=3, random_state=0)])
def test_ordered_categories_of_numbers_and_of_pyarrow_are_labels(model):
    arrow, X, codes = pytest.importorskip("pyarrow"), np.arange(30.0)[:, None], np.arange(30) // 10
    numbers = pd.Series(pd.Categorical.from_codes(codes, [0.5, 1.0, 2.5], ordered=True))
    assert model.fit(X, numbers).levels_.tolist() == [0.5, 1.0, 2.5]
    texts = arrow.array(pd.Categorical.from_codes(codes, LEVELS, ordered=True))
    assert model.fit(X, texts).levels_.tolist() == LEVELS
    with pytest.raises((DataError, ValueError), match="continuous"):
        model.fit(X, codes + 0.5)
