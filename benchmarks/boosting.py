"""Boosted stumps for ordered labels: time of a search, a round and a prediction; skordinal's ORBoost where it is installed."""

import functools
import importlib.util

import job
import numpy as np
from measuring import cpu_seconds, median, spread, table, take_turns
from structperc_boosting.stump_search import SortedColumns

from structperc import Engine

SEARCH_GOAL, FIT_GOAL, PREDICT_GOAL = 10, 2, 1      # nanoseconds per row, column and round; seconds; microseconds per 100 stumps
ROWS, COLUMNS, RANKS, STUMPS = 6_000, 16, (5, 10, 20), 1_000        # as the census data of the published experiment


def measure(quick):
    n, stumps = (ROWS // 10, STUMPS // 10) if quick else (ROWS, STUMPS)
    return {"stumps": stumps, "rows": n, "cases": [compare(*workload(n, ranks), ranks, stumps) for ranks in RANKS]}


def workload(n, ranks):
    """Rows whose rank is a noisy sum of non-linear functions of single columns. All ranks are equally frequent."""
    random = np.random.default_rng(ranks)
    X = random.normal(size=(n, COLUMNS))
    latent = X[:, 0] + X[:, 1] ** 2 + np.abs(X[:, 2]) + 0.5 * random.normal(size=n)
    return X, np.digitize(latent, np.quantile(latent, np.arange(1, ranks) / ranks)) + 1


def compare(X, y, ranks, stumps):
    engine = Engine("adaboost-or", preset="paper", epochs=stumps)
    columns, costs = SortedColumns(X), np.random.default_rng(0).random((len(X), ranks))
    contenders = {
        "sort": functools.partial(cpu_seconds, SortedColumns, X),
        "search": lambda: cpu_seconds(lambda: [columns.search(costs) for _ in range(10)]) / 10,
        "fit": functools.partial(cpu_seconds, engine.fit, X, y),
        "predict": lambda: cpu_seconds(engine.predict, X) / len(engine.votes_) * 100,
    }
    if importlib.util.find_spec("skordinal"):
        contenders["ORBoost"] = functools.partial(cpu_seconds, orboost, X, y, stumps // 10)
    return {"ranks": ranks, "seconds": take_turns(contenders, 3)}


def orboost(X, y, stumps):
    from skordinal.classifiers import ORBoost

    ORBoost(n_estimators=stumps).fit(X, y)


def per_value(raw, seconds, rounds=1):
    """Nanoseconds per row, column and round."""
    return [s / raw["rows"] / COLUMNS / rounds * 1e9 for s in seconds]


def micro(raw, seconds):
    return [s / raw["rows"] * 1e6 for s in seconds]


# ---- what is shown ----

def report(raw):
    rows = []
    for case in raw["cases"]:
        took = case["seconds"]
        other = spread(per_value(raw, took["ORBoost"], raw["stumps"] // 10)) if "ORBoost" in took else "not installed"
        rows.append([case["ranks"], spread([1e3 * s for s in took["sort"]]), spread(per_value(raw, took["search"])), spread(took["fit"]),
                     spread(per_value(raw, took["fit"], raw["stumps"])), spread(micro(raw, took["predict"])), other])
    return "\n\n".join([
        f"{raw['rows']:,} rows of {COLUMNS} columns without ties, {raw['stumps']:,} stumps, absolute costs. A search looks at both "
        f"directions of all columns. A round is a search, and its update of costs and votes. Columns are sorted once a fit.",
        table(["ranks", "sorting, ms", "search, ns per row and column", "fit, s", "fit, ns per row, column and round",
               "prediction, µs per row and 100 stumps", "ORBoost, ns per row, column and round"], rows)])


def goals(raw):
    ten = next(case["seconds"] for case in raw["cases"] if case["ranks"] == 10)
    found = per_value(raw, ten["search"]), ten["fit"], micro(raw, ten["predict"])
    wanted = SEARCH_GOAL, FIT_GOAL, PREDICT_GOAL
    what = ("search for a stump, 10 ranks, ns per row and column", f"{raw['stumps']:,} stumps on {raw['rows']:,} x {COLUMNS}, 10 ranks, s",
            "prediction, 10 ranks, µs per row and 100 stumps")
    return [job.Goal(name, f"≤ {most}", spread(values), median(values) <= most)
            for name, most, values in zip(what, wanted, found, strict=True)]


def draw(raw, folder):
    """Six numbers a line need no figure."""


if __name__ == "__main__":
    job.run("boosting", "Boosted stumps for ordered labels", measure, report, goals, draw)
