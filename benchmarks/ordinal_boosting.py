"""AdaBoost.OR on eight sets, over three base rankers: test and training costs beside the published ones, and regions of a plane."""

import functools
import itertools
import time

import attrs
import figures
import numpy as np
import ordinal_data
from measuring import shown, table
from published import BOOSTING as PUBLISHED
from remembered import Fit
from reproduce_kernel import mean, standard_error
from sklearn.base import BaseEstimator
from structperc_boosting.estimators import AdaBoostOR, ORStump
from structperc_large_margin.estimators import SVOR

from structperc.estimators import PRank
from structperc.plotting import plot_boundary

NAME, TITLE = "reproduce-ordinal-boosting", "AdaBoost.OR on eight ordinal data sets"
CLASSES = list(range(1, ordinal_data.RANKS + 1))
REGIONS = (1, 10, 100, 1000)            # stumps in the ensembles whose regions are drawn
POINTS, PLANE_RANKS = 500, 4
CS, LARGEST_ERROR = [4.0 ** power for power in range(-10, 11)], 0.3         # of support vectors as a base: the published grid


@attrs.frozen
class Base:
    """A base ranker of the published table.

    Attributes
    ----------
    make : function(...) -> estimator
    rounds : int
        Of AdaBoost.OR, as published.
    epochs : int or None
        Of each ranker, as published.
    draws : int or None
        Without --full the epochs end after so many drawn rows.
    """

    make: object
    rounds: int
    epochs: int | None = None
    draws: int | None = None

    def options(self, rows, full):
        """Of `make`, for so many rows to learn from."""
        if self.epochs is None:
            return {}
        return {"epochs": self.epochs if full else max(1, min(self.epochs, self.draws // rows))}


class SmallestC(BaseEstimator):
    """Support vectors with the smallest C of CS whose error under the costs is at most LARGEST_ERROR, the last C where none is."""

    def __init__(self, classes=None):
        self.classes = classes

    def fit(self, X, y, costs):
        ends = (costs[:, 0] + costs[:, -1]).sum()
        for C in CS:
            self.C_, self.model_ = C, SVOR(method="implicit", kernel="perceptron", C=C, classes=self.classes).fit(X, y, costs=costs)
            if costs[np.arange(len(y)), np.searchsorted(self.classes, self.model_.predict(X))].sum() <= LARGEST_ERROR * ends:
                break
        return self

    def predict(self, X):
        return self.model_.predict(X)


BASES = {
    "ORStump": Base(ORStump, 1000),
    "PRank": Base(functools.partial(PRank, pocket="screened"), 100, 2000, 100_000),
    "SVOR": Base(SmallestC, 10),
}


# ---- runs ----

def measure(chosen, kept):
    names = ("pyrimidines",) if chosen.quick else tuple(ordinal_data.SETS)
    ordinal_data.require(names)
    numbers = range(1, 3 if chosen.quick else ordinal_data.PARTITIONS + 1)
    cases = [(name, number, base) for base, name, number in itertools.product(BASES, names, numbers)]
    cases.sort(key=lambda case: (case[2] != "ORStump", case[1] * ordinal_data.SETS[case[0]].rows))      # stumps first: they are fast
    fits = [Fit(boosted, {"name": name, "number": number, "base": base, "rounds": 3 if chosen.quick else BASES[base].rounds,
                          "options": BASES[base].options(ordinal_data.SETS[name].rows, chosen.full)}) for name, number, base in cases]
    cells = {}
    for fit, result in zip(fits, kept.results(fits), strict=True):
        if result is not None:
            cells.setdefault(fit.arguments["base"], {name: [] for name in names})[fit.arguments["name"]].append(result)
    cells = {base: {name: results for name, results in cells[base].items() if results} for base in BASES if base in cells}
    return {"cells": cells, "full": chosen.full}


def boosted(name, number, base, rounds, options):
    """Test and training cost of a base ranker alone, the first of the ensemble, and of the ensemble; CPU seconds."""
    one, begin = ordinal_data.split(name, number), time.process_time()
    model = AdaBoostOR(BASES[base].make(**options), n_estimators=rounds, classes=CLASSES, random_state=number).fit(one.X, one.y)
    seconds = time.process_time() - begin
    parts = (one.X_test, one.y_test), (one.X, one.y)
    return {"alone": [cost(next(model.staged_predict(X)), y) for X, y in parts], "boosted": [cost(model.predict(X), y) for X, y in parts],
            "rounds": len(model.estimators_), "error": float(model.errors_[0]), "seconds": seconds}


def cost(ranks, y):
    return float(np.abs(ranks - y).mean())


# ---- what follows from the numbers ----

def standing(values, published):
    """"even", "better" or "worse" than a published mean: by more than two standard errors of a difference, ours and one like it."""
    less = published - mean(values)
    if not np.isfinite(less):
        return "not published"
    if len(values) < 3:
        return "too few"
    reach = 2 * np.sqrt(2) * standard_error(values) + 0.005
    return "even" if abs(less) <= reach else "better" if less > 0 else "worse"


def values(results, form, part):
    return [result[form][part] for result in results]


# ---- what is shown ----

def report(raw):
    parts = [choices(raw)]
    for base, cells in raw["cells"].items():
        parts += [f"## {base}, {BASES[base].rounds} rounds" if not raw["quick"] else f"## {base}", cost_table(base, cells)]
    if not raw["quick"]:
        parts += ["## Where they differ, and why", DIFFERENCES]
    return "\n\n".join([
        *parts, "## Regions", f"{POINTS} points with {PLANE_RANKS} ranks, cut by three quadratic curves chosen here (the paper's are not "
        "given); ensembles of stumps. Dashed: the true boundaries.", "![Regions of ensembles of stumps](reproduce-ordinal-regions.png)"])


DIFFERENCES = "\n".join([
    "- ORStump: nothing differs but the single stump on abalone, by 0.02. Its targets are few whole numbers, so a cut divides equal ones, "
    "and the paper's way to do that is not known.",
    "- PRank: training costs are lower than published, after boosting far lower on small sets, and test costs hardly differ; but on "
    "bank, where 33 epochs stand for the published 2,000, they are higher. The paper does not give its steps; those here "
    "move all wrong thresholds, and each ranker on the way is compared with the one in the pocket by its total cost.",
    "- SVOR: the paper does not name its kernel; the perceptron kernel, without a width to choose, is used here. Alone: the smallest C, "
    "2^-20, has an error below 0.3 already in the first round, since always answering a middle rank has 0.28 (cost 2.5). So these rows "
    "show how answers near the middle are cut, which the paper does by regularised thresholds and the solver here by exact ones; on bank "
    "the published cost is that of a larger C. Boosted, where C grows from round to round, the sets with 20 partitions agree.",
])


def choices(raw):
    return "\n".join([
        "- Mean absolute error of ten equally frequent ranks, on rows to test with and to learn from. Equal targets beside a cut are "
        "divided by chance.",
        f"- {ordinal_data.PARTITIONS} random partitions; the training parts have the sizes of the literature. pyrimidines: the 20 fixed "
        "partitions of the ORCA framework; others: drawn here, so rows differ from the paper's.",
        "- Partitions: where fewer than 20 stand in a row, there was time for the first alone (`--seconds`). A run without a limit makes "
        "the others.",
        "- Columns have mean 0 and variance 1 in the rows learned from.",
        "- Verdict: even where the means differ by at most two standard errors of a difference (the published standard errors, 0.00 to "
        "0.10, are taken to be like ours) and the published rounding.",
        "- PRank: the pocket algorithm with ratchet, which keeps the ranker of least total cost of all that the steps make. "
        + ("2,000 epochs, as published." if raw["full"] else f"Epochs: {BASES['PRank'].epochs:,} as published, but no more than "
           f"{BASES['PRank'].draws:,} drawn rows a ranker; `--full` draws all."),
    ])


def cost_table(base, cells):
    rows = []
    for name, results in cells.items():
        for form, label in (("alone", base), ("boosted", "+ AdaBoost.OR")):
            theirs = PUBLISHED[base][name][form == "boosted"]
            row = [name, label, len(results)]
            for part in (0, 1):
                found = values(results, form, part)
                row += ["–" if np.isnan(theirs[part]) else f"{theirs[part]:.2f}", told(found), standing(found, theirs[part])]
            rows.append([*row, shown(mean([result["seconds"] for result in results]), 2) if form == "boosted" else ""])
    return table(["data", "ranker", "partitions", "test: published", "ours", "verdict", "training: published", "ours", "verdict", "fit, s"],
                 rows)


def told(found):
    return f"{mean(found):.3f} ± {standard_error(found):.3f}" if len(found) > 1 else f"{mean(found):.3f}"


def goals(raw):
    return []                           # verdicts stand beside the figures


# ---- regions of a plane ----

def plane():
    """Points of the unit square and their ranks."""
    points = np.random.default_rng(1).random((POINTS, 2))
    return points, rank(points)


BOUNDARIES = (lambda x: 0.15 + 0.8 * (x - 0.35) ** 2, lambda x: 0.70 - 1.1 * (x - 0.6) ** 2, lambda x: 0.75 + 0.8 * (x - 0.55) ** 2)


def rank(points):
    return 1 + sum(points[:, 1] > boundary(points[:, 0]) for boundary in BOUNDARIES)


def draw(raw, folder):
    """The regions of ensembles of 1, 10, 100 and 1000 stumps."""
    X, y = plane()
    square = np.random.default_rng(2).random((20_000, 2))
    regions = REGIONS[:2] if raw["quick"] else REGIONS
    figure, axes = figures.new(4.4 * len(regions), 4.6, len(regions))
    for one, stumps in zip(axes, regions, strict=True):
        model = AdaBoostOR(n_estimators=stumps).fit(X, y)
        plot_boundary(model, X, y, one)
        sides = np.linspace(*one.get_xlim())
        for boundary in BOUNDARIES:
            one.plot(sides, boundary(sides), "--", color="black", linewidth=1.5)
        one.grid(visible=False)
        one.get_legend().remove()
        one.set(ylim=one.get_xlim(), aspect="equal")
        costs = cost(model.predict(X), y), cost(model.predict(square), rank(square))
        one.set_title("T = {}: cost {:.3f} on the points, {:.3f} elsewhere".format(stumps, *costs), fontsize="small")
    figure.savefig(folder / "reproduce-ordinal-regions.png")
