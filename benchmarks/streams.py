"""Data in files beside the same data in memory, and beside the library that reads them: seconds of an epoch, and memory."""

import functools
import json
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import job
import numpy as np
import pandas as pd
import pyarrow.ipc
import pyarrow.parquet
from measuring import median, ratios, spread, status, table, take_turns

from structperc import Engine, files
from structperc.plugin_tools import available_cores
from structperc.streams import Slices, fit_stream

D, RANKS, PART = 50, 5, 1 << 16
GOAL = 0.8              # of the speed that the bound allows
STREAMS = {
    "pairs from a function": lambda folder, _: pairs(folder),
    "mapped .npy": lambda folder, _: Slices(*loaded(folder, "r"), rows=PART),
    "Arrow": lambda folder, opened: tables(opened.enter_context(files.open(folder / "data.arrow"))),
    "Parquet": lambda folder, opened: tables(opened.enter_context(files.open(folder / "data.parquet"))),
    "Parquet, plain": lambda folder, opened: tables(opened.enter_context(files.open(folder / "plain.parquet"))),
    "CSV": lambda folder, _: lambda: files.stream(folder / "data.csv", target="y", rows=PART),
}
ALONE = {               # what reads the same files without structperc
    "mapped .npy": lambda folder: mapped_alone(folder),
    "Arrow": lambda folder: arrow_alone(folder / "data.arrow"),
    "Parquet": lambda folder: parquet_alone(folder / "data.parquet"),
    "Parquet, plain": lambda folder: parquet_alone(folder / "plain.parquet"),
    "CSV": lambda folder: lambda: list(map(len, pd.read_csv(folder / "data.csv", chunksize=PART))),
}
CASES = ("memory", *STREAMS)


def measure(quick):
    n = 50_000 if quick else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), n)
        contenders = {case: functools.partial(fresh, case, folder) for case in CASES}
        found = take_turns(contenders, 1 if quick else 3)
    return {"n": n, "cores": available_cores(), "cases": found}


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
    frame.to_parquet(folder / "plain.parquet", index=False, row_group_size=PART, use_dictionary=False, compression="none")
    frame[:n // 10].to_csv(folder / "data.csv", index=False)


def loaded(folder, mode=None):
    return np.load(folder / "X.npy", mode), np.load(folder / "y.npy")


def pairs(folder):
    X, y = loaded(folder)
    return lambda: ((X[i:i + PART], y[i:i + PART]) for i in range(0, len(y), PART))


def tables(file):
    """The parts of an open file, which stays mapped from one epoch to the next."""
    return lambda: file.parts(target="y", rows=PART)


def mapped_alone(folder):
    X, y = loaded(folder, "r")
    return lambda: [X[i:i + PART].sum() + y[i:i + PART].sum() for i in range(0, len(y), PART)]


def arrow_alone(path):
    """Every number is looked at, since a mapped file costs nothing before."""
    reader = pyarrow.ipc.open_file(pyarrow.memory_map(str(path)))
    return lambda: [column.to_numpy().sum() for i in range(reader.num_record_batches) for column in reader.get_batch(i).columns]


def parquet_alone(path):
    file = pyarrow.parquet.ParquetFile(path, memory_map=True, pre_buffer=False)
    return lambda: [batch.num_rows for batch in file.iter_batches(batch_size=PART)]


def fresh(case, folder):
    """One case in a process of its own."""
    code = f"import json, streams; from pathlib import Path; print(json.dumps(streams.run({case!r}, Path({folder!r}))))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parent)
    return json.loads(done.stdout)


def run(case, folder):
    """Nanoseconds of a row and epoch without the fixed cost, those of only reading, and MiB beyond the start."""
    rows = len(np.load(folder / "y.npy", "r")) // (10 if case == "CSV" else 1)
    with ExitStack() as opened:
        source = loaded(folder) if case == "memory" else STREAMS[case](folder, opened)

        def fit(epochs):
            engine = Engine("cusum", preset="paper", classes=list(range(1, RANKS + 1)), epochs=epochs, average=True)
            return engine.fit(*source) if case == "memory" else fit_stream(engine, source)

        grown = highest(lambda: fit(1))
        one, four = clocks(lambda: fit(1)), clocks(lambda: fit(4))
    found = {name: (four[name] - one[name]) / 3 / rows * 1e9 for name in one} | {"mib": grown}
    if case in ALONE:
        read = ALONE[case](folder)
        read()
        alone = [clocks(read) for _ in range(3)]
        found["alone"] = {name: median([one[name] for one in alone]) / rows * 1e9 for name in alone[0]}
    return found


def clocks(function):
    """Seconds of a call: by the clock, and of all threads together."""
    wall, processor = time.perf_counter(), time.process_time()
    function()
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - processor}


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


def bounds(raw, case):
    """Round by round the nanoseconds that no reader can fall below: training, reading, and both shared among the cores."""
    found = []
    for memory, one in zip(raw["cases"]["memory"], raw["cases"][case], strict=True):
        alone = one.get("alone", {"wall": 0, "cpu": 0})
        found.append(max(memory["wall"], alone["wall"], (memory["cpu"] + alone["cpu"]) / raw["cores"]))
    return found


def report(raw):
    memory = [one["wall"] for one in raw["cases"]["memory"]]
    rows = []
    for case, found in raw["cases"].items():
        wall = [one["wall"] for one in found]
        alone = [one["alone"]["wall"] for one in found if "alone" in one]
        rows.append([case, spread(wall), spread([one["cpu"] for one in found]), spread(alone) if alone else "",
                     spread(ratios(memory, wall)), spread(ratios(bounds(raw, case), wall)), spread([one["mib"] for one in found])])
    return "\n\n".join([
        f"{raw['n']:,} rows of {D} columns of float64 ({raw['n'] * D * 8 / 2**20:.0f} MiB), `cusum`, averaged, parts of {PART:,} rows; "
        f"CSV: a tenth of the rows. Nanoseconds of a row and epoch are by the clock and CPU time of all threads. A thread "
        f"reads ahead. Other work on the machine counts. The load was {raw['load']:.1f}. The files lie in the system's cache, and stay "
        "open "
        f"from one epoch to the next. Parquet is as pandas writes it, and plain: without dictionaries and compression.",
        "Only reading: numpy, pyarrow or pandas read the same parts by the clock, and structperc does nothing. Bound: the longest of "
        "training in memory, of only reading, and of the CPU time of both shared among the cores. Memory: the highest that an epoch "
        "allocates "
        "beyond the start, mapped files not among it.",
        table(["data", "ns, clock", "ns, CPU", "only reading", "speed, part of memory's", "part of the bound's", "MiB"], rows)])


def goals(raw):
    reached = {case: median(ratios(bounds(raw, case), [one["wall"] for one in found])) for case, found in raw["cases"].items()}
    return [job.Goal(f"speed, {case}", f"≥ {GOAL:g} of the bound's", f"{reached[case]:.2f}", reached[case] >= GOAL)
            for case in raw["cases"] if case not in ("memory", "CSV")]


if __name__ == "__main__":
    job.run("streams", "Data in files beside the same data in memory", measure, report, goals, lambda raw, folder: None)
