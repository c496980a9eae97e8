"""The tree kernel on parse trees: what it learns beside counts of productions, and what a value costs beside the naive recursion."""

import functools
import gc
import itertools
import time

import figures
import job
import numpy as np
import parses
from measuring import cpu_seconds, median, ratios, shown, spread, table, take_turns
from parses import NaiveKernel
from roof import compiler_version
from structperc_kernels.object_kernels import SubsetTreeKernel

from structperc import Engine
from structperc.reading.named import NamedReader

DECAYS = (0.2, 0.3, 0.4)
EPOCHS = 30
CACHE = 1000                                # MB
CHOSEN_ON = 2000                            # trees that settings are chosen with
SIZES = (500, 1000, 2000, 5000, None)       # of the learning curves; None: all
SEEDS = {"train": 1, "dev": 2, "test": 3}
SAMPLE = 300                                # trees whose values are timed
LENGTHS = ((5, 8), (9, 14), (15, 22), (23, 40))
LINEAR, KERNEL, NAIVE, COMPILED = "counts of productions", "tree kernel", "naive recursion in C", "structperc"
ENCODING = "encoding, microseconds"
SETTINGS = {
    LINEAR: [{"update": "perceptron"}, *({"update": "pa1", "C": C} for C in (0.01, 0.03, 0.1, 0.3))],
    KERNEL: [{"kernel_decay": decay} for decay in DECAYS],
}


def measure(quick):
    data = {part: parses.with_errors(parses.parses(part, quick), seed) for part, seed in SEEDS.items()}
    chosen = {name: choose(name, data, quick) for name in SETTINGS}
    sizes = [200] if quick else [n for n in SIZES if n is None or n < len(data["train"][0])]
    curves = {name: [learn(name, chosen[name]["settings"], first(data["train"], n), data["test"]) for n in sizes] for name in SETTINGS}
    return {"compiler": compiler_version(), "trees": {part: len(trees) for part, (trees, _) in data.items()},
            "wrong": {part: float(np.mean(labels == parses.WRONG)) for part, (_, labels) in data.items()},
            "chosen": chosen, "curves": curves, "majority": majority(data), "values": values(chosen[KERNEL]["settings"], quick)}


def first(part, n):
    trees, labels = part
    order = np.random.default_rng(0).permutation(len(trees))[:n]
    return [trees[i] for i in order], labels[order]


def majority(data):
    """The error of always predicting the label that is more frequent in the training part."""
    labels, counts = np.unique(data["train"][1], return_counts=True)
    return float(np.mean(data["test"][1] != labels[counts.argmax()]))


# ---- learning ----

def choose(name, data, quick):
    """The settings with the lowest error on the development part."""
    train = first(data["train"], 100 if quick else CHOSEN_ON)
    tried = [{"settings": settings, "error": learn(name, settings, train, data["dev"])["error"]} for settings in SETTINGS[name]]
    return min(tried, key=lambda one: one["error"]) | {"tried": tried}


def learn(name, settings, train, test):
    """One model: errors, and CPU seconds of training and of prediction, each from trees on."""
    (trees, labels), (others, right) = train, test
    engine = functools.partial(Engine, "multiclass", preset="paper", average=True, epochs=EPOCHS, shuffle=True, random_state=0, **settings)
    begin = time.process_time()
    if name == LINEAR:
        reader = NamedReader()
        model = engine().fit(reader.learn(counted(trees)).X, labels)
        read = functools.partial(production_counts, reader)
    else:
        model = engine(plugins=["dual-kernel"], kernel="subset-tree", cache_size=CACHE).fit(trees, labels)
        read = list
    trained = time.process_time()
    found = model.predict(read(others))
    predicted = time.process_time()
    return {"n": len(trees), "error": float(np.mean(found != right)), "training": trained - begin,
            "prediction": (predicted - trained) / len(others), "mistakes": model.mistakes_,
            "support": None if name == LINEAR else int(model.n_support_)}


def counted(trees):
    """Each tree as a sentence of one token, whose features are its productions."""
    return [[parses.productions(tree)] for tree in trees]


def production_counts(reader, trees):
    return reader.read(counted(trees)).X


# ---- kernel values ----

def values(settings, quick):
    """Nanoseconds per kernel value, for a mixture of sentences and by their length."""
    sentences = parses.parses("train", quick)
    gc.freeze()                 # or Python looks again and again through all trees that were learned from
    n, decay = (30 if quick else SAMPLE), settings["kernel_decay"]
    samples = {"all": spaced(sentences, n)}
    for low, high in LENGTHS:
        samples[f"{low}–{high}"] = spaced([parse for parse in sentences if low <= len(parse) <= high], n)
    return {name: timed([parse.tree() for parse in sample], decay) | {"words": float(np.mean([len(parse) for parse in sample]))}
            for name, sample in samples.items()}


def spaced(sentences, n):
    """n of them from all parts of the list."""
    return [sentences[i] for i in np.linspace(0, len(sentences) - 1, min(n, len(sentences))).astype(int)]


def timed(trees, decay):
    kernel = SubsetTreeKernel(decay, normalise=False)
    encoded, naive = [kernel.encode(tree) for tree in trees], NaiveKernel(trees)
    ours, its = kernel.values(encoded, encoded), naive.values(decay)
    pairs = len(trees) ** 2
    taken = take_turns({COMPILED: lambda: cpu_seconds(kernel.values, encoded, encoded) / pairs * 1e9,
                        NAIVE: lambda: cpu_seconds(naive.values, decay) / pairs * 1e9,
                        ENCODING: lambda: cpu_seconds(lambda: [kernel.encode(tree) for tree in trees]) / len(trees) * 1e6})
    productions = [set(parses.productions(tree)) for tree in trees]
    shared = np.mean([len(a & b) for a, b in itertools.product(productions[:50], repeat=2)])
    return {"encoding": taken.pop(ENCODING), "nanoseconds": taken, "difference": float(abs(ours - its).max() / its.max()),
            "nodes": float(np.mean([len(parses.productions(tree)) for tree in trees])), "shared": float(shared), "trees": len(trees)}


# ---- what is shown ----

def report(raw):
    trees, wrong, last = raw["trees"], raw["wrong"], {name: curve[-1] for name, curve in raw["curves"].items()}
    return "\n\n".join([
        f"C: {raw['compiler']}. CPU seconds of one thread.",
        "## Is a subtree at a wrong place?",
        f"UD English EWT, sentences of {parses.FEWEST} to {parses.MOST} words: {trees['train']:,} trees to learn from, {trees['dev']:,} to "
        f"choose settings with, {trees['test']:,} to test with. In every second sentence ({100 * wrong['test']:.1f} % of the test part) "
        f"one word, no punctuation, has moved with all below it. It went to its head's head or to the next sibling on a side, drawn "
        f"at random. The label is whether a word moved. A sentence is there once, right or wrong. Dependency trees become trees of "
        f"phrases. A word is a phrase with its relation as label. It grows around its part of speech and form by one dependent at a "
        f"time. Right ones are first, and near ones. No word is left out; forms are in lower case.",
        f"Averaged perceptrons (multiclass) of {EPOCHS} epochs, shuffled each time. \"{LINEAR}\": linear, how often "
        f"each production (a label and those below it, or a word) occurs in the tree. \"{KERNEL}\": all fragments of several productions "
        f"too, normalised. Settings were chosen with {min(CHOSEN_ON, trees['train']):,} trees and the error on the development part: "
        f"{settings_line(raw)}. ± is a standard error of the test part.",
        learning_table(raw), f"Always the more frequent label: an error of {100 * raw['majority']:.1f} %.",
        f"With {last[KERNEL]['n']:,} trees the tree kernel makes {differs(raw)}.",
        "## What a kernel value costs",
        f"Values between all pairs of {raw['values']['all']['trees']} trees, not normalised, encoding not included (it takes "
        f"{median(raw['values']['all']['encoding']):.0f} µs a tree). The naive recursion compares the numbers of productions of all pairs "
        f"of nodes and remembers nothing. Both find the same values (largest difference: {raw['values']['all']['difference']:.0e} of the "
        f"largest value).",
        values_table(raw["values"]),
    ])


def settings_line(raw):
    return "; ".join(f"{name}: {', '.join(f'{key}={value}' for key, value in chosen['settings'].items())} "
                     f"(of {len(chosen['tried'])} tried, errors {percent(min)}–{percent(max)} %)" for name, chosen in raw["chosen"].items()
                     for percent in [lambda pick, tried=chosen["tried"]: f"{100 * pick(one['error'] for one in tried):.1f}"])


def learning_table(raw):
    rows = []
    for name, curve in raw["curves"].items():
        for point in curve:
            error = point["error"]
            rows.append([name, f"{point['n']:,}", f"{100 * error:.1f} ± {100 * deviation(raw, error):.1f}",
                         "" if point["support"] is None else f"{point['support']:,}", shown(point["training"]),
                         shown(point["prediction"] * 1e6), f"{point['mistakes'][0]:,} … {point['mistakes'][-1]:,}"])
    return table(["system", "trees", "test error, %", "support", "training, s", "prediction, µs per tree", "mistakes by epoch"], rows)


def deviation(raw, error):
    return (error * (1 - error) / raw["trees"]["test"]) ** 0.5


def differs(raw):
    linear, kernel = (raw["curves"][name][-1]["error"] for name in (LINEAR, KERNEL))
    return f"{abs(1 - kernel / linear):.0%} {'fewer' if kernel < linear else 'more'} errors than the counts of productions"


def values_table(found):
    rows = []
    for name, one in found.items():
        ours, its = one["nanoseconds"][COMPILED], one["nanoseconds"][NAIVE]
        rows.append([name, shown(one["nodes"]), shown(one["shared"]), spread(ours), spread(its), spread(ratios(its, ours))])
    return table(["words", "productions per tree", "different ones in both", f"{COMPILED}, ns", f"{NAIVE}, ns", "naive ÷ structperc"],
                 rows)


def goals(raw):
    linear, kernel = (raw["curves"][name][-1]["error"] for name in (LINEAR, KERNEL))
    times = raw["values"]["all"]["nanoseconds"]
    faster = ratios(times[NAIVE], times[COMPILED])
    return [job.Goal("error of the tree kernel ÷ counts of productions, all trees", "≤ 1", shown(kernel / linear), kernel <= linear),
            job.Goal("a kernel value: naive recursion ÷ structperc", "≥ 1", spread(faster), median(faster) >= 1)]


def draw(raw, folder):
    by_length = [one for name, one in raw["values"].items() if name != "all"]
    words = [one["words"] for one in by_length]
    figures.panels(folder / "trees.png", [{
        "title": "Is a subtree at a wrong place?", "xscale": "log", "xlabel": "trees to learn from", "ylabel": "error on the test part, %",
        "lines": {name: ([point["n"] for point in curve], [100 * point["error"] for point in curve])
                  for name, curve in raw["curves"].items()},
    }, {
        "title": "One value of the tree kernel", "xscale": "log", "yscale": "log", "xlabel": "words of both sentences, mean",
        "ylabel": "nanoseconds",
        "lines": {name: (words, [median(one["nanoseconds"][name]) for one in by_length]) for name in (COMPILED, NAIVE)},
    }])


if __name__ == "__main__":
    job.run("trees", "Tree kernel", measure, report, goals, draw)
