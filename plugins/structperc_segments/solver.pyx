# distutils: extra_compile_args = VECTORS
"""The division into segments of largest score, and what else `structperc.solvers.segments` finds of all divisions.

Typical sizes: 23 tokens, 12 labels, segments of up to 10 tokens: 4 us for the best division.
"""
import numpy as np

from libc.math cimport INFINITY
from structperc.core.argmax cimport Argmax
from structperc.core.losses cimport Loss
from structperc.core.rows cimport Example
from structperc.errors import DataError, PluginError
from structperc.plugin_tools import is_additive, overrides, read_array
from structperc.solvers.segments cimport Lattice, best_segments_c, refusal, segment_sums_c, segments_work
from structperc.solvers.segments import k_best_segments


# ---- atoms ----
# The atoms of a division into segments: a token in a place of a segment of some label, two neighbouring labels, a label and a length.
#
# Typical sizes: 23 tokens, 12 labels, segments of up to 10 tokens: 4 us for the best division.

cdef const double *scores_from(const Lattice *lattice, Py_ssize_t start, double *room) noexcept nogil:
    """Of the segments that begin at a token, added up token by token: row d of `room` waits as the score of the first d tokens."""
    cdef const Search *search = <const Search *> lattice.data
    cdef const Layout *layout = &search.layout
    cdef Py_ssize_t n_labels = layout.n_labels, out = layout.n_outside, d, k, length
    cdef Py_ssize_t reach = min(lattice.longest, lattice.n_tokens - start)
    cdef const double *s = search.tokens + start * layout.n_blocks
    cdef double *row = room
    for d in range(reach):
        length = length_class(d + 1)
        if d == 0:
            for k in range(n_labels):
                row[k] = s[k] + search.lengths[k * N_LENGTHS + length]
            for k in range(out, n_labels if reach > 1 else out):
                row[n_labels + k] = s[layout.first + k]
        else:
            for k in range(out):
                row[k] = -INFINITY                          # a token outside is its own segment
            if d + 1 < reach:
                for k in range(out, n_labels):
                    row[n_labels + k] = row[k] + s[layout.inside + k]
            for k in range(out, n_labels):
                row[k] = row[k] + s[layout.last + k] + search.lengths[k * N_LENGTHS + length]
        row += n_labels
        s += layout.n_blocks
    for k in range(n_labels):
        for d in range(search.most[k], reach):
            room[d * n_labels + k] = -INFINITY
    if layout.described > 0:
        s = search.tokens + row_of(layout, lattice.n_tokens, start) * layout.n_blocks
        for d in range(reach):
            for k in range(n_labels):
                room[d * n_labels + k] += s[d * layout.n_blocks + k]
    if search.partial_codes != NULL:
        keep_known(search, start, reach, room)
    if search.gold != NULL:
        add_bonus(search, start, lattice.n_tokens, reach, room)
    return room


cdef void keep_known(const Search *search, Py_ssize_t start, Py_ssize_t reach, double *room) noexcept nogil:
    """Forbids segments that the known codes contradict."""
    cdef Py_ssize_t n_labels = search.layout.n_labels, d, k
    cdef int code
    for k in range(n_labels):
        code = search.partial_codes[start]
        d = 0 if code >= 0 and code != 2 * k + 1 else 1     # as many tokens may be of this segment
        while 0 < d < reach and (search.partial_codes[start + d] == OPEN or search.partial_codes[start + d] == 2 * k):
            d += 1
        for d in range(d, reach):
            room[d * n_labels + k] = -INFINITY


cdef void add_bonus(const Search *search, Py_ssize_t start, Py_ssize_t n_tokens, Py_ssize_t reach, double *room) noexcept nogil:
    """Every segment but gold's scores the bonus more, gold's the bonus less; both but a constant, the number of gold's."""
    cdef Py_ssize_t n_labels = search.layout.n_labels, d, k
    cdef int code = search.gold[start]
    for d in range(reach):
        for k in range(search.layout.n_outside, n_labels):
            room[d * n_labels + k] += search.bonus
    if code & 1 and code >> 1 >= search.layout.n_outside:
        d = 1
        while start + d < n_tokens and not search.gold[start + d] & 1:
            d += 1
        if d <= reach:
            room[(d - 1) * n_labels + (code >> 1)] -= 2 * search.bonus


cdef class Atoms:
    """Which atoms there are, and the divisions over them."""
    # n_labels: int. That outside of all segments, if there is one, is the first.
    # outside: bool. Whether tokens may be outside of all segments, each by itself.
    # places: {"iob2", "iobes"}. Places of a token in its segment with weights of their own: the first and all others, or first, inside,
    # last and only.
    # described: int, default 0. Up to how many tokens segments have rows of their own.

    def __init__(self, Py_ssize_t n_labels, bint outside, str places, Py_ssize_t described=0):
        cdef Py_ssize_t inner = n_labels - outside
        cdef Layout *layout = &self.layout
        layout.n_labels, layout.n_outside, layout.described = n_labels, outside, described
        layout.first = 0 if places == "iob2" else inner
        layout.inside = layout.first + inner
        layout.last = layout.inside if places == "iob2" else layout.inside + inner
        layout.n_blocks = layout.last + n_labels
        blocks = np.arange(layout.n_blocks)
        self.labels = np.where(blocks < n_labels, blocks, outside + (blocks - n_labels) % max(inner, 1)).astype(np.intc)
        names = ["begins", "is inside"] if places == "iob2" else ["is all of", "begins", "is inside", "ends"]
        self.places = [names[max(block - outside, 0) // max(inner, 1)] for block in blocks]
        self.begins = (blocks < layout.inside + outside).astype(np.intc)
        self.limit(np.ones(n_labels, dtype=np.intc))

    def limit(self, most):
        """Sets the largest number of tokens of a segment of each label; tokens outside are single."""
        most = np.array(most, dtype=np.intc)
        most[:self.layout.n_outside] = 1
        self.most, self.longest = most, most.max()

    @property
    def limits(self):
        return np.array(self.most)

    @property
    def n_blocks(self):
        return self.layout.n_blocks

    @property
    def n_outside(self):
        return self.layout.n_outside

    @property
    def block_labels(self):
        return np.asarray(self.labels)

    cdef Py_ssize_t n_atoms(self, Py_ssize_t n_rows) noexcept nogil:
        return n_rows * self.layout.n_blocks + self.layout.n_labels * (self.layout.n_labels + N_LENGTHS)

    cdef Py_ssize_t tokens_in(self, Py_ssize_t n_rows) noexcept nogil:
        """How many of the rows of a sentence are tokens; the others are segments."""
        cdef Py_ssize_t longest = self.layout.described, n = (n_rows + triangle(longest - 1)) // (longest + 1)
        if longest > n:                                     # all segments of a short sentence have rows
            n = 0
            while n + triangle(n) < n_rows:
                n += 1
        return n

    cdef Py_ssize_t n_tokens(self, Py_ssize_t n_atoms) noexcept nogil:
        """Of a sentence with so many atoms."""
        return self.tokens_in(max(n_atoms - self.n_atoms(0), 0) // self.layout.n_blocks)

    def n_tokens_of(self, sizes):
        """Of sentences with so many rows."""
        return [self.tokens_in(n_rows) for n_rows in sizes]

    cdef Py_ssize_t work_size(self, Py_ssize_t n_tokens) noexcept nogil:
        """How many float64 numbers `best` works in, however long segments become."""
        return segments_work(n_tokens, self.layout.n_labels, max(n_tokens, 1)) + (3 * n_tokens) // 2 + 1

    cdef void count(self, const int *y, Py_ssize_t n, double sign, double *c) noexcept nogil:
        """c[a] += sign * (how often atom a occurs in a whole division)."""
        cdef const Layout *layout = &self.layout
        cdef double *pairs = c + row_of(layout, n, n) * layout.n_blocks
        cdef double *lengths = pairs + layout.n_labels * layout.n_labels
        cdef Py_ssize_t start = 0, stop, t, k, before = -1
        while start < n:
            k, stop = y[start] >> 1, start + 1
            while stop < n and not y[stop] & 1:
                stop += 1
            if stop - start == 1:
                c[start * layout.n_blocks + k] += sign
            else:
                c[start * layout.n_blocks + layout.first + k] += sign
                for t in range(start + 1, stop - 1):
                    c[t * layout.n_blocks + layout.inside + k] += sign
                c[(stop - 1) * layout.n_blocks + layout.last + k] += sign
            if layout.described > 0:
                c[(row_of(layout, n, start) + stop - start - 1) * layout.n_blocks + k] += sign
            lengths[k * N_LENGTHS + length_class(stop - start)] += sign
            if before >= 0:
                pairs[before * layout.n_labels + k] += sign
            before, start = k, stop

    cdef void prepare(self, const double *s, Py_ssize_t n, Search *search, Lattice *lattice) noexcept nogil:
        """The search for the best division of n tokens with these scores of atoms, without known codes or a bonus."""
        search.layout, search.most = self.layout, &self.most[0]
        search.tokens, search.partial_codes, search.gold, search.bonus = s, NULL, NULL, 0
        lattice.n_tokens, lattice.n_labels, lattice.longest = n, self.layout.n_labels, min(self.longest, max(n, 1))
        lattice.transitions = s + row_of(&self.layout, n, n) * self.layout.n_blocks
        search.lengths = lattice.transitions + self.layout.n_labels * self.layout.n_labels
        lattice.scores_from, lattice.data = scores_from, search

    cdef Py_ssize_t best(self, Lattice *lattice, double *work, int *y) noexcept nogil:
        """Writes the code of the best division; a status of `structperc.solvers.segments` where there is none."""
        cdef int *segments = <int *> (work + segments_work(lattice.n_tokens, lattice.n_labels, lattice.longest))
        cdef double total
        cdef Py_ssize_t n_segments = best_segments_c(lattice, work, segments, &total), i, t
        for i in range(n_segments):
            for t in range(segments[3 * i], segments[3 * i + 1]):
                y[t] = 2 * segments[3 * i + 2]
            y[segments[3 * i]] += 1
        return n_segments if n_segments < 0 else lattice.n_tokens

    def state(self):
        return {"limits": self.limits}

    def restore(self, state):
        limits = read_array(state, "limits", np.int32, (self.layout.n_labels,))
        if limits.min() < 1:
            raise DataError(f"the saved segments have {limits.min()} tokens at most; expected 1 at least.")
        self.limit(limits)


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
        try:
            self.n_outside = parts.outputs.atoms.n_outside
        except AttributeError:
            raise PluginError(f"loss='segments' counts segments, but {type(parts.outputs).__name__} has none; use the problem segments, or "
                              f"another loss.") from None

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
        self._refuse_values(scores)
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
        cdef double[::1] s = np.ascontiguousarray(scores, dtype=float), atom_values = np.empty(len(scores))
        cdef double total
        self.check_size(s, x)
        x.provide(self.workspace_size_c(len(s), True))
        if self.sums(x, &s[0], False, &atom_values[0], &total) < 0:
            self.raised()
        return np.asarray(atom_values)

    cdef int marginals_c(self, Example x, const double *s, double *expected, double *log_z) noexcept nogil:
        return self.sums(x, s, True, expected, log_z)

    cdef int sums(self, Example x, const double *s, bint log_sum, double *atom_values, double *total) noexcept nogil:
        """For each atom the sum of the solver's values of the segments with it; -1 after storing an error."""
        cdef Search search
        cdef Lattice lattice
        cdef Py_ssize_t n = self.atoms.tokens_in(x.block.n_rows), n_labels = self.atoms.layout.n_labels, a
        cdef double *segments = x.work + self.atoms.work_size(n)
        cdef int status
        for a in range(x.n_atoms):
            atom_values[a] = 0 if log_sum else -INFINITY
        self.atoms.prepare(s, n, &search, &lattice)
        status = segment_sums_c(&lattice, log_sum, x.work, segments, atom_values + x.block.n_rows * self.atoms.layout.n_blocks,
                                total)
        if status < 0:
            with gil:
                self.error = refusal(status, x.work, n, n_labels, f"sentence {x.index}")
            return -1
        spread(&lattice, segments, log_sum, atom_values)
        return 0


def codes(segments):
    """The code of a division."""
    code = []
    for start, stop, label in segments:
        code += [2 * label + 1] + [2 * label] * (stop - start - 1)
    return tuple(code)


cdef inline void put(double *at, double value, bint log_sum) noexcept nogil:
    at[0] = at[0] + value if log_sum else max(at[0], value)


cdef void spread(const Lattice *lattice, const double *segments, bint log_sum, double *atom_values) noexcept nogil:
    """Sums probabilities of segments, or computes the largest scores, for the atoms of tokens and lengths; O(n L K)."""
    cdef const Search *search = <const Search *> lattice.data
    cdef Py_ssize_t n = lattice.n_tokens, n_labels = lattice.n_labels, blocks = search.layout.n_blocks, start, d, k, reach
    cdef double *lengths = atom_values + row_of(&search.layout, n, n) * blocks + n_labels * n_labels
    cdef double longer, value
    for start in range(n):
        reach = min(lattice.longest, n - start)
        for k in range(n_labels):
            longer = 0 if log_sum else -INFINITY        # of the segments that go on behind token start + d
            for d in range(reach - 1, -1, -1):
                value = segments[(start * lattice.longest + d) * n_labels + k]
                if search.layout.described > 0:
                    put(atom_values + (row_of(&search.layout, n, start) + d) * blocks + k, value, log_sum)
                put(lengths + k * N_LENGTHS + length_class(d + 1), value, log_sum)
                if d == 0:
                    put(atom_values + start * blocks + k, value, log_sum)
                    if k >= search.layout.n_outside:
                        put(atom_values + start * blocks + search.layout.first + k, longer, log_sum)
                elif k >= search.layout.n_outside:
                    put(atom_values + (start + d) * blocks + search.layout.last + k, value, log_sum)
                    put(atom_values + (start + d) * blocks + search.layout.inside + k, longer, log_sum)
                put(&longer, value, log_sum)
