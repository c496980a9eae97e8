"""The k best matchings by Murty's partition, slowly: each cell is a table of its own, solved from nothing."""

import heapq
from itertools import count

import numpy as np
from scipy.optimize import linear_sum_assignment


def k_best(scores, k, perfect):
    """Partners and score of each, best first; an empty list if there is none."""
    if perfect and scores.shape[0] > scores.shape[1]:
        return [(turned_over(partners, len(scores)), score) for partners, score in k_best(scores.T, k, True)]
    n, m = scores.shape
    table = scores if perfect else np.hstack([scores, np.where(np.eye(n, dtype=bool), 0.0, -np.inf)])
    order, found, heap = count(), [], []

    def push(cell, fixed):
        try:
            _, columns = linear_sum_assignment(cell, maximize=True)
        except ValueError:
            return
        heapq.heappush(heap, (-table[np.arange(n), columns].sum(), next(order), columns, cell, fixed))

    push(table, 0)
    while heap and len(found) < k:
        minus, _, columns, cell, fixed = heapq.heappop(heap)
        found.append((np.where(columns < m, columns, -1), -minus))
        for i in range(fixed, n):
            other = cell.copy()
            other[i, columns[i]] = -np.inf
            push(other, i)
            kept, cell = cell[i, columns[i]], cell.copy()       # row i keeps its column in the cells of later rows
            cell[i], cell[:, columns[i]] = -np.inf, -np.inf
            cell[i, columns[i]] = kept
    return found


def turned_over(partners, m):
    rows, inverse = np.flatnonzero(partners >= 0), np.full(m, -1)
    inverse[partners[rows]] = rows
    return inverse
