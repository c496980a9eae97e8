"""
Who should sit where?
=====================

Three hundred parties were seated before, and everybody was content. Nobody wrote down why. A seat suits a guest by features of the
pair, such as how near the door or the window is and whether the guest cares. The problem ``matching`` learns how much each feature
matters from the seatings alone, and then seats new parties: all guests at once, since a seat that suits two of them can be given to
one only. The parties of this page are made up, so that the hidden taste can be compared with the learned one.
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
# The rival has the same weights, and gives each guest in turn the free seat that suits best. With everybody in view, far more
# parties come out exactly as they would sit by themselves.


def one_after_the_other(party, weights):
    """Each guest takes the best seat that is free."""
    free, taken = list(range(party.shape[1])), []
    for guest, wishes in enumerate(party @ weights):
        taken.append((guest, free.pop(int(np.argmax(wishes[free])))))
    return taken


def alike(answers):
    return np.mean([set(answer) == set(truth) for answer, truth in zip(answers, seats[200:], strict=True)])


together = engine.predict(parties[200:])
in_turn = [one_after_the_other(party, engine.coef_) for party in parties[200:]]
print(f"training ended: {engine.status_}, mistakes per epoch {engine.mistakes_}")
print(f"direction {np.round(engine.coef_ / np.abs(engine.coef_).max(), 2)} for the taste {taste / np.abs(taste).max()}")
print(f"{alike(together):.0%} of 100 new parties seated exactly as they would sit; {alike(in_turn):.0%} one guest after the other")

# %%
# One new party: how well each seat suits each guest by the learned weights. Circles are the seating that was found, crosses the
# rival's where it differs.

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
# **What to try next.** Without ``perfect=True`` pairs that are worth nothing stay apart, as in :doc:`who_is_who`;
# :func:`~structperc.pipelines.explain` says what a seating has over the next one. "Matchings" in :doc:`/docs/how-to-choose` has the
# rest.
