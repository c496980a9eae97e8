"""A cell of the table under a transformation: equal as declared, or otherwise for a declared reason."""

from invariances.exceptions import rules_of
from invariances.transformations import TRANSFORMATIONS, distance, scores
from structperc.errors import StructPercError


def disagreement(one, name, used=None, proving=()) -> str:
    """What contradicts the declarations, or nothing. Rules without which something would contradict are added to `used`.

    The rules of `proving` excuse nothing: a proof never rests on its own rule.
    """
    run, bound = TRANSFORMATIONS[name]
    rules = [rule for rule in rules_of(one, name) if rule not in proving]
    try:
        answer = run(one)
    except StructPercError as error:
        excused = [rule for rule in rules if rule.refused and rule.refused in str(error)]
        note(used, excused)
        return "" if excused else f"{name}: {error}"
    if answer is None:
        return ""
    expected, got = answer if isinstance(answer, tuple) else (scores(one.engine, one.X, one.told), answer)
    apart = distance(expected, got)
    if apart <= bound:
        return ""
    excused = [rule for rule in rules if not rule.refused and excuses(rule, one, name, (expected, got), proving)]
    note(used, excused)
    return "" if excused else f"{name}: the scores differ by {apart:.3g} of the largest, more than {bound:g}"


def excuses(rule, one, name, answers, proving) -> bool:
    """Whether the proof of a rule holds for these scores."""
    expected, got = answers
    if rule.bound:
        return distance(expected, got) <= rule.bound(one)
    if rule.seen:
        return distance(rule.seen(one, expected), rule.seen(one, got)) <= TRANSFORMATIONS[name][1]
    try:
        other = rule.under(one)
    except StructPercError:
        return True
    return not disagreement(other, name, proving=(*proving, rule))


def note(used, excused):
    """A rule is needed where no other one excuses the same."""
    if used is not None and len(excused) == 1:
        used.add(excused[0].because)
