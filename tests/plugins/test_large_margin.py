"""Large-margin ordinal regression through the engine: optimal by a conic solver, kept, continued, and honest where it degenerates."""

import pickle
import re
import warnings

import numpy as np
import pytest
from plain import Engine
from reference import large_margin
from scipy.sparse import csr_array
from structperc_kernels import empty_kernel_rows
from structperc_large_margin.forms import METHODS

from structperc import hookimpl
from structperc.callbacks import Checkpoint, EarlyStopping, History
from structperc.errors import DataError, DataWarning, OptionError, PluginError
from structperc.testing import check_problem

KERNELS = {"linear": {}, "rbf": {"kernel": "rbf", "gamma": 0.5},
           "polynomial": {"kernel": "polynomial", "degree": 2, "coef0": 1.0, "gamma": 1.0}}
OWN_C = {"sum-of-margins": 0.5}         # which leaves a direction


def engine(method="implicit", kernel="linear", plugins=(), **options):
    own = ["large-margin"] if kernel == "linear" else ["dual-kernel", "large-margin"]
    options = {"epochs": 2000, "C": OWN_C.get(method, 1.0), **KERNELS[kernel], **options}
    return Engine("prank", plugins=[*own, *plugins], trainer="svor", method=method, **options)


def data(n=40, seed=0, n_ranks=4):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3)).round(2)
    latent = X @ [1.0, -2.0, 0.5] + 0.5 * random.normal(size=n)
    return X, 1 + np.digitize(latent, np.quantile(latent, np.linspace(0, 1, n_ranks + 1)[1:-1]))


def inner_products(kernel, X):
    if kernel == "rbf":
        return np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    return X @ X.T if kernel == "linear" else (X @ X.T + 1) ** 2


def optimum(method, K, ranks, C, costs=None, sample_weight=None, n_ranks=4):
    W = large_margin.weights_of(method, ranks, n_ranks, costs, sample_weight)
    features = large_margin.root(K)
    if method == "sum-of-margins":
        return large_margin.margins_primal(features, ranks, W, C).value
    return large_margin.threshold_primal(features, ranks, W, C, method != "fixed-margin").value


pytestmark = pytest.mark.filterwarnings("ignore:the planes around:UserWarning")


@pytest.fixture(scope="module")
def Xy():
    return data()


# ---- optimal ----


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("method", METHODS)
def test_the_objective_is_that_of_a_conic_solver(method, kernel, Xy):
    X, y = Xy
    model = engine(method, kernel, tolerance=1e-7).fit(X, y)
    expected = optimum(method, inner_products(kernel, X), y, model.C)

    assert model.status_ == "converged"
    assert model.objective_ == pytest.approx(expected, rel=1e-6) and model.dual_objective_ == pytest.approx(expected, rel=1e-6)
    assert 0 <= model.gap_ <= 1e-7 * abs(model.objective_)


@pytest.mark.parametrize("method", METHODS)
def test_a_rough_solution_is_as_far_from_the_optimum_as_its_gap_says(method, Xy):
    X, y = Xy
    for kernel in ("linear", "rbf"):
        model = engine(method, kernel, tolerance=0.2).fit(X, y)
        expected = optimum(method, inner_products(kernel, X), y, model.C)
        assert model.dual_objective_ <= expected + 1e-7 and expected - 1e-7 <= model.objective_
        assert model.objective_ - model.dual_objective_ == pytest.approx(model.gap_)


@pytest.mark.parametrize("method", METHODS)
def test_the_model_that_answers_has_the_objective_that_is_shown(method, Xy):
    """Weights, thresholds and margins as the engine shows them, by definition."""
    X, y = Xy
    model = engine(method).fit(X, y)
    W = large_margin.weights_of(method, y, 4)
    f, planes = X @ model.coef_, model.margins_

    if method == "sum-of-margins":
        assert np.linalg.norm(model.coef_) == pytest.approx(1) and (np.diff(planes.ravel()) >= 0).all()
        short = sum(np.maximum(f[y == j] - planes[j - 1, 0], 0).sum() + np.maximum(planes[j - 1, 1] - f[y == j + 1], 0).sum()
                    for j in (1, 2, 3))
        assert model.objective_ == pytest.approx((planes[:, 0] - planes[:, 1]).sum() + model.C * short)
        assert model.thresholds_ == pytest.approx(planes.mean(axis=1))
    else:
        assert model.objective_ == pytest.approx(large_margin.threshold_value(X, y, W, 1.0, model.coef_, model.free_thresholds_))
        assert planes == pytest.approx(model.thresholds_[:, None] + [-1, 1])
    assert model.mistakes_[-1] == (model.predict(X) != y).sum()
    assert model.predict(X).tolist() == (1 + (f[:, None] >= model.thresholds_).sum(axis=1)).tolist()


def cost_matrix(steps):
    return np.array([[sum(steps[y - 1][min(k, y) - 1:max(k, y) - 1]) for k in (1, 2, 3, 4)] for y in (1, 2, 3, 4)], dtype=float)


@pytest.mark.parametrize("method", ["implicit", "explicit", "sum-of-margins"])
def test_losses_costs_and_sample_weights_weigh_the_hinges(method, Xy):
    X, y = Xy
    ranks = np.arange(1, 5)
    matrix = cost_matrix([[1, 2, 1], [2, 1, 3], [1, 1, 1], [2, 3, 1]])
    named = {"absolute": abs(ranks[:, None] - ranks), "squared": (ranks[:, None] - ranks) ** 2, "zero-one": ranks[:, None] != ranks}
    weight = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], size=len(y))
    K = inner_products("rbf", X)
    for loss, table in [*named.items(), (matrix, matrix)]:
        model = engine(method, "rbf", loss=loss, tolerance=1e-7).fit(X, y, sample_weight=weight)
        expected = optimum(method, K, y, model.C, np.asarray(table, dtype=float)[y - 1], weight)
        assert model.objective_ == pytest.approx(expected, rel=1e-6)
    own = engine(method, "rbf", loss="costs", tolerance=1e-7).fit(X, y, costs=matrix[y - 1], sample_weight=weight)
    assert own.objective_ == pytest.approx(model.objective_, rel=1e-6)


def test_weights_are_as_rows_that_repeat(Xy):
    X, y = Xy
    weight = np.random.default_rng(2).integers(0, 3, size=len(y))
    for kernel in ("linear", "rbf"):
        weighted = engine(kernel=kernel, tolerance=1e-8).fit(X, y, sample_weight=weight)
        repeated = engine(kernel=kernel, tolerance=1e-8).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-7)
        assert weighted.atom_scores(X) == pytest.approx(repeated.atom_scores(X), abs=0.02)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("weight", [2.0**-800, 2.0**-40, 2.0**40, 2.0**800])
def test_nu_is_a_share_of_the_weights_in_any_unit(kernel, weight, Xy):
    X, y = Xy
    plain, weighted = (engine(kernel=kernel, nu=0.3).fit(X, y, sample_weight=w) for w in (None, np.full(len(y), weight)))
    assert weighted.rho_ == plain.rho_ and weighted.atom_scores(X).tolist() == plain.atom_scores(X).tolist()


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("method", METHODS[:3])
def test_nu_takes_the_place_of_C(method, kernel, Xy):
    X, y = Xy
    W, features = large_margin.weights_of(method, y, 4), large_margin.root(inner_products(kernel, X))
    for nu in (0.63, 1.13):         # rho need not be unique where nu n / 2 is a whole number
        model = engine(method, kernel, nu=nu, tolerance=1e-5).fit(X, y)
        best = large_margin.nu_primal(features, y, W, nu, method != "fixed-margin")
        assert model.objective_ == pytest.approx(best.value, rel=2e-5) and model.rho_ == pytest.approx(best.at["rho"][0], rel=0.01)
        z = np.where(y[:, None] > [1, 2, 3], 1, -1)
        short = (W > 0) & (z * model.atom_scores(X) < 1 - 1e-3)
        assert short.sum() <= nu * len(y)
        same = engine(method, kernel, C=model.C_, tolerance=1e-6).fit(X, y)
        assert same.atom_scores(X) == pytest.approx(model.atom_scores(X), abs=0.05)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("method", METHODS[:3])
def test_nu_lies_between_the_margin_errors_and_the_support_constraints(method, kernel):
    """The nu-property: constraints short of the margin <= nu n <= constraints with a multiplier. These are not beyond the margin."""
    asserted = 0
    for seed in range(3):
        random = np.random.default_rng([seed, 16])
        X = random.normal(size=(60, 2))
        y = 1 + np.digitize(X[:, 0] + random.normal(size=60) / 2, [-0.5, 0.5])
        W = large_margin.weights_of(method, y, 3)
        largest = 2 / len(y) * sum(min((W[:, j] * (y <= j + 1)).sum(), (W[:, j] * (y > j + 1)).sum()) for j in range(2))
        for share in (0.7, 0.9):
            model = engine(method, kernel, nu=share * largest, tolerance=1e-6, disordered="pool").fit(X, y)
            if model.status_ == "disordered":
                continue            # pooled thresholds are not those of the optimum
            reached = np.where(y[:, None] > [1, 2], 1, -1) * model.atom_scores(X)
            assert ((W > 0) & (reached < 1 - 5e-3)).sum() <= share * largest * len(y) <= ((W > 0) & (reached < 1 + 5e-3)).sum()
            asserted += 1
    assert asserted >= 2


def test_nu_is_refused_where_it_has_no_effect_or_no_solution(Xy):
    X, y = Xy
    for options, words in (({"nu": 1.7}, "above 0 and at most 1.5"), ({"nu": 0.5, "C": 2.0}, "C=2.0 has no effect with nu=0.5"),
                           ({"nu": 0.5, "warm_start": True}, "warm_start=True has no effect with nu=0.5"),
                           ({"nu": 0.5, "method": "sum-of-margins", "C": 1.0}, "nu=0.5 has no effect with method='sum-of-margins'")):
        with pytest.raises(OptionError, match=words):
            engine(**{"method": "fixed-margin", **options}).fit(X, y)


@pytest.mark.parametrize("method", METHODS[:3])
def test_a_nu_below_the_overlap_is_said_at_fit_with_the_smallest_usable_one(method):
    """x = 0, 2 | 1, 3: w = 0 is best up to nu = 1/2. Nearer rows of three ranks: the usable range ends below the largest nu."""
    X, y = [[0.0], [2.0], [1.0], [3.0]], [1, 1, 2, 2]
    random = np.random.default_rng(0)
    x = random.normal(size=60)
    noisy = x[:, None], 1 + np.digitize(x + random.normal(size=60), [-0.5, 0.5])
    for rows, ranks in ((X, y), noisy):
        with pytest.warns(DataWarning, match=r"nu=0.01 found no direction .*'degenerate'.* up to [0-9.]+. Raise nu above that") as warned:
            tiny = engine(method, nu=0.01).fit(rows, ranks)
        usable = float(re.search(r"up to ([0-9.]+[0-9])", str(warned[0].message))[1])
        assert tiny.status_ == "degenerate" and tiny.rho_ == 0
        for model in (tiny, pickle.loads(pickle.dumps(tiny))):
            with pytest.raises(OptionError, match="found no direction.*Raise nu above"):
                model.predict([[-9.0], [9.0]])
        with pytest.warns(DataWarning, match="found no direction"):
            engine(method, nu=usable * 0.99).fit(rows, ranks)
        model = engine(method, nu=usable * 1.01, disordered="pool").fit(rows, ranks)
        assert model.status_ != "degenerate" and len(set(model.predict([[-99.0], [99.0]]))) > 1


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("method", METHODS)
def test_the_norm_is_that_of_the_direction_in_the_space_of_the_kernel(method, kernel, tmp_path):
    X, y = data()
    for scale in (False, True):
        model = engine(method, kernel, scale=scale, **({"disordered": "pool"} if method == "fixed-margin" else {})).fit(X, y)
        rows = (X - X.mean(axis=0)) / X.std(axis=0) if scale else X
        scores = model.atom_scores(X)[:, 0] + model.thresholds_[0]
        if kernel == "linear":
            norm = np.linalg.norm(model.coef_ * (X.std(axis=0) if scale else 1.0))
        else:
            held = model.support_ % len(X)
            norm = np.sqrt(model.dual_coef_[:, 0] @ inner_products(kernel, rows)[np.ix_(held, held)] @ model.dual_coef_[:, 0])
            assert norm**2 == pytest.approx(model.dual_coef_[:, 0] @ scores[held], rel=1e-6)
        assert model.norm_ == pytest.approx(norm, rel=1e-6) and (method != "sum-of-margins" or model.norm_ == 1)
        model.save(tmp_path / "model")
        assert Engine.load(tmp_path / "model").norm_ == model.norm_


def test_ranks_that_nothing_separates_have_no_usable_nu():
    with pytest.warns(DataWarning, match="the best w is 0 for every nu, since no direction separates these ranks"):
        engine("implicit", nu=0.5).fit([[0.0], [1.0], [0.0], [1.0]], [1, 1, 2, 2])


def common_letters(a, b):
    return float(len(set(a) & set(b)))


@pytest.mark.parametrize("kernel, objects", [
    ("subset-tree", ["(S (A a) (B b))", "(S (A a) (C c))", "(S (D d) (E e))", "(S (D d) (F f))", "(S x)"]),
    ("subsequence", ["abba", "baab", "abcab", "xyzx", "zyx"]),
    (common_letters, ["ab", "abc", "bcd", "cde", "e"]),
])
def test_objects_are_ranked_through_their_kernels(kernel, objects, tmp_path):
    X, y = objects * 4, [1, 1, 2, 3, 3] * 4
    options = {"trainer": "svor", "epochs": 500, "C": 10.0}
    model = Engine("prank", plugins=["dual-kernel", "large-margin"], kernel=kernel, **options).fit(X, y)
    precomputed = empty_kernel_rows(model.parts_.weights, model.read(X))
    for i in range(len(X)):
        precomputed.append(model.read(X), i)
    K = precomputed.values(model.read(X))

    assert model.objective_ == pytest.approx(optimum("implicit", K, np.array(y), 10.0, n_ranks=3), rel=2e-3)
    other = Engine("prank", plugins=["dual-kernel", "large-margin"], kernel="precomputed", **options).fit(K, y)
    assert other.objective_ == pytest.approx(model.objective_, rel=2e-3)
    assert model.predict(X).tolist() == other.predict(K).tolist() == y


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("method", METHODS)
def test_forms_of_X_give_one_solution(method, kernel, Xy):
    X, y = Xy
    dense = engine(method, kernel, tolerance=1e-8).fit(X, y)
    for other in (csr_array(X), X.astype(np.float32)):
        assert engine(method, kernel, tolerance=1e-8).fit(other, y).objective_ == pytest.approx(dense.objective_, rel=1e-6)


# ---- like any model ----


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("method", METHODS)
def test_the_battery(method, kernel):
    """The kernel is the last word where both stores are in line. Two methods need examples of every rank, so the seed is theirs."""
    plugins = [] if kernel == "linear" else ["dual-kernel"]
    options = {"C": OWN_C.get(method, 1.0), **KERNELS[kernel], **({"disordered": "pool"} if method == "fixed-margin" else {})}
    seed = 6 if method in ("explicit", "fixed-margin") else 0
    check_problem("large-margin", plugins=plugins, method=method, random_state=seed, **options)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("method", METHODS)
def test_a_file_holds_everything(method, kernel, Xy, tmp_path):
    X, y = Xy
    model = engine(method, kernel).fit(X, y)
    model.save(tmp_path / "model")
    loaded = Engine.load(tmp_path / "model")

    assert np.array_equal(loaded.atom_scores(X), model.atom_scores(X)) and loaded.predict(X).tolist() == model.predict(X).tolist()
    for name in ("objective_", "dual_objective_", "gap_", "margins_", "thresholds_", "free_thresholds_", "status_", "mistakes_"):
        assert np.array_equal(getattr(loaded, name), getattr(model, name))
    assert "chu2007support" in loaded.citation()


def test_an_explanation_adds_up(Xy):
    X, y = Xy
    model = engine().fit(X, y)

    assert model.explain(X[0]).margin == pytest.approx(model.margins(X[:1])[0])


def test_observers_see_the_model_of_the_moment(Xy):
    X, y = Xy

    class Watched:
        seen = ()

        @hookimpl
        def structperc_epoch_end(self, engine, record):
            self.seen = (*self.seen, (record.epoch, record.mistakes, int((engine.predict(X) != y).sum())))

    for kernel in ("linear", "rbf"):
        watched, history = Watched(), History()
        model = engine(kernel=kernel, plugins=[watched, history], tolerance=1e-6).fit(X, y)
        assert [epoch for epoch, *_ in watched.seen] == list(range(1, len(model.mistakes_) + 1))
        assert all(counted == found for _, counted, found in watched.seen)
        assert [record.mistakes for record in history.records] == model.mistakes_
        assert model.cumulative_loss_ >= sum(model.mistakes_)


def test_epochs_and_observers_bound_the_training(Xy):
    X, y = Xy
    for kernel in ("linear", "rbf"):
        short = engine(kernel=kernel, epochs=1, C=100.0, tolerance=1e-9).fit(X, y, record_predictions=True)
        assert short.status_ == "max_epochs" and len(short.mistakes_) == 1 and short.gap_ > 1e-9 * short.objective_
        assert short.online_predictions_.tolist() == [4] * len(y), "of weights that are 0"
        held_out = EarlyStopping(X, y, patience=1)
        stopped = engine(kernel=kernel, C=100.0, tolerance=1e-12, plugins=[held_out]).fit(X, y)
        assert stopped.status_ == "early_stopped" and len(stopped.mistakes_) == len(held_out.losses)


# ---- Ctrl-C, warm start, checkpoints ----


class CtrlC:
    """Presses Ctrl-C at the end of an epoch."""

    def __init__(self, at=1):
        self.at = at

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        if record.epoch == self.at:
            raise KeyboardInterrupt


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_an_interrupted_training_is_a_model_to_go_on_from(kernel, Xy, tmp_path):
    X, y = Xy
    options = {"kernel": kernel, "C": 100.0, "tolerance": 1e-6, "warm_start": True}
    model = engine(plugins=[CtrlC()], **options)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_ == "interrupted" and np.isnan(model.objective_) and np.isinf(model.gap_) and len(model.mistakes_) == 1
    assert len(set(model.predict(X))) > 1 and not hasattr(model, "margins_")

    model.save(tmp_path / "model")
    loaded = Engine.load(tmp_path / "model", plugins=[CtrlC(at=-1)])
    expected = optimum("implicit", inner_products(kernel, X), y, 100.0)
    assert loaded.fit(X, y).objective_ == pytest.approx(expected, rel=2e-6) and loaded.status_ == "converged"


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("method", METHODS)
def test_a_warm_start_ends_at_the_optimum_of_the_new_C(method, kernel, Xy, tmp_path):
    X, y = Xy
    model = engine(method, kernel, warm_start=True, tolerance=1e-6).fit(X, y)
    model.save(tmp_path / "model")
    for warm in (model, Engine.load(tmp_path / "model")):
        for C in (0.35, 0.15):
            warm.C = C
            warm.fit(X, y)
            assert warm.objective_ == pytest.approx(optimum(method, inner_products(kernel, X), y, C), rel=2e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore:the sum of margins found no direction")
def test_a_warm_start_takes_other_weights_and_ranks(method, kernel, Xy):
    X, y = Xy
    random = np.random.default_rng(4)
    model = engine(method, kernel, warm_start=True, tolerance=1e-6, C=1.0).fit(X, y)
    for ranks, weight in ((y, random.choice([0.5, 1.0, 2.0], size=len(y))), (random.permutation(y), np.ones(len(y)))):
        model.C = 0.3
        model.fit(X, ranks, sample_weight=weight)
        expected = optimum(method, inner_products(kernel, X), ranks, 0.3, sample_weight=weight)
        assert model.objective_ == pytest.approx(expected, rel=3e-6, abs=1e-6)


def test_a_warm_start_from_the_optimum_takes_no_time(Xy):
    X, y = Xy
    for kernel in ("linear", "rbf"):
        model = engine(kernel=kernel, warm_start=True, C=10.0, tolerance=1e-6).fit(X, y)
        cold = len(model.mistakes_)
        assert len(model.fit(X, y).mistakes_) < cold


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_warm_start_goes_on_from_online_training(kernel, Xy):
    X, y = Xy
    model = engine(kernel=kernel, warm_start=True, update="exact-pa1", tolerance=1e-6)
    for _ in range(5):
        model.partial_fit(X, y)
    model.fit(X, y)

    assert model.status_ == "converged"
    assert model.objective_ == pytest.approx(optimum("implicit", inner_products(kernel, X), y, 1.0), rel=2e-6)


def test_a_warm_start_needs_the_same_examples(Xy):
    X, y = Xy
    for kernel in ("linear", "rbf"):
        model = engine(kernel=kernel, warm_start=True).fit(X, y)
        before = model.objective_
        with pytest.raises(DataError, match="continues a training on 40 examples, but there are 30 now"):
            model.fit(X[:30], y[:30])
        assert model.objective_ == before
    online = engine(kernel="rbf", warm_start=True, update="exact-pa1").partial_fit(X, y)
    with pytest.raises(DataError, match="has visited 40 examples. These are no passes over the 30 of now"):
        online.fit(X[:30], y[:30])


def test_checkpoints_are_refused(Xy, tmp_path):
    with pytest.raises(PluginError, match="writes no checkpoints.*warm_start=True"):
        engine(plugins=[Checkpoint(tmp_path / "checkpoint")]).fit(*Xy)


# ---- online from the optimum ----


@pytest.mark.parametrize("update", ["exact-pa", "exact-pa1", "exact-pa2"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_online_steps_go_on_from_the_optimum(kernel, update, Xy):
    X, y = Xy
    further, labels = data(seed=3)
    model = engine(kernel=kernel, update=update).fit(X, y)
    before = model.atom_scores(X)
    model.partial_fit(further, labels)

    assert (model.atom_scores(X) != before).any() and (np.diff(model.thresholds_) >= 0).all()
    assert np.isnan(model.objective_) and np.isinf(model.gap_) and not hasattr(model, "margins_")
    assert np.mean(abs(model.predict(further) - labels)) < 1


def test_steps_that_would_disorder_the_thresholds_are_refused(Xy):
    X, y = Xy
    for update in ("perceptron", "pa1"):
        model = engine(update=update).fit(X, y)
        before = model.atom_scores(X)
        with pytest.raises(PluginError, match="may disorder the real thresholds.*Make the engine with update='exact-pa1'"):
            model.partial_fit(X, y)
        assert np.array_equal(model.atom_scores(X), before) and model.status_ == "converged"


def test_partial_fit_does_not_begin_where_nothing_goes_on_from_it(Xy):
    with pytest.raises(PluginError, match="call fit first.*warm_start=True may begin with partial_fit"):
        engine(update="exact-pa1").partial_fit(*Xy)


def test_the_mean_counts_the_optimum_for_each_of_its_examples(Xy):
    X, y = Xy
    plain, averaged = (engine(update="exact-pa1", average=average).fit(X, y) for average in (False, True))
    optimal = plain.atom_scores(X)
    assert averaged.atom_scores(X) == pytest.approx(optimal)
    plain.partial_fit(X[:1], 5 - y[:1])
    averaged.partial_fit(X[:1], 5 - y[:1])

    assert averaged.atom_scores(X) == pytest.approx((len(y) * optimal + plain.atom_scores(X)) / (len(y) + 1))


# ---- the margin bound of single thresholds ----


def test_points_that_are_separated_in_every_way_with_a_margin_are_few():
    """Vapnik's bound for one threshold, by all ways of dividing m points in halves: the least margin is at most R / sqrt(m - 1)."""
    simplex = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    sets = [simplex, *(np.random.default_rng(seed).normal(size=(4, 3)) for seed in range(6))]
    for number, X in enumerate(sets):
        margins = []
        for second in range(1, 4):
            y = np.where(np.isin(np.arange(4), (0, second)), 1, 2)
            margins.append(1 / engine(C=1e6, tolerance=1e-9, scale=False).fit(X, y).norm_)
        radius = np.linalg.norm(X - X.mean(axis=0), axis=1).max()
        assert min(margins) <= radius / np.sqrt(3) * (1 + 1e-6)
        if number == 0:
            assert margins == pytest.approx([radius / np.sqrt(3)] * 3)


@pytest.mark.parametrize("seed", range(4))
def test_each_threshold_of_a_fixed_margin_has_the_margin_of_the_model(seed):
    """So the bound holds for every threshold: the rows of ranks up to k and those above lie 2 / |w| apart at least."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(40, 3))
    y = 1 + np.digitize(X @ [1.0, -1.0, 0.5], [-1.0, 0.0, 1.0])
    model = engine("explicit", C=1e6, tolerance=1e-9, scale=False).fit(X, y)
    scores = X @ model.coef_ / model.norm_
    gaps = [scores[y > k].min() - scores[y <= k].max() for k in (1, 2, 3)]
    assert min(gaps) == pytest.approx(2 / model.norm_, rel=1e-4)


# ---- degenerate problems ----


def test_disordered_thresholds_answer_only_on_request():
    """SL-7: Math 3.3: five points, C = 0.1."""
    X, y = np.arange(5.0)[:, None], [1, 1, 2, 3, 3]
    with pytest.warns(DataWarning, match="out of order .*'disordered'"):
        refused = engine("fixed-margin", C=0.1, tolerance=1e-8).fit(X, y)

    assert refused.status_ == "disordered" and refused.objective_ == pytest.approx(0.38) and refused.coef_ == pytest.approx([0.2], abs=1e-4)
    assert 1 <= refused.free_thresholds_[0] <= 1.2 and -0.4 <= refused.free_thresholds_[1] <= -0.2
    assert (np.diff(refused.thresholds_) >= 0).all()
    for answer in (refused.predict, refused.atom_scores, refused.margins, lambda X: refused.explain(X[0]),
                   lambda X: refused.partial_fit(X, y)):
        with pytest.raises((OptionError, PluginError), match="out of order|may disorder"):
            answer(X)
    pooled = engine("fixed-margin", C=0.1, disordered="pool").fit(X, y)
    assert pooled.status_ == "disordered" and len(set(pooled.thresholds_)) == 1
    assert pooled.predict(X).tolist() == (1 + 2 * (X[:, 0] * pooled.coef_ >= pooled.thresholds_[0])).tolist()
    explicit = engine("explicit", C=0.1, tolerance=1e-8).fit(X, y)
    assert explicit.objective_ == pytest.approx(0.425) and explicit.thresholds_ == pytest.approx([1, 1], abs=1e-3)
    implicit = engine("implicit", C=0.1, tolerance=1e-8).fit(X, y)
    assert implicit.coef_ == pytest.approx([2 / 3], abs=1e-4) and implicit.predict(X).tolist() == [1, 1, 2, 3, 3]


def test_a_disordered_model_stays_so_in_its_file(tmp_path):
    X, y = np.arange(5.0)[:, None], [1, 1, 2, 3, 3]
    with pytest.warns(DataWarning, match="out of order"):
        engine("fixed-margin", C=0.1).fit(X, y).save(tmp_path / "model")
    with pytest.raises(OptionError, match="out of order"):
        Engine.load(tmp_path / "model").predict(X)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("method", METHODS[:3])
def test_a_constant_is_optimal_where_nothing_separates(method, kernel):
    """Math 3.4: x = 0 | 1 | 0, value 4 C."""
    X, y = [[0.0], [1.0], [0.0]], [1, 2, 3]
    with pytest.warns(DataWarning, match="the best w is 0 .*whatever C is"):
        model = engine(method, kernel, C=0.7).fit(X, y)

    assert model.status_ == "degenerate" and model.objective_ == pytest.approx(2.8)
    assert len(set(model.predict([[-5.0], [0.0], [7.0]]))) == 1


@pytest.mark.parametrize("method", METHODS[:3])
def test_a_w_that_is_only_near_zero_is_not_called_the_optimum(method):
    """C = 1e-7: the best w is not 0, but nearer to it than the tolerance. Both pieces of advice help."""
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 2))
    y = 1 + np.digitize(X[:, 0] + random.normal(size=60) / 2, [-0.5, 0.5])
    options = {"disordered": "pool"} if method == "fixed-margin" else {}
    with pytest.warns(DataWarning, match=r"w = 0 is within tolerance=0.01 of the best objective at C=1e-07.*Raise C, or lower tolerance"):
        model = engine(method, C=1e-7, tolerance=1e-2, **options).fit(X, y)
    assert model.status_ == "converged" and model.norm_ == 0 and len(set(model.predict(X))) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert engine(method, C=1e-7, tolerance=1e-12, **options).fit(X, y).norm_ > 0
        assert len(set(engine(method, C=1.0, tolerance=1e-2, **options).fit(X, y).predict(X))) == 3


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_sum_of_margins_without_a_direction_has_no_answers(kernel):
    """Math 5.4: x = 0, 2 | 1, 3 has no direction from C = 3/4 on; with rows that are equal, no kernel has."""
    X, y = ([[0.0], [2.0], [1.0], [3.0]], [1, 1, 2, 2]) if kernel == "linear" else ([[0.0], [2.0], [0.0], [2.0]], [1, 1, 2, 2])
    with pytest.warns(DataWarning, match="the sum of margins found no direction"):
        model = engine("sum-of-margins", kernel, C=1.0).fit(X, y)

    assert model.status_ == "degenerate" and abs(model.objective_) < 1e-6
    with pytest.raises(OptionError, match="no direction"):
        model.predict(X)
    if kernel == "linear":
        for C, value in ((0.5, -1.0), (0.6, -0.6), (0.7, -0.2)):
            assert engine("sum-of-margins", C=C, tolerance=1e-6).fit(X, y).objective_ == pytest.approx(value, abs=1e-4)


def test_a_rank_without_a_slab_is_named():
    """Math 5.2: ranks 1^4 2^2 3^4 at 0..3 | 10, 11 | 20..23."""
    X = np.array([0, 1, 2, 3, 10, 11, 20, 21, 22, 23.0])[:, None]
    y = np.repeat(["a", "b", "c"], [4, 2, 4])
    options = {"classes": ["a", "b", "c"], "tolerance": 1e-6}
    with pytest.warns(UserWarning, match="the planes around the rank b have met"):
        flat = engine("sum-of-margins", C=0.9, **options).fit(X, y)
    assert flat.margins_[1, 0] - flat.margins_[0, 1] == pytest.approx(0, abs=1e-6)
    wide = engine("sum-of-margins", C=1.1, **options).fit(X, y)
    assert wide.margins_[1, 0] - wide.margins_[0, 1] == pytest.approx(1, abs=1e-3)


def test_ranges_and_missing_ranks_are_refused_before_anything_changes(Xy):
    X, y = Xy
    model = engine("sum-of-margins").fit(X, y)
    model.C = 0.05
    with pytest.raises(OptionError, match="C=0.05 is below 0.1 .* unbounded"):
        model.fit(X, y)
    assert model.status_ == "converged"
    with pytest.raises(DataError, match="no example of rank 2 has a weight"):
        engine("explicit", classes=[1, 2, 3, 4]).fit(X[y != 2], y[y != 2])
    gap = engine("implicit", classes=[1, 2, 3, 4]).fit(X[y != 2], y[y != 2])
    assert gap.thresholds_[0] == gap.thresholds_[1] and 2 not in gap.predict(X)


# ---- what does not fit ----


def test_other_problems_and_options_are_refused(Xy):
    X, y = Xy
    with pytest.raises(PluginError, match="svor.*CuSum|something else|RowPart|Features"):
        Engine("cusum", plugins=["large-margin"], trainer="svor", epochs=10).fit(X, y)
    with pytest.raises(PluginError, match="one rank per example"):
        Engine("multiclass", plugins=["large-margin"], trainer="svor").fit(X, y)
    with pytest.raises(PluginError, match="one rank per example"):
        Engine("interval-pa", plugins=["large-margin"], trainer="svor").fit(X, y)
    with pytest.raises(OptionError, match="method='explicit' has no effect .* is for trainer='svor'"):
        Engine("prank", plugins=["large-margin"], method="explicit").fit(X, y)
    with pytest.raises(OptionError, match="loss_weight=1.0 has no effect"):
        engine(loss_weight=1.0).fit(X, y)
    with pytest.raises(OptionError, match="method='svorim'; expected one of 'implicit'"):
        engine("svorim")


def test_rows_that_are_not_finite_are_named(Xy):
    X, y = Xy
    bad = X.copy()
    bad[3, 1] = np.inf
    for kernel in ("linear", "rbf"):
        with pytest.raises(DataError, match=r"X\[3, 1\]"):
            engine(kernel=kernel).fit(bad, y)
