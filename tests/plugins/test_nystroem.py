"""Tests of landmarks: the map equals Nystroem of scikit-learn. With all rows as landmarks, `to_primal` keeps predictions."""

import io
import pickle

import numpy as np
import pandas as pd
import pytest
from plain import Engine
from reference import kernels
from scipy.sparse import csr_array
from sklearn.kernel_approximation import Nystroem
from structperc_dual_kernel.nystroem import NystroemReader, to_primal

from structperc.errors import DataError, ModelFormatError, OptionError, PluginError
from structperc.estimators import CuSumRank, PRank

pytestmark = pytest.mark.blas

KERNELS = {"linear": {}, "polynomial": {"gamma": 0.5, "degree": 2, "coef0": 1.0}, "rbf": {"gamma": 0.5}, "laplacian": {"gamma": 0.5},
           "perceptron": {"offset": 9.0}, "stump": {"offset": 9.0}}
WORDS = ["abba", "baab", "abcab", "xyzx", "xxyz", "zyx", "yzzy", "zzxy"]


def rings(n=120, d=2):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, d))
    return X, np.digitize(np.hypot(*X[:, :2].T), [0.8, 1.5]) + 1


def dot(A, B):
    return A @ B.T


def inner(rows):
    return rows.X @ rows.X.T


def saved(engine):
    buffer = io.BytesIO()
    engine.save(buffer)
    return io.BytesIO(buffer.getvalue())


# ---- the reader ----


@pytest.mark.parametrize("layout", [np.asarray, np.float32, csr_array])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "polynomial"])
def test_inner_products_are_those_of_scikit_learns_nystroem(kernel, layout):
    X, _ = rings()
    reader = NystroemReader(kernel, 25, **KERNELS[kernel])
    mapped = reader.learn(layout(X))
    landmarks = reader.kernel_rows.support().toarray() if layout is csr_array else reader.kernel_rows.support()
    theirs = Nystroem(kernel=kernel, n_components=25, **KERNELS[kernel]).fit(landmarks).transform(X)
    assert mapped.X.shape == (120, 25)
    np.testing.assert_allclose(inner(mapped), theirs @ theirs.T, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kernel", KERNELS)
def test_between_landmarks_the_map_is_the_kernel(kernel):
    X, _ = rings(40, 5)
    reader = NystroemReader(kernel, n_components=100, **KERNELS[kernel])      # more components than rows
    mapped = reader.learn(X)
    np.testing.assert_allclose(inner(mapped), kernels.KERNELS[kernel](X, X, **{"offset": None, **KERNELS[kernel]}), atol=1e-8)
    assert np.array_equal(reader.read(X[:7]).X, mapped.X[:7])


def test_landmarks_are_drawn_from_the_first_data_without_replacement():
    X, _ = rings()
    drawn = [NystroemReader("rbf", 25, seed) for seed in (0, 0, 1)]
    for reader in drawn:
        reader.learn(X)
    supports = [set(map(tuple, reader.kernel_rows.support().tolist())) for reader in drawn]
    assert supports[0] == supports[1] != supports[2]
    assert len(supports[0]) == 25 and supports[0] <= set(map(tuple, X.tolist()))
    before = drawn[0].read(X).X
    assert drawn[0].clone().kernel_rows is None and np.array_equal(drawn[0].read(X).X, before)


@pytest.mark.parametrize("kernel, X", [("subsequence", WORDS), (dot, rings()[0]), (dot, csr_array(rings()[0])),
                                       ("subset-tree", ["(a (b c))"])])
def test_any_kernel_can_be_mapped(kernel, X):
    reader = NystroemReader(kernel, 6)
    mapped = reader.learn(X)
    assert mapped.X.shape == (mapped.n_rows, min(6, mapped.n_rows)) and np.isfinite(mapped.X).all()
    assert np.array_equal(reader.read(X).X, mapped.X)


@pytest.mark.parametrize(("arguments", "why"), [
    ({"kernel": "rbv"}, "kernel='rbv'. Expected one of"),
    ({"kernel": "precomputed"}, "landmarks are rows to compare others with, but there are none"),
    ({"gama": 1.0}, "unknown option 'gama'; expected one of gamma, "),
    ({"budget": 3}, "unknown option 'budget'"),
    ({"gamma": -1.0}, "gamma=-1.0 must be"),
    ({"degree": 2}, "degree=2 has no effect with kernel='rbf'"),
    ({"n_components": 0}, "n_components=0; expected a whole number, at least 1"),
    ({"n_components": 2.5}, "n_components=2.5; expected"),
])
def test_impossible_options_are_refused_at_once(arguments, why):
    with pytest.raises(OptionError, match=why):
        NystroemReader(**arguments)


def test_wrong_data_are_refused_in_a_sentence():
    X, y = rings()
    with pytest.raises(DataError, match="has learned from no data yet"):
        NystroemReader().read(X)
    frame = pd.DataFrame(X, columns=["a", "b"])
    engine = Engine("cusum", plugins=[NystroemReader(n_components=9)]).fit(frame, y)
    before = engine.coef_
    broken = X.copy()
    broken[3, 1] = np.nan
    for wrong, why in [(X[:, :1], "X has 1 features, but this model was trained with 2"), (broken, r"X\[3, 1\] is nan"),
                       (WORDS, "X is a list of objects, but this model was trained on rows"),
                       (frame[["b", "a"]], "column 0 of X is 'b', but this model was trained with 'a' there")]:
        with pytest.raises(DataError, match=why):
            engine.predict(wrong)
        with pytest.raises(DataError, match=why):
            engine.partial_fit(wrong, y[:len(wrong)])
    with pytest.raises(DataError, match="nan"):
        engine.fit(broken, y)
    assert np.array_equal(engine.coef_, before)


@pytest.mark.parametrize("problem", ["cusum", "prank", "multiclass"])
def test_primal_weights_learn_through_it_what_the_map_allows(problem):
    X, y = rings()
    reader = NystroemReader("rbf", 30, gamma=0.7)
    engine = Engine(problem, plugins=[reader], epochs=10, average=True, shuffle=True, random_state=0).fit(X[:90], y[:90])
    assert (engine.predict(X[90:]) == y[90:]).mean() > 0.75
    by_hand = NystroemReader("rbf", 30, gamma=0.7)
    plain = Engine(problem, epochs=10, average=True, shuffle=True, random_state=0).fit(by_hand.learn(X[:90]).X, y[:90])
    assert np.array_equal(engine.coef_, plain.coef_) and np.array_equal(engine.predict(X), plain.predict(by_hand.read(X).X))
    assert np.array_equal(engine.partial_fit(X[90:], y[90:]).coef_, plain.partial_fit(by_hand.read(X[90:]).X, y[90:]).coef_)
    assert engine.feature_name(3) == "component 3" and "Nystr" in engine.citation()


def test_estimators_leave_the_columns_to_the_reader():
    X, y = rings()
    model = CuSumRank(plugins=[NystroemReader("rbf", 30, gamma=0.7)], random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    with pytest.raises(DataError, match="X has 1 features, but this model was trained with 2"):
        model.predict(X[:, :1])


@pytest.mark.parametrize("X, options", [(rings()[0], {}), (csr_array(rings()[0]), {"gamma": 0.5}), (WORDS * 15, {"kernel": "subsequence"})])
def test_it_comes_back_with_the_model(X, options):
    y = rings()[1]
    engine = Engine("cusum", plugins=[NystroemReader(n_components=7, **options)], shuffle=True).fit(X, y)
    again = Engine.load(saved(engine), plugins=[NystroemReader(**options)])
    pickled = pickle.loads(pickle.dumps(engine))
    for _ in range(2):
        assert np.array_equal(again.atom_scores(X), engine.atom_scores(X)) and np.array_equal(pickled.atom_scores(X), engine.atom_scores(X))
        for one in (engine, again, pickled):
            one.partial_fit(X, y)
    with pytest.raises(PluginError, match="needs the object 'NystroemReader'"):
        Engine.load(saved(engine))
    with pytest.raises(ModelFormatError, match="was trained with NystroemReader's options .* but this one has"):
        Engine.load(saved(engine), plugins=[NystroemReader("laplacian")])


# ---- from dual to primal ----


def trained(problem, n=90, **options):
    X, y = rings(n)
    options = {"kernel": "rbf", "epochs": 3, "average": True, "classes": [1, 2, 3], **options}
    if problem == "sequence":
        X, y = [X[i:i + 5] for i in range(0, n, 5)], [y[i:i + 5].tolist() for i in range(0, n, 5)]
    return Engine(problem, plugins=["dual-kernel"], **options).fit(X, y), X, y


def close(one, other, X):
    for a, b in zip(one.atom_scores(X), other.atom_scores(X), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)
    assert list(map(str, one.predict(X))) == list(map(str, other.predict(X)))


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("problem", ["cusum", "prank", "interval-pa", "multiclass", "sequence"])
def test_with_all_rows_as_landmarks_it_predicts_the_same(problem, average):
    dual, X, y = trained(problem, average=average)
    primal = to_primal(dual)
    close(primal, dual, X)
    for name in ("intercept_", "thresholds_", "transition_scores_", "start_scores_", "end_scores_"):
        assert hasattr(primal, name) == hasattr(dual, name)
        if hasattr(dual, name):
            np.testing.assert_allclose(getattr(primal, name), getattr(dual, name))
    assert primal.mistakes_ == dual.mistakes_ and primal.status_ == dual.status_ and "dual-kernel" not in primal.plugins
    assert primal.cumulative_loss_ == dual.cumulative_loss_ and primal.classes_.tolist() == dual.classes_.tolist()
    again = Engine.load(saved(primal), plugins=[NystroemReader("rbf")])
    assert again.predict(X).tolist() == primal.predict(X).tolist() == pickle.loads(pickle.dumps(primal)).predict(X).tolist()
    primal.partial_fit(X, y)
    assert len(primal.mistakes_) == len(dual.mistakes_) + 1


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_between_rows_can_become_primal(kernel):
    dual, X, _ = trained("cusum", kernel=kernel, **KERNELS[kernel])
    close(to_primal(dual), dual, X)


@pytest.mark.parametrize("X, options", [
    (csr_array(rings()[0]), {"kernel": "rbf"}), (rings()[0], {"kernel": dot}), (WORDS * 15, {"kernel": "subsequence", "length": 2}),
    (["(S (A a) (B b))", "(S (A a) (C c))", "(S (D d) (E e))"] * 40, {"kernel": "subset-tree"}),
    (rings()[0], {"kernel": "rbf", "dtype": "float32", "fit_intercept": False, "update": "pa1"}),
    (rings()[0], {"kernel": "rbf", "budget": 20, "decay": 0.01}),
], ids=["sparse", "function", "strings", "trees", "float32", "budget"])
def test_layouts_objects_and_options_can_become_primal(X, options):
    y = rings()[1]
    dual = Engine("multiclass", plugins=["dual-kernel"], epochs=2, **options).fit(X, y)
    scores = dual.atom_scores(X)
    np.testing.assert_allclose(to_primal(dual).atom_scores(X), scores, rtol=1e-4 if "dtype" in options else 1e-6, atol=1e-5)
    assert np.array_equal(dual.atom_scores(X), scores)


def test_fewer_landmarks_are_the_projection_onto_what_they_span():
    dual, X, _ = trained("multiclass", gamma=0.5)
    primal = to_primal(dual, 20, random_state=3)
    landmarks, rows = primal.parts_.reader.kernel_rows.support(), dual.support_vectors_
    K_LL, K_LS = kernels.rbf(landmarks, landmarks, gamma=0.5), kernels.rbf(landmarks, rows, gamma=0.5)
    expected = kernels.rbf(X, landmarks, gamma=0.5) @ np.linalg.solve(K_LL, K_LS @ dual.dual_coef_) + dual.intercept_
    assert primal.coef_.shape == (3, 20)
    np.testing.assert_allclose(primal.atom_scores(X), expected, rtol=1e-5, atol=1e-5)
    share = (primal.predict(X) == dual.predict(X)).mean()
    assert 0.8 < share < (to_primal(dual, 60).predict(X) == dual.predict(X)).mean() + 0.1


def test_what_cannot_become_primal_is_refused():
    X, y = rings()
    with pytest.raises(OptionError, match="trained with the plugin 'dual-kernel', but the weights are PrimalWeights"):
        to_primal(Engine("cusum").fit(X, y))
    scaled = Engine("cusum", plugins=["dual-kernel"], kernel="rbf", scale=True).fit([[0.0], [100.0], [300.0]], [1, 2, 2])
    with pytest.raises(OptionError, match="in the units of X, but this engine was trained on scaled columns. Train one with scale=False"):
        to_primal(scaled)
    with pytest.raises(OptionError, match="landmarks are rows to compare others with"):
        to_primal(Engine("cusum", plugins=["dual-kernel"], kernel="precomputed").fit(dot(X, X), y))
    with pytest.raises(DataError, match="hold no row with a coefficient"):
        to_primal(Engine("cusum", plugins=["dual-kernel"], classes=[1, 2, 3]).fit(X, np.ones(len(X), dtype=int)))
    with pytest.raises(OptionError, match="n_components=0; expected"):
        to_primal(trained("cusum")[0], 0)


def test_prank_finds_latent_scores_in_the_mapped_rows():
    """The direction has one component per landmark, so `latent_score` must map X with the reader."""
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 2))
    y = np.digitize(np.hypot(*X.T), [0.8, 1.5]) + 1
    model = PRank(epochs=20, average=False, random_state=0, plugins=[NystroemReader("rbf", 15)]).fit(X, y)
    latent = model.latent_score(X)
    assert model.coef_.shape == (15,) and latent.shape == (60,)
    assert np.array_equal(model.classes_[np.searchsorted(model.thresholds_, latent, side="right")], model.predict(X))
