"""
Boosted trees win on my table. How do I get honest grades from them?
====================================================================

A classifier of boosted trees ignores the order of grades (ordinal regression, gradient boosting). ``BinaryReduction`` gives any classifier
the order: it asks "is the grade above k?" for each row and each k. With ``falling=True`` its probabilities never contradict one
another. The data are a survey of 6,366 women, who rate their marriages from 1 to 5. The trees are scikit-learn's. Those of LightGBM,
XGBoost and CatBoost work in the same way, with missing values and categories.
"""

import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from structperc.estimators import BinaryReduction, OrdinalConformal

survey = sm.datasets.fair.load_pandas().data
X, y = survey.drop(columns="rate_marriage"), survey["rate_marriage"].to_numpy(dtype=int)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
levels = np.arange(1, 6)

# %%
# Three models have the same trees. The first one ignores the order. The prediction is the median of the probabilities, which has
# the smallest mean absolute error (MAE).


def trees():
    return HistGradientBoostingClassifier(max_iter=25, max_leaf_nodes=15, random_state=0)


models = {"classes": trees(), "reduction": BinaryReduction(trees()), "reduction, falling": BinaryReduction(trees(), falling=True)}
probabilities = {}
for name, model in models.items():
    table = probabilities[name] = model.fit(X, y).predict_proba(X_test)
    median = levels[(table.cumsum(axis=1) < 0.5).sum(axis=1)]
    print(f"{name:20} MAE {np.abs(median - y_test).mean():.3f}, log loss {log_loss(y_test, table):.3f}")

# %%
# **Contradictions.** Without the constraint, some women are more likely to be above 3 than above 2. ``predict_proba`` sorts such
# probabilities. With the constraint there are none.

for name in ("reduction", "reduction, falling"):
    rises = (np.diff(models[name].threshold_scores(X_test), axis=1) > 0).any(axis=1)
    print(f"{name:20} {rises.sum()} of {len(rises)} women have scores that rise with k")

# %%
# **Intervals.** :class:`~structperc.estimators.OrdinalConformal` returns intervals of grades. They contain the true grade in 90 % of
# the cases, whatever the trees have learned. It takes a part of the rows to find their width.

sure = OrdinalConformal(models["reduction, falling"], coverage=0.9, random_state=0).fit(X, y)
intervals = sure.predict_interval(X_test)
inside = (intervals[:, 0] <= y_test) & (y_test <= intervals[:, 1])
width = intervals[:, 1] - intervals[:, 0] + 1
print(f"covered {inside.mean():.3f}, {width.mean():.2f} grades in an interval")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
above = models["reduction, falling"].predict_marginals(X_test)
order = np.argsort(above.sum(axis=1), kind="stable")
for k, colour in enumerate(("#0072B2", "#56B4E9", "#E69F00", "#D55E00")):
    left.plot(above[order, k], color=colour, label=f"above {levels[k]}", linewidth=1)
left.set(xlabel="held-out women, by their expected grade", ylabel="probability", title="Curves that never cross")
left.legend(fontsize="small")
right.bar(*np.unique(width, return_counts=True), color="#0072B2")
right.set(xlabel="grades in the interval", ylabel="women", title="Intervals with coverage 90 %")
plt.show()

# %%
# **What to try next.** :doc:`/docs/guide/boosting` compares trees with kernels on more tables. If you want one score for all grades, see
# :doc:`latent_score_by_trees`.
