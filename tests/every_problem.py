"""A small trained model of every problem that reads rows of numbers, with few enough outputs to enumerate them."""

import functools

import numpy as np
from plain import Engine

from structperc.fitting import plugins as registry
from structperc.solvers import best_intervals, best_path, grid_graph, max_clusters
from structperc.solvers.integer_programs import ILP

BUNDLED = [plugin for plugin in registry.installed() if plugin.distribution == "structperc"]
PLAIN = dict(epochs=3, average=True, scale=False, shuffle=False)
PAIRS = np.indices((3, 3)).reshape(2, -1).T


def single(problem, n_labels=4, **options):
    random = np.random.default_rng(1)
    X = random.normal(size=(80, 3)) * [1, 10, 0.1] + [0, 50, 3]
    score = ((X - X.mean(axis=0)) / X.std(axis=0)) @ [1, -1, 0.5] + random.normal(size=80) / 3
    y = np.digitize(score, np.linspace(-1, 1, n_labels - 1)) + 1
    engine = Engine(problem, **PLAIN | {"scale": True} | options).fit(X, y)
    return engine, X, y


def blocks(problem, rows, answers, n=25, width=3, **options):
    """An engine, its blocks of fixed and random columns, and their outputs, which `answers` computes from linear scores."""
    random = np.random.default_rng(2)
    X = [np.column_stack([*rows, random.normal(size=(len(rows[0]) if len(rows) else 4, width))]) for _ in range(n)]
    y = [answers(x[:, len(rows):] @ [2.0, -1.0, 0.5]) for x in X]
    return Engine(problem, **PLAIN | options).fit(X, y), X, y


def labelled(scores):
    return np.array(list("abc"))[np.digitize(scores, [-1, 1])].tolist()


def in_segments(scores):
    return [(i, i + 1, "N") for i in np.flatnonzero(scores > 0)]


def clustered(scores):
    square = np.zeros((4, 4))
    square[np.triu_indices(4, 1)] = scores
    return max_clusters(square + square.T).labels


STARTS = np.array([0.0, 1, 2, 3, 4])
GRID = grid_graph(2, 3)
TWO_OF_FOUR = ILP([[1, 1, 1, 1]], [2])
NODES_AND_EDGES = np.array([[0, 0], [1, 1], [2, 2], [0, 1], [1, 2]]).T
MODELS = {
    "cusum": lambda: single("cusum"),
    "cusum without intercept": lambda: single("cusum", fit_intercept=False),
    "prank": lambda: single("prank"),
    "interval-pa": lambda: single("interval-pa"),
    "multiclass": lambda: single("multiclass"),
    "sequence": lambda: blocks("sequence", [], labelled, classes=["a", "b", "c"]),
    "segments": lambda: blocks("segments", [], in_segments, max_length=2),
    "matching": lambda: blocks("matching", PAIRS.T, lambda s: [i for i in range(9) if i // 3 == i % 3]),
    "perfect matching": lambda: blocks("matching", PAIRS.T, lambda s: [0, 4, 8] if s[0] > 0 else [2, 4, 6], perfect=True),
    "path": lambda: blocks("path", GRID, lambda s: best_path(*GRID, s, 0, 5)[0].tolist()),
    "disjoint-intervals": lambda: blocks("disjoint-intervals", [STARTS, STARTS + 1.5],
                                         lambda s: best_intervals(STARTS, STARTS + 1.5, s)[0].tolist()),
    "clusters": lambda: blocks("clusters", np.triu_indices(4, 1), clustered),
    "ilp": lambda: blocks("ilp", [], lambda s: TWO_OF_FOUR.solve(s).chosen, constraints=TWO_OF_FOUR),
    "graph": lambda: blocks("graph", NODES_AND_EDGES, lambda s: labelled(s[:3]), classes=["a", "b", "c"], inference="tree"),
    "latent-ranking": lambda: blocks("latent-ranking", [], lambda s: (s > 0).astype(int), k=2),
}
OF_BLOCKS = ("sequence", "segments", "matching", "perfect matching", "path", "disjoint-intervals", "clusters", "ilp", "graph",
             "latent-ranking")


@functools.cache
def engine_and_examples(name):
    """A trained engine, and its examples with their outputs. Tests must not change them."""
    return MODELS[name]()
