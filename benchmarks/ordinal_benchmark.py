"""Support vector ordinal regression on the eight sets of the boosting experiment, beside the published benchmark."""

import itertools
import time

import numpy as np
import ordinal_data
import verdicts
from measuring import shown, table
from nine_learners import LEARNERS
from ordinal_boosting import cost, told
from published import SVOR_BENCHMARK as PUBLISHED
from published import SVOR_DIGITS
from remembered import Fit
from reproduce_kernel import CS, GAMMAS, listed
from sklearn.model_selection import KFold
from verdicts import mean, standard_error

NAME, TITLE = "reproduce-ordinal-benchmark", "Support vector ordinal regression on eight ordinal data sets"
CONSTRAINTS = ("SVOREX", "SVORIM")
FOLDS, CHOSEN_ROWS = 5, 500                # options are chosen on so many of the rows to learn from


# ---- runs ----

def measure(chosen, kept):
    names = ("pyrimidines",) if chosen.quick else tuple(ordinal_data.SETS)
    ordinal_data.require(names)
    cases = [{"name": name, "learner": learner, "quick": chosen.quick} for name, learner in itertools.product(names, CONSTRAINTS)]
    choices = [case | one for case, one in zip(cases, kept.results([Fit(choice, case) for case in cases]), strict=True) if one]
    runs = list(itertools.product(range(1, 3 if chosen.quick else ordinal_data.PARTITIONS + 1), choices))
    runs.sort(key=lambda run: run[0] * ordinal_data.SETS[run[1]["name"]].rows)      # all sets as far as the time allows
    fits = [Fit(fitted, {"name": one["name"], "learner": one["learner"], "number": number, "options": one["options"]})
            for number, one in runs]
    found = {name: {} for name in names}
    for fit, result in zip(fits, kept.results(fits), strict=True):
        if result is not None:
            found.setdefault(fit.arguments["name"], {}).setdefault(fit.arguments["learner"], []).append(result)
    return {"found": found, "choices": choices}


def choice(name, learner, quick):
    """The options with the smallest mean absolute error in cross-validation of partition 1's first rows, the first that tie."""
    begin, one, learner = time.process_time(), ordinal_data.split(name, 1), LEARNERS[learner]
    X, y, options = one.X[:CHOSEN_ROWS], one.y[:CHOSEN_ROWS], learner.choices[::7 if quick else 1]
    folds = KFold(FOLDS, shuffle=True, random_state=0)
    errors = [[cost(learner.fit(tried, X[rows], y[rows], ordinal_data.RANKS).predict(X[held]), y[held]) for tried in options]
              for rows, held in folds.split(X)]
    means = np.mean(errors, axis=0)
    return {"options": options[int(means.argmin())], "expected": float(means.min()), "seconds": time.process_time() - begin}


def fitted(name, learner, number, options):
    """Test and training cost on a partition; CPU seconds of the fit and of a prediction; support vectors."""
    one, begin = ordinal_data.split(name, number), time.process_time()
    model = LEARNERS[learner].fit(options, one.X, one.y, ordinal_data.RANKS)
    middle = time.process_time()
    test = cost(model.predict(one.X_test), one.y_test)
    return {"test": test, "fit": middle - begin, "predict": (time.process_time() - middle) / len(one.y_test),
            "training": cost(model.predict(one.X), one.y), "support": len(model.support_)}


# ---- what is shown ----

def report(raw):
    parts = [choices(), cost_table(raw)]
    if not raw["quick"]:
        parts += ["## Where they differ, and why", DIFFERENCES]
    return "\n\n".join([*parts, "## What was chosen", choice_table(raw)])


DIFFERENCES = "\n".join([
    "- pyrimidines: 50 rows in 26 columns. The choice on them fell on C = 1000, which fits them closely (training cost 0.18), on all "
    "partitions. A choice on each partition would suffer less; the paper's choice is not known here.",
    "- california and census: SVORIM is better than published. The official partitions are not to be had; 15,640 and 16,784 rows to test "
    "with make the standard errors small.",
    "- SVOREX: its margins lie at two thresholds a row, SVORIM's at all nine. So its best C is larger: in five of eight sets the largest "
    "that was tried. The paper does not name the constraints of its column, which is near SVORIM.",
])


def choices():
    return "\n".join([
        "- Mean absolute error of ten equally frequent ranks. Data and partitions are those of reproduce-ordinal-boosting.md, so rows "
        "differ from the paper's. The published column is that of support vector ordinal regression in the boosting experiment.",
        f"- RBF kernel, gamma of {listed(GAMMAS)} divided by the number of columns, C of {listed(CS)}. Both are chosen only on partition "
        f"1, by {FOLDS}-fold cross-validation of its training rows, {CHOSEN_ROWS:,} at most.",
        f"- {verdicts.RULE}",
    ])


def cost_table(raw):
    rows = []
    for name, learners in raw["found"].items():
        for learner, results in learners.items():
            test, *others = ([one[key] for one in results] for key in ("test", "training", "support", "fit", "predict"))
            training, support, fit, predict = map(mean, others)
            rows.append([name, learner, len(results), f"{PUBLISHED[name]:.3f}", told(mean(test), standard_error(test)),
                         verdicts.of_runs(test, PUBLISHED[name], SVOR_DIGITS),
                         f"{training:.3f}", f"{support:,.0f}", shown(fit, 2), shown(1e6 * predict, 2)])
    return table(["data", "constraints", "partitions", "published", "ours", "verdict", "training", "support vectors", "fit, s",
                  "prediction, µs a row"], rows)


def choice_table(raw):
    return table(["data", "constraints", "gamma · columns", "C", "expected", "seconds"],
                 [[one["name"], one["learner"], *(f"{one['options'][key]:g}" for key in ("gamma", "C")), f"{one['expected']:.3f}",
                   shown(one["seconds"], 2)] for one in raw["choices"]])


def goals(raw):
    return []                           # verdicts stand beside the figures


def draw(raw, folder):
    """Eight numbers a column need no figure."""
