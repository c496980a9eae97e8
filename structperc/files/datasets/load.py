"""The data sets as tables, sentences, partitions and queries."""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from pathlib import Path

import attrs
import numpy as np

from structperc.basics.errors import DataError, OptionError, shortened
from structperc.files.datasets.fetch import locate
from structperc.files.datasets.sources import BINS, OHSUMED_FEATURES, PARTITIONED, PARTITIONS, SOURCES
from structperc.files.formats import read


def size(sentences) -> str:
    """What `repr` has room for."""
    return f"<{len(sentences)} sentences>"


@attrs.frozen
class TaggedSentences:
    """Sentences with a label for each token.

    Attributes
    ----------
    name : str
    columns : tuple of str
        The names of the entries of a token. The last one is the label.
    train, dev, test : list of list of tuple
        Sentences of tokens; dev is empty where the data set has none.

    Examples
    --------
    >>> from structperc.files.datasets import load_fables
    >>> fables = load_fables()
    >>> fables.columns, fables.train[0][0]
    (('form', 'upos', 'head', 'deprel', 'chunk'), ('A', 'DET', 3, 'det', 'B-NP'))
    """

    name: str
    columns: tuple[str, ...]
    train: list = attrs.field(repr=size)
    dev: list = attrs.field(repr=size)
    test: list = attrs.field(repr=size)


def load_conll2000(*, download=True, home=None) -> TaggedSentences:
    """Text chunking on the Wall Street Journal, the shared task of CoNLL-2000.

    8936 sentences (211727 tokens) for training and 2012 (47377) for tests. A token is (word, pos, chunk): the word, its part of speech by a
    tagger, and its chunk tag. The 22 tags have the IOB2 scheme, such as "B-NP". Systems are compared by the F1 of phrases on the test part.
    Raises `MissingData` when a file is neither there nor can be fetched, or has another content than expected after fetching.
    Raises `MissingExtra` when files must be fetched and requests is not installed.
    Raises `DataError` when a file is damaged or does not have three columns; names the line.

    Parameters
    ----------
    download : bool, default True
        Fetch files that are not there.
    home : path, optional
        Where data sets lie; `data_home()`.

    References
    ----------
    E. F. Tjong Kim Sang and S. Buchholz: Introduction to the CoNLL-2000 shared task: chunking. Proceedings of CoNLL-2000 and LLL-2000,
    pages 127-132, Lisbon, 2000.

    Examples
    --------
    Custom files instead of the real ones:

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
    return TaggedSentences(SOURCES["conll2000"].title, names, read(train, format="conll", columns=names).X, [],
                           read(test, format="conll", columns=names).X)


def load_ud_english_ewt(*, download=True, home=None) -> TaggedSentences:
    """Part-of-speech tagging on web texts: English EWT of Universal Dependencies 2.16.

    12544 sentences (204577 words) for training, 2001 (25147) for choosing settings and 2077 (25094) for tests. A token is (form, upos): the
    word and one of 17 parts of speech. Multiword tokens and empty nodes (ids such as 3-4 and 8.1) are left out. The texts have the licence
    CC BY-SA 4.0. Raises `MissingData`, `MissingExtra` or `DataError` as in `load_conll2000`; DataError also for what is no CoNLL-U.

    Parameters
    ----------
    download, home
        As in `load_conll2000`.

    References
    ----------
    N. Silveira, T. Dozat, M.-C. de Marneffe, S. Bowman, M. Connor, J. Bauer and C. D. Manning: A gold standard dependency corpus for
    English. Proceedings of LREC 2014, pages 2897-2904, Reykjavik, 2014.

    Examples
    --------
    Custom files instead of the real ones:

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
    return TaggedSentences(SOURCES["ud_english_ewt"].title, names, *(read(path, format="conllu", columns=names).X for path in paths))


def load_fables() -> TaggedSentences:
    """Fables of Aesop, told anew: 75 short sentences (630 tokens) that come with structperc, for examples and tests.

    A token is (form, upos, head, deprel, chunk): the word, its part of speech, its head, the label of that arc, and its phrase. Heads are
    numbers from 1, and 0 is the root. Phrases have the IOB2 scheme, such as "B-NP". Every third sentence belongs to the test part, so both
    parts are of the same stories: 50 and 25 sentences. They are too few to compare systems by. Public domain (CC0 1.0).

    Examples
    --------
    >>> from structperc.files.datasets import load_fables
    >>> load_fables().train[0][:3]
    [('A', 'DET', 3, 'det', 'B-NP'), ('thirsty', 'ADJ', 3, 'amod', 'I-NP'), ('crow', 'NOUN', 4, 'nsubj', 'I-NP')]
    """
    columns = ("form", "upos", "head", "deprel", "chunk")
    cells = read(Path(__file__).with_name("fables.conllu"), columns=("form", "upos", "head", "deprel", "misc")).X
    sentences = [[(form, upos, int(head), deprel, misc.removeprefix("Chunk=")) for form, upos, head, deprel, misc in sentence]
                 for sentence in cells]
    return TaggedSentences("Fables of Aesop", columns, [sentence for i, sentence in enumerate(sentences) if i % 3 < 2], [], sentences[2::3])


@attrs.frozen(eq=False)
class NumberTable:
    """A table of numbers.

    Attributes
    ----------
    name : str
    columns : tuple of str
    values : array of shape (n_rows, n_columns)

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.files.datasets import NumberTable
    >>> table = NumberTable("shells", ("length", "rings"), np.array([[0.455, 15.0], [0.35, 7.0]]))
    >>> table.values.shape
    (2, 2)
    """

    name: str
    columns: tuple[str, ...]
    values: np.ndarray

    def column(self, name):
        """One column, shape (n_rows,).

        Parameters
        ----------
        name : str
        """
        return self.values[:, self.columns.index(name)]

    def without(self, *names):
        """All other columns, shape (n_rows, n_columns - len(names)).

        Parameters
        ----------
        *names : str
            Columns to leave out.
        """
        return self.values[:, [column not in names for column in self.columns]]


def load_numbers(name, *, download=True, home=None) -> NumberTable:
    """A data set that is one table of numbers, neither scaled nor cut into classes.
    Raises `MissingData` when the file is neither there nor can be fetched, or has another content than expected after fetching.
    Raises `MissingExtra` when the file must be fetched and requests is not installed.
    Raises `DataError` when the file is no table of numbers.

    Parameters
    ----------
    name : {"california", "abalone", "parkinsons"}
        "california": 20640 block groups of the census of 1990, with 8 measures and the median house value, cut off at 500001.
        "abalone": 4177 shells, with 7 measures, the sex as three indicators (male, female, infant) and 1 to 29 rings.
        "parkinsons": 5875 recordings of 42 subjects. Columns are subject, age, sex, test time, motor_UPDRS, total_UPDRS, and 16 measures
        of the voice.
    download : bool, default True
        Fetch the file if it is not there.
    home : path, optional
        Where data sets lie; `data_home()`.

    References
    ----------
    R. K. Pace and R. Barry: Sparse spatial autoregressions. Statistics and Probability Letters 33, pages 291-297, 1997.

    W. J. Nash, T. L. Sellers, S. R. Talbot, A. J. Cawthorn and W. B. Ford: The population biology of abalone (Haliotis
    species) in Tasmania. I. Blacklip abalone (H. rubra) from the north coast and islands of Bass Strait. Sea Fisheries Division,
    Technical Report 48, 1994.

    A. Tsanas, M. A. Little, P. E. McSharry and L. O. Ramig: Accurate telemonitoring of Parkinson's disease progression by noninvasive
    speech tests. IEEE Transactions on Biomedical Engineering 57, pages 884-893, 2010.

    Examples
    --------
    A custom file instead of the real one:

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

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.files.datasets import Partition
    >>> part = Partition(X=np.ones((2, 1)), y=np.array([1, 2]), X_test=np.ones((1, 1)), y_test=np.array([2]))
    >>> part.X.shape, part.X_test.shape
    ((2, 1), (1, 1))
    """

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def load_partitions(name, bins=5, *, download=True, home=None) -> list[Partition]:
    """One of the nine sets that Chu and Ghahramani compared ordinal regression with, in their 20 partitions.

    The ranks are bins of equal length of a real-valued target, so their numbers of rows are far from equal. Features are not scaled.
    Returns a list of Partition. All 20, in their order. Raises `OptionError` for another name or number of bins.
    Raises `MissingData` or `MissingExtra` as in `load_numbers`.
    Raises `DataError` for damaged archives, and files that are no tables of numbers with ranks in the last column.

    Parameters
    ----------
    name : {"diabetes", "pyrimidines", "triazines", "wisconsin", "machinecpu", "autompg", "bostonhousing", "stocksdomain", "abalone"}
        43 to 4177 rows (a training part: 30 to 1000) of 2 to 60 features.
    bins : {5, 10}, default 5
        The number of ranks.
    download, home
        As in `load_numbers`. To fetch a set is to fetch its 80 files one by one, 100 kB to 14 MB in all. They are stored as one archive.

    References
    ----------
    W. Chu and Z. Ghahramani: Gaussian processes for ordinal regression. Journal of Machine Learning Research 6, pages 1019-1041, 2005.

    Examples
    --------
    A custom archive instead of the real one:

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
        raise OptionError(f"bins={shortened(bins)}; expected 5 or 10.")
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

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.files.datasets import Documents
    >>> documents = Documents(X=np.ones((3, 2)), y=np.array([1, 0, 0]), lengths=np.array([3]))
    >>> documents.lengths.tolist()
    [3]
    """

    X: np.ndarray
    y: np.ndarray
    lengths: np.ndarray


@attrs.frozen(eq=False)
class RankingFold:
    """Documents to learn from, to choose settings with and to test with.

    Attributes
    ----------
    train, validation, test : Documents

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.files.datasets import Documents, RankingFold
    >>> documents = Documents(X=np.ones((3, 2)), y=np.array([1, 0, 0]), lengths=np.array([3]))
    >>> RankingFold(train=documents, validation=documents, test=documents).test.y.tolist()
    [1, 0, 0]
    """

    train: Documents
    validation: Documents
    test: Documents


def load_letor_ohsumed(*, download=True, home=None) -> list[RankingFold]:
    """Medical abstracts ranked for queries: OHSUMED of LETOR 3.0, normalised by query, in its five official folds.

    106 queries with 16140 documents, 45 features from 0 to 1, relevances 0, 1 and 2. Nine features are zero everywhere. The relevances 1
    and 2 count as relevant. Each fold has three fifths for training, one for choosing settings and one for tests. Reading needs
    scikit-learn. Raises `MissingData` or `MissingExtra` as in `load_numbers`.
    Raises `DataError` when a file is damaged or has other features.

    Parameters
    ----------
    download, home
        As in `load_numbers`.

    References
    ----------
    T. Qin, T.-Y. Liu, J. Xu and H. Li: LETOR: a benchmark collection for research on learning to rank for information retrieval.
    Information Retrieval 13, pages 346-374, 2010.

    Examples
    --------
    Custom files instead of the real ones:

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
        table = read(path, format="svmlight", n_features=OHSUMED_FEATURES + 1, group="qid")
        parts.append(Documents(table.X[:, 1:].toarray(), table.y, np.diff(table.offsets)))      # the files count from 1
    return [RankingFold(together(*(parts[(first + i) % 5] for i in range(3))), parts[(first + 3) % 5], parts[(first + 4) % 5])
            for first in range(5)]


def together(*parts) -> Documents:
    return Documents(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("X", "y", "lengths")))
