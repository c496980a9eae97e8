"""Leaves of trees as features: columns, inner products, scikit-learn's checks, and non-linear rankers."""

from fractions import Fraction

import numpy as np
import pytest
from contract import APART, checks_of, needs_1_8
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

from structperc.errors import OptionError
from structperc.estimators import CuSumRank, LatentRanker, LeafFeatures, RankingSVM

RANDOM = np.random.default_rng(0)
GROUPS = np.arange(600) // 10
X = RANDOM.normal(size=(600, 3))
Y = (np.abs(X[:, 0]) > 1.0).astype(int) + (np.abs(X[:, 0]) > 1.8)
TREES = {
    "forest": ExtraTreesRegressor(7, max_depth=3, random_state=0), "classifier": RandomForestClassifier(5, max_depth=3, random_state=0),
    "boosting": GradientBoostingRegressor(n_estimators=6, random_state=0), "tree": DecisionTreeRegressor(max_depth=3),
    "boosted classes": GradientBoostingClassifier(n_estimators=3, random_state=0),
}  # fmt: skip


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_rows_are_the_leaves_that_they_reach(name, form):
    made = LeafFeatures(TREES[name]).fit(form(X[:400]), Y[:400])
    rows = made.transform(form(X[400:]))
    leaves = clone(TREES[name]).fit(form(X[:400]), Y[:400]).apply(form(X[400:])).reshape(200, -1)
    shares = (leaves[:, None] == leaves[None]).mean(axis=2)
    np.testing.assert_allclose((rows @ rows.T).toarray(), shares, atol=1e-6)
    names = made.get_feature_names_out()
    assert len(names) == rows.shape[1]
    assert [names[j] for j in rows[[0]].nonzero()[1]] == [f"tree {t}, leaf {leaf:g}" for t, leaf in enumerate(leaves[0])]
    assert not hasattr(TREES[name], "estimators_") and made.n_features_in_ == 3


@pytest.mark.filterwarnings("ignore")       # scikit-learn's checks warn about their own inputs
def test_scikit_learns_checks():
    checks = checks_of(LeafFeatures(GradientBoostingRegressor(n_estimators=3, max_depth=2)))       # as the default, smaller
    for name, estimator, check in checks:
        if name != APART and not name.startswith("check_sample_weight_equivalence"):      # weights and repeated rows grow other trees
            check(estimator)
    assert "check_transformer_general" in {name for name, _, _ in checks}


def test_refusals():
    with pytest.raises(OptionError, match=r"estimator=LinearRegression\(\) has no way to find the leaf"):
        LeafFeatures(LinearRegression()).fit(X, Y)
    with pytest.raises(NotFittedError, match="This LeafFeatures is not fitted yet"):
        LeafFeatures().transform(X)


BENDS = {"leaves": lambda: LeafFeatures(GradientBoostingRegressor(n_estimators=100, random_state=0)),
         "nystroem": lambda: Nystroem(gamma=0.5, n_components=80, random_state=0)}


@needs_1_8
@pytest.mark.parametrize("bend", BENDS)
@pytest.mark.parametrize("ranker", [RankingSVM(C=0.1), LatentRanker(k=3, random_state=0)], ids=lambda ranker: type(ranker).__name__)
def test_rankers_bend(ranker, bend):
    """Documents at both ends of a column come first, which no linear score can express. The pipeline passes groups to the ranker."""
    with config_context(enable_metadata_routing=True):
        straight, bent = (cross_val_score(model, X, Y, params={"groups": GROUPS}, cv=GroupKFold(3)).mean()
                          for model in (ranker, make_pipeline(BENDS[bend](), ranker)))
    assert straight < 0.8 and bent > 0.85


def test_estimators_of_labels_bend():
    model = make_pipeline(LeafFeatures(TREES["boosting"]), CuSumRank(random_state=0))
    assert model.fit(X[:400], Y[:400]).score(X[400:], Y[400:]) > 0.95


def test_numbers_of_the_dtype_object_are_numbers():
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 3
    leaves = LeafFeatures().fit(X, y / 2).transform(X).toarray()
    for form in ((y / 2).astype(object), [Fraction(int(k), 2) for k in y]):
        assert (LeafFeatures().fit(X, form).transform(X).toarray() == leaves).all()


def test_each_leaf_of_a_large_tree_has_its_own_name():
    class Numbered(DecisionTreeRegressor):
        def apply(self, X):
            return 1_000_000 + np.arange(len(X), dtype=np.float32)[:, None]

    names = LeafFeatures(Numbered()).fit([[0.0], [1.0], [2.0]], [0, 1, 2]).get_feature_names_out()
    assert names.tolist() == [f"tree 0, leaf {k}" for k in (1_000_000, 1_000_001, 1_000_002)]
