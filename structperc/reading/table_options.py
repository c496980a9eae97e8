"""The options of `TableReader`, checked: what is to become of each column."""

from __future__ import annotations

import numbers
from collections.abc import Mapping

import attrs
import numpy as np

from structperc.basics.errors import OptionError, did_you_mean, shortened
from structperc.reading.cells import MISSING_WORDS
from structperc.reading.column_codes import STATISTICS, as_level, level_of

REST = "*"                  # means all columns that an option does not name


@attrs.frozen
class TableOptions:
    """What becomes of the columns that are named; parameters of `structperc.reading.table_reader.TableReader`."""

    drop: tuple = ()
    one_hot: Mapping = attrs.field(factory=dict)
    ordinal: Mapping = attrs.field(factory=dict)
    date: Mapping = attrs.field(factory=dict)
    fill: Mapping = attrs.field(factory=dict)
    missing_indicators: bool = False
    number: Mapping = attrs.field(factory=dict)
    missing: Mapping = attrs.field(factory=dict)
    reference: Mapping = attrs.field(factory=dict)

    @classmethod
    def read(cls, drop=(), one_hot=(), ordinal=(), date=(), fill=None, missing_indicators=False, number=(), missing=(), reference=()):
        """The options as users give them."""
        if not isinstance(missing_indicators, bool):
            raise OptionError(f"missing_indicators={shortened(missing_indicators)}; expected True or False.")
        options = cls(names("drop", drop), named_levels(one_hot), orders(ordinal), formats(date), fills(fill), missing_indicators,
                      points(number), missing_words(missing), reference_levels(reference))
        if missing_indicators and not options.fill:
            raise OptionError("missing_indicators=True marks filled cells; set fill too.")
        kinds = {}
        for kind in ("drop", "one_hot", "ordinal", "date", "number"):
            for name in getattr(options, kind):
                if name in kinds:
                    raise OptionError(f"column {name!r} is in both {kinds[name]} and {kind}; name it in one of them.")
                kinds[name] = kind
        return options

    @property
    def column_names(self) -> tuple:
        """All columns that options name."""
        return tuple(name for name in (*self.drop, *self.one_hot, *self.ordinal, *self.date, *self.number, *self.fill, *self.reference)
                     if name != REST)

    @property
    def texts(self) -> tuple:
        """The columns whose cells are read as text."""
        return (*self.one_hot, *self.ordinal, *self.date, *self.number)

    def levels(self, name):
        """The levels that an option names for a column, None: no option does."""
        return self.ordinal.get(name) or self.one_hot.get(name)

    def forms(self, name) -> dict:
        """How the cells of a column are written, as attributes of its code."""
        return {"date_format": self.date.get(name), "decimal": self.number.get(name), "missing": self.missing_words(name),
                "reference": self.reference.get(name)}

    def missing_words(self, name) -> frozenset:
        """The texts that mean in a column that nothing is known."""
        return self.missing.get(name, self.missing.get(REST, MISSING_WORDS))

    def kind(self, column) -> str:
        """What a column becomes; what nothing names goes by its type."""
        for kind in ("one_hot", "ordinal", "date", "number"):
            if column.name in getattr(self, kind):
                return kind
        if column.categories is not None:
            return "ordinal" if column.ordered else "one_hot"
        return "date" if column.kind == "date" else "number"

    def filling(self, name, kind):
        """What fills the missing cells of a column, None: nothing."""
        if name in self.fill:
            return self.fill[name]
        rest = self.fill.get(REST)
        if rest in STATISTICS or rest is None:
            return rest
        text = isinstance(rest, str)
        return rest if text == (kind in ("one_hot", "ordinal")) and kind != "date" else None

    def check_names(self, columns) -> None:
        """Raises an error for columns that the table has not."""
        for name in self.column_names:
            if name not in columns:
                hint = did_you_mean(name, columns)
                raise OptionError(f"there is no column {name!r} in the table; its columns are "
                                  f"{', '.join(map(repr, list(columns)[:10]))}{', ...' if len(columns) > 10 else ''}.{hint}")

    def check_fills(self, columns) -> None:
        """Raises an error for a misspelt statistic: a text close to one, unless it is a level of a column that it could fill."""
        for name, fill in self.fill.items():
            hint = did_you_mean(fill, STATISTICS) if isinstance(fill, str) else ""
            if hint and not any(fill in map(level_of, column.cells()) or fill in self.ordinal.get(column.name, ())
                                for column in (columns.values() if name == REST else [columns[name]])):
                raise OptionError(f"fill={shortened(fill)}; expected one of {', '.join(STATISTICS)}, a number, or a level.{hint}")


def names(option, value) -> tuple:
    """A list of names."""
    if isinstance(value, str) or not hasattr(value, "__iter__") or not all(isinstance(name, str) for name in value):
        raise OptionError(f"{option}={shortened(value)}; expected a list of names of columns.")
    return tuple(value)


def named_levels(value) -> dict:
    """The columns of categories, each with its levels or None: those of the training data."""
    if not isinstance(value, Mapping):
        return dict.fromkeys(names("one_hot", value))
    return {name: None if levels is None else order("one_hot", name, levels) for name, levels in value.items()}


def orders(value) -> dict:
    """The levels of columns, lowest first."""
    if not isinstance(value, Mapping):
        if value:
            raise OptionError(f"ordinal={shortened(value)}; expected a dict from names of columns to their levels, lowest first.")
        return {}
    return {name: order("ordinal", name, levels) for name, levels in value.items()}


def order(option, name, levels) -> tuple:
    """The levels of a column, at least two different ones."""
    listed = isinstance(levels, (list, tuple)) and all(isinstance(level, (str, numbers.Real, np.bool_)) for level in levels)
    texts = tuple(level if isinstance(level, str) else as_level(level) for level in levels) if listed else ()
    if not isinstance(name, str) or len(set(texts)) < max(2, len(texts)):
        raise OptionError(f"{option} names {shortened(levels)} for column {name!r}; expected at least two different levels, lowest "
                          f"first.")
    return texts


def points(value) -> dict:
    """The columns of numbers as people write them, each with the character before decimals."""
    if not isinstance(value, Mapping):
        return dict.fromkeys(names("number", value), ".")
    for name, point in value.items():
        if not isinstance(name, str) or point not in (".", ","):
            raise OptionError(f"number={shortened(value)}; expected names of columns, or a dict from names to the character before "
                              f"decimals, '.' or ','.")
    return dict(value)


def missing_words(value) -> dict:
    """The texts of missing cells by column, `REST` for all others. A list adds to the usual ones."""
    by_column = value if isinstance(value, Mapping) else {REST: value} if value is not None and len(value) else {}
    for name, words in by_column.items():
        if not isinstance(name, str) or not isinstance(words, (list, tuple, set, frozenset)) or not all(isinstance(w, str) for w in words):
            raise OptionError(f"missing={shortened(value)}; expected a list of texts, or a dict of such lists by column, {REST!r} for all "
                              f"others.")
    added = MISSING_WORDS if not isinstance(value, Mapping) else {""}
    return {name: frozenset(word.strip() for word in words) | added for name, words in by_column.items()}


def reference_levels(value) -> dict:
    """The level of each column with which the others are compared."""
    by_column = value if isinstance(value, Mapping) else {} if not value else None
    if by_column is None or not all(isinstance(name, str) and isinstance(level, (str, numbers.Real, np.bool_))
                                    for name, level in by_column.items()):
        raise OptionError(f"reference={shortened(value)}; expected a dict from names of columns to one of their levels.")
    return {name: level if isinstance(level, str) else as_level(level) for name, level in by_column.items()}


def formats(value) -> dict:
    """The forms of dates by column, None: ISO 8601."""
    if not isinstance(value, Mapping):
        return dict.fromkeys(names("date", value))
    for name, form in value.items():
        if not isinstance(name, str) or not (form is None or isinstance(form, str)):
            raise OptionError(f"date={shortened(value)}; expected names of columns, or a dict from names to forms such as '%d.%m.%Y'.")
    return dict(value)


def fills(value) -> dict:
    """What fills missing cells by column, `REST` for all others."""
    fill_of = dict(value) if isinstance(value, Mapping) else {} if value is None else {REST: value}
    for name, fill in fill_of.items():
        if not isinstance(name, str) or isinstance(fill, bool) or not isinstance(fill, (str, numbers.Real)) or fill != fill:
            raise OptionError(f"fill={shortened(value)}; expected one of {', '.join(STATISTICS)}, a number, a text, or a dict of these by "
                              f"column, {REST!r} for all others.")
    return fill_of
