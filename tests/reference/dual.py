"""A dual weight store that keeps every step unchanged and compares atoms one by one."""

import numpy as np

from structperc.core.rows import Rows
from structperc.core.weights import Weights


class StepList(Weights):
    """s[a] is the sum of c_i[b] K(a, b) over the steps (x_i, c_i) and their atoms b.

    K(a, b) is the inner product of the feature map. If a and b have rows in the same block, kernel(rows, rows) replaces the dot product of
    these rows. With averaging, the weight of a step is the share of examples visited from this step on. Inner products of the same rows are
    computed once.
    """

    def __init__(self, kernel):
        self.kernel = kernel

    def start(self, parts, context):
        super().start(parts, context)
        self.steps, self.average, self.products = [], context.average, {}

    def column(self, x, z, b):
        """The inner products of all atoms of x with one of z, remembered."""
        key = bytes_of(x), bytes_of(z), int(b)
        if key not in self.products:
            self.products[key] = np.array([self.inner(x, a, z, b) for a in range(self.features.n_atoms(x))], dtype=float)
        return self.products[key]

    def inner(self, x, a, z, b):
        value, one, other = self.features.inner(x, a, z, b), self.features.cell(x, a), self.features.cell(z, b)
        if one is None or other is None or one[1] != other[1]:
            return value
        p, q = dense(x)[one[0]][None], dense(z)[other[0]][None]
        return value - float((p @ q.T)[0, 0]) + float(self.kernel(p, q)[0, 0])

    def scores(self, x):
        return sum((c[b] * self.column(x, z, b) for z, c, _ in self.steps for b in np.flatnonzero(c)), np.zeros(self.features.n_atoms(x)))

    def norm(self, x, c):
        atoms = np.flatnonzero(c)
        return sum(c[a] * c[b] * self.inner(x, a, x, b) for a in atoms for b in atoms)

    def update(self, x, c):
        kept = Rows(np.array(dense(x), dtype=float), np.array([0, x.n_rows])).example(0)
        kept.n_atoms = x.n_atoms
        self.steps.append((kept, np.array(c), self.n_visited))

    def averaged(self):
        if not self.average:
            return self
        mean = StepList(self.kernel)
        mean.features, mean.products = self.features, self.products
        mean.steps, mean.average = [(z, c * (self.n_visited - before) / self.n_visited, 0) for z, c, before in self.steps], False
        return mean


class BudgetList(StepList):
    """The same store with at most `budget` places for rows. If all places are used, a new row replaces another one.

    A place has a list of steps (block coefficients, number of examples visited before), which goes with its row. The replaced row is the
    oldest, a random one, or that of least ||sum of its coefficients||^2 kernel(row, row).
    """

    def __init__(self, kernel, budget, removal):
        super().__init__(kernel)
        self.budget, self.removal = budget, removal

    def start(self, parts, context):
        super().start(parts, context)
        self.random, self.places, self.n_joined = context.random, [], 0

    def inner(self, x, a, z, b):
        """The part of the inner product that does not come from rows."""
        one, other = self.features.cell(x, a), self.features.cell(z, b)
        same_block = one is not None and other is not None and one[1] == other[1]
        return self.features.inner(x, a, z, b) - (float(dense(x)[one[0]] @ dense(z)[other[0]]) if same_block else 0)

    def scores(self, x):
        s = super().scores(x)
        for a in range(len(s)):
            cell = self.features.cell(x, a)
            for place in self.places if cell is not None else []:
                s[a] += sum(c[cell[1]] for c, _ in place["steps"]) * self.between(dense(x)[cell[0]], place["row"])
        return s

    def between(self, row, other):
        """The kernel of two rows, remembered."""
        key = row.tobytes(), other.tobytes()
        if key not in self.products:
            self.products[key] = float(self.kernel(row[None], other)[0, 0])
        return self.products[key]

    def norm(self, x, c):
        """The norm as without a budget."""
        return sum(c[a] * c[b] * StepList.inner(self, x, a, x, b) for a in np.flatnonzero(c) for b in np.flatnonzero(c))

    def update(self, x, c):
        super().update(x, c)
        moved = {}
        for a in np.flatnonzero(c):
            cell = self.features.cell(x, a)
            if cell is not None:
                moved.setdefault(cell[0], np.zeros(self.features.layout.n_blocks))[cell[1]] += c[a]
        for row in sorted(moved):
            if moved[row].any():
                self.place(np.array(dense(x)[row])[None])["steps"].append((moved[row], self.n_visited))

    def place(self, row):
        for place in self.places:
            if np.array_equal(place["row"], row):
                return place
        new = {"row": row, "steps": [], "joined": self.n_joined}
        self.n_joined += 1
        if len(self.places) < self.budget:
            self.places.append(new)
        else:
            self.places[self.victim()] = new
        return new

    def victim(self):
        if self.removal == "random":
            return int(self.random.integers(len(self.places)))
        if self.removal == "oldest":
            return int(np.argmin([place["joined"] for place in self.places]))
        return int(np.argmin([(sum(c for c, _ in place["steps"]) ** 2).sum() * self.kernel(place["row"], place["row"])[0, 0]
                              for place in self.places]))

    def averaged(self):
        if not self.average:
            return self
        mean = BudgetList(self.kernel, self.budget, self.removal)
        mean.features, mean.products = self.features, self.products
        mean.steps, mean.average = [(z, c * (self.n_visited - before) / self.n_visited, 0) for z, c, before in self.steps], False
        mean.places = [{"row": place["row"], "steps": [(c * (self.n_visited - before) / self.n_visited, 0) for c, before in place["steps"]]}
                       for place in self.places]
        return mean


def bytes_of(x) -> bytes:
    return dense(x).tobytes()


def dense(x):
    return np.asarray(x.rows, dtype=float)
