"""All that estimators return is the same under every change of their examples, or differs for a declared reason."""

import random

import pytest

from invariances.estimator_changes import CHANGES, distance
from invariances.estimator_exceptions import RULES, numbers_apart
from invariances.estimators import Cell, cells, names, trained
from structperc.errors import StructPercError


def disagreement(one, name, proving=()) -> str:
    """What contradicts the declarations, or nothing; the rules of `proving` excuse nothing."""
    run, bound = CHANGES[name]
    rules = [rule for rule in RULES if name in rule.names and rule not in proving and rule.applies(one)]
    try:
        answers = run(one)
    except (StructPercError, TypeError) as error:
        return "" if any(rule.refused and rule.refused in str(error) for rule in rules) else f"{name}: {error!r}"
    if answers is None:
        return ""
    expected, got = answers if isinstance(answers, tuple) else (one.answers(), answers)
    apart = distance(expected, got)
    if apart <= bound or any(excuses(rule, one, name, expected, got, proving) for rule in rules if not rule.refused):
        return ""
    return f"{name}: the answers differ by {apart:.3g} of the largest, more than {bound:g}"


def excuses(rule, one, name, expected, got, proving) -> bool:
    """Whether the proof of a rule holds here."""
    if rule.bound:
        return numbers_apart(expected, got) <= rule.bound(one)
    if rule.seen:
        return distance(rule.seen(one, expected), rule.seen(one, got)) <= CHANGES[name][1]
    return not disagreement(rule.under(one), name, (*proving, rule))


@pytest.mark.parametrize("name", names())
def test_answers_are_equal_or_differ_for_a_declared_reason(name):
    one = trained(Cell(name))
    assert not [found for change in CHANGES if (found := disagreement(one, change))]
    drawn = random.Random(name)
    for cell in drawn.sample(cells(name), min(2, len(cells(name)))):
        one = trained(cell)
        changes = drawn.sample(sorted(CHANGES), 5) if one is not None else ()
        assert not [(str(cell), found) for change in changes if (found := disagreement(one, change))]
