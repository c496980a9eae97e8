"""Both margins of Shashua and Levin in the plane: one margin for all thresholds, or a sum of margins, with small and large C."""

import figures
import numpy as np
import synthetic_ratings
from measuring import table
from ordinal_boosting import told
from remembered import Fit
from structperc_large_margin.estimators import SVOR
from verdicts import mean, standard_error

from structperc.plotting import plot_boundary

NAME, TITLE = "reproduce-ordinal-margins", "Fixed margin and sum of margins in the plane"
METHODS = {"fixed-margin": "fixed margin", "sum-of-margins": "sum of margins"}
CS = {"fixed-margin": (0.02, 10.0), "sum-of-margins": (0.025, 5.0)}     # small and large
CASES = [(method, CS[method][which]) for which in (0, 1) for method in METHODS]
POINTS, BOUNDARIES, GAP = 200, np.array([-0.5, 0.25]), 0.05


def plane():
    """Points of a square whose height over a parabola is not near a boundary, and their ranks: parted by a curve of second order."""
    X = np.random.default_rng(3).uniform(-1, 1, (POINTS, 2))
    height = X[:, 1] - 0.8 * X[:, 0] ** 2
    kept = np.abs(height[:, None] - BOUNDARIES).min(axis=1) > GAP
    return X[kept], 1 + np.searchsorted(BOUNDARIES, height[kept])


def measure(chosen, kept):
    X, y = plane()
    cases = []
    for method, C in CASES:
        model = fitted(method, C, X, y)
        planes, ranks, scores = model.margins_, model.predict(X), model.latent_score(X)
        margins = np.diff(planes, axis=1).ravel() / model.norm_
        check(method, C, model, margins)
        cases.append({"method": method, "C": C, "margins": margins.tolist(), "slab": float(planes[1, 0] - planes[0, 1]) / model.norm_,
                      "middle": int((ranks == 2).sum()), "between": int(((planes[0, 1] <= scores) & (scores <= planes[1, 0])).sum()),
                      "support": len(model.support_), "error": float(np.abs(ranks - y).mean()), "status": model.status_})
    users = range(1, 3 if chosen.quick else 101)
    (C,) = [synthetic_ratings.CS[1]] if chosen.quick else kept.results([Fit(synthetic_ratings.chosen_C, {})])
    runs = [one for one in kept.results([Fit(synthetic_ratings.errors, {"seed": user, "C": C}) for user in users]) if one]
    return {"counts": np.bincount(y)[1:].tolist(), "cases": cases, "C": C, "runs": runs}


def fitted(method, C, X, y):
    """The optimum for unscaled points. The dual program (35) of the fixed margin is that of nu = 2 / (C n)."""
    size = {"C": C} if method == "sum-of-margins" else {"nu": 2 / (C * len(y)), "disordered": "pool"}
    return SVOR(method=method, **size, kernel="polynomial", degree=2, gamma=1.0, coef0=1.0, tol=1e-6, scale=False).fit(X, y)


def check(method, C, model, margins):
    """Identities of the optimum, in the units of the page."""
    if method == "fixed-margin":
        assert np.ptp(margins) <= 1e-9 * margins[0]
    else:
        assert model.norm_ == 1 and -model.objective_ <= margins.sum() * (1 + 1e-6)
        assert C < 1 or abs(-model.objective_ - margins.sum()) <= 1e-5 * margins.sum()         # no point is behind its plane


# ---- what is shown ----

def report(raw):
    counts = " / ".join(map(str, raw["counts"]))
    return "\n\n".join([
        f"{sum(raw['counts'])} points of three ranks ({counts}) between parabolas; the kernel (x · z + 1)². The paper's points are "
        "not given.",
        table(["method", "C", "margin 1", "margin 2", "sum", "room between b₁ and a₂", "predictions of rank 2", "of them between b₁ and a₂",
               "support vectors", "training error", "status"],
              [[METHODS[one["method"]], one["C"], *(f"{gap:.3f}" for gap in one["margins"]), f"{sum(one['margins']):.3f}",
                f"{round(one['slab'], 3) + 0.0:.3f}", one["middle"], one["between"], one["support"], f"{one['error']:.3f}", one["status"]]
               for one in raw["cases"]]),
        "Margins in units of the feature space: (b − a) / ‖w‖, with ‖w‖ of the model (`norm_`). The points are not scaled. A fixed margin "
        "is the same at both thresholds, by construction; the sum of margins gives each its own. C is not comparable between the two: "
        "the sum of margins leaves at most about 1/C points on the wrong side of a plane.",
        "The paper's figure has one statement: at a small C the planes b₁ and a₂ of the sum of margins meet, and rank 2 \"completely "
        "vanishes\". Both halves hold here. Nothing is left between these planes, and by the paper's rule a point has rank 2 only there. "
        "Here a threshold lies in the middle between a and b, so predictions of rank 2 are left. The fixed margin is the paper's dual "
        "program (35), which is that of ν = 2 / (C n).",
        "![Planes, margins and support vectors](reproduce-ordinal-margins.png)",
        "## Ratings", "The published claim: with 50 to 300 of a user's 450 ratings, PRank's mean error is about 1.25, "
        "the fixed margin's about 0.7. EachMovie's ratings are not to be had, so the claim itself is not checked. In their place made-up "
        f"ratings: {synthetic_ratings.FACTORS} hidden factors and noise, ratings 0 to 5, {100 * synthetic_ratings.MISSING:.0f} % of the "
        f"other {synthetic_ratings.USERS} users' ratings missing; {len(raw['runs'])} users. C = {raw['C']:g}, chosen on another user.",
        rating_table(raw["runs"]), "So PRank is behind the fixed margin here too, and averaging takes most of the way." if not raw["quick"]
        else ""])


def rating_table(runs):
    return table(["learned from", *runs[0]["50"]],
                 [[n, *(told(mean(found), standard_error(found)) for name in runs[0][n] if (found := [run[n][name] for run in runs]))]
                  for n in runs[0]])


def goals(raw):
    return []                           # shown, not measured


def draw(raw, folder):
    """Fixed margin and sum of margins, with small and with large C: thresholds, the planes beside them (dotted), support vectors."""
    X, y = plane()
    figure, axes = figures.new(9.0, 4.7 * -(-len(CASES) // 2), len(CASES), across=2)
    for one, (method, C) in zip(axes, CASES, strict=True):
        plot_boundary(fitted(method, C, X, y).engine_, X, y, one)
        one.grid(visible=False)
        one.set(aspect="equal")
        one.set_title(f"{METHODS[method]}, C = {C:g}")
    figure.savefig(folder / "reproduce-ordinal-margins.png")
