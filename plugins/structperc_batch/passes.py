"""The passes over the data of one batch training, all through the online loop."""

from __future__ import annotations

from structperc.components import LabelOutputs
from structperc.solvers.certificates import SWEEP_GAP_SHARE, BlockAscent, Certificate, certified
from structperc_batch.dual_blocks import Complete, Measure, Rebuild, WriteVectors

SLOW_EPOCH_SHARE = 0.5      # an epoch that leaves more than this share of the gap is followed by sweeps


class Passes(BlockAscent):
    """Improves the blocks of the run's `BlockFrankWolfe` rule, and measures the weights."""

    def __init__(self, run, measured):
        super().__init__(measured, run.context.epochs)
        self.run, self.rule, self.dual, self.estimate = run, run.model.parts.update, run.model.parts.update.dual, float("inf")
        if not run.resumed:
            self.dual.begin(run.n_examples)

    @property
    def weights(self):
        return self.run.model.parts.weights

    @property
    def stop_requested(self) -> bool:
        return self.run.stop_requested

    def take_over(self, dual):
        """Goes on from the dual solution of another training."""
        parts, rows = self.run.model.parts, self.run.rows

        def check(i, y):
            x = rows.example(i)
            x.n_atoms = parts.features.n_atoms(x)
            parts.outputs.check_structure(x, y[0] if isinstance(parts.outputs, LabelOutputs) else y)

        self.dual.take_over(dual.state(), check)
        self.rebuild()
        self.dual.taken_over()

    def epoch(self) -> float:
        """Steps on every block. Returns the sum of the gaps before them, about the gap at the epoch's beginning."""
        run, before = self.run, self.estimate
        run.begin_epoch()
        passed = run.run(run.order(), self.rule, self.rule.dual.margin)
        self.estimate, self.rule.estimate = self.rule.estimate, 0.0
        if self.estimate > SLOW_EPOCH_SHARE * before:
            self.sweep(SWEEP_GAP_SHARE * self.estimate)
        run.end_epoch(passed)
        return self.estimate

    def sweep(self, enough):
        """Improves all blocks together over the structures that they hold, where these are few."""
        w = self.weights.vector()
        if w is None:
            return
        vectors = WriteVectors(self.dual, self.weights.features)
        if not vectors.fits:
            return
        self.visit(vectors)
        replaced = vectors.exchange(vectors.sweep(w, enough))
        try:
            self.rebuild()
        except BaseException:
            vectors.exchange(replaced)
            raise

    def measure(self) -> Certificate:
        """P and D at the weights w(a), which are written anew before."""
        self.rebuild()
        sums = self.visit(Measure(self.dual))
        objective = sums.square / 2 + sums.hinge
        return certified(objective, objective - (sums.losses - sums.square / 2))

    def rebuild(self):
        weights, run = self.weights, self.run
        kept, n_visited = weights.state(), weights.n_visited
        try:
            weights.start(run.model.parts, run.context)
            weights.announce(run.rows)
            self.visit(Rebuild(self.dual))
        except BaseException:
            weights.n_visited = n_visited
            weights.restore(kept)
            raise

    def complete(self) -> float:
        """Completes the gold outputs; returns by how much C times the sum of the completions' scores grew."""
        completed = self.visit(Complete(self.dual))
        self.dual.adopt_completions()
        return completed.gain

    def visit(self, rule):
        """Makes one pass over the examples with this rule, in file order, and returns the rule."""
        self.run.pass_without_record(self.run.active, rule, self.dual.margin)
        return rule

    def keep(self):
        """The state that `give_back` returns to."""
        return self.dual.state(), self.weights.n_visited, self.weights.state()

    def give_back(self, kept):
        dual, self.weights.n_visited, weights = kept
        self.dual.restore(dual)
        self.weights.restore(weights)
