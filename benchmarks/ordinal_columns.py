"""Columns as they come: defaults on raw columns beside mord and logistic regression on standardised ones, six ordinal sets."""

import warnings

import job
import mord
import numpy as np
from measuring import cpu_seconds, median, table
from ordinal_data import equal_frequency, numbers
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from structperc.estimators import CuSumRank, IntervalPA, PRank

SETS = ("abalone", "stocksdomain", "bostonhousing", "autompg", "machinecpu", "wisconsin")       # the six largest
RANKS, SPLITS, MOST, BINS = 5, 10, 1000, 10
MORD, LOGISTIC = "mord LogisticAT", "LogisticRegression"
OURS = {"CuSumRank": CuSumRank, "PRank": PRank, "IntervalPA": IntervalPA}
LEARNERS = {LOGISTIC: lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
            MORD: lambda: make_pipeline(StandardScaler(), mord.LogisticAT())}
for _name, _make in OURS.items():
    LEARNERS[_name] = lambda make=_make: make(random_state=0)
    LEARNERS[f"{_name}, calibrate=True"] = lambda make=_make: make(random_state=0, calibrate=True)
    LEARNERS[f"{_name}, scale=False"] = lambda make=_make: make(random_state=0, scale=False)
TIMED = {f"{name}, {what}": (make, options) for name, make in OURS.items()
         for what, options in (("as it was", {"scale": False}), ("scale", {}), ("scale and calibrate", {"calibrate": True}))}


def load(name):
    """Columns and ranks of a set."""
    X, target = numbers(f"chu_ghahramani/{name}.csv")
    return X, equal_frequency(target, RANKS)


def calibration_error(p, codes):
    """Expected calibration error of the predicted label: bins of equal width, weighted by their number of predictions."""
    sure, right = p.max(axis=1), p.argmax(axis=1) == codes
    which = np.minimum((sure * BINS).astype(int), BINS - 1)
    return float(sum(abs(sure[which == k].mean() - right[which == k].mean()) * (which == k).mean() for k in np.unique(which)))


def measured(make, X, y, learned, tested):
    """Mean absolute error, log loss and expected calibration error on rows never seen."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                     # scale=False warns of the columns
        model = make().fit(X[learned], y[learned])
    p, codes = model.predict_proba(X[tested]), y[tested] - 1
    loss = -np.log(np.maximum(p[np.arange(len(codes)), codes], 1e-300)).mean()
    return float(np.abs(model.predict(X[tested]) - y[tested]).mean()), float(loss), calibration_error(p, codes)


def measure(quick):
    found = {}
    for name in SETS[-1:] if quick else SETS:
        X, y = load(name)
        found[name] = {learner: [] for learner in LEARNERS}
        for seed in range(2 if quick else SPLITS):
            order, n = np.random.default_rng(seed).permutation(len(y)), min(MOST, 2 * len(y) // 3)
            for learner, make in LEARNERS.items():
                found[name][learner].append(measured(make, X, y, order[:n], order[n:]))
    return {"found": found, "times": times(quick)}


def times(quick):
    """Median CPU seconds of a fit and of a prediction of made-up rows, the contenders in turn."""
    random = np.random.default_rng(0)
    X = random.normal(size=(500 if quick else 20_000, 30))
    y = np.digitize(X[:, 0] + random.normal(size=len(X)), [-1, 0, 1]) + 1
    seconds = {name: ([], []) for name in TIMED}
    for _ in range(1 if quick else 5):
        for name, (make, options) in TIMED.items():
            model = make(random_state=0, **options)
            seconds[name][0].append(cpu_seconds(model.fit, X, y))
            seconds[name][1].append(cpu_seconds(model.predict, X))
    return {name: [median(values) for values in both] for name, both in seconds.items()}


def standard_error(values):
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def report(raw):
    rows = []
    for name, learners in raw["found"].items():
        for learner, results in learners.items():
            error, loss, calibration = np.transpose(results)
            rows.append([name, learner, f"{error.mean():.3f} ± {standard_error(error):.3f}", f"{loss.mean():.3f}",
                         f"{calibration.mean():.3f}"])
    return "\n\n".join([
        f"- Six sets in {RANKS} equally frequent ranks, {SPLITS} random splits: two thirds of the rows, {MOST:,} at most, to learn from. "
        "Means, and standard errors of the mean.",
        f"- {LOGISTIC} and mord stand behind a StandardScaler; structperc's estimators take the columns as they are, with their defaults.",
        "## Errors and probabilities",
        table(["data", "learner", "mean absolute error", "log loss", "calibration error"], rows),
        "## What scaling and calibration cost", "20,000 rows, 30 columns, 4 ranks; CPU milliseconds, medians of five in turn.",
        table(["learner", "fit", "predict"], [[name, *(f"{1000 * one:.1f}" for one in both)] for name, both in raw["times"].items()])])


def goals(raw):
    """No default worse than mord's by more than a standard error of the difference, split by split."""
    reached = []
    for name, learners in raw["found"].items():
        theirs = np.array([one[0] for one in learners[MORD]])
        for ours in OURS:
            apart = np.array([one[0] for one in learners[ours]]) - theirs
            most = standard_error(apart)
            reached.append(job.Goal(f"{name}: error of {ours} beyond mord's", f"≤ {most:.3f}", f"{apart.mean():+.3f}",
                                    bool(apart.mean() <= most)))
    return reached


def draw(raw, folder):
    """None. The table has all figures."""


if __name__ == "__main__":
    job.run("ordinal_columns", "Columns as they come: scaling and calibration", measure, report, goals, draw)
