# distutils: extra_compile_args = VECTORS
"""Flat arrays of a batch: of sentences whose last atoms all have the same scores, and of examples with a factor each.

Typical sizes: 10 .. 10^4 tokens, 2 .. 50 labels. Cost: O(atoms).
"""
import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t
from libc.string cimport memcpy
from structperc.basics.signatures import ClassSignature

__all__ = ["Shared", "first_without_meaning", "scaled", "sentences"]


def first_without_meaning(const double[::1] scores not None):
    """The place of the first NaN or +inf; -1 if there is none. Returns an int.

    Parameters
    ----------
    scores : float64 array of shape (n_atoms,)
    """
    cdef Py_ssize_t k
    cdef int64_t n_right = 0
    with nogil:
        for k in range(scores.shape[0]):
            n_right += scores[k] < INFINITY
    return -1 if n_right == scores.shape[0] else int(np.argmin(np.asarray(scores) < INFINITY))


def sentences(unsigned char[:, ::1] keep not None, Py_ssize_t n_labels, int64_t ignored, const int64_t[:, ::1] tags=None):
    """Which tokens of padded sentences count, and their labels.

    Parameters
    ----------
    keep : uint8 array of shape (n_sentences, n_tokens)
        1 where a token counts. Those whose tag is `ignored` are set to 0.
    n_labels : int
    ignored : int
    tags : int64 array of the shape of `keep`, optional
        Labels from 0.

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

    cdef const int64_t[::1] begins
    cdef Py_ssize_t n_labels, n_common, n_sentences

    def __init__(self, const int64_t[::1] begins not None, Py_ssize_t n_labels, Py_ssize_t n_common):
        self.begins, self.n_labels, self.n_common, self.n_sentences = begins, n_labels, n_common, begins.shape[0] - 1

    def flat(self, rows, tables):
        """The flat scores. Returns a float64 array of shape (n_atoms,).

        Parameters
        ----------
        rows : float32 or float64 array of shape (n_tokens, n_labels)
        tables : sequence of float32 or float64 arrays
            One behind the other they are the common table.
        """
        cdef Py_ssize_t i, at = 0, n, each = self.n_common
        cdef double[::1] common = np.concatenate([table.reshape(-1) for table in tables], dtype=np.float64)
        cdef const float[::1] narrow = None
        cdef const double[::1] wide = None
        cdef const int64_t[::1] begins = self.begins
        if rows.shape != (begins[self.n_sentences], self.n_labels) or common.shape[0] != each:
            raise ValueError(f"{rows.shape} scores and {common.shape[0]} common ones; expected {begins[self.n_sentences]} rows of "
                             f"{self.n_labels} and {each}")
        answer = np.empty(begins[self.n_sentences] * self.n_labels + self.n_sentences * each)
        cdef double[::1] flat = answer
        if rows.dtype == np.float32:
            narrow = rows.reshape(-1)
        else:
            wide = rows.reshape(-1)
        with nogil:
            for i in range(self.n_sentences):
                n = (begins[i + 1] - begins[i]) * self.n_labels
                if n and narrow is None:
                    memcpy(&flat[at], &wide[begins[i] * self.n_labels], n * sizeof(double))
                elif n:
                    widen(&narrow[begins[i] * self.n_labels], n, &flat[at])
                if each:
                    memcpy(&flat[at + n], &common[0], each * sizeof(double))
                at += n + each
        return answer

    def parts(self, const double[::1] flat not None, const double[::1] factors=None):
        """What a flat array has for tokens, and for the table: the sum over sentences.

        Parameters
        ----------
        flat : float64 array of shape (n_atoms,)
        factors : float64 array of shape (n_sentences,), optional
            Of each sentence. Default: 1.

        Returns
        -------
        rows : float64 array of shape (n_tokens, n_labels)
        common : float64 array of shape (n_common,)
        """
        cdef Py_ssize_t i, a, n, row = 0, at = 0, each = self.n_common
        cdef double factor
        cdef const int64_t[::1] begins = self.begins
        answers = np.empty((begins[self.n_sentences], self.n_labels)), np.zeros(each)
        cdef double[::1] rows = answers[0].reshape(-1), common = answers[1]
        if flat.shape[0] != rows.shape[0] + self.n_sentences * each or factors is not None and factors.shape[0] != self.n_sentences:
            raise ValueError(f"flat has {flat.shape[0]} entries")
        with nogil:
            for i in range(self.n_sentences):
                factor = 1 if factors is None else factors[i]
                n = (begins[i + 1] - begins[i]) * self.n_labels
                for a in range(n):
                    rows[row + a] = flat[at + a] * factor
                for a in range(each):
                    common[a] += flat[at + n + a] * factor
                row, at = row + n, at + n + each
        return answers


cdef void widen(const float *narrow, Py_ssize_t n, double *wide) noexcept nogil:
    """Numbers in float64."""
    cdef Py_ssize_t a
    for a in range(n):
        wide[a] = narrow[a]
