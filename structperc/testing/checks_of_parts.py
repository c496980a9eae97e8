"""Checks of one part at a time. Each returns None, or why it does not apply, and raises AssertionError with what it found."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from structperc.basics.errors import PluginError
from structperc.core.component import LIBRARY, overrides
from structperc.core.features import is_constrained
from structperc.core.losses import is_additive
from structperc.core.outputs import as_structure, decode_many
from structperc.fitting import answers as inference
from structperc.fitting.scaling import Scaling
from structperc.problems.losses import LOSSES
from structperc.testing import given_scores
from structperc.testing.case import close
from structperc.testing.comparing import NOT_LISTED, listed, name_of, plain, reaches, require


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
