"""
My labels drift. How does the model keep up?
============================================

Examiners become stricter, tastes change, sensors age (online learning, concept drift). A model that was trained once gets worse.
``partial_fit`` learns from each part as it comes, in one pass and without the old data. The stream is synthetic: grades 1 to 4 of
30,000 rows, whose weights turn slowly and change suddenly in the middle. Each part is predicted before it is learned from. The rivals
are a model trained once, and scikit-learn's ``SGDClassifier``, which learns online but ignores the order.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import SGDClassifier

from structperc import Engine
from structperc.estimators import OrdinalConformal

random = np.random.default_rng(0)
n, part = 30_000, 250
X = random.normal(size=(n, 6))
angle = np.linspace(0, 1.2, n) + np.where(np.arange(n) < n // 2, 0, 1.0)
score = 2 * (np.cos(angle) * X[:, 0] + np.sin(angle) * X[:, 1]) + X[:, 2] + 0.7 * random.normal(size=n)
y = np.digitize(score - np.linspace(0, 1, n), [-2, 0, 2]) + 1            # and grades become stricter

# %%
# An average over all steps never forgets, so leave it out: ``average=False``. The step size then decides how fast the model forgets.

options = {"update": "log-loss", "step_size": 0.03, "classes": [1, 2, 3, 4]}
start = slice(0, 2000)
models = {
    "trained once": Engine("cusum", preset="recommended", random_state=0).fit(X[start], y[start]),
    "SGDClassifier": SGDClassifier(loss="log_loss", random_state=0).partial_fit(X[start], y[start], classes=[1, 2, 3, 4]),
    "cusum, average=True": Engine("cusum", **options).partial_fit(X[start], y[start]),
    "cusum, average=False": Engine("cusum", average=False, **options).partial_fit(X[start], y[start]),
}
errors, covered = {name: [] for name in models}, []
sure = OrdinalConformal(models["cusum, average=False"], coverage=0.9, prefit=True, decay=0.005).calibrate(X[1000:2000], y[1000:2000])
for begin in range(2000, n, part):
    rows = slice(begin, begin + part)
    for name, model in models.items():
        errors[name].append(np.abs(model.predict(X[rows]) - y[rows]).mean())
    low, high = sure.predict_interval(X[rows]).T
    covered.append(np.mean((low <= y[rows]) & (y[rows] <= high)))
    sure.partial_calibrate(X[rows], y[rows])                    # before the model has seen these rows
    for model in list(models.values())[1:]:
        model.partial_fit(X[rows], y[rows])
for name, values in errors.items():
    print(f"{name:20} {np.mean(values):.3f} grades off; in the last fifth {np.mean(values[-len(values) // 5:]):.3f}")
print(f"intervals of the last model at a coverage of 90 %: {np.mean(covered):.1%} contain the right grade")

# %%
# The picture shows means of ten parts. After the sudden change, the model without an average recovers within some thousand rows.
# The average needs as many new rows as it has old ones. The classifier has the same data, but not the order of the grades.

figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
for (name, values), colour, look in zip(errors.items(), ("0.5", "#D55E00", "#0072B2", "#56B4E9"), ("-", "--", "-", ":"), strict=True):
    rows = np.arange(len(values) - 9) * part + 2000 + 10 * part
    ax.plot(rows, np.convolve(values, np.ones(10) / 10, "valid"), look, color=colour, label=name)
ax.axvline(n // 2, color="black", linewidth=0.8)
ax.set(xlabel="rows so far", ylabel="grades off, on the last 2,500 rows", ylim=(0, None))
ax.legend(loc="upper left")
plt.show()

# %%
# **What to try next.** :func:`structperc.streams.fit_stream` reads files larger than memory and resumes after a crash:
# :doc:`/docs/guide/streams`. ``decay`` shrinks old steps in every rule.
