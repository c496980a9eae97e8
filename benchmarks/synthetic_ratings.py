"""Made-up ratings in the place of EachMovie's: a user's ratings 0..5 from those of other users, most of which are missing."""

import numpy as np
from sklearn.model_selection import cross_val_predict
from structperc_large_margin.estimators import SVOR

from structperc.estimators import PRank

ITEMS, USERS, FACTORS, MISSING, NOISE = 450, 300, 5, 0.7, 0.7
LEARNED, CS = (50, 100, 150, 200, 250, 300), (0.0001, 0.001, 0.01, 0.1)
RANKS = list(range(6))


def ratings(seed):
    """The ratings of one user, and those of the others less 2.5, with 0 for missing ones."""
    random = np.random.default_rng(seed)
    items, users = random.normal(size=(ITEMS, FACTORS)), random.normal(size=(USERS + 1, FACTORS)) / np.sqrt(FACTORS)
    scores = 2.5 + 1.2 * items @ users.T + NOISE * random.normal(size=(ITEMS, USERS + 1))
    all_ratings = np.clip(np.rint(scores), 0, 5)
    others = np.where(random.random((ITEMS, USERS)) < MISSING, 0.0, all_ratings[:, 1:] - 2.5)
    return others, all_ratings[:, 0].astype(int)


def errors(seed, C):
    """Mean absolute errors on the items that are not learned from, by how many are."""
    X, y = ratings(seed)
    order, found = np.random.default_rng([seed, 1]).permutation(ITEMS), {}
    for n in LEARNED:
        rows, held = order[:n], order[n:]
        learners = {"PRank, one pass": PRank(preset="paper", epochs=1, classes=RANKS),
                    "PRank, 20 averaged passes": PRank(preset="paper", epochs=20, average=True, shuffle=True, random_state=seed,
                                                       classes=RANKS),
                    "fixed margin": margin(C)}
        found[str(n)] = {name: float(np.abs(one.fit(X[rows], y[rows]).predict(X[held]) - y[held]).mean()) for name, one in learners.items()}
    return found


def margin(C):
    """The fixed margin of the coded ratings, where 0 is a missing one; thresholds out of order are pooled."""
    return SVOR(method="fixed-margin", C=C, kernel="linear", disordered="pool", scale=False)


def chosen_C():
    """Of the first user, by cross-validation of the most rows that are learned from."""
    X, y = ratings(0)
    rows = np.random.default_rng([0, 1]).permutation(ITEMS)[:LEARNED[-1]]
    return CS[int(np.argmin([np.abs(cross_val_predict(margin(C), X[rows], y[rows], cv=5) - y[rows]).mean() for C in CS]))]
