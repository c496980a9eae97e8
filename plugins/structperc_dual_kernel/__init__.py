"""Kernels for any problem: a weight vector that is a sum of the rows it has seen, which a kernel compares."""

import numbers

from structperc_kernels import KERNEL_OPTIONS, kernel_rows_for

from structperc import Option, hookimpl
from structperc.errors import OptionError, shortened
from structperc_dual_kernel.weights import COLLINS_DUFFY, DualWeights

citation = COLLINS_DUFFY
problem = "cusum"               # that `structperc check` lines it up with

options = {
    **KERNEL_OPTIONS,
    "budget": Option(None, help="the most support rows; none: no limit"),
    "removal": Option("oldest", ("oldest", "random", "least"), "which row leaves when the budget is full"),
    "cache_size": Option(200, types=(float,), help="MB for kernel values during a fit; online only those of objects and callables"),
}
recommended = {"calibrate": False}       # a fold costs as much as a fit


@hookimpl
def structperc_weights(context):
    options = context.options
    return DualWeights(kernel_rows_for(context), context.average, context.decay, most_rows(options["budget"]),
                       options["removal"], megabytes(options["cache_size"]))


def most_rows(budget) -> int:
    """The budget as a number; 0: none."""
    if budget is None:
        return 0
    if not isinstance(budget, numbers.Integral) or isinstance(budget, bool) or not 1 <= budget < 2**31:
        raise OptionError(f"budget={shortened(budget)}; expected a whole number, at least 1 and below 2**31, or None.")
    return int(budget)


def megabytes(size) -> int:
    """A size in MB as bytes."""
    if not isinstance(size, numbers.Real) or isinstance(size, bool) or not 0 <= size < float("inf"):
        raise OptionError(f"cache_size={shortened(size)}; expected a number of MB, at least 0.")
    return int(size * 1e6)
