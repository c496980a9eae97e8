"""Kernels for any problem: a weight vector that is a sum of the rows it has seen, which a kernel compares."""

from collections.abc import Callable

from structperc_kernels.kernel_options import KERNELS, kernel_rows_for, megabytes, most_rows

from structperc import Option, hookimpl
from structperc_dual_kernel.weights import COLLINS_DUFFY, DualWeights

citation = COLLINS_DUFFY
problem = "cusum"               # that `structperc check` lines it up with

options = {
    "kernel": Option("linear", types=(str, Callable), help=f"{', '.join(KERNELS)}; or a callable"),
    "gamma": Option("scale", types=(float, str), help="of polynomial, rbf and laplacian: a number, scale (1 / (features * variance of X)) or "
                                                "auto (1 / features)"),
    "degree": Option(3, help="of the polynomial kernel"),
    "coef0": Option(0.0, help="the constant of the polynomial kernel"),
    "shift": Option(None, help="the constant of the perceptron and the stump kernel; none: one that keeps them from being negative"),
    "kernel_decay": Option(None, help="of subset-tree (0.4) and subsequence (0.5): the weight of each further symbol of a common fragment"),
    "length": Option(3, help="symbols of the subsequences"),
    "normalise": Option(True, (False, True), "whether trees and strings are compared by their cosine"),
    "rows": Option("float64", ("float64", "float32"), "in what precision rows of numbers are held and compared"),
    "budget": Option(None, help="the most rows to hold; none: no bound"),
    "removal": Option("oldest", ("oldest", "random", "least"), "which row makes room for another where there is a budget"),
    "cache_size": Option(200, types=(float,), help="MB that values of kernels on objects or of callables may take while a fit is under way"),
}


@hookimpl
def structperc_weights(context):
    given = context.options
    kernel_rows = kernel_rows_for(context, {name: option.default for name, option in options.items()})
    return DualWeights(kernel_rows, context.average, context.decay, context.decay_schedule, most_rows(given["budget"]), given["removal"],
                       megabytes(given["cache_size"]))
