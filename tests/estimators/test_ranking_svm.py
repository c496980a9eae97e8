"""RankingSVM ends at the optimum over explicit pairs, and its sweeps count these pairs."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import structural_svm
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.svm import LinearSVC

from structperc.errors import DataError, OptionError
from structperc.estimators import RankingSVM
from structperc.metrics import document_places, ndcg_at_k
from structperc.solvers import pairwise_hinge
from structperc.solvers.block_steps import short_pairs

pytestmark = pytest.mark.blas

LOSSES = ["hinge", "squared_hinge"]


def queries(seed=0, n=24, d=3, n_queries=3, grades=3):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    y = np.digitize(X @ random.normal(size=d) + random.normal(size=n), np.linspace(-1, 1, grades - 1))
    return X, y, random.integers(0, n_queries, n)


def by_appearance(query):
    """Queries numbered in the order in which they first appear."""
    number = {}
    return [number.setdefault(name, len(number)) for name in query]


# ---- sweeps ----


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), n=st.integers(0, 12), whole=st.booleans(), margin=st.sampled_from([0.0, 1.0, 0.3]))
def test_sweeps_count_the_pairs_that_are_short_of_the_margin(seed, n, whole, margin):
    random = np.random.default_rng(seed)
    offsets = np.array([0, n // 3, n // 3, n])
    scores = random.integers(-2, 3, n).astype(float) if whole else random.normal(size=n) * 10.0 ** random.integers(-1, 2)
    levels = np.zeros(n, dtype=np.intc)
    for a, b in zip(offsets[:-1], offsets[1:], strict=True):
        levels[a:b] = np.unique(random.integers(0, 4, b - a), return_inverse=True)[1]
    query = np.repeat(np.arange(3), np.diff(offsets))
    up, down, lower, higher = (np.zeros(n) for _ in range(4))
    for i, j in structural_svm.pairs(levels, query):
        if scores[j] > scores[i] - margin:
            up[i], down[j], lower[i], higher[j] = up[i] + 1, down[j] + 1, lower[i] + scores[j], higher[j] + scores[i]

    found = short_pairs(scores, levels, np.lexsort((scores, query)), offsets, margin)

    assert np.array_equal(found[0], up) and np.array_equal(found[1], down)
    np.testing.assert_allclose(found[2], lower, atol=1e-12 * (1 + abs(scores).sum()))
    np.testing.assert_allclose(found[3], higher, atol=1e-12 * (1 + abs(scores).sum()))


def test_sweeps_refuse_arrays_that_do_not_fit():
    with pytest.raises(DataError, match="expected numbers that rise from 0 to 3"):
        short_pairs(np.zeros(3), np.zeros(3, dtype=np.intc), np.arange(3), np.array([0, 2]))


# ---- optima ----


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.01, 0.2, 2.0])
@pytest.mark.parametrize("layout", [np.asarray, csr_array, csr_matrix, lambda X: X.astype(np.float32)])
def test_the_optimum_over_explicit_pairs_is_reached(loss, C, layout):
    X, y, query = queries()
    X = X.astype(np.float32).astype(float)
    _, best = structural_svm.pairwise_optimum(X, y, query, np.full(3, C), loss == "squared_hinge")

    model = RankingSVM(C=C, loss=loss, tol=1e-8, max_iter=20000).fit(layout(X), y, groups=query)

    reached = structural_svm.pairwise_objective(model.coef_, X, y, query, np.full(3, C), loss == "squared_hinge")
    assert model.status_ == "converged" and model.gap_ <= 1e-6
    assert model.objective_ == pytest.approx(reached, rel=1e-10)
    assert best - 1e-7 * (1 + best) <= reached <= best + model.gap_ + 1e-7 * (1 + best)
    assert len(model.objectives_) == len(model.gaps_) == model.n_iter_ + 1


@pytest.mark.parametrize("n_queries", [1, 3])
def test_the_optimum_is_reached_query_by_query_where_sets_of_pairs_are_too_many_for_sweeps(n_queries, monkeypatch):
    monkeypatch.setattr(pairwise_hinge, "can_sweep", lambda n_structures, n_weights: False)
    X, y, query = queries(n_queries=n_queries)
    best = structural_svm.pairwise_optimum(X, y, query, np.full(n_queries, 0.2), False)[1]
    model = RankingSVM(C=0.2, loss="hinge", tol=1e-6).fit(X, y, groups=query)
    assert model.status_ == "converged" and model.objective_ == pytest.approx(best, rel=2e-6)


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 9), C=st.floats(0.01, 10), loss=st.sampled_from(LOSSES))
def test_small_sets_with_ties_reach_the_optimum(seed, n, C, loss):
    random = np.random.default_rng(seed)
    X, y, query = random.integers(-2, 3, (n, 2)).astype(float), random.integers(0, 3, n), random.integers(0, 2, n)
    y[:2], query[:2] = (0, 1), 0
    query = np.array(by_appearance(query))
    squared = loss == "squared_hinge"

    model = RankingSVM(C=C, loss=loss, tol=1e-8, max_iter=20000).fit(X, y, groups=query)

    best = structural_svm.pairwise_optimum(X, y, query, np.full(2, C), squared)[1]
    assert model.status_ == "converged"
    assert structural_svm.pairwise_objective(model.coef_, X, y, query, np.full(2, C), squared) == pytest.approx(best, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
def test_it_is_a_linear_svm_on_the_differences(loss):
    X, y, query = queries(1)
    differences = np.array([X[i] - X[j] for i, j in structural_svm.pairs(y, query)])
    both = np.vstack([differences, -differences])
    labels = np.repeat([1, -1], len(differences))
    svm = LinearSVC(C=0.05 / 2, loss=loss, fit_intercept=False, dual=True, tol=1e-8, max_iter=10**6, random_state=0).fit(both, labels)

    model = RankingSVM(C=0.05, loss=loss, tol=1e-9, max_iter=50000).fit(X, y, qid=query)

    np.testing.assert_allclose(model.coef_, svm.coef_[0], atol=2e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_queries_weigh_what_sample_weight_says(loss):
    X, y, query = queries()
    query = np.array(by_appearance(query))
    weights = np.array([0.5, 0.0, 2.0])
    squared = loss == "squared_hinge"

    model = RankingSVM(C=0.1, loss=loss, tol=1e-8, max_iter=20000).fit(X, y, groups=query, sample_weight=weights)

    best = structural_svm.pairwise_optimum(X, y, query, 0.1 * weights + 1e-300, squared)[1]
    assert structural_svm.pairwise_objective(model.coef_, X, y, query, 0.1 * weights, squared) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_every_gap_bounds_the_distance_to_the_optimum(loss):
    X, y, query = queries()
    best = structural_svm.pairwise_optimum(X, y, query, np.full(3, 0.5), loss == "squared_hinge")[1]
    model = RankingSVM(C=0.5, loss=loss, tol=1e-12, max_iter=15).fit(X, y, groups=query)

    assert (model.objectives_ >= best * (1 - 1e-9)).all()
    assert (model.objectives_ - model.gaps_ <= best * (1 + 1e-9)).all()
    assert model.gaps_[-1] < model.gaps_[0]


# ---- forms of the data ----


@pytest.mark.parametrize("loss", LOSSES)
def test_queries_may_be_told_in_any_way_and_order(loss):
    X, y, query = queries()
    order = np.argsort(query, kind="stable")
    model = RankingSVM(C=0.1, loss=loss, tol=1e-6).fit(X, y, groups=query)
    together = RankingSVM(C=0.1, loss=loss, tol=1e-6).fit(X[order], y[order], lengths=np.bincount(query))
    blocks = RankingSVM(C=0.1, loss=loss, tol=1e-6).fit([X[query == q] for q in range(3)], [y[query == q] for q in range(3)])

    np.testing.assert_allclose(together.coef_, model.coef_, atol=1e-3)
    assert np.array_equal(blocks.coef_, together.coef_)


def test_score_is_ndcg():
    X, y, query = queries()
    model = RankingSVM(C=0.1, score_k=3).fit(X, y, groups=query)

    assert model.score(X, y, groups=query) == ndcg_at_k(y, model.predict(X), 3, groups=query)
    assert model.rank(X, groups=query).tolist() == document_places(model.predict(X), groups=query).tolist()


def test_predict_gives_scores():
    X, y, query = queries()
    model = RankingSVM(C=0.1).fit(X, y, groups=query)

    assert np.array_equal(model.predict(X), model.decision_function(X))
    np.testing.assert_allclose(model.predict(csr_array(X)), X @ model.coef_)


def test_it_keeps_scikit_learns_manners():
    X, y, query = queries()
    model = RankingSVM(C=0.1, loss="hinge").fit(X, y, groups=query)

    assert clone(model).get_params() == model.get_params() == {"C": 0.1, "loss": "hinge", "tol": 1e-3, "max_iter": 1000,
                                                               "score_k": 10, "warm_start": False}
    assert repr(model) == "RankingSVM(C=0.1, loss='hinge')"
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert "joachims" in model.citation()


# ---- going on ----


def press_at(monkeypatch, count):
    """Ctrl-C at so many sweeps from now."""
    left = [count]

    def pressing(*arguments):
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return short_pairs(*arguments)

    monkeypatch.setattr(pairwise_hinge, "short_pairs", pressing)


@pytest.mark.parametrize("loss", LOSSES)
def test_an_interrupted_fit_keeps_what_it_learned_and_goes_on(loss, monkeypatch):
    X, y, query = queries()
    best = structural_svm.pairwise_optimum(X, y, query, np.full(3, 0.5), loss == "squared_hinge")[1]
    model = RankingSVM(C=0.5, loss=loss, tol=1e-8, max_iter=20000, warm_start=True)
    with monkeypatch.context() as context:
        press_at(context, 7)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y, groups=query)
    kept = structural_svm.pairwise_objective(model.coef_, X, y, query, np.full(3, 0.5), loss == "squared_hinge")

    assert model.status_ == "interrupted" and model.coef_.any() and len(model.predict(X)) == len(X)
    if loss == "hinge":                                     # its first objective is computed after more steps than seven
        assert model.gap_ == np.inf and np.isnan(model.objective_)
    else:
        assert model.gap_ < np.inf and model.objective_ == pytest.approx(kept)

    model.fit(X, y, groups=query)

    assert model.objectives_[0] == pytest.approx(kept, rel=1e-9)
    assert model.status_ == "converged" and model.objective_ == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_warm_start_with_another_C_reaches_that_ones_optimum(loss):
    X, y, query = queries()
    model = RankingSVM(C=1.0, loss=loss, tol=1e-8, max_iter=20000, warm_start=True).fit(X, y, groups=query)
    model.set_params(C=0.1).fit(X, y, groups=query)
    best = structural_svm.pairwise_optimum(X, y, query, np.full(3, 0.1), loss == "squared_hinge")[1]

    assert model.objective_ == pytest.approx(best, rel=1e-6)


def test_a_converged_warm_start_makes_no_further_pass():
    X, y, query = queries()
    for loss in LOSSES:
        model = RankingSVM(C=0.1, loss=loss, warm_start=True).fit(X, y, groups=query)
        assert model.fit(X, y, groups=query).n_iter_ == 0


def test_warm_starts_that_do_not_fit_are_refused():
    X, y, query = queries()
    model = RankingSVM(C=0.1, loss="hinge", warm_start=True).fit(X, y, groups=query)
    before = model.coef_.copy()
    with pytest.raises(DataError, match="other relevances"):
        model.fit(X, -y, groups=query)
    with pytest.raises(OptionError, match="loss has changed"):
        model.set_params(loss="squared_hinge").fit(X, y, groups=query)
    smooth = RankingSVM(C=0.1, loss="squared_hinge", warm_start=True).fit(X, y, groups=query)
    with pytest.raises(DataError, match="goes on from 3 weights, but X has 2 features"):
        smooth.fit(X[:, :2], y, groups=query)
    with pytest.raises(OptionError, match="loss has changed"):
        smooth.set_params(loss="hinge").fit(X, y, groups=query)

    assert np.array_equal(model.coef_, before)


# ---- refusals ----


@pytest.mark.parametrize(("parameters", "words"), [
    ({"C": 0}, "C=0; expected a number greater than 0"),
    ({"C": True}, "C=True"),
    ({"tol": -1.0}, "tol=-1.0"),
    ({"loss": "log"}, "loss='log'; expected one of 'hinge', 'squared_hinge'"),
    ({"max_iter": 2.5}, "max_iter=2.5; expected a whole number"),
])  # fmt: skip
def test_impossible_parameters_are_refused(parameters, words):
    X, y, query = queries()
    with pytest.raises(OptionError, match=words):
        RankingSVM(**parameters).fit(X, y, groups=query)


def test_data_that_cannot_be_used_are_refused():
    X, y, query = queries()
    broken = X.copy()
    broken[4, 1] = np.nan
    for loss in LOSSES:
        model = RankingSVM(loss=loss)
        with pytest.raises(DataError, match="the rows of X have no queries"):
            model.fit(X, y)
        with pytest.raises(DataError, match="no pair to learn from"):
            model.fit(X, y, groups=np.arange(len(y)))
        with pytest.raises(DataError, match=r"y has shape \(23,\)"):
            model.fit(X, y[:-1], groups=query)
        with pytest.raises(DataError, match="groups and qid"):
            model.fit(X, y, groups=query, qid=query)
        with pytest.raises(DataError, match="too large for floating point"):
            model.fit(X * 1e200, y, groups=query)
    model = RankingSVM().fit(X, y, groups=query)
    with pytest.raises(DataError, match="X has 2 features, but RankingSVM is expecting 3"):
        model.predict(X[:, :2])
    with pytest.raises(DataError, match=r"X\[4, 1\] is nan"):
        model.predict(broken)


# ---- further queries, and what its engine can do ----


@pytest.mark.parametrize("loss", LOSSES)
def test_further_queries_move_the_weights_as_little_as_their_pairs_allow(loss):
    """1/2 ||w - w0||^2 + C losses: the same as the losses of margins 1 - w0 . (x_i - x_j) with the norm of w - w0."""
    X, y, query = queries(n=20, n_queries=2)
    model = RankingSVM(C=0.3, loss=loss, tol=1e-9, max_iter=20_000).fit(X[query == 0], y[query == 0], groups=query[query == 0])
    before, new = model.coef_.copy(), query == 1
    model.partial_fit(X[new], y[new], groups=query[new])

    def objective(w):
        pairs = [(i, j) for i, j in itertools.permutations(np.flatnonzero(new), 2) if y[i] > y[j]]
        short = np.array([max(0, 1 - w @ (X[i] - X[j])) for i, j in pairs])
        return np.sum((w - before) ** 2) / 2 + 0.3 * np.sum(short if loss == "hinge" else short**2)

    best = objective(model.coef_)
    assert model.objective_ == pytest.approx(best) and model.status_ == "converged" and model.gap_ <= 1e-9 * best
    random = np.random.default_rng(0)
    for size in (1e-1, 1e-2, 1e-3):
        for step in random.normal(size=(40, 3)) * size:
            assert objective(model.coef_ + step) >= best - model.gap_
    assert best < objective(before)


def test_the_first_call_of_partial_fit_is_fit_and_other_columns_are_refused():
    X, y, query = queries()
    model = RankingSVM().partial_fit(X, y, groups=query)
    assert model.coef_.tolist() == RankingSVM().fit(X, y, groups=query).coef_.tolist()
    with pytest.raises(DataError, match="X has 2 features, but RankingSVM is expecting 3"):
        model.partial_fit(X[:, :2], y, groups=query)
    assert model.coef_.tolist() == RankingSVM().fit(X, y, groups=query).coef_.tolist()


def test_its_engine_ranks_and_explains_which_document_is_first():
    X, y, query = queries()
    model = RankingSVM().fit(X, y, groups=query)
    own = np.flatnonzero(query == query[0])
    ranked, = model.predict_k_best(X[own], len(own), lengths=[len(own)])
    assert [document for (document,), _ in ranked] == np.argsort(-model.predict(X[own]), kind="stable").tolist()
    assert [score for _, score in ranked] == pytest.approx(sorted(model.predict(X[own]), reverse=True))
    first, second = np.sort(model.predict(X[own]))[::-1][:2]
    assert model.explain(X[own]).margin == pytest.approx(first - second) == pytest.approx(model.margins(X[own], lengths=[len(own)])[0])


def test_a_saved_model_goes_on_where_it_ended(tmp_path):
    X, y, query = queries(n=60, n_queries=6)
    model = RankingSVM(warm_start=True).fit(X, y, groups=query)
    model.save(tmp_path / "m")
    again = RankingSVM.load(tmp_path / "m")
    for name in ("coef_", "objectives_", "gaps_"):
        assert getattr(again, name).tolist() == getattr(model, name).tolist()
    assert (again.objective_, again.gap_, again.status_, again.n_iter_) == (model.objective_, model.gap_, model.status_, model.n_iter_)
    assert again.partial_fit(X, y, groups=query).coef_.tolist() == model.partial_fit(X, y, groups=query).coef_.tolist()
