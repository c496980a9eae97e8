"""PRank's pocket: the best of all rankers that its steps make, beside a slow twin, and as a base of boosting."""

import io
import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from plain import Engine
from reference import pocket as twin
from reference.layouts import LAYOUTS, stored, widened
from reference.samples import real, small_sets, whole
from structperc_boosting.estimators import AdaBoostOR
from structperc_prank.updates import PocketSearch, instruction_sets
from ticking import ticking

from structperc import hookimpl
from structperc.callbacks import Checkpoint, EarlyStopping
from structperc.components import BlockFeatures, PassiveAggressiveUpdate
from structperc.errors import DataError, OptionError, PluginError
from structperc.estimators import PRank

VARIANTS = ["structured", "original", "single"]


class Kept:
    """What a search assigns."""

    def assign(self, vector, n_visited):
        self.vector, self.n_visited = np.array(vector), n_visited


def compared(X, y, costs, variant, compares, seed, epochs, layout="dense64", instruction_set=None):
    """Runs the search and its twin side by side."""
    stored_X = stored(X, layout)
    X = widened(stored_X)
    search = PocketSearch(stored_X, y, costs, variant, compares, seed, instruction_set)
    slow = twin.Pocket(X, y, costs, variant, compares, seed)
    kept, last = Kept(), slow.cost
    for epoch in range(epochs):
        if slow.cost == 0:
            break
        answers, drawn = np.empty(len(y), dtype=np.intc), np.empty(len(y), dtype=np.int64)
        made, mistakes, loss = search.epoch(kept, epoch * len(y), answers, drawn)
        visits = []
        for _ in range(len(y)):
            visits.append(slow.visit())
            assert slow.cost <= last, "the pocket's cost never rises"
            last = slow.cost
            if slow.cost == 0:
                break
        wrong = [(i, r) for i, r in visits if r != y[i]]
        assert list(zip(drawn[:made], answers[:made], strict=True)) == visits and mistakes == len(wrong)
        assert np.isclose(loss, sum(costs[i, r - 1] for i, r in wrong)) and kept.n_visited == epoch * len(y) + made
        assert kept.vector.tolist() == [*slow.kept[0], *slow.kept[1]] and search.cost == slow.cost * slow.unit
        assert (np.diff(kept.vector[X.shape[1]:]) >= 0).all()
    return search


@pytest.mark.parametrize("compares", ["all", "runs"])
@pytest.mark.parametrize("variant", VARIANTS)
@given(small_sets(5), st.integers(0, 2**64 - 1), st.data())
def test_the_search_is_its_twin_bit_for_bit(variant, compares, small, seed, data):
    X, y, r = small
    costs = np.array(data.draw(st.lists(st.lists(st.floats(0, 9, width=16), min_size=r, max_size=r), min_size=len(y), max_size=len(y))))
    costs[np.arange(len(y)), y - 1] = 0
    costs[0, y[0] % r] = 1
    compared(X, y, costs, variant, compares, seed, epochs=6)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_compared_alike(layout):
    rng = np.random.default_rng(LAYOUTS.index(layout))
    for n, d, r in ((75, 3, 6), (33, 9, 2)):
        X, y = real(rng, n, d, r, noise=1.0)
        compared(X, y, abs(np.arange(1.0, r + 1) - y[:, None]), "structured", "all", 7, epochs=2, layout=layout)


@pytest.mark.parametrize("instruction_set", instruction_sets())
def test_every_instruction_set_gives_the_same_bits(instruction_set):
    rng = np.random.default_rng(3)
    for n, d, r in ((97, 5, 4), (32, 1, 3), (31, 40, 10)):
        X, y = real(rng, n, d, r, noise=1.0)
        X[::7] = X[1]
        costs = rng.random((n, r)) * (np.arange(1, r + 1) != y[:, None])
        compared(X, y, costs, "structured", "all", 5, epochs=2, instruction_set=instruction_set)


@pytest.mark.parametrize("layout", ["dense64", "csr64-int32"])
def test_hopeless_rankers_are_not_compared_on_all_rows(layout):
    """Screened comparisons are their twin's, too, and here they find what all comparisons find."""
    X, y = real(np.random.default_rng(0), 330, 3, 6, noise=0.5)
    costs = abs(np.arange(1.0, 7) - y[:, None])
    screened = compared(X, y, costs, "structured", "screened", 3, epochs=2, layout=layout)

    whole_sums = PocketSearch(stored(X, layout), y, costs, "structured", "all", 3)
    for _ in range(2):
        whole_sums.epoch(Kept(), 0)
    assert screened.cost == whole_sums.cost and screened.updates == whole_sums.updates


@given(st.lists(st.integers(0, 20), min_size=1, max_size=9).filter(any))
@example([0, 0, 3])
def test_examples_are_drawn_by_their_largest_costs(largest):
    """The cells of the alias table give each row what its cost demands."""
    part, other = twin.alias(np.array(largest, dtype=float))
    n, chance = len(largest), np.zeros(len(largest))
    for i in range(n):
        chance[i] += part[i] / n
        chance[other[i]] += (1 - part[i]) / n
    np.testing.assert_allclose(chance, np.array(largest) / sum(largest), atol=1e-14)


@pytest.fixture(scope="module")
def noisy():
    return real(np.random.default_rng(0), 400, 6, 5, noise=1.0)


def cost_of(engine, X, y, loss=lambda d: abs(d)):
    return float(loss(engine.predict(X) - y).sum())


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("pocket", [True, "screened", "runs"])
def test_the_model_is_the_pockets_ranker(noisy, pocket, variant):
    X, y = noisy
    engine = Engine("prank", pocket=pocket, variant=variant, epochs=8, random_state=0).fit(X, y)

    assert cost_of(engine, X, y) == engine.pocket_costs_[-1] and (np.diff(engine.pocket_costs_) <= 0).all()
    assert engine.mistakes_[-1] > 0.3 * len(y) and engine.status_ == "max_epochs" and len(engine.pocket_costs_) == 8
    assert cost_of(engine, X, y) < cost_of(Engine("prank", variant=variant, epochs=8, shuffle=True, random_state=0).fit(X, y), X, y)
    again = Engine("prank", pocket=pocket, variant=variant, epochs=8, random_state=0).fit(X, y)
    assert np.array_equal(engine.coef_, again.coef_) and np.array_equal(engine.thresholds_, again.thresholds_)


def test_the_loss_is_what_is_compared(noisy):
    X, y = noisy
    table = np.array([[0, 1, 1, 1, 1], [9, 0, 1, 1, 1], [9, 9, 0, 1, 1], [9, 9, 9, 0, 1], [9, 9, 9, 9, 0]], dtype=float)
    for loss, measured in (("squared", lambda d: d**2), ("zero-one", lambda d: d != 0), (table, lambda d: np.where(d < 0, 9, d != 0))):
        engine = Engine("prank", pocket=True, loss=loss, epochs=5, random_state=0).fit(X, y)
        assert cost_of(engine, X, y, measured) == engine.pocket_costs_[-1]
    assert (engine.predict(X) >= y).mean() > 0.7, "too low a rank costs nine times as much"


def test_separable_ranks_end_in_a_ranker_without_costs():
    X = np.array([[-2.0, 1], [-1, 0], [0.5, 1], [2, 0]])
    engine = Engine("prank", pocket=True, epochs=100, random_state=0).fit(X, [1, 1, 2, 3])

    assert engine.predict(X).tolist() == [1, 1, 2, 3] and engine.status_ == "converged" and len(engine.mistakes_) < 100


def test_weights_count_as_costs_and_zero_as_absence(noisy):
    X, y = noisy
    weights = np.random.default_rng(1).choice([0.0, 0.5, 3.0], len(y))
    weighed = Engine("prank", pocket=True, epochs=4, random_state=0).fit(X, y, sample_weight=weights)
    costs = weights[:, None] * abs(np.arange(1, 6) - y[:, None])
    kept = weights > 0
    priced = Engine("prank", pocket=True, loss="costs", epochs=4, random_state=0).fit(X[kept], y[kept], costs=costs[kept])

    assert np.array_equal(weighed.coef_, priced.coef_) and weighed.pocket_costs_.tolist() == priced.pocket_costs_.tolist()
    assert weighed.pocket_costs_[-1] == (weights * abs(weighed.predict(X) - y)).sum()


def test_the_estimator_is_the_engine(noisy):
    X, y = noisy
    model = PRank(pocket=True, epochs=5, scale=False, random_state=0).fit(X, y)
    engine = Engine("prank", pocket=True, epochs=5, random_state=0).fit(X, y)

    assert np.array_equal(model.coef_, engine.coef_) and model.unused_parameters_ == ()
    costs = abs(np.arange(1, 6) - y[:, None]) ** 1.5
    priced = PRank(pocket=True, epochs=5, random_state=0).fit(X, y, costs=costs)
    assert np.isclose(costs[np.arange(len(y)), priced.predict(X) - 1].sum(), priced.pocket_costs_[-1])
    with pytest.raises(OptionError, match="costs has no effect with pocket=False and loss_weight=0"):
        PRank().fit(X, y, costs=costs)
    with pytest.raises(DataError, match="the cost of the right label; it must be 0"):
        PRank(pocket=True).fit(X, y, costs=costs + 1)


def test_boosting_takes_it_as_a_base(noisy):
    X, y = noisy
    base = PRank(pocket=True, epochs=10)
    boosted = AdaBoostOR(base, n_estimators=15, random_state=0).fit(X, y)
    again = AdaBoostOR(base, n_estimators=15, random_state=0).fit(X, y)

    assert len(boosted.errors_) > 1 and (boosted.errors_ < 0.5).all() and boosted.errors_.tolist() == again.errors_.tolist()
    alone = PRank(pocket=True, epochs=10, random_state=0).fit(X, y)
    assert abs(boosted.predict(X) - y).mean() <= abs(alone.predict(X) - y).mean()


def test_ctrl_c_keeps_the_best_ranker_so_far():
    X, y = real(np.random.default_rng(0), 20_000, 8, 5, noise=2.0)
    engine = Engine("prank", pocket=True, epochs=10**6, random_state=0)
    with pytest.raises(KeyboardInterrupt), ticking(0.3):
        engine.fit(X, y)

    assert engine.status_ == "interrupted" and 0 < cost_of(engine, X, y) < abs(5 - y).sum()


class Interrupt:
    @hookimpl
    def structperc_epoch_end(self, engine, record):
        if record.epoch == 3:
            raise KeyboardInterrupt


def test_a_training_that_was_stopped_ends_as_if_it_had_not_been(noisy, tmp_path):
    X, y = noisy
    for pocket in (True, "screened", "runs"):
        checkpoint, plain = Checkpoint(tmp_path / f"{pocket}"), Engine("prank", pocket=pocket, epochs=8, random_state=0).fit(X, y)
        with pytest.raises(KeyboardInterrupt):
            Engine("prank", pocket=pocket, epochs=8, random_state=0, plugins=[checkpoint, Interrupt()]).fit(X, y)
        engine = Engine("prank", pocket=pocket, epochs=8, random_state=0, plugins=[checkpoint]).fit(X, y, resume=True)
        assert engine.coef_.tolist() == plain.coef_.tolist() and engine.pocket_costs_.tolist() == plain.pocket_costs_.tolist()
        assert engine.mistakes_ == plain.mistakes_


def test_models_are_saved_and_explained(noisy):
    X, y = noisy
    engine = Engine("prank", pocket=True, epochs=3, random_state=0).fit(X, y, record_predictions=True)
    file = io.BytesIO()
    engine.save(file)
    file.seek(0)
    loaded = Engine.load(file)

    assert loaded.predict(X).tolist() == engine.predict(X).tolist()
    assert loaded.pocket_costs_.tolist() == engine.pocket_costs_.tolist() and loaded.plugin_options["pocket"] is True
    assert "Gallant" in engine.citation() and "Pranking" in engine.citation()
    assert len(engine.online_predictions_) == 3 * len(y) and engine.explain(X[0]).contributions


def test_observers_see_the_pocket_and_may_stop(noisy):
    X, y = noisy
    stopping = EarlyStopping(X[:100], y[:100], patience=2)
    engine = Engine("prank", pocket=True, epochs=500, random_state=0, plugins=[stopping]).fit(X[100:], y[100:])

    assert engine.status_ == "early_stopped" and len(engine.mistakes_) < 500


def test_what_the_pocket_cannot_use_is_refused(noisy):
    X, y = noisy
    for options, sentence in (({"average": True}, "average=True has no effect"), ({"update": "pa1"}, "update='pa1' has no effect"),
                              ({"loss_weight": 1.0}, "loss_weight=1.0 has no effect"), ({"shuffle": True}, "shuffle=True has no effect"),
                              ({"pocket": "best"}, "pocket='best'; expected one of False, True, 'screened', 'runs'")):
        with pytest.raises((OptionError, PluginError), match=sentence):
            Engine("prank", **{"pocket": True, **options}).fit(X, y)
    with pytest.raises(PluginError, match="solves one problem over all examples"):
        Engine("prank", pocket=True).fit(X, y).partial_fit(X, y)
    with pytest.raises(PluginError, match="leave the kernel out"):
        Engine("prank", pocket=True, plugins=["dual-kernel"], kernel="rbf").fit(X, y)
    for part in (BlockFeatures(4, 6), PassiveAggressiveUpdate("pa")):
        with pytest.raises(PluginError, match=f"makes PRank's own steps, but {type(part).__name__} was named"):
            Engine("prank", pocket=True, plugins=[part]).fit(X, y)
    with pytest.raises(DataError, match=r"X\[3, 1\] is nan"):
        Engine("prank", pocket=True).fit(np.where(np.arange(len(X))[:, None] * 6 + np.arange(6) == 19, np.nan, X), y)
    with pytest.raises(DataError, match="all costs are 0"):
        Engine("prank", pocket=True, loss="costs", classes=[1, 2]).fit([[0.0], [1.0]], [1, 2], costs=np.zeros((2, 2)))


@given(small_sets(6))
def test_single_steps_keep_the_thresholds_in_order(small):
    X, y, r = small
    for average in (False, True):
        engine = Engine("prank", classes=list(range(1, r + 1)), variant="single", average=average)
        w, b = np.zeros(X.shape[1]), np.zeros(r - 1)
        for x, gold in zip(X, y, strict=True):
            found = 1 + (w @ x >= b).sum()
            z = np.sign(gold - found)
            if z:
                w, b = w + z * x, b - z * (np.arange(1, r) == (found if z > 0 else found - 1))
            engine.partial_fit([x], [gold])
            assert (np.diff(engine.thresholds_) >= 0).all()
        assert average or (engine.coef_.tolist(), engine.thresholds_.tolist()) == (w.tolist(), b.tolist())


def test_single_steps_have_no_augmented_search():
    with pytest.raises(PluginError, match="variant='single' and loss_weight=1.0"):
        Engine("prank", variant="single", loss_weight=1.0).fit([[1.0], [2.0]], [1, 2])


def test_the_command_line_trains_and_predicts(run, tmp_path):
    X, y = whole(np.random.default_rng(0), 60, 3, 4)
    table = tmp_path / "table.csv"
    table.write_text("a,b,c,rank\n" + "".join(f"{','.join(map(str, x))},{rank}\n" for x, rank in zip(X, y, strict=True)))
    model = tmp_path / "model"
    for pocket in ("true", "screened", "runs"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            code, _, err = run("fit", "prank", table, "--target", "rank", "--model", model, "--set", f"pocket={pocket}",
                               "--set", "epochs=4")
        assert code == 0, err
        assert Engine.load(model).pocket_costs_.shape == (4,)
