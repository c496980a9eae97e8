"""The problem matching: its forms of X and y, both losses in the search, saving, tables that are compared, the command line."""

import itertools

import numpy as np
import pandas
import pytest
from plain import Engine
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from structperc.cli import main
from structperc.components import KeyedReader
from structperc.errors import DataError, OptionError, PluginError
from structperc.estimators import StructuredEstimator
from structperc.solvers.matchings import max_matching
from structperc.testing import check_problem

TASTE = np.array([2.0, -1.0, 0.5])


def parties(n=60, shape=(3, 4), perfect=True, seed=0):
    """Features of all pairs, and the pairs that the taste would choose."""
    random = np.random.default_rng(seed)
    X = [random.normal(size=(*shape, 3)) for _ in range(n)]
    matched = [max_matching(x @ TASTE, perfect) for x in X]
    return X, [[(i, int(j)) for i, j in enumerate(partners) if j >= 0] for partners in matched]


def rows_of(x):
    pairs = np.indices(x.shape[:2]).reshape(2, -1).T
    return np.column_stack([pairs, x.reshape(len(pairs), -1)])


def test_the_battery_over_perfect_matchings():
    assert {outcome for _, outcome in check_problem("matching", perfect=True)} == {"passed"}


@pytest.mark.parametrize("perfect", [False, True])
def test_the_loss_of_partners_counts_left_items_and_is_searched_with(perfect):
    checks = ["augmented_argmax_maximises", "loss_is_zero_at_gold", "further_answers_agree"]
    options = dict(loss="partners", update="pa1", C=0.5, loss_weight=1.0, perfect=perfect)
    assert check_problem("matching", checks=checks, **options) == [(name, "passed") for name in checks]
    X, y = parties(2, perfect=perfect)
    engine = Engine("matching", **options).fit(X, y)
    rows = engine.read(X)
    loss = engine.parts_.loss
    x = rows.example(0)
    x.n_atoms = x.n_rows
    assert loss.value((0, 5), (1, 4), x) == 2 and loss.value((0, 5), (0, 10), x) == 2 and loss.value((0, 5, 10), (0, 5, 11), x) == 1


@pytest.mark.parametrize("perfect", [False, True])
def test_matchings_are_learned(perfect):
    X, y = parties(200, perfect=perfect)
    engine = Engine("matching", perfect=perfect, show="pairs", epochs=20, average=True).fit(X[:150], y[:150])
    found = engine.predict(X[150:])
    assert np.mean([set(a) == set(b) for a, b in zip(found, y[150:], strict=True)]) >= 0.9
    assert not engine.optimality_gaps(X).any()
    assert ("intercept_" in dir(engine) or hasattr(engine, "intercept_")) == (not perfect)
    for answer, ranked, margin in zip(found, engine.predict(X[150:], k=3), engine.margins(X[150:]), strict=True):
        assert ranked[0] == answer and len({tuple(one) for one in ranked}) == 3 and margin >= 0


def test_all_forms_of_pairs_train_the_same_model():
    X, y = parties()
    blocks = [rows_of(x) for x in X]
    chosen = [[4 * i + j for i, j in one] for one in y]
    offsets = 12 * np.arange(len(X) + 1)
    frame = pandas.DataFrame(np.concatenate(blocks), columns=["guest", "seat", "a", "b", "c"])
    forms = {"arrays": (X, y, {}), "blocks": (blocks, chosen, {}), "pairs and blocks": (blocks, y, {}),
             "rows": (np.concatenate(blocks), chosen, dict(offsets=offsets)), "frame": (frame, chosen, dict(offsets=offsets)),
             "sparse": (sparse.csr_matrix(np.concatenate(blocks)), chosen, dict(offsets=offsets)),
             "groups": (np.concatenate(blocks), chosen, dict(groups=np.repeat(np.arange(len(X)), 12)))}
    models = {name: Engine("matching", perfect=True, epochs=3).fit(given, said, **where) for name, (given, said, where) in forms.items()}
    for name, (given, _, where) in forms.items():
        np.testing.assert_allclose(models[name].coef_, models["arrays"].coef_, rtol=1e-12)
        assert models[name].predict(given, **where).tolist() == models["blocks"].predict(blocks).tolist(), name
        assert models[name].n_features_in_ == 5
    assert models["frame"].feature_name(0) == "a" and models["frame"].feature_names_in_.tolist() == ["guest", "seat", "a", "b", "c"]
    swapped = models["frame"].predict(frame[["a", "seat", "b", "guest", "c"]], offsets=offsets)
    assert swapped.tolist() == models["frame"].predict(frame, offsets=offsets).tolist()
    with pytest.raises(DataError, match="the model was trained with the key 'guest', but the columns of X are seat, a, b, c"):
        models["frame"].predict(frame[["seat", "a", "b", "c"]], offsets=offsets)
    assert "with" in str(models["blocks"].explain(blocks[0])) and models["arrays"].explain(X[0]).margin >= 0


def test_one_pair_and_none_are_outputs_of_pairs():
    X, _ = parties(4)
    one, none = Engine("matching", epochs=3).fit(X, [[(0, 1)]] * 4), Engine("matching", epochs=3).fit(X, [[]] * 4)
    assert one.coef_.tolist() == Engine("matching", epochs=3).fit(X, [[1]] * 4).coef_.tolist()
    assert none.predict(X).tolist() == [()] * 4


def compared(left, right):
    """All pairs of rows that share the first letter."""
    pairs = [(i, j) for i, j in itertools.product(range(len(left)), range(len(right))) if left[i][0][0] == right[j][0][0]]
    return np.array(pairs), np.array([[left[i][0] == right[j][0], abs(left[i][1] - right[j][1])] for i, j in pairs], dtype=float)


def test_two_tables_are_compared(tmp_path):
    left = [[("ann", 30), ("bob", 41), ("carl", 20)], [("dora", 7), ("ann", 31)], [("eve", 3), ("bob", 9)]]
    right = [[("bob", 40), ("anne", 30), ("zoe", 5)], [("anna", 31), ("dora", 9), ("doris", 7)], [("bob", 90), ("eve", 3), ("eva", 3)]]
    X, y = list(zip(left, right, strict=True)), [[(0, 1), (1, 0)], [(0, 1), (1, 0)], [(0, 1)]]
    engine = Engine("matching", comparison=compared, show="pairs", epochs=50).fit(X, y)
    assert engine.mistakes_[-1] == 0 and engine.predict(X).tolist() == y
    engine.save(tmp_path / "model")
    assert Engine.load(tmp_path / "model", comparison=compared).predict(X).tolist() == y
    full = Engine("matching", comparison=lambda a, b: np.ones((len(a), len(b), 1))).fit(X, [[], [], []])
    assert full.read(X).example(1).n_rows == 6
    with pytest.raises(DataError, match=r"X\[0\] is 5; expected a pair of tables"):
        engine.predict([5])
    with pytest.raises(DataError, match=r"the comparison of X\[0\] has 1 dimensions; expected three"):
        Engine("matching", comparison=lambda a, b: [1.0]).fit(X, y)
    with pytest.raises(DataError, match=r"the comparison of X\[0\] returned .*; expected pairs \(k, 2\) and their features"):
        Engine("matching", comparison=lambda a, b: ([[1, 2]], [[1], [2]])).fit(X, y)


def test_the_estimator_is_cloned_and_cross_validated():
    X, y = parties()
    chosen = [tuple(4 * i + j for i, j in one) for one in y]
    model = StructuredEstimator(problem="matching", plugin_options=dict(perfect=True), epochs=10, average=True, random_state=0)
    assert cross_val_score(clone(model), [rows_of(x) for x in X], chosen, cv=3).mean() > -1


@pytest.mark.parametrize(("y", "perfect", "sentence"), [
    ([(0, 0), (0, 1)], False, r"y\[0\] cannot be used: the matching \(0, 1\) of example 0 has a left item in two pairs"),
    ([(0, 0), (1, 0)], False, "has a right item in two pairs"),
    ([(0, 0), (1, 1)], True, "has 2 pairs; a perfect one has 3"),
    ([(0, 9)], False, r"y\[0\] is \[\(0, 9\)\]; expected pairs \(left, right\) that X lists"),
    ([12], False, "atom 12"),
])  # fmt: skip
def test_what_is_no_matching_is_refused(y, perfect, sentence):
    X, _ = parties(1)
    with pytest.raises(DataError, match=sentence):
        Engine("matching", perfect=perfect).fit(X, [y])


def test_pairs_that_cannot_be_matched_are_refused():
    X, y = parties()
    engine = Engine("matching", perfect=True).fit(X, y)
    crossed = np.array([[0, 0, 1, 1, 1], [1, 0, 1, 1, 1], [2, 1, 1, 1, 1], [2, 2, 1, 1, 1]], dtype=float)
    with pytest.raises(DataError, match="example 0 cannot be matched: no perfect matching exists: left items 0.0, 1.0 may only be"):
        engine.predict([crossed])
    with pytest.raises(DataError, match="pair 1, of 0.0 and 0.0, is listed twice"):
        engine.predict([np.ones((2, 5)) * [[0, 0, 1, 1, 1]]])
    with pytest.raises(DataError, match="X has 2 columns; expected rows of 2 columns that identify what a row is about, then its features"):
        Engine("matching").fit([np.ones((1, 2))], [[]])
    with pytest.raises(DataError, match=r"X\[1\] has 2 dimensions; expected three: left items, right items, features"):
        engine.predict([X[0], X[0][0]])
    with pytest.raises(DataError, match="row 0 of X has nan in column 1, which is the key of the row"):
        engine.predict([np.array([[0, np.nan, 1, 1, 1]])])
    with pytest.raises(OptionError, match="expected one of 'rows', 'pairs'"):
        Engine("matching", show="names")
    with pytest.raises(PluginError, match="at most 16000000 pairs of items"):
        many = np.column_stack([np.arange(5000), np.arange(5000), np.ones((5000, 3))])
        Engine("matching").fit(X, y).predict([many], k=2)


def test_keys_are_kept_apart_and_go_with_their_rows():
    X = [np.arange(12.0).reshape(3, 4), np.ones((2, 4))]
    for given in (X, [sparse.csr_matrix(x) for x in X]):
        rows = KeyedReader(2).read(given)
        assert rows.n_features == 2 and rows.example(0).keys.tolist() == X[0][:, :2].tolist()
        assert rows.part(1, 2).example(0).keys.tolist() == X[1][:, :2].tolist()
        assert rows.example(0).rows.tolist() == X[0][:, 2:].tolist()
    twice = sparse.csr_matrix((np.ones(4), [0, 3, 3, 2], [0, 3, 4]), shape=(2, 4))
    assert KeyedReader(1).read([twice]).summed().example(0).keys.tolist() == [[1.0], [0.0]]


def test_the_command_line_reads_pairs_from_a_table(tmp_path, capsys):
    X, y = parties(80)
    frame = pandas.DataFrame(np.concatenate([rows_of(x) for x in X]), columns=["guest", "seat", "a", "b", "c"])
    frame.insert(0, "party", np.repeat(np.arange(len(X)), 12))
    frame["sits"] = [int((i, j) in one) for one in y for i in range(3) for j in range(4)]
    frame.to_csv(tmp_path / "pairs.csv", index=False)
    where = ["--group", "party", "--target", "sits"]
    model = str(tmp_path / "model")
    settings = ["--set", "perfect=true", "--set", "epochs=20", "--set", "average=true"]
    assert main(["fit", "matching", str(tmp_path / "pairs.csv"), *where, "--model", model, *settings]) in (0, None)
    assert main(["predict", model, str(tmp_path / "pairs.csv"), "--group", "party", "--output", str(tmp_path / "answers.csv")]) in (0, None)
    answers = pandas.read_csv(tmp_path / "answers.csv").iloc[:, -1]
    assert np.mean(answers == frame["sits"]) > 0.9
    capsys.readouterr()
