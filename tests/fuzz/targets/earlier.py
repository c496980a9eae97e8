"""Calls that once crashed the interpreter, or raised an error without a message. Each must succeed, or raise an error with one."""

from __future__ import annotations

import io

import numpy as np
import scipy.sparse as sp
from plain import Engine

from fuzz import kinds
from fuzz.promises import attempt, expect
from fuzz.targets.files import folder
from structperc import files, hookimpl, metrics, solvers
from structperc.components import ClassOutputs, Trainer

EDGES = np.stack([np.arange(99_999), np.arange(1, 100_000)], axis=1)        # the edges of a long path


def damaged_offsets():
    """Reads an Arrow file with offsets of texts beyond its end."""
    import pyarrow
    from pyarrow import ipc

    table, file = pyarrow.table({"x": [1.0, 2.0], "y": ["a", "b"]}), io.BytesIO()
    with ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    content = bytearray(file.getvalue())
    at = content.find(b"\0\0\0\0\1\0\0\0\2\0\0\0")
    content[at + 4:at + 12] = (2**30).to_bytes(4, "little") + (2**30 + 8).to_bytes(4, "little")
    path = folder() / "offsets.arrow"
    path.write_bytes(content)
    return files.read(path, target="y").y.tolist()


class Shrinks:
    """A number that its comparisons contradict."""

    def __index__(self):
        return 2

    def __gt__(self, other):
        return True

    def __le__(self, other):
        return False

    __ge__, __lt__ = __gt__, __le__


class Nothing(ClassOutputs):
    def encode(self, y, rows):
        pass


class NothingAdmitted(ClassOutputs):
    def admissible(self, gold, rows):
        pass


class Visits(Trainer):
    def __init__(self, number):
        self.number = number

    def train(self, run):
        run.begin_epoch()
        run.end_epoch(run.run(np.array([self.number])))
        return "done"


def fits_with(hook, part):
    plugin = type("Plugin", (), {f"structperc_{hook}": hookimpl(lambda self, context: part)})()
    return Engine("multiclass", plugins=[plugin]).fit(kinds.X, kinds.y)


def far_coordinates():
    scores = sp.coo_array((np.ones(3), (np.array([0, 1, 2]), np.array([1, 2, 3]))), shape=(4, 4))
    scores.coords[0][:] = 10**8
    return solvers.max_sparse_arborescence(scores)


def far_indices():
    A = sp.csr_array(np.ones((2, 4)))
    A.indices[:] = 10**8
    return solvers.solve_ilp([1, 2, 3, 4.0], A, [2, 2])


def reads_only_what_is_there():
    labels = solvers.Forest(4, EDGES[:3]).best_labels(np.zeros((4, 3000)), np.zeros((3, 1, 1)))
    expect(set(labels.tolist()) <= set(range(3000)) and len(set(labels.tolist())) == 1, "equal scores have other labels than the lowest")


CALLS = {
    "the offsets of a damaged Arrow file": damaged_offsets,
    "a circle in a forest": lambda: solvers.Forest(3, [[0, 1], [1, 2], [0, 2]]).best_labels(np.zeros((3, 2)), np.zeros((3, 2, 2))),
    "marginals of a circle": lambda: solvers.Forest(3, [[0, 1], [1, 2], [0, 2]]).marginals(np.zeros((3, 2)), np.zeros((3, 2, 2))),
    "few scores of many nodes": lambda: solvers.Forest(100_000, EDGES).best_labels(np.zeros((2, 2)), np.zeros((1, 2, 2))),
    "narrow scores of pairs": reads_only_what_is_there,
    "a sparse matrix with coordinates behind its shape": far_coordinates,
    "a sparse matrix with indices behind its shape": far_indices,
    "a number of nodes that shrinks": lambda: solvers.CutGraph(Shrinks(), [[0, 10**7]]),
    "encode without return": lambda: fits_with("outputs", Nothing()),
    "admissible without return": lambda: fits_with("outputs", NothingAdmitted()),
    "a visit of an example that is not there": lambda: fits_with("trainer", Visits(10**6)),
    "a visit of an example before the first": lambda: fits_with("trainer", Visits(-3)),
    "no best path": lambda: solvers.k_best_paths([0], [1], [1.0], 0, 1, 0),
    "one and a half best paths": lambda: solvers.k_best_paths([0], [1], [1.0], 0, 1, 1.5),
    "a grid of negative size": lambda: solvers.grid_edges(-3, 2),
    "a partner behind the last column": lambda: solvers.matching_prices([[1.0]], [7]),
    "labels that are no list": lambda: metrics.accuracy(1, 1),
    "a sentence without words": lambda: named("parsing joint").predict([[]], k=2),
    "an example without words": lambda: named("parsing joint").explain([]),
}


def named(name):
    return next(one for one in kinds.trained() if one.name == name).engine


def repeated(random):
    """One of the calls."""
    return attempt(CALLS[random.choice(list(CALLS))])[0]
