"""Sums of floating-point numbers that depend neither on the order of the numbers nor on their parts."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np

__all__ = ["exact_sum", "exact_sums", "rounded"]

HALF = 27           # bits: so many of a mantissa are added up apart, so that no sum of 64 bits overflows
MANTISSA = 53
EXPONENTS = 4096    # more than there are


def exact_sums(values, groups, n_groups) -> list[Fraction]:
    """The exact sums of finite float64 numbers by their groups 0..n_groups - 1, a list of Fraction. `rounded` makes a float of one."""
    mantissas, exponents = np.frexp(values)
    whole = np.ldexp(mantissas, MANTISSA).astype(np.int64)
    keys, where = np.unique(groups * EXPONENTS + (exponents.astype(np.int64) + EXPONENTS // 2), return_inverse=True)
    high, low = np.zeros((2, len(keys)), dtype=np.int64)
    np.add.at(high, where, whole >> HALF)
    np.add.at(low, where, whole & (1 << HALF) - 1)
    sums = [Fraction(0)] * n_groups
    for key, above, below in zip(keys.tolist(), high.tolist(), low.tolist(), strict=True):
        group, exponent = divmod(key, EXPONENTS)
        sums[group] += ((above << HALF) + below) * Fraction(2) ** (exponent - EXPONENTS // 2 - MANTISSA)
    return sums


def exact_sum(values) -> Fraction:
    """The exact sum of finite numbers, a float64 array of shape (n,)."""
    return exact_sums(values, np.zeros(len(values), dtype=np.int64), 1)[0]


def rounded(total) -> float:
    """The float nearest to a number from 0 on, the largest one of sums beyond it."""
    try:
        return float(total)
    except OverflowError:
        return sys.float_info.max
