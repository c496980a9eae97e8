"""The folder of data sets on this machine, and what is fetched into it."""

from __future__ import annotations

import gzip
import hashlib
import os
import sys
import tempfile
import zipfile
from pathlib import Path

from structperc.basics.errors import MissingData
from structperc.extras import require
from structperc.files.datasets.sources import SOURCES

VARIABLE = "STRUCTPERC_DATA"
BASE_URL = "https://raw.githubusercontent.com"      # may be set to a mirror: a server with the same paths
TIMEOUT = 60                                        # seconds without a reply
MOST_BYTES = 1 << 28                                # of a file that is fetched, and of what an archive holds


def data_home() -> Path:
    """The folder of all data sets: that of the environment variable STRUCTPERC_DATA, else in the user's cache.

    That is `structperc` in $XDG_CACHE_HOME or ~/.cache; in ~/Library/Caches on macOS, in %LOCALAPPDATA% on Windows. It need not exist.

    Examples
    --------
    >>> from structperc.files.datasets import data_home
    >>> (data_home() / "conll2000" / "train.txt.gz").name
    'train.txt.gz'
    """
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        cache = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "structperc"


def locate(name, *, download=True, home=None) -> list[Path]:
    """The files of a data set on this machine, in the order of its `Source`. Missing ones are fetched first.

    Parameters
    ----------
    name : str
        One of `SOURCES`.
    download, home
        As in `load_conll2000`.

    Raises
    ------
    MissingData, MissingExtra

    Examples
    --------
    >>> import tempfile
    >>> from structperc.files.datasets import locate
    >>> with tempfile.TemporaryDirectory() as home:
    ...     locate("conll2000", download=False, home=home)
    Traceback (most recent call last):
        ...
    structperc.errors.MissingData: CoNLL-2000 is not in ...
    """
    source = SOURCES[name]
    folder = Path(data_home() if home is None else home, source.folder)
    missing = [file for file in source.files if present(folder, file) is None]
    if missing and not download:
        raise absent(source, folder, missing, "was not to be fetched (download=False)")
    if missing:
        fetch(source, folder, missing)
    return [present(folder, file) for file in source.files]


def present(folder, file):
    """The file's path, compressed or plain, or None."""
    return next((path for path in (folder / f"{file.name}.gz", folder / file.name) if path.is_file()), None)


def fetch(source, folder, files) -> None:
    """Fetches files, compares their checksums, and only then writes them all into the folder."""
    requests = require("requests", f"{source.title} is not in {folder}; fetching it", "data")
    fetched, contents = {}, {}
    try:
        with tempfile.TemporaryDirectory() as scratch:
            for path in dict.fromkeys(path for file in files for path in (file.path, *file.beside)):
                fetched[path] = Path(scratch, str(len(fetched)))
                with requests.get(f"{BASE_URL}/{path}", stream=True, timeout=TIMEOUT) as reply, open(fetched[path], "wb") as file:
                    reply.raise_for_status()
                    write_limited(reply.iter_content(1 << 16), file)
            for file in files:
                path = file.path
                contents[file] = content_of(file, fetched[path], *(fetched[other] for other in file.beside))
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise absent(source, folder, files, f"could not be fetched from {BASE_URL}/{path} ({error})") from error
    for file, content in contents.items():
        checksum = hashlib.sha256(content).hexdigest()
        if checksum != file.sha256:
            raise absent(source, folder, files, f"what {BASE_URL}/{file.path} gave for {file.name} has the SHA-256 checksum {checksum}, "
                                                f"expected {file.sha256}, so nothing was kept")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, content in contents.items():
            write(folder / f"{file.name}.gz", gzip.compress(content, mtime=0))
    except OSError as error:
        raise absent(source, folder, files, f"was fetched but could not be written there ({error})") from error


def write_limited(parts, file) -> None:
    """Writes at most `MOST_BYTES`; a compressed reply counts as what it becomes."""
    for part in parts:
        if file.tell() + len(part) > MOST_BYTES:
            raise too_large()
        file.write(part)


def too_large() -> ValueError:
    return ValueError(f"it is larger than {MOST_BYTES >> 20} MiB")


def content_of(file, fetched, *beside) -> bytes:
    if file.made:
        return file.made(fetched.read_bytes(), *(path.read_bytes() for path in beside))
    if file.member is None:
        return fetched.read_bytes()
    try:
        with zipfile.ZipFile(fetched) as archive:
            if archive.getinfo(file.member).file_size > MOST_BYTES:
                raise too_large()
            return archive.read(file.member)
    except Exception as error:          # zipfile raises ten kinds for damaged archives
        raise zipfile.BadZipFile(f"{file.member} cannot be read from this archive: {type(error).__name__}: {error}") from error


def write(path, content) -> None:
    """Writes a file so that it is there whole or not at all."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def absent(source, folder, files, reason) -> MissingData:
    names = ", ".join(f"{file.name}.gz" for file in files)
    return MissingData(f"{source.title} is not in {folder}, and {reason}. Put {names} there (or the same files without .gz). Or set the "
                       f"environment variable {VARIABLE} to the folder that has {source.folder}.")
