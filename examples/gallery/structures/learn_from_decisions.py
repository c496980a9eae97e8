"""
Should I predict the travel times, or learn the route?
======================================================

Every morning a rider crosses a town of 5 x 5 corners (predict-then-optimise). Weather, weekday and the like determine the time of
each of its 40 streets. The usual way is to predict all times, and then to choose the fastest route. An error on the wrong street
sends the rider round the block, while errors on unused streets do no harm. The problem ``decisions`` learns the route itself:
from the times (SPO+), or only from the routes that were fastest. The town is synthetic, as in the field's standard test, and the
degree measures how far times are from linear.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression
from structperc_decisions import regret

from structperc import Engine
from structperc.schedules import inverse_sqrt
from structperc.solvers.paths import best_path, grid_graph

tails, heads = grid_graph(5, 5)                                 # 40 streets, each leads right or down


def fastest(times, x):
    """The streets of the fastest route from the first corner to the last."""
    return best_path(tails, heads, -np.asarray(times), 0, 24)[0]


def town(degree, random, n=500):
    """What is known on n mornings, and how long each street takes then."""
    X = random.normal(size=(n, 5))
    times = (X @ random.binomial(1, 0.5, (5, 40)) / np.sqrt(5) + 3) ** degree + 1
    times *= random.uniform(0.5, 1.5, times.shape)
    return X, times / times[:200].mean()


# %%
# 200 mornings are for learning, 300 are new, and two towns are drawn for each degree. No learner is tuned. All predict linearly.
# Regret is how much longer the chosen routes take than the fastest ones.

steps = {"epochs": 6, "average": True, "shuffle": True, "items": 40, "decide": fastest, "random_state": 0}
learners = {
    "from times and routes (SPO+)": {"loss": "decision-cost", "loss_weight": 1.0, "update": "latent",
                                     "step_size": inverse_sqrt(0.1)},
    "from the best routes only": {},
}
degrees = [1, 4, 8]
found = {name: np.zeros((3, 2)) for name in ("predict times, then decide", *learners)}
for row, degree in enumerate(degrees):
    for draw in range(2):
        X, times = town(degree, np.random.default_rng(draw))
        best = [fastest(of_day, None) for of_day in times]
        predicted = LinearRegression().fit(X[:200], times[:200]).predict(X[200:])
        routes = {"predict times, then decide": [fastest(of_day, None) for of_day in predicted]}
        for name, options in learners.items():
            engine = Engine("decisions", **steps, **options)
            routes[name] = engine.fit(X[:200], best[:200], costs=times[:200] if "loss" in options else None).predict(X[200:])
        for name, chosen in routes.items():
            found[name][row, draw] = 100 * regret(times[200:], chosen, best[200:])
for name, regrets in found.items():
    print(f"{name:30}", *(f"degree {degree}: {mean:5.1f} %" for degree, mean in zip(degrees, regrets.mean(axis=1), strict=True)), sep="   ")

# %%
figure, ax = plt.subplots(figsize=(9.5, 4.2), layout="constrained")
for k, ((name, regrets), colour, hatch) in enumerate(zip(found.items(), ("#D55E00", "#0072B2", "#56B4E9"), ("//", "", ".."), strict=True)):
    places = np.arange(3) + 0.27 * (k - 1)
    ax.bar(places, regrets.mean(axis=1), 0.25, label=name, color=colour, hatch=hatch, edgecolor="white")
    ax.plot(places, regrets, "k.")
ax.set(xticks=range(3), xticklabels=["linear", "degree 4", "degree 8"], xlabel="how times depend on what is known")
ax.set(ylabel="longer than the fastest route, in percent", title="Predicting is enough, until the model is wrong")
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
plt.show()

# %%
# **What to try next.** ``update="perturbed"`` learns smoothly from routes only. For another solver, or amounts instead of choices, pass
# another ``decide``. :doc:`/docs/guide/decisions` compares them, and its table includes PyEPO's learners.
