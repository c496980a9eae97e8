"""How an engine behaves: seeds, records, options, threads, Ctrl-C, copies."""

import copy
import pickle

import numpy as np
import pytest
from plain import Engine
from reference.layouts import LAYOUTS, stored
from reference.samples import data
from scipy.sparse import csr_matrix
from subsets import Subsets

from structperc import hookimpl
from structperc.callbacks import History
from structperc.components import (
    AbsoluteLoss,
    Argmax,
    BlockFeatures,
    LargestArgmax,
    OnlineTrainer,
    Outputs,
    PerceptronUpdate,
    PrefixArgmax,
    PrimalWeights,
    RankOutputs,
    ThresholdArgmax,
)
from structperc.core.outputs import decode_many
from structperc.errors import DataError, NotFittedError, OptionError, PluginError

from .same_models import assert_same_model, weights

PROBLEMS = ["cusum", "prank", "multiclass"]
RANKS = [1, 2, 3, 4]


# ---- seeds ----


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState, lambda s: np.random.Generator(np.random.Philox(s))])
def test_generators_give_an_order_that_they_can_repeat(make):
    X, y = data()
    options = {"shuffle": True, "epochs": 3}
    first, again, other = (Engine("cusum", random_state=make(seed), **options).fit(X, y) for seed in (5, 5, 6))
    assert np.array_equal(first.coef_, again.coef_) and not np.array_equal(first.coef_, other.coef_)
    assert not np.array_equal(weights(first.fit(X, y)), weights(again)), "a generator goes on from where it stands"
    assert np.array_equal(weights(first), weights(again.fit(X, y)))


def test_numpy_integers_are_seeds_and_a_stream_repeats_too():
    X, y = data()
    for seed in (np.int64(7), np.uint8(7), 7):
        engine = Engine("cusum", shuffle=True, random_state=seed)
        for part in (slice(0, 30), slice(30, 60)):
            engine.partial_fit(X[part], y[part])
        assert np.array_equal(engine.coef_, Engine("cusum", shuffle=True, random_state=7, classes=RANKS).partial_fit(X[:30], y[:30])
                              .partial_fit(X[30:], y[30:]).coef_)


# ---- records ----


class Noting(PrefixArgmax):
    """Records the visited examples in order."""

    visited = []

    def argmax(self, scores, x):
        self.visited.append(x.index)
        return super().argmax(scores, x)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_online_predictions_are_those_made_before_each_step_in_the_order_of_visiting(layout, shuffle, weighted):
    X, y = data()
    X, weight = stored(X, layout), (np.arange(60) % 3 > 0).astype(float)
    Noting.visited.clear()
    engine = Engine("cusum", epochs=2, shuffle=shuffle, random_state=3, plugins=[Noting(4)], classes=RANKS)
    engine.fit(X, y, sample_weight=weight if weighted else None, record_predictions=True)
    visited = list(Noting.visited)
    n = 40 if weighted else 60
    expected = [i for i in range(60) if weight[i] or not weighted]
    assert sorted(visited[:n]) == sorted(visited[n:]) == expected
    assert (visited[:n] != sorted(visited[:n])) == (visited[:n] != visited[n:]) == shuffle

    stream, before = Engine("cusum", classes=RANKS), []
    stream.partial_fit(X[visited[0]:visited[0] + 1], y[visited[0]:visited[0] + 1])
    for i in visited[1:]:
        before.append(stream.predict(X[i:i + 1])[0])
        stream.partial_fit(X[i:i + 1], y[i:i + 1])
    assert engine.online_predictions_.tolist() == [1, *before]
    wrong = engine.online_predictions_ != y[visited]
    assert engine.mistakes_ == [wrong[:n].sum(), wrong[n:].sum()]
    assert engine.cumulative_loss_ == abs(engine.online_predictions_ - y[visited]).sum()
    assert np.array_equal(engine.coef_, stream.coef_)


def test_online_predictions_are_labels_and_go_with_the_fit_that_kept_them():
    X, y = data()
    engine = Engine("multiclass", classes=["d", "c", "b", "a"]).fit(X, np.array(list("xabcd"))[y], record_predictions=True)
    assert set(engine.online_predictions_.tolist()) == set("abcd")
    engine.partial_fit(X[:1], ["a"])
    assert not hasattr(engine, "online_predictions_")
    assert not hasattr(engine.fit(X, np.array(list("xabcd"))[y]), "online_predictions_")


@pytest.mark.parametrize("problem", PROBLEMS)
def test_mistakes_count_epochs_of_fits_and_one_entry_per_stream(problem):
    X, y = data()
    engine = Engine(problem, epochs=3, classes=RANKS).fit(X, y)
    assert len(engine.mistakes_) == 3 and all(type(m) is int for m in engine.mistakes_)
    loss = engine.cumulative_loss_
    stream = Engine(problem, classes=RANKS)
    for _ in range(4):
        stream.partial_fit(X, y)
    assert len(stream.mistakes_) == 1 and stream.mistakes_[0] > sum(engine.mistakes_)
    engine.partial_fit(X, y).partial_fit(X[:20], y[:20])
    assert len(engine.mistakes_) == 4 and engine.cumulative_loss_ > loss
    stream.partial_fit(X[:20], y[:20])
    assert sum(engine.mistakes_) == sum(stream.mistakes_) and engine.cumulative_loss_ == stream.cumulative_loss_
    assert np.array_equal(weights(engine), weights(stream))
    assert engine.fit(X, y).cumulative_loss_ == loss


def test_what_is_handed_out_is_not_the_engines_own():
    X, y = data()
    for problem in PROBLEMS:
        for average in (False, True):
            engine = Engine(problem, average=average).fit(X, y, record_predictions=True)
            expected, record = engine.predict(X).tolist(), engine.mistakes_
            for name in ("coef_", "intercept_", "thresholds_", "online_predictions_"):
                if hasattr(engine, name):
                    getattr(engine, name)[...] = 0
            engine.mistakes_.clear()
            engine.atom_scores(X)[...] = 0
            with pytest.raises(ValueError, match="read-only"):
                engine.classes_[0] = 9
            assert engine.predict(X).tolist() == expected and engine.mistakes_ == record


def test_classes_may_be_reused_by_their_owner():
    X, y = data()
    classes = np.array(RANKS)
    engine = Engine("cusum", classes=classes).fit(X, y)
    expected = engine.predict(X).tolist()
    classes[:] = 0
    assert engine.predict(X).tolist() == expected


# ---- why training ended ----


class Stopping:
    def __init__(self, after):
        self.after = after

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        if record.epoch == self.after:
            engine.stop()


def test_status_says_why_training_ended():
    X, y = data()
    separable = X[abs(X[:, 0]) > 0.2], 1 + (X[abs(X[:, 0]) > 0.2, 0] > 0)
    engine = Engine("cusum", epochs=1000).fit(*separable)
    assert engine.status_ == "converged" and len(engine.mistakes_) < 1000 and engine.mistakes_[-1] == 0 < engine.mistakes_[-2]
    assert engine.predict(separable[0]).tolist() == separable[1].tolist()
    assert engine.partial_fit(*separable).status_ == "converged"
    assert engine.partial_fit(separable[0], 3 - separable[1]).status_ == "max_epochs"
    assert Engine("cusum", epochs=3).fit(X, y).status_ == "max_epochs"
    stopped = Engine("cusum", epochs=9, plugins=[Stopping(2)]).fit(X, y)
    assert stopped.status_ == "early_stopped"
    assert_same_model(stopped, Engine("cusum", epochs=2).fit(X, y))
    assert Engine("cusum", epochs=2, plugins=[Stopping(9)]).fit(X, y).status_ == "max_epochs"


def test_augmented_updates_go_on_without_mistakes():
    """An epoch without mistake is not an epoch without update."""
    X, y = np.array([[-1.0], [1.0]]), [1, 2]
    plain, augmented = Engine("cusum", epochs=50).fit(X, y), Engine("cusum", epochs=50, loss_weight=4.0).fit(X, y)
    assert plain.status_ == augmented.status_ == "converged"
    assert augmented.mistakes_.count(0) > 1 and augmented.coef_[1, 0] > plain.coef_[1, 0]


def test_stop_is_for_observers():
    engine = Engine("cusum")
    for _ in range(2):
        with pytest.raises(NotFittedError, match="nothing is being trained"):
            engine.stop()
        engine.fit(*data())


# ---- options ----


@pytest.mark.parametrize(("name", "value", "expected"), [
    *((name, value, "a number") for name in ("margin", "C") for value in (0, -1, np.nan, np.inf, "1", True, 1j, [1.0])),
    *(("loss_weight", value, "a number at least 0") for value in (-0.1, np.nan, "1", False)),
    *(("decay", value, "a number at least 0 and below 1") for value in (-0.1, 1, 1.0, 2, np.nan)),
    *(("epochs", value, "a whole number, at least 1") for value in (0, -1, 1.0, "3", True)),
    *((name, value, "True or False") for name in ("average", "shuffle", "fit_intercept") for value in (0, 1, "yes")),
    *(("random_state", value, "None, a whole number from 0") for value in (-1, 1.0, "seed", True, [1])),
    *(("update", value, "a name, or an object of a subclass of structperc.components.Update") for value in (3, object())),
    *(("loss", value, r"a name, an \(r, r\) matrix") for value in ([[0, 1], [1]], {"a": 1}, object())),
    *(("plugins", value, "a list of names or plugin objects") for value in ("prank", None, 3)),
])
def test_options_of_a_wrong_type_or_range_are_refused_at_once(name, value, expected):
    with pytest.raises(OptionError, match=rf"{name}=.*; expected {expected}"):
        Engine("cusum", **{name: value})


@pytest.mark.parametrize(("name", "value"), [("epochs", -3), ("C", "1"), ("average", 1), ("random_state", "seed"), ("decay", 1.0)])
def test_options_that_are_changed_later_are_checked_by_the_next_fit(name, value):
    X, y = data()
    engine = Engine("cusum").fit(X, y)
    before = weights(engine)
    setattr(engine, name, value)
    with pytest.raises(OptionError, match=f"{name}=.*; expected"):
        engine.fit(X, y)
    assert np.array_equal(weights(engine), before)


@pytest.mark.parametrize(("name", "value"), [
    ("margin", np.float32(0.5)), ("C", 3), ("loss_weight", np.int64(1)), ("decay", 0), ("epochs", np.int8(2)), ("average", np.True_),
    ("random_state", np.random.RandomState(0)), ("loss", [[0, 1, 2, 3]] * 4), ("plugins", iter([])), ("classes", (1, 2, 3, 4))])
def test_options_may_be_of_any_fitting_type(name, value):
    if name == "loss":
        value = abs(np.subtract.outer(range(4), range(4))).tolist()
    assert Engine("cusum", update="pa1", **{name: value}).fit(*data()).mistakes_[0] > 0


@pytest.mark.parametrize(("problem", "options", "why"), [
    ("cusum", {"C": 2.0}, "C=2.0 has no effect with update='perceptron'"),
    ("cusum", {"C": 2.0, "update": "pa"}, "C=2.0 has no effect with update='pa'"),
    ("multiclass", {"margin": 0.5}, "margin=0.5 has no effect with update='perceptron'"),
    ("prank", {"margin": 0.5}, "margin=0.5 has no effect"),
    ("prank", {"C": 0.5, "variant": "original"}, "C=0.5 has no effect"),
])
def test_options_without_effect_are_refused(problem, options, why):
    with pytest.raises(OptionError, match=why):
        Engine(problem, **options).fit(*data())


@pytest.mark.parametrize(("options", "changes"), [
    ({"update": "pa"}, {"margin": 0.3}), ({"update": "pa1"}, {"margin": 0.1}),
    ({"update": "pa1"}, {"C": 0.05}), ({"update": "pa2"}, {"C": 0.05}), ({}, {"loss_weight": 1.0}), ({}, {"average": True}),
    ({}, {"decay": 0.1}), ({}, {"shuffle": True, "random_state": 1}), ({}, {"epochs": 2}),
    ({}, {"fit_intercept": False}), ({"update": "pa"}, {"loss": "squared"}), ({}, {"classes": [4, 3, 2, 1]}), ({}, {"update": "pa"}),
])
def test_every_option_has_an_effect(options, changes):
    X, y = data()
    assert not np.array_equal(weights(Engine("cusum", **options).fit(X, y)), weights(Engine("cusum", **options, **changes).fit(X, y)))


def test_without_intercept_there_is_none():
    X, y = data()
    for problem in ("cusum", "multiclass"):
        for kind in (np.asarray, csr_matrix):
            engine = Engine(problem, fit_intercept=False, epochs=2).fit(kind(X), y)
            assert not engine.intercept_.any() and engine.coef_.any()
            column = Engine(problem, fit_intercept=False, epochs=2).fit(kind(np.column_stack([X, np.ones(60)])), y)
            whole = Engine(problem, epochs=2).fit(kind(X), y)
            np.testing.assert_allclose(column.coef_, np.column_stack([whole.coef_, whole.intercept_]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("part", "why"), [
    (BlockFeatures(3, 5), "BlockFeatures was made for 5 features, but X has 4"),
    (BlockFeatures(3, 3), "BlockFeatures was made for 3 features, but X has 4"),
    (BlockFeatures(2, 4), "BlockFeatures has 2 atoms, but 4 labels of RankOutputs need 3"),
    (BlockFeatures(7, 4), "BlockFeatures has 7 atoms, but 4 labels of RankOutputs need 3"),
    (PrefixArgmax(5), "PrefixArgmax was made for 5 labels, but there are 4"),
    (ThresholdArgmax(3), "ThresholdArgmax was made for 3 labels, but there are 4"),
    (LargestArgmax(9), "LargestArgmax was made for 9 labels, but there are 4"),
])
@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_parts_that_do_not_fit_each_other_are_refused(part, why, kind):
    X, y = data()
    with pytest.raises(PluginError, match=why):
        Engine("cusum", plugins=[part]).fit(kind(X), y)


# ---- other shapes of problems ----


class Tags:
    """A structure is a set of tags of a row, and every tag has its own direction."""

    class Positive(Argmax):
        def argmax(self, scores, x):
            return np.flatnonzero(scores > 0)

    class TagFeatures(BlockFeatures):
        def attributes(self, weights):
            return {"coef_": lambda: np.array(weights.vector())}

    @hookimpl
    def structperc_outputs(self, context):
        return Outputs()

    @hookimpl
    def structperc_features(self, context):
        return self.TagFeatures(300, context.n_features)

    @hookimpl
    def structperc_argmax(self, context):
        return self.Positive()


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_structures_may_hold_as_many_atoms_as_there_are(kind):
    chosen = [range(300), (), *(np.flatnonzero(row).tolist() for row in np.random.default_rng(0).random((18, 300)) < 0.5)]
    engine = Engine(Tags(), epochs=50).fit(kind(np.eye(20)), chosen)
    assert engine.status_ == "converged"
    assert engine.predict(kind(np.eye(20))).tolist() == [tuple(tags) for tags in chosen]


def test_more_than_a_hundred_labels():
    random = np.random.default_rng(0)
    y = np.repeat(np.arange(150), 4)
    for problem, X in [("multiclass", np.eye(150)[y]), ("cusum", y[:, None] / 150 + random.normal(scale=1e-4, size=(600, 1)))]:
        engine = Engine(problem, update="pa1", epochs=20).fit(X, y)
        assert abs(engine.predict(X) - y).mean() < 30 if problem == "cusum" else engine.predict(X).tolist() == y.tolist()
        assert len(engine.classes_) == len(engine.coef_) == 150


class Failing(PrimalWeights):
    lit = False

    def scores(self, x):
        if Failing.lit:
            raise ZeroDivisionError("in scores")
        return super().scores(x)


@pytest.mark.parametrize("average", [False, True])
def test_what_a_part_raises_in_prediction_is_what_the_user_sees(average):
    X, y = data()
    engine = Engine("cusum", plugins=[Failing(average)]).fit(X, y)
    expected = engine.predict(X).tolist()
    Failing.lit = True
    try:
        for call in (engine.predict, engine.atom_scores):
            with pytest.raises(ZeroDivisionError, match="in scores"):
                call(X)
    finally:
        Failing.lit = False
    assert engine.predict(X).tolist() == expected


# ---- copies ----


class Own(Engine):
    """A user's subclass."""

    def best(self, X):
        return self.predict(X).max()


COPIES = {"pickle": lambda e: pickle.loads(pickle.dumps(e)), "copy": copy.copy, "deepcopy": copy.deepcopy}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("options", [
    {},
    {"classes": RANKS, "average": True, "decay": 0.1},
    {"loss": np.subtract.outer(range(4), range(4)) ** 2, "update": "pa1", "C": 0.3},
    {"plugins": [RankOutputs(), History()]},
    *({"shuffle": True, "random_state": random} for random in (4, np.random.default_rng(4), np.random.RandomState(4))),
    *({"shuffle": True, "random_state": np.random.Generator(bits(4))}
      for bits in (np.random.MT19937, np.random.Philox, np.random.SFC64, np.random.PCG64DXSM)),
], ids=lambda options: ",".join(options))
def test_copies_predict_the_same_and_learn_on_by_themselves(how, options):
    X, y = data()
    engine = Engine("cusum", epochs=2, **options).fit(X, y)
    twin = COPIES[how](engine)
    assert_same_model(twin, engine)
    assert twin.predict(X).tolist() == engine.predict(X).tolist() and twin.status_ == engine.status_
    before = weights(engine)
    twin.partial_fit(X, y)
    assert np.array_equal(weights(engine), before)
    assert_same_model(twin, engine.partial_fit(X, y))


@pytest.mark.parametrize("how", COPIES)
def test_copies_are_of_their_own_class_and_need_no_training(how):
    engine = Own("prank", variant="original", epochs=3)
    twin = COPIES[how](engine)
    assert type(twin) is Own and repr(twin) == repr(engine) and not hasattr(twin, "coef_")
    X, y = data()
    assert COPIES[how](engine.fit(X, y)).best(X) == engine.best(X) == twin.fit(X, y).best(X)


def test_an_option_that_was_changed_after_training_changes_no_copy_of_the_training():
    X, y = data()
    engine = Engine("cusum").fit(X, y)
    engine.average, engine.epochs = True, 3
    twin = copy.deepcopy(engine)
    assert_same_model(twin.partial_fit(X, y), engine.partial_fit(X, y))
    assert (twin.average, twin.epochs) == (True, 3)
    assert_same_model(twin.fit(X, y), Engine("cusum", average=True, epochs=3).fit(X, y))


@pytest.mark.parametrize("made", [
    "Engine('cusum')", "Engine('prank', variant='original')", "Engine('cusum', update='pa1', C=0.5, epochs=3, average=True)",
    "Engine('multiclass', loss='zero-one', shuffle=True, random_state=3, classes=['a', 'b'])",
])
def test_repr_is_what_one_would_type(made):
    assert repr(eval(made, {"Engine": Engine})) == made


class FirstArgmax(PrefixArgmax):
    pass


def test_repr_shows_objects():
    shown = repr(Engine("cusum", plugins=[FirstArgmax(4)], loss=np.zeros((2, 2))))
    assert "FirstArgmax" in shown and "loss=array" in shown
    assert "forbidden_transitions=(['a', 'b'],)" in repr(Engine("sequence", forbidden_transitions=np.array([["a", "b"]])))


# ---- citations ----


@pytest.mark.parametrize(("problem", "options", "keys"), [
    ("cusum", {}, ["milidiu2019cumulative", "collins2002discriminative"]),
    ("cusum", {"update": "pa2"}, ["milidiu2019cumulative", "crammer2006online"]),
    ("prank", {}, ["crammer2001pranking", "collins2002discriminative"]),
    ("prank", {"variant": "original"}, ["crammer2001pranking"]),
    ("multiclass", {"update": "pa"}, ["crammer2003ultraconservative", "crammer2006online"]),
])
def test_citations_name_exactly_the_methods_in_use(problem, options, keys):
    engine = Engine(problem, **options)
    for _ in range(2):
        entries = engine.citation().split("\n\n")
        assert [entry.split("{")[1].split(",")[0] for entry in entries] == keys
        assert all(entry.startswith("@") and entry.count("{") == entry.count("}") for entry in entries)
        engine.fit(*data())


def test_a_key_is_cited_once_also_with_two_texts():
    """A bibliography with a key twice cannot be typeset."""
    class First(AbsoluteLoss):
        citation = "@misc{key2000, title = {One text}}\n@misc{other2001, title = {Another}}"

    class Second(PerceptronUpdate):
        citation = "@misc{ key2000 , title = {Another text}}"

    entries = Engine("cusum", plugins=[First(), Second()]).fit(*data()).citation().split("\n\n")
    assert sum("key2000" in entry for entry in entries) == 1 and sum("other2001" in entry for entry in entries) == 1


def test_citations_of_registered_parts_are_shown_once():
    class Cited(PrefixArgmax):
        citation = "@misc{argmax2000, title = {Searching}}"

    engine = Engine("cusum", plugins=[Cited(4)])
    for _ in range(2):
        assert engine.citation().count("argmax2000") == 1
        engine.fit(*data())


# ---- prediction ----


@pytest.mark.parametrize("problem", PROBLEMS)
def test_fit_and_partial_fit_return_the_engine_and_predict_one_label_per_row(problem):
    X, y = data()
    engine = Engine(problem)
    assert engine.fit(X, y) is engine and engine.partial_fit(X, y) is engine
    for n in (1, 2, 60):
        assert engine.predict(X[:n]).shape == (n,) and engine.atom_scores(X[:n]).shape == (n, 4 if problem == "multiclass" else 3)
    assert engine.n_features_in_ == 4 and not hasattr(engine, "feature_names_in_")


def test_predictions_in_several_pieces_are_predictions_one_by_one():
    random = np.random.default_rng(0)
    X = random.integers(-3, 4, (700, 2048)).astype(float)
    for problem in PROBLEMS:
        engine = Engine(problem).fit(X[:40], np.arange(40) % 4)
        assert engine.predict(X).tolist() == [engine.predict(X[i:i + 1])[0] for i in range(700)]
        assert np.array_equal(engine.atom_scores(X), np.concatenate([engine.atom_scores(X[i:i + 1]) for i in range(700)]))


def test_trainers_of_ones_own_see_all_that_they_need():
    class Backwards(OnlineTrainer):
        def train(self, run):
            run.begin_epoch()
            run.end_epoch(run.run(np.arange(run.n_examples, dtype=np.int64)[::-1].copy()))
            return "max_epochs"

    X, y = data()
    engine = Engine("cusum", plugins=[Backwards()]).fit(X, y)
    assert np.array_equal(engine.coef_, Engine("cusum").fit(X[::-1].copy(), y[::-1].copy()).coef_)


def test_problems_over_rows_of_blocks_need_their_offsets():
    X, _ = data(10)
    engine = Engine(Subsets(), epochs=3).fit(X, [(0,), (1, 2)], offsets=[0, 4, 10])
    assert len(engine.predict(X, offsets=[0, 4, 10])) == 2 and len(engine.predict(X)) == 10
    with pytest.raises(DataError, match="atom 1"):
        engine.fit(X, [(1,)] * 10)


DATES = np.array(["2020-01-01", "2021-01-01", "2022-01-01"], "M8[us]")


@pytest.mark.parametrize("labels", [[-3, 0, 7], [0.5, 1.5, 2.5], ["a", "b", "c"], DATES], ids=["int", "float", "str", "date"])
def test_many_predictions_show_the_labels_that_each_alone_shows(labels):
    engine = Engine("cusum", classes=labels).fit([[-5.0], [0.0], [5.0]] * 5, list(labels) * 5)
    X = np.linspace(-9, 9, 100)[:, None]
    found, alone = engine.predict(X), [engine.predict(X[i:i + 1]) for i in range(100)]
    assert found.tolist() == [one[0] for one in np.concatenate(alone).reshape(-1, 1).tolist()] and len(set(found.tolist())) > 1
    assert found.dtype == alone[0].dtype == engine.classes_.dtype
    alone[0][0] = alone[99][0]              # a change of a result must not reach the engine
    assert engine.predict(X[:1])[0] == found[0]
    with pytest.raises(IndexError):
        decode_many(engine.parts_.outputs, np.full(100, 9, dtype=np.intc), engine.read(X), engine.parts_.features)
