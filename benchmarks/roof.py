"""Compiles fused_loops.c with the local compiler and runs its loops: the roof that the engine is compared with."""

import ctypes
import functools
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from datasets import RANKS

SOURCE = Path(__file__).with_name("fused_loops.c")
COMPILER = os.environ.get("CC", "cc")
FLAGS = ("-O3", "-march=native", "-ffast-math")
NARROWER = ("-mno-avx512f",)        # the same with only AVX2
C_TYPES = {np.dtype(np.float64): "double", np.dtype(np.float32): "float"}


@functools.cache
def library(row, weights, flags=()):
    """The loops for rows and weights of these dtypes, compiled with further flags."""
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder, "fused_loops.so")
        subprocess.run([COMPILER, *FLAGS, *flags, f"-DROW={C_TYPES[row]}", f"-DREAL={C_TYPES[weights]}", "-shared", "-fPIC", "-o", built,
                        SOURCE], check=True)
        loaded = ctypes.CDLL(built)
    for name in ("cusum_dense", "prank_dense", "cusum_csr", "prank_csr"):
        getattr(loaded, name).restype = ctypes.c_int64
    for name in ("read_dense", "read_csr"):
        getattr(loaded, name).restype = ctypes.c_double
    return loaded


def compiler_version():
    said = subprocess.run([COMPILER, "--version"], capture_output=True, text=True, check=True).stdout
    return f"{said.splitlines()[0]}, {' '.join(FLAGS)}"


class Roof:
    """Hand-fused epochs over one data set.

    Parameters
    ----------
    data : datasets.Ordinal
    weights : dtype
        Of the weights and all sums; the rows keep their own.
    flags : tuple of str
        Further ones for the compiler.
    """

    def __init__(self, data, weights=np.float64, flags=()):
        self.n, self.d = data.X.shape
        self.weights = np.dtype(weights)
        self.y = data.y.astype(np.int32)
        self.sparse = not isinstance(data.X, np.ndarray)
        values = data.X.data if self.sparse else data.X
        self.rows = [values, data.X.indices, data.X.indptr.astype(np.int64)] if self.sparse else [values]
        self.library = library(values.dtype, self.weights, flags)

    def fit(self, problem, epochs, shuffle=False):
        """Trains a fresh averaged perceptron; the mistakes of each epoch."""
        run, _ = self.trainer(problem)
        return [run(self.y, order) for order in self.orders(epochs, shuffle)]

    def trainer(self, problem):
        """A function that trains one epoch on outputs in an order and returns its mistakes; the weights, at first 0."""
        thresholds = RANKS - 1
        vectors = thresholds if problem == "cusum" else 1
        steps, step_sums, counter = (np.zeros(size, self.weights) for size in (thresholds, thresholds, 1))
        counter[0] = 1
        if self.sparse:
            loop = self.library[f"{problem}_csr"]
            sizes, learned = [ctypes.c_int(thresholds)], [aligned_zeros(self.d * 2 * vectors, self.weights), steps]
        else:
            loop = self.library[f"{problem}_dense"]
            sizes = [ctypes.c_int(self.d), ctypes.c_int(thresholds)]
            learned = [aligned_zeros(vectors * self.d, self.weights), steps, aligned_zeros(vectors * self.d, self.weights)]

        def run(y, order=None):
            return loop(*map(pointer, [*self.rows, y, order]), ctypes.c_int64(self.n), *sizes,
                        *map(pointer, [*learned, step_sums, counter]))

        return run, learned

    def read(self, epochs, shuffle=False):
        """Adds up all values that an epoch looks at."""
        for order in self.orders(epochs, shuffle):
            if self.sparse:
                self.library.read_csr(*map(pointer, [*self.rows, self.y, order]), ctypes.c_int64(self.n))
            else:
                self.library.read_dense(*map(pointer, [*self.rows, order]), ctypes.c_int64(self.n), ctypes.c_int(self.d))

    def orders(self, epochs, shuffle):
        """The order of each epoch: None for file order, else drawn anew."""
        order = np.arange(self.n) if shuffle else None
        state = np.ones(1, np.uint64)
        for _ in range(epochs):
            if shuffle:
                self.library.draw_order(pointer(order), ctypes.c_int64(self.n), pointer(state))
            yield order


def pointer(array):
    return None if array is None else ctypes.c_void_p(array.ctypes.data)


def aligned_zeros(size, dtype, alignment=64):
    """Zeros that begin at a cache line."""
    raw = np.zeros(size * dtype.itemsize + alignment, np.uint8)
    start = -raw.ctypes.data % alignment
    return raw[start:start + size * dtype.itemsize].view(dtype)
