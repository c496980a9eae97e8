"""First use of the library in threads of a fresh process, sixteen for an entry: `python tests/first_use.py [NUMBER [ENTRY ...]]`.

A parent imports the libraries that structperc needs and forks a child for each execution. The child imports structperc in its threads. Its
main thread calls the entries once more, since a race may leave a process broken. Two entries share a child: what one imports, the other
may wait for, and a child costs what the imports cost. Prints JSON: entries, executions and errors.
"""

import importlib
import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import traceback
from pathlib import Path

N_THREADS = 16
OTHERS = "numpy", "scipy.sparse", "scipy.optimize", "pluggy", "attrs"
PROBLEMS = ("multiclass", "cusum", "prank", "sequence", "path", "clusters", "matching", "ilp", "adaboost-or", "latent-ranking",
            "interval-pa", "segments")
MODULES = ("structperc.errors", "structperc", "structperc.components", "structperc.estimators", "structperc.pictures", "structperc.metrics",
           "structperc.solvers.paths", "structperc.streams", "structperc.distributed", "structperc.callbacks", "structperc.cli",
           "structperc.files.datasets", "structperc.testing", "structperc.counterfactuals", "structperc.plugin_tools",
           "structperc_boosting.estimators")
ESTIMATORS = ("AdaBoostOR", "SVOR", "DependencyParser", "CuSumRank", "BinaryReduction", "GraphLabeler", "PairMatcher", "SegmentTagger")
X, Y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 3.0]], [1, 2, 2, 1]
FILES = Path(tempfile.gettempdir())


def named(i):
    from structperc import Engine

    Engine(PROBLEMS[i % len(PROBLEMS)])


def fitted(i):
    from structperc import Engine

    Engine("multiclass", epochs=1).fit(X, Y).predict(X)


def misspelt(i):
    from structperc import Engine
    from structperc.errors import PluginError

    if i % 4:
        return named(i)
    try:
        Engine("multiklass")
    except PluginError as error:
        assert "Did you mean 'multiclass'?" in str(error), error


def misspelt_option(i):
    from structperc import Engine
    from structperc.errors import StructPercError

    try:
        Engine("multiclass", kernell="rbf")
    except StructPercError as error:
        assert "kernel" in str(error), error


def loaded(i):
    from structperc import Engine

    Engine.load(FILES / "engine.npz").predict(X)


def unpickled(i):
    pickle.loads((FILES / "engine.pickle").read_bytes()).predict(X)


def loaded_estimator(i):
    from structperc import estimators

    estimators.load(FILES / "estimator.npz").predict(X)


def looked_up(i):
    from structperc import estimators

    getattr(estimators, ESTIMATORS[i % len(ESTIMATORS)])


def looked_up_and_named(i):
    looked_up(i // 2) if i % 2 else named(i // 2)


def imported(i):
    importlib.import_module(MODULES[i % len(MODULES)])


def unpickled_estimator(i):
    if i % 2:
        return pickle.loads((FILES / "estimator.pickle").read_bytes()).predict(X)
    looked_up(i // 2)


def estimated(i):
    from structperc.estimators import StructuredClassifier

    StructuredClassifier(epochs=1).fit(X, Y).predict(X)


def distributed(i):
    from structperc import Engine
    from structperc.distributed import fit

    fit(Engine("multiclass", epochs=1, n_shards=2), [(X, Y), (X, Y)])


def streamed(i):
    from structperc import Engine
    from structperc.streams import Slices, fit_stream

    fit_stream(Engine("cusum", epochs=1), Slices(X, Y, rows=2))


def searched(i):
    import structperc
    from structperc import solvers

    assert callable(structperc.counterfactual) and callable(structperc.effects)
    getattr(solvers, ("solve_ilp", "best_path", "max_matching", "min_cut")[i % 4])


def commanded(i):
    from structperc.cli import main

    assert main(["plugins" if i % 8 == 0 else "--version"]) == 0


def checked(i):
    from structperc.testing import check_problem

    check_problem("cusum", checks=["plugin_is_used"])


ENTRIES = {entry.__name__: entry for entry in (
    named, fitted, misspelt, misspelt_option, loaded, unpickled, unpickled_estimator, loaded_estimator, looked_up,
    looked_up_and_named, imported, estimated, distributed, streamed, searched, commanded, checked)}
WRITE = f"""
import pickle
from pathlib import Path
from structperc import Engine
from structperc.estimators import PRank
engine = Engine("multiclass", epochs=1).fit({X}, {Y})
engine.save("engine.npz")
Path("engine.pickle").write_bytes(pickle.dumps(engine))
estimator = PRank(epochs=1).fit({X}, {Y})
estimator.save("estimator.npz")
Path("estimator.pickle").write_bytes(pickle.dumps(estimator))
"""


def executed(entries) -> list:
    """The errors of sixteen threads for each of these entries, all at once, and of the main thread after them."""
    errors, barrier = [], threading.Barrier(N_THREADS * len(entries))
    sys.setswitchinterval(1e-5)

    def call(entry, i):
        try:
            if i < N_THREADS:
                barrier.wait()
            ENTRIES[entry](i)
        except BaseException:
            errors.append(f"{entry}, thread {i} of {' and '.join(entries)}: {traceback.format_exc()}")

    threads = [threading.Thread(target=call, args=(entry, i)) for i in range(N_THREADS) for entry in entries]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for entry in entries:
        call(entry, N_THREADS)
    return errors


def in_a_child(entries) -> list:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        with os.fdopen(writing, "w") as pipe:
            json.dump(executed(entries), pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text) if text else [f"{' and '.join(entries)}: the process ended with status {status}"]


def main(number=1, *entries):
    global FILES
    with tempfile.TemporaryDirectory() as folder:
        FILES = Path(folder)
        subprocess.run([sys.executable, "-W", "ignore", "-c", WRITE], cwd=folder, check=True)
        for module in (*OTHERS, "sklearn.base", "sklearn.utils.validation", "sklearn.model_selection"):
            importlib.import_module(module)
        assert "structperc" not in sys.modules
        entries = list(entries or ENTRIES)
        pairs = [entries[i:i + 2] for i in range(0, len(entries), 2)]
        errors = [error for pair in pairs for _ in range(int(number)) for error in in_a_child(pair)]
    print(json.dumps({"entries": len(entries), "executions": int(number) * len(pairs), "errors": errors}))


if __name__ == "__main__":
    main(*sys.argv[1:])
