"""Flat scores of sentences whose last atoms all have the same scores: those of tokens, then one table of all sentences.

Typical sizes: 10 .. 10^4 tokens, 2 .. 50 labels. Cost: O(atoms).
"""
import numpy as np

from libc.stdint cimport int64_t
from libc.string cimport memcpy
from structperc.basics.signatures import ClassSignature

__all__ = ["Shared"]


cdef class Shared:
    """Where the flat scores of sentences have those of tokens and the common table.

    Parameters
    ----------
    lengths : int64 array of shape (n_sentences,)
        How many tokens each sentence has.
    n_labels : int
    n_common : int
        Scores of the table.
    """

    __signature__ = ClassSignature()

    cdef const int64_t[::1] lengths
    cdef Py_ssize_t n_labels, n_common, n_rows

    def __init__(self, lengths, Py_ssize_t n_labels, Py_ssize_t n_common):
        self.lengths, self.n_labels, self.n_common = lengths, n_labels, n_common
        self.n_rows = int(lengths.sum())

    def flat(self, const double[:, ::1] rows, const double[::1] common):
        """The flat scores.

        Parameters
        ----------
        rows : float64 array of shape (n_tokens, n_labels)
        common : float64 array of shape (n_common,)

        Returns
        -------
        float64 array of shape (n_atoms,)
        """
        cdef Py_ssize_t i, n, row = 0, at = 0, n_sentences = self.lengths.shape[0], each = self.n_common
        self.refuse(rows.shape[0], rows.shape[1], common.shape[0])
        answer = np.empty(self.n_rows * self.n_labels + n_sentences * each)
        cdef double[::1] flat = answer
        with nogil:
            for i in range(n_sentences):
                n = self.lengths[i] * self.n_labels
                if n:
                    memcpy(&flat[at], &rows[row, 0], n * sizeof(double))
                if each:
                    memcpy(&flat[at + n], &common[0], each * sizeof(double))
                row, at = row + self.lengths[i], at + n + each
        return answer

    def parts(self, const double[::1] flat):
        """What a flat array has for tokens and for the table in each sentence.

        Parameters
        ----------
        flat : float64 array of shape (n_atoms,)

        Returns
        -------
        rows : float64 array of shape (n_tokens, n_labels)
        common : float64 array of shape (n_sentences, n_common)
        """
        cdef Py_ssize_t i, n, row = 0, at = 0, n_sentences = self.lengths.shape[0], each = self.n_common
        answers = np.empty((self.n_rows, self.n_labels)), np.empty((n_sentences, each))
        cdef double[:, ::1] rows = answers[0], common = answers[1]
        if flat.shape[0] != self.n_rows * self.n_labels + n_sentences * each:
            raise ValueError(f"flat has {flat.shape[0]} entries")
        with nogil:
            for i in range(n_sentences):
                n = self.lengths[i] * self.n_labels
                if n:
                    memcpy(&rows[row, 0], &flat[at], n * sizeof(double))
                if each:
                    memcpy(&common[i, 0], &flat[at + n], each * sizeof(double))
                row, at = row + self.lengths[i], at + n + each
        return answers

    cdef refuse(self, Py_ssize_t n_rows, Py_ssize_t n_columns, Py_ssize_t n_common):
        if (n_rows, n_columns, n_common) != (self.n_rows, self.n_labels, self.n_common):
            raise ValueError(f"{n_rows} rows of {n_columns} scores and {n_common} common ones; expected {self.n_rows} of {self.n_labels} "
                             f"and {self.n_common}")
