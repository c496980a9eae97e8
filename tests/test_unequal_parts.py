"""Parts that are not like the whole, and parts of tables: they are learned from, or named."""

import os
from functools import partial

import numpy as np
import pandas as pd
import pytest
from plain import Engine
from scipy import sparse
from shards_of_data import PARTS, TAGS, WORDS, X, Y, trained, weights_of

from structperc import distributed as shards
from structperc import files
from structperc.errors import DataError
from structperc.estimators import LatentRanker
from structperc.streams import fit_stream

pytestmark = pytest.mark.filterwarnings("ignore")       # warnings of other libraries


# ---- parts that are not like the whole ----

EMPTY = (X[:0], Y[:0])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("classes", [(1, 2, 3), None])
def test_empty_parts_are_skipped(stream, classes):
    how = {"stream": stream, "classes": classes, "n_shards": 2, "scale": True}
    first, second = (X[:30], Y[:30]), (X[30:], Y[30:])
    expected = trained([first, second], **how)
    for parts in ([first, EMPTY, second], [first, second, EMPTY], [EMPTY, first, EMPTY, second, EMPTY]):
        model = trained(parts, **how)
        np.testing.assert_array_equal(weights_of(model), weights_of(expected))
        np.testing.assert_array_equal(model.model_.means, expected.model_.means)
    alone = trained([first, EMPTY, second], **how | {"n_shards": 3})                # a shard without examples
    assert (alone.predict(X) == Y).mean() > 0.7
    with pytest.raises(DataError, match="all 2 parts are empty"):
        trained([EMPTY, EMPTY], **how)


def test_empty_parts_of_sentences_are_skipped():
    parts = [([], []), (WORDS[:20], TAGS[:20]), ([], []), (WORDS[20:], TAGS[20:])]
    model, expected = (trained(some, "sequence", None, n_shards=2) for some in (parts, parts[1::2]))
    np.testing.assert_array_equal(weights_of(model), weights_of(expected))


SENTENCES = [np.random.default_rng(i).normal(size=(4, 2)) for i in range(12)]
LONGER = [[(0, 1, "a"), (2, 3, "b")]] * 4 + [[(0, 2, "a")], [(0, 4, "b")]] * 2 + [[(0, 3, "a")]] * 4


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("classes", [None, ["a", "b"]])
def test_segments_may_be_as_long_as_those_of_all_parts(stream, classes):
    parts = [(SENTENCES[i:i + 4], LONGER[i:i + 4]) for i in (0, 4, 8)]
    how = {"n_shards": 3, "classes": classes, "epochs": 2, "random_state": 0, "shuffle": False}
    model, expected = shards.fit(Engine("segments", **how), parts, stream=stream, dtype="float64"), Engine("segments", **how)
    expected.fit(SENTENCES, LONGER)
    assert model.max_lengths_ == expected.max_lengths_ == {"O": 1, "a": 3, "b": 4}
    np.testing.assert_array_equal(weights_of(model), weights_of(expected))


@pytest.mark.parametrize("stream", [False, True])
def test_what_encoding_counts_is_not_learned_by_steps(stream):
    X, y = [[(word,) for word in "abcd"]] * 6, [[3, 4, 0, 3]] * 6              # arcs cross, and are lifted
    how = {"projective": True, "lift": True, "n_shards": 2, "epochs": 2, "shuffle": False}
    model = shards.fit(Engine("parsing", **how), [(X[:3], y[:3]), (X[3:], y[3:])], stream=stream, dtype="float64")
    np.testing.assert_array_equal(weights_of(model), weights_of(Engine("parsing", **how).fit(X, y)))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("problem", ["cusum", "prank", "multiclass", "interval-pa"])
def test_a_first_part_of_one_label_does_not_stand_for_all(problem, stream):
    x, y = np.arange(-6.0, 6.0)[:, None], np.repeat([1, 2, 3], 4)
    given = np.column_stack([y, y]) if problem == "interval-pa" else y
    parts = [(x[i:i + 4], given[i:i + 4]) for i in (0, 4, 8)]
    model = trained(parts, problem, None, stream=stream, epochs=30)
    assert model.classes_.tolist() == [1, 2, 3] and (model.predict(x) == y).mean() > 0.7
    named = trained(parts, problem, stream=stream, epochs=30)
    np.testing.assert_array_equal(weights_of(model), weights_of(named))


def test_models_without_classes_are_trained_on_parts():
    """Estimators of rankings have no labels to name. In the first part no document is relevant."""
    grades = (Y > 2).astype(int)
    grades[:20] = 0
    parts = [{"X": X[i:i + 20], "y": grades[i:i + 20], "lengths": [10, 10]} for i in (0, 20, 40)]
    ranker = shards.fit(LatentRanker(k=3, n_shards=3, epochs=9, random_state=0), parts)
    assert np.any(ranker.coef_) and len(ranker.predict(X)) == 60


def test_a_first_part_of_one_tag_does_not_stand_for_all():
    parts = [([[["a"], ["b"]], [["c"]]], [["O", "O"], ["O"]]), ([[["d"], ["a"]]], [["B", "O"]])]
    assert trained(parts, "sequence", None, n_shards=2).classes_.tolist() == ["B", "O"]


# ---- parts of tables and of queries ----

def frame_of(n=90):
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(2)
    table = pandas.DataFrame({"a": random.normal(size=n), "g": random.choice(list("uvw"), n), "b": random.normal(size=n)})
    return table, 1 + np.digitize(table["a"].to_numpy(), [-0.5, 0.5])


def frame_parts(change):
    table, y = frame_of()
    parts = [{"X": table.iloc[i:i + 30], "y": y[i:i + 30], "sample_weight": np.ones(30)} for i in (0, 30, 60)]
    return [change(part) if i == 1 else part for i, part in enumerate(parts)]


ODD = {
    "another order of columns": lambda part: {**part, "X": part["X"][["b", "g", "a"]]},
    "a column more": lambda part: {**part, "X": part["X"].assign(z=1.0)},
    "no weight": lambda part: {**part, "sample_weight": np.zeros(30)},
    "one row": lambda part: {name: values[:1] for name, values in part.items()},
    "no row": lambda part: {name: values[:0] for name, values in part.items()},
    "one label": lambda part: {name: values[part["y"] == 1] for name, values in part.items()},
    "one level": lambda part: {name: values[(part["X"]["g"] == "w").to_numpy()] for name, values in part.items()},
}
WRONG = {
    "no column 'b'": lambda part: {**part, "X": part["X"].drop(columns="b")},
    "30 empty cells": lambda part: {**part, "X": part["X"].assign(b=np.nan)},
    "y.* is 7": lambda part: {**part, "y": np.full(30, 7)},
}
LEARNERS = {
    "fit_stream": lambda parts, **options: fit_stream(Engine("cusum", **options), parts),
    "one shard each": lambda parts, **options: shards.fit(Engine("cusum", n_shards=3, **options), parts),
    "joined": lambda parts, **options: shards.fit(Engine("cusum", n_shards=2, **options), parts),
    "streams": lambda parts, **options: shards.fit(Engine("cusum", n_shards=2, **options), parts, stream=True),
}


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_part_that_is_not_like_the_others_is_learned_from_or_named(learner):
    options = {"classes": [1, 2, 3], "epochs": 3, "random_state": 0, "plugins": ["table"], "one_hot": ["g"], "scale": True}
    learn, (table, y) = partial(LEARNERS[learner], **options), frame_of()
    plain = learn(frame_parts(lambda part: part))
    for name, change in ODD.items():
        parts = frame_parts(change)
        for order in (parts, [parts[1], parts[0], parts[2]])[:1 if name == "a column more" else 2]:
            assert (learn(order).predict(table) == y).mean() > 0.7, name
    for name in ("another order of columns", "a column more"):
        np.testing.assert_array_equal(learn(frame_parts(ODD[name])).coef_, plain.coef_)
    for fault, change in WRONG.items():
        with pytest.raises(DataError, match=f"{fault}.*part 2"):
            learn(frame_parts(change))


OTHER_KINDS = {
    "texts": (lambda y: y.astype(str), r"y holds '\d', a text, and other parts hold \d"),
    "truth values": (lambda y: y > 1, r"y holds (True|False), a truth value, and other parts hold \d"),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("problem", ["cusum", "multiclass"])
@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_labels_of_another_type_in_one_part_are_named(kind, problem, stream):
    """Joined, they would be texts all, or True would be 1."""
    change, message = OTHER_KINDS[kind]
    for first in (PARTS[0], (X[Y == 1], Y[Y == 1])):
        parts = [first, PARTS[1], (PARTS[2][0], change(PARTS[2][1]))]
        with pytest.raises(DataError, match=f"{message}.*part 3"):
            shards.fit(Engine(problem, n_shards=2), parts, stream=stream)
    floats = [PARTS[0], (PARTS[1][0], PARTS[1][1].astype(float)), (PARTS[2][0], PARTS[2][1].tolist())]
    assert shards.fit(Engine(problem, n_shards=2), floats, stream=stream).classes_.tolist() == [1, 2, 3]


def test_parts_in_another_form_and_faults_of_the_first_one_are_named(tmp_path):
    table, y = pd.DataFrame(X, columns=list("abcde")), Y
    for other, form in ((table[20:40], "a data frame"), (sparse.csr_array(X[20:40]), "a sparse matrix")):
        with pytest.raises(DataError, match=f"X of part 2 is {form} and that of part 3 is an array; give all the same form"):
            trained([PARTS[0], (other, Y[20:40]), PARTS[2]], n_shards=2)
    weighted = [{"X": a, "y": b, "sample_weight": np.where(np.arange(20) == 7, -1.0, 1.0)} for a, b in PARTS]
    with pytest.raises(DataError, match=r"sample_weight\[7\] is -1.0.*part 1"):
        trained(weighted, update="pa1")
    with pytest.raises(DataError, match="part 2 has X, y and part 3 has X, sample_weight, y"):
        trained([*PARTS[:2], {"X": X[40:], "y": Y[40:], "sample_weight": np.ones(20)}], n_shards=2)
    for i, (first, last) in enumerate(((0, 0), (0, 20), (20, 20), (20, 60))):
        table[first:last].assign(level=y[first:last]).to_csv(tmp_path / f"{i}.csv", index=False)
    read, paths = partial(files.read, target="level"), os.fspath(tmp_path / "*.csv")
    for stream in (False, True):
        found = trained(paths, n_shards=2, read=read, stream=stream)
        assert np.array_equal(weights_of(found), weights_of(trained([(X[:20], Y[:20]), (X[20:], Y[20:])], n_shards=2)))
    with pytest.raises(DataError, match="all 2 parts are empty"):
        trained([os.fspath(tmp_path / "0.csv")] * 2, n_shards=2, read=read)
