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
        """(-total, heads) of the best tree whose first words have the heads `kept`. The next word has none of `forbidden`. Or None."""
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
    Raises `DataError` if a score is NaN or +inf, or no tree exists. Raises `OptionError` if k is below 1.
    See also `structperc.solvers.ranked_projective.k_best_projective` (trees without crossing arcs).

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
