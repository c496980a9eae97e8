"""Which labels may follow each other, begin and end a sentence."""

from __future__ import annotations

import itertools

import attrs
import numpy as np

from structperc.errors import OptionError, did_you_mean, shortened
from structperc.plugin_tools import codes_of, plain_labels

SCHEMES = {"iob1": "BI", "iob2": "BI", "iobes": "BIES", "bilou": "BILU", "bmes": "BMES"}       # first, inside, last, single
EDGE = None                     # the boundary of the sentence, as one side of a pair


@attrs.frozen(eq=False)
class Constraints:
    """Truth values: `pairs[l, m]`: m may follow l, shape (L, L); `starts[l]`, `ends[l]`: l may begin, end; shape (L,)."""

    pairs: np.ndarray
    starts: np.ndarray
    ends: np.ndarray

    @property
    def any(self) -> bool:
        """Whether anything is forbidden."""
        return not (self.pairs.all() and self.starts.all() and self.ends.all())

    def violated(self, codes, names) -> tuple[int, str] | None:
        """The first token of a sentence (codes 1..L of these names, 0: not known) that breaks a rule, and how; or None."""
        if len(codes) == 0:
            return None
        labels = np.asarray(codes) - 1
        labelled = labels >= 0
        if labelled[0] and not self.starts[labels[0]]:
            return 0, "may not begin a sentence"
        bad = np.flatnonzero(labelled[:-1] & labelled[1:] & ~self.pairs[labels[:-1], labels[1:]])
        if len(bad):
            return int(bad[0]) + 1, f"may not follow {names[labels[bad[0]]]!r}"
        return None if not labelled[-1] or self.ends[labels[-1]] else (len(labels) - 1, "may not end a sentence")


def read_constraints(labels, forbidden=(), required=()) -> Constraints:
    """From the options `forbidden`, pairs or the name of a scheme, and `required`: None is the boundary. OptionError for other pairs."""
    # (a, b): b may not follow a, or after a only the b of such pairs may come. The schemes forbid what phrases written so never contain.
    labels = np.asarray(labels)
    L = len(labels)
    allowed = np.ones((L + 1, L + 1), dtype=bool)           # the boundary is number L on both sides
    if isinstance(forbidden, str):
        allowed = scheme(plain_labels(labels), forbidden)
    else:
        for a, b in pairs(forbidden, "forbidden_transitions", labels):
            allowed[a, b] = False
    only = pairs(required, "required_transitions", labels)
    for a in {a for a, _ in only}:
        allowed[a] &= np.isin(np.arange(L + 1), [b for first, b in only if first == a])
    allowed[L, L] = True
    return Constraints(allowed[:L, :L], allowed[L, :L], allowed[:L, L])


def pairs(value, name, labels) -> list[tuple[int, int]]:
    """The pairs as numbers of labels."""
    try:
        listed = [(a, b) for a, b in value]
    except (TypeError, ValueError, OverflowError):
        raise OptionError(f"{name}={shortened(value, 80)}; expected a list of pairs of labels, None for the boundary of a sentence"
                          f"{', or one of ' + ', '.join(map(repr, SCHEMES)) if name.startswith('forbidden') else ''}.") from None
    place = codes_of(labels) | {EDGE: len(labels)}
    for label in itertools.chain(*listed):
        try:
            known = label in place
        except TypeError:               # a list
            known = False
        if not known:
            listing = ", ".join(map(repr, plain_labels(labels[:8]))) + (", ..." if len(labels) > 8 else "")
            raise OptionError(f"{name} names {shortened(label)}, which is not one of the labels {listing}.")
    return [(place[a], place[b]) for a, b in listed]


def scheme(labels, name) -> np.ndarray:
    """The pairs that a scheme of phrases allows, (L + 1, L + 1) with the boundary last. Labels are "O", or a letter, "-" and a type."""
    if name not in SCHEMES:
        raise OptionError(f"forbidden_transitions={name!r}; expected a list of pairs of labels, or one of {', '.join(map(repr, SCHEMES))}."
                          f"{did_you_mean(name, SCHEMES)}")
    parts = [part_of(label, name) for label in labels]
    if None in parts:
        label, letters = labels[parts.index(None)], SCHEMES[name]
        other = next((other for other in SCHEMES if all(part_of(label, other) for label in labels)), None)
        raise OptionError(f"forbidden_transitions={name!r}: the label {shortened(label)} does not belong to it. Expected 'O' or one of "
                          f"the letters {', '.join(letters)}, a '-' and a type, such as '{letters[0]}-NP'."
                          f"{f' These labels look like {other!r}.' if other else ''}")
    parts.append(("O", ""))                                 # the boundary is as if outside
    return np.array([[fits(name, *one, *other) for other in parts] for one in parts])


def part_of(label, name):
    """The letter and the type of a label; None: it does not belong to the scheme."""
    letter, _, kind = label.partition("-") if isinstance(label, str) else ("?", "", "")
    return (letter, kind) if letter in SCHEMES[name] and len(letter) == 1 or label == "O" else None


def fits(name, letter, kind, following, its_kind) -> bool:
    same = kind == its_kind
    if name == "iob2":                                      # I continues a phrase of its type
        return following != "I" or letter != "O" and same
    if name == "iob1":                                      # B only parts two phrases of one type
        return following != "B" or letter != "O" and same
    first, inside, last, single = SCHEMES[name]
    if letter in (first, inside):                           # which must go on, all others must not
        return following in (inside, last) and same
    return following in ("O", first, single)
