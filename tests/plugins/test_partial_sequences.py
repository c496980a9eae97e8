"""Tests of sentences with unlabelled tokens: every update rule completes them, losses and measures skip them, invalid gaps raise errors."""

import itertools

import numpy as np
import pytest
from plain import Engine
from structperc_sequence.outputs import ChainOutputs

from structperc import distributed, hookimpl
from structperc.errors import DataError
from structperc.estimators import SequenceTagger
from structperc.metrics import measures

LABELS = ["a", "b", "c"]


def corpus(n, seed=0):
    """Sentences labelled by a chain, with one noisy feature for each label."""
    random = np.random.default_rng(seed)
    X, y = [], []
    for size in random.integers(2, 8, n):
        codes = (random.integers(3) + np.cumsum(random.random(size) < 0.4)) % 3
        X.append(np.eye(3)[codes] + random.normal(scale=0.5, size=(size, 3)))
        y.append([LABELS[code] for code in codes])
    return X, y


def hidden(y, share=0.6, seed=1):
    random = np.random.default_rng(seed)
    return [[None if random.random() < share else label for label in labels] for labels in y]


X, Y = corpus(300)
OPEN = hidden(Y)


@pytest.mark.parametrize("options", [{}, {"update": "pa1", "C": 0.1, "loss_weight": 1.0}, {"update": "latent"},
                                     {"forbidden_transitions": [("a", "c")]}], ids=str)
def test_tokens_without_labels_are_completed(options):
    y = [[None if following == "c" and label == "a" else label for label, following in zip(labels, [*labels[1:], ""], strict=True)]
         for labels in OPEN] if "forbidden_transitions" in options else OPEN
    engine = Engine("sequence", epochs=10, average=True, random_state=0, shuffle=True, **options).fit(X[:200], y[:200])
    assert measures(engine, X[200:], Y[200:])["token accuracy"] > 0.85
    known = sum(label is not None for labels in OPEN[200:] for label in labels)
    right = sum(a == b for pair in zip(OPEN[200:], engine.predict(X[200:]), strict=True) for a, b in zip(*pair, strict=True))
    assert measures(engine, X[200:], OPEN[200:])["token accuracy"] == right / known


def test_shards_complete_tokens_without_labels():
    engine, other = (Engine("sequence", n_shards=2, epochs=5, random_state=0) for _ in range(2))
    engine.fit(X[:200], OPEN[:200])
    distributed.fit(other, [(X[:100], OPEN[:100]), (X[100:200], OPEN[100:200])], dtype="float64")
    assert engine.mistakes_ == other.mistakes_ and np.array_equal(engine.coef_, other.coef_)
    assert measures(engine, X[200:], Y[200:])["token accuracy"] > 0.8


class InPython(ChainOutputs):
    def agrees(self, gold, y, x):
        return super().agrees(gold, y, x)


class Described:
    @hookimpl
    def structperc_outputs(self, context):
        return InPython(True, True, (), ())


@pytest.mark.parametrize("options", [{}, {"n_shards": 2}, {"update": "log-loss", "calibrate": True}], ids=str)
def test_outputs_in_python_complete_tokens_too(options):
    one, other = (Engine("sequence", plugins=plugins, epochs=3, random_state=0, start=True, end=True, **options).fit(X[:100], OPEN[:100])
                  for plugins in ([], [Described()]))
    assert one.mistakes_ == other.mistakes_ and np.array_equal(one.coef_, other.coef_) and one.temperature_ == other.temperature_


@pytest.mark.parametrize("options", [{}, {"forbidden_transitions": [("a", "b"), (None, "c")], "start": True, "end": True}], ids=str)
def test_completions_and_losses_are_those_of_all_labellings(options):
    engine = Engine("sequence", classes=LABELS, epochs=1, **options).fit(X[:4], [[None] * len(x) for x in X[:4]])
    parts, rows, random = engine.parts_, engine.model_.read(X[:4]), np.random.default_rng(0)
    for _ in range(60):
        x = rows.example(int(random.integers(4)))
        x.n_atoms = parts.features.n_atoms(x)
        every = list(itertools.islice(parts.outputs.enumerate(x), 800))
        if len(every) == 800:
            continue
        gold = tuple(np.where(random.random(x.n_rows) < 0.5, 0, every[random.integers(len(every))]).tolist())
        s = random.integers(-2, 3, x.n_atoms).astype(float)
        totals = np.array([parts.outputs.count(x, y) @ s for y in every])
        agreeing = np.array([all(g in (0, k) for g, k in zip(gold, y, strict=True)) for y in every])
        losses = np.array([sum(g not in (0, k) for g, k in zip(gold, y, strict=True)) for y in every])
        assert [parts.outputs.agrees(gold, y, x) for y in every] == agreeing.tolist()
        assert [parts.loss.value(gold, y, x) for y in every] == losses.tolist()
        at = every.index(parts.outputs.complete(gold, s.copy(), x))
        assert agreeing[at] and totals[at] == totals[agreeing].max()
        at = every.index(parts.argmax.argmax_augmented(s.copy(), x, gold, parts.loss, 0.5))
        assert (totals + losses / 2)[at] == (totals + losses / 2).max()


def test_flat_labels_streams_and_the_tagger():
    sizes = [len(labels) for labels in OPEN[:200]]
    flat = list(itertools.chain.from_iterable(OPEN[:200]))
    nested, rows = SequenceTagger(random_state=0).fit(X[:200], OPEN[:200]), SequenceTagger(random_state=0)
    rows.fit(np.concatenate(X[:200]), flat, lengths=sizes)
    assert np.array_equal(nested.coef_, rows.coef_) and nested.score(X[200:], Y[200:]) > 0.85
    assert nested.score(X[200:], OPEN[200:]) == pytest.approx(nested.score(X[200:], Y[200:]), abs=0.05)
    stream = Engine("sequence", epochs=1).fit(X[:10], Y[:10])
    stream.partial_fit(X[10:200], OPEN[10:200])
    assert measures(stream, X[200:], Y[200:])["token accuracy"] > 0.8
    with pytest.raises(DataError, match="y has no label for any token, so there is nothing to score"):
        nested.score(X[:1], [[None] * len(X[0])])


def test_all_open_is_nothing_and_all_known_is_as_before():
    engine = Engine("sequence", epochs=2).fit(X[:50], Y[:50])
    before = engine.coef_.copy()
    engine.partial_fit(X[:50], [[None] * len(x) for x in X[:50]])
    assert np.array_equal(engine.coef_, before)


@pytest.mark.parametrize(("y", "sentence"), [
    ([["a", "b"], ["a", ""]], r"y\[1\]\[1\] is '', which is no label; .* name all labels with classes="),
    ([["a", "b"], ["a", np.nan]], r"y\[1\]\[1\] is nan, which is no label; label that token, or write None where nothing is known"),
    ([[None, None], [None, None]], "y|label"),
])  # fmt: skip
def test_gaps_are_refused(y, sentence):
    with pytest.raises(DataError, match=sentence):
        Engine("sequence").fit([[["u"], ["v"]]] * 2, y)


def test_what_is_known_must_fit_the_constraints():
    x, rule = [[["u"], ["v"], ["w"]]], {"forbidden_transitions": [("a", "b")], "classes": ["a", "b"]}
    with pytest.raises(DataError, match=r"y\[0\]\[2\] is 'b', which may not follow 'a'"):
        Engine("sequence", **rule).fit(x, [[None, "a", "b"]])
    with pytest.raises(DataError, match="no labels of sentence 0 .* satisfy the constraints"):
        Engine("sequence", **rule, required_transitions=[("a", "a")], epochs=9).fit(x * 3, [["a", None, "b"]] * 3)
    with pytest.raises(DataError, match="only right outputs may leave tokens open"):
        Engine("sequence", **rule).fit(x, [["b", "a", None]]).explain(x[0], against=["a", None, "a"])
