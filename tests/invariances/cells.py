"""The cells of the table: every problem, with each declared value of each option once, found in the registry."""

from __future__ import annotations

import copy
import warnings

import attrs
import numpy as np

from structperc.engine import plugins as registry
from structperc.engine.engine import REQUIRED
from structperc.engine.options import ENGINE_OPTIONS
from structperc.errors import StructPercError
from structperc.testing.case import make_case


@attrs.frozen
class Cell:
    """A problem and the options that differ from the preset."""

    problem: str
    plugins: tuple
    options: tuple

    def __str__(self):
        return " ".join([self.problem, *self.plugins, *(f"{name}={value}" for name, value in self.options)])


def values(declared) -> tuple:
    """The values that an option declares: its choices, or both truth values."""
    return declared.choices or ((False, True) if isinstance(declared.default, bool) else ())


def problems() -> list[str]:
    """All whole problems that are installed."""
    return sorted(plugin.name for plugin in registry.all_loaded() if not plugin.broken and set(REQUIRED) <= set(plugin.hooks))


def variants(problem) -> list[tuple]:
    """Pairs of further plugins and one option, with a value that something declares."""
    own = registry.load(problem).options
    found = [((), (name, value)) for name, declared in {**ENGINE_OPTIONS, **own}.items() if name != "preset"
             for value in values(declared) if value != declared.default]
    for plugin in registry.all_loaded():
        if plugin.broken or plugin.name == problem or (plugin.problem and plugin.problem != problem):
            continue
        further = () if set(REQUIRED) <= set(plugin.hooks) else (plugin.name,)
        if further:
            found += [(further, ("trainer", value)) for value in plugin.trainers or ()]
            found += [(further, ("update", value)) for value in plugin.updates or ()]
            found += [(further, (name, value)) for name, declared in plugin.options.items() for value in values(declared)]
    return found


def cells() -> list[Cell]:
    """All cells. Some of them are refused when they are trained."""
    return [Cell(problem, plugins, (("preset", preset), *chosen)) for problem in problems()
            for preset in values(ENGINE_OPTIONS["preset"])
            for plugins, chosen in [((), ()), *((further, (one,)) for further, one in variants(problem))]]


@attrs.define(eq=False)
class Trained:
    """What a cell learned from its examples."""

    case: object
    engine: object
    X: np.ndarray
    offsets: object
    y: object
    n_fixed: int        # leading columns that describe the structure

    @property
    def told(self):
        return {} if self.offsets is None else {"offsets": self.offsets}

    def fit(self, X=None, y=None, told=None, **changed):
        """A new engine of the same options, trained on changed examples."""
        told = self.told if told is None else told
        return quiet(self.case.engine(**changed).fit, self.X if X is None else X, self.y if y is None else y, **told)

    def changed(self, change):
        """X after a change of the columns that are features."""
        return np.column_stack([self.X[:, :self.n_fixed], change(self.X[:, self.n_fixed:])])


def quiet(call, *arguments, **told):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*arguments, **told)


def trained(cell, seed=0):
    """The cell, trained; None if the library refuses these options together, or examples are no tables."""
    options = dict(cell.options)
    try:
        case = make_case(cell.problem, cell.plugins, options, seed)
        data = copy.deepcopy(case.taught)
        rows = case.rows_of(data)
        if rows.objects or (isinstance(data.X, list) and any(np.ndim(block) != 2 for block in data.X)):
            return None
        X, offsets = data.X, data.offsets
        if isinstance(X, list):
            X, offsets = np.vstack(X), np.append(0, np.cumsum([len(block) for block in X]))
        one = Trained(case, None, X, offsets, data.y, X.shape[1] - rows.n_features)
        one.engine = one.fit()
    except StructPercError:
        return None
    return one
