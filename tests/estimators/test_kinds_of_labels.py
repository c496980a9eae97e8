"""Estimators keep labels of every kind, also those around others, and in files."""

import datetime
import io
import json

import numpy as np
import pandas as pd
import pytest
from structperc_boosting.estimators import AdaBoostOR, ORStump
from structperc_boosting.reductions import BinaryReduction, RankerClassifier
from structperc_large_margin.estimators import SVOR

from structperc.errors import DataError
from structperc.estimators import CuSumRank, OrdinalConformal, PRank, ScoreCard, StructuredClassifier, load

X = np.random.default_rng(0).normal(size=(60, 2))
RANKS = np.digitize(X[:, 0], [-0.5, 0.5])
DAYS = np.array(["2024-01-01", "2024-02-01", "2025-01-01"], "M8[D]")


def mixed(*labels):
    held = np.empty(len(labels), dtype=object)
    held[:] = labels
    return held


ORDERED = {             # labels that have an order
    "days": DAYS, "microseconds": DAYS.astype("M8[us]"), "nanoseconds": DAYS.astype("M8[ns]") + np.timedelta64(1, "ns"),
    "long ago": np.array(["0001-01-01", "1600-01-01", "9999-01-01"], "M8[s]"),
    "durations": np.array([1, 2, 3], "m8[D]"), "nanoseconds of durations": np.array([1, 2, 3], "m8[ns]"),
    "objects": mixed(*DAYS.astype("M8[ns]")), "dates": mixed(*map(datetime.date.fromisoformat, ("2024-01-01", "2024-02-01", "2025-01-01"))),
    "categories of dates": pd.Categorical(pd.to_datetime(DAYS), ordered=True),
    "int8": np.array([-128, 0, 127], np.int8), "uint64": np.array([1, 2**63, 2**64 - 1], np.uint64), "int": mixed(2**70, 2**70 + 1, 2**71),
}
NAMED = {               # labels whose order `classes` names
    "bytes": np.array([b"c", b"a\xff", b"b"]), "texts and numbers": mixed("a", 1, 2.5),
    "whole and real numbers": mixed(1, 2.5, 2**60 + 1), "float32": np.array([0.1, 0.2, 0.3], np.float32),
    "longdouble": np.array([1, 2, 4], np.longdouble) / 3, "descending days": DAYS[::-1],
}
MODELS = {
    "conformal": lambda **order: OrdinalConformal(CuSumRank(epochs=2), random_state=0, **order),
    "card": lambda **order: ScoreCard(PRank(epochs=2), random_state=0, **order),
    "reduction": lambda **order: BinaryReduction(StructuredClassifier(epochs=2, random_state=0), **order),
    "conformal reduction": lambda **order: OrdinalConformal(BinaryReduction(StructuredClassifier(epochs=2, random_state=0), **order),
                                                            random_state=0),
    "stump": ORStump, "boosting": lambda **order: AdaBoostOR(n_estimators=2, **order),
    "margin": lambda **order: SVOR(kernel="linear", C=0.1, **order),
}


def dumped(model) -> bytes:
    file = io.BytesIO()
    model.save(file)
    return file.getvalue()


def same(values, others):
    """Whether two arrays have the same labels of the same types."""
    return list(map(repr, np.asarray(values).ravel().tolist())) == list(map(repr, np.asarray(others).ravel().tolist()))


@pytest.mark.parametrize("name", ["rank", "stump", "boosting", "margin", "reduction"])
def test_real_numbers_and_labels_without_an_order_are_refused_alike(name):
    make = {**MODELS, "rank": lambda: PRank(epochs=2)}[name]
    for y in (X[:, 0], X[:, 0].tolist(), X[:, 0].astype(object)):
        with pytest.raises(DataError, match=r"Unknown label type: continuous. y\[0\] is 0.1257.*; cut y into levels first"):
            make().fit(X, y)
    with pytest.raises(DataError, match="y mixes labels of the types int, str"):
        make().fit(X, [("high" if rank == 2 else int(rank)) for rank in RANKS])
    make().fit(X, mixed(10**400, 0.0, 1.0)[RANKS])          # whole numbers, however large


@pytest.mark.parametrize("kind", [*ORDERED, *NAMED])
@pytest.mark.parametrize("name", MODELS)
def test_labels_stay_what_they_are(name, kind):
    labels = {**ORDERED, **NAMED}[kind]
    model = MODELS[name](**({"classes": list(labels)} if kind in NAMED else {})).fit(X, labels[RANKS])
    known = np.asarray(labels).astype({"dates": "M8[D]", "objects": "M8[ns]"}.get(kind, np.asarray(labels).dtype))
    assert same(model.levels_, known) and model.levels_.dtype.kind == known.dtype.kind
    answers = model.predict(X)
    assert {*map(repr, answers.tolist())} <= {*map(repr, known.tolist())} and answers.dtype.kind == known.dtype.kind
    content = dumped(model)
    loaded = load(io.BytesIO(content))
    assert dumped(loaded) == content
    assert same(loaded.levels_, known) and loaded.levels_.dtype.kind == known.dtype.kind
    assert same(loaded.classes_, model.classes_) and same(loaded.predict(X), answers)
    if hasattr(model, "predict_proba"):
        assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    if name == "card":
        table = json.loads(json.dumps(model.to_dict()))
        assert same(ScoreCard.from_dict(table).predict(X), answers)


@pytest.mark.parametrize("kind", ["days", "nanoseconds", "nanoseconds of durations"])
def test_a_classifier_around_a_ranker_keeps_dates(kind):
    labels = ORDERED[kind][:2]
    model = RankerClassifier(PRank(epochs=2, random_state=0)).fit(X, labels[RANKS // 2])
    loaded = load(io.BytesIO(dumped(model)))
    assert same(loaded.classes_, labels) and same(loaded.predict(X), model.predict(X)) and loaded.classes_.dtype == labels.dtype


def test_dates_in_another_unit_are_the_same_labels():
    model = OrdinalConformal(CuSumRank(epochs=2, random_state=0), random_state=0).fit(X, DAYS[RANKS])
    for unit in ("s", "ns"):
        y = DAYS.astype(f"M8[{unit}]")[RANKS]
        assert model.score(X, y) == model.score(X, DAYS[RANKS])
        assert OrdinalConformal(model.estimator_, prefit=True).fit(X, y).quantile_ == OrdinalConformal(
            model.estimator_, prefit=True).fit(X, DAYS[RANKS]).quantile_
    with pytest.raises(DataError, match="not one of the labels"):
        OrdinalConformal(model.estimator_, prefit=True).fit(X, DAYS[RANKS] + np.timedelta64(1, "h"))


@pytest.mark.parametrize("name", MODELS)
def test_nullable_labels_of_pandas_stay_what_they_are(name):
    for labels, dtype in (([2**60, 2**60 + 1, 2**60 + 2], "Int64"), ([1, 2, 3], "UInt8"), ([False, True, True], "boolean")):
        model = MODELS[name]().fit(X, pd.Series(labels, dtype=dtype).iloc[RANKS])
        assert same(model.levels_, sorted(set(labels)))
    gap = pd.Series([2, pd.NA, 1], dtype="Int64").iloc[RANKS]
    for y in (gap, gap.astype(object), gap.tolist()):
        with pytest.raises(DataError, match=rf"y\[{int(np.argmax(RANKS == 1))}\] (is .*no|has neither a lowest nor a highest) label"):
            MODELS[name]().fit(X, y)


@pytest.mark.parametrize("name", ["rank", "classes", *MODELS])
def test_times_with_a_zone_are_labels_at_every_door(name):
    make = {**MODELS, "rank": lambda: PRank(epochs=2, random_state=0),
            "classes": lambda: StructuredClassifier(epochs=2, random_state=0)}[name]
    times = pd.Series(pd.to_datetime(DAYS).tz_localize("Europe/Berlin")).iloc[RANKS]
    expected = make().fit(X, times.dt.tz_convert(None)).score(X, times.dt.tz_convert(None))
    for y in (times, times.tolist(), [time.to_pydatetime() for time in times]):
        assert make().fit(X, y).score(X, y) == expected
    for zone in ("UTC", None):
        gap = pd.Series([pd.Timestamp("2024-01-01", tz=zone), pd.NaT, pd.Timestamp("2024-01-02", tz=zone)], dtype=object).iloc[RANKS]
        with pytest.raises(DataError, match=r"is (NaT|None), which is no label|has neither a lowest"):
            make().fit(X, gap)
