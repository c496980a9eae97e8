"""Exported models answer as `predict` does, in each language that is there to be asked."""

import ctypes
import json
import os
import runpy
import shutil
import subprocess
import sys

import numpy as np
import pytest

from structperc import Engine
from structperc.errors import MissingExtra, OptionError, PluginError

N, D = 10_000, 7
RANDOM = np.random.default_rng(1)
X = RANDOM.normal(size=(N, D)) * [1, 5, 0.5, 1, 1, 1, 1] + [0, 9, 0, 0, 0, 0, 0]
SCORES = X @ [1, 0.2, 3, 0, -1, 2, 0.5] + RANDOM.normal(size=N)
WORDS = np.array(["poor", "so-so", 'g"oo\\d</script>??/', "*/ größte", "'''\n\"\"\""])
HOSTILE = WORDS[np.digitize(SCORES, np.quantile(SCORES, [0.2, 0.5, 0.7, 0.9]))]
WHOLE = np.digitize(SCORES, np.quantile(SCORES, [0.2, 0.6])) - 1
HALVES = WHOLE / 2
MODELS = {
    "cusum": lambda: Engine("cusum", classes=WORDS, average=True, scale=True).fit(X[:500], HOSTILE[:500]),
    "prank": lambda: Engine("prank", epochs=3, scale=True).fit(X[:500], WHOLE[:500]),
    "interval": lambda: Engine("interval-pa", update="exact-pa1", C=0.01).fit(X[:500], HALVES[:500]),
    "classes": lambda: Engine("multiclass", epochs=3, average=True, calibrate=True).fit(X[:500], HOSTILE[:500]),
    "truth": lambda: Engine("multiclass", fit_intercept=False).fit(X[:500], WHOLE[:500] > 0),
}
TIES = np.zeros((3, 2))
UNTRAINED = {name: (lambda problem=name: Engine(problem, fit_intercept=False).fit(TIES, [1, 2, 3])) for name in ("cusum", "multiclass")}


@pytest.fixture(scope="module", params=[*MODELS, *UNTRAINED])
def model(request):
    """An engine and rows to ask about; of the untrained ones every label ties."""
    if request.param in UNTRAINED:
        return UNTRAINED[request.param](), np.zeros((4, 2))
    return MODELS[request.param](), X


def exported(engine, folder, name, to):
    path = folder / name
    engine.export(path, to)
    return path


def check(engine, rows, labels, probabilities=None):
    assert list(labels) == engine.predict(rows).tolist()
    if probabilities is not None:
        assert np.allclose(probabilities, engine.predict_proba(rows), rtol=0, atol=1e-9)


def test_numpy(model, tmp_path):
    engine, rows = model
    module = runpy.run_path(exported(engine, tmp_path, "class.py", "numpy"))
    check(engine, rows, module["predict"](rows).tolist(), module["predict_proba"](rows))


@pytest.mark.skipif(not shutil.which(os.environ.get("CC", "cc").split()[-1]), reason="there is no C compiler")
def test_c(model, tmp_path):
    engine, rows = model
    exported(engine, tmp_path, "2 grade.c", "c")
    labels = engine.classes_.tolist()
    kind = "text" if isinstance(labels[0], str) else "double" if isinstance(labels[0], float) else "int"
    shown = {"text": "%s", "double": "%.17g", "int": "%d"}[kind]
    tmp_path.joinpath("main.c").write_text(f'''
#include <stdio.h>
extern const int _2_grade_n_columns, _2_grade_n_labels;
extern const {"char *const" if kind == "text" else kind} _2_grade_labels[];
int _2_grade_predict(const double *x);
int main(void)
{{
    double x[{rows.shape[1]}];
    int l;
    for (l = 0; l < _2_grade_n_labels; l++)
        printf("{shown}%c", _2_grade_labels[l], 0);
    while (fread(x, sizeof x[0], (size_t)_2_grade_n_columns, stdin) == (size_t)_2_grade_n_columns)
        printf("%d ", _2_grade_predict(x));
    return 0;
}}
''')
    compiler = os.environ.get("CC", "cc").split()
    subprocess.run([*compiler, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2", "-o", tmp_path / "grade",
                    tmp_path / "2 grade.c", tmp_path / "main.c"], check=True, capture_output=True)
    said = subprocess.run([tmp_path / "grade"], input=np.ascontiguousarray(rows).tobytes(), capture_output=True, check=True).stdout
    *found, answers = said.split(b"\0")
    assert [text.decode() if kind == "text" else float(text) for text in found] == labels
    check(engine, rows, [labels[int(best)] for best in answers.split()])


@pytest.mark.skipif(not shutil.which(os.environ.get("CC", "cc").split()[-1]), reason="there is no C compiler")
def test_c_without_a_type_of_pairs(tmp_path):
    engine = MODELS["prank"]()
    exported(engine, tmp_path, "plain.c", "c")
    subprocess.run([*os.environ.get("CC", "cc").split(), "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-U__GNUC__", "-shared",
                    "-fPIC", "-o", tmp_path / "plain.so", tmp_path / "plain.c"], check=True, capture_output=True)
    predict = ctypes.CDLL(str(tmp_path / "plain.so")).plain_predict
    check(engine, X[:200], [engine.classes_[predict(x.ctypes.data_as(ctypes.c_void_p))] for x in X[:200]])


@pytest.mark.skipif(not shutil.which("node"), reason="Node, which runs JavaScript, is not here")
def test_javascript(model, tmp_path):
    engine, rows = model
    path = exported(engine, tmp_path, "grade.js", "js")
    assert b"</script" not in path.read_bytes().replace(b'<script src="FILE"></script>', b"")
    script = ('const g = require("./grade.js"); const rows = JSON.parse(require("fs").readFileSync(0));'
              'console.log(JSON.stringify([rows.map(g.predict), rows.map(g.probabilities)]))')
    said = subprocess.run(["node", "-e", script], input=json.dumps(rows.tolist()), capture_output=True, check=True, cwd=tmp_path, text=True)
    check(engine, rows, *json.loads(said.stdout))


def test_onnx(model, tmp_path):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    engine, rows = model
    session = runtime.InferenceSession(exported(engine, tmp_path, "grade.onnx", "onnx").read_bytes(), providers=["CPUExecutionProvider"])
    labels, scores, probabilities = session.run(None, {"X": np.ascontiguousarray(rows)})
    check(engine, rows, labels.tolist(), probabilities)
    assert np.allclose(scores, engine.label_scores(rows), rtol=1e-9, atol=1e-9)


def test_safetensors(model, tmp_path):
    engine, rows = model
    content = exported(engine, tmp_path, "grade.safetensors", "safetensors").read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8:8 + size])
    assert size % 8 == 0
    arrays = {name: np.frombuffer(content[8 + size:][slice(*one["data_offsets"])], "<f8").reshape(one["shape"])
              for name, one in header.items() if name != "__metadata__"}
    meta = header["__metadata__"]
    labels, scores = json.loads(meta["labels"]), rows @ arrays["weights"].T + arrays["bias"]
    best = scores.argmax(axis=1) if meta["tie"] == "first" else scores.shape[1] - 1 - scores[:, ::-1].argmax(axis=1)
    check(engine, rows, [labels[i] for i in best])


def test_without_onnx_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtra, match=r"structperc\[onnx\]"):
        MODELS["truth"]().export(tmp_path / "m.onnx", "onnx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("make", "message"), [
    (lambda: Engine("cusum", plugins=["dual-kernel"], kernel="rbf").fit(X[:40], WHOLE[:40]), "The scores of this model are not linear"),
    (lambda: Engine("latent-ranking", k=1).fit(X[:6], [1, 0, 0, 0, 1, 0], lengths=[3, 3]), "exports hold one label for each row or token"),
])  # fmt: skip
def test_what_is_not_linear_is_refused(make, message, tmp_path):
    with pytest.raises(PluginError, match=message):
        make().export(tmp_path / "m.c", "c")
    assert not list(tmp_path.iterdir())


def test_unknown_formats_are_refused(tmp_path):
    with pytest.raises(OptionError, match="to='java'; expected 'numpy', 'c', 'js', 'onnx', 'safetensors', 'html'"):
        MODELS["truth"]().export(tmp_path / "m.java", "java")


def test_the_command_goes_by_the_ending(run, tmp_path):
    MODELS["truth"]().save(tmp_path / "m.model")
    assert run("export", tmp_path / "m.model", tmp_path / "m.js") == (0, "", "")
    assert run("export", tmp_path / "m.model", tmp_path / "other.txt", "--to", "js") == (0, "", "")
    assert (tmp_path / "other.txt").read_text() == (tmp_path / "m.js").read_text().replace("const m =", "const other =").replace(
        "then m.", "then other.").replace("exports = m;", "exports = other;").replace("const m", "const other")
    code, _, err = run("export", tmp_path / "m.model", tmp_path / "m.exe")
    assert code == 2 and "the ending of" in err and "say --to, or end it with .py, .c, .js, .onnx, .safetensors, .html." in err
