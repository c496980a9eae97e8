"""How often intervals of effects hold the true direction: python benchmarks/effects.py [draws] [n_boot]

Each draw has n examples of four normal columns, five ranks of the proportional-odds model with beta = (1, -0.5, 0.25, 0), and quintiles for
thresholds. An interval of 95 % should hold beta / ||beta|| in 95 of 100 draws.
"""

import sys
import time

import numpy as np

import structperc
from structperc import Engine

BETA, N, RANKS = np.array([1.0, -0.5, 0.25, 0.0]), 300, 5
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


def main(draws=100, n_boot=199):
    print(f"| model | {' | '.join(f'beta {b:g}' for b in BETA)} | mean | mean width | cpu s for a table |")
    print("|---|" + "---|" * (len(BETA) + 3))
    for name, options in MODELS.items():
        held, width, seconds = coverage(options, draws, n_boot)
        print(f"| {name} | {' | '.join(f'{share:.2f}' for share in held)} | {held.mean():.3f} | {width:.2f} | {seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
