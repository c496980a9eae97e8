"""
Which labels of this sentence can I rely on?
============================================

A tagger labels every word, and some of its labels are wrong. :class:`~structperc.estimators.StructureConformal` returns a set of
labellings for each sentence. Four times in five, or as often as you ask, the set has the right labelling of the whole sentence. Labels that
all members of the set share are certain. The page uses CoNLL-2000 if you have its files. Otherwise it uses the fables that come with
structperc.
"""

import matplotlib.pyplot as plt
import numpy as np

from structperc.errors import MissingData
from structperc.estimators import SequenceTagger, StructureConformal
from structperc.files.datasets import load_conll2000, load_fables
from structperc.plugin_tools import default_template

try:
    data = load_conll2000(download=False)
    train, held, new = data.train[:1500], data.train[1500:2000], data.test[:300]
except MissingData:
    data = load_fables()
    train, held, new = data.train[:25], data.train[25:], data.test


def parts(sentences):
    """Tokens as (word, part of speech), and the labels of phrases."""
    return [[token[:2] for token in sentence] for sentence in sentences], [[token[-1] for token in sentence] for sentence in sentences]


# %%
# One part of the sentences trains the tagger. Another part measures how far right labellings are behind the predicted ones. The log
# loss fits probabilities. So ``scale="doubt"`` makes small sets if the tagger is sure.

classes = sorted({token[-1] for sentence in (*train, *held, *new) for token in sentence})
tagger = SequenceTagger(template=default_template(2), update="log-loss", epochs=5, average=True, classes=classes, random_state=0)
tagger.fit(*parts(train))
sets = {(coverage, scale): StructureConformal(tagger, coverage=coverage, scale=scale).calibrate(*parts(held))
        for coverage in (0.7, 0.8, 0.9) for scale in (None, "doubt")}
found = {key: model.evaluate(*parts(new), limit=100) for key, model in sets.items()}
print(f"{data.name}: {len(train)} sentences to learn from, {len(held)} held out, {len(new)} new")
for (coverage, scale), measures in found.items():
    print(f"asked {coverage:.0%}, scale {scale}: {measures['coverage']:.1%} of the sets have the right labelling. "
          f"Median size {measures['median size']:g}, {measures['certain atoms']:.0%} of the labels certain, "
          f"{measures['right certain atoms']:.1%} of these right")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
for scale, look in ((None, "o"), ("doubt", "s")):
    chosen = [(coverage, found[coverage, scale]) for coverage, other in sets if other == scale]
    left.plot([coverage for coverage, _ in chosen], [one["coverage"] for _, one in chosen], look, label=f"scale={scale!r}")
    right.semilogy([coverage for coverage, _ in chosen], [one["median size"] for _, one in chosen], f"{look}-", label=f"scale={scale!r}")
left.plot([0.65, 0.95], [0.65, 0.95], color="0.5", linewidth=1)
left.set(xlabel="coverage asked for", ylabel="sets with the right labelling", title="The line is the promise")
right.set(xlabel="coverage asked for", ylabel="labellings in the median set", title="Sets stay small where the tagger is sure")
right.legend()
plt.show()

# %%
# One sentence with open labels: certain ones are firm, open ones pale. A list of the members is short here. For long sentences, use
# the certain and the possible labels instead of a list.

answers = sets[0.8, "doubt"].predict(parts(new)[0])
n_open = np.array([(answer.states == 1).any(axis=1).sum() for answer in answers])
chosen = next((i for i in n_open.argsort() if 2 <= n_open[i] <= 4 and 5 <= len(new[i]) <= 12), 0)
print(answers[chosen].text())
for labels in answers[chosen].k_best(5):
    print(*labels)

figure, ax = plt.subplots(figsize=(11, 2.6), layout="constrained")
picture, = answers[chosen].pictures()
picture.draw(ax)
_, width, height = picture.extent()
ax.set(xlim=(0, width), ylim=(height, 0))
ax.set_axis_off()
plt.show()

# %%
# **What to try next.** :class:`~structperc.estimators.StructureConformal` accepts parsers, matchings and rankers as well. ``folds=5``
# uses all sentences for both purposes, ``sources=`` keeps documents together: see :doc:`/docs/guide/sets`.
