"""The two logistic losses of ordered labels beside OrderedModel and mord's LogisticAT, and what both learn from intervals."""

import functools
import time
import warnings

import defaults
import job
import numpy as np
from measuring import table
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
    return {"coefficients": float(abs((ours.coef_ - theirs.params[:d]) / se).max()), "errors": float(abs(their_se / se - 1).max()),
            "likelihood": float(ours.log_likelihood_), "theirs": float(theirs.llf), "seconds": seconds, "their_seconds": their_seconds}


def beside_mord(X, y):
    mord = require("mord", "this benchmark", "mord")
    options = {"update": "logistic", "calibrate": False, "random_state": 0}
    ours, seconds = timed(lambda: Engine("prank", trainer="online", epochs=100, **options).fit(X, y))
    default, default_seconds = timed(lambda: Engine("prank", **options).fit(X, y))
    theirs, their_seconds = timed(lambda: mord.LogisticAT(alpha=0, max_iter=10_000).fit(X, y - 1))
    size = np.linalg.norm(theirs.coef_)
    for one in (ours, default):
        if not np.allclose((X @ one.coef_)[:, None] - one.thresholds_, one.atom_scores(X)):
            raise AssertionError("X @ coef_ - thresholds_ are not the model's scores, so the losses would be of another model")
    return {"coefficients": [float(np.linalg.norm(one.coef_ - theirs.coef_) / size) for one in (ours, default)],
            "losses": [float(loss_of(u, b, X, y)) for u, b in ((ours.coef_, ours.thresholds_), (default.coef_, default.thresholds_),
                                                               (theirs.coef_, theirs.theta_))],
            "seconds": [seconds, default_seconds, their_seconds]}


def of_intervals(X, y):
    """Mean absolute error on exact labels, after training on intervals."""
    random = np.random.default_rng(0)
    side = random.choice([-1, 0, 1], size=len(y), p=[0.25, 0.5, 0.25])
    Y = np.clip(np.column_stack([y - (side < 0), y + (side > 0)]), y.min(), y.max())
    found = {}
    for name, options in INTERVALS.items():
        errors, seconds = [], 0.0
        for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
            engine = Engine("interval-pa", random_state=0, **options)
            _, one = timed(functools.partial(engine.fit, X[train], Y[train]))
            seconds += one
            errors.append(abs(engine.predict(X[test]) - y[test]))
        found[name] = float(np.concatenate(errors).mean()), seconds / FOLDS
    return found


def measure(quick):
    found = {}
    for name, X, y in defaults.sets(defaults.QUICK_ROWS if quick else defaults.ROWS):
        if name in SETS:
            X = StandardScaler().fit_transform(X)
            found[name] = {"rows": len(y), "ordered": beside_ordered_model(X, y), "mord": beside_mord(X, y),
                           "intervals": of_intervals(X, y)}
    return {"found": found}


def report(raw):
    def of(columns, cells):
        return table(["set", "rows", *columns], [[name, str(one["rows"]), *cells(one)] for name, one in raw["found"].items()])

    return "\n\n".join([
        "`trainer=\"cumulative-logit\"` beside statsmodels' OrderedModel: coefficients, standard errors, log-likelihood. "
        "`update=\"logistic\"`, 100 epochs, beside mord's LogisticAT without penalty: coefficients, and the all-threshold loss that both "
        "minimise. Intervals by both and by exact-pa: half of the training labels are widened by a rank at one side, three folds. Columns "
        "are standardised; times are processor seconds.",
        "## cumulative-logit beside OrderedModel",
        of(["largest difference of coefficients, in standard errors", "largest relative difference of standard errors", "log-likelihood",
            "OrderedModel's", "s", "OrderedModel's s"],
           lambda one: [f"{one['ordered'][key]:{form}}" for key, form in (
               ("coefficients", ".1e"), ("errors", ".1e"), ("likelihood", ".4f"), ("theirs", ".4f"), ("seconds", ".3f"),
               ("their_seconds", ".2f"))]),
        "## logistic beside LogisticAT",
        of(["relative difference of coefficients, 100 epochs", "by default", "all-threshold loss, 100 epochs", "by default", "LogisticAT's",
            "s, 100 epochs", "s by default", "LogisticAT's s"],
           lambda one: [*(f"{value:.3f}" for value in one["mord"]["coefficients"]), *(f"{value:.4f}" for value in one["mord"]["losses"]),
                        *(f"{value:.3f}" for value in one["mord"]["seconds"])]),
        "## Intervals: mean absolute error, and seconds of a fit with its calibration",
        of([*INTERVALS], lambda one: [f"{error:.3f} ({seconds:.3f} s)" for error, seconds in one["intervals"].values()])])


def goals(raw):
    ordered = [one["ordered"] for one in raw["found"].values()]
    worst = max(max(one["coefficients"], one["errors"]) for one in ordered)
    excess = max(one["mord"]["losses"][0] / one["mord"]["losses"][2] - 1 for one in raw["found"].values())
    return [job.Goal("cumulative-logit: coefficients and standard errors beside OrderedModel's, relative to these", "≤ 0.001",
                     f"{worst:.1e}", worst <= 1e-3),
            job.Goal("logistic, 100 epochs: all-threshold loss above LogisticAT's", "≤ 2 %", f"{100 * excess:.1f} %", excess <= 0.02)]


def draw(raw, folder):
    """Has no figure."""


if __name__ == "__main__":
    job.run("likelihoods", "Two logistic losses of ordered labels", measure, report, goals, draw)
