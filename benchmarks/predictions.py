"""Predictions of many rows beside the time of reading them, float32 beside float64, with and without a busy second core."""

import contextlib
import functools
import subprocess
import sys

import job
import numpy as np
from measuring import cpu_seconds, median, ratios, spread, table, take_turns

from structperc import Engine

PROBLEMS = {"CuSum": "cusum", "PRank": "prank"}
COLUMNS = (50, 136, 500)
TYPES = ("float64", "float32")
VALUES = 10_000_000     # of X, more than the caches hold
READING_GOAL = 1.2
FLOAT32_GOAL = 0.6
BUSY = "import numpy; a = numpy.ones(8_000_000)\nwhile True: a.sum()"


def measure(quick):
    n_values = VALUES // 20 if quick else VALUES
    return {"alone": cases(n_values), "busy": with_busy_core(cases, n_values)}


def with_busy_core(function, *arguments):
    """What a function returns while another process reads memory all the time."""
    with contextlib.ExitStack() as stack:
        other = stack.enter_context(subprocess.Popen([sys.executable, "-c", BUSY]))
        stack.callback(other.kill)
        return function(*arguments)


def cases(n_values):
    """Nanoseconds per row of each contender, by columns."""
    return {str(d): take_turns(contenders(n_values // d, d), 9) for d in COLUMNS}


def contenders(n, d):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, d))
    y = np.digitize(X @ random.standard_normal(d) / d**0.5, [-1.5, -0.5, 0.5, 1.5])
    found = {}
    for kind in TYPES:
        rows = X.astype(kind)
        found[f"reading {kind}"] = functools.partial(nanoseconds, np.bitwise_or.reduce, rows.reshape(-1).view(np.int64), n)
        for shown, problem in PROBLEMS.items():
            engine = Engine(problem, preset="paper").fit(rows[:2000], y[:2000])
            found[f"{shown} {kind}"] = functools.partial(nanoseconds, engine.predict, rows, n)
    return found


def nanoseconds(function, X, n):
    return cpu_seconds(function, X) / n * 1e9


# ---- what is shown ----

def report(raw):
    parts = ["Nanoseconds of CPU time per row, and that time divided by that of reading. To read X is a bitwise or of all words. "
             "Each figure is the median (lowest–highest) of nine turns."]
    for heading, found in (("On a quiet machine", raw["alone"]), ("With another process that reads memory all the time", raw["busy"])):
        rows = [[f"{d} x {kind}", spread(runs[f"reading {kind}"]),
                 *(f"{spread(runs[f'{shown} {kind}'])}: {median(ratios(runs[f'{shown} {kind}'], runs[f'reading {kind}'])):.2f} ×"
                   for shown in PROBLEMS)]
                for d, runs in found.items() for kind in TYPES]
        parts += [f"## {heading}", table(["columns", "reading X", *PROBLEMS], rows)]
    return "\n\n".join(parts)


def goals(raw):
    reached = []
    for where, found in (("", raw["alone"]), (", other core busy", raw["busy"])):
        for d, runs in found.items():
            for shown in PROBLEMS:
                times = ratios(runs[f"{shown} float64"], runs["reading float64"])
                narrow = ratios(runs[f"{shown} float32"], runs[f"{shown} float64"])
                reached += [job.Goal(f"predict ÷ reading X: {shown}, {d} columns{where}", f"≤ {READING_GOAL}", spread(times),
                                     median(times) <= READING_GOAL),
                            job.Goal(f"float32 ÷ float64: {shown}, {d} columns{where}", f"≤ {FLOAT32_GOAL}", spread(narrow),
                                     median(narrow) <= FLOAT32_GOAL)]
    return reached


def draw(raw, folder):
    """Nothing here is worth a figure."""


if __name__ == "__main__":
    job.run("predictions", "Predictions beside reading X", measure, report, goals, draw)
