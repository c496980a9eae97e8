"""Ratings that are more often too low than too high; needs `pip install ./examples/asymmetric_loss`."""

import numpy as np

from structperc import Engine

random = np.random.default_rng(0)
X = random.normal(size=(4000, 5))
y = np.digitize(X @ [1.0, -1.0, 0.5, 0.0, 0.0] + random.normal(size=4000), [-1.5, -0.5, 0.5, 1.5]) + 1

for plugins in ([], ["asymmetric-loss"]):
    engine = Engine("cusum", update="pa1", C=0.01, loss_weight=1.0, epochs=5, average=True, plugins=plugins).fit(X[:3000], y[:3000])
    error = engine.predict(X[3000:]) - y[3000:]
    print(f"{'asymmetric' if plugins else 'absolute'} loss: {np.mean(error > 0):.0%} rated too high, {np.mean(error < 0):.0%} too low")
