"""The division into segments of largest score, and what else `structperc.solvers.segments` finds of all divisions.

Typical sizes: 23 tokens, 12 labels, segments of up to 10 tokens: 4 us for the best division.
"""
import numpy as np

from libc.math cimport INFINITY
from structperc.core.argmax cimport Argmax
from structperc.core.losses cimport Loss
from structperc.core.rows cimport Example
from structperc.errors import DataError, PluginError
from structperc.plugin_tools import is_additive, overrides
from structperc.solvers.segments cimport Lattice, refusal, segment_sums_c
from structperc.solvers.segments import k_best_segments
from structperc_segments.atoms cimport N_LENGTHS, OPEN, OPEN_BEGIN, Atoms, Search, length_class, row_of


# ---- losses ----
# Losses of divisions into segments: by tokens, which add up over atoms, or by segments, which the solver adds to those; O(n) each.


cdef class TokenLoss(Loss):
    """The number of tokens with a wrong label, or a wrong begin of a segment. Unknown tokens cost nothing."""

    cdef Atoms atoms

    def start(self, parts, context):
        Loss.start(self, parts, context)
        self.atoms = parts.outputs.atoms

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t t
        cdef double total = 0
        for t in range(n):
            total += y[t] != gold[t] and gold[t] != OPEN and (gold[t] != OPEN_BEGIN or not y[t] & 1)
        return total

    cdef int augment_c(self, Example x, const int *gold, Py_ssize_t n_gold, double scale, double *s) noexcept nogil:
        cdef Py_ssize_t t, b, blocks = self.atoms.layout.n_blocks
        cdef bint begins
        for t in range(n_gold):
            if gold[t] == OPEN:
                continue
            for b in range(blocks):
                begins = self.atoms.begins[b]
                if not begins if gold[t] == OPEN_BEGIN else 2 * self.atoms.labels[b] + begins != gold[t]:
                    s[t * blocks + b] += scale
        return 0


cdef class SegmentLoss(Loss):
    """How many segments are missed, and how many are predicted that are none: what precision and recall count. Tokens outside are free."""

    cdef Py_ssize_t n_outside

    def start(self, parts, context):
        Loss.start(self, parts, context)
        self.n_outside = parts.outputs.atoms.n_outside

    @property
    def counts_segments(self):
        """Whether `SegmentArgmax` adds this loss to the scores of segments."""
        return not overrides(self, "value")

    def check(self, context, parts):
        if parts.outputs.partial_gold:
            raise PluginError("loss='segments' counts whole segments, but some gold outputs leave tokens open; use loss='hamming', which "
                              "counts the tokens that are known.")

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        """Segments of both, less twice those in both."""
        cdef Py_ssize_t t
        cdef double total = 0
        cdef bint same = False              # the two segments over the token before began together and have one label
        for t in range(n):
            if same and y[t] & 1 and gold[t] & 1:
                total -= 2
            if y[t] & 1 and y[t] >> 1 >= self.n_outside:
                total += 1
            if gold[t] & 1 and gold[t] >> 1 >= self.n_outside:
                total += 1
            same = y[t] == gold[t] and (same or y[t] & 1) and y[t] >> 1 >= self.n_outside
        return total - 2 * same


# ---- solver ----


cdef class SegmentArgmax(Argmax):
    """The division into segments of largest score, by dynamic programming.

    Ties: the lowest label of the last segment (tokens outside come first), then the longest last segment. Then the same rule
    for the segment before.
    """

    cdef Atoms atoms
    cdef bint by_segments               # whether the loss is a `SegmentLoss`

    def start(self, parts, context):
        Argmax.start(self, parts, context)
        self.atoms, self.by_segments = self.outputs.atoms, getattr(parts.loss, "counts_segments", False)

    cdef Py_ssize_t workspace_size_c(self, Py_ssize_t n_atoms, bint marginals) noexcept nogil:
        cdef Py_ssize_t n = self.atoms.n_tokens(n_atoms)
        return self.atoms.work_size(n) + (max(n, 1) ** 2 * self.atoms.layout.n_labels if marginals else 0)

    def searches_with(self, Loss loss):
        return self.by_segments or is_additive(loss) or loss.largest < INFINITY

    cdef Py_ssize_t argmax_c(self, Example x, const double *s, int *y) noexcept nogil:
        return self.search(x, s, NULL, 0, 0, y)

    cdef Py_ssize_t argmax_augmented_c(self, Example x, double *s, const int *gold, Py_ssize_t n_gold, Loss loss, double scale,
                                       int *y) noexcept nogil:
        """Missed and surplus segments are no atoms, so their loss is added to the scores of segments."""
        if self.by_segments:
            return self.search(x, s, gold, n_gold, scale, y)
        return Argmax.argmax_augmented_c(self, x, s, gold, n_gold, loss, scale, y)

    cdef Py_ssize_t search(self, Example x, const double *s, const int *gold, Py_ssize_t n_gold, double bonus, int *y) noexcept nogil:
        cdef Search search
        cdef Lattice lattice
        cdef Py_ssize_t n = self.atoms.tokens_in(x.block.n_rows)
        self.atoms.prepare(s, n, &search, &lattice)
        search.gold, search.bonus = gold, bonus
        n = self.atoms.best(&lattice, x.work, y)
        if n < 0:
            with gil:
                self.error = refusal(<int> n, x.work, lattice.n_tokens, lattice.n_labels, f"sentence {x.index}")
        return max(n, -1)

    def argmax(self, const double[::1] scores, Example x):
        self.check_size(scores, x)
        return Argmax.argmax(self, scores, x)

    def check_size(self, scores, Example x):
        """Raises an error for scores of another example."""
        cdef Py_ssize_t expected = self.atoms.n_atoms(x.block.n_rows)
        if len(scores) != expected:
            raise DataError(f"{len(scores)} atom scores for example {x.index}; expected {expected} for its {x.n_rows} rows.")
        x.n_atoms = expected

    def k_best(self, scores, Example x, k):
        cdef Search search
        cdef Lattice lattice
        cdef Py_ssize_t n = self.atoms.tokens_in(x.block.n_rows), n_labels = self.atoms.layout.n_labels, start, q
        cdef double[::1] s = np.ascontiguousarray(scores, dtype=float)
        self.check_size(s, x)
        if n == 0:
            return [((), 0.0)]
        self.atoms.prepare(&s[0], n, &search, &lattice)
        cdef Py_ssize_t width = lattice.longest * n_labels
        cdef double[:, ::1] table = np.full((n, width), -np.inf)
        cdef double[::1] room = np.empty(width)
        cdef const double *row
        for start in range(n):
            row = lattice.scores_from(&lattice, start, &room[0])
            for q in range(min(lattice.longest, n - start) * n_labels):
                table[start, q] = row[q]
        transitions = np.asarray(s)[x.n_rows * self.atoms.n_blocks:][:n_labels * n_labels].reshape(n_labels, n_labels)
        ranked = k_best_segments(np.asarray(table).reshape(n, lattice.longest, n_labels), transitions, k)
        return [(codes(segments), score) for segments, score in ranked]

    def marginals(self, scores, Example x):
        self.check_size(scores, x)
        return Argmax.marginals(self, scores, x)

    def max_marginals(self, scores, Example x):
        cdef double[::1] s = np.ascontiguousarray(scores, dtype=float), found = np.empty(len(scores))
        cdef double total
        self.check_size(s, x)
        x.provide(self.workspace_size_c(len(s), True))
        if self.sums(x, &s[0], False, &found[0], &total) < 0:
            self.raised()
        return np.asarray(found)

    cdef int marginals_c(self, Example x, const double *s, double *expected, double *log_z) noexcept nogil:
        return self.sums(x, s, True, expected, log_z)

    cdef int sums(self, Example x, const double *s, bint log_sum, double *found, double *total) noexcept nogil:
        """For each atom the sum of the solver's values of the segments with it; -1 after storing an error."""
        cdef Search search
        cdef Lattice lattice
        cdef Py_ssize_t n = self.atoms.tokens_in(x.block.n_rows), n_labels = self.atoms.layout.n_labels, a
        cdef double *segments = x.work + self.atoms.work_size(n)
        cdef int status
        for a in range(x.n_atoms):
            found[a] = 0 if log_sum else -INFINITY
        self.atoms.prepare(s, n, &search, &lattice)
        status = segment_sums_c(&lattice, log_sum, x.work, segments, found + x.block.n_rows * self.atoms.layout.n_blocks,
                                total)
        if status < 0:
            with gil:
                self.error = refusal(status, x.work, n, n_labels, f"sentence {x.index}")
            return -1
        spread(&lattice, segments, log_sum, found)
        return 0


def codes(segments):
    """The code of a division."""
    found = []
    for start, stop, label in segments:
        found += [2 * label + 1] + [2 * label] * (stop - start - 1)
    return tuple(found)


cdef inline void put(double *at, double value, bint log_sum) noexcept nogil:
    at[0] = at[0] + value if log_sum else max(at[0], value)


cdef void spread(const Lattice *lattice, const double *segments, bint log_sum, double *found) noexcept nogil:
    """Sums probabilities of segments, or computes the largest scores, for the atoms of tokens and lengths; O(n L K)."""
    cdef const Search *search = <const Search *> lattice.data
    cdef Py_ssize_t n = lattice.n_tokens, n_labels = lattice.n_labels, blocks = search.layout.n_blocks, start, d, k, reach
    cdef double *lengths = found + row_of(&search.layout, n, n) * blocks + n_labels * n_labels
    cdef double longer, value
    for start in range(n):
        reach = min(lattice.longest, n - start)
        for k in range(n_labels):
            longer = 0 if log_sum else -INFINITY        # of the segments that go on behind token start + d
            for d in range(reach - 1, -1, -1):
                value = segments[(start * lattice.longest + d) * n_labels + k]
                if search.layout.described > 0:
                    put(found + (row_of(&search.layout, n, start) + d) * blocks + k, value, log_sum)
                put(lengths + k * N_LENGTHS + length_class(d + 1), value, log_sum)
                if d == 0:
                    put(found + start * blocks + k, value, log_sum)
                    if k >= search.layout.n_outside:
                        put(found + start * blocks + search.layout.first + k, longer, log_sum)
                elif k >= search.layout.n_outside:
                    put(found + (start + d) * blocks + search.layout.last + k, value, log_sum)
                    put(found + (start + d) * blocks + search.layout.inside + k, longer, log_sum)
                put(&longer, value, log_sum)
