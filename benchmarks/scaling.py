"""How training on sequences grows with the number of labels and the length of sentences: made-up sentences, one length at a time."""

import functools
import itertools

import figures
import job
import sentences
from fixed import fresh
from measuring import example_costs, median, peak_growth, shown, spread, table, take_turns

from structperc import Engine

LABELS, LENGTHS = (2, 22, 200), (1, 23, 5000, 10_000)
TOKENS = {2: 200_000, 22: 100_000, 200: 10_000}     # of the data whose epochs are timed, about
MEMORY_TOKENS = 10_000
EPOCHS, ROUNDS = 3, 3
LONGER, TWICE = 1.3, 2.2        # what long sentences may take: of the time per token of short ones, of the memory of half as long ones


def measure(quick):
    cases, contenders = [], {}
    for labels, length in itertools.product(LABELS, LENGTHS):
        n = max(1, TOKENS[labels] // (4 if quick else 1) // length) * length
        cases.append({"labels": labels, "length": length, "tokens": n,
                      "mib": fresh(f"import json, scaling; print(json.dumps(scaling.memory({labels}, {length})))")})
        train = functools.partial(fit, *sentences.chains(n, length, labels, columns=1000))
        contenders[labels, length] = functools.partial(example_costs, train, EPOCHS, n)
    for case, nanoseconds in zip(cases, take_turns(contenders, ROUNDS).values(), strict=True):
        case["nanoseconds"] = nanoseconds
    return {"cases": cases}


def fit(X, offsets, y, epochs):
    engine = Engine("sequence", preset="paper", average=True, fit_intercept=False, epochs=epochs).fit(X, y, offsets=offsets)
    if len(engine.mistakes_) < epochs:
        raise RuntimeError(f"{len(y)} tokens were learned by heart after {len(engine.mistakes_)} of {epochs} epochs. The time of "
                           f"{epochs} means nothing; use more tokens.")


def memory(labels, length):
    """MiB by which training on MEMORY_TOKENS tokens (about) raises the process above its size with the data."""
    X, offsets, y = sentences.chains(MEMORY_TOKENS // length * length, length, labels, columns=1000)
    fit(X[:labels], [0, labels], y[:labels], 1)
    return peak_growth(functools.partial(fit, X, offsets, y, 2))[1]


# ---- what is shown ----

def of(raw, labels, length):
    return next(case for case in raw["cases"] if (case["labels"], case["length"]) == (labels, length))


def report(raw):
    rows = [[case["labels"], f"{case['length']:,}", f"{case['tokens']:,}", spread(case["nanoseconds"]),
             "unknown on this system" if case["mib"] is None else f"{case['mib']:.2f}"] for case in raw["cases"]]
    return "\n\n".join([
        "Averaged perceptron, random labels, 10 random features for each token. A best path takes labels² steps for each token but the "
        f"first. Memory: what training on {MEMORY_TOKENS:,} tokens needs beside its data and an empty engine, in a process "
        "of its own.",
        table(["labels", "tokens per sentence", "tokens timed", "nanoseconds per token and epoch", "memory, MiB"], rows),
    ])


def goals(raw):
    (some, many), (short, middle, long, longest) = LABELS[1:], LENGTHS
    square = (many / some) ** 2
    reached = []
    for length in (short, middle, long):
        times = quotient(raw, (many, length), (some, length))
        reached.append(job.Goal(f"time per token, {many} ÷ {some} labels, sentences of {length:,}", f"≤ {shown(square)}, the square",
                                shown(times), times <= square))
    for labels, length in itertools.product(LABELS, (long, longest)):
        times = quotient(raw, (labels, length), (labels, middle))
        reached.append(job.Goal(f"time per token, sentences of {length:,} ÷ of {middle}, {labels} labels", f"≤ {LONGER}", shown(times),
                                times <= LONGER))
    if of(raw, many, short)["mib"] is not None:
        half, whole = (of(raw, many, length)["mib"] - of(raw, many, short)["mib"] for length in (long, longest))
        reached.append(job.Goal(f"memory above that for single tokens, sentences of {longest:,} ÷ of {long:,}, {many} labels", f"≤ {TWICE}",
                                f"{whole / half:.2f} ({whole * 2**20 / (longest * many):.0f} bytes per token and label)",
                                whole <= TWICE * half))
    return reached


def quotient(raw, numerator, denominator):
    return median(of(raw, *numerator)["nanoseconds"]) / median(of(raw, *denominator)["nanoseconds"])


def draw(raw, folder):
    times = {tokens(length): (LABELS, [median(of(raw, labels, length)["nanoseconds"]) for labels in LABELS]) for length in LENGTHS}
    steepest, upper = times[tokens(LENGTHS[-1])][1][-1], LABELS[1:]
    times["labels²"] = upper, [steepest * (labels / upper[-1]) ** 2 for labels in upper]
    panels = [{"title": "Time", "lines": times, "xlabel": "labels", "ylabel": "nanoseconds per token and epoch",
               "xscale": "log", "yscale": "log", "xticks": LABELS, "xticklabels": LABELS}]
    if raw["cases"][0]["mib"] is not None:
        memory = {f"{labels} labels": (LENGTHS, [of(raw, labels, length)["mib"] for length in LENGTHS]) for labels in LABELS}
        panels.append({"title": "Memory", "lines": memory, "xlabel": f"tokens per sentence ({MEMORY_TOKENS:,} in all)",
                       "ylabel": "MiB beside the data"})
    figures.panels(folder / "scaling.png", panels)


def tokens(length):
    return f"sentences of {length:,}"


if __name__ == "__main__":
    job.run("scaling", "Labels and length of sequences", measure, report, goals, draw)
