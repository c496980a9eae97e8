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
        Returns a float. The largest excess of an arc's score over the prices of the sets it enters. Also of a set's price over 0.

        Parameters
        ----------
        scores : array of shape (n + 1, n + 1)
            The scores that the tree was computed from.
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
    """Maximum arborescence with dual prices that prove it optimal (Edmonds's algorithm). Returns `ArborescenceCertificate`.

    Ties and cost are those of `max_arborescence`, with O(n) sets more. Raises `DataError` if a score is NaN or +inf, or no tree exists.
    See also `structperc.solvers.arborescences.max_arborescence` (the tree only; faster).

    Parameters
    ----------
    scores : array of shape (n + 1, n + 1)
        Arc scores of one sentence, as in `max_arborescence`.
    one_root : bool, default False
        Exactly one word has the head 0.

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
