"""Not speed. Made-up pictures of vehicles of three sizes: a fixed margin with a second-order kernel beside three machines and PRank."""

import figures
import job
import numpy as np
import verdicts
from measuring import table
from ordinal_boosting import told
from published import MARGINS as PUBLISHED
from scipy.ndimage import gaussian_filter
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC
from structperc_large_margin.estimators import SVOR

from structperc import Engine
from structperc.estimators import PRank

SIDE, NAMES = 20, ("Small", "Medium", "Large")
COUNTS = (8081, 3453, 2395)             # of the paper's pictures
LEARNED, TESTED, DRAWS = 500, 1000, 8
CS = (1e-3, 1e-2, 1e-1, 1.0, 10.0)      # times the scale of the kernel, which is that of pictures of unit length
NOISE = 0.25


def pictures(random, n):
    """n pictures and their ranks 1, 2, 3: a box with two wheels somewhere in the picture, sizes that overlap between ranks, noise."""
    ranks = random.choice(3, size=n, p=np.array(COUNTS) / sum(COUNTS))
    lengths, heights = random.normal(6 + 3 * ranks, 1.3), random.normal(4 + 1.2 * ranks, 0.8)
    middle = random.uniform(-1.5, 1.5, (n, 2)) + SIDE / 2
    across, down = np.meshgrid(np.arange(SIDE) + 0.5, np.arange(SIDE) + 0.5)
    found = np.empty((n, SIDE, SIDE))
    for i in range(n):
        x, y = across - middle[i, 0], down - middle[i, 1]
        box = (np.abs(x) < lengths[i] / 2) & (np.abs(y) < heights[i] / 2)
        wheels = np.minimum.reduce([np.hypot(x - side * lengths[i] / 3, y - heights[i] / 2) for side in (-1, 1)]) < 1.5
        found[i] = gaussian_filter(random.uniform(0.4, 1.0) * box - 0.5 * wheels, 0.8) + random.uniform(-0.2, 0.2)
    found += NOISE * random.normal(size=found.shape)
    rows = found.reshape(n, -1)
    return rows / np.linalg.norm(rows, axis=1)[:, None], 1 + ranks


KERNEL = dict(kernel="poly", degree=2, gamma=1.0, coef0=1.0)


def margin(C):
    return SVOR(method="fixed-margin", C=C, disordered="pool", scale=False, kernel="polynomial",
                **{name: value for name, value in KERNEL.items() if name != "kernel"})


def machines(C):
    """Each rank against the others, as in the paper; the largest of the three scores wins."""
    return OneVsRestClassifier(SVC(C=C, **KERNEL))


class KernelPRank:
    """PRank with the kernel, one pass."""

    def fit(self, X, y):
        self.engine = Engine("prank", preset="paper", plugins=["dual-kernel"], kernel="polynomial", degree=2, gamma=1.0, coef0=1.0,
                             classes=[1, 2, 3]).fit(X, y)
        return self

    def predict(self, X):
        return self.engine.predict(X)


def constants():
    """What one rank for every picture costs: share of errors and mean distance, by the paper's counts."""
    total = sum(COUNTS)
    return {name: [1 - COUNTS[k] / total, sum(abs(j - k) * count for j, count in enumerate(COUNTS)) / total]
            for k, name in enumerate(NAMES)}


def errors(model, X, y):
    distance = np.abs(model.predict(X) - y)
    return [float((distance > 0).mean()), float(distance.mean())]


def best(make, X, y):
    """The C with the least mean distance on a third of the rows, learned from the others."""
    third = len(y) // 3
    tried = {C: errors(make(C).fit(X[third:], y[third:]), X[:third], y[:third])[1] for C in CS}
    return min(tried, key=tried.get)


def measure(quick):
    found, chosen = {}, {}
    for number in range(2 if quick else DRAWS):
        random = np.random.default_rng(number)
        X, y = pictures(random, 150 if quick else LEARNED)
        tested = pictures(random, TESTED)
        if number == 0:                 # chosen on the first draw, which is not reported
            chosen = {"fixed margin": best(margin, X, y), "three machines": best(machines, X, y)}
            continue
        models = {"fixed margin": margin(chosen["fixed margin"]), "three machines": machines(chosen["three machines"]),
                  "PRank, the same kernel, one pass": KernelPRank(), "PRank, pixels, one pass": PRank(preset="paper", classes=[1, 2, 3])}
        for name, model in models.items():
            model.fit(X, y)
            found.setdefault(name, []).append(errors(model, *tested))
            if name == "fixed margin":
                require_identity(model, X, y)
    return {"C": chosen, "errors": found, "constants": constants(), "learned": 150 if quick else LEARNED, "tested": TESTED}


def require_identity(model, X, y):
    """The objective is 1/2 norm_^2 + C times the hinges; else length, scores or C have other units."""
    z = np.where(y[:, None] > [1, 2], 1, -1)
    hinges = np.maximum(0, 1 - z * model.engine_.atom_scores(X))[(y[:, None] == [1, 2]) | (y[:, None] == [2, 3])]
    ours = model.norm_**2 / 2 + model.C * hinges.sum()
    if model.status_ == "converged" and not np.isclose(ours, model.objective_, rtol=1e-6):
        raise AssertionError(f"objective {model.objective_} of the model, {ours} of its length and scores")


def report(raw):
    rows = [[name, *(told(verdicts.mean(column), verdicts.standard_error(column)) for column in zip(*values, strict=True)), theirs]
            for (name, values), theirs in zip(raw["errors"].items(), (
                f"{PUBLISHED['vehicles, share of errors']:.2f}, {PUBLISHED['vehicles, mean error']}",
                f"{PUBLISHED['vehicles, share of errors, three machines']:.2f}, not given", "not given",
                f"not given, {PUBLISHED['vehicles, mean error, PRank']}"), strict=True)]
    rows += [[f"{name} for every picture", f"{share:.3f}", f"{distance:.3f}", ""] for name, (share, distance) in raw["constants"].items()]
    better, worse = (np.array(raw["errors"][name])[:, 0] for name in ("fixed margin", "three machines"))
    verdict = verdicts.of_pairs(worse - better)
    return "\n\n".join([
        "The paper's pictures of vehicles are not to be had. In their place made-up ones: a box with two wheels, 20 × 20 pixels, at any "
        f"place, with noise. Its length and height overlap between the three sizes, which are as frequent as the paper's: {COUNTS}. "
        f"{raw['learned']} pictures to learn from and {raw['tested']:,} to test with in each of {len(better)} draws. Rows have length 1. "
        f"Kernel: (x · z + 1)². C = {raw['C']['fixed margin']:g} and {raw['C']['three machines']:g}, chosen on a further draw.",
        table(["learner", "share of errors", "mean distance", "the paper's, of its own pictures"], rows),
        "The paper has 20 % of errors for the fixed margin and 25 % for three machines of two classes. Here, draw by draw, the fixed "
        f"margin is {verdict} ({verdicts.mean(worse - better):+.3f} ± {verdicts.standard_error(worse - better):.3f}). "
        "The paper's 1.408 for PRank is what \"Large\" costs for every picture. So its baseline was degenerate: "
        "[SL-15](../../docs/errata.md).",
        "A fixed margin's objective is ½ ‖w‖² + C Σ hinges, with `norm_` and scores of the model. Otherwise the script ends with an "
        "error.",
        "![Made-up vehicles of three sizes](vehicle_pictures.png)"])


def goals(raw):
    return []                           # shown, not measured against a wish


def draw(raw, folder):
    X, y = pictures(np.random.default_rng(0), 60)
    figure, axes = figures.new(9.0, 3.4, 15, across=5)
    for i, one in enumerate(axes):
        one.imshow(X[y == 1 + i // 5][i % 5].reshape(SIDE, SIDE), cmap="gray")
        one.set_title(NAMES[i // 5] if i % 5 == 0 else "", loc="left", fontsize="small")
        one.set_axis_off()
    figure.savefig(folder / "vehicle_pictures.png")


if __name__ == "__main__":
    job.run("vehicle_pictures", "Made-up vehicles of three sizes", measure, report, goals, draw)
