"""Files opened for reading: compressed or not, or standard input. Damage raises an error."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import zlib
from contextlib import contextmanager
from pathlib import Path

from structperc.core.errors import DataError

OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
STANDARD_INPUT = "-"
PART_BYTES = 1 << 24        # of text in a part of a file, at most about


def name_of(path) -> str:
    """What messages call a file."""
    return "standard input" if path == STANDARD_INPUT else str(path)


def can_be_read_again(path) -> bool:
    """Whether a second reading finds the same, if the first finds anything; not so standard input and pipes."""
    return path != STANDARD_INPUT and (os.path.isfile(path) or not os.path.exists(path))


def uncompressed_suffix(path) -> str:
    """The ending of a file's name before that of its compression, in small letters."""
    return next((suffix.lower() for suffix in reversed(Path(path).suffixes) if suffix.lower() not in OPENERS), "")


@contextmanager
def opened(path):
    """A file opened for bytes, decompressed by its ending; "-" is standard input.

    Raises
    ------
    DataError
        Within the block, where compressed data are damaged or end too early.
    OSError
        The file cannot be opened.
    """
    if path == STANDARD_INPUT:
        yield sys.stdin.buffer
        return
    suffix = Path(path).suffix.lower()
    try:
        with OPENERS.get(suffix, open)(path, "rb") as file:
            yield file
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        if getattr(error, "errno", None) is not None:       # not there, a folder, not readable
            raise
        raise DataError(f"{path} is damaged or no {suffix} file ({error}); compress it again, or rename it.") from None


@contextmanager
def opened_text(path, encoding="utf-8-sig"):
    """A file opened for text, its line ends as they are; see `opened`."""
    with opened(path) as file:
        text = io.TextIOWrapper(file, encoding=encoding, newline="")
        try:
            yield text
        finally:
            text.detach()       # the file is closed by whoever opened it


def line_lists(file, rows):
    """The lines of a file in lists of at most so many, and about `PART_BYTES` bytes."""
    lines, size = [], 0
    for line in file:
        lines.append(line)
        size += len(line)
        if len(lines) >= rows or size >= PART_BYTES:
            yield lines
            lines, size = [], 0
    if lines:
        yield lines
