# What type checkers see: estimators of plugins' packages are looked up at run time.
from structperc_boosting.estimators import AdaBoostOR as AdaBoostOR
from structperc_boosting.estimators import ORStump as ORStump
from structperc_boosting.reductions import BinaryReduction as BinaryReduction
from structperc_boosting.reductions import RankerClassifier as RankerClassifier
from structperc_clusters.estimators import PairClusterer as PairClusterer
from structperc_decisions.estimators import DecisionMaker as DecisionMaker
from structperc_graph.estimators import GraphLabeler as GraphLabeler
from structperc_large_margin.estimators import SVOR as SVOR
from structperc_matching.estimators import PairMatcher as PairMatcher
from structperc_parsing.estimators import DependencyParser as DependencyParser
from structperc_path.estimators import PathFinder as PathFinder
from structperc_segments.estimators import SegmentTagger as SegmentTagger

from structperc.estimators.conformal import OrdinalConformal as OrdinalConformal
from structperc.estimators.keeping import load as load
from structperc.estimators.label_scorer import LabelScorer as LabelScorer
from structperc.estimators.labels import CuSumRank as CuSumRank
from structperc.estimators.labels import IntervalPA as IntervalPA
from structperc.estimators.labels import PRank as PRank
from structperc.estimators.labels import StructuredClassifier as StructuredClassifier
from structperc.estimators.leaves import LeafFeatures as LeafFeatures
from structperc.estimators.queries import RankingScorer as RankingScorer
from structperc.estimators.ranking_svm import RankingSVM as RankingSVM
from structperc.estimators.rankings import LatentRanker as LatentRanker
from structperc.estimators.score_card import ScoreCard as ScoreCard
from structperc.estimators.sequences import SequenceTagger as SequenceTagger
from structperc.estimators.structured import StructuredEstimator as StructuredEstimator
