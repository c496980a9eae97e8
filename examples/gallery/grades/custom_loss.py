"""
Missing a severe case is worse than a false alarm. How do I train for that?
===========================================================================

You choose what a mistake costs (custom loss, cost-sensitive learning). Here a patient is mild, moderate or severe: 442 people with
diabetes, scikit-learn's data. A grade too low costs several times as much as a grade too high. The cost is a class of five lines, a
:class:`~structperc.components.Loss`, and every trainer accepts it. In batch, support vectors weigh each threshold by the cost of its
wrong side. Online, passive-aggressive updates require a larger margin. The rival is the textbook's way: a logistic regression whose
probabilities choose the least expected cost.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from structperc import Engine
from structperc.components import Loss

patients = load_diabetes(scaled=False)
X, y = patients.data, np.digitize(patients.target, np.quantile(patients.target, [1 / 3, 2 / 3]))       # 0 mild, 1 moderate, 2 severe


class Underrating(Loss):
    """A grade too high costs 1 for each step, a grade too low ``cost``; ranks are counted from 1 here."""

    def __init__(self, cost):
        self.cost = cost

    def value(self, gold, answer, x=None):
        return self.cost * (gold - answer) if answer < gold else answer - gold


# %%
# Ten splits for each cost. Every learner keeps one setting throughout.

costs = [1, 2, 4, 8, 16]
learners = {
    "support vectors, in batch": lambda loss: Engine("prank", plugins=["large-margin", loss], trainer="svor", epochs=1000, scale=True),
    "passive-aggressive, online": lambda loss: Engine("cusum", plugins=[loss], update="pa1", C=0.01, loss_weight=1.0, epochs=10,
                                                      average=True, scale=True),
}
names = [*learners, "logistic regression"]
paid, missed, alarms = (np.zeros((3, len(costs), 10)) for _ in range(3))
for seed in range(10):
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=seed)
    logistic = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
    for k, cost in enumerate(costs):
        answered = [make(Underrating(cost)).fit(X_train, y_train).predict(X_test) for make in learners.values()]
        table = np.array([[max(answer - gold, cost * (gold - answer)) for answer in range(3)] for gold in range(3)])
        answered.append((logistic.predict_proba(X_test) @ table).argmin(axis=1))
        for row, answers in enumerate(answered):
            paid[row, k, seed] = table[y_test, answers].mean()
            missed[row, k, seed], alarms[row, k, seed] = np.mean(answers[y_test == 2] < 2), np.mean(answers[y_test < 2] == 2)
for name, found in zip(names, paid, strict=True):
    print(f"{name:27} cost of a patient:", *(f"{cost}: {mean:.2f}" for cost, mean in zip(costs, found.mean(axis=1), strict=True)), sep="  ")

# %%
# One number in the loss moves the model along a curve. At one end there is seldom a false alarm, at the other hardly anybody is
# missed. All three learners have the same curve. The support vectors follow the cost to its end, nearly as cheaply as the logistic
# regression. A larger margin has no further effect from 4 on: the patients overlap too much for that margin.

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.4), layout="constrained")
for row, (name, colour, look) in enumerate(zip(names, ["#0072B2", "#E69F00", "#D55E00"], ["o-", "^-.", "s--"], strict=True)):
    left.plot(alarms[row].mean(axis=1), missed[row].mean(axis=1), look, color=colour, label=name)
    right.errorbar(costs, paid[row].mean(axis=1), paid[row].std(axis=1, ddof=1) / np.sqrt(10), fmt=look, color=colour, capsize=3)
for cost, across, up in zip(costs, alarms[0].mean(axis=1), missed[0].mean(axis=1), strict=True):
    left.annotate(f"cost {cost}", (across, up), xytext=(6, 6), textcoords="offset points", fontsize="small")
left.set(xlabel="false alarms: others called severe", ylabel="severe patients that are missed", xlim=(0, 1), ylim=(0, 0.5))
right.set(xlabel="what a step too low costs", ylabel="cost of a held-out patient", xscale="log", xticks=costs, xticklabels=costs)
right.minorticks_off()
left.legend()
plt.show()

# %%
# **What to try next.** A table does the same without a class, ``loss=[[0, 1, 2], [4, 0, 1], [8, 4, 0]]``: rows are gold labels.
# You define losses of sentences, trees and rankings in the same way: :doc:`/docs/replace-a-part`. For rare grades use weights:
# :doc:`/docs/guide/classes`.
