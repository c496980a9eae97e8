"""Estimators of structures, for every problem that is installed: an example may have any number of rows, and its output any length."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from invariances.cells import problems, quiet
from sklearn.base import clone
from sklearn.model_selection import KFold, cross_val_predict

from structperc.estimators import (
    DependencyParser,
    GraphLabeler,
    LatentRanker,
    PairClusterer,
    PairMatcher,
    RankingSVM,
    SequenceTagger,
    StructuredEstimator,
)
from structperc.testing.case import make_case


def structures(problem):
    """Examples as a list of arrays, their outputs and an estimator; None where an example is a row."""
    case = make_case(problem, (), {}, 0)
    X, y, offsets = case.taught.X, list(case.taught.y)[:6], case.taught.offsets
    if offsets is None and not isinstance(X, list):
        return None
    blocks = X[:6] if offsets is None else [X[a:b] for a, b in zip(offsets[:6], offsets[1:7], strict=True)]
    classes, options = case.engine().classes, case.engine().plugin_options
    return blocks, y, StructuredEstimator(problem=problem, classes=classes, plugin_options=options, epochs=2, random_state=0)


STRUCTURES = {problem: found for problem in problems() if (found := structures(problem)) is not None}


@pytest.mark.parametrize("equal", [False, True], ids=["unequal lengths", "equal lengths"])
@pytest.mark.parametrize("problem", STRUCTURES)
def test_cross_val_predict_joins_the_outputs_of_folds(problem, equal):
    X, y, estimator = STRUCTURES[problem]
    if equal:
        X, y = [X[0]] * len(X), [y[0]] * len(y)
    joined = quiet(cross_val_predict, estimator, X, y, cv=KFold(2))
    by_fold = [output for a, b in ((slice(3, 6), slice(3)), (slice(3), slice(3, 6)))
               for output in quiet(estimator.fit, X[a], y[a]).predict(X[b])]
    assert joined.shape == (6,)
    assert list(map(repr, joined)) == list(map(repr, by_fold))


def test_cross_val_predict_joins_trees_and_their_k_best():
    X, y = [[("dogs", "N"), ("bark", "V")], [("bark", "V")]] * 2, [[(2, "subject"), (0, "root")], [(0, "root")]] * 2
    parser = DependencyParser(epochs=2, labels="joint")
    for part in (slice(None), slice(0, None, 2)):           # of unequal and of equal length
        assert cross_val_predict(parser, X[part], y[part], cv=2).tolist() == y[part]
    predicted = parser.fit(X, y).predict(X, k=2)
    assert isinstance(predicted, list)
    assert np.asarray(predicted).shape == (4,)
    assert [best[0] for best in predicted] == y


def test_numpy_takes_predictions_for_one_output_in_each_entry():
    X, y = [[["the"], ["dog"]], [["a"], ["cat"]]], [["D", "N"], ["D", "N"]]
    for model in (SequenceTagger(random_state=0), StructuredEstimator(problem="sequence", random_state=0)):
        predicted, several = model.fit(X, y).predict(X), model.predict(X, k=2)
        assert isinstance(predicted, list)
        assert predicted == y
        assert np.asarray(predicted).shape == np.asarray(several).shape == (2,)


def in_objects(X):
    """A one-dimensional array with an example in each entry."""
    array = np.empty(len(X), dtype=object)
    for i, x in enumerate(X):
        array[i] = x
    return array


def in_series(X):
    """The same in a Series whose index does not begin with 0, as that of a fold."""
    return pd.Series(list(X), index=range(7, 7 + len(X)))


FORMS = {"tuple": tuple, "array of objects": in_objects, "Series": in_series}


def alike(estimator, X, y, form):
    """Whether an estimator learns and predicts the same of a list of examples and of another form."""
    one, other = (quiet(clone(estimator).fit, given, y) for given in (X, form(X)))
    return list(map(repr, one.predict(X[::-1]))) == list(map(repr, other.predict(form(X[::-1]))))


@pytest.mark.parametrize("problem", STRUCTURES)
def test_examples_in_any_form_of_a_list(problem):
    X, y, estimator = STRUCTURES[problem]
    for name, form in FORMS.items():
        assert alike(estimator, X, y, form), name
    for dtype in (float, object):               # of equal length: an array of a dimension more
        assert alike(estimator, X[:1] * 2, y[:1] * 2, partial(np.array, dtype=dtype)), dtype
    trained = quiet(clone(estimator).fit, np.array(X[:1] * 2), y[:1] * 2)
    for form in (*FORMS.values(), np.array):
        assert not len(trained.predict(form(X[:1] * 2)[:0]))


RANDOM = np.random.default_rng(0)
PAIRS = RANDOM.normal(size=(4, 3, 3, 2)).round(2)
GRAPHS = [(RANDOM.normal(size=(n, 2)), np.array([[0, 1], [1, 2]])) for n in (3, 4, 3)]
TYPED = [pd.DataFrame({"cost": RANDOM.normal(size=2), "left": ["ann", "bob"], "right": ["eve", "joe"]}) for _ in range(3)]


@pytest.mark.parametrize("form", [*FORMS.values(), np.array], ids=[*FORMS, "array"])
def test_tables_of_pairs_and_images_in_any_form_of_a_list(form):
    options = {"epochs": 2, "random_state": 0}
    assert alike(PairMatcher(**options), list(PAIRS), [[(0, 0), (1, 1)]] * 4, form)
    assert alike(PairClusterer(**options), list(PAIRS), [[0, 0, 1]] * 4, form)
    assert alike(GraphLabeler(**options), list(PAIRS), [["a", "b", "a"] * 3] * 4, form)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_graphs_records_and_data_frames_in_any_form_of_a_list(form):
    options = {"epochs": 2, "random_state": 0}
    assert alike(GraphLabeler(**options), GRAPHS, [["a", "b", "a"], ["a", "b", "a", "b"], ["a", "b", "b"]], form)
    records = [(left, right) for left, _ in GRAPHS for right, _ in GRAPHS]
    assert alike(PairMatcher(comparison=distances, **options), records, [[(0, 0)]] * 9, form)
    assert alike(PairMatcher(**options), TYPED, [[("ann", "eve")]] * 3, form)


def distances(left, right):
    return np.abs(left[:, None] - right[None])


@pytest.mark.parametrize("form", [*FORMS.values(), np.array], ids=[*FORMS, "array"])
def test_rankers_take_queries_in_any_form_of_a_list(form):
    X, y = RANDOM.normal(size=(6, 4, 2)), [[3, 2, 1, 0]] * 6
    for ranker in (LatentRanker(random_state=0), LatentRanker(n_iter_no_change=2, random_state=0), RankingSVM()):
        one, other = (quiet(clone(ranker).fit, given, y) for given in (list(X), form(X)))
        assert one.predict(list(X)).tolist() == other.predict(form(X)).tolist()


def test_labels_in_a_series_belong_to_their_place_where_sentences_are_held_out():
    X, y = [[["the"], ["dog"]], [["dog"], ["the"]]] * 4, [["D", "N"], ["N", "D"]] * 4
    tagger = SequenceTagger(n_iter_no_change=2, random_state=0)
    shuffled = pd.Series(y, index=range(len(y), 0, -1))
    assert clone(tagger).fit(X, shuffled).coef_.tolist() == clone(tagger).fit(X, y).coef_.tolist()
