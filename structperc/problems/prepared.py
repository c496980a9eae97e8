"""Examples that are read, checked and counted once for all batches taken from them."""

from __future__ import annotations

from threading import Lock

import numpy as np

from structperc.core.component import adapted, inherits, state_of
from structperc.core.losses import Loss
from structperc.engine.assembly import clone_model
from structperc.problems.passes import Passes

SHARED = ("outputs", "features", "loss", "argmax", "update")        # parts whose state another thread's parts take over


class Prepared:
    """Examples, their gold outputs, and the parts of each thread that looks at them.

    Parameters
    ----------
    engine : Engine
        Whose plugins make the parts.
    model : Model
        The parts, started and checked.
    rows : Rows
    gold : Structures or None
    costs : object or None
        As the user passed them.

    Attributes
    ----------
    offsets : int64 array of shape (n_examples + 1,)
        Where the atoms of each example begin in flat arrays.
    partial : bool
        Whether gold outputs are partial.
    """

    def __init__(self, engine, model, rows, gold, costs):
        self.engine, self.rows, self.gold, self.costs = engine, rows, gold, costs
        self.partial = bool(model.parts.outputs.partial_gold)
        self.models, self.lock = [model], Lock()
        features = adapted(model.parts.features)
        n_atoms = [features.n_atoms(rows.example(i)) for i in range(rows.n_examples)]
        self.offsets = np.concatenate([[0], np.cumsum(n_atoms)]).astype(np.int64)

    @property
    def parts(self):
        return self.models[0].parts

    def example(self, number):
        """An example, with its number of atoms."""
        x = self.rows.example(number)
        x.n_atoms = int(self.offsets[number + 1] - self.offsets[number])
        return x

    def passes(self, offsets, numbers, n_threads) -> list:
        """The way of each thread through some of the examples, each with parts of its own."""
        with self.lock:
            while len(self.models) < n_threads:
                self.models.append(self.clone())
        return [Passes(model.parts, self.rows, offsets, numbers, self.gold, self.partial) for model in self.models[:n_threads]]

    def clone(self):
        """A model of new parts in the state of the first."""
        first = self.models[0]
        clone, _ = clone_model(self.engine, first, self.rows, None, 1, first.context.random)
        for kind in SHARED:
            getattr(clone.parts, kind).restore(state_of(getattr(first.parts, kind)))
        clone.parts.outputs.partial_gold = first.parts.outputs.partial_gold
        set_costs(clone, self.costs, self.gold, self.rows.n_examples)
        return clone


def uses_costs(parts) -> bool:
    """Whether the loss takes costs of examples."""
    return not inherits(parts.loss, Loss, "set_costs")


def set_costs(model, costs, gold, n_examples) -> None:
    """Hands the costs of examples to a loss that uses them."""
    if uses_costs(model.parts):
        model.parts.loss.set_costs(costs, gold, n_examples)
