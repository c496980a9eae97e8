"""The kernel rows that the options ask for."""

from __future__ import annotations

from collections.abc import Callable

from structperc import Option
from structperc.errors import OptionError, UnusedOption, did_you_mean, shortened
from structperc.plugin_tools import OptionErrors
from structperc_kernels.kernel_rows import CallableKernelRows, KernelObjects, PrecomputedKernelRows
from structperc_kernels.object_kernels import ObjectKernel, SubsequenceKernel, SubsetTreeKernel
from structperc_kernels.vector_rows import KERNELS as VECTOR_KERNELS
from structperc_kernels.vector_rows import DenseKernelRows, SparseKernelRows

KERNELS = (*VECTOR_KERNELS, "precomputed", "subset-tree", "subsequence")

KERNEL_OPTIONS = {          # the options that describe a kernel, for plugins to take over
    "kernel": Option("linear", types=(str, Callable), help=f"{', '.join(KERNELS)}; or a callable"),
    "gamma": Option("scale", types=(float, str), help="of polynomial, rbf and laplacian: a number, scale (1 / (features * variance of X)) "
                                                      "or auto (1 / features)"),
    "degree": Option(3, help="of the polynomial kernel"),
    "coef0": Option(0.0, help="the constant of the polynomial kernel"),
    "offset": Option(None, help="constant added to the perceptron and stump kernels; none: the smallest that keeps them non-negative on "
                                "the training data"),
    "kernel_decay": Option(None, help="of subset-tree (0.4) and subsequence (0.5): the weight of each further symbol of a common fragment"),
    "length": Option(3, help="symbols of the subsequences"),
    "normalise": Option(True, (False, True), "whether trees and strings are compared by their cosine"),
    "dtype": Option("float64", ("float64", "float32"), "the precision in which rows of numbers are stored and compared"),
}
USED_BY = {                 # the kernels that use an option; with any other the option must keep its default
    "gamma": ("polynomial", "rbf", "laplacian"),
    "degree": ("polynomial",),
    "coef0": ("polynomial",),
    "offset": ("perceptron", "stump"),
    "kernel_decay": ("subset-tree", "subsequence"),
    "length": ("subsequence",),
    "normalise": ("subset-tree", "subsequence"),
    "dtype": VECTOR_KERNELS,
}


def kernel_rows_for(context):
    """Returns the empty `KernelRows` that the options of a context name. Raises `OptionError` if the kernel is unknown.
    Raises `UnusedOption` if an option has no effect with this kernel.

    Parameters
    ----------
    context : FitContext
        `sparse`, `objects`, and `options` with a value for each name of `KERNEL_OPTIONS`.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from structperc_kernels import KERNEL_OPTIONS, kernel_rows_for
    >>> options = {name: option.default for name, option in KERNEL_OPTIONS.items()} | {"kernel": "rbf"}
    >>> rows = kernel_rows_for(SimpleNamespace(sparse=False, objects=False, options=options))
    >>> type(rows).__name__
    'DenseKernelRows'
    """
    options = context.options
    kernel = options["kernel"]
    if not (callable(kernel) or isinstance(kernel, str) and kernel in KERNELS):
        raise OptionError(f"kernel={shortened(kernel)}. Expected one of {', '.join(map(repr, KERNELS))}, an ObjectKernel, or a function. "
                          f"It compares two matrices, or two objects if X is a list of objects.{did_you_mean(kernel, KERNELS)}")
    errors = OptionErrors()
    for name, kernels in USED_BY.items():
        if options[name] != KERNEL_OPTIONS[name].default and kernel not in kernels:
            errors.append(UnusedOption(f"{name}={shortened(options[name])} has no effect with kernel={shortened(kernel)}; it is for "
                                       f"{', '.join(kernels)}.", name))
    errors.raise_all()
    if kernel == "precomputed":
        return PrecomputedKernelRows()
    if kernel in VECTOR_KERNELS:
        kind = SparseKernelRows if context.sparse else DenseKernelRows
        return kind(kernel, options["gamma"], options["degree"], options["coef0"], options["offset"], options["dtype"])
    if isinstance(kernel, str):
        decay = {} if options["kernel_decay"] is None else {"decay": options["kernel_decay"]}
        if kernel == "subset-tree":
            return KernelObjects(SubsetTreeKernel(normalise=options["normalise"], **decay))
        return KernelObjects(SubsequenceKernel(options["length"], normalise=options["normalise"], **decay))
    return KernelObjects(kernel) if context.objects or isinstance(kernel, ObjectKernel) else CallableKernelRows(kernel)
