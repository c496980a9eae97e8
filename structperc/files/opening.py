"""Files opened for reading: compressed or not, of this machine or an object store, or standard input. Damage raises an error."""

from __future__ import annotations

import bz2
import codecs
import glob
import gzip
import io
import lzma
import os
import sys
import zlib
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from structperc.basics.errors import DataError
from structperc.extras import require

OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
STANDARD_INPUT = "-"
PART_BYTES = 1 << 24        # of text in a part of a file, at most about
BLOCKS = 16                 # of a file that show whether it has changed
BLOCK = 1 << 16             # bytes of each
WATCHER = ContextVar("WATCHER", default=None)           # of a pass that only looks: told which files are opened, and rows passed


def name_of(path) -> str:
    """What messages call a file."""
    return "standard input" if path == STANDARD_INPUT else str(path)


def can_be_read_again(path) -> bool:
    """Whether a second reading finds the same, if the first finds anything; not so standard input and pipes."""
    return path != STANDARD_INPUT and (is_url(path) or os.path.isfile(path) or not os.path.exists(path))


def refuse_second_pass(path) -> None:
    """Raises an error for what cannot be read again."""
    if not can_be_read_again(path):
        raise DataError(f"{name_of(path)} can be read only once; save the data to a file.")


def is_url(path) -> bool:
    """Whether a path is that of an object store or the like, such as s3://bucket/visits.csv."""
    return "://" in str(path)


def opened_bytes(path):
    """A file as it is stored, as a context manager; URLs by fsspec."""
    return require("fsspec", "reading URLs", "dask").open(str(path), "rb") if is_url(path) else open(path, "rb")


def matching(pattern) -> list[str]:
    """The paths or URLs of all files that a pattern matches, sorted."""
    if not is_url(pattern):
        return sorted(glob.glob(os.fspath(pattern), recursive=True))
    store, path = require("fsspec.core", "reading URLs", "dask").url_to_fs(str(pattern))
    return [store.unstrip_protocol(one) for one in sorted(store.glob(path))]


def passed(n_rows) -> None:
    """Reports to whoever watches that so many rows more have been read."""
    if WATCHER.get() is not None:
        WATCHER.get().passed(n_rows)


def fingerprint(path) -> str:
    """The size of a file and a checksum of some of its blocks, the first and the last among them: a changed file has another one."""
    checksum = 0
    with opened_bytes(path) as file:
        size = file.seek(0, os.SEEK_END)
        n = min(BLOCKS, -(-size // BLOCK))
        for i in range(n):
            file.seek(0 if n == 1 else max(0, size - BLOCK) * i // (n - 1))
            checksum = zlib.crc32(file.read(BLOCK), checksum)
    return f"{size} bytes, checksum {checksum:08x}"


@contextmanager
def unchanged(path, before):
    """Raises an error for a file whose fingerprint is another one before or after it is read; None: it has none."""
    refuse_changed(path, before)
    yield
    refuse_changed(path, before)


def refuse_changed(path, before) -> None:
    now = before and fingerprint(path)
    if now != before:
        raise DataError(f"{path} has changed since the training began: it had {before}, and has {now}. Train on a copy that nothing "
                        f"writes to.")


def ending_of(path) -> str:
    """The ending of a file's name with its point, in small letters."""
    return Path(path).suffix.lower()


def ending_within(path) -> str:
    """The same, before that of its compression if it has one."""
    return next((suffix.lower() for suffix in reversed(Path(path).suffixes) if suffix.lower() not in OPENERS), "")


@contextmanager
def opened(path):
    """A file opened for bytes, decompressed by its ending; "-" is standard input. Damaged data raise DataError within the block."""
    if path == STANDARD_INPUT:
        yield sys.stdin.buffer
        return
    suffix = ending_of(path)
    try:
        with opened_bytes(path) as stored:
            if WATCHER.get() is not None:
                WATCHER.get().watch(stored)
            if suffix not in OPENERS:
                yield stored
                return
            with OPENERS[suffix](stored, "rb") as file:
                yield file
    except FileNotFoundError:
        raise
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        if getattr(error, "errno", None) is not None:       # not there, a folder, not readable
            raise
        raise DataError(f"{path} is damaged or no {suffix} file ({error}); compress it again, or rename it.") from None


@contextmanager
def opened_lines(path):
    """A file of text opened for bytes, behind the byte order mark that it may begin with; see `opened`."""
    with opened(path) as file:
        if hasattr(file, "peek"):               # pipes too, which cannot go back
            file.read(len(codecs.BOM_UTF8) if file.peek(len(codecs.BOM_UTF8)).startswith(codecs.BOM_UTF8) else 0)
        elif file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            file.seek(0)
        yield file


@contextmanager
def opened_text(path, encoding="utf-8-sig"):
    """A file opened for text, its line ends as they are; see `opened`."""
    with opened(path) as file:
        text = io.TextIOWrapper(file, encoding=encoding, newline="")
        try:
            yield text
        finally:
            text.detach()       # the file is closed by whoever opened it


def line_of_fault(path, encoding):
    """The first line that holds no text of an encoding, and the byte there; None: there is none. It reads the file."""
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(encoding)(), translate=True)
    line = 1
    with opened(path) as file:
        while True:
            block, before = file.read(BLOCK), decoder.getstate()
            try:
                line += decoder.decode(block, final=not block).count("\n")
            except UnicodeDecodeError as error:
                decoder.setstate(before)
                line += decoder.decode(block[:max(0, error.start - len(before[0]))]).count("\n")
                return line + (decoder.getstate()[1] & 1), error.object[error.start]        # 1: behind a carriage return
            if not block:
                return None


def refuse_return(line, where) -> None:
    """Raises an error for a line of text with a carriage return, at which other programs begin a line."""
    if "\r" in line:
        raise DataError(f"{where} has a carriage return within it; save the file with ends of lines of Unix or Windows.")


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
