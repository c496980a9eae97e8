"""Messages of solvers, measures, counterfactuals and pictures."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from advice.followed import SENTENCES, TAGS, X, Y, messages_of
from structperc import Engine, counterfactual, effects, metrics, plotting, proportional_odds
from structperc.counterfactuals import programs
from structperc.estimators import AdaBoostOR, CuSumRank, IntervalPA, OrdinalConformal, PRank, RankingSVM, StructuredClassifier
from structperc.solvers import clusters
from structperc.solvers.clusters import cluster_pairs
from structperc.solvers.matchings import k_best_matchings, max_matching
from structperc.solvers.pairwise_models import PairwiseModel

SQUARE = PairwiseModel(4, 2, [[0, 1], [1, 2], [2, 3], [3, 0]])
THREE = PairwiseModel(3, 3, [[0, 1], [1, 2], [0, 2]])
ATTRACT, REPEL = [[1.0, 0], [0, 1]], [[0.0, 1], [1, 0]]
MODEL = PRank(random_state=0).fit(X, Y)
PLAIN = Engine("multiclass", preset="paper").fit(X, Y)
ARMS = pd.DataFrame({"arm": ["a", "b"] * 12})
RELEVANCE, SCORES = [0, 1, 2000, 1], [0.1, 0.5, 0.3, 0.2]


def fractional(method):
    """Labels of a long odd cycle, where neighbours have different labels of two. Its first node may have a third."""
    pairs, unary = np.zeros((3, 3)), np.tile([0.0, 0.0, -np.inf], (13, 1))
    pairs[0, 0] = pairs[1, 1] = -np.inf
    unary[0, 2] = -1
    return PairwiseModel(13, 3, [[i, (i + 1) % 13] for i in range(13)]).solve(unary, pairs, method)


def armed():
    return PRank(random_state=0, plugin_options={"one_hot": ["arm"]}).fit(ARMS, Y)


def without_squares(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programs, "nnls", lambda *_, **__: (_ for _ in ()).throw(RuntimeError("too many iterations")))
        return counterfactual(MODEL, X[0], 2, norm="l2")


def stopped(change, **options):
    """A ranker that continues its fit after a change of its parameters or examples."""
    ranker = RankingSVM(warm_start=True, **options).fit(X, Y, lengths=[12, 12])
    ranker.set_params(**change.get("set", {}))
    return ranker.fit(change.get("X", X), change.get("y", Y), lengths=[12, 12])


def of_most(pairs):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clusters, "MOST_PAIRS", pairs)
        return clusters.max_clusters(np.zeros((4, 4)))


HEAVY = np.where(Y == 0, 3.0, 1.0)


def odds_ratios(**weights):
    """Of a model that was trained with weights."""
    model = PRank(trainer="cumulative-logit").fit(X, Y, sample_weight=HEAVY)
    return effects(model, X, Y, scale="odds-ratio", interval="wald", **weights)


MESSAGES = [
    *messages_of("structperc/solvers/pairwise_models.py",
        ("takes two labels, but there are", lambda _: THREE.solve(np.eye(3), np.eye(3), "cut"), lambda _: THREE.solve(np.eye(3), np.eye(3),
                                                                                                                     "expansion")),
        ("takes edges that attract, but edge", lambda _: SQUARE.solve(np.ones((4, 2)), REPEL, "cut"),
         lambda _: SQUARE.solve(np.ones((4, 2)), REPEL, "relaxed"), lambda _: SQUARE.solve(np.ones((4, 2)), REPEL, "exact")),
        ("takes finite tables with", lambda _: THREE.solve(np.eye(3), -np.eye(3), "expansion"),
         lambda _: THREE.solve(np.eye(3), -np.eye(3), "relaxed"), lambda _: THREE.solve(np.eye(3), -np.eye(3), "exact")),
        ("rounded ones are forbidden", lambda _: fractional("relaxed"), lambda _: fractional("exact")),
        ("takes graphs without cycles", lambda _: SQUARE.solve(np.ones((4, 2)), ATTRACT, "tree"),
         lambda _: SQUARE.solve(np.ones((4, 2)), ATTRACT, "auto")),
    ),
    *messages_of("structperc/solvers/clusters.py",
        ("pass those that count to cluster_pairs", lambda _: of_most(3),
         lambda _: cluster_pairs([0], [1], [1.0], n_items=4)),
    ),
    *messages_of("structperc/solvers/matchings.py",
        ("first is not the best matching", lambda _: k_best_matchings(np.eye(2), 2, first=[1, 0]), lambda _: k_best_matchings(np.eye(2), 2),
         lambda _: k_best_matchings(np.eye(2), 2, first=max_matching(np.eye(2)))),
    ),
    *messages_of("structperc/solvers/pairwise_hinge.py",
        ("the former solution has other queries", lambda _: stopped({"y": Y[::-1]}, loss="hinge"),
         lambda _: stopped({}, loss="hinge"), lambda _: stopped({"y": Y[::-1], "set": {"warm_start": False}}, loss="hinge")),
        ("goes on from", lambda _: stopped({"X": X[:, :1]}, loss="squared_hinge"), lambda _: stopped({}, loss="squared_hinge"),
         lambda _: stopped({"X": X[:, :1], "set": {"warm_start": False}}, loss="squared_hinge")),
    ),
    *messages_of("structperc/metrics/ranking.py",
        ("is too large; pass gains", lambda _: metrics.ndcg_at_k(RELEVANCE, SCORES),
         lambda _: metrics.ndcg_at_k(RELEVANCE, SCORES, gains=np.arange(2001.0))),
    ),
    *messages_of("structperc/metrics/tagged_phrases.py",
        ("each a list of tags; pass one sentence as", lambda _: metrics.phrase_f1(["B-x", "O"], ["B-x", "O"]),
         lambda _: metrics.phrase_f1([["B-x", "O"]], [["B-x", "O"]])),
    ),
    *messages_of("structperc/counterfactuals/programs.py", ("the least squares were not solved", without_squares,
                                                 lambda _: counterfactual(MODEL, X[0], 2, norm="l1"))),
    *messages_of("structperc/counterfactuals/columns.py",
        ("has no standard deviations of its columns", lambda _: counterfactual(without_spreads(), X[0], 2),
         lambda _: counterfactual(without_spreads(), X[0], 2, spreads=X.std(axis=0))),
    ),
    *messages_of("structperc/counterfactuals/nearest.py",
        ("takes one example, but got", lambda _: counterfactual(MODEL, X[:2], 2), lambda _: counterfactual(MODEL, X[:1], 2)),
        ("these are sparse rows or tokens", lambda _: counterfactual(tagger(), SENTENCES[0], ["y", "x"]),
         lambda _: counterfactual(tagger(), SENTENCES[0], ["y", "x"], alternatives={0: [["b"], ["c"]]})),
        ("has no whole numbers and no categories", lambda _: counterfactual(MODEL, [1.0, 0.0], 2, norm="l2", whole=[0]),
         lambda _: counterfactual(MODEL, [1.0, 0.0], 2, norm="l1", whole=[0]),
         lambda _: counterfactual(MODEL, [1.0, 0.0], 2, norm="l2", fixed=[0])),
        ("change the columns, so their units are not those", lambda _: counterfactual(piped(), X[0], 2),
         lambda _: counterfactual(PRank(scale=True).fit(X, Y), X[0], 2),
         lambda _: counterfactual(piped()[-1], piped()[:-1].transform(X[:1])[0], 2)),
    ),
    *messages_of("structperc/engine/engine.py",
        *(("has no engine_, which", lambda _, model=model: counterfactual(model, X[0], 2), lambda _: counterfactual(MODEL, X[0], 2))
          for model in (AdaBoostOR(), LogisticRegression().fit(X, Y), OrdinalConformal(MODEL, prefit=True).fit(X, Y))),
        ("has no engine_, which", lambda _: proportional_odds(LogisticRegression().fit(X, Y), X, Y),
         lambda _: proportional_odds(MODEL, X, Y)),
        ("has no engine_, which", lambda _: effects(OrdinalConformal(MODEL, prefit=True).fit(X, Y), X, Y, n_boot=39),
         lambda _: effects(MODEL, X, Y, n_boot=39)),
    ),
    *messages_of("structperc/inference/effect_sizes.py",
        ("that the model has not learned", lambda _: effects(armed(), pd.DataFrame({"arm": ["a", "c"] * 12}), Y, n_boot=39),
         lambda _: effects(armed(), ARMS, Y, n_boot=39)),
        ("effects are those of ordered labels",
         lambda _: effects(StructuredClassifier().fit(X, Y), X, Y, n_boot=39),
         lambda _: effects(PRank().fit(X, Y), X, Y, n_boot=39), lambda _: effects(IntervalPA().fit(X, Y), X, Y, n_boot=39)),
        ("effects are those of ordered labels",
         lambda _: effects(PLAIN, X, Y, n_boot=39),
         lambda _: effects(Engine("prank").fit(X, Y), X, Y, n_boot=39),
         lambda _: effects(Engine("interval-pa").fit(X, Y), X, Y, n_boot=39)),
        ("effects needs one direction for all ranks",
         lambda _: effects(CuSumRank().fit(X, Y), X, Y, n_boot=39),
         lambda _: effects(PRank().fit(X, Y), X, Y, n_boot=39), lambda _: effects(IntervalPA().fit(X, Y), X, Y, n_boot=39)),
        ("effects needs one direction for all ranks",
         lambda _: effects(Engine("prank", plugins=["dual-kernel"]).fit(X, Y), X, Y, n_boot=39),
         lambda _: effects(Engine("interval-pa").fit(X, Y), X, Y, n_boot=39)),
        ("comparable per standard deviation only", lambda _: effects(logistic(), X, Y, n_boot=39, per="unit"),
         lambda _: effects(logistic(), X, Y, n_boot=39, per="unit", scale="odds-ratio"),
         lambda _: effects(logistic(), X, Y, n_boot=39, per="unit", scale="log-odds")),
    ),
    *messages_of("structperc/inference/ratios.py",
        ("intervals and p values mean nothing", lambda _: odds_ratios(), lambda _: odds_ratios(sample_weight=HEAVY))),
    *messages_of("structperc/inference/parallel_lines.py",
        ("odds are those of ordered labels",
         lambda _: proportional_odds(StructuredClassifier().fit(X, Y), X, Y),
         lambda _: proportional_odds(PRank().fit(X, Y), X, Y), lambda _: proportional_odds(CuSumRank().fit(X, Y), X, Y)),
        ("odds are those of ordered labels", lambda _: proportional_odds(PLAIN, X, Y),
         lambda _: proportional_odds(Engine("prank").fit(X, Y), X, Y), lambda _: proportional_odds(Engine("cusum").fit(X, Y), X, Y)),
    ),
    *messages_of("structperc/plotting.py",
        ("but history_ has row", lambda _: plotting.plot_steps(Engine("multiclass").fit(X, Y, history=True), X[:5], Y[:5]),
         lambda _: plotting.plot_steps(Engine("multiclass").fit(X, Y, history=True), X, Y)),
        ("makes no step on these rows", lambda _: [plotting.plot_steps(PLAIN, X[:1], [label]) for label in (0, 1, 2)],
         lambda _: plotting.plot_steps(Engine("multiclass", random_state=0).fit(X, Y), X, Y)),
    ),
]


def logistic():
    return Engine("prank", update="logistic").fit(X, Y)


def tagger():
    return Engine("sequence", random_state=0).fit(SENTENCES, TAGS)


def piped():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), PRank(random_state=0)).fit(X, Y)


def without_spreads():
    return Engine("prank", plugins=["dual-kernel"], kernel="linear", scale=False, random_state=0).fit(X, Y)
