"""What is known before training."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

import attrs
import numpy as np

from structperc.basics.errors import DataError, did_you_mean
from structperc.reading import matrices

# Where the examples of the trainings of this thread are, if not in their runs; see `structperc.distributed.training.Elsewhere`.
SHARDS_ELSEWHERE = ContextVar("SHARDS_ELSEWHERE", default=None)


FACTS = ("n_features", "feature_names", "sparse", "objects", "labels", "n_labels", "random", "sample_weight", "visit_weight")
OFTEN = {"classes": "labels", "classes_": "labels", "n_classes": "n_labels", "rng": "random", "random_state": "random",
         "n_features_in_": "n_features", "feature_names_in_": "feature_names", "columns": "feature_names"}      # what authors guess


class Reads:
    """Which options hooks and parts read while an engine makes its parts."""
    # changed: dict. The options that are not at their defaults, and their values.
    # current: dict. The options that were read since the last part, in order.
    # by: dict of str to set of str. For each kind of part the options that its hook and its `start` have read.
    # called: set of Plugin. The plugins of which a hook was called.

    def __init__(self, changed):
        self.changed, self.current, self.by, self.called = changed, {}, {}, set()

    def keep(self, n) -> None:
        """Forgets all but the first n options of `current`: who has read them since returns no part."""
        while len(self.current) > n:
            self.current.popitem()

    def assign(self, kind) -> None:
        """The part of this kind has read the options of `current`."""
        self.by.setdefault(kind, set()).update(self.current)
        self.current.clear()


class PluginOptions(Mapping):
    """The options of the plugins by name, as hooks see them; `reads` records who reads them."""

    def __init__(self, values, reads):
        self.values_by_name, self.reads = values, reads

    def __getitem__(self, name):
        if name not in self.values_by_name:
            raise KeyError(f"the plugins have no option {name!r}.{did_you_mean(name, self.values_by_name)} "
                           f"Their options are {', '.join(self.values_by_name) or 'none'}.")
        self.reads.current[name] = None
        value = self.values_by_name[name]
        return copy.copy(value) if type(value) in (list, dict, set) else value      # a hook may change what it gets

    def __contains__(self, name):
        return name in self.values_by_name

    def __iter__(self):
        return iter(self.values_by_name)

    def __len__(self):
        return len(self.values_by_name)

    def __repr__(self):
        return repr(self.values_by_name)


class NotBegun(Exception):
    """Ends a fit before it begins: the caller only asks what it would begin with, and no observer hears of it."""


@attrs.frozen(eq=False, slots=False)
class FitContext:
    """What every hook is told.

    The engine's options about the training are attributes too: `context.update`, `context.margin`, ... `context.loss` is the outputs'
    default if the user named none.

    Attributes
    ----------
    n_features : int
        Columns of X; 0 when X is a list of objects.
    sparse, objects : bool
        Whether X is a sparse matrix, or a list of objects.
    n_labels : int
        How many labels there are; 0 for outputs without labels.
    labels : ndarray or None
        The labels in order; None while the output space is being made, and for outputs without labels.
    feature_names : tuple of str or None
    options : mapping
        The plugins' own options, defaults filled in.
    random : numpy.random.Generator
        The one generator of this fit.
    sample_weight : ndarray of shape (n_examples,) or None
        The scale of steps. Only `check` has it.
    visit_weight : ndarray of shape (n_examples,) or None
        In its place with weighting="visits": how often examples are visited, but for a factor.
    reads : Reads or None
        Who reads the options, as long as the engine makes its parts; None: that is not recorded.

    Examples
    --------
    >>> from structperc import Engine, hookimpl
    >>> class Shown:
    ...     @hookimpl
    ...     def structperc_loss(self, context):
    ...         self.facts = context.n_features, context.labels.tolist(), context.epochs
    >>> shown = Shown()
    >>> _ = Engine("cusum", plugins=[shown], epochs=3).fit([[0.0], [1.0]], [1, 2])
    >>> shown.facts
    (1, [1, 2], 3)
    """

    engine_options: Mapping[str, Any]
    options: Mapping[str, Any]
    random: np.random.Generator
    n_features: int = 0
    sparse: bool = False
    objects: bool = False
    feature_names: tuple[str, ...] | None = None
    labels: np.ndarray | None = None
    sample_weight: np.ndarray | None = None
    visit_weight: np.ndarray | None = None
    reads: Reads | None = None

    def __attrs_post_init__(self):
        if self.reads is None:                      # else `__getattr__` records who reads them
            vars(self).update(self.engine_options)  # plain attributes: looked up for every call of partial_fit

    def __getattr__(self, name):
        options = object.__getattribute__(self, "engine_options")
        if name not in options:
            hint = f" Did you mean {OFTEN[name]!r}?" if name in OFTEN else did_you_mean(name, [*FACTS, *options])
            raise AttributeError(f"a context has no {name!r}.{hint} It has the data's "
                                 f"{', '.join(FACTS)}; the engine's options {', '.join(options)}; and those of plugins in context.options.")
        self.reads.current[name] = None
        return options[name]

    def settle(self) -> None:
        """From now on nothing is recorded."""
        vars(self).update(self.engine_options, reads=None)

    @property
    def n_labels(self) -> int:
        return 0 if self.labels is None else len(self.labels)


def check_same(context, rows) -> None:
    """Raises `DataError` if the number or names of columns are not those of the first fit. The message names them.

    Parameters
    ----------
    context : FitContext
        Of the first fit.
    rows : Rows
        Later data.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.plugin_tools import check_same
    >>> engine = Engine("cusum", preset="paper").fit([[0.0], [1.0]], [1, 2])
    >>> check_same(engine.model_.context, engine.read([[3.0]]))
    """
    if rows.objects != context.objects:
        raise DataError("X is a list of objects, but this model was trained on rows." if rows.objects
                        else "X has rows of numbers, but this model was trained on a list of objects.")
    check_columns(context, rows.n_features, rows.feature_names)


def check_columns(context, n_features, names) -> None:
    """Raises an error for other columns than those of the training, by number and name."""
    if n_features != context.n_features:
        raise DataError(f"X has {n_features} features, but this model was trained with {context.n_features} features"
                        f"{matrices.other_columns(names, context.feature_names)}; pass the same columns in the same order.")
    if names is not None and context.feature_names is not None and names != context.feature_names:
        j = next(i for i, (a, b) in enumerate(zip(names, context.feature_names, strict=False)) if a != b)
        raise DataError(f"column {j} of X is {names[j]!r}, but this model was trained with {context.feature_names[j]!r} there. "
                        f"Pass the same columns in the same order.")
