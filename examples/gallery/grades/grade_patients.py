"""
Which grade will this patient have in a year?
=============================================

The data are ten measurements of 442 people with diabetes, and the progress of the disease after a year. The progress is cut into
five grades of equal size. Grades are ordered (ordinal regression): 2 instead of 1 is a small error, 5 instead of 1 a large one. A
classifier ignores the order, and a regression assumes that all steps are equally wide. :class:`~structperc.estimators.CuSumRank` and
:class:`~structperc.estimators.PRank` use the order only. This page compares the four on new patients, and then shows what a ranker
has learned.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import train_test_split

import structperc
from structperc.estimators import CuSumRank, PRank
from structperc.metrics import mean_absolute_error
from structperc.plotting import plot_thresholds

patients = load_diabetes(as_frame=True, scaled=False)
X, y = patients.data, np.digitize(patients.target, np.quantile(patients.target, [0.2, 0.4, 0.6, 0.8])) + 1

# %%
# Ten times, a third of the patients is held out. All learners keep their default settings: nothing is tuned here.

learners = {
    "CuSumRank": lambda seed: CuSumRank(random_state=seed),
    "PRank": lambda seed: PRank(random_state=seed),
    "logistic regression": lambda seed: LogisticRegression(max_iter=5000),
    "linear regression, rounded": lambda seed: LinearRegression(),
    "median grade for all": lambda seed: DummyRegressor(strategy="median"),
}
errors = {name: [] for name in learners}
for seed in range(10):
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=seed)
    centre, spread = X_train.mean(), X_train.std()
    for name, make in learners.items():
        model = make(seed).fit((X_train - centre) / spread, y_train)
        predicted = np.clip(np.rint(model.predict((X_test - centre) / spread)), 1, 5).astype(int)
        errors[name].append(mean_absolute_error(y_test, predicted))
for name, found in errors.items():
    print(f"{name:28} {np.mean(found):.3f} grades off, standard error {np.std(found, ddof=1) / np.sqrt(10):.3f}")

# %%
# The left picture shows these errors, a small dot for each split. The right one shows the model of ``PRank`` on the last split: one
# score for each patient, and four thresholds that cut it into grades. Neighbouring grades overlap, so no model can be right about
# everybody.

ranker = PRank(random_state=0).fit(X_train, y_train)            # scales the columns by itself
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.4), layout="constrained", width_ratios=[1, 1.2])
for row, found in enumerate(errors.values()):
    left.plot(found, np.full(10, row), ".", color="0.6")
    left.plot(np.mean(found), row, "D", color="#0072B2" if row < 2 else "#D55E00", markersize=8)
left.set(yticks=range(5), yticklabels=list(errors), xlabel="grades off, on held-out patients (left is better)", ylim=(4.5, -0.5))
left.set_title("Diamonds: means of ten splits")
plot_thresholds(ranker, X_test, y_test, ax=right)
plt.show()

# %%
# Why this grade? Bars to the right raise the score, towards higher grades, bars to the left lower it.

structperc.explain(ranker, X_test.iloc[0])

# %%
# **What to try next.** ``update="pa1"`` with several ``C`` in a grid search, a ``kernel="rbf"``, or boosted stumps:
# :doc:`/docs/guide/ranks` compares them. :class:`~structperc.estimators.ScoreCard` turns a ranker into an integer points table.
