"""This checkout beside another commit: both built, cases run in turns, ratios with their spread; `make bench-compare REF=COMMIT`.

A case's ratio is our CPU seconds through the other commit's, within a round: below 1 is faster. Builds of commits are kept in
build/compare. Results are in benchmarks/results/compare: a JSON file for each comparison, and one figure of all of them.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tarfile
import time
from io import BytesIO
from pathlib import Path

import compare_cases
import figures
import job
import numpy as np
from measuring import machine, median, ratios, single_thread, spread, table

ROOT = Path(__file__).parents[1]
BUILDS = ROOT / "build" / "compare"
SURE = 0.95         # of the interval of a ratio's median


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ref", required=True, help="the other commit: a hash, a branch or a tag")
    parser.add_argument("--rounds", type=int, default=16, help="how often each case is run by both, an even number (16)")
    parser.add_argument("--only", nargs="+", choices=compare_cases.CASES, default=list(compare_cases.CASES), metavar="CASE",
                        help=f"only these cases: {', '.join(map(repr, compare_cases.CASES))}")
    parser.add_argument("--output", type=Path, default=job.RESULTS / "compare", help="folder of tables and figures")
    chosen = parser.parse_args()
    single_thread()
    if chosen.rounds < 6 or chosen.rounds % 2:          # the second of a round may be slower, and each side is second equally often
        parser.error(f"--rounds {chosen.rounds}: an interval of {SURE:.0%} needs an even number of rounds, six at least.")
    commits = {"this": commit("HEAD", dirty=True), "other": commit(chosen.ref)}
    with Worker(Path(sys.executable)) as this, Worker(built(commits["other"])) as other:
        cases = compare(this, other, chosen.only, chosen.rounds)
    raw = {"measured": time.strftime("%Y-%m-%d %H:%M"), "machine": machine(), **commits, "rounds": chosen.rounds, "cases": cases}
    chosen.output.mkdir(parents=True, exist_ok=True)
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{commits['this'][:12]}-{commits['other'][:12]}.json"
    chosen.output.joinpath(name).write_text(json.dumps(raw, indent=1) + "\n")
    text = report(raw)
    chosen.output.joinpath("latest.md").write_text(text)
    draw(history(chosen.output), chosen.output / "history.png")
    print(text)


# ---- two commits ----


def commit(name, dirty=False):
    """The full hash of a name, with a plus sign if tracked files differ from it."""
    found = subprocess.run(["git", "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"], cwd=ROOT, capture_output=True, text=True)
    if found.returncode:
        sys.exit(f"compare.py: {name!r} is no commit of this repository; name a hash, a branch or a tag, as `git log` lists them.")
    changed = dirty and subprocess.run(["git", "diff", "--quiet", "HEAD"], cwd=ROOT).returncode
    return found.stdout.strip() + "+" * bool(changed)


def built(commit):
    """Python of a virtual environment with that commit, set up by its own Makefile."""
    folder = BUILDS / commit
    python = folder / ".venv" / "bin" / "python"
    if not (folder / ".venv" / "with-bench").exists():
        print(f"Building {commit[:12]} in {folder.relative_to(ROOT)} ...", flush=True)
        archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
        folder.mkdir(parents=True, exist_ok=True)
        with tarfile.open(fileobj=BytesIO(archive)) as files:
            files.extractall(folder)
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
        subprocess.run(["make", ".venv/with-bench", "VENV=.venv"], cwd=folder, env=environment, check=True)
    return python


class Worker:
    """A process that runs cases when asked."""

    def __init__(self, python):
        self.python = python

    def __enter__(self):
        self.process = subprocess.Popen([self.python, compare_cases.__file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def run(self, case):
        print(case, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())


def compare(this, other, names, rounds):
    """Seconds of both, round by round; who begins changes with every round."""
    cases = {}
    for name in names:
        first = {"this": this.run(name), "other": other.run(name)}       # unmeasured: data are made, memory is touched
        errors = {side: found["error"] for side, found in first.items() if "error" in found}
        cases[name] = {"errors": errors, "same answers": not errors and first["this"]["digest"] == first["other"]["digest"]}
        if errors:
            continue
        seconds = {"this": [], "other": []}
        for i in range(rounds):
            for side in ("this", "other") if i % 2 else ("other", "this"):
                seconds[side].append((this if side == "this" else other).run(name)["seconds"])
        cases[name] |= seconds | {"ratio": ratios(seconds["this"], seconds["other"])}
    return cases


# ---- what is shown ----


def interval(values):
    """Bounds of the median by order statistics: binomial, no assumption on the distribution."""
    values, n, k, outside = sorted(values), len(values), 0, 0.0
    while k < (n - 1) // 2 and 2 * (outside + math.comb(n, k) / 2**n) <= 1 - SURE:
        outside += math.comb(n, k) / 2**n
        k += 1
    k = max(k - 1, 0)
    return values[k], values[n - 1 - k]


def verdict(values):
    low, high = interval(values)
    return "slower" if low > 1 else "faster" if high < 1 else "even"


def report(raw):
    rows = []
    for name, case in raw["cases"].items():
        if case["errors"]:
            rows.append([name, "", "", "", "", "; ".join(f"{side}: {error}" for side, error in case["errors"].items())])
            continue
        low, high = interval(case["ratio"])
        rows.append([name, spread([1e3 * one for one in case["this"]]), spread([1e3 * one for one in case["other"]]),
                     f"{median(case['ratio']):.3f} ({low:.3f}–{high:.3f})", verdict(case["ratio"]),
                     "the same" if case["same answers"] else "differ"])
    changed = " This checkout has changes that are not committed." if raw["this"].endswith("+") else ""
    return "\n\n".join([
        f"# {raw['this'][:12]} beside {raw['other'][:12]}",
        "\n".join(f"- {line}" for line in (*raw["machine"], f"measured {raw['measured']}")),
        f"CPU milliseconds of a call, medians of {raw['rounds']} rounds with their range; the ratio's median with its interval of "
        f"{SURE:.0%}.{changed}",
        table(["case", "this", "other", "this / other", "", "answers"], rows)]) + "\n"


def history(folder):
    """All comparisons, the oldest first."""
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]


def draw(comparisons, path):
    """A panel for each case; from left to right the comparisons, each with its ratio and bounds."""
    names = [name for name in compare_cases.CASES if any(not one["cases"].get(name, {"errors": 1})["errors"] for one in comparisons)]
    if not names:
        return
    columns = 3
    figure = figures.Figure(figsize=(10, 1.9 * -(-len(names) // columns) + 0.8), layout="constrained", dpi=150)
    panels = figure.subplots(-(-len(names) // columns), columns, squeeze=False, sharex=True).ravel()
    for panel in panels[len(names):]:
        panel.set_visible(False)
    for panel, name in zip(panels, names, strict=False):
        shown = [(i, one["cases"][name]["ratio"]) for i, one in enumerate(comparisons) if "ratio" in one["cases"].get(name, {})]
        middle = np.array([median(values) for _, values in shown])
        low, high = np.array([interval(values) for _, values in shown]).T
        panel.errorbar([i for i, _ in shown], middle, [middle - low, high - middle], fmt="o-", color="0.15", capsize=3, linewidth=1)
        panel.axhline(1, color="0.5", linestyle="--", linewidth=0.8)
        panel.set_title(name, loc="left", fontsize=9)
        panel.yaxis.set_major_formatter("{x:.3g}")
        panel.set_xticks(range(len(comparisons)), [f"{one['this'][:7]}\n/ {one['other'][:7]}" for one in comparisons], fontsize=7)
        panel.spines[["top", "right"]].set_visible(False)
    figure.supylabel("CPU time, this / other", fontsize=9)
    figure.savefig(path)


if __name__ == "__main__":
    main()
