"""Learns who likes to sit where from parties that were seated before: the problem matching, perfect, from features of guests and seats."""

import numpy as np

from structperc import Engine
from structperc.solvers.matchings import max_matching

random = np.random.default_rng(0)
taste = np.array([2.0, -1.0, 0.5])                  # hidden: how three features of guest and seat matter
parties = [random.normal(size=(5, 6, 3)) for _ in range(300)]               # five guests, six seats
seats = [list(enumerate(max_matching(party @ taste, perfect=True).tolist())) for party in parties]

engine = Engine("matching", perfect=True, show="pairs", loss="partners", loss_weight=1.0, update="pa1", C=0.1, epochs=10, average=True)
engine.fit(parties[:200], seats[:200])
right = np.mean([set(found) == set(truth) for found, truth in zip(engine.predict(parties[200:]), seats[200:], strict=True)])
print(f"training ended: {engine.status_}, mistakes per epoch {engine.mistakes_}")
print(f"direction {np.round(engine.coef_ / np.abs(engine.coef_).max(), 2)} for the taste {taste / np.abs(taste).max()}")
print(f"{right:.0%} of 100 new parties seated exactly as they would sit")
