"""Weight stores: assignment of a vector, rows without repeated columns, and a saved count of visits."""

import io

import numpy as np
import pytest
from plain import Engine
from scipy.sparse import csr_array

from structperc import hookimpl
from structperc.components import Rows, Trainer, Weights
from structperc.errors import DataError, PluginError

pytestmark = pytest.mark.blas


def data(n=60, d=7, sparse=False, seed=0):
    random = np.random.default_rng(seed)
    X = np.round(random.normal(size=(n, d)) * 8) / 8 * (random.random((n, d)) < (0.5 if sparse else 1))
    return csr_array(X) if sparse else X, np.digitize(X[:, 0] - X[:, 1], [-0.5, 0.5]) + 1


def vector(engine):
    return np.array(engine.parts_.weights.vector())


# ---- assign ----


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("problem", ["cusum", "multiclass", "prank"])
def test_what_is_assigned_is_the_vector(problem, average, sparse):
    X, y = data(sparse=sparse)
    one = Engine(problem, average=average, epochs=3, classes=[1, 2, 3]).fit(X, y)
    other = Engine(problem, average=average, epochs=1, classes=[1, 2, 3]).fit(X[:9], y[:9])
    store = other.parts_.weights
    store.assign(vector(one), 25)
    rounding = 4e-16 if average else 0              # a mean is a sum divided by the number of visits
    np.testing.assert_allclose(store.vector(), vector(one), rtol=rounding, atol=0)
    np.testing.assert_allclose(other.atom_scores(X), one.atom_scores(X), rtol=1e3 * rounding, atol=20 * rounding)
    assert store.n_visited == 25


def test_rows_on_demand_are_assigned_where_they_are_not_zero():
    """Sentences of sparse rows: weights of features without a step use no memory."""
    X, y = data(60, 40, sparse=True)
    lengths = [5] * 12
    one, other = (Engine("sequence", average=average, epochs=3, classes=[1, 2, 3]).fit(X[part], y[part], lengths=lengths[:n])
                  for average, part, n in [(False, slice(0, 60), 12), (True, slice(50, 60), 2)])
    other.parts_.weights.assign(vector(one), 4)         # a power of two, so that the mean is not rounded
    assert np.array_equal(vector(other), vector(one))
    for a, b in zip(other.atom_scores(X, lengths=lengths), one.atom_scores(X, lengths=lengths), strict=True):
        assert np.array_equal(a, b)
    other.partial_fit(X, y, lengths=lengths)
    assert not np.array_equal(vector(other), vector(one))


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_the_mean_goes_on_as_if_the_weights_had_been_these_from_the_beginning(decay):
    X, y = data()
    start = np.random.default_rng(1).normal(size=vector(Engine("multiclass", classes=[1, 2, 3]).fit(X, y)).shape)
    averaged, plain = (Engine("multiclass", average=average, decay=decay, classes=[1, 2, 3]).fit(X[:5], y[:5]) for average in (True, False))
    for one in (averaged, plain):
        one.parts_.weights.assign(start, 10)
    total = 10 * start
    for i in range(20):
        plain.partial_fit(X[i:i + 1], y[i:i + 1])
        total = total + vector(plain)
    averaged.partial_fit(X[:20], y[:20])
    np.testing.assert_allclose(vector(averaged), total / 30, rtol=1e-12, atol=1e-12)


def test_another_number_of_weights_is_refused():
    X, y = data()
    with pytest.raises(DataError, match=r"assign got weights of shape \(3,\); this feature map has \(24,\)"):
        Engine("multiclass").fit(X, y).parts_.weights.assign(np.zeros(3), 1)


class Assigning:
    """A plugin whose trainer writes a finished kernel expansion."""

    name = "assigning"
    trainers = ("assigned",)

    def __init__(self, *solution):
        self.solution = solution

    @hookimpl
    def structperc_trainer(self, context):
        plugin = self

        class Write(Trainer):
            def train(self, run):
                run.model.parts.weights.assign(*plugin.solution)
                return "converged"

        return Write() if context.trainer == "assigned" else None


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("average", [False, True])
def test_a_kernel_expansion_can_be_assigned(average, sparse):
    X, y = data(sparse=sparse)
    options = {"kernel": "rbf", "gamma": 0.5, "average": average, "classes": [1, 2, 3]}
    one = Engine("multiclass", plugins=["dual-kernel"], epochs=3, **options).fit(X, y)
    coefficients = np.zeros((60, 3))
    coefficients[one.support_] = one.dual_coef_
    plugins = ["dual-kernel", Assigning(np.append(coefficients, one.intercept_), 180)]
    other = Engine("multiclass", plugins=plugins, trainer="assigned", **options).fit(X, y)
    np.testing.assert_allclose(other.atom_scores(X), one.atom_scores(X), rtol=1e-12, atol=1e-12)
    assert sorted(other.support_) == sorted(one.support_) and other.parts_.weights.n_visited == 180
    np.testing.assert_allclose(other.intercept_, one.intercept_, rtol=1e-12)


def test_an_expansion_must_fit_the_rows():
    X, y = data()
    for solution, why in [((np.zeros(12), 1), r"shape \(12,\); expected \(183,\). A kernel expansion over 60 rows .* 3 explicit weights"),
                          ((np.ones(183), 1), "60 rows with coefficients, more than the budget of 5")]:
        with pytest.raises(DataError, match=why):
            Engine("multiclass", plugins=["dual-kernel", Assigning(*solution)], trainer="assigned", kernel="rbf", budget=5).fit(X, y)
    trained = Engine("multiclass", plugins=["dual-kernel"], kernel="rbf").fit(X, y)
    with pytest.raises(PluginError, match="assign was called before announce"):
        trained.parts_.weights.assign(np.zeros(183), 1)


# ---- rows ----


def rows_of(values, indices, indptr, d=9):
    return Rows(csr_array((np.array(values, dtype=float), np.array(indices, dtype=np.int32), np.array(indptr, dtype=np.int32)),
                          shape=(len(indptr) - 1, d)))


def test_rows_are_copied_only_where_a_column_comes_twice():
    dense, ordered = Rows(np.eye(3)), rows_of([1, 2, 3], [0, 4, 2], [0, 2, 3])
    unordered = rows_of([1, 2, 3, 4], [4, 0, 8, 1], [0, 4, 4])
    assert all(rows.summed() is rows for rows in (dense, ordered, unordered, rows_of([], [], [0, 0])))
    twice = rows_of([1, 2, 3, 4], [4, 0, 4, 1], [0, 4, 4])
    summed = twice.summed()
    assert summed is not twice and summed.X.toarray().tolist() == twice.X.toarray().tolist()
    assert summed.X.indices.tolist() == [0, 1, 4] and summed.summed() is summed and twice.X.nnz == 4


def test_every_part_sees_each_column_once():
    """A store in Python, in training and in prediction."""
    seen = []

    class Looking(Weights):
        def start(self, parts, context):
            super().start(parts, context)
            self.w = np.zeros(self.features.n_weights)

        def scores(self, x):
            seen.append(len(set(x.sparse_rows.indices.tolist())) == x.sparse_rows.nnz)
            return self.features.scores(self.w, x)

        def update(self, x, c):
            self.features.add(self.w, x, c)

        def state(self):
            return {"w": self.w.copy()}

        def restore(self, state):
            self.w = np.array(state["w"])

    twice = csr_array((np.ones(6), np.array([1, 1, 0, 2, 0, 2], dtype=np.int32), np.array([0, 2, 4, 6], dtype=np.int32)), shape=(3, 3))
    engine = Engine("multiclass", plugins=[Looking()]).fit(twice, [1, 2, 1])
    engine.predict(twice)
    engine.partial_fit(twice, [1, 2, 1])
    assert len(seen) >= 9 and all(seen)


@pytest.mark.parametrize("d", [1, 3, 7, 8, 40, 600])
@pytest.mark.parametrize("layout", [np.asarray, np.float32, csr_array])
def test_a_product_has_the_same_bits_for_a_row_alone(layout, d):
    random = np.random.default_rng(d)
    X, w = random.normal(size=(23, d)), random.normal(size=(9, d))
    products = Rows(layout(X)).products(w)
    np.testing.assert_allclose(products, np.asarray(Rows(layout(X)).X @ w.T), rtol=1e-5, atol=1e-5)
    for i in (0, 5, 22):
        assert np.array_equal(Rows(layout(X)[i:i + 1]).products(w)[0], products[i])
        assert np.array_equal(Rows(layout(X)[i:i + 1]).products(w[3:4])[0], products[i, 3:4])


# ---- visits ----


class Counting(Weights):
    """A store with its own averages, whose `state` leaves out `n_visited`."""

    def start(self, parts, context):
        super().start(parts, context)
        self.w, self.late, self.average = np.zeros(self.features.n_weights), np.zeros(self.features.n_weights), context.average

    def scores(self, x):
        return self.features.scores(self.w, x)

    def update(self, x, c):
        step = self.features.vector(x, c)
        self.w, self.late = self.w + step, self.late + self.n_visited * step

    def vector(self):
        return self.w - self.late / self.n_visited if self.average and self.n_visited else self.w

    def averaged(self):
        mean = Counting()
        mean.features, mean.w = self.features, self.vector()
        return mean

    def state(self):
        return {"w": self.w, "late": self.late}

    def restore(self, state):
        self.w, self.late = state["w"], state["late"]


def test_visits_are_counted_and_kept_for_stores_in_python():
    X, y = data()
    own, ours = (Engine("multiclass", average=True, epochs=2, classes=[1, 2, 3], plugins=plugins).fit(X, y)
                 for plugins in ([Counting()], []))
    np.testing.assert_allclose(vector(own), vector(ours), rtol=1e-12, atol=1e-12)
    buffer = io.BytesIO()
    own.save(buffer)
    again = Engine.load(io.BytesIO(buffer.getvalue()), plugins=[Counting()])
    assert again.parts_.weights.n_visited == own.parts_.weights.n_visited == 120
    assert np.array_equal(again.atom_scores(X), own.atom_scores(X))
    for one in (again, ours):
        one.partial_fit(X, y)
    np.testing.assert_allclose(vector(again), vector(ours), rtol=1e-12, atol=1e-12)
    broken = X.copy()
    broken[4] = np.nan
    with pytest.raises(DataError):
        again.partial_fit(broken, y)
    assert again.parts_.weights.n_visited == 180
