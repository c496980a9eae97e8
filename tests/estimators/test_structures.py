"""Estimators of structures, for every problem that is installed: an example may have any number of rows, and its output any length."""

import numpy as np
import pytest
from invariances.cells import problems, quiet
from sklearn.model_selection import KFold, cross_val_predict

from structperc.estimators import DependencyParser, SequenceTagger, StructuredEstimator
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
