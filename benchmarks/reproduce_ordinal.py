"""The published experiments with ordered labels, but for those that have scripts of their own; `make reproduce-ordinal` calls this.

    python benchmarks/reproduce_ordinal.py [--quick] [--full] [--only boosting ...] [--jobs N] [--seconds S] [--anew] [--output FOLDER]
"""

import argparse
import functools
import sys
import time
from pathlib import Path

import job
import ordinal_benchmark
import ordinal_boosting
import ordinal_margins
import ordinal_nine
from measuring import single_thread
from remembered import FOLDER, Remembered

from structperc.errors import MissingData, MissingExtra
from structperc.plugin_tools import available_cores

KEPT = "Fits of former runs count and are not repeated: the time above may be only that of the last run."
PARTS = {"margins": ordinal_margins, "nine": ordinal_nine, "benchmark": ordinal_benchmark, "boosting": ordinal_boosting}


def main():
    single_thread()
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=tuple(PARTS), help="only these experiments")
    parser.add_argument("--full", action="store_true", help="the published numbers of epochs throughout: days")
    parser.add_argument("--jobs", type=int, default=available_cores(), help="processes that fit at the same time (default: one a core)")
    parser.add_argument("--seconds", type=float, help="after which no further fit of an experiment begins; tables have the number of fits")
    parser.add_argument("--kept", type=Path, default=FOLDER, help="folder of fits that later runs need not repeat (default: %(default)s)")
    parser.add_argument("--anew", action="store_true", help="forget them")
    chosen = job.options(parser)
    for name in chosen.only:
        part, path = PARTS[name], chosen.kept / f"{name}{'-quick' * chosen.quick}.jsonl"
        if chosen.anew:
            path.unlink(missing_ok=True)
        kept = Remembered(path, chosen.jobs, None if chosen.seconds is None else time.monotonic() + chosen.seconds)
        job.carry_out(chosen, part.NAME, part.TITLE, functools.partial(part.measure, chosen, kept), functools.partial(report, part),
                      part.goals, part.draw)


def report(part, raw):
    """The tables, below a word about the time."""
    return f"{KEPT}\n\n{part.report(raw)}"


if __name__ == "__main__":
    try:
        main()
    except (MissingData, MissingExtra) as error:
        sys.exit(str(error))
