"""Every training that can be resumed ends with the bits of one that was never stopped, wherever it was stopped."""

import os
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from reference.model_files import saved

from structperc import Engine, distributed
from structperc.callbacks import Checkpoint
from structperc.cli import main
from structperc.errors import DataError
from structperc.streams import Slices, fit_stream

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(60, 3)) * [1, 20, 1]
X[:20] = 3 * X[:20] + 5                 # the first part has other units: its scaling is not that of all rows
Y = 1 + np.digitize(X @ [1.0, 0.1, -1.0] + RANDOM.normal(size=60), [-1.0, 3.0])
WORDS = [[[f"w{i}", f"p{j}"] for i, j in RANDOM.integers(0, 9, (n, 2))] for n in RANDOM.integers(1, 6, 30)]
TAGS = [[f"t{int(token[0][1:]) % 3}" for token in sentence] for sentence in WORDS]
ROWS, TOKENS = (X, Y), (WORDS, TAGS)
LABELS = {id(ROWS): [1, 2, 3], id(TOKENS): ["t0", "t1", "t2"]}
EPOCHS = 3

# problem, data, options: each shows state that a resumed training has to find again
KINDS = {
    "scaled": ("cusum", ROWS, {"scale": True}),
    "calibrated": ("multiclass", ROWS, {"scale": True, "calibrate": "auto"}),
    "in order, not averaged": ("prank", ROWS, {"scale": True, "average": False, "shuffle": False}),
    "rare labels weigh more": ("multiclass", ROWS, {"class_weight": {3: 2.5}, "weighting": "visits"}),
    "bounded sums": ("cusum", ROWS, {"trainer": "bounded-sum"}),
    "names": ("sequence", TOKENS, {}),
}


def parts_of(data):
    a, b = data
    n = len(a) // 3
    return [(a[i:i + n], b[i:i + n]) for i in (0, n, 2 * n)]


def engine_for(problem, data, checkpoint, **options):
    options = {"epochs": EPOCHS, "average": True, "shuffle": True, "random_state": 6, **options}
    return Engine(problem, classes=LABELS[id(data)], plugins=[Checkpoint(checkpoint)], **options)


def locally(problem, data, checkpoint, resume, **options):
    return engine_for(problem, data, checkpoint, **options).fit(*data, resume=resume)


def in_shards(problem, data, checkpoint, resume, **options):
    if "trainer" not in options:
        options["n_jobs"] = 2
    return engine_for(problem, data, checkpoint, n_shards=3, **options).fit(*data, resume=resume)


def on_a_stream(problem, data, checkpoint, resume, **options):
    parts = Slices(*data, rows=25)
    if not isinstance(data[0], np.ndarray):
        options["n_hashed"] = 256           # a stream of names would need a pass before
    shards = {"n_shards": 2} if options.get("trainer") == "bounded-sum" else {}
    return fit_stream(engine_for(problem, data, checkpoint, **options, **shards), parts, resume=resume)


def on_parts(problem, data, checkpoint, resume, stream=False, parts=None, client=None, read=None, **options):
    engine = engine_for(problem, data, checkpoint, n_shards=2, **options)
    return distributed.fit(engine, parts or parts_of(data), stream=stream, resume=resume, client=client, read=read)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "checkpoint")


DOORS = {"fit": locally, "shards": in_shards, "fit_stream": on_a_stream, "distributed": on_parts,
         "distributed streams": partial(on_parts, stream=True)}


@pytest.mark.parametrize(("kind", "door"), [(kind, door) for kind in KINDS for door in DOORS
                                            if (kind, door) != ("bounded sums", "fit")])         # one shard has no sums
def test_from_every_checkpoint_a_training_ends_with_the_same_model(kind, door, path, copies):
    """Also from the last one, of a training that is over."""
    problem, data, options = KINDS[kind]
    train = DOORS[door]
    expected, stops = saved(train(problem, data, path, False, **options)), list(copies)
    assert len(stops) >= EPOCHS
    for stop in [*stops[:-1][::max(1, len(stops) // EPOCHS)], stops[-1]]:
        shutil.copy(stop, path)
        assert saved(train(problem, data, path, True, **options)) == expected


@pytest.fixture(scope="module")
def address():
    workers = pytest.importorskip("distributed", reason="the extra dask is not installed")
    with workers.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        yield cluster.scheduler.address


@pytest.mark.filterwarnings("ignore")       # of other libraries
@pytest.mark.parametrize(("kind", "stream"), [("calibrated", True), ("names", False)])
def test_from_every_checkpoint_workers_end_with_the_same_model(kind, stream, path, copies, address):
    problem, data, options = KINDS[kind]
    expected, stops = saved(on_parts(problem, data, path, False, stream, client=address, **options)), list(copies)
    assert expected == saved(on_parts(problem, data, path, False, stream, **options))
    for stop in (stops[0], stops[-1]):
        shutil.copy(stop, path)
        assert saved(on_parts(problem, data, path, True, stream, client=address, **options)) == expected


def with_changed(parts, i, **changed):
    X, y = parts[i]
    return [*parts[:i], (changed.get("X", X), changed.get("y", y)), *parts[i + 1:]]


def other_parts(data):
    """Other parts than `parts_of` this data, and what a message calls the difference."""
    parts = parts_of(data)
    (X, y), n = data, len(data[0])
    last = parts[2][0]
    return [(with_changed(parts, 2, X=[*last[:-1], [["w99", "p99"]] * len(last[-1])] if isinstance(X, list) else last + 1e-9), "part 3"),
            (with_changed(parts, 1, y=parts[1][1][::-1]), "part 2"),
            ([parts[0], parts[2], parts[1]], "part 2"),
            (parts[:2], "number of parts"),
            ([parts[0], (X[n // 3:n // 2], y[n // 3:n // 2]), (X[n // 2:], y[n // 2:])], "part 2")]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", ["scaled", "names"])
@pytest.mark.parametrize("epochs", [2, EPOCHS])         # stopped, and over
def test_other_parts_than_those_of_the_checkpoint_are_named(kind, epochs, stream, path):
    problem, data, options = KINDS[kind]
    on_parts(problem, data, path, False, stream, **options, epochs=epochs)
    before = Path(path).read_bytes()
    for parts, message in other_parts(data):
        with pytest.raises(DataError, match=f"with another {message} "):
            on_parts(problem, data, path, True, stream, parts=parts, **options)
    assert Path(path).read_bytes() == before


@pytest.mark.filterwarnings("ignore")       # of other libraries
def test_other_blocks_and_files_than_those_of_the_checkpoint_are_named(path, address, tmp_path):
    array = pytest.importorskip("dask.array")

    def of_blocks(X, resume):
        engine = engine_for("cusum", ROWS, path, n_shards=2, scale=True)
        return distributed.fit(engine, array.from_array(X, chunks=(20, 3)), array.from_array(Y, chunks=20), client=address, resume=resume)

    first = saved(of_blocks(X, False))
    assert saved(of_blocks(X.copy(), True)) == first
    with pytest.raises(DataError, match="with another part 3 "):
        of_blocks(np.where(np.arange(60)[:, None] == 59, 0.0, X), True)

    os.remove(path)
    for i, (rows, y) in enumerate(parts_of(ROWS)):
        np.savez(tmp_path / f"{i}.npz", X=rows, y=y)
    files = [os.fspath(tmp_path / f"{i}.npz") for i in range(3)]
    first = saved(on_parts("cusum", ROWS, path, False, parts=files, read=read_npz))
    assert saved(on_parts("cusum", ROWS, path, True, parts=files, read=read_npz)) == first
    with pytest.raises(DataError, match="with another file .*0.npz"):
        on_parts("cusum", ROWS, path, True, parts=files, read=partial(read_npz, factor=2.0))
    np.savez(files[2], X=X[:20], y=Y[:20])
    with pytest.raises(DataError, match="with another file .*2.npz"):
        on_parts("cusum", ROWS, path, True, parts=files, read=read_npz)


def read_npz(path, factor=1.0):
    with np.load(path) as arrays:
        return arrays["X"] * factor, arrays["y"]


@pytest.mark.filterwarnings("ignore")       # of other libraries
@pytest.mark.parametrize("how", ["", "--stream", "--dask", "--dask --stream"])
def test_from_every_checkpoint_the_command_ends_with_the_same_model(how, path, copies, request, tmp_path, capsys):
    for i, (rows, y) in enumerate(parts_of(ROWS)):
        text = "\n".join(",".join(map(repr, row)) for row in np.column_stack([rows, y]).tolist())
        (tmp_path / f"{i}.csv").write_text(f"a,b,c,level\n{text}\n")
    data, flags = os.fspath(tmp_path / "0.csv"), how.replace("--dask", "").split()
    if "--dask" in how:
        data, flags = os.fspath(tmp_path / "*.csv"), [*flags, "--dask", request.getfixturevalue("address"), "--set", "n_shards=2"]

    def fitted(*further):
        model = tmp_path / "model"
        assert main(["fit", "cusum", data, "--target", "level", "--model", os.fspath(model), "--set", f"epochs={EPOCHS}", *flags,
                     "--checkpoint", path, *further]) == 0, capsys.readouterr().err
        return Path(model).read_bytes()

    expected, stops = fitted(), list(copies)
    assert len(stops) >= EPOCHS
    for stop in stops[::2] if len(stops) % 2 else [*stops[::2], stops[-1]]:
        shutil.copy(stop, path)
        assert fitted("--resume") == expected
