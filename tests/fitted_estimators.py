"""An example of every estimator that predicts: its parameters, X, y, and what else its `fit` needs."""

import numpy as np
from structperc_decisions import two_cheapest

import structperc.estimators
from structperc.estimators import LabelScorer, LeafFeatures, RankingScorer, StructureSet

TOOLS = {LabelScorer, RankingScorer, LeafFeatures, StructureSet}          # no predictors

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(40, 3))
RANKS = np.digitize(X[:, 0], [-0.5, 0.5]) + 1
GROUPS = np.repeat(np.arange(8), 5)
BLOCKS = list(X.reshape(8, 5, 3))
ARCS = [np.column_stack([[0, 0, 1, 2], [1, 2, 3, 3], part]) for part in RANDOM.normal(size=(8, 4))]
NODES = [0, 1, 2, 0, 1], [0, 1, 2, 1, 2]
NEAR = [np.abs(np.subtract.outer(block[:, 0], block[:, 0]))[:, :, None] for block in BLOCKS]
SENTENCES = [[("dogs", "NOUN"), ("bark", "VERB")], [("the", "DET"), ("cat", "NOUN"), ("sleeps", "VERB")]] * 4
TREES = [[(2, "nsubj"), (0, "root")], [(2, "det"), (3, "nsubj"), (0, "root")]] * 4
EXAMPLES = {        # parameters, X, y and further arguments of fit
    "SequenceTagger": ({}, BLOCKS, RANKS.reshape(8, 5).tolist(), {}),
    "StructuredEstimator": ({"problem": "sequence"}, BLOCKS, RANKS.reshape(8, 5).tolist(), {}),
    "SegmentTagger": ({"max_length": 2}, BLOCKS, [[(0, 1, "A"), (2, 4, "B")]] * 8, {}),
    "GraphLabeler": ({"inference": "tree"}, [np.column_stack([*NODES, block]) for block in BLOCKS], [[0, 1, 1]] * 8, {}),
    "PairMatcher": ({"perfect": True}, [block[:4, :, None] for block in BLOCKS], [(0, 4, 8)] * 8, {}),
    "PairClusterer": ({"update": "pa1", "loss_weight": 1.0}, NEAR, [[0, 0, 1, 1, 1]] * 8, {}),
    "PathFinder": ({}, ARCS, [[0, 2]] * 8, {}),
    "DecisionMaker": ({"decide": two_cheapest}, BLOCKS, [two_cheapest(-block[:, 0], None) for block in BLOCKS], {}),
    "DependencyParser": ({"labels": "joint", "n_hashed": 1 << 10}, SENTENCES, TREES, {}),
    "LatentRanker": ({"k": 2}, X, (RANKS > 2).astype(int), {"groups": GROUPS}),
    "RankingSVM": ({}, X, RANKS, {"groups": GROUPS}),
    "BinaryReduction": ({"estimator": structperc.estimators.StructuredClassifier()}, X, RANKS, {}),
    "RankerClassifier": ({"estimator": structperc.estimators.ORStump()}, X, (RANKS > 1).astype(int), {}),
    "OrdinalConformal": ({"estimator": structperc.estimators.PRank()}, X, RANKS, {}),
    "StructureConformal": ({"estimator": structperc.estimators.SequenceTagger()}, BLOCKS, RANKS.reshape(8, 5).tolist(), {}),
    "ScoreCard": ({"estimator": structperc.estimators.PRank()}, X, RANKS, {}),
    "SVOR": ({"kernel": "linear"}, X, RANKS, {}),
    "AdaBoostOR": ({"n_estimators": 5}, X, RANKS, {}),
}  # fmt: skip


def estimators():
    """The names of all estimators that predict."""
    names = set(structperc.estimators.__all__) - {"load"}
    return sorted(name for name in names if getattr(structperc.estimators, name) not in TOOLS)


def example(name):
    return EXAMPLES.get(name, ({}, X, RANKS, {}))


def fitted(name):
    parameters, given, y, where = example(name)
    model = getattr(structperc.estimators, name)(**parameters)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return model.fit(given, y, **where), given, y, where
