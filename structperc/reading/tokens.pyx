"""Tokens with named features to rows.

Strings in lists need 25 to 30 ns each, or 16 if all is in the cache. Learning a vocabulary needs 40. Entries of dicts need 70.
"""
import re

import numpy as np

from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBuffer_Release, PyObject_GetBuffer
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.ref cimport PyObject
from cpython.unicode cimport PyUnicode_DecodeUTF8
from cpython.unicode cimport Py_UNICODE_ISDECIMAL, Py_UNICODE_ISLOWER, Py_UNICODE_ISUPPER, Py_UNICODE_TOLOWER
from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint32_t
from structperc.basics.errors import DataError, OptionError, shortened
from structperc.basics.saved_state import read_array, substate
from structperc.reading.row_builder cimport RowBuilder
from structperc.reading.row_builder cimport SP_FETCH, Text
from structperc.reading.row_builder cimport PyUnicode_Check, PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_IS_COMPACT_ASCII
from structperc.reading.row_builder import Vocabulary


include "tokens.vectors.pxi"


cdef extern from "Python.h":
    bint PyFloat_Check(object value)
    Py_ssize_t PySequence_Fast_GET_SIZE(object sequence)
    PyObject **PySequence_Fast_ITEMS(object sequence)

cdef enum:
    DEEPEST = 100               # dictionaries within dictionaries

WEIGHTS = "a number, bool or string, a dict, list, tuple, set or frozenset of these, or an array of one dimension"
TOKENS = "a dict of features, or a list, tuple, set or frozenset of strings"
UNNAMED = "vector"              # what the vector of a list is called


def encode_tokens(X, RowBuilder builder):
    """Writes the rows of all tokens of a list of sentences; returns where sentences begin, an int64 array."""
    X = list(X)                 # a value's own code may take sentences out meanwhile
    offsets = np.zeros(len(X) + 1, dtype=np.int64)
    cdef int64_t[::1] ends = offsets
    cdef Py_ssize_t n_tokens = 0, n_features = 0
    try:
        for builder.sentence in range(len(X)):
            builder.token = -1
            sentence = tokens_of(X[builder.sentence])
            n_tokens += len(sentence)
            ends[builder.sentence + 1] = n_tokens
            for token in sentence:
                builder.token += 1
                n_features += most_features(token, 0)
        builder.allocate(n_tokens, n_features)
        for builder.sentence in range(len(X)):
            PyErr_CheckSignals()
            add_sentence(builder, tokens_of(X[builder.sentence]))
            builder.flush()
        if builder.n_rows < n_tokens:
            raise DataError("X was changed while it was read")
    except DataError as error:
        raise builder.located(error) from None
    except RuntimeError as error:
        if "during iteration" not in str(error):
            raise                       # of a value's own code
        raise builder.located(DataError("X was changed while it was read")) from None
    return offsets


def tokens_of(sentence):
    """The tokens of a sentence, or a DataError."""
    if not isinstance(sentence, (list, tuple)):
        hint = "; X is a list of sentences, so pass [X] for a single one" if isinstance(sentence, (dict, set, frozenset)) else ""
        raise DataError(f"the sentence is {shortened(sentence)} of type {type(sentence).__name__}; expected a list of tokens{hint}")
    return sentence


cdef Py_ssize_t most_features(object token, int depth) except -1:
    """How many features a token can have at most; 0 for what is no token."""
    cdef Py_ssize_t n = 0
    if not isinstance(token, dict):
        return len(token) if isinstance(token, (list, tuple, set, frozenset)) else 0
    if depth == DEEPEST:
        raise DataError(f"dictionaries of features are nested more than {DEEPEST} deep")
    for value in token.values():
        n += most_features(value, depth + 1) if isinstance(value, (dict, list, tuple, set, frozenset)) else 1
    return n


cdef int add_sentence(RowBuilder builder, object sentence) except -1:
    """Writes the rows of all tokens of a list or tuple."""
    cdef Py_ssize_t t = 0, ahead
    while t < PySequence_Fast_GET_SIZE(sentence):
        ahead = min(t + 2, PySequence_Fast_GET_SIZE(sentence) - 1)
        SP_FETCH(PySequence_Fast_ITEMS(sentence)[ahead])
        builder.token = t
        token = <object> PySequence_Fast_ITEMS(sentence)[t]
        add_token(builder, token)
        t += 1
    return 0


cdef int add_token(RowBuilder builder, object token) except -1:
    """Writes the row of one token."""
    if isinstance(token, (list, tuple)) and only_strings(token):
        push_strings(builder, token)
        return builder.end_row(True)
    builder.flush()                     # other objects can have code that runs now, and could change what was borrowed
    if isinstance(token, dict):
        push_dict(builder, token, 0, 0, 0)
    elif isinstance(token, (list, tuple)):
        push_list(builder, token)
    elif isinstance(token, (set, frozenset)):
        push_prefixed(builder, in_order(token), 0, 0)
    else:
        hint = f", such as [{shortened(token)}]; or pass columns=['word']" if isinstance(token, str) else ""
        raise DataError(f"the token is {shortened(token)} of type {type(token).__name__}; expected {TOKENS}{hint}")
    builder.end_row(False)
    return builder.flush()


cdef bint only_strings(object items) noexcept:
    """Whether a list or tuple holds nothing else."""
    cdef PyObject **item = PySequence_Fast_ITEMS(items)
    cdef Py_ssize_t i
    for i in range(PySequence_Fast_GET_SIZE(items)):
        if not PyUnicode_Check(item[i]):
            return False
    return True


cdef int push_list(RowBuilder builder, object items) except -1:
    """One feature per string, and optionally a vector."""
    vectors = [item for item in items if not isinstance(item, str) and is_vector(item)]
    if len(vectors) > 1:
        raise DataError(f"the token has {len(vectors)} vectors; give each a name, in a dict such as {{'a': vector, 'b': vector}}")
    push_prefixed(builder, [item for item in items if isinstance(item, str) or item is not vectors[0]] if vectors else items, 0, 0)
    if vectors:
        builder.keep_vector(UNNAMED, vectors[0])
    return 0


cdef int push_strings(RowBuilder builder, object strings) except -1:
    """One feature per string of a list or tuple, which must live until `flush`."""
    cdef PyObject **items = PySequence_Fast_ITEMS(strings)
    cdef Py_ssize_t i, n = PySequence_Fast_GET_SIZE(strings)
    cdef size_t at
    builder.make_room(n)
    for i in range(n):
        if PyUnicode_Check(items[i]) and PyUnicode_IS_COMPACT_ASCII(items[i]):
            builder.push(<const char *> PyUnicode_DATA(items[i]), 0, PyUnicode_GET_LENGTH(items[i]), 1)
        else:
            at = builder.scratch.used
            builder.scratch.append_string(<object> items[i])
            builder.push(NULL, at, builder.scratch.used - at, 1)
    return 0


cdef int push_dict(RowBuilder builder, object token, size_t prefix, size_t n_prefix, int depth) except -1:
    """The features of a dict, whose names begin with the text in the scratch at `prefix`."""
    cdef Text scratch = builder.scratch
    cdef size_t at
    cdef double weight
    if depth == DEEPEST:
        raise DataError("X was changed while it was read")
    for key, value in token.items():
        at = begin(scratch, prefix, n_prefix)
        scratch.append_string(string_of(key))
        if isinstance(value, str):
            scratch.append(b":", 1)
            scratch.append_string(value)
            weight = 1
        elif isinstance(value, dict):
            scratch.append(b":", 1)
            push_dict(builder, value, at, scratch.used - at, depth + 1)
            continue
        elif isinstance(value, (list, tuple, set, frozenset)):
            scratch.append(b":", 1)
            push_prefixed(builder, value if isinstance(value, (list, tuple)) else in_order(value), at, scratch.used - at)
            continue
        elif not PyFloat_Check(value) and is_vector(value):
            builder.keep_vector(PyUnicode_DecodeUTF8(scratch.data + at, scratch.used - at, NULL), value)
            continue
        else:
            weight = number(value, scratch, at)
        if weight:
            builder.make_room(1)
            builder.push(NULL, at, scratch.used - at, weight)
    return 0


cdef int push_prefixed(RowBuilder builder, object strings, size_t prefix, size_t n_prefix) except -1:
    """One feature per string, whose names begin with the text in the scratch at `prefix`."""
    cdef Text scratch = builder.scratch
    cdef size_t at
    for item in strings:
        at = begin(scratch, prefix, n_prefix)
        scratch.append_string(string_of(item))
        builder.make_room(1)
        builder.push(NULL, at, scratch.used - at, 1)
    return 0


cdef inline size_t begin(Text scratch, size_t prefix, size_t n_prefix) except? 0:
    """Begins a name with a copy of a prefix; returns its position."""
    cdef size_t at = scratch.used
    if n_prefix:
        scratch.reserve(n_prefix)
        scratch.append(scratch.data + prefix, n_prefix)
    return at


cdef bint is_vector(object value) except -1:
    """Whether it is an array of one dimension, of whatever library."""
    dimensions = getattr(value, "ndim", None)
    return type(dimensions) is int and dimensions == 1


cdef inline object string_of(object item):
    if not isinstance(item, str):
        raise DataError(f"a feature is named {shortened(item)} of type {type(item).__name__}; expected a string")
    return item


cdef object in_order(object strings):
    """A set's strings, sorted: the order of a set differs from run to run."""
    for item in strings:
        string_of(item)
    return sorted(strings)


cdef double number(object value, Text scratch, size_t at) except? 0:
    """The weight of the feature whose name ends the scratch."""
    cdef double weight
    try:
        weight = value
        if isfinite(weight):
            return weight
        expected = "a finite number"
    except (TypeError, ValueError, OverflowError):
        expected = WEIGHTS
    name = PyUnicode_DecodeUTF8(scratch.data + at, scratch.used - at, NULL)
    raise DataError(f"the feature {name!r} is {shortened(value)}; expected {expected}")


include "tokens.templates.pxi"
