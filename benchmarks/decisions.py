"""Predict, then optimise: shortest paths, knapsacks and portfolios whose costs are learned, at four degrees of misspecification.

The data are those of the field's standard generators: costs are polynomials of linear functions of the features, times or plus noise.
"""

import attrs
import decision_peers
import job
import numpy as np
from matplotlib import pyplot
from measuring import cpu_seconds, table
from scipy import sparse
from sklearn.ensemble import RandomForestRegressor
from structperc_decisions import regret

from structperc import Engine
from structperc.schedules import inverse_sqrt
from structperc.solvers.paths import best_path, grid_graph

FEATURES = 5
DEGREES = (1, 4, 6, 8)
LEAST_SQUARES, FOREST = "two-stage least squares", "two-stage random forest"
IMITATION, PERTURBED, SPO = "imitation: averaged perceptron", "imitation: perturbed", "SPO+"
STEPS = {"step_size": inverse_sqrt(0.1)}
LEARNERS = {
    IMITATION: {},
    PERTURBED: {"update": "perturbed", "samples": 3, "sigma": 0.5, **STEPS},
    SPO: {"loss": "decision-cost", "loss_weight": 1.0, "update": "latent", **STEPS},
}


# ---- the three tests ----


@attrs.frozen
class Task:
    """A kind of decisions: `draw(n, degree, random)` makes features (n, 5), costs (n, items) and the function decide(costs, x)."""

    title: str
    sizes: str
    draw: object
    n_train: int
    n_test: int
    seeds: int


def polynomial(n, items, degree, random):
    """Features, and the polynomial of a linear function of them for each item."""
    X = random.normal(size=(n, FEATURES))
    weights = random.binomial(1, 0.5, (items, FEATURES))
    return X, (X @ weights.T / np.sqrt(FEATURES) + 3) ** degree + 1


def paths(n, degree, random, side=5, noise=0.5):
    tails, heads = grid_graph(side, side)
    X, costs = polynomial(n, len(tails), degree, random)

    def decide(costs, x):
        return best_path(tails, heads, -costs, 0, side * side - 1)[0]

    return X, costs / 3.5**degree * random.uniform(1 - noise, 1 + noise, costs.shape), decide


def knapsacks(n, degree, random, items=32, capacity=20, noise=0.5):
    weight = random.integers(3, 9, items)
    X, values = polynomial(n, items, degree, random)
    values = np.ceil(5 / 3.5**degree * values * random.uniform(1 - noise, 1 + noise, values.shape))

    def decide(costs, x):
        """By dynamic programming over what the bag holds."""
        best, taken = np.zeros(capacity + 1), np.zeros((items, capacity + 1), dtype=bool)
        for i in range(items):
            if costs[i] < 0:
                w = weight[i]
                better = best[:-w] - costs[i]
                taken[i, w:] = better > best[w:]
                best[w:] = np.maximum(better, best[w:])
        chosen, room = [], int(np.argmax(best))
        for i in range(items - 1, -1, -1):
            if taken[i, room]:
                chosen.append(i)
                room -= weight[i]
        return np.array(chosen, dtype=int)

    return X, -values, decide


def portfolios(n, degree, random, assets=20, noise=1.0, risk=2.25):
    import clarabel

    X = random.normal(size=(n, FEATURES))
    weights = random.binomial(1, 0.5, (assets, FEATURES))
    factors = random.uniform(-2.5e-3 * noise, 2.5e-3 * noise, (assets, FEATURES))
    returns = (0.05 * X @ weights.T / np.sqrt(FEATURES) + 0.1 ** (1 / degree)) ** degree
    returns += random.normal(size=(n, FEATURES)) @ factors.T + 0.01 * noise * random.normal(size=(n, assets))
    covariance = factors @ factors.T + (0.01 * noise) ** 2 * np.eye(assets)
    root = np.linalg.cholesky(covariance).T
    settings = clarabel.DefaultSettings()
    settings.verbose = settings.presolve_enable = False
    rows = sparse.csc_matrix(np.vstack([np.ones((1, assets)), -np.eye(assets), np.zeros((1, assets)), -root]))
    bounds = np.concatenate([[1.0], np.zeros(assets), [np.sqrt(risk * covariance.mean())], np.zeros(assets)])
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(assets), clarabel.SecondOrderConeT(assets + 1)]
    solver = clarabel.DefaultSolver(sparse.csc_matrix((assets, assets)), np.zeros(assets), rows, bounds, cones, settings)

    def decide(costs, x):
        """Shares v >= 0, sum v = 1, v' covariance v at most `risk` times the mean covariance."""
        solver.update(q=np.asarray(costs, dtype=float))
        return np.array(solver.solve().x)

    return X, -returns, decide


TASKS = (
    Task("shortest path", "5 x 5 grid, 40 arcs, noise 0.5", paths, 500, 1000, 3),
    Task("knapsack", "32 items, whole weights 3 to 8, capacity 20, noise 0.5", knapsacks, 200, 500, 3),
    Task("portfolio", "20 assets, risk at most 2.25 mean covariances, noise 1", portfolios, 100, 200, 2),
)


# ---- measuring ----


def measure(quick):
    tasks = []
    for task in TASKS:
        if quick:
            task = attrs.evolve(task, n_train=30, n_test=30, seeds=1)
        cases = []
        for degree in DEGREES:
            found = {}
            for seed in range(task.seeds):
                random = np.random.default_rng(seed)
                X, costs, decide = task.draw(task.n_train + task.n_test, degree, random)
                costs = costs / np.abs(costs[:task.n_train]).mean()        # one unit for all tests: steps are the same
                best = [decide(c, None) for c in costs]
                train, test = slice(None, task.n_train), slice(task.n_train, None)
                new = X[test]
                for name, answer in trained(X[train], costs[train], best[train], decide, seed, quick).items():
                    decided = []
                    seconds = cpu_seconds(lambda answer=answer, decided=decided, new=new: decided.extend(answer(new)))
                    one = found.setdefault(name, {"regret": [], "seconds": []})
                    one["regret"].append(regret(costs[test], decided, best[test]))
                    one["seconds"].append(seconds)
            cases.append({"degree": degree, "learners": found})
        tasks.append({"title": task.title, "sizes": task.sizes, "train": task.n_train, "test": task.n_test, "seeds": task.seeds,
                      "cases": cases})
    return {"tasks": tasks, "peers": decision_peers.version()}


def trained(X, costs, best, decide, seed, quick):
    """Functions that train and then decide for new features, by learner."""
    def least_squares(new):
        weights = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), costs, rcond=None)[0]
        return [decide(c, None) for c in np.column_stack([new, np.ones(len(new))]) @ weights]

    def forest(new):
        model = RandomForestRegressor(20 if quick else 100, min_samples_leaf=3, random_state=seed).fit(X, costs)
        return [decide(c, None) for c in model.predict(new)]

    def learned(options):
        engine = Engine("decisions", preset="paper", decide=decide, items=costs.shape[1], epochs=10, average=True, shuffle=True,
                        random_state=seed,
                        **options)
        return engine.fit(X, best, costs=costs if "loss" in options else None)

    return {LEAST_SQUARES: least_squares, FOREST: forest,
            **{name: (lambda new, options=options: learned(options).predict(new)) for name, options in LEARNERS.items()},
            **decision_peers.learners(X, costs, decide, seed, 20 if quick else 250, LEARNERS[PERTURBED])}


# ---- what is shown ----


def means(case, what):
    return {name: float(np.mean(of[what])) for name, of in case["learners"].items()}


def report(raw):
    parts = ["Normalised regret of new decisions, what they cost more than the best ones under the true costs. Predictions are linear, "
             "but for the forest's; costs are polynomials of the degree. Least squares, forests and SPO+ see the true costs, imitation sees"
             " only the best decisions. No learner is tuned. Ours have 10 epochs with mean weights, and steps of 0.1 / sqrt(t) in units "
             "of the mean cost. Each visit has 3 perturbed decisions with sigma 0.5. "
             + (f"PyEPO {raw['peers']} takes 250 steps of Adam at rate 0.03 in batches of 32 over the same solver." if raw["peers"] else
                "PyEPO is not installed here.")]
    for task in raw["tasks"]:
        names = list(task["cases"][0]["learners"])
        rows = [[f"{case['degree']}", *(f"{100 * value:.1f} %" for value in means(case, "regret").values())] for case in task["cases"]]
        seconds = np.mean([list(means(case, "seconds").values()) for case in task["cases"]], axis=0)
        parts += [f"## {task['title'].capitalize()}",
                  f"{task['sizes']}; {task['train']} examples to train, {task['test']} to test, means over {task['seeds']} draws.",
                  table(["degree", *names], [*rows, ["CPU seconds", *(f"{s:.1f}" for s in seconds)]])]
    return "\n\n".join(parts)


def goals(raw):
    reached = []
    for task in raw["tasks"]:
        for case in task["cases"]:
            of = means(case, "regret")
            if case["degree"] > 4:
                reached.append(job.Goal(f"{task['title']}: regret of SPO+, degree {case['degree']}, beside least squares",
                                        f"< {of[LEAST_SQUARES]:.1%}", f"{of[SPO]:.1%}", of[SPO] < of[LEAST_SQUARES]))
    return reached


def draw(raw, folder):
    figure, axes = pyplot.subplots(1, len(raw["tasks"]), figsize=(12, 4), layout="constrained")
    for axis, task in zip(axes, raw["tasks"], strict=True):
        for name in task["cases"][0]["learners"]:
            axis.plot(DEGREES, [100 * means(case, "regret")[name] for case in task["cases"]], marker="o",
                      linestyle="--" if name.startswith(decision_peers.NAME) else "-", label=name)
        axis.set(title=task["title"], xlabel="degree of the costs", ylabel="normalised regret, %", xticks=DEGREES, ylim=(0, None))
    axes[-1].legend(fontsize="small")
    figure.savefig(folder / "decisions.png", dpi=120)
    pyplot.close(figure)


if __name__ == "__main__":
    job.run("decisions", "Predict, then optimise", measure, report, goals, draw)
