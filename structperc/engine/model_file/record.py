"""The record of training in a header. Each fact of it is declared once: name, type, bound and form in JSON."""

from __future__ import annotations

import attrs
import numpy as np

from structperc.basics.errors import DataError
from structperc.engine.model_file.header import field

NOT_FINITE = {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}        # sums of losses that JSON has no numbers for


def unchanged(value):
    return value


@attrs.frozen
class Fact:
    """An attribute of `Model` that describes its training."""
    # types: tuple of types. Of its value in JSON.
    # to_json, from_json: functions. `from_json` raises a DataError for a value that is out of range.
    # low: float, optional. Least value in JSON.
    # key: str. In the header. Default: the attribute.

    attribute: str
    types: tuple
    to_json: object = unchanged
    from_json: object = unchanged
    low: float | None = None
    key: str = attrs.field()

    @key.default
    def _(self):
        return self.attribute

    def read(self, record):
        """The value of the attribute."""
        return self.from_json(field(record, self.key, *self.types, low=self.low))


def counts(values) -> list:
    if not all(type(value) is int and value >= 0 for value in values):
        raise DataError(f"'mistakes' of the header is {values!r:.60}; expected whole numbers, at least 0.")
    return values


def sum_to_json(value):
    return float(value) if np.isfinite(value) else repr(float(value))


def sum_from_json(value) -> float:
    return NOT_FINITE[value] if type(value) is str else float(value)


def totals(values) -> tuple:
    if len(values) != 2:
        raise DataError(f"'weighed' of the header is {values!r:.60}; expected two numbers.")
    values = dict(zip(("n", "total"), values, strict=True))
    return field(values, "n", int, low=0), float(field(values, "total", float, int, low=0))


def above_zero(value) -> float:
    if value == 0:
        raise DataError("'temperature' of the header is 0; expected a number greater than 0.")
    return float(value)


FACTS = (
    Fact("mistakes", (list,), lambda values: [int(value) for value in values], counts),
    Fact("loss", (float, int, str), sum_to_json, sum_from_json),
    Fact("status", (str, type(None))),
    Fact("streaming", (bool,)),
    Fact("weighted", (bool,)),
    Fact("visit_totals", (list,), list, totals, key="weighed"),
    Fact("temperature", (float, int), float, above_zero, low=0),
    Fact("spread", (float, int), float, float, low=0),
)


def record_of(model) -> dict:
    """The record of a trained model, as the header has it."""
    return {fact.key: fact.to_json(getattr(model, fact.attribute)) for fact in FACTS}


def read_record(record) -> dict:
    """The attributes of `Model` that describe the training."""
    return {fact.attribute: fact.read(record) for fact in FACTS}
