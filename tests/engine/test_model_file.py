"""Models on disk: a loaded model predicts and trains on like the saved one. Damaged, foreign or hostile files raise an error."""

import decimal
import io
import json
import os
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from plain import Engine
from reference.layouts import LAYOUTS, stored
from reference.model_files import SUMS, edited, header_of, members, npy, packed, saved
from reference.samples import data
from scipy.sparse import csr_matrix

from structperc import Option, hookimpl
from structperc.callbacks import EarlyStopping, History
from structperc.components import AbsoluteLoss, Argmax, Outputs, PrefixArgmax, PrimalWeights, RowFeatures, VectorFeatures
from structperc.errors import DataError, ModelFormatError, NotFittedError, PluginError, StructPercError

PROBLEMS = ["cusum", "prank", "multiclass"]


def loaded(content, **options):
    return Engine.load(io.BytesIO(content), **options)


def weights(engine):
    return np.concatenate([np.ravel(getattr(engine, name)) for name in ("coef_", "intercept_", "thresholds_") if hasattr(engine, name)])


def assert_same_model(one, other):
    assert np.array_equal(weights(one), weights(other))
    for name in ("mistakes_", "cumulative_loss_", "status_", "n_features_in_"):
        assert getattr(one, name) == getattr(other, name)
    assert one.classes_.tolist() == other.classes_.tolist() and one.classes_.dtype == other.classes_.dtype
    assert [type(label) for label in one.classes_.tolist()] == [type(label) for label in other.classes_.tolist()]


# ---- round trips ----

OPTIONS = [
    {}, {"update": "pa", "margin": 0.5}, {"update": "pa1", "C": 0.1, "average": True}, {"update": "pa2", "decay": 0.01},
    {"average": True, "decay": 0.3}, {"shuffle": True, "random_state": 3, "average": True}, {"loss_weight": 0.5, "loss": "squared"},
    {"loss": np.subtract.outer(range(4), range(4)) ** 2.0, "update": "pa1"}, {"fit_intercept": False, "epochs": 3},
    {"classes": [4, 3, 2, 1]}, {"shuffle": True},
]


def fits(problem, options):
    """Prank supports neither decay nor fit_intercept nor other updates."""
    return problem != "prank" or not {"decay", "fit_intercept", "update"} & set(options)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("problem", "options"), [(p, o) for p in PROBLEMS for o in OPTIONS if fits(p, o)], ids=str)
def test_a_loaded_model_predicts_and_learns_on_to_the_bit(problem, options, layout):
    X, y = data()
    Z = stored(X, layout)
    engine = Engine(problem, **options).fit(Z, y)
    engine.partial_fit(Z[:30], y[:30])
    again = loaded(saved(engine))
    assert_same_model(again, engine)
    assert again.predict(Z).tolist() == engine.predict(Z).tolist() and np.array_equal(again.atom_scores(Z), engine.atom_scores(Z))
    for chunk in (slice(30, 60), slice(0, 60)):
        engine.partial_fit(Z[chunk], y[chunk])
        again.partial_fit(Z[chunk], y[chunk])
        assert_same_model(again, engine)
        again = loaded(saved(again))
    if options != {"shuffle": True}:         # the others have a seed, or need none
        assert_same_model(again.fit(Z, y), Engine(problem, **options).fit(Z, y))


def test_options_come_back():
    X, y = data()
    options = dict(update="pa1", loss="squared", margin=0.5, loss_weight=0.1, C=0.3, epochs=4, average=True, decay=0.01, shuffle=True,
                   random_state=7, fit_intercept=False)
    again = loaded(saved(Engine("multiclass", **options).fit(X, y)))
    assert {name: getattr(again, name) for name in options} == options
    assert repr(again) == repr(Engine("multiclass", **options))
    options = {"variant": "original", "pocket": False, "penalty": 0.0}
    assert loaded(saved(Engine("prank", variant="original").fit(X, y))).plugin_options == options
    tagger = Engine("sequence", epochs=2).fit(list(X[:, None, :]), y)
    assert repr(loaded(saved(tagger))) == "Engine('sequence', epochs=2)"
    matrix = 1.0 - np.eye(4)
    assert np.array_equal(loaded(saved(Engine("cusum", loss=matrix).fit(X, y))).loss, matrix)
    for random_state in (np.int64(7), np.random.default_rng(7)):
        again = loaded(saved(Engine("cusum", shuffle=True, random_state=random_state).fit(X, y)))
        assert again.random_state == (7 if isinstance(random_state, np.integer) else None)


def test_options_changed_after_training_do_not_spoil_the_file():
    X, y = data()
    engine = Engine("cusum").fit(X, y)
    engine.average, engine.update, engine.epochs = True, "pa", 9
    again = loaded(saved(engine))
    assert_same_model(again, engine)
    assert_same_model(again.partial_fit(X, y), engine.partial_fit(X, y))


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize(("names", "classes"), [
    ([1, 2, 3, 4], None), ([-3, 0, 5, 10**12], None), ([0.5, 1.0, 1.5, 2.0], None), ([2**70, 2**71, 2**72, 2**73], None),
    (["d", "b", "c", "a"], True), (["größer", "", " ", "\n"], True), ([30, 10, 40, 20], True), ([1, "two", 3.5, "four"], True),
], ids=str)
def test_labels_keep_their_type_and_order(problem, names, classes):
    X, y = data()
    given = [names[k - 1] for k in y]
    for kind in (list, np.array, lambda values: np.array(values, dtype=object)):
        if kind is np.array and len(set(map(type, names))) > 1:
            continue        # numpy would turn all labels into strings
        engine = Engine(problem, classes=kind(names) if classes else None).fit(X, kind(given))
        again = loaded(saved(engine))
        assert_same_model(again, engine)
        assert again.predict(X).tolist() == engine.predict(X).tolist() and again.predict(X).dtype == engine.predict(X).dtype
        assert_same_model(again.partial_fit(X, given), engine.partial_fit(X, given))
        if classes:
            assert list(again.classes) == names
            assert_same_model(again.fit(X, given), engine.fit(X, given))


def test_truth_values_bytes_and_ordered_categories_come_back():
    X, y = data()
    engine = Engine("multiclass").fit(X, np.array([b"x", b"a", b"b", b"c", b"d"])[y])
    assert_same_model(loaded(saved(engine)), engine)
    engine = Engine("cusum").fit(X, y > 2)
    assert_same_model(loaded(saved(engine)), engine)
    engine = Engine("cusum").fit(X, pd.Categorical(np.array(list("xabcd"))[y], categories=list("edcba"), ordered=True))
    assert loaded(saved(engine)).classes_.tolist() == list("edcba")


def test_feature_names_come_back():
    X, y = data()
    table = pd.DataFrame(X, columns=["Alter", "Größe", "x y", ""])
    again = loaded(saved(Engine("cusum").fit(table, y)))
    assert again.feature_names_in_.tolist() == ["Alter", "Größe", "x y", ""]
    assert {c.feature for c in again.explain(table[:1]).contributions} <= {"Alter", "Größe", "x y", "", "(constant)"}
    with pytest.raises(ValueError, match="column 0 of X is 'Größe'"):
        again.predict(table[["Größe", "Alter", "x y", ""]])


def test_a_model_of_many_sparse_features_is_small_and_whole():
    random = np.random.default_rng(0)
    X = csr_matrix((np.ones(300), (np.arange(300) % 60, random.integers(0, 5000, 300))), shape=(60, 5000))
    y = data()[1]
    engine = Engine("cusum", average=True).fit(X, y)
    assert_same_model(loaded(saved(engine)), engine)


# ---- plugins ----


class Doubled(AbsoluteLoss):
    def value(self, gold, y, x=None):
        return 2 * abs(gold - y)


class Subsets:
    """Choose any rows of an example."""

    name = "subsets"
    options = {"above": Option(0.0, types=(object,))}

    class Above(Argmax):
        def __init__(self, above):
            self.above = above

        def argmax(self, scores, x):
            return np.flatnonzero(scores > self.above)

    @hookimpl
    def structperc_outputs(self, context):
        return Outputs()

    @hookimpl
    def structperc_features(self, context):
        return RowFeatures(context.n_features)

    @hookimpl
    def structperc_argmax(self, context):
        return self.Above(context.options["above"])


def test_objects_are_passed_again():
    X, y = data()
    engine = Engine("cusum", update="pa", plugins=[Doubled(), History()]).fit(X, y)
    content = saved(engine)
    with pytest.raises(PluginError, match=r"the file needs the object 'Doubled', which was passed to .*pass it again: .*plugins="):
        loaded(content)
    with pytest.raises(PluginError, match="needs the object 'Doubled'"):
        loaded(content, plugins=[AbsoluteLoss()])
    assert_same_model(loaded(content, plugins=[Doubled()]).partial_fit(X, y), engine.partial_fit(X, y))


def test_structures_come_back():
    X, _ = data(10)
    chosen, offsets = [(0, 2), (), (1, 5)], [0, 3, 4, 10]
    engine = Engine(Subsets(), above=0.25, epochs=3).fit(X, chosen, offsets=offsets)
    with pytest.raises(PluginError, match="the file needs the object 'subsets'"):
        loaded(saved(engine))
    again = loaded(saved(engine), plugins=[Subsets()])
    assert again.plugin_options == {"above": 0.25} and not hasattr(again, "classes_")
    assert again.predict(X, offsets=offsets).tolist() == engine.predict(X, offsets=offsets).tolist()
    assert np.array_equal(again.partial_fit(X, chosen, offsets=offsets).coef_, engine.partial_fit(X, chosen, offsets=offsets).coef_)


def test_problems_over_objects_come_back():
    class Letters(Subsets):
        class Features(VectorFeatures):
            def vectors(self, x):
                return np.array([[float(letter in "aeiou"), 1.0] for letter in x.object])

        @hookimpl
        def structperc_features(self, context):
            return self.Features(2)

    words, vowels = ["tree", "argmax", "loop"], [(2, 3), (0, 4), (1, 2)]
    for options in ({}, {"shuffle": True, "random_state": 0}):
        engine = Engine(Letters(), epochs=9, **options).fit(words * 10, vowels * 10)
        assert engine.predict(words).tolist() == vowels == loaded(saved(engine), plugins=[Letters()]).predict(words).tolist()


def test_observers_are_no_part_of_a_model_and_may_be_added_to_a_loaded_one():
    X, y = data()
    content = saved(Engine("cusum", epochs=3, plugins=[History(), EarlyStopping(X, y)]).fit(X, y))
    assert loaded(content).plugins == ()
    history = History()
    assert loaded(content, plugins=[history]).fit(X, y).mistakes_ == history.arrays["mistakes"].tolist()


def test_an_observer_can_save_after_every_epoch():
    class Checkpoints:
        def __init__(self):
            self.contents = []

        @hookimpl
        def structperc_epoch_end(self, engine, record):
            self.contents.append(saved(engine))

    X, y = data()
    checkpoints = Checkpoints()
    Engine("cusum", epochs=3, average=True, shuffle=True, random_state=0, plugins=[checkpoints]).fit(X, y)
    assert len(checkpoints.contents) == 3
    for k, content in enumerate(checkpoints.contents, start=1):
        expected = Engine("cusum", epochs=k, average=True, shuffle=True, random_state=0).fit(X, y)
        again = loaded(content)
        assert np.array_equal(weights(again), weights(expected)) and again.mistakes_ == expected.mistakes_
        assert np.array_equal(weights(again.partial_fit(X, y)), weights(expected.partial_fit(X, y)))


def test_plugins_that_the_model_was_trained_without_are_refused():
    X, y = data()
    with pytest.raises(PluginError, match="trained without the plugin 'Doubled'"):
        loaded(saved(Engine("cusum").fit(X, y)), plugins=[Doubled()])


def test_a_missing_plugin_is_named_with_its_distribution():
    content = saved(Engine("cusum").fit(*data()))
    content = edited(content, lambda h: h["problem"].update(name="cusum-of-a-stranger", distribution="stranger", version="3"))
    with pytest.raises(PluginError, match="needs the plugin 'cusum-of-a-stranger' of stranger 3, which is not installed; install it"):
        loaded(content)


def test_subclasses_load_their_own_kind(tmp_path):
    class Own(Engine):
        pass

    Own("cusum").fit(*data()).save(tmp_path / "model")
    assert type(Own.load(tmp_path / "model")) is Own and type(Engine.load(tmp_path / "model")) is Engine


# ---- paths and files ----


def test_paths_may_be_of_every_kind(tmp_path, monkeypatch):
    engine = Engine("cusum").fit(*data())
    monkeypatch.chdir(tmp_path)
    for path in (tmp_path / "a.model", str(tmp_path / "b"), os.fsencode(tmp_path / "c.npz"), "d", "größe.model"):
        engine.save(path)
        assert_same_model(Engine.load(path), engine)
    with open("e", "wb") as file:
        engine.save(file)
    with open("e", "rb") as file:
        assert_same_model(Engine.load(file), engine)
    assert sorted(os.listdir(tmp_path)) == sorted(["a.model", "b", "c.npz", "d", "e", "größe.model"])


def test_a_model_is_plain_arrays_and_a_header():
    X, y = data()
    engine = Engine("cusum", classes=np.array(list("abcd"), dtype=object)).fit(X, np.array(list("xabcd"))[y])
    with np.load(io.BytesIO(saved(engine)), allow_pickle=False) as file:
        header = json.loads(file["header"].tobytes())
        assert "weights.weights" in file.files and file.files[-1] == SUMS
        assert not any(file[name].dtype.hasobject for name in file.files if name != SUMS)
    assert header["format"] == "structperc-model" and header["format_number"] == 1
    assert header["problem"]["name"] == "cusum" and header["problem"]["distribution"] == "structperc" and header["problem"]["version"]
    assert header["context"]["labels"] == {"list": list("abcd")} and header["options"]["epochs"] == 1


def test_an_untrained_engine_cannot_be_saved(tmp_path):
    with pytest.raises(NotFittedError, match="without training cannot be saved; call fit"):
        Engine("cusum").save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_unwritable_paths_are_named(tmp_path):
    engine = Engine("cusum").fit(*data())
    (tmp_path / "file").write_text("not a folder")
    kinds = {tmp_path / "no" / "model": FileNotFoundError, tmp_path / "file" / "model": NotADirectoryError, tmp_path: OSError}
    for path, kind in kinds.items():
        with pytest.raises(kind, match=rf"cannot be written to {re.escape(repr(str(path)))}: .*choose a path in a writable folder"):
            engine.save(path)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_unreadable_paths_are_named(tmp_path):
    for path, kind in [(tmp_path / "none", FileNotFoundError), (tmp_path, OSError)]:
        with pytest.raises(kind, match=rf"the model {re.escape(repr(str(path)))} cannot be read"):
            Engine.load(path)


@pytest.mark.parametrize(("labels", "why"), [
    (pd.interval_range(0, 4), r"label Interval\(.*of type Interval, which a model file cannot store. Use finite numbers or strings"),
    ([(1, 2), (1, 3), (2, 2), (3, 1)], r"label \(1, 2\) of type tuple"),
    ([decimal.Decimal(n) for n in range(4)], "label Decimal.* of type Decimal"),
    ([1, 2.5, "three", float("inf")], "label inf of type float"),
    ([b"a", "b", 1, 2], "label b'a' of type bytes"),
    (np.array([1j, 2j, 3j, 4j]), "label 1j of type complex"),
    (["a", "b", "c", "d\ud800"], "half of a surrogate pair"),
    ([1, 2, 3, "d\udfff"], "half of a surrogate pair"),
], ids=repr)
@pytest.mark.parametrize("named", [False, True])
def test_labels_that_no_file_holds_are_refused_before_training(labels, why, named):
    X, y = data()
    listed, given = np.empty(60, dtype=object), np.empty(4, dtype=object)
    given[:] = list(labels)
    listed[:] = given[y - 1]
    engine = Engine("multiclass", classes=given if named else None)
    with pytest.raises(DataError, match=why if named or len(set(map(type, given))) == 1 else "cannot hold|half of|no common order"):
        engine.fit(X, np.array(listed.tolist()) if isinstance(labels, np.ndarray) else listed)
    assert engine.model is None


def test_column_names_that_no_file_holds_are_refused_before_training():
    with pytest.raises(DataError, match=r"X has a column 'b\\ud800' with half of a surrogate pair in its name.*rename it"):
        Engine("cusum").fit(pd.DataFrame(data()[0], columns=pd.Index(["a", "b\ud800", "c", "d"], dtype=object)), data()[1])


def test_numbers_of_numpy_among_other_labels_are_labels_like_any():
    X, y = data()
    given = np.empty(60, dtype=object)
    given[:] = [(np.int64(1), 2, np.float64(2.5), np.str_("4"))[k - 1] for k in y]
    engine = Engine("multiclass", classes=[1, 2, 2.5, "4"]).fit(X, given)
    assert_same_model(loaded(saved(engine)), engine)
    mixed = np.empty(60, dtype=object)
    mixed[:] = [np.int64(k) if k % 2 else int(k) for k in y]
    engine = Engine("cusum").fit(X, mixed)
    assert_same_model(loaded(saved(engine)), engine)
    days = np.array(["2020-01-01", "2020-01-02", "2020-01-03", "2020-01-05"], dtype="M8[D]")[y - 1]
    engine = Engine("multiclass").fit(X, days)
    assert loaded(saved(engine)).predict(X).tolist() == engine.predict(X).tolist()


class Unsaveable(PrimalWeights):
    def state(self):
        return {"weights": np.array([{}], dtype=object)}


@pytest.mark.parametrize(("engine", "why"), [
    (lambda X, y: Engine("cusum", plugins=[Unsaveable()]).fit(X, y), "the state 'weights.weights' is an array of objects"),
    (lambda X, y: Engine(Subsets(), above=np.array([np.inf])).fit(X, [()] * 60), "the option above=.* cannot be written"),
])
def test_what_a_file_cannot_hold_is_refused_and_the_old_file_survives(engine, why, tmp_path):
    X, y = data()
    old = Engine("cusum").fit(X, y)
    old.save(tmp_path / "model")
    with pytest.raises(PluginError, match=why):
        engine(X, y).save(tmp_path / "model")
    assert_same_model(Engine.load(tmp_path / "model"), old)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_save_that_breaks_off_leaves_the_old_file_and_no_rest(failure, tmp_path, monkeypatch):
    X, y = data()
    old = Engine("cusum").fit(X, y)
    old.save(tmp_path / "model")

    def broken(*args):
        raise failure

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(type(failure), match="No space left" if isinstance(failure, OSError) else None):
        Engine("prank").fit(X, y).save(tmp_path / "model")
    monkeypatch.undo()
    assert_same_model(Engine.load(tmp_path / "model"), old)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_files_opened_as_text_are_refused(tmp_path):
    engine = Engine("cusum").fit(*data())
    with open(tmp_path / "text", "w") as file, pytest.raises(TypeError, match="opened as text; open it with mode 'wb'"):
        engine.save(file)
    with open(tmp_path / "text") as file, pytest.raises(ModelFormatError, match="opened as text; open it with mode 'rb'"):
        Engine.load(file)


# ---- files that are no models ----


@pytest.fixture(scope="module")
def model():
    X, y = data()
    table = pd.DataFrame(X, columns=list("wxyz"))
    return saved(Engine("prank", average=True, shuffle=True, random_state=1, classes=list("abcd")).fit(table, np.array(list("xabcd"))[y]))


@pytest.mark.parametrize("flipped", [0xFF, 0x01, 0x20])
def test_a_damaged_byte_is_noticed_or_does_not_matter(model, flipped):
    X = pd.DataFrame(data()[0], columns=list("wxyz"))
    expected = loaded(model).predict(X).tolist()
    noticed = 0
    for at in range(0, len(model), 50):
        content = bytearray(model)
        content[at] ^= flipped
        try:
            assert loaded(bytes(content)).predict(X).tolist() == expected
        except ModelFormatError as error:
            assert "the file" in str(error)
            noticed += 1
    assert noticed > len(model) / 50 / 4


def test_a_truncated_file_is_noticed(model):
    for length in range(0, len(model), 50):
        with pytest.raises(ModelFormatError, match="damaged or truncated|is not a structperc model"):
            loaded(model[:length])


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


@pytest.mark.parametrize(("content", "why"), [
    (b"", "is not a structperc model"),
    (b"PK", "damaged or truncated"),
    (b"a,b\n1,2\n", "is not a structperc model"),
    (pickle.dumps([1, 2]), "is not a structperc model"),
    (npy(np.arange(3)), "is not a structperc model"),
    (packed({"readme.txt": b"hello"}), "without a structperc header|is no member of a model file"),
    (packed({}), "without a structperc header|is not a structperc model|damaged"),
    (npz(weights=np.arange(3)), "without a structperc header"),
    (npz(header=np.arange(3)), "is not that of a structperc model"),
    (npz(header=np.frombuffer(b"{}", np.uint8)), "is not that of a structperc model"),
    (npz(header=np.frombuffer(b"[1]", np.uint8)), "is not that of a structperc model"),
    (npz(header=np.frombuffer(b'{"format": "another", "format_number": 1}', np.uint8)), "is not that of a structperc model"),
    (npz(header=np.frombuffer(b'{"format": "structperc-model"}', np.uint8)), "is not that of a structperc model"),
    (npz(header=np.frombuffer(b'{"format": "structperc-model", "format_number": 1}', np.uint8)), "lacks 'problem'"),
])
def test_foreign_files_are_refused(content, why, tmp_path):
    path = tmp_path / "foreign"
    path.write_bytes(content)
    for source, shown in ((path, repr(str(path))), (io.BytesIO(content), "the file")):
        with pytest.raises(ModelFormatError, match=why) as caught:
            Engine.load(source)
        assert shown in str(caught.value)


class Bomb:
    def __reduce__(self):
        return (exec, ("raise SystemError('unpickled')",))


def test_nothing_is_ever_unpickled(model):
    bomb = np.empty(1, dtype=object)
    bomb[0] = Bomb()
    entries = members(model)
    hidden = [packed({**entries, f"{name}.npy": npy(bomb)}) for name in ("labels", "header", "weights.weights", "extra")]
    for content in (pickle.dumps(Bomb()), npy(bomb), npz(header=bomb), packed({**entries, "extra": pickle.dumps(Bomb())}), *hidden):
        with pytest.raises(ModelFormatError, match="the file"):
            loaded(content)


@pytest.mark.parametrize("number", [2, 10**6])
def test_newer_formats_ask_for_an_upgrade(model, number):
    with pytest.raises(ModelFormatError, match=f"format {number}, written by structperc 9.9; this version reads format 1, so upg"):
        loaded(edited(model, lambda h: h.update(format_number=number, structperc="9.9")))


@pytest.mark.parametrize("number", [0, -1, "one", None, [1]])
def test_impossible_formats_are_refused(model, number):
    with pytest.raises(ModelFormatError):
        loaded(edited(model, lambda h: h.update(format_number=number)))


def places(header, at=()):
    """All keys of the header, nested ones as paths."""
    for key, value in header.items():
        yield (*at, key)
        if isinstance(value, dict):
            yield from places(value, (*at, key))


def replaced(at, value):
    def change(header):
        inner = header
        for key in at[:-1]:
            inner = inner[key]
        if value is KeyError:
            del inner[at[-1]]
        else:
            inner[at[-1]] = value
    return change


@pytest.mark.parametrize("value", [KeyError, None, -1, 10**15, "x", [], {}, [[1]], True, 1.5], ids=str)
def test_a_header_edited_by_hand_is_refused_in_a_sentence_or_still_a_model(model, value):
    X = pd.DataFrame(data()[0], columns=list("wxyz"))
    refused = 0
    for at in places(header_of(model)):
        try:
            engine = loaded(edited(model, replaced(at, value)))
            assert repr(engine) and len(engine.predict(X)) == 60
        except StructPercError as error:
            assert len(str(error)) > 30
            refused += 1
    assert refused > 15


@pytest.mark.parametrize(("change", "why"), [
    (lambda h: h.pop("record"), "lacks 'record'"),
    (lambda h: h["options"].update(epochs=0), "epochs=0; expected a whole number"),
    (lambda h: h["options"].update(hurry=True), "hurry"),
    (lambda h: h["options"].pop("average"), "average"),
    (lambda h: h.update(options="none"), "options"),
    (lambda h: h["options"].update(average=False), "parts do not fit together"),
    (lambda h: h["plugin_options"].update(variant="third"), "variant='third'"),
    (lambda h: h["context"].update(n_features=5), "parts do not fit together"),
    (lambda h: h["context"].update(n_features=10**15), "parts do not fit together"),
    (lambda h: h["context"].update(labels={"list": ["a"]}), "parts do not fit together"),
    (lambda h: h["context"].update(feature_names=["w", "x"]), "parts do not fit together"),
    (lambda h: h["context"]["random"].update(bit_generator="Generator"), "parts do not fit together"),
    (lambda h: h["context"]["random"].update(state=-1), "parts do not fit together"),
    (lambda h: h["record"].update(mistakes="many"), "parts do not fit together"),
])
def test_impossible_headers_are_refused(model, change, why):
    with pytest.raises(ModelFormatError, match=why):
        loaded(edited(model, lambda h: change(h) and None))


@pytest.mark.parametrize("array", ["weights.weights", "weights.scales", "weights.n_visited", "labels"])
def test_missing_and_misshapen_arrays_are_refused(model, array):
    entries = members(model)
    for other in (None, npy(np.zeros((2, 2))), npy(np.array(list("abc"))), b"", entries[f"{array}.npy"][:-5]):
        changed = {name: content for name, content in entries.items() if name != f"{array}.npy"}
        if other is not None:
            changed[f"{array}.npy"] = other
        with pytest.raises(ModelFormatError):
            loaded(packed(changed))


def test_what_replaces_a_hot_spot_is_no_observer_whatever_else_it_watches():
    class Watching:
        name = "watching"

        @hookimpl
        def structperc_argmax(self, context):
            return PrefixArgmax(context.n_labels)

        @hookimpl
        def structperc_epoch_end(self, engine, record):
            self.seen = record.epoch

    content = saved(Engine("cusum", plugins=[Watching()]).fit(*data()))
    with pytest.raises(PluginError, match="needs the object 'watching'"):
        loaded(content)
    assert loaded(content, plugins=[Watching()]).fit(*data()).status_ == "max_epochs"
