"""Kernel CuSum on the nine sets of Chu and Ghahramani: beside the linear one, kernel PRank, support vectors, and what was published."""

import concurrent.futures
import functools
import itertools
import sys
import time

import attrs
import figures
import job
import numpy as np
import verdicts
from measuring import shown, table
from published import NINE as PUBLISHED
from published import NINE_DIGITS
from sklearn.model_selection import RepeatedKFold
from sklearn.svm import SVC, SVR
from verdicts import mean, standard_error

from structperc import Engine
from structperc.errors import MissingData, MissingExtra
from structperc.files.datasets import BINS, PARTITIONED, load_partitions
from structperc.plugin_tools import available_cores

GAMMAS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)       # of the RBF kernel, times the number of features: what is tried
EPOCHS = (5, 20, 80, 320)
UPDATES = ({"update": "perceptron"}, {"update": "perceptron", "loss_weight": 1.0},
           *({"update": "pa1", "loss_weight": 1.0, "C": C} for C in (0.03, 0.3)))
CS = (0.1, 1.0, 10.0, 100.0, 1000.0)    # of SVC and SVR
EPSILONS = (0.1, 0.3)                   # of SVR, in ranks
FOLDS, FOLDED_ROWS = 5, 200             # folds are drawn again until so many rows were held out
LIMIT = 600                             # seconds of everything, on two cores

OURS, SVM, CUSUM = "kernel CuSum", "published SVM", "published CuSum"


# ---- learners ----

def engine(problem, bins, kernel=False, gamma=None, **options):
    """A learner with fit and predict; gamma is set by the caller's number of features."""
    if kernel:
        options |= {"plugins": ["dual-kernel"], "kernel": "rbf", "gamma": gamma}
    return Engine(problem, preset="paper", average=True, shuffle=True, random_state=0, classes=np.arange(1, bins + 1), **options)


class RoundedSVR(SVR):
    """Predicts whole ranks of those that there are."""

    bins = None

    def predict(self, X):
        return np.clip(np.rint(super().predict(X)), 1, self.bins)


def rounded_svr(bins, **options):
    learner = RoundedSVR(**options)
    learner.bins = bins
    return learner


def svc(bins, **options):
    return SVC(**options)


def grid(**choices):
    """All combinations, the first choice of each first."""
    return [dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())]


def trained(updates, **choices):
    return [update | rest for rest in grid(**choices) for update in updates]


PERCEPTRONS = [one for one in UPDATES if one["update"] == "perceptron"]
LEARNERS = {                            # what makes one, of what, and whether it has a kernel
    "linear CuSum": (functools.partial(engine, "cusum"), trained(UPDATES, epochs=EPOCHS)),
    OURS: (functools.partial(engine, "cusum", kernel=True), trained(UPDATES, gamma=GAMMAS, epochs=EPOCHS)),
    "kernel PRank": (functools.partial(engine, "prank", kernel=True), trained(PERCEPTRONS, gamma=GAMMAS, epochs=EPOCHS)),
    "SVC": (svc, grid(gamma=GAMMAS, C=CS)),
    "SVR, rounded": (rounded_svr, grid(gamma=GAMMAS, C=CS, epsilon=EPSILONS)),
}


# ---- runs ----

def measure(quick):
    begin = time.perf_counter()
    names = ("diabetes", "pyrimidines") if quick else tuple(PARTITIONED)
    cases = [(name, bins, 3 if quick else 20) for name in names for bins in BINS]
    for name in names:
        load_partitions(name)           # fetched once, or missed before anything has begun
    with concurrent.futures.ProcessPoolExecutor(available_cores()) as pool:
        found = list(pool.map(compare, *zip(*reversed(cases), strict=True)))        # the largest sets first: none is left over at the end
    return {"cases": found[::-1], "wall_seconds": time.perf_counter() - begin}


def compare(name, bins, most):
    """What partition 1 chooses for each learner, and the errors on the test parts of all partitions."""
    partitions = load_partitions(name, bins)[:most]
    first, learners = partitions[0], {}
    for learner, (make, choices) in LEARNERS.items():
        begin = time.process_time()
        options, expected = selected(make, choices, first.X, first.y, bins)
        errors = [error(make, options, one.X, one.y, one.X_test, one.y_test, bins) for one in partitions]
        learners[learner] = {"options": options, "expected": expected, "errors": errors, "seconds": time.process_time() - begin}
    return {"name": name, "bins": bins, "rows": len(first.y), "tests": len(first.y_test), "features": first.X.shape[1],
            "median": [float(np.abs(np.median(one.y) - one.y_test).mean()) for one in partitions], "learners": learners}


def selected(make, choices, X, y, bins):
    """The options with the smallest mean absolute error in cross-validation of these rows, the first of those that tie."""
    repeats = max(1, FOLDED_ROWS // len(y))
    folds = list(RepeatedKFold(n_splits=FOLDS, n_repeats=repeats, random_state=0).split(X))
    means = [np.average([error(make, options, X[rows], y[rows], X[held], y[held], bins) for rows, held in folds],
                        weights=[len(held) for _, held in folds]) for options in choices]
    return choices[int(np.argmin(means))], float(min(means))


def error(make, options, X, y, X_test, y_test, bins):
    """Mean absolute error of ranks; features are standardised by the rows to learn from."""
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    deviation[deviation == 0] = 1.0
    if "gamma" in options:
        options = options | {"gamma": options["gamma"] / X.shape[1]}
    learner = make(bins, **options).fit((X - mean) / deviation, y)
    return float(np.abs(learner.predict((X_test - mean) / deviation) - y_test).mean())


# ---- what follows from the numbers ----

def beside(case, rival):
    """The verdict on ours beside a rival on the same partitions."""
    return verdicts.of_pairs(np.subtract(case["learners"][rival]["errors"], case["learners"][OURS]["errors"]))


def beside_published(case, column):
    """The same against a published mean."""
    errors = case["learners"][OURS]["errors"]
    return verdicts.of_runs(errors, PUBLISHED[case["bins"]][case["name"]][column], NINE_DIGITS, case["median"])


RIVALS = {learner: functools.partial(beside, rival=learner) for learner in LEARNERS if learner != OURS} | {
    CUSUM: functools.partial(beside_published, column=1), SVM: functools.partial(beside_published, column=0)}


@attrs.frozen
class Standing:
    """The sets with each verdict on ours beside a rival."""

    better: list
    even: list
    worse: list
    constant: list

    @classmethod
    def of(cls, cases, verdict):
        found = {verdicts.BETTER: [], verdicts.EVEN: [], verdicts.WORSE: [], verdicts.CONSTANT: []}
        for case in cases:
            found[verdict(case)].append(case["name"])
        return cls(*found.values())

    @property
    def holds(self):
        if self.worse:
            return "no" if len(self.worse) >= len(self.better) else "mostly"
        return "yes" if self.better else "even"


def standings(raw, bins):
    cases = [case for case in raw["cases"] if case["bins"] == bins]
    return {rival: Standing.of(cases, verdict) for rival, verdict in RIVALS.items()}


# ---- what is shown ----

def report(raw):
    count = len(raw["cases"][0]["learners"][OURS]["errors"])
    parts = [f"Mean absolute error of the ranks on the test parts of {count} partitions, with its standard error, deviation / √{count}. "
             "The partitions share rows, so it is rather too small. In bold: the smallest of those measured here.", choices()]
    for bins in BINS:
        parts += [f"## {bins} bins", error_table(raw, bins)]
    parts += ["![Errors, over those of linear CuSum; bars: two standard errors](reproduce-kernel.png)", "## What holds",
              f"{OURS} beside each of the others, set by set. Learners on the same partitions are compared by the differences partition by "
              f"partition. {verdicts.RULE}",
              claim_table(raw), "## What was chosen",
              "On the training part of partition 1. Expected: the error in the cross-validation that chose it. Seconds: CPU time of all "
              "its fits, choosing included.", choice_table(raw)]
    return "\n\n".join(parts)


def choices():
    return "\n".join([
        f"- Options are chosen only on the training part of partition 1, by {FOLDS}-fold cross-validation. It is repeated until "
        f"{FOLDED_ROWS} rows were held out. All partitions use them. Test parts take no part in it.",
        f"- RBF kernel, gamma of {listed(GAMMAS)} divided by the number of features. Features have mean 0 and variance 1 in the "
        "rows learned from; constant ones are only centred.",
        f"- CuSum and PRank: averaged, shuffled, {listed(EPOCHS)} epochs; perceptron with augment 0 or 1; CuSum also PA-I with augment 1 "
        f"and C of {listed(one['C'] for one in UPDATES if 'C' in one)}. Fewer epochs end when one made no mistake.",
        f"- SVC and SVR are scikit-learn's, C of {listed(CS)}. SVR has epsilon of {listed(EPSILONS)} and the ranks as numbers. "
        "Its predictions are rounded and clipped. SVC knows nothing of the order of classes, nor of classes that its rows lack.",
        "- Published (Milidiú and Rocha): the kernel SVM of Chu and Ghahramani, and CuSum on the 1000 hidden outputs of a network trained "
        "first. Kernel CuSum replaces that network, so the published CuSum is not the same learner.",
    ])


def listed(values):
    return ", ".join(f"{value:g}" for value in values)


def error_table(raw, bins):
    rows = []
    for case in raw["cases"]:
        if case["bins"] == bins:
            found = {learner: one["errors"] for learner, one in case["learners"].items()}
            best = min(map(mean, found.values()))
            rows.append([case["name"], f"{case['rows']} / {case['tests']}", case["features"],
                         *(f"**{told(errors)}**" if mean(errors) == best else told(errors) for errors in found.values()),
                         *(f"{value:.3f}" for value in PUBLISHED[bins][case["name"]])])
    return table(["data", "rows / test", "features", *LEARNERS, SVM, CUSUM], rows)


def told(errors):
    return f"{mean(errors):.3f} ± {standard_error(errors):.3f}"


def claim_table(raw):
    rows = []
    for bins in BINS:
        for rival, found in standings(raw, bins).items():
            rows.append([f"{bins} bins: {OURS} beats {rival}", found.holds,
                         *(", ".join(names) or "none" for names in (found.better, found.even, found.worse, found.constant))])
    for bins in BINS:
        cases = [case for case in raw["cases"] if case["bins"] == bins]
        theirs = [case["name"] for case in cases if PUBLISHED[bins][case["name"]][1] < PUBLISHED[bins][case["name"]][0]]
        ours = [case["name"] for case in cases if mean(case["learners"][OURS]["errors"]) < PUBLISHED[bins][case["name"]][0]]
        kept = [name for name in theirs if name in ours]
        rows.append([f"{bins} bins: the paper's claim that CuSum has the smaller mean than the SVM on {', '.join(theirs)}",
                     "yes" if kept == theirs else f"{len(kept)} of {len(theirs)}", ", ".join(ours) or "none", "",
                     ", ".join(case["name"] for case in cases if case["name"] not in ours) or "none", ""])
    return table(["claim", "holds", "better on", "even on", "worse on", "constant on"], rows)


def choice_table(raw):
    rows = []
    for case in raw["cases"]:
        for learner, one in case["learners"].items():
            said = ", ".join(value if name == "update" else f"{name} {value:g}" for name, value in one["options"].items())
            rows.append([case["name"], case["bins"], learner, said.replace("gamma ", "gamma · features "), f"{one['expected']:.3f}",
                         f"{mean(one['errors']):.3f}", shown(one["seconds"], 2)])
    return table(["data", "bins", "learner", "options", "expected", "error", "seconds"], rows)


def goals(raw):
    return [job.Goal("the whole experiment, seconds", f"≤ {LIMIT}", f"{raw['wall_seconds']:.0f}", raw["wall_seconds"] <= LIMIT)]


def draw(raw, folder):
    """A panel for each number of bins: errors with two standard errors, beside the published means, all over the first learner's error."""
    figure, axes = figures.new(14, 4.6, len(BINS))
    first, *_ = LEARNERS
    for bins, one in zip(BINS, axes, strict=True):
        cases = [case for case in raw["cases"] if case["bins"] == bins]
        unit = np.array([mean(case["learners"][first]["errors"]) for case in cases])
        series = {learner: ([mean(case["learners"][learner]["errors"]) for case in cases],
                            [2 * standard_error(case["learners"][learner]["errors"]) for case in cases]) for learner in LEARNERS}
        series |= {label: ([PUBLISHED[bins][case["name"]][column] for case in cases], None) for label, column in ((SVM, 0), (CUSUM, 1))}
        for i, (label, (errors, reach)) in enumerate(series.items()):
            at = np.arange(len(cases)) + 0.12 * (i - (len(series) - 1) / 2)
            one.errorbar(at, errors / unit, yerr=None if reach is None else reach / unit, linestyle="", marker=figures.MARKERS[i],
                         markersize=5, color="black", elinewidth=0.8, capsize=1.5, label=label,
                         markerfacecolor="black" if label == OURS else "0.75" if label in LEARNERS else "white")
        one.axhline(1, color="black", linewidth=0.8)
        one.set(title=f"{bins} bins", ylabel=f"mean absolute error ÷ that of {first}")
        one.set_xticks(np.arange(len(cases)), [case["name"] for case in cases], rotation=30, ha="right")
        one.set_xticks(np.arange(len(cases) + 1) - 0.5, [""] * (len(cases) + 1), minor=True)
        one.grid(axis="x", which="minor", color="0.9", linewidth=0.8)
        one.grid(axis="x", which="major", visible=False)
        one.tick_params(axis="x", which="both", length=0)
    figure.legend(*one.get_legend_handles_labels(), frameon=False, loc="outside right center")
    figure.savefig(folder / "reproduce-kernel.png")


if __name__ == "__main__":
    try:
        job.run("reproduce-kernel", "Kernel CuSum on nine ordinal data sets", measure, report, goals, draw)
    except (MissingData, MissingExtra) as error:
        sys.exit(str(error))
