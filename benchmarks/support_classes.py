"""The support class algorithm for interval labels, as its words may be read, beside the projections of the engine."""

import sys

import attrs
import job
import numpy as np
from measuring import cpu_seconds, example_costs, median, shown, spread, table, take_turns
from reproduce_interval import streams

from structperc import Engine
from structperc.errors import MissingData, MissingExtra

TRIALS, MOST_RANKS = 4000, 9
ROWS, SHARE = 3000, 0.5                 # of the stream, and of its labels that are intervals


@attrs.frozen
class Reading:
    """What the words leave open.

    Attributes
    ----------
    start : {"both", "positive", "empty"}
        The first support sets: both neighbours of the interval, those with a positive deficit, or none.
    clipped : bool
        Deficits below 0 count as 0, as losses do.
    again : bool
        The left side is looked at again after a threshold of the right side has joined.
    """

    name: str
    start: str
    clipped: bool
    again: bool = True

    def root(self, theta, f, s, low, high):
        """The step's factor a of x, and the multipliers of the thresholds left and right of the interval, nearest first."""
        left, right = (1 - f + theta[:low - 1])[::-1], 1 + f - theta[high - 1:]
        if self.clipped:
            left, right = np.maximum(left, 0), np.maximum(right, 0)
        least = {"both": -np.inf, "positive": 0.0, "empty": np.inf}[self.start]
        p, q = int(len(left) > 0 and left[0] > least), int(len(right) > 0 and right[0] > least)
        open_left = True
        while True:
            a = (left[:p].sum() - right[:q].sum()) / (1 + s * (p + q))
            if open_left and p < len(left) and left[p] > a * s:
                p += 1
            elif q < len(right) and right[q] > -a * s:
                q += 1
                open_left = self.again
            else:
                return a, left[:p] - a * s, right[:q] + a * s

    def step(self, theta, f, s, low, high):
        """The factor a and the thresholds after it."""
        a, left, right = self.root(theta, f, s, low, high)
        moved = theta.copy()
        moved[low - 1 - len(left):low - 1] -= left[::-1]
        moved[high - 1:high - 1 + len(right)] += right
        return a, moved


READINGS = [
    Reading("no threshold first, deficits, both sides again", "empty", False),
    Reading("positive neighbours first, deficits, both sides again", "positive", False),
    Reading("both neighbours first, deficits, both sides again", "both", False),
    Reading("both neighbours first, losses, both sides again", "both", True),
    Reading("no threshold first, losses, both sides again", "empty", True),
    Reading("no threshold first, deficits, left side once", "empty", False, False),
    Reading("positive neighbours first, deficits, left side once", "positive", False, False),
]
EXACT, LITERAL = READINGS[0], READINGS[3]


# ---- single trials ----

def trials(n):
    """(thresholds, score, squared length of x, interval) that teach something, rounded so that ties occur."""
    random = np.random.default_rng(0)
    while n:
        K = int(random.integers(2, MOST_RANKS + 1))
        theta, f, s = np.sort(np.round(2 * random.normal(size=K - 1), 1)), np.round(2 * random.normal(), 1), random.choice([0.25, 1.0, 4.0])
        low, high = np.sort(random.integers(1, K + 1, 2)).tolist()
        if max((1 - f + theta[:low - 1]).max(initial=-1), (1 + f - theta[high - 1:]).max(initial=-1)) > 1e-9:
            n -= 1
            yield theta, float(f), float(s), low, high


def projection(theta, f, s, low, high):
    """The engine's step from these weights: its a, and its thresholds."""
    K, x = len(theta) + 1, np.sqrt(s)
    engine = Engine("interval-pa", preset="paper", classes=range(1, K + 1)).fit([[0.0]], [[1, K]])
    engine.parts_.weights.restore({**engine.parts_.weights.state(), "weights": np.array([f / x, *theta])})
    engine.partial_fit([[x]], [[low, high]])
    return float(engine.coef_[0] - f / x) / x, np.array(engine.thresholds_)


def length(trial, a, thresholds):
    theta, _, s, _, _ = trial
    return float(np.sqrt(a**2 * s + ((thresholds - theta)**2).sum()))


def compared(n):
    """For each reading: shares of trials with another step and with crossed thresholds; how much longer such steps are."""
    drawn = list(trials(n))
    exact = [projection(*trial) for trial in drawn]
    found = {}
    for reading in READINGS:
        steps = [reading.step(*trial) for trial in drawn]
        missed = [i for i, ((a, moved), (b, right)) in enumerate(zip(steps, exact, strict=True))
                  if abs(a - b) > 1e-9 or np.abs(moved - right).max(initial=0) > 1e-9]
        longer = [length(drawn[i], *steps[i]) / length(drawn[i], *exact[i]) for i in missed]
        found[reading.name] = {"missed": len(missed) / n, "longer": [median(longer), max(longer)] if longer else None,
                               "crossed": float(np.mean([np.diff(moved).min(initial=0) < -1e-9 for _, moved in steps]))}
    if found[EXACT.name]["missed"] > 0:
        raise AssertionError("the reading that is the projection differs from the engine's step")
    return found


# ---- a stream ----

def abalone(n):
    """Standardised rows, ranks, and labels half of which are intervals."""
    stream = next(one for one in streams() if one.name == "Abalone")
    random = np.random.default_rng(1)
    order, K = random.permutation(len(stream.y))[:n], len(stream.labels)
    X, y = stream.X[order], stream.y[order]
    blurred = random.random(n) < SHARE
    low = np.where(blurred, np.maximum(y - random.integers(0, 2, n), 1), y)
    return X, y, np.c_[low, np.where(blurred, np.minimum(y + random.integers(0, 2, n), K), y)], K


def learned(reading, X, y, intervals, K):
    """One pass: the mean error of the predictions made before each step. Trials whose thresholds were crossed; their predictions count."""
    w, theta, errors, crossed = np.zeros(X.shape[1]), np.zeros(K - 1), 0, 0
    for x, rank, (low, high) in zip(X, y, intervals, strict=True):
        f = x @ w
        errors += abs(1 + (f >= theta).sum() - rank)
        if max((1 - f + theta[:low - 1]).max(initial=-1), (1 + f - theta[high - 1:]).max(initial=-1)) > 0:
            a, theta = reading.step(theta, f, x @ x, low, high)
            w = w + a * x
        crossed += np.diff(theta).min(initial=0) < -1e-9
    return float(errors / len(y)), float(crossed / len(y))


def engine_learned(X, y, intervals, K):
    """The same of the engine."""
    engine = Engine("interval-pa", preset="paper", classes=range(1, K + 1)).fit(X, intervals, record_predictions=True)
    return float(np.abs(engine.online_predictions_ - y).mean())


def measure(quick):
    n, rows = (TRIALS // 10, ROWS // 10) if quick else (TRIALS, ROWS)
    data = abalone(rows)
    found = {"trials": n, "rows": rows, "readings": compared(n), "engine": engine_learned(*data),
             "streams": {reading.name: learned(reading, *data) for reading in READINGS}}
    if abs(found["streams"][EXACT.name][0] - found["engine"]) > 2 / rows:         # a tie but for rounding may go the other way
        raise AssertionError("the reading that is the projection predicts other ranks than the engine")
    drawn = list(trials(n))
    found["python"] = take_turns({one.name: lambda one=one: cpu_seconds(lambda: [one.step(*trial) for trial in drawn]) / n * 1e6
                                  for one in (EXACT, LITERAL)}, 5)
    X, _, intervals, K = data
    found["compiled"] = take_turns({"sweep": lambda: example_costs(
        lambda epochs: Engine("interval-pa", preset="paper", epochs=epochs, classes=range(1, K + 1)).fit(X, intervals), 10, rows)}, 5)
    return found


# ---- what is shown ----

def report(raw):
    rows = []
    for name, one in raw["readings"].items():
        longer = "" if one["longer"] is None else f"{shown(one['longer'][0])}, up to {shown(one['longer'][1])}"
        error, crossed = raw["streams"][name]
        rows.append([name, f"{one['missed']:.1%}", longer, f"{one['crossed']:.1%}", f"{error:.4f}", f"{crossed:.1%}"])
    return "\n\n".join([
        "The boxes of the paper's algorithms 1 to 3 are missing in the copy. Its words allow seven readings of PA. A reading misses if its "
        "step is not the projection, as the engine computes it. \"Deficits\" may be negative, \"losses\" not.",
        f"{raw['trials']:,} drawn trials of 2 to {MOST_RANKS} ranks, each of which teaches something. {raw['rows']:,} rows of Abalone "
        f"with {SHARE:.0%} intervals, one pass of each reading from zero: the mean distance of its online predictions from the ranks. "
        f"The engine's is {raw['engine']:.4f}.",
        table(["reading", "misses", "length of its step, in those of the projection", "crosses thresholds", "Abalone: error",
               "trials with crossed thresholds"], rows),
        f"The first reading equals the engine's projection in all {raw['trials']:,} trials; otherwise the script ends with an error.",
        "## Time",
        "The exact reading and the literal one, both in Python with numpy: microseconds of a step. The engine sweeps over breakpoints in "
        "compiled code: nanoseconds of a visit of a row of Abalone, its score included.",
        table(["what", "time"], [*([f"{name}, µs", spread(found)] for name, found in raw["python"].items()),
                                 *([f"engine, {name}, ns", spread(found)] for name, found in raw["compiled"].items())])])


def goals(raw):
    return []                           # shown, not measured against a wish


def draw(raw, folder):
    pass                                # tables only


if __name__ == "__main__":
    try:
        job.run("support_classes", "The support class algorithm beside the projection", measure, report, goals, draw)
    except (MissingData, MissingExtra) as error:
        sys.exit(str(error))
