"""
Can it find a box that nobody has marked?
=========================================

600 noisy pictures are labelled by whether they have a bright box, but not by its place. To separate the pictures, a model must find
the place: it is a latent structure (latent SVM, weak supervision). This page defines a custom problem with three parts in forty
lines: the structures, their features, and the search for the best one. Training completes each "yes" by the place that the model
scores highest so far, and learns from that.
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from structperc import Engine, hookimpl
from structperc.components import Argmax, Outputs, RowFeatures, Structures
from structperc.schedules import inverse_sqrt

SIDE, BOX = 5, 2
PLACES = list(itertools.product(range(SIDE - BOX + 1), repeat=2))       # the atoms of a picture: where a box of 2 x 2 pixels could be


class Boxes(Outputs):
    """y is True if there is a box. A prediction is its place, or None. It is right if it has a place exactly when y is True."""

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


# %%
# The pictures, and the windows that the plugin looks at, each four pixels and a constant. The rival is a logistic regression on all
# pixels.

random = np.random.default_rng(0)
pictures, boxes = random.normal(scale=0.6, size=(1000, SIDE, SIDE)), [None] * 1000
for t in range(0, 1000, 2):
    i, j = boxes[t] = PLACES[random.integers(len(PLACES))]
    pictures[t, i:i + BOX, j:j + BOX] += 2
X = [np.array([[*picture[i:i + BOX, j:j + BOX].ravel(), 1.0] for i, j in PLACES]) for picture in pictures]
there = np.array([box is not None for box in boxes])

engine = Engine(Box(), update="latent", step_size=inverse_sqrt(), loss="zero-one", epochs=20, average=True).fit(X[:600], there[:600])
found = engine.predict(X[600:])
told = np.mean([(place is not None) == truth for place, truth in zip(found, there[600:], strict=True)])
placed = np.mean([place == box for place, box in zip(found, boxes[600:], strict=True) if box])
flat = pictures.reshape(1000, -1)
pixels = LogisticRegression().fit(flat[:600], there[:600]).score(flat[600:], there[600:])
print(f"new pictures told apart: {told:.1%}; by a logistic regression on all pixels {pixels:.1%}")
print(f"boxes found in their places: {placed:.1%}")

# %%
figure, axes = plt.subplots(1, 6, figsize=(12, 2.4), layout="constrained")
for ax, picture, place, box in zip(axes, pictures[600:], found, boxes[600:], strict=False):
    ax.imshow(picture, cmap="cividis")
    for corner, colour, look in ((box, "white", {"linewidth": 5}), (place, "#D55E00", {"linewidth": 2, "linestyle": "--"})):
        if corner is not None:
            ax.add_patch(plt.Rectangle((corner[1] - 0.5, corner[0] - 0.5), BOX, BOX, facecolor="none", edgecolor=colour, **look))
    ax.set(xticks=[], yticks=[], title="box" if box else "no box")
figure.supxlabel("six new pictures: white, where the box is; dashed, where it was found", fontsize="medium")
plt.show()

# %%
# **What to try next.** :doc:`/docs/replace-a-part` explains the parts; ``structperc.testing.check_problem`` compares them with slow
# twins. Rankings and coreference trees have hidden structures too: :doc:`/docs/guide/rankings`.
