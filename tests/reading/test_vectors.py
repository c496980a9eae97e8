"""Tests of vectors as features of tokens: rows, names, predictions and model files equal those of single numbers."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import Engine

from structperc.errors import DataError
from structperc.reading.named import NamedReader

KINDS = [np.float64, np.float32, np.float16, np.int8, np.int64, bool]


def spelled(token):
    """The same token with a feature for each coordinate."""
    found = {}
    for key, value in token.items():
        if isinstance(value, np.ndarray):
            found |= {f"{key}[{i}]": float(v) for i, v in enumerate(value)}
        else:
            found[key] = spelled(value) if isinstance(value, dict) else value
    return found


def by_name(reader, rows):
    table = rows.X.toarray()
    return [{reader.feature_name(j): row[j] for j in np.flatnonzero(row)} for row in table]


@st.composite
def sentences(draw):
    """Tokens with words and numbers. Some also have vectors, at the top level or in a nested dict."""
    sizes = {"e": draw(st.integers(0, 9)), "f": draw(st.integers(0, 2)), "in": draw(st.integers(1, 3))}
    value = st.integers(-4, 4).map(lambda i: i / 4)

    def vector(name):
        kind = draw(st.sampled_from(KINDS))
        return np.array(draw(st.lists(value, min_size=sizes[name], max_size=sizes[name]))).astype(kind)[::draw(st.sampled_from([1, -1]))]

    def token():
        found = {"word": draw(st.sampled_from("abc")), "n": draw(value)}
        found |= {name: vector(name) for name in ("e", "f") if draw(st.booleans())}
        return found | ({"k": {"in": vector("in"), "word": "x"}} if draw(st.booleans()) else {})

    return [[token() for _ in range(draw(st.integers(0, 3)))] for _ in range(draw(st.integers(1, 4)))] + [[{"word": "a"}]]


@given(sentences(), st.booleans())
def test_rows_and_names_are_those_of_the_numbers_spelled_out(X, grown):
    reader, other = NamedReader(), NamedReader()
    rows = reader.learn(X)
    if grown:
        reader = NamedReader()
        reader.learn([[{"word": "first"}]])
        reader.learn_more(X)
        rows = reader.read(X)

    plain = [[spelled(token) for token in sentence] for sentence in X]

    assert by_name(reader, rows) == by_name(other, other.learn(plain))
    assert rows.offsets.tolist() == other.read(plain).offsets.tolist()
    restored = pickle.loads(pickle.dumps(reader))
    restored.restore(reader.state())
    for sentence in X:
        assert by_name(restored, restored.read([sentence])) == by_name(other, other.read([[spelled(token) for token in sentence]]))


def test_vectors_of_lists_are_called_vector():
    reader = NamedReader()
    rows = reader.learn([[["the", np.array([1.5, 0])], ["dog"], [np.array([0, -2.0]), "the"]]])
    assert by_name(reader, rows) == [{"the": 1, "vector[0]": 1.5}, {"dog": 1}, {"the": 1, "vector[1]": -2}]


def test_hashed_names_leave_vectors_their_columns():
    reader = NamedReader(n_hashed=5)
    rows = reader.learn([[{"word": "the", "e": np.ones(2)}]])
    assert rows.X.shape == (1, 7) and rows.X.toarray()[0, 5:].tolist() == [1, 1]
    assert [reader.feature_name(j) for j in (4, 5, 6)] == ["hash 4", "e[0]", "e[1]"]


@pytest.mark.parametrize(("tokens", "message"), [
    ([{"e": np.ones(2)}], r"^X\[0\]\[0\]: the vector 'e' has 2 coordinates; expected 3\.$"),
    ([{}, {"f": np.ones(3)}], r"^X\[0\]\[1\]: the vector 'f' is new; this model was trained on 'e'\.$"),
    ([{"e": np.array(["a"])}], r"^X\[0\]\[0\]: the vector 'e' is array\(\['a'\].*\); expected numbers\.$"),
    ([["a", np.ones(3), np.ones(3)]], r"^X\[0\]\[0\]: the token has 2 vectors; give each a name, in a dict"),
    ([{"e": np.ones((1, 3))}], r"^X\[0\]\[0\]: the feature 'e' is array\(\[\[1"),
])
def test_vectors_that_do_not_fit_are_named(tokens, message):
    reader = NamedReader()
    reader.learn([[{"word": "a", "e": np.zeros(3)}]])
    with pytest.raises(DataError, match=message):
        reader.read([tokens])


# ---- in training ----


def data():
    random = np.random.default_rng(0)
    X = [[{"word": "abc"[random.integers(3)], "n": float(random.integers(3)), "e": random.integers(-4, 5, 5) / 4}
          for _ in range(random.integers(1, 6))] for _ in range(40)]
    y = [["ABC"[("abc".index(token["word"]) + int(token["e"][0] > 0)) % 3] for token in sentence] for sentence in X]
    return X, [[spelled(token) for token in sentence] for sentence in X], y


@pytest.mark.parametrize("options", [
    {}, {"average": True, "shuffle": True}, {"update": "pa1"}, {"update": "log-loss", "step_size": 0.1, "decay": 0.01}, {"scale": True},
    {"update": "adagrad"}, {"update": "pa2", "n_hashed": 1 << 16},
    {"plugins": ["dual-kernel"], "kernel": "rbf"}, {"plugins": ["batch"], "epochs": 5},
], ids=lambda options: "-".join(map(str, options.values())) or "perceptron")
def test_answers_are_those_of_the_numbers_spelled_out(options, tmp_path):
    X, plain, y = data()
    engine, other = (Engine("sequence", random_state=0, **({"epochs": 4} | options)).fit(Z, y) for Z in (X, plain))

    scores = engine.atom_scores(X)
    for one, spelled_out in zip(scores, other.atom_scores(plain), strict=True):
        np.testing.assert_allclose(one, spelled_out, rtol=1e-4, atol=1e-4)
    assert [list(labels) for labels in engine.predict(X)] == [list(labels) for labels in other.predict(plain)]
    engine.save(tmp_path / "m.model")
    loaded = Engine.load(tmp_path / "m.model")
    for i in range(0, len(X), 9):
        assert loaded.atom_scores(X[i:i + 1])[0].tolist() == scores[i].tolist()     # the same bits for other batches, and after loading
    if "kernel" not in options:
        told = {c.feature: c.value for c in engine.explain(X[0]).contributions}
        assert told.keys() <= {"(constant)", "n", *(f"word:{word}" for word in "abc"), *(f"e[{i}]" for i in range(5)),
                               *(f"hash {j}" for j in range(1 << 16))}
        assert any(name.startswith("e[") for name in told)


def test_streams_and_segments_take_vectors():
    X, plain, y = data()
    engine, other = (Engine("sequence", classes=["A", "B", "C"]) for _ in "ab")
    for start in range(0, 40, 8):
        engine.partial_fit(X[start:start + 8], y[start:start + 8])
        other.partial_fit(plain[start:start + 8], y[start:start + 8])
    np.testing.assert_allclose(engine.transition_scores_, other.transition_scores_)

    spans = [[(0, 1, labels[0])] for labels in y]
    options = [{}, {"max_length": 2, "segment_features": lambda sentence, start, stop: [f"length {stop - start}"]}]
    for further in options:
        engine, other = (Engine("segments", epochs=3, **further).fit(Z, spans) for Z in (X, plain))
        for one, spelled_out in zip(engine.atom_scores(X), other.atom_scores(plain), strict=True):
            np.testing.assert_allclose(one, spelled_out, atol=1e-9)


def test_a_number_that_is_none_is_named_by_row_and_column():
    X, _, y = data()
    X[3][0]["e"] = np.array([0, 0, np.nan, 0, 0])
    with pytest.raises(DataError, match=r"is nan; X must be free of NaN and inf"):
        Engine("sequence").fit(X, y)
