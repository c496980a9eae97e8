"""Exact passive-aggressive ranking beside PRank's perceptron: nanoseconds per example, and how many trials take a step."""

import functools

import datasets
import job
import numpy as np
from measuring import example_costs, median, ratios, spread, table, take_turns

from structperc import Engine
from structperc.callbacks import History

UPDATES = ("exact-pa", "exact-pa1", "exact-pa2")
C = 0.01
OVER_PRANK = 1.3        # most that an example may take, in times of PRank's perceptron, with 5 ranks
MANY, MOST = 1000, 20   # thresholds, and the microseconds that an example may take with them
NAMES = {"prank": "prank, perceptron", **{update: f"interval-pa, {update}" for update in UPDATES}}
PROBLEMS = {"prank": ("prank", {}), "exact-pa": ("interval-pa", {"update": "exact-pa"}),
            **{update: ("interval-pa", {"update": update, "C": C}) for update in UPDATES[1:]}}


def workloads(quick):
    """(data, epochs to time), in file order."""
    small = 10 if quick else 1
    yield datasets.dense(4_000, 10, seed=1), 100 if quick else 400
    yield datasets.dense(200_000 // small, 50, seed=2), 5
    yield datasets.dense(200_000 // small, 136, seed=3, proportions=datasets.GRADES, heavy_tails=True), 3
    yield datasets.dense(20_000 // small, 50, seed=7, proportions=np.full(MANY + 1, 1 / (MANY + 1)), noise=0.05), 3


def measure(quick):
    return {"cases": [compare(data, epochs) for data, epochs in workloads(quick)]}


def compare(data, epochs):
    """Nanoseconds per example and epoch. Shares of examples that change the weights in epochs after the first."""
    contenders, steps = {}, {}
    for name in NAMES:
        fit = functools.partial(train, data, name)
        record = fit(1 + epochs).records
        steps[name] = sum(one.updates for one in record[1:]) / (epochs * data.n)
        contenders[name] = functools.partial(example_costs, fit, epochs, data.n)
    return {"name": data.name, "thresholds": int(data.y.max()), "epochs": epochs, "steps": steps, "nanoseconds": take_turns(contenders)}


def train(data, name, epochs):
    history = History()
    problem, options = PROBLEMS[name]
    engine = Engine(problem, preset="paper", epochs=epochs, classes=np.arange(data.y.max() + 1), plugins=[history],
                    **options).fit(data.X, data.y)
    if len(engine.mistakes_) < epochs:
        raise RuntimeError(f"{name} on {data.name} converged after {len(engine.mistakes_)} of {epochs} epochs, so its time means nothing; "
                           f"use more rows.")
    return history


# ---- what is shown ----

def report(raw):
    rows = []
    for case in raw["cases"]:
        times = case["nanoseconds"]
        for name, label in NAMES.items():
            over = "1" if name == "prank" else spread(ratios(times[name], times["prank"]))
            rows.append([case["name"], f"{case['thresholds']:,}", label, spread(times[name]), over, f"{case['steps'][name]:.1%}"])
    return "\n\n".join([
        "CPU time of an example in an epoch, exact labels, file order, weights not averaged, C = "
        f"{C:g}. A perceptron steps when its prediction is wrong. Exact passive-aggressive learners also step if a right one is in "
        "the margin of a threshold, which is more often. So the last column, the share of examples that change the weights, belongs to the "
        "times: a step costs a norm of the row and its addition to the weights.",
        table(["data", "thresholds", "learner", "nanoseconds", "÷ prank", "examples with a step"], rows)])


def goals(raw):
    reached = []
    for case in raw["cases"]:
        times = case["nanoseconds"]
        for update in UPDATES:
            if case["thresholds"] == MANY:
                micro = [nanoseconds / 1e3 for nanoseconds in times[update]]
                reached.append(job.Goal(f"{update}, {case['name']}, {MANY:,} thresholds, microseconds an example", f"≤ {MOST}",
                                        spread(micro), median(micro) <= MOST))
            else:
                over = ratios(times[update], times["prank"])
                reached.append(job.Goal(f"{update} ÷ prank, {case['name']}, 5 ranks", f"≤ {OVER_PRANK}", spread(over),
                                        median(over) <= OVER_PRANK))
    return reached


def draw(raw, folder):
    """Two numbers a line need no figure."""


if __name__ == "__main__":
    job.run("exact", "Exact passive-aggressive ranking", measure, report, goals, draw)
