# distutils: extra_compile_args = GLUE
"""Which k documents of a query are shown; training knows no more than what each document is worth. O(n) each, n = 10..1000."""
import itertools
import warnings

import numpy as np

from structperc.core.outputs cimport Outputs
from structperc.errors import DataError, DataWarning, OptionError, PluginError, shortened
from structperc.metrics import mean_average_precision, ndcg_at_k
from structperc.pictures import Display
from structperc.plugin_tools import is_listed, is_nested, overrides, read_grades
from structperc.core.rows cimport Example, Rows
from structperc.core.structures cimport Structures
from structperc_latent_ranking.selection cimport sp_first

cdef enum:
    MOST_LEVELS = 32


class DocumentDisplay(Display):
    """Documents by their numbers."""

    def atom_names(self, Example x):
        return [f"document {a}" for a in range(x.n_atoms)]

    def marginals(self, Example x, expected):
        """The probability that each document is in the list."""
        return expected * self.outputs.k


cdef class RankingOutputs(Outputs):
    """Lists of min(k, n) documents; a list counts every document it shows 1 / k times, also where n < k: Psi(x, h) = (1/k) sum of x_j.

    Users give the relevance of each document, for all rows of X or a list per query. Inside, a document has a level: 0 for the highest
    relevance, 1 for the next one, ... A gold output is the levels of all documents. The lists of greatest worth agree with it. They are
    the set H(x, y) of the latent structural SVM.
    """
    # relevant: float. A document of this or a higher relevance is worth 1, others 0.
    # gains: sequence of float or None. Gains of the relevances 0, 1, 2, ..., instead of `relevant`: numbers from 0, at most 32 different
    # ones.
    # order_counts: bool. Whether also the order of a list must be right, most worth first.

    default_loss = "precision"
    per_row = True

    cdef readonly Py_ssize_t k, n_levels
    cdef readonly double relevant
    cdef readonly bint order_counts
    cdef bint began                             # whether relevances to learn from have been seen
    cdef readonly object worth                  # by level
    cdef object level_of                        # by relevance; None: by `relevant`

    def __cinit__(self, *args, **kwargs):
        self.partial_gold = True

    def __init__(self, k, relevant=1.0, gains=None, order_counts=False):
        self.k, self.relevant, self.order_counts = k, relevant, order_counts
        self.worth, self.level_of = np.array([1.0, 0.0]), None
        if gains is not None:
            gains = read_gains(gains)
            self.worth, above = np.unique(-gains, return_inverse=True)
            self.worth, self.level_of = -self.worth, above.reshape(-1).astype(np.intc)
        self.n_levels = len(self.worth)
        if self.n_levels > MOST_LEVELS:
            raise OptionError(f"gains has {self.n_levels} different numbers; expected at most {MOST_LEVELS}.")

    def encode(self, y, rows):
        offsets = need_queries(rows)
        grades = read_grades(flat(y, rows), rows.n_rows)
        if self.level_of is None:
            negative = np.flatnonzero(grades < 0)
            if len(negative) and self.relevant > 0:
                warnings.warn(f"y[{negative[0]}] is {grades[negative[0]]:g}: relevances below 0 count as 0, as irrelevant.", DataWarning,
                              stacklevel=2)
            levels = np.where(grades >= self.relevant, 0, 1).astype(np.intc)
        else:
            odd = (grades != np.floor(grades)) | (grades < 0) | (grades >= len(self.level_of))
            if odd.any():
                i = int(np.argmax(odd))
                raise DataError(f"y[{i}] is {grades[i]:g}, but gains are known for the relevances 0..{len(self.level_of) - 1}; pass whole "
                                f"numbers among these, or longer gains.")
            levels = self.level_of[grades.astype(np.intp)]
        return Structures(levels, offsets)

    def encode_answers(self, answers, rows):
        """Lists of documents, counted from the query's first."""
        if not is_listed(answers):
            raise DataError(f"{shortened(answers)} is no list of documents for each query.")
        if len(answers) != rows.n_examples:
            raise DataError(f"there are {len(answers)} lists of documents but {rows.n_examples} queries; give one for each.")
        gold = Structures.ragged(answers)
        for i in range(rows.n_examples):
            x = rows.example(i)
            x.n_atoms = x.n_rows
            try:
                self.check_structure(x, gold[i])
            except PluginError as error:
                raise DataError(str(error)) from None
        return gold

    cdef check_right(self, Structures gold, Rows rows, features):
        if overrides(self, "encode"):
            wrong = len(gold.values) != rows.n_rows or not ((0 <= gold.values) & (gold.values < self.n_levels)).all()
            if wrong or not np.array_equal(gold.offsets, rows.offsets):
                raise PluginError(f"{type(self).__name__}.encode must give a level from 0 to {self.n_levels - 1} for every row of X.")

    cdef check_gold(self, Structures gold, Rows rows, features):
        self.check_right(gold, rows, features)
        if not self.began:              # later parts of a stream may well hold nothing relevant
            warn_of_nothing(self, gold)
        self.began = True

    def check_partial(self, Example x, gold):
        if len(gold) != x.n_atoms or not all(0 <= level < self.n_levels for level in gold):
            raise PluginError(f"{shortened(gold)} is no gold output of query {x.index}: expected the levels of its {x.n_atoms} documents, "
                              f"from 0 to {self.n_levels - 1}.")

    def check_structure(self, Example x, y):
        n, n_shown = x.n_atoms, min(self.k, x.n_atoms)
        if not isinstance(y, tuple) or len(set(y)) != n_shown or len(y) != n_shown or not all(0 <= a < n for a in y):
            raise PluginError(f"{shortened(y)} is no list for query {x.index}: expected {n_shown} of its {n} documents, as numbers from 0.")

    def enumerate(self, Example x):
        return itertools.combinations(range(x.n_atoms), min(self.k, x.n_atoms))

    def display(self):
        return DocumentDisplay(self)

    def measures(self, y_true, y_pred, scores=None):
        """The share of the k places with a relevant document. Of scores also NDCG of the first k places, and mean average precision."""
        hits = [np.count_nonzero(np.asarray(grades, dtype=float)[list(documents)] >= self.relevant)
                for grades, documents in zip(y_true, y_pred, strict=True)]
        precision = {f"precision at {self.k}": float(np.mean(hits)) / self.k}
        if scores is None:
            return precision
        grades, ranked = np.concatenate([np.asarray(one, dtype=float) for one in y_true]), np.concatenate(scores)
        queries = np.repeat(np.arange(len(scores)), [len(one) for one in scores])
        return {**precision, f"NDCG at {self.k}": ndcg_at_k(grades, ranked, self.k, groups=queries),
                "mean average precision": mean_average_precision(grades, ranked, groups=queries, relevant=self.relevant)}

    cdef int count_c(self, Example x, const int *y, Py_ssize_t n, double sign, double *c) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(n):
            c[y[i]] += sign / self.k
        return 0

    cdef int agrees_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        """Whether no other list shows documents of a better level; with `order_counts`, whether their levels rise, too."""
        cdef Py_ssize_t[MOST_LEVELS] left
        cdef Py_ssize_t i, level
        for level in range(self.n_levels):
            left[level] = 0
        for i in range(n_gold):
            left[gold[i]] += 1
        if self.order_counts:
            level = 0
            for i in range(n):
                while left[level] == 0:
                    level += 1
                if gold[y[i]] != level:
                    return 0
                left[level] -= 1
            return 1
        for i in range(n):
            left[gold[y[i]]] -= 1
        level = 0
        for i in range(n):                      # all of a level, before the worst one shown, must be shown
            level = max(level, <Py_ssize_t> gold[y[i]])
        for i in range(level):
            if left[i]:
                return 0
        return 1

    cdef Py_ssize_t complete_c(self, Example x, const int *gold, Py_ssize_t n_gold, const double *s, int *y) noexcept nogil:
        """Documents of the best level by score, then those of the next one, the first k. Ties: the earlier document."""
        return sp_first(s, gold, n_gold, self.k, y)


def read_gains(gains):
    try:
        numbers = np.asarray(gains)
        values = np.zeros(0) if numbers.dtype.kind == "c" else numbers.astype(float)
    except (TypeError, ValueError, OverflowError):
        values = np.zeros(0)
    if values.ndim != 1 or len(values) == 0 or not (np.isfinite(values) & (values >= 0)).all():
        raise OptionError(f"gains={shortened(gains, 80)}; expected what documents of relevance 0, 1, 2, ... are worth, finite "
                          f"numbers from 0.")
    return values


def need_queries(rows):
    """Where queries begin. Raises an error if nothing groups the rows."""
    if rows.offsets is None:
        raise DataError("each row of X would be a query with a single document. Pass the rows of each query: groups=[...] (an entry for "
                        "each row), lengths=[...] or offsets=[...]. lengths=[len(X)] makes them one query.")
    return rows.offsets


def flat(y, rows):
    """The relevances of all rows of X, from a list per query where y is that."""
    if not is_listed(y):
        raise DataError(f"y is {shortened(y)}; expected the relevance of each row of X.")
    if not is_nested(y):
        return y
    if len(y) != rows.n_examples:
        raise DataError(f"y has the relevances of {len(y)} queries but X has {rows.n_examples}; give one list per query.")
    for i, (grades, size) in enumerate(zip(y, rows.sizes().tolist(), strict=True)):
        if not is_listed(grades) or len(grades) != size:
            raise DataError(f"y[{i}] is {shortened(grades)}; expected a list of {size} relevances, one for each document of query {i}.")
    return list(itertools.chain.from_iterable(y))


def warn_of_nothing(RankingOutputs outputs, gold):
    """Warns where all documents of each query are worth the same, or each list shows all of its documents."""
    offsets = np.asarray(gold.offsets)
    sizes = np.diff(offsets)
    first = np.repeat(offsets[:-1], sizes)
    if len(first) and np.array_equal(gold.values, np.asarray(gold.values)[first]):
        by = f"relevant={outputs.relevant:g}" if outputs.level_of is None else "these gains"
        warnings.warn(f"with {by} no query has a document that is worth more than another. Nothing can be learned from these "
                      f"relevances.", DataWarning, stacklevel=2)
    elif len(first) and sizes.max() <= outputs.k:
        longest = int(sizes.max())
        warnings.warn(f"the longest query has {longest} documents, and with k={outputs.k} its list shows all of them. Nothing can be "
                      f"learned from lists that leave nothing out; set k to fewer than {longest}, such as {longest // 2}.", DataWarning,
                      stacklevel=2)
