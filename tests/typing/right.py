"""Programs that are right: a type checker accepts every line in its strict mode."""

import numpy as np
from numpy.typing import NDArray

import structperc
from structperc import Engine, Option, explain, hookimpl
from structperc.callbacks import EarlyStopping
from structperc.components import Argmax, Outputs
from structperc.errors import DataError
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
    load,
)
from structperc.schedules import inverse_sqrt
from structperc.solvers import max_arborescence

X: NDArray[np.float64] = np.zeros((4, 2))
y = [1, 1, 2, 3]

engine = Engine("cusum", epochs=20, average=True, shuffle=True, random_state=0)
engine.fit(X, y, sample_weight=[1.0, 1.0, 2.0, 1.0]).partial_fit(X, y)
labels: NDArray[np.generic] = engine.predict(X)
probabilities: NDArray[np.float64] = engine.predict_proba(X)
ranked: list[list[tuple[object, float]]] = engine.predict_k_best(X, 3)
lead: float = float(engine.margins(X)[0])
chances: NDArray[np.float64] = engine.log_probability(X, y)
engine.save("model")
again: Engine = Engine.load("model")
status: str = again.status_
mistakes: list[int] = again.mistakes_
text: str = str(engine.explain(X[0]))
version: str = structperc.__version__

ranker = CuSumRank(epochs=3, scale="auto", C=1.0, update="pa2", random_state=0).fit(X, y)
ranker.predict(X)
score: float = ranker.score(X, y)
ranker.set_params(epochs=4).fit(X, y)
parameters: dict[str, object] = ranker.get_params()
PRank(pocket=True, variant="structured").fit(X, y, costs=np.ones((4, 3)))
IntervalPA(unrated="skip", C=None).fit(X, [[1, 1], [1, 2], [2, 2], [2, 3]])
StructuredClassifier(problem="multiclass", plugins=("table",)).fit(X, y)
StructuredEstimator(problem="sequence", plugin_options={"start": True})
SequenceTagger(start=True, forbidden_transitions="iob2", template=None).fit([X], [["a", "b", "a", "b"]])
LatentRanker(k=3, plugins=[EarlyStopping(X, y)]).fit(X, [0, 1, 0, 1], groups=[0, 0, 1, 1])
RankingSVM(C=1e-3, loss="hinge").fit(X, y, lengths=[4])
OrdinalConformal(PRank(), coverage=0.9).fit(X, y).predict_interval(X)
ScoreCard(PRank(), max_points=10, bins=4)
SegmentTagger(max_length=3, places="iob2")
PathFinder(ends=True)
SVOR("implicit", kernel="linear").fit(X, y).predict_k_best(X, 2)
AdaBoostOR(n_estimators=10)
DependencyParser(order=2, projective=True)
loaded = load("model")
explain(ranker, X[0])
inverse_sqrt(0.1)
max_arborescence(X)


class Mine(Argmax):
    def argmax(self, scores: NDArray[np.float64], x: object) -> tuple[int, ...]:
        return tuple(np.flatnonzero(scores > 0).tolist())


class Problem:
    options = {"least": Option(1, help="number of atoms", low=0)}

    @hookimpl
    def structperc_argmax(self, context: object) -> Argmax:
        return Mine()

    @hookimpl
    def structperc_outputs(self, context: object) -> Outputs:
        return Outputs()


try:
    Engine(Problem(), least=2)
except DataError as error:
    message: str = str(error)
