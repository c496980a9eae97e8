"""Learns to parse English from UD English EWT: `python parse_english.py 1000` learns from 1000 sentences of at most 25 words."""

import sys
import time

import numpy as np

from structperc import Engine, files
from structperc.files.datasets import locate


def sentences(path, n, longest=25):
    """Tokens (form, tag) and heads of the first n sentences of at most `longest` words."""
    parses = [tokens for tokens in files.read(path, columns=("form", "upos", "head")).X if len(tokens) <= longest][:n]
    return [[token[:2] for token in tokens] for tokens in parses], [[int(head) for _, _, head in tokens] for tokens in parses]


def attachment(found, heads):
    """The share of words with the right head."""
    return np.mean(np.concatenate(found) == np.concatenate(heads))


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    train, _, test = locate("ud_english_ewt")
    (X, y), (X_new, y_new) = sentences(train, n), sentences(test, 300)
    engine = Engine("dependency-parser", update="pa1", C=0.1, loss_weight=1.0, average=True, n_hashed=2**18)
    for epoch in range(3):
        start = time.perf_counter()
        for part in range(0, len(X), 250):                      # the features of all arcs at once would fill the memory
            engine.partial_fit(X[part:part + 250], y[part:part + 250])
        seconds = time.perf_counter() - start
        print(f"epoch {epoch + 1}: {attachment(engine.predict(X_new), y_new):.1%} of the words of 300 new sentences get the right head; "
              f"learned {sum(map(len, X)) / seconds:.0f} tokens/s")
