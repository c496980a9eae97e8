"""An estimator of the table under a change of its examples or door: equal as declared, or otherwise for a declared reason."""

from invariances.estimator_changes import CHANGES, distance
from invariances.estimator_exceptions import RULES, numbers_apart
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
