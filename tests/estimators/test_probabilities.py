"""Scores and probabilities of labels: their definitions, and their use in scikit-learn's tools."""

import numpy as np
import pytest
from plain import Engine
from reference.probabilities import cumulative
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_diabetes
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from structperc import hookimpl
from structperc.components import Argmax, ClassOutputs, LabelOutputs, RankOutputs, VectorFeatures
from structperc.errors import PluginError
from structperc.estimators import CuSumRank, IntervalPA, PRank, StructuredClassifier

ALL = (CuSumRank, PRank, IntervalPA, StructuredClassifier)
RANKS = ALL[:3]


@pytest.fixture(scope="module")
def data():
    X, progression = load_diabetes(return_X_y=True)
    return X / X.std(axis=0), np.digitize(progression, np.quantile(progression, [1 / 3, 2 / 3])) + 1


def softmax(scores):
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_scores_are_sums_over_the_atoms_of_each_label(make, kernel, data):
    X, y = data
    model = make(kernel=kernel, random_state=0).fit(X, y)

    atoms = model.atom_scores(X)
    scores = np.stack([atoms[:, :k].sum(axis=1) for k in range(3)], axis=1) if make in RANKS else atoms
    found = model.engine_.label_scores(X)
    assert np.allclose(found, scores, rtol=1e-12, atol=1e-12)
    assert np.array_equal(model.decision_function(X), model.predict_log_proba(X))
    expected = cumulative(scores, model.temperature_, model.spread_, 1e-3) if make in RANKS else softmax(scores / model.temperature_)
    assert np.allclose(model.predict_proba(X), expected, atol=0.01)
    assert np.allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    assert np.array_equal(model.classes_[found.argmax(axis=1)], model.predict(X))


@pytest.mark.parametrize("make", RANKS)
def test_probabilities_of_ranks_are_differences_of_marginals(make, data):
    X, y = data
    model = make(random_state=0).fit(X, y)

    above = np.stack(list(model.engine_.predict_marginals(X[:50])))             # P(y > rank) of every rank but the highest
    expected = -np.diff(above, axis=1, prepend=1, append=0)
    assert np.allclose(model.predict_proba(X[:50]), expected, atol=1e-12)


@pytest.mark.parametrize("make", ALL)
def test_two_labels_have_one_column_of_scores(make, data):
    X, y = data
    model = make(random_state=0).fit(X, y > 2)

    lead = model.decision_function(X)
    assert lead.shape == (len(X),) and np.array_equal(lead > 0, model.predict(X))
    assert np.allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-lead / model.temperature_)))
    assert roc_auc_score(y > 2, lead) == roc_auc_score(y > 2, model.predict_proba(X)[:, 1])


def test_logarithms_do_not_underflow():
    model = StructuredClassifier(random_state=0).fit([[-1.0], [1.0]], [1, 2])

    assert model.predict_proba([[1e9]])[0, 0] == 0
    assert -np.inf < model.predict_log_proba([[1e9]])[0, 0] < -1e8


class Growing:
    """Labels that count their atom as often as the first cell of the row."""

    name = "growing"

    class Features(VectorFeatures):
        def vectors(self, x):
            return np.eye(2)

    class Search(Argmax):
        def argmax(self, scores, x):
            return 1 + int(scores[1] > scores[0])

    class Labels(LabelOutputs):
        def count(self, x, y):
            return np.array([y == 1, y == 2]) * x.rows[0, 0]

    @hookimpl
    def structperc_outputs(self, context):
        return self.Labels()

    @hookimpl
    def structperc_features(self, context):
        return self.Features(2)

    @hookimpl
    def structperc_argmax(self, context):
        return self.Search()


def test_labels_may_count_atoms_by_their_example():
    X = np.array([[1.0], [2.0], [3.0]])
    engine = Engine(Growing()).fit(X, [1, 2, 2])

    atoms = np.asarray(engine.atom_scores(X))
    assert atoms.any() and np.array_equal(engine.label_scores(X), atoms * X)


class Twice(RankOutputs):
    """Ranks that count each of their atoms twice."""

    def count(self, x, y):
        return 2.0 * super().count(x, y)


@pytest.mark.parametrize("problem, own, factor", [("cusum", RankOutputs, 1), ("cusum", Twice, 2), ("multiclass", ClassOutputs, 1)])
def test_label_scores_and_marginals_are_sums_by_the_counts_of_labels(problem, own, factor):
    class Own:
        @hookimpl
        def structperc_outputs(self, context):
            return own()

    X = np.random.default_rng(0).normal(size=(30, 3))
    engine = Engine(problem, plugins=[Own()]).fit(X, np.arange(30) % 5)
    counts = factor * (np.eye(5) if problem == "multiclass" else np.tri(5, 4, -1))

    np.testing.assert_allclose(engine.label_scores(X), np.asarray(engine.atom_scores(X)) @ counts.T, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.stack(engine.predict_marginals(X)), engine.predict_proba(X) @ counts, rtol=1e-12, atol=1e-12)
    assert engine.predict_proba(X[3:4]).tobytes() == engine.predict_proba(X)[3].tobytes()


def test_outputs_that_are_no_labels_are_refused():
    engine = Engine("sequence").fit([[["a"], ["b"]]], [["A", "B"]])

    for ask in (engine.predict_proba, engine.label_scores):
        with pytest.raises(PluginError, match="not one label for each example .* predict_marginals"):
            ask([[["a"]]])


# ---- scikit-learn's tools ----


@pytest.mark.parametrize("make", ALL[::2])
def test_scikit_learns_tools_take_scores_and_probabilities(make, data):
    X, y = data
    X, y, model = X[:150], y[:150], make(random_state=0, epochs=3)

    assert 0.6 < cross_val_score(model, X, y, cv=3, scoring="roc_auc_ovr").mean() < 1
    assert 0.7 < cross_val_score(model, X, y > 2, cv=3, scoring="roc_auc").mean() < 1
    calibrated = CalibratedClassifierCV(make_pipeline(StandardScaler(), model), cv=3).fit(X, y)
    assert log_loss(y, calibrated.predict_proba(X)) < np.log(3)
    for method in ("predict_proba", "predict_log_proba", "decision_function"):
        assert cross_val_predict(model, X, y, cv=3, method=method).shape == (150, 3)
    shown = partial_dependence(model.fit(X, y), X, [2], grid_resolution=4)["average"]
    assert shown.shape == (3, 4) and (np.diff(shown[2]) > 0).all()             # a higher body mass index, a higher level
    assert OneVsRestClassifier(model).fit(X, y).score(X, y) > 0.5
    others = [("ours", model), ("theirs", LogisticRegression())]
    assert VotingClassifier(others, voting="soft").fit(X, y).score(X, y) > 0.5
    assert StackingClassifier(others, cv=3).fit(X, y).score(X, y) > 0.5
