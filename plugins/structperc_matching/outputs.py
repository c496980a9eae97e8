"""Matchings as sets of pairs, and the loss that counts wrong partners."""

import numpy as np

from structperc.components import Loss, Outputs
from structperc.errors import DataError, PluginError, shortened
from structperc.pictures import Display
from structperc.plugin_tools import is_listed, key_text, key_values, of_keys


class PairDisplay(Display):
    """Pairs by their two items."""

    def atom_names(self, x):
        return [f"{key_text(left)} with {key_text(right)}" for left, right in key_values(x)]


class Matchings(Outputs):
    """Sets of pairs without common items; given as row numbers or as pairs (left, right)."""
    # perfect: bool. Whether every item of the side with fewer items is matched.
    # shown: {"rows", "pairs"}. As what `decode` shows them, in the order of rows.

    def __init__(self, perfect, shown="rows"):
        self.perfect, self.shown = perfect, shown

    def decode(self, y, x):
        if self.shown == "rows":
            return tuple(y)
        pairs = key_values(x)
        return [pairs[a] for a in y]

    def encode(self, y, rows):
        if is_listed(y) and len(y) == rows.n_examples:
            y = [of_pairs(one, rows.example(i)) if is_of_pairs(one) else one for i, one in enumerate(y)]
        return super().encode(y, rows)

    def check_structure(self, x, y):
        super().check_structure(x, y)
        keys = x.keys
        for side, name in enumerate(("left", "right")):
            if len(set(keys[list(y), side].tolist())) < len(y):
                raise PluginError(f"the matching {shortened(y)} of example {x.index} has a {name} item in two pairs.")
        if self.perfect:
            smaller = of_keys(x, "smaller side", lambda x: min(len(set(items)) for items in x.keys.T.tolist()))
            if len(y) < smaller:
                raise PluginError(f"the matching {shortened(y)} of example {x.index} has {len(y)} pairs; a perfect one has {smaller}.")

    def enumerate(self, x):
        left, right = x.keys.T.tolist()
        items = sorted(set(left))
        smaller = min(len(items), len(set(right)))

        def extended(i, used, chosen):
            if i == len(items):
                if not self.perfect or len(chosen) == smaller:
                    yield tuple(sorted(chosen))
                return
            yield from extended(i + 1, used, chosen)
            for a in range(len(left)):
                if left[a] == items[i] and right[a] not in used:
                    yield from extended(i + 1, used | {right[a]}, (*chosen, a))

        return extended(0, frozenset(), ())

    def display(self):
        return PairDisplay(self)


def is_of_pairs(y) -> bool:
    """Whether an output names pairs of items, not rows."""
    try:
        return len(y) > 0 and len(y[0]) == 2
    except (TypeError, KeyError, IndexError):
        return False


def of_pairs(y, x):
    """The rows of pairs of items."""
    row_of = {pair: a for a, pair in enumerate(key_values(x))}
    item = float if x.source.values is None else plain
    try:
        return tuple(row_of[item(left), item(right)] for left, right in y)
    except (TypeError, ValueError, KeyError):
        raise DataError(f"y[{x.index}] is {shortened(y)}; expected pairs (left, right) that X lists.") from None


def plain(key):
    """A scalar of NumPy as the value of Python that it equals."""
    return key.item() if isinstance(key, np.generic) else key


class PartnerLoss(Loss):
    """The number of left items with a wrong partner: another one, one instead of none, or none instead of one."""

    def value(self, gold, y, x):
        left = x.keys[:, 0]
        wrong = set(gold) ^ set(y)
        return len({left[a] for a in wrong})

    def augment(self, gold, scores, scale, x):
        """A right pair saves 1. A pair of a left item that should have none costs 1. The constant counts the items that should have one."""
        left, scores, gold = x.keys[:, 0], np.array(scores), list(gold)
        scores[~np.isin(left, left[gold])] += scale
        scores[gold] -= scale
        return scores


__all__ = ["Matchings", "PartnerLoss"]
