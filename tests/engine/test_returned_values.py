"""Compiled code reads the return values of a part's methods only after a check. The error names the class and the method."""

import re

import numpy as np
import pytest
from plain import Engine
from scipy.sparse import coo_array, csr_array
from subsets import Subsets

from structperc import hookimpl
from structperc.components import (
    BlockFeatures,
    ClassOutputs,
    Features,
    HammingLoss,
    LargestArgmax,
    Outputs,
    PassiveAggressiveUpdate,
    PerceptronUpdate,
    PrimalWeights,
    Reader,
    RowFeatures,
    Rows,
    SecondStage,
    Structures,
    Trainer,
    VectorFeatures,
    Weights,
)
from structperc.errors import DataError, DataWarning, PluginError
from structperc.pictures import Display

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 4))
Y = (X @ RANDOM.normal(size=(4, 3))).argmax(axis=1)
BLOCKS, SUBSETS = [np.ones((2, 2)), np.array([[1.0, 2.0], [-1.0, 0.5]])], [[0], [1]]
KINDS = {Reader: "reader", Outputs: "outputs", Features: "features", Weights: "weights", Trainer: "trainer"}
NAN = float("nan")


def plugin(part, *arguments):
    """A plugin with one hook, which returns a new part of this class."""
    hook = "structperc_" + next(name for kind, name in KINDS.items() if issubclass(part, kind))
    return type("P", (), {hook: hookimpl(lambda self, context: part(*arguments))})()


def returning(base, method, value, name="Mine"):
    """A class with one method that returns this value."""
    return type(name, (base,), {method: lambda self, *arguments, **named: value})


def refused(sentence, part, problem="multiclass", data=(X, Y), **options):
    arguments = {BlockFeatures: (3, 4), RowFeatures: (2,)}.get(part.__mro__[1], ())
    plugins = [plugin(part, *arguments)] if issubclass(part, tuple(KINDS)) else [part(*((3,) if issubclass(part, LargestArgmax) else ()))]
    with pytest.raises(PluginError, match=sentence):
        Engine(problem, plugins=plugins, **options).fit(*data)


# ---- gold outputs ----


@pytest.mark.parametrize("method", ["encode", "admissible"])
@pytest.mark.parametrize("value", [None, [1, 2], 5])
@pytest.mark.parametrize("problem", ["labels", "atoms"])
def test_gold_outputs_are_structures(problem, method, value):
    base, of = (ClassOutputs, {}) if problem == "labels" else (Outputs, {"problem": Subsets(), "data": (BLOCKS, SUBSETS)})

    refused(rf"Mine.{method} returned {re.escape(repr(value))}; expected Structures", returning(base, method, value), **of)


@pytest.mark.parametrize("method", ["encode", "admissible"])
def test_gold_outputs_are_as_many_as_examples(method):
    few = Structures(np.ones(3, dtype=np.intc))

    refused(f"Mine.{method} made 3 gold outputs for 60 examples", returning(ClassOutputs, method, few))


@pytest.mark.parametrize("method", ["encode", "admissible"])
@pytest.mark.parametrize("code", [0, 4, 10**6, -5])
def test_codes_of_labels_are_labels(method, code):
    codes = Structures(np.array([1] * 59 + [code], dtype=np.intc))

    refused(rf"Mine.{method} returned the codes {min(code, 1)}..{max(code, 1)}; expected ints from 1 to 3",
            returning(ClassOutputs, method, codes))


def test_a_label_is_one_integer():
    refused("Mine.encode returned structures of several integers or none", returning(ClassOutputs, "encode", Structures.ragged([[]] * 60)))


def test_offsets_of_structures_lie_within_their_integers():
    for offsets in ([0, 5], [0, 3, 2], [-1, 2], []):
        with pytest.raises(ValueError, match="offsets of structures are"):
            Structures(np.ones(3, dtype=np.intc), np.array(offsets, dtype=np.int64))
    with pytest.raises(ValueError, match=r"shape \(2, 2\); expected a vector"):
        Structures(np.ones((2, 2), dtype=np.intc))


def test_an_argmax_cannot_leave_the_labels_even_where_structures_go_unchecked():
    class Blind(ClassOutputs):
        def check_structure(self, x, y):
            pass

    class Wild(LargestArgmax):
        def argmax(self, scores, x):
            return 10**6

    with pytest.raises(PluginError, match="1000000 is not a label of example 0"):
        Engine("multiclass", plugins=[plugin(Blind), Wild(3)]).fit(X, Y)


@pytest.mark.parametrize("value", [5, "abc", None])
def test_labels_are_an_array(value):
    sentence = r"super\(\).find_labels" if value is None else f"Mine.find_labels returned {value!r}; expected an array"
    refused(sentence, returning(ClassOutputs, "find_labels", value))


# ---- readers and rows ----


@pytest.mark.parametrize("method", ["read", "learn"])
@pytest.mark.parametrize("value", [None, [1, 2]])
def test_a_reader_returns_rows(method, value):
    with pytest.raises(PluginError, match=rf"Mine.{'learn|Mine.read'} returned {re.escape(repr(value))}; expected Rows"):
        Engine("multiclass", plugins=[plugin(returning(Reader, method, value))]).fit(X, Y)


def test_a_reader_returns_rows_in_later_calls_too():
    class Later(Reader):
        def learn(self, X, offsets=None):
            return Reader.read(X, offsets)

        def read(self, X, offsets=None):
            return None

    engine = Engine("multiclass", plugins=[plugin(Later)]).fit(X, Y)
    for call in (engine.predict, engine.atom_scores, lambda X: engine.explain(X[0])):
        with pytest.raises(PluginError, match="Later.read"):
            call(X)


@pytest.mark.parametrize("offsets", [[0, 2, 70], [0, 5, 3, 60], [-3, 60], []])
def test_offsets_of_rows_lie_within_X(offsets):
    for given in (X, csr_array(X), list(X)):
        with pytest.raises(PluginError, match="Rows was given the offsets .* never fall, from 0 to 60 rows"):
            Rows(given, np.array(offsets, dtype=np.int64))


@pytest.mark.parametrize("offsets", [[0, 60], np.array([0, 60], dtype=np.int32), "all"], ids=str)
def test_offsets_of_rows_are_an_array_of_int64(offsets):
    with pytest.raises(PluginError, match="Rows was given the offsets .*; expected an int64 array"):
        Rows(X, offsets)


@pytest.mark.parametrize("given", [None, 5, "abc", coo_array(X)], ids=lambda given: type(given).__name__)
def test_rows_are_a_matrix_or_a_list_of_objects(given):
    with pytest.raises(PluginError, match="Rows was given [^;]*; expected a matrix, a CSR matrix of SciPy, or a list of objects"):
        Rows(given)


@pytest.mark.parametrize("given", [X[0], X.astype(int), np.asfortranarray(X), X[:, ::2]])
def test_rows_are_read_from_a_matrix_of_floats(given):
    with pytest.raises(PluginError, match="expected a C-contiguous matrix of float64 or float32"):
        Rows(given)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_entries_of_sparse_rows_lie_within_X(index):
    def rows(indices, indptr):
        made = csr_array((np.ones(3), np.array([0, 1, 2]), np.array([0, 2, 3])), shape=(2, 3))
        made.indices, made.indptr = np.array(indices, dtype=index), np.array(indptr, dtype=index)
        return Rows(made)

    assert rows([0, 1, 2], [0, 2, 3]).summed().n_rows == 2
    for indices in ([0, 7, 2], [7, 0, 2], [-1, 0, 2], [0, 1, 3]):
        with pytest.raises(PluginError, match="has entries for the columns"):
            rows(indices, [0, 2, 3]).summed()
    for indptr in ([0, 2, 9], [0, 4, 3], [0, 3]):
        with pytest.raises(PluginError, match="Rows was given the indptr of X"):
            rows([0, 1, 2], indptr)


# ---- trainers ----


@pytest.mark.parametrize(
    ("order", "sentence"),
    [
        (np.array([10**6]), "has example 1000000 at position 0; X has the examples 0..59"),
        (np.array([3, 60]), "has example 60 at position 1"),
        (np.array([-3]), "has example -3 at position 0"),
        ([0, 99], "has example 99 at position 1"),
        ([0.5], r"is \[0.5\]; expected a vector with the numbers of examples"),
        (np.zeros((2, 2), dtype=int), "expected a vector with the numbers of examples"),
        (np.ones(60, dtype=bool), "expected a vector with the numbers of examples"),
        ("all", "expected a vector with the numbers of examples"),
    ],
)
@pytest.mark.parametrize("method", ["run", "pass_without_record"])
def test_the_order_of_a_pass_names_examples(order, sentence, method):
    class Visits(Trainer):
        def train(self, run):
            run.begin_epoch()
            run.end_epoch(getattr(run, method)(order))
            return "done"

    refused(sentence, Visits)


def test_an_order_may_be_a_list():
    class Visits(Trainer):
        def train(self, run):
            run.begin_epoch()
            run.end_epoch(run.run([0, 1, 1, 5]))
            return "done"

    assert Engine("multiclass", plugins=[plugin(Visits)]).fit(X, Y).parts_.weights.n_visited == 4


def test_a_pass_belongs_to_an_epoch():
    class Early(Trainer):
        def train(self, run):
            run.run()
            return "done"

    class Late(Trainer):
        def train(self, run):
            run.begin_epoch()
            run.end_epoch(run.run())
            run.run()
            return "done"

    for trainer in (Early, Late):
        refused(f"{trainer.__name__}.train called run outside of an epoch; call begin_epoch before", trainer)


def test_none_is_no_example():
    """Compiled methods would read the fields of None."""
    engine = Engine("multiclass").fit(X, Y)
    parts = engine.parts_
    for call in (lambda: parts.features.scores(parts.weights.vector(), None), lambda: parts.weights.scores(None),
                 lambda: parts.outputs.count(None, 1), lambda: parts.argmax.argmax(np.zeros(3), None), lambda: parts.features + None):
        with pytest.raises(TypeError):
            call()


# ---- feature maps ----


@pytest.mark.parametrize("value", [-1, 5.0, None, "2"])
def test_the_number_of_atoms_is_a_whole_number(value):
    for data in ((BLOCKS, SUBSETS), (BLOCKS, [[], []])):
        refused(f"Mine.n_atoms returned {value!r} for example 0; expected a whole number, at least 0",
                returning(RowFeatures, "n_atoms", value), Subsets(), data)
    refused(f"Mine.max_atoms returned {value!r}; expected a whole number", returning(RowFeatures, "max_atoms", value), Subsets(),
            (BLOCKS, SUBSETS))


class Atoms(Features):
    """Given numbers of atoms, one per row. The scores are the row's numbers times the weights, repeated."""

    def __init__(self, *n_atoms):
        self.numbers = n_atoms
        self.shape(4)

    def n_atoms(self, x):
        return self.numbers[x.index % len(self.numbers)]

    def scores(self, w, x):
        return np.resize(w * x.rows[0], self.n_atoms(x))

    def add(self, w, x, c):
        for a, value in enumerate(c):
            w[a % 4] += value * x.rows[0, a % 4]


@pytest.mark.parametrize("options", [{}, {"loss_weight": 1.0}, {"update": "log-loss"}, {"update": "pa1"}], ids=str)
@pytest.mark.parametrize(("problem", "n_labels"), [("multiclass", 3), ("cusum", 4), ("prank", 4)])
def test_every_example_has_as_many_atoms_as_labels_need(problem, n_labels, options):
    """Compiled code does not check the number of atoms."""
    y = np.arange(60) % n_labels
    for few, sentence in (((2,), "Atoms has 2 atoms"), ((5,), "Atoms has 5 atoms"),
                          ((3, 2), r"Atoms has another number of atoms in example \d+")):
        with pytest.raises(PluginError, match=f"{sentence}, but {n_labels} labels of .* need 3"):
            Engine(problem, plugins=[plugin(Atoms, *few)], **options).fit(X, y)
    with pytest.raises(PluginError, match=f"RowFeatures has 1 atoms, but {n_labels} labels of .* need 3"):
        Engine(problem, plugins=[plugin(RowFeatures, 4)], **options).fit(X, y)
    Engine(problem, plugins=[plugin(Atoms, 3)], **options).fit(X, y)


def test_examples_to_predict_have_as_many_atoms_too():
    engine = Engine("multiclass", plugins=[plugin(Atoms, 3)]).fit(X, Y)
    engine.parts_.features.numbers = (3, 2)
    for call in (lambda: engine.predict(X[:4]), lambda: engine.predict(X[:4], k=2), lambda: engine.margins(X[:4])):
        with pytest.raises(PluginError, match="Atoms has .*atoms in example 1, but 3 labels of ClassOutputs need 3"):
            call()


@pytest.mark.parametrize(("n_blocks", "n_features"), [(-1, 4), (3, -4)])
def test_sizes_of_a_map_are_not_negative(n_blocks, n_features):
    for kind in (BlockFeatures, RowFeatures):
        with pytest.raises(PluginError, match=r"(n_blocks|n_features)=-\d; expected a whole number from 0"):
            kind(*((n_blocks, n_features) if kind is BlockFeatures else (n_features if n_features < 0 else n_blocks,)))


def test_a_map_without_a_shape_is_refused():
    class Bare(Features):
        def __init__(self):
            pass

    refused(r"Bare has no weights; call self.shape\(n_weights, ...\) in its constructor", Bare)


@pytest.mark.parametrize("value", [NAN, float("inf")])
def test_scores_that_are_not_finite_are_said_whose_they_are(value):
    class Phi(BlockFeatures):
        def scores(self, w, x):
            scores = np.array(super().scores(w, x))
            scores[1] = value if x.index == 2 else scores[1]
            return scores

    refused(f"Phi.scores returned {value} for atom 1 of example 2; expected finite numbers", Phi)


def test_scores_of_a_store_that_are_not_finite_are_said_whose_they_are():
    class Store(PrimalWeights):
        def scores(self, x):
            return super().scores(x) * NAN

    refused("Store.scores returned nan for atom 0 of example 0; expected finite numbers", Store)


def test_a_row_that_is_not_finite_is_still_the_fault_of_the_row():
    class Phi(BlockFeatures):
        def scores(self, w, x):
            return super().scores(w, x)

    broken = X.copy()
    broken[3, 2] = NAN
    with pytest.raises(ValueError, match=r"X\[3, 2\]|row 3"):
        Engine("multiclass", plugins=[plugin(Phi, 3, 4)]).fit(broken, Y)


@pytest.mark.parametrize("value", [-1.0, NAN, None, "long"])
def test_a_norm_is_a_number_at_least_0(value):
    shown = value if isinstance(value, float) else repr(value)
    for base in (BlockFeatures, PrimalWeights):
        refused(rf"Mine.norm returned {shown} for example \d+; expected a finite number, at least 0", returning(base, "norm", value),
                update="pa1")


def test_a_norm_of_0_is_that_of_no_step():
    """A passive-aggressive rule would skip the step without an error."""
    refused(r"Mine.norm returned 0 for example \d+; expected [1-9].*, the squared length of what add adds",
            returning(BlockFeatures, "norm", 0.0), update="pa1")
    zeros = returning(BlockFeatures, "norm", 0.0)
    with pytest.warns(DataWarning, match="all rows of X are equal"):
        assert Engine("multiclass", update="pa1", fit_intercept=False, plugins=[plugin(zeros, 3, 4, False)]).fit(0 * X, Y).mistakes_


@pytest.mark.parametrize("value", [NAN, None])
def test_an_inner_product_is_a_number(value):
    shown = value if isinstance(value, float) else repr(value)
    refused(rf"Mine.inner returned {shown} for example \d+; expected a finite number", returning(BlockFeatures, "inner", value),
            update="exact-pa1")


@pytest.mark.parametrize("value", [None, (1.0, NAN), (-1.0, 0.0)])
def test_a_constant_gram_matrix_is_two_numbers(value):
    refused("Mine.constant_gram returned", returning(BlockFeatures, "constant_gram", value), update="exact-pa1")


def test_methods_that_change_an_array_return_nothing():
    class Copies(BlockFeatures):
        def add(self, w, x, c):
            w = w.copy()
            super().add(w, x, c)
            return w

    class Returns(BlockFeatures):
        def add(self, w, x, c):
            super().add(w, x, c)
            return w

    class Store(PrimalWeights):
        def update(self, x, c):
            return np.zeros(3)

    refused(r"Copies.add returned array.* for example \d+; expected None, since it changes the array", Copies)
    refused(r"Store.update returned array", Store)
    plain, same = (Engine("multiclass", plugins=[plugin(kind, 3, 4)], fit_intercept=False).fit(X, Y) for kind in (BlockFeatures, Returns))
    assert np.array_equal(plain.predict(X), same.predict(X))


@pytest.mark.parametrize("value", [5, (0,), (0, 9), (9, 0), (0.0, 0), "ab"])
def test_a_cell_is_a_row_and_a_block(value):
    with pytest.raises(PluginError, match=re.escape(f"Mine.cell returned {value!r} for atom 0 of example 0. Expected: a row below 1")):
        Engine("multiclass", plugins=[plugin(returning(BlockFeatures, "cell", value), 3, 4), "dual-kernel"]).fit(X, Y)


def test_an_explicit_part_is_a_map():
    class Mine(BlockFeatures):
        def cell(self, x, a):
            return super().cell(x, a)

        def explicit_part(self):
            return 5

    with pytest.raises(PluginError, match="Mine.explicit_part returned 5; expected a feature map or None"):
        Engine("multiclass", plugins=[plugin(Mine, 3, 4), "dual-kernel"]).fit(X, Y)


@pytest.mark.parametrize("make", [np.array, csr_array], ids=["dense", "sparse"])
def test_vectors_of_atoms_are_finite(make):
    class Vectors(VectorFeatures):
        def vectors(self, x):
            return make(np.full((2, 2), NAN if x.index else 1.0))

    with pytest.raises(PluginError, match="Vectors.vectors returned nan for example 1; expected finite numbers"):
        Engine(Subsets(), plugins=[Vectors(2)]).fit(BLOCKS, SUBSETS)


# ---- stores ----


def test_a_start_of_its_own_begins_with_that_of_the_base_class():
    for base, data in ((PrimalWeights, (X, Y)), (LargestArgmax, (X, Y))):
        refused(r"Mine does not know the .* yet; a start of its own begins with super\(\).start", returning(base, "start", None), data=data)
    refused("Mine does not know the outputs yet", returning(HammingLoss, "start", None), Subsets(), (BLOCKS, SUBSETS))


@pytest.mark.parametrize("value", [None, [1], 0])
def test_a_state_is_a_dict(value):
    class Mine(PerceptronUpdate):
        def state(self):
            return value

        def restore(self, state):
            pass

    engine = Engine("multiclass", plugins=[Mine()]).fit(X, Y)
    with pytest.raises(PluginError, match=re.escape(f"Mine.state returned {value!r}; expected a dict of arrays")):
        engine.__reduce__()


@pytest.mark.parametrize("value", [None, 5, PrimalWeights()])
def test_averaged_returns_a_store_that_has_started(value):
    engine = Engine("multiclass", plugins=[plugin(returning(PrimalWeights, "averaged", value))]).fit(X, Y)

    with pytest.raises(PluginError, match="Mine.averaged returned|PrimalWeights does not know the feature map"):
        engine.predict(X)


@pytest.mark.parametrize("value", [5, np.zeros((60, 2)), np.zeros(60), (np.zeros(5), np.arange(61)), "ab"])
def test_scores_of_many_examples_have_a_number_per_atom(value):
    for base, arguments in ((PrimalWeights, ()), (BlockFeatures, (3, 4))):
        engine = Engine("multiclass", plugins=[plugin(returning(base, "batch_scores", value), *arguments)]).fit(X, Y)
        for call in (engine.predict, engine.atom_scores):
            with pytest.raises(PluginError, match="Mine.batch_scores returned"):
                call(X)


def test_rows_of_a_store_are_rows():
    engine = Engine("multiclass").fit(X, Y)
    refused("Mine.prepare returned None; expected Rows", returning(PrimalWeights, "prepare", None))
    assert engine.predict(X).shape == (60,)


# ---- outputs, losses, solvers and rules ----


@pytest.mark.parametrize("value", [None, "yes", 1.0, [True]])
def test_agreement_is_a_truth_value(value):
    sentence = f"Mine.agrees returned {re.escape(repr(value))} for example 0; expected True or False"
    refused(sentence, returning(ClassOutputs, "agrees", value))


@pytest.mark.parametrize(("base", "method"), [(Outputs, "count"), (HammingLoss, "augment")])
def test_a_forgotten_return_is_no_array(base, method):
    refused(rf"Mine.{method} returned None for example 0; expected \(2,\), one number per atom", returning(base, method, None), Subsets(),
            (BLOCKS, SUBSETS), loss_weight=1.0, update="perceptron")


@pytest.mark.parametrize("value", [NAN, None, float("inf"), "1"])
def test_log_z_is_a_number(value):
    shown = re.escape(repr(value))
    part = returning(LargestArgmax, "marginals", (value, np.ones(3) / 3))

    refused(f"Mine.marginals returned log Z = {shown} for example 0; expected a finite number", part, update="log-loss")
    engine = Engine("multiclass", plugins=[part(3)]).fit(X, Y)
    with pytest.raises(PluginError, match=f"log Z = {shown}"):
        engine.predict_marginals(X)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ([(1, 0.0), (2, 1.0)], "returned the score 1.0 after 0.0 for example 0; expected the best structures first"),
        ([(1, 0.0), (2, NAN)], "returned the score nan of 2 for example 0; expected a finite number"),
        ([(1, 1.0), (2, 0.5), (3, 0.1)], "returned 3 structures for example 0 and k=2"),
        ([1, 2], "expected a list of pairs, a structure and its score"),
        (5, "expected a list of pairs"),
    ],
)
def test_a_list_of_the_best_is_a_list_of_the_best(value, sentence):
    engine = Engine("multiclass", plugins=[returning(LargestArgmax, "k_best", value)(3)]).fit(X, Y)

    with pytest.raises(PluginError, match=f"Mine.k_best .*{sentence}"):
        engine.predict(X, k=2)


@pytest.mark.parametrize("given", [5, None])
def test_structures_are_a_list(given):
    with pytest.raises(DataError, match=f"Structures.ragged was given {given}; expected a list of structures"):
        Structures.ragged(given)


def test_a_rule_leaves_a_loss():
    class Mine(PerceptronUpdate):
        def step(self, trial):
            trial.loss = NAN

    refused(r"Mine.step left the loss nan for example \d+", Mine)


@pytest.mark.parametrize("value", [None, "plain", ("plain",), ("plain", "one"), (1, 1.0)])
def test_searches_is_a_search_and_a_number(value):
    refused("Mine.searches returned .*; expected a pair", returning(PerceptronUpdate, "searches", value))


@pytest.mark.parametrize("value", [None, 2.5, -1])
def test_the_length_of_a_structure_is_a_whole_number(value):
    refused(f"Mine.max_code_length returned {value}; expected a whole number", returning(Outputs, "max_code_length", value), Subsets(),
            (BLOCKS, SUBSETS))


# ---- explanations ----


def displaying(method, value):
    """Outputs of labels whose display returns this value from a method."""
    mine = returning(Display, method, value)
    return type("Displayed", (ClassOutputs,), {"display": lambda self: mine(self)})


def test_a_display_is_a_display():
    engine = Engine("multiclass", plugins=[plugin(returning(ClassOutputs, "display", 5))]).fit(X, Y)

    with pytest.raises(PluginError, match="Mine.display returned 5; expected a structperc.pictures.Display"):
        engine.explain(X[0])


@pytest.mark.parametrize("value", [99, -2])
def test_columns_of_weights_are_columns_of_X(value):
    class Mine(BlockFeatures):
        def column_of(self, indices):
            return np.full(len(indices), value)

    engine = Engine("multiclass", plugins=[plugin(Mine, 3, 4)]).fit(X, Y)
    with pytest.raises(PluginError, match=rf"Mine.column_of returned \[{value}.*expected a column of X or a hashed row"):
        engine.explain(X[0])


@pytest.mark.parametrize("value", [None, ["one"], 3])
def test_every_atom_has_a_name(value):
    engine = Engine("multiclass", plugins=[plugin(displaying("atom_names", value))]).fit(X, Y)

    with pytest.raises(PluginError, match="Mine.atom_names returned .*; expected a name for each of 3 atoms"):
        engine.explain(X[0])


def test_a_picture_is_a_picture():
    engine = Engine("multiclass", plugins=[plugin(displaying("picture", 5))]).fit(X, Y)

    with pytest.raises(PluginError, match="Mine.picture returned 5 for example 0; expected a structperc.pictures.Picture or None"):
        engine.explain(X[0])


@pytest.mark.parametrize("value", ["two atoms are too many", True])
def test_a_check_of_structures_raises_what_is_wrong(value):
    sentence = f"Mine.check_structure returned {value!r}; expected None. Raise an error where something is wrong"
    with pytest.raises(DataError, match=rf"y\[0\] cannot be used: {sentence}"):
        Engine(Subsets(), plugins=[plugin(returning(Outputs, "check_structure", value))]).fit(BLOCKS, SUBSETS)


@pytest.mark.parametrize("value", [None, "two", lambda self: 1.0])
def test_the_largest_value_of_a_loss_is_a_number(value):
    refused("Mine.largest is .*; expected a number, the largest value of this loss", type("Mine", (HammingLoss,), {"largest": value}),
            Subsets(), (BLOCKS, SUBSETS))


def test_an_epoch_ends_with_what_its_pass_returned():
    class Forgetful(Trainer):
        def train(self, run):
            run.begin_epoch()
            run.run()
            run.end_epoch(None)

    refused("Forgetful.train called end_epoch with None; expected what run returned", Forgetful)


@pytest.mark.parametrize(("passes", "words"), [(["begin", "pass"], "returned within epoch 1"),
                                               (["begin", "pass", "begin", "pass", "end"], "called begin_epoch within epoch 1")])
def test_an_epoch_with_a_pass_ends(passes, words):
    class Open(Trainer):
        def train(self, run):
            for step in passes:
                if step == "begin":
                    run.begin_epoch()
                elif step == "pass":
                    passed = run.run()
                else:
                    run.end_epoch(passed)
            return "done"

    refused(f"Open.train {words}; call end_epoch with what run returned before", Open)


@pytest.mark.parametrize(("value", "words"), [(None, "None for example 0 is not a label"), (7, "7 is not a label of example 0")])
def test_an_answer_that_is_no_structure_names_its_solver(value, words):
    refused(f"Mine.argmax: {words}", returning(LargestArgmax, "argmax", value))


@pytest.mark.parametrize("base", [PerceptronUpdate, LargestArgmax])
def test_every_part_shows_its_fitted_attributes(base):
    arguments = (3,) if base is LargestArgmax else ()
    part = type("Mine", (base,), {"attributes": lambda self, weights: {"n_hard_": lambda: 3}})(*arguments)

    assert Engine("multiclass", plugins=[part]).fit(X, Y).n_hard_ == 3
    for name, words in (("n_hard", "expected names that end in one underscore"), ("mistakes_", "an attribute of the engine itself")):
        part = type("Mine", (base,), {"attributes": lambda self, weights, name=name: {name: lambda: 3}})(*arguments)
        with pytest.raises(PluginError, match=f"Mine.attributes names '{name}'.*{words}"):
            Engine("multiclass", plugins=[part]).fit(X, Y)


def test_a_rule_has_one_of_its_variants():
    with pytest.raises(PluginError, match="PassiveAggressiveUpdate: variant='pa3'; expected 'pa', 'pa1' or 'pa2'"):
        PassiveAggressiveUpdate("pa3")


def test_a_state_without_restore_is_not_saved(tmp_path):
    engine = Engine("multiclass", plugins=[returning(PerceptronUpdate, "state", {"n": np.array(1)})()]).fit(X, Y)

    with pytest.raises(PluginError, match=r"Mine has state\(\) without restore\(state\), so no model with its n can be read again"):
        engine.save(tmp_path / "model")


def test_what_a_hook_returns_is_shown_without_its_address():
    wrong = type("P", (), {"structperc_update": hookimpl(lambda self, context: HammingLoss())})()

    with pytest.raises(PluginError, match="structperc_update of plugin 'P' returned HammingLoss of type HammingLoss; expected"):
        Engine("multiclass", plugins=[wrong]).fit(X, Y)


def test_messages_name_an_object_by_its_class():
    from structperc.errors import shortened

    def halved(t):
        return 0.5

    class Halved:
        def __call__(self, t):
            return 0.5

    for schedule, name in ((halved, "halved"), (Halved(), "Halved")):
        card = str(Engine("multiclass", update="latent", step_size=schedule).fit(X, Y).card())
        assert re.search(rf"step.*size \| .*{name}", card) and " at 0x" not in card
    assert shortened([PassiveAggressiveUpdate(), halved]) == "[PassiveAggressiveUpdate, halved]"


def test_a_second_stage_without_a_condition_is_named():
    with pytest.raises(PluginError, match="Mine has no method `condition`"):
        type("Mine", (SecondStage,), {})().condition([], None)
