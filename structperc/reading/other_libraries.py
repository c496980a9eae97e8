"""Data of other libraries in the forms that readers know: tables of Arrow streams and queries, sentences of spaCy and of data sets."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from structperc.basics.errors import DataError, OptionError, did_you_mean, shortened
from structperc.extras import require

# The attribute of a token of spaCy for each column of a CoNLL-U file. Any other column is the name of an attribute.
ATTRIBUTES = {"form": "text", "lemma": "lemma_", "upos": "pos_", "xpos": "tag_", "feats": "morph"}


def as_table(X):
    """A frame of polars for its query, a table of pyarrow for a batch or an Arrow stream. Others stay as they are."""
    if is_query(X):
        return X.collect()
    if is_stream(X):
        return require("pyarrow", "reading an Arrow stream", "parquet").table(X)
    if is_batch(X):
        return sys.modules["pyarrow"].Table.from_batches([X])
    if isinstance(X, (list, tuple)) and len(X) and (is_query(X[0]) or is_stream(X[0]) or is_batch(X[0])):
        return [as_table(table) for table in X]
    return X


def header_of(X):
    """The names of the columns of a data frame, a query or a stream; None for anything without names."""
    if is_query(X):
        return X.collect_schema().names()
    table = X if hasattr(X, "column_names") or hasattr(X, "columns") else getattr(X, "schema", None)      # of a stream
    return getattr(table, "column_names", getattr(table, "columns", getattr(table, "names", None)))


def as_stream(source):
    """A query of polars as the Arrow stream of its result, which polars computes part by part. Anything else as it is."""
    if not is_query(source):
        return source
    if not hasattr(source, "collect_batches"):
        raise DataError("this polars cannot compute a LazyFrame part by part. Install polars 1.35 or later, or write the result with "
                        "sink_parquet and pass the file to files.stream.")
    return source.collect_batches(maintain_order=True)


def is_query(X) -> bool:
    """Whether X is a LazyFrame of polars, whose rows are not computed yet."""
    polars = sys.modules.get("polars")          # without this module there is no LazyFrame
    return polars is not None and isinstance(X, polars.LazyFrame)


def is_stream(X) -> bool:
    """Whether X has its table only as an Arrow stream."""
    return hasattr(X, "__arrow_c_stream__") and not hasattr(X, "__array__")


def is_batch(X) -> bool:
    """Whether X is a batch of rows of pyarrow."""
    pyarrow = sys.modules.get("pyarrow")
    return pyarrow is not None and isinstance(X, pyarrow.RecordBatch)


def as_sentences(X, columns=None):
    """Sentences of other libraries as lists: documents and spans of spaCy, and sequences such as a column of a Hugging Face data set.
    Raises `OptionError` for a column that a token of spaCy lacks.

    Parameters
    ----------
    X : object
        As users pass it.
    columns : sequence of str, optional
        The strings of a token of spaCy: form, lemma, upos, xpos and feats, as in CoNLL-U files. Or attributes of the token, such as
        `shape_`.

    Returns
    -------
    object
        The sentences of spaCy as lists of tuples of strings, or without `columns` as spans. A document without boundaries of sentences is
        one sentence. A list for a sequence that is no array, and for an array of sentences. Anything else as it is.

    Examples
    --------
    >>> from structperc.plugin_tools import as_sentences
    >>> as_sentences(range(3)), as_sentences([["the", "dog"]])
    ([0, 1, 2], [['the', 'dog']])
    """
    if is_text_of_spacy(X):
        X = [X]
    elif isinstance(X, Sequence) and not isinstance(X, (list, tuple, str, bytes, memoryview)) and not hasattr(X, "dtype"):
        X = list(X)
    elif holds_sentences(X):
        X = X.tolist()
    if not isinstance(X, (list, tuple)) or not len(X) or not is_text_of_spacy(X[0]):
        return X
    spans = [span for text in X for span in (spans_of(text) if is_text_of_spacy(text) else [text])]
    return spans if columns is None else [cells_of(span, columns) if is_text_of_spacy(span) else span for span in spans]


def holds_sentences(X) -> bool:
    """Whether an array or a series holds lists, or tokens in a third dimension, as numpy stores equally long sentences."""
    if getattr(getattr(X, "dtype", None), "kind", None) not in ("O", "U") or not hasattr(X, "tolist"):
        return False
    first = first_entry(X)
    return isinstance(first, (list, tuple, dict, set, frozenset)) or hasattr(first, "ndim") and first.ndim == 2 or (
        getattr(X, "ndim", 0) > 2 and isinstance(first, str))


def first_entry(X):
    """The first entry of an array or a series of any dimension; None: it has none."""
    return next(iter(np.asarray(X).flat), None)


def is_text_of_spacy(x) -> bool:
    """Whether x is a document or a span of spaCy."""
    spacy = sys.modules.get("spacy.tokens")
    return spacy is not None and isinstance(x, (spacy.Doc, spacy.Span))


def spans_of(text) -> list:
    """The sentences of a document. A span is one sentence."""
    if not hasattr(text, "has_annotation"):
        return [text]
    return list(text.sents) if text.has_annotation("SENT_START") else [text[:]]


def cells_of(span, columns) -> list:
    """The tokens of a span as tuples of strings."""
    names = [ATTRIBUTES.get(name, name) for name in columns]
    return [tuple(cell_of(token, name) for name in names) for token in span]


def cell_of(token, name) -> str:
    value = getattr(token, name, None)
    if not isinstance(value, (str, bool)) and name != ATTRIBUTES["feats"]:         # numbers are hashes of texts
        attributes = [attribute for attribute in dir(token) if attribute.endswith("_") and not attribute.startswith("_")]
        raise OptionError(f"columns names {shortened(name)}, which is no text of a token of spaCy. Expected {', '.join(ATTRIBUTES)}, or an "
                          f"attribute of tokens with a text, such as shape_.{did_you_mean(name, (*ATTRIBUTES, *attributes))}")
    return str(value)
