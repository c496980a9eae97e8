"""How often intervals of effects contain the true direction; ranks drawn from the proportional-odds model."""

import time

import job
import numpy as np
from measuring import table

import structperc
from structperc import Engine

BETA, N, RANKS = np.array([1.0, -0.5, 0.25, 0.0]), 300, 5
DRAWS, N_BOOT, LEAST = 100, 199, 0.88
MODELS = {
    "logistic, 10 epochs": dict(update="logistic", step_size="inverse_sqrt(0.1)", epochs=10),
    "exact-pa1, C = 0.1": dict(update="exact-pa1", C=0.1, epochs=10),
    "cumulative-logit": dict(trainer="cumulative-logit"),
}


def example(random, n=N):
    """X, y of one draw."""
    X = random.normal(size=(n, len(BETA)))
    score = X @ BETA + random.logistic(size=n)
    return X, 1 + np.digitize(score, np.quantile(score, np.arange(1, RANKS) / RANKS))


def model_of(options, seed):
    online = {} if "trainer" in options else {"average": True, "shuffle": True, "random_state": seed}
    return Engine("prank", preset="paper", **options, **online)


def coverage(options, draws, n_boot, n=N):
    """The share of intervals that hold the truth for each coefficient, their mean width, and seconds for one table."""
    truth, held, width, begun = BETA / np.linalg.norm(BETA), np.zeros(len(BETA)), 0.0, time.process_time()
    for draw in range(draws):
        X, y = example(np.random.default_rng(draw), n)
        found = structperc.effects(model_of(options, draw).fit(X, y), X, y, n_boot=n_boot, random_state=draw)
        held += (found.lower <= truth) & (truth <= found.upper)
        width += (found.upper - found.lower).mean() / draws
    return held / draws, width, (time.process_time() - begun) / draws


def measure(quick):
    found = {}
    for name, options in MODELS.items():
        held, width, seconds = coverage(options, *((2, 39) if quick else (DRAWS, N_BOOT)))
        found[name] = {"held": held.tolist(), "width": float(width), "seconds": seconds}
    return {"found": found}


def report(raw):
    return "\n\n".join([
        f"The share of 95 % intervals that contain the true direction beta / ||beta||: {DRAWS} draws of {N} examples with four normal "
        f"columns, beta = (1, -0.5, 0.25, 0). Labels are {RANKS} ranks of equal size of the proportional-odds model. The problem is "
        f"`prank`, with {N_BOOT} refits for each draw. The standard error of a share of 0.95 is 0.022; of the mean of four it is about "
        "0.011.",
        table(["model", *(f"beta {b:g}" for b in BETA), "mean", "mean width", "cpu s for a table"],
              [[name, *(f"{share:.2f}" for share in one["held"]), f"{np.mean(one['held']):.3f}", f"{one['width']:.2f}",
                f"{one['seconds']:.2f}"] for name, one in raw["found"].items()])])


def goals(raw):
    return [job.Goal(f"{name}: least share of intervals that contain the truth", f"≥ {LEAST}", f"{min(one['held']):.2f}",
                     min(one["held"]) >= LEAST) for name, one in raw["found"].items()]


def draw(raw, folder):
    """Has no figure."""


if __name__ == "__main__":
    job.run("effects", "Coverage of effects", measure, report, goals, draw)
