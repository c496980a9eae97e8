"""The eight sets of the boosting experiment: ten equally frequent ranks, twenty partitions."""

import functools
import gzip
import io
import tarfile

import attrs
import numpy as np

from structperc.errors import MissingData
from structperc.files.datasets import data_home

RANKS, PARTITIONS = 10, 20
OFFICIAL = "pyrimidines"


@attrs.frozen
class Table:
    """The path of a table below the folder of data sets, and how many rows to learn from. The last column is the target."""

    path: str
    rows: int


SETS = {
    "pyrimidines": Table("orca_pyrim10/pyrim10_partitions.tar", 50),
    "machine": Table("chu_ghahramani/machinecpu.csv", 150),
    "boston": Table("chu_ghahramani/bostonhousing.csv", 300),
    "abalone": Table("chu_ghahramani/abalone.csv", 1000),
    "bank": Table("regression/bank32nh.csv", 3000),
    "computer": Table("regression/cpu_act.csv", 4000),
    "california": Table("regression/california.csv", 5000),
    "census": Table("regression/house_16h.csv", 6000),
}


@attrs.frozen(eq=False)
class Split:
    """Rows and ranks to learn from and to test with, columns standardised by the rows to learn from."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def content(where):
    """The bytes of a file below the folder of data sets, compressed or plain."""
    path = data_home() / where
    compressed = path.with_name(f"{path.name}.gz")
    if compressed.is_file():
        return gzip.decompress(compressed.read_bytes())
    if path.is_file():
        return path.read_bytes()
    raise MissingData(f"the data set {path.stem} is not there. Put {path.name} or {compressed.name} into {path.parent}, or set the "
                      f"environment variable STRUCTPERC_DATA to the folder that holds {path.parent.name}.")


def numbers(where):
    """The columns of a table of numbers, and the last one, the target."""
    values = np.loadtxt(io.BytesIO(content(where)), delimiter=",", skiprows=1)
    return np.ascontiguousarray(values[:, :-1]), values[:, -1]


def require(names):
    """Raises MissingData where a set is not there."""
    for name in names:
        content(SETS[name].path)


@functools.cache
def whole(name):
    """Rows and ranks of a set that is divided here."""
    X, target = numbers(SETS[name].path)
    return X, equal_frequency(target)


def equal_frequency(target, ranks=RANKS):
    """Ranks 1..ranks, each as frequent as the others: equal targets beside a cut are divided by chance, with a fixed seed.

    The training costs of single stumps support this rule: bank 1.97, published 1.98. If equal targets share a rank, it is 1.87.
    """
    places = np.empty(len(target), dtype=np.int64)
    places[np.lexsort((np.random.default_rng(0).random(len(target)), target))] = np.arange(len(target))
    return places * ranks // len(target) + 1


def split(name, number):
    """One of the partitions 1..20."""
    if name == OFFICIAL:
        with tarfile.open(fileobj=io.BytesIO(content(SETS[name].path))) as archive:
            train, test = (np.loadtxt(archive.extractfile(member).readlines())
                           for part in ("train", "test") for member in archive if member.name.endswith(f"{part}_pyrim10.{number - 1}"))
        X, y, X_test, y_test = train[:, :-1], train[:, -1].astype(int), test[:, :-1], test[:, -1].astype(int)
    else:
        values, ranks = whole(name)
        order = np.random.default_rng(number).permutation(len(ranks))
        learned, tested = order[:SETS[name].rows], order[SETS[name].rows:]
        X, y, X_test, y_test = values[learned], ranks[learned], values[tested], ranks[tested]
    centre, deviation = X.mean(axis=0), X.std(axis=0)
    deviation[deviation == 0] = 1.0
    return Split((X - centre) / deviation, y, (X_test - centre) / deviation, y_test)
