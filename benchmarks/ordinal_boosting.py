"""AdaBoost.OR on eight sets, over three base rankers: test and training costs beside the published ones, and regions of a plane."""

import functools
import itertools
import json
import math
import time

import attrs
import figures
import numpy as np
import ordinal_data
import verdicts
from measuring import circumstances, shown, table
from published import BOOSTING as PUBLISHED
from published import BOOSTING_DIGITS
from remembered import Fit
from sklearn.base import BaseEstimator
from structperc_boosting.estimators import AdaBoostOR, ORStump
from structperc_large_margin.estimators import SVOR
from verdicts import NOT_RUN, mean, standard_error

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
        return {"epochs": self.epochs if full or not self.draws else max(1, min(self.epochs, self.draws // rows))}


class SmallestC(BaseEstimator):
    """Support vectors with the smallest C of CS whose error under the costs is at most LARGEST_ERROR, or the last."""

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


STRONGER = "PRank, stronger pocket"
BASES = {
    "ORStump": Base(ORStump, 1000),
    "PRank": Base(functools.partial(PRank, pocket="runs", variant="single"), 100, 2000),
    "SVOR": Base(SmallestC, 10),
    STRONGER: Base(functools.partial(PRank, pocket="screened"), 100, 2000, 100_000),
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
    results = {}
    for fit, result in zip(fits, kept.results(fits), strict=True):
        if result is not None:
            results.setdefault((fit.arguments["base"], fit.arguments["name"]), []).append(result)
    return {"cells": {base: {name: cell(results[base, name]) if (base, name) in results else earlier(chosen, base, name)
                             for name in names} for base in BASES}, "full": chosen.full}


def earlier(chosen, base, name):
    """The cell of the record that this run replaces, with its own day and commit; None where there is none."""
    path = chosen.output / f"{NAME}.json"
    return json.loads(path.read_text())["cells"].get(base, {}).get(name) if path.is_file() and not chosen.quick else None


def boosted(name, number, base, rounds, options):
    """Test and training cost of the ensemble and of its first ranker; CPU seconds.

    `labels`: how many different ranks the first ranker and the ensemble predict for the rows to test with.
    """
    one, begin = ordinal_data.split(name, number), time.process_time()
    model = AdaBoostOR(BASES[base].make(**options), n_estimators=rounds, classes=CLASSES, random_state=number).fit(one.X, one.y)
    seconds = time.process_time() - begin
    found = {form: [predict(X) for X in (one.X_test, one.X)]
             for form, predict in (("alone", lambda X: next(model.staged_predict(X))), ("boosted", model.predict))}
    costs = {form: [cost(*pair) for pair in zip(ranks, (one.y_test, one.y), strict=True)] for form, ranks in found.items()}
    return {**costs, "labels": {form: len(np.unique(test)) for form, (test, _) in found.items()},
            "rounds": len(model.estimators_), "error": float(model.errors_[0]), "seconds": seconds}


def cell(results):
    """Means and standard errors of the partitions, with day and commit."""
    costs = {form: [[mean(values), standard_error(values)] for values in zip(*(one[form] for one in results), strict=True)]
             for form in ("alone", "boosted")}
    constant = {form: all(one["labels"][form] == 1 for one in results) for form in costs}
    told = circumstances()
    return {"partitions": len(results), **costs, "constant": constant, "seconds": mean([one["seconds"] for one in results]),
            "measured": told["measured"], "commit": told["commit"]}


def cost(ranks, y):
    return float(np.abs(ranks - y).mean())


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
    "- ORStump: only the single stump on abalone is near a difference, by 0.02. Its targets are few whole numbers, so a cut divides equal "
    "ones. How the paper does that is not known. The rule used here was chosen because it fits the published training costs.",
    "- PRank: the paper's base is SiPrank with pocket and ratchet, 2,000 epochs. It cites SiPrank without its steps. Here only the "
    "threshold next to the prediction moves. After a longer run of right predictions a ranker is compared with the one in the pocket. "
    "computer has test costs 0.02 above the published ones, at even training costs. census with boosting is 0.03 above in both. "
    "All other cells are even.",
    f"- {STRONGER}: every ranker on the way is compared with the one in the pocket, and all wrong thresholds move. It is no reproduction.",
    "- SVOR: the paper does not name its kernel; the perceptron kernel, without a width to choose, is used here. Without boosting, the "
    "smallest C, 2^-20, has an error below 0.3 already in the first round. The middle rank for every row has 0.28 (cost 2.5). So these "
    "rows "
    "show how predictions near the middle are cut. The paper uses regularised thresholds, the solver here exact ones: "
    "[both](boosting_theory.md). On bank a larger C has the published cost. "
    "With boosting, training costs on bank are 0.05 above the published ones. Test costs of computer, california and census are lower.",
])


def choices(raw):
    stronger = BASES[STRONGER]
    return "\n".join([
        "- Mean absolute error of ten equally frequent ranks, on rows to test with and to learn from. Equal targets beside a cut are "
        "divided by chance.",
        f"- {ordinal_data.PARTITIONS} random partitions; the training parts have the sizes of the literature. pyrimidines: the 20 fixed "
        "partitions of the ORCA framework; others: drawn here, so rows differ from the paper's.",
        "- Partitions: fewer than 20 in a row are the first ones, those that there was time for (`--seconds`). A run without a limit makes "
        "the others. A row that was not measured again keeps its figures, with their day and commit.",
        "- Columns have mean 0 and variance 1 in the rows learned from.",
        f"- {verdicts.RULE}",
        f"- PRank: {BASES['PRank'].epochs:,} epochs, as published. {STRONGER}: "
        + (f"{stronger.epochs:,} epochs." if raw["full"] else
           f"{stronger.epochs:,}, but no more than {stronger.draws:,} drawn rows a ranker; `--full` draws all."),
    ])


def cost_table(base, cells):
    rows = []
    for name, found in cells.items():
        for form, label in (("alone", base), ("boosted", "+ AdaBoost.OR")):
            theirs = PUBLISHED[base][name][form == "boosted"] if base in PUBLISHED else None
            row = [name, label, found["partitions"] if found else 0]
            for part in (0, 1):
                ours = found[form][part] if found else None
                row += [*([] if theirs is None else [written(*theirs[part])]), told(*ours) if ours else "",
                        *([] if theirs is None else [verdict(found, form, part, theirs[part])])]
            row += [f"{found['measured']}, {found['commit'][:7]}", shown(found["seconds"], 2)] if found else ["", ""]
            rows.append(row)
    sides = ": published", ", ours", ", verdict"
    columns = [f"{part}{side}" for part in ("test", "training") for side in (sides if base in PUBLISHED else ("",))]
    return table(["data", "ranker", "partitions", *columns, "measured", "fit, s"], rows)


def written(published, error):
    return "–" if math.isnan(published) else f"{published:.{BOOSTING_DIGITS}f} ± {error:.{BOOSTING_DIGITS}f}"


def verdict(found, form, part, published):
    theirs, error = published
    if math.isnan(theirs):
        return "not published"
    if not found or found["partitions"] < verdicts.FEWEST:
        return NOT_RUN
    constant = found.get("constant", {}).get(form, False)
    return verdicts.beside_published(*found[form][part], theirs, BOOSTING_DIGITS, error, constant)


def told(mean, error):
    return f"{mean:.3f}" if math.isnan(error) else f"{mean:.3f} ± {error:.3f}"


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
    figure, axes = figures.new(8.8, 4.6 * -(-len(regions) // 2), len(regions), across=2)
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
