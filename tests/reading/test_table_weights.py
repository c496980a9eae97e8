"""What fills gaps counts rows by their weights: weight 2 is the row twice, weight 0 leaves it out, at every door that trains."""

import numpy as np
import pandas as pd
import pytest
from plain import Engine

from structperc.components import TableReader
from structperc.streams import fit_stream

RANDOM = np.random.default_rng(0)
N = 60
WEIGHTS = np.where(np.arange(N) % 3 == 1, 0, 1 + np.arange(N) % 2)
TABLE = pd.DataFrame({
    "number": np.where(np.arange(N) % 5 == 0, np.nan, np.where(WEIGHTS == 0, 50.0, np.round(RANDOM.normal(size=N), 1))),
    "level": np.where(np.arange(N) % 5 == 2, None, np.where(WEIGHTS == 0, "c", np.where(RANDOM.random(N) < 0.5, "a", "b"))),
    "day": [None if i % 7 == 0 else f"2024-01-{1 + i % 28:02}" for i in range(N)],
})
Y = np.arange(N) % 3
OPTIONS = {"one_hot": {"level": ["a", "b", "c"]}, "date": ["day"]}


def rows_of_model(train, fill, weighted):
    """The filled table, as a model reads it that `train` trains on weights, or on rows left out or repeated."""
    engine = Engine("cusum", plugins=["table"], fill=fill, **OPTIONS)
    chosen = np.arange(N) if weighted else np.repeat(np.arange(N), WEIGHTS)
    train(engine, TABLE.iloc[chosen].reset_index(drop=True), Y[chosen], WEIGHTS.astype(float) if weighted else np.ones(len(chosen)))
    return engine.parts_.reader.read(TABLE).X


DOORS = {
    "fit": lambda engine, X, y, w: engine.fit(X, y, sample_weight=w),
    "partial_fit": lambda engine, X, y, w: engine.partial_fit(X, y, sample_weight=w, classes=[0, 1, 2]),
    "stream": lambda engine, X, y, w: fit_stream(engine, [{"X": X, "y": y, "sample_weight": w}]),
}


@pytest.mark.filterwarnings("ignore::structperc.errors.ScaleWarning", "ignore::structperc.errors.WeightWarning")
@pytest.mark.parametrize("fill", ["median", "mean", "most-frequent"])
@pytest.mark.parametrize("door", DOORS)
def test_fills_are_those_of_rows_left_out_and_repeated(door, fill):
    np.testing.assert_allclose(rows_of_model(DOORS[door], fill, True), rows_of_model(DOORS[door], fill, False), rtol=1e-12)


def test_weights_of_zero_alone_give_the_bits_of_the_rows_that_are_left():
    weights = np.minimum(WEIGHTS, 1).astype(float)
    readers = [TableReader(fill="mean", **OPTIONS), TableReader(fill="mean", **OPTIONS)]
    readers[0].learn_weighted(TABLE, None, weights)
    readers[1].learn(TABLE[weights > 0])
    np.testing.assert_array_equal(*(reader.read(TABLE).X[:, 0] for reader in readers))


def test_half_of_the_weight_on_each_side_has_the_mean_of_both_as_its_median():
    reader = TableReader(fill="median")
    rows = reader.learn_weighted(pd.DataFrame({"a": [1.0, 2.0, 4.0, None]}), None, np.array([1.0, 1.0, 2.0, 5.0]))
    assert rows.X[-1, 0] == 3.0
