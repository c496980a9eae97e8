"""Boosted trees below ordered labels: BinaryReduction beside LightGBM's classes and regression, K - 1 binary trees, and kernels.

    python benchmarks/levels_from_trees.py [--folds 5] [--sets abalone 5,california 10]

All methods have the same folds and one thread.
"""

import argparse
import os
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.model_selection import StratifiedKFold

from structperc.estimators import BinaryReduction, CuSumRank, OrdinalConformal

DATA = os.environ.get("STRUCTPERC_DATA", "../shared/data")
SETS = {"abalone 5": ("chu_ghahramani/abalone.csv.gz", 5), "stocksdomain 10": ("chu_ghahramani/stocksdomain.csv", 10),
        "cpu_small 10": ("regression/cpu_small.csv.gz", 10), "california 10": ("regression/california.csv.gz", 10)}
MOST_ROWS = 4000
SMALLEST = 1e-6             # of a probability in the log loss


def examples(path, n_levels):
    """Numbers, and levels of equal frequency of the last column."""
    table = pd.read_csv(f"{DATA}/{path}")
    table = table.sample(min(len(table), MOST_ROWS), random_state=0)
    X = pd.get_dummies(table.iloc[:, :-1]).to_numpy(dtype=float)
    ends = np.quantile(table.iloc[:, -1], np.arange(1, n_levels) / n_levels)
    return X, np.digitize(table.iloc[:, -1], ends)


def booster(kind, **options):
    return kind(n_jobs=1, verbosity=-1, random_state=0, **options)


def by_binaries(X, y, X_test, n_levels):
    """P(y > k) by a classifier for each k, sorted."""
    above = np.stack([booster(LGBMClassifier).fit(X, y > k).predict_proba(X_test)[:, 1] for k in range(n_levels - 1)], axis=1)
    return -np.diff(np.sort(above, axis=1)[:, ::-1], axis=1, prepend=1, append=0)


def by_regression(X, y, X_test, n_levels):
    return np.clip(np.rint(booster(LGBMRegressor).fit(X, y).predict(X_test)), 0, n_levels - 1), None


def probabilities(model):
    def run(X, y, X_test, n_levels):
        table = model().fit(X, y).predict_proba(X_test)
        return None, table
    return run


METHODS = {
    "BinaryReduction(LGBM)": probabilities(lambda: BinaryReduction(booster(LGBMClassifier))),
    "BinaryReduction(LGBM, falling=True)": probabilities(lambda: BinaryReduction(booster(LGBMClassifier), falling=True)),
    "LGBM, classes, median": probabilities(lambda: booster(LGBMClassifier)),
    "LGBM, regression, rounded": by_regression,
    "LGBM, K - 1 binaries": lambda X, y, X_test, n_levels: (None, by_binaries(X, y, X_test, n_levels)),
    "CuSumRank, rbf": probabilities(lambda: CuSumRank(kernel="rbf", random_state=0, update="log-loss", epochs=5)),
}


def measures(levels, table, y):
    """Mean absolute error, log loss, ranked probability score."""
    if table is None:
        return [np.abs(levels - y).mean(), np.nan, np.nan]
    above = 1 - table.cumsum(axis=1)[:, :-1]
    median, right = (above > 0.5).sum(axis=1), y[:, None] > np.arange(table.shape[1] - 1)
    log_loss = -np.log(np.maximum(table[np.arange(len(y)), y], SMALLEST)).mean()
    return [np.abs(median - y).mean(), log_loss, ((above - right) ** 2).sum(axis=1).mean()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--sets", default=",".join(SETS))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| set | method | MAE | log loss | RPS | levels in an interval at .90 | CPU s |\n|---|---|---|---|---|---|---|")
    for name in arguments.sets.split(","):
        X, y = examples(*SETS[name])
        n_levels, folds = SETS[name][1], list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))[:arguments.folds]
        for method, run in METHODS.items():
            rows, began = [], time.process_time()
            for train, test in folds:
                rows.append(measures(*run(X[train], y[train], X[test], n_levels), y[test]))
            seconds, width = (time.process_time() - began) / len(folds), np.nan
            if method.startswith("BinaryReduction") or "classes" in method:
                width = interval(method, X, y, *folds[0])
            numbers = " | ".join(f"{value:.3f}" for value in (*np.mean(rows, axis=0), width, seconds))
            print(f"| {name} | {method} | {numbers} |", flush=True)


def interval(method, X, y, train, test):
    """How many levels a conformal interval of the first fold has."""
    model = {"LGBM, classes, median": booster(LGBMClassifier), "BinaryReduction(LGBM)": BinaryReduction(booster(LGBMClassifier))}.get(
        method, BinaryReduction(booster(LGBMClassifier), falling=True))
    conformal = OrdinalConformal(model, coverage=0.9, random_state=0).fit(X[train], y[train])
    return np.asarray(conformal.predict_set(X[test])).sum(axis=1).mean()


if __name__ == "__main__":
    main()
