# distutils: extra_compile_args = VECTORS
"""The best heads of a sentence's words: maximum arborescences, by Tarjan's dense algorithm.

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
from structperc.core.arguments import MOST_SUMMED as LARGEST_SUM, flag, float_array, how_many, overflown
from structperc.core.errors import DataError
from structperc.core.signals cimport interrupted
from structperc.core.signals import take_interruption
from structperc.core.signatures import ClassSignature


# ---- score matrices ----
# Square matrices of arc scores, in an array or a list of arrays. They are copied unless they are float64.
#
# Typical sizes: 1 to 10^5 matrices of 10 to 200 rows. A matrix of a list costs 0.1 us, one of a stack nothing.

cdef object ndarray = np.ndarray
cdef double MOST_SUMMED = LARGEST_SUM


cdef class ScoreMatrices:
    """The scores of all arcs of one sentence or of many.

    Parameters
    ----------
    scores : array of shape (n + 1, n + 1), or of shape (n_sentences, n + 1, n + 1), or list of arrays
    name : str
        Of the argument, for messages.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.arborescences import ScoreMatrices
    >>> isinstance(ScoreMatrices(np.zeros((3, 3))), ScoreMatrices)
    True
    """

    __signature__ = ClassSignature()

    def __init__(self, scores, str name="scores"):
        cdef Py_ssize_t i
        self.name = name
        self.single = not isinstance(scores, (list, tuple)) and np.ndim(scores) != 3
        if self.single:
            self.allocate(1, 1)
            self.hold(scores, -1)
        elif isinstance(scores, (list, tuple)):
            self.allocate(len(scores), len(scores))
            for i in range(self.n_matrices):
                self.hold(scores[i], i)
        else:
            self.allocate(len(scores), 1)
            self._hold_stack(scores)
        for i in range(self.n_matrices):
            self.offsets[i + 1] = self.offsets[i] + self.n_words[i]
            self.most_words = max(self.most_words, self.n_words[i])

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.n_buffers):
            PyBuffer_Release(&self.buffers[i])
        PyMem_Free(self.buffers)
        PyMem_Free(self.at)
        PyMem_Free(self.n_words)
        PyMem_Free(self.offsets)

    cdef allocate(self, Py_ssize_t n_matrices, Py_ssize_t n_buffers):
        self.n_matrices = n_matrices
        self.at = <const double **> PyMem_Calloc(n_matrices + 1, sizeof(double *))
        self.n_words = <Py_ssize_t *> PyMem_Calloc(n_matrices + 1, sizeof(Py_ssize_t))
        self.offsets = <Py_ssize_t *> PyMem_Calloc(n_matrices + 1, sizeof(Py_ssize_t))
        self.buffers = <Py_buffer *> PyMem_Calloc(n_buffers + 1, sizeof(Py_buffer))
        if self.at == NULL or self.n_words == NULL or self.offsets == NULL or self.buffers == NULL:
            raise MemoryError

    cdef hold(self, matrix, Py_ssize_t place):
        """Reads one matrix more."""
        cdef Py_ssize_t i = self.n_buffers
        cdef Py_buffer *buffer = self.take(matrix, place)
        if buffer.ndim != 2 or buffer.shape[0] != buffer.shape[1] or buffer.shape[0] == 0:
            raise DataError(f"{self.name_of(place)} has the shape {tuple(buffer.shape[d] for d in range(buffer.ndim))}; expected "
                            f"(n + 1, n + 1) for n words and the root, rows for heads.{_hint(matrix)}")
        self.at[i], self.n_words[i] = <const double *> buffer.buf, buffer.shape[0] - 1

    def _hold_stack(self, stack):
        """Reads matrices of one size."""
        cdef Py_ssize_t i, size
        cdef Py_buffer *buffer = self.take(stack, -1)
        if buffer.shape[1] != buffer.shape[2] or buffer.shape[1] == 0:
            raise DataError(f"{self.name} has the shape {tuple(buffer.shape[d] for d in range(3))}; expected (n_sentences, n + 1, n + 1) "
                            f"for n words and the root, rows for heads.")
        size = buffer.shape[1]
        for i in range(self.n_matrices):
            self.at[i], self.n_words[i] = <const double *> buffer.buf + i * size * size, size - 1

    cdef Py_buffer *take(self, values, Py_ssize_t place) except NULL:
        """Holds the numbers of an array; those of float64 arrays in C order are not copied."""
        cdef Py_buffer *buffer = &self.buffers[self.n_buffers]
        if type(values) is ndarray:
            try:
                PyObject_GetBuffer(values, buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
            except (BufferError, ValueError):       # other orders, and types without a format
                pass
            else:
                if buffer.format[0] == c"d" and buffer.format[1] == 0:
                    self.n_buffers += 1
                    self.refuse_sums(buffer, place)
                    return buffer
                PyBuffer_Release(buffer)
        PyObject_GetBuffer(float_array(values, self.name_of(place)), buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
        self.n_buffers += 1
        self.refuse_sums(buffer, place)
        return buffer

    cdef int refuse_sums(self, const Py_buffer *buffer, Py_ssize_t place) except -1:
        """Raises an error for scores of a sentence that overflow when they are added up."""
        cdef Py_ssize_t k, start, n = buffer.len // <Py_ssize_t> sizeof(double), size = n
        cdef const double *scores = <const double *> buffer.buf
        cdef double total
        if buffer.ndim == 3 and buffer.shape[0]:
            size = max(1, n // buffer.shape[0])
        for start in range(0, n, max(1, size)):
            total = 0
            for k in range(start, start + size):
                if isfinite(scores[k]):
                    total += fabs(scores[k])
            if total > MOST_SUMMED:
                raise overflown(self.name_of(place))
        return 0

    cdef split(self, answers):
        """Of an array with a number for each word, a view for each sentence: rows of one array for sentences of one size."""
        cdef Py_ssize_t i
        if self.single:
            return answers
        return [answers[self.offsets[i]:self.offsets[i + 1]] for i in range(self.n_matrices)]

    cdef str name_of(self, Py_ssize_t i):
        return self.name if self.single or i < 0 else f"{self.name}[{i}]"


cdef ScoreMatrices one_sentence(scores):
    """The scores of one sentence, for solvers that accept no lists. Several raise an error."""
    cdef ScoreMatrices sentence = ScoreMatrices(scores)
    if not sentence.single:
        raise DataError(f"{sentence.n_matrices} sentences are given; expected the scores of one.")
    return sentence


def _hint(matrix):
    return " A list means many sentences; pass numpy.array(scores) for one." if not isinstance(matrix, np.ndarray) else ""


# ---- arborescences ----

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
    """Exchanges root arcs for other arcs until a single root arc is left. Each exchange has the least loss (Gabow and Tarjan).

    A cycle that arises becomes a supernode, which the root's arc enters again. Among equals, the last word changes its head.
    """
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
    per arc.

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

    Raises
    ------
    DataError
        If a score is NaN or +inf, or no tree exists. The message names the arc or the words.

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


# ---- ranked arborescences ----
# The k best arborescences, by Lawler's partition.
#
# Of the trees of a cell, those without its best tree are divided by the first word whose head differs: cell m keeps the heads of the words
# before m and forbids word m its head. Every new cell takes one search; cells wait, best first, for their turn.
#
# Typical sizes: 5 to 60 words, 10 to 1000 trees. O(k n) searches of O(n^2).


cdef class Cells:
    """Searches in cells of trees of one sentence."""

    __signature__ = ClassSignature()

    cdef Py_ssize_t n
    cdef bint one_root
    cdef const double *scores
    cdef double[::1] cell, work         # the scores that a cell leaves, and what the solver works in
    cdef int[::1] heads

    def __cinit__(self, *args):
        self.cell = self.work = None
        self.heads = None

    cdef begin(self, ScoreMatrices sentences, bint one_root):
        self.n, self.one_root, self.scores = sentences.n_words[0], one_root, sentences.at[0]
        self.cell = np.zeros((self.n + 1) * (self.n + 1))
        self.work = np.zeros(arborescence_work(self.n))
        self.heads = np.zeros(self.n + 1, dtype=np.intc)

    cdef best(self, tuple kept, forbidden):
        """(-total, heads) of the best tree whose first words have the heads `kept`, and the next word none of `forbidden`. None if there is
        no such tree."""
        cdef Py_ssize_t n = self.n, p = n + 1, m, h, head
        cdef int status
        for m in range(p * p):
            self.cell[m] = self.scores[m]
        for m in range(len(kept)):
            head = kept[m]
            for h in range(p):
                if h != head:
                    self.cell[h * p + m + 1] = -INFINITY
        for h in forbidden:
            self.cell[h * p + len(kept) + 1] = -INFINITY
        with nogil:
            status = max_arborescence_c(&self.cell[0], p, n, self.one_root, &self.heads[0], &self.work[0])
        if status == FOUND:
            return -total_score(self.scores, p, n, &self.heads[0]), tuple(np.asarray(self.heads)[:n].tolist())
        if status != INFEASIBLE or not kept + tuple(forbidden):
            raise refusal(status, self.scores, p, n, &self.heads[0], "scores")
        return None


def k_best_arborescences(scores, k, one_root=False):
    """The k maximum arborescences, best first: the k best dependency trees of a sentence.

    Ties: of equal trees, the one computed first comes first; the first tree is that of `max_arborescence`. Cost: O(k n^3).

    Parameters
    ----------
    scores : array of shape (n + 1, n + 1)
        Arc scores of one sentence, as in `max_arborescence`.
    k : int
        Number of trees, at least 1.
    one_root : bool, default False
        Only trees in which exactly one word has the head 0.

    Returns
    -------
    heads : int32 array of shape (n_trees, n)
        Different trees, fewer than k if there are fewer.
    totals : float64 array of shape (n_trees,)
        Their scores, falling.

    Raises
    ------
    DataError
        If a score is NaN or +inf, or no tree exists.
    OptionError
        If k is below 1.

    See Also
    --------
    structperc.solvers.ranked_projective.k_best_projective : trees without crossing arcs.

    References
    ----------
    E. L. Lawler: A procedure for computing the K best solutions to discrete optimization problems and its application to the shortest path
    problem. Management Science 18, pages 401-405, 1972.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.arborescences import k_best_arborescences
    >>> scores = np.array([[0, 9, 8, 0], [0, 0, 4, 3], [0, 5, 0, 6], [0, 1, 2, 0]])
    >>> heads, totals = k_best_arborescences(scores, 2)
    >>> heads.tolist(), totals.tolist()
    ([[0, 0, 2], [0, 0, 1]], [23.0, 20.0])
    """
    k, one_root = how_many(k), flag(one_root, "one_root")
    cdef ScoreMatrices sentences = one_sentence(scores)
    cdef Cells cells = Cells()
    cells.begin(sentences, one_root)
    n_cells = 0
    loss, heads = cells.best((), ())
    waiting, trees = [(loss, n_cells, heads, 0, ())], []
    while waiting and len(trees) < k:
        PyErr_CheckSignals()
        loss, _, heads, n_kept, forbidden = heapq.heappop(waiting)
        trees.append((heads, -loss))
        if len(trees) == k:
            break
        for m in range(n_kept, cells.n):
            without = (*forbidden, heads[m]) if m == n_kept else (heads[m],)
            answer = cells.best(heads[:m], without)
            if answer is not None:
                n_cells += 1
                heapq.heappush(waiting, (answer[0], n_cells, answer[1], m, without))
    trees.sort(key=lambda tree: -tree[1])       # the best of a cell may exceed that of its parent by rounding
    return np.array([heads for heads, _ in trees], dtype=np.intc).reshape(len(trees), cells.n), np.array([total for _, total in trees])


# ---- arborescence certificates ----
# Proofs that an arborescence is the best one: prices of sets of words.
#
# A tree enters every set of words. Prices y_X of sets are at most 0 for sets of two and more words. If there must be one root, its arc has
# a price too. If no arc exceeds the prices of the sets that it enters, their sum bounds every tree's score. The sets are the
# words and the cycles that were contracted. The sum is the score of the solution.


class ArborescenceCertificate(NamedTuple):
    """A tree and the prices that prove that none is better.

    Attributes
    ----------
    heads : int32 array of shape (n,)
    total : float
        The tree's score.
    sets : list of tuples of int
        Words; of any two, one contains the other or they share none.
    prices : list of float
        y_X of each set.
    root_price : float
        Of the root's arc, with one root; otherwise 0.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.arborescences import arborescence_certificate
    >>> scores = np.array([[0.0, 2.0, 1.0], [0.0, 0.0, 3.0], [0.0, 1.0, 0.0]])
    >>> certificate = arborescence_certificate(scores)
    >>> certificate.heads.tolist(), certificate.total, certificate.bound
    ([0, 1], 5.0, 5.0)
    """

    heads: np.ndarray
    total: float
    sets: list
    prices: list
    root_price: float

    @property
    def bound(self):
        """The sum of the prices: no tree's score is larger if `violation` is 0."""
        return sum(self.prices) + self.root_price

    def violation(self, scores):
        """The largest violation of the dual constraints: 0 proves that the tree is optimal.

        Cost: O(n^2) for each set. Rounding leaves about 1e-15 of the largest score for each level of nested sets.

        Parameters
        ----------
        scores : array of shape (n + 1, n + 1)
            The scores that the tree was computed from.

        Returns
        -------
        float
            The largest excess of an arc's score over the prices of the sets it enters. Also of a set's price over 0.
        """
        paid = np.zeros(np.shape(scores))
        for words, price in zip(self.sets, self.prices, strict=True):
            outside = np.setdiff1d(np.arange(len(paid)), words)
            paid[np.ix_(outside, words)] += price
        paid[0] += self.root_price
        excess = np.asarray(scores, dtype=float) - paid
        excess[:, 0] = -np.inf
        np.fill_diagonal(excess, -np.inf)
        signs = [price for words, price in zip(self.sets, self.prices, strict=True) if len(words) > 1]
        return max(0.0, excess.max(initial=0.0), *signs)


def arborescence_certificate(scores, one_root=False):
    """Maximum arborescence with dual prices that prove it optimal (Edmonds's algorithm).

    Ties and cost are those of `max_arborescence`, with O(n) sets more.

    Parameters
    ----------
    scores : array of shape (n + 1, n + 1)
        Arc scores of one sentence, as in `max_arborescence`.
    one_root : bool, default False
        Exactly one word has the head 0.

    Returns
    -------
    ArborescenceCertificate

    Raises
    ------
    DataError
        If a score is NaN or +inf, or no tree exists.

    See Also
    --------
    structperc.solvers.arborescences.max_arborescence : the tree only; faster.

    References
    ----------
    J. Edmonds: Optimum branchings. Journal of Research of the National Bureau of Standards 71B, pages 233-240, 1967.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.arborescences import arborescence_certificate
    >>> scores = np.array([[0, 9, 8, 0], [0, 0, 4, 3], [0, 5, 0, 6], [0, 1, 2, 0]])
    >>> proof = arborescence_certificate(scores, one_root=True)
    >>> proof.total, proof.bound, proof.violation(scores)
    (19.0, 19.0, 0.0)
    """
    cdef ScoreMatrices sentences = one_sentence(scores)
    cdef Py_ssize_t n = sentences.n_words[0], m
    cdef double[::1] work = np.zeros(arborescence_work(n))
    cdef int[::1] heads = np.zeros(n + 1, dtype=np.intc)
    cdef Contraction c = contraction_in(&work[0], n)
    cdef bint one = flag(one_root, "one_root")
    cdef int status, v, child
    c.scores, c.pitch = sentences.at[0], n + 1
    with nogil:
        status = best_tree(&c, one, &heads[0])
    if status != FOUND:
        raise refusal(status, c.scores, n + 1, n, &heads[0], "scores")
    sets = [(m,) for m in range(1, n + 1)]
    for v in range(<int> n + 1, <int> c.n_nodes):
        words, child = (), c.child[v]
        while child:
            words += sets[child - 1]
            child = c.sibling[child]
        sets.append(words)
    prices = [c.y[m] for m in range(1, c.n_nodes)]
    root_price = 0.0
    if c.rooted:                    # what the root's arc is worth beyond the others is its price
        worth = c.y[c.rooted]
        below = np.zeros(n + 1)
        for words, price in zip(sets, prices, strict=True):
            below[list(words)] += price
        others = [c.scores[m] - below[m] for m in range(1, n + 1) if m not in sets[c.rooted - 1]]
        root_price = float(max(0.0, *others, *[worth] * (len(sets[c.rooted - 1]) > 1)))
        prices[c.rooted - 1] = worth - root_price
    return ArborescenceCertificate(np.asarray(heads)[:n], total_score(c.scores, n + 1, n, &heads[0]), sets, prices, root_price)


# ---- arborescence sums ----
# log Z of all arborescences and the probability of every arc, by elimination without subtraction.
#
# With a(h, m) = exp(S[h, m]), the words are eliminated one by one. What word k had between others goes to arcs past it:
#
#     D_k = sum_h a(h, k)        a(h, m) += a(h, k) a(k, m) / D_k        Z = prod_k D_k
#
# With one root, D_k leaves the root's arc out and the last word, which must reach all others, takes it: Z = a(0, last) prod D_k. The usual
# determinant cancels: it is wrong where scores are confident. Marginals are the derivatives of log Z, by going backwards: w(h, m), the part
# of the new a(h, m) that passes k, and a(h, k) / D_k say how.
#
# Scores of which each column lies within LINEAR of its largest are eliminated as numbers, others as logarithms.
#
# Typical sizes: 5 to 60 words. O(n^3): 1 ns per n^3, 10 ns as logarithms. Memory n^3 / 3 numbers.

cdef enum:
    LINEAR = 300            # exp(-2 * LINEAR) is still a normal number
    LOGARITHM = 16          # the time of so many additions


ctypedef struct Elimination:
    Py_ssize_t n            # the last word to be left is 1: `order` has its number
    bint one_root, as_logs
    double *a               # (n + 1, n + 1)
    double *share           # (n + 1, n + 1), a(h, k) / D_k at [k, h]
    double *passing         # w of each k, (k, k) numbers each


cdef Py_ssize_t n_passing(Py_ssize_t n) noexcept nogil:
    """How many numbers `passing` has before those of word n."""
    return (n - 1) * n * (2 * n - 1) // 6


cdef Py_ssize_t arborescence_marginals_work(Py_ssize_t n) noexcept nogil:
    return 3 * (n + 1) * (n + 1) + n_passing(n + 1) + arborescence_work(n) + n + 1


cdef double prepare(Elimination *e, const double *scores, Py_ssize_t pitch, const int *order) noexcept nogil:
    """The scores, each column less its largest, with one root the root's row too; returns what was taken off Z."""
    cdef Py_ssize_t n = e.n, p = n + 1, h, m, first = e.one_root and n > 1
    cdef double largest, offset = 0, least = 0
    for m in range(1, p):
        largest = -INFINITY
        for h in range(first, p):
            if h != m:
                largest = max(largest, scores[order[h] * pitch + order[m]])
        if largest == -INFINITY:            # with one root: the word that only the root enters
            largest = 0
        for h in range(p):
            e.a[h * p + m] = scores[order[h] * pitch + order[m]] - largest if h != m else -INFINITY
        offset += largest
    if first:
        largest = -INFINITY
        for m in range(1, p):
            largest = max(largest, e.a[m])
        for m in range(1, p):
            e.a[m] -= largest
        offset += largest
    for h in range(p):
        for m in range(1, p):
            if h != m:
                least = min(least, e.a[h * p + m])
    e.as_logs = not least > -LINEAR
    if not e.as_logs:
        for h in range(p):
            for m in range(1, p):
                e.a[h * p + m] = exp(e.a[h * p + m])
    return offset


cdef double eliminate(Elimination *e, Py_ssize_t k) noexcept nogil:
    """Takes word k out, as numbers; returns log D_k."""
    cdef Py_ssize_t p = e.n + 1, h, m, first = e.one_root and k > 1
    cdef double *a = e.a
    cdef double *w = e.passing + n_passing(k)
    cdef double *share = e.share + k * p
    cdef const double *beyond = a + k * p
    cdef double *row
    cdef double total = 0, part, more
    for h in range(first, k):
        total += a[h * p + k]
    for h in range(k):
        row, part = a + h * p, a[h * p + k] / total
        share[h] = part if h >= first else 0
        for m in range(1, k):
            more = part * beyond[m]
            row[m] += more
            w[h * k + m] = more / row[m]
        w[h * k + h] = 0
    return log(total)


cdef double eliminate_logs(Elimination *e, Py_ssize_t k) noexcept nogil:
    """Takes word k out, as logarithms; returns log D_k."""
    cdef Py_ssize_t p = e.n + 1, h, m, first = e.one_root and k > 1
    cdef double *a = e.a
    cdef double *w = e.passing + n_passing(k)
    cdef double *share = e.share + k * p
    cdef const double *beyond = a + k * p
    cdef double *row
    cdef double largest = -INFINITY, total = 0, more, fraction
    for h in range(first, k):
        largest = max(largest, a[h * p + k])
    for h in range(first, k):
        total += exp(a[h * p + k] - largest)
    total = largest + log(total)
    for h in range(k):
        row = a + h * p
        share[h] = exp(row[k] - total) if h >= first else 0
        for m in range(1, k):
            more = (row[k] - total) + beyond[m]
            if m == h or more == -INFINITY:
                w[h * k + m] = 0
            elif more > row[m]:
                fraction = exp(row[m] - more)
                row[m] = more + log1p(fraction)
                w[h * k + m] = 1 / (1 + fraction)
            else:
                fraction = exp(more - row[m])
                row[m] += log1p(fraction)
                w[h * k + m] = fraction / (1 + fraction)
        w[h * k] = 0
    return total


cdef void restore(const Elimination *e, Py_ssize_t k, double *g) noexcept nogil:
    """Puts word k back: from the derivatives of log Z by the logarithms of a after its elimination, those before it."""
    cdef Py_ssize_t p = e.n + 1, h, m
    cdef const double *w = e.passing + n_passing(k)
    cdef const double *share = e.share + k * p
    cdef double *past = g + k * p
    cdef double *row
    cdef double moved, of_row, of_total = 1
    for h in range(k):
        row, of_row = g + h * p, 0
        for m in range(1, k):
            moved = row[m] * w[h * k + m]
            row[m] -= moved
            past[m] += moved
            of_row += moved
        row[k] = of_row
        of_total -= of_row
    for h in range(k):
        g[h * p + k] += of_total * share[h]


cdef int arborescence_marginals_c(const double *scores, Py_ssize_t pitch, Py_ssize_t n, bint one_root, double *log_z, double *arcs,
                                  int *heads, double *work) noexcept nogil:
    cdef Elimination e
    cdef Py_ssize_t p = n + 1, h, m, k
    cdef double *g = work + 2 * p * p
    cdef int *order = <int *> (work + 3 * p * p)
    cdef double total
    cdef int status
    e.n, e.one_root, e.a, e.share, e.passing = n, one_root, work, work + p * p, work + 3 * p * p + p
    status = max_arborescence_c(scores, pitch, n, one_root, heads, e.passing + n_passing(p))
    if status != FOUND:
        return status
    for m in range(p):
        order[m] = <int> m
    if one_root:
        for m in range(n):
            if heads[m] == 0:               # it reaches all others
                order[1], order[m + 1] = <int> m + 1, order[1]
    total = prepare(&e, scores, pitch, order)
    for k in range(n, 0, -1):
        if interrupted(2 * k * k * (LOGARITHM if e.as_logs else 1)):
            return INTERRUPTED
        total += eliminate_logs(&e, k) if e.as_logs else eliminate(&e, k)
    for m in range(p * p):
        g[m] = 0
    for k in range(1, p):
        if interrupted(2 * k * k):
            return INTERRUPTED
        restore(&e, k, g)
    for h in range(p):
        for m in range(p):
            arcs[order[h] * p + order[m]] = max(g[h * p + m], 0) if m and h != m else 0
    log_z[0] = total
    return FOUND


def arborescence_marginals(scores, one_root=False):
    """Log partition function and arc marginals of all dependency trees of a sentence (matrix-tree theorem).

    A tree's probability is exp(score) / Z. The marginals are the derivatives of log Z by the scores.
    Cost: O(n^3). The algorithm computes no determinant, so large scores lose no digits: marginals have an error of about 1e-15.

    Parameters
    ----------
    scores : array of shape (n + 1, n + 1)
        Arc scores of one sentence, as in `max_arborescence`.
    one_root : bool, default False
        Only trees in which exactly one word has the head 0.

    Returns
    -------
    log_z : float
        Log of the sum of exp(score) over all trees.
    arcs : float64 array of shape (n + 1, n + 1)
        P[h, m], the probability of the arc from h to m; each column from 1 on sums to 1. Zeros in column 0, on the diagonal and for
        forbidden arcs.

    Raises
    ------
    DataError
        If a score is NaN or +inf, or no tree exists.

    See Also
    --------
    structperc.solvers.arborescences.max_arborescence : the best tree.
    structperc.solvers.projective.projective_marginals : the same over projective trees.

    References
    ----------
    W. K. Grassmann, M. I. Taksar and D. P. Heyman: Regenerative analysis and steady state distributions for Markov chains. Operations
    Research 33, pages 1107-1116, 1985.

    T. Koo, A. Globerson, X. Carreras and M. Collins: Structured prediction models via the matrix-tree theorem. Proceedings of
    EMNLP-CoNLL, pages 141-150, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.arborescences import arborescence_marginals
    >>> log_z, arcs = arborescence_marginals(np.zeros((3, 3)), one_root=True)
    >>> round(float(np.exp(log_z)), 9), arcs.tolist()
    (2.0, [[0.0, 0.5, 0.5], [0.0, 0.0, 0.5], [0.0, 0.5, 0.0]])
    """
    cdef ScoreMatrices sentences = one_sentence(scores)
    cdef Py_ssize_t n = sentences.n_words[0]
    cdef double[::1] work = np.zeros(arborescence_marginals_work(n))
    cdef double[:, ::1] arcs = np.zeros((n + 1, n + 1))
    cdef int[::1] heads = np.zeros(n + 1, dtype=np.intc)
    cdef bint one = flag(one_root, "one_root")
    cdef double log_z = 0
    cdef int status
    with nogil:
        status = arborescence_marginals_c(sentences.at[0], n + 1, n, one, &log_z, &arcs[0, 0], &heads[0], &work[0])
    if status != FOUND:
        raise refusal(status, sentences.at[0], n + 1, n, &heads[0], "scores")
    return log_z, np.asarray(arcs)


__all__ = ["ArborescenceCertificate", "ScoreMatrices", "arborescence_certificate", "arborescence_marginals",
           "k_best_arborescences", "max_arborescence"]
