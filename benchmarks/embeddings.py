"""Tokens of named features and a vector of 384 numbers together. Rivals: both apart, and one sparse matrix of all numbers."""

import functools

import job
import numpy as np
import sentences
from measuring import cpu_seconds, median, peak_growth, ratios, spread, table, take_turns
from scipy import sparse

from structperc import Engine
from structperc.reading.named import NamedReader

COORDINATES = 384
EPOCHS = 5
ROUNDS = 3
LIMIT = 1.3             # times both apart
STRINGS, VECTORS, BOTH, STACKED = "strings", "vectors", "both together", "both as one CSR matrix"
RULES = {"perceptron": {"update": "perceptron"}, "pa1": {"update": "pa1"}, "log-loss": {"update": "log-loss", "step_size": 0.1}}


def measure(quick):
    data = sentences.chunking(quick)
    X, y = data.strings(data.train), sentences.labels(data.train)
    vector_of = vectors(data.train)
    apart = [np.array([vector_of[token[0]] for token in sentence]) for sentence in data.train]
    together = [[[*names, vector_of[token[0]]] for names, token in zip(strings, sentence, strict=True)]
                for strings, sentence in zip(X, data.train, strict=True)]
    made = []
    seconds = cpu_seconds(lambda: made.append(stacked(X, apart)))
    matrix, offsets = made[0]
    cases = {STRINGS: (X, None), VECTORS: (apart, None), BOTH: (together, None), STACKED: (matrix, offsets)}
    raw = {"data": data.name, "sentences": len(X), "tokens": sentences.tokens(data.train), "stacking": seconds,
           "read": take_turns({name: functools.partial(read, cases[name][0]) for name in (STRINGS, BOTH)}, ROUNDS), "fit": {},
           "memory": {}}
    for rule, options in RULES.items():
        raw["fit"][rule] = take_turns({name: functools.partial(fit, options, *case, y) for name, case in cases.items()}, ROUNDS)
    for name, case in cases.items():
        raw["memory"][name] = peak_growth(functools.partial(engine({}, 1).fit, case[0], y, offsets=case[1]))[1]
    raw["memory"][STACKED] = raw["memory"][STACKED] and raw["memory"][STACKED] + sum(
        part.nbytes for part in (matrix.data, matrix.indices, matrix.indptr)) / 2**20
    return raw


def vectors(part):
    """A random vector of length about 1 for each word."""
    random, found = np.random.default_rng(0), {}
    for sentence in part:
        for token in sentence:
            if token[0] not in found:
                found[token[0]] = (random.normal(size=COORDINATES) / np.sqrt(COORDINATES)).astype(np.float32)
    return found


def stacked(X, apart):
    """What users had to do: a vocabulary of the strings, and the vectors behind its columns."""
    rows = NamedReader().learn(X)
    return sparse.csr_matrix(sparse.hstack([rows.X, sparse.csr_matrix(np.concatenate(apart))], format="csr")), rows.offsets


def engine(options, epochs=EPOCHS):
    return Engine("sequence", preset="paper", average=True, shuffle=True, random_state=0, epochs=epochs, **options)


def read(X):
    return cpu_seconds(NamedReader().learn, X)


def fit(options, X, offsets, y):
    return cpu_seconds(functools.partial(engine(options).fit, X, y, offsets=offsets))


# ---- what is shown ----


def beside_both(raw, rule):
    """Round by round, the time together divided by the sum of the times apart."""
    times = raw["fit"][rule]
    return ratios(times[BOTH], [a + b for a, b in zip(times[STRINGS], times[VECTORS], strict=True)])


def report(raw):
    rows = [[name, *(spread(times[name]) for times in raw["fit"].values()), spread(raw["read"][name]) if name in raw["read"] else "",
             "" if raw["memory"][name] is None else f"{raw['memory'][name]:,.0f}"] for name in raw["memory"]]
    rows.append([f"{BOTH} / (strings + vectors)", *(spread(beside_both(raw, rule)) for rule in RULES), "", ""])
    return "\n\n".join([
        f"{raw['data']}: {raw['sentences']:,} sentences with {raw['tokens']:,} tokens, 20 strings and a vector of {COORDINATES} float32 "
        f"each. The vectors are random, one for each word, so only time and memory mean something. {EPOCHS} averaged epochs, CPU seconds "
        "of "
        f"one thread with reading, medians and ranges of {ROUNDS} rounds. Memory is what training adds to the process, and the matrix. The "
        f"one matrix takes {raw['stacking']:.1f} further seconds to make.",
        table(["tokens", *(f"{rule}: fit, s" for rule in RULES), "read alone, s", "memory, MiB"], rows)])


def goals(raw):
    return [job.Goal(f"{rule}: together, beside the sum of both apart", f"≤ {LIMIT}", f"{median(beside_both(raw, rule)):.2f}",
                     bool(median(beside_both(raw, rule)) <= LIMIT)) for rule in RULES]


def draw(raw, folder):
    """None. The table has all figures."""


if __name__ == "__main__":
    job.run("embeddings", "Names and vectors together", measure, report, goals, draw)
