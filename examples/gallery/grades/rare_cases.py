"""
My severe cases are rare. How do I find them?
=============================================

Of 6,366 women in a survey, 447 rate their marriage as poor (imbalanced classes). A model that never predicts "poor" is right for 93 %
of them, and useless. ``class_weight`` makes the rare cases count more, here in :class:`~structperc.estimators.CuSumRank`. The rival is
a logistic regression with the same weights.
"""

import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from structperc.estimators import CuSumRank

survey = sm.datasets.fair.load_pandas().data
X = survey.drop(columns="rate_marriage").to_numpy()
y = np.select([survey["rate_marriage"] <= 2, survey["rate_marriage"] <= 3], ["poor", "fair"], "good")
classes = ["good", "fair", "poor"]                              # in their order
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)


def recall_and_precision(model):
    """The share of poor marriages that the model finds, and the share of its findings that are right."""
    predicted, truth = model.predict(X_test) == "poor", y_test == "poor"
    return (predicted & truth).sum() / truth.sum(), (predicted & truth).sum() / max(1, predicted.sum())


# %%
# Larger weights find more of the rare cases, and raise more false alarms. No model escapes this trade. ``"balanced"`` gives all
# classes the same total weight.

weights, found = [1, 2, 4, 8, 16, 32], {"CuSumRank": [], "logistic regression": []}
for weight in weights:
    options = {"class_weight": {"poor": weight}}
    rival = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000, **options))
    for rows, model in zip(found.values(), (CuSumRank(classes=classes, random_state=0, **options), rival), strict=True):
        rows.append(recall_and_precision(model.fit(X, y)))
balanced = recall_and_precision(CuSumRank(classes=classes, class_weight="balanced", random_state=0).fit(X, y))
for weight, *rows in zip(weights, *found.values(), strict=True):
    print(f"weight {weight:2}", *(f"{name}: recall {recall:.2f}, precision {precision:.2f}"
                                  for name, (recall, precision) in zip(found, rows, strict=True)), sep="   ")
print(f'class_weight="balanced": recall {balanced[0]:.2f}, precision {balanced[1]:.2f}')

# %%
# Each mark is a weight; up and to the right is better. The grey line is a model that guesses.

figure, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
for (name, rows), colour, look in zip(found.items(), ("#0072B2", "#D55E00"), "os", strict=True):
    recall, precision = np.transpose(rows)
    ax.plot(recall, precision, look, linestyle="-", color=colour, label=name, alpha=0.8)
ax.plot(*balanced, "^", color="#009E73", markersize=9, label='CuSumRank, class_weight="balanced"')
ax.axhline((y_test == "poor").mean(), color="0.6", linewidth=1)
ax.set(xlabel="recall: poor marriages that are found", ylabel="precision: findings that are right", xlim=(-0.02, 1), ylim=(0, None))
ax.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize="small")
plt.show()

# %%
# **What to try next.** Measure with ``LabelScorer("macro-mean-absolute-error")``, which counts each class the same.
# :doc:`/docs/guide/classes` explains the two ways of weighing. If you know what each mistake costs, pass a loss:
# :doc:`custom_loss`.
