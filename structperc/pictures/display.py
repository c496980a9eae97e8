"""How outputs show their atoms."""

from __future__ import annotations

import numpy as np

from structperc.pictures.shapes import Picture
from structperc.pictures.tokens import Choices


class Display:
    """How users see the atoms of an example: by names, marginals and pictures.

    Parameters
    ----------
    outputs : Outputs

    Examples
    --------
    >>> from structperc import Engine
    >>> engine = Engine("cusum").fit([[0.0], [1.0], [2.0]], [1, 2, 3])
    >>> display = engine.parts_.outputs.display()
    >>> display.atom_names(engine.model_.example(engine.read([[1.0]]), 0))
    ['> 1', '> 2']
    """

    def __init__(self, outputs):
        self.outputs = outputs

    def atom_names(self, x) -> list[str]:
        """Names of the atoms, for `explain`.

        Parameters
        ----------
        x : Example
        """
        return [f"atom {a}" for a in range(x.n_atoms)]

    def marginals(self, x, expected) -> object:
        """What `predict_marginals` returns of an example.

        Parameters
        ----------
        x : Example
        expected : float64 array of shape (n_atoms,)
            Expected counts of atoms.
        """
        return expected

    def picture(self, given, x, scores, structures) -> Picture | None:
        """The winner and its rival, above the bars of features.

        Parameters
        ----------
        given : object
            The example as the user passed it.
        x : Example
        scores : float64 array of shape (n_atoms,)
        structures : pair of encoded structures
            The winner and its rival.
        """
        return None

    def local_atoms(self, x) -> np.ndarray:
        """The atoms that belong to one place of x each. Shared atoms such as transitions are left out. Returns an int array.

        Parameters
        ----------
        x : Example
        """
        return np.arange(x.n_atoms)

    def picture_of_set(self, given, x, states) -> Picture | None:
        """A set of structures: certain atoms dark, other possible atoms pale.

        Parameters
        ----------
        given : object
            The example as the user passed it.
        x : Example
        states : int array of shape (n_atoms,)
            2: in every structure of the set; 1: in some; 0: in none.
        """
        names = self.atom_names(x)
        return Choices([""], [[(names[a], bool(states[a] == 2)) for a in self.local_atoms(x) if states[a]]])
