"""Costs of labels as numbers of atoms: elimination without BLAS, so that every CPU has the same bits."""

from __future__ import annotations

import numpy as np

SMALL = 1e-9        # of the largest number: rounding


def over_atoms(counts, costs) -> np.ndarray | None:
    """Numbers d of atoms such that counts @ d, (n_labels,), is costs up to a constant; None: there are none."""
    table = np.column_stack([counts, np.ones(len(costs)), costs])
    pivots, n = [], table.shape[1] - 1
    for row in range(len(table)):
        left = np.abs(table[row:, :n])
        at, column = divmod(int(left.argmax()), n)
        if left[at, column] <= SMALL:
            break
        table[[row, row + at]] = table[[row + at, row]]
        table[row] /= table[row, column]
        factors = table[:, column].copy()
        factors[row] = 0
        table -= factors[:, None] * table[row]
        pivots.append(column)
    if np.abs(table[len(pivots):, n]).max(initial=0) > SMALL * max(1, np.abs(costs).max(initial=0)):
        return None
    numbers = np.zeros(n)
    numbers[pivots] = table[:len(pivots), n]
    return numbers[:-1]
