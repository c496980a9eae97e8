"""Figures that stay readable in grey: things differ by shades, hatches and markers, never only by colour."""

import itertools

import numpy as np
from matplotlib.figure import Figure

GREYS = ("0.15", "0.45", "0.7", "0.92")
HATCHES = ("", "///", "", "...")
COLOURS = ("#000000", "#0072B2", "#D55E00", "#7f7f7f")         # they differ in grey too
MARKERS = "osD^vPX*<>"
STYLES = ("-", "-", "--", "--", ":", "-.", "-.")


def new(width=7.0, height=4.2, panels=1, across=None):
    """A figure and its axes, a panel or a list of panels; `across`: the most panels beside each other."""
    figure = Figure(figsize=(width, height), layout="constrained", dpi=150)
    across = min(panels, across or panels)
    axes = figure.subplots(-(-panels // across), across, squeeze=False).ravel()
    for one in axes[panels:]:
        one.set_axis_off()
    axes = axes[:panels]
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


def families(path, sets, families, xlabel):
    """Lines over epochs: a row of panels for each set, a column for each family of systems.

    Parameters
    ----------
    sets : dict of title to (ylabel, ylim, dict of label to list of y)
    families : list of lists of labels
    """
    figure = Figure(figsize=(8.0, 2.5 * len(sets) + 0.6), layout="constrained", dpi=150)
    axes = figure.subplots(len(sets), len(families), squeeze=False, sharex=True, sharey="row")
    for across, (title, (ylabel, ylim, lines)) in zip(axes, sets.items(), strict=True):
        for one, labels in zip(across, families, strict=True):
            for i, label in enumerate(labels):
                one.plot(range(1, len(lines[label]) + 1), lines[label], STYLES[2 * i % len(STYLES)], color=COLOURS[i], marker=MARKERS[i],
                         markersize=5, linewidth=1.5, label=label)
            one.spines[["top", "right"]].set_visible(False)
            one.grid(color="0.9", linewidth=0.6)
        across[0].set(ylabel=ylabel, ylim=ylim)
        across[0].set_title(title, loc="left")
    for one in axes[0]:
        one.legend(frameon=False, fontsize="small")
    for one in axes[-1]:
        one.set_xlabel(xlabel)
    figure.savefig(path)


def seconds_to_quality(path, tasks):
    """A panel for each task with a row for each learner: a point at its seconds, filled if it is ours, and its quality as text.

    Parameters
    ----------
    tasks : dict of title to dict of learner to (seconds, quality, whether it is ours)
    """
    heights = [len(learners) + 1.6 for learners in tasks.values()]
    figure = Figure(figsize=(8.0, 0.3 * sum(heights) + 0.4), layout="constrained", dpi=150)
    axes = figure.subplots(len(tasks), 1, squeeze=False, gridspec_kw={"height_ratios": heights}).ravel()
    for one, (title, learners) in zip(axes, tasks.items(), strict=True):
        for row, (seconds, quality, own) in enumerate(learners.values()):
            one.plot(seconds, row, "o", markersize=8, markerfacecolor="#0072B2" if own else "white", markeredgecolor="black")
            one.annotate(f"{quality:.2%}", (seconds, row), (9, 0), textcoords="offset points", va="center")
        one.set(xscale="log", ylim=(len(learners) - 0.4, -0.6), yticks=range(len(learners)), yticklabels=list(learners))
        low, high = one.get_xlim()
        one.set_xlim(low, high * (high / low) ** 0.12)          # room for the last text
        one.spines[["top", "right"]].set_visible(False)
        one.grid(color="0.9", linewidth=0.6)
        one.set_axisbelow(True)
        one.set_title(title, loc="left")
    axes[-1].set_xlabel("seconds of a fit")
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
    figure, axes = new(1 + 5.5 * min(2, len(panels)), 4.2 * -(-len(panels) // 2), len(panels), across=2)
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
