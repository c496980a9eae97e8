"""`counterfactual`: the nearest example that gets a wanted prediction."""

from __future__ import annotations

import numpy as np

from structperc.basics.arguments import choice
from structperc.basics.errors import DataError, OptionError, PluginError, shortened
from structperc.counterfactuals.blocks import Block
from structperc.counterfactuals.columns import Columns, as_given, truth_columns
from structperc.counterfactuals.result import ALREADY, NEAREST, NONE, OPEN, Counterfactual
from structperc.counterfactuals.search import Search
from structperc.counterfactuals.tokens import Sentences, alternatives_of
from structperc.counterfactuals.wanted import Goal, Wanted
from structperc.engine.engine import Engine, engine_of
from structperc.pipelines import unwrapped
from structperc.reading.matrices import as_objects
from structperc.solvers.highs import Clock

CLOSE, CLOSE_ENOUGH = 1e-4, 1e-5        # a distance is the smallest one if it is so close to its bound, relative or absolute


def counterfactual(model, x, wanted, *, fixed=(), bounds=None, whole=(), groups=None, norm="l1", rows=None, spreads=None,
                   alternatives=None, time_limit=60.0) -> Counterfactual:
    """The smallest change of x after which the model predicts what you want, with a proof.

    Parameters
    ----------
    model : Engine or estimator
        Trained, with scores that are linear in the columns of X. With `alternatives` any model of token lists.
    x : one example, as `explain` takes it
        A row, a block of rows, one row of a data frame, or with `alternatives` a list of tokens.
    wanted : output, or Wanted
        An output as `predict` shows it, such as a label, or `Wanted(at_least=4)`, `Wanted(one_of=[1, 2])`, `Wanted(chosen="2 with 3")`,
        `Wanted(not_chosen=...)`.
    fixed : sequence of columns, by name or number
        Columns that stay as they are.
    bounds : dict from columns to pairs, optional
        The lowest and the highest value of a column; None for no bound. x must be within them.
    whole : sequence of columns
        Columns of whole numbers. Columns of truth values stay 0 or 1.
    groups : dict from names to lists of columns, optional
        Columns of which one is 1 and the others are 0. Columns that the option `one_hot` has made are always a group.
    norm : {"l1", "l2"}, default "l1"
        "l1": the sum of all changes in standard deviations, which changes few columns. "l2": the root of the sum of their squares.
    rows : sequence of int, optional
        The rows of x that may change, from 0; without it all.
    spreads : array of shape (n_features,), optional
        The standard deviation of each column; without it those of the training rows. Columns with 0 stay as they are.
    alternatives : dict, optional
        From positions or tokens to lists of tokens that may replace them. The distance is the number of replaced tokens.
    time_limit : float or None, default 60
        Seconds, after which the nearest change so far is returned with its bound. It is looked at between two programs.

    Returns
    -------
    Counterfactual
        With the new x, the changes, the distance, its lower bound and whether it is proved. If x gets a wanted prediction already, the
        distance is 0.

    Raises
    ------
    PluginError
        The scores are not linear in the columns, or parts of the output depend on other parts.
    OptionError
        For columns, bounds, groups or atoms that the model does not have.
    DataError
        x is not one example, or outside its bounds, or `wanted` is no output of the model.

    Notes
    -----
    The change solves min ||change / standard deviation|| such that S(x + change, y) >= S(x + change, y') for all unwanted y'. Rivals y' are
    added one by one: the argmax at the last solution is the next one (Kelley 1960; Tsochantaridis et al. 2005). Each program bounds the
    distance from below, by prices that are computed again from the data. Several wanted outputs are tried in the order of their scores,
    until a bound excludes the rest. Labels of sentences are searched by branch and bound: one program bounds all outputs that share the
    labels of a window of tokens. A distance is proved if it exceeds its bound by at most 1e-4 of it, or 1e-5.

    Ties are those of `predict`. If the wanted output loses a tie to a rival, it must have a lead over this rival. It is that of a change
    of 1e-7, or 1e-5 with whole numbers. It is doubled while the output loses. The bound is that of changes without a lead. Another
    category adds 1 to the distance.

    Cost: a program with a variable for each value that may change and a row for each rival. The slopes need n_features * n_rows scores.
    Sources: Wachter, Mittelstadt and Russell 2018; Ustun, Spangher and Liu 2019; least distance: Lawson and Hanson 1974.

    Examples
    --------
    >>> import numpy as np
    >>> import structperc
    >>> from structperc import Engine
    >>> X = np.random.default_rng(0).normal(size=(200, 2)) * [4, 15] + [27, 90]
    >>> y = np.digitize((X[:, 0] - 27) / 4 + (X[:, 1] - 90) / 30, [-1, 1]) + 1
    >>> model = Engine("prank", update="exact-pa1", epochs=9, scale=True, average=True).fit(X, y)
    >>> nearest = structperc.counterfactual(model, [33.0, 110.0], 2, bounds={1: (80, None)})
    >>> nearest.proved, len(nearest.changes), model.predict([nearest.x]).tolist()
    (True, 1, [2])
    """
    engine = engine_for_users(model)
    choice(norm, "norm", ("l1", "l2"))
    wanted, clock = wanted if isinstance(wanted, Wanted) else Wanted(one_of=[wanted]), Clock(time_limit)
    engine_model = engine.model_
    if alternatives is not None:
        for name, value, default in (("fixed", fixed, ()), ("bounds", bounds, None), ("whole", whole, ()), ("groups", groups, None),
                                     ("norm", None if norm == "l1" else norm, None), ("rows", rows, None), ("spreads", spreads, None)):
            if value is not default and not (isinstance(value, (tuple, list, dict)) and not value):
                raise OptionError(f"{name} is for rows of numbers, and alternatives for tokens; leave one of them out.")
        return of_tokens(engine_model, x, wanted, alternatives, clock)
    if engine_model.second_stage is not None:
        raise PluginError(f"a counterfactual needs all atoms scored at once; {engine_model.second_stage.remedy}.")
    read = engine_model.parts.reader.read_one(x, engine_model.context.objects, engine_model.parts.features.layout.atoms_per_example is None)
    if read.n_examples != 1:
        raise DataError(f"counterfactual takes one example, but got {read.n_examples}; pass one of them.")
    if not isinstance(read.X, np.ndarray) or is_of_tokens(x):
        raise PluginError("a counterfactual changes dense rows of numbers, and these are sparse rows or tokens; pass X.toarray(), or for "
                          "tokens alternatives={token: [other tokens]}.")
    block = Block(engine_model, read)
    columns = Columns(engine_model, read, spreads, fixed, bounds, whole, groups, truth_columns(x))
    goal = Goal(engine_model, block.prepared, block.example, wanted)
    places, variables = columns.variables(block.values, rows_of(rows, read.n_rows))
    if norm == "l2" and variables.whole.any():
        raise OptionError("norm='l2' has no whole numbers and no categories; use 'l1', or name these columns in fixed.")
    before = block.predicted(block.values)
    answer = engine_model.parts.outputs.decode(before, block.example)
    if goal.holds(goal.counts(before)):
        return Counterfactual(x, [], 0.0, 0.0, ALREADY, answer, answer, str(wanted))
    solution = Search(block, goal, places, variables, norm, clock).run()
    if solution.values is None:
        return Counterfactual(None, [], np.inf, solution.bound, NONE if np.isinf(solution.bound) else OPEN, answer, None, str(wanted),
                              solution.out_of_time)
    rounded = variables.length(np.spacing(np.abs(block.stored(solution.values[places]))).astype(float) / variables.unit, "l1")
    proved = solution.distance <= solution.bound * (1 + CLOSE) + CLOSE_ENOUGH + rounded
    lengths = np.zeros(block.values.size)
    lengths[places] = np.abs(solution.z) * variables.cost
    after, values = solution.values.reshape(block.values.shape), block.stored(solution.values.reshape(block.values.shape))
    changes = columns.changes(block.stored(block.values), values, lengths.reshape(after.shape))
    x = as_given(x, read, engine_model.parts.reader.input_columns().n_keys, values, changes)
    return Counterfactual(x, changes, solution.distance, solution.bound, NEAREST if proved else OPEN, answer,
                          engine_model.parts.outputs.decode(block.predicted(solution.values), block.example), str(wanted),
                          solution.out_of_time)


def engine_for_users(model) -> Engine:
    """The trained engine of a model that reads x as the user passes it."""
    before, last = unwrapped(model)
    if before is not None:
        raise OptionError(f"the steps before {type(last).__name__} change the columns, so their units are not those of the user. Use "
                          f"scale=True of the estimator instead, or pass the last step and a transformed x.")
    return engine_of(last, "counterfactual")


def is_of_tokens(x) -> bool:
    """Whether an example is a list of tokens of text, of which a reader may make numbers."""
    token = x[0] if isinstance(x, (list, tuple)) and len(x) else None
    return isinstance(token, (str, dict)) or isinstance(token, (list, tuple)) and {*map(type, token)} == {str}


def rows_of(rows, n):
    """The rows that may change, checked."""
    if rows is None:
        return None
    try:
        rows = [int(r) for r in rows]
    except (TypeError, ValueError, OverflowError, np.ma.MaskError):
        rows = [-1]
    if not all(0 <= r < n for r in rows):
        raise OptionError(f"rows names rows that x does not have; expected numbers from 0 to {n - 1}.")
    return rows


def of_tokens(model, x, wanted, alternatives, clock) -> Counterfactual:
    """The nearest sentence."""
    if isinstance(x, str) or not hasattr(x, "__iter__") or isinstance(x, np.ndarray) and x.ndim != 1:
        raise DataError(f"x is {shortened(x)}; expected a list of tokens.")
    x = list(as_objects(x))
    choices, rows = alternatives_of(x, alternatives), model.read([x])
    (example, scores), = model.scores(rows)
    goal = Goal(model, rows, example, wanted)
    sentences = Sentences(model, x, goal)
    before = model.predict(rows)[0]
    if sentences.first_wanted([()]) is not None:
        return Counterfactual(x, [], 0.0, 0.0, ALREADY, before, before, str(wanted))
    choice, bound = sentences.search(choices, clock)
    if choice is None:
        return Counterfactual(None, [], np.inf, bound, NONE if np.isinf(bound) else OPEN, before, None, str(wanted),
                              clock.over)
    new = sentences.replaced(choice)
    return Counterfactual(new, sentences.changes(choice), float(len(choice)), bound, NEAREST, before, model.predict(model.read([new]))[0],
                          str(wanted))
