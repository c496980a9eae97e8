"""Training that is killed at any moment and resumed ends with the bits of undisturbed training."""

import io
import itertools
import json
import os
import shutil
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from plain import Engine
from reference.model_files import saved
from structperc_dual_kernel.nystroem import NystroemReader

from structperc.callbacks import Checkpoint, EarlyStopping, History
from structperc.components import OnlineTrainer, Trainer, Weights
from structperc.errors import DataError, ModelFormatError, OptionError
from structperc.schedules import inverse_sqrt

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(40, 4))
Y = 1 + np.digitize(X @ [2, -1, 0, 1] + 0.5 * RANDOM.normal(size=40), [-1, 1])
WEIGHTS = np.array([0, 1, 2, 1] * 10)
COSTS = RANDOM.integers(1, 4, (40, 3)) * (np.arange(3) != Y[:, None] - 1)
TOKENS = [[{"w": f"w{v}"} for v in RANDOM.integers(0, 30, n)] for n in RANDOM.integers(1, 7, 20)]
TAGS = [["ABC"[(len(t) + int(t["w"][1:])) % 3] for t in sentence] for sentence in TOKENS]
TEXTS = ["".join("ab"[v] for v in RANDOM.integers(0, 2, n)) for n in RANDOM.integers(2, 7, 24)]
TREES = [f"(S (A {a}) (B (C {b}) {c}))" for a, b, c in RANDOM.integers(0, 4, (24, 3))]
FEW = Y[:24]
LISTS = [RANDOM.permutation([1, 1, 0, 0]).tolist() for _ in range(10)]
SHUFFLED = {"shuffle": True, "random_state": 1}


def kernel(A, B):
    return (A @ B.T + 1) ** 2


# name: problem, X, y, options, arguments of fit
PRIMAL = {
    "online": ("multiclass", X, Y, {}, {}),
    "shuffled and averaged": ("cusum", X, Y, {"average": True, **SHUFFLED}, {}),
    "decayed": ("multiclass", X, Y, {"average": True, "decay": inverse_sqrt(0.1), **SHUFFLED}, {}),
    "scheduled steps": ("multiclass", X, Y, {"update": "latent", "step_size": inverse_sqrt()}, {}),
    "passive-aggressive": ("multiclass", X, Y, {"update": "pa2", "C": 0.3, "loss": np.array([[0, 1, 3], [2, 0, 1], [1, 4, 0]])}, {}),
    "step sizes of each weight": ("sequence", TOKENS, TAGS, {"update": "adagrad", "step_size": 0.1, "average": True, **SHUFFLED}, {}),
    "searched with the loss": ("multiclass", X, Y, {"loss_weight": 0.7, "average": True}, {}),
    "exact steps": ("prank", X, Y, {"update": "exact-pa1", **SHUFFLED}, {}),
    "weighted": ("cusum", X, Y, {"average": True, **SHUFFLED}, {"sample_weight": WEIGHTS}),
    "weighed by visits": ("prank", X, Y, {"weighting": "visits", "class_weight": {3: 4.5}, **SHUFFLED}, {"sample_weight": WEIGHTS}),
    "weighed by visits in order": ("cusum", X, Y, {"weighting": "visits", "random_state": 2}, {"sample_weight": WEIGHTS}),
    "costs of each example": ("multiclass", X, Y, {"loss": "costs", "loss_weight": 1.0}, {"costs": COSTS}),
    "intervals": ("interval-pa", X, np.stack([Y, np.minimum(Y + (Y == 2), 3)], axis=1), SHUFFLED, {}),
    "sparse": ("multiclass", sp.random(40, 9, 0.3, format="csr", random_state=0), Y, SHUFFLED, {}),
    "sequences": ("sequence", TOKENS, TAGS, {"average": True, **SHUFFLED}, {}),
    "hashed sequences": ("sequence", TOKENS, TAGS, {"n_hashed": 2**12, "average": True}, {}),
    "rankings": ("latent-ranking", X, LISTS, {"k": 2, **SHUFFLED}, {"lengths": [4] * 10}),
    "online predictions": ("cusum", X, Y, SHUFFLED, {"record_predictions": True}),
    "online predictions of sequences": ("sequence", TOKENS, TAGS, SHUFFLED, {"record_predictions": True}),
    "an approximate kernel": ("multiclass", X, Y, {"plugins": [NystroemReader(n_components=8)], **SHUFFLED}, {}),
    "a generator": ("multiclass", X, Y, {"shuffle": True}, {}),
    "batch": ("multiclass", X, Y, {"plugins": ["batch"], "trainer": "bcfw", "C": 0.5, **SHUFFLED}, {}),
    "batch to the end": ("cusum", X, Y, {"plugins": ["batch"], "trainer": "bcfw", "C": 0.05, "epochs": 100, "tolerance": 0.05}, {}),
    "boosting": ("adaboost-or", X, Y, {}, {"record_predictions": True}),
    "boosting with weights": ("adaboost-or", X, Y, {"loss": "squared", "epochs": 7}, {"sample_weight": WEIGHTS}),
    "latent batch": ("latent-ranking", X, LISTS, {"k": 2, "plugins": ["batch"], "trainer": "cccp", "C": 0.1, "epochs": 12},
                     {"lengths": [4] * 10}),
}
DUAL = {
    "a kernel": ("multiclass", X, Y, {"kernel": "rbf", "average": True, **SHUFFLED}, {}),
    "a decayed kernel": ("cusum", X, Y, {"kernel": "polynomial", "decay": 0.05}, {}),
    "a kernel on sparse rows": ("multiclass", sp.random(40, 9, 0.3, format="csr", random_state=0), Y, {"kernel": "laplacian"}, {}),
    "a budget, the oldest": ("multiclass", X, Y, {"kernel": "rbf", "budget": 7, "average": True}, {}),
    "a budget, at random": ("multiclass", X, Y, {"kernel": "rbf", "budget": 7, "removal": "random", **SHUFFLED}, {}),
    "a budget, the least": ("multiclass", X, Y, {"kernel": "rbf", "budget": 7, "removal": "least"}, {}),
    "a string kernel": ("multiclass", TEXTS, FEW, {"kernel": "subsequence", **SHUFFLED}, {}),
    "a string kernel with a budget": ("multiclass", TEXTS, FEW, {"kernel": "subsequence", "budget": 5}, {}),
    "a tree kernel": ("multiclass", TREES, FEW, {"kernel": "subset-tree"}, {}),
    "a function": ("multiclass", X, Y, {"kernel": kernel}, {}),
    "precomputed values": ("multiclass", kernel(X, X), Y, {"kernel": "precomputed"}, {}),
    "kernels of sequences": ("sequence", [X[i:i + 4] for i in range(0, 40, 4)], [Y[i:i + 4].tolist() for i in range(0, 40, 4)],
                             {"kernel": "rbf", "average": True}, {}),
    "batch with a kernel": ("multiclass", X, Y, {"plugins": ["dual-kernel", "batch"], "kernel": "rbf", "trainer": "bcfw", "C": 0.5}, {}),
}
KINDS = PRIMAL | {name: (problem, X, y, {"plugins": ["dual-kernel"]} | options, fit)
                  for name, (problem, X, y, options, fit) in DUAL.items()}


def engine(name, *observers, **changed):
    problem, _, _, options, _ = KINDS[name]
    options = {"epochs": 4} | options | changed
    if name == "a generator":
        options["random_state"] = np.random.default_rng(5)
    return Engine(problem, **options | {"plugins": [*options.get("plugins", []), *observers]})


def trained(name, *observers, resume=False, **changed):
    _, X, y, _, arguments = KINDS[name]
    return engine(name, *observers, **changed).fit(X, y, resume=resume, **arguments)


def arrays(engine):
    """The arrays of the model file, without its header: the header contains the state of the generator, which may be unseeded."""
    with zipfile.ZipFile(io.BytesIO(saved(engine))) as file:
        return {name: file.read(name) for name in file.namelist() if name not in ("header.npy", "SHA256SUMS")}


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "checkpoint")


@pytest.mark.parametrize("every", [1.0, 0.4, 1.3])
@pytest.mark.parametrize("name", KINDS)
def test_from_every_checkpoint_on_a_training_has_the_bits_of_the_undisturbed_one(name, every, path, copies):
    undisturbed = trained(name, Checkpoint(path, every))
    expected, online = saved(undisturbed), KINDS[name][4].get("record_predictions")
    n, kills = len(undisturbed.mistakes_), list(copies)
    within_epochs = not name.startswith("boosting")         # boosting makes no passes within epochs
    assert len(kills) >= int(n / (every if within_epochs else max(every, 1))) + 1 and n > 1

    for kill in kills[[*KINDS].index(name) % 4::4]:         # together the kinds cover all checkpoints
        shutil.copy(kill, path)
        resumed = trained(name, Checkpoint(path, every), resume=True)
        assert saved(resumed) == expected
        if online:
            assert np.array_equal(resumed.online_predictions_, undisturbed.online_predictions_)


@pytest.mark.parametrize("name", PRIMAL)
def test_checkpoints_do_not_change_the_bits_of_primal_weights(name, path):
    with_checkpoints, without = trained(name, Checkpoint(path, 0.3)), trained(name)

    assert arrays(with_checkpoints) == arrays(without)
    assert with_checkpoints.mistakes_ == without.mistakes_ and with_checkpoints.cumulative_loss_ == without.cumulative_loss_


@pytest.mark.parametrize("every", [1.0, 0.3])
def test_observers_go_on_with_what_they_had_seen(every, path, copies):
    def observers():
        return History(), EarlyStopping(X, Y, patience=2), Checkpoint(path, every)

    history, stopping, last = observers()
    undisturbed = trained("shuffled and averaged", history, stopping, last, epochs=30)
    assert undisturbed.status_ == "early_stopped" and len(history.records) < 30

    for kill in list(copies):
        shutil.copy(kill, path)
        again, stopping_again, last = observers()
        resumed = trained("shuffled and averaged", again, stopping_again, last, resume=True, epochs=30)
        assert saved(resumed) == saved(undisturbed) and resumed.status_ == "early_stopped"
        assert stopping_again.losses == stopping.losses and stopping_again.best_epoch == stopping.best_epoch
        for field in ("epoch", "epochs", "examples", "mistakes", "updates", "loss"):
            assert again.arrays[field].tolist() == history.arrays[field].tolist()


@pytest.mark.parametrize("name", ["shuffled and averaged", "online"])
@pytest.mark.parametrize("every", [1.0, 0.4])
def test_the_weights_of_the_best_epoch_are_kept_in_checkpoints(name, every, path, copies):
    def trained_on(epochs, resume=False):
        stopping = EarlyStopping(-X, Y, patience=100)           # -X: the loss grows, so that the best epoch is an early one
        return trained(name, stopping, Checkpoint(path, every), resume=resume, epochs=epochs, random_state=1), stopping

    longer, _ = trained_on(9)
    os.unlink(path)
    short, stopping = trained_on(4)
    assert stopping.best_epoch < 4 and short.status_ == "max_epochs"
    assert saved(Engine.load(path)) == saved(short)
    resumed, stopping = trained_on(9, resume=True)
    assert saved(resumed) == saved(longer) and len(stopping.losses) == 9


def test_a_generator_goes_on_behind_a_resumed_training_as_behind_an_undisturbed_one(path, copies):
    one, other = (np.random.default_rng(7) for _ in range(2))
    Engine("cusum", epochs=3, shuffle=True, random_state=one, plugins=[Checkpoint(path)]).fit(X, Y)
    shutil.copy(copies[1], path)
    Engine("cusum", epochs=3, shuffle=True, random_state=other, plugins=[Checkpoint(path)]).fit(X, Y, resume=True)
    assert one.random() == other.random()


# ---- files ----


def test_without_a_file_a_training_begins(path):
    assert saved(trained("shuffled and averaged", Checkpoint(path), resume=True)) == saved(trained("shuffled and averaged"))


def test_the_last_two_checkpoints_are_kept_and_load_as_models(path, copies):
    trained("shuffled and averaged", Checkpoint(path, 0.5))
    with open(path, "rb") as last, open(path + ".previous", "rb") as previous, open(copies[-1], "rb") as a, open(copies[-2], "rb") as b:
        assert last.read() == a.read() and previous.read() == b.read()
    assert len(os.listdir(os.path.dirname(path))) == 2 + len(copies)

    models = [Engine.load(copy) for copy in copies]
    assert [len(model.mistakes_) for model in models] == [0, 0, 1, 1, 2, 2, 3, 3, 4]
    assert models[3].coef_.tobytes() == trained("shuffled and averaged", epochs=2).coef_.tobytes()
    assert np.array_equal(models[-1].predict(X), trained("shuffled and averaged").predict(X))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_torn_checkpoint_is_noticed_and_the_one_before_is_used(share, path, copies):
    expected = saved(trained("shuffled and averaged", Checkpoint(path)))
    shutil.copy(copies[1], path + ".previous")
    shutil.copy(copies[2], path)
    os.truncate(path, int(share * os.path.getsize(path)))
    assert saved(trained("shuffled and averaged", Checkpoint(path), resume=True)) == expected


def test_a_kill_between_two_renames_leaves_the_one_before(path, copies):
    expected = saved(trained("shuffled and averaged", Checkpoint(path)))
    os.unlink(path)
    shutil.copy(copies[1], path + ".previous")
    assert saved(trained("shuffled and averaged", Checkpoint(path), resume=True)) == expected


def test_without_a_whole_checkpoint_nothing_is_begun_silently(path):
    trained("online", Checkpoint(path))
    for name in (path, path + ".previous"):
        os.truncate(name, 500)
    with pytest.raises(ModelFormatError, match=r"checkpoint' is damaged or truncated"):
        trained("online", Checkpoint(path), resume=True)


def test_a_model_file_is_no_checkpoint(path):
    trained("online").save(path)
    with pytest.raises(ModelFormatError, match="is a model, but no checkpoint of its training"):
        trained("online", Checkpoint(path), resume=True)


OTHERS = {
    "X": ({}, lambda a: a | {"X": X + 1}),
    "y": ({}, lambda a: a | {"y": Y[::-1]}),
    "sample_weight": ({}, lambda a: a | {"sample_weight": WEIGHTS}),
    "record_predictions": ({}, lambda a: a | {"record_predictions": True}),
    "average": ({"average": True}, lambda a: a),
    "update": ({"update": "pa1"}, lambda a: a),
    "plugins": ({"plugins": ["dual-kernel"], "kernel": "rbf"}, lambda a: a),
    "observers": ({"plugins": [History()]}, lambda a: a),
}


@pytest.mark.parametrize("name", OTHERS)
def test_the_checkpoint_of_another_training_is_refused_in_a_sentence(name, path):
    trained("online", Checkpoint(path))
    before = os.stat(path)
    options, change = OTHERS[name]
    other = Engine("multiclass", **{"epochs": 4} | options | {"plugins": [*options.get("plugins", []), Checkpoint(path)]})
    with pytest.raises((DataError, OptionError), match=rf"checkpoint .* is of a training with (another )?{name}"):
        other.fit(**change({"X": X, "y": Y, "resume": True}))
    assert os.stat(path).st_ino == before.st_ino and other.model is None


def test_labels_that_are_objects_are_compared_by_value(path):
    def fitted(name, resume=True):
        y = np.array([f"{name} {k}" for k in Y], dtype=object)              # new strings in each call
        return Engine("multiclass", epochs=4, plugins=[Checkpoint(path)]).fit(X, y, resume=resume)

    first = fitted("rank", resume=False)
    assert saved(fitted("rank")) == saved(first)
    with pytest.raises(DataError, match=r"checkpoint .* is of a training with another classes"):
        fitted("level")


def test_labels_may_be_dates(path):
    y = np.datetime64("2020-01-01") + Y
    engines = [Engine("multiclass", epochs=4, plugins=[Checkpoint(path)]).fit(X, y, resume=resume) for resume in (False, True)]

    assert saved(engines[0]) == saved(engines[1])


# ---- training that had ended ----


class Counting(Weights):
    """Zero weights that count the scored examples in a class attribute, because engines copy parts."""

    scored = 0

    def scores(self, x):
        Counting.scored += 1
        return np.zeros(x.n_atoms)

    def update(self, x, c):
        pass

    def state(self):
        return {}

    def restore(self, state):
        pass


def test_a_training_that_was_over_is_the_answer_at_once(path):
    def make(**options):
        return Engine("multiclass", **{"epochs": 3} | options, plugins=[Counting(), Checkpoint(path)])

    first = make().fit(X, Y)
    Counting.scored = 0
    again = make().fit(X, Y, resume=True)
    assert Counting.scored == 0 and again.status_ == "max_epochs" and again.mistakes_ == first.mistakes_
    assert make(epochs=2).fit(X, Y, resume=True).mistakes_ == first.mistakes_ and Counting.scored == 0
    assert len(make(epochs=5).fit(X, Y, resume=True).mistakes_) == 5 and Counting.scored == 2 * len(X)


@pytest.mark.parametrize("name", ["shuffled and averaged", "sequences", "a budget, at random", "a kernel"])
def test_with_more_epochs_a_training_goes_on_with_the_bits_of_a_longer_one(name, path, tmp_path):
    longer = trained(name, Checkpoint(tmp_path / "longer"), epochs=7)
    trained(name, Checkpoint(path), epochs=4)
    assert arrays(trained(name, Checkpoint(path), resume=True, epochs=7)) == arrays(longer)


def test_a_training_that_has_converged_stays_so_with_more_epochs(path):
    data = [[-1.0], [1.0]], [1, 2]
    first = Engine("cusum", epochs=50, plugins=[Checkpoint(path)]).fit(*data)
    again = Engine("cusum", epochs=90, plugins=[Checkpoint(path)]).fit(*data, resume=True)
    assert first.status_ == again.status_ == "converged" and again.mistakes_ == first.mistakes_


def test_batch_training_with_more_epochs_goes_on_to_its_tolerance(path):
    first = trained("batch", Checkpoint(path))
    assert first.status_ == "max_epochs"
    again = trained("batch", Checkpoint(path), resume=True, epochs=2000)
    assert again.status_ == "converged" and again.gap_ <= 1e-3 * again.objective_


# ---- interruptions ----


class CtrlC(History):
    """Raises KeyboardInterrupt at the end of one epoch, once."""

    def __init__(self, epoch):
        super().__init__()
        self.at = epoch

    def structperc_epoch_end(self, engine, record):
        if record.epoch == self.at:
            self.at = None
            raise KeyboardInterrupt

    structperc_epoch_end.structperc_impl = History.structperc_epoch_end.structperc_impl

    def state(self):
        return {}

    def restore(self, state):
        pass


@pytest.mark.parametrize("name", ["shuffled and averaged", "a kernel", "batch", "latent batch"])
def test_ctrl_c_leaves_the_last_checkpoint_usable(name, path, tmp_path):
    expected = arrays(trained(name, CtrlC(None), Checkpoint(tmp_path / "other", 0.7)))
    ctrl_c = CtrlC(2)
    with pytest.raises(KeyboardInterrupt):
        trained(name, ctrl_c, Checkpoint(path, 0.7))
    assert arrays(trained(name, ctrl_c, Checkpoint(path, 0.7), resume=True)) == expected


def test_a_checkpoint_that_cannot_be_written_ends_the_fit_and_leaves_engine_and_checkpoint(path, tmp_path, monkeypatch):
    expected = saved(trained("shuffled and averaged", Checkpoint(tmp_path / "other")))
    stopped, sync, calls = engine("shuffled and averaged", Checkpoint(path)), os.fsync, itertools.count()

    def full(handle):
        if next(calls) >= 6:
            raise OSError(28, "No space left on device")
        sync(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="checkpoint': No space left on device"):
        stopped.fit(X, Y)
    monkeypatch.undo()
    assert stopped.model is None and not [name for name in os.listdir(tmp_path) if name.startswith(".")]
    assert saved(trained("shuffled and averaged", Checkpoint(path), resume=True)) == expected


KILLED = """
import os, signal, sys
import numpy as np
from structperc import Engine
from structperc.callbacks import Checkpoint

random = np.random.default_rng(0)
X, y = random.normal(size=(200, 5)), random.integers(1, 5, 200)


def train(path):
    checkpoint = Checkpoint(path + ".checkpoint", every=0.1)
    Engine("multiclass", epochs=3, average=True, shuffle=True, random_state=0, plugins=[checkpoint]).fit(X, y, resume=True).save(path)


def ended(path, number):        # by kill -9 right before the `number`-th call that opens or renames a file
    def count(event, arguments):
        nonlocal number
        if event in ("open", "os.rename") and str(arguments[0]).startswith(os.path.dirname(path)):
            number -= 1
            if number == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    process = os.fork()
    if not process:
        sys.addaudithook(count)
        train(path)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


train(sys.argv[1])
for life in range(100):
    end = ended(sys.argv[2], 15 + life % 7)
    print(end)
    if end == 0:
        break
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_kill_9_again_and_again_ends_with_the_bits_of_the_undisturbed_training(tmp_path):
    arguments = [sys.executable, "-c", KILLED, str(tmp_path / "undisturbed"), str(tmp_path / "killed")]
    *kills, last = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout.split()

    assert len(kills) > 7 and set(kills) == {"-9"} and last == "0"
    assert (tmp_path / "killed").read_bytes() == (tmp_path / "undisturbed").read_bytes()
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


# ---- custom parts and trainers ----


class Twice(OnlineTrainer):
    """Two passes in each epoch, the second one backwards."""

    def train(self, run):
        updates = 1
        while run.epoch < run.context.epochs and updates:
            run.begin_epoch()
            order = run.order()
            first = run.run(order)
            second = run.run(order[::-1].copy())
            updates = first.updates + second.updates
            run.end_epoch(second)
        return "max_epochs"


class OnePass(Trainer):
    """One epoch for any options, with the status "once"."""

    options_used = ("update",)

    def train(self, run):
        run.begin_epoch()
        run.end_epoch(run.run())
        return "once"


class Remembering(Weights):
    """Weights with an unsaved running sum, which has other rounding than the saved weights."""

    def start(self, parts, context):
        super().start(parts, context)
        self.w, self.quick = np.zeros(self.features.n_weights), None

    def scores(self, x):
        if self.quick is None:
            self.quick = self.w * 3
        return np.array([self.features.vector(x, np.arange(x.n_atoms) == a) @ (self.quick / 3) for a in range(x.n_atoms)])

    def update(self, x, c):
        step = 0.1 * self.features.vector(x, np.asarray(c))
        self.w += step
        self.quick += step * 3

    def state(self):
        return {"w": self.w}

    def restore(self, state):
        self.w, self.quick = np.array(state["w"]), None


@pytest.mark.parametrize("every", [1.0, 0.3, 0.7])
@pytest.mark.parametrize(("parts", "options"), [
    ([Twice()], {"epochs": 3, **SHUFFLED}), ([OnePass()], {}), ([Remembering()], {"epochs": 3})])
def test_trainers_and_stores_of_others_are_resumed(parts, options, every, path, copies):
    def fit(resume):
        return Engine("multiclass", plugins=[*parts, Checkpoint(path, every)], **options).fit(X, Y, resume=resume)

    expected = saved(fit(False))
    for kill in list(copies):
        shutil.copy(kill, path)
        assert saved(fit(True)) == expected


# ---- errors ----


@pytest.mark.parametrize("every", [0, -1.0, float("inf"), float("nan"), True, "1", None])
def test_impossible_distances_are_refused(every, path):
    with pytest.raises(OptionError, match="every=.*; expected a number of epochs above 0"):
        Checkpoint(path, every)


def test_resume_needs_a_checkpoint():
    with pytest.raises(OptionError, match=r"resume=True goes on from a checkpoint, but none is named; pass plugins=\[Checkpoint"):
        Engine("cusum").fit(X, Y, resume=True)


def test_a_checkpoint_needs_a_regular_file(path):
    os.mkfifo(path)
    with pytest.raises(OptionError, match="is no regular file"):
        trained("online", Checkpoint(path))


def test_a_folder_that_is_not_there_is_an_error_in_a_sentence(tmp_path):
    with pytest.raises(OSError, match="the file cannot be written to .*choose a path in a writable folder"):
        trained("online", Checkpoint(tmp_path / "no" / "checkpoint"))


def test_the_header_of_a_checkpoint_is_plain_json(path):
    trained("a generator", Checkpoint(path))
    with zipfile.ZipFile(path) as file:
        assert json.loads(np.load(io.BytesIO(file.read("header.npy"))).tobytes())["run"]["place"] == "at the end"


@pytest.mark.parametrize("kind", ["text", "archive", "model", "folder"])
def test_a_file_that_is_no_checkpoint_is_not_replaced_by_the_one_before(kind, path):
    previous = f"{path}.previous"
    if kind == "folder":
        os.mkdir(previous)
    elif kind == "model":
        trained("online").save(previous)
    else:
        with open(previous, "wb") as file:
            file.write(b"a,b\n1,2\n" if kind == "text" else b"PK\3\4 a table of another program")
    with pytest.raises(OptionError, match="previous' is no checkpoint, and the one before .* would replace it"):
        trained("online", Checkpoint(path))
    assert os.listdir(os.path.dirname(path)) == ["checkpoint.previous"]
