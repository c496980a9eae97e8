"""Exported models beside `predict`: equal predictions on 10,000 rows and 10,000 sentences, sizes of files, and time in C."""

import ctypes
import json
import runpy
import shutil
import subprocess
import tempfile
from pathlib import Path

import datasets
import job
import numpy as np
from measuring import cpu_seconds, median, spread, table, take_turns
from roof import COMPILER, Roof, pointer
from sentences import chunking, labels

from structperc import Engine

N, COLUMNS = 10_000, 136
CALLS = 20              # of a row's function over all rows, to be timed together
NANOSECONDS = 100       # that a row of 136 columns may take in C
FLAGS = ("-std=c99", "-Wall", "-Werror", "-O2")
ENDINGS = {"numpy": ".py", "c": ".c", "js": ".js", "onnx": ".onnx"}
ROWS_IN_C = f"""
int graded_predict(const double *x);
void all(int n, const double *X, int *best);
void all(int n, const double *X, int *best) {{ for (int i = 0; i < n; i++) best[i] = graded_predict(X + (long)i * {COLUMNS}); }}
"""
SENTENCES_IN_C = """
void graded_scores(int n_tokens, const char *const *cells, int token, double *scores);
int graded_predict(int n_tokens, double *scores, int *best);
extern const int graded_n_labels;
void all(int n, const int *starts, const char *const *cells, double *scores, int *best);
void all(int n, const int *starts, const char *const *cells, double *scores, int *best)
{
    for (int i = 0; i < n; i++) {
        int size = starts[i + 1] - starts[i];
        for (int t = 0; t < size; t++)
            graded_scores(size, cells + 2 * starts[i], t, scores + t * graded_n_labels);
        graded_predict(size, scores, best + starts[i]);
    }
}
"""


def measure(quick):
    n = N // 10 if quick else N
    return {"rows": rows(n), "sentences": sentences(quick, n)}


def rows(n):
    """Measurements of a grader: equal predictions, files and nanoseconds a row."""
    data = datasets.dense(n * 5 // 4, COLUMNS, seed=3, proportions=datasets.GRADES, heavy_tails=True)       # a fifth is held out
    engine = Engine("cusum", preset="paper", average=True, epochs=3).fit(data.X, data.y)
    expected = engine.predict(data.X).tolist()
    roof, best = Roof(data), np.zeros(n, dtype=np.intc)

    def in_c(library):
        library.all(n, pointer(data.X), pointer(best))
        return engine.classes_[best].tolist()

    found = answers(engine, data.X, {"numpy": lambda module: module["predict"](data.X).tolist(), "c": in_c,
                                     "js": lambda ask: ask(data.X.tolist()), "onnx": lambda run: run(data.X).tolist()}, ROWS_IN_C)
    library = found.pop("library")

    def nanoseconds(function, *arguments):
        """Of a row, in some calls one after the other."""
        return cpu_seconds(lambda: [function(*arguments) for _ in range(CALLS)]) / CALLS / n * 1e9

    times = take_turns({"C": lambda: nanoseconds(library.all, n, pointer(data.X), pointer(best)),
                        "reading the rows": lambda: nanoseconds(roof.read, 1), "predict": lambda: nanoseconds(engine.predict, data.X)})
    return shown_of(found, expected) | {"n": n, "nanoseconds": times}


def sentences(quick, n):
    """The same of a tagger of columns, nanoseconds a token."""
    data = chunking(quick)
    engine = Engine("sequence", preset="paper", template=data.template, average=True, epochs=3, start=True, end=True,
                    forbidden_transitions="iob2")
    engine.fit(data.tuples(data.train), labels(data.train))
    X = data.tuples([*data.train, *data.test])[:n]
    expected = engine.predict(X).tolist()
    starts = np.cumsum([0, *map(len, X)]).astype(np.intc)
    cells = (ctypes.c_char_p * (2 * int(starts[-1])))(*(cell.encode() for sentence in X for token in sentence for cell in token))
    scores, best = np.zeros((max(map(len, X)), len(engine.classes_))), np.zeros(starts[-1], dtype=np.intc)

    def tag(library):
        library.all(len(X), pointer(starts), cells, pointer(scores), pointer(best))

    def in_c(library):
        tag(library)
        return [part.tolist() for part in np.split(engine.classes_[best], starts[1:-1])]

    found = answers(engine, X, {"numpy": lambda module: module["predict"](X), "c": in_c, "js": lambda ask: ask(X)}, SENTENCES_IN_C)
    library, n_tokens = found.pop("library"), int(starts[-1])
    times = take_turns({"C": lambda: cpu_seconds(tag, library) / n_tokens * 1e9,
                        "predict": lambda: cpu_seconds(engine.predict, X) / n_tokens * 1e9}, 3)
    return shown_of(found, expected) | {"n": len(X), "nanoseconds": times}


def answers(engine, X, asked, driver):
    """Predictions and sizes of the files by target, and the compiled library."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for target, ask in asked.items():
            path = Path(folder, f"graded{ENDINGS[target]}")
            engine.export(path, target)
            loaded = LOADERS[target](path, driver)
            if target == "c":
                found["library"] = loaded
            found[target] = None if loaded is None else ask(loaded), path.stat().st_size
    return found


def shown_of(found, expected):
    """How many predictions differ from those of `predict`, None if a file could not be run, and sizes."""
    return {"files": {target: {"different": None if got is None else sum(a != b for a, b in zip(got, expected, strict=True)), "bytes": size}
                      for target, (got, size) in found.items()}}


def compiled(path, driver):
    path.with_name("driver.c").write_text(driver)
    built = path.with_suffix(".so")
    subprocess.run([COMPILER, *FLAGS, "-shared", "-fPIC", "-o", built, path, path.with_name("driver.c")], check=True)
    return ctypes.CDLL(built)


def node(path, _):
    """A function that asks the script, or None without Node."""
    if not shutil.which("node"):
        return None
    script = (f"const g = require({json.dumps(str(path))}); const X = JSON.parse(require('fs').readFileSync(0));"
              "console.log(JSON.stringify(X.map(g.predict)))")
    return lambda X: json.loads(subprocess.run(["node", "-e", script], input=json.dumps(X), capture_output=True, check=True,
                                               text=True).stdout)


def session(path, _):
    """A function that runs the graph, or None without onnxruntime."""
    try:
        import onnxruntime
    except ImportError:
        return None
    made = onnxruntime.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])
    return lambda X: made.run(["label"], {"X": X})[0]


LOADERS = {"numpy": lambda path, _: runpy.run_path(path), "c": compiled, "js": node, "onnx": session}


# ---- what is shown ----

KINDS = {"rows": "a grader of rows", "sentences": "a tagger of sentences"}


def report(raw):
    files = [[label, f"{raw[kind]['n']:,}", target, "not asked" if one["different"] is None else f"{one['different']:,}",
              f"{one['bytes'] / 1e6:.2f}"] for kind, label in KINDS.items() for target, one in raw[kind]["files"].items()]
    times = [[label, "row" if kind == "rows" else "token", name, spread(values)]
             for kind, label in KINDS.items() for name, values in raw[kind]["nanoseconds"].items()]
    return "\n\n".join([
        f"The grader has {COLUMNS} columns and five ranks. The tagger predicts CoNLL-2000's chunks with crfsuite's template of words and "
        f"parts of speech, 22 labels and iob2 as constraint. C is compiled with {' '.join(FLAGS)}.",
        table(["model", "examples", "file", "predictions that differ", "MB"], files),
        "CPU time. Reading the rows adds up their values, with the machine's own instructions. The tagger in C makes the strings of the "
        "template and looks them up, `predict` too.",
        table(["model", "of a", "by", "nanoseconds"], times)])


def goals(raw):
    equal = [job.Goal(f"{raw[kind]['n']:,} answers of {label}, {target}", "0 differ", f"{one['different']} differ", one["different"] == 0)
             for kind, label in KINDS.items() for target, one in raw[kind]["files"].items() if one["different"] is not None]
    times = raw["rows"]["nanoseconds"]["C"]
    return [*equal, job.Goal(f"C, {COLUMNS} columns, nanoseconds a row", f"≤ {NANOSECONDS}", spread(times), median(times) <= NANOSECONDS)]


def draw(raw, folder):
    """Two small tables need no figure."""


if __name__ == "__main__":
    job.run("exports", "Exported models", measure, report, goals, draw)
