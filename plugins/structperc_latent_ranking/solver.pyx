"""The k documents of largest score: expected O(n + k log k), about 10 ns per document for 10 of 100."""
import heapq

from cpython.exc cimport PyErr_CheckSignals
from structperc.core.argmax cimport Argmax
from structperc.core.rows cimport Example
from structperc_latent_ranking.selection cimport sp_first


cdef class TopDocuments(Argmax):
    """The min(k, n) documents of largest score, best first; of equal scores the earlier document.

    Parameters
    ----------
    k : int
        At least 1.
    """

    cdef readonly Py_ssize_t k

    def __init__(self, Py_ssize_t k):
        self.k = k

    cdef Py_ssize_t argmax_c(self, Example x, const double *s, int *y) noexcept nogil:
        return sp_first(s, NULL, x.n_atoms, self.k, y)

    def k_best(self, scores, Example x, k):
        """From a list to the next ones: one of its documents gives way to the next in the order of scores. O(k (m + log) m), m shown."""
        order = sorted(range(len(scores)), key=lambda a: -scores[a])
        first = tuple(range(min(self.k, len(order))))
        total = sum(scores[order[i]] for i in first) / self.k
        waiting, known, found = [(-total, first)], {first}, []
        while waiting and len(found) < k:
            PyErr_CheckSignals()
            total, places = heapq.heappop(waiting)
            found.append((tuple([order[i] for i in places]), -total))
            for j, i in enumerate(places):
                moved = (*places[:j], i + 1, *places[j + 1:])
                if i + 1 < len(order) and i + 1 not in places and moved not in known:
                    known.add(moved)
                    heapq.heappush(waiting, (-sum(scores[order[i]] for i in moved) / self.k, moved))
        return found
