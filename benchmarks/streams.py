"""Data in files beside the same data in memory: seconds of an epoch, and memory."""

import functools
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import job
import numpy as np
import pandas as pd
from measuring import median, ratios, spread, status, table, take_turns

from structperc import Engine
from structperc.files.arrow import stream_arrow
from structperc.files.csv_tables import stream_csv
from structperc.files.parquet import stream_parquet
from structperc.streams import Slices, fit_stream

D, RANKS, PART = 50, 5, 1 << 15
GOAL = 0.8              # of the speed of the same data in memory
STREAMS = {
    "pairs from a function": lambda folder: pairs(folder),
    "mapped .npy": lambda folder: Slices(*loaded(folder, "r"), rows=PART),
    "Arrow": lambda folder: lambda: stream_arrow(folder / "data.arrow", target="y", rows=PART),
    "Parquet": lambda folder: lambda: stream_parquet(folder / "data.parquet", target="y", rows=PART),
    "CSV": lambda folder: lambda: stream_csv(folder / "data.csv", target="y", rows=PART),
}
CASES = ("memory", *STREAMS)


def measure(quick):
    n = 50_000 if quick else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), n)
        contenders = {case: functools.partial(fresh, case, folder) for case in CASES}
        found = take_turns(contenders, 1 if quick else 3)
    return {"n": n, "cases": found}


def write(folder, n):
    """The same rows in each format; the CSV file holds a tenth of them."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n, D))
    y = 1 + np.digitize(X @ random.standard_normal(D) / np.sqrt(D) + 0.5 * random.normal(size=n), np.linspace(-1.5, 1.5, RANKS - 1))
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(D)]).assign(y=y)
    frame.to_feather(folder / "data.arrow", compression="uncompressed", chunksize=PART)
    frame.to_parquet(folder / "data.parquet", index=False, row_group_size=PART)
    frame[:n // 10].to_csv(folder / "data.csv", index=False)


def loaded(folder, mode=None):
    return np.load(folder / "X.npy", mode), np.load(folder / "y.npy")


def pairs(folder):
    X, y = loaded(folder)
    return lambda: ((X[i:i + PART], y[i:i + PART]) for i in range(0, len(y), PART))


def fresh(case, folder):
    """One case in a process of its own."""
    code = f"import json, streams; from pathlib import Path; print(json.dumps(streams.run({case!r}, Path({folder!r}))))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parent)
    return json.loads(done.stdout)


def run(case, folder):
    """Nanoseconds of a row and epoch by the clock, what a fit costs once taken off; MiB of a fit of one epoch beyond the start."""
    source = loaded(folder) if case == "memory" else STREAMS[case](folder)
    rows = len(np.load(folder / "y.npy", "r")) // (10 if case == "CSV" else 1)

    def fit(epochs):
        engine = Engine("cusum", classes=list(range(1, RANKS + 1)), epochs=epochs, average=True)
        return engine.fit(*source) if case == "memory" else fit_stream(engine, source)

    grown, seconds = highest(lambda: fit(1)), {}
    for epochs in (1, 4):
        begin = time.perf_counter()
        fit(epochs)
        seconds[epochs] = time.perf_counter() - begin
    return {"ns": (seconds[4] - seconds[1]) / 3 / rows * 1e9, "mib": grown}


def highest(function):
    """MiB by which the memory of its own, looked at every 2 ms, rises during a call."""
    found, done = [status("RssAnon")], threading.Event()

    def look():
        while not done.wait(0.002):
            found.append(status("RssAnon"))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        function()
    finally:
        done.set()
        watcher.join()
    return max(found) - found[0]


def report(raw):
    cases = raw["cases"]
    memory = [one["ns"] for one in cases["memory"]]
    rows = [[case, spread([one["ns"] for one in found]), spread(ratios(memory, [one["ns"] for one in found])),
             spread([one["mib"] for one in found])] for case, found in cases.items()]
    return "\n\n".join([
        f"{raw['n']:,} rows of {D} columns of float64 ({raw['n'] * D * 8 / 2**20:.0f} MiB), `cusum`, averaged, parts of {PART:,} rows; "
        f"CSV: a tenth of the rows. By the clock, since a thread reads ahead: what else runs on the machine counts. The files lie in the "
        f"system's cache. Memory: the highest that an epoch allocates beyond the start, mapped files not among it.",
        table(["data", "ns of a row and epoch", "speed, part of memory's", "MiB"], rows)])


def goals(raw):
    memory = median([one["ns"] for one in raw["cases"]["memory"]])
    return [job.Goal(f"speed, {case}", f"≥ {GOAL:g} of memory's", f"{memory / median([one['ns'] for one in found]):.2f}",
                     memory / median([one["ns"] for one in found]) >= GOAL)
            for case, found in raw["cases"].items() if case not in ("memory", "CSV")]


if __name__ == "__main__":
    job.run("streams", "Data in files beside the same data in memory", measure, report, goals, lambda raw, folder: None)
