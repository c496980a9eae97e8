"""Figures that stay readable in grey: things differ by shades, hatches and markers, never only by colour."""

import itertools

import numpy as np
from matplotlib.figure import Figure

GREYS = ("0.15", "0.45", "0.7", "0.92")
HATCHES = ("", "///", "", "...")
MARKERS = "osD^vPX*<>"
STYLES = ("-", "-", "--", "--", ":", "-.", "-.")


def new(width=7.0, height=4.2, panels=1):
    figure = Figure(figsize=(width, height), layout="constrained", dpi=150)
    axes = figure.subplots(1, panels, squeeze=False)[0]
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
        one.grid(axis="y", color="0.88", linewidth=0.6)
        one.set_axisbelow(True)
    return figure, axes if panels > 1 else axes[0]


def bars(path, groups, series, goals, ylabel, title):
    """Grouped bars of medians with their range; a goal is a line across its group."""
    figure, axes = new()
    width = 0.8 / len(series)
    at = np.arange(len(groups))
    for i, (label, found) in enumerate(series.items()):
        middle = np.array([np.median(values) for values in found])
        reach = [middle - [min(values) for values in found], [max(values) for values in found] - middle]
        axes.bar(at + (i - (len(series) - 1) / 2) * width, middle, width * 0.92, yerr=reach, label=label, color=GREYS[i], hatch=HATCHES[i],
                 edgecolor="0.1", linewidth=0.6, error_kw={"linewidth": 0.8, "ecolor": "0.35", "capsize": 2})
    axes.hlines(goals, at - 0.45, at + 0.45, color="black", linestyle="--", linewidth=1.4, label="goal")
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xticks(at, groups)
    axes.set_ylabel(ylabel)
    axes.set_title(title, loc="left")
    axes.legend(frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.08))
    figure.savefig(path)


def levels(path, groups, series, goals, ylabel, title):
    """A point for each series of each group, on an axis without 0. A goal is a line across its group."""
    figure, axes = new()
    at = np.arange(len(groups))
    for i, (label, values) in enumerate(series.items()):
        axes.plot(at, values, MARKERS[i], color=str(0.1 + 0.3 * i), markersize=8, label=label)
    axes.hlines(goals, at - 0.3, at + 0.3, color="black", linestyle="--", linewidth=1.4, label="goal")
    axes.set_xticks(at, groups)
    axes.set_ylabel(ylabel)
    axes.set_title(title, loc="left")
    axes.legend(frameon=False, loc="upper right")
    figure.savefig(path)


def lines(path, x, series, xlabel, ylabel, title):
    """Lines on logarithmic axes."""
    figure, axes = new(7.4)
    markers = itertools.cycle(MARKERS)
    for i, (label, y) in enumerate(series.items()):
        axes.plot(x, y, STYLES[i % len(STYLES)], color=str(0.1 + 0.12 * (i % 5)), marker=next(markers), markersize=5, label=label)
    axes.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
    axes.set_xticks(x, [str(value) for value in x], minor=False)
    axes.minorticks_off()
    axes.grid(axis="both", color="0.88", linewidth=0.6)
    axes.set_title(title, loc="left")
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path)


def scatter(path, panels, curves, xlabel, ylabel):
    """Points with their names, a panel for each data set.

    Parameters
    ----------
    panels : dict of title to dict of label to (x, y)
    curves : dict of title to dict of label to (list of x, list of y)
        Joined points: one system, with more and more of something.
    """
    figure, axes = new(11.5, 4.4, len(panels))
    labels = dict.fromkeys(label for points in panels.values() for label in points)
    marker = dict(zip(labels, itertools.cycle(MARKERS), strict=False))      # a system has one marker in all panels
    for one, (title, points) in zip(np.atleast_1d(axes), panels.items(), strict=True):
        for i, (label, (x, y)) in enumerate(curves[title].items()):
            one.plot(x, y, STYLES[2 * i], color="black", marker=".", linewidth=1.2, label=label)
        for label, (x, y) in points.items():
            one.plot(x, y, linestyle="", marker=marker[label], markersize=7, markerfacecolor="0.75", markeredgecolor="black", label=label)
        one.set(xscale="log", xlabel=xlabel, ylabel=ylabel)
        low, high = np.log10(one.get_xlim())
        one.set_xlim(10 ** np.floor(low), 10 ** np.ceil(high))          # whole decades, whose n_visited have room
        one.grid(axis="both", color="0.88", linewidth=0.6)
        one.set_title(title, loc="left")
    figure.legend(*one.get_legend_handles_labels(), frameon=False, loc="outside right center")
    figure.savefig(path)


def curve(path, x, y, xlabel, ylabel, title):
    """One line from zero up."""
    figure, axes = new(6.5, 3.6)
    axes.plot(x, y, "-", color="black", linewidth=1.6)
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.set_ylim(0, 1.15 * max(y))
    axes.set_title(title, loc="left")
    figure.savefig(path)


def panels(path, panels):
    """Lines with points, in panels beside each other, each with its own axes and legend.

    Parameters
    ----------
    panels : list of dict
        `lines`, a dict of label to `(list of x, list of y)`, `title`, and further settings of the axes, such as `xlabel` and `xscale`.
    """
    figure, axes = new(1 + 5.5 * len(panels), 4.2, len(panels))
    for one, panel in zip(np.atleast_1d(axes), panels, strict=True):
        settings = dict(panel)
        title, lines = settings.pop("title"), settings.pop("lines")
        for i, (label, (x, y)) in enumerate(lines.items()):
            one.plot(x, y, STYLES[i % len(STYLES)], color=str(0.1 + 0.12 * (i % 5)), marker=MARKERS[i], markersize=5, label=label)
        one.set(**settings)
        one.grid(axis="both", color="0.88", linewidth=0.6)
        one.set_title(title, loc="left")
        one.legend(frameon=False)
    figure.savefig(path)


def pictures(path, rows):
    """Pictures in rows of equal length, each a dict from titles to arrays."""
    figure = Figure(figsize=(2.8 * len(rows[0]), 2.1 * len(rows)), layout="constrained", dpi=110)
    for axes, row in zip(figure.subplots(len(rows), len(rows[0]), squeeze=False), rows, strict=True):
        for one, (title, picture) in zip(axes, row.items(), strict=True):
            one.imshow(picture, cmap="gray")
            one.set_title(title, fontsize=8)
            one.set_axis_off()
    figure.savefig(path)
