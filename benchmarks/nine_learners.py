"""Learners of the nine sets.

Each has choices of options. `fit(options, X, y, bins)` returns something with predict. `answers(model, X)` is a dict from columns of
the tables to ranks.
"""

import attrs
import numpy as np
from learned_features import HiddenLayer
from reproduce_kernel import CS, EPOCHS, GAMMAS, PERCEPTRONS, UPDATES, engine, grid, trained
from structperc_large_margin.estimators import SVOR

MARGINS = (0.0, 10.0, 100.0, 1000.0)        # of CuSum on learned features: the score that a rank of distance asks for
LAYER_EPOCHS = (5, 20, 80)                  # of CuSum on learned features


class LearnedCuSum:
    """The published way: a hidden layer trained by regression, then averaged CuSum with a margin on its outputs."""

    choices = grid(scaling=("standard", "range"), loss_weight=MARGINS, epochs=LAYER_EPOCHS)

    def __init__(self):
        self.last = None, None, None

    def fit(self, options, X, y, bins):
        options = dict(options)
        layer = self.layer(options.pop("scaling"), options.pop("seed", 0), X, y)
        return Chained(layer, engine("cusum", bins, **options).fit(layer.transform(X), y), bins)

    def answers(self, model, X):
        return {LEARNED: model.predict(X), "network": model.regression(X)}

    def layer(self, scaling, seed, X, y):
        """The layer trained on these rows, the last one where it is asked for again: choices that share it follow each other."""
        rows, same, layer = self.last
        if rows is not X or same != (scaling, seed):
            layer = Layer(scaling, seed).fit(X, y)
            self.last = X, (scaling, seed), layer
        return layer


class Layer(HiddenLayer):
    """A hidden layer, on columns as they come, or between 0 and 1 in the rows to learn from."""

    def __init__(self, scaling, seed):
        super().__init__(seed)
        self.scaling, self.low, self.width = scaling, 0.0, 1.0

    def fit(self, X, y):
        if self.scaling == "range":
            self.low, self.width = X.min(axis=0), np.ptp(X, axis=0)
            self.width[self.width == 0] = 1.0
        return super().fit((X - self.low) / self.width, y)

    def transform(self, X):
        return super().transform((X - self.low) / self.width)


class Chained:
    """A ranker behind a layer."""

    def __init__(self, layer, ranker, bins):
        self.layer, self.ranker, self.bins = layer, ranker, bins

    def predict(self, X):
        return self.ranker.predict(self.layer.transform(X))

    def regression(self, X):
        """The layer's own predictions, rounded."""
        return np.clip(np.rint(self.layer.predict(X)), 1, self.bins)


@attrs.frozen
class Kernel:
    """A perceptron with an RBF kernel; gamma is divided by the number of columns."""

    name: str
    problem: str
    choices: list

    def fit(self, options, X, y, bins):
        return engine(self.problem, bins, kernel=True, **per_column(options, X)).fit(X, y)

    def answers(self, model, X):
        return {self.name: model.predict(X)}


def per_column(options, X):
    return options | {"gamma": options["gamma"] / X.shape[1]}


@attrs.frozen
class SupportVectors:
    """Support vector ordinal regression with an RBF kernel, of the ranks of its rows. gamma is divided by the number of columns."""

    name: str
    form: dict
    choices = grid(gamma=GAMMAS, C=CS)

    def fit(self, options, X, y, bins):
        return SVOR(kernel="rbf", **self.form, **per_column(options, X)).fit(X, y)

    def answers(self, model, X):
        return {self.name: model.predict(X)}


LEARNED = "learned CuSum"
SUPPORT = {"SVOREX": {"method": "explicit"}, "SVORIM": {"method": "implicit"},
           "fixed margin": {"method": "fixed-margin", "disordered": "pool"}}
LEARNERS = {                                # the slow one last: a run that is cut short has all of the others
    "kernel CuSum": Kernel("kernel CuSum", "cusum", trained(UPDATES, gamma=GAMMAS, epochs=EPOCHS)),
    "kernel PRank": Kernel("kernel PRank", "prank", trained(PERCEPTRONS, gamma=GAMMAS, epochs=EPOCHS)),
} | {name: SupportVectors(name, form) for name, form in SUPPORT.items()} | {LEARNED: LearnedCuSum()}
COLUMNS = ("network", LEARNED, *(name for name in LEARNERS if name != LEARNED))
