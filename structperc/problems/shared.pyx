# distutils: extra_compile_args = VECTORS
"""Flat arrays of a batch: of sentences whose last atoms all have the same scores, and of examples with a factor each.

Typical sizes: 10 .. 10^4 tokens, 2 .. 50 labels. Cost: O(atoms).
"""
import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t
from libc.string cimport memcmp, memcpy
from structperc.basics.signatures import ClassSignature

__all__ = ["Scores", "Shared", "SharedScores", "first_without_meaning", "scaled", "sentences"]


def first_without_meaning(const double[::1] scores not None):
    """The place of the first NaN or +inf; -1 if there is none. Returns an int.

    Parameters
    ----------
    scores : float64 array of shape (n_atoms,)
    """
    if scores.shape[0] == 0 or have_meaning(&scores[0], scores.shape[0]):
        return -1
    return int(np.argmin(np.asarray(scores) < INFINITY))


def sentences(unsigned char[:, ::1] keep not None, Py_ssize_t n_labels, int64_t ignored, const int64_t[:, ::1] tags=None, before=None):
    """Which tokens of padded sentences count, and their labels.

    Parameters
    ----------
    keep : uint8 array of shape (n_sentences, n_tokens)
        1 where a token counts. Those whose tag is `ignored` are set to 0.
    n_labels : int
    ignored : int
    tags : int64 array of the shape of `keep`, optional
        Labels from 0.
    before : int64 array, optional
        Returned as `begins` if it is equal.

    Returns
    -------
    begins : int64 array of shape (n_sentences + 1,)
        Where the tokens that count begin.
    codes : int32 array
        The labels of the tokens that count, from 1.
    wrong : int
        The first place whose tag is no label; -1 if there is none.
    """
    cdef Py_ssize_t i, t, n = 0, wrong = -1, width = keep.shape[1]
    begins, codes = np.zeros(keep.shape[0] + 1, dtype=np.int64), np.empty(keep.size, dtype=np.intc)
    cdef int64_t[::1] begin = begins
    cdef const int64_t[::1] former = before
    cdef int[::1] code = codes
    if tags is not None and (tags.shape[0] != keep.shape[0] or tags.shape[1] != width):
        raise ValueError(f"tags have {tags.shape[0]} rows of {tags.shape[1]}")
    with nogil:
        for i in range(keep.shape[0]):
            for t in range(width):
                if tags is not None and tags[i, t] == ignored:
                    keep[i, t] = 0
                if not keep[i, t]:
                    continue
                if tags is not None:
                    if not 0 <= tags[i, t] < n_labels and wrong < 0:
                        wrong = i * width + t
                    code[n] = <int> (tags[i, t] + 1)
                n += 1
            begin[i + 1] = n
    if former is not None and former.shape[0] == begin.shape[0] and memcmp(&former[0], &begin[0], begins.nbytes) == 0:
        begins = before
    return begins, codes[:n], wrong


def scaled(const double[::1] flat not None, const int64_t[::1] offsets not None, const double[::1] factors not None):
    """A flat array of examples, each multiplied by a factor of its own. Returns a float64 array of shape (n_atoms,).

    Parameters
    ----------
    flat : float64 array of shape (n_atoms,)
    offsets : int64 array of shape (n_examples + 1,)
    factors : float64 array of shape (n_examples,)
    """
    cdef Py_ssize_t i, a, n = factors.shape[0]
    answer = np.empty(flat.shape[0])
    cdef double[::1] product = answer
    if offsets.shape[0] != n + 1 or offsets[0] != 0 or offsets[n] != flat.shape[0]:
        raise ValueError(f"{n} factors of {flat.shape[0]} numbers")
    with nogil:
        for i in range(n):
            for a in range(offsets[i], offsets[i + 1]):
                product[a] = flat[a] * factors[i]
    return answer


cdef class Scores:
    """The scores of a batch, flat and checked.

    Parameters
    ----------
    scores : float64 array of shape (n_atoms,)
    """

    __signature__ = ClassSignature()

    def __init__(self, const double[::1] scores not None):
        self.scores = scores

    cdef const double *of_c(self, Py_ssize_t i, Py_ssize_t begin, double *room) noexcept nogil:
        """The scores of example i, whose atoms begin there. NULL if one is NaN or +inf. They may be in `room`."""
        return &self.scores[begin]

    def flat(self):
        """All scores. Returns a float64 array of shape (n_atoms,)."""
        return np.asarray(self.scores)


cdef class Shared:
    """Where the flat scores of sentences have those of tokens and the common table.

    Parameters
    ----------
    begins : int64 array of shape (n_sentences + 1,)
        Where the tokens of each sentence begin.
    n_labels : int
    n_common : int
        Scores of the table.
    """

    __signature__ = ClassSignature()

    def __init__(self, const int64_t[::1] begins not None, Py_ssize_t n_labels, Py_ssize_t n_common):
        self.begins, self.n_labels, self.n_common, self.n_sentences = begins, n_labels, n_common, begins.shape[0] - 1

    def parts(self, const double[::1] flat not None, const double[::1] factors=None, bint narrow=False):
        """What a flat array has for tokens, and for the table: the sum over sentences.

        Parameters
        ----------
        flat : float64 array of shape (n_atoms,)
        factors : float64 array of shape (n_sentences,), optional
            Of each sentence. Default: 1.
        narrow : bool, default False
            Whether to return float32 arrays. Sums are float64.

        Returns
        -------
        rows : array of shape (n_tokens, n_labels)
        common : array of shape (n_common,)
        """
        cdef Py_ssize_t i, a, n, row = 0, at = 0, each = self.n_common
        cdef double factor
        cdef const int64_t[::1] begins = self.begins
        cdef float[::1] short_rows = None
        cdef double[::1] rows = None, common = np.zeros(each)
        answer = np.empty((begins[self.n_sentences], self.n_labels), dtype=np.float32 if narrow else np.float64)
        if narrow:
            short_rows = answer.reshape(-1)
        else:
            rows = answer.reshape(-1)
        if flat.shape[0] != answer.size + self.n_sentences * each or factors is not None and factors.shape[0] != self.n_sentences:
            raise ValueError(f"flat has {flat.shape[0]} entries")
        with nogil:
            for i in range(self.n_sentences):
                factor = 1 if factors is None else factors[i]
                n = (begins[i + 1] - begins[i]) * self.n_labels
                if narrow:
                    for a in range(n):
                        short_rows[row + a] = <float> (flat[at + a] * factor)
                else:
                    for a in range(n):
                        rows[row + a] = flat[at + a] * factor
                for a in range(each):
                    common[a] += flat[at + n + a] * factor
                row, at = row + n, at + n + each
        return answer, np.asarray(common).astype(answer.dtype, copy=False)


cdef class SharedScores(Scores):
    """The scores of sentences, not yet checked: those of tokens, and the common table.

    Parameters
    ----------
    shared : Shared
    rows : float32 or float64 array of n_tokens * n_labels numbers
    tables : sequence of float32 or float64 arrays
        One behind the other they are the common table.
    """

    def __init__(self, Shared shared not None, rows, tables):
        self.shared, self.narrow = shared, None
        self.wide = None        # apart: Cython before 3.3.1 chains no two types of memoryview
        self.common = np.concatenate([table.reshape(-1) for table in tables], dtype=np.float64)
        n = shared.begins[shared.n_sentences] * shared.n_labels
        if rows.size != n or self.common.shape[0] != shared.n_common:
            raise ValueError(f"{rows.size} scores and {self.common.shape[0]} common ones; expected {n} and {shared.n_common}")
        self.common_means = shared.n_common == 0 or have_meaning(&self.common[0], shared.n_common)
        if rows.dtype == np.float32:
            self.narrow = rows.reshape(-1)
        else:
            self.wide = rows.reshape(-1)

    cdef const double *of_c(self, Py_ssize_t i, Py_ssize_t begin, double *room) noexcept nogil:
        cdef Py_ssize_t L = self.shared.n_labels, at = self.shared.begins[i] * L, n = self.shared.begins[i + 1] * L - at
        if n and self.narrow is None:
            memcpy(room, &self.wide[at], n * sizeof(double))
        elif n:
            widen(&self.narrow[at], n, room)
        if self.shared.n_common:
            memcpy(room + n, &self.common[0], self.shared.n_common * sizeof(double))
        return room if self.common_means and have_meaning(room, n) else NULL

    def flat(self):
        cdef Shared shared = self.shared
        cdef Py_ssize_t i, begin
        answer = np.empty(shared.begins[shared.n_sentences] * shared.n_labels + shared.n_sentences * shared.n_common)
        cdef double[::1] flat = answer
        with nogil:
            for i in range(shared.n_sentences):
                begin = shared.begins[i] * shared.n_labels + i * shared.n_common
                self.of_c(i, begin, &flat[begin])
        return answer


cdef void widen(const float *narrow, Py_ssize_t n, double *wide) noexcept nogil:
    """Numbers in float64."""
    cdef Py_ssize_t a
    for a in range(n):
        wide[a] = narrow[a]


cdef bint have_meaning(const double *scores, Py_ssize_t n) noexcept nogil:
    """Whether no score is NaN or +inf."""
    cdef Py_ssize_t k
    cdef int64_t n_right = 0
    for k in range(n):
        n_right += scores[k] < INFINITY
    return n_right == n
