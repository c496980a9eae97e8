"""Workers that are processes of their own, as docs/run-on-a-cluster.md has them: files, checkpoints, errors, versions."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from structperc import Engine, files
from structperc.callbacks import Checkpoint
from structperc.distributed import fit
from structperc.errors import DataError, OptionError
from structperc.reading.column_faults import ColumnError

RANDOM = np.random.default_rng(0)
TABLE = pd.DataFrame({"a": RANDOM.normal(size=90), "b": RANDOM.normal(size=90)})
TABLE["level"] = 1 + np.digitize(TABLE["a"] + TABLE["b"], [-1, 1])
READ = partial(files.stream, target="level", rows=16)

pytestmark = pytest.mark.filterwarnings("ignore")       # of other libraries


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as connected:
            yield connected


def engine(*plugins, **options):
    return Engine("cusum", n_shards=3, average=True, classes=[1, 2, 3], random_state=0, plugins=list(plugins), **{"epochs": 4} | options)


def test_a_training_of_files_goes_on_with_the_same_bits(client, tmp_path):
    for i in range(3):
        TABLE[30 * i:30 * i + 30].to_csv(tmp_path / f"{i}.csv", index=False)
    paths, checkpoint = str(tmp_path / "*.csv"), Checkpoint(tmp_path / "checkpoint")
    alone = fit(engine(), paths, read=READ, stream=True)
    fit(engine(checkpoint, epochs=2), paths, read=READ, stream=True, client=client)
    for _ in range(2):                  # the second time it is over
        again = fit(engine(checkpoint), paths, read=READ, stream=True, client=client, resume=True)
        np.testing.assert_array_equal(again.coef_, alone.coef_)


def test_errors_of_workers_arrive_whole(client):
    parts = [(TABLE[["a", "b"]], TABLE["level"])] * 2
    with pytest.raises(ColumnError, match=r"'b': 1 text.*This is about part 3") as caught:
        fit(engine(), [*parts, (TABLE[["a"]].assign(b="x"), TABLE["level"])], client=client)
    assert caught.value.faults[0].name == "b"
    with pytest.raises(DataError, match=r"is 7.*This is about part 3"):
        fit(engine(), [*parts, (TABLE[["a", "b"]], np.full(90, 7))], client=client)


@pytest.mark.parametrize("asked", ["structperc", "python_version"])
def test_a_worker_whose_connection_breaks_is_not_taken_for_one_without_structperc(client, monkeypatch, asked):
    run, parts = client.run, [(TABLE[["a", "b"]], TABLE["level"])] * 3

    def broken(function, *arguments, **options):
        found = run(function, *arguments, **options)
        return found | ({next(iter(found)): ConnectionResetError(104, "reset by peer")} if asked in (function.__name__, *arguments) else {})

    expected = fit(engine(), parts, client=client).coef_
    monkeypatch.setattr(client, "run", broken)
    np.testing.assert_array_equal(fit(engine(), parts, client=client).coef_, expected)


def test_other_versions_on_workers_are_named_before_the_training(client, monkeypatch):
    run = client.run

    def other(function, *arguments, **options):
        found = run(function, *arguments, **options)
        return {worker: "0.0.1" if arguments == ("structperc",) else one for worker, one in found.items()}

    monkeypatch.setattr(client, "run", other)
    with pytest.raises(OptionError, match=r"the worker tcp://.* has structperc 0.0.1 on Python 3.*Install the same on all machines"):
        fit(engine(), [(TABLE[["a", "b"]], TABLE["level"])] * 3, client=client)
    monkeypatch.setattr(client, "run", lambda *a, **k: {"tcp://one": ModuleNotFoundError("structperc")})
    with pytest.raises(OptionError, match="the worker tcp://one has no structperc, and this process has"):
        fit(engine(), [(TABLE[["a", "b"]], TABLE["level"])] * 3, client=client)
