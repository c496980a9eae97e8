"""Tests of `structperc.counterfactual` on data frames of every library, with dates."""

import numpy as np
import pandas as pd
import pytest

import structperc
from structperc.estimators import PRank


@pytest.mark.parametrize("hours", [0, 10])
@pytest.mark.parametrize("written", [None, "%d.%m.%Y"])
def test_dates_change_by_days_and_the_example_that_comes_back_is_predicted_as_wanted(written, hours):
    random = np.random.default_rng(0)
    days, dose = random.integers(0, 300, 200), random.normal(size=200)
    visit = pd.Timestamp("2024-01-01") + pd.to_timedelta(days, unit="D") + pd.Timedelta(hours=0 if written else hours)
    frame = pd.DataFrame({"visit": visit if written is None else visit.strftime(written), "dose": dose})
    model = PRank(random_state=0, plugin_options=None if written is None else {"date": {"visit": written}}).fit(
        frame, np.digitize(days / 100 + dose, [1, 2]) + 1)
    for i in range(10):
        x = frame.iloc[[i]]
        wanted = 1 if model.predict(x)[0] > 1 else 2
        found = structperc.counterfactual(model, x, wanted, fixed=["dose"])
        assert model.predict(found.x) == [wanted]
        moved = abs(pd.to_datetime(found.changes[0].after, format=written) - visit[i])
        assert moved % pd.Timedelta(days=1) == pd.Timedelta(0)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_frames_of_other_libraries_come_back_as_such(library):
    frame = pytest.importorskip(library)
    random = np.random.default_rng(0)
    columns = {"dose": random.normal(size=90), "old": random.random(90) < 0.5, "visit": np.datetime64("2024-01-01") + np.arange(90)}
    X = frame.DataFrame(columns) if library == "polars" else frame.table(columns)
    model = PRank(random_state=0).fit(X, np.digitize(columns["dose"] + columns["old"] + np.arange(90) / 60, [0.5, 1.5]) + 1)
    for fixed in (["dose"], ["old", "visit"]):
        wanted = 1 if model.predict(X[:1] if library == "polars" else X.slice(0, 1))[0] > 1 else 2
        found = structperc.counterfactual(model, X[:1] if library == "polars" else X.slice(0, 1), wanted, fixed=fixed)
        assert type(found.x) is type(X) and model.predict(found.x) == [wanted]
