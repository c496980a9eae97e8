"""Defaults on columns as they come, through three doors: python benchmarks/defaults.py [rows]

The command, the engine and the estimator learn from the same rows of twelve sets, and must predict the same. Beside them stand mord,
logistic regression and statsmodels' OrderedModel on standardised columns, LightGBM if it is installed, and the median. Targets of
regression sets become five equally frequent ranks. Three folds; at most `rows` rows of a set, drawn with a fixed seed.
"""

import contextlib
import io
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
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

ROWS, FOLDS, SMALLEST, BINS = 1500, 3, 1e-15, 10
FILES = {"autompg": "chu_ghahramani/autompg.csv", "bostonhousing": "chu_ghahramani/bostonhousing.csv",
         "stocks": "chu_ghahramani/stocksdomain.csv", "machinecpu": "chu_ghahramani/machinecpu.csv",
         "abalone": "chu_ghahramani/abalone.csv", "wisconsin": "chu_ghahramani/wisconsin.csv", "cpu_act": "regression/cpu_act.csv",
         "california": "regression/california.csv", "house_16h": "regression/house_16h.csv", "bank8fm": "regression/bank8fm.csv"}
DOORS = {"cusum": CuSumRank, "prank": PRank}


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


RIVALS = {"mord LogisticAT": mord, "logistic regression": logistic, "OrderedModel": ordered, "LightGBM": lightgbm, "median": constant}


# ---- measures ----


def measured(predict, X, y):
    """Mean absolute error and its standard error, log loss, calibration error, and cpu seconds of all folds; None if it cannot be had."""
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
    return {"mae": errors.mean(), "error": errors.std() / np.sqrt(len(errors)), "loss": np.concatenate(losses).mean(),
            "calibration": calibration_error(np.concatenate(sure), np.concatenate(right)), "seconds": time.process_time() - begun}


def calibration_error(sure, right):
    """The mean difference of confidence and accuracy over ten equally wide bins, weighted by their rows."""
    place = np.minimum((sure * BINS).astype(int), BINS - 1)
    return sum(abs(sure[place == k].sum() - right[place == k].sum()) for k in range(BINS)) / len(sure)


def doors_agree(problem, X, y):
    """Whether command, engine and estimator predict the same in each fold."""
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        engine, P = by_engine(problem, X[train], y[train], X[test])
        estimator, Q = by_estimator(problem, X[train], y[train], X[test])
        if not (np.array_equal(engine, estimator) and np.array_equal(P, Q)
                and np.array_equal(engine, by_command(problem, X[train], y[train], X[test]))):
            return False
    return True


def main(rows=ROWS):
    results, lines = {}, ["# Defaults on columns as they come", "", *__doc__.strip().split("\n\n")[1].split("\n"), ""]
    for name, X, y in sets(rows):
        found = {problem: measured(lambda *data, problem=problem: by_engine(problem, *data), X, y) for problem in DOORS}
        found |= {rival: measured(predict, X, y) for rival, predict in RIVALS.items()}
        results[name] = {"n": len(y), "doors": all(doors_agree(problem, X, y) for problem in DOORS), "found": found}
        print(name, {model: None if one is None else round(float(one["mae"]), 3) for model, one in found.items()}, file=sys.stderr)
    models = [*DOORS, *(rival for rival in RIVALS if any(one["found"][rival] for one in results.values()))]
    for title, key, digits in (("Mean absolute error", "mae", 3), ("Log loss", "loss", 3), ("Calibration error", "calibration", 3),
                               ("Seconds of processor time, three fits with their predictions", "seconds", 2)):
        lines += [f"## {title}", "", f"| set | rows | {'three doors equal | ' * (key == 'mae')}{' | '.join(models)} |",
                  "| --- " * (len(models) + 2 + (key == "mae")) + "|"]
        for name, one in results.items():
            doors = f"{'yes' if one['doors'] else 'NO'} | " if key == "mae" else ""
            cells = [f"{one['found'][model][key]:.{digits}f}" if one["found"][model] else "" for model in models]
            lines.append(f"| {name} | {one['n']} | {doors}{' | '.join(cells)} |")
        lines.append("")
    lines += summary(results)
    path = Path(__file__).with_name("results") / "defaults.md"
    path.write_text("\n".join(lines) + "\n")
    print(path.read_text())


def summary(results):
    lines = ["## Goals", ""]
    for problem in DOORS:
        all_of = [one["found"] for one in results.values()]
        beaten = sum(one[problem]["mae"] <= one["median"]["mae"] for one in all_of)
        near = sum(one[problem]["mae"] <= one["mord LogisticAT"]["mae"] + one[problem]["error"] for one in all_of)
        close = sum(one[problem]["loss"] <= 1.02 * one["logistic regression"]["loss"] for one in all_of)
        lines.append(f"- `{problem}`: error at most the median's on {beaten} of {len(all_of)} sets, at most mord's and a standard error on "
                     f"{near}, log loss at most 1.02 times that of logistic regression on {close}.")
    return lines


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
