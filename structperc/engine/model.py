"""What a fit makes: the parts, and the model that they are together."""

from __future__ import annotations

import attrs

from structperc.core.errors import DataError
from structperc.core.loop import Loop
from structperc.engine.context import FitContext


@attrs.define(eq=False)
class Parts:
    """The components of one fit, in the order in which they are started and checked."""

    reader: object
    outputs: object
    features: object
    weights: object
    loss: object
    argmax: object
    update: object
    trainer: object

    def items(self) -> list:
        """Pairs of names and components."""
        return list(attrs.asdict(self, recurse=False).items())

    def start(self, context) -> None:
        """Begins the life cycle of a fit: every part takes the others and the options."""
        for _, part in self.items():
            part.start(self, context)


@attrs.define(eq=False)
class Model:
    """Everything that training makes; an engine has one, or none."""

    context: FitContext
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
        known = self.context.feature_names
        name = self.parts.reader.feature_name(j) if known is None else known[j]
        return f"x[{j}]" if name is None else name


def make_room(model, rows) -> None:
    """Prepares the loop for examples like these."""
    features = model.parts.features
    if features.atoms_per_example < 0 or rows.offsets is not None or rows.objects or not model.loop.ready:
        features.check_rows(rows)
        model.loop.reserve(features.max_atoms(rows))


def restrict(parts, rows, allowed) -> None:
    """Restricts Y(x) of these examples to what the user allows."""
    if allowed is None:
        return
    if not parts.argmax.heeds_allowed:
        raise DataError(f"allowed was given, but {type(parts.argmax).__name__} does not heed it; leave it out.")
    rows.restrict(parts.outputs.encode_allowed(allowed, rows))
