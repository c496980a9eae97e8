"""
Who does what to whom in this sentence?
=======================================

A dependency parser finds for each word the word that it depends on, and the kind of that arc. In a fable, "found" is the root,
"crow" its subject, "pitcher" its object. The arcs must form a tree, so they are chosen together.
:class:`~structperc_parsing.estimators.DependencyParser` learns here from 50 sentences of fables, which come with structperc. It then
parses 25 new ones. The rivals attach each word to its neighbour, or as its part of speech was mostly attached.
"""

from collections import Counter, defaultdict

import matplotlib.pyplot as plt
import numpy as np

import structperc
from structperc.estimators import DependencyParser
from structperc.files.datasets import load_fables

fables = load_fables()


def parts(sentences):
    """Tokens as (word, part of speech), and their trees: a head and a label for each token."""
    return [[token[:2] for token in sentence] for sentence in sentences], [[token[2:4] for token in sentence] for sentence in sentences]


(X, y), (X_test, y_test) = parts(fables.train), parts(fables.test)
heads = np.concatenate([[head for head, _ in tree] for tree in y_test])

# %%
# The parser keeps its default settings. Attachment is the share of words whose head is right.

parser = DependencyParser(projective=True, random_state=0).fit(X, y)
trees = parser.predict(X_test)
labels_too = np.mean([found == truth for tree, gold in zip(trees, y_test, strict=True) for found, truth in zip(tree, gold, strict=True)])

steps = defaultdict(Counter)
for sentence, tree in zip(X, y, strict=True):
    for i, ((_, tag), (head, _)) in enumerate(zip(sentence, tree, strict=True), start=1):
        steps[tag][head - i if head else "root"] += 1


def mostly(sentence):
    """Each word attached as its part of speech mostly was, nothing checked."""
    common = [steps[tag].most_common(1)[0][0] if tag in steps else 1 for _, tag in sentence]
    return [0 if step == "root" else i + step for i, step in enumerate(common, start=1)]


guesses = {
    "the next word": np.concatenate([[*range(2, len(sentence) + 1), 0] for sentence in X_test]),
    "as mostly, by part of speech": np.concatenate([mostly(sentence) for sentence in X_test]),
    "DependencyParser": np.concatenate([[head for head, _ in tree] for tree in trees]),
}
right = {name: np.mean(found == heads) for name, found in guesses.items()}
print(f"{len(heads)} words of {len(X_test)} new sentences:", *(f"{name}: {share:.1%}" for name, share in right.items()), sep="\n   ")
print(f"head and label right: {labels_too:.1%}")

# %%
# The shares of heads that are right, and one of the new sentences. The dashed arc below is the runner-up: it is the least certain arc.

picture = structperc.explain(parser, X_test[3]).picture
left, right_end, height = picture.extent()
figure, (bars, arcs) = plt.subplots(2, 1, figsize=(9, 5), layout="constrained", height_ratios=[1, 1.6])
bars.barh(range(3), list(right.values()), color=["#D55E00", "#E69F00", "#0072B2"])
bars.set(yticks=range(3), yticklabels=list(right), xlim=(0, 1), xlabel="words whose head is right, in new sentences")
picture.draw(arcs, 0)
arcs.set(xlim=(left, right_end), ylim=(height, 0))
arcs.set_axis_off()
plt.show()

# %%
# Why is the second word the subject of the third? The score of an arc is the sum of the weights of its features.

print("\n".join(str(parser.explain(X_test[3], dependent=2)).split("\n")[:8]))

# %%
# **What to try next.** ``predict(X, k=3)`` lists further trees, and ``predict_marginals`` returns the probability of each arc. With
# ``projective=False`` arcs may cross. Read treebanks from CoNLL-U, also on the command line: :doc:`/docs/guide/trees`.
