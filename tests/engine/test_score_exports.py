"""Rankers as programs of other languages: the scores of rows, and their order."""

import ctypes
import json
import os
import runpy
import shutil
import subprocess

import numpy as np
import pytest

from structperc import Engine
from structperc.errors import PluginError
from structperc.estimators import LatentRanker, RankingSVM

RANDOM = np.random.default_rng(2)
X = RANDOM.normal(size=(60, 5)) * [1, 3, 0.3, 1, 1] + [0, 2, 0, 0, 0]
QUERIES = np.arange(60) // 6
GRADES = np.digitize(X @ [1, 0.5, 3, 0, -1] + RANDOM.normal(size=60) - 1, [-1, 1])
RANKERS = {
    "svm": lambda: RankingSVM().fit(X, GRADES, groups=QUERIES),
    "shown": lambda: LatentRanker(k=2, random_state=0).fit(X, GRADES, groups=QUERIES),
    "scaled": lambda: LatentRanker(loss="ndcg", k=4, random_state=0, scale=True).fit(X, GRADES, groups=QUERIES),
}
CC = os.environ.get("CC", "cc").split()


@pytest.fixture(scope="module", params=RANKERS)
def ranker(request):
    return RANKERS[request.param]()


def exported(ranker, folder, name):
    ranker.engine_.export(folder / name, None)
    return folder / name


def check(ranker, scores, orders):
    expected = ranker.decision_function(X)
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    for query, order in zip(ranker.engine_.predict(X, groups=QUERIES), orders, strict=True):
        assert set(query) == set(list(order)[:len(query)])


def test_numpy(ranker, tmp_path):
    module = runpy.run_path(exported(ranker, tmp_path, "ranks.py"))
    check(ranker, module["scores"](X), [module["order"](X[QUERIES == q]) for q in range(10)])


@pytest.mark.skipif(not shutil.which(CC[-1]), reason="there is no C compiler")
def test_c(ranker, tmp_path):
    exported(ranker, tmp_path, "ranks.c")
    subprocess.run([*CC, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", tmp_path / "ranks.so",
                    tmp_path / "ranks.c"], check=True, capture_output=True)
    library = ctypes.CDLL(str(tmp_path / "ranks.so"))
    library.ranks_score.restype = ctypes.c_double
    assert ctypes.c_int.in_dll(library, "ranks_n_columns").value == 5
    scores = np.array([library.ranks_score(x.ctypes.data_as(ctypes.c_void_p)) for x in X])
    check(ranker, scores, [np.argsort(-scores[QUERIES == q], kind="stable") for q in range(10)])


@pytest.mark.skipif(not shutil.which("node"), reason="Node, which runs JavaScript, is not here")
def test_javascript(ranker, tmp_path):
    exported(ranker, tmp_path, "ranks.js")
    script = ('const g = require("./ranks.js"); const queries = JSON.parse(require("fs").readFileSync(0));'
              'console.log(JSON.stringify([queries.map((rows) => rows.map(g.score)), queries.map(g.order)]))')
    said = subprocess.run(["node", "-e", script], input=json.dumps(X.reshape(10, 6, 5).tolist()), capture_output=True, check=True,
                          cwd=tmp_path, text=True)
    scores, orders = json.loads(said.stdout)
    check(ranker, np.ravel(scores), orders)


@pytest.mark.parametrize("to", ["onnx", "onnx-float32"])
def test_onnx(ranker, to, tmp_path):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    ranker.export(tmp_path / "ranks.onnx", to)
    session = runtime.InferenceSession((tmp_path / "ranks.onnx").read_bytes(), providers=["CPUExecutionProvider"])
    kind = np.float32 if to.endswith("32") else np.float64
    (scores,) = session.run(None, {"X": X.astype(kind)})
    np.testing.assert_allclose(scores, ranker.decision_function(X.astype(kind).astype(float)), rtol=1e-9, atol=1e-9)


def test_safetensors(ranker, tmp_path):
    content = exported(ranker, tmp_path, "ranks.safetensors").read_bytes()
    size = int.from_bytes(content[:8], "little")
    arrays = {name: np.frombuffer(content[8 + size:][slice(*one["data_offsets"])], "<f8")
              for name, one in json.loads(content[8:8 + size]).items() if name != "__metadata__"}
    scores = X @ arrays["weights"] + arrays["bias"]
    check(ranker, scores, [np.argsort(-scores[QUERIES == q], kind="stable") for q in range(10)])


def test_a_table_of_categories_is_exported_by_what_it_becomes(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"kind": pd.Categorical(np.where(X[:, 0] > 0, "web", "news")), "age": X[:, 4]})
    ranker = RankingSVM().fit(frame, GRADES, groups=QUERIES)
    module = runpy.run_path(exported(ranker, tmp_path, "ranks.py"))
    assert module["COLUMNS"] == ["kind=news", "kind=web", "age"]
    coded = np.column_stack([X[:, 0] <= 0, X[:, 0] > 0, X[:, 4]]).astype(float)
    np.testing.assert_allclose(module["scores"](coded), ranker.decision_function(frame), rtol=1e-9, atol=1e-9)


def test_kernels_pages_and_other_outputs_are_refused(tmp_path):
    kernel = Engine("latent-ranking", plugins=["dual-kernel"], kernel="rbf", k=1).fit(X[:6], [1, 0, 0, 0, 1, 0], lengths=[3, 3])
    for engine, name, message in ((kernel, "m.c", "not linear"), (RANKERS["svm"]().engine_, "m.html", "only shows ranks and classes")):
        with pytest.raises(PluginError, match=message):
            engine.export(tmp_path / name, None)
    assert not list(tmp_path.iterdir())


def test_kernels_far_from_zero_are_refused_too(tmp_path):
    X, y = 1.7e12 + np.arange(60)[:, None] * 1e9, np.arange(60) % 6 > 3
    engine = Engine("latent-ranking", k=2, plugins=["dual-kernel"], kernel="rbf", scale=False).fit(X, y, lengths=[6] * 10)
    with pytest.raises(PluginError, match="The scores of this model are not linear"):
        engine.export(tmp_path / "model.py")
