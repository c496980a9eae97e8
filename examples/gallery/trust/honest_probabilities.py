"""
If a probability is 80 %, is the model right in 80 of 100 cases?
================================================================

Probabilities are honest if they agree with frequencies (calibration, reliability curves). Scores of a perceptron are not honest by
themselves. By default, ``fit`` therefore divides them by a temperature. This page measures probabilities with and without it, beside a
logistic regression. The data are a survey of 6,366 women. The question is who rates her marriage 4 or better.
"""

import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from structperc.estimators import PRank

survey = sm.datasets.fair.load_pandas().data
X, y = survey.drop(columns="rate_marriage").to_numpy(), survey["rate_marriage"].to_numpy(dtype=int)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)

# %%
# All models predict the five ratings. ``predict_proba`` has a column for each of them.

models = {
    "PRank, calibrate=False": PRank(calibrate=False, random_state=0),
    "PRank, the default": PRank(random_state=0),
    "PRank, trainer='cumulative-logit'": PRank(trainer="cumulative-logit", random_state=0),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
}
probabilities = {name: model.fit(X, y).predict_proba(X_test) for name, model in models.items()}


def reliability(predicted, truth, bins=10):
    """Mean prediction and frequency in bins of equally many rows."""
    parts = np.array_split(np.argsort(predicted, kind="stable"), bins)
    return np.array([(predicted[part].mean(), truth[part].mean()) for part in parts])


curves = {name: reliability(table[:, 3:].sum(axis=1), y_test >= 4) for name, table in probabilities.items()}
base = np.bincount(y)[1:] / len(y)
print(f"{'frequencies of the ratings, for all':36} log loss {log_loss(y_test, np.tile(base, (len(y_test), 1))):.3f}")
for name, table in probabilities.items():
    gap = np.abs(np.subtract(*curves[name].T)).mean()
    print(f"{name:36} log loss {log_loss(y_test, table):.3f}, calibration error {gap:.3f}")

# %%
# Without a temperature, log loss is far above that of the plain frequencies. With it, probabilities are no longer too sure. The trainer
# ``"cumulative-logit"`` fits probabilities themselves, and is about as honest as the logistic regression. In the picture, predictions
# on the line agree with frequencies. Points below it on the right are too sure. The histograms show how often each
# probability is predicted.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
left.plot([0, 1], [0, 1], color="0.6", linewidth=1)
for (name, curve), colour, look in zip(curves.items(), ("#D55E00", "#0072B2", "#56B4E9", "#009E73"), "sod^", strict=True):
    left.plot(*curve.T, look, linestyle="-", color=colour, label=name, markersize=5)
    right.hist(probabilities[name][:, 3:].sum(axis=1), bins=np.linspace(0, 1, 26), histtype="step", color=colour, linewidth=1.6)
left.set(xlabel="predicted probability of 4 or better", ylabel="frequency on held-out women")
left.legend(fontsize="small")
right.set(xlabel="predicted probability of 4 or better", ylabel="women")
plt.show()

# %%
# **What to try next.** :class:`~structperc.estimators.OrdinalConformal` guarantees the coverage of intervals without any model of
# probabilities. :doc:`/docs/guide/uncertainty` has measured log losses, and explains when ``fit`` holds rows out.
