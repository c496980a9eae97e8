"""What is paid whatever the data: importing, the smallest fit, and memory beside X."""

import functools
import itertools
import json
import subprocess
import sys
from pathlib import Path

import job
import numpy as np
from measuring import cpu_seconds, median, spread, status, table, take_turns
from scipy import sparse

from structperc import Engine

IMPORT_GOAL = 0.2       # seconds
FIT_GOAL = 0.4          # milliseconds
GROWTH_GOAL = 1.0       # MiB
PROBLEMS = ("cusum", "prank")
IMPORTS = {"its dependencies": "import numpy, scipy.sparse, pluggy, attrs", "structperc": "import structperc"}
COUNTED = """
import json, sys, time
wall, cpu = time.perf_counter(), time.process_time()
{}
print(json.dumps({{"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "modules": sorted(sys.modules)}}))
"""
UNWANTED = ("sklearn", "pandas", "matplotlib", "structperc_")
KINDS = ("float64", "float32", "CSR")
VALUES = (34, 544)      # values per row of a small and a large X with equally many rows
COLUMNS = 4096          # of the CSR data


def measure(quick):
    return {"imports": imports(3 if quick else 11), "smallest": smallest_fits(20 if quick else 200),
            "memory": memory(20_000 if quick else 100_000)}


def imports(rounds):
    """Imports in fresh processes, and which modules came along that should not."""
    contenders = {name: functools.partial(fresh, COUNTED.format(code)) for name, code in IMPORTS.items()}
    take_turns(contenders, 1)           # once unmeasured: the files come into memory
    found = take_turns(contenders, rounds)
    times = {name: {clock: [one[clock] for one in runs] for clock in ("wall", "cpu")} for name, runs in found.items()}
    return {"seconds": times, "unwanted": [name for name in found["structperc"][0]["modules"] if name.startswith(UNWANTED)]}


def fresh(code):
    """What a new Python prints as JSON, started in this folder."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parent)
    return json.loads(done.stdout)


def smallest_fits(times):
    """Milliseconds of Engine(problem).fit on 10 rows."""
    random = np.random.default_rng(0)
    X, y = random.standard_normal((10, 10)), np.arange(10) % 5

    def milliseconds(problem):
        def fits():
            for _ in range(times):
                Engine(problem, preset="paper").fit(X, y)

        return cpu_seconds(fits) / times * 1e3

    contenders = {problem: functools.partial(milliseconds, problem) for problem in PROBLEMS}
    take_turns(contenders, 1)
    return take_turns(contenders)


def memory(n):
    """Peak memory of a fit beside its X, each in a process of its own."""
    cases = []
    for kind, shuffle in itertools.product(KINDS, (False, True)):
        found = [fresh(f"import json, fixed; print(json.dumps(fixed.extra_memory({n}, {values}, {kind!r}, {shuffle})))")
                 for values in VALUES]
        cases.append({"kind": kind, "shuffle": shuffle, "n": n, "x_mib": [x for x, _ in found], "extra_mib": [extra for _, extra in found]})
    return cases


def extra_memory(n, values, kind, shuffle):
    """MiB of X, and by how many a fit raises the size of the process (None if unknown)."""
    random = np.random.default_rng(0)
    y = random.integers(0, 5, n)
    if kind == "CSR":
        indices = random.integers(1, COLUMNS // values, (n, values), dtype=np.int32).cumsum(axis=1, dtype=np.int32)
        starts = np.arange(0, n * values + 1, values, dtype=np.int32)
        X = sparse.csr_matrix((random.random(n * values), indices.ravel(), starts), (n, COLUMNS))
        size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    else:
        X = random.random((n, values), dtype=kind)
        size = X.nbytes
    engine = Engine("cusum", preset="paper", average=True, epochs=2, shuffle=shuffle)
    engine.fit(X[:10], y[:10])
    try:
        Path("/proc/self/clear_refs").write_text("5")       # forget the highest size so far
    except OSError:
        return size / 2**20, None
    before = status("VmRSS")
    engine.fit(X, y)
    return size / 2**20, max(0.0, status("VmHWM") - before)


# ---- what is shown ----

def report(raw):
    found = raw["imports"]
    parts = ["## Import", "Of a fresh process, its start left out.",
             table(["import", "seconds", "CPU seconds"],
                   [[name, spread(times["wall"]), spread(times["cpu"])] for name, times in found["seconds"].items()]),
             f"Modules of scikit-learn, pandas, matplotlib or a plugin that came along: {', '.join(found['unwanted']) or 'none'}.",
             "## The smallest fit", "Making an Engine and fitting it to 10 rows of 10 features.",
             table(["problem", "CPU milliseconds"], [[name, spread(times)] for name, times in raw["smallest"].items()]),
             "## Memory of a fit",
             f"Two epochs on {raw['memory'][0]['n']:,} rows of {VALUES[0]} and of {VALUES[1]} values: the highest size of the process "
             "above its size before the fit. What an example costs whatever its width: its label, and its place in a shuffled order.",
             memory_table(raw["memory"])]
    return "\n\n".join(parts)


def memory_table(cases):
    rows = []
    for case in cases:
        order = "shuffled" if case["shuffle"] else "file"
        if case["extra_mib"][0] is None:
            rows.append([case["kind"], order, *(f"{x:.0f}" for x in case["x_mib"]), "unknown on this system", "", ""])
            continue
        small, large = case["extra_mib"]
        rows.append([case["kind"], order, *(f"{x:.0f}" for x in case["x_mib"]), f"{small:.2f}", f"{large:.2f}",
                     f"{small * 2**20 / case['n']:.0f}"])
    return table(["X", "order", "small X, MiB", "large X, MiB", "beside small X, MiB", "beside large X, MiB", "bytes per example"], rows)


def goals(raw):
    wall = raw["imports"]["seconds"]["structperc"]["wall"]
    unwanted = raw["imports"]["unwanted"]
    reached = [job.Goal("import structperc, seconds", f"≤ {IMPORT_GOAL}", spread(wall), median(wall) <= IMPORT_GOAL),
               job.Goal("import structperc loads no scikit-learn and no plugin", "none", ", ".join(unwanted) or "none", not unwanted)]
    reached += [job.Goal(f"Engine({problem!r}).fit on 10 rows, milliseconds", f"≤ {FIT_GOAL}", spread(times), median(times) <= FIT_GOAL)
                for problem, times in raw["smallest"].items()]
    for case in raw["memory"]:
        if case["extra_mib"][0] is not None:
            more = case["extra_mib"][1] - case["extra_mib"][0]
            order = "shuffled" if case["shuffle"] else "file order"
            reached.append(job.Goal(f"memory beside a {VALUES[1] // VALUES[0]} times larger X, {case['kind']}, {order}, MiB more",
                                    f"≤ {GROWTH_GOAL:g}", f"{more:.1f}", more <= GROWTH_GOAL))
    return reached


def draw(raw, folder):
    """Nothing here is worth a figure."""


if __name__ == "__main__":
    job.run("fixed", "Fixed costs", measure, report, goals, draw)
