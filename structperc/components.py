"""The base classes of all parts and the ready-made ones, in one place to import from."""

from structperc.core.argmax import LargestArgmax, PrefixArgmax, ThresholdArgmax
from structperc.core.components import Argmax, Component, Features, LabelOutputs, Loss, Outputs, Step, Update, Weights
from structperc.core.exact import ExactUpdate
from structperc.core.features import BlockFeatures, RowFeatures
from structperc.core.gold import Gold
from structperc.core.losses import AbsoluteLoss, CostLoss, ExampleCosts, HammingLoss, SquaredLoss, ZeroOneLoss
from structperc.core.outputs import ClassOutputs, RankOutputs
from structperc.core.rows import Example, Rows
from structperc.core.schedules import Schedule
from structperc.core.threshold_features import ThresholdFeatures
from structperc.core.updates import LatentUpdate, PassiveAggressiveUpdate, PerceptronUpdate
from structperc.core.vector_features import VectorFeatures
from structperc.core.weights import PrimalWeights
from structperc.readers import NamedReader, Reader
from structperc.training import EpochRecord, OnlineTrainer, Trainer

__all__ = [
    "AbsoluteLoss", "Argmax", "BlockFeatures", "ClassOutputs", "Component", "CostLoss", "EpochRecord", "ExactUpdate", "Example",
    "ExampleCosts", "Features", "Gold", "HammingLoss", "LabelOutputs", "LargestArgmax", "LatentUpdate", "Loss", "NamedReader",
    "OnlineTrainer", "Outputs", "PassiveAggressiveUpdate", "PerceptronUpdate", "PrefixArgmax", "PrimalWeights", "RankOutputs", "Reader",
    "RowFeatures", "Rows", "Schedule", "SquaredLoss", "Step", "ThresholdArgmax", "ThresholdFeatures", "Trainer", "Update",
    "VectorFeatures", "Weights", "ZeroOneLoss",
]  # fmt: skip
