"""Sentences of tokens with named features, trees and strings: hostile names and values, and objects that run code while they are read."""

from fuzz import hostile, kinds
from fuzz.mutators import disturbed, spoil
from fuzz.promises import READING, attempt
from fuzz.targets.arguments import again, called, trained


def token_part(random):
    """A hostile token, name or value."""
    return random.choice((
        lambda: hostile.value(random), lambda: {"a": hostile.scalar(random)}, lambda: {random.choice(hostile.TEXTS): 1.0},
        lambda: [random.choice(hostile.TEXTS)] * random.choice((1, 2, 30)), lambda: (hostile.scalar(random),), lambda: {"a", "b"},
        lambda: frozenset(("a", "x" * 1000)), lambda: ("word", "tag", "more"), lambda: {hostile.Text("a"): 1}, lambda: {"a": True,
                                                                                                                        "b": "text"},
        lambda: hostile.Text("(S (A a))"), lambda: "(" * 3000, lambda: "(S " * 1500 + "a" + ")" * 1500, lambda: ("S", ("A", "a"), ("B",)),
        lambda: "ab" * 100, lambda: "\ud800x", lambda: ["a", ["b"]], lambda: {"a": {"b": 1.0}}, lambda: {1: 2.0}, lambda: "(S (A) b",
    ))()  # fmt: skip


def hostile_sentences(random):
    """X of objects, spoiled or disturbed, in calls that predict and calls that train."""
    one = kinds.pick(random, lambda kind: isinstance(kind.X, list))
    kind = one.kind
    act = random.randrange(8)
    if act < 5:
        X = spoil(random, kind.X, token_part)
    elif act < 7:
        X = disturbed(random, [list(x) if isinstance(x, tuple) else x for x in kind.X], random.choice((None, None, again(random, one))),
                      hostile.Sequence)
    else:
        X = [token_part(random) for _ in kind.X]
    if act == 6:
        accepted = attempt(READING["predict"], one.engine, X)[0]
    elif random.random() < 0.1:
        accepted = trained(random, one, X, kind.y[:len(X)] if isinstance(X, list) else kind.y, act == 5)
    else:
        accepted = called(random, one, X, acts=act == 5)
    if 5 <= act < 7:
        one.reset()
    return accepted
