"""
My regression works. How do I turn its numbers into grades?
===========================================================

Many teams have a regression for a graded target, and round its output (ordinal regression, cut points, proportional odds). Rounding has
no probabilities, and its cut points may be in the wrong places. This page puts a head on the regression: an ordinal model with one
column, the score. It learns from scores of held-out rows, since scores of training rows are too good. The regression may come from any
library. The data are a survey of 6,366 women, who rate their marriages from 1 to 5.
"""

import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict, train_test_split

from structperc.estimators import PRank

survey = sm.datasets.fair.load_pandas().data
X, y = survey.drop(columns="rate_marriage").to_numpy(), survey["rate_marriage"].to_numpy(dtype=int)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
regression = HistGradientBoostingRegressor(max_iter=25, max_leaf_nodes=15, random_state=0)
score = regression.fit(X, y).predict(X_test)

# %%
# **The head.** ``trainer="cumulative-logit"`` is the proportional odds model. ``cross_val_predict`` returns for each row the score of a
# regression that has not seen it. For comparison, a second head learns from scores of rows that the regression has seen.

held_out = cross_val_predict(regression, X, y, cv=3)
heads = {"head on held-out scores": held_out, "head on training scores": regression.predict(X)}
print(f"{'rounded':24} MAE {np.abs(np.clip(np.rint(score), 1, 5) - y_test).mean():.3f}")
tables = {}
for name, scores in heads.items():
    head = PRank(trainer="cumulative-logit").fit(scores[:, None], y)
    table = tables[name] = head.predict_proba(score[:, None])
    median = 1 + (table.cumsum(axis=1) < 0.5).sum(axis=1)
    print(f"{name:24} MAE {np.abs(median - y_test).mean():.3f}, log loss {log_loss(y_test, table):.3f}")
base = np.bincount(y)[1:] / len(y)
print(f"{'frequencies, for all':24} MAE {np.abs(np.median(y) - y_test).mean():.3f}, log loss "
      f"{log_loss(y_test, np.tile(base, (len(y_test), 1))):.3f}")

# %%
# **What the head predicts.** Each score has a probability for each grade. The head is an ordinary model of structperc: it has a model file,
# explanations, and exports to C and JavaScript.

head = PRank(trainer="cumulative-logit").fit(held_out[:, None], y)
grid = np.linspace(score.min(), score.max(), 200)
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
left.stackplot(grid, head.predict_proba(grid[:, None]).T, labels=[f"grade {k}" for k in range(1, 6)],
               colors=["#D55E00", "#E69F00", "#F0E442", "#56B4E9", "#0072B2"])
left.set(xlabel="score of the regression", ylabel="probability", title="From a number to grades", xlim=(grid[0], grid[-1]), ylim=(0, 1))
left.legend(loc="upper left", fontsize="small")
right.plot([0, 1], [0, 1], color="0.6", linewidth=1)
for (name, table), colour, look in zip(tables.items(), ("#0072B2", "#D55E00"), "os", strict=True):
    predicted = table[:, 3:].sum(axis=1)
    parts = np.array_split(np.argsort(predicted, kind="stable"), 10)
    right.plot([predicted[part].mean() for part in parts], [(y_test[part] >= 4).mean() for part in parts], look, linestyle="-",
               color=colour, label=name, markersize=5)
right.set(xlabel="predicted probability of 4 or better", ylabel="frequency on held-out women", title="Is it honest?")
right.legend(fontsize="small")
plt.show()

# %%
# **What to try next.** Rows of one person or one site belong in one fold: pass ``groups`` and ``GroupKFold`` to ``cross_val_predict``.
# :doc:`trees_with_an_order` has trees that know the order themselves.
