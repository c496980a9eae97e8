# distutils: extra_compile_args = VECTORS
"""The best heads of a sentence's words: maximum arborescences, by Tarjan's dense algorithm.

Provisional: it may change in any minor version.

Words are 1..n and 0 is an artificial root. A tree gives every word a head such that all words are reached from the root. The best head of
each word makes the best tree unless a cycle arises. A cycle becomes a supernode: y[v], the best score into its member v, is subtracted from
the scores into v. The supernode's own best entering arc replaces one of the cycle's. The largest of the members' reduced scores is the
supernode's score. So comparison finds the word that an arc enters, when the supernodes are expanded, the outermost first.

Typical sizes: 10 to 200 words. O(n^2) time; 2 to 6 ns per arc. Memory O(n^2), of which a supernode touches O(n).
"""
from typing import NamedTuple
import heapq

import numpy as np

from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBuffer_Release, PyObject_GetBuffer
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.math cimport INFINITY, exp, fabs, isfinite, log, log1p
from structperc.basics.arguments import MOST_SUMMED as LARGEST_SUM, flag, float_array, how_many, overflown
from structperc.basics.errors import DataError
from structperc.basics.signals cimport interrupted
from structperc.basics.signals import take_interruption
from structperc.basics.signatures import ClassSignature


include "arborescences.matrices.pxi"


cdef enum:
    UNVISITED
    ON_PATH
    DONE

cdef extern from "row_maxima.h" nogil:
    Py_ssize_t sp_row_maxima(const double *a, Py_ssize_t pitch, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t first, double *largest,
                             double *place, int *refused) noexcept
    void sp_reduced(const double *a, Py_ssize_t pitch, double y, double *x, Py_ssize_t n, int more) noexcept


cdef Py_ssize_t arborescence_work(Py_ssize_t n) noexcept nogil:
    return (n + 6) * (n + 1) + (17 * (n + 1) + 1) // 2


cdef Contraction contraction_in(double *work, Py_ssize_t n) noexcept nogil:
    cdef Contraction c
    cdef Py_ssize_t words = n + 1, nodes = 2 * words
    cdef int *whole
    c.n_words, c.n_nodes, c.rooted = n, n + 1, 0
    c.word_best, c.word_head, c.other_y, c.loss = work, work + words, work + 2 * words, work + 3 * words
    c.y, c.columns = work + 4 * words, work + 6 * words
    whole = <int *> (c.columns + n * words)
    c.head, c.child, c.sibling, c.state = whole, whole + nodes, whole + 2 * nodes, whole + 3 * nodes
    c.first, c.last = whole + 4 * nodes, whole + 5 * nodes
    whole += 6 * nodes
    c.top, c.following, c.path, c.hanging, c.other = whole, whole + words, whole + 2 * words, whole + 3 * words, whole + 4 * words
    return c


cdef int best_words(const Contraction *c) noexcept nogil:
    """The best head of every word among the other words."""
    cdef Py_ssize_t n = c.n_words, m = 1
    cdef int refused = 0
    while m <= n:
        m = sp_row_maxima(c.scores, c.pitch, 1, n + 1, m, c.word_best, c.word_head, &refused)
        if interrupted(8 * n):
            return INTERRUPTED
    for m in range(1, n + 1):
        refused |= not c.scores[m] < INFINITY
    return NO_SCORE if refused else FOUND


cdef (Py_ssize_t, Py_ssize_t) refused_arc(const double *scores, Py_ssize_t pitch, Py_ssize_t n) noexcept nogil:
    """The first arc whose score is NaN or +inf: head and dependent."""
    cdef Py_ssize_t h, m
    for h in range(n + 1):
        for m in range(1, n + 1):
            if h != m and not scores[h * pitch + m] < INFINITY:
                return h, m


cdef int contract(Contraction *c) noexcept nogil:
    """The arc that enters each node of the best tree, several roots allowed."""
    cdef Py_ssize_t n = c.n_words, s, m
    cdef int v, t, length
    c.state[0], c.top[0], c.n_nodes, c.rooted = DONE, 0, n + 1, 0
    for m in range(1, n + 1):
        c.state[m] = UNVISITED
        c.top[m] = c.first[m] = c.last[m] = <int> m
        if c.scores[m] >= c.word_best[m]:
            c.head[m], c.y[m] = 0, c.scores[m]
        else:
            c.head[m], c.y[m] = <int> c.word_head[m], c.word_best[m]
    for s in range(1, n + 1):
        v, length = c.top[s], 0
        while c.state[v] != DONE:
            if c.y[v] == -INFINITY:
                c.path[0] = v
                return INFEASIBLE
            c.path[length] = v
            length += 1
            c.state[v] = ON_PATH
            t = c.top[c.head[v]]
            if c.state[t] == ON_PATH:
                if interrupted(4 * n):
                    return INTERRUPTED
                m = length
                while c.path[length - 1] != t:
                    length -= 1
                length -= 1
                v = contract_cycle(c, c.path + length, m - length)
                c.head[v], c.state[v] = first_largest(column_of(c, v), 0, n + 1, &c.y[v]), UNVISITED
            else:
                v = t
        for m in range(length):
            c.state[c.path[m]] = DONE
    return FOUND


cdef int contract_cycle(Contraction *c, const int *cycle, Py_ssize_t length) noexcept nogil:
    """A supernode of these nodes, with its column of reduced scores."""
    cdef Py_ssize_t n = c.n_words, i
    cdef int new = <int> c.n_nodes, v, m
    cdef double *column = column_of(c, new)
    c.n_nodes += 1
    c.child[new], c.first[new], c.last[new] = cycle[0], c.first[cycle[0]], c.last[cycle[length - 1]]
    for i in range(length):
        v = cycle[i]
        if v <= n:
            sp_reduced(c.scores + v, c.pitch, c.y[v], column, n + 1, i > 0)
        else:
            sp_reduced(column_of(c, v), 1, c.y[v], column, n + 1, i > 0)
        c.sibling[v] = cycle[i + 1] if i < length - 1 else 0
        if i < length - 1:
            c.following[c.last[v]] = c.first[cycle[i + 1]]
    m = c.first[new]
    while True:
        c.top[m] = new
        column[m] = -INFINITY
        if m == c.last[new]:
            return new
        m = c.following[m]


cdef inline double *column_of(const Contraction *c, int v) noexcept nogil:
    """The reduced scores of the arcs into a supernode."""
    return c.columns + (v - c.n_words - 1) * (c.n_words + 1)


cdef int leave_one_root(Contraction *c) noexcept nogil:
    """Exchanges root arcs for other arcs until a single root arc is left. Each exchange has the least loss (Gabow and Tarjan)."""
    # A cycle that arises becomes a supernode, which the root's arc enters again. Among equals, the last word changes its head.
    cdef Py_ssize_t n = c.n_words, n_hanging = 0, i, best, length
    cdef int v, t, m
    for m in range(1, <int> n + 1):
        v = c.top[m]
        if c.head[v] == 0 and c.first[v] == m:
            hang(c, v, n_hanging)
            n_hanging += 1
    while n_hanging > 1:
        if interrupted(4 * n):
            return INTERRUPTED
        best = 0
        for i in range(1, n_hanging):
            if c.loss[i] <= c.loss[best]:
                best = i
        if c.loss[best] == INFINITY:
            c.path[0], c.rooted = c.hanging[0], c.hanging[1]
            return INFEASIBLE
        v, length = c.hanging[best], 0
        c.head[v], c.y[v], t = c.other[best], c.other_y[best], v
        while True:
            c.path[length] = t
            length += 1
            t = c.top[c.head[t]]
            if t == 0 or t == v:
                break
        if t:
            v = contract_cycle(c, c.path, length)
            c.head[v], c.y[v] = 0, column_of(c, v)[0]
            hang(c, v, best)
        else:
            n_hanging -= 1
            for i in range(best, n_hanging):
                c.hanging[i], c.other[i], c.other_y[i], c.loss[i] = c.hanging[i + 1], c.other[i + 1], c.other_y[i + 1], c.loss[i + 1]
        c.rooted = c.hanging[0]
    return FOUND


cdef void hang(Contraction *c, int v, Py_ssize_t i) noexcept nogil:
    """Lists a node that the root's arc enters, with the best other arc."""
    c.hanging[i] = v
    if v <= c.n_words:
        c.other[i], c.other_y[i] = <int> c.word_head[v], c.word_best[v]
    else:
        c.other[i] = first_largest(column_of(c, v), 1, c.n_words + 1, &c.other_y[i])
    c.loss[i] = c.y[v] - c.other_y[i]


cdef int first_largest(const double *x, Py_ssize_t begin, Py_ssize_t end, double *value) noexcept nogil:
    cdef Py_ssize_t u = begin
    cdef double most = largest(x + begin, end - begin)
    while u < end - 1 and x[u] != most:         # to the end where all are NaN, or another thread changes them
        u += 1
    value[0] = most
    return <int> u


cdef double largest(const double *x, Py_ssize_t n) noexcept nogil:
    cdef double a = -INFINITY, b = -INFINITY, e = -INFINITY, d = -INFINITY
    cdef Py_ssize_t i = 0
    while i + 4 <= n:
        a = x[i] if x[i] > a else a
        b = x[i + 1] if x[i + 1] > b else b
        e = x[i + 2] if x[i + 2] > e else e
        d = x[i + 3] if x[i + 3] > d else d
        i += 4
    while i < n:
        a = x[i] if x[i] > a else a
        i += 1
    return max(max(a, b), max(e, d))


cdef void expand(Contraction *c, int *heads) noexcept nogil:
    """Breaks the supernodes up, the outermost first: the arc that enters one replaces the arc inside it to the child that it enters."""
    cdef Py_ssize_t n = c.n_words, m
    cdef int x, v, entered, u
    cdef double here, best
    for x in range(<int> c.n_nodes - 1, <int> n, -1):
        u, v = c.head[x], c.child[x]
        entered, best = v, -INFINITY
        while v:
            here = (c.scores[u * c.pitch + v] if v <= n else column_of(c, v)[u]) - c.y[v]
            if here > best:
                entered, best = v, here
            v = c.sibling[v]
        c.head[entered] = u
    for m in range(1, n + 1):
        heads[m - 1] = c.head[m]


cdef void mark(const Contraction *c, int v, int mark, int *heads) noexcept nogil:
    cdef int m = c.first[v]
    while True:
        heads[m - 1] = mark
        if m == c.last[v]:
            break
        m = c.following[m]


cdef int max_arborescence_c(const double *scores, Py_ssize_t pitch, Py_ssize_t n, bint one_root, int *heads,
                            double *work) noexcept nogil:
    cdef Contraction c = contraction_in(work, n)
    c.scores, c.pitch = scores, pitch
    return best_tree(&c, one_root, heads)


cdef int best_tree(Contraction *c, bint one_root, int *heads) noexcept nogil:
    cdef Py_ssize_t n = c.n_words, m
    cdef int status = best_words(c)
    if status == FOUND:
        status = contract(c)
    if status == FOUND and one_root:
        status = leave_one_root(c) if n else INFEASIBLE
    if status == FOUND:
        expand(c, heads)
    elif status == INFEASIBLE and n:
        for m in range(n):
            heads[m] = 0
        if c.rooted:
            mark(c, c.rooted, -2, heads)
        mark(c, c.path[0], -1, heads)
    return status


cdef refusal(int status, const double *scores, Py_ssize_t pitch, Py_ssize_t n, const int *heads, str name):
    cdef Py_ssize_t h, m
    if status == INTERRUPTED:
        return take_interruption()
    if status == NO_SCORE:
        h, m = refused_arc(scores, pitch, n)
        return DataError(f"{name}[{h}, {m}] is {scores[h * pitch + m]}; expected a number, or -inf where word {m} may not have the "
                         f"head {h}.")
    if n == 0:
        return DataError(f"{name} has no words, but one_root=True asks for a word whose head is the root.")
    closed, other = ([m + 1 for m in range(n) if heads[m] == mark] for mark in (-1, -2))
    if other:
        return DataError(f"{name} leaves no tree with one arc from the root: only such arcs enter {listed(closed)} from outside, "
                         f"and {listed(other)}. Allow an arc between them, or pass one_root=False.")
    return DataError(f"{name} leaves no tree: all arcs that enter {listed(closed)} from outside have the score -inf. Allow one of them.")


def listed(words):
    listing = ", ".join(map(str, words[:20])) + (", ..." if len(words) > 20 else "")
    return f"word {listing}" if len(words) == 1 else f"the {len(words)} words {listing}"


def max_arborescence(scores, one_root=False):
    """Maximum spanning arborescence, the best dependency tree of a sentence (Chu-Liu-Edmonds).

    Ties: each column's first maximum wins, which is the lowest head, and the first member of a cycle. The result is the same on every
    machine. If all scores are equal, all heads are 0; with `one_root` they are 0, 1, ..., 1. Cost: O(n^2); a batch call takes 2 to 6 ns
    per arc. Raises `DataError` if a score is NaN or +inf, or no tree exists. The message names the arc or the words.

    Parameters
    ----------
    scores : array of shape (n + 1, n + 1) or (n_sentences, n + 1, n + 1), or list of such matrices
        scores[h, m] of the arc from the head h to word m; 0 is the root. -inf forbids an arc. Column 0 and the diagonal are ignored.
    one_root : bool, default False
        Exactly one word has the head 0.

    Returns
    -------
    heads : int32 array of shape (n,), or a list of them for many sentences
        The heads of words 1..n.
    total : float, or float64 array of shape (n_sentences,)
        The sum of the scores, added in the order of the words.

    See Also
    --------
    structperc.solvers.projective.projective_tree : trees without crossing arcs.
    structperc.solvers.sparse_arborescences.max_sparse_arborescence : graphs with few arcs.
    structperc.solvers.arborescences.k_best_arborescences : the k best trees.
    structperc.solvers.arborescences.arborescence_marginals : probabilities of arcs.

    Notes
    -----
    With `one_root`, Edmonds's algorithm compares pairs of (-number of root arcs, score).

    References
    ----------
    R. E. Tarjan: Finding optimum branchings. Networks 7, pages 25-35, 1977.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.arborescences import max_arborescence
    >>> scores = np.array([[0, 9, 8, 0], [0, 0, 4, 3], [0, 5, 0, 6], [0, 1, 2, 0]])
    >>> heads, total = max_arborescence(scores)
    >>> heads.tolist(), total
    ([0, 0, 2], 23.0)
    >>> heads, total = max_arborescence(scores, one_root=True)
    >>> heads.tolist(), total
    ([0, 1, 2], 19.0)
    """
    cdef ScoreMatrices sentences = ScoreMatrices(scores)
    cdef Py_ssize_t n = sentences.n_matrices, i = 0, words = 0
    cdef bint one = flag(one_root, "one_root")
    cdef int status = FOUND
    cdef int[::1] heads = np.zeros(sentences.offsets[n] + 1, dtype=np.intc)
    cdef double[::1] totals = np.zeros(n), work = np.zeros(arborescence_work(sentences.most_words))
    cdef int *sentence_heads = &heads[0]
    cdef const double *at = NULL
    with nogil:
        for i in range(n):
            words, at, sentence_heads = sentences.n_words[i], sentences.at[i], &heads[0] + sentences.offsets[i]
            status = max_arborescence_c(at, words + 1, words, one, sentence_heads, &work[0])
            if status == FOUND and interrupted(words * words):
                status = INTERRUPTED
            if status != FOUND:
                break
            totals[i] = total_score(at, words + 1, words, sentence_heads)
    if status != FOUND:
        raise refusal(status, at, words + 1, words, sentence_heads, sentences.name_of(i))
    answers = sentences.split(np.asarray(heads)[:-1])
    return (answers, totals[0]) if sentences.single else (answers, np.asarray(totals))


cdef double total_score(const double *scores, Py_ssize_t pitch, Py_ssize_t n, const int *heads) noexcept nogil:
    cdef Py_ssize_t m
    cdef double total = 0
    for m in range(n):
        total += scores[heads[m] * pitch + m + 1]
    return total


include "arborescences.ranked.pxi"
include "arborescences.certificates.pxi"
include "arborescences.sums.pxi"


__all__ = ["ArborescenceCertificate", "ScoreMatrices", "arborescence_certificate", "arborescence_marginals",
           "k_best_arborescences", "max_arborescence"]
