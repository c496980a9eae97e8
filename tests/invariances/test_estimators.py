"""All that estimators return is the same under every change of their examples, or differs for a declared reason."""

import random

import pytest

from invariances.estimator_changes import CHANGES
from invariances.estimator_table import disagreement
from invariances.estimators import Cell, cells, names, trained


@pytest.mark.parametrize("name", names())
def test_answers_are_equal_or_differ_for_a_declared_reason(name):
    one = trained(Cell(name))
    assert not [found for change in CHANGES if (found := disagreement(one, change))]
    drawn = random.Random(name)
    for cell in drawn.sample(cells(name), 1):
        one = trained(cell)
        changes = drawn.sample(sorted(CHANGES), 6) if one is not None else ()
        assert not [(str(cell), found) for change in changes if (found := disagreement(one, change))]
