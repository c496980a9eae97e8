"""
Which update rule, and which C?
===============================

Most hyperparameters of a perceptron matter little, two matter much: the update rule, and how far it follows each example (``C``). A
grid search chooses both (hyperparameter tuning, cross-validation). The data are 442 people with diabetes, whose disease is cut into
five grades. The rivals are the defaults, and the median grade for all. A nested cross-validation measures the search itself.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, cross_val_score

from structperc.estimators import CuSumRank

patients = load_diabetes(as_frame=True, scaled=False)
X, y = patients.data, np.digitize(patients.target, np.quantile(patients.target, [0.2, 0.4, 0.6, 0.8])) + 1

# %%
# ``C`` is a cap on the step. A small one averages over many examples, a large one fits each of them. Try powers of 10.

rules, values = ["pa", "pa1", "pa2"], [0.0001, 0.001, 0.01, 0.1, 1.0]
grid = [{"update": ["perceptron", "pa"]}, {"update": ["pa1", "pa2"], "C": values}]
folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
measure = {"cv": folds, "scoring": "neg_mean_absolute_error"}
search = GridSearchCV(CuSumRank(epochs=20, random_state=0), grid, **measure).fit(X, y)
table = search.cv_results_
print("best:", {name: search.best_params_[name] for name in sorted(search.best_params_)})
for row in np.argsort(table["rank_test_score"])[:5]:
    error = table["std_test_score"][row] / np.sqrt(10)
    print(f"   {-table['mean_test_score'][row]:.3f} grades off, standard error {error:.3f}: {table['params'][row]}")

# %%
# The search has seen all patients, so its best error is too good. ``cross_val_score`` of the whole search holds patients out. On 442
# patients the search is no better than the defaults, which other data have chosen.

outer = {"cv": 5, "scoring": "neg_mean_absolute_error"}
inner = GridSearchCV(CuSumRank(epochs=20, random_state=0), grid, cv=3, scoring="neg_mean_absolute_error")
print(f"the search, nested: {-cross_val_score(inner, X, y, **outer).mean():.3f}")
default = -cross_val_score(CuSumRank(random_state=0), X, y, **outer).mean()
print(f"the defaults:       {default:.3f}")
constant = np.abs(y - np.median(y)).mean()
print(f"the median grade:   {constant:.3f}")

# %%
# In the picture, bars are standard errors over ten folds. The plain rules have no ``C``, so they are lines. Differences within a bar
# mean nothing: prefer the smaller ``C`` there.

figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
for rule, colour, look in zip(("pa1", "pa2", "pa", "perceptron"), ("#0072B2", "#E69F00", "#D55E00", "#009E73"), "osd^", strict=True):
    rows = [row for row, options in enumerate(table["params"]) if options["update"] == rule]
    means, spread = -table["mean_test_score"][rows], table["std_test_score"][rows] / np.sqrt(10)
    if len(rows) > 1:
        ax.errorbar(values, means, spread, marker=look, color=colour, capsize=3, label=rule)
    else:
        ax.axhline(means[0], color=colour, linestyle="--", label=f"{rule} (no C)")
ax.axhline(constant, color="0.6", label="median grade for all")
ax.set(xscale="log", xlabel="C", ylabel="grades off, on held-out patients (lower is better)")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %%
# **What to try next.** ``epochs`` and ``kernel`` belong in a second, smaller grid. :doc:`/docs/guide/tune` has schedules and grids
# of kernels, and :doc:`/docs/how-to-choose` compares the rules on more data.
