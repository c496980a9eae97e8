"""Wrong arguments of the constructors of parts: each raises an error that names the class, the argument, the value and what is expected."""

import numpy as np
import pytest

from structperc import components
from structperc.components import (
    BlockFeatures,
    ExactUpdate,
    Example,
    LargestArgmax,
    PairReader,
    PassiveAggressiveUpdate,
    PerceptronUpdate,
    PrimalWeights,
    RowFeatures,
    RowPart,
    Rows,
    Structures,
    SumFeatures,
    TablePart,
    TableReader,
    ThresholdFeatures,
    VectorFeatures,
)
from structperc.errors import DataError, OptionError, PluginError

WRONG = ["3", None, -1, 2.5, np.nan, True, [1], object(), 2**70]
WHOLE = {       # the arguments of a class that are whole numbers
    "BlockFeatures": {"n_blocks": 3, "n_features": 4}, "RowFeatures": {"n_features": 3}, "RowPart": {"n_blocks": 3, "n_features": 4},
    "VectorFeatures": {"n_weights": 3}, "ThresholdFeatures": {"n_thresholds": 2, "n_features": 3}, "TablePart": {"shape": (2, 3)},
    "LargestArgmax": {"n_labels": 3}, "PrefixArgmax": {"n_labels": 3}, "ThresholdArgmax": {"n_labels": 3}, "KeyedReader": {"n_keys": 1},
}  # fmt: skip


@pytest.mark.parametrize(("name", "argument"), [(name, argument) for name, right in WHOLE.items() for argument in right])
def test_whole_numbers_are_checked(name, argument):
    kind, right = getattr(components, name), WHOLE[name]
    kind(**right)
    kind(**{one: value if isinstance(value, tuple) else np.int64(value) for one, value in right.items()})
    for value in WRONG:
        wrong = (2, value) if argument == "shape" else value
        with pytest.raises(PluginError, match=rf"^{name}: {argument}=.*; expected a whole number from [01]"):
            kind(**{**right, argument: wrong})


@pytest.mark.parametrize(("call", "words"), [
    (lambda: BlockFeatures("3", 4), "BlockFeatures: n_blocks='3'; expected a whole number from 0"),
    (lambda: RowFeatures(None), "RowFeatures: n_features=None; expected a whole number from 0"),
    (lambda: BlockFeatures(3, 4, "no"), "BlockFeatures: intercept='no'; expected True or False"),
    (lambda: RowPart(3, 4, feature_major=1), "RowPart: feature_major=1; expected True or False"),
    (lambda: ThresholdFeatures(3, 4, "yes"), "ThresholdFeatures: feature_major='yes'; expected True or False"),
    (lambda: PrimalWeights("no"), "PrimalWeights: average='no'; expected True or False"),
    (lambda: TablePart(3, value="1"), "TablePart: value='1'; expected a finite number"),
    (lambda: TablePart(3, name=4), "TablePart: name=4; expected None or a text"),
    (lambda: PassiveAggressiveUpdate("pa3"), "PassiveAggressiveUpdate: variant='pa3'; expected 'pa', 'pa1' or 'pa2'"),
    (lambda: PassiveAggressiveUpdate("pa", 0.0), "PassiveAggressiveUpdate: margin=0.0; expected a number greater than 0"),
    (lambda: PassiveAggressiveUpdate("pa", np.nan), "PassiveAggressiveUpdate: margin=nan; expected a number greater than 0"),
    (lambda: ExactUpdate("pa"), "ExactUpdate: variant='pa'; expected 'exact-pa', 'exact-pa1' or 'exact-pa2'"),
    (lambda: ExactUpdate(margin="wide"), "ExactUpdate: margin='wide'; expected a number greater than 0"),
    (lambda: SumFeatures(RowFeatures(2), "bias"), "SumFeatures was given 'bias'; expected feature maps"),
    (lambda: PerceptronUpdate(0.5), "PerceptronUpdate: the constructor of Component has no arguments, but got 0.5"),
    (lambda: PerceptronUpdate(rate=0.5), "PerceptronUpdate: the constructor of Component has no arguments, but got 'rate'"),
    (lambda: Rows(np.zeros((1, 2)), feature_names=["a", "b"]), "feature_names ['a', 'b']; expected None or a tuple of texts"),
    (lambda: Example(Rows(np.zeros((2, 2))), "1"), "Example was given the index '1'; expected a whole number from 0 to 1"),
    (lambda: Structures([1, 2]), "structures are [1, 2]; expected a vector of C ints, numpy.intc"),
    (lambda: PairReader("distance"), "comparison='distance'; expected None or a function"),
    (lambda: TableReader(then="csv"), "then='csv'; expected None or a reader"),
])
def test_other_arguments_are_checked(call, words):
    with pytest.raises((PluginError, OptionError, DataError)) as refused:
        call()
    assert words in str(refused.value)


def test_a_part_in_python_with_a_constructor_of_its_own_starts_as_before():
    class Scaled(LargestArgmax):
        def __init__(self, n_labels, factor=2.0):
            super().__init__(n_labels)
            self.factor = factor

    class Plain(PerceptronUpdate):
        def __init__(self, rate):
            super().__init__()
            self.rate = rate

    assert Scaled(3, factor=1.5).clone().factor == 1.5 and Plain(0.5).clone().rate == 0.5
    assert VectorFeatures(n_weights=3).n_weights == 3
