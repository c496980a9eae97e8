"""Calls that only measure a trained engine leave it as it was, also if right outputs are known in part."""

import io

import numpy as np
import pytest
from plain import Engine

from structperc import hookimpl
from structperc.components import HammingLoss
from structperc.errors import DataError, PluginError
from structperc.estimators import StructureConformal
from structperc.metrics import losses_of, measures

ROWS = [np.random.default_rng(seed).normal(size=(4, 3)) for seed in range(20)]
LABELS = [np.where(rows[:, 0] > 0, "A", "B").tolist() for rows in ROWS]
TAGS = [["B-X", "I-X", "O", "B-Y"]] * 20
ENDS = [[0, 0], [1, 1], [2, 2], [3, 3], [0, 1], [2, 3]]
GRAPHS = [np.column_stack([ENDS, np.vstack([rows, rows[:2]])]) for rows in ROWS]        # four nodes, two edges
OPEN = [[None, *labels[1:]] for labels in LABELS]
CASES = {
    "sequence": ("sequence", ROWS, LABELS, OPEN),
    "graph": ("graph", GRAPHS, LABELS, OPEN),
    "triples": ("segments", ROWS, [[(0, 2, "X"), (3, 4, "Y")]] * 20, [[(0, 2, None), (3, 4, "Y")]] * 20),
    "tags": ("segments", ROWS, TAGS, [[None, None, *tags[2:]] for tags in TAGS]),
}
CALLS = {
    "measures": lambda engine, X, y: list(measures(engine, X, y).items()),
    "losses": lambda engine, X, y: losses_of(engine.model_, engine.read(X), y, engine.predict(X)).tolist(),
    "sets": lambda engine, X, y: list(StructureConformal(engine, coverage=0.8).calibrate(X, y).evaluate(X, y, limit=50).items()),
    "membership": lambda engine, X, y: [right in found for right, found in
                                        zip(y, StructureConformal(engine, coverage=0.8).calibrate(X, y).predict(X), strict=True)],
}


def content(engine):
    """What a trained engine has: its file, and what decides how it reads y."""
    file = io.BytesIO()
    engine.save(file)
    outputs = engine.parts_.outputs
    return file.getvalue(), outputs.partial_gold, getattr(outputs, "form", None)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("case", CASES)
def test_measures_of_partial_outputs_change_nothing(case, call):
    problem, X, y, partial = CASES[case]
    engine = Engine(problem, epochs=2, random_state=0).fit(X, y)
    before = content(engine)
    first = CALLS[call](engine, X, partial)

    assert content(engine) == before
    assert repr(CALLS[call](engine, X, partial)) == repr(first)
    aware = Engine(problem, epochs=2, random_state=0).fit(X, y)         # as after partial outputs of training
    aware.parts_.outputs.partial_gold = True
    assert repr(CALLS[call](aware, X, partial)) == repr(first)


@pytest.mark.parametrize("case", CASES)
def test_what_needs_whole_outputs_refuses_others_each_time(case):
    problem, X, y, partial = CASES[case]
    engine = Engine(problem, epochs=2, random_state=0).fit(X, y)
    before = content(engine)
    for _ in range(2):
        with pytest.raises(DataError, match="only right outputs may leave"):
            engine.log_probability(X, partial)
    assert content(engine) == before


def test_tags_of_a_test_do_not_teach_a_model_of_segments_its_form():
    engine = Engine("segments", classes=["X"], random_state=0).fit(ROWS, [[]] * 20)
    measures(engine, ROWS, [["B-X", "O", "O", "O"]] * 20)

    assert engine.parts_.outputs.form is None
    assert engine.predict(ROWS[:1])[0] == []


def test_an_open_token_has_no_atoms_that_the_general_hamming_loss_could_count():
    class General:
        @hookimpl
        def structperc_loss(self, context):
            return HammingLoss()

    _, X, y, partial = CASES["sequence"]
    with pytest.raises(PluginError, match="may leave some open"):
        measures(Engine("sequence", plugins=[General()]).fit(X, y), X, partial)
    engine = Engine("sequence", plugins=[General()], update="pa", loss_weight=1.0)
    with pytest.raises(PluginError, match=r"may leave some open|no method `signs`"):
        engine.fit(X, partial)


def test_a_failed_step_leaves_the_outputs_as_they_were():
    _, X, y, _ = CASES["sequence"]
    engine = Engine("sequence", forbidden_transitions=[("A", "C")], classes=["A", "B", "C"], epochs=1).fit(X, y)
    before = content(engine)
    with pytest.raises(DataError, match="constraints"):
        engine.partial_fit(X[:2], [["A", "C", None, None]] * 2)
    assert content(engine) == before
