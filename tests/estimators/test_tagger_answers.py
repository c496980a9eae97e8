"""SequenceTagger: k best outputs, marginals, reasons, and the names of what was learned."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import softmax

from structperc.errors import DataError, OptionError
from structperc.estimators import SequenceTagger

LABELS = ["B", "I", "O"]


def made(**options):
    return SequenceTagger(random_state=0, **options)


def total(model, block, labels):
    """The score of an output, from the fitted attributes of the model."""
    codes = [model.classes_.tolist().index(label) for label in labels]
    tokens = block @ model.coef_.T + model.intercept_
    pairs = sum(model.transition_scores_[a, b] for a, b in itertools.pairwise(codes))
    return sum(tokens[t, code] for t, code in enumerate(codes)) + pairs + model.start_scores_[codes[0]] + model.end_scores_[codes[-1]]


def every_output(model, block):
    """All outputs of a sentence and their scores, best first."""
    outputs = [list(labels) for labels in itertools.product(model.classes_.tolist(), repeat=len(block))]
    return sorted(((total(model, block, labels), labels) for labels in outputs), key=lambda pair: -pair[0])


# ---- more than the best output ----


def test_the_k_best_outputs_are_those_of_enumeration(noisy):
    X, y = noisy
    model = made().fit(X, y)
    for block, outputs in zip(X, model.predict(X, k=4), strict=True):
        everything = every_output(model, block)
        assert len(outputs) == min(4, len(everything))
        np.testing.assert_allclose([total(model, block, labels) for labels in outputs], [s for s, _ in everything[:4]], atol=1e-9)
        assert len({tuple(labels) for labels in outputs}) == len(outputs)
    assert [outputs[0] for outputs in model.predict(X, k=3)] == model.predict(X)
    assert model.predict(X, k=1) == [[labels] for labels in model.predict(X)]
    assert len(model.predict(X[:1], k=1000)[0]) == 3 ** len(X[0])


def test_margins_are_the_lead_of_the_first_over_the_second(noisy):
    X, y = noisy
    model = made().fit(X, y)
    for block, (first, second), margin in zip(X, model.predict(X, k=2), model.margins(X), strict=True):
        assert margin == pytest.approx(total(model, block, first) - total(model, block, second), abs=1e-9)
        assert margin >= 0


def test_marginals_are_those_of_enumeration(noisy):
    X, y = noisy
    model = made(epochs=1).fit(X, y)
    for block, marginals in zip(X, model.predict_marginals(X), strict=True):
        everything = every_output(model, block)
        probability = softmax([score for score, _ in everything])
        expected = np.zeros((len(block), 3))
        for p, (_, labels) in zip(probability, everything, strict=True):
            for t, label in enumerate(labels):
                expected[t, LABELS.index(label)] += p
        np.testing.assert_allclose(marginals, expected, atol=1e-9)
        np.testing.assert_allclose(marginals.sum(axis=1), 1)


def test_k_is_a_whole_number(noisy):
    model = made().fit(*noisy)
    for k in (0, -1, 1.5, "two"):
        with pytest.raises((DataError, OptionError), match=f"k={k!r}"):
            model.predict(noisy[0], k=k)


# ---- reasons ----


def test_reasons_add_up_to_the_margin(noisy):
    X, y = noisy
    model = made().fit(X, y)
    for block, best, margin in zip(X[:8], model.predict(X[:8]), model.margins(X[:8]), strict=True):
        for sentence in (block, sparse.csr_matrix(block)):
            explanation = model.explain(sentence)
            assert explanation.winner == best and explanation.margin == pytest.approx(margin, abs=1e-9)
            assert sum(c.value for c in explanation.contributions) == pytest.approx(explanation.margin, abs=1e-9)
            assert sum(explanation.atoms.values()) == pytest.approx(explanation.margin, abs=1e-9)


def test_reasons_of_a_token_compare_with_its_best_other_label(noisy):
    X, y = noisy
    model = made().fit(X, y)
    for block in X[:8]:
        everything = every_output(model, block)
        for t in range(len(block)):
            explanation = model.explain(block, token=t)
            best = model.predict([block])[0]
            assert explanation.winner == best and explanation.runner_up[t] != best[t]
            other = next(score for score, labels in everything if labels[t] != best[t])
            assert explanation.margin == pytest.approx(everything[0][0] - other, abs=1e-9)
            assert sum(c.value for c in explanation.contributions) == pytest.approx(explanation.margin, abs=1e-9)


def test_reasons_name_features_and_transitions(corpus):
    X, y = corpus
    model = made().fit(X, y)
    sentence = [{"word": word} for word in ("the", "cat", "sleeps")]
    explanation = model.explain(sentence, token=1)
    assert explanation.winner == ["B", "I", "O"] and explanation.runner_up[1] != "I"
    assert "word:cat" in {c.feature for c in explanation.contributions}
    assert any("B" in atom and "I" in atom for atom in explanation.atoms)
    strings = [["the"], ["cat"]]
    model = made().fit([strings, strings[::-1]], [["D", "N"], ["N", "D"]])
    assert {c.feature for c in model.explain(strings, token=0).contributions} >= {"the"}


def test_reasons_need_a_token_and_another_label(noisy):
    X, y = noisy
    model = made().fit(X, y)
    for token in (-1, 99, 1.0, "first"):
        with pytest.raises(DataError, match=f"token={token!r}; expected the position of one of the sentence's {len(X[0])} tokens"):
            model.explain(X[0], token=token)
    with pytest.raises(DataError, match="token=0, but the sentence has no tokens"):
        model.explain(np.zeros((0, 4)), token=0)
    two = made(classes=["a", "b"], required_transitions=[("a", "b")], forbidden_transitions=[("b", "b"), (None, "b")])
    two.fit([np.eye(2), np.eye(2)[::-1]], [["a", "b"], ["a", "b"]])
    with pytest.raises(DataError, match="token 0 can have no label but 'a': the constraints forbid all others"):
        two.explain(np.eye(2), token=0)


def test_a_sentence_of_numbers_may_be_a_list_of_rows(noisy):
    X, y = noisy
    model = made().fit(X, y)
    for token in (None, 0):
        assert model.explain(X[0].tolist(), token=token).atoms == model.explain(X[0], token=token).atoms


def test_top_features_are_the_largest_weights(noisy):
    model = made().fit(*noisy)
    top = model.top_features("I", n=2)
    weights = model.coef_[1]
    assert [abs(weight) for _, weight in top] == sorted(np.abs(weights), reverse=True)[:2]
    assert all(weights[int(name.removeprefix("x[").removesuffix("]"))] == weight for name, weight in top)
    assert len(model.top_features("I", n=100)) == np.count_nonzero(weights)
    with pytest.raises(DataError, match="label='Z' is not one of the labels"):
        model.top_features("Z")
    for n in (0, -1, 2.0):
        with pytest.raises(OptionError, match=f"n={n}; expected a whole number, at least 1"):
            model.top_features("I", n=n)


def test_columns_keep_their_names(noisy):
    X, y = noisy
    frame = pd.DataFrame(np.concatenate(X), columns=["north", "east", "south", "west"])
    model = made().fit(frame, sum(y, []), list(map(len, X)))
    assert {name for name, _ in model.top_features("O")} == set(frame.columns) == set(model.feature_names_in_)
    assert {c.feature for c in model.explain(frame[:2], token=1).contributions} <= {*frame.columns, "(constant)"}
    with pytest.raises(DataError, match="column 0 of X is 'east', but this model was trained with 'north' there"):
        model.predict(frame[["east", "north", "south", "west"]], list(map(len, X)))


def test_top_transitions_are_the_largest_scores(noisy):
    model = made().fit(*noisy)
    top = model.top_transitions(n=4)
    scores = model.transition_scores_
    assert [abs(score) for _, _, score in top] == sorted(np.abs(scores).ravel(), reverse=True)[:4]
    assert all(scores[LABELS.index(before), LABELS.index(after)] == score for before, after, score in top)
    assert len(model.top_transitions(n=100)) == np.count_nonzero(scores)
