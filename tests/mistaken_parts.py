"""A problem with parts to replace, and parts as authors write them, with a mistake each."""

import numpy as np
from scipy.sparse import csr_array

from structperc import Engine, hookimpl
from structperc.components import (
    AbsoluteLoss,
    Argmax,
    Loss,
    Outputs,
    PrimalWeights,
    Reader,
    RowFeatures,
    Trainer,
    Update,
    VectorFeatures,
    Weights,
)  # fmt: skip
from structperc.errors import PluginError
from structperc.pictures import Display
from structperc.testing import check_problem

RNG = np.random.default_rng(0)
BLOCKS = [RNG.normal(size=(3, 2)) for _ in range(12)]
CHOSEN = [(int(np.argmax(block[:, 0])),) for block in BLOCKS]
X, Y = RNG.normal(size=(12, 3)), [1, 2, 3] * 4


class One(Outputs):
    def enumerate(self, x):
        return [(a,) for a in range(x.n_rows)]


class Best(Argmax):
    def argmax(self, scores, x):
        return (int(np.argmax(scores)),)


class Choice:
    """A problem with parts to replace: a class, or what a hook returns."""

    name = "choice"

    def __init__(self, outputs=One, features=None, argmax=Best, **more):
        self.outputs, self.features, self.argmax = outputs, features or (lambda context: RowFeatures(context.n_features)), argmax
        for name, value in more.items():
            setattr(self, name, value)

    @hookimpl
    def structperc_outputs(self, context):
        return self.outputs() if isinstance(self.outputs, type) else self.outputs

    @hookimpl
    def structperc_features(self, context):
        return self.features(context)

    @hookimpl
    def structperc_argmax(self, context):
        return self.argmax() if isinstance(self.argmax, type) else self.argmax

    def sample(self, random, n_examples):
        return [random.normal(size=(n, 2)) for n in random.integers(1, 4, n_examples)]


def damaged(rows):
    """A sparse matrix that reads beyond its columns."""
    matrix = csr_array(rows)
    matrix.indices = matrix.indices + 2**30
    return matrix


def with_method(base, name, function):
    """A subclass with this method."""
    return type(f"My{base.__name__}", (base,), {name: function})


def fit(plugin=None, X=BLOCKS, y=CHOSEN, problem=None, **options):
    return Engine(plugin if problem is None else problem, plugins=[] if problem is None else [plugin],
                  **{"epochs": 2, "random_state": 0, **options}).fit(X, y)


def choice(**parts):
    return lambda: fit(Choice(**parts)).predict(BLOCKS)


def labels(part, **options):
    return lambda: fit(part, X, Y, "multiclass", **options).predict(X)


def suite(plugin, *checks, **options):
    return lambda: check_problem(plugin, checks=checks or None, **options)


def argmax(function):
    return choice(argmax=with_method(Best, "argmax", function))


def outputs(**methods):
    return choice(outputs=type("MyOutputs", (One,), methods))


def features(**methods):
    return choice(features=lambda context: type("MyMap", (VectorFeatures,), methods)(2))


def loss(**methods):
    return labels(type("MyLoss", (Loss,), methods)(), loss_weight=1.0)


def rule(**methods):
    return labels(type("MyRule", (Update,), methods)())


def trainer(function):
    return labels(with_method(Trainer, "train", function)(), epochs=1)


def store(**methods):
    return labels(type("MyStore", (Weights,), methods)())


def reader(**methods):
    return labels(type("MyReader", (Reader,), methods)())


class Plain:
    pass


def hooks(**functions):
    return type("Hooks", (), {"name": "hooks", **functions})()


class Scored(Best):
    def k_best(self, scores, x, k):
        return [(0, 1), (1, 2)][:k]


class Deaf(Best):
    def argmax_augmented(self, scores, x, gold, loss, scale):
        return self.argmax(scores, x)


class Outside(Best):
    exact = False

    def argmax(self, scores, x):
        return tuple(range(x.n_rows))


class Random(Best):
    def argmax(self, scores, x):
        return (int(np.random.default_rng().integers(x.n_rows)),)


class Remembers(Update):
    seen = []

    def step(self, trial):
        self.seen.append(1)
        return trial.difference() * len(self.seen)


class Gap(Update):
    def start(self, parts, context):
        self.n = 0

    def step(self, trial):
        self.n += 1
        return trial.difference() / self.n


class HalfState(PrimalWeights):
    """A store whose state lacks an array."""

    def start(self, parts, context):
        super().start(parts, context)
        self.offset = 0.0

    def update(self, x, c):
        super().update(x, c)
        self.offset += 1.0

    def scores(self, x):
        return super().scores(x) + self.offset * np.arange(x.n_atoms)


class Bare(Outputs):
    """Structures that nobody lists."""


class Unscaled(AbsoluteLoss):
    def augment(self, gold, scores, scale, x=None):
        return super().augment(gold, scores, 1.0, x)


class Measured(Loss):
    def value(self, gold, y, x=None):
        return float(gold != y)


class Twice(Loss):
    largest = 0.5

    def value(self, gold, y, x=None):
        return 2.0 * (gold != y)


class Listed(Best):
    def k_best(self, scores, x, k):
        return [((int(a),), float(scores[a])) for a in np.argsort(-scores)[:k]]


class Fails:
    @hookimpl
    def structperc_epoch_end(self, engine, record):
        return record.missing


class NeedsArguments:
    def __init__(self, size):
        self.size = size


class HalfStep(Update):
    def __init__(self, factor=0.5):
        self.factor = factor

    def step(self, trial):
        return self.factor * trial.weight * trial.difference()


class WithoutSelf:
    @hookimpl
    def structperc_loss(context):
        return Measured()


def sort_scores(self, scores, x):
    chosen = (int(np.argmax(scores)),)
    scores.sort()
    return chosen


class LambdaState(HalfStep):
    def state(self):
        return {"f": lambda c: c}


class Spent(Outputs):
    def __init__(self):
        self.all = iter([(0,), (1,), (2,)])

    def enumerate(self, x):
        return self.all


class BatchMean(Reader):
    def read(self, X, offsets=None):
        X = np.asarray(X, dtype=float)
        return super().read(X - X.mean(axis=0), offsets)


class Shuffled(Update):
    random = np.random.default_rng(0)

    def step(self, trial):
        return trial.difference() * self.random.random()


class Rewrites:
    @hookimpl
    def structperc_epoch_end(self, engine, record):
        record.mistakes = 0


class SameNames(Display):
    def atom_names(self, x):
        return ["row"] * x.n_atoms


def refuse(self, x, y):
    raise PluginError("never")


def listed(k_best):
    return lambda: fit(Choice(argmax=with_method(Best, "k_best", k_best))).predict_k_best(BLOCKS, 2)


def several(enumerate):
    return lambda: fit(Choice(outputs=type("MyOutputs", (Outputs,), {"enumerate": enumerate}))).predict_k_best(BLOCKS, 2)


def named(feature_name):
    methods = {"vectors": lambda self, x: x.rows, "feature_name": feature_name}
    return str(fit(Choice(features=lambda context: type("MyMap", (VectorFeatures,), methods)(2))).explain(BLOCKS[0]))


def written(write):
    from structperc.cli.files import written_cells

    return written_cells(with_method(One, "write_cells", write)(), (0,), 3)


def whole_store(**methods):
    return store(**{"scores": lambda self, x: np.zeros(x.n_atoms), "update": lambda self, x, c: None, "state": lambda self: {},
                    "restore": lambda self, state: None, **methods})


class Estimator:
    def get_params(self):
        return {}
