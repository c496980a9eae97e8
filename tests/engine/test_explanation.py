"""Explanations: winner and runner-up are the two best structures, and their margin splits exactly by atom and feature."""


import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sparse
from loading import module_at
from plain import Engine
from reference.layouts import LAYOUTS, stored

import structperc
from structperc import hookimpl
from structperc.components import Argmax, Outputs, RankOutputs, Reader, RowFeatures, VectorFeatures
from structperc.errors import DataError, NotFittedError, OptionError, PluginError
from structperc.pictures import Display
from structperc.testing import DualWeights

PROBLEMS = ["cusum", "prank", "multiclass"]


def data(n=80, d=5, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, d)), random.permutation(np.arange(n) % 4 + 1)


def totals(engine, row):
    """Score of every label, from the atom scores."""
    atoms = engine.atom_scores(row)[0]
    return atoms if len(atoms) == len(engine.classes_) else np.concatenate([[0.0], np.cumsum(atoms)])


OPTIONS = [{}, {"average": True}, {"average": True, "decay": 0.1, "update": "pa1"}, {"fit_intercept": False}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_margin_is_that_of_the_two_best_labels_and_splits_exactly(problem, layout, options):
    if problem == "prank" and "decay" in options:
        options = {"average": True, "epochs": 3}
    X, y = data()
    X = stored(X, layout)
    engine = Engine(problem, classes=[40, 30, 20, 10], **options).fit(X, 50 - 10 * y)
    for i in range(0, 80, 7):
        row = X[i:i + 1]
        found, scores = engine.explain(row), totals(engine, row)
        order = np.argsort(-scores, kind="stable")
        assert found.winner == engine.predict(row)[0] == engine.classes_[order[0]]
        assert found.runner_up == engine.classes_[order[1]]
        assert found.margin == pytest.approx(scores[order[0]] - scores[order[1]], abs=1e-12)
        assert (found.score is None) == (problem != "prank")
        found = engine.explain(row, against=found.runner_up)
        assert sum(c.value for c in found.contributions) == pytest.approx(found.margin, abs=1e-12)
        assert sum(found.atoms.values()) == pytest.approx(found.margin, abs=1e-12)
        for atom, value in found.atoms.items():
            assert sum(c.value for c in found.contributions if c.atom == atom) == pytest.approx(value, abs=1e-12)
        sizes = [abs(c.value) for c in found.contributions]
        assert sizes == sorted(sizes, reverse=True) and {c.atom for c in found.contributions} <= set(found.atoms)


def test_each_term_is_weight_times_feature():
    X, y = data()
    x = X[3]
    cusum = Engine("cusum", average=True).fit(X, y)
    for c in cusum.explain(x, baseline="zero").contributions:
        boundary = int(c.atom.removeprefix("> "))
        up = 1 if cusum.explain(x).winner > boundary else -1
        if c.feature == "(constant)":
            expected = cusum.intercept_[boundary]
        else:
            expected = cusum.coef_[boundary, int(c.feature[2:-1])] * x[int(c.feature[2:-1])]
        assert c.value == pytest.approx(up * expected, abs=1e-12)

    classes = Engine("multiclass", classes=list("dcba")).fit(X, np.array(list("xabcd"))[y])
    found = classes.explain(x, baseline="zero")
    assert set(found.atoms) == {found.winner, found.runner_up}
    for c in found.contributions:
        k, sign = "dcba".index(c.atom), 1 if c.atom == found.winner else -1
        j = None if c.feature == "(constant)" else int(c.feature[2:-1])
        expected = classes.intercept_[k] if j is None else classes.coef_[k, j] * x[j]
        assert c.value == pytest.approx(sign * expected, abs=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_thresholds_are_the_constant_part(kind):
    X, y = data()
    engine = Engine("prank", epochs=2).fit(kind(X), y)
    found = engine.explain(kind(X)[:1], baseline="zero", against=engine.explain(kind(X)[:1]).runner_up)
    moved = [int(atom.removeprefix("> ")) for atom in found.atoms]
    assert moved == list(range(min(found.winner, found.runner_up), max(found.winner, found.runner_up)))
    up = 1 if found.winner > found.runner_up else -1
    constants = {c.atom: c.value for c in found.contributions if c.feature == "(constant)"}
    assert constants == {f"> {k}": pytest.approx(-up * engine.thresholds_[k - 1]) for k in moved if engine.thresholds_[k - 1]}


def test_rows_of_many_columns_have_a_term_for_each():
    random = np.random.default_rng(0)
    X = random.normal(size=(12, 30_000))
    engine = Engine("multiclass").fit(X, np.arange(12) % 3)
    found = engine.explain(X[0], baseline="zero")
    winner, runner_up = (engine.classes_.tolist().index(label) for label in (found.winner, found.runner_up))
    for side, row, sign in (("for", winner, 1), ("against", runner_up, -1)):
        values = {c.column: c.value for c in found.contributions if c.side == side}
        expected = {j: value for j, value in enumerate((sign * engine.coef_[row] * X[0]).tolist()) if value} | {
            -1: sign * engine.intercept_[row]}
        assert values == {j: value for j, value in expected.items() if value}


def test_ties_are_explained_as_predict_decides_them():
    for problem, winner, runner_up in [("cusum", 1, 2), ("multiclass", 1, 2), ("prank", 4, 1)]:
        engine = Engine(problem, classes=[1, 2, 3, 4]).fit(np.zeros((1, 2)), [1 if problem != "prank" else 4])      # nothing is learned
        found = engine.explain([5.0, 1.0])
        assert (found.winner, found.runner_up, found.margin) == (winner, runner_up, 0.0)
        assert engine.predict([[5.0, 1.0]]).tolist() == [winner] and found.contributions == []
        assert str(found).startswith(f"{winner} beats {runner_up} by 0")


def test_whole_numbers_tie_often_and_the_winner_is_still_the_prediction():
    random = np.random.default_rng(0)
    X, y = random.integers(-1, 2, (60, 3)).astype(float), random.integers(1, 5, 60)
    for problem in PROBLEMS:
        engine = Engine(problem).fit(X, y)
        found = [engine.explain(row) for row in X]
        assert [e.winner for e in found] == engine.predict(X).tolist()
        assert 0 < sum(e.margin == 0 for e in found) < 60
        assert all(e.margin >= 0 and e.winner != e.runner_up for e in found)


@pytest.mark.parametrize(("other", "heading"), [
    ({9: "b"}, "[9: 'a'] beats [9: 'b'] by"),
    ({0: "b", 11: "b"}, "[0: 'a', 11: 'a'] beats [0: 'b', 11: 'b'] by"),
    ({t: "b" for t in range(9)}, "7: 'a', ...] beats [0: 'b'"),
    ({}, "'a', 'a'] beats ['a', 'a', "),
])
def test_headings_of_long_structures_show_where_they_differ(other, heading):
    X = [np.ones((12, 1)), np.ones((2, 1))]
    engine = Engine("sequence", classes=["a", "b"]).fit(X, [["a"] * 12, ["a"] * 2])
    assert heading in str(engine.explain(X[0], against=[other.get(t, "a") for t in range(12)]))
    assert str(engine.explain(X[1])).startswith("['a', 'a'] beats ['b', 'a'] by 0")


# ---- names and forms of x ----


def test_features_are_called_as_in_the_table():
    X, y = data()
    table = pd.DataFrame(X, columns=["age", "size", "price", "rooms", "floor"])
    engine = Engine("cusum").fit(table, y)
    assert {c.feature for c in engine.explain(table[:1]).contributions} - {"(constant)"} == set(table.columns)
    unnamed = Engine("cusum").fit(X, y).explain(X[0])
    assert {c.feature for c in unnamed.contributions} - {"(constant)"} == {f"x[{j}]" for j in range(5)}
    shown = str(engine.explain(table[:1]))
    assert "beats" in shown and "> 2" in shown + str(engine.explain(table[1:2])) and "price" in shown


def test_one_example_may_come_in_any_form():
    X, y = data()
    table = pd.DataFrame(X, columns=list("vwxyz"))
    engine = Engine("cusum").fit(table, y)
    expected = engine.explain(X[:1])
    forms = [X[0], X[0].tolist(), tuple(X[0]), [X[0]], [X[0].tolist()], X[:1], table[:1], table.iloc[0], sparse.csr_array(X[:1]),
             sparse.csr_matrix(X)[0], sparse.csr_array(X)[0], sparse.coo_matrix(X[:1]), np.asfortranarray(X[:1]), [X[:1]]]
    for x in forms:
        found = engine.explain(x)
        assert (found.winner, found.runner_up) == (expected.winner, expected.runner_up)
        assert found.margin == pytest.approx(expected.margin, abs=1e-12)
    with pytest.raises(DataError, match="column 0 of X is 'z'"):
        engine.explain(table[list("zyxwv")].iloc[0])


@pytest.mark.parametrize(("x", "match"), [
    (np.zeros((2, 5)), "explain takes one example, but got 2"),
    (np.zeros(4), "X has 4 features, but this model was trained with 5"),
    ([1.0, 2.0, 3.0, 4.0], "X has 4 features"),
    ([1.0, 2.0, 3.0, 4.0, np.nan], r"X\[0, 4\] is nan"),
    (["a", "b", "c", "d", "e"], "X is a list of objects, but this model was trained on rows"),
    (np.zeros((1, 2, 5)), "example 0 has 2 rows"),
    ([], "X"),
    ([[1.0, 2.0], [1.0]], "ragged"),
])
def test_what_is_no_example_is_refused(x, match):
    with pytest.raises(DataError, match=match):
        Engine("cusum").fit(*data()).explain(x)


def test_a_sparse_row_explains_only_what_it_holds():
    random = np.random.default_rng(0)
    X = sparse.random(80, 3000, density=0.002, format="csr", random_state=0)
    engine = Engine("multiclass", average=True).fit(X, random.integers(0, 3, 80))
    found = engine.explain(X[5])
    held = {f"x[{j}]" for j in X[5].indices}
    assert {c.feature for c in found.contributions} - {"(constant)", "(absent columns)"} <= held
    assert {c.feature for c in engine.explain(X[5], baseline="zero").contributions} - {"(constant)"} <= held
    assert sum(c.value for c in found.contributions) == pytest.approx(found.margin, abs=1e-12)


# ---- structures ----


@pytest.fixture(scope="module")
def intervals():
    """The example plugin, as a module that is not installed."""
    return module_at("examples/intervals/structperc_intervals.py")


def disjoint(rows):
    rows = rows[np.argsort(rows[:, 0])]
    return (rows[1:, 0] >= rows[:-1, 1]).all()


def test_structures_are_explained_by_their_best_rival(intervals):
    random = np.random.default_rng(0)
    days = intervals.sample(random, 60)
    engine = Engine(intervals, epochs=1).fit(days, [(int(random.integers(len(day))),) for day in days])
    explained = 0
    for day in days:
        scores = day @ engine.coef_
        subsets = [[a for a in range(len(day)) if code >> a & 1] for code in range(2 ** len(day))]
        best = sorted((scores[subset].sum() for subset in subsets if disjoint(day[subset])), reverse=True)
        found = engine.explain(day)
        assert sorted(found.winner) == sorted(engine.predict([day])[0])
        assert found.margin == pytest.approx(best[0] - best[1], abs=1e-12)
        assert scores[list(found.runner_up)].sum() == pytest.approx(best[1], abs=1e-12)
        different = set(found.winner) ^ set(found.runner_up)
        assert found.atoms == {f"atom {a}": pytest.approx(scores[a] * (1 if a in found.winner else -1), abs=1e-12) for a in different}
        assert sum(c.value for c in found.contributions) == pytest.approx(found.margin, abs=1e-12)
        assert {c.feature for c in engine.explain(day, baseline="zero").contributions} <= {f"x[{j}]" for j in range(4)}
        explained += bool(different)
    assert explained == 60


class Any:
    """Choose any rows. The class of outputs is given, and may enumerate the structures."""

    class Positive(Argmax):
        def argmax(self, scores, x):
            return np.flatnonzero(scores > 0)

    def __init__(self, outputs):
        self.outputs = outputs

    @hookimpl
    def structperc_outputs(self, context):
        return self.outputs()

    @hookimpl
    def structperc_features(self, context):
        return RowFeatures(context.n_features)

    @hookimpl
    def structperc_argmax(self, context):
        return self.Positive()


class AllSubsets(Outputs):
    def enumerate(self, x):
        return (tuple(a for a in range(x.n_atoms) if code >> a & 1) for code in range(2**x.n_atoms))


class OnlyNothing(Outputs):
    def enumerate(self, x):
        return [()]


def test_an_example_with_one_structure_has_no_runner_up():
    X, _ = data(10)
    engine = Engine(Any(OnlyNothing)).fit(X, [(), ()], offsets=[0, 4, 10])
    assert engine.predict(X, offsets=[0, 4, 10]).tolist() == [(), ()]
    with pytest.raises(DataError, match="only one possible structure"):
        engine.explain(X[:4])


def test_what_cannot_be_enumerated_is_said():
    X, _ = data(22)
    engine = Engine(Any(Outputs)).fit(X, [(0, 2), (1,)], offsets=[0, 4, 22])
    with pytest.raises(PluginError, match=r"Outputs cannot enumerate its structures. Implement enumerate"):
        engine.explain(X[:4])
    engine = Engine(Any(AllSubsets)).fit(X, [(0, 2), (1,)], offsets=[0, 4, 22])
    assert sorted(engine.explain(X[:4]).winner) == sorted(engine.predict([X[:4]])[0])
    with pytest.raises(PluginError, match="among all structures of example 0, which are more than 100000"):
        engine.explain(X)


def test_weights_without_a_vector_cannot_be_split():
    X, y = data()
    with pytest.raises(PluginError, match="needs a weight vector or a sum of training rows, but DualWeights has neither"):
        Engine("cusum", plugins=[DualWeights()]).fit(X, y).explain(X[0])


# ---- the way to a score ----


def one_direction():
    """Models of ordered labels that thresholds cut along one direction."""
    from structperc.estimators import SVOR, PRank

    return [Engine("prank", epochs=4, average=True), PRank(scale=True), PRank(trainer="cumulative-logit", penalty=0.1),
            Engine("prank", trainer="svor", plugins=["large-margin"]), SVOR(kernel="linear"), SVOR(),
            Engine("prank", plugins=["dual-kernel"], kernel="rbf", average=True, epochs=3)]


@pytest.mark.parametrize("place", range(7))
def test_what_raises_a_grade_is_drawn_as_raising_it(place):
    """A term has the sign of what it does to the score, whichever label is the runner-up. The terms and the start add up to it."""
    X, _ = data()
    y = np.digitize(X @ [2, -1, 0.5, 0, 0], [-1.5, 0, 1.5]) + 1
    model = one_direction()[place].fit(X, y)
    engine = getattr(model, "engine_", model)
    found = [model.explain(row) for row in X[:12]]
    assert {one.winner > one.runner_up for one in found} == {True, False}
    for row, one in zip(X, found, strict=False):
        atoms = engine.atom_scores(row[None])[0]
        assert one.score == one.total == pytest.approx(atoms.mean(), abs=1e-12) and one.atoms == {"score": one.score}
        assert one.start + sum(c.value for c in one.contributions if c.side != "start") == pytest.approx(one.score, abs=1e-9)
        assert all((c.value > 0) == (c.side == "raises") for c in one.contributions if c.side != "start")
        assert one.picture.score == one.score and one.picture.start == one.start
        assert one.winner == model.predict(row[None])[0] == 1 + np.searchsorted(one.picture.cuts, one.score, side="right")
        bars = one.bars()
        assert (bars.left, bars.right) == ("lower", "higher")
        assert "(constant)" not in {name for _, group in bars.groups for name, _ in group}
        assert {r["speaks for"] for r in one.rows()} <= {"higher", "lower", ""}
        for shown in (one.text(), str(one), *(heading for heading, _ in bars.groups)):
            assert f"from {one.start:+.4g}" in shown or f"from {one.start:+.6g}" in shown
        rival = model.explain(row, against=one.runner_up)
        assert rival.score is None and rival.total == rival.margin == one.margin
        assert sum(c.value for c in rival.contributions) == pytest.approx(one.margin, abs=1e-9)


def test_the_way_begins_at_the_mean_row_and_is_the_same_for_all_rivals():
    X, _ = data()
    engine = Engine("prank", epochs=4).fit(X, np.digitize(X[:, 0], [-1, 1]) + 1)
    mean = engine.model_.means
    for row in X[:5]:
        found = engine.explain(row)
        assert found.start == pytest.approx(engine.atom_scores(mean[None]).mean())
        terms = {c.column: c.value for c in found.contributions if c.column >= 0}
        assert terms == pytest.approx({j: engine.coef_[j] * (row - mean)[j] for j in range(5)})


def test_several_directions_are_compared_with_the_runner_up():
    X, y = data()
    assert Engine("cusum").fit(X, y).explain(X[0]).score is None
    assert Engine("cusum").fit(X, y > 2).explain(X[0]).score is not None             # two labels have one boundary, hence one direction


# ---- kernels ----


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_kernels_are_explained_by_their_support_rows(problem, average):
    X, y = data(40)
    engine = Engine(problem, plugins=["dual-kernel"], kernel="rbf", gamma=0.2, average=average, epochs=2).fit(X, y)
    numbers, coefficients = engine.support_, engine.dual_coef_
    for row in X[:4] + 0.1:
        kernel = np.exp(-0.2 * ((engine.support_vectors_ - row) ** 2).sum(axis=1))
        found = engine.explain(row)
        assert found.baseline == "zero" and sum(c.value for c in found.contributions) == pytest.approx(found.total, abs=1e-12)
        for c in found.contributions:
            if c.feature == "(constant)":
                continue
            place = numbers.tolist().index(int(c.feature.removeprefix("training row ")))
            block = 0 if problem == "prank" else int(c.atom.removeprefix("> ")) - 1
            sign = -1 if c.side == "against" else 1
            assert c.value == pytest.approx(sign * coefficients[place, block] * kernel[place], rel=1e-9, abs=1e-12) and c.column == -1
        other = engine.explain(row, baseline=X[7])
        assert other.baseline == "row" and sum(c.value for c in other.contributions) == pytest.approx(other.total, abs=1e-12)
        assert {c.feature for c in engine.explain(X[7], baseline=X[7]).contributions} <= {"(constant)"}


def test_kernels_between_objects_and_structures_are_explained_too():
    texts, labels = ["abab", "abba", "ccdd", "dcdc"], [1, 1, 2, 2]
    ranks = Engine("prank", plugins=["dual-kernel"], kernel="subsequence", epochs=4).fit(texts, labels)
    chains = [np.random.default_rng(i).normal(size=(n, 2)) for i, n in enumerate((3, 4, 2, 5))]
    tags = [["a" if row[0] > 0 else "b" for row in chain] for chain in chains]
    tagger = Engine("sequence", plugins=["dual-kernel"], kernel="rbf", epochs=4).fit(chains, tags)
    for engine, x in ((ranks, "ababa"), (tagger, chains[3])):
        found = engine.explain(x)
        assert sum(c.value for c in found.contributions) == pytest.approx(found.total, abs=1e-9)
        assert any(c.feature.startswith("training row ") for c in found.contributions)
    assert ranks.predict_proba(texts).sum(axis=1) == pytest.approx(1) and ranks.margins(texts).shape == (4,)
    assert [ranked[0] for ranked in ranks.predict(texts, k=2)] == ranks.predict(texts).tolist()


def test_groups_of_columns_do_not_fit_a_kernel():
    X, y = data(30)
    with pytest.raises(OptionError, match="a kernel compares whole rows"):
        Engine("prank", plugins=["dual-kernel"], kernel="rbf").fit(X, y).explain(X[0], groups={"both": [0, 1]})


def test_feature_maps_and_outputs_of_ones_own_are_explained_in_their_terms():
    class Squares(VectorFeatures):
        def vectors(self, x):
            return np.kron(np.eye(3), x.rows[0] ** 2)

        def column_of(self, indices):
            return np.asarray(indices) % 5

    class Above(Display):
        def atom_names(self, x):
            return ["above poor", "above fair", "above good"]

    class Described(RankOutputs):
        def decode(self, y, x):
            return f"rank {self.labels[y - 1]}"

        def display(self):
            return Above(self)

    X, y = data()
    engine = Engine("cusum", plugins=[Squares(15), Described()], epochs=3).fit(X, y)
    for row in X[:10]:
        found = engine.explain(row)
        assert found.winner == engine.predict(row[None])[0] and found.runner_up.startswith("rank ")
        assert set(found.atoms) <= {"above poor", "above fair", "above good"}
        assert sum(c.value for c in found.contributions) == pytest.approx(found.margin, abs=1e-12)
        assert {c.feature for c in found.contributions} <= {f"x[{j}]" for j in range(5)}


def test_atoms_of_the_same_name_have_their_numbers():
    class Alike(Display):
        def atom_names(self, x):
            return ["above", "above", "top"]

    class Shown(RankOutputs):
        def display(self):
            return Alike(self)

    X, y = data()
    engine = Engine("cusum", plugins=[Shown()]).fit(X, y)
    named = {name for row in X for name in engine.explain(row).atoms}
    assert named == {"above (atom 0)", "above (atom 1)", "top"}


# ---- names of columns ----


def test_columns_are_called_as_x_or_the_reader_calls_them():
    frame, sentences = pd.DataFrame([[0.0, 1.0], [1.0, 0.0]], columns=["age", "bmi"]), [[["the"], ["cat"]]]
    assert Engine("multiclass").fit(frame, [1, 2]).feature_name(1) == "bmi"
    assert Engine("multiclass").fit(frame.to_numpy(), [1, 2]).feature_name(1) == "x[1]"
    assert Engine("sequence").fit(sentences, [["D", "N"]]).feature_name(1) == "cat"
    with pytest.raises(NotFittedError):
        Engine("sequence").feature_name(1)


@pytest.mark.parametrize("problem", ["cusum", "prank", "multiclass"])
def test_the_prediction_itself_is_no_rival(problem):
    X = np.random.default_rng(0).normal(size=(40, 2))
    engine = Engine(problem, random_state=0).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    label = engine.predict(X[:1])[0]
    with pytest.raises(DataError, match=f"against={label} is the prediction itself"):
        engine.explain(X[0], against=label.item())
    assert str(structperc.counterfactual(engine, X[0], label)) == f"it is {label} already"


class Lengths(Reader):
    """Examples are texts, or lists of texts."""

    def read(self, X, offsets=None):
        return super().read(np.array([[len(x), len("".join(x))] for x in X], float))


class Objects(Reader):
    """The texts themselves."""

    def read(self, X, offsets=None):
        return super().read([str(x) for x in X])


class TextLength(VectorFeatures):
    def vectors(self, x):
        assert type(x.object) is str and x.object in ("oak", "willow")
        return np.kron(np.eye(2), [len(x.object), 1.0])


@pytest.mark.parametrize("form", [list, np.array, lambda X: np.array(X, dtype=object), pd.Series],
                         ids=["list", "texts", "objects", "Series"])
def test_a_slice_of_objects_with_one_example_is_that_example(form):
    class Texts:
        @hookimpl
        def structperc_reader(self, context):
            return Objects()

        @hookimpl
        def structperc_features(self, context):
            return TextLength(4)

    X = form(["oak", "willow", "willow", "oak"])
    engine = Engine("multiclass", plugins=[Texts()], epochs=2, random_state=0).fit(X, [1, 2, 2, 1])
    assert engine.explain(X[:1]).margin == engine.explain("oak").margin
    with pytest.raises(DataError, match=r"got 2; pass one of them: X\[:1\]"):
        engine.explain(X[:2])


def test_readers_of_lists_are_told_of_read_one():
    X = [["a", "b", "c"], ["aa", "b"], ["d"]]
    engine = Engine("multiclass", plugins=[Lengths()], epochs=2, random_state=0).fit(X, [1, 2, 3])
    margin = engine.explain(X[:1]).margin
    with pytest.raises(DataError, match=r"If one example is a list, write Lengths\.read_one\(x"):
        engine.explain(X[0])

    class ReadsOne(Lengths):
        def read_one(self, x, objects, several_rows):
            return self.read([x])

    engine = Engine("multiclass", plugins=[ReadsOne()], epochs=2, random_state=0).fit(X, [1, 2, 3])
    assert engine.explain(X[0]).margin == margin
    with pytest.raises(DataError, match="always read as one.$"):        # nobody wrote this reader
        Engine("multiclass").fit([[0.0], [1.0]], [1, 2]).explain([[0.0], [1.0]])
