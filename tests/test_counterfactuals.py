"""Tests of `structperc.counterfactual`: the smallest change for a prediction, against enumeration and against one large program."""

import functools
import itertools

import numpy as np
import pandas as pd
import pytest
from every_problem import MODELS, OF_BLOCKS, PLAIN, engine_and_examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from plain import Engine
from reference.written_programs import Written
from structperc_large_margin.estimators import SVOR

import structperc
from structperc.counterfactuals import Wanted
from structperc.counterfactuals.programs import LEAD
from structperc.errors import DataError, NotFittedError, OptionError, PluginError
from structperc.estimators import CuSumRank, PRank, StructuredClassifier, StructuredEstimator

FEW = settings(max_examples=25, deadline=None, derandomize=True)


@functools.cache
def model(name):
    """A trained engine and three examples."""
    engine, X, _ = engine_and_examples(name)
    return engine, X[:3] if name in OF_BLOCKS else X[[0, 5, 9]]


def same(one, other):
    return np.array_equal(np.asarray(one, dtype=object), np.asarray(other, dtype=object))


def predicted(engine, x):
    x = np.asarray(x)
    return engine.predict([x] if x.ndim == 2 else x[None])[0]


def check(found, written, wanted, norm="l1"):
    expected = written.nearest(wanted, norm)
    if np.isinf(expected):
        assert found.status == "none" and found.x is None and np.isinf(found.bound)
        return
    assert found.proved and found.distance == pytest.approx(expected, rel=2e-4, abs=1e-5)
    assert found.bound <= expected * (1 + 1e-6) + 1e-9 and found.bound <= found.distance
    again = predicted(written.engine, found.x)
    assert written.is_one_of(again, wanted) and same(again, found.after)
    moved = (np.asarray(found.x, dtype=float) - written.x)[tuple(np.array(written.places).T)] / written.sd
    assert (np.abs(moved).sum() if norm == "l1" else np.linalg.norm(moved)) == pytest.approx(found.distance, abs=1e-9)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_the_nearest_example_with_and_without_an_atom_is_that_of_all_structures(name, norm):
    engine, examples = model(name)
    x = examples[int(norm == "l2")]
    written = Written(engine, x)
    best = written.counts[np.argmax(written.totals)]
    for atom in range(0, len(written.names), max(1, len(written.names) // 3)):
        has = written.counts[:, atom] > 0
        if has.all() or not has.any() or (written.counts[:, atom] > 1).any():
            continue
        wanted, asked = (~has, Wanted(not_chosen=written.names[atom])) if best[atom] else (has, Wanted(chosen=[written.names[atom]]))
        check(structperc.counterfactual(engine, x, asked, norm=norm), written, wanted, norm)


@pytest.mark.parametrize("name", MODELS)
def test_the_nearest_example_of_one_output_is_that_of_one_program_with_all_rivals(name):
    engine, examples = model(name)
    written = Written(engine, examples[2])
    order = np.argsort(-written.totals)
    for k in order[[1, min(3, len(order) - 1), -1]]:
        wanted = (written.counts == written.counts[k]).all(axis=1)
        if wanted[order[0]]:
            continue
        check(structperc.counterfactual(engine, examples[2], written.decoded(k)), written, wanted)


@FEW
@given(st.sampled_from(["cusum", "multiclass", "sequence", "perfect matching"]), st.integers(0, 10**6))
def test_drawn_examples_have_the_distance_of_the_program_written_out(name, seed):
    engine, examples = model(name)
    random = np.random.default_rng(seed)
    x = examples[0].copy()
    x[..., -3:] = np.round(random.normal(size=x[..., -3:].shape), 1)
    written = Written(engine, x)
    k = int(random.integers(len(written.structures)))
    wanted = (written.counts == written.counts[k]).all(axis=1)
    found = structperc.counterfactual(engine, x, written.decoded(k))
    if found.status == "already":
        assert found.distance == found.bound == 0 and not found.changes and same(predicted(engine, x), written.decoded(k))
    else:
        check(found, written, wanted)


# ---- grids of whole numbers, ties ----


@FEW
@given(st.sampled_from(["prank", "cusum", "multiclass"]), st.integers(0, 10**6), arrays(float, 2, elements=st.integers(-2, 2)))
def test_whole_columns_are_nearest_of_a_grid_with_ties(problem, seed, x):
    random = np.random.default_rng(seed)
    engine = Engine(problem, epochs=1, average=False, scale=False, classes=[1, 2, 3]).fit(np.eye(3)[:, :2] + 1, [1, 2, 3])
    vector = random.integers(-2, 3, size=len(engine.parts_.weights.vector())).astype(float)
    if problem == "prank":
        vector[2:] = np.sort(vector[2:])
    engine.parts_.weights.assign(vector, 1)
    wanted = int(random.integers(1, 4))
    found = structperc.counterfactual(engine, x, wanted, whole=[0, 1], bounds={0: (-3, 3), 1: (-3, 3)}, spreads=[1.0, 2.0])
    grid = np.array(list(itertools.product(range(-3, 4), repeat=2)), dtype=float)
    lengths = np.abs(grid - x) @ [1.0, 0.5]
    wins = engine.predict(grid) == wanted
    if found.x is not None:
        assert engine.predict([found.x]) == [wanted] and found.x.tolist() in grid.tolist()
        assert found.distance == pytest.approx(np.abs(found.x - x) @ [1.0, 0.5])
        assert found.distance == pytest.approx(lengths[wins].min())
    else:
        assert not wins.any()
    assert found.proved and found.bound <= lengths[wins].min(initial=np.inf) + 1e-9


@pytest.mark.parametrize("seed", [*range(40), 218, 231, 233, 263, 352, 366, 386, 398])
def test_a_real_column_beside_whole_ones_is_proved_at_ties_and_at_rounding(seed):
    random = np.random.default_rng([11, seed])
    n, k = int(random.integers(2, 4)), int(random.integers(2, 5))
    problem, epochs = random.choice(["prank", "cusum", "multiclass"]), int(random.integers(1, 4))
    X, y = random.integers(-2, 3, (6, n)).astype(float), random.integers(0, k, 6)
    engine = Engine(problem, epochs=epochs, average=False, scale=False, classes=list(range(k))).fit(X, y)
    x, wanted, spreads = random.integers(-3, 4, n).astype(float), int(random.integers(k)), random.choice([1.0, 2.0, 0.5], n)
    real = int(random.integers(n))
    found = structperc.counterfactual(engine, x, wanted, whole=[j for j in range(n) if j != real], bounds=dict.fromkeys(range(n), (-3, 3)),
                                      spreads=spreads)
    grid = np.array(list(itertools.product(*(np.linspace(-3, 3, 61 if j == real else 7) for j in range(n)))))
    lengths = np.where(engine.predict(grid) == wanted, np.abs(grid - x) @ (1 / spreads), np.inf)
    assert found.proved and found.bound <= lengths.min() + 1e-5
    assert found.x is None or engine.predict([found.x]) == [wanted] and found.distance <= lengths.min() * (1 + 1e-4) + 1e-5


def test_a_tie_that_the_problem_gives_to_the_wanted_rank_needs_no_lead():
    engine = Engine("prank", epochs=1, average=False, scale=False, classes=[1, 2]).fit([[0.0], [1.0]], [1, 2])
    engine.parts_.weights.assign([1.0, 3.0], 1)                            # rank 2 from x = 3 on, ties to the higher rank
    up = structperc.counterfactual(engine, [1.0], 2, spreads=[1.0])
    down = structperc.counterfactual(engine, [4.0], 1, spreads=[1.0])
    assert up.x.tolist() == [3.0] and up.distance == up.bound == 2.0
    assert down.proved and 2.99 < down.x[0] < 3.0 and down.bound == pytest.approx(1.0) and engine.predict([down.x]) == [1]


def test_the_sentence_names_every_change():
    engine = Engine("prank", epochs=1, average=False, scale=False, classes=[1, 2]).fit(np.eye(3)[:2], [1, 2])
    engine.parts_.weights.assign([1.0, 1.0, 1.0, 3.0], 1)                  # the plane of rank 2 is nearest to 0 at (1, 1, 1)
    found = structperc.counterfactual(engine, np.zeros(3), 2, norm="l2", spreads=np.ones(3))
    assert str(found) == "x[0] 0 -> 1, x[1] 0 -> 1 and x[2] 0 -> 1 would make it 2 (distance 1.732, the smallest change)"


def test_no_point_of_a_grid_is_nearer():
    engine, examples = model("prank")
    sd = engine.model_.spreads
    steps = np.array(list(itertools.product(np.arange(-2, 2.01, 0.25), repeat=3)))
    for x, rank in itertools.product(examples, (1, 3)):
        found = structperc.counterfactual(engine, x, rank)
        lengths = np.abs(steps).sum(axis=1)
        wins = engine.predict(x + steps * sd) == rank
        assert found.proved and found.distance <= lengths[wins].min(initial=np.inf) * (1 + 1e-4)


# ---- sets of outputs, bounds, fixed columns ----


def test_at_least_at_most_and_one_of_are_the_nearest_of_their_labels():
    engine, examples = model("cusum")
    for x in examples:
        written = Written(engine, x)
        ranks = np.arange(1, 5)
        now = int(engine.predict([x])[0])
        asked = [(Wanted(at_least=now + 1), ranks > now)] * (now < 4) + [(Wanted(at_most=now - 1), ranks < now)] * (now > 1)
        others = [k for k in (1, 2, 3, 4) if k != now][::2]
        for wanted, which in [*asked, (Wanted(one_of=others), np.isin(ranks, others))]:
            check(structperc.counterfactual(engine, x, wanted), written, which)
    between = structperc.counterfactual(engine, examples[0], Wanted(at_least=2, at_most=2))
    assert between.distance == structperc.counterfactual(engine, examples[0], 2).distance


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_bounds_and_fixed_columns_are_kept(norm):
    engine, examples = model("prank")
    free = structperc.counterfactual(engine, examples[0], Wanted(at_least=4), norm=norm)
    moved = int(np.argmax(np.abs((free.x - examples[0]) / engine.model_.spreads)))
    half = sorted((examples[0][moved], (examples[0][moved] + free.x[moved]) / 2))
    within = structperc.counterfactual(engine, examples[0], Wanted(at_least=4), norm=norm, bounds={moved: half})
    assert half[0] - 1e-9 <= within.x[moved] <= half[1] + 1e-9 and within.proved and within.distance > free.distance
    without = structperc.counterfactual(engine, examples[0], Wanted(at_least=4), norm=norm, fixed=[moved])
    assert without.x[moved] == examples[0][moved] and without.distance > within.distance and without.bound <= without.distance
    assert {change.column for change in without.changes} == {f"x[{j}]" for j in range(3) if without.x[j] != examples[0][j]}


def test_there_is_none_is_proved():
    engine, examples = model("prank")
    narrow = {j: (value - 1e-6, value + 1e-6) for j, value in enumerate(examples[0].tolist())}
    for norm in ("l1", "l2"):
        found = structperc.counterfactual(engine, examples[0], 4 if engine.predict([examples[0]]) != [4] else 1, bounds=narrow, norm=norm)
        assert found.status == "none" and found.proved and found.x is None and np.isinf(found.distance) and not found.changes
        assert "no allowed change would make it" in str(found) and "proved" in found.html()
    found = structperc.counterfactual(engine, examples[0], 4, fixed=[0, 1, 2])
    assert found.status == "none"
    engine, examples = model("perfect matching")
    never = structperc.counterfactual(engine, examples[0], Wanted(chosen=["0 with 0", "0 with 1"]))
    assert never.status == "none"


def test_fixed_columns_of_blocks_and_rows_that_may_change():
    engine, examples = model("sequence")
    tags = engine.predict(examples[:1])[0]
    asked = Wanted(not_chosen=f"token 1: {tags[1]}")
    found = structperc.counterfactual(engine, examples[0], asked, rows=[1], fixed=[0])
    assert {change.row for change in found.changes} == {1} and np.array_equal(found.x[:, 0], examples[0][:, 0])
    assert np.array_equal(found.x[[0, 2, 3]], examples[0][[0, 2, 3]]) and engine.predict([found.x])[0][1] != tags[1]
    assert str(found).startswith("row 1: x[")


def test_columns_in_other_units_change_nothing():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 2))
    y = np.digitize(X @ [1, -2], [-1, 1]) + 1
    units = [np.ones(2), np.array([1.0, 1000.0])]
    engines = [Engine("prank", epochs=5, average=True, scale=True, shuffle=False).fit(X * unit, y) for unit in units]
    found = [structperc.counterfactual(engine, X[3] * unit, rank) for rank in (1, 3) for engine, unit in zip(engines, units, strict=True)]
    for plain, scaled in zip(found[::2], found[1::2], strict=True):
        assert scaled.distance == pytest.approx(plain.distance, rel=1e-6, abs=2 * LEAD)
        assert [change.column for change in scaled.changes] == [change.column for change in plain.changes]


@pytest.mark.parametrize("unit", [1.0, 1e14 / 7])
def test_scores_of_any_size_may_be_rounded(unit):
    engine = Engine("prank", epochs=1, average=False, scale=False, classes=[1, 2]).fit(np.eye(4)[:2], [1, 2])
    engine.parts_.weights.assign([0.1, 0.2, 0.3, 0.7, -unit], 1)            # rank 2 from a sum of -unit on
    for x in np.random.default_rng(0).uniform(0.5, 2, size=(10, 4)):
        found = structperc.counterfactual(engine, unit * x, 1, spreads=4 * [unit])
        assert found.proved and found.distance == pytest.approx((x @ [0.1, 0.2, 0.3, 0.7] + 1) / 0.7, rel=1e-6)
        assert engine.predict([found.x]) == [1]


@pytest.mark.parametrize("show", ["rows", "pairs"])
def test_matchings_of_tables_come_back_as_tables(show):
    random = np.random.default_rng(0)
    tables = [random.normal(size=(3, 3, 2)) for _ in range(20)]
    pairs = [[(i, (i + int(table[0, 0, 0] > 0)) % 3) for i in range(3)] for table in tables]
    engine = Engine("matching", perfect=True, show=show, **PLAIN).fit(tables, pairs)
    asked = Wanted(not_chosen="0 with 1") if (0, 1) in pairs_of(engine, tables[0]) else Wanted(chosen="0 with 1")
    found = structperc.counterfactual(engine, tables[0], asked)
    assert found.proved and found.x.shape == (3, 3, 2)
    assert ((0, 1) in pairs_of(engine, found.x)) == bool(asked.chosen)


def pairs_of(engine, table):
    """The pairs of the predicted matching of a table with three columns."""
    return [pair if isinstance(pair, tuple) else divmod(int(pair), 3) for pair in engine.predict([table])[0]]


# ---- whole numbers and categories ----


def patients(n=120):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"bmi": random.normal(27, 4, n).round(1), "visits": random.integers(0, 9, n),
                          "smoker": random.choice(["never", "past", "now"], n), "stage": random.choice(["I", "II", "III"], n)})
    score = ((frame["bmi"] - 27) / 4 + frame["visits"] / 4 + 1.5 * (frame["smoker"] == "now") + (frame["stage"] == "III")
             + random.normal(size=n) / 4)
    return frame, np.digitize(score, [0.5, 1.5, 2.5]) + 1


@pytest.fixture(scope="module")
def table():
    frame, y = patients()
    options = dict(one_hot=["smoker"], ordinal={"stage": ["I", "II", "III"]})
    return frame, Engine("prank", plugins=["table"], update="exact-pa1", epochs=9, average=True, scale=True, shuffle=False, **options).fit(
        frame, y)


def test_tables_change_by_whole_numbers_and_levels_and_come_back_as_tables(table):
    frame, engine = table
    sd = engine.model_.spreads
    for i in (0, 1, 2, 3, 7):
        x, now = frame.iloc[[i]], int(engine.predict(frame.iloc[[i]])[0])
        wanted = 1 if now > 1 else 4
        found = structperc.counterfactual(engine, x, wanted, whole=["visits"], bounds={"visits": (0, 9), "bmi": (20, 45)}, fixed=["bmi"])
        every = pd.DataFrame(list(itertools.product(range(10), ["never", "past", "now"], ["I", "II", "III"])),
                             columns=["visits", "smoker", "stage"]).assign(bmi=x["bmi"].iloc[0])[list(frame)]
        levels = {"I": 0, "II": 1, "III": 2}
        length = ((every["visits"] - x["visits"].iloc[0]).abs() / sd[1] + (every["smoker"] != x["smoker"].iloc[0])
                  + (every["stage"].map(levels) - levels[x["stage"].iloc[0]]).abs() / sd[5])
        wins = engine.predict(every) == wanted
        assert found.proved
        if found.x is None:
            assert not wins.any()
            continue
        assert found.distance == pytest.approx(length[wins].min()) and isinstance(found.x, pd.DataFrame)
        assert engine.predict(found.x) == [wanted] and found.x["bmi"].tolist() == x["bmi"].tolist()
        assert {change.column for change in found.changes} <= {"visits", "smoker", "stage"}
        assert {c.column: c.after for c in found.changes} == {c: found.x[c].iloc[0] for c in frame if found.x[c].iloc[0] != x[c].iloc[0]}


def test_groups_of_numbers_keep_one_category():
    random = np.random.default_rng(0)
    codes, number = random.integers(0, 3, 90), random.normal(size=90)
    X = np.column_stack([np.eye(3)[codes], number])
    engine = Engine("cusum", epochs=6, average=True, scale=False, shuffle=False).fit(X, np.digitize(codes + number, [0.5, 1.5]) + 1)
    for i in range(4):
        x, wanted = X[i], 1 + int(engine.predict(X[[i]])[0]) % 3
        found = structperc.counterfactual(engine, x, wanted, groups={"colour": [0, 1, 2]})
        assert found.proved and sorted(found.x[:3].tolist()) == [0, 0, 1] and engine.predict([found.x]) == [wanted]
        best = min(float(colour != codes[i]) + abs(structperc.counterfactual(
            engine, np.append(np.eye(3)[colour], x[3]), wanted, fixed=[0, 1, 2]).distance) for colour in range(3))
        assert found.distance == pytest.approx(best, rel=1e-4)


def test_a_mixed_program_is_that_of_one_program_written_out_whole():
    engine, examples = model("cusum")
    ranks = np.arange(1, 5)
    for x in examples:
        x = np.append(np.round(x[0]), x[1:])
        written = Written(engine, x)
        for rank in ranks[ranks != engine.predict([x])[0]]:
            found, expected = structperc.counterfactual(engine, x, int(rank), whole=[0]), written.nearest(ranks == rank, whole=[1, 0, 0])
            assert found.proved and found.distance == pytest.approx(expected, rel=1e-4, abs=5e-5)
            assert found.x is None or found.x[0] == np.rint(found.x[0])


@functools.cache
def own_engine(name):
    """An engine whose weights a test may assign."""
    return MODELS[name]()[:2]


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.sampled_from(OF_BLOCKS), st.integers(0, 10**6), st.sampled_from([0.5, 1.0, 3.0, np.inf]), st.booleans())
def test_structures_with_small_whole_weights_and_many_ties_have_the_distance_of_the_program_written_out(name, seed, reach, whole):
    engine, examples = own_engine(name)
    random = np.random.default_rng(seed)
    engine.parts_.weights.assign(random.integers(-2, 3, size=len(engine.parts_.weights.vector())).astype(float), 1)
    x = examples[0].copy()
    x[:, -3:] = random.integers(-2, 3, size=x[:, -3:].shape)
    spreads = np.array([1.0, 2.0, 1.0])
    written = Written(engine, x, spreads)
    atom = int(random.integers(len(written.names)))
    wanted = written.counts[:, atom] == (written.counts[np.argmax(written.totals), atom] == 0)
    if not wanted.any() or (written.counts[:, atom] > 1).any():
        return
    low, high = x[:, -3:].min(axis=0) - reach, x[:, -3:].max(axis=0) + reach
    ends = np.array([np.subtract(x[:, -3:], low), np.subtract(high, x[:, -3:])]).reshape(2, -1)
    columns = np.tile([whole, False, False], len(x))
    asked = Wanted(**{"chosen" if written.counts[wanted][0, atom] else "not_chosen": written.names[atom]})
    found = structperc.counterfactual(engine, x, asked, spreads=spreads, whole=[0] if whole else (),
                                      bounds=dict(enumerate(zip(low.tolist(), high.tolist(), strict=True))))
    tied, strict = (written.nearest(wanted, lead=lead, ends=ends, whole=columns) for lead in (0.0, 1e-3))
    assert found.proved or whole and tied < strict - 2e-3 and found.bound <= strict + 1e-4      # structures have no order of ties
    if found.x is None:
        assert np.isinf(strict)
        return
    assert written.is_one_of(predicted(engine, found.x), wanted)
    assert tied - 1e-4 <= found.distance <= strict + 1e-4 and found.bound <= min(found.distance, strict + 1e-4)
    moved = (found.x - x)[:, -3:]
    assert (np.abs(moved) / spreads).sum() == pytest.approx(found.distance, abs=1e-9)
    assert (found.x[:, -3:] >= low).all() and (found.x[:, -3:] <= high).all() and (not whole or (moved[:, 0] == np.rint(moved[:, 0])).all())


# ---- chains ----


@functools.cache
def chained(forbidden):
    """A tagger with three labels and these forbidden transitions, trained on one sentence of five tokens."""
    engine = Engine("sequence", classes=["a", "b", "c"], forbidden_transitions=forbidden, **PLAIN)
    return engine.fit([np.zeros((5, 2))], [["a", "b", "c", "b", "a"]])


@pytest.mark.parametrize("forbidden", [(), (("a", "c"), ("c", "c"), (None, "b"))])
@pytest.mark.parametrize(("n", "norm", "seed"), [*((5, "l1", seed) for seed in range(2)), (4, "l2", 0), (4, "l2", 1),
                                               (2, "l1", 111), (2, "l2", 115)])
def test_labels_of_tokens_of_a_chain_have_the_distance_of_the_program_written_out(forbidden, n, norm, seed):
    engine, random = chained(forbidden), np.random.default_rng(seed)
    engine.parts_.weights.assign(random.normal(size=len(engine.parts_.weights.vector())), 1)
    x, spreads = random.normal(size=(n, 2)), np.array([1.0, 0.5])
    written = Written(engine, x, spreads)
    now = engine.predict([x])[0]
    tokens = sorted(random.choice(n, size=1 + seed % 2, replace=False).tolist())
    others = [next(label for label in "bca" if label != now[t] and (t or label != "b")) for t in tokens]
    for asked, wanted in ((Wanted(not_chosen=[f"token {t}: {now[t]}" for t in tokens]), lambda y: all(y[t] != now[t] for t in tokens)),
                          (Wanted(chosen=[f"token {t}: {label}" for t, label in zip(tokens, others, strict=True)]),
                           lambda y: all(y[t] == label for t, label in zip(tokens, others, strict=True)))):
        found = structperc.counterfactual(engine, x, asked, norm=norm, spreads=spreads)
        check(found, written, np.array([wanted(written.decoded(k)) for k in range(len(written.structures))]), norm)


@pytest.mark.parametrize(("rows", "token"), [([1], 1), ([1, 2], 2), ([0, 3], 2), ([4], 0)])
@pytest.mark.parametrize("forbidden", [(), (("a", "c"), ("c", "c"), (None, "b"))])
def test_rows_of_a_chain_that_may_change_decide_together_with_the_best_labels_of_the_others(forbidden, rows, token):
    engine, random = chained(forbidden), np.random.default_rng(token)
    engine.parts_.weights.assign(random.normal(size=len(engine.parts_.weights.vector())), 1)
    x, spreads = random.normal(size=(5, 2)), np.array([1.0, 0.5])
    written = Written(engine, x, spreads)
    now = engine.predict([x])[0][token]
    found = structperc.counterfactual(engine, x, Wanted(not_chosen=f"token {token}: {now}"), spreads=spreads, rows=rows)
    wanted = np.array([written.decoded(k)[token] != now for k in range(len(written.structures))])
    expected = written.nearest(wanted, ends=np.repeat(np.where(np.isin(np.arange(5), rows), 1e6, 0), 2)[None].repeat(2, axis=0))
    assert found.proved and found.distance == pytest.approx(expected, rel=2e-4, abs=1e-5)
    assert {change.row for change in found.changes} <= set(rows)


def test_labels_that_no_allowed_chain_has_are_proved_to_be_none():
    engine = chained((("a", "c"), ("c", "c"), (None, "b")))
    for asked in (Wanted(chosen="token 0: b"), Wanted(chosen=["token 1: a", "token 2: c"]), Wanted(chosen=["token 2: a", "token 2: b"])):
        found = structperc.counterfactual(engine, np.ones((5, 2)), asked, spreads=[1.0, 1.0])
        assert found.status == "none" and found.proved


def test_categories_of_tokens_are_nearest_of_all_categories():
    random = np.random.default_rng(0)
    codes, numbers = random.integers(0, 3, (30, 3)), random.normal(size=(30, 3, 1))
    X = [np.hstack([np.eye(3)[code], number]) for code, number in zip(codes, numbers, strict=True)]
    engine = Engine("sequence", classes=["a", "b", "c"], **PLAIN)
    engine.fit(X, [np.array(list("abc"))[(code + (number[:, 0] > 0.5)) % 3].tolist() for code, number in zip(codes, numbers, strict=True)])
    every = list(itertools.product(range(3), repeat=3))
    for x, code in zip(X[:6], codes, strict=False):
        now = engine.predict([x])[0]
        found = structperc.counterfactual(engine, x, Wanted(not_chosen=f"token 1: {now[1]}"), groups={"code": [0, 1, 2]}, fixed=[3])
        answers = engine.predict([np.hstack([np.eye(3)[list(one)], x[:, 3:]]) for one in every])
        wins = [int((np.array(one) != code).sum()) for one, y in zip(every, answers, strict=True) if y[1] != now[1]]
        assert found.proved and found.distance == pytest.approx(min(wins, default=np.inf))
        assert found.x is None or engine.predict([found.x])[0][1] != now[1]


def test_far_tokens_leave_the_search_short():
    """Labels a and b nearly tie at twenty tokens, and c has a steep slope. A change at one token could reach a million labellings."""
    engine, random = chained(()), np.random.default_rng(0)
    engine.parts_.weights.assign(np.append([1.0, 0, 0, 0, 0, 10], random.normal(size=len(engine.parts_.weights.vector()) - 6) / 100), 1)
    x = np.tile([0.0, -10], (21, 1))
    x[10, 0] = 3
    now = engine.predict([x])[0]
    found = structperc.counterfactual(engine, x, Wanted(not_chosen=f"token 10: {now[10]}"), spreads=[1.0, 1.0])
    assert found.proved and now[10] == "a" and {change.row for change in found.changes} == {10}
    assert found.distance == pytest.approx(3, abs=0.1)


# ---- tokens ----


def test_fewest_tokens_are_replaced_and_nothing_shorter_wins():
    X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"], ["she", "sleeps"], ["a", "dog", "sleeps"]]
    y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"], ["N", "V"], ["D", "N", "V"]]
    engine = Engine("sequence", epochs=5, average=True).fit([[[f"w={w}"] for w in x] for x in X], y)
    x = [["w=the"], ["w=dog"], ["w=barks"]]
    alternatives = {0: [["w=she"], ["w=sleeps"]], 1: [["w=sleeps"], ["w=cat"]], 2: [["w=dog"]]}
    for at, tag in itertools.product(range(3), "DNV"):
        found = structperc.counterfactual(engine, x, Wanted(chosen=f"token {at}: {tag}"), alternatives=alternatives)
        options = [[token, *alternatives[i]] for i, token in enumerate(x)]
        every = [list(tokens) for tokens in itertools.product(*options)]
        wins = [sum(a != b for a, b in zip(one, x, strict=True)) for one in every if engine.predict([one])[0][at] == tag]
        assert found.distance == min(wins, default=np.inf) == found.bound or found.status == "already" and min(wins) == 0
        assert found.x is None or engine.predict([found.x])[0][at] == tag


def test_strings_are_tokens_too():
    X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]]
    template = {"template": "U00:%x[0,0]", "columns": ["form"]}
    engine = StructuredEstimator(problem="sequence", epochs=5, plugin_options=template, random_state=0)
    engine.fit([[(w,) for w in x] for x in X], [["D", "N", "V"]] * 3)
    found = structperc.counterfactual(engine, [("the",), ("dog",), ("barks",)], Wanted(not_chosen="token 1: N"),
                                      alternatives={("dog",): [("cat",), ("sleeps",)]})
    assert found.proved and (found.x is None or found.x[1] == ("sleeps",))


# ---- estimators, results ----


def test_estimators_and_frames():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(80, 2)) * [4, 12] + [27, 90], columns=["bmi", "bp"])
    y = np.digitize((frame["bmi"] - 27) / 4 + (frame["bp"] - 90) / 12, [-1, 1]) + 1
    for estimator in (PRank(epochs=5, random_state=0), CuSumRank(epochs=5, random_state=0), SVOR(kernel="linear")):
        fitted = estimator.fit(frame, y)
        for x in (frame.iloc[[4]], frame.iloc[4]):
            found = structperc.counterfactual(fitted, x, 3 if fitted.predict(frame.iloc[[4]])[0] < 3 else 1)
            again = found.x if isinstance(found.x, pd.DataFrame) else found.x.to_frame().T
            assert type(found.x) is type(x) and fitted.predict(again) == [found.after] and found.proved
            assert list(found.to_frame().columns) == ["row", "column", "before", "after", "deviations"]
            assert found.to_frame()["deviations"].sum() == pytest.approx(found.distance)
            assert all(f"{c.column} {c.before:.6g} -> {c.after:.6g}" in str(found) for c in found.changes)
            assert "would make it" in found.html() and "<script" not in found.html() and repr(found) == str(found)


def test_single_precision_rows_win_after_rounding():
    X = np.random.default_rng(0).normal(size=(100, 4)).astype(np.float32)
    engine = Engine("cusum", epochs=4, average=True, scale=False, shuffle=False).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]) + 1)
    for x in X[:6]:
        found = structperc.counterfactual(engine, x, 1 + int(engine.predict(x[None])[0]) % 3)
        assert found.proved and found.x.dtype == np.float32 and engine.predict(found.x[None]) == [found.after]


def test_a_change_that_moves_all_labels_by_the_same_amount_gives_no_warning():
    """Dividing the lead of a label by the steepest gain, which is 0, gives an infinite bound."""
    engine = Engine("sequence", classes=["a", "b", "c"], average=False, scale=False, epochs=1)
    engine.fit(np.zeros((3, 1)), [["a", "b", "c"]], lengths=[3])
    engine.parts_.weights.assign([2, 2, 2, -1, 3, 0, -3, 2, 2, 2, -2, -3, 3, -3, 0], 1)

    answer = structperc.counterfactual(engine, [[-1.0], [0.0]], Wanted(not_chosen="token 0: b"), spreads=[1.0])
    assert answer.x is None


def test_a_limit_leaves_a_bound():
    for name, sentence in (("sequence", "maybe not the smallest change"), ("perfect matching", "raise time_limit")):
        engine, examples = model(name)
        written = Written(engine, examples[0])
        best = written.counts[np.argmax(written.totals)]
        found = structperc.counterfactual(engine, examples[0], Wanted(not_chosen=written.names[int(np.argmax(best > 0))]), time_limit=1e-9)
        assert found.bound <= found.distance and found.bound < np.inf
        assert not found.proved and found.status == "open" and sentence in str(found)
    engine = Engine("prank", epochs=1, average=False, scale=False, classes=[1, 2]).fit([[0.0], [1.0]], [1, 2])
    engine.parts_.weights.assign([0.5, 1.0], 1)                            # rank 2 from x = 2 on: 1 is missing, and a step gains 0.5
    found = structperc.counterfactual(engine, [0.0], 2, spreads=[1.0], time_limit=1e-9)
    assert found.status == "open" and found.bound == 2.0


def test_the_old_model_is_left_as_it_was():
    engine, examples = model("prank")
    before, x = engine.parts_.weights.vector().copy(), examples[0].copy()
    structperc.counterfactual(engine, x, 4)
    assert np.array_equal(before, engine.parts_.weights.vector()) and np.array_equal(x, examples[0])


# ---- rejected arguments ----


@pytest.mark.parametrize(("options", "message"), [
    (dict(wanted=9), "wanted=9 is no output of this model. Expected one of 1, 2, 3, 4"),
    (dict(wanted=Wanted(at_least=9)), "9 is no label of this model; expected one of 1, 2, 3, 4"),
    (dict(wanted=Wanted(chosen="> 9")), "'> 9' is no atom of this example"),
    (dict(norm="linf"), "norm='linf'; expected 'l1' or 'l2'"),
    (dict(fixed=["bmi"]), "fixed names 'bmi', which is no column of this model"),
    (dict(fixed="bmi"), "fixed is 'bmi'; expected a list of columns"),
    (dict(bounds={0: 3}), r"bounds\[0\] is 3; expected a pair of numbers"),
    (dict(bounds={0: (1e6, 1e7)}), "outside its bounds 1e\\+06 and 1e\\+07. Widen them, or name the column in fixed"),
    (dict(whole=[0]), "which is named in whole. Expected a whole number there"),
    (dict(groups={"a": [0, 1]}), r"in the columns of groups\['a'\]; expected one 1"),
    (dict(groups=[[0, 1]]), "expected a dict from names to lists of columns"),
    (dict(groups={"a": [0, 0]}), "which is in a group already"),
    (dict(rows=[1]), "rows names rows that x does not have"),
    (dict(spreads=[1.0]), "expected a number, at least 0, for each of 3 columns"),
    (dict(time_limit=0), "time_limit=0; expected None or a number of seconds"),
    (dict(time_limit=10**400), "expected None or a number of seconds"),
    (dict(time_limit=np.timedelta64(1, "s")), "expected None or a number of seconds"),
    (dict(wanted=Wanted(at_least=[3])), r"\[3\] is no label of this model"),
    (dict(wanted=Wanted(at_most=np.zeros(2))), "is no label of this model"),
    (dict(norm=np.zeros(2)), "expected 'l1' or 'l2'"),
    (dict(fixed=[[0]]), r"fixed names \[0\], which is no column of this model"),
    (dict(whole=np.array(1)), "expected a list of columns"),
    (dict(bounds=[(0, 1)]), "bounds=.*; expected a dict from columns to pairs"),
    (dict(bounds=5), "bounds=5; expected a dict from columns to pairs"),
    (dict(spreads=[10**400, 1, 1]), "expected a number, at least 0, for each of 3 columns"),
    (dict(alternatives={0: ["a"]}), "this model was trained on rows"),
    (dict(alternatives={0: ["a"]}, rows=5), "rows is for rows of numbers"),
    (dict(alternatives={0: ["a"]}, fixed=[0]), "fixed is for rows of numbers, and alternatives for tokens"),
])
def test_what_cannot_be_asked_is_refused(options, message):
    engine, examples = model("prank")
    with pytest.raises((OptionError, DataError), match=message):
        structperc.counterfactual(engine, examples[0], **{"wanted": 4} | options)


def test_whole_numbers_have_no_least_squares():
    engine, examples = model("prank")
    with pytest.raises(OptionError, match="norm='l2' has no whole numbers"):
        structperc.counterfactual(engine, np.rint(examples[0]), 4, whole=[0], norm="l2")


def test_models_without_linear_scores_are_refused():
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = (X[:, 0] > 0) + 1
    kernel = Engine("cusum", plugins=["dual-kernel"], kernel="rbf", epochs=2).fit(X, y)
    with pytest.raises(PluginError, match="scores that are linear in the columns"):
        structperc.counterfactual(kernel, X[0], 3 - int(kernel.predict(X[:1])[0]), spreads=[1.0, 1.0])
    with pytest.raises(OptionError, match="no standard deviations of its columns.*spreads="):
        structperc.counterfactual(kernel, X[0], 2)
    linear = Engine("cusum", plugins=["dual-kernel"], kernel="linear", epochs=2).fit(X, y)
    wanted = 3 - int(linear.predict(X[:1])[0])
    assert structperc.counterfactual(linear, X[0], wanted, spreads=[1.0, 1.0]).proved
    tokens = Engine("sequence", epochs=1).fit([[["a"], ["b"]]], [["D", "N"]])
    with pytest.raises(PluginError, match="alternatives="):
        structperc.counterfactual(tokens, [["a"], ["b"]], ["N", "N"])
    with pytest.raises(NotFittedError, match="call fit or partial_fit first"):
        structperc.counterfactual(PRank(), X[0], 2)
    with pytest.raises(DataError, match="takes one example, but got 40"):
        structperc.counterfactual(model("prank")[0], np.ones((40, 3)), 2)


def test_sentences_of_a_parser_are_tokens_also_where_its_reader_makes_numbers_of_them():
    x = [("the", "DET"), ("dog", "NOUN"), ("barks", "VERB")]
    parser = Engine("parsing", random_state=0).fit([x, x[1:]], [[2, 3, 0], [2, 0]])
    for options in ({}, {"spreads": [1.0, 1.0]}):
        with pytest.raises(PluginError, match="alternatives="):
            structperc.counterfactual(parser, x, [3, 0, 2], **options)


@pytest.mark.parametrize("given_twice", [{}, dict(one_of=[1], at_least=2), dict(at_most=2, chosen="> 1")])
def test_what_is_wanted_is_said_in_one_way(given_twice):
    with pytest.raises(OptionError, match="in one way"):
        Wanted(**given_twice)


@pytest.mark.parametrize(("given", "message"), [
    (dict(one_of=5), "one_of=5; expected a list of outputs"), (dict(chosen=5), "Wanted got the atom 5; expected names of atoms"),
    (dict(not_chosen=["> 1", None]), "Wanted got the atom None"),
])  # fmt: skip
def test_what_is_wanted_has_names(given, message):
    with pytest.raises(OptionError, match=message):
        Wanted(**given)


def test_tokens_with_arrays_are_compared_by_identity():
    engine = Engine("sequence", epochs=3).fit([[["a", np.ones(2)], ["b", np.zeros(2)]]] * 3, [["A", "B"]] * 3)
    x = [["a", np.ones(2)]]
    assert engine.predict([x])[0] == ["A"]
    found = structperc.counterfactual(engine, x, ["B"], alternatives={0: [["b", np.zeros(2)]]})
    assert found.distance == 1 and found.after == ["B"]


def test_labels_without_an_order_have_no_range():
    engine, examples = model("multiclass")
    with pytest.raises(OptionError, match="no order"):
        structperc.counterfactual(engine, examples[0], Wanted(at_least=2))


# ---- proofs beside an enumeration ----


def small(seed):
    """A model of small whole numbers, an example, a wanted label, and all points of the grid with their predictions."""
    random = np.random.default_rng(seed)
    d, k, reach = int(random.integers(1, 3)), int(random.integers(2, 4)), 3
    X = random.integers(-2, 3, (int(random.integers(2, 9)), d)).astype(float)
    kind = [CuSumRank, PRank, StructuredClassifier][seed % 3]
    model = kind(preset="paper", random_state=0, epochs=2, classes=list(range(k)), scale=False, average=False)
    model.fit(X, random.integers(0, k, len(X)))
    grid = np.array(list(itertools.product(np.arange(-reach, reach + 1.0), repeat=d)))
    x, spreads = random.integers(-reach, reach + 1, d).astype(float), random.choice([0.5, 1.0, 2.0], d)
    return model, x, int(random.integers(k)), {j: (-reach, reach) for j in range(d)}, spreads, grid


def test_whole_numbers_have_the_nearest_point_of_the_grid_ties_included():
    proved = 0
    for seed in range(60):
        model, x, wanted, bounds, spreads, grid = small(seed)
        changed = structperc.counterfactual(model, x, wanted, bounds=bounds, whole=range(len(x)), spreads=spreads)
        right = model.predict(grid) == wanted
        best = (np.abs(grid - x) / spreads).sum(axis=1)[right].min(initial=np.inf)
        assert changed.bound <= best + 1e-5, seed
        assert changed.x is None or model.predict([changed.x])[0] == wanted, seed
        if changed.proved:
            proved += 1
            assert (np.isinf(best) if changed.x is None else changed.distance == pytest.approx(best, abs=1e-5)), seed
    assert proved >= 55


def test_a_label_that_no_change_can_make_win_is_proved_so():
    model = PRank(preset="paper", random_state=0, epochs=1, classes=[0, 1], scale=False, average=False).fit([[0.0], [0.0]], [1, 1])
    none = structperc.counterfactual(model, [-3.0], 0, spreads=[1.0])
    assert none.status == "none" and none.proved and "time_limit" not in str(none)


@pytest.mark.filterwarnings("ignore::structperc.errors.ScaleWarning")
def test_the_shortest_squared_change_within_bounds_is_no_longer_than_the_sum_of_changes():
    for seed in range(12):
        random = np.random.default_rng(seed)
        X = random.normal(size=(60, 2)) * [1, 100]
        engine = Engine("multiclass", preset="paper", random_state=0).fit(X, 1 + (X[:, 0] + X[:, 1] / 100 > 0))
        wanted = 3 - int(engine.predict([X[0]])[0])
        one, two = (structperc.counterfactual(engine, X[0], wanted, bounds={1: (X[0, 1] - 30, X[0, 1] + 30)}, norm=norm)
                    for norm in ("l1", "l2"))
        assert two.status == one.status and two.distance <= one.distance * (1 + 1e-6), seed


def test_a_program_that_the_presolve_of_highs_fails_on_is_solved():
    """HiGHS of scipy 1.17 ended it with an error."""
    X = [[-2.0, -1.0], [1.0, -1.0], [1.0, -2.0], [-2.0, 2.0], [-2.0, 2.0], [0.0, -2.0], [1.0, 2.0], [-2.0, -2.0]]
    model = StructuredClassifier(preset="paper", random_state=0, epochs=1, classes=[0, 1, 2, 3], scale=False, average=False)
    model.fit(X, [0, 0, 2, 3, 1, 0, 2, 1])
    found = structperc.counterfactual(model, [3.0, 2.0], 3, bounds={0: (-3, 3), 1: (-3, 3)}, whole=[0], spreads=[0.5, 1.0])
    grid = np.array(list(itertools.product(np.arange(-3, 4.0), np.linspace(-3, 3, 61))))
    assert found.status == "none" and not (model.predict(grid) == 3).any()


def test_truth_values_stay_truth_values():
    frame = pd.DataFrame({"a": np.arange(20.0), "flag": [i % 3 == 0 for i in range(20)]})
    model = PRank(random_state=0).fit(frame, [1 + (i > 6) + (i > 13) for i in range(20)])
    assert structperc.counterfactual(model, frame.iloc[[2]], 3, fixed=["a"]).status == "none"
    assert structperc.counterfactual(model, frame.iloc[2], 3, fixed=["a"]).status == "none"
    moved = structperc.counterfactual(model, frame.iloc[[2]], 3)
    assert moved.x["flag"].iloc[0] in (True, False) and model.predict(moved.x)[0] == 3
