"""What it costs to know ranks only as intervals, and what to do with raters who disagree. The survey is made up."""

import job
import numpy as np
from measuring import table

from structperc.estimators import IntervalPA

LEVELS, COLUMNS, LEARNED, TESTED = 5, 8, 600, 2000
EXACT, INTERVALS, MIDPOINTS, DROPPED = "exact ranks", "intervals", "their midpoints, rounded", "only exact rows"
SPAN, MEDIAN, ROWS, ONE = "lowest and highest of the three", "their median", "a row for each rater", "only the first rater"


def people(random, n):
    """Columns, and ranks 1 to 5 that follow them with noise."""
    X = random.normal(size=(n, COLUMNS))
    latent = X @ np.linspace(2, 0, COLUMNS) / 2 + 0.7 * random.normal(size=n)
    return X, np.digitize(latent, [-1.7, -0.6, 0.6, 1.7]) + 1


def told(random, y):
    """What people report of their rank: itself (a third), "2 to 3" (a third), "at least 3" or "at most 3"; pairs of lowest and highest."""
    kind, low, high = random.integers(0, 3, len(y)), y.copy(), y.copy()
    down = random.random(len(y)) < 0.5
    near, far = kind == 1, kind == 2
    low[near & down] -= 1
    high[near & ~down] += 1
    low[far & down], high[far & ~down] = 1, LEVELS
    return np.column_stack([low, high]).clip(1, LEVELS)


def rated(random, y):
    """What three raters say, each off by one rank in two of five cases."""
    return (y[:, None] + random.choice([-1, 0, 0, 0, 1], size=(len(y), 3))).clip(1, LEVELS)


def error(X, y, X_test, y_test):
    """Mean absolute error of the default estimator on true ranks."""
    model = IntervalPA(classes=range(1, LEVELS + 1), random_state=0).fit(X, y)
    return float(np.abs(model.predict(X_test) - y_test).mean())


def measure(quick):
    found = {name: [] for name in (EXACT, INTERVALS, MIDPOINTS, DROPPED, SPAN, MEDIAN, ROWS, ONE)}
    for seed in range(2 if quick else 10):
        random = np.random.default_rng(seed)
        X, y = people(random, LEARNED)
        test = people(random, TESTED)
        pairs, raters = told(random, y), rated(random, y)
        known = pairs[:, 0] == pairs[:, 1]
        ways = {
            EXACT: (X, y),
            INTERVALS: (X, pairs),
            MIDPOINTS: (X, np.floor(pairs.mean(axis=1) + random.choice([0.49, 0.51], len(y))).astype(int)),
            DROPPED: (X[known], y[known]),
            SPAN: (X, np.column_stack([raters.min(axis=1), raters.max(axis=1)])),
            MEDIAN: (X, np.median(raters, axis=1).astype(int)),
            ROWS: (np.repeat(X, 3, axis=0), raters.ravel()),
            ONE: (X, raters[:, 0]),
        }
        for name, (rows, labels) in ways.items():
            found[name].append(error(rows, labels, *test))
    return {"found": found}


def report(raw):
    def lines(names):
        return [[name, f"{np.mean(raw['found'][name]):.3f}", f"{np.mean(np.subtract(raw['found'][name], raw['found'][EXACT])):+.3f} ± "
                 f"{np.std(np.subtract(raw['found'][name], raw['found'][EXACT]), ddof=1) / len(raw['found'][name])**0.5:.3f}"]
                for name in names]

    columns = ["learned from", "mean absolute error", "beyond exact ranks"]
    return "\n\n".join([
        f"- {LEARNED} replies on a scale of {LEVELS}, {COLUMNS} columns; {len(raw['found'][EXACT])} draws; errors on the true ranks of "
        f"{TESTED:,} others. `IntervalPA` with its defaults and `classes=` throughout; differences with their standard error.",
        "## Intervals", "A third of the replies are ranks, a third two neighbouring ranks, a third \"at least\" or \"at most\".",
        table(columns, lines([EXACT, INTERVALS, MIDPOINTS, DROPPED])),
        "## Raters who disagree", "Three raters, each off by one rank in two of five cases.",
        table(columns, lines([EXACT, SPAN, MEDIAN, ROWS, ONE]))])


def goals(raw):
    cost = float(np.mean(np.subtract(raw["found"][INTERVALS], raw["found"][EXACT])))
    return [job.Goal("error that intervals add to that of exact ranks", "≤ 0.010", f"{cost:+.3f}", cost <= 0.010)]


def draw(raw, folder):
    """None. The table has all figures."""


if __name__ == "__main__":
    job.run("interval_labels", "Ranks known as intervals, and raters who disagree", measure, report, goals, draw)
