"""Estimators with the interface of scikit-learn, whose base classes they inherit: they need the extra `sklearn`.

Estimators of plugins' packages are names here too. Their packages declare them as entry points of the group "structperc.estimators".
Each is imported when its name is first used.
"""

from structperc.estimators import lookup
from structperc.estimators.conformal import OrdinalConformal
from structperc.estimators.keeping import load
from structperc.estimators.label_scorer import LabelScorer
from structperc.estimators.labels import CuSumRank, IntervalPA, PRank, StructuredClassifier
from structperc.estimators.leaves import LeafFeatures
from structperc.estimators.queries import RankingScorer
from structperc.estimators.ranking_svm import RankingSVM
from structperc.estimators.rankings import LatentRanker
from structperc.estimators.score_card import ScoreCard
from structperc.estimators.sequences import SequenceTagger
from structperc.estimators.structure_conformal import StructureConformal
from structperc.estimators.structure_sets import StructureSet
from structperc.estimators.structured import StructuredEstimator

__all__ = ["CuSumRank", "IntervalPA", "LabelScorer", "LatentRanker", "LeafFeatures", "OrdinalConformal", "PRank", "RankingSVM",
           "RankingScorer", "ScoreCard", "SequenceTagger", "StructureConformal", "StructureSet", "StructuredClassifier",
           "StructuredEstimator", "load"]



def __getattr__(name):
    """An estimator of a plugin's package, imported when it is first used."""
    return lookup.estimator(name, __all__)


def __dir__():
    return sorted({*globals(), *lookup.addresses()})
