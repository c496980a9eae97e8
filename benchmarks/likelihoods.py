"""The two logistic losses of ordered labels beside their peers: python benchmarks/likelihoods.py

`trainer="cumulative-logit"` beside statsmodels' OrderedModel: coefficients, standard errors, log-likelihood. `update="logistic"`, 100
epochs, beside mord's LogisticAT without penalty: coefficients, and the all-threshold loss that both minimise. Intervals by both and by
exact-pa: half of the training labels are widened by a rank at one side, three folds. Columns are standardised; times are processor seconds.
"""

import functools
import sys
import time
import warnings
from pathlib import Path

import defaults
import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from structperc import Engine
from structperc.extras import require

SETS, FOLDS = ("bank8fm", "california", "diabetes", "marriages"), 3
INTERVALS = {"cumulative-logit": {"trainer": "cumulative-logit"}, "logistic": {"update": "logistic"}, "exact-pa": {"update": "exact-pa"},
             "exact-pa2, the default": {}}


def timed(call):
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = call()
    return found, time.process_time() - begun


def loss_of(u, thresholds, X, y):
    """The mean all-threshold logistic loss."""
    signs = np.where(np.arange(1, len(thresholds) + 1) < y[:, None], 1, -1)
    return np.logaddexp(0, -signs * ((X @ u)[:, None] - thresholds)).sum(axis=1).mean()


def beside_ordered_model(X, y):
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    ours, seconds = timed(lambda: Engine("prank", trainer="cumulative-logit").fit(X, y))
    theirs, their_seconds = timed(lambda: OrderedModel(y, X, distr="logit").fit(method="bfgs", maxiter=1000, gtol=1e-8, disp=0))
    d = X.shape[1]
    se, their_se = ours.standard_errors_[:d], theirs.bse[:d]
    return [f"{abs((ours.coef_ - theirs.params[:d]) / se).max():.1e}", f"{abs(their_se / se - 1).max():.1e}",
            f"{ours.log_likelihood_:.4f}", f"{theirs.llf:.4f}", f"{seconds:.3f}", f"{their_seconds:.2f}"]


def beside_mord(X, y):
    mord = require("mord", "this benchmark", "mord")
    options = {"update": "logistic", "calibrate": False, "random_state": 0}
    ours, seconds = timed(lambda: Engine("prank", trainer="online", epochs=100, **options).fit(X, y))
    default, default_seconds = timed(lambda: Engine("prank", **options).fit(X, y))
    theirs, their_seconds = timed(lambda: mord.LogisticAT(alpha=0, max_iter=10_000).fit(X, y - 1))
    return [f"{np.linalg.norm(ours.coef_ - theirs.coef_) / np.linalg.norm(theirs.coef_):.3f}",
            f"{np.linalg.norm(default.coef_ - theirs.coef_) / np.linalg.norm(theirs.coef_):.3f}",
            *(f"{loss_of(u, b, X, y):.4f}" for u, b in ((ours.coef_, ours.thresholds_), (default.coef_, default.thresholds_),
                                                       (theirs.coef_, theirs.theta_))),
            f"{seconds:.3f}", f"{default_seconds:.3f}", f"{their_seconds:.2f}"]


def of_intervals(X, y):
    """Mean absolute error on exact labels, after training on intervals."""
    random = np.random.default_rng(0)
    side = random.choice([-1, 0, 1], size=len(y), p=[0.25, 0.5, 0.25])
    Y = np.clip(np.column_stack([y - (side < 0), y + (side > 0)]), y.min(), y.max())
    found = []
    for options in INTERVALS.values():
        errors, seconds = [], 0.0
        for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
            engine = Engine("interval-pa", random_state=0, **options)
            _, one = timed(functools.partial(engine.fit, X[train], Y[train]))
            seconds += one
            errors.append(abs(engine.predict(X[test]) - y[test]))
        found.append(f"{np.concatenate(errors).mean():.3f} ({seconds / FOLDS:.3f} s)")
    return found


def main(rows=1500):
    chosen = [(name, StandardScaler().fit_transform(X), y) for name, X, y in defaults.sets(rows) if name in SETS]
    parts = [
        ("cumulative-logit beside OrderedModel", ["largest difference of coefficients, in standard errors", "largest relative difference of"
         " standard errors", "log-likelihood", "OrderedModel's", "s", "OrderedModel's s"], beside_ordered_model),
        ("logistic beside LogisticAT", ["relative difference of coefficients, 100 epochs", "by default", "all-threshold loss, 100 epochs",
         "by default", "LogisticAT's", "s, 100 epochs", "s by default", "LogisticAT's s"], beside_mord),
        ("Intervals: mean absolute error, and seconds of a fit with its calibration", [*INTERVALS], of_intervals)]
    lines = ["# Two logistic losses of ordered labels", "", *__doc__.strip().split("\n\n")[1].split("\n")]
    for title, columns, measured in parts:
        lines += ["", f"## {title}", "", f"| set | rows | {' | '.join(columns)} |", "| --- " * (len(columns) + 2) + "|",
                  *(f"| {name} | {len(y)} | {' | '.join(measured(X, y))} |" for name, X, y in chosen)]
    path = Path(__file__).with_name("results") / "likelihoods.md"
    path.write_text("\n".join(lines) + "\n")
    print(path.read_text())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
