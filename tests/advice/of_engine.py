"""Messages of engines, model files, streams and callbacks."""

import contextlib
import io
from decimal import Decimal

import numpy as np
import pytest
from scipy.sparse import csr_array

from advice.followed import SENTENCES, TAGS, X, Y, messages_of
from structperc import Engine, Option, distributed, hookimpl
from structperc.callbacks import Checkpoint, HeldOutLoss
from structperc.components import Loss
from structperc.distributed import parts as distributed_parts
from structperc.engine.model_file.header import plain, sequence_to_header
from structperc.estimators import DecisionMaker, PRank
from structperc.fitting import plugins as registry
from structperc.fitting import scaling
from structperc.streams import fit_stream
from structperc.testing.case import make_case


def engine(problem="multiclass", X=X, y=Y, **options):
    return Engine(problem, **{"random_state": 0, **options}).fit(X, y)


def tagger(**options):
    return engine("sequence", SENTENCES, TAGS, **options)


def loaded(model, **options):
    file = io.BytesIO()
    model.save(file)
    file.seek(0)
    return Engine.load(file, **options)


def dot(A, B):
    return A @ B.T


def other(A, B):
    return -A @ B.T


other.__name__, other.__qualname__ = dot.__name__, dot.__qualname__


def third(A, B):
    return A @ B.T


def kernel(**options):
    return engine("cusum", plugins=["dual-kernel"], **options)


def sharded(n_parts):
    """A training by shards on parts."""
    return distributed.fit(Engine("multiclass", n_shards=2), list(zip(np.split(X, n_parts), np.split(Y, n_parts), strict=True)))


def with_little_room(rows):
    """Kernels of sparse rows where dense copies have at most so many rows at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scaling, "MOST_DENSE", 12 * X.shape[1])
        trained = Engine("cusum", plugins=["dual-kernel"], kernel="rbf", scale=True, classes=[0, 1, 2])
        for start in range(0, len(X), rows):
            trained.partial_fit(csr_array(X[start:start + rows]), Y[start:start + rows])


class Half(Loss):
    """Half of the zero-one loss."""

    def value(self, gold, y, x=None):
        return 0.5 * (gold != y)


class Sized:
    """Declares an option."""

    def __init__(self, name, option):
        self.name, self.options = name, {"size": option}

    @hookimpl
    def structperc_loss(self, context):
        return None


class Stopping:
    """Stops at the end of the first epoch."""

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        engine.keep_weights()
        engine.stop()


class Part:
    """A problem's loss, without saying whose."""

    @hookimpl
    def structperc_loss(self, context):
        return Half()


class PartOfCusum(Part):
    """The same with its problem."""

    problem = "cusum"


ONE = Option(1)


def stopped_and_resumed(folder, y=Y, **options):
    """A training with a checkpoint, and one that resumes it."""
    file = folder / f"{len(list(folder.iterdir()))}.ckpt"
    Engine("multiclass", epochs=2, random_state=0, plugins=[Checkpoint(file)]).fit(X, Y)
    return Engine("multiclass", **{"epochs": 2, "random_state": 0, **options}, plugins=[Checkpoint(file)]).fit(X, y, resume=True)


def begun_anew(folder, y=Y, **options):
    return Engine("multiclass", **{"epochs": 2, "random_state": 0, **options}, plugins=[Checkpoint(folder / "new.ckpt")]).fit(X, y)


def interrupted(parts):
    """Three parts, and an end that nobody expects."""
    yield from parts[:3]
    raise ZeroDivisionError


def stream_resumed(folder, n_parts):
    parts = [(X[at:at + 6], Y[at:at + 6]) for at in range(0, 24, 6)]
    file = folder / f"{n_parts}.ckpt"
    options = {"classes": [0, 1, 2], "epochs": 1, "random_state": 0}
    with contextlib.suppress(ZeroDivisionError):
        fit_stream(Engine("multiclass", **options, plugins=[Checkpoint(file, every=1)]), interrupted(parts), ahead=False)
    return fit_stream(Engine("multiclass", **options, plugins=[Checkpoint(file, every=1)]), iter(parts[:n_parts]), resume=True)


def cheapest(costs, x):
    return [int(np.argmin(costs))]


def decisions(loss):
    random = np.random.default_rng(0)
    X = list(random.normal(size=(12, 3, 2)))
    costs = [x @ [1.0, 0.5] for x in X]
    y = [cheapest(one, None) for one in costs]
    held_out = HeldOutLoss(X[:4], y[:4])
    maker = DecisionMaker(decide=cheapest, loss=loss, loss_weight=1.0, update="direct", random_state=0, plugins=[held_out])
    return maker.fit(X, y, **({} if loss == "hamming" else {"costs": costs}))


MESSAGES = [
    *messages_of("structperc/callbacks.py",
        ("without y; pass both", lambda _: HeldOutLoss((X, Y)), lambda _: HeldOutLoss(X, Y)),
        ("only training examples have its costs", lambda _: decisions("decision-cost"), lambda _: decisions("hamming"))),
    *messages_of("structperc/basics/labels.py",
        ("For a column of a table, pass the column itself", lambda _: engine(y="level"), lambda _: engine(y={"level": Y}["level"])),
        (".toarray().ravel().", lambda _: engine(y=sparse(Y)), lambda _: engine(y=sparse(Y).toarray().ravel())),
        ("which can be read only once; pass list(", lambda _: engine(y=iter(Y)), lambda _: engine(y=list(iter(Y)))),
        ("which a model file cannot store", lambda _: loaded(engine(y=[Decimal(int(k)) for k in Y])),
         lambda _: loaded(engine(y=[str(Decimal(int(k))) for k in Y]))),
        ("so its labels are unknown; pass data", lambda _: engine(y=[]),
         lambda _: Engine("multiclass").partial_fit(X, Y), lambda _: Engine("multiclass", classes=[0, 1, 2]).partial_fit(X, Y))),
    *messages_of("structperc/fitting/option.py",
        ("which can be read only once; pass list(", lambda _: tagger(forbidden_transitions=iter([("x", "x")])),
         lambda _: tagger(forbidden_transitions=list(iter([("x", "x")]))))),
    *messages_of("structperc/distributed/parts.py",
        ("In a list each part is a pair (X, y)", lambda _: distributed_parts.parts_of([X], [Y]),
         lambda _: distributed_parts.parts_of([(X, Y)]),
         lambda _: distributed_parts.parts_of([{"X": X, "y": Y}]), lambda _: distributed_parts.parts_of(dask(X), dask(Y))),
        ("X comes in parts, and", lambda _: distributed_parts.parts_of(dask(X), Y),
         lambda _: distributed_parts.parts_of(dask(X), dask(Y)))),
    *messages_of("structperc/fitting/answers.py", ("is many hidden structures", lambda _: trees("trees"), lambda _: trees("exact"))),
    *messages_of("structperc/engine/baselines.py",
        ("the rows have named features, whose mean is no example", lambda _: tagger().explain(SENTENCES[0], baseline="mean"),
         lambda _: tagger().explain(SENTENCES[0]), lambda _: tagger().explain(SENTENCES[0], baseline="zero")),
        ("this model has no means", lambda _: without_means().explain(X[0], baseline="mean"),
         lambda _: without_means().explain(X[0], baseline=X[1]), lambda _: without_means().explain(X[0], baseline="zero"))),
    *messages_of("structperc/fitting/builtin.py",
        ("compares single labels, but the outputs", lambda _: matched(loss="absolute"), lambda _: matched(loss="hamming"),
         lambda _: matched(loss="zero-one")),
        ("mixes shards, and n_shards=1 makes none", lambda _: engine(trainer="bounded-sum"),
         lambda _: engine(trainer="bounded-sum", n_shards=2),
         lambda _: engine())),
    *messages_of("structperc/engine/checkpoints/files.py",
        ("but none is named; pass plugins=[Checkpoint(path)]", lambda _: Engine("multiclass").fit(X, Y, resume=True),
         lambda folder: Engine("multiclass", plugins=[Checkpoint(folder / "c")]).fit(X, Y, resume=True)),
        ("is of a training with another", lambda folder: stopped_and_resumed(folder, Y[::-1]), stopped_and_resumed,
         lambda folder: begun_anew(folder, Y[::-1])),
        ("and this one has", lambda folder: stopped_and_resumed(folder, average=False), stopped_and_resumed,
         lambda folder: begun_anew(folder, average=False))),
    *messages_of("structperc/fitting/context.py",
        ("features, but this model was trained with", lambda _: engine().predict(X[:, :1]), lambda _: engine().predict(X)),
        ("there. Pass the same columns in the same order", lambda _: engine(X=frame("ab")).predict(frame("ba")),
         lambda _: engine(X=frame("ab")).predict(frame("ab")))),
    *messages_of("structperc/engine/engine.py",
        ("stop() was called while nothing is being trained", lambda _: Engine("cusum").stop(), lambda _: engine(plugins=[Stopping()])),
        ("keep_weights() was called while nothing", lambda _: Engine("cusum").keep_weights(), lambda _: engine(plugins=[Stopping()])),
        ("is not fitted yet; call fit or partial_fit first.", lambda _: Engine("multiclass").predict(X), lambda _: engine().predict(X),
         lambda _: Engine("multiclass").partial_fit(X, Y).predict(X)),
        ("is not fitted yet, so it has no", lambda _: Engine("multiclass").coef_, lambda _: engine().coef_,
         lambda _: Engine("multiclass").partial_fit(X, Y).coef_)),
    *messages_of("structperc/engine/exports/formats.py",
        ("names no format; pass `to`", lambda folder: engine().export(folder / "model.txt"),
         lambda folder: engine().export(folder / "model.txt", to="c"), lambda folder: engine().export(folder / "model.js"))),
    *messages_of("structperc/engine/model_file/header.py",
        ("strings, lists, None or a", lambda _: plain(object(), "size"), lambda _: plain([1, 2.5, "a", None], "size")),
        ("cannot be written to a model file; use numbers or strings", lambda _: labels_in_a_header(Decimal(1)),
         lambda _: labels_in_a_header(1.5), lambda _: labels_in_a_header("1.5"))),
    *messages_of("structperc/engine/model_file/loading.py",
        ("needs the object", lambda _: loaded(engine("cusum", plugins=[Half()])),
         lambda _: loaded(engine("cusum", plugins=[Half()]), plugins=[Half()])),
        ("which a model file cannot hold; pass the same again", lambda _: loaded(kernel(kernel=dot)),
         lambda _: loaded(kernel(kernel=dot), kernel=dot)),
        ("was passed; pass the same again", lambda _: loaded(kernel(kernel=dot), kernel=third),
         lambda _: loaded(kernel(kernel=dot), kernel=dot)),
        ("and the function of the same name returns other values", lambda _: loaded(kernel(kernel=dot), kernel=other),
         lambda _: loaded(kernel(kernel=dot), kernel=dot))),
    *messages_of("structperc/engine/model_file/saving.py",
        ("an engine without training cannot be saved", lambda _: loaded(Engine("cusum")), lambda _: loaded(engine()),
         lambda _: loaded(Engine("multiclass").partial_fit(X, Y)))),
    *messages_of("structperc/fitting/plugins.py",
        ("is an estimator, not a plugin", lambda _: Engine(PRank), lambda _: Engine("cusum"), lambda _: PRank().fit(X, Y)),
        ("is a class whose objects need arguments", lambda _: Engine("cusum", plugins=[Sized]),
         lambda _: Engine("cusum", plugins=[Sized("own", ONE)])),
        ("so one value would set both", lambda _: Engine("cusum", plugins=[Sized("a", Option(1)), Sized("b", Option(1))]),
         lambda _: Engine("cusum", plugins=[Sized("a", ONE)]), lambda _: Engine("cusum", plugins=[Sized("a", ONE), Sized("b", ONE)])),
        ("; uninstall one, or pass the plugin object itself", lambda folder: of_two_distributions(folder, "twice"),
         lambda folder: of_two_distributions(folder, Half()))),
    *messages_of("structperc/fitting/trainers.py",
        ("solves one problem over all examples; call fit",
         lambda _: Engine("multiclass", plugins=["batch"], trainer="bcfw").partial_fit(X, Y),
         lambda _: Engine("multiclass", plugins=["batch"], trainer="bcfw").fit(X, Y)),
        ("mixes weights that shards have trained apart", lambda _: kernel(kernel="rbf", n_shards=2),
         lambda _: kernel(kernel="rbf", n_shards=1),
         lambda _: fit_stream(Engine("multiclass", plugins=["dual-kernel"], kernel="rbf"), [(X, Y)]))),
    *messages_of("structperc/distributed/training.py",
        ("Divide the data, or call fit", lambda _: sharded(1), lambda _: sharded(2), lambda _: engine().fit(X, Y))),
    *messages_of("structperc/fitting/scaling.py",
        ("Pass fewer rows at a time, or train with scale=False", lambda _: with_little_room(24), lambda _: with_little_room(12),
         lambda _: kernel(X=csr_array(X), kernel="rbf", scale=False))),
    *messages_of("structperc/fitting/weighing.py",
        ("weighs examples by the one label that each has", lambda _: tagger(class_weight={"x": 2}), lambda _: weighted_tagger(),
         lambda _: tagger(loss=[[0, 1], [5, 0]]))),
    *messages_of("structperc/streams.py",
        ("an iterator gives its parts only once", lambda _: fit_stream(Engine("multiclass", epochs=2, classes=[0, 1, 2]), iter([(X, Y)])),
         lambda _: fit_stream(Engine("multiclass", epochs=2, classes=[0, 1, 2]), lambda: iter([(X, Y)]))),
        ("and the checkpoint has learned from", lambda folder: stream_resumed(folder, 1), lambda folder: stream_resumed(folder, 4))),
    *messages_of("structperc/testing/case.py",
        ("Name the problem it is for in its attribute", lambda _: make_case(Part(), (), {}, 0),
         lambda _: make_case(PartOfCusum(), (), {}, 0),
         lambda _: make_case("cusum", (Half(),), {}, 0))),
]


def sparse(y):
    from scipy.sparse import csr_array

    return csr_array(y.reshape(-1, 1))


def dask(array):
    return pytest.importorskip("dask.array").from_array(array, chunks=(12, *array.shape[1:]))


def frame(names):
    from pandas import DataFrame

    return DataFrame(X, columns=list(names))


def trees(solver):
    random = np.random.default_rng(0)
    X, y = [random.normal(size=(4, 4, 2)) for _ in range(3)], [random.integers(0, 2, 4) for _ in range(3)]
    options = {} if solver == "exact" else {"solver": solver}
    return Engine("clusters", random_state=0, **options).fit(X, y).predict_k_best(X, 2)


def without_means():
    """A model as older versions saved it."""
    model = engine(scale=False)
    model.model_.column_sums = None
    return model


def matched(**options):
    pairs = [np.array([[0.0, 0.0, 1.0], [0.0, 1.0, -1.0], [1.0, 0.0, 2.0]])] * 4
    return Engine("matching", epochs=1, **options).fit(pairs, [[0]] * 4)


def labels_in_a_header(label):
    """What is written of labels that a plugin's outputs have chosen."""
    return sequence_to_header(np.array([label, "b"], dtype=object), "labels", "the label", {})


def weighted_tagger():
    return Engine("sequence", random_state=0).fit(SENTENCES, TAGS, sample_weight=[1, 2, 1])


def of_two_distributions(folder, spec):
    """An engine with a plugin, where two distributions provide one of the name "twice"."""
    for owner in ("first", "second"):
        info = folder / f"{owner}-1.0.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {owner}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[structperc]\ntwice = structperc_cusum\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        registry.discover(refresh=True)
        try:
            return Engine("cusum", plugins=[spec])
        finally:
            patch.undo()
            registry.discover(refresh=True)
