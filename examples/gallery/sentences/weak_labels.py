"""
Nobody has labelled my words. Is a dictionary enough?
=====================================================

Labelling every word of a text is slow. Often you have a dictionary (weak supervision, distant supervision): "pitcher" is a noun, and
"hard" may be an adjective or an adverb. Words with one entry have a label. Pass None for the others, and training completes them by
the best labels that agree with the rest. When you tag new sentences, ``allowed=`` of :class:`~structperc.estimators.SequenceTagger`
keeps the predictions within the dictionary. The dictionary of this page is made from the fables that come with structperc. Half of
its entries are too wide.
"""

import matplotlib.pyplot as plt
import numpy as np

from structperc.estimators import SequenceTagger
from structperc.files.datasets import load_fables
from structperc.metrics import accuracy

fables = load_fables()


def described(sentence):
    """Features of each word: itself, its ending, its neighbours."""
    words = ["", *(token[0].lower() for token in sentence), ""]
    return [[f"word={word}", f"ending={word[-2:]}", f"before={before}", f"after={after}"]
            for before, word, after in zip(words, words[1:], words[2:], strict=False)]


X, X_test = ([described(sentence) for sentence in part] for part in (fables.train, fables.test))
y, y_test = ([[token[1] for token in sentence] for sentence in part] for part in (fables.train, fables.test))
tags = sorted({tag for sentence in y + y_test for tag in sentence})

random, dictionary = np.random.default_rng(0), {}
confused = {"NOUN": "VERB", "VERB": "NOUN", "ADJ": "ADV", "ADV": "ADJ", "DET": "PRON", "PRON": "DET", "ADP": "ADV"}
for sentence in fables.train + fables.test:
    for word, tag, *_ in sentence:
        dictionary.setdefault(word.lower(), set()).add(tag)
for word in sorted(dictionary):
    if random.random() < 0.5:                                   # an entry that is too wide
        dictionary[word] |= {confused.get(tag, tag) for tag in dictionary[word]}


def looked_up(sentences):
    return [[sorted(dictionary[token[0].lower()]) for token in sentence] for sentence in sentences]


# %%
# Some sentences are labelled by hand, the others only by the dictionary.

truth, by_dictionary, may_be = np.concatenate(y_test), looked_up(fables.train), looked_up(fables.test)
sure = [[entry[0] if len(entry) == 1 else None for entry in sentence] for sentence in by_dictionary]
labelled, found = [0, 1, 2, 5, 10, 20, 50], {}
for n in labelled:
    options = {"classes": tags, "random_state": 0}
    taggers = {"labelled sentences": SequenceTagger(**options).fit(X[:n], y[:n]) if n else None,
               "and words with one entry": SequenceTagger(**options).fit(X, y[:n] + sure[n:])}
    for name, tagger in taggers.items():
        for further, known in (("", None), (", allowed=dictionary", may_be)):
            right = accuracy(truth, np.concatenate(tagger.predict(X_test, allowed=known))) if tagger else np.nan
            found.setdefault(name + further, []).append(right)
by_chance = accuracy(truth, np.concatenate([[random.choice(entry) for entry in sentence] for sentence in may_be]))
print(f"an entry of the dictionary, by chance: {by_chance:.1%}")
for name, scores in found.items():
    print(f"{name:45}", *(f"{n}: {score:.1%}" for n, score in zip(labelled, scores, strict=True)), sep="  ")

# %%
# Without a single labelled sentence the dictionary is worth more than twenty labelled ones without it, and it helps twice: in
# training and in prediction.

figure, ax = plt.subplots(figsize=(7.5, 4.4), layout="constrained")
looks = zip(found.items(), ("#D55E00", "#D55E00", "#0072B2", "#0072B2"), ("s--", "s-", "o--", "o-"), strict=True)
for (name, scores), colour, look in looks:
    ax.plot(range(len(labelled)), scores, look, color=colour, label=name)
ax.axhline(by_chance, color="0.4", linestyle=":", label="an entry of the dictionary, by chance")
ax.set(xticks=range(len(labelled)), xticklabels=labelled, ylim=(0.4, 1.02))
ax.set(xlabel="sentences labelled by hand, of 50", ylabel="words of new sentences that are right")
ax.legend(fontsize="small")
plt.show()

# %%
# **What to try next.** ``allowed=`` of ``fit`` keeps training within the dictionary as well. The model then only learns to choose
# between entries. For grades that are only partly known, use intervals: :class:`~structperc.estimators.IntervalPA`.
