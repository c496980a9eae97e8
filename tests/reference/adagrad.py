"""AdaGrad as plain arrays: the step of the structured hinge loss, and weights with separate step sizes."""

import numpy as np

from structperc.components import Schedule, Update, Weights


class Hinge(Update):
    """The step weight * (Phi(x, gold) - Phi(x, y)), if y = argmax score + margin * loss has a positive hinge loss."""

    needs = frozenset({"search"})

    def __init__(self, margin=1.0):
        self.margin = margin

    def searches(self, loss_weight):
        return "both", self.margin

    def step(self, trial):
        c = trial.difference()
        gained = 0.0
        for each, score in zip(c, trial.scores, strict=True):
            gained += each * score
        return trial.weight * c if self.margin * trial.loss - gained > 0 and c.any() else None


class AdaGrad(Weights):
    """The steps G += x^2 and w += eta x / sqrt(G), where x is the vector sum_a c[a] phi(x, a). `total` is the sum of w over visits."""

    linear = False

    def __init__(self, step_size=1.0, decay=0.0):
        self.step_size, self.decay = Schedule(step_size), Schedule(decay)

    def check(self, context, parts):
        pass                            # `update` projects

    def start(self, parts, context):
        super().start(parts, context)
        self.w, self.G, self.past = (np.zeros(self.features.n_weights) for _ in range(3))
        self.summed_up_to = 0

    def scores(self, x):
        return self.features.scores(self.w, x)

    def update(self, x, c):
        self.total()
        t, change = self.n_visited + 1, self.features.vector(x, c)
        moved = change != 0
        self.w *= 1 - self.decay.at(t)
        self.G[moved] += change[moved] ** 2
        eta = self.step_size.at(t)
        self.w[moved] += eta * change[moved] / np.sqrt(self.G[moved])
        self.features.project(self.w, x)

    def total(self):
        """The sum of w after each visit so far."""
        self.past += (self.n_visited - self.summed_up_to) * self.w
        self.summed_up_to = self.n_visited
        return self.past

    def vector(self):
        return self.w

    def state(self):
        return {"w": self.w.copy(), "G": self.G.copy(), "past": self.total().copy()}

    def restore(self, state):
        self.w, self.G, self.past = (np.array(state[name]) for name in ("w", "G", "past"))
        self.summed_up_to = self.n_visited
