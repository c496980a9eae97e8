"""
What would have made this grade lower?
======================================

A patient gets the second highest of five grades. What would have to differ for a lower one (counterfactual explanation)? Many
changes suffice, and most are larger than necessary. :func:`structperc.counterfactual` finds the smallest one, in standard deviations, and
proves that no smaller one exists. Age and sex stay as they are, and no value leaves the range of the data. The patients are those of
scikit-learn's diabetes data: ten measurements of 442 people, and the progress of the disease after a year.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

import structperc
from structperc.counterfactuals import Wanted
from structperc.estimators import PRank

patients = load_diabetes(as_frame=True, scaled=False)
X, y = patients.data, np.digitize(patients.target, np.quantile(patients.target, [0.2, 0.4, 0.6, 0.8])) + 1
ranker = PRank(random_state=0).fit(X[:300], y[:300])
new = X[300:]
grades = ranker.predict(new)

# %%
# One patient of grade 4: the smallest change to at most grade 3, and the one that changes all columns a little.

fixed, bounds = ["age", "sex"], {name: (X[name].min(), X[name].max()) for name in X}
patient = new.iloc[int(np.flatnonzero(grades == 4)[0])]
few = structperc.counterfactual(ranker, patient, Wanted(at_most=3), fixed=fixed, bounds=bounds)
many = structperc.counterfactual(ranker, patient, Wanted(at_most=3), fixed=fixed, bounds=bounds, norm="l2")
print(few)
print(f"{len(many.changes)} columns change with norm='l2', the largest by {max(c.deviations for c in many.changes):.2f} deviations")
few.to_frame()

# %%
# A patient can change body mass index and blood pressure. With only these two, some patients have no way to grade 2. This is proved as
# well.

others = [name for name in X if name not in ("bmi", "bp")]
found = [structperc.counterfactual(ranker, new.iloc[i], 2, fixed=others, bounds=bounds) for i in np.flatnonzero(grades > 2)[:40]]
known = [one for one in found if one.x is not None]
print(f"{len(found)} patients above grade 2: {len(known)} reach it by bmi and bp, {len(found) - len(known)} cannot; "
      f"all proved: {all(one.proved for one in found)}")

# %%
# An arrow leads from each patient to the nearest point of grade 2.

figure, ax = plt.subplots(figsize=(7, 4.8), layout="constrained")
for one in known:
    after = {"bmi": one.x["bmi"], "bp": one.x["bp"]}
    before = after | {change.column: change.before for change in one.changes}
    ax.annotate("", (after["bmi"], after["bp"]), (before["bmi"], before["bp"]), arrowprops={"arrowstyle": "->", "color": "#0072B2"})
    ax.plot(before["bmi"], before["bp"], "o", color="#D55E00", markersize=4)
    ax.plot(after["bmi"], after["bp"], ".", color="#0072B2", markersize=3)
ax.set(xlabel="body mass index", ylabel="blood pressure", title="The nearest way to grade 2")
plt.show()

# %%
# An arrow is what the model would need, and no advice. Measurements depend on each other, and the model contains no causes.
#
# **What to try next.** ``whole=`` for numbers that are counted, ``groups=`` for categories, and ``Wanted(not_chosen=...)`` for one arc,
# pair or tag of a structure: :doc:`/docs/guide/counterfactuals`. ``structperc counterfactual`` asks the same of a row of a file.
