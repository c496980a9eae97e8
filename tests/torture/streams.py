"""Engines and examples, one example at a time, that parts of the torture share."""

import io
import os
import tempfile

import numpy as np
from plain import Engine

WORDS = [f"w{i}" for i in range(60)]


class Stream:
    """An engine's options and a list of examples, each as the pair (X, y) of a call with one example.

    Parameters
    ----------
    name : str
    options : dict
        The engine's, the problem among them.
    examples : list of (X, y)
    """

    def __init__(self, name, options, examples):
        self.name, self.options, self.examples = name, options, examples

    def engine(self, **further):
        return Engine(**{"random_state": 0, **self.options, **further})

    @property
    def data(self):
        """All examples as one X and one y."""
        X, y = zip(*self.examples, strict=True)
        joined = [one for x in X for one in x] if isinstance(X[0], list) else np.concatenate(X)
        return joined, [one for answers in y for one in answers]


def streams(n=200) -> list:
    """Dense and sparse rows, sequences, rankings and kernels."""
    random = np.random.default_rng(5)
    X = random.normal(size=(n, 5))
    ranks = random.permutation(np.arange(n) % 4 + 1)
    rows = [(X[i:i + 1], ranks[i:i + 1]) for i in range(n)]
    sentences = [[[WORDS[w] for w in random.integers(0, 60, 3)] for _ in range(random.integers(1, 6))] for _ in range(n)]
    tagged = [([s], [[("D", "N", "V")[random.integers(3)] for _ in s]]) for s in sentences]
    queries = [([random.normal(size=(4, 3))], [random.permutation([0, 0, 1, 2]).tolist()]) for _ in range(n)]
    strings = [(["".join("abcd"[c] for c in random.integers(0, 4, 6))], [int(ranks[i])]) for i in range(n)]
    classes = {"classes": [1, 2, 3, 4]}
    return [
        Stream("cusum", {"problem": "cusum", **classes, "average": True}, rows),
        Stream("prank", {"problem": "prank", "update": "exact-pa1", **classes}, rows),
        Stream("multiclass", {"problem": "multiclass", "update": "pa1", "decay": 0.01, **classes}, rows),
        Stream("sequence", {"problem": "sequence", "classes": ["D", "N", "V"], "average": True}, tagged),
        Stream("ranking", {"problem": "latent-ranking", "k": 2}, queries),
        Stream("kernel", {"problem": "cusum", **classes, "plugins": ["dual-kernel"], "kernel": "rbf", "gamma": 0.3, "budget": 20}, rows),
        Stream("strings", {"problem": "cusum", **classes, "plugins": ["dual-kernel"], "kernel": "subsequence", "length": 2, "budget": 8},
               strings),
    ]


def dumped(engine) -> bytes:
    """What `save` writes."""
    file = io.BytesIO()
    engine.save(file)
    return file.getvalue()


def learned(engine) -> tuple:
    """All that training made but the word for its end, to the last bit."""
    weights = engine.parts_.weights
    bits = tuple((name, np.asarray(values).tobytes()) for name, values in weights.state().items())
    return bits, weights.n_visited, engine.mistakes_, engine.cumulative_loss_


def folder_in_memory():
    """A temporary folder in memory where the system has one, since thousands of fsyncs to a disk take their time."""
    memory = "/dev/shm"
    return tempfile.TemporaryDirectory(dir=memory if os.path.isdir(memory) and os.access(memory, os.W_OK) else None)
