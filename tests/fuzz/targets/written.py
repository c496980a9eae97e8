"""What is written and run elsewhere, and what comes from elsewhere: exports in C and node, notes of estimators, CoNLL-U, downloads."""

import contextlib
import functools
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from unittest import mock

import numpy as np
from numpy.lib import format as npy

from fuzz import hostile
from fuzz.mutators import spoil, spoil_bytes
from fuzz.promises import attempt, expect
from fuzz.targets.model_files import as_npy, summed, zipped
from structperc import Engine, cli, estimators
from structperc.files.datasets import fetch, load_conll2000

LABELS = ([1, 2, 3], ["a", "b", "c"], ["=1", "é\"\\", "</script>"], [2**53 + 1, 2**53 + 2, 7], [0.5, 1.5, 2.5])
MAIN = """
#include <stdio.h>
#include "drawn.c"
int main(void)
{
    double x[drawn_n_columns];
    while (fread(x, sizeof x[0], (size_t)drawn_n_columns, stdin) == (size_t)drawn_n_columns)
        printf("%d ", drawn_predict(x));
    return 0;
}
"""


def folder() -> Path:
    return Path(tempfile.gettempdir())


def drawn_engine(random):
    """An engine of few rows, and rows to predict."""
    draw, d = np.random.default_rng(random.randrange(2**32)), random.randrange(1, 4)
    X = np.round(draw.normal(size=(24, d)) * 8) / 8 * random.choice((1, 1000, 1e-3))
    y = np.array(random.choice(LABELS), dtype=object)[draw.integers(0, 3, 24)].tolist()
    problem = random.choice(("multiclass", "multiclass", "cusum", "prank"))
    classes = sorted(set(y)) if problem != "multiclass" else None
    scale = random.choice((True, False))
    taken, engine = attempt(lambda: Engine(problem, epochs=2, random_state=0, scale=scale, classes=classes).fit(X, y))
    return (engine if taken else None), X


def exports(random) -> bool:
    """A model in C or JavaScript predicts what the engine predicts, but where scores tie up to rounding."""
    engine, X = drawn_engine(random)
    ending, run = random.choice(((".js", in_node), (".c", in_c)))
    path = folder() / f"drawn{ending}"
    if engine is None or not attempt(engine.export, path)[0]:
        return False
    found = run(path, X, engine.classes_.tolist())
    expected = list(map(str, engine.predict(X).tolist()))
    if found is not None:
        apart = [i for i, (one, other) in enumerate(zip(found, expected, strict=True)) if one != other]
        expect(not apart or engine.margins(X)[apart].max() < 1e-9 * np.abs(engine.label_scores(X)).max(), f"rows {apart} have other labels")
    return found is not None


def in_node(path, X, labels):
    if shutil.which("node") is None:
        return None
    script = (f"const m = require({str(path)!r}), rows = JSON.parse(require('fs').readFileSync(0));"
              f"console.log(JSON.stringify(rows.map(row => m.labels.indexOf(m.predict(row)))))")
    return [str(labels[i]) for i in json.loads(finished(["node", "-e", script], json.dumps(X.tolist()).encode()))]


def in_c(path, X, labels):
    compiler = os.environ.get("CC", "cc").split()
    if shutil.which(compiler[-1]) is None:
        return None
    (folder() / "main.c").write_text(MAIN)
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]
    finished([*compiler, *strict, "-o", str(folder() / "drawn"), str(folder() / "main.c")], b"")
    return [str(labels[int(i)]) for i in finished([str(folder() / "drawn")], np.ascontiguousarray(X).tobytes()).split()]


def finished(command, content) -> bytes:
    """What a command prints."""
    done = subprocess.run(command, input=content, capture_output=True, check=False, timeout=60)
    expect(done.returncode == 0, f"{command[0]} ends with {done.returncode}: {done.stderr[-300:].decode(errors='replace')}")
    return done.stdout


# ---- notes of estimators ----

CLASSES = ("structperc.estimators:PRank", "structperc.estimators:load", "os:system", "structperc_boosting.__main__:X", "antigravity:x",
           ":", "a:b:c", "structperc_boosting.estimators:AdaBoostOR", "structperc.cli:main", "structperc.estimators:StructureConformal",
           "json.tool:main")
CALLS = (repr, lambda model: model._repr_html_(), lambda model: model.predict(rows()[0]), lambda model: model.save(io.BytesIO()),
         lambda model: model.get_params(), lambda model: [answer.count(5) for answer in model.predict(rows()[0])])


@functools.cache
def rows():
    X = np.random.default_rng(0).normal(size=(30, 3))
    return X, np.arange(30) % 3 + 1


@functools.cache
def kept() -> list:
    """Members and header of files of estimators."""
    found = []
    for model in (estimators.PRank(epochs=2), estimators.ScoreCard(estimators.PRank(epochs=2)), estimators.SVOR(),
                  estimators.OrdinalConformal(estimators.PRank(epochs=2), random_state=0),
                  estimators.StructureConformal(estimators.StructuredClassifier(epochs=2), coverage=0.6, random_state=0)):
        file = io.BytesIO()
        model.fit(*rows()).save(file)
        with zipfile.ZipFile(file) as archive:
            members = {one.filename: archive.read(one) for one in archive.infolist()}
        found.append((members, json.loads(npy.read_array(io.BytesIO(members["header.npy"])).tobytes())))
    return found


def notes(random) -> bool:
    """A file of an estimator whose notes were rewritten, with the right sums: it loads, or raises an error, and imports nothing."""
    members, header = random.choice(kept())
    header = json.loads(json.dumps(header))
    note = header["notes"]["estimator"]
    if random.random() < 0.3:
        note["class"] = random.choice(CLASSES)
    for _ in range(random.choice((0, 1, 1, 2))):
        key = random.choice(list(note))
        note[key] = spoil(random, note[key], lambda random: random.choice(hostile.JSON))
    try:
        text = json.dumps(header).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError):
        return False
    content = zipped(summed({**members, "header.npy": as_npy(np.frombuffer(text, dtype=np.uint8))}).items())
    before = set(sys.modules)
    taken, model = attempt(estimators.load, io.BytesIO(content))
    ours = ("sklearn", "scipy", "numpy", "structperc", "encodings")
    strange = {name for name in set(sys.modules) - before if name.split(".")[0] not in ours
               and not name.startswith("structperc_")}
    expect(not strange, f"a note imports {strange}")
    if taken:
        for call in CALLS:
            attempt(call, model, also=(AttributeError,))
    return taken


# ---- CoNLL-U with other ids ----


@functools.cache
def models():
    """A tagger and a parser of a few sentences."""
    (folder() / "train.conllu").write_text(sentences(np.random.default_rng(0), 12))
    for problem, more in (("sequence", ["--columns", "form", "--target", "upos"]), ("parsing", [])):
        run(["fit", problem, str(folder() / "train.conllu"), "--model", str(folder() / problem), "--set", "epochs=1", *more])
    return True


def run(arguments):
    """The code and the errors of a command."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        return cli.main(arguments), said.getvalue()


def sentences(draw, n) -> str:
    """Sentences with comments, multiword tokens and empty nodes."""
    texts = []
    for i in range(n):
        size = int(draw.integers(1, 6))
        lines = [f"# sent_id = s{i}"] if draw.random() < 0.7 else []
        for t in range(1, size + 1):
            if t < size and draw.random() < 0.15:
                lines.append("\t".join([f"{t}-{t + 1}", "w", *"_" * 8]))
            tag, relation = "NV"[draw.integers(2)], "dep" if t > 1 else "root"
            lines.append("\t".join([str(t), f"w{draw.integers(5)}", "_", tag, "_", "_", str(t - 1), relation, "_", "_"]))
            if draw.random() < 0.1:
                lines.append("\t".join([f"{t}.1", "e", *"_" * 8]))
        texts.append("\n".join(lines) + "\n\n")
    return "".join(texts)


IDS = ("0", "1", "2", "3", "9", "-1", "x", "", "1-2", "3-2", "2.1", "1.1", "_", "01", "1 ")


def conllu_ids(random) -> bool:
    """A file with other ids, heads or lines: `predict` keeps all bytes outside its column, or a command names the line."""
    models()
    lines = sentences(np.random.default_rng(random.randrange(2**32)), random.randrange(1, 4)).split("\n")
    for _ in range(random.choice((0, 1, 1, 2))):
        at = random.randrange(len(lines))
        cells = lines[at].split("\t")
        act = random.randrange(4)
        if act == 0:
            del lines[at]
        elif act == 1:
            lines.insert(at, random.choice(lines))
        elif len(cells) == 10:
            cells[0 if act == 2 else 6] = random.choice(IDS)
            lines[at] = "\t".join(cells)
    path, out = folder() / "odd.conllu", folder() / "out.conllu"
    path.write_text("\n".join(lines) or "\n")
    problem, columns = random.choice((("sequence", {3}), ("parsing", {6, 7})))
    command = [random.choice(("predict", "evaluate")), str(folder() / problem), str(path)]
    command += ["--output", str(out)] if command[0] == "predict" else []
    code, said = run(command)
    expect(code in (0, 2), f"exit code {code}")
    expect(code == 0 or "Error:" not in said, said)
    expect(code == 0 or "line" in said or "no " in said or "empty" in said, f"no line is named: {said}")
    if code == 0 and command[0] == "predict":
        before, after = (file.read_bytes().split(b"\n") for file in (path, out))
        expect(len(before) == len(after), "lines were lost")
        for one, other in zip(before, after, strict=True):
            if one != other:
                cells, filled = one.split(b"\t"), other.split(b"\t")
                expect(len(cells) == len(filled) == 10, f"{one!r} became {other!r}")
                expect({j for j in range(10) if cells[j] != filled[j]} <= columns, f"{one!r} became {other!r}")
    return code == 0


# ---- downloads ----


class Reply:
    """A reply of a server that sends anything, and ends anywhere."""

    def __init__(self, random, content):
        self.random, self.content = random, content

    def __enter__(self):
        return self

    def __exit__(self, *error):
        """Closes nothing."""

    def raise_for_status(self):
        import requests

        if self.random.random() < 0.2:
            raise requests.HTTPError(self.random.choice(("404 Client Error", "500", "")))

    def iter_content(self, size):
        import requests

        for start in range(0, len(self.content), 4096):
            if self.random.random() < 0.05:
                raise self.random.choice((requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError,
                                          requests.exceptions.ContentDecodingError))("cut off")
            yield self.content[start:start + 4096]


def downloads(random) -> bool:
    """Whatever a server sends, the loader raises an error in a sentence and keeps nothing that has another checksum."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(random.choice(("conll2000/train.txt", "../evil", "x")), b"a B-NP\n" * random.choice((1, 5000)))
    content = random.choice((buffer.getvalue(), b"", b"<html>", bytes(random.randrange(1 << 17)), spoil_bytes(random, buffer.getvalue())))
    home = folder() / "home"
    shutil.rmtree(home, ignore_errors=True)
    with mock.patch("requests.get", lambda *arguments, **options: Reply(random, content)), mock.patch.object(fetch, "MOST_BYTES", 1 << 16):
        taken, _ = attempt(load_conll2000, home=str(home))
    expect(not taken and not home.exists(), "a file without the right checksum was kept")
    return taken
