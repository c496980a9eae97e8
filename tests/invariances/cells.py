"""The cells of the table: every problem, with each declared value of each option once, found in the registry."""

from __future__ import annotations

import copy
import warnings

import attrs
import numpy as np

from structperc.engine.engine import REQUIRED
from structperc.errors import StructPercError
from structperc.fitting import plugins as registry
from structperc.fitting.options import ENGINE_OPTIONS
from structperc.testing.case import make_case

STRUCTURES = 8         # of a cell


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
    """All cells. Some of them raise an error when they are trained."""
    return [Cell(problem, plugins, (("preset", preset), *chosen)) for problem in problems()
            for preset in values(ENGINE_OPTIONS["preset"])
            for plugins, chosen in [((), ()), *((further, (one,)) for further, one in variants(problem))]]


@attrs.define(eq=False)
class Trained:
    """What a cell learned from its examples."""

    case: object
    X: object           # rows, or a list of tables of pairs
    offsets: object
    y: object
    n_fixed: int        # leading columns that describe the structure
    options: dict = attrs.field(factory=dict)
    fitting: dict = attrs.field(factory=dict)
    engine: object = None

    @property
    def n_examples(self):
        return len(self.X) if self.offsets is None else len(self.offsets) - 1

    @property
    def told(self):
        return {} if self.offsets is None else {"offsets": self.offsets}

    def fit(self, X=None, y=None, told=None, **changed):
        """A new engine of the same options, trained on changed examples."""
        told = self.told if told is None else told
        return quiet(self.case.engine(**{**self.options, **changed}).fit, self.X if X is None else X, self.y if y is None else y,
                     **{**self.fitting, **told})

    def under(self, **options):
        """The same examples with other options."""
        other = attrs.evolve(self, options={**self.options, **options})
        other.engine = other.fit()
        return other

    def under_weights(self):
        """The same examples with drawn weights."""
        other = attrs.evolve(self, fitting={"sample_weight": np.random.default_rng(0).uniform(0.5, 2, self.n_examples)})
        other.engine = other.fit()
        return other

    def take(self, numbers):
        """The examples with these numbers: X, y, and how rows make examples."""
        data = type(self.case.data)(self.X, self.offsets, self.y).take(numbers)
        return data.X, data.y, {} if data.offsets is None else {"offsets": data.offsets}

    def changed(self, change):
        """X after a change of the columns that are features."""
        if isinstance(self.X, list):
            return [change(block.reshape(-1, block.shape[-1])).reshape(*block.shape[:-1], -1) for block in self.X]
        return np.column_stack([self.X[:, :self.n_fixed], change(self.X[:, self.n_fixed:])])


def quiet(call, *arguments, **told):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*arguments, **told)


def few(data):
    """Some structures, which cost a search each; all rows that are examples by themselves."""
    if not isinstance(data.X, list) and data.offsets is None:
        return data
    n_examples = len(data.X) if data.offsets is None else len(data.offsets) - 1
    return data.take(np.arange(min(n_examples, STRUCTURES)))


def trained(cell, seed=0):
    """The cell, trained; None if these options raise an error together, or examples are no numbers."""
    options = dict(cell.options)
    try:
        case = make_case(cell.problem, cell.plugins, options, seed)
        data = few(copy.deepcopy(case.taught))
        rows = case.rows_of(data)
        if rows.objects:
            return None
        X, offsets = data.X, data.offsets
        if isinstance(X, list):
            X = [np.round(block * 1024) / 1024 for block in X]
        if isinstance(X, list) and X[0].ndim == 2:
            X, offsets = np.vstack(X), np.append(0, np.cumsum([len(block) for block in X]))
        one = Trained(case, X, offsets, data.y, 0 if isinstance(X, list) else X.shape[1] - rows.n_features)
        one.engine = one.fit()
    except StructPercError:
        return None
    return one
