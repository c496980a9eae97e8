"""
Where are the phrases of a sentence?
====================================

A chunker marks the phrases of a sentence by a label for each word (chunking, sequence tagging): "[the thirsty crow] [found] [a
pitcher]". Labels depend on each other: a phrase that goes on must have begun. :class:`~structperc.estimators.SequenceTagger`
therefore chooses all labels of a sentence together. The page uses CoNLL-2000 if you have its files. Otherwise it uses the 50
sentences of fables that come with structperc. The rival gives each part of speech its most frequent label. The end of the page
shows the sentence with the smallest margin.
"""

from collections import Counter, defaultdict

import matplotlib.pyplot as plt
import numpy as np

import structperc
from structperc.errors import MissingData
from structperc.estimators import SequenceTagger
from structperc.files.datasets import load_conll2000, load_fables
from structperc.metrics import phrase_scores
from structperc.plugin_tools import default_template

try:
    data = load_conll2000(download=False)
except MissingData:
    data = load_fables()


def parts(sentences):
    """Tokens as (word, part of speech), and the labels of phrases."""
    return [[token[:2] for token in sentence] for sentence in sentences], [[token[-1] for token in sentence] for sentence in sentences]


(X, y), (X_test, y_test) = parts(data.train), parts(data.test)

# %%
# A template names the features of a word: the words and parts of speech around it, its prefixes, suffixes and shape. ``"iob2"`` rules out
# labels that make no phrase.

options = {"forbidden_transitions": "iob2", "random_state": 0}
tagger = SequenceTagger(template=default_template(2), **options).fit(X, y)
words, words_test = ([[token[:1] for token in sentence] for sentence in part] for part in (X, X_test))

seen = defaultdict(Counter)
for sentence, labels in zip(X, y, strict=True):
    for (_, tag), label in zip(sentence, labels, strict=True):
        seen[tag][label] += 1
answers = {
    "most frequent label of the part of speech": [[seen[tag].most_common(1)[0][0] if tag in seen else "O" for _, tag in sentence]
                                                  for sentence in X_test],
    "SequenceTagger, only words": SequenceTagger(template=default_template(1), **options).fit(words, y).predict(words_test),
    "SequenceTagger": tagger.predict(X_test),
}
scores = {name: phrase_scores(y_test, labels) for name, labels in answers.items()}
print(f"{data.name}: {len(X)} sentences to learn from, {len(X_test)} new ones; {len(tagger.classes_)} labels")
for name, found in scores.items():
    print(f"{name:42} precision {found.precision:.3f}, recall {found.recall:.3f}, F1 {found.f1:.3f}")

figure, ax = plt.subplots(figsize=(9, 2.4), layout="constrained")
ax.barh(range(3), [found.f1 for found in scores.values()], color=["#D55E00", "#56B4E9", "#0072B2"])
ax.set(yticks=range(3), yticklabels=list(scores), xlim=(0, 1), xlabel="F1 of phrases in new sentences")
plt.show()

# %%
# Which predictions should you check? The margin is the lead over the second best labelling. Check the smallest margins first.

margins = tagger.margins(X_test)
right = np.array([found == truth for found, truth in zip(answers["SequenceTagger"], y_test, strict=True)])
print(f"without a mistake: {right.mean():.0%} of all new sentences, {right[margins >= np.median(margins)].mean():.0%} of the surer half")
short = [i for i in margins.argsort() if len(X_test[i]) <= 12]
structperc.explain(tagger, X_test[short[0]]).plot()
plt.show()

# %%
# **What to try next.** ``predict(X, k=2)`` returns the two best labellings, ``predict_marginals`` probabilities. The problem
# ``segments`` learns whole phrases, with their lengths: see :doc:`/docs/guide/sequences`. On the command line, ``structperc fit
# sequence`` reads files of columns.
