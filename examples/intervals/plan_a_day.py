"""Learns which talks someone attends from the days they planned before; needs `pip install ./examples/intervals`."""

import numpy as np
from structperc_intervals import WeightedScheduling

from structperc import Engine
from structperc.components import Rows

np.set_printoptions(precision=2, suppress=True)
random = np.random.default_rng(0)
taste = np.array([0.0, 0.0, 2.0, -1.0, 0.5])        # hidden: hours do not matter, three other features do


def day(n_talks=12):
    start = random.uniform(9, 17, n_talks)
    return np.column_stack([start, start + random.uniform(0.5, 2, n_talks), random.normal(size=(n_talks, 3))])


def plan(talks):
    return WeightedScheduling().argmax(talks @ taste, Rows(talks, np.array([0, len(talks)])).example(0))


days = [day() for _ in range(400)]
plans = [plan(talks) for talks in days]
engine = Engine("intervals", epochs=20, average=True, shuffle=True, random_state=0).fit(days[:300], plans[:300])
guessed = [set(chosen) for chosen in engine.predict(days[300:])]
right = np.mean([chosen == set(truth) for chosen, truth in zip(guessed, plans[300:], strict=True)])
print(f"training ended: {engine.status_}, mistakes per epoch {engine.mistakes_}")
print(f"direction {engine.coef_ / np.abs(engine.coef_).max()} for the taste {taste / np.abs(taste).max()}")
print(f"{right:.0%} of 100 new days planned exactly as the person would")
