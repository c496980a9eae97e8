# distutils: extra_compile_args = CALLS
"""Encoded gold outputs of a data set, and the quick way to encode a few labels (0.1 us for one)."""
from operator import index

import numpy as np

from cpython cimport array
from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t
from structperc.basics.errors import DataError, shortened
import array
from structperc.basics.signatures import ClassSignature

cdef array.array TEMPLATE = array.array("i", [])


cdef class Structures:
    """Encoded structures of all examples, end to end.

    Parameters
    ----------
    values : int32 array
        The integers of all structures.
    offsets : int64 array of shape (n_examples + 1,), optional
        Where each structure begins. Default: every structure is one integer.

    Examples
    --------
    >>> from structperc.components import Structures
    >>> structures = Structures.ragged([[3, 1], [], [2]])
    >>> structures[0], structures[1]
    ((3, 1), ())
    """

    __signature__ = ClassSignature()

    def __init__(self, values, offsets=None):
        cdef Py_buffer view
        cdef const int64_t[::1] starts
        cdef int64_t before = 0
        cdef Py_ssize_t i
        cdef bint whole
        try:
            PyObject_GetBuffer(values, &view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS)
        except (TypeError, BufferError, ValueError):
            raise DataError(f"structures are {shortened(values)}; expected a vector of C ints, numpy.intc.") from None
        self.at = <const int *> view.buf
        whole = view.itemsize == sizeof(int) and view.format[0] in (b"i", b"l") and view.ndim == 1
        PyBuffer_Release(&view)
        if not whole:
            raise DataError(f"structures are of the type {np.asarray(values).dtype}, shape {np.shape(values)}; expected a vector of C "
                            f"ints, numpy.intc.")
        if offsets is not None:
            starts = offsets
            for i in range(starts.shape[0]):
                whole &= before <= starts[i]
                before = starts[i]
            if not (whole and starts.shape[0] and before <= len(values)):
                raise DataError(f"the offsets of structures are {shortened(offsets)}; expected numbers that never fall, from 0 to "
                                f"{len(values)}, one more than structures.")
        self.held, self.offsets = values, offsets

    @property
    def values(self):
        return np.asarray(self.held)

    @classmethod
    def ragged(cls, structures):
        """Structures from collections of integers. Returns `Structures`.
        Raises `DataError` if an entry is not a collection of integers. The message names the first.

        Parameters
        ----------
        structures : iterable of iterables of int
        """
        try:
            offsets = np.zeros(len(structures) + 1, dtype=np.int64)
        except TypeError:
            raise DataError(f"Structures.ragged was given {shortened(structures)}; expected a list of structures.") from None
        values = []
        for i, y in enumerate(structures):
            try:
                values.append(np.fromiter(map(index, y), dtype=np.intc))
            except (TypeError, ValueError, OverflowError, np.ma.MaskError):
                raise DataError(f"structure {i} is {shortened(y)}; expected a collection of whole numbers.") from None
            offsets[i + 1] = offsets[i] + len(values[i])
        return cls(np.concatenate(values) if values else np.empty(0, dtype=np.intc), offsets)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __len__(self):
        return self.count()

    cdef Py_ssize_t count(self) except -1:
        return len(self.held) if self.offsets is None else len(self.offsets) - 1

    def __getitem__(self, i):
        if self.offsets is None:
            return int(self.values[i])
        return tuple(self.values[self.offsets[i]:self.offsets[i + 1]].tolist())


cdef Structures encode_few(dict code_of, list labels):
    """Codes of a few labels, or None when one is unknown or no dictionary key."""
    cdef Structures structures
    cdef Py_ssize_t i, n = len(labels)
    cdef array.array codes = array.clone(TEMPLATE, n, False)
    try:
        for i in range(n):
            if len(labels) < n:         # a label's own code may take labels out
                return None
            label = labels[i]           # held while its code runs
            code = code_of.get(label)
            if code is None:
                return None
            codes.data.as_ints[i] = code
    except TypeError:
        return None
    structures = Structures.__new__(Structures)
    structures.held, structures.at = codes, codes.data.as_ints
    return structures


def encode_nested(dict code_of, sentences, int[::1] codes, const int64_t[::1] offsets):
    """Codes of lists of labels, end to end. Cost: about 20 ns for each label.

    Parameters
    ----------
    code_of : dict
        The code of each label.
    sentences : list of lists of labels
    codes : int32 array
        Receives the codes.
    offsets : int64 array of shape (n_sentences + 1,)
        The codes of sentence i go to offsets[i]:offsets[i + 1].

    Returns
    -------
    (int, int, label) or None
        Sentence, place and label of the first unknown label, or None.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.plugin_tools import encode_nested
    >>> codes = np.empty(3, dtype=np.int32)
    >>> encode_nested({"N": 1, "V": 2}, [["N", "V"], ["N"]], codes, np.array([0, 2, 3]))
    >>> codes.tolist()
    [1, 2, 1]
    """
    cdef Py_ssize_t at = 0, i = 0
    for labels in sentences:
        for label in labels:
            try:
                code = code_of.get(label)
            except TypeError:
                code = None
            if code is None:
                return i, at - offsets[i], label
            if at == offsets[i + 1]:
                break
            codes[at] = code
            at += 1
        else:
            if at == offsets[i + 1]:
                i += 1
                continue
        raise DataError(f"y[{i}] does not give as many labels as its length, {offsets[i + 1] - offsets[i]}; pass a list.")
    return None


cdef object structure(const int *y, Py_ssize_t n, Py_ssize_t width):
    """A structure as Python methods see it."""
    cdef Py_ssize_t i
    if width == 1:
        return y[0]
    return tuple([y[i] for i in range(n)])
