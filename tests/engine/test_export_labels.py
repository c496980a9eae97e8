"""Labels in exported files are those of the engine, in every format that takes them: none is rounded."""

import datetime
import json
import re

import numpy as np
import pytest

from structperc import Engine
from structperc.errors import PluginError

DAYS = [datetime.date(2024, 1, day) for day in (1, 2, 3)]
WHOLE = {"2**60": [2**60, 2**60 + 1, 2**60 + 2], "-2**62": [-2**62, -2**62 + 1, -2**62 + 2], "2**63": np.arange(3, dtype=np.uint64) + 2**63,
         "2**53": [2**53 - 1, 2**53, 2**53 + 1], "2**70": [2**70, 2**70 + 1, 2**71], "small": [1, 2, 3]}
OTHERS = {"dates": DAYS, "times": np.array(["2024-01-01T10", "2024-01-01T11", "2024-01-02"], "M8[ns]"), "texts": ["007", "1E5", "0.10"],
          "halves": [0.5, 1.0, 1.5], "truth": [False, True, True]}
EXPECTED = {"dates": ["2024-01-01", "2024-01-02", "2024-01-03"],
            "times": ["2024-01-01T10:00:00", "2024-01-01T11:00:00", "2024-01-02T00:00:00"]}


def trained(labels):
    X = np.random.default_rng(0).normal(size=(60, 2))
    place = np.digitize(X[:, 0], [-0.5, 0.5])
    y = [labels[i] for i in place] if isinstance(labels, list) else labels[place]
    return Engine("multiclass", random_state=0).fit(X, y), X


def written(engine, tmp_path, to, ending):
    engine.export(tmp_path / f"labels.{ending}", to=to)
    return tmp_path / f"labels.{ending}"


@pytest.mark.parametrize("name", [*WHOLE, *OTHERS])
def test_numpy_predicts_the_engines_labels(tmp_path, name):
    engine, X = trained((WHOLE | OTHERS)[name])
    names = {}
    exec(written(engine, tmp_path, "numpy", "py").read_text(), names)
    places = np.searchsorted(engine.classes_, engine.predict(X))
    expected = [EXPECTED[name][i] for i in places] if name in EXPECTED else engine.predict(X).tolist()
    assert names["predict"](X).tolist() == expected


@pytest.mark.parametrize("name", [*WHOLE, *OTHERS])
@pytest.mark.parametrize(("to", "ending"), [("js", "js"), ("html", "html")])
def test_scripts_have_numbers_up_to_2_to_the_53_and_texts_beyond(tmp_path, to, ending, name):
    engine, _ = trained((WHOLE | OTHERS)[name])
    line, = re.findall(r"const labels = (\[.*\]);", written(engine, tmp_path, to, ending).read_text())
    beyond = name in ("2**60", "-2**62", "2**63", "2**53", "2**70")
    labels = EXPECTED.get(name, engine.classes_.tolist())
    assert json.loads(line) == (list(map(str, labels)) if beyond else labels)


@pytest.mark.parametrize(("name", "kind", "literal"), [
    ("2**60", "long long", f"{2**60 + 1}LL"), ("2**63", "unsigned long long", f"{2**63 + 1}ULL"),
    ("2**70", "char *const", f'"{2**70 + 1}"'), ("small", "int", "2"),
    ("halves", "double", "1.0"), ("dates", "char *const", '"2024-01-02"'), ("texts", "char *const", '"0.10"'), ("truth", "int", "0, 1"),
])  # fmt: skip
def test_c_has_a_type_that_holds_all(tmp_path, name, kind, literal):
    engine, _ = trained((WHOLE | OTHERS)[name])
    text = written(engine, tmp_path, "c", "c").read_text()
    assert f"extern const {kind} labels_labels" in text and literal in re.search(r"labels_labels\[LABELS\] = \{(.*)\};", text)[1]


@pytest.mark.parametrize("name", ["2**60", "2**63", "2**53", "2**70", "dates", "texts"])
def test_onnx_has_them_exactly(tmp_path, name):
    onnx = pytest.importorskip("onnx")
    engine, _ = trained((WHOLE | OTHERS)[name])
    graph = onnx.load(written(engine, tmp_path, "onnx", "onnx")).graph
    tensor, = (onnx.numpy_helper.to_array(one) for one in graph.initializer if one.name == "labels")
    labels = [entry.decode() if isinstance(entry, bytes) else entry for entry in tensor.tolist()]
    classes = engine.classes_.tolist()
    assert labels == (list(map(str, classes)) if name == "2**70" else EXPECTED.get(name, classes))


@pytest.mark.parametrize("labels", [np.array([1, 2, 3], "m8[D]"), np.array([1, 2, 3], "m8[ns]"), np.array([b"a", b"b", b"c"])])
@pytest.mark.parametrize("to", ["numpy", "c", "js", "html", "safetensors"])
def test_labels_that_no_format_has_are_refused(tmp_path, labels, to):
    with pytest.raises(PluginError, match="Train with numbers, dates or texts as labels"):
        written(trained(labels)[0], tmp_path, to, "txt")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("make", [
    lambda: Engine("adaboost-or", epochs=2), lambda: Engine("cusum", plugins=["dual-kernel"], kernel="rbf", scale=False),
    lambda: Engine("multiclass", plugins=["dual-kernel"], kernel="laplacian", scale=False),
])
@pytest.mark.parametrize("offset", [0, 1.7e12])
def test_cuts_and_kernels_far_from_zero_are_refused_too(tmp_path, make, offset):
    X, y = offset + np.arange(60)[:, None] * 1e9, np.arange(60) // 20
    with pytest.raises(PluginError, match="The scores of this model are not linear"):
        make().fit(X, y).export(tmp_path / "model.py")
