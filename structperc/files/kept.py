"""Parts of data that are read once, and then come from a mapped temporary file."""

from __future__ import annotations

import errno
import mmap
import pickle
import shutil
import tempfile
import warnings

from structperc.basics.errors import DataError, DataWarning, shortened

__all__ = ["Kept"]

ALIGNED = 64            # bytes: arrays begin at a multiple of them
SHARE = 2               # one byte in so many of those that are free may be taken


class Kept:
    """Parts that are read once: the first pass writes them to a temporary file, and later passes map it.

    Pass it to `structperc.streams.fit_stream` instead of a function, for several epochs over what takes time to read: CSV, svmlight,
    compressed text, queries of databases. The model has the same bits.

    The file has no name, so nothing remains after an error, Ctrl-C or kill -9. Set the environment variable TMPDIR to choose its folder.
    It takes at most half of the bytes that are free there. If these do not suffice, each pass calls the function, with a
    `structperc.errors.DataWarning`.

    Cost: the first pass writes 8 bytes for each number. Later passes read these from the disk or its cache, and copy none. Texts are
    pickled.

    Parameters
    ----------
    read : function without arguments that returns an iterator
        Parts as of `structperc.streams.fit_stream`. Arrays of parts that have been kept are read-only.

    Raises
    ------
    DataError
        A part cannot be pickled.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from structperc import Engine, files
    >>> from structperc.streams import fit_stream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "visits.csv").write_text("age,level\\n31,1\\n40,1\\n62,2\\n")
    ...     parts = files.Kept(lambda: files.stream(f"{folder}/visits.csv", target="level", rows=2))
    ...     engine = fit_stream(Engine("cusum", classes=[1, 2], epochs=3), parts)
    >>> [part.y.tolist() for part in parts()]           # the file is no longer there
    [[1, 1], [2]]
    """

    def __init__(self, read):
        self.read, self.parts, self.has_room = read, None, True

    def __call__(self):
        """A generator of one pass over the parts."""
        if self.parts is not None:
            yield from map(loaded, self.parts)
        else:
            yield from keeping(self) if self.has_room else self.read()


def keeping(kept):
    """The parts of the function. If the pass comes to their end, all are kept."""
    source, file = kept.read(), PartFile()
    try:
        for n, part in enumerate(source, start=1):
            if kept.has_room:
                kept.has_room = takes(file, part)
            yield part
            if kept.parts is not None:          # a pass within this one has kept all
                yield from map(loaded, kept.parts[n:])
                return
        if kept.has_room:
            kept.parts = file.mapped()
    finally:
        file.close()
        if hasattr(source, "close"):
            source.close()


def takes(file, part) -> bool:
    """Writes a part to a file, if the disk takes it."""
    try:
        file.add(part)
    except OSError as error:
        warnings.warn(f"the parts are read again in each epoch: a temporary file cannot keep them ({error.strerror}). Set TMPDIR to a "
                      f"folder with more room.", DataWarning, stacklevel=3)
        return False
    return True


class PartFile:
    """A temporary file without a name: of each part the arrays, and then its pickle."""

    def __init__(self):
        self.file, self.size, self.places = None, 0, []

    def add(self, part) -> None:
        """Writes a part at the end. OSError: there is no room."""
        buffers = []
        try:
            text = pickle.dumps(part, protocol=5, buffer_callback=buffers.append)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise DataError(f"a part cannot be kept, since it cannot be pickled ({shortened(str(error))}). Pass the function that reads "
                            f"instead of Kept.") from None
        pieces = [*(buffer.raw() for buffer in buffers), memoryview(text)]
        if self.file is None:
            self.file = tempfile.TemporaryFile(prefix="structperc-")        # noqa: SIM115 (open from part to part)
        self.refuse_if_full(sum(piece.nbytes + ALIGNED for piece in pieces))
        places = []
        for piece in pieces:
            start = -(-self.size // ALIGNED) * ALIGNED
            self.file.seek(start)
            self.file.write(piece)
            self.size = start + piece.nbytes
            places.append(slice(start, self.size))
        self.file.flush()           # a full disk raises the error here
        self.places.append(places)

    def refuse_if_full(self, further) -> None:
        """Raises OSError if the file and so many further bytes exceed its share of the disk."""
        free = shutil.disk_usage(tempfile.gettempdir()).free
        if self.size + further > (self.size + free) / SHARE:
            raise OSError(errno.ENOSPC, f"{tempfile.gettempdir()} has {free} bytes left")

    def mapped(self) -> list:
        """The pieces of each part, in a map that stays when the file is closed."""
        if not self.places:
            return []
        whole = memoryview(mmap.mmap(self.file.fileno(), 0, access=mmap.ACCESS_READ))
        return [[whole[place] for place in places] for places in self.places]

    def close(self) -> None:
        if self.file is not None:
            self.file.close()


def loaded(pieces):
    """A part of its arrays, which are not copied, and its pickle."""
    *buffers, text = pieces
    return pickle.loads(text, buffers=buffers)
