"""The base classes of all parts and the ready-made ones, in one place to import from.

Stable: names, parameters and defaults change only by the rules of versions.
"""

from structperc.core.adagrad import AdaGradWeights
from structperc.core.argmax import Argmax, LargestArgmax, PrefixArgmax, ThresholdArgmax
from structperc.core.component import Component
from structperc.core.exact import ExactUpdate
from structperc.core.features import Features, SumFeatures, TablePart
from structperc.core.gradient_updates import DirectUpdate, HingeUpdate, LogisticUpdate, LogLossUpdate
from structperc.core.losses import AbsoluteLoss, CostLoss, ExampleCosts, HammingLoss, Loss, SquaredLoss, TokenLoss, ZeroOneLoss
from structperc.core.outputs import ClassOutputs, LabelOutputs, Outputs, RankOutputs, RestrictedOutputs, SecondStage
from structperc.core.row_features import BlockFeatures, RowFeatures, RowPart
from structperc.core.rows import Example, Rows
from structperc.core.schedules import Schedule
from structperc.core.structures import Structures
from structperc.core.threshold_features import ThresholdFeatures
from structperc.core.updates import LatentUpdate, PassiveAggressiveUpdate, PerceptronUpdate, Trial, Update
from structperc.core.vector_features import VectorFeatures
from structperc.core.vector_outputs import VectorOutputs, amounts
from structperc.core.weights import PrimalWeights, Weights
from structperc.fitting.context import FitContext
from structperc.fitting.run import TrainingRun
from structperc.fitting.trainers import EpochRecord, MixingTrainer, OnlineTrainer, Trainer
from structperc.reading.keyed import KeyedReader, KeyedRows
from structperc.reading.named import NamedReader
from structperc.reading.pairs import PairReader
from structperc.reading.readers import Reader
from structperc.reading.table_reader import TableReader

__all__ = [
    "AbsoluteLoss", "AdaGradWeights", "Argmax", "BlockFeatures", "ClassOutputs", "Component", "CostLoss", "DirectUpdate", "EpochRecord",
    "ExactUpdate", "Example", "ExampleCosts", "Features", "FitContext", "HammingLoss", "HingeUpdate", "KeyedReader", "KeyedRows",
    "LabelOutputs", "LargestArgmax", "LatentUpdate", "LogLossUpdate", "LogisticUpdate", "Loss", "MixingTrainer", "NamedReader",
    "OnlineTrainer", "Outputs", "PairReader", "PassiveAggressiveUpdate", "PerceptronUpdate", "PrefixArgmax", "PrimalWeights",
    "RankOutputs", "Reader", "RestrictedOutputs", "RowFeatures", "RowPart", "Rows", "Schedule", "SecondStage", "SquaredLoss",
    "Structures", "SumFeatures", "TablePart", "TableReader", "ThresholdArgmax", "ThresholdFeatures", "TokenLoss", "Trainer",
    "TrainingRun", "Trial", "Update", "VectorFeatures", "VectorOutputs", "Weights", "ZeroOneLoss", "amounts",
]  # fmt: skip
