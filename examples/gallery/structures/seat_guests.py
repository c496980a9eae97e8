"""
Who should sit where?
=====================

Three hundred parties were seated before, and everybody was content (assignment, bipartite matching). A seat suits a guest by features
of the pair: how near the window is, and whether this matters. The problem ``matching`` learns the weight of each feature
from the seatings only. Then it seats new parties, all guests at once, since only one guest can have a seat. The parties of this page
are synthetic, so the hidden taste can be compared with the learned one.
"""

import matplotlib.pyplot as plt
import numpy as np

from structperc import Engine
from structperc.solvers.matchings import max_matching

random = np.random.default_rng(0)
taste = np.array([2.0, -1.0, 0.5])                  # hidden: how three features of guest and seat matter
parties = [random.normal(size=(5, 6, 3)) for _ in range(300)]               # five guests, six seats
seats = [list(enumerate(max_matching(party @ taste, perfect=True).tolist())) for party in parties]

engine = Engine("matching", perfect=True, show="pairs", loss="partners", loss_weight=1.0, update="pa1", C=0.1, epochs=4, average=True)
engine.fit(parties[:200], seats[:200])

# %%
# The rival has the same weights, and gives each guest in turn the best free seat. If all guests are seated together, far more parties
# sit exactly as the hidden taste would have it.


def one_after_the_other(party, weights):
    """Each guest takes the best seat that is free."""
    free, taken = list(range(party.shape[1])), []
    for guest, wishes in enumerate(party @ weights):
        taken.append((guest, free.pop(int(np.argmax(wishes[free])))))
    return taken


def exactly_right(answers):
    return np.mean([set(answer) == set(truth) for answer, truth in zip(answers, seats[200:], strict=True)])


together = engine.predict(parties[200:])
in_turn = [one_after_the_other(party, engine.coef_) for party in parties[200:]]
print(f"training ended: {engine.status_}, mistakes per epoch {engine.mistakes_}")
print(f"direction {np.round(engine.coef_ / np.abs(engine.coef_).max(), 2)} for the taste {taste / np.abs(taste).max()}")
print(f"{exactly_right(together):.0%} of 100 new parties seated exactly right; {exactly_right(in_turn):.0%} one guest after the other")

# %%
# One new party: how well each seat suits each guest by the learned weights. Circles are the predicted seating, crosses the rival's
# other seats.

i = next(i for i in range(100) if set(together[i]) != set(in_turn[i]))
figure, ax = plt.subplots(figsize=(6, 4.4), layout="constrained")
worth = ax.imshow(parties[200 + i] @ engine.coef_, cmap="Blues", alpha=0.7)
for guest, seat in together[i]:
    ax.plot(seat, guest, "o", color="black", markersize=24, markerfacecolor="none", markeredgewidth=2.5)
for guest, seat in set(in_turn[i]) - set(together[i]):
    ax.plot(seat, guest, "x", color="#D55E00", markersize=12, markeredgewidth=2.5)
figure.colorbar(worth, label="worth of the pair")
ax.set(xlabel="seat", ylabel="guest", title="All together (o), one after the other (x)")
plt.show()

# %%
# **What to try next.** Without ``perfect=True`` pairs that are worth nothing stay apart, as in :doc:`who_is_who`.
# :func:`~structperc.pipelines.explain` compares a seating with the next one. :doc:`/docs/guide/pairs` has the options.
