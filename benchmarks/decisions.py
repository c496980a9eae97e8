"""Predict, then optimise: shortest paths through a 5 x 5 grid whose costs are learned, at four degrees of misspecification."""

import job
import numpy as np
from measuring import cpu_seconds, table
from scipy.sparse import csr_array
from structperc.solvers.paths import best_path, grid_graph
from structperc_decisions import DecisionCost, regret

from structperc import Engine

SIDE, FEATURES, NOISE = 5, 5, 0.5
DEGREES = (1, 4, 6, 8)
TRAIN, TEST, SEEDS = 500, 1000, 3
TAILS, HEADS = grid_graph(SIDE, SIDE)
LEAST_SQUARES, IMITATION, SPO = "two-stage least squares", "imitation: averaged perceptron", "SPO+"
STEPS = {"loss_weight": 1.0, "update": "latent", "step_size": 0.1, "step_schedule": "inverse-sqrt"}
LEARNERS = {IMITATION: {}, SPO: {"plugins": [DecisionCost()], **STEPS}}


def drawn(n, degree, weights, random):
    """Features, and the costs of all arcs: a polynomial of a linear function, times noise."""
    X = random.normal(size=(n, FEATURES))
    costs = ((X @ weights.T / np.sqrt(FEATURES) + 3) ** degree + 1) / 3.5**degree
    return X, costs * random.uniform(1 - NOISE, 1 + NOISE, costs.shape)


def arcs(X):
    """A row per arc: its nodes, then the features and a constant in columns of its own."""
    n, m, d = len(X), len(TAILS), X.shape[1] + 1
    values = np.column_stack([X, np.ones(n)])
    rows = np.zeros((n, m, 2 + m * d))
    rows[:, :, 0], rows[:, :, 1] = TAILS, HEADS
    for a in range(m):
        rows[:, a, 2 + a * d:2 + (a + 1) * d] = values
    return csr_array(rows.reshape(n * m, -1)), m * np.arange(n + 1)


def cheapest(costs):
    return [best_path(TAILS, HEADS, -one, 0, SIDE * SIDE - 1)[0] for one in costs]


def measure(quick):
    n_train, n_test, seeds = (100, 200, 1) if quick else (TRAIN, TEST, SEEDS)
    cases = []
    for degree in DEGREES:
        found = {name: {"regret": [], "seconds": []} for name in (LEAST_SQUARES, *LEARNERS)}
        for seed in range(seeds):
            random = np.random.default_rng(seed)
            weights = random.binomial(1, 0.5, (len(TAILS), FEATURES)).astype(float)
            (X, costs), (new, true) = (drawn(n, degree, weights, random) for n in (n_train, n_test))
            for name, answer in trained(X, costs, new, seed).items():
                decided = []
                found[name]["seconds"].append(cpu_seconds(lambda answer=answer, decided=decided: decided.extend(answer())))
                found[name]["regret"].append(regret(true, decided, cheapest(true)))
        cases.append({"degree": degree, "learners": found})
    return {"train": n_train, "test": n_test, "cases": cases}


def trained(X, costs, new, seed):
    """Functions that train and then decide for new features, by learner."""
    gold, (rows, offsets), (new_rows, new_offsets) = cheapest(costs), arcs(X), arcs(new)

    def least_squares():
        weights = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), costs, rcond=None)[0]
        return cheapest(np.column_stack([new, np.ones(len(new))]) @ weights)

    def learned(options):
        engine = Engine("path", fit_intercept=False, epochs=10, average=True, shuffle=True, random_state=seed, **options)
        sees = {"costs": list(costs)} if options else {}
        return engine.fit(rows, gold, offsets=offsets, **sees).predict(new_rows, offsets=new_offsets)

    return {LEAST_SQUARES: least_squares, **{name: (lambda options=options: learned(options)) for name, options in LEARNERS.items()}}


# ---- what is shown ----


def report(raw):
    rows = [[f"{case['degree']}", *(f"{100 * np.mean(of['regret']):.1f} %" for of in case["learners"].values())] for case in raw["cases"]]
    seconds = ", ".join(f"{name} {np.mean([np.mean(case['learners'][name]['seconds']) for case in raw['cases']]):.1f} s"
                        for name in raw["cases"][0]["learners"])
    return "\n\n".join([
        f"Normalised regret of {raw['test']:,} new decisions, means over {len(raw['cases'][0]['learners'][SPO]['regret'])} draws; "
        f"{raw['train']:,} examples of {FEATURES} features, noise {NOISE:g}. Predictions are linear; costs are polynomials of the degree. "
        "Least squares and SPO+ see the true costs, imitation sees the best paths alone. No learner is tuned: 10 epochs, mean weights, "
        f"SPO+ with steps 0.1 / sqrt(t). Training and prediction take, in CPU time: {seconds}.",
        table(["degree", *raw["cases"][0]["learners"]], rows)])


def goals(raw):
    reached = []
    for case in raw["cases"]:
        of = {name: np.mean(found["regret"]) for name, found in case["learners"].items()}
        if case["degree"] > 4:
            reached += [job.Goal(f"regret of {name}, degree {case['degree']}, beside least squares", f"< {of[LEAST_SQUARES]:.1%}",
                                 f"{of[name]:.1%}", bool(of[name] < of[LEAST_SQUARES])) for name in LEARNERS]
    return reached


def draw(raw, folder):
    """Four lines need no figure."""


if __name__ == "__main__":
    job.run("decisions", "Predict, then optimise", measure, report, goals, draw)
