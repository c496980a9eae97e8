"""
Is ordinal regression better than what I use today?
===================================================

Five grades, and the learners that people use for them: mord and statsmodels (cumulative links), LightGBM, a logistic regression. Beside
them are :class:`~structperc.estimators.PRank`, and :class:`~structperc_boosting.reductions.BinaryReduction`, which turns any binary
classifier into an ordinal one. The page grades the age of 4,177 shells (abalone) if you have the files. Otherwise it uses a survey that
statsmodels includes: 6,366 women rate their marriages from 1 to 5. Nothing is tuned.
"""

import time
import warnings

import matplotlib.pyplot as plt
import mord
import numpy as np
import statsmodels.api as sm
from lightgbm import LGBMClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from statsmodels.miscmodels.ordinal_model import OrderedModel

from structperc.errors import MissingData
from structperc.estimators import BinaryReduction, PRank
from structperc.files.datasets import load_numbers
from structperc.metrics import mean_absolute_error

warnings.simplefilter("ignore")                                 # LightGBM's, about names of columns
try:
    table = load_numbers("abalone", download=False)
    name, X, rings = "abalone", table.without("rings"), table.column("rings")
    y = np.digitize(rings, np.quantile(rings, [0.2, 0.4, 0.6, 0.8])) + 1
except MissingData:
    survey = sm.datasets.fair.load_pandas().data
    name, X, y = "marriages", survey.drop(columns="rate_marriage").to_numpy(), survey["rate_marriage"].to_numpy(dtype=int)
print(f"{name}: {len(X)} rows, {X.shape[1]} columns, grades {np.bincount(y)[1:]}")


class Statsmodels:
    """A proportional-odds model with scikit-learn's methods."""

    def fit(self, X, y):
        self.result = OrderedModel(y, X, distr="logit").fit(method="bfgs", disp=0)
        return self

    def predict(self, X):
        return self.result.predict(X).argmax(axis=1) + 1


# %%
# Three times, 40 % of the rows are held out. Statsmodels and the classifiers predict the most probable grade. The others use the
# order. The reduction asks one boosted classifier "is the grade above k?".

boosted = {"n_estimators": 60, "n_jobs": 1, "random_state": 0, "verbose": -1}
learners = {
    "median grade for all": None,
    "logistic regression": lambda: LogisticRegression(max_iter=1000),
    "statsmodels OrderedModel": Statsmodels,
    "LightGBM, as classes": lambda: LGBMClassifier(**boosted),
    "mord LogisticAT": mord.LogisticAT,
    "PRank": lambda: PRank(random_state=0),
    "PRank, trainer='cumulative-logit'": lambda: PRank(trainer="cumulative-logit", random_state=0),
    "BinaryReduction(LightGBM)": lambda: BinaryReduction(LGBMClassifier(**boosted), thresholds="number"),
}
errors, seconds = ({name: [] for name in learners} for _ in range(2))
for seed in range(3):
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=seed)
    scaler = StandardScaler().fit(X_train)
    for learner, make in learners.items():
        begin = time.perf_counter()
        model = make().fit(scaler.transform(X_train), y_train) if make else None
        seconds[learner].append(time.perf_counter() - begin)
        predicted = model.predict(scaler.transform(X_test)) if model else np.full(len(y_test), int(np.median(y_train)))
        errors[learner].append(mean_absolute_error(y_test, predicted))
for learner, values in errors.items():
    print(f"{learner:36} {np.mean(values):.3f} grades off, trained in {np.median(seconds[learner]):6.3f} s")

# %%
# On either table, mord and ``PRank`` are ahead of a logistic regression with the same columns. ``PRank`` takes the least time.
# Boosted trees also see curves and jumps of single columns. The reduction gives them the order, and has the smallest error.

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4), layout="constrained", sharey=True)
colours = ["0.6"] + ["#D55E00"] * 4 + ["#0072B2"] * 3
left.barh(list(errors), [np.mean(values) for values in errors.values()], color=colours)
for row, values in enumerate(errors.values()):
    left.plot(values, [row] * 3, "k.", markersize=4)
left.set(xlabel="grades off, on held-out rows (left is better)", xlim=(0.9 * min(map(min, errors.values())), None))
right.barh(list(seconds)[1:], [np.median(values) for values in list(seconds.values())[1:]], color=colours[1:])
right.set(xlabel="seconds to train, logarithmic", xscale="log")
left.invert_yaxis()
plt.show()

# %%
# **Trees inside.** The last bar is ``BinaryReduction(LGBMClassifier())``: boosted trees that learn "is the grade above k?" for each k. With
# ``falling=True`` its probabilities fall with k, see :doc:`/docs/guide/boosting`.
#
# **What to try next.** ``kernel="rbf"`` also follows curves, and :class:`~structperc_boosting.estimators.AdaBoostOR` boosts stumps for
# grades: see :doc:`/docs/guide/ranks` and :doc:`/docs/guide/boosting`.
