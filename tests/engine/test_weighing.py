"""What examples weigh: sample weights as numbers of visits, weights of classes, and a warning where weights hardly act."""

import io
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain import Engine
from scipy import sparse
from sklearn.utils.class_weight import compute_sample_weight

from structperc import distributed
from structperc.components import Update
from structperc.errors import DataError, OptionError, UnusedOption, WeightWarning
from structperc.estimators import CuSumRank, IntervalPA, PRank, StructuredClassifier
from structperc.streams import Slices, fit_stream

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(240, 4))
Y = np.digitize(X @ [2, -1, 0.5, 0] + 1.5 * RANDOM.normal(size=240), [-1, 2.5]) + 1        # the highest rank is rare
WEIGHTS = RANDOM.choice([0, 0.3, 1, 2.5, 7], 240)
ESTIMATORS = (CuSumRank, PRank, IntervalPA, StructuredClassifier)
RULES = [(CuSumRank, rule) for rule in ("perceptron", "pa", "pa1", "pa2", "exact-pa", "exact-pa2", "log-loss")] + [
    (PRank, rule) for rule in ("perceptron", "exact-pa")] + [(IntervalPA, "exact-pa"), (StructuredClassifier, "pa2")]
VISITS = {"weighting": "visits", "shuffle": True, "random_state": 0}


class Watching(Update):
    """Keeps the number of every example visited, and its weight."""

    when = "always"

    def __init__(self):
        self.seen = []

    def step(self, trial):
        self.seen.append((trial.x.index, trial.weight))
        return trial.difference()


def visits(weights, epochs, shuffle, random_state=0):
    """How often each example is visited in each epoch, and all that were visited in their order."""
    watching = Watching()
    x, y = np.arange(float(len(weights)))[:, np.newaxis], np.arange(len(weights)) % 2
    Engine("multiclass", plugins=[watching], weighting="visits", epochs=epochs, shuffle=shuffle, random_state=random_state).fit(
        x, y, sample_weight=weights)
    assert {weight for _, weight in watching.seen} == {1.0}, "visits take the place of weighed steps"
    seen = np.array([i for i, _ in watching.seen]).reshape(epochs, -1)
    return np.array([np.bincount(epoch, minlength=len(weights)) for epoch in seen]), seen


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from([0, 0.01, 0.5, 1, 1.5, 3, 40]), min_size=3, max_size=40).filter(any), st.booleans())
def test_visits_of_an_epoch_are_as_weights_say(weights, shuffle):
    weights = np.array(weights)
    expected = weights * np.count_nonzero(weights) / weights.sum()
    counts, seen = visits(weights, 3, shuffle)
    assert (counts >= np.floor(expected - 1e-9)).all() and (counts <= np.ceil(expected + 1e-9)).all()
    assert (counts.sum(axis=1) == np.count_nonzero(weights)).all(), "an epoch has as many visits as examples with a weight"
    if not shuffle and len(set(weights[weights > 0])) == 1:
        assert (np.diff(seen, axis=1) > 0).all(), "file order"


def test_visits_are_unbiased_and_spread_over_the_epoch():
    weights = np.array([0.2, 0.7, 1, 8, 0.1, 2] * 4)
    counts, _ = visits(weights, 400, True)
    np.testing.assert_allclose(counts.mean(axis=0), weights * 24 / weights.sum(), atol=0.1)
    _, seen = visits(np.array([1.0] * 11 + [5] * 1), 5, False)
    for epoch in seen:
        places = np.flatnonzero(epoch == 11)
        assert len(places) > 2 and np.diff(places).min() >= 2, "not one after the other"


@pytest.mark.parametrize("make", ESTIMATORS)
def test_equal_weights_are_none_and_zero_is_absence(make):
    options, kept = {"random_state": 0, "epochs": 3, "scale": False, "classes": [1, 2, 3]}, Y != 2
    plain = make(**options).fit(X, Y)
    for equal in (1.0, 7.3, 1e-300):
        again = make(**options).fit(X, Y, sample_weight=np.full(len(Y), equal))
        assert np.array_equal(again.atom_scores(X), plain.atom_scores(X))
    absent, without = make(class_weight={2: 0}, **options).fit(X, Y), make(**options).fit(X[kept], Y[kept])
    assert np.array_equal(absent.atom_scores(X), without.atom_scores(X))


@pytest.mark.parametrize(("make", "update"), RULES)
def test_a_rare_class_is_found_more_often_the_more_it_weighs(make, update):
    found = []
    for weight in (0.1, 1, 10, 100):
        model = make(update=update, loss_weight=float(update in ("pa", "pa1", "pa2")), epochs=10, random_state=0, class_weight={3: weight})
        found.append(int((model.fit(X, Y).predict(X) == 3).sum()))
    assert found == sorted(found) and found[-1] >= found[0] + 60, found
    if make is not StructuredClassifier and make is not CuSumRank:
        assert (np.diff(model.thresholds_) >= 0).all()


@pytest.mark.parametrize("make", ESTIMATORS)
def test_class_weights_are_sample_weights(make):
    def fitted(sample_weight=None, **options):
        return make(**{"random_state": 1, "epochs": 3, "scale": False} | options).fit(X, Y, sample_weight=sample_weight).atom_scores(X)

    balanced = compute_sample_weight("balanced", Y)
    np.testing.assert_array_equal(fitted(class_weight="balanced"), fitted(balanced))
    np.testing.assert_array_equal(fitted(class_weight={1: 0.5, 3: 4}), fitted(np.choose(Y - 1, [0.5, 1, 4])))
    np.testing.assert_array_equal(fitted(WEIGHTS, class_weight={3: 4}), fitted(np.where(Y == 3, 4, 1) * WEIGHTS))
    np.testing.assert_array_equal(fitted(class_weight={"1": 0.5, "3": 4.0}), fitted(class_weight={1: 0.5, 3: 4}))


def test_labels_that_are_text_and_intervals():
    text = np.array(["none", "mild", "severe"])[Y - 1]
    order = ["none", "mild", "severe"]
    named = CuSumRank(classes=order, class_weight={"severe": 30}, random_state=0).fit(X, text)
    assert np.array_equal(named.atom_scores(X), CuSumRank(class_weight={3: 30}, random_state=0).fit(X, Y).atom_scores(X))
    with pytest.raises(OptionError, match="class_weight names 'sever', which is none of the labels .* Did you mean 'severe'"):
        CuSumRank(classes=order, class_weight={"sever": 30}).fit(X, text)

    low, high = np.maximum(Y - RANDOM.integers(0, 2, len(Y)), 1), np.minimum(Y + RANDOM.integers(0, 2, len(Y)), 3)
    of = np.array([0.5, 1, 4])
    means = np.array([of[a - 1:b].mean() for a, b in zip(low, high, strict=True)])
    ends, fixed = np.column_stack([low, high]), {"random_state": 0, "classes": [1, 2, 3], "scale": False}
    by_class, by_hand = IntervalPA(class_weight={1: 0.5, 3: 4}, **fixed).fit(X, ends), IntervalPA(**fixed).fit(X, ends, sample_weight=means)
    np.testing.assert_allclose(by_class.thresholds_, by_hand.thresholds_, rtol=1e-6)
    share = np.array([[(a <= k <= b) / (b - a + 1) for k in (1, 2, 3)] for a, b in ends])
    means = (share * (len(Y) / 3 / share.sum(axis=0))).sum(axis=1)
    balanced = IntervalPA(class_weight="balanced", **fixed).fit(X, ends)
    np.testing.assert_allclose(balanced.thresholds_, IntervalPA(**fixed).fit(X, ends, sample_weight=means).thresholds_, rtol=1e-6)


@pytest.mark.parametrize("update", ["pa2", "perceptron"])
def test_kernel_weights_are_those_of_the_linear_model(update):
    options = {"update": update, "epochs": 4, "average": True, **VISITS}
    primal = Engine("cusum", **options).fit(X, Y, sample_weight=WEIGHTS)
    dual = Engine("cusum", plugins=["dual-kernel"], kernel="linear", **options).fit(X, Y, sample_weight=WEIGHTS)
    assert dual.mistakes_ == primal.mistakes_
    np.testing.assert_allclose(dual.atom_scores(X), primal.atom_scores(X), rtol=1e-6, atol=1e-6)


def test_a_stream_compares_weights_with_all_before():
    def part(k):
        return X[80 * k:80 * k + 80], Y[80 * k:80 * k + 80]

    def learned(weight, saved=False):
        engine = Engine("cusum", classes=[1, 2, 3], update="pa2", average=True, **VISITS)
        watched = []
        for k in range(3):
            engine.partial_fit(*part(k), sample_weight=weight[k])
            watched.append(engine.parts_.weights.n_visited)
            if saved:
                buffer = io.BytesIO()
                engine.save(buffer)
                engine = Engine.load(io.BytesIO(buffer.getvalue()))
        return engine, np.diff([0, *watched]).tolist()

    plain, _ = learned([None, None, None])
    same, visited = learned([2.0, 2.0, 2.0])
    assert np.array_equal(plain.coef_, same.coef_) and visited == [80, 80, 80]
    later, visited = learned([1.0, 4.0, None])                      # 160 examples of mean weight 2.5, then 240 of mean weight 2
    assert visited == [80, 128, 40]
    assert np.array_equal(later.coef_, learned([1.0, 4.0, None], saved=True)[0].coef_)
    before, weighed = later.coef_.copy(), later.model_.visit_totals
    with pytest.raises(DataError, match="not one of the labels"):
        later.partial_fit(X[:3], [1, 2, 9], sample_weight=[1, 2, 3])
    assert np.array_equal(later.coef_, before) and later.model_.visit_totals == weighed


def test_what_cannot_act_is_refused():
    with pytest.raises(OptionError, match="class_weight='balanced' counts the labels of all examples, which partial_fit does not see"):
        CuSumRank(class_weight="balanced").partial_fit(X, Y)
    with pytest.raises(OptionError, match="class_weight weighs examples by the one label that each has, .* a matrix, loss="):
        Engine("sequence", class_weight={"A": 2}).fit([[["a"], ["b"]]], [["A", "B"]])
    with pytest.raises(UnusedOption, match="weighting='visits' has no effect with trainer='bcfw'"):
        Engine("multiclass", trainer="bcfw", plugins=["batch"], weighting="visits").fit(X, Y)
    for wrong in ("balance", {}, {1: -1}, {1: True}, {1: "2"}, [1, 2]):
        with pytest.raises(OptionError, match="class_weight"):
            Engine("cusum", class_weight=wrong)
    with pytest.raises(DataError, match="the sum of sample_weight overflows"):
        CuSumRank().fit(X, Y, sample_weight=np.full(len(Y), 1e307))
    with pytest.raises(DataError, match="all sample weights are zero"):
        CuSumRank(class_weight={1: 0, 2: 0, 3: 0}).fit(X, Y)


def test_batch_training_has_class_weights_too():
    def solved(**options):
        return Engine("multiclass", trainer="bcfw", plugins=["batch"], C=0.05, epochs=50, random_state=0, **options)

    by_class = solved(class_weight="balanced").fit(X, Y)
    assert np.array_equal(by_class.coef_, solved().fit(X, Y, sample_weight=compute_sample_weight("balanced", Y)).coef_)
    model = StructuredClassifier(trainer="bcfw", plugins=["batch"], C=0.05, class_weight={3: 100}).fit(X, Y)
    assert (model.predict(X) == 3).mean() > 0.5


@pytest.mark.parametrize(("update", "C", "warned"), [("pa2", 1.0, True), ("pa2", 0.001, False), ("pa1", 100.0, True), ("pa1", 0.01, False),
                                                     ("perceptron", 1.0, False)])
def test_a_warning_where_weights_scale_a_large_C(update, C, warned):
    weight = np.where(Y == 3, 100.0, 1.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Engine("cusum", update=update, C=C).fit(X, Y, sample_weight=weight)
        Engine("cusum", update=update, C=C, **VISITS).fit(X, Y, sample_weight=weight)
        Engine("cusum", update=update, C=C).fit(X, Y, sample_weight=np.full(len(Y), 3.0))
    assert [one.category for one in caught] == [WeightWarning] * warned
    if warned:
        assert "from 1 to 100 hardly change the steps" in str(caught[0].message) and "weighting='visits'" in str(caught[0].message)


def test_probabilities_follow_the_weights():
    """As those of any model of reweighed data: the rare class is as probable as it weighs."""
    plain, heavy = (CuSumRank(random_state=0, calibrate=True, class_weight=weight).fit(X, Y) for weight in (None, {3: 20}))
    assert heavy.predict_proba(X)[:, 2].mean() > 2 * plain.predict_proba(X)[:, 2].mean()


ODD = pd.DataFrame({"a": X[:, 0] * np.where(Y == 3, 50, 1), "b": np.where(RANDOM.random(240) < 0.1, np.nan, X[:, 1]) + 1000 * (Y == 3),
                    "g": np.where(Y == 3, "z", RANDOM.choice(list("pqr"), 240))})
BY_LABEL = np.argsort(-Y, kind="stable")
TABLE = {"fill": {"b": "median"}, "one_hot": ["g"]}


def what_it_learned(engine):
    """Weights, temperature, means, scales, and the levels and medians of columns."""
    model = engine.model_
    scale = () if model.scaling is None else (model.scaling.mean.tolist(), model.scaling.spread.tolist())
    return (engine.coef_.tolist(), model.temperature, model.spread, np.asarray(model.means).tolist(), scale,
            [str(code) for code in model.parts.reader.input_columns().codes or ()])


def chunks(engine, X, y, weights):
    for i in range(0, 240, 60):
        engine.partial_fit(X[i:i + 60], y[i:i + 60], sample_weight=None if weights is None else weights[i:i + 60])
    return engine


def slices(X, y, weights):
    return Slices(X, y, rows=60, **{} if weights is None else {"sample_weight": weights})


def parts(engine, X, y, weights):
    engine.n_shards = 2
    pieces = slices(X, y, weights)
    return distributed.fit(engine, [pieces[i] for i in range(len(pieces))])


DOORS = {"fit": lambda engine, X, y, weights: engine.fit(X, y, sample_weight=weights), "partial_fit": chunks,
         "stream": lambda engine, X, y, weights: fit_stream(engine, slices(X, y, weights)), "Dask": parts}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("scale", ["auto", False])
@pytest.mark.parametrize(("door", "X", "in_order"), [*((door, ODD, False) for door in DOORS), ("fit", sparse.csr_array(X), False),
                                                  ("stream", X, True), ("stream", ODD, True), ("Dask", ODD, True)])
def test_rows_of_a_class_without_weight_decide_nothing(door, X, in_order, scale):
    """They are as rows of weight 0: for scales, medians, means and the temperature, also where they come first."""
    order = BY_LABEL if in_order else np.arange(240)
    X, y = X.iloc[order].reset_index(drop=True) if X is ODD else X[order], Y[order]
    options = {"classes": [1, 2, 3], "scale": scale, "epochs": 2, "random_state": 0} | (
        {"plugins": ["table"], **TABLE} if hasattr(X, "columns") else {})
    by_class, by_row = (what_it_learned(DOORS[door](Engine("cusum", class_weight=weight, **options), X, y, rows))
                        for weight, rows in (({3: 0}, None), (None, (y < 3) * 1.0)))
    assert by_class == by_row


@pytest.mark.parametrize("kernel", ["rbf", "perceptron"])
def test_rows_of_weight_0_do_not_decide_the_width_of_a_kernel(kernel):
    wild = X * np.where(Y == 3, 30, 1)[:, None]
    options = {"classes": [1, 2, 3], "plugins": ["dual-kernel"], "kernel": kernel}
    for scale in ("auto", False):
        left_out = Engine("cusum", scale=scale, **options).fit(wild[Y < 3], Y[Y < 3]).label_scores(X)
        for by_class, weights in ((None, Y < 3), ({3: 0}, None)):
            engine = Engine("cusum", scale=scale, class_weight=by_class, **options)
            assert np.array_equal(engine.fit(wild, Y, sample_weight=weights).label_scores(X), left_out)


def test_data_of_which_no_class_has_a_weight_are_named():
    with pytest.raises(DataError, match="all sample weights are zero"):
        Engine("cusum", class_weight={1: 0, 2: 0, 3: 0}).fit(X, Y)
    with pytest.raises(DataError, match="all sample weights are zero"):
        fit_stream(Engine("cusum", class_weight={1: 0, 2: 0, 3: 0}, classes=[1, 2, 3]), Slices(X, Y, rows=60))


@pytest.mark.parametrize("weight", [Fraction(10**400), 10**400, np.inf, np.nan, -1, True])
def test_weights_of_labels_are_numbers_that_a_float_holds(weight):
    with pytest.raises(OptionError, match=r"class_weight gives 1 the weight .*; expected a finite number, at least 0"):
        Engine("cusum", class_weight={1: weight})
