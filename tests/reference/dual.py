"""A dual weight store that keeps every step as it was made and compares atoms one by one."""

import numpy as np

from structperc.core.components import Weights
from structperc.core.rows import Rows


class StepList(Weights):
    """s[a] = sum over the steps (x_i, c_i) and their atoms b of c_i[b] <a, b>, where rows are compared by kernel(rows, rows).

    The inner product of two atoms is that of the feature map, with the dot product of their rows, where they stand in one block, replaced
    by the kernel. With averaging, a step counts by the share of examples visited after it.
    """

    def __init__(self, kernel):
        self.kernel = kernel

    def start(self, features, task):
        super().start(features, task)
        self.steps, self.average = [], task.average

    def inner(self, x, a, z, b):
        value, one, other = self.features.inner(x, a, z, b), self.features.cell(x, a), self.features.cell(z, b)
        if one is None or other is None or one[1] != other[1]:
            return value
        p, q = dense(x)[one[0]][None], dense(z)[other[0]][None]
        return value - float((p @ q.T)[0, 0]) + float(self.kernel(p, q)[0, 0])

    def scores(self, x):
        return np.array([sum(c[b] * self.inner(x, a, z, b) for z, c, _ in self.steps for b in np.flatnonzero(c))
                         for a in range(self.features.n_atoms(x))], dtype=float)

    def norm(self, x, c):
        atoms = np.flatnonzero(c)
        return sum(c[a] * c[b] * self.inner(x, a, x, b) for a in atoms for b in atoms)

    def update(self, x, c):
        kept = Rows(np.array(dense(x), dtype=float), np.array([0, x.n_rows])).example(0)
        kept.n_atoms = x.n_atoms
        self.steps.append((kept, np.array(c), self.ticks))

    def final(self):
        if not self.average:
            return self
        mean = StepList(self.kernel)
        Weights.start(mean, self.features, None)
        mean.steps, mean.average = [(z, c * (self.ticks - before) / self.ticks, 0) for z, c, before in self.steps], False
        return mean


def dense(x):
    return np.asarray(x.rows, dtype=float)
