"""
Can boosted trees learn one score and its thresholds together?
==============================================================

Thresholds often cut one hidden score into grades (latent variable, proportional odds, gradient boosting). Then one score explains
all grades, and skewed grades need no tuning. No library of trees has this loss. ``Problem`` has it. Each round takes the gradient and
the curvature of the loss, and fits a tree. Then it finds the best thresholds again. The data are synthetic, so the hidden score is known.
The rivals are boosted classes and a rounded regression with the same number of trees.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor

from structperc import Problem

random = np.random.default_rng(0)
X = random.normal(size=(3000, 5))
hidden = 2 * np.sin(X[:, 0]) + X[:, 1] ** 2 / 2 + X[:, 2] * (X[:, 3] > 0)
levels = np.digitize(hidden + 0.5 * random.logistic(size=len(X)), [0.5, 1.5, 2.2, 4.0])             # most rows have the lowest grade
X, X_test, y, y_test = X[:1500], X[1500:], levels[:1500], levels[1500:]

# %%
# **The trees.** The score of "above k" is the latent score less threshold k. So derivatives by the latent score are sums over k. A tree
# is one Newton step: it predicts the gradient divided by the curvature, and the curvature weighs the rows.


class LatentTrees:
    """One latent score by boosted trees, with thresholds that are fitted again after each tree."""

    def __init__(self, n_rounds=40, rate=0.2, n_leaves=15, loss="logistic"):
        self.n_rounds, self.rate, self.n_leaves, self.loss = n_rounds, rate, n_leaves, loss

    def fit(self, X, y, classes):
        batch = Problem("cusum", classes=classes).batch(y=y)
        latent, self.trees, self.losses = np.zeros(len(X)), [], []
        self.thresholds = batch.thresholds(latent, self.loss)
        for _ in range(self.n_rounds):
            values, gradient, curvature = batch.loss(latent[:, None] - self.thresholds, self.loss, curvature=True)
            slope, weight = gradient.sum(axis=1), curvature.sum(axis=1)
            tree = DecisionTreeRegressor(max_leaf_nodes=self.n_leaves, min_samples_leaf=20, random_state=0)
            tree.fit(X, -slope / weight, sample_weight=weight)
            latent += self.rate * tree.predict(X)
            self.trees.append(tree)
            self.thresholds = batch.thresholds(latent, self.loss)
            self.losses.append(values.mean())
        return self

    def score(self, X):
        return self.rate * sum(tree.predict(X) for tree in self.trees)

    def predict(self, X):
        return (self.score(X)[:, None] > self.thresholds).sum(axis=1)


model = LatentTrees().fit(X, y.tolist(), [0, 1, 2, 3, 4])
options = {"max_iter": 40, "learning_rate": 0.2, "max_leaf_nodes": 15, "random_state": 0}
classes = HistGradientBoostingClassifier(**options).fit(X, y)
numbers = HistGradientBoostingRegressor(**options).fit(X, y)
median = (classes.predict_proba(X_test).cumsum(axis=1) < 0.5).sum(axis=1)
answers = {"one score and thresholds": model.predict(X_test), "classes, most probable": classes.predict(X_test), "classes, median": median,
           "regression, rounded": np.clip(np.rint(numbers.predict(X_test)), 0, 4)}
for name, answer in answers.items():
    print(f"{name:26} mean absolute error {np.abs(answer - y_test).mean():.3f}")

# %%
# **The score.** It follows the hidden one, and its thresholds separate the grades. The rounded regression has neither thresholds
# nor probabilities. Other losses have the same form:
# ``"cumulative-logit"`` has probabilities, and intervals of grades may be given as y.

score = model.score(X_test)
print(f"rank correlation with the hidden score: {np.corrcoef(score.argsort().argsort(), hidden[1500:].argsort().argsort())[0, 1]:.3f}")
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
for level, colour in enumerate(("#0072B2", "#56B4E9", "#009E73", "#E69F00", "#D55E00")):
    left.scatter(hidden[1500:][y_test == level], score[y_test == level], s=6, color=colour, label=f"grade {level}")
for threshold in model.thresholds:
    left.axhline(threshold, color="0.5", linewidth=0.8)
left.set(xlabel="hidden score", ylabel="learned score, with its thresholds")
left.legend(fontsize="small", markerscale=2)
right.plot(model.losses, color="#0072B2")
right.set(xlabel="trees", ylabel="loss of the training rows")
plt.show()

# %%
# **What to try next.** :doc:`trees_with_an_order` needs no loop, and wins where grades are not on one line. In LightGBM and XGBoost the two
# derivatives are a custom objective; :doc:`/docs/guide/scores` has all losses.
