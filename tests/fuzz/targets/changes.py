"""Counterfactuals of trained engines: nearly right and hostile examples, wanted outputs and options of the search."""

import numpy as np
import scipy.sparse as sp

import structperc
from fuzz import hostile, kinds
from fuzz.mutators import spoil, spoil_array
from fuzz.promises import attempt, expect
from fuzz.targets.arguments import listed
from structperc.counterfactuals import Wanted

OPTIONS = {
    "fixed": ([0], [], ["x1"], (0, 1, 2)),
    "bounds": ({0: (-5, 5)}, {0: (None, 9.0)}, {1: (0, -1)}),
    "whole": ([1], (0, 2)),
    "groups": ({"g": [0, 1]}, {"g": [0, 1, 2]}),
    "norm": ("l1", "l2"),
    "rows": ([0], [0, 1]),
    "spreads": ([1.0, 1.0, 1.0], [0.0, 1.0, 2.0]),
    "alternatives": ({0: [["a"]]}, {"the": ["a"]}),
}


def hostile_changes(random):
    """A counterfactual of the first example, with a distance of at least its bound, or an error."""
    one = kinds.pick(random)
    x, wanted = one.kind.first, random.choice(listed(one.kind.y))
    options = {name: random.choice(OPTIONS[name]) for name in random.sample(sorted(OPTIONS), k=random.choice((0, 0, 1, 2)))}
    act, right = random.randrange(8), not options
    if act == 0:
        x, right = spoil(random, listed(x)), False
    elif act == 1 and not isinstance(x, list):
        x, right = spoil_array(random, np.asarray(x.toarray() if sp.issparse(x) else x)), False
    elif act == 2:
        wanted, right = random.choice((spoil(random, wanted) if isinstance(wanted, list) else 99, hostile.value(random))), False
    elif act == 3:
        given = {random.choice(("one_of", "at_least", "at_most", "chosen", "not_chosen")): hostile.value(random)}
        accepted, wanted = attempt(Wanted, **given)
        right = False
        if not accepted:
            return False
    elif act == 4:
        options[random.choice([*OPTIONS, "time_limit"])], right = hostile.value(random), False
    found, answer = attempt(structperc.counterfactual, one.engine, x, wanted, **{"time_limit": 0.2, **options})
    if found and right and answer.changes:
        expect(answer.distance >= answer.bound - 1e-6, f"the distance {answer.distance} is below its bound {answer.bound}")
    return found
