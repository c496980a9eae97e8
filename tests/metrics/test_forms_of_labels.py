"""Labels mean the same in every form: of pyarrow, in columns with gaps, with labels that are not known."""

import numpy as np
import pytest

from structperc import Engine
from structperc.errors import DataError
from structperc.estimators import SequenceTagger
from structperc.metrics import (
    accuracy,
    compare,
    interval_absolute_error,
    losses,
    macro_f1,
    mean_interval_width,
    measures,
    phrase_f1,
    token_measures,
    unseen_labels,
)

FORMS = {
    "array": lambda arrow, y: arrow.array(y),
    "chunks": lambda arrow, y: arrow.chunked_array([y[:2], y[2:]]),
    "scalars": lambda arrow, y: list(arrow.array(y)),
    "arrays": lambda arrow, y: [arrow.array(one) if isinstance(one, list) else arrow.scalar(one) for one in y],
}
ROWS = np.array([[0.0], [1.0], [1.0], [0.0], [0.0], [1.0]])
SENTENCES = [ROWS[:2], ROWS[2:3], ROWS[3:]]
CASES = {       # a problem, its options, X and y
    "texts": ("multiclass", {}, ROWS, ["cat", "a", "a", "cat", "cat", "a"]),
    "truth": ("multiclass", {}, ROWS, [False, True, True, False, False, True]),
    "ranks": ("cusum", {}, ROWS, [1, 2, 2, 1, 1, 3]),
    "unrated": ("interval-pa", {"unrated": "skip"}, ROWS, [1, 2, None, 1, 1, 2]),
    "intervals": ("interval-pa", {}, ROWS, [[1, 1], [2, 3], [2, 2], [1, 2], [1, 1], [3, 3]]),
    "sentences": ("sequence", {}, SENTENCES, [["D", "N"], ["N"], ["D", None, "N"]]),
    "tokens": ("sequence", {}, ROWS, ["D", "N", "N", "D", None, "N"]),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("form", FORMS)
def test_outputs_of_pyarrow_are_pythons_at_every_door(form, case):
    arrow = pytest.importorskip("pyarrow")
    problem, options, X, y = CASES[case]
    given, lengths = FORMS[form](arrow, y), [2, 1, 3] if case == "tokens" else None

    def made():
        return Engine(problem, **options, epochs=3, random_state=0)

    engine, other = (made().fit(X, labels, lengths=lengths) for labels in (y, given))
    once, again = (made().partial_fit(X, labels, lengths=lengths) for labels in (y, given))
    for one, same in ((engine, other), (once, again)):
        assert same.classes_.tolist() == one.classes_.tolist() and np.array_equal(same.coef_, one.coef_)
    for measured in (lambda labels: losses(engine, X, labels, lengths=lengths).tolist(),
                     lambda labels: measures(engine, X, labels, lengths=lengths),
                     lambda labels: str(compare(engine, once, X, labels, lengths=lengths))):
        assert measured(given) == measured(y)


@pytest.mark.parametrize("form", FORMS)
def test_measures_of_labels_of_pyarrow(form):
    arrow = pytest.importorskip("pyarrow")
    tags, predicted = ["B-x", "I-x", "O", "B-y"], [["B-x", "I-x", "O", "O"]]
    flat, nested = FORMS[form](arrow, tags), FORMS[form](arrow, [tags, []][:1])
    for given in (flat, nested):
        assert token_measures(given, predicted) == token_measures(tags, predicted)
        assert unseen_labels(given, FORMS[form](arrow, ["O", "B-x"])) == {"I-x": 1, "B-y": 1}
    assert phrase_f1(nested, predicted) == phrase_f1([tags], predicted)
    assert accuracy(flat, predicted[0]) == 0.75 and macro_f1(tags, flat) == 1
    assert interval_absolute_error(FORMS[form](arrow, [1, 2, 4, 3]), [1, 2, 2, 3]) == 0.5
    assert mean_interval_width(FORMS[form](arrow, [[1, 1], [1, 2]])) == 1.5


@pytest.mark.parametrize("missing", ["None", "nan", "<NA>"])
def test_other_measures_name_the_place_of_a_missing_label(missing):
    pandas = pytest.importorskip("pandas")
    given = ["D", {"None": None, "nan": float("nan"), "<NA>": pandas.NA}[missing], "N"]
    for measure in (accuracy, macro_f1):
        for labels in ((given, ["D", "N", "N"]), (["D", "N", "N"], given)):
            with pytest.raises(DataError, match=rf"y_(true|pred)\[1\] is {missing}, which is no label"):
                measure(*labels)


def test_tokens_with_a_missing_label_are_not_counted():
    pandas = pytest.importorskip("pandas")
    flat = ["D", None, "N", "D", None]
    nested = [["D", "x"], ["N", "N", "x"]]
    expected = {"token accuracy": 2 / 3, "whole sentences right": 0.5}
    columns = [flat, pandas.Series(flat), pandas.Series(flat).astype("category"), pandas.Series(flat, dtype="string"),
               pandas.Series(flat, dtype=object), np.array(flat, dtype=object)]
    for given in columns:
        assert token_measures(given, nested) == expected
        assert unseen_labels(given, ["D"]) == {"N": 1}
    for given in ([1, None, 2], pandas.Series([1, None, 2]), pandas.Series([1, None, 2], dtype="Int64")):
        assert token_measures(given, [[1, 7, 7]]) == {"token accuracy": 0.5, "whole sentences right": 0}


@pytest.mark.parametrize("missing", ["nan", "NA"])
def test_engines_name_the_place_of_a_missing_label_that_is_not_none(missing):
    pandas = pytest.importorskip("pandas")
    engine = Engine("sequence", epochs=3, random_state=0).fit(SENTENCES, [["D", "N"], ["N"], ["D", "D", "N"]])
    y = pandas.Series(["D", "N", "N", None, "D", "N"], dtype="string" if missing == "NA" else "category")
    for call in (measures, losses, lambda *given, **named: compare(engine, *given, **named)):
        with pytest.raises(DataError, match=rf"y\[3\] is <?{missing}>?, which is no label"):
            call(engine, ROWS, y, lengths=[2, 1, 3])


def test_a_tagger_scores_a_column_of_pyarrow():
    arrow = pytest.importorskip("pyarrow")
    X, y = [[["w=a"], ["w=b"]], [["w=b"]]], ["D", "N", "N"]
    tagger = SequenceTagger(epochs=3, random_state=0).fit(X, arrow.array(y))
    assert tagger.score(X, arrow.array(y)) == tagger.score(X, [["D", "N"], ["N"]]) == 1
