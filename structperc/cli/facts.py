"""How much there was to learn from, for the summary of `structperc fit`."""

from __future__ import annotations

from collections import Counter

import attrs
import numpy as np

from structperc.basics.sparse_parts import is_sparse
from structperc.cli.column_files import Tokens
from structperc.cli.files import exact_rows

SCALE_SAMPLE = 10_000       # rows looked at for
MOST_ANSWERS = 1000         # that are counted


@attrs.frozen
class Facts:
    """Of one table, or of several added up."""
    # rows: int or None. The rows of a file of columns are its tokens. None: nobody has counted them.
    # columns: int or None. None for tokens, whose features a template makes.
    # grouped: bool. Whether an example is a run of rows.
    # intervals, weighted: int or None. Numbers of rows with an interval as label, and of rows with a weight. None if there are no intervals
    # or no weights.
    # plain: bool. Whether a file of columns explains itself to other commands.
    # sample: float64 array. The first rows of numbers, without those with gaps; empty for sparse data.
    # names: list of str. Of its columns.
    # from_one: bool. Whether the features of a file with numbers for names are counted from 1, so that column 0 is empty.
    # `answers`: Counter or None. How often each label occurs. None if outputs are no single labels, or more than 1,000 differ.

    examples: int
    rows: int | None
    columns: int | None = None
    grouped: bool = False
    intervals: int | None = None
    weighted: int | None = None
    plain: bool = False
    sample: np.ndarray = attrs.field(factory=lambda: np.empty((0, 0)), eq=False)
    names: list = attrs.field(factory=list)
    from_one: bool = False
    answers: Counter | None = None

    @classmethod
    def of(cls, table):
        if isinstance(table, Tokens):
            return cls(table.n_examples, table.file.n_tokens, plain=table.plain)
        return cls(table.n_examples, *table.X.shape, table.offsets is not None,
                   np.count_nonzero(~exact_rows(table.y)) if table.y.ndim == 2 else None,
                   None if table.weights is None else np.count_nonzero(table.weights), **sample_of(table.X),
                   from_one=counts_from_one(table.X), answers=counted(table.y))

    def __add__(self, other):
        def total(a, b):
            return None if a is None else a + b

        # A column may hold numbers in one part, and texts in another.
        full = len(self.sample) >= SCALE_SAMPLE
        names = self.names if full else [name for name in self.names if name in other.names]
        return attrs.evolve(self, examples=self.examples + other.examples, rows=self.rows + other.rows,
                            intervals=total(self.intervals, other.intervals), weighted=total(self.weighted, other.weighted), names=names,
                            sample=self.sample if full else np.concatenate([self.sampled(names), other.sampled(names)])[:SCALE_SAMPLE],
                            from_one=self.from_one and other.from_one,
                            answers=few(total(self.answers, other.answers)) if other.answers is not None else None)

    def sampled(self, names) -> np.ndarray:
        """The sample of these columns."""
        return self.sample[:, [self.names.index(name) for name in names]]

    def scale(self, dropped=()) -> float:
        """The largest standard deviation of a column over the smallest, without those that are dropped; 1 for sparse data."""
        sample = self.sample[:, [name not in set(dropped) for name in self.names]] if self.names else self.sample
        spread = sample.std(axis=0) if len(sample) else sample
        spread = spread[spread > 0]
        return float(spread.max() / spread.min()) if len(spread) else 1.0

    def __str__(self):
        """The rows, in words."""
        if self.rows is None:
            return f"{self.examples} examples" if self.grouped else f"{self.examples}"
        text = f"{self.rows}"
        if self.grouped:
            text += f" in {self.examples} examples"
        if self.intervals is not None:
            text += f", {self.intervals} of them known as intervals"
        if self.weighted is not None:
            text += f", {self.weighted} of them with weight"
        return text


def counts_from_one(X) -> bool:
    """Whether column 0 of sparse data is empty."""
    return is_sparse(X) and X.shape[1] > 1 and not (X.indices == 0).any()


def counted(y):
    """How often each label of a table occurs."""
    return few(Counter(y.tolist())) if y.ndim == 1 else None


def few(answers):
    """These counts, if not too many labels differ."""
    return answers if answers is not None and len(answers) <= MOST_ANSWERS else None


def sample_of(X) -> dict:
    """The first rows of the columns with numbers, a float64 array, and their names; nothing of sparse data."""
    if not hasattr(X, "columns"):
        return {}
    numbers = X[:SCALE_SAMPLE]
    numbers = numbers.select_dtypes("number") if hasattr(numbers, "select_dtypes") else numbers
    rows = np.asarray(numbers, dtype=float)
    return {"sample": rows[np.isfinite(rows).all(axis=1)], "names": list(map(str, numbers.columns))}
