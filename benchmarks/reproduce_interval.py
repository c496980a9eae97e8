"""The published experiment with interval labels: exact passive-aggressive ranking beside PRank and the multiclass perceptron, online."""

import functools
import itertools
import sys
import time

import attrs
import job
import numpy as np
from matplotlib.figure import Figure
from measuring import table
from scipy import sparse

from structperc import Engine, files
from structperc.errors import MissingData, MissingExtra
from structperc.files.datasets import load_numbers, locate

VARIANTS = {"PA": "exact-pa", "PA-I": "exact-pa1", "PA-II": "exact-pa2"}
RIVALS = {"PRank": functools.partial(Engine, "prank", preset="paper", variant="original"),
          "multiclass": functools.partial(Engine, "multiclass", preset="paper")}
SHARES = (0, 50, 75)                    # per cent of the labels that are intervals
CS = (1e-4, 3e-4, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)       # aggressiveness of PA-I and PA-II: what is tried,
PREFIX = 1000                           # on so many first trials
ORDERS, SEED = 100, 1
NEAR = 0.05                             # results that differ by this share or less match
EARLY = (100, 1000)                     # trials after which a table shows who is ahead
LIMIT = 120                             # CPU seconds of everything


@attrs.frozen(eq=False)
class Stream:
    """Rows with their ranks 1..K."""

    name: str
    X: object
    y: np.ndarray
    about: str
    shown: bool = True

    @property
    def labels(self):
        return np.arange(1, self.y.max() + 1)


# ---- data ----

def streams():
    """The paper's data sets and cuts; MSLR-WEB10K is replaced by a small set with as many grades."""
    california, abalone, parkinsons = map(load_numbers, ("california", "abalone", "parkinsons"))
    score = "total_UPDRS"
    cuts = (17, 27, 37)
    yield Stream("California", standardised(california.without("medianHouseValue")),
                 cut(california.column("medianHouseValue"), (100_000, 200_000, 300_000, 400_000)), "8 features")
    yield Stream("Abalone", standardised(abalone.without("rings")), cut(abalone.column("rings"), (7, 9, 12)),
                 "8 attributes, the sex as three indicators")
    yield Stream("Parkinson", standardised(parkinsons.without("subject#", "motor_UPDRS", score)), cut(parkinsons.column(score), cuts),
                 "16 measures of the voice, age, sex and time of the test")
    yield lambdarank()
    yield Stream("Parkinson, 22 columns", standardised(parkinsons.values), cut(parkinsons.column(score), cuts),
                 "all columns, with the subject's number and both scores, one of which is what is ranked", shown=False)


def lambdarank():
    tables = [files.read(path, format="svmlight") for path in locate("lightgbm_lambdarank")]
    width = max(part.X.shape[1] for part in tables)
    for part in tables:
        part.X.resize(part.X.shape[0], width)
    X = sparse.vstack([part.X for part in tables], format="csr")
    return Stream("LambdaRank", X, np.concatenate([part.y for part in tables]) + 1, "300 sparse features within 0..1, left as they are")


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def cut(values, ends):
    """Ranks 1, 2, ...; values up to the first end have rank 1."""
    return 1 + np.searchsorted(ends, values)


def intervals(y, highest, share, random):
    """Labels (n, 2): a share of them, in per cent, becomes [y-1, y], [y, y+1] or [y-1, y+1], clipped to 1..highest."""
    low, high = y.copy(), y.copy()
    rows = random.permutation(len(y))[:round(share / 100 * len(y))]
    kind = random.integers(3, size=len(rows))
    low[rows] -= kind != 1
    high[rows] += kind != 0
    return np.column_stack([low, high]).clip(1, highest)


# ---- runs ----

def measure(quick):
    begin = time.process_time()
    found = [compare(stream, 5 if quick else ORDERS, 2000 if quick else None) for stream in streams()]
    return {"streams": found, "cpu_seconds": time.process_time() - begin}


def compare(stream, orders, most):
    """Running errors of all learners after some of the trials, for every order."""
    n = min(len(stream.y), most or len(stream.y))
    at = np.union1d(np.geomspace(20, n, 50).round().astype(int), EARLY)
    curves, chosen = {}, {}
    for number in range(orders):
        random = np.random.default_rng([SEED, number])
        order = random.permutation(len(stream.y))[:n]
        X, y = stream.X[order], stream.y[order]
        for share in SHARES:
            labels = intervals(y, stream.labels[-1], share, random)
            for name, update in VARIANTS.items():
                make = functools.partial(Engine, "interval-pa", preset="paper", update=update, classes=stream.labels)
                if name != "PA":
                    make, C = with_best_C(make, X[:PREFIX], labels[:PREFIX])
                    chosen.setdefault(key(name, share), []).append(C)
                predicted = online(make, X, labels)
                curves.setdefault(key(name, share), []).append(
                    [running(distance(predicted, np.column_stack([y, y])), at), running(distance(predicted, labels), at)])
        for name, make in RIVALS.items():
            off = distance(online(functools.partial(make, classes=stream.labels), X, y), np.column_stack([y, y]))
            curves.setdefault(name, []).append([running(off, at)] * 2)
    return {"name": stream.name, "n": len(stream.y), "trials": n, "classes": np.bincount(stream.y)[1:].tolist(), "about": stream.about,
            "shown": stream.shown, "at": at.tolist(), "C": chosen, "results": {name: summary(np.array(c)) for name, c in curves.items()}}


def key(name, share):
    return f"{name} {share}"


def online(make, X, labels):
    """The predictions made before each step, in one pass."""
    return make().fit(X, labels, record_predictions=True).online_predictions_


def with_best_C(make, X, labels):
    """The learner with the C of the smallest error on the labels of these trials. Of those that tie, the smallest."""
    C = min(CS, key=lambda C: distance(online(functools.partial(make, C=C), X, labels), labels).sum())
    return functools.partial(make, C=C), C


def distance(predicted, labels):
    """How far predictions lie outside their intervals."""
    return np.maximum(0, np.maximum(labels[:, 0] - predicted, predicted - labels[:, 1]))


def running(errors, at):
    """The mean of the first errors, for some numbers of trials."""
    return errors.cumsum()[at - 1] / at


def summary(curves):
    """Of an array (orders, 2, points): the second axis is the error against exact labels, then that against the labels used."""
    return {error: {"mean": of.mean(axis=0).tolist(), "low": np.quantile(of, 0.1, axis=0).tolist(),
                    "high": np.quantile(of, 0.9, axis=0).tolist(), "final": of[:, -1].tolist()}
            for error, of in (("exact", curves[:, 0]), ("used", curves[:, 1]))}


# ---- the paper's claims ----

@attrs.frozen
class Claim:
    """Learners beat, or match, others on a stream, with some shares of intervals."""

    stream: str
    shares: tuple
    learners: tuple
    rivals: tuple = tuple(RIVALS)
    match: bool = False

    def __str__(self):
        shares = ", ".join(f"{share} %" for share in self.shares)
        return (f"{self.stream}, {shares} intervals: {', '.join(self.learners)} {'match' if self.match else 'beat'} "
                f"{' and '.join(self.rivals)}")

    def checked(self, results):
        """How many of its parts hold, of how many, and the numbers."""
        failed, parts = [], list(itertools.product(self.learners, self.shares, self.rivals))
        for learner, share, rival in parts:
            ours, theirs = (np.array(results[name]["exact"]["final"]) for name in (key(learner, share), rival))
            less = theirs - ours                # of the same orders
            if self.match:
                holds = abs(less.mean()) <= NEAR * theirs.mean()
            else:
                holds = less.mean() > 2 * less.std(ddof=1) / np.sqrt(len(less))
            if not holds:
                better = " (it does better)" if self.match and less.mean() > 0 else ""
                failed.append(f"{learner} with {share} % against {rival}{better}")
        numbers = [f"{learner} " + " / ".join(f"{mean(results[key(learner, share)]):.3f}" for share in self.shares)
                   for learner in self.learners]
        numbers += [f"{rival} {mean(results[rival]):.3f}" for rival in self.rivals]
        return len(parts) - len(failed), len(parts), "; ".join(numbers) + (f". Not so: {', '.join(failed)}" if failed else "")


ALL, UNCAPPED = tuple(VARIANTS), ("PA", "PA-II")
CLAIMS = (
    Claim("California", SHARES, ALL), Claim("Abalone", SHARES, ALL), Claim("Parkinson", (0, 50), ALL), Claim("Parkinson", (75,), ("PA-I",)),
    Claim("Parkinson", (75,), UNCAPPED, ("PRank",), match=True), Claim("LambdaRank", SHARES, ("PA-I",)),
    Claim("LambdaRank", SHARES, UNCAPPED, ("multiclass",)),
)


def mean(result, error="exact"):
    return result[error]["mean"][-1]


def claims(found):
    """A row for each claim: what, whether it holds here, the numbers."""
    results = {one["name"]: one["results"] for one in found}
    rows = [[claim, *verdict(*claim.checked(results[claim.stream]))] for claim in CLAIMS]
    for name in dict.fromkeys(claim.stream for claim in CLAIMS):
        falls = {variant: [mean(results[name][key(variant, share)], "used") for share in SHARES] for variant in VARIANTS}
        kept = sum(a > b > c for a, b, c in falls.values())
        numbers = "; ".join(f"{variant} " + " / ".join(f"{error:.3f}" for error in errors) for variant, errors in falls.items())
        rows.append([f"{name}: the error against the labels used falls as the share of intervals grows",
                     *verdict(kept, len(falls), numbers)])
    return rows


def verdict(kept, of, numbers):
    return "yes" if kept == of else f"no: {kept} of {of}" if kept else "no", numbers


# ---- what is shown ----

def report(raw):
    found = raw["streams"]
    orders = len(found[0]["results"]["PRank"]["exact"]["final"])
    return "\n\n".join([
        "One pass over each data set, every row predicted before it is learned from, in "
        f"{orders} random orders. Errors are means over all trials of a pass. A table shows their mean over the orders. In brackets is "
        "the range of the middle 80 % of the orders.",
        choices(), "## Data", data_table(found), "## Claims of the paper",
        "\"Beat\": the mean difference, order by order, is more than twice its standard error. "
        f"\"Match\": the means differ by at most {NEAR:.0%}. Numbers are errors against exact labels, for the shares of intervals in "
        "turn. The last rows have errors against the labels used.",
        table(["claim", "holds here", "numbers"], claims(found)), "## Who is ahead when",
        "Mean errors against exact labels of the first trials, all learning from exact labels.", early_table(found), "## Final values",
        "![Error against exact labels](reproduce-interval-exact.png)\n\n![Error against the labels used](reproduce-interval-used.png)",
        *(f"### {one['name']}\n\n{final_table(one)}" for one in found)])


def choices():
    """What the paper leaves open, and what is done here."""
    return "\n".join([
        "- Intervals: the given percentage of the rows, drawn anew for each order, gets an interval. It is `[y-1, y]`, `[y, y+1]` or "
        "`[y-1, y+1]` with equal chances, clipped to the labels. So an interval at either end may be exact. The paper's own list of "
        "intervals is not known.",
        f"- C of PA-I and PA-II is one of {', '.join(f'{C:g}' for C in CS)}. It has the smallest error against the labels used on the "
        "first "
        f"{PREFIX:,} trials of the same order. The pass then starts anew. So these {PREFIX:,} trials are seen twice by PA-I and PA-II.",
        "- PRank is Crammer and Singer's own. The multiclass perceptron has a constant feature, where the others have thresholds; of "
        "classes that tie it takes the lowest. Both learn from exact labels. No learner averages its weights.",
        "- Features have mean 0 and variance 1 over the whole set, but for LambdaRank's.",
        "- LambdaRank, the example of LightGBM with 5 grades, replaces MSLR-WEB10K, which is not to be had.",
    ])


def data_table(found):
    return table(["data", "rows", "trials", "rows of each class", "features"],
                 [[one["name"], f"{one['n']:,}", f"{one['trials']:,}", " ".join(map(str, one["classes"])), one["about"]] for one in found])


def early_table(found):
    rows = []
    for one in found:
        errors = {name: one["results"][key(name, 0) if name in VARIANTS else name]["exact"]["mean"] for name in LOOKS}
        rows += [[one["name"], f"{trials:,}", *(f"{error[one['at'].index(trials)]:.3f}" for error in errors.values())]
                 for trials in (*EARLY, one["trials"])]
    return table(["data", "trials", *LOOKS], rows)


def final_table(one):
    rows = []
    for name, result in one["results"].items():
        learner, _, share = name.partition(" ")
        Cs = one["C"].get(name, [])
        rows.append([learner, f"{share or 0} %", banded(result["exact"]), banded(result["used"]),
                     ", ".join(f"{C:g}: {Cs.count(C)}" for C in CS if C in Cs)])
    return table(["learner", "intervals", "error against exact labels", "error against the labels used", "C: orders that chose it"], rows)


def banded(error):
    return f"{error['mean'][-1]:.4f} ({error['low'][-1]:.4f}–{error['high'][-1]:.4f})"


def goals(raw):
    return [job.Goal("the whole experiment, CPU seconds", f"≤ {LIMIT}", f"{raw['cpu_seconds']:.0f}", raw["cpu_seconds"] <= LIMIT)]


LOOKS = {                               # of a line, told apart by more than its shade
    "PA": {"color": "0.0", "linestyle": "-", "marker": "o"}, "PA-I": {"color": "0.0", "linestyle": "--", "marker": "s"},
    "PA-II": {"color": "0.0", "linestyle": ":", "marker": "^"}, "PRank": {"color": "0.5", "linestyle": "-", "marker": "D"},
    "multiclass": {"color": "0.5", "linestyle": "--", "marker": "v"},
}


def draw(raw, folder):
    found = [one for one in raw["streams"] if one["shown"]]
    grid(folder / "reproduce-interval-exact.png", found, "exact", "mean error against exact labels",
         {f"{share} % intervals": {name: (key(name, share) if name in VARIANTS else name, look) for name, look in LOOKS.items()}
          for share in SHARES})
    looks = dict(zip(SHARES, LOOKS.values(), strict=False))
    grid(folder / "reproduce-interval-used.png", found, "used", "mean error against the labels used",
         {name: {f"{share} % intervals": (key(name, share), looks[share]) for share in SHARES} for name in VARIANTS})


def grid(path, found, error, ylabel, rows):
    """Errors over trials, a column for each data set; bands hold the middle 80 % of the orders.

    Parameters
    ----------
    rows : dict of title to dict of label to (name of a result, how its line looks)
    """
    figure = Figure(figsize=(3.3 * len(found), 2.7 * len(rows) + 0.4), layout="constrained", dpi=150)
    axes = figure.subplots(len(rows), len(found), sharex="col", sharey="col")
    for (title, lines), across in zip(rows.items(), axes, strict=True):
        for one, panel in zip(found, across, strict=True):
            for i, (label, (name, look)) in enumerate(lines.items()):
                of = one["results"][name][error]
                panel.fill_between(one["at"], of["low"], of["high"], color=look["color"], alpha=0.09, linewidth=0)
                panel.plot(one["at"], of["mean"], label=label, linewidth=1.3, markersize=4.5, markevery=(2 * i, 10),
                           markerfacecolor="white", **look)
            panel.set(xscale="log", title=f"{one['name']}, {title}")
            panel.spines[["top", "right"]].set_visible(False)
            panel.grid(color="0.9", linewidth=0.6)
    figure.supxlabel("trials")
    figure.supylabel(ylabel)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), frameon=False, ncols=5, loc="outside upper center")
    figure.savefig(path)


if __name__ == "__main__":
    try:
        job.run("reproduce-interval", "Interval labels: the published experiment", measure, report, goals, draw)
    except (MissingData, MissingExtra) as error:
        sys.exit(str(error))
