"""Is there a box in the picture? Training says yes or no; where the box is stays hidden, and is found on the way.

The atoms of a picture are the places where a 2 x 2 box could be; a structure is one of them, or none.
"""

import itertools

import numpy as np

from structperc import Engine, hookimpl
from structperc.components import Argmax, Outputs, RowFeatures, Structures

SIDE, BOX = 5, 2
PLACES = list(itertools.product(range(SIDE - BOX + 1), repeat=2))


class Boxes(Outputs):
    """Users say True where there is a box; predictions are its place, or None, and right if there is one exactly where users say so."""

    def __init__(self):
        self.partial_gold = True                     # gold outputs leave open where the box is

    def encode(self, y, rows):
        return Structures.ragged([[int(there)] for there in y])

    def agrees(self, gold, y, x):
        return len(y) == gold[0]

    def complete(self, gold, scores, x):
        return (int(np.argmax(scores)),) if gold[0] else ()

    def decode(self, y, x):
        return PLACES[y[0]] if y else None

    def enumerate(self, x):
        return [(), *((a,) for a in range(x.n_atoms))]


class BestBox(Argmax):
    """The place of largest score, if that is positive; of equal scores the first."""

    def argmax(self, scores, x):
        best = int(np.argmax(scores))
        return (best,) if scores[best] > 0 else ()


class Box:
    """The plugin."""

    name, check_options = "box", {"loss": "zero-one"}

    @hookimpl
    def structperc_outputs(self, context):
        return Boxes()

    @hookimpl
    def structperc_features(self, context):
        return RowFeatures(context.n_features)     # the rows of a picture are its windows, see below

    @hookimpl
    def structperc_argmax(self, context):
        return BestBox()


def pictures(n, random):
    """The windows of noisy pictures, each four numbers and a constant; half of them have a bright box, where the second list says."""
    X, boxes = random.normal(scale=0.6, size=(n, SIDE, SIDE)), [None] * n
    for t in range(0, n, 2):
        i, j = boxes[t] = PLACES[random.integers(len(PLACES))]
        X[t, i:i + BOX, j:j + BOX] += 2
    return [np.array([[*picture[i:i + BOX, j:j + BOX].ravel(), 1.0] for i, j in PLACES]) for picture in X], boxes


if __name__ == "__main__":
    random = np.random.default_rng(0)
    (X, boxes), (X_new, boxes_new) = pictures(600, random), pictures(400, random)
    engine = Engine(Box(), update="latent", step_schedule="inverse-sqrt", loss="zero-one", epochs=20, average=True).fit(X, map(bool, boxes))
    found = engine.predict(X_new)
    print(f"{np.mean([bool(a) == bool(b) for a, b in zip(found, boxes_new, strict=True)]):.1%} of new pictures are told apart,",
          f"{np.mean([a == b for a, b in zip(found, boxes_new, strict=True) if b]):.1%} of the boxes are found in their places")
