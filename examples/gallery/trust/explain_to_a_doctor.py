"""
How do I explain this grade to a doctor?
========================================

A doctor asks three things. Why did this patient get this grade? Can I compute it by hand? Can I try other values?
:func:`structperc.explain` is for the first question (feature importance of one row). :class:`~structperc.estimators.ScoreCard` is a
table of points for the second. ``export`` writes a page with a form for the third. The patients are scikit-learn's 442 people with
diabetes. Their disease is cut into four grades. The rival is the median grade.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

import structperc
from structperc.counterfactuals import Wanted
from structperc.estimators import PRank, ScoreCard
from structperc.metrics import mean_absolute_error

patients = load_diabetes(as_frame=True, scaled=False)
X = patients.data[["age", "bmi", "bp", "s5", "s3"]]
X = X.set_axis(["age", "body mass", "blood pressure", "triglycerides", "hdl"], axis=1)
y = np.digitize(patients.target, np.quantile(patients.target, [0.25, 0.5, 0.75])) + 1
X, X_test, y, y_test = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)
model = PRank(random_state=0).fit(X, y)

# %%
# **Why this grade?** Each bar compares one measurement with the mean of the training patients. Bars to the right raise the
# score, towards higher grades, and bars to the left lower it. They lead from the mean patient's score to this one.

chosen = int(np.flatnonzero((model.predict(X_test) == 3) & (y_test == 3))[0])
patient = X_test.iloc[chosen]
why = structperc.explain(model, patient)
print(why)
why.plot()
plt.show()

# %%
# **What would change it?** The smallest change of blood pressure and body mass that gets a lower grade, in the units
# of the columns.

print(structperc.counterfactual(model, patient, Wanted(at_most=2), fixed=["age", "triglycerides", "hdl"],
                                bounds={"body mass": (18.5, 40), "blood pressure": (70, 140)}))

# %%
# **By hand.** Look up five values, add the points, read the grade off the sum. The table costs little accuracy.

card = ScoreCard(PRank(random_state=0), max_points=30, bins=4).fit(X, y)
print(card)
for name, predicted in {"model": model.predict(X_test), "points": card.predict(X_test),
                        "median grade": np.full(len(y_test), int(np.median(y)))}.items():
    print(f"{name:12} {mean_absolute_error(y_test, predicted):.3f} grades off on new patients")

# %%
# **To try.** The page is one file that works without a network, on a phone too. It shows the grade, the reasons and the smallest
# changes while you type.

with TemporaryDirectory() as folder:
    model.export(Path(folder, "grade.html"))
    print(f"grade.html has {Path(folder, 'grade.html').stat().st_size / 1000:.0f} kB")

figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
points = card.predict(X_test)
for grade in range(1, 5):
    share = [np.mean(points[y_test == grade] == predicted) for predicted in range(1, 5)]
    ax.bar(np.arange(1, 5) + 0.2 * (grade - 2.5), share, 0.18, label=f"right grade {grade}", color=plt.cm.viridis(0.25 * (grade - 0.5)))
ax.set(xticks=range(1, 5), xlabel="grade by points", ylabel="share of these patients")
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
plt.show()

# %%
# **What to try next.** :func:`structperc.effects` shows the weight of each column in the whole model, with intervals:
# :doc:`/docs/guide/effects`. A :doc:`conformal interval </docs/guide/uncertainty>` states how sure a grade is.
