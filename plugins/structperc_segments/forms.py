"""The forms of segments for users, (start, stop, label) each or a tag for each token, and their codes."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from structperc.errors import DataError, shortened
from structperc.metrics import phrases
from structperc.plugin_tools import is_listed, is_missing

OPEN, OPEN_BEGIN = -1, -2           # as in atoms.pxd
ENDING = ("E", "L", "S", "U")       # letters of tags behind which a segment is over


def is_tagged(y) -> bool:
    """Whether sentences have a tag or None for each token, by the first entry."""
    first = next((entry for entries in y if is_listed(entries) for entry in entries), ())
    return isinstance(first, str) or is_open(first)


def has_open_parts(y) -> bool:
    """Whether some sentence leaves a token's tag or a segment's label open."""
    return any(is_open(entry) or is_listed(entry) and len(entry) == 3 and is_open(entry[2])
               for entries in y if is_listed(entries) for entry in entries)


def is_open(entry) -> bool:
    return not is_listed(entry) and is_missing(entry)


def segments_of(y, i, n_tokens, tagged) -> list:
    """The segments of a sentence, checked, in order: (start, stop, label, follows), None for the label of an open part."""
    # `follows` of an open part: the segment before it may continue in it. Of a segment: it may be the rest of one that began in the open
    # part before.
    if not is_listed(y):
        raise DataError(f"y[{i}] is {shortened(y)}; expected {'a tag for each token' if tagged else 'a list of (start, stop, label)'}.")
    return from_tags(y, i, n_tokens) if tagged else from_triples(y, i, n_tokens)


def from_triples(y, i, n_tokens) -> list:
    segments, before = [], 0
    for j, segment in sorted(enumerate(y), key=lambda pair: start_of(pair[1])):
        try:
            start, stop, label = segment
            whole = start == int(start) and stop == int(stop) and not isinstance(start, str)
        except (TypeError, ValueError, OverflowError, np.ma.MaskError):
            raise DataError(f"y[{i}][{j}] is {shortened(segment)}; expected (start, stop, label), tokens start to stop - 1.") from None
        if not whole or not 0 <= start < stop <= n_tokens:
            raise DataError(f"y[{i}][{j}] goes from {shortened(start)} to {shortened(stop)}; expected whole numbers, 0 <= start < stop"
                            f"{f' <= {n_tokens}, the tokens' if n_tokens < np.inf else ''}. Correct sentence {i}.")
        if start < before:
            raise DataError(f"y[{i}][{j}] begins at token {start}, but the one before it stops at {before}; expected disjoint segments.")
        segments.append((int(start), int(stop), None if is_open(label) else label, False))
        before = stop
    return segments


def start_of(segment):
    try:
        return float(segment[0])
    except (TypeError, ValueError, IndexError, KeyError, OverflowError):
        return -1.0                     # the message about it comes first


def from_tags(y, i, n_tokens) -> list:
    if len(y) != n_tokens:
        raise DataError(f"y[{i}] has {len(y)} tag{'s' * (len(y) != 1)} but sentence {i} of X has {n_tokens} token"
                        f"{'s' * (n_tokens != 1)}; give one tag per token.")
    segments, at, tag = [], 0, None        # tag: of the token before
    for missing, run in groupby(y, is_open):
        run = list(run)
        if missing:
            segments.append((at, at + len(run), None, tag is None or tag[:1] not in ENDING))
        else:
            wrong = next((tag for tag in run if not isinstance(tag, str) or not tag), None)
            if wrong is not None:
                raise DataError(f"y[{i}] has {shortened(wrong)} among its tags; expected text such as 'B-NP', or None for an unlabelled "
                                f"token.")
            rest = at > 0 and run[0][:1] in ("I", "E", "L", "M")
            segments.extend((at + start, at + stop, label, rest and start == 0) for start, stop, label in phrases(run))
        at, tag = at + len(run), run[-1]
    return segments
