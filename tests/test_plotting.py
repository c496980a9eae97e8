"""Pictures: what they show is what the engine learned."""

import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from plain import Engine

from structperc.errors import DataError, MissingExtra, NotFittedError
from structperc.estimators import CuSumRank, PRank, StructuredClassifier
from structperc.plotting import density, plot_boundary, plot_learning_curve, plot_steps, plot_thresholds, plot_weights


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture
def sample():
    random = np.random.default_rng(1)
    X = random.normal(size=(80, 4))
    score = X @ [2.0, -1.0, 0.5, 0.0] + 0.3 * random.normal(size=80)
    return pd.DataFrame(X, columns=["age", "bmi", "bp", "dose"]), np.digitize(score, [-1.0, 1.0])


def vertical_lines(ax):
    return [line.get_xdata()[0] for line in ax.lines if len(set(line.get_xdata())) == 1]


@pytest.mark.parametrize("draw", [plot_learning_curve, plot_weights, plot_thresholds])
def test_estimators_are_drawn_as_their_engines_are(draw, ax, sample):
    X, y = sample
    model = CuSumRank(random_state=0).fit(X, y)
    data = (X, y) if draw is plot_thresholds else ()
    drawn, expected = draw(model, *data, ax=ax), draw(model.engine_, *data, ax=Figure().subplots())
    assert drawn.get_title() == expected.get_title()
    assert [line.get_xydata().tolist() for line in drawn.lines] == [line.get_xydata().tolist() for line in expected.lines]
    with pytest.raises(NotFittedError):
        draw(CuSumRank(), *data)


def test_learning_curve_shows_mistakes_per_epoch(ax, sample):
    engine = Engine("cusum", epochs=6).fit(*sample)
    assert plot_learning_curve(engine, ax) is ax
    assert ax.lines[0].get_xdata().tolist() == [1, 2, 3, 4, 5, 6]
    assert ax.lines[0].get_ydata().tolist() == engine.mistakes_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("epoch", "mistakes during the epoch (examples)")
    assert ax.get_ylim()[0] == 0 and ax.get_ylim()[1] >= max(engine.mistakes_)


def test_one_epoch_has_a_whole_number_on_its_axis(ax, sample):
    plot_learning_curve(Engine("cusum").fit(*sample), ax)
    assert [tick for tick in ax.get_xticks() if ax.get_xlim()[0] <= tick <= ax.get_xlim()[1]] == [1]


def test_thresholds_of_prank_are_its_cut_points(ax, sample):
    X, y = sample
    engine = Engine("prank", epochs=5, average=True).fit(X, y)
    plot_thresholds(engine, X, y, ax)
    assert vertical_lines(ax) == pytest.approx(engine.thresholds_.tolist())
    assert not ax.patches      # they are the same for all examples, so there is no band
    assert [text.get_text() for text in ax.texts] == ["0|1", "1|2"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [f"{k} ({(y == k).sum()})" for k in range(3)]


def test_thresholds_of_cusum_have_the_mean_and_deviation_over_examples(ax, sample):
    X, y = sample
    engine = Engine("cusum", epochs=5).fit(X, y)
    plot_thresholds(engine, X, y, ax)
    scores = np.asarray(X) @ engine.coef_[1:].T + engine.intercept_[1:]
    cuts = scores.mean(axis=1, keepdims=True) - scores
    assert vertical_lines(ax) == pytest.approx(cuts.mean(axis=0).tolist())
    bands = [(patch.get_x(), patch.get_width()) for patch in ax.patches]
    assert bands == [pytest.approx((c - s, 2 * s)) for c, s in zip(cuts.mean(axis=0), cuts.std(axis=0), strict=True)]


def test_ranks_differ_in_dash_and_in_lightness(ax, sample):
    X, y = sample
    plot_thresholds(Engine("cusum").fit(X, y), X, y, ax)
    curves = ax.lines[:3]
    lightness = [np.dot(matplotlib.colors.to_rgb(curve.get_color()), [0.299, 0.587, 0.114]) for curve in curves]
    assert len({curve.get_linestyle() for curve in curves}) == 3
    assert np.diff(lightness).min() > 0.1


def test_a_rank_without_examples_has_no_curve(ax, sample):
    X, y = sample
    engine = Engine("cusum").fit(X, y)
    plot_thresholds(engine, X[y != 1], y[y != 1], ax)
    assert [text.get_text()[0] for text in ax.get_legend().get_texts()] == ["0", "2"]


def test_thresholds_of_equal_scores_are_drawn(ax):
    engine = Engine("prank").fit([[0.0], [0.0]], [1, 2])
    plot_thresholds(engine, np.zeros((5, 1)), [1, 2, 1, 2, 2], ax)
    assert np.isfinite([*ax.get_xlim(), *ax.get_ylim()]).all()


def test_density_counts_examples():
    grid = np.linspace(-10, 10, 400)
    values = np.random.default_rng(0).normal(size=500)
    curve = density(values, grid)
    assert curve.sum() * (grid[1] - grid[0]) == pytest.approx(500, rel=1e-3)
    assert grid[curve.argmax()] == pytest.approx(np.median(values), abs=0.4)
    assert np.abs(curve - 500 * np.exp(-grid**2 / 2) / np.sqrt(2 * np.pi)).max() < 0.15 * curve.max()


def test_weights_are_named_and_ordered_by_size(ax, sample):
    engine = Engine("prank", epochs=5).fit(*sample)
    plot_weights(engine, ax, top=3)
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    order = np.argsort(-np.abs(engine.coef_), kind="stable")[:3]
    assert names == [["age", "bmi", "bp", "dose"][j] for j in order]
    assert [patch.get_width() for patch in ax.patches] == engine.coef_[order].tolist()
    assert ax.get_title().startswith("Largest weights") and ax.yaxis_inverted()


def test_weights_of_every_direction_have_a_marker(ax, sample):
    engine = Engine("cusum", epochs=5).fit(*sample)
    plot_weights(engine, ax)
    rows = [line for line in ax.lines if line.get_linestyle() == "None"]
    order = np.argsort(-np.abs(engine.coef_).max(axis=0), kind="stable")
    assert [line.get_label() for line in rows] == [">= 1", ">= 2"]
    assert [line.get_xdata().tolist() for line in rows] == engine.coef_[1:, order].tolist()
    assert len({line.get_marker() for line in rows}) == 2


def test_columns_without_names_are_numbered(ax, sample):
    X, y = sample
    plot_weights(Engine("multiclass").fit(X.to_numpy(), y), ax)
    assert sorted(tick.get_text() for tick in ax.get_yticklabels()) == [f"x[{j}]" for j in range(4)]


def test_the_largest_weights_of_many_rows_are_bars_with_names_from_the_reader(ax):
    labels = [f"L{k}" for k in range(11)]
    engine = Engine("sequence", epochs=3).fit([[{"word": label}] for label in labels], [[label] for label in labels])
    plot_weights(engine, ax, top=4)
    order = np.argsort(-np.abs(engine.coef_).ravel(), kind="stable")[:4]
    rows, columns = np.unravel_index(order, engine.coef_.shape)
    assert [patch.get_width() for patch in ax.patches] == engine.coef_[rows, columns].tolist()
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [
        f"word:L{j} ({engine.classes_[k]})" for k, j in zip(rows, columns, strict=True)]


def test_what_cannot_be_drawn_is_answered(ax, sample):
    X, y = sample
    classes = Engine("multiclass").fit(X, y)
    with pytest.raises(DataError, match="multiclass .* predicts no ranks"):
        plot_thresholds(classes, X, y, ax)
    ranks = Engine("cusum").fit(X, y)
    with pytest.raises(DataError, match="y has 3 labels but X has 80 examples"):
        plot_thresholds(ranks, X, y[:3], ax)
    with pytest.raises(DataError, match="none of the labels"):
        plot_thresholds(ranks, X, y + 10, ax)
    with pytest.raises(NotFittedError):
        plot_learning_curve(Engine("cusum"), ax)


def test_new_axes_are_made_where_none_are_given(sample):
    import matplotlib.pyplot as plt

    with plt.rc_context():
        plt.switch_backend("agg")
        drawn = plot_learning_curve(Engine("cusum").fit(*sample))
        plt.close(drawn.figure)
    assert drawn.get_xlabel() == "epoch"


def test_without_matplotlib_the_extra_is_named(sample, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtra, match=r"needs matplotlib; install structperc\[plot\]"):
        plot_learning_curve(Engine("cusum").fit(*sample))


# ---- regions ----


@pytest.fixture
def plane():
    random = np.random.default_rng(2)
    X = random.uniform(-1, 1, size=(90, 2))
    return X, np.digitize(X @ [1.0, 2.0] + 0.1 * random.normal(size=90), [-1, 1]) + 1


def curves(ax):
    """The vertices of each line that parts or borders regions."""
    return [np.concatenate([path.vertices for path in lines.get_paths()]) for lines in ax.collections if not lines.filled]


def test_boundaries_and_margins_run_where_the_scores_say(ax, plane):
    X, y = plane
    model = PRank(random_state=0).fit(X, y)
    plot_boundary(model, X, y, ax=ax, margin=0.25)

    scores = [model.atom_scores(vertices)[:, k // 3] for k, vertices in enumerate(curves(ax))]
    assert [round(float(s.mean()), 6) for s in scores] == [0, -0.25, 0.25, 0, -0.25, 0.25] and max(np.ptp(s) for s in scores) < 1e-6
    assert ax.get_xlabel() == "x[0]" and ax.get_legend_handles_labels()[1] == [f"{k} ({(y == k).sum()})" for k in (1, 2, 3)]


class Slab:
    """What an estimator of large margins shows."""

    classes_, thresholds_, margins_, support_ = np.array([1, 2, 3]), np.array([-1.0, 1]), np.array([[-1.5, -0.5], [0.75, 1.25]]), [3, 5, 8]

    def decision_function(self, X):
        return X @ [1.0, 2.0]

    def predict(self, X):
        return 1 + (self.decision_function(X)[:, None] >= self.thresholds_).sum(axis=1)


def test_own_margins_and_support_rows_are_drawn(ax, plane):
    X, y = plane
    plot_boundary(Slab(), X, y, ax=ax)

    levels = [round(float(Slab().decision_function(vertices).mean()), 6) for vertices in curves(ax)]
    assert levels == [-1, -1.5, -0.5, 1, 0.75, 1.25]
    ringed = next(line for line in ax.lines if line.get_label() == "support (3)")
    assert ringed.get_xydata().tolist() == X[[3, 5, 8]].tolist()


@pytest.mark.parametrize("method", ["implicit", "sum-of-margins"])
def test_planes_of_large_margins_are_drawn(ax, plane, method):
    from structperc_large_margin.estimators import SVOR

    X, y = plane
    model = SVOR(method=method, kernel="polynomial", degree=2, gamma=1.0, coef0=1.0, C=10.0).fit(X, y)
    plot_boundary(model, X, y, ax=ax)

    drawn = [float(model.latent_score(vertices).mean()) for vertices in curves(ax)]
    (low, high), (b, c) = model.margins_, model.thresholds_
    assert np.allclose(drawn, [b, *low, c, *high], atol=1e-3 * np.ptp(model.latent_score(X)))
    ringed = next(line for line in ax.lines if line.get_label().startswith("support"))
    assert sorted(map(tuple, ringed.get_xydata())) == sorted(map(tuple, X[model.support_]))


def test_support_vectors_of_kernels_are_ringed(ax, plane):
    X, y = plane
    model = PRank(kernel="rbf", epochs=3, random_state=0).fit(X, y)
    plot_boundary(model, X[:10], y[:10], ax=ax)

    ringed = next(line for line in ax.lines if line.get_label().startswith("support"))
    assert ringed.get_xydata().tolist() == model.support_vectors_.tolist()


def test_regions_are_the_predictions_also_of_classes_and_of_stumps(plane):
    from structperc_boosting.estimators import AdaBoostOR

    X, y = plane
    names = np.array(["low", "middle", "high"])
    frame = pd.DataFrame(X, columns=["age", "bmi"])
    classes = StructuredClassifier(random_state=0).fit(frame, names[y - 1])
    for model, given, labels in ((classes, frame, names[y - 1]), (AdaBoostOR(n_estimators=10).fit(X, y), X, y)):
        ax = plot_boundary(model, given, labels, ax=Figure().subplots())
        filled = next(one for one in ax.collections if one.filled)
        grid = np.random.default_rng(0).uniform(X.min(axis=0), X.max(axis=0), size=(300, 2))
        predicted = model.predict(pd.DataFrame(grid, columns=frame.columns) if given is frame else grid).tolist()
        found = [next((label for label, path in zip(model.classes_.tolist(), filled.get_paths(), strict=True) if len(path.vertices)
                       and path.contains_point(point)), None) for point in grid]
        assert np.mean([a == b for a, b in zip(found, predicted, strict=True)]) > 0.95, "but for points between those of the grid"
    assert ax.get_xlabel() == "x[0]"


def test_regions_of_other_than_two_columns_are_refused(sample, plane):
    X, y = sample
    with pytest.raises(DataError, match=r"X has shape \(80, 4\) and the model knows 4 columns"):
        plot_boundary(CuSumRank(random_state=0).fit(X, y), X, y)
    X, y = plane
    model = CuSumRank(random_state=0).fit(X, y)
    with pytest.raises(DataError, match="y has 3 labels but X has 90 rows"):
        plot_boundary(model, X, y[:3])
    with pytest.raises(DataError, match="y holds none of the labels"):
        plot_boundary(model, X, np.full(90, 7))


def test_boundaries_of_classes_run_where_the_two_best_are_equal(ax, plane):
    X, y = plane
    model = StructuredClassifier(random_state=0).fit(X, np.array(["a", "b", "c"])[y - 1])
    plot_boundary(model, X, np.array(["a", "b", "c"])[y - 1], ax=ax)
    best = [np.sort(model.engine_.label_scores(vertices), axis=1) for vertices in curves(ax)]
    assert len(best) == 3 and all(np.allclose(scores[:, -1], scores[:, -2], atol=1e-2) for scores in best)


# ---- steps ----


@pytest.mark.parametrize("scale", [False, True])
def test_steps_are_those_of_training(plane, scale):
    X, y = plane
    engine = Engine("prank", epochs=3, shuffle=True, scale=scale, random_state=0).fit(X, y, history=True)
    panels = plot_steps(engine, X, y, steps=4)

    steps = [visit for visit in engine.history_ if visit.step is not None][:4]
    assert [ax.get_title() for ax in panels] == [f"visit {v.visit}: predicted {v.said}, right {v.gold}" for v in steps]
    at = (X - X.mean(axis=0)) / X.std(axis=0) if scale else X
    for ax, visit in zip(panels, steps, strict=True):
        np.testing.assert_allclose(ax.lines[-1].get_xydata(), at[[visit.example]])
    assert ("standardised" in panels[0].figure.get_suptitle()) == scale
    matplotlib.pyplot.close(panels[0].figure)


def test_steps_without_a_history_follow_the_rows_and_end_where_training_does(plane):
    X, y = plane
    model = StructuredClassifier(scale=False, epochs=2).fit(X[:4], [1, 1, 2, 2])
    panels = plot_steps(model, X[:4], [1, 1, 2, 2], steps=50)
    visits = [int(ax.get_title().split(":")[0].split()[1]) for ax in panels]
    assert 0 < len(panels) < 9 and visits == sorted(visits)
    matplotlib.pyplot.close(panels[0].figure)
    with pytest.raises(DataError, match="steps=0; expected a whole number"):
        plot_steps(model, X[:4], [1, 1, 2, 2], steps=0)
    with pytest.raises(DataError, match="X has 2 rows, but history_ has row 3"):
        plot_steps(Engine("prank").fit(X[:4], y[:4], history=True), X[:2], y[:2])


def test_steps_of_an_engine_that_is_not_fitted_are_those_of_its_copy(plane):
    X, y = plane
    engine = Engine("prank", epochs=3, random_state=0)
    panels, same = plot_steps(engine, X, y, steps=3), plot_steps(Engine("prank", epochs=3, random_state=0).fit(X, y), X, y, steps=3)
    assert [ax.get_title() for ax in panels] == [ax.get_title() for ax in same] and engine.model is None
    matplotlib.pyplot.close(panels[0].figure)
    matplotlib.pyplot.close(same[0].figure)
