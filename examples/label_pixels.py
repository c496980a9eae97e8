"""A flower cut out of a noisy photograph: pixels labelled one by one, then together with their neighbours."""

import numpy as np
from sklearn.datasets import load_sample_image
from sklearn.linear_model import LogisticRegression

from structperc import Engine


def photograph():
    """The flower of scikit-learn with noise, and which of its pixels are petals."""
    colours = load_sample_image("flower.jpg")[::4, ::4] / 255
    return colours + np.random.default_rng(0).normal(0, 0.3, colours.shape), (colours[:, :, 0] - colours[:, :, 1] > 0.1).astype(int)


def tiles(picture, size=20):
    """Pieces to learn from: each is an example, and each example moves the weights."""
    return [picture[i:i + size, j:j + size] for i in range(0, len(picture), size) for j in range(0, picture.shape[1], size)]


picture, petals = photograph()
left, right = slice(0, 80), slice(80, 160)
alone = LogisticRegression().fit(picture[:, left].reshape(-1, 3), petals[:, left].ravel())
one_by_one = alone.predict(picture[:, right].reshape(-1, 3))
print(f"one by one: {np.mean(one_by_one != petals[:, right].ravel()):.1%} of the pixels are wrong")

engine = Engine("graph", attractive=True, update="pa1", C=0.01, loss_weight=1.0, epochs=10, average=True, shuffle=True, random_state=0)
engine.fit(tiles(picture[:, left]), tiles(petals[:, left]))
together = engine.predict([picture[:, right]])[0]
print(f"with their neighbours: {np.mean(together != petals[:, right]):.1%}")
print(f"proved optimal: {engine.optimality_gaps([picture[:, right]])[0] == 0}")
