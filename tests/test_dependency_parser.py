"""The dependency parser: trees against brute force, the test suite, accuracy, and the errors for wrong heads."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from loading import module_at
from plain import Engine

from structperc.errors import DataError, MissingData
from structperc.estimators import StructuredEstimator
from structperc.files.datasets import locate
from structperc.testing import check_problem

FOLDER = Path(__file__).parents[1] / "examples/dependency_parser"

parser = module_at("examples/dependency_parser/structperc_dependency_parser.py")

WORDS = {"D": ["the", "a", "every"], "N": ["dog", "cat", "owl", "tree"], "V": ["sees", "likes", "finds"], "P": ["near", "with"]}


def toy_sentences(n, seed=0):
    """Determiner, noun, verb, determiner, noun, at times a preposition with its own noun phrase that belongs to the noun before."""
    random = np.random.default_rng(seed)
    tags = [["D", "N", "V", "D", "N"], ["D", "N", "P", "D", "N", "V", "D", "N"], ["D", "N", "V", "D", "N", "P", "D", "N"]]
    heads = [[2, 3, 0, 5, 3], [2, 6, 2, 5, 3, 0, 8, 6], [2, 3, 0, 5, 3, 5, 8, 6]]
    kinds = random.integers(3, size=n)
    return [[(str(random.choice(WORDS[tag])), tag) for tag in tags[kind]] for kind in kinds], [heads[kind] for kind in kinds]


class Sized:
    def __init__(self, n_atoms):
        self.n_atoms = n_atoms


@pytest.mark.parametrize("tied", [False, True])
def test_the_tree_is_the_best_of_all_trees(tied):
    random = np.random.default_rng(0)
    for size in (2, 3, 4, 5) * 25:
        scores = random.integers(-3, 4, size=(size, size)).astype(float) if tied else random.normal(size=(size, size))
        found = parser.ChuLiuEdmonds().argmax(scores.ravel(), Sized(size * size))
        assert (found // size).tolist() == list(range(1, size)) and not parser.circle([0, *(found % size)])
        every = [scores.ravel()[list(tree)].sum() for tree in parser.Trees().enumerate(Sized(size * size))]
        assert len(every) == size ** (size - 2), "Cayley's formula"
        assert scores.ravel()[found].sum() == pytest.approx(max(every), abs=1e-12)


def test_the_battery():
    report = check_problem(parser.DependencyParser())

    assert {outcome for _, outcome in report} == {"passed"}


@pytest.mark.parametrize("options", [{}, {"n_hashed": 4096}, {"update": "pa1", "C": 0.1, "loss_weight": 1.0}], ids=str)
def test_it_learns_a_toy_grammar_from_words_and_tags(options):
    X, y = toy_sentences(40)
    X_new, y_new = toy_sentences(30, seed=1)
    engine = Engine(parser.DependencyParser(), epochs=5, average=True, **options).fit(X, y)

    found = list(engine.predict(X_new))
    assert np.mean(np.concatenate(found) == np.concatenate(y_new)) > 0.97
    explanation = str(engine.explain(next(x for x in X_new if len(x) == 5), against=[3, 3, 0, 5, 3]))
    assert ("hash" if "n_hashed" in options else "pair") in explanation
    assert list(pickle.loads(pickle.dumps(engine)).predict(X_new)) == found


def test_it_learns_from_a_stream_and_as_an_estimator():
    X, y = toy_sentences(60)
    engine = Engine(parser.DependencyParser(), average=True, n_hashed=4096)
    for start in range(0, 60, 20):
        engine.partial_fit(X[start:start + 20], y[start:start + 20])
    assert list(engine.predict(X)) == y

    model = StructuredEstimator(problem=parser.DependencyParser(), plugin_options={"n_hashed": 4096}, random_state=0).fit(X, y)
    assert model.score(X, y) == 0 and model.predict(X[:1]) == y[:1]


@pytest.mark.parametrize(("heads", "why"), [
    ([2, 3, 0, 5], "expected the head of each of its 5 words"), ([2, 3, 0, 6, 3], "of its 5 words, a number from 0"),
    ([2, 1, 0, 5, 3], "are no tree; expected one to each word, in order, and no circle"), ([1, 3, 0, 5, 3], "are no tree"),
])
def test_what_is_no_tree_is_refused(heads, why):
    X, y = [[("the", "D"), ("dog", "N"), ("sees", "V"), ("a", "D"), ("cat", "N")]] * 2, [[2, 3, 0, 5, 3], heads]

    with pytest.raises(DataError, match=rf"y\[1\].*{why}"):
        Engine(parser.DependencyParser()).fit(X, y)


def test_it_is_short():
    lines = [line for line in (FOLDER / "structperc_dependency_parser.py").read_text().split("\n") if line.strip()]
    begin, end = (next(i for i, line in enumerate(lines) if line.startswith(start)) for start in ("def arc_features", "class ArcReader"))

    assert len(lines) <= 100 and len(lines) - (end - begin) <= 80


def test_it_parses_english():
    try:
        train, _, test = locate("ud_english_ewt", download=False)
    except MissingData as missing:
        pytest.skip(str(missing))
    script = module_at("examples/dependency_parser/parse_english.py")
    (X, y), (X_new, y_new) = script.sentences(train, 150, longest=12), script.sentences(test, 100, longest=12)
    engine = Engine(parser.DependencyParser(), average=True, epochs=3, n_hashed=2**16).fit(X, y)

    assert script.attachment(engine.predict(X_new), y_new) > 0.6
