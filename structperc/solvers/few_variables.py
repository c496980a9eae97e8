"""All 0/1 vectors of few variables: which of them satisfy the rows of a program, and the best of them, exactly."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from structperc.basics.rows_of_numbers import to_dense
from structperc.solvers.program_rows import UNIT, power_of_two

MOST_VARIABLES = 16             # of which all vectors are looked at
MOST_SUMS = 2**21               # vectors times rows


def few(n_rows, n) -> bool:
    """Whether looking at all vectors costs less than a linear program."""
    return n <= MOST_VARIABLES and (n_rows + 1) << n <= MOST_SUMS


class FewVariables:
    """The feasible vectors of few variables, as the bits of whole numbers, in rising order."""

    def __init__(self, rows):
        self.rows, self.n = rows, rows.matrix.shape[1]

    @cached_property
    def feasible(self):
        """int array: bit j of a vector's number is variable j."""
        dense = to_dense(self.rows.matrix)
        allowed, close = np.ones(1 << self.n, dtype=bool), np.zeros(1 << self.n, dtype=bool)
        for r, row in enumerate(dense):
            high, low = self.rows.high[r], self.rows.low[r]
            size = float(np.abs(row).max(initial=abs(high))) or 1.0
            sums, high, low = subset_sums(row / size), high / size, low / size
            doubt = 4 * (self.n + 8) * UNIT * (self.n + 1)          # of sums of sizes up to 1, rounding and the slack of the row
            allowed &= (sums <= high + doubt) & (sums >= low - doubt)
            close |= (np.abs(sums - high) <= doubt) | (np.abs(sums - low) <= doubt)
        doubtful = np.flatnonzero(allowed & close)
        allowed[doubtful] = ~self.rows.wrong(self.vectors(doubtful).T).any(axis=0)
        return np.flatnonzero(allowed)

    def vectors(self, codes):
        """0/1 vectors as rows."""
        return (codes[:, None] >> np.arange(self.n) & 1).astype(float)

    def best(self, scores, k):
        """The k feasible vectors of largest score, best first; of equal ones the smallest number first. -inf forbids a variable."""
        codes, barred = self.feasible, scores == -np.inf
        if barred.any():
            codes = codes[codes & int((1 << np.flatnonzero(barred)).sum()) == 0]
            scores = np.where(barred, 0.0, scores)
        if not len(codes):
            return np.zeros((0, self.n))
        scores = scores * power_of_two(np.abs(scores).max(initial=0.0))          # no sum overflows
        totals = subset_sums(scores)[codes]
        doubt = 2 * self.n * UNIT * np.abs(scores).sum()
        least = totals.max() if k == 1 else np.partition(totals, max(len(totals) - k, 0))[max(len(totals) - k, 0)]
        first = np.flatnonzero(totals >= least - doubt)
        vectors = self.vectors(codes[first])
        return vectors[exact_order(vectors, scores, k)]


def subset_sums(values):
    """The sum of each subset; bit j of its number is 1 if value j is in it."""
    sums = np.zeros(1 << len(values))
    for j, value in enumerate(values.tolist()):
        sums[1 << j:2 << j] = sums[:1 << j] + value
    return sums


def exact_order(vectors, scores, k):
    """The places of the k 0/1 vectors of largest score, best first; of equal ones the first."""
    sums, rests = exact_sums(vectors * (scores * power_of_two(np.abs(scores).max(initial=0.0))))
    return np.lexsort((-rests, -sums))[:k]


def exact_sums(terms):
    """The sums of rows, each as two numbers: the rounded sum, and the rest up to about 2**-100 of the largest term."""
    sums, rests = np.zeros(len(terms)), np.zeros(len(terms))
    for term in terms.T[np.argsort(-np.abs(terms).max(axis=0, initial=0.0), kind="stable")]:
        total = sums + term
        shift = total - sums
        rests += (sums - (total - shift)) + (term - shift)
        sums = total
    total = sums + rests
    return total, rests - (total - sums)
