"""Large margins of linear scores on many rows: CPU time, duality gap and held-out error beside mord and scikit-learn."""

import functools
import importlib.util

import job
import numpy as np
from measuring import cpu_seconds, median, spread, table, take_turns
from sklearn.metrics import mean_absolute_error
from sklearn.svm import LinearSVC
from structperc_large_margin.estimators import SVOR

SHAPES = ((100_000, 10), (100_000, 100), (1_000_000, 10))
RANKS, TEST_ROWS, MANY = 5, 20_000, 1_000_000
SECONDS_GOAL = 15           # a million rows


def measure(quick):
    return {"cases": [compare(n // 50 if quick else n, d) for n, d in SHAPES]}


def workload(n, d):
    """Rows whose rank depends on one direction, with noise; all ranks equally frequent."""
    random = np.random.default_rng(d)
    X = random.normal(size=(n + TEST_ROWS, d))
    latent = X @ random.normal(size=d) / np.sqrt(d) + 0.5 * random.normal(size=len(X))
    y = np.digitize(latent, np.quantile(latent, np.arange(1, RANKS) / RANKS)) + 1
    return X[:n].copy(), y[:n], X[n:], y[n:]


def contenders():
    """Estimators by name; C of mord and of LinearSVC is 1 as well."""
    found = {f"SVOR, {method}, C = {C}, gap {tol:g}": functools.partial(SVOR, method=method, kernel="linear", C=C, tol=tol)
             for method, C, tol in (("explicit", 1, 1e-3), ("implicit", 1, 1e-3), ("explicit", 100, 1e-3), ("explicit", 1, 1e-6))}
    found["LinearSVC, squared hinge"] = functools.partial(LinearSVC, dual=False)
    if importlib.util.find_spec("mord"):
        from mord import LogisticAT

        found["mord LogisticAT"] = functools.partial(LogisticAT, alpha=1.0)
    return found


def compare(n, d):
    X, y, X_test, y_test = workload(n, d)
    models = {}

    def fit(name, make):
        models[name] = make()
        return cpu_seconds(models[name].fit, X, y)

    seconds = take_turns({name: functools.partial(fit, name, make) for name, make in contenders().items()}, 1 if n >= MANY else 3)
    errors = {name: mean_absolute_error(y_test, model.predict(X_test)) for name, model in models.items()}
    gaps = {name: [model.gap_ / model.objective_, int(model.n_iter_)] for name, model in models.items() if isinstance(model, SVOR)}
    return {"rows": n, "columns": d, "seconds": seconds, "errors": errors, "gaps": gaps}


# ---- what is shown ----

def report(raw):
    rows = [[f"{case['rows']:,} x {case['columns']}", name, spread(seconds), f"{case['errors'][name]:.3f}",
             *([f"{case['gaps'][name][0]:.1e}", case["gaps"][name][1]] if name in case["gaps"] else ["", ""])]
            for case in raw["cases"] for name, seconds in case["seconds"].items()]
    return "\n\n".join([
        f"{RANKS} ranks, normal rows. LinearSVC learns each rank against the others, so its problem is another one. The gap is relative to "
        f"the objective. A step passes twice over X. A million rows are fitted once, others three times.",
        table(["rows x columns", "estimator", "fit, s", "mean absolute error", "gap", "steps"], rows)])


def goals(raw):
    first, last = raw["cases"][0]["seconds"], raw["cases"][-1]["seconds"]
    ours = first["SVOR, explicit, C = 1, gap 0.001"]
    found = [job.Goal(f"{raw['cases'][-1]['rows']:,} x 10, explicit, gap 1e-3, s", f"≤ {SECONDS_GOAL}",
                      spread(last["SVOR, explicit, C = 1, gap 0.001"]), median(last["SVOR, explicit, C = 1, gap 0.001"]) <= SECONDS_GOAL)]
    if "mord LogisticAT" in first:
        other = first["mord LogisticAT"]
        found.append(job.Goal(f"{raw['cases'][0]['rows']:,} x 10, explicit, gap 1e-3: times of mord's LogisticAT", "≤ 1",
                              f"{median(ours) / median(other):.2f}", median(ours) <= median(other)))
    return found


def draw(raw, folder):
    """A table of a few rows needs no figure."""


if __name__ == "__main__":
    job.run("large_margin_linear", "Large margins of linear scores", measure, report, goals, draw)
