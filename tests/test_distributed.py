"""Shards on Dask's workers: the bits of shards in one process, whatever happens to a worker."""

import os

import numpy as np
import pytest

from structperc import Engine, hookimpl
from structperc import distributed as shards
from structperc.callbacks import Checkpoint, History
from structperc.errors import DataError, OptionError

RANDOM = np.random.default_rng(8)
X = RANDOM.normal(size=(60, 5))
Y = np.digitize(X @ [2.0, -1.0, 0.5, 0.0, 1.0] + RANDOM.normal(size=60), [-1.0, 1.0]) + 1
WORDS = [[[f"w{i}", f"p{j}"] for i, j in RANDOM.integers(0, 9, (n, 2))] for n in RANDOM.integers(1, 6, 40)]
TAGS = [[f"t{int(token[0][1:]) % 3}" for token in sentence] for sentence in WORDS]
OPTIONS = {"n_shards": 3, "epochs": 4, "average": True, "shuffle": True, "random_state": 6}
PARTS = [(X[i:i + 20], Y[i:i + 20]) for i in (0, 20, 40)]


def weights_of(engine):
    return engine.parts_.weights.vector()


def trained(parts=PARTS, problem="cusum", classes=(1, 2, 3), **how):
    options = {name: how.pop(name) for name in tuple(how) if name not in ("client", "read", "dtype", "resume", "y")}
    return shards.fit(Engine(problem, classes=classes, **OPTIONS | options), parts, **how)


class Forgetful:
    """Has workers lose all that they keep, as one that is killed and replaced."""

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        if record.epoch == 2:
            shards.HELD.clear()


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as found:
            yield found


pytestmark = pytest.mark.filterwarnings("ignore")       # of other libraries


def test_float64_has_the_bits_of_fit():
    whole = Engine("cusum", classes=[1, 2, 3], **OPTIONS).fit(X, Y)
    found = trained(dtype="float64")
    assert np.array_equal(weights_of(found), weights_of(whole)) and found.mistakes_ == whole.mistakes_
    assert np.allclose(weights_of(trained()), weights_of(whole), atol=1e-4)


def test_named_features_have_the_bits_of_fit_where_they_are_hashed():
    options = {"n_hashed": 64, "update": "pa1", "C": 0.1, "n_shards": 2}
    whole = Engine("sequence", classes=["t0", "t1", "t2"], **OPTIONS | options).fit(WORDS, TAGS)
    parts = [(WORDS[:10], TAGS[:10]), (WORDS[10:20], TAGS[10:20]), (WORDS[20:30], TAGS[20:30]), (WORDS[30:], TAGS[30:])]
    found = trained(parts, "sequence", ("t0", "t1", "t2"), dtype="float64", **options)
    assert np.array_equal(weights_of(found), weights_of(whole)) and list(found.predict(WORDS)[0]) == list(whole.predict(WORDS)[0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_workers_have_the_bits_of_one_process(client, dtype):
    history = History()
    alone, remote = trained(dtype=dtype), trained(dtype=dtype, client=client, plugins=[history])
    assert np.array_equal(weights_of(alone), weights_of(remote)) and alone.mistakes_ == remote.mistakes_
    assert [record.examples for record in history.records] == [60] * 4 and not shards.HELD


def test_a_worker_that_forgets_everything_changes_no_bit(client):
    assert np.array_equal(weights_of(trained(client=client, plugins=[Forgetful()])), weights_of(trained()))


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


def test_a_training_goes_on_from_its_checkpoint(tmp_path):
    checkpoint = Checkpoint(tmp_path / "model.checkpoint")
    trained(epochs=2, plugins=[checkpoint])
    assert np.array_equal(weights_of(trained(plugins=[checkpoint], resume=True)), weights_of(trained()))


def test_what_no_machine_can_know_is_refused_by_a_sentence():
    with pytest.raises(OptionError, match="the engine has n_shards=5, and the data have 3 parts; expected from 2 shards to as many"):
        trained(n_shards=5)
    with pytest.raises(OptionError, match="scale=True looks at all examples, and no machine has them all; leave it out"):
        trained(scale=True)
    with pytest.raises(OptionError, match="dtype='int8'; expected 'float32' or 'float64'"):
        trained(dtype="int8")
    with pytest.raises(DataError, match="a part is a ndarray; expected a pair"):
        trained([X[:20], X[20:40], X[40:]])
    engine = Engine("cusum", classes=[1, 2, 3], **OPTIONS)
    with pytest.raises(DataError, match="nan|NaN"):
        shards.fit(engine, [*PARTS[:2], (np.full((20, 5), np.nan), Y[40:])])
    assert engine.model is None and not shards.HELD and engine.fit(X, Y).status_ == "max_epochs"
