"""Dates and durations as labels of tokens, segments, nodes and arcs: every form of them trains the model that texts train."""

import datetime
import io

import numpy as np
import pandas as pd
import pytest
from plain import Engine

from structperc import Problem
from structperc.errors import DataError, OptionError

DAYS = np.array(["2026-01-31", "2026-02-28", "2026-03-31"], dtype="M8[D]")
LABELS = {
    "dates": [day.item() for day in DAYS], "times": [datetime.datetime(2026, 1, 31, hour) for hour in (0, 7, 12)],
    "timestamps": [*pd.to_datetime(DAYS)], "durations": [datetime.timedelta(hours=k) for k in range(3)],
    **{unit: [*DAYS.astype(f"M8[{unit}]")] for unit in ("D", "s", "us", "ns")}, "nanoseconds": [*np.array([1, 2, 3], dtype="m8[ns]")],
}  # fmt: skip
random = np.random.default_rng(0)
CODES = random.integers(3, size=(12, 4))
X = [random.normal(size=(4, 3)) + np.eye(3)[codes] * 3 for codes in CODES]
EDGES = np.array([(0, 1), (1, 2), (2, 3)])


def tokens(labels):
    return X, [[labels[k] for k in codes] for codes in CODES]


def arrays(labels):
    return X, [np.array([labels[k] for k in codes]) for codes in CODES]


def segments(labels):
    return X, [[(t, t + 1, labels[k]) for t, k in enumerate(codes)] for codes in CODES]


def nodes(labels):
    return [(x, EDGES) for x in X], tokens(labels)[1]


def arcs(labels):
    return [[("abc"[k],) for k in codes] for codes in CODES], [[(t, labels[k]) for t, k in enumerate(codes)] for codes in CODES]


FORMS = {"sequence": tokens, "sequence, arrays": arrays, "segments": segments, "graph": nodes, "parsing": arcs}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("form", FORMS)
def test_dates_are_labels_of_parts_in_every_form(form, kind):
    labels, problem = LABELS[kind], form.split(",")[0]
    (examples, y), (_, names) = FORMS[form](labels), FORMS[form](["a", "b", "c"])
    engine, other = (Engine(problem, epochs=3).fit(examples, answers) for answers in (y, names))
    assert engine.mistakes_ == other.mistakes_
    code = {label: k for k, label in enumerate("abc")}

    def dated(answer):
        return [(*part[:-1], labels[code[part[-1]]]) if isinstance(part, tuple) else labels[code[part]] for part in answer]

    found, expected = engine.predict(examples), [dated(answer) for answer in other.predict(examples)]
    assert [list(answer) for answer in found] == expected
    engine.partial_fit(examples, found)                                 # predictions are labels again
    file = io.BytesIO()
    engine.save(file)
    loaded = Engine.load(io.BytesIO(file.getvalue()))
    assert [list(answer) for answer in loaded.predict(examples)] == [list(answer) for answer in engine.predict(examples)]


@pytest.mark.parametrize("kind", LABELS)
def test_dates_name_transitions(kind):
    first, _, last = LABELS[kind]
    problem = Problem("sequence", classes=LABELS[kind], forbidden_transitions=[(first, last), (None, first)], start=True)
    batch = problem.batch(lengths=[2])
    listed = [y for y, _ in batch.k_best(np.zeros(batch.offsets[-1]), 10)[0]]
    assert len(listed) == 6 and all(y[0] != first for y in listed)
    with pytest.raises(OptionError, match=r"names 'a', which is not one of the labels .*(date|Timestamp|timedelta)"):
        Problem("sequence", classes=LABELS[kind], required_transitions=[(first, "a")]).batch(lengths=[2])


def test_a_date_in_another_unit_is_the_same_label():
    engine = Engine("sequence", epochs=2).fit(*tokens(LABELS["ns"]))
    for kind in ("dates", "D", "us", "timestamps"):
        engine.partial_fit(*tokens(LABELS[kind]))
    assert len(engine.classes_) == 3


def test_dates_beyond_nanoseconds_are_no_others():
    """The day 5000-01-01 has no nanoseconds: NumPy makes them those of a moment in 2077."""
    far = np.array(["2026-01-01", "5000-01-01"], dtype="M8[D]")
    moment = far[1].astype("M8[ns]")
    engine = Engine("sequence", epochs=1).fit([np.eye(2)], [[*far]])
    with pytest.raises(DataError, match="is not one of the labels known so far"):
        engine.partial_fit([np.eye(2)], [[far[0], moment]])
