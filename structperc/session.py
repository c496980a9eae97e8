"""What training makes, and one training run: the data, what to visit and what to record."""

from __future__ import annotations

import attrs
import numpy as np

from structperc import data as reading
from structperc.checks import attach_costs, check_weights, not_finite, refuse_not_finite
from structperc.core.adapters import overrides
from structperc.core.errors import DataError
from structperc.core.loop import Loop, NotFinite
from structperc.task import Task


@attrs.define(eq=False)
class Parts:
    """The components of one fit."""

    reader: object
    outputs: object
    features: object
    argmax: object
    loss: object
    update: object
    weights: object
    trainer: object


@attrs.define(eq=False)
class Fitted:
    """Everything that training makes; an engine has one, or none."""

    task: Task
    parts: Parts
    loop: Loop
    options: dict                   # the engine's own, as they were when training began
    mistakes: list = attrs.field(factory=list)
    loss: float = 0.0
    status: str | None = None
    online: list | None = None
    weighted: bool = False          # whether sample weights were ever given
    streaming: bool = False         # whether the last entry of mistakes belongs to partial_fit

    def feature_name(self, j) -> str:
        """What column j is called: by X, by the reader, or x[j]."""
        known = self.task.feature_names
        name = self.parts.reader.feature_name(j) if known is None else known[j]
        return f"x[{j}]" if name is None else name


def make_room(fitted, rows) -> None:
    """Prepares the loop for examples like these."""
    features = fitted.parts.features
    if features.fixed_atoms < 0 or rows.offsets is not None or rows.objects or not fitted.loop.ready:
        features.check_rows(rows)
        fitted.loop.reserve(features.max_atoms(rows))


def restrict(parts, rows, allowed) -> None:
    """Restricts Y(x) of these examples to what the user allows."""
    if allowed is None:
        return
    if not parts.argmax.restricts:
        raise DataError(f"allowed was given, but {type(parts.argmax).__name__} does not heed it; leave it out.")
    rows.restrict(parts.outputs.encode_allowed(allowed, rows))


class Session:
    """One training run: the data, what to visit and what to record. Trainers drive it.

    `before` is what the engine's last training made (`Fitted`), or None.
    """

    before = None
    weights = active = online = status = None
    weighted = False
    stop_requested = False

    def __init__(self, engine, fitted, rows, y, sample_weight, costs):
        self.engine, self.fitted, self.task = engine, fitted, fitted.task
        parts = fitted.parts
        self.gold = parts.outputs.encode(y, rows)
        parts.outputs.check_gold(self.gold, rows, parts.features)
        if sample_weight is None and fitted.weighted:
            sample_weight = 1.0                 # the parts compare it with earlier weights
        if sample_weight is not None:
            self._weigh(reading.sample_weights(sample_weight, rows.n_examples))
        if costs is not None or parts.loss.per_example:
            attach_costs(parts.loss, costs, self.gold, rows.n_examples)
        if not parts.weights.primal:
            refuse_not_finite(rows)
        if rows.sparse and (not parts.weights.primal or overrides(parts.update, "step")
                            or parts.update.norms and not parts.features.adds_repeated):
            rows = reading.canonical(rows)
        self.rows = rows

    def _weigh(self, weights):
        check_weights(self.task, self.fitted.parts, weights)
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
            return self.fitted.loop.run(self.rows, self.gold, order, self.weights, online)
        except NotFinite as error:
            raise not_finite(self.rows, error.index) from None

    def _record(self, passed):
        fitted = self.fitted
        if self.engine._session is self:
            fitted.mistakes.append(passed.mistakes)
        else:
            fitted.mistakes[-1] += passed.mistakes      # partial_fit: one entry for the stream
        fitted.loss += passed.loss
        fitted.weighted |= self.weighted

    def epoch_end(self, record):
        """Tells all observers."""
        self.engine._manager.hook.structperc_epoch_end(engine=self.engine, record=record)
