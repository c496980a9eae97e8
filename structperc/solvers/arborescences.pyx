# distutils: extra_compile_args = VECTORS
"""The best heads of a sentence's words: maximum arborescences, by Tarjan's dense algorithm.

Words are 1..n and 0 is an artificial root. A tree gives every word a head such that all words are reached from the root. The best head of
each word makes the best tree unless a cycle arises. A cycle becomes a supernode: y[v], the best score into its member v, is subtracted from
the scores into v, and the supernode's own best entering arc replaces one of the cycle's. The largest of the members' reduced scores is the
supernode's score, so the word that an arc enters is found by comparison when the supernodes are expanded, the outermost first.

Typical sizes: 10 to 200 words. O(n^2) time; 2 to 6 ns per arc. Memory O(n^2), of which a supernode touches O(n).
"""
import numpy as np

from libc.math cimport INFINITY
from structperc.core.errors import DataError
from structperc.core.stopping cimport interrupted
from structperc.core.stopping import take_interruption
from structperc.solvers.score_matrices cimport ScoreMatrices

cdef enum:
    UNVISITED
    ON_PATH
    DONE

cdef enum:
    ROWS = 64               # between two questions whether to stop


cdef Py_ssize_t arborescence_work(Py_ssize_t n) noexcept nogil:
    return n * (n + 1) + 2 * (n + 1) + 2 * (n + 1) + (6 * 2 * (n + 1) + 3 * (n + 1) + 1) // 2


cdef Contraction contraction_in(double *work, Py_ssize_t n) noexcept nogil:
    cdef Contraction c
    cdef Py_ssize_t nodes = 2 * (n + 1)
    cdef int *whole
    c.n_words, c.n_nodes, c.rooted = n, n + 1, 0
    c.word_best, c.word_head, c.y, c.columns = work, work + (n + 1), work + 2 * (n + 1), work + 4 * (n + 1)
    whole = <int *> (c.columns + n * (n + 1))
    c.head, c.child, c.sibling, c.state = whole, whole + nodes, whole + 2 * nodes, whole + 3 * nodes
    c.first, c.last = whole + 4 * nodes, whole + 5 * nodes
    whole += 6 * nodes
    c.top, c.following, c.path = whole, whole + n + 1, whole + 2 * (n + 1)
    return c


cdef int best_words(const Contraction *c) noexcept nogil:
    """The best head of every word among the other words: one pass over the rows."""
    cdef Py_ssize_t n = c.n_words, h, m
    cdef double *best = c.word_best
    cdef double *head = c.word_head
    cdef const double *row = c.scores
    cdef double kept, kept_head, here
    cdef long long refused = 0
    for m in range(1, n + 1):
        best[m], head[m] = -INFINITY, 0
        refused += not row[m] < INFINITY
    for h in range(1, n + 1):
        if h % ROWS == 0 and interrupted(ROWS * n):
            return INTERRUPTED
        row += c.pitch
        kept, kept_head = best[h], head[h]
        for m in range(1, n + 1):
            here = row[m]
            refused += not here < INFINITY
            head[m] = h if here > best[m] else head[m]
            best[m] = here if here > best[m] else best[m]
        best[h], head[h] = kept, kept_head
    if refused and refused_arc(c.scores, c.pitch, n, NULL, NULL):
        return NO_SCORE
    return FOUND


cdef bint refused_arc(const double *scores, Py_ssize_t pitch, Py_ssize_t n, Py_ssize_t *head, Py_ssize_t *dependent) noexcept nogil:
    """Whether an arc's score is NaN or +inf, and the first such arc."""
    cdef Py_ssize_t h, m
    for h in range(n + 1):
        for m in range(1, n + 1):
            if h != m and not scores[h * pitch + m] < INFINITY:
                if head != NULL:
                    head[0], dependent[0] = h, m
                return True
    return False


cdef int contract(Contraction *c, bint root_last) noexcept nogil:
    """The arc that enters each node. With the root last, the root's arcs count less than all others (1.4)."""
    cdef Py_ssize_t n = c.n_words, s, m
    cdef int v, t, length
    for m in range(n + 1):
        c.state[m], c.child[m], c.sibling[m], c.following[m] = UNVISITED, 0, 0, 0
        c.top[m] = c.first[m] = c.last[m] = <int> m
    for m in range(1, n + 1):
        c.head[m], c.y[m] = <int> c.word_head[m], c.word_best[m]
        if not root_last and c.scores[m] >= c.y[m]:
            c.head[m], c.y[m] = 0, c.scores[m]
    c.state[0], c.n_nodes, c.rooted = DONE, n + 1, 0
    for s in range(1, n + 1):
        v, length = c.top[s], 0
        while c.state[v] != DONE:
            if c.y[v] == -INFINITY and not enter_from_root(c, v, root_last):
                c.path[0] = v
                return INFEASIBLE
            c.path[length] = v
            length += 1
            c.state[v] = ON_PATH
            t = c.top[c.head[v]]
            if c.state[t] == ON_PATH:
                if interrupted(4 * n):
                    return INTERRUPTED
                while True:
                    length -= 1
                    if c.path[length] == t:
                        break
                v = contract_cycle(c, length, t, v, root_last)
            else:
                v = t
        for m in range(length):
            c.state[c.path[m]] = DONE
    return FOUND


cdef bint enter_from_root(Contraction *c, int v, bint root_last) noexcept nogil:
    """Gives a node that no other word enters the root's arc, once."""
    cdef double value
    if not root_last:
        return False
    value = c.scores[v] if v <= c.n_words else c.columns[(v - c.n_words - 1) * (c.n_words + 1)]
    if value == -INFINITY or c.rooted:
        return False
    c.y[v], c.head[v], c.rooted = value, 0, v
    return True


cdef int contract_cycle(Contraction *c, Py_ssize_t start, int first, int last, bint root_last) noexcept nogil:
    """A supernode of path[start], ..., up to `last`: its column of reduced scores, and the arc that enters it."""
    cdef Py_ssize_t n = c.n_words, u, i
    cdef int new = <int> c.n_nodes, v, m
    cdef double *column = c.columns + (new - n - 1) * (n + 1)
    cdef double best
    c.n_nodes += 1
    c.child[new], c.sibling[new], c.state[new] = first, 0, UNVISITED
    c.first[new] = c.first[first]
    i, v = start, first
    while True:
        merge(c, v, column, i > start)
        m = c.first[v]
        while True:
            c.top[m] = new
            if m == c.last[v]:
                break
            m = c.following[m]
        if v == last:
            break
        i += 1
        c.sibling[v] = c.path[i]
        c.following[c.last[v]] = c.first[c.path[i]]
        v = c.path[i]
    c.last[new] = c.last[last]
    m = c.first[new]
    while m:
        column[m] = -INFINITY
        m = c.following[m]
    best = largest(column + root_last, n + 1 - root_last)
    c.y[new], c.head[new] = best, 0
    if best > -INFINITY:
        u = root_last
        while column[u] != best:
            u += 1
        c.head[new] = <int> u
    return new


cdef void merge(const Contraction *c, int v, double *column, bint more) noexcept nogil:
    """The larger of a supernode's scores so far and the reduced ones of its member v."""
    cdef Py_ssize_t n = c.n_words, u
    cdef double y = c.y[v], here
    cdef const double *other
    if v <= n:
        other = c.scores + v
        for u in range(n + 1):
            here = other[u * c.pitch] - y
            column[u] = here if not more or here > column[u] else column[u]
    else:
        other = c.columns + (v - n - 1) * (n + 1)
        for u in range(n + 1):
            here = other[u] - y
            column[u] = here if not more or here > column[u] else column[u]


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
            here = (c.scores[u * c.pitch + v] if v <= n else c.columns[(v - n - 1) * (n + 1) + u]) - c.y[v]
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
    cdef Py_ssize_t n = c.n_words, m, n_roots = 0
    cdef int status = best_words(c)
    if status == FOUND:
        status = contract(c, False)
    if status == FOUND:
        expand(c, heads)
        for m in range(n):
            n_roots += heads[m] == 0
        if not one_root or n_roots == 1:
            return FOUND
        status = contract(c, True) if n else INFEASIBLE
        if status == FOUND:
            expand(c, heads)
    if status == INFEASIBLE and n:
        for m in range(n):
            heads[m] = 0
        if c.rooted:
            mark(c, c.rooted, -2, heads)
        mark(c, c.path[0], -1, heads)
    return status


cdef refusal(int status, const double *scores, Py_ssize_t pitch, Py_ssize_t n, const int *heads, str name):
    cdef Py_ssize_t h = 0, m = 0
    if status == INTERRUPTED:
        return take_interruption()
    if status == NO_SCORE:
        refused_arc(scores, pitch, n, &h, &m)
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
    shown = ", ".join(map(str, words[:20])) + (", ..." if len(words) > 20 else "")
    return f"word {shown}" if len(words) == 1 else f"the {len(words)} words {shown}"


def max_arborescence(scores, one_root=False):
    """The heads of all words that have the largest sum of arc scores: maximum arborescence, dependency tree, Chu-Liu-Edmonds.

    A column's first maximum, the lowest head, is taken among equals, and the first member of a cycle: the tree is the same everywhere, and
    without cycles each word has the lowest of its best heads. All scores equal: all heads are 0; with one root, 0, 1, ..., 1.
    O(n^2); a batch call takes 2 to 6 ns per arc.

    Parameters
    ----------
    scores : array of shape (n + 1, n + 1), or of shape (n_sentences, n + 1, n + 1), or list of arrays of the first kind
        scores[h, m] of the arc to word m from its head h; 0 is the root. -inf forbids an arc. Column 0 and the diagonal are not read.
    one_root : bool, default False
        Exactly one word has the head 0.

    Returns
    -------
    heads : int32 array of shape (n,), or a list of them for many sentences
        Of words 1..n.
    total : float, or float64 array of shape (n_sentences,)
        The sum of the scores, in the order of the words.

    Raises
    ------
    DataError
        Where a score is NaN or +inf, or no tree is left; names the arc or the words.

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

    Tarjan (1977), Finding optimum branchings, Networks 7. One root: Edmonds's algorithm over (-number of root arcs, score).
    """
    cdef ScoreMatrices sentences = ScoreMatrices(scores)
    cdef Py_ssize_t n = sentences.n_matrices, i = 0, words = 0
    cdef bint one = one_root
    cdef int status = FOUND
    cdef int[::1] heads = np.zeros(sentences.offsets[n] + 1, dtype=np.intc)
    cdef double[::1] totals = np.zeros(n), work = np.zeros(arborescence_work(sentences.most_words))
    cdef int *found = &heads[0]
    cdef const double *at = NULL
    with nogil:
        for i in range(n):
            words, at, found = sentences.n_words[i], sentences.at[i], &heads[0] + sentences.offsets[i]
            status = max_arborescence_c(at, words + 1, words, one, found, &work[0])
            if status == FOUND and interrupted(words * words):
                status = INTERRUPTED
            if status != FOUND:
                break
            totals[i] = total_score(at, words + 1, words, found)
    if status != FOUND:
        raise refusal(status, at, words + 1, words, found, sentences.name_of(i))
    answers = sentences.split(np.asarray(heads)[:-1])
    return (answers, totals[0]) if sentences.single else (answers, np.asarray(totals))


cdef double total_score(const double *scores, Py_ssize_t pitch, Py_ssize_t n, const int *heads) noexcept nogil:
    cdef Py_ssize_t m
    cdef double total = 0
    for m in range(n):
        total += scores[heads[m] * pitch + m + 1]
    return total
