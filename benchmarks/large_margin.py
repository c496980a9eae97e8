"""Support vector ordinal regression with kernels: whole fits, memory, held-out errors and predictions beside other libraries.

Rows of skordinal are left out where it is not installed. Fits of many seconds run once, like all others here.
"""

import functools
import importlib.util

import job
import numpy as np
from measuring import cpu_seconds, peak_growth, shown, table
from sklearn.svm import SVC
from structperc_large_margin.estimators import SVOR

from structperc.estimators import PRank

ROWS, LARGE = (1_000, 2_000, 5_000), 20_000
RANKS, COLUMNS, GAMMA, TOLERANCE, CACHE = 5, 10, 0.1, 1e-3, 200
TESTED = 1_000
COSTS = (1.0, 10.0)
SECONDS_LARGE, MICROSECONDS, SVOR_TIMES, REDSVM_TIMES = 15, 10, 10, 2.5      # goals
SUPPORT_ROWS = 2_000        # of the prediction that is timed
MARGIN = 100                # MiB besides the cache: what the process takes for anything, and n K numbers


def measure(quick):
    small = 10 if quick else 1
    kernels = [compare(n // small, n < LARGE) for n in (*ROWS, LARGE)]
    return {"kernels": kernels, "prediction": prediction(SUPPORT_ROWS // small)}


def workload(n, seed=0):
    """Rows whose rank depends on products and waves, with noise; all ranks equally frequent; the last `TESTED` are held out."""
    random = np.random.default_rng([n, seed])
    X = random.normal(size=(n + TESTED, COLUMNS))
    latent = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3]) + 0.5 * random.normal(size=len(X))
    return X, np.digitize(latent, np.quantile(latent, np.arange(1, RANKS) / RANKS)) + 1


def compare(n, all_of_them):
    X, y = workload(n)
    contenders = {}
    for C in COSTS:
        for method in ("implicit", "explicit"):
            contenders[f"SVOR {method}", C] = lambda method=method, C=C: SVOR(method, C=C, gamma=GAMMA, tol=TOLERANCE, cache_size=CACHE)
        contenders["scikit-learn SVC", C] = lambda C=C: SVC(C=C, gamma=GAMMA, tol=TOLERANCE, cache_size=CACHE)
        if all_of_them and importlib.util.find_spec("skordinal"):
            contenders |= {(name, C): functools.partial(make, C) for name, make in skordinal_ones().items()}
    contenders["PRank, online, 20 epochs", None] = lambda: PRank(kernel="rbf", gamma=GAMMA, epochs=20, random_state=0)
    return {"rows": n, "fits": [{"name": name, "C": C, **fitted(make(), X, y)} for (name, C), make in contenders.items()]}


def skordinal_ones():
    from skordinal.classifiers import REDSVM
    from skordinal.classifiers import SVOR as Theirs

    return {
        "skordinal SVOR implicit": lambda C: Theirs(C=C, gamma=GAMMA, constraints="implicit"),
        "skordinal SVOR explicit": lambda C: Theirs(C=C, gamma=GAMMA, constraints="explicit"),
        "skordinal REDSVM": lambda C: REDSVM(C=C, gamma=GAMMA, cache_size=CACHE),
    }


def fitted(model, X, y):
    """CPU seconds and memory of a fit, held-out error, microseconds of a prediction, gap and support."""
    seconds = []
    _, mib = peak_growth(lambda: seconds.append(cpu_seconds(model.fit, X[:-TESTED], y[:-TESTED])))
    predicted = []
    spent = cpu_seconds(lambda: predicted.append(model.predict(X[-TESTED:])))
    of_support = getattr(model, "support_", None)
    return {"seconds": seconds[0], "mib": mib, "mae": float(np.abs(predicted[0] - y[-TESTED:]).mean()), "predict": spent / TESTED * 1e6,
            "support": None if of_support is None else len(of_support),
            "gap": model.gap_ / model.objective_ if isinstance(model, SVOR) else None}


def prediction(n):
    """Microseconds of a prediction from about n support rows."""
    X, y = workload(int(1.4 * n), seed=1)
    model = SVOR("implicit", C=1.0, gamma=GAMMA).fit(X[:-TESTED], y[:-TESTED])
    many = np.tile(X, (4, 1))
    return {"support": len(model.support_), "predict": min(cpu_seconds(model.predict, many) for _ in range(5)) / len(many) * 1e6}


# ---- what is shown ----

def report(raw):
    kernels = [[f"{case['rows']:,}", one["name"], "" if one["C"] is None else shown(one["C"]), shown(one["seconds"]),
                "" if one["mib"] is None else shown(one["mib"]), shown(one["mae"]), "" if one["gap"] is None else f"{one['gap']:.1e}",
                "" if one["support"] is None else f"{one['support']:,}", shown(one["predict"])]
               for case in raw["kernels"] for one in case["fits"]]
    p = raw["prediction"]
    return "\n\n".join([
        f"{RANKS} ranks, {COLUMNS} columns, kernel rbf with gamma = {GAMMA}. The tolerance is {TOLERANCE}, of the duality gap (SVOR) or of "
        f"the optimality conditions (others). The cache has {CACHE} MB. CPU seconds of one fit each; load of the machine at the end "
        f"{raw['load']:.1f}. A standard error of these mean absolute errors is about 0.02.",
        table(["rows", "", "C", "fit, s", "memory, MiB", "MAE", "gap", "support rows", "prediction, µs a row"], kernels),
        f"A prediction from {p['support']:,} support rows takes {shown(p['predict'])} µs."])


def goals(raw):
    cases = {case["rows"]: {(one["name"], one["C"]): one for one in case["fits"]} for case in raw["kernels"]}
    *_, middle, large = (cases[n] for n in sorted(cases))
    found = []
    for C in COSTS:
        ours = middle["SVOR implicit", C]["seconds"]
        for name, wanted in (("scikit-learn SVC", 1), ("skordinal SVOR implicit", SVOR_TIMES), ("skordinal REDSVM", REDSVM_TIMES)):
            if (name, C) in middle:
                times = middle[name, C]["seconds"] / ours
                found.append(job.Goal(f"{sorted(cases)[-2]:,} rows, C = {C:g}: time of {name} / ours", f"≥ {wanted}", shown(times),
                                      times >= wanted))
        spent = large["SVOR implicit", C]
        found.append(job.Goal(f"{sorted(cases)[-1]:,} rows, C = {C:g}, s", f"≤ {SECONDS_LARGE}", shown(spent["seconds"]),
                              spent["seconds"] <= SECONDS_LARGE))
        if spent["mib"] is not None:
            found.append(job.Goal(f"{sorted(cases)[-1]:,} rows, C = {C:g}: memory, MiB", f"≤ {CACHE + MARGIN}", shown(spent["mib"]),
                                  spent["mib"] <= CACHE + MARGIN))
    p = raw["prediction"]
    found.append(job.Goal(f"prediction, {p['support']:,} support rows, µs", f"≤ {MICROSECONDS}", shown(p["predict"]),
                          p["predict"] <= MICROSECONDS))
    return found


def draw(raw, folder):
    """The tables need no figure."""


if __name__ == "__main__":
    job.run("large_margin", "Support vector ordinal regression with kernels", measure, report, goals, draw)
