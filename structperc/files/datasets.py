"""Real data sets for experiments: read from a folder of this machine, fetched into it once when they are not there.

Each data set has a folder of its own under `data_home()`, and in it the files of its `Source`, compressed by gzip or plain:

    conll2000/train.txt.gz  test.txt.gz
    ud_english_ewt/en_ewt-ud-train.conllu.gz  en_ewt-ud-dev.conllu.gz  en_ewt-ud-test.conllu.gz
    regression/california.csv.gz
    chu_ghahramani/abalone.csv.gz  abalone_partitions.tar.gz  diabetes_partitions.tar.gz ...
    parkinsons/parkinsons_updrs.csv.gz
    lightgbm_lambdarank/rank.train.txt.gz  rank.test.txt.gz
    letor3_ohsumed/S1.txt.gz  S2.txt.gz  S3.txt.gz  S4.txt.gz  S5.txt.gz

Files that lie there are read as they are. What is fetched is brought into this form and compared with the checksums in `SOURCES` before
anything is kept.
Fetching needs pooch: `pip install structperc[data]`.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import io
import os
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import attrs
import numpy as np

from structperc.core.errors import DataError, MissingData, OptionError
from structperc.extras import require
from structperc.files.conll import read_columns
from structperc.files.csv_svmlight import read_svmlight

__all__ = ["SOURCES", "Documents", "NumberTable", "Partition", "RankingFold", "TaggedSentences", "data_home", "load_conll2000",
           "load_letor_ohsumed", "load_numbers", "load_partitions", "load_ud_english_ewt", "locate"]

VARIABLE = "STRUCTPERC_DATA"
BASE_URL = "https://raw.githubusercontent.com"      # may be set to a mirror: a server with the same paths
TIMEOUT = 60                                        # seconds without an answer

CONLL2000_ZIP = "nltk/nltk_data/5db857e6f7df11eabb5e5665836db9ec8df07e28/packages/corpora/conll2000.zip"
EWT_COMMIT = "UniversalDependencies/UD_English-EWT/15d613d8447b3478787d4c278730a1e48a945efb"
ARFF_FOLDER = "renatopp/arff-datasets/c59f172882592bb58982cc54d2d3c8a2b57e9b73/regression"
PARKINSONS = "behnazrzf/Parkinson-s_Telemonitoring/f603774b38bfc967f20b4752bec4b6f872917d98/data/parkinsons_updrs.data"
PROBIT_FOLDER = "bb515/probit/900d069c82df98fb8d8074774b2d9dd8c14b8ad8/data"
OHSUMED_FOLDER = "JasonWyse/libfm_ranksvm/6760fa9711287c376f478b765c4bdbdf9e7ed81e/data/OHSUMED/OHSUMED/QueryLevelNorm"
LAMBDARANK = "microsoft/LightGBM/bae0b7ba953341a32b2a9c5c5c437a1b976f576f/examples/lambdarank"
CALIFORNIA_COLUMNS = b"longitude,latitude,housingMedianAge,totalRooms,totalBedrooms,population,households,medianIncome,medianHouseValue"
ABALONE_COLUMNS = b"sex_1,sex_2,sex_3,length,diameter,height,whole_weight,shucked_weight,viscera_weight,shell_weight,rings"
BINS, PARTITIONS = (5, 10), range(1, 21)
OHSUMED_FEATURES = 45


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
    beside : tuple of str
        Further files that it is made from, below `BASE_URL`.
    made : function(content of path, contents of beside ...) -> bytes, or None
        What makes it from those; None when it is kept as it came. A ValueError says that they are not what they should be.
    """

    name: str
    path: str
    sha256: str
    member: str | None = None
    beside: tuple[str, ...] = ()
    made: Callable[..., bytes] | None = None


@attrs.frozen
class Source:
    """Where the files of a data set lie and come from."""

    title: str
    folder: str
    files: tuple[File, ...]


def table_of_arff(content, columns, cells=None) -> bytes:
    """The rows of an ARFF file below another line of columns; `cells`: what to put in place of some."""
    lines = content.splitlines()
    rows = lines[lines.index(b"@data") + 1:]
    if cells:
        rows = [b",".join(cells.get(cell, cell) for cell in row.split(b",")) for row in rows]
    return b"\n".join([columns, *rows, b""])


def ended(content) -> bytes:
    """With an end of the last line."""
    return content.rstrip(b"\n") + b"\n"


def numbered_queries(content, sizes, first) -> bytes:
    """svmlight rows with the number of their query behind the label; `sizes`: the documents of one query a line."""
    numbers = [first + i for i, size in enumerate(sizes.split()) for _ in range(int(size))]
    rows = [row.partition(b" ") for row in content.splitlines()]
    return b"".join(b"%b qid:%d %b\n" % (label, number, features) for (label, _, features), number in zip(rows, numbers, strict=True))


def lambdarank(part, first, sha256) -> File:
    return File(f"rank.{part}.txt", f"{LAMBDARANK}/rank.{part}", sha256, beside=(f"{LAMBDARANK}/rank.{part}.query",),
                made=functools.partial(numbered_queries, first=first))


def archived(*contents, names) -> bytes:
    """A tar archive, not compressed, with these files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in zip(names, contents, strict=True):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


@attrs.frozen
class Partitioned:
    """A data set of Chu and Ghahramani, cut into 5 and into 10 classes and divided 20 times."""

    title: str
    below: str                      # its folder in the repository
    prefixes: tuple[str, str]       # of its files, for 5 and for 10 classes
    sha256: str                     # of the archive, not compressed

    def member(self, part, bins, number) -> str:
        """The name of a file, in the repository and in the archive."""
        return f"{bins}bins/{self.prefixes[BINS.index(bins)]}_{part}_{bins}.{number}"

    def source(self, name) -> Source:
        names = sorted(self.member(part, bins, number) for part in ("train", "test") for bins in BINS for number in PARTITIONS)
        path, *beside = (f"{PROBIT_FOLDER}/{self.below}/{member}" for member in names)
        return Source(f"{self.title}, as Chu and Ghahramani divided it", "chu_ghahramani", (
            File(f"{name}_partitions.tar", path, self.sha256, beside=tuple(beside), made=functools.partial(archived, names=names)),))


PARTITIONED = {
    "diabetes": Partitioned("Diabetes", "Diabetes", ("diabetes.data", "diabetes.data.ord"),
                            "4d69475c393db25ff304bc768c1c7bb1184fb0626a34732d84cccae7c792492d"),
    "pyrimidines": Partitioned("Pyrimidines", "pyrimidines", ("pyrim", "pyrim"),
                               "ed0c73dc11b881ac9f4c42cba7b5e093a964b8000e48758c1bd486787f56ae23"),
    "triazines": Partitioned("Triazines", "triazines", ("triazines", "triazines"),
                             "bc30618c2d5d69e6c74b434b95ea55d1ed1e95c3971992928934048c1d601e59"),
    "wisconsin": Partitioned("Wisconsin breast cancer", "wisconsin", ("wpbc", "wpbc"),
                             "2fb39d0807a7e131f3991233f475d0df750babbf1ff0108d51d937d411bd8602"),
    "machinecpu": Partitioned("Machine CPU", "machinecpu", ("machine", "machine"),
                              "f8906b16b475ebf2749fed9c8eda11446568cbfe833fa99d89f567181c719407"),
    "autompg": Partitioned("Auto MPG", "Auto-Mpg", ("auto.data", "auto.data"),
                           "7be366ec42339032e169c71f411e46ebe6ee3c53f6001d64290754db05f1c137"),
    "bostonhousing": Partitioned("Boston housing", "bostonhousing", ("housing", "housing"),
                                 "7d5029f87df731ee24c604b396c556f347f6e972958f5943ca79c774d042799b"),
    "stocksdomain": Partitioned("Stocks domain", "stocksdomain", ("stock", "stock"),
                                "016f41547a97d5a437d9dce0d8d6f20b23516d36b8dbb96dc9d74f24718266e5"),
    "abalone": Partitioned("Abalone", "abalone", ("abalone", "abalone"),
                           "5e234fc36334dfa28215bc83398f80adeb26979991f01914dce0cca32884a733"),
}
SOURCES = {
    "conll2000": Source("CoNLL-2000", "conll2000", (
        File("train.txt", CONLL2000_ZIP, "82033cd7a72b209923a98007793e8f9de3abc1c8b79d646c50648eb949b87cea", "conll2000/train.txt"),
        File("test.txt", CONLL2000_ZIP, "73b7b1e565fa75a1e22fe52ecdf41b6624d6f59dacb591d44252bf4d692b1628", "conll2000/test.txt"),
    )),
    "ud_english_ewt": Source("UD English EWT", "ud_english_ewt", tuple(
        File(f"en_ewt-ud-{part}.conllu", f"{EWT_COMMIT}/en_ewt-ud-{part}.conllu", sha256) for part, sha256 in {
            "train": "3fb78e2b55482c8ee00caa653af436c88c9e5bc9a73ce26e4ae3ddc79d2b7e7b",
            "dev": "531a54ff90d6ab12201c5a50c3e78e6ddac4de69abc4bce5d275d3cd29efe2b6",
            "test": "e266e515a0a7547657ed3d90d9ba46487d6bd251f27ad4269d4e8a427c8555cd",
        }.items())),
    "california": Source("California housing", "regression", (
        File("california.csv", f"{ARFF_FOLDER}/cal.housing.arff", "22765e46e56a449c6e095c53d3c89da5cbd0d8778d94b5667e7c3ed8578f7e8c",
             made=functools.partial(table_of_arff, columns=CALIFORNIA_COLUMNS)),
    )),
    "abalone": Source("Abalone", "chu_ghahramani", (
        File("abalone.csv", f"{ARFF_FOLDER}/abalone.arff", "a2965585022d30142e96063fcdfc2db346d65c1eadaa81746ca73e094258c14c",
             made=functools.partial(table_of_arff, columns=ABALONE_COLUMNS, cells={b"M": b"1,0,0", b"F": b"0,1,0", b"I": b"0,0,1"})),
    )),
    "parkinsons": Source("Parkinsons telemonitoring", "parkinsons", (
        File("parkinsons_updrs.csv", PARKINSONS, "cacdc7007846c68ca852cb3dbb43b1f68b7a9edefa2336f965f6610551cd30e6", made=ended),
    )),
    "lightgbm_lambdarank": Source("LightGBM's lambdarank example", "lightgbm_lambdarank", (
        lambdarank("train", 1, "4b3594bdeb522855b4ebc961bec1d26a1b5f5e098020702a13d59f14df80d7b1"),
        lambdarank("test", 202, "6d74e33594ec639133621912b4e78e095bc62768b75edb165cb1a8acd564917b"),
    )),
    "letor3_ohsumed": Source("OHSUMED of LETOR 3.0", "letor3_ohsumed", tuple(
        File(f"S{number}.txt", f"{OHSUMED_FOLDER}/Fold{fold}/test.txt", sha256) for number, fold, sha256 in (
            (1, 2, "77db6790a7023ed6d9bd2b9b2fa8528e1d82aa7e896863d3ed844f635870fbe2"),
            (2, 3, "935539d33380570cdee765e38f8c2796cb4c04d01a50e50374e8bc7d45872571"),
            (3, 4, "1d1ff784d9fdc4cd491a0d70fdd4dfb1adada943a0eb2e3954d74187158160da"),
            (4, 5, "49975c7319672e4fba82d00c69911b8514752bb2610077a5f432d7efc2fa5fc0"),
            (5, 1, "526f9158b85fb9b6446f9c87e1ccc428f7e54d639800e108c091cb70706a88e6"),
        ))),
} | {f"{name}_partitions": one.source(name) for name, one in PARTITIONED.items()}


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
    """Text chunking on the Wall Street Journal, the shared context of CoNLL-2000.

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
    E. F. Tjong Kim Sang and S. Buchholz: Introduction to the CoNLL-2000 shared context: chunking. Proceedings of CoNLL-2000 and LLL-2000,
    pages 127-132, Lisbon, 2000.

    Examples
    --------
    Files of one's own in place of the real ones:

    >>> import tempfile
    >>> from pathlib import Path
    >>> from structperc.files.datasets import load_conll2000
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
    >>> from structperc.files.datasets import load_ud_english_ewt
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


@attrs.frozen(eq=False)
class NumberTable:
    """A table of numbers.

    Attributes
    ----------
    name : str
    columns : tuple of str
    values : array of shape (n_rows, n_columns)
    """

    name: str
    columns: tuple[str, ...]
    values: np.ndarray

    def column(self, name):
        """One column, shape (n_rows,)."""
        return self.values[:, self.columns.index(name)]

    def without(self, *names):
        """All other columns, shape (n_rows, n_columns - len(names))."""
        return self.values[:, [column not in names for column in self.columns]]


def load_numbers(name, *, download=True, home=None) -> NumberTable:
    """A data set that is one table of numbers, as it stands: neither scaled nor cut into classes.

    Parameters
    ----------
    name : {"california", "abalone", "parkinsons"}
        "california": 20640 block groups of the census of 1990, with 8 measures and the median house value, cut off at 500001.
        "abalone": 4177 shells, with 7 measures, the sex as three indicators (male, female, infant) and the number of rings, 1 to 29.
        "parkinsons": 5875 recordings of 42 subjects: subject number, age, sex, test time, two scores (motor_UPDRS and total_UPDRS), and
        16 measures of the voice.
    download : bool, default True
        Fetch the file if it is not there.
    home : path, optional
        Where data sets lie; `data_home()`.

    Raises
    ------
    MissingData
        When the file is neither there nor can be fetched, or has another content than expected after fetching.
    MissingExtra
        When the file must be fetched and pooch is not installed.
    DataError
        When the file is no table of numbers.

    References
    ----------
    R. K. Pace and R. Barry: Sparse spatial autoregressions. Statistics and Probability Letters 33, pages 291-297, 1997.

    W. J. Nash, T. L. Sellers, S. R. Talbot, A. J. Cawthorn and W. B. Ford: The population biology of abalone in Tasmania. Sea Fisheries
    Division, Technical Report 48, 1994.

    A. Tsanas, M. A. Little, P. E. McSharry and L. O. Ramig: Accurate telemonitoring of Parkinson's disease progression by non-invasive
    speech tests. IEEE Transactions on Biomedical Engineering 57, pages 884-893, 2010.

    Examples
    --------
    A file of one's own in place of the real one:

    >>> import tempfile
    >>> from pathlib import Path
    >>> from structperc.files.datasets import load_numbers
    >>> with tempfile.TemporaryDirectory() as home:
    ...     Path(home, "chu_ghahramani").mkdir()
    ...     _ = Path(home, "chu_ghahramani", "abalone.csv").write_text("length,rings\\n0.455,15\\n0.35,7\\n")
    ...     table = load_numbers("abalone", home=home)
    >>> table.columns
    ('length', 'rings')
    >>> table.column("rings")
    array([15.,  7.])
    """
    (path,) = locate(name, download=download, home=home)
    try:
        opened = gzip.open(path, "rt") if path.suffix == ".gz" else path.open()
        with opened as lines:
            columns = tuple(next(lines, "").rstrip().split(","))
            rows = lines.readlines()
            values = np.loadtxt(rows, delimiter=",", comments=None, ndmin=2) if rows else None
    except (ValueError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path} is no table of numbers: {error}; remove it to have it fetched again.") from error
    if values is None:
        raise DataError(f"{path} has no rows; remove it to have it fetched again.")
    if values.shape[1] != len(columns):
        raise DataError(f"{path} has {values.shape[1]} numbers in a row and {len(columns)} columns; remove it to have it fetched again.")
    return NumberTable(SOURCES[name].title, columns, values)


@attrs.frozen(eq=False)
class Partition:
    """A data set divided into rows to learn from and rows to test with.

    Attributes
    ----------
    X, X_test : array of shape (n_rows, n_features), (n_test, n_features)
    y, y_test : int array of shape (n_rows,), (n_test,)
        Ranks 1, 2, ... Some may be missing in y.
    """

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def load_partitions(name, bins=5, *, download=True, home=None) -> list[Partition]:
    """One of the nine sets that Chu and Ghahramani compared ordinal regression with, in their 20 partitions.

    The ranks are bins of equal length of a real-valued target, so their numbers of rows are far from equal. Features are not scaled.

    Parameters
    ----------
    name : {"diabetes", "pyrimidines", "triazines", "wisconsin", "machinecpu", "autompg", "bostonhousing", "stocksdomain", "abalone"}
        43 to 4177 rows (a training part: 30 to 1000) of 2 to 60 features.
    bins : {5, 10}, default 5
        The number of ranks.
    download, home
        As in `load_numbers`. To fetch a set is to fetch its 80 files one by one, 100 kB to 14 MB in all; they are kept as one archive.

    Returns
    -------
    list of Partition
        All 20, in their order.

    Raises
    ------
    OptionError
        For another name or number of bins.
    MissingData, MissingExtra
        As in `load_numbers`.
    DataError
        When the archive is damaged, or a file in it is no table of numbers whose last column holds ranks.

    References
    ----------
    W. Chu and Z. Ghahramani: Gaussian processes for ordinal regression. Journal of Machine Learning Research 6, pages 1019-1041, 2005.

    Examples
    --------
    An archive of one's own in place of the real one:

    >>> import tempfile
    >>> from pathlib import Path
    >>> from structperc.files.datasets import PARTITIONED, archived, load_partitions
    >>> names = [PARTITIONED["diabetes"].member(part, 5, k) for part in ("train", "test") for k in range(1, 21)]
    >>> with tempfile.TemporaryDirectory() as home:
    ...     Path(home, "chu_ghahramani").mkdir()
    ...     archive = archived(*[b"0.5 -25.0 3\\n1.5 -3.0 1\\n"] * 40, names=names)
    ...     _ = Path(home, "chu_ghahramani", "diabetes_partitions.tar").write_bytes(archive)
    ...     partitions = load_partitions("diabetes", home=home)
    >>> len(partitions), partitions[19].y
    (20, array([3, 1]))
    """
    if name not in PARTITIONED:
        raise OptionError(f"name={name!r}; expected one of {', '.join(PARTITIONED)}.")
    if bins not in BINS:
        raise OptionError(f"bins={bins!r}; expected 5 or 10.")
    (path,) = locate(f"{name}_partitions", download=download, home=home)
    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()      # whole, so its checksum counts
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            parts = [[ranked(archive, PARTITIONED[name].member(part, bins, number), bins) for part in ("train", "test")]
                     for number in PARTITIONS]
    except (KeyError, ValueError, EOFError, gzip.BadGzipFile, tarfile.TarError, zlib.error) as error:
        raise DataError(f"{path} is not the archive that it should be: {error}; remove it to have it fetched again.") from error
    return [Partition(*train, *test) for train, test in parts]


def ranked(archive, member, bins):
    """Features and ranks of a file in an archive, blank-separated."""
    rows = archive.extractfile(member).readlines()
    values = np.loadtxt(rows, ndmin=2) if rows else np.empty((0, 0))
    if values.shape[1] < 2 or not np.isin(values[:, -1], np.arange(1, bins + 1)).all():
        raise ValueError(f"{member} does not hold features and, in its last column, ranks 1..{bins}")
    return np.ascontiguousarray(values[:, :-1]), values[:, -1].astype(np.int64)


@attrs.frozen(eq=False)
class Documents:
    """Documents of queries, query by query.

    Attributes
    ----------
    X : array of shape (n_documents, n_features)
    y : int array of shape (n_documents,)
        Relevances.
    lengths : int array of shape (n_queries,)
        How many documents each query has.
    """

    X: np.ndarray
    y: np.ndarray
    lengths: np.ndarray


@attrs.frozen(eq=False)
class RankingFold:
    """Documents to learn from, to choose settings with and to test with."""

    train: Documents
    validation: Documents
    test: Documents


def load_letor_ohsumed(*, download=True, home=None) -> list[RankingFold]:
    """Medical abstracts ranked for queries: OHSUMED of LETOR 3.0, normalised by query, in its five official folds.

    106 queries with 16140 documents, 45 features from 0 to 1 (nine of them zero everywhere), relevances 0, 1 and 2 (the last two count as
    relevant). Each fold has three fifths to learn from, one to choose settings with and one to test with. Reading needs scikit-learn.

    Parameters
    ----------
    download, home
        As in `load_numbers`.

    Returns
    -------
    list of RankingFold

    Raises
    ------
    MissingData, MissingExtra
        As in `load_numbers`.
    DataError
        When a file is damaged or has other features.

    References
    ----------
    T. Qin, T.-Y. Liu, J. Xu and H. Li: LETOR: a benchmark collection for research on learning to rank for information retrieval.
    Information Retrieval 13, pages 346-374, 2010.

    Examples
    --------
    Files of one's own in place of the real ones:

    >>> import tempfile
    >>> from pathlib import Path
    >>> from structperc.files.datasets import load_letor_ohsumed
    >>> with tempfile.TemporaryDirectory() as home:
    ...     Path(home, "letor3_ohsumed").mkdir()
    ...     for part in range(1, 6):
    ...         _ = Path(home, "letor3_ohsumed", f"S{part}.txt").write_text(f"{part % 3} qid:{part} 1:0.5 45:1 #docid = 1\\n" * part)
    ...     folds = load_letor_ohsumed(home=home)
    >>> folds[1].train.lengths, folds[1].test.y
    (array([2, 3, 4]), array([1]))
    """
    parts = []
    for path in locate("letor3_ohsumed", download=download, home=home):
        table = read_svmlight(path, n_features=OHSUMED_FEATURES + 1, grouped=True)
        parts.append(Documents(table.X[:, 1:].toarray(), table.y, np.diff(table.offsets)))      # the files count from 1
    return [RankingFold(together(*(parts[(first + i) % 5] for i in range(3))), parts[(first + 3) % 5], parts[(first + 4) % 5])
            for first in range(5)]


def together(*parts) -> Documents:
    return Documents(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("X", "y", "lengths")))


def data_home() -> Path:
    """The folder under which data sets lie: what the environment variable STRUCTPERC_DATA says, else the user's cache.

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
    >>> from structperc.files.datasets import locate
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
    fetched, contents = {}, {}
    try:
        with tempfile.TemporaryDirectory() as scratch:
            for path in dict.fromkeys(path for file in files for path in (file.path, *file.beside)):
                fetched[path] = Path(scratch, str(len(fetched)))
                pooch.HTTPDownloader(timeout=TIMEOUT, stream=False)(f"{BASE_URL}/{path}", fetched[path], None)
            for file in files:
                path = file.path
                contents[file] = content_of(file, fetched[path], *(fetched[other] for other in file.beside))
    except (OSError, ValueError, zipfile.BadZipFile) as error:
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


def content_of(file, fetched, *beside) -> bytes:
    if file.made:
        return file.made(fetched.read_bytes(), *(path.read_bytes() for path in beside))
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
