"""
How do I cut a flower out of a noisy photograph?
================================================

One noisy pixel has little information: noise mixes up the colours of petals and leaves (image segmentation). Its neighbours help,
because petals are mostly beside petals. The problem ``graph`` labels all pixels at once. It learns a weight for each colour and one
for "two neighbours have the same label". A minimum cut finds the best labels exactly. The rival is a logistic regression on single
pixels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image
from sklearn.linear_model import LogisticRegression

from structperc import Engine

colours = load_sample_image("flower.jpg")[::4, ::4] / 255
petals = (colours[:, :, 0] - colours[:, :, 1] > 0.1).astype(int)        # where red beats green
noisy = colours + np.random.default_rng(0).normal(0, 0.3, colours.shape)


def tiles(picture, size=20):
    """Pieces to learn from: each is an example, and each example moves the weights."""
    return [picture[i:i + size, j:j + size] for i in range(0, len(picture), size) for j in range(0, picture.shape[1], size)]


# %%
# The left half of the photograph is for learning, the right half is held out.

left, right = slice(0, 80), slice(80, 160)
alone = LogisticRegression().fit(noisy[:, left].reshape(-1, 3), petals[:, left].ravel())
one_by_one = alone.predict(noisy[:, right].reshape(-1, 3)).reshape(petals[:, right].shape)

engine = Engine("graph", attractive=True, update="pa1", C=0.01, loss_weight=1.0, epochs=10, average=True, shuffle=True, random_state=0)
engine.fit(tiles(noisy[:, left]), tiles(petals[:, left]))
together = engine.predict([noisy[:, right]])[0]

wrong = {"pixel by pixel": one_by_one != petals[:, right], "with their neighbours": together != petals[:, right]}
for name, pixels in wrong.items():
    print(f"{name}: {pixels.mean():.1%} of the pixels are wrong")
print(f"proved to be the best labels for these weights: {engine.optimality_gaps([noisy[:, right]])[0] == 0}")

# %%
# White are petals, black is the rest. Vermilion pixels are wrong.

figure, axes = plt.subplots(1, 4, figsize=(12, 4.6), layout="constrained")
axes[0].imshow(np.clip(noisy[:, right], 0, 1))
axes[1].imshow(petals[:, right], cmap="gray")
for ax, answer, pixels in zip(axes[2:], (one_by_one, together), wrong.values(), strict=True):
    shown = np.repeat(answer[:, :, None], 3, axis=2).astype(float)
    shown[pixels] = [0.84, 0.37, 0.0]
    ax.imshow(shown)
titles = [f"{name}: {pixels.mean():.1%} wrong" for name, pixels in wrong.items()]
for ax, title in zip(axes, ["noisy", "what is true", *titles], strict=True):
    ax.set(title=title, xticks=[], yticks=[])
plt.show()

# %%
# **What to try next.** With ``contrast=True`` neighbours may differ if the colours jump. ``diagonal=True`` also joins diagonal
# neighbours. More than two labels and other graphs work the same way: :doc:`/docs/guide/graphs`.
