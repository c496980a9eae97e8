"""Runs the torture tests: kill -9, also of workers of Dask, Ctrl-C, full disks, threads and long streams.

Prints a line for each part, and one for each kind of wrong outcome. By default it runs for about a minute. With --full it makes as many
tries as docs/reliability.md reports. --part selects parts.
"""

import argparse
import os
import sys
import time
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")      # before numpy: children are forked

PARTS = {       # name: (module, function, number by default, number with --full)
    "kills": ("kills", "resumed", 70, 1050),
    "rows": ("interrupts", "one_row_calls", 4000, 100_000),
    "fits": ("interrupts", "fits", 200, 5000),
    "saves": ("interrupts", "saves", 1000, 11_200),
    "commands": ("interrupts", "commands", 60, 1300),
    "disk": ("full_disk", "saves", 50, 1000),
    "workers": ("workers", "killed", 3, 60),
    "threads": ("threads", "trainers_and_readers", 0.15, 10),
    "growth": ("growth", "one_row_calls", 200_000, 20_000_000),
}


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="make torture", description=__doc__.split("\n")[0])
    parser.add_argument("--full", action="store_true", help="the numbers that are reported; the better part of an hour")
    parser.add_argument("--part", choices=PARTS, action="append", help="a part, may be repeated; without it all")
    parser.add_argument("--number", type=float, help="how many kills, interrupts or calls of each part, or minutes of threads")
    arguments = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    wrong = 0
    for name in arguments.part or PARTS:
        module, function, small, large = PARTS[name]
        number = arguments.number or (large if arguments.full else small)
        run = getattr(__import__(f"torture.{module}", fromlist=[function]), function)
        began = time.perf_counter()
        report = run(number if name == "threads" else int(number))
        print(f"{report}\n    {time.perf_counter() - began:.0f} s", flush=True)
        wrong += len(report.wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
