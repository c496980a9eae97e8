"""Real data sets for experiments: read from a folder of this machine, fetched into it once when they are not there.

Each data set has a folder of its own under `data_home()`, and in it the files of its `Source`, compressed by gzip or plain:

    conll2000/train.txt.gz  test.txt.gz
    ud_english_ewt/en_ewt-ud-train.conllu.gz  en_ewt-ud-dev.conllu.gz  en_ewt-ud-test.conllu.gz

Files that lie there are read as they are. What is fetched is compared with the checksums in `SOURCES` before anything is kept.
Fetching needs pooch: `pip install structperc[data]`.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import sys
import tempfile
import zipfile
from pathlib import Path

import attrs

from structperc.columns import read_columns
from structperc.core.errors import MissingData
from structperc.extras import require

VARIABLE = "STRUCTPERC_DATA"
BASE_URL = "https://raw.githubusercontent.com"      # may be set to a mirror: a server with the same paths
TIMEOUT = 60                                        # seconds without an answer

CONLL2000_ZIP = "nltk/nltk_data/5db857e6f7df11eabb5e5665836db9ec8df07e28/packages/corpora/conll2000.zip"
EWT_COMMIT = "UniversalDependencies/UD_English-EWT/15d613d8447b3478787d4c278730a1e48a945efb"


@attrs.frozen
class File:
    """One file of a data set.

    Attributes
    ----------
    name : str
        Its name when it is not compressed.
    path : str
        Where it is fetched from, below `BASE_URL`.
    sha256 : str
        Of its content, not compressed.
    member : str or None
        Its name inside the zip archive at `path`; None when `path` is the file itself.
    """

    name: str
    path: str
    sha256: str
    member: str | None = None


@attrs.frozen
class Source:
    """Where the files of a data set lie and come from."""

    title: str
    folder: str
    files: tuple[File, ...]


SOURCES = {
    source.folder: source for source in (
        Source("CoNLL-2000", "conll2000", (
            File("train.txt", CONLL2000_ZIP, "82033cd7a72b209923a98007793e8f9de3abc1c8b79d646c50648eb949b87cea", "conll2000/train.txt"),
            File("test.txt", CONLL2000_ZIP, "73b7b1e565fa75a1e22fe52ecdf41b6624d6f59dacb591d44252bf4d692b1628", "conll2000/test.txt"),
        )),
        Source("UD English EWT", "ud_english_ewt", tuple(
            File(f"en_ewt-ud-{part}.conllu", f"{EWT_COMMIT}/en_ewt-ud-{part}.conllu", sha256) for part, sha256 in {
                "train": "3fb78e2b55482c8ee00caa653af436c88c9e5bc9a73ce26e4ae3ddc79d2b7e7b",
                "dev": "531a54ff90d6ab12201c5a50c3e78e6ddac4de69abc4bce5d275d3cd29efe2b6",
                "test": "e266e515a0a7547657ed3d90d9ba46487d6bd251f27ad4269d4e8a427c8555cd",
            }.items())),
    )
}


def size(sentences) -> str:
    """What `repr` has room for."""
    return f"<{len(sentences)} sentences>"


@attrs.frozen
class TaggedSentences:
    """Sentences with an answer for each token.

    Attributes
    ----------
    name : str
    columns : tuple of str
        What the entries of a token are; the last one is the answer.
    train, dev, test : list of list of tuple
        Sentences of tokens; dev is empty where the data set has none.
    """

    name: str
    columns: tuple[str, ...]
    train: list = attrs.field(repr=size)
    dev: list = attrs.field(repr=size)
    test: list = attrs.field(repr=size)


def load_conll2000(*, download=True, home=None) -> TaggedSentences:
    """Text chunking on the Wall Street Journal, the shared task of CoNLL-2000.

    8936 sentences (211727 tokens) to learn from and 2012 (47377) to test with; a token is (word, pos, chunk): the word, its part of
    speech as a tagger guessed it, and its chunk tag, one of 22 in the IOB2 scheme such as "B-NP". Systems are compared by the F1 of
    phrases on the test part.

    Parameters
    ----------
    download : bool, default True
        Fetch files that are not there.
    home : path, optional
        Where data sets lie; `data_home()`.

    Returns
    -------
    TaggedSentences

    Raises
    ------
    MissingData
        When a file is neither there nor can be fetched, or has another content than expected after fetching.
    MissingExtra
        When files must be fetched and pooch is not installed.
    DataError
        When a file is damaged or does not have three columns; names the line.

    References
    ----------
    E. F. Tjong Kim Sang and S. Buchholz: Introduction to the CoNLL-2000 shared task: chunking. Proceedings of CoNLL-2000 and LLL-2000,
    pages 127-132, Lisbon, 2000.

    Examples
    --------
    Files of one's own in place of the real ones:

    >>> import tempfile
    >>> from pathlib import Path
    >>> from structperc.datasets import load_conll2000
    >>> with tempfile.TemporaryDirectory() as home:
    ...     Path(home, "conll2000").mkdir()
    ...     for name in ("train.txt", "test.txt"):
    ...         _ = Path(home, "conll2000", name).write_text("He PRP B-NP\\nreckons VBZ B-VP\\n")
    ...     load_conll2000(home=home).train
    [[('He', 'PRP', 'B-NP'), ('reckons', 'VBZ', 'B-VP')]]
    """
    train, test = locate("conll2000", download=download, home=home)
    names = ("word", "pos", "chunk")
    return TaggedSentences(SOURCES["conll2000"].title, names, read_columns(train, names), [], read_columns(test, names))


def load_ud_english_ewt(*, download=True, home=None) -> TaggedSentences:
    """Part-of-speech tagging on web texts: English EWT of Universal Dependencies 2.16.

    12544 sentences (204577 words) to learn from, 2001 (25147) to choose settings with and 2077 (25094) to test with; a token is
    (form, upos): the word and one of 17 parts of speech. Multiword tokens and empty nodes (ids such as 3-4 and 8.1) are left out. The texts
    have the licence CC BY-SA 4.0.

    Parameters
    ----------
    download, home
        As in `load_conll2000`.

    Returns
    -------
    TaggedSentences

    Raises
    ------
    MissingData, MissingExtra, DataError
        As in `load_conll2000`; DataError also for what is no CoNLL-U.

    References
    ----------
    N. Silveira, T. Dozat, M.-C. de Marneffe, S. Bowman, M. Connor, J. Bauer and C. D. Manning: A gold standard dependency corpus for
    English. Proceedings of LREC 2014, pages 2897-2904, Reykjavik, 2014.

    Examples
    --------
    Files of one's own in place of the real ones:

    >>> import tempfile
    >>> from pathlib import Path
    >>> from structperc.datasets import load_ud_english_ewt
    >>> with tempfile.TemporaryDirectory() as home:
    ...     Path(home, "ud_english_ewt").mkdir()
    ...     for part in ("train", "dev", "test"):
    ...         file = Path(home, "ud_english_ewt", f"en_ewt-ud-{part}.conllu")
    ...         _ = file.write_text("\\t".join(["1", "Iguazu", "Iguazu", "PROPN", *"______"]) + "\\n\\n")
    ...     load_ud_english_ewt(home=home).test
    [[('Iguazu', 'PROPN')]]
    """
    paths, names = locate("ud_english_ewt", download=download, home=home), ("form", "upos")
    return TaggedSentences(SOURCES["ud_english_ewt"].title, names, *(read_columns(path, names, conllu=True) for path in paths))


def data_home() -> Path:
    """The folder under which data sets lie: what the environment variable STRUCTPERC_DATA says, else the user's cache.

    That is `structperc` in $XDG_CACHE_HOME or ~/.cache; in ~/Library/Caches on macOS, in %LOCALAPPDATA% on Windows. It need not exist.

    Examples
    --------
    >>> from structperc.datasets import data_home
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
    """The files of a data set on this machine, in the order of its `Source`, fetched first where they are missing.

    Parameters
    ----------
    name : str
        One of `SOURCES`.
    download, home
        As in `load_conll2000`.

    Returns
    -------
    list of Path

    Raises
    ------
    MissingData, MissingExtra

    Examples
    --------
    >>> import tempfile
    >>> from structperc.datasets import locate
    >>> with tempfile.TemporaryDirectory() as home:
    ...     locate("conll2000", download=False, home=home)
    Traceback (most recent call last):
        ...
    structperc.core.errors.MissingData: CoNLL-2000 is not in ...
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
    pooch = require("pooch", f"{source.title} is not in {folder}; fetching it", "data")
    contents = {}
    try:
        with tempfile.TemporaryDirectory() as scratch:
            for path in dict.fromkeys(file.path for file in files):
                fetched = Path(scratch, "fetched")
                pooch.HTTPDownloader(timeout=TIMEOUT, stream=False)(f"{BASE_URL}/{path}", fetched, None)
                contents |= {file: content_of(file, fetched) for file in files if file.path == path}
    except (OSError, zipfile.BadZipFile) as error:
        raise absent(source, folder, files, f"could not be fetched from {BASE_URL}/{path} ({error})") from error
    for file, content in contents.items():
        found = hashlib.sha256(content).hexdigest()
        if found != file.sha256:
            raise absent(source, folder, files, f"what {BASE_URL}/{file.path} gave for {file.name} has the SHA-256 checksum {found}, "
                                                f"expected {file.sha256}, so nothing was kept")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, content in contents.items():
            write(folder / f"{file.name}.gz", gzip.compress(content, mtime=0))
    except OSError as error:
        raise absent(source, folder, files, f"was fetched but could not be written there ({error})") from error


def content_of(file, fetched) -> bytes:
    if file.member is None:
        return fetched.read_bytes()
    try:
        with zipfile.ZipFile(fetched) as archive:
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
    return MissingData(f"{source.title} is not in {folder}, and {reason}. Put {names} there (or the same files without .gz), or set the "
                       f"environment variable {VARIABLE} to the folder that holds {source.folder}.")
