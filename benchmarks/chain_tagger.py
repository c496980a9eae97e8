"""Compiles chain_tagger.c with the local compiler and runs it: the hand-written tagger that the engine is compared with."""

import ctypes
import functools
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from roof import COMPILER, FLAGS, pointer

SOURCE = Path(__file__).with_name("chain_tagger.c")


@functools.cache
def library():
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder, "chain_tagger.so")
        subprocess.run([COMPILER, *FLAGS, "-shared", "-fPIC", "-o", built, SOURCE], check=True)
        loaded = ctypes.CDLL(built)
    loaded.chain_epoch.restype = ctypes.c_int64
    return loaded


class ChainTagger:
    """An averaged perceptron over sentences whose features are numbers already.

    Parameters
    ----------
    n_features, n_labels : int

    Attributes
    ----------
    mistakes : list of int
        Tokens with a wrong label in each epoch of the last fit.
    """

    def __init__(self, n_features, n_labels):
        self.n_features, self.n_labels = n_features, n_labels

    def fit(self, X, offsets, codes, epochs):
        """Trains from nothing.

        Parameters
        ----------
        X : CSR matrix of ones, a row for each token
        offsets : array of int64
            Sentence s has the tokens offsets[s]:offsets[s + 1].
        codes : array of int32
            The right label of each token, from 0.
        epochs : int
        """
        W, U = (np.zeros((self.n_features, self.n_labels)) for _ in range(2))
        T, UT = (np.zeros((self.n_labels, self.n_labels)) for _ in range(2))
        self.sums = W, T, U, UT, np.ones(1)
        starts = X.indptr.astype(np.int64)
        self.mistakes = [self._run(X.indices, starts, offsets, codes, *self.sums, None) for _ in range(epochs)]
        return self

    def predict(self, X, offsets):
        """The label of each token by the mean of the weights."""
        W, T, U, UT, counter = self.sums
        found = np.zeros(X.shape[0], np.int32)
        self._run(X.indices, X.indptr.astype(np.int64), offsets, None, W - U / counter, T - UT / counter, None, None, counter, found)
        return found

    def _run(self, features, tokens, offsets, codes, *arrays):
        return library().chain_epoch(*map(pointer, [features, tokens, offsets, codes]), ctypes.c_int64(len(offsets) - 1),
                                     ctypes.c_int(self.n_labels), ctypes.c_int(int(np.diff(offsets).max())), *map(pointer, arrays))
