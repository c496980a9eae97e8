"""
What do I pack, under my own rules?
===================================

Many decisions choose some rows of a table under rules: a weight limit, one keeper and five players, every job at some hour. You have
old decisions, but not their reasons (integer programming, constraint learning). Pass the rules to the problem ``ilp`` as linear
constraints, two to seven lines for each kind of problem. It learns a preference from old decisions, and decides new cases. Each
decision obeys the rules, and is proved optimal for the learned weights. The tables of this page are synthetic, so their hidden
preference can be compared.
"""

import matplotlib.pyplot as plt
import numpy as np

from structperc import Engine
from structperc.components import Rows
from structperc.solvers.integer_programs import ILP


def knapsack(x):
    """Rows are things, column 0 their weight: a bag takes half of the weight of all."""
    weight = x.rows[:, 0]
    return ILP([weight], [weight.sum() / 2])


def team(x):
    """Rows are players; columns 0 and 1 mark keepers and defenders. Choose five, with one keeper and at least two defenders."""
    keeps, defends = x.rows[:, 0], x.rows[:, 1]
    return ILP([-defends], [-2], A_eq=[np.ones(x.n_rows), keeps], b_eq=[5, 1])


def schedule(x):
    """Rows are pairs (job, hour): every job at some hour, one job an hour, and job 0 before job 1."""
    job, hour = x.rows[:, 0], x.rows[:, 1]
    each = np.equal.outer(np.unique(job), job)
    return ILP(np.vstack([np.equal.outer(np.unique(hour), hour), hour * ((job == 0) * 1 - (job == 1) * 1)]),
               [*np.ones(len(np.unique(hour))), -1], A_eq=each, b_eq=np.ones(len(each)))


# %%
# Tables of each kind: what the rules ask for, and three columns whose worth is hidden.

job, hour = np.indices((4, 6)).reshape(2, -1)
role = np.repeat([[1, 0], [0, 1], [0, 0]], [3, 5, 6], axis=0)
PROBLEMS = {
    "knapsack": (knapsack, lambda random: np.column_stack([random.integers(1, 9, 12), random.normal(size=(12, 3))])),
    "team": (team, lambda random: np.column_stack([role, random.normal(size=(14, 3))])),
    "schedule": (schedule, lambda random: np.column_stack([job, hour, random.normal(size=(24, 3))])),
}


def learned(constraints, draw, n_train=25, n_test=20, seed=0):
    """How far new decisions agree with the hidden preference, and how far a guess does: shared rows, of all in either."""
    random = np.random.default_rng(seed)
    X = [draw(random) for _ in range(n_train + n_test)]
    examples = [Rows(rows, np.array([0, len(rows)])).example(0) for rows in X]
    taste = np.append(np.zeros(X[0].shape[1] - 3), [2.0, -1.0, 0.5])        # hidden: the last three columns matter
    y = [set(constraints(x).solve(rows @ taste).chosen) for x, rows in zip(examples, X, strict=True)]
    engine = Engine("ilp", constraints=constraints, epochs=4, average=True).fit(X[:n_train], list(map(sorted, y[:n_train])))
    assert not engine.optimality_gaps(X[n_train:]).any()                    # each decision is proved optimal
    guessed = [constraints(x).solve(random.normal(size=x.n_rows)).chosen for x in examples[n_train:]]
    return [np.mean([len(truth & set(answer)) / len(truth | set(answer)) for answer, truth in zip(answers, y[n_train:], strict=True)])
            for answers in (engine.predict(X[n_train:]), guessed)]


# %%
# How many old decisions does it take? The rival guesses, but obeys the rules.

sizes = [1, 5, 25]
figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for (name, problem), colour, look in zip(PROBLEMS.items(), ("#0072B2", "#E69F00", "#CC79A7"), ("o-", "s--", "^-."), strict=True):
    shares = np.array([learned(*problem, n_train=n) for n in sizes])
    ax.plot(sizes, shares[:, 0], look, color=colour, label=name)
    ax.axhline(shares[:, 1].mean(), color=colour, linestyle=":", linewidth=1)
    print(f"{name:9}", *(f"{n}: {share:.0%}" for n, share in zip(sizes, shares[:, 0], strict=True)), f"guessing: {shares[:, 1].mean():.0%}")
ax.set(xscale="log", xticks=sizes, xticklabels=sizes, ylim=(0, 1), xlabel="old decisions to learn from")
ax.set_ylabel("rows in common with the true decision\n(dotted: a guess that obeys the rules)")
ax.minorticks_off()
ax.legend()
plt.show()

# %%
# **What to try next.** ``auxiliary=`` of :class:`~structperc.solvers.integer_programs.ILP` adds other variables, such as amounts and
# flows. ``most_nodes`` bounds the time of a decision. If you have your own solver, see :doc:`learn_from_decisions`.
