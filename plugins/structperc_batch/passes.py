"""The passes over the data of one batch training, all through the online loop."""

import time

import attrs
from structperc.core.adapters import bound
from structperc.core.loop import Loop

from structperc.engine.trainers import EpochRecord, visiting_order

EVERY = 10          # epochs, at most, between two certificates
SLOW = 0.5          # an epoch that leaves more than this of the gap is followed by sweeps over all structures that were found
PART = 0.05         # of the gap, which sweeps may leave over these structures


@attrs.frozen
class Certificate:
    """P(w) and D(a), whose difference bounds how far P(w) is above the optimum."""

    objective: float
    dual: float

    @property
    def gap(self) -> float:
        return self.objective - self.dual


class Passes:
    """Drives the `BlockFrankWolfe` rule of a run; the loss is always in the search.

    Parameters
    ----------
    run : TrainingRun
    """

    def __init__(self, run):
        self.run, self.context, self.parts = run, run.context, run.model.parts
        self.rule, self.epoch, self.estimate = self.parts.update, 0, float("inf")
        run.model.loop = Loop(self.parts, self.context.margin)
        run.model.loop.reserve(self.parts.features.max_atoms(run.rows))
        self.rule.begin(run.n_examples, bound(self.parts.loss))

    @property
    def left(self) -> bool:
        """Whether there is an epoch left."""
        return self.epoch < self.context.epochs

    @property
    def due(self) -> bool:
        """Whether a certificate is due whatever the steps looked like."""
        return self.epoch % EVERY == 0 or not self.left or self.run.stop_requested

    def take_over(self, rule):
        """Goes on from the dual solution of another training."""
        rows, outputs, features = self.run.rows, self.parts.outputs, self.parts.features

        def check(i, y):
            x = rows.example(i)
            x.n_atoms = features.n_atoms(x)
            outputs.check_structure(x, y[0] if outputs.code_width == 1 else y)

        self.rule.take_over(rule.state(), check)
        self.rebuild()
        self.rule.adopted()

    def step(self) -> float:
        """One epoch; returns the sum of the gaps that the blocks had before their steps, which is about the gap at its beginning."""
        begin, before = time.perf_counter(), self.estimate
        self.epoch += 1
        self.rule.mode = "step"
        passed = self.run.run(visiting_order(self.context, self.run.active, self.run.n_examples))
        self.estimate = self.rule.estimate
        if self.estimate > SLOW * before:
            self.sweep()
        self.run.epoch_end(EpochRecord(self.epoch, self.context.epochs, passed.visited, passed.mistakes, passed.updates, passed.loss,
                                           time.perf_counter() - begin))
        return self.estimate

    def sweep(self):
        """Improves all blocks together over the structures that they hold, where these are few."""
        weights = self.parts.weights
        if weights.vector() is None or not self.rule.prepare(weights.features):
            return
        self.look("write")
        replaced = self.rule.exchange(self.rule.sweep(weights.vector(), PART * self.estimate))
        try:
            self.rebuild()
        except BaseException:
            self.rule.exchange(replaced)
            raise

    def certify(self) -> Certificate:
        """P and D at the weights that the dual solution stands for, written down anew."""
        self.rebuild()
        self.look("measure")
        square = self.rule.square / 2
        return Certificate(square + self.rule.hinge, self.rule.losses - square)

    def rebuild(self):
        weights = self.parts.weights
        kept, n_visited = weights.state(), weights.n_visited
        try:
            weights.start(self.parts, self.context)
            weights.begin_fit(self.run.rows)
            self.look("rebuild")
        except BaseException:
            weights.n_visited = n_visited
            weights.restore(kept)
            raise

    def complete(self) -> float:
        """Completes the gold outputs; returns by how much C times the sum of the completions' scores grew."""
        self.look("complete")
        gain = self.rule.gain
        self.rule.adopt()
        return gain

    def look(self, mode):
        self.rule.mode = mode
        self.run.look(self.run.active)

    def keep(self):
        """What `give_back` returns to."""
        return self.rule.state(), self.parts.weights.n_visited, self.parts.weights.state()

    def give_back(self, kept):
        dual, self.parts.weights.n_visited, weights = kept
        self.rule.restore(dual)
        self.parts.weights.restore(weights)
