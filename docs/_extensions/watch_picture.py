"""The picture beside "Watch it learn" on the start page: python docs/_extensions/watch_picture.py

PRank sees the rows of two columns one by one. Each panel shows an update step: the thresholds before (dashed) and after it, and its row.
"""

from pathlib import Path

import numpy as np

from structperc import Engine
from structperc.pictures.markup import Markup, element

FILE = Path(__file__).parents[1] / "_static/watch.svg"
SIDE, GAP, TOP, REACH = 150, 12, 26, 2.6       # of a panel, in pixels; columns run from -REACH to REACH
SHOWN = (1, 4, 16)                              # the steps of the panels
TONES = ("#0b6e8f", "#7f7f7f", "#b3541e")       # of the three ranks, whose shapes differ too


def rows():
    random = np.random.default_rng(4)
    X = random.normal(size=(60, 2))
    return X, np.digitize(X @ [1.0, 0.6] + 0.2 * random.normal(size=60), [-0.6, 0.6]) + 1


def steps():
    """(number, rows seen, weights and thresholds before, after) of each update step."""
    X, y = rows()
    engine = Engine("prank", preset="paper", classes=[1, 2, 3])
    before, n_steps = None, 0
    for i in range(len(X)):
        engine.partial_fit(X[i:i + 1], y[i:i + 1], history=True)
        if engine.history_[-1].step is not None:
            n_steps += 1
            after = engine.coef_.ravel().copy(), engine.thresholds_.copy()
            yield n_steps, i, before, after
            before = after


def place(x, y):
    return SIDE * (x + REACH) / (2 * REACH), SIDE * (REACH - y) / (2 * REACH)


def boundaries(model, **look):
    """The lines of equal score at the thresholds; none before the first step."""
    if model is None or not np.any(model[0]):
        return []
    w, thresholds = model
    across = np.array([-w[1], w[0]]) / (w @ w) ** 0.5 * 2 * REACH
    ends = [(w * b / (w @ w) - across, w * b / (w @ w) + across) for b in thresholds]
    return [element("line", x1=f"{place(*a)[0]:.1f}", y1=f"{place(*a)[1]:.1f}", x2=f"{place(*b)[0]:.1f}", y2=f"{place(*b)[1]:.1f}", **look)
            for a, b in ends]


def mark(x, rank):
    """A point of a row, with a shape for each rank."""
    left, top = (round(value, 1) for value in place(*x))
    if rank == 1:
        return element("circle", cx=left, cy=top, r=3, fill=TONES[0])
    if rank == 2:
        return element("rect", x=round(left - 2.8, 1), y=round(top - 2.8, 1), width=5.6, height=5.6, fill=TONES[1])
    return element("path", d=f"M{left} {top - 4:.1f} l4 7 h-8 z", fill=TONES[2])


def panel(number, i, before, after):
    X, y = rows()
    left, top = place(*X[i])
    ring = element("circle", cx=round(left, 1), cy=round(top, 1), r=7, fill="none", stroke="#1b1b1b", stroke_width=1.5)
    lines = [*boundaries(before, stroke="#7f7f7f", stroke_dasharray="4 3"), *boundaries(after, stroke="#1b1b1b", stroke_width=1.6)]
    inside = [*lines, *(mark(X[j], y[j]) for j in range(i + 1)), ring]
    return [element("text", f"step {number}, row {i + 1}", x=0, y=-8),
            element("svg", *inside, width=SIDE, height=SIDE, viewBox=f"0 0 {SIDE} {SIDE}"),
            element("rect", width=SIDE, height=SIDE, fill="none", stroke="#bbbbbb")]


def svg() -> str:
    chosen = [step for step in steps() if step[0] in SHOWN]
    width, height = GAP + len(chosen) * (SIDE + GAP), TOP + SIDE + GAP
    panels = [element("g", *panel(*step), transform=f"translate({GAP + k * (SIDE + GAP)} {TOP})") for k, step in enumerate(chosen)]
    return element("svg", element("rect", width=width, height=height, fill="#ffffff"), *panels, xmlns="http://www.w3.org/2000/svg",
                   viewBox=f"0 0 {width} {height}", width=width, height=height, font_family="system-ui,sans-serif", font_size=13,
                   fill="#1b1b1b", role="img", aria_label="Three update steps of PRank: the thresholds move after a wrong prediction")


if __name__ == "__main__":
    FILE.write_text(Markup(svg()) + "\n", encoding="utf-8")
