"""Structures that are vectors of numbers, an amount of each atom: portfolios, flows, vertices of a linear program."""

from __future__ import annotations

import numpy as np

from structperc.basics.errors import DataError, PluginError, shortened
from structperc.basics.labels import is_listed
from structperc.core.masks import is_zero_one, zero_one
from structperc.core.outputs import Outputs
from structperc.core.structures import Structures


def amounts(decision, n_atoms):
    """A decision as a vector: the amount of each atom. Returns a float64 array of shape (n_atoms,).
    Raises `DataError` for a wrong length, unknown or repeated atoms, and infinite or missing amounts.

    Parameters
    ----------
    decision : array-like
        Floats or truth values: the vector itself. Whole numbers: the chosen atoms, each once. A list of 0 and 1 for all atoms may be
        both, so it raises an error. A tuple has the chosen atoms.
    n_atoms : int
        Number of atoms.

    Examples
    --------
    >>> from structperc.components import amounts
    >>> amounts([0.5, 0.0, 0.5], 3).tolist(), amounts([2, 0], 3).tolist(), amounts([], 3).tolist()
    ([0.5, 0.0, 0.5], [1.0, 0.0, 1.0], [0.0, 0.0, 0.0])
    """
    try:
        values = np.asarray(decision if hasattr(decision, "__len__") else list(decision))
        if is_zero_one(decision, n_atoms) and values.dtype.kind in "iu":
            raise zero_one(decision, "the decision")
        vector = values.dtype.kind in "fb" and values.size > 0
        if vector:
            amounts_of_atoms = values.astype(float)
            right = amounts_of_atoms.shape == (n_atoms,) and bool(np.isfinite(amounts_of_atoms).all())
        else:
            atoms = values.astype(np.intp, casting="same_kind") if values.size else np.empty(0, dtype=np.intp)
            right = atoms.ndim == 1 and len(np.unique(atoms)) == len(atoms) and bool(((atoms >= 0) & (atoms < n_atoms)).all())
            amounts_of_atoms = np.zeros(n_atoms)
            if right:
                amounts_of_atoms[atoms] = 1
    except DataError:
        raise
    except (TypeError, ValueError, OverflowError):
        right = False
    if not right:
        raise DataError(f"the decision {shortened(decision)} over {n_atoms} atoms. Expected: {n_atoms} finite amounts with a point, or the "
                        f"numbers of the chosen atoms, from 0, each once.")
    return amounts_of_atoms


class VectorOutputs(Outputs):
    """Outputs that are vectors of amounts of atoms, such as solutions of optimisation problems.

    Users pass and get vectors, or numbers of atoms chosen once; see `amounts`. A structure encodes the bits of the amounts, two integers
    each. Two decisions are the same if all bits are.

    Examples
    --------
    >>> from structperc.components import VectorOutputs
    >>> VectorOutputs().max_code_length(3)
    6
    """

    def encode(self, y, rows):
        if not is_listed(y):
            raise DataError(f"y is {shortened(y)}; expected one decision per example, such as a list.")
        if len(y) != rows.n_examples:
            raise DataError(f"y has {len(y)} decisions but X has {rows.n_examples} examples; give one decision per example.")
        structures = []
        for i, decision in enumerate(y):
            x = rows.example(i)
            try:
                structures.append(self.encoded(decision, self._n_atoms(x)))
            except DataError as error:
                raise DataError(f"y[{i}] cannot be used: {error}") from None
        return Structures.ragged(structures)

    def start(self, parts, context):
        super().start(parts, context)
        self._n_atoms = parts.features.n_atoms

    def encoded(self, decision, n_atoms):
        """The structure of a decision. Returns a tuple of int.

        Parameters
        ----------
        decision : array-like
            As in `amounts`.
        n_atoms : int
        """
        return tuple((amounts(decision, n_atoms) + 0.0).view(np.intc).tolist())         # one zero, without a sign

    def max_code_length(self, n_atoms):
        return 2 * n_atoms

    def check_structure(self, x, y):
        if len(y) != 2 * x.n_atoms or not np.isfinite(np.array(y, dtype=np.intc).view(float)).all():
            raise PluginError(f"the structure {shortened(y)} of example {x.index} holds no finite amount for each of {x.n_atoms} atoms.")

    def count(self, x, y):
        return np.array(y, dtype=np.intc).view(float)

    def decode(self, y, x):
        return self.count(x, y)


__all__ = ["VectorOutputs", "amounts"]
