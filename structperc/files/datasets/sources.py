"""Where each data set comes from: addresses, checksums, and how a download is brought into form."""

from __future__ import annotations

import functools
import io
import tarfile
from collections.abc import Callable

import attrs

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
    """One file of a data set."""
    # name: str. Its name when it is not compressed.
    # path: str. Where it is fetched from, below `BASE_URL`.
    # sha256: str. Of its content, not compressed.
    # member: str or None. Its name inside the zip archive at `path`; None when `path` is the file itself.
    # beside: tuple of str. Further files that it is made from, below `BASE_URL`.
    # made: function(content of path, contents of beside ...) -> bytes, or None. The function that makes it from those; None if the file is
    # used as it is. It raises ValueError for other contents than expected.

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
    """The rows of an ARFF file below another line of columns; `cells`: what to put instead of some."""
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
    """A tar archive, not compressed, with these files.

    Parameters
    ----------
    *contents : bytes
        Contents of the files.
    names : sequence of str
        Their names.

    Examples
    --------
    >>> from structperc.files.datasets import archived
    >>> len(archived(b"a", b"b", names=["a.txt", "b.txt"])) % 512
    0
    """
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
