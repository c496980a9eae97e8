"""How files are replaced: whole or not at all, also through Ctrl-C, kill -9, a full disk and a power failure.

A new content goes to a temporary file beside the target and to the disk. One rename gives it the target's name. Its writer locks the
temporary file, and the system drops the lock with the process. So the next writer of the target removes the file of a killed one.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from functools import partial

from structperc.basics.errors import OptionError, shortened

try:
    import fcntl
except ImportError:         # Windows: no locks, so nothing is ever taken for left over
    fcntl = None


def replace_file(path, write) -> None:
    """Gives a file a new content once `write` has written all of it. Until then, and after any failure, the old one stays."""
    # Links are followed, also to a file that does not exist yet. FIFOs, devices and open descriptors such as /dev/stdout are written to
    # directly. An existing file keeps its mode, and its owner if the system permits it. A new one has the mode of the umask. Costs one
    # fsync of the file and one of its folder. These take about a millisecond on an SSD and ten on a turning disk.
    path = readable_path(path)
    try:
        open_number = descriptor(path)
        if open_number is not None:
            with open(open_number, "wb", closefd=False) as file:
                write(file)
            return
        before = None
        with suppress(FileNotFoundError):
            before = os.stat(path)
        if before is not None and not stat.S_ISREG(before.st_mode):
            with open(path, "wb") as file:
                write(file)
            return
        replace_regular(os.path.realpath(path), before, write)
    except OSError as error:
        if error.errno is None:         # a sentence already, from inside `write`
            raise
        raise type(error)(f"the file cannot be written to {path!r}: {error.strerror or error}; choose a path in a writable folder with "
                          f"enough space.") from None


def readable_path(path) -> str:
    """A path as a text that systems accept."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise OptionError(f"the path is {shortened(path)}; expected a text or a pathlib.Path.")
    path = os.fsdecode(path)
    if "\0" in path:
        raise OptionError(f"the path {path!r} holds a zero character, which no file name can; choose another path.")
    return path


def replace_regular(target, before, write) -> None:
    """`replace_file` for a path without links to a regular file, of which `before` is the present state, or to none."""
    if before is not None and not os.access(target, os.W_OK):
        raise PermissionError(13, "it is protected against writing")
    folder, name = os.path.split(target)
    series = f".structperc-{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}-"
    remove_left_over(folder, series)
    while not replaced(os.path.join(folder, series + os.urandom(8).hex()), target, before, write):
        pass
    sync_folder(folder)


def replaced(temporary, target, before, write) -> bool:
    """Writes the temporary file and renames it. Returns False if another writer removed it before it was locked."""
    try:
        # from C to C: Ctrl-C cannot fall between the opening and the object that closes
        with open(temporary, "xb", opener=partial(os.open, mode=0o666 if before is None else before.st_mode & 0o666)) as file:
            if not claimed(file):
                return False
            if before is not None:
                keep_owner_and_mode(file, before)
            write(file)
            file.flush()
            os.fsync(file.fileno())
            if fcntl is None:           # Windows only renames closed files; elsewhere the lock lasts until the rename
                file.close()
            os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):         # gone where the rename had succeeded
            os.unlink(temporary)
        raise
    return True


def descriptor(path) -> int | None:
    """The number of the open descriptor that a path such as /dev/stdout means."""
    descriptors = os.path.realpath("/dev/fd")
    for _ in range(40):
        if not os.path.islink(path):
            return None
        folder, name = os.path.split(path)
        folder = os.path.realpath(folder)
        if folder == descriptors and name.isdigit():
            return int(name)
        path = os.path.join(folder, os.readlink(path))
    return None


def claimed(file) -> bool:
    """Takes the lock that distinguishes this file from one left over. Returns False if it was removed before."""
    with suppress(OSError):     # a file system without locks
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
    return os.fstat(file.fileno()).st_nlink > 0


def remove_left_over(folder, series) -> None:
    """Removes the temporary files of writers that were killed."""
    names = []
    if fcntl is not None:
        with suppress(OSError):         # a folder that may be written but not listed
            names = [name for name in os.listdir(folder) if name.startswith(series)]
    for path in (os.path.join(folder, name) for name in names):
        with suppress(OSError), open(path, "r+b") as file:      # OSError: at work, finished meanwhile, or of another user
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(path)


def keep_owner_and_mode(file, before) -> None:
    """Gives a new file the owner and the mode of the one that it replaces."""
    if os.name != "posix":
        return
    own = os.fstat(file.fileno())
    if (own.st_uid, own.st_gid) != (before.st_uid, before.st_gid):
        with suppress(PermissionError):
            os.fchown(file.fileno(), before.st_uid, before.st_gid)
    os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))


def sync_folder(folder) -> None:
    """Has the rename survive a power failure, where the system can do that for a folder."""
    opened = []
    with suppress(OSError):
        try:
            opened.extend(map(os.open, (folder,), (os.O_RDONLY,)))      # in one step, as above
            os.fsync(opened[0])
        finally:
            if opened:
                os.close(opened[0])
