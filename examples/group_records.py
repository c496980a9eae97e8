"""Learns which records are one person's, from tables whose persons are known: the problem clusters, by features of pairs of records."""

import itertools
import string

import numpy as np

from structperc import Engine
from structperc.metrics import cluster_measures

random = np.random.default_rng(0)


def table(n_persons):
    """Records (name, year) with slips of the pen, and whose they are."""
    records, owners = [], []
    for person in range(n_persons):
        name, year = random.choice(list(string.ascii_lowercase[:6]), 5), int(random.integers(1950, 2000))
        for _ in range(random.integers(1, 5)):
            written = np.where(random.random(5) < 0.15, random.choice(list(string.ascii_lowercase[:6]), 5), name)
            records.append(("".join(written), year + int(random.integers(-3, 4) * (random.random() < 0.3))))
            owners.append(person)
    return records, owners


def compare(records):
    """The pairs that agree in two letters at least, and how alike they are."""
    pairs, features = [], []
    for i, j in itertools.combinations(range(len(records)), 2):
        (name, year), (other, later) = records[i], records[j]
        same = sum(a == b for a, b in zip(name, other, strict=True))
        if same >= 2:
            pairs.append((i, j))
            features.append((same / 5, name[0] == other[0], year == later, min(abs(year - later), 10) / 10))
    return pairs, features


tables, persons = zip(*(table(8) for _ in range(100)), strict=True)
engine = Engine("clusters", comparison=compare, update="pa1", C=0.05, loss_weight=1.0, epochs=5, average=True, random_state=0)
engine.fit(tables[:80], persons[:80])
found = engine.predict(tables[80:])
agreement = [cluster_measures(gold[:len(labels)], labels)["pairwise F1"] for gold, labels in zip(persons[80:], found, strict=True)]
print(f"training ended: {engine.status_}, mistakes per epoch {engine.mistakes_}")
print(f"20 new tables: pairwise F1 {np.mean(agreement):.2f}, {np.sum(engine.optimality_gaps(tables[80:]) > 0)} answers not proved optimal")
