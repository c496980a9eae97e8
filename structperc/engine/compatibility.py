"""Checks whether the parts fit each other, and the data the parts."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from structperc.core.component import nothing
from structperc.core.errors import ConflictingOption, DataError, PluginError, StructPercError, did_you_mean
from structperc.engine.option import options_of
from structperc.engine.options import ENGINE_OPTIONS
from structperc.reading import matrices

NEEDS = ("marginals", "search", "step sizes")
SHOWN = ("outputs", "features", "weights", "trainer")       # the parts of which an engine shows fitted attributes
CHECKED = WeakKeyDictionary()       # the declarations of each class of parts that are right


def check_parts(context, parts) -> None:
    """Raise an error for parts that do not fit together, and would silently do something else than asked.

    Parameters
    ----------
    context : FitContext
    parts : Parts
        All parts of a model.

    Raises
    ------
    PluginError
        If parts do not fit together.
    OptionError
        If an option has no effect.
    DataError
        If parts do not fit the data.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.plugin_tools import check_parts
    >>> model = Engine("cusum", preset="paper").fit([[0.0], [1.0]], [1, 2]).model_
    >>> check_parts(model.context, model.parts)
    """
    if context.loss_weight:
        check_search(parts, f"loss_weight={context.loss_weight}", "loss_weight")
    if "search" in parts.update.needs:
        check_search(parts, rule_of(context, parts), "update")
    if "marginals" in parts.update.needs and not parts.argmax.has_marginals:
        raise PluginError(f"{rule_of(context, parts)} learns from marginals, but {type(parts.argmax).__name__} finds none. Use a problem "
                          f"whose solver does, such as 'multiclass', 'cusum', 'sequence', 'parsing' or 'path', or another update.")
    if "step sizes" in parts.update.needs and not parts.weights.sizes_steps:
        raise PluginError(f"{rule_of(context, parts)} gives each weight a step size of its own, but {type(parts.weights).__name__} has no "
                          f"such weights. Leave out its plugin, such as 'dual-kernel', or use another update.")
    if context.sample_weight is not None:
        check_weights(context, parts)
    check_sizes(context, parts)
    check_constraints(parts)
    for _, part in parts.items():
        nothing(part.check(context, parts), part, "check")


def check_declarations(engine, context, parts) -> None:
    """Raises an error for unknown names in `needs`, `options_used` and `attributes`, once for each class of parts and its names."""
    for kind, part in parts.items():
        needs = part.needs if kind == "update" else ()
        declared = needs, part.options_used
        if CHECKED.get(type(part)) == declared:
            continue
        refuse_names(part, "needs", needs, NEEDS, f"expected a set of {', '.join(map(repr, NEEDS))}")
        refuse_names(part, "options_used", part.options_used or (), {**options_of(type(engine)), **dict.fromkeys(context.options)},
                     "expected a tuple of options of the engine and its plugins")
        if kind in SHOWN and (kind != "features" or parts.weights.vector() is not None):
            check_attributes(engine, part, part.attributes(parts.weights))
        CHECKED[type(part)] = declared


def refuse_names(part, attribute, given, known, expected) -> None:
    """Raises an error for a text instead of a set of names, and for the first unknown name."""
    unknown = [name for name in given if name not in known]
    if isinstance(given, str):
        raise PluginError(f"{type(part).__name__}.{attribute} = {given!r}; {expected}, not a text.")
    if unknown:
        raise PluginError(f"{type(part).__name__}.{attribute} names {unknown[0]!r}; {expected}.{did_you_mean(unknown[0], known)}")


def check_attributes(engine, part, names) -> None:
    """Raises an error for fitted attributes that nobody could read."""
    for name in names:
        if not name.endswith("_") or name.startswith("_"):
            raise PluginError(f"{type(part).__name__}.attributes names {name!r}; expected names that end in one underscore, such as "
                              f"{name.strip('_') + '_'!r}.")
        if hasattr(type(engine), name):
            raise PluginError(f"{type(part).__name__}.attributes names {name!r}, which is an attribute of the engine itself; choose "
                              f"another name.")


def rule_of(context, parts) -> str:
    """The update rule, as the user has chosen it: by its name, or as a plugin's part."""
    named = context.update != ENGINE_OPTIONS["update"].default
    return f"update={context.update!r}" if named else type(parts.update).__name__


def check_search(parts, wanted, option="") -> None:
    """Raise an error for a loss that the argmax cannot search with.

    Parameters
    ----------
    parts : Parts
        All parts of a model.
    wanted : str
        What needs the search, for the error message.
    option : str, default ""
        Name of the option that asks for it, if there is one.

    Raises
    ------
    PluginError
        If the solver does not support the loss.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.plugin_tools import check_search
    >>> engine = Engine("cusum", preset="paper").fit([[0.0], [1.0]], [1, 2])
    >>> check_search(engine.model_.parts, "loss_weight=1.0")
    """
    if not parts.argmax.searches_with(parts.loss):
        loss, argmax = type(parts.loss).__name__, type(parts.argmax).__name__
        raise ConflictingOption(f"{wanted}: {loss} cannot be written over atoms, so {argmax} cannot search with it. It can only be "
                                f"measured (loss_weight=0). A search needs a method `augment` of {loss}, or its bound `largest` and a "
                                f"method `k_best` of {argmax}. Or a method `argmax_augmented` of {argmax}.", option)


def check_sizes(context, parts) -> None:
    """Raises an error for hand-made parts of other sizes than the data; a compiled part would read past its memory."""
    outputs, features, argmax = parts.outputs, parts.features, parts.argmax
    made_for = getattr(features, "n_features", context.n_features)
    if made_for != context.n_features and not context.objects:
        raise PluginError(f"{type(features).__name__} was made for {made_for} features, but X has {context.n_features}.")
    atoms = getattr(outputs, "n_atoms", None)
    if atoms is not None and features.atoms_per_example not in (None, atoms):
        raise PluginError(f"{type(features).__name__} has {features.atoms_per_example} atoms, but {outputs.n_labels} labels of "
                          f"{type(outputs).__name__} need {atoms}.")
    made_for = getattr(argmax, "n_labels", outputs.n_labels)
    if made_for != outputs.n_labels:
        raise PluginError(f"{type(argmax).__name__} was made for {made_for} labels, but there are {outputs.n_labels}.")


def check_constraints(parts) -> None:
    """Raises an error for weights that would leave the set that the feature map allows."""
    if parts.features.constrained and not parts.weights.projects:
        raise PluginError(f"{type(parts.features).__name__} allows only some weights, but {type(parts.weights).__name__} does not project "
                          f"on them after its steps; leave that out.")


def check_weights(context, parts) -> None:
    weights = context.sample_weight
    if not parts.update.takes_weights and not np.isin(weights, (0, 1)).all():
        i = int(np.argmax(~np.isin(weights, (0, 1))))
        raise DataError(f"sample_weight[{i}] is {weights[i]}: {rule_of(context, parts)} has no slack to weigh, so weights can only be "
                        f"0 or 1; use 'pa1' or 'pa2'.")


def attach_costs(loss, costs, gold, n_examples) -> None:
    if loss.example_costs:
        loss.set_costs(costs, gold, n_examples)
    else:
        raise DataError(f"costs was given, but {type(loss).__name__} does not use it; set loss='costs'.")


def check_same(context, rows) -> None:
    """Raise an error for data unlike those of the first fit.

    Parameters
    ----------
    context : FitContext
        Of the first fit.
    rows : Rows
        Later data.

    Raises
    ------
    DataError
        If the number or names of columns differ. The message names them.

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


def not_finite(rows, example, said=None) -> StructPercError:
    """Why the scores of this example are not finite; `said`: the sentence on an author's code that returned them."""
    found = matrices.not_finite_entry(rows, example)
    if found is None and said is not None:
        return PluginError(f"{said}; expected finite numbers.")
    return found or DataError(
        f"the scores of example {example} overflow although its row is finite. The weights or the features are too large for floating "
        f"point. Scale the features, for instance to unit variance.")


def refuse_scores(rows, scores, start) -> None:
    """Raises an error for scores that are not finite, of the examples from `start` on: a row each, or flat with their offsets."""
    flat = isinstance(scores, tuple)
    finite = np.isfinite(scores[0] if flat else scores)
    if not finite.all():
        i = np.searchsorted(scores[1], np.argmin(finite), "right") - 1 if flat else np.argmin(finite.all(axis=1))
        raise not_finite(rows, start + int(i))


def overflow() -> DataError:
    return DataError("the last steps have made weights overflow; the features, costs or sample weights are too large for floating point. "
                     "Scale the features, for instance to unit variance.")
