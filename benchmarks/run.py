"""Runs all benchmarks one after the other, prints their tables and writes them with figures; `make bench` calls this.

    python benchmarks/run.py [--quick] [--output FOLDER]
                             [--only epoch peers stream streams fixed predictions doors exact tagging scaling kernels trees boosting
                                     large_margin large_margin_linear arborescences parsing exports mixing mixing_quality mixing_files
                                     rivals]
"""

import argparse
import functools
import subprocess
import sys
import time
from pathlib import Path

import job
from reproduce_all import MEASURED

from structperc.errors import MissingData, MissingExtra
from structperc.files.datasets import load_conll2000, load_ud_english_ewt


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=MEASURED, default=MEASURED, help="only these scripts")
    chosen = job.options(parser)
    begin = time.perf_counter()
    for name in chosen.only:
        if name in ("tagging", "trees", "parsing", "exports", "mixing", "mixing_quality") and missing():
            print(f"{name} is left out: {missing()}", flush=True)
            continue
        subprocess.run([sys.executable, Path(__file__).with_name(f"{name}.py"), "--output", chosen.output, *["--quick"] * chosen.quick],
                       check=True)
    if chosen.output == job.RESULTS:
        subprocess.run([sys.executable, Path(__file__).with_name("missed.py")], check=True)
    print(f"\nTables and figures: {chosen.output} ({time.perf_counter() - begin:.0f} s)")


@functools.cache
def missing():
    """Why there are no sentences to tag, or None."""
    try:
        load_conll2000()
        load_ud_english_ewt()
    except (MissingData, MissingExtra) as error:
        return str(error)


if __name__ == "__main__":
    main()
