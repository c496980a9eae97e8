"""The nearest sentence: the fewest tokens replaced by given alternatives, by trying all of one, then of two, and so on."""

from __future__ import annotations

import itertools

import numpy as np

from structperc.basics.errors import DataError, OptionError, shortened
from structperc.counterfactuals.columns import Change

AT_ONCE = 512               # sentences that are predicted together


def alternatives_of(x, alternatives) -> list:
    """Pairs of a position and what may stand there."""
    if not hasattr(alternatives, "items"):
        raise OptionError(f"alternatives={shortened(alternatives)}; expected a dict from positions, or tokens, to lists of tokens.")
    tokens_at = {}
    for key, tokens in alternatives.items():
        if isinstance(tokens, str) or not hasattr(tokens, "__iter__"):
            raise OptionError(f"alternatives[{key!r}] is {shortened(tokens)}; expected a list of tokens.")
        by_position = isinstance(key, (int, np.integer)) and not isinstance(key, bool)
        if by_position and not 0 <= key < len(x):
            raise OptionError(f"alternatives names the position {key}; x has {len(x)} tokens, from 0.")
        for at in [int(key)] if by_position else [i for i, token in enumerate(x) if same(token, key)]:
            others = tokens_at.setdefault(at, [])
            others += [token for token in tokens if not any(same(token, other) for other in (x[at], *others))]
    return [(at, others) for at, others in sorted(tokens_at.items()) if others]


def same(token, other) -> bool:
    """Whether two tokens are equal; a token with arrays equals only itself."""
    try:
        return token is other or bool(token == other)
    except (TypeError, ValueError):
        return False


class Sentences:
    """The sentences around one, and the model's predictions of them."""
    # x: list of tokens
    # goal: Goal. Of x.

    def __init__(self, model, x, goal):
        self.model, self.x, self.goal = model, list(x), goal

    def replaced(self, choice) -> list:
        """x with tokens at some positions."""
        tokens = list(self.x)
        for at, token in choice:
            tokens[at] = token
        return tokens

    def first_wanted(self, choices):
        """The first of these choices whose sentence gets a wanted prediction, or None."""
        rows = self.model.read([self.replaced(choice) for choice in choices])
        structures = self.model.parts.outputs.encode_answers(self.model.predict(rows), rows)
        for i, choice in enumerate(choices):
            example = self.model.example(rows, i)
            if example.n_atoms != self.goal.example.n_atoms:
                raise DataError(f"with the tokens {shortened(list(choice))} the example has {example.n_atoms} atoms instead of "
                                f"{self.goal.example.n_atoms}. Expected alternatives that leave its structures the same.")
            if self.goal.holds(self.goal.counts(structures[i], example)):
                return choice
        return None

    def search(self, alternatives, clock):
        """The nearest choice or None, and a lower bound on the number of replaced tokens."""
        for n in range(1, len(alternatives) + 1):
            every = (choice for places in itertools.combinations(alternatives, n)
                     for choice in itertools.product(*([(at, token) for token in others] for at, others in places)))
            while True:
                choices = list(itertools.islice(every, AT_ONCE))
                if not choices:
                    break
                first = self.first_wanted(choices)
                if first is not None:
                    return first, float(n)
                if clock.over:
                    return None, float(n)
        return None, np.inf

    def changes(self, choice) -> list[Change]:
        return [Change(at, f"token {at}", self.x[at], token, 1.0) for at, token in choice]
