"""Slow, readable twins of compiled parts, and wrappers that have compiled parts called from Python."""

from __future__ import annotations

import numpy as np

from structperc.core.argmax import Argmax, has_marginals
from structperc.core.features import Features, has_constant_gram, is_constrained
from structperc.core.losses import Loss, is_additive
from structperc.core.outputs import Outputs
from structperc.core.rows import Rows
from structperc.core.updates import Update
from structperc.core.weights import PrimalWeights, Weights
from structperc.fitting.hookspecs import hookimpl


class DualWeights(Weights):
    """w as the list of all steps: w = sum of the remembered steps sum_a c_i[a] phi(x_i, a).

    It adds the steps up again after each of them. With averaging, a step counts by the share of examples visited after it.

    Examples
    --------
    >>> from structperc import Engine, hookimpl
    >>> from structperc.testing import DualWeights
    >>> class Plugin:
    ...     @hookimpl
    ...     def structperc_weights(self, context):
    ...         return DualWeights()
    >>> engine = Engine("cusum", plugins=[Plugin()], epochs=9, preset="paper").fit([[0.0], [1.0]], [1, 2])
    >>> engine.predict([[0.0], [1.0]]).tolist()
    [1, 2]
    """

    def start(self, parts, context):
        super().start(parts, context)
        self.steps = []         # (example, coefficients, examples visited before)
        self.total = np.zeros(self.features.n_weights)
        self.sparse, self.objects, self.average = context.sparse, context.objects, context.average

    def keep(self, x):
        """A copy of the example, which the loop will overwrite. Returns `Example`.

        Parameters
        ----------
        x : Example
        """
        if self.objects:
            rows = Rows([x.object])
        else:
            rows = Rows(x.sparse_rows if self.sparse else np.array(x.rows), np.array([0, x.n_rows]))
        if x.source.first_stage is not None:
            rows.condition(x.source.first_stage[x.first_row:x.first_row + x.n_rows])
        kept = rows.example(0)
        kept.n_atoms = x.n_atoms
        return kept

    def add_up(self) -> None:
        """Adds up all steps."""
        self.total = np.zeros(self.features.n_weights)
        for z, c, _ in self.steps:
            self.features.add(self.total, z, c)

    def scores(self, x):
        return self.features.scores(self.total, x)

    def state(self):
        return {"steps": list(self.steps)}

    def restore(self, state):
        self.steps = list(state["steps"])
        self.add_up()

    def update(self, x, c):
        self.steps.append((self.keep(x), np.array(c), self.n_visited))
        self.add_up()

    def averaged(self):
        if not self.average:
            return self
        mean = DualWeights()
        mean.features = self.features
        mean.average = False
        mean.steps = [(z, c * (self.n_visited - before) / self.n_visited, 0) for z, c, before in self.steps]
        mean.add_up()
        return mean


class RememberedSteps:
    """A plugin, to be named last, that has `DualWeights` replace the weights of the other plugins."""

    name = "remembered-steps"

    @hookimpl(wrapper=True)
    def structperc_weights(self, context):
        yield
        return DualWeights()


class PlainWeights(Weights):
    """w as a vector, without averaging."""

    def check(self, context, parts):
        pass                            # `update` projects

    def start(self, parts, context):
        super().start(parts, context)
        self.w = np.zeros(self.features.n_weights)

    def scores(self, x):
        return self.features.scores(self.w, x)

    def update(self, x, c):
        self.features.add(self.w, x, c)
        self.features.project(self.w, x)

    def state(self):
        return {"w": self.w.copy()}

    def restore(self, state):
        self.w = np.array(state["w"], dtype=float)

    def vector(self):
        return self.w

    def assign(self, vector, n_visited):
        self.w, self.n_visited = np.array(vector, dtype=float), n_visited


class Called:
    """Passes the engine's questions on to the part that it wraps."""

    def __init__(self, target):
        self.target = target

    def start(self, parts, context):
        super().start(parts, context)
        self.target.start(parts, context)

    def check(self, context, parts):
        self.target.check(context, parts)

    def __getattr__(self, name):
        return getattr(self.__dict__["target"], name)       # what only the wrapped class has, such as `set_costs`


class CalledFeatures(Called, Features):
    """A feature map that the loop calls through Python."""

    def __init__(self, target):
        super().__init__(target)
        layout = target.layout
        self.shape(layout.n_weights, atoms_per_example=layout.atoms_per_example, n_blocks=layout.n_blocks)
        if is_constrained(target):
            self.project = target.project
        if has_constant_gram(target):
            self.constant_gram = target.constant_gram

    def n_atoms(self, x):
        return self.target.n_atoms(x)

    def scores(self, w, x):
        return self.target.scores(w, x)

    def add(self, w, x, c):
        self.target.add(w, x, c)

    def norm(self, x, c):
        return self.target.norm(x, c)

    def inner(self, x, a, z, b):
        return self.target.inner(x, a, z, b)

    def cell(self, x, a):
        return self.target.cell(x, a)

    def explicit_part(self):
        own = self.target.explicit_part()
        return None if own is None else CalledFeatures(own)


class CalledArgmax(Called, Argmax):
    """A solver that the loop calls through Python."""

    def check_allowed(self, rows):
        self.target.check_allowed(rows)

    def argmax(self, scores, x):
        return self.target.argmax(scores, x)

    def argmax_augmented(self, scores, x, gold, loss, scale):
        return self.target.argmax_augmented(scores, x, gold, loss, scale)

    def searches_with(self, loss):
        return self.target.searches_with(loss)

    def k_best(self, scores, x, k):
        return self.target.k_best(scores, x, k)

    def max_marginals(self, scores, x):
        return self.target.max_marginals(scores, x)


class CalledMarginals(CalledArgmax):
    """The same of a solver with marginals."""

    def marginals(self, scores, x):
        return self.target.marginals(scores, x)


class CalledLoss(Called, Loss):
    """A loss that the loop calls through Python."""

    def set_costs(self, costs, gold, n_examples):
        self.target.set_costs(costs, gold, n_examples)

    @property
    def training_only(self):
        return self.target.training_only

    def forget_costs(self):
        self.target.forget_costs()

    @property
    def largest(self):
        return self.target.largest

    def value(self, gold, y, x=None):
        return self.target.value(gold, y, x)


class CalledAdditiveLoss(CalledLoss):
    """The same of a loss that is a sum over atoms."""

    def augment(self, gold, scores, scale, x=None):
        return self.target.augment(gold, scores, scale, x)


class CalledUpdate(Called, Update):
    """An update rule that the loop calls through Python."""

    def __init__(self, target):
        super().__init__(target)
        self.when, self.needs = target.when, target.needs

    def searches(self, loss_weight):
        return self.target.searches(loss_weight)

    def check_order(self, context, parts):
        self.target.check_order(context, parts)

    def step(self, trial):
        return self.target.step(trial)


def called_outputs(outputs):
    """The same output space, counting through Python."""
    remake, (kind, arguments, options, attributes) = outputs.__reduce__()

    class CalledOutputs(kind):
        def count(self, x, y):
            return kind.count(self, x, y)

    if kind.encode is Outputs.encode and kind.decode is Outputs.decode:         # which ask whether `count` is replaced
        CalledOutputs.encode = lambda self, y, rows: outputs.encode(y, rows)
        CalledOutputs.decode = lambda self, y, x: outputs.decode(y, x)
    called = remake(CalledOutputs, arguments, options, attributes)
    called.partial_gold = outputs.partial_gold
    return called


class PythonCalls:
    """A plugin that has every part called from Python, with the library's own weights too. Name it last.

    `update=False` leaves the update rule as it is, for trainers that make steps of their own.
    """

    name = "python-calls"

    def __init__(self, weights=True, update=True):
        self.weights, self.update = weights, update

    @hookimpl(wrapper=True)
    def structperc_outputs(self, context):
        return called_outputs((yield))

    @hookimpl(wrapper=True)
    def structperc_features(self, context):
        return CalledFeatures((yield))

    @hookimpl(wrapper=True)
    def structperc_argmax(self, context):
        argmax = yield
        return (CalledMarginals if has_marginals(argmax) else CalledArgmax)(argmax)

    @hookimpl(wrapper=True)
    def structperc_loss(self, context):
        loss = yield
        return (CalledAdditiveLoss if is_additive(loss) else CalledLoss)(loss)

    @hookimpl(wrapper=True)
    def structperc_update(self, context):
        update = yield
        return CalledUpdate(update) if self.update else update

    @hookimpl(wrapper=True)
    def structperc_weights(self, context):
        weights = yield
        return PlainWeights() if self.weights and type(weights) is PrimalWeights else weights


class InterruptedUpdate(CalledUpdate):
    """Stops training, as Ctrl-C does, at its second step; `at` is the example of that step."""

    def __init__(self, target, plugin):
        super().__init__(target)
        self.plugin, self.steps = plugin, 0

    def step(self, trial):
        self.steps += 1
        if self.steps == 2:
            self.plugin.at = trial.x.index
            raise KeyboardInterrupt
        return self.target.step(trial)


class CtrlC:
    """A plugin that presses Ctrl-C: at the second step, or at the end of the first epoch."""

    name = "ctrl-c"

    def __init__(self, at_step):
        self.at_step, self.at = at_step, None

    @hookimpl(wrapper=True)
    def structperc_update(self, context):
        update = yield
        return InterruptedUpdate(update, self) if self.at_step else update

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        if not self.at_step:
            self.at = record.examples
            raise KeyboardInterrupt
