"""The k best trees with labels, from the k best trees."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np


def k_best_labelled(arcs, heads, totals, k) -> list:
    """The k best trees with labels, best first, as pairs of codes head * n_labels + label and a score. O(k n log k)"""
    # A tree's labelings are visited from the best down. The successors of a labeling have the next best label of one word, from the word on
    # that changed last.
    n_labels, words = arcs.shape[2], np.arange(1, arcs.shape[0])
    trees_found, open_ones, orders = [], [], []
    for t, (tree, total) in enumerate(zip(heads, totals, strict=True)):
        scores = arcs[tree, words]
        orders.append((np.argsort(-scores, axis=1, kind="stable"), -np.sort(-scores, axis=1)))
        heappush(open_ones, (-float(total), t, (0,) * len(words), 0))
    while open_ones and len(trees_found) < k:
        loss, t, ranks, first = heappop(open_ones)
        order, scores = orders[t]
        trees_found.append((tuple((heads[t] * n_labels + order[words - 1, ranks]).tolist()), -loss))
        for m in range(first, len(words)):
            rank = ranks[m] + 1
            if rank < n_labels and scores[m, rank] > -np.inf:
                heappush(open_ones, (loss + scores[m, rank - 1] - scores[m, rank], t, (*ranks[:m], rank, *ranks[m + 1:]), m))
    return trees_found
