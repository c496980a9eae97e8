"""Update rules on four real sets: held-out error by epoch, time of an epoch, and what noisy labels do to them."""

import functools
import sys
import time
from pathlib import Path

import figures
import job
import numpy as np
import sentences
from measuring import median, ratios, shown, spread, table, take_turns
from ordinal_data import whole
from sklearn.datasets import load_digits

from structperc import Engine, hookimpl
from structperc.metrics import phrase_scores

sys.path.append(str(Path(__file__).parents[1] / "examples/arow"))
import structperc_arow

EPOCHS, ROUNDS, TIMED, SHOWN = 10, 3, 4, (1, 3, 10)
WHOLE = {"average": True}
RULES = {       # fixed options, the same on all sets; adagrad predicts with its last weights
    "perceptron": WHOLE,
    "perceptron, loss in the search": {"loss_weight": 1.0, **WHOLE},
    "pa1": {"update": "pa1", "C": 0.1, **WHOLE},
    "pa2": {"update": "pa2", "C": 0.1, **WHOLE},
    "log-loss": {"update": "log-loss", "step_size": 0.1, **WHOLE},
    "adagrad": {"update": "adagrad", "step_size": 0.1},
    "adagrad, averaged": {"update": "adagrad", "step_size": 0.1, **WHOLE},
    "adagrad-log-loss": {"update": "adagrad-log-loss", "step_size": 0.1},
}
BESIDE = ("perceptron", "perceptron, loss in the search")        # the second one searches as adagrad does
CHUNKS, TAGS, RANKS, DIGITS = "chunks, CoNLL-2000", "tags, UD English EWT", "ranks, abalone", "digits"
F1, ACCURACY, RATIO = 93.6, 95.3, 1.15          # what is asked for after 3 epochs, and of an epoch's time beside the perceptron's
NOISE, NOISY_SPLITS, NOISY_ROWS = (0.0, 0.1, 0.2), 5, 1000
NOISY = {       # each with the best of three parameters on a fifth of the rows
    "perceptron": [{"average": True}],
    "pa2": [{"update": "pa2", "average": True, "C": C} for C in (0.001, 0.01, 0.1)],
    "adagrad": [{"update": "adagrad", "average": True, "step_size": eta} for eta in (0.01, 0.1, 1.0)],
    "AROW": [{"update": "pa2", "plugins": [structperc_arow], "average": True, "C": C} for C in (0.005, 0.05, 0.5)],
}


class Curve:
    """The held-out error after each epoch, in %."""

    def __init__(self, error):
        self.error, self.found = error, []

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        self.found.append(100 * self.error(engine))


class Clock:
    """CPU seconds at the end of each epoch."""

    def __init__(self):
        self.found = []

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        self.found.append(time.process_time())


def tagging(data, **options):
    """Sentences: problem, options, data to learn from, and the error of an engine on those to test with."""
    learned = {"X": data.tuples(data.train), "y": sentences.labels(data.train)}
    return ({"problem": "sequence", "options": {"template": data.template, "fit_intercept": False, **options}, **learned},
            data.tuples(data.test), sentences.labels(data.test))


def rows(problem, X, y, **options):
    order = np.random.default_rng(0).permutation(len(y))
    learned, tested = order[:len(y) * 3 // 4], order[len(y) * 3 // 4:]
    return {"problem": problem, "options": {"scale": True, **options}, "X": X[learned], "y": y[learned]}, X[tested], y[tested]


def chunk_error(engine, X, y):
    return 1 - phrase_scores(y, engine.predict(X)).f1


def tag_error(engine, X, y):
    wrong = sum(a != b for said, right in zip(engine.predict(X), y, strict=True) for a, b in zip(said, right, strict=True))
    return wrong / sum(map(len, y))


def rank_error(engine, X, y):
    return np.abs(engine.predict(X) - y).mean()


def class_error(engine, X, y):
    return (engine.predict(X) != y).mean()


def sets(quick):
    return {CHUNKS: (*tagging(sentences.chunking(quick)), chunk_error), TAGS: (*tagging(sentences.parts_of_speech(quick)), tag_error),
            RANKS: (*rows("cusum", *whole("abalone")), rank_error),
            DIGITS: (*rows("multiclass", *load_digits(return_X_y=True)), class_error)}


def engine_of(data, epochs, rule, *plugins, **options):
    return Engine(data["problem"], preset="paper", epochs=epochs, shuffle=True, random_state=0, plugins=plugins, **data["options"],
                  **rule, **options)


def measure(quick):
    raw = {"curves": {}, "times": {}, "sizes": {}}
    for name, (data, X, y, error) in sets(quick).items():
        raw["sizes"][name] = [len(data["X"]), len(X)]
        raw["curves"][name] = {}
        for rule, options in RULES.items():
            curve = Curve(functools.partial(error, X=X, y=y))
            engine_of(data, 3 if quick else EPOCHS, options, curve).fit(data["X"], data["y"])
            raw["curves"][name][rule] = [float(value) for value in curve.found]
        turns = {rule: functools.partial(seconds_per_epoch, data, options) for rule, options in RULES.items()}
        raw["times"][name] = take_turns(turns, 1 if quick else ROUNDS)
    raw["noise"] = noisy(quick)
    return raw


def seconds_per_epoch(data, rule):
    """CPU seconds of an epoch, the median of those behind the first."""
    clock = Clock()
    engine_of(data, TIMED, rule, clock).fit(data["X"], data["y"])
    return median(np.diff(clock.found).tolist())


def noisy(quick):
    """Mean errors in %, by set, share of labels drawn anew and rule."""
    found = {}
    for name, problem in {"abalone": "cusum", "computer": "cusum", "boston": "cusum", "california": "cusum",
                          "digits": "multiclass"}.items():
        X, y = load_digits(return_X_y=True) if name == "digits" else whole(name)
        error = class_error if name == "digits" else rank_error
        for share in NOISE:
            errors = {rule: [] for rule in NOISY}
            for split in range(1 if quick else NOISY_SPLITS):
                random = np.random.default_rng(split)
                order = random.permutation(len(y))[:NOISY_ROWS]
                learned, chosen, tested = np.split(order, [len(order) * 3 // 5, len(order) * 4 // 5])
                seen = np.where(random.random(len(y)) < share, random.choice(np.unique(y), len(y)), y)
                Z = (X - X[learned].mean(axis=0)) / np.where(X[learned].std(axis=0) > 0, X[learned].std(axis=0), 1)
                for rule, tried in NOISY.items():
                    engines = [Engine(problem, preset="paper", epochs=5, shuffle=True, random_state=split, **options).fit(Z[learned],
                                      seen[learned])
                               for options in tried]
                    best = min(engines, key=functools.partial(error, X=Z[chosen], y=seen[chosen]))
                    errors[rule].append(100 * error(best, Z[tested], y[tested]))
            found[f"{name}, {share:.0%}"] = {rule: [float(np.mean(each)), float(np.std(each) / np.sqrt(len(each)))]
                                             for rule, each in errors.items()}
    return found


# ---- what is shown ----


MEASURES = {CHUNKS: "100 − F1 of phrases", TAGS: "wrong tags, %", RANKS: "mean absolute error of ten ranks, times 100",
            DIGITS: "wrong classes, %"}
AXES = MEASURES | {RANKS: "100 × absolute error"}


def report(raw):
    said = "; ".join(f"{rule}: {', '.join(f'{key}={value}' for key, value in options.items())}" for rule, options in RULES.items())
    parts = [f"The same options on all sets, none tuned to them: {said}. One seed. Predictions are by the mean of the weights "
             "if average=True, else by the last ones.", "![Held-out error by epoch](updates.png)"]
    for name, curves in raw["curves"].items():
        learned, tested = raw["sizes"][name]
        times = raw["times"][name]
        rows = [[rule, *(f"{curve[epoch - 1]:.2f}" if epoch <= len(curve) else "" for epoch in SHOWN), f"{min(curve):.2f}",
                 shown(median(times[rule])), *(spread(ratios(times[rule], times[other])) for other in BESIDE)]
                for rule, curve in curves.items()]
        parts += [f"## {name[0].upper()}{name[1:]}",
                  f"{learned:,} to learn from, {tested:,} to test with. Error: {MEASURES[name]}. Time of epochs 2 to {TIMED}, the median.",
                  table(["rule", *(f"epoch {epoch}" for epoch in SHOWN), "best", "CPU seconds per epoch",
                         *(f"÷ {other}" for other in BESIDE)], rows)]
    rules = list(NOISY)
    rows = [[case, *(f"{found[rule][0]:.1f} ± {found[rule][1]:.1f}" for rule in rules)] for case, found in raw["noise"].items()]
    parts += ["## Noisy labels",
              "Errors in % on clean labels; of ranks the mean absolute error, times 100. A share of the labels learned from is "
              f"drawn anew. {NOISY_ROWS:,} rows at most, three fifths of them to learn from; {NOISY_SPLITS} splits, standard errors. "
              "There are five epochs and averaged weights. Each rule has the best of three values of its parameter on a fifth of the rows. "
              "AROW is "
              "`examples/arow`.",
              table(["set, share of noise", *rules], rows), sentence_of_arow(raw["noise"])]
    return "\n\n".join(parts)


def sentence_of_arow(noise):
    best = [sum(min(found, key=lambda rule: found[rule][0]) == rule for found in noise.values()) for rule in NOISY]
    most = [found for case, found in noise.items() if case.endswith(" 20%")]
    wins = ", ".join(f"{rule} {n}" for rule, n in zip(NOISY, best, strict=True))
    means = ", ".join(f"{rule} {np.mean([found[rule][0] for found in most]):.1f}" for rule in NOISY)
    return f"Best in how many of the {len(noise)} cases: {wins}. With 20 % of noise the mean errors are {means}."


def goals(raw):
    def after(name, epoch):
        curve = raw["curves"][name]["adagrad"]
        return 100 - curve[min(epoch, len(curve)) - 1]

    f1, accuracy = after(CHUNKS, 3), after(TAGS, 3)
    reached = [job.Goal("adagrad, F1 of chunks after 3 epochs", f"≥ {F1}", f"{f1:.2f}", bool(f1 >= F1)),
               job.Goal("adagrad, % of tags after 3 epochs", f"≥ {ACCURACY}", f"{accuracy:.2f}", bool(accuracy >= ACCURACY))]
    for name, times in raw["times"].items():
        found = ratios(times["adagrad"], times["perceptron"])
        reached.append(job.Goal(f"epoch of adagrad ÷ perceptron's: {name}", f"≤ {RATIO}", spread(found), bool(median(found) <= RATIO)))
    return reached


def draw(raw, folder):
    shown = {}
    for name, curves in raw["curves"].items():
        worst = max(max(curve[1:]) for curve in curves.values())
        best = min(min(curve) for curve in curves.values())
        shown[name] = AXES[name], (best - 0.05 * (worst - best), worst + 0.15 * (worst - best)), curves
    rules = list(RULES)
    figures.families(folder / "updates.png", shown, [rules[:4], rules[4:]], "epochs")


if __name__ == "__main__":
    job.run("updates", "Update rules", measure, report, goals, draw)
