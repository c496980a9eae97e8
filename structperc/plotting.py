"""Pictures of a trained engine, readable without colour.

Provisional: it may change in any minor version.

They show the learning curve, the thresholds and the weights. For two columns they show the regions of the labels and their boundaries,
or the steps of training.
"""

from __future__ import annotations

import numpy as np

from structperc.basics.errors import DataError, NotFittedError, shortened
from structperc.basics.labels import plain, plain_labels
from structperc.basics.rows_of_numbers import to_dense
from structperc.core.outputs import is_ordered
from structperc.engine.cards import largest, row_name, weight_name
from structperc.engine.engine import Engine, engine_of
from structperc.extras import require
from structperc.fitting.options import changed_options
from structperc.pipelines import carried, column_names, levels_of, unwrapped

__all__ = ["plot_boundary", "plot_learning_curve", "plot_steps", "plot_thresholds", "plot_weights"]

DASHES = ("-", "--", "-.", ":")
MARKERS = "osD^vP*X<>"
GRID_POINTS = 400


def plot_learning_curve(engine, ax=None):
    """Learning curve: the mistakes during each epoch, with each prediction before its step. Returns the matplotlib Axes.
    Raises `NotFittedError` before `fit`. Raises `MissingExtra` if matplotlib is not installed.

    Parameters
    ----------
    engine : Engine or estimator
        Trained by `fit`, or read from a file.
    ax : matplotlib Axes, optional
        Default: a new figure.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.plotting import plot_learning_curve
    >>> ax = plot_learning_curve(Engine("cusum", epochs=5).fit([[0.0], [1.0]], [1, 2]))
    >>> ax.get_xlabel()
    'epoch'
    """
    engine = engine_of(unwrapped(engine)[1], "a picture")
    mistakes = engine.mistakes_
    if not mistakes:
        raise DataError("the engine has finished no epoch, so there is no learning curve; train it longer.")
    ax = axes(ax)
    epochs = np.arange(1, len(mistakes) + 1)
    ax.plot(epochs, mistakes, color="black", linewidth=1.2, marker="o" if len(mistakes) <= 40 else None, markersize=4)
    ax.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
    ax.set_xlim(0.5, len(mistakes) + 0.5)
    ax.set_ylim(0, 1.08 * max(mistakes) or 1)
    ax.set(xlabel="epoch", ylabel="mistakes during the epoch (examples)", title=f"Learning curve, {describe(engine)}")
    ax.grid(alpha=0.3)
    return ax


def plot_thresholds(engine, X, y, ax=None):
    """Densities of the latent score for each true level, with the thresholds between levels. Returns the matplotlib Axes.

    The latent score of an example is its mean score of the atoms "rank > k". If there are thresholds, their mean is added. Threshold k
    is where the score of atom k would be 0. Models with one direction have the same thresholds for all examples, `thresholds_`. If each
    level has a direction, thresholds differ. The line is then their mean, the grey band one standard deviation.
    Raises `DataError` if the outputs are not ordered labels. Raises `MissingExtra` if matplotlib is not installed.

    Parameters
    ----------
    engine : Engine or estimator
        Trained on ordered labels.
    X : array-like
        Examples, as in `fit`.
    y : sequence
        Their levels.
    ax : matplotlib Axes, optional
        Default: a new figure.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc import Engine
    >>> from structperc.plotting import plot_thresholds
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.digitize(X @ [1, 2], [-1, 1])
    >>> ax = plot_thresholds(Engine("prank", epochs=20).fit(X, y), X, y)
    >>> len(ax.get_lines()) > 2
    True
    """
    last, X = carried(engine, X)
    engine = engine_of(last, "a picture")
    if not is_ordered(engine.parts_.outputs):
        raise DataError(f"{describe(engine)} predicts no ranks, so it has no thresholds to draw; plot_learning_curve draws any engine.")
    latent, cuts = latent_scores(engine, X)
    y = np.asarray(y)
    if len(y) != len(latent):
        raise DataError(f"y has {len(y)} labels but X has {len(latent)} examples; give one label per example.")
    return draw_thresholds(engine, latent, cuts.mean(axis=0), cuts.std(axis=0), y, ax)


def latent_scores(engine, X):
    """The latent score of each example, and on its scale where the score of each atom would be 0."""
    atoms = engine.atom_scores(X)
    latent = atoms.mean(axis=1) + np.mean(getattr(engine, "thresholds_", 0.0))
    return latent, latent[:, None] - atoms


def draw_thresholds(engine, latent, centres, spreads, y, ax=None):
    """`plot_thresholds` of latent scores, and of the means and standard deviations of cut points."""
    labels = plain_labels(engine.classes_)
    if not np.isin(y, labels).any():
        raise DataError(f"y holds none of the labels that the engine knows: {', '.join(map(repr, labels))}.")
    ax = axes(ax)
    low, high = np.quantile(latent, [0.002, 0.998])
    low, high = min(low, centres.min()), max(high, centres.max())
    room = 0.15 * (high - low) or 1.0
    grid = np.linspace(low - room, high + room, GRID_POINTS)
    curves = []
    for k, label in enumerate(labels):
        chosen = latent[y == label]
        if len(chosen):
            curves += ax.plot(grid, density(chosen, grid), color=shade(k, len(labels)), linestyle=DASHES[k % len(DASHES)], linewidth=1.6,
                    label=verbatim(f"{label} ({len(chosen)})"))
    varying = spreads > 1e-9 * (high - low)
    for k, (centre, spread) in enumerate(zip(centres, spreads, strict=True)):
        if varying[k]:
            ax.axvspan(centre - spread, centre + spread, color="0.85", alpha=0.5, linewidth=0, zorder=0)
        ax.axvline(centre, color="0.35", linewidth=0.8, zorder=1)
        ax.annotate(verbatim(f"{labels[k]}|{labels[k + 1]}"), (centre, 1.0), xycoords=("data", "axes fraction"),
                    xytext=(0, 2 + 9 * (k % 2)), textcoords="offset points", ha="center", fontsize="x-small", annotation_clip=True)
    ax.set_xlim(grid[0], grid[-1])
    ax.set_ylim(0, 1.08 * max(line.get_ydata().max() for line in curves))
    meaning = "cut points, mean ± one standard deviation" if varying.any() else "cut points"
    ax.set(xlabel=f"latent score (vertical lines: {meaning})", ylabel="examples per unit of latent score")
    ax.set_title(f"Ranks along the latent score, {describe(engine)}", pad=22)
    ax.legend(title="true rank (examples)", fontsize="small", title_fontsize="small")
    return ax


def plot_boundary(model, X, y, ax=None, margin=None, grid_points=240):
    """Decision regions of a model of two columns, with boundaries between labels and margins. Returns the matplotlib Axes.

    A boundary of levels is where the score of "rank > k" is 0. It needs `atom_scores`, `threshold_scores`, or `thresholds_` beside
    `latent_score` or `decision_function`. A boundary of classes is where their scores are equal and no other is larger. Dotted lines are
    margins: the pairs `margins_` of the model, else the scores -margin and margin. Support rows have rings. Cost: grid_points^2
    predictions. Raises `DataError` where columns or y do not fit.
    Raises `MissingExtra` if matplotlib is not installed.

    Parameters
    ----------
    model : Engine or estimator
        Trained on two columns, with a label for each row. Pipelines too.
    X : array-like of shape (n_rows, 2)
        Rows, drawn as points. If the model has `support_` but no `support_vectors_`, they must be the training rows.
    y : sequence
        Their labels.
    ax : matplotlib Axes, optional
        Default: a new figure.
    margin : float, optional
        For models without `margins_`. Default: no margins.
    grid_points : int, default 240
        Grid points along each side. Larger values draw sharper boundaries and are slower.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc import Engine
    >>> from structperc.plotting import plot_boundary
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.digitize(X @ [1, 2], [-1, 1])
    >>> ax = plot_boundary(Engine("prank", epochs=20).fit(X, y), X, y)
    >>> ax.get_xlabel(), ax.get_legend_handles_labels()[1]
    ('x[0]', ['0 (18)', '1 (20)', '2 (22)'])
    """
    labels, points, y = plain_labels(levels_of(model)), np.asarray(X, dtype=float), np.asarray(y)
    refuse_other_planes(points, y, labels, model)
    ax = axes(ax)
    sides = sides_of(points, grid_points)
    grid = grid_of(sides, X)
    shade_regions(ax, model, sides, grid, labels)
    scores = boundary_scores_of(model, grid, len(labels))
    if scores is not None:
        for k, curve in enumerate(scores.T):
            trace(ax, sides, curve, 0.0, "black", 1.2, DASHES[k % len(DASHES)])
            for value in margins_of(model, k, margin):
                trace(ax, sides, curve, value, "0.25", 0.9, ":")
    else:
        for curve in class_scores_of(model, grid):
            trace(ax, sides, curve, 0.0, "black", 1.2, "-")
    draw_points(ax, points, y, labels)
    ringed = support_rows(model, points)
    if len(ringed):
        ax.plot(*ringed.T, linestyle="none", marker="o", markersize=10, markerfacecolor="none", markeredgecolor="black",
                label=f"support ({len(ringed)})")
    names = getattr(model, "feature_names_in_", None)
    names = ("x[0]", "x[1]") if names is None else [verbatim(str(name)) for name in names]
    ax.set(xlabel=names[0], ylabel=names[1], xlim=sides[0, [0, -1]], ylim=sides[1, [0, -1]])
    ax.set_title(f"Regions, {type(model).__name__ if not isinstance(model, Engine) else describe(model)}")
    ax.legend(title="label (examples)", fontsize="small", title_fontsize="small")
    return ax


def plot_steps(engine, X, y, steps=6):
    """The first training steps on two columns, one panel each: the boundary before (dotted) and after the step, and its example.
    Returns an ndarray of matplotlib Axes.

    A copy of the engine trains anew, epoch after epoch. The order is that of `history_`, or of X if the engine has none. The copy
    predicts with the weights themselves, not with their mean. If the engine scales columns, they are standardised.
    Raises `DataError` if the engine has another number of columns, or makes no step.
    Raises `MissingExtra` if matplotlib is not installed.

    Parameters
    ----------
    engine : Engine or estimator
        Trained online on two columns, with a label for each row. A copy of an engine that is not fitted is trained first.
    X : array-like of shape (n_rows, 2)
        The training rows.
    y : sequence
        Their labels.
    steps : int, default 6
        Number of steps to draw; fewer if training makes fewer.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc import Engine
    >>> from structperc.plotting import plot_steps
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> y = np.digitize(X @ [1, 2], [-1, 1])
    >>> panels = plot_steps(Engine("prank").fit(X, y), X, y, steps=4)
    >>> len(panels), panels[0].get_title()
    (4, 'visit 1: predicted 2, right 1')
    """
    last, X = carried(engine, X)
    engine = engine_of(last, "a picture")
    if engine.model is None:
        engine = engine._like(**changed_options(engine)).fit(X, y)
    labels, points, y = plain_labels(engine.classes_), np.asarray(X, dtype=float), np.asarray(y)
    refuse_other_planes(points, y, labels, engine)
    if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 1:
        raise DataError(f"steps={shortened(steps)}; expected a whole number of steps to draw, at least 1.")
    scaling = engine.model_.scaling
    points = points if scaling is None else (points - scaling.shift) / scaling.spread
    order = [visit.example for visit in engine.history_] if hasattr(engine, "history_") else list(range(len(points))) * engine.epochs
    if order and max(order) >= len(points):
        raise DataError(f"X has {len(points)} rows, but history_ has row {max(order)}; pass the rows that the engine was trained on.")
    options = changed_options(engine) | {"average": False, "scale": False, "calibrate": False, "class_weight": None, "classes": labels}
    learner = engine._like(**options)
    sides = sides_of(points, GRID_POINTS // 3)
    grid = grid_of(sides, points)
    drawn, before = [], None
    for i in order:
        learner.partial_fit(points[i:i + 1], y[i:i + 1], history=True)
        visit = learner.history_[-1]
        if visit.step is not None:
            drawn.append((visit, i, before, learner.predict(grid), boundaries_of(learner, grid, len(labels))))
            before = drawn[-1][-1]
            if len(drawn) == steps:
                break
    if not drawn:
        raise DataError(f"training {describe(engine)} makes no step on these rows; pass the rows that the engine was trained on.")
    columns = min(3, len(drawn))
    rows = -(-len(drawn) // columns)
    figure = require("matplotlib.pyplot", "a picture", "plot").figure(figsize=(3.2 * columns, 3.0 * rows), layout="constrained")
    panels = np.asarray(figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)).ravel()
    for ax, (visit, i, earlier, predicted, later) in zip(panels, drawn, strict=False):
        shade_answers(ax, sides, predicted, labels)
        for curves, colour, width, dashes in ((earlier, "0.35", 1.2, ":"), (later, "black", 1.4, "-")):
            for curve in () if curves is None else curves:
                trace(ax, sides, curve, 0.0, colour, width, dashes)
        draw_points(ax, points, y, labels)
        ax.plot(*points[i], marker="o", markersize=13, markerfacecolor="none", markeredgecolor="black", markeredgewidth=1.5)
        ax.set_title(verbatim(f"visit {visit.visit}: predicted {plain(visit.said)}, right {plain(y[i])}"), fontsize="medium")
        ax.set(xlim=sides[0, [0, -1]], ylim=sides[1, [0, -1]])
    for ax in panels[len(drawn):]:
        ax.remove()
    figure.suptitle(f"The first steps, {describe(learner)}{'' if scaling is None else ', standardised columns'}")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, title="label (examples)", fontsize="small", title_fontsize="small", loc="outside lower center",
                  ncols=min(len(names), 5))
    return panels[:len(drawn)]


def refuse_other_planes(points, y, labels, model) -> None:
    """Raises an error for rows of other than two columns, and labels that are not those of the rows."""
    n_columns = getattr(model, "n_features_in_", 2)
    if points.ndim != 2 or points.shape[1] != 2 or n_columns != 2:
        raise DataError(f"X has shape {points.shape} and the model knows {n_columns} columns; regions are drawn of models of two columns.")
    if len(y) != len(points):
        raise DataError(f"y has {len(y)} labels but X has {len(points)} rows; give one label per row.")
    if not np.isin(y, labels).any():
        raise DataError(f"y holds none of the labels that the model knows: {', '.join(map(repr, labels))}.")


def sides_of(points, grid_points):
    """The coordinates of a grid around all points, (2, grid_points)."""
    room = 0.08 * (np.ptp(points, axis=0) + (np.ptp(points, axis=0) == 0))
    return np.linspace(points.min(axis=0) - room, points.max(axis=0) + room, grid_points).T


def grid_of(sides, X):
    """All points of a grid as rows, a data frame where X is one."""
    grid = np.column_stack([side.ravel() for side in np.meshgrid(*sides)])
    return type(X)(grid, columns=X.columns) if hasattr(X, "columns") else grid


def shade_regions(ax, model, sides, grid, labels) -> None:
    """The regions of the predicted labels."""
    shade_answers(ax, sides, model.predict(grid), labels)


def shade_answers(ax, sides, answers, labels) -> None:
    """The predicted label at each point of a grid."""
    code = {label: k for k, label in enumerate(labels)}
    regions = np.array([code[label] for label in plain_labels(np.asarray(answers))]).reshape(sides.shape[1], sides.shape[1])
    colours = [shade(k, len(labels)) for k in range(len(labels))]
    ax.contourf(*sides, regions, levels=np.arange(len(labels) + 1) - 0.5, colors=colours, alpha=0.3)


def trace(ax, sides, curve, level, colour, width, dashes) -> None:
    """The line where a value of each point of a grid is at a level, if it is anywhere."""
    if curve.min() < level < curve.max():
        n = sides.shape[1]
        ax.contour(*sides, curve.reshape(n, n), levels=[level], colors=colour, linewidths=width, linestyles=dashes)


def draw_points(ax, points, y, labels) -> None:
    """The points of each label, with its marker."""
    for k, label in enumerate(labels):
        chosen = points[y == label]
        if len(chosen):
            ax.plot(*chosen.T, linestyle="none", marker=MARKERS[k % len(MARKERS)], color=shade(k, len(labels)), markeredgecolor="black",
                    markeredgewidth=0.5, markersize=5, label=verbatim(f"{label} ({len(chosen)})"))


def boundaries_of(model, X, n_labels):
    """A curve for each boundary of levels or of classes, which is where a score is 0. None if the model has no scores."""
    scores = boundary_scores_of(model, X, n_labels)
    return class_scores_of(model, X) if scores is None else list(scores.T)


def class_scores_of(model, X):
    """For each label by how much it leads all others; none where the model has no scores of labels."""
    engine = getattr(model, "engine_", model)
    if not isinstance(engine, Engine):
        return []
    scores = engine.label_scores(X)
    return [scores[:, k] - np.delete(scores, k, axis=1).max(axis=1) for k in range(scores.shape[1] - (scores.shape[1] == 2))]


def boundary_scores_of(model, X, n_labels):
    """The scores of "the rank is above k", (n, K - 1); None where the model has none."""
    for name in ("atom_scores", "threshold_scores"):
        if hasattr(model, name):
            scores = np.asarray(getattr(model, name)(X))
            return scores if scores.ndim == 2 and scores.shape[1] == n_labels - 1 else None
    for name in ("latent_score", "decision_function"):
        if hasattr(model, "thresholds_") and hasattr(model, name):
            latent = np.asarray(getattr(model, name)(X))
            return latent[:, None] - model.thresholds_ if latent.ndim == 1 else None
    return None


def margins_of(model, k, margin):
    """Where the margins of boundary k lie, as its score."""
    pairs = getattr(model, "margins_", None)
    if pairs is not None:
        return sorted(set(np.asarray(pairs)[k] - model.thresholds_[k]))
    return () if margin is None else (-margin, margin)


def support_rows(model, points):
    """The support rows of a model, as points."""
    rows = getattr(model, "support_vectors_", None)
    if rows is not None:
        return np.asarray(to_dense(rows), dtype=float)
    chosen = getattr(model, "support_", None)
    return points[:0] if chosen is None or len(chosen) and max(chosen) >= len(points) else points[np.asarray(chosen, dtype=int)]


def plot_weights(engine, ax=None, top=15):
    """The features with the largest weights, by name; with more than ten rows of weights, the largest single weights.
    Returns the matplotlib Axes. Raises `DataError` if the engine has no weight for each feature.
    Raises `MissingExtra` if matplotlib is not installed.

    Parameters
    ----------
    engine : Engine or estimator
        Trained, with `coef_`.
    ax : matplotlib Axes, optional
        Default: a new figure.
    top : int, default 15
        Number of features. Larger values need a larger figure.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.plotting import plot_weights
    >>> ax = plot_weights(Engine("prank", epochs=5, random_state=0).fit([[0.0, 1.0], [1.0, 0.0]], [1, 2]))
    >>> len(ax.get_yticklabels())
    2
    """
    before, last = unwrapped(engine)
    engine, columns = engine_of(last, "a picture"), None if before is None else column_names(before, last)
    try:
        weights = np.asarray(engine.coef_)
    except NotFittedError:
        raise
    except AttributeError:
        raise DataError(f"{describe(engine)} has no coef_, one weight per feature; plot_learning_curve draws any engine.") from None
    rows = np.atleast_2d(weights)
    ax = axes(ax)
    ax.axvline(0, color="0.6", linewidth=0.8, zorder=0)
    if weights.ndim == 1 or len(rows) > len(MARKERS):       # a bar for each weight
        of_row, chosen = largest(rows, top)
        names = [name_of_column(engine, columns, rows, k, j) for k, j in zip(of_row, chosen, strict=True)]
        if weights.ndim > 1:
            names = [f"{name} ({row_name(engine, k, len(rows))})" for name, k in zip(names, of_row, strict=True)]
        places = np.arange(len(chosen))
        ax.barh(places, rows[of_row, chosen], height=0.6, color="0.4")
    else:                                                   # a marker for each row
        _, chosen = largest(np.abs(rows).max(axis=0)[None], top)
        names, places = [name_of_column(engine, columns, rows, 0, j) for j in chosen], np.arange(len(chosen))
        for k, row in enumerate(rows):
            if row.any():
                ax.plot(row[chosen], places, linestyle="none", marker=MARKERS[k], color=shade(k, len(rows)),
                        markeredgecolor="black", markeredgewidth=0.5, markersize=6, label=verbatim(row_name(engine, k, len(rows))))
        if ax.get_legend_handles_labels()[0]:
            ax.legend(title="direction of", fontsize="small", title_fontsize="small")
    ax.set_axisbelow(True)
    ax.set_yticks(places, names, fontsize="small", parse_math=False)       # "$" is a dollar
    ax.invert_yaxis()
    ax.grid(axis="y", alpha=0.3)
    ax.set(xlabel="weight (score per unit of the feature)",
           title=f"{'Largest weights' if len(chosen) < rows.shape[1] else 'Weights'}, {describe(engine)}")
    return ax


def axes(ax):
    """The given axes, or new ones."""
    if ax is not None:
        return ax
    return require("matplotlib.pyplot", "a picture", "plot").subplots(layout="constrained")[1]


def name_of_column(engine, columns, rows, k, j) -> str:
    """The name of column j in row k of coef_: that of the steps before if their number fits, else the engine's."""
    return weight_name(engine, rows, k, j) if columns is None or len(columns) != rows.shape[1] else str(columns[j])


def describe(engine) -> str:
    """The problem and its update rule, for titles."""
    problem = engine.problem if isinstance(engine.problem, str) else type(engine.problem).__name__
    return f"{problem} ({engine.update}{', averaged' if engine.average else ''})"


def verbatim(text) -> str:
    """Text in which a "$" is a dollar, not the beginning of a formula."""
    return text.replace("$", r"\$")


def shade(k, n):
    """Dark to light, distinct in colour and in grey."""
    return require("matplotlib", "a picture", "plot").colormaps["viridis"](0.85 * k / max(1, n - 1))


def density(values, grid):
    """Examples per unit along the grid: a histogram smoothed by a Gaussian, in time linear in the examples."""
    step = grid[1] - grid[0]
    spread = min(values.std(), np.subtract(*np.quantile(values, [0.75, 0.25])) / 1.349) or values.std()
    width = max(0.9 * spread * len(values) ** -0.2, 2 * step)
    edges = np.concatenate([grid - step / 2, [grid[-1] + step / 2]])
    counts, _ = np.histogram(values, bins=edges)
    reach = np.arange(-(len(grid) // 2), len(grid) // 2 + 1) * step
    kernel = np.exp(-0.5 * (reach / width) ** 2)
    smooth = np.convolve(counts, kernel / (kernel.sum() * step), mode="full")
    start = len(reach) // 2
    return smooth[start:start + len(grid)]
