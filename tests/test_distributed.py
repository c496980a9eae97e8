"""Tests of shards on Dask's workers: training gives the bits of one process, even if workers fail or are replaced."""

import inspect
import itertools
import os
import pickle
import threading
import time
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import Engine
from shards_of_data import OPTIONS, PARTS, RANDOM, TAGS, WORDS, X, Y, trained, weights_of
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from structperc import distributed as shards
from structperc import estimators, hookimpl
from structperc.callbacks import Checkpoint, History
from structperc.cli import main
from structperc.distributed.messages import with_zeros, without_zeros
from structperc.distributed.workers import Slot
from structperc.errors import DataError, OptionError, PluginError
from structperc.estimators import CuSumRank, DependencyParser, LatentRanker, RankingSVM, StructuredClassifier
from structperc.streams import Slices, fit_stream


class Forgetful:
    """Removes all shards from workers, as if these had been killed and replaced."""

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        if record.epoch == 2:
            for slot in sum(slots(), []):
                slot.held = None


def slots():
    """The shards that each worker of the current client keeps."""
    workers = pytest.importorskip("distributed").default_client().cluster.workers.values()
    return [[value for value in dict(worker.data).values() if isinstance(value, Slot)] for worker in list(workers)]


class Watching:
    """Records the number of shards on each worker."""

    def __init__(self):
        self.numbers = []

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        self.numbers.append(sorted(map(len, slots())))


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as found:
            yield found


pytestmark = pytest.mark.filterwarnings("ignore")       # warnings of other libraries


def test_float64_has_the_bits_of_fit():
    whole = Engine("cusum", classes=[1, 2, 3], **OPTIONS).fit(X, Y)
    found = trained(dtype="float64")
    assert np.array_equal(weights_of(found), weights_of(whole)) and found.mistakes_ == whole.mistakes_
    assert np.allclose(weights_of(trained()), weights_of(whole), atol=1e-4)


@pytest.mark.parametrize(("problem", "weighted"), [("cusum", False), ("cusum", True), ("prank", False), ("multiclass", True)])
def test_scaled_columns_have_the_bits_of_fit(problem, weighted):
    random = np.random.default_rng(4)
    X = random.normal(size=(60, 4)) * [1, 1e3, 1e-3, 1] + [0, 5, 1, 1e8]
    y, weights = np.digitize(X[:, 0] + X[:, 3] - 1e8, [-1, 1]) + 1, 0.1 + random.random(60) if weighted else np.ones(60)
    options = OPTIONS | {"scale": True, "classes": [1, 2, 3], "n_shards": 3}
    whole = Engine(problem, **options).fit(X, y, sample_weight=weights)
    parts = [{"X": X[i:i + 20], "y": y[i:i + 20], "sample_weight": weights[i:i + 20]} for i in (0, 20, 40)]
    for how in ({}, {"stream": True}):
        remote = shards.fit(Engine(problem, **options), parts, dtype="float64", **how)
        assert np.array_equal(remote.model_.means, whole.model_.means) and np.array_equal(remote.model_.spreads, whole.model_.spreads)
    assert np.array_equal(weights_of(shards.fit(Engine(problem, **options), parts, dtype="float64")), weights_of(whole))


def test_named_features_have_the_bits_of_fit_where_they_are_hashed():
    options = {"n_hashed": 64, "update": "pa1", "C": 0.1, "n_shards": 2}
    whole = Engine("sequence", classes=["t0", "t1", "t2"], **OPTIONS | options).fit(WORDS, TAGS)
    parts = [(WORDS[:10], TAGS[:10]), (WORDS[10:20], TAGS[10:20]), (WORDS[20:30], TAGS[20:30]), (WORDS[30:], TAGS[30:])]
    found = trained(parts, "sequence", ("t0", "t1", "t2"), dtype="float64", **options)
    assert np.array_equal(weights_of(found), weights_of(whole)) and list(found.predict(WORDS)[0]) == list(whole.predict(WORDS)[0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_workers_have_the_bits_of_one_process(client, dtype):
    history, watching = History(), Watching()
    alone, remote = trained(dtype=dtype), trained(dtype=dtype, client=client, plugins=[history, watching])
    assert np.array_equal(weights_of(alone), weights_of(remote)) and alone.mistakes_ == remote.mistakes_
    assert [record.examples for record in history.records] == [60] * 4 and all(sum(numbers) >= 3 for numbers in watching.numbers)
    wait_until_no_shard_is_held()


def wait_until_no_shard_is_held():
    for _ in range(1000):           # workers release their shards after training has returned
        if not any(slots()):
            return
        time.sleep(0.01)
    raise AssertionError("workers still hold shards of a training that is over")


def test_a_worker_that_forgets_everything_changes_no_bit(client):
    assert np.array_equal(weights_of(trained(client=client, plugins=[Forgetful()])), weights_of(trained()))


class Exchanged:
    """Closes all workers during training. A new worker starts after the request for the next round."""

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        if record.epoch == 2:
            cluster = pytest.importorskip("distributed").default_client().cluster
            cluster.scale(0)
            while cluster.scheduler.workers:
                time.sleep(0.01)
            threading.Timer(0.2, cluster.scale, [1]).start()


def test_a_training_goes_on_with_other_workers_than_it_began_with():
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    dask = pytest.importorskip("dask")
    with dask.config.set({"distributed.scheduler.no-workers-timeout": "30 s"}):         # instead of an endless wait
        with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
            with distributed.Client(cluster) as found:
                assert np.array_equal(weights_of(trained(client=found, plugins=[Exchanged()])), weights_of(trained()))


def test_a_failed_training_leaves_no_shard_on_workers(client):
    with pytest.raises(DataError, match=r"X\[0, 0\] is nan.*This is about part 3"):
        trained([*PARTS[:2], (np.full((20, 5), np.nan), Y[40:])], client=client)
    wait_until_no_shard_is_held()


def test_collections_of_dask_are_read_by_workers(client):
    array = pytest.importorskip("dask.array")
    bag = pytest.importorskip("dask.bag")
    found = trained(array.from_array(X, chunks=(20, 2)), y=array.from_array(Y, chunks=20), client=client)
    assert np.array_equal(weights_of(found), weights_of(trained()))
    pairs = (bag.from_sequence(one, npartitions=2) for one in (WORDS, TAGS))
    tagger = Engine("sequence", classes=["t0", "t1", "t2"], n_hashed=64, **OPTIONS | {"n_shards": 2})
    shards.fit(tagger, next(pairs), next(pairs), client=client)
    halves = [(WORDS[:20], TAGS[:20]), (WORDS[20:], TAGS[20:])]
    assert np.array_equal(weights_of(tagger), weights_of(trained(halves, "sequence", ("t0", "t1", "t2"), n_hashed=64, n_shards=2)))


def test_files_are_read_where_they_are_needed(client, tmp_path):
    for i, (rows, y) in enumerate(PARTS):
        np.savez(tmp_path / f"{i}.npz", X=rows, y=y)
    names = [os.fspath(tmp_path / f"{i}.npz") for i in range(3)]
    assert np.array_equal(weights_of(trained(names, read=read, client=client)), weights_of(trained()))


def read(name):
    with np.load(name) as found:
        return found["X"], found["y"]


def in_pieces(part):
    return Slices(*part, rows=7)


@pytest.mark.parametrize("options", [{"shuffle": False}, {"shuffle": False, "n_shards": 2, "update": "pa1"}, {}])
def test_streams_have_the_bits_of_shards_in_memory(client, options):
    right = weights_of(trained(**options))
    for how in ({}, {"client": client}):
        assert np.array_equal(weights_of(trained(stream=True, **options, **how)), right)
        if not options.get("shuffle", True):
            assert np.array_equal(weights_of(trained(stream=True, read=in_pieces, **options, **how)), right)
            assert np.array_equal(weights_of(trained(read=in_pieces, **options, **how)), right)


def test_streams_are_read_at_each_pass_in_random_orders(tmp_path):
    log = tmp_path / "read"
    found = trained(stream=True, read=partial(logged, log))
    assert log.read_text().split()[1:] == ["20"] * 12           # the caller reads the first part once before training
    shuffled = [trained(stream=True, read=in_pieces, n_shards=2, random_state=seed) for seed in (6, 6, 7)]
    assert np.array_equal(*map(weights_of, shuffled[:2])) and not np.array_equal(*map(weights_of, shuffled[1:]))
    assert all((one.predict(X) == Y).mean() > 0.7 for one in (found, *shuffled))


def logged(log, part):
    with log.open("a") as file:
        file.write(f"{len(part[1])} ")
    return part


def test_streams_show_labels_names_and_weights_piece_by_piece(client):
    tags = [[f"{tag}{i // 5}" for tag in sentence] for i, sentence in enumerate(TAGS)]
    words = [[[f"{name}{i // 10}" for name in token] for token in sentence] for i, sentence in enumerate(WORDS)]
    parts = [(words[i:i + 20], tags[i:i + 20]) for i in (0, 20)]
    whole = Engine("sequence", **OPTIONS | {"n_shards": 2, "shuffle": False}).fit(words, tags)
    found = trained(parts, "sequence", None, n_shards=2, shuffle=False, dtype="float64", stream=True, read=in_pieces, client=client)
    assert found.classes_.tolist() == whole.classes_.tolist() and list(found.predict(words)[-1]) == list(whole.predict(words)[-1])
    weights = RANDOM.integers(1, 4, 60).astype(float)
    weighed = [{"X": X[i:i + 20], "y": Y[i:i + 20], "sample_weight": weights[i:i + 20]} for i in (0, 20, 40)]
    history = History()
    trained(weighed, weighting="visits", stream=True, plugins=[history], read=lambda part: Slices(**part, rows=9))
    assert all(55 <= record.examples <= 65 for record in history.records)           # each piece's visits are rounded


def test_labels_and_names_are_learned_from_all_parts(client):
    tags = [[f"{tag}{i // 10}" for tag in sentence] for i, sentence in enumerate(TAGS)]        # each part has its own labels
    words = [[[f"{name}{i // 20}" for name in token] for token in sentence] for i, sentence in enumerate(WORDS)]
    whole = Engine("sequence", **OPTIONS | {"n_shards": 2}).fit(words, tags)
    parts = [(words[i:i + 10], tags[i:i + 10]) for i in range(0, 40, 10)]
    for how in ({}, {"client": client}):
        found = trained(parts, "sequence", None, n_shards=2, dtype="float64", **how)
        assert found.classes_.tolist() == whole.classes_.tolist() and np.array_equal(weights_of(found), weights_of(whole))


class Gathered:
    """Records how many bytes come to the caller."""

    def __init__(self, client):
        self.client, self.sizes = client, []

    def __getattr__(self, name):
        return getattr(self.client, name)

    def gather(self, futures):
        found = self.client.gather(futures)
        self.sizes.append(len(pickle.dumps(found)))
        return found


@pytest.mark.parametrize("stream", [False, True])
def test_names_come_to_the_caller_and_no_data(client, stream):
    """Each part has names of its own, so that data with new names would be all data."""
    words = [[[f"{name}{i // 8}" for name in token] for token in sentence] for i, sentence in enumerate(WORDS)]
    parts = [(words[i:i + 8], TAGS[i:i + 8]) for i in range(0, 40, 8)]
    options = {"n_shards": 5, "epochs": 2}
    whole = Engine("sequence", classes=["t0", "t1", "t2"], **OPTIONS | options).fit(words, TAGS)
    for how in ({}, {"client": client}):
        model = trained(parts, "sequence", ("t0", "t1", "t2"), stream=stream, dtype="float64", **options, **how)
        assert [model.feature_name(j) for j in range(model.n_features_in_)] == [whole.feature_name(j) for j in range(whole.n_features_in_)]
        if not stream:
            np.testing.assert_array_equal(weights_of(model), weights_of(whole))
    few, many = Gathered(client), Gathered(client)
    for n, watched in ((1, few), (9, many)):
        trained([(words * n, TAGS * n)] * 5, "sequence", ("t0", "t1", "t2"), stream=stream, client=watched, **options)
    assert max(many.sizes) < 1.2 * max(few.sizes)


def test_vectors_that_a_first_part_lacks_are_columns():
    tokens = [[["a"], ["b"]], [["a", np.ones(2)], ["c", np.zeros(2)]]] * 5
    tags = [["x", "y"]] * 10
    parts = [(tokens[i::2], tags[i::2]) for i in (0, 1)]
    model = trained(parts, "sequence", ("x", "y"), n_shards=2)
    assert [model.feature_name(j) for j in range(model.n_features_in_)] == ["a", "b", "c", "vector[0]", "vector[1]"]


@pytest.mark.parametrize("weighting", ["steps", "visits"])
def test_sample_weights_have_the_bits_of_fit(weighting):
    weights = RANDOM.integers(0, 4, 60).astype(float)
    options = {"update": "pa1", "weighting": weighting, "classes": [1, 2, 3]}
    whole = Engine("cusum", **OPTIONS | options).fit(X[:60], Y, sample_weight=weights)
    parts = [{"X": X[i:i + 20], "y": Y[i:i + 20], "sample_weight": weights[i:i + 20]} for i in (0, 20, 40)]
    found = shards.fit(Engine("cusum", **OPTIONS | options), parts, dtype="float64")
    assert np.array_equal(weights_of(found), weights_of(whole)) and found.mistakes_ == whole.mistakes_


def test_rows_of_groups_are_examples():
    groups, chosen = np.arange(60) // 4, Y == 3
    parts = [{"X": X[i:i + 20], "y": chosen[i:i + 20], "groups": groups[i:i + 20] - i // 4} for i in (0, 20, 40)]
    whole = Engine("latent-ranking", k=2, **OPTIONS).fit(X, chosen, groups=groups)
    assert np.array_equal(weights_of(trained(parts, "latent-ranking", None, k=2, dtype="float64")), weights_of(whole))


def test_an_estimator_is_trained_as_its_engine_is(client):
    array = pytest.importorskip("dask.array")
    ranker = CuSumRank(n_shards=3, epochs=4, random_state=6, classes=[1, 2, 3])
    assert shards.fit(ranker, array.from_array(X, chunks=(20, 5)), array.from_array(Y, chunks=20), client=client, dtype="float64") is ranker
    assert np.array_equal(weights_of(ranker.engine_), weights_of(clone(ranker).fit(X, Y).engine_))


@pytest.mark.parametrize("rows", [20, 10, 4])
@pytest.mark.parametrize("problem", ["cusum", "prank", "multiclass"])
def test_scaled_columns_have_the_bits_of_fit_however_the_rows_are_divided(problem, rows):
    """Years and shares beside each other: sums of numbers of float64 depend on their order; exact sums do not."""
    table = X * [1, 9, 90, 1e-3, 1] + [0, 1900, 0.1, 1e6, 0]
    options = OPTIONS | {"scale": True, "classes": [1, 2, 3]}
    parts = [{"X": table[i:i + rows], "y": Y[i:i + rows]} for i in range(0, 60, rows)]
    whole, found = Engine(problem, **options).fit(table, Y), shards.fit(Engine(problem, **options), parts, dtype="float64")
    assert np.array_equal(weights_of(found), weights_of(whole)) and found.mistakes_ == whole.mistakes_
    assert np.array_equal(found.model_.means, whole.model_.means)


UNEVEN = [{"X": X[i:j] * [1, 9, 90, 1, 1] + i, "y": Y[i:j], "sample_weight": 1.0 + np.arange(i, j) % 3}
          for i, j in ((0, 11), (11, 40), (40, 60))]
WHOLE = {name: np.concatenate([part[name] for part in UNEVEN]) for name in ("X", "y", "sample_weight")}


@pytest.mark.parametrize("options", [
    {"scale": True}, {"scale": "auto", "weighting": "visits"}, {"class_weight": "balanced"},
    {"class_weight": {1: 2.5}, "weighting": "visits"}, {"scale": True, "class_weight": "balanced", "weighting": "visits"},
])
@pytest.mark.parametrize("stream", [False, True])
def test_what_all_examples_say_is_learned_by_a_pass_of_the_workers(client, options, stream):
    def fitted(data, **how):
        engine = Engine("cusum", **OPTIONS | {"shuffle": False, "update": "pa1", "C": 0.1, "n_shards": 2} | options)
        return engine.fit(**data) if how == {} else shards.fit(engine, data, dtype="float64", stream=stream, **how)

    halves = [{name: value[i:i + 30] for name, value in WHOLE.items()} for i in (0, 30)]      # the shards of one process
    quarters = [{name: value[i:i + 15] for name, value in WHOLE.items()} for i in (0, 15, 30, 45)]
    parts = halves if stream else quarters          # the visits of each piece of a stream are rounded
    whole, alone, remote = fitted(WHOLE), fitted(halves, client=None), fitted(parts, client=client)
    np.testing.assert_allclose(weights_of(alone), weights_of(whole), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(weights_of(remote), weights_of(whole), rtol=1e-9, atol=1e-12)
    assert np.array_equal(weights_of(remote), weights_of(fitted(parts, client=None)))
    np.testing.assert_allclose(remote.model_.means, whole.model_.means, rtol=1e-12)
    assert remote.explain(whole.model_.means).contributions[0].feature == "(constant)"


def test_means_are_those_of_all_parts_whatever_is_scaled(client):
    whole = Engine("cusum", **OPTIONS).fit(**WHOLE)
    found = [trained(UNEVEN, **how) for how in ({}, {"client": client}, {"client": client, "plugins": [Forgetful()]}, {"stream": True})]
    for engine in found:
        np.testing.assert_allclose(engine.model_.means, whole.model_.means, rtol=1e-12)


def test_an_estimator_with_its_defaults_is_trained_on_parts():
    ranker = shards.fit(CuSumRank(n_shards=3, random_state=6), PARTS, dtype="float64")
    assert np.abs(ranker.predict(X) - Y).mean() <= np.abs(CuSumRank(n_shards=3, random_state=6).fit(X, Y).predict(X) - Y).mean() + 0.05


def many(n, columns):
    random = np.random.default_rng(0)
    rows = random.normal(size=(n, columns))
    return rows, np.digitize(rows[:, 0] + random.logistic(size=n), [-1, 1]) + 1


@pytest.mark.parametrize(("problem", "columns", "stream"), [("prank", 2, False), ("prank", 2, True), ("multiclass", 30, False)])
def test_a_temperature_is_found_by_training_examples_or_by_those_left_out(client, problem, columns, stream):
    rows, y = many(900, columns)
    parts = [(rows[i:i + 300], y[i:i + 300]) for i in (0, 300, 600)]
    options = {"n_shards": 3, "epochs": 4, "average": True, "scale": True, "calibrate": True, "random_state": 0}
    whole, found = Engine(problem, **options).fit(rows, y), shards.fit(Engine(problem, **options), parts, stream=stream, client=client)
    alone = shards.fit(Engine(problem, **options), parts, stream=stream)
    plain = shards.fit(Engine(problem, **options | {"calibrate": False}), parts, stream=stream)
    assert np.array_equal(weights_of(found), weights_of(plain)) and found.temperature_ == alone.temperature_ and plain.temperature_ == 1
    assert found.temperature_ == pytest.approx(whole.temperature_, rel=1e-2 if problem == "prank" else 0.4)


@pytest.mark.parametrize("calibrate", ["auto", True])
def test_a_first_part_of_one_example_is_calibrated_with_the_others(calibrate):
    options = {"n_shards": 2, "epochs": 2, "random_state": 0, "classes": [1, 2, 3], "calibrate": calibrate}
    rows, y = many(61, 2)
    found = [shards.fit(Engine("prank", **options), [(rows[i:j], y[i:j]) for i, j in itertools.pairwise(cuts)]) for cuts in
             ([0, 1, 31, 61], [0, 30, 60, 61])]
    assert all(0 < engine.temperature_ != 1 for engine in found)


def test_a_temperature_of_tokens_is_that_of_sentences_left_out(client):
    parts = [(WORDS[:20], TAGS[:20]), (WORDS[20:], TAGS[20:])]
    options = {"n_shards": 2, "calibrate": "auto", "classes": ("t0", "t1", "t2"), "n_hashed": 64}
    found, alone = trained(parts, "sequence", client=client, **options), trained(parts, "sequence", **options)
    assert found.temperature_ == alone.temperature_ != 1


def test_answers_are_lazy_and_of_the_kind_of_the_data(client):
    array, bag = pytest.importorskip("dask.array"), pytest.importorskip("dask.bag")
    engine, tagger = trained(), Engine("sequence", epochs=2).fit(WORDS, TAGS)
    chunks = array.from_array(X, chunks=(25, 2))
    found = shards.predict(engine, chunks)
    assert found.shape == (60,) and found.chunks == ((25, 25, 10),) and np.array_equal(found.compute(), engine.predict(X))
    assert np.array_equal(shards.scores(engine, chunks).compute(), engine.label_scores(X))
    assert shards.predict(engine, chunks, method="predict_proba").shape == (60, 3)
    tags = shards.predict(tagger, bag.from_sequence(WORDS, npartitions=3)).compute()
    assert list(map(list, tags)) == list(map(list, tagger.predict(WORDS)))
    assert [len(one.compute()) for one in shards.predict(engine, [X[:7], X[7:]])] == [7, 53]


def test_frames_of_dask_are_learned_from_and_answered(client):
    frames = pytest.importorskip("dask.dataframe", exc_type=ImportError, reason="frames of Dask need pyarrow")
    table = pytest.importorskip("pandas").DataFrame(X, columns=list("abcde")).assign(y=Y)
    lazy = frames.from_pandas(table, npartitions=3)
    found = trained(lazy[list("abcde")], y=lazy["y"], client=client)
    answers = shards.predict(found, lazy[list("abcde")]).compute()
    assert answers.index.equals(table.index) and np.array_equal(answers, found.predict(table[list("abcde")]))
    assert shards.scores(found, lazy[list("abcde")]).compute().shape == (60, 3)


def test_partitions_of_parquet_stay_apart(tmp_path):
    """Dask joins partitions of a frame from which few columns are read, such as labels."""
    frames = pytest.importorskip("dask.dataframe", exc_type=ImportError, reason="frames of Dask need pyarrow")
    table = pytest.importorskip("pandas").DataFrame(X, columns=list("abcde")).assign(y=Y, weight=Y % 3)
    for i, rows in enumerate((range(20), (), range(20, 21), range(21, 40), range(40, 60))):
        table.iloc[list(rows)].to_parquet(tmp_path / f"{i}.parquet")
    lazy = frames.read_parquet(tmp_path)
    for whole, frame in ((table, lazy), (table[table["a"] > -2], lazy[lazy["a"] > -2])):
        parts = [one.compute() for one in frame.partitions]
        lists = [{"X": one[list("abcde")], "y": one["y"], "sample_weight": one["weight"]} for one in parts]
        found = shards.fit(Engine("cusum", classes=[1, 2, 3], **OPTIONS), frame[list("abcde")], frame["y"], sample_weight=frame["weight"])
        assert len(parts) == 5 and sum(map(len, parts)) == len(whole)
        np.testing.assert_array_equal(weights_of(found), weights_of(trained(lists)))


def test_frames_with_columns_of_every_kind_are_answered(tmp_path):
    """No cell is made up for the type of the predictions: levels, dates and numbers with commas are none that every model knows."""
    frames = pytest.importorskip("dask.dataframe", exc_type=ImportError, reason="frames of Dask need pyarrow")
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(1)
    table = pandas.DataFrame({
        "size": list("smlsml") * 10, "z": random.normal(size=60), "when": pandas.date_range("2024-01-01", periods=60).strftime("%d.%m.%Y"),
        "day": pandas.date_range("2024-01-01", periods=60), "is": random.random(60) > 0.5, "kind": pandas.Categorical(list("uv") * 30),
        "written": [f"{v:.2f}".replace(".", ",") for v in random.random(60)], "gaps": np.where(random.random(60) < 0.2, np.nan, 1.0)},
        index=range(7, 67))
    options = {"ordinal": {"size": ["s", "m", "l"]}, "date": {"when": "%d.%m.%Y"}, "number": {"written": ","}, "fill": "median"}
    names = np.array(["low", "high"])[(table["z"] > 0).astype(int)]
    levels = np.digitize(table["z"], [-0.5, 0.5])
    coded = make_column_transformer((OneHotEncoder(), ["size", "kind"]), ("passthrough", ["z"]))
    models = [Engine("multiclass", plugins=["table"], **options).fit(table, names),
              StructuredClassifier(plugin_options=options).fit(table, names), CuSumRank(plugin_options=options).fit(table, levels),
              make_pipeline(coded, CuSumRank()).fit(table, levels)]
    lazy = frames.from_pandas(table, npartitions=3)
    for model in models:
        for method in ("predict", "predict_proba"):
            answers = shards.predict(model, lazy, method=method)
            expected = getattr(model, method)(table)
            assert answers.compute().index.equals(table.index) and np.array_equal(answers.compute(), expected)
            assert len(shards.predict(model, lazy[lazy["z"] > 99], method=method).compute()) == 0         # parts without rows
        answers.to_parquet(tmp_path / "answers", overwrite=True)
        assert list(pandas.read_parquet(tmp_path / "answers").columns) == list(map(str, model.classes_))


def test_the_command_trains_on_the_files_of_a_pattern(client, tmp_path, capsys):
    for i, (rows, y) in enumerate(PARTS):
        text = "\n".join(",".join(map(repr, row)) for row in np.column_stack([rows, y]).tolist())
        (tmp_path / f"{i}.csv").write_text(f"a,b,c,d,e,level\n{text}\n")
        (tmp_path / f"{i}.svm").write_text("".join(f"{label} {i + 1}:{row[0]!r}\n" for row, label in zip(rows.tolist(), y, strict=True)))
    model = tmp_path / "model"
    common = ["--set", "preset=paper", "--set", "n_shards=3", "--set", "epochs=4", "--set", "average=true", "--set", "shuffle=true",
              "--set", "random_state=6", "--dask", client.scheduler.address, "--model", os.fspath(model)]
    checkpoint = ["--checkpoint", os.fspath(tmp_path / "checkpoint"), "--resume"]
    assert main(["fit", "cusum", os.fspath(tmp_path / "*.csv"), "--target", "level", *common, *checkpoint]) == 0
    assert "rows      60" in capsys.readouterr().out and np.array_equal(weights_of(Engine.load(model)), weights_of(trained()))
    assert main(["fit", "cusum", os.fspath(tmp_path / "*.csv"), "--target", "level", *common, "--stream"]) == 0
    assert "rows      60" in capsys.readouterr().out and np.array_equal(weights_of(Engine.load(model)), weights_of(trained()))
    assert main(["fit", "multiclass", os.fspath(tmp_path / "*.svm"), *common]) == 0 and Engine.load(model).n_features_in_ == 4
    assert main(["fit", "cusum", os.fspath(tmp_path / "*.no"), "--target", "level", *common]) == 2
    assert "there is no file" in capsys.readouterr().err


@pytest.mark.parametrize(("n", "flags", "message"), [
    (1, [], "one file. Divide it, and name all parts by a pattern in quotes, such as 'parts/*.csv'. Or leave --dask out"),
    (2, [], "2 files. Expected from 2 shards to as many as files, such as --set n_shards=2"),
    (2, ["--set", "n_shards=3"], "n_shards is 3")])
def test_the_command_names_its_flags_before_it_asks_for_workers(n, flags, message, tmp_path, capsys):
    for i in range(n):
        (tmp_path / f"{i}.csv").write_text("a,level\n1,1\n2,2\n")
    command = ["fit", "cusum", os.fspath(tmp_path / "*.csv"), "--target", "level", "--dask", "none",
               "--model", os.fspath(tmp_path / "m")]
    assert main([*command, *flags]) == 2 and message in capsys.readouterr().err


def test_a_training_goes_on_from_its_checkpoint(tmp_path):
    checkpoint = Checkpoint(tmp_path / "model.checkpoint")
    trained(epochs=2, plugins=[checkpoint])
    assert np.array_equal(weights_of(trained(plugins=[checkpoint], resume=True)), weights_of(trained()))


@pytest.mark.parametrize("options", [{}, {"scale": True}, {"scale": True, "shuffle": False, "average": False}])
@pytest.mark.parametrize("stream", [False, True])
def test_a_training_that_is_over_resumes_to_the_same_model(tmp_path, options, stream):
    """The first part has other units than the rest: its scaling and its means are not those of all rows."""
    parts = [(3 * X[:20] + 5, Y[:20]), *PARTS[1:]]
    checkpoint = Checkpoint(tmp_path / "model.checkpoint")
    once, again = (trained(parts, plugins=[checkpoint], stream=stream, resume=resume, **options) for resume in (False, True))
    for model in (again, trained(parts, plugins=[checkpoint], stream=stream, resume=True, **options)):
        np.testing.assert_array_equal(weights_of(model), weights_of(once))
        np.testing.assert_array_equal(model.model_.means, once.model_.means)
        assert str(model.explain(X[0])) == str(once.explain(X[0]))
    for epochs in (1, 3):
        half = Checkpoint(tmp_path / f"{epochs}.checkpoint")
        trained(parts, plugins=[half], stream=stream, epochs=epochs, **options)
        np.testing.assert_array_equal(weights_of(trained(parts, plugins=[half], stream=stream, resume=True, **options)), weights_of(once))


class Locked:
    """An observer that cannot be pickled."""

    def __init__(self):
        self.lock, self.epochs = threading.Lock(), []

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        self.epochs.append(record.epoch)


class LockedUpdate(Locked):
    @hookimpl
    def structperc_update(self, context):
        return None


def test_observers_stay_at_the_caller_and_parts_must_be_values(client):
    observer = Locked()
    assert np.array_equal(weights_of(trained(client=client, plugins=[observer])), weights_of(trained())) and observer.epochs == [1, 2, 3, 4]
    with pytest.raises(OptionError, match="the engine goes to workers as a pickle, and it has none: cannot pickle '_thread.lock' object"):
        trained(plugins=[LockedUpdate()])


@given(st.integers(0, 5), st.integers(1, 9), st.sampled_from(["float32", "float64"]), st.booleans(), st.integers(0, 2**32 - 1))
def test_messages_leave_out_zeros_alone(n, width, dtype, average, seed):
    random = np.random.default_rng(seed)
    steps, sums = (random.integers(-1, 2, (n, width)).astype(dtype) * random.random() for _ in range(2))
    sums = sums if average else np.zeros((n, 0), dtype)
    changes = {"rows": np.sort(random.choice(2**40, n)), "steps": steps, "sums": sums, "n_visited": 3}
    found = with_zeros(without_zeros(changes))
    assert found.keys() == changes.keys() and found["n_visited"] == 3
    for name in ("rows", "steps", "sums"):
        assert np.array_equal(found[name], changes[name]) and found[name].dtype == changes[name].dtype
    assert with_zeros(without_zeros({**changes, "sums": None}))["sums"] is None


def test_what_no_machine_can_know_is_refused_by_a_sentence():
    with pytest.raises(OptionError, match="the model has n_shards=5, and the data have 3 parts. Expected from 2 shards to as many"):
        trained(n_shards=5)
    with pytest.raises(OptionError, match="the data have 1 part, .* Divide the data, or call fit"):
        shards.fit(Engine("cusum", n_shards=2), PARTS[:1])
    for n_shards in (1, 2, 4):          # the same rule, whatever is tried first
        with pytest.raises(PluginError, match="mixes weights that shards have trained apart.* call fit, or structperc.streams.fit_stream"):
            shards.fit(Engine("cusum", plugins=["dual-kernel"], kernel="rbf", n_shards=n_shards), PARTS)
    with pytest.raises(OptionError, match="dtype='int8'; expected 'float32' or 'float64'"):
        trained(dtype="int8")
    with pytest.raises(DataError, match="(?s)a part is ndarray .*; expected a pair"):
        trained([X[:20], X[20:40], X[40:]])
    engine = Engine("cusum", classes=[1, 2, 3], **OPTIONS)
    with pytest.raises(DataError, match=r"X\[0, 0\] is nan.*This is about part 3"):
        shards.fit(engine, [*PARTS[:2], (np.full((20, 5), np.nan), Y[40:])])
    assert engine.model is None and engine.fit(X, Y).status_ == "max_epochs"


QUERIES = {"X": X, "y": (Y > 2).astype(int), "groups": np.repeat(np.arange(15), 4)}


def query_parts(rows):
    return [{name: values[i:i + rows] for name, values in QUERIES.items()} for i in range(0, 60, rows)]


@pytest.mark.parametrize("learn", [
    lambda parts: fit_stream(Engine("latent-ranking", k=2), parts),
    lambda parts: fit_stream(Engine("latent-ranking", k=2, shuffle=True, random_state=0), parts),
    lambda parts: fit_stream(Engine("latent-ranking", k=2), iter(parts)),
    lambda parts: shards.fit(Engine("latent-ranking", k=2, n_shards=2), parts),
    lambda parts: shards.fit(LatentRanker(k=2, n_shards=2), parts, stream=True),
])
def test_a_query_that_two_parts_share_names_both(learn):
    learn(query_parts(20))
    with pytest.raises(DataError, match="the group 4 ends part 1 and begins part 2, so it would be two examples. Divide the data"):
        learn(query_parts(18))


def test_pieces_of_a_part_share_no_query_either():
    halves = query_parts(28)
    model = shards.fit(LatentRanker(k=2, n_shards=2), halves[:2], read=lambda part: Slices(**part, rows=9), stream=True)
    assert np.any(model.coef_)
    with pytest.raises(DataError, match=r"the group 2 ends piece 1 and begins piece 2.*part 1"):
        shards.fit(LatentRanker(k=2, n_shards=2), halves[:2], stream=True, read=lambda part: iter(
            [{name: values[:9] for name, values in part.items()}, {name: values[9:] for name, values in part.items()}]))


def test_slices_end_where_groups_end():
    whole = Slices(**QUERIES, rows=10)
    assert [len(one["y"]) for one in whole] == [12, 12, 12, 12, 12] and len(whole) == 5
    model, expected = (fit_stream(Engine("latent-ranking", k=2), parts) for parts in (whole, query_parts(60)))
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    with pytest.raises(DataError, match="the rows of group 0 are not all together"):
        Slices(X, Y, groups=np.arange(60) % 7)


def test_groups_of_dask_frames_are_queries(client):
    frames = pytest.importorskip("dask.dataframe", exc_type=ImportError, reason="frames of Dask need pyarrow")
    table = pytest.importorskip("pandas").DataFrame(X, columns=list("abcde")).assign(y=QUERIES["y"], query=QUERIES["groups"])
    ranker = LatentRanker(k=2, n_shards=3, epochs=2, random_state=0)
    lazy = frames.from_pandas(table, npartitions=3)
    model = shards.fit(clone(ranker), lazy[list("abcde")], lazy["y"], groups=lazy["query"], client=client)
    expected = shards.fit(ranker, [{"X": table[list("abcde")][i:i + 20], "y": QUERIES["y"][i:i + 20], "groups": QUERIES["groups"][i:i + 20]}
                                   for i in (0, 20, 40)])
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    lazy = frames.from_pandas(table, npartitions=4)
    with pytest.raises(DataError, match="the group 3 ends part 1 and begins part 2"):
        shards.fit(ranker, lazy[list("abcde")], lazy["y"], groups=lazy["query"], client=client)


def test_files_that_share_a_query_are_named(client, tmp_path, capsys):
    for i, rows in enumerate((30, 30)):
        text = "".join(f"{QUERIES['groups'][30 * i + j]},{QUERIES['y'][30 * i + j]},{X[30 * i + j, 0]}\n" for j in range(rows))
        (tmp_path / f"{i}.csv").write_text(f"query,chosen,a\n{text}")
    command = ["fit", "latent-ranking", os.fspath(tmp_path / "*.csv"), "--target", "chosen", "--group", "query", "--set", "k=2", "--set",
               "n_shards=2", "--dask", client.scheduler.address, "--model", os.fspath(tmp_path / "m")]
    assert main(command) == 2 and "the group '7' ends" in (error := capsys.readouterr().err) and "0.csv and begins" in error


def test_models_without_shards_say_why():
    with pytest.raises(OptionError, match="RankingSVM does not train in shards: its fit solves for all examples together"):
        shards.fit(RankingSVM(), query_parts(20))


@pytest.mark.parametrize("name", [name for name in estimators.__all__
                                  if isinstance(getattr(estimators, name), type) and hasattr(getattr(estimators, name), "fit")])
def test_every_estimator_has_shards_or_says_why_not(name):
    make = getattr(estimators, name)
    if "n_shards" in inspect.signature(make).parameters:
        assert make(n_shards=2).get_params()["n_shards"] == 2
        return
    if name == "RankerClassifier":          # has no parameters of its own
        return
    with pytest.raises(OptionError, match="its fit solves for all examples together, or prepares all of them") as caught:
        make(n_shards=2)
    assert ("estimator=CuSumRank(n_shards=2)" in str(caught.value)) == ("estimator" in inspect.signature(make).parameters)


def test_a_parser_is_trained_in_shards():
    words = [[(f"w{i}", f"t{i % 3}") for i in RANDOM.integers(0, 9, n)] for n in RANDOM.integers(1, 6, 12)]
    trees = [[(i, f"l{i % 2}") for i in range(len(sentence))] for sentence in words]
    parser = DependencyParser(n_shards=3, n_jobs=2, epochs=2, random_state=0, n_hashed=1 << 12)
    found = shards.fit(clone(parser), [(words[i:i + 4], trees[i:i + 4]) for i in (0, 4, 8)], dtype="float64")
    whole = parser.fit(words, trees)
    assert found.mistakes_ == whole.mistakes_ and found.predict(words) == whole.predict(words)


@pytest.mark.parametrize("options", [
    {"class_weight": "balanced"}, {"weighting": "visits"}, {"class_weight": "balanced", "weighting": "visits"},
    {"class_weight": {1: 0.3, 2: 1 / 3}, "weighting": "visits", "scale": True},
])
@pytest.mark.parametrize("intervals", [False, True])
def test_what_labels_weigh_has_the_same_bits_in_any_parts_and_in_one_process(options, intervals):
    """The weights have digits that a sum in floating point loses, differently in each order."""
    weights = 10.0 ** np.linspace(-9, 6, 60)[np.random.default_rng(1).permutation(60)]
    y = np.column_stack([np.maximum(Y - 1, 1), Y]) if intervals else Y
    options = OPTIONS | {"classes": [1, 2, 3], "n_shards": 2, "update": "exact-pa1" if intervals else "pa1", "C": 0.1} | options
    made = partial(Engine, "interval-pa" if intervals else "cusum", **options)
    whole = made().fit(X, y, sample_weight=weights)

    def read(cuts):
        return ({"X": X[i:j], "y": y[i:j], "sample_weight": weights[i:j]} for i, j in itertools.pairwise(cuts))

    for parts in ([[0, 30], [30, 60]], [[0, 11, 11, 29, 30], [30, 47, 52, 60]]):
        found = shards.fit(made(), parts, read=read, dtype="float64")
        assert np.array_equal(weights_of(found), weights_of(whole)) and found.model_.visit_totals == whole.model_.visit_totals


@pytest.mark.parametrize("where", ["here", "workers"])
@pytest.mark.parametrize("kind", ["levels", "names"])
def test_passes_before_a_training_tell_how_far_they_are(kind, where, request):
    """Each part is counted, to the last one. Lines come after 1, 2, 4, ... parts, and the model has the same bits."""
    X = [[["u"], ["v"]], [["w"]], [["u"]], [["x"], ["v"]], [["y"]]] if kind == "names" else [np.full((2, 1), float(i)) for i in range(5)]
    y = [["A", "B"], ["C"], ["A"], ["A", "B"], ["C"]] if kind == "names" else [[1, 2], [3, 1], [2, 4], [1, 5], [2, 3]]
    parts = [([x], [own]) if kind == "names" else (x, own) for x, own in zip(X, y, strict=True)]
    problem, lines = "sequence" if kind == "names" else "multiclass", []
    client = request.getfixturevalue("client") if where == "workers" else None
    models = [shards.fit(Engine(problem, n_shards=2, random_state=0), parts, progress=progress, client=client)
              for progress in (lines.append, None)]
    np.testing.assert_array_equal(*map(weights_of, models))
    counts = [line.rpartition(": ")[2] for line in lines]
    assert counts[:4] == ["1 of 5 parts", "2 of 5 parts", "4 of 5 parts", "5 of 5 parts"]
    assert all(line.startswith("looking through the data for ") for line in lines)
