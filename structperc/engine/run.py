"""One training run: the data, what to visit and what to record."""

from __future__ import annotations

import numpy as np

from structperc.core.errors import DataError, PluginError
from structperc.core.loop import NotFinite
from structperc.engine.compatibility import attach_costs, not_finite
from structperc.reading import matrices as reading


class TrainingRun:
    """One training run: the data, what to visit and what to record. Trainers drive it.

    Parameters
    ----------
    model : Model
    context : FitContext
        That of the model, with the sample weights of these examples.
    rows : Rows
    y, costs
        As `fit` takes them.
    online : list, optional
        Receives the predictions made before each step.
    before : Model, optional
        What the engine's last training made.
    observers : function of an `EpochRecord`, optional
        Called at the end of each epoch. Without it the run is one chunk of a stream, whose mistakes are one entry of the record.
    """

    status = None
    stop_requested = False

    def __init__(self, model, context, rows, y, costs=None, *, online=None, before=None, observers=None):
        self.model, self.context, self.online, self.before, self.observers = model, context, online, before, observers
        parts = model.parts
        self.gold = parts.outputs.encode(y, rows)
        if len(self.gold) != rows.n_examples:
            raise PluginError(f"{type(parts.outputs).__name__}.encode made {len(self.gold)} gold outputs for {rows.n_examples} examples.")
        parts.outputs.check_gold(self.gold, rows, parts.features)
        self.weights, self.active = visited(context.sample_weight)
        if costs is not None or parts.loss.example_costs:
            attach_costs(parts.loss, costs, self.gold, rows.n_examples)
        self.rows = parts.weights.prepare(rows)

    @property
    def n_examples(self):
        return self.rows.n_examples

    def run(self, order=None):
        """One pass; records what happened, also when it is cut short."""
        found = None if self.online is None else []
        try:
            passed = self.look(order, found)
        except KeyboardInterrupt as error:
            self._record(error.progress, order, found)
            raise
        self._record(passed, order, found)
        return passed

    def look(self, order=None, online=None):
        """One pass of which nothing is recorded."""
        try:
            return self.model.loop.run(self.rows, self.gold, order, self.weights, online)
        except NotFinite as error:
            raise not_finite(self.rows, error.index) from None

    def _record(self, passed, order, found):
        model = self.model
        if found:
            outputs = model.parts.outputs
            structures = found[0] if outputs.code_width == 1 else found
            visits = range(passed.visited) if order is None else order[:passed.visited]
            self.online.append(outputs.decode_many(structures, self.rows, visits))
        if self.observers is None:
            model.mistakes[-1] += passed.mistakes
        else:
            model.mistakes.append(passed.mistakes)
        model.loss += passed.loss
        model.weighted |= self.context.sample_weight is not None

    def epoch_end(self, record):
        """Tells all observers."""
        self.observers(record)


def visited(sample_weight):
    """The weights as the loop takes them, None where all are 1, and the examples that have one, None where all do."""
    if sample_weight is None:
        return None, None
    active = None if sample_weight.all() else np.flatnonzero(sample_weight)
    if active is not None and len(active) == 0:
        raise DataError("all sample weights are zero, so there is nothing to learn from.")
    return None if (sample_weight == 1).all() else sample_weight, active
