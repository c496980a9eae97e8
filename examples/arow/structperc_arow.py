"""AROW (Crammer, Kulesza and Dredze, 2009) with a diagonal covariance: a custom weight store, in plain Python."""

import numpy as np

from structperc import hookimpl
from structperc.components import Weights
from structperc.errors import OptionError

problem = "multiclass"                  # with which `structperc check` checks the plugin,
check_options = {"update": "pa2"}       # and the options that it needs


class AROW(Weights):
    """w and, for each weight, the precision 1 / Sigma_i: how certain w_i is.

    The rule "pa2" does the rest: it divides the missing margin by norm + 1 / (2C). `norm` returns v . Sigma v for v = Phi(x, gold) -
    Phi(x, y). So r = 1 / (2C), the step is w += beta h Sigma v with beta = 1 / (v . Sigma v + r), and 1 / Sigma_i grows by v_i^2 / r.
    """

    linear = False                      # steps pass through Sigma, so no kernel form exists

    def __init__(self, r, average=False):
        self.r, self.average = r, average

    def start(self, parts, context):
        super().start(parts, context)
        n = self.features.n_weights
        self.w, self.late, self.precision = np.zeros(n), np.zeros(n), np.ones(n)

    def check(self, context, parts):
        if context.update != "pa2":
            raise OptionError(f"update={context.update!r}: AROW takes the steps of update='pa2'.")

    def scores(self, x):
        return self.features.scores(self.w, x)

    def norm(self, x, c):
        self.v = self.features.vector(x, c)             # "pa2" asks for the norm, then takes the step
        return float((self.v**2 / self.precision).sum())

    def update(self, x, c):
        step = self.features.vector(x, c) / self.precision
        self.w += step
        self.late += self.n_visited * step              # the loop counts: examples visited before this one
        self.precision += self.v**2 / self.r

    def vector(self):                                   # gives coef_ and explain
        return self.w - self.late / self.n_visited if self.average and self.n_visited else self.w

    def assign(self, vector, n_visited):
        self.w, self.late, self.n_visited = np.array(vector, dtype=float), np.zeros(len(vector)), n_visited

    def averaged(self):                                 # what predictions are made with
        mean = AROW(self.r)
        mean.features, mean.w = self.features, self.vector()
        return mean

    def state(self):                                    # for model files, and to undo a failed partial_fit
        return {"w": self.w.copy(), "late": self.late.copy(), "precision": self.precision.copy()}

    def restore(self, state):
        self.w, self.late, self.precision = (np.array(state[name], dtype=float) for name in ("w", "late", "precision"))


@hookimpl
def structperc_weights(context):
    return AROW(1 / (2 * float(context.C)), context.average)
