"""Kernel perceptrons beside support vector machines: training, error, prediction, memory, and kernel values beside BLAS."""

import functools
import itertools
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor

import figures
import job
import numpy as np
from libsvm import svmutil
from measuring import cpu_seconds, installed, median, peak_growth, ratios, shown, spread, table, take_turns
from sklearn.svm import SVC

from structperc import Engine

FEATURES, GAMMA, HELD_OUT, EPOCHS = 20, 1 / 20, 5000, 5
SIZES, GROWTH = (5_000, 50_000), (1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
CS, LOSS_WEIGHTS, SVM_CS = (0.1, 0.3, 1.0, 3.0), (0.0, 1.0), (1.0, 3.0, 10.0)     # what is tried
WIDTHS, ROWS = (20, 50, 136, 784), ("float64", "float32")
BANK, BLOCK = 4096, 256         # rows that kernel values are taken with, and rows at a time for BLAS
LONG = 10_000                   # rows from which everything is measured once

TIMES_FASTER, SLACK, TIMES_PREDICTING, SHARE_OF_BLAS, MOST_MIB = 5, 0.005, 5, 0.6, 2048

MAIN = {rows: f"structperc perceptron, shuffled, {rows}" for rows in ROWS}
RIVALS = ("scikit-learn SVC", "libsvm")
UPDATES, ORDERS = ("perceptron", "pa1", "pa2"), {"shuffled": True, "file order": False}


# ---- data and systems ----

def data(n):
    """Rows to learn from, and HELD_OUT to test with. The two classes are cut at the median of a non-linear sum."""
    random = np.random.default_rng(7)
    X = random.standard_normal((n + HELD_OUT, FEATURES))
    value = np.sin(X[:, 0] * 1.5) + X[:, 1] * X[:, 2] + 0.5 * (X[:, 3:8] ** 2).sum(axis=1) + 0.3 * random.standard_normal(len(X))
    y = (value > np.median(value)).astype(int)
    return X[:n], y[:n], X[n:], y[n:]


def structperc(X, y, kernel="rbf", gamma=GAMMA, epochs=EPOCHS, **options):
    """Like all systems: what trains, and returns what predicts with the number of rows it holds. Two ranks, so one direction."""
    if kernel == "rbf":
        options |= {"gamma": gamma}
    engine = Engine("cusum", preset="paper", plugins=["dual-kernel"], kernel=kernel, average=True, epochs=epochs, random_state=0, **options)

    def train():
        engine.fit(X, y)
        return engine.predict, engine.n_support_

    return train


def scikit_learn(X, y, C=1.0):
    def train():
        machine = SVC(gamma=GAMMA, C=C).fit(X, y)
        return machine.predict, int(machine.n_support_.sum())

    return train


def libsvm(X, y, C=1.0):
    """Its own form of the data is made beforehand."""
    problem, parameters = svmutil.svm_problem(y.tolist(), X), svmutil.svm_parameter(f"-t 2 -g {GAMMA} -c {C} -m 200 -q")

    def train():
        machine = svmutil.svm_train(problem, parameters)
        return lambda Z: np.array(svmutil.svm_predict([], Z, machine, "-q")[0]), machine.l

    return train


def contenders(chosen):
    """Name: which function above, with which options."""
    found = {}
    for update, order, rows in itertools.product(UPDATES, ORDERS, ROWS):
        options = {"update": update, "shuffle": ORDERS[order], "dtype": rows} | chosen.get(update, {})
        found[f"structperc {update}, {order}, {rows}"] = (structperc, options)
    for C in dict.fromkeys((1.0, chosen["svm"]["C"])):
        found[f"{RIVALS[0]}, C = {C:g}"] = (scikit_learn, {"C": C})
    return found | {f"{RIVALS[1]}, C = 1": (libsvm, {"C": 1.0})}


# ---- measuring, each time in a process of its own ----

def measure(quick):
    sizes, growth = ((1000,), (250, 500, 1000)) if quick else (SIZES, GROWTH)
    chosen = choose(sizes[0])
    known = contenders(chosen)
    growing = [*MAIN.values(), *(next(name for name in known if name.startswith(rival)) for rival in RIVALS)]

    def calls(names, n, cores=1):
        """Of which each measures one whole run."""
        return {name: functools.partial(child, whole, *known[name], n, cores=cores) for name in names}

    runs, loose = {}, {}
    for n in sorted({*sizes, *growth}):
        runs[str(n)] = take_turns(calls(known if n in sizes else growing, n), rounds(n))
        if n in sizes:
            loose[str(n)] = take_turns(calls(MAIN.values(), n, cores=None), rounds(n))
    wide = {width: functools.partial(child, rates, width, BANK // (4 if quick else 1)) for width in WIDTHS}
    return {"chosen": chosen, "sizes": list(sizes), "growth": list(growth), "growing": growing, "runs": runs, "loose": loose,
            "rates": [{"width": width, "rates": found} for width, found in take_turns(wide, 3).items()]}


def rounds(n):
    return 1 if n > LONG else 3


def child(function, *arguments, cores=1):
    """What a function returns in a process of its own on so many cores, if the system can limit them. None: all."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork"), stay_on, (cores,)) as pool:
        return pool.submit(function, *arguments).result()


def stay_on(cores):
    if cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-cores:])


def choose(n):
    """C of pa1, pa2 and the support vector machines, and loss_weight, by the error on a fifth of the rows."""
    X, y, _, _ = data(n)
    kept = n - n // 5

    def error(system, **options):
        predict, _ = system(X[:kept], y[:kept], **options)()
        return float((predict(X[kept:]) != y[kept:]).mean())

    tried = [{"loss_weight": weight, "C": C} for weight in LOSS_WEIGHTS for C in CS]
    found = {update: min(tried, key=lambda options: error(structperc, update=update, shuffle=True, **options)) for update in ("pa1", "pa2")}
    return found | {"svm": min(({"C": C} for C in SVM_CS), key=lambda options: error(scikit_learn, **options))}


def whole(system, options, n):
    """Training and predicting: seconds, MiB above the size before (None if the system does not report it), and the held-out error."""
    X, y, X_test, y_test = data(n)
    make = functools.partial(system, **options)
    predict, _ = make(X[:100], y[:100])()           # what is paid once is paid here
    predict(X_test[:100])
    train = make(X, y)
    (fit, (predict, support)), mib = peak_growth(functools.partial(timed, train))
    (first, answers), predict_mib = peak_growth(functools.partial(timed, predict, X_test))
    often = [timed(predict, X_test)[0] for _ in range(2)] if first["wall"] < 1 else []
    return {"fit": fit, "mib": mib, "predict": {clock: median([one[clock] for one in (first, *often)]) / HELD_OUT for clock in first},
            "predict_mib": predict_mib, "error": float((answers != y_test).mean()), "support": int(support)}


def timed(function, *arguments):
    wall, cpu = time.perf_counter(), time.process_time()
    found = function(*arguments)
    return {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}, found


def rates(width, n):
    """Million kernel values per CPU second: of predictions with n rows that were learned from, and of BLAS and numpy with as many."""
    random = np.random.default_rng(0)
    S, Q = random.standard_normal((2, n, width))
    found = {}
    for rows, kernel in itertools.product(ROWS, ("rbf", "linear")):
        kept, asked = S.astype(rows), Q.astype(rows)
        # Of two ranks the wrong one is always preferred, so that every row is learned from.
        predict, support = structperc(kept, random.integers(2, size=n), kernel, 1 / width, epochs=1, loss_weight=1e9, dtype=rows)()
        found[f"{kernel} {rows}"] = rate(functools.partial(predict, asked), n * support)
    for rows in ROWS:
        kept, asked = S.astype(rows), Q.astype(rows)
        products = np.empty((BLOCK, n), rows)
        found[f"BLAS {rows}"] = rate(functools.partial(blas, asked, kept, products), n * n)
        found[f"numpy rbf {rows}"] = rate(functools.partial(numpy_rbf, asked, kept, products, 1 / width), n * n)
    return found


def rate(function, values):
    """After one call unmeasured, and over at least 0.3 seconds."""
    function()
    calls, seconds = 0, 0.0
    while seconds < 0.3:
        seconds += cpu_seconds(function)
        calls += 1
    return calls * values / seconds / 1e6


def blas(asked, kept, products):
    for start in range(0, len(asked), BLOCK):
        np.matmul(asked[start:start + BLOCK], kept.T, out=products)


def numpy_rbf(asked, kept, products, gamma):
    norms = (kept * kept).sum(axis=1)
    for start in range(0, len(asked), BLOCK):
        part = asked[start:start + BLOCK]
        np.matmul(part, kept.T, out=products)
        products *= -2
        products += norms
        products += (part * part).sum(axis=1)[:, np.newaxis]
        products *= -gamma
        np.exp(products, out=products)


# ---- what is shown ----

def of(raw, n, name, *keys):
    """One figure of all runs."""
    found = raw["runs"][str(n)][name]
    for key in keys:
        found = [one[key] for one in found]
    return found


def rivals(raw, n):
    return [name for name in raw["runs"][str(n)] if name.startswith(RIVALS)]


def fastest_rival(raw, n):
    return min(rivals(raw, n), key=lambda name: median(of(raw, n, name, "fit", "cpu")))


def compared(rival, ours):
    return ratios(rival, ours) if len(rival) == len(ours) else [median(rival) / median(ours)]


def report(raw):
    chosen = raw["chosen"]
    parts = [f"RBF kernel, gamma = 1/{FEATURES}, {FEATURES} standard normal features, two classes cut at the median of a "
             f"non-linear sum. structperc: `Engine(\"cusum\", plugins=[\"dual-kernel\"], kernel=\"rbf\")`, averaged, {EPOCHS} epochs. "
             + "; ".join(f"{update}: loss_weight = {chosen[update]['loss_weight']:g}, C = {chosen[update]['C']:g}"
                         for update in ("pa1", "pa2"))
             + f"; SVC also with C = {chosen['svm']['C']:g}: chosen by the error on the last fifth of the {raw['sizes'][0]:,} training "
             "rows. SVC and libsvm have a cache of 200 MB. libsvm is libsvm-official "
             f"{installed('libsvm-official')}, its data converted beforehand. "
             f"Every run has a process of its own on one core. There is one run with more than {LONG:,} rows, else the median of three "
             "with its range. Memory: the highest size of the process above its size before. Error: wrong classes of "
             f"{HELD_OUT:,} rows held out."]
    for n in raw["sizes"]:
        parts += [f"## {n:,} rows", runs_table(raw, n)]
    parts += ["## Prediction", f"{HELD_OUT:,} rows at once; microseconds a row. As it comes: with as many threads as it takes, elapsed "
              "time. SVC and libsvm predict in one thread always.", prediction_table(raw),
              "## Kernel values", "Million values per CPU second, one thread. structperc: whole predictions with as many rows as were "
              f"learned from ({BANK:,} by {BANK:,}), their sums included. BLAS: `Q @ S.T`, {BLOCK} rows of Q at a time into the same "
              "memory, without any kernel. numpy: the same and then the RBF kernel of it, in place.", rates_table(raw),
              "## Growth", "Exponents of n, fitted to the logarithms.", growth_table(raw), "![Growth](kernels-growth.png)"]
    return "\n\n".join(parts)


def runs_table(raw, n):
    fast = of(raw, n, fastest_rival(raw, n), "fit", "cpu")
    rows = []
    for name in raw["runs"][str(n)]:
        cpu = of(raw, n, name, "fit", "cpu")
        rows.append([name, spread(cpu), spread(of(raw, n, name, "fit", "wall")), spread(compared(fast, cpu)),
                     f"{median(of(raw, n, name, 'error')):.4f}", f"{median(of(raw, n, name, 'support')):,.0f}",
                     mib(of(raw, n, name, "mib")), mib(of(raw, n, name, "predict_mib"))])
    return table(["system", "training, CPU seconds", "elapsed", f"{fastest_rival(raw, n)} ÷ it", "error", "rows kept",
                  "memory of training, MiB", "of predicting"], rows)


def mib(values):
    return "unknown on this system" if None in values else shown(median(values))


def prediction_table(raw):
    rows = []
    for n in raw["sizes"]:
        for name in (*MAIN.values(), *rivals(raw, n)):
            loose = raw["loose"][str(n)].get(name)
            rows.append([f"{n:,}", name, micro(of(raw, n, name, "predict", "cpu")), micro(of(raw, n, name, "predict", "wall")),
                         micro([one["predict"]["wall"] for one in loose]) if loose else ""])
    return table(["rows learned from", "system", "one thread, CPU", "one thread, elapsed", "as it comes, elapsed"], rows)


def micro(seconds):
    return spread([value * 1e6 for value in seconds])


def rates_table(raw):
    names = list(raw["rates"][0]["rates"][0])
    rows = []
    for name in names:
        cells = []
        for case in raw["rates"]:
            found = [one[name] for one in case["rates"]]
            blas = [one[f"BLAS {name.split()[-1]}"] for one in case["rates"]]
            cells.append(spread(found) + ("" if name.startswith("BLAS") else f", {median(ratios(found, blas)):.0%}"))
        rows.append([name if name.startswith(("BLAS", "numpy")) else f"structperc {name}", *cells])
    return table(["values", *(f"{case['width']} features (share of BLAS)" for case in raw["rates"])], rows)


def exponent(raw, name, *keys):
    sizes = raw["growth"]
    return float(np.polyfit(np.log(sizes), np.log([median(of(raw, n, name, *keys)) for n in sizes]), 1)[0])


def growth_table(raw):
    rows = []
    for name in raw["growing"]:
        rows.append([name, *(shown(median(of(raw, n, name, "fit", "cpu"))) for n in raw["growth"]),
                     f"{exponent(raw, name, 'fit', 'cpu'):.2f}", f"{exponent(raw, name, 'predict', 'cpu'):.2f}"])
    return table(["training, CPU seconds", *(f"{n:,}" for n in raw["growth"]), "exponent of training", "of predicting a row"], rows)


def goals(raw):
    reached = []
    for n, (rows, name) in itertools.product(raw["sizes"], MAIN.items()):
        rival, svc = fastest_rival(raw, n), f"{RIVALS[0]}, C = 1"
        faster = compared(of(raw, n, rival, "fit", "cpu"), of(raw, n, name, "fit", "cpu"))
        reached.append(job.Goal(f"training on {n:,} rows, {rows}: times faster than {rival}", f"≥ {TIMES_FASTER}", spread(faster),
                                median(faster) >= TIMES_FASTER))
        own, best = median(of(raw, n, name, "error")), min(median(of(raw, n, one, "error")) for one in rivals(raw, n))
        reached.append(job.Goal(f"error after {n:,} rows, {rows}: above the lowest of SVC and libsvm", f"≤ {SLACK}",
                                f"{own - best:+.4f} ({own:.4f} against {best:.4f})", own - best <= SLACK))
        faster = compared(of(raw, n, svc, "predict", "cpu"), of(raw, n, name, "predict", "cpu"))
        reached.append(job.Goal(f"prediction after {n:,} rows, {rows}: times faster than {svc}", f"≥ {TIMES_PREDICTING}", spread(faster),
                                median(faster) >= TIMES_PREDICTING))
        used = of(raw, n, name, "mib") + of(raw, n, name, "predict_mib")
        if None not in used and n == raw["sizes"][-1]:
            reached.append(job.Goal(f"memory with {n:,} rows, {rows}, MiB", f"≤ {MOST_MIB:,}", shown(max(used)), max(used) <= MOST_MIB))
    for case, rows in itertools.product(raw["rates"], ROWS):
        share = [one[f"rbf {rows}"] / one[f"BLAS {rows}"] for one in case["rates"]]
        reached.append(job.Goal(f"RBF values per second ÷ BLAS, {case['width']} features, {rows}", f"≥ {SHARE_OF_BLAS}", spread(share),
                                median(share) >= SHARE_OF_BLAS))
    return reached


def draw(raw, folder):
    sizes = raw["growth"]

    def panel(title, ylabel, *keys, factor=1.0):
        lines = {}
        for name in raw["growing"]:
            values = [median(of(raw, n, name, *keys)) * factor for n in sizes]
            lines[f"{name}: n^{exponent(raw, name, *keys):.1f}"] = (sizes, values)
        return {"title": title, "lines": lines, "xlabel": "rows learned from", "ylabel": ylabel, "xscale": "log", "yscale": "log"}

    figures.panels(folder / "kernels-growth.png", [panel("Training", "CPU seconds", "fit", "cpu"),
                                                   panel("Predicting a row", "CPU microseconds", "predict", "cpu", factor=1e6)])
    points = {f"{n:,} rows": {name: (median(of(raw, n, name, "fit", "cpu")), median(of(raw, n, name, "error")))
                              for name in raw["runs"][str(n)] if "file order" not in name} for n in raw["sizes"]}
    figures.scatter(folder / "kernels.png", points, dict.fromkeys(points, {}), "CPU seconds of training", "error, held out")


if __name__ == "__main__":
    job.run("kernels", "Kernels beside support vector machines", measure, report, goals, draw)
