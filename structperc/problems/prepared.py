"""Examples that are read, checked and counted once for all batches taken from them."""

from __future__ import annotations

from copy import copy
from threading import Lock

import attrs
import numpy as np

from structperc.basics.rows_of_numbers import count_rows, entries_at
from structperc.core.component import adapted, inherits, kept_state
from structperc.core.losses import Loss
from structperc.fitting.assembly import clone_model
from structperc.problems.passes import Passes

SHARED = ("outputs", "features", "loss", "argmax", "update")        # parts whose state another thread's parts take over


@attrs.frozen(eq=False)
class Source:
    """What `Problem.batch` was given, to make the batch again elsewhere."""
    # offsets: int64 array of shape (n_examples + 1,). The rows of each example.
    # has_blocks: bool. Whether X has an entry for each example, and not for each row.

    problem: object
    X: object
    y: object
    offsets: object
    has_blocks: bool
    allowed: object
    costs: object

    def of(self, numbers) -> Source:
        """The same of some of the examples."""
        starts, sizes = self.offsets[:-1], np.diff(self.offsets)
        n_rows, n_examples = int(self.offsets[-1]), len(sizes)
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *(np.arange(starts[i], starts[i] + sizes[i]) for i in numbers)])

        def part(values):
            if values is None:
                return None
            n = count_rows(values)
            return entries_at(values, rows if n == n_rows != n_examples else numbers)

        X = None if self.X is None else entries_at(self.X, numbers if self.has_blocks else rows)
        offsets = np.append(0, np.cumsum(sizes[numbers])).astype(np.int64)
        return attrs.evolve(self, X=X, y=part(self.y), offsets=offsets, allowed=part(self.allowed), costs=part(self.costs))

    def batch(self):
        """The batch of these examples."""
        sizes = np.diff(self.offsets)
        if self.X is None:
            return self.problem.batch(y=self.y, lengths=sizes, allowed=self.allowed, costs=self.costs)
        offsets = None if self.has_blocks or (sizes == 1).all() else self.offsets
        return self.problem.batch(self.X, self.y, offsets=offsets, allowed=self.allowed, costs=self.costs)


class Prepared:
    """Examples, their gold outputs, and the parts of each thread that looks at them."""
    # engine: Engine. Whose plugins make the parts.
    # model: Model. The parts, started and checked.
    # gold: Structures or None
    # costs: object or None. As the user passed them.
    # source: Source, optional. Without it a batch is not pickled.
    # offsets: int64 array, optional. Where atoms begin, if the caller knows.
    # offsets: int64 array of shape (n_examples + 1,). Where the atoms of each example begin in flat arrays.
    # partial: bool. Whether gold outputs are partial.

    def __init__(self, engine, model, rows, gold, costs, source=None, offsets=None):
        self.source = source
        self.engine, self.rows, self.gold, self.costs = engine, rows, gold, costs
        self.partial = bool(model.parts.outputs.partial_gold)
        self.models, self.lock = [model], Lock()
        if offsets is None:
            features = adapted(model.parts.features)
            offsets = np.append(0, np.cumsum([features.n_atoms(rows.example(i)) for i in range(rows.n_examples)]))
        self.offsets = offsets.astype(np.int64, copy=False)

    def with_gold(self, gold):
        """The same examples with other gold outputs, which have been checked. Models are shared."""
        other = copy(self)
        other.gold = gold
        return other

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
            getattr(clone.parts, kind).restore(kept_state(getattr(first.parts, kind)))
        set_costs(clone, self.costs, self.gold, self.rows.n_examples)
        return clone


def uses_costs(parts) -> bool:
    """Whether the loss takes costs of examples."""
    return not inherits(parts.loss, Loss, "set_costs")


def set_costs(model, costs, gold, n_examples) -> None:
    """Hands the costs of examples to a loss that uses them."""
    if uses_costs(model.parts):
        model.parts.loss.set_costs(costs, gold, n_examples)
