"""Defaults on columns as they come, through three doors, beside other libraries: twelve sets of ordered labels."""

import contextlib
import functools
import io
import statistics
import tempfile
import time
import warnings
from pathlib import Path

import job
import numpy as np
import pandas as pd
from measuring import table
from ordinal_data import equal_frequency, numbers
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from structperc import Engine
from structperc.cli import main as command
from structperc.errors import MissingExtra
from structperc.estimators import CuSumRank, PRank
from structperc.extras import require

ROWS, QUICK_ROWS, FOLDS, SMALLEST, BINS, PAIRS = 1500, 150, 3, 1e-15, 10, 5
FILES = {"autompg": "chu_ghahramani/autompg.csv", "bostonhousing": "chu_ghahramani/bostonhousing.csv",
         "stocks": "chu_ghahramani/stocksdomain.csv", "machinecpu": "chu_ghahramani/machinecpu.csv",
         "abalone": "chu_ghahramani/abalone.csv", "wisconsin": "chu_ghahramani/wisconsin.csv", "cpu_act": "regression/cpu_act.csv",
         "california": "regression/california.csv", "house_16h": "regression/house_16h.csv", "bank8fm": "regression/bank8fm.csv"}
DOORS = {"cusum": CuSumRank, "prank": PRank}
WANTED = {"cusum": (12, 12, 11), "prank": (12, 12, 11)}      # sets of 12
LOGISTIC = "logistic regression"


def diabetes():
    from sklearn.datasets import load_diabetes

    X, target = load_diabetes(return_X_y=True, scaled=False)
    return X, equal_frequency(target, 5)


def marriages():
    """Ratings of their marriage by 6,366 women."""
    from statsmodels.datasets import fair

    data = fair.load_pandas().data
    return data.drop(columns=["rate_marriage", "affairs"]).to_numpy(dtype=float), data["rate_marriage"].to_numpy(dtype=int)


def sets(rows):
    """Name, columns and ranks of each set."""
    for name, path in FILES.items():
        X, target = numbers(path)
        yield name, *drawn(X, equal_frequency(target, 5), rows)
    yield "diabetes", *drawn(*diabetes(), rows)
    yield "marriages", *drawn(*marriages(), rows)


def drawn(X, y, rows):
    chosen = np.sort(np.random.default_rng(0).permutation(len(y))[:rows])
    return X[chosen], y[chosen]


# ---- models: each returns predictions and probabilities ----


def by_command(problem, X, y, X_test):
    """`structperc fit PROBLEM table.csv --target rank`."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        table, model = str(Path(folder) / "table.csv"), str(Path(folder) / "m.model")
        pd.DataFrame(X, columns=names(X)).assign(rank=y).to_csv(table, index=False)
        if command(["fit", problem, table, "--target", "rank", "--model", model]):
            raise RuntimeError(f"structperc fit {problem} failed")
        return Engine.load(model).predict(pd.DataFrame(X_test, columns=names(X)))


def names(X):
    return [f"x{j}" for j in range(X.shape[1])]


def by_engine(problem, X, y, X_test):
    engine = Engine(problem, random_state=0).fit(X, y)
    return engine.predict(X_test), engine.predict_proba(X_test)


def by_estimator(problem, X, y, X_test):
    model = DOORS[problem](random_state=0).fit(X, y)
    return model.predict(X_test), model.predict_proba(X_test)


def logistic(X, y, X_test):
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X, y)
    return model.predict(X_test), model.predict_proba(X_test)


def mord(X, y, X_test):
    model = make_pipeline(StandardScaler(), require("mord", "this benchmark", "mord").LogisticAT()).fit(X, y)
    return model.predict(X_test), model.predict_proba(X_test)


def lightgbm(X, y, X_test):
    model = require("lightgbm", "this benchmark", "lightgbm").LGBMClassifier(verbose=-1, n_jobs=1, random_state=0).fit(X, y)
    return model.predict(X_test), model.predict_proba(X_test)


def ordered(X, y, X_test):
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    moving = X.std(axis=0) > 0
    found = OrderedModel(y, X[:, moving], distr="logit").fit(method="bfgs", maxiter=500, disp=0)
    P = np.asarray(found.predict(X_test[:, moving]))
    labels = np.unique(y)
    return labels[np.minimum((P.cumsum(axis=1) < 0.5).sum(axis=1), len(labels) - 1)], P


def constant(X, y, X_test):
    share = np.unique(y, return_counts=True)[1] / len(y)
    return np.full(len(X_test), int(np.median(y))), np.tile(share, (len(X_test), 1))


RIVALS = {"mord LogisticAT": mord, LOGISTIC: logistic, "OrderedModel": ordered, "LightGBM": lightgbm, "median": constant}


# ---- measures ----


def measured(predict, X, y):
    """Mean absolute error and its standard error, log loss, calibration error, CPU seconds of all folds. None if a fit fails."""
    errors, losses, sure, right, begun = [], [], [], [], time.process_time()
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                said, P = predict(X[train], y[train], X[test])
        except (MissingExtra, ValueError, np.linalg.LinAlgError):
            return None
        codes = np.searchsorted(np.unique(y), y[test])
        errors.append(abs(said - y[test]))
        losses.append(-np.log(np.maximum(P[np.arange(len(codes)), codes], SMALLEST)))
        sure.append(P.max(axis=1))
        right.append(P.argmax(axis=1) == codes)
    errors = np.concatenate(errors)
    return {"mae": float(errors.mean()), "error": float(errors.std() / np.sqrt(len(errors))), "loss": float(np.concatenate(losses).mean()),
            "calibration": calibration_error(np.concatenate(sure), np.concatenate(right)), "seconds": time.process_time() - begun}


def calibration_error(sure, right):
    """The mean difference of confidence and accuracy over ten equally wide bins, weighted by their rows."""
    place = np.minimum((sure * BINS).astype(int), BINS - 1)
    return float(sum(abs(sure[place == k].sum() - right[place == k].sum()) for k in range(BINS)) / len(sure))


def doors_agree(problem, X, y):
    """Whether command, engine and estimator predict the same in each fold."""
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        engine, P = by_engine(problem, X[train], y[train], X[test])
        estimator, Q = by_estimator(problem, X[train], y[train], X[test])
        if not (np.array_equal(engine, estimator) and np.array_equal(P, Q)
                and np.array_equal(engine, by_command(problem, X[train], y[train], X[test]))):
            return False
    return True


def seconds_of_fits(problem, X, y):
    """The median processor seconds of a fit with and without calibration, of alternating fits."""
    found = {"auto": [], False: []}
    for _ in range(PAIRS):
        for calibrate, seconds in found.items():
            begun = time.process_time()
            Engine(problem, random_state=0, calibrate=calibrate).fit(X, y)
            seconds.append(time.process_time() - begun)
    return [statistics.median(seconds) for seconds in found.values()]


def doors_of(problem, X, y):
    """The mean absolute error through each door."""
    errors = {"command": [], "engine": [], "estimator": []}
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        answers = by_command(problem, X[train], y[train], X[test]), *(
            by(problem, X[train], y[train], X[test])[0] for by in (by_engine, by_estimator))
        for door, answer in zip(errors, answers, strict=True):
            errors[door].append(abs(answer - y[test]))
    return {door: float(np.concatenate(parts).mean()) for door, parts in errors.items()}


def measure(quick):
    found = {}
    for name, X, y in sets(QUICK_ROWS if quick else ROWS):
        models = {problem: measured(functools.partial(by_engine, problem), X, y) for problem in DOORS}
        models |= {rival: measured(predict, X, y) for rival, predict in RIVALS.items()}
        found[name] = {"rows": len(y), "models": models, "doors": {problem: doors_of(problem, X, y) for problem in DOORS},
                       "equal": all(doors_agree(problem, X, y) for problem in DOORS),
                       "fits": {problem: seconds_of_fits(problem, X, y) for problem in DOORS}}
    return {"found": found}


def report(raw):
    found = raw["found"]
    models = [model for model in (*DOORS, *RIVALS) if any(one["models"][model] for one in found.values())]

    def of(key, digits):
        return table(["set", "rows", *models], [[name, str(one["rows"]), *(
            f"{one['models'][model][key]:.{digits}f}" if one["models"][model] else "" for model in models)] for name, one in found.items()])

    doors = [[name, *(f"{one['doors'][problem][door]:.3f}" for problem in DOORS for door in one["doors"][problem]),
              "yes" if one["equal"] else "NO"] for name, one in found.items()]
    fits = [[name, str(one["rows"]), *(text for problem in DOORS for text in (
        f"{1000 * one['fits'][problem][0]:.1f}", f"{1000 * one['fits'][problem][1]:.1f}"))] for name, one in found.items()]
    return "\n\n".join([
        "The command, the engine and the estimator learn from the same rows of twelve sets, and must predict the same. Beside them are "
        "mord, logistic regression and statsmodels' OrderedModel on standardised columns. LightGBM uses the columns as they are. The last "
        "rival is the median. Targets of regression sets become five equally frequent ranks. Three folds; at most "
        f"{ROWS:,} rows of a set, drawn with a fixed seed.",
        "## Three doors: mean absolute error", table(["set", *(f"{problem}, {door}" for problem in DOORS for door in (
            "command", "engine", "estimator")), "predictions equal"], doors),
        "## Mean absolute error", of("mae", 3), "## Its standard error", of("error", 3), "## Log loss", of("loss", 3),
        "## Calibration error", of("calibration", 3), "## Seconds of processor time, three fits with their predictions", of("seconds", 2),
        "## What calibration costs", f"Milliseconds of processor time for a fit of all rows: the median of {PAIRS} alternating fits.",
        table(["set", "rows", *(f"{problem}, {what}" for problem in DOORS for what in ("default", "calibrate=False"))], fits)])


def goals(raw):
    reached, every = [], [one["models"] for one in raw["found"].values()]
    reached.append(job.Goal("sets on which the three doors predict the same", "12", str(sum(one["equal"] for one in raw["found"].values())),
                            all(one["equal"] for one in raw["found"].values())))
    for problem, wanted in WANTED.items():
        numbers = (sum(one[problem]["mae"] <= one["median"]["mae"] for one in every),
                   sum(one[problem]["mae"] <= one["mord LogisticAT"]["mae"] + one[problem]["error"] for one in every
                       if one["mord LogisticAT"]),
                   sum(one[problem]["loss"] <= 1.02 * one[LOGISTIC]["loss"] for one in every))
        for what, least, number in zip(("error at most the median's", "error at most mord's and a standard error",
                                        "log loss at most 1.02 times that of logistic regression"), wanted, numbers, strict=True):
            reached.append(job.Goal(f"`{problem}`, of 12 sets: {what}", f"≥ {least}", str(number), number >= least))
    return reached


def draw(raw, folder):
    """Has no figure."""


if __name__ == "__main__":
    job.run("defaults", "Defaults on columns as they come", measure, report, goals, draw)
