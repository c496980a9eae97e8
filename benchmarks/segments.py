"""Chunks of CoNLL-2000 as labelled segments, beside the same features in a chain of tags."""

import functools

import job
import numpy as np
import sentences
from measuring import cpu_seconds, table

from structperc import Engine
from structperc.metrics import phrase_scores, phrases, tags

EPOCHS = 10
SEEDS = 3
CHAIN, CHAIN_OF_FOUR = "sequence, B and I", "sequence, B, I, E and S"
TWO_PLACES, FOUR_PLACES = "segments, two places", "segments, four places"
BY_SEGMENTS, DESCRIBED = "segments, loss by segments", "segments, tags of the whole segment"
BOTH = "segments, both"
COLUMNS = ("precision", "recall", "f1")


def tags_of_segment(sentence, start, stop):
    """The tags of all its tokens as one feature, its first and last word as another."""
    return ["tags=" + "_".join(token[1] for token in sentence[start:stop]), f"ends={sentence[start][0]}_{sentence[stop - 1][0]}"]


def measure(quick):
    data = sentences.chunking(quick)
    X, y, X_test, y_test = data.tuples(data.train), sentences.labels(data.train), data.tuples(data.test), sentences.labels(data.test)
    as_four = [tags(phrases(labels), len(labels), "iobes") for labels in y]
    margin = {"update": "pa1", "C": 0.1, "loss_weight": 1.0, "loss": "segments"}
    longest = max(stop - start for labels in y for start, stop, _ in phrases(labels))
    whole = {"segment_features": tags_of_segment, "max_length": longest}
    cases = {
        CHAIN: (y, "sequence", {}), CHAIN_OF_FOUR: (as_four, "sequence", {}),
        TWO_PLACES: (y, "segments", {"places": "iob2"}), FOUR_PLACES: (y, "segments", {}), BY_SEGMENTS: (y, "segments", margin),
        DESCRIBED: (y, "segments", whole), BOTH: (y, "segments", whole | margin),
    }
    raw = {"data": data.name, "sentences": [len(X), len(X_test)], "tokens": [sum(map(len, part)) for part in (X, X_test)],
           "longest": longest, "cases": {name: {key: [] for key in (*COLUMNS, "fit", "predict")} for name in cases}}
    for seed in range(1 if quick else SEEDS):
        for name, (gold, problem, options) in cases.items():
            engine = Engine(problem, preset="paper", average=True, fit_intercept=False, epochs=EPOCHS, shuffle=True, random_state=seed,
                            template=data.template, **options)
            found, case = [], raw["cases"][name]
            case["fit"].append(cpu_seconds(functools.partial(engine.fit, X, gold)))
            case["predict"].append(cpu_seconds(lambda engine=engine, found=found: found.extend(engine.predict(X_test))))
            scores = phrase_scores(y_test, [tags(phrases(labels), len(labels)) for labels in found])
            for key in COLUMNS:
                case[key].append(getattr(scores, key))
    return raw


# ---- what is shown ----


def report(raw):
    rows = []
    for name, case in raw["cases"].items():
        rows.append([name, *(f"{100 * np.mean(case[key]):.2f}" for key in COLUMNS), f"{100 * np.ptp(case['f1']):.2f}",
                     f"{np.median(case['fit']):.1f}", f"{raw['tokens'][1] / np.median(case['predict']):,.0f}"])
    return "\n\n".join([
        f"{raw['data']}: {raw['sentences'][0]:,} sentences with {raw['tokens'][0]:,} tokens to learn from, {raw['tokens'][1]:,} tokens to "
        f"test with; the longest chunk has {raw['longest']} tokens. All learn from the same windows of words and tags in {EPOCHS} averaged "
        f"epochs. Steps are those of the perceptron, or of `pa1` if by loss. Figures are means over "
        f"{len(next(iter(raw['cases'].values()))['f1'])} orders of the sentences. Seconds of one thread, with reading the template. `tags "
        "of the whole segment` and `both` add two features of every "
        f"segment that there may be.",
        table(["learner", "precision", "recall", "F1", "F1, largest - smallest", "fit, CPU seconds", "predict, tokens a second"], rows)])


def goals(raw):
    f1 = {name: 100 * np.mean(case["f1"]) for name, case in raw["cases"].items()}
    return [job.Goal("F1 of segments beside the chain of tags, same features", f"≥ {f1[CHAIN] - 0.1:.2f}", f"{f1[FOUR_PLACES]:.2f}",
                     bool(f1[FOUR_PLACES] >= f1[CHAIN] - 0.1)),
            job.Goal("F1 with features of whole segments", "≥ 93.80", f"{f1[DESCRIBED]:.2f}", bool(f1[DESCRIBED] >= 93.8))]


def draw(raw, folder):
    """None. The table has all figures."""


if __name__ == "__main__":
    job.run("segments", "Chunks as segments", measure, report, goals, draw)
