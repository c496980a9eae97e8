"""Exported taggers predict as `predict` does: Viterbi with constraints, on rows, named features and templates, in each language."""

import itertools
import json
import os
import runpy
import shutil
import subprocess
import types

import numpy as np
import pytest
import structperc_sequence
from plain import Engine
from scipy.sparse import csr_array
from structperc_sequence.constraints import read_constraints
from structperc_sequence.solver import Viterbi

from structperc import hookimpl
from structperc.errors import PluginError

RANDOM = np.random.default_rng(3)
LABELS = ["B-A", "I-A", "B-é\"\\??/</script>", "I-é\"\\??/</script>", "O"]
LENGTHS = [1, 2, *RANDOM.integers(1, 9, 400)]
WORDS = ["the", "größe", "a'''b", 'q"\\', "*/", "</script>", "", "??/", "x" * 40, "McCoy-75", "İĀẞꓘ١٢", "😀𐐀Ⱥ", *map(str, range(30))]


def sentences(token):
    return [[token(int(k)) for k in RANDOM.integers(0, len(WORDS), n)] for n in LENGTHS]


def tags(n):
    """Random phrases as IOB2 tags."""
    found, inside = [], None
    for k in RANDOM.integers(0, 4, n):
        inside = inside if k == 3 and inside else [None, "A", LABELS[2][2:], None][k]
        found.append(f"{'I' if k == 3 else 'B'}-{inside}" if inside else "O")
    return found


Y = [tags(n) for n in LENGTHS]
BAG = sentences(lambda k: {"w": WORDS[k], "n": k / 8, "deep": {"s": [WORDS[k][:1], "b"], "t": k % 2 == 0}})
LISTS = sentences(lambda k: [WORDS[k], f"s={WORDS[k][-1:]}", "bias"])
CELLS = sentences(lambda k: (WORDS[k], str(k % 3)))
ROWS = [RANDOM.normal(size=(n, 6)) for n in LENGTHS]
TEMPLATE = "U0:%x[0,0]\nU1:%x[-1,0]/%x[0,1]\n%x[2,1]größe%x[-12,0]\nU3:%x[11,1]\nU4:%prefix[0,0,2]%suffix[1,0,2]\nU5:%lower[0,0]" \
    "\nU6:%shape[-1,0]/%digits[0,0]\nU7:%shape[0,0]"
MODELS = {
    "rows": (ROWS, {"start": True, "end": True, "forbidden_transitions": "iob2", "average": True}),
    "few": (ROWS, {"fit_intercept": False}),
    "sparse": ([csr_array(np.round(x) * (abs(x) > 1)) for x in ROWS], {"end": True, "average": True}),
    "bags": (BAG, {"start": True, "forbidden_transitions": "iob2", "epochs": 2}),
    "lists": (LISTS, {"end": True, "update": "pa1", "required_transitions": [("I-A", label) for label in (*LABELS[:3], "O", None)]}),
    "template": (CELLS, {"start": True, "end": True, "average": True, "forbidden_transitions": "iob2", "template": TEMPLATE}),
}


@pytest.fixture(scope="module", params=[*MODELS, "word vectors", "ties"])
def model(request, tmp_path_factory):
    """An engine and sentences to tag. If "ties" has not seen the features of a token, labels differ only by pairs seen in training."""
    if request.param == "ties":
        engine = Engine("sequence", classes=LABELS, forbidden_transitions="iob2", fit_intercept=False)
        return engine.fit([[["a"], ["b"]]] * 2, [["B-A", "I-A"]] * 2), [[["a"], ["c"]], [["c"]] * 3, [[]], []]
    if request.param == "word vectors":
        vectors = tmp_path_factory.mktemp("vectors") / "small"
        words = sorted({word.lower() for word in WORDS if word.split()})
        vectors.write_text("".join(f"{word} {i / 4} {i % 3}\n" for i, word in enumerate(words)))
        MODELS["word vectors"] = (CELLS, {**MODELS["template"][1], "vectors": str(vectors)})
    X, options = MODELS[request.param]
    return Engine("sequence", classes=LABELS, **options).fit(X[:150], Y[:150]), [*X, X[0][:0]]


def dense(sentence):
    return sentence.toarray() if hasattr(sentence, "toarray") else sentence


def exported(engine, folder, name, to):
    engine.export(folder / name, to)
    return folder / name


def test_numpy(model, tmp_path):
    engine, X = model
    module = runpy.run_path(exported(engine, tmp_path, "tagger.py", "numpy"))
    assert module["predict"]([dense(x) for x in X]) == engine.predict(X).tolist()


@pytest.mark.skipif(not shutil.which("node"), reason="Node, which runs JavaScript, is not here")
def test_javascript(model, tmp_path):
    engine, X = model
    path = exported(engine, tmp_path, "tagger.js", "js")
    assert b"</script" not in path.read_bytes().replace(b'<script src="FILE"></script>', b"")
    plain = [dense(x).tolist() if hasattr(x, "shape") else x for x in X]
    script = ('const g = require("./tagger.js"); const X = JSON.parse(require("fs").readFileSync(0));'
              'console.log(JSON.stringify(X.map(g.predict)))')
    said = subprocess.run(["node", "-e", script], input=json.dumps(plain), capture_output=True, check=True, cwd=tmp_path, text=True)
    assert json.loads(said.stdout) == engine.predict(X).tolist()


COMMON = """
#include <stdio.h>
#include <stdlib.h>
extern const int _2_tags_n_labels;
extern const char *const _2_tags_labels[];
int _2_tags_predict(int n_tokens, double *scores, int *best);
%(declared)s

static int number(void)
{
    int n;

    return scanf("%%d ", &n) == 1 ? n : -1;
}

static char *text(void)
{
    int n = number();
    char *made = calloc((size_t)n + 1, 1);

    if (fread(made, 1, (size_t)n, stdin) < (size_t)n)
        exit(1);
    return made;
}

int main(void)
{
    static double scores[99][%(n_labels)d], values[99];
    static const char *names[999];
    int n, t, i, m, best[99];

    for (t = 0; t < _2_tags_n_labels; t++)
        printf("%%s%%c", _2_tags_labels[t], 0);
    while ((n = number()) >= 0) {
        i = 0;
        %(read)s
        if (!_2_tags_predict(n, scores[0], best))
            return 1;
        for (t = 0; t < n; t++)
            printf("%%d ", best[t]);
        printf("\\n");
    }
    return 0;
}
"""
OF_ROWS = ("void _2_tags_scores(const double *x, double *scores);", """
        for (t = 0; t < n; t++) {
            for (i = 0, m = number(); i < m; i++)
                if (scanf("%%lf", values + i) != 1)
                    return 1;
            _2_tags_scores(values, scores[t]);
        }""")
OF_NAMES = ("void _2_tags_scores(int n, const char *const *names, const double *values, double *scores);", """
        for (t = 0; t < n; t++) {
            for (i = 0, m = number(); i < m; i++) {
                names[i] = text();
                if (scanf("%%lf", values + i) != 1)
                    return 1;
            }
            _2_tags_scores(m, names, values, scores[t]);
        }""")
OF_CELLS = ("void _2_tags_scores(int n_tokens, const char *const *cells, int token, double *scores);", """
        for (t = 0; t < n; t++)
            for (m = number(); m > 0; m--)
                names[i++] = text();
        for (t = 0; t < n; t++)
            _2_tags_scores(n, names, t, scores[t]);""")


def named(token, prefix=""):
    """The features of a token with their values, as the documentation of X describes them."""
    if not isinstance(token, dict):
        return [(f"{prefix}{name}", 1) for name in token]
    pairs = [[(f"{prefix}{key}:{value}", 1)] if isinstance(value, str) else named(value, f"{prefix}{key}:")
             if isinstance(value, (dict, list)) else [(f"{prefix}{key}", float(value))] for key, value in token.items()]
    return list(itertools.chain.from_iterable(pairs))


def written(text):
    content = text.encode()
    return b"%d " % len(content) + content + b" "


@pytest.mark.skipif(not shutil.which(os.environ.get("CC", "cc").split()[-1]), reason="there is no C compiler")
def test_c(model, tmp_path):
    engine, X = model
    exported(engine, tmp_path, "2 tags.c", "c")
    reader = engine.parts_.reader
    if not reader.named:
        (declared, read), said = OF_ROWS, lambda row: b" ".join(repr(float(v)).encode() for v in row)
    elif reader.template is None:
        (declared, read), said = OF_NAMES, lambda token: b" ".join(written(name) + repr(value).encode() for name, value in named(token))
    else:
        (declared, read), said = OF_CELLS, lambda token: b"".join(map(written, token))
    size = (lambda token: len(named(token))) if declared is OF_NAMES[0] else len
    given = b"".join(b"%d " % len(dense(x)) + b"".join(b"%d " % size(token) + said(token) + b" " for token in dense(x)) for x in X)
    main = COMMON % {"declared": declared, "read": read % (), "n_labels": len(engine.classes_)}
    tmp_path.joinpath("main.c").write_text(main)
    compiler = [*os.environ.get("CC", "cc").split(), "-std=c99", "-O1"]
    strict = ["-pedantic", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([*compiler, *strict, "-c", "-o", tmp_path / "tags.o", tmp_path / "2 tags.c"], check=True, capture_output=True)
    subprocess.run([*compiler, "-o", tmp_path / "tags", tmp_path / "tags.o", tmp_path / "main.c"], check=True, capture_output=True)
    *labels, answers = subprocess.run([tmp_path / "tags"], input=given, capture_output=True, check=True).stdout.split(b"\0")
    labels = [label.decode() for label in labels]
    assert labels == engine.classes_.tolist()
    found = [[labels[int(k)] for k in line.split()] for line in answers.decode().split("\n")[:-1]]
    assert found == engine.predict(X).tolist()


def test_onnx(model, tmp_path):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    engine, X = model
    if engine.parts_.reader.named:
        with pytest.raises(PluginError, match="tokens of text"):
            engine.export(tmp_path / "tags.onnx", "onnx")
        return
    session = runtime.InferenceSession(exported(engine, tmp_path, "tags.onnx", "onnx").read_bytes(), providers=["CPUExecutionProvider"])
    X = [x for x in X if x.shape[0]]
    assert [session.run(None, {"X": np.ascontiguousarray(dense(x))})[0].tolist() for x in X] == engine.predict(X).tolist()


def test_safetensors(model, tmp_path):
    engine, X = model
    content = exported(engine, tmp_path, "tags.safetensors", "safetensors").read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8:8 + size])
    meta = header.pop("__metadata__")
    arrays = {name: np.frombuffer(content[8 + size:][slice(*one["data_offsets"])], "<f8").reshape(one["shape"])
              for name, one in header.items()}
    assert json.loads(meta["labels"]) == engine.classes_.tolist()
    names = json.loads(meta["names"])
    reader, known = engine.parts_.reader, engine.coef_
    if names is not None:
        known = known[:, [reader.vocabulary.find(name) for name in names if not name.startswith("vector:")]]
        assert np.count_nonzero(known) == np.count_nonzero(engine.coef_[:, :len(reader.vocabulary)])
    assert np.array_equal(arrays["weights"][:, :known.shape[1]], known)
    if reader.words is not None:
        vectors = np.array([reader.words[name.partition(":")[2]] for name in names[known.shape[1]:]])
        folded = engine.coef_[:, len(reader.vocabulary):] @ vectors.T
        assert np.allclose(arrays["weights"][:, known.shape[1]:], folded, rtol=1e-12, atol=1e-12)
    for name in ("start", "end"):
        shown, own = arrays[name], getattr(engine, f"{name}_scores_", np.zeros(len(known)))
        assert np.array_equal(shown[np.isfinite(shown)], own[np.isfinite(shown)])
    allowed = np.isfinite(arrays["transitions"])
    assert np.array_equal(arrays["transitions"][allowed], engine.transition_scores_[allowed])
    pairs = itertools.product(engine.classes_, repeat=2)
    forbidden = engine.plugin_options["forbidden_transitions"] == "iob2"
    assert not forbidden or allowed.ravel().tolist() == [b[0] != "I" or a[1:] == b[1:] for a, b in pairs]


@pytest.mark.parametrize(("make", "message"), [
    (lambda: Engine("sequence", n_hashed=64).fit(LISTS[:9], Y[:9]), "n_hashed=64 hashes the names of features; leave it out"),
    (lambda: Engine("sequence").fit([[["a", np.ones(2)]] * n for n in LENGTHS[:9]], Y[:9]), "The tokens have vectors"),
    (lambda: Engine("sequence", plugins=["dual-kernel"], kernel="rbf").fit(ROWS[:9], Y[:9]), "The scores of this model are not linear"),
    (lambda: Engine("segments").fit(ROWS[:9], [[(0, 1, "a")]] * 9), "The outputs of this problem are no such labels .SegmentOutputs"),
    (lambda: Engine("parsing").fit([[("a", "b"), ("c", "d")]], [[0, 1]]), "The outputs of this problem are no such labels .TreeOutputs"),
])  # fmt: skip
def test_what_is_no_linear_chain_is_refused(make, message, tmp_path):
    with pytest.raises(PluginError, match=message):
        make().export(tmp_path / "m.c", "c")
    assert not list(tmp_path.iterdir())


class Forgetful(Viterbi):
    """Returns pair scores of 0 from `chain_of`, but searches with the true ones."""

    def chain_of(self, scores, x):
        tokens, pairs, start, end = super().chain_of(scores, x)
        return tokens, 0 * pairs, start, end


class Constant(Viterbi):
    def argmax(self, scores, x):
        return (1,) * x.n_rows


def tagger(solver, name):
    """The problem "sequence" with another solver."""
    plugin = types.ModuleType(name)
    for hook in ("reader", "outputs", "features", "loss"):
        setattr(plugin, f"structperc_{hook}", getattr(structperc_sequence, f"structperc_{hook}"))
    plugin.name, plugin.options, plugin.losses = name, structperc_sequence.options, structperc_sequence.losses
    plugin.structperc_argmax = hookimpl(lambda context: solver(context.n_labels, False, False, read_constraints(context.labels, (), ())))
    return plugin


@pytest.mark.parametrize("to", ["numpy", "c", "js", "onnx", "safetensors", "html"])
@pytest.mark.parametrize(("solver", "message"), [
    (Forgetful, "Forgetful of plugin 'forgetful' searches by another rule"),
    (Constant, "Constant of plugin 'constant' has a method argmax in Python, which an export cannot repeat"),
])  # fmt: skip
def test_taggers_that_search_by_another_rule_are_refused(solver, message, to, tmp_path):
    engine = Engine(tagger(solver, solver.__name__.lower())).fit(ROWS[:40], Y[:40])
    with pytest.raises(PluginError, match=message):
        engine.export(tmp_path / "m", to)
    assert not list(tmp_path.iterdir())


def test_a_solver_that_is_not_the_problems_own_is_refused(tmp_path):
    plugin = types.ModuleType("other")
    plugin.structperc_argmax = hookimpl(lambda context: Viterbi(context.n_labels, False, False, read_constraints(context.labels, (), ())))
    engine = Engine("sequence", plugins=[plugin]).fit(ROWS[:40], Y[:40])
    with pytest.raises(PluginError, match="Viterbi of plugin 'other' replaces the argmax part of sequence"):
        engine.export(tmp_path / "m.js", "js")


def test_what_the_problem_sequence_is_made_of_is_exported_under_another_name(tmp_path):
    engine = Engine(tagger(Viterbi, "copy")).fit(ROWS[:40], Y[:40])
    module = runpy.run_path(exported(engine, tmp_path, "copy.py", "numpy"))
    assert module["predict"](ROWS[:90]) == engine.predict(ROWS[:90]).tolist()


def test_of_a_thousand_features_those_without_weights_are_left_out(tmp_path):
    X = [[[f"w{i}"], ["x"]] for i in range(1000)]
    engine = Engine("sequence").fit(X, [["a", "b"]] * 1000)
    engine.export(tmp_path / "few.js", "js")
    assert 0 < np.count_nonzero(engine.coef_.any(axis=0)) < 9
    assert f"{np.count_nonzero(engine.coef_.any(axis=0))} named features" in (tmp_path / "few.js").read_text()


def test_constraints_that_leave_no_labels_are_told(tmp_path):
    engine = Engine("sequence", forbidden_transitions=[("b", None), ("a", "a")]).fit([[["a"], ["b"]], [["a"]]], [["b", "a"], ["a"]])
    engine.export(tmp_path / "m.py", "numpy")
    with pytest.raises(ValueError, match="leave this sentence no labels"):
        runpy.run_path(tmp_path / "m.py")["best_labels"](np.full((2, 2), -np.inf))
