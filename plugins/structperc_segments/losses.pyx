"""Losses of divisions into segments: by tokens, which add up over atoms, or by segments, which the solver adds to those; O(n) each."""
from structperc.core.losses cimport Loss
from structperc.core.rows cimport Example
from structperc.errors import PluginError
from structperc.plugin_tools import overrides
from structperc_segments.atoms cimport OPEN, OPEN_BEGIN, Atoms


cdef class TokenLoss(Loss):
    """The number of tokens with a wrong label, or a wrong begin of a segment. Unknown tokens cost nothing."""

    cdef Atoms atoms

    def start(self, parts, context):
        Loss.start(self, parts, context)
        self.atoms = parts.outputs.atoms

    @property
    def decomposable(self):
        return True

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
