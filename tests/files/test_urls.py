"""Files of object stores: every reader and command takes URLs of fsspec, and a pattern of them."""

import gzip
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from structperc import Engine, distributed, files
from structperc.cli import main
from structperc.errors import DataError

fsspec = pytest.importorskip("fsspec", reason="the extra dask is not installed")
RANDOM = np.random.default_rng(0)
TABLE = pd.DataFrame({"a": RANDOM.normal(size=60), "b": RANDOM.normal(size=60)})
TABLE["level"] = 1 + np.digitize(TABLE["a"] + TABLE["b"], [-1, 1])


@pytest.fixture
def store():
    """Writes files into memory."""
    files = fsspec.filesystem("memory")

    def write(name, content):
        files.pipe(f"/bucket/{name}", content)
        return f"memory://bucket/{name}"

    yield write
    files.rm("/bucket", recursive=True)


def test_every_format_is_read_from_a_url(store, tmp_path):
    text = TABLE.to_csv(index=False).encode()
    expected = TABLE[["a", "b"]].to_numpy()
    assert np.allclose(files.read(store("t.csv", text), target="level").X, expected)
    assert np.allclose(files.read(store("t.csv.gz", gzip.compress(text)), target="level").X, expected)
    lines = "".join(f"{y} 0:{a!r} 1:{b!r}\n" for a, b, y in TABLE.to_numpy().tolist())
    assert np.allclose(files.read(store("t.svm", lines.encode())).X.toarray(), expected)
    pytest.importorskip("pyarrow")
    for write, name in ((TABLE.to_parquet, "t.parquet"), (TABLE.to_feather, "t.arrow")):
        write(tmp_path / "t")
        assert np.allclose(files.read(store(name, (tmp_path / "t").read_bytes()), target="level").X, expected)
    with pytest.raises(FileNotFoundError):
        files.read("memory://bucket/none.csv", target="level")
    with pytest.raises(DataError, match=r"damaged or no \.gz file"):
        files.read(store("broken.csv.gz", gzip.compress(text)[:-20]), target="level")


def test_commands_take_urls(store, tmp_path, capsys):
    path, local = store("t.csv", TABLE.to_csv(index=False).encode()), tmp_path / "t.csv"
    TABLE.to_csv(local, index=False)
    for name, data, flags in (("one", path, ["--stream"]), ("two", str(local), ["--stream"]), ("three", path, [])):
        assert main(["fit", "cusum", data, "--target", "level", "--model", str(tmp_path / name), "--quiet", *flags]) == 0
    assert Engine.load(tmp_path / "one").coef_.tobytes() == Engine.load(tmp_path / "two").coef_.tobytes()
    capsys.readouterr()
    for command in ("evaluate", "predict"):
        printed = []
        for data in (path, str(local)):
            assert main([command, str(tmp_path / "one"), data]) == 0
            printed.append(capsys.readouterr().out.replace(data, "DATA"))
        assert printed[0] == printed[1]
    words = b"w1 A\nw2 B\n\nw2 B\nw1 A\n"
    assert main(["fit", "sequence", store("t.txt", words), "--columns", "word,tag", "--model", str(tmp_path / "m"), "--stream"]) == 0
    assert main(["fit", "cusum", "memory://bucket/none.csv", "--target", "level", "--model", str(tmp_path / "m")]) == 2
    assert "none.csv" in capsys.readouterr().err and not Path(tmp_path / "none").exists()


def test_patterns_of_urls_are_parts(store, tmp_path):
    for i in range(3):
        store(f"{i}.csv", TABLE[20 * i:20 * i + 20].to_csv(index=False).encode())
    options = {"n_shards": 3, "classes": [1, 2, 3], "epochs": 3, "random_state": 0}
    parts = [(TABLE[["a", "b"]][i:i + 20], TABLE["level"][i:i + 20].to_numpy()) for i in (0, 20, 40)]
    expected = distributed.fit(Engine("cusum", **options), parts)
    for read in (partial(files.read, target="level"), partial(files.stream, target="level", rows=1000)):
        model = distributed.fit(Engine("cusum", **options), "memory://bucket/*.csv", read=read)
        np.testing.assert_array_equal(model.coef_, expected.coef_)
    pytest.importorskip("pyarrow")
    TABLE.to_parquet(tmp_path / "t")
    for i in range(2):
        store(f"{i}.parquet", (tmp_path / "t").read_bytes())
    read = partial(files.stream, target="level", rows=25)
    model = distributed.fit(Engine("cusum", **options | {"n_shards": 2}), "memory://bucket/*.parquet", read=read, stream=True)
    assert (model.predict(TABLE[["a", "b"]]) == TABLE["level"]).mean() > 0.8
    with pytest.raises(DataError, match="there is no file"):
        distributed.fit(Engine("cusum", **options), "memory://bucket/*.none", read=read)
