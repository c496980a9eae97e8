"""What notebooks show of engines, estimators and histories: small, escaped, closed, and scikit-learn's diagrams still work."""

import re
from html import escape

import numpy as np
import pandas as pd
import pytest
from pages import checked
from plain import Engine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

from structperc import estimators
from structperc.callbacks import History
from structperc.estimators import (
    CuSumRank,
    LatentRanker,
    OrdinalConformal,
    PRank,
    RankingSVM,
    ScoreCard,
    SequenceTagger,
    StructuredClassifier,
)

HOSTILE = "<script>alert('1')</script>\"&\x07"


@pytest.fixture(scope="module")
def hostile():
    """Names of columns and labels that are HTML."""
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 4))
    labels = np.array(["none", HOSTILE, "severe"])[np.digitize(X @ [1, 2, 0, 0.3] + random.normal(size=80), [-1, 1])]
    return pd.DataFrame(X, columns=["age", "<b onclick='1'>", HOSTILE, "s1"]), labels, ["none", HOSTILE, "severe"]


def test_engines_say_options_training_and_weights(hostile):
    X, y, classes = hostile
    assert " — not trained yet" in checked(Engine("cusum", epochs=3)._repr_html_())
    engine = Engine("cusum", update="pa2", epochs=5, classes=classes).fit(X, y)
    texts = checked(engine._repr_html_())
    said = {"Engine('cusum')", " — trained for 5 epochs, max_epochs", "update", "'pa2'", "mistakes in each epoch", "largest weights"}
    assert said <= set(texts)
    assert f"{engine.mistakes_[-1]} in epoch 5" in texts and "columns" in texts and "4" in texts
    largest = max((abs(w), w) for w in engine.coef_.ravel())[1]
    assert texts[texts.index("weight") + 3] == f"{largest:+.4g}"
    assert any("alert" in text and "\\x07" in text for text in texts) and "<script" not in engine._repr_html_()


@pytest.mark.parametrize("make", [
    lambda X, y, classes: CuSumRank(epochs=200, classes=classes).fit(X, y), lambda X, y, classes: PRank(classes=classes).fit(X, y),
    lambda X, y, classes: StructuredClassifier(kernel="rbf", epochs=2).fit(X, y), lambda X, y, classes: CuSumRank(),
    lambda X, y, classes: OrdinalConformal(PRank(), classes=classes).fit(X, y), lambda X, y, classes: RankingSVM(C=2.0),
    lambda X, y, classes: LatentRanker(k=1, epochs=2).fit(X, y == "none", groups=np.arange(80) // 8),
    lambda X, y, classes: SequenceTagger(epochs=2).fit([[[HOSTILE]]] * 2, [[HOSTILE], ["a"]]),
    lambda X, y, classes: StructuredClassifier(problem="cusum", classes=list(range(500))).fit(np.ones((4, 900)), [1, 2, 3, 499]),
], ids=["cusum", "prank", "kernel", "untrained", "conformal", "svm", "ranker", "tagger", "large"])
def test_estimators_show_their_parameters_and_their_training(make, hostile):
    model = make(*hostile)
    texts = checked(model._repr_html_())
    assert texts[1] == type(model).__name__
    assert all(name in texts for name in model._changed())
    assert ("all options at their defaults" in texts) == (not model._changed())
    assert any(text.startswith(" — trained for") for text in texts) == ("engine_" in vars(model))


def test_score_cards_show_their_points_and_intervals_their_quantile():
    X = np.random.default_rng(0).uniform(size=(200, 2))
    y = np.digitize(X[:, 0], [0.3, 0.6]) + 1
    card = ScoreCard(PRank(random_state=0), max_points=10)
    intervals = OrdinalConformal(PRank(random_state=0), coverage=0.8, random_state=0)
    assert "points" not in re.sub("max_points", "", card._repr_html_()) and "held-out" not in intervals._repr_html_()

    assert escape(card.fit(X, y).to_text()) in card._repr_html_()
    shown = intervals.fit(X, y)._repr_html_()
    assert "at least 0.8." in shown and f"{intervals.quantile_:.3g}, the quantile of {intervals.n_calibration_} held-out rows" in shown


def test_diagrams_of_scikit_learn_show_our_step_with_its_parameters(hostile):
    X, y, classes = hostile
    for model in (make_pipeline(StandardScaler(), CuSumRank(epochs=7, classes=classes)), CuSumRank(epochs=7, classes=classes)):
        for shown in (estimator_html_repr(model), estimator_html_repr(model.fit(X.to_numpy(), y))):
            assert "CuSumRank" in shown and re.search(r"epochs.*7", shown, re.DOTALL) and "<script>alert" not in shown
    assert "PRank" in estimator_html_repr(OrdinalConformal(PRank(epochs=3)))


def test_histories_show_their_epochs(hostile):
    X, y, _ = hostile
    history = History()
    assert " — no epoch yet" in checked(history._repr_html_())
    Engine("multiclass", epochs=500, plugins=[history]).fit(X, y)
    texts = checked(history._repr_html_())
    assert " — 500 epochs of 80 examples" in texts and {"epoch", "mistakes", "loss"} <= set(texts)


def test_colours_are_the_readers_own(hostile):
    X, y, classes = hostile
    for html in (Engine("cusum", classes=classes).fit(X, y)._repr_html_(), estimators.PRank()._repr_html_()):
        assert "prefers-color-scheme:dark" in html and not re.search(r"(?:fill|stroke|color)=\"#", html)
