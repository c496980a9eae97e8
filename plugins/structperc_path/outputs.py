"""Paths as sets of arcs."""

import numpy as np

from structperc.components import Outputs
from structperc.errors import PluginError, shortened
from structperc.pictures import Display
from structperc.plugin_tools import key_text, key_values, of_keys


class EdgeDisplay(Display):
    """Edges by their ends."""

    def atom_names(self, x):
        return [f"{key_text(tail)} to {key_text(head)}" for tail, head, *_ in key_values(x)]


class Paths(Outputs):
    """Sets of arcs that lead from the start to the end of an example. They are row numbers in any order, shown in that of the path."""
    # ends: bool. Whether the keys of a row are (tail, head, start, end) and not only (tail, head).

    def __init__(self, ends, default_loss):
        self.ends, self.default_loss = ends, default_loss

    def graph(self, x):
        """Tails, heads, start and end by numbers from 0."""
        return of_keys(x, "graph", self.numbered)

    def numbered(self, x):
        """The graph of an example that nobody has looked at."""
        if x.n_rows == 0:
            raise PluginError(f"example {x.index} has no arcs; expected at least one.")
        keys = x.keys
        if self.ends and (keys[:, 2:] != keys[0, 2:]).any():
            raise PluginError(f"the rows of example {x.index} name several starts or ends; expected one of each.")
        wanted = keys[0, 2:] if self.ends else np.array([keys.min(), keys.max()])
        numbers = np.unique(np.concatenate([keys[:, :2].ravel(), wanted]), return_inverse=True)[1].reshape(-1)
        arcs = numbers[:-2].reshape(-1, 2)
        return *np.ascontiguousarray(arcs.T, dtype=np.intc), int(numbers[-2]), int(numbers[-1])

    def check_structure(self, x, y):
        super().check_structure(x, y)
        tails, heads, start, end = self.graph(x)
        leaving = {int(tails[a]): a for a in y}
        node, steps = start, 0
        while node in leaving and steps < len(y):
            node, steps = int(heads[leaving[node]]), steps + 1
        if node != end or steps < len(y) or len(leaving) < len(y) or end in leaving:
            raise PluginError(f"the arcs {shortened(y)} of example {x.index} are no path from its start to its end.")

    def decode(self, y, x):
        return y                            # in the order of the path

    def enumerate(self, x):
        tails, heads, start, end = self.graph(x)

        def continued(node, arcs, visited):
            if node == end:
                yield arcs
                return
            for a in np.flatnonzero(tails == node).tolist():
                if heads[a] not in visited:
                    yield from continued(heads[a], (*arcs, a), visited | {heads[a]})

        return continued(start, (), {start})

    def display(self):
        return EdgeDisplay(self)


__all__ = ["Paths"]
