"""Whole fits and held-out errors: the engine beside mord, skordinal and scikit-learn on dense ordinal data.

Left out, since they take minutes: mord's LAD; skordinal's neural networks (NNOP, NNPOM) and kernel methods (SVOR, REDSVM, KDLOR).
"""

import functools
import gc
import warnings

import datasets
import figures
import job
import mord
import numpy as np
import skordinal.classifiers
from measuring import cpu_seconds, median, ratios, shown, spread, table, take_turns
from sklearn import linear_model

from structperc import Engine
from structperc.estimators import CuSumRank, PRank

DEFAULTS = {"structperc CuSumRank()": functools.partial(CuSumRank, random_state=0),
            "structperc PRank()": functools.partial(PRank, random_state=0)}
PROBLEMS = ("cusum", "prank")
RIVALS = {
    "mord LogisticAT": mord.LogisticAT,
    "mord LogisticIT": mord.LogisticIT,
    "mord OrdinalRidge": mord.OrdinalRidge,
    "skordinal LogisticAT": skordinal.classifiers.LogisticAT,
    "skordinal LogisticIT": skordinal.classifiers.LogisticIT,
    "skordinal POM": skordinal.classifiers.POM,
    "scikit-learn Perceptron": functools.partial(linear_model.Perceptron, random_state=0),
    "scikit-learn SGDClassifier": functools.partial(linear_model.SGDClassifier, random_state=0),
    "scikit-learn LogisticRegression": functools.partial(linear_model.LogisticRegression, max_iter=200),
}
REFERENCE = "mord LogisticAT"
EPOCHS = (1, 2, 3, 5, 10)
SEEDS = (0, 1, 2, 3, 4)
SLACK = 1.01            # "within 1 % of the reference's error"
TIMES_FASTER = 25       # than the reference, on a million rows
BY_DEFAULT = 5          # the same for an estimator with its defaults
LONG = 4.0              # CPU seconds of a fit from which it is measured once, unless it is the reference's


def measure(quick):
    small = 10 if quick else 1
    makers = [functools.partial(datasets.dense, 200_000 // small, 50, seed=2),
              functools.partial(datasets.dense, 1_000_000 // small // small, 136, seed=3, proportions=datasets.GRADES, heavy_tails=True)]
    cases = []
    for make in makers:
        cases.append(compare(make()))
        gc.collect()
    return {"cases": cases}


def compare(data):
    first = {name: fit(make, data) for name, make in RIVALS.items()}
    error = first[REFERENCE]["mae"]
    curves = {problem: [learning_curve(problem, epochs, data) for epochs in EPOCHS] for problem in PROBLEMS}
    needed = {problem: next((e for e, point in zip(EPOCHS, curve, strict=True) if point["mae"] <= SLACK * error), EPOCHS[-1])
              for problem, curve in curves.items()}
    contenders = {label(problem, epochs): functools.partial(fit, functools.partial(engine, problem, epochs), data)
                  for problem, epochs in needed.items()}
    slow = {name: [one] for name, one in first.items() if one["seconds"] > LONG and name != REFERENCE}
    contenders |= {name: functools.partial(fit, make, data) for name, make in (DEFAULTS | RIVALS).items() if name not in slow}
    return {"name": data.name, "rows": data.n, "epochs": needed, "curves": curves, "fits": take_turns(contenders) | slow}


def engine(problem, epochs, seed=0):
    return Engine(problem, preset="paper", average=True, shuffle=True, epochs=epochs, random_state=seed)


def fit(make, data):
    """CPU seconds of a fit, and the mean absolute error of the ranks held out."""
    model = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")     # "did not converge": their own default settings
        seconds = cpu_seconds(model.fit, data.X, data.y)
    ranks = np.clip(np.rint(model.predict(data.X_test)), 0, datasets.RANKS - 1)
    return {"seconds": seconds, "mae": float(np.abs(ranks - data.y_test).mean())}


def learning_curve(problem, epochs, data):
    """Medians over seeds."""
    found = [fit(functools.partial(engine, problem, epochs, seed), data) for seed in SEEDS]
    return {"epochs": epochs, "seconds": median([one["seconds"] for one in found]), "mae": median([one["mae"] for one in found])}


# ---- what is shown ----

def seconds(fits):
    return [one["seconds"] for one in fits]


def label(problem, epochs):
    return f"structperc {problem}, {epochs} epoch{'s' if epochs > 1 else ''}"


def engines(case):
    return {problem: label(problem, case["epochs"][problem]) for problem in PROBLEMS}


def report(raw):
    parts = [f"`CuSumRank()` and `PRank()` have their defaults, probabilities included. Engines are averaged and shuffled. They have "
             f"the fewest epochs whose median error over {len(SEEDS)} seeds is within 1 % of {REFERENCE}'s, or {EPOCHS[-1]} epochs. "
             f"Others have their own settings (LogisticRegression: at most 200 iterations). CPU "
             f"seconds of one thread, medians of the runs with their range; slower than {LONG:g} s: one run, "
             f"{REFERENCE} excepted. Error: mean absolute error on the held-out fifth."]
    for case in raw["cases"]:
        parts += [f"## {case['name']}, {case['rows']:,} rows trained on", fits_table(case), "Error by epochs:", curve_table(case)]
    return "\n\n".join(parts)


def fits_table(case):
    fits, own = case["fits"], engines(case)
    rows = []
    for name, found in sorted(fits.items(), key=lambda item: median(seconds(item[1]))):
        slower = ["" if name.startswith("structperc") else spread(compared(found, fits[ours])) for ours in (*DEFAULTS, *own.values())]
        rows.append([name, spread(seconds(found)), *slower, f"{median([one['mae'] for one in found]):.4f}", len(found)])
    return table(["system", "fit, seconds", *(f"÷ {ours.removeprefix('structperc ')}" for ours in DEFAULTS), "÷ cusum", "÷ prank", "error",
                  "runs"], rows)


def compared(rival, ours):
    """Rival's time over ours, round by round; over our median when it ran once."""
    if len(rival) == len(ours):
        return ratios(seconds(rival), seconds(ours))
    return [median(seconds(rival)) / median(seconds(ours))]


def curve_table(case):
    rows = [[problem, *(f"{point['mae']:.4f}" for point in curve)] for problem, curve in case["curves"].items()]
    return table(["epochs", *EPOCHS], rows)


def goals(raw):
    reached = []
    for case in raw["cases"]:
        fits, large = case["fits"], case is raw["cases"][-1]
        error = median([one["mae"] for one in fits[REFERENCE]])
        times = dict.fromkeys(DEFAULTS, BY_DEFAULT) | dict.fromkeys(engines(case).values(), TIMES_FASTER if large else 1)
        for name, least in times.items():
            own = median([one["mae"] for one in fits[name]])
            faster = compared(fits[REFERENCE], fits[name])
            reached.append(job.Goal(f"times faster than {REFERENCE}: {name}, {case['name']}", f"≥ {least}, error within 1 %",
                                    f"{spread(faster)}, error {own:.4f} against {error:.4f} ({shown(100 * (own / error - 1), 2)} %)",
                                    own <= SLACK * error and median(faster) >= least))
    return reached


def draw(raw, folder):
    panels, curves = {}, {}
    for case in raw["cases"]:
        points = {name: (median(seconds(found)), median([one["mae"] for one in found])) for name, found in case["fits"].items()}
        panels[case["name"]] = {name: point for name, point in points.items() if name in RIVALS}
        curves[case["name"]] = {f"structperc {problem}, {EPOCHS[0]} to {EPOCHS[-1]} epochs":
                                ([p["seconds"] for p in curve], [p["mae"] for p in curve]) for problem, curve in case["curves"].items()}
    figures.scatter(folder / "peers.png", panels, curves, "CPU seconds of a fit", "mean absolute error, held out")


if __name__ == "__main__":
    job.run("peers", "Whole fits beside others", measure, report, goals, draw)
