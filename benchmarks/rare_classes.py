"""Rare classes: how many of a rare label are found as its weight grows, beside logistic regression with the same weights."""

import warnings

import job
import numpy as np
from figures import MARKERS, new
from measuring import table
from ordinal_data import numbers
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from structperc.errors import WeightWarning
from structperc.estimators import CuSumRank, IntervalPA, PRank, StructuredClassifier

WEIGHTS, SPLITS, MOST, NEAR = (1, 3, 10, 30, 100), 10, 1000, 0.05
LOGISTIC = "LogisticRegression"
OURS = {one.__name__: one for one in (CuSumRank, PRank, IntervalPA, StructuredClassifier)}
LEARNERS = {LOGISTIC: lambda rare, weight: make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000, class_weight={rare: weight}))}
for _name, _make in OURS.items():
    LEARNERS[_name] = lambda rare, weight, make=_make: make(random_state=0, class_weight={rare: weight})
LEARNERS["CuSumRank, weighting=\"steps\""] = lambda rare, weight: CuSumRank(random_state=0, class_weight={rare: weight}, weighting="steps")
LEARNERS["CuSumRank, cost matrix"] = lambda rare, weight: CuSumRank(random_state=0, loss=cost_matrix(rare, weight))


def diabetes():
    """Patients in three levels of progression: the last fifth is severe."""
    X, y = load_diabetes(return_X_y=True)
    return X, 1 + np.digitize(y, np.quantile(y, [0.4, 0.8]))


def abalone():
    """Abalone in four levels of age: the last tenth is old."""
    X, age = numbers("chu_ghahramani/abalone.csv")
    return X, 1 + np.digitize(age, np.quantile(age, [0.3, 0.6, 0.9]))


SETS = {"diabetes, severe": diabetes, "abalone, old": abalone}


def cost_matrix(n_labels, weight):
    """Absolute costs, those of the last label as often."""
    costs = np.abs(np.subtract.outer(np.arange(n_labels), np.arange(n_labels))).astype(float)
    costs[-1] *= weight
    return costs


def measured(model, X, y, learned, tested):
    """Recall of the last label, the share of rows with this prediction, and the mean absolute error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeightWarning)          # of weighting="steps"
        model.fit(X[learned], y[learned])
    answers, rare = model.predict(X[tested]), y[tested] == y.max()
    return [float((answers[rare] == y.max()).mean()), float((answers == y.max()).mean()), float(np.abs(answers - y[tested]).mean())]


def measure(quick):
    found = {}
    for name, rows in list(SETS.items())[:1 if quick else None]:
        X, y = rows()
        found[name] = {learner: [] for learner in LEARNERS}
        for learner, make in LEARNERS.items():
            for weight in WEIGHTS:
                results = []
                for seed in range(2 if quick else SPLITS):
                    order, n = np.random.default_rng(seed).permutation(len(y)), min(MOST, 2 * len(y) // 3)
                    results.append(measured(make(int(y.max()), weight), X, y, order[:n], order[n:]))
                found[name][learner].append(np.mean(results, axis=0).tolist())
    return {"found": found}


def report(raw):
    parts = [f"- The rare label weighs 1 to {WEIGHTS[-1]}, all others 1. Means of {SPLITS} random splits: two thirds of the rows, {MOST:,} "
             f"at most, to learn from. {LOGISTIC} has a StandardScaler before it. structperc's estimators have their defaults.",
             "- A cell has the recall of the rare label / the share of rows predicted so / the mean absolute error."]
    for name, learners in raw["found"].items():
        rows = [[learner, *("/".join(f"{value:.2f}" for value in one) for one in results)] for learner, results in learners.items()]
        parts += [f"## {name}", table(["learner", *(f"weight {weight}" for weight in WEIGHTS)], rows)]
    return "\n\n".join(parts)


def goals(raw):
    """The area under the curve of recall over the logarithm of the weight, no less than logistic regression's."""
    reached = []
    for name, learners in raw["found"].items():
        recalls = {learner: np.mean([one[0] for one in results]) for learner, results in learners.items()}
        for ours in OURS:
            apart = recalls[ours] - recalls[LOGISTIC]
            reached.append(job.Goal(f"{name}: mean recall of {ours} less {LOGISTIC}'s", f"≥ {-NEAR}", f"{apart:+.3f}",
                                    bool(apart >= -NEAR)))
    return reached


def draw(raw, folder):
    figure, axes = new(9.0, 4.0, len(raw["found"]))
    for one, (name, learners) in zip(np.atleast_1d(axes), raw["found"].items(), strict=True):
        for i, (learner, results) in enumerate(learners.items()):
            style = {"linestyle": "-" if learner == LOGISTIC else "--", "color": "0" if learner == LOGISTIC else str(0.1 * i)}
            one.plot(WEIGHTS, [result[0] for result in results], marker=MARKERS[i], markersize=5, label=learner, **style)
        one.set_xscale("log")
        one.set_xticks(WEIGHTS, map(str, WEIGHTS))
        one.set_ylim(0, 1.02)
        one.set_xlabel("weight of the rare label")
        one.set_title(name, loc="left")
    first = np.atleast_1d(axes)[0]
    first.set_ylabel("recall of the rare label")
    first.legend(frameon=False, fontsize=7, loc="lower right")
    figure.savefig(folder / "rare-classes.png")


if __name__ == "__main__":
    job.run("rare_classes", "Rare classes: recall over weight", measure, report, goals, draw)
