"""The checks of the test suite. Each returns None, or why it does not apply, and raises AssertionError with what it found."""

from __future__ import annotations

import copy
import math
import runpy
import tempfile
from functools import partial
from pathlib import Path

import attrs
import numpy as np

from structperc.core.component import LIBRARY, overrides
from structperc.core.errors import PluginError, StructPercError
from structperc.core.features import is_constrained
from structperc.core.losses import is_additive
from structperc.core.outputs import as_structure, decode_many
from structperc.core.weights import PrimalWeights
from structperc.engine import answers as inference
from structperc.engine import plugins as registry
from structperc.engine.options import changed_options
from structperc.engine.scaling import Scaling
from structperc.engine.trainers import INTERRUPTED, OnlineTrainer
from structperc.problems.losses import LOSSES
from structperc.testing import given_scores
from structperc.testing.case import MOST_STRUCTURES, close
from structperc.testing.twins import CtrlC, PythonCalls, RememberedSteps

MOST_EPOCHS = 3000
NOT_LISTED = f"Outputs.enumerate does not list Y(x), or lists more than {MOST_STRUCTURES} structures"
NOT_ONLINE = "a trainer of its own drives the examples"
NO_VECTOR = "the weights are no vector"
TRANSFORMED = "the weights transform steps, so no kernel form of them exists"


# ---- the plugin ----


def plugin_is_used(case):
    """At least one hook of the plugin returns a part. Else the other checks would test other plugins' parts."""
    hooks = {hook: method for hook, method, _ in case.checked.implementations.values() if hook in registry.COMPONENTS}
    if not hooks:
        return f"{case.checked.origin} is an observer, which has no part"
    engine = case.asked
    used = [hook for hook, method in hooks.items() if registry.wraps(method) or engine.answered.get(hook) is not None
            and engine.answered[hook].name == case.checked.name]
    asked = ", ".join(f"{name}={getattr(engine, name)!r}" for name in ("update", "loss", "trainer"))
    require(used, f"nothing of it was used: {', '.join(hooks)} returned None, or a later plugin was asked instead, with {asked}. Name its "
                  f"part: check_problem(..., update=...), or check_options = {{...}} in the plugin. The parts in use are {case.described}.")
    return None


# ---- one component at a time ----


def answers_are_structures(case):
    """The argmax, exact or not, returns a member of Y(x), and the same one each time. Of long lists only `check_structure` is asked."""
    argmax = case.parts.argmax
    for x in case.examples:
        structures = case.structures(x)
        trials = [case.scores(x, draw) for draw in drawn(case)]
        answers = [case.answer(s.copy(), x) for s in trials]
        again = [case.answer(s.copy(), x) for s in reversed(trials)]
        for s, y, later in zip(trials, answers, reversed(again), strict=True):
            if y != later:                  # no `require`: to write an array takes longer than the check
                raise AssertionError(f"{name_of(argmax)} returned {y} and later {later} for example {x.index} with the same atom scores "
                                     f"{s}.")
        if structures is None:
            continue
        counts = case.counts(x, structures)
        for y in answers:
            require((counts == case.parts.outputs.count(x, y)).all(axis=1).any(),
                    f"{name_of(argmax)} returned {y} for example {x.index}, which {name_of(case.parts.outputs)}.enumerate does not list.")
    return None


def drawn(case) -> list:
    """Functions that draw atom scores, ties among them."""
    return [case.random.standard_normal] * 3 + [partial(case.random.integers, -1, 2)] * 4 + [np.zeros, np.ones, lambda n: -np.ones(n)]


def argmax_maximises(case):
    """An exact argmax returns a member of Y(x) of largest score."""
    argmax = case.parts.argmax
    if not argmax.exact:
        return f"{name_of(argmax)} declares itself approximate"
    for x in case.examples:
        structures = case.structures(x)
        if structures is None:
            return NOT_LISTED
        counts = case.counts(x, structures)
        for draw in drawn(case):
            s = case.scores(x, draw)
            y = case.answer(s.copy(), x)
            count = case.parts.outputs.count(x, y)
            best = int(np.argmax(counts @ s))
            if not reaches(count @ s, counts[best] @ s):
                raise AssertionError(f"{name_of(argmax)} returned {y} of score {count @ s:.6g} for example {x.index} with the atom scores "
                                     f"{s}, but {structures[best]} scores {counts[best] @ s:.6g}.")
    return None


def features_add_up(case):
    """Phi is the sum of its atoms' vectors, and scores, add, norm, inner and batch_scores agree with these."""
    # Of the inner products, each atom's with itself and with one drawn atom of one drawn example: linear in atoms.
    features, name = case.features, name_of(case.parts.features)
    phi = [np.array([features.vector(x, unit) for unit in np.eye(x.n_atoms)]).reshape(x.n_atoms, features.n_weights)
           for x in case.examples]
    w = case.teacher()
    for x, vectors in zip(case.examples, phi, strict=True):
        c = case.random.normal(size=x.n_atoms)
        total = vectors.T @ c
        moved = w.copy()
        features.add(moved, x, c)
        require(close(moved, w + total), f"{name}.add does not add sum_a c[a] phi(x, a) to w, for example {x.index} and c = {c}.")
        require(close(features.scores(w, x), vectors @ w), f"{name}.scores is not w . phi(x, a) for example {x.index}.")
        require(close(features.norm(x, c), total @ total), f"{name}.norm is not ||sum_a c[a] phi(x, a)||^2 for example {x.index}.")
        z = case.examples[case.random.integers(len(case.examples))]
        drawn = case.random.integers(z.n_atoms, size=x.n_atoms) if z.n_atoms else []
        for other, partners in ((x, range(x.n_atoms)), (z, drawn)):
            for a, b in enumerate(partners):
                inner, right = features.inner(x, a, other, int(b)), vectors[a] @ phi[other.index][b]
                if not close(inner, right):
                    raise AssertionError(f"{name}.inner is not phi(x, a) . phi(z, b) for atom {a} of example {x.index} and atom {b} of "
                                         f"example {other.index}: {inner} and {right}.")
    batch = case.parts.features.batch_scores(w, case.rows_of(case.data))
    if batch is not None:
        require(close(np.asarray(batch), np.array([features.scores(w, x) for x in case.examples])),
                f"{name}.batch_scores differs from scores.")
    require_rescaled(case, features, w, name)
    return None


def require_rescaled(case, features, w, name) -> None:
    """`rescaled`, of a map that has it, returns weights that score the rows as w scores those with divided columns."""
    rows = case.rows_of(case.data)
    if rows.objects or rows.first_stage is not None:
        return
    divided = divided_columns(rows)
    weights = features.rescaled(w, divided.shift, divided.spread)
    scaled = divided.applied(rows)
    for i, x in enumerate(case.examples if weights is not None else ()):
        z = scaled.example(i)
        z.n_atoms = x.n_atoms
        require(close(features.scores(np.asarray(weights), x), features.scores(w, z)),
                f"{name}.rescaled does not return weights that score example {i} as w scores it with divided columns.")


def divided_columns(rows) -> Scaling:
    """A scale that divides each column by a number between 0.5 and 2."""
    zeros, any_value = np.zeros(rows.n_features), np.full(rows.n_features, np.inf)
    return Scaling.of_moments(1.0, zeros, np.linspace(0.5, 2, rows.n_features) ** 2, -any_value, any_value, centred=False, absorbs=False)


def constraints_hold(case):
    """After a step, weights that it touched are moved to the nearest of a convex set with 0. Trained ones are in it."""
    features, name = case.features, name_of(case.parts.features)
    if not is_constrained(features):
        return None                         # all weights are allowed
    projected, zero = case.projected, np.zeros(features.n_weights)
    require(case.allows(zero), f"{name}.project moves w = 0, where training begins.")
    for _ in range(16):                     # |a - b|^2 <= (a - b) . (w - v) for all w and v: only true of projections on convex sets
        one, other = case.random.normal(size=(2, features.n_weights)) * 10 ** case.random.uniform(-2, 1, (2, 1))
        a, b = projected(one), projected(other)
        require(case.allows(a), f"{name}.project moves weights that it has moved before.")
        require((a - b) @ (a - b) <= (a - b) @ (one - other) + 1e-9,
                f"{name}.project does not find the nearest weights of a convex set: of w = {one} and {other} it makes {a} and {b}.")
    for x in case.examples:
        w = case.teacher()
        features.add(w, x, case.random.normal(size=x.n_atoms))
        require(close(projected(w, x), projected(w)),
                f"{name}.project(w, x) leaves weights outside that a step on example {x.index} has touched.")
    for average in case.averages if case.parts.trainer.online else (False,):
        w = np.array(case.fit(epochs=2, average=average).model.parts.weights.averaged().vector())
        require(case.allows(w), f"after training{' with averages' * average} the weights are not those that {name} allows.")
    return None


def agreeing_is_counting_the_same(case):
    """A prediction agrees with a gold structure if both count every atom equally often, and only then; a completion does."""
    outputs, some_disagree = case.parts.outputs, False
    for x in case.examples:
        structures = case.some_structures(x)
        for gold in case.golds(x):
            if outputs.partial_gold:
                completed = as_structure(outputs, case.outputs.complete(gold, case.scores(x, case.random.standard_normal), x), x)
                require(case.outputs.agrees(gold, completed, x),
                        f"{name_of(outputs)}.complete returned {completed} for the gold output {gold} of example {x.index}, with which "
                        f"it does not agree by {name_of(outputs)}.agrees.")
                some_disagree |= any(not case.outputs.agrees(gold, y, x) for y in structures)
                continue
            for y, same in zip(structures, (case.counts(x, structures) == outputs.count(x, gold)).all(axis=1), strict=True):
                agrees = case.outputs.agrees(gold, y, x)
                require(agrees == same, f"{name_of(outputs)}.agrees({gold}, {y}) is {agrees} for example {x.index}, but they count "
                                       f"{'the same atoms' if same else 'different atoms'}.")
                some_disagree |= not agrees
    single = all(len(case.some_structures(x)) == 1 for x in case.examples)
    require(some_disagree or single, f"by {name_of(outputs)}.agrees every structure agrees with every gold output.")
    return None


def decoding_is_undone(case):
    """`encode_answers` (of whole gold outputs, `encode`) returns the structure that `decode` shows, of hidden parts the same shown ones."""
    outputs, rows, features = case.parts.outputs, case.rows_of(case.data), case.parts.features
    answers = [case.some_structures(x)[-1] for x in case.examples]
    decoded = decode_many(outputs, answers, rows, features)
    try:
        again = outputs.encode_answers(decoded, rows)
    except PluginError as error:
        if outputs.partial_gold:
            return str(error)
        raise
    for x, y, later in zip(case.examples, answers, again, strict=True):
        same = np.array_equal(case.counts(x, [y]), case.counts(x, [later]))
        if outputs.partial_gold and not same:           # what is hidden may differ
            same = np.array_equal(listed(decoded)[x.index], listed(decode_many(outputs, [later], rows, features, [x.index]))[0])
        require(same,
                f"{name_of(outputs)}.decode shows {y} of example {x.index} as {listed(decoded)[x.index]!r}, which is encoded as {later}.")
    return None


def cells_are_read_back(case):
    """`read_cells` reads what `write_cells` writes of a prediction into a file."""
    outputs, rows = case.parts.outputs, case.rows_of(case.data)
    if not overrides(outputs, "read_cells") or outputs.partial_gold:
        return None                         # no file holds such outputs
    name, answers = name_of(outputs), [case.some_structures(x)[-1] for x in case.examples]
    shown, column = decode_many(outputs, answers, rows, case.parts.features), []
    sizes = [n_cells(x, rows) for x in case.examples]
    for x, answer, n in zip(case.examples, shown, sizes, strict=True):
        cells = [] if n is None else list(outputs.write_cells(answer, n))
        require(n is None or len(cells) == n, f"{name}.write_cells returned {cells} for example {x.index}; expected {n} cells.")
        column.append(cells)
    for x, y, answer, cells in zip(case.examples, answers, shown, in_a_file(column), strict=True):
        if sizes[x.index] is None:
            continue
        output = outputs.read_cells(cells)
        again = outputs.encode([output], case.rows_of(case.data.take([x.index])))[0]
        require(np.array_equal(case.counts(x, [y]), case.counts(x, [again])),
                f"{name}.write_cells writes {plain(answer)} of example {x.index} as {column[x.index]}. But {name}.read_cells reads this as "
                f"{plain(output)!r}. Make one the inverse of the other.")
    return None


def n_cells(x, rows):
    """The cells of an example in a file: its rows, or the tokens of a sentence. None: of other objects only the author knows."""
    if not rows.objects:
        return x.n_rows
    return len(x.object) if isinstance(x.object, list) else None


def in_a_file(column) -> list:
    """Cells as a file has them: numbers if all are numbers, else texts."""
    try:
        return [[float(str(cell)) for cell in cells] for cells in column]
    except ValueError:
        return [list(map(str, cells)) for cells in column]


def loss_is_zero_at_gold(case):
    """The loss of the right output is 0, and no loss is negative."""
    name = name_of(case.parts.loss)
    for x in case.examples:
        for gold in case.golds(x):
            values = {y: case.loss.value(gold, y, x) for y in case.some_structures(x)}
            for y, value in values.items():
                require(0 <= value < math.inf, f"{name}: the loss of {y} where {gold} is right is {value}; expected a number from 0.")
            if not case.parts.outputs.partial_gold:
                own = case.loss.value(gold, gold, x)
                require(own == 0, f"{name}: the loss of {gold} where {gold} is right is {own}; expected 0.")
    return None


def augmented_argmax_maximises(case):
    """The argmax over scores with the loss in them maximises score + loss. Of an inexact solver only `augment` is compared with `value`."""
    loss, argmax = case.parts.loss, case.parts.argmax
    if not argmax.searches_with(loss):
        return f"{name_of(loss)} is only measured"
    if reason := unusable(case):
        return reason
    by_solver = overrides(argmax, "argmax_augmented") or not is_additive(loss)
    if not argmax.exact and by_solver:
        return f"{name_of(argmax)} declares itself approximate"
    for x in case.examples:
        structures = case.structures(x)
        if structures is None:
            return NOT_LISTED
        counts = case.counts(x, structures)
        for gold in case.golds(x):
            s, scale = case.scores(x, case.random.standard_normal), float(case.random.uniform(0.5, 2))
            losses = np.array([case.loss.value(gold, y, x) for y in structures])
            wanted = counts @ s + scale * losses
            if not argmax.exact:
                found = int(np.argmax(counts @ np.asarray(case.loss.augment(gold, s.copy(), scale, x))))
                require(reaches(wanted[found], wanted.max()),
                        f"{name_of(loss)}.augment: with the loss from {gold} in the atom scores of example {x.index} {structures[found]} "
                        f"has the largest score. But {structures[int(np.argmax(wanted))]} has the largest score + loss of "
                        f"{name_of(loss)}.value.")
                continue
            augmented = as_structure(case.parts.outputs, argmax.argmax_augmented(s.copy(), x, gold, loss, scale), x)
            chosen = (counts == case.parts.outputs.count(x, augmented)).all(axis=1)
            searcher = f"{name_of(argmax)}.argmax_augmented:" if by_solver else f"{name_of(loss)}.augment:"
            require(chosen.any() and reaches(wanted[chosen].max(), wanted.max()),
                    f"{searcher} with the loss from {gold} in the atom scores of example {x.index} {name_of(argmax)} finds {augmented}. "
                    f"But {structures[int(np.argmax(wanted))]} has the largest score + loss.")
    return None if argmax.exact else f"{name_of(argmax)} declares itself approximate"


def unusable(case) -> str:
    """Why these outputs cannot use a loss of the library in a search, such as the default one. Empty: they can."""
    loss = case.parts.loss
    if not type(loss).__module__.startswith(LIBRARY) or not is_additive(loss):
        return ""
    try:
        for x in case.examples:
            for gold in case.golds(x):
                loss.augment(gold, np.zeros(x.n_atoms), 1.0, x)
    except PluginError as error:
        return f"{name_of(loss)} is only measured: {error}"
    return ""


def further_answers_agree(case):
    """The k best structures, marginals and max-marginals, the solver's own or not, are those of all Y(x). The best is the argmax's."""
    parts, name = case.parts, name_of(case.parts.argmax)
    if not parts.argmax.exact:
        return f"{name} declares itself approximate"
    if parts.outputs.hidden:
        return f"one output of {name_of(parts.outputs)} is many hidden structures"
    for x in case.examples:
        structures = case.structures(x)
        if structures is None:
            return NOT_LISTED
        counts = case.counts(x, structures)
        distinct = np.unique(counts, axis=0)
        for s in (case.scores(x, case.random.standard_normal), case.scores(x, partial(case.random.integers, -1, 2))):
            where = f"for example {x.index} with the atom scores {s}"
            k = int(case.random.integers(1, len(distinct) + 2))
            ranked = inference.k_best(parts, s.copy(), x, k)
            best = np.sort(distinct @ s)[::-1][:k]
            require(len(ranked) == len(best), f"of {len(distinct)} structures {name}.k_best lists {len(ranked)} {where} and k = {k}.")
            ranked_counts = case.counts(x, [y for y, _ in ranked])
            require(np.array_equal(ranked_counts[0], case.counts(x, [case.answer(s.copy(), x)])[0]),
                    f"{name}.k_best begins with {ranked[0][0]} {where}, but the argmax finds {case.answer(s.copy(), x)}.")
            require(len(np.unique(ranked_counts, axis=0)) == len(ranked_counts)
                    and all((distinct == count).all(axis=1).any() for count in ranked_counts),
                    f"{name}.k_best lists a structure twice, or one that is not in Y(x), {where}.")
            require(close(ranked_counts @ s, best) and close(np.array([score for _, score in ranked]), best),
                    f"{name}.k_best lists structures of the scores {ranked_counts @ s} as {[score for _, score in ranked]} {where}; "
                    f"the {k} best score {best}.")
            totals = counts @ s
            p = np.exp(totals - totals.max())
            require(close(inference.marginals(parts, s.copy(), x), p / p.sum() @ counts),
                    f"{name}.marginals is not how often each atom is expected where p(y) is proportional to exp(score of y), {where}.")
            own, log_z = parts.argmax.marginals(s.copy(), x), np.logaddexp.reduce(totals)
            require(own is None or close(own[0], log_z), f"log Z of {name}.marginals is {own and own[0]} {where}; it is {log_z}.")
            largest = np.where(counts > 0, totals[:, None], -np.inf).max(axis=0)
            answer = np.asarray(inference.max_marginals(parts, s.copy(), x))
            require(np.array_equal(answer == -np.inf, largest == -np.inf) and close(answer[answer > -np.inf], largest[largest > -np.inf]),
                    f"{name}.max_marginals is not the score of the best structure with each atom {where}.")
    return None


def losses_of_scores_agree(case):
    """On given scores (`structperc.Problem`) every loss, its gradient, the best outputs and marginals are those of all Y(x)."""
    parts = case.parts
    if not parts.argmax.exact:
        return f"{name_of(parts.argmax)} declares itself approximate"
    if parts.outputs.second_stage() is not None:
        return f"{name_of(parts.outputs)} predicts one part of an output given the other"
    found = given_scores.examples_of(case)
    if found is None:
        return NOT_LISTED
    batch, examples = found
    without = unusable(case)
    for loss in LOSSES:
        if not given_scores.is_refused(case, batch, loss, without):
            fault = given_scores.fault_of(case, batch, examples, loss, given_scores.scores_for(case, batch, loss))
            require(not fault, f"{fault}.")
    if not parts.outputs.hidden:
        fault = given_scores.fault_of_answers(batch, examples, given_scores.scores_for(case, batch, ""))
        require(not fault, f"{fault}.")
    return None


# ---- what may not change ----


def inputs_are_untouched(case):
    """No component writes to what it is given: atom scores, coefficients, weights; nor does fit, partial_fit or predict to X and y."""
    data, w = case.taught, case.teacher()
    augmented = is_additive(case.parts.loss) and not unusable(case)
    for x in case.examples:
        s, c = case.scores(x, case.random.standard_normal), case.random.normal(size=x.n_atoms)
        kept = w.copy(), s.copy(), c.copy()
        y = case.answer(s, x)
        for gold in case.golds(x)[:1]:
            case.loss.value(gold, y, x)
            if augmented:
                loss = case.parts.loss if overrides(case.parts.loss, "augment") else case.loss      # the author's own is given s itself
                loss.augment(gold, s, 1.0, x)
        case.features.scores(w, x)
        case.features.add(w.copy(), x, c)
        case.features.norm(x, c)
        for before, after, what in zip(kept, (w, s, c), ("weights", "atom scores", "coefficients"), strict=True):
            require(np.array_equal(before, after), f"a component changed the {what} that it was given for example {x.index}.")
    y = copy.deepcopy(data.y)
    engine = case.fit(epochs=2)
    go_on(engine, data)
    engine.predict(data.X, offsets=data.offsets)
    for before, after, what in ((case.pristine.X, data.X, "X"), (y, data.y, "y"), (case.pristine.offsets, data.offsets, "offsets")):
        require(unchanged(before, after), f"training or prediction changed the user's {what}.")
    return None


def fits_are_alike(case):
    """Two fits of one plugin with one seed end with the same weights: no part keeps anything from one fit to the next."""
    first, second = (case.fit(epochs=2) for _ in range(2))
    for name, part in first.model.parts.items():
        one, other = part.state(), dict(second.model.parts.items())[name].state()
        for key, value in one.items():
            require(key in other and np.array_equal(value, other[key], equal_nan=np.asarray(value).dtype.kind == "f"),
                    f"two fits with the same data and seed end with another {key!r} of {name_of(part)}. A part, or its class, keeps "
                    f"something from one fit to the next. Set it in start, not in the body of the class.")
    require(predictions(first, case.taught) == predictions(second, case.taught), "two fits with one seed predict differently.")
    return None


def units_are_the_maps_business(case):
    """Outputs and argmax return the same for rows whose columns are on one scale; training on such rows works."""
    rows = case.rows_of(case.data)
    if rows.objects or rows.first_stage is not None:
        return None                         # X has no columns to scale
    outputs, argmax = case.parts.outputs, case.parts.argmax
    divided = divided_columns(rows).applied(rows)
    for x in case.examples:
        z = divided.example(x.index)
        z.n_atoms = x.n_atoms
        for draw in (case.random.standard_normal, partial(case.random.integers, -1, 2)):
            s = case.scores(x, draw)
            one, other = case.answer(s.copy(), x), case.answer(s.copy(), z)
            require(one == other, f"{name_of(argmax)} returned {one} for example {x.index}, and {other} while a model is trained with "
                                  f"scale=True: it reads columns on one scale. Read x.rows, which has the user's units.")
        listed_here, there = case.structures(x), case.structures(z)
        require(listed_here == there, f"{name_of(outputs)}.enumerate lists other structures of example {x.index} while a model is trained "
                                      f"with scale=True. Read x.rows, which has the user's units.")
    try:
        engine = case.fit(epochs=2, scale=True)
    except PluginError:
        return None                         # these parts do not take scale=True
    predictions(engine, case.taught)
    return None


def predicting_changes_nothing(case):
    """predict and atom_scores leave the weights and the record of training as they were."""
    engine, data = case.fit(epochs=2), case.taught
    before, record = copy.deepcopy(engine.model.parts.weights.state()), (engine.mistakes_, engine.cumulative_loss_, engine.status_)
    engine.predict(data.X, offsets=data.offsets)
    engine.atom_scores(data.X, offsets=data.offsets)
    after = engine.model.parts.weights.state()
    for key, value in before.items():
        require(np.array_equal(value, after[key]), f"predicting changed {key!r} in the state of {name_of(engine.model.parts.weights)}.")
    require(record == (engine.mistakes_, engine.cumulative_loss_, engine.status_), "predicting changed the record of training.")
    return None


def predictions_follow_from_scores(case):
    """predict returns the argmax of atom_scores, all at once as one by one."""
    engine, data = case.fit(epochs=2), case.taught
    answers = predictions(engine, data)
    scores = list(engine.atom_scores(data.X, offsets=data.offsets))
    for x in case.examples:
        one = data.take([x.index])
        alone = np.array(engine.atom_scores(one.X, offsets=one.offsets)[0], dtype=float)
        require(np.allclose(alone, scores[x.index], rtol=1e-6, atol=1e-6 * (np.abs(alone[np.isfinite(alone)]).max(initial=0) + 1)),
                f"the atom scores of example {x.index} are {alone} by itself and {np.asarray(scores[x.index])} among the others. "
                f"{name_of(case.parts.features)} or {name_of(case.parts.reader)} uses other examples, or the place of this one.")
        decoded = listed([case.parts.outputs.decode(case.answer(np.array(scores[x.index], dtype=float), x), x)])
        require(answers[x.index:x.index + 1] == decoded == predictions(engine, one),
                f"example {x.index} is predicted as {answers[x.index]} among the others and as {predictions(engine, one)[0]} by itself. "
                f"The argmax of its atom scores is {decoded[0]}.")
    return None


# ---- what is learned ----


def separable_set_is_learned(case):
    """A set that a teacher labels with a margin is learned within the mistake bound: sum of losses <= (R^2 + 2c) ||u||^2."""
    # u is the teacher, scaled so that u . (Phi(x, gold) - Phi(x, y)) >= loss(gold, y) for all y of Y(x). R^2 is the largest squared norm of
    # such a difference divided by its loss. c is `loss_weight`.
    engine = case.engine()
    if not isinstance(case.parts.trainer, OnlineTrainer):
        return NOT_ONLINE
    if case.parts.outputs.partial_gold:
        return "gold outputs are partial"
    if not case.parts.argmax.exact:
        return f"{name_of(case.parts.argmax)} declares itself approximate"
    if engine.update != "perceptron" and not (engine.update == "pa" and not engine.loss_weight) or engine.decay:
        return f"no bound is known for update={engine.update!r}, loss_weight={engine.loss_weight} and decay={engine.decay}"
    teacher = case.teacher()
    answers = case.answers(teacher, case.examples)
    margins, radii = [], []
    for x, gold in zip(case.examples, answers, strict=True):
        structures = case.structures(x)
        if structures is None:
            return NOT_LISTED
        differences = case.counts(x, [gold]) - case.counts(x, structures)
        others = differences.any(axis=1)
        losses = np.array([case.loss.value(gold, y, x) for y in structures])[others]
        if (losses <= 0).any():
            return f"{name_of(case.parts.loss)} is 0 between different structures"
        norms = np.array([case.features.norm(x, c) for c in differences[others]])
        margins.append(np.min(differences[others] @ case.features.scores(teacher, x) / losses, initial=math.inf))
        radii.append(np.max(norms / losses, initial=0.0))
    chosen = np.argsort(margins)[len(margins) // 2:]
    margin, radius = np.array(margins)[chosen].min(), np.array(radii)[chosen].max()
    if not 0 < margin < math.inf:
        return "the teacher leaves no margin on these examples"
    if not case.allows(teacher / margin):
        return "the feature map does not allow the teacher's weights, scaled to a margin of 1"
    bound = (radius + 2 * engine.loss_weight) * (teacher @ teacher) / margin**2
    data = case.teach(case.data.take(chosen), [answers[i] for i in chosen])
    engine = case.fit(data=data, epochs=min(int(bound) + 2, MOST_EPOCHS), average=False, shuffle=False)
    require(engine.cumulative_loss_ <= bound * (1 + 1e-9) + 1e-9,
            f"on a separable set the losses add up to {engine.cumulative_loss_:.6g}, more than the bound {bound:.6g}.")
    if bound < MOST_EPOCHS:
        require(engine.mistakes_[-1] == 0,
                f"a separable set is not learned: {engine.mistakes_[-1]} mistakes are left after {len(engine.mistakes_)} epochs.")
        require(predictions(engine, data) == listed(engine.online_predictions_)[-len(chosen):],
                "after an epoch without a mistake the trained model predicts differently from that epoch.")
    return None


def average_is_the_mean(case):
    """Averaged weights equal the mean of the weights after every example, from one partial_fit per example."""
    if not isinstance(case.parts.trainer, OnlineTrainer):
        return NOT_ONLINE
    if case.parts.weights.vector() is None:
        return NO_VECTOR
    if case.no_average:
        return case.no_average
    data = case.taught
    averaged = case.fit(average=True, shuffle=False, epochs=2)
    streamed, seen = case.engine(average=False, shuffle=False), []
    epochs = len(averaged.mistakes_)
    for i in [*range(len(case.examples))] * epochs:
        one = data.take([i])
        streamed.partial_fit(one.X, one.y, offsets=one.offsets)
        seen.append(np.array(streamed.model.parts.weights.vector(), dtype=float))
    mean, stored = np.mean(seen, axis=0), averaged.model.parts.weights.vector()
    require(close(stored, mean, case.tolerance),
            f"the averaged weights differ from the mean of the weights by up to {np.abs(stored - mean).max():.6g}.")
    model = averaged.model
    scores = np.concatenate([case.features.scores(mean, x) for x, _ in model.scores(model.read(data.X, data.offsets))])
    require(close(atom_scores(averaged, data), scores, case.tolerance), "averaged training does not predict with the averaged weights.")
    return None


def sample_weights_act(case):
    """Other sample weights raise an error, or train another model."""
    update, data = case.parts.update, case.taught
    plain, tried = case.fit(epochs=2), []
    if not any(plain.mistakes_):
        return "nothing was mispredicted"
    odd = np.arange(len(case.examples)) % 2
    for weight, of_even in ((2.0, 2.0), (1e-3, 1e-3), (1e3, 1e3), (1e3, 1.0)):      # the last where only ratios matter
        engine = case.engine(epochs=2)
        try:
            engine.fit(data.X, data.y, offsets=data.offsets, sample_weight=np.where(odd, weight, of_even))
        except StructPercError:
            continue                        # whole weights only, for instance
        if not close(atom_scores(engine, data), atom_scores(plain, data)):
            return None
        tried.append(f"{weight:g}" if weight == of_even else f"{of_even:g} and {weight:g} in turn")
    if not tried:
        return "these weights raise an error"
    same = f"the sample weights {', '.join(tried)} train the same model as 1"
    require(isinstance(case.parts.trainer, OnlineTrainer),
            f"{name_of(case.parts.trainer)} makes the steps, and {same}. Multiply its steps by context.sample_weight, or raise an error "
            f"for sample weights in {name_of(case.parts.trainer)}.check.")
    raise AssertionError(f"{same}; multiply the steps of {name_of(update)} by trial.weight, or raise an error for sample weights in "
                         f"{name_of(update)}.check by structperc.plugin_tools.refuse_weights.")


# ---- different ways to the same ----


def dense_equals_csr(case):
    """Dense and CSR, float32 and float64, int32 and int64 indices train the same model."""
    from scipy.sparse import csr_matrix

    data = case.taught
    if isinstance(data.X, list):
        return "X is a list of objects"
    if not case.parts.trainer.online:
        return NOT_ONLINE
    csr = csr_matrix(data.X)
    long = csr.copy()
    long.indices, long.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    forms = {"CSR": csr, "CSR with int64 indices": long}
    if (data.X == data.X.astype(np.float32)).all():
        forms |= {"dense float32": data.X.astype(np.float32), "CSR float32": csr.astype(np.float32)}
    for average in case.averages:
        dense = case.fit(epochs=3, average=average)
        for name, X in forms.items():
            same = attrs.evolve(data, X=X)
            other = case.fit(data=same, epochs=3, average=average)
            hint = " (x.rows is of float32: compute in numpy.asarray(x.rows, float))" if "float32" in name else ""
            require_same(case, dense, other, f"dense and {name}{hint}", only_scores=average, other_data=same)
    return None


def primal_equals_dual(case):
    """Weights that remember all steps, and add them up anew after each, predict the same before every step."""
    if case.parts.weights.vector() is None:
        return NO_VECTOR
    if not case.parts.weights.linear:
        return TRANSFORMED
    if not case.parts.trainer.online:
        return NOT_ONLINE
    for average in case.averages:
        options = {"epochs": 2, "average": average, "decay": 0.0}
        require_same(case, case.fit(**options), case.fit(RememberedSteps(), **options), "primal and dual", only_scores=average)
    return None


def linear_kernel_equals_weights(case):
    """A linear kernel instead of the weights raises an error, or trains the same model. Of a map it only calls `cell`, `explicit_part`."""
    if type(case.parts.weights) is not PrimalWeights or not isinstance(case.parts.trainer, OnlineTrainer):
        return None                         # no kernel takes the place of such weights
    options = {"epochs": 2, "average": False}
    try:
        kernel = case.fit("dual-kernel", **options, kernel="linear")
    except StructPercError:
        return None
    name = name_of(case.parts.features)
    require_same(case, case.fit(**options), kernel, f"{name}.scores and the linear kernel over the rows that {name}.cell names")
    return None


def compiled_equals_python(case):
    """Parts called through Python train the same model, in every bit, as parts that the loop calls directly."""
    options = {"epochs": 3, "average": False, "decay": 0.0}
    compiled = case.fit(**options)
    for weights in (False, True):
        python = case.fit(PythonCalls(weights, update=case.parts.trainer.online), **options)
        require_same(case, compiled, python, "compiled and called from Python")
        if case.parts.weights.vector() is not None:
            one, other = compiled.model.parts.weights.vector(), python.model.parts.weights.vector()
            require(np.array_equal(one, other), "compiled and called from Python: the weights differ in some bit.")
    return None


def saving_keeps_everything(case):
    """A saved and loaded engine predicts the same and goes on learning the same."""
    engine, data = case.fit(epochs=2, average=case.parts.trainer.online and not case.no_average), case.taught
    parts = [p for p in (case.problem, *case.plugins) if not isinstance(p, str)]
    functions = {name: value for name, value in changed_options(engine).items() if callable(value)}     # which no file holds
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        engine.save(path)
        loaded = type(engine).load(path, plugins=parts, **functions)
    for _ in range(2):
        require(predictions(engine, data) == predictions(loaded, data), "a loaded model predicts differently from the saved one.")
        require(np.array_equal(atom_scores(engine, data), atom_scores(loaded, data)),
                "the atom scores of a loaded model differ from the saved one's.")
        require((engine.mistakes_, engine.status_) == (loaded.mistakes_, loaded.status_), "the record of training was not kept.")
        for each in (engine, loaded):
            go_on(each, data)
    return None


def export_predicts_the_same(case):
    """An export raises an error, or predicts as the model does, also for rows far from the training rows."""
    engine, data = case.fit(epochs=2), case.taught
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "exported.py"
        try:
            engine.export(path, "numpy")
        except StructPercError:
            return None
        exported = runpy.run_path(str(path))
    for scale in (1, 16, 256):
        if isinstance(data.X, list):
            X, rows = data.X, case.rows_of(data)
            examples = rows.X if isinstance(X[0], str) and not rows.objects else X      # an export takes what a reader of texts makes
        else:
            X = case.random.normal(size=data.X.shape) * scale
            examples = X if data.offsets is None else np.split(X, data.offsets[1:-1])
        answers, others = listed(engine.predict(X, offsets=data.offsets)), listed(exported["predict"](examples))
        for i, (one, other) in enumerate(zip(answers, others, strict=True)):
            require(one == other, f"predict returns {one} for {plain(examples[i])}, but the exported module returns {other}. Raise an "
                                  f"error for exports, or export what {name_of(case.parts.argmax)} and "
                                  f"{name_of(case.parts.outputs)} return.")
    return None


def interrupting_keeps_what_was_learned(case):
    """Ctrl-C is raised again and leaves a usable model of all steps before it."""
    data = case.taught
    interruptions = [CtrlC(at_step=False)] + [CtrlC(at_step=True)] * isinstance(case.parts.trainer, OnlineTrainer)
    for ctrl_c in interruptions:
        engine = case.engine(ctrl_c, epochs=3, shuffle=False)
        try:
            engine.fit(data.X, data.y, offsets=data.offsets)
        except KeyboardInterrupt:
            pass
        else:
            if ctrl_c.at is None:
                continue        # nothing happened at which it could have been pressed
            raise AssertionError("Ctrl-C during training was swallowed; it must be raised again.")
        require(engine.status_ == INTERRUPTED, f"after Ctrl-C status_ is {engine.status_!r}; expected {INTERRUPTED!r}.")
        predictions(engine, data)
        if isinstance(case.parts.trainer, OnlineTrainer) and ctrl_c.at:
            part = data.take(range(ctrl_c.at))
            expected = case.engine(shuffle=False).partial_fit(part.X, part.y, offsets=part.offsets)
            require(close(atom_scores(engine, data), atom_scores(expected, data)),
                    f"after Ctrl-C at example {ctrl_c.at} the model is not that of the examples before.")
        if case.parts.trainer.online:
            engine.partial_fit(data.X, data.y, offsets=data.offsets)
    return None


CHECKS = (
    plugin_is_used, answers_are_structures, fits_are_alike, units_are_the_maps_business, argmax_maximises, features_add_up,
    constraints_hold, agreeing_is_counting_the_same, decoding_is_undone, cells_are_read_back, loss_is_zero_at_gold,
    augmented_argmax_maximises, further_answers_agree, losses_of_scores_agree, inputs_are_untouched, predicting_changes_nothing,
    predictions_follow_from_scores, separable_set_is_learned, average_is_the_mean, sample_weights_act, dense_equals_csr, primal_equals_dual,
    linear_kernel_equals_weights, compiled_equals_python, saving_keeps_everything, export_predicts_the_same,
    interrupting_keeps_what_was_learned,
)  # fmt: skip


# ---- training ----


def go_on(engine, data) -> None:
    """Learns on: a pass more, or for a trainer that takes no chunks a fit more."""
    (engine.partial_fit if engine.parts_.trainer.online else engine.fit)(data.X, data.y, offsets=data.offsets)


# ---- comparing ----


def require(condition, sentence) -> None:
    if not condition:
        raise AssertionError(sentence)


def name_of(component) -> str:
    return type(component).__name__


def unchanged(before, after) -> bool:
    """Whether two objects are equal, arrays and sparse matrices within them too."""
    if hasattr(before, "indptr"):
        return all(unchanged(getattr(before, name), getattr(after, name)) for name in ("data", "indices", "indptr"))
    if isinstance(before, np.ndarray) and before.dtype != object:
        return np.array_equal(before, after, equal_nan=before.dtype.kind in "fc")
    if isinstance(before, dict):
        return list(before) == list(after) and all(unchanged(before[key], after[key]) for key in before)
    if isinstance(before, (list, tuple, np.ndarray)):
        return len(before) == len(after) and all(map(unchanged, before, after))
    return bool(np.all(before == after))


def reaches(score, best) -> bool:
    return bool(score >= best - 1e-9 * (1 + abs(best)))


def plain(y):
    """A decoded structure as plain values and lists of them, nested as it is, which can be compared."""
    if hasattr(y, "tolist"):
        y = y.tolist()
    if isinstance(y, dict):
        return {key: plain(part) for key, part in y.items()}
    return [plain(part) for part in y] if isinstance(y, (list, tuple)) else y


def listed(structures) -> list:
    """Decoded structures as lists of plain values."""
    return [plain(y) for y in structures]


def predictions(engine, data) -> list:
    return listed(engine.predict(data.X, offsets=data.offsets))


def atom_scores(engine, data) -> np.ndarray:
    return np.concatenate([np.ravel(s) for s in engine.atom_scores(data.X, offsets=data.offsets)])


def require_same(case, one, other, what, only_scores=False, other_data=None) -> None:
    """Two engines predicted the same before each step, and score the same in the end."""
    # Averages are divided, so exact ties between them may be broken either way: then only scores are compared.
    data = case.taught
    other_data = data if other_data is None else other_data
    if not only_scores:
        for t, (a, b) in enumerate(zip(listed(one.online_predictions_), listed(other.online_predictions_), strict=False)):
            if a != b:
                require(False, f"{what}: prediction {t} in the order of visiting is {a} and {b}{scores_of(one, data, t, a, b)}.")
        require(one.mistakes_ == other.mistakes_, f"{what}: the mistakes per epoch are {one.mistakes_} and {other.mistakes_}.")
        require(close(one.cumulative_loss_, other.cumulative_loss_),
                f"{what}: the losses add up to {one.cumulative_loss_} and {other.cumulative_loss_}.")
        require(predictions(one, data) == predictions(other, other_data), f"{what}: the trained models predict differently.")
    a, b = atom_scores(one, data), atom_scores(other, other_data)
    require(close(a, b, case.tolerance), f"{what}: the trained models score atoms differently.")


def scores_of(engine, data, t, a, b) -> str:
    """What two different predictions at visit t score, and whether rounding decides between them; empty where that is not known."""
    n = len(engine.online_predictions_) // max(len(engine.mistakes_), 1)
    if engine.shuffle or not engine.parts_.trainer.online or engine.parts_.outputs.partial_gold or n == 0:
        return ""
    options = {name: value for name, value in changed_options(engine).items() if name != "plugins"}
    again = type(engine)(engine.problem, plugins=engine.plugins, **{**options, "average": False})
    for i in [*range(n)] * (t // n) + [*range(t % n)]:
        one = data.take([i])
        again.partial_fit(one.X, one.y, offsets=one.offsets)
    one = data.take([t % n])
    if again.model is None:                # no step was made yet
        return ""
    outputs, rows = again.parts_.outputs, again.parts_.reader.read(one.X, one.offsets)
    x = rows.example(0)
    scores = np.ravel(again.atom_scores(one.X, offsets=one.offsets)[0])
    x.n_atoms = len(scores)
    totals = [float(outputs.count(x, outputs.encode_answers([y], rows)[0]) @ scores) for y in (a, b)]
    tied = reaches(min(totals), max(totals))
    tie = ": a tie? Rounding decides between equal scores, so give `sample` examples without ties" if tied else ""
    return f", which score {totals[0]:.17g} and {totals[1]:.17g}{tie}"


__all__ = ["CHECKS", *(check.__name__ for check in CHECKS)]
