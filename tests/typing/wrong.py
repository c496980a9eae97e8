"""Programs with a mistake in each line that a number marks: how many a type checker finds is what test_types.py counts."""

import numpy as np

import structperc
from structperc import Engine, Option, hookimpl
from structperc.callbacks import EarlyStopping
from structperc.components import Argmax, CostLoss, Outputs, PrimalWeights, RowFeatures
from structperc.estimators import (
    SVOR,
    AdaBoostOR,
    CuSumRank,
    DependencyParser,
    IntervalPA,
    LatentRanker,
    OrdinalConformal,
    PathFinder,
    PRank,
    RankingSVM,
    ScoreCard,
    SegmentTagger,
    SequenceTagger,
    StructuredClassifier,
    StructuredEstimator,
)
from structperc.schedules import inverse_sqrt
from structperc.solvers import max_arborescence

X, y = np.zeros((4, 2)), [1, 1, 2, 3]
engine = Engine("cusum").fit(X, y)

CuSumRank(epoch=3)  # 1
CuSumRank(epochs="three")  # 2
PRank(pockets=True)  # 3
PRank(variant=1)  # 4
IntervalPA(margin="wide")  # 5
StructuredClassifier(average="yes")  # 6
SequenceTagger(start="B")  # 7
SequenceTagger(n_hash=100)  # 8
LatentRanker(k="ten")  # 9
LatentRanker(learning_rate=0.1)  # 10
RankingSVM(C="small")  # 11
RankingSVM(max_iter=1.5)  # 12
OrdinalConformal()  # 13
OrdinalConformal(PRank(), coverage="0.9")  # 14
ScoreCard(PRank(), points=10)  # 15
SegmentTagger(max_length="3")  # 16
PathFinder(classes=[1])  # 17
StructuredEstimator("sequence")  # 18
SVOR(kernal="rbf")  # 19
AdaBoostOR(rounds=10)  # 20
DependencyParser(projectiv=True)  # 21
bad: int = engine.predict(X)  # 22
engine.fitt(X, y)  # 23
engine.fit(X)  # 24
engine.predict(X, kk=3)  # 25
engine.predict_k_best(X)  # 26
probabilities: list[float] = engine.predict_proba(X)  # 27
mistakes: dict[str, int] = engine.mistakes_  # 28
engine.status_.append("x")  # 29
ranker = CuSumRank().fit(X, y)
ranker.fti(X, y)  # 30
ranker.score(X)  # 31
score: str = ranker.score(X, y)  # 32
ranker.predict(X, 3)  # 33
best = ranker.predict_k_best(X, 2).shape  # 34
OrdinalConformal(PRank()).predict_intervals(X)  # 35
EarlyStopping(X, y, patient=3)  # 36
inverse_sqrt(strt=0.1)  # 37
max_arborescence()  # 38
minor = structperc.__version__.minor  # 39
Engine.load()  # 40
RowFeatures("three")  # 41
PrimalWeights(averaged=True)  # 42
CostLoss()  # 43
Argmax().k_best([1.0])  # 44
Outputs().encoded([1])  # 45
Option(1, lowest=0)  # 46
hookimpl(3, 4, 5)  # 47
structperc.Engin("cusum")  # 48
