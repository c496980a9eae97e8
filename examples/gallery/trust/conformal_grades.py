"""
How sure is this grade?
=======================

A ranker predicts one grade, and some predictions are less certain than others. :class:`~structperc.estimators.OrdinalConformal`
returns an interval of grades for any ranker. You choose how often the interval contains the right grade (prediction intervals,
conformal prediction). The coverage is guaranteed for any data, if new rows are drawn like the old ones. Probabilities have no such
guarantee. This page compares both on a survey of 944 people in 1996. Where do people place themselves between the parties, on seven
ranks?
"""

import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from structperc.estimators import OrdinalConformal, PRank
from structperc.metrics import interval_coverage, mean_interval_width

survey = sm.datasets.anes96.load_pandas().data
X, y = survey[["TVnews", "selfLR", "ClinLR", "DoleLR", "age", "educ", "income", "logpopul"]], survey["PID"].to_numpy(dtype=int)


def narrowest(probabilities, coverage):
    """For each row the narrowest interval of ranks whose probabilities sum to the coverage."""
    sums = np.concatenate([np.zeros((len(probabilities), 1)), probabilities.cumsum(axis=1)], axis=1)
    pairs = sorted(((low, high) for low in range(7) for high in range(low, 7)), key=lambda pair: pair[1] - pair[0])
    held = np.array([sums[:, high + 1] - sums[:, low] >= coverage - 1e-9 for low, high in pairs])
    return np.array(pairs)[held.argmax(axis=0)]


# %%
# Ten splits, three levels of coverage. The rivals use probabilities: those of the same ranker, and those of a logistic regression.

asked = [0.6, 0.75, 0.9]
found = {"OrdinalConformal(PRank)": [], "PRank's own probabilities": [], "logistic regression's": []}
for seed in range(10):
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=seed)
    rivals = PRank(random_state=seed), make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    probabilities = [rival.fit(X_train, y_train).predict_proba(X_test) for rival in rivals]
    for coverage in asked:
        sure = OrdinalConformal(PRank(random_state=seed), coverage=coverage, random_state=seed).fit(X_train, y_train)
        answers = sure.predict_interval(X_test), *(narrowest(given, coverage) for given in probabilities)
        for rows, intervals in zip(found.values(), answers, strict=True):
            rows.append((coverage, interval_coverage(y_test, intervals), mean_interval_width(intervals)))
for name, rows in found.items():
    means = np.reshape(rows, (10, 3, 3)).mean(axis=0)
    print(name, *(f"asked {c:.0%}, held {held:.1%}, {width:.1f} ranks wide" for c, held, width in means), sep="\n   ")

# %%
# The ranker's probabilities are far too sure, and those of the logistic regression too careful. Only the conformal intervals have a
# guarantee. On the left are eighty people, sorted by their intervals at a coverage of 90 %. A dot is the true rank, filled if the
# interval contains it. On the right you see the coverage asked for and the coverage measured, a mark for each split.

intervals = sure.predict_interval(X_test)[:80]
order, truth = np.lexsort(intervals.T), y_test[:80]
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.4), layout="constrained", width_ratios=[1.5, 1])
left.vlines(range(80), *(intervals[order].T + [[-0.25], [0.25]]), color="#56B4E9", linewidth=3.5)
held = ((intervals[:, 0] <= truth) & (truth <= intervals[:, 1]))[order]
left.scatter(np.arange(80), truth[order], c=np.where(held, "black", "white"), s=14, edgecolors="black", zorder=3)
left.set(xlabel="held-out people", yticks=[0, 3, 6], yticklabels=["strong\nDemocrat", "independent", "strong\nRepublican"])
left.set_title(f"Intervals contain {held.sum()} of 80 true ranks")
for (name, rows), shift, look, colour in zip(found.items(), (-0.015, 0, 0.015), "oxs", ("#0072B2", "#D55E00", "#E69F00"), strict=True):
    levels, covered, _ = np.transpose(rows)
    right.plot(levels + shift, covered, look, color=colour, label=name, alpha=0.8, markersize=5)
right.plot([0.55, 0.95], [0.55, 0.95], color="0.5", linewidth=1)
right.set(xlabel="coverage asked for", ylabel="true ranks inside their intervals", title="The line is the promise")
right.legend(fontsize="small")
plt.show()

# %%
# **What to try next.** The promise is about the average over people, not about each kind of person. A better ranker has narrower
# intervals. On a stream that drifts, use ``partial_calibrate`` with ``decay``: see :doc:`/docs/guide/uncertainty`.
