"""Model files of CRFsuite: a header, features with their weights, and the names of labels and attributes.

All numbers are little-endian. The header (48 bytes) has the magic "lCRF", the size, the type "FOMC", a version, three counts and
five offsets. The chunk "FEAT" has 20 bytes for each feature: its kind, source, destination and weight. The names are in constant quark
databases, chunks "CQDB". Their backward links have the place of each record: number, length with the final zero, text.
References from labels and attributes to their features follow from these and are not read.
"""

from __future__ import annotations

import os
import struct

import attrs
import numpy as np

from structperc.basics.errors import ModelFormatError, OptionError, shortened

HEADER = struct.Struct("<4sI4s9I")
FEATURES, NAMES, RECORD = struct.Struct("<4sII"), struct.Struct("<4s5I"), struct.Struct("<II")
FEATURE = np.dtype([("kind", "<u4"), ("source", "<u4"), ("destination", "<u4"), ("weight", "<f8")])
STATE, TRANSITION = 0, 1        # kinds of features
BYTE_ORDER = 0x62445371         # as a CQDB writes it
MOST_LABELS = 1 << 13           # whose pairs take half a GB


@attrs.frozen(eq=False)
class CRFsuiteModel:
    """The content of a model file."""
    # labels, attributes: list of str
    # states: structured array. source: an attribute, destination: a label, weight.
    # transitions: structured array. source: the label before, destination: the label after, weight.

    labels: list
    attributes: list
    states: np.ndarray
    transitions: np.ndarray


def read_model(path) -> CRFsuiteModel:
    """Reads a model file of CRFsuite. No model of a chain, damage, and names that are no UTF-8 text raise `ModelFormatError`."""
    path = os.fsdecode(path)
    if "\0" in path:
        raise OptionError(f"the path {path!r} holds a zero character, which no file name can; choose another path.")
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise type(error)(f"the model {path!r} cannot be read: {error.strerror or error}.") from None
    try:
        return parsed(content)
    except ModelFormatError as error:
        raise ModelFormatError(f"{path!r} {error}") from None


def parsed(content) -> CRFsuiteModel:
    """The model of these bytes; the message of a ModelFormatError goes on behind the file's name."""
    if content[:4] != b"lCRF":
        raise ModelFormatError(f"begins with {shortened(content[:4])}; expected lCRF, as a model file of CRFsuite does.")
    _, size, kind, version, _, n_labels, n_attributes, features, labels, attributes, *_ = unpacked(HEADER, content, 0, "the header")
    if kind != b"FOMC":
        raise ModelFormatError(f"holds a model of type {shortened(kind)}; expected FOMC, a chain of first order.")
    if version != 100:
        raise ModelFormatError(f"has version {version} of CRFsuite's format; expected 100.")
    if len(content) < size:
        raise ModelFormatError(f"is truncated: it has {len(content)} of {size} bytes.")
    if n_labels > MOST_LABELS:
        raise ModelFormatError(f"has {n_labels} labels; expected at most {MOST_LABELS}.")
    table = feature_table(content, features)
    states, transitions = table[table["kind"] == STATE], table[table["kind"] == TRANSITION]
    if len(states) + len(transitions) < len(table):
        raise ModelFormatError(f"is damaged: a feature is of kind {table['kind'].max()}; expected 0 or 1.")
    for part, n_sources, name in ((states, n_attributes, "attribute"), (transitions, n_labels, "label")):
        check_below(part["source"], n_sources, name)
        check_below(part["destination"], n_labels, "label")
    return CRFsuiteModel(names(content, labels, n_labels, "label"), names(content, attributes, n_attributes, "attribute"),
                         states, transitions)


def unpacked(form, content, start, what):
    """The fields at a place, all within the file."""
    if start + form.size > len(content):
        raise ModelFormatError(f"is damaged: {what} would end at byte {start + form.size} of {len(content)}.")
    return form.unpack_from(content, start)


def feature_table(content, start):
    """The features of the chunk that begins here."""
    chunk, _, n = unpacked(FEATURES, content, start, "the chunk of features")
    start += FEATURES.size
    if chunk != b"FEAT" or n * FEATURE.itemsize > len(content) - start:
        raise ModelFormatError(f"is damaged: the chunk {shortened(chunk)} of {n} features does not fit; expected FEAT.")
    table = np.frombuffer(content, FEATURE, n, start)
    if not np.isfinite(table["weight"]).all():
        raise ModelFormatError(f"is damaged: a feature has the weight {table['weight'][~np.isfinite(table['weight'])][0]}.")
    return table


def check_below(numbers, n, name) -> None:
    """Raises an error for numbers of labels or attributes that do not exist."""
    if len(numbers) and numbers.max() >= n:
        raise ModelFormatError(f"is damaged: a feature has {name} {numbers.max()}; there are {n}, counted from 0.")


def names(content, start, n, kind) -> list[str]:
    """The first n names of the database that begins here."""
    chunk, size, _, order, n_links, links = unpacked(NAMES, content, start, f"the names of {kind}s")
    if chunk != b"CQDB" or order != BYTE_ORDER or start + size > len(content):
        raise ModelFormatError(f"is damaged: the {kind}s should be a database of names, a chunk CQDB, within the file.")
    end = start + size
    if n > n_links or start + links + 4 * n > end:
        raise ModelFormatError(f"is damaged: it names {n_links} {kind}s; expected {n}.")
    texts, left = [], size
    for i, link in enumerate(np.frombuffer(content, "<u4", n, start + links).tolist()):
        at = start + link
        number, length = unpacked(RECORD, content, at, f"{kind} {i}")
        at += RECORD.size
        left -= length                  # no two names share bytes
        if number != i or length < 1 or at + length > end or left < 0 or content[at + length - 1]:
            raise ModelFormatError(f"is damaged: the name of {kind} {i} has the number {number} and {length} bytes with a final zero; "
                                   f"expected number {i}.")
        try:
            texts.append(content[at:at + length - 1].decode())
        except UnicodeDecodeError as error:
            raise ModelFormatError(f"has names that are no UTF-8 text: {kind} {i} ({error.reason} at byte {error.start}).") from None
    if len(set(texts)) < n:
        raise ModelFormatError(f"is damaged: two of its {kind}s have one name.")
    return texts
