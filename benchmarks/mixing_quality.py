"""Quality of 1 to 64 shards that are trained apart and mixed, epoch by epoch, on three real sets."""

import functools

import figures
import job
import numpy as np
import updates
from measuring import table

SHARDS, DRAWN = (2, 4, 8, 16, 32, 64), (4, 16, 64)
MIXINGS = ("mean", "bounded-sum")
TRAINERS = {"mean": "online", "bounded-sum": "bounded-sum"}
SEEDS, MANY = 3, ("serial", "4, mean", "4, bounded-sum")        # of these the mean over seeds, of all others the first seed
EPOCHS, LONGER = 10, 12                     # of serial training, and what four shards may take
SERIAL = "serial"
AS_GOOD = {     # an error beside that of serial training
    updates.CHUNKS: lambda error, serial: error <= serial + 0.1,
    updates.TAGS: lambda error, serial: error <= serial + 0.1,
    updates.RANKS: lambda error, serial: error <= 1.005 * serial,
}


def measure(quick):
    raw = {"sizes": {}, "errors": {}}
    sets = updates.sets(quick)
    for name in AS_GOOD:
        data, X, y, error = sets[name]
        shards = SHARDS[:2] if quick else SHARDS
        cases = {SERIAL: {}} | {f"{n}, {mixing}": {"n_shards": n, "trainer": TRAINERS[mixing]} for n in shards for mixing in MIXINGS}
        raw["sizes"][name], raw["errors"][name] = [len(data["X"]), len(X)], {}
        for case, options in cases.items():
            curves = []
            for seed in range(SEEDS if case in MANY and not quick else 1):
                curves.append(updates.Curve(functools.partial(error, X=X, y=y)))
                engine = updates.engine_of(data, LONGER, updates.WHOLE, curves[-1], **options)
                engine.random_state = seed
                engine.fit(data["X"], data["y"])
            raw["errors"][name][case] = np.mean([curve.found for curve in curves], axis=0).tolist()
    return raw


def needed(name, errors, case):
    """The first epoch that is as good as serial training after EPOCHS; None: not among those measured."""
    return next((epoch for epoch, found in enumerate(errors[case], 1) if AS_GOOD[name](found, errors[SERIAL][EPOCHS - 1])), None)


def report(raw):
    parts = [f"The averaged perceptron, shuffled; serial training and 4 shards: the mean of {SEEDS} seeds. A round of mixing is an epoch. "
             f"Mean: w moves by the mean of the shards' steps. Bounded sum: each weight moves by the sum of the shards' steps, at most "
             f"twice the mean of those that moved it. As good as serial: at most 0.1 points (0.5 % of absolute errors) above "
             f"serial training after {EPOCHS} epochs. Other seeds move single figures by 0.1 points, "
             f"as other roundings do.",
             "![Held-out error by shards and epochs](mixing_quality.png)"]
    for name, errors in raw["errors"].items():
        learned, tested = raw["sizes"][name]
        serial = errors[SERIAL][EPOCHS - 1]
        rows = [[case, *(f"{found[epoch - 1]:.2f}" for epoch in (1, 3, EPOCHS, LONGER)), f"{found[EPOCHS - 1] - serial:+.2f}",
                 needed(name, errors, case) or f"more than {LONGER}"] for case, found in errors.items()]
        parts += [f"## {name[0].upper()}{name[1:]}",
                  f"{learned:,} to learn from, {tested:,} to test with. Error: {updates.MEASURES[name]}.",
                  table(["shards", *(f"epoch {epoch}" for epoch in (1, 3, EPOCHS, LONGER)), f"epoch {EPOCHS} beside serial",
                         "epochs until as good as serial"], rows)]
    return "\n\n".join(parts)


def goals(raw):
    found = []
    for name, errors in raw["errors"].items():
        four = needed(name, errors, "4, bounded-sum")
        found.append(job.Goal(f"epochs of 4 shards until as good as serial training after {EPOCHS}, {name}", f"≤ {LONGER}",
                              f"more than {LONGER}" if four is None else f"{four}", four is not None))
    return found


def draw(raw, folder):
    panels = []
    for name, errors in raw["errors"].items():
        shown = [SERIAL, *(case for case in errors if case.split(",")[0] in map(str, DRAWN))]
        panels.append({"title": name, "lines": {case: (list(range(1, LONGER + 1)), errors[case]) for case in shown}, "xlabel": "epoch",
                       "ylabel": updates.MEASURES[name]})
    figures.panels(folder / "mixing_quality.png", panels)


if __name__ == "__main__":
    job.run("mixing_quality", "Shards that are trained apart and mixed: quality", measure, report, goals, draw)
