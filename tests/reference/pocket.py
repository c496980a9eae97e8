"""The pocket algorithm with ratchet in plain Python: every total is a new sum over all rows."""

import math

import numpy as np

TILE = 32


class Splitmix:
    """Steele, Lea and Flood's generator of 64-bit numbers."""

    def __init__(self, seed):
        self.state = seed

    def number(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return z ^ (z >> 31)


def alias(weights):
    """Vose's table: the share of each cell that is its own, and the cell that gets the rest."""
    n = len(weights)
    part, other = [float(w) * (n / float(np.sum(weights))) for w in weights], list(range(n))
    below, above = [i for i in range(n) if part[i] < 1], [i for i in range(n) if part[i] >= 1]
    while below and above:
        few, many = below.pop(), above[-1]
        other[few] = many
        part[many] -= 1 - part[few]
        if part[many] < 1:
            below.append(above.pop())
    for i in below + above:
        part[i] = 1.0
    return part, other


def in_units(costs):
    """Costs as whole multiples of a power of two, and this power. The largest costs of all rows add up to at most 2^52."""
    unit = 2.0 ** (math.frexp(float(costs.max(axis=1).sum()))[1] - 52)
    return np.rint(costs / unit), unit


class Pocket:
    """Rankers (u, b) with the steps of math section "PRank as a base ranker", and the best ranker so far."""

    def __init__(self, X, y, costs, variant, compared, seed):
        self.X, self.y, self.variant, self.screened, self.runs = X, y, variant, compared == "screened", compared == "runs"
        self.costs, self.unit = in_units(costs)
        largest = np.rint(costs.max(axis=1) / self.unit)
        self.part, self.other = alias(largest)
        falling, n_tiles = np.argsort(-largest, kind="stable"), -(-len(y) // TILE)
        self.order = np.concatenate([falling[t::n_tiles] for t in range(n_tiles)])
        self.random = Splitmix(seed)
        self.u, self.b = [0.0] * X.shape[1], [0.0] * (costs.shape[1] - 1)
        self.kept, self.cost, self.run, self.longest, self.compared = (self.u, self.b), self.total(), 0, 0, True
        self.kept_tiles = self.tiles()

    def draw(self):
        place = (self.random.number() >> 11) / 2**53 * len(self.y)
        i = min(int(place), len(self.y) - 1)
        return i if place - i < self.part[i] else self.other[i]

    def score(self, x):
        f = 0.0
        for weight, value in zip(self.u, x, strict=True):
            f += weight * value
        return f

    def rank(self, x):
        f = self.score(x)
        return 1 + sum(f >= b for b in self.b)

    def total(self):
        return sum(self.costs[i, self.rank(x) - 1] for i, x in enumerate(self.X))

    def tiles(self):
        """The costs of the rows in tiles of 32; each tile has rows of high and of low cost."""
        costs = [self.costs[i, self.rank(self.X[i]) - 1] for i in self.order]
        return [sum(costs[at:at + TILE]) for at in range(0, len(costs), TILE)]

    def hopeless(self):
        """Whether, from the fourth tile on, the cost exceeds the pocket's by three standard deviations of the differences."""
        above = squares = 0.0
        for t, (own, kept) in enumerate(zip(self.tiles(), self.kept_tiles, strict=True)):
            above, squares = above + (own - kept), squares + (own - kept) ** 2
            if t >= 3 and above > 0 and above * above > 9 * squares:
                return True
        return False

    def compare(self):
        if not self.compared:
            self.compared, cost = True, self.total()
            if cost < self.cost and not (self.screened and self.hopeless()):
                self.kept, self.cost, self.kept_tiles = (self.u, self.b), cost, self.tiles()
        if self.kept == (self.u, self.b):
            self.longest = self.run

    def visit(self):
        """Visits one random row; returns the row and the prediction before the step."""
        i = self.draw()
        x, y, r = self.X[i], int(self.y[i]), self.rank(self.X[i])
        if r == y:
            self.run += 1
            if self.runs and self.run > self.longest:
                self.compare()
            return i, r
        z = [1 if k < y else -1 for k in range(1, len(self.b) + 1)]
        if self.variant == "original":
            moved = [z[k] * (self.score(x) - self.b[k]) <= 0 for k in range(len(z))]
        elif self.variant == "single":
            moved = [k == (r if y > r else r - 1) for k in range(1, len(z) + 1)]
        else:
            moved = [min(y, r) <= k < max(y, r) for k in range(1, len(z) + 1)]
        tau = [z[k] * moved[k] for k in range(len(z))]
        self.u = [weight + sum(tau) * value for weight, value in zip(self.u, x, strict=True)]
        self.b = [b - t for b, t in zip(self.b, tau, strict=True)]
        self.run, self.compared = 0, False
        if not self.runs:
            self.compare()
        return i, r
