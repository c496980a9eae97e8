"""Chunks of CoNLL-2000 by log loss: phrase F1, training time and how far its probabilities can be trusted, beside crfsuite's lbfgs."""

import functools

import job
import numpy as np
import sentences
from measuring import cpu_seconds, table
from tagging import train_crfsuite

from structperc import Engine
from structperc.metrics import phrase_scores

SEEDS = 3
# Chosen among 10 settings by the F1 of the last tenth of the training sentences, by models of the others.
LOG_LOSS = {"update": "log-loss", "step_size": 0.2, "decay": 1e-6, "epochs": 8}
CASES = {"log-loss": LOG_LOSS, "log-loss, 4 epochs": LOG_LOSS | {"epochs": 4}, "perceptron": {"epochs": 10}}
RIVAL = "crfsuite lbfgs"
WANTED, FAST = 93.8, 5.0        # what is asked for: F1 in %, seconds


def measure(quick):
    data = sentences.chunking(quick)
    X, y, X_test, y_test = data.tuples(data.train), sentences.labels(data.train), data.tuples(data.test), sentences.labels(data.test)
    raw = {"data": data.name, "sentences": [len(X), len(X_test)], "cases": {}}
    for name, options in CASES.items():
        found = raw["cases"][name] = {"f1": [], "fit": [], "log_loss": []}
        for seed in range(1 if quick else SEEDS):
            engine = Engine("sequence", preset="paper", average=True, fit_intercept=False, shuffle=True, random_state=seed,
                            template=data.template,
                            **options)
            found["fit"].append(cpu_seconds(functools.partial(engine.fit, X, y)))
            found["f1"].append(phrase_scores(y_test, engine.predict(X_test)).f1)
            found["log_loss"].append(token_log_loss(engine, X_test, y_test))
    strings, rival = data.strings(data.train), []
    seconds = cpu_seconds(lambda: rival.append(train_crfsuite("lbfgs", strings, y)))
    raw["cases"][RIVAL] = {"f1": [phrase_scores(y_test, rival[0].predict(data.strings(data.test))).f1], "fit": [seconds], "log_loss": []}
    return raw


def token_log_loss(engine, X, y):
    """Mean of -log p(right label) over the tokens, p at least 1e-300."""
    column = {label: k for k, label in enumerate(engine.classes_.tolist())}
    p = [marginals[t, column[label]] if label in column else 0.0
         for marginals, labels in zip(engine.predict_marginals(X), y, strict=True) for t, label in enumerate(labels)]
    return float(-np.log(np.maximum(p, 1e-300)).mean())


# ---- what is shown ----


def report(raw):
    rows = [[name, f"{100 * np.mean(case['f1']):.2f}", f"{100 * min(case['f1']):.2f}–{100 * max(case['f1']):.2f}",
             f"{np.median(case['fit']):.1f}", f"{np.mean(case['log_loss']):.3f}" if case["log_loss"] else ""]
            for name, case in raw["cases"].items()]
    return "\n\n".join([
        f"{raw['data']}: {raw['sentences'][0]:,} sentences to learn from, {raw['sentences'][1]:,} to test with, 22 labels, the same "
        f"features for all. Averaged weights; means over {SEEDS} orders of the sentences. CPU seconds of one thread, from words and tags "
        f"on, for crfsuite from feature strings on.",
        table(["learner", "F1 %", "range", "fit, CPU seconds", "log loss of a token"], rows)])


def goals(raw):
    ours = raw["cases"]["log-loss"]
    f1, seconds = 100 * np.mean(ours["f1"]), np.median(ours["fit"])
    rival = 100 * np.mean(raw["cases"][RIVAL]["f1"])
    return [job.Goal("F1 of log loss", f"≥ {WANTED}", f"{f1:.2f}", bool(f1 >= WANTED)),
            job.Goal("training with log loss, CPU seconds", f"≤ {FAST}", f"{seconds:.1f}", bool(seconds <= FAST)),
            job.Goal("F1 beside crfsuite's lbfgs", f"≥ {rival:.2f}", f"{f1:.2f}", bool(f1 >= rival))]


def draw(raw, folder):
    """None. The table has all figures."""


if __name__ == "__main__":
    job.run("log_loss", "Chunks by log loss", measure, report, goals, draw)
