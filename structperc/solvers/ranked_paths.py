"""The k best paths to a node of an acyclic graph, computed one by one."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np


class RankedPaths:
    """The best paths from the start to each node, as many as have been asked for, by pointers back."""
    # tails, heads, scores: arrays of shape (n_arcs,)
    # best: float64 array of shape (n_nodes,). The largest score of a path to each node.

    def __init__(self, tails, heads, scores, start, best):
        usable = np.flatnonzero((best[tails] > -np.inf) & (scores > -np.inf))
        arcs = usable[np.argsort(heads[usable], kind="stable")]
        self.arcs, self.first = arcs, np.searchsorted(heads[arcs], np.arange(len(best) + 1))
        self.minus = -(best[tails[arcs]] + scores[arcs])            # of the best path that ends with each of these arcs
        self.tails, self.scores, self.start = tails, scores, start
        self.ranked = {start: [(0.0, -1, 0)]}       # of a node: minus the score, the last arc, and the rank of the rest at its tail
        self.waiting = {start: []}                  # the best path not yet ranked with each last arc, a heap of the same

    def of(self, node):
        """The ranked paths to a node; its best one, when it is asked for the first time."""
        if node not in self.ranked:
            into = slice(self.first[node], self.first[node + 1])
            heap = list(zip(self.minus[into].tolist(), self.arcs[into].tolist(), [0] * (into.stop - into.start), strict=True))
            heapify(heap)
            self.ranked[node], self.waiting[node] = [heappop(heap)], heap
        return self.ranked[node]

    def add_one(self, node) -> bool:
        """Ranks one path more to a node; returns whether there is one."""
        behind = []                                 # nodes, each of which first needs one path more to the next
        while node != self.start:
            behind.append(node)
            _, arc, rank = self.of(node)[-1]
            node = int(self.tails[arc])
            if len(self.of(node)) > rank + 1:
                break
        more = False
        for node in reversed(behind):
            _, arc, rank = self.ranked[node][-1]
            before, heap = self.ranked[int(self.tails[arc])], self.waiting[node]
            if len(before) > rank + 1:
                heappush(heap, (before[rank + 1][0] - float(self.scores[arc]), arc, rank + 1))
            more = bool(heap)
            if more:
                self.ranked[node].append(heappop(heap))
        return more

    def path(self, node, rank):
        """The arcs of a ranked path in order, and its score."""
        arcs, score = [], -self.of(node)[rank][0]
        while node != self.start:
            _, arc, rank = self.of(node)[rank]
            arcs.append(arc)
            node = int(self.tails[arc])
        return tuple(arcs[::-1]), score + 0.0       # no -0.0
