"""Runs all benchmarks one after the other, prints their tables and writes them with figures; `make bench` calls this.

    python benchmarks/run.py [--quick] [--output FOLDER]
                             [--only epoch peers stream streams fixed predictions exact tagging scaling kernels trees boosting large_margin
                                     large_margin_linear arborescences parsing exports mixing mixing_quality mixing_files
                                     rivals]
"""

import argparse
import functools
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import job

from structperc.errors import MissingData, MissingExtra
from structperc.files.datasets import load_conll2000, load_ud_english_ewt

JOBS = ("epoch", "peers", "stream", "streams", "fixed", "predictions", "exact", "tagging", "scaling", "kernels", "trees", "boosting",
        "large_margin", "large_margin_linear", "arborescences", "parsing", "exports", "mixing", "mixing_quality", "mixing_files", "rivals")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=JOBS, default=JOBS, help="these scripts alone")
    chosen = job.options(parser)
    begin = time.perf_counter()
    for name in chosen.only:
        if name in ("tagging", "trees", "parsing", "exports", "mixing", "mixing_quality") and missing():
            print(f"{name} is left out: {missing()}", flush=True)
            continue
        subprocess.run([sys.executable, Path(__file__).with_name(f"{name}.py"), "--output", chosen.output, *["--quick"] * chosen.quick],
                       check=True)
    print(summary(chosen.output))
    print(f"\nTables and figures: {chosen.output} ({time.perf_counter() - begin:.0f} s)")


@functools.cache
def missing():
    """Why there are no sentences to tag, or None."""
    try:
        load_conll2000()
        load_ud_english_ewt()
    except (MissingData, MissingExtra) as error:
        return str(error)


def summary(folder):
    """All goals of all scripts on one page; written and returned. A script without figures in the folder keeps its part of the page."""
    page = folder / "goals.md"
    kept = dict(re.findall(r"^## (\w+): (.*?)(?=^## |\Z)", page.read_text() if page.exists() else "", re.MULTILINE | re.DOTALL))
    parts = ["# Goals"]
    for name in JOBS:
        path = folder / f"{name}.json"
        if path.exists():
            raw = json.loads(path.read_text())
            goals = [job.Goal(**goal) for goal in raw["goals"]]
            met = sum(goal.met for goal in goals)
            parts += [f"## {name}: {met} of {len(goals)} met", *job.heading(raw), job.goal_table(goals)]
        elif name in kept:
            parts.append(f"## {name}: {kept[name].strip()}")
    text = "\n\n".join(parts) + "\n"
    page.write_text(text)
    return text


if __name__ == "__main__":
    main()
