"""One training run: the data of a fit or of a chunk, the passes over them and their record."""

from __future__ import annotations

import time

import numpy as np

from structperc.core.errors import DataError, PluginError
from structperc.core.loop import NotFinite
from structperc.core.shuffle import shuffled
from structperc.engine.compatibility import attach_costs, not_finite
from structperc.engine.trainers import EpochRecord


class TrainingRun:
    """The data of one fit, and the passes that a trainer makes over them.

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
        The result of the engine's last training.
    observers : function of an `EpochRecord`, optional
        Called at the end of each epoch. Without it the run is one chunk of a stream, whose mistakes are one entry of the record.

    Attributes
    ----------
    rows : Rows
        The examples as the weights see them.
    gold : Structures
    weights : float64 array or None
        Sample weights; None: all are 1.
    active : int64 array or None
        The examples with a weight, in file order; None: all.
    epoch : int
        The number of the epoch under way, from 1; 0 before the first.
    stop_requested : bool
        Whether an observer asked to end after this epoch.
    """

    epoch = 0
    stop_requested = False

    def __init__(self, model, context, rows, y, costs=None, *, online=None, before=None, observers=None):
        self.model, self.context, self.online, self.before, self.observers = model, context, online, before, observers
        parts = model.parts
        self.gold = parts.outputs.encode(y, rows)
        if len(self.gold) != rows.n_examples:
            raise PluginError(f"{type(parts.outputs).__name__}.encode made {len(self.gold)} gold outputs for {rows.n_examples} examples.")
        parts.outputs.check_gold(self.gold, rows, parts.features)
        self.weights, self.active = (None, None) if context.sample_weight is None else visited(context.sample_weight)
        if costs is not None or parts.loss.example_costs:
            attach_costs(parts.loss, costs, self.gold, rows.n_examples)
        self.rows = parts.weights.prepare(rows)

    @property
    def n_examples(self):
        return self.rows.n_examples

    def order(self):
        """The examples in the order of the next epoch, an int64 array; None: all in file order. Shuffles anew each time."""
        if not self.context.shuffle:
            return self.active
        return shuffled(self.n_examples if self.active is None else self.active, self.context.random)

    def begin_epoch(self) -> None:
        """Counts an epoch and starts its clock."""
        self.epoch += 1
        self._began = time.perf_counter()

    def end_epoch(self, passed) -> None:
        """Tells all observers of the epoch, whose pass this was."""
        self.observers(EpochRecord(self.epoch, self.context.epochs, passed.visited, passed.mistakes, passed.updates, passed.loss,
                                   time.perf_counter() - self._began))

    def run(self, order=None, rule=None, loss_weight=0.0):
        """One pass; its mistakes and losses are recorded, also when it is cut short.

        Parameters
        ----------
        order : int64 array, optional
            The examples to visit; without it all in file order.
        rule : Update, optional
            Takes the place of the model's own rule in this pass. The pass makes the search that the rule asks for.
        loss_weight : float
            That of an augmented search for `rule`.

        Returns
        -------
        structperc.core.loop.PassResult
        """
        predictions = None if self.online is None else []
        try:
            passed = self.pass_without_record(order, rule, loss_weight, predictions)
        except KeyboardInterrupt as error:
            self._record(error.progress, order, predictions)
            raise
        self._record(passed, order, predictions)
        return passed

    def pass_without_record(self, order=None, rule=None, loss_weight=0.0, online=None):
        """One pass that the engine's record does not show; parameters as of `run`."""
        loop = self.model.loop
        try:
            if rule is None:
                return loop.run(self.rows, self.gold, order, self.weights, online)
            return loop.run_with(rule, loss_weight, self.rows, self.gold, order, self.weights, online)
        except NotFinite as error:
            raise not_finite(self.rows, error.index) from None

    def _record(self, passed, order, predictions):
        model = self.model
        if predictions:
            outputs = model.parts.outputs
            structures = predictions[0] if outputs.code_width == 1 else predictions
            visits = range(passed.visited) if order is None else order[:passed.visited]
            self.online.append(outputs.decode_many(structures, self.rows, visits))
        if self.observers is None:
            model.mistakes[-1] += passed.mistakes
        else:
            model.mistakes.append(passed.mistakes)
        model.loss += passed.loss
        model.weighted |= self.context.sample_weight is not None


def visited(sample_weight):
    """The weights as the loop takes them, None where all are 1, and the examples that have one, None where all do."""
    active = None if sample_weight.all() else np.flatnonzero(sample_weight)
    if active is not None and len(active) == 0:
        raise DataError("all sample weights are zero, so there is nothing to learn from.")
    return None if (sample_weight == 1).all() else sample_weight, active
