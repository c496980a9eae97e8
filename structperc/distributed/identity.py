"""What a part holds, in a few words with a checksum: a training that is resumed notices other data or other parts."""

from __future__ import annotations

import functools
import os
import re
import zlib

import numpy as np

from structperc.engine.checkpoints.files import contents
from structperc.files.opening import fingerprint, is_url

ADDRESS = re.compile(r" at 0x[0-9a-f]+")
PLAIN = (str, bytes, int, float, type(None), np.generic)


def identity_of(loader) -> str:
    """Of a file its fingerprint; of other parts the number of pieces, and a checksum of what training reads there."""
    loader = loader.open()
    if loader.path is not None and (is_url(loader.path) or os.path.isfile(loader.path)):
        how = f"{described(loader.part)} {described(loader.read)}"
        return f"{fingerprint(loader.path)}, read by {zlib.crc32(how.encode('utf-8', 'surrogatepass')):08x}"
    told = [" ".join(f"{name} {contents_of(data[name])}" for name in sorted(data)) for data in loader.pieces()]
    return f"{len(told)} pieces:{zlib.crc32(repr(told).encode('utf-8', 'surrogatepass')):08x}"


def described(value) -> str:
    """The name of a reading function or the text of its argument, equal in every process."""
    if isinstance(value, functools.partial):
        return f"{described(value.func)} {value.args} {sorted(value.keywords.items())}"
    return getattr(value, "__qualname__", None) or ADDRESS.sub("", repr(value))


def contents_of(value) -> str:
    """The size and a checksum of an array, a frame or a list."""
    if hasattr(value, "iloc") and hasattr(value, "columns"):
        return " ".join(f"{name} {contents(value[name].to_numpy())}" for name in value.columns)
    if hasattr(value, "iloc") or hasattr(value, "categories"):
        return contents(np.asarray(value))
    if not isinstance(value, (list, tuple)):
        return contents(value) if hasattr(value, "dtype") else ADDRESS.sub("", repr(value))
    text = ADDRESS.sub("", repr(value)) if isinstance(leaf_of(value), PLAIN) else " ".join(map(contents_of, value))
    return f"{len(value)}:{zlib.crc32(text.encode('utf-8', 'surrogatepass')):08x}"


def leaf_of(value):
    """The first entry of nested lists and dicts."""
    while isinstance(value, (list, tuple, dict)):
        value = next(iter(value.values() if isinstance(value, dict) else value), None)
    return value
