"""Learns which labels notes get, where some labels attract and some exclude each other; needs `pip install ./examples/label_sets`."""

from itertools import combinations

import numpy as np

from structperc import Engine

LABELS = ["bill", "family", "holiday", "office", "travel", "urgent"]
random = np.random.default_rng(0)
words = random.normal(size=(6, 64)) / 8             # hidden: the evidence of words for each label,
pairs = np.triu(random.choice([-2.0, 0.0, 2.0], size=(6, 6)), 1)        # and labels of each other


def tagged(x):
    sets = [chosen for m in range(7) for chosen in combinations(range(6), m)]
    score = [sum(words[i] @ x for i in chosen) + sum(pairs[i, j] for i, j in combinations(chosen, 2)) for chosen in sets]
    return [LABELS[i] for i in sets[int(np.argmax(score))]]


notes = random.normal(size=(3000, 64))
labels = [tagged(x) for x in notes]
engine = Engine("label-sets", update="pa1", C=0.1, average=True, epochs=5).fit(notes[:2000], labels[:2000])
right = np.mean([set(found) == set(truth) for found, truth in zip(engine.predict(notes[2000:]), labels[2000:], strict=True)])
print(f"{right:.0%} of 1000 new notes get exactly the right set of labels")
known = np.triu(np.ones((6, 6), dtype=bool), 1)
agreement = np.corrcoef(engine.pair_scores_[known], pairs[known])[0, 1]
print(f"the learned weights of pairs correlate with the hidden ones: {agreement:.2f}")
