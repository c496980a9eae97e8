"""Sentences whose segments have features of their own: rows of tokens, then rows of segments."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from structperc.components import NamedReader, Reader, Rows
from structperc.plugin_tools import as_sentences, substate


class SegmentReader(Reader):
    """Reads tokens as `NamedReader` does, and the named features of every segment that there may be.

    The rows of a sentence are those of its tokens, then those of its segments by start and length. Columns of tokens come first.
    """
    # describe: function of (sentence, start, stop). The features of the tokens start to stop - 1 as one segment: what `NamedReader` takes
    # for a token.
    # longest: int. The most tokens of a segment.
    # **options: Of `NamedReader`, for the tokens; n_hashed and min_count for the segments too.

    takes_tables = True

    def __init__(self, describe, longest, **options):
        self.describe, self.longest = describe, longest
        self.tokens = NamedReader(**options)
        self.segments = NamedReader(n_hashed=options["n_hashed"], min_count=options["min_count"])

    def clone(self):
        component = super().clone()
        component.tokens, component.segments = self.tokens.clone(), self.segments.clone()
        return component

    def learn(self, X, offsets=None):
        X = as_sentences(X)
        tokens = self.tokens.learn(X, offsets)
        return self.put_together(tokens, self.segments.learn(self.described(X, tokens)))

    def learn_more(self, X, offsets=None):
        X = as_sentences(X)
        self.tokens.learn_more(X, offsets)
        self.segments.learn_more(self.described(X, self.tokens.read(X, offsets)))

    def learn_names(self, state):
        return all([part.learn_names(dict(substate(state, f"{side}."))) for side, part in (("tokens", self.tokens),
                                                                                       ("segments", self.segments))])

    def read(self, X, offsets=None):
        X = as_sentences(X)
        tokens = self.tokens.read(X, offsets)
        return self.put_together(tokens, self.segments.read(self.described(X, tokens)))

    def read_one(self, x, objects=False, several_rows=False):
        return self.read([x])

    def described(self, X, tokens):
        """The features of all segments of each sentence. A sentence is as the user passed it, or its rows of one matrix."""
        sentences = X if isinstance(X, (list, tuple)) else [tokens.example(i).rows for i in range(tokens.n_examples)]
        return [[self.describe(sentence, start, stop) for start in range(n)
                 for stop in range(start + 1, min(start + self.longest, n) + 1)]
                for sentence, n in zip(sentences, tokens.sizes().tolist(), strict=True)]

    def put_together(self, tokens, segments):
        """The rows of tokens and segments, sentence by sentence."""
        parts = [rows.X.tocsr() if rows.sparse else sparse.csr_matrix(rows.X) for rows in (tokens, segments)]
        both = sparse.csr_matrix(sparse.block_diag(parts, format="csr"))
        starts, further = tokens.offsets, tokens.n_rows + segments.offsets
        order = np.concatenate([np.r_[starts[i]:starts[i + 1], further[i]:further[i + 1]] for i in range(tokens.n_examples)])
        return Rows(both[order], starts + segments.offsets)

    def feature_name(self, j):
        n = self.tokens.n_features
        return self.tokens.feature_name(j) if j < n else self.segments.feature_name(j - n)

    def state(self):
        parts = ("tokens", self.tokens), ("segments", self.segments)
        return {f"{side}.{key}": value for side, part in parts for key, value in part.state().items()}

    def restore(self, state):
        self.tokens.restore(substate(state, "tokens."))
        self.segments.restore(substate(state, "segments."))
