"""Feature maps and their sums against their definitions, the calls of Python maps, and error messages about faulty maps."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from plain import Engine
from reference import feature_maps as twins

from structperc import hookimpl
from structperc.components import (
    Argmax,
    BlockFeatures,
    Features,
    Outputs,
    PrimalWeights,
    RowFeatures,
    RowPart,
    Rows,
    SumFeatures,
    TablePart,
    ThresholdFeatures,
    VectorFeatures,
)
from structperc.core.component import adapted
from structperc.core.features import has_constant_gram
from structperc.errors import DataError, PluginError
from structperc.testing import check_problem

D = 5


class Written(VectorFeatures):
    """Atom t: row t times (t + 1), in the form of a list, an array or a sparse matrix."""

    def __init__(self, form=np.asarray):
        super().__init__(D)
        self.form = form

    def vectors(self, x):
        return self.form(x.rows * np.arange(1, x.n_rows + 1)[:, None])


class Counting(Features):
    """A map in Python: as many atoms as rows, each the sum of its row's values and the number of the row."""

    def __init__(self):
        self.shape(2)

    def phi(self, x):
        return np.column_stack([x.rows.sum(axis=1), np.arange(x.n_rows)])

    def n_atoms(self, x):
        return x.n_rows

    def scores(self, w, x):
        return self.phi(x) @ w

    def add(self, w, x, c):
        w += c @ self.phi(x)


def as_lists(vectors):
    return vectors.tolist() or np.empty((0, D), dtype=int)


def scaled(x):
    return x * np.arange(1, len(x) + 1)[:, None]


MAPS = {        # name: (the map, for dense or for sparse X; its twin; whether it describes examples of one row)
    "rows": (lambda sparse: RowFeatures(D), lambda x: x, False),
    "blocks": (lambda sparse: BlockFeatures(3, D, feature_major=sparse), lambda x: twins.rows(x, 3, True), True),
    "four blocks": (lambda sparse: BlockFeatures(4, D, False, feature_major=sparse), lambda x: twins.rows(x, 4), True),
    "row part": (lambda sparse: RowPart(5, D, True, feature_major=sparse), lambda x: twins.rows(x, 5, True), False),
    "plain row part": (lambda sparse: RowPart(3, D), lambda x: twins.rows(x, 3), False),
    "row part with intercept": (lambda sparse: RowPart(2, D, True), lambda x: twins.rows(x, 2, True), False),
    "thresholds": (lambda sparse: ThresholdFeatures(3, D, feature_major=sparse), lambda x: twins.thresholds(x, 3), True),
    "table": (lambda sparse: TablePart((2, 5)), lambda x: twins.table(x, 10), False),
    "one weight": (lambda sparse: TablePart(1, value=-1.5), lambda x: twins.table(x, 1, value=-1.5), False),
    "table per row": (lambda sparse: TablePart(3, per_row=True, value=2), lambda x: twins.table(x, 3, True, 2), False),
    "vectors": (lambda sparse: Written(), scaled, False),
    "sparse vectors": (lambda sparse: Written(scipy.sparse.csr_matrix), scaled, False),
    "coordinates": (lambda sparse: Written(scipy.sparse.coo_array), scaled, False),
    "lists": (lambda sparse: Written(as_lists), scaled, False),
    "python": (lambda sparse: Counting(), lambda x: np.column_stack([x.sum(axis=1), np.arange(len(x))]), False),
}
DENSE_ONLY = {"vectors", "sparse vectors", "coordinates", "lists", "python", "plain row part", "rows"}    # weights in one row
SUMS = st.lists(st.sampled_from([name for name in MAPS if name != "thresholds"]), min_size=2, max_size=3)


def stored(X, form, dtype, repeated):
    """X as dense or CSR. With `repeated`, a sparse row has the same column twice."""
    X = X.astype(dtype)
    if form == "dense":
        return X
    csr = scipy.sparse.csr_matrix(X)
    if repeated:
        csr = scipy.sparse.csr_matrix((np.repeat(csr.data / 2, 2), np.repeat(csr.indices, 2), 2 * csr.indptr), X.shape)
    if form == "CSR with 64-bit indices":
        csr.indices, csr.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    return csr


def examples(random, one_row, n=3):
    """Blocks of rows with few non-zeros, in quarters: sums in any order have the same bits, also in float32."""
    sizes = np.ones(n, dtype=int) if one_row else random.integers(0 if n > 2 else 1, 4, n)
    X = np.round(random.normal(size=(sizes.sum(), D)) * 4) / 4 * (random.random((sizes.sum(), D)) < 0.5)
    return X, np.append(0, np.cumsum(sizes)).astype(np.int64)


def assert_is_twin(features, phi, X, offsets, form, dtype, repeated, random):
    """All methods of a map agree with the twin, called from Python and as the loop calls them."""
    blocks = [phi(x) for x in np.split(X, offsets[1:-1])]
    rows = Rows(stored(X, form, dtype, repeated), offsets).summed()         # as a store prepares them
    w = random.normal(size=features.n_weights)
    assert features.max_atoms(rows) == max(len(block) for block in blocks)
    for i, block in enumerate(blocks):
        x, n = rows.example(i), len(block)
        assert features.n_atoms(x) == n
        x.n_atoms = n
        vectors = np.array([features.vector(x, unit) for unit in np.eye(n)]).reshape(n, features.n_weights)
        np.testing.assert_allclose(vectors @ vectors.T, block @ block.T, atol=1e-9)
        for faced in (features, adapted(features)):
            c = random.normal(size=n) * (random.random(n) < 0.7)
            np.testing.assert_allclose(faced.scores(w, x), vectors @ w, atol=1e-9)
            np.testing.assert_allclose(faced.vector(x, c), vectors.T @ c, atol=1e-9)
            total = c @ block
            assert faced.norm(x, c) == pytest.approx(total @ total, rel=1e-9, abs=1e-9)
            assert faced.norm(x, c) == faced.norm(x, c)
        where, values = features.vector(x, c, sparse=True)
        assert (np.diff(where) > 0).all() and (values != 0).all()
        sparse = np.zeros(features.n_weights)
        sparse[where] = values
        np.testing.assert_allclose(sparse, vectors.T @ c, atol=1e-9)
        if has_constant_gram(features) and n:
            own, off_diagonal = features.constant_gram(x)
            np.testing.assert_allclose(off_diagonal + own * np.eye(n), block @ block.T, atol=1e-9)
        for j, other in enumerate(blocks):
            z = rows.example(j)
            inner = [[faced.inner(x, a, z, b) for b in range(len(other))] for a in range(n)]
            np.testing.assert_allclose(np.reshape(inner, (n, len(other))), block @ other.T, atol=1e-9)


FORMS = st.sampled_from(["dense", "CSR", "CSR with 64-bit indices"])


@pytest.mark.parametrize("name", MAPS)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), form=FORMS, dtype=st.sampled_from(["float64", "float32"]), repeated=st.booleans(), sparse=st.booleans())
def test_a_map_is_what_it_is_defined_to_be(name, seed, form, dtype, repeated, sparse):
    random = np.random.default_rng(seed)
    make, phi, one_row = MAPS[name]
    X, offsets = examples(random, one_row)
    assert_is_twin(make(sparse), phi, X, offsets, form, dtype, repeated and form != "dense", random)


@settings(max_examples=60, deadline=None)
@given(names=SUMS, seed=st.integers(0, 10**6), form=FORMS, dtype=st.sampled_from(["float64", "float32"]), repeated=st.booleans(),
       sparse=st.booleans())
def test_a_sum_has_the_atoms_of_its_parts_one_after_the_other(names, seed, form, dtype, repeated, sparse):
    random = np.random.default_rng(seed)
    sparse = sparse and not DENSE_ONLY & set(names)
    one_row = any(MAPS[name][2] for name in names)
    wide = max([{"row part": 8, "blocks": 4, "four blocks": 4}.get(name, 0) for name in names])
    parts = [MAPS[name][0](sparse) for name in names]
    if wide and sparse and any(not isinstance(part, TablePart) and part.layout.row_width != wide for part in parts):
        with pytest.raises(PluginError, match="Construct both with feature_major=False"):
            SumFeatures(*parts)
        return
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    X, offsets = examples(random, one_row)

    def phi(x):
        return twins.together(*[MAPS[name][1](x) for name in names])

    assert_is_twin(total, phi, X, offsets, form, dtype, repeated and form != "dense", random)
    assert_is_twin(pickle.loads(pickle.dumps(total)), phi, X, offsets, form, dtype, False, random)
    assert total.clone().left is not total.left


RESCALED = [("rows",), ("blocks",), ("row part",), ("plain row part",), ("thresholds",), ("table", "table per row"), ("row part", "table"),
            ("blocks", "one weight"), ("table", "row part", "table per row")]
MOVABLE = {"blocks", "row part", "thresholds", "table", "table per row", "one weight"}       # with constant features, or no columns


@pytest.mark.parametrize("names", RESCALED)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), sparse=st.booleans(), shifts=st.booleans())
def test_rescaled_weights_score_rows_in_other_units(names, seed, sparse, shifts):
    random = np.random.default_rng(seed)
    parts = [MAPS[name][0](sparse and not DENSE_ONLY & set(names)) for name in names]
    features = parts[0] if len(parts) == 1 else SumFeatures(*parts)
    X, offsets = examples(random, any(MAPS[name][2] for name in names))
    shift, spread = shifts * random.normal(size=D), random.uniform(0.1, 10, D)
    there, here = Rows(X, offsets), Rows((X - shift) / spread, offsets)
    w = random.normal(size=features.n_weights)
    before = w.copy()
    moved = features.rescaled(w, shift, spread)
    assert np.array_equal(w, before)
    if shifts and not MOVABLE >= set(names):
        assert moved is None
        return
    for i in range(there.n_examples):
        np.testing.assert_allclose(features.scores(moved, there.example(i)), features.scores(w, here.example(i)), atol=1e-9)


def test_rescaled_refuses_other_sizes():
    for w, shift, spread in ((9, 2, 2), (15, 4, 4), (15, 5, 4)):
        with pytest.raises(DataError, match="rescaled got|expected one of each per column"):
            RowPart(3, D).rescaled(np.zeros(w), np.zeros(shift), np.ones(spread))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("names", [("blocks",), ("row part",), ("rows",), ("thresholds",), ("row part", "table"), ("blocks", "one weight"),
                                   ("plain row part", "table"), ("table", "row part", "table per row"), ("table", "one weight")])
def test_cells_and_explicit_weights_are_the_whole_map(names, sparse):
    """phi(x, a) . phi(z, b) = [same block] x_row . z_row + the product of the explicit weights."""
    random = np.random.default_rng(0)
    parts = [MAPS[name][0](sparse) for name in names]
    features = parts[0] if len(parts) == 1 else SumFeatures(*parts)
    X, offsets = examples(random, any(MAPS[name][2] for name in names))
    rows, blank = Rows(X, offsets), Rows(np.zeros((len(X), 0)), offsets)
    explicit = features.explicit_part()
    for i in range(rows.n_examples):
        x = rows.example(i)
        n = features.n_atoms(x)
        vectors = np.array([features.vector(x, unit) for unit in np.eye(n)]).reshape(n, features.n_weights)
        expected = np.zeros((n, n))
        if explicit is not None:
            assert explicit.n_atoms(blank.example(i)) == n
            besides = np.array([explicit.vector(blank.example(i), unit) for unit in np.eye(n)]).reshape(n, explicit.n_weights)
            expected += besides @ besides.T
        for a in range(n):
            for b in range(n):
                here, there = (features.cell(x, atom) if features.layout.n_blocks else None for atom in (a, b))
                if here is not None and there is not None and here[1] == there[1]:
                    assert 0 <= here[1] < features.layout.n_blocks
                    expected[a, b] += x.rows[here[0]] @ x.rows[there[0]]
        np.testing.assert_allclose(vectors @ vectors.T, expected, atol=1e-9)


def test_where_weights_belong():
    features = BlockFeatures(2, 3) + TablePart((2, 2), "pair_scores_")

    assert features.column_of(np.arange(12)).tolist() == [0, 1, 2, 0, 1, 2, -1, -1, -1, -1, -1, -1]
    assert features.layout.atoms_per_example == 6
    assert features.layout.rows_per_example == 1
    assert features.n_features == 3
    assert not has_constant_gram(features)
    assert has_constant_gram(BlockFeatures(2, 3)) and not has_constant_gram(RowFeatures(3))
    assert RowFeatures(3).layout.atoms_per_example is None


def test_sparse_rows_of_weights_that_a_step_can_touch():
    rows = Rows(scipy.sparse.csr_matrix(([1.0, 1.0], ([0, 1], [7, 2])), (2, 9)))

    features = BlockFeatures(3, 9, feature_major=True) + TablePart((3, 3))

    touched, all_rows = (saved_rows(features, rows) for features in (features, BlockFeatures(3, 9) + TablePart((3, 3))))
    assert touched.tolist() == [2, 7, 9, 10, 11, 12]
    assert all_rows is None


def saved_rows(features, rows):
    """The rows of weights that are saved before steps on these examples. None means all."""
    weights = PrimalWeights()
    weights.allocate(features)
    return weights.snapshot(rows).touched


@pytest.mark.parametrize(("make", "why"), [
    (lambda: RowPart(5, D, feature_major=True) + Written(), "has its weights in 1 row of 5. It cannot be added to a map with rows of 8"),
    (lambda: RowPart(2, 3) + RowPart(2, 4), "made for 3 features, but RowPart for 4"),
    (lambda: SumFeatures(RowFeatures(2)), "was given 1 feature map; a sum has two or more"),
])
def test_maps_that_cannot_be_put_together(make, why):
    with pytest.raises(PluginError, match=why):
        make()


def test_only_maps_can_be_added():
    with pytest.raises(TypeError, match="unsupported operand"):
        RowFeatures(2) + 1


# ---- in training ----


class Atoms(Outputs):
    def enumerate(self, x):
        return ((a,) for a in range(x.n_atoms))


class Largest(Argmax):
    def argmax(self, scores, x):
        return (int(np.argmax(scores)),)


def problem(make):
    """A problem that predicts the atom of largest score, with the map from `make(context)`."""
    class Problem:
        name = "largest"

        @hookimpl
        def structperc_outputs(self, context):
            return Atoms()

        @hookimpl
        def structperc_features(self, context):
            return make(context)

        @hookimpl
        def structperc_argmax(self, context):
            return Largest()

        @staticmethod
        def sample(random, n_examples):
            return [random.normal(size=(n, D)) for n in random.integers(1, 4, n_examples)]

    return Problem()


@pytest.mark.parametrize("update", ["perceptron", "pa1"])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("form", ["dense", "CSR"])
def test_a_sum_learns_as_one_map_of_its_vectors(form, average, update):
    random = np.random.default_rng(1)
    X, offsets = examples(random, False, n=60)
    keep = np.flatnonzero(np.diff(offsets))
    blocks = [X[offsets[i]:offsets[i + 1]] for i in keep]
    X, offsets = np.concatenate(blocks), np.append(0, np.cumsum([len(block) for block in blocks]))
    y = [[int(random.integers(2 * len(block) + 3))] for block in blocks]

    class Whole(VectorFeatures):
        def vectors(self, x):
            return twins.together(twins.rows(x.rows, 2, True), twins.table(x.rows, 3))

    X = X if form == "dense" else scipy.sparse.csr_matrix(X)
    options = {"update": update, "average": average, "epochs": 4}
    whole = Engine(problem(lambda context: Whole(2 * (D + 1) + 3)), **options).fit(X, y, offsets=offsets, record_predictions=True)
    summed = Engine(problem(lambda context: RowPart(2, D, True, context.sparse) + TablePart(3, "table_")), **options)
    summed.fit(X, y, offsets=offsets, record_predictions=True)

    assert list(summed.online_predictions_) == list(whole.online_predictions_)
    coefficients, intercepts = np.split(whole.coef_[:12].reshape(2, D + 1), [D], axis=1)
    np.testing.assert_allclose(summed.coef_, coefficients, atol=1e-9)
    np.testing.assert_allclose(summed.intercept_, intercepts[:, 0], atol=1e-9)
    np.testing.assert_allclose(summed.table_, whole.coef_[12:], atol=1e-9)
    assert summed.predict(X, offsets=offsets).tolist() == whole.predict(X, offsets=offsets).tolist()


@pytest.mark.parametrize("options", [{}, {"update": "pa1", "average": True}, {"plugins": ["dual-kernel"], "update": "pa1"},
                                     {"plugins": ["dual-kernel"], "kernel": "rbf", "gamma": 0.5}])
@pytest.mark.parametrize("make", [
    lambda context: RowPart(2, D, True, context.sparse) + TablePart(4),
    lambda context: TablePart(2) + RowPart(2, D),
], ids=["blocks + table", "table + blocks"])
def test_sums_pass_the_battery(make, options):
    options = dict(options)
    check_problem(problem(make), plugins=options.pop("plugins", ()), **options)


def test_a_python_map_and_a_table_pass_the_battery():
    check_problem(problem(lambda context: Counting() + TablePart(2)), update="pa1")


# ---- vectors ----


class Recorded(Written):
    calls = []

    def vectors(self, x):
        self.calls.append(x.index)
        return super().vectors(x)


@pytest.mark.parametrize("update", ["perceptron", "pa1"])
def test_vectors_are_written_once_per_visit_and_once_per_prediction(update):
    random = np.random.default_rng(0)
    X = [random.normal(size=(3, D)) for _ in range(20)]
    y = [[int(random.integers(3))] for _ in X]
    engine = Engine(problem(lambda context: Recorded()), update=update, average=True, epochs=3)
    Recorded.calls.clear()
    engine.fit(X, y)
    epochs = len(engine.mistakes_)
    assert len(Recorded.calls) <= (epochs + 2) * 20         # two more passes before training: over y, and to allocate weights

    Recorded.calls.clear()
    engine.predict(X)
    assert Recorded.calls == list(range(20))
    Recorded.calls.clear()
    engine.atom_scores(X)
    assert Recorded.calls == list(range(20))


def test_one_example_at_a_time_writes_its_vectors_once():
    random = np.random.default_rng(0)
    engine = Engine(problem(lambda context: Recorded()), update="pa1")
    for _ in range(5):
        Recorded.calls.clear()
        engine.partial_fit([random.normal(size=(3, D))], [[1]])
        assert Recorded.calls == [0]


def test_vectors_of_another_shape_are_refused():
    class Narrow(VectorFeatures):
        def vectors(self, x):
            return x.rows[:, 1:]

    with pytest.raises(PluginError, match=r"Narrow.vectors returned shape \(3, 4\) for example 0; expected \(n_atoms, 5\)"):
        Engine(problem(lambda context: Narrow(D))).fit([np.ones((3, D))], [[0]])


def test_weights_of_no_column_are_not_explained_as_one():
    class Rest(VectorFeatures):
        def vectors(self, x):
            return x.rows[:, 2:]

    class Named(Rest):
        def column_of(self, indices):
            return np.asarray(indices) + 2

    X, y = [np.diag([1.0, 2, 3, 4, 5])], [[3]]
    for kind, features in ((Rest, {"feature 0", "feature 1", "feature 2"}), (Named, {"x[2]", "x[3]", "x[4]"})):
        explanation = Engine(problem(lambda context, kind=kind: kind(3))).fit(X, y).explain(X[0])
        assert {c.feature for c in explanation.contributions} <= features
    whole = Engine(problem(lambda context: Written())).fit(X, y).explain(X[0])
    assert "feature 3" in {c.feature for c in whole.contributions}, "as many features as columns are other features nevertheless"


def test_a_map_that_lacks_a_method_says_which():
    class Halfway(Counting):
        add = Features.add

    class Nothing(Features):
        def __init__(self):
            self.shape(2)

    with pytest.raises(PluginError, match=r"Halfway does not implement add\(\)"):
        Engine(problem(lambda context: Halfway())).fit([np.ones((3, D)), np.zeros((3, D))], [[1], [2]])
    with pytest.raises(PluginError, match=r"Nothing does not implement n_atoms\(\)"):
        Engine(problem(lambda context: Nothing())).fit([np.ones((3, D))], [[1]])
    with pytest.raises(PluginError, match=r"Halfway does not implement add\(\)"):
        Engine(problem(lambda context: Halfway() + TablePart(2))).fit([np.ones((3, D)), np.zeros((3, D))], [[1], [2]])
