"""Nanoseconds per example and epoch: the engine beside hand-fused C loops, reading the rows, and scikit-learn."""

import functools
import gc
import itertools

import datasets
import figures
import job
import numpy as np
from measuring import example_costs, median, ratios, shown, spread, take_turns
from measuring import table as markdown
from roof import Roof, compiler_version
from sklearn.linear_model import Perceptron, SGDClassifier
from structperc.core.shuffle import shuffled

from structperc import Engine

PROBLEMS = ("cusum", "prank")
ORDERS = ("file", "shuffled")
LEARNERS = {"Perceptron": Perceptron, "SGDClassifier": SGDClassifier}
TIMES_FASTER = 18       # than scikit-learn, where d >= 50, shuffled


def roof_goal(data):
    """The largest ratio of engine to roof that is asked for."""
    if data["kind"] == "csr":
        return 1.2
    return {10: 1.3, 50: 1.2}.get(data["d"], 1.15)


def workloads(quick):
    """(kind, dtype, function that makes the data, epochs to time of the engine, of scikit-learn)"""
    heavy = {"proportions": datasets.GRADES, "heavy_tails": True}
    small = 10 if quick else 1
    dense = [
        (functools.partial(datasets.dense, 4_000, 10, seed=1), 100 if quick else 400, 10 if quick else 60),
        (functools.partial(datasets.dense, 200_000 // small, 50, seed=2), 10, 4),
        (functools.partial(datasets.dense, 1_000_000 // small // small, 136, seed=3, **heavy), 5 * small, 2),
        (functools.partial(datasets.dense, 100_000 // small, 1000, seed=5), 5, 2),
    ]
    for make, epochs, learner_epochs in dense:
        for dtype in ("float64", "float32"):
            yield "dense", dtype, make, epochs, learner_epochs
    yield "csr", "float64", functools.partial(datasets.csr, 200_000 // small), 5, 2


def measure(quick):
    cases = []
    for kind, dtype, make, epochs, learner_epochs in workloads(quick):
        data = make()
        if dtype == "float32":
            data = data.in_float32()
        facts = {"kind": kind, "dtype": dtype, "name": data.name, "n": data.n, "d": data.d}
        cases.append(facts | compare(data, epochs, learner_epochs))
        del data
        gc.collect()
    return {"compiler": compiler_version(), "cases": cases}


def compare(data, epochs, learner_epochs):
    """Times of all contenders on one data set, and the mistakes of engine and roof in file order."""
    contenders = {}

    def add(name, fit, epochs):
        fit(1)                      # once unmeasured: lazy imports, first touch of the pages
        contenders[name] = functools.partial(example_costs, fit, epochs, data.n)

    roof = Roof(data)
    narrow = Roof(data, np.float32) if data.X.dtype == np.float32 else None
    for problem, order in itertools.product(PROBLEMS, ORDERS):
        shuffle = order == "shuffled"
        add(f"engine {problem} {order}", functools.partial(train, data, problem, shuffle), epochs)
        add(f"roof {problem} {order}", functools.partial(roof.fit, problem, shuffle=shuffle), epochs)
        if narrow:
            add(f"narrow roof {problem} {order}", functools.partial(narrow.fit, problem, shuffle=shuffle), epochs)
    for order in ORDERS:
        add(f"reading {order}", functools.partial(roof.read, shuffle=order == "shuffled"), epochs)
    add("drawing roof", functools.partial(draw_in_c, roof), epochs)
    add("drawing engine", functools.partial(draw_in_engine, data.n), epochs)
    for name, learner in LEARNERS.items():
        add(name, functools.partial(learn, learner, data), learner_epochs)
    mistakes = {problem: [train(data, problem, False, 3).mistakes_, roof.fit(problem, 3)] for problem in PROBLEMS}
    return {"mistakes": mistakes, "nanoseconds": take_turns(contenders)}


def train(data, problem, shuffle, epochs):
    engine = Engine(problem, average=True, epochs=epochs, shuffle=shuffle, random_state=0).fit(data.X, data.y)
    if len(engine.mistakes_) < epochs:
        raise RuntimeError(f"{problem} on {data.name} converged after {len(engine.mistakes_)} of {epochs} epochs, so its time means "
                           f"nothing; use more rows.")
    return engine


def learn(learner, data, epochs):
    learner(max_iter=epochs, tol=None, random_state=0).fit(data.X, data.y)


def draw_in_c(roof, epochs):
    for _ in roof.orders(epochs, shuffle=True):
        pass


def draw_in_engine(n, epochs):
    random = np.random.default_rng(0)
    for _ in range(epochs):
        shuffled(n, random)


# ---- what is shown ----

def same_mistakes(case, problem):
    engine, roof = case["mistakes"][problem]
    return engine == roof


def against(case, problem, order, roof="roof"):
    """Engine over roof, round by round."""
    times = case["nanoseconds"]
    return ratios(times[f"engine {problem} {order}"], times[f"{roof} {problem} {order}"])


def report(raw):
    double = [case for case in raw["cases"] if case["dtype"] == "float64"]
    single = [case for case in raw["cases"] if case["dtype"] == "float32"]
    return "\n\n".join([
        f"Roof: {raw['compiler']}. Averaged perceptrons, 5 ranks. Times are nanoseconds per example and epoch of CPU time: medians of "
        f"{len(double[0]['nanoseconds']['Perceptron'])} rounds, ratios of the same round with their range. "
        f"A shuffled epoch includes drawing its order, for engine and roof alike.",
        "## float64", engine_table(double, "roof"),
        "## float32", "The engine keeps its weights in float64. The roof with float64 weights does the same work; the one with float32 "
        "weights is what giving that up would bring.", engine_table(single, "roof", "narrow roof"),
        "## scikit-learn", "Times faster: CuSum shuffled and PRank shuffled, as scikit-learn shuffles too.", learner_table(raw["cases"]),
        "## Drawing the order of a shuffled epoch", drawing_table(raw["cases"]),
    ])


def engine_table(cases, *roofs):
    columns = {"roof": ["roof", "engine ÷ roof"], "narrow roof": ["roof, float32 weights", "engine ÷ it"]}
    headings = ["data", "problem", "order", "engine", *itertools.chain.from_iterable(columns[roof] for roof in roofs)]
    rows = []
    for case in cases:
        times = case["nanoseconds"]
        for problem, order in itertools.product(PROBLEMS, ORDERS):
            row = [case["name"], problem, order, ns(times[f"engine {problem} {order}"])]
            for roof in roofs:
                row += [ns(times[f"{roof} {problem} {order}"]), spread(against(case, problem, order, roof))]
            agree = "yes" if same_mistakes(case, problem) else "NO: void"
            rows.append([*row, f"≤ {roof_goal(case)}", ns(times[f"reading {order}"]), agree])
    return markdown([*headings, "goal", "reading", "same mistakes"], rows)


def learner_table(cases):
    rows = []
    for case in cases:
        times = case["nanoseconds"]
        row = [case["name"], case["dtype"]]
        for name in LEARNERS:
            row.append(ns(times[name]))
            row += [spread(ratios(times[name], times[f"engine {problem} shuffled"])) for problem in PROBLEMS]
        rows.append(row)
    headings = ["data", "dtype"]
    for name in LEARNERS:
        headings += [name, "cusum faster", "prank faster"]
    return markdown(headings, rows)


def drawing_table(cases):
    return markdown(["examples", "engine", "roof"],
                    [[f"{case['n']:,}", ns(case["nanoseconds"]["drawing engine"]), ns(case["nanoseconds"]["drawing roof"])]
                     for case in cases if case["dtype"] == "float64"])


def ns(values):
    return f"{median(values):.1f}" if median(values) < 99.95 else f"{median(values):.0f}"


def goals(raw):
    reached = []
    for case, problem in itertools.product(raw["cases"], PROBLEMS):
        found = {order: median(against(case, problem, order)) for order in ORDERS}
        agree, wanted = same_mistakes(case, problem), roof_goal(case)
        reached.append(job.Goal(f"engine ÷ roof: {problem}, {case['name']}, {case['dtype']}", f"≤ {wanted}",
                                listed(found) if agree else "void: different mistakes", agree and max(found.values()) <= wanted))
    for case, problem in itertools.product(raw["cases"], PROBLEMS):
        if case["kind"] == "dense" and case["d"] >= 50:
            times = case["nanoseconds"]
            found = {name: median(ratios(times[name], times[f"engine {problem} shuffled"])) for name in LEARNERS}
            reached.append(job.Goal(f"times faster than scikit-learn: {problem} shuffled, {case['name']}, {case['dtype']}",
                                    f"≥ {TIMES_FASTER}", listed(found), min(found.values()) >= TIMES_FASTER))
    return reached


def listed(found):
    return ", ".join(f"{name} {shown(value)}" for name, value in found.items())


def draw(raw, folder):
    double = [case for case in raw["cases"] if case["dtype"] == "float64"]
    names = [f"d = {case['d']}" if case["kind"] == "dense" else "CSR" for case in double]
    bars = {f"{problem}, {order} order": [against(case, problem, order) for case in double]
            for problem, order in itertools.product(PROBLEMS, ORDERS)}
    figures.bars(folder / "epoch-ratio.png", names, bars, goals=[roof_goal(case) for case in double],
                 ylabel="engine ÷ hand-fused C loop", title="Time of an epoch against the roof, float64")
    dense = [case for case in double if case["kind"] == "dense"]
    lines = {
        "structperc CuSum": "engine cusum shuffled", "structperc PRank": "engine prank shuffled",
        "C CuSum (roof)": "roof cusum shuffled", "C PRank (roof)": "roof prank shuffled", "reading the rows": "reading shuffled",
        **{f"scikit-learn {name}": name for name in LEARNERS},
    }
    figures.lines(folder / "epoch-nanoseconds.png", [case["d"] for case in dense],
                  {label: [median(case["nanoseconds"][key]) for case in dense] for label, key in lines.items()},
                  xlabel="features d", ylabel="nanoseconds per example and epoch", title="Shuffled epochs, dense float64")


if __name__ == "__main__":
    job.run("epoch", "Time of an epoch", measure, report, goals, draw)
