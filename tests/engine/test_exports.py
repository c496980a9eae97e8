"""Exported models predict as `predict` does, in each installed language."""

import copy
import ctypes
import json
import os
import pickle
import runpy
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest
from plain import Engine

from structperc import hookimpl
from structperc.components import Argmax, BlockFeatures, ClassOutputs, LargestArgmax, ThresholdArgmax
from structperc.engine.exports import FORMATS, described
from structperc.engine.exports.names import JAVASCRIPT, PYTHON, C, identifier
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
    "equal thresholds": lambda: Engine("prank", pocket=True, scale=True, classes=[-1, 0, 0.5, 1], epochs=2).fit(X[:50], WHOLE[:50]),
    "interval": lambda: Engine("interval-pa", update="exact-pa1", C=0.01).fit(X[:500], HALVES[:500]),
    "classes": lambda: Engine("multiclass", epochs=3, average=True, calibrate=True).fit(X[:500], HOSTILE[:500]),
    "truth": lambda: Engine("multiclass", fit_intercept=False).fit(X[:500], WHOLE[:500] > 0),
}
CANCELLING = 79, 283, 313, 318, 394, 414, 486, 489, 499, 528, 1147, 1161, 1198
TIES = np.zeros((3, 2))
UNTRAINED = {name: (lambda problem=name: Engine(problem, fit_intercept=False).fit(TIES, [1, 2, 3])) for name in ("cusum", "multiclass")}


@pytest.fixture(scope="module", params=[*MODELS, *UNTRAINED])
def model(request):
    """An engine and rows to predict. If the engine is untrained, all labels tie."""
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
@pytest.mark.parametrize("again", [copy.deepcopy, lambda engine: pickle.loads(pickle.dumps(engine))], ids=["copy", "pickle"])
@pytest.mark.parametrize("make", [MODELS["cusum"], lambda: Engine(Classes(), epochs=3).fit(X[:200], WHOLE[:200])], ids=["named", "own"])
def test_a_copy_is_exported_too(make, again, tmp_path):
    engine = make()
    module = runpy.run_path(exported(again(engine), tmp_path, "copy.py", "numpy"))
    check(engine, X[:200], module["predict"](X[:200]).tolist())


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
    (lambda: Engine("segments").fit([x[None] for x in X[:9]], [[(0, 1, "a")]] * 9), "exports need one label for each row, a chain"),
])  # fmt: skip
def test_what_is_not_linear_is_refused(make, message, tmp_path):
    with pytest.raises(PluginError, match=message):
        make().export(tmp_path / "m.c", "c")
    assert not list(tmp_path.iterdir())


def test_models_of_ranks_and_classes_are_linear_whatever_the_scale_of_their_columns():
    """Large terms cancel in the scores of the models CANCELLING and of model 16."""
    for seed in (*range(60), *CANCELLING):
        random = np.random.default_rng(seed)
        d, k, n = random.integers(1, 7), random.integers(2, 6), int(random.integers(20, 200))
        rows = random.normal(size=(n, d)) * 10.0 ** random.uniform(-6, 6)
        if seed % 2:
            rows *= 10.0 ** random.uniform(-6, 6, size=d)
        latent = rows @ random.normal(size=d) + 0.1 * np.std(rows) * random.normal(size=n)
        y = np.digitize(latent, np.quantile(latent, np.arange(1, k) / k)) + 1
        engine = Engine(("cusum", "prank", "multiclass")[seed % 3], epochs=3, scale=seed % 5 == 0, average=seed % 7 == 0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")      # about columns that differ in scale
            form = described(engine.fit(rows, y))
        assert np.allclose(form.weights @ rows.T + form.bias[:, None], engine.label_scores(rows).T, rtol=0,
                           atol=1e-9 * abs(engine.label_scores(rows)).max()), seed


class Bent(BlockFeatures):
    """A feature map that applies the function `bend` to the columns."""

    def __init__(self, n_blocks, n_columns, bend):
        super().__init__(n_blocks, n_columns, False)
        self.size, self.bend = (n_blocks, n_columns), bend

    def scores(self, w, x):
        return np.asarray(w).reshape(self.size) @ self.bend(x.rows[0])

    def add(self, w, x, c):
        np.asarray(w)[:] += np.outer(c, self.bend(x.rows[0])).ravel()


class Classes:
    """A problem of one label, from custom parts."""

    name = "own-classes"

    def __init__(self, features=None, argmax=LargestArgmax, outputs=ClassOutputs):
        self.features, self.argmax, self.outputs = features, argmax, outputs

    @hookimpl
    def structperc_outputs(self, context):
        return self.outputs()

    @hookimpl
    def structperc_features(self, context):
        return self.features(context.n_labels, context.n_features) if self.features else BlockFeatures(
            context.n_labels, context.n_features, context.fit_intercept)

    @hookimpl
    def structperc_argmax(self, context):
        return self.argmax(context.n_labels)


@pytest.mark.parametrize("bend", [np.square, np.abs, np.tanh, lambda x: np.maximum(x, 0), lambda x: x + 1e-6 * x**2,
                                  lambda x: np.minimum(x, 1e5)], ids=["square", "abs", "tanh", "half", "nearly linear", "clipped"])
def test_maps_that_are_not_linear_are_refused(bend):
    problem = Classes(lambda n_labels, d: Bent(n_labels, d, bend))
    with pytest.raises(PluginError, match="The scores of this model are not linear"):
        described(Engine(problem, epochs=3).fit(X[:100], WHOLE[:100]))


def test_a_problem_of_ones_own_with_compiled_methods_is_exported(tmp_path):
    engine = Engine(Classes(), epochs=3).fit(X[:200], WHOLE[:200])
    module = runpy.run_path(exported(engine, tmp_path, "own.py", "numpy"))
    check(engine, X[:200], module["predict"](X[:200]).tolist())


class Careful(Argmax):
    """Predicts the first label, unless the largest score is more than 5 above its score."""

    exact = False

    def __init__(self, n_labels=0):
        pass

    def argmax(self, scores, x):
        best = int(np.argmax(scores))
        return best + 1 if scores[best] > scores[0] + 5 else 1


class Renamed(ClassOutputs):
    """Shows the label below the predicted one."""

    def decode(self, y, x):
        return self.labels[max(y - 2, 0)]


class Swap:
    """Replaces one part of the problem."""

    name = "swap"

    def __init__(self, kind, make):
        setattr(self, f"structperc_{kind}", hookimpl(lambda context: make(context)))


REPLACED = {
    "argmax": (Careful(), r"Careful of plugin 'Careful' replaces the argmax part of multiclass"),
    "a compiled argmax": (Swap("argmax", lambda context: ThresholdArgmax(3)), r"ThresholdArgmax of plugin 'swap' replaces the argmax part"),
    "outputs": (Swap("outputs", lambda context: Renamed()), r"Renamed of plugin 'swap' replaces the outputs part of multiclass"),
    "features": (Swap("features", lambda context: BlockFeatures(3, D, True)), r"BlockFeatures of plugin 'swap' replaces the features part"),
}


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("part", REPLACED)
def test_parts_that_are_not_the_problems_own_are_refused(part, to, tmp_path):
    plugin, message = REPLACED[part]
    engine = Engine("multiclass", epochs=3, plugins=[plugin]).fit(X[:300], WHOLE[:300])
    with pytest.raises(PluginError, match=f"{message}.*Leave that plugin out, or predict with structperc"):
        engine.export(tmp_path / "m", to)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("problem", "message"), [
    (Classes(argmax=Careful), "Careful of plugin 'own-classes' has a method argmax in Python, which an export cannot repeat"),
    (Classes(outputs=Renamed), "Renamed of plugin 'own-classes' has a method decode in Python, which an export cannot repeat"),
    (Classes(argmax=ThresholdArgmax), "ThresholdArgmax of plugin 'own-classes' searches by another rule"),
])  # fmt: skip
def test_a_problem_of_ones_own_that_predicts_by_another_rule_is_refused(problem, message, tmp_path):
    engine = Engine(problem, epochs=3).fit(X[:300], WHOLE[:300])
    with pytest.raises(PluginError, match=message):
        engine.export(tmp_path / "m.py", "numpy")
    assert not list(tmp_path.iterdir())


STEMS = sorted(C | JAVASCRIPT | PYTHON | {"grade", "2nd", "a b", "é", "", "x-y", "labels", "weights", "model", "inf", "main"})


def test_words_of_a_language_are_no_names_in_it():
    assert [identifier(word, "js") for word in ("new", "module", "exports", "default", "window", "Math", "grade")] == [
        "_new", "_module", "_exports", "_default", "_window", "_Math", "grade"]
    assert [identifier(word, "c") for word in ("int", "class", "new", "2nd", "a b", "")] == ["_int", "_class", "new", "_2nd", "a_b", "_"]


@pytest.mark.skipif(not shutil.which("node"), reason="Node, which runs JavaScript, is not here")
@pytest.mark.parametrize("make", [MODELS["prank"], lambda: Engine("sequence").fit([X[:3], X[3:5]], [WHOLE[:3], WHOLE[3:5]])],
                         ids=["labels", "chain"])
def test_javascript_of_every_name_runs(make, tmp_path):
    engine = make()
    for stem in STEMS:
        engine.export(tmp_path / f"{stem}.js", "js")
    given = X[:3] if engine.problem == "prank" else [X[:3]]
    tmp_path.joinpath("all.cjs").write_text("""
        const [stems, given] = JSON.parse(require("fs").readFileSync(0));
        const answers = (g) => [given.map(g.predict), g.probabilities === undefined ? null : given.map(g.probabilities)];
        console.log(JSON.stringify(stems.map((stem) => answers(require(`./${stem}.js`)))));
    """)
    told = json.dumps([STEMS, [np.asarray(one).tolist() for one in given]])
    said = json.loads(subprocess.run(["node", "all.cjs"], input=told, capture_output=True, check=True, cwd=tmp_path, text=True).stdout)
    assert [labels for labels, _ in said] == [engine.predict(given).tolist()] * len(STEMS)


@pytest.mark.skipif(not shutil.which(os.environ.get("CC", "cc").split()[-1]), reason="there is no C compiler")
def test_c_and_python_of_every_name_run(tmp_path):
    engine = Engine("prank").fit(X[:50, :2], WHOLE[:50])
    for stem in STEMS:
        engine.export(tmp_path / f"{stem}.c", "c")
        engine.export(tmp_path / f"{stem}.py", "numpy")
        assert runpy.run_path(tmp_path / f"{stem}.py")["predict"](X[:9, :2]).tolist() == engine.predict(X[:9, :2]).tolist()
    subprocess.run([*os.environ.get("CC", "cc").split(), "-std=c99", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                    *(tmp_path / f"{stem}.c" for stem in STEMS)], check=True, capture_output=True)


def test_unknown_formats_are_refused(tmp_path):
    with pytest.raises(OptionError, match="to='java'; expected 'numpy', 'c', 'js', 'onnx', 'onnx-float32', 'safetensors', 'html'"):
        MODELS["truth"]().export(tmp_path / "m.java", "java")


def test_the_command_goes_by_the_ending(run, tmp_path):
    MODELS["truth"]().save(tmp_path / "m.model")
    assert run("export", tmp_path / "m.model", tmp_path / "m.js") == (0, "", "")
    assert run("export", tmp_path / "m.model", tmp_path / "other.txt", "--to", "js") == (0, "", "")
    assert (tmp_path / "other.txt").read_text() == (tmp_path / "m.js").read_text().replace("const m =", "const other =").replace(
        "then m.", "then other.").replace("exports = m;", "exports = other;").replace("const m", "const other")
    code, _, err = run("export", tmp_path / "m.model", tmp_path / "m.exe")
    assert code == 2 and "structperc export: --to), or end it with .py, .c, .js, .onnx, .safetensors, .html." in err
