"""The sizes of a feature map: weights, atoms and blocks."""

from __future__ import annotations

import attrs


@attrs.frozen
class Layout:
    """The sizes that a feature map declares by `Features.shape`."""
    # n_weights: int. Length of phi(x, a).
    # n_weight_rows, row_width: int. The weights are an array of shape (n_weight_rows, row_width).
    # atoms_per_example: int or None. Atoms of every example; None if examples differ, see `Features.n_atoms`.
    # rows_per_example: int or None. Rows of X that every example must have; None if examples may differ.
    # n_blocks: int. Number of blocks if each atom has one row of x in one block: phi(x, a) = e_block (x) x_row, and optional explicit
    # weights. `Features.cell` is the row and the block of an atom, and `Features.explicit_part` is the rest. Then a kernel can replace the
    # dot products of rows. 0: unknown.

    n_weights: int
    n_weight_rows: int
    row_width: int
    atoms_per_example: int | None
    rows_per_example: int | None
    n_blocks: int
