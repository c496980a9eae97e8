"""Nanoseconds per example and epoch: the engine beside hand-fused C loops, reading the rows, and scikit-learn."""

import contextlib
import functools
import gc
import itertools

import datasets
import figures
import job
import numpy as np
from measuring import cpu_seconds, example_costs, median, ratios, shown, spread, take_turns
from measuring import table as markdown
from roof import NARROWER, Roof, compiler_version
from sklearn.linear_model import Perceptron, SGDClassifier

from structperc import Engine
from structperc.basics.plain_arrays import shuffled
from structperc.core.inner_products import allow, chosen, instruction_sets
from structperc.core.loop import PassResult
from structperc.core.rows import Rows
from structperc.core.structures import Structures

PROBLEMS = ("cusum", "prank")
LONG = 1 << 20          # columns: rows of so many take the widest instruction set that is allowed
ORDERS = ("file", "shuffled")
LEARNERS = {"Perceptron": Perceptron, "SGDClassifier": SGDClassifier}
TIMES_FASTER = 18       # than scikit-learn, where d >= 50, shuffled
ROOF_GOAL = 1.15        # the largest ratio of engine to roof that is asked for


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
    return {"compiler": compiler_version(), "instruction_sets": {name: sets_of(name) for name in available()}, "cases": cases}


def available():
    """The sets of the machine that this run may use, the widest one first, and AVX2 where that is narrower."""
    return list(dict.fromkeys([*([chosen(LONG)] if chosen(LONG) != "avx2" else []), *(["avx2"] if "avx2" in instruction_sets() else [])]))


def sets_of(widest):
    """Which set the engine takes for rows of each length, when it may use this one."""
    with allowed(widest):
        return {d: chosen(d) for d in (10, 50, 136, 1000)}


@contextlib.contextmanager
def allowed(widest):
    """The engines made in this block use no wider set."""
    before = chosen(LONG)
    allow(widest)
    try:
        yield
    finally:
        allow(before)


def compare(data, epochs, learner_epochs):
    """Times of all contenders on one data set, and the mistakes of engine and roof in file order."""
    contenders = {}

    def add(name, fit, epochs):
        fit(1)                      # once unmeasured: lazy imports, first touch of the pages
        contenders[name] = functools.partial(example_costs, fit, epochs, data.n)

    roof = Roof(data)
    narrow = Roof(data, np.float32) if data.X.dtype == np.float32 else None
    avx2 = Roof(data, flags=NARROWER) if data.X.dtype == np.float64 and available()[0] == "avx512" else None
    for problem, order in itertools.product(PROBLEMS, ORDERS):
        shuffle = order == "shuffled"
        add(f"engine {problem} {order}", functools.partial(train, data, problem, shuffle), epochs)
        add(f"roof {problem} {order}", functools.partial(roof.fit, problem, shuffle=shuffle), epochs)
        if narrow:
            add(f"narrow roof {problem} {order}", functools.partial(narrow.fit, problem, shuffle=shuffle), epochs)
        if avx2:
            add(f"avx2 engine {problem} {order}", functools.partial(train_narrower, data, problem, shuffle), epochs)
            add(f"avx2 roof {problem} {order}", functools.partial(avx2.fit, problem, shuffle=shuffle), epochs)
    for order in ORDERS:
        add(f"reading {order}", functools.partial(roof.read, shuffle=order == "shuffled"), epochs)
    add("drawing roof", functools.partial(draw_in_c, roof), epochs)
    add("drawing engine", functools.partial(draw_in_engine, data.n), epochs)
    for problem in PROBLEMS if isinstance(data.X, np.ndarray) else ():
        contenders |= visits_without_steps(data, roof, problem, epochs)
    for name, learner in LEARNERS.items():
        add(name, functools.partial(learn, learner, data), learner_epochs)
    mistakes = {problem: [train(data, problem, False, 3).mistakes_, roof.fit(problem, 3)] for problem in PROBLEMS}
    return {"mistakes": mistakes, "nanoseconds": take_turns(contenders)}


def train(data, problem, shuffle, epochs):
    engine = Engine(problem, preset="paper", average=True, epochs=epochs, shuffle=shuffle, random_state=0).fit(data.X, data.y)
    if len(engine.mistakes_) < epochs:
        raise RuntimeError(f"{problem} on {data.name} converged after {len(engine.mistakes_)} of {epochs} epochs, so its time means "
                           f"nothing; use more rows.")
    return engine


def train_narrower(data, problem, shuffle, epochs):
    with allowed("avx2"):
        return train(data, problem, shuffle, epochs)


def visits_without_steps(data, roof, problem, epochs):
    """Epochs over rows whose outputs are the predictions of the weights: products, search and comparison, and no step."""
    model = Engine(problem, preset="paper", average=True, epochs=2).fit(data.X, data.y).model_
    rows = model.parts.weights.prepare(Rows(data.X))
    answers = Structures(model.loop.predict(rows))
    run, learned = roof.trainer(problem)
    run(roof.y)
    y = answers_of_roof(problem, data.X, learned)

    def engine():
        model.loop.run(PassResult(), rows, answers)

    return {f"right {name} {problem}": functools.partial(repeated, visit, epochs, data.n)
            for name, visit in (("engine", engine), ("roof", functools.partial(run, y)))}


def answers_of_roof(problem, X, learned):
    w, b = learned[:2]
    if problem == "prank":
        return ((X @ w)[:, np.newaxis] >= b).sum(axis=1).astype(np.int32)
    totals = np.cumsum(X @ w.reshape(len(b), -1).T + b, axis=1)
    return np.argmax(np.column_stack([np.zeros(len(X)), totals]), axis=1).astype(np.int32)


def repeated(visit, epochs, n):
    """Nanoseconds per example."""
    return sum(cpu_seconds(visit) for _ in range(epochs)) / epochs / n * 1e9


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


def against(case, problem, order, roof="roof", engine="engine"):
    """Engine over roof, round by round."""
    times = case["nanoseconds"]
    return ratios(times[f"{engine} {problem} {order}"], times[f"{roof} {problem} {order}"])


def report(raw):
    double = [case for case in raw["cases"] if case["dtype"] == "float64"]
    single = [case for case in raw["cases"] if case["dtype"] == "float32"]
    sets = "; ".join(f"{name}: " + ", ".join(f"{used} for d = {d}" for d, used in by_length.items())
                     for name, by_length in raw["instruction_sets"].items())
    narrower = [case for case in double if "avx2 roof cusum file" in case["nanoseconds"]]
    return "\n\n".join([
        f"Inner products of the engine by the widest instruction set that it may use: {sets}. "
        f"Roof: {raw['compiler']}. Averaged perceptrons, 5 ranks. Times are nanoseconds per example and epoch of CPU time: medians of "
        f"{len(double[0]['nanoseconds']['Perceptron'])} rounds, ratios of the same round with their range. "
        f"A shuffled epoch includes drawing its order, both of engine and roof.",
        "## float64", engine_table(double, "roof"),
        *(["## float64, only AVX2", "Engine and roof without AVX-512.",
           engine_table(narrower, "avx2 roof", engine="avx2 engine")] if narrower else []),
        "## Visits without a step", "The same epochs in file order over outputs that are the predictions of the weights: products, search "
        "and comparison are left. A step is the rest of the time, divided by the share of mistakes.", step_table(raw["cases"]),
        "## float32", "The engine keeps its weights in float64. The roof with float64 weights does the same work. The one with "
        "float32 weights shows what giving that up would bring.", engine_table(single, "roof", "narrow roof"),
        "## scikit-learn", "Times faster: CuSum shuffled and PRank shuffled, as scikit-learn shuffles too.", learner_table(raw["cases"]),
        "## Drawing the order of a shuffled epoch", drawing_table(raw["cases"]),
    ])


def step_table(cases):
    rows = []
    for case, problem in itertools.product([case for case in cases if case["kind"] == "dense"], PROBLEMS):
        times = {name: median(values) for name, values in case["nanoseconds"].items()}
        share = case["mistakes"][problem][0][-1] / case["n"]
        right = [times[f"right {name} {problem}"] for name in ("engine", "roof")]
        steps = [(times[f"{name} {problem} file"] - visit) / share for name, visit in zip(("engine", "roof"), right, strict=True)]
        rows.append([case["name"], case["dtype"], problem, *map(shown, right), shown(share), *map(shown, steps)])
    return markdown(["data", "dtype", "problem", "right visit, engine", "roof", "mistakes", "a step, engine", "roof"], rows)


def engine_table(cases, *roofs, engine="engine"):
    ratio = ["roof", "engine ÷ roof"]
    columns = {"roof": ratio, "avx2 roof": ratio, "narrow roof": ["roof, float32 weights", "engine ÷ it"]}
    headings = ["data", "problem", "order", "engine", *itertools.chain.from_iterable(columns[roof] for roof in roofs)]
    rows = []
    for case in cases:
        times = case["nanoseconds"]
        for problem, order in itertools.product(PROBLEMS, ORDERS):
            row = [case["name"], problem, order, ns(times[f"{engine} {problem} {order}"])]
            for roof in roofs:
                row += [ns(times[f"{roof} {problem} {order}"]), spread(against(case, problem, order, roof, engine))]
            agree = "yes" if same_mistakes(case, problem) else "NO: void"
            rows.append([*row, f"≤ {ROOF_GOAL}", ns(times[f"reading {order}"]), agree])
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
        agree, wanted = same_mistakes(case, problem), ROOF_GOAL
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
    figures.bars(folder / "epoch-ratio.png", names, bars, goals=[ROOF_GOAL] * len(double),
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
