"""The k documents of largest score: expected O(n + k log k), about 10 ns per document for 10 of 100."""
import heapq

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport isfinite, log2
from structperc.core.argmax cimport Argmax
from structperc.core.losses cimport Loss
from structperc.core.rows cimport Example
from structperc.errors import DataError
from structperc_latent_ranking.selection cimport sp_first


# ---- solver ----


cdef class TopDocuments(Argmax):
    """The min(k, n) documents of largest score, best first; of equal scores the earlier document."""
    # k: int. At least 1.

    cdef readonly Py_ssize_t k

    def __init__(self, Py_ssize_t k):
        self.k = k

    cdef Py_ssize_t argmax_c(self, Example x, const double *s, int *y) noexcept nogil:
        return sp_first(s, NULL, x.n_atoms, self.k, y)

    def k_best(self, scores, Example x, k):
        """From a list to the next ones: one of its documents gives way to the next in the order of scores. O(k (m + log) m), m shown."""
        self._refuse_values(scores)
        scores = np.asarray(scores, dtype=float).tolist()       # sums of floats that overflow are infinite
        order = sorted(range(len(scores)), key=lambda a: -scores[a])
        first = tuple(range(min(self.k, len(order))))
        total = sum(scores[order[i]] for i in first) / self.k
        waiting, candidates, lists = [(-total, first)], {first}, []
        while waiting and len(lists) < k:
            PyErr_CheckSignals()
            total, places = heapq.heappop(waiting)
            if not isfinite(total) and all([isfinite(scores[order[i]]) for i in places]):
                raise DataError("scores overflow when they are added up, although each is finite.")
            lists.append((tuple([order[i] for i in places]), -total))
            for j, i in enumerate(places):
                moved = (*places[:j], i + 1, *places[j + 1:])
                if i + 1 < len(order) and i + 1 not in places and moved not in candidates:
                    candidates.add(moved)
                    heapq.heappush(waiting, (-sum(scores[order[i]] for i in moved) / self.k, moved))
        return lists


# ---- losses ----
# What a list of documents lacks. O(n) each; in search, precision and recall are sums over documents, so the top k stays the solver.


KINDS = ("precision", "recall", "ndcg", "average-precision")

cdef enum:
    PRECISION
    RECALL
    NDCG
    AVERAGE_PRECISION
    MOST_LEVELS = 32


cdef class RankingLoss(Loss):
    """The shortfall of a list h of m = min(k, n) documents from the best list. g_j is the gain of document j, 0 or 1 by default.

        precision          `(1/k) (largest sum of m of the g_j - sum of g_j over h)`
        recall             the same, divided by the sum of all g_j instead of k; 0 if that is 0
        ndcg               `1 - DCG(h) / DCG(best list)`. DCG adds `g_j / log2(1 + place)`, places 1..m; 0 if no document is worth anything
        average-precision  `1 - AP`. AP adds the share of relevant documents up to each relevant one. It divides by
                           min(m, number of relevant documents); 0 if there is none

    Precision and recall are additive over documents, so loss-augmented search is exact. The other two depend on the order of the list,
    of which no sum over documents knows: they are measured only.
    """
    # kind: {"precision", "recall", "ndcg", "average-precision"}

    cdef readonly object kind
    cdef readonly Py_ssize_t k
    cdef int of
    cdef Py_ssize_t n_levels
    cdef const double[::1] worth

    def __init__(self, kind, Py_ssize_t k):
        self.kind, self.k, self.of = kind, k, KINDS.index(kind)

    def start(self, parts, context):
        Loss.start(self, parts, context)
        self.worth = np.array(parts.outputs.worth)
        self.n_levels = self.worth.shape[0]

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t[MOST_LEVELS] size
        cdef Py_ssize_t[MOST_LEVELS] best       # how many documents of each level the best list shows
        cdef Py_ssize_t i, level, left = n, hits = 0
        cdef double total = 0, reached = 0, ideal = 0
        for level in range(self.n_levels):
            size[level] = 0
        for i in range(n_gold):
            size[gold[i]] += 1
        for level in range(self.n_levels):
            best[level] = min(size[level], left)
            left -= best[level]
            total += size[level] * self.worth[level]
        if self.of == AVERAGE_PRECISION:
            if best[0] == 0:
                return 0
            for i in range(n):
                if gold[y[i]] == 0:
                    hits += 1
                    reached += <double> hits / (i + 1)
            return max(1 - reached / best[0], 0.0)
        if self.of == NDCG:
            level = 0
            for i in range(n):
                while best[level] == 0:
                    level += 1
                best[level] -= 1
                ideal += self.worth[level] / log2(i + 2.0)
                reached += self.worth[gold[y[i]]] / log2(i + 2.0)
            return max(1 - reached / ideal, 0.0) if ideal > 0 else 0
        for i in range(n):
            best[gold[y[i]]] -= 1
        for level in range(self.n_levels):
            reached += best[level] * self.worth[level]      # what the best list has more: exact for whole worths
        if self.of == RECALL:
            return max(reached / total, 0.0) if total > 0 else 0
        return max(reached / self.k, 0.0)


cdef class AdditiveRankingLoss(RankingLoss):
    """Precision and recall: sums over documents, for exact loss-augmented search."""

    cdef int augment_c(self, Example x, const int *gold, Py_ssize_t n_gold, double scale, double *s) noexcept nogil:
        """s[j] -= scale * g_j, which a list counts 1 / k times; for recall, scale * k / sum of g instead"""
        cdef Py_ssize_t a
        cdef double total = 0
        if self.of == RECALL:
            for a in range(n_gold):
                total += self.worth[gold[a]]
            if total == 0:
                return 0
            scale *= self.k / total
        for a in range(n_gold):
            s[a] -= scale * self.worth[gold[a]]
        return 0
