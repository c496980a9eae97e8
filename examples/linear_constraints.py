"""Three new problems by their constraints alone: what to pack, whom to send, when to work; learned from choices that were made before."""

import numpy as np

from structperc import Engine
from structperc.components import Rows
from structperc.solvers.integer_programs import ILP


def knapsack(x):
    """Rows are things, column 0 their weight: a bag takes half of the weight of all."""
    weight = x.rows[:, 0]
    return ILP([weight], [weight.sum() / 2])


def team(x):
    """Rows are players, columns 0 and 1 say who keeps goal and who defends: five of them, one keeper, at least two defenders."""
    keeps, defends = x.rows[:, 0], x.rows[:, 1]
    return ILP([-defends], [-2], A_eq=[np.ones(x.n_rows), keeps], b_eq=[5, 1])


def schedule(x):
    """Rows are pairs (job, hour): every job at some hour, one job an hour, and job 0 before job 1."""
    job, hour = x.rows[:, 0], x.rows[:, 1]
    each = np.equal.outer(np.unique(job), job)
    return ILP(np.vstack([np.equal.outer(np.unique(hour), hour), hour * ((job == 0) * 1 - (job == 1) * 1)]),
               [*np.ones(len(np.unique(hour))), -1], A_eq=each, b_eq=np.ones(len(each)))


def things(random):
    return np.column_stack([random.integers(1, 9, 12), random.normal(size=(12, 3))])


def players(random):
    role = np.repeat([[1, 0], [0, 1], [0, 0]], [3, 5, 6], axis=0)
    return np.column_stack([role, random.normal(size=(14, 3))])


def jobs_and_hours(random):
    job, hour = np.indices((4, 6)).reshape(2, -1)
    return np.column_stack([job, hour, random.normal(size=(24, 3))])


PROBLEMS = {"knapsack": (knapsack, things), "team": (team, players), "schedule": (schedule, jobs_and_hours)}


def learned(constraints, draw, n_train=100, n_test=50, seed=0):
    """The share of new examples that are answered as the one who chose before would."""
    random = np.random.default_rng(seed)
    X = [draw(random) for _ in range(n_train + n_test)]
    taste = np.append(np.zeros(X[0].shape[1] - 3), [2.0, -1.0, 0.5])        # hidden: the last three columns matter
    y = [constraints(Rows(rows, np.array([0, len(rows)])).example(0)).solve(rows @ taste).chosen for rows in X]
    engine = Engine("ilp", constraints=constraints, epochs=5, average=True).fit(X[:n_train], y[:n_train])
    assert not engine.optimality_gaps(X[n_train:]).any()                    # each answer is proved optimal
    return np.mean([set(found) == set(truth) for found, truth in zip(engine.predict(X[n_train:]), y[n_train:], strict=True)])


if __name__ == "__main__":
    for name, problem in PROBLEMS.items():
        print(f"{name}: {learned(*problem):.0%} of 50 new examples answered exactly as before")
