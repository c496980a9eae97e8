"""Files on two workers of Dask: memory of a worker and time of a pass by rows. Files are read anew or kept."""

import functools
import os
import tempfile
from pathlib import Path

import job
import numpy as np
import pandas as pd
from measuring import status, table

import structperc.files
from structperc import Engine
from structperc.callbacks import History
from structperc.distributed import fit

D, RANKS, PIECE = 10, 5, 1 << 16
ROWS, FILES = 1_000_000, (2, 6, 20)         # of a file; files of each training
EPOCHS, GROWTH = 3, 1.1                     # how much more memory the most rows may take than the fewest


def measure(quick):
    rows = 20_000 if quick else ROWS
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), rows)
        cases = [(True, n) for n in FILES] + [(False, n) for n in FILES[:2]]
        found = [{"stream": stream, "rows": n * rows, **trained(sorted(map(str, Path(folder).glob("*.parquet")))[:n], stream)}
                 for stream, n in cases]
        size = sum(path.stat().st_size for path in Path(folder).iterdir()) / FILES[-1]
    return {"load_after": os.getloadavg()[0], "rows_of_a_file": rows, "mb_of_a_file": size / 1e6, "cases": found}


def write(folder, rows):
    random = np.random.default_rng(0)
    w = random.standard_normal(D) / np.sqrt(D)
    for i in range(FILES[-1]):
        X = random.standard_normal((rows, D))
        y = 1 + np.digitize(X @ w + 0.5 * random.normal(size=rows), np.linspace(-1.5, 1.5, RANKS - 1))
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(D)]).assign(y=y)
        frame.to_parquet(folder / f"{i:02}.parquet", index=False, row_group_size=PIECE)


def trained(files, stream):
    """Peak MiB of each worker, growth of the caller, seconds of each pass, and mistakes of the last one."""
    from distributed import Client, LocalCluster

    history, before = History(), status("RssAnon")
    engine = Engine("cusum", preset="paper", classes=list(range(1, RANKS + 1)), epochs=EPOCHS, average=True, shuffle=True,
                    random_state=0, n_shards=2,
                    plugins=[history])
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        fit(engine, files, read=functools.partial(structperc.files.stream, target="y", rows=PIECE), stream=stream, client=client)
        peaks = client.run(status, "VmHWM")
    return {"mib": sorted(peaks.values()), "caller": status("RssAnon") - before, "seconds": [record.seconds for record in history.records],
            "mistakes": history.records[-1].mistakes / history.records[-1].examples}


def report(raw):
    rows = [["read at each pass" if case["stream"] else "held in memory", f"{case['rows']:,}",
             " and ".join(f"{mib:.0f}" for mib in case["mib"]), f"{case['caller']:.0f}", f"{case['seconds'][0]:.1f}",
             f"{np.median(case['seconds'][1:]):.1f}", f"{case['mistakes']:.2%}"] for case in raw["cases"]]
    return "\n\n".join([
        f"`cusum`, averaged, shuffled, {D} columns of float64, two shards on two workers of this machine. Each "
        f"Parquet file has {raw['rows_of_a_file']:,} rows ({raw['mb_of_a_file']:.0f} MB) in pieces of {PIECE:,} rows. Memory is the peak "
        f"of a worker's process, with Python, Dask and libraries. That of the caller is what it has gained. "
        f"Load of the machine: {raw['load']:.1f} before, {raw['load_after']:.1f} after; what else runs slows the passes.",
        table(["data", "rows", "MiB of each worker", "MiB of the caller", "seconds of the first pass", "of a later one", "mistakes"],
              rows)])


def goals(raw):
    streamed = [max(case["mib"]) for case in raw["cases"] if case["stream"]]
    growth = streamed[-1] / streamed[0]
    return [job.Goal(f"memory of a worker, {raw['cases'][2]['rows']:,} rows ÷ {raw['cases'][0]['rows']:,} rows", f"≤ {GROWTH}",
                     f"{growth:.2f}", growth <= GROWTH)]


if __name__ == "__main__":
    job.run("mixing_files", "Files on two workers of Dask", measure, report, goals, lambda raw, folder: None)
