"""An author's outputs get labels and outputs as plain values of Python at every door: never scalars of numpy or of Arrow."""

import numpy as np
import pandas as pd
import pytest

from structperc import Engine, distributed
from structperc.basics.labels import plain_values
from structperc.errors import DataError
from structperc.metrics import measures
from structperc.streams import Slices, fit_stream

SOURCE = """
'''A level for each row, and a label, whose outputs accept only plain values.'''
import itertools

import numpy as np

from structperc import hookimpl
from structperc.components import Argmax, BlockFeatures, LabelOutputs, Outputs, RowFeatures, Structures


def check(values):
    for value in values:
        if isinstance(value, (list, tuple, np.ndarray)):
            check(value)
        else:
            assert type(value) in (str, int, float, bool, type(None)), f"{value!r} of type {type(value)}"


class Levels(Outputs):
    per_row = True

    def find_labels(self, y, classes):
        check(y if classes is None else classes)
        self.names = sorted({level for levels in y for level in levels} if classes is None else classes)
        return np.array(self.names)

    def labels_in(self, y):
        check(y)
        return {level for levels in y for level in levels}

    def encode(self, y, rows):
        check(y)
        return Structures.ragged([[self.names.index(level) for level in levels] for levels in y])

    def decode(self, y, x):
        return [self.names[k] for k in y]

    def check_structure(self, x, y):
        pass

    def count(self, x, y):
        return np.array(y, dtype=float)

    def measures(self, y_true, y_pred):
        check([y_true, y_pred])
        return {}

    def read_cells(self, cells):
        check(cells)
        return list(cells)

    def write_cells(self, levels, n_rows):
        check(levels)
        return list(levels)


class First(Argmax):
    def argmax(self, scores, x):
        return [int(score > 0) for score in scores]


class Labels(LabelOutputs):
    def find_labels(self, y, classes):
        check([] if y is None else y)
        check([] if classes is None else classes)
        return super().find_labels(y, classes)

    def encode(self, y, rows):
        check([y[0], *y])
        return super().encode(y, rows)

    def count(self, x, y):
        check([self.labels[y - 1], *self.labels])
        return np.eye(self.n_labels)[y - 1]


class Best(Argmax):
    def argmax(self, scores, x):
        return int(np.argmax(scores)) + 1


class Named:
    name = "named"

    @hookimpl
    def structperc_outputs(self, context):
        return Labels()

    @hookimpl
    def structperc_features(self, context):
        check(context.labels)
        return BlockFeatures(context.n_labels, context.n_features)

    @hookimpl
    def structperc_argmax(self, context):
        return Best()


@hookimpl
def structperc_outputs(context):
    return Levels()


@hookimpl
def structperc_features(context):
    check(context.labels)
    return RowFeatures(context.n_features)


@hookimpl
def structperc_argmax(context):
    return First()
"""
X = np.random.default_rng(0).normal(size=(12, 2))
BLOCKS = [X[i:i + 3] for i in range(0, 12, 3)]
LEVELS = np.array([["a", "b", "a"]] * 4)


@pytest.fixture
def plugin(install):
    install("plain", SOURCE)
    import acme_plain
    return acme_plain


def learns(problem, X, y, labels):
    """Every door of an engine but files."""
    options = {"epochs": 1, "random_state": 0}
    engine = Engine(problem, **options).fit(X, y)
    engine.predict(X)
    measures(engine, X, y)
    Engine(problem, **options, classes=labels).partial_fit(X, y).partial_fit(X, y)
    Engine(problem, **options, n_shards=2).fit(X, y)
    if isinstance(y, np.ndarray):
        fit_stream(Engine(problem, **options, classes=labels), Slices(X, y, rows=5))
        distributed.fit(Engine(problem, **options, n_shards=2), [(X[:6], y[:6]), (X[6:], y[6:])])
    return engine


@pytest.mark.parametrize("labels", [["low", "high", "mid"], [3, 1, 2], [0.5, 2.5, 1.5], [True, False, True]], ids=str)
@pytest.mark.parametrize("form", [list, np.array, pd.Series, lambda y: list(np.array(y)), lambda y: np.array(y, dtype=object),
                                  lambda y: pd.Series(y).astype("category")],
                         ids=["list", "array", "Series", "scalars", "objects", "category"])
def test_labels_of_any_type_in_any_form(plugin, labels, form):
    learns(plugin.Named(), X, form(labels * 4), np.unique(labels))


@pytest.mark.parametrize("form", ["array", "chunked_array", "dictionary"])
def test_labels_in_arrow(plugin, form):
    pa = pytest.importorskip("pyarrow")
    y = pa.array(["low", "high", "mid"] * 4)
    y = y.dictionary_encode() if form == "dictionary" else pa.chunked_array([y]) if form == "chunked_array" else y
    learns(plugin.Named(), X, y, np.array(["high", "low", "mid"]))


@pytest.mark.parametrize("y", [LEVELS, list(LEVELS), LEVELS.tolist(), LEVELS.astype(object)], ids=["array", "arrays", "lists", "objects"])
def test_structures_of_labels(plugin, y, tmp_path):
    engine = learns("plain", BLOCKS, y, np.array(["a", "b"]))
    answers = engine.predict(BLOCKS).tolist()
    assert {type(name) for answer in answers for name in answer} == {str}
    engine.save(tmp_path / "model")
    assert repr(Engine.load(tmp_path / "model").predict(BLOCKS).tolist()) == repr(answers)


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "db"])
@pytest.mark.parametrize("more", [[], ["--stream"]], ids=["whole", "stream"])
def test_files(plugin, run, tmp_path, ending, more):
    if ending in ("parquet", "arrow"):
        pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"day": np.repeat(range(4), 3), "a": X[:, 0], "b": X[:, 1], "level": LEVELS.ravel()})
    path, model, output = tmp_path / f"data.{ending}", tmp_path / "m", tmp_path / "out.csv"
    source = [path]
    if ending == "csv":
        frame.to_csv(path, index=False)
    elif ending == "db":
        import sqlite3
        with sqlite3.connect(path) as connection:
            frame.to_sql("days", connection, index=False)
        connection.close()
        source = [path, "--query", "SELECT * FROM days"]
    else:
        (frame.to_parquet if ending == "parquet" else frame.to_feather)(path)
    common = ["--group", "day", "--target", "level"]
    assert run("fit", "plain", *source, *common, "--model", model, *more)[2] == "" or model.exists()
    assert run("evaluate", model, *source, *common)[0] == 0
    code, _, error = run("predict", model, *source, *common[:2], "--output", output)
    assert code == 0, error
    assert {line.split(",")[-1] for line in output.read_text().splitlines()[1:]} <= {"a", "b"}


def test_times_stay_as_they_are_and_equal_lists_are_not_copied():
    days = np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[D]")
    assert all(type(day) is np.datetime64 for day in plain_values(days))
    rows = [["a", "b"], ("c", None), {1, 2}]
    assert plain_values(rows) is rows
    assert plain_values([np.int64(1), (np.str_("a"), {np.float32(0.5)})]) == [1, ("a", {0.5})]


def test_the_order_of_categories_stays(plugin):
    class Ordered(plugin.Labels):
        ordered = True

    class Problem(plugin.Named):
        structperc_outputs = plugin.hookimpl(lambda self, context: Ordered())

    order = ["low", "mid", "high"]
    engine = Engine(Problem(), epochs=1).fit(X, pd.Categorical(order * 4, categories=order, ordered=True))
    assert engine.classes_.tolist() == order and type(engine.classes_) is np.ndarray
    assert type(engine.predict(X)) is np.ndarray


def test_an_error_in_encode_names_the_method(plugin):
    class Broken(plugin.Labels):
        def encode(self, y, rows):
            return y.missing

    class Problem(plugin.Named):
        structperc_outputs = plugin.hookimpl(lambda self, context: Broken())

    with pytest.raises(AttributeError) as caught:
        Engine(Problem(), epochs=1).fit(X, ["a", "b"] * 6)
    assert caught.value.__notes__ == ["in Broken.encode"]


@pytest.mark.parametrize("problem", ["cusum", "multiclass", "sequence"])
def test_lists_that_hold_themselves_are_refused_by_a_sentence(problem):
    loop = [1, 2]
    loop[1] = loop
    with pytest.raises(DataError, match="y"):
        Engine(problem).fit([[[0.0], [1.0]]] * 2 if problem == "sequence" else [[0.0], [1.0]], loop)
