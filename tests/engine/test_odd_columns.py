"""Columns that a standard deviation does not describe: constant ones, rare levels, wild cells, and rows of another layout."""

import io
import warnings

import numpy as np
import pytest
from scipy import sparse

from structperc import Engine
from structperc.errors import ScaleWarning
from structperc.estimators import SVOR, CuSumRank, IntervalPA, PRank, StructuredClassifier

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(400, 3)) + [5, 0, 0]
SCORE = 2 * (X[:, 0] - 5) - X[:, 1]
Y = np.digitize(SCORE + RANDOM.logistic(size=400), [-2, 0, 2])
TRAIN, REST = slice(200), slice(200, None)
MODELS = {
    "prank": lambda: PRank(random_state=0), "cusum": lambda: CuSumRank(random_state=0), "interval-pa": lambda: IntervalPA(random_state=0),
    "classes": lambda: StructuredClassifier(random_state=0), "svor": lambda: SVOR(kernel="linear"),
    "cumulative-logit": lambda: PRank(trainer="cumulative-logit"), "logistic": lambda: PRank(update="logistic", random_state=0),
    "bcfw": lambda: Engine("multiclass", trainer="bcfw", plugins=["batch"], C=0.1, epochs=5, scale=True, random_state=0),
}
KERNELS = {
    "cusum": lambda: CuSumRank(kernel="rbf", random_state=0), "prank": lambda: PRank(kernel="polynomial", random_state=0),
    "classes": lambda: StructuredClassifier(kernel="stump", random_state=0), "svor": lambda: SVOR(kernel="rbf"),
    "engine": lambda: Engine("interval-pa", plugins=["dual-kernel"], kernel="perceptron", scale=True, random_state=0),
}


def error(model, rows, y):
    return float(np.abs(model.predict(rows) - y).mean())


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("value", [0.0, 0.1, -3.3, 2024.0, 1e15])
def test_a_constant_column_changes_no_prediction_and_weighs_nothing(name, value):
    plain = MODELS[name]().fit(X[TRAIN], Y[TRAIN])
    model = MODELS[name]().fit(np.c_[X, np.full(400, value)][TRAIN], Y[TRAIN])
    for other in (value, value + 1e9):              # a level without rows may come later
        assert np.array_equal(model.predict(np.c_[X, np.full(400, other)]), plain.predict(X))
    assert not np.any(np.atleast_2d(model.coef_)[:, 3])


def test_a_constant_column_of_a_stream_starts_when_it_varies():
    model = PRank(random_state=0, classes=[0, 1, 2, 3])
    model.partial_fit(np.c_[X, np.full(400, 7.0)][TRAIN], Y[TRAIN])
    assert model.coef_[3] == 0
    buffer = io.BytesIO()
    model.engine_.save(buffer)
    loaded = Engine.load(io.BytesIO(buffer.getvalue()))
    late = np.c_[X, Y][REST]
    for engine in (model, loaded):
        engine.partial_fit(late, Y[REST])
    assert model.coef_[3] > 0 and np.array_equal(loaded.coef_, model.coef_)


def test_a_constant_column_is_the_intercept_of_a_model_without_one():
    models = [CuSumRank(random_state=0, fit_intercept=False).fit(np.c_[X, np.full(400, value)], Y) for value in (1.0, 1024.0)]
    assert np.array_equal(*(model.predict(np.c_[X, np.full(400, value)]) for model, value in zip(models, (1.0, 1024.0), strict=True)))
    assert np.any(models[0].coef_[:, 3])


ODD = {
    "three rows": (np.arange(400) % 150 < 2).astype(float), "other units": 1000.0 * (np.arange(400) % 100 < 2) - 7,
    "counts": np.where(np.arange(400) % 60 < 2, np.arange(400) % 3, 0).astype(float),
    "zeros and numbers": np.where(np.arange(400) % 40 == 0, np.arange(400) / 400, 0.0),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("column", ODD)
def test_a_useless_column_that_nearly_always_has_one_value_does_no_harm(name, column):
    whole = np.c_[X, np.random.default_rng(1).permutation(ODD[column])]
    plain, model = MODELS[name]().fit(X[TRAIN], Y[TRAIN]), MODELS[name]().fit(whole[TRAIN], Y[TRAIN])
    assert error(model, whole[REST], Y[REST]) <= error(plain, X[REST], Y[REST]) + 0.04         # a standard error of 200 rows


def test_rows_of_a_rare_level_are_not_at_an_end_of_the_scale():
    model = PRank(random_state=0).fit(np.c_[X[TRAIN], np.arange(200) < 3], Y[TRAIN])
    assert error(model, np.c_[X[REST], np.ones(200)], Y[REST]) < 0.8 * np.abs(Y[REST] - np.median(Y)).mean()


def test_ordinary_columns_are_divided_by_their_deviation():
    scaling = PRank(random_state=0).fit(np.c_[X, np.arange(400) % 2], Y).engine_.model_.scaling
    assert np.array_equal(scaling.spread[:3], scaling.deviation[:3])
    assert scaling.spread == pytest.approx([*X.std(axis=0), 0.5], rel=1e-12)


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_see_sparse_rows_as_dense_ones(name):
    model = KERNELS[name]().fit(X[TRAIN], Y[TRAIN])
    buffer = io.BytesIO()
    engine = getattr(model, "engine_", model)
    engine.save(buffer)
    for trained in (model, Engine.load(io.BytesIO(buffer.getvalue()))):
        for form in (sparse.csr_array, sparse.csc_matrix):
            assert np.array_equal(trained.predict(form(X)), trained.predict(X))
    if not isinstance(model, SVOR):
        other = KERNELS[name]().fit(X[TRAIN], Y[TRAIN])
        model.partial_fit(sparse.csr_array(X[REST]), Y[REST])
        assert np.array_equal(model.predict(X), other.partial_fit(X[REST], Y[REST]).predict(X))


@pytest.mark.parametrize("options", [{}, {"plugins": ["dual-kernel"], "kernel": "rbf"}])
def test_sequences_of_sparse_rows_are_those_of_dense_ones(options):
    parts = [(X[i:i + 5], Y[i:i + 5].tolist()) for i in range(0, 200, 5)]
    rows, labels = map(list, zip(*parts, strict=True))
    thin = [sparse.csr_array(part) for part in rows]
    engine = Engine("sequence", scale=True, epochs=3, random_state=0, **options).fit(rows, labels)
    assert list(engine.predict(thin)) == list(engine.predict(rows))


def test_linear_streams_of_both_forms_are_one_stream():
    dense, mixed = (CuSumRank(random_state=0, classes=[0, 1, 2, 3]).partial_fit(X[TRAIN], Y[TRAIN]) for _ in range(2))
    dense.partial_fit(X[REST], Y[REST])
    mixed.partial_fit(sparse.csr_array(X[REST]), Y[REST])
    np.testing.assert_allclose(mixed.coef_, dense.coef_, rtol=1e-9)


@pytest.mark.parametrize("value", [1e6, -1e100])
@pytest.mark.parametrize("name", ["cusum", "classes", "svor"])
def test_a_wild_cell_is_named(name, value):
    wild = X.copy()
    wild[17, 1] = value
    with pytest.warns(ScaleWarning, match=r"X\[17, 1\] is -?1e\+"):
        MODELS[name]().fit(wild, Y)
    weights = np.ones(400)
    weights[:17] = 0
    with pytest.warns(ScaleWarning, match=r"X\[17, 1\] is"):
        CuSumRank(random_state=0).fit(wild, Y, sample_weight=weights)


def test_a_wild_cell_of_a_stream_is_named_and_ordinary_columns_are_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScaleWarning)
        heavy = np.c_[X, np.exp(3 * X[:, 2]), np.arange(400) == 3]
        model = PRank(random_state=0, classes=[0, 1, 2, 3]).partial_fit(heavy[:100], Y[:100])
        for i in range(100, 140):
            model.partial_fit(heavy[i:i + 1], Y[i:i + 1])
    with pytest.warns(ScaleWarning, match=r"X\[0, 2\] is 1e\+06"):
        model.partial_fit([[5.0, 0.0, 1e6, 1.0, 0.0]], [1])


@pytest.mark.parametrize("mean", [0.0, 1e8, 1.7e9])
def test_spreads_of_sparse_columns_keep_their_digits(mean):
    values = mean + RANDOM.normal(size=(500, 1))
    values[::7] = 0
    scaling = Engine("cusum", scale=True, epochs=1).fit(sparse.csr_array(values), np.arange(500) % 2).model_.scaling
    assert scaling.deviation == pytest.approx(values.std(axis=0), rel=1e-9)
    full = mean + RANDOM.normal(size=(500, 1))
    scaling = Engine("cusum", scale=True, epochs=1).fit(sparse.csr_array(full), np.arange(500) % 2).model_.scaling
    assert scaling.deviation == pytest.approx(full.std(axis=0), rel=1e-6)
