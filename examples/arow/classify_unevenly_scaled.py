"""AROW on columns of very different scales; needs `pip install ./examples/arow`."""

import numpy as np

from structperc import Engine

random = np.random.default_rng(0)
X = random.normal(size=(3000, 20)) * np.logspace(-1, 1, 20)
y = np.where(X @ (random.normal(size=20) / np.logspace(-1, 1, 20)) + 0.3 * random.normal(size=3000) > 0, "yes", "no")

for plugins in ([], ["arow"]):
    engine = Engine("multiclass", update="pa2", C=0.5, average=True, plugins=plugins).fit(X[:2000], y[:2000])
    print(f"{'AROW' if plugins else 'pa2'}: {np.mean(engine.predict(X[2000:]) == y[2000:]):.1%} right after {engine.mistakes_[0]} mistakes")
