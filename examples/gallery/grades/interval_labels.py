"""
Three graders disagree. Which grade should a model learn from?
==============================================================

Party identification has seven ranks, from strong Democrat to strong Republican: a survey of 944 people in 1996. Suppose that the
true rank is unknown, and that three graders guessed it (annotator disagreement). The usual ways are to average the graders, or to
drop the rows on which they disagree. :class:`~structperc.estimators.IntervalPA` learns from the interval between the lowest and the
highest grade instead. A prediction inside the interval is right, and a narrow interval has more information than a wide one. The
graders of this page are synthetic, the ranks are real.
"""

import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm
from sklearn.model_selection import train_test_split

from structperc.estimators import IntervalPA
from structperc.metrics import mean_absolute_error

survey = sm.datasets.anes96.load_pandas().data
X, y = survey[["TVnews", "selfLR", "ClinLR", "DoleLR", "age", "educ", "income", "logpopul"]], survey["PID"].to_numpy(dtype=int)


def graders(y, slips, random):
    """Three guesses of each rank: a grader is off by a rank or more with the probability ``slips``."""
    off = random.choice([-2, -1, 1, 2], (len(y), 3), p=[0.15, 0.35, 0.35, 0.15]) * (random.random((len(y), 3)) < slips)
    return np.clip(y[:, None] + off, 0, 6)


def ways_to_learn(grades):
    """Labels to learn from: pairs of a lowest and a highest rank."""
    low, high, mean = grades.min(axis=1), grades.max(axis=1), np.rint(grades.mean(axis=1)).astype(int)
    agreed = low == high
    return {
        "interval of the three": (slice(None), np.column_stack([low, high])),
        "rounded mean": (slice(None), np.column_stack([mean, mean])),
        "only where all agree": (agreed, np.column_stack([low, low])[agreed]),
    }


# %%
# The same learner gets each kind of label. Predictions for held-out people are compared with their true ranks.

slips = [0.1, 0.3, 0.5, 0.7, 0.9]
errors = {}
for seed in range(4):
    random = np.random.default_rng(seed)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, random_state=seed)
    for k, slip in enumerate(slips):
        ways = ways_to_learn(graders(y_train, slip, random))
        for name, (rows, labels) in {**ways, "the true ranks": (slice(None), np.column_stack([y_train, y_train]))}.items():
            model = IntervalPA(classes=range(7), random_state=seed).fit(X_train[rows], labels)
            errors.setdefault(name, np.zeros((len(slips), 4)))[k, seed] = mean_absolute_error(y_test, model.predict(X_test))
for name, found in errors.items():
    print(f"{name:24}", *(f"{error:.3f}" for error in found.mean(axis=1)))

# %%
# The mean of the graders does about as well here, since their errors cancel. Dropping rows costs most: the more the graders disagree,
# the fewer rows are left.

figure, ax = plt.subplots(figsize=(7.5, 4.5), layout="constrained")
looks = zip(["#0072B2", "#E69F00", "#D55E00", "black"], ["o-", "s--", "^-.", ":"], strict=True)
for (name, found), (colour, look) in zip(errors.items(), looks, strict=True):
    ax.errorbar(slips, found.mean(axis=1), found.std(axis=1, ddof=1) / 2, fmt=look, color=colour, label=name, capsize=3)
ax.set(xlabel="how often a grader is off", ylabel="ranks off, on held-out people", title="What to learn from graders who disagree")
ax.legend(title="the learner was given")
plt.show()

# %%
# **What to try next.** Labels may also be open at an end: ``(3, None)`` is "at least 3". :doc:`/docs/guide/intervals` has more. If
# you have only intervals, measure predictions by :func:`~structperc.metrics.interval_absolute_error`.
