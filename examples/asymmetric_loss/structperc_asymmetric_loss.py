"""Overrating costs more than underrating: replaces only the loss of cusum."""

from structperc import Option, hookimpl
from structperc.components import Loss

options = {"overrating": Option(3.0, help="cost of a rank too high; too low costs 1")}
problem = "cusum"


class AsymmetricLoss(Loss):
    def __init__(self, overrating):
        self.overrating = overrating

    def value(self, gold, y, x=None):
        return gold - y if y < gold else self.overrating * (y - gold)


@hookimpl
def structperc_loss(context):
    return AsymmetricLoss(context.options["overrating"])
