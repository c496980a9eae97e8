"""Checks of whole trainings: what may not change, what is learned, and different ways to the same."""

from __future__ import annotations

import copy
import math
import runpy
import tempfile
from functools import partial
from pathlib import Path

import attrs
import numpy as np

from structperc.basics.errors import PluginError, StructPercError
from structperc.core.component import overrides
from structperc.core.losses import is_additive
from structperc.core.weights import PrimalWeights
from structperc.fitting import plugins as registry
from structperc.fitting.options import changed_options
from structperc.fitting.trainers import INTERRUPTED, OnlineTrainer
from structperc.testing.case import close
from structperc.testing.checks_of_parts import divided_columns, unusable
from structperc.testing.comparing import (
    NOT_LISTED,
    atom_scores,
    go_on,
    listed,
    name_of,
    plain,
    predictions,
    require,
    require_same,
    unchanged,
)
from structperc.testing.twins import CtrlC, PythonCalls, RememberedSteps

MOST_EPOCHS = 3000
NOT_ONLINE = "a trainer of its own drives the examples"
NO_VECTOR = "the weights are no vector"
TRANSFORMED = "the weights transform steps, so no kernel form of them exists"


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
    name = name_of(case.parts.features)
    for plugin in registry.parts_with("kernel"):
        try:
            kernel = case.fit(plugin, **options, kernel="linear")
        except StructPercError:
            continue
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
        answers = listed(engine.predict(X, offsets=data.offsets))
        if "order" in exported:         # of all rows of a query, of which the model returns the best
            others = [sorted(exported["order"](x)[:len(y)].tolist()) for x, y in zip(examples, answers, strict=True)]
            answers = map(sorted, answers)
        else:
            others = listed(exported["predict"](examples))
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
