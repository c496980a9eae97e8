"""Which kernel_rows the options ask for."""

from __future__ import annotations

import numbers

from structperc.core.errors import OptionError, UnusedOption
from structperc_kernels.given_rows import CallableKernelRows, PrecomputedKernelRows
from structperc_kernels.object_kernels import ObjectKernel
from structperc_kernels.object_rows import KernelObjects
from structperc_kernels.strings import SubsequenceKernel
from structperc_kernels.trees import SubsetTreeKernel
from structperc_kernels.vector_rows import KERNELS as VECTOR_KERNELS
from structperc_kernels.vector_rows import DenseKernelRows, SparseKernelRows

OWN = {                     # which kernels each option is for; the others must keep its default
    "gamma": ("polynomial", "rbf", "laplacian"),
    "degree": ("polynomial",),
    "coef0": ("polynomial",),
    "shift": ("perceptron", "stump"),
    "kernel_decay": ("subset-tree", "subsequence"),
    "length": ("subsequence",),
    "normalise": ("subset-tree", "subsequence"),
    "rows": VECTOR_KERNELS,
}
KERNELS = (*VECTOR_KERNELS, "precomputed", "subset-tree", "subsequence")


def kernel_rows_for(context, defaults):
    """An empty kernel_rows for this context; refuses options that it would ignore."""
    given = context.options
    kernel = given["kernel"]
    if not (callable(kernel) or isinstance(kernel, str) and kernel in KERNELS):
        raise OptionError(f"kernel={kernel!r}; expected one of {', '.join(map(repr, KERNELS))}, a function of two matrices (of two "
                          f"objects, where X is a list of objects), or an ObjectKernel.")
    for name, kernels in OWN.items():
        if given[name] != defaults[name] and kernel not in kernels:
            raise UnusedOption(f"{name}={given[name]!r} has no effect with kernel={kernel!r}; it is for {', '.join(kernels)}.", name)
    if kernel == "precomputed":
        return PrecomputedKernelRows()
    if kernel in VECTOR_KERNELS:
        kind = SparseKernelRows if context.sparse else DenseKernelRows
        return kind(kernel, given["gamma"], given["degree"], given["coef0"], given["shift"], given["rows"])
    if isinstance(kernel, str):
        decay = {} if given["kernel_decay"] is None else {"decay": given["kernel_decay"]}
        if kernel == "subset-tree":
            return KernelObjects(SubsetTreeKernel(normalise=given["normalise"], **decay))
        return KernelObjects(SubsequenceKernel(given["length"], normalise=given["normalise"], **decay))
    return KernelObjects(kernel) if context.objects or isinstance(kernel, ObjectKernel) else CallableKernelRows(kernel)


def most_rows(budget) -> int:
    """The budget as a number; 0: none."""
    if budget is None:
        return 0
    if not isinstance(budget, numbers.Integral) or isinstance(budget, bool) or budget < 1:
        raise OptionError(f"budget={budget!r}; expected a whole number, at least 1, or None.")
    return int(budget)


def megabytes(size) -> int:
    """A size in MB as bytes."""
    if not isinstance(size, numbers.Real) or isinstance(size, bool) or not 0 <= size < float("inf"):
        raise OptionError(f"cache_size={size!r}; expected a number of MB, at least 0.")
    return int(size * 1e6)
