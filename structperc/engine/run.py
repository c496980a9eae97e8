"""One training run: the data, what to visit and what to record."""

from __future__ import annotations

import numpy as np

from structperc.core.adapters import overrides
from structperc.core.errors import DataError
from structperc.core.loop import NotFinite
from structperc.engine.compatibility import attach_costs, check_weights, not_finite, refuse_not_finite
from structperc.reading import matrices as reading


class TrainingRun:
    """One training run: the data, what to visit and what to record. Trainers drive it.

    `before` is what the engine's last training made (`Model`), or None.
    """

    before = None
    weights = active = online = status = None
    weighted = False
    stop_requested = False

    def __init__(self, engine, model, rows, y, sample_weight, costs):
        self.engine, self.model, self.context = engine, model, model.context
        parts = model.parts
        self.gold = parts.outputs.encode(y, rows)
        parts.outputs.check_gold(self.gold, rows, parts.features)
        if sample_weight is None and model.weighted:
            sample_weight = 1.0                 # the parts compare it with earlier weights
        if sample_weight is not None:
            self._weigh(reading.sample_weights(sample_weight, rows.n_examples))
        if costs is not None or parts.loss.example_costs:
            attach_costs(parts.loss, costs, self.gold, rows.n_examples)
        if not parts.weights.primal:
            refuse_not_finite(rows)
        if rows.sparse and (not parts.weights.primal or overrides(parts.update, "step")
                            or parts.update.norms and not parts.features.adds_repeated):
            rows = reading.canonical(rows)
        self.rows = rows

    def _weigh(self, weights):
        check_weights(self.context, self.model.parts, weights)
        if not weights.all():
            self.active = np.flatnonzero(weights)
            if len(self.active) == 0:
                raise DataError("all sample weights are zero, so there is nothing to learn from.")
        if not (weights == 1).all():
            self.weights = weights
        self.weighted = True

    @property
    def n_examples(self):
        return self.rows.n_examples

    def run(self, order=None):
        """One pass; records what happened, also when it is cut short."""
        try:
            passed = self.look(order, self.online)
        except KeyboardInterrupt as error:
            self._record(error.progress)
            raise
        self._record(passed)
        return passed

    def look(self, order=None, online=None):
        """One pass of which nothing is recorded."""
        try:
            return self.model.loop.run(self.rows, self.gold, order, self.weights, online)
        except NotFinite as error:
            raise not_finite(self.rows, error.index) from None

    def _record(self, passed):
        model = self.model
        if self.engine._run is self:
            model.mistakes.append(passed.mistakes)
        else:
            model.mistakes[-1] += passed.mistakes      # partial_fit: one entry for the stream
        model.loss += passed.loss
        model.weighted |= self.weighted

    def epoch_end(self, record):
        """Tells all observers."""
        self.engine._manager.hook.structperc_epoch_end(engine=self.engine, record=record)
